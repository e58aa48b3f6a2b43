//! Flags of rendering.

use super::failure::Failure;
use super::folder::VideoArgs;
use super::scene::{CommonArgs, SceneArgs};
use super::values::{frames_help, parse_fps, parse_shard, parse_threads, whole};
use crate::language::{Message, msg};
use crate::report::LogFormat;
use crate::scene::Grammar;
use crate::scene::limits::{VIDEOS, endings};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// One device.
#[derive(Args, Clone, Debug, Default)]
pub struct DeviceArgs {
    /// Render on the CPU; no GPU is touched.
    #[arg(long, conflicts_with = "gpu", help_heading = "Device")]
    pub cpu: bool,
    /// Render on the first GPU, or fail.
    #[arg(long, help_heading = "Device")]
    pub gpu: bool,
    /// CPU threads; 0: one per core [default: 0, or POLYFLY_THREADS]
    #[arg(long, value_name = "N", value_parser = parse_threads, help_heading = "Device")]
    pub threads: Option<usize>,
}

#[derive(Args, Debug, Default)]
pub struct RenderArgs {
    /// The scene, in tokens or TOML: a file, or `-` for stdin (the default when stdin is not a terminal).
    pub scene: Option<String>,

    /// Print the sample scene and exit; as TOML in the look of --look or --plain.
    #[arg(long, value_enum, value_name = "GRAMMAR", num_args = 0..=1, default_missing_value = "tokens",
        conflicts_with_all = [
            "scene", "frames", "set", "size", "draft", "is_final", "samples", "depth", "solids", "texture", "allow_outside",
            "output", "sheet", "hash", "denoise", "no_frames", "video", "fps", "open", "dry_run", "resume", "overwrite", "shard",
        ])]
    pub default: Option<Grammar>,

    #[command(flatten)]
    pub device: DeviceArgs,
    /// Render on several devices: `all` GPUs, or a list such as `0,2` or `cpu,0` [default: POLYFLY_DEVICES, or the first GPU]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["cpu", "gpu"], help_heading = "Device")]
    pub devices: Vec<String>,

    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub changes: SceneArgs,

    /// Where the frames go.
    #[arg(short, long, value_name = "PATTERN", allow_hyphen_values = true, help = frames_help(), help_heading = "Output")]
    pub output: Option<String>,
    /// Make a contact sheet instead: twenty small frames of the whole clip in one picture.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "video", "resume", "shard"], help_heading = "Output")]
    pub sheet: Option<PathBuf>,
    /// Print the SHA-256 of each frame's .data file and the frame's number instead of writing frames. Equal sums are equal pictures,
    /// on any machine.
    #[arg(long, conflicts_with_all = ["output", "no_frames", "sheet"], hide_short_help = true, help_heading = "Output")]
    pub hash: bool,
    /// Remove noise with Open Image Denoise, if its library is installed (POLYFLY_OIDN: its folder); the bytes of such pictures
    /// may differ from machine to machine.
    #[arg(long, help_heading = "Output")]
    pub denoise: bool,
    /// Write no frames, only the video.
    #[arg(long, help_heading = "Output")]
    pub no_frames: bool,
    /// Make a video of these frames.
    #[arg(long, value_name = "FILE", help = format!("Make a video of these frames: {} through ffmpeg, or .y4m without it", endings(&VIDEOS[..VIDEOS.len() - 1])), help_heading = "Output")]
    pub video: Option<PathBuf>,
    /// Frames per second of the video [default: 30, or the scene's]
    #[arg(long, value_parser = parse_fps, help_heading = "Output")]
    pub fps: Option<f64>,
    #[command(flatten)]
    pub encoding: VideoArgs,
    /// Open the result with the system's program for such files.
    #[arg(long, help_heading = "Output")]
    pub open: bool,
    /// Format of the log on stdout [default: text; or POLYFLY_LOG]
    #[arg(long, value_enum, help_heading = "Output")]
    pub log: Option<LogFormat>,

    /// Write nothing; print the time, memory and size of the run, and ffmpeg's command line. A few frames are rendered, smaller if they are slow.
    #[arg(long, conflicts_with = "sheet", help_heading = "Run")]
    pub dry_run: bool,
    /// Render missing and incomplete frames in the folder, and make the video of all frames.
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
    /// Render existing frames again (a scene on stdin does), and replace an existing video; with --resume only the video.
    #[arg(long, help_heading = "Run")]
    pub overwrite: bool,
    /// Render part K of N of the frames, counted from 1.
    #[arg(long, value_name = "K/N", value_parser = parse_shard, help_heading = "Run")]
    pub shard: Option<(u32, u32)>,
    /// Maximum memory, MiB; a run that needs more is refused, and so is a file of the scene that unfolds to more [default: nine tenths of the
    /// free memory; 4096 for a file]
    #[arg(long, value_name = "MIB", value_parser = whole::<u64>(1, 1 << 30), hide_short_help = true, help_heading = "Run")]
    pub limit_memory: Option<u64>,
    /// Seconds for the frames in flight after Ctrl-C or SIGTERM.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, hide_short_help = true, help_heading = "Run")]
    pub grace: u32,
}

impl RenderArgs {
    /// Takes what the flags leave open from the environment.
    pub fn take_defaults(&mut self, value: impl Fn(&str) -> Option<String>) -> Result<(), Failure> {
        let wrong = |name: &str, why: Message| Failure::usage(msg!("{name} in the environment: {why}", name, why));
        if let (None, Some(text)) = (self.device.threads, value("POLYFLY_THREADS")) {
            self.device.threads = Some(parse_threads(&text).map_err(|e| wrong("POLYFLY_THREADS", e))?);
        }
        if let (None, Some(text)) = (self.log, value("POLYFLY_LOG")) {
            self.log = Some(LogFormat::from_str(&text, true).map_err(|e| wrong("POLYFLY_LOG", e.into()))?);
        }
        if let (true, Some(text)) =
            (self.devices.is_empty() && !self.device.cpu && !self.device.gpu, value("POLYFLY_DEVICES"))
        {
            self.devices = text.split(',').map(|name| name.trim().to_owned()).collect();
        }
        Ok(())
    }
}
