//! The CUDA driver interface through cudarc's bindings: each call checked, each handle owned.
//!
//! The driver may be missing: nothing is called before [`probe`] has seen that libcuda is there and new enough.
#![expect(unsafe_code, reason = "calls the CUDA driver interface")]

use super::DeviceError;
use crate::gpu_types::Array;
use cudarc::driver::sys::{self, CUresult};
use std::ffi::{CStr, c_void};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

// PTX 8.4 came with CUDA 12.4.
const MIN_DRIVER: i32 = 12_040;

// An answer of the driver as an error, in its own words.
fn failed(what: &str, code: CUresult) -> DeviceError {
    let mut text: *const std::ffi::c_char = std::ptr::null();
    // SAFETY: the driver is loaded (codes come from it), and gives a static string or leaves null.
    let words = unsafe {
        match sys::cuGetErrorString(code, &mut text) {
            CUresult::CUDA_SUCCESS if !text.is_null() => CStr::from_ptr(text).to_string_lossy().into_owned(),
            _ => "unknown error".into(),
        }
    };
    let message = format!("CUDA: {what}: {words} ({code:?})");
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => DeviceError::OutOfMemory(message),
        // After these the context answers nothing any more.
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_FAILED
        | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
        | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUresult::CUDA_ERROR_DEINITIALIZED
        | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED => DeviceError::Lost(message),
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => DeviceError::TooOld(message),
        _ => DeviceError::Failed(message),
    }
}

// `check(unsafe { call(...) }, "call")`: the driver's answer as a Result that names the call.
fn check(code: CUresult, what: &str) -> Result<(), DeviceError> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failed(what, code)) }
}

/// The GPUs of this machine.
#[derive(Clone, Debug)]
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

/// Whether there is a driver to ask for GPUs.
pub fn is_there() -> bool {
    // SAFETY: only tries to load the library.
    unsafe { sys::is_culib_present() }
}

/// Looks for usable GPUs; the error says in one line why there are none.
pub fn probe() -> Result<Gpus, DeviceError> {
    if !is_there() {
        return Err(DeviceError::NotFound("there is no NVIDIA driver here (libcuda is not found)".into()));
    }
    let mut driver = 0;
    // SAFETY: the library is there; the call needs no context.
    check(unsafe { sys::cuDriverGetVersion(&mut driver) }, "cuDriverGetVersion")?;
    if driver < MIN_DRIVER {
        return Err(DeviceError::TooOld(format!(
            "the NVIDIA driver is too old: it speaks CUDA {}.{}, and 12.4 (driver 550) is needed",
            driver / 1000,
            driver % 1000 / 10
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
    let mut list = Vec::new();
    for ordinal in 0..count {
        let (mut device, mut memory) = (0, 0);
        let mut name = [0 as std::ffi::c_char; 128];
        // SAFETY: the ordinal is below the count, and the buffer as long as said.
        unsafe {
            check(sys::cuDeviceGet(&mut device, ordinal), "cuDeviceGet")?;
            check(sys::cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, device), "cuDeviceGetName")?;
            check(sys::cuDeviceTotalMem_v2(&mut memory, device), "cuDeviceTotalMem")?;
        }
        let name = name.iter().take_while(|&&c| c != 0).map(|&c| c as u8 as char).collect();
        list.push(GpuFacts { ordinal, name, memory });
    }
    Ok(Gpus { driver, list })
}

/// The primary context of one GPU, current on whichever thread works with it. It stays until the process ends, as CUDA's
/// own runtime has it: making one takes a quarter of a second, and giving it back 20 ms.
#[derive(Clone, Copy)]
pub struct Context {
    raw: sys::CUcontext,
    device: sys::CUdevice,
}
// SAFETY: the driver's objects may be used from any thread that makes the context current.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The GPU's primary context, current on this thread.
    pub fn retain(ordinal: i32) -> Result<Context, DeviceError> {
        let (mut device, mut raw) = (0, std::ptr::null_mut());
        // SAFETY: the driver answers for an ordinal that is not there.
        unsafe {
            check(sys::cuDeviceGet(&mut device, ordinal), "cuDeviceGet")?;
            check(sys::cuDevicePrimaryCtxRetain(&mut raw, device), "cuDevicePrimaryCtxRetain")?;
        }
        let context = Context { raw, device };
        context.enter()?;
        Ok(context)
    }
    /// Makes it this thread's.
    pub fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is retained.
        check(unsafe { sys::cuCtxSetCurrent(self.raw) }, "cuCtxSetCurrent")
    }
    /// Waits until nothing is running on it.
    pub fn synchronise(&self) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the context is current.
        check(unsafe { sys::cuCtxSynchronize() }, "cuCtxSynchronize")
    }
    /// How many multiprocessors the GPU has.
    pub fn multiprocessors(&self) -> Result<u32, DeviceError> {
        let mut count = 0;
        let which = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        // SAFETY: the device is the context's.
        check(unsafe { sys::cuDeviceGetAttribute(&mut count, which, self.device) }, "cuDeviceGetAttribute")?;
        Ok(count.unsigned_abs())
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
    pub fn new(len: usize, context: &Context) -> Result<Pinned, DeviceError> {
        let mut start: *mut c_void = std::ptr::null_mut();
        // Portable: copies from every GPU are fast. Not write-combined: the CPU reads it.
        // SAFETY: the driver writes the address of memory that it has allocated.
        let code = unsafe { sys::cuMemHostAlloc(&mut start, len.max(1), sys::CU_MEMHOSTALLOC_PORTABLE) };
        check(code, "cuMemHostAlloc")?;
        let start = start.cast::<u8>();
        // SAFETY: the driver gave len writable bytes.
        unsafe { start.write_bytes(0, len) };
        Ok(Pinned { start, len, context: *context })
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
        if self.context.enter().is_ok() {
            // SAFETY: it is the driver's memory, freed once.
            let _ = unsafe { sys::cuMemFreeHost(self.start.cast()) };
        }
    }
}

/// Memory on the device.
pub struct DeviceMemory {
    address: sys::CUdeviceptr,
    len: usize,
    context: Context,
}
impl DeviceMemory {
    /// `len` bytes; the context must be current.
    pub fn new(len: usize, context: &Context) -> Result<DeviceMemory, DeviceError> {
        let mut address = 0;
        // SAFETY: the driver writes the address of memory that it has allocated.
        check(unsafe { sys::cuMemAlloc_v2(&mut address, len.max(16)) }, "cuMemAlloc")?;
        Ok(DeviceMemory { address, len, context: *context })
    }
    /// A copy of `values`, which are plain numbers.
    pub fn of<T>(values: &[T], context: &Context) -> Result<DeviceMemory, DeviceError> {
        let len = size_of_val(values);
        let memory = DeviceMemory::new(len, context)?;
        if len > 0 {
            // SAFETY: both sides hold len bytes, and the call returns when they are copied.
            let code = unsafe { sys::cuMemcpyHtoD_v2(memory.address, values.as_ptr().cast(), len) };
            check(code, "cuMemcpyHtoD")?;
        }
        Ok(memory)
    }
    /// As the kernels see it.
    pub fn array<T>(&self, len: usize) -> Array<T> {
        Array::new(self.address as *const T, len)
    }
    /// The address of a byte in it.
    pub fn at(&self, offset: usize) -> sys::CUdeviceptr {
        assert!(offset <= self.len);
        self.address + offset as u64
    }
}
impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it is the driver's memory, freed once; whoever drops it has waited for what uses it.
            let _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// Compiled kernels in a context.
pub struct Module {
    raw: sys::CUmodule,
    context: Context,
}
// SAFETY: the driver's objects may be used from any thread that makes their context current.
unsafe impl Send for Module {}

impl Module {
    /// Loads PTX; a failure carries the driver's own compiler log. The context must be current.
    pub fn load(ptx: &str, context: &Context) -> Result<Module, DeviceError> {
        let broken = |e| DeviceError::Failed(format!("the embedded PTX is broken: {e}"));
        let image = std::ffi::CString::new(ptx).map_err(broken)?;
        let mut log = vec![0u8; 16 << 10];
        let mut options =
            [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
        let mut raw = std::ptr::null_mut();
        // SAFETY: the image ends with a nought; the log is as long as its size says.
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
        Ok(Module { raw, context: *context })
    }
    /// A kernel of that name, to be launched in blocks of so many threads; it lives as long as the module.
    pub fn function(&self, name: &CStr, threads: u32) -> Result<Function, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends with a nought.
        check(unsafe { sys::cuModuleGetFunction(&mut raw, self.raw, name.as_ptr()) }, "cuModuleGetFunction")?;
        let mut resident = 0;
        // SAFETY: the kernel is loaded.
        let code =
            unsafe { sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut resident, raw, threads.cast_signed(), 0) };
        check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        Ok(Function { raw, blocks: self.context.multiprocessors()? * resident.max(1).unsigned_abs() })
    }
}
impl Drop for Module {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it was loaded once, and nothing of it runs any more.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

/// A kernel of a [`Module`].
#[derive(Clone, Copy)]
pub struct Function {
    raw: sys::CUfunction,
    /// Blocks that the GPU holds at once.
    pub blocks: u32,
}
// SAFETY: a handle; see Module.
unsafe impl Send for Function {}

/// A moment on a stream.
pub struct Event {
    raw: sys::CUevent,
    context: Context,
}
// SAFETY: as for Module.
unsafe impl Send for Event {}

impl Event {
    /// One that takes the time; the context must be current.
    pub fn new(context: &Context) -> Result<Event, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes the handle.
        let code = unsafe { sys::cuEventCreate(&mut raw, sys::CUevent_flags::CU_EVENT_DEFAULT as u32) };
        check(code, "cuEventCreate")?;
        Ok(Event { raw, context: *context })
    }
    /// Waits until it has passed.
    pub fn wait(&self) -> Result<(), DeviceError> {
        // SAFETY: the event is alive.
        check(unsafe { sys::cuEventSynchronize(self.raw) }, "cuEventSynchronize")
    }
    /// Time since an earlier one; both must have passed.
    pub fn since(&self, earlier: &Event) -> Result<Duration, DeviceError> {
        let mut ms = 0.0f32;
        // SAFETY: both events are alive.
        check(unsafe { sys::cuEventElapsedTime(&mut ms, earlier.raw, self.raw) }, "cuEventElapsedTime")?;
        Ok(Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3))
    }
}
impl Drop for Event {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it was made once.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}

/// A queue of work on the GPU.
pub struct Stream {
    raw: sys::CUstream,
    context: Context,
}
// SAFETY: as for Module.
unsafe impl Send for Stream {}

impl Stream {
    /// One that waits for no other; the context must be current.
    pub fn new(context: &Context) -> Result<Stream, DeviceError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes the handle.
        let code = unsafe { sys::cuStreamCreate(&mut raw, sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32) };
        check(code, "cuStreamCreate")?;
        Ok(Stream { raw, context: *context })
    }
    /// Marks the moment that all before it is done.
    pub fn record(&self, event: &Event) -> Result<(), DeviceError> {
        // SAFETY: both are alive.
        check(unsafe { sys::cuEventRecord(event.raw, self.raw) }, "cuEventRecord")
    }
    /// What follows waits for the event.
    pub fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        // SAFETY: both are alive.
        check(unsafe { sys::cuStreamWaitEvent(self.raw, event.raw, 0) }, "cuStreamWaitEvent")
    }
    /// Fills `len` bytes from `at` on with one value.
    pub fn fill(&self, memory: &DeviceMemory, at: usize, len: usize, value: u8) -> Result<(), DeviceError> {
        assert!(at + len <= memory.len);
        // SAFETY: the bytes are the memory's; it outlives the stream's work (device/cuda.rs waits before it drops any).
        check(unsafe { sys::cuMemsetD8Async(memory.at(at), value, len, self.raw) }, "cuMemsetD8Async")
    }
    /// Copies from the device to `to[at ..]`.
    pub fn copy(
        &self,
        to: &mut Pinned,
        at: usize,
        from: &DeviceMemory,
        offset: usize,
        len: usize,
    ) -> Result<(), DeviceError> {
        assert!(at + len <= to.len && offset + len <= from.len);
        // SAFETY: both hold these bytes, and outlive the stream's work; nobody reads `to` before that is waited for.
        let code =
            unsafe { sys::cuMemcpyDtoHAsync_v2(to.start.wrapping_add(at).cast(), from.at(offset), len, self.raw) };
        check(code, "cuMemcpyDtoHAsync")
    }
    /// Puts a kernel on the stream: blocks across and down, threads across and down, and its arguments.
    ///
    /// # Safety
    /// The arguments must be those that the kernel declares, and what they point at on the device must be there until
    /// the stream's work is done.
    pub unsafe fn launch(
        &self,
        kernel: Function,
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
                arguments.addresses.as_mut_ptr(),
                none,
            )
        };
        check(code, "cuLaunchKernel")
    }
}
impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: it was made once; the driver ends its work first.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// The addresses of a kernel's arguments, in its order.
#[derive(Default)]
pub struct Arguments<'a> {
    addresses: Vec<*mut c_void>,
    borrow: std::marker::PhantomData<&'a ()>,
}

impl<'a> Arguments<'a> {
    /// One more.
    pub fn with<T>(mut self, value: &'a T) -> Arguments<'a> {
        self.addresses.push(std::ptr::from_ref(value).cast_mut().cast());
        self
    }
}
