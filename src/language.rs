//! Messages, and the languages that show them. `msg!` raises a message in English, where its fault is found; `ru.toml` has its
//! Russian text. Logs, exit codes and files for programs are the same in all languages.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};
use toml::de::DeTable;

/// A language of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Language {
    /// English.
    #[default]
    #[cfg_attr(feature = "cli", value(name = "en"))]
    English,
    /// Russian.
    #[cfg_attr(feature = "cli", value(name = "ru"))]
    Russian,
}

/// A message that can be shown in any language; as a text it is in English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(Arc<Kind>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    // A name, a number, or words of another program: the same in all languages.
    Text(Box<str>),
    // The English pattern, and its parts by name.
    Pattern(&'static str, Vec<(&'static str, Message)>),
    // A number of things: its nouns for one and for several.
    Count(u64, [&'static str; 2]),
    // Words of the library for TOML.
    OfToml(Box<str>),
    // Messages in a row, with a text between them.
    List(Vec<Message>, &'static str),
    // Words of the system, which stand for the message in English.
    OfSystem(Box<str>, Message),
}

/// A message: its English pattern and its parts, `msg!("{path} already exists", path = path.display())`. A part may be a message; a
/// variable of a part's name stands for `name = name`. The compiler refuses parts that are not those of the pattern.
macro_rules! msg {
    ($pattern:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        if false {
            let _ = format_args!(concat!($pattern), $($name = ""),*);
        }
        $crate::language::Message::of_pattern(
            $pattern,
            vec![$((stringify!($name), $crate::language::msg!(@part $name $(= $value)?))),*],
        )
    }};
    (@part $name:ident) => { $crate::language::ToMessage::to_message(&$name) };
    (@part $name:ident = $value:expr) => { $crate::language::ToMessage::to_message(&$value) };
}
pub(crate) use msg;

/// A number with its noun: `count!(frames.len(), "frame", "frames")`.
macro_rules! count {
    ($count:expr, $one:literal, $several:literal $(,)?) => {
        $crate::language::Message::of_count($count, [$one, $several])
    };
}
pub(crate) use count;

/// What a part of a message may be.
pub(crate) trait ToMessage {
    fn to_message(&self) -> Message;
}

impl ToMessage for Message {
    fn to_message(&self) -> Message {
        self.clone()
    }
}

impl<T: ToMessage + ?Sized> ToMessage for &T {
    fn to_message(&self) -> Message {
        (**self).to_message()
    }
}

/// Types whose texts are the same in all languages.
macro_rules! texts {
    ($($kind:ty),*) => {$(
        impl $crate::language::ToMessage for $kind {
            fn to_message(&self) -> $crate::language::Message {
                $crate::language::Message::text(self)
            }
        }
    )*};
}
pub(crate) use texts;

texts!(str, String, Box<str>, Cow<'_, str>, char, u8, u16, u32, u64, usize, i32, i64, isize, f32, f64);
texts!(fmt::Arguments<'_>, std::path::Display<'_>, std::ffi::os_str::Display<'_>, std::io::Error);

// The rows of the Russian texts.
static RUSSIAN: LazyLock<DeTable<'static>> = LazyLock::new(|| {
    let table = DeTable::parse(include_str!("language/ru.toml")).map(toml::Spanned::into_inner);
    // A test reads all rows.
    table.unwrap_or_default()
});

// What the table of this name has for an English text.
fn russian(table: &str, english: &str) -> Option<&'static toml::de::DeValue<'static>> {
    Some(RUSSIAN.get(table)?.get_ref().as_table()?.get(english)?.get_ref())
}

impl Message {
    fn of(kind: Kind) -> Message {
        Message(Arc::new(kind))
    }
    /// A text that is the same in all languages.
    pub(crate) fn text(text: impl fmt::Display) -> Message {
        Message::of(Kind::Text(text.to_string().into()))
    }
    /// See `msg!`.
    pub(crate) fn of_pattern(english: &'static str, parts: Vec<(&'static str, Message)>) -> Message {
        Message::of(Kind::Pattern(english, parts))
    }
    /// See `count!`.
    pub(crate) fn of_count(count: impl TryInto<u64>, nouns: [&'static str; 2]) -> Message {
        Message::of(Kind::Count(count.try_into().unwrap_or(u64::MAX), nouns))
    }
    /// What the library for TOML says; in its own words where they are not known.
    pub(crate) fn of_toml(text: &str) -> Message {
        let known = |text: &str| Message::of(Kind::OfToml(text.into()));
        match text.split_once(", expected ") {
            Some((fault, expected)) => {
                let expected = Message::list(expected.split(", ").map(known), ", ");
                msg!("{fault}, expected {expected}", fault = known(fault), expected)
            }
            None => known(text),
        }
    }
    /// Messages with a text between them.
    pub(crate) fn list(all: impl IntoIterator<Item = Message>, between: &'static str) -> Message {
        Message::of(Kind::List(all.into_iter().collect(), between))
    }
    /// The message, but for English: there the system has its own words.
    pub(crate) fn in_english(self, words: impl fmt::Display) -> Message {
        Message::of(Kind::OfSystem(words.to_string().into(), self))
    }
    /// Words as a sentence lists them: `a, b or c`.
    pub(crate) fn one_of(words: &[String]) -> Message {
        match words.split_last() {
            Some((last, others)) if !others.is_empty() => msg!("{words} or {last}", words = others.join(", "), last),
            _ => Message::text(words.concat()),
        }
    }
    /// The same with "and".
    pub(crate) fn all_of(words: &[String]) -> Message {
        match words.split_last() {
            Some((last, others)) if !others.is_empty() => msg!("{words} and {last}", words = others.join(", "), last),
            _ => Message::text(words.concat()),
        }
    }

    pub(crate) fn get(&self, language: Language) -> String {
        let is_russian = language == Language::Russian;
        match &*self.0 {
            Kind::Text(text) => text.to_string(),
            Kind::Pattern(english, parts) => {
                let pattern = is_russian.then(|| russian("messages", english)?.as_str()).flatten();
                filled(pattern.unwrap_or(english), parts, language)
            }
            Kind::Count(count, nouns) => {
                let forms = is_russian.then(|| russian("nouns", nouns[0])?.as_array()).flatten();
                let noun = forms.and_then(|forms| forms.get(russian_form(*count))?.get_ref().as_str());
                format!("{count} {}", noun.unwrap_or(nouns[usize::from(*count != 1)]))
            }
            Kind::OfToml(text) => {
                let words = is_russian.then(|| russian("toml", text)?.as_str()).flatten();
                words.unwrap_or(text).to_owned()
            }
            Kind::OfSystem(_, message) if is_russian => message.get(language),
            Kind::OfSystem(words, _) => words.to_string(),
            Kind::List(all, between) => all.iter().map(|one| one.get(language)).collect::<Vec<_>>().join(between),
        }
    }
}

// Which form a Russian noun has: for 1, for 2 to 4, for 5.
fn russian_form(count: u64) -> usize {
    match (count % 10, count % 100) {
        (_, 11..=14) => 2,
        (1, _) => 0,
        (2..=4, _) => 1,
        _ => 2,
    }
}

// A pattern with its parts in their places. Two braces are one.
fn filled(pattern: &str, parts: &[(&str, Message)], language: Language) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '}']) {
        text += &rest[..at];
        let (brace, after) = rest[at..].split_at(1);
        let part = after.split_once('}').filter(|_| !after.starts_with(brace));
        rest = match part {
            Some((name, after)) => {
                text.extend(parts.iter().find(|(part, _)| *part == name).map(|(_, part)| part.get(language)));
                after
            }
            None => {
                text += brace;
                &after[1..]
            }
        };
    }
    text + rest
}

impl std::error::Error for Message {}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get(Language::English))
    }
}

// Texts that are the same in all languages.
impl From<String> for Message {
    fn from(text: String) -> Message {
        Message::text(text)
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        Message::text(text)
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Message {
        message.clone()
    }
}

impl Language {
    /// The language of a locale's name, such as `ru_RU.UTF-8`. Only UTF-8 shows all letters.
    pub(crate) fn of_locale(name: &str) -> Language {
        let (words, charset) = name.split_once('.').unwrap_or((name, ""));
        let charset = charset.split('@').next().unwrap_or_default().replace('-', "");
        let is_russian = words == "ru" || words.starts_with("ru_");
        if is_russian && charset.eq_ignore_ascii_case("utf8") { Language::Russian } else { Language::English }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_a_message_is_shown_in_the_same_language() {
        let message = msg!("{what}: {why}", what = "a.txt", why = msg!("there is no such file"));
        assert_eq!(message.to_string(), "a.txt: there is no such file");
        assert_eq!(message.get(Language::Russian), "a.txt: такого файла нет");
        assert_eq!(msg!("`{key} = {{ }}`", key = "radius").to_string(), "`radius = { }`");
        let system = msg!("there is no such file").in_english("No such file or directory");
        assert_eq!(system.to_string(), "No such file or directory");
        assert_eq!(system.get(Language::Russian), "такого файла нет");
    }

    #[test]
    fn nouns_follow_their_number() {
        let shown = |count: u64, language| count!(count, "frame", "frames").get(language);
        assert_eq!([0, 1, 2].map(|count| shown(count, Language::English)), ["0 frames", "1 frame", "2 frames"]);
        for (count, expected) in [(1, "1 кадр"), (3, "3 кадра"), (11, "11 кадров"), (21, "21 кадр"), (25, "25 кадров")]
        {
            assert_eq!(shown(count, Language::Russian), expected);
        }
    }

    #[test]
    fn faults_of_toml_are_told_in_russian() {
        for (text, expected) in [
            ("a = \n", "текст пишется в кавычках; ожидалось: текст в одинарных кавычках"),
            ("a b\n", "ключ без значения; ожидалось: `=`"),
            ("[a\n", "скобка таблицы не закрыта; ожидалось: `]`"),
            ("a = \"b\n", "ошибка в тексте в кавычках; ожидалось: `\"`"),
            ("a = b\n", "текст пишется в кавычках; ожидалось: текст в одинарных кавычках"),
            ("a = [\"b\" \"c\"]\n", "не хватает запятой между элементами списка; ожидалось: `,`"),
            ("a = [1\n", "список не закрыт; ожидалось: `]`"),
            ("[a] b\n", "лишний ключ или значение; ожидалось: новая строка, `#`"),
        ] {
            let e = toml::de::DeTable::parse(text).unwrap_err();
            let message = Message::of_toml(e.message());
            assert_eq!(message.get(Language::Russian), expected, "{text}: {}", e.message());
            assert_eq!(message.to_string(), e.message());
        }
    }

    #[test]
    fn a_locale_that_cannot_show_russian_gets_english() {
        for name in ["ru_RU.UTF-8", "ru_RU.utf8", "ru_UA.UTF-8@euro", "ru.UTF-8"] {
            assert_eq!(Language::of_locale(name), Language::Russian, "{name}");
        }
        for name in
            ["", "C", "C.UTF-8", "ru_RU", "ru_RU.KOI8-R", "ru_RU.CP1251", "run_RU.UTF-8", "en_US.UTF-8", "POSIX"]
        {
            assert_eq!(Language::of_locale(name), Language::English, "{name}");
        }
    }
}
