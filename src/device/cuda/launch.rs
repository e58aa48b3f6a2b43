//! CUDA modules and their kernels, events, and streams.

use super::super::error::DeviceError;
use super::super::gpu::api::{Arguments, DeviceMemory, Event, Function, Module, Stream};
use super::context::{Cuda, CudaContext, check, handle};
use super::driver;
use super::memory::CudaMemory;
use std::ffi::CStr;
use std::time::Duration;

handle! {
    CudaModule(driver::CUmodule) destroyed by cuModuleUnload
}
handle! {
    CudaEvent(driver::CUevent) destroyed by cuEventDestroy_v2
}
handle! {
    /// A queue of work on the GPU. The driver completes its work before the stream is destroyed.
    CudaStream(driver::CUstream) destroyed by cuStreamDestroy_v2
}

impl Module<Cuda> for CudaModule {
    fn function(&self, name: &CStr, threads: u32) -> Result<CudaFunction, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends with a zero.
        check(unsafe { driver::cuModuleGetFunction(&mut raw, self.raw, name.as_ptr()) }, "cuModuleGetFunction")?;
        let mut resident = 0;
        // SAFETY: the kernel is loaded.
        let code = unsafe {
            driver::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut resident, raw, threads.cast_signed(), 0)
        };
        check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        let (mut count, multiprocessors) = (0, driver::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        // SAFETY: the device is the context's.
        let code = unsafe { driver::cuDeviceGetAttribute(&mut count, multiprocessors, self.context.device) };
        check(code, "cuDeviceGetAttribute")?;
        Ok(CudaFunction { raw, threads, blocks: count.unsigned_abs() * resident.max(1).unsigned_abs() })
    }
}
#[derive(Clone, Copy)]
pub struct CudaFunction {
    raw: driver::CUfunction,
    threads: u32,
    blocks: u32,
}
// SAFETY: a handle; see CudaModule.
unsafe impl Send for CudaFunction {}

impl Function for CudaFunction {
    fn threads(&self) -> u32 {
        self.threads
    }
    fn resident_blocks(&self) -> u32 {
        self.blocks
    }
}

impl Event for CudaEvent {
    fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: the event is alive.
        check(unsafe { driver::cuEventSynchronize(self.raw) }, "cuEventSynchronize")
    }
    fn since(&self, earlier: &CudaEvent) -> Result<Duration, DeviceError> {
        let mut ms = 0.0f32;
        // SAFETY: both events are alive.
        check(unsafe { driver::cuEventElapsedTime(&mut ms, earlier.raw, self.raw) }, "cuEventElapsedTime")?;
        Ok(Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3))
    }
}
impl Stream<Cuda> for CudaStream {
    fn record(&self, event: &CudaEvent) -> Result<(), DeviceError> {
        // SAFETY: both are alive.
        check(unsafe { driver::cuEventRecord(event.raw, self.raw) }, "cuEventRecord")
    }
    fn wait_for(&self, event: &CudaEvent) -> Result<(), DeviceError> {
        // SAFETY: both are alive.
        check(unsafe { driver::cuStreamWaitEvent(self.raw, event.raw, 0) }, "cuStreamWaitEvent")
    }
    fn fill(&self, memory: &CudaMemory, offset: usize, len: usize, value: u8) -> Result<(), DeviceError> {
        assert!(offset + len <= memory.len);
        // SAFETY: the bytes are the memory's, and it is freed only after the device's work is done.
        check(unsafe { driver::cuMemsetD8Async(memory.address(offset), value, len, self.raw) }, "cuMemsetD8Async")
    }
    unsafe fn write(&self, to: &CudaMemory, offset: usize, from: &[u8]) -> Result<(), DeviceError> {
        assert!(offset + from.len() <= to.len);
        // SAFETY: both hold these bytes; that page-locked memory lives long enough is the caller's promise.
        let code =
            unsafe { driver::cuMemcpyHtoDAsync_v2(to.address(offset), from.as_ptr().cast(), from.len(), self.raw) };
        check(code, "cuMemcpyHtoDAsync")
    }
    unsafe fn copy(&self, to: &mut [u8], from: &CudaMemory, offset: usize) -> Result<(), DeviceError> {
        assert!(offset + to.len() <= from.len);
        // SAFETY: both hold these bytes; that `to` lives long enough is the caller's promise.
        let code =
            unsafe { driver::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from.address(offset), to.len(), self.raw) };
        check(code, "cuMemcpyDtoHAsync")
    }
    unsafe fn launch(
        &self,
        kernel: CudaFunction,
        blocks: (u32, u32),
        threads: (u32, u32),
        arguments: &mut Arguments<'_>,
    ) -> Result<(), DeviceError> {
        let ((bx, by), (tx, ty), arguments, none) = (blocks, threads, arguments.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the kernel is loaded; the rest is the caller's promise.
        let code = unsafe { driver::cuLaunchKernel(kernel.raw, bx, by, 1, tx, ty, 1, 0, self.raw, arguments, none) };
        check(code, "cuLaunchKernel")
    }
}
