//! YUV4MPEG2: raw video that every player and encoder reads, without ffmpeg.

use super::OutputError;
use super::files::temporary;
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
    /// Adds a frame: its planes one after the other.
    pub fn feed(&mut self, yuv: &[u8]) -> Result<(), OutputError> {
        let write = |file: &mut dyn Write| -> std::io::Result<()> {
            file.write_all(FRAME)?;
            file.write_all(yuv)
        };
        write(&mut self.file).map_err(|e| OutputError::Write(self.path.clone(), e))
    }
    /// Writes what has been held back.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        self.file.flush().map_err(|e| OutputError::Write(self.path.clone(), e))
    }
    /// After a failure: gives the frames that are whole that name; says how many there are, if any.
    pub fn keep(self, path: &Path) -> Option<u64> {
        let (file, _unwritten) = self.file.into_parts();
        let frames = file.as_file().metadata().ok()?.len().checked_sub(self.header)? / self.frame;
        file.as_file().set_len(self.header + frames * self.frame).ok()?;
        (frames > 0 && file.persist(path).is_ok()).then_some(frames)
    }
    /// Gives the file its name, or `path` if there is one.
    pub fn finish(self, path: &Path) -> Result<(), OutputError> {
        let failed = |e| OutputError::Write(path.to_owned(), e);
        let file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        file.persist(path).map_err(|e| failed(e.error))?;
        Ok(())
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

/// A frame rate as a fraction: whole, a thousandth over 1001, or thousandths.
pub fn rational(fps: f64) -> (u64, u64) {
    if fps.fract() == 0.0 {
        return (fps as u64, 1);
    }
    let ntsc = (fps * 1.001).round();
    if ntsc >= 1.0 && (ntsc / 1.001 - fps).abs() < 0.005 {
        return (ntsc as u64 * 1000, 1001);
    }
    ((fps * 1000.0).round() as u64, 1000)
}

#[cfg(test)]
mod tests {
    use super::rational;

    #[test]
    fn rates() {
        assert_eq!(rational(30.0), (30, 1));
        assert_eq!(rational(29.97), (30000, 1001));
        assert_eq!(rational(23.976), (24000, 1001));
        assert_eq!(rational(12.5), (12500, 1000));
        assert_eq!(rational(0.001), (1, 1000), "not never");
    }
}
