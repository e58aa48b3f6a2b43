//! Videos of frames that exist: of a folder that polyfly has filled, or of pictures from elsewhere.

use super::claim::{is_lossless_source, require_linear};
use super::folder::{RecordedFolder, expect_scene};
use super::journal::Journal;
use super::memory_limit;
use super::plan::existing_video;
use super::video_options::check_name;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::output::NameFile;
use crate::output::formats::Format;
use crate::output::store::atomic::temporary;
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::video::VideoOptions;
use crate::output::video::job::{ExistingVideo, VideoJob};
use crate::output::video::segments::clear;
use crate::output::video::{Settings, Video};
use crate::render::frames::FrameList;
use crate::render::stats::Progress;
use crate::scene::{Output, Pattern, Scene, Tone};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// What is said of a video that the built-in encoder makes.
pub(crate) const NO_FFMPEG: &str =
    "there is no ffmpeg here: the video is made by the built-in OpenH264, whose files are larger for what is seen";

/// What is wanted of a video that is made of existing frames.
///
/// ```no_run
/// use polyfly::StitchRequest;
/// StitchRequest::new("frames", "clip.mp4").plan(&mut ())?.run(&mut ())?;
/// # Ok::<(), polyfly::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StitchRequest {
    /// The folder of the frames, with its manifest; or a pattern such as `other/%04d.png` of frames from elsewhere.
    pub source: String,
    /// The video; its ending is the format.
    pub output: PathBuf,
    /// The frames of the video, as a run takes them; all if none are given.
    pub frames: Option<String>,
    /// The scene that the frames are to be of; those of others are refused.
    pub scene: Option<Scene>,
    /// The hash that their manifest is to have; the frames of another scene are refused.
    pub hash: Option<String>,
    /// How to encode.
    pub encoding: VideoOptions,
    /// Replaces an existing video that shows other pictures.
    pub overwrite: bool,
    /// Bytes that it may take of the memory; nine tenths of what is free if none are given.
    pub memory_limit: Option<u64>,
    /// What ends it early.
    pub cancel: Cancel,
}

// The frames that a video is made of. What they are of is known of those that have a manifest.
struct StitchSource {
    folder: FrameFolder,
    frames: FrameList,
    tone: Tone,
    manifest: Option<Manifest>,
}

/// A video that is decided and checked, and not begun.
pub struct StitchPlan {
    job: VideoJob,
    memory_limit: Option<u64>,
}

impl StitchRequest {
    /// A video of all frames of a folder, or of a pattern.
    pub fn new(source: impl Into<String>, output: impl Into<PathBuf>) -> StitchRequest {
        StitchRequest {
            source: source.into(),
            output: output.into(),
            frames: None,
            scene: None,
            hash: None,
            encoding: VideoOptions::new(),
            overwrite: false,
            memory_limit: None,
            cancel: Cancel::new(),
        }
    }

    /// Looks at the frames, and at what has the video's name. `progress` hears remarks.
    ///
    /// # Errors
    /// Frames are missing, or of another scene; a file that is to stay has the video's name.
    pub fn plan(self, progress: &mut dyn Progress) -> Result<StitchPlan, Error> {
        check_name("-o", &self.output)?;
        let pattern = match Pattern::parse(&self.source) {
            Ok((pattern, is_made_up)) => (!is_made_up).then_some(pattern),
            Err(_) if Path::new(&self.source).is_dir() => None,
            Err(e) => return Err(Error::Usage(e.to_string())),
        };
        let found = match pattern {
            Some(pattern) if Manifest::read(&pattern)?.is_none() => self.elsewhere(pattern, progress)?,
            _ => self.of_folder(progress)?,
        };
        let StitchSource { folder, frames, tone, manifest } = found;
        let fps = self.encoding.fps.or(manifest.as_ref().map(|m| m.fps)).unwrap_or(Output::default().fps);
        let settings = self.encoding.settings(self.output.clone(), fps, self.memory_limit)?;
        let is_clear = manifest.as_ref().and_then(Manifest::resolved).is_some_and(|scene| scene.world.sky.transparent);
        let has_alpha = is_clear && folder.format.has_alpha && settings.can_have_alpha();
        if settings.high_bit_depth.is_some() {
            require_linear(folder.format)?;
        }
        // Beside the frames, where runs leave segments too, if that folder is ours to write to.
        let is_writable = temporary(&folder.path().join("trial")).is_ok();
        let mut job = VideoJob::new(Settings { has_alpha, ..settings }, frames.iter().collect(), folder.size);
        job = VideoJob {
            tone,
            hidden: if is_writable { hidden::within(&folder.path()) } else { job.hidden },
            overwrite: false,
            replaces_others: self.overwrite,
            cancel: self.cancel,
            ..job
        };
        if let Some(manifest) = &manifest {
            // Where files do not keep all, the video is another than that of the run that made them.
            let is_lossless = is_lossless_source(folder.format, manifest.bits, self.encoding.is_deep(), false);
            let rounded = if is_lossless { "" } else { ", rounded" };
            job.scene = Some(format!("{}{rounded}", manifest.hash));
            job.steps = Arc::new(manifest.steps.clone());
        }
        let existing = match &manifest {
            Some(manifest) => existing_video(&job, &folder, manifest, progress),
            None => job.existing(),
        };
        job.source = Some(folder);
        if existing == ExistingVideo::Other && !self.overwrite {
            return Err(Error::Usage(format!(
                "{} is there already, and it is no video of these frames: give another name with -o, or --overwrite replaces it",
                self.output.display()
            )));
        }
        Ok(StitchPlan { job, memory_limit: self.memory_limit })
    }

    fn of_folder(&self, progress: &mut dyn Progress) -> Result<StitchSource, Error> {
        let here = RecordedFolder::open(Path::new(&self.source))?.only(self.frames.as_deref())?;
        here.expect_hash(self.hash.as_deref())?;
        if let Some(scene) = &self.scene {
            expect_scene(&here.manifest, scene, Path::new(&self.source))?;
        }
        // Before any list of them is made: a manifest may promise a hundred million.
        if let Some(gap) = here.frames.without(&here.inspect()?.0) {
            return Err(incomplete(&gap, &here.folder));
        }
        let RecordedFolder { folder, frames, manifest } = here;
        let tone = self.requested_tone(&folder, manifest.resolved(), progress);
        Ok(StitchSource { folder, frames, tone, manifest: Some(manifest) })
    }

    // The curve that light is shown through: the scene's, if the scene is known.
    fn requested_tone(&self, folder: &FrameFolder, scene: Option<Scene>, progress: &mut dyn Progress) -> Tone {
        if scene.is_none() && folder.format.has_light() {
            progress.remark(&format!(
                "{} do not tell of their scene: their light is shown as `tone = \"soft\"` has it",
                self.source
            ));
        }
        scene.map_or(Tone::Soft, |scene| scene.film.tone)
    }

    // All pictures of a pattern, without a gap.
    fn elsewhere(&self, pattern: Pattern, progress: &mut dyn Progress) -> Result<StitchSource, Error> {
        let text = pattern.to_string();
        let format = Format::of(&pattern.extension()).ok_or_else(|| Error::Usage(format!("no format reads {text}")))?;
        let mut folder = FrameFolder { pattern, format, size: (0, 0) };
        let existing = folder.existing()?;
        let (Some(&first), Some(&last)) = (existing.first(), existing.last()) else {
            return Err(Error::Incomplete(format!("there are no frames {text}")));
        };
        if self.hash.is_some() || self.scene.is_some() {
            let nobody = "no manifest.json tells of their scene, which --hash and --scene ask for".to_owned();
            return Err(Error::OtherScene(folder.path(), vec![nobody]));
        }
        let span = format!("{first}-{last}");
        let all = FrameList::parse(self.frames.as_deref().unwrap_or(&span), last.saturating_add(1));
        let all = all.map_err(|e| Error::Usage(format!("--frames: {e}")))?;
        if let Some(gap) = all.without(&existing) {
            return Err(Error::Incomplete(format!("frames {gap} of {text} are missing")));
        }
        let path = folder.pattern.path(all.nth(0).unwrap_or(first));
        folder.size = format.shown(&path, Tone::Soft, false).reading(&path)?.size;
        let tone = self.requested_tone(&folder, format.scene(&path), progress);
        Ok(StitchSource { folder, frames: all, tone, manifest: None })
    }
}

impl StitchPlan {
    /// Makes the video.
    ///
    /// # Errors
    /// A frame is not whole; the encoder fails; it was cancelled.
    pub fn run(self, progress: &mut dyn Progress) -> Result<(), Error> {
        make(self.job, self.memory_limit, progress)
    }
}

fn incomplete(gap: &FrameList, folder: &FrameFolder) -> Error {
    Error::Incomplete(format!("frames {gap} in {} are missing or not whole; no video is made", folder.path().display()))
}

/// An error where the video, or a shard's part of it, was cancelled; `beginning` is the file that holds the first frames.
pub(super) fn check_finished(cancel: &Cancel, beginning: Option<&Path>) -> Result<(), Error> {
    match cancel.is_stopped() {
        true => Err(Error::VideoInterrupted(beginning.map(Path::to_owned))),
        false => Ok(()),
    }
}

/// Makes a video of frames, all of which must exist and be whole, or of segments that are.
pub(super) fn make(job: VideoJob, memory_limit: Option<u64>, progress: &mut dyn Progress) -> Result<(), Error> {
    if let Some(folder) = &job.source
        && let Some(gap) = FrameList::of_numbers(job.frames.iter().copied().filter(|&n| !folder.is_whole(n)))
    {
        return Err(incomplete(&gap, folder));
    }
    let (path, frames, begun) = (job.settings.path.clone(), job.frames.len(), Instant::now());
    let is_made = job.is_made();
    // Nothing is written down of frames whose scene is unknown.
    let folder = job.source.as_ref().filter(|_| job.scene.is_some()).map(FrameFolder::path);
    if is_made {
        clear(&job);
    } else {
        if job.settings.is_embedded {
            progress.remark(NO_FFMPEG);
        }
        memory_limit::check(memory_limit::of_film(&job), memory_limit, job.size)?;
        let cancel = job.cancel.clone();
        let made = Video::open(job)?.finish(false)?;
        if made.as_ref() != Some(&path) {
            check_finished(&cancel, made.as_deref())?;
        }
        if let (Some(folder), Some(made)) = (folder, made) {
            Journal::film(&folder, made, begun);
        }
    }
    let already = if is_made { " already" } else { "" };
    progress.remark(&format!("{} has {frames} frames{already}", path.display()));
    Ok(())
}
