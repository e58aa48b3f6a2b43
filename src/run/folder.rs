//! A folder of frames with its manifest: the frames that are expected, the complete ones, and their scene.

use super::ownership::{expect_same, owned};
use crate::assets::files::RecordedFiles;
use crate::error::Error;
use crate::language::msg;
use crate::output::formats::Format;
use crate::output::store::atomic;
use crate::output::store::folder::FrameFolder;
use crate::output::store::manifest::{Manifest, ManifestError, NAME};
use crate::render::frames::FrameList;
use crate::scene::limits::MAX_FRAMES;
use crate::scene::{Pattern, Scene};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub struct RecordedFolder {
    pub folder: FrameFolder,
    /// The frames that the manifest expects.
    pub frames: FrameList,
    // Those that the clip owns now: runs of another scene may have taken some. None if it owns none.
    owned: Option<FrameList>,
    pub manifest: Manifest,
}

/// The expected frames whose files exist.
pub struct ExistingFrames {
    pub whole: BTreeSet<u32>,
    /// The clip's own frames that are incomplete.
    pub broken: BTreeSet<u32>,
    /// Pictures of another scene, whose run has replaced frames of this clip.
    pub replaced: BTreeSet<u32>,
}

impl ExistingFrames {
    /// The frames that nothing is to be rendered for: complete ones, and those of another scene.
    pub fn settled(&self) -> BTreeSet<u32> {
        self.whole.union(&self.replaced).copied().collect()
    }

    /// Fails if a run of another scene has replaced frames.
    pub fn expect_own(&self, folder: &RecordedFolder) -> Result<(), Error> {
        let Some(list) = FrameList::of_numbers(self.replaced.iter().copied()) else { return Ok(()) };
        let (path, count, all) = (folder.folder.path(), self.replaced.len(), folder.frames.len());
        Err(Error::incomplete(msg!(
            "{count} of {all} frames in {path} were replaced by another scene: {frames}; --overwrite renders them again",
            path = path.display(),
            count,
            all,
            frames = list
        )))
    }
}

impl RecordedFolder {
    /// Opens a folder, or one pattern of a folder that has frames of several patterns.
    pub fn open(path: &Path) -> Result<RecordedFolder, Error> {
        RecordedFolder::found(path, false)
    }

    /// The same for jobs that wait for the frames of others: a folder that is not there is one that has no frames yet.
    pub fn awaited(path: &Path) -> Result<RecordedFolder, Error> {
        RecordedFolder::found(path, true)
    }

    fn found(path: &Path, is_awaited: bool) -> Result<RecordedFolder, Error> {
        let name = path.display();
        let not_utf8 = || Error::usage(msg!("{name}: the name is not UTF-8", name));
        let text = path.to_str().ok_or_else(not_utf8)?;
        let (folder, asked) = match Pattern::parse(text) {
            Ok((pattern, false)) => (atomic::folder_of(path), Some(pattern)),
            _ => (path, None),
        };
        if asked.is_none() && path.is_file() {
            return Err(Error::usage(msg!(
                "{name} is a file: expected a folder of frames, or their pattern",
                name = text
            )));
        }
        if !folder.exists() {
            let none = msg!("there is no folder {path}", path = folder.display());
            return Err(if is_awaited { Error::incomplete(none) } else { Error::usage(none) });
        }
        let mut all = Manifest::all(folder)?;
        let is_asked =
            |m: &Manifest, asked: &Pattern| Pattern::parse(&m.pattern).is_ok_and(|(p, _)| p.key() == asked.key());
        all.retain(|m| asked.as_ref().is_none_or(|asked| is_asked(m, asked)));
        let several = all.len() > 1;
        let Some(manifest) = all.pop().filter(|_| !several) else {
            let names = all.iter().map(|m| format!("{}/{}", folder.display(), m.pattern)).collect::<Vec<_>>();
            return Err(match several {
                true => Error::usage(msg!(
                    "{name} has frames of several patterns: give one of them, such as {names}",
                    name = text,
                    names = names.join(", ")
                )),
                false if !has_pictures(folder, asked.as_ref()) => Error::incomplete(msg!(
                    "{path} has no {manifest}: no run has written frames there",
                    path = text,
                    manifest = NAME
                )),
                false => {
                    let pattern = folder.join("%04d.png");
                    Error::usage(msg!(
                        "{name} has pictures, but no {manifest}, so their scene is unknown; `polyfly stitch` makes a video of them by a pattern such as {pattern}",
                        name = text,
                        manifest = NAME,
                        pattern = pattern.display()
                    ))
                }
            });
        };
        let wrong = |what: &str| ManifestError::Foreign(folder.join(NAME), format!("`{what}` is invalid"));
        let (pattern, _) = Pattern::parse(&manifest.pattern).map_err(|_| wrong("pattern"))?;
        let format = Format::of(&pattern.extension()).ok_or_else(|| wrong("pattern"))?;
        let frames = FrameList::parse(&manifest.frames, MAX_FRAMES).map_err(|_| wrong("frames"))?;
        let folder = FrameFolder { pattern: pattern.below(folder), format, size: manifest.size.into() };
        Ok(RecordedFolder { folder, frames, owned: owned(&manifest), manifest })
    }

    /// Inspects the existing files of the expected frames.
    pub fn inspect(&self) -> Result<ExistingFrames, Error> {
        let is_owned = |n: &u32| self.owned.as_ref().is_some_and(|owned| owned.contains(*n));
        let (own, replaced) =
            self.frames.among(&self.folder.existing()?).into_iter().partition::<BTreeSet<u32>, _>(is_owned);
        let (whole, broken) = own.into_iter().partition(|&n| self.folder.is_whole(n));
        Ok(ExistingFrames { whole, broken, replaced })
    }

    /// The folder with these expected frames instead of those of the manifest.
    pub fn expecting(self, frames: FrameList) -> RecordedFolder {
        RecordedFolder { frames, ..self }
    }

    /// Limits the folder to these frames, in the syntax of `--frames`.
    pub fn only(mut self, frames: Option<&str>) -> Result<RecordedFolder, Error> {
        if let Some(text) = frames {
            let total = self.manifest.resolved().map_or(MAX_FRAMES, |scene| scene.output.frames);
            self.frames = FrameList::read(text, total)
                .map_err(|e| Error::usage(msg!("{what}: {why}", what = "--frames", why = e)))?;
        }
        Ok(self)
    }

    /// Refuses a folder whose manifest has another hash, if one is given.
    pub fn expect_hash(&self, hash: Option<&str>) -> Result<(), Error> {
        match hash.is_none_or(|hash| hash == self.manifest.hash) {
            true => Ok(()),
            false => Err(Error::OtherScene(self.folder.path(), vec!["the hash of its manifest".into()])),
        }
    }

    /// The shards, from 1, that lack a frame. `whole` are the frames that they need not render.
    pub fn open_shards(&self, whole: &BTreeSet<u32>, shards: u32) -> Option<FrameList> {
        let (total, parts) = (self.frames.len() as u64, u64::from(shards));
        // The inverse of FrameList::part.
        let part = |place: u64| ((place + 1) * parts).div_ceil(total) - 1;
        let missing = (0_u64..).zip(self.frames.iter()).filter(|(_, n)| !whole.contains(n));
        let open: BTreeSet<u32> = missing.map(|(place, _)| part(place) as u32 + 1).collect();
        FrameList::of_numbers(open.into_iter())
    }
}

// Whether the folder has pictures of this pattern, or any pictures if no pattern is given.
fn has_pictures(folder: &Path, asked: Option<&Pattern>) -> bool {
    if let Some(pattern) = asked {
        let format = Format::of(&pattern.extension());
        let there = format.map(|format| FrameFolder { pattern: pattern.clone(), format, size: (0, 0) }.existing());
        return there.is_some_and(|there| there.is_ok_and(|there| !there.is_empty()));
    }
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let extension = |name: PathBuf| name.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    files.into_iter().any(|file| extension(file.path()).is_some_and(|e| Format::of(&e).is_some()))
}

/// Refuses a folder whose frames are of another scene.
pub fn expect_scene(manifest: &Manifest, scene: &Scene, folder: &Path) -> Result<(), Error> {
    let mut scene = scene.clone();
    // Output paths do not change a picture, so those of the folder are used.
    scene.output.files = Pattern::parse(&manifest.pattern).map_or(scene.output.files, |(pattern, _)| pattern);
    scene.output.bits = manifest.bits;
    let recorded = RecordedFiles::default();
    let mut ours = Manifest::of(&scene, String::new(), manifest.denoised, &recorded);
    ours.look_at_steps(&scene, manifest.steps.keys().copied(), &recorded);
    expect_same(manifest, &ours, folder)
}
