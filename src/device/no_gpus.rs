//! The list of GPUs where no API has any. `list.rs` is that of all other systems.

use super::error::DeviceError;
use super::interface::{GpuDevice, GpuInfo};
use super::task::DeviceNeeds;
use crate::device_scene::DeviceScene;
use crate::language::msg;
use std::sync::Arc;

/// Whether a GPU driver seems to be installed.
pub fn has_driver() -> bool {
    false
}

/// The usable GPUs.
///
/// # Errors
/// Always: there are none.
pub fn list() -> Result<Vec<GpuInfo>, DeviceError> {
    Err(DeviceError::NotFound(msg!("no GPU can be used from WebAssembly")))
}

/// The GPU that is taken if nobody chooses.
///
/// # Errors
/// Always: there is none.
pub fn first() -> Result<GpuInfo, DeviceError> {
    list().map(|mut gpus| gpus.remove(0))
}

/// Uploads a scene to a GPU.
///
/// # Errors
/// Always: there are none.
pub fn open(gpu: &GpuInfo, _: Arc<DeviceScene>, _: DeviceNeeds) -> Result<Box<dyn GpuDevice>, DeviceError> {
    Err(DeviceError::NotFound(msg!(
        "{what}: {why}",
        what = gpu.name,
        why = msg!("no GPU can be used from WebAssembly")
    )))
}
