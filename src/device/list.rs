//! The GPUs of this machine, of all APIs.

use super::cuda::Cuda;
use super::error::DeviceError;
use super::gpu::Gpu;
use super::gpu::api::Api;
use super::interface::{GpuDevice, GpuInfo};
use super::opencl::Opencl;
use super::task::DeviceNeeds;
use crate::device_scene::DeviceScene;
use crate::language::msg;
use std::sync::Arc;

/// Whether a GPU driver seems to be installed. It is a fast check.
pub fn has_driver() -> bool {
    Cuda::is_present() || Opencl::is_present()
}

/// The usable GPUs.
///
/// # Errors
/// Why there are none, in one line.
pub fn list() -> Result<Vec<GpuInfo>, DeviceError> {
    with_opencl(Cuda::list())
}

// CUDA's GPUs with the devices of OpenCL, which has not been asked yet.
fn with_opencl(cuda: Result<Vec<GpuInfo>, DeviceError>) -> Result<Vec<GpuInfo>, DeviceError> {
    match (cuda, Opencl::list()) {
        (Ok(cuda), Ok(opencl)) => Ok(cuda.into_iter().chain(opencl).collect()),
        (Ok(gpus), Err(_)) | (Err(_), Ok(gpus)) => Ok(gpus),
        (Err(cuda), Err(opencl)) if Opencl::is_present() => {
            Err(DeviceError::NotFound(msg!("{what}; {why}", what = cuda.message(), why = opencl.message())))
        }
        (Err(cuda), Err(_)) => Err(cuda),
    }
}

/// The GPU that is taken if nobody chooses. OpenCL, whose drivers take a while to start, is asked where CUDA has none. It may drive CPUs too, which
/// are slower that way than by themselves.
///
/// # Errors
/// Why there is none, in one line.
pub fn first() -> Result<GpuInfo, DeviceError> {
    let gpus = Cuda::list().or_else(|none| with_opencl(Err(none)))?;
    let only_cpus =
        || DeviceError::NotFound(msg!("the only devices of OpenCL here are CPUs; --devices 0 takes the first"));
    gpus.into_iter().find(|gpu| !gpu.is_cpu).ok_or_else(only_cpus)
}

/// Uploads a scene to a GPU.
///
/// # Errors
/// The GPU does not respond, or its memory is too small.
pub fn open(gpu: &GpuInfo, scene: Arc<DeviceScene>, needs: DeviceNeeds) -> Result<Box<dyn GpuDevice>, DeviceError> {
    if gpu.api == Opencl::NAME {
        return Ok(Box::new(Gpu::<Opencl>::open(gpu, scene, needs)?));
    }
    Ok(Box::new(Gpu::<Cuda>::open(gpu, scene, needs)?))
}
