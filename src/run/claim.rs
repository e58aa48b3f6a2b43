//! A run's claim on the folder of its frames: what the folder holds, what is left to render, the manifest, and the lock that runs
//! of one scene share.

use super::folder::{FolderState, expect_same, extended};
use super::journal;
use super::replaced;
use super::request::Existing;
use crate::error::Error;
use crate::language::msg;
use crate::output::OutputError;
use crate::output::store::folder::{FrameFolder, sweep};
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::store::run_lock::RunLock;
use crate::render::frames::FrameList;
use crate::render::stats::Progress;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub struct Claim {
    folder: FrameFolder,
    manifest: Manifest,
    // The frames of this run.
    part: FrameList,
    // All frames of the clip that this run knows of.
    all: FrameList,
    existing: Existing,
    // Whether frames of another or an unknown scene are set aside.
    replaces: bool,
    // None before the run begins, and for stills.
    lock: Option<RunLock>,
    has_begun: bool,
    /// The frames to render; None if all exist.
    pub remaining: Option<FrameList>,
}

// Frames as a manifest lists them.
fn listed(frames: BTreeSet<u32>) -> String {
    FrameList::of_numbers(frames.into_iter()).map_or_else(String::new, |list| list.to_string())
}

impl Claim {
    /// Inspects the folder and changes nothing in it. `is_asked`: whether the user has asked to replace what is there. `is_whole`: whether
    /// the run renders the whole clip.
    pub fn inspect(
        folder: FrameFolder,
        manifest: Manifest,
        (part, all): (&FrameList, &FrameList),
        (existing, is_asked, is_whole): (Existing, bool, bool),
    ) -> Result<Claim, Error> {
        // The folder is listed before the manifest is read: a run lists its frames in the manifest before it writes them.
        let there = folder.existing()?;
        let theirs = Manifest::read(&folder.pattern)?;
        let state = FolderState::of(&folder, &there, theirs.as_ref(), (&manifest, part));
        let is_overwritten = existing == Existing::Overwritten;
        let replaces = is_overwritten
            && match state {
                FolderState::Empty | FolderState::Same => false,
                FolderState::OtherScene(_) => is_asked || is_whole || part.among(&there).len() == there.len(),
                FolderState::Unknown(..) => is_asked || folder.pattern.is_of_one(),
            };
        if !replaces {
            state.expect_same(&folder)?;
        }
        if let Some(first) = part.iter().find(|n| existing == Existing::Refused && there.contains(n)) {
            return Err(Error::usage(msg!(
                "{path} already exists: --resume keeps complete frames and renders the others, --overwrite renders all",
                path = folder.pattern.path(first).display()
            )));
        }
        if is_overwritten {
            folder.expect_writable(part.iter().filter(|n| there.contains(n)))?;
        }
        let is_kept = |n: &u32| existing == Existing::Kept && there.contains(n) && folder.is_whole(*n);
        let remaining = FrameList::of_numbers(part.iter().filter(|n| !is_kept(n)));
        let (part, all) = (part.clone(), all.clone());
        Ok(Claim { folder, manifest, part, all, existing, replaces, lock: None, has_begun: false, remaining })
    }

    /// Brings the manifest of frames that all exist up to date: the frame rate, which `stitch` needs, and the list of these frames, which
    /// a run on a full disk could not write.
    pub fn refresh(&self) -> Result<(), Error> {
        let (hash, fps, pattern) = (&self.manifest.hash, self.manifest.fps, &self.folder.pattern);
        let there = self.folder.existing()?;
        let hashes = self.missing_hashes(&there, &BTreeMap::new())?;
        let written = listed(there);
        let is_other = |theirs: &Manifest| {
            let is_of_others = theirs.fps.to_bits() != fps.to_bits() || theirs.written != written;
            theirs.hash == *hash && (is_of_others || !hashes.is_empty())
        };
        if !self.is_still() && Manifest::read(pattern)?.as_ref().is_some_and(is_other) {
            let changed = |mut theirs: Manifest| match is_other(&theirs) {
                true => {
                    theirs.hashes.extend(hashes.clone());
                    Manifest { fps, written: written.clone(), ..theirs }
                }
                false => theirs,
            };
            Manifest::update(pattern, |theirs| Ok::<_, Error>(theirs.map(changed)))?;
        }
        Ok(())
    }

    // The hashes of existing frames that neither the manifest nor this run knows, by the journals: of runs that go on or were killed.
    fn missing_hashes(
        &self,
        there: &BTreeSet<u32>,
        own: &BTreeMap<u32, String>,
    ) -> Result<BTreeMap<u32, String>, Error> {
        let Some(theirs) = Manifest::read(&self.folder.pattern)?.filter(|_| !self.is_still()) else {
            return Ok(BTreeMap::new());
        };
        let is_missing = |n: &u32| there.contains(n) && !own.contains_key(n) && !theirs.hashes.contains_key(n);
        if !there.iter().any(is_missing) {
            return Ok(BTreeMap::new());
        }
        let mut found = journal::hashes(&self.folder.path(), &self.clip());
        found.retain(|n, _| is_missing(n));
        Ok(found)
    }

    // A picture whose name has no number is in no manifest.
    fn is_still(&self) -> bool {
        self.folder.pattern.is_of_one()
    }

    /// Whether frames that another run writes meanwhile are kept.
    pub fn is_shared(&self) -> bool {
        self.existing != Existing::Overwritten
    }

    /// Removes temporary files of dead runs.
    pub fn clean_up(&self, progress: &mut dyn Progress) {
        let path = self.folder.path();
        let swept = sweep(&path);
        if swept > 0 {
            progress.remark(&msg!(
                "{path}: {count} unfinished files of earlier runs removed",
                path = path.display(),
                count = swept
            ));
        }
    }

    /// Prepares the folder: removes temporary files of dead runs, sets frames of other scenes aside, writes the manifest and holds the
    /// lock of this scene's runs until the run ends.
    pub fn begin(&mut self, progress: &mut dyn Progress) -> Result<(), Error> {
        self.has_begun = true;
        self.clean_up(progress);
        if self.is_still() {
            return Ok(());
        }
        let (folder, ours, replaces) = (&self.folder, &mut self.manifest, self.replaces);
        let (path, hidden) = (folder.path(), hidden::within(&folder.path()));
        Manifest::update(&folder.pattern, |theirs| {
            let mut same = theirs.as_ref().filter(|theirs| expect_same(theirs, ours, &path).is_ok());
            // Another run may have come first. The folder is listed only where it matters, as all shards of a farm wait here.
            if replaces || same.is_none() {
                let there = folder.existing()?;
                match FolderState::of(folder, &there, theirs.as_ref(), (ours, &self.part)) {
                    FolderState::Empty | FolderState::Same => {}
                    state if !replaces => state.expect_same(folder)?,
                    _ => {
                        replaced::set_aside(folder, theirs.as_ref(), there)?;
                        same = None;
                    }
                }
            }
            for (frame, mark) in same.iter().flat_map(|theirs| &theirs.steps) {
                ours.steps.entry(*frame).or_insert_with(|| mark.clone());
            }
            ours.hashes = same.map_or_else(BTreeMap::new, |theirs| theirs.hashes.clone());
            // Runs over other frames of the same clip extend the list of frames.
            ours.frames = same.map_or_else(|| self.all.clone(), |theirs| extended(theirs, &self.all)).to_string();
            self.lock = Some(RunLock::share(&hidden, &ours.hash)?);
            Ok(Some(ours.clone()))
        })
    }

    /// Writes the finished frames, and the hashes of this run's, into the manifest. Returns those frames of this run that are missing or incomplete.
    pub fn end(&mut self, own: &BTreeMap<u32, String>) -> Result<Option<FrameList>, Error> {
        let path = self.folder.path();
        // A deleted folder is not made again.
        if !self.has_begun || !path.is_dir() {
            return Ok(None);
        }
        let mut there = self.folder.existing()?;
        let (whole, broken): (BTreeSet<u32>, BTreeSet<u32>) =
            self.part.among(&there).into_iter().partition(|&n| self.folder.is_whole(n));
        there.retain(|n| !broken.contains(n));
        let lost = self.part.without(&whole);
        if lost.is_none() {
            replaced::forget(&self.folder, self.part.iter());
        }
        if self.is_still() {
            return Ok(lost);
        }
        let mut hashes = self.missing_hashes(&there, own)?;
        hashes.extend(own.clone());
        let (written, hash) = (listed(there), self.manifest.hash.clone());
        let mut is_taken = true;
        Manifest::update(&self.folder.pattern, |theirs| {
            drop(self.lock.take());
            RunLock::sweep(&hidden::within(&path));
            // Meanwhile another run may have extended the list. Where a file system has no locks, a run of another scene may have
            // taken the folder.
            is_taken = theirs.as_ref().is_none_or(|theirs| theirs.hash != hash);
            Ok::<_, Error>(theirs.map(|mut theirs| match theirs.hash == hash {
                true => {
                    theirs.hashes.extend(hashes);
                    Manifest { written, ..theirs }
                }
                false => theirs,
            }))
        })?;
        match is_taken {
            true => Err(OutputError::FolderTakenOver(path).into()),
            false => Ok(lost),
        }
    }

    /// The clip's name in journals.
    pub fn clip(&self) -> String {
        self.manifest.clip()
    }

    /// The folder for the journal; None if the run keeps none.
    pub fn journal(&self) -> Option<PathBuf> {
        (!self.is_still()).then(|| self.folder.path())
    }
}
