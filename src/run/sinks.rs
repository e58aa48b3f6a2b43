//! Sinks for callers that render without a [`RunRequest`](super::RunRequest): picture files, and a video of any
//! frames.

use super::folder::folder_of;
use super::load::utf8;
use super::video_options::check_name;
use crate::assets::files::RecordedFiles;
use crate::error::Error;
use crate::language::msg;
use crate::output::NameFile;
use crate::output::documents::{self, Document};
use crate::output::files::{EncodedSink, FileSink};
use crate::output::formats::{Format, FormatOptions};
use crate::output::store::manifest::Manifest;
use crate::output::video::VideoOptions;
use crate::output::video::VideoSink;
use crate::output::video::containers::Container;
use crate::output::video::job::VideoJob;
use crate::output::video::settings::is_raw;
use crate::render::Renderer;
use crate::render::frames::FrameList;
use crate::run::picture_target;
use crate::scene::limits::{PICTURES, endings};
use crate::scene::{Output, Scene};
use crate::threads::lock;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl FileSink {
    /// Writes a scene's frames to files such as `frames/%04d.png`. Each file is whole or absent; existing ones are replaced.
    ///
    /// # Errors
    /// The extension is no picture format, or the format does not support the scene's bit depth.
    pub fn create(pattern: impl AsRef<Path>, scene: &Scene) -> Result<FileSink, Error> {
        let text = utf8(pattern.as_ref())?;
        let mut scene = scene.clone();
        scene.output.files = picture_target::pattern(text, &FrameList::all(scene.output.frames), &mut ())?;
        let folder = folder_of(&scene)?;
        let options = options(folder.format, &scene, text)?;
        Ok(FileSink::new(folder, options, false))
    }
}

// How a scene's pictures are encoded; `name` is theirs in messages.
fn options(format: &Format, scene: &Scene, name: &str) -> Result<FormatOptions, Error> {
    let options = format.options(scene.output.bits, scene.film.tone).map_err(|e| Error::about(name, e))?;
    Ok(FormatOptions { has_alpha: scene.world.sky.transparent, dpi: scene.dots_per_inch(), ..options })
}

impl Renderer {
    /// A frame as the bytes of a file with this extension: a picture, or a document, `pdf` or `svg`, in which all that stands beside
    /// particles is text and lines.
    ///
    /// # Errors
    /// No file has that extension; or those of [`Renderer::still`].
    pub fn encode(&mut self, frame: u32, extension: &str) -> Result<Vec<u8>, Error> {
        if let Some(encode) = documents::encoder(extension) {
            let (page, picture) = self.page(frame)?;
            let manifest = Manifest::of(self.scene(), frame.to_string(), false, &RecordedFiles::default());
            let origin = manifest.origin().text(frame);
            let document =
                Document { page: &page, picture: (!self.has_furniture_apart()).then_some(&picture), origin: &origin };
            return Ok(encode(&document).writing(Path::new(extension))?);
        }
        let name = PathBuf::from(format!("{frame}.{extension}"));
        let format = Format::of_file(&name).ok_or_else(|| {
            let known = endings(&[&PICTURES[..], &["pdf", "svg"]].concat());
            Error::Usage(msg!(
                "`{name}`: expected a picture whose name ends in {endings}",
                name = name.display(),
                endings = known
            ))
        })?;
        let options = options(format, self.scene(), extension)?;
        let bytes = Arc::default();
        let sink = EncodedSink { format, options, bytes: Arc::clone(&bytes) };
        self.run(&FrameList::one(frame), vec![Box::new(sink)], &mut ())?;
        Ok(std::mem::take(&mut *lock(&bytes)))
    }
}

impl VideoSink {
    /// Makes a video of these frames, from any source. An existing file of that name is replaced.
    ///
    /// # Errors
    /// The extension is no video format, or the format does not support the options.
    pub fn create(path: impl AsRef<Path>, frames: &FrameList, options: &VideoOptions) -> Result<VideoSink, Error> {
        let path = path.as_ref();
        check_name("video", path)?;
        let fps = options.fps.unwrap_or(Output::default().fps);
        let settings = options.settings(path.to_owned(), fps, None)?;
        // The run provides the size when it begins.
        Ok(VideoSink::of_job(VideoJob::new(settings, frames.iter().collect(), (0, 0))))
    }
    /// Whether the path has the extension of a video.
    pub fn is_video(path: impl AsRef<Path>) -> bool {
        is_raw(path.as_ref()) || Container::of(path.as_ref()).is_some()
    }
}
