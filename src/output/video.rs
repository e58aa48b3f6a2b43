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
pub mod options;
mod segment_encoder;
pub mod segments;
pub mod settings;
mod single_pass;
pub mod tag;
mod webp;
pub mod y4m;

use self::encoder::Encoder;
use self::job::VideoJob;
#[cfg(feature = "h264")]
use self::openh264::OpenH264;
pub use self::options::VideoOptions;
use self::segments::Segments;
pub use self::settings::Settings;
use self::single_pass::SinglePass;
use self::y4m::Y4m;
use super::error::OutputError;
use super::sink::{Already, Outcome, PixelFormats, RenderedFrame, RunInfo, Sink};
use super::store::atomic::{folder_of, prepare};
use super::store::folder::sweep;
use std::path::PathBuf;
use std::sync::Arc;

pub struct Video {
    job: Arc<VideoJob>,
    // How many of the video's frames have been fed or passed.
    next: usize,
    encoder: Box<dyn Encoder>,
}

impl Video {
    /// Opens it, and encodes one frame as a trial before anything is rendered.
    pub fn open(job: VideoJob) -> Result<Video, OutputError> {
        let job = Arc::new(job);
        let settings = &job.settings;
        prepare(&settings.path)?;
        sweep(folder_of(&settings.path));
        let encoder: Box<dyn Encoder> = if settings.is_raw() {
            Box::new(SinglePass { job: Arc::clone(&job), writer: Y4m::start(settings, job.sides())? })
        } else if settings.is_embedded {
            #[cfg(not(feature = "h264"))]
            return Err(OutputError::NoEncoder("this program was built without its own encoder".into()));
            #[cfg(feature = "h264")]
            {
                let tag = job.tag(&job::embedded()).to_string();
                let writer = OpenH264::start(settings, job.sides(), &tag)?;
                Box::new(SinglePass { job: Arc::clone(&job), writer })
            }
        } else {
            Box::new(Segments::open(&job, settings.find_ffmpeg()?)?)
        };
        Ok(Video { job, next: 0, encoder })
    }

    /// Adds a frame: its planes one after the other. Those of the video before it that were not fed are taken from where they
    /// lie. On a failure [`Video::abort`] tells why.
    pub fn feed(&mut self, number: u32, planes: &[u8]) -> Result<(), OutputError> {
        let Some(ahead) = self.job.frames[self.next..].iter().position(|&n| n == number) else { return Ok(()) };
        let at = self.next + ahead;
        self.feed_existing(at)?;
        if self.next < at {
            // The run stops: a frame behind the gap is none of the beginning.
            return Ok(());
        }
        self.next += 1;
        self.encoder.feed(at, planes)
    }

    // The frames before that place were not fed.
    fn feed_existing(&mut self, end: usize) -> Result<(), OutputError> {
        while self.next < end && self.encoder.feed_existing(self.next)? {
            self.next += 1;
        }
        Ok(())
    }

    /// What is known of the failure, after `feed` failed. What is encoded until then is kept and named.
    pub fn abort(self, cause: OutputError) -> OutputError {
        self.encoder.abort(cause)
    }

    /// Ends the video and gives it its name; a clip cut short goes to `NAME.partial.mp4`, and so does what there is of one
    /// that cannot be closed. None where the rest of it is made by others.
    pub fn finish(mut self, cut_short: bool) -> Result<Option<PathBuf>, OutputError> {
        let frames = self.job.frames.len();
        if !cut_short && let Err(cause) = self.feed_existing(frames) {
            return Err(self.abort(cause));
        }
        let made = self.encoder.finish(cut_short || self.next < frames)?;
        if made.as_ref() == Some(&self.job.settings.path) {
            self.job.remove_beginning();
        }
        Ok(made)
    }
}

/// A video as a sink: opened when the run begins.
pub struct VideoSink {
    job: VideoJob,
    open: Option<Video>,
}

impl VideoSink {
    pub(crate) fn of_job(job: VideoJob) -> VideoSink {
        VideoSink { job, open: None }
    }
}

impl Sink for VideoSink {
    fn needs(&self) -> PixelFormats {
        self.job.settings.needs()
    }
    fn open(&mut self, run: &RunInfo) -> Result<(), OutputError> {
        self.job.size = (run.width, run.height);
        self.open = Some(Video::open(self.job.clone())?);
        Ok(())
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let Some(video) = &mut self.open else { return Ok(()) };
        let fed = self.job.settings.planes(frame).and_then(|planes| video.feed(frame.number, &planes));
        fed.map_err(|cause| match self.open.take() {
            Some(dead) => dead.abort(cause),
            None => cause,
        })
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
