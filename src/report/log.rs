//! The log of a run: lines on stdout, and the record that ends it. A signal's thread can write that record too, while the run
//! itself hangs in a frame.

use super::records::{End, SceneFacts, Totals};
use crate::render::stats::{RunReport, StageTimes};
use crate::threads::{self, lock};
use serde::Serialize;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

// How long the end record of a run that is left may take: nobody may be reading.
const FAREWELL: Duration = Duration::from_secs(1);

/// A log, and all that is counted for its last record.
pub struct Log {
    // None once nobody reads the log: a closed pipe stops the log, not the rendering.
    out: Option<Box<dyn Write + Send>>,
    /// Why the log is not whole, if it is not.
    pub lost: Option<std::io::Error>,
    pub totals: Totals,
    // Whether the record of the start is written, and that of the end is not.
    is_open: bool,
}

#[derive(Serialize)]
struct Tagged<'a, T> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(flatten)]
    record: &'a T,
}

impl Log {
    pub fn new(out: impl Write + Send + 'static) -> Log {
        let (times, started) = (StageTimes::default(), Instant::now());
        let totals = Totals { frames: 0, writers: 1, rays: 0, shadow_rays: 0, times, started };
        Log { out: Some(Box::new(out)), lost: None, totals, is_open: false }
    }
    pub fn line(&mut self, line: &str) {
        let Some(out) = &mut self.out else { return };
        if let Err(e) = writeln!(out, "{line}").and_then(|()| out.flush()) {
            self.out = None;
            // A reader who has left wants no more.
            self.lost = Some(e).filter(|e| e.kind() != std::io::ErrorKind::BrokenPipe);
        }
    }
    pub fn record<T: Serialize>(&mut self, kind: &str, record: &T) {
        if let Ok(line) = serde_json::to_string(&Tagged { kind, record }) {
            self.line(&line);
        }
    }
    pub fn open<T: Serialize>(&mut self, record: &T) {
        self.is_open = true;
        self.record("start", record);
    }
    /// Writes the last record, if there was a first one and no last one yet.
    pub fn close(&mut self, run: &RunReport, facts: &SceneFacts, exit_code: u8) {
        if std::mem::take(&mut self.is_open) {
            let record = End::of(run, &self.totals, facts, exit_code);
            self.record("end", &record);
        }
    }
}

/// What writes the last record of a run that is left where it stands: it takes the exit code and the reason.
pub fn farewell(log: &Arc<Mutex<Log>>, facts: SceneFacts) -> impl Fn(u8, &str) + Send + use<> {
    let log = Arc::clone(log);
    move |exit_code, why| {
        let (log, facts, failure) = (Arc::clone(&log), facts.clone(), Some(why.to_owned()));
        let (done, is_done) = std::sync::mpsc::channel();
        // A reader that has stopped would hold this up for ever.
        let writing = threads::spawn("farewell", move || {
            let mut log = lock(&log);
            let run = RunReport { frames: log.totals.frames, failure, ..RunReport::default() };
            log.close(&run, &facts, exit_code);
            let _ = done.send(());
        });
        if writing.is_ok() {
            let _ = is_done.recv_timeout(FAREWELL);
        }
    }
}
