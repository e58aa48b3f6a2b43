//! The JSON Schema of scenes in TOML, for editors and the studio, generated from the declarations of keys. Additional
//! entries are for forms: `x-groups`, the keys of a table in order under headings; `x-slider`, the range of a slider;
//! `x-when`, the words of another key that a key needs; `x-way`, the camera path that a key belongs to;
//! `x-materials`, the keys of each material. Others are for the reference: `x-unit`, and `x-header`, a table's first
//! header; `x-animated`, a value that may change over the clip.

use super::key::{Key, british, is_british, one_line};
use super::write::{Content, Entry, Lines, below};
use crate::scene::text::diagnostic::Rule;
use serde_json::{Map, Value, json};

/// The schema of the keys of a default scene. Inner tables become definitions.
pub(crate) fn schema_of(keys: Lines) -> Value {
    let mut definitions = Map::new();
    let mut schema = object(keys, "", &mut definitions);
    for table in definitions.values_mut() {
        // British spellings are accepted too.
        let Some(properties) = table["properties"].as_object_mut() else { continue };
        let more: Vec<_> = properties.iter().filter_map(|(key, value)| Some((british(key)?, value.clone()))).collect();
        properties.extend(more);
    }
    schema["definitions"] = definitions.into();
    schema
}

// The schema of the table at a path. Inner tables become definitions.
fn object(keys: Lines, path: &str, definitions: &mut Map<String, Value>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let (mut groups, mut heading): (Vec<(&str, Vec<&str>)>, &str) = (Vec::new(), "");
    for Entry { key, content, .. } in keys.entries {
        let mut schema = match content {
            Content::Value { text, schema } => value(key, text, schema(key)),
            Content::Tables { table, is_list, default, .. } => {
                if !definitions.contains_key(table) {
                    let path = below(path, key.name);
                    let mut inner = object(default(), &path, definitions);
                    inner["x-header"] = json!(Content::header(is_list, &path));
                    definitions.insert(table.to_owned(), inner);
                }
                let reference = json!({ "$ref": format!("#/definitions/{table}") });
                if is_list { json!({ "type": "array", "items": reference }) } else { json!({ "allOf": [reference] }) }
            }
        };
        schema["description"] = json!(one_line(key.doc));
        if let Some((other, words)) = key.when {
            schema["x-when"] = json!({ other: words });
        }
        if !key.way.is_empty() {
            schema["x-way"] = json!(key.way);
        }
        properties.insert(key.name.to_owned(), schema);
        required.extend(key.required.then_some(key.name));
        // A key without a heading belongs to the heading of the key before.
        heading = if key.group.is_empty() { heading } else { key.group };
        match groups.iter_mut().find(|(title, _)| *title == heading) {
            Some((_, keys)) => keys.push(key.name),
            None => groups.push((heading, vec![key.name])),
        }
    }
    let groups: Vec<Value> = groups.iter().map(|(title, keys)| json!({ "title": title, "keys": keys })).collect();
    let mut table =
        json!({ "type": "object", "additionalProperties": false, "properties": properties, "x-groups": groups });
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    if let Some((material_use, materials)) = keys.materials {
        table["x-materials"] = materials(material_use);
    }
    table
}

// The schema of a key with a value; `text` is its default in TOML.
fn value(key: &Key, text: Option<String>, mut schema: Value) -> Value {
    let default = key.holds.map(str::to_owned).or(text);
    if let Some(default) = default.filter(|_| !key.required).and_then(|text| json_of(&text)) {
        schema["default"] = default;
    }
    let is_number = |of: &Value| of["type"] == "number" || of["type"] == "integer";
    let takes_number = is_number(&schema) || (is_number(&schema["anyOf"][0]) && schema.get("format").is_none());
    if let Some((min, max)) = key.slider.or_else(|| slider(key.rule)).filter(|_| takes_number) {
        schema["x-slider"] = json!([short(min), short(max)]);
    }
    if !key.unit.is_empty() {
        schema["x-unit"] = json!(key.unit);
    }
    if key.animated {
        schema["x-animated"] = json!(true);
    }
    schema
}

// Converts a TOML value to JSON, with integers as such.
fn json_of(toml: &str) -> Option<Value> {
    let mut table: toml::Table = format!("x = {toml}").parse().ok()?;
    let value = serde_json::to_value(table.remove("x")?).ok()?;
    Some(value.as_f64().map_or(value, short))
}

/// A number in JSON, as an integer if it is one.
pub(crate) fn short(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e9 { json!(x as i64) } else { json!(x) }
}

// The range of a slider, if a rule has a useful one.
fn slider(rule: Rule) -> Option<(f64, f64)> {
    match rule {
        Rule::Fraction => Some((0.0, 1.0)),
        Rule::FieldOfView | Rule::Around => Some((10.0, 120.0)),
        Rule::Index => Some((1.0, 2.5)),
        Rule::Brightness => Some((0.0, 10.0)),
        Rule::Length => Some((0.1, 10.0)),
        Rule::Coordinate => Some((-10.0, 10.0)),
        Rule::Within(min, max) if max - min <= 360.0 => Some((min, max)),
        _ => None,
    }
}

/// The type of a key's values: `string`, `number`, `boolean`, `array` or `object`; None if there are several, or if
/// the key is unknown. `tables` are the names of the surrounding tables without indices.
pub(crate) fn kind_of<'a>(schema: &'a Value, tables: &[&str], key: &str) -> Option<&'a str> {
    let mut node = schema;
    for name in tables.iter().chain([&key]) {
        node = resolved(schema, node)["properties"].get(name)?;
    }
    resolved(schema, node)["type"].as_str()
}

/// A table's header: `[film]`, `[[body]]`, `[camera.eye]`.
pub(crate) fn header(schema: &Value, table: &str) -> String {
    let header = schema["definitions"][table]["x-header"].as_str();
    header.map_or_else(|| format!("[{table}]"), str::to_owned)
}

/// The keys of a table, each in one spelling.
pub(crate) fn keys_of<'a>(schema: &'a Value, table: &str) -> Vec<&'a str> {
    let keys = schema["definitions"][table]["properties"].as_object();
    keys.into_iter().flat_map(|keys| keys.keys()).map(String::as_str).filter(|key| !is_british(key)).collect()
}

/// The headers of tables that have a key of this name.
pub(crate) fn tables_with(schema: &Value, key: &str) -> Vec<String> {
    let tables = schema["definitions"].as_object().into_iter().flatten();
    let has = |table: &Value| table["properties"].get(key).is_some_and(|key| key["deprecated"] != true);
    tables.filter(|(_, table)| has(table)).map(|(name, _)| header(schema, name)).collect()
}

/// Follows references; for a list, to its elements.
pub(crate) fn resolved<'a>(schema: &'a Value, mut node: &'a Value) -> &'a Value {
    let reference = |node: &'a Value| {
        [&node["$ref"], &node["allOf"][0]["$ref"], &node["items"]["$ref"]].into_iter().find_map(Value::as_str)
    };
    while let Some(target) = reference(node).and_then(|path| schema.pointer(path.trim_start_matches('#'))) {
        node = target;
    }
    node
}
