//! Being asked to stop: the first signal lets frames in flight finish, the second ends the program where it stands.

use crate::cancel::Cancel;
use crate::cli::Failure;
use crate::error::Error;
use crate::output::video::ffmpeg::end_all;
use crate::report::remark;
use crate::threads;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

// A second press within it is the first one's bounce.
const BOUNCE: Duration = Duration::from_secs(1);

// What hears signals, from the program's start on.
static HEARING: OnceLock<Stop> = OnceLock::new();

// What a signal does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Job {
    // The command line is not read yet, and nothing is begun.
    #[default]
    Unknown,
    // One that stops well, and may take so long.
    Stopping(Duration),
    // One that ends where it stands, as if nobody heard.
    Other,
    // One that hears signals itself.
    #[cfg(unix)]
    Elsewhere,
}

// Writes the log's last record.
type Farewell = Box<dyn Fn(u8, &str) + Send>;

/// Hears signals from the program's start on, and passes them to a run.
#[derive(Clone, Default)]
pub struct Stop {
    asked: Arc<Mutex<ShutdownState>>,
}

#[derive(Default)]
struct ShutdownState {
    // The exit code of the signal that came.
    code: Option<i32>,
    run: Option<Cancel>,
    // The command that goes on with what is stopped.
    goes_on: Option<String>,
    // Whether the run has ended and all is made: only the log has not been read to its end.
    is_made: bool,
    job: Job,
    farewell: Option<Farewell>,
}

/// Installs the signal handlers, before anything else is done.
pub fn listen_early() {
    #[cfg(unix)]
    if let Err(e) = HEARING.get_or_init(Stop::default).listen_to_signals() {
        remark(&format!("Ctrl-C will stop at once: {e}"));
    }
}

/// Signals end the program where it stands, as if nobody heard them.
pub fn end_at_once() {
    HEARING.get_or_init(Stop::default).lock().job = Job::Other;
}

/// The job hears signals itself from now on.
#[cfg(unix)]
pub fn exit_now() {
    HEARING.get_or_init(Stop::default).lock().job = Job::Elsewhere;
}

impl Stop {
    /// What hears signals. Frames in flight have `grace`.
    pub fn listen(grace: Duration) -> Stop {
        let stop = HEARING.get_or_init(Stop::default);
        stop.lock().job = Job::Stopping(grace);
        stop.clone()
    }

    /// What writes the log's last record where the run is left.
    pub fn on_leave(&self, farewell: Option<impl Fn(u8, &str) + Send + 'static>) {
        self.lock().farewell = farewell.map(|farewell| -> Farewell { Box::new(farewell) });
    }

    /// What ends a run, and the command that goes on with it.
    pub fn attach(&self, run: Cancel, goes_on: Option<String>) {
        let mut asked = self.lock();
        if asked.code.is_some() {
            run.stop();
        }
        (asked.run, asked.goes_on) = (Some(run), goes_on);
    }

    /// All is made: what is asked from now on can only be to wait for nobody.
    pub fn made(&self) {
        self.lock().is_made = true;
    }

    fn lock(&self) -> MutexGuard<'_, ShutdownState> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a run failed. Of one that a signal interrupted, says how to go on.
    pub fn failure(&self, error: Error) -> Failure {
        match error {
            Error::Interrupted { .. } | Error::VideoInterrupted(_) => {
                self.tell_how_to_go_on();
                Failure::Interrupted { error, is_temporary: self.is_temporary() }
            }
            other => other.into(),
        }
    }

    /// Says how to go on, if that is known.
    fn tell_how_to_go_on(&self) {
        if let Some(command) = &self.lock().goes_on {
            remark(&format!("to go on: {command}"));
        }
    }

    // Leaves everything where it stands, but no process of ours behind.
    #[cfg(unix)]
    fn leave(&self, code: i32, words: &str) -> ! {
        end_all();
        let is_made = {
            let asked = self.lock();
            asked.is_made || asked.run.as_ref().is_some_and(Cancel::is_complete)
        };
        if is_made {
            remark("all is made; nobody has read the rest of the log");
            std::process::exit(code);
        }
        remark(words);
        self.tell_how_to_go_on();
        let farewell = self.lock().farewell.take();
        if let Some(farewell) = farewell {
            farewell(u8::try_from(code).unwrap_or(u8::MAX), words);
        }
        std::process::exit(code)
    }

    /// Whether whoever stopped it will try again: it was no Ctrl-C.
    fn is_temporary(&self) -> bool {
        self.lock().code == Some(75)
    }

    #[cfg(unix)]
    fn listen_to_signals(&self) -> std::io::Result<()> {
        use signal_hook::consts::SIGINT;
        // The thread first: signals that are taken, and that nobody hears, could not end the program.
        let (give, taken) = crossbeam_channel::bounded::<signal_hook::iterator::Signals>(1);
        let stop = self.clone();
        let hear = move || {
            let Ok(mut signals) = taken.recv() else { return };
            let mut first: Option<Instant> = None;
            for signal in signals.forever() {
                let code = if signal == SIGINT { 130 } else { 75 };
                let job = stop.lock().job;
                if job == Job::Elsewhere {
                    continue;
                }
                if job == Job::Other {
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
                match first {
                    None => {
                        first = Some(Instant::now());
                        let mut asked = stop.lock();
                        asked.code = Some(code);
                        if asked.is_made {
                            drop(asked);
                            stop.leave(code, "");
                        }
                        match &asked.run {
                            Some(run) => run.stop(),
                            // Nothing is in flight yet.
                            None => {
                                end_all();
                                remark("stopped before anything was begun: the same command begins it");
                                std::process::exit(code);
                            }
                        }
                        drop(asked);
                        remark("stopping after what is in flight; once more stops at once");
                        let Job::Stopping(grace) = job else { continue };
                        let (stop, seconds) = (stop.clone(), grace.as_secs());
                        let words =
                            format!("what was in flight, frames or the video, took more than {seconds} s: dropped");
                        let wait = move || {
                            std::thread::sleep(grace);
                            stop.leave(code, &words);
                        };
                        // Without it a second signal is needed.
                        let _ = threads::spawn("grace", wait);
                    }
                    Some(at) if at.elapsed() < BOUNCE => {}
                    Some(_) => {
                        stop.leave(
                            code,
                            "stopped at once; unfinished files are hidden ones, which the next run removes",
                        );
                    }
                }
            }
        };
        threads::spawn("signals", hear)?;
        let _ = give.send(signals()?);
        Ok(())
    }
}

/// Ends the program where the system gives no more memory: an abort would tell nobody what to do.
pub fn out_of_memory(bytes: usize) -> ! {
    use std::io::Write;
    let mut words = [0_u8; 300];
    let _ = writeln!(
        &mut words[..],
        "polyfly: there is no memory for {} MiB more: ask for a smaller --size, fewer --threads or smaller files, or take another \
         machine; what is written is whole",
        bytes.div_ceil(1 << 20)
    );
    #[cfg(unix)]
    {
        let length = words.iter().position(|&byte| byte == 0).unwrap_or(words.len());
        let _ = rustix::io::write(rustix::stdio::stderr(), &words[..length]);
        signal_hook::low_level::exit(69)
    }
    #[cfg(not(unix))]
    std::process::abort()
}

/// Of signals that are not about stopping: where the parent has said that ended children are nobody's business, ffmpeg's end
/// could not be waited for; and a file above the user's limit of size is a failed write, as on a full disk.
pub fn take_own_signals() {
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGCHLD, signal_hook::consts::SIGXFSZ] {
        // Ignored, a write that is too long fails as it should already.
        let is_ignored = ignored_signals() & (1 << (signal - 1)) != 0;
        if (signal == signal_hook::consts::SIGCHLD) == is_ignored {
            let _ = signal_hook::flag::register(signal, Arc::default());
        }
    }
}

/// The signals that ask the program to stop, except those that the parent has told it to ignore.
#[cfg(unix)]
pub fn signals() -> std::io::Result<signal_hook::iterator::Signals> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored & (1 << (s - 1)) == 0);
    signal_hook::iterator::Signals::new(wanted)
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

/// The command line of this program, as a shell takes it.
pub fn this_command() -> String {
    std::env::args_os().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// The command line that goes on with an interrupted run, whose scene came on stdin or did not, and which replaces a video or does
/// not.
pub fn resuming_command(is_on_stdin: bool, replaces_video: bool) -> String {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let flags = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_dropped = |word: &str| word == "--resume" || (word == "--overwrite" && !replaces_video);
    let is_kept = |(i, word): &(usize, &String)| *i > flags || !is_dropped(word);
    let mut words: Vec<String> = words.iter().enumerate().filter(is_kept).map(|(_, word)| quoted(word)).collect();
    // Before what may stand behind `--`.
    words.insert(1.min(words.len()), "--resume".into());
    let command = words.join(" ");
    match is_on_stdin {
        true => match std::fs::read_link("/proc/self/fd/0").ok().filter(|path| path.is_file()) {
            Some(file) => format!("{command} <{}", quoted(&file.display().to_string())),
            None => format!("{command}   (with the same scene on its standard input)"),
        },
        false => command,
    }
}
