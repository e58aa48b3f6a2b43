//! Videos of rendered frames, of existing frames, and of both. ffmpeg encodes [segments], which are then joined. Raw
//! videos and those of the built-in encoder are written in one piece.

pub mod alpha;
pub mod arguments;
mod buffer_pool;
pub mod codecs;
pub mod containers;
mod encode;
mod encoder;
pub mod ffmpeg;
pub mod high_bit_depth;
pub mod job;
mod join;
mod mp4;
#[cfg(feature = "h264")]
mod openh264;
pub mod options;
pub mod reader;
mod segment_encoder;
pub mod segments;
pub mod settings;
mod single_pass;
pub mod spherical;
pub mod tag;
mod webp;
pub mod y4m;

pub use self::encode::Encode;
use self::encoder::Encoder;
pub use self::encoder::Finished;
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
    // The number of the video's frames that have been fed or skipped.
    next: usize,
    encoder: Box<dyn Encoder>,
}

impl Video {
    /// Opens the encoder, and encodes one frame as a trial before anything is rendered.
    pub fn open(job: VideoJob) -> Result<Video, OutputError> {
        let job = Arc::new(job);
        let settings = &job.settings;
        prepare(&settings.path)?;
        sweep(folder_of(&settings.path));
        let encoder: Box<dyn Encoder> = if settings.is_raw() {
            Box::new(SinglePass { job: Arc::clone(&job), writer: Y4m::start(settings, job.sides())? })
        } else if settings.is_embedded {
            #[cfg(not(feature = "h264"))]
            return Err(OutputError::NoEncoder(crate::language::msg!(
                "this program was built without its own encoder"
            )));
            #[cfg(feature = "h264")]
            {
                let tag = job.own_tag().map_or_else(String::new, |tag| tag.to_string());
                let writer = OpenH264::start(settings, job.sides(), &tag)?;
                Box::new(SinglePass { job: Arc::clone(&job), writer })
            }
        } else {
            Box::new(Segments::open(&job, settings.find_ffmpeg()?)?)
        };
        Ok(Video { job, next: 0, encoder })
    }

    /// Feeds a frame's planes, one after the other. Earlier frames that were not fed are read from their folder.
    /// After an error, [`Video::abort`] returns the cause.
    pub fn feed(&mut self, number: u32, planes: &[u8]) -> Result<(), OutputError> {
        let Some(ahead) = self.job.frames[self.next..].iter().position(|&n| n == number) else { return Ok(()) };
        let at = self.next + ahead;
        self.feed_existing(at)?;
        if self.next < at {
            // The run stops. A frame after a gap does not belong to the beginning of the video.
            return Ok(());
        }
        self.next += 1;
        self.encoder.feed(at, planes)
    }

    // Feeds the existing frames before `end`.
    fn feed_existing(&mut self, end: usize) -> Result<(), OutputError> {
        while self.next < end && self.encoder.feed_existing(self.next)? {
            self.next += 1;
        }
        Ok(())
    }

    /// The cause of a failed `feed`. Finished frames are kept, and the error names their file.
    pub fn abort(self, cause: OutputError) -> OutputError {
        self.encoder.abort(cause)
    }

    /// Ends the video and renames it to its path. An interrupted or unfinished video becomes `NAME.partial.mp4`.
    pub fn finish(mut self, cut_short: bool) -> Result<Finished, OutputError> {
        let frames = self.job.frames.len();
        if !cut_short && let Err(cause) = self.feed_existing(frames) {
            return Err(self.abort(cause));
        }
        let finished = self.encoder.finish(cut_short || self.next < frames)?;
        if let Finished::Whole(_) = finished {
            self.job.remove_beginning();
        }
        Ok(finished)
    }
}

/// A video as a sink, which opens when the run begins.
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
    // Frames that other runs have rendered are read from the folder.
    fn completed_frames(&self) -> Option<Already> {
        self.job.source.is_some().then(|| -> Already { Box::new(|_| true) })
    }
    // Frames on disk are useful without the video.
    fn is_essential(&self) -> bool {
        false
    }
    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<PathBuf>, OutputError> {
        let Some(video) = self.open else { return Ok(None) };
        match (video.finish(outcome == Outcome::Aborted)?, outcome) {
            (Finished::Whole(path), _) => Ok(Some(path)),
            (Finished::Part, _) => Ok(None),
            (Finished::Beginning(path), Outcome::Aborted) => Ok(path),
            // All frames were rendered, and the run was canceled while existing ones were encoded.
            (Finished::Beginning(path), Outcome::Complete) => Err(OutputError::VideoInterrupted(path)),
        }
    }
}
