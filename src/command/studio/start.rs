//! The start page: the samples and templates that are inside the program, the scenes of the studio's folder, and how one of them
//! becomes the studio's scene. A sample or a template is written into the folder first.

use super::answers::{Answer, Shared, aside, json_answer, read, typed};
use super::made::absolute;
use super::session::Studio;
use crate::cli::{Failure, SceneArgs};
use crate::command::docs::pages::pictures;
use crate::command::samples::{self, found};
use crate::command::scene_file::SceneText;
use crate::language::msg;
use crate::output::OutputError;
use crate::quote::brief;
use crate::scene::builtin::{Builtin, SAMPLES, TEMPLATES};
use axum::body::Bytes;
use axum::extract::Path as Part;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

// Files of the folder that are looked at, and the bytes of one.
const MAX_FILES: usize = 60;
const MAX_BYTES: u64 = 1 << 20;

pub fn routes() -> [(&'static str, MethodRouter<Arc<Studio>>); 4] {
    [("start", get(list)), ("open", post(open)), ("docs/{*name}", get(packed)), ("thumb/{kind}/{name}", get(thumb))]
}

fn listed(scenes: &[Builtin]) -> Vec<Value> {
    let has_picture = |name: &str| pictures().any(|(path, _)| path == name);
    let row = |scene: &Builtin| {
        let picture = format!("{}.webp", scene.name());
        json!({ "name": scene.name(), "about": scene.about(), "picture": has_picture(&picture).then_some(picture) })
    };
    scenes.iter().map(row).collect()
}

// The scenes of the folder, newest first. Links and files without a scene are left out.
fn scenes_of(folder: &Path) -> Vec<(String, SystemTime)> {
    let there = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let file = |entry: std::fs::DirEntry| {
        let (name, facts) = (entry.file_name().into_string().ok()?, entry.metadata().ok()?);
        let is_named = (name.ends_with(".toml") || name.ends_with(".txt")) && !name.contains(".unsaved");
        (is_named && facts.is_file() && facts.len() < MAX_BYTES).then_some((name, facts.modified().ok()?))
    };
    let mut files: Vec<_> = std::fs::read_dir(there).into_iter().flatten().flatten().filter_map(file).collect();
    files.sort_by_key(|(_, time)| Reverse(*time));
    files.truncate(MAX_FILES);
    files.retain(|(name, _)| is_scene(&folder.join(name)));
    files
}

fn is_scene(path: &Path) -> bool {
    let text = SceneText::read_regular(&path.display().to_string());
    text.is_ok_and(|text| text.parse(&SceneArgs::default()).is_ok())
}

// The scenes of other folders that were opened last, newest first. Those that are gone are left out.
fn elsewhere(studio: &Studio) -> Vec<(String, SystemTime)> {
    let here = absolute(&studio.folder);
    let others = studio.recent.paths().into_iter().filter(|path| path.parent() != Some(&*here) && is_scene(path));
    let row = |path: PathBuf| {
        let time = std::fs::metadata(&path).and_then(|facts| facts.modified()).ok()?;
        Some((path.into_os_string().into_string().ok()?, time))
    };
    others.filter_map(row).collect()
}

async fn list(State(studio): Shared) -> Answer {
    let files = aside(move || {
        let row = |(name, time): (String, SystemTime)| {
            let time = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            json!({ "name": name, "time": time })
        };
        let rows = |files: Vec<(String, SystemTime)>| files.into_iter().map(row).collect::<Vec<Value>>();
        Ok(json!({
            "folder": absolute(&studio.folder).display().to_string(),
            "files": rows(scenes_of(&studio.folder)),
            "elsewhere": rows(elsewhere(&studio)),
            "templates": listed(TEMPLATES),
            "samples": listed(SAMPLES),
        }))
    });
    Ok(json_answer(&files.await?))
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Opening {
    /// A scene of the folder.
    File(String),
    /// One of another folder that was opened before.
    Elsewhere(String),
    Sample(String),
    Template(String),
}

async fn open(State(studio): Shared, body: Bytes) -> Answer {
    let opening: Opening = read(&body)?;
    let session = Arc::clone(&studio);
    aside(move || {
        let path = match opening {
            Opening::File(name) => file_of(&session, &name)?,
            Opening::Elsewhere(path) => opened_before(&session, &path)?,
            Opening::Sample(name) => begun(&session.folder, found(SAMPLES, &name)?, false)?,
            Opening::Template(name) => begun(&session.folder, found(TEMPLATES, &name)?, true)?,
        };
        session.open(&path.display().to_string())
    })
    .await?;
    Ok(json_answer(&studio.state()))
}

// A file of the folder, by the name that the list has.
fn file_of(studio: &Studio, name: &str) -> Result<PathBuf, Failure> {
    let is_there = scenes_of(&studio.folder).iter().any(|(one, _)| one == name);
    is_there
        .then(|| studio.folder.join(name))
        .ok_or_else(|| Failure::usage(msg!("there is no scene {name}", name = brief(name))))
}

// A file of another folder, by the path that the list has.
fn opened_before(studio: &Studio, path: &str) -> Result<PathBuf, Failure> {
    let known = studio.recent.paths().into_iter().find(|one| one.to_str() == Some(path));
    known.ok_or_else(|| Failure::usage(msg!("there is no scene {name}", name = brief(path))))
}

// Writes a scene that is inside the program into the folder, under the first free name. A sample's copy that nobody has changed is
// opened again.
fn begun(folder: &Path, scene: &Builtin, is_template: bool) -> Result<PathBuf, Failure> {
    let ending = scene.file.strip_prefix(scene.name()).unwrap_or(".toml");
    let names = std::iter::once(scene.file.to_owned()).chain((2..).map(|n| format!("{}-{n}{ending}", scene.name())));
    for path in names.map(|name| folder.join(name)) {
        let text = if is_template { samples::own_text(scene, &path)? } else { scene.text().to_owned() };
        let is_free = std::fs::symlink_metadata(&path).is_err();
        let is_same = || SceneText::read_regular(&path.display().to_string()).is_ok_and(|file| file.text == text);
        if is_free || !is_template && is_same() {
            samples::write(scene, &path, &text, false)?;
            return Ok(path);
        }
    }
    Err(Failure::usage(msg!("there is no scene {name}", name = scene.name())))
}

// A picture of the documentation.
async fn packed(Part(name): Part<String>) -> Answer {
    let found = pictures().find(|(path, _)| *path == name && path.ends_with(".webp"));
    Ok(found.map_or(StatusCode::NOT_FOUND.into_response(), |(_, bytes)| typed("image/webp", bytes)))
}

async fn thumb(State(studio): Shared, Part((kind, name)): Part<(String, String)>) -> Answer {
    Ok(typed("image/png", aside(move || studio.thumb(&kind, &name)).await?))
}

impl Studio {
    fn thumb(&self, kind: &str, name: &str) -> Result<Vec<u8>, Failure> {
        let read = |path: &Path| SceneText::read_regular(&path.display().to_string());
        if kind != "template" {
            let path = if kind == "elsewhere" { opened_before(self, name)? } else { file_of(self, name)? };
            return self.thumbs.of(&read(&path)?, &self.options);
        }
        // With the files that it reads.
        let template = found(TEMPLATES, name)?;
        let folder = tempfile::tempdir().map_err(|e| OutputError::Write("a small picture".into(), e))?;
        let path = folder.path().join(template.file);
        samples::write(template, &path, template.text(), false)?;
        self.thumbs.of(&read(&path)?, &self.options)
    }
}
