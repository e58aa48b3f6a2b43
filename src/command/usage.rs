//! Errors of the command line, in the form of all other messages.

use crate::cli::{self, Cli};
use crate::language::Language;
use crate::quote::brief;
use crate::scene::builtin::{Builtin, SAMPLES};
use crate::scene::limits::{PICTURES, VIDEOS};
use crate::scene::suggest::{DASHES, NameKind, meant, nearest, number_help, other_name};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, FromArgMatches};
use std::error::Error as _;
use std::ffi::OsString;

pub fn parse(words: &[OsString]) -> Result<Cli, Error> {
    let mut command = cli::command();
    let matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command))
}

/// The pages of the program's help.
pub enum Help {
    /// What a first day needs.
    FirstDay,
    /// All jobs and flags.
    Everything,
}

/// The page of the program's help that is asked for; None for the help of a job, or the version.
pub fn asked_help(e: &Error, words: &[OsString]) -> Option<Help> {
    let is_job = || {
        let asked = words.get(if words.get(1).is_some_and(|word| word == "help") { 2 } else { 1 });
        asked.is_some_and(|word| cli::command().find_subcommand(word).is_some())
    };
    let is_short = || words.iter().any(|word| word == "-h");
    match e.kind() {
        ErrorKind::DisplayHelp if !is_job() => Some(if is_short() { Help::FirstDay } else { Help::Everything }),
        _ => None,
    }
}

/// Whether these words ask for a run whose log is JSON lines; and whether its pictures go to stdout.
pub fn json_log(words: &[OsString]) -> Option<bool> {
    let words: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let is_job = words.first().is_some_and(|word| cli::command().find_subcommand(word).is_some());
    let flags = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let value = |names: &[&str]| {
        let of = |(i, word): (usize, &String)| {
            let name = names.iter().find(|name| word.starts_with(**name))?;
            match &word[name.len()..] {
                "" => words.get(i + 1).cloned(),
                rest if name.starts_with("--") => rest.strip_prefix('=').map(str::to_owned),
                rest => Some(rest.trim_start_matches('=').to_owned()),
            }
        };
        words[..flags].iter().enumerate().rev().find_map(of)
    };
    let log = value(&["--log"]).or_else(|| cli::environment("POLYFLY_LOG")).filter(|_| !is_job)?;
    log.eq_ignore_ascii_case("jsonl").then(|| value(&["--output", "-o"]).is_some_and(|to| to.starts_with('-')))
}

/// The fault, and a remedy.
pub fn translate_error(e: &Error, words: &[OsString]) -> (String, Option<String>) {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = cli::command();
    let job = words.get(1).and_then(|word| command.find_subcommand(word));
    let get = |kind| e.get(kind).map(strings).unwrap_or_default();
    let one = |kind| get(kind).into_iter().next().unwrap_or_default();
    let flag = |kind| one(kind).split_whitespace().next().unwrap_or_default().to_owned();
    match e.kind() {
        ErrorKind::ArgumentConflict if e.get(ContextKind::InvalidSubcommand).is_some() => {
            second_scene(&command, &words, &one(ContextKind::InvalidSubcommand))
        }
        ErrorKind::ArgumentConflict if e.get(ContextKind::PriorArg).is_some() => {
            match (flag(ContextKind::InvalidArg), flag(ContextKind::PriorArg)) {
                (one, other) if one == other => (format!("`{one}` is given twice"), None),
                (one, other) => (format!("`{one}` and `{other}` exclude each other"), None),
            }
        }
        ErrorKind::UnknownArgument => unknown(&command, job, &typed(&words, &one(ContextKind::InvalidArg))),
        ErrorKind::InvalidValue => {
            let (flag, value) = (flag(ContextKind::InvalidArg), one(ContextKind::InvalidValue));
            let valid = get(ContextKind::ValidValue);
            let expected =
                if valid.is_empty() { String::new() } else { format!(": expected one of {}", valid.join(", ")) };
            let what =
                if value.is_empty() { format!("`{flag}` has no value") } else { format!("`{flag}` is `{value}`") };
            let help = match flag == "[DEVICE]" && !value.is_empty() {
                true => Some(format!("the device comes first: `polyfly particles CPU {value} 800 600 picture.png`")),
                false => meant(NameKind::Value(&flag), &value, valid.iter().map(String::as_str)),
            };
            (what + &expected, help)
        }
        ErrorKind::ValueValidation => {
            let (flag, value) = (flag(ContextKind::InvalidArg), one(ContextKind::InvalidValue));
            let why = e.source().map(|why| expected(&why.to_string())).unwrap_or_default();
            let other = other_name(NameKind::Value(&flag), &value).map(str::to_owned);
            let size = || sides(&value).filter(|_| flag == "--size");
            let help = other.or_else(size).or_else(|| {
                number_help(Language::English, &value).filter(|_| !["--size", "--sizes", "--shard"].contains(&&*flag))
            });
            (format!("`{flag}` is `{value}`: {why}"), help)
        }
        ErrorKind::InvalidSubcommand => {
            let word = one(ContextKind::InvalidSubcommand);
            match job {
                Some(job) => {
                    let parts: Vec<String> = job
                        .get_subcommands()
                        .map(|part| format!("`polyfly {} {}`", job.get_name(), part.get_name()))
                        .collect();
                    let sample = SAMPLES.iter().find(|sample| sample.name() == word);
                    let help = match sample.filter(|_| job.get_name() == "scenes") {
                        Some(_) => format!(
                            "`polyfly scenes copy {word}` writes this sample, `polyfly scenes show {word}` prints it"
                        ),
                        None => format!("write {}", crate::quote::listed(&parts, "or")),
                    };
                    (format!("`polyfly {}` has no part `{word}`", job.get_name()), Some(help))
                }
                None => {
                    let help = job_help(&word).unwrap_or_else(|| "`polyfly help` lists all jobs".into());
                    (format!("there is no job `{word}`"), Some(help))
                }
            }
        }
        ErrorKind::TooManyValues => (format!("`{}` takes no value", flag(ContextKind::InvalidArg)), None),
        ErrorKind::MissingRequiredArgument => {
            let job = job.map_or_else(String::new, |job| format!(" {}", job.get_name()));
            let usage = one(ContextKind::Usage);
            let usage = usage.trim().strip_prefix("Usage: ").map(|usage| format!("write `{}`", usage.trim()));
            (format!("`polyfly{job}` needs {}", get(ContextKind::InvalidArg).join(" and ")), usage)
        }
        _ => {
            let text = e.to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            (first.trim_start_matches("error: ").to_owned(), None)
        }
    }
}

fn strings(value: &ContextValue) -> Vec<String> {
    match value {
        ContextValue::String(text) => vec![brief(text)],
        ContextValue::Strings(all) => all.iter().map(|text| brief(text)).collect(),
        ContextValue::StyledStr(text) => vec![text.to_string()],
        ContextValue::StyledStrs(all) => all.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

// A flag as it was typed: of `-c:v` and `-frames` clap tells the first letter.
fn typed(words: &[String], found: &str) -> String {
    let is_short = found.len() == 2 && found.starts_with('-');
    let whole = words.iter().find(|word| is_short && word.starts_with(found));
    whole.map_or(found.to_owned(), |word| brief(word.split('=').next().unwrap_or(word)))
}

// Two numbers that are written as a size elsewhere: `1920,1080`, `1920*1080`, `1920 1080`.
fn sides(text: &str) -> Option<String> {
    let numbers: Vec<u32> = text.split(|c: char| !c.is_ascii_digit()).filter_map(|piece| piece.parse().ok()).collect();
    let [width, height] = numbers[..] else { return None };
    (width > 0 && height > 0).then(|| format!("did you mean `{width}x{height}`?"))
}

// What a second positional argument may be, if not a scene, by itself and by the argument before it.
fn no_scene(words: &[String], second: &str) -> Option<(String, String)> {
    let at = words.iter().position(|word| word == second)?;
    let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at].as_str());
    let minus = second.trim_start_matches(DASHES).trim_start_matches('-');
    if second.starts_with(DASHES) {
        return Some((
            format!("`{second}` begins with a long dash"),
            format!("flags begin with two short ones: `--{minus}`"),
        ));
    }
    if let Some(advice) = second.starts_with('+').then(|| other_name(NameKind::Flag, second.get(..2)?)).flatten() {
        return Some((format!("there is no flag `{second}`"), advice.to_owned()));
    }
    let is_number = |word: &str| word.parse::<u32>().is_ok();
    if before(2) == "--size" && is_number(before(1)) && is_number(second) {
        return Some((
            format!("`--size {} {second}` is two words", before(1)),
            format!("did you mean `--size {}x{second}`?", before(1)),
        ));
    }
    // `--set KEY VALUE`, `--set KEY = VALUE` and `--set KEY= VALUE`.
    if before(2) == "--set" && before(1).find('=').is_none_or(|sign| sign + 1 == before(1).len()) {
        let key = before(1).trim_end_matches('=');
        let value = match second.trim_start_matches('=') {
            "" => words.get(at + 1).map_or("VALUE", String::as_str),
            value => value,
        };
        let what = if before(1) == key && !second.starts_with('=') {
            "no equals sign"
        } else {
            "spaces around the equals sign"
        };
        let help = format!("an equals sign joins key and value: `--set {key}={value}`");
        return Some((format!("`--set {} {second}` has {what}", before(1)), help));
    }
    if before(1) == "--gpu" && is_number(second) {
        return Some(("`--gpu` takes no number".into(), format!("did you mean `--devices {second}`?")));
    }
    // `s.toml out.png` or `out.png s.toml`.
    let first = if before(2).starts_with('-') { "" } else { before(1) };
    [second, first].into_iter().find_map(|name| {
        let ending = std::path::Path::new(name).extension()?.to_str()?.to_lowercase();
        let flag = match ending.as_str() {
            ending if PICTURES.contains(&ending) => "-o",
            ending if VIDEOS.contains(&ending) => "--video",
            _ => return None,
        };
        Some((format!("`{name}` is no scene"), format!("a flag names what is written: `{flag} {name}`")))
    })
}

// A second positional argument: a misplaced command, an argument of an unknown command, or another scene.
fn second_scene(command: &Command, words: &[String], second: &str) -> (String, Option<String>) {
    let no_job = |word: &&String| !word.starts_with('-') && *word != second && !std::path::Path::new(word).exists();
    let (what, help) = if command.find_subcommand(second).is_some() {
        (format!("`{second}` comes after the scene"), format!("a job comes first: `polyfly {second} SCENE`"))
    } else if let Some((word, help)) = words[1..].iter().filter(no_job).find_map(|word| Some((word, job_help(word)?))) {
        (format!("there is no job `{}`", brief(word)), help)
    } else if let Some((what, help)) = no_scene(words, second) {
        (what, help)
    } else {
        let help = "one run renders one scene: run polyfly once for each of them";
        (format!("`{second}` is a second scene"), help.into())
    };
    (what, Some(help))
}

fn unknown(command: &Command, job: Option<&Command>, found: &str) -> (String, Option<String>) {
    let name = job.map_or_else(|| "polyfly".into(), |job| format!("polyfly {}", job.get_name()));
    if !found.starts_with('-') {
        return (
            format!("`{name}` takes no argument `{found}` there"),
            Some(format!("`{name} --help` lists what it takes")),
        );
    }
    let flags = |of: &Command| -> Vec<String> {
        let longs = of.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
        longs.chain(["--help".into()]).collect()
    };
    let what = match job {
        Some(_) => format!("`{name}` has no flag `{found}`"),
        None => format!("there is no flag `{found}`"),
    };
    if job.is_some() && flags(command).iter().any(|flag| flag == found) {
        return (what, Some(format!("`{found}` is a flag of rendering: `polyfly SCENE {found}`")));
    }
    // `--engine slurm`, where the engine is an argument.
    let is_it = |arg: &&clap::Arg| arg.get_id().as_str().eq_ignore_ascii_case(found.trim_start_matches('-'));
    if let (Some(job), Some(arg)) = (job, job.and_then(|job| job.get_positionals().find(is_it))) {
        let all = job.get_positionals().map(|arg| format!("<{}>", arg.get_id().as_str().to_uppercase()));
        let usage = all.collect::<Vec<_>>().join(" ");
        return (what, Some(format!("{} is an argument without a flag: `{name} {usage}`", arg.get_id())));
    }
    let known = flags(job.unwrap_or(command));
    let near = || Some(format!("did you mean `{}`?", nearest(found, known.iter().map(String::as_str))?));
    // `-frames`, as ffmpeg and Blender write flags.
    let long = format!("-{found}");
    if found.len() > 2 && known.contains(&long) {
        return (what, Some(format!("long flags have two dashes: `{long}`")));
    }
    let letter = || other_name(NameKind::Flag, found.get(..2).filter(|two| !two.starts_with("--"))?);
    // A job has few of the flags that the table knows.
    let is_taken = |advice: &&str| {
        job.is_none()
            || advice
                .split(['`', ' '])
                .filter(|word| word.starts_with("--"))
                .all(|flag| known.iter().any(|one| one == flag))
    };
    // `-t`, where one flag begins with that letter.
    let initial = || {
        let mut all = known.iter().filter(|flag| found.len() == 2 && flag.starts_with(&long));
        all.next().filter(|_| all.next().is_none()).map(|flag| format!("did you mean `{flag}`?"))
    };
    let advice = other_name(NameKind::Flag, found).or_else(letter).filter(is_taken).map(str::to_owned);
    let advice = advice.or_else(initial).or_else(near);
    (what, advice.or_else(|| Some(format!("`{name} --help` lists all flags"))))
}

/// A suggestion for a first argument that is neither a file nor a command: it may be a sample that is not there.
pub fn job_help(name: &str) -> Option<String> {
    let is_it = |sample: &&Builtin| std::path::Path::new(name).ends_with(sample.file) || sample.name() == name;
    if let Some(sample) = SAMPLES.iter().find(is_it) {
        return Some(format!("`polyfly scenes copy {}` writes this sample", sample.name()));
    }
    let command = cli::command();
    let jobs: Vec<&str> = command.get_subcommands().map(|c| c.get_name()).collect();
    let is_file =
        ["toml", "txt"].iter().any(|ending| std::path::Path::new(name).extension().is_some_and(|e| e == *ending));
    let near = || Some(format!("did you mean `polyfly {}`?", nearest(name, jobs.into_iter().filter(|_| !is_file))?));
    other_name(NameKind::Job, name).map(str::to_owned).or_else(near)
}

// The expected number in words, from a parser's message such as `99 is not in 0..=63` or `invalid digit found in
// string`.
fn expected(why: &str) -> String {
    let Some((_, range)) = why.split_once(" is not in ") else {
        let is_no_number =
            why.contains("invalid digit") || why.contains("invalid float") || why.contains("too large to fit");
        return if is_no_number { "expected a whole number".into() } else { why.to_owned() };
    };
    let (low, high) = range.split_once("..").unwrap_or((range, ""));
    // An upper end that is not written is the limit of the type.
    match high.trim_start_matches('=') {
        "" | "4294967295" | "18446744073709551615" => format!("expected a whole number, at least {low}"),
        high => format!("expected a whole number from {low} to {high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_in_words() {
        assert_eq!(expected("99 is not in 0..=63"), "expected a whole number from 0 to 63");
        assert_eq!(expected("0 is not in 1..=4294967295"), "expected a whole number, at least 1");
        assert_eq!(expected("0 is not in 1.."), "expected a whole number, at least 1");
        assert_eq!(expected("invalid digit found in string"), "expected a whole number");
        assert_eq!(expected("expected X,Y,Z"), "expected X,Y,Z");
    }
}
