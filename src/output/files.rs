//! A sink that writes frames as files of one pattern. Each file is complete or absent.

use super::error::{NameFile, OutputError};
use super::formats::{Format, FormatOptions};
use super::sink::{Already, PixelFormats, RenderedFrame, RunInfo, Sink};
use super::store::atomic::{prepare, write_whole};
use super::store::folder::FrameFolder;
use std::cell::Cell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Checks that a frame may still be written. It is called before each frame is written.
pub type Guard = Arc<dyn Fn(u32) -> Result<(), OutputError> + Send + Sync>;

/// Writes a frame as one file.
pub fn write_file(
    path: &Path,
    format: &Format,
    frame: &RenderedFrame,
    options: &FormatOptions,
) -> Result<(), OutputError> {
    let bytes = (format.encode)(frame, options).writing(path)?;
    write_whole(path, |file| file.write_all(&bytes))
}

/// Writes one of the frames as a file.
pub struct OneFrameSink {
    pub path: PathBuf,
    pub number: u32,
    pub format: &'static Format,
    pub options: FormatOptions,
}

impl Sink for OneFrameSink {
    fn needs(&self) -> PixelFormats {
        self.format.needs(&self.options)
    }
    fn open(&mut self, _: &RunInfo) -> Result<(), OutputError> {
        prepare(&self.path)
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        match frame.number == self.number {
            true => write_file(&self.path, self.format, frame, &self.options),
            false => Ok(()),
        }
    }
}

/// Writes frames as files of one pattern.
#[derive(Clone)]
pub struct FileSink {
    folder: FrameFolder,
    options: FormatOptions,
    is_shared: bool,
    guard: Option<Guard>,
}

impl FileSink {
    /// Writes into this folder. Nothing is opened yet. If the folder is shared with other runs, complete frames are
    /// not rendered again. If the guard refuses a frame, the run ends.
    pub fn new(folder: FrameFolder, options: FormatOptions, is_shared: bool, guard: Option<Guard>) -> FileSink {
        FileSink { folder, options, is_shared, guard }
    }
}

impl Sink for FileSink {
    fn needs(&self) -> PixelFormats {
        self.folder.format.needs(&self.options)
    }
    fn open(&mut self, run: &RunInfo) -> Result<(), OutputError> {
        prepare(&self.folder.pattern.path(run.first))
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let path = self.folder.pattern.path(frame.number);
        let bytes = (self.folder.format.encode)(frame, &self.options).writing(&path)?;
        let refused = Cell::new(None);
        let written = write_whole(&path, |file| {
            file.write_all(&bytes)?;
            // The check comes last, because another run may take the frame over meanwhile.
            self.guard.as_ref().map_or(Ok(()), |guard| guard(frame.number)).map_err(|e| match e {
                // An I/O error is retried.
                OutputError::Read(_, e) => e,
                e => {
                    refused.set(Some(e));
                    io::ErrorKind::AlreadyExists.into()
                }
            })
        });
        refused.take().map_or(written, Err)
    }
    fn completed_frames(&self) -> Option<Already> {
        let (folder, guard) = (self.folder.clone(), self.guard.clone());
        let is_there = move |n| guard.as_ref().is_none_or(|guard| guard(n).is_ok()) && folder.is_whole(n);
        self.is_shared.then(|| -> Already { Box::new(is_there) })
    }
    fn worker_clone(&self) -> Option<Box<dyn Sink>> {
        Some(Box::new(self.clone()))
    }
}
