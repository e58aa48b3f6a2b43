//! What shells and their users want of a program: completions, a manual page.

use crate::cli::{ReferencePage, command};
use clap_complete::Shell;
use std::fmt::Write;

/// A shell's completions.
pub fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "polyfly", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The manual page, in roff; those of the jobs follow.
pub fn manual() -> String {
    let mut text = Vec::new();
    let all = command();
    // A Vec takes whatever is written to it.
    let _ = clap_mangen::Man::new(all.clone()).render(&mut text);
    for job in all.get_subcommands().filter(|job| !job.is_hide_set()) {
        let name = format!("polyfly-{}", job.get_name());
        let _ = clap_mangen::Man::new(job.clone().display_name(name)).render(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The schema of scenes in TOML.
pub fn schema() -> String {
    format!("{:#}\n", *crate::scene::toml::SCHEMA)
}

/// A page of the documentation's reference.
pub fn reference(page: ReferencePage) -> String {
    match page {
        ReferencePage::Scene => crate::scene::keys::reference::page(&crate::scene::toml::SCHEMA),
        ReferencePage::Flags => flags(),
    }
}

const FLAGS: &str = "# Flags

All commands and flags, as `polyfly --help` and `polyfly COMMAND --help` print them. [flags.md](../flags.md) explains combinations. This page is
made of the program's own declarations: `scripts/generate` regenerates it.
";

// The flags of rendering and of all jobs, in Markdown.
fn flags() -> String {
    let mut text = FLAGS.to_owned();
    let mut all = command();
    all.build();
    // Writing to a String cannot fail.
    let _ = job(&all, "polyfly SCENE", &mut text);
    for one in all.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help") {
        let _ = job(one, &format!("polyfly {}", one.get_name()), &mut text);
    }
    text
}

fn job(of: &clap::Command, name: &str, text: &mut String) -> std::fmt::Result {
    let about = of.get_about().map(ToString::to_string).unwrap_or_default();
    writeln!(text, "\n## `{name}`\n\n{about}")?;
    let mut headings: Vec<&str> = Vec::new();
    let args =
        || of.get_arguments().filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()));
    args().for_each(|arg| {
        let heading = arg.get_help_heading().unwrap_or_default();
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    });
    for heading in headings {
        let title = if heading.is_empty() { String::new() } else { format!("### {heading}\n\n") };
        writeln!(text, "\n{title}| flag | default | meaning |\n|---|---|---|")?;
        for arg in args().filter(|arg| arg.get_help_heading().unwrap_or_default() == heading) {
            flag(arg, text)?;
        }
    }
    Ok(())
}

fn flag(arg: &clap::Arg, text: &mut String) -> std::fmt::Result {
    // Without the styles of a terminal.
    let mut name = arg.to_string();
    if let (Some(short), true) = (arg.get_short(), arg.get_long().is_some()) {
        name = format!("-{short}, {name}");
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let takes_value = arg.get_action().takes_values();
    let default = if defaults.is_empty() || !takes_value { String::new() } else { format!("`{}`", defaults.join(" ")) };
    let about = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = arg.get_possible_values().into_iter().filter(|_| takes_value).filter(|value| !value.is_hide_set());
    let words: Vec<String> = words.map(|value| format!("`{}`", value.get_name())).collect();
    if !words.is_empty() {
        let point = if about.ends_with('.') { "" } else { "." };
        let _ = write!(about, "{point} One of {}.", words.join(", "));
    }
    let cells = [format!("`{name}`"), default, about].map(|cell| cell.replace('|', "\\|"));
    writeln!(text, "| {} |", cells.join(" | "))
}
