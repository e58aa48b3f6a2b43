//! The CUDA driver interface through cudarc's bindings. Each call is checked, and each handle has an owner. The
//! driver may be missing, so [`Cuda::list`] checks its presence and version before any other call.
#![expect(unsafe_code, reason = "calls the CUDA driver interface")]

mod context;
mod driver;
mod launch;
mod memory;

use super::error::DeviceError;
use super::gpu::api::{Api, Code, Context};
use super::interface::GpuInfo;
use crate::language::msg;
pub use context::Cuda;
use context::{CudaContext, check};
use launch::{CudaEvent, CudaFunction, CudaModule, CudaStream};
use memory::{CudaMemory, CudaPinned};
use std::ffi::c_void;

// PTX 8.4 came with CUDA 12.4.
const MIN_DRIVER: i32 = 12_040;

impl Api for Cuda {
    const NAME: &'static str = "cuda";
    const CODE: Code = Code::Ptx;
    type Context = CudaContext;
    type Memory = CudaMemory;
    type Pinned = CudaPinned;
    type Module = CudaModule;
    type Function = CudaFunction;
    type Event = CudaEvent;
    type Stream = CudaStream;

    fn is_present() -> bool {
        driver::is_present()
    }

    fn list() -> Result<Vec<GpuInfo>, DeviceError> {
        if !Cuda::is_present() {
            return Err(DeviceError::NotFound(msg!(
                "there is no NVIDIA driver here ({library} is not found)",
                library = "libcuda"
            )));
        }
        if let Some(name) = driver::missing_function() {
            return Err(DeviceError::TooOld(msg!(
                "the NVIDIA driver does not fit: its {library} has no function {name}",
                library = "libcuda",
                name
            )));
        }
        let mut version = 0;
        // SAFETY: the library is there; the call needs no context.
        check(unsafe { driver::cuDriverGetVersion(&mut version) }, "cuDriverGetVersion")?;
        let (major, minor) = (version / 1000, version % 1000 / 10);
        if version < MIN_DRIVER {
            return Err(DeviceError::TooOld({
                msg!(
                    "the NVIDIA driver is too old: it speaks {has}, and {needs} is needed",
                    has = format_args!("CUDA {major}.{minor}"),
                    needs = "12.4 (driver 550)"
                )
            }));
        }
        // SAFETY: as above.
        check(unsafe { driver::cuInit(0) }, "cuInit")?;
        let mut count = 0;
        // SAFETY: the driver is initialized.
        check(unsafe { driver::cuDeviceGetCount(&mut count) }, "cuDeviceGetCount")?;
        if count == 0 {
            return Err(DeviceError::NotFound(msg!("the NVIDIA driver sees no GPU")));
        }
        let info = |ordinal: u32| {
            let (mut device, mut memory) = (0, 0);
            let mut name = [0 as std::ffi::c_char; 128];
            // SAFETY: the ordinal is below the count, and the buffer as long as said.
            unsafe {
                check(driver::cuDeviceGet(&mut device, ordinal.cast_signed()), "cuDeviceGet")?;
                check(driver::cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, device), "cuDeviceGetName")?;
                check(driver::cuDeviceTotalMem_v2(&mut memory, device), "cuDeviceTotalMem")?;
            }
            let name = name.iter().take_while(|&&c| c != 0).map(|&c| c as u8 as char).collect();
            let driver = format!("CUDA {major}.{minor}");
            Ok(GpuInfo { api: Cuda::NAME, ordinal, name, memory, driver, is_cpu: false, is_tried: false })
        };
        (0..count.unsigned_abs()).map(info).collect()
    }
}

impl Context<Cuda> for CudaContext {
    fn open(ordinal: u32) -> Result<CudaContext, DeviceError> {
        let (mut device, mut raw) = (0, std::ptr::null_mut());
        // SAFETY: the driver answers for an ordinal that is not there.
        unsafe {
            check(driver::cuDeviceGet(&mut device, ordinal.cast_signed()), "cuDeviceGet")?;
            check(driver::cuDevicePrimaryCtxRetain(&mut raw, device), "cuDevicePrimaryCtxRetain")?;
        }
        let context = CudaContext { raw, device };
        context.enter()?;
        Ok(context)
    }
    fn enter(&self) -> Result<(), DeviceError> {
        CudaContext::enter(*self)
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the context is current.
        check(unsafe { driver::cuCtxSynchronize() }, "cuCtxSynchronize")
    }
    fn memory(&self, len: usize) -> Result<CudaMemory, DeviceError> {
        let mut raw = 0;
        // SAFETY: the driver writes the address of memory that it has allocated.
        check(unsafe { driver::cuMemAlloc_v2(&mut raw, len.max(16)) }, "cuMemAlloc")?;
        Ok(CudaMemory { raw, len, context: *self })
    }
    fn upload<T>(&self, values: &[T]) -> Result<CudaMemory, DeviceError> {
        let memory = self.memory(size_of_val(values))?;
        if memory.len > 0 {
            // SAFETY: both sides hold len bytes, and the call returns when they are copied.
            let code = unsafe { driver::cuMemcpyHtoD_v2(memory.raw, values.as_ptr().cast(), memory.len) };
            check(code, "cuMemcpyHtoD")?;
        }
        Ok(memory)
    }
    fn pinned(&self, len: usize) -> Result<CudaPinned, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // Portable: copies from every GPU are fast. Not write-combined: the CPU reads it.
        // SAFETY: the driver writes the address of memory that it has allocated.
        let code = unsafe { driver::cuMemHostAlloc(&mut raw, len.max(1), driver::CU_MEMHOSTALLOC_PORTABLE) };
        check(code, "cuMemHostAlloc")?;
        // SAFETY: the driver gave len writable bytes.
        unsafe { raw.cast::<u8>().write_bytes(0, len) };
        Ok(CudaPinned { raw, len, context: *self })
    }
    fn load(&self, code: &[u8]) -> Result<CudaModule, DeviceError> {
        let broken = |e| DeviceError::Failed(format!("the embedded PTX is broken: {e}"));
        let image = std::ffi::CString::new(code).map_err(broken)?;
        let mut log = vec![0u8; 16 << 10];
        let mut options =
            [driver::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, driver::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
        let mut raw = std::ptr::null_mut();
        // SAFETY: the image ends with a zero; the log is as long as its size says.
        let code = unsafe {
            let image = image.as_ptr().cast();
            driver::cuModuleLoadDataEx(&mut raw, image, 2, options.as_mut_ptr(), values.as_mut_ptr())
        };
        check(code, "cuModuleLoadDataEx").map_err(|e| {
            let words = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
            if words.is_empty() {
                e
            } else {
                DeviceError::Failed(format!("{e}\n--- the driver's compiler said ---\n{words}"))
            }
        })?;
        Ok(CudaModule { raw, context: *self })
    }
    fn event(&self) -> Result<CudaEvent, DeviceError> {
        let mut raw = std::ptr::null_mut();
        let flags = driver::CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: the driver writes the handle.
        check(unsafe { driver::cuEventCreate(&mut raw, flags) }, "cuEventCreate")?;
        Ok(CudaEvent { raw, context: *self })
    }
    fn stream(&self) -> Result<CudaStream, DeviceError> {
        let (mut raw, flags) = (std::ptr::null_mut(), driver::CUstream_flags::CU_STREAM_NON_BLOCKING as u32);
        // SAFETY: the driver writes the handle.
        check(unsafe { driver::cuStreamCreate(&mut raw, flags) }, "cuStreamCreate")?;
        Ok(CudaStream { raw, context: *self })
    }
}
