//! A key of a scene: its options besides type and default.

use crate::scene::text::diagnostic::Rule;

/// Where a material is used; decides which keys it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaterialUse {
    /// A body, which emits light only by its lamps.
    Body,
    /// A floor, which is thin and emits no light.
    Floor,
    /// Any other object.
    Object,
}

// Declares the options of keys, with their defaults.
macro_rules! options {
    ($($(#[doc = $doc:literal])* $option:ident: $kind:ty = $default:expr;)*) => {
        /// A key. All fields after the first two are options of [`keys!`](super::keys): `spelled()` sets a flag,
        /// `rule(..)` a value, and `slider(.., ..)` two values.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Key {
            /// The name in a scene.
            pub name: &'static str,
            /// The description: the doc comment.
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
    /// The range of its numbers.
    rule: Rule = Rule::Finite;
    /// The range of its slider, if it differs from the rule's.
    slider: Option<(f64, f64)> = None;
    /// The unit of its numbers, for the reference.
    unit: &'static str = "";
    /// The heading in the studio's form.
    group: &'static str = "";
    /// The key applies only if another key has one of these words.
    when: Option<(&'static str, &'static [&'static str])> = None;
    /// A table that gives the key beside other words than those of `when` is invalid.
    refused: bool = false;
    /// The key changes nothing while this other key has its default.
    without: &'static str = "";
    /// The key changes nothing while this other key has another value than its default.
    covered_by: &'static str = "";
    /// The key applies only to this kind of camera path.
    way: &'static str = "";
    /// The default for the reference, in TOML, if it is not the field's default; empty if it depends on other keys.
    holds: Option<&'static str> = None;
    /// A table without the key is invalid.
    required: bool = false;
    /// The key is written even if it has its default, as before keys were declared here. Do not set it for new keys.
    spelled: bool = false;
    /// The key is written after all others.
    last: bool = false;
    /// The keys of this struct are keys of the surrounding table.
    flat: bool = false;
    /// The three numbers are a color.
    colour: bool = false;
    /// The three numbers are a direction, which must not be zero.
    direction: bool = false;
    /// Degrees in the scene; radians within one turn in the field.
    angle: bool = false;
    /// The value may change over the clip.
    animated: bool = false;
    /// The field is not a key of this table.
    elsewhere: bool = false;
    /// The use of the material whose keys these are.
    material_of: MaterialUse = MaterialUse::Object;
}

/// A doc comment in one line.
pub(crate) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The British spelling of a key, if it differs.
pub(crate) fn british(name: &str) -> Option<String> {
    match name {
        "center" => Some("centre".into()),
        _ => name.contains("color").then(|| name.replace("color", "colour")),
    }
}

/// Whether a name is the British spelling of a key.
pub(crate) fn is_british(name: &str) -> bool {
    name == "centre" || name.contains("colour")
}
