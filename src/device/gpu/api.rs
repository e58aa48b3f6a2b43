//! The traits of a GPU API: contexts, memory, streams, events, kernels. Each API is a folder of `device`.
#![expect(unsafe_code, reason = "declares what needs its caller's promise")]

use crate::device::memory::PinnedMemory;
use crate::device::{DeviceError, GpuInfo};
use std::ffi::{CStr, c_void};
use std::time::Duration;

/// What kernels are embedded as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Ptx,
    SpirV,
}

/// A GPU API with the types of its objects.
pub trait Api: Sized + Send + Sync + 'static {
    /// The API's name in device names.
    const NAME: &'static str;
    /// The code that it loads.
    const CODE: Code;
    type Context: Context<Self>;
    /// Device memory; freed when it is dropped.
    type Memory: DeviceMemory;
    /// Page-locked host memory, for copies without the CPU.
    type Pinned: PinnedMemory + 'static;
    type Module: Module<Self>;
    /// A kernel, which must not outlive its module.
    type Function: Function;
    type Event: Event;
    type Stream: Stream<Self>;
    /// Whether a driver seems to be installed. It is a fast check.
    fn is_present() -> bool;
    /// The usable GPUs. The error says in one line why there are none.
    fn list() -> Result<Vec<GpuInfo>, DeviceError>;
}

/// The context of a device. Its objects belong to it, and it must be current on the thread that creates them.
pub trait Context<A: Api>: Clone + Send + Sync + 'static {
    /// Opens the context of a device, and makes it current on this thread.
    fn open(ordinal: u32) -> Result<Self, DeviceError>;
    /// Makes the context current on this thread.
    fn enter(&self) -> Result<(), DeviceError>;
    /// Waits until the device is idle.
    fn synchronize(&self) -> Result<(), DeviceError>;
    /// Allocates `len` bytes of device memory.
    fn memory(&self, len: usize) -> Result<A::Memory, DeviceError>;
    /// Allocates device memory and copies the values, which must be plain numbers, into it.
    fn upload<T>(&self, values: &[T]) -> Result<A::Memory, DeviceError>;
    /// Allocates `len` bytes of page-locked memory, set to zero.
    fn pinned(&self, len: usize) -> Result<A::Pinned, DeviceError>;
    /// Loads kernels. An error contains the driver's compiler log.
    fn load(&self, code: &[u8]) -> Result<A::Module, DeviceError>;
    /// An event that records time.
    fn event(&self) -> Result<A::Event, DeviceError>;
    /// A stream that does not synchronize with others.
    fn stream(&self) -> Result<A::Stream, DeviceError>;
}

pub trait DeviceMemory: Send + Sync + 'static {
    /// The device address of a byte.
    fn address(&self, offset: usize) -> u64;
}

/// Loaded kernels.
pub trait Module<A: Api>: Send + 'static {
    /// The kernel of this name, which will be launched with this many threads per block.
    fn function(&self, name: &CStr, threads: u32) -> Result<A::Function, DeviceError>;
}

pub trait Function: Copy + Send + 'static {
    /// The number of threads per block.
    fn threads(&self) -> u32;
    /// The maximum number of resident blocks on the device.
    fn resident_blocks(&self) -> u32;
    /// The maximum number of resident threads.
    fn resident_threads(&self) -> u64 {
        u64::from(self.resident_blocks()) * u64::from(self.threads())
    }
}

/// A point in a stream's work.
pub trait Event: Send + 'static {
    /// Waits until the event has occurred.
    fn wait(&self) -> Result<(), DeviceError>;
    /// The time since an earlier event. Both must have occurred.
    fn since(&self, earlier: &Self) -> Result<Duration, DeviceError>;
}

/// A queue of work.
pub trait Stream<A: Api>: Send + 'static {
    /// Records the event after all work so far.
    fn record(&self, event: &A::Event) -> Result<(), DeviceError>;
    /// Later work waits for the event.
    fn wait_for(&self, event: &A::Event) -> Result<(), DeviceError>;
    /// Fills `len` bytes from `offset` with one value.
    fn fill(&self, memory: &A::Memory, offset: usize, len: usize, value: u8) -> Result<(), DeviceError>;
    /// Copies all of `from` to the device. `from` may be used again when this returns, if it is not page-locked.
    ///
    /// # Safety
    /// Page-locked memory must stay alive and unchanged until the stream's work is done.
    unsafe fn write(&self, to: &A::Memory, offset: usize, from: &[u8]) -> Result<(), DeviceError>;
    /// Copies from the device, until `to` is full.
    ///
    /// # Safety
    /// `to` must stay alive and unused until the stream's work is done.
    unsafe fn copy(&self, to: &mut [u8], from: &A::Memory, offset: usize) -> Result<(), DeviceError>;
    /// Launches a kernel with a grid of blocks, a block of threads (both in x and y), and arguments.
    ///
    /// # Safety
    /// The arguments must have the types that the kernel declares. What they point to on the device must stay alive
    /// until the stream's work is done.
    unsafe fn launch(
        &self,
        kernel: A::Function,
        blocks: (u32, u32),
        threads: (u32, u32),
        arguments: &mut Arguments<'_>,
    ) -> Result<(), DeviceError>;
}

/// The arguments of a kernel, which are variables or other places.
macro_rules! arguments {
    ($($value:expr),* $(,)?) => { $crate::device::gpu::api::Arguments::default()$(.with(&$value))* };
}
pub(crate) use arguments;

/// The addresses of a kernel's arguments, in order.
#[derive(Default)]
pub struct Arguments<'a> {
    addresses: Vec<*mut c_void>,
    sizes: Vec<usize>,
    borrow: std::marker::PhantomData<&'a ()>,
}

impl<'a> Arguments<'a> {
    pub fn with<T>(mut self, value: &'a T) -> Arguments<'a> {
        self.addresses.push(std::ptr::from_ref(value).cast_mut().cast());
        self.sizes.push(size_of::<T>());
        self
    }
    pub fn as_mut_ptr(&mut self) -> *mut *mut c_void {
        self.addresses.as_mut_ptr()
    }
    /// The addresses with the sizes of what is there. What has eight bytes is an address on the device: kernels take no other such number.
    pub fn sized(&self) -> impl Iterator<Item = (*const c_void, usize)> {
        self.addresses.iter().map(|address| address.cast_const()).zip(self.sizes.iter().copied())
    }
}
