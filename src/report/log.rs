//! The log of a run on stdout, and the record that ends it. A signal's thread can write that record too, while the
//! run is still in a frame.

use super::records::{Record, SceneFacts, shares};
use crate::render::stats::{FrameReport, RunReport, StageTimes};
use crate::threads::{self, lock};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

// Time-out of an abandoned run's last record, because its reader may have stopped.
const FAREWELL: Duration = Duration::from_secs(1);

// Whether the log's last record is written.
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// Writes the last record of a run that ended before it began, unless the log has one: on stdout, or on stderr if stdout has the
/// pictures. `why` is None if there was nothing to do.
pub fn end_before_start(pictures_on_stdout: bool, exit_code: u8, why: Option<&str>) {
    if !HAS_ENDED.load(Ordering::Relaxed) {
        let run = RunReport { failure: why.map(str::to_owned), ..RunReport::default() };
        Log::new(stream(pictures_on_stdout), None).close(&run, exit_code);
    }
}

/// The stream of a log: stdout, or stderr if stdout has the pictures.
pub fn stream(pictures_on_stdout: bool) -> Box<dyn Write + Send> {
    if pictures_on_stdout { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) }
}

/// A log, and the counts for its last record.
pub struct Log {
    // None after the reader has closed the pipe. That stops the log, not the run.
    out: Option<Box<dyn Write + Send>>,
    /// Why the log is incomplete, if it is.
    pub lost: Option<std::io::Error>,
    // Whether the first and the last record are written.
    is_open: bool,
    is_closed: bool,
    // None for a run that has not come as far as its scene.
    facts: Option<SceneFacts>,
    pub frames: usize,
    writers: usize,
    rays: u64,
    shadow_rays: u64,
    times: StageTimes,
    pub started: Instant,
}

impl Log {
    pub fn new(out: Box<dyn Write + Send>, facts: Option<SceneFacts>) -> Log {
        Log {
            out: Some(out),
            lost: None,
            is_open: false,
            is_closed: false,
            facts,
            frames: 0,
            writers: 1,
            rays: 0,
            shadow_rays: 0,
            times: StageTimes::default(),
            started: Instant::now(),
        }
    }
    /// Counts a finished frame.
    pub fn count(&mut self, report: &FrameReport) {
        self.writers = report.writers;
        self.frames += 1;
        self.rays += report.stats.rays;
        self.shadow_rays += report.stats.shadow_rays;
        self.times.add(&report.stages);
    }
    /// The slowest stage of a run.
    pub fn bottleneck(&self, run: &RunReport) -> &'static str {
        self.times.with(run).bottleneck(self.writers)
    }
    // The path of the frames, if they go to files.
    fn path(&self) -> Option<String> {
        self.facts.as_ref().and_then(|facts| facts.path.clone())
    }
    pub fn line(&mut self, line: &str) {
        let Some(out) = &mut self.out else { return };
        if let Err(e) = writeln!(out, "{line}").and_then(|()| out.flush()) {
            self.out = None;
            // A closed pipe is no error.
            self.lost = Some(e).filter(|e| e.kind() != std::io::ErrorKind::BrokenPipe);
        }
    }
    pub fn record(&mut self, record: &Record) {
        if let Ok(line) = serde_json::to_string(record) {
            self.line(&line);
        }
    }
    /// Writes the first record.
    pub fn open(&mut self, frames: usize, devices: &[String], threads: usize) {
        self.is_open = true;
        if let Some(facts) = self.facts.clone() {
            self.record(&Record::start(frames, devices, threads, &facts));
        }
    }
    /// Writes the last record, once; before it the first one, if no frame was rendered.
    pub fn close(&mut self, run: &RunReport, exit_code: u8) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        HAS_ENDED.store(true, Ordering::Relaxed);
        if !self.is_open {
            self.open(0, &[], 0);
        }
        let (seconds, stages, path) =
            (self.started.elapsed().as_secs_f64().max(1e-9), self.times.with(run), self.path());
        let (speed_up, devices) = shares(run).unzip();
        self.record(&Record::End {
            status: if run.failure.is_none() { "complete" } else { "failed" },
            error: run.failure.as_deref(),
            exit_code,
            path: path.as_deref(),
            frames: run.frames,
            seconds,
            frames_per_second: run.frames as f64 / seconds,
            rays: self.rays,
            shadow_rays: self.shadow_rays,
            mrays_per_second: self.rays as f64 / (stages.render_ms / 1e3).max(1e-9) / 1e6,
            stages,
            bottleneck: stages.bottleneck(self.writers),
            video: run.files.first().map(|v| v.display().to_string()),
            devices: devices.unwrap_or_default(),
            speed_up,
        });
    }
}

/// Writes the last record of an abandoned run, with its exit code and the reason.
pub type Farewell = Box<dyn Fn(u8, &str) + Send>;

pub fn farewell(log: &Arc<Mutex<Log>>) -> Farewell {
    let log = Arc::clone(log);
    Box::new(move |exit_code, why| {
        let (log, failure) = (Arc::clone(&log), Some(why.to_owned()));
        let (done, is_done) = std::sync::mpsc::channel();
        // A reader that has stopped would block this thread forever.
        let writing = threads::spawn("farewell", move || {
            let mut log = lock(&log);
            let run = RunReport { frames: log.frames, failure, ..RunReport::default() };
            log.close(&run, exit_code);
            let _ = done.send(());
        });
        if writing.is_ok() {
            let _ = is_done.recv_timeout(FAREWELL);
        }
    })
}
