//! The command line: flags, and what each of them makes of a scene.

mod changes;
mod failure;
mod folder;
mod particles;

use crate::render::{Devices, RenderOptions};
use crate::report::LogFormat;
use crate::scene::diagnostic::Rule;
use crate::scene::limits::{
    MAX_DEPTH, MAX_LIGHT_SAMPLES, MAX_PATH_SAMPLES, MAX_PIXELS, MAX_SAMPLES, MAX_SIDE, PICTURES, VIDEOS, endings,
};
use crate::scene::{Grammar, Sampling, Scene, Solid};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
pub use failure::Failure;
use folder::parse_shard;
pub use folder::{Engine, FarmArgs, MissingArgs, ReportArgs, ShardModeArg, StatusArgs, StitchArgs, VideoArgs};
pub use particles::{FileLayout, GenerateArgs, ParticlesArgs, ParticlesDevice, ParticlesJob, PictureArgs};
use std::path::PathBuf;

/// Renders flythroughs of mirrored, see-through polyhedra: reads a scene, writes frames and a video.
#[derive(Parser, Debug)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Try it:  polyfly --default | polyfly --video output/default.mp4\n\
        `polyfly --help` lists more flags: memory, segments and encoders of films, shards.\n\n\
        Exit codes: 0 done; 64 usage; 65 bad scene, or a folder of another scene; 69 device unavailable; 70 devices disagree; \
        74 input or output; 75 stopped or incomplete, try again; 130 Ctrl-C."
)]
pub struct Cli {
    /// A job other than rendering.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Rendering.
    #[command(flatten)]
    pub render: RenderArgs,
}

/// Jobs other than rendering.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Converts a scene between tokens and TOML, or a picture to another format.
    Convert(ConvertArgs),
    /// Checks a scene: its contents, errors, and likely mistakes (nothing in sight, black or overexposed frames).
    Check(CheckArgs),
    /// Shows a frame in the terminal.
    Preview(PreviewArgs),
    /// Serves a page on this machine that shows a scene live while its file is edited: camera, keys, frames.
    Studio(StudioArgs),
    /// Renders scenes on every device of this machine and compares the bytes.
    Verify(VerifyArgs),
    /// Times a scene on this machine's devices, as a table for a report; or compares schedules of work.
    Bench(BenchArgs),
    /// Renders a file of particles, or generates one.
    #[command(args_conflicts_with_subcommands = true)]
    Particles(ParticlesArgs),
    /// Prints this machine's devices, and renders a reference picture on each.
    Doctor,
    /// Prints the missing and incomplete frames of a folder; exit code 75 if there are any.
    Missing(MissingArgs),
    /// Makes a video from a folder's frames.
    Stitch(StitchArgs),
    /// Prints the progress of a folder's frames, the machines that render them, and the time left.
    Status(StatusArgs),
    /// Writes an HTML page about a run: its film, a contact sheet, the time of each frame, devices, machines, the scene.
    Report(ReportArgs),
    /// Prints a job that splits a clip over many machines, for one of several engines; or submits it.
    Farm(FarmArgs),
    /// Prints completions for a shell.
    Completions(CompletionsArgs),
    /// Prints the manual page, in roff.
    Man,
    /// Prints the JSON Schema of scenes in TOML, for editors: keys, ranges, defaults and descriptions.
    Schema,
    /// Prints a reference page of the documentation, in Markdown.
    #[command(hide = true)]
    Reference(ReferenceArgs),
}

/// Arguments of `reference`.
#[derive(Args, Debug)]
pub struct ReferenceArgs {
    /// Which page.
    pub page: ReferencePage,
}

/// The pages that are made of the program's own declarations.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ReferencePage {
    /// The keys of scenes: docs/reference/scene.md.
    Scene,
    /// The flags: docs/reference/flags.md.
    Flags,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The scene: a file, or `-` for stdin.
    #[arg(default_value = "-")]
    pub scene: String,
    /// What to change in it.
    #[command(flatten)]
    pub changes: SceneArgs,
}

/// Arguments of `studio`.
#[derive(Args, Debug)]
pub struct StudioArgs {
    /// The scene: a file, in tokens or TOML.
    pub scene: String,
    /// Port on 127.0.0.1; 0: any free port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Where to render.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// What to change in it.
    #[command(flatten)]
    pub changes: SceneArgs,
}

/// One device, for jobs of one picture at a time.
#[derive(Args, Clone, Debug, Default)]
pub struct DeviceArgs {
    /// Render on the CPU; no GPU is touched.
    #[arg(long, conflicts_with = "gpu", help_heading = "Device")]
    pub cpu: bool,
    /// Render on the first GPU, or fail.
    #[arg(long, help_heading = "Device")]
    pub gpu: bool,
    /// CPU threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_threads, help_heading = "Device")]
    pub threads: Option<usize>,
}

impl DeviceArgs {
    /// How to render then.
    pub fn options(&self) -> RenderOptions {
        let devices = match (self.cpu, self.gpu) {
            (true, _) => Devices::Cpu,
            (_, true) => Devices::Gpu,
            _ => Devices::Auto,
        };
        RenderOptions::new().devices(devices).threads(self.threads.unwrap_or(0))
    }
}

/// Arguments of `preview`.
#[derive(Args, Debug)]
pub struct PreviewArgs {
    /// The scene: a file, or `-` for stdin.
    #[arg(default_value = "-")]
    pub scene: String,
    /// The frame: a number, `last` or `-1` [default: the first of --frames]
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "frames")]
    pub frame: Option<String>,
    /// How to show it [default: what the terminal supports, else blocks]
    #[arg(long, value_enum)]
    pub protocol: Option<Protocol>,
    /// Width of the picture in columns [default: the terminal's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub columns: Option<u32>,
    /// Where to render.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// What to change in it.
    #[command(flatten)]
    pub changes: SceneArgs,
}

/// How terminals show pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Kitty's graphics protocol: kitty, Ghostty, Konsole.
    Kitty,
    /// iTerm2's inline images: iTerm2, WezTerm.
    Iterm,
    /// Sixel: foot, mlterm, xterm -ti vt340, Windows Terminal.
    Sixel,
    /// Coloured half blocks, two pixels a letter: everywhere.
    Blocks,
}

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Compare schedules of a frame's work, on each device: time, and the average thread's rays over the busiest one's.
    #[arg(long)]
    pub balance: bool,
    /// Format of the table.
    #[arg(long, value_enum, default_value = "md", conflicts_with = "balance")]
    pub format: TableFormat,
    /// Draw plots into this folder, as SVG: clip.svg (time of each frame), samples.svg, depth.svg (their cost); with --balance
    /// work.svg and speed-up.svg.
    #[arg(long, value_name = "FOLDER")]
    pub plots: Option<PathBuf>,
    /// Repetitions for the median, after one warm-up.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// The scene; the sample scene if not given.
    pub scene: Option<String>,
    /// What to change in it.
    #[command(flatten)]
    pub changes: SceneArgs,
}

/// Forms of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Markdown.
    Md,
    /// LaTeX, with booktabs' rules.
    Latex,
    /// Comma-separated values.
    Csv,
    /// JSON.
    Json,
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The scenes: files.
    #[arg(required = true)]
    pub scenes: Vec<String>,
    /// What to change in them; the size is 160x120 and the frames are the first two if not given.
    #[command(flatten)]
    pub scene: SceneArgs,
}

/// Arguments of `convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// The scene: a file, or `-` for stdin; or a picture.
    #[arg(default_value = "-")]
    pub scene: String,
    /// The file to write, as with -o; the extension selects a picture's format.
    #[arg(value_name = "FILE", conflicts_with = "output")]
    pub target: Option<PathBuf>,
    /// The grammar to write [default: by the file's extension, .toml or .txt; on stdout the other one]
    #[arg(long, value_enum)]
    pub to: Option<GrammarArg>,
    /// The three bodies of a scene in tokens.
    #[arg(long, value_name = "A,B,C", value_parser = parse_solids)]
    pub solids: Option<[Solid; 3]>,
    /// The file to write; stdout if not given.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A grammar, as a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GrammarArg {
    /// The coursework's token text.
    Tokens,
    /// TOML.
    Toml,
}

impl From<GrammarArg> for Grammar {
    fn from(arg: GrammarArg) -> Grammar {
        match arg {
            GrammarArg::Tokens => Grammar::Tokens,
            GrammarArg::Toml => Grammar::Toml,
        }
    }
}

/// How much work goes into each picture, as a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum QualityArg {
    /// To see what moves where: one sample a pixel (path tracing: an eighth), eight bounces, hard shadows, no motion blur.
    Draft,
    /// As the scene says.
    Standard,
    /// Four times the samples (adaptive ones: at most, and half the noise), twice the shadow rays, half as many bounces
    /// more.
    Final,
}

impl QualityArg {
    /// Changes what a scene spends on a picture, within what scenes may say.
    fn apply(self, scene: &mut Scene) {
        let render = &mut scene.render;
        match self {
            QualityArg::Standard => {}
            QualityArg::Draft => {
                render.set_samples(render.integrator.own(1, (render.own_samples() / 8).max(1)));
                render.depth = render.depth.min(8);
                render.light_samples = 1;
                scene.camera.shutter = 0.0;
            }
            QualityArg::Final => {
                match render.sampling {
                    Sampling::Adaptive { min, max, noise } => {
                        let max = (4 * max).min(render.integrator.max_samples());
                        render.set_adaptive(min, max, noise / 2.0);
                    }
                    Sampling::PerAxis(n) => render.set_samples((2 * n).min(MAX_SAMPLES)),
                    other => render.set_samples((4 * other.per_pixel()).min(MAX_PATH_SAMPLES)),
                }
                render.depth = (render.depth + render.depth / 2).min(MAX_DEPTH);
                render.light_samples = (2 * render.light_samples).min(MAX_LIGHT_SAMPLES);
            }
        }
    }
}

/// Samples, as a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplesArg {
    /// Along a pixel's side.
    Side(u32),
    /// Of a pixel: adaptive sampling.
    Range(u32, u32),
}

fn parse_samples(text: &str) -> Result<SamplesArg, String> {
    match text.parse() {
        Ok(n) if (1..=MAX_SAMPLES).contains(&n) => Ok(SamplesArg::Side(n)),
        _ => Sampling::parse_range(text, MAX_SAMPLES * MAX_SAMPLES)
            .map(|(min, max)| SamplesArg::Range(min, max))
            .map_err(|range| match text.contains("..") {
                true => format!("expected {range}"),
                false => format!("expected a whole number from 1 to {MAX_SAMPLES}, or a range such as 4..64"),
            }),
    }
}

/// Flags that change a scene.
#[derive(Args, Clone, Debug, Default)]
pub struct SceneArgs {
    /// Frames to render, counted from 0: `7`, `0-99`, `0-99x5` (every fifth), `5-`, `last`, `-1` (the same), `all`, lists of these.
    #[arg(long, value_name = "A-BxN", allow_hyphen_values = true, help_heading = "Scene")]
    pub frames: Option<String>,
    /// Change a key of the scene: `film.exposure=0.5`, `body[0].color=tomato`; lists are counted from 0; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Scene")]
    pub set: Vec<String>,
    /// Picture size: `1280x720`, or 720p, 1080p, 1440p, 4k, 8k.
    #[arg(long, value_name = "WxH", value_parser = parse_size, help_heading = "Scene")]
    pub size: Option<(u32, u32)>,
    /// Quality preset; --samples and --depth override it.
    #[arg(long, value_enum, help_heading = "Scene")]
    pub quality: Option<QualityArg>,
    /// Short for --quality draft.
    #[arg(long, conflicts_with_all = ["quality", "is_final"], help_heading = "Scene")]
    pub draft: bool,
    /// Short for --quality final.
    #[arg(long = "final", conflicts_with = "quality", help_heading = "Scene")]
    pub is_final: bool,
    /// Samples along each side of a pixel, or a range such as `4..64`: adaptive samples per pixel.
    #[arg(long, value_name = "N", value_parser = parse_samples, help_heading = "Scene")]
    pub samples: Option<SamplesArg>,
    /// Maximum number of bounces.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=128), help_heading = "Scene")]
    pub depth: Option<u32>,
    /// The solids of the bodies: three in tokens, as many as the scene has in TOML.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = parse_solid, help_heading = "Scene")]
    pub solids: Vec<Solid>,
    /// The floor's texture: a .data, PNG or JPEG file, @checker, @concrete, @marble, @wood or none.
    #[arg(long, value_name = "FILE", help_heading = "Scene")]
    pub texture: Option<String>,
    /// Allow the scene to read files outside of its folder, and to write outside of that folder and the working folder.
    #[arg(long, help_heading = "Scene")]
    pub allow_outside: bool,
    /// No progress bar and no remarks (also POLYFLY_QUIET=1).
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// What is dealt out to devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    /// Frames where there are enough of them, else tiles.
    #[default]
    Auto,
    /// Whole frames: most work for each task.
    Frames,
    /// Bands of tiles: the first frame is there sooner, and one frame is shared too.
    Tiles,
}

/// Arguments of rendering.
#[derive(Args, Debug, Default)]
pub struct RenderArgs {
    /// The scene, in tokens or TOML: a file, or `-` for stdin (the default when stdin is not a terminal).
    pub scene: Option<String>,

    /// Print the sample scene and exit.
    #[arg(long, value_enum, value_name = "GRAMMAR", num_args = 0..=1, default_missing_value = "tokens", exclusive = true)]
    pub default: Option<GrammarArg>,

    /// Render on the CPU; no GPU is touched.
    #[arg(long, conflicts_with_all = ["gpu", "devices"], help_heading = "Device")]
    pub cpu: bool,
    /// Render on the first GPU, or fail.
    #[arg(long, conflicts_with = "devices", help_heading = "Device")]
    pub gpu: bool,
    /// Render on several devices: `all` GPUs, or a list such as `0,2` or `cpu,0` [default: POLYFLY_DEVICES, or the first GPU]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Device")]
    pub devices: Vec<String>,
    /// What several devices share: whole frames, or tiles of each frame.
    #[arg(long, value_enum, default_value = "auto", hide_short_help = true, help_heading = "Device")]
    pub split: SplitArg,
    /// Rendering threads; 0 = one per core [default: 0, or POLYFLY_THREADS]
    #[arg(long, value_name = "N", value_parser = parse_threads, help_heading = "Device")]
    pub threads: Option<usize>,

    /// Changes to the scene.
    #[command(flatten)]
    pub changes: SceneArgs,

    /// Where the frames go.
    #[arg(short, long, value_name = "PATTERN", allow_hyphen_values = true, help = frames_help(), help_heading = "Output")]
    pub output: Option<String>,
    /// Make a contact sheet instead: twenty small frames of the whole clip in one picture.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "video", "resume", "shard"], help_heading = "Output")]
    pub sheet: Option<PathBuf>,
    /// Remove noise with Open Image Denoise, if its library is installed (POLYFLY_OIDN: its folder); the bytes of such pictures
    /// may differ from machine to machine.
    #[arg(long, help_heading = "Output")]
    pub denoise: bool,
    /// Bits per channel: 8 or 16 in PNG, 16 or 32 in EXR [default: the format's first, or the scene's]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub bits: Option<u32>,
    /// Write no frames, only the video.
    #[arg(long, help_heading = "Output")]
    pub no_frames: bool,
    /// Make a video of these frames.
    #[arg(long, value_name = "FILE", help = format!("Make a video of these frames: {} through ffmpeg, or .y4m without it", endings(&VIDEOS[..VIDEOS.len() - 1])), help_heading = "Output")]
    pub video: Option<PathBuf>,
    /// Frames per second of the video [default: 30, or the scene's]
    #[arg(long, value_parser = parse_fps, help_heading = "Output")]
    pub fps: Option<f64>,
    /// How to encode it.
    #[command(flatten)]
    pub encoding: VideoArgs,
    /// Open the result with the system's program for such files.
    #[arg(long, help_heading = "Output")]
    pub open: bool,
    /// Format of the log on stdout [default: text; or POLYFLY_LOG]
    #[arg(long, value_enum, help_heading = "Output")]
    pub log: Option<LogFormat>,

    /// Write nothing; print the time, memory and size of the run. A few frames are rendered, smaller if they are slow.
    #[arg(long, conflicts_with = "sheet", help_heading = "Run")]
    pub dry_run: bool,
    /// With --dry-run: print ffmpeg's command line too.
    #[arg(long, requires = "dry_run", hide_short_help = true, help_heading = "Run")]
    pub show_ffmpeg: bool,
    /// Render missing and incomplete frames in the folder, and make the video of all frames.
    #[arg(long, help_heading = "Run")]
    pub resume: bool,
    /// Render existing frames again (a scene on stdin does), and replace an existing video; with --resume only the video.
    #[arg(long, help_heading = "Run")]
    pub overwrite: bool,
    /// Render part K of N of the frames, counted from 1.
    #[arg(long, value_name = "K/N", value_parser = parse_shard, help_heading = "Run")]
    pub shard: Option<(u32, u32)>,
    /// How frames are split into shards.
    #[arg(long, value_enum, default_value = "contiguous", hide_short_help = true, help_heading = "Run")]
    pub shard_mode: ShardModeArg,
    /// Maximum memory for pictures, MiB; a run that needs more is refused [default: nine tenths of the free memory]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 30), hide_short_help = true, help_heading = "Run")]
    pub limit_memory: Option<u64>,
    /// Maximum size of a texture, mesh or particle file, MiB [default: 4096]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 30), hide_short_help = true, help_heading = "Run")]
    pub limit_file: Option<u64>,
    /// Maximum pixels of a texture or sky, millions [default: 4, or sixteen per byte of its file]
    #[arg(long, value_name = "MILLIONS", value_parser = clap::value_parser!(u64).range(1..=1 << 30), hide_short_help = true, help_heading = "Run")]
    pub limit_picture: Option<u64>,
    /// Maximum triangles of all meshes, millions [default: 2, or one per four bytes of their files]
    #[arg(long, value_name = "MILLIONS", value_parser = clap::value_parser!(u64).range(1..=1 << 30), hide_short_help = true, help_heading = "Run")]
    pub limit_triangles: Option<u64>,
    /// Seconds for the frames in flight after Ctrl-C or SIGTERM.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, hide_short_help = true, help_heading = "Run")]
    pub grace: u32,
}

// Sizes of video that have names.
const SIZES: [(&[&str], (u32, u32)); 5] = [
    (&["720p", "hd"], (1280, 720)),
    (&["1080p", "fullhd"], (1920, 1080)),
    (&["1440p", "qhd"], (2560, 1440)),
    (&["2160p", "4k", "uhd"], (3840, 2160)),
    (&["4320p", "8k"], (7680, 4320)),
];

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let rule = Rule::Whole(1, MAX_SIDE);
    let side = |s: &str| s.trim().parse::<u32>().ok().filter(|&n| rule.allows(f64::from(n)));
    let named = SIZES.iter().find(|(names, _)| names.iter().any(|name| name.eq_ignore_ascii_case(text)));
    let sides = || text.split_once(['x', 'X', '×']).and_then(|(w, h)| Some((side(w)?, side(h)?)));
    let size = named.map(|(_, size)| *size).or_else(sides);
    let expected = || format!("expected WIDTHxHEIGHT, each {}, or a name such as 1080p or 4k", rule.expected());
    let (w, h) = size.ok_or_else(expected)?;
    check_pixels(w, h)?;
    Ok((w, h))
}

/// Whether a picture of that size fits the memory.
pub fn check_pixels(width: u32, height: u32) -> Result<(), String> {
    match u64::from(width) * u64::from(height) {
        pixels if pixels <= MAX_PIXELS => Ok(()),
        _ => Err(format!("a picture of {width} x {height} pixels is above the memory limit of {MAX_PIXELS} pixels")),
    }
}

// Of -o.
fn frames_help() -> String {
    format!(
        "Where the frames go: a path with %d, %0Nd or ####, ending in {}; without a number for one frame; `-` (or `-.ppm`) for \
         stdout, and the log on stderr",
        endings(&PICTURES)
    )
}

fn parse_threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n <= 1024).ok_or_else(|| "expected a whole number from 0 to 1024".into())
}

fn parse_fps(text: &str) -> Result<f64, String> {
    let rule = Rule::FRAME_RATE;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let fps = match text.split_once('/') {
        Some((frames, seconds)) => number(frames).zip(number(seconds)).map(|(frames, seconds)| frames / seconds),
        None => number(text),
    };
    let expected = || format!("expected {}, or a fraction such as 30000/1001", rule.expected());
    fps.filter(|&fps| rule.allows(fps)).ok_or_else(expected)
}

/// The program's command: flags and jobs.
pub fn command() -> clap::Command {
    let frames = |help: &'static str| move |arg: clap::Arg| arg.help(help).value_name("LIST");
    with_negative_numbers(Cli::command())
        .mut_subcommand("missing", |job| {
            job.mut_arg(
                "frames",
                frames("The frames to check, as for a run [default: those of all runs in the folder]"),
            )
        })
        .mut_subcommand("stitch", |job| {
            job.mut_arg(
                "frames",
                frames("The frames of the video, as for a run [default: those of all runs in the folder]"),
            )
        })
}

// The same command, in which a number below 0 is the value of its flag and no other flag.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let flags = |arg: clap::Arg| match arg.is_positional() || !arg.get_action().takes_values() {
        true => arg,
        false => arg.allow_negative_numbers(true),
    };
    command.mut_args(flags).mut_subcommands(with_negative_numbers)
}

fn parse_solid(text: &str) -> Result<Solid, String> {
    Solid::from_name(text.trim()).ok_or_else(|| format!("expected one of {}", Solid::ALL.map(Solid::name).join(", ")))
}

fn parse_solids(text: &str) -> Result<[Solid; 3], String> {
    let solids = text.split(',').map(parse_solid).collect::<Result<Vec<_>, _>>()?;
    solids.try_into().map_err(|_| "expected three solids, as A,B,C".into())
}

/// What `~` means; without HOME it is what the system knows of its user.
pub fn home() -> Option<PathBuf> {
    std::env::home_dir()
}
