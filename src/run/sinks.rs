//! Sinks for whoever renders without a [`RunRequest`](super::RunRequest): files, and a video that takes any frames.

use super::claim::folder_of;
use super::video_options::check_name;
use crate::error::Error;
use crate::output::files::FileSink;
use crate::output::formats::FormatOptions;
use crate::output::video::VideoOptions;
use crate::output::video::VideoSink;
use crate::output::video::containers::Container;
use crate::output::video::job::VideoJob;
use crate::output::video::settings::is_raw;
use crate::render::frames::FrameList;
use crate::run::picture_target;
use crate::scene::{Output, Scene};
use std::path::Path;

impl FileSink {
    /// Writes a scene's frames to files such as `frames/%04d.png`. Each file is whole or absent; existing ones are replaced.
    ///
    /// # Errors
    /// No picture has such a name, or it cannot have the scene's bits.
    pub fn create(pattern: impl AsRef<Path>, scene: &Scene) -> Result<FileSink, Error> {
        let path = pattern.as_ref();
        let text = path.to_str().ok_or_else(|| Error::Usage(format!("{}: the name is not UTF-8", path.display())))?;
        let mut scene = scene.clone();
        scene.output.files = picture_target::pattern(text, &FrameList::all(scene.output.frames), &mut ())?;
        let folder = folder_of(&scene)?;
        let options = folder.format.options(scene.output.bits, scene.film.tone);
        let options = options.map_err(|e| Error::Usage(format!("{text}: {e}")))?;
        let options = FormatOptions { has_alpha: scene.world.sky.transparent, ..options };
        Ok(FileSink::new(folder, options, false, None))
    }
}

impl VideoSink {
    /// A video of these frames, which may come from anywhere. An existing file of that name is replaced.
    ///
    /// # Errors
    /// No video has such a name, or it cannot have what is asked of it.
    pub fn create(path: impl AsRef<Path>, frames: &FrameList, options: &VideoOptions) -> Result<VideoSink, Error> {
        let path = path.as_ref();
        check_name("video", path)?;
        let fps = options.fps.unwrap_or(Output::default().fps);
        let settings = options.settings(path.to_owned(), fps, None)?;
        // The size is that of the run, once it begins.
        Ok(VideoSink::of_job(VideoJob::new(settings, frames.iter().collect(), (0, 0))))
    }
    /// Whether a path is the name of a video.
    pub fn is_video(path: impl AsRef<Path>) -> bool {
        is_raw(path.as_ref()) || Container::of(path.as_ref()).is_some()
    }
}
