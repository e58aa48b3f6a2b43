//! What a key of a scene is, for one who asks by its name: made of the schema, as the reference page is.

use super::keys::key::british;
use super::keys::reference::{facts, keys, material_keys, materials_with, text, words};
use super::keys::schema::{resolved, short};
use super::keys::write::{Content, below};
use super::toml::SCHEMA;
use serde_json::Value;

/// A key of the schema, in each place where it stands.
struct KeyPlace {
    /// Its path from the top: `body.path.r`.
    path: String,
    /// The header of the table in which it stands, and what stands above that header in an example.
    header: String,
    above: String,
    table: &'static Value,
    key: &'static str,
}

impl KeyPlace {
    fn value(&self) -> &'static Value {
        &self.table["properties"][self.key]
    }
    fn about(&self) -> &'static str {
        text(&self.value()["description"])
    }
    fn inner(&self) -> Option<&'static Value> {
        Some(resolved(&SCHEMA, self.value())).filter(|inner| inner["properties"].is_object())
    }
    /// Places of one declaration share one text.
    fn is_same(&self, other: &KeyPlace) -> bool {
        self.value() == other.value() && facts(self.table, self.key) == facts(other.table, other.key)
    }
}

// All keys, by table.
fn places() -> Vec<KeyPlace> {
    let mut all = Vec::new();
    add_places(&SCHEMA, "", "", "", &mut all);
    all
}

fn add_places(table: &'static Value, path: &str, header: &str, above: &str, all: &mut Vec<KeyPlace>) {
    let refused = refused_keys(table);
    let counts = |key: &&str| table["properties"][*key]["deprecated"] != true && !refused.contains(key);
    for key in keys(table).into_iter().filter(counts) {
        let place = KeyPlace { path: below(path, key), header: header.into(), above: above.into(), table, key };
        let (inner, is_list) = (place.inner(), place.value()["type"] == "array");
        let path = place.path.clone();
        all.push(place);
        if let Some(inner) = inner {
            // A table below an element of a list, or below one that must have keys, needs that table.
            let needed = required(table, "");
            let above = match header.starts_with("[[") || !needed.is_empty() {
                true => format!("{above}{header}\n{needed}\n"),
                false => above.to_owned(),
            };
            add_places(inner, &path, &Content::header(is_list, &path), &above, all);
        }
    }
}

// Keys of materials that this table refuses with every material, such as the index of refraction of a floor, which is thin. The color of a
// floor is another name of its `tint`.
fn refused_keys(table: &Value) -> Vec<&'static str> {
    let is_refused = |key: &&str| !["material", "color"].contains(key) && materials_with(table, key).is_empty();
    let all = if table["x-materials"].is_object() { material_keys(&SCHEMA) } else { Vec::new() };
    all.into_iter().filter(is_refused).collect()
}

/// The paths of all keys, tables too.
pub(crate) fn paths() -> Vec<String> {
    places().into_iter().map(|place| place.path).collect()
}

/// A name of a key as people write it: `[[body]]`, `body[0].lamps`, `film.exposure=0.5`, `colour`.
pub(crate) fn plain_name(typed: &str) -> String {
    let name = typed.split('=').next().unwrap_or_default();
    let kept: String = name.chars().filter(|c| !"[]0123456789 `'\"".contains(*c)).collect();
    kept.to_lowercase().replace("colour", "color").replace("centre", "center")
}

/// What a key or table is, by its path or the end of it; several declarations of one name are listed. A word that a key takes is
/// explained too. Nothing where there is none of the name.
pub(crate) fn explain(name: &str) -> Option<String> {
    let ending = format!(".{name}");
    let (whole, ends): (Vec<KeyPlace>, Vec<KeyPlace>) =
        places().into_iter().filter(|p| p.path == name || p.path.ends_with(&ending)).partition(|p| p.path == name);
    let found = if whole.is_empty() { ends } else { whole };
    let mut groups: Vec<Vec<KeyPlace>> = Vec::new();
    for place in found {
        match groups.iter_mut().find(|group| group[0].is_same(&place)) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    match &groups[..] {
        [] => word(name),
        [group] => Some(one(group)),
        several => {
            let row = |group: &Vec<KeyPlace>| {
                let names: Vec<&str> = group.iter().map(|place| place.path.as_str()).collect();
                format!("{}\n  {}\n", names.join(", "), group[0].about())
            };
            let rows: String = several.iter().map(row).collect();
            Some(format!(
                "Several tables have a key `{name}`:\n\n{rows}\n`polyfly explain {}` tells more.",
                several[0][0].path
            ))
        }
    }
}

// A word that keys take: what it means, and which keys.
fn word(name: &str) -> Option<String> {
    let about = |place: &KeyPlace| {
        let value = place.value();
        let mut all = words(&value["enum"]).zip(words(&value["enumDescriptions"]));
        all.find(|(word, _)| word.eq_ignore_ascii_case(name)).map(|(_, about)| about)
    };
    let found: Vec<(KeyPlace, &str)> =
        places().into_iter().filter_map(|place| Some(about(&place)).flatten().map(|about| (place, about))).collect();
    let (first, about) = found.first()?;
    let paths: Vec<&str> = found.iter().map(|(place, _)| place.path.as_str()).collect();
    let about = if about.is_empty() { String::new() } else { format!("\n{about}") };
    Some(format!(
        "\"{name}\" is a word of {}{about}\n\n`polyfly explain {}` lists all its words.",
        paths.join(", "),
        first.path
    ))
}

// One declaration, and the places where it counts.
fn one(group: &[KeyPlace]) -> String {
    let place = &group[0];
    if let Some(inner) = place.inner() {
        let header = Content::header(place.value()["type"] == "array", &place.path);
        let rows = keys(inner)
            .into_iter()
            .map(|key| format!("  {key:18} {}\n", text(&inner["properties"][key]["description"])));
        return format!("{header}\n{}\n\n{}", place.about(), rows.collect::<String>().trim_end());
    }
    let [kind, range, default, counts] = facts(place.table, place.key);
    let mut headers: Vec<&str> = group.iter().map(|place| place.header.as_str()).collect();
    headers.dedup();
    let british = british(place.key).map(|name| format!("{}, or {name}", place.key));
    let facts = [
        ("table", headers.join(", ")),
        ("spelling", british.unwrap_or_default()),
        ("type", kind),
        ("range", range),
        ("default", default.trim_matches('`').to_owned()),
        ("used if", counts),
    ];
    let facts = facts.iter().filter(|(_, fact)| !fact.is_empty()).map(|(name, fact)| format!("  {name:8}  {fact}\n"));
    let abouts = words(&place.value()["enumDescriptions"]);
    let choices = words(&place.value()["enum"]).zip(abouts).map(|(word, about)| match about {
        "" => format!("  \"{word}\"\n"),
        about => format!("  \"{word}\": {about}\n"),
    });
    let choices = choices.collect::<String>();
    let choices = if choices.is_empty() { choices } else { format!("\nIts words:\n{choices}") };
    let example: String = example(place).lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect();
    let facts = facts.collect::<String>();
    format!("{}\n{}\n\n{facts}{choices}\nExample:\n{}", place.path, place.about(), example.trim_end())
}

// The key in its table, with what it needs beside it: the keys that are required, and the word of another key.
fn example(place: &KeyPlace) -> String {
    let KeyPlace { header, above, table, key, .. } = place;
    let mut beside = required(table, key);
    for (other, values) in place.value()["x-when"].as_object().into_iter().flatten() {
        beside.extend(words(values).next().map(|word| format!("{other} = \"{word}\"\n")));
    }
    let materials = materials_with(table, key);
    if !materials.is_empty() && !materials.contains(&text(&table["properties"]["material"]["default"])) {
        beside += &format!("material = \"{}\"\n", materials[0]);
    }
    beside.extend(place.value()["x-beside"].as_str().map(|line| format!("{line}\n")));
    let below = place.value()["x-below"].as_str().map(|lines| format!("\n{lines}\n")).unwrap_or_default();
    format!("{above}{header}\n{beside}{key} = {}\n{below}", sample(place.value()))
}

// The keys that a table must have, but for one, with values.
fn required(table: &Value, but: &str) -> String {
    let keys = words(&table["required"]).filter(|key| *key != but);
    keys.map(|key| format!("{key} = {}\n", sample(&table["properties"][key]))).collect()
}

// A value that shows the key: another one than the default, where that is easy.
fn sample(value: &Value) -> String {
    let default = value.get("default");
    let slider = value["x-slider"].as_array().and_then(|ends| Some((ends[0].as_f64()?, ends[1].as_f64()?)));
    let sample = if let Some(example) = value["examples"].get(0) {
        example.clone()
    } else if value["format"] == "color" {
        "tomato".into()
    } else if let Some(other) = value["enum"].as_array().and_then(|all| all.iter().find(|word| Some(*word) != default))
    {
        other.clone()
    } else if value["type"] == "boolean" {
        (default != Some(&true.into())).into()
    } else if let Some((min, max)) = slider {
        // A quarter of the slider, or half where that is the default; whole where the range is wide.
        let at = |share: f64| min + (max - min) * share;
        let is_whole = value["type"] == "integer" || value["anyOf"][0]["type"] == "integer" || max - min >= 10.0;
        let step = if is_whole {
            1.0
        } else if max - min >= 1.0 {
            10.0
        } else {
            1000.0
        };
        let round = |x: f64| short((x * step).round() / step);
        [0.25, 0.5].map(|share| round(at(share))).into_iter().find(|x| Some(x) != default).unwrap_or_default()
    } else {
        default.cloned().unwrap_or_default()
    };
    // With the spaces of TOML.
    if sample.is_array() { sample.to_string().replace(',', ", ") } else { sample.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{ParseOptions, toml};

    #[test]
    fn every_key_explains_itself_with_an_example_that_is_read() {
        let mut wrong = String::new();
        for place in places() {
            let text = explain(&place.path).unwrap_or_else(|| panic!("{} is unknown", place.path));
            assert!(text.contains(place.about()) && !place.about().is_empty(), "{text}");
            assert!(explain(place.key).is_some(), "{}", place.key);
            if place.inner().is_some() {
                continue;
            }
            assert!(text.contains("  type      ") && text.contains("\nExample:\n"), "{text}");
            let example = example(&place);
            assert!(!example.contains("null"), "{example}");
            // These need another table: keys of the camera, the floor's own roughness, and the floor's relief, which alone glitters.
            let others = [
                "camera.closed",
                "floor.relief.roughness_map",
                "body.relief.roughness_map",
                "body.relief.glitter",
                "body.relief.displaced",
            ];
            if others.contains(&place.path.as_str()) {
                continue;
            }
            // What else a scene needs may be missing, which is reported at its end or at a header; the keys are right.
            let problems = toml::parse(&example, ParseOptions::default()).err().unwrap_or_default();
            let of_key = |at: usize| {
                let begin = example[..at].rfind('\n').map_or(0, |end| end + 1);
                !example[at..].trim().is_empty() && !example[begin..].starts_with('[')
            };
            for problem in problems.iter().filter(|problem| of_key(problem.span.start)) {
                wrong += &format!("{example}{problem:?}\n\n");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    #[test]
    fn a_key_is_found_as_people_write_it() {
        assert_eq!(plain_name("body[0].Colour=red"), "body.color");
        assert_eq!(plain_name("[[camera.key]]"), "camera.key");
        assert_eq!(plain_name("lamps"), "lamps");
        assert!(explain("lamps").is_some_and(|text| text.contains("[[body]]\n  solid = \"cube\"\n  lamps = 10")));
        assert!(explain("r").is_some_and(|text| text.contains("[body.path]") && text.contains("[camera.eye]")));
        assert!(explain("color").is_some_and(|text| text.contains("air.color") && text.contains("light.color")));
        assert!(explain("body").is_some_and(|text| text.starts_with("[[body]]\n") && text.contains("  solid ")));
        assert!(explain("agx").is_some_and(|text| text.starts_with("\"agx\" is a word of film.tone\na wide")));
        assert_eq!(explain("xyzzy"), None);
    }
}
