//! Frames that a run replaces. They are set aside in the hidden folder, where they stay until the new ones are
//! complete: an interrupted run has lost nothing.

use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::output::{NameFile, OutputError};
use std::io;
use std::path::{Path, PathBuf};

/// Where a replaced frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// It is removed when the new frame is complete.
    UntilReplaced,
    /// It stays: nobody has asked to replace it, and it may be no frame of polyfly's.
    ForGood,
}

impl Aside {
    fn name(self) -> &'static str {
        match self {
            Aside::UntilReplaced => "replaced",
            Aside::ForGood => "foreign",
        }
    }

    /// The folder beside these frames.
    pub fn folder(self, frames: &FrameFolder) -> PathBuf {
        hidden::within(&frames.path()).join(self.name())
    }

    /// Moves existing frames out of the way.
    pub fn set(self, frames: &FrameFolder, numbers: impl IntoIterator<Item = u32>) -> Result<(), OutputError> {
        let mut folder = None;
        for number in numbers {
            let path = frames.pattern.path(number);
            let folder = match &folder {
                Some(folder) => folder,
                None => {
                    let hidden = hidden::within(&frames.path());
                    folder.insert(hidden::make(&hidden, Some(self.name())).writing(&hidden)?)
                }
            };
            match self.move_into(folder, &path) {
                // A folder with a frame's name is reported when the frame is written.
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => {}
                moved => moved.writing(&path)?,
            }
        }
        Ok(())
    }

    fn move_into(self, folder: &Path, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_free = |to: &PathBuf| std::fs::symlink_metadata(to).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        let first = folder.join(&name);
        match self {
            _ if is_free(&first) => std::fs::rename(path, first),
            // An interrupted run has replaced a frame, and is replaced itself: the older frame is the one to keep.
            Aside::UntilReplaced => std::fs::remove_file(path),
            Aside::ForGood => {
                let others = (2..).map(|i| folder.join(format!("{i}-{name}")));
                others.into_iter().find(is_free).map_or(Ok(()), |to| std::fs::rename(path, to))
            }
        }
    }

    /// Removes the old frames of these numbers.
    pub fn forget(self, frames: &FrameFolder, numbers: impl Iterator<Item = u32>) {
        let folder = self.folder(frames);
        if !folder.is_dir()
            || hidden::check(&hidden::within(&frames.path())).and_then(|()| hidden::check(&folder)).is_err()
        {
            return;
        }
        for number in numbers {
            let path = frames.pattern.path(number);
            let _ = path.file_name().map(|name| std::fs::remove_file(folder.join(name)));
        }
        let _ = std::fs::remove_dir(&folder);
        let _ = std::fs::remove_dir(hidden::within(&frames.path()));
    }

    /// The number of files set aside.
    pub fn count(self, frames: &FrameFolder) -> usize {
        std::fs::read_dir(self.folder(frames)).map_or(0, Iterator::count)
    }
}
