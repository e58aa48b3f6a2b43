//! What a folder of frames holds: of which scene they are, the expected ones, and the complete ones.

use super::load::utf8;
use crate::assets::files::RecordedFiles;
use crate::error::Error;
use crate::language::msg;
use crate::output::OutputError;
use crate::output::formats::Format;
use crate::output::store::atomic;
use crate::output::store::folder::FrameFolder;
use crate::output::store::manifest::{Manifest, NAME};
use crate::render::frames::FrameList;
use crate::scene::limits::MAX_FRAMES;
use crate::scene::{Pattern, Scene};
use std::collections::BTreeSet;
use std::path::Path;

// Longer lists of frames are not sorted.
const MAX_SORTED: usize = 1 << 20;

/// The folder of a scene's frames.
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

/// The folder of frames of other programs, whose size is not known yet.
pub fn foreign_folder(pattern: Pattern) -> Result<FrameFolder, Error> {
    let format = Format::of(&pattern.extension());
    let format = format.ok_or_else(|| Error::usage(msg!("no format reads {name}", name = pattern)))?;
    Ok(FrameFolder { pattern, format, size: (0, 0) })
}

/// Refuses formats whose files do not hold linear light, which a video of ten bits needs.
pub fn require_linear(format: &Format) -> Result<(), Error> {
    match format.has_light() {
        true => Ok(()),
        false => Err(Error::usage(msg!(
            "a video of ten bits needs linear light, and .{extension} files are stored after the tone curve: render .exr files",
            extension = format.extension
        ))),
    }
}

/// What a folder holds under the names of a pattern, as a run of one scene sees it.
#[derive(Debug, PartialEq, Eq)]
pub enum FolderState {
    /// No frames, and no manifest.
    Empty,
    /// Frames of the same scene, by their manifest. Some may be missing.
    Same,
    /// Frames of another scene, and the keys that differ.
    OtherScene(Vec<String>),
    /// A frame that no manifest lists, and whether there is one.
    Unknown(u32, bool),
}

impl FolderState {
    /// `there` are the numbers of the existing frames, `theirs` is the manifest beside them, `ours` that of the scene, with the frames
    /// that matter. A picture whose name has no number has no manifest: its own text names its scene, and does not know the content of
    /// all time steps of particles.
    pub fn of(
        folder: &FrameFolder,
        there: &BTreeSet<u32>,
        theirs: Option<&Manifest>,
        (ours, frames): (&Manifest, &FrameList),
    ) -> FolderState {
        // A folder with a frame's name is reported when the frame is written.
        let is_file = |n: &u32| std::fs::symlink_metadata(folder.pattern.path(*n)).is_ok_and(|what| !what.is_dir());
        if folder.pattern.is_of_one() {
            let origin = ours.origin();
            return match frames.among(there).into_iter().find(is_file) {
                None => FolderState::Empty,
                Some(n) if ours.steps.is_empty() && folder.is_of(n, &origin) => FolderState::Same,
                Some(n) => FolderState::Unknown(n, false),
            };
        }
        let Some(theirs) = theirs else {
            return there.iter().copied().find(is_file).map_or(FolderState::Empty, |n| FolderState::Unknown(n, false));
        };
        let keys = theirs.differences(ours);
        let listed = listed(theirs);
        let is_odd = |n: &u32| !listed.as_ref().is_some_and(|listed| listed.contains(*n)) && is_file(n);
        match frames.among(there).into_iter().find(is_odd) {
            _ if !keys.is_empty() => FolderState::OtherScene(keys),
            Some(n) => FolderState::Unknown(n, true),
            None => FolderState::Same,
        }
    }

    // Of a folder without a manifest, by its pictures of this pattern, or by all of them if no pattern is given.
    fn unrecorded(folder: &Path, asked: Option<&Pattern>) -> FolderState {
        let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let frame = match asked {
            Some(pattern) => foreign_folder(pattern.clone()).and_then(|of| Ok(of.existing()?.first().copied())),
            None => Ok(files.any(|file| Format::of_file(&file.path()).is_some()).then_some(0)),
        };
        frame.ok().flatten().map_or(FolderState::Empty, |n| FolderState::Unknown(n, false))
    }

    /// Fails unless a run of the scene may add its frames.
    pub fn expect_same(self, folder: &FrameFolder) -> Result<(), Error> {
        let path = folder.path();
        match self {
            FolderState::Empty | FolderState::Same => Ok(()),
            FolderState::OtherScene(keys) => Err(Error::OtherScene(path, keys)),
            FolderState::Unknown(n, _) if folder.pattern.is_of_one() => Err(Error::usage(msg!(
                "{path} exists and was not made from this scene: give another name, or --overwrite to render it again",
                path = folder.pattern.path(n).display()
            ))),
            FolderState::Unknown(n, true) => Err(Error::usage(msg!(
                "{path} is not a frame of this clip: another run wrote it; remove such files, or give --overwrite",
                path = folder.pattern.path(n).display()
            ))),
            FolderState::Unknown(n, false) => Err(Error::usage(msg!(
                "{path} has frames, such as {frame}, and no manifest.json, so their scene is unknown: give another folder, remove these frames, or --overwrite",
                path = path.display(),
                frame = n
            ))),
        }
    }
}

// The frames that a manifest expects. None if the list is invalid.
fn listed(manifest: &Manifest) -> Option<FrameList> {
    FrameList::parse(&manifest.frames, u32::MAX).ok()
}

/// The frames that a manifest expects, and these. If one of the two lists has all frames, it is returned as it is; otherwise they are
/// sorted.
pub fn extended(theirs: &Manifest, all: &FrameList) -> FrameList {
    let Ok(both) = FrameList::parse(&format!("{},{all}", theirs.frames), u32::MAX) else { return all.clone() };
    let is_theirs = both.to_string() == theirs.frames;
    match both.len() {
        len if len == all.len() && !is_theirs => all.clone(),
        len if is_theirs || len > MAX_SORTED => both,
        _ => FrameList::of_numbers(both.iter().collect::<BTreeSet<_>>().into_iter()).unwrap_or(both),
    }
}

/// Refuses a folder whose manifest is of another scene.
pub fn expect_same(theirs: &Manifest, ours: &Manifest, folder: &Path) -> Result<(), Error> {
    let keys = theirs.differences(ours);
    if keys.is_empty() { Ok(()) } else { Err(Error::OtherScene(folder.to_owned(), keys)) }
}

/// A folder of frames with its manifest.
pub struct RecordedFolder {
    pub folder: FrameFolder,
    /// The frames that the manifest expects.
    pub frames: FrameList,
    pub manifest: Manifest,
}

/// The expected frames whose files exist.
pub struct ExistingFrames {
    pub whole: BTreeSet<u32>,
    /// Those that are incomplete.
    pub broken: BTreeSet<u32>,
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
        let text = utf8(path)?;
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
            return Err(if is_awaited { Error::Incomplete(none) } else { Error::usage(none) });
        }
        let mut all = Manifest::all(folder)?;
        let is_asked =
            |m: &Manifest, asked: &Pattern| Pattern::parse(&m.pattern).is_ok_and(|(p, _)| p.key() == asked.key());
        all.retain(|m| asked.as_ref().is_none_or(|asked| is_asked(m, asked)));
        let several = all.len() > 1;
        let Some(manifest) = all.pop().filter(|_| !several) else {
            let names = all.iter().map(|m| format!("{}/{}", folder.display(), m.pattern)).collect::<Vec<_>>();
            return Err(match FolderState::unrecorded(folder, asked.as_ref()) {
                _ if several => Error::usage(msg!(
                    "{name} has frames of several patterns: give one of them, such as {names}",
                    name = text,
                    names = names.join(", ")
                )),
                FolderState::Empty => Error::Incomplete(msg!(
                    "{path} has no {manifest}: no run has written frames there",
                    path = text,
                    manifest = NAME
                )),
                _ => {
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
        let wrong = |what: &str| OutputError::ForeignManifest(folder.join(NAME), format!("`{what}` is invalid"));
        let (pattern, _) = Pattern::parse(&manifest.pattern).map_err(|_| wrong("pattern"))?;
        let format = Format::of(&pattern.extension()).ok_or_else(|| wrong("pattern"))?;
        let frames = FrameList::parse(&manifest.frames, MAX_FRAMES).map_err(|_| wrong("frames"))?;
        let folder = FrameFolder { pattern: pattern.below(folder), format, size: manifest.size.into() };
        Ok(RecordedFolder { folder, frames, manifest })
    }

    /// Inspects the existing files of the expected frames.
    pub fn inspect(&self) -> Result<ExistingFrames, Error> {
        let there = self.frames.among(&self.folder.existing()?);
        let (whole, broken) = there.into_iter().partition(|&n| self.folder.is_whole(n));
        Ok(ExistingFrames { whole, broken })
    }

    /// Limits the folder to these frames, in the syntax of `--frames`.
    pub fn only(mut self, frames: Option<&str>) -> Result<RecordedFolder, Error> {
        if let Some(text) = frames {
            let total = self.manifest.resolved().map_or(MAX_FRAMES, |scene| scene.output.frames);
            self.frames = FrameList::read(text, total).map_err(|e| Error::about("--frames", e))?;
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
        let part = |position: u64| ((position + 1) * parts).div_ceil(total) - 1;
        let missing = (0_u64..).zip(self.frames.iter()).filter(|(_, n)| !whole.contains(n));
        let open: BTreeSet<u32> = missing.map(|(position, _)| part(position) as u32 + 1).collect();
        FrameList::of_numbers(open.into_iter())
    }
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
