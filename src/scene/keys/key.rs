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

// Declares the options of keys, each with what holds where it is not given.
macro_rules! options {
    ($($(#[doc = $doc:literal])* $option:ident: $kind:ty = $default:expr;)*) => {
        /// A key. All fields but the first two are options of [`keys!`](super::keys): `spelled()` sets a flag, `rule(..)` a
        /// value, and `slider(.., ..)` two values.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Key {
            /// Its name in a scene.
            pub name: &'static str,
            /// What it does, as doc comments have it.
            pub doc: &'static str,
            $($(#[doc = $doc])* pub $option: $kind,)*
        }

        impl Key {
            /// A key without options.
            pub const fn new(name: &'static str, doc: &'static str) -> Key {
                Key { name, doc, $($option: $default,)* }
            }
        }
    };
}

options! {
    /// What its numbers must be.
    rule: Rule = Rule::Finite;
    /// The ends of its slider, where the rule gives no useful ones.
    slider: Option<(f64, f64)> = None;
    /// The unit of its numbers, for the reference.
    unit: &'static str = "";
    /// The heading in the studio's form.
    group: &'static str = "";
    /// It counts where another key has one of those words.
    when: Option<(&'static str, &'static [&'static str])> = None;
    /// It counts where the camera has that kind of path.
    way: &'static str = "";
    /// What holds where the key is not given, in TOML, if that is not the default's text; empty: it depends on other keys.
    holds: Option<&'static str> = None;
    /// A table without it is refused.
    required: bool = false;
    /// It is written even where it is the default, as it was before keys were declared here. A new key is not.
    spelled: bool = false;
    /// It is written behind the other keys.
    last: bool = false;
    /// The keys of this struct are keys of the table around it.
    flat: bool = false;
    /// The three numbers are a colour.
    colour: bool = false;
    /// The three numbers are a direction, which has a length.
    direction: bool = false;
    /// Degrees in the scene, radians within a turn in the field.
    angle: bool = false;
    /// The field is no key of this table.
    elsewhere: bool = false;
    /// What is made of the material whose keys these are.
    material_of: MaterialUse = MaterialUse::Object;
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
