//! One declaration per key: what a table of a scene may hold, as a plain struct.
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
//! the JSON schema and so the studio's field ([`schema`]), and the row of docs/reference/scene.md ([`reference`]; `scripts/generate`
//! writes schema and reference anew). Draw the key in `src/tests/random_scenes/maker.rs` too.
//!
//! - The options after the default are the methods of [`Key`]: see there what each says.
//! - A key is written only where it differs from the default, so that older scenes keep their texts and checksums.
//! - `pub centre as "center": ...` is a key whose name is not the field's.
//! - The type of a field is a [`Kind`]: `f64`, `u32`, `bool`, `[f64; N]`, a colour (`Vec3` with `colour()`), a file (`PathBuf`), a list
//!   of names ([`names!`]), `Option` of these; or another struct of keys: a table within the table, `Vec` of it for several, or with
//!   `flat()` keys of the same table.
//! - A value that is not written as it is held implements [`Value`] by hand, by way of a struct of keys: see `scene/tone.rs`.

pub(crate) mod kinds;
pub(crate) mod read;
pub(crate) mod reference;
pub(crate) mod schema;
pub(crate) mod write;

use super::diagnostic::Rule;
use super::material::MaterialUse;
use read::Table;
use schema::Declaration;
use write::Lines;

/// What is declared of a key beside its type and its default.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Its name in a scene.
    pub name: &'static str,
    // What it does, as doc comments have it.
    doc: &'static str,
    pub rule: Rule,
    pub slider: Option<[f64; 2]>,
    pub unit: &'static str,
    pub group: &'static str,
    pub when: Option<(&'static str, &'static [&'static str])>,
    pub way: &'static str,
    pub holds: &'static str,
    pub is_required: bool,
    pub is_spelled: bool,
    pub is_last: bool,
    pub is_flat: bool,
    pub is_colour: bool,
    pub is_direction: bool,
    pub is_angle: bool,
    pub is_elsewhere: bool,
    pub material_use: MaterialUse,
}

impl Key {
    /// A key of that name, and what it does.
    pub const fn new(name: &'static str, doc: &'static str) -> Key {
        Key {
            name,
            doc,
            rule: Rule::Finite,
            slider: None,
            unit: "",
            group: "",
            when: None,
            way: "",
            holds: "",
            is_required: false,
            is_spelled: false,
            is_last: false,
            is_flat: false,
            is_colour: false,
            is_direction: false,
            is_angle: false,
            is_elsewhere: false,
            material_use: MaterialUse::Object,
        }
    }
    /// What its numbers must be.
    pub const fn rule(self, rule: Rule) -> Key {
        Key { rule, ..self }
    }
    /// The ends of its slider, where the rule gives no useful ones.
    pub const fn slider(self, min: f64, max: f64) -> Key {
        Key { slider: Some([min, max]), ..self }
    }
    /// The unit of its numbers, for the reference.
    pub const fn unit(self, unit: &'static str) -> Key {
        Key { unit, ..self }
    }
    /// The heading in the studio's form.
    pub const fn group(self, group: &'static str) -> Key {
        Key { group, ..self }
    }
    /// It counts where another key has one of those words.
    pub const fn when(self, key: &'static str, words: &'static [&'static str]) -> Key {
        Key { when: Some((key, words)), ..self }
    }
    /// It counts where the camera has that kind of path.
    pub const fn way(self, way: &'static str) -> Key {
        Key { way, ..self }
    }
    /// What holds where nothing is said, in TOML; for values whose default depends on something else.
    pub const fn holds(self, toml: &'static str) -> Key {
        Key { holds: toml, ..self }
    }
    /// A table without it is refused.
    pub const fn required(self) -> Key {
        Key { is_required: true, ..self }
    }
    /// It is written even where it is the default, as it was before keys were declared here. A new key is not.
    pub const fn spelled(self) -> Key {
        Key { is_spelled: true, ..self }
    }
    /// It is written behind the other keys.
    pub const fn last(self) -> Key {
        Key { is_last: true, ..self }
    }
    /// The keys of this struct are keys of the table around it.
    pub const fn flat(self) -> Key {
        Key { is_flat: true, ..self }
    }
    /// The three numbers are a colour.
    pub const fn colour(self) -> Key {
        Key { is_colour: true, ..self }
    }
    /// The three numbers are a direction, which has a length.
    pub const fn direction(self) -> Key {
        Key { is_direction: true, rule: Rule::Coordinate, ..self }
    }
    /// Degrees in the scene, radians within a turn in the field.
    pub const fn angle(self) -> Key {
        Key { is_angle: true, unit: "degrees", ..self }
    }
    /// The field is no key of this table.
    pub const fn elsewhere(self) -> Key {
        Key { is_elsewhere: true, ..self }
    }
    /// What is made of the material whose keys these are.
    pub const fn material_of(self, material_use: MaterialUse) -> Key {
        Key { material_use, ..self }
    }
    /// What it does, in one line.
    pub fn about(&self) -> String {
        self.doc.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A key and the field that holds it.
pub(crate) type Field<'a> = (&'static Key, &'a mut dyn Value);

/// What a field may be: one key of a table, several of them, a table, or several tables.
pub(crate) trait Value {
    /// Takes its value from a table, if it is there; else it stays as it is.
    fn read(&mut self, key: &'static Key, table: &mut Table);
    /// Writes it as keys of a table.
    fn write(&self, key: &'static Key, out: &mut Lines);
    /// Says what its keys are; its own value is the default.
    fn declare(&self, key: &'static Key, out: &mut Declaration);
}

/// A struct of keys.
pub(crate) trait Keys: Clone + Default {
    /// The table's name in the schema.
    const TABLE: &'static str;
    /// Its keys, in the order in which they are written.
    fn fields(&mut self) -> Vec<Field<'_>>;
    /// Rules over several keys, when all are read.
    fn check(&mut self, _table: &mut Table) {}
    /// What is written of it: the same, with all spelled out that is to be.
    fn spelled(&self) -> Self {
        self.clone()
    }
}

/// Declares a struct of keys: see the top of this file.
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
            fn fields(&mut self) -> Vec<$crate::scene::keys::Field<'_>> {
                vec![$((
                    const {
                        &$crate::scene::keys::Key::new(
                            $crate::scene::keys::keys!(@name $field $($key)?), concat!($($doc, " ",)*)
                        )$(.$option($($value)*))*
                    },
                    &mut self.$field,
                ),)*]
            }
            $($by_hand)*
        }
        $crate::scene::keys::keys!(@table $name);
        $crate::scene::keys::keys!(@table Option<$name>);
        $crate::scene::keys::keys!(@table Vec<$name>);
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:literal) => { $key };
    (@table $kind:ty) => {
        impl $crate::scene::keys::Value for $kind {
            fn read(&mut self, key: &'static $crate::scene::keys::Key, table: &mut $crate::scene::keys::read::Table) {
                $crate::scene::keys::Tables::read_tables(self, key, table);
            }
            fn write(&self, key: &'static $crate::scene::keys::Key, out: &mut $crate::scene::keys::write::Lines) {
                $crate::scene::keys::Tables::write_tables(self, key, out);
            }
            fn declare(&self, key: &'static $crate::scene::keys::Key, out: &mut $crate::scene::keys::schema::Declaration) {
                $crate::scene::keys::Tables::declare_tables(self, key, out);
            }
        }
    };
}
pub(crate) use keys;

/// Declares a list of names: an enum whose variants have a word each, and a comment that the reference shows. The
/// first is the default.
macro_rules! names {
    (
        $(#[doc = $about:literal])* $(#[derive($($derived:tt)*)])?
        $see:vis enum $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $word:literal,)* }
    ) => {
        $(#[doc = $about])* $(#[derive($($derived)*)])?
        $see enum $name { $($(#[doc = $doc])* $variant,)* }
        impl Default for $name {
            fn default() -> Self {
                Self::ALL[0].0
            }
        }
        impl $name {
            /// All of them, with their names in a scene.
            pub const ALL: [($name, &'static str); [$($word),*].len()] = [$(($name::$variant, $word)),*];
            /// The name in a scene.
            pub fn name(self) -> &'static str {
                Self::ALL.iter().find(|(one, _)| *one == self).map_or("", |(_, word)| word)
            }
        }
        impl $crate::scene::keys::kinds::Names for $name {
            const NAMES: &'static [(Self, &'static str, &'static str)] =
                &[$(($name::$variant, $word, concat!($($doc, " ",)*))),*];
        }
    };
}
pub(crate) use names;

/// A value that is held otherwise than it is written: a struct of keys, which converts from and to it, says how it is written.
macro_rules! written_as {
    ($kind:ty, $keys:ty) => {
        impl $crate::scene::keys::Value for $kind {
            fn read(&mut self, _: &'static $crate::scene::keys::Key, table: &mut $crate::scene::keys::read::Table) {
                let mut keys = <$keys>::default();
                table.read(&mut keys);
                *self = keys.into();
            }
            fn write(&self, _: &'static $crate::scene::keys::Key, out: &mut $crate::scene::keys::write::Lines) {
                out.append($crate::scene::keys::write::Lines::of(&<$keys>::from(self)));
            }
            fn declare(
                &self,
                _: &'static $crate::scene::keys::Key,
                out: &mut $crate::scene::keys::schema::Declaration,
            ) {
                out.keys_of(&<$keys>::default());
            }
        }
    };
}
pub(crate) use written_as;

/// A table, or several of them, that structs of keys are read from; with `flat()` a part of the table around.
pub(crate) trait Tables {
    fn read_tables(&mut self, key: &'static Key, table: &mut Table);
    fn write_tables(&self, key: &'static Key, out: &mut Lines);
    fn declare_tables(&self, key: &'static Key, out: &mut Declaration);
}

impl<T: Keys> Tables for T {
    fn read_tables(&mut self, key: &'static Key, table: &mut Table) {
        if key.is_flat {
            table.read(self);
        } else if let Some(mut inner) = table.inner(key, T::TABLE) {
            inner.read(self);
            inner.finish();
        }
    }
    fn write_tables(&self, key: &'static Key, out: &mut Lines) {
        if key.is_flat {
            out.append(Lines::of(self));
        } else {
            out.table(key.name, Lines::of(self));
        }
    }
    fn declare_tables(&self, key: &'static Key, out: &mut Declaration) {
        if key.is_flat {
            out.keys_of(self);
        } else {
            out.table(key, self);
        }
    }
}

impl<T: Keys> Tables for Option<T> {
    fn read_tables(&mut self, key: &'static Key, table: &mut Table) {
        if table.has(key.name) {
            T::read_tables(self.get_or_insert_default(), key, table);
        } else {
            table.know(key);
        }
    }
    fn write_tables(&self, key: &'static Key, out: &mut Lines) {
        self.iter().for_each(|one| one.write_tables(key, out));
    }
    fn declare_tables(&self, key: &'static Key, out: &mut Declaration) {
        T::default().declare_tables(key, out);
    }
}

impl<T: Keys> Tables for Vec<T> {
    fn read_tables(&mut self, key: &'static Key, table: &mut Table) {
        *self = table.list(key, T::TABLE, |inner| {
            let mut one = T::default();
            inner.read(&mut one);
            one
        });
    }
    fn write_tables(&self, key: &'static Key, out: &mut Lines) {
        out.tables(key.name, self.iter().map(Lines::of).collect());
    }
    fn declare_tables(&self, key: &'static Key, out: &mut Declaration) {
        out.list(key, &T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::read::{Context, Table};
    use super::write::Lines;
    use super::{Keys, reference, schema};
    use crate::scene::ParseOptions;
    use crate::scene::diagnostic::Rule;
    use toml::de::DeTable;

    names! {
        /// How tea is made.
        #[derive(Clone, Copy, Debug, PartialEq)]
        enum Tea {
            /// With its leaves.
            Green = "green",
            /// Without.
            Black = "black",
        }
    }

    keys! {
        /// A pot of tea.
        #[derive(Clone, Debug, PartialEq)]
        struct Pot in "pot" {
            /// What is in it.
            tea: Tea = Tea::Green, group("Tea"), spelled();
            /// How warm it is.
            warmth: f64 = 20.0, rule(Rule::Within(0.0, 100.0)), unit("degrees Celsius"), slider(10.0, 90.0), when("tea", &["black"]);
        }
    }

    keys! {
        /// All of it.
        #[derive(Clone, Debug, PartialEq)]
        struct Kitchen in "kitchen" {
            /// The pot.
            pot: Pot = Pot::default();
            /// A guest's.
            cups as "cup": Vec<Pot> = Vec::new();
        }
    }

    fn read(text: &str) -> (Kitchen, Vec<String>) {
        let document = DeTable::parse(text).unwrap();
        let mut context = Context { options: ParseOptions::default(), problems: Vec::new(), warnings: Vec::new() };
        let mut table = Table::new(&mut context, document.get_ref(), 0..0, "kitchen");
        let mut kitchen = Kitchen::default();
        table.read(&mut kitchen);
        table.finish();
        let told = context.problems.into_iter().map(|p| format!("{}: {}; {}", &text[p.span], p.what, p.expected));
        (kitchen, told.collect())
    }

    // `warmth` is declared in one line.
    #[test]
    fn one_line_declares_a_key_for_all_that_knows_it() {
        assert_eq!(Pot::default().warmth, 20.0);
        let (kitchen, problems) = read("[pot]\nwarmth = 60\n[[cup]]\ntea = 'Black'\nwarmth = '90%'\n");
        assert_eq!((problems, kitchen.pot.warmth, kitchen.cups.len()), (Vec::new(), 60.0, 1));
        assert_eq!(kitchen.cups[0], Pot { tea: Tea::Black, warmth: 0.9 });
        assert_eq!(kitchen.cups[0].tea.name(), "black");
        let mut text = String::new();
        Lines::of(&kitchen).write("", &mut text);
        assert_eq!(text, "[pot]\ntea = \"green\"\nwarmth = 60.0\n\n[[cup]]\ntea = \"black\"\nwarmth = 0.9\n");
        assert_eq!(read(&text), (kitchen, Vec::new()));
        // What is the default is not written.
        let mut plain = String::new();
        Lines::of(&Kitchen::default()).write("", &mut plain);
        assert_eq!(plain, "[pot]\ntea = \"green\"\n");

        let schema = schema::schema_of(&Kitchen::default());
        let key = &schema["definitions"]["pot"]["properties"]["warmth"];
        assert_eq!((&key["type"], &key["maximum"], &key["default"]), (&"number".into(), &100.into(), &20.into()));
        assert_eq!((&key["description"], &key["x-slider"][1]), (&"How warm it is.".into(), &90.into()));
        assert_eq!(schema["definitions"]["pot"]["x-groups"][0]["keys"][1], "warmth");
        let row =
            "| `warmth` | number, degrees Celsius | 0 to 100 | `20` | How warm it is. Used if `tea` is `black`. |";
        let page = reference::tables_of(&schema);
        assert!(page.contains(row), "{page}");
    }

    #[test]
    fn all_faults_are_told_of_at_once() {
        let (kitchen, problems) =
            read("[pot]\nwarmth = 101\nwarmht = 3\ntea = 4\n[[cup]]\ntea = 'grene'\nwarmth = 30\n[cups]\n");
        assert_eq!(kitchen.cups[0], Pot { tea: Tea::Green, warmth: 30.0 }, "what is right is read");
        assert_eq!(kitchen.pot, Pot::default());
        let expected = [
            "4: `tea` is the number `4`; expected a text in quotes",
            "101: `warmth` is 101; expected a number from 0 to 100",
            "warmht: unknown key `warmht`; did you mean `warmth`?",
            "'grene': `tea` is \"grene\"; expected one of \"green\", \"black\"",
            "cups: unknown key `cups`; did you mean `cup`?",
        ];
        assert_eq!(problems, expected);
        assert!(Kitchen::TABLE != Pot::TABLE);
    }

    // Suggestions take time, and few problems are shown.
    #[test]
    fn of_many_faults_only_the_first_come_with_suggestions() {
        let text: String = (0..3000).map(|n| format!("a{n:05} = 1\n")).collect();
        let problems = read(&text).1;
        let suggested = problems.iter().filter(|problem| problem.ends_with("expected one of pot, cup")).count();
        assert!(problems.len() == 3000 && (1000..1100).contains(&suggested), "{suggested}");
    }
}
