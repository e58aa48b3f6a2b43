//! What a key of a scene is, for one who asks by its name: made of the schema, as the reference page is.

use crate::scene::keys::reference::{facts, keys, material_keys, materials_with, text, words};
use crate::scene::keys::schema::resolved;
use crate::scene::keys::write::{Content, below};
use crate::scene::text::toml::SCHEMA;
use serde_json::Value;

/// A key of the schema in one of its tables.
pub(crate) struct KeyEntry {
    /// Its path from the top: `body.path.r`.
    pub path: String,
    // The header of its table.
    header: String,
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
    add_entries(&SCHEMA, "", "", &mut all);
    all
}

fn add_entries(table: &'static Value, path: &str, header: &str, all: &mut Vec<KeyEntry>) {
    // A floor is thin: it refuses the keys of solid glass with every material. Its `color` is another name of its `tint`.
    let of_materials = if table["x-materials"].is_object() { material_keys(&SCHEMA) } else { Vec::new() };
    let is_refused = |key: &str| {
        !["material", "color"].contains(&key) && of_materials.contains(&key) && materials_with(table, key).is_empty()
    };
    for key in keys(table).into_iter().filter(|key| !is_refused(key)) {
        let entry = KeyEntry { path: below(path, key), header: header.into(), table, key };
        if entry.value()["deprecated"] == true {
            continue;
        }
        let (inner, path) = (entry.inner(), entry.path.clone());
        let header = Content::header(entry.value()["type"] == "array", &path);
        all.push(entry);
        if let Some(inner) = inner {
            add_entries(inner, &path, &header, all);
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
    format!("{}\n{about}\n\n{facts}{words}", entry.path)
}
