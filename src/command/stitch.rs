//! `polyfly stitch`: a video of frames that are there, of a folder that polyfly has filled or of somebody else's pictures.

use super::claim::{is_lossless_source, require_linear};
use super::journal::Journal;
use super::memory;
use super::missing::{Folder, expected};
use super::outputs::{NO_FFMPEG, encoding, existing_video, video_name};
use super::stop::{Stop, this_command};
use super::video_choice::check_stitched;
use crate::cli::StitchArgs;
use crate::error::Error;
use crate::output::OutputError;
use crate::output::formats::Format;
use crate::output::store::atomic::temporary;
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::video::job::VideoJob;
use crate::output::video::segments::clear;
use crate::output::video::{Settings, Video};
use crate::render::frames::FrameList;
use crate::report::remark;
use crate::scene::{Output, Pattern, Scene, Tone};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Makes a video of a folder's frames.
pub fn run(args: &StitchArgs) -> Result<(), Error> {
    video_name("-o", &args.output)?;
    let pattern = match Pattern::parse(&args.source) {
        Ok((pattern, is_made_up)) => (!is_made_up).then_some(pattern),
        Err(_) if Path::new(&args.source).is_dir() => None,
        Err(e) => return Err(Error::Usage(e.to_string())),
    };
    let (film, manifest) = match pattern {
        Some(pattern) if Manifest::read(&pattern)?.is_none() => (elsewhere(pattern, args)?, None),
        _ => ours(args).map(|(film, manifest)| (film, Some(manifest)))?,
    };
    let fps = args.fps.or(manifest.as_ref().map(|m| m.fps)).unwrap_or(Output::default().fps);
    let settings = encoding(args.output.clone(), fps, &args.video, args.limit_memory)?;
    let is_clear = manifest.as_ref().and_then(Manifest::resolved).is_some_and(|scene| scene.world.sky.transparent);
    let keeps_alpha = film.source.as_ref().is_some_and(|folder| folder.format.has_alpha);
    let has_alpha = is_clear && keeps_alpha && settings.can_have_alpha();
    let settings = Settings { has_alpha, ..settings };
    if let (Some(folder), Some(_)) = (&film.source, settings.high_bit_depth) {
        require_linear(folder.format)?;
    }
    let there = match (&film.source, &manifest) {
        (Some(folder), Some(manifest)) => existing_video(&settings, &film, folder, manifest),
        _ => film.existing(&settings),
    };
    check_stitched(&settings.path, there, args.overwrite)?;
    let stop = Stop::listen(GRACE);
    make(film, settings, args.changes.quiet, args.limit_memory, (&stop, Some(this_command())))
}

// How long what is in flight may take once it is asked to stop.
const GRACE: Duration = Duration::from_secs(30);

/// An error where the video, or a shard's part of it, was not finished because of a signal; `made` is what there is of it.
pub fn is_finished(stop: &Stop, made: Option<&Path>) -> Result<(), Error> {
    if !stop.is_asked() {
        return Ok(());
    }
    stop.tell_how_to_go_on();
    Err(Error::VideoInterrupted(made.map(Path::to_owned), stop.is_temporary()))
}

fn ours(args: &StitchArgs) -> Result<(VideoJob, Manifest), Error> {
    let here = Folder::open(Path::new(&args.source))?.only(args.changes.frames.as_deref())?;
    here.expect_hash(args.hash.as_deref())?;
    if let Some(scene) = &args.scene {
        expected(&here.manifest, scene, &args.changes, Path::new(&args.source))?;
    }
    // Before any list of them is made: a manifest may promise a hundred million.
    if let Some(gap) = here.frames.without(&here.inspect()?.0) {
        return Err(incomplete(&gap, &here.folder));
    }
    let Folder { folder, frames, manifest } = here;
    // Where they do not keep all, the video is another than that of the run that made them.
    let rounded =
        if is_lossless_source(folder.format, manifest.bits, args.video.is_deep(), false) { "" } else { ", rounded" };
    let scene = Some(format!("{}{rounded}", manifest.hash));
    let steps = Arc::new(manifest.steps.clone());
    let tone = told_tone(&folder, manifest.resolved(), args);
    Ok((VideoJob { scene, steps, tone, ..film(folder, frames.iter().collect(), args) }, manifest))
}

// The curve that light is shown through: the scene's, where somebody tells of it.
fn told_tone(folder: &FrameFolder, scene: Option<Scene>, args: &StitchArgs) -> Tone {
    if scene.is_none() && folder.format.has_light() && !args.changes.quiet {
        remark(&format!(
            "{} do not tell of their scene: their light is shown as `tone = \"soft\"` has it",
            args.source
        ));
    }
    scene.map_or(Tone::Soft, |scene| scene.film.tone)
}

fn film(folder: FrameFolder, frames: Vec<u32>, args: &StitchArgs) -> VideoJob {
    // Beside the frames, where runs leave segments too, if that folder is ours to write to.
    let is_writable = temporary(&folder.path().join("trial")).is_ok();
    let hidden = if is_writable { hidden::within(&folder.path()) } else { hidden::beside(&args.output) };
    let (size, source) = (folder.size, Some(folder));
    VideoJob {
        frames,
        part: None,
        size,
        source,
        tone: Tone::Soft,
        hidden,
        overwrite: false,
        replaces_others: args.overwrite,
        stop: Arc::default(),
        steps: Arc::default(),
        scene: None,
    }
}

// All pictures of a pattern, without a gap.
fn elsewhere(pattern: Pattern, args: &StitchArgs) -> Result<VideoJob, Error> {
    let text = pattern.to_string();
    let format = Format::of(&pattern.extension()).ok_or_else(|| Error::Usage(format!("no format reads {text}")))?;
    let mut folder = FrameFolder { pattern, format, size: (0, 0) };
    let there = folder.existing().map_err(|e| OutputError::Read(folder.path(), e))?;
    let (Some(&first), Some(&last)) = (there.first(), there.last()) else {
        return Err(Error::Incomplete(format!("there are no frames {text}")));
    };
    if args.hash.is_some() || args.scene.is_some() {
        let nobody = "no manifest.json tells of their scene, which --hash and --scene ask for".to_owned();
        return Err(Error::OtherScene(folder.path(), vec![nobody]));
    }
    let span = format!("{first}-{last}");
    let all = FrameList::parse(args.changes.frames.as_deref().unwrap_or(&span), last.saturating_add(1));
    let all = all.map_err(|e| Error::Usage(format!("--frames: {e}")))?;
    if let Some(gap) = all.without(&there) {
        return Err(Error::Incomplete(format!("frames {gap} of {text} are missing")));
    }
    let path = folder.pattern.path(all.nth(0).unwrap_or(first));
    folder.size = format.shown(&path, Tone::Soft, false).map_err(|e| OutputError::Read(path.clone(), e))?.size;
    let tone = told_tone(&folder, format.scene(&path), args);
    Ok(VideoJob { tone, ..film(folder, all.iter().collect(), args) })
}

fn incomplete(gap: &FrameList, folder: &FrameFolder) -> Error {
    Error::Incomplete(format!("frames {gap} in {} are missing or not whole; no video is made", folder.path().display()))
}

/// Makes a video of frames, all of which must be there and whole, or of segments that are.
pub fn make(
    film: VideoJob,
    settings: Settings,
    quiet: bool,
    limit_memory: Option<u64>,
    (stop, goes_on): (&Stop, Option<String>),
) -> Result<(), Error> {
    stop.attach(Arc::clone(&film.stop), goes_on);
    if let Some(folder) = &film.source
        && let Some(gap) = FrameList::of_numbers(film.frames.iter().copied().filter(|&n| !folder.is_whole(n)))
    {
        return Err(incomplete(&gap, folder));
    }
    let (path, frames, begun) = (settings.path.clone(), film.frames.len(), Instant::now());
    let is_made = film.is_made(&settings);
    // Of frames that are nobody knows whose nothing is written down.
    let folder = film.source.as_ref().filter(|_| film.scene.is_some()).map(FrameFolder::path);
    if is_made {
        clear(&settings, &film);
    } else {
        if settings.is_embedded && !quiet {
            remark(NO_FFMPEG);
        }
        memory::check(memory::of_film(&settings, &film), limit_memory, film.size)?;
        let made = Video::open(settings, film)?.finish(false)?;
        if made.as_ref() != Some(&path) {
            is_finished(stop, made.as_deref())?;
        }
        if let (Some(folder), Some(made)) = (folder, made) {
            Journal::film(&folder, made, begun);
        }
    }
    if !quiet {
        let already = if is_made { " already" } else { "" };
        remark(&format!("{} has {frames} frames{already}", path.display()));
    }
    Ok(())
}
