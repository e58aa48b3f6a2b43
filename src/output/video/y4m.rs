//! YUV4MPEG2: raw video that every player and encoder reads, without ffmpeg.

use super::arguments::rational;
use super::encoder::VideoWriter;
use crate::output::error::OutputError;
use crate::output::store::atomic::temporary;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const FRAME: &[u8] = b"FRAME\n";

/// A .y4m file being written under a private name.
pub struct Y4m {
    path: PathBuf,
    file: std::io::BufWriter<tempfile::NamedTempFile>,
    // Length of what is whole, and of a frame.
    header: u64,
    frame: u64,
}

impl Y4m {
    /// Starts the file. Sides are even.
    pub fn start(path: &Path, width: u32, height: u32, fps: f64) -> Result<Y4m, OutputError> {
        let failed = |e| OutputError::Write(path.to_owned(), e);
        let mut file = std::io::BufWriter::with_capacity(1 << 20, temporary(path).map_err(failed)?);
        let header = header(width, height, fps);
        file.write_all(header.as_bytes()).map_err(failed)?;
        let frame = frame_length(width, height);
        Ok(Y4m { path: path.to_owned(), file, header: header.len() as u64, frame })
    }
}

impl VideoWriter for Y4m {
    fn write(&mut self, planes: &[u8]) -> Result<(), OutputError> {
        let written = self.file.write_all(FRAME).and_then(|()| self.file.write_all(planes));
        written.map_err(|e| OutputError::Write(self.path.clone(), e))
    }
    fn flush(&mut self) -> Result<(), OutputError> {
        self.file.flush().map_err(|e| OutputError::Write(self.path.clone(), e))
    }
    fn persist(self, path: &Path) -> Result<(), OutputError> {
        let failed = |e| OutputError::Write(path.to_owned(), e);
        let file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        file.persist(path).map(drop).map_err(|e| failed(e.error))
    }
    fn keep(self, path: &Path) -> Option<u64> {
        let (file, _unwritten) = self.file.into_parts();
        let frames = file.as_file().metadata().ok()?.len().checked_sub(self.header)? / self.frame;
        file.as_file().set_len(self.header + frames * self.frame).ok()?;
        (frames > 0 && file.persist(path).is_ok()).then_some(frames)
    }
}

fn header(width: u32, height: u32, fps: f64) -> String {
    let (numerator, denominator) = rational(fps);
    format!(
        "YUV4MPEG2 W{width} H{height} F{numerator}:{denominator} Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED\n"
    )
}

fn frame_length(width: u32, height: u32) -> u64 {
    FRAME.len() as u64 + u64::from(width) * u64::from(height) * 3 / 2
}

/// Bytes of a file of so many frames.
pub fn length(width: u32, height: u32, fps: f64, frames: u64) -> u64 {
    header(width, height, fps).len() as u64 + frames * frame_length(width, height)
}

/// Whether a file is the beginning of another.
///
/// # Errors
/// One of them cannot be read.
pub fn is_beginning(part: &Path, whole: &Path) -> std::io::Result<bool> {
    let (mut part, mut whole) = (File::open(part)?, File::open(whole)?);
    if part.metadata()?.len() > whole.metadata()?.len() {
        return Ok(false);
    }
    let (mut ours, mut theirs) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = part.read(&mut ours)?;
        whole.read_exact(&mut theirs[..read])?;
        if read == 0 || ours[..read] != theirs[..read] {
            return Ok(read == 0);
        }
    }
}
