//! The functions of the CUDA driver that this program calls, and the bindings' types. The bindings load a function at its first call,
//! and panic if the library lacks it; so all functions come from this list, and [`missing_function`] looks for each of them first.
#![expect(unsafe_code, reason = "loads the CUDA driver's library")]

pub use cudarc::driver::sys::{
    CU_MEMHOSTALLOC_PORTABLE, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUevent_flags, CUfunction,
    CUjit_option, CUmodule, CUresult, CUstream, CUstream_flags,
};
use cudarc::driver::sys::{culib, is_culib_present};
use std::ffi::c_void;

macro_rules! functions {
    ($($name:ident)*) => {
        pub use cudarc::driver::sys::{$($name),*};
        const FUNCTIONS: &[&str] = &[$(stringify!($name)),*];
    };
}

functions! {
    cuCtxSetCurrent cuCtxSynchronize
    cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetName cuDevicePrimaryCtxRetain cuDeviceTotalMem_v2
    cuDriverGetVersion cuGetErrorString cuInit
    cuEventCreate cuEventDestroy_v2 cuEventElapsedTime cuEventRecord cuEventSynchronize
    cuLaunchKernel cuModuleGetFunction cuModuleLoadDataEx cuModuleUnload cuOccupancyMaxActiveBlocksPerMultiprocessor
    cuMemAlloc_v2 cuMemFreeHost cuMemFree_v2 cuMemHostAlloc cuMemcpyDtoHAsync_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemsetD8Async
    cuStreamCreate cuStreamDestroy_v2 cuStreamWaitEvent
}

/// Whether there is a library of the driver.
pub fn is_present() -> bool {
    // SAFETY: only tries to load the library.
    unsafe { is_culib_present() }
}

/// A function that the driver's library, which must be present, does not have.
pub fn missing_function() -> Option<&'static str> {
    // SAFETY: the library is present. The address is only looked up.
    let has = |name: &&&str| unsafe { culib().get::<*const c_void>(name.as_bytes()).is_ok() };
    FUNCTIONS.iter().find(|name| !has(name)).copied()
}
