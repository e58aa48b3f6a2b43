//! The audit of a folder: its files have the hashes of the manifest, and frames that are drawn have the bytes of their scene.

use super::draw::{draw, unseen};
use super::{film, signature};
use crate::cli::{Failure, VerifyArgs};
use crate::command::scene_file::load_scene;
use crate::error::Error;
use crate::kernels::TILE_SIDE;
use crate::language::{Message, msg};
use crate::math::hash::{hex, of_picture};
use crate::output::formats::{FormatOptions, Shown};
use crate::output::store::folder::FrameFolder;
use crate::output::{OutputError, PixelFormats, RenderedFrame, Sink};
use crate::render::frames::FrameList;
use crate::render::steps::FrameSteps;
use crate::render::{RenderOptions, Renderer};
use crate::report::{print, remark};
use crate::run::folder::{RecordedFolder, expect_scene};
use crate::run::journal;
use crate::scene::{Pattern, Scene};
use crate::threads::{lock, shared_pool};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

// Frames that are rendered only to find their first wrong pixel.
const SUSPECTS: usize = 8;
// The share of frames that is drawn if none is asked for.
const SHARE: f64 = 0.05;
// Shares of wrong frames whose odds are printed, in percent.
const SHARES: [u32; 3] = [1, 10, 50];

type Faults = BTreeMap<u32, Vec<Message>>;

// A folder with what its manifest and its journals say.
struct Audit {
    here: RecordedFolder,
    scene: Scene,
    hashes: BTreeMap<u32, String>,
    root: String,
    // Who has rendered which frame, as far as it is known.
    workers: BTreeMap<u32, String>,
    whole: BTreeSet<u32>,
    // How files that are not exact are encoded.
    lossy: Option<FormatOptions>,
    faults: Arc<Mutex<Faults>>,
}

/// Whether a name is that of a folder, or of a pattern in one.
pub fn is_folder(name: &str) -> bool {
    Path::new(name).is_dir() || Pattern::has_number(name) && !Path::new(name).exists()
}

/// Audits folders. Frames of two folders that have different hashes are rendered too.
pub fn run(args: &VerifyArgs, folders: &[&str], films: &[&str]) -> Result<(), Failure> {
    args.changes.expect_scene(args.expected.scene.as_deref())?;
    let nonce = match &args.nonce {
        Some(nonce) => nonce.clone(),
        None => {
            let mut bytes = [0; 16];
            getrandom::fill(&mut bytes).map_err(|e| Error::Read("random numbers".into(), e.into()))?;
            hex(&bytes)
        }
    };
    let audits = folders.iter().map(|name| Audit::open(name, args)).collect::<Result<Vec<_>, _>>()?;
    let mut disputed = BTreeSet::new();
    for other in audits.iter().skip(1) {
        let first = &audits[0];
        expect_same_pictures(first, other)?;
        let differs = |(n, hash): &(&u32, &String)| first.hashes.get(n).is_some_and(|theirs| theirs != *hash);
        disputed.extend(other.hashes.iter().filter(differs).map(|(n, _)| *n));
    }
    if let Some(list) = FrameList::of_numbers(disputed.iter().copied()).filter(|_| audits.len() > 1) {
        remark(msg!("the manifests disagree about frames {frames}", frames = list));
    }
    let mut wrong = Vec::new();
    for (audit, name) in audits.iter().zip(folders) {
        audit.check_files()?;
        if let Some(key) = &args.signed_by {
            let fault = signature::fault(&audit.here.folder.path(), &audit.root, key)?;
            wrong.extend(fault.map(|fault| Message::list([Message::text((*name).to_owned()), fault], ": ")));
        }
        for film in films {
            film::check(Path::new(film), &audit.here.frames, |n| audit.exact(n), args.ffmpeg.as_deref())?;
        }
        let drawn = audit.render(args, &nonce, &disputed)?;
        print(&audit.table(name, &nonce, &drawn))?;
        for (frame, faults) in &*lock(&audit.faults) {
            let path = audit.here.folder.pattern.path(*frame);
            let by = audit.workers.get(frame).map(|worker| msg!(" (by {worker})", worker));
            let place = Message::list([Message::text(path.display().to_string())].into_iter().chain(by), "");
            wrong.extend(faults.iter().map(|fault| Message::list([place.clone(), fault.clone()], ": ")));
        }
    }
    if !wrong.is_empty() {
        return Err(Failure::WrongFrames(wrong));
    }
    for audit in args.sign.iter().flat_map(|_| &audits) {
        let (manifest, folder) = (&audit.here.manifest, audit.here.folder.path());
        let Some(root) = manifest.proof() else {
            return Err(Failure::usage(msg!("{folder} has no hashes to sign", folder = folder.display())));
        };
        args.sign.iter().try_for_each(|key| signature::sign(&folder, manifest, &root, key))?;
        remark(msg!("{path}: written", path = signature::file_of(&folder).display()));
    }
    Ok(())
}

// Two folders may have different patterns.
fn expect_same_pictures(a: &Audit, b: &Audit) -> Result<(), Error> {
    match a.here.manifest.pictures_hash() == b.here.manifest.pictures_hash() {
        true => Ok(()),
        false => Err(Error::OtherScene(b.here.folder.path(), a.here.manifest.differences(&b.here.manifest))),
    }
}

// What was drawn of a worker's frames.
struct Drawn {
    worker: String,
    frames: Vec<u32>,
    // Frames, or tiles.
    total: u64,
    count: u64,
    rendered: BTreeMap<u32, Vec<(u32, u32)>>,
}

impl Audit {
    fn open(name: &str, args: &VerifyArgs) -> Result<Audit, Failure> {
        let here = RecordedFolder::open(Path::new(name))?.only(args.common.frames.as_deref())?;
        here.expect_hash(args.expected.hash.as_deref())?;
        let manifest = &here.manifest;
        let mut scene = match (&args.expected.scene, manifest.resolved()) {
            (Some(file), _) => load_scene(file, &args.common, &args.changes)?.0,
            (None, Some(scene)) if manifest.files.is_empty() => scene,
            _ => {
                return Err(Failure::usage(msg!(
                    "{folder}: its scene reads files, or is too long for the manifest: name it by --scene",
                    folder = name
                )));
            }
        };
        expect_scene(manifest, &scene, &here.folder.path())?;
        scene.output.bits = manifest.bits;
        let faults = Faults::new();
        if manifest.root != manifest.proof() {
            let what = msg!("`root` in its manifest.json is not that of its `hashes`");
            return Err(Failure::WrongFrames(vec![Message::list([Message::text(name.to_owned()), what], ": ")]));
        }
        let mut hashes = journal::hashes(&here.folder.path(), &manifest.clip());
        hashes.extend(manifest.hashes.clone());
        let mut workers = BTreeMap::new();
        for run in journal::read(&here.folder.path(), &manifest.clip(), &mut ()) {
            let worker = format!("{}-{}", run.host, run.process);
            let frames = run.frames.iter().map(|entry| entry.frame).chain(run.hashes.into_keys());
            workers.extend(frames.map(|frame| (frame, worker.clone())));
        }
        let existing = here.inspect()?;
        let has_alpha = scene.world.sky.transparent;
        let format = here.folder.format;
        let lossy = (!format.is_lossless_source(manifest.bits, false, has_alpha)).then(|| {
            let options = format.options(manifest.bits, scene.film.tone);
            let origin = Some(Arc::new(manifest.origin()));
            options.map(|options| FormatOptions { origin, has_alpha, dpi: scene.dots_per_inch(), ..options })
        });
        let lossy = lossy.transpose().map_err(|why| Error::about(name, why))?;
        let root = manifest.proof().unwrap_or_else(|| manifest.hash.clone());
        let audit = Audit {
            whole: existing.whole,
            scene,
            hashes,
            root,
            workers,
            lossy,
            faults: Arc::new(Mutex::new(faults)),
            here,
        };
        existing.broken.into_iter().for_each(|n| audit.fault(n, msg!("the file is incomplete")));
        Ok(audit)
    }

    fn fault(&self, frame: u32, what: Message) {
        add(&self.faults, frame, [what]);
    }

    // The picture in a frame's file; None if the format is not exact or the file cannot be read.
    fn exact(&self, n: u32) -> Option<Shown> {
        let Scene { film, world, .. } = &self.scene;
        let shown = self.here.folder.format.shown(&self.here.folder.pattern.path(n), film.tone, world.sky.transparent);
        shown.ok().filter(|_| self.lossy.is_none() && self.whole.contains(&n))
    }

    // Compares the pixels of all files with the manifest. Where they differ, the frame is rendered to find where.
    fn check_files(&self) -> Result<(), Failure> {
        let wrong = |&n: &u32| {
            let shown = self.exact(n)?;
            let hash = hex(&of_picture(shown.size, &shown.rgba));
            self.hashes.get(&n).filter(|recorded| **recorded != hash)?;
            let other = self.hashes.iter().find(|(m, theirs)| **m != n && **theirs == hash).map(|(m, _)| *m);
            Some((n, other))
        };
        let files: Vec<u32> = if self.lossy.is_some() { Vec::new() } else { self.whole.iter().copied().collect() };
        let found: Vec<_> =
            shared_pool().map_err(OutputError::from)?.install(|| files.par_iter().filter_map(wrong).collect());
        for (n, other) in found {
            self.fault(
                n,
                match other {
                    Some(other) => {
                        msg!("its pixels are not those of the manifest, but those of frame {frame}", frame = other)
                    }
                    None => msg!("its pixels are not those of the manifest"),
                },
            );
        }
        Ok(())
    }

    // Renders what is drawn and what is suspected, and compares.
    fn render(&self, args: &VerifyArgs, nonce: &str, disputed: &BTreeSet<u32>) -> Result<Vec<Drawn>, Failure> {
        if self.here.manifest.denoised {
            remark(msg!(
                "the frames are denoised by a library, which need not give the same bytes again: none is rendered"
            ));
            return Ok(Vec::new());
        }
        let mut renderer = Renderer::prepare(self.scene.clone(), RenderOptions::new())?;
        let tiles = args.tiles && self.lossy.is_none() && {
            let why = FrameSteps::needs_whole_frames(&renderer);
            why.as_ref()
                .inspect(|why| remark(msg!("whole frames are rendered in place of tiles: {why}", why)))
                .is_none()
        };
        let drawn = self.draw(args, nonce, tiles);
        let suspects: Vec<u32> = lock(&self.faults).keys().copied().collect();
        let more = suspects.into_iter().filter(|n| self.whole.contains(n)).take(SUSPECTS);
        let disputed = disputed.iter().copied().filter(|n| self.whole.contains(n)).take(SUSPECTS);
        let mut frames: BTreeSet<u32> = more.chain(disputed).collect();
        for (&frame, tiles) in drawn.iter().flat_map(|drawn| &drawn.rendered) {
            match tiles.is_empty() {
                true => drop(frames.insert(frame)),
                false => self.compare_tiles(&renderer, frame, tiles)?,
            }
        }
        if let Some(list) = FrameList::of_numbers(frames.into_iter()) {
            let sink = Auditor {
                folder: self.here.folder.clone(),
                hashes: self.hashes.clone(),
                scene: self.scene.clone(),
                lossy: self.lossy.clone(),
                faults: Arc::clone(&self.faults),
            };
            renderer.run(&list, vec![Box::new(sink)], &mut ())?;
        }
        Ok(drawn)
    }

    // Draws frames or tiles of each worker.
    fn draw(&self, args: &VerifyArgs, nonce: &str, tiles: bool) -> Vec<Drawn> {
        let share = args.sample.unwrap_or(if args.common.frames.is_some() { 1.0 } else { SHARE });
        let (width, height) = self.here.folder.size;
        let across = u64::from(width.div_ceil(TILE_SIDE));
        let each = if tiles { across * u64::from(height.div_ceil(TILE_SIDE)) } else { 1 };
        let mut groups = BTreeMap::<&str, Vec<u32>>::new();
        for &frame in &self.whole {
            groups.entry(self.workers.get(&frame).map_or("-", String::as_str)).or_default().push(frame);
        }
        let of_group = |(worker, frames): (&str, Vec<u32>)| {
            let total = frames.len() as u64 * each;
            let count = (share * total as f64).ceil() as u64;
            let mut rendered = BTreeMap::<u32, Vec<(u32, u32)>>::new();
            for n in draw(&format!("{} {nonce} {worker}", self.root), total, count) {
                let (tile, all) = (n % each, rendered.entry(frames[(n / each) as usize]).or_default());
                all.extend(tiles.then_some(((tile % across) as u32, (tile / across) as u32)));
            }
            Drawn { worker: worker.to_owned(), frames, total, count, rendered }
        };
        groups.into_iter().map(of_group).collect()
    }

    fn compare_tiles(&self, renderer: &Renderer, frame: u32, tiles: &[(u32, u32)]) -> Result<(), Failure> {
        let Some(shown) = self.exact(frame) else { return Ok(()) };
        let picture = FrameSteps::new(renderer, frame)?.tiles(tiles)?;
        let is_drawn = |(x, y): (u32, u32)| tiles.contains(&(x / TILE_SIDE, y / TILE_SIDE));
        if let Some(fault) = difference(&shown, picture.data(), is_drawn) {
            self.fault(frame, fault);
        }
        Ok(())
    }

    // A line for the folder, and one for each worker.
    fn table(&self, name: &str, nonce: &str, drawn: &[Drawn]) -> String {
        let faults = lock(&self.faults);
        let hashed = self.whole.iter().filter(|n| self.hashes.contains_key(n)).count();
        let (frames, root) = (self.whole.len(), &self.root);
        let mut text = format!("{name}\t{frames} frames, {hashed} with a hash\troot {root}\tnonce {nonce}\n");
        for Drawn { worker, frames, total, count, rendered } in drawn {
            let wrong = frames.iter().filter(|n| faults.contains_key(n)).count();
            let what = if *total > frames.len() as u64 { "tiles" } else { "frames" };
            let odds =
                SHARES.map(|percent| format!("{percent} % {:.3}", unseen(*total, *count, f64::from(percent) / 100.0)));
            let list =
                FrameList::of_numbers(rendered.keys().copied()).map_or_else(|| "-".into(), |list| list.to_string());
            text += &format!(
                "{worker}\t{} frames\t{count} of {total} {what} rendered again, of frames {list}\t{wrong} wrong\tunseen: {}\n",
                frames.len(),
                odds.join(", ")
            );
        }
        text
    }
}

// Adds what is new of a frame.
fn add(faults: &Mutex<Faults>, frame: u32, more: impl IntoIterator<Item = Message>) {
    for fault in more {
        let (mut all, text) = (lock(faults), fault.to_string());
        let known = all.entry(frame).or_default();
        if known.iter().all(|one| one.to_string() != text) {
            known.push(fault);
        }
    }
}

// The first pixel that differs among those that count, and how many do. `right` is the scene's.
fn difference(file: &Shown, right: &[u8], counts: impl Fn((u32, u32)) -> bool) -> Option<Message> {
    let width = file.size.0 as usize;
    let place = |i: usize| ((i % width) as u32, (i / width) as u32);
    let (theirs, ours) = (file.rgba.as_chunks::<4>().0, right.as_chunks::<4>().0);
    if theirs.len() != ours.len() {
        return Some(msg!("it has {first} pixels, and its scene {second}", first = theirs.len(), second = ours.len()));
    }
    let mut wrong = (0..theirs.len()).filter(|&i| theirs[i] != ours[i] && counts(place(i)));
    let first = wrong.next()?;
    let ((x, y), count) = (place(first), 1 + wrong.count());
    Some(msg!(
        "{count} pixels are wrong; the first is ({x}, {y}), in tile ({column}, {row}): {found}, and by the scene {expected}",
        count,
        x,
        y,
        column = x / TILE_SIDE,
        row = y / TILE_SIDE,
        found = format!("{:?}", theirs[first]),
        expected = format!("{:?}", ours[first])
    ))
}

// Compares rendered frames with the manifest and the files.
struct Auditor {
    folder: FrameFolder,
    hashes: BTreeMap<u32, String>,
    scene: Scene,
    lossy: Option<FormatOptions>,
    faults: Arc<Mutex<Faults>>,
}

impl Auditor {
    // The picture of a file, and what it should be.
    fn both(&self, frame: &RenderedFrame) -> std::io::Result<(Shown, Vec<u8>)> {
        let (format, path) = (self.folder.format, self.folder.pattern.path(frame.number));
        let shown = |path: &Path| format.shown(path, self.scene.film.tone, self.scene.world.sky.transparent);
        let Some(options) = &self.lossy else { return Ok((shown(&path)?, frame.rgba8().to_vec())) };
        let mut again = tempfile::Builder::new().suffix(&format!(".{}", format.extension)).tempfile()?;
        again.write_all(&(format.encode)(frame, options)?)?;
        Ok((shown(&path)?, shown(again.path())?.rgba))
    }
}

impl Sink for Auditor {
    fn needs(&self) -> PixelFormats {
        self.lossy
            .as_ref()
            .map_or(PixelFormats::RGBA8, |lossy| self.folder.format.needs(lossy).union(PixelFormats::RGBA8))
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let hash = self.hashes.get(&frame.number).filter(|hash| **hash != frame.sha256());
        let hash = hash.map(|_| msg!("the manifest's hash is not that of the scene's frame"));
        let pixels = match self.both(frame) {
            Ok((file, right)) => difference(&file, &right, |_| true),
            Err(why) => Some(Message::text(why.to_string())),
        };
        add(&self.faults, frame.number, [hash, pixels].into_iter().flatten());
        Ok(())
    }
}
