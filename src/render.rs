//! Renders frames into sinks, on one device or several.

pub mod delivery;
mod exposure;
pub mod footprint;
pub mod frames;
mod framing;
pub mod handover;
pub mod moments;
mod neighbors;
pub mod open_frame;
pub mod plan;
pub mod prepared;
pub mod scheduler;
pub mod sheet;
mod stage;
pub mod stats;
pub mod steps;
pub mod tiles;
mod trial;
mod viewer;

use crate::assets::Assets;
use crate::assets::files::{Files, RecordedFiles};
use crate::assets::particles::memory::StepSource;
use crate::assets::particles::{ColouredSpheres, Pipe};
use crate::assets::source::Limits;
use crate::cancel::Cancel;
use crate::device::cpu::Cpu;
use crate::device::{self, Device, DeviceError, DeviceInfo, DeviceNeeds, GpuInfo, SampleCounter};
use crate::device_scene::DeviceScene;
use crate::device_scene::lazy::LazyTrees;
use crate::error::Error;
use crate::film::furniture::page::Page;
use crate::film::furniture::page_size;
use crate::film::image::{Image, Layers};
use crate::film::post::around::EyeImage;
use crate::film::post::denoise::{Denoiser, DenoiserLibrary};
use crate::film::post::{PostPipeline, PostStep};
use crate::kernels::Isa;
use crate::language::{Message, msg};
use crate::output::capture::{CapturedFrame, MemorySink};
use crate::output::{Outcome, PixelFormats, RunInfo, Sink};
use crate::scene::{FurnitureIn, Scene};
use crate::setters::setters;
use crate::threads::{self, Busy, NoThread, lock};
use frames::FrameList;
use framing::{Extent, check_time, map_shown};
use handover::RunMemory;
use plan::{FrameNeeds, Plan, Split};
use prepared::{Kept, PreparedScene};
use stats::{Progress, RunReport};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The devices that render.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Devices {
    /// The first usable GPU, or the CPU if there is none.
    #[default]
    Auto,
    /// The CPU. No GPU is opened.
    Cpu,
    /// The first GPU.
    Gpu,
    /// All GPUs.
    AllGpus,
    /// These GPUs, and also the CPU if `true`.
    List(Vec<usize>, bool),
}

/// How to render.
///
/// ```
/// use polyfly::{Devices, RenderOptions};
/// let options = RenderOptions::new().devices(Devices::Cpu).threads(4);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RenderOptions {
    /// The devices that render.
    pub devices: Devices,
    /// CPU threads; 0 means one per core.
    pub threads: usize,
    /// The name of the CPU's instruction set; the widest one by default.
    pub isa: Option<String>,
    /// What several devices share: frames or tiles.
    pub split: Split,
    /// A library that denoises the pictures, loaded at run time. Denoised pictures need not be equal byte for byte on
    /// all devices.
    pub denoise: Option<DenoiserLibrary>,
    /// Memory limits for the files that the scene names.
    pub limits: Limits,
    /// Particles in memory, which take the place of the file that `[particles]` names.
    pub particles: Option<Arc<dyn StepSource>>,
    // What the files must hold: what the run's manifest records.
    pub(crate) recorded: Arc<RecordedFiles>,
    // Bytes that pictures may take; by default nine tenths of the memory that is free when the scene is prepared.
    pub(crate) memory: Option<u64>,
    // For tests: the index of a GPU that fails, and the task at which it does.
    pub(crate) fault: Option<(u32, u64)>,
}

impl RenderOptions {
    /// All cores, and the first usable GPU.
    pub fn new() -> RenderOptions {
        RenderOptions::default()
    }
    // Only GPUs may do without trees. The driver is not asked yet.
    fn lazy_trees(&self, pool: &Arc<rayon::ThreadPool>) -> LazyTrees {
        let has_cpu = match self.devices {
            Devices::Auto => !device::has_driver(),
            Devices::Cpu | Devices::List(_, true) => true,
            Devices::Gpu | Devices::AllGpus | Devices::List(_, false) => false,
        };
        (!has_cpu).then(|| Arc::clone(pool))
    }
    /// All cores, and no GPU.
    pub(crate) fn on_cpu() -> RenderOptions {
        RenderOptions::new().devices(Devices::Cpu)
    }
}

setters! { RenderOptions {
    /// The devices that render.
    devices(devices: Devices) => { devices: devices }
    /// CPU threads; 0 means one per core.
    threads(threads: usize) => { threads: threads }
    /// The CPU's instruction set, by name.
    isa(name: impl Into<String>) => { isa: Some(name.into()) }
    /// What several devices share: frames or tiles.
    split(split: Split) => { split: split }
    /// Denoises the pictures by this library.
    denoise(library: DenoiserLibrary) => { denoise: Some(library) }
    /// Memory limits for the files that the scene names.
    limits(limits: Limits) => { limits: limits }
    /// Particles in memory, in place of the scene's file.
    particles(steps: Arc<dyn StepSource>) => { particles: Some(steps) }
}}

/// A scene that is loaded and ready to render.
///
/// ```
/// use polyfly::{Renderer, Scene};
/// let mut scene = Scene::sample();
/// (scene.render.width, scene.render.height) = (64, 48);
/// let picture = Renderer::new(scene)?.still(0)?;
/// assert_eq!((picture.width(), picture.height(), picture.channels()), (64, 48, 4));
/// # Ok::<(), polyfly::Error>(())
/// ```
pub struct Renderer {
    pub(crate) prepared: PreparedScene,
    options: RenderOptions,
    // The exposure in stops, measured if the scene does not set it.
    stops: f64,
    chosen: Chosen,
    cancel: Cancel,
    meter: Arc<SampleCounter>,
    // Devices that are kept for the next run, and what they are prepared for.
    waiting: Option<(DeviceNeeds, Vec<Box<dyn Device>>)>,
    keeps_devices: bool,
    /// Time until the scene was in the memory of the slowest GPU, for measurements.
    pub(crate) uploaded: Duration,
    // Whether what stands beside the particles of a figure is left to others.
    is_bare: bool,
    // Bytes that pictures may take, if that is known.
    memory_limit: Option<u64>,
    // The memory of the previous run, if devices are kept. All renderers of a varied scene share it.
    memory: Arc<Mutex<RunMemory>>,
}

// The devices of a renderer.
#[derive(Clone, Debug, Default)]
struct Chosen {
    gpus: Vec<GpuInfo>,
    cpu: bool,
    // Whether the CPU may take over if no GPU works, because the user did not request a GPU; and why it already has.
    may_fall_back: bool,
    fell_back: Option<Message>,
}

impl Renderer {
    /// Checks the scene, reads its files, and prepares it for the first usable GPU, or for the CPU if there is none.
    ///
    /// # Errors
    /// A value is out of range; a file is missing or broken; the scene has too many elements.
    pub fn new(scene: Scene) -> Result<Renderer, Error> {
        Renderer::with_options(scene, RenderOptions::default())
    }

    /// Like [`Renderer::new`], with options.
    ///
    /// # Errors
    /// Those of [`Renderer::new`]; or a device does not exist.
    pub fn with_options(scene: Scene, options: RenderOptions) -> Result<Renderer, Error> {
        Renderer::prepare(scene.checked()?, options)
    }

    /// Prepares a scene that is checked already, because it was read from a text.
    pub(crate) fn prepare(scene: Scene, options: RenderOptions) -> Result<Renderer, Error> {
        Renderer::prepare_after(scene, options, None)
    }

    /// The same. What stays as it was in `before`, whose files have not changed, is not made again.
    pub(crate) fn prepare_after(scene: Scene, options: RenderOptions, before: Option<Kept>) -> Result<Renderer, Error> {
        let pictures = before.as_ref().map(Kept::pictures);
        let read = |scene: &Scene, files: &Files| Ok(Assets::load_after(scene, files, pictures)?);
        Renderer::prepare_from(scene, options, read, before.as_ref())
    }

    /// Prepares a checked scene with the files that `read` returns.
    pub(crate) fn prepare_with(
        scene: Scene,
        options: RenderOptions,
        read: impl FnOnce(&Scene, &Files) -> Result<Assets, Error> + Send,
    ) -> Result<Renderer, Error> {
        Renderer::prepare_from(scene, options, read, None)
    }

    fn prepare_from(
        scene: Scene,
        options: RenderOptions,
        read: impl FnOnce(&Scene, &Files) -> Result<Assets, Error> + Send,
        before: Option<&Kept>,
    ) -> Result<Renderer, Error> {
        let isa = Isa::pick(options.isa.as_deref()).map_err(DeviceError::from)?;
        let pool = threads::pool(options.threads).map_err(DeviceError::from)?;
        // Starting the driver takes time, so the scene is prepared meanwhile.
        let prepare = || -> Result<_, Error> {
            let pipe = || Some(Arc::new(Pipe::of(&scene.world.particles.as_ref()?.path, options.limits)?) as _);
            let steps = options.particles.clone().or_else(pipe);
            let files = Files::new(options.limits, Arc::clone(&options.recorded), steps);
            let mut scene = scene;
            let mut assets = read(&scene, &files)?;
            if let (Some(particles), Some(read)) = (&mut scene.world.particles, &assets.particles) {
                particles.steps = read.steps;
            }
            check_time(&scene, &assets)?;
            let extent = Extent::of(&scene, &assets)?;
            if let Some(extent) = &extent {
                let map = map_shown(&scene, &assets);
                extent.frame(&mut scene, map);
            }
            let start = scene.at(0.0);
            let fixed = before.map(|before| &*before.arrays().fixed);
            let mut device_scene = DeviceScene::with_trees(&start, &assets, options.lazy_trees(&pool), fixed)?;
            let lit = before.filter(|before| before.is_lit_as(&scene));
            if !lit.is_some_and(|lit| device_scene.take_lightmap(lit.arrays())) {
                // The CPU bakes the light map, so that it is the same on all devices.
                isa.bake_lightmap(&mut device_scene, &start);
            }
            // Later frames read theirs.
            assets.particles.iter_mut().for_each(ColouredSpheres::release);
            Ok((scene, assets, device_scene, extent))
        };
        let both = threads::both("driver", || choose(&options.devices), || pool.install(prepare));
        let (chosen, prepared) = both.map_err(DeviceError::from)?;
        let (chosen, (scene, assets, mut first, extent)) = (chosen?, prepared?);
        first.lazy.take_if(|_| chosen.cpu);
        let mut prepared = PreparedScene { scene, assets, first: Arc::new(first), extent, isa, pool };
        Ok(Renderer {
            stops: exposure::set(&mut prepared),
            prepared,
            memory_limit: options.memory_limit(),
            options,
            chosen,
            cancel: Cancel::new(),
            meter: Arc::default(),
            waiting: None,
            keeps_devices: false,
            is_bare: false,
            uploaded: Duration::ZERO,
            memory: Arc::default(),
        })
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.prepared.scene
    }

    /// A handle that ends a run early from another thread. It also ends later runs at once, until it is replaced.
    pub fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Sets the handle that ends the next runs early.
    pub fn set_cancel(&mut self, cancel: Cancel) {
        self.cancel = cancel;
    }

    /// Whether devices and their memory are kept between runs, for callers that render frame after frame.
    pub fn keep_devices(&mut self, keep: bool) {
        self.keeps_devices = keep;
    }

    /// The samples traced so far, and the samples of one frame.
    pub(crate) fn counter(&self) -> (Arc<SampleCounter>, u64) {
        let render = &self.prepared.scene.render;
        let samples = u64::from(render.width) * u64::from(render.height) * u64::from(render.samples_per_pixel());
        (Arc::clone(&self.meter), samples)
    }

    /// Why the CPU renders although a GPU was looked for, if it does.
    pub(crate) fn fell_back(&self) -> Option<&Message> {
        self.chosen.fell_back.as_ref()
    }
    /// The CPU as a separate device with this instruction set.
    pub(crate) fn cpu(&self, isa: Isa) -> Cpu {
        Cpu::new(isa, Arc::clone(&self.prepared.pool), Arc::clone(&self.prepared.first))
    }
    /// CPU threads.
    pub(crate) fn threads(&self) -> usize {
        self.prepared.pool.current_num_threads()
    }

    /// Renders one frame into memory: RGBA, 8 bits per channel.
    ///
    /// # Errors
    /// The clip has no such frame; a device failed.
    pub fn still(&mut self, frame: u32) -> Result<Image<u8>, Error> {
        self.still_watched(frame, &mut ())
    }

    /// Renders one frame in linear light before the tone curve, with the layers of its first surfaces.
    ///
    /// # Errors
    /// Those of [`Renderer::still`].
    pub fn still_linear(&mut self, frame: u32) -> Result<(Image<f32>, Option<Layers>), Error> {
        let needs = PixelFormats { linear: true, layers: true, ..PixelFormats::default() };
        let frame = self.capture(&FrameList::one(frame), needs, &mut ())?.pop().unwrap_or_default();
        Ok((frame.linear.unwrap_or_default(), frame.layers))
    }

    /// [`Renderer::still`] with progress.
    pub(crate) fn still_watched(&mut self, frame: u32, progress: &mut dyn Progress) -> Result<Image<u8>, Error> {
        let frame = self.capture(&FrameList::one(frame), PixelFormats::RGBA8, progress)?.pop();
        Ok(frame.and_then(|frame| frame.rgba8).unwrap_or_default())
    }

    /// Renders frames into memory.
    pub(crate) fn capture(
        &mut self,
        frames: &FrameList,
        needs: PixelFormats,
        progress: &mut dyn Progress,
    ) -> Result<Vec<CapturedFrame>, Error> {
        let (sink, captured) = MemorySink::new(needs);
        self.run(frames, vec![Box::new(sink)], progress)?;
        Ok(std::mem::take(&mut *lock(&captured)))
    }

    /// Renders frames into sinks. Sinks are opened and devices are prepared before the first frame.
    ///
    /// # Errors
    /// The first failure of a file, of all devices or of a sink; or the run was canceled. Finished frames stay.
    pub fn run(
        &mut self,
        frames: &FrameList,
        sinks: Vec<Box<dyn Sink>>,
        progress: &mut dyn Progress,
    ) -> Result<RunReport, Error> {
        self.open(frames, sinks, progress)?.render(progress)
    }

    /// Opens all outputs, tries the encoder, and prepares the devices. Nothing is rendered yet.
    pub(crate) fn open<'a>(
        &'a mut self,
        frames: &'a FrameList,
        mut sinks: Vec<Box<dyn Sink>>,
        progress: &mut dyn Progress,
    ) -> Result<OpenRun<'a>, Error> {
        self.check_frames(frames)?;
        let (width, height) = self.prepared.first.size();
        let first = frames.iter().next().unwrap_or_default();
        let info = RunInfo { frames: frames.len(), first, width, height };
        let post = Arc::new(self.post());
        let needs = sinks.iter().fold(PixelFormats::default(), |all, s| all.union(s.needs()));
        self.check_memory(needs, &post, sinks.len())?;
        let needs = FrameNeeds::of(&self.prepared.scene, needs, &post);
        let from = self.options.denoise.as_ref();
        let denoised = post.around.parts((width, height)).first().map_or((0, 0), EyeImage::size);
        let denoiser = from.map(|from| Denoiser::new(from, denoised, self.options.threads)).transpose();
        let denoiser = denoiser.map_err(DeviceError::from)?;
        if !post.is_exact() {
            progress
                .remark(&msg!("denoised by Open Image Denoise: these pictures are outside the promise of equal bytes"));
        }
        let open = || sinks.iter_mut().try_for_each(|s| s.open(&info));
        let devices = || match self.waiting.take() {
            Some((ready_for, devices)) if ready_for == needs.device => Ok(devices),
            _ => self.devices(&needs.device, progress),
        };
        let (opened, devices) = threads::both("open", open, devices).map_err(DeviceError::from)?;
        opened?;
        let devices = devices?;
        Ok(OpenRun { renderer: self, frames, info, sinks, devices, needs, post, denoiser })
    }

    // Whether the clip has these frames.
    fn check_frames(&self, frames: &FrameList) -> Result<(), Error> {
        let last = self.prepared.scene.output.frames - 1;
        match frames.iter().find(|&n| n > last) {
            Some(frame) => {
                Err(Error::usage(msg!("there is no frame {frame}: the scene has frames 0-{last}", frame, last)))
            }
            None => Ok(()),
        }
    }

    /// The remark about the scene's files, if there is one.
    pub(crate) fn remark(&self) -> Option<Message> {
        let particles = self.prepared.scene.world.particles.as_ref().zip(self.prepared.assets.particles.as_ref());
        particles.and_then(|(asked, read)| read.remark(&asked.colour_by))
    }

    /// The remark about a legend for which the pictures have no room.
    pub(crate) fn lost_legend(&self) -> Option<Message> {
        let (width, height) = (self.prepared.scene.render.width, self.prepared.scene.render.height);
        let is_left_out = self.whole_post().furniture().is_some_and(|furniture| !furniture.fits());
        is_left_out.then(|| {
            msg!(
                "a picture of {width} x {height} pixels has no room for the legend, which is left out: make it larger, as with --size 640x480",
                width,
                height
            )
        })
    }

    /// The post steps of each frame.
    pub(crate) fn post(&self) -> PostPipeline {
        let mut post = self.whole_post();
        let is_bare = self.is_bare || self.has_furniture_apart();
        post.steps.retain(|step| !is_bare || !matches!(step, PostStep::Furniture(_)));
        post
    }

    // With all that stands beside the particles of a figure.
    fn whole_post(&self) -> PostPipeline {
        let map = map_shown(&self.prepared.scene, &self.prepared.assets);
        PostPipeline::new(&self.prepared.scene, self.stops, map, self.options.denoise.as_ref())
    }

    /// Whether the pictures lack what stands beside the particles, and documents the picture.
    pub(crate) fn has_furniture_apart(&self) -> bool {
        self.prepared.scene.figure.as_ref().is_some_and(|figure| figure.furniture == FurnitureIn::Separate)
    }

    /// What stands beside the particles in a frame, and the picture without it.
    pub(crate) fn page(&mut self, frame: u32) -> Result<(Page, Image<u8>), Error> {
        let page = match self.whole_post().furniture() {
            Some(furniture) => {
                // A later step is read for its time alone.
                let moments = if furniture.tells_time() { self.prepared.moments_of(frame)? } else { Vec::new() };
                furniture.page(frame, moments.first().map_or(self.prepared.first.moment, |moment| moment.scene.moment))
            }
            None => Page { size: page_size(&self.prepared.scene), ..Page::default() },
        };
        self.is_bare = true;
        let picture = self.still(frame);
        self.is_bare = false;
        Ok((page, picture?))
    }

    /// The values at the ends of the particles' color map, and its colors; None where no value selects the color.
    pub fn colour_map(&self) -> Option<([f64; 2], Vec<[f64; 3]>)> {
        let shown = map_shown(&self.prepared.scene, &self.prepared.assets)?;
        Some((shown.range, shown.colours.to_vec()))
    }

    // The devices, with the scene uploaded.
    fn devices(&mut self, needs: &DeviceNeeds, progress: &mut dyn Progress) -> Result<Vec<Box<dyn Device>>, Error> {
        let opened: Vec<_> = std::thread::scope(|scope| {
            let make = |info: &GpuInfo| {
                if info.is_tried {
                    trial::passes(info, &self.prepared, needs)?;
                }
                let mut gpu = device::open(info, Arc::clone(&self.prepared.first), needs.clone())?;
                if let Some((_, task)) = self.options.fault.filter(|(ordinal, _)| *ordinal == info.ordinal) {
                    gpu.inject_fault(task);
                }
                gpu.count_samples(&self.meter);
                Ok::<_, DeviceError>(gpu)
            };
            let gpus = &self.chosen.gpus;
            let idle = threads::reserve(scope, "gpu", gpus.len())?;
            let busy: Vec<_> = idle.into_iter().zip(gpus).map(|(one, gpu)| one.run(move || make(gpu))).collect();
            Ok::<_, NoThread>(busy.into_iter().map(Busy::join).collect())
        })
        .map_err(DeviceError::from)?;
        let mut devices: Vec<Box<dyn Device>> = Vec::new();
        for gpu in opened {
            match gpu {
                Ok(gpu) => {
                    self.uploaded = self.uploaded.max(gpu.kernel_scene().uploaded);
                    devices.push(gpu);
                }
                Err(e) if self.chosen.may_fall_back => {
                    progress.remark(&msg!("{why}; rendering on the CPU", why = e.message()));
                    self.chosen.cpu = true;
                }
                Err(e) => return Err(e.into()),
            }
        }
        if self.chosen.cpu {
            devices.push(Box::new(
                self.cpu(self.prepared.isa).with_post(needs.post.clone()).metered(Arc::clone(&self.meter)),
            ));
        }
        Ok(devices)
    }
}

/// A run whose outputs are open and whose devices are prepared.
pub(crate) struct OpenRun<'a> {
    pub(crate) renderer: &'a mut Renderer,
    frames: &'a FrameList,
    info: RunInfo,
    sinks: Vec<Box<dyn Sink>>,
    devices: Vec<Box<dyn Device>>,
    needs: FrameNeeds,
    post: Arc<PostPipeline>,
    denoiser: Option<Denoiser>,
}

impl OpenRun<'_> {
    /// Closes the outputs without rendering a frame.
    pub(crate) fn abort(self) {
        for sink in self.sinks {
            // The caller's reason to abort takes precedence over this error.
            let _ = sink.finish(Outcome::Aborted);
        }
    }

    /// Renders the frames.
    pub(crate) fn render(self, progress: &mut dyn Progress) -> Result<RunReport, Error> {
        let OpenRun { renderer, frames, sinks, mut devices, needs, post, .. } = self;
        let names: Vec<String> = devices.iter().map(|d| d.info().name.clone()).collect();
        progress.start(&self.info, &names, renderer.threads());
        if let Some(remark) = renderer.remark() {
            progress.remark(&remark);
        }
        let split = renderer.options.split;
        let infos: Vec<&DeviceInfo> = devices.iter().map(|device| device.info()).collect();
        let plan = Plan::new(&renderer.prepared.scene, &infos, frames.len(), &needs, split, &post);
        let completed: Option<Vec<_>> = sinks.iter().map(|s| s.completed_frames()).collect();
        let work = open_frame::RunContext {
            prepared: &renderer.prepared,
            plan: &plan,
            frames,
            post: &post,
            denoiser: self.denoiser.as_ref(),
            cancel: &renderer.cancel,
            meter: &renderer.meter,
            already: completed.as_deref().unwrap_or_default(),
        };
        let kept = || lock(&renderer.memory);
        let mut memory = std::mem::take(&mut *kept());
        let result = delivery::run(&mut devices, &work, sinks, progress, &mut memory);
        // Devices are not used again after a failure.
        if renderer.keeps_devices && !matches!(result, Err(Error::Device(_))) {
            *kept() = memory;
            renderer.waiting = Some((needs.device, devices));
        }
        result
    }
}

fn choose(devices: &Devices) -> Result<Chosen, DeviceError> {
    let only_cpu = Chosen { cpu: true, ..Chosen::default() };
    match devices {
        Devices::Cpu => Ok(only_cpu),
        Devices::Auto => match device::first() {
            Ok(gpu) => Ok(Chosen { gpus: vec![gpu], may_fall_back: true, ..Chosen::default() }),
            Err(e) => Ok(Chosen { fell_back: Some(e.message()), ..only_cpu }),
        },
        Devices::Gpu => Ok(Chosen { gpus: vec![device::first()?], ..Chosen::default() }),
        Devices::AllGpus => {
            let gpus: Vec<_> = device::list()?.into_iter().filter(|gpu| !gpu.is_cpu).collect();
            Ok(Chosen { gpus: if gpus.is_empty() { vec![device::first()?] } else { gpus }, ..Chosen::default() })
        }
        Devices::List(numbers, cpu) => {
            let found = if numbers.is_empty() { Vec::new() } else { device::list()? };
            let gpu = |&n: &usize| {
                let missing = || {
                    DeviceError::NotFound(msg!(
                        "there is no GPU {number}: this machine has {count}",
                        number = n,
                        count = found.len()
                    ))
                };
                found.get(n).cloned().ok_or_else(missing)
            };
            Ok(Chosen { gpus: numbers.iter().map(gpu).collect::<Result<_, _>>()?, cpu: *cpu, ..Chosen::default() })
        }
    }
}
