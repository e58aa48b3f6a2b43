//! The GPUs of this machine, of all APIs.

use super::cuda::Cuda;
use super::error::DeviceError;
use super::gpu::Gpu;
use super::gpu::api::Api;
use super::interface::{GpuDevice, GpuInfo};
use super::task::DeviceNeeds;
use crate::device_scene::DeviceScene;
use std::sync::Arc;

/// Whether a GPU driver seems to be installed. It is a fast check.
pub fn has_driver() -> bool {
    Cuda::is_present()
}

/// The usable GPUs.
///
/// # Errors
/// Why there are none, in one line.
pub fn list() -> Result<Vec<GpuInfo>, DeviceError> {
    Cuda::list()
}

/// Uploads a scene to a GPU.
///
/// # Errors
/// The GPU does not respond, or its memory is too small.
pub fn open(gpu: &GpuInfo, scene: Arc<DeviceScene>, needs: DeviceNeeds) -> Result<Box<dyn GpuDevice>, DeviceError> {
    Ok(Box::new(Gpu::<Cuda>::open(gpu, scene, needs)?))
}
