//! A run's claim on the folder of its frames: inspects what exists, lists what is left to render, and keeps the
//! manifest up to date.

use super::ownership::{Ownership, clip, expect_same, owned, planned, take, taken_back};
use super::replaced::Aside;
use super::request::Existing;
use crate::error::Error;
use crate::language::msg;
use crate::output::OutputError;
use crate::output::files::Guard;
use crate::output::formats::Format;
use crate::output::store::folder::{FrameFolder, sweep};
use crate::output::store::hidden;
use crate::output::store::manifest::Manifest;
use crate::output::video::segments::forget;
use crate::render::frames::FrameList;
use crate::render::stats::Progress;
use crate::scene::Scene;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

pub struct Claim {
    folder: FrameFolder,
    manifest: Manifest,
    // The frames of this run.
    part: FrameList,
    // All frames of the clip that this run knows of.
    all: FrameList,
    // Existing frames of another or an unknown scene, which this run replaces.
    stale: Vec<(u32, Aside)>,
    existing: Existing,
    // Whether a manifest lists the frames. A single picture gets no manifest of its own. Frames among those of
    // another scene have none: a manifest could not tell them apart.
    is_recorded: bool,
    // Whether this run replaces frames of another or an unknown scene, and a manifest could take them for its own.
    takes_over: bool,
    // Existing frames of another scene that stay.
    foreign: Option<FrameList>,
    has_begun: bool,
    /// The frames to render; None if all exist.
    pub remaining: Option<FrameList>,
}

pub fn folder_of(scene: &Scene) -> Result<FrameFolder, Error> {
    let files = &scene.output.files;
    let format =
        Format::of(&files.extension()).ok_or_else(|| Error::usage(msg!("no format writes {name}", name = files)))?;
    let (width, height) = (scene.render.width, scene.render.height);
    if width.max(height) > format.largest {
        let (extension, max) = (format.extension, format.largest);
        return Err(Error::usage(msg!(
            "a .{extension} has at most {max} pixels a side, not {width} x {height}",
            extension,
            max,
            width,
            height
        )));
    }
    Ok(FrameFolder { pattern: files.clone(), format, size: (width, height) })
}

/// Whether files of this format keep all that a video needs, so that a video made from them has the same bytes as one
/// made during rendering.
pub fn is_lossless_source(format: &Format, bits: Option<u32>, is_deep: bool, has_alpha: bool) -> bool {
    let bits = bits.unwrap_or(format.bits[0]);
    if has_alpha && !format.has_alpha {
        return false;
    }
    match (is_deep, format.has_light()) {
        (true, true) => bits == 32,
        (false, false) => format.is_exact && bits == 8,
        _ => false,
    }
}

/// Refuses formats whose files do not hold linear light, which a video of ten bits needs.
pub fn require_linear(format: &Format) -> Result<(), Error> {
    if format.has_light() {
        return Ok(());
    }
    Err(Error::usage(msg!(
        "a video of ten bits needs linear light, and .{extension} files are stored after the tone curve: render .exr files",
        extension = format.extension
    )))
}

// Longer lists are not sorted.
const MAX_SORTED: usize = 1 << 20;

// The union of two runs' frames of the same clip. If one of the two lists has all frames, it is returned as it is;
// otherwise the union is sorted.
fn merged(theirs: &Manifest, all: &FrameList) -> FrameList {
    let Ok(both) = FrameList::parse(&format!("{},{all}", theirs.frames), u32::MAX) else { return all.clone() };
    let is_theirs = both.to_string() == theirs.frames;
    match both.len() {
        len if len == all.len() && !is_theirs => all.clone(),
        len if is_theirs || len > MAX_SORTED => both,
        _ => FrameList::of_numbers(both.iter().collect::<BTreeSet<_>>().into_iter()).unwrap_or(both),
    }
}

// Refuses to keep, or to render over, a picture of another or an unknown scene. A single picture has no manifest, so only
// its own text names its scene; that text does not know the content of all time steps of particles.
fn expect_own_stills(folder: &FrameFolder, manifest: &Manifest, existing: &BTreeSet<u32>) -> Result<(), Error> {
    let origin = manifest.origin();
    match existing.iter().copied().find(|&n| !manifest.steps.is_empty() || !folder.is_of(n, &origin)) {
        None => Ok(()),
        Some(n) => Err(Error::usage(msg!(
            "{path} already exists, and it does not say that it is this picture of this scene: give another name, or --overwrite to render it again",
            path = folder.pattern.path(n).display()
        ))),
    }
}

// Frames as a manifest lists them.
fn listed(frames: BTreeSet<u32>) -> String {
    FrameList::of_numbers(frames.into_iter()).map_or_else(String::new, |list| list.to_string())
}

impl Claim {
    /// Inspects the folder and changes nothing in it. `is_asked`: whether the user has asked to replace what is there.
    pub fn inspect(
        folder: FrameFolder,
        manifest: Manifest,
        (part, all): (&FrameList, &FrameList),
        (existing, is_asked): (Existing, bool),
    ) -> Result<Claim, Error> {
        let path = folder.path();
        // The folder is listed before the manifest is read: a run lists its frames in the manifest before it writes
        // them.
        let there = folder.existing()?;
        let theirs = Manifest::read(&folder.pattern)?;
        if let (Some(theirs), true) = (&theirs, existing != Existing::Overwritten) {
            expect_same(theirs, &manifest, &path)?;
        }
        let is_ours = theirs.as_ref().is_some_and(|theirs| theirs.hash == manifest.hash);
        // Existing frames of this clip, by its manifest.
        let of_clip = theirs.as_ref().filter(|_| is_ours).and_then(owned);
        let known = of_clip.map(|frames| frames.among(&there)).unwrap_or_default();
        let mine = |n: &u32| there.contains(n);
        let (mut remaining, mut stale, mut foreign) = (Some(part.clone()), Vec::new(), None);
        let is_of_one = folder.pattern.is_of_one();
        let is_recorded = !is_of_one && (theirs.is_some() || all.len() > 1 || existing == Existing::Kept);
        // Without a manifest, the scene of existing frames is unknown. A run does not start among them.
        let vouches_for = |unknown: Option<u32>| match unknown.filter(|_| theirs.is_none() && is_recorded) {
            None => Ok(()),
            Some(n) => Err(Error::usage(msg!(
                "{path} has frames, such as {frame}, and no manifest.json, so their scene is unknown: give another folder, remove these frames, or --overwrite",
                path = path.display(),
                frame = n
            ))),
        };
        match existing {
            Existing::Refused => {
                if let Some(first) = part.iter().find(mine) {
                    return Err(Error::usage(msg!(
                        "{path} already exists: --resume keeps complete frames and renders the others, --overwrite renders all",
                        path = folder.pattern.path(first).display()
                    )));
                }
                vouches_for(there.first().copied())?;
            }
            Existing::Overwritten => {
                // If this run is interrupted, stale frames must not be taken for its own. So it sets them aside first.
                // Without a manifest, nothing is taken for its own.
                let is_stale = |n: &u32| {
                    let step = theirs.as_ref().and_then(|theirs| theirs.steps.get(n));
                    !known.contains(n) || step != manifest.steps.get(n)
                };
                let of_polyfly = theirs.as_ref().and_then(owned);
                let aside = |n: u32| match is_asked || of_polyfly.as_ref().is_some_and(|frames| frames.contains(n)) {
                    true => (n, Aside::UntilReplaced),
                    false => (n, Aside::ForGood),
                };
                let mut old: BTreeSet<u32> = part.iter().filter(mine).filter(is_stale).collect();
                if !is_ours {
                    foreign = FrameList::of_numbers(there.difference(&old).copied());
                }
                old.retain(|_| is_recorded);
                stale = old.into_iter().map(aside).collect();
                let read_only = |n: &u32| {
                    std::fs::symlink_metadata(folder.pattern.path(*n)).is_ok_and(|m| m.permissions().readonly())
                };
                if let Some(n) = part.iter().filter(mine).find(read_only) {
                    let error = std::io::Error::new(std::io::ErrorKind::PermissionDenied, "it is read-only");
                    return Err(OutputError::Write(folder.pattern.path(n), error).into());
                }
            }
            Existing::Kept => {
                vouches_for(there.first().copied())?;
                // A folder with a frame's name is not a foreign frame. Writing the frame reports it.
                let is_file =
                    |n: u32| std::fs::symlink_metadata(folder.pattern.path(n)).is_ok_and(|what| !what.is_dir());
                let unknown = |n: &u32| theirs.is_some() && !known.contains(n) && is_file(*n);
                let odd = part.among(&there).into_iter().find(unknown);
                if let (Some(n), Some(theirs)) = (odd, &theirs) {
                    if planned(theirs).is_some_and(|planned| planned.contains(n)) {
                        let (path, frames) = (folder.pattern.path(n), &theirs.taken);
                        return Err(Error::usage(msg!(
                            "{path} is a frame of another scene, whose run has replaced frames {frames} of this clip: give another folder, or --overwrite to render them again",
                            path = path.display(),
                            frames
                        )));
                    }
                    return Err(Error::usage(msg!(
                        "{path} is not a frame of this clip: another run wrote it; remove such files, or give --overwrite",
                        path = folder.pattern.path(n).display()
                    )));
                }
                remaining = FrameList::of_numbers(part.iter().filter(|n| !(mine(n) && folder.is_whole(*n))));
                if is_of_one {
                    expect_own_stills(&folder, &manifest, &part.among(&there))?;
                }
            }
        }
        let takes_over = existing == Existing::Overwritten && !is_ours && is_recorded;
        let is_recorded = is_recorded && foreign.is_none();
        Ok(Claim {
            folder,
            manifest,
            part: part.clone(),
            all: all.clone(),
            stale,
            existing,
            is_recorded,
            takes_over,
            foreign,
            has_begun: false,
            remaining,
        })
    }

    /// Whether `--resume` can continue this run after an interruption.
    pub fn can_be_resumed(&self) -> bool {
        self.foreign.is_none()
    }

    /// A check that each frame still belongs to this run, called before the frame is written; None for frames without
    /// a manifest.
    pub fn ownership(&self) -> Option<Guard> {
        let owner = || Ownership::new(self.folder.pattern.clone(), self.manifest.hash.clone());
        self.is_recorded.then(owner).map(|owner| -> Guard { Arc::new(move |frame| owner.check(frame)) })
    }

    /// Brings the manifest of frames that all exist up to date: the frame rate, which `stitch` needs, and the list of these frames, which
    /// a run on a full disk could not write.
    pub fn refresh(&self) -> Result<(), Error> {
        let (hash, fps, pattern) = (&self.manifest.hash, self.manifest.fps, &self.folder.pattern);
        let written = listed(self.folder.existing()?);
        let is_other = |theirs: &Manifest| {
            theirs.hash == *hash && (theirs.fps.to_bits() != fps.to_bits() || theirs.written != written)
        };
        if self.is_recorded && Manifest::read(pattern)?.as_ref().is_some_and(is_other) {
            let changed = |theirs: Manifest| match is_other(&theirs) {
                true => Manifest { fps, written: written.clone(), ..theirs },
                false => theirs,
            };
            Manifest::update(pattern, |theirs| Ok::<_, Error>(theirs.map(changed)))?;
        }
        Ok(())
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

    /// Prepares the folder: removes temporary files of dead runs, sets stale frames aside and writes the manifest.
    pub fn begin(&mut self, progress: &mut dyn Progress) -> Result<(), Error> {
        self.has_begun = true;
        self.clean_up(progress);
        let path = self.folder.path();
        for aside in [Aside::UntilReplaced, Aside::ForGood] {
            let stale: Vec<u32> = self.stale.iter().filter(|(_, to)| *to == aside).map(|(n, _)| *n).collect();
            aside.set(&self.folder, stale.iter().copied())?;
            if aside == Aside::ForGood && !stale.is_empty() {
                let to = aside.folder(&self.folder);
                progress.remark(&msg!(
                    "files that no manifest lists were in the way: {count}; they are in {folder}",
                    count = stale.len(),
                    folder = to.display()
                ));
            }
        }
        let pattern = &self.folder.pattern;
        if let Some(foreign) = &self.foreign {
            // The other scene's manifest lists the replaced frames as taken; its other frames stay its own.
            let taken: BTreeSet<u32> = self.part.iter().collect();
            Manifest::update(pattern, |theirs| Ok::<_, Error>(theirs.and_then(|theirs| take(theirs, &taken))))?;
            // A single picture is written at once, so there is nothing to resume.
            if self.part.len() > 1 {
                let path = path.display();
                progress.remark(&msg!(
                    "{path} keeps frames {frames} of another scene; no manifest lists the new ones, so --resume cannot keep them",
                    path,
                    frames = foreign,
                ));
            }
        }
        if !self.is_recorded {
            return self.set_late_aside();
        }
        let (ours, all, takes_over) = (&mut self.manifest, &self.all, &mut self.takes_over);
        Manifest::update(pattern, |theirs| {
            // Runs over other frames of the same clip extend the list of frames.
            let same = theirs.as_ref().filter(|theirs| theirs.hash == ours.hash);
            // Another run of the same scene may have written this manifest a moment ago.
            *takes_over &= same.is_none();
            if same.is_some_and(|theirs| ours.odd_step(theirs).is_some()) {
                forget(&hidden::within(&path), &ours.hash);
            }
            for (frame, mark) in same.iter().flat_map(|theirs| &theirs.steps) {
                ours.steps.entry(*frame).or_insert_with(|| mark.clone());
            }
            ours.taken = same.map_or_else(String::new, |theirs| taken_back(theirs, &self.part));
            ours.frames = same.map_or_else(|| all.clone(), |theirs| merged(theirs, all)).to_string();
            if let Some(theirs) = theirs.filter(|t| t.hash != ours.hash) {
                if self.existing != Existing::Overwritten {
                    return Err(Error::OtherScene(path, theirs.differences(ours)));
                }
                forget(&hidden::within(&path), &theirs.hash);
            }
            Ok(Some(ours.clone()))
        })?;
        self.set_late_aside()
    }

    // Until this run's manifest was written, a run of the other scene could still write frames. This sets them aside.
    fn set_late_aside(&self) -> Result<(), Error> {
        if self.takes_over {
            Aside::UntilReplaced.set(&self.folder, self.part.among(&self.folder.existing()?))?;
        }
        Ok(())
    }

    /// The folder of the frames that this run has not replaced yet, and their number; None if there are none.
    pub fn left_aside(&self) -> Option<(PathBuf, usize)> {
        let aside = Aside::UntilReplaced;
        Some((aside.folder(&self.folder), aside.count(&self.folder))).filter(|(_, count)| *count > 0)
    }

    /// Writes the finished frames into the manifest. Returns those frames of this run that are missing or incomplete.
    pub fn end(&mut self) -> Result<Option<FrameList>, Error> {
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
            Aside::UntilReplaced.forget(&self.folder, self.part.iter());
        }
        if !self.is_recorded {
            return Ok(lost);
        }
        let written = listed(there);
        let hash = self.manifest.hash.clone();
        let mut is_taken = true;
        Manifest::update(&self.folder.pattern, |theirs| {
            // Meanwhile another run may have extended the list, or a run of another scene may have taken over the
            // folder or some of its frames.
            is_taken = !theirs.as_ref().is_some_and(|theirs| {
                theirs.hash == hash && owned(theirs).is_some_and(|all| self.part.iter().all(|n| all.contains(n)))
            });
            Ok::<_, Error>(theirs.map(|theirs| match theirs.hash == hash {
                true => Manifest { written, ..theirs },
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
        clip(&self.manifest)
    }

    /// The folder for the journal; None if the run keeps none.
    pub fn journal(&self) -> Option<std::path::PathBuf> {
        self.is_recorded.then(|| self.folder.path())
    }
}
