//! The edited scene: its file, the page's changes, and its faults.

use super::painter::levels;
use crate::cli::{CommonArgs, Failure, SceneArgs, assignment, language};
use crate::command::scene_file::{SceneText, replace_missing};
use crate::error::Error;
use crate::math::hash::of_texts;
use crate::output::OutputError;
use crate::output::store::atomic::rewrite_whole;
use crate::output::store::manifest::differences;
use crate::run::sandbox::PathSandbox;
use crate::scene::text::diagnostic::{Colours, Severity};
use crate::scene::text::edit::{self, Edit};
use crate::scene::{Grammar, Parsed, Scene, Viewpoint, edits_through, tokens};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

// Points of the camera path on the plan.
const PLACES: u32 = 240;
// Maximum number of tables of a list that the page has fields for; keys.js has the same number.
const MAX_TABLES: usize = 60;

/// A key and its new value; None removes the key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub key: String,
    pub value: Option<String>,
    // The key is a position in a list, and the value is a new table that is inserted there.
    #[serde(skip_deserializing, skip_serializing_if = "std::ops::Not::not")]
    is_new: bool,
}

impl Change {
    fn apply(&self, text: &str) -> Result<String, Failure> {
        let changed = match &self.value {
            Some(table) if self.is_new => edit::insert(text, &self.key, table),
            value => edit::set(text, &self.key, value.as_deref()),
        };
        changed.map_err(|e| Failure::usage(e.message()))
    }
}

impl From<Edit> for Change {
    fn from(edit: Edit) -> Change {
        let (key, value, is_new) = match edit {
            Edit::Set(key, value) => (key, value, false),
            Edit::Insert(key, value) => (key, value, true),
        };
        Change { key, value: Some(value), is_new }
    }
}

// A scene without faults.
#[derive(Default)]
struct Resolved {
    scene: Scene,
    // All its keys in TOML, with defaults: before flags, and after them.
    holds: Value,
    flags: Value,
}

pub struct Document {
    pub name: String,
    args: SceneArgs,
    allow_outside: bool,
    grammar: Grammar,
    // The file's text, converted to TOML, the hash of the text as it was read, and its folder.
    text: String,
    hash: [u8; 32],
    folder: PathBuf,
    changes: Vec<Change>,
    // The changes of the command line, which are lost by nothing.
    given: Vec<Change>,
    // The file that has the other changes as long as the scene's own has not.
    unsaved: Option<PathBuf>,
    // The last scene without faults.
    resolved: Resolved,
    problems: Option<String>,
    // The faults of the file's present text. `text` is an earlier one then.
    faults: Option<String>,
    // Why a scene without faults could not be rendered.
    complaint: Option<String>,
    /// Counts visible changes.
    pub version: u64,
    stamp: Option<Stamp>,
    // The time stamps of the files that the scene names.
    named: Vec<(PathBuf, Option<Stamp>)>,
}

// The time of a file's modification, and its length.
type Stamp = (SystemTime, u64);

fn stamp_of(path: &Path) -> Option<Stamp> {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

// The files that a scene names, with their time stamps. Of animated particles, the first and the last file.
fn files_of(scene: &Scene) -> Vec<(PathBuf, Option<Stamp>)> {
    let mut paths = Vec::new();
    scene.clone().visit_files(|_, path| paths.push(path.clone()));
    if let Some(particles) = &scene.world.particles {
        paths.extend([0, scene.output.frames - 1].map(|frame| particles.file(frame)));
    }
    paths.into_iter().map(|path| (path.clone(), stamp_of(&path))).collect()
}

impl Document {
    /// Reads the file. Faults are an error here, because there is no earlier scene to show.
    pub fn open(name: &str, common: &CommonArgs, args: SceneArgs) -> Result<Document, Failure> {
        let set = |(key, value): (&str, &str)| Change::from(Edit::Set(key.to_owned(), value.to_owned()));
        let changes: Vec<Change> = args.set.iter().map(|text| assignment(text).map(set)).collect::<Result<_, _>>()?;
        let mut document = Document {
            name: name.to_owned(),
            args,
            allow_outside: common.allow_outside,
            grammar: Grammar::Toml,
            text: String::new(),
            hash: [0; 32],
            folder: Path::new(name).parent().unwrap_or(Path::new("")).to_owned(),
            given: changes.clone(),
            changes,
            unsaved: None,
            resolved: Resolved::default(),
            problems: None,
            faults: None,
            complaint: None,
            version: 1,
            stamp: stamp_of(Path::new(name)),
            named: Vec::new(),
        };
        document.resolved = document.read()?;
        document.named = files_of(document.scene());
        Ok(document)
    }

    pub fn scene(&self) -> &Scene {
        &self.resolved.scene
    }

    fn read(&mut self) -> Result<Resolved, Failure> {
        let read = self.read_text();
        self.faults = read.as_ref().err().map(|e| e.plain(language()));
        read.and_then(|()| self.resolved())
    }

    // Reads the file's text, unless it has faults.
    fn read_text(&mut self) -> Result<(), Failure> {
        let file = SceneText::read_regular(&self.name)?;
        let (hash, grammar) = (of_texts([file.text.as_str()]), file.parse(&self.args)?.grammar);
        self.text = match grammar {
            Grammar::Toml => file.text,
            // Paths are kept as written.
            Grammar::Tokens => SceneText { folder: PathBuf::new(), ..file }.parse(&self.args)?.scene.to_toml(),
        };
        (self.hash, self.grammar) = (hash, grammar);
        Ok(())
    }

    fn resolved(&self) -> Result<Resolved, Failure> {
        let Parsed { mut scene, grammar, .. } = self.changed()?.parse(&self.args)?;
        let holds = spelled_out(&scene);
        self.args.override_scene(&mut scene)?;
        replace_missing(&self.args, &mut scene);
        let sandbox = PathSandbox::of(&self.name, self.allow_outside);
        let outside = sandbox.map(|sandbox| sandbox.reading(&scene, grammar, self.args.texture.is_none()));
        if let Some(error) = outside.unwrap_or_default().into_iter().next() {
            return Err(error.into());
        }
        let mut flags = differences(&holds, &spelled_out(&scene));
        flags.retain(|_, value| !value.is_null());
        let flags = flags.into();
        Ok(Resolved { scene, holds, flags })
    }

    // The text in TOML with the changes applied.
    fn changed(&self) -> Result<SceneText, Failure> {
        let shown = match (self.grammar, self.changes.is_empty()) {
            (_, false) => format!("{} (as changed)", self.name),
            (Grammar::Tokens, true) => format!("{} (in TOML)", self.name),
            (Grammar::Toml, true) => self.name.clone(),
        };
        let text = self.changes.iter().try_fold(self.text.clone(), |text, change| change.apply(&text))?;
        Ok(SceneText { text, shown, folder: self.folder.clone(), look: None })
    }

    // Shows a scene, or why there is none. Its changes are kept before it is rendered, because that may end the program.
    fn take(&mut self, result: Result<Resolved, Failure>) -> Result<(), Failure> {
        self.version += 1;
        self.complaint = None;
        self.problems = result.as_ref().err().map(|e| e.plain(language()));
        let taken = result.map(|resolved| self.resolved = resolved);
        self.named = files_of(self.scene());
        // A folder that cannot be written is reported at the end.
        let _ = self.keep_unsaved();
        taken
    }

    /// Records why this version could not be rendered, such as a broken file; None if it could. Returns whether that
    /// is new.
    pub fn complain(&mut self, version: u64, what: Option<&Failure>) -> bool {
        let what = what.map(|e| self.describe(e));
        let is_new = version == self.version && self.complaint != what;
        if is_new {
            self.complaint = what;
        }
        is_new
    }

    // The error, with the position where the text names the file.
    fn describe(&self, error: &Failure) -> String {
        let problems = match (error, self.changed()) {
            (Failure::Library(Error::Asset(asset)), Ok(source)) => source.about(asset),
            _ => None,
        };
        match problems {
            Some(problems) => problems.shown(Severity::Error, Colours::Plain, language()),
            None => error.plain(language()),
        }
    }

    /// Reads the scene again if its file, or a file that it names, has changed. Returns whether it has.
    pub fn follow(&mut self) -> bool {
        let stamp = stamp_of(Path::new(&self.name));
        // The file may be missing for a moment while an editor replaces it.
        let result = if stamp.is_some() && stamp != self.stamp {
            self.stamp = stamp;
            self.read()
        } else if self.named.iter().any(|(path, stamp)| stamp_of(path) != *stamp) {
            self.resolved()
        } else {
            return false;
        };
        drop(self.take(result));
        true
    }

    /// Sets or removes keys; none of them if one is invalid. A later change of a key replaces an earlier one.
    pub fn set(&mut self, changes: Vec<Change>) -> Result<(), Failure> {
        changes.iter().try_fold(self.changed()?.text, |text, change| change.apply(&text))?;
        // A new table shifts the paths of those after it, so earlier changes stay before it.
        let last_new = self.changes.iter().rposition(|old| old.is_new);
        let mut later = self.changes.split_off(last_new.map_or(0, |i| i + 1));
        later.retain(|old| changes.iter().all(|new| new.key != old.key));
        self.changes.extend(later);
        self.changes.extend(changes);
        let result = self.resolved();
        drop(self.take(result));
        Ok(())
    }

    /// Makes the camera path pass through a view.
    pub fn look(&mut self, frame: u32, view: &Viewpoint) -> Result<(), Failure> {
        let edits = edits_through(&self.scene().camera, frame, self.scene().output.frames, view);
        self.set(edits.into_iter().map(Change::from).collect())
    }

    pub fn discard(&mut self) {
        self.changes.clear();
        self.given.clear();
        let result = self.resolved();
        drop(self.take(result));
    }

    /// Writes the changes into the file, unless the scene has faults. Comments and order are kept.
    pub fn write_back(&mut self) -> Result<(), Failure> {
        // Right before it is replaced, the file is compared with the text that was read last: its time stamp may be an old one.
        let (changed, text) = loop {
            let changed = self.changed()?.text;
            self.resolved()?;
            let text = match self.grammar {
                Grammar::Toml => changed.clone(),
                Grammar::Tokens => self.tokens()?,
            };
            if of_texts([SceneText::read_regular(&self.name)?.text.as_str()]) == self.hash {
                break (changed, text);
            }
            let result = self.read();
            self.take(result)?;
        };
        rewrite_whole(Path::new(&self.name), |file| file.write_all(text.as_bytes()))?;
        self.changes.clear();
        self.given.clear();
        (self.text, self.hash) = (changed, of_texts([text.as_str()]));
        self.stamp = stamp_of(Path::new(&self.name));
        self.version += 1;
        self.keep_unsaved().map(drop)
    }

    /// Keeps the changes in their own file beside the scene as long as the scene's file does not have them. Returns the file's
    /// path; None if nothing would be lost.
    pub fn keep_unsaved(&mut self) -> Result<Option<PathBuf>, Failure> {
        if self.changes.is_empty() || self.changes == self.given {
            // It may be gone already.
            self.unsaved.take().map(std::fs::remove_file);
            return Ok(None);
        }
        let text = self.changed()?.text;
        // An earlier file of this kind stays.
        let names = std::iter::once(String::new()).chain((2..).map(|n| format!("-{n}")));
        let mut paths = names.map(|n| Path::new(&self.name).with_extension(format!("unsaved{n}.toml")));
        let is_free = |path: &PathBuf| std::fs::symlink_metadata(path).is_err();
        let path = self.unsaved.get_or_insert_with(|| paths.find(is_free).unwrap_or_default()).clone();
        std::fs::write(&path, text).map_err(|e| OutputError::Write(path.clone(), e))?;
        Ok(Some(path))
    }

    /// The changes, a line each.
    pub fn unsaved(&self) -> Vec<String> {
        let line = |change: &Change| format!("{} = {}", change.key, change.value.as_deref().unwrap_or_default());
        self.changes.iter().map(line).collect()
    }

    pub fn tokens(&self) -> Result<String, Failure> {
        let source = SceneText { shown: self.name.clone(), folder: PathBuf::new(), ..self.changed()? };
        let parsed = source.parse(&self.args)?;
        tokens::write(&parsed.scene).map_err(Failure::NotExpressible)
    }

    /// The page's state, except the picture.
    pub fn state(&self) -> Value {
        let scene = self.scene();
        let frames = scene.output.frames;
        let count = frames.min(PLACES);
        let way = (0..count).map(|i| {
            let frame = (u64::from(i) * u64::from(frames) / u64::from(count)) as u32;
            let view = Viewpoint::of(&scene.camera, frame, frames);
            let across = scene.camera_at(f64::from(frame)).width;
            json!({ "frame": frame, "eye": view.eye, "look_at": view.look_at, "fov_deg": view.fov_deg, "across": across })
        });
        let world = &scene.world;
        let bodies = world.bodies.iter().map(|b| json!({ "centre": b.centre, "radius": b.radius }));
        let balls = world.spheres.iter().map(|s| json!({ "centre": s.centre, "radius": s.radius }));
        let ellipsoids = world.ellipsoids.iter().map(|e| json!({ "centre": e.centre, "radius": e.reach() }));
        let document = self.changed().ok().and_then(|source| toml::from_str::<toml::Table>(&source.text).ok());
        json!({
            "version": self.version,
            "name": self.name,
            "grammar": match self.grammar { Grammar::Toml => "toml", Grammar::Tokens => "tokens" },
            "size": [scene.render.width, scene.render.height],
            // Picture widths along the axis of the field of view.
            "axis": scene.camera.fov_axis.pixels(scene.render.width, scene.render.height) / f64::from(scene.render.width),
            "frames": frames,
            "fps": scene.output.fps,
            "levels": levels(scene),
            "problems": self.faults.as_ref().or(self.problems.as_ref()).or(self.complaint.as_ref()),
            "loop": scene.loop_problems().into_iter().map(|problem| problem.what.to_string()).collect::<Vec<_>>(),
            "changes": self.changes,
            "way": way.collect::<Vec<_>>(),
            // More bodies would only hide each other.
            "bodies": bodies.chain(balls).chain(ellipsoids).take(2000).collect::<Vec<_>>(),
            "floor": world.floor.as_ref().map(|f| f.corners),
            "lights": world.lights.iter().map(|l| l.position).take(2000).collect::<Vec<_>>(),
            "document": document,
            "holds": self.resolved.holds,
            "flags": self.resolved.flags,
        })
    }
}

// All keys of a scene with their values. Lists are cut to the number of tables that the page shows.
fn spelled_out(scene: &Scene) -> Value {
    let mut scene = scene.clone();
    scene.world.bodies.truncate(MAX_TABLES);
    scene.world.spheres.truncate(MAX_TABLES);
    scene.world.ellipsoids.truncate(MAX_TABLES);
    scene.world.rectangles.truncate(MAX_TABLES);
    scene.world.meshes.truncate(MAX_TABLES);
    scene.world.lights.truncate(MAX_TABLES);
    let table = toml::from_str::<toml::Table>(&scene.to_toml());
    table.map_or(Value::Null, |table| json!(table))
}
