//! The language of messages: --lang, or that of the environment's locale.

use super::early::early_value;
use super::environment::environment;
use crate::language::{Language, Message};
pub use crate::report::language;
use crate::report::set_language;
use crate::system;
use clap::ValueEnum;
use std::ffi::OsString;

/// Takes the language from the command line, before that is parsed. A wrong word is refused there. A log for programs, which names
/// errors too, is English.
pub fn choose_language(words: &[OsString], is_for_programs: bool) {
    let chosen = early_value(words, &["--lang"]).and_then(|value| Language::from_str(&value, false).ok());
    // The first that is set counts, as in the C library; then the system's setting.
    let locale = || ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(environment).unwrap_or_else(system::locale);
    set_language(match is_for_programs {
        true => Language::English,
        false => chosen.unwrap_or_else(|| Language::of_locale(&locale())),
    });
}

pub fn shown(message: Message) -> String {
    message.get(language())
}
