//! Lists of keys with their values: [`Lines`] are written as TOML, and those of a default scene make the schema.

use super::key::{Key, MaterialUse};
use std::fmt::Write;

/// Makes the JSON that lists the keys of each material.
pub(crate) type MaterialsSchema = fn(MaterialUse) -> serde_json::Value;

/// The keys of a table, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub entries: Vec<Entry>,
    /// The use of the table's material, and the schema of its materials, if it has one.
    pub materials: Option<(MaterialUse, MaterialsSchema)>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: &'static Key,
    pub content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A value: its text in TOML, if it has one, and the JSON schema of its type.
    Value { text: Option<String>, schema: fn(&Key) -> serde_json::Value },
    /// Tables: their name in the schema, the keys of a default one, and the existing ones. A list's header has two
    /// brackets.
    Tables { table: &'static str, is_list: bool, default: fn() -> Lines, written: Vec<Lines> },
}

impl Content {
    fn text(&self) -> Option<&str> {
        if let Content::Value { text, .. } = self { text.as_deref() } else { None }
    }
    /// A table's header.
    pub fn header(is_list: bool, path: &str) -> String {
        if is_list { format!("[[{path}]]") } else { format!("[{path}]") }
    }
}

impl Lines {
    /// Adds a key with a value.
    pub fn value(&mut self, key: &'static Key, text: Option<String>, schema: fn(&Key) -> serde_json::Value) {
        self.entries.push(Entry { key, content: Content::Value { text, schema } });
    }
    /// Appends the keys of a part of the table.
    pub fn append(&mut self, part: Lines) {
        self.entries.extend(part.entries);
        self.materials = self.materials.or(part.materials);
    }
    /// Removes values that equal the default, unless they are always written.
    pub fn without(self, default: &Lines) -> Lines {
        let is_kept = |(entry, default): &(Entry, &Entry)| {
            let Entry { key, content } = entry;
            key.spelled || key.required || content.text() != default.content.text() || content.text().is_none()
        };
        let entries = self.entries.into_iter().zip(&default.entries).filter(is_kept).map(|(entry, _)| entry).collect();
        Lines { entries, ..self }
    }
    /// Writes the keys in TOML, as the table at this path.
    pub fn write(&self, path: &str, out: &mut String) {
        let (last, first): (Vec<_>, Vec<_>) = self.entries.iter().partition(|entry| entry.key.last);
        for entry in first.iter().chain(&last) {
            if let Some(text) = entry.content.text() {
                // Writing to a String cannot fail.
                let _ = writeln!(out, "{} = {text}", entry.key.name);
            }
        }
        for Entry { key, content } in &self.entries {
            let Content::Tables { is_list, written, .. } = content else { continue };
            let path = below(path, key.name);
            for table in written {
                if !out.is_empty() {
                    out.push('\n');
                }
                let _ = writeln!(out, "{}", Content::header(*is_list, &path));
                table.write(&path, out);
            }
        }
    }
}

/// The path of an inner table.
pub(crate) fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
