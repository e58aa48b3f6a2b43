//! The language of messages: --lang, or that of the environment's locale.

use super::early::early_value;
use super::environment::environment;
use crate::language::{Language, Message};
use crate::system;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::ffi::OsString;
use std::sync::OnceLock;

static CHOSEN: OnceLock<Language> = OnceLock::new();

impl ValueEnum for Language {
    fn value_variants<'a>() -> &'a [Language] {
        &[Language::English, Language::Russian]
    }
    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Language::English => PossibleValue::new("en").help("English"),
            Language::Russian => PossibleValue::new("ru").help("Russian"),
        })
    }
}

/// Takes the language from the command line, before that is parsed. A wrong word is refused there. A log for programs, which names
/// errors too, is English.
pub fn choose_language(words: &[OsString], is_for_programs: bool) {
    let chosen = early_value(words, &["--lang"]).and_then(|value| Language::from_str(&value, false).ok());
    if let Some(language) = if is_for_programs { Some(Language::English) } else { chosen } {
        // A first choice stays; there is only this one.
        let _ = CHOSEN.set(language);
    }
}

/// A message in the language of messages.
pub fn shown(message: Message) -> String {
    message.get(language())
}

/// The language of messages.
pub fn language() -> Language {
    // The first that is set counts, as in the C library; then the system's setting.
    let locale = || ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(environment).unwrap_or_else(system::locale);
    *CHOSEN.get_or_init(|| Language::of_locale(&locale()))
}
