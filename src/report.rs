//! Output of the program: the log on stdout, the progress bar and remarks on stderr.

mod log;
mod records;

use crate::device::SampleCounter;
use crate::language::{Language, Message, ToMessage, msg};
use crate::output::{OutputError, RunInfo};
use crate::render::stats::{FrameReport, Progress, RunReport};
use crate::scene::text::diagnostic::{Colours, Severity, message};
use crate::threads;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use log::{Log, with_log};
pub use log::{LogFormat, abandon_log, close_log, open_log};
pub use records::SceneFacts;
use records::shares;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

// The bar's steps per frame, and the interval between its moves.
const STEPS: u64 = 1000;
const TICK: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Position {
    // The number of finished frames, and the sample count when the last one finished.
    frames: AtomicU64,
    seen: AtomicU64,
    before: AtomicU64,
}

impl Position {
    // The position of the bar in steps: finished frames, and the finished part of the next one.
    fn position(&self, samples: u64, frame: u64) -> u64 {
        let frames = self.frames.load(Ordering::Relaxed);
        if self.seen.swap(frames, Ordering::Relaxed) != frames {
            self.before.store(samples, Ordering::Relaxed);
        }
        let since = samples.saturating_sub(self.before.load(Ordering::Relaxed));
        let part = u128::from(since) * u128::from(STEPS) / u128::from(frame.max(1));
        frames * STEPS + u64::try_from(part).unwrap_or(STEPS).min(STEPS - 1)
    }
}

// A thread that calls a function at intervals until it is dropped.
struct FrameTicker(Option<(Sender<()>, JoinHandle<()>)>);

impl FrameTicker {
    // If the thread cannot start, the bar only moves at whole frames.
    fn start(look: impl Fn() + Send + 'static) -> FrameTicker {
        let (end, ended) = channel();
        let turns = move || {
            look();
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        };
        FrameTicker(threads::spawn("progress", turns).ok().map(|thread| (end, thread)))
    }
}

impl Drop for FrameTicker {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

/// Writes the log and moves the bar.
pub struct Reporter {
    format: LogFormat,
    bar: ProgressBar,
    both_terminals: bool,
    // The report of the finished run. Its record waits for the exit code.
    ended: Option<RunReport>,
    position: Arc<Position>,
    watch: Option<FrameTicker>,
    // The number of frames, until the remaining time is estimated. None on a terminal, which has the bar.
    unestimated: Option<usize>,
}

// The delay before the estimate, and the minimum remaining seconds for a remark.
const ESTIMATE_AFTER: Duration = Duration::from_secs(2);
const LONG_RUN: f64 = 10.0;

// The text before the first frame, after it, and while the encoder finishes.
const GETTING_READY: &str = "getting ready, {elapsed} gone";
const FINISHING: &str = "{bar:32} {frames} frames are rendered, {elapsed} gone, finishing the files";
const RENDERING: &str = "{bar:32} {percent:>3} %  {frames} frames  {rate}  {elapsed} gone{left}";

fn bar_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("frames", |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            let _ = write!(to, "{}/{}", state.pos() / STEPS, state.len().unwrap_or_default() / STEPS);
        })
        .with_key("rate", |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            let _ = write!(to, "{:.2}/s", state.per_sec() / STEPS as f64);
        })
        .with_key("left", |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            let _ = write!(to, "{}", time_left(state.pos(), state.eta()));
        })
}

// The time left, which is unknown before something is rendered.
fn time_left(done: u64, left: Duration) -> String {
    if done == 0 { String::new() } else { format!(", {:#} to go", HumanDuration(left)) }
}

impl Reporter {
    /// A log on stdout, or on stderr if stdout has the pictures. On a terminal, a bar moves with the counted samples,
    /// given the samples per frame.
    pub fn new(
        format: LogFormat,
        facts: SceneFacts,
        pictures_on_stdout: bool,
        counter: Option<(Arc<SampleCounter>, u64)>,
    ) -> Reporter {
        open_log(format, pictures_on_stdout);
        with_log(|log| log.facts = Some(facts));
        let bar = terminal_bar().with_style(bar_style(GETTING_READY));
        let position = Arc::<Position>::default();
        let watch = counter.filter(|_| !bar.is_hidden()).map(|(counter, frame)| {
            let (bar, position) = (bar.clone(), Arc::clone(&position));
            FrameTicker::start(move || bar.set_position(position.position(counter.samples(), frame)))
        });
        Reporter {
            format,
            both_terminals: !bar.is_hidden() && (pictures_on_stdout || std::io::stdout().is_terminal()),
            bar,
            ended: None,
            position,
            watch,
            unestimated: None,
        }
    }

    // Without a bar, prints once how long the run will take, estimated from the frames of its first seconds.
    fn estimate(&mut self) {
        let Some(frames) = self.unestimated else { return };
        let Some((done, elapsed)) = with_log(|log| (log.frames, log.started.elapsed())) else { return };
        if elapsed < ESTIMATE_AFTER {
            return;
        }
        self.unestimated = None;
        let left = elapsed.as_secs_f64() / done as f64 * frames.saturating_sub(done) as f64;
        if left >= LONG_RUN {
            remark(msg!("frames done: {done} of {frames}, about {left} to go", done, frames, left = duration(left)));
        }
    }

    // Writes to the log. The bar is hidden meanwhile, because both may share a terminal.
    fn write(&self, write: impl FnOnce(&mut Log)) {
        let write = || with_log(write);
        if self.both_terminals {
            self.bar.suspend(write)
        } else {
            write()
        };
    }

    /// Writes the last record: how the run ended, and its exit code. A run that failed before its first frame has one too. Returns
    /// the run's duration and slowest stage; None if it has rendered nothing.
    pub fn close(&mut self, exit_code: u8, failure: Option<String>) -> Option<(Duration, &'static str)> {
        let ended = self.ended.take();
        let has_ended = ended.is_some();
        let mut run = ended.unwrap_or_default();
        run.failure = run.failure.or(failure);
        self.write(|log| {
            if !has_ended {
                run.frames = log.frames;
            }
            log.close(&run, exit_code);
        });
        with_log(|log| (log.started.elapsed(), log.bottleneck(&run))).filter(|_| has_ended)
    }

    /// Why the log is incomplete, if it is. The run goes on without it.
    pub fn lost_log(&self) -> Option<std::io::Error> {
        with_log(|log| log.lost.take()).flatten()
    }
}

impl Progress for Reporter {
    fn start(&mut self, run: &RunInfo, devices: &[String], threads: usize) {
        with_log(|log| log.started = Instant::now());
        self.bar.set_style(bar_style(RENDERING));
        self.bar.set_length(run.frames as u64 * STEPS);
        self.unestimated = self.bar.is_hidden().then_some(run.frames);
        self.write(|log| log.open(run.frames, devices, threads));
    }

    fn frame(&mut self, report: &FrameReport) {
        self.write(|log| log.frame(report));
        let rendered = self.position.frames.fetch_add(1, Ordering::Relaxed) + 1;
        if self.bar.length() == Some(rendered * STEPS) {
            self.bar.set_style(bar_style(FINISHING));
        }
        if self.watch.is_none() {
            self.bar.inc(STEPS);
        }
        self.estimate();
    }

    fn remark(&mut self, text: &Message) {
        self.bar.suspend(|| remark(text));
    }

    fn end(&mut self, run: &RunReport) {
        self.watch = None;
        self.bar.finish_and_clear();
        if let (LogFormat::Text, Some((speed_up, shares))) = (self.format, shares(run)) {
            for s in shares {
                let (percent, seconds) = (format!("{:.1}", 100.0 * s.share), format!("{:.2}", s.busy_seconds));
                remark(msg!(
                    "{device}: {percent} % of the rays, {seconds} s busy",
                    device = s.device,
                    percent,
                    seconds
                ));
            }
            remark(msg!(
                "together {factor} times as fast as the fastest device alone",
                factor = format_args!("{speed_up:.2}")
            ));
        }
        self.ended = Some(run.clone());
    }
}

/// Prints remarks on stderr, and ignores all other progress.
pub struct Remarks;

impl Progress for Remarks {
    fn remark(&mut self, text: &Message) {
        remark(text);
    }
}

static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Turns off the bar, remarks and warnings.
pub fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Whether the bar, remarks and warnings are off.
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

static LANGUAGE: OnceLock<Language> = OnceLock::new();

/// Sets the language of messages. The first call counts.
pub fn set_language(language: Language) {
    let _ = LANGUAGE.set(language);
}

pub fn language() -> Language {
    LANGUAGE.get().copied().unwrap_or_default()
}

/// Prints a remark of one line on stderr, unless -q is given.
pub fn remark(text: impl ToMessage) {
    if !is_quiet() {
        say(text);
    }
}

/// Prints a line on stderr, even with -q, because the user needs it.
pub fn say(text: impl ToMessage) {
    // The program goes on if stderr is closed.
    let _ = writeln!(std::io::stderr(), "polyfly: {}", text.to_message().get(language()));
}

/// Prints `warning: ...` on stderr, unless -q is given.
pub fn warn(text: impl ToMessage) {
    if !is_quiet() {
        fault(&message(Severity::Warning, &text.to_message(), None, Colours::Styled, language()));
    }
}

/// Prints a message on stderr as it is. Its colors show if the terminal supports them and NO_COLOR is not set.
pub fn fault(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

// A bar on stderr; hidden if that is no terminal, or with -q.
fn terminal_bar() -> ProgressBar {
    let is_shown = std::io::stderr().is_terminal() && !is_quiet();
    let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    ProgressBar::with_draw_target(None, target)
}

/// A spinner that names the current step on a terminal. It disappears when it is dropped.
pub struct Spinner(ProgressBar, Option<FrameTicker>);

impl Spinner {
    pub fn new() -> Spinner {
        let bar = terminal_bar();
        let ticked = bar.clone();
        let watch = (!bar.is_hidden()).then(|| FrameTicker::start(move || ticked.tick()));
        Spinner(bar, watch)
    }
    pub fn say(&self, text: &str) {
        self.0.set_message(text.to_owned());
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.1 = None;
        self.0.finish_and_clear();
    }
}

/// A number of seconds as text, rounded up.
pub fn duration(seconds: f64) -> Message {
    let s = seconds.ceil() as u64;
    match s {
        0..=119 => msg!("{number} s", number = s),
        120..=7199 => msg!("{number} min", number = s.div_ceil(60)),
        _ => msg!("{hours} h {minutes} min", hours = s / 3600, minutes = s % 3600 / 60),
    }
}

pub fn size(bytes: u64) -> Message {
    let bytes = bytes as f64;
    match bytes {
        ..1e6 => msg!("{number} kB", number = format_args!("{:.1}", bytes / 1e3)),
        ..1e9 => msg!("{number} MB", number = format_args!("{:.1}", bytes / 1e6)),
        _ => msg!("{number} GB", number = format_args!("{:.2}", bytes / 1e9)),
    }
}

/// Prints a text on stdout. A closed pipe is no error.
pub fn print(text: &str) -> Result<(), OutputError> {
    match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(OutputError::Write("stdout".into(), e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_moves_within_frames() {
        let position = Position::default();
        assert_eq!([0, 50, 100, 900].map(|samples| position.position(samples, 200)), [0, 250, 500, 999]);
        position.frames.store(1, Ordering::Relaxed);
        // Samples counted before belong to the finished frame.
        assert_eq!([200, 250, 399].map(|samples| position.position(samples, 200)), [1000, 1250, 1995]);
        assert_eq!(position.position(u64::MAX, 0), 1999);
    }

    #[test]
    fn the_time_left_is_shown_when_it_is_known() {
        assert_eq!(time_left(0, Duration::ZERO), "");
        assert_eq!(time_left(1, Duration::from_secs(12)), ", 12s to go");
    }
}
