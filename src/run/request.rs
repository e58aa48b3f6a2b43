//! What a user wants of a run. Nothing is decided here, and no file is read.

use super::load::utf8;
use super::sandbox::PathSandbox;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::output::OutputError;
use crate::output::stream::Stream;
use crate::output::video::VideoOptions;
use crate::render::RenderOptions;
use crate::render::frames::FrameList;
use crate::scene::Scene;
use crate::setters::setters;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What a run does with existing frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// The run fails if a frame exists.
    #[default]
    Refused,
    /// Existing frames are rendered again.
    Overwritten,
    /// Complete frames of the same scene are kept.
    Kept,
}

/// One of several runs that render parts of the same clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of this shard, from 1.
    pub number: u32,
    /// The number of shards.
    pub count: u32,
}

/// The destination of a run's pictures.
#[derive(Clone, Debug)]
pub(crate) enum PictureTarget {
    /// The files that the scene names.
    Own,
    /// Files of this pattern, or one file if there is one frame.
    Path(String),
    /// A pipe or a device, which receives all pictures one after the other. The function opens it.
    Stream(Stream, OpenStream),
}

/// Opens a stream after all checks of a run have passed.
pub(crate) type OpenStream = fn(&Stream) -> Result<Box<dyn Write + Send>, OutputError>;

/// A request for a run: the scene, the frames, the outputs, and what happens to existing frames.
///
/// ```
/// use polyfly::{FrameList, RunRequest, Scene};
/// let mut scene = Scene::sample();
/// (scene.render.width, scene.render.height) = (48, 36);
/// let folder = tempfile::tempdir().unwrap();
/// let request = RunRequest::new(scene).frames(FrameList::parse("0-2", 600).unwrap()).files(folder.path().join("%04d.png"))?;
/// let report = request.clone().plan(&mut ())?.run(&mut ())?;
/// assert_eq!((report.frames, report.skipped), (3, 0));
/// // Whole frames of the same scene stay.
/// assert_eq!(request.resume().plan(&mut ())?.run(&mut ())?.skipped, 3);
/// # Ok::<(), polyfly::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RunRequest {
    pub(crate) scene: Scene,
    // Whether the scene was read from a text, which has checked it.
    pub(crate) is_checked: bool,
    pub(crate) name: String,
    pub(crate) frames: FrameList,
    pub(crate) shard: Option<Shard>,
    pub(crate) pictures: PictureTarget,
    // The run writes no frames, only the video.
    pub(crate) no_files: bool,
    // None: the scene's own video.
    pub(crate) video: Option<PathBuf>,
    pub(crate) encoding: VideoOptions,
    pub(crate) existing: Existing,
    pub(crate) replaces_video: bool,
    pub(crate) options: RenderOptions,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) sandbox: Option<PathSandbox>,
    pub(crate) cancel: Cancel,
}

impl RunRequest {
    /// All frames of a scene, at the scene's own paths, with its own video. Existing files are not replaced.
    pub fn new(scene: Scene) -> RunRequest {
        RunRequest {
            frames: FrameList::of_clip(&scene.output),
            scene,
            is_checked: false,
            name: "scene".into(),
            shard: None,
            pictures: PictureTarget::Own,
            no_files: false,
            video: None,
            encoding: VideoOptions::new(),
            existing: Existing::Refused,
            replaces_video: false,
            options: RenderOptions::new(),
            memory_limit: None,
            sandbox: None,
            cancel: Cancel::new(),
        }
    }
    /// Writes frames to files such as `frames/%04d.png` instead of the scene's own. A name without a number is for
    /// one frame.
    ///
    /// # Errors
    /// The path is not UTF-8.
    pub fn files(self, pattern: impl AsRef<Path>) -> Result<RunRequest, Error> {
        Ok(RunRequest { pictures: PictureTarget::Path(utf8(pattern.as_ref())?.to_owned()), ..self })
    }

    /// The frames of this shard, or all frames if there is no shard. None if the shard has no frames.
    pub(crate) fn part(&self) -> Option<FrameList> {
        match self.shard {
            Some(Shard { number, count }) => self.frames.part(number - 1, count),
            None => Some(self.frames.clone()),
        }
    }
}

setters! { RunRequest {
    /// The scene's name in the journal.
    name(name: impl Into<String>) => { name: name.into() }
    /// The frames of the run.
    frames(frames: FrameList) => { frames: frames }
    /// Renders one shard of the frames. Other runs render the others into the same folder.
    shard(shard: Shard) => { shard: Some(shard) }
    /// Writes no frames, only the video.
    without_files() => { no_files: true }
    /// Makes a video of these frames. Its extension selects the format.
    video(path: impl Into<PathBuf>) => { video: Some(path.into()) }
    /// How to encode the video. A frame rate in the options overrides the scene's.
    video_options(encoding: VideoOptions) => { encoding: encoding }
    /// Keeps complete frames of this scene, renders the others, and makes the video of all frames.
    resume() => { existing: Existing::Kept }
    /// Renders existing frames again, and replaces the video.
    overwrite() => { existing: Existing::Overwritten, replaces_video: true }
    /// Where and how to render.
    options(options: RenderOptions) => { options: options }
    /// Maximum memory of the run, bytes; nine tenths of the free memory by default.
    memory_limit(bytes: u64) => { memory_limit: Some(bytes) }
    /// A handle that ends the run early.
    cancel(cancel: Cancel) => { cancel: cancel }
}}
