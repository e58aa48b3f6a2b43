//! `polyfly -h`: what a first day needs, on one screen. The words are those of the flags' and jobs' declarations.

use crate::cli::command;
use clap::{Arg, Command};

const EXAMPLES: &str = "  polyfly new my.toml                              a scene to begin with
  polyfly my.toml --draft --frames 0 -o look.png   one quick picture
  polyfly my.toml --video my.mp4                   its frames, and a film of them
";

const JOBS: &[&str] =
    &["new", "scenes", "check", "explain", "docs", "preview", "studio", "convert", "stitch", "bench", "doctor"];

// Flags under their headings.
const FLAGS: &[&[&str]] = &[
    &["frames", "set", "size", "draft", "is_final", "samples"],
    &["output", "video", "fps"],
    &["dry_run", "resume", "overwrite"],
    &["cpu", "gpu", "threads"],
];

// Columns of the page, and of the names of flags and jobs.
const WIDTH: usize = 100;
const FLAG: usize = 24;
const JOB: usize = 8;

/// The page.
pub fn first_day() -> String {
    let mut command = command();
    command.build();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!("{about}.\n\n{EXAMPLES}\nJobs (polyfly JOB):\n");
    page.extend(JOBS.iter().filter_map(|name| command.find_subcommand(name)).map(job));
    page += "\n";
    for names in FLAGS {
        let flags: Vec<&Arg> =
            names.iter().filter_map(|name| command.get_arguments().find(|arg| arg.get_id() == name)).collect();
        let heading = flags.first().and_then(|arg| arg.get_help_heading()).unwrap_or_default();
        page += &format!("{heading}:\n");
        page.extend(flags.into_iter().map(flag));
    }
    page + "\n`polyfly --help`: all jobs, flags and exit codes. `polyfly explain WORD`: a key, flag or code.\n"
}

fn job(job: &Command) -> String {
    row(job.get_name(), JOB, &job.get_about().map(ToString::to_string).unwrap_or_default())
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
    let cut = |ends: &[&str]| {
        let ends = ends.iter().flat_map(|end| about.match_indices(end)).map(|(at, _)| at);
        ends.chain([whole.len()]).filter(|&at| at <= room).max()
    };
    let fits = cut(&[". ", ": ", "; ", " (", " ["]).or_else(|| cut(&[", "])).unwrap_or(whole.len());
    format!("  {name:names$}  {}\n", &whole[..fits])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_day_fits_on_a_screen() {
        let page = first_day();
        assert!(page.lines().count() <= 40, "{} lines:\n{page}", page.lines().count());
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
        let command = command();
        for name in FLAGS.iter().copied().flatten() {
            assert!(command.get_arguments().any(|arg| arg.get_id() == name), "{name} is no flag");
        }
        for words in ["--frames <", "-o, --output <", "--draft", "\n  studio ", "polyfly --help"] {
            assert!(page.contains(words), "{words} is missing:\n{page}");
        }
    }
}
