//! Rendering: from arguments to frames and a video. All that can be told from the arguments and the scene's text is
//! checked before any other file is read.

use super::claim::{self, Claim, Existing};
use super::confine::PathSandbox;
use super::convert::write_picture;
use super::hints::hints;
use super::journal::RunRecorder;
use super::memory;
use super::outputs::Outputs;
use super::stop::{self, Stop};
use super::video_choice::VideoChoice;
use super::{dry_run, environment, load_scene, output, stitch};
use crate::assets::AssetError;
use crate::assets::source::Limits;
use crate::cli::{QualityArg, RenderArgs, RenderRequest, SplitArg};
use crate::error::Error;
use crate::output::OutputError;
use crate::output::video::Video;
use crate::quote::brief;
use crate::render::denoise::DenoiserLibrary;
use crate::render::frames::FrameList;
use crate::render::plan::Split;
use crate::render::sheet::{SHEET, sheet};
use crate::render::stats::RunReport;
use crate::render::{Devices, RenderError, RenderOptions, Renderer};
use crate::report::{LogFormat, Reporter, SceneFacts, remark, several, size, warn};
use crate::scene::{Pattern, Scene};
use clap::ValueEnum;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

// Files whose lengths are asked for at the end.
const MAX_LOOKED_AT: usize = 10_000;

/// Renders a scene.
pub fn run(args: &RenderArgs) -> Result<(), Error> {
    let name = match &args.scene {
        Some(name) => name.clone(),
        None if std::io::stdin().is_terminal() => {
            return Err(Error::Usage(
                "give a scene: a file, or text on stdin; `polyfly --default | polyfly` renders the sample".into(),
            ));
        }
        None => "-".into(),
    };
    let stop = Stop::listen(Duration::from_secs(args.grace.into()));
    let (mut scene, text) = load_scene(&name, &args.changes)?;
    let fence = PathSandbox::of(&name, args.changes.allow_outside);
    if let Some(fence) = &fence {
        fence
            .writing(&scene, args.output.is_none() && !args.no_frames, args.video.is_none())
            .map_err(|e| text.placed(e))?;
    }
    if let Some(path) = &args.sheet {
        let image = sheet(&scene, SHEET, &options(args)?).map_err(|e| text.placed(e))?;
        return write_picture(path, (image.width(), image.height()), image.data());
    }
    let (quiet, own) = (args.changes.quiet, scene.output.files.clone());
    let RenderRequest { frames: all, stream } = args.override_scene(&mut scene)?;
    let choice = VideoChoice::of(args, Existing::of(args, &name), &scene, &own, &all, stream.is_some());
    choice.skip(&mut scene, quiet, args.no_frames)?;
    let Some(part) = claim::shard(&all, args.shard, args.shard_mode) else {
        remark(&format!("there are more shards than frames: this one has none of the {}", all.len()));
        return Ok(());
    };
    if let Some(fence) = &fence {
        fence.steps(&scene, part.iter()).map_err(|e| text.placed(e))?;
    }
    time_steps(&scene, &part).map_err(|e| text.placed(e))?;
    let mut options = options(args)?;
    if args.open && stream.is_some() && scene.output.video.is_none() {
        return Err(Error::Usage("--open: a stream leaves no file to show".into()));
    }
    let is_among_frames = stream.as_ref().is_some_and(|s| s.path().is_none());
    let outputs = Outputs::of(args, choice, &scene, &part, &all, stream)?;
    let bytes = memory::estimate(&scene, &outputs, &options)? + memory::files(&scene, options.limits);
    memory::check(bytes, args.limit_memory, (scene.render.width, scene.render.height))?;
    options.limits.memory = options.limits.memory.map(|max| max.saturating_sub(bytes));
    if args.dry_run {
        return output(
            &dry_run::describe(scene, &outputs, options, bytes, args.show_ffmpeg).map_err(|e| text.placed(e))?,
        );
    }
    let sinks = outputs.sinks(&scene, quiet)?;
    if !quiet {
        hints(&scene).iter().for_each(|hint| warn(hint));
    }
    if let (Some(quality), false) = (args.changes.asked_quality(), quiet) {
        remark(&cost(quality, &scene));
    }
    let Outputs { claim, video, to_render: left, done: there, rerender: again, existing_video: made, .. } = outputs;
    let replaces_video = args.overwrite && video.is_some();
    if there > 0 && !quiet {
        remark(&format!("{there} of {} frames are there and whole", part.len()));
    }
    if again > 0 && !quiet {
        remark(&format!("{again} frames that are there are rendered again: the video is made of more than they keep"));
    }
    if let (Some(film), false) = (&made, quiet) {
        remark(&format!("{} is there already, of all of these frames", film.display()));
    }
    let pattern = scene.output.files.clone();
    let shown = |film: Option<PathBuf>| film.or_else(|| Some(pattern.path(part.nth(0)?)));
    let Some(left) = left else {
        if let Some(claim) = &claim {
            claim.clean_up(quiet);
        }
        let path = video.as_ref().filter(|(_, film)| film.part.is_none()).map(|(settings, _)| settings.path.clone());
        let goes_on = Some(stop::resuming_command(name == "-", replaces_video));
        match video {
            Some((settings, film)) if film.part.is_none() => {
                stitch::make(film, settings, quiet, args.limit_memory, (&stop, goes_on))?
            }
            // The shard's segments, where they are not there yet.
            Some((settings, film)) if film.is_made(&settings) => {}
            Some((settings, film)) => {
                stop.attach(Arc::clone(&film.stop), goes_on);
                drop(Video::open(settings, film)?.finish(false)?);
                stitch::is_finished(&stop, None)?;
            }
            None => {}
        }
        return if args.open { open_result(&shown(path)) } else { Ok(()) };
    };
    let mut facts = SceneFacts { denoised: args.denoise, ..SceneFacts::of(&name, &scene) };
    facts.path = facts.path.filter(|_| claim.is_some());
    let mut renderer = Renderer::prepare(scene, options).map_err(|e| text.placed(e))?;
    if let (Some(why), false) = (renderer.fell_back(), quiet) {
        remark(&format!("{why}; rendering on the CPU"));
    }
    let reporter = Reporter::new(args.log.unwrap_or(LogFormat::Text), quiet, facts).watching(renderer.meter());
    let reporter = if is_among_frames { reporter.beside_pictures() } else { reporter };
    stop.on_leave(reporter.farewell());
    let flag = renderer.stop_flag();
    let goes_on =
        claim.as_ref().is_some_and(Claim::can_be_resumed) || video.is_some_and(|(settings, _)| !settings.is_single());
    stop.watch(renderer.made_flag());
    stop.attach(Arc::clone(&flag), goes_on.then(|| stop::resuming_command(name == "-", replaces_video)));
    let mut told = RunRecorder::new(reporter, claim, quiet, flag);
    let result = renderer.run_all(&left, sinks, &mut told);
    let (outcome, report) = (told.reporter.outcome(), result.as_ref().ok().cloned());
    let result = verdict(&mut told, result, (there, left.len()), &stop);
    if result.is_ok() {
        stop.made();
    }
    told.reporter.close(result.as_ref().map_or_else(Error::exit_code, |()| 0));
    let made = shown(report.as_ref().and_then(|r| r.files.first().cloned()).or(made));
    if let (Ok(()), Some(report), Some((time, stage)), false) = (&result, report, outcome, quiet) {
        let files = told.claim.is_some().then_some((pattern.clone(), left));
        remark(&summary(&report, time, stage, files));
    }
    result?;
    if args.open {
        open_result(&made)?;
    }
    match told.reporter.lost_log() {
        Some(e) => Err(OutputError::Write("stdout".into(), e).into()),
        None => Ok(()),
    }
}

// Whether a run that has ended was all that it was to be.
fn verdict(
    told: &mut RunRecorder,
    result: Result<RunReport, RenderError>,
    (there, left): (usize, usize),
    stop: &Stop,
) -> Result<(), Error> {
    if let Some(e) = told.failure.take() {
        return Err(e);
    }
    if let Some(claim) = &mut told.claim {
        // The run's own failure is what counts.
        let ended = claim.end();
        if result.is_ok()
            && let Some(lost) = ended?
        {
            return Err(Error::Incomplete(format!(
                "frames {lost} were there and have vanished, or are not whole any more: --resume renders them"
            )));
        }
    }
    let interrupted = |done: usize, total: usize| {
        stop.tell_how_to_go_on();
        Error::Interrupted(done + there, total + there, stop.is_temporary())
    };
    result.map_err(|e| match e {
        RenderError::Interrupted { done, total } => interrupted(done, total),
        // The signal has reached ffmpeg too.
        RenderError::Output(OutputError::Encoder { what, .. }) if stop.is_asked() => {
            remark(&what);
            interrupted(told.frames, left)
        }
        other => other.into(),
    })?;
    Ok(())
}

// Shows what a run has made, by the system's own program for such files.
fn open_result(made: &Option<PathBuf>) -> Result<(), Error> {
    let Some(path) = made.as_ref().filter(|path| path.is_file()) else {
        return Err(Error::Usage("--open: the run has left no file to show".into()));
    };
    open::that_detached(path)
        .map_err(|e| Error::Read(format!("{} with this system's program for it", path.display()), e))
}

// How many frames, how long, where to, how large, and what held it up.
fn summary(report: &RunReport, time: Duration, stage: &str, files: Option<(Pattern, FrameList)>) -> String {
    let seconds = time.as_secs_f64();
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |facts| facts.len());
    let frames = several(report.frames, "frame");
    let rate = report.frames as f64 / seconds.max(1e-9);
    let stage = if stage == "finish" { "the wait for the encoder's end" } else { stage };
    let mut text = format!("{frames} in {seconds:.2} s ({rate:.1} a second; {stage} took longest)");
    if let Some((pattern, list)) = files {
        // Of a long clip the first ones tell.
        let looked = list.len().min(MAX_LOOKED_AT);
        let bytes: u64 = list.iter().take(looked).map(|n| length(&pattern.path(n))).sum();
        let all = (bytes as f64 * list.len() as f64 / looked.max(1) as f64) as u64;
        let about = if looked < list.len() { "about " } else { "" };
        text += &format!(": {pattern}, {about}{}", size(all));
    }
    for film in &report.files {
        text += &format!("; {}, {}", film.display(), size(length(film)));
    }
    text
}

// Looks whether particles have a file for each frame, before the first of them is rendered.
fn time_steps(scene: &Scene, frames: &FrameList) -> Result<(), Error> {
    let Some(particles) = scene.world.particles.as_ref().filter(|p| p.is_animated()) else { return Ok(()) };
    let missing = FrameList::of_numbers(frames.iter().filter(|&n| !particles.file(n).is_file()));
    let Some((list, first)) = missing.and_then(|list| Some((list.to_string(), list.iter().next()?))) else {
        return Ok(());
    };
    let what = format!("there is no such file; frames without one: {list} (--frames renders others)");
    Err(AssetError { path: particles.file(first), at: None, what, remedy: None }.into())
}

// What a preset comes to in this scene.
fn cost(quality: QualityArg, scene: &Scene) -> String {
    let render = &scene.render;
    let pixels = u64::from(render.width) * u64::from(render.height);
    let samples = render.samples_per_pixel();
    let (each, bound) = match render.sampling {
        crate::scene::Sampling::Adaptive { min, .. } => {
            (format!("{min} to {}", several(samples, "sample")), "at most ")
        }
        _ => (several(samples, "sample"), ""),
    };
    format!(
        "quality {}: {each} a pixel, at most {}, {bound}{} million camera rays a frame",
        quality.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned()),
        several(render.depth, "bounce"),
        (pixels * u64::from(samples)).div_ceil(1_000_000),
    )
}

fn options(args: &RenderArgs) -> Result<RenderOptions, Error> {
    let fault = environment("POLYFLY_FAULT").and_then(|text| {
        let (gpu, task) = text.split_once(':')?;
        Some((gpu.parse().ok()?, task.parse().ok()?))
    });
    Ok(RenderOptions {
        devices: devices(args)?,
        threads: args.threads.unwrap_or(0),
        isa: environment("POLYFLY_ISA"),
        split: match args.split {
            SplitArg::Auto => Split::Auto,
            SplitArg::Frames => Split::Frames,
            SplitArg::Tiles => Split::Tiles,
        },
        fault,
        denoise: args.denoise.then(|| environment("POLYFLY_OIDN")).map(|path| match path {
            Some(path) => DenoiserLibrary::At(path.into()),
            None => DenoiserLibrary::Usual,
        }),
        limits: Limits {
            file: args.limit_file.map_or(Limits::default().file, |mib| mib << 20),
            picture: args.limit_picture.map(|millions| millions.saturating_mul(1_000_000)),
            triangles: args.limit_triangles.map(|millions| millions.saturating_mul(1_000_000)),
            memory: memory::memory_limit(args.limit_memory),
        },
    })
}

fn devices(args: &RenderArgs) -> Result<Devices, Error> {
    if args.cpu || args.devices == ["cpu"] {
        return Ok(Devices::Cpu);
    }
    if args.devices.is_empty() {
        return Ok(if args.gpu { Devices::Gpu } else { Devices::Auto });
    }
    if args.devices == ["all"] {
        return Ok(Devices::AllGpus);
    }
    let (mut gpus, mut cpu) = (Vec::new(), false);
    for name in &args.devices {
        match (name.as_str(), name.parse::<usize>()) {
            ("cpu", _) => cpu = true,
            (_, Ok(n)) => gpus.push(n),
            _ => {
                return Err(Error::Usage(format!(
                    "--devices: `{}` is no device; expected `all`, or a list of `cpu` and GPUs' numbers",
                    brief(name)
                )));
            }
        }
    }
    Ok(Devices::List(gpus, cpu))
}
