//! The CUDA driver interface through cudarc's bindings: each call checked, each handle owned.
//!
//! The driver may be missing: nothing is called before [`Cuda::list`] has seen that libcuda is there and new enough.
#![expect(unsafe_code, reason = "calls the CUDA driver interface")]

mod context;
mod launch;
mod memory;

use super::error::DeviceError;
use super::gpu::api::{Api, Context};
use super::interface::GpuInfo;
pub use context::Cuda;
use context::{CudaContext, check};
use cudarc::driver::sys;
use launch::{CudaEvent, CudaFunction, CudaModule, CudaStream};
use memory::{CudaMemory, CudaPinned};

// PTX 8.4 came with CUDA 12.4.
const MIN_DRIVER: i32 = 12_040;

impl Api for Cuda {
    const NAME: &'static str = "cuda";
    type Context = CudaContext;
    type Memory = CudaMemory;
    type Pinned = CudaPinned;
    type Module = CudaModule;
    type Function = CudaFunction;
    type Event = CudaEvent;
    type Stream = CudaStream;

    fn is_present() -> bool {
        // SAFETY: only tries to load the library.
        unsafe { sys::is_culib_present() }
    }

    fn list() -> Result<Vec<GpuInfo>, DeviceError> {
        if !Cuda::is_present() {
            return Err(DeviceError::NotFound("there is no NVIDIA driver here (libcuda is not found)".into()));
        }
        let mut version = 0;
        // SAFETY: the library is there; the call needs no context.
        check(unsafe { sys::cuDriverGetVersion(&mut version) }, "cuDriverGetVersion")?;
        let (major, minor) = (version / 1000, version % 1000 / 10);
        if version < MIN_DRIVER {
            return Err(DeviceError::TooOld(format!(
                "the NVIDIA driver is too old: it speaks CUDA {major}.{minor}, and 12.4 (driver 550) is needed"
            )));
        }
        // SAFETY: as above.
        check(unsafe { sys::cuInit(0) }, "cuInit")?;
        let mut count = 0;
        // SAFETY: the driver is initialised.
        check(unsafe { sys::cuDeviceGetCount(&mut count) }, "cuDeviceGetCount")?;
        if count == 0 {
            return Err(DeviceError::NotFound("the NVIDIA driver sees no GPU".into()));
        }
        let info = |ordinal: u32| {
            let (mut device, mut memory) = (0, 0);
            let mut name = [0 as std::ffi::c_char; 128];
            // SAFETY: the ordinal is below the count, and the buffer as long as said.
            unsafe {
                check(sys::cuDeviceGet(&mut device, ordinal.cast_signed()), "cuDeviceGet")?;
                check(sys::cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, device), "cuDeviceGetName")?;
                check(sys::cuDeviceTotalMem_v2(&mut memory, device), "cuDeviceTotalMem")?;
            }
            let name = name.iter().take_while(|&&c| c != 0).map(|&c| c as u8 as char).collect();
            let driver = format!("CUDA {major}.{minor}");
            Ok(GpuInfo { api: Cuda::NAME, ordinal, name, memory, driver })
        };
        (0..count.unsigned_abs()).map(info).collect()
    }
}

impl Context<Cuda> for CudaContext {
    fn open(ordinal: u32) -> Result<CudaContext, DeviceError> {
        CudaContext::open(ordinal)
    }
    fn enter(&self) -> Result<(), DeviceError> {
        CudaContext::enter(*self)
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        CudaContext::synchronize(*self)
    }
    fn memory(&self, len: usize) -> Result<CudaMemory, DeviceError> {
        CudaMemory::new(len, *self)
    }
    fn upload<T>(&self, values: &[T]) -> Result<CudaMemory, DeviceError> {
        CudaMemory::of(values, *self)
    }
    fn pinned(&self, len: usize) -> Result<CudaPinned, DeviceError> {
        CudaPinned::new(len, *self)
    }
    fn load(&self, text: &str) -> Result<CudaModule, DeviceError> {
        CudaModule::load(text, *self)
    }
    fn event(&self) -> Result<CudaEvent, DeviceError> {
        CudaEvent::new(*self)
    }
    fn stream(&self) -> Result<CudaStream, DeviceError> {
        CudaStream::new(*self)
    }
}
