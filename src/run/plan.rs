//! What a run will do, decided and checked before a file is written: which frames, where they go, what exists already, and how much
//! memory it takes.

use super::claim::{self, Claim};
use super::memory_limit;
use super::ownership::clip;
use super::request::{Existing, OpenStream, PictureTarget, RunRequest};
use super::video_choice::{Pictures, VideoChoice};
use super::video_options::check_name;
use super::{journal, picture_target};
use crate::assets::AssetError;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::output::OutputError;
use crate::output::formats::{Format, FormatOptions};
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::store::origin::Origin;
use crate::output::stream::Stream;
use crate::output::video::job::{ExistingVideo, VideoJob};
use crate::output::video::settings::is_raw;
use crate::output::video::{Settings, segments, y4m};
use crate::render::RenderOptions;
use crate::render::frames::FrameList;
use crate::render::stats::Progress;
use crate::scene::Scene;
use crate::scene::limits::PICTURES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a run will do. Nothing is written yet.
pub struct RunPlan {
    pub(crate) scene: Scene,
    pub(crate) name: String,
    pub(crate) options: RenderOptions,
    pub(crate) cancel: Cancel,
    pub(crate) memory_limit: Option<u64>,
    // This run's frames.
    pub(crate) part: FrameList,
    pub(crate) folder: FrameFolder,
    // None where no frames are written to files.
    pub(crate) claim: Option<Claim>,
    // Where frames go one behind the other.
    pub(crate) stream: Option<(Stream, OpenStream)>,
    // The video, and what it is of.
    pub(crate) video: Option<(Settings, VideoJob)>,
    pub(crate) origin: Arc<Origin>,
    // Frames to render; None where all exist.
    pub(crate) to_render: Option<FrameList>,
    // How many frames exist and stay.
    pub(crate) done: usize,
    // How many frames exist and are rendered again, for a video.
    pub(crate) rerender: usize,
    // The video, where it exists and frames are missing.
    pub(crate) existing_video: Option<PathBuf>,
    pub(crate) memory: u64,
}

/// What has a video's name. A raw one says nothing of itself: the journals beside the frames tell whether a run of theirs has made
/// it.
pub(crate) fn existing_video(
    settings: &Settings,
    job: &VideoJob,
    folder: &FrameFolder,
    manifest: &Manifest,
    progress: &mut dyn Progress,
) -> ExistingVideo {
    let existing = job.existing(settings);
    if existing != ExistingVideo::Other || !settings.is_raw() {
        return existing;
    }
    let Ok(path) = std::path::absolute(&settings.path) else { return existing };
    let (width, height) = job.sides();
    let longest = y4m::length(width, height, settings.fps, job.frames.len() as u64);
    let is_shorter = std::fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= longest);
    if !is_shorter {
        return existing;
    }
    let mut runs = journal::read(&folder.path(), &clip(manifest), progress).into_iter().filter_map(|file| file.run);
    match runs.any(|run| run.films.contains(&path)) {
        true => ExistingVideo::Part,
        false => existing,
    }
}

// Frames that a video still needs.
fn missing_in(settings: &Settings, job: &VideoJob, part: &FrameList) -> Result<Option<FrameList>, OutputError> {
    Ok(match job.is_made(settings) {
        true => None,
        false if settings.is_single() => Some(part.clone()),
        false => FrameList::of_numbers(segments::left(settings, job)?.into_iter()),
    })
}

/// Refuses to share out a video that is one file from its first byte to its last, if the request names it.
///
/// # Errors
/// It is one, or no video has such a name.
pub(crate) fn check_for_shards(video: &Path, is_named: bool) -> Result<(), Error> {
    check_name("--video", video)?;
    match is_raw(video) && is_named {
        true => Err(Error::Usage(
            "a shard makes no .y4m: `polyfly stitch` does, when all of them are done; leave --video out".into(),
        )),
        false => Ok(()),
    }
}

/// A request whose paths are in its scene, and what decides about its video.
pub(crate) struct Resolved {
    pub request: RunRequest,
    pub choice: VideoChoice,
}

impl RunRequest {
    /// Decides everything that can be decided before a file is written, and checks it. `progress` hears remarks.
    ///
    /// # Errors
    /// The scene is wrong; what is wanted does not go together, or not with the files that exist; it takes too much memory.
    pub fn plan(self, progress: &mut dyn Progress) -> Result<RunPlan, Error> {
        RunPlan::new(self, progress)
    }

    /// Puts the paths that are asked for into the scene, and takes the scene's own video out of it where this run does not make it.
    ///
    /// # Errors
    /// A path makes no sense; nothing is left to write.
    pub(crate) fn resolved(mut self, progress: &mut dyn Progress) -> Result<Resolved, Error> {
        let (own, frames) = (self.scene.output.files.clone(), self.scene.output.frames);
        if let PictureTarget::Path(text) = &self.pictures {
            self.scene.output.files = picture_target::pattern(text, &self.frames, progress)?;
        }
        if let Some(video) = &self.video {
            self.scene.output.video = Some(video.clone());
        }
        self.scene.output.fps = self.encoding.fps.unwrap_or(self.scene.output.fps);
        let choice = VideoChoice {
            is_named: self.video.is_some(),
            is_whole: self.frames.len() == frames as usize && self.frames.iter().eq(0..frames),
            pictures: match self.pictures {
                _ if self.no_files => Pictures::None,
                PictureTarget::Stream(..) => Pictures::Elsewhere,
                _ if self.scene.output.files != own => Pictures::Elsewhere,
                _ => Pictures::Own,
            },
            existing: self.existing,
            replaces_video: self.replaces_video,
        };
        choice.apply(&mut self.scene, progress)?;
        Ok(Resolved { request: self, choice })
    }
}

impl RunPlan {
    pub(crate) fn new(request: RunRequest, progress: &mut dyn Progress) -> Result<RunPlan, Error> {
        if !request.is_checked {
            request.scene.check()?;
        }
        let Resolved { request, choice } = request.resolved(progress)?;
        let Some(part) = request.part() else {
            return Err(Error::Usage("there are more shards than frames: this one has none".into()));
        };
        if let Some(sandbox) = &request.sandbox {
            sandbox.steps(&request.scene, part.iter())?;
        }
        check_time_steps(&request.scene, &part)?;
        let mut plan = RunPlan::outputs(request, choice, part, progress)?;
        plan.memory =
            memory_limit::estimate(&plan.scene, &plan.options, plan.picture_format()?.as_ref(), plan.video.as_ref())
                + memory_limit::files(&plan.scene, plan.options.limits);
        let size = (plan.scene.render.width, plan.scene.render.height);
        memory_limit::check(plan.memory, plan.memory_limit, size)?;
        let bytes = plan.memory;
        plan.options.limits.memory = memory_limit::limit(plan.memory_limit).map(|limit| limit.saturating_sub(bytes));
        Ok(plan)
    }

    // Looks at what exists where frames and the video go.
    #[expect(clippy::too_many_lines, reason = "decisions that build on each other")]
    fn outputs(
        request: RunRequest,
        choice: VideoChoice,
        part: FrameList,
        progress: &mut dyn Progress,
    ) -> Result<RunPlan, Error> {
        let RunRequest { scene, frames: all, existing, memory_limit, .. } = &request;
        let (is_shard, no_files) = (request.shard.is_some(), request.no_files);
        let is_resume = *existing == Existing::Kept;
        let settings = request.encoding.settings_of(scene, *memory_limit)?;
        let is_single = settings.as_ref().is_some_and(Settings::is_single);
        if let (true, Some(settings)) = (is_shard, &settings) {
            check_for_shards(&settings.path, choice.is_named)?;
            if choice.is_named && settings.is_embedded {
                progress.remark("there is no ffmpeg here: this shard's part of the video is left to `polyfly stitch`");
            }
        }
        if no_files && is_shard {
            return Err(Error::Usage("--no-frames keeps no frames for the other shards' video: leave it out".into()));
        }
        if no_files && is_resume && is_single {
            return Err(Error::Usage(
                "a .y4m, or a video made without ffmpeg, is not resumed without frames: keep them".into(),
            ));
        }
        let folder = claim::folder_of(scene)?;
        let mut manifest = Manifest::of(scene, String::new(), request.options.denoise.is_some());
        manifest.look_at_steps(scene, part.iter());
        let is_deep = settings.as_ref().is_some_and(|settings| settings.high_bit_depth.is_some());
        let has_alpha = settings.as_ref().is_some_and(|settings| settings.has_alpha);
        let is_lossless = claim::is_lossless_source(folder.format, scene.output.bits, is_deep, has_alpha);
        if is_shard && is_deep {
            claim::require_linear(folder.format)?;
        }
        // Its frames are listed one by one, which only a video needs.
        let job = || VideoJob {
            frames: all.iter().collect(),
            part: is_shard.then(|| part.iter().collect()),
            size: folder.size,
            source: (is_lossless && !no_files).then(|| folder.clone()),
            tone: scene.film.tone,
            hidden: hidden::within(&folder.path()),
            overwrite: *existing == Existing::Overwritten,
            replaces_others: choice.replaces_video,
            cancel: request.cancel.clone(),
            steps: Arc::new(manifest.steps.clone()),
            scene: Some(manifest.hash.clone()),
        };
        if let Some(settings) = &settings {
            choice.check(&settings.path, existing_video(settings, &job(), &folder, &manifest, progress))?;
        }
        let mut plan = RunPlan {
            origin: Arc::new(manifest.origin()),
            to_render: Some(part.clone()),
            claim: None,
            stream: None,
            video: None,
            done: 0,
            rerender: 0,
            existing_video: None,
            memory: 0,
            memory_limit: *memory_limit,
            folder: folder.clone(),
            part: part.clone(),
            scene: scene.clone(),
            name: request.name.clone(),
            options: request.options.clone(),
            cancel: request.cancel.clone(),
        };
        let length = |list: &Option<FrameList>| list.as_ref().map_or(0, FrameList::len);
        match &request.pictures {
            PictureTarget::Stream(..) if no_files || is_resume || is_shard => {
                return Err(Error::Usage(
                    "--output: frames of a stream are gone: no --resume, no --shard, and no --no-frames".into(),
                ));
            }
            PictureTarget::Stream(stream, open) => {
                plan.stream = Some((stream.clone(), *open));
                plan.video = settings.map(|settings| {
                    let hidden = hidden::beside(&settings.path);
                    let job = VideoJob { hidden, overwrite: true, source: None, ..job() };
                    (settings, job)
                });
            }
            _ if no_files => {
                let Some(settings) = settings else {
                    let why = "--no-frames leaves nothing to write: name a video with --video";
                    return Err(Error::Usage(why.into()));
                };
                let job = VideoJob { hidden: hidden::beside(&settings.path), overwrite: !is_resume, ..job() };
                if is_resume {
                    plan.to_render = missing_in(&settings, &job, &part)?;
                }
                plan.done = part.len() - length(&plan.to_render);
                plan.video = Some((settings, job));
            }
            PictureTarget::Own | PictureTarget::Path(_) => {
                // Where a shard's files do not keep all, `polyfly stitch` makes the video of them.
                let is_left_to_stitch = is_shard && (is_single || !is_lossless);
                let video = settings.filter(|_| !is_left_to_stitch).map(|settings| (settings, job()));
                let claim = Claim::inspect(folder, manifest, &part, all, *existing)?;
                plan.to_render = claim.remaining.clone();
                let is_made = |(settings, job): &(Settings, VideoJob)| job.part.is_none() && job.is_made(settings);
                if is_resume && claim.remaining.is_some() && video.as_ref().is_some_and(is_made) {
                    // It is of these very frames: those that are missing add nothing to it.
                    plan.existing_video = video.map(|(settings, _)| settings.path);
                    plan.done = claim.existing_frames;
                } else {
                    if let (Some((settings, job)), true) = (&video, claim.existing_frames > 0 && !is_lossless) {
                        let missing = [plan.to_render, missing_in(settings, job, &part)?];
                        let wanted: BTreeSet<u32> = missing.iter().flatten().flat_map(FrameList::iter).collect();
                        plan.to_render = FrameList::of_numbers(part.iter().filter(|n| wanted.contains(n)));
                    }
                    plan.done = part.len() - length(&plan.to_render);
                    plan.rerender = length(&plan.to_render) - length(&claim.remaining);
                    plan.video = video;
                }
                plan.claim = Some(claim);
            }
        }
        Ok(plan)
    }

    /// The frames that will be rendered; None where all of them exist.
    pub fn to_render(&self) -> Option<&FrameList> {
        self.to_render.as_ref()
    }
    /// How many frames exist and stay.
    pub fn done(&self) -> usize {
        self.done
    }
    /// Bytes of memory that the run takes at most.
    pub fn memory(&self) -> u64 {
        self.memory
    }
    /// The video that will be made, if there is one.
    pub fn video(&self) -> Option<&Path> {
        self.video.as_ref().map(|(settings, _)| settings.path.as_path())
    }
    /// Whether a later run can go on with what this one leaves when it is stopped.
    pub fn can_be_resumed(&self) -> bool {
        self.to_render.is_none()
            || self.claim.as_ref().is_some_and(Claim::can_be_resumed)
            || self.video.as_ref().is_some_and(|(settings, _)| !settings.is_single())
    }

    /// The format of pictures, if there are to be any.
    ///
    /// # Errors
    /// It cannot have what is asked of it.
    pub(crate) fn picture_format(&self) -> Result<Option<(&'static Format, FormatOptions)>, Error> {
        let (format, place) = match (&self.stream, &self.claim) {
            (Some((stream, _)), _) => {
                let none = || Error::Usage(format!("--output: no such format; expected -.{}", PICTURES.join(", -.")));
                (stream.format().ok_or_else(none)?, "--output".to_owned())
            }
            (None, Some(_)) => (self.folder.format, self.folder.pattern.to_string()),
            (None, None) => return Ok(None),
        };
        let options = format
            .options(self.scene.output.bits, self.scene.film.tone)
            .map_err(|e| Error::Usage(format!("{place}: {e}; give other --bits")))?;
        let (origin, has_alpha) = (Some(Arc::clone(&self.origin)), self.scene.world.sky.transparent);
        Ok(Some((format, FormatOptions { origin, has_alpha, ..options })))
    }

    /// The outputs that keep no alpha.
    pub(crate) fn opaque_outputs(&self) -> Vec<String> {
        let frames = match (&self.stream, &self.claim) {
            (Some((stream, _)), _) => stream.format().filter(|format| !format.has_alpha).map(|_| "--output".to_owned()),
            (None, Some(_)) => (!self.folder.format.has_alpha).then(|| self.folder.pattern.to_string()),
            (None, None) => None,
        };
        let video = self.video.as_ref().filter(|(settings, _)| !settings.has_alpha);
        let video = video.map(|(settings, _)| settings.path.display().to_string());
        frames.into_iter().chain(video).collect()
    }
}

// Whether particles have a file for each frame, before the first of them is rendered.
fn check_time_steps(scene: &Scene, frames: &FrameList) -> Result<(), Error> {
    let Some(particles) = scene.world.particles.as_ref().filter(|p| p.is_animated()) else { return Ok(()) };
    let missing = FrameList::of_numbers(frames.iter().filter(|&n| !particles.file(n).is_file()));
    let Some((list, first)) = missing.and_then(|list| Some((list.to_string(), list.iter().next()?))) else {
        return Ok(());
    };
    let what = format!("there is no such file; frames without one: {list} (--frames renders others)");
    Err(AssetError::new(&particles.file(first), what).into())
}
