//! The traits of encoders: ffmpeg in segments (`segments`), or a writer of one file from its first frame to its last.

use crate::output::error::OutputError;
use std::path::{Path, PathBuf};

/// How a video ended.
#[derive(Debug)]
pub enum Finished {
    /// It is complete, and has this path.
    Whole(PathBuf),
    /// This run's part is complete; other runs make the rest.
    Part,
    /// It was interrupted. Its first frames are in this file; None if they are in segments.
    Beginning(Option<PathBuf>),
}

pub trait Encoder: Send {
    /// Feeds the planes of the video's frame at index `at`. After an error, [`Encoder::abort`] returns the cause.
    fn feed(&mut self, at: usize, planes: &[u8]) -> Result<(), OutputError>;
    /// Feeds the existing frame at index `at` from its folder. False if the run stops and the frame is not read.
    fn feed_existing(&mut self, at: usize) -> Result<bool, OutputError>;
    /// Ends the video and renames it to its path. An interrupted one becomes `NAME.partial.mp4`.
    fn finish(self: Box<Self>, cut_short: bool) -> Result<Finished, OutputError>;
    /// The cause of a failure. Finished frames are kept, and the error names their file.
    fn abort(self: Box<Self>, cause: OutputError) -> OutputError;
}

/// A writer of a video in one file, under a private name.
pub trait VideoWriter: Send {
    /// Writes a frame's planes, one after the other.
    fn write(&mut self, planes: &[u8]) -> Result<(), OutputError>;
    /// Writes buffered frames.
    fn flush(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
    fn persist(self, path: &Path) -> Result<(), OutputError>;
    /// Whether a file without a tag has the same beginning as this video.
    fn is_like(&self, _path: &Path) -> bool {
        false
    }
    /// After a failure: renames the file with its complete frames to this path. Returns how many there are, if any.
    fn keep(self, path: &Path) -> Option<u64>;
}
