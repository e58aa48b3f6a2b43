//! From rendered frames to files and video: bounded, named, ordered stages that work while the next
//! frames render.
//!
//! ```text
//! render --Shot--> write (a few threads)  --Event--> report, in frame order
//!        --Shot--> video (one thread)     --Event-->
//! ```
//! Pictures come from a fixed set of buffers and go back to it, so memory does not grow with the run.

use crate::device::{DeviceError, FrameStats, cpu};
use crate::error::Error;
use crate::report::{Reporter, StageTimes, ms, remark};
use crate::sink::video::Video;
use crate::sink::{FrameFiles, SinkError};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A picture's memory, used again and again.
#[derive(Default)]
pub struct Picture {
    /// RGBA rows from the top.
    pub rgba: Vec<u8>,
    /// YUV 4:2:0 planes, where the device made them.
    pub yuv: Vec<u8>,
}

/// A rendered frame on its way to the sinks.
pub struct Shot {
    /// Its place in the run.
    pub index: usize,
    /// Its number in the clip.
    pub frame: u32,
    /// Its pixels.
    pub picture: Picture,
    /// What it took.
    pub stats: FrameStats,
    home: Sender<Picture>,
}

impl Shot {
    /// A frame whose memory goes back to `home` when the last sink is done with it.
    pub fn new(index: usize, frame: u32, picture: Picture, stats: FrameStats, home: Sender<Picture>) -> Shot {
        Shot { index, frame, picture, stats, home }
    }
}

impl Drop for Shot {
    fn drop(&mut self) {
        // After the end of a run nobody waits for it.
        let _ = self.home.send(std::mem::take(&mut self.picture));
    }
}

/// Something that renders frames: a device with a scene on it.
pub trait Source: Send {
    /// Renders `frames` in order. Takes each picture's memory from `buffers`, and hands each frame to
    /// `deliver`, which answers whether to go on.
    fn run(
        &mut self,
        frames: &[u32],
        buffers: &Buffers,
        deliver: &mut dyn FnMut(Shot) -> bool,
    ) -> Result<(), DeviceError>;
}

/// The set of pictures that are in flight at most.
pub struct Buffers {
    free: Receiver<Picture>,
    home: Sender<Picture>,
}

impl Buffers {
    fn new(count: usize) -> Buffers {
        let (home, free) = bounded(count);
        for _ in 0..count {
            let _ = home.send(Picture::default());
        }
        Buffers { free, home }
    }
    /// Waits for a free picture.
    pub fn take(&self) -> Picture {
        self.free.recv().unwrap_or_default()
    }
    /// Where pictures come back to.
    pub fn home(&self) -> Sender<Picture> {
        self.home.clone()
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
}

enum Event {
    Rendered { index: usize, frame: u32, stats: FrameStats },
    Written { index: usize, ms: f64, result: Result<(), SinkError> },
    Encoded { index: usize, convert_ms: f64, encode_ms: f64 },
    VideoFailed(SinkError),
    VideoDone(PathBuf),
    DeviceFailed(DeviceError),
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
pub fn run(
    source: &mut dyn Source,
    mut job: Job,
    reporter: &mut Reporter,
    stop: &AtomicBool,
) -> Result<Option<PathBuf>, Error> {
    let (events, inbox) = unbounded::<Event>();
    let (write, to_write) = bounded::<Arc<Shot>>(1);
    let (encode, to_encode) = bounded::<Arc<Shot>>(1);
    let buffers = Buffers::new(2 + job.writers + usize::from(job.video.is_some()));
    let frames = job.frames;
    let (files, video) = (job.files.take(), job.video.take());
    let (wants_files, wants_video) = (files.is_some(), video.is_some());
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
            let (events, cut_short) = (events, &cut_short);
            scope.spawn(move || {
                let mut left = frames.len();
                let mut deliver = |shot: Shot| {
                    let shot = Arc::new(shot);
                    let _ = events.send(Event::Rendered { index: shot.index, frame: shot.frame, stats: shot.stats });
                    if wants_files {
                        let _ = write.send(Arc::clone(&shot));
                    }
                    if wants_video {
                        let _ = encode.send(shot);
                    }
                    left -= 1;
                    !stop.load(Ordering::Relaxed)
                };
                let result = source.run(frames, &buffers, &mut deliver);
                cut_short.store(left > 0, Ordering::Relaxed);
                if let Err(e) = result {
                    let _ = events.send(Event::DeviceFailed(e));
                }
                // The channels close here, and the other stages end when they are empty.
                drop((write, encode));
            });
        }
        Desk { waiting: Default::default(), next: 0, wants_files, wants_video, reporter, stop }
            .work(inbox, frames.len())
    })
}

// The desk where all stages report: prints frames in order, keeps the first failure.
struct Desk<'a> {
    waiting: std::collections::BTreeMap<usize, Progress>,
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
                    (p.frame, p.stats, p.times.render_ms) = (frame, Some(stats), ms(stats.time));
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
        let planes = if shot.picture.yuv.is_empty() {
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
