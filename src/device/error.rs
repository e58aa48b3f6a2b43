//! Why a device cannot be used, or has failed.

/// Why a device cannot be used, or has failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is none of that name or number.
    #[error("{0}")]
    NotFound(String),
    /// Its driver is too old for the kernels.
    #[error("{0}")]
    TooOld(String),
    /// Its memory does not hold what it was asked to.
    #[error("{0}; a smaller --size needs less memory")]
    OutOfMemory(String),
    /// It has gone: nothing more can be asked of it.
    #[error("{0}")]
    Lost(String),
    /// It failed otherwise; in its own words.
    #[error("{0}")]
    Failed(String),
    /// The thread that drove it panicked.
    #[error("the thread of {0} panicked: {1}; please report this")]
    Panicked(String, String),
    /// The CPU has no such instruction set.
    #[error(transparent)]
    Isa(#[from] crate::kernels::UnknownIsa),
    /// The library that takes noise out is not there, or fails.
    #[error(transparent)]
    Denoiser(#[from] crate::film::post::denoise::DenoiserError),
    /// The system starts no more threads.
    #[error(transparent)]
    Threads(#[from] crate::threads::NoThread),
}
