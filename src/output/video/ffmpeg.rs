//! ffmpeg as a child process: found, fed through a pipe, read line by line, and killed when it stalls.

use crate::language::{Message, msg};
use crate::output::error::OutputError;
use crate::system::{self, ChildGroup, PYTHON, enlarge_pipe};
use crate::threads::{self, NoThread, lock};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use ffmpeg_sidecar::log_parser::try_parse_progress;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct Ffmpeg {
    pub program: PathBuf,
    /// The first line of `ffmpeg -version`.
    pub version: String,
}

// Time-out of `ffmpeg -version`.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);
// Maximum bytes that are kept of a program's output, and of a line.
const MAX_OUTPUT: u64 = 64 << 10;
const MAX_LINE: usize = 4 << 10;
// How long to read the pipe after the process has ended. A grandchild may hold it open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
// How long to wait for a killed process. One that is blocked in a driver may never end.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Finds ffmpeg: the named one, the one on the PATH, then that of PyPI's imageio-ffmpeg.
pub fn find_ffmpeg(named: Option<&Path>) -> Result<Ffmpeg, OutputError> {
    let that = |program: &Path| -> Result<Option<Ffmpeg>, NoThread> {
        let said = output_text(program, words("-version"), VERSION_TIMEOUT)?;
        let version = said.map(|said| said.lines().next().unwrap_or_default().to_owned());
        Ok(version.map(|version| Ffmpeg { program: program.to_owned(), version }))
    };
    if let Some(program) = named {
        let missing = || OutputError::NoEncoder(msg!("`{name}` does not run as ffmpeg", name = program.display()));
        return that(program)?.ok_or_else(missing);
    }
    if let Some(found) = that(Path::new("ffmpeg"))? {
        return Ok(found);
    }
    let packed = in_python()?.map(|path| that(&path)).transpose()?.flatten();
    packed.ok_or_else(|| {
        OutputError::NoEncoder(msg!(
            "ffmpeg was not found: install it (Debian: apt-get install ffmpeg; anywhere: pip install imageio-ffmpeg), name one with --ffmpeg, or ask for a .y4m video, which needs none",
        ))
    })
}

// The ffmpeg of PyPI's package imageio-ffmpeg, if Python has it. Python imports from its working folder first, so it starts in its own
// folder, and imports from absolute folders alone.
fn in_python() -> Result<Option<PathBuf>, NoThread> {
    const CODE: &str = "import os, sys; sys.path = [p for p in sys.path if os.path.isabs(p)]; \
                        import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())";
    let Ok(mut python) = system::program(PYTHON) else { return Ok(None) };
    let folder = Path::new(python.get_program()).parent().map(Path::to_owned);
    python.args(["-c", CODE]).current_dir(folder.unwrap_or_default());
    let path = text_of(python, VERSION_TIMEOUT)?.map(|said| PathBuf::from(said.trim()));
    Ok(path.filter(|path| path.is_absolute()))
}

/// What a program prints on standard output, if it succeeds in time.
pub fn output_text(
    program: &Path,
    arguments: impl IntoIterator<Item = String>,
    timeout: Duration,
) -> Result<Option<String>, NoThread> {
    let Ok(mut command) = system::program(program) else { return Ok(None) };
    command.args(arguments);
    text_of(command, timeout)
}

fn text_of(mut command: Command, timeout: Duration) -> Result<Option<String>, NoThread> {
    let mut process = match Process::of(command.stdin(Stdio::null()), timeout) {
        Ok(process) => process,
        Err(e) => return NoThread::of(&e).map_or(Ok(None), Err),
    };
    let mut text = Vec::new();
    let read = process.by_ref().take(MAX_OUTPUT).read_to_end(&mut text);
    // A program that prints more ends with an error.
    drop(process.child.stdout.take());
    let is_good =
        read.is_ok() && process.wait().is_ok_and(|status| status.success()) && !process.watch.state().timed_out;
    Ok(is_good.then(|| String::from_utf8_lossy(&text).into_owned()))
}

// The lines of a pipe. They end with a line feed, or with a carriage return alone, as ffmpeg's progress does.
fn lines(pipe: impl Read, mut hear: impl FnMut(&str)) {
    let mut reader = std::io::BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        let read = match reader.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let end = read.iter().position(|&b| b == b'\n' || b == b'\r');
        let part = &read[..end.unwrap_or(read.len())];
        line.extend_from_slice(&part[..part.len().min(MAX_LINE - line.len())]);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() && !line.is_empty() {
            hear(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    if !line.is_empty() {
        hear(&String::from_utf8_lossy(&line));
    }
}

// A process and its deadline.
struct Watchdog {
    group: ChildGroup,
    timeout: Duration,
    state: Mutex<WatchdogState>,
}

#[derive(Default)]
struct WatchdogState {
    deadline: Option<Instant>,
    timed_out: bool,
}

// All running processes; None while no thread watches them.
static WATCHED: Mutex<Option<Vec<Weak<Watchdog>>>> = Mutex::new(None);

impl Watchdog {
    fn register(watch: &Arc<Watchdog>) -> Result<(), NoThread> {
        let mut watched = lock(&WATCHED);
        if watched.is_none() {
            threads::spawn("watch", end_late)?;
        }
        watched.get_or_insert_default().push(Arc::downgrade(watch));
        Ok(())
    }
    fn state(&self) -> MutexGuard<'_, WatchdogState> {
        lock(&self.state)
    }
    // Starts the time-out.
    fn begin(&self) {
        self.state().deadline = Instant::now().checked_add(self.timeout);
    }
    fn pause(&self) {
        self.state().deadline = None;
    }
    // Starts the time-out again, if it is running.
    fn renew(&self) {
        if let Some(deadline) = &mut self.state().deadline {
            *deadline = Instant::now().checked_add(self.timeout).unwrap_or(*deadline);
        }
    }
}

// Kills processes past their deadline, until none is left.
fn end_late() {
    const STEP: Duration = Duration::from_millis(50);
    loop {
        std::thread::sleep(STEP);
        let mut watched = lock(&WATCHED);
        let running: Vec<_> = watched.iter().flatten().filter_map(Weak::upgrade).collect();
        if running.is_empty() {
            *watched = None;
            return;
        }
        for watch in &running {
            let mut state = watch.state();
            if state.deadline.is_some_and(|deadline| deadline < Instant::now()) && !state.timed_out {
                state.timed_out = true;
                watch.group.kill();
            }
        }
        *watched = Some(running.iter().map(Arc::downgrade).collect());
    }
}

/// Kills all running processes, for a program that is about to exit.
pub fn end_all() {
    lock(&WATCHED).iter().flatten().filter_map(Weak::upgrade).for_each(|watch| watch.group.kill());
}

// What ffmpeg says of a file that it opens without a decoder, as a join does.
const NO_DECODER: &str = "not on whitelist 'none'";

// How many lines of ffmpeg's output are kept.
const LAST_LINES: usize = 5;

// The last lines of ffmpeg's output, and what it means.
#[derive(Default)]
struct Transcript {
    lines: VecDeque<String>,
    // Those that ffmpeg marks as errors. What they say is the cause; the others tell of streams and settings.
    errors: VecDeque<String>,
    frames: u64,
}

impl Transcript {
    // Adds a line, without control characters for terminals. Returns whether its number of frames has grown.
    fn hear(&mut self, line: &str) -> bool {
        let progress = try_parse_progress(line).map(|p| u64::from(p.frame));
        let has_moved = progress.is_some_and(|frames| frames > self.frames);
        if let Some(frames) = progress {
            self.frames = frames;
        } else {
            let is_wrong = is_error(line) && !line.contains(NO_DECODER);
            let lines = if is_wrong { &mut self.errors } else { &mut self.lines };
            lines.truncate(LAST_LINES - 1);
            lines.push_front(line.chars().map(|c| if c.is_control() && c != '\t' { '.' } else { c }).collect());
        }
        has_moved
    }

    // The last errors; the last lines if no line is marked as one.
    fn words(&self) -> String {
        let lines = if self.errors.is_empty() { &self.lines } else { &self.errors };
        lines.iter().rev().map(|line| format!("{line}\n")).collect()
    }
}

// Whether ffmpeg marks a line as an error, in the brackets after those of the speaker.
fn is_error(line: &str) -> bool {
    let mut rest = line.trim_start();
    while let Some((word, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        match word {
            "error" | "fatal" | "panic" => return true,
            _ => rest = behind.trim_start(),
        }
    }
    false
}

/// A running program that is fed or read. Each operation has the time-out for itself.
pub struct Process {
    child: Child,
    heard: Arc<Mutex<Transcript>>,
    // Disconnected when the errors have ended.
    listening: Receiver<()>,
    watch: Arc<Watchdog>,
    // The file that it writes, if it writes one: its last argument.
    file: Option<PathBuf>,
}

impl Process {
    pub fn start(program: &Path, arguments: &[String], timeout: Duration) -> Result<Process, OutputError> {
        let started = system::program(program).and_then(|mut command| {
            command.args(words("-loglevel level+info -hide_banner -y")).args(arguments);
            Process::of(command.stdin(Stdio::piped()), timeout)
        });
        let mut process = started.map_err(|e| {
            let failed =
                || OutputError::NoEncoder(msg!("cannot start {name}: {why}", name = program.display(), why = e));
            NoThread::of(&e).map_or_else(failed, OutputError::from)
        })?;
        process.child.stdin.iter().for_each(enlarge_pipe);
        process.file = arguments.last().and_then(|last| last.strip_prefix(FILE)).map(PathBuf::from);
        Ok(process)
    }

    // Its errors are read on another thread. That thread is never joined, because another process may hold the pipe
    // open. The process is killed if no thread can watch it.
    fn of(command: &mut Command, timeout: Duration) -> io::Result<Process> {
        // Ctrl-C must reach only this program. ffmpeg would stop at once and lose the frames in flight.
        let (mut child, group) = ChildGroup::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let watch = Arc::new(Watchdog { group, timeout, state: Mutex::default() });
        let (alive, listening) = bounded(0);
        let heard = Arc::<Mutex<Transcript>>::default();
        let (pipe, here, watched) = (child.stderr.take(), Arc::clone(&heard), Arc::downgrade(&watch));
        let listen = move || {
            let _alive: Sender<()> = alive;
            let hear = |line: &str| {
                if lock(&here).hear(line)
                    && let Some(watch) = watched.upgrade()
                {
                    watch.renew();
                }
            };
            pipe.map(|pipe| lines(pipe, hear))
        };
        if let Err(e) = Watchdog::register(&watch).and_then(|()| threads::spawn("listen", listen)) {
            watch.group.kill();
            let _ = child.wait();
            return Err(e.into());
        }
        Ok(Process { child, heard, listening, watch, file: None })
    }

    // Waits until the process has ended and its errors are read. Each change of the file that it writes is progress:
    // moving the index of a large film to its front takes long, and no line tells of it.
    fn wait(&mut self) -> io::Result<ExitStatus> {
        const STEP: Duration = Duration::from_millis(10);
        self.watch.begin();
        let mut killed = None::<Instant>;
        let mut seen = None;
        loop {
            let now = self.file.as_ref().and_then(|file| std::fs::metadata(file).ok());
            let now = now.map(|what| (what.len(), what.modified().ok()));
            if now != seen {
                self.watch.renew();
                seen = now;
            }
            // The pipe usually closes when the process ends.
            let is_silent = self.listening.recv_timeout(STEP) == Err(RecvTimeoutError::Disconnected);
            if let Some(status) = self.child.try_wait()? {
                let _ = self.listening.recv_timeout(DRAIN_TIMEOUT);
                return Ok(status);
            }
            if is_silent {
                std::thread::sleep(STEP / 10);
            }
            if self.watch.state().timed_out && killed.get_or_insert_with(Instant::now).elapsed() > KILL_TIMEOUT {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it was killed, and does not go"));
            }
        }
    }

    /// Writes bytes to standard input. A broken pipe means that ffmpeg has ended; [`Process::finish`] returns the
    /// reason.
    pub fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.child.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        self.watch.begin();
        let written = stdin.write_all(bytes);
        self.watch.pause();
        written
    }

    /// Waits for the end. If ffmpeg counts frames, it must report `expected` ones. `doing` is for messages.
    pub fn finish(mut self, expected: Option<u64>, doing: Message) -> Result<(), OutputError> {
        drop(self.child.stdin.take());
        let status = self.wait();
        let transcript = std::mem::take(&mut *lock(&self.heard));
        let what = match status {
            _ if self.watch.state().timed_out => {
                msg!(
                    "ffmpeg made no progress for {seconds} s {doing}, and was killed",
                    seconds = self.watch.timeout.as_secs(),
                    doing
                )
            }
            Err(e) => msg!("cannot wait for ffmpeg: {why}", why = e),
            Ok(status) if !status.success() => {
                msg!("ffmpeg failed {doing} ({status})", doing, status = status.to_string())
            }
            Ok(_) if !transcript.errors.is_empty() => msg!("ffmpeg reported an error {doing}", doing),
            Ok(_) => match expected {
                Some(n) if transcript.frames != n => {
                    msg!("ffmpeg took {taken} of {all} frames {doing}", taken = transcript.frames, all = n, doing)
                }
                _ => return Ok(()),
            },
        };
        Err(OutputError::Encoder { what, words: transcript.words() })
    }
}

impl Drop for Process {
    // An ffmpeg that nobody waits for any more is killed, so that it does not go on to write its file.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.watch.state().timed_out = true;
            self.watch.group.kill();
            let _ = self.wait();
        }
    }
}

impl Read for Process {
    /// Reads bytes of standard output.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let stdout = self.child.stdout.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        self.watch.begin();
        let read = stdout.read(bytes);
        self.watch.pause();
        read
    }
}

// The protocol of a file in ffmpeg's arguments.
const FILE: &str = "file:";

/// A file as an argument of ffmpeg, whose name is never taken for an option, a protocol or a pattern.
pub fn url(file: &Path) -> String {
    format!("{FILE}{}", file.display())
}

/// Splits a line into arguments.
pub fn words(line: &str) -> impl Iterator<Item = String> {
    line.split_ascii_whitespace().map(str::to_owned)
}

/// When each frame of a video is shown, in the stream's ticks, in coding order; and how reading ended.
pub fn times(program: &Path, file: &Path, timeout: Duration) -> (Vec<i64>, Result<(), OutputError>) {
    let asked = words("-nostdin -i").chain([url(file)]).chain(words("-map 0:v -c copy -f framecrc -"));
    let mut times = Vec::new();
    let ended = Process::start(program, &asked.collect::<Vec<_>>(), timeout).and_then(|mut process| {
        // Columns: stream, dts, pts, duration, bytes, checksum.
        let pts = |line: &str| line.split(',').nth(2)?.trim().parse::<i64>().ok();
        lines(&mut process, |line| times.extend(Some(line).filter(|line| !line.starts_with('#')).and_then(pts)));
        process.finish(None, msg!("checking the finished video"))
    });
    (times, ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8]) -> Vec<String> {
        let mut all = Vec::new();
        lines(bytes, |line| all.push(line.to_owned()));
        all
    }

    #[test]
    fn lines_end_by_either_sign_and_are_cut() {
        assert_eq!(heard(b"one\r\ntwo\rthree\n\nfour"), ["one", "two", "three", "four"]);
        let long = [&vec![b'a'; 3 * MAX_LINE][..], b"\nend"].concat();
        let found = heard(&long);
        assert_eq!((found[0].len(), found[1].as_str(), found.len()), (MAX_LINE, "end", 2));
        assert_eq!(heard(b"\xff\x1b[2J"), ["\u{fffd}\u{1b}[2J"]);
    }

    #[test]
    fn errors_are_what_ffmpeg_says_of_lines() {
        for (line, expected) in [
            ("[error] no room", true),
            ("[libx264 @ 0x5] [error] no", true),
            ("[fatal] x", true),
            ("[info] Output #0, mp4, to 'file:/x/[error]/v.mp4':", false),
            ("[warning] x", false),
            ("all is [error]", false),
        ] {
            assert_eq!(is_error(line), expected, "{line}");
        }
        let mut t = Transcript::default();
        let line = "[info] frame=   12 fps=0.0 q=-1.0 size=       5kB time=00:00:00.40 bitrate= 100.0kbits/s speed=1x";
        let heard = [t.hear(line), t.hear(line)];
        assert!(heard == [true, false] && t.frames == 12 && t.errors.is_empty());
        for n in 0..9 {
            t.hear(&format!("[info] Stream {n}"));
        }
        assert_eq!(t.words().lines().count(), LAST_LINES);
        assert!(t.words().ends_with("[info] Stream 8\n"), "{}", t.words());
        t.hear("[h264 @ 0x5] [error] Codec (h264) not on whitelist 'none'");
        assert!(t.errors.is_empty());
        t.hear("[error] no\u{1b} room");
        t.hear("[info] frames left");
        assert_eq!(t.words(), "[error] no. room\n");
    }
}
