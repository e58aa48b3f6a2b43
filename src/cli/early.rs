//! What the command line asks for before it is parsed: errors of parsing, too, follow it.

use super::environment::environment;
use crate::output::stream::Stream;
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

/// The command that the words name, behind flags that all commands take.
pub fn first_job(words: &[OsString]) -> Option<clap::Command> {
    let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
    let job = words.find(|word| !word.starts_with('-') && !["en", "ru", "help"].contains(word))?;
    super::command().find_subcommand(job).cloned()
}

/// Whether these words ask for a run whose log is JSON lines; and whether its pictures go to stdout.
pub fn json_log(words: &[OsString]) -> Option<bool> {
    let log = early_value(words, &["--log"]).or_else(|| environment("POLYFLY_LOG"));
    let is_json = log?.eq_ignore_ascii_case("jsonl") && first_job(words).is_none();
    let has_sums = || words.iter().any(|word| word == "--hash");
    let on_stdout = || early_value(words, &["--output", "-o"]).map_or_else(has_sums, |to| Stream::is_stdout(&to));
    is_json.then(on_stdout)
}
