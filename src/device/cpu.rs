//! The CPU device: the kernels with the widest instruction set of this machine, on tiles, in a work-stealing pool.
#![expect(unsafe_code, reason = "lets threads write disjoint tiles of one film")]

use super::{
    Device, DeviceError, DeviceInfo, FilmSlice, GuidedTask, Memory, Moment, SampleCounter, TRIAL_BYTES, Task,
    TaskOutput, TaskStats, Ticket, balance,
};
use crate::cancel::Cancel;
use crate::device_scene::DeviceScene;
use crate::film::image::Image;
use crate::film::post::guided::Noisy;
use crate::film::post::{PostContext, PostPipeline};
use crate::film::{self, Film};
use crate::gpu_types::{FilmBuffers, FrameParams, Launch};
use crate::kernels::{FrameJob, Isa, Scratch, TILE_SIDE};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub struct Cpu {
    info: DeviceInfo,
    isa: Isa,
    pool: Arc<rayon::ThreadPool>,
    scratch: Vec<Mutex<Scratch>>,
    // The pilot data of adaptive sampling, reused for each frame.
    trial: Mutex<Memory>,
    // The post steps of finished pictures, and memory for their sums.
    post: Option<Arc<PostPipeline>>,
    sums: Memory,
    scene: Arc<DeviceScene>,
    meter: Option<Arc<SampleCounter>>,
    // Rectangles outside of which nothing is traced: columns and rows. None: all is traced.
    only: Option<Vec<(Range<u32>, Range<u32>)>>,
    cancel: Cancel,
    done: VecDeque<(Ticket, TaskStats, FilmSlice)>,
    submitted: u64,
}

impl Cpu {
    /// A CPU with this scene; the threads of the pool trace.
    pub fn new(isa: Isa, pool: Arc<rayon::ThreadPool>, scene: Arc<DeviceScene>) -> Cpu {
        let bytes = isa.scratch_bytes(&scene.host());
        let scratch = (0..pool.current_num_threads()).map(|_| Mutex::new(Scratch::new(bytes))).collect();
        let info = DeviceInfo { name: format!("cpu {}", isa.name), tasks_in_flight: 1, is_cpu: true, runs_post: false };
        Cpu {
            info,
            isa,
            pool,
            scratch,
            trial: Mutex::default(),
            post: None,
            sums: Memory::default(),
            scene,
            meter: None,
            only: None,
            cancel: Cancel::new(),
            done: VecDeque::new(),
            submitted: 0,
        }
    }

    /// Applies these post steps, if there are any, to finished pictures.
    pub fn with_post(self, post: Option<Arc<PostPipeline>>) -> Cpu {
        let info = DeviceInfo { runs_post: post.is_some(), ..self.info };
        Cpu { info, post, ..self }
    }

    /// Replaces the scene by another one of the same size.
    pub fn set_scene(&mut self, scene: Arc<DeviceScene>) {
        self.scene = scene;
    }

    /// Also counts samples in this counter, which shows progress within a frame.
    pub fn metered(self, meter: Arc<SampleCounter>) -> Cpu {
        Cpu { meter: Some(meter), ..self }
    }

    /// Traces only tiles that reach into these columns and rows. All other pixels have no light.
    pub fn trace_only(&mut self, parts: Vec<(Range<u32>, Range<u32>)>) {
        self.only = Some(parts);
    }

    // Whether a tile is outside of all that is traced.
    fn leaves_out(&self, launch: Launch, tile: u32) -> bool {
        let side = tile_side(launch);
        let across = self.scene.size().0.div_ceil(side);
        let (x, y) = (tile % across * side, tile / across * side);
        let meets = |part: &Range<u32>, at: u32| part.start < at + side && at < part.end;
        self.only.as_ref().is_some_and(|parts| !parts.iter().any(|(columns, rows)| meets(columns, x) && meets(rows, y)))
    }

    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Executes a task. Its pixels are written to `out`, which is resized.
    pub fn run(&self, task: &Task, frame: &FrameParams, out: &mut Memory) -> TaskStats {
        self.run_at(&self.scene, task, frame, out, false)
    }

    // Executes a task of this scene. With `adds`, sums are added to those in `out`.
    fn run_at(&self, scene: &DeviceScene, task: &Task, frame: &FrameParams, out: &mut Memory, adds: bool) -> TaskStats {
        let start = Instant::now();
        let (width, height) = scene.size();
        let rows = task.rows.start..task.rows.end.min(height);
        let side = TILE_SIDE * task.pixels.block;
        assert!(rows.start.is_multiple_of(side) && (rows.end == height || rows.end.is_multiple_of(side)));
        let pixels = width as usize * rows.len();
        let bytes = out.sized(task.bytes_a_pixel() * pixels);
        let mut film = task.output.film(bytes.as_mut_ptr(), rows.start);
        film.adds = i32::from(adds);
        if task.leaves_counts() {
            film.taken = bytes[TaskOutput::Sums.bytes_a_pixel() * pixels..].as_mut_ptr().cast();
        }
        let rays: Vec<AtomicU64> = self.scratch.iter().map(|_| AtomicU64::new(0)).collect();
        let launch = task.launch();
        let mut counts = (0, 0);
        let mut trial = self.trial.lock().unwrap_or_else(PoisonError::into_inner);
        if launch.min_samples > 0 {
            let around = task.trial_rows(height);
            let pixels = width as usize * around.len();
            let (sums, shown) = trial.sized(TRIAL_BYTES * pixels).split_at_mut(3 * size_of::<i64>() * pixels);
            film.pilot_sums = sums.as_mut_ptr().cast();
            film.pilot = shown.as_mut_ptr().cast();
            film.pilot_row = around.start.cast_signed();
            let none = FilmBuffers { rgba: std::ptr::null_mut(), sums: std::ptr::null_mut(), ..film };
            counts = self.trace(self.work(scene, frame, launch, none, around), &rays, false);
        }
        let more = self.trace(self.work(scene, frame, launch, film, rows), &rays, task.output != TaskOutput::Features);
        let time = start.elapsed();
        let rays: Vec<u64> = rays.into_iter().map(AtomicU64::into_inner).collect();
        let (rays_traced, shadow_rays) = (counts.0 + more.0, counts.1 + more.1);
        TaskStats { time, kernel: time, rays: rays_traced, shadow_rays, balance: balance(&rays) }
    }

    // Adds up the sums of all moments that the task has samples of.
    fn add_moments(&self, task: &Task, moments: &[Moment], out: &mut Memory) -> TaskStats {
        let (start, mut all) = (Instant::now(), TaskStats::default());
        for (Moment { scene, camera, .. }, part, adds) in task.at_moments(moments) {
            let stats = self.run_at(scene, &part, camera, out, adds);
            all = TaskStats { rays: all.rays + stats.rays, shadow_rays: all.shadow_rays + stats.shadow_rays, ..stats };
        }
        let time = start.elapsed();
        TaskStats { time, kernel: time, ..all }
    }

    // Makes a finished picture from the sums of all moments.
    fn run_post(
        &mut self,
        post: &PostPipeline,
        task: &Task,
        moments: &[Moment],
        out: &mut Memory,
    ) -> Result<TaskStats, DeviceError> {
        let (start, size) = (Instant::now(), self.scene.size());
        let mut memory = std::mem::take(&mut self.sums);
        let sums_of = Task { output: TaskOutput::Sums, ..task.clone() };
        let (noisy, all) = match &task.guided {
            Some(guided) => {
                let (noisy, all) = self.trace_noisy(task, guided, moments, &mut memory)?;
                (Some(noisy), all)
            }
            None => (None, self.add_moments(&sums_of, moments, &mut memory)),
        };
        // The picture of an abandoned frame is not delivered, and its post steps take longer than a tile.
        if self.cancel.is_abandoned() {
            self.sums = memory;
            return Ok(all);
        }
        let mut image = if noisy.is_some() {
            // The denoiser makes the image.
            Image::default()
        } else {
            let (sums, counts) = memory.sums_and_counts(&sums_of);
            let samples = task.samples.end - task.samples.start;
            self.pool.install(|| film::resolve(size, sums, samples, counts, self.isa))
        };
        self.sums = memory;
        let (scene, noisy) = (self.scene.host(), noisy.as_ref());
        let context = PostContext { scene: &scene, isa: self.isa, frame: task.frame, denoiser: None, noisy };
        let rgba = bytemuck::cast_slice_mut(out.sized(4 * size.0 as usize * size.1 as usize));
        self.pool.install(|| post.of_frame(task.frame).picture(&context, &mut image, None, false, rgba))?;
        let time = start.elapsed();
        Ok(TaskStats { time, kernel: time, ..all })
    }

    // Traces what the built-in denoiser reads: halves of the samples, and features.
    fn trace_noisy(
        &self,
        task: &Task,
        guided: &GuidedTask,
        moments: &[Moment],
        memory: &mut Memory,
    ) -> Result<(Noisy, TaskStats), DeviceError> {
        if guided.frames.len() > 1 {
            return Err(DeviceError::Failed("the CPU keeps no light of other frames".into()));
        }
        let (width, height) = self.scene.size();
        let (mut film, mut all) = (Film::new(width, height), TaskStats::default());
        for (half, samples) in guided.halves.iter().enumerate() {
            let task = Task { output: TaskOutput::Sums, samples: samples.clone(), guided: None, ..task.clone() };
            let stats = self.add_moments(&task, moments, memory);
            all = TaskStats { rays: all.rays + stats.rays, shadow_rays: all.shadow_rays + stats.shadow_rays, ..stats };
            let (sums, counts) = memory.sums_and_counts(&task);
            film.expect(half, samples.end - samples.start);
            if task.leaves_counts() {
                film.add_counts(0, counts);
            }
            self.pool.install(|| film.add(half, 0, sums));
        }
        film.expect_features(guided.features);
        let (output, samples) = (TaskOutput::Features, 0..guided.features);
        let task = Task { output, samples, adaptive: None, guided: None, ..task.clone() };
        self.add_moments(&task, moments, memory);
        self.pool.install(|| film.add_features(0, memory.bytes()));
        Ok((self.pool.install(|| Noisy::of(&film, self.isa)), all))
    }

    // Traces tiles on all threads. Returns the sums over all threads: rays and shadow rays. `counts` tells whether
    // the samples count as progress.
    fn trace(&self, (job, tiles): (FrameJob, Range<u32>), rays: &[AtomicU64], counts: bool) -> (u64, u64) {
        let samples = u64::from(TILE_SIDE * TILE_SIDE) * u64::from(job.launch.samples_per_pixel.cast_unsigned());
        self.pool.install(|| {
            let tiles = tiles.into_par_iter().with_min_len(4).map(|tile| {
                if self.cancel.is_abandoned() || self.leaves_out(job.launch, tile) {
                    return (0, 0);
                }
                let thread = rayon::current_thread_index().unwrap_or(0);
                let (traced, shadow_rays) = self.tile(&job, tile, thread);
                rays[thread].fetch_add(traced, Ordering::Relaxed);
                if let Some(meter) = self.meter.as_ref().filter(|_| counts) {
                    meter.add(samples);
                }
                (traced, shadow_rays)
            });
            tiles.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
        })
    }

    // The job of some rows, and the numbers of their tiles.
    fn work<'a>(
        &self,
        scene: &'a DeviceScene,
        frame: &'a FrameParams,
        launch: Launch,
        film: FilmBuffers,
        rows: Range<u32>,
    ) -> (FrameJob<'a>, Range<u32>) {
        let (side, arrays) = (tile_side(launch), scene.host());
        let across = scene.size().0.div_ceil(side);
        let small = (self.isa.lanes == 1).then(|| scene.small(&arrays.arrays)).flatten();
        let tiles = across * (rows.start / side)..across * rows.end.div_ceil(side);
        (FrameJob { scene: arrays, small, frame, launch, film }, tiles)
    }

    /// The job of a whole frame whose picture is not kept, and the numbers of its tiles.
    pub fn whole<'a>(
        &'a self,
        frame: &'a FrameParams,
        samples: u32,
        picture: &mut Memory,
    ) -> (FrameJob<'a>, Range<u32>) {
        let (width, height) = self.scene.size();
        let rgba = picture.sized(TaskOutput::Picture.bytes_a_pixel() * width as usize * height as usize);
        let launch = Launch { samples_per_pixel: samples.cast_signed(), stride: 1, gain: 1.0, ..Launch::default() };
        self.work(&self.scene, frame, launch, TaskOutput::Picture.film(rgba.as_mut_ptr(), 0), 0..height)
    }

    /// Traces one tile with the thread's scratch memory. Returns rays and shadow rays.
    pub fn tile(&self, job: &FrameJob, tile: u32, thread: usize) -> (u64, u64) {
        let mut scratch = self.scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let side = tile_side(job.launch);
        let across = self.scene.size().0.div_ceil(side);
        let corner = ((tile % across * side).cast_signed(), (tile / across * side).cast_signed());
        // SAFETY: the film holds the rows of the tiles that `work` gives, and no two threads are given the same tile.
        let counts = unsafe { self.isa.trace_tile(job, corner, &mut scratch) };
        (counts.rays, counts.shadow_rays)
    }
}

// The side of the part of a frame that a tile's pixels are spread over.
fn tile_side(launch: Launch) -> u32 {
    TILE_SIDE << launch.shift
}

impl Device for Cpu {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn begin_run(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }

    // The CPU has no other thread for this, so the work is done here.
    fn submit(&mut self, task: &Task, moments: &[Moment], mut out: FilmSlice) -> Result<Ticket, DeviceError> {
        // If a GPU used this memory before, its planes are those of another frame.
        out.planes = Memory::default();
        let stats = match self.post.clone().filter(|_| task.output == TaskOutput::Picture) {
            Some(post) => self.run_post(&post, task, moments, &mut out.pixels)?,
            None if moments.len() > 1 && task.output != TaskOutput::Sums => {
                return Err(DeviceError::Failed("only sums of several moments are added up".into()));
            }
            None => self.add_moments(task, moments, &mut out.pixels),
        };
        self.submitted += 1;
        let ticket = Ticket(self.submitted);
        self.done.push_back((ticket, stats, out));
        Ok(ticket)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(TaskStats, FilmSlice), DeviceError> {
        match self.done.pop_front() {
            Some((first, stats, out)) if first == ticket => Ok((stats, out)),
            _ => Err(DeviceError::Failed(format!("task {} was not submitted to the CPU", ticket.0))),
        }
    }
}
