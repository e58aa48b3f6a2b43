//! Memory of a CUDA context, on the device and page-locked.

use super::super::error::DeviceError;
use super::super::gpu::api::DeviceMemory;
use super::super::memory::PinnedMemory;
use super::context::{CudaContext, check};
use cudarc::driver::sys;
use std::ffi::c_void;

/// Page-locked host memory.
pub struct CudaPinned {
    start: *mut u8,
    len: usize,
    context: CudaContext,
}
// SAFETY: it is plain memory; who holds the struct owns it.
unsafe impl Send for CudaPinned {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for CudaPinned {}

impl CudaPinned {
    pub(super) fn new(len: usize, context: CudaContext) -> Result<CudaPinned, DeviceError> {
        let mut start: *mut c_void = std::ptr::null_mut();
        // Portable: copies from every GPU are fast. Not write-combined: the CPU reads it.
        // SAFETY: the driver writes the address of memory that it has allocated.
        let code = unsafe { sys::cuMemHostAlloc(&mut start, len.max(1), sys::CU_MEMHOSTALLOC_PORTABLE) };
        check(code, "cuMemHostAlloc")?;
        let start = start.cast::<u8>();
        // SAFETY: the driver gave len writable bytes.
        unsafe { start.write_bytes(0, len) };
        Ok(CudaPinned { start, len, context })
    }
}
impl PinnedMemory for CudaPinned {
    fn bytes(&self) -> &[u8] {
        // SAFETY: start and len are what the driver gave, alive until drop.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in bytes, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}
impl Drop for CudaPinned {
    fn drop(&mut self) {
        // At the end of a process the driver may have gone already; there is nobody to tell.
        if self.context.enter().is_ok() {
            // SAFETY: it is the driver's memory, freed once.
            let _ = unsafe { sys::cuMemFreeHost(self.start.cast()) };
        }
    }
}

/// Memory on the device.
pub struct CudaMemory {
    start: sys::CUdeviceptr,
    pub(super) len: usize,
    context: CudaContext,
}
impl CudaMemory {
    pub(super) fn new(len: usize, context: CudaContext) -> Result<CudaMemory, DeviceError> {
        let mut start = 0;
        // SAFETY: the driver writes the address of memory that it has allocated.
        check(unsafe { sys::cuMemAlloc_v2(&mut start, len.max(16)) }, "cuMemAlloc")?;
        Ok(CudaMemory { start, len, context })
    }
    pub(super) fn of<T>(values: &[T], context: CudaContext) -> Result<CudaMemory, DeviceError> {
        let len = size_of_val(values);
        let memory = CudaMemory::new(len, context)?;
        if len > 0 {
            // SAFETY: both sides hold len bytes, and the call returns when they are copied.
            let code = unsafe { sys::cuMemcpyHtoD_v2(memory.start, values.as_ptr().cast(), len) };
            check(code, "cuMemcpyHtoD")?;
        }
        Ok(memory)
    }
}
impl DeviceMemory for CudaMemory {
    fn address(&self, offset: usize) -> u64 {
        assert!(offset <= self.len);
        self.start + offset as u64
    }
}
impl Drop for CudaMemory {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it is the driver's memory, freed once; whoever drops it has waited for what uses it.
            let _ = unsafe { sys::cuMemFree_v2(self.start) };
        }
    }
}
