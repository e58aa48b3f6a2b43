//! What a key of a scene is, for one who asks by its name: made of the schema, as the reference page is.

use crate::scene::keys::reference::{facts, keys, material_keys, materials_with, text, words};
use crate::scene::keys::schema::{resolved, short};
use crate::scene::keys::write::{Content, below};
use crate::scene::text::toml::SCHEMA;
use serde_json::Value;

/// A key of the schema in one of its tables.
pub(crate) struct KeyEntry {
    /// Its path from the top: `body.path.r`.
    pub path: String,
    // The header of the table in which it stands, and what stands above that header in an example.
    header: String,
    above: String,
    table: &'static Value,
    key: &'static str,
}

impl KeyEntry {
    fn value(&self) -> &'static Value {
        &self.table["properties"][self.key]
    }
    pub fn about(&self) -> &'static str {
        text(&self.value()["description"])
    }
    pub fn inner(&self) -> Option<&'static Value> {
        Some(resolved(&SCHEMA, self.value())).filter(|inner| inner["properties"].is_object())
    }
    // Its words, each with what it means.
    fn words(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        words(&self.value()["enum"]).zip(words(&self.value()["enumDescriptions"]))
    }
}

/// All keys and tables.
pub(crate) fn entries() -> Vec<KeyEntry> {
    let mut all = Vec::new();
    add_entries(&SCHEMA, "", "", "", &mut all);
    all
}

fn add_entries(table: &'static Value, path: &str, header: &str, above: &str, all: &mut Vec<KeyEntry>) {
    // A floor is thin: it refuses the keys of solid glass with every material. Its `color` is another name of its `tint`.
    let of_materials = if table["x-materials"].is_object() { material_keys(&SCHEMA) } else { Vec::new() };
    let is_refused = |key: &str| {
        !["material", "color"].contains(&key) && of_materials.contains(&key) && materials_with(table, key).is_empty()
    };
    for key in keys(table).into_iter().filter(|key| !is_refused(key)) {
        let entry = KeyEntry { path: below(path, key), header: header.into(), above: above.into(), table, key };
        if entry.value()["deprecated"] == true {
            continue;
        }
        let (inner, path) = (entry.inner(), entry.path.clone());
        let inner_header = Content::header(entry.value()["type"] == "array", &path);
        all.push(entry);
        if let Some(inner) = inner {
            // A table below an element of a list, or below one that must have keys, needs that table.
            let needed = required(table, "");
            let is_alone = needed.is_empty() && !header.starts_with("[[");
            let above = if is_alone { above.to_owned() } else { format!("{above}{header}\n{needed}\n") };
            add_entries(inner, &path, &inner_header, &above, all);
        }
    }
}

/// A name of a key as people write it: `[[body]]`, `body[0].lamps`, `film.exposure=0.5`, `colour`.
pub(crate) fn plain_name(typed: &str) -> String {
    let name = typed.split('=').next().unwrap_or_default();
    let kept: String = name.chars().filter(|c| !"[]0123456789 `'\"".contains(*c)).collect();
    kept.to_lowercase().replace("colour", "color").replace("centre", "center")
}

/// What the keys and tables of that name are, by path or by the end of it, or what a word that keys take means.
pub(crate) fn explain(name: &str) -> Option<String> {
    let (ending, mut found) = (format!(".{name}"), entries());
    let is_whole = found.iter().any(|entry| entry.path == name);
    found.retain(|entry| entry.path == name || (!is_whole && entry.path.ends_with(&ending)));
    // Places of one declaration share one text.
    let mut groups: Vec<(String, Vec<KeyEntry>)> = Vec::new();
    for entry in found {
        let text = format!("{}{:?}", entry.value(), facts(entry.table, entry.key));
        match groups.iter_mut().find(|(one, _)| *one == text) {
            Some((_, group)) => group.push(entry),
            None => groups.push((text, vec![entry])),
        }
    }
    match &groups[..] {
        [] => word(name),
        [(_, group)] => Some(one(group)),
        several => {
            let row = |(_, group): &(String, Vec<KeyEntry>)| {
                format!("{}\n  {}\n", joined(group, |one| &one.path), group[0].about())
            };
            let (rows, first) = (several.iter().map(row).collect::<String>(), &several[0].1[0].path);
            Some(format!("Several tables have a key `{name}`:\n\n{rows}\n`polyfly explain {first}` tells more."))
        }
    }
}

// A word that keys take: what it means, and which keys.
fn word(name: &str) -> Option<String> {
    let about =
        |entry: &KeyEntry| entry.words().find(|(word, _)| word.eq_ignore_ascii_case(name)).map(|(_, about)| about);
    let found: Vec<KeyEntry> = entries().into_iter().filter(|entry| about(entry).is_some()).collect();
    let first = found.first()?;
    let text = format!("\"{name}\" is a word of {}\n{}", joined(&found, |one| &one.path), about(first)?);
    Some(format!("{}\n\n`polyfly explain {}` lists all its words.", text.trim_end(), first.path))
}

fn joined(entries: &[KeyEntry], of: impl Fn(&KeyEntry) -> &str) -> String {
    let mut all: Vec<&str> = entries.iter().map(of).collect();
    all.dedup();
    all.join(", ")
}

// One declaration, with all tables that have it.
fn one(group: &[KeyEntry]) -> String {
    let (entry, about) = (&group[0], group[0].about());
    if let Some(inner) = entry.inner() {
        let header = Content::header(entry.value()["type"] == "array", &entry.path);
        let row = |key| format!("\n  {key:18} {}", text(&inner["properties"][key]["description"]));
        return format!("{header}\n{about}\n{}", keys(inner).into_iter().map(row).collect::<String>());
    }
    let [kind, range, default, counts] = facts(entry.table, entry.key);
    let table = joined(group, |one| &one.header);
    let default = default.trim_matches('`');
    let facts = [("table", &*table), ("type", &kind), ("range", &range), ("default", default), ("used if", &counts)];
    let facts = facts.iter().filter(|(_, fact)| !fact.is_empty()).map(|(name, fact)| format!("  {name:8}  {fact}\n"));
    let words =
        entry.words().map(|(word, about)| format!("  \"{word}\": {about}").trim_end_matches(": ").to_owned() + "\n");
    let (facts, words) = (facts.collect::<String>(), words.collect::<String>());
    let words = if words.is_empty() { words } else { format!("\nIts words:\n{words}") };
    let example = example(entry).trim_end().replace('\n', "\n  ").replace("\n  \n", "\n\n");
    format!("{}\n{about}\n\n{facts}{words}\nExample:\n  {}", entry.path, example.trim_start())
}

/// The key in its table, with what it needs beside it: the keys that are required, and the word of another key.
pub(crate) fn example(entry: &KeyEntry) -> String {
    let KeyEntry { header, above, table, key, .. } = entry;
    let mut beside = required(table, key);
    for (other, values) in entry.value()["x-when"].as_object().into_iter().flatten() {
        beside.extend(words(values).next().map(|word| format!("{other} = \"{word}\"\n")));
    }
    let materials = materials_with(table, key);
    if !materials.is_empty() && !materials.contains(&text(&table["properties"]["material"]["default"])) {
        beside += &format!("material = \"{}\"\n", materials[0]);
    }
    beside.extend(entry.value()["x-beside"].as_str().map(|line| format!("{line}\n")));
    let below = entry.value()["x-below"].as_str().map(|lines| format!("\n{lines}\n")).unwrap_or_default();
    format!("{above}{header}\n{beside}{key} = {}\n{below}", sample(entry.value()))
}

// The keys that a table must have, but for one, with values.
fn required(table: &Value, but: &str) -> String {
    let keys = words(&table["required"]).filter(|key| *key != but);
    keys.map(|key| format!("{key} = {}\n", sample(&table["properties"][key]))).collect()
}

// A value that shows the key: another one than the default, where that is easy.
fn sample(value: &Value) -> String {
    let (default, slider) = (&value["default"], &value["x-slider"]);
    let other = value["enum"].as_array().and_then(|all| all.iter().find(|word| *word != default));
    let sample = match (value["examples"].get(0).or(other), slider[0].as_f64().zip(slider[1].as_f64())) {
        (Some(example), _) => example.clone(),
        _ if value["format"] == "color" => "tomato".into(),
        _ if value["type"] == "boolean" => (*default != Value::Bool(true)).into(),
        // A quarter of the slider, or half where that is the default; whole where the range is wide.
        (None, Some((min, max))) => {
            let is_whole = value["type"] == "integer" || value["anyOf"][0]["type"] == "integer" || max - min >= 10.0;
            let steps = if is_whole {
                1.0
            } else if max - min >= 1.0 {
                10.0
            } else {
                1000.0
            };
            let at = |share: f64| short(((min + (max - min) * share) * steps).round() / steps);
            if at(0.25) == *default { at(0.5) } else { at(0.25) }
        }
        _ => default.clone(),
    };
    // With the spaces of TOML.
    if sample.is_array() { sample.to_string().replace(',', ", ") } else { sample.to_string() }
}
