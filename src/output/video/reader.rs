//! Decodes videos: through ffmpeg, and raw ones without it.

use super::ffmpeg::{Process, url, words};
use super::settings::is_raw;
use super::y4m::{Y4mReader, header_line};
use crate::assets::source::open_regular;
use crate::language::msg;
use crate::output::error::{NameFile, OutputError};
use crate::output::formats::Shown;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

// How long ffmpeg may decode one frame.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A video's frames in order.
pub enum VideoReader {
    Raw(Y4mReader<BufReader<File>>, PathBuf),
    /// None after the last frame.
    Decoded(Option<BufReader<Process>>, PathBuf),
}

impl VideoReader {
    /// Reads a .y4m file without ffmpeg.
    pub fn raw(path: &Path) -> Result<VideoReader, OutputError> {
        let file = BufReader::with_capacity(1 << 20, open_regular(path).reading(path)?);
        Ok(VideoReader::Raw(Y4mReader::open(file).reading(path)?, path.to_owned()))
    }

    /// Decodes a file through ffmpeg.
    pub fn decoded(program: &Path, path: &Path) -> Result<VideoReader, OutputError> {
        // Each frame is a PAM picture, which has its size. Every frame of the file appears once, whatever its time.
        // A .y4m file does not name its matrix, which is BT.709.
        let matrix = if is_raw(path) { ":in_color_matrix=bt709" } else { "" };
        let picture = format!(
            "-map 0:v:0 -vf settb=1/25,setpts=N,scale=flags=accurate_rnd+full_chroma_int{matrix},format=rgba -r 25 \
             -c:v pam -f image2pipe pipe:1"
        );
        let arguments: Vec<String> = words("-nostdin -i").chain([url(path)]).chain(words(&picture)).collect();
        let process = Process::start(program, &arguments, TIMEOUT)?;
        Ok(VideoReader::Decoded(Some(BufReader::with_capacity(1 << 20, process)), path.to_owned()))
    }

    /// The next frame; None behind the last one.
    pub fn next(&mut self) -> Result<Option<Shown>, OutputError> {
        match self {
            VideoReader::Raw(reader, path) => reader.next().reading(path),
            VideoReader::Decoded(output, path) => {
                let Some(reader) = output else { return Ok(None) };
                match pam(reader) {
                    Ok(Some(frame)) => Ok(Some(frame)),
                    // ffmpeg has ended, and tells why.
                    ended => {
                        if let Some(process) = output.take().map(BufReader::into_inner) {
                            process.finish(None, msg!("decoding {path}", path = path.display()))?;
                        }
                        ended.reading(path)
                    }
                }
            }
        }
    }
}

// A picture in RGBA.
fn pam(reader: &mut impl BufRead) -> io::Result<Option<Shown>> {
    let Some(first) = header_line(reader)? else { return Ok(None) };
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "ffmpeg's output is no RGBA picture");
    let (mut width, mut height, mut depth) = (0, 0, 0);
    while let Some(line) = header_line(reader)?.filter(|line| line != "ENDHDR") {
        let (key, value) = line.split_once(' ').ok_or_else(broken)?;
        match key {
            "WIDTH" => width = value.parse().map_err(|_| broken())?,
            "HEIGHT" => height = value.parse().map_err(|_| broken())?,
            "DEPTH" => depth = value.parse().map_err(|_| broken())?,
            _ => {}
        }
    }
    if first != "P7" || depth != 4 || width == 0 || height == 0 {
        return Err(broken());
    }
    let mut rgba = vec![0; 4 * width as usize * height as usize];
    reader.read_exact(&mut rgba)?;
    Ok(Some(Shown { size: (width, height), rgba }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_a_stream_are_read_one_by_one() {
        let one = |pixel: &[u8; 4]| {
            [&b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"[..], pixel].concat()
        };
        let stream = [one(b"abcd"), one(b"\n\n\n\n")].concat();
        let mut reader = &stream[..];
        for expected in [b"abcd", b"\n\n\n\n"] {
            let frame = pam(&mut reader).unwrap().unwrap();
            assert_eq!((frame.size, &frame.rgba[..]), ((1, 1), &expected[..]));
        }
        assert!(pam(&mut reader).unwrap().is_none());
        assert!(pam(&mut &stream[..60]).is_err() && pam(&mut &b"P6\n1 1\n"[..]).is_err());
    }
}
