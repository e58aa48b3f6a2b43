//! Memory of a CUDA context: device memory and page-locked host memory.

use super::super::gpu::api::DeviceMemory;
use super::super::memory::PinnedMemory;
use super::context::{CudaContext, handle};
use super::driver;
use std::ffi::c_void;

handle! {
    CudaPinned(*mut c_void) destroyed by cuMemFreeHost, len: usize
}
// SAFETY: it is plain memory, and shared access only reads.
unsafe impl Sync for CudaPinned {}

impl PinnedMemory for CudaPinned {
    fn bytes(&self) -> &[u8] {
        // SAFETY: address and length are what the driver gave, alive until drop.
        unsafe { std::slice::from_raw_parts(self.raw.cast(), self.len) }
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in bytes, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.raw.cast(), self.len) }
    }
}

handle! {
    CudaMemory(driver::CUdeviceptr) destroyed by cuMemFree_v2, len: usize
}

impl DeviceMemory for CudaMemory {
    fn address(&self, offset: usize) -> u64 {
        assert!(offset <= self.len);
        self.raw + offset as u64
    }
}
