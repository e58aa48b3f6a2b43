//! Whose frames are in a folder: what its manifest lists, looked at again before each frame is written.

use crate::error::Error;
use crate::output::OutputError;
use crate::output::store::atomic::folder_of;
use crate::output::store::manifest::{Manifest, ManifestError, NAME};
use crate::render::frames::FrameList;
use crate::scene::Pattern;
use crate::threads::lock;
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

/// Names a clip among others in its folder.
pub fn clip(manifest: &Manifest) -> String {
    format!("{} {}", manifest.pattern, manifest.hash)
}

/// The frames that a clip is to have: of those that are there, the ones that are its own. None where that makes no sense.
pub fn listed(manifest: &Manifest) -> Option<FrameList> {
    FrameList::parse(&manifest.frames, u32::MAX).ok()
}

/// Refuses a folder whose manifest is of another scene than ours.
pub fn expect_same(theirs: &Manifest, ours: &Manifest, folder: &Path) -> Result<(), Error> {
    let mut places = theirs.differences(ours);
    if places.is_empty() {
        places.extend(ours.odd_step(theirs));
    }
    if places.is_empty() { Ok(()) } else { Err(Error::OtherScene(folder.to_owned(), places)) }
}

/// Whether frames are still those of a run that has begun: another one may take its folder over meanwhile, or some of its frames.
pub struct Ownership {
    pattern: Pattern,
    hash: String,
    // The manifest's file as it was looked at last, and the frames that it told of.
    seen: Mutex<(Option<FileState>, Option<FrameList>)>,
}

// What changes when a file is replaced.
type FileState = (u64, Option<SystemTime>, u64);

fn state(path: &Path) -> Option<FileState> {
    let what = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&what);
    #[cfg(not(unix))]
    let number = 0;
    Some((what.len(), what.modified().ok(), number))
}

impl Ownership {
    /// Those of a pattern, as a manifest of that hash has them.
    pub fn new(pattern: Pattern, hash: String) -> Ownership {
        Ownership { pattern, hash, seen: Mutex::default() }
    }
    /// Looks whether a frame is still that run's. The manifest is read again only where its file is another one.
    pub fn check(&self, frame: u32) -> Result<(), OutputError> {
        let folder = folder_of(&self.pattern.path(0)).to_owned();
        let now = state(&folder.join(NAME));
        // A folder that is gone is another matter: writing will say so.
        if now.is_none() && !folder.is_dir() {
            return Ok(());
        }
        let mut seen = lock(&self.seen);
        if now.is_none() || seen.0 != now {
            let manifest = match Manifest::read(&self.pattern) {
                Ok(manifest) => manifest.filter(|manifest| manifest.hash == self.hash),
                // A server that starts anew takes nothing over.
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
