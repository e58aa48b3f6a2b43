//! The traits of devices.

use super::error::DeviceError;
use super::memory::FilmSlice;
use super::task::{Moment, Task, TaskStats, Ticket};
use crate::cancel::Cancel;
use crate::gpu_types::{FeatureSet, Scene as GpuScene, SmallScene};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The properties of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    pub name: String,
    /// The number of tasks in flight that keeps the device busy.
    pub tasks_in_flight: usize,
    /// Whether the device is the CPU, which counts samples while it traces.
    pub is_cpu: bool,
    /// Whether the device applies post steps to its pictures.
    pub runs_post: bool,
}

/// A device that executes tasks.
pub trait Device: Send {
    fn info(&self) -> &DeviceInfo;
    /// Begins a run, with the handle that abandons it. After that, a device may leave tasks in flight incomplete.
    fn begin_run(&mut self, _cancel: &Cancel) {}
    /// Starts a task. At most [`DeviceInfo::tasks_in_flight`] tasks may be in flight. If there are several moments, the
    /// task's samples are spread over them ([`Task::at_moments`]), and it makes sums, or a picture by post steps.
    fn submit(&mut self, task: &Task, moments: &[Moment], out: FilmSlice) -> Result<Ticket, DeviceError>;
    /// Waits for a task. Tasks must be waited for in the order of submission.
    fn wait(&mut self, ticket: Ticket) -> Result<(TaskStats, FilmSlice), DeviceError>;
}

/// Additional methods of GPUs.
pub trait GpuDevice: Device {
    /// Lets a counter read the device's progress within a task.
    fn count_samples(&self, counter: &SampleCounter);
    /// For tests: makes the device fail at its n-th task.
    fn inject_fault(&mut self, task: u64);
    /// The scene in the device's memory, for kernels other than the device's own.
    fn kernel_scene(&self) -> KernelScene;
}

/// A scene in a GPU's memory, as kernels for this kind of scenes take it.
pub struct KernelScene {
    pub kind: &'static str,
    pub features: FeatureSet,
    pub arrays: GpuScene,
    /// Taken in place of the arrays, if there is one.
    pub small: Option<SmallScene>,
    /// Time until the scene was in the device's memory, with what the device makes of it there.
    pub uploaded: Duration,
}

impl KernelScene {
    /// Where a kernel's argument is read from.
    pub fn address(&self) -> *const c_void {
        let arrays = std::ptr::from_ref(&self.arrays).cast();
        self.small.as_ref().map_or(arrays, |small| std::ptr::from_ref(small).cast())
    }
}

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuInfo {
    /// The name of its API.
    pub api: &'static str,
    /// The GPU's number in its API.
    pub ordinal: u32,
    pub name: String,
    /// Bytes of memory.
    pub memory: usize,
    /// The driver and its version.
    pub driver: String,
    /// Whether it is a CPU after all, which nobody means who asks for a GPU.
    pub is_cpu: bool,
    /// Whether it must render a small frame as the CPU does before each run.
    pub is_tried: bool,
}

impl GpuInfo {
    pub fn label(&self) -> String {
        format!("{}:{} {}", self.api, self.ordinal, self.name)
    }
}

/// Counts samples, to show progress within a long frame.
#[derive(Default)]
pub struct SampleCounter {
    counted: AtomicU64,
    // Functions that read the samples of tasks in flight.
    gauges: Mutex<Vec<Probe>>,
}

// Reads how many samples of its task a device has taken.
type Probe = Box<dyn Fn() -> u64 + Send>;

impl SampleCounter {
    pub fn add(&self, samples: u64) {
        self.counted.fetch_add(samples, Ordering::Relaxed);
    }
    /// Adds a function that reads a device's progress. It must return 0 for a task that has been counted.
    pub fn poll(&self, gauge: impl Fn() -> u64 + Send + 'static) {
        self.gauges.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(gauge));
    }
    pub fn samples(&self) -> u64 {
        let gauges = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        gauges.iter().map(|gauge| gauge()).fold(self.counted.load(Ordering::Relaxed), u64::saturating_add)
    }
}
