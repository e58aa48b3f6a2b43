//! The log of a run: lines on stdout, and the record that ends it. A signal's thread can write that record too, while the run
//! itself hangs in a frame.

use super::records::{End, SceneFacts, Totals};
use crate::render::stats::{RunReport, StageTimes};
use crate::threads;
use serde::Serialize;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

// How long the end record of a run that is left may take: nobody may be reading.
const FAREWELL: Duration = Duration::from_secs(1);

struct State {
    // None once nobody reads the log: a closed pipe stops the log, not the rendering.
    out: Option<Box<dyn Write + Send>>,
    lost: Option<std::io::Error>,
    totals: Totals,
    // Whether the record of the start is written, and that of the end is not.
    is_open: bool,
}

/// A log, and all that is counted for its last record.
#[derive(Clone)]
pub struct Log(Arc<Mutex<State>>);

#[derive(Serialize)]
struct Tagged<'a, T> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(flatten)]
    record: &'a T,
}

impl Log {
    /// A log that is written there.
    pub fn new(out: Box<dyn Write + Send>) -> Log {
        let (times, started) = (StageTimes::default(), Instant::now());
        let totals = Totals { frames: 0, writers: 1, rays: 0, shadow_rays: 0, times, started };
        Log(Arc::new(Mutex::new(State { out: Some(out), lost: None, totals, is_open: false })))
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Looks at, or changes, what is counted.
    pub fn totals<T>(&self, look: impl FnOnce(&mut Totals) -> T) -> T {
        look(&mut self.lock().totals)
    }
    /// Writes a line.
    pub fn line(&self, line: &str) {
        self.lock().line(line);
    }
    /// Writes a record.
    pub fn record<T: Serialize>(&self, kind: &str, record: &T) {
        self.lock().record(kind, record);
    }
    /// Writes the first record.
    pub fn open<T: Serialize>(&self, record: &T) {
        let mut state = self.lock();
        state.is_open = true;
        state.record("start", record);
    }
    /// Writes the last record, if there was a first one and no last one yet.
    pub fn close(&self, record: impl FnOnce(&Totals) -> End) {
        let mut state = self.lock();
        if std::mem::take(&mut state.is_open) {
            let record = record(&state.totals);
            state.record("end", &record);
        }
    }
    /// Why the log is not whole, if it is not.
    pub fn lost(&self) -> Option<std::io::Error> {
        self.lock().lost.take()
    }
    /// What writes the last record of a run that is left where it stands: it takes the exit code and the reason.
    pub fn farewell(&self, facts: SceneFacts) -> impl Fn(u8, &str) + Send + use<> {
        let log = self.clone();
        move |exit_code, why| {
            let (log, facts, why) = (log.clone(), facts.clone(), why.to_owned());
            let (done, is_done) = std::sync::mpsc::channel();
            // A reader that has stopped would hold this up for ever.
            let writing = threads::spawn("farewell", move || {
                log.close(|totals| {
                    let run = RunReport { frames: totals.frames, failure: Some(why), ..RunReport::default() };
                    End::of(&run, totals, &facts, exit_code)
                });
                let _ = done.send(());
            });
            if writing.is_ok() {
                let _ = is_done.recv_timeout(FAREWELL);
            }
        }
    }
}

impl State {
    fn record<T: Serialize>(&mut self, kind: &str, record: &T) {
        if let Ok(line) = serde_json::to_string(&Tagged { kind, record }) {
            self.line(&line);
        }
    }
    fn line(&mut self, line: &str) {
        let Some(out) = &mut self.out else { return };
        if let Err(e) = writeln!(out, "{line}").and_then(|()| out.flush()) {
            self.out = None;
            // A reader who has left wants no more.
            self.lost = Some(e).filter(|e| e.kind() != std::io::ErrorKind::BrokenPipe);
        }
    }
}
