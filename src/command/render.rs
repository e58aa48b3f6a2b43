//! The render command: from flags to a run, its progress and its summary.

use super::convert::write_picture;
use super::dry_run;
use super::hints::hints;
use super::output_file::OutputFile;
use super::request::{options, request};
use super::scene_file::{SceneText, load_scene};
use super::stop;
use super::viewer::open_in_viewer;
use crate::cli::{Exit, Failure, Quality, RenderArgs};
use crate::error::Error;
use crate::language::{Message, count, msg};
use crate::output::{OutputError, documents};
use crate::render::Renderer;
use crate::render::frames::FrameList;
use crate::render::sheet::{SHEET, sheet};
use crate::render::stats::RunReport;
use crate::report::{LogFormat, Remarks, Reporter, SceneFacts, close_log, is_quiet, print, remark, say, size, warn};
use crate::run::RunPlan;
use crate::run::sandbox::PathSandbox;
use crate::scene::{FurnitureIn, Grammar, Pattern, Scene};
use crate::system::extension;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

// Maximum number of files whose lengths are read for the summary.
const MAX_LOOKED_AT: usize = 10_000;

pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    let name = match &args.scene {
        Some(name) => name.clone(),
        None if std::io::stdin().is_terminal() => {
            return Err(Failure::usage(msg!(
                "give a scene: a file, or text on stdin; `polyfly new my.toml` writes one to begin with, `polyfly --default | polyfly` renders the sample"
            )));
        }
        None => "-".into(),
    };
    stop::listen(Duration::from_secs(args.grace.into()));
    let (scene, text) = load_scene(&name, &args.common, &args.changes)?;
    run_scene(args, &name, scene, &text)
}

/// Renders a scene that is read. `name` is its file's name, or `-` for stdin.
pub fn run_scene(args: &RenderArgs, name: &str, scene: Scene, text: &SceneText) -> Result<(), Failure> {
    if let Some(sandbox) = PathSandbox::of(name, args.common.allow_outside) {
        // A sheet is the only file then.
        let others = args.sheet.is_none();
        let (frames, video) = (args.output.is_none() && !args.no_frames && !args.hash, args.video.is_none());
        let (frames, video) = (frames && others, video && others);
        sandbox.writing(&scene, frames, video).map_err(|e| text.placed(e))?;
    }
    if let Some(path) = &args.sheet {
        make_sheet(args, path, &scene, text)?;
        close_log(Exit::Done as u8, None);
        return Ok(());
    }
    let document = args.output.as_ref().map(Path::new).filter(|path| is_document(path) && scene.figure.is_some());
    if let Some(path) = document.filter(|_| !args.dry_run) {
        write_document(args, path, scene, text)?;
        close_log(Exit::Done as u8, None);
        return if args.open { open_result(Some(&path.to_owned())) } else { Ok(()) };
    }
    let request = request(args, scene, name)?;
    if request.part().is_none() {
        say(msg!(
            "there are more shards than frames: this one has none of the {frames}",
            frames = request.frames.len()
        ));
        close_log(Exit::Done as u8, None);
        return Ok(());
    }
    let plan = request.plan(&mut Remarks).map_err(|e| text.placed(e))?;
    if args.open && plan.stream().is_some() && plan.video.is_none() {
        return Err(Failure::usage(msg!("--open: a stream leaves no file to show")));
    }
    if args.dry_run {
        stop::attach(plan.request.cancel.clone(), None);
        let described = dry_run::describe(plan).map_err(|error| match error {
            Error::Interrupted { .. } => stop::failure(error),
            other => text.placed(other),
        });
        return Ok(print(&described?)?);
    }
    if !is_quiet() {
        hints(&plan.request.scene).iter().for_each(|hint| warn(text.hint(hint)));
    }
    // Tokens say nothing of a look. A run that goes on has told it.
    if let Some(look) = text.look.filter(|_| !args.resume && Grammar::of(&text.text) == Grammar::Tokens) {
        remark(look.told(&plan.request.scene));
    }
    if let Some(quality) = args.changes.quality() {
        remark(cost(quality, &plan.request.scene));
    }
    let shown = Shown::of(&plan);
    let facts = SceneFacts::of(name, &plan);
    let goes_on =
        plan.can_be_resumed().then(|| stop::resuming_command(name == "-", args.overwrite && plan.video.is_some()));
    let log = args.log.unwrap_or(LogFormat::Text);
    let run = match plan.open(&mut Remarks).map_err(|e| text.placed(e)) {
        Ok(run) => run,
        Err(e) => {
            Reporter::new(log, facts, shown.is_on_stdout, None).close(e.exit_code() as u8, Some(e.to_string()));
            return Err(e);
        }
    };
    let mut reporter = Reporter::new(log, facts, shown.is_on_stdout, run.counter());
    stop::attach(run.cancel(), goes_on);
    let result = run.render(&mut reporter).map_err(stop::failure);
    if result.is_ok() {
        stop::outputs_complete();
    }
    let exit_code = result.as_ref().map_or_else(Failure::exit_code, |_| Exit::Done);
    let outcome = reporter.close(exit_code as u8, result.as_ref().err().map(ToString::to_string));
    let report = result?;
    if let Some((time, stage)) = outcome.filter(|_| !is_quiet()) {
        remark(summary(&report, (time, stage), shown.files.as_ref()));
    }
    if args.open {
        open_result(report.files.first().or(shown.file.as_ref()))?;
    }
    match reporter.lost_log() {
        Some(e) => Err(OutputError::Write("stdout".into(), e).into()),
        None => Ok(()),
    }
}

fn is_document(path: &Path) -> bool {
    documents::encoder(&extension(path)).is_some()
}

// Writes the figure of a frame as PDF or SVG.
fn write_document(args: &RenderArgs, path: &Path, scene: Scene, text: &SceneText) -> Result<(), Failure> {
    let frames = args.common.frame_list(&scene)?;
    let Some(frame) = frames.nth(0).filter(|_| frames.len() == 1) else {
        let name = path.display();
        return Err(Failure::usage(msg!("{name} shows one frame: give its number with --frames", name)));
    };
    let file = OutputFile::create(path, args.overwrite)?;
    let is_apart = scene.figure.as_ref().is_some_and(|figure| figure.furniture == FurnitureIn::Separate);
    let beside = path.with_extension("png");
    let picture = is_apart.then(|| OutputFile::create(&beside, args.overwrite)).transpose()?;
    let mut renderer = Renderer::prepare(scene, options(args)?).map_err(|e| text.placed(e))?;
    for remark in [renderer.remark(), renderer.lost_legend()].into_iter().flatten() {
        say(remark);
    }
    if let Some(picture) = picture {
        picture.write(&renderer.encode(frame, "png")?)?;
    }
    Ok(file.write(&renderer.encode(frame, &extension(path))?)?)
}

/// Writes a figure to its output, and says nothing.
pub fn write_quietly(args: &RenderArgs, scene: Scene, text: &SceneText) -> Result<(), Failure> {
    if let Some(path) = args.output.as_ref().map(Path::new).filter(|path| is_document(path)) {
        return write_document(args, path, scene, text);
    }
    let plan = request(args, scene, &text.shown)?.plan(&mut ()).map_err(|e| text.placed(e))?;
    plan.run(&mut ()).map_err(|e| text.placed(e))?;
    Ok(())
}

// Writes a contact sheet of the frames.
fn make_sheet(args: &RenderArgs, path: &Path, scene: &Scene, text: &SceneText) -> Result<(), Failure> {
    let frames = args.common.frame_list(scene)?.spread(SHEET as usize);
    let file = OutputFile::create(path, args.overwrite)?;
    let image = sheet(scene, &frames, &options(args)?).map_err(|e| text.placed(e))?;
    write_picture(&file, (image.width(), image.height()), image.data())?;
    remark(msg!(
        "{path} shows {frames}",
        path = path.display(),
        frames = count!(frames.len() as u64, "frame", "frames")
    ));
    if args.open { open_result(Some(&path.to_owned())) } else { Ok(()) }
}

// The parts of a plan that are shown after its run.
struct Shown {
    is_on_stdout: bool,
    // The frames that are written to files.
    files: Option<(Pattern, FrameList)>,
    // The file for `--open` if the run makes no video: an existing video, or the first frame.
    file: Option<PathBuf>,
}

impl Shown {
    fn of(plan: &RunPlan) -> Shown {
        let pattern = &plan.request.scene.output.files;
        let first = || plan.part.nth(0).map(|n| pattern.path(n));
        Shown {
            is_on_stdout: plan.stream().is_some_and(|(stream, _)| stream.path().is_none()),
            files: plan.claim.as_ref().and(plan.to_render.clone()).map(|frames| (pattern.clone(), frames)),
            file: plan.existing_video.clone().or_else(first),
        }
    }
}

/// Opens the result in the system's viewer.
pub(super) fn open_result(file: Option<&PathBuf>) -> Result<(), Failure> {
    let Some(path) = file.filter(|path| path.is_file()) else {
        return Err(Failure::usage(msg!("--open: the run has left no file to show")));
    };
    // The file is complete, so a system without a viewer is no failure of the run.
    if open_in_viewer(path).is_err() {
        warn(msg!("--open: this system has no program that shows {path}", path = path.display()));
    }
    Ok(())
}

// The number of frames, the time, the slowest stage, and the files with their size.
fn summary(report: &RunReport, (time, stage): (Duration, &str), files: Option<&(Pattern, FrameList)>) -> Message {
    let seconds = time.as_secs_f64();
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |facts| facts.len());
    let (frames, rate) = (count!(report.frames as u64, "frame", "frames"), report.frames as f64 / seconds.max(1e-9));
    let stage = match stage {
        "render" => msg!("render"),
        "encode" => msg!("encode"),
        "write" => msg!("write"),
        _ => msg!("waiting for the encoder"),
    };
    let time = match seconds {
        ..0.1 => msg!("{number} ms", number = format_args!("{:.1}", seconds * 1e3)),
        _ => msg!("{number} s", number = format_args!("{seconds:.2}")),
    };
    let text = match report.frames {
        1 => msg!("{frame} in {time} ({stage} took longest)", frame = frames, time, stage),
        _ => msg!(
            "{frames} in {time} ({rate} a second; {stage} took longest)",
            frames,
            time,
            rate = format_args!("{rate:.1}"),
            stage
        ),
    };
    let mut lines = vec![text];
    if let Some((pattern, list)) = files {
        // In a long clip, the total is estimated from the first files.
        let looked = list.len().min(MAX_LOOKED_AT);
        let bytes: u64 = list.iter().take(looked).map(|n| length(&pattern.path(n))).sum();
        let all = (bytes as f64 * list.len() as f64 / looked.max(1) as f64) as u64;
        let all = size(all);
        let all = if looked < list.len() { msg!("about {size}", size = all) } else { all };
        let names = match list.nth(0) {
            Some(only) if list.len() == 1 => pattern.path(only).display().to_string(),
            _ => pattern.to_string(),
        };
        lines.push(Message::list([format!(": {names}").into(), all], ", "));
    }
    for film in &report.files {
        lines.push(Message::list([format!("; {}", film.display()).into(), size(length(film))], ", "));
    }
    Message::list(lines, "")
}

// What a quality preset means for this scene.
fn cost(quality: Quality, scene: &Scene) -> Message {
    let render = &scene.render;
    let pixels = u64::from(render.width) * u64::from(render.height);
    let samples = render.samples_per_pixel();
    let rays = pixels * u64::from(samples);
    let rays = if rays < 1_000_000 {
        msg!("{number} thousand", number = rays.div_ceil(1000))
    } else {
        msg!("{number} million", number = rays.div_ceil(1_000_000))
    };
    let (samples, rays) = match render.sampling {
        crate::scene::Sampling::Adaptive { min, .. } => (
            msg!("{min} to {max}", min, max = count!(samples, "sample", "samples")),
            msg!("at most {number}", number = rays),
        ),
        _ => (count!(samples, "sample", "samples"), rays),
    };
    let name = if quality == Quality::Draft { "draft" } else { "final" };
    msg!(
        "quality {name}: {samples} a pixel, at most {bounces}, {rays} camera rays a frame",
        name,
        samples,
        bounces = count!(render.depth, "bounce", "bounces"),
        rays
    )
}
