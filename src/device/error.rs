//! Errors of devices.

use crate::film::post::denoise::DenoiserError;
use crate::kernels::UnknownIsa;
use crate::language::{Message, msg};
use crate::threads::NoThread;

/// Why a device cannot be used, or has failed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.message())]
pub enum DeviceError {
    /// There is no device of this name or number.
    NotFound(Message),
    /// The driver is too old for the kernels.
    TooOld(Message),
    /// The device does not have enough memory.
    OutOfMemory(String),
    /// The device no longer responds.
    Lost(String),
    /// Another failure, with the driver's text.
    Failed(String),
    /// The thread that drove the device panicked.
    Panicked(String, String),
    /// What is done for all devices panicked.
    Broken(String),
    /// The CPU does not support this instruction set.
    Isa(#[from] UnknownIsa),
    /// The denoiser's library is missing or failed.
    Denoiser(#[from] DenoiserError),
    /// The system cannot start another thread.
    Threads(#[from] NoThread),
}

impl DeviceError {
    /// The message. What a driver says stays as it is.
    pub(crate) fn message(&self) -> Message {
        match self {
            DeviceError::NotFound(what) | DeviceError::TooOld(what) => what.clone(),
            DeviceError::OutOfMemory(what) => msg!("{why}; a smaller --size needs less memory", why = what),
            DeviceError::Lost(what) | DeviceError::Failed(what) => Message::text(what),
            DeviceError::Panicked(thread, why) => {
                msg!("the thread of {name} panicked: {why}; please report this", name = thread, why)
            }
            DeviceError::Broken(why) => msg!("the renderer panicked: {why}; please report this", why),
            DeviceError::Isa(UnknownIsa { asked, available }) => {
                msg!("POLYFLY_ISA={name}: this machine has {all}", name = asked, all = available)
            }
            DeviceError::Denoiser(e) => e.message(),
            DeviceError::Threads(NoThread(what)) => what.clone(),
        }
    }
}
