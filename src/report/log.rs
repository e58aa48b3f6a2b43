//! The log of a run on stdout, and the record that ends it. A signal's thread can write that record too, while the
//! run is still in a frame.

use super::records::{Record, SceneFacts, shares};
use crate::render::stats::{FrameReport, RunReport, StageTimes, ms};
use crate::threads::{self, lock};
use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

// Time-out of an abandoned run's last record, because its reader may have stopped.
const FAREWELL: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// `frame<TAB>ms<TAB>rays`, a line a frame.
    Text,
    /// JSON, a record a line: start, each frame, end.
    Jsonl,
}

// The log of this process's run.
static LOG: Mutex<Option<Log>> = Mutex::new(None);

/// Opens the log, unless it is open: on stdout, or on stderr if stdout has the pictures.
pub fn open_log(format: LogFormat, pictures_on_stdout: bool) {
    lock(&LOG).get_or_insert_with(|| {
        let stderr = || -> Box<dyn Write + Send> { Box::new(std::io::stderr()) };
        Log::new(format, if pictures_on_stdout { stderr() } else { Box::new(std::io::stdout()) })
    });
}

/// Does something with the log, if it is open.
pub fn with_log<T>(work: impl FnOnce(&mut Log) -> T) -> Option<T> {
    lock(&LOG).as_mut().map(work)
}

/// Writes the last record of a run that ends without a report, unless the log has one. `why` is None if there was nothing to do.
pub fn close_log(exit_code: u8, why: Option<&str>) {
    let failure = why.map(str::to_owned);
    with_log(|log| log.close(&RunReport { frames: log.frames, failure, ..RunReport::default() }, exit_code));
}

/// The same from a signal's thread. A reader that has stopped would block this thread forever.
pub fn abandon_log(exit_code: u8, why: String) {
    let (done, is_done) = std::sync::mpsc::channel();
    let close = move || {
        close_log(exit_code, Some(&why));
        let _ = done.send(());
    };
    if threads::spawn("farewell", close).is_ok() {
        let _ = is_done.recv_timeout(FAREWELL);
    }
}

/// A log, and the counts for its last record.
pub struct Log {
    format: LogFormat,
    // None after the reader has closed the pipe. That stops the log, not the run.
    out: Option<Box<dyn Write + Send>>,
    /// Why the log is incomplete, if it is.
    pub lost: Option<std::io::Error>,
    // Whether the first and the last record are written.
    is_open: bool,
    is_closed: bool,
    /// None for a run that has not come as far as its scene.
    pub facts: Option<SceneFacts>,
    pub frames: usize,
    writers: usize,
    rays: u64,
    shadow_rays: u64,
    times: StageTimes,
    pub started: Instant,
}

impl Log {
    fn new(format: LogFormat, out: Box<dyn Write + Send>) -> Log {
        Log {
            format,
            out: Some(out),
            lost: None,
            is_open: false,
            is_closed: false,
            facts: None,
            frames: 0,
            writers: 1,
            rays: 0,
            shadow_rays: 0,
            times: StageTimes::default(),
            started: Instant::now(),
        }
    }
    /// Counts a finished frame, and writes its line.
    pub fn frame(&mut self, report: &FrameReport) {
        self.writers = report.writers;
        self.frames += 1;
        self.rays += report.stats.rays;
        self.shadow_rays += report.stats.shadow_rays;
        self.times.add(&report.stages);
        match self.format {
            LogFormat::Text => {
                self.line(&format!("{}\t{:.3}\t{}", report.frame, ms(report.stats.time), report.stats.rays));
            }
            LogFormat::Jsonl => self.record(&Record::frame(report)),
        }
    }
    pub fn bottleneck(&self, run: &RunReport) -> &'static str {
        self.times.with(run).bottleneck(self.writers)
    }
    // The path of the frames, if they go to files.
    fn path(&self) -> Option<String> {
        self.facts.as_ref().and_then(|facts| facts.path.clone())
    }
    fn line(&mut self, line: &str) {
        let Some(out) = &mut self.out else { return };
        if let Err(e) = writeln!(out, "{line}").and_then(|()| out.flush()) {
            self.out = None;
            // A closed pipe is no error.
            self.lost = Some(e).filter(|e| e.kind() != std::io::ErrorKind::BrokenPipe);
        }
    }
    // Writes a record, if the log has them.
    fn record(&mut self, record: &Record) {
        if let (LogFormat::Jsonl, Ok(line)) = (self.format, serde_json::to_string(record)) {
            self.line(&line);
        }
    }
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
