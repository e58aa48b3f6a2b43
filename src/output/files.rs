//! Files: pictures of one pattern, each whole or not there.

use super::formats::{Format, FormatOptions};
use super::{Frame, OutputError, PixelFormats, RunInfo, Sink};
use crate::scene::Pattern;
use std::path::Path;

/// Writes a file under a private name in the same folder and gives it its name when it is whole.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> Result<(), OutputError> {
    let failed = |e| OutputError::Write(path.to_owned(), e);
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
pub fn prepare(path: &Path) -> Result<(), OutputError> {
    let failed = |e| OutputError::Write(path.to_owned(), e);
    std::fs::create_dir_all(folder_of(path)).map_err(failed)?;
    if path.is_dir() {
        return Err(failed(std::io::Error::new(std::io::ErrorKind::IsADirectory, "it is a folder")));
    }
    temporary(path).map_err(failed)?;
    Ok(())
}

/// Writes frames as files of one pattern.
#[derive(Clone)]
pub struct FrameFiles {
    pattern: Pattern,
    format: &'static Format,
    options: FormatOptions,
}

impl FrameFiles {
    /// Files of the pattern, in its format. Nothing is opened yet.
    pub fn new(pattern: Pattern, format: &'static Format, options: FormatOptions) -> FrameFiles {
        FrameFiles { pattern, format, options }
    }
}

impl Sink for FrameFiles {
    fn needs(&self) -> PixelFormats {
        (self.format.needs)(&self.options)
    }
    fn open(&mut self, run: &RunInfo) -> Result<(), OutputError> {
        prepare(&self.pattern.path(run.first))
    }
    fn frame(&mut self, frame: &Frame) -> Result<(), OutputError> {
        write_whole(&self.pattern.path(frame.number), |file| (self.format.write)(frame, &self.options, file))
    }
    fn helper(&self) -> Option<Box<dyn Sink>> {
        Some(Box::new(self.clone()))
    }
}
