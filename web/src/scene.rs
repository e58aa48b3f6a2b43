//! The text of a scene: what it says, and its faults with their places.

use polyfly::scene::builtin::{Builtin, SAMPLES, TEMPLATES};
use polyfly::scene::{Integrator, Parsed, Problem};
use polyfly::{Message, Scene};
use serde_json::{Value, json};
use std::path::Path;

/// Reads a text. A scene that names files has a fault for each, since a page reads none.
pub fn parsed(text: &str) -> Result<Parsed, Vec<Problem>> {
    let mut parsed = Scene::parse(text, "scene", Path::new("")).map_err(|problems| problems.list)?;
    let list: Vec<Problem> =
        files(&mut parsed.scene).into_iter().map(|(key, file)| unread(text, &key, &file)).collect();
    if list.is_empty() { Ok(parsed) } else { Err(list) }
}

// The files that the scene reads, each with its key.
fn files(scene: &mut Scene) -> Vec<(String, String)> {
    let mut all = Vec::new();
    scene.visit_files(|key, path| all.push((key, path.to_string_lossy().into_owned())));
    let particles = scene.world.particles.iter();
    all.extend(particles.map(|particles| ("particles.path".into(), particles.path.to_string_lossy().into_owned())));
    all
}

fn unread(text: &str, key: &str, file: &str) -> Problem {
    let start = text.find(file).unwrap_or(0);
    let end = if text[start..].starts_with(file) { start + file.len() } else { start };
    let expected = "expected a scene without files: this page reads none";
    let help = "the program reads them; `polyfly new` and `polyfly scenes` show textures that need no file";
    Problem::new(start..end, format!("{key} is the file {file}"), expected).help(Message::from(help))
}

/// What a text says, as JSON.
pub fn read(text: &str) -> Value {
    let (scene, warnings, problems) = match parsed(text) {
        Ok(parsed) => (Some(parsed.scene), parsed.warnings, Vec::new()),
        Err(problems) => (None, Vec::new(), problems),
    };
    let placed = |list: &[Problem]| list.iter().map(|problem| place(text, problem)).collect::<Vec<_>>();
    let mut about = json!({ "problems": placed(&problems), "warnings": placed(&warnings) });
    if let Some(scene) = scene {
        about["width"] = scene.render.width.into();
        about["height"] = scene.render.height.into();
        about["frames"] = scene.output.frames.into();
        about["fps"] = scene.output.fps.into();
        about["samples"] = scene.render.samples_per_pixel().into();
        about["random"] = (scene.render.integrator != Integrator::Whitted).into();
    }
    about
}

// A fault with its place: line and column from 1, start and end in UTF-16 units from 0, as text fields count.
fn place(text: &str, problem: &Problem) -> Value {
    let within = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (start, end) = (within(problem.span.start), within(problem.span.end));
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    json!({
        "line": text[..line].matches('\n').count() + 1,
        "column": text[line..start].chars().count() + 1,
        "start": text[..start].encode_utf16().count(),
        "end": text[..end].encode_utf16().count(),
        "what": problem.what.to_string(),
        "expected": problem.expected.to_string(),
        "help": problem.help.as_ref().map(ToString::to_string),
    })
}

/// The templates and samples that read no file, as JSON.
pub fn list() -> Value {
    let listed = |kind: &str, scenes: &[Builtin]| {
        let alone = scenes.iter().filter(|scene| parsed(scene.text()).is_ok());
        let row = |scene: &Builtin| {
            json!({
                "kind": kind,
                "name": scene.name(),
                "file": scene.file,
                "about": scene.about(),
                "text": scene.text(),
            })
        };
        alone.map(row).collect::<Vec<_>>()
    };
    [listed("template", TEMPLATES), listed("sample", SAMPLES)].concat().into()
}
