//! The JSON schema of scenes.

use crate::scene::keys::schema::kind_of;
use crate::scene::text::toml::SCHEMA;
use crate::scene::{ParseOptions, toml};
use serde_json::json;

#[test]
fn a_material_has_the_keys_that_the_schema_gives_it() {
    let schema = &*SCHEMA;
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
                "film_nm",
                "film_ior",
            ] {
                let value = if key == "abbe" {
                    "50"
                } else if key == "color" {
                    "[1, 1, 1]"
                } else {
                    "1"
                };
                let header =
                    if ["particles", "floor"].contains(&table) { format!("[{table}]") } else { format!("[[{table}]]") };
                // The floor's color has two names.
                let shown = if table == "floor" && key == "color" { "tint" } else { key };
                let text = format!("{header}\nmaterial = \"{material}\"\n{rest}\n{key} = {value}\n");
                let is_taken = toml::parse(&text, ParseOptions::default()).is_ok();
                assert_eq!(is_taken, keys.as_array().unwrap().contains(&json!(shown)), "{text}");
            }
        }
    }
}

#[test]
fn keys_have_their_kinds_ranges_and_defaults() {
    let schema = &*SCHEMA;
    let at = |path: &str| schema.pointer(path).unwrap_or_else(|| panic!("{path} in {schema:#}"));
    assert_eq!(at("/definitions/render/properties/depth/maximum"), 128);
    assert_eq!(at("/definitions/render/properties/depth/type"), "integer");
    assert_eq!(at("/definitions/camera/properties/fov_deg/exclusiveMinimum"), 0);
    assert_eq!(at("/definitions/camera/properties/fov_deg/maximum"), 360);
    assert_eq!(at("/definitions/body/properties/reflection/maximum"), 1);
    assert_eq!(at("/definitions/body/properties/lamp_pattern/enum/2"), "hue");
    assert_eq!(at("/definitions/path/properties/r/type"), "number");
    assert_eq!(at("/definitions/relief/properties/tiles/maximum"), 10_000);
    assert!(schema.pointer("/definitions/body/properties/centre").is_some());
    assert_eq!(at("/definitions/body/additionalProperties"), false);
    // Each number has a range.
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
    // Each key appears in the form once. Each single number has a slider, whose range its rule allows.
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
    assert_eq!(kind_of(schema, &["camera", "key"], "time"), Some("number"));
    assert_eq!(kind_of(schema, &["output"], "path"), Some("string"));
    assert_eq!(kind_of(schema, &["film"], "exposure"), None);
}
