//! Video through ffmpeg: fed from memory, watched line by line, and only named when it is whole.
//!
//! ffmpeg's exit code alone is not to be trusted (it is 0 on a full disk in 5.1, and 0 with a short file when
//! our side of the pipe dies): a video counts as whole when the code is 0, no line was an error, the
//! last `frame=` is the number of frames sent, and the finished file holds as many packets.

use super::files::{folder_of, prepare, temporary};
use super::folder::sweep;
use super::y4m::Y4m;
use super::{Frame, Outcome, OutputError, PixelFormats, RunInfo, Sink};
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

/// Video compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Codec {
    /// H.264 by x264: plays everywhere.
    H264,
    /// H.265 by x265.
    H265,
    /// AV1 by SVT-AV1.
    Av1,
}

/// How to encode.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The video file, `.mp4` or `.y4m`.
    pub path: PathBuf,
    /// Frames a second.
    pub fps: f64,
    /// Quality; the codec's usual one if not given.
    pub crf: Option<u32>,
    /// The encoder's speed preset.
    pub preset: Option<String>,
    /// Compression.
    pub codec: Codec,
    /// The ffmpeg program, if the user named one.
    pub ffmpeg: Option<PathBuf>,
    /// How long ffmpeg may take over one frame, or to end, before it is ended.
    pub patience: Duration,
}

impl Settings {
    /// Whether the file is written without ffmpeg.
    pub fn is_raw(&self) -> bool {
        self.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"))
    }
}

/// Arguments that describe the raw frames on standard input.
pub fn input_arguments(width: u32, height: u32, fps: f64) -> Vec<String> {
    let (numerator, denominator) = super::y4m::rational(fps);
    let size = format!("{width}x{height}");
    let rate = format!("{numerator}/{denominator}");
    ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", &size, "-framerate", &rate, "-i", "pipe:0"]
        .map(str::to_owned)
        .into()
}

/// Arguments that describe the encoding; the output's name comes after them.
pub fn output_arguments(settings: &Settings) -> Vec<String> {
    let (encoder, crf, preset): (&str, u32, &str) = match settings.codec {
        Codec::H264 => ("libx264", 18, "veryfast"),
        Codec::H265 => ("libx265", 22, "fast"),
        Codec::Av1 => ("libsvtav1", 30, "8"),
    };
    let crf = settings.crf.unwrap_or(crf).to_string();
    let preset = settings.preset.as_deref().unwrap_or(preset);
    let mut arguments: Vec<String> = [
        "-an",
        "-vf",
        "setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709:range=tv",
        "-colorspace",
        "bt709",
        "-color_primaries",
        "bt709",
        "-color_trc",
        "bt709",
        "-color_range",
        "tv",
        "-chroma_sample_location",
        "center",
        "-c:v",
        encoder,
        "-pix_fmt",
        "yuv420p",
        "-crf",
        &crf,
        "-preset",
        preset,
    ]
    .map(str::to_owned)
    .into();
    if settings.codec == Codec::H265 {
        arguments.extend(["-tag:v", "hvc1", "-x265-params", "log-level=error"].map(str::to_owned));
    }
    // Fragments: what is on disk stays playable if we are killed.
    arguments.extend(["-movflags", "+frag_keyframe+empty_moov+default_base_moof", "-f", "mp4"].map(str::to_owned));
    arguments
}

/// Finds ffmpeg: the one named, the path's, then PyPI imageio-ffmpeg's.
pub fn find_ffmpeg(named: Option<&Path>) -> Result<PathBuf, OutputError> {
    let runs = |program: &Path| {
        let mut command = std::process::Command::new(program);
        command.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok_and(|mut child| {
            let watch = Watch::of(child.id());
            watch.begin(VERSION_PATIENCE);
            child.wait().is_ok_and(|status| status.success())
        })
    };
    if let Some(program) = named.map(Path::to_owned) {
        let missing = || OutputError::NoEncoder(format!("`{}` does not run as ffmpeg", program.display()));
        return if runs(&program) { Ok(program) } else { Err(missing()) };
    }
    if runs(Path::new("ffmpeg")) {
        return Ok("ffmpeg".into());
    }
    let python = std::process::Command::new("python3")
        .args(["-c", "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())"])
        .stdin(Stdio::null())
        .output();
    if let Ok(out) = python {
        let program = PathBuf::from(String::from_utf8_lossy(&out.stdout).trim());
        if out.status.success() && runs(&program) {
            return Ok(program);
        }
    }
    Err(OutputError::NoEncoder(
        "there is no ffmpeg here: install it (Debian: apt-get install ffmpeg; anywhere: pip install imageio-ffmpeg), \
         name one with --ffmpeg, or ask for a .y4m video, which needs none"
            .into(),
    ))
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

// A running ffmpeg whose output is read on a thread of its own, so that it never blocks.
struct Process {
    child: FfmpegChild,
    reader: JoinHandle<Transcript>,
    watch: Watch,
    patience: Duration,
}

impl Process {
    fn start(program: &Path, arguments: &[String], patience: Duration) -> Result<Process, OutputError> {
        let mut command = FfmpegCommand::new_with_path(program);
        command.hide_banner().args(["-y"]).args(arguments);
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt;
            // Ctrl-C is ours to handle: ffmpeg would stop at once and lose what is in flight.
            command.as_inner_mut().process_group(0);
        }
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

    // Waits for the end; `expected` frames must have come out, where ffmpeg counts them.
    fn finish(mut self, expected: Option<u64>, doing: &str) -> Result<(), OutputError> {
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

// One encoding into one file.
struct Encoding {
    process: Process,
    sent: u64,
}

impl Encoding {
    fn start(
        program: &Path,
        settings: &Settings,
        width: u32,
        height: u32,
        file: &Path,
    ) -> Result<Encoding, OutputError> {
        let mut arguments = input_arguments(width, height, settings.fps);
        arguments.extend(output_arguments(settings));
        arguments.push(file.display().to_string());
        Ok(Encoding { process: Process::start(program, &arguments, settings.patience)?, sent: 0 })
    }
    // An error here is the pipe's: ffmpeg has gone, and `finish` tells why.
    fn feed(&mut self, yuv: &[u8]) -> std::io::Result<()> {
        let stdin = self.process.child.as_inner_mut().stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        self.process.watch.begin(self.process.patience);
        let written = stdin.write_all(yuv);
        self.process.watch.end();
        written?;
        self.sent += 1;
        Ok(())
    }
    fn finish(self) -> Result<(), OutputError> {
        self.process.finish(Some(self.sent), "encoding the video")
    }
}

/// A video being written.
pub struct Video {
    settings: Settings,
    kind: Kind,
}

enum Kind {
    Raw(Y4m),
    Encoded { program: PathBuf, part: tempfile::TempPath, encoding: Box<Encoding> },
}

impl Video {
    /// Opens the file, and encodes one frame as a trial before anything is rendered. Sides are even.
    pub fn open(settings: Settings, width: u32, height: u32) -> Result<Video, OutputError> {
        prepare(&settings.path)?;
        sweep(folder_of(&settings.path));
        if settings.is_raw() {
            let y4m = Y4m::start(&settings.path, width, height, settings.fps)?;
            return Ok(Video { settings, kind: Kind::Raw(y4m) });
        }
        let program = find_ffmpeg(settings.ffmpeg.as_deref())?;
        let private = || {
            temporary(&settings.path)
                .map(|f| f.into_temp_path())
                .map_err(|e| OutputError::Write(settings.path.clone(), e))
        };
        let trial = private()?;
        let mut attempt = Encoding::start(&program, &settings, width, height, &trial)?;
        // Should this fail, ffmpeg has already gone: its words are in what finish gives.
        let fed = attempt.feed(&vec![128; width as usize * height as usize * 3 / 2]);
        attempt.sent = 1;
        attempt.finish().map_err(|e| match e {
            OutputError::Encoder { what, words } => {
                OutputError::Encoder { what: format!("the trial encode of one frame failed: {what}"), words }
            }
            other => other,
        })?;
        fed.map_err(|e| OutputError::Write(settings.path.clone(), e))?;
        let part = private()?;
        let encoding = Box::new(Encoding::start(&program, &settings, width, height, &part)?);
        Ok(Video { settings, kind: Kind::Encoded { program, part, encoding } })
    }

    /// Adds a frame: its planes one after the other.
    pub fn feed(&mut self, yuv: &[u8]) -> Result<(), OutputError> {
        match &mut self.kind {
            Kind::Raw(y4m) => y4m.feed(yuv),
            Kind::Encoded { encoding, .. } => {
                encoding.feed(yuv).map_err(|e| OutputError::Write(self.settings.path.clone(), e))
            }
        }
    }

    /// What ffmpeg says about its death, after `feed` failed. What it has encoded until then is kept and named.
    pub fn autopsy(self, cause: OutputError) -> OutputError {
        let (path, patience) = (partial(&self.settings.path), self.settings.patience);
        match self.kind {
            Kind::Raw(y4m) => match y4m.keep(&path) {
                Some(frames) => kept(cause, frames, &path),
                None => cause,
            },
            Kind::Encoded { program, part, mut encoding } => {
                encoding.sent += 1; // the frame that did not get through
                let cause = encoding.finish().err().unwrap_or(cause);
                keep(cause, &program, part, &path, patience)
            }
        }
    }

    /// Ends the video and gives it its name; a clip cut short goes to `NAME.partial.mp4`, and so does what there is of one
    /// that cannot be closed.
    pub fn finish(self, cut_short: bool) -> Result<PathBuf, OutputError> {
        let (short, patience) = (partial(&self.settings.path), self.settings.patience);
        let path = if cut_short { short.clone() } else { self.settings.path };
        match self.kind {
            Kind::Raw(y4m) => y4m.finish(&path)?,
            Kind::Encoded { program, part, encoding } => {
                let sent = encoding.sent;
                let closed = encoding.finish().and_then(|()| close(&program, &part, sent, &path, patience));
                closed.map_err(|cause| keep(cause, &program, part, &short, patience))?;
            }
        }
        Ok(path)
    }
}

// The name of a video that is not whole.
fn partial(path: &Path) -> PathBuf {
    let extension = path.extension().map_or_else(|| "mp4".into(), |e| e.to_string_lossy().into_owned());
    path.with_extension(format!("partial.{extension}"))
}

// Copies the encoded fragments into a file that begins with its index, and gives it its name when all frames are there.
fn close(program: &Path, part: &Path, frames: u64, path: &Path, patience: Duration) -> Result<(), OutputError> {
    let failed = |e| OutputError::Write(path.to_owned(), e);
    let whole = temporary(path).map_err(failed)?.into_temp_path();
    let (from, to) = (part.display().to_string(), whole.display().to_string());
    let copy = ["-nostdin", "-i", &from, "-map", "0:v", "-c", "copy", "-movflags", "+faststart", "-f", "mp4", &to];
    Process::start(program, &copy.map(str::to_owned), patience)?.finish(None, "closing the video")?;
    let packets = count_packets(program, &whole, patience).map_err(failed)?;
    if packets != frames {
        let what = format!("the finished video holds {packets} of {frames} frames");
        return Err(OutputError::Encoder { what, words: String::new() });
    }
    whole.persist(path).map_err(|e| failed(e.error))
}

// What is encoded stays, under the name of a video that is not whole.
fn keep(cause: OutputError, program: &Path, part: tempfile::TempPath, path: &Path, patience: Duration) -> OutputError {
    match count_packets(program, &part, patience) {
        Ok(frames) if frames > 0 && part.persist(path).is_ok() => kept(cause, frames, path),
        _ => cause,
    }
}

fn kept(cause: OutputError, frames: u64, path: &Path) -> OutputError {
    let (what, words) = match cause {
        OutputError::Encoder { what, words } => (what, words),
        other => (other.to_string(), String::new()),
    };
    OutputError::Encoder { what: format!("{what}; its first {frames} frames are kept in {}", path.display()), words }
}

/// A video as a sink: opened when the run begins.
pub struct VideoSink {
    settings: Settings,
    open: Option<Video>,
}

impl VideoSink {
    /// The video that the settings name.
    pub fn new(settings: Settings) -> VideoSink {
        VideoSink { settings, open: None }
    }
}

impl Sink for VideoSink {
    fn needs(&self) -> PixelFormats {
        PixelFormats { yuv420: true, ..PixelFormats::default() }
    }
    fn open(&mut self, run: &RunInfo) -> Result<(), OutputError> {
        let (width, height) = (run.width.next_multiple_of(2), run.height.next_multiple_of(2));
        self.open = Some(Video::open(self.settings.clone(), width, height)?);
        Ok(())
    }
    fn frame(&mut self, frame: &Frame) -> Result<(), OutputError> {
        let Some(video) = &mut self.open else { return Ok(()) };
        match video.feed(frame.yuv420()) {
            Ok(()) => Ok(()),
            Err(cause) => Err(match self.open.take() {
                Some(dead) => dead.autopsy(cause),
                None => cause,
            }),
        }
    }
    // The frames are worth something without it.
    fn is_essential(&self) -> bool {
        false
    }
    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<PathBuf>, OutputError> {
        self.open.map(|video| video.finish(outcome == Outcome::CutShort)).transpose()
    }
}

// The video's packets, as ffmpeg's own demuxer counts them: one line each.
fn count_packets(program: &Path, file: &Path, patience: Duration) -> std::io::Result<u64> {
    let mut command = std::process::Command::new(program);
    command
        .args(["-nostdin", "-v", "error", "-i"])
        .arg(file)
        .args(["-map", "0:v", "-c", "copy", "-f", "framecrc", "-"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let watch = Watch::of(child.id());
    watch.begin(patience);
    let out = child.wait_with_output()?;
    let lines = String::from_utf8_lossy(&out.stdout);
    Ok(lines.lines().filter(|l| !l.starts_with('#')).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(codec: Codec) -> Settings {
        Settings {
            path: "x.mp4".into(),
            fps: 25.0,
            crf: None,
            preset: None,
            codec,
            ffmpeg: None,
            patience: Duration::from_secs(9),
        }
    }

    #[test]
    fn arguments_are_tagged_and_fragmented() {
        let line = output_arguments(&settings(Codec::H264)).join(" ");
        for part in ["-c:v libx264", "-crf 18", "-preset veryfast", "colorspace=bt709", "-color_range tv", "empty_moov"]
        {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(output_arguments(&settings(Codec::H265)).join(" ").contains("-tag:v hvc1"));
        let asked = Settings { crf: Some(7), preset: Some("slow".into()), ..settings(Codec::H264) };
        assert!(output_arguments(&asked).join(" ").contains("-crf 7 -preset slow"));
    }

    #[test]
    fn frame_rates_are_fractions() {
        assert!(input_arguments(4, 2, 29.97).contains(&"30000/1001".to_owned()));
    }
}
