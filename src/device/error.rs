//! Errors of devices.

use crate::film::post::denoise::DenoiserError;
use crate::kernels::UnknownIsa;
use crate::language::{AllLanguages, Language};
use crate::threads::NoThread;

/// Why a device cannot be used, or has failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is no device of this name or number.
    NotFound(AllLanguages),
    /// The driver is too old for the kernels.
    TooOld(AllLanguages),
    /// The device does not have enough memory.
    OutOfMemory(String),
    /// The device no longer responds.
    Lost(String),
    /// Another failure, with the driver's text.
    Failed(String),
    /// The thread that drove the device panicked.
    Panicked(String, String),
    /// The CPU does not support this instruction set.
    Isa(#[from] UnknownIsa),
    /// The denoiser's library is missing or failed.
    Denoiser(#[from] DenoiserError),
    /// The system cannot start another thread.
    Threads(#[from] NoThread),
}

impl DeviceError {
    pub(crate) fn not_found(what: impl Fn(Language) -> String) -> DeviceError {
        DeviceError::NotFound(AllLanguages::new(what))
    }
    pub(crate) fn too_old(what: impl Fn(Language) -> String) -> DeviceError {
        DeviceError::TooOld(AllLanguages::new(what))
    }

    /// The message. What a driver says stays as it is.
    pub(crate) fn shown(&self, language: Language) -> String {
        match self {
            DeviceError::NotFound(what) | DeviceError::TooOld(what) => what.get(language).to_owned(),
            DeviceError::OutOfMemory(what) => language.out_of_memory(what),
            DeviceError::Lost(what) | DeviceError::Failed(what) => what.clone(),
            DeviceError::Panicked(thread, why) => language.panicked(thread, why),
            DeviceError::Isa(UnknownIsa { asked, available }) => language.no_such_isa(asked, available),
            DeviceError::Denoiser(e) => e.shown(language),
            DeviceError::Threads(NoThread(what)) => what.get(language).to_owned(),
        }
    }
}

impl std::fmt::Display for DeviceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown(Language::English))
    }
}
