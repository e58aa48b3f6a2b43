//! A sink that writes frames as files of one pattern, each whole or not there.

use super::error::OutputError;
use super::formats::FormatOptions;
use super::sink::{Already, PixelFormats, RenderedFrame, RunInfo, Sink};
use super::store::atomic::{prepare, write_whole};
use super::store::folder::FrameFolder;
use std::cell::Cell;
use std::sync::Arc;

/// Says whether a frame may still be written: it is asked just before each is.
pub type Guard = Arc<dyn Fn(u32) -> Result<(), OutputError> + Send + Sync>;

/// Writes frames as files of one pattern.
#[derive(Clone)]
pub struct FileSink {
    folder: FrameFolder,
    options: FormatOptions,
    is_shared: bool,
    guard: Option<Guard>,
}

impl FileSink {
    /// The files of a folder. Nothing is opened yet. Of one that is shared, what is whole there is not made again; where there is
    /// a guard, a frame that it refuses ends the run.
    pub fn new(folder: FrameFolder, options: FormatOptions, is_shared: bool, guard: Option<Guard>) -> FileSink {
        FileSink { folder, options, is_shared, guard }
    }
    // Whether a frame is still this run's.
    fn check(guard: Option<&Guard>, frame: u32) -> Result<(), OutputError> {
        guard.map_or(Ok(()), |guard| guard(frame))
    }
}

impl Sink for FileSink {
    fn needs(&self) -> PixelFormats {
        (self.folder.format.needs)(&self.options)
    }
    fn open(&mut self, run: &RunInfo) -> Result<(), OutputError> {
        prepare(&self.folder.pattern.path(run.first))
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let FrameFolder { pattern, format, .. } = &self.folder;
        let taken = Cell::new(None);
        let written = write_whole(&pattern.path(frame.number), |file| {
            (format.write)(frame, &self.options, file)?;
            // As late as can be.
            FileSink::check(self.guard.as_ref(), frame.number).map_err(|e| match e {
                // It may pass.
                OutputError::Read(_, e) => e,
                e => {
                    taken.set(Some(e));
                    std::io::ErrorKind::AlreadyExists.into()
                }
            })
        });
        taken.take().map_or(written, Err)
    }
    fn completed_frames(&self) -> Option<Already> {
        let (folder, guard) = (self.folder.clone(), self.guard.clone());
        let is_there = move |frame| FileSink::check(guard.as_ref(), frame).is_ok() && folder.is_whole(frame);
        self.is_shared.then(|| -> Already { Box::new(is_there) })
    }
    fn worker_clone(&self) -> Option<Box<dyn Sink>> {
        Some(Box::new(self.clone()))
    }
}
