//! Videos: of frames as they are rendered, of frames that lie in a folder, and of both.
//!
//! An encoded video is made in [segments] and joined; a raw one, and one of the built-in encoder, is written as it comes.

pub mod alpha;
pub mod arguments;
mod buffer_pool;
pub mod codecs;
pub mod containers;
mod encoder;
pub mod ffmpeg;
pub mod high_bit_depth;
pub mod job;
mod join;
mod mp4;
#[cfg(feature = "h264")]
mod openh264;
mod segment_encoder;
pub mod segments;
pub mod settings;
mod single_pass;
pub mod tag;
mod webp;
pub mod y4m;

use self::encoder::Encoder;
use self::ffmpeg::find_ffmpeg;
use self::job::VideoJob;
#[cfg(feature = "h264")]
use self::openh264::OpenH264;
use self::segments::Segments;
pub use self::settings::Settings;
use self::single_pass::SinglePass;
use self::y4m::Y4m;
use super::error::OutputError;
use super::sink::{Already, Outcome, PixelFormats, RenderedFrame, RunInfo, Sink};
use super::store::atomic::{folder_of, prepare};
use super::store::folder::sweep;
use std::path::PathBuf;

/// A video being made.
pub struct Video {
    settings: Settings,
    job: VideoJob,
    // How many of the video's frames have been fed or passed.
    next: usize,
    encoder: Box<dyn Encoder>,
}

impl Video {
    /// Opens it, and encodes one frame as a trial before anything is rendered.
    ///
    /// # Errors
    /// The file cannot be made; ffmpeg is missing, or refuses the settings.
    pub fn open(settings: Settings, job: VideoJob) -> Result<Video, OutputError> {
        prepare(&settings.path)?;
        sweep(folder_of(&settings.path));
        let (width, height) = job.sides();
        let encoder: Box<dyn Encoder> = if settings.is_raw() {
            let writer = Y4m::start(&settings.path, width, height, settings.fps)?;
            Box::new(SinglePass::new(&settings, &job, writer))
        } else if settings.is_embedded {
            #[cfg(not(feature = "h264"))]
            return Err(OutputError::NoEncoder("this program was built without its own encoder".into()));
            #[cfg(feature = "h264")]
            {
                let tag = job.tag(&settings, &job::embedded()).to_string();
                Box::new(SinglePass::new(&settings, &job, OpenH264::start(&settings, (width, height), &tag)?))
            }
        } else {
            let ffmpeg = find_ffmpeg(settings.ffmpeg.as_deref())?;
            Box::new(Segments::open(&settings, &job, ffmpeg)?)
        };
        Ok(Video { settings, job, next: 0, encoder })
    }

    /// Adds a frame: its planes one after the other. Those of the video before it that were not fed are taken from where they
    /// lie.
    ///
    /// # Errors
    /// The video failed; [`Video::abort`] tells why.
    pub fn feed(&mut self, number: u32, planes: &[u8]) -> Result<(), OutputError> {
        let Some(ahead) = self.job.frames[self.next..].iter().position(|&n| n == number) else { return Ok(()) };
        let at = self.next + ahead;
        self.feed_existing(ahead)?;
        if self.next < at {
            // The run stops: a frame behind the gap is none of the beginning.
            return Ok(());
        }
        self.next += 1;
        self.encoder.feed(at, planes)
    }

    // The next frames were not fed.
    fn feed_existing(&mut self, frames: usize) -> Result<(), OutputError> {
        for at in self.next..self.next + frames {
            if !self.encoder.feed_existing(at)? {
                break;
            }
            self.next = at + 1;
        }
        Ok(())
    }

    /// What is known of the failure, after `feed` failed. What is encoded until then is kept and named.
    pub fn abort(self, cause: OutputError) -> OutputError {
        self.encoder.abort(cause)
    }

    /// Ends the video and gives it its name; a clip cut short goes to `NAME.partial.mp4`, and so does what there is of one
    /// that cannot be closed. None where the rest of it is made by others.
    ///
    /// # Errors
    /// It cannot be closed.
    pub fn finish(mut self, cut_short: bool) -> Result<Option<PathBuf>, OutputError> {
        if !cut_short && let Err(cause) = self.feed_existing(self.job.frames.len() - self.next) {
            return Err(self.abort(cause));
        }
        let cut_short = cut_short || self.next < self.job.frames.len();
        let made = self.encoder.finish(cut_short)?;
        if made.as_ref() == Some(&self.settings.path) {
            self.job.remove_beginning(&self.settings);
        }
        Ok(made)
    }
}

/// A video as a sink: opened when the run begins.
pub struct VideoSink {
    settings: Settings,
    job: VideoJob,
    open: Option<Video>,
}

impl VideoSink {
    /// The video that the settings name.
    pub(crate) fn of_job(settings: Settings, job: VideoJob) -> VideoSink {
        VideoSink { settings, job, open: None }
    }
}

impl Sink for VideoSink {
    fn needs(&self) -> PixelFormats {
        self.settings.needs()
    }
    fn open(&mut self, run: &RunInfo) -> Result<(), OutputError> {
        self.job.size = (run.width, run.height);
        self.open = Some(Video::open(self.settings.clone(), self.job.clone())?);
        Ok(())
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let Some(video) = &mut self.open else { return Ok(()) };
        match self.settings.planes(frame).and_then(|planes| video.feed(frame.number, &planes)) {
            Ok(()) => Ok(()),
            Err(cause) => Err(match self.open.take() {
                Some(dead) => dead.abort(cause),
                None => cause,
            }),
        }
    }
    // It reads frames that others have made meanwhile.
    fn completed_frames(&self) -> Option<Already> {
        self.job.source.is_some().then(|| -> Already { Box::new(|_| true) })
    }
    // The frames are worth something without it.
    fn is_essential(&self) -> bool {
        false
    }
    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<PathBuf>, OutputError> {
        self.open.map_or(Ok(None), |video| video.finish(outcome == Outcome::Aborted))
    }
}
