//! Shell completions and manual pages.

use crate::cli::command;
use crate::scene::keys::over_time;
use crate::scene::text::toml::SCHEMA;
use clap_complete::Shell;

pub fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "polyfly", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The manual page in roff, followed by those of the commands.
pub fn manual() -> String {
    let mut text = Vec::new();
    let all = command();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(all.clone()).render(&mut text);
    for job in all.get_subcommands().filter(|job| !job.is_hide_set()) {
        let name = format!("polyfly-{}", job.get_name());
        let _ = clap_mangen::Man::new(job.clone().display_name(name)).render(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

pub fn schema() -> String {
    format!("{:#}\n", over_time::published(&SCHEMA))
}

// How a run is called; flags of all commands stand in its table alone.
const RUN: &str = "polyfly SCENE";

/// Rendering and the commands, each with how it is called.
pub fn all_commands(commands: &clap::Command) -> Vec<(&clap::Command, String)> {
    let jobs = commands.get_subcommands().filter(|job| !job.is_hide_set() && job.get_name() != "help");
    let jobs = jobs.map(|job| (job, format!("polyfly {}", job.get_name())));
    std::iter::once((commands, RUN.to_owned())).chain(jobs).collect()
}

const FLAGS: &str = "# Flags

All commands and flags, as `polyfly --help` and `polyfly COMMAND --help` print them. [flags.md](../flags.md) explains combinations. `-q` and
`--lang` are flags of all commands. This page is made of the program's own declarations: `scripts/generate` regenerates it.
";

/// The reference page of the flags of all commands, in Markdown.
pub fn flags() -> String {
    let mut all = command();
    all.build();
    FLAGS.to_owned() + &all_commands(&all).iter().map(|(one, name)| job(one, name)).collect::<String>()
}

fn job(of: &clap::Command, name: &str) -> String {
    let about = of.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("\n## `{name}`\n\n{about}\n");
    // By heading, in the order of their first flags.
    let mut tables: Vec<(&str, String)> = Vec::new();
    let is_own = |arg: &clap::Arg| name == RUN || !arg.is_global_set();
    let is_shown =
        |arg: &&clap::Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()) && is_own(arg);
    for arg in of.get_arguments().filter(is_shown) {
        let heading = arg.get_help_heading().unwrap_or_default();
        match tables.iter_mut().find(|(of, _)| *of == heading) {
            Some((_, rows)) => *rows += &flag(arg),
            None => tables.push((heading, flag(arg))),
        }
    }
    for (heading, rows) in tables {
        let title = if heading.is_empty() { String::new() } else { format!("### {heading}\n\n") };
        text += &format!("\n{title}| flag | default | meaning |\n|---|---|---|\n{rows}");
    }
    text
}

fn flag(arg: &clap::Arg) -> String {
    let [name, default, mut about] = flag_facts(arg);
    let words: Vec<String> = flag_words(arg).iter().map(|value| format!("`{}`", value.get_name())).collect();
    if !words.is_empty() {
        about = format!("{}. One of {}.", about.trim_end_matches('.'), words.join(", "));
    }
    let default = if default.is_empty() { default } else { format!("`{default}`") };
    let cells = [format!("`{name}`"), default, about].map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

/// A flag as it is written, its default, and what it does, in one line each.
pub fn flag_facts(arg: &clap::Arg) -> [String; 3] {
    // Without the styles of a terminal.
    let mut name = arg.to_string();
    if let (Some(short), true) = (arg.get_short(), arg.get_long().is_some()) {
        name = format!("-{short}, {name}");
    }
    let defaults = arg.get_default_values().iter().filter(|_| arg.get_action().takes_values());
    let default = defaults.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let about = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    [name, default, about.split_whitespace().collect::<Vec<_>>().join(" ")]
}

/// The words that a flag takes, each with what it means.
pub fn flag_words(arg: &clap::Arg) -> Vec<clap::builder::PossibleValue> {
    let takes_value = arg.get_action().takes_values();
    arg.get_possible_values().into_iter().filter(|value| takes_value && !value.is_hide_set()).collect()
}
