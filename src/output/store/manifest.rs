//! `manifest.json` beside the frames. For each pattern of file names, it records the scene, the expected frames and
//! the finished frames. All commands compare the scene first, so that a clip never mixes frames of two scenes.

use super::atomic::{folder_of, persist, remove_existing, temporary};
use super::hidden;
use super::origin::Origin;
use crate::assets::files::{Extent, RecordedFiles};
use crate::assets::particles::files_of;
use crate::math::hash::{hex, merkle_root, of_texts};
use crate::output::error::{NameFile, OutputError};
use crate::output::formats::Format;
use crate::quote::brief;
use crate::scene::limits::{MAX_PIXELS, MAX_SIDE};
use crate::scene::text::edit;
use crate::scene::{Output, Pattern, Scene};
use crate::system;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub const NAME: &str = "manifest.json";

// Maximum length of a scene's text in the manifest, bytes. For longer scenes, the hash shows that they differ, but
// not where.
const LONGEST_SCENE: usize = 1 << 20;

/// The version of the pictures: a checksum of renderings of a fixed set of scenes. A test computes it again
/// (src/tests/picture_version.rs).
pub const PICTURES: &str = include_str!("../picture_version.txt").trim_ascii();

// Maximum length of a manifest, bytes.
const MAX_BYTES: u64 = 256 << 20;
// How long to wait for the folder's lock.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Default, Serialize, Deserialize)]
struct Manifests {
    // The version of the program that wrote the manifest.
    polyfly: String,
    // The key is the pattern, with its number as %d.
    frames: BTreeMap<String, Manifest>,
}

/// The record of the frames of one pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the pictures. Program versions with the same one make the same frames.
    pub pictures: String,
    /// SHA-256 of the resolved scene, its files, and the fields `pictures`, `denoised`, `bits` and `pattern`.
    pub hash: String,
    /// Whether the frames are denoised. Denoised frames need not be equal byte for byte.
    pub denoised: bool,
    /// Bits per channel, if the scene or a flag sets them.
    pub bits: Option<u32>,
    pub pattern: String,
    pub size: [u32; 2],
    pub fps: f64,
    /// The expected frames, in the syntax of `--frames`.
    pub frames: String,
    /// The frames that existed when a run last ended; empty before that.
    pub written: String,
    /// SHA-256 of each file that the scene reads, by its key in the scene.
    pub files: BTreeMap<String, String>,
    /// The resolved scene in TOML, with file names without folders; None if it is very long. In memory it has the default frame rate, on
    /// which no picture depends, and which the hashes cover; in the file it has the clip's.
    pub scene: Option<String>,
    /// For particles with a file for each frame: fingerprints of the files of the frames that runs have begun. A
    /// fingerprint covers the length, the beginning and the end, because all files may be terabytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<u32, String>,
    /// SHA-256 of each frame's picture, as `--hash` prints it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hashes: BTreeMap<u32, String>,
    /// [`Manifest::proof`] of these hashes; in the file only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

impl Manifest {
    /// The manifest of a scene. `frames` lists the expected frames. The content of the scene's files is recorded in `recorded`.
    pub fn of(scene: &Scene, frames: String, denoised: bool, recorded: &RecordedFiles) -> Manifest {
        let (scene_text, files) = resolved(scene, recorded);
        let (pattern, bits) = (scene.output.files.name(), scene.output.bits);
        let hash = of_texts([&scene_text, &sources(&files), &*format!("{PICTURES} {denoised} {bits:?} {pattern}")]);
        Manifest {
            pictures: PICTURES.to_owned(),
            hash: hex(&hash),
            denoised,
            bits,
            pattern,
            size: [scene.render.width, scene.render.height],
            fps: scene.output.fps,
            frames,
            written: String::new(),
            files,
            scene: (scene_text.len() <= LONGEST_SCENE).then_some(scene_text),
            steps: BTreeMap::new(),
            hashes: BTreeMap::new(),
            root: None,
        }
    }

    /// The root of the hashes, hexadecimal, with the hash of the scene and the version of the pictures. None without hashes.
    pub fn proof(&self) -> Option<String> {
        let tree = hex(&merkle_root(self.hashes.iter().map(|(number, hash)| (*number, hash.as_str())))?);
        let Manifest { hash, pictures, hashes, .. } = self;
        Some(hex(&Sha256::digest(format!("polyfly frames\n{hash}\n{pictures}\n{}\n{tree}\n", hashes.len()))))
    }

    /// Adds the fingerprints of these frames' particle files.
    pub fn look_at_steps(&mut self, scene: &Scene, frames: impl Iterator<Item = u32>, recorded: &RecordedFiles) {
        if let Some(particles) = scene.world.particles.as_ref().filter(|p| p.is_animated()) {
            let mark = |frame| checksum(recorded, &particles.file(frame), Extent::Ends);
            self.steps = frames.map(|frame| (frame, mark(frame))).collect();
        }
    }

    // The first field with an invalid value. A manifest may come from anyone, and the run's paths depend on it.
    fn nonsense(&self, key: &str) -> Option<&'static str> {
        let pattern = Pattern::parse(&self.pattern).ok().map(|(pattern, _)| pattern);
        let is_name = |pattern: &Pattern| {
            let name = pattern.to_string();
            !name.contains(['/', '\\']) && pattern.key() == key && Format::of(&pattern.extension()).is_some()
        };
        let is_hash = |hash: &String| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        let wrong = [
            (!pattern.as_ref().is_some_and(is_name), "`pattern`"),
            (!is_hash(&self.hash), "`hash`"),
            (!self.hashes.values().all(is_hash), "`hashes`"),
            (self.size.contains(&0) || self.size.iter().any(|&side| side > MAX_SIDE), "`size`"),
            (u64::from(self.size[0]) * u64::from(self.size[1]) > MAX_PIXELS, "`size`"),
            (!(self.fps > 0.0 && self.fps < 1.0e6), "`fps`"),
            (self.scene.as_ref().is_some_and(|text| text.len() > 2 * LONGEST_SCENE), "`scene`"),
        ];
        wrong.into_iter().find_map(|(is_wrong, what)| is_wrong.then_some(what))
    }

    /// The scene, with file names without folders; None if it was too long or is invalid.
    pub fn resolved(&self) -> Option<Scene> {
        Scene::parse(self.scene.as_deref()?, NAME, Path::new("")).ok().map(|parsed| parsed.scene)
    }

    /// SHA-256 of all that the pictures depend on, and of nothing else.
    pub fn pictures_hash(&self) -> String {
        let scene = self.scene.as_ref();
        let scene = scene.map_or_else(|| self.hash.clone(), |text| format!("{text}{}", sources(&self.files)));
        hex(&Sha256::digest(format!("{scene}{} {}", self.pictures, self.denoised)))
    }

    /// The origin that is written into the pictures.
    pub fn origin(&self) -> Origin {
        let text = self.scene_text();
        // A figure names its data.
        let is_figure = text.as_ref().is_some_and(|text| text.contains("\n[figure]\n"));
        let data = self.files.iter().filter(|(key, _)| is_figure && key.starts_with("particles.path"));
        let data = data.map(|(key, hash)| format!("# SHA-256 of {key}: {hash}\n")).collect::<String>();
        Origin::new(self.pictures_hash(), text.map(|text| data + &text).as_deref())
    }

    /// The scene's text with the clip's frame rate.
    pub fn scene_text(&self) -> Option<String> {
        self.scene.as_deref().map(|text| with_rate(text, self.fps))
    }

    /// The name of the clip in its folder's journals.
    pub fn clip(&self) -> String {
        clip_of(&self.pattern, &self.hash)
    }

    /// Reads the manifest of a pattern, if the folder has one.
    pub fn read(pattern: &Pattern) -> Result<Option<Manifest>, OutputError> {
        Ok(Manifests::read(folder_of(&pattern.path(0)))?.frames.remove(&pattern.key()))
    }

    /// Reads all manifests of a folder.
    pub fn all(folder: &Path) -> Result<Vec<Manifest>, OutputError> {
        Ok(Manifests::read(folder)?.frames.into_values().collect())
    }

    /// Changes or removes the manifest of a pattern, under the folder's lock.
    pub fn update<E: From<OutputError>>(
        pattern: &Pattern,
        change: impl FnOnce(Option<Manifest>) -> Result<Option<Manifest>, E>,
    ) -> Result<(), E> {
        let first = pattern.path(0);
        let folder = folder_of(&first);
        let hidden = hidden::within(folder);
        let lock = hidden::make(&hidden, None).writing(&hidden)?.join("lock");
        let file = hidden::open(&lock, File::options().create(true).write(true).truncate(false)).writing(&hidden)?;
        if !is_locked(&file) {
            return Err(OutputError::Lock(lock, PATIENCE).into());
        }
        let mut all = Manifests::read(folder)?;
        match change(all.frames.remove(&pattern.key()))? {
            Some(manifest) => drop(all.frames.insert(pattern.key(), manifest)),
            None if all.frames.is_empty() => return Ok(remove_existing(&folder.join(NAME))?),
            None => {}
        }
        all.polyfly = env!("CARGO_PKG_VERSION").into();
        Ok(all.write(folder)?)
    }

    /// The keys of the scene that differ from another run's, or the first frame whose particle file does. Empty if both make the same
    /// frames.
    pub fn differences(&self, other: &Manifest) -> Vec<String> {
        if self.hash == other.hash {
            let mut steps = self.steps.iter();
            let odd = steps.find(|(frame, mark)| other.steps.get(frame).is_some_and(|theirs| theirs != *mark));
            return odd.map(|(frame, _)| format!("the file of particles.path of frame {frame}")).into_iter().collect();
        }
        let mut places = BTreeSet::new();
        let own = |differs: bool, what: &str| differs.then(|| what.to_owned());
        places.extend(own(self.pictures != other.pictures, "the program's pictures (another version)"));
        places.extend(own(self.denoised != other.denoised, "--denoise"));
        places.extend(own(self.bits != other.bits, "output.bits"));
        places.extend(own(self.pattern != other.pattern, "output.path"));
        let both = self.files.keys().chain(other.files.keys());
        let changed = both.filter(|k| self.files.get(*k) != other.files.get(*k));
        places.extend(changed.map(|k| format!("the file of {}", brief(k))));
        let parsed = |m: &Manifest| m.scene.as_deref().and_then(|text| toml::from_str::<Value>(text).ok());
        if let (Some(a), Some(b)) = (parsed(self), parsed(other)) {
            places.extend(differences(&a, &b).into_iter().map(|(path, _)| path));
        }
        if places.is_empty() {
            places.insert("the scene".into());
        }
        places.into_iter().collect()
    }
}

impl Manifests {
    fn read(folder: &Path) -> Result<Manifests, OutputError> {
        let path = folder.join(NAME);
        let text = match hidden::read_text(&path, MAX_BYTES) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Manifests::default()),
            Err(e) if matches!(e.kind(), std::io::ErrorKind::InvalidData | std::io::ErrorKind::InvalidInput) => {
                return Err(OutputError::ForeignManifest(path, brief(&e.to_string())));
            }
            Err(e) => return Err(OutputError::Read(path, e)),
        };
        let foreign = |what: String| OutputError::ForeignManifest(path.clone(), brief(&what));
        let mut all: Manifests = serde_json::from_str(&text).map_err(|e| foreign(e.to_string()))?;
        if let Some((key, what)) = all.frames.iter().find_map(|(key, manifest)| Some((key, manifest.nonsense(key)?))) {
            return Err(foreign(format!("{what} of {key:?} is invalid")));
        }
        for scene in all.frames.values_mut().filter_map(|manifest| manifest.scene.as_mut()) {
            *scene = with_rate(scene, Output::default().fps);
        }
        Ok(all)
    }

    // Synced to disk, because a resumed run relies on it after a power cut.
    fn write(&self, folder: &Path) -> Result<(), OutputError> {
        let path = folder.join(NAME);
        let mut all = self.clone();
        for manifest in all.frames.values_mut() {
            (manifest.scene, manifest.root) = (manifest.scene_text(), manifest.proof());
        }
        let mut text = serde_json::to_vec_pretty(&all).writing(&path)?;
        text.push(b'\n');
        let mut file = temporary(&path).writing(&path)?;
        file.write_all(&text).and_then(|()| file.as_file().sync_all()).writing(&path)?;
        persist(file, &path).map(drop).writing(&path)
    }
}

/// The name of the clip of a scene with this hash, whose frames have these names.
pub fn clip_of(pattern: &str, hash: &str) -> String {
    format!("{pattern} {hash}")
}

// A scene's text with another frame rate.
fn with_rate(text: &str, fps: f64) -> String {
    // Beats are seconds, so pictures depend on the rate.
    if text.contains("{ bpm = ") || text.contains("{ beats = ") {
        return text.to_owned();
    }
    edit::set(text, "output.fps", Some(&format!("{fps:?}"))).unwrap_or_else(|_| text.to_owned())
}

// Waits for the lock; false after the time-out. On file systems without locks, two runs that begin at the same moment
// may overwrite each other's record.
fn is_locked(file: &File) -> bool {
    let begun = Instant::now();
    while let Err(TryLockError::WouldBlock) = system::try_lock(file) {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// The keys that differ between two tables, such as `camera.fov_deg` and `body[1].radius`, with their values in the second one.
pub fn differences(a: &Value, b: &Value) -> Map<String, Value> {
    fn walk(path: &str, a: &Value, b: &Value, found: &mut Map<String, Value>) {
        match (a, b) {
            (Value::Object(a), Value::Object(b)) => {
                for key in a.keys().chain(b.keys()) {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    walk(&path, a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null), found);
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() && a.iter().chain(b).all(Value::is_object) => {
                a.iter().zip(b).enumerate().for_each(|(i, (a, b))| walk(&format!("{path}[{i}]"), a, b, found));
            }
            _ if a == b => {}
            _ => drop(found.insert(path.to_owned(), b.clone())),
        }
    }
    let mut found = Map::new();
    walk("", a, b, &mut found);
    found
}

// The hashes of the files, in the text that is hashed.
fn sources(files: &BTreeMap<String, String>) -> String {
    files.iter().map(|(key, hash)| format!("{key} {hash}\n")).collect()
}

// The checksum of a file of particles, with those of the files that it stands for.
fn checksum(recorded: &RecordedFiles, path: &Path, extent: Extent) -> String {
    let sums: Vec<String> = files_of(path).iter().map(|file| recorded.checksum(file, extent)).collect();
    sums.join(" ")
}

// The scene's text without output paths and folders of files, and the hashes of its files.
fn resolved(scene: &Scene, recorded: &RecordedFiles) -> (String, BTreeMap<String, String>) {
    let mut scene = scene.clone();
    let Output { frames, is_loop, fps, .. } = scene.output;
    // Hashes of existing frames are of a text with this path.
    let files = Pattern::parse("frame_%04d.png").map(|(pattern, _)| pattern).unwrap_or_default();
    let usual = Output::default();
    scene.output =
        Output { frames, is_loop, files, fps: if scene.tracks.have_beats() { fps } else { usual.fps }, ..usual };
    let mut files = BTreeMap::new();
    scene.visit_files(|key, path| {
        files.insert(key, recorded.checksum(path, Extent::Whole));
        *path = path.file_name().map(PathBuf::from).unwrap_or_default();
    });
    if let Some(particles) = &mut scene.world.particles {
        // With one file per frame, only the first and the last are hashed: the time steps of a simulation may be
        // terabytes.
        let ends = if particles.is_animated() { vec![0, frames - 1] } else { vec![0] };
        for frame in ends {
            files.insert(
                format!("particles.path of frame {frame}"),
                checksum(recorded, &particles.file(frame), Extent::Whole),
            );
        }
        particles.path = particles.path.file_name().map(PathBuf::from).unwrap_or_default();
    }
    (scene.to_toml(), files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::TextureSource;

    fn of(scene: &Scene) -> Manifest {
        Manifest::of(scene, "0-9".into(), false, &RecordedFiles::default())
    }

    #[test]
    fn what_differs_is_named() {
        let scene = Scene::sample();
        let mine = of(&scene);
        let mut other = scene.clone();
        other.output.video = Some("x.mp4".into());
        other.output.files =
            crate::scene::Pattern::parse(&format!("elsewhere/{}", scene.output.files.name())).unwrap().0;
        assert_eq!(mine.differences(&of(&other)), Vec::<String>::new(), "the folder and the film are no part of it");
        other.camera.fov_deg *= 0.5;
        other.render.depth += 1;
        other.world.bodies[0].radius *= 2.0;
        other.output.bits = Some(16);
        let places = mine.differences(&of(&other));
        assert_eq!(places, ["body[0].radius", "camera.fov_deg", "output.bits", "render.depth"]);
        let newer = Manifest { pictures: "another".into(), hash: "another".into(), ..mine.clone() };
        assert_eq!(mine.differences(&newer), ["the program's pictures (another version)"]);
        other.world.bodies.pop();
        assert!(mine.differences(&of(&other)).contains(&"body".to_owned()));
    }

    #[test]
    fn files_count_by_what_is_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let mut scene = Scene::sample();
        let mut with = |folder: &str, content: &str| {
            let path = dir.path().join(folder).join("floor.png");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content).unwrap();
            scene.world.floor.get_or_insert_default().texture = Some(TextureSource::File(path));
            of(&scene)
        };
        let (here, there, other) = (with("a", "1"), with("b", "1"), with("a", "2"));
        assert_eq!(here.hash, there.hash, "wherever it lies");
        assert_eq!(here.differences(&other), ["the file of floor.texture"]);
    }

    #[test]
    fn the_file_has_the_clips_frame_rate() {
        let dir = tempfile::tempdir().unwrap();
        let mut scene = Scene::sample();
        scene.output.fps = 24.0;
        scene.output.files = Pattern::parse(&format!("{}/%d.png", dir.path().display())).unwrap().0;
        let manifest = of(&scene);
        Manifest::update(&scene.output.files, |_| Ok::<_, OutputError>(Some(manifest.clone()))).unwrap();
        let json = std::fs::read_to_string(dir.path().join(NAME)).unwrap();
        assert!(json.contains("fps = 24.0") && !json.contains("fps = 30.0"), "{json}");
        // The hashes do not depend on it.
        assert_eq!(Manifest::read(&scene.output.files).unwrap(), Some(manifest.clone()));
        scene.output.fps = 30.0;
        assert_eq!(manifest.hash, of(&scene).hash);
    }

    #[test]
    fn each_pattern_has_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let pattern = |name: &str| Pattern::parse(&format!("{}/{name}", dir.path().display())).unwrap().0;
        let put =
            |name: &str, m: Option<Manifest>| Manifest::update(&pattern(name), |_| Ok::<_, OutputError>(m)).unwrap();
        let named = |name: &str| Manifest { pattern: name.to_owned(), ..of(&Scene::sample()) };
        let (a, b) = (named("%d.png"), Manifest { frames: "3".into(), ..named("f%d.png") });
        assert_eq!(Manifest::read(&pattern("%d.png")).unwrap(), None);
        put("%d.png", Some(a.clone()));
        put("f%d.png", Some(b.clone()));
        // Patterns of three and more digits name the same files.
        assert_eq!(Manifest::read(&pattern("%03d.png")).unwrap(), Some(a));
        assert_eq!(Manifest::read(&pattern("f%d.png")).unwrap(), Some(b));
        assert_eq!(Manifest::all(dir.path()).unwrap().len(), 2);
        put("%d.png", None);
        put("f%d.png", None);
        assert!(!dir.path().join(NAME).exists());
        for foreign in ["{}", "no json", "{\"polyfly\": 3}"] {
            std::fs::write(dir.path().join(NAME), foreign).unwrap();
            assert!(matches!(Manifest::read(&pattern("%d.png")), Err(OutputError::ForeignManifest(..))), "{foreign}");
        }
    }
}
