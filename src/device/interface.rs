//! What all devices have in common.

use super::error::DeviceError;
use super::memory::FilmSlice;
use super::task::{Schedule, Task, TaskStats, Ticket};
use crate::cancel::Cancel;
use crate::device_scene::DeviceScene;
use crate::gpu_types::FrameParams;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    pub name: String,
    /// Tasks in flight at once that keep it busy.
    pub tasks_in_flight: usize,
    /// Whether it is the machine's own processor, which counts its work while it is at it.
    pub is_cpu: bool,
    /// Whether its pictures have gone through the film's post steps.
    pub runs_post: bool,
}

/// What turns tasks into light.
pub trait Device: Send {
    fn info(&self) -> &DeviceInfo;
    /// Takes a frame's scene; nothing is done when it is the one that is there already. Tasks in flight keep theirs.
    fn update(&mut self, scene: &Arc<DeviceScene>) -> Result<(), DeviceError>;
    /// Takes what abandons a run. A device may leave tasks in flight undone then: nobody uses what they leave.
    fn set_cancel(&mut self, _cancel: &Cancel) {}
    /// Starts a task of the scene's; at most as many as [`DeviceInfo`] says may be in flight.
    fn submit(&mut self, task: &Task, frame: &FrameParams, out: FilmSlice) -> Result<Ticket, DeviceError>;
    /// Waits for a task, in the order in which they were submitted.
    fn wait(&mut self, ticket: Ticket) -> Result<(TaskStats, FilmSlice), DeviceError>;
}

/// What GPUs can besides.
pub trait GpuDevice: Device {
    /// Lets a counter ask how far the device is with its task.
    fn count_samples(&self, counter: &SampleCounter);
    /// Makes it fail at its n-th task, to see what others do then.
    fn inject_fault(&mut self, task: u64);
    /// Renders a frame without a picture, its samples dealt out in a given way to as many threads as the GPU holds, or each
    /// to a thread of its own where no schedule is given.
    fn run_scheduled(
        &mut self,
        frame: &FrameParams,
        samples: u32,
        schedule: Option<Schedule>,
    ) -> Result<TaskStats, DeviceError>;
}

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuInfo {
    /// The API that it is reached by.
    pub api: &'static str,
    /// Its number there.
    pub ordinal: u32,
    pub name: String,
    /// Bytes of memory.
    pub memory: usize,
    /// Its driver and the version of that.
    pub driver: String,
}

impl GpuInfo {
    pub fn label(&self) -> String {
        format!("{}:{} {}", self.api, self.ordinal, self.name)
    }
}

/// Counts samples while frames are in work, for whoever watches a long one.
#[derive(Default)]
pub struct SampleCounter {
    counted: AtomicU64,
    // What devices can tell of tasks that they have not counted yet.
    gauges: Mutex<Vec<Probe>>,
}

// Asks a device how many samples of its task it has taken.
type Probe = Box<dyn Fn() -> u64 + Send>;

impl SampleCounter {
    pub fn add(&self, samples: u64) {
        self.counted.fetch_add(samples, Ordering::Relaxed);
    }
    /// From now on a device is asked too; what it tells of a task is nothing any more when the task is counted.
    pub fn poll(&self, gauge: impl Fn() -> u64 + Send + 'static) {
        self.gauges.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(gauge));
    }
    pub fn samples(&self) -> u64 {
        let gauges = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        gauges.iter().map(|gauge| gauge()).fold(self.counted.load(Ordering::Relaxed), u64::saturating_add)
    }
}
