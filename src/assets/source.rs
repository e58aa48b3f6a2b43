//! Files that a scene names; only files with an end are read.

use super::error::{AssetError, kind_of};
use crate::language::{Message, msg};
use crate::system;
use rayon::prelude::*;
use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// The limits of memory for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file.
    pub file: u64,
    /// Pixels of a picture; by default four million, or sixteen per byte of the file.
    pub picture: Option<u64>,
    /// Triangles of all meshes; by default two million, or one per four bytes of their files.
    pub triangles: Option<u64>,
    /// Bytes of memory for triangles, whatever the other limits allow.
    pub memory: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { file: 4 << 30, picture: None, triangles: None, memory: None }
    }
}

impl Limits {
    /// The limits of a user who says how much memory there is.
    pub fn within(memory: u64) -> Limits {
        // A pixel takes four bytes at least. Triangles are counted in bytes of memory.
        Limits { file: memory, picture: Some(memory / 4), triangles: Some(u64::MAX), memory: Some(memory) }
    }
}

// Pixels that a picture may have regardless of its file's size: decoded, they take a hundred megabytes and less than a second.
// Larger pictures need one byte of file per sixteen pixels: no photograph is smaller.
const PIXELS_OF_SMALL: u64 = 2048 * 2048;
const PIXELS_A_BYTE: u64 = 16;

/// The sides of a picture from its first bytes; zero if they are unknown, or if the picture would be refused.
pub fn sides(kind: &str, path: &Path, limits: Limits) -> (u64, u64) {
    let look = || {
        let file = open(kind, path, limits).ok()?;
        let max = most_pixels(file.metadata().ok()?.len(), limits);
        let reader = image::ImageReader::new(stored(file)).with_guessed_format().ok()?;
        let (width, height) = reader.into_dimensions().ok()?;
        Some((u64::from(width), u64::from(height))).filter(|(width, height)| width * height <= max)
    };
    look().unwrap_or_default()
}

fn most_pixels(bytes: u64, limits: Limits) -> u64 {
    limits.picture.unwrap_or(PIXELS_OF_SMALL.max(PIXELS_A_BYTE * bytes))
}

/// What pictures are decoded from, in a file or in memory. It is one type, so that the decoders are compiled once.
pub trait PictureBytes: io::BufRead + io::Seek {}
impl<T: io::BufRead + io::Seek> PictureBytes for T {}

pub fn stored(file: File) -> Box<dyn PictureBytes> {
    Box::new(io::BufReader::new(file))
}

fn in_memory(bytes: &[u8]) -> Box<dyn PictureBytes + '_> {
    Box::new(io::Cursor::new(bytes))
}

/// Fails for a folder, and for a device or a pipe, which might never end.
pub fn check_regular(what: &Metadata) -> io::Result<()> {
    let why = match what.is_dir() {
        _ if what.is_file() => return Ok(()),
        true => msg!("it is a folder"),
        false => msg!("it is a device or a pipe, and not a file"),
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// Opens a file to read it. All files are opened by this function, but for scenes and particles, which may come through a pipe.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check_regular(&std::fs::metadata(path)?)?;
    let mut options = File::options();
    system::never_wait(options.read(true));
    let file = options.open(path)?;
    // It may have been replaced a moment ago.
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Opens a pipe to read it, when a writer has opened it.
pub fn open_pipe(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// The bytes of a file.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file that messages call by that name, if it is not too long.
pub fn open(kind: &str, path: &Path, limits: Limits) -> Result<File, AssetError> {
    let failed = |e| AssetError::read(kind, path, e);
    let file = open_regular(path).map_err(failed)?;
    match file.metadata().map_err(failed)?.len() {
        length if length > limits.file => {
            let (has, may) = (length.div_ceil(1 << 20), limits.file >> 20);
            let what = msg!(
                "the {kind} has {has} MiB, and a file may have {may}: raise --limit-memory",
                kind = kind_of(kind),
                has,
                may
            );
            Err(AssetError::new(path, what))
        }
        _ => Ok(file),
    }
}

/// A file of which several threads read parts, or bytes in memory.
pub enum Content<'a> {
    File { file: File, length: usize },
    Memory(Cow<'a, [u8]>),
}

impl<'a> From<&'a [u8]> for Content<'a> {
    fn from(bytes: &'a [u8]) -> Content<'a> {
        Content::Memory(bytes.into())
    }
}

impl From<Vec<u8>> for Content<'static> {
    fn from(bytes: Vec<u8>) -> Content<'static> {
        Content::Memory(bytes.into())
    }
}

impl Content<'_> {
    /// An open file that messages call by that name.
    pub fn of(kind: &str, path: &Path, file: File) -> Result<Content<'static>, AssetError> {
        let length = file.metadata().map_err(|e| AssetError::read(kind, path, e))?.len() as usize;
        Ok(Content::File { file, length })
    }
    pub fn length(&self) -> usize {
        match self {
            Content::File { length, .. } => *length,
            Content::Memory(bytes) => bytes.len(),
        }
    }
    /// The bytes of a range, all of which must exist.
    pub fn part(&self, range: Range<usize>) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Content::File { file, .. } => {
                let mut bytes = vec![0; range.len()];
                read_parts(file, &mut bytes, range.start)?;
                Ok(bytes.into())
            }
            Content::Memory(bytes) => Ok(bytes.get(range).ok_or(io::ErrorKind::UnexpectedEof)?.into()),
        }
    }
}

// Long files are read in parts of this size by all cores.
const PART: usize = 4 << 20;

fn read_parts(file: &File, bytes: &mut [u8], from: usize) -> io::Result<()> {
    let parts = bytes.par_chunks_mut(PART).enumerate();
    parts.try_for_each(|(i, part)| system::read_at(file, part, (from + i * PART) as u64))
}

/// Reads a whole file.
pub fn read(kind: &str, path: &Path, mut file: File, limits: Limits) -> Result<Vec<u8>, AssetError> {
    let failed = |e| AssetError::read(kind, path, e);
    let length = file.metadata().map_err(failed)?.len() as usize;
    let mut bytes = vec![0; length];
    if length > PART {
        read_parts(&file, &mut bytes, 0).map_err(failed)?;
    } else {
        bytes.clear();
        // The file may be growing.
        (&mut file).take(limits.file).read_to_end(&mut bytes).map_err(failed)?;
    }
    Ok(bytes)
}

/// Refuses a picture with more pixels than its file's size allows.
pub fn check_pixels(
    kind: &str,
    path: &Path,
    bytes: u64,
    (width, height): (u32, u32),
    limits: Limits,
) -> Result<(), AssetError> {
    let pixels = most_pixels(bytes, limits);
    if u64::from(width) * u64::from(height) <= pixels {
        return Ok(());
    }
    let max = pixels / 1_000_000;
    Err(AssetError::broken(
        kind,
        path,
        msg!(
            "{bytes} bytes unfold to {width} x {height} pixels, and may become {max} million: make it smaller, or raise --limit-memory",
            bytes,
            width,
            height,
            max
        ),
    ))
}

// The name of a format: BMP, PNG, EXR.
fn name(format: image::ImageFormat) -> String {
    format.extensions_str().first().map_or_else(String::new, |ending| ending.to_uppercase())
}

// The formats of pictures that are read.
fn readable() -> Message {
    let all = image::ImageFormat::all().filter(image::ImageFormat::reading_enabled);
    Message::one_of(&all.map(name).collect::<Vec<_>>())
}

/// Decodes a picture from memory.
pub fn decode(
    kind: &str,
    path: &Path,
    bytes: &[u8],
    max: u32,
    limits: Limits,
) -> Result<image::DynamicImage, AssetError> {
    let wrong = |problem: Message| AssetError::broken(kind, path, problem);
    match image::guess_format(bytes) {
        Ok(format) if !format.reading_enabled() => {
            return Err(wrong(msg!(
                "{format} pictures are not read; expected {readable}",
                format = name(format),
                readable = readable()
            )));
        }
        Err(_) => return Err(wrong(msg!("its format is unknown; expected {readable}", readable = readable()))),
        Ok(_) => {}
    }
    let reader = || image::ImageReader::new(in_memory(bytes)).with_guessed_format();
    let unread = |e: io::Error| wrong(Message::text(e));
    let failed = |e: image::ImageError| wrong(Message::text(e));
    let (width, height) = reader().map_err(unread)?.into_dimensions().map_err(failed)?;
    if width > max || height > max {
        return Err(wrong(msg!(
            "its size is {width} x {height}; at most {max} a side: make it smaller",
            width,
            height,
            max
        )));
    }
    if width == 0 || height == 0 {
        return Err(wrong(msg!("its size is {width} x {height}: it has no pixels", width, height)));
    }
    check_pixels(kind, path, bytes.len() as u64, (width, height), limits)?;
    let mut reader = reader().map_err(unread)?;
    // Above the library's own limit, which large panoramas exceed.
    reader.no_limits();
    reader.decode().map_err(failed)
}

/// Decodes UTF-16 with a byte order mark, as Notepad, Excel and PowerShell on Windows save it.
pub fn utf16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes.get(..2)? {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, []) = bytes[2..].as_chunks::<2>() else { return None };
    String::from_utf16(&pairs.iter().map(|&pair| unit(pair)).collect::<Vec<_>>()).ok()
}

/// The line and the column of a byte of a text, from 1.
pub fn line_and_column(bytes: &[u8], at: usize) -> [usize; 2] {
    let before = &bytes[..at];
    let line = before.rsplit(|&b| b == b'\n').next().unwrap_or_default();
    let breaks = before.iter().filter(|&&b| b == b'\n').count();
    [breaks + 1, String::from_utf8_lossy(line).chars().count() + 1]
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::assets::files::Files;

    fn read(kind: &str, path: &Path, limits: Limits) -> Result<Vec<u8>, AssetError> {
        Files::from(limits).read(kind, path)
    }

    #[test]
    fn a_long_file_is_read_in_parts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long");
        let bytes: Vec<u8> = (0..2 * PART + 12_345).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        assert!(read("mesh", &path, Limits::default()).unwrap() == bytes);
        let content = Content::of("mesh", &path, File::open(&path).unwrap()).unwrap();
        assert_eq!(content.length(), bytes.len());
        for content in [content, bytes.as_slice().into()] {
            assert_eq!(content.part(1000..1300).unwrap(), &bytes[1000..1300]);
            let past = content.part(bytes.len() - 1..bytes.len() + 1).unwrap_err();
            assert_eq!(past.kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, why) in [(Path::new("/dev/zero"), "a device"), (&pipe, "a pipe"), (dir.path(), "a folder")] {
            let e = read("texture", path, Limits::default()).unwrap_err().to_string();
            assert!(e.contains("cannot read the texture") && e.contains(why), "{e}");
        }
    }

    #[test]
    fn a_small_file_cannot_fill_the_memory() {
        use image::{GrayImage, ImageFormat};
        let mut file = io::Cursor::new(Vec::new());
        GrayImage::new(16_000, 16_000).write_to(&mut file, ImageFormat::Png).unwrap();
        let e = decode(
            "sky",
            Path::new("s.hdr"),
            b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 0 +X 8\n",
            16,
            Limits::default(),
        );
        assert!(e.unwrap_err().to_string().contains("it has no pixels"));
        let unfolded = |limits| decode("texture", Path::new("t.png"), file.get_ref(), 16_384, limits);
        let e = unfolded(Limits::default()).unwrap_err().to_string();
        assert!(e.contains("16000 x 16000") && e.contains("raise --limit-memory"), "{e}");
        assert!(unfolded(Limits { picture: Some(256_000_000), ..Limits::default() }).is_ok());
    }

    #[test]
    fn a_long_file_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // A sparse file: it has no bytes on the disk.
        file.as_file().set_len((4 << 30) + 1).unwrap();
        let e = read("mesh", file.path(), Limits::default()).unwrap_err().to_string();
        assert!(e.contains("the mesh has 4097 MiB, and a file may have 4096: raise --limit-memory"), "{e}");
        file.as_file().set_len(5).unwrap();
        assert_eq!(read("mesh", file.path(), Limits { file: 5, ..Limits::default() }).unwrap(), [0; 5]);
    }
}
