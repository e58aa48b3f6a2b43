//! The GPUs of this machine, by whichever API they are reached.

use super::cuda::Cuda;
use super::error::DeviceError;
use super::gpu::Gpu;
use super::gpu::api::Api;
use super::interface::{GpuDevice, GpuInfo};
use super::task::DeviceNeeds;
use crate::device_scene::DeviceScene;
use std::sync::Arc;

/// Whether there seems to be a GPU's driver; quick.
pub fn has_driver() -> bool {
    Cuda::is_present()
}

/// Usable GPUs.
///
/// # Errors
/// Why there are none, in one line.
pub fn list() -> Result<Vec<GpuInfo>, DeviceError> {
    Cuda::list()
}

/// Puts a scene on a GPU.
///
/// # Errors
/// The GPU's own: it has gone, or its memory is too small.
pub fn open(gpu: &GpuInfo, scene: Arc<DeviceScene>, needs: DeviceNeeds) -> Result<Box<dyn GpuDevice>, DeviceError> {
    Ok(Box::new(Gpu::<Cuda>::open(gpu, scene, needs)?))
}
