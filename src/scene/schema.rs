//! The JSON Schema of scenes in TOML, for editors and the studio: tables and words of the keys themselves, ranges and defaults of the
//! very rules that scenes are checked by.

use super::diagnostic::Rule;
use super::toml::{Note, Values, notes};
use super::toml_keys::RawScene;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The schema (JSON Schema draft 7, which editors know best).
pub fn schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<RawScene>().to_value();
    clean(&mut schema);
    schema["title"] = json!("A scene of polyfly");
    schema["description"] = json!("What polyfly renders, in TOML: tables, keys, ranges and defaults.");
    for Note { table, key, values } in notes() {
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
    if let Some(tables) = schema["definitions"].as_object_mut() {
        tables.values_mut().filter_map(|t| t["properties"].as_object_mut()).for_each(spell);
    }
    schema
}

// What a key of a table takes: `string`, `number`, `boolean`, `array` or `object`; none where it takes several, or is unknown.
// `tables`: names from the outside, without places in lists.
pub fn kind_of(tables: &[&str], key: &str) -> Option<String> {
    // It is the same for every key that is changed.
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    let mut place = &*SCHEMA;
    for name in tables.iter().chain([&key]) {
        place = resolved(&SCHEMA, place)["properties"].get(name)?;
    }
    let kind = &resolved(&SCHEMA, place)["type"];
    kind.as_str().map(str::to_owned)
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
            if let Some(default) = default {
                place["default"] = if default.len() == 1 { json!(short(default[0])) } else { json!(default) };
            }
        }
    }
}

// Whole numbers are written as such.
fn short(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e9 { json!(x as i64) } else { json!(x) }
}

fn bound(place: &mut Value, rule: Rule) {
    let (least, most) = rule.range();
    // Shares may be written as "60%" too.
    if let Rule::Whole(..) = rule {
        place["type"] = json!("integer");
    }
    let open = matches!(rule, Rule::FieldOfView);
    if let Some(least) = least {
        place[if open { "exclusiveMinimum" } else { "minimum" }] = short(least);
    }
    if let Some(most) = most {
        place[if open { "exclusiveMaximum" } else { "maximum" }] = short(most);
    }
}

// British spellings are read too.
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
        assert_eq!(kind_of(&["camera", "key"], "time").as_deref(), Some("number"));
        assert_eq!(kind_of(&["output"], "path").as_deref(), Some("string"));
        assert_eq!(kind_of(&["film"], "exposure"), None);
    }
}
