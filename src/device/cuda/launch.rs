//! Work on a CUDA context: modules and their kernels, events, streams.

use super::super::error::DeviceError;
use super::super::gpu::api::{Arguments, DeviceMemory, Event, Function, Module, Stream};
use super::context::{Cuda, CudaContext, check};
use super::memory::CudaMemory;
use cudarc::driver::sys;
use std::ffi::{CStr, c_void};
use std::time::Duration;

/// Compiled kernels in a context.
pub struct CudaModule {
    raw: sys::CUmodule,
    context: CudaContext,
}
// SAFETY: the driver's objects may be used from any thread that makes their context current.
unsafe impl Send for CudaModule {}

impl CudaModule {
    pub(super) fn load(ptx: &str, context: CudaContext) -> Result<CudaModule, DeviceError> {
        let broken = |e| DeviceError::Failed(format!("the embedded PTX is broken: {e}"));
        let image = std::ffi::CString::new(ptx).map_err(broken)?;
        let mut log = vec![0u8; 16 << 10];
        let mut options =
            [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
        let mut raw = std::ptr::null_mut();
        // SAFETY: the image ends with a zero; the log is as long as its size says.
        let code = unsafe {
            let image = image.as_ptr().cast();
            sys::cuModuleLoadDataEx(&mut raw, image, 2, options.as_mut_ptr(), values.as_mut_ptr())
        };
        check(code, "cuModuleLoadDataEx").map_err(|e| {
            let words = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
            if words.is_empty() {
                e
            } else {
                DeviceError::Failed(format!("{e}\n--- the driver's compiler said ---\n{words}"))
            }
        })?;
        Ok(CudaModule { raw, context })
    }
}
impl Module<Cuda> for CudaModule {
    fn function(&self, name: &CStr, threads: u32) -> Result<CudaFunction, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends with a zero.
        check(unsafe { sys::cuModuleGetFunction(&mut raw, self.raw, name.as_ptr()) }, "cuModuleGetFunction")?;
        let mut resident = 0;
        // SAFETY: the kernel is loaded.
        let code =
            unsafe { sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut resident, raw, threads.cast_signed(), 0) };
        check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        Ok(CudaFunction { raw, blocks: self.context.multiprocessors()? * resident.max(1).unsigned_abs() })
    }
}
impl Drop for CudaModule {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it was loaded once, and nothing of it runs any more.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

/// A kernel of a [`CudaModule`].
#[derive(Clone, Copy)]
pub struct CudaFunction {
    raw: sys::CUfunction,
    blocks: u32,
}
// SAFETY: a handle; see CudaModule.
unsafe impl Send for CudaFunction {}

impl Function for CudaFunction {
    fn resident_blocks(&self) -> u32 {
        self.blocks
    }
}

/// A moment on a stream.
pub struct CudaEvent {
    raw: sys::CUevent,
    context: CudaContext,
}
// SAFETY: as for CudaModule.
unsafe impl Send for CudaEvent {}

impl CudaEvent {
    pub(super) fn new(context: CudaContext) -> Result<CudaEvent, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes the handle.
        let code = unsafe { sys::cuEventCreate(&mut raw, sys::CUevent_flags::CU_EVENT_DEFAULT as u32) };
        check(code, "cuEventCreate")?;
        Ok(CudaEvent { raw, context })
    }
}
impl Event for CudaEvent {
    fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: the event is alive.
        check(unsafe { sys::cuEventSynchronize(self.raw) }, "cuEventSynchronize")
    }
    fn since(&self, earlier: &CudaEvent) -> Result<Duration, DeviceError> {
        let mut ms = 0.0f32;
        // SAFETY: both events are alive.
        check(unsafe { sys::cuEventElapsedTime(&mut ms, earlier.raw, self.raw) }, "cuEventElapsedTime")?;
        Ok(Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3))
    }
}
impl Drop for CudaEvent {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it was made once.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}

/// A queue of work on the GPU.
pub struct CudaStream {
    raw: sys::CUstream,
    context: CudaContext,
}
// SAFETY: as for CudaModule.
unsafe impl Send for CudaStream {}

impl CudaStream {
    pub(super) fn new(context: CudaContext) -> Result<CudaStream, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes the handle.
        let code = unsafe { sys::cuStreamCreate(&mut raw, sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32) };
        check(code, "cuStreamCreate")?;
        Ok(CudaStream { raw, context })
    }
}
impl Stream<Cuda> for CudaStream {
    fn record(&self, event: &CudaEvent) -> Result<(), DeviceError> {
        // SAFETY: both are alive.
        check(unsafe { sys::cuEventRecord(event.raw, self.raw) }, "cuEventRecord")
    }
    fn wait_for(&self, event: &CudaEvent) -> Result<(), DeviceError> {
        // SAFETY: both are alive.
        check(unsafe { sys::cuStreamWaitEvent(self.raw, event.raw, 0) }, "cuStreamWaitEvent")
    }
    fn fill(&self, memory: &CudaMemory, offset: usize, len: usize, value: u8) -> Result<(), DeviceError> {
        assert!(offset + len <= memory.len);
        // SAFETY: the bytes are the memory's, and it is freed only after the device's work is done.
        check(unsafe { sys::cuMemsetD8Async(memory.address(offset), value, len, self.raw) }, "cuMemsetD8Async")
    }
    unsafe fn copy(&self, to: &mut [u8], from: &CudaMemory, offset: usize) -> Result<(), DeviceError> {
        assert!(offset + to.len() <= from.len);
        // SAFETY: both hold these bytes; that `to` lives long enough is the caller's promise.
        let code =
            unsafe { sys::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from.address(offset), to.len(), self.raw) };
        check(code, "cuMemcpyDtoHAsync")
    }
    unsafe fn launch(
        &self,
        kernel: CudaFunction,
        blocks: (u32, u32),
        threads: (u32, u32),
        arguments: &mut Arguments<'_>,
    ) -> Result<(), DeviceError> {
        let none = std::ptr::null_mut();
        // SAFETY: the kernel is loaded; the rest is the caller's promise.
        let code = unsafe {
            sys::cuLaunchKernel(
                kernel.raw,
                blocks.0,
                blocks.1,
                1,
                threads.0,
                threads.1,
                1,
                0,
                self.raw,
                arguments.as_mut_ptr(),
                none,
            )
        };
        check(code, "cuLaunchKernel")
    }
}
impl Drop for CudaStream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it was made once; the driver ends its work first.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}
