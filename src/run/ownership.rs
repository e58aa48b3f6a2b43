//! Which run owns the frames of a folder: the manifest is checked again before each frame is written.

use crate::assets::files::{FileState, state};
use crate::error::Error;
use crate::output::OutputError;
use crate::output::store::atomic::folder_of;
use crate::output::store::manifest::{Manifest, ManifestError, NAME};
use crate::render::frames::FrameList;
use crate::scene::Pattern;
use crate::threads::lock;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

/// The name of a clip in its folder's journals.
pub fn clip(manifest: &Manifest) -> String {
    clip_of(&manifest.pattern, &manifest.hash)
}

/// The name of the clip of a scene with this hash, whose frames have these names.
pub fn clip_of(pattern: &str, hash: &str) -> String {
    format!("{pattern} {hash}")
}

/// The frames that a clip's manifest expects. None if the list is invalid.
pub fn planned(manifest: &Manifest) -> Option<FrameList> {
    FrameList::parse(&manifest.frames, u32::MAX).ok()
}

/// The frames that a clip owns now: the planned ones, without those that a run of another scene has taken. Existing
/// files outside this list belong to others. None if no frame is left, or if a list is invalid.
pub fn owned(manifest: &Manifest) -> Option<FrameList> {
    let planned = planned(manifest)?;
    if manifest.taken.is_empty() {
        return Some(planned);
    }
    planned.except(&FrameList::parse(&manifest.taken, u32::MAX).ok()?)
}

/// Writes into a clip's manifest that a run of another scene takes these frames. None if the clip owns no other frame.
pub fn take(mut theirs: Manifest, frames: &BTreeSet<u32>) -> Option<Manifest> {
    let rest = owned(&theirs)?.without(frames)?;
    theirs.taken = planned(&theirs)?.except(&rest).map_or_else(String::new, |taken| taken.to_string());
    Some(theirs)
}

/// The taken frames of a clip without these, which the clip renders again.
pub fn taken_back(theirs: &Manifest, frames: &FrameList) -> String {
    let taken = FrameList::parse(&theirs.taken, u32::MAX).ok();
    taken.and_then(|taken| taken.except(frames)).map_or_else(String::new, |taken| taken.to_string())
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
    // The state of the manifest's file at the last check, and the frames that the run owned.
    seen: Mutex<(Option<FileState>, Option<FrameList>)>,
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
            *seen = (now, manifest.as_ref().and_then(owned));
        }
        match seen.1.as_ref().is_some_and(|frames| frames.contains(frame)) {
            true => Ok(()),
            false => Err(OutputError::FolderTakenOver(folder)),
        }
    }
}
