//! `polyfly -h`: what a first day needs, on one screen; and `polyfly --help`: all commands and flags in groups. The words are those of
//! the flags' and commands' declarations.

use crate::cli::command;
use clap::builder::StyledStr;
use clap::{Arg, Command};

const EXAMPLES: &str = "  polyfly new my.toml                              a scene to begin with
  polyfly my.toml --draft --frames 0 -o look.png   one quick picture
  polyfly my.toml --video my.mp4                   its frames, and a film of them
";

// The commands of a first day.
const JOBS: &[&str] =
    &["new", "scenes", "check", "explain", "docs", "preview", "studio", "convert", "stitch", "bench", "doctor"];

// All commands under their headings. Commands without one come last.
const GROUPS: &[(&str, &[&str])] = &[
    ("Scenes", &["new", "scenes", "check", "explain", "convert", "preview", "studio"]),
    ("Frames and films", &["missing", "status", "stitch", "report", "farm"]),
    ("Comparing and measuring", &["compare", "verify", "bench", "doctor"]),
    ("Particles", &["particles"]),
];
const REST: &str = "This program";

// Flags under their headings.
const FLAGS: &[&[&str]] = &[
    &["frames", "set", "size", "draft", "is_final", "samples"],
    &["output", "video", "fps"],
    &["dry_run", "resume", "overwrite"],
    &["cpu", "gpu", "threads"],
];

// Columns of the page, and of the names of flags and commands.
const WIDTH: usize = 100;
const FLAG: usize = 24;
const JOB: usize = 8;
const ANY_JOB: usize = 11;

pub fn first_day() -> String {
    let mut command = command();
    command.build();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!("{about}.\n\n{EXAMPLES}\nCommands (polyfly COMMAND):\n");
    page.extend(JOBS.iter().filter_map(|name| command.find_subcommand(name)).map(|one| job(one, JOB)));
    page += "\n";
    for names in FLAGS {
        let flags: Vec<&Arg> =
            names.iter().filter_map(|name| command.get_arguments().find(|arg| arg.get_id() == name)).collect();
        let heading = flags.first().and_then(|arg| arg.get_help_heading()).unwrap_or_default();
        page += &format!("{heading}:\n");
        page.extend(flags.into_iter().map(flag));
    }
    page + "\n`polyfly --help`: all commands, flags and exit codes. `polyfly explain WORD`: a key, flag or code.\n"
}

/// All commands and flags, with the styles of a terminal.
pub fn everything() -> StyledStr {
    let command = command();
    let jobs = grouped(&command);
    let names: Vec<String> = command.get_subcommands().map(|job| job.get_name().to_owned()).collect();
    // clap lists commands without headings.
    let hidden = names.iter().fold(command, |all, name| all.mut_subcommand(name, |job| job.hide(true)));
    let template = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{jobs}\n{{all-args}}{{after-help}}");
    hidden.disable_help_subcommand(true).help_template(template).render_long_help()
}

// The commands under their headings.
fn grouped(command: &Command) -> String {
    let shown = || command.get_subcommands().filter(|job| !job.is_hide_set());
    let has_group = |job: &&Command| GROUPS.iter().any(|(_, names)| names.contains(&job.get_name()));
    let mut page = String::new();
    for (heading, names) in GROUPS {
        page += &format!("{heading} (polyfly COMMAND):\n");
        page.extend(names.iter().filter_map(|name| command.find_subcommand(name)).map(|one| job(one, ANY_JOB)));
        page += "\n";
    }
    page += &format!("{REST}:\n");
    page.extend(shown().filter(|job| !has_group(job)).map(|one| job(one, ANY_JOB)));
    page + &row("help", ANY_JOB, "Prints the help of a command, as `polyfly COMMAND --help` does.")
}

fn job(job: &Command, width: usize) -> String {
    row(job.get_name(), width, &job.get_about().map(ToString::to_string).unwrap_or_default())
}

fn flag(arg: &Arg) -> String {
    let short = arg.get_short().map_or("    ".to_owned(), |short| format!("-{short}, "));
    row(&format!("{short}{arg}"), FLAG, &arg.get_help().map(ToString::to_string).unwrap_or_default())
}

// A name and what it does: the first clauses that fit a line.
fn row(name: &str, names: usize, about: &str) -> String {
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    let room = WIDTH - names - 4;
    let whole = about.trim_end_matches('.');
    let is_closed = |at: usize| about[..at].matches('(').count() == about[..at].matches(')').count();
    let cut = |ends: &[&str]| {
        let ends = ends.iter().flat_map(|end| about.match_indices(end)).map(|(at, _)| at);
        ends.chain([whole.len()]).filter(|&at| at <= room && is_closed(at)).max()
    };
    let fits = cut(&[". ", ": ", "; ", " (", " ["]).or_else(|| cut(&[", "])).unwrap_or(whole.len());
    format!("  {name:names$}  {}\n", &whole[..fits])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_jobs_and_flags_stand_under_headings() {
        let (page, command) = (everything().to_string(), command());
        for job in command.get_subcommands().filter(|job| !job.is_hide_set()) {
            let lines = page.lines().filter(|line| line.split_whitespace().next() == Some(job.get_name()));
            assert_eq!(lines.count(), 1, "{} in\n{page}", job.get_name());
        }
        for (_, names) in GROUPS {
            names.iter().for_each(|name| assert!(command.find_subcommand(name).is_some(), "{name} is no command"));
        }
        let long = command.get_arguments().filter_map(|arg| arg.get_long());
        long.for_each(|flag| assert!(page.contains(&format!("--{flag}")), "--{flag} in\n{page}"));
        for heading in ["Scenes (polyfly COMMAND):", "Device:", "Output:", "Run:", "Exit codes:"] {
            assert!(page.contains(heading), "{heading} in\n{page}");
        }
    }

    #[test]
    fn a_first_day_fits_on_a_screen() {
        let page = first_day();
        assert!(page.lines().count() <= 40, "{} lines:\n{page}", page.lines().count());
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
        assert!(page.lines().all(|line| line.matches('(').count() == line.matches(')').count()), "{page}");
        let command = command();
        for name in FLAGS.iter().copied().flatten() {
            assert!(command.get_arguments().any(|arg| arg.get_id() == name), "{name} is no flag");
        }
        for words in ["--frames <", "-o, --output <", "--draft", "\n  studio ", "polyfly --help"] {
            assert!(page.contains(words), "{words} is missing:\n{page}");
        }
    }
}
