//! Declares the keys of scenes: each table is a plain struct, and each key is a line of it.
//!
//! To add a key, add one line to the struct of its table:
//!
//! ```text
//! keys! {
//!     /// What happens to light between the lens and the picture.
//!     #[derive(Clone, Copy, Debug, PartialEq)]
//!     pub struct FilmSettings in "film" {
//!         /// How far the glow spreads.
//!         pub bloom_radius: f64 = 0.15, rule(Rule::Fraction), unit("picture heights"), slider(0.0, 0.5), group("Lens");
//!     }
//!     fn check(&mut self, table: &mut Table) { /* rules over several keys, by hand */ }
//! }
//! ```
//!
//! That line makes the field, its default, reading with all faults and their places ([`read`]), writing ([`write`]), the entry of
//! the JSON schema and so the studio's field ([`schema`]), and the row of docs/reference/scene.md ([`mod@reference`]; `scripts/generate`
//! writes schema and reference again). Draw the key in `src/tests/random_scenes/maker.rs` too.
//!
//! - The options after the default are the fields of [`Key`]: see there what each says.
//! - A key is written only where it differs from the default, so that older scenes keep their texts and checksums.
//! - `pub centre as "center": ...` is a key whose name is not the field's.
//! - The type of a field is a [`kinds::Kind`]: `f64`, `u32`, `bool`, `[f64; N]`, a color (`Vec3` with `colour()`), a file (`PathBuf`), a
//!   list of names or what else [`words`] has, `Option` of these; or another struct of keys: a table within the table, `Vec` of it for
//!   several, or with `flat()` keys of the same table.
//! - With `animated()` the value may change over the clip: a scene gives it, or a table of keys with times ([`over_time`]).
//!   `Scene::at` is the scene of a moment.
//! - A value whose text form differs from its field implements [`Value`] through a struct of keys ([`written_as!`]).

pub(crate) mod explain;
pub(crate) mod key;
pub(crate) mod kinds;
pub(crate) mod names;
pub(crate) mod over_time;
pub(crate) mod read;
pub(crate) mod reference;
pub(crate) mod schema;
pub(crate) mod track;
pub(crate) mod words;
pub(crate) mod write;

use crate::language::{Message, msg};
use crate::math::vec3::Vec3;
pub(crate) use key::Key;
use read::Table;
use write::{Content, Entry, Lines};

/// The value of a field: a key of a table, several keys, a table, or a list of tables.
pub(crate) trait Value {
    /// Reads the value from a table, if the table has it.
    fn read(&mut self, key: &'static Key, table: &mut Table);
    /// Lists the field's keys and their values.
    fn list(&self, key: &'static Key, lines: &mut Lines);
    /// Sets the number or color at this path, if it is the field's.
    fn put(&mut self, _key: &'static Key, _path: &str, _value: Vec3) {}
}

/// A function that is called for each key of a struct with its field.
pub(crate) type Visit<'a> = dyn FnMut(&'static Key, &mut dyn Value) + 'a;

/// A struct of keys.
pub(crate) trait Keys: Clone + Default {
    /// The table's name in the schema.
    const TABLE: &'static str;
    /// Visits all keys, in the order in which they are written.
    fn visit(&mut self, visit: &mut Visit);
    /// Checks rules over several keys, after all have been read.
    fn check(&mut self, _table: &mut Table) {}
    /// The values to write, with those filled in that are always written.
    fn spelled(&self) -> Self {
        self.clone()
    }
    /// Reads all keys and checks them together.
    fn read_keys(&mut self, table: &mut Table) {
        self.visit(&mut |key, field| field.read(key, table));
        self.check(table);
        let mut is_asked = false;
        let depends = |key: &Key| key.when.is_some() || !key.without.is_empty() || !key.covered_by.is_empty();
        self.visit(&mut |key, _| is_asked |= depends(key) && table.has(key.name));
        if is_asked {
            report_idle::<Self>(&self.lines(), table);
        }
    }
    /// Sets the number or color at a path, such as `body.0.lamp_intensity`.
    fn put(&mut self, path: &str, value: Vec3) {
        self.visit(&mut |key, field| field.put(key, path, value));
    }
    /// Lists all keys and their values.
    fn lines(&self) -> Lines {
        let mut lines = Lines::default();
        self.clone().visit(&mut |key, field| field.list(key, &mut lines));
        lines
    }
    /// Lists the keys and values to write.
    fn written(&self) -> Lines {
        self.spelled().lines().without(&Self::default().lines())
    }
}

/// Declares a struct of keys; see the top of this file.
macro_rules! keys {
    (
        $(#[doc = $about:literal])* $(#[derive($($derived:tt)*)])?
        $see:vis struct $name:ident in $table:literal {
            $(
                $(#[doc = $doc:literal])*
                $field_see:vis $field:ident $(as $key:literal)?: $kind:ty = $default:expr $(, $option:ident($($value:tt)*))*;
            )*
        }
        $($by_hand:tt)*
    ) => {
        $(#[doc = $about])* $(#[derive($($derived)*)])?
        $see struct $name {
            $($(#[doc = $doc])* $field_see $field: $kind,)*
        }
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
        impl $crate::scene::keys::Keys for $name {
            const TABLE: &'static str = $table;
            fn visit(&mut self, visit: &mut $crate::scene::keys::Visit) {
                $({
                    const KEY: $crate::scene::keys::Key = $crate::scene::keys::Key {
                        $($option: $crate::scene::keys::keys!(@option $($value)*),)*
                        ..$crate::scene::keys::Key::new(
                            $crate::scene::keys::keys!(@name $field $($key)?), concat!($($doc, " ",)*)
                        )
                    };
                    if !KEY.elsewhere {
                        visit(&KEY, &mut self.$field);
                    }
                })*
            }
            $($by_hand)*
        }
        $crate::scene::keys::keys!(@table $name, read_table, std::slice::from_ref, std::slice::from_mut, false);
        $crate::scene::keys::keys!(@table Option<$name>, read_optional, Option::as_slice, Option::as_mut_slice, false);
        $crate::scene::keys::keys!(@table Vec<$name>, read_list, Vec::as_slice, Vec::as_mut_slice, true);
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:literal) => { $key };
    (@option) => { true };
    (@option $value:expr) => { $value };
    (@option $first:expr, $second:expr) => { Some(($first, $second)) };
    (@table $kind:ty, $read:ident, $slice:path, $mut_slice:path, $is_list:literal) => {
        impl $crate::scene::keys::Value for $kind {
            fn read(&mut self, key: &'static $crate::scene::keys::Key, table: &mut $crate::scene::keys::read::Table) {
                $crate::scene::keys::$read(self, key, table);
            }
            fn list(&self, key: &'static $crate::scene::keys::Key, lines: &mut $crate::scene::keys::write::Lines) {
                $crate::scene::keys::list_tables($slice(self), $is_list, key, lines);
            }
            fn put(&mut self, key: &'static $crate::scene::keys::Key, path: &str, value: $crate::math::vec3::Vec3) {
                $crate::scene::keys::put_in_tables($mut_slice(self), $is_list, key, path, value);
            }
        }
    };
}
pub(crate) use keys;

/// Declares how a value is written if its type is no struct of keys: a struct of keys that converts from and to it.
macro_rules! written_as {
    ($kind:ty, $keys:ty) => {
        impl $crate::scene::keys::Value for $kind {
            fn read(&mut self, _: &'static $crate::scene::keys::Key, table: &mut $crate::scene::keys::read::Table) {
                let mut keys = <$keys>::default();
                $crate::scene::keys::Keys::read_keys(&mut keys, table);
                *self = keys.into();
            }
            fn list(&self, _: &'static $crate::scene::keys::Key, lines: &mut $crate::scene::keys::write::Lines) {
                lines.append($crate::scene::keys::Keys::lines(&<$keys>::from(self)));
            }
            fn put(&mut self, _: &'static $crate::scene::keys::Key, path: &str, value: $crate::math::vec3::Vec3) {
                let mut keys = <$keys>::from(&*self);
                $crate::scene::keys::Keys::put(&mut keys, path, value);
                *self = keys.into();
            }
        }
    };
}
pub(crate) use written_as;

// Warns of keys that change nothing beside the values of other keys, or refuses them.
fn report_idle<T: Keys>(lines: &Lines, table: &mut Table) {
    let usual = T::default().lines();
    let held = |lines: &Lines, name: &str| -> Option<String> {
        let entry = lines.entries.iter().find(|entry| entry.key.name == name)?;
        entry.content.text().or(entry.key.holds).map(str::to_owned)
    };
    for key in lines.entries.iter().map(|entry| entry.key) {
        let Some(span) = table.span_of(key.name) else { continue };
        let what = msg!("`{key}` changes nothing", key = key.name);
        if let Some((other, words)) = key.when
            && !words.contains(&held(lines, other).unwrap_or_default().trim_matches(['"', '\'']))
        {
            let words: Vec<String> = words.iter().map(|word| format!("`{other} = \"{word}\"`")).collect();
            let words = Message::one_of(&words);
            match key.refused {
                true => table.problem_at(key.name, &what, msg!("it beside {what}", what = words)),
                false => table.warn(span.clone(), &what, msg!("it counts beside {what} alone", what = words)),
            }
        }
        // A value that is written and is the usual one asks for nothing.
        let is_set = |name: &str, table: &Table| held(lines, name) != held(&usual, name) || table.is_animated(name);
        if !key.without.is_empty() && is_set(key.name, table) && !is_set(key.without, table) {
            table.warn(span, what, msg!("[{table}] has no `{key}`", table = T::TABLE, key = key.without));
        } else if !key.covered_by.is_empty() && is_set(key.name, table) && is_set(key.covered_by, table) {
            table.warn(span, what, msg!("`{key}` covers it", key = key.covered_by));
        }
    }
}

/// Reads a table, or with `flat()` its keys in the surrounding table.
pub(crate) fn read_table<T: Keys>(keys: &mut T, key: &'static Key, table: &mut Table) {
    if key.flat {
        keys.read_keys(table);
    } else if let Some(mut inner) = table.inner(key, T::TABLE) {
        keys.read_keys(&mut inner);
        inner.finish();
    }
}

pub(crate) fn read_optional<T: Keys>(keys: &mut Option<T>, key: &'static Key, table: &mut Table) {
    if table.has(key.name) {
        read_table(keys.get_or_insert_default(), key, table);
    } else {
        table.know(key);
    }
}

pub(crate) fn read_list<T: Keys>(all: &mut Vec<T>, key: &'static Key, table: &mut Table) {
    *all = table.list(key, T::TABLE, |inner| {
        let mut one = T::default();
        one.read_keys(inner);
        one
    });
}

/// Lists tables, or with `flat()` the keys of one.
pub(crate) fn list_tables<T: Keys>(all: &[T], is_list: bool, key: &'static Key, lines: &mut Lines) {
    if key.flat {
        all.iter().for_each(|keys| lines.append(keys.lines()));
    } else {
        let written = all.iter().map(T::written).collect();
        let content = Content::Tables { table: T::TABLE, is_list, default: || T::default().lines(), written };
        lines.entries.push(Entry { key, content, is_default: false });
    }
}

/// Sets the number or color at a path in tables, or with `flat()` in the keys of one.
pub(crate) fn put_in_tables<T: Keys>(all: &mut [T], is_list: bool, key: &'static Key, path: &str, value: Vec3) {
    if key.flat {
        return all.iter_mut().for_each(|keys| keys.put(path, value));
    }
    let inner = path.strip_prefix(key.name).and_then(|rest| rest.strip_prefix('.'));
    let element = inner.and_then(|rest| match is_list {
        true => rest.split_once('.').and_then(|(index, rest)| Some((index.parse().ok()?, rest))),
        false => Some((0, rest)),
    });
    if let Some((index, rest)) = element
        && let Some(keys) = all.get_mut::<usize>(index)
    {
        keys.put(rest, value);
    }
}
