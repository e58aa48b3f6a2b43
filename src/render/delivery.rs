//! Passes rendered frames to sinks in bounded, ordered stages that work while the next frames render.
//!
//! ```text
//! devices --CompletedFrame--> Delivery, which puts them in order
//!      --> a thread for each sink, and a few more for one that has clones  --Event--> Dispatcher, in frame order --> Progress
//! ```

use super::handover::{CompletedFrame, Delivery, Event, FrameHandle, RunMemory};
use super::open_frame::RunContext;
use super::scheduler::FrameQueue;
use super::stats::{FrameReport, FrameStats, Progress, RunReport, StageTimes, ms};
use crate::cancel::Cancel;
use crate::device::{Device, DeviceError, TaskOutput};
use crate::error::Error;
use crate::kernels::Isa;
use crate::language::msg;
use crate::output::{Outcome, OutputError, PixelFormats, RenderedFrame, Sink};
use crate::threads::{self, Busy, Idle};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Scope;
use std::time::Instant;

// Memory for frames that are being written, bytes.
const FRAMES_BYTES: usize = 1 << 30;
// Maximum number of threads that write one sink's files.
const MAX_WRITERS: usize = 16;
// Memory for light whose post steps run on the host, bytes: sums of 24 bytes per pixel, and the results of the steps.
const LIGHT_BYTES: usize = 1 << 28;
const LIGHT_PIXEL: usize = 44;
const MAX_FINISHERS: usize = 4;

// The state of one sink in a run.
struct SinkState {
    // Clones receive frames out of order.
    has_clones: bool,
    is_essential: bool,
    is_alive: bool,
}

/// The number of threads that run post steps on the host while GPUs trace. 0 if devices return finished pictures. A
/// CPU as the only device gains nothing by them, and each holds a frame in memory.
pub fn finisher_threads((width, height): (u32, u32), has_gpu: bool, is_light: bool) -> usize {
    let max = LIGHT_BYTES / (LIGHT_PIXEL * width as usize * height as usize).max(1);
    if has_gpu && is_light { max.clamp(1, MAX_FINISHERS) } else { 0 }
}

/// Bytes per pixel of a frame in flight: 8-bit codes, linear light, layers.
pub fn frame_pixel(needs: PixelFormats) -> usize {
    4 + if needs.linear { 12 } else { 0 } + if needs.layers { 36 } else { 0 }
}

/// The number of threads for each sink that can write files concurrently. With a GPU, the cores are free for them.
/// Each holds a frame, so large frames have fewer.
pub fn writers((width, height): (u32, u32), needs: PixelFormats, has_cpu: bool, cores: usize) -> usize {
    let max = (FRAMES_BYTES / (frame_pixel(needs) * width as usize * height as usize)).max(1);
    if has_cpu { cores.clamp(1, 4) } else { cores.clamp(2, MAX_WRITERS) }.min(max)
}

/// The maximum number of pictures that are rendered or delivered at once.
pub fn pictures(tasks_in_flight: usize, writers: usize, sinks: usize) -> usize {
    tasks_in_flight + 1 + writers + sinks
}

/// Runs the work until its end, a failure, or cancellation. Memory of the previous run is reused and kept for the
/// next one. If a device fails, the others take over its tasks; the run fails only when no device is left.
pub fn run(
    devices: &mut [Box<dyn Device>],
    work: &RunContext,
    sinks: Vec<Box<dyn Sink>>,
    progress: &mut dyn Progress,
    memory: &mut RunMemory,
) -> Result<RunReport, Error> {
    let (events, inbox) = unbounded();
    let (entries, lines): (Vec<_>, Vec<_>) = sinks.iter().map(|_| bounded::<Arc<FrameHandle>>(1)).unzip();
    let (writers, finishers, pictures) = numbers(devices, work, sinks.len());
    let size = work.prepared.first.size();
    let delivery = Delivery::new(size, pictures, &mut memory.pictures, (events.clone(), work.cancel), entries);
    let queue = FrameQueue::new(work, &delivery, finishers, std::mem::take(&mut memory.parts));
    let ending = Ending { cut_short: AtomicBool::new(false), at_work: AtomicUsize::new(0), cancel: work.cancel };
    let dispatcher = Dispatcher::new(&sinks, writers, &delivery);
    work.cancel.set_complete(false);
    let total = work.frames.len();
    let result = std::thread::scope(|scope| {
        let (queue, delivery, ending) = (&queue, &delivery, &ending);
        let sinks: Vec<_> = sinks.into_iter().zip(lines).collect();
        let driver = spawn(scope, sinks, writers, (work.prepared.isa, &events), ending);
        let driving = match driver {
            Some(driver) => Some(driver.run(move || drive(devices, queue, delivery, (events, total), ending))),
            None => {
                delivery.close(|_| ());
                drop(events);
                None
            }
        };
        let result = dispatcher.work(inbox, total, progress);
        driving.into_iter().for_each(Busy::join);
        result
    });
    memory.parts = queue.into_spare();
    memory.pictures = delivery.into_pictures();
    result
}

// The numbers of threads that write files for each sink that can do so concurrently, of finishers, and of pictures.
fn numbers(devices: &[Box<dyn Device>], work: &RunContext, sinks: usize) -> (usize, usize, usize) {
    let (size, plan) = (work.prepared.first.size(), work.plan);
    let (keeps_light, layers) = (plan.finish.keeps_light, plan.finish.layers);
    let needs = PixelFormats { linear: keeps_light, layers, ..PixelFormats::default() };
    let cpus = devices.iter().filter(|d| d.info().is_cpu).count();
    let writers = writers(size, needs, cpus > 0, work.prepared.pool.current_num_threads());
    let finishers = finisher_threads(size, cpus < devices.len(), plan.tasks.output == TaskOutput::Sums);
    let in_flight: usize = devices.iter().map(|d| d.info().tasks_in_flight).sum();
    (writers, finishers, pictures(in_flight, writers, sinks) + plan.finish.waiting_pictures)
}

// How a run ends, as its threads find out.
struct Ending<'a> {
    // A video is partial only if the run ends before its last frame.
    cut_short: AtomicBool,
    // The number of threads that have not finished their sink. A failed one never finishes.
    at_work: AtomicUsize,
    cancel: &'a Cancel,
}

impl Ending<'_> {
    fn is_cut_short(&self) -> bool {
        self.cut_short.load(Ordering::Relaxed)
    }
    // A thread has finished its sink.
    fn finished_one(&self) {
        let is_last = self.at_work.fetch_sub(1, Ordering::Relaxed) == 1;
        if is_last && !self.is_cut_short() {
            self.cancel.set_complete(true);
        }
    }
}

// The frames that a sink takes.
type SinkLine = Receiver<Arc<FrameHandle>>;

// Starts the threads of all sinks, and one that waits to drive the devices. None if the system refuses; then the sinks are closed.
fn spawn<'s>(
    scope: &'s Scope<'s, '_>,
    sinks: Vec<(Box<dyn Sink>, SinkLine)>,
    writers: usize,
    (isa, events): (Isa, &Sender<Event>),
    ending: &'s Ending,
) -> Option<Idle<'s, ()>> {
    let clones_of = |sink: &dyn Sink| (1..writers).filter_map(|_| sink.worker_clone()).collect();
    let clones: Vec<Vec<_>> = sinks.iter().map(|(sink, _)| clones_of(sink.as_ref())).collect();
    let workers = sinks.len() + clones.iter().map(Vec::len).sum::<usize>();
    let mut idle = match threads::reserve(scope, "deliver", workers + 1) {
        Ok(idle) => idle.into_iter(),
        Err(e) => {
            let _ = events.send(Event::Failed(DeviceError::from(e).into()));
            // What the sinks have begun is removed, as after any early end.
            for ((sink, _), i) in sinks.into_iter().zip(0..) {
                let _ = sink.finish(Outcome::Aborted).map_err(|e| events.send(Event::SinkFailed(i, e)));
            }
            return None;
        }
    };
    ending.at_work.store(workers, Ordering::Relaxed);
    for (i, ((sink, line), clones)) in sinks.into_iter().zip(clones).enumerate() {
        let worker = SinkWorker { sink: i, needs: sink.needs(), isa, events: events.clone() };
        for (clone, thread) in clones.into_iter().zip(&mut idle) {
            let (worker, line) = (worker.clone(), line.clone());
            thread.run(move || {
                if worker.serve(clone, &line).is_some() {
                    ending.finished_one();
                }
            });
        }
        let serve = move || {
            let Some(sink) = worker.serve(sink, &line) else { return };
            let outcome = if ending.is_cut_short() { Outcome::Aborted } else { Outcome::Complete };
            worker.finish(sink, outcome, ending);
        };
        idle.next().map(|thread| thread.run(serve));
    }
    idle.next()
}

// Has the devices render all frames, and reports how that ended.
fn drive(
    devices: &mut [Box<dyn Device>],
    queue: &FrameQueue,
    delivery: &Delivery,
    (events, total): (Sender<Event>, usize),
    ending: &Ending,
) {
    let start = Instant::now();
    let (stats, failures, failure) = queue.run(devices);
    let total = total - queue.skipped();
    let _ = events.send(Event::Worked(stats, start.elapsed(), queue.skipped()));
    let mut delivered = 0;
    delivery.close(|count| {
        delivered = count;
        ending.cut_short.store(count < total, Ordering::Relaxed);
    });
    for e in failures {
        let _ = events.send(match delivered == total {
            true => Event::Remark(msg!("a device failed, and others took its tasks: {why}", why = e.message())),
            false => Event::Failed(e.into()),
        });
    }
    let _ = failure.map(|e| events.send(Event::Failed(e)));
}

// A thread that passes frames to one sink.
#[derive(Clone)]
struct SinkWorker {
    sink: usize,
    needs: PixelFormats,
    isa: Isa,
    events: Sender<Event>,
}

impl SinkWorker {
    // Runs until there are no more frames. After a failure, the sink is dropped and frames are discarded, so that
    // other stages are not blocked.
    fn serve(&self, sink: Box<dyn Sink>, line: &SinkLine) -> Option<Box<dyn Sink>> {
        let mut sink = Some(sink);
        for handle in line {
            if let Some(open) = &mut sink
                && let Err(e) = self.hand_over(open.as_mut(), &handle)
            {
                sink = None;
                let _ = self.events.send(Event::SinkFailed(self.sink, e));
            }
        }
        sink
    }

    fn finish(&self, sink: Box<dyn Sink>, outcome: Outcome, ending: &Ending) {
        let begun = Instant::now();
        let _ = self.events.send(match sink.finish(outcome) {
            Ok(path) => {
                ending.finished_one();
                if let Some(beginning) = path.as_ref().filter(|_| outcome == Outcome::Aborted) {
                    let kept = msg!("the beginning of the video is in {path}", path = beginning.display());
                    let _ = self.events.send(Event::Remark(kept));
                }
                Event::SinkDone(path, begun.elapsed())
            }
            Err(e) => Event::SinkFailed(self.sink, e),
        });
    }

    fn hand_over(&self, sink: &mut dyn Sink, handle: &FrameHandle) -> Result<(), OutputError> {
        let CompletedFrame { index, number, picture, linear, layers, .. } = &handle.frame;
        let (width, height) = handle.size;
        let frame = RenderedFrame {
            number: *number,
            width,
            height,
            rgba: picture.pixels.bytes(),
            planes: picture.planes.bytes(),
            converted: Arc::clone(&handle.converted),
            linear: linear.as_ref(),
            layers: layers.as_ref(),
            isa: self.isa,
        };
        let start = Instant::now();
        if self.needs.yuv420 {
            frame.yuv420();
        }
        let convert_ms = ms(start.elapsed());
        let start = Instant::now();
        sink.frame(&frame)?;
        let take_ms = ms(start.elapsed());
        let _ = self.events.send(Event::Taken { index: *index, sink: self.sink, convert_ms, take_ms });
        Ok(())
    }
}

// The state of a frame that is not reported yet.
#[derive(Default)]
struct Known {
    number: u32,
    stats: Option<FrameStats>,
    times: StageTimes,
    taken: Vec<usize>,
}

// Collects the reports of all stages. It reports frames in order and keeps the first failure.
struct Dispatcher<'a> {
    waiting: BTreeMap<usize, Known>,
    next: usize,
    sinks: Vec<SinkState>,
    writers: usize,
    delivery: &'a Delivery,
    report: RunReport,
}

impl<'a> Dispatcher<'a> {
    fn new(sinks: &[Box<dyn Sink>], writers: usize, delivery: &'a Delivery) -> Dispatcher<'a> {
        let state = |sink: &dyn Sink| {
            let has_clones = sink.worker_clone().is_some();
            SinkState { has_clones, is_essential: sink.is_essential(), is_alive: true }
        };
        let sinks = sinks.iter().map(|sink| state(sink.as_ref())).collect();
        Dispatcher { waiting: BTreeMap::new(), next: 0, sinks, writers, delivery, report: RunReport::default() }
    }

    fn work(mut self, inbox: Receiver<Event>, total: usize, progress: &mut dyn Progress) -> Result<RunReport, Error> {
        let mut failure: Option<Error> = None;
        for event in inbox {
            match event {
                Event::Rendered { index, number, stats } => {
                    let known = self.waiting.entry(index).or_default();
                    (known.number, known.stats) = (number, Some(stats));
                    (known.times.render_ms, known.times.kernel_ms) = (ms(stats.time), ms(stats.kernel));
                }
                Event::Taken { index, sink, convert_ms, take_ms } => {
                    let known = self.waiting.entry(index).or_default();
                    known.times.convert_ms += convert_ms;
                    let times = &mut known.times;
                    *(if self.sinks[sink].has_clones { &mut times.write_ms } else { &mut times.encode_ms }) += take_ms;
                    known.taken.push(sink);
                }
                Event::SinkFailed(sink, e) => {
                    self.sinks[sink].is_alive = false;
                    if self.sinks[sink].is_essential || !self.is_any_alive() {
                        self.delivery.set_failed();
                    } else if !matches!(e, OutputError::VideoInterrupted(_)) {
                        progress.remark(&msg!("the video failed; the frames continue"));
                    }
                    failure.get_or_insert(e.into());
                }
                Event::SinkDone(path, time) => {
                    self.report.files.extend(path);
                    self.report.finishing = self.report.finishing.max(time);
                }
                Event::Worked(devices, time, skipped) => {
                    (self.report.devices, self.report.time, self.report.skipped) = (devices, time, skipped);
                }
                Event::Remark(text) => progress.remark(&text),
                Event::Failed(e) => {
                    failure.get_or_insert(e);
                }
            }
            self.report_finished(progress);
        }
        self.report.frames = self.next;
        let done = self.next + self.report.skipped;
        let failure = failure.or_else(|| (done < total).then_some(Error::Interrupted { done, total }));
        self.report.failure = failure.as_ref().map(ToString::to_string);
        progress.end(&self.report);
        match failure {
            Some(e) => Err(e),
            None => Ok(self.report),
        }
    }

    fn is_any_alive(&self) -> bool {
        self.sinks.iter().any(|sink| sink.is_alive)
    }

    fn report_finished(&mut self, progress: &mut dyn Progress) {
        while let Some(known) = self.waiting.get(&self.next) {
            let Some(stats) = known.stats else { return };
            // Frames that a failed sink did not take count as missing if it is essential, or if no sink is left.
            let is_none_left = !self.is_any_alive();
            let counts = |sink: &SinkState| sink.is_alive || sink.is_essential || is_none_left;
            if !self.sinks.iter().enumerate().all(|(i, sink)| !counts(sink) || known.taken.contains(&i)) {
                return;
            }
            let (frame, stages) = (known.number, known.times);
            progress.frame(&FrameReport { frame, stats, stages, writers: self.writers });
            self.waiting.remove(&self.next);
            self.next += 1;
        }
    }
}
