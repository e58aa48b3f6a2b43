//! Errors of the command line, as clap finds them, in the form of all other messages.

use crate::cli::{self, Cli, first_command};
use crate::language::{Message, msg};
use crate::quote::brief;
use crate::scene::builtin::{Builtin, SAMPLES};
use crate::scene::size::Size;
use crate::scene::text::edit::paths_to;
use crate::scene::text::suggest::{DASHES, NameKind, nearest, number_help, other_name};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command, FromArgMatches};
use std::error::Error as _;
use std::ffi::OsString;
use std::path::Path;

/// Why words are not run: they ask for a page of help, or there is a fault, and perhaps a remedy.
pub enum Refusal {
    Page(Error),
    Fault(Message, Option<Message>),
}

pub fn parse(words: &[OsString]) -> Result<Cli, Refusal> {
    let mut command = cli::command();
    let matches = command.try_get_matches_from_mut(words).map_err(|e| refusal(e, words))?;
    let is_typed =
        |arg: &Arg| matches.value_source(arg.get_id().as_str()) == Some(clap::parser::ValueSource::CommandLine);
    let is_run = command.get_arguments().any(|arg| !arg.is_global_set() && is_typed(arg));
    match matches.subcommand_name().filter(|_| is_run) {
        Some(job) => Err(Refusal::Fault(
            msg!("`{job}` comes after the scene, or after a flag of rendering", job),
            Some(msg!("a command comes first: `{words}`", words = format_args!("polyfly {job} SCENE"))),
        )),
        None => Cli::from_arg_matches(&matches).map_err(|e| refusal(e.format(&mut command), words)),
    }
}

fn refusal(e: Error, words: &[OsString]) -> Refusal {
    let get = |kind| match e.get(kind) {
        Some(ContextValue::Strings(all)) => all.clone(),
        other => other.map(ToString::to_string).into_iter().collect(),
    };
    let one = |kind| brief(&get(kind).concat());
    let flag = |kind| one(kind).split_whitespace().next().unwrap_or_default().to_owned();
    let [arg, other] = [ContextKind::InvalidArg, ContextKind::PriorArg].map(flag);
    let value = one(ContextKind::InvalidValue);
    let (what, help) = match e.kind() {
        ErrorKind::ArgumentConflict if arg == other => (msg!("`{flag}` is given twice", flag = arg), None),
        ErrorKind::ArgumentConflict => (msg!("`{flag}` and `{other}` exclude each other", flag = arg, other), None),
        ErrorKind::UnknownArgument => unknown(first_command(words), words, &arg),
        ErrorKind::InvalidSubcommand => unknown(first_command(words), words, &one(ContextKind::InvalidSubcommand)),
        ErrorKind::InvalidValue if value.is_empty() => (msg!("`{flag}` has no value", flag = arg), None),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let valid = get(ContextKind::ValidValue);
            let expected = match e.source() {
                Some(why) => why.downcast_ref().cloned().unwrap_or_else(|| Message::text(why.to_string())),
                None => msg!("expected one of {list}", list = valid.join(", ")),
            };
            let size = Size::meant(&value).filter(|_| arg == "--size").map(|Size(w, h)| format!("{w}x{h}"));
            let near = size.or(nearest(&value, valid.iter().map(String::as_str)).map(str::to_owned));
            let near = near.map(|name| msg!("did you mean `{name}`?", name));
            let help = near.or_else(|| number_help(&value).filter(|_| !["--sizes", "--shard"].contains(&&*arg)));
            (msg!("`{flag}` is `{value}`: {expected}", flag = arg, value, expected), help)
        }
        ErrorKind::MissingRequiredArgument => {
            let usage = get(ContextKind::Usage).concat().trim().trim_start_matches("Usage: ").to_owned();
            let what = Message::all_of(&get(ContextKind::InvalidArg));
            (msg!("missing: {what}", what), Some(msg!("write `{usage}`", usage)))
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => return Refusal::Page(e),
        ErrorKind::TooManyValues => (msg!("`{flag}` takes no value", flag = arg), None),
        _ => (Message::text(e.to_string().lines().take(1).collect::<String>().trim_start_matches("error: ")), None),
    };
    Refusal::Fault(what, help)
}

// A flag that is none, or a word too many.
fn unknown(job: Option<Command>, words: &[OsString], found: &str) -> (Message, Option<Message>) {
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
    let name = job.as_ref().map_or("polyfly".into(), |job| format!("polyfly {}", job.get_name()));
    let lists = Some(lists(&name));
    if !found.starts_with(DASHES) {
        let first = words.find(|word| word != "help").unwrap_or_default();
        if let Some(help) = no_file_help(&first).filter(|_| job.is_none() && !Path::new(&*first).exists()) {
            return (msg!("there is no command `{word}`", word = brief(&first)), Some(help));
        }
        let flags = msg!(
            "flags name all but the scene: `polyfly SCENE --size 1280x720 -o x.png --video x.mp4 --set KEY=VALUE --devices 0`"
        );
        let what = msg!("`{job}` takes no argument `{word}` there", job = name, word = found);
        let sample = job_help(found).filter(|_| name == "polyfly scenes");
        return (what, if job.is_some() { sample.or(lists) } else { Some(flags) });
    }
    // Of `-c:v` and `-frames` clap tells the first letter.
    let typed = words.find(|word| word.starts_with(found)).map_or_else(|| found.to_owned(), String::from);
    let found = typed.split('=').next().unwrap_or_default();
    let (run, plain) = (cli::command(), found.trim_start_matches(DASHES));
    let flags: Vec<&str> = job.as_ref().unwrap_or(&run).get_arguments().filter_map(Arg::get_long).collect();
    let is_of_run = job.is_some() && run.get_arguments().any(|arg| arg.get_long() == Some(plain));
    let of_run = || msg!("this is a flag of rendering: `{words}`", words = format_args!("polyfly SCENE {found}"));
    let is_key = !flags.contains(&plain) && flags.contains(&"set");
    let paths = || paths_to(&plain.replace('-', "_")).filter(|_| is_key);
    let key = || Some(msg!("this is a key of the scene, which `--set KEY=VALUE` changes: {paths}", paths = paths()?));
    let near = || Some(msg!("did you mean `--{flag}`?", flag = nearest(plain, flags.iter().copied())?));
    let advice = other_name(NameKind::Flag, plain).filter(|_| job.is_none()).or_else(|| is_of_run.then(of_run));
    (msg!("there is no flag `{flag}`", flag = brief(found)), advice.or_else(key).or_else(near).or(lists))
}

fn lists(job: &str) -> Message {
    msg!("`{job} --help` lists what it takes", job)
}

/// What to do about a scene that is no file: as below, and where it is a plain word, it was perhaps meant as a command.
pub fn no_file_help(name: &str) -> Option<Message> {
    job_help(name).or_else(|| (!name.contains(['.', '/', '\\'])).then(|| lists("polyfly")))
}

/// A suggestion for a first word that is neither a file nor a command: it may be a sample that is not there.
pub fn job_help(name: &str) -> Option<Message> {
    let is_it = |sample: &&Builtin| Path::new(name).ends_with(sample.file) || sample.name() == name;
    if let Some(sample) = SAMPLES.iter().find(is_it) {
        return Some(msg!("`polyfly scenes copy {name}` writes this sample", name = sample.name()));
    }
    let command = cli::command();
    let job = nearest(name, command.get_subcommands().map(Command::get_name).filter(|_| !name.contains('.')));
    let near = job.map(|job| msg!("did you mean `{name}`?", name = format_args!("polyfly {job}")));
    other_name(NameKind::Command, name).or(near)
}
