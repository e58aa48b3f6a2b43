//! OpenCL: GPUs of any vendor whose driver takes SPIR-V and shares addresses. The library is loaded at run time, and may be missing.

mod canary;
mod context;
mod launch;
mod memory;

use super::error::DeviceError;
use super::gpu::api::{Api, Code};
use super::interface::GpuInfo;
use crate::language::msg;
pub use context::Opencl;
use context::check;
use opencl3::device::{CL_DEVICE_TYPE_CPU, Device};

impl Api for Opencl {
    const NAME: &'static str = "opencl";
    const CODE: Code = Code::SpirV;
    type Context = context::ClContext;
    type Memory = memory::ClMemory;
    type Pinned = memory::ClPinned;
    type Module = launch::ClModule;
    type Function = launch::ClFunction;
    type Event = launch::ClEvent;
    type Stream = launch::ClStream;

    fn is_present() -> bool {
        cl3::is_opencl_runtime_available()
    }

    fn list() -> Result<Vec<GpuInfo>, DeviceError> {
        if !Opencl::is_present() {
            return Err(DeviceError::NotFound(msg!(
                "there is no OpenCL here ({library} is not found)",
                library = "libOpenCL"
            )));
        }
        let (devices, refused) = context::devices()?;
        if devices.is_empty() {
            let why = refused.first().map_or_else(|| msg!("OpenCL has no device"), Clone::clone);
            return Err(DeviceError::NotFound(why));
        }
        (0..).zip(devices).map(|(ordinal, device)| info(ordinal, &device)).collect()
    }
}

fn info(ordinal: u32, device: &Device) -> Result<GpuInfo, DeviceError> {
    let text =
        |of: opencl3::Result<String>| of.map(|text| text.trim_end_matches('\0').trim().to_owned()).unwrap_or_default();
    Ok(GpuInfo {
        api: Opencl::NAME,
        ordinal,
        name: text(device.name()),
        memory: check(device.global_mem_size(), "clGetDeviceInfo")? as usize,
        driver: format!("{} {}", text(device.version()), text(device.driver_version())),
        is_cpu: check(device.dev_type(), "clGetDeviceInfo")? & CL_DEVICE_TYPE_CPU != 0,
    })
}
