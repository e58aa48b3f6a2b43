//! Two versions of a scene's text, compared key by key, and the changes of two authors made to one text.

use super::edit::Edit;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

/// The edits that give the first text the values of the second. Comments and order are not compared. A text that is not TOML has
/// no keys.
pub fn between(from: &str, to: &str) -> Vec<Edit> {
    let parsed = |text: &str| text.parse::<DocumentMut>().unwrap_or_default();
    let mut edits = Vec::new();
    compare_tables(&parsed(from), &parsed(to), "", &mut edits);
    edits
}

// A value as text, without the comments around it.
fn plain(item: &Item) -> String {
    match item.as_value() {
        Some(value) => {
            let mut value = value.clone();
            value.decor_mut().clear();
            value.to_string()
        }
        None => item.to_string(),
    }
}

fn compare_tables(from: &Table, to: &Table, path: &str, edits: &mut Vec<Edit>) {
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let gone = from.iter().filter(|(name, _)| !to.contains_key(name));
    edits.extend(gone.map(|(name, _)| Edit::Remove(at(name))));
    for (name, new) in to {
        match (from.get(name), new) {
            (Some(Item::Table(old)), Item::Table(new)) => compare_tables(old, new, &at(name), edits),
            (None, Item::Table(new)) => compare_tables(&Table::new(), new, &at(name), edits),
            (Some(Item::ArrayOfTables(old)), Item::ArrayOfTables(new)) => compare_lists(old, new, &at(name), edits),
            (None, Item::ArrayOfTables(new)) => compare_lists(&ArrayOfTables::new(), new, &at(name), edits),
            (old, new) if old.map(plain) != Some(plain(new)) => edits.push(Edit::Set(at(name), plain(new))),
            _ => {}
        }
    }
}

// Equal tables at the beginning and at the end of both lists belong together.
fn compare_lists(from: &ArrayOfTables, to: &ArrayOfTables, path: &str, edits: &mut Vec<Edit>) {
    let differences = |old: usize, new: usize, path: &str| {
        let mut edits = Vec::new();
        if let (Some(old), Some(new)) = (from.get(old), to.get(new)) {
            compare_tables(old, new, path, &mut edits);
        }
        edits
    };
    let shorter = from.len().min(to.len());
    let first = (0..shorter).take_while(|&i| differences(i, i, "").is_empty()).count();
    let is_same_from_end = |i: &usize| differences(from.len() - 1 - i, to.len() - 1 - i, "").is_empty();
    let last = (0..shorter - first).take_while(is_same_from_end).count();
    let paired = shorter - last;
    for i in first..paired {
        edits.extend(differences(i, i, &format!("{path}[{i}]")));
    }
    for (i, table) in to.iter().enumerate().take(to.len() - last).skip(paired) {
        edits.push(Edit::Insert(format!("{path}[{i}]"), table.clone().into_inline_table().to_string()));
    }
    edits.extend((paired..from.len() - last).rev().map(|i| Edit::Remove(format!("{path}[{i}]"))));
}

/// The second author's text with what the first has changed of the text that both began with. Also returns the keys that both have
/// changed, each to another value: the text has the first author's. What the second has removed from a list stays removed. A first
/// text that is not TOML stays as it is.
pub fn merge(base: &str, first: &str, second: &str) -> (String, Vec<String>) {
    if first.parse::<DocumentMut>().is_err() {
        return (first.to_owned(), Vec::new());
    }
    let theirs = between(base, second);
    let (mut text, mut both) = (second.to_owned(), Vec::new());
    for edit in between(base, first) {
        let is_new = |edit: &Edit| !theirs.contains(edit);
        let Some(edit) = Some(edit).filter(is_new).and_then(|edit| moved(edit, &theirs)).filter(is_new) else {
            continue;
        };
        let is_inside =
            |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let meets = |other: &Edit| is_inside(edit.path(), other.path()) || is_inside(other.path(), edit.path());
        let is_in_list = |edit: &Edit| edit.path().ends_with(']');
        let Ok(changed) = edit.apply(&text) else { continue };
        text = changed;
        if !is_in_list(&edit) && theirs.iter().any(|other| !is_in_list(other) && meets(other)) {
            both.push(edit.path().to_owned());
        }
    }
    (text, both)
}

// The edit after tables were inserted into lists and removed from them. None if its own table was removed.
fn moved(mut edit: Edit, others: &[Edit]) -> Option<Edit> {
    for other in others {
        let Some((list, index)) = other.path().strip_suffix(']').and_then(|path| path.rsplit_once('[')) else {
            continue;
        };
        let rest = edit
            .path()
            .strip_prefix(list)
            .and_then(|rest| rest.strip_prefix('['))
            .and_then(|rest| rest.split_once(']'));
        let (Some((own, rest)), Ok(index)) = (rest, index.parse::<usize>()) else { continue };
        let Ok(own) = own.parse::<usize>() else { continue };
        let is_new = matches!(edit, Edit::Insert(..)) && rest.is_empty();
        let to = match other {
            Edit::Remove(_) if own == index && !is_new => return None,
            Edit::Remove(_) if own > index => own - 1,
            Edit::Insert(..) if own >= index => own + 1,
            _ => own,
        };
        let path = format!("{list}[{to}]{rest}");
        edit = match edit {
            Edit::Set(_, value) => Edit::Set(path, value),
            Edit::Insert(_, value) => Edit::Insert(path, value),
            Edit::Remove(_) => Edit::Remove(path),
        };
    }
    Some(edit)
}
