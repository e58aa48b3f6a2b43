//! The reference page of scenes, docs/reference/scene.md: made of the schema, so that it says what the keys' declarations say.

use super::schema::{is_double, resolved, schema};
use serde_json::Value;

const HEAD: &str = "# Keys of a scene

All tables and keys of a scene in TOML. [scenes.md](../scenes.md) is the guide. This page is generated from the program's declarations:
`scripts/generate` regenerates it.

A number may be written as a percentage (`\"60%\"`). A color is three numbers from 0 to 1 (sRGB), one number for a grey, `\"#e68033\"`, or a
name of CSS (`\"tomato\"`). Lengths are the scene's own units. `color` and `center` may be spelled `colour` and `centre`.
";

/// The page, in Markdown.
pub(crate) fn page() -> String {
    HEAD.to_owned() + &tables_of(&schema())
}

/// The tables of a schema.
pub(crate) fn tables_of(schema: &Value) -> String {
    let (mut page, mut done) = (String::new(), Vec::new());
    tables(schema, schema, &mut page, &mut done);
    if let Some(table) = schema["definitions"].get(MATERIAL) {
        page += "\n## A material\n\nThe keys that say what something is made of. A key that a material does not have is refused beside it.\n\n";
        page += TABLE;
        page.extend(material_keys(schema).iter().map(|key| row(schema, table, key)));
        page += &words(table, &material_keys(schema));
    }
    page
}

// The head of a table of keys.
const TABLE: &str = "| key | type | range | default | what it does |\n|---|---|---|---|---|\n";
// The table of something that may be made of any material.
const MATERIAL: &str = "sphere";

// The keys of materials, wherever they stand.
fn material_keys(schema: &Value) -> Vec<&str> {
    let table = &schema["definitions"][MATERIAL];
    let materials = table["x-materials"].as_object();
    let has = |key: &str| materials.is_some_and(|all| all.values().any(|keys| holds(keys, key)));
    keys(table).into_iter().filter(|key| *key == "material" || has(key)).collect()
}

// Whether a list of words has one.
fn holds(words: &Value, word: &str) -> bool {
    words.as_array().is_some_and(|words| words.iter().any(|one| one == word))
}

// The tables that a table has, each with those within it.
fn tables(schema: &Value, table: &Value, page: &mut String, done: &mut Vec<String>) {
    for name in keys(table) {
        let place = &table["properties"][name];
        let inner = resolved(schema, place);
        let Some(header) = inner["x-header"].as_str().filter(|header| !done.iter().any(|one| one == header)) else {
            continue;
        };
        done.push(header.to_owned());
        *page += &format!("\n## `{header}`\n\n{}\n\n", place["description"].as_str().unwrap_or_default());
        *page += TABLE;
        let is_material = inner["x-materials"].is_object();
        let shared = if is_material { material_keys(schema) } else { Vec::new() };
        let own: Vec<&str> = keys(inner).into_iter().filter(|key| !shared.contains(key)).collect();
        page.extend(own.iter().map(|key| row(schema, inner, key)));
        if is_material {
            *page += "| `material` and others | | | | What it is made of: [a material](#a-material). |\n";
        }
        *page += &words(inner, &own);
        tables(schema, inner, page, done);
    }
}

// A table's keys in their order.
fn keys(table: &Value) -> Vec<&str> {
    let groups = table["x-groups"].as_array().into_iter().flatten();
    let all = groups.flat_map(|group| group["keys"].as_array().into_iter().flatten());
    all.filter_map(Value::as_str).filter(|key| !is_double(key)).collect()
}

fn row(schema: &Value, table: &Value, key: &str) -> String {
    let place = &table["properties"][key];
    let inner = resolved(schema, place);
    let about = place["description"].as_str().unwrap_or_default();
    let kind = match inner["x-header"].as_str() {
        Some(header) if inner["properties"].is_object() => format!("table: see `{header}`"),
        _ => kind(place),
    };
    let unit = place["x-unit"].as_str().map_or(String::new(), |unit| format!(", {unit}"));
    // A key that stands elsewhere now is told of there.
    if place["deprecated"] == true {
        return format!("| `{key}` | | | | {about} |\n");
    }
    let default = match place.get("default") {
        Some(value) => format!("`{value}`"),
        None if holds(&table["required"], key) => "required".into(),
        None => String::new(),
    };
    let counts = counts(table, key);
    let cells = [format!("`{key}`"), format!("{kind}{unit}"), range(place), default, format!("{about}{counts}")];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

// What a value may be.
fn kind(place: &Value) -> String {
    if place["format"] == "color" {
        return "color".into();
    }
    if place["enum"].is_array() {
        return "word".into();
    }
    if let Some(any) = place["anyOf"].as_array() {
        return any.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match place["type"].as_str() {
        Some("integer") => "whole number".into(),
        Some("boolean") => "true or false".into(),
        Some("string") => "text".into(),
        Some("array") if place["items"]["type"] == "array" => "list of points".into(),
        Some("array") => format!("{} numbers", place["maxItems"]),
        Some(other) => other.to_owned(),
        None => "as there".into(),
    }
}

// The numbers that a value may be.
fn range(place: &Value) -> String {
    let numbers = if place["items"].is_object() { &place["items"] } else { place };
    let numbers = if place["anyOf"].is_array() { &place["anyOf"][0] } else { numbers };
    let bound = |names: [&str; 2]| names.iter().find_map(|name| numbers.get(*name)).map(shown);
    match (bound(["minimum", "exclusiveMinimum"]), bound(["maximum", "exclusiveMaximum"])) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("{max} or less"),
        (None, None) => String::new(),
    }
}

fn shown(number: &Value) -> String {
    match number.as_f64() {
        Some(x) if x.abs() >= 1e7 => format!("{x:e}"),
        _ => number.to_string(),
    }
}

// When a key counts, where it does not always.
fn counts(table: &Value, key: &str) -> String {
    let place = &table["properties"][key];
    let mut when = Vec::new();
    if let Some(others) = place["x-when"].as_object() {
        when.extend(others.iter().map(|(other, words)| format!("`{other}` is {}", or(words))));
    }
    if let Some(way) = place["x-way"].as_str() {
        when.push(match way {
            "fixed" => "the camera is fixed".to_owned(),
            "keys" => "the camera has keys".to_owned(),
            other => format!("the camera's path is of the kind {other}"),
        });
    }
    if let Some(materials) = table["x-materials"].as_object() {
        let words: Vec<&str> =
            materials.iter().filter(|(_, keys)| holds(keys, key)).map(|(word, _)| word.as_str()).collect();
        if !words.is_empty() && words.len() < materials.len() {
            when.push(format!("`material` is {}", or(&words.into())));
        }
    }
    if when.is_empty() { String::new() } else { format!(" Used if {}.", when.join(" and ")) }
}

// Words as a sentence lists them.
fn or(words: &Value) -> String {
    let words: Vec<String> = words.as_array().into_iter().flatten().map(|word| format!("`{}`", plain(word))).collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

// A word without quotation marks.
fn plain(word: &Value) -> &str {
    word.as_str().unwrap_or_default()
}

// What the words of some of a table's keys mean.
fn words(table: &Value, keys: &[&str]) -> String {
    let mut text = String::new();
    for key in keys {
        let place = &table["properties"][*key];
        let Some(words) = place["enum"].as_array().filter(|_| place["deprecated"] != true) else { continue };
        text += &format!("\n`{key}`:\n\n");
        for (word, about) in words.iter().zip(place["enumDescriptions"].as_array().into_iter().flatten()) {
            let about = about.as_str().unwrap_or_default();
            let about = if about.is_empty() { String::new() } else { format!(": {about}") };
            text += &format!("- `{}`{about}\n", plain(word));
        }
    }
    text
}
