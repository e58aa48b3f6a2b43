//! The reference page of scenes, docs/reference/scene.md, generated from the schema.

use super::key::is_british;
use super::schema::resolved;
use crate::quote::listed;
use serde_json::Value;

const HEAD: &str = "# Keys of a scene

All tables and keys of a scene in TOML. [scenes.md](../scenes.md) is the guide. This page is generated from the program's declarations:
`scripts/generate` regenerates it.

A number may be written as a percentage (`\"60%\"`). A color is three numbers from 0 to 1 (sRGB), one number for a gray, `\"#e68033\"`, or a
name of CSS (`\"tomato\"`). What is marked \"over time\" may change over the clip: [scenes.md](../scenes.md#values-over-time). Lengths are the scene's own units. `color` and `center` may be spelled `colour` and `centre`.
";

/// The page, in Markdown.
pub(crate) fn page(schema: &Value) -> String {
    HEAD.to_owned() + &tables_of(schema)
}

pub(crate) fn tables_of(schema: &Value) -> String {
    let (mut page, mut done) = (String::new(), Vec::new());
    tables(schema, schema, &mut page, &mut done);
    if let Some(table) = schema["definitions"].get(MATERIAL) {
        page += "\n## A material\n\nThe keys that say what something is made of. A key that a material does not have is refused beside it.\n\n";
        page += &rows(schema, table, &material_keys(schema), "");
    }
    page
}

// A table of an object that supports all materials.
const MATERIAL: &str = "sphere";

/// The keys of materials, which are the same in all tables.
pub(crate) fn material_keys(schema: &Value) -> Vec<&str> {
    let table = &schema["definitions"][MATERIAL];
    keys(table).into_iter().filter(|key| *key == "material" || !materials_with(table, key).is_empty()).collect()
}

/// The materials of a table that have a key.
pub(crate) fn materials_with<'a>(table: &'a Value, key: &str) -> Vec<&'a str> {
    let materials = table["x-materials"].as_object().into_iter().flatten();
    materials.filter(|(_, keys)| words(keys).any(|one| one == key)).map(|(word, _)| word.as_str()).collect()
}

pub(crate) fn words(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// A string, or "" for other values.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

// The page's sections of a table and of its inner tables.
fn tables(schema: &Value, table: &Value, page: &mut String, done: &mut Vec<String>) {
    for name in keys(table) {
        let property = &table["properties"][name];
        let inner = resolved(schema, property);
        let Some(header) = inner["x-header"].as_str().filter(|header| !done.iter().any(|one| one == header)) else {
            continue;
        };
        done.push(header.to_owned());
        *page += &format!("\n## `{header}`\n\n{}\n\n", described(schema, property, header));
        let (shared, note) = match inner["x-materials"].is_object() {
            true => (
                material_keys(schema),
                "| `material` and others | | | | What it is made of: [a material](#a-material). |\n",
            ),
            false => (Vec::new(), ""),
        };
        let own: Vec<&str> = keys(inner).into_iter().filter(|key| !shared.contains(key)).collect();
        *page += &rows(schema, inner, &own, note);
        tables(schema, inner, page, done);
    }
}

// What a table is; where it stands in several places, what it is in each.
fn described(schema: &Value, property: &Value, header: &str) -> String {
    let tables = schema["definitions"].as_object().into_iter().flat_map(|all| all.values());
    let keys = tables.flat_map(|table| {
        let properties = table["properties"].as_object().into_iter().flatten();
        properties.map(move |(name, other)| (table, name, other))
    });
    let here = keys.filter(|(_, _, other)| resolved(schema, other)["x-header"] == header);
    let mut texts: Vec<String> = here
        .map(|(table, name, other)| format!("`{}`: {}", header_in(table, name, header), text(&other["description"])))
        .collect();
    texts.sort();
    if texts.len() > 1 { texts.join("\n\n") } else { text(&property["description"]).to_owned() }
}

// The header of an inner table in this table; `header` is that of its first property.
fn header_in(table: &Value, name: &str, header: &str) -> String {
    let outer =
        table["x-header"].as_str().map_or_else(String::new, |outer| outer.trim_matches(['[', ']']).to_owned() + ".");
    if header.starts_with("[[") { format!("[[{outer}{name}]]") } else { format!("[{outer}{name}]") }
}

/// A table's keys in order.
pub(crate) fn keys(table: &Value) -> Vec<&str> {
    let groups = table["x-groups"].as_array().into_iter().flatten();
    groups.flat_map(|group| words(&group["keys"])).filter(|key| !is_british(key)).collect()
}

// The rows of some keys, an optional last row, and the meanings of the words that are values.
fn rows(schema: &Value, table: &Value, keys: &[&str], last: &str) -> String {
    let mut page = "| key | type | range | default | what it does |\n|---|---|---|---|---|\n".to_owned();
    page.extend(keys.iter().map(|key| row(schema, table, key)));
    page += last;
    for key in keys {
        let property = &table["properties"][*key];
        if property["deprecated"] == true || !property["enum"].is_array() {
            continue;
        }
        page += &format!("\n`{key}`:\n\n");
        for (word, about) in words(&property["enum"]).zip(words(&property["enumDescriptions"])) {
            page += &format!("- `{word}`{}{about}\n", if about.is_empty() { "" } else { ": " });
        }
    }
    page
}

fn row(schema: &Value, table: &Value, key: &str) -> String {
    let property = &table["properties"][key];
    let inner = resolved(schema, property);
    let about = text(&property["description"]);
    // A key that has moved is described in its new table.
    if property["deprecated"] == true {
        return format!("| `{key}` | | | | {about} |\n");
    }
    let [mut kind, range, default, counts] = facts(table, key);
    if let (Some(header), true) = (inner["x-header"].as_str(), inner["properties"].is_object()) {
        // The section is named by the first property of the table.
        kind = format!("table: see `{header}`");
    }
    let counts = if counts.is_empty() { counts } else { format!(" Used if {counts}.") };
    let cells = [format!("`{key}`"), kind, range, default, format!("{about}{counts}")];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// What a key holds, with its unit; its range; its default; when it counts.
pub(crate) fn facts(table: &Value, key: &str) -> [String; 4] {
    let property = &table["properties"][key];
    let unit = property["x-unit"].as_str().map_or(String::new(), |unit| format!(", {unit}"));
    let default = match property.get("default") {
        Some(value) => format!("`{value}`"),
        None if words(&table["required"]).any(|one| one == key) => "required".into(),
        None => String::new(),
    };
    let over_time = if property["x-animated"] == true { ", over time" } else { "" };
    [kind(property) + &unit + over_time, range(property), default, counts(table, key)]
}

// The type of a value.
fn kind(property: &Value) -> String {
    if let Some(any) = property["anyOf"].as_array().filter(|_| property["format"] != "color") {
        return any.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match text(&property["type"]) {
        _ if property["format"] == "color" => "color".into(),
        _ if property["enum"].is_array() => "word".into(),
        "integer" => "whole number".into(),
        "boolean" => "true or false".into(),
        "string" => "text".into(),
        "array" if property["items"]["type"] == "array" => "list of points".into(),
        "array" => format!("{} numbers", property["maxItems"]),
        "" => "as there".into(),
        other => other.to_owned(),
    }
}

// The range of a number.
fn range(property: &Value) -> String {
    let property = if property["anyOf"].is_array() { &property["anyOf"][0] } else { property };
    let numbers = if property["items"].is_object() { &property["items"] } else { property };
    let bound = |names: [&str; 2]| {
        names.iter().find_map(|name| numbers.get(*name)).map(|number| match number.as_f64() {
            Some(x) if x.abs() >= 1e7 => format!("{x:e}"),
            _ => number.to_string(),
        })
    };
    match (bound(["minimum", "exclusiveMinimum"]), bound(["maximum", "exclusiveMaximum"])) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("{max} or less"),
        (None, None) => String::new(),
    }
}

// When a key applies, if not always.
fn counts(table: &Value, key: &str) -> String {
    let property = &table["properties"][key];
    let quoted = |words: Vec<&str>| listed(&words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>(), "or");
    let mut when = Vec::new();
    for (other, words_of_it) in property["x-when"].as_object().into_iter().flatten() {
        when.push(format!("`{other}` is {}", quoted(words(words_of_it).collect())));
    }
    match text(&property["x-way"]) {
        "" => {}
        "fixed" => when.push("the camera is fixed".to_owned()),
        "keys" => when.push("the camera has keys".to_owned()),
        other => when.push(format!("the camera's path is of the kind {other}")),
    }
    let materials = materials_with(table, key);
    if !materials.is_empty() && materials.len() < table["x-materials"].as_object().map_or(0, |all| all.len()) {
        when.push(format!("`material` is {}", quoted(materials)));
    }
    when.join(" and ")
}
