//! What the command line asks for before it is parsed: errors of parsing, too, follow it.

use std::ffi::OsString;

/// The last value of one of these flags.
pub fn early_value(words: &[OsString], names: &[&str]) -> Option<String> {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--").collect();
    (0..words.len()).rev().find_map(|i| {
        let rest = names.iter().find_map(|name| words[i].strip_prefix(name))?;
        let next = || words.get(i + 1).map(ToString::to_string);
        if rest.is_empty() { next() } else { Some(rest.trim_start_matches('=').to_owned()) }
    })
}
