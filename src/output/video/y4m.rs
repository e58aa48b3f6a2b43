//! YUV4MPEG2: raw video, written without ffmpeg, that all players and encoders read.

use super::arguments::rational;
use super::encoder::VideoWriter;
use super::settings::Settings;
use crate::output::error::{NameFile, OutputError};
use crate::output::store::atomic::temporary;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const FRAME: &[u8] = b"FRAME\n";

/// A .y4m file that is written under a private name.
pub struct Y4m {
    path: PathBuf,
    file: BufWriter<tempfile::NamedTempFile>,
    // Bytes of the header and of a frame.
    header: u64,
    frame: u64,
}

impl Y4m {
    pub fn start(Settings { path, fps, .. }: &Settings, (width, height): (u32, u32)) -> Result<Y4m, OutputError> {
        let mut file = BufWriter::with_capacity(1 << 20, temporary(path).writing(path)?);
        let header = header(width, height, *fps);
        file.write_all(header.as_bytes()).writing(path)?;
        let frame = frame_length(width, height);
        Ok(Y4m { path: path.clone(), file, header: header.len() as u64, frame })
    }
}

impl VideoWriter for Y4m {
    fn write(&mut self, planes: &[u8]) -> Result<(), OutputError> {
        self.file.write_all(FRAME).and_then(|()| self.file.write_all(planes)).writing(&self.path)
    }
    fn flush(&mut self) -> Result<(), OutputError> {
        self.file.flush().writing(&self.path)
    }
    fn persist(self, path: &Path) -> Result<(), OutputError> {
        let file = self.file.into_inner().writing(path)?;
        file.persist(path).map(drop).writing(path)
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

/// The length in bytes of a file of this many frames.
pub fn length(width: u32, height: u32, fps: f64, frames: u64) -> u64 {
    header(width, height, fps).len() as u64 + frames * frame_length(width, height)
}

/// Whether a file is the beginning of another.
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
