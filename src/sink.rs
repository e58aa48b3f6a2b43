//! Where pictures go: files, each whole or not there, and a video.

pub mod data;
pub mod png;
pub mod video;
pub mod y4m;

use crate::scene::{Format, Pattern};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why pictures could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// A file.
    #[error("cannot write {0}: {1}")]
    Write(PathBuf, std::io::Error),
    /// ffmpeg is not there.
    #[error("{0}")]
    NoEncoder(String),
    /// ffmpeg failed; its own words follow.
    #[error("{what}\n--- ffmpeg said ---\n{words}")]
    Encoder {
        /// What happened.
        what: String,
        /// Everything ffmpeg printed.
        words: String,
    },
}

/// Writes a file under a private name in the same folder and gives it its name when it is whole.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>) -> Result<(), SinkError> {
    let failed = |e| SinkError::Write(path.to_owned(), e);
    let mut file = temporary(path).map_err(failed)?;
    fill(file.as_file_mut()).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// A private file beside `path`, gone if it is not persisted.
pub fn temporary(path: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".polyfly-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the user's umask takes away what it must.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(path))
}

/// The folder that holds `path`.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the folder of `path` and tries that a file can be made in it.
pub fn prepare(path: &Path) -> Result<(), SinkError> {
    let failed = |e| SinkError::Write(path.to_owned(), e);
    std::fs::create_dir_all(folder_of(path)).map_err(failed)?;
    if path.is_dir() {
        return Err(failed(std::io::Error::new(std::io::ErrorKind::IsADirectory, "it is a folder")));
    }
    temporary(path).map_err(failed)?;
    Ok(())
}

/// A single picture's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// As frames have it.
    Frame(Format),
    /// Portable pixmap, binary.
    Ppm,
}

impl PictureFormat {
    /// By the file's extension.
    pub fn of(path: &Path) -> Option<PictureFormat> {
        match path.extension()?.to_string_lossy().to_ascii_lowercase().as_str() {
            "data" => Some(PictureFormat::Frame(Format::Data)),
            "png" => Some(PictureFormat::Frame(Format::Png)),
            "ppm" => Some(PictureFormat::Ppm),
            _ => None,
        }
    }
}

/// Writes a picture, whole or not at all.
pub fn write_picture(
    path: &Path,
    format: PictureFormat,
    width: u32,
    height: u32,
    rgba: &[u8],
) -> Result<(), SinkError> {
    match format {
        PictureFormat::Frame(Format::Data) => write_whole(path, |file| {
            file.write_all(&data::header(width, height))?;
            file.write_all(rgba)
        }),
        PictureFormat::Frame(Format::Png) => {
            let bytes = png::encode(width, height, rgba).map_err(|e| SinkError::Write(path.to_owned(), e))?;
            write_whole(path, |file| file.write_all(&bytes))
        }
        PictureFormat::Ppm => write_whole(path, |file| {
            let rgb: Vec<u8> = rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
            write!(file, "P6\n{width} {height}\n255\n")?;
            file.write_all(&rgb)
        }),
    }
}

/// Writes frames as files of one pattern.
#[derive(Clone, Debug)]
pub struct FrameFiles {
    pattern: Pattern,
}

impl FrameFiles {
    /// Opens the place: folders are made, and a file is tried.
    pub fn open(pattern: Pattern, first: u32) -> Result<FrameFiles, SinkError> {
        prepare(&pattern.path(first))?;
        Ok(FrameFiles { pattern })
    }
    /// Writes frame n.
    pub fn write(&self, n: u32, width: u32, height: u32, rgba: &[u8]) -> Result<(), SinkError> {
        write_picture(&self.pattern.path(n), PictureFormat::Frame(self.pattern.format()), width, height, rgba)
    }
}
