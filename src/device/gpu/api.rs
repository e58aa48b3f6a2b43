//! What a GPU API has to offer: contexts, memory, streams, events, kernels. A folder of `device` implements it for one API.
#![expect(unsafe_code, reason = "declares what needs its caller's promise")]

use crate::device::memory::PinnedMemory;
use crate::device::{DeviceError, GpuInfo};
use std::ffi::{CStr, c_void};
use std::time::Duration;

/// A GPU API: the types of its objects.
pub trait Api: Sized + Send + Sync + 'static {
    /// Its name in the names of devices.
    const NAME: &'static str;
    type Context: Context<Self>;
    /// Memory on the device; freed when it is dropped.
    type Memory: DeviceMemory;
    /// Page-locked host memory, which copies reach without the CPU.
    type Pinned: PinnedMemory + 'static;
    type Module: Module<Self>;
    /// A kernel; it lives as long as its module.
    type Function: Function;
    type Event: Event;
    type Stream: Stream<Self>;
    /// Whether there seems to be a driver; quick.
    fn is_present() -> bool;
    /// Its usable GPUs; the error says in one line why there are none.
    fn list() -> Result<Vec<GpuInfo>, DeviceError>;
}

/// A device's context. What it makes belongs to it, and needs it to be current on the thread that makes it.
pub trait Context<A: Api>: Clone + Send + Sync + 'static {
    /// The context of the device with that number, current on this thread.
    fn open(ordinal: u32) -> Result<Self, DeviceError>;
    /// Makes it current on this thread.
    fn enter(&self) -> Result<(), DeviceError>;
    /// Waits until nothing runs on the device.
    fn synchronize(&self) -> Result<(), DeviceError>;
    /// `len` bytes of device memory.
    fn memory(&self, len: usize) -> Result<A::Memory, DeviceError>;
    /// Device memory with a copy of these values, which are plain numbers.
    fn upload<T>(&self, values: &[T]) -> Result<A::Memory, DeviceError>;
    /// `len` zeros of page-locked memory.
    fn pinned(&self, len: usize) -> Result<A::Pinned, DeviceError>;
    /// Loads kernels; a failure carries the driver's own compiler log.
    fn load(&self, text: &str) -> Result<A::Module, DeviceError>;
    /// An event that takes the time.
    fn event(&self) -> Result<A::Event, DeviceError>;
    /// A stream that waits for no other.
    fn stream(&self) -> Result<A::Stream, DeviceError>;
}

pub trait DeviceMemory: Send + Sync + 'static {
    /// The address of a byte in it.
    fn address(&self, offset: usize) -> u64;
}

/// Loaded kernels.
pub trait Module<A: Api>: Send + 'static {
    /// The kernel of that name, to be launched in blocks of so many threads.
    fn function(&self, name: &CStr, threads: u32) -> Result<A::Function, DeviceError>;
}

pub trait Function: Copy + Send + 'static {
    /// Blocks that the device holds at once.
    fn resident_blocks(&self) -> u32;
}

/// A moment on a stream.
pub trait Event: Send + 'static {
    /// Waits until it has passed.
    fn wait(&self) -> Result<(), DeviceError>;
    /// Time since an earlier one; both must have passed.
    fn since(&self, earlier: &Self) -> Result<Duration, DeviceError>;
}

/// A queue of work.
pub trait Stream<A: Api>: Send + 'static {
    /// Marks the moment when all work before it is done.
    fn record(&self, event: &A::Event) -> Result<(), DeviceError>;
    /// Work after this waits for the event.
    fn wait_for(&self, event: &A::Event) -> Result<(), DeviceError>;
    /// Fills `len` bytes from `offset` on with one value.
    fn fill(&self, memory: &A::Memory, offset: usize, len: usize, value: u8) -> Result<(), DeviceError>;
    /// Copies from the device to `to`, all of it.
    ///
    /// # Safety
    /// `to` must live, and nobody may use it, until the stream's work is done.
    unsafe fn copy(&self, to: &mut [u8], from: &A::Memory, offset: usize) -> Result<(), DeviceError>;
    /// Launches a kernel: blocks across and down, threads across and down, and its arguments.
    ///
    /// # Safety
    /// The arguments must be those that the kernel declares, and what they point at on the device must live until the
    /// stream's work is done.
    unsafe fn launch(
        &self,
        kernel: A::Function,
        blocks: (u32, u32),
        threads: (u32, u32),
        arguments: &mut Arguments<'_>,
    ) -> Result<(), DeviceError>;
}

/// The addresses of a kernel's arguments, in its order.
#[derive(Default)]
pub struct Arguments<'a> {
    addresses: Vec<*mut c_void>,
    borrow: std::marker::PhantomData<&'a ()>,
}

impl<'a> Arguments<'a> {
    pub fn with<T>(mut self, value: &'a T) -> Arguments<'a> {
        self.addresses.push(std::ptr::from_ref(value).cast_mut().cast());
        self
    }
    pub fn as_mut_ptr(&mut self) -> *mut *mut c_void {
        self.addresses.as_mut_ptr()
    }
}
