//! The edited scene: its file, the page's changes, and its faults.

use super::aim::{Aim, Loaded};
use super::deeds::{Deed, Seen};
use super::history::History;
use super::painter::levels;
use super::stamps::{Stamp, files_of, stamp_of};
use super::timeline;
use super::unsaved::Unsaved;
use crate::cli::{Failure, SceneArgs, assignment, language};
use crate::command::scene_file::{SceneText, replace_missing};
use crate::error::Error;
use crate::language::msg;
use crate::math::hash::of_texts;
use crate::output::store::atomic::{rewrite_whole, write_whole};
use crate::output::store::manifest::differences;
use crate::run::sandbox::PathSandbox;
use crate::scene::text::diagnostic::{Colours, Problems, Severity};
use crate::scene::text::edit::Edit;
use crate::scene::text::merge;
use crate::scene::{Grammar, Parsed, Scene, Viewpoint, edits_through, tokens};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

// Points of the camera path on the plan.
const PLACES: u32 = 240;
// Maximum number of tables of a list that the page has fields for; keys.js has the same number.
const MAX_TABLES: usize = 60;
// How long an editor may take to replace a file.
const MOMENT: Duration = Duration::from_millis(500);

/// A key and its new value; None removes the key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    key: String,
    value: Option<String>,
}

impl From<Change> for Edit {
    fn from(change: Change) -> Edit {
        match change.value {
            Some(value) => Edit::Set(change.key, value),
            None => Edit::Remove(change.key),
        }
    }
}

/// An edit, for the page.
pub fn change_of(edit: &Edit) -> Value {
    json!({ "key": edit.path(), "value": edit.value() })
}

// The text after these edits.
fn edited(text: &str, edits: &[Edit]) -> Result<String, Failure> {
    let apply = |text: String, edit: &Edit| edit.apply(&text).map_err(|e| Failure::usage(e.message()));
    edits.iter().try_fold(text.to_owned(), apply)
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
    saved: String,
    hash: [u8; 32],
    folder: PathBuf,
    // The scene's text, with all earlier ones.
    history: History,
    // What the file does not have of it.
    changes: Vec<Edit>,
    // The changes of the command line, which are lost by nothing.
    given: Vec<Edit>,
    // Keys that the page and an editor have changed, each to another value. The page's value is shown.
    questions: Vec<String>,
    unsaved: Unsaved,
    // The last scene without faults.
    resolved: Resolved,
    problems: Option<String>,
    // The faults of the file's present text. `saved` is an earlier one then.
    faults: Option<String>,
    // Why a scene without faults could not be rendered.
    complaint: Option<String>,
    /// Counts visible changes.
    pub version: u64,
    /// The version that the picture is of.
    pub picture: u64,
    stamp: Option<Stamp>,
    // When the file was last there, and whether it has been missing for longer than a moment.
    seen: Instant,
    is_missing: bool,
    // The time stamps of the files that the scene names.
    named: Vec<(PathBuf, Option<Stamp>)>,
}

impl Document {
    /// No scene. Those that are opened have these flags.
    pub fn none(allow_outside: bool, args: SceneArgs) -> Document {
        Document {
            name: String::new(),
            given: Vec::new(),
            args,
            allow_outside,
            grammar: Grammar::Toml,
            saved: String::new(),
            hash: [0; 32],
            folder: PathBuf::new(),
            history: History::default(),
            changes: Vec::new(),
            questions: Vec::new(),
            unsaved: Unsaved::beside(Path::new("")),
            resolved: Resolved::default(),
            problems: None,
            faults: None,
            complaint: None,
            version: 0,
            picture: 0,
            stamp: None,
            seen: Instant::now(),
            is_missing: false,
            named: Vec::new(),
        }
    }

    /// Reads another scene's file. Faults are an error here, because there is no earlier picture to show.
    pub fn open(&self, name: &str) -> Result<Document, Failure> {
        let set = |(key, value): (&str, &str)| Edit::Set(key.to_owned(), value.to_owned());
        let mut document = Document {
            name: name.to_owned(),
            given: self.args.set.iter().map(|text| assignment(text).map(set)).collect::<Result<_, _>>()?,
            folder: Path::new(name).parent().unwrap_or(Path::new("")).to_owned(),
            unsaved: Unsaved::beside(Path::new(name)),
            version: self.version + 1,
            picture: self.version + 1,
            stamp: stamp_of(Path::new(name)),
            ..Document::none(self.allow_outside, self.args.clone())
        };
        document.read_text()?;
        document.history.push(&edited(&document.saved, &document.given)?, None);
        document.changes = merge::between(&document.saved, document.history.now());
        document.resolved = document.resolved()?;
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

    // Reads the file's text, unless it has faults, and makes the page's changes to it.
    fn read_text(&mut self) -> Result<(), Failure> {
        let file = SceneText::read_regular(&self.name)?;
        let (hash, grammar) = (of_texts([file.text.as_str()]), file.parse(&self.args)?.grammar);
        let text = match grammar {
            Grammar::Toml => file.text,
            // Paths are kept as written.
            Grammar::Tokens => SceneText { folder: PathBuf::new(), ..file }.parse(&self.args)?.scene.to_toml(),
        };
        let (merged, both) = merge::merge(&self.saved, self.history.now(), &text);
        self.history.push(&merged, None);
        self.questions.extend(both);
        (self.saved, self.hash, self.grammar) = (text, hash, grammar);
        Ok(())
    }

    fn resolved(&self) -> Result<Resolved, Failure> {
        let Parsed { mut scene, grammar, .. } = self.changed().parse(&self.args)?;
        let holds = spelled_out(&scene);
        self.args.override_scene(&mut scene)?;
        replace_missing(&self.args, &mut scene);
        let outside = self.sandbox().map(|sandbox| sandbox.reading(&scene, grammar, self.args.texture.is_none()));
        if let Some(error) = outside.unwrap_or_default().into_iter().next() {
            return Err(error.into());
        }
        let mut flags = differences(&holds, &spelled_out(&scene));
        flags.retain(|_, value| !value.is_null());
        let flags = flags.into();
        Ok(Resolved { scene, holds, flags })
    }

    // The text in TOML with the page's changes.
    fn changed(&self) -> SceneText {
        let shown = match (self.grammar, self.changes.is_empty()) {
            (_, false) => format!("{} (as changed)", self.name),
            (Grammar::Tokens, true) => format!("{} (in TOML)", self.name),
            (Grammar::Toml, true) => self.name.clone(),
        };
        SceneText { text: self.history.now().to_owned(), shown, folder: self.folder.clone(), look: None }
    }

    // Shows a scene, or why there is none. Its changes are kept before it is rendered, because that may end the program.
    fn take(&mut self, result: Result<Resolved, Failure>) -> Result<(), Failure> {
        self.version += 1;
        self.compare();
        self.complaint = None;
        self.problems = result.as_ref().err().map(|e| e.plain(language()));
        let before = self.scene().clone();
        let taken = result.map(|resolved| self.resolved = resolved);
        let named = files_of(self.scene());
        if *self.scene() != before || named != self.named {
            self.picture = self.version;
        }
        self.named = named;
        // A folder that cannot be written is reported at the end.
        let _ = self.keep_unsaved();
        taken
    }

    /// Records why this picture could not be rendered, such as a broken file; None if it could. Returns whether that
    /// is new.
    pub fn complain(&mut self, picture: u64, what: Option<&Failure>) -> bool {
        let what = what.map(|e| self.describe(e));
        let is_new = picture == self.picture && self.complaint != what;
        if is_new {
            self.complaint = what;
        }
        is_new
    }

    // The error, with the position where the text names the file.
    fn describe(&self, error: &Failure) -> String {
        let problems = match error {
            Failure::Library(Error::Asset(asset)) => self.changed().about(asset),
            _ => None,
        };
        match problems {
            Some(problems) => problems.shown(Severity::Error, Colours::Plain, language()),
            None => error.plain(language()),
        }
    }

    // What the file does not have of the scene, and what is still to be answered.
    fn compare(&mut self) {
        self.changes = merge::between(&self.saved, self.history.now());
        self.questions.retain(|key| self.changes.iter().any(|edit| edit.path() == key));
    }

    /// Reads the scene again if its file, or a file that it names, has changed. Returns whether it has.
    pub fn follow(&mut self) -> bool {
        if self.name.is_empty() {
            return false;
        }
        let stamp = stamp_of(Path::new(&self.name));
        if stamp.is_some() {
            self.seen = Instant::now();
        }
        let is_missing = self.seen.elapsed() > MOMENT;
        let result = if stamp.is_some() && (stamp != self.stamp || self.is_missing) {
            (self.stamp, self.is_missing) = (stamp, false);
            self.read()
        } else if is_missing != self.is_missing || self.named.iter().any(|(path, stamp)| stamp_of(path) != *stamp) {
            self.is_missing = is_missing;
            self.resolved()
        } else {
            return false;
        };
        drop(self.take(result));
        true
    }

    /// Sets or removes keys; none of them if one is invalid. Changes of one gesture are one step of the history.
    pub fn set(&mut self, edits: &[Edit], gesture: Option<String>) -> Result<(), Failure> {
        let text = edited(self.history.now(), edits)?;
        self.questions.retain(|key| edits.iter().all(|edit| edit.path() != key));
        self.step(|history| history.push(&text, gesture));
        Ok(())
    }

    /// The scene's text in TOML, with the page's changes.
    pub fn text(&self) -> &str {
        self.history.now()
    }

    /// Replaces the text.
    pub fn set_text(&mut self, text: &str, gesture: Option<String>) {
        self.step(|history| history.push(text, gesture));
    }

    /// The faults of the text, or what is likely a mistake in it.
    pub fn faults(&self) -> Option<(Severity, Problems)> {
        let of = |list| Problems { name: self.name.clone(), source: self.text().to_owned(), list };
        match self.changed().parse(&self.args) {
            Err(Failure::Library(Error::Scene(problems))) => Some((Severity::Error, *problems)),
            Err(_) => None,
            Ok(parsed) => Some((Severity::Warning, of(parsed.warnings))),
        }
    }

    // Shows another text of the history.
    fn step(&mut self, go: impl FnOnce(&mut History)) {
        go(&mut self.history);
        let result = self.resolved();
        drop(self.take(result));
    }

    /// Makes the camera path pass through a view.
    pub fn look(&mut self, frame: u32, view: &Viewpoint) -> Result<(), Failure> {
        self.set(&edits_through(&self.scene().camera, frame, self.scene().output.frames, view), None)
    }

    /// Does something with objects or keys. Returns the path of the object that is picked after it, if that changes; an empty one for
    /// none.
    pub fn make(
        &mut self,
        deed: &Deed,
        (frame, view): (u32, Option<Viewpoint>),
        loaded: &Loaded,
    ) -> Result<Option<String>, Failure> {
        let (scene, text) = (self.scene(), self.history.now());
        let frame = frame.min(scene.output.frames - 1);
        let aim = &Aim::new(scene, frame, view, loaded);
        let seen = Seen { text, scene, held: &self.resolved.holds, aim, frame, view };
        let (edits, picked) = seen.edits(deed).map_err(|e| Failure::usage(e.message()))?;
        self.set(&edits, deed.gesture())?;
        Ok(picked)
    }

    pub fn discard(&mut self) {
        let saved = self.saved.clone();
        self.step(|history| history.push(&saved, None));
    }

    pub fn undo(&mut self) {
        self.step(History::undo);
    }

    pub fn redo(&mut self) {
        self.step(History::redo);
    }

    /// Takes or drops the unwritten changes that an earlier studio has left.
    pub fn answer_unsaved(&mut self, is_taken: bool) -> Result<(), Failure> {
        if let Some(text) = self.unsaved.answer(is_taken)? {
            self.step(|history| history.push(&text, None));
        }
        self.version += 1;
        Ok(())
    }

    /// Writes the changes into the file, unless the scene has faults. Comments and order are kept. A file that is gone is written
    /// anew.
    pub fn write_back(&mut self) -> Result<(), Failure> {
        let path = PathBuf::from(&self.name);
        // Right before it is replaced, the file is compared with the text that was read last: its time stamp may be an old one.
        let text = loop {
            if let Some(key) = self.questions.first() {
                return Err(Failure::usage(msg!(
                    "`{key}` has another value in the file: choose one of the two first",
                    key
                )));
            }
            self.resolved()?;
            let text = match self.grammar {
                Grammar::Toml => self.changed().text,
                Grammar::Tokens => self.tokens()?,
            };
            let is_there = std::fs::symlink_metadata(&path).is_ok();
            if !is_there || of_texts([SceneText::read_regular(&self.name)?.text.as_str()]) == self.hash {
                let write = |file: &mut File| file.write_all(text.as_bytes());
                if is_there {
                    rewrite_whole(&path, write)?
                } else {
                    write_whole(&path, write)?
                }
                break text;
            }
            let result = self.read();
            self.take(result)?;
        };
        (self.saved, self.hash) = (self.history.now().to_owned(), of_texts([text.as_str()]));
        (self.stamp, self.is_missing) = (stamp_of(&path), false);
        self.version += 1;
        self.compare();
        self.keep_unsaved().map(drop)
    }

    /// Keeps the scene in its own file beside the scene's file as long as that does not have it. Returns the file's path; None if
    /// nothing would be lost.
    pub fn keep_unsaved(&mut self) -> Result<Option<PathBuf>, Failure> {
        let text = self.history.now();
        let is_given = || edited(&self.saved, &self.given).is_ok_and(|given| given == text);
        self.unsaved.keep(text, !self.is_missing && (text == self.saved || is_given()))
    }

    /// The changes, a line each.
    pub fn unsaved(&self) -> Vec<String> {
        let line = |edit: &Edit| format!("{} = {}", edit.path(), edit.value().unwrap_or_default());
        self.changes.iter().map(line).collect()
    }

    /// The scene of the file as a run reads it, without flags.
    pub fn written_scene(&self) -> Result<Scene, Failure> {
        Ok(SceneText::read_regular(&self.name)?.parse(&SceneArgs::default())?.scene)
    }

    /// The same with these edits.
    pub fn saved_scene(&self, edits: &[Edit]) -> Result<Scene, Failure> {
        let text = edited(&self.saved, edits)?;
        Ok(SceneText { text, folder: self.folder.clone(), ..SceneText::default() }.parse(&SceneArgs::default())?.scene)
    }

    /// Edits that put this number behind the name of the folder of frames, and of the film.
    pub fn numbered_output(&self, number: u32) -> Vec<Edit> {
        let scene =
            SceneText { text: self.saved.clone(), ..SceneText::default() }.parse(&self.args).map(|parsed| parsed.scene);
        let output = scene.unwrap_or_default().output;
        let files = output.files.to_string();
        let files = match files.rsplit_once('/') {
            Some((folder, name)) => format!("{folder}-{number}/{name}"),
            None => format!("frames-{number}/{files}"),
        };
        let film =
            output.video.as_ref().and_then(|video| Some((video.file_stem()?.to_str()?, video.extension()?.to_str()?)));
        let film = film.zip(output.video.as_ref()).map(|((stem, ending), video)| {
            Edit::Set(
                "output.video".to_owned(),
                video.with_file_name(format!("{stem}-{number}.{ending}")).display().to_string(),
            )
        });
        std::iter::once(Edit::Set("output.path".to_owned(), files)).chain(film).collect()
    }

    /// Whether the file has all that the page shows.
    pub fn is_written(&self) -> bool {
        self.history.now() == self.saved && !self.is_missing
    }

    pub fn sandbox(&self) -> Option<PathSandbox> {
        PathSandbox::of(&self.name, self.allow_outside)
    }

    pub fn tokens(&self) -> Result<String, Failure> {
        let source = SceneText { shown: self.name.clone(), folder: PathBuf::new(), ..self.changed() };
        let parsed = source.parse(&self.args)?;
        tokens::write(&parsed.scene).map_err(Failure::NotExpressible)
    }

    // The values of the keys that the page and an editor have changed.
    fn asked(&self) -> Vec<Value> {
        if self.questions.is_empty() {
            return Vec::new();
        }
        let back = merge::between(self.history.now(), &self.saved);
        let value_in = |edits: &[Edit], key: &str| {
            edits.iter().find(|edit| edit.path() == key).and_then(Edit::value).map(str::to_owned)
        };
        let asked =
            |key: &String| json!({ "key": key, "page": value_in(&self.changes, key), "file": value_in(&back, key) });
        self.questions.iter().map(asked).collect()
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
        let document = toml::from_str::<toml::Table>(self.history.now()).ok();
        let missing =
            self.is_missing.then(|| msg!("{path} is gone: Write back writes it anew", path = self.name.as_str()));
        let missing = missing.map(|what| what.get(language()));
        let loop_problems = scene.loop_problems();
        let problems = [&self.faults, &missing, &self.problems, &self.complaint];
        json!({
            "version": self.version,
            "picture": self.picture,
            "name": self.name,
            "grammar": match self.grammar { Grammar::Toml => "toml", Grammar::Tokens => "tokens" },
            "size": [scene.render.width, scene.render.height],
            // Picture widths along the axis of the field of view.
            "is_round": scene.camera.projection.is_round(),
            "axis": scene.camera.fov_axis.pixels(scene.render.width, scene.render.height) / f64::from(scene.render.width),
            "frames": frames,
            "fps": scene.output.fps,
            "levels": levels(scene),
            "problems": problems.into_iter().flatten().next(),
            "tracks": timeline::rows(scene),
            "can_loop": loop_problems.iter().any(|problem| !problem.mend.is_empty()),
            "loop": loop_problems.iter().map(|problem| problem.what.to_string()).collect::<Vec<_>>(),
            "changes": self.changes.iter().map(change_of).collect::<Vec<_>>(),
            "questions": self.asked(),
            "can_undo": self.history.can_undo(),
            "can_redo": self.history.can_redo(),
            "is_written": self.is_written(),
            "left": self.unsaved.state(),
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
