//! Lists of keys with their values: [`Lines`] are written as TOML, and those of a default scene make the schema.

use super::key::{Key, MaterialUse};
use std::collections::HashMap;
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
    /// It has its default, and is not written.
    pub is_default: bool,
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
    /// A value's text.
    pub fn text(&self) -> Option<&str> {
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
        self.entries.push(Entry { key, content: Content::Value { text, schema }, is_default: false });
    }
    /// Appends the keys of a part of the table.
    pub fn append(&mut self, part: Lines) {
        self.entries.extend(part.entries);
        self.materials = self.materials.or(part.materials);
    }
    /// Marks values that equal the default, unless they are always written.
    pub fn without(mut self, default: &Lines) -> Lines {
        for (Entry { key, content, is_default }, default) in self.entries.iter_mut().zip(&default.entries) {
            *is_default =
                !key.spelled && !key.required && content.text().is_some() && content.text() == default.content.text();
        }
        self
    }
    /// Writes the keys in TOML. `instead` has texts in place of values, by their paths; an empty one leaves the key or table out.
    pub fn write(&self, instead: &HashMap<&str, String>, out: &mut String) {
        self.write_table("", "", instead, out);
    }
    // Writes the table whose header has this path; `full_path` is its path with indices of lists, and a point at its end.
    fn write_table(&self, path: &str, full_path: &str, instead: &HashMap<&str, String>, out: &mut String) {
        let replaced = |name: &str| instead.get(format!("{full_path}{name}").as_str()).map(String::as_str);
        let (last, first): (Vec<_>, Vec<_>) = self.entries.iter().partition(|entry| entry.key.last);
        for Entry { key, content, is_default } in first.iter().chain(&last) {
            let text = replaced(key.name).or_else(|| content.text().filter(|_| !is_default));
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                // Writing to a String cannot fail.
                let _ = writeln!(out, "{} = {text}", key.name);
            }
        }
        for Entry { key, content, .. } in &self.entries {
            let Content::Tables { is_list, written, .. } = content else { continue };
            if replaced(key.name).is_some() {
                continue;
            }
            let path = below(path, key.name);
            for (i, table) in written.iter().enumerate() {
                if !out.is_empty() {
                    out.push('\n');
                }
                let _ = writeln!(out, "{}", Content::header(*is_list, &path));
                let index = if *is_list { format!("{i}.") } else { String::new() };
                table.write_table(&path, &format!("{full_path}{}.{index}", key.name), instead, out);
            }
        }
    }
}

/// The path of an inner table.
pub(crate) fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
