//! What makes a video of frames that come in order: ffmpeg in segments (`segments`), or a writer of one file (`single_pass`).

use crate::output::error::OutputError;
use std::path::{Path, PathBuf};

pub trait Encoder: Send {
    /// Adds the planes of the frame at that place of the video.
    /// On a failure [`Encoder::abort`] tells why.
    fn feed(&mut self, at: usize, planes: &[u8]) -> Result<(), OutputError>;
    /// Adds the frame at that place of the video, which lies in its folder; false where the run stops and the frame is not read.
    fn feed_existing(&mut self, at: usize) -> Result<bool, OutputError>;
    /// Ends the video and names it; a clip cut short goes to `NAME.partial.mp4`. None where others make the rest of it.
    fn finish(self: Box<Self>, cut_short: bool) -> Result<Option<PathBuf>, OutputError>;
    /// What is known of the failure that was met. What is encoded until then is kept and named.
    fn abort(self: Box<Self>, cause: OutputError) -> OutputError;
}

/// A video file that is written from its first frame to its last, under a private name.
pub trait VideoWriter: Send {
    /// Adds a frame: its planes one after the other.
    fn write(&mut self, planes: &[u8]) -> Result<(), OutputError>;
    /// Writes what has been held back.
    fn flush(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
    fn persist(self, path: &Path) -> Result<(), OutputError>;
    /// After a failure: gives the frames that are whole that name; says how many there are, if any.
    fn keep(self, path: &Path) -> Option<u64>;
}
