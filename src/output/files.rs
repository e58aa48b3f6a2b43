//! A sink that writes frames as files of one pattern. Each file is complete or absent.

use super::error::{NameFile, OutputError};
use super::formats::{Format, FormatOptions};
use super::sink::{Already, PixelFormats, RenderedFrame, RunInfo, Sink};
use super::store::atomic::{prepare, write_whole};
use super::store::folder::FrameFolder;
use crate::threads::lock;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

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

/// Encodes a frame as the bytes of a file.
pub struct EncodedSink {
    pub format: &'static Format,
    pub options: FormatOptions,
    pub bytes: Arc<Mutex<Vec<u8>>>,
}

impl Sink for EncodedSink {
    fn needs(&self) -> PixelFormats {
        self.format.needs(&self.options)
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let name = Path::new(self.format.extension);
        *lock(&self.bytes) = (self.format.encode)(frame, &self.options).writing(name)?;
        Ok(())
    }
}

/// Hears of a frame and its hash before its file is there.
pub(crate) type Witness = Arc<dyn Fn(u32, String) + Send + Sync>;

/// Writes frames as files of one pattern.
#[derive(Clone)]
pub struct FileSink {
    folder: FrameFolder,
    options: FormatOptions,
    is_shared: bool,
    witness: Option<Witness>,
}

impl FileSink {
    /// Writes into this folder. Nothing is opened yet. If the folder is shared with other runs, complete frames are
    /// not rendered again.
    pub fn new(folder: FrameFolder, options: FormatOptions, is_shared: bool) -> FileSink {
        FileSink { folder, options, is_shared, witness: None }
    }

    pub(crate) fn witnessed(self, witness: Witness) -> FileSink {
        FileSink { witness: Some(witness), ..self }
    }
}

impl Sink for FileSink {
    fn needs(&self) -> PixelFormats {
        let needs = self.folder.format.needs(&self.options);
        PixelFormats { rgba8: needs.rgba8 || self.witness.is_some(), ..needs }
    }
    fn open(&mut self, run: &RunInfo) -> Result<(), OutputError> {
        prepare(&self.folder.pattern.path(run.first))
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        if let Some(witness) = &self.witness {
            witness(frame.number, frame.sha256());
        }
        write_file(&self.folder.pattern.path(frame.number), self.folder.format, frame, &self.options)
    }
    fn completed_frames(&self) -> Option<Already> {
        let folder = self.folder.clone();
        self.is_shared.then(|| -> Already { Box::new(move |n| folder.is_whole(n)) })
    }
    fn worker_clone(&self) -> Option<Box<dyn Sink>> {
        Some(Box::new(self.clone()))
    }
}
