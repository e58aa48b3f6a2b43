//! What a device is asked to do, and what it took.

use crate::gpu_types::{Features, FilmBuffers, Launch, PostParams};
use crate::scene::{Sampling, Scene};
use std::ops::Range;
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
    pub fn bytes_a_pixel(self) -> usize {
        match self {
            TaskOutput::Picture => 4,
            TaskOutput::Sums => 3 * size_of::<i64>(),
            TaskOutput::Features => size_of::<Features>(),
        }
    }
    /// The film over the memory of rows from `first_row` on, which begins at `start`.
    pub fn film(self, start: *mut u8, first_row: u32) -> FilmBuffers {
        assert!(start.cast::<u64>().is_aligned(), "memory is aligned to words");
        let none = FilmBuffers { first_row: first_row.cast_signed(), ..FilmBuffers::default() };
        match self {
            TaskOutput::Picture => FilmBuffers { rgba: start.cast(), ..none },
            TaskOutput::Sums => FilmBuffers { sums: start.cast(), ..none },
            TaskOutput::Features => FilmBuffers { features: start.cast(), ..none },
        }
    }
}

/// Bytes a pixel of what adaptive sampling's trial leaves for the rest of it: sums, and how they look.
pub const TRIAL_BYTES: usize = 3 * size_of::<i64>() + size_of::<u32>();

/// Bands start at multiples of this many rows.
pub const BAND_STEP: u32 = crate::gpu_types::BAND_STEP as u32;

/// The handle of a task that a device works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

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
    pub const ALL: [(Schedule, &str); 3] =
        [(Schedule::Static, "static"), (Schedule::Cyclic, "cyclic"), (Schedule::Dynamic, "dynamic")];
}

/// What a device has to be ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceNeeds {
    /// RGBA of finished pictures.
    pub rgba: bool,
    /// Planes of finished pictures for a video, if the device can make them.
    pub yuv: bool,
    /// Sums, in place of finished pictures or to make them of.
    pub linear: bool,
    /// First surfaces.
    pub features: bool,
    /// Samples as each pixel needs them.
    pub adaptive: bool,
    /// Post steps that finished pictures go through, if the device has the memory.
    pub post: Option<PostParams>,
}
