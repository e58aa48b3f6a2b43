//! ffmpeg as a program: found, fed through a pipe, watched line by line, and ended when it keeps still.

use super::OutputError;
use crossbeam_channel::{RecvTimeoutError, Sender};
use ffmpeg_sidecar::child::FfmpegChild;
use ffmpeg_sidecar::command::FfmpegCommand;
use ffmpeg_sidecar::event::{FfmpegEvent, LogLevel};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
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
    let that = |program: &Path| {
        let said = words(program, &["-version"], VERSION_PATIENCE)?;
        Some(Ffmpeg { program: program.to_owned(), version: said.lines().next().unwrap_or_default().to_owned() })
    };
    if let Some(program) = named {
        let missing = || OutputError::NoEncoder(format!("`{}` does not run as ffmpeg", program.display()));
        return that(program).ok_or_else(missing);
    }
    if let Some(found) = that(Path::new("ffmpeg")) {
        return Ok(found);
    }
    let asked = ["-c", "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())"];
    let python = words(Path::new("python3"), &asked, VERSION_PATIENCE);
    if let Some(found) = python.and_then(|path| that(Path::new(path.trim()))) {
        return Ok(found);
    }
    Err(OutputError::NoEncoder(
        "there is no ffmpeg here: install it (Debian: apt-get install ffmpeg; anywhere: pip install imageio-ffmpeg), \
         name one with --ffmpeg, or ask for a .y4m video, which needs none"
            .into(),
    ))
}

// Ctrl-C is ours to handle: ffmpeg would stop at once, and what is in flight, or what it was to check, would be lost.
fn out_of_reach(command: &mut std::process::Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// What a program that ends well says on its standard output, if it does so in time.
pub fn words(program: &Path, arguments: &[&str], patience: Duration) -> Option<String> {
    let mut command = std::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    out_of_reach(&mut command);
    let child = command.spawn().ok()?;
    let watch = Watch::of(child.id());
    watch.begin(patience);
    let out = child.wait_with_output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).into_owned())
}

// How long a program may take to say which ffmpeg it is.
const VERSION_PATIENCE: Duration = Duration::from_secs(20);

// Ends a process that keeps us waiting.
struct Watch {
    until: Arc<Mutex<Option<Instant>>>,
    has_struck: Arc<AtomicBool>,
    // Gone with the watch, which ends its thread.
    _alive: Sender<()>,
}

impl Watch {
    fn of(process: u32) -> Watch {
        const STEP: Duration = Duration::from_millis(50);
        let (until, has_struck) = (Arc::new(Mutex::new(None::<Instant>)), Arc::new(AtomicBool::new(false)));
        let (alive, gone) = crossbeam_channel::bounded(0);
        let (seen, struck) = (Arc::clone(&until), Arc::clone(&has_struck));
        std::thread::spawn(move || {
            while gone.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                let is_late = seen.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|t| t < Instant::now());
                if is_late && !struck.swap(true, Ordering::Relaxed) {
                    end(process);
                }
            }
        });
        Watch { until, has_struck, _alive: alive }
    }
    // From now on it may take so long.
    fn begin(&self, patience: Duration) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now().checked_add(patience);
    }
    fn end(&self) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
    fn has_struck(&self) -> bool {
        self.has_struck.load(Ordering::Relaxed)
    }
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
    // A line, without what would move a terminal's cursor.
    fn hear(&mut self, line: &str) {
        self.words.extend(line.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '.' } else { c }));
        if !self.words.ends_with('\n') {
            self.words.push('\n');
        }
        if self.words.len() > 2 * (FIRST_WORDS + LAST_WORDS) {
            let boundary = |from: usize| (from..).find(|&i| self.words.is_char_boundary(i)).unwrap_or(from);
            let (from, to) = (boundary(FIRST_WORDS), boundary(self.words.len() - LAST_WORDS));
            self.words.replace_range(from..to, "\n[...]\n");
        }
    }
}

// What Linux allows an ordinary user by default.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// A running ffmpeg whose output is read on a thread of its own, so that it never blocks.
pub struct Process {
    child: FfmpegChild,
    reader: JoinHandle<Transcript>,
    watch: Watch,
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
        out_of_reach(command.as_inner_mut());
        let failed = |e: String| OutputError::NoEncoder(format!("cannot start {}: {e}", program.display()));
        let mut child = command.spawn().map_err(|e| failed(e.to_string()))?;
        #[cfg(target_os = "linux")]
        if let Some(stdin) = &child.as_inner_mut().stdin {
            // A wider pipe takes a frame in fewer turns. The kernel may refuse; then it stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(stdin, PIPE_BYTES);
        }
        let events = child.iter().map_err(|e| failed(e.to_string()))?;
        let reader = std::thread::spawn(move || {
            let mut t = Transcript::default();
            for event in events {
                match event {
                    FfmpegEvent::Progress(p) => {
                        t.frames = u64::from(p.frame);
                        t.hear(&p.raw_log_message);
                    }
                    FfmpegEvent::Log(level, line) => {
                        t.errors += usize::from(matches!(level, LogLevel::Error | LogLevel::Fatal));
                        t.hear(&line);
                    }
                    FfmpegEvent::ParsedOutput(o) => t.hear(&o.raw_log_message),
                    FfmpegEvent::ParsedInputStream(s) | FfmpegEvent::ParsedOutputStream(s) => {
                        t.hear(&s.raw_log_message)
                    }
                    FfmpegEvent::ParsedStreamMapping(line) => t.hear(&line),
                    _ => {}
                }
            }
            t
        });
        let watch = Watch::of(child.as_inner().id());
        Ok(Process { child, reader, watch, patience })
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
        let transcript = self.reader.join().unwrap_or_default();
        let status = self.child.as_inner_mut().wait();
        let what = match status {
            _ if self.watch.has_struck() => {
                let seconds = self.patience.as_secs();
                format!(
                    "ffmpeg kept still for {seconds} s {doing}, and was ended (--encoder-timeout sets how long it may)"
                )
            }
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

/// A file as ffmpeg takes it: whatever it is called, it is no option, no protocol and no pattern.
pub fn url(file: &Path) -> String {
    format!("file:{}", file.display())
}

/// A frame of a video, as ffmpeg's demuxer gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it is shown, in the stream's ticks.
    pub shown: i64,
    /// How long, in the same.
    pub lasts: i64,
}

/// The frames of a video in the order in which they are shown.
///
/// # Errors
/// ffmpeg cannot be run.
pub fn packets(program: &Path, file: &Path, patience: Duration) -> std::io::Result<Vec<Packet>> {
    let mut command = std::process::Command::new(program);
    command
        .args(["-nostdin", "-v", "error", "-i", &url(file)])
        .args(["-map", "0:v", "-c", "copy", "-f", "framecrc", "-"]);
    out_of_reach(&mut command);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let watch = Watch::of(child.id());
    watch.begin(patience);
    let out = child.wait_with_output()?;
    let lines = String::from_utf8_lossy(&out.stdout);
    // Stream, decoded at, shown at, lasts, bytes, checksum.
    let packet = |line: &str| {
        let mut fields = line.split(',').map(|f| f.trim().parse::<i64>());
        Some(Packet { shown: fields.nth(2)?.ok()?, lasts: fields.next()?.ok()? })
    };
    let mut packets: Vec<Packet> = lines.lines().filter(|l| !l.starts_with('#')).filter_map(packet).collect();
    packets.sort_by_key(|p| p.shown);
    Ok(packets)
}
