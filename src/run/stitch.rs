//! Videos of existing frames, made by polyfly or by other programs.

use super::folder::{RecordedFolder, expect_scene, foreign_folder, require_linear};
use super::journal::record_film;
use super::memory_limit;
use super::plan::existing_video;
use super::video_choice::go_on_as_begun;
use super::video_options::check_name;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::language::{Message, count, msg};
use crate::output::store::atomic::temporary;
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::video::VideoOptions;
use crate::output::video::job::{ExistingVideo, VideoJob};
use crate::output::video::segments::clear;
use crate::output::video::spherical::FilmViews;
use crate::output::video::{Finished, Settings, Video};
use crate::output::{NameFile, OutputError};
use crate::render::frames::FrameList;
use crate::render::stats::Progress;
use crate::scene::{Output, Pattern, Scene, Tone};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A request for a video of existing frames.
///
/// ```no_run
/// use polyfly::StitchRequest;
/// StitchRequest::new("frames", "clip.mp4").plan(&mut ())?.run(&mut ())?;
/// # Ok::<(), polyfly::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StitchRequest {
    /// The folder of the frames, with its manifest; or a pattern such as `other/%04d.png` of frames of other
    /// programs.
    pub source: String,
    /// The path of the video. Its extension selects the format.
    pub output: PathBuf,
    /// The frames of the video, in the syntax of `--frames`; all frames by default.
    pub frames: Option<String>,
    /// The expected scene. Frames of another scene are refused.
    pub scene: Option<Scene>,
    /// The expected hash of the manifest. Frames of another scene are refused.
    pub hash: Option<String>,
    /// How to encode the video.
    pub encoding: VideoOptions,
    /// Replaces an existing video of other pictures.
    pub overwrite: bool,
    /// Maximum memory, bytes; nine tenths of the free memory by default.
    pub memory_limit: Option<u64>,
    /// A handle that ends the encoding early.
    pub cancel: Cancel,
}

// The frames of a video. Their scene is known if they have a manifest.
struct StitchSource {
    folder: FrameFolder,
    frames: FrameList,
    tone: Tone,
    manifest: Option<Manifest>,
}

/// A checked video that is not encoded yet.
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

    /// Inspects the frames and the existing file of the video's name. `progress` receives remarks.
    ///
    /// # Errors
    /// Frames are missing or of another scene; an existing file must not be replaced.
    pub fn plan(self, progress: &mut dyn Progress) -> Result<StitchPlan, Error> {
        check_name("-o", &self.output)?;
        let pattern = match Pattern::parse(&self.source) {
            Ok((pattern, is_made_up)) => (!is_made_up).then_some(pattern),
            Err(_) if Path::new(&self.source).is_dir() => None,
            Err(e) => return Err(Error::usage(e.message())),
        };
        let found = match pattern {
            Some(pattern) if Manifest::read(&pattern)?.is_none() => self.elsewhere(pattern, progress)?,
            _ => self.of_folder(progress)?,
        };
        let StitchSource { folder, frames, tone, manifest } = found;
        let fps = self.encoding.fps.or(manifest.as_ref().map(|m| m.fps)).unwrap_or(Output::default().fps);
        let settings = self.encoding.settings(self.output.clone(), fps, self.memory_limit)?;
        let scene = manifest.as_ref().and_then(Manifest::resolved);
        let is_clear = scene.as_ref().is_some_and(|scene| scene.world.sky.transparent);
        let views = scene.as_ref().map(FilmViews::of).unwrap_or_default();
        let has_alpha = is_clear && folder.format.has_alpha && settings.can_have_alpha();
        if settings.high_bit_depth.is_some() {
            require_linear(folder.format)?;
        }
        // Segments go beside the frames, as those of runs do, if that folder is writable.
        let is_writable = temporary(&folder.path().join("trial")).is_ok();
        let mut job =
            VideoJob::new(Settings { tone, views, has_alpha, ..settings }, frames.iter().collect(), folder.size);
        job = VideoJob {
            hidden: if is_writable { hidden::within(&folder.path()) } else { job.hidden },
            overwrite: false,
            replaces_others: self.overwrite,
            cancel: self.cancel,
            ..job
        };
        if let Some(manifest) = &manifest {
            // If the files lose information, the video differs from one that a run makes.
            let is_lossless = folder.format.is_lossless_source(manifest.bits, self.encoding.is_deep(), false);
            let rounded = if is_lossless { "" } else { ", rounded" };
            job.scene = Some(format!("{}{rounded}", manifest.hash));
            job.steps = Arc::new(manifest.steps.clone());
        }
        go_on_as_begun(&mut job, progress);
        let existing = match &manifest {
            Some(manifest) => existing_video(&job, &folder, manifest, progress),
            None => job.existing(),
        };
        job.source = Some(folder);
        if existing == ExistingVideo::Other && !self.overwrite {
            return Err(Error::usage(msg!(
                "{path} already exists, and is not a video of these frames: give another name with -o, or --overwrite to replace it",
                path = self.output.display()
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
        // This check precedes all lists of frames, because a manifest may claim a hundred million.
        let found = here.inspect()?;
        if let Some(gap) = here.frames.without(&found.whole) {
            return Err(incomplete(&gap, &here.folder));
        }
        let RecordedFolder { folder, frames, manifest, .. } = here;
        let tone = self.requested_tone(&folder, manifest.resolved(), progress);
        Ok(StitchSource { folder, frames, tone, manifest: Some(manifest) })
    }

    // The tone curve for linear light: the scene's, if the scene is known.
    fn requested_tone(&self, folder: &FrameFolder, scene: Option<Scene>, progress: &mut dyn Progress) -> Tone {
        if scene.is_none() && folder.format.has_light() {
            progress.remark(&msg!(
                "the scene of {name} is unknown: its linear light is shown with `tone = \"soft\"`",
                name = self.source
            ));
        }
        scene.map_or(Tone::Soft, |scene| scene.film.tone)
    }

    // All pictures of a pattern, without a gap.
    fn elsewhere(&self, pattern: Pattern, progress: &mut dyn Progress) -> Result<StitchSource, Error> {
        let text = pattern.to_string();
        let mut folder = foreign_folder(pattern)?;
        let format = folder.format;
        if !folder.path().is_dir() {
            return Err(Error::usage(msg!("there is no folder {path}", path = folder.path().display())));
        }
        let existing = folder.existing()?;
        let (Some(&first), Some(&last)) = (existing.first(), existing.last()) else {
            return Err(Error::Incomplete(msg!("there are no frames {name}", name = text)));
        };
        if self.hash.is_some() || self.scene.is_some() {
            let nobody = "no manifest.json names their scene, which --hash and --scene require".to_owned();
            return Err(Error::OtherScene(folder.path(), vec![nobody]));
        }
        let span = format!("{first}-{last}");
        let all = FrameList::read(self.frames.as_deref().unwrap_or(&span), last.saturating_add(1));
        let all = all.map_err(|e| Error::about("--frames", e))?;
        if let Some(gap) = all.without(&existing) {
            return Err(Error::Incomplete(msg!("frames {frames} of {path} are missing", frames = gap, path = text)));
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
    /// A frame is incomplete, the encoder fails, or the request was canceled.
    pub fn run(self, progress: &mut dyn Progress) -> Result<(), Error> {
        make(self.job, self.memory_limit, progress)
    }
}

fn incomplete(gap: &FrameList, folder: &FrameFolder) -> Error {
    let path = folder.path();
    Error::Incomplete(msg!(
        "frames {frames} in {path} are missing or incomplete; no video is made",
        frames = gap,
        path = path.display()
    ))
}

/// A remark on a video of the built-in encoder.
pub(super) fn without_ffmpeg() -> Message {
    msg!("ffmpeg was not found: the built-in OpenH264 encodes the video, with a larger file at the same quality")
}

/// Makes a video of frames that all exist, as complete files or as segments.
pub(super) fn make(job: VideoJob, memory_limit: Option<u64>, progress: &mut dyn Progress) -> Result<(), Error> {
    if let Some(folder) = &job.source
        && let Some(gap) = FrameList::of_numbers(job.frames.iter().copied().filter(|&n| !folder.is_whole(n)))
    {
        return Err(incomplete(&gap, folder));
    }
    let (path, frames, begun) = (job.settings.path.clone(), job.frames.len(), Instant::now());
    let is_made = job.is_made();
    if is_made {
        clear(&job);
    } else {
        if job.settings.is_embedded {
            progress.remark(&without_ffmpeg());
        }
        memory_limit::check(memory_limit::of_film(&job), memory_limit, job.size)?;
        match Video::open(job.clone())?.finish(false)? {
            Finished::Whole(file) => record_film(&job, file, begun),
            Finished::Part => {}
            Finished::Beginning(path) => return Err(OutputError::VideoInterrupted(path).into()),
        }
    }
    progress.remark(&match is_made {
        true => msg!("{path} has {frames} already", path = path.display(), frames = count!(frames, "frame", "frames")),
        false => msg!("{path} has {frames}", path = path.display(), frames = count!(frames, "frame", "frames")),
    });
    Ok(())
}
