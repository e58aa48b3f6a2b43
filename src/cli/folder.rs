//! Arguments of commands that work on a folder of frames.

use super::scene::{CommonArgs, SceneArgs};
use super::values::{parse_bytes, parse_fps, parse_time, whole};
use crate::output::video::Encode;
use crate::output::video::codecs::{CODECS, Codec};
use crate::scene::limits::{VIDEOS, endings};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What frames have to be of.
#[derive(Args, Debug)]
pub struct ExpectedArgs {
    /// The expected scene; frames of another scene are refused.
    #[arg(long, value_name = "FILE")]
    pub scene: Option<String>,
    /// The expected `hash` of the manifest, as jobs of `farm` pass it; frames of another scene are refused.
    #[arg(long, value_name = "HEX")]
    pub hash: Option<String>,
}

#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Print where --denoise finds Open Image Denoise, or how to get it, and nothing else.
    #[arg(long)]
    pub denoiser: bool,
    /// Render frames whose bits are known on all devices in turn, for so long: `10m`, `30s`, `1h`. Finds bad memory and overclocked chips.
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "denoiser")]
    pub soak: Option<Duration>,
}

#[derive(Args, Debug)]
pub struct MissingArgs {
    /// The folder of the frames, with its manifest.json.
    pub folder: PathBuf,
    #[command(flatten)]
    pub expected: ExpectedArgs,
    /// Print the shards of N with missing frames, as `1,4-6`, instead of the frames.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1, 1_000_000))]
    pub shards: Option<u32>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub changes: SceneArgs,
}

#[derive(Args, Debug)]
pub struct StitchArgs {
    /// The folder of the frames, with its manifest.json; or a path with %d or %0Nd of frames of another program.
    #[arg(value_name = "FRAMES")]
    pub source: String,
    /// The video; its ending is the format.
    #[arg(short, long, value_name = "FILE", help = format!("The video: {} through ffmpeg, or .y4m without it", endings(&VIDEOS[..VIDEOS.len() - 1])))]
    pub output: PathBuf,
    /// Frames per second [default: the run's, or 30]
    #[arg(long, value_parser = parse_fps)]
    pub fps: Option<f64>,
    #[command(flatten)]
    pub expected: ExpectedArgs,
    /// Replace an existing video that shows other pictures.
    #[arg(long)]
    pub overwrite: bool,
    /// Maximum memory, MiB; a job that needs more is refused [default: nine tenths of the free memory]
    #[arg(long, value_name = "MIB", value_parser = whole::<u64>(1, 1 << 30))]
    pub limit_memory: Option<u64>,
    #[command(flatten)]
    pub video: VideoArgs,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub changes: SceneArgs,
}

#[derive(Args, Debug)]
pub struct StatusArgs {
    /// The folder of the frames, with its manifest.json.
    pub folder: PathBuf,
}

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The folder of the frames, with its manifest.json.
    pub folder: PathBuf,
    /// The page [default: report.html in the folder, which replaces an earlier one]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an existing file of that name.
    #[arg(long)]
    pub overwrite: bool,
    /// The film to show [default: the last film of a run in this folder]
    #[arg(long, value_name = "FILE")]
    pub film: Option<PathBuf>,
}

/// What deals work out to many machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A script for sbatch: an array of shards, a look at the folder behind it, rounds of repair, the video.
    Slurm,
    /// A script that submits to HyperQueue and waits.
    #[value(alias = "hq")]
    Hyperqueue,
    /// A template of the Open Job Description.
    #[value(alias = "ojd")]
    Openjd,
    /// An Indexed Job.
    #[value(alias = "k8s")]
    Kubernetes,
    /// A command a line, for GNU parallel, xargs, `hq submit --each-line`, `cuecmd`.
    Commands,
}

#[derive(Args, Debug)]
pub struct FarmArgs {
    /// The engine of the job.
    #[arg(value_enum)]
    pub engine: Engine,
    /// The scene: a file on a shared folder.
    pub scene: String,
    /// Number of shards, one task each [default: one per segment of the video, at most 1000]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1, 100_000))]
    pub shards: Option<u32>,
    /// Tasks at once [default: left to the engine]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1, u64::from(u32::MAX)))]
    pub running: Option<u32>,
    /// CPU cores per task; a task also has one GPU, unless its flags contain `--cpu`.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole::<u32>(1, 1024))]
    pub cores: u32,
    /// Maximum rounds of repair; they end after a round without progress.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(1, 100))]
    pub rounds: u32,
    /// An option of sbatch, or of `hq submit`, such as `--option=--partition=gpu`; may be given several times.
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true)]
    pub options: Vec<String>,
    /// The container image, for Kubernetes.
    #[arg(long, value_name = "NAME", default_value = "polyfly:latest")]
    pub image: String,
    /// Submit it with sbatch, or run it with hq.
    #[arg(long)]
    pub submit: bool,
    /// Flags of rendering, as `-- -o frames/%05d.png --video clip.mp4`.
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

#[derive(Args, Debug, Default)]
pub struct VideoArgs {
    /// How much the encoder works for a small film, at about the same quality [default: standard, or as the film was begun]
    #[arg(long, value_enum, help_heading = "Output")]
    pub encode: Option<Encode>,
    /// Quality of the video, lower is better; replaces that of --encode [default: 20 for h264, 22 for h265, 30 for av1]
    #[arg(long, value_parser = whole::<u32>(0, 63), help_heading = "Output")]
    pub crf: Option<u32>,
    /// The video's codec [default: the usual one of the extension: h264, in .webm vp9].
    #[arg(long, value_parser = codec_parser(), ignore_case = true, help_heading = "Output")]
    pub codec: Option<&'static Codec>,
    /// Bits per channel of the video: 8, or 10 from linear light, without visible steps.
    #[arg(long, value_name = "N", value_parser = ["8", "10"], help_heading = "Output")]
    pub video_bits: Option<String>,
    /// HDR10: ten bits of linear light, without the tone curve; white is 203 cd/m2, the maximum 1000.
    #[arg(long, help_heading = "Output")]
    pub hdr: bool,
    /// Music of the video: any file that ffmpeg reads. It begins with the clip and ends with the video.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub audio: Option<PathBuf>,
    /// Maximum size of a .gif or .webp, such as 2MB. Quality and picture size are lowered until it fits.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Output")]
    pub limit: Option<u64>,
    /// The ffmpeg program (also POLYFLY_FFMPEG).
    #[arg(long, value_name = "PROGRAM", help_heading = "Output")]
    pub ffmpeg: Option<PathBuf>,
}

// Accepts the names in the table of codecs.
fn codec_parser() -> impl TypedValueParser<Value = &'static Codec> {
    let names = CODECS.iter().map(|codec| PossibleValue::new(codec.name).help(codec.about).aliases(codec.alias));
    PossibleValuesParser::new(names).try_map(|name| Codec::named(&name).ok_or("no such codec"))
}
