//! OpenCL: GPUs of any vendor whose driver takes SPIR-V and shares addresses. The library is loaded at run time, and may be missing.
#![expect(unsafe_code, reason = "calls OpenCL")]

mod canary;
mod context;
mod launch;
mod memory;

use super::error::DeviceError;
use super::gpu::api::{Api, Code, Context};
use super::interface::GpuInfo;
use crate::language::msg;
pub use context::Opencl;
use context::{ClContext, Opened, check, devices};
use launch::{ClEvent, ClModule, ClStream, copy_bytes};
use memory::{ClMemory, ClPinned};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue, cl_command_queue, finish};
use opencl3::device::{CL_DEVICE_TYPE_CPU, Device};
use opencl3::types::CL_TRUE;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

impl Api for Opencl {
    const NAME: &'static str = "opencl";
    const CODE: Code = Code::SpirV;
    type Context = ClContext;
    type Memory = ClMemory;
    type Pinned = ClPinned;
    type Module = ClModule;
    type Function = launch::ClFunction;
    type Event = ClEvent;
    type Stream = ClStream;

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
        let (devices, refused) = devices()?;
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
        // Of another vendor, with another compiler.
        is_tried: true,
    })
}

static OPENED: Mutex<BTreeMap<u32, ClContext>> = Mutex::new(BTreeMap::new());

fn queue(context: &opencl3::context::Context, device: &Device) -> Result<CommandQueue, DeviceError> {
    // SAFETY: the context has this device.
    let queue = unsafe { CommandQueue::create_with_properties(context, device.id(), CL_QUEUE_PROFILING_ENABLE, 0) };
    check(queue, "clCreateCommandQueueWithProperties")
}

impl Context<Opencl> for ClContext {
    fn open(ordinal: u32) -> Result<ClContext, DeviceError> {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = opened.get(&ordinal) {
            return Ok(Arc::clone(context));
        }
        let (devices, _) = devices()?;
        let device =
            *devices.get(ordinal as usize).ok_or_else(|| DeviceError::NotFound(msg!("OpenCL has no device")))?;
        let raw = check(opencl3::context::Context::from_device(&device), "clCreateContext")?;
        let uploads = queue(&raw, &device)?;
        let context = Arc::new(Opened {
            raw,
            device,
            uploads,
            programs: Mutex::default(),
            addresses: Mutex::default(),
            queues: Mutex::default(),
        });
        canary::sing(&context)?;
        opened.insert(ordinal, Arc::clone(&context));
        Ok(context)
    }
    fn enter(&self) -> Result<(), DeviceError> {
        Ok(())
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.iter().try_for_each(|&queue| check(finish(queue as cl_command_queue), "clFinish"))
    }
    fn memory(&self, len: usize) -> Result<ClMemory, DeviceError> {
        ClMemory::new(self, len)
    }
    fn upload<T>(&self, values: &[T]) -> Result<ClMemory, DeviceError> {
        let memory = self.memory(size_of_val(values))?;
        // SAFETY: both hold these bytes, and the call returns when they are copied.
        unsafe { copy_bytes(&self.uploads, CL_TRUE, memory.at(0), values.as_ptr().cast(), memory.len) }?;
        Ok(memory)
    }
    fn pinned(&self, len: usize) -> Result<ClPinned, DeviceError> {
        Ok(ClPinned::new(len))
    }
    fn load(&self, code: &[u8]) -> Result<ClModule, DeviceError> {
        ClModule::load(self, code)
    }
    fn event(&self) -> Result<ClEvent, DeviceError> {
        Ok(ClEvent::default())
    }
    fn stream(&self) -> Result<ClStream, DeviceError> {
        let queue = queue(&self.raw, &self.device)?;
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).insert(queue.get() as usize);
        Ok(ClStream { queue, context: Arc::clone(self) })
    }
}
