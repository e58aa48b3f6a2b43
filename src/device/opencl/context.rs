//! The devices that can be used, what their contexts hold, and OpenCL's codes as errors.

use super::super::error::DeviceError;
use crate::language::{Message, msg};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context as Raw;
use opencl3::device::{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, Device};
use opencl3::error_codes::ClError;
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

pub struct Opencl;

/// A result of OpenCL, with the name of the call.
pub fn check<T>(result: Result<T, impl Into<ClError>>, what: &str) -> Result<T, DeviceError> {
    result.map_err(|code| {
        let code = code.into();
        let message = format!("OpenCL: {what}: {code}");
        match code.0 {
            // Of memory objects, and of the host.
            -4 | -6 => DeviceError::OutOfMemory(message),
            // Out of resources, an event that failed, a queue or context that is gone.
            -5 | -14 | -36 | -34 => DeviceError::Lost(message),
            _ => DeviceError::Failed(message),
        }
    })
}

/// The devices that can be used, GPUs first; and why others cannot.
pub fn devices() -> Result<(Vec<Device>, Vec<Message>), DeviceError> {
    let (mut gpus, mut cpus, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for platform in check(get_platforms(), "clGetPlatformIDs")? {
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let device = Device::new(id);
            match missing(&device) {
                Some(what) => refused.push(msg!("{name} lacks {what}", name = device.name().unwrap_or_default(), what)),
                None if device.dev_type().is_ok_and(|kind| kind & CL_DEVICE_TYPE_CPU != 0) => cpus.push(device),
                None => gpus.push(device),
            }
        }
    }
    gpus.append(&mut cpus);
    Ok((gpus, refused))
}

// What kernels need, and a device lacks.
fn missing(device: &Device) -> Option<&'static str> {
    let extensions = device.extensions().unwrap_or_default();
    let has = |name: &str| extensions.split_whitespace().any(|one| one == name);
    let needed = [
        (device.il_version().is_ok_and(|all| all.contains("SPIR-V")), "SPIR-V (CL_DEVICE_IL_VERSION)"),
        (
            device.svm_mem_capability() & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER != 0,
            "shared virtual memory (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)",
        ),
        (has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics"), "cl_khr_int64_base_atomics"),
        (device.double_fp_config().is_ok_and(|config| config != 0), "cl_khr_fp64"),
        (device.address_bits().is_ok_and(|bits| bits == 64), "addresses of 64 bits"),
    ];
    needed.iter().find(|(is_there, _)| !is_there).map(|(_, what)| *what)
}

/// A device's context, which stays until the process ends.
pub struct Opened {
    pub raw: Raw,
    pub device: Device,
    /// The queue of uploads, which are waited for.
    pub uploads: CommandQueue,
    /// The programs that were built last, with their code: a build takes seconds.
    pub programs: Mutex<VecDeque<(Vec<u8>, Arc<Program>)>>,
    /// The addresses of all memory, which each kernel is told.
    pub addresses: Mutex<BTreeSet<usize>>,
    /// The queues that are open.
    pub queues: Mutex<BTreeSet<usize>>,
}

pub type ClContext = Arc<Opened>;
