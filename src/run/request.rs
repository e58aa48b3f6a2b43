//! What is wanted of a run. Nothing is decided here, and no file is looked at.

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

/// What becomes of frames that exist already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// The run is refused.
    #[default]
    Refused,
    /// They are rendered again.
    Overwritten,
    /// They stay, if they are whole and of this scene.
    Kept,
}

/// A part of a clip, for one of several runs that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub number: u32,
    /// How many parts there are.
    pub count: u32,
    /// How frames are dealt out to the parts.
    pub mode: ShardMode,
}

/// How frames are split into shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShardMode {
    /// Each has frames that follow each other.
    #[default]
    Contiguous,
    /// Each has every Nth frame.
    Stride,
}

/// Where the pictures of a run go.
#[derive(Clone, Debug)]
pub(crate) enum PictureTarget {
    /// To the files that the scene names.
    Own,
    /// To files of that pattern, or to one file if there is one frame.
    Path(String),
    /// One behind the other into a pipe or a device, which the function opens.
    Stream(Stream, OpenStream),
}

/// Opens a stream, once nothing else stands in the way of a run.
pub(crate) type OpenStream = fn(&Stream) -> Result<Box<dyn Write + Send>, OutputError>;

/// A run of a scene: which frames, where they go, and what becomes of frames that exist.
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
    // Whether the scene was read from a text, which checks it.
    pub(crate) is_checked: bool,
    pub(crate) name: String,
    pub(crate) frames: FrameList,
    pub(crate) shard: Option<Shard>,
    pub(crate) pictures: PictureTarget,
    // Only the video is made.
    pub(crate) no_files: bool,
    // None: the scene's own.
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
    /// All frames of a scene, to where the scene says, with its own video. Existing files are not touched.
    pub fn new(scene: Scene) -> RunRequest {
        RunRequest {
            frames: FrameList::all(scene.output.frames),
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
    /// Files such as `frames/%04d.png` in place of the scene's own; a name without a number is for one frame.
    ///
    /// # Errors
    /// The path is not UTF-8.
    pub fn files(self, pattern: impl AsRef<Path>) -> Result<RunRequest, Error> {
        let path = pattern.as_ref();
        let text = path.to_str().ok_or_else(|| Error::Usage(format!("{}: the name is not UTF-8", path.display())))?;
        Ok(RunRequest { pictures: PictureTarget::Path(text.to_owned()), ..self })
    }

    /// The frames of the shard; all without one, None where the shard has none.
    pub(crate) fn part(&self) -> Option<FrameList> {
        match self.shard {
            Some(Shard { number, count, mode }) => self.frames.part(number - 1, count, mode == ShardMode::Stride),
            None => Some(self.frames.clone()),
        }
    }
}

setters! { RunRequest {
    /// What the journal beside the frames calls the scene.
    name(name: impl Into<String>) => { name: name.into() }
    /// The frames of the run.
    frames(frames: FrameList) => { frames: frames }
    /// Renders a part of the frames; other runs render the rest into the same folder.
    shard(shard: Shard) => { shard: Some(shard) }
    /// Writes no frames, only the video.
    without_files() => { no_files: true }
    /// Makes a video of these frames; its ending is the format.
    video(path: impl Into<PathBuf>) => { video: Some(path.into()) }
    /// How the video is encoded. A frame rate that is given there takes the place of the scene's.
    video_options(encoding: VideoOptions) => { encoding: encoding }
    /// Keeps frames that are whole and of this scene, renders the rest, and makes the video of all of them.
    resume() => { existing: Existing::Kept }
    /// Renders existing frames again, and replaces the video.
    overwrite() => { existing: Existing::Overwritten, replaces_video: true }
    /// Where and how to render.
    options(options: RenderOptions) => { options: options }
    /// Bytes that the run may take of the memory; nine tenths of what is free if none are given.
    memory_limit(bytes: u64) => { memory_limit: Some(bytes) }
    /// What ends the run early.
    cancel(cancel: Cancel) => { cancel: cancel }
}}
