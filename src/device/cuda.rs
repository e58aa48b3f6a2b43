//! The CUDA device: the embedded PTX on NVIDIA GPUs, a ring of tasks in flight, copies over kernels.
#![expect(unsafe_code, reason = "launches kernels, whose arguments the compiler cannot check")]

use super::driver::{Arguments, Context, DeviceMemory, Event, Function, GpuFacts, Pinned, Stream};
use super::gpu_kernels::{Kernels, THREADS};
use super::memory::{LISTED_BYTES, held, ring};
use super::resident::{ResidentScene, Upload, upload};
use super::{
    BAND_STEP, Device, DeviceError, DeviceInfo, DeviceNeeds, FilmSlice, Memory, SampleCounter, Schedule, TRIAL_BYTES,
    Task, TaskOutput, TaskStats, Ticket,
};
use crate::device_scene::{DeviceScene, FixedArrays};
use crate::gpu_types::{ActivePixel, COUNTERS, Counts, FilmBuffers, FrameParams, Launch};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const COUNT_BYTES: usize = COUNTERS as usize * size_of::<Counts>();
// The queues that warps take work from follow the counters: one, and one for each round of adaptive sampling, which
// doubles its samples no more often than a number has bits.
const QUEUE_BYTES: usize = 8;
const QUEUES: usize = 32;
// And behind them the number of the band that is being rendered.
const BAND_AT: usize = COUNT_BYTES + QUEUES * QUEUE_BYTES;
// Larger pictures are rendered in bands, so that memory on the device stays bounded.
const BAND_BYTES: usize = 1 << 27;
// Rows of the smallest band.
const MIN_BAND: u32 = super::BAND_STEP;

// A task's memory on the device and the events that tell when it is done.
struct Slot {
    pixels: DeviceMemory,
    planes: Option<DeviceMemory>,
    // Of adaptive sampling.
    trial: Option<DeviceMemory>,
    counts: Arc<DeviceMemory>,
    host_counts: Pinned,
    // Before and after the kernels, before and after the copies.
    events: [Event; 4],
    // That its rays are shared out to.
    threads: u64,
}

struct InFlight {
    ticket: Ticket,
    slot: usize,
    out: FilmSlice,
    // A scene that has been replaced since stays until its tasks are done.
    _resident: Arc<ResidentScene>,
    working: Option<Working>,
}

// How to tell how far a task is, while the GPU works on it.
#[derive(Clone)]
struct Working {
    counts: Arc<DeviceMemory>,
    // Samples of it, its bands, and what the queue of a whole band runs up to.
    samples: u64,
    bands: u64,
    pixels: u64,
}

// Copies that pass kernels at work, for those who watch.
struct Probe {
    stream: Stream,
    copied: Event,
    host: Pinned,
    context: Context,
}

impl Probe {
    fn new(context: &Context) -> Result<Probe, DeviceError> {
        context.enter()?;
        let host = Pinned::new(QUEUE_BYTES + 1, context)?;
        Ok(Probe { stream: Stream::new(context)?, copied: Event::new(context)?, host, context: *context })
    }

    // Samples of a task that are taken.
    fn read(&mut self, task: &Working) -> Result<u64, DeviceError> {
        self.context.enter()?;
        self.stream.copy(&mut self.host, 0, &task.counts, COUNT_BYTES, QUEUE_BYTES)?;
        self.stream.copy(&mut self.host, QUEUE_BYTES, &task.counts, BAND_AT, 1)?;
        self.stream.record(&self.copied)?;
        self.copied.wait()?;
        let queue = self.host.first_chunk().map_or(0, |&word| u32::from_ne_bytes(word));
        let (here, band) = (u64::from(queue).min(task.pixels), u64::from(self.host[QUEUE_BYTES]));
        let (done, all) = (band * task.pixels + here, task.bands * task.pixels);
        Ok((u128::from(task.samples) * u128::from(done.min(all)) / u128::from(all.max(1))) as u64)
    }
}

/// One GPU with a scene on it.
pub struct Cuda {
    info: DeviceInfo,
    kernels: Kernels,
    // Tasks take turns on them: while the last warps of one end, the next begins.
    compute: [Stream; 2],
    copy: Stream,
    // When the kernels of the task that was waited for last were done.
    last_traced: Option<Event>,
    scene: Arc<DeviceScene>,
    resident: Arc<ResidentScene>,
    fixed: Arc<Vec<DeviceMemory>>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    in_flight: VecDeque<InFlight>,
    // The oldest task in flight, for those who watch.
    watched: Arc<Mutex<Option<Working>>>,
    needs: DeviceNeeds,
    // Rows rendered at once.
    band: u32,
    submitted: u64,
    // The task at which a test wants it to fail.
    fault: Option<u64>,
    // Last, so that everything else is gone before it.
    context: Context,
}

impl Cuda {
    /// Puts a scene on a GPU. Where its memory is short, fewer tasks are in flight, then smaller bands are rendered.
    pub fn new(facts: &GpuFacts, scene: Arc<DeviceScene>, needs: DeviceNeeds) -> Result<Cuda, DeviceError> {
        let context = Context::retain(facts.ordinal)?;
        let mut uploader = Upload { arrays: Vec::new(), context: &context };
        let arrays = scene.upload_fixed(&mut uploader)?;
        let fixed = Arc::new(uploader.arrays);
        let resident = Arc::new(upload(&scene, &arrays, &fixed, &context)?);
        let kernels = Kernels::load(&resident.arrays.constants, needs, &context)?;
        let (slots, band) = slots(scene.size(), needs, &context)?;
        let name = format!("cuda:{} {}", facts.ordinal, facts.name);
        Ok(Cuda {
            info: DeviceInfo { name, tasks_in_flight: slots.len(), is_cpu: false },
            kernels,
            compute: [Stream::new(&context)?, Stream::new(&context)?],
            copy: Stream::new(&context)?,
            last_traced: None,
            scene,
            resident,
            fixed,
            free: (0..slots.len()).rev().collect(),
            slots,
            in_flight: VecDeque::new(),
            watched: Arc::default(),
            needs,
            band,
            submitted: 0,
            fault: None,
            context,
        })
    }

    /// Tells a meter how far it is with a task, whenever that asks.
    pub fn metered(self, meter: &SampleCounter) -> Cuda {
        let (watched, context, gauge) = (Arc::clone(&self.watched), self.context, Mutex::new(None::<Probe>));
        meter.poll(move || {
            // Who renders does not wait for who watches.
            let Some(task) = watched.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return 0 };
            let mut gauge = gauge.lock().unwrap_or_else(PoisonError::into_inner);
            if gauge.is_none() {
                *gauge = Probe::new(&context).ok();
            }
            gauge.as_mut().and_then(|gauge| gauge.read(&task).ok()).unwrap_or(0)
        });
        self
    }

    fn watch_oldest(&self) {
        let oldest = self.in_flight.front().and_then(|task| task.working.clone());
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = oldest;
    }

    // Of adaptive sampling the samples that every pixel takes.
    fn working(&self, task: &Task, counts: &Arc<DeviceMemory>) -> Option<Working> {
        let (width, height) = self.scene.size();
        let rows = task.rows.start..task.rows.end.min(height);
        let launch = task.launch();
        let samples = if launch.min_samples > 0 { launch.min_samples } else { launch.samples_per_pixel };
        let band = rows.start..rows.end.min(rows.start + self.band);
        let (first, end) = self.pixels_of(&band);
        (task.output != TaskOutput::Features).then(|| Working {
            counts: Arc::clone(counts),
            samples: u64::from(samples.unsigned_abs()) * u64::from(width) * rows.len() as u64,
            bands: rows.len().div_ceil(self.band as usize) as u64,
            pixels: u64::from((end - first).unsigned_abs()),
        })
    }

    /// Makes it fail at its n-th task, to see what others do then.
    pub fn inject_fault(&mut self, task: u64) {
        self.fault = Some(task);
    }

    // The stream of the task that was submitted last.
    fn stream(&self) -> &Stream {
        &self.compute[(self.submitted % 2) as usize]
    }

    // Starts a task on a slot: kernels on one stream, copies on another that waits for them, band by band.
    fn start(&self, slot: &mut Slot, task: &Task, frame: &FrameParams, out: &mut FilmSlice) -> Result<(), DeviceError> {
        let Slot { pixels, planes, trial, counts, host_counts, events, threads } = slot;
        let compute = self.stream();
        let [before, traced, copying, done] = &*events;
        let (width, height) = self.scene.size();
        let rows = task.rows.start..task.rows.end.min(height);
        let planes = planes.as_ref().filter(|_| task.output == TaskOutput::Picture && rows == (0..height));
        self.pin(task, out, planes.is_some())?;
        let a_row = task.output.bytes_a_pixel() * width as usize;
        compute.fill(counts, 0, BAND_AT + 1, 0)?;
        compute.record(before)?;
        for top in rows.clone().step_by(self.band as usize) {
            let band = top..(top + self.band).min(rows.end);
            if top > rows.start {
                // The band before must have left the device's memory.
                compute.wait_for(done)?;
                compute.fill(counts, COUNT_BYTES, QUEUES * QUEUE_BYTES, 0)?;
                let number = (top - rows.start) / self.band;
                compute.fill(counts, BAND_AT, 1, number.min(u32::from(u8::MAX)) as u8)?;
            }
            *threads = self.trace_band(task, frame, band.clone(), pixels, trial.as_ref(), counts)?;
            if let Some(planes) = planes {
                self.convert_band(band.len() as u32, pixels, planes)?;
            }
            compute.record(traced)?;
            self.copy.wait_for(traced)?;
            if top == rows.start {
                self.copy.record(copying)?;
            }
            if let Memory::Pinned(to) = &mut out.pixels {
                let above = (top - rows.start) as usize;
                self.copy.copy(to, a_row * above, pixels, 0, a_row * band.len())?;
                if task.leaves_counts() {
                    let a_row_of_counts = size_of::<u32>() * width as usize;
                    let at = a_row * rows.len() + a_row_of_counts * above;
                    self.copy.copy(to, at, pixels, a_row * band.len(), a_row_of_counts * band.len())?;
                }
            }
            if let (Some(planes), Memory::Pinned(to)) = (planes, &mut out.planes) {
                self.copy_planes(to, top, Planes::of(width, height), planes, Planes::of(width, band.len() as u32))?;
            }
            self.copy.record(done)?;
        }
        self.copy.copy(host_counts, 0, counts, 0, COUNT_BYTES)?;
        self.copy.record(done)
    }

    // Traces some rows into the start of `pixels`, on so many threads; the queues are at nought.
    fn trace_band(
        &self,
        task: &Task,
        frame: &FrameParams,
        rows: std::ops::Range<u32>,
        pixels: &DeviceMemory,
        trial: Option<&DeviceMemory>,
        counts: &DeviceMemory,
    ) -> Result<u64, DeviceError> {
        let launch = task.launch();
        let mut film = film(task.output, pixels, rows.start);
        let here = self.pixels_of(&rows);
        // As many blocks as the GPU holds at once, which stay and take work until there is none, or fewer for less work.
        // Each round of adaptive sampling has a queue of its own.
        let start = |kernel: Function, film: &FilmBuffers, (first, end): (i32, i32), round: usize, threads: u64| {
            let blocks = threads.div_ceil(u64::from(THREADS)).clamp(1, u64::from(kernel.blocks)) as u32;
            let (queue, counters) = (counts.at(COUNT_BYTES + QUEUE_BYTES * round), counts.at(0));
            let scene = self.resident.argument(self.kernels.take_small()).with(frame).with(&launch);
            let mut arguments = scene.with(film).with(&first).with(&end).with(&queue).with(&counters);
            // SAFETY: POLYFLY_SCENE and POLYFLY_WORK in kernels/entry/gpu.cuh, in this order; `resident` and what the film
            // and `counts` point to live until the task has been waited for.
            unsafe { self.stream().launch(kernel, (blocks, 1), (THREADS, 1), &mut arguments) }
        };
        let (Some(trial), Some(kernels)) = (trial.filter(|_| launch.min_samples > 0), &self.kernels.adaptive) else {
            let (kernel, lanes) = match task.output {
                TaskOutput::Picture => (self.kernels.picture()?.trace, launch.samples_per_pixel),
                TaskOutput::Sums => (self.kernels.linear()?.sums, launch.samples_per_pixel),
                TaskOutput::Features => (self.kernels.linear()?.features, 1),
            };
            start(kernel, &film, here, 0, threads_of(here, lanes))?;
            return Ok(u64::from(kernel.blocks * THREADS));
        };
        let (width, height) = self.scene.size();
        let around = Task { rows: rows.clone(), ..task.clone() }.trial_rows(height);
        let sums_bytes = TaskOutput::Sums.bytes_a_pixel();
        let pixels_around = width as usize * around.len();
        film.pilot_sums = trial.at(0) as *mut i64;
        film.pilot = trial.at(sums_bytes * pixels_around) as *mut u32;
        film.pilot_row = around.start.cast_signed();
        let nowhere = FilmBuffers { rgba: std::ptr::null_mut(), sums: std::ptr::null_mut(), ..film };
        let [judge_trial, judge_round] = if task.output == TaskOutput::Sums {
            film.taken = pixels.at(sums_bytes * width as usize * rows.len()) as *mut u32;
            kernels.sums
        } else {
            kernels.picture
        };
        let around = self.pixels_of(&around);
        start(kernels.trial, &nowhere, around, 0, threads_of(around, launch.min_samples))?;
        // Two lists take turns.
        let list_bytes = LISTED_BYTES * pixels_around;
        let list = |round: usize| trial.at(TRIAL_BYTES * pixels_around + round % 2 * list_bytes) as *mut ActivePixel;
        film.next_active = list(1);
        let each = threads_of(here, 1);
        start(judge_trial, &film, here, 0, each)?;
        let (mut round, mut taken) = (1, launch.min_samples);
        while taken < launch.samples_per_pixel {
            (film.active_pixels, film.next_active) = (list(round), list(round + 1));
            start(kernels.more, &film, (taken, 0), round, u64::MAX)?;
            start(judge_round, &film, (taken, 0), round, each)?;
            taken += taken.min(launch.samples_per_pixel - taken);
            round += 1;
        }
        Ok(u64::from(kernels.trial.blocks * THREADS))
    }

    // Rows' pixels in the kernels' order (kernels/drivers/depth_first.cuh, pixel_at).
    fn pixels_of(&self, rows: &std::ops::Range<u32>) -> (i32, i32) {
        let tiles = self.scene.size().0.div_ceil(8);
        ((tiles * (rows.start / 8) * 64).cast_signed(), (tiles * rows.end.div_ceil(8) * 64).cast_signed())
    }

    fn convert_band(&self, rows: u32, pixels: &DeviceMemory, to: &DeviceMemory) -> Result<(), DeviceError> {
        let width = self.scene.size().0;
        let planes = Planes::of(width, rows);
        let (rgba, y, u, v) = (pixels.at(0), to.at(0), to.at(planes.luma), to.at(planes.luma + planes.chroma));
        let mut arguments = Arguments::default().with(&rgba).with(&width).with(&rows).with(&y).with(&u).with(&v);
        let (across, down) = (planes.wide.div_ceil(64) as u32, planes.tall.div_ceil(8) as u32);
        // SAFETY: polyfly_convert's arguments, in its order; the memory lives until the task has been waited for.
        unsafe { self.stream().launch(self.kernels.picture()?.convert, (across, down), (32, 4), &mut arguments) }
    }

    // Copies a band's planes to their places in the picture's.
    fn copy_planes(
        &self,
        to: &mut Pinned,
        top: u32,
        whole: Planes,
        from: &DeviceMemory,
        band: Planes,
    ) -> Result<(), DeviceError> {
        let chroma_at = top as usize / 2 * whole.wide / 2;
        self.copy.copy(to, top as usize * whole.wide, from, 0, band.luma)?;
        self.copy.copy(to, whole.luma + chroma_at, from, band.luma, band.chroma)?;
        self.copy.copy(to, whole.luma + whole.chroma + chroma_at, from, band.luma + band.chroma, band.chroma)
    }

    // Gives a slice page-locked memory of the right size, once.
    fn pin(&self, task: &Task, out: &mut FilmSlice, planes: bool) -> Result<(), DeviceError> {
        let (width, height) = self.scene.size();
        let ensure = |memory: &mut Memory, wanted: bool, len: usize| {
            if !wanted {
                *memory = Memory::default();
            } else if !matches!(memory, Memory::Pinned(p) if p.len() == len) {
                *memory = Memory::Pinned(Pinned::new(len, &self.context)?);
            }
            Ok::<(), DeviceError>(())
        };
        let rows = task.rows.end.min(height) - task.rows.start;
        let pixels = task.bytes_a_pixel() * width as usize * rows as usize;
        // Of a finished picture the planes may be all that is wanted.
        let wanted = self.needs.rgba || task.output != TaskOutput::Picture || !planes;
        ensure(&mut out.pixels, wanted, pixels)?;
        ensure(&mut out.planes, planes, Planes::of(width, height).bytes())
    }

    /// Renders a frame without a picture, its samples dealt out in a given way to as many threads as the GPU
    /// holds, or each to a thread of its own where no schedule is given.
    pub fn run_scheduled(
        &mut self,
        frame: &FrameParams,
        samples: u32,
        schedule: Option<Schedule>,
    ) -> Result<TaskStats, DeviceError> {
        self.context.enter()?;
        let queue = DeviceMemory::of(&[0i32], &self.context)?;
        // A thread a sample is cyclic dealing with that many threads.
        let mode = schedule.unwrap_or(Schedule::Cyclic) as i32;
        let (width, height) = self.scene.size();
        let items = width.div_ceil(8) * height.div_ceil(8) * 64 * samples;
        let launch = Launch { samples_per_pixel: samples.cast_signed(), stride: 1, gain: 1.0, ..Launch::default() };
        let Some(kernel) = self.kernels.picture()?.schedule else {
            return Err(DeviceError::Failed("ways to deal out Whitted's rays do not suit path tracing".into()));
        };
        let blocks = if schedule.is_some() { kernel.blocks } else { items.div_ceil(THREADS) };
        let Some(slot) = self.slots.first_mut() else {
            return Err(DeviceError::Failed("no memory is set aside".into()));
        };
        let (queue_at, counts) = (queue.at(0), slot.counts.at(0));
        let scene = self.resident.argument(self.kernels.take_small()).with(frame).with(&launch);
        let mut arguments = scene.with(&mode).with(&queue_at).with(&counts);
        let ([before, traced, ..], [compute, _]) = (&slot.events, &self.compute);
        compute.fill(&slot.counts, 0, COUNT_BYTES, 0)?;
        compute.record(before)?;
        // SAFETY: polyfly_schedule's arguments, in its order; all are waited for below.
        unsafe { compute.launch(kernel, (blocks, 1), (THREADS, 1), &mut arguments)? };
        compute.record(traced)?;
        compute.copy(&mut slot.host_counts, 0, &slot.counts, 0, COUNT_BYTES)?;
        self.context.synchronise()?;
        let time = traced.since(before)?;
        Ok(read_counts(&slot.host_counts, time, time, u64::from(blocks) * u64::from(THREADS)))
    }

    // Waits for a slot's task. The time of its kernels counts from when those of the task before were done, where they
    // had begun by then.
    fn finish(&mut self, slot: usize) -> Result<TaskStats, DeviceError> {
        let Slot { events, host_counts, threads, .. } = &mut self.slots[slot];
        let [before, traced, copying, done] = events;
        done.wait()?;
        let copy = done.since(copying)?;
        let mut kernel = traced.since(before)?;
        match &mut self.last_traced {
            Some(last) => {
                let after = traced.since(last)?;
                kernel = kernel.min(after);
                if !after.is_zero() {
                    std::mem::swap(last, traced);
                }
            }
            None => self.last_traced = Some(std::mem::replace(traced, Event::new(&self.context)?)),
        }
        Ok(read_counts(host_counts, kernel, kernel + copy, *threads))
    }
}

// Memory for as many tasks as there is room for, and the rows of a band.
fn slots(size: (u32, u32), needs: DeviceNeeds, context: &Context) -> Result<(Vec<Slot>, u32), DeviceError> {
    let ((width, height), (most, held)) = (size, held(needs));
    let a_row = most * width as usize;
    let rows = BAND_BYTES / (held * width as usize);
    let mut band = (rows / MIN_BAND as usize * MIN_BAND as usize).min(height as usize) as u32;
    band = band.max(MIN_BAND.min(height));
    let mut ring = ring(size, needs);
    loop {
        let slot = || -> Result<Slot, DeviceError> {
            Ok(Slot {
                pixels: DeviceMemory::new(a_row * band as usize, context)?,
                trial: needs
                    .adaptive
                    .then(|| {
                        let rows = (band + 2 * BAND_STEP).min(height);
                        DeviceMemory::new((TRIAL_BYTES + 2 * LISTED_BYTES) * width as usize * rows as usize, context)
                    })
                    .transpose()?,
                planes: needs.yuv.then(|| DeviceMemory::new(Planes::of(width, band).bytes(), context)).transpose()?,
                counts: Arc::new(DeviceMemory::new(BAND_AT + 1, context)?),
                host_counts: Pinned::new(COUNT_BYTES, context)?,
                events: [Event::new(context)?, Event::new(context)?, Event::new(context)?, Event::new(context)?],
                threads: 0,
            })
        };
        match (0..ring).map(|_| slot()).collect::<Result<Vec<_>, _>>() {
            Err(DeviceError::OutOfMemory(_)) if ring > 1 => ring = 1,
            Err(DeviceError::OutOfMemory(_)) if band > MIN_BAND => {
                band = (band / 2).next_multiple_of(MIN_BAND).min(band - 1).max(MIN_BAND);
            }
            other => return other.map(|slots| (slots, band)),
        }
    }
}

// Threads that pixels of which each has so many lanes' work keep busy.
fn threads_of((first, end): (i32, i32), lanes: i32) -> u64 {
    u64::from((end - first).unsigned_abs()) * u64::from(lanes.unsigned_abs())
}

// The film at the start of some device memory.
fn film(output: TaskOutput, pixels: &DeviceMemory, first_row: u32) -> FilmBuffers {
    let start = pixels.at(0);
    let at = |this: TaskOutput| if this == output { start } else { 0 };
    FilmBuffers {
        rgba: at(TaskOutput::Picture) as *mut u32,
        sums: at(TaskOutput::Sums) as *mut i64,
        features: at(TaskOutput::Features) as *mut crate::gpu_types::Features,
        taken: std::ptr::null_mut(),
        pilot_sums: std::ptr::null_mut(),
        pilot: std::ptr::null_mut(),
        active_pixels: std::ptr::null_mut(),
        next_active: std::ptr::null_mut(),
        first_row: first_row.cast_signed(),
        pilot_row: 0,
    }
}

// Sums the counters; `threads` shared the work.
fn read_counts(bytes: &[u8], kernel: Duration, time: Duration, threads: u64) -> TaskStats {
    let words: Vec<u64> = bytes.chunks_exact(8).map(|w| w.try_into().map_or(0, u64::from_le_bytes)).collect();
    let column = |which: usize| words.chunks_exact(4).map(move |c| c[which]);
    let (rays, busiest) = (column(0).sum::<u64>(), column(2).max().unwrap_or(0));
    let balance = if busiest == 0 { 0.0 } else { rays as f64 / threads as f64 / busiest as f64 };
    TaskStats { time, kernel, rays, shadow_rays: column(1).sum(), balance }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // Nothing may be freed under a running kernel.
        let _ = self.context.synchronise();
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

// The planes of a 4:2:0 picture with even sides.
#[derive(Clone, Copy)]
struct Planes {
    wide: usize,
    tall: usize,
    luma: usize,
    chroma: usize,
}

impl Planes {
    fn of(width: u32, height: u32) -> Planes {
        let (wide, tall) = (width.next_multiple_of(2) as usize, height.next_multiple_of(2) as usize);
        Planes { wide, tall, luma: wide * tall, chroma: wide * tall / 4 }
    }
    fn bytes(&self) -> usize {
        self.luma + 2 * self.chroma
    }
}

impl Device for Cuda {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn update(&mut self, scene: &Arc<DeviceScene>) -> Result<(), DeviceError> {
        if Arc::ptr_eq(scene, &self.scene) {
            return Ok(());
        }
        self.context.enter()?;
        let (ours, theirs): (&Arc<FixedArrays>, &Arc<FixedArrays>) = (&self.scene.fixed, &scene.fixed);
        let mut arrays = self.resident.arrays;
        if !Arc::ptr_eq(ours, theirs) {
            let mut uploader = Upload { arrays: Vec::new(), context: &self.context };
            arrays = scene.upload_fixed(&mut uploader)?;
            self.fixed = Arc::new(uploader.arrays);
        }
        arrays.constants = scene.constants;
        let resident = if Arc::ptr_eq(ours, theirs) && Arc::ptr_eq(&self.scene.geometry, &scene.geometry) {
            scene.geometry.set_constants(&mut arrays.constants);
            ResidentScene::new(scene, arrays, &self.fixed, Arc::clone(&self.resident.dynamic))
        } else {
            upload(scene, &arrays, &self.fixed, &self.context)?
        };
        let constants = &resident.arrays.constants;
        if !self.kernels.suit(constants, self.needs) {
            // The kernels in use are unloaded with it.
            self.context.synchronise()?;
            self.kernels = Kernels::load(constants, self.needs, &self.context)?;
        }
        self.resident = Arc::new(resident);
        self.scene = Arc::clone(scene);
        Ok(())
    }

    fn submit(&mut self, task: &Task, frame: &FrameParams, mut out: FilmSlice) -> Result<Ticket, DeviceError> {
        self.context.enter()?;
        self.submitted += 1;
        if self.fault.is_some_and(|n| self.submitted >= n) {
            return Err(DeviceError::Failed("the failure that POLYFLY_FAULT asked for".into()));
        }
        let Some(index) = self.free.pop() else {
            return Err(DeviceError::Failed("more tasks were submitted than fit the device".into()));
        };
        // The slot is lent out while its task is started, and stays out of use when that fails.
        let mut slot = self.slots.swap_remove(index);
        let started = self.start(&mut slot, task, frame, &mut out);
        self.slots.push(slot);
        let last = self.slots.len() - 1;
        self.slots.swap(index, last);
        let ticket = Ticket(self.submitted);
        if let Err(e) = started {
            // What was begun may still be written to by the GPU: wait before the memory goes back.
            let _ = self.context.synchronise();
            return Err(e);
        }
        let working = self.working(task, &self.slots[index].counts);
        self.in_flight.push_back(InFlight { ticket, slot: index, out, _resident: Arc::clone(&self.resident), working });
        if self.in_flight.len() == 1 {
            self.watch_oldest();
        }
        Ok(ticket)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(TaskStats, FilmSlice), DeviceError> {
        self.context.enter()?;
        let Some(oldest) = self.in_flight.pop_front().filter(|f| f.ticket == ticket) else {
            return Err(DeviceError::Failed(format!("task {} is not the oldest in flight", ticket.0)));
        };
        let result = self.finish(oldest.slot);
        if result.is_err() {
            let _ = self.context.synchronise();
        }
        self.free.push(oldest.slot);
        self.watch_oldest();
        result.map(|stats| (stats, oldest.out))
    }
}
