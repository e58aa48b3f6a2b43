//! Edits single keys of a scene's text. Comments, order and all other text stay as they are.

use crate::language::{Message, msg};
use crate::quote::brief;
use crate::scene::keys::key::british;
use crate::scene::keys::read::percent;
use crate::scene::keys::schema;
use crate::scene::text::suggest;
use crate::scene::text::toml::{LISTS, SCHEMA};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

/// Why a key cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub enum EditError {
    /// The path is invalid.
    Path(String),
    /// The list has no element of this number.
    Index(String, usize, usize),
    /// A part of the path is not a table.
    NoTable(String),
    /// A part of the path is a list of tables, and the element is not named.
    List(String, String),
    /// The key belongs to a table, and the path names none.
    NoTop(String, String),
    /// The text is not TOML.
    NoToml(String),
}

impl EditError {
    pub(crate) fn message(&self) -> Message {
        match self {
            EditError::Path(path) => msg!(
                "`{path}` is not a key; expected a path such as film.exposure, camera.eye.r or body[0].radius",
                path = brief(path)
            ),
            EditError::Index(path, index, count) => {
                let what = msg!(
                    "there is no `{path}[{index}]`: the scene has {count} of them, counted from 0",
                    path = brief(path),
                    index,
                    count
                );
                let singular = path.strip_suffix("ies").map_or_else(|| path.clone(), |stem| format!("{stem}y"));
                match suggest::nearest(&singular, LISTS.into_iter()).filter(|near| near != path) {
                    Some(near) => msg!(
                        "{what}; {help}",
                        what,
                        help = msg!("did you mean `{name}`?", name = format_args!("{near}[{index}]"))
                    ),
                    None => what,
                }
            }
            EditError::NoTable(path) => msg!("`{path}` is not a table", path = brief(path)),
            EditError::List(path, key) => msg!(
                "`{path}` is a list: say which of them, as in `{path}[0].{key}`",
                path = brief(path),
                key = brief(key)
            ),
            EditError::NoTop(key, paths) => msg!("`{key}` is a key of tables: write {paths}", key = brief(key), paths),
            EditError::NoToml(why) => msg!("the scene is not TOML: {why}", why = brief(why)),
        }
    }
}

/// An edit of a scene's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Sets the key of this path to a value.
    Set(String, String),
    /// Inserts an element into a list, in front of the one that the path names, such as `camera.key[2]`. A table is given as an inline
    /// table.
    Insert(String, String),
    /// Removes the key of this path, or the element of a list.
    Remove(String),
}

impl Edit {
    /// The path of the key, or of the element of a list.
    pub fn path(&self) -> &str {
        let (Edit::Set(path, _) | Edit::Insert(path, _) | Edit::Remove(path)) = self;
        path
    }

    /// The value; None if the key is removed.
    pub fn value(&self) -> Option<&str> {
        match self {
            Edit::Set(_, value) | Edit::Insert(_, value) => Some(value),
            Edit::Remove(_) => None,
        }
    }

    /// The text after this edit.
    ///
    /// # Errors
    /// The path does not exist, or the text is not TOML.
    pub fn apply(&self, text: &str) -> Result<String, EditError> {
        match self {
            Edit::Set(path, value) => set(text, path, Some(value)),
            Edit::Insert(path, table) => insert(text, path, table),
            Edit::Remove(path) => set(text, path, None),
        }
    }
}

// A name, and an index if the name is a list of tables.
struct Step<'a> {
    name: &'a str,
    index: Option<usize>,
}

// Maximum number of parts of a path. The length of nested tables grows with the square of their depth.
const MAX_PARTS: usize = 8;

fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    if path.split('.').nth(MAX_PARTS).is_some() {
        return None;
    }
    let step = |part| {
        let (name, index) = match str::split_once(part, '[') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(']')?.parse().ok()?)),
            None => (part, None),
        };
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_name.then_some(Step { name, index })
    };
    path.split('.').map(step).collect()
}

fn no_toml(e: &toml_edit::TomlError) -> EditError {
    EditError::NoToml(e.message().to_owned())
}

fn opened<'a>(text: &str, path: &'a str) -> Result<(DocumentMut, Vec<Step<'a>>), EditError> {
    let document = text.parse().map_err(|e| no_toml(&e))?;
    Ok((document, steps(path).ok_or_else(|| EditError::Path(path.to_owned()))?))
}

/// The text with the key of this path set to a value, or removed if there is none; so is an element of a list. A value that is not TOML is
/// inserted as a string, and so is any value of a key that takes strings.
///
/// # Errors
/// The path does not exist, or the text is not TOML.
pub fn set(text: &str, path: &str, value: Option<&str>) -> Result<String, EditError> {
    let (mut document, steps) = opened(text, path)?;
    let (name, tables) = match (steps.split_last(), value) {
        (Some((Step { name, index: None }, tables)), _) => (name, tables),
        (Some((Step { name, index: Some(index) }, tables)), None) => {
            remove_element(table_of(&mut document, tables, name)?, name, *index)?;
            return Ok(document.to_string());
        }
        _ => return Err(EditError::Path(path.to_owned())),
    };
    in_a_table(&document, name, tables)?;
    let table = table_of(&mut document, tables, name)?;
    let name = &*spelled(table, name);
    let Some(value) = value else {
        table.remove(name);
        return Ok(document.to_string());
    };
    let names: Vec<&str> = tables.iter().map(|step| step.name).collect();
    let mut value = typed(&names, name, value);
    // Comments after the value stay.
    if let Some(Item::Value(old)) = table.get(name) {
        *value.decor_mut() = old.decor().clone();
    }
    match table.get_mut(name) {
        Some(item) => *item = Item::Value(value),
        None => drop(table.insert(name, Item::Value(value))),
    }
    Ok(document.to_string())
}

// The name of a key, in its other spelling if the table has that.
fn spelled(table: &dyn TableLike, name: &str) -> String {
    let is_twin = |key: &&str| british(key).as_deref() == Some(name) || british(name).as_deref() == Some(key);
    table.iter().map(|(key, _)| key).find(is_twin).unwrap_or(name).to_owned()
}

/// The value of a key, or of an element of a list, in one line: a table as an inline table. None if the text has none.
pub fn value_at(text: &str, path: &str) -> Option<String> {
    let (mut document, steps) = opened(text, path).ok()?;
    let (Step { name, index }, tables) = steps.split_last()?;
    let table = table_of(&mut document, tables, name).ok()?;
    let item = table.get(&spelled(table, name))?;
    let item = match (index, item) {
        (None, item) => item.clone(),
        (Some(index), Item::ArrayOfTables(list)) => Item::Table(list.get(*index)?.clone()),
        (Some(index), Item::Value(Value::Array(list))) => Item::Value(list.get(*index)?.clone()),
        _ => return None,
    };
    let mut value = item.into_value().ok()?;
    value.decor_mut().clear();
    Some(value.to_string())
}

// Removes an element of a list, and the list with its last one.
fn remove_element(table: &mut dyn TableLike, name: &str, index: usize) -> Result<(), EditError> {
    let left = match table.get_mut(name) {
        Some(Item::ArrayOfTables(list)) if index < list.len() => {
            list.remove(index);
            list.len()
        }
        Some(Item::Value(Value::Array(list))) if index < list.len() => {
            list.remove(index);
            list.len()
        }
        item => return Err(EditError::Index(name.to_owned(), index, item.map_or(0, |item| length(item)))),
    };
    if left == 0 {
        table.remove(name);
    }
    Ok(())
}

fn length(list: &Item) -> usize {
    match list {
        Item::ArrayOfTables(list) => list.len(),
        Item::Value(Value::Array(list)) => list.len(),
        _ => 0,
    }
}

/// The text with a new element in a list, in front of the one that the path names. A table is given as an inline table; its list is made
/// with its first one.
///
/// # Errors
/// The path names no element of a list; the value is not a table, and the list is one of tables; the text is not TOML.
pub fn insert(text: &str, path: &str, value: &str) -> Result<String, EditError> {
    let (mut document, steps) = opened(text, path)?;
    let Some((Step { name, index: Some(index) }, tables)) = steps.split_last() else {
        return Err(EditError::Path(path.to_owned()));
    };
    let new = value.parse::<Value>().map_err(|e| no_toml(&e))?;
    let table = table_of(&mut document, tables, name)?;
    if *index == 0 && new.is_inline_table() && !table.contains_key(name) {
        table.insert(name, Item::ArrayOfTables(ArrayOfTables::new()));
    }
    match (table.get_mut(name), new) {
        (Some(Item::ArrayOfTables(list)), Value::InlineTable(new)) if *index <= list.len() => {
            let mut all: Vec<Table> = list.iter().cloned().collect();
            let mut new = new.into_table();
            new.fmt();
            // Tables are written by their positions in the text. If two positions are equal, list order decides.
            new.set_position(all.get(index.saturating_sub(1)).and_then(Table::position));
            new.decor_mut().set_prefix("\n");
            all.insert(*index, new);
            list.clear();
            all.into_iter().for_each(|table| list.push(table));
        }
        (Some(Item::ArrayOfTables(_)), new) if !new.is_inline_table() => {
            return Err(EditError::NoTable((*name).to_owned()));
        }
        (Some(Item::Value(Value::Array(list))), new) if *index <= list.len() => list.insert(*index, new),
        (list, _) => {
            let len = list.map_or(0, |list| length(list));
            return Err(EditError::Index((*name).to_owned(), *index, len));
        }
    }
    Ok(document.to_string())
}

// Refuses a key that belongs to a table if the path names none.
fn in_a_table(document: &DocumentMut, key: &str, tables: &[Step]) -> Result<(), EditError> {
    if !tables.is_empty() || document.contains_key(key) || schema::kind_of(&SCHEMA, &[], key).is_some() {
        return Ok(());
    }
    match paths_to(key) {
        Some(paths) => Err(EditError::NoTop(key.to_owned(), paths)),
        None => Ok(()),
    }
}

/// The paths to keys of tables with this name, if there are any: `film.exposure`, `body[0].radius`.
pub(crate) fn paths_to(key: &str) -> Option<String> {
    let path = |header: &String| match header.strip_prefix("[[") {
        Some(list) => format!("{}[0].{key}", list.trim_end_matches(']')),
        None => format!("{}.{key}", header.trim_matches(['[', ']'])),
    };
    let paths: Vec<String> = schema::tables_with(&SCHEMA, key).iter().map(path).collect();
    (!paths.is_empty()).then(|| paths.join(", "))
}

// The table at the end of these steps. `key` is for messages.
fn table_of<'a>(document: &'a mut DocumentMut, steps: &[Step], key: &str) -> Result<&'a mut dyn TableLike, EditError> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for step in steps {
        let no_table = || EditError::NoTable(step.name.to_owned());
        let out_of_range = |index, len| EditError::Index(step.name.to_owned(), index, len);
        table = match (table.entry(step.name).or_insert_with(toml_edit::table), step.index) {
            (Item::ArrayOfTables(_) | Item::Value(Value::Array(_)), None) => {
                return Err(EditError::List(step.name.to_owned(), key.to_owned()));
            }
            (item, None) => item.as_table_like_mut().ok_or_else(no_table)?,
            (Item::ArrayOfTables(list), Some(index)) => {
                let len = list.len();
                list.get_mut(index).ok_or_else(|| out_of_range(index, len))?
            }
            (Item::Value(Value::Array(list)), Some(index)) => {
                let len = list.len();
                let one = list.get_mut(index).ok_or_else(|| out_of_range(index, len))?;
                one.as_inline_table_mut().ok_or_else(no_table)?
            }
            // The list is empty.
            (_, Some(index)) => return Err(out_of_range(index, 0)),
        };
    }
    Ok(table)
}

// The value that a text means for a key.
fn typed(tables: &[&str], key: &str, text: &str) -> Value {
    let value: Option<Value> = text.trim().parse().ok();
    let is_text = schema::kind_of(&SCHEMA, tables, key).is_some_and(|kind| kind == "string");
    let share = percent(text).filter(|_| !is_text).map(Value::from);
    value.filter(|v| !is_text || v.is_str()).or(share).unwrap_or_else(|| text.trim().into())
}
