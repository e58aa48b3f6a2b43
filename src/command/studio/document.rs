//! The scene that is worked on: its file, what the page has changed of it, and what is wrong with it.

use crate::cli::{Failure, SceneArgs, home};
use crate::command::{SceneText, scene_text};
use crate::error::Error;
use crate::output::store::atomic::rewrite_whole;
use crate::run::sandbox::PathSandbox;
use crate::scene::edit::{self, Edit};
use crate::scene::{self, Grammar, ParseOptions, Parsed, Scene, Viewpoint, edits_through, tokens};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

// Places on the camera's way that the plan shows.
const PLACES: u32 = 240;
// Tables of a list that the page has fields for; keys.js says the same.
const MAX_TABLES: usize = 60;

/// A key and what it is set to; none takes it away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub key: String,
    pub value: Option<String>,
    // The key is a place in a list, and the value a new table in front of what is there.
    #[serde(skip_deserializing, skip_serializing_if = "std::ops::Not::not")]
    is_new: bool,
}

impl Change {
    fn apply(&self, text: &str) -> Result<String, Failure> {
        let changed = match &self.value {
            Some(table) if self.is_new => edit::insert(text, &self.key, table),
            value => edit::set(text, &self.key, value.as_deref()),
        };
        changed.map_err(|e| Failure::usage(e.to_string()))
    }

    // What `--set` says.
    fn of_flag(text: &str) -> Result<Change, Failure> {
        let expected = || Failure::usage(format!("--set {text}: expected KEY=VALUE, such as film.exposure=0.5"));
        let (key, value) = text.split_once('=').ok_or_else(expected)?;
        Ok(Change { key: key.trim().to_owned(), value: Some(value.to_owned()), is_new: false })
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

/// The scene.
pub struct Document {
    name: String,
    args: SceneArgs,
    grammar: Grammar,
    // The file's text, in TOML whatever the file is.
    text: String,
    changes: Vec<Change>,
    // The last scene without faults.
    scene: Scene,
    // Its keys in TOML, those that the text leaves out too, before flags change it; and what flags make of them.
    holds: Value,
    flags: Value,
    problems: Option<String>,
    // What kept the picture of a scene without faults from being made.
    complaint: Option<String>,
    // Counts what anybody could see change.
    version: u64,
    stamp: Option<Stamp>,
    // Those of the files that the scene names.
    named: Vec<(PathBuf, Option<Stamp>)>,
}

// When a file was changed, and how long it is.
type Stamp = (SystemTime, u64);

fn stamp_of(path: &Path) -> Option<Stamp> {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

// The files that a scene names, as they are now; of particles that move those of both ends.
fn files_of(scene: &Scene) -> Vec<(PathBuf, Option<Stamp>)> {
    let mut paths = Vec::new();
    scene.clone().visit_files(|_, path| paths.push(path.clone()));
    if let Some(particles) = &scene.world.particles {
        paths.extend([0, scene.output.frames - 1].map(|frame| particles.file(frame)));
    }
    paths.into_iter().map(|path| (path.clone(), stamp_of(&path))).collect()
}

impl Document {
    /// Reads the file.
    ///
    /// # Errors
    /// A file that cannot be read. One with faults is an error too the first time: there is nothing to show.
    pub fn open(name: &str, args: SceneArgs) -> Result<Document, Failure> {
        let changes = args.set.iter().map(|text| Change::of_flag(text)).collect::<Result<_, _>>()?;
        let mut document = Document {
            name: name.to_owned(),
            args,
            grammar: Grammar::Toml,
            text: String::new(),
            changes,
            scene: Scene::default(),
            holds: Value::Null,
            flags: Value::Null,
            problems: None,
            complaint: None,
            version: 1,
            stamp: stamp_of(Path::new(name)),
            named: Vec::new(),
        };
        let resolved = document.read()?;
        document.keep(resolved);
        Ok(document)
    }

    /// What the picture is of: this scene, of that version.
    pub fn scene(&self) -> (&Scene, u64) {
        (&self.scene, self.version)
    }

    /// The file.
    pub fn name(&self) -> &str {
        &self.name
    }

    // The file as it is now, with the changes.
    fn read(&mut self) -> Result<Resolved, Failure> {
        let (text, shown) = scene_text(&self.name)?;
        let home = home();
        let folder = Path::new(&self.name).parent().unwrap_or(Path::new(""));
        let reading = ParseOptions { folder, home: home.as_deref(), solids: self.args.token_solids() };
        let parsed = scene::parse(&text, &shown, reading)?;
        self.grammar = parsed.grammar;
        self.text = match parsed.grammar {
            Grammar::Toml => text,
            // Paths stay as they are written.
            Grammar::Tokens => {
                let reading = ParseOptions { folder: Path::new(""), ..reading };
                scene::parse(&text, &shown, reading)?.scene.to_toml()
            }
        };
        self.resolved()
    }

    // The scene of the text and the changes.
    fn resolved(&self) -> Result<Resolved, Failure> {
        let home = home();
        let folder = Path::new(&self.name).parent().unwrap_or(Path::new(""));
        let reading = ParseOptions { folder, home: home.as_deref(), solids: self.args.token_solids() };
        let Parsed { mut scene, grammar, .. } = scene::parse(&self.changed_text()?, &self.shown(), reading)?;
        if let Some(fence) = PathSandbox::of(&self.name, self.args.allow_outside) {
            fence.reading(&scene, grammar, self.args.texture.is_none())?;
        }
        let holds = spelled_out(&scene);
        self.args.override_scene(&mut scene)?;
        let flags = differences(&holds, &spelled_out(&scene));
        Ok(Resolved { scene, holds, flags })
    }

    /// The text in TOML, with what has been changed in it.
    pub fn changed_text(&self) -> Result<String, Failure> {
        let mut text = self.text.clone();
        for change in &self.changes {
            text = change.apply(&text)?;
        }
        Ok(text)
    }

    fn take(&mut self, result: Result<Resolved, Failure>) {
        self.version += 1;
        self.complaint = None;
        match result {
            Ok(resolved) => self.keep(resolved),
            Err(e) => {
                self.problems = Some(e.to_string());
                self.named = files_of(&self.scene);
            }
        }
    }

    fn keep(&mut self, Resolved { scene, holds, flags }: Resolved) {
        (self.scene, self.holds, self.flags, self.problems) = (scene, holds, flags, None);
        self.named = files_of(&self.scene);
    }

    /// Tells what kept the picture of that version from being made, such as a file that it names; none if it was. Whether that is new.
    pub fn complain(&mut self, version: u64, what: Option<&Failure>) -> bool {
        let what = what.map(|e| self.describe(e));
        let is_new = version == self.version && self.complaint != what;
        if is_new {
            self.complaint = what;
        }
        is_new
    }

    // With the place where the text names a file that is missing or broken.
    fn describe(&self, error: &Failure) -> String {
        let (Failure::Library(Error::Asset(asset)), Ok(text)) = (error, self.changed_text()) else {
            return error.to_string();
        };
        let folder = Path::new(&self.name).parent().unwrap_or(Path::new("")).to_owned();
        let place = SceneText { text, shown: self.shown(), folder }.about(asset);
        place.map_or_else(|| error.to_string(), |problems| problems.to_string())
    }

    // What its text is called.
    fn shown(&self) -> String {
        match (self.grammar, self.changes.is_empty()) {
            (_, false) => format!("{} (as changed)", self.name),
            (Grammar::Tokens, true) => format!("{} (in TOML)", self.name),
            (Grammar::Toml, true) => self.name.clone(),
        }
    }

    /// Looks whether the file has changed, or one that the scene names, and reads it again if so. Whether it has.
    pub fn follow(&mut self) -> bool {
        let stamp = stamp_of(Path::new(&self.name));
        // While an editor puts a new file in the old one's place there may be none.
        if stamp.is_none() || stamp == self.stamp {
            let is_other = self.named.iter().any(|(path, stamp)| stamp_of(path) != *stamp);
            if is_other {
                let result = self.resolved();
                self.take(result);
            }
            return is_other;
        }
        self.stamp = stamp;
        let result = self.read();
        self.take(result);
        true
    }

    /// Sets keys, or takes them away. A later change of the same key takes the place of an earlier one.
    ///
    /// # Errors
    /// A key that leads nowhere; nothing is changed then.
    pub fn set(&mut self, changes: Vec<Change>) -> Result<(), Failure> {
        let mut text = self.changed_text()?;
        for change in &changes {
            text = change.apply(&text)?;
        }
        // A new table in a list gives the ones behind it other paths: what was changed before stays before it.
        let last_new = self.changes.iter().rposition(|old| old.is_new);
        let mut later = self.changes.split_off(last_new.map_or(0, |place| place + 1));
        later.retain(|old| changes.iter().all(|new| new.key != old.key));
        self.changes.extend(later);
        self.changes.extend(changes);
        let result = self.resolved();
        self.take(result);
        Ok(())
    }

    /// Leads the camera's way through a view.
    ///
    /// # Errors
    /// As [`Document::set`].
    pub fn look(&mut self, frame: u32, view: &Viewpoint) -> Result<(), Failure> {
        let edits = edits_through(&self.scene.camera, frame, self.scene.output.frames, view);
        self.set(edits.into_iter().map(Change::from).collect())
    }

    /// Forgets all changes.
    pub fn discard(&mut self) {
        self.changes.clear();
        let result = self.resolved();
        self.take(result);
    }

    /// Writes the changes into the file; comments and order stay.
    ///
    /// # Errors
    /// A scene with faults is not written; nor is one in tokens that tokens cannot say, or a file that cannot be written.
    pub fn write_back(&mut self) -> Result<(), Failure> {
        self.follow();
        let changed = self.changed_text()?;
        self.resolved()?;
        let text = match self.grammar {
            Grammar::Toml => changed.clone(),
            Grammar::Tokens => self.tokens()?,
        };
        rewrite_whole(Path::new(&self.name), |file| file.write_all(text.as_bytes()))?;
        self.changes.clear();
        self.text = changed;
        self.stamp = stamp_of(Path::new(&self.name));
        self.version += 1;
        Ok(())
    }

    /// The scene in tokens.
    ///
    /// # Errors
    /// What tokens cannot say.
    pub fn tokens(&self) -> Result<String, Failure> {
        let home = home();
        let reading =
            ParseOptions { home: home.as_deref(), solids: self.args.token_solids(), ..ParseOptions::default() };
        let parsed = scene::parse(&self.changed_text()?, &self.name, reading)?;
        tokens::write(&parsed.scene).map_err(Failure::NotExpressible)
    }

    /// All that the page shows but the picture.
    pub fn state(&self) -> Value {
        let scene = &self.scene;
        let frames = scene.output.frames;
        let count = frames.min(PLACES);
        let way = (0..count).map(|i| {
            let frame = (u64::from(i) * u64::from(frames) / u64::from(count)) as u32;
            let view = Viewpoint::of(&scene.camera, frame, frames);
            json!({ "frame": frame, "eye": view.eye, "look_at": view.look_at, "fov_deg": view.fov_deg })
        });
        let world = &scene.world;
        let bodies = world.bodies.iter().map(|b| json!({ "centre": b.centre, "radius": b.radius }));
        let balls = world.spheres.iter().map(|s| json!({ "centre": s.centre, "radius": s.radius }));
        let ellipsoids = world.ellipsoids.iter().map(|e| json!({ "centre": e.centre, "radius": e.reach() }));
        let document = self.changed_text().ok().and_then(|text| toml::from_str::<toml::Table>(&text).ok());
        json!({
            "version": self.version,
            "name": self.name,
            "grammar": match self.grammar { Grammar::Toml => "toml", Grammar::Tokens => "tokens" },
            "size": [scene.render.width, scene.render.height],
            "frames": frames,
            "fps": scene.output.fps,
            "levels": super::painter::levels(scene),
            "problems": self.problems.as_ref().or(self.complaint.as_ref()),
            "loop": scene.loop_problems(),
            "changes": self.changes,
            "way": way.collect::<Vec<_>>(),
            // More of them hide each other.
            "bodies": bodies.chain(balls).chain(ellipsoids).take(2000).collect::<Vec<_>>(),
            "floor": world.floor.as_ref().map(|f| f.corners),
            "lights": world.lights.iter().map(|l| l.position).take(2000).collect::<Vec<_>>(),
            "document": document,
            "holds": self.holds,
            "flags": self.flags,
        })
    }
}

// A scene, and what the page's fields show where the text says nothing.
struct Resolved {
    scene: Scene,
    holds: Value,
    flags: Value,
}

// Every key of a scene with its value; of lists as many tables as the page shows.
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

// The values that are other in `new`, by their paths.
fn differences(old: &Value, new: &Value) -> Value {
    fn walk(path: &str, old: &Value, new: &Value, found: &mut serde_json::Map<String, Value>) {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                for (key, value) in new {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    walk(&path, old.get(key).unwrap_or(&Value::Null), value, found);
                }
            }
            (Value::Array(old), Value::Array(new)) if new.first().is_some_and(Value::is_object) => {
                for (i, value) in new.iter().enumerate() {
                    walk(&format!("{path}[{i}]"), old.get(i).unwrap_or(&Value::Null), value, found);
                }
            }
            _ if old != new => drop(found.insert(path.to_owned(), new.clone())),
            _ => {}
        }
    }
    let mut found = serde_json::Map::new();
    walk("", old, new, &mut found);
    found.into()
}
