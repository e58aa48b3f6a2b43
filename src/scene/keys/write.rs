//! Writes structs of keys as tables of TOML, so that reading them again gives the same structs.

use super::{Key, Keys};
use std::fmt::Write;

/// What is written of a table, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    keys: Vec<(&'static Key, String)>,
    // By their names; of those with several tables each has two brackets.
    tables: Vec<(&'static str, Vec<Lines>, Brackets)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Brackets {
    One,
    Two,
}

// Keys are at most so many: those that differ from the default are found by their names.
impl Lines {
    /// A struct's keys: those that differ from the default, or are always spelled out.
    pub fn of<T: Keys>(keys: &T) -> Lines {
        let (mut written, mut plain) = (Lines::default(), Lines::default());
        for (lines, mut keys) in [(&mut written, keys.spelled()), (&mut plain, T::default())] {
            for (key, field) in keys.fields() {
                if !key.is_elsewhere {
                    field.write(key, lines);
                }
            }
        }
        let is_default = |key: &Key, text: &str| plain.keys.iter().any(|(k, t)| k.name == key.name && t == text);
        written.keys.retain(|(key, text)| key.is_spelled || key.is_required || !is_default(key, text));
        written
    }
    /// A key and its value.
    pub fn line(&mut self, key: &'static Key, text: String) {
        self.keys.push((key, text));
    }
    /// A table within.
    pub fn table(&mut self, name: &'static str, lines: Lines) {
        self.tables.push((name, vec![lines], Brackets::One));
    }
    /// The tables of a list.
    pub fn tables(&mut self, name: &'static str, all: Vec<Lines>) {
        self.tables.push((name, all, Brackets::Two));
    }
    /// The keys of a part of the table.
    pub fn append(&mut self, mut part: Lines) {
        self.keys.append(&mut part.keys);
        self.tables.append(&mut part.tables);
    }
    /// In TOML, the tables within that of a path.
    pub fn write(&self, path: &str, out: &mut String) {
        let (last, first): (Vec<_>, Vec<_>) = self.keys.iter().partition(|(key, _)| key.is_last);
        for (key, text) in first.iter().chain(&last) {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{} = {text}", key.name);
        }
        for (name, tables, brackets) in &self.tables {
            let path = if path.is_empty() { (*name).to_owned() } else { format!("{path}.{name}") };
            for table in tables {
                if !out.is_empty() {
                    out.push('\n');
                }
                let _ = match brackets {
                    Brackets::One => writeln!(out, "[{path}]"),
                    Brackets::Two => writeln!(out, "[[{path}]]"),
                };
                table.write(&path, out);
            }
        }
    }
}
