//! A frame whose tiles are dealt out to CPU threads by one of several schedules: for `polyfly bench --balance`, and for
//! `cargo bench --bench balance`, which also counts the operations of each tile and asks GPUs.

use super::{RenderOptions, Renderer};
use crate::device::cpu::Cpu;
use crate::device::{self, DeviceNeeds, GpuDevice, KernelScene, Memory};
use crate::error::Error;
use crate::gpu_types::{FrameParams, Launch};
use crate::kernels::Isa;
use crate::scene::Scene;
use crate::threads::{self, Busy, NoThread};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How tiles are dealt out to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Each thread has an equal, contiguous part.
    Static,
    /// Each thread has every n-th tile.
    Cyclic,
    /// Each thread takes the next tile when it is free.
    Dynamic,
}

impl Schedule {
    /// All, with their names.
    pub const ALL: [(Schedule, &str); 3] =
        [(Schedule::Static, "static"), (Schedule::Cyclic, "cyclic"), (Schedule::Dynamic, "dynamic")];
}

/// A tile that a thread has traced, and its rays.
pub struct TracedTile {
    /// Its number.
    pub tile: usize,
    /// Camera, reflected and transmitted rays.
    pub rays: u64,
}

/// What each thread did, and how long all of it took.
pub struct Dealt {
    /// From the start of the first thread to the end of the last one.
    pub time: Duration,
    /// The tiles of each thread, in order.
    pub threads: Vec<Vec<TracedTile>>,
}

/// The set of kernels of [`TiledFrame::trace_with`] that counts operations: of benches/kernels, which the caller links.
#[inline]
pub fn counting() -> Isa {
    Isa::counting()
}

/// A frame and the CPU that renders it.
pub struct TiledFrame {
    renderer: Renderer,
    pub(crate) cpu: Cpu,
    pub(crate) params: FrameParams,
    pub(crate) number: u32,
}

impl TiledFrame {
    /// Prepares a frame, for the instruction set of this name or the widest one.
    ///
    /// # Errors
    /// The scene cannot be rendered.
    pub fn new(scene: Scene, number: u32, isa: Option<String>) -> Result<TiledFrame, Error> {
        let mut renderer = Renderer::prepare(scene, RenderOptions { isa, ..RenderOptions::on_cpu() })?;
        let params = renderer.prepared.first.frame_params(renderer.scene(), number);
        // The arrays of that frame, if something moves.
        if let Some(moment) = renderer.prepared.moments_of(number)?.into_iter().next() {
            renderer.prepared.first = moment.scene;
        }
        let cpu = renderer.cpu(renderer.prepared.isa);
        Ok(TiledFrame { renderer, cpu, params, number })
    }

    /// The name of the instruction set.
    pub fn isa(&self) -> &'static str {
        self.renderer.prepared.isa.name
    }

    /// The largest number of threads.
    pub fn threads(&self) -> usize {
        self.cpu.threads()
    }

    fn samples(&self) -> u32 {
        self.renderer.scene().render.samples_per_pixel()
    }

    /// Renders the frame with plain threads, and does not keep the picture.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn run(&self, schedule: Schedule, threads: usize) -> Result<Dealt, NoThread> {
        let mut picture = Memory::default();
        let (job, tiles) = self.cpu.whole(&self.params, self.samples(), &mut picture);
        let (tiles, threads) = (tiles.len(), threads.clamp(1, self.threads()));
        let (next, share) = (AtomicUsize::new(0), tiles.div_ceil(threads));
        let start = Instant::now();
        let threads = std::thread::scope(|scope| {
            let (next, job, cpu) = (&next, &job, &self.cpu);
            let work = move |thread: usize| {
                let trace = |tile| TracedTile { tile, rays: cpu.tile(job, tile as u32, thread).0 };
                let queue = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&tile| tile < tiles);
                match schedule {
                    Schedule::Static => (thread * share..((thread + 1) * share).min(tiles)).map(trace).collect(),
                    Schedule::Cyclic => (thread..tiles).step_by(threads).map(trace).collect(),
                    Schedule::Dynamic => std::iter::from_fn(queue).map(trace).collect(),
                }
            };
            let idle = threads::reserve(scope, "balance", threads)?.into_iter().enumerate();
            let busy: Vec<_> = idle.map(|(thread, one)| one.run(move || work(thread))).collect();
            Ok(busy.into_iter().map(Busy::join).collect())
        })?;
        Ok(Dealt { time: start.elapsed(), threads })
    }

    /// Traces all tiles on this thread with another set of kernels. `traced` hears of each with its number.
    pub fn trace_with(&self, isa: Isa, mut traced: impl FnMut(usize)) {
        let (cpu, mut picture) = (self.renderer.cpu(isa), Memory::default());
        let (job, tiles) = cpu.whole(&self.params, self.samples(), &mut picture);
        for tile in tiles {
            cpu.tile(&job, tile, 0);
            traced(tile as usize);
        }
    }

    /// The frame in the memory of each GPU.
    ///
    /// # Errors
    /// A GPU cannot be used.
    pub fn on_gpus(&self) -> Result<Vec<FrameOnGpu>, Error> {
        let open = |info| {
            let needs = DeviceNeeds { rgba: true, ..DeviceNeeds::default() };
            let gpu = device::open(&info, Arc::clone(&self.renderer.prepared.first), needs)?;
            let launch =
                Launch { samples_per_pixel: self.samples().cast_signed(), stride: 1, gain: 1.0, ..Launch::default() };
            Ok(FrameOnGpu { name: info.name, scene: gpu.kernel_scene(), frame: self.params, launch, _gpu: gpu })
        };
        device::list().unwrap_or_default().into_iter().map(open).collect()
    }
}

/// A frame in the memory of a GPU, whose context is current on the thread that made it.
pub struct FrameOnGpu {
    /// The GPU's name.
    pub name: String,
    scene: KernelScene,
    frame: FrameParams,
    launch: Launch,
    _gpu: Box<dyn GpuDevice>,
}

impl FrameOnGpu {
    /// The kind of the scene (kernels/modules.def), and its features.
    pub fn kind(&self) -> (&'static str, u64) {
        (self.scene.kind, self.scene.features)
    }
    /// Time until the scene was in the GPU's memory, with grids and trees that the GPU makes.
    pub fn uploaded(&self) -> Duration {
        self.scene.uploaded
    }
    /// The addresses of a kernel's first arguments (`POLYFLY_SCENE` in kernels/entry/gpu.cuh).
    pub fn arguments(&self) -> [*const c_void; 3] {
        [self.scene.address(), std::ptr::from_ref(&self.frame).cast(), std::ptr::from_ref(&self.launch).cast()]
    }
}
