//! What a struct of keys holds, key by key: [`Lines`] are written as TOML, and those of a default make the schema.

use super::key::{Key, MaterialUse};
use std::fmt::Write;

/// Makes the JSON that says which keys each material has.
pub(crate) type MaterialsSchema = fn(MaterialUse) -> serde_json::Value;

/// The keys of a table, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub entries: Vec<Entry>,
    /// What has a material, if the table has one, and the schema of its materials.
    pub materials: Option<(MaterialUse, MaterialsSchema)>,
}

/// A key and what it holds.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: &'static Key,
    pub content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A value: its text in TOML, if there is one, and the JSON schema of what it may be.
    Value { text: Option<String>, schema: fn(&Key) -> serde_json::Value },
    /// Tables: their name in the schema, the keys of a default one, and those that are there. A list has two brackets.
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
    /// A key and its value.
    pub fn value(&mut self, key: &'static Key, text: Option<String>, schema: fn(&Key) -> serde_json::Value) {
        self.entries.push(Entry { key, content: Content::Value { text, schema } });
    }
    /// Adds the keys of a part of the table.
    pub fn append(&mut self, part: Lines) {
        self.entries.extend(part.entries);
        self.materials = self.materials.or(part.materials);
    }
    /// Without values that are those of a default, unless they are always spelled out.
    pub fn without(self, default: &Lines) -> Lines {
        let is_kept = |(entry, default): &(Entry, &Entry)| {
            let Entry { key, content } = entry;
            key.spelled || key.required || content.text() != default.content.text() || content.text().is_none()
        };
        let entries = self.entries.into_iter().zip(&default.entries).filter(is_kept).map(|(entry, _)| entry).collect();
        Lines { entries, ..self }
    }
    /// Writes it in TOML, as the table of that path.
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

/// The path of a table within that of a path.
pub(crate) fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
