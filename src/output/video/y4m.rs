//! YUV4MPEG2: raw video, written and read without ffmpeg, that all players and encoders read.

use super::arguments::rational;
use super::encoder::VideoWriter;
use super::settings::Settings;
use crate::assets::source::open_regular;
use crate::output::error::{NameFile, OutputError};
use crate::output::formats::Shown;
use crate::output::store::atomic::{persist, temporary};
use crate::scene::limits::{MAX_PIXELS, MAX_SIDE};
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const FRAME: &[u8] = b"FRAME\n";
// Maximum length of a header, bytes.
const LONGEST_LINE: u64 = 4096;

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
        persist(file, path).map(drop).writing(path)
    }
    fn is_like(&self, path: &Path) -> bool {
        let mine = self.file.get_ref().path();
        is_beginning(path, mine).unwrap_or(false) || is_beginning(mine, path).unwrap_or(false)
    }
    fn keep(self, path: &Path) -> Option<u64> {
        let (file, _unwritten) = self.file.into_parts();
        let frames = file.as_file().metadata().ok()?.len().checked_sub(self.header)? / self.frame;
        file.as_file().set_len(self.header + frames * self.frame).ok()?;
        (frames > 0 && persist(file, path).is_ok()).then_some(frames)
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

/// A line without its end; None at the end of the input.
pub fn header_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    if reader.by_ref().take(LONGEST_LINE).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    match line.pop() {
        Some('\n') => Ok(Some(line)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The frames of a .y4m file as pictures.
pub struct Y4mReader<R> {
    reader: R,
    size: (u32, u32),
    is_full_range: bool,
    planes: Vec<u8>,
}

impl<R: BufRead> Y4mReader<R> {
    /// Reads the header. Only 8 bits in 4:2:0 are supported.
    pub fn open(mut reader: R) -> io::Result<Y4mReader<R>> {
        let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
        let header = header_line(&mut reader)?.unwrap_or_default();
        let Some(fields) = header.strip_prefix("YUV4MPEG2 ") else { return Err(broken("it is no YUV4MPEG2 video")) };
        let field = |key: &str| fields.split(' ').find_map(|field| field.strip_prefix(key));
        let side = |key| field(key).and_then(|side| side.parse().ok()).filter(|side| (1..=MAX_SIDE).contains(side));
        let (Some(width), Some(height)) = (side("W"), side("H")) else { return Err(broken("its header has no size")) };
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return Err(broken("its frames are too large"));
        }
        let kind = field("C").unwrap_or("420");
        if !["420", "420jpeg", "420mpeg2", "420paldv"].contains(&kind) {
            return Err(broken(&format!("its pixels are C{kind}; expected C420, which is 8 bits in 4:2:0")));
        }
        let chroma = u64::from(width).div_ceil(2) * u64::from(height).div_ceil(2);
        let planes = vec![0; (u64::from(width) * u64::from(height) + 2 * chroma) as usize];
        Ok(Y4mReader { reader, size: (width, height), is_full_range: field("XCOLORRANGE=") == Some("FULL"), planes })
    }

    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// The planes of the next frame; None behind the last one.
    pub fn planes(&mut self) -> io::Result<Option<&[u8]>> {
        let Some(line) = header_line(&mut self.reader)? else { return Ok(None) };
        if line.split(' ').next() != Some("FRAME") {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its frames are not whole"));
        }
        self.reader.read_exact(&mut self.planes)?;
        Ok(Some(&self.planes))
    }

    /// The next frame as a picture; None behind the last one.
    pub fn next(&mut self) -> io::Result<Option<Shown>> {
        if self.planes()?.is_none() {
            return Ok(None);
        }
        let (width, height) = (self.size.0 as usize, self.size.1 as usize);
        let (luma, chroma) = self.planes.split_at(width * height);
        let (blue, red) = chroma.split_at(chroma.len() / 2);
        let pixel = |at: usize| {
            let near = (at / width / 2) * width.div_ceil(2) + at % width / 2;
            rgba([luma[at], blue[near], red[near]].map(f32::from), self.is_full_range)
        };
        Ok(Some(Shown { size: self.size, rgba: (0..width * height).flat_map(pixel).collect() }))
    }
}

// Rec. ITU-R BT.709.
fn rgba([y, blue, red]: [f32; 3], is_full_range: bool) -> [u8; 4] {
    let (y, scale) = if is_full_range { (y, 1.0) } else { ((y - 16.0) * (255.0 / 219.0), 255.0 / 224.0) };
    let (blue, red) = ((blue - 128.0) * scale, (red - 128.0) * scale);
    let [r, g, b] = [y + 1.5748 * red, y - 0.187_324 * blue - 0.468_124 * red, y + 1.8556 * blue];
    [r.round() as u8, g.round() as u8, b.round() as u8, 255]
}

/// Whether a file is the beginning of another.
pub fn is_beginning(part: &Path, whole: &Path) -> std::io::Result<bool> {
    let (mut part, mut whole) = (open_regular(part)?, open_regular(whole)?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_frames_are_shown_in_their_colours() {
        // Black, white, BT.709's red in the limited range, and a gray; two frames of 2 x 2 and odd sides.
        let text = |size: &str, frames: &[&[u8]]| {
            let mut file = format!("YUV4MPEG2 {size} F30:1 Ip C420jpeg XCOLORRANGE=LIMITED\n").into_bytes();
            frames.iter().for_each(|frame| file.extend([FRAME, frame].concat()));
            file
        };
        let file = text("W2 H2", &[&[16, 235, 126, 16, 128, 128], &[63, 63, 63, 63, 102, 240]]);
        let mut reader = Y4mReader::open(&file[..]).unwrap();
        let first = reader.next().unwrap().unwrap();
        assert_eq!((first.size, &first.rgba[..8]), ((2, 2), &[0, 0, 0, 255, 255, 255, 255, 255][..]));
        assert_eq!(first.rgba[8..11], [128, 128, 128]);
        assert_eq!(reader.next().unwrap().unwrap().rgba[..4], [255, 1, 0, 255]);
        assert!(reader.next().unwrap().is_none());
        let odd = text("W3 H1", &[&[16, 16, 235, 128, 128, 128, 128]]);
        assert_eq!(Y4mReader::open(&odd[..]).unwrap().next().unwrap().unwrap().rgba[8..], [255; 4]);
        // A truncated frame, another kind of pixels, no video.
        assert!(Y4mReader::open(&file[..file.len() - 1]).and_then(|mut r| r.next().and_then(|_| r.next())).is_err());
        let why = |header: &[u8]| Y4mReader::open(header).err().unwrap().to_string();
        assert!(why(b"YUV4MPEG2 W2 H2 C444\n").contains("expected C420"));
        assert!(why(b"YUV4MPEG2 H2\n").contains("no size") && why(b"RIFF\n").contains("no YUV4MPEG2"));
    }
}
