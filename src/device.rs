//! Devices: what turns tasks into light. Every one of them gives the same bytes.

pub mod cpu;
pub mod cuda;
pub mod driver;
mod gpu_kernels;
pub(crate) mod memory;
mod resident;

use crate::device_scene::DeviceScene;
use crate::gpu_types::{Features, FrameParams, Launch};
use crate::scene::{Sampling, Scene};
pub use memory::{FilmSlice, Memory};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The one thing a device is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Number of the frame in the clip.
    pub frame: u32,
    /// Rows of the picture; the first is a multiple of [`BAND_STEP`].
    pub rows: Range<u32>,
    /// Which of each pixel's samples: from the range's first on, every `stride`-th.
    pub samples: Range<u32>,
    /// See `samples`; 1 for all.
    pub stride: u32,
    /// The samples are the most of each pixel, and it takes what it needs of them.
    pub adaptive: Option<AdaptiveTask>,
    /// What to leave in the film.
    pub output: TaskOutput,
}

/// What adaptive sampling goes by; see [`Sampling::Adaptive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptiveTask {
    /// Samples that every pixel takes.
    pub least: u32,
    /// 256ths of an 8-bit code that a pixel's mean may be off.
    pub noise: u32,
    /// Bits of the factor by which the film will multiply light; that of 1 for finished pictures.
    pub gain: u32,
}

impl AdaptiveTask {
    /// What a scene asks for, if its samples are adaptive. `gain`: the factor by which its film multiplies light.
    pub fn new(sampling: Sampling, gain: f32) -> Option<AdaptiveTask> {
        let Sampling::Adaptive { min, noise, .. } = sampling else { return None };
        Some(AdaptiveTask { least: min, noise: (noise * 256.0).min(65_536.0) as u32, gain: gain.to_bits() })
    }
}

impl Task {
    /// All samples of a whole frame, as a finished picture.
    pub fn picture(scene: &Scene, frame: u32) -> Task {
        Task {
            frame,
            rows: 0..scene.render.height,
            samples: 0..scene.render.samples_per_pixel(),
            stride: 1,
            adaptive: AdaptiveTask::new(scene.render.sampling, 1.0),
            output: TaskOutput::Picture,
        }
    }
    /// Bytes a pixel of what the task leaves.
    pub fn bytes_a_pixel(&self) -> usize {
        self.output.bytes_a_pixel() + if self.leaves_counts() { size_of::<u32>() } else { 0 }
    }
    /// Whether it leaves how many samples each pixel has taken, behind all sums.
    pub fn leaves_counts(&self) -> bool {
        self.output == TaskOutput::Sums && self.adaptive.is_some()
    }
    /// Rows that adaptive sampling looks at to make this task's: neighbours decide with a pixel.
    pub fn trial_rows(&self, height: u32) -> Range<u32> {
        self.rows.start.saturating_sub(BAND_STEP)..(self.rows.end + BAND_STEP).min(height)
    }
    /// As the kernels are told.
    pub fn launch(&self) -> Launch {
        let adaptive = self.adaptive.filter(|_| self.output != TaskOutput::Features);
        Launch {
            first_sample: self.samples.start.cast_signed(),
            samples_per_pixel: (self.samples.end - self.samples.start).div_ceil(self.stride).cast_signed(),
            stride: self.stride.cast_signed(),
            min_samples: adaptive.map_or(0, |a| a.least.cast_signed()),
            noise: adaptive.map_or(0, |a| a.noise.cast_signed()),
            gain: adaptive.map_or(1.0, |a| f32::from_bits(a.gain)),
        }
    }
}

/// What a task leaves in its slice of the film.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOutput {
    /// The finished picture, 8 bits a channel: nobody needs linear light. YUV too, where the device makes it.
    Picture,
    /// Sums of the samples' light, for the host to add up.
    Sums,
    /// Colour, normal and distance of the first surfaces.
    Features,
}

impl TaskOutput {
    /// Bytes a pixel.
    pub fn bytes_a_pixel(self) -> usize {
        match self {
            TaskOutput::Picture => 4,
            TaskOutput::Sums => 3 * size_of::<i64>(),
            TaskOutput::Features => size_of::<Features>(),
        }
    }
}

/// Bytes a pixel of what adaptive sampling's trial leaves for the rest of it: sums, and how they look.
pub const TRIAL_BYTES: usize = 3 * size_of::<i64>() + size_of::<u32>();

/// Bands start at multiples of this many rows.
pub const BAND_STEP: u32 = crate::gpu_types::BAND_STEP as u32;

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its name, for messages.
    pub name: String,
    /// Tasks in flight at once that keep it busy.
    pub tasks_in_flight: usize,
    /// Whether it is the machine's own processor, which counts its work while it is at it.
    pub is_cpu: bool,
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
    /// So many more are taken.
    pub fn add(&self, samples: u64) {
        self.counted.fetch_add(samples, Ordering::Relaxed);
    }
    /// From now on a device is asked too; what it tells of a task is nothing any more when the task is counted.
    pub fn poll(&self, gauge: impl Fn() -> u64 + Send + 'static) {
        self.gauges.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(gauge));
    }
    /// All until now.
    pub fn samples(&self) -> u64 {
        let gauges = self.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        gauges.iter().map(|gauge| gauge()).fold(self.counted.load(Ordering::Relaxed), u64::saturating_add)
    }
}

/// What a device has to be ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceNeeds {
    /// RGBA of finished pictures.
    pub rgba: bool,
    /// Planes of finished pictures for a video, if the device can make them.
    pub yuv: bool,
    /// Sums or features, in place of finished pictures.
    pub linear: bool,
    /// Samples as each pixel needs them.
    pub adaptive: bool,
}

/// The handle of a task that a device works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// What turns tasks into light.
pub trait Device: Send {
    /// What it is.
    fn info(&self) -> &DeviceInfo;
    /// Takes a frame's scene; nothing is done when it is the one that is there already. Tasks in flight keep theirs.
    fn update(&mut self, scene: &Arc<DeviceScene>) -> Result<(), DeviceError>;
    /// Starts a task of the scene's; at most as many as [`DeviceInfo`] says may be in flight.
    fn submit(&mut self, task: &Task, frame: &FrameParams, out: FilmSlice) -> Result<Ticket, DeviceError>;
    /// Waits for a task, in the order in which they were submitted.
    fn wait(&mut self, ticket: Ticket) -> Result<(TaskStats, FilmSlice), DeviceError>;
}

/// What a task took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskStats {
    /// Time on the device until the light is in host memory.
    pub time: Duration,
    /// The part of it that the device computed.
    pub kernel: Duration,
    /// Camera, reflected and transmitted rays.
    pub rays: u64,
    /// Rays from surfaces to lights.
    pub shadow_rays: u64,
    /// Rays of the average thread over rays of the busiest one: 1 when all had as much to do
    /// ("parallel efficiency" in the 2009 CSE260 report). 0 where nobody counted.
    pub balance: f64,
}

/// What one device did of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceStats {
    /// Its name.
    pub device: String,
    /// Frames, or bands and rounds of frames.
    pub tasks: usize,
    /// Camera, reflected, transmitted and shadow rays.
    pub rays: u64,
    /// Time that it computed.
    pub busy: Duration,
}

impl DeviceStats {
    /// Counts a task.
    pub fn add(&mut self, stats: &TaskStats) {
        self.tasks += 1;
        self.rays += stats.rays + stats.shadow_rays;
        self.busy += stats.kernel;
    }
}

/// The average over the largest; 0 for nothing.
pub fn balance(work: &[u64]) -> f64 {
    let busiest = work.iter().copied().max().unwrap_or(0);
    if busiest == 0 { 0.0 } else { work.iter().sum::<u64>() as f64 / work.len() as f64 / busiest as f64 }
}

/// Ways to deal a frame's work out to threads, for comparing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Each thread an even share, side by side.
    Static,
    /// Each thread every n-th tile.
    Cyclic,
    /// Each thread the next tile when it is free.
    Dynamic,
}

impl Schedule {
    /// All of them, with their names.
    pub const ALL: [(Schedule, &str); 3] =
        [(Schedule::Static, "static"), (Schedule::Cyclic, "cyclic"), (Schedule::Dynamic, "dynamic")];
}

/// Why a device cannot be used, or has failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is none of that name or number.
    #[error("{0}")]
    NotFound(String),
    /// Its driver is too old for the kernels.
    #[error("{0}")]
    TooOld(String),
    /// Its memory does not hold what it was asked to.
    #[error("{0}; a smaller --size needs less memory")]
    OutOfMemory(String),
    /// It has gone: nothing more can be asked of it.
    #[error("{0}")]
    Lost(String),
    /// It failed otherwise; in its own words.
    #[error("{0}")]
    Failed(String),
    /// The thread that drove it panicked.
    #[error("the thread of {0} panicked: {1}; please report this")]
    Panicked(String, String),
    /// The CPU has no such instruction set.
    #[error(transparent)]
    Isa(#[from] crate::kernels::UnknownIsa),
    /// The system starts no more threads.
    #[error(transparent)]
    Threads(#[from] crate::threads::NoThread),
}
