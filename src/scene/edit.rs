//! Changes single keys of a scene's text; comments, order and everything else stay as they are.

use super::schema;
use super::toml_values::percent;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// Why a key cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The path is none.
    #[error("`{0}` is no key; expected a path such as film.exposure, camera.eye.r or body[0].radius")]
    Path(String),
    /// A place in a list that is not there.
    #[error("there is no `{0}[{1}]`: the scene has {2} of them, counted from 0")]
    Place(String, usize, usize),
    /// Something on the way is no table.
    #[error("`{0}` is no table")]
    NoTable(String),
    /// The text is no TOML.
    #[error("the scene is no TOML: {0}")]
    NoToml(String),
}

// A name, and a place where it names a list of tables.
struct Step<'a> {
    name: &'a str,
    place: Option<usize>,
}

fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let step = |part| {
        let (name, place) = match str::split_once(part, '[') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(']')?.parse().ok()?)),
            None => (part, None),
        };
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_name.then_some(Step { name, place })
    };
    path.split('.').map(step).collect()
}

/// The text with the key of that path set to a value, or without it where there is none. A value that is none in TOML is taken as a
/// text, and so is one of a key that takes texts.
///
/// # Errors
/// A path that leads nowhere; a text that is no TOML.
pub fn set(text: &str, path: &str, value: Option<&str>) -> Result<String, EditError> {
    let mut document: DocumentMut =
        text.parse().map_err(|e: toml_edit::TomlError| EditError::NoToml(e.message().to_owned()))?;
    let steps = steps(path).ok_or_else(|| EditError::Path(path.to_owned()))?;
    let Some((last, tables)) = steps.split_last() else { return Err(EditError::Path(path.to_owned())) };
    if last.place.is_some() {
        return Err(EditError::Path(path.to_owned()));
    }
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for step in tables {
        let no_table = || EditError::NoTable(step.name.to_owned());
        let item = table.entry(step.name).or_insert_with(toml_edit::table);
        table = match (item, step.place) {
            (item, None) => item.as_table_like_mut().ok_or_else(no_table)?,
            (Item::ArrayOfTables(list), Some(place)) => {
                let len = list.len();
                list.get_mut(place).ok_or_else(|| EditError::Place(step.name.to_owned(), place, len))?
            }
            (Item::Value(Value::Array(list)), Some(place)) => {
                let len = list.len();
                let one = list.get_mut(place).ok_or_else(|| EditError::Place(step.name.to_owned(), place, len))?;
                one.as_inline_table_mut().ok_or_else(no_table)?
            }
            // Nothing was there.
            (_, Some(place)) => return Err(EditError::Place(step.name.to_owned(), place, 0)),
        };
    }
    let Some(value) = value else {
        table.remove(last.name);
        return Ok(document.to_string());
    };
    let names: Vec<&str> = tables.iter().map(|step| step.name).collect();
    let value = typed(&names, last.name, value);
    match table.get_mut(last.name) {
        // Comments behind the value stay.
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        _ => drop(table.insert(last.name, Item::Value(value))),
    }
    Ok(document.to_string())
}

// What a text means for a key.
fn typed(tables: &[&str], key: &str, text: &str) -> Value {
    let value: Option<Value> = text.trim().parse().ok();
    let is_text = schema::kind_of(tables, key).is_some_and(|kind| kind == "string");
    let share = percent(text).filter(|_| !is_text).map(Value::from);
    value.filter(|v| !is_text || v.is_str()).or(share).unwrap_or_else(|| text.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "# mine\n[film]\nexposure = 1 # a stop\n\n[[body]]\nsolid = \"hexahedron\"\nradius = 1.0\n\n[[body]]\nsolid = \"octahedron\"\n";

    #[test]
    fn one_key_changes_and_all_else_stays() {
        let done = |path, value| set(SCENE, path, Some(value));
        assert_eq!(done("film.exposure", "0.5").unwrap(), SCENE.replace("= 1 #", "= 0.5 #"));
        assert_eq!(done("body[0].radius", "2").unwrap(), SCENE.replace("radius = 1.0", "radius = 2"));
        let added = done("body[1].color", "#ff8000").unwrap();
        assert_eq!(added, format!("{SCENE}color = \"#ff8000\"\n"));
        assert!(done("film.tone", "agx").unwrap().contains("exposure = 1 # a stop\ntone = \"agx\"\n"));
        assert_eq!(done("film.exposure", "60%").unwrap(), SCENE.replace("= 1 #", "= 0.6 #"));
        assert!(done("output.path", "3").unwrap().contains("path = \"3\""));
        assert!(done("camera.eye.r", "5").unwrap().ends_with("[camera.eye]\nr = 5\n"));
        assert_eq!(set(SCENE, "body[0].radius", None).unwrap(), SCENE.replace("radius = 1.0\n", ""));
        let inline = set("camera = { eye = { r = 1 } }\nbody = [{ solid = \"cube\" }]\n", "body[0].bar", Some("0.1"));
        assert_eq!(inline.unwrap(), "camera = { eye = { r = 1 } }\nbody = [{ solid = \"cube\" , bar = 0.1 }]\n");
    }

    #[test]
    fn what_leads_nowhere_is_told() {
        let error = |path| set(SCENE, path, Some("1")).unwrap_err().to_string();
        assert!(error("body[2].radius").contains("has 2 of them"));
        assert!(error("light[0].radius").contains("has 0 of them"));
        assert!(error("film.exposure.x").contains("`exposure` is no table"));
        assert!(error("body.radius").contains("`body` is no table"));
        for path in ["", ".", "a b", "body[x].y", "body[0]", "a..b"] {
            assert!(error(path).contains("is no key"), "{path}");
        }
    }
}
