//! Devices: what turns tasks into light. Every one of them gives the same bytes.

pub mod cpu;
pub mod cuda;
pub mod driver;
mod memory;

use crate::device_scene::DeviceScene;
use crate::gpu_types::Frame;
pub use memory::{FilmSlice, Memory};
use std::ops::Range;
use std::sync::Arc;
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
    /// What to leave in the film.
    pub output: TaskOutput,
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

/// Bands start at multiples of this many rows.
pub const BAND_STEP: u32 = crate::gpu_types::BAND_STEP as u32;

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its name, for messages.
    pub name: String,
    /// Tasks in flight at once that keep it busy.
    pub tasks_in_flight: usize,
}

/// What a device has to be ready for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceNeeds {
    /// RGBA of finished pictures.
    pub rgba: bool,
    /// Planes of finished pictures for a video, if the device can make them.
    pub yuv: bool,
    /// Sums or features, in place of finished pictures.
    pub linear: bool,
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
    fn submit(&mut self, task: &Task, frame: &Frame, out: FilmSlice) -> Result<Ticket, DeviceError>;
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
    /// The thread pool did not start.
    #[error("cannot start {0} threads: {1}")]
    Threads(usize, String),
}
