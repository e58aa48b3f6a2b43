//! Videos that are written from their first frame to their last.

use super::encoder::{Encoder, Finished, VideoWriter};
use super::job::{VideoJob, kept};
use crate::output::error::OutputError;
use std::sync::Arc;

/// An encoder without segments, so that an interrupted video cannot be resumed.
pub struct SinglePass<W> {
    pub job: Arc<VideoJob>,
    pub writer: W,
}

impl<W: VideoWriter> Encoder for SinglePass<W> {
    fn feed(&mut self, _at: usize, planes: &[u8]) -> Result<(), OutputError> {
        self.writer.write(planes)
    }

    fn feed_existing(&mut self, at: usize) -> Result<bool, OutputError> {
        if self.job.cancel.is_stopped() {
            return Ok(false);
        }
        self.writer.write(&self.job.planes(self.job.frames[at])?)?;
        Ok(true)
    }

    fn finish(mut self: Box<Self>, cut_short: bool) -> Result<Finished, OutputError> {
        // A full disk may show only now.
        if let Err(cause) = self.writer.flush() {
            return Err(self.abort(cause));
        }
        let SinglePass { job, writer } = *self;
        if cut_short {
            let path = job.partial_path(|path| writer.is_like(path));
            return writer.persist(&path).map(|()| Finished::Beginning(Some(path)));
        }
        job.name(|path| writer.persist(path)).map(Finished::Whole)
    }

    fn abort(self: Box<Self>, cause: OutputError) -> OutputError {
        let path = self.job.partial_path(|path| self.writer.is_like(path));
        match self.writer.keep(&path) {
            Some(frames) => kept(cause, frames, &path),
            None => cause,
        }
    }
}
