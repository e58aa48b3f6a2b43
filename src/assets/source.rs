//! Files that a scene names: only such as have an end.

use super::AssetError;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Pixels that a picture may have however small its file is: decoded, they take up to a gigabyte. Larger ones are read from
/// files that have a byte for every sixteen of them: no photograph is smaller.
const MAX_PICTURE: u64 = 8192 * 8192;
const PIXELS_A_BYTE: u64 = 16;

/// Opens a file; a device or a pipe, which might never end, is none.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let what = std::fs::metadata(path)?;
    if !what.is_file() {
        let kind = if what.is_dir() { "it is a folder" } else { "it is a device or a pipe, and not a file" };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, kind));
    }
    File::open(path)
}

/// All of a file, which is called that in messages.
pub fn read(kind: &str, path: &Path) -> Result<Vec<u8>, AssetError> {
    let read = || {
        let mut bytes = Vec::new();
        open_regular(path)?.read_to_end(&mut bytes).map(|_| bytes)
    };
    read().map_err(|e| AssetError::read(kind, path, e))
}

/// Decodes a picture whose size is looked at first.
pub fn decode(kind: &str, path: &Path, bytes: &[u8], most: u32) -> Result<image::DynamicImage, AssetError> {
    let wrong = |problem: String| AssetError::broken(kind, path, problem);
    let reader = || image::ImageReader::new(io::Cursor::new(bytes)).with_guessed_format();
    let failed = |e: image::ImageError| wrong(e.to_string());
    let (width, height) = reader().map_err(|e| wrong(e.to_string()))?.into_dimensions().map_err(failed)?;
    if width > most || height > most {
        return Err(wrong(format!("its size is {width} x {height}; at most {most} a side: make it smaller")));
    }
    if u64::from(width) * u64::from(height) > MAX_PICTURE.max(PIXELS_A_BYTE * bytes.len() as u64) {
        let bytes = bytes.len();
        return Err(wrong(format!(
            "it unfolds {bytes} bytes to {width} x {height} pixels; make it smaller than 8192 x 8192"
        )));
    }
    let mut reader = reader().map_err(|e| wrong(e.to_string()))?;
    // Above the library's own limit, which large panoramas pass.
    reader.no_limits();
    reader.decode().map_err(failed)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, why) in [(Path::new("/dev/zero"), "a device"), (&pipe, "a pipe"), (dir.path(), "a folder")] {
            let e = read("texture", path).unwrap_err().to_string();
            assert!(e.contains("cannot read the texture") && e.contains(why), "{e}");
        }
    }

    #[test]
    fn a_small_file_cannot_fill_the_memory() {
        use image::{GrayImage, ImageFormat};
        let mut file = io::Cursor::new(Vec::new());
        GrayImage::new(16_000, 16_000).write_to(&mut file, ImageFormat::Png).unwrap();
        let e = decode("texture", Path::new("t.png"), file.get_ref(), 16_384).unwrap_err().to_string();
        assert!(e.contains("16000 x 16000") && e.contains("make it smaller"), "{e}");
    }
}
