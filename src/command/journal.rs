//! Who has made which frame and when: a file for each run in the hidden folder `.polyfly` beside the frames, a JSON
//! record a line. `polyfly status` adds them up.

use super::claim::Claim;
use crate::error::Error;
use crate::output::RunInfo;
use crate::output::files::host;
use crate::output::manifest::HIDDEN;
use crate::render::stats::{FrameReport, Progress, RunReport, ms};
use crate::report::Reporter;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// A frame that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number.
    pub frame: u32,
    /// On the device, milliseconds.
    pub ms: f64,
    /// When it was whole, seconds since 1970 by that machine's clock.
    pub at: f64,
}

/// One run's journal.
pub struct Journal {
    file: File,
}

impl Journal {
    /// That of this process; None where it cannot be written, which is no reason not to render.
    pub fn open(frames: &Path) -> Option<Journal> {
        let folder = frames.join(HIDDEN);
        std::fs::create_dir_all(&folder).ok()?;
        let name = format!("{}-{}.jsonl", host(), std::process::id());
        File::options().create(true).append(true).open(folder.join(name)).ok().map(|file| Journal { file })
    }
    fn write(&mut self, entry: &Entry) {
        if let Ok(line) = serde_json::to_string(entry) {
            // One write a line: what a kill cuts off is at most the last of them.
            let _ = self.file.write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// The reporter, and what is written down beside the frames: nothing before the outputs are open.
pub struct Told {
    /// What the user sees.
    pub reporter: Reporter,
    /// The folder, where there are frames.
    pub claim: Option<Claim>,
    /// Whether nobody wants to hear of what is swept.
    pub quiet: bool,
    /// Ends the run.
    pub stop: Arc<AtomicBool>,
    /// Why the folder could not be taken.
    pub failure: Option<Error>,
    journal: Option<Journal>,
}

impl Told {
    /// Nothing is written yet.
    pub fn new(reporter: Reporter, claim: Option<Claim>, quiet: bool, stop: Arc<AtomicBool>) -> Told {
        Told { reporter, claim, quiet, stop, failure: None, journal: None }
    }
}

impl Progress for Told {
    fn start(&mut self, run: &RunInfo, devices: &[String], threads: usize) {
        if let Some(claim) = &mut self.claim {
            self.failure = claim.begin(self.quiet).err();
            self.stop.fetch_or(self.failure.is_some(), Ordering::Relaxed);
            self.journal = claim.journal().and_then(|folder| Journal::open(&folder));
        }
        self.reporter.start(run, devices, threads);
    }
    fn frame(&mut self, report: &FrameReport) {
        self.reporter.frame(report);
        if let Some(journal) = &mut self.journal {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            journal.write(&Entry { frame: report.frame, ms: ms(report.stats.time), at: now.as_secs_f64() });
        }
    }
    fn remark(&mut self, text: &str) {
        self.reporter.remark(text);
    }
    fn end(&mut self, run: &RunReport) {
        self.reporter.end(run);
    }
}
