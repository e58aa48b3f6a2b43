//! Being asked to stop: the first signal lets frames in flight finish, the second ends the program where it stands.

use crate::report::remark;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

// A second press within it is the first one's bounce.
const BOUNCE: Duration = Duration::from_secs(1);

/// Hears signals from the program's start on, and passes them to a run.
#[derive(Clone, Default)]
pub struct Stop {
    asked: Arc<Mutex<Asked>>,
}

#[derive(Default)]
struct Asked {
    // The exit code of the signal that came.
    code: Option<i32>,
    run: Option<Arc<AtomicBool>>,
}

impl Stop {
    /// Begins to listen. Frames in flight have `grace`.
    pub fn listen(grace: Duration) -> Stop {
        let stop = Stop::default();
        #[cfg(unix)]
        if let Err(e) = stop.hear_signals(grace) {
            remark(&format!("Ctrl-C will stop at once: {e}"));
        }
        stop
    }

    /// The flag that a run looks at.
    pub fn attach(&self, flag: Arc<AtomicBool>) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        flag.fetch_or(asked.code.is_some(), Ordering::Relaxed);
        asked.run = Some(flag);
    }

    /// Whether whoever stopped it will try again: it was no Ctrl-C.
    pub fn is_temporary(&self) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).code == Some(75)
    }

    #[cfg(unix)]
    fn hear_signals(&self, grace: Duration) -> std::io::Result<()> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let ignored = ignored_signals();
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored & (1 << (s - 1)) == 0);
        let mut signals = signal_hook::iterator::Signals::new(wanted)?;
        let asked = Arc::clone(&self.asked);
        std::thread::spawn(move || {
            let mut first: Option<Instant> = None;
            for signal in signals.forever() {
                let code = if signal == SIGINT { 130 } else { 75 };
                match first {
                    None => {
                        first = Some(Instant::now());
                        let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
                        asked.code = Some(code);
                        match &asked.run {
                            Some(run) => run.store(true, Ordering::Relaxed),
                            // Nothing is in flight yet.
                            None => std::process::exit(code),
                        }
                        remark("stopping after the frames in flight; once more stops at once");
                        std::thread::spawn(move || {
                            std::thread::sleep(grace);
                            remark(&format!("frames in flight took more than {} s: dropped", grace.as_secs()));
                            std::process::exit(code);
                        });
                    }
                    Some(at) if at.elapsed() < BOUNCE => {}
                    Some(_) => {
                        remark("stopped at once; unfinished files are hidden ones, which the next run removes");
                        std::process::exit(code);
                    }
                }
            }
        });
        Ok(())
    }
}

// What the parent has told this process to ignore (nohup, `&` in scripts): a bit each, from signal 1 on.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The command line that goes on with an interrupted run.
pub fn resuming_command() -> String {
    let words = std::env::args_os().map(|w| w.to_string_lossy().into_owned());
    let mut words: Vec<String> = words.filter(|w| w != "--overwrite" && w != "--resume").map(|w| quoted(&w)).collect();
    words.push("--resume".into());
    words.join(" ")
}
