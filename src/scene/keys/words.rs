//! Values that are words: one of a list, a word instead of a number, a file or a built-in name.

use super::key::{Key, one_line};
use super::kinds::{Kind, quoted};
pub(crate) use super::names::{Names, WordList, names};
use super::read::Given;
use crate::language::{Message, msg};
use serde_json::json;

/// One of some words, in any case.
pub(crate) fn one_of<T: Copy>(given: &mut Given, words: &WordList<T>) -> Option<T> {
    let text = given.text()?;
    let found = words.iter().find(|(_, word, _)| word.eq_ignore_ascii_case(text));
    if found.is_none() {
        let all = words.iter().map(|(_, word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        let expected = if words.len() > 1 { msg!("one of {list}", list = all) } else { Message::text(all) };
        given.refuse::<T>(format_args!("\"{text}\""), expected);
        given.suggest(text, words.iter().map(|(_, word, _)| *word));
    }
    found.map(|(value, ..)| *value)
}

/// The schema of some words, with their meanings.
pub(crate) fn words_schema<T>(words: &WordList<T>) -> serde_json::Value {
    let (words, abouts): (Vec<&str>, Vec<String>) =
        words.iter().map(|(_, word, about)| (word, one_line(about))).unzip();
    json!({ "type": "string", "enum": words, "enumDescriptions": abouts })
}

impl<T: Names> Kind for T {
    fn parse(given: &mut Given) -> Option<T> {
        one_of(given, T::NAMES)
    }
    fn text(&self, _: &Key) -> String {
        quoted(T::NAMES.iter().find(|(value, ..)| value == self).map_or("", |(_, word, _)| word))
    }
    fn schema(_: &Key) -> serde_json::Value {
        words_schema(T::NAMES)
    }
}

/// Declares how a number, or a word instead of it, is read and written.
macro_rules! number_or_word {
    ($kind:ident: $word:literal = $value:expr, $of_number:expr, $($number:pat => $text:expr),*) => {
        impl $crate::scene::keys::kinds::Kind for $kind {
            fn parse(given: &mut $crate::scene::keys::read::Given) -> Option<$kind> {
                let word = |text: &str| text.eq_ignore_ascii_case($word).then_some($value);
                let read = given.number_or_word(word, concat!("\"", $word, "\""))?;
                Some(read.map_or_else(|word| word, $of_number))
            }
            fn text(&self, _: &$crate::scene::keys::Key) -> String {
                match *self {
                    $($number => $text,)*
                    _ => $crate::scene::keys::kinds::quoted($word),
                }
            }
            fn numbers(&self) -> Option<(usize, $crate::math::vec3::Vec3)> {
                let text = self.text(const { &$crate::scene::keys::Key::new("", "") });
                text.parse().ok().map(|x| (1, [x, 0.0, 0.0]))
            }
            fn of_numbers([x, ..]: $crate::math::vec3::Vec3) -> Option<$kind> {
                let of_number: fn(f64) -> $kind = $of_number;
                Some(of_number(x))
            }
            fn schema(key: &$crate::scene::keys::Key) -> serde_json::Value {
                $crate::scene::keys::kinds::number_or_word_schema(key)
            }
        }
    };
}
pub(crate) use number_or_word;

/// Declares the source of a picture: a file, or a built-in one whose name begins with `@`. `none` may mean no
/// picture.
macro_rules! sources {
    (
        $(#[doc = $about:literal])*
        $see:vis enum $name:ident: msg!($no_such:literal, name), msg!($expected:literal, names) {
            $(#[doc = $file:literal])*
            File,
            $($(#[doc = $doc:literal])* $variant:ident = $word:literal,)*
        }
        $(#[doc = $names:literal])*
        $see_names:vis const BUILTIN;
        const TAKES_NONE = $takes_none:literal;
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq)]
        $see enum $name {
            $(#[doc = $file])*
            File(std::path::PathBuf),
            $($(#[doc = $doc])* $variant,)*
        }
        impl $name {
            $(#[doc = $names])*
            $see_names const BUILTIN: [($name, &str); [$($word),*].len()] = [$(($name::$variant, $word)),*];

            // The built-in source of this name, or a file.
            pub(crate) fn parse(
                text: &str,
                options: &$crate::scene::text::grammar::ParseOptions,
            ) -> Result<Option<$name>, $crate::language::Message> {
                if let Some((builtin, _)) = Self::BUILTIN.into_iter().find(|(_, name)| *name == text) {
                    return Ok(Some(builtin));
                }
                match text {
                    "none" if $takes_none => Ok(None),
                    "" => Err(Self::expected()),
                    _ if text.starts_with('@') => Err(Self::expected()),
                    path => Ok(Some($name::File(options.path(path)))),
                }
            }
            // The possible values, for messages.
            pub(crate) fn expected() -> $crate::language::Message {
                let names = Self::BUILTIN.map(|(_, name)| format!("`{name}`")).join(", ");
                $crate::language::msg!($expected, names)
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $name::File(path) => write!(f, "{}", path.display()),
                    $($name::$variant => f.write_str($word),)*
                }
            }
        }
        impl $crate::scene::keys::kinds::Kind for $name {
            const TAKES_NONE: bool = $takes_none;
            fn parse(given: &mut $crate::scene::keys::read::Given) -> Option<$name> {
                let text = given.text()?;
                $name::parse(text, &given.context.options).unwrap_or_else(|expected| {
                    given.problem::<()>($crate::language::msg!($no_such, name = text), expected);
                    given.suggest(text, Self::BUILTIN.iter().map(|(_, name)| *name));
                    None
                })
            }
            fn text(&self, _: &$crate::scene::keys::Key) -> String {
                $crate::scene::keys::kinds::quoted(&self.to_string())
            }
        }
    };
}
pub(crate) use sources;
