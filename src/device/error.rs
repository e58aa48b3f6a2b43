//! Errors of devices.

/// Why a device cannot be used, or has failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is no device of this name or number.
    #[error("{0}")]
    NotFound(String),
    /// The driver is too old for the kernels.
    #[error("{0}")]
    TooOld(String),
    /// The device does not have enough memory.
    #[error("{0}; a smaller --size needs less memory")]
    OutOfMemory(String),
    /// The device no longer responds.
    #[error("{0}")]
    Lost(String),
    /// Another failure, with the driver's text.
    #[error("{0}")]
    Failed(String),
    /// The thread that drove the device panicked.
    #[error("the thread of {0} panicked: {1}; please report this")]
    Panicked(String, String),
    /// The CPU does not support this instruction set.
    #[error(transparent)]
    Isa(#[from] crate::kernels::UnknownIsa),
    /// The denoiser's library is missing or failed.
    #[error(transparent)]
    Denoiser(#[from] crate::film::post::denoise::DenoiserError),
    /// The system cannot start another thread.
    #[error(transparent)]
    Threads(#[from] crate::threads::NoThread),
}
