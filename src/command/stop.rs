//! Handles signals and other requests to stop: the first one lets frames in flight finish, the second one ends the
//! program at once.

use crate::cancel::Cancel;
use crate::cli::{Exit, Failure, environment};
use crate::error::Error;
use crate::language::{Message, msg};
use crate::output::OutputError;
use crate::output::video::ffmpeg::end_all;
use crate::report::{abandon_log, say};
use crate::system::{self, StopRequest, command_word};
use crate::threads::{self, lock};
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

// A second signal within this time counts as the first one.
const BOUNCE: Duration = Duration::from_secs(1);

#[derive(Clone)]
enum Job {
    // The command line is not parsed yet, and nothing has begun.
    Unknown,
    // A run, whose frames in flight have this long to finish.
    Stopping(Duration),
    // A command that ends at once, as without a handler.
    Other,
    // A command that stops itself; it receives the exit code.
    Own(Arc<dyn Fn(i32) + Send + Sync>),
}

// The state that signals act on, from the program's start.
struct ShutdownState {
    // When the first signal arrived, and its exit code.
    first: Option<(Instant, i32)>,
    run: Option<Cancel>,
    // The command line that resumes the stopped run.
    goes_on: Option<String>,
    // Whether all files of the run are complete, and only the log's reader is behind.
    is_made: bool,
    job: Job,
}

static STATE: Mutex<ShutdownState> =
    Mutex::new(ShutdownState { first: None, run: None, goes_on: None, is_made: false, job: Job::Unknown });

/// The environment variable of a run that another polyfly has started. If it is `stdin`, each byte of standard input
/// is a request to stop, and so is its end.
pub const STOP_BY: &str = "POLYFLY_STOP";
/// Its value.
pub const STDIN: &str = "stdin";

/// Installs the signal handlers before anything else.
pub fn listen_early() {
    if let Err(e) = system::on_stop_request(hear) {
        say(msg!("Ctrl-C will stop at once: {why}", why = e));
    }
    if environment(STOP_BY).as_deref() == Some(STDIN) {
        // If this thread cannot start, only signals stop the run.
        let _ = threads::spawn("stdin", || {
            std::io::stdin().lock().bytes().map_while(Result::ok).for_each(|_| hear(StopRequest::TERMINATE));
            hear(StopRequest::TERMINATE);
        });
    }
}

/// Signals end the program at once, as without a handler.
pub fn end_at_once() {
    lock(&STATE).job = Job::Other;
}

/// Signals are passed to a job that stops by itself, as exit codes.
pub fn pass_to(job: impl Fn(i32) + Send + Sync + 'static) {
    lock(&STATE).job = Job::Own(Arc::new(job));
}

/// Signals stop the run that is attached, now or later. Frames in flight have `grace`.
pub fn listen(grace: Duration) {
    lock(&STATE).job = Job::Stopping(grace);
}

/// Attaches a run's handle, and the command that resumes it.
pub fn attach(run: Cancel, goes_on: Option<String>) {
    let mut state = lock(&STATE);
    if state.first.is_some() {
        run.stop();
    }
    (state.run, state.goes_on) = (Some(run), goes_on);
}

/// All files of the run are complete: a later signal only ends the wait for the log's reader.
pub fn outputs_complete() {
    lock(&STATE).is_made = true;
}

/// The reason why a run failed. If a signal interrupted it, this prints the command that resumes it.
pub fn failure(error: Error) -> Failure {
    if !matches!(error, Error::Interrupted { .. } | Error::Output(OutputError::VideoInterrupted(_))) {
        return error.into();
    }
    tell_how_to_go_on();
    // After a signal other than Ctrl-C, the sender will run the command again.
    Failure::Interrupted {
        error,
        is_temporary: lock(&STATE).first.is_some_and(|(_, code)| code == Exit::TryAgain as i32),
    }
}

fn tell_how_to_go_on() {
    if let Some(command) = &lock(&STATE).goes_on {
        say(msg!("to resume: {command}", command));
    }
}

// Ends the program and its child processes at once.
fn exit_now(code: i32, words: Message) -> ! {
    end_all();
    let is_made = {
        let state = lock(&STATE);
        state.is_made || state.run.as_ref().is_some_and(Cancel::is_complete)
    };
    if is_made {
        say(msg!("all files are complete; the rest of the log was not read"));
        std::process::exit(code);
    }
    say(&words);
    tell_how_to_go_on();
    abandon_log(u8::try_from(code).unwrap_or(u8::MAX), words.to_string());
    std::process::exit(code)
}

fn hear(request: StopRequest) {
    let code = if request.is_interrupt() { Exit::Interrupted } else { Exit::TryAgain } as i32;
    let job = lock(&STATE).job.clone();
    match job {
        Job::Own(job) => job(code),
        Job::Other => request.obey(),
        Job::Unknown | Job::Stopping(_) => {
            let mut state = lock(&STATE);
            let first = state.first;
            state.first = first.or_else(|| Some((Instant::now(), code)));
            drop(state);
            match first {
                None => stop(code, &job),
                Some((at, _)) if at.elapsed() < BOUNCE => {}
                Some(_) => exit_now(
                    code,
                    msg!("stopped at once; unfinished files are hidden ones, which the next run removes"),
                ),
            }
        }
    }
}

// Asks a run to stop after the frames in flight.
fn stop(code: i32, job: &Job) {
    let state = lock(&STATE);
    let is_made = state.is_made;
    match &state.run {
        Some(_) if is_made => {}
        Some(run) => run.stop(),
        None => {
            // No frame is in flight yet.
            end_all();
            let words = msg!("stopped before any work began: give the same command again");
            say(&words);
            abandon_log(u8::try_from(code).unwrap_or(u8::MAX), words.to_string());
            std::process::exit(code);
        }
    }
    drop(state);
    if is_made {
        exit_now(code, String::new().into());
    }
    say(msg!("stopping after the frames in flight; a second signal stops at once"));
    let Job::Stopping(grace) = *job else { return };
    let wait = move || {
        std::thread::sleep(grace);
        exit_now(
            code,
            msg!(
                "the frames or the video in flight took more than {seconds} s, and are dropped",
                seconds = grace.as_secs()
            ),
        );
    };
    // If this thread cannot start, a second signal is needed.
    let _ = threads::spawn("grace", wait);
}

/// Ends the program if an allocation fails, with exit code 69 and a message instead of an abort. It allocates
/// nothing, and files on disk stay complete.
pub fn out_of_memory(bytes: usize) -> ! {
    use std::io::Write;
    let mut words = [0_u8; 300];
    let _ = writeln!(
        &mut words[..],
        "polyfly: there is no memory for {} MiB more: ask for a smaller --size, fewer --threads or smaller files, or take another \
         machine; files that were written are complete",
        bytes.div_ceil(1 << 20)
    );
    let length = words.iter().position(|&byte| byte == 0).unwrap_or(words.len());
    system::exit_without_memory(&words[..length], Exit::Unavailable as i32)
}

/// The command line of this program, quoted for a shell.
pub fn this_command() -> String {
    std::env::args_os().map(|word| command_word(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// The command line that resumes an interrupted run. The arguments tell whether the scene came from stdin, and
/// whether the run replaces a video.
pub fn resuming_command(is_on_stdin: bool, replaces_video: bool) -> String {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let flags = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_dropped = |word: &str| word == "--resume" || (word == "--overwrite" && !replaces_video);
    let is_kept = |(i, word): &(usize, &String)| *i > flags || !is_dropped(word);
    let mut words: Vec<String> = words.iter().enumerate().filter(is_kept).map(|(_, word)| command_word(word)).collect();
    // In front of any `--`.
    words.insert(1.min(words.len()), "--resume".into());
    let command = words.join(" ");
    match is_on_stdin {
        true => match std::fs::read_link("/proc/self/fd/0").ok().filter(|path| path.is_file()) {
            Some(file) => format!("{command} <{}", command_word(&file.display().to_string())),
            None => format!("{command}   (with the same scene on its standard input)"),
        },
        false => command,
    }
}
