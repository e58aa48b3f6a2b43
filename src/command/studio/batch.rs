//! The run that the page starts: the program itself on the file, so that it goes on, resumes and fails as any other run does.

use crate::error::Error;
use crate::output::OutputError;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The last run that was started, if any.
#[derive(Clone, Default)]
pub struct Batch(Arc<Mutex<Run>>);

#[derive(Default)]
struct Run {
    child: Option<Child>,
    done: u64,
    frames: u64,
    // How it ended, and what it had to say.
    code: Option<i32>,
    words: String,
}

impl Batch {
    fn lock(&self) -> MutexGuard<'_, Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a run; `tell` is called whenever it has come on.
    ///
    /// # Errors
    /// One that is going on already; a program that cannot be started.
    pub fn start(&self, arguments: &[String], tell: impl Fn() + Send + Sync + 'static) -> Result<(), Error> {
        let mut run = self.lock();
        if run.child.is_some() {
            return Err(Error::Usage("a run is going on".into()));
        }
        let failed = |e| Error::from(OutputError::Write("a run".into(), e));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(arguments).args(["--log", "jsonl"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (log, words) = (child.stdout.take(), child.stderr.take());
        *run = Run { child: Some(child), ..Run::default() };
        drop(run);
        let batch = self.clone();
        std::thread::spawn(move || {
            let said = std::thread::spawn(move || {
                let mut text = String::new();
                // What is no text is not shown.
                let _ = words.map(|mut words| words.read_to_string(&mut text));
                text
            });
            for line in log.into_iter().flat_map(|log| BufReader::new(log).lines()).map_while(Result::ok) {
                batch.hear(&line);
                tell();
            }
            let words = said.join().unwrap_or_default();
            let child = batch.lock().child.take();
            let code = child.and_then(|mut child| child.wait().ok()).and_then(|status| status.code());
            let mut run = batch.lock();
            (run.code, run.words) = (Some(code.unwrap_or(-1)), words);
            drop(run);
            tell();
        });
        Ok(())
    }

    fn hear(&self, line: &str) {
        let Ok(record) = serde_json::from_str::<Value>(line) else { return };
        let mut run = self.lock();
        match record["type"].as_str() {
            Some("start") => run.frames = record["frames"].as_u64().unwrap_or(0),
            Some("frame") => run.done += 1,
            _ => {}
        }
    }

    /// Asks the run to stop: frames in flight are finished.
    pub fn stop(&self) {
        let run = self.lock();
        #[cfg(unix)]
        if let Some(pid) = run.child.as_ref().and_then(|child| rustix::process::Pid::from_raw(child.id().cast_signed()))
        {
            // It may have ended just now.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        #[cfg(not(unix))]
        let _ = run;
    }

    /// What the page shows of it.
    pub fn state(&self) -> Value {
        let run = self.lock();
        json!({ "running": run.child.is_some(), "done": run.done, "frames": run.frames, "code": run.code, "words": run.words })
    }
}
