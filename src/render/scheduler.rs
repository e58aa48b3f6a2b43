//! The scheduler. It opens frames in order, splits them into tasks, leases tasks to free devices, and assembles the
//! results.
//!
//! A thread drives each device ([`FrameQueue::run`]): it takes leases, submits their tasks, and completes them. If scenes are animated, one more
//! prepares frames (`opening`); with GPUs whose light becomes pictures on the host, a few finish them (`finishing`).
//!
//! When a device returns an error, or panics, its thread ends. This drops the leases of the tasks that the device had, and a dropped lease
//! puts its task back into the queue, in front. The device's chunks (frames in a row that only it took, see `neighbors`) are free for others. The
//! frames of these tasks are still open, and no other device's thread ends before all frames are closed, so one of them takes the tasks. If no
//! device is left, frames are missing, and the run fails with the reason of each device (`delivery`). A device that never answers is not noticed
//! here: its thread waits.
//!
//! What is done for all devices (preparing a frame, adding a result, finishing a frame) may fail or panic too. No device is at fault, and the next
//! frame would fare no better, so that ends the run with the reason.
//!
//! Pictures come from a fixed pool, so memory does not grow with the run. A frame takes its picture when it is opened, and frames are opened in
//! order (`opening`), so the earliest unfinished frame always has one. Frames whose tasks are done are finished (`finishing`): another
//! round, or the picture.

mod finishing;
mod opening;

use super::frames::WantedFrames;
use super::handover::Delivery;
use super::neighbors::Chunks;
use super::open_frame::{OpenFrame, RunContext};
use super::plan::FramePart;
use super::stage::Stage;
use crate::device::{Device, DeviceError, DeviceInfo, DeviceStats, FilmSlice, Moment, TaskStats};
use crate::error::Error;
use crate::threads::{self, Busy, NoThread, lock, panic_message};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The queue that devices take tasks from.
pub struct FrameQueue<'a> {
    work: &'a RunContext<'a>,
    delivery: &'a Delivery,
    state: Mutex<State<'a>>,
    // The channel of frames whose light is complete, for finisher threads. Without such threads, the thread that
    // drives a device finishes them.
    finishing: (Sender<Option<OpenFrame>>, Receiver<Option<OpenFrame>>),
    finisher_threads: usize,
    stage: Stage,
}

struct State<'a> {
    frames: WantedFrames<'a>,
    // Animated frames that can be opened.
    prepared: VecDeque<Prepared>,
    open: Vec<OpenFrame>,
    ready: VecDeque<Ready>,
    // The number of tasks that devices have, and of frames that are being finished. Both may bring tasks back.
    out: usize,
    // Which device renders which frames, where a picture needs the frames around it.
    chunks: Chunks,
    // Memory for tasks.
    spare: Vec<FilmSlice>,
    // No more frames are opened.
    ended: bool,
    // Why the run ended early if no device is at fault: work on frames failed, or threads were not started.
    failure: Option<Error>,
}

// A frame that can be opened: its moments are there.
struct Prepared {
    // The position among the rendered frames.
    index: usize,
    // In the clip.
    number: u32,
    moments: Vec<Moment>,
}

// A task that waits for a device.
#[derive(Clone)]
struct Ready {
    index: usize,
    part: FramePart,
}

// A device's hold on a task. `complete` takes the task out of it. A lease that is dropped with its task puts it back into the queue.
struct FrameLease<'q, 'a> {
    queue: &'q FrameQueue<'a>,
    // There until `complete` takes it.
    ready: Option<Ready>,
    moments: Vec<Moment>,
}

impl Drop for FrameLease<'_, '_> {
    fn drop(&mut self) {
        if let Some(ready) = self.ready.take() {
            let mut state = self.queue.lock();
            state.out -= 1;
            state.ready.push_front(ready);
            drop(state);
            self.queue.notify();
        }
    }
}

impl<'a> FrameQueue<'a> {
    /// A queue of the work's frames. `finishers` is the number of finisher threads; with 0, device threads finish
    /// frames. `spare` is memory for tasks.
    pub fn new(
        work: &'a RunContext<'a>,
        delivery: &'a Delivery,
        finishers: usize,
        spare: Vec<FilmSlice>,
    ) -> FrameQueue<'a> {
        let state = State {
            frames: WantedFrames::new(work.frames, work.already),
            prepared: VecDeque::new(),
            open: Vec::new(),
            ready: VecDeque::new(),
            out: 0,
            chunks: Chunks::new(work.plan.tasks.chunk),
            spare,
            ended: false,
            failure: None,
        };
        let (state, finishing) = (Mutex::new(state), bounded(finishers));
        let stage = Stage::new(work.plan.finish.window);
        FrameQueue { work, delivery, state, finishing, finisher_threads: finishers, stage }
    }

    /// Runs the devices until no task is left. Returns the statistics of each device, the errors of those that
    /// failed, and why the run ended early if no device is at fault.
    pub fn run(&self, devices: &mut [Box<dyn Device>]) -> (Vec<DeviceStats>, Vec<DeviceError>, Option<Error>) {
        let mut failures = Vec::new();
        devices.iter_mut().for_each(|device| device.begin_run(self.work.cancel));
        let stats = std::thread::scope(|scope| {
            let preparers = threads::reserve(scope, "prepare", usize::from(self.is_animated()))?;
            let finishers = threads::reserve(scope, "finish", self.finisher_threads)?;
            let drivers = threads::reserve(scope, "drive", devices.len())?;
            let preparing: Vec<_> = preparers.into_iter().map(|one| one.run(|| self.prepare())).collect();
            let finishing: Vec<_> = finishers.into_iter().map(|one| one.run(|| self.finish_all())).collect();
            let driven = drivers.into_iter().zip(devices.iter_mut().enumerate());
            let driving: Vec<_> =
                driven.map(|(one, (id, device))| one.run(move || self.drive(id, device.as_mut()))).collect();
            let mut stats = Vec::new();
            for driver in driving {
                let (did, failure) = driver.join();
                stats.push(did);
                failures.extend(failure);
            }
            // No device is left to open frames.
            self.lock().ended = true;
            self.notify();
            preparing.into_iter().for_each(Busy::join);
            // One end marker for each finisher thread; any thread may take any of them.
            finishing.iter().for_each(|_| drop(self.finishing.0.send(None)));
            finishing.into_iter().for_each(Busy::join);
            Ok::<_, NoThread>(stats)
        });
        let stats = stats.unwrap_or_else(|e| {
            self.lock().failure = Some(DeviceError::from(e).into());
            Vec::new()
        });
        let failure = self.lock().failure.take();
        (stats, failures, failure)
    }

    // Drives one device. It keeps as many tasks in flight as the device supports, until none is left or it fails.
    fn drive(&self, id: usize, device: &mut dyn Device) -> (DeviceStats, Option<DeviceError>) {
        let name = device.info().name.clone();
        let mut stats = DeviceStats { device: name.clone(), ..DeviceStats::default() };
        let result = catch_unwind(AssertUnwindSafe(|| self.work_through(id, device, &mut stats)));
        let failure = match result {
            Ok(result) => result.err(),
            Err(panic) => Some(DeviceError::Panicked(name, panic_message(&*panic))),
        };
        if failure.is_some() {
            // Leases are dropped, so the device's tasks are back in the queue.
            self.lock().chunks.release(id);
            self.notify();
        }
        (stats, failure)
    }

    fn work_through(&self, id: usize, device: &mut dyn Device, stats: &mut DeviceStats) -> Result<(), DeviceError> {
        let mut in_flight = VecDeque::new();
        // Where GPUs join bands, each has two tasks in flight, so that the others have some too.
        let most = if self.work.plan.tasks.bands_at_once > 1 { 2 } else { usize::MAX };
        let most = device.info().tasks_in_flight.clamp(1, most);
        loop {
            // Wait for a task only if none is in flight.
            while in_flight.len() < most {
                let Some(lease) = self.take((id, device.info()), in_flight.is_empty()) else { break };
                let Some(ready) = &lease.ready else { continue };
                let slice = self.slice(ready);
                let ticket = device.submit(&ready.part.task, &lease.moments, slice)?;
                in_flight.push_back((ticket, lease));
            }
            let Some((ticket, lease)) = in_flight.pop_front() else { return Ok(()) };
            let (done, slice) = device.wait(ticket)?;
            stats.add(&done);
            // A CPU counts while it traces.
            if let Some(ready) = lease.ready.as_ref().filter(|_| !device.info().is_cpu) {
                self.count(&ready.part);
            }
            self.complete(lease, slice, &done);
        }
    }

    // Counts the samples of a part that is done.
    fn count(&self, part: &FramePart) {
        if part.kind.counts() {
            let samples = u64::from(part.task.launch().samples_per_pixel.cast_unsigned());
            let pixels = part.task.rows.len() as u64 * u64::from(self.work.prepared.first.size().0);
            self.work.meter.add(samples * pixels);
        }
    }

    // Takes the next task for a device. None if there will be no more tasks, or, without `wait`, if there is none now. Opens frames if none is
    // ready, and drops all of an abandoned run.
    fn take(&self, (id, device): (usize, &DeviceInfo), wait: bool) -> Option<FrameLease<'_, 'a>> {
        let next = |state: &State| state.chunks.pick(id, state.ready.iter().map(|ready| ready.index));
        let mut state = self.lock();
        loop {
            let changes = self.work.cancel.changes();
            state.ended |= self.is_stopped();
            if self.work.cancel.is_abandoned() {
                state.ended = true;
                state.ready.clear();
                state.open.clear();
                state.prepared.clear();
            }
            // What is opened may lie in another device's chunk.
            while next(&state).is_none() && !state.ended && self.open_next(&mut state) {}
            if let Some(ready) = next(&state).and_then(|at| self.take_bands(&mut state, at, device)) {
                let Some(open) = state.open.iter().find(|o| o.index == ready.index) else { continue };
                let moments = open.moments_of(&ready.part).to_vec();
                state.out += 1;
                state.chunks.claim(id, ready.index);
                return Some(FrameLease { queue: self, ready: Some(ready), moments });
            }
            // Tasks may still come back: from a device that fails, or from a frame that begins another round.
            let over = state.ended && state.out == 0 && state.open.is_empty();
            if over || !wait {
                return None;
            }
            state = self.wait(state, changes);
        }
    }

    // Takes a task. For a GPU it joins the bands below into it, up to as many as a GPU renders at once: the bands of a frame stand side by side
    // in the queue, from top to bottom.
    fn take_bands(&self, state: &mut State<'a>, at: usize, device: &DeviceInfo) -> Option<Ready> {
        let mut ready = state.ready.remove(at)?;
        let most = if device.is_cpu { 1 } else { self.work.plan.tasks.bands_at_once };
        let below = |ready: &Ready, next: &Ready| {
            let (task, other) = (&ready.part.task, &next.part.task);
            let is_next =
                next.index == ready.index && next.part.kind == ready.part.kind && task.samples == other.samples;
            is_next && task.rows.end == other.rows.start
        };
        while ready.part.bands < most
            && let Some(next) = state.ready.get(at).filter(|next| below(&ready, next)).cloned()
        {
            state.ready.remove(at);
            ready.part.task.rows.end = next.part.task.rows.end;
            ready.part.bands += next.part.bands;
        }
        Some(ready)
    }

    // Completes a task. After the last one of a frame, the frame is finished.
    fn complete(&self, mut lease: FrameLease, slice: FilmSlice, stats: &TaskStats) {
        let Some(ready) = lease.ready.take() else { return };
        match self.noting_failure(|| Ok(self.add_result(&ready, slice, stats))) {
            Some(Some(open)) if self.finisher_threads == 0 => self.finish(open),
            // The receiver lives as long as the sender, so this cannot fail.
            Some(Some(open)) => drop(self.finishing.0.send(Some(open))),
            Some(None) => {}
            None => {
                // The task is lost, and so is its frame.
                let mut state = self.lock();
                state.ended = true;
                state.open.retain(|open| open.index != ready.index);
                state.ready.retain(|other| other.index != ready.index);
            }
        }
        self.notify();
    }

    // Does work for all devices. If it fails, or panics, the run has the reason, and the caller ends it.
    fn noting_failure<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(work));
        let result = result.unwrap_or_else(|panic| Err(DeviceError::Broken(panic_message(&*panic)).into()));
        result.map_err(|e| self.lock().failure = Some(e)).ok()
    }

    // Adds the result of a task to its frame. Returns the frame if that was the last one.
    fn add_result(&self, ready: &Ready, slice: FilmSlice, stats: &TaskStats) -> Option<OpenFrame> {
        let mut state = self.lock();
        state.out -= 1;
        // In an abandoned run a task may be incomplete: no frame is delivered any more.
        if self.work.cancel.is_abandoned() {
            state.open.clear();
        }
        let is_open = |open: &OpenFrame| open.index == ready.index;
        let light = state.open.iter().find(|open| is_open(open)).and_then(|open| open.light_of(self.work, &ready.part));
        if let Some(light) = light {
            // That takes long. The frame stays open, because this task is still missing.
            drop(state);
            light.add(self.work, &ready.part, &slice);
            state = self.lock();
        }
        let at = state.open.iter().position(is_open)?;
        let spare = state.open[at].add(self.work, &ready.part, slice, stats);
        state.spare.extend(spare);
        if !state.open[at].is_complete() {
            return None;
        }
        // The frame counts as work until it is delivered or has new tasks.
        state.out += 1;
        Some(state.open.swap_remove(at))
    }

    // Memory for a task: the frame's own if it makes the whole picture, else spare memory of the task's size. It is empty where there is none
    // (a device that failed has lost it); devices make it as large as they need.
    fn slice(&self, Ready { index, part }: &Ready) -> FilmSlice {
        let mut state = self.lock();
        if self.work.plan.tasks.is_whole()
            && let Some(open) = state.open.iter_mut().find(|open| open.index == *index)
        {
            return std::mem::take(&mut open.picture);
        }
        let width = self.work.prepared.first.size().0 as usize;
        let bytes = part.task.bytes_a_pixel() * width * part.task.rows.len();
        let of_size = state.spare.iter().position(|slice| slice.pixels.bytes().len() == bytes);
        of_size.map(|at| state.spare.swap_remove(at)).unwrap_or_default()
    }

    // Opens a frame, or opens it again for another round, with its parts.
    fn add_parts(&self, state: &mut State<'a>, open: OpenFrame, parts: Vec<FramePart>) {
        let index = open.index;
        state.ready.extend(parts.into_iter().map(|part| Ready { index, part }));
        state.open.push(open);
        self.notify();
    }

    /// The memory that was used for tasks.
    pub fn into_spare(self) -> Vec<FilmSlice> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).spare
    }

    /// The number of frames that existed already.
    pub fn skipped(&self) -> usize {
        self.lock().frames.skipped
    }

    // Whether no more frames are to be opened.
    fn is_stopped(&self) -> bool {
        self.work.cancel.is_stopped() || self.delivery.has_failed()
    }

    // Whether frames differ in more than the camera, so that another thread prepares them.
    fn is_animated(&self) -> bool {
        self.work.prepared.scene.is_animated()
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        lock(&self.state)
    }

    // The state has changed: wakes the threads that wait. They wait for the run's `Cancel`, so that a request to stop wakes them too.
    fn notify(&self) {
        self.work.cancel.wake();
    }

    // Waits for a change since `changes` was read: of the state, of memory for pictures, or a request to stop.
    fn wait<'s>(&'s self, state: MutexGuard<'s, State<'a>>, changes: u64) -> MutexGuard<'s, State<'a>> {
        drop(state);
        self.work.cancel.wait(changes);
        self.lock()
    }

    // Waits until the condition holds, or the run is to end.
    fn wait_until(&self, holds: impl Fn(&State<'a>) -> bool) -> MutexGuard<'_, State<'a>> {
        let mut state = self.lock();
        loop {
            let changes = self.work.cancel.changes();
            state.ended |= self.is_stopped();
            if holds(&state) || state.ended {
                return state;
            }
            state = self.wait(state, changes);
        }
    }
}
