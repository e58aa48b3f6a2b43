//! Memory that host and device know by one address, and host memory for copies.
#![expect(unsafe_code, reason = "allocates by OpenCL")]

use super::super::error::DeviceError;
use super::super::gpu::api::DeviceMemory;
use super::super::memory::PinnedMemory;
use super::context::ClContext;
use opencl3::memory::{CL_MEM_READ_WRITE, svm_alloc, svm_free};
use std::ffi::c_void;
use std::sync::{Arc, PoisonError};

pub struct ClMemory {
    address: usize,
    pub(super) len: usize,
    context: ClContext,
}

impl ClMemory {
    pub fn new(context: &ClContext, len: usize) -> Result<ClMemory, DeviceError> {
        // SAFETY: the context is open.
        let address = unsafe { svm_alloc(context.raw.get(), CL_MEM_READ_WRITE, len.max(16), 0) };
        let full = |_| DeviceError::OutOfMemory(format!("OpenCL: clSVMAlloc: {len} bytes"));
        let address = address.map_err(full)? as usize;
        context.addresses.lock().unwrap_or_else(PoisonError::into_inner).insert(address);
        Ok(ClMemory { address, len, context: Arc::clone(context) })
    }
    // The byte at an offset, for calls of OpenCL.
    pub(super) fn at(&self, offset: usize) -> *mut c_void {
        self.address(offset) as *mut c_void
    }
}

impl DeviceMemory for ClMemory {
    fn address(&self, offset: usize) -> u64 {
        assert!(offset <= self.len);
        (self.address + offset) as u64
    }
}

impl Drop for ClMemory {
    fn drop(&mut self) {
        self.context.addresses.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.address);
        // SAFETY: OpenCL gave it once, and its owner has waited for what uses it.
        let _ = unsafe { svm_free(self.context.raw.get(), self.address as *mut c_void) };
    }
}

/// Memory of the host. OpenCL locks pages by itself.
pub struct ClPinned {
    words: Vec<u64>,
    len: usize,
}

impl ClPinned {
    pub fn new(len: usize) -> ClPinned {
        ClPinned { words: vec![0; len.div_ceil(size_of::<u64>())], len }
    }
}

impl PinnedMemory for ClPinned {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }
}
