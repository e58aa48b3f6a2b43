//! Rendering: from arguments to frames and a video. All that can be told from the arguments and the scene's text is
//! checked before any other file is read.

use super::claim::{self, Claim, Existing};
use super::confine::Fence;
use super::convert::write_picture;
use super::hints::hints;
use super::journal::Teller;
use super::memory;
use super::stop::{self, Stop};
use super::{dry_run, environment, load_scene, named_ffmpeg, output, stitch};
use crate::assets::AssetError;
use crate::assets::source::Limits;
use crate::cli::{Asked, QualityArg, RenderArgs, SplitArg, VideoArgs};
use crate::error::Error;
use crate::output::container::{CONTAINERS, Container, Join};
use crate::output::ffmpeg::find_ffmpeg;
use crate::output::files::{FrameFiles, folder_of};
use crate::output::folder::FrameFolder;
use crate::output::formats::{Format, FormatOptions};
use crate::output::manifest::{HIDDEN, Manifest};
use crate::output::origin::Origin;
use crate::output::segments;
use crate::output::stream::{Stream, StreamSink};
use crate::output::video::{Codec, Deep, Film, Range, Settings, Video, VideoSink};
use crate::output::{OutputError, Sink};
use crate::render::denoise::DenoiserLibrary;
use crate::render::frames::FrameList;
use crate::render::plan::Split;
use crate::render::sheet::{SHEET, sheet};
use crate::render::stats::RunReport;
use crate::render::{Devices, RenderError, RenderOptions, Renderer};
use crate::report::{LogFormat, Reporter, SceneFacts, remark, size};
use crate::scene::limits::PICTURES;
use crate::scene::{Pattern, Scene, Tone};
use clap::ValueEnum;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Of a film that the encoder which is built in makes.
pub const NO_FFMPEG: &str =
    "there is no ffmpeg here: the video is made by the built-in OpenH264, whose files are larger for what is seen";

// Files whose lengths are asked for at the end.
const MOST_LOOKED_AT: usize = 10_000;

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
    if let Some(fence) = Fence::of(&name, args.changes.allow_outside) {
        fence.writing(&scene, args.output.is_none() && !args.no_frames, args.video.is_none())?;
    }
    if let Some(path) = &args.sheet {
        let image = sheet(&scene, SHEET, &options(args)?).map_err(|e| text.placed(e))?;
        return write_picture(path, (image.width(), image.height()), image.data());
    }
    let Asked { frames: all, stream } = args.override_scene(&mut scene)?;
    let quiet = args.changes.quiet;
    let Some(part) = claim::shard(&all, args.shard, args.shard_mode) else {
        remark(&format!("there are more shards than frames: this one has none of the {}", all.len()));
        return Ok(());
    };
    time_steps(&scene, &part).map_err(|e| text.placed(e))?;
    let options = options(args)?;
    let is_among_frames = stream.as_ref().is_some_and(|s| s.path().is_none());
    let outputs = Outputs::of(args, &name, &scene, &part, &all, stream)?;
    let bytes = memory::estimate(&scene, args.denoise, outputs.video.as_ref());
    memory::check(bytes, args.limit_memory, (scene.render.width, scene.render.height))?;
    if args.dry_run {
        return output(&dry_run::told(scene, &outputs, options, bytes).map_err(|e| text.placed(e))?);
    }
    let sinks = outputs.sinks(&scene, quiet)?;
    if !quiet {
        hints(&scene).iter().for_each(|hint| remark(hint));
    }
    if let (Some(quality), false) = (args.changes.asked_quality(), quiet) {
        remark(&cost(quality, &scene));
    }
    let Outputs { claim, video, left, there, .. } = outputs;
    if there > 0 && !quiet {
        remark(&format!("{there} of {} frames are there and whole", part.len()));
    }
    let Some(left) = left else {
        return match video {
            Some((settings, film)) if film.part.is_none() => stitch::make(film, settings, quiet),
            // The shard's segments, where they are not there yet.
            Some((settings, film)) => Ok(Video::open(settings, film)?.finish(false).map(drop)?),
            None => Ok(()),
        };
    };
    let mut facts = SceneFacts { denoised: args.denoise, ..SceneFacts::of(&name, &scene) };
    facts.path = facts.path.filter(|_| claim.is_some());
    let pattern = scene.output.files.clone();
    let mut renderer = Renderer::prepare(scene, options).map_err(|e| text.placed(e))?;
    if let (Some(why), false) = (renderer.fell_back(), quiet) {
        remark(&format!("{why}; rendering on the CPU"));
    }
    let reporter = Reporter::new(args.log.unwrap_or(LogFormat::Text), quiet, facts).watching(renderer.meter());
    let reporter = if is_among_frames { reporter.beside_pictures() } else { reporter };
    let flag = renderer.stop_flag();
    stop.attach(Arc::clone(&flag));
    let goes_on = claim.is_some() || video.is_some_and(|(settings, _)| !settings.is_single());
    let mut told = Teller::new(reporter, claim, quiet, flag);
    let result = renderer.run_all(&left, sinks, &mut told);
    let (outcome, report) = (told.reporter.outcome(), result.as_ref().ok().cloned());
    let result = verdict(&mut told, result, goes_on, (there, &stop));
    told.reporter.close(result.as_ref().map_or_else(Error::exit_code, |()| 0));
    let made = report.as_ref().and_then(|r| r.files.first().cloned()).or_else(|| Some(pattern.path(left.nth(0)?)));
    if let (Ok(()), Some(report), Some((time, stage)), false) = (&result, report, outcome, quiet) {
        let files = told.claim.is_some().then_some((pattern, left));
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
    told: &mut Teller,
    result: Result<RunReport, RenderError>,
    goes_on: bool,
    (there, stop): (usize, &Stop),
) -> Result<(), Error> {
    if let Some(e) = told.failure.take() {
        return Err(e);
    }
    if let Some(claim) = &mut told.claim {
        // The run's own failure is what counts.
        let ended = claim.end();
        if result.is_ok() {
            ended?;
        }
    }
    result.map_err(|e| match e {
        RenderError::Interrupted { done, total } => {
            if goes_on {
                remark(&format!("to go on: {}", stop::resuming_command()));
            }
            Error::Interrupted(done + there, total + there, stop.is_temporary())
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
    let frames = if report.frames == 1 { "1 frame".into() } else { format!("{} frames", report.frames) };
    let rate = report.frames as f64 / seconds.max(1e-9);
    let mut text = format!("{frames} in {seconds:.2} s ({rate:.1} a second; {stage} took longest)");
    if let Some((pattern, list)) = files {
        // Of a long clip the first ones tell.
        let looked = list.len().min(MOST_LOOKED_AT);
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

/// Where a run's frames go, and what is left of them to be rendered.
pub struct Outputs {
    folder: FrameFolder,
    // None where no frames are written to files.
    claim: Option<Claim>,
    /// Where they go one behind the other.
    pub stream: Option<Stream>,
    /// The video, and what it is of.
    pub video: Option<(Settings, Film)>,
    origin: Arc<Origin>,
    /// None where all are there.
    pub left: Option<FrameList>,
    /// How many are there.
    pub there: usize,
}

impl Outputs {
    // Looks what there is; nothing is written.
    fn of(
        args: &RenderArgs,
        name: &str,
        scene: &Scene,
        part: &FrameList,
        all: &FrameList,
        stream: Option<Stream>,
    ) -> Result<Outputs, Error> {
        let settings = video_settings(scene, args)?;
        let is_single = settings.as_ref().is_some_and(Settings::is_single);
        if args.shard.is_some() && args.video.is_some() && is_single {
            return Err(Error::Usage(
                "a shard makes no .y4m, nor any video without ffmpeg: `polyfly stitch` does, when all of them are done"
                    .into(),
            ));
        }
        if args.no_frames && args.shard.is_some() {
            return Err(Error::Usage("--no-frames keeps no frames for the other shards' video: leave it out".into()));
        }
        if args.no_frames && args.resume && is_single {
            return Err(Error::Usage(
                "a .y4m, or a video made without ffmpeg, is not resumed without frames: keep them".into(),
            ));
        }
        let existing = Existing::of(args, name);
        let folder = claim::folder_of(scene)?;
        let manifest = Manifest::of(scene, String::new(), args.denoise);
        let origin = Arc::new(Origin::of(&manifest));
        let is_readable = match &settings {
            Some(settings) if settings.deep.is_some() => Err(Error::Usage(
                "a video of ten bits is made of light, and frames that lie there have been rounded: --overwrite renders them again, \
                 and with --no-frames a video is resumed by itself"
                    .into(),
            )),
            _ => claim::resumable(&folder, scene.output.bits),
        };
        // Its frames are listed one by one, which only a video needs.
        let film = || Film {
            frames: all.iter().collect(),
            part: args.shard.is_some().then(|| part.iter().collect()),
            size: folder.size,
            source: (is_readable.is_ok() && !args.no_frames).then(|| folder.clone()),
            hidden: folder.path().join(HIDDEN),
            is_anew: existing == Existing::Overwritten,
            scene: Some(manifest.hash.clone()),
        };
        if let Some(stream) = stream {
            if args.no_frames || args.resume || args.shard.is_some() {
                return Err(Error::Usage(
                    "--output: frames of a stream are gone: no --resume, no --shard, and no --no-frames".into(),
                ));
            }
            let video = settings.map(|settings| {
                let hidden = folder_of(&settings.path).join(HIDDEN);
                let film = Film { hidden, is_anew: true, source: None, ..film() };
                (settings, film)
            });
            return Ok(Outputs {
                folder,
                claim: None,
                stream: Some(stream),
                video,
                origin,
                left: Some(part.clone()),
                there: 0,
            });
        }
        if args.no_frames {
            let Some(settings) = settings else {
                return Err(Error::Usage("--no-frames leaves nothing to write: name a video with --video".into()));
            };
            let film = Film { hidden: folder_of(&settings.path).join(HIDDEN), is_anew: !args.resume, ..film() };
            let left = match film {
                _ if film.is_anew => Some(part.clone()),
                _ if film.is_made(&settings) => None,
                _ => FrameList::of_numbers(segments::left(&settings, &film)?.into_iter()),
            };
            let there = part.len() - left.as_ref().map_or(0, FrameList::len);
            return Ok(Outputs {
                folder,
                claim: None,
                stream: None,
                video: Some((settings, film)),
                origin,
                left,
                there,
            });
        }
        let video = settings.filter(|_| !(is_single && args.shard.is_some())).map(|settings| (settings, film()));
        let claim = Claim::look(folder.clone(), scene, manifest, part, all, existing)?;
        let (left, there) = (claim.left.clone(), claim.there);
        if video.is_some() && there > 0 {
            is_readable?;
        }
        Ok(Outputs { folder, claim: Some(claim), stream: None, video, origin, left, there })
    }

    // How pictures of a format are written.
    fn format_options(&self, scene: &Scene, format: &Format, place: &str) -> Result<FormatOptions, Error> {
        let options = format
            .options(scene.output.bits, scene.film.tone)
            .map_err(|e| Error::Usage(format!("{place}: {e}; give other --bits")))?;
        Ok(FormatOptions { origin: Some(Arc::clone(&self.origin)), has_alpha: scene.world.sky.transparent, ..options })
    }

    /// The format of pictures, if there are to be any.
    ///
    /// # Errors
    /// It cannot have what is asked of it.
    pub fn picture_format(&self, scene: &Scene) -> Result<Option<(&'static Format, FormatOptions)>, Error> {
        let (format, place) = match (&self.stream, &self.claim) {
            (Some(stream), _) => {
                let none = || Error::Usage(format!("--output: no such format; expected -.{}", PICTURES.join(", -.")));
                (stream.format().ok_or_else(none)?, "--output".to_owned())
            }
            (None, Some(_)) => (self.folder.format, self.folder.pattern.to_string()),
            (None, None) => return Ok(None),
        };
        Ok(Some((format, self.format_options(scene, format, &place)?)))
    }

    fn sinks(&self, scene: &Scene, quiet: bool) -> Result<Vec<Box<dyn Sink>>, Error> {
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        let picture = self.picture_format(scene)?;
        match (picture, &self.stream) {
            (Some((format, options)), Some(stream)) => {
                let to: Box<dyn Write + Send> = match stream.path() {
                    Some(path) => {
                        let open = std::fs::File::options().write(true).open(path);
                        Box::new(open.map_err(|e| OutputError::Write(path.to_owned(), e))?)
                    }
                    None => Box::new(std::io::stdout()),
                };
                sinks.push(Box::new(StreamSink::new(stream.clone(), format, options, to)));
            }
            (Some((_, options)), None) => {
                let is_shared = self.claim.as_ref().is_some_and(Claim::is_shared);
                sinks.push(Box::new(FrameFiles::new(self.folder.clone(), options, is_shared)));
            }
            (None, _) => {}
        }
        if let Some((settings, film)) = &self.video {
            if settings.is_embedded && !quiet {
                remark(NO_FFMPEG);
            }
            let ((width, height), (wide, tall)) = (film.size, film.sides());
            if (wide, tall) != (width, height) && !quiet {
                remark(&format!("video needs even sides: {width} x {height} is padded to {wide} x {tall}"));
            }
            sinks.push(Box::new(VideoSink::new(settings.clone(), film.clone())));
        }
        Ok(sinks)
    }
}

// What a preset comes to in this scene.
fn cost(quality: QualityArg, scene: &Scene) -> String {
    let render = &scene.render;
    let pixels = u64::from(render.width) * u64::from(render.height);
    let samples = render.samples_per_pixel();
    let (each, bound) = match render.adaptive {
        Some(adaptive) => (format!("{} to {samples}", adaptive.least), "at most "),
        None => (samples.to_string(), ""),
    };
    format!(
        "quality {}: {each} samples a pixel, at most {} bounces, {bound}{} million camera rays a frame",
        quality.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned()),
        render.depth,
        (pixels * u64::from(samples)).div_ceil(1_000_000),
    )
}

fn video_settings(scene: &Scene, args: &RenderArgs) -> Result<Option<Settings>, Error> {
    let Some(path) = scene.output.video.clone() else { return Ok(None) };
    video_name("--video", &path)?;
    let settings = encoding(path, scene.output.fps, &args.encoding)?;
    let deep = settings.deep.map(|deep| Deep { tone: scene.film.tone, ..deep });
    Ok(Some(Settings { deep, ..settings }))
}

/// Whether a video can have that name.
pub fn video_name(flag: &str, path: &Path) -> Result<(), Error> {
    let is_raw = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"));
    if is_raw || Container::of(path).is_some() {
        return Ok(());
    }
    let all = CONTAINERS.map(|c| format!(".{}", c.extension)).join(", ");
    Err(Error::Usage(format!("{flag}: `{}` is no video: its name ends in {all} or .y4m", path.display())))
}

// What HDR10 comes in.
const HDR: [Codec; 3] = [Codec::H265, Codec::Av1, Codec::Vp9];

// The codec of a file, and whether it has what is asked of it.
fn codec_of(path: &Path, args: &VideoArgs) -> Result<Codec, Error> {
    let container = Container::of(path).unwrap_or(&CONTAINERS[0]);
    let own = if args.hdr { container.codecs.iter().find(|codec| HDR.contains(codec)) } else { None };
    let codec = args.codec.or(own.copied()).unwrap_or(container.codecs[0]);
    let name = |codec: Codec| codec.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
    if !container.codecs.contains(&codec) {
        let all = container.codecs.iter().map(|&c| name(c)).collect::<Vec<_>>().join(", ");
        return Err(Error::Usage(format!("--codec: a .{} holds {all}, not {}", container.extension, name(codec))));
    }
    let is_deep = args.hdr || args.video_bits.as_deref() == Some("10");
    if is_deep && (container.join != Join::Copied || Container::of(path).is_none()) {
        return Err(Error::Usage(format!("{} has eight bits a channel: no --hdr, no --video-bits 10", path.display())));
    }
    if args.hdr && args.video_bits.as_deref() == Some("8") {
        return Err(Error::Usage("--hdr: HDR10 has ten bits, not --video-bits 8".into()));
    }
    if args.hdr && !HDR.contains(&codec) {
        return Err(Error::Usage(format!("--hdr: HDR10 comes in {}, not {}", HDR.map(name).join(", "), name(codec))));
    }
    if args.crf.is_some() && matches!(codec, Codec::Prores | Codec::Ffv1) {
        return Err(Error::Usage(format!("--crf: {} has no such quality", name(codec))));
    }
    Ok(codec)
}

/// How to encode a video of that name.
pub fn encoding(path: PathBuf, fps: f64, args: &VideoArgs) -> Result<Settings, Error> {
    let codec = codec_of(&path, args)?;
    let ffmpeg = named_ffmpeg(args.ffmpeg.as_deref());
    let is_mp4 = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mp4")) && codec == Codec::H264;
    // Where somebody names one, it is that or none.
    let range = if args.hdr { Some(Range::Hdr) } else { None };
    let range = range.or((args.video_bits.as_deref() == Some("10")).then_some(Range::Standard));
    let deep = range.map(|range| Deep { range, tone: Tone::Soft });
    let may_be_embedded = deep.is_none() && cfg!(feature = "h264") && is_mp4 && ffmpeg.is_none();
    Ok(Settings {
        deep,
        is_embedded: may_be_embedded && find_ffmpeg(None).is_err(),
        codec,
        path,
        fps,
        crf: args.crf,
        preset: args.preset.clone(),
        ffmpeg,
        patience: Duration::from_secs(args.encoder_timeout.into()),
        segment: args.segment,
        threads: args.encoder_threads,
        encoders: match args.encoders {
            0 => std::thread::available_parallelism().map_or(1, usize::from).div_ceil(2),
            n => n as usize,
        },
        waiting: (args.video_memory as usize) << 20,
    })
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
                    "--devices: `{name}` is no device; expected `all`, or a list of `cpu` and GPUs' numbers"
                )));
            }
        }
    }
    Ok(Devices::List(gpus, cpu))
}
