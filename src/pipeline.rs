//! From rendered frames to files and video: bounded, named, ordered stages that work while the next
//! frames render.
//!
//! ```text
//! Deal --frame number--> worker (one a device) --picture--> Deal, which puts them in order
//!      --Shot--> write (a few threads)  --Event--> report, in frame order
//!      --Shot--> video (one thread)     --Event-->
//! ```
//! Pictures come from a fixed set of buffers and go back to it, so memory does not grow with the run.

use crate::device::{DeviceError, FrameStats, cpu, driver};
use crate::error::Error;
use crate::particles::legend::Legend;
use crate::report::{Reporter, StageTimes, ms, remark};
use crate::sink::video::Video;
use crate::sink::{FrameFiles, SinkError};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes in host memory: ordinary, or page-locked for a GPU's copies.
pub enum Memory {
    /// From the allocator.
    Heap(Vec<u8>),
    /// From the CUDA driver.
    Pinned(driver::Pinned),
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::Heap(Vec::new())
    }
}

impl std::ops::Deref for Memory {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Memory::Heap(bytes) => bytes,
            Memory::Pinned(bytes) => bytes,
        }
    }
}

impl Memory {
    /// The bytes, `len` of them; memory of another size is replaced.
    pub fn sized(&mut self, len: usize) -> &mut [u8] {
        if self.len() != len {
            *self = Memory::Heap(vec![0; len]);
        }
        self.bytes()
    }
    /// The bytes, to be changed.
    pub fn bytes(&mut self) -> &mut [u8] {
        match self {
            Memory::Heap(bytes) => bytes,
            Memory::Pinned(bytes) => bytes,
        }
    }
}

/// A picture's memory, used again and again.
#[derive(Default)]
pub struct Picture {
    /// RGBA rows from the top, where files are wanted or the CPU renders.
    pub rgba: Memory,
    /// YUV 4:2:0 planes, where a GPU made them.
    pub yuv: Memory,
}

/// What the sinks need of each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// RGBA, for files.
    pub rgba: bool,
    /// YUV, for a video.
    pub yuv: bool,
}

// A rendered frame on its way to the sinks. Its memory goes back to `home` when the last sink is done with it.
struct Shot {
    index: usize,
    frame: u32,
    picture: Picture,
    stats: FrameStats,
    home: Sender<Picture>,
}

impl Drop for Shot {
    fn drop(&mut self) {
        // After the end of a run nobody waits for it.
        let _ = self.home.send(std::mem::take(&mut self.picture));
    }
}

/// A device with a scene on it, working through frames on a thread of its own.
pub trait Worker: Send {
    /// Its name, for messages.
    fn name(&self) -> &str;
    /// Frames that it holds at once.
    fn in_flight(&self) -> usize;
    /// Takes frames from the deal and finishes them until there are none. A failure names the frames
    /// that were in flight, so that others can take them over.
    fn run(&mut self, deal: &Deal) -> Result<(), (DeviceError, Vec<usize>)>;
    /// What it did, after a run; several devices in one worker tell of each.
    fn shares(&self) -> Vec<Share>;
}

/// What one device did of a run.
#[derive(Clone, Debug, Default)]
pub struct Share {
    /// Its name.
    pub device: String,
    /// Frames, or bands of frames.
    pub pieces: usize,
    /// Camera, reflected, transmitted and shadow rays.
    pub rays: u64,
    /// Time that it computed.
    pub busy: Duration,
}

impl Share {
    /// Nothing yet.
    pub fn new(device: &str) -> Share {
        Share { device: device.to_owned(), ..Share::default() }
    }
    /// Counts a frame or a band.
    pub fn add(&mut self, stats: &FrameStats) {
        self.pieces += 1;
        self.rays += stats.rays + stats.shadow_rays;
        self.busy += stats.kernel;
    }
    /// Counts what another lane of the device did.
    pub fn join(&mut self, other: &Share) {
        self.pieces += other.pieces;
        self.rays += other.rays;
        self.busy += other.busy;
    }
}

/// Deals frames out to workers as they ask, and puts what they finish back in order.
pub struct Deal<'a> {
    frames: &'a [u32],
    stop: &'a AtomicBool,
    state: Mutex<DealState>,
    changed: Condvar,
    free: Receiver<Picture>,
    home: Sender<Picture>,
    sinks: Mutex<Option<Sinks>>,
    legend: Option<Legend>,
    size: (u32, u32),
}

struct DealState {
    next: usize,
    // Frames of a worker that failed.
    returned: Vec<usize>,
    // Frames dealt out and not finished.
    out: usize,
}

// The way to the sinks, in order.
struct Sinks {
    next: usize,
    early: BTreeMap<usize, Shot>,
    events: Sender<Event>,
    write: Option<Sender<Arc<Shot>>>,
    encode: Option<Sender<Arc<Shot>>>,
}

/// A frame dealt to a worker; dropped before [`Hand::keep`], it goes back to the deal.
pub struct Hand<'a> {
    deal: &'a Deal<'a>,
    index: Option<usize>,
}

impl Hand<'_> {
    /// The frame's number in the clip.
    pub fn frame(&self) -> u32 {
        self.index.map_or(0, |i| self.deal.frames[i])
    }
    /// The worker has it now: its place in the run and its number.
    pub fn keep(&mut self) -> (usize, u32) {
        let frame = self.frame();
        (self.index.take().unwrap_or_default(), frame)
    }
}

impl Drop for Hand<'_> {
    fn drop(&mut self) {
        if let Some(index) = self.index {
            self.deal.give_back(vec![index]);
        }
    }
}

impl<'a> Deal<'a> {
    fn lock(&self) -> std::sync::MutexGuard<'_, DealState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next frame with memory for it; None when there is none, or, without `wait`, none just now.
    pub fn take(&self, wait: bool) -> Option<(Hand<'_>, Picture)> {
        // Memory first: so the earliest frame still missing always has some, and the order cannot lock up.
        let picture = if wait { self.free.recv().ok()? } else { self.free.try_recv().ok()? };
        let mut state = self.lock();
        let index = loop {
            if self.stop.load(Ordering::Relaxed) {
                break None;
            }
            if let Some(index) = state.returned.pop() {
                break Some(index);
            }
            if state.next < self.frames.len() {
                state.next += 1;
                break Some(state.next - 1);
            }
            if state.out == 0 || !wait {
                break None;
            }
            // Others are still at work, and may fail and give frames back.
            let turn = self.changed.wait_timeout(state, Duration::from_millis(50));
            state = turn.unwrap_or_else(PoisonError::into_inner).0;
        };
        let Some(index) = index else {
            drop(state);
            let _ = self.home.send(picture);
            return None;
        };
        state.out += 1;
        Some((Hand { deal: self, index: Some(index) }, picture))
    }

    /// A frame is in host memory. Hands it, and those that waited for it, to the sinks.
    pub fn finish(&self, index: usize, frame: u32, mut picture: Picture, stats: FrameStats) {
        if let Some(legend) = &self.legend {
            legend.draw(picture.rgba.bytes(), self.size.0, self.size.1);
        }
        {
            let mut sinks = self.sinks.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(sinks) = sinks.as_mut() {
                sinks.early.insert(index, Shot { index, frame, picture, stats, home: self.home.clone() });
                sinks.send();
            }
        }
        self.lock().out -= 1;
        self.changed.notify_all();
    }

    fn give_back(&self, indices: Vec<usize>) {
        let mut state = self.lock();
        state.out -= indices.len();
        state.returned.extend(indices);
        // The earliest are taken first.
        state.returned.sort_unstable_by(|a, b| b.cmp(a));
        drop(state);
        self.changed.notify_all();
    }

    fn left(&self) -> usize {
        let state = self.lock();
        self.frames.len() - state.next + state.returned.len() + state.out
    }
}

impl Sinks {
    fn send(&mut self) {
        while let Some(shot) = self.early.remove(&self.next) {
            self.next += 1;
            let shot = Arc::new(shot);
            let _ = self.events.send(Event::Rendered { index: shot.index, frame: shot.frame, stats: shot.stats });
            if let Some(write) = &self.write {
                let _ = write.send(Arc::clone(&shot));
            }
            if let Some(encode) = &self.encode {
                let _ = encode.send(shot);
            }
        }
    }
}

/// What to do with the frames.
pub struct Job<'a> {
    /// Frame numbers, in order.
    pub frames: &'a [u32],
    /// Picture size.
    pub width: u32,
    /// Picture size.
    pub height: u32,
    /// Files, if wanted.
    pub files: Option<FrameFiles>,
    /// Video, if wanted.
    pub video: Option<Video>,
    /// Instruction set for the conversion to the video's colours.
    pub isa: cpu::Isa,
    /// Threads that compress and write files.
    pub writers: usize,
    /// Drawn into every picture; then no device may make the video's planes itself.
    pub legend: Option<Legend>,
}

enum Event {
    Rendered { index: usize, frame: u32, stats: FrameStats },
    Written { index: usize, ms: f64, result: Result<(), SinkError> },
    Encoded { index: usize, convert_ms: f64, encode_ms: f64 },
    VideoFailed(SinkError),
    VideoDone(PathBuf),
    DeviceFailed(DeviceError),
    Worked(Vec<Share>, Duration),
}

// What is known of a frame that has not been reported yet.
#[derive(Default, Clone)]
struct Progress {
    frame: u32,
    stats: Option<FrameStats>,
    times: StageTimes,
    written: bool,
    encoded: bool,
}

/// Runs the job until its end, a failure, or `stop`. Gives the video's name.
///
/// A worker that fails hands its frames to the others; the run fails only when none is left.
pub fn run(
    workers: &mut [Box<dyn Worker + '_>],
    mut job: Job,
    reporter: &mut Reporter,
    stop: &AtomicBool,
) -> Result<Option<PathBuf>, Error> {
    let (events, inbox) = unbounded::<Event>();
    let (write, to_write) = bounded::<Arc<Shot>>(1);
    let (encode, to_encode) = bounded::<Arc<Shot>>(1);
    let (files, video) = (job.files.take(), job.video.take());
    let (wants_files, wants_video) = (files.is_some(), video.is_some());
    let pictures = workers.iter().map(|w| w.in_flight()).sum::<usize>() + 1 + job.writers + usize::from(wants_video);
    let (home, free) = bounded(pictures);
    for _ in 0..pictures {
        let _ = home.send(Picture::default());
    }
    let sinks = Sinks {
        next: 0,
        early: BTreeMap::new(),
        events: events.clone(),
        write: wants_files.then_some(write),
        encode: wants_video.then_some(encode),
    };
    let deal = Deal {
        frames: job.frames,
        stop,
        state: Mutex::new(DealState { next: 0, returned: Vec::new(), out: 0 }),
        changed: Condvar::new(),
        free,
        home,
        sinks: Mutex::new(Some(sinks)),
        legend: job.legend.take(),
        size: (job.width, job.height),
    };
    // Only an end before the last frame makes the video a partial one.
    let cut_short = AtomicBool::new(false);
    let (width, height, isa) = (job.width, job.height, job.isa);

    std::thread::scope(|scope| {
        for _ in 0..if wants_files { job.writers } else { 0 } {
            let (files, to_write, events) = (files.clone(), to_write.clone(), events.clone());
            scope.spawn(move || {
                let Some(files) = files else { return };
                for shot in to_write {
                    let start = Instant::now();
                    let result = files.write(shot.frame, width, height, &shot.picture.rgba);
                    let _ = events.send(Event::Written { index: shot.index, ms: ms(start.elapsed()), result });
                }
            });
        }
        drop(to_write);
        if let Some(video) = video {
            let (events, cut_short) = (events.clone(), &cut_short);
            scope.spawn(move || encode_all(video, to_encode, &events, (width, height, isa), cut_short));
        }
        {
            let (deal, cut_short) = (&deal, &cut_short);
            scope.spawn(move || {
                let start = Instant::now();
                let failures = work(workers, deal);
                let shares = workers.iter().flat_map(|w| w.shares()).collect();
                let _ = events.send(Event::Worked(shares, start.elapsed()));
                cut_short.store(deal.left() > 0, Ordering::Relaxed);
                let finished = deal.left() == 0;
                for (name, e) in failures {
                    if finished {
                        remark(&format!("{name} failed, and others took its frames: {e}"));
                    } else {
                        let _ = events.send(Event::DeviceFailed(e));
                    }
                }
                // The channels close here, and the other stages end when they are empty.
                *deal.sinks.lock().unwrap_or_else(PoisonError::into_inner) = None;
                drop(events);
            });
        }
        Desk { waiting: BTreeMap::new(), next: 0, wants_files, wants_video, reporter, stop }
            .work(inbox, job.frames.len())
    })
}

// All workers, each on its thread; gives the failures.
fn work(workers: &mut [Box<dyn Worker + '_>], deal: &Deal) -> Vec<(String, DeviceError)> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .iter_mut()
            .map(|worker| {
                scope.spawn(move || {
                    let (e, in_flight) = worker.run(deal).err()?;
                    deal.give_back(in_flight);
                    Some((worker.name().to_owned(), e))
                })
            })
            .collect();
        threads.into_iter().filter_map(|t| t.join().ok().flatten()).collect()
    })
}

// The desk where all stages report: prints frames in order, keeps the first failure.
struct Desk<'a> {
    waiting: BTreeMap<usize, Progress>,
    next: usize,
    wants_files: bool,
    wants_video: bool,
    reporter: &'a mut Reporter,
    stop: &'a AtomicBool,
}

impl Desk<'_> {
    fn work(mut self, inbox: Receiver<Event>, total: usize) -> Result<Option<PathBuf>, Error> {
        let mut failure: Option<Error> = None;
        let mut named = None;
        for event in inbox {
            match event {
                Event::Rendered { index, frame, stats } => {
                    let p = self.waiting.entry(index).or_default();
                    (p.frame, p.stats) = (frame, Some(stats));
                    (p.times.render_ms, p.times.kernel_ms) = (ms(stats.time), ms(stats.kernel));
                }
                Event::Written { index, ms, result } => {
                    let p = self.waiting.entry(index).or_default();
                    p.times.write_ms = ms;
                    p.written = result.is_ok();
                    if let Err(e) = result {
                        failure.get_or_insert(e.into());
                        self.stop.store(true, Ordering::Relaxed);
                    }
                }
                Event::Encoded { index, convert_ms, encode_ms } => {
                    let p = self.waiting.entry(index).or_default();
                    (p.times.convert_ms, p.times.encode_ms, p.encoded) = (convert_ms, encode_ms, true);
                }
                Event::VideoFailed(e) => {
                    self.wants_video = false;
                    if self.wants_files {
                        remark("the video failed; the frames go on");
                    } else {
                        self.stop.store(true, Ordering::Relaxed);
                    }
                    failure.get_or_insert(e.into());
                }
                Event::VideoDone(path) => named = Some(path),
                Event::Worked(shares, time) => self.reporter.shares(shares, time),
                Event::DeviceFailed(e) => {
                    failure.get_or_insert(e.into());
                }
            }
            self.report_finished();
        }
        match failure {
            Some(e) => Err(e),
            None if self.next < total => Err(Error::Interrupted(self.next, total)),
            None => Ok(named),
        }
    }

    fn report_finished(&mut self) {
        while let Some(p) = self.waiting.get(&self.next) {
            let Some(stats) = p.stats else { return };
            if (self.wants_files && !p.written) || (self.wants_video && !p.encoded) {
                return;
            }
            self.reporter.frame(p.frame, &stats, &p.times);
            self.waiting.remove(&self.next);
            self.next += 1;
        }
    }
}

// The video stage: converts and feeds in order, then closes the file. After a failure it only lets
// frames pass, so that the other stages are not held up.
fn encode_all(
    video: Video,
    inbox: Receiver<Arc<Shot>>,
    events: &Sender<Event>,
    (width, height, isa): (u32, u32, cpu::Isa),
    cut_short: &AtomicBool,
) {
    let mut video = Some(video);
    let mut yuv = Vec::new();
    for shot in inbox {
        let Some(open) = &mut video else { continue };
        let start = Instant::now();
        let planes: &[u8] = if shot.picture.yuv.is_empty() {
            cpu::convert(isa, &shot.picture.rgba, width, height, &mut yuv);
            &yuv
        } else {
            &shot.picture.yuv
        };
        let convert_ms = ms(start.elapsed());
        let start = Instant::now();
        match open.feed(planes) {
            Ok(()) => {
                let _ = events.send(Event::Encoded { index: shot.index, convert_ms, encode_ms: ms(start.elapsed()) });
            }
            Err(cause) => {
                let Some(dead) = video.take() else { continue };
                let _ = events.send(Event::VideoFailed(dead.autopsy(cause)));
            }
        }
    }
    if let Some(open) = video {
        let _ = events.send(match open.finish(cut_short.load(Ordering::Relaxed)) {
            Ok(path) => Event::VideoDone(path),
            Err(e) => Event::VideoFailed(e),
        });
    }
}
