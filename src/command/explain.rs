//! `polyfly explain`: what a key of a scene, a flag, a command or an exit code is, from its declaration.

use super::shell::{all_commands, flag_facts, flag_words};
use crate::cli::{Exit, ExplainArgs, Failure, command};
use crate::error::Error;
use crate::language::{Message, msg};
use crate::quote::brief;
use crate::report::print;
use crate::scene::keys::explain::{entries, explain, plain_name};
use crate::scene::text::suggest::{NameKind, nearest, other_name};
use clap::{Arg, Command};

const WHAT_IT_TAKES: &str =
    "`polyfly explain body.lamps`, or `lamps`, explains a key of a scene; `body` a table, `agx` a word of a key,
`--resume` a flag, `bench` a command, `65` an exit code. `polyfly docs keys` lists all keys, `polyfly --help` all flags.

Exit codes:
";

pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let Some(word) = &args.word else {
        let codes: String = Exit::ALL.iter().map(|&code| row(&code.to_string(), code.brief())).collect();
        return Ok(print(&format!("{WHAT_IT_TAKES}{codes}"))?);
    };
    match explanation(word) {
        Some(text) => Ok(print(&format!("{}\n", text.trim_end()))?),
        None => Err(Error::misused(
            msg!("there is no key, flag, command or exit code `{word}`", word = brief(word)),
            near(word),
        )
        .into()),
    }
}

/// What it is: all that bear the name.
pub fn explanation(word: &str) -> Option<String> {
    if let Some(code) = Exit::of(word) {
        return Some(format!("exit code {code}: {}", code.explanation()));
    }
    let mut commands = command();
    commands.build();
    let job = commands.find_subcommand(word).and_then(|job| {
        Some(format!("polyfly {word}\n{}.\n\n`polyfly {word} --help` lists its flags.", job.get_about()?))
    });
    let key = if word.starts_with('-') { None } else { explain(&plain_name(word)) };
    let parts: Vec<String> = key.into_iter().chain(flags(&commands, word)).chain(job).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

// The flags of that name, of rendering and of commands; those that do the same share one text.
fn flags(commands: &Command, word: &str) -> Vec<String> {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let mut described: Vec<(String, String)> = Vec::new();
    for (command, usage) in all_commands(commands) {
        let is_it = |arg: &&Arg| arg.get_long() == Some(name) || arg.get_short().is_some_and(|c| c.to_string() == name);
        for text in command.get_arguments().filter(|arg| !arg.is_positional()).filter(is_it).map(flag) {
            match described.iter_mut().find(|(one, _)| *one == text) {
                Some((_, usages)) => *usages += &format!(", {usage}"),
                None => described.push((text, usage.clone())),
            }
        }
    }
    described.iter().map(|(text, usages)| format!("{text}\n  taken by  {usages}")).collect()
}

fn flag(arg: &Arg) -> String {
    let [name, default, about] = flag_facts(arg);
    let about_word = |help: Option<&clap::builder::StyledStr>| help.map(ToString::to_string).unwrap_or_default();
    let words: String = flag_words(arg).iter().map(|word| row(word.get_name(), &about_word(word.get_help()))).collect();
    let default = if default.is_empty() { default } else { format!("  default   {default}\n") };
    format!("{name}\n{about}\n\n{words}{default}").trim_end().to_owned()
}

fn row(word: &str, about: &str) -> String {
    format!("  {word:8}  {about}").trim_end().to_owned() + "\n"
}

/// What may have been meant: what other programs call it, or the nearest name of a key or a flag.
pub fn near(word: &str) -> Message {
    let (name, is_flag) = (plain_name(word.trim_start_matches('-')), word.starts_with('-'));
    let as_key = if is_flag { None } else { other_name(NameKind::Key, &name) };
    if let Some(advice) = as_key.or_else(|| other_name(NameKind::Flag, &name)) {
        return advice;
    }
    let mut commands = command();
    commands.build();
    let flags = all_commands(&commands).into_iter().flat_map(|(command, _)| command.get_arguments());
    let flags: Vec<String> = flags.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    let paths: Vec<String> = entries().into_iter().map(|entry| entry.path).collect();
    let ends = paths.iter().filter_map(|path| path.rsplit('.').next());
    let found = nearest(&name, ends.chain(paths.iter().map(String::as_str))).filter(|near| !is_flag || *near == name);
    match found.or_else(|| nearest(&format!("--{name}"), flags.iter().map(String::as_str))) {
        Some(near) => msg!("did you mean `{name}`?", name = format!("polyfly explain {near}")),
        None => msg!("`polyfly explain` tells what it takes"),
    }
}
