//! Errors of the command line, in the form of all other messages.

use crate::cli::{self, Cli};
use crate::language::{Message, msg};
use crate::output::stream::Stream;
use crate::quote::brief;
use crate::scene::builtin::{Builtin, SAMPLES};
use crate::scene::limits::{MAX_SAMPLES, PICTURES, VIDEOS};
use crate::scene::size::{Size, two_numbers};
use crate::scene::text::suggest::{DASHES, NameKind, look_alike, meant, nearest, number_help, other_name};
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
    let has_sums = || words[..flags].iter().any(|word| word == "--hash");
    let on_stdout = || value(&["--output", "-o"]).map_or_else(has_sums, |to| Stream::is_stdout(&to));
    log.eq_ignore_ascii_case("jsonl").then(on_stdout)
}

/// The fault, and a remedy.
pub fn translate_error(e: &Error, words: &[OsString]) -> (Message, Option<Message>) {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = cli::command();
    let job = words.get(1).and_then(|word| command.find_subcommand(word));
    let get = |kind| e.get(kind).map(strings).unwrap_or_default();
    let one = |kind| get(kind).into_iter().next().unwrap_or_default();
    let flag = |kind| one(kind).split_whitespace().next().unwrap_or_default().to_owned();
    if let Some((what, help)) = spaced_vector(job.unwrap_or(&command), &words) {
        return (what, Some(help));
    }
    match e.kind() {
        ErrorKind::ArgumentConflict if e.get(ContextKind::InvalidSubcommand).is_some() => {
            second_scene(&command, &words, &one(ContextKind::InvalidSubcommand))
        }
        ErrorKind::ArgumentConflict if e.get(ContextKind::PriorArg).is_some() => {
            match (flag(ContextKind::InvalidArg), flag(ContextKind::PriorArg)) {
                (one, other) if one == other => (msg!("`{flag}` is given twice", flag = one), None),
                (one, other) => (msg!("`{flag}` and `{other}` exclude each other", flag = one, other), None),
            }
        }
        ErrorKind::UnknownArgument => {
            unknown_flag(&command, job, &words, &typed(&words, &one(ContextKind::InvalidArg)))
        }
        ErrorKind::InvalidValue => {
            let (flag, value) = (flag(ContextKind::InvalidArg), one(ContextKind::InvalidValue));
            let valid = get(ContextKind::ValidValue);
            let expected = (!valid.is_empty()).then(|| msg!("expected one of {list}", list = valid.join(", ")));
            let what = if value.is_empty() {
                msg!("`{flag}` has no value", flag)
            } else {
                msg!("`{flag}` is `{value}`", flag, value)
            };
            let help = match &*flag {
                "[DEVICE]" if !value.is_empty() => Some(msg!(
                    "the device comes first: `{command}`",
                    command = format_args!("polyfly particles CPU {value} 800 600 picture.png")
                )),
                "<ENGINE>" if value.contains('.') => Some(msg!(
                    "the engine comes first: `{command}`",
                    command = format_args!("polyfly farm slurm {value}")
                )),
                _ => meant(NameKind::Value(&flag), &value, valid.iter().map(String::as_str)),
            };
            (Message::list([what].into_iter().chain(expected), ": "), help)
        }
        ErrorKind::ValueValidation => {
            let (flag, value) = (flag(ContextKind::InvalidArg), one(ContextKind::InvalidValue));
            let why = e.source().map(|why| match why.downcast_ref::<Message>() {
                Some(message) => message.clone(),
                None => expected(&why.to_string()),
            });
            let other = other_name(NameKind::Value(&flag), &value);
            let other = other.or_else(|| match &*flag {
                "--size" => size_help(&value),
                "--samples" => samples_help(&value),
                _ => None,
            });
            let help =
                other.or_else(|| number_help(&value).filter(|_| !["--size", "--sizes", "--shard"].contains(&&*flag)));
            let what = msg!("`{flag}` is `{value}`", flag, value);
            (Message::list([what].into_iter().chain(why), ": "), help)
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
                        Some(_) => msg!(
                            "`polyfly scenes copy {name}` writes this sample, `polyfly scenes show {name}` prints it",
                            name = word
                        ),
                        None => msg!("write {usage}", usage = Message::one_of(&parts)),
                    };
                    (msg!("`polyfly {job}` has no part `{word}`", job = job.get_name(), word), Some(help))
                }
                None => {
                    let help = job_help(&word).unwrap_or_else(|| msg!("`polyfly help` lists all jobs"));
                    (msg!("there is no job `{word}`", word), Some(help))
                }
            }
        }
        ErrorKind::TooManyValues => (msg!("`{flag}` takes no value", flag = flag(ContextKind::InvalidArg)), None),
        ErrorKind::MissingRequiredArgument => {
            let job = job.map_or_else(String::new, |job| format!(" {}", job.get_name()));
            let usage = one(ContextKind::Usage);
            let usage = usage.trim().strip_prefix("Usage: ").map(|usage| format!("`{}`", usage.trim()));
            let usage = usage.map(|usage| msg!("write {usage}", usage));
            let missing = get(ContextKind::InvalidArg).into_iter().map(Message::from);
            let missing = missing.reduce(|some, last| msg!("{words} and {last}", words = some, last));
            (msg!("`polyfly{job}` needs {what}", job, what = missing.unwrap_or(String::new().into())), usage)
        }
        _ => {
            let text = e.to_string();
            (Message::text(text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ")), None)
        }
    }
}

fn unknown_flag(command: &Command, job: Option<&Command>, words: &[String], found: &str) -> (Message, Option<Message>) {
    if let Some(negative) = negative_value(job.unwrap_or(command), words, found) {
        return negative;
    }
    let value = value_behind(words, found);
    // Blender's flag of this name has no value.
    let is_colour = found == "--background" && csscolorparser::parse(value).is_ok();
    let (what, help) = unknown(command, job, found);
    let help = if is_colour { other_name(NameKind::Flag, "--bg") } else { help };
    (what, help.map(|advice| with_value(advice, found, value)))
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

// The value that stands behind a flag.
fn value_behind<'a>(words: &'a [String], flag: &str) -> &'a str {
    let Some(at) = words.iter().position(|word| word.split('=').next() == Some(flag)) else { return "" };
    words[at].split_once('=').map_or_else(|| words.get(at + 1).map_or("", String::as_str), |(_, value)| value)
}

// The advice with the value that was typed in place of its example: `--width 640` is `--size 640x360`, `--spp 64` is `--samples 8`.
fn with_value(advice: Message, flag: &str, value: &str) -> Message {
    const SIZE: &str = "--size 1280x720";
    if let (true, Some(Size(width, height))) = (advice.to_string().contains(SIZE), size_of(flag, value)) {
        return advice.replace(SIZE, &format!("--size {width}x{height}"));
    }
    let count = value.parse::<u32>().ok().filter(|count| (1..=MAX_SAMPLES * MAX_SAMPLES).contains(count));
    if let (true, Some(count)) = (advice.to_string() == "`--samples 4` takes 4 x 4 = 16", count) {
        let side = count.isqrt() + u32::from(count.isqrt().pow(2) < count);
        let advice = msg!("`--samples {side}` takes {side} x {side} = {all}", side, all = side * side);
        return if side * side == count {
            advice
        } else {
            msg!("{advice}, the next square above {count}", advice, count)
        };
    }
    let is_word = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphabetic());
    match is_word && csscolorparser::parse(value).is_ok() {
        true => advice.replace("color=red", &format!("color={value}")).replace("=white", &format!("={value}")),
        false => advice,
    }
}

// The size that other programs' flags mean, by one side in the shape of 16:9: `--width 640`, `+H360`, `-vf scale=640:-1`.
fn size_of(flag: &str, value: &str) -> Option<Size> {
    let sides = value.trim_start_matches("scale=");
    let width = sides.strip_suffix(":-1").or_else(|| sides.strip_suffix(":-2")).unwrap_or(sides);
    let Ok(side) = width.parse::<u32>() else { return Size::named(width).or_else(|| Size::meant(width)) };
    let even = |x: f64| (x / 2.0).round() as u32 * 2;
    let (side, is_height) = (f64::from(side), flag.trim_start_matches(['-', '+']).to_lowercase().starts_with('h'));
    let [width, height] = if is_height { [side * 16.0 / 9.0, side] } else { [side, side * 9.0 / 16.0] };
    Size::meant(&format!("{}x{}", even(width), even(height)))
}

// `--eye 1 2 3`: three numbers of a vector in words of their own.
fn spaced_vector(job: &Command, words: &[String]) -> Option<(Message, Message)> {
    let is_vector = |word: &str| {
        let flag =
            word.strip_prefix("--").and_then(|name| job.get_arguments().find(|arg| arg.get_long() == Some(name)));
        flag.and_then(|arg| arg.get_value_names()).is_some_and(|names| names[..] == ["X,Y,Z"])
    };
    let [flag, x, y, z] = words.windows(4).find_map(|four| match four {
        [flag, numbers @ ..] if is_vector(flag) && numbers.iter().all(|n| n.parse::<f64>().is_ok()) => {
            Some([flag, &numbers[0], &numbers[1], &numbers[2]])
        }
        _ => None,
    })?;
    let typed = msg!("`{words}` is three words", words = format_args!("{flag} {x} {y} {z}"));
    Some((typed, msg!("did you mean `{name}`?", name = format_args!("{flag} {x},{y},{z}"))))
}

// `--size -64x36`, which looks like a flag.
fn negative_value(job: &Command, words: &[String], found: &str) -> Option<(Message, Option<Message>)> {
    let value = found.strip_prefix('-').filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))?;
    let flag = &words[words.iter().position(|word| word == found)?.checked_sub(1)?];
    let arg =
        job.get_arguments().find(|arg| arg.get_long().is_some_and(|name| flag.strip_prefix("--") == Some(name)))?;
    let help = Size::named(value)
        .or_else(|| Size::meant(value))
        .map(|_| msg!("did you mean `{name}`?", name = format_args!("{flag} {value}")));
    arg.get_action()
        .takes_values()
        .then(|| (msg!("`{flag}` is `{value}`: expected no minus sign", flag, value = found), help))
}

// Two numbers that are written as a size elsewhere: `1920,1080`, `1920*1080`, `1920 1080`.
fn size_help(text: &str) -> Option<Message> {
    // A size with a frame rate: `1080p60`.
    let named = text.rfind('p').map(|i| text.split_at(i + 1)).filter(|(size, _)| Size::named(size).is_some());
    if let Some((size, rate)) = named.filter(|(_, rate)| rate.parse::<u32>().is_ok()) {
        return Some(msg!("did you mean `--size {size} --fps {rate}`?", size, rate));
    }
    if let Some(help) = look_alike(text, |text| Size::named(text).is_some()) {
        return Some(help);
    }
    let Size(width, height) = Size::meant(text)?;
    Some(msg!("did you mean `{name}`?", name = format_args!("{width}x{height}")))
}

// `4x4` for 4, `4-64` for a range.
fn samples_help(text: &str) -> Option<Message> {
    let [one, other] = two_numbers(text)?;
    Some(match one == other {
        true => msg!("did you mean `{name}`?", name = one),
        false => msg!("did you mean `{name}`?", name = format_args!("{}..{}", one.min(other), one.max(other))),
    })
}

// What a second positional argument may mean, if it is not a scene: judged from it and from the argument before it.
fn no_scene(words: &[String], second: &str) -> Option<(Message, Message)> {
    let at = words.iter().position(|word| word == second)?;
    let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at].as_str());
    let minus = second.trim_start_matches(DASHES).trim_start_matches('-');
    if second.starts_with(DASHES) {
        return Some((
            msg!("`{word}` begins with a long dash", word = second),
            msg!("flags begin with two short ones: `{flag}`", flag = format_args!("--{minus}")),
        ));
    }
    let of_letter = || other_name(NameKind::Flag, second.get(..2)?);
    if let Some(advice) = second.starts_with('+').then(of_letter).flatten() {
        let advice = with_value(advice.to_owned(), &second[..2], &second[2..]);
        return Some((msg!("there is no flag `{flag}`", flag = second), advice));
    }
    let is_number = |word: &str| word.parse::<u32>().is_ok();
    if before(2) == "--size" && is_number(before(1)) && is_number(second) {
        return Some((
            msg!("`{words}` is two words", words = format_args!("--size {} {second}", before(1))),
            msg!("did you mean `{name}`?", name = format_args!("--size {}x{second}", before(1))),
        ));
    }
    // `--set KEY VALUE`, `--set KEY = VALUE` and `--set KEY= VALUE`.
    if before(2) == "--set" && before(1).find('=').is_none_or(|sign| sign + 1 == before(1).len()) {
        let key = before(1).trim_end_matches('=');
        let value = match second.trim_start_matches('=') {
            "" => words.get(at + 1).map_or("VALUE", String::as_str),
            value => value,
        };
        let typed = format!("--set {} {second}", before(1));
        let is_bare = before(1) == key && !second.starts_with('=');
        let what = if is_bare {
            msg!("`{words}` has no equals sign", words = typed)
        } else {
            msg!("`{words}` has spaces around the equals sign", words = typed)
        };
        return Some((
            what,
            msg!("an equals sign joins key and value: `{words}`", words = format_args!("--set {key}={value}")),
        ));
    }
    if before(1) == "--gpu" && is_number(second) {
        let meant = msg!("did you mean `{name}`?", name = format_args!("--devices {second}"));
        return Some((msg!("`{flag}` takes no value", flag = "--gpu"), meant));
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
        Some((
            msg!("`{name}` is not a scene", name),
            msg!("a flag names what is written: `{words}`", words = format_args!("{flag} {name}")),
        ))
    })
}

// A second positional argument: a misplaced command, an argument of an unknown command, or another scene.
fn second_scene(command: &Command, words: &[String], second: &str) -> (Message, Option<Message>) {
    let no_job = |word: &&String| !word.starts_with('-') && *word != second && !std::path::Path::new(word).exists();
    // `rneder s.toml`: names of scenes have an ending.
    let is_bare = |word: &str| word.chars().all(char::is_alphabetic);
    let (what, help) = if command.find_subcommand(second).is_some() {
        (
            msg!("`{job}` comes after the scene", job = second),
            msg!("a job comes first: `{words}`", words = format_args!("polyfly {second} SCENE")),
        )
    } else if let Some((word, help)) = words[1..].iter().filter(no_job).find_map(|word| Some((word, job_help(word)?))) {
        (msg!("there is no job `{word}`", word = brief(word)), help)
    } else if let Some((what, help)) = no_scene(words, second) {
        (what, help)
    } else if let Some(word) = words.get(1).filter(|word| no_job(word) && is_bare(word)) {
        (msg!("there is no job `{word}`", word = brief(word)), msg!("`polyfly help` lists all jobs"))
    } else {
        (
            msg!("`{name}` is a second scene", name = second),
            msg!("one run renders one scene: run polyfly once for each of them"),
        )
    };
    (what, Some(help))
}

fn unknown(command: &Command, job: Option<&Command>, found: &str) -> (Message, Option<Message>) {
    let name = job.map_or_else(|| "polyfly".into(), |job| format!("polyfly {}", job.get_name()));
    if !found.starts_with('-') {
        return (
            msg!("`{job}` takes no argument `{word}` there", job = name, word = found),
            Some(msg!("`{job} --help` lists what it takes", job = name)),
        );
    }
    let flags = |of: &Command| -> Vec<String> {
        let longs = of.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
        longs.chain(["--help".into()]).collect()
    };
    let what = match job {
        Some(_) => msg!("`{job}` has no flag `{flag}`", job = name, flag = found),
        None => msg!("there is no flag `{flag}`", flag = found),
    };
    if job.is_some() && flags(command).iter().any(|flag| flag == found) {
        return (
            what,
            Some(msg!(
                "`{flag}` is a flag of rendering: `{words}`",
                flag = found,
                words = format_args!("polyfly SCENE {found}")
            )),
        );
    }
    // `--engine slurm`, where the engine is an argument.
    let is_it = |arg: &&clap::Arg| arg.get_id().as_str().eq_ignore_ascii_case(found.trim_start_matches('-'));
    if let (Some(job), Some(arg)) = (job, job.and_then(|job| job.get_positionals().find(is_it))) {
        let all = job.get_positionals().map(|arg| format!("<{}>", arg.get_id().as_str().to_uppercase()));
        let usage = all.collect::<Vec<_>>().join(" ");
        return (
            what,
            Some(msg!(
                "{name} is an argument without a flag: `{usage}`",
                name = arg.get_id().as_str(),
                usage = format_args!("{name} {usage}")
            )),
        );
    }
    let known = flags(job.unwrap_or(command));
    let near = || Some(msg!("did you mean `{name}`?", name = nearest(found, known.iter().map(String::as_str))?));
    // `-frames`, as ffmpeg and Blender write flags.
    let long = format!("-{found}");
    if found.len() > 2 && known.contains(&long) {
        return (what, Some(msg!("long flags have two dashes: `{flag}`", flag = long)));
    }
    let letter = || other_name(NameKind::Flag, found.get(..2).filter(|two| !two.starts_with("--"))?);
    // A job has few of the flags that the table knows.
    let is_taken = |advice: &Message| {
        job.is_none()
            || advice
                .to_string()
                .split(['`', ' '])
                .filter(|word| word.starts_with("--"))
                .all(|flag| known.iter().any(|one| one == flag))
    };
    // `-t`, where one flag begins with that letter.
    let initial = || {
        let mut all = known.iter().filter(|flag| found.len() == 2 && flag.starts_with(&long));
        all.next().filter(|_| all.next().is_none()).map(|flag| msg!("did you mean `{name}`?", name = flag))
    };
    let advice = other_name(NameKind::Flag, found).or_else(letter).filter(is_taken);
    let advice = advice.or_else(initial).or_else(near);
    (what, advice.or_else(|| Some(msg!("`{job} --help` lists all flags", job = name))))
}

/// A suggestion for a first argument that is neither a file nor a command: it may be a sample that is not there.
pub fn job_help(name: &str) -> Option<Message> {
    let is_it = |sample: &&Builtin| std::path::Path::new(name).ends_with(sample.file) || sample.name() == name;
    if let Some(sample) = SAMPLES.iter().find(is_it) {
        return Some(msg!("`polyfly scenes copy {name}` writes this sample", name = sample.name()));
    }
    let command = cli::command();
    let jobs: Vec<&str> = command.get_subcommands().map(|c| c.get_name()).collect();
    let is_file =
        ["toml", "txt"].iter().any(|ending| std::path::Path::new(name).extension().is_some_and(|e| e == *ending));
    let near = || {
        let job = nearest(name, jobs.into_iter().filter(|_| !is_file))?;
        Some(msg!("did you mean `{name}`?", name = format_args!("polyfly {job}")))
    };
    other_name(NameKind::Job, name).or_else(near)
}

// The expected number in words, from a parser's message such as `99 is not in 0..=63` or `invalid digit found in
// string`.
fn expected(why: &str) -> Message {
    let Some((_, range)) = why.split_once(" is not in ") else {
        let is_no_number =
            why.contains("invalid digit") || why.contains("invalid float") || why.contains("too large to fit");
        return if is_no_number { msg!("expected a whole number") } else { Message::text(why) };
    };
    let (low, high) = range.split_once("..").unwrap_or((range, ""));
    // An upper end that is not written is the limit of the type.
    match high.trim_start_matches('=') {
        "" | "4294967295" | "18446744073709551615" => msg!("expected a whole number, at least {low}", low),
        high => msg!("expected a whole number from {low} to {high}", low, high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_in_words() {
        let expected = |why| expected(why).to_string();
        assert_eq!(expected("99 is not in 0..=63"), "expected a whole number from 0 to 63");
        assert_eq!(expected("0 is not in 1..=4294967295"), "expected a whole number, at least 1");
        assert_eq!(expected("0 is not in 1.."), "expected a whole number, at least 1");
        assert_eq!(expected("invalid digit found in string"), "expected a whole number");
        assert_eq!(expected("expected X,Y,Z"), "expected X,Y,Z");
    }
}
