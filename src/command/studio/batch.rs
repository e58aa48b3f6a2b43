//! The run that the page starts: a child process of the program itself, so that it resumes and fails like any other
//! run.

use super::document::change_of;
use super::made::{Made, absolute, type_of};
use super::occupied::Occupied;
use crate::cli::{Exit, Failure, language};
use crate::command::stop::{STDIN, STOP_BY};
use crate::language::msg;
use crate::output::OutputError;
use crate::report::say;
use crate::system::{self, ChildGroup};
use crate::threads::{self, lock};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

// How often the process is checked.
const LOOKED: Duration = Duration::from_millis(10);

/// The last run that was started, if any.
#[derive(Clone, Default)]
pub struct Batch(Arc<Mutex<Run>>);

#[derive(Default)]
struct Run {
    child: Option<(Child, ChildGroup)>,
    // Each byte asks the run to stop.
    requests: Option<ChildStdin>,
    // The studio is ending, and no further run begins.
    is_closed: bool,
    done: u64,
    frames: u64,
    // Which run of the studio it is, counted from 1.
    number: u64,
    // The number of the newest frame.
    last: Option<u32>,
    // When the run began to render, and how long it took.
    began: Option<Instant>,
    seconds: Option<f64>,
    made: Option<Arc<Made>>,
    // What is in the way of a run that was not started.
    question: Option<Occupied>,
    // The exit code, and the text on stderr.
    code: Option<i32>,
    words: String,
}

impl Batch {
    fn lock(&self) -> MutexGuard<'_, Run> {
        lock(&self.0)
    }

    /// Starts a run; `tell` is called at each progress.
    pub fn start(
        &self,
        arguments: &[String],
        made: Made,
        tell: impl Fn() + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let mut run = self.lock();
        if run.child.is_some() {
            return Err(Failure::usage(msg!("a run is going on")));
        }
        if run.is_closed {
            return Err(Failure::usage(msg!("the studio is ending")));
        }
        let failed = |e| Failure::from(OutputError::Write("a run".into(), e));
        let program = std::env::current_exe().map_err(failed)?;
        let mut words = tempfile::tempfile().map_err(failed)?;
        let mut command = system::program(program).map_err(failed)?;
        // Environment variables instead of flags, so that the printed command to resume stays as the user would write
        // it.
        command.args(arguments).env("POLYFLY_LOG", "jsonl").env(STOP_BY, STDIN);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(words.try_clone().map_err(failed)?);
        let (mut child, group) = ChildGroup::spawn(&mut command).map_err(failed)?;
        let (log, requests) = (child.stdout.take(), child.stdin.take());
        let number = run.number + 1;
        *run = Run { child: Some((child, group)), requests, number, made: Some(Arc::new(made)), ..Run::default() };
        drop(run);
        let batch = self.clone();
        let follow = move || {
            for line in log.into_iter().flat_map(|log| BufReader::new(log).lines()).map_while(Result::ok) {
                batch.hear(&line);
                tell();
            }
            while !batch.has_ended(&mut words) {
                std::thread::sleep(LOOKED);
            }
            tell();
        };
        threads::spawn("batch", follow).map(drop).map_err(|e| {
            if let Some((mut child, group)) = self.lock().child.take() {
                group.kill();
                let _ = child.wait();
            }
            OutputError::from(e).into()
        })
    }

    /// Stores what is in the way of the next run.
    pub fn ask(&self, question: Option<Occupied>) {
        self.lock().question = question;
    }

    fn hear(&self, line: &str) {
        let Ok(record) = serde_json::from_str::<Value>(line) else { return };
        let mut run = self.lock();
        match record["type"].as_str() {
            Some("start") => {
                run.frames = record["frames"].as_u64().unwrap_or(0);
                run.began = Some(Instant::now());
            }
            Some("frame") => {
                run.done += 1;
                run.last = record["frame"].as_u64().and_then(|n| n.try_into().ok());
            }
            Some("end") => run.seconds = record["seconds"].as_f64(),
            _ => {}
        }
    }

    // Whether the run has ended; stores its result.
    fn has_ended(&self, words: &mut File) -> bool {
        let mut run = self.lock();
        let status = match run.child.as_mut().map(|(child, _)| child.try_wait()) {
            Some(Ok(None)) => return false,
            Some(Ok(status)) => status,
            None | Some(Err(_)) => None,
        };
        let code = status.and_then(|status| status.code()).unwrap_or(-1);
        (run.child, run.requests, run.code) = (None, None, Some(code));
        // Invalid UTF-8 is not shown.
        let _ = words.rewind().and_then(|()| words.read_to_string(&mut run.words));
        true
    }

    /// Stops the current run after its frames in flight, then ends the program with this exit code, after `before_exit`. A
    /// second call stops the run at once. No other run begins.
    pub fn end(&self, code: i32, before_exit: impl Fn() + Clone + Send + 'static) {
        let is_first = !std::mem::replace(&mut self.lock().is_closed, true);
        self.stop();
        let exit = move || -> ! {
            before_exit();
            std::process::exit(code)
        };
        if self.lock().child.is_none() {
            exit();
        }
        if !is_first {
            return;
        }
        say(msg!(
            "stopping the run that the page has started, after its frames in flight; a second signal stops it at once"
        ));
        let (batch, exit_here) = (self.clone(), exit.clone());
        let wait = move || {
            while batch.lock().child.is_some() {
                std::thread::sleep(LOOKED);
            }
            // The run prints itself how to resume.
            batch.lock().words.lines().for_each(|line| say(line.strip_prefix("polyfly: ").unwrap_or(line)));
            exit()
        };
        threads::spawn("wait", wait).map(drop).unwrap_or_else(|_| exit_here());
    }

    /// Asks the run to stop after the frames in flight.
    pub fn stop(&self) {
        if let Some(requests) = &mut self.lock().requests {
            // The process may have ended just now.
            let _ = requests.write_all(b"\n");
        }
    }

    /// Something of the files of the last run; None if there was no run.
    pub fn made<T>(&self, what: impl FnOnce(&Made) -> T) -> Option<T> {
        let made = self.lock().made.clone();
        made.map(|made| what(&made))
    }

    /// The state of the run for the page.
    pub fn state(&self) -> Value {
        let run = self.lock();
        let question = run.question.as_ref().map(|occupied| {
            json!({
                "what": occupied.what.get(language()),
                "can_resume": occupied.can_resume,
                "elsewhere": occupied.elsewhere.iter().map(change_of).collect::<Vec<_>>(),
            })
        });
        let is_running = run.child.is_some();
        // From the frames of this run so far.
        let passed = run.began.filter(|_| is_running && run.done > 0).map(|began| began.elapsed().as_secs_f64());
        let left = passed.map(|passed| passed / run.done as f64 * run.frames.saturating_sub(run.done) as f64);
        let made = run.made.as_ref().map(|made| {
            let film = made.video.as_ref().filter(|_| run.code == Some(0));
            json!({
                "scene": made.scene,
                "folder": made.folder().display().to_string(),
                // Browsers show no other formats.
                "frame": run.last.filter(|_| type_of(&made.frames.path(0)).is_some()),
                "film": film.map(|path| absolute(path).display().to_string()),
                "type": film.and_then(|path| type_of(path)),
            })
        });
        let end = run.code.map(|code| match Exit::of(&code.to_string()) {
            Some(Exit::Done) => "done",
            Some(Exit::Interrupted | Exit::TryAgain) => "stopped",
            _ => "failed",
        });
        json!({
            "number": run.number, "end": end, "running": is_running, "done": run.done, "frames": run.frames, "code": run.code, "words": run.words,
            "left": left, "seconds": run.seconds, "made": made, "question": question,
        })
    }
}
