//! The JSON Schema of scenes in TOML, for editors and the studio, made of what is declared of each key.
//!
//! Beside what editors know it says for forms: `x-groups`, the keys of a table in their order under headings; `x-slider`, the ends of a
//! slider; `x-when`, words of another key that a key needs; `x-way`, the camera path that a key belongs to; `x-materials`, the keys
//! that each material has. For the reference: `x-unit`, and `x-header`, a table's first header.

use super::{Key, Keys};
use crate::scene::diagnostic::Rule;
use crate::scene::toml::{MOVED, SceneKeys};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// What is declared of a table: its keys, and the tables within.
#[derive(Default)]
pub(crate) struct Declaration {
    // Its name as headers have it; the scene's is empty.
    path: String,
    properties: Map<String, Value>,
    // Under headings, in their order.
    groups: Vec<(&'static str, Vec<&'static str>)>,
    heading: &'static str,
    required: Vec<&'static str>,
    materials: Option<Value>,
    definitions: Map<String, Value>,
}

impl Declaration {
    /// A key; `default` is the text of its value in TOML.
    pub fn key(&mut self, key: &'static Key, mut schema: Value, default: Option<String>) {
        schema["description"] = json!(key.about());
        let default = if key.holds.is_empty() { default } else { Some(key.holds.to_owned()) };
        if let Some(default) = default.filter(|_| !key.is_required).and_then(|text| json_of(&text)) {
            schema["default"] = default;
        }
        let is_number = schema["type"] == "number" || schema["type"] == "integer";
        let takes_number = is_number || (schema["anyOf"][0]["type"].is_string() && schema.get("format").is_none());
        if let Some([min, max]) = key.slider.or_else(|| slider(key.rule)).filter(|_| takes_number) {
            schema["x-slider"] = json!([short(min), short(max)]);
        }
        if !key.unit.is_empty() {
            schema["x-unit"] = json!(key.unit);
        }
        self.put(key, schema);
    }
    /// A table within.
    pub fn table<T: Keys>(&mut self, key: &'static Key, keys: &T) {
        let path = self.below(key.name);
        self.define(keys, format!("[{path}]"), path);
        self.put(key, json!({ "description": key.about(), "allOf": [reference(T::TABLE)] }));
    }
    /// Tables within, as many as are wanted.
    pub fn list<T: Keys>(&mut self, key: &'static Key, keys: &T) {
        let path = self.below(key.name);
        self.define(keys, format!("[[{path}]]"), path);
        self.put(key, json!({ "description": key.about(), "type": "array", "items": reference(T::TABLE) }));
    }
    /// The keys of a part of the table.
    pub fn keys_of<T: Keys>(&mut self, keys: &T) {
        for (key, field) in keys.clone().fields() {
            if !key.is_elsewhere {
                field.declare(key, self);
            }
        }
    }
    /// The keys that each material has.
    pub fn materials(&mut self, materials: Value) {
        self.materials = Some(materials);
    }
    /// What holds for a key where it is not given is said by another key.
    pub fn without_default(&mut self, name: &str) {
        self.properties.get_mut(name).and_then(Value::as_object_mut).map(|key| key.remove("default"));
    }

    fn put(&mut self, key: &'static Key, mut schema: Value) {
        if let Some((other, words)) = key.when {
            schema["x-when"] = json!({ other: words });
        }
        if !key.way.is_empty() {
            schema["x-way"] = json!(key.way);
        }
        self.properties.insert(key.name.to_owned(), schema);
        self.required.extend(key.is_required.then_some(key.name));
        self.group(key.group, key.name);
    }
    fn group(&mut self, title: &'static str, name: &'static str) {
        // A key without a heading stands under that of the one before.
        if !title.is_empty() {
            self.heading = title;
        }
        match self.groups.iter_mut().find(|(other, _)| *other == self.heading) {
            Some((_, keys)) => keys.push(name),
            None => self.groups.push((self.heading, vec![name])),
        }
    }
    fn below(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
    fn define<T: Keys>(&mut self, keys: &T, header: String, path: String) {
        if !self.definitions.contains_key(T::TABLE) {
            let mut inner = Declaration { path, ..Declaration::default() };
            inner.keys_of(keys);
            MOVED.into_iter().filter(|(from, ..)| *from == T::TABLE).for_each(|(_, name, _)| inner.group("", name));
            for (name, table) in std::mem::take(&mut inner.definitions) {
                self.definitions.entry(name).or_insert(table);
            }
            let mut table = inner.object();
            table["x-header"] = json!(header);
            self.definitions.insert(T::TABLE.to_owned(), table);
        }
    }
    fn object(self) -> Value {
        let groups: Vec<Value> =
            self.groups.iter().map(|(title, keys)| json!({ "title": title, "keys": keys })).collect();
        let mut table = json!({
            "type": "object", "additionalProperties": false, "properties": self.properties, "x-groups": groups
        });
        if !self.required.is_empty() {
            table["required"] = json!(self.required);
        }
        if let Some(materials) = self.materials {
            table["x-materials"] = materials;
        }
        table
    }
}

fn reference(table: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{table}") })
}

// A value of TOML in JSON, whole numbers as such.
fn json_of(toml: &str) -> Option<Value> {
    let mut table: toml::Table = format!("x = {toml}").parse().ok()?;
    let value = serde_json::to_value(table.remove("x")?).ok()?;
    Some(match value.as_f64() {
        Some(x) => short(x),
        None => value,
    })
}

/// Whole numbers are written as such.
pub(crate) fn short(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e9 { json!(x as i64) } else { json!(x) }
}

// The range of a slider, where a rule gives a useful one.
fn slider(rule: Rule) -> Option<[f64; 2]> {
    match rule {
        Rule::Fraction => Some([0.0, 1.0]),
        Rule::FieldOfView => Some([10.0, 120.0]),
        Rule::Index => Some([1.0, 2.5]),
        Rule::Brightness => Some([0.0, 10.0]),
        Rule::Length => Some([0.1, 10.0]),
        Rule::Coordinate => Some([-10.0, 10.0]),
        Rule::Within(min, max) if max - min <= 360.0 => Some([min, max]),
        _ => None,
    }
}

/// The schema of scenes (JSON Schema draft 7, which editors know best).
pub(crate) fn schema() -> Value {
    let mut schema = schema_of(&SceneKeys::default());
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("A scene of polyfly");
    schema["description"] = json!("What polyfly renders, in TOML: tables, keys, ranges and defaults.");
    for (from, name, to) in MOVED {
        let mut key = schema["definitions"][to]["properties"][name].clone();
        (key["description"], key["deprecated"]) = (json!(format!("As in [{to}].")), json!(true));
        schema["definitions"][from]["properties"][name] = key;
    }
    schema
}

/// The schema of a struct of keys, with the tables within as definitions.
pub(crate) fn schema_of<T: Keys>(keys: &T) -> Value {
    let mut scene = Declaration::default();
    scene.keys_of(keys);
    let mut definitions = std::mem::take(&mut scene.definitions);
    definitions.values_mut().filter_map(|table| table["properties"].as_object_mut()).for_each(spell);
    let mut schema = scene.object();
    schema["definitions"] = definitions.into();
    schema
}

// British spellings are read too: those of `is_double`.
fn spell(properties: &mut Map<String, Value>) {
    let other = |key: &String| match key.as_str() {
        "center" => Some("centre".to_owned()),
        _ if key.contains("color") => Some(key.replace("color", "colour")),
        _ => None,
    };
    let more: Vec<_> = properties.iter().filter_map(|(key, value)| Some((other(key)?, value.clone()))).collect();
    properties.extend(more);
}

// The schema, made once.
fn made() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    &SCHEMA
}

/// What a key of a table takes: `string`, `number`, `boolean`, `array` or `object`; none where it takes several, or is unknown.
/// `tables`: names from the outside, without places in lists.
pub(crate) fn kind_of(tables: &[&str], key: &str) -> Option<String> {
    let schema = made();
    let mut place = schema;
    for name in tables.iter().chain([&key]) {
        place = resolved(schema, place)["properties"].get(name)?;
    }
    resolved(schema, place)["type"].as_str().map(str::to_owned)
}

/// A table as its header is written: `[film]`, `[[body]]`, `[camera.eye]`.
pub(crate) fn header(table: &str) -> String {
    let header = made()["definitions"][table]["x-header"].as_str();
    header.map_or_else(|| format!("[{table}]"), str::to_owned)
}

/// The keys of a table, each by one spelling.
pub(crate) fn keys_of(table: &str) -> Vec<String> {
    let keys = made()["definitions"][table]["properties"].as_object();
    keys.into_iter().flat_map(|keys| keys.keys()).filter(|key| !is_double(key)).cloned().collect()
}

/// The headers of tables that have a key of that name.
pub(crate) fn tables_with(key: &str) -> Vec<String> {
    let tables = made()["definitions"].as_object();
    let all = tables.into_iter().flat_map(|tables| tables.iter());
    all.filter(|(_, table)| table["properties"].get(key).is_some()).map(|(name, _)| header(name)).collect()
}

/// Whether it is the other spelling of a key that has two.
pub(crate) fn is_double(key: &str) -> bool {
    key == "centre" || key.contains("colour")
}

/// What a reference stands for; of a list, its elements.
pub(crate) fn resolved<'a>(schema: &'a Value, mut place: &'a Value) -> &'a Value {
    while let Some(target) = referred(place).and_then(|r| schema.pointer(r.trim_start_matches('#'))) {
        place = target;
    }
    place
}

fn referred(place: &Value) -> Option<&str> {
    place["$ref"].as_str().or_else(|| place["allOf"][0]["$ref"].as_str()).or_else(|| place["items"]["$ref"].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_material_has_the_keys_that_the_schema_gives_it() {
        let schema = schema();
        for (table, rest) in [
            ("body", "solid = \"cube\""),
            ("sphere", ""),
            ("ellipsoid", ""),
            ("rectangle", ""),
            ("mesh", "path = \"a.obj\""),
            ("particles", "path = \"a.csv\""),
            ("floor", "corners = [[-1, -1, 0], [-1, 1, 0], [1, 1, 0], [1, -1, 0]]"),
        ] {
            let materials = schema["definitions"][table]["x-materials"].as_object().unwrap();
            let names: Vec<&str> = materials.keys().map(String::as_str).collect();
            let mut words: Vec<&str> = schema["definitions"][table]["properties"]["material"]["enum"]
                .as_array()
                .unwrap()
                .iter()
                .map(|word| word.as_str().unwrap())
                .collect();
            words.sort_unstable();
            assert_eq!(names, words, "{table}");
            for (material, keys) in materials {
                for key in [
                    "color",
                    "reflection",
                    "transparency",
                    "ior",
                    "abbe",
                    "tint_distance",
                    "fuzz",
                    "roughness",
                    "strength",
                ] {
                    let value = if key == "abbe" {
                        "50"
                    } else if key == "color" {
                        "[1, 1, 1]"
                    } else {
                        "1"
                    };
                    let header = if ["particles", "floor"].contains(&table) {
                        format!("[{table}]")
                    } else {
                        format!("[[{table}]]")
                    };
                    // The floor's colour has two names.
                    let shown = if table == "floor" && key == "color" { "tint" } else { key };
                    let text = format!("{header}\nmaterial = \"{material}\"\n{rest}\n{key} = {value}\n");
                    let is_taken = crate::scene::toml::parse(&text, crate::scene::ParseOptions::default()).is_ok();
                    assert_eq!(is_taken, keys.as_array().unwrap().contains(&json!(shown)), "{text}");
                }
            }
        }
    }

    #[test]
    fn keys_have_their_kinds_ranges_and_defaults() {
        let schema = schema();
        let at = |path: &str| schema.pointer(path).unwrap_or_else(|| panic!("{path} in {schema:#}"));
        assert_eq!(at("/definitions/render/properties/depth/maximum"), 128);
        assert_eq!(at("/definitions/render/properties/depth/type"), "integer");
        assert_eq!(at("/definitions/camera/properties/fov_deg/exclusiveMaximum"), 180);
        assert_eq!(at("/definitions/body/properties/reflection/maximum"), 1);
        assert_eq!(at("/definitions/body/properties/lamp_pattern/enum/2"), "hue");
        assert_eq!(at("/definitions/path/properties/r/type"), "number");
        assert_eq!(at("/definitions/relief/properties/tiles/maximum"), 10_000);
        assert!(schema.pointer("/definitions/body/properties/centre").is_some());
        assert_eq!(at("/definitions/body/additionalProperties"), false);
        // Every key that is a number has its range.
        for (table, definition) in at("/definitions").as_object().unwrap() {
            for (key, value) in definition["properties"].as_object().unwrap() {
                assert!(value["description"].is_string(), "{table}.{key} has no description");
                let is_told = value.get("default").is_some() || value.get("minimum").is_some();
                assert!(
                    value["type"] != "number" || is_told || key == "bits" || table == "render",
                    "{table}.{key}: {value}"
                );
            }
        }
        // Every key has its place in the form, once; every number that is one by itself has a slider of a range that it allows.
        for (table, definition) in at("/definitions").as_object().unwrap() {
            let groups = definition["x-groups"].as_array().unwrap_or_else(|| panic!("{table} has no groups"));
            let mut grouped: Vec<&str> =
                groups.iter().flat_map(|g| g["keys"].as_array().unwrap()).map(|key| key.as_str().unwrap()).collect();
            grouped.sort_unstable();
            let keys = definition["properties"].as_object().unwrap();
            let own: Vec<&str> =
                keys.keys().map(String::as_str).filter(|k| *k != "centre" && !k.contains("colour")).collect();
            assert_eq!(grouped, own, "{table}");
            for (key, value) in keys {
                let Some(slider) = value["x-slider"].as_array() else {
                    let is_number = ["number", "integer"].contains(&value["type"].as_str().unwrap_or_default());
                    assert!(!is_number || ["bits", "gamma"].contains(&key.as_str()), "{table}.{key} has no slider");
                    continue;
                };
                let numbers = value.pointer("/anyOf/0").unwrap_or(value);
                let [least, most] = [&slider[0], &slider[1]].map(|x| x.as_f64().unwrap());
                let is_above = |bound: &str| numbers[bound].as_f64().is_none_or(|bound| least >= bound);
                let is_below = |bound: &str| numbers[bound].as_f64().is_none_or(|bound| most <= bound);
                assert!(least < most && is_above("minimum") && is_above("exclusiveMinimum"), "{table}.{key}");
                assert!(is_below("maximum") && is_below("exclusiveMaximum"), "{table}.{key}");
            }
        }
        assert_eq!(at("/definitions/body/x-groups/0/title"), "Shape");
        assert_eq!(at("/definitions/body/x-groups/0/keys/0"), "solid");
        assert_eq!(kind_of(&["camera", "key"], "time").as_deref(), Some("number"));
        assert_eq!(kind_of(&["output"], "path").as_deref(), Some("string"));
        assert_eq!(kind_of(&["film"], "exposure"), None);
    }
}
