//! The CUDA driver interface through cudarc's bindings: each call checked, each handle owned.
//!
//! The driver may be missing: nothing is called before [`Gpus::find`] has seen that libcuda is there
//! and new enough.
#![expect(unsafe_code, reason = "calls the CUDA driver interface")]

use super::DeviceError;
use crate::layout::Array;
use cudarc::driver::sys::{self, CUresult};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};

// PTX 8.4 came with CUDA 12.4.
const LEAST_DRIVER: i32 = 12_040;

/// An answer of the driver as an error, in its own words.
pub fn failed(what: &str, code: CUresult) -> DeviceError {
    let mut text: *const std::ffi::c_char = std::ptr::null();
    // SAFETY: the driver is loaded (codes come from it), and gives a static string or leaves null.
    let words = unsafe {
        match sys::cuGetErrorString(code, &mut text) {
            CUresult::CUDA_SUCCESS if !text.is_null() => std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned(),
            _ => "unknown error".into(),
        }
    };
    let hint = match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "; a smaller --size needs less memory",
        _ => "",
    };
    DeviceError::Cuda(format!("CUDA: {what}: {words} ({code:?}){hint}"))
}

// `check!(call(...))`: the driver's answer as a Result that names the call. For use by device/cuda.rs too.
macro_rules! check {
    ($call:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: handles are live objects of this module, made by the driver and owned by the struct that
        // passes them; pointers are to locals or to memory of the length given beside them.
        let code = unsafe { cudarc::driver::sys::$call($($argument),*) };
        if code == cudarc::driver::sys::CUresult::CUDA_SUCCESS { Ok(()) } else { Err($crate::device::driver::failed(stringify!($call), code)) }
    }};
}

pub(super) use check;

/// The GPUs of this machine.
#[derive(Debug)]
pub struct Gpus {
    /// The driver's CUDA version, as 1000 major + 10 minor.
    pub driver: i32,
    /// Names and memory, by ordinal.
    pub list: Vec<GpuFacts>,
}

/// What one GPU is.
#[derive(Clone, Debug)]
pub struct GpuFacts {
    /// Its number.
    pub ordinal: i32,
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory: usize,
}

impl Gpus {
    /// Looks for usable GPUs; the error says in one line why there are none.
    pub fn find() -> Result<Gpus, DeviceError> {
        // SAFETY: only tries to load the library.
        if !unsafe { sys::is_culib_present() } {
            return Err(DeviceError::Cuda("there is no NVIDIA driver here (libcuda is not found)".into()));
        }
        let mut driver = 0;
        check!(cuDriverGetVersion(&mut driver))?;
        if driver < LEAST_DRIVER {
            return Err(DeviceError::Cuda(format!(
                "the NVIDIA driver is too old: it speaks CUDA {}.{}, and 12.4 (driver 550) is needed",
                driver / 1000,
                driver % 1000 / 10
            )));
        }
        check!(cuInit(0))?;
        let mut count = 0;
        check!(cuDeviceGetCount(&mut count))?;
        if count == 0 {
            return Err(DeviceError::Cuda("the NVIDIA driver sees no GPU".into()));
        }
        let mut list = Vec::new();
        for ordinal in 0..count {
            let mut device = 0;
            check!(cuDeviceGet(&mut device, ordinal))?;
            let mut name = [0 as std::ffi::c_char; 128];
            check!(cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, device))?;
            let mut memory = 0;
            check!(cuDeviceTotalMem_v2(&mut memory, device))?;
            let name = name.iter().take_while(|&&c| c != 0).map(|&c| c as u8 as char).collect();
            list.push(GpuFacts { ordinal, name, memory });
        }
        Ok(Gpus { driver, list })
    }
}

/// A context on one GPU, current on whichever thread works with it.
#[derive(Clone, Copy)]
pub struct Context(pub sys::CUcontext);
// SAFETY: the driver's objects may be used from any thread that makes the context current.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Makes it this thread's.
    pub fn enter(self) -> Result<(), DeviceError> {
        check!(cuCtxSetCurrent(self.0))
    }
}

/// Page-locked host memory, which copies reach without the CPU.
pub struct Pinned {
    start: *mut u8,
    len: usize,
    context: Context,
}
// SAFETY: it is plain memory; who holds the struct owns it.
unsafe impl Send for Pinned {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// `len` zeroes; the context must be current.
    pub fn new(len: usize, context: Context) -> Result<Pinned, DeviceError> {
        let mut start: *mut c_void = std::ptr::null_mut();
        // Portable: copies from every GPU are fast. Not write-combined: the CPU reads it.
        check!(cuMemHostAlloc(&mut start, len.max(1), sys::CU_MEMHOSTALLOC_PORTABLE))?;
        let start = start.cast::<u8>();
        // SAFETY: the driver gave len writable bytes.
        unsafe { start.write_bytes(0, len) };
        Ok(Pinned { start, len, context })
    }
    /// The address of byte `offset`, for the driver's copies.
    pub fn at(&self, offset: usize) -> *mut c_void {
        assert!(offset <= self.len);
        self.start.wrapping_add(offset).cast()
    }
}
impl Deref for Pinned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: start and len are what the driver gave, alive until drop.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}
impl DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in deref, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}
impl Drop for Pinned {
    fn drop(&mut self) {
        // At the end of a process the driver may have gone already; there is nobody to tell.
        let _ = self.context.enter().and_then(|()| check!(cuMemFreeHost(self.start.cast())));
    }
}

/// Memory on the device.
pub struct DeviceMemory {
    /// Where it is.
    pub address: sys::CUdeviceptr,
    context: Context,
}
impl DeviceMemory {
    /// `bytes` bytes; the context must be current.
    pub fn new(bytes: usize, context: Context) -> Result<DeviceMemory, DeviceError> {
        let mut address = 0;
        check!(cuMemAlloc_v2(&mut address, bytes.max(16)))?;
        Ok(DeviceMemory { address, context })
    }
    /// A copy of `values`.
    pub fn of<T>(values: &[T], context: Context) -> Result<DeviceMemory, DeviceError> {
        let bytes = size_of_val(values);
        let memory = DeviceMemory::new(bytes, context)?;
        if bytes > 0 {
            check!(cuMemcpyHtoD_v2(memory.address, values.as_ptr().cast(), bytes))?;
        }
        Ok(memory)
    }
    /// As the kernels see it.
    pub fn array<T>(&self, len: usize) -> Array<T> {
        Array::new(self.address as *const T, len)
    }
}
impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let _ = self.context.enter().and_then(|()| check!(cuMemFree_v2(self.address)));
    }
}

/// Loads PTX into the current context; a failure carries the driver's own compiler log.
pub fn load_module(ptx: &str) -> Result<sys::CUmodule, DeviceError> {
    let image =
        std::ffi::CString::new(ptx).map_err(|e| DeviceError::Cuda(format!("the embedded PTX is broken: {e}")))?;
    let mut log = vec![0u8; 16 << 10];
    let mut options =
        [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
    let mut module = std::ptr::null_mut();
    check!(cuModuleLoadDataEx(&mut module, image.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()))
        .map_err(|e| {
            let words = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
            DeviceError::Cuda(if words.is_empty() {
                e.to_string()
            } else {
                format!("{e}\n--- the driver's compiler said ---\n{words}")
            })
        })?;
    Ok(module)
}

/// Puts a kernel on a stream: blocks across and down, threads across and down, pointers to its arguments.
pub(super) fn launch(
    kernel: sys::CUfunction,
    blocks: (u32, u32),
    threads: (u32, u32),
    stream: sys::CUstream,
    arguments: &mut [*mut c_void],
) -> Result<(), DeviceError> {
    let none = std::ptr::null_mut();
    check!(cuLaunchKernel(
        kernel,
        blocks.0,
        blocks.1,
        1,
        threads.0,
        threads.1,
        1,
        0,
        stream,
        arguments.as_mut_ptr(),
        none
    ))
}
