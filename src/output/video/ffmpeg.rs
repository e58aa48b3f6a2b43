//! ffmpeg as a program: found, fed through a pipe, watched line by line, and ended when it keeps still.

use super::mp4::PacketChecksum;
use crate::output::error::OutputError;
use crate::threads::{self, NoThread};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use ffmpeg_sidecar::child::FfmpegChild;
use ffmpeg_sidecar::command::FfmpegCommand;
use ffmpeg_sidecar::log_parser::try_parse_progress;
use std::collections::BTreeSet;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// An ffmpeg that runs here.
#[derive(Clone, Debug)]
pub struct Ffmpeg {
    /// The program.
    pub program: PathBuf,
    /// What it says first of itself.
    pub version: String,
}

/// Finds ffmpeg: the one named, the path's, then PyPI imageio-ffmpeg's.
///
/// # Errors
/// There is none, or the one named does not run.
pub fn find_ffmpeg(named: Option<&Path>) -> Result<Ffmpeg, OutputError> {
    let that = |program: &Path| -> Result<Option<Ffmpeg>, NoThread> {
        let version = |said: String| said.lines().next().unwrap_or_default().to_owned();
        let said = output_text(program, &["-version"], VERSION_TIMEOUT)?;
        Ok(said.map(|said| Ffmpeg { program: program.to_owned(), version: version(said) }))
    };
    if let Some(program) = named {
        let missing = || OutputError::NoEncoder(format!("`{}` does not run as ffmpeg", program.display()));
        return that(program)?.ok_or_else(missing);
    }
    if let Some(found) = that(Path::new("ffmpeg"))? {
        return Ok(found);
    }
    let asked = ["-c", "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())"];
    if let Some(path) = output_text(Path::new("python3"), &asked, VERSION_TIMEOUT)?
        && let Some(found) = that(Path::new(path.trim()))?
    {
        return Ok(found);
    }
    Err(OutputError::NoEncoder(
        "there is no ffmpeg here: install it (Debian: apt-get install ffmpeg; anywhere: pip install imageio-ffmpeg), \
         name one with --ffmpeg, or ask for a .y4m video, which needs none"
            .into(),
    ))
}

// Ctrl-C is ours to handle: ffmpeg would stop at once, and what is in flight, or what it was to check, would be lost.
fn own_process_group(command: &mut std::process::Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// What a program that ends well says first on its standard output, if it does so in time.
///
/// # Errors
/// The system starts no more threads or processes.
pub fn output_text(program: &Path, arguments: &[&str], patience: Duration) -> Result<Option<String>, NoThread> {
    let hear = |text: &mut String, line: &str| {
        text.push_str(line);
        text.push('\n');
        text.len() < MAX_OUTPUT
    };
    match listen_to(program, arguments, patience, String::new(), hear) {
        Ok((status, text)) => Ok(status.success().then_some(text)),
        Err(e) => NoThread::of(&e).map_or(Ok(None), Err),
    }
}

// What looks after a process that has started; without it the process is ended.
fn attended<T>(child: &mut std::process::Child, started: Result<T, NoThread>) -> Result<T, NoThread> {
    started.inspect_err(|_| {
        end(child.id());
        let _ = child.wait();
    })
}

// What a program says on its standard output, line by line, until it ends or `hear` has heard enough. It may keep still for
// so long, and is ended then.
fn listen_to<T: Default + Send + 'static>(
    program: &Path,
    arguments: &[&str],
    patience: Duration,
    heard: T,
    mut hear: impl FnMut(&mut T, &str) -> bool + Send + 'static,
) -> std::io::Result<(ExitStatus, T)> {
    let mut command = std::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    own_process_group(&mut command);
    let mut child = command.spawn()?;
    let watch = Watchdog::of(child.id());
    let watch = attended(&mut child, watch)?;
    watch.begin(patience);
    let stdout = child.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    let clock = watch.clock();
    let ear = PipeReader::new(stdout, heard, move |heard, line| {
        clock.renew(patience);
        hear(heard, line)
    });
    let ear = attended(&mut child, ear)?;
    let status = ear.wait_for(&mut child, &watch)?;
    match watch.timed_out() {
        true => Err(std::io::ErrorKind::TimedOut.into()),
        false => Ok((status, ear.take())),
    }
}

// Most of what is heard of a program that says what it is, and of a line: what is longer is cut there.
const MAX_OUTPUT: usize = 64 << 10;
const MAX_LINE: usize = 4 << 10;
// How long after a program's end somebody whom it has started may go on speaking in its name.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
// How long a process may take to go once it has been killed; one that a device holds may stay for ever.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

// Listens to a pipe on a thread of its own, which nobody waits for: another process may hold the pipe's other end.
struct PipeReader<T> {
    heard: Arc<Mutex<T>>,
    ended: Receiver<()>,
}

impl<T: Default + Send + 'static> PipeReader<T> {
    // `hear` says whether it wants more.
    fn new(
        pipe: impl Read + Send + 'static,
        heard: T,
        mut hear: impl FnMut(&mut T, &str) -> bool + Send + 'static,
    ) -> Result<PipeReader<T>, NoThread> {
        let heard = Arc::new(Mutex::new(heard));
        let (alive, ended) = crossbeam_channel::bounded(0);
        let here = Arc::clone(&heard);
        threads::spawn("listen", move || {
            let _alive: Sender<()> = alive;
            lines(pipe, |line| hear(&mut here.lock().unwrap_or_else(PoisonError::into_inner), line));
        })?;
        Ok(PipeReader { heard, ended })
    }

    // Until the process has ended and all that it has said is heard.
    fn wait_for(&self, child: &mut std::process::Child, watch: &Watchdog) -> std::io::Result<ExitStatus> {
        const STEP: Duration = Duration::from_millis(10);
        let mut struck = None::<Instant>;
        loop {
            // It falls silent when it ends, as a rule.
            let is_silent = self.ended.recv_timeout(STEP) == Err(RecvTimeoutError::Disconnected);
            if let Some(status) = child.try_wait()? {
                let _ = self.ended.recv_timeout(DRAIN_TIMEOUT);
                return Ok(status);
            }
            if is_silent {
                std::thread::sleep(STEP / 10);
            }
            if watch.timed_out() && struck.get_or_insert_with(Instant::now).elapsed() > KILL_TIMEOUT {
                return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "it was killed, and does not go"));
            }
        }
    }

    fn take(&self) -> T {
        std::mem::take(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

// Lines of a pipe, which end with a line feed or, as progress does, with a carriage return alone.
fn lines(pipe: impl Read, mut hear: impl FnMut(&str) -> bool) {
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
            if !hear(&String::from_utf8_lossy(&line)) {
                return;
            }
            line.clear();
        }
    }
    if !line.is_empty() {
        hear(&String::from_utf8_lossy(&line));
    }
}

// How long a program may take to say which ffmpeg it is.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

// Until when a process may take.
#[derive(Clone, Default)]
struct Deadline(Arc<Mutex<Option<Instant>>>);

impl Deadline {
    fn set(&self, until: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
    fn is_late(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|t| t < Instant::now())
    }
    // If it runs, it runs anew: the process has come further.
    fn renew(&self, patience: Duration) {
        if let Some(until) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            *until = Instant::now().checked_add(patience).unwrap_or(*until);
        }
    }
}

// Ends a process that keeps us waiting.
struct Watchdog {
    process: u32,
    clock: Deadline,
    timed_out: Arc<AtomicBool>,
    // Gone with the watch, which ends its thread.
    _alive: Sender<()>,
}

impl Watchdog {
    fn of(process: u32) -> Result<Watchdog, NoThread> {
        const STEP: Duration = Duration::from_millis(50);
        let (clock, has_struck) = (Deadline::default(), Arc::new(AtomicBool::new(false)));
        let (alive, gone) = crossbeam_channel::bounded(0);
        let (seen, struck) = (clock.clone(), Arc::clone(&has_struck));
        threads::spawn("watch", move || {
            while gone.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                if seen.is_late() && !struck.swap(true, Ordering::Relaxed) {
                    end(process);
                }
            }
        })?;
        running().insert(process);
        Ok(Watchdog { process, clock, timed_out: has_struck, _alive: alive })
    }
    // From now on it may take so long.
    fn begin(&self, patience: Duration) {
        self.clock.set(Instant::now().checked_add(patience));
    }
    fn end(&self) {
        self.clock.set(None);
    }
    fn clock(&self) -> Deadline {
        self.clock.clone()
    }
    fn timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        running().remove(&self.process);
    }
}

// Those that are watched.
fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all that run: for a program that is about to leave them alone.
pub fn end_all() {
    running().iter().for_each(|&process| end(process));
}

// With all that it has started: it leads a group of its own.
#[cfg(unix)]
fn end(process: u32) {
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    if let Some(id) = i32::try_from(process).ok().and_then(Pid::from_raw)
        && kill_process_group(id, Signal::KILL).is_err()
    {
        let _ = kill_process(id, Signal::KILL);
    }
}
#[cfg(not(unix))]
fn end(_process: u32) {}

// Most of what ffmpeg prints that is kept: its first words and its last.
const FIRST_WORDS: usize = 4 << 10;
const LAST_WORDS: usize = 12 << 10;

// What ffmpeg printed, and what it means.
#[derive(Default)]
struct Transcript {
    words: String,
    errors: usize,
    frames: u64,
}

impl Transcript {
    // A line, without what would move a terminal's cursor; whether it tells of more frames than were known.
    fn hear(&mut self, line: &str) -> bool {
        let progress = try_parse_progress(line).map(|p| u64::from(p.frame));
        let has_moved = progress.is_some_and(|frames| frames > self.frames);
        match progress {
            Some(frames) => self.frames = frames,
            None => self.errors += usize::from(is_error(line)),
        }
        self.words.extend(line.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '.' } else { c }));
        if !self.words.ends_with('\n') {
            self.words.push('\n');
        }
        if self.words.len() > 2 * (FIRST_WORDS + LAST_WORDS) {
            let boundary = |from: usize| (from..).find(|&i| self.words.is_char_boundary(i)).unwrap_or(from);
            let (from, to) = (boundary(FIRST_WORDS), boundary(self.words.len() - LAST_WORDS));
            self.words.replace_range(from..to, "\n[...]\n");
        }
        has_moved
    }
}

// Whether ffmpeg says of a line that it is an error: in the brackets before it, behind those of who is speaking.
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

// What Linux allows an ordinary user by default.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// A running ffmpeg whose output is read on a thread of its own, so that it never blocks.
pub struct Process {
    child: FfmpegChild,
    ear: PipeReader<Transcript>,
    watch: Watchdog,
    patience: Duration,
}

impl Process {
    /// Starts it; it may take `patience` over each thing that it is given to do.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(program: &Path, arguments: &[String], patience: Duration) -> Result<Process, OutputError> {
        let mut command = FfmpegCommand::new_with_path(program);
        command.hide_banner().args(["-y"]).args(arguments);
        own_process_group(command.as_inner_mut());
        let failed = |e: String| OutputError::NoEncoder(format!("cannot start {}: {e}", program.display()));
        let refused = |e| NoThread::of(&e).map_or_else(|| failed(e.to_string()), OutputError::from);
        let mut child = command.spawn().map_err(refused)?;
        #[cfg(target_os = "linux")]
        if let Some(stdin) = &child.as_inner_mut().stdin {
            // A wider pipe takes a frame in fewer turns. The kernel may refuse; then it stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(stdin, PIPE_BYTES);
        }
        let stderr = child.take_stderr().ok_or_else(|| failed("it has no standard error".into()))?;
        let watch = Watchdog::of(child.as_inner().id());
        let watch = attended(child.as_inner_mut(), watch)?;
        let clock = watch.clock();
        let ear = PipeReader::new(stderr, Transcript::default(), move |transcript, line| {
            if transcript.hear(line) {
                clock.renew(patience);
            }
            true
        });
        let ear = attended(child.as_inner_mut(), ear)?;
        Ok(Process { child, ear, watch, patience })
    }

    /// Puts bytes into its standard input.
    ///
    /// # Errors
    /// The pipe's: ffmpeg has gone, and `finish` tells why.
    pub fn feed(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let stdin = self.child.as_inner_mut().stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        self.watch.begin(self.patience);
        let written = stdin.write_all(bytes);
        self.watch.end();
        written
    }

    /// Waits for the end; `expected` frames must have come out, where ffmpeg counts them. `doing` is for messages.
    ///
    /// # Errors
    /// ffmpeg failed, said an error, took another number of frames, or kept still for too long.
    pub fn finish(mut self, expected: Option<u64>, doing: &str) -> Result<(), OutputError> {
        drop(self.child.take_stdin());
        self.watch.begin(self.patience);
        let status = self.ear.wait_for(self.child.as_inner_mut(), &self.watch);
        let transcript = self.ear.take();
        let what = match status {
            _ if self.watch.timed_out() => stall_message(self.patience, doing),
            Err(e) => format!("cannot wait for ffmpeg: {e}"),
            Ok(status) if !status.success() => format!("ffmpeg failed {doing} ({status})"),
            Ok(_) if transcript.errors > 0 => format!("ffmpeg reported an error {doing}"),
            Ok(_) => match expected {
                Some(n) if transcript.frames != n => format!("ffmpeg took {} of {n} frames {doing}", transcript.frames),
                _ => return Ok(()),
            },
        };
        Err(OutputError::Encoder { what, words: transcript.words })
    }
}

/// What is said of an ffmpeg that has kept us waiting.
pub fn stall_message(patience: Duration, doing: &str) -> String {
    let seconds = patience.as_secs();
    format!("ffmpeg kept still for {seconds} s {doing}, and was ended (--encoder-timeout sets how long it may)")
}

/// A file as ffmpeg takes it: whatever it is called, it is no option, no protocol and no pattern.
pub fn url(file: &Path) -> String {
    format!("file:{}", file.display())
}

/// A frame of a video, as ffmpeg's demuxer gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it is shown, in the stream's ticks.
    pub pts: i64,
    /// How long, in the same.
    pub duration: i64,
    /// What it is.
    pub checksum: PacketChecksum,
}

/// The frames of a video in the order in which they are coded. ffmpeg may keep still for so long.
///
/// # Errors
/// ffmpeg cannot be run, or keeps still.
pub fn packets(program: &Path, file: &Path, patience: Duration) -> std::io::Result<Vec<Packet>> {
    let url = url(file);
    let asked = ["-nostdin", "-v", "error", "-i", &url, "-map", "0:v", "-c", "copy", "-f", "framecrc", "-"];
    // Stream, decoded at, shown at, lasts, bytes, checksum.
    let packet = |line: &str| {
        let [_, _, shown, lasts, size, adler, ..] = line.split(',').map(str::trim).collect::<Vec<_>>()[..] else {
            return None;
        };
        let adler = u32::from_str_radix(adler.strip_prefix("0x")?, 16).ok()?;
        let sum = PacketChecksum { size: size.parse().ok()?, adler };
        Some(Packet { pts: shown.parse().ok()?, duration: lasts.parse().ok()?, checksum: sum })
    };
    let hear = move |packets: &mut Vec<Packet>, line: &str| {
        packets.extend(Some(line).filter(|l| !l.starts_with('#')).and_then(packet));
        true
    };
    Ok(listen_to(program, &asked, patience, Vec::new(), hear)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8]) -> Vec<String> {
        let mut all = Vec::new();
        lines(bytes, |line| {
            all.push(line.to_owned());
            true
        });
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
        assert!(t.hear(line) && t.frames == 12 && !t.hear(line) && t.errors == 0);
    }
}
