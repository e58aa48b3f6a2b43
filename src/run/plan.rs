//! The plan of a run, decided and checked before a file is written: its frames, their paths, what exists already, and
//! the memory that it takes.

use super::claim::Claim;
use super::folder::{folder_of, require_linear};
use super::memory_limit;
use super::request::{Existing, OpenStream, PictureTarget, RunRequest};
use super::video_choice::{Pictures, VideoChoice, go_on_as_begun};
use super::video_options::check_name;
use super::{journal, picture_target};
use crate::assets::AssetError;
use crate::error::Error;
use crate::language::{Message, msg};
use crate::output::OutputError;
use crate::output::formats::{Format, FormatOptions};
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::store::origin::Origin;
use crate::output::stream::Stream;
use crate::output::video::job::{ExistingVideo, VideoJob};
use crate::output::video::settings::is_raw;
use crate::output::video::tag::Tag;
use crate::output::video::{Settings, segments};
use crate::render::frames::FrameList;
use crate::render::stats::Progress;
use crate::scene::Scene;
use crate::scene::limits::PICTURES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The checked plan of a run. Nothing is written yet.
pub struct RunPlan {
    pub(crate) request: RunRequest,
    // The frames of this run.
    pub(crate) part: FrameList,
    pub(crate) folder: FrameFolder,
    // None if no frames are written to files.
    pub(crate) claim: Option<Claim>,
    pub(crate) video: Option<VideoJob>,
    pub(crate) origin: Arc<Origin>,
    // The frames to render; None if all exist.
    pub(crate) to_render: Option<FrameList>,
    // The path of a video that exists although frames are missing.
    pub(crate) existing_video: Option<PathBuf>,
    pub(crate) memory: u64,
}

fn length(list: Option<&FrameList>) -> usize {
    list.map_or(0, FrameList::len)
}

/// What exists under a video's name. A raw video has no tag, so the journals beside the frames decide whether a run
/// of theirs made it, and of which frames.
pub(crate) fn existing_video(
    job: &VideoJob,
    folder: &FrameFolder,
    manifest: &Manifest,
    progress: &mut dyn Progress,
) -> ExistingVideo {
    let (settings, existing) = (&job.settings, job.existing());
    if existing != ExistingVideo::Other || !settings.is_raw() {
        return existing;
    }
    let (Ok(path), Some(own)) = (std::path::absolute(&settings.path), job.raw_tag()) else { return existing };
    let mut runs =
        journal::read(&folder.path(), &manifest.clip(), progress).into_iter().filter_map(|recorded| recorded.run);
    let is_covered = |tag: Tag| tag.is_covered_by(&own, &job.frames);
    match runs.any(|run| run.raw_tag().is_some_and(is_covered) && run.made(&path)) {
        true => ExistingVideo::Part,
        false => existing,
    }
}

// The frames that a video still needs.
fn missing_in(job: &VideoJob, part: &FrameList) -> Result<Option<FrameList>, OutputError> {
    Ok(match job.is_made() {
        true => None,
        false if job.settings.is_single() => Some(part.clone()),
        false => FrameList::of_numbers(segments::left(job)?.into_iter()),
    })
}

/// Refuses shards of a video that is written in one piece, if the request names it.
pub(crate) fn check_for_shards(video: &Path, is_named: bool) -> Result<(), Error> {
    check_name("--video", video)?;
    match is_raw(video) && is_named {
        true => Err(Error::usage(msg!(
            "a shard cannot make a .y4m: leave --video out, and run `polyfly stitch` after the last shard"
        ))),
        false => Ok(()),
    }
}

impl RunRequest {
    /// Decides and checks all that can be known before a file is written. `progress` receives remarks.
    ///
    /// # Errors
    /// The scene is invalid; options contradict each other or the existing files; the run takes too much memory.
    pub fn plan(mut self, progress: &mut dyn Progress) -> Result<RunPlan, Error> {
        if !self.is_checked {
            self.scene = self.scene.checked()?;
        }
        let (mut request, choice) = self.resolved(progress)?;
        request.options.recorded = Arc::default();
        let Some(part) = request.part() else {
            return Err(Error::usage(msg!("there are more shards than frames: this one has none")));
        };
        if let Some(sandbox) = &request.sandbox {
            sandbox.steps(&request.scene, part.iter())?;
        }
        check_time_steps(&request.scene, &part)?;
        let mut plan = RunPlan::of(request, choice, part, progress)?;
        let RunRequest { scene, options, memory_limit, .. } = &plan.request;
        plan.memory = memory_limit::estimate(scene, options, plan.picture_format()?.as_ref(), plan.video.as_ref())
            + memory_limit::files(scene, options.limits);
        memory_limit::check(plan.memory, *memory_limit, (scene.render.width, scene.render.height))?;
        let limit = memory_limit::limit(*memory_limit);
        plan.request.options.memory = limit;
        plan.request.options.limits.memory = limit.map(|limit| limit.saturating_sub(plan.memory));
        Ok(plan)
    }

    /// Puts the requested paths into the scene, and removes the scene's own video if this run does not make it. Also
    /// returns the facts behind that decision.
    pub(crate) fn resolved(mut self, progress: &mut dyn Progress) -> Result<(RunRequest, VideoChoice), Error> {
        let (own, frames) = (self.scene.output.files.clone(), self.scene.output.frames);
        if let PictureTarget::Path(text) = &self.pictures {
            self.scene.output.files = picture_target::pattern(text, &self.frames, progress)?;
        }
        if let Some(video) = &self.video {
            self.scene.output.video = Some(video.clone());
        }
        self.scene.output.fps = self.encoding.fps.unwrap_or(self.scene.output.fps);
        self.scene.beat();
        let choice = VideoChoice {
            is_named: self.video.is_some(),
            is_whole: self.frames == FrameList::of_clip(&self.scene.output)
                || self.frames.len() == frames as usize && self.frames.iter().eq(0..frames),
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
        Ok((self, choice))
    }
}

impl RunPlan {
    // Inspects what exists at the paths of the frames and the video.
    fn of(
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
                progress
                    .remark(&msg!("ffmpeg was not found: this shard's part of the video is left to `polyfly stitch`"));
            }
        }
        if no_files && is_shard {
            return Err(Error::usage(msg!("--no-frames cannot be used with --shard: the video needs the frames")));
        }
        if no_files && is_resume && is_single {
            return Err(Error::usage(msg!(
                "a .y4m, or a video made without ffmpeg, is not resumed without frames: keep them"
            )));
        }
        let folder = folder_of(scene)?;
        let recorded = &request.options.recorded;
        let mut manifest = Manifest::of(scene, String::new(), request.options.denoise.is_some(), recorded);
        manifest.look_at_steps(scene, part.iter(), recorded);
        let is_deep = settings.as_ref().is_some_and(|settings| settings.high_bit_depth.is_some());
        let has_alpha = settings.as_ref().is_some_and(|settings| settings.has_alpha);
        let is_lossless = folder.format.is_lossless_source(scene.output.bits, is_deep, has_alpha);
        if is_shard && is_deep {
            require_linear(folder.format)?;
        }
        // Only a video needs the list of frames as numbers.
        let mut video = settings.map(|settings| VideoJob {
            part: is_shard.then(|| part.iter().collect()),
            source: (is_lossless && !no_files).then(|| folder.clone()),
            overwrite: *existing == Existing::Overwritten,
            replaces_others: choice.replaces_video,
            cancel: request.cancel.clone(),
            steps: Arc::new(manifest.steps.clone()),
            scene: Some(manifest.hash.clone()),
            ..VideoJob::new(settings, all.iter().collect(), folder.size)
        });
        if let (Some(job), PictureTarget::Own | PictureTarget::Path(_), false) =
            (&mut video, &request.pictures, no_files)
        {
            job.hidden = hidden::within(&folder.path());
        }
        if let Some(job) = video.as_mut().filter(|_| is_resume || is_shard) {
            go_on_as_begun(job, progress);
        }
        if let Some(job) = &video {
            choice.check(&job.settings.path, existing_video(job, &folder, &manifest, progress))?;
        }
        let origin = Arc::new(manifest.origin());
        let (mut to_render, mut claim, mut existing_video) = (Some(part.clone()), None, None);
        match &request.pictures {
            PictureTarget::Stream(..) if no_files || is_resume || is_shard => {
                return Err(Error::usage(msg!(
                    "--output: frames of a stream are gone: no --resume, no --shard, and no --no-frames"
                )));
            }
            PictureTarget::Stream(..) => {
                video = video.map(|job| VideoJob { overwrite: true, source: None, ..job });
            }
            _ if no_files => {
                let nothing = || Error::usage(msg!("--no-frames leaves nothing to write: name a video with --video"));
                let job = video.ok_or_else(nothing)?;
                let job = VideoJob { overwrite: !is_resume, ..job };
                if is_resume {
                    to_render = missing_in(&job, &part)?;
                }
                video = Some(job);
            }
            PictureTarget::Own | PictureTarget::Path(_) => {
                // A shard leaves the video to `polyfly stitch` if it is written in one piece or the files lose
                // information.
                let is_left_to_stitch = is_shard && (is_single || !is_lossless);
                video = video.filter(|_| !is_left_to_stitch);
                let may = (*existing, request.replaces_video, choice.is_whole);
                let claimed = Claim::inspect(folder.clone(), manifest, (&part, all), may)?;
                to_render.clone_from(&claimed.remaining);
                let is_made = |job: &VideoJob| job.part.is_none() && job.is_made();
                if is_resume && to_render.is_some() && video.as_ref().is_some_and(is_made) {
                    // The video already shows exactly these frames, so missing frames add nothing to it.
                    existing_video = video.take().map(|job| job.settings.path);
                } else if let (Some(job), false) = (&video, is_lossless)
                    && length(to_render.as_ref()) < part.len()
                {
                    let missing = [to_render, missing_in(job, &part)?];
                    let wanted: BTreeSet<u32> = missing.iter().flatten().flat_map(FrameList::iter).collect();
                    to_render = FrameList::of_numbers(part.iter().filter(|n| wanted.contains(n)));
                }
                claim = Some(claimed);
            }
        }
        Ok(RunPlan { request, part, folder, claim, video, origin, to_render, existing_video, memory: 0 })
    }

    /// The frames to render; None if all exist.
    pub fn to_render(&self) -> Option<&FrameList> {
        self.to_render.as_ref()
    }
    /// The number of existing frames that stay.
    pub fn done(&self) -> usize {
        self.part.len() - length(self.to_render())
    }
    /// The number of existing frames that are rendered again for a video.
    pub(crate) fn rerender(&self) -> usize {
        self.claim.as_ref().map_or(0, |claim| length(self.to_render()) - length(claim.remaining.as_ref()))
    }
    /// The stream that frames are written to, if any.
    pub(crate) fn stream(&self) -> Option<(&Stream, OpenStream)> {
        match &self.request.pictures {
            PictureTarget::Stream(stream, open) => Some((stream, *open)),
            _ => None,
        }
    }
    /// Maximum memory of the run, bytes.
    pub fn memory(&self) -> u64 {
        self.memory
    }
    /// The path of the video, if the run makes one.
    pub fn video(&self) -> Option<&Path> {
        self.video.as_ref().map(|job| job.settings.path.as_path())
    }
    /// Whether a later run can resume this one after it is stopped.
    pub fn can_be_resumed(&self) -> bool {
        self.to_render.is_none()
            || self.claim.is_some()
            || self.video.as_ref().is_some_and(|job| !job.settings.is_single())
    }

    /// The format of the pictures, if the run writes any.
    pub(crate) fn picture_format(&self) -> Result<Option<(&'static Format, FormatOptions)>, Error> {
        let Some((format, path)) = self.target() else { return Ok(None) };
        let list = || format!("-.{}", PICTURES.join(", -."));
        let format =
            format.ok_or_else(|| Error::usage(msg!("--output: no such format; expected {list}", list = list())))?;
        let scene = &self.request.scene;
        let options = format.options(scene.output.bits, scene.film.tone);
        let options = options.map_err(|why| Error::usage(msg!("{path}: {why}; give other `bits`", path, why)))?;
        let (origin, has_alpha) = (Some(Arc::clone(&self.origin)), scene.world.sky.transparent);
        Ok(Some((format, FormatOptions { origin, has_alpha, dpi: scene.dots_per_inch(), ..options })))
    }

    // The format of the pictures, which a stream may not have, and what messages call them; None if the run writes none.
    fn target(&self) -> Option<(Option<&'static Format>, String)> {
        match self.stream() {
            Some((stream, _)) => Some((stream.format(), "--output".to_owned())),
            None => self.claim.as_ref().map(|_| (Some(self.folder.format), self.folder.pattern.to_string())),
        }
    }

    /// The names of outputs without alpha.
    pub(crate) fn lost_alpha(&self) -> Vec<Message> {
        let frames = self.target().filter(|(format, _)| format.is_some_and(|format| !format.has_alpha));
        let frames = frames.map(|(_, name)| {
            msg!("{name} has no alpha: a transparent sky becomes black (.png, .exr and others keep alpha)", name)
        });
        let video = self.video.as_ref().filter(|job| !job.settings.has_alpha);
        let video = video.map(|job| {
            msg!(
                "{name} has no alpha: a transparent sky becomes black (a .mov with `--codec prores`, .webp and .gif keep alpha)",
                name = job.settings.path.display()
            )
        });
        frames.into_iter().chain(video).collect()
    }
}

// Fails before rendering if a frame has no particle file.
fn check_time_steps(scene: &Scene, frames: &FrameList) -> Result<(), Error> {
    let Some(particles) = scene.world.particles.as_ref().filter(|p| p.is_series() && p.names.is_empty()) else {
        return Ok(());
    };
    let is_missing = |&n: &u32| [n, particles.towards(n)].iter().any(|&n| !particles.file(n).is_file());
    let missing = FrameList::of_numbers(frames.iter().filter(is_missing));
    let Some((list, first)) = missing.and_then(|list| Some((list.to_string(), list.iter().next()?))) else {
        return Ok(());
    };
    Err(AssetError::new(
        &[first, particles.towards(first)]
            .map(|n| particles.file(n))
            .into_iter()
            .find(|file| !file.is_file())
            .unwrap_or_default(),
        msg!("the file does not exist; frames without a file: {frames} (--frames selects others)", frames = list),
    )
    .into())
}
