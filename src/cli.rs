//! The command line: flags, and how they change a scene.

mod early;
mod environment;
mod exit;
mod failure;
mod figure;
mod folder;
mod language;
mod particles;
mod render;
mod samples;
mod scene;
mod values;
mod version;

use crate::language::Language;
use crate::output::stream::Stream;
use crate::scene::{Grammar, Look, Solid};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use early::early_value;
pub use environment::{environment, home};
pub use exit::Exit;
pub use failure::Failure;
pub use figure::FigureArgs;
pub use folder::{
    DoctorArgs, Engine, ExpectedArgs, FarmArgs, MissingArgs, ReportArgs, StatusArgs, StitchArgs, VideoArgs,
};
pub use language::{choose_language, language, shown};
pub use particles::{
    ConvertParticlesArgs, FileLayout, GenerateArgs, InfoArgs, ParticlesArgs, ParticlesCommand, ParticlesDevice,
    PictureArgs, StatsArgs, StatsKind,
};
pub use render::{DeviceArgs, RenderArgs};
pub use samples::{NewArgs, ScenesArgs, ScenesCommand};
pub use scene::{CommonArgs, MissingTexture, Quality, SamplesArg, SceneArgs, assignment};
use std::ffi::OsString;
use std::path::PathBuf;
pub use values::{BenchSize, check_size};
use values::{parse_bench_size, parse_share, parse_solids, parse_thread_list, whole};
pub use version::COMMIT;

/// Renders flythroughs of mirrored, see-through polyhedra: reads a scene, writes frames and a video.
#[derive(Parser, Debug)]
#[command(
    version,
    long_version = version::LONG.as_str(),
    override_usage = "polyfly [OPTIONS] [SCENE]\n       polyfly <COMMAND>",
    after_help = format!("Try it:  polyfly new my.toml, then polyfly my.toml --video my.mp4\n\n{}", Exit::summary())
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub render: RenderArgs,
    /// No progress bar and no remarks (also POLYFLY_QUIET=1).
    #[arg(short, long, global = true, help_heading = "Output")]
    pub quiet: bool,
    /// Language of messages [default: that of the locale, if it is UTF-8]
    #[arg(long, value_name = "LANGUAGE", global = true, help_heading = "Output")]
    pub lang: Option<Language>,
}

/// Commands other than rendering.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Writes a short scene with comments, to begin with.
    New(NewArgs),
    /// Lists the sample scenes, which are inside the program; copies one, or prints it.
    Scenes(ScenesArgs),
    /// Opens the documentation, which is inside the program; or writes it as a static site.
    Docs(DocsArgs),
    /// Converts a scene between tokens and TOML, or a picture to another format.
    Convert(ConvertArgs),
    /// Checks a scene: its contents, errors, and likely mistakes (nothing in sight, black or overexposed frames).
    Check(CheckArgs),
    /// Explains a key of a scene, a flag or an exit code.
    Explain(ExplainArgs),
    /// Shows a frame in the terminal.
    Preview(PreviewArgs),
    /// Serves a page on this machine that shows a scene live while its file is edited: camera, keys, frames.
    Studio(StudioArgs),
    /// Renders scenes on every device of this machine and compares the bytes; or audits folders of frames.
    Verify(VerifyArgs),
    /// Compares two pictures, folders of frames or films: differences, PSNR, SSIM, FLIP; exit code 1 if they differ.
    Compare(CompareArgs),
    /// Times a scene on this machine's devices, as a table for a report; or compares schedules of work.
    Bench(BenchArgs),
    /// Makes a figure of a file of particles for print: legend, scale bar and axes, as a picture, PDF or SVG.
    Figure(FigureArgs),
    /// Renders a file of particles, or generates one.
    #[command(args_conflicts_with_subcommands = true)]
    Particles(ParticlesArgs),
    /// Prints this machine's devices, and renders a reference picture on each.
    Doctor(DoctorArgs),
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

#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The scenes: files, or `-` for stdin.
    #[arg(default_value = "-")]
    pub scenes: Vec<String>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub changes: SceneArgs,
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// A key such as `body.lamps`, a table, a word that a key takes, a flag, a command or an exit code.
    #[arg(value_name = "KEY|FLAG|CODE", allow_hyphen_values = true)]
    pub word: Option<String>,
}

#[derive(Args, Debug)]
pub struct DocsArgs {
    /// The page to open: `first-hour`, `looks`, `gallery`, `keys`, ... [default: start]
    #[arg(value_name = "PAGE")]
    pub page: Option<String>,
    /// Write the site into this folder instead.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["page", "port", "no_open"])]
    pub write: Option<PathBuf>,
    /// With --write: replace existing files.
    #[arg(long, requires = "write")]
    pub overwrite: bool,
    /// Print the address only, and open no browser.
    #[arg(long)]
    pub no_open: bool,
    /// Port on 127.0.0.1; 0: any free port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

#[derive(Args, Debug)]
pub struct StudioArgs {
    /// The scene: a file, in tokens or TOML [default: the page offers samples, templates and the scenes of this folder]
    pub scene: Option<String>,
    /// Port on 127.0.0.1; 0: any free port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub changes: SceneArgs,
}

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
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1, 10_000))]
    pub columns: Option<u32>,
    #[command(flatten)]
    pub device: DeviceArgs,
    #[command(flatten)]
    pub common: CommonArgs,
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
    /// Colored half blocks, two pixels a letter: everywhere.
    Blocks,
}

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

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
    /// The exit codes: docs/reference/exit-codes.md.
    ExitCodes,
    /// The formats of files: docs/reference/formats.md.
    Formats,
}

#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Compare schedules of a frame's work over CPU threads: time, and the average thread's rays over the busiest one's.
    #[arg(long)]
    pub balance: bool,
    /// Measure the whole clip: its total on each device, and its first and last ten frames.
    #[arg(long, conflicts_with_all = ["balance", "sizes", "plots"])]
    pub clip: bool,
    /// Numbers of CPU threads to measure, such as `1,2,4,8`; 0: one per core [default: 1 and one per core]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_thread_list, conflicts_with = "balance")]
    pub threads: Vec<usize>,
    /// Picture sizes to measure, such as `320x240,640x480,1080p`; each is written as in --size. Whole numbers such as `1e4,1e5,1e6` are numbers of
    /// particles: those of the scene become packings of `polyfly particles generate`.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_bench_size, conflicts_with_all = ["balance", "size"])]
    pub sizes: Vec<BenchSize>,
    /// Format of the table.
    #[arg(long, value_enum, default_value = "md")]
    pub format: TableFormat,
    /// Draw plots into this folder, as SVG: devices.svg (all devices; with --sizes by size, and rays.svg), threads.svg (the
    /// speed-up of threads), clip.svg (time of each frame), samples.svg and depth.svg (their cost, at the first of --sizes);
    /// with --balance work.svg and speed-up.svg.
    #[arg(long, value_name = "FOLDER")]
    pub plots: Option<PathBuf>,
    /// Replace existing plots.
    #[arg(long)]
    pub overwrite: bool,
    /// Repetitions for the median, after one warm-up.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(1, 1000))]
    pub runs: u32,
    /// The scene; the sample scene if not given.
    pub scene: Option<String>,
    #[command(flatten)]
    pub common: CommonArgs,
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

#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// Scenes; or folders of frames with their manifest.json, with films of them that have no loss.
    #[arg(required = true)]
    pub scenes: Vec<String>,
    #[command(flatten)]
    pub expected: ExpectedArgs,
    /// Render this share of a folder's frames again, of each worker's [default: 5%, or all of --frames]
    #[arg(long, value_name = "N%", value_parser = parse_share)]
    pub sample: Option<f64>,
    /// Render tiles of 16 x 16 pixels in place of whole frames.
    #[arg(long)]
    pub tiles: bool,
    /// Draw the frames that an earlier audit drew, which printed this [default: a random number]
    #[arg(long, value_name = "TEXT")]
    pub nonce: Option<String>,
    /// With a folder: fail unless manifest.intoto.jsonl has a signature by this key over the root: a file of ssh-ed25519 (.pub), or its line.
    #[arg(long, value_name = "KEY")]
    pub signed_by: Option<String>,
    /// Sign the root, if nothing is wrong, by this private key of ssh-ed25519.
    #[arg(long, value_name = "FILE")]
    pub sign: Option<PathBuf>,
    /// Compare the scene's frames with the hashes in this list, such as `polyfly SCENE --hash` prints: those of the list, or of --frames.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sample", "tiles", "nonce", "scene", "hash", "signed_by", "sign"])]
    pub golden: Option<PathBuf>,
    /// Write the hashes of the frames into the list.
    #[arg(long, requires = "golden")]
    pub bless: bool,
    /// The ffmpeg program that decodes films (also POLYFLY_FFMPEG).
    #[arg(long, value_name = "PROGRAM")]
    pub ffmpeg: Option<PathBuf>,
    // The size is 160x120 and the frames are the first two if not given.
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub changes: SceneArgs,
}

#[derive(Args, Debug)]
pub struct CompareArgs {
    /// A picture, a folder of frames, their pattern (`a/%04d.png`), or a film.
    #[arg(value_name = "A")]
    pub first: String,
    /// The same of the other side; frames are matched by number.
    #[arg(value_name = "B")]
    pub second: String,
    /// Compare frame n of A with frame n + N of B: 1 where A counts its frames from 0 and B from 1.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(i64).range(-(1 << 30)..=1 << 30))]
    pub offset: i64,
    /// Largest difference of a channel that counts as equal, codes of 0 to 255.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_difference: u8,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Write the difference of the worst frame as a picture, amplified.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an existing picture.
    #[arg(long)]
    pub overwrite: bool,
    /// The ffmpeg program that decodes films (also POLYFLY_FFMPEG).
    #[arg(long, value_name = "PROGRAM")]
    pub ffmpeg: Option<PathBuf>,
}

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
    pub to: Option<Grammar>,
    /// The three bodies of a scene in tokens.
    #[arg(long, value_name = "A,B,C", value_parser = parse_solids)]
    pub solids: Option<[Solid; 3]>,
    /// The look of the scene [default: `film` for tokens with lamps, `plain` for the two shorter dialects; TOML: its `look`]
    #[arg(long, value_enum)]
    pub look: Option<Look>,
    /// The file to write; stdout if not given.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an existing file, which may be the one that is read.
    #[arg(long)]
    pub overwrite: bool,
}

/// The program's command with all flags and subcommands.
pub fn command() -> clap::Command {
    let with_frames = |verb: &'static str| {
        let help = format!("The frames {verb}, as for a run [default: those of all runs in the folder]");
        move |one: clap::Command| one.mut_arg("frames", |arg| arg.help(help).value_name("LIST"))
    };
    with_negative_numbers(Cli::command())
        .mut_subcommand("missing", with_frames("to check"))
        .mut_subcommand("stitch", with_frames("of the video"))
}

/// The command that the words name, behind flags that all commands take.
pub fn first_command(words: &[OsString]) -> Option<clap::Command> {
    let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
    let name = words.find(|word| !word.starts_with('-') && !["en", "ru", "help"].contains(word))?;
    command().find_subcommand(name).cloned()
}

/// Whether these words ask for a run whose log is JSON lines; and whether its pictures go to stdout.
pub fn json_log(words: &[OsString]) -> Option<bool> {
    let log = early_value(words, &["--log"]).or_else(|| environment("POLYFLY_LOG"));
    let is_json = log?.eq_ignore_ascii_case("jsonl") && first_command(words).is_none();
    let has_sums = || words.iter().any(|word| word == "--hash");
    let on_stdout = || early_value(words, &["--output", "-o"]).map_or_else(has_sums, |to| Stream::is_stdout(&to));
    is_json.then(on_stdout)
}

// The same command, in which a negative number is a value and not a flag.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let flags = |arg: clap::Arg| match arg.is_positional() || !arg.get_action().takes_values() {
        true => arg,
        false => arg.allow_negative_numbers(true),
    };
    command.mut_args(flags).mut_subcommands(with_negative_numbers)
}
