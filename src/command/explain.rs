//! `polyfly explain`: what a key of a scene, a flag, a job or an exit code is, from its declaration.

use super::shell::{flag_facts, flag_words};
use crate::cli::{Exit, ExplainArgs, Failure, command};
use crate::error::Error;
use crate::language::Language;
use crate::quote::brief;
use crate::report::print;
use crate::scene::explain::{explain, paths, plain_name};
use crate::scene::suggest::{NameKind, nearest, other_name};
use clap::{Arg, Command};

const WHAT_IT_TAKES: &str = "polyfly explain WORD explains one of these:

  a key of a scene   polyfly explain body.lamps    (or `lamps`; several tables that have the key are listed)
  a table            polyfly explain body          (its keys)
  a word             polyfly explain agx           (what it means, and the keys that take it)
  a flag             polyfly explain --resume      (or `resume`)
  a job              polyfly explain bench
  an exit code       polyfly explain 65

All keys: `polyfly docs keys`. All flags: `polyfly docs reference/flags`, or `polyfly --help`.

";

pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let Some(word) = &args.word else {
        let codes: String = Exit::ALL.iter().map(|&code| row(&code.to_string(), code.brief())).collect();
        return Ok(print(&format!("{WHAT_IT_TAKES}Exit codes:\n{codes}"))?);
    };
    match explanation(word) {
        Some(text) => Ok(print(&format!("{}\n", text.trim_end()))?),
        None => Err(Error::misused(|l| l.no_such_word(brief(word)), |l| near(l, word)).into()),
    }
}

// What it is: all that bear the name.
fn explanation(word: &str) -> Option<String> {
    if let Some(code) = Exit::of(word) {
        return Some(format!("exit code {code}: {}", code.explanation()));
    }
    let mut commands = command();
    commands.build();
    let is_flag = word.starts_with('-');
    let key = || explain(&plain_name(word));
    let job = || {
        let job = commands.find_subcommand(word)?;
        let about = job.get_about()?;
        Some(format!("polyfly {word}\n{about}.\n\n`polyfly {word} --help` lists its flags."))
    };
    let parts = [if is_flag { None } else { key() }, flags(&commands, word), if is_flag { None } else { job() }];
    let parts: Vec<String> = parts.into_iter().flatten().map(|part| part.trim_end().to_owned()).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

// The flags of that name, of rendering and of jobs; those that do the same share one text.
fn flags(commands: &Command, word: &str) -> Option<String> {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let is_it = |arg: &&Arg| {
        let is_short = arg.get_short().is_some_and(|short| word.trim_start_matches('-') == short.to_string());
        !arg.is_positional() && (arg.get_long() == Some(name) || is_short)
    };
    let mut described: Vec<(String, Vec<String>)> = Vec::new();
    for (command, usage) in all_commands(commands) {
        for arg in command.get_arguments().filter(is_it) {
            let text = flag(arg);
            match described.iter_mut().find(|(one, _)| *one == text) {
                Some((_, usages)) => usages.push(usage.clone()),
                None => described.push((text, vec![usage.clone()])),
            }
        }
    }
    let texts = described.iter().map(|(text, usages)| format!("{text}\n  taken by  {}\n", usages.join(", ")));
    let texts = texts.collect::<Vec<_>>().join("\n");
    (!texts.is_empty()).then_some(texts)
}

// Rendering and the jobs, each with how it is called.
fn all_commands(commands: &Command) -> Vec<(&Command, String)> {
    let jobs = commands.get_subcommands().filter(|job| !job.is_hide_set() && job.get_name() != "help");
    let jobs = jobs.map(|job| (job, format!("polyfly {}", job.get_name())));
    std::iter::once((commands, "polyfly SCENE".to_owned())).chain(jobs).collect()
}

fn flag(arg: &Arg) -> String {
    let [name, default, about] = flag_facts(arg);
    let words = flag_words(arg);
    let words: String = words
        .iter()
        .map(|word| row(word.get_name(), &word.get_help().map(ToString::to_string).unwrap_or_default()))
        .collect();
    let default = if default.is_empty() { default } else { format!("  default   {default}\n") };
    format!("{name}\n{about}\n\n{words}{default}").trim_end().to_owned()
}

fn row(word: &str, about: &str) -> String {
    format!("  {word:8}  {about}").trim_end().to_owned() + "\n"
}

// What may have been meant: what other programs call it, or the nearest names.
fn near(language: Language, word: &str) -> String {
    let name = plain_name(word);
    let kind = if word.starts_with('-') { NameKind::Flag } else { NameKind::Key };
    let as_key = || other_name(language, kind, if word.starts_with('-') { word } else { &name });
    if let Some(advice) = as_key().or_else(|| other_name(language, NameKind::Flag, &format!("--{name}"))) {
        return advice.to_owned();
    }
    if word.parse::<i64>().is_ok() {
        let codes: Vec<String> = Exit::ALL.iter().map(ToString::to_string).collect();
        return language.the_exit_codes_are(codes.join(", "));
    }
    let (paths, mut commands) = (paths(), command());
    commands.build();
    let ends = paths.iter().map(|path| path.rsplit('.').next().unwrap_or(path));
    let key = nearest(&name, ends.chain(paths.iter().map(String::as_str)));
    let longs =
        all_commands(&commands).into_iter().flat_map(|(command, _)| command.get_arguments()).filter_map(Arg::get_long);
    let flag = nearest(word.trim_start_matches('-'), longs).map(|flag| format!("--{flag}"));
    let near: Vec<String> =
        key.map(str::to_owned).into_iter().chain(flag).map(|name| format!("`polyfly explain {name}`")).collect();
    match near.is_empty() {
        true => language.no_near_word(),
        false => language.did_you_mean_any(language.one_of(&near)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_job_and_exit_code_explains_itself() {
        let mut commands = command();
        commands.build();
        for (command, usage) in all_commands(&commands) {
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let Some(long) = arg.get_long() else { continue };
                for word in [format!("--{long}"), long.to_owned()] {
                    let text = explanation(&word).unwrap_or_else(|| panic!("{word} of {usage} is unknown"));
                    let [_, _, about] = flag_facts(arg);
                    assert!(!about.is_empty() && text.contains(&about) && text.contains(&usage), "{word}: {text}");
                }
            }
        }
        for job in commands.get_subcommands().filter(|job| job.get_name() != "help") {
            assert!(explanation(job.get_name()).is_some_and(|text| text.contains("--help")), "{}", job.get_name());
        }
        for code in Exit::ALL {
            let text = explanation(&code.to_string()).unwrap_or_default();
            assert!(text.starts_with(&format!("exit code {code}: ")) && text.contains("\n\n"), "{text}");
        }
    }

    #[test]
    fn an_unknown_word_gets_the_near_ones() {
        assert_eq!(explanation("raduis"), None);
        assert_eq!(near(Language::English, "raduis"), "did you mean `polyfly explain radius`?");
        assert_eq!(near(Language::English, "--resum"), "did you mean `polyfly explain --resume`?");
        assert_eq!(near(Language::English, "--resolution"), "did you mean `--size 1280x720`?");
        assert!(near(Language::English, "--loop").contains("`--set output.loop=true`"));
        assert!(
            near(Language::English, "66").starts_with("the exit codes are 0, ")
                && near(Language::English, "66").ends_with(", 130")
        );
        assert_eq!(near(Language::English, "qqqqqqq"), "`polyfly explain` tells what it takes");
    }
}
