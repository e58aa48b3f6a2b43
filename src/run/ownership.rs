//! Which run owns the frames of a folder: the manifest is checked again before each frame is written.

use crate::error::Error;
use crate::output::OutputError;
use crate::output::store::atomic::folder_of;
use crate::output::store::manifest::{Manifest, ManifestError, NAME};
use crate::render::frames::FrameList;
use crate::scene::Pattern;
use crate::system::file_number;
use crate::threads::lock;
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

/// The name of a clip in its folder's journals.
pub fn clip(manifest: &Manifest) -> String {
    format!("{} {}", manifest.pattern, manifest.hash)
}

/// The frames of a clip by its manifest; existing files outside this list belong to others. None if the list is
/// invalid.
pub fn listed(manifest: &Manifest) -> Option<FrameList> {
    FrameList::parse(&manifest.frames, u32::MAX).ok()
}

/// Refuses a folder whose manifest is of another scene.
pub fn expect_same(theirs: &Manifest, ours: &Manifest, folder: &Path) -> Result<(), Error> {
    let mut places = theirs.differences(ours);
    if places.is_empty() {
        places.extend(ours.odd_step(theirs));
    }
    if places.is_empty() { Ok(()) } else { Err(Error::OtherScene(folder.to_owned(), places)) }
}

/// Checks that frames still belong to a run. Another run may take over its folder, or some frames, meanwhile.
pub struct Ownership {
    pattern: Pattern,
    hash: String,
    // The state of the manifest's file at the last check, and the frames that it listed.
    seen: Mutex<(Option<FileState>, Option<FrameList>)>,
}

// Length, time of modification and the file's number: one of them changes when a file is replaced.
type FileState = (u64, Option<SystemTime>, u64);

fn state(path: &Path) -> Option<FileState> {
    let what = std::fs::metadata(path).ok()?;
    Some((what.len(), what.modified().ok(), file_number(path, &what)))
}

impl Ownership {
    /// The owner of frames of this pattern is the run whose manifest has this hash.
    pub fn new(pattern: Pattern, hash: String) -> Ownership {
        Ownership { pattern, hash, seen: Mutex::default() }
    }
    /// Fails if another run has taken the frame over. The manifest is read again only if its file has changed.
    pub fn check(&self, frame: u32) -> Result<(), OutputError> {
        let folder = folder_of(&self.pattern.path(0)).to_owned();
        let now = state(&folder.join(NAME));
        // A missing folder is no takeover. Writing the frame reports it.
        if now.is_none() && !folder.is_dir() {
            return Ok(());
        }
        let mut seen = lock(&self.seen);
        if now.is_none() || seen.0 != now {
            let manifest = match Manifest::read(&self.pattern) {
                Ok(manifest) => manifest.filter(|manifest| manifest.hash == self.hash),
                // An I/O error, such as a restarting file server, is no takeover.
                Err(ManifestError::Output(e)) => return Err(e),
                Err(_) => None,
            };
            *seen = (now, manifest.as_ref().and_then(listed));
        }
        match seen.1.as_ref().is_some_and(|frames| frames.contains(frame)) {
            true => Ok(()),
            false => Err(OutputError::FolderTakenOver(folder)),
        }
    }
}
