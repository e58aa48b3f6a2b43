//! A key of a scene: what is declared of it beside its type and its default.

use crate::scene::diagnostic::Rule;

/// What is made of a material, which is not the same of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaterialUse {
    /// A body: it shines by its lamps, not all over.
    Body,
    /// A floor: it does not shine, and it is thin.
    Floor,
    /// Anything else.
    Object,
}

/// A key. All fields but the first two are options of [`keys!`](super::keys): `spelled()` sets a flag, `rule(..)` a value, and
/// `slider(.., ..)` two values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Its name in a scene.
    pub name: &'static str,
    /// What it does, as doc comments have it.
    pub doc: &'static str,
    /// What its numbers must be.
    pub rule: Rule,
    /// The ends of its slider, where the rule gives no useful ones.
    pub slider: Option<(f64, f64)>,
    /// The unit of its numbers, for the reference.
    pub unit: &'static str,
    /// The heading in the studio's form.
    pub group: &'static str,
    /// It counts where another key has one of those words.
    pub when: Option<(&'static str, &'static [&'static str])>,
    /// It counts where the camera has that kind of path.
    pub way: &'static str,
    /// What holds where nothing is said, in TOML, if that is not the default's text; empty: it depends on other keys.
    pub holds: Option<&'static str>,
    /// A table without it is refused.
    pub required: bool,
    /// It is written even where it is the default, as it was before keys were declared here. A new key is not.
    pub spelled: bool,
    /// It is written behind the other keys.
    pub last: bool,
    /// The keys of this struct are keys of the table around it.
    pub flat: bool,
    /// The three numbers are a colour.
    pub colour: bool,
    /// The three numbers are a direction, which has a length.
    pub direction: bool,
    /// Degrees in the scene, radians within a turn in the field.
    pub angle: bool,
    /// The field is no key of this table.
    pub elsewhere: bool,
    /// What is made of the material whose keys these are.
    pub material_of: MaterialUse,
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
            holds: None,
            required: false,
            spelled: false,
            last: false,
            flat: false,
            colour: false,
            direction: false,
            angle: false,
            elsewhere: false,
            material_of: MaterialUse::Object,
        }
    }
}

/// A doc comment in one line.
pub(crate) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a key is called in British English, if that is another name.
pub(crate) fn british(name: &str) -> Option<String> {
    match name {
        "center" => Some("centre".into()),
        _ => name.contains("color").then(|| name.replace("color", "colour")),
    }
}

/// Whether it is the British spelling of a key.
pub(crate) fn is_british(name: &str) -> bool {
    name == "centre" || name.contains("colour")
}
