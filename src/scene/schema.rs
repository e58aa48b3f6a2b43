//! The JSON Schema of scenes in TOML, for editors and the studio: tables and words of the keys themselves, ranges and defaults of the
//! very rules that scenes are checked by.

use super::diagnostic::Rule;
use super::toml::{KeyInfo, Values, notes};
use super::toml_keys::*;
use super::toml_material::{MaterialUse, materials};
use schemars::generate::SchemaSettings;
use serde::Deserializer;
use serde::de::{DeserializeOwned, Visitor};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The schema (JSON Schema draft 7, which editors know best).
pub fn schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<RawScene>().to_value();
    clean(&mut schema);
    schema["title"] = json!("A scene of polyfly");
    schema["description"] = json!("What polyfly renders, in TOML: tables, keys, ranges and defaults.");
    for KeyInfo { table, key, values } in notes() {
        if let Some(place) = schema.pointer_mut(&format!("/definitions/{table}/properties/{key}")) {
            // The plain material comes first.
            if place.get("default").is_none() && place.get("minimum").is_none() {
                tell(place, values);
            }
        }
    }
    // The keys of materials are the same wherever they stand.
    let balls = schema["definitions"]["sphere"]["properties"].clone();
    for key in ["abbe", "tint_distance", "fuzz", "strength", "highlight"] {
        for table in ["body", "rectangle", "mesh", "particles", "floor"] {
            schema["definitions"][table]["properties"][key] = balls[key].clone();
        }
    }
    arrange(&mut schema);
    if let Some(tables) = schema["definitions"].as_object_mut() {
        tables.values_mut().filter_map(|t| t["properties"].as_object_mut()).for_each(spell);
    }
    schema
}

// What a key of a table takes: `string`, `number`, `boolean`, `array` or `object`; none where it takes several, or is unknown.
// `tables`: names from the outside, without places in lists.
pub fn kind_of(tables: &[&str], key: &str) -> Option<String> {
    let schema = made();
    let mut place = schema;
    for name in tables.iter().chain([&key]) {
        place = resolved(schema, place)["properties"].get(name)?;
    }
    let kind = &resolved(schema, place)["type"];
    kind.as_str().map(str::to_owned)
}

// The schema, made once.
fn made() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    &SCHEMA
}

/// A table as its header is written: `[film]`, `[[body]]`, `[camera.eye]`.
pub fn header(table: &str) -> String {
    match table {
        "body" | "sphere" | "rectangle" | "mesh" | "light" => format!("[[{table}]]"),
        "key" => "[[camera.key]]".into(),
        "orbit" => "[camera.orbit]".into(),
        "path" => "[camera.eye]".into(),
        "relief" => "[floor.relief]".into(),
        _ => format!("[{table}]"),
    }
}

/// The keys of a table, each by one spelling.
pub fn keys_of(table: &str) -> Vec<String> {
    let keys = made()["definitions"][table]["properties"].as_object();
    keys.into_iter().flat_map(|keys| keys.keys()).filter(|key| !is_double(key)).cloned().collect()
}

/// The headers of tables that have a key of that name.
pub fn tables_with(key: &str) -> Vec<String> {
    let tables = made()["definitions"].as_object();
    let all = tables.into_iter().flat_map(|tables| tables.iter());
    all.filter(|(_, table)| table["properties"].get(key).is_some()).map(|(name, _)| header(name)).collect()
}

/// Whether it is the other spelling of a key that has two.
pub fn is_double(key: &str) -> bool {
    key == "centre" || key.contains("colour")
}

// What a reference stands for; of a list, its elements.
fn resolved<'a>(schema: &'a Value, mut place: &'a Value) -> &'a Value {
    loop {
        let reference = place["$ref"].as_str().or_else(|| place["allOf"][0]["$ref"].as_str());
        if let Some(target) = reference.and_then(|r| schema.pointer(r.trim_start_matches('#'))) {
            place = target;
        } else if place["items"]["$ref"].is_string() {
            place = &place["items"];
        } else {
            return place;
        }
    }
}

// What forms need beside what editors do: `x-groups`, the keys of a table in their order under headings; `x-materials`, the keys that each
// material has. JSON Schema has no words for these, and objects of JSON have no order.
fn arrange(schema: &mut Value) {
    for (table, keys) in declared() {
        let place = if table == "scene" { &mut *schema } else { &mut schema["definitions"][table] };
        let groups = groups(place, keys);
        place["x-groups"] = groups;
    }
    for (table, of) in [
        ("body", MaterialUse::Body),
        ("sphere", MaterialUse::Thing),
        ("rectangle", MaterialUse::Thing),
        ("mesh", MaterialUse::Thing),
        ("particles", MaterialUse::Thing),
        ("floor", MaterialUse::Floor),
    ] {
        let colour_key = if of == MaterialUse::Floor { "tint" } else { "color" };
        let keys: serde_json::Map<_, _> =
            materials(of, colour_key).into_iter().map(|(name, keys)| (name.to_owned(), json!(keys))).collect();
        schema["definitions"][table]["x-materials"] = keys.into();
    }
}

// A heading holds for the keys that follow it.
fn groups(table: &mut Value, keys: &[&str]) -> Value {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    let mut title = String::new();
    for &key in keys {
        // Other spellings are no keys of their own here.
        let Some(place) = table["properties"].get_mut(key).and_then(Value::as_object_mut) else { continue };
        if let Some(Value::String(heading)) = place.remove("x-group") {
            title = heading;
        }
        if let Some(default) = place.remove("x-default") {
            place.insert("default".into(), default);
        }
        match groups.iter_mut().find(|(name, _)| *name == title) {
            Some((_, keys)) => keys.push(key),
            None => groups.push((title.clone(), vec![key])),
        }
    }
    groups.iter().map(|(title, keys)| json!({ "title": title, "keys": keys })).collect()
}

// The keys of each table in the order in which they are declared, by the table's name.
fn declared() -> [(&'static str, &'static [&'static str]); 17] {
    [
        ("scene", fields_of::<RawScene>()),
        ("output", fields_of::<RawOutput>()),
        ("render", fields_of::<RawRender>()),
        ("film", fields_of::<RawFilm>()),
        ("sky", fields_of::<RawSky>()),
        ("camera", fields_of::<RawCamera>()),
        ("key", fields_of::<RawKey>()),
        ("orbit", fields_of::<RawOrbit>()),
        ("path", fields_of::<RawPath>()),
        ("body", fields_of::<RawBody>()),
        ("sphere", fields_of::<RawSphere>()),
        ("rectangle", fields_of::<RawRectangle>()),
        ("mesh", fields_of::<RawMesh>()),
        ("particles", fields_of::<RawParticles>()),
        ("floor", fields_of::<RawFloor>()),
        ("relief", fields_of::<RawRelief>()),
        ("light", fields_of::<RawLight>()),
    ]
}

// serde knows the names of a struct's fields: they are asked for and nothing is read.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Asked<'a>(&'a mut &'static [&'static str]);
    impl<'de> Deserializer<'de> for Asked<'_> {
        type Error = serde::de::value::Error;
        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _name: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }
        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(serde::de::Error::custom("only its names are wanted"))
        }
        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }
    let mut keys: &[&str] = &[];
    drop(T::deserialize(Asked(&mut keys)));
    keys
}

// What may be left out is left out, and never null: TOML has none. Defaults of whole tables say nothing.
fn clean(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Array(kinds)) = map.get_mut("type") {
                kinds.retain(|k| k != "null");
                if let [kind] = &kinds[..] {
                    map["type"] = kind.clone();
                }
            }
            if let Some(Value::Array(any)) = map.get_mut("anyOf") {
                any.retain(|one| one != &json!({ "type": "null" }));
                if let [one] = &mut any[..] {
                    let one = one.take();
                    map.remove("anyOf");
                    if let Value::Object(one) = one {
                        map.extend(one);
                    }
                }
            }
            map.remove("default");
            map.values_mut().for_each(clean);
        }
        Value::Array(list) => list.iter_mut().for_each(clean),
        _ => {}
    }
}

fn tell(place: &mut Value, values: Values) {
    match values {
        Values::Words(words, default) => {
            place["enum"] = json!(words);
            if let Some(word) = default {
                place["default"] = json!(word);
            }
        }
        Values::Numbers(rule, default) => {
            // A list's numbers, or those of a key that takes words too.
            let numbers = match place.get("anyOf").and_then(Value::as_array) {
                Some(any) => any.iter().position(|one| one["type"] == "number").map(|i| format!("/anyOf/{i}")),
                None if place["type"] == "array" => Some("/items".to_owned()),
                None => Some(String::new()),
            };
            if let Some(numbers) = numbers.and_then(|at| place.pointer_mut(&at)) {
                bound(numbers, rule);
            }
            if place.get("x-slider").is_none()
                && place["type"] != "array"
                && place.get("format").is_none()
                && let Some([min, max]) = slider(rule)
            {
                place["x-slider"] = json!([min, max]);
            }
            if let Some(default) = default {
                place["default"] = if default.len() == 1 { json!(short(default[0])) } else { json!(default) };
            }
        }
    }
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

// Whole numbers are written as such.
fn short(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e9 { json!(x as i64) } else { json!(x) }
}

fn bound(place: &mut Value, rule: Rule) {
    let (min, max) = rule.range();
    // Shares may be written as "60%" too.
    if let Rule::Whole(..) = rule {
        place["type"] = json!("integer");
    }
    let open = matches!(rule, Rule::FieldOfView);
    if let Some(min) = min {
        place[if open { "exclusiveMinimum" } else { "minimum" }] = short(min);
    }
    if let Some(max) = max {
        place[if open { "exclusiveMaximum" } else { "maximum" }] = short(max);
    }
}

// British spellings are read too: those of `is_double`.
fn spell(properties: &mut serde_json::Map<String, Value>) {
    let other = |key: &String| match key.as_str() {
        "center" => Some("centre".to_owned()),
        _ if key.contains("color") => Some(key.replace("color", "colour")),
        _ => None,
    };
    let more: Vec<_> = properties.iter().filter_map(|(key, value)| Some((other(key)?, value.clone()))).collect();
    properties.extend(more);
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
                    let is_taken = super::super::toml::parse(&text, crate::scene::ParseOptions::default()).is_ok();
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
                let [min, max] = [&slider[0], &slider[1]].map(|x| x.as_f64().unwrap());
                let is_above = |bound: &str| numbers[bound].as_f64().is_none_or(|bound| min >= bound);
                let is_below = |bound: &str| numbers[bound].as_f64().is_none_or(|bound| max <= bound);
                assert!(min < max && is_above("minimum") && is_above("exclusiveMinimum"), "{table}.{key}");
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
