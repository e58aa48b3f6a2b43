//! `polyfly missing` and `polyfly status`: what is in a folder of frames, and what is not.

use super::claim::shard;
use super::{journal, load_scene, output};
use crate::cli::{MissingArgs, SceneArgs, ShardMode, StatusArgs};
use crate::error::Error;
use crate::output::folder::FrameFolder;
use crate::output::formats::Format;
use crate::output::manifest::{Manifest, NAME};
use crate::output::{OutputError, files};
use crate::render::frames::FrameList;
use crate::scene::Pattern;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A folder with a manifest.
pub struct Folder {
    /// Its frames.
    pub folder: FrameFolder,
    /// Those that there are to be.
    pub frames: FrameList,
    /// What they are of.
    pub manifest: Manifest,
}

impl Folder {
    /// A folder, or a pattern in one that has frames of several.
    ///
    /// # Errors
    /// It has no manifest, or several patterns, or what it says makes no sense.
    pub fn open(path: &Path) -> Result<Folder, Error> {
        let text = path.display().to_string();
        let (folder, asked) = match Pattern::parse(&text) {
            Ok((pattern, false)) => (files::folder_of(path), Some(pattern.key())),
            _ => (path, None),
        };
        let mut all = Manifest::all(folder)?;
        all.retain(|m| asked.as_ref().is_none_or(|key| Pattern::parse(&m.pattern).is_ok_and(|(p, _)| p.key() == *key)));
        let several = all.len() > 1;
        let Some(manifest) = all.pop().filter(|_| !several) else {
            let names = all.iter().map(|m| format!("{}/{}", folder.display(), m.pattern)).collect::<Vec<_>>();
            return Err(Error::Usage(match several {
                true => {
                    format!("{text} has frames of several patterns: give one of them, such as {}", names.join(", "))
                }
                false => format!("{text}: {NAME} there tells of no such frames: polyfly has not begun them"),
            }));
        };
        let wrong = |what: &str| Error::Usage(format!("{}/{NAME}: {what} makes no sense", folder.display()));
        let (pattern, _) = Pattern::parse(&manifest.pattern).map_err(|_| wrong("pattern"))?;
        let format = Format::of(&pattern.extension()).ok_or_else(|| wrong("pattern"))?;
        let frames = FrameList::parse(&manifest.frames, u32::MAX).map_err(|_| wrong("frames"))?;
        if manifest.size.contains(&0) {
            return Err(wrong("size"));
        }
        let folder = FrameFolder { pattern: pattern.below(folder), format, size: manifest.size.into() };
        Ok(Folder { folder, frames, manifest })
    }

    /// Frames that are whole, and such that are there and not.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn look(&self) -> Result<(BTreeSet<u32>, BTreeSet<u32>), Error> {
        let there = self.folder.existing().map_err(|e| OutputError::Read(self.folder.path(), e))?;
        let asked = self.frames.iter().filter(|n| there.contains(n));
        Ok(asked.partition(|&n| self.folder.is_whole(n)))
    }

    /// Numbers of the shards that lack a frame, from 1.
    pub fn open_shards(&self, whole: &BTreeSet<u32>, shards: u32, mode: ShardMode) -> Option<FrameList> {
        let is_open = |k: &u32| {
            shard(&self.frames, Some((*k, shards)), mode).is_some_and(|part| part.iter().any(|n| !whole.contains(&n)))
        };
        FrameList::of_numbers((1..=shards).filter(is_open))
    }
}

/// Refuses a folder whose frames are of another scene than that one.
pub fn expected(manifest: &Manifest, scene: &str, changes: &SceneArgs, folder: &Path) -> Result<(), Error> {
    let (mut scene, _) = load_scene(scene, changes)?;
    // Where frames go is no part of what they are; how they are named and written is the folder's own.
    scene.output.files = Pattern::parse(&manifest.pattern).map_or(scene.output.files, |(pattern, _)| pattern);
    scene.output.bits = manifest.bits;
    let ours = Manifest::of(&scene, String::new(), manifest.denoised);
    match manifest.differences(&ours) {
        places if places.is_empty() => Ok(()),
        places => Err(Error::OtherScene(folder.to_owned(), places)),
    }
}

/// Prints what is missing.
pub fn run(args: &MissingArgs) -> Result<(), Error> {
    let here = Folder::open(&args.folder)?;
    if let Some(scene) = &args.scene {
        expected(&here.manifest, scene, &args.changes, &args.folder)?;
    }
    let (whole, _) = here.look()?;
    let missing = FrameList::of_numbers(here.frames.iter().filter(|n| !whole.contains(n)));
    let Some(missing) = missing else { return Ok(()) };
    let text = match args.shards {
        None => missing.to_string(),
        Some(n) => here.open_shards(&whole, n, args.shard_mode).map_or_else(String::new, |list| list.to_string()),
    };
    output(&format!("{text}\n"))?;
    Err(Error::Incomplete(format!("{} of {} frames are missing or not whole", missing.len(), here.frames.len())))
}

// What a machine has done.
#[derive(Default)]
struct Node {
    frames: usize,
    ms: f64,
}

/// Prints how far a folder has come.
pub fn status(args: &StatusArgs) -> Result<(), Error> {
    let here = Folder::open(&args.folder)?;
    let (whole, broken) = here.look()?;
    let total = here.frames.len();
    let mut text = format!("{}: {} of {total} frames are whole", args.folder.display(), whole.len());
    let missing = total - whole.len() - broken.len();
    text += &format!(", {missing} missing, {} broken\n", broken.len());
    if let Some(list) = FrameList::of_numbers(broken.iter().copied()) {
        text += &format!("broken: {list}\n");
    }
    let (nodes, times) = journals(&here.folder.path());
    for (name, node) in &nodes {
        text += &format!("{name}: {} frames, {:.1} ms each\n", node.frames, node.ms / node.frames.max(1) as f64);
    }
    if let Some(rate) = rate(&times) {
        text += &format!("{rate:.2} frames a second lately");
        let left = (total - whole.len()) as f64 / rate;
        text += &if left > 0.0 { format!(", {} to go at that\n", duration(left)) } else { "\n".to_owned() };
    }
    output(&text)
}

fn duration(seconds: f64) -> String {
    let s = seconds.ceil() as u64;
    match s {
        0..=119 => format!("{s} s"),
        120..=7199 => format!("{} min", s.div_ceil(60)),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

// What each machine's journals tell, and when frames were whole.
fn journals(folder: &Path) -> (BTreeMap<String, Node>, Vec<f64>) {
    let (mut nodes, mut times) = (BTreeMap::<String, Node>::new(), Vec::new());
    for told in journal::read(folder) {
        let node = nodes.entry(told.host).or_default();
        for entry in told.frames {
            node.frames += 1;
            node.ms += entry.ms;
            times.push(entry.at);
        }
    }
    times.sort_by(f64::total_cmp);
    (nodes, times)
}

// Frames a second over the last hundred of them.
fn rate(times: &[f64]) -> Option<f64> {
    let lately = &times[times.len().saturating_sub(100)..];
    let span = lately.last()? - lately.first()?;
    (span > 0.0).then(|| (lately.len() - 1) as f64 / span)
}
