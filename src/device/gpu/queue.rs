//! A GPU device: a ring of tasks in flight, kernels on two streams, and copies that overlap kernels.
#![expect(unsafe_code, reason = "launches kernels, whose arguments the compiler cannot check")]

mod denoised;

use super::api::{Api, Context, DeviceMemory, Event, Function, Stream};
use super::denoise::{DenoiseKernels, DenoiseLane};
use super::modules::{Kernels, Trace};
use super::post::{Planes, PostKernels, PostLane};
use super::probe::{self, Watched, Working};
use super::resident::{Builders, ResidentMoment, ResidentScene};
use super::slots::{BAND_AT, COUNT_BYTES, QUEUE_BYTES, QUEUES, Slot, Slots};
use crate::cancel::Cancel;
use crate::device::memory::{LISTED_BYTES, PinnedMemory};
use crate::device::{
    Device, DeviceError, DeviceInfo, DeviceNeeds, FilmSlice, GpuDevice, GpuInfo, KernelScene, Memory, Moment,
    SampleCounter, TRIAL_BYTES, Task, TaskOutput, TaskStats, Ticket,
};
use crate::device_scene::DeviceScene;
use crate::film::post::glare::Glare;
use crate::gpu_types::{ActivePixel, Constants, Counts, FilmBuffers, PostParams};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

struct InFlight<A: Api> {
    ticket: Ticket,
    slot: Slot<A>,
    out: FilmSlice,
    // Kept alive until the task finishes.
    _residents: Vec<Arc<ResidentScene<A>>>,
    _motions: Vec<A::Memory>,
    working: Option<Arc<Working<A>>>,
}

/// A GPU with a scene in its memory.
pub struct Gpu<A: Api> {
    info: DeviceInfo,
    kernels: Kernels<A>,
    // Post steps, and conversion to YUV planes.
    post: Option<PostKernels<A>>,
    denoiser: Option<DenoiseKernels<A>>,
    builders: Builders<A>,
    // Tasks alternate between the two: while the last warps of one task end, the next one begins.
    compute: [A::Stream; 2],
    copy: A::Stream,
    // When the kernels of the last finished task ended.
    last_traced: Option<A::Event>,
    scene: Arc<DeviceScene>,
    resident: Arc<ResidentScene<A>>,
    // What its upload took, for benchmarks.
    uploaded: Duration,
    // The scenes of as many moments as the last task had: tasks of other rows have the same.
    recent: VecDeque<(Arc<DeviceScene>, Arc<ResidentScene<A>>)>,
    memory: Slots<A>,
    in_flight: VecDeque<InFlight<A>>,
    // The oldest task in flight, for progress.
    watched: Watched<A>,
    needs: DeviceNeeds,
    submitted: u64,
    // The number of the task at which a test makes the GPU fail.
    fault: Option<u64>,
    // Last, so that it is dropped after everything else.
    context: A::Context,
}

// What a frame's post steps need: the kernels, their numbers, and memory.
type FramePost<'a, A> = (&'a PostKernels<A>, (PostParams, Option<Glare>), &'a PostLane<A>);

impl<A: Api> Gpu<A> {
    /// Uploads a scene to a GPU. If memory is short, fewer tasks are in flight, then bands are smaller, then post
    /// steps run on the host.
    pub fn open(gpu: &GpuInfo, scene: Arc<DeviceScene>, needs: DeviceNeeds) -> Result<Gpu<A>, DeviceError> {
        let context = A::Context::open(gpu.ordinal)?;
        let mut builders = Builders::default();
        let start = Instant::now();
        let resident = Arc::new(ResidentScene::upload(&scene, None, (&context, &mut builders))?);
        let uploaded = start.elapsed();
        let kernels = Kernels::load(&resident.arrays.constants, &needs, &context)?;
        let post = (needs.yuv || needs.post.is_some()).then(|| PostKernels::load(&context)).transpose()?;
        let is_guided = needs.post.as_ref().is_some_and(|post| post.is_guided());
        let denoiser = is_guided.then(|| DenoiseKernels::load(&context)).transpose()?;
        let compute = [context.stream()?, context.stream()?];
        let memory = Slots::new(scene.size(), &needs, compute.len(), &context)?;
        let (tasks_in_flight, runs_post) = (memory.free.len(), !memory.lanes.is_empty());
        Ok(Gpu {
            info: DeviceInfo { name: gpu.label(), tasks_in_flight, is_cpu: false, runs_post },
            kernels,
            post,
            denoiser,
            builders,
            compute,
            copy: context.stream()?,
            last_traced: None,
            scene,
            resident,
            uploaded,
            recent: VecDeque::new(),
            memory,
            in_flight: VecDeque::new(),
            watched: Arc::default(),
            needs,
            submitted: 0,
            fault: None,
            context,
        })
    }

    // Uploads the scenes of some moments, and loads the kernels that cover all of them. If one of the scenes suits no grid, all get their
    // trees, and so do later ones: kernels for both would be compiled again and again.
    fn upload(&mut self, moments: &[Moment]) -> Result<Vec<ResidentMoment<A>>, DeviceError> {
        loop {
            self.builders.only_trees = !self.kernels.are_for_grids();
            let all = self.upload_scenes(moments)?;
            let features = all.iter().fold(0, |all, moment| all | moment.scene.arrays.constants.features);
            let constants = Constants { features, ..self.resident.arrays.constants };
            if !self.kernels.suit(&constants) {
                // Features that come and go in a clip are compiled once together.
                let constants = Constants { features: features | self.kernels.compiled_for(), ..constants };
                // This unloads kernels that may be in use.
                self.context.synchronize()?;
                self.kernels = Kernels::load(&constants, &self.needs, &self.context)?;
            }
            if self.kernels.are_for_grids() || all.iter().all(|moment| !moment.scene.is_bare()) {
                return Ok(all);
            }
        }
    }

    // Uploads the scenes of some moments.
    fn upload_scenes(&mut self, moments: &[Moment]) -> Result<Vec<ResidentMoment<A>>, DeviceError> {
        let mut all = Vec::with_capacity(moments.len());
        let only_trees = self.builders.only_trees;
        self.recent.retain(|(_, resident)| !(only_trees && resident.is_bare()));
        for Moment { scene, camera, pixels, .. } in moments {
            if !Arc::ptr_eq(scene, &self.scene) || only_trees && self.resident.is_bare() {
                let (old, to) = ((&*self.scene, &*self.resident), (&self.context, &mut self.builders));
                let known = self.recent.iter().find(|(known, _)| Arc::ptr_eq(known, scene));
                self.resident = match known {
                    Some((_, resident)) => Arc::clone(resident),
                    None => Arc::new(ResidentScene::upload(scene, Some(old), to)?),
                };
                self.scene = Arc::clone(scene);
            }
            if !self.recent.iter().any(|(known, _)| Arc::ptr_eq(known, scene)) {
                self.recent.push_back((Arc::clone(scene), Arc::clone(&self.resident)));
            }
            all.push(Moment { scene: Arc::clone(&self.resident), camera: *camera, pixels: *pixels, view: None });
        }
        let surplus = self.recent.len().saturating_sub(moments.len());
        self.recent.drain(..surplus);
        Ok(all)
    }

    fn watch_oldest(&self) {
        let oldest = self.in_flight.front().and_then(|task| task.working.clone());
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = oldest;
    }

    // The progress record of a task that traces this many pictures. Adaptive sampling counts only the pilot samples.
    fn working(&self, task: &Task, pictures: usize, counts: &Arc<A::Memory>) -> Option<Arc<Working<A>>> {
        let (width, height) = self.scene.size();
        let rows = task.rows.start..task.rows.end.min(height);
        let launch = task.launch();
        let samples = if launch.min_samples > 0 { launch.min_samples } else { launch.samples_per_pixel };
        let band_rows = self.band_rows(task);
        let band = rows.start..rows.end.min(rows.start + band_rows);
        let (first, end) = self.pixels_of(&band, 1);
        let working = Working {
            counts: Arc::clone(counts),
            samples: u64::from(samples.unsigned_abs()) * u64::from(width) * rows.len() as u64,
            bands: (pictures * rows.len().div_ceil(band_rows as usize)) as u64,
            pixels: u64::from((end - first).unsigned_abs()),
        };
        (task.output != TaskOutput::Features).then(|| Arc::new(working))
    }

    // The stream of the last submitted task. Neighbor frames follow one another.
    fn stream(&self) -> &A::Stream {
        let streams = if self.denoiser.is_some() { 1 } else { self.compute.len() };
        &self.compute[self.submitted as usize % streams]
    }

    // What the task's post steps need, if they run on this device.
    fn post_of(&self, task: &Task) -> Option<FramePost<'_, A>> {
        let (lanes, (width, height)) = (&self.memory.lanes, self.scene.size());
        let (kernels, post) = self.post.as_ref().zip(self.needs.post.as_ref())?;
        let post = post.of_frame(task.frame);
        let params = (post.params(width, height)?, post.glare());
        let lane = lanes.get(self.submitted as usize % self.compute.len().min(lanes.len()).max(1))?;
        (task.output == TaskOutput::Picture).then_some((kernels, params, lane))
    }

    // The number of rows that a task renders at once.
    fn band_rows(&self, task: &Task) -> u32 {
        if task.output == TaskOutput::Picture { self.memory.band } else { self.memory.host_band }
    }

    // Starts a task on a slot: kernels on one stream, and copies on another that waits for them, band by band.
    // Returns the number of threads that its rays are distributed over.
    fn start(
        &self,
        slot: &Slot<A>,
        task: &Task,
        moments: &[ResidentMoment<A>],
        out: &mut FilmSlice,
    ) -> Result<u64, DeviceError> {
        let Slot { counts, pixels, events: [before, .., done], .. } = slot;
        let compute = self.stream();
        let (width, height) = self.scene.size();
        let rows = task.rows.start..task.rows.end.min(height);
        let is_whole = rows == (0..height);
        let planes = slot.planes.as_ref().filter(|_| task.output == TaskOutput::Picture && is_whole);
        self.pin(task, out, planes.is_some())?;
        let post = self.post_of(task);
        let post = post.as_ref();
        if post.is_some() && !is_whole {
            return Err(DeviceError::Failed("post steps need a whole picture".into()));
        }
        let adds_up = task.output == TaskOutput::Sums || post.is_some();
        if moments.is_empty() || moments.len() > 1 && !adds_up {
            return Err(DeviceError::Failed("only sums are added up".into()));
        }
        compute.fill(counts, 0, BAND_AT + 1, 0)?;
        compute.record(before)?;
        let (band_rows, mut launches, mut threads) = (self.band_rows(task), 0, 0);
        for top in rows.clone().step_by(band_rows as usize) {
            let band = top..(top + band_rows).min(rows.end);
            let to = post.map_or(pixels, |(.., lane)| &lane.sums);
            let output = if post.is_some() { TaskOutput::Sums } else { task.output };
            let as_sums = Task { output, ..task.clone() };
            if post.is_none() && top > rows.start {
                // The copies of the band before must be done.
                compute.wait_for(done)?;
            }
            threads = self.trace_moments(&as_sums, moments, &band, slot, (to, &mut launches))?;
            let Some((kernels, (params, _), lane)) = post else {
                self.leave(task, band, out, slot, planes)?;
                continue;
            };
            let sums_bytes = TaskOutput::Sums.bytes_a_pixel() * width as usize * band.len();
            let samples = (as_sums.leaves_counts().then_some(sums_bytes), task.launch().samples_per_pixel);
            kernels.resolve(compute, lane, params, (width, height), band, samples)?;
        }
        if let Some((kernels, (params, glare), lane)) = post {
            let steps = (params, glare.as_ref());
            kernels.finish(compute, &moments[0].scene.arrays, steps, task.frame, lane, pixels)?;
            self.leave(task, rows, out, slot, planes)?;
        }
        Ok(threads)
    }

    // Traces some rows of all moments that the task has samples of, and adds them up in `to`. `launches` counts those of the task: each
    // has empty queues. Returns the number of threads.
    fn trace_moments(
        &self,
        task: &Task,
        moments: &[ResidentMoment<A>],
        band: &Range<u32>,
        slot: &Slot<A>,
        (to, launches): (&A::Memory, &mut u32),
    ) -> Result<u64, DeviceError> {
        let (compute, mut threads) = (self.stream(), 0);
        for (moment, part, adds) in task.at_moments(moments) {
            if *launches > 0 {
                compute.fill(&slot.counts, COUNT_BYTES, QUEUES * QUEUE_BYTES, 0)?;
                compute.fill(&slot.counts, BAND_AT, 1, (*launches).min(u32::from(u8::MAX)) as u8)?;
            }
            *launches += 1;
            threads = self.trace_band(&part, moment, band.clone(), slot, (to, adds))?;
        }
        Ok(threads)
    }

    // Copies a finished band to host memory, and the planes of a picture too.
    fn leave(
        &self,
        task: &Task,
        band: Range<u32>,
        out: &mut FilmSlice,
        slot: &Slot<A>,
        planes: Option<&A::Memory>,
    ) -> Result<(), DeviceError> {
        let Slot { pixels, events: [_, traced, copying, done], .. } = slot;
        let (width, height) = self.scene.size();
        let (rows, above) = (task.rows.start..task.rows.end.min(height), (band.start - task.rows.start) as usize);
        if let Some(planes) = planes {
            let not_ready = || DeviceError::Failed("the device was not made ready for a video's planes".into());
            let kernels = self.post.as_ref().ok_or_else(not_ready)?;
            kernels.convert(self.stream(), pixels, (width, band.len() as u32), planes)?;
        }
        self.stream().record(traced)?;
        self.copy.wait_for(traced)?;
        if above == 0 {
            self.copy.record(copying)?;
        }
        let row_bytes = task.output.bytes_a_pixel() * width as usize;
        if let Memory::Pinned(to) = &mut out.pixels {
            self.copy_out(to.bytes_mut(), row_bytes * above, pixels, 0, row_bytes * band.len())?;
            if task.leaves_counts() {
                let count_bytes = size_of::<u32>() * width as usize;
                let at = row_bytes * rows.len() + count_bytes * above;
                self.copy_out(to.bytes_mut(), at, pixels, row_bytes * band.len(), count_bytes * band.len())?;
            }
        }
        if let (Some(planes), Memory::Pinned(to)) = (planes, &mut out.planes) {
            let (whole, part) = (Planes::of(width, height), Planes::of(width, band.len() as u32));
            // Chroma has half the rows and half the columns.
            let above = [1, 4, 4].map(|ratio| band.start as usize * whole.wide / ratio);
            for ((to_plane, from), above) in whole.parts().into_iter().zip(part.parts()).zip(above) {
                self.copy_out(to.bytes_mut(), to_plane.start + above, planes, from.start, from.len())?;
            }
        }
        self.copy.record(done)
    }

    // Copies to `to[at ..]`, which belongs to a task in flight.
    fn copy_out(
        &self,
        to: &mut [u8],
        at: usize,
        from: &A::Memory,
        offset: usize,
        len: usize,
    ) -> Result<(), DeviceError> {
        // SAFETY: the bytes are those of the task's slot or of its slice of the film, which stay until it has been waited
        // for, or, after a failure, until the context has been synchronized.
        unsafe { self.copy.copy(&mut to[at..at + len], from, offset) }
    }

    // Traces some rows into the start of `pixels`, or adds their sums to it. Returns the number of threads. The queues
    // must be zero.
    fn trace_band(
        &self,
        task: &Task,
        Moment { scene: resident, camera, .. }: &ResidentMoment<A>,
        rows: Range<u32>,
        Slot { trial, counts, .. }: &Slot<A>,
        (pixels, adds): (&A::Memory, bool),
    ) -> Result<u64, DeviceError> {
        let launch = task.launch();
        let mut film = task.output.film(pixels.address(0) as *mut u8, rows.start);
        film.adds = i32::from(adds);
        let here = self.pixels_of(&rows, task.pixels.block);
        // As many blocks as the GPU holds at once take work from a queue until it is empty; less work needs fewer
        // blocks. Each round of adaptive sampling has its own queue.
        let start = |kernel: A::Function, film: &FilmBuffers, (first, end): (i32, i32), round: usize, threads: u64| {
            let each = kernel.threads();
            let blocks = threads.div_ceil(u64::from(each)).clamp(1, u64::from(kernel.resident_blocks())) as u32;
            let (queue, counters) = (counts.address(COUNT_BYTES + QUEUE_BYTES * round), counts.address(0));
            let scene = resident.argument(self.kernels.take_small()).with(camera).with(&launch);
            let mut arguments = scene.with(film).with(&first).with(&end).with(&queue).with(&counters);
            // SAFETY: POLYFLY_SCENE and POLYFLY_WORK in kernels/entry/gpu.cuh, in this order; the scene and what the film
            // and `counts` point to live until the task has been waited for.
            unsafe { self.stream().launch(kernel, (blocks, 1), (each, 1), &mut arguments) }
        };
        let kernels = match self.kernels.of(task.output)? {
            Trace::Adaptive(kernels) => kernels,
            &Trace::One(kernel) => {
                let lanes = if task.output == TaskOutput::Features { 1 } else { launch.samples_per_pixel };
                start(kernel, &film, here, 0, threads_of(here, lanes))?;
                return Ok(kernel.resident_threads());
            }
        };
        let trial = trial.as_ref().filter(|_| launch.min_samples > 0);
        let trial =
            trial.ok_or_else(|| DeviceError::Failed("the device was made ready for adaptive sampling".into()))?;
        let (width, height) = self.scene.size();
        let around = Task { rows: rows.clone(), ..task.clone() }.trial_rows(height);
        let sums_bytes = TaskOutput::Sums.bytes_a_pixel();
        let pixels_around = width as usize * around.len();
        film.pilot_sums = trial.address(0) as *mut i64;
        film.pilot = trial.address(sums_bytes * pixels_around) as *mut u32;
        film.pilot_row = around.start.cast_signed();
        let nowhere = FilmBuffers { rgba: std::ptr::null_mut(), sums: std::ptr::null_mut(), ..film };
        if task.output == TaskOutput::Sums {
            film.taken = pixels.address(sums_bytes * width as usize * rows.len()) as *mut u32;
        }
        let [after_pilot, after_round] = kernels.updates;
        let around = self.pixels_of(&around, 1);
        start(kernels.pilot, &nowhere, around, 0, threads_of(around, launch.min_samples))?;
        // Two lists alternate.
        let list_bytes = LISTED_BYTES * pixels_around;
        let list =
            |round: usize| trial.address(TRIAL_BYTES * pixels_around + round % 2 * list_bytes) as *mut ActivePixel;
        film.next_active = list(1);
        let each = threads_of(here, 1);
        start(after_pilot, &film, here, 0, each)?;
        let (mut round, mut taken) = (1, launch.min_samples);
        while taken < launch.samples_per_pixel {
            (film.active_pixels, film.next_active) = (list(round), list(round + 1));
            start(kernels.trace_active, &film, (taken, 0), round, u64::MAX)?;
            start(after_round, &film, (taken, 0), round, each)?;
            taken += taken.min(launch.samples_per_pixel - taken);
            round += 1;
        }
        Ok(kernels.pilot.resident_threads())
    }

    // The range of the rows' pixels, one of each block, in the kernels' order (kernels/drivers/depth_first.cuh, pixel_at).
    fn pixels_of(&self, rows: &Range<u32>, block: u32) -> (i32, i32) {
        let (tiles, side) = (self.scene.size().0.div_ceil(block).div_ceil(8), 8 * block);
        ((tiles * (rows.start / side) * 64).cast_signed(), (tiles * rows.end.div_ceil(side) * 64).cast_signed())
    }

    // Gives a slice page-locked memory of the right size, if it has none.
    fn pin(&self, task: &Task, out: &mut FilmSlice, planes: bool) -> Result<(), DeviceError> {
        let (width, height) = self.scene.size();
        let ensure = |memory: &mut Memory, wanted: bool, len: usize| {
            if !wanted {
                *memory = Memory::default();
            } else if !matches!(memory, Memory::Pinned(p) if p.bytes().len() == len) {
                *memory = Memory::Pinned(Box::new(self.context.pinned(len)?));
            }
            Ok::<(), DeviceError>(())
        };
        let rows = task.rows.end.min(height) - task.rows.start;
        let pixels = task.bytes_a_pixel() * width as usize * rows as usize;
        // For a finished picture, only the planes may be needed.
        let wanted = self.needs.rgba || task.output != TaskOutput::Picture || !planes;
        ensure(&mut out.pixels, wanted, pixels)?;
        ensure(&mut out.planes, planes, Planes::of(width, height).bytes())
    }

    // Waits for a slot's task. Its kernel time starts when the kernels of the task before ended, if they overlap.
    fn finish(&mut self, slot: &mut Slot<A>) -> Result<TaskStats, DeviceError> {
        let Slot { events: [before, traced, copying, done], host_counts, threads, .. } = slot;
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
            None => self.last_traced = Some(std::mem::replace(traced, self.context.event()?)),
        }
        Ok(read_counts(host_counts.bytes(), kernel, kernel + copy, *threads))
    }
}

// The number of threads that these pixels keep busy, with this many lanes per pixel.
fn threads_of((first, end): (i32, i32), lanes: i32) -> u64 {
    u64::from((end - first).unsigned_abs()) * u64::from(lanes.unsigned_abs())
}

// Adds up the counters of `threads` threads.
fn read_counts(bytes: &[u8], kernel: Duration, time: Duration, threads: u64) -> TaskStats {
    let counts = || bytes.chunks_exact(size_of::<Counts>()).map(bytemuck::pod_read_unaligned::<Counts>);
    let (rays, busiest) = (counts().map(|c| c.rays).sum::<u64>(), counts().map(|c| c.busiest).max().unwrap_or(0));
    let balance = if busiest == 0 { 0.0 } else { rays as f64 / threads as f64 / busiest as f64 };
    TaskStats { time, kernel, rays, shadow_rays: counts().map(|c| c.shadow_rays).sum(), balance }
}

impl<A: Api> Drop for Gpu<A> {
    fn drop(&mut self) {
        // Memory must not be freed while a kernel uses it.
        let _ = self.context.synchronize();
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl<A: Api> Device for Gpu<A> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn begin_run(&mut self, _cancel: &Cancel) {
        let lanes = self.memory.lanes.iter_mut();
        lanes.filter_map(|lane| lane.denoise.as_mut()).for_each(DenoiseLane::forget);
    }

    fn submit(&mut self, task: &Task, moments: &[Moment], mut out: FilmSlice) -> Result<Ticket, DeviceError> {
        self.context.enter()?;
        self.submitted += 1;
        let frames = task.guided.as_ref().map(|guided| self.find_frames(task, guided, moments)).transpose()?;
        let moments = if frames.is_none() { self.upload(moments)? } else { Vec::new() };
        if self.fault.is_some_and(|n| self.submitted >= n) {
            return Err(DeviceError::Failed("the failure that POLYFLY_FAULT asked for".into()));
        }
        let Some(mut slot) = self.memory.free.pop() else {
            return Err(DeviceError::Failed("more tasks were submitted than fit the device".into()));
        };
        let started = match (&task.guided, &frames) {
            (Some(guided), Some(frames)) => self.start_denoised(&slot, (task, guided), frames, &mut out),
            _ => self.start(&slot, task, &moments, &mut out),
        };
        let started = started.and_then(|threads| {
            slot.threads = threads;
            // SAFETY: as in copy_out.
            unsafe { self.copy.copy(slot.host_counts.bytes_mut(), &slot.counts, 0)? };
            self.copy.record(&slot.events[3])
        });
        if let Err(e) = started {
            // The GPU may still write to this memory, so wait before it is returned.
            let _ = self.context.synchronize();
            return Err(e);
        }
        let halves = task.guided.as_ref().map_or(1, |guided| guided.halves.len());
        let all = frames.iter().flat_map(|all| &all.missing).flat_map(|one| &one.moments).chain(&moments);
        let mut residents: Vec<_> = all.map(|moment| Arc::clone(&moment.scene)).collect();
        let working = self.working(task, halves * residents.len(), &slot.counts);
        residents.extend(frames.as_ref().map(|all| Arc::clone(&all.scene)));
        let motions = frames.into_iter().flat_map(|all| all.others).map(|(.., motions)| motions).collect();
        let ticket = Ticket(self.submitted);
        let in_flight = InFlight { ticket, slot, out, _residents: residents, _motions: motions, working };
        self.in_flight.push_back(in_flight);
        if self.in_flight.len() == 1 {
            self.watch_oldest();
        }
        Ok(ticket)
    }

    fn wait(&mut self, ticket: Ticket) -> Result<(TaskStats, FilmSlice), DeviceError> {
        self.context.enter()?;
        let Some(mut oldest) = self.in_flight.pop_front().filter(|f| f.ticket == ticket) else {
            return Err(DeviceError::Failed(format!("task {} is not the oldest in flight", ticket.0)));
        };
        let result = self.finish(&mut oldest.slot);
        if result.is_err() {
            let _ = self.context.synchronize();
        }
        self.memory.free.push(oldest.slot);
        self.watch_oldest();
        result.map(|stats| (stats, oldest.out))
    }
}

impl<A: Api> GpuDevice for Gpu<A> {
    fn count_samples(&self, counter: &SampleCounter) {
        probe::poll(counter, &self.watched, &self.context);
    }

    fn inject_fault(&mut self, task: u64) {
        self.fault = Some(task);
    }

    fn kernel_scene(&self) -> KernelScene {
        let ResidentScene { arrays, small, .. } = &*self.resident;
        let (kind, features) = (self.kernels.kind(), self.kernels.compiled_for());
        let small = small.filter(|_| self.kernels.take_small());
        KernelScene { kind, features, arrays: *arrays, small, uploaded: self.uploaded }
    }
}
