//! CUDA contexts, and the driver's codes as errors.
#![expect(unsafe_code, reason = "calls the CUDA driver interface")]

use super::super::error::DeviceError;
use super::driver::{self, CUresult};
use crate::language::Message;
use std::ffi::CStr;

pub struct Cuda;

// An error from a driver's code, with the driver's text.
fn failed(what: &str, code: CUresult) -> DeviceError {
    let mut text: *const std::ffi::c_char = std::ptr::null();
    // SAFETY: the driver is loaded (codes come from it), and gives a static string or leaves null.
    let words = unsafe {
        match driver::cuGetErrorString(code, &mut text) {
            CUresult::CUDA_SUCCESS if !text.is_null() => CStr::from_ptr(text).to_string_lossy().into_owned(),
            _ => "unknown error".into(),
        }
    };
    let message = format!("CUDA: {what}: {words} ({code:?})");
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceError::OutOfMemory(message),
        // After these errors, the context is unusable.
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_FAILED
        | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
        | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUresult::CUDA_ERROR_DEINITIALIZED
        | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => DeviceError::Lost(message),
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => DeviceError::TooOld(Message::text(message)),
        _ => DeviceError::Failed(message),
    }
}

/// `check(unsafe { call(...) }, "call")`: converts the driver's code to a Result that names the call.
pub fn check(code: CUresult, what: &str) -> Result<(), DeviceError> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failed(what, code)) }
}

/// The primary context of a GPU, which can be made current on any thread. It stays until the process ends, as in
/// CUDA's runtime: creating it takes a quarter of a second, and releasing it 20 ms.
#[derive(Clone, Copy)]
pub struct CudaContext {
    pub(super) raw: driver::CUcontext,
    pub(super) device: driver::CUdevice,
}
// SAFETY: the driver's objects may be used from any thread that makes the context current.
unsafe impl Send for CudaContext {}
// SAFETY: as above.
unsafe impl Sync for CudaContext {}

impl CudaContext {
    /// Makes the context current on this thread.
    pub fn enter(self) -> Result<(), DeviceError> {
        // SAFETY: the context is retained.
        check(unsafe { driver::cuCtxSetCurrent(self.raw) }, "cuCtxSetCurrent")
    }
}

// A handle of a driver's object, which is destroyed when it is dropped.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident($raw:ty) destroyed by $destroy:ident $(, $field:ident: $type:ty)?) => {
        $(#[$doc])*
        pub struct $name {
            pub(super) raw: $raw,
            $(pub(super) $field: $type,)?
            pub(super) context: CudaContext,
        }
        // SAFETY: the driver's objects may be used from any thread that makes their context current.
        unsafe impl Send for $name {}
        impl Drop for $name {
            fn drop(&mut self) {
                // When the process ends, the driver may be unloaded already, so errors are ignored.
                if self.context.enter().is_ok() {
                    // SAFETY: the driver made it once, and its owner has waited, before dropping it, for what uses it.
                    let _ = unsafe { driver::$destroy(self.raw) };
                }
            }
        }
    };
}
pub(super) use handle;
