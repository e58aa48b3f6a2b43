//! Splits a run's frames into tasks: bands of rows, and rounds of samples. All combinations are values of one type.

use super::neighbors::Window;
use crate::device::{AdaptiveTask, BAND_STEP, DeviceInfo, DeviceNeeds, GuidedTask, PixelSet, Task, TaskOutput};
use crate::film::post::PostPipeline;
use crate::output::PixelFormats;
use crate::scene::Scene;
use std::ops::Range;
use std::sync::Arc;

/// What several devices share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// Frames if there are enough of them, else bands.
    #[default]
    Auto,
    /// Whole frames: the most work per task.
    Frames,
    /// Bands of each frame: the first frame is ready sooner, and devices share single frames too.
    Tiles,
}

/// Samples of the first round. Each later round doubles the total.
const FIRST_ROUND: u32 = 16;
/// Maximum number of samples per pixel that features are averaged over.
const FEATURE_SAMPLES: u32 = 64;
// Mirrors and clear surfaces that layers for denoisers look through.
const FOLLOWED: u32 = 4;
// A GPU takes as many bands at once that each device has this many tasks of a frame.
const CHUNKS: usize = 4;
// Bands of a tall picture. A low picture has fewer bands, or bands of two tiles.
const BANDS: u32 = 64;

/// Where the light of a frame becomes its picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// In the tracing kernels.
    Trace,
    /// On the tracing device, by post steps, if one task makes the whole picture.
    Device,
    /// On the host, from sums of light.
    Host,
}

/// What a run needs of its frames, from the sinks, the film and the sky.
pub struct FrameNeeds {
    pub formats: PixelFormats,
    pub finish: Finish,
    /// Whether a post step reads the light of two halves of the samples. Adaptive samples have none.
    pub halves: bool,
    pub device: DeviceNeeds,
}

impl FrameNeeds {
    pub fn of(scene: &Scene, sinks: PixelFormats, post: &Arc<PostPipeline>) -> FrameNeeds {
        let layers = sinks.layers || post.needs_layers() || scene.world.sky.transparent;
        let formats = PixelFormats { layers, ..sinks };
        let has_rounds = scene.render.sampling.noise_limit() > 0.0;
        let finish = if formats.linear || layers || has_rounds || post.needs_host() {
            Finish::Host
        } else if tracing_makes_pictures(scene, post) {
            Finish::Trace
        } else {
            Finish::Device
        };
        let device = DeviceNeeds {
            rgba: formats.rgba8,
            yuv: formats.yuv420 && finish != Finish::Host,
            linear: finish != Finish::Trace,
            features: layers || post.is_guided(),
            adaptive: scene.render.sampling.is_adaptive(),
            post: (finish == Finish::Device).then(|| Arc::clone(post)),
            frames: Window::of(scene, post).len(),
        };
        let halves = post.is_guided() && !scene.render.sampling.is_adaptive();
        FrameNeeds { formats, finish, halves, device }
    }
}

/// Whether the tracing kernels make finished pictures: nothing is left for post steps, not even adding up moments.
fn tracing_makes_pictures(scene: &Scene, post: &PostPipeline) -> bool {
    post.is_plain() && !scene.has_shutter()
}

/// The plan of a run: what devices do, and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub tasks: TaskPlan,
    pub finish: FinishPlan,
}

/// What the host makes of the results of tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishPlan {
    /// The noise, in 8-bit codes, at which sampling stops; 0 takes all samples.
    pub noise: f64,
    /// Whether sinks need linear light.
    pub keeps_light: bool,
    /// Whether frames have layers, for sinks or for post steps.
    pub layers: bool,
    /// The frames whose light is needed for each one.
    pub window: Window,
    /// The number of pictures that wait for other frames, beside those in flight.
    pub waiting_pictures: usize,
}

/// What devices do.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPlan {
    band: u32,
    height: u32,
    samples: u32,
    adaptive: Option<AdaptiveTask>,
    // The steps that follow sums of light: noise is judged as they show it.
    post: Option<Arc<PostPipeline>>,
    /// What devices return: finished pictures or sums.
    pub output: TaskOutput,
    // Whether samples are taken in rounds, until the noise is low.
    in_rounds: bool,
    // Whether features are needed: for layers, or for the built-in denoiser.
    features: bool,
    // Whether two halves of the samples are kept apart though noise is not measured.
    has_halves: bool,
    // Alpha is the coverage of first hits, so it needs all samples.
    is_transparent: bool,
    // The frames that a device makes each picture of.
    window: Window,
    /// The number of frames in a row that one of several devices takes.
    pub chunk: usize,
    /// The number of bands that a GPU takes at once: few of them do not fill it.
    pub bands_at_once: usize,
}

/// What a task makes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameTask {
    Picture,
    /// The sums of one half of the samples.
    Half(usize),
    Features,
}

impl FrameTask {
    /// Whether its samples count as progress.
    pub fn counts(self) -> bool {
        matches!(self, FrameTask::Picture | FrameTask::Half(_))
    }
}

/// A task of a frame, and what becomes of its result.
#[derive(Clone, Debug, PartialEq)]
pub struct FramePart {
    pub kind: FrameTask,
    pub task: Task,
    /// The number of the plan's bands that the task's rows are.
    pub bands: usize,
}

impl Plan {
    /// The plan of a run.
    pub fn new(
        scene: &Scene,
        devices: &[&DeviceInfo],
        frames: usize,
        needs: &FrameNeeds,
        split: Split,
        post: &Arc<PostPipeline>,
    ) -> Plan {
        let height = scene.render.height;
        let in_flight: usize = devices.iter().map(|info| info.tasks_in_flight).sum();
        // The host runs the post steps of tiles, and takes longer for the denoiser than GPUs for a frame.
        let gpus_denoise = post.is_guided() && devices.iter().all(|info| !info.is_cpu);
        let enough = if gpus_denoise { devices.len() } else { 2 * in_flight };
        let tiles = match split {
            Split::Auto => devices.len() > 1 && frames < enough,
            Split::Frames => false,
            Split::Tiles => true,
        };
        let band = if tiles { (height / BANDS).next_multiple_of(BAND_STEP).max(BAND_STEP) } else { height };
        let is_linear = needs.finish != Finish::Trace;
        let window = Window::of(scene, post);
        // A GPU without enough memory leaves post steps to the host, and a CPU keeps no light for other frames.
        let makes_pictures = |info: &&DeviceInfo| info.runs_post && (window.is_single() || !info.is_cpu);
        let on_device = needs.finish == Finish::Device && band >= height && devices.iter().all(makes_pictures);
        let chunk = if on_device { window.chunk(scene, devices.len(), frames) } else { 1 };
        let [on_host, of_devices] = if on_device { [Window::default(), window] } else { [window, Window::default()] };
        let noise = scene.render.sampling.noise_limit();
        let tasks = TaskPlan {
            band,
            height,
            samples: scene.render.samples_per_pixel(),
            adaptive: AdaptiveTask::new(scene.render.sampling),
            post: is_linear.then(|| Arc::clone(post)),
            output: if is_linear && !on_device { TaskOutput::Sums } else { TaskOutput::Picture },
            in_rounds: noise > 0.0,
            features: needs.device.features && !(on_device && post.is_guided()),
            has_halves: needs.halves,
            is_transparent: scene.world.sky.transparent,
            window: of_devices,
            chunk,
            bands_at_once: (height.div_ceil(band) as usize).div_ceil(CHUNKS * devices.len().max(1)),
        };
        let waiting_pictures = on_host.waiting_frames() + if chunk > 1 { chunk * devices.len() } else { 0 };
        let FrameNeeds { formats: PixelFormats { linear: keeps_light, layers, .. }, .. } = *needs;
        Plan { tasks, finish: FinishPlan { noise, keeps_light, layers, window: on_host, waiting_pictures } }
    }
}

impl TaskPlan {
    pub fn bands(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        (0..self.height).step_by(self.band as usize).map(|top| top..(top + self.band).min(self.height))
    }

    /// The samples of the next round with the half that they belong to; empty when all are taken. `taken` counts
    /// samples of each half.
    pub fn round(&self, taken: [u32; 2]) -> Vec<(FrameTask, Range<u32>)> {
        let before = taken[0] + taken[1];
        let left = self.samples - before.min(self.samples);
        if left == 0 {
            return Vec::new();
        }
        if self.output == TaskOutput::Picture {
            return vec![(FrameTask::Picture, 0..self.samples)];
        }
        if !self.in_rounds {
            return (0..).zip(self.halves()).map(|(half, samples)| (FrameTask::Half(half), samples)).collect();
        }
        let more = before.max(FIRST_ROUND).min(left);
        let (first, second) = (more.div_ceil(2), more / 2);
        let halves =
            [(FrameTask::Half(0), before..before + first), (FrameTask::Half(1), before + first..before + more)];
        halves.into_iter().take(if second > 0 { 2 } else { 1 }).collect()
    }

    // The two halves of the samples that are kept apart where noise is not measured. A single sample is one half.
    fn halves(&self) -> Vec<Range<u32>> {
        let first = if self.has_halves { self.samples.div_ceil(2) } else { self.samples };
        [0..first, first..self.samples].into_iter().filter(|samples| !samples.is_empty()).collect()
    }

    /// The samples that features are averaged over, if separate tasks make features.
    pub fn feature_samples(&self) -> Option<u32> {
        self.features.then(|| self.max_feature_samples())
    }
    fn max_feature_samples(&self) -> u32 {
        self.samples.min(if self.is_transparent { self.samples } else { FEATURE_SAMPLES })
    }

    /// The frames whose moments a device needs for this one.
    pub fn frames_of(&self, frame: u32) -> Vec<u32> {
        self.window.around(frame)
    }

    /// The tasks of some samples of a frame. Each adds up all moments.
    pub fn parts(&self, frame: u32, kind: FrameTask, samples: &Range<u32>) -> Vec<FramePart> {
        let output = match kind {
            FrameTask::Picture => TaskOutput::Picture,
            FrameTask::Half(_) => TaskOutput::Sums,
            FrameTask::Features => TaskOutput::Features,
        };
        let adaptive = self.adaptive.filter(|_| kind != FrameTask::Features);
        let gain = || self.post.as_ref().map_or(1.0, |post| post.exposure(frame));
        let adaptive = adaptive.map(|task| AdaptiveTask { gain: gain().to_bits(), ..task });
        let is_denoised = self.post.as_ref().is_some_and(|post| post.is_guided() || !post.is_exact());
        let follows = if is_denoised { FOLLOWED } else { 0 };
        let is_guided = kind == FrameTask::Picture && self.post.as_ref().is_some_and(|post| post.is_guided());
        let guided = is_guided.then(|| GuidedTask {
            halves: self.halves(),
            features: self.max_feature_samples(),
            frames: self.frames_of(frame),
        });
        let (samples, stride) = (samples.clone(), 1);
        let (rows, pixels) = (0..self.height, PixelSet::ALL);
        let all = Task { frame, rows, samples, stride, pixels, adaptive, output, follows, guided };
        self.bands().map(|rows| FramePart { kind, task: Task { rows, ..all.clone() }, bands: 1 }).collect()
    }
    /// Whether one task makes the whole picture.
    pub fn is_whole(&self) -> bool {
        self.band >= self.height && self.output == TaskOutput::Picture
    }
}
