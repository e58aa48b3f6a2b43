//! Looks by their pictures: the keys of docs/looks.md beside the pictures that the renderer has made of them. A look is put on the
//! scene as one step.

use super::answers::{Answer, Shared, changed, json_answer, read};
use super::session::Studio;
use crate::cli::Failure;
use crate::command::docs::pages::pages;
use crate::language::msg;
use crate::quote::brief;
use crate::scene::keys::reference::material_keys;
use crate::scene::text::edit::Edit;
use crate::scene::text::toml::SCHEMA;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::{MethodRouter, get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

const PAGE: &str = "docs/looks.md";
// The sections that are offered, and what their looks change. Other keys of a look set its stage.
const SECTIONS: [(&str, &str); 15] = [
    ("Materials", "body[0]."),
    ("Thin films", "body[0]."),
    ("Clear coats", "body[0]."),
    ("Surfaces of bodies", "body[0]."),
    ("Solids", "body[0]."),
    ("Lamps and strips", "body[0]."),
    ("Bars", "body[0]."),
    ("Bevels", "body[0].bevel"),
    ("Skies", "sky."),
    ("Floors", "floor."),
    ("Reliefs", "floor."),
    ("Tone curves", "film.tone"),
    ("Exposure and white balance", "film."),
    ("Bloom, glare, vignette and grain", "film."),
    ("Lens", "camera."),
];
// The sections whose looks replace the whole material, and those that any element can have.
const MATERIALS: [&str; 4] = ["Materials", "Thin films", "Clear coats", "Surfaces of bodies"];
const ANYWHERE: usize = 3;

struct Look {
    section: &'static str,
    label: String,
    // Of the picture.
    name: String,
    keys: Vec<(String, String)>,
}

static LOOKS: LazyLock<Vec<Look>> = LazyLock::new(|| {
    let text = pages().iter().find(|page| page.source == PAGE).map(|page| page.markdown()).unwrap_or_default();
    let (mut looks, mut section) = (Vec::new(), None);
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = SECTIONS.iter().find(|(known, _)| *known == title);
        }
        let cells = line.split('|').filter_map(|cell| cell.trim().strip_prefix("!["));
        looks.extend(section.iter().flat_map(|section| cells.clone().filter_map(|cell| look(section, cell))));
    }
    looks
});

// `label](looks/NAME.webp) `key=value` `key=value``
fn look(&(section, subject): &(&'static str, &str), cell: &str) -> Option<Look> {
    let (label, rest) = cell.split_once("](looks/")?;
    let (name, keys) = rest.split_once(".webp)")?;
    let pairs = keys.split('`').skip(1).step_by(2).filter_map(|pair| pair.split_once('='));
    let keys: Vec<_> = pairs
        .filter(|(key, _)| key.starts_with(subject))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    (!keys.is_empty()).then(|| Look { section, label: label.to_owned(), name: name.to_owned(), keys })
}

pub fn routes() -> [(&'static str, MethodRouter<Arc<Studio>>); 2] {
    [("looks", get(list)), ("wear", post(wear))]
}

async fn list() -> Answer {
    let row = |look: &Look| {
        let keys: Vec<String> = look.keys.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        json!({ "label": look.label, "name": look.name, "keys": keys })
    };
    let section = |(at, (title, subject)): (usize, &(&str, &str))| {
        let looks: Vec<Value> = LOOKS.iter().filter(|look| look.section == *title).map(row).collect();
        let of = if at < ANYWHERE { "any" } else { subject.split(['[', '.']).next().unwrap_or_default() };
        json!({ "title": title, "of": of, "looks": looks })
    };
    Ok(json_answer(&SECTIONS.iter().enumerate().map(section).collect::<Vec<_>>().into()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wearing {
    // The name of the look's picture.
    look: String,
    // What it is put on, such as `body[0]`; only looks of bodies have one.
    element: String,
}

async fn wear(State(studio): Shared, body: Bytes) -> Answer {
    let Wearing { look, element } = read(&body)?;
    let found = LOOKS.iter().find(|one| one.name == look);
    let look = found.ok_or_else(|| Failure::usage(msg!("there is no look `{name}`", name = brief(&look))))?;
    changed(&studio, |document| document.set(&edits(look, &element, document.text()), None))
}

// Whether the material of a look has a color.
fn has_color(look: &Look) -> bool {
    let material = look.keys.iter().find(|(key, _)| key == "body[0].material").map_or("plain", |(_, value)| value);
    let keys = SCHEMA["definitions"]["body"]["x-materials"][material].as_array();
    keys.is_some_and(|keys| keys.iter().any(|key| key == "color"))
}

// The edits that put a look on an element: its keys, and nothing of the material that was there. A material that has a color takes on
// that of the element, if it has one of its own.
fn edits(look: &Look, element: &str, text: &str) -> Vec<Edit> {
    let place = |key: &str| match key.strip_prefix("body[0].") {
        Some(key) => format!("{element}.{key}"),
        None => key.to_owned(),
    };
    let mut keys: Vec<&(String, String)> = look.keys.iter().collect();
    let mut edits = Vec::new();
    if MATERIALS.contains(&look.section) {
        let (list, number) = element.trim_end_matches(']').split_once('[').unwrap_or((element, ""));
        let scene = text.parse::<toml::Table>().unwrap_or_default();
        let table =
            scene.get(list).and_then(|list| list.get(number.parse::<usize>().ok()?)).and_then(|one| one.as_table());
        let is_color = |key: &str| ["color", "colour"].contains(&key);
        let has_own = table.is_some_and(|table| table.keys().any(|key| is_color(key)));
        let keeps_color = look.section == MATERIALS[0] && has_own && has_color(look);
        keys.retain(|(key, _)| !(keeps_color && key == "body[0].color"));
        let worn = |key: &str| match is_color(key) {
            true => !keeps_color,
            false => material_keys(&SCHEMA).contains(&key) || ["relief", "texture"].contains(&key),
        };
        let gone = table.into_iter().flatten().map(|(key, _)| key).filter(|key| worn(key));
        let stays = |key: &str| keys.iter().any(|(one, _)| place(one) == place(&format!("body[0].{key}")));
        edits.extend(gone.filter(|key| !stays(key)).map(|key| Edit::Remove(format!("{element}.{key}"))));
    }
    edits.extend(keys.into_iter().map(|(key, value)| Edit::Set(place(key), value.clone())));
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_has_looks_and_each_its_picture() {
        for (title, _) in SECTIONS {
            assert!(LOOKS.iter().filter(|look| look.section == title).count() > 1, "{title}");
        }
        let pictures: Vec<&str> = crate::command::docs::pages::pictures().map(|(path, _)| path).collect();
        assert!(LOOKS.iter().all(|look| pictures.contains(&&*format!("looks/{}.webp", look.name))));
    }

    #[test]
    fn a_look_takes_the_place_of_the_material() {
        let worn = |name: &str, text: &str| {
            let look = LOOKS.iter().find(|look| look.name == name).unwrap();
            let apply = |text: String, edit: Edit| edit.apply(&text).unwrap();
            edits(look, "body[0]", text).into_iter().fold(text.to_owned(), apply)
        };
        let text = "[[body]]\nsolid = \"cube\"\ncolor = \"gold\"\nreflection = 0.4\n";
        assert_eq!(worn("material-gold", text), "[[body]]\nsolid = \"cube\"\nmaterial = \"gold\"\n");
        // The color of the element stays, where the material has one.
        for name in ["material-glass", "material-tint", "material-plain"] {
            for key in ["color", "colour"] {
                let worn = worn(name, &text.replace("color", key));
                assert!(worn.contains(&format!("{key} = \"gold\"")) && !worn.contains("reflection"), "{worn}");
                assert_eq!(worn.matches("colo").count(), 1, "{worn}");
            }
        }
        let plain = worn("material-glass", "[[body]]\nsolid = \"cube\"\n");
        assert!(plain.contains("color = \"white\""), "{plain}");
    }
}
