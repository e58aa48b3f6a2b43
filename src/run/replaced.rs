//! Frames of another or an unknown scene that a run replaces. They are set aside in the hidden folder until the new ones are complete:
//! an interrupted run has lost nothing.

use crate::error::Error;
use crate::language::msg;
use crate::output::NameFile;
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::store::run_lock::RunLock;
use crate::output::video::segments;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "replaced";

fn folder_of(frames: &FrameFolder) -> PathBuf {
    hidden::within(&frames.path()).join(NAME)
}

/// Moves the frames of another scene, whose manifest is given, or of an unknown one out of the way. Fails while a run of that scene
/// goes on.
pub fn set_aside(frames: &FrameFolder, theirs: Option<&Manifest>, numbers: BTreeSet<u32>) -> Result<(), Error> {
    let (path, hidden) = (frames.path(), hidden::within(&frames.path()));
    if let Some(theirs) = theirs {
        if RunLock::remove(&hidden, &theirs.hash).is_none() {
            return Err(Error::Incomplete(msg!(
                "a run renders another scene into {path} now: wait for its end, or give another folder",
                path = path.display()
            )));
        }
        segments::forget(&hidden, &theirs.hash);
    }
    if numbers.is_empty() {
        return Ok(());
    }
    let folder = hidden::make(&hidden, Some(NAME)).writing(&hidden)?;
    for number in numbers {
        let path = frames.pattern.path(number);
        match move_into(&folder, &path) {
            // A folder with a frame's name is reported when the frame is written.
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => {}
            moved => moved.writing(&path)?,
        }
    }
    Ok(())
}

fn move_into(folder: &Path, path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let to = folder.join(path.file_name().unwrap_or_default());
    match std::fs::symlink_metadata(&to) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => std::fs::rename(path, to),
        // An interrupted run has replaced a frame, and is replaced itself: the older frame is the one to keep.
        _ => std::fs::remove_file(path),
    }
}

/// Removes the old frames of these numbers.
pub fn forget(frames: &FrameFolder, numbers: impl Iterator<Item = u32>) {
    let (hidden, folder) = (hidden::within(&frames.path()), folder_of(frames));
    if !folder.is_dir() || hidden::check(&hidden).and_then(|()| hidden::check(&folder)).is_err() {
        return;
    }
    for number in numbers {
        let path = frames.pattern.path(number);
        let _ = path.file_name().map(|name| std::fs::remove_file(folder.join(name)));
    }
    let _ = std::fs::remove_dir(&folder);
}

/// The folder of the frames that are set aside, and their number; None if there are none.
pub fn left(frames: &FrameFolder) -> Option<(PathBuf, usize)> {
    let folder = folder_of(frames);
    let count = std::fs::read_dir(&folder).map_or(0, Iterator::count);
    (count > 0).then_some((folder, count))
}
