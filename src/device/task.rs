//! Tasks of devices, and their statistics.

use crate::device_scene::DeviceScene;
use crate::film::post::PostPipeline;
use crate::film::post::steady::View;
use crate::gpu_types::{Features, FilmBuffers, FrameParams, Launch};
use crate::scene::{Sampling, Scene};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The unit of work of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The frame's number in the clip.
    pub frame: u32,
    /// Rows of the picture. The first is a multiple of [`BAND_STEP`].
    pub rows: Range<u32>,
    /// The samples of each pixel: every `stride`-th one of this range.
    pub samples: Range<u32>,
    /// See `samples`; 1 for all samples.
    pub stride: u32,
    /// The pixels of these rows that are traced.
    pub pixels: PixelSet,
    /// If set, `samples` are the maximum, and each pixel takes as many as it needs.
    pub adaptive: Option<AdaptiveTask>,
    /// What the task writes.
    pub output: TaskOutput,
    /// Features: the number of mirrors and clear surfaces that albedo and normal are followed through.
    pub follows: u32,
    /// Finished pictures: input of the built-in denoiser, if enabled.
    pub guided: Option<GuidedTask>,
}

/// Input of the built-in denoiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuidedTask {
    /// The groups of samples whose light is kept apart: two halves, or all.
    pub halves: Vec<Range<u32>>,
    /// The samples that features are averaged over.
    pub features: u32,
    /// The frames that the picture is made of, from the first to the last. The task's moments are those of all of them.
    pub frames: Vec<u32>,
}

/// The parameters of adaptive sampling; see [`Sampling::Adaptive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptiveTask {
    /// Minimum samples per pixel.
    pub min: u32,
    /// The tolerated error of a pixel's mean, in 256ths of an 8-bit code.
    pub noise: u32,
    /// The bits of the film's exposure factor; of 1 for finished pictures.
    pub gain: u32,
}

impl AdaptiveTask {
    /// The parameters of a scene with adaptive sampling whose light is shown as it is.
    pub fn new(sampling: Sampling) -> Option<AdaptiveTask> {
        let Sampling::Adaptive { min, noise, .. } = sampling else { return None };
        Some(AdaptiveTask { min, noise: (noise * 256.0).min(65_536.0) as u32, gain: 1f32.to_bits() })
    }
}

/// The pixels at one position of all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelSet {
    /// The side of a block, 1 or 2.
    pub block: u32,
    /// The position in the block, row by row.
    pub position: u32,
}

impl PixelSet {
    pub const ALL: PixelSet = PixelSet { block: 1, position: 0 };
    /// The number of positions in a block.
    pub fn positions(self) -> u32 {
        self.block * self.block
    }
}

/// The scene and the camera at a moment of a frame.
#[derive(Clone)]
pub struct Moment<S = Arc<DeviceScene>> {
    pub scene: S,
    pub camera: FrameParams,
    /// The pixels that see it.
    pub pixels: PixelSet,
    /// Where the bodies are, if the picture is made of several frames: of the first moment of each.
    pub view: Option<Arc<View>>,
}

impl Moment {
    pub fn new(scene: Arc<DeviceScene>, camera: FrameParams) -> Moment {
        Moment { scene, camera, pixels: PixelSet::ALL, view: None }
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
            pixels: PixelSet::ALL,
            adaptive: AdaptiveTask::new(scene.render.sampling),
            output: TaskOutput::Picture,
            follows: 0,
            guided: None,
        }
    }
    // The part of the samples that is taken at one of a pixel's moments. The number of a sample selects its moment, so
    // that every moment has samples from all over a pixel.
    fn at_moment(&self, moment: u32, moments: u32) -> Task {
        let first = self.samples.start + (moment + moments - self.samples.start % moments) % moments;
        let samples = first..self.samples.end.max(first);
        Task { samples, stride: moments, ..self.clone() }
    }
    /// The parts that are taken at a frame's moments, but for moments without samples, and whether they are added to others of the same
    /// pixels. Moments of the positions of a block follow one another. Features are those of the first one.
    pub fn at_moments<'a, S>(&self, moments: &'a [Moment<S>]) -> impl Iterator<Item = (&'a Moment<S>, Task, bool)> {
        let has_features = self.output == TaskOutput::Features;
        let pixels = move |moment: &Moment<S>| if has_features { PixelSet::ALL } else { moment.pixels };
        let moments = if has_features { moments.get(..1).unwrap_or_default() } else { moments };
        let positions = moments.first().map_or(1, |first| pixels(first).positions());
        let count = moments.len() as u32 / positions;
        let part = move |i: u32, moment| Task { pixels: pixels(moment), ..self.at_moment(i / positions, count) };
        let parts = (0..).zip(moments).map(move |(i, moment)| (moment, part(i, moment)));
        let parts = (0..).zip(parts.filter(|(_, part)| !part.samples.is_empty()));
        parts.map(move |(i, (moment, part))| (moment, part, i >= positions))
    }
    /// Bytes per pixel of the result.
    pub fn bytes_a_pixel(&self) -> usize {
        self.output.bytes_a_pixel() + if self.leaves_counts() { size_of::<u32>() } else { 0 }
    }
    /// Whether the result has the sample counts of all pixels, after all sums.
    pub fn leaves_counts(&self) -> bool {
        self.output == TaskOutput::Sums && self.adaptive.is_some()
    }
    /// The rows that adaptive sampling needs for the task's rows: neighbors take part in the decision for a pixel.
    pub fn trial_rows(&self, height: u32) -> Range<u32> {
        self.rows.start.saturating_sub(BAND_STEP)..(self.rows.end + BAND_STEP).min(height)
    }
    /// The task in the kernels' format.
    pub fn launch(&self) -> Launch {
        let adaptive = self.adaptive.filter(|_| self.output != TaskOutput::Features);
        Launch {
            first_sample: self.samples.start.cast_signed(),
            samples_per_pixel: (self.samples.end - self.samples.start).div_ceil(self.stride).cast_signed(),
            stride: self.stride.cast_signed(),
            min_samples: adaptive.map_or(0, |a| a.min.cast_signed()),
            noise: adaptive.map_or(0, |a| a.noise.cast_signed()),
            gain: adaptive.map_or(1.0, |a| f32::from_bits(a.gain)),
            follows: self.follows.cast_signed(),
            shift: self.pixels.block.trailing_zeros().cast_signed(),
            column: (self.pixels.position % self.pixels.block).cast_signed(),
            row: (self.pixels.position / self.pixels.block).cast_signed(),
        }
    }
}

/// What a task writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOutput {
    /// A finished picture, 8 bits per channel, with YUV planes if the device makes them.
    Picture,
    /// Sums of the samples' light, which the host adds up.
    Sums,
    /// Albedo, normal, distance and body of the surfaces that are seen.
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
    /// The film buffers for memory that begins at `start` with row `first_row`.
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

/// Bytes per pixel of the pilot of adaptive sampling: sums, and their picture.
pub const TRIAL_BYTES: usize = 3 * size_of::<i64>() + size_of::<u32>();

/// Bands start at multiples of this many rows.
pub const BAND_STEP: u32 = crate::gpu_types::BAND_STEP as u32;

/// The handle of a submitted task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// The statistics of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskStats {
    /// Time on the device until the result is in host memory.
    pub time: Duration,
    /// Computing time of the device, a part of `time`.
    pub kernel: Duration,
    /// Camera, reflected and transmitted rays.
    pub rays: u64,
    /// Rays from surfaces to lights.
    pub shadow_rays: u64,
    /// The rays of the average thread divided by those of the busiest one, 1 for perfect balance ("parallel
    /// efficiency" in the 2009 CSE260 report). 0 if they were not counted.
    pub balance: f64,
}

/// The statistics of a device in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceStats {
    /// The device's name.
    pub device: String,
    /// Frames, or bands and rounds of frames.
    pub tasks: usize,
    /// Camera, reflected, transmitted and shadow rays.
    pub rays: u64,
    /// Computing time.
    pub busy: Duration,
}

impl DeviceStats {
    /// Adds a task.
    pub fn add(&mut self, stats: &TaskStats) {
        self.tasks += 1;
        self.rays += stats.rays + stats.shadow_rays;
        self.busy += stats.kernel;
    }
}

/// The average divided by the maximum; 0 without work.
pub fn balance(work: &[u64]) -> f64 {
    let busiest = work.iter().copied().max().unwrap_or(0);
    if busiest == 0 { 0.0 } else { work.iter().sum::<u64>() as f64 / work.len() as f64 / busiest as f64 }
}

/// What a device must be prepared for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceNeeds {
    /// RGBA of finished pictures.
    pub rgba: bool,
    /// YUV planes of finished pictures, if the device can make them.
    pub yuv: bool,
    /// Sums, instead of finished pictures or to make them from.
    pub linear: bool,
    pub features: bool,
    /// Adaptive sampling.
    pub adaptive: bool,
    /// Post steps for finished pictures, if the device has enough memory. Devices can run all of them.
    pub post: Option<Arc<PostPipeline>>,
    /// The largest number of frames that a picture is made of, if the built-in denoiser is among the post steps.
    pub frames: usize,
}
