//! Enums whose variants are words of a scene. This file imports no other, so that all may declare such enums.

/// Values, their words, and what they mean.
pub(crate) type WordList<T> = [(T, &'static str, &'static str)];

/// A list of names; [`names!`] declares one.
pub(crate) trait Names: Copy + PartialEq + 'static {
    const NAMES: &'static WordList<Self>;
}

/// Declares a list of names: an enum with a word for each variant, and a comment for the reference. The first variant
/// is the default.
macro_rules! names {
    (
        $(#[$($attribute:tt)*])*
        $see:vis enum $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $word:literal,)* }
    ) => {
        $(#[$($attribute)*])*
        $see enum $name { $($(#[doc = $doc])* $variant,)* }
        impl Default for $name {
            fn default() -> Self {
                Self::ALL[0].0
            }
        }
        impl $name {
            /// All values with their names in a scene.
            pub const ALL: [($name, &'static str); [$($word),*].len()] = [$(($name::$variant, $word)),*];
            /// The name in a scene.
            #[allow(dead_code, reason = "nobody asks a private enum")]
            pub fn name(self) -> &'static str {
                Self::ALL.iter().find(|(one, _)| *one == self).map_or("", |(_, word)| word)
            }
        }
        impl $crate::scene::keys::names::Names for $name {
            const NAMES: &'static $crate::scene::keys::names::WordList<Self> =
                &[$(($name::$variant, $word, concat!($($doc, " ",)*))),*];
        }
    };
}
pub(crate) use names;
