//! The program's commands, one per file, and what they share. Only `command`, `cli` and `report` use the environment,
//! standard streams and signals.

mod balance;
mod bench;
mod check;
mod clip;
pub(crate) mod compare;
mod convert;
mod denoiser;
mod docs;
mod doctor;
mod dry_run;
pub(crate) mod explain;
mod farm;
pub(crate) mod generate;
mod help;
mod hidden;
mod hint;
mod hints;
mod machine;
mod measured;
mod missing;
mod output_file;
mod page;
mod particles;
mod plots;
mod preview;
mod reference;
mod render;
mod request;
mod samples;
mod scene_file;
pub(crate) mod shell;
mod stitch;
pub mod stop;
mod studio;
mod table;
mod template;
mod usage;
mod verify;
mod viewer;

use crate::cli::{Cli, Command, Exit, Failure, choose_language, environment, language, names_language};
use crate::language::msg;
use crate::report::{be_quiet, end_before_start, fault, print, say, set_language};
use crate::scene::Grammar;
use crate::scene::builtin::default_scene;
use crate::scene::text::diagnostic::{Colours, Severity, message};
use crate::{system, threads};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use usage::Help;

/// Parses the command line, runs the command, and turns errors into exit codes.
pub fn main() -> ExitCode {
    stop::listen_early();
    system::search_no_working_folder();
    system::take_own_signals();
    if environment("POLYFLY_TEST_POOLS").is_some() {
        threads::forbid_global_pool();
    }
    let all = system::arguments();
    let (words, is_quiet) = without_common(all.clone());
    if is_quiet || environment("POLYFLY_QUIET").is_some_and(|v| v != "0") {
        be_quiet();
    }
    choose_language(&all, usage::json_log(&words).is_some());
    set_language(language());
    let cli = match usage::parse(&words) {
        Ok(cli) => cli,
        Err(e) if e.use_stderr() => {
            let (what, help) = usage::translate_error(&e, &words);
            fault(&message(Severity::Error, &what, help.as_ref(), Colours::Styled, language()));
            if let Some(pictures_on_stdout) = usage::json_log(&words) {
                end_before_start(pictures_on_stdout, Exit::Usage as u8, Some(&what.to_string()));
            }
            return ExitCode::from(Exit::Usage as u8);
        }
        // Help and version go to stdout.
        Err(e) => {
            match usage::asked_help(&e, &words) {
                Some(Help::FirstDay) => drop(print(&help::first_day())),
                Some(Help::Everything) => {
                    let _ = write!(anstream::stdout(), "{}", help::everything().ansi());
                }
                None => drop(e.print()),
            }
            return ExitCode::SUCCESS;
        }
    };
    let Err(e) = run(cli) else { return ExitCode::SUCCESS };
    fault(&e.shown(language()));
    if let Some(pictures_on_stdout) = usage::json_log(&words) {
        end_before_start(pictures_on_stdout, e.exit_code() as u8, Some(&e.to_string()));
    }
    ExitCode::from(e.exit_code() as u8)
}

fn run(mut cli: Cli) -> Result<(), Failure> {
    if !matches!(cli.command, None | Some(Command::Stitch(_))) {
        stop::end_at_once();
    }
    match &cli.command {
        Some(Command::New(args)) => samples::new(args),
        Some(Command::Scenes(args)) => samples::run(args),
        Some(Command::Docs(args)) => docs::run(args),
        Some(Command::Convert(args)) => convert::run(args),
        Some(Command::Compare(args)) => compare::run(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Preview(args)) => preview::run(args),
        Some(Command::Studio(args)) => studio::run(args),
        Some(Command::Verify(args)) => verify::run(args),
        Some(Command::Bench(args)) if args.balance => balance::run(args),
        Some(Command::Bench(args)) if args.clip => clip::run(args),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Particles(args)) => particles::run(args),
        Some(Command::Doctor(args)) => doctor::run(args),
        Some(Command::Missing(args)) => missing::run(args),
        Some(Command::Stitch(args)) => stitch::run(args),
        Some(Command::Status(args)) => missing::status(args),
        Some(Command::Report(args)) => page::run(args),
        Some(Command::Farm(args)) => farm::run(args),
        Some(Command::Explain(args)) => explain::run(args),
        Some(Command::Completions(args)) => Ok(print(&shell::completions(args.shell))?),
        Some(Command::Man) => Ok(print(&shell::manual())?),
        Some(Command::Schema) => Ok(print(&shell::schema())?),
        Some(Command::Reference(args)) => Ok(print(&reference::page(args.page))?),
        None => {
            cli.render.take_defaults(environment)?;
            match cli.render.default {
                Some(grammar) => {
                    let look = cli.render.changes.asked_look();
                    if let (Grammar::Tokens, Some(look)) = (grammar, look) {
                        say(msg!(
                            "tokens do not say how they look: render these with --look {look}",
                            look = look.name()
                        ));
                    }
                    Ok(print(&default_scene(grammar, look))?)
                }
                None => render::run(&cli.render),
            }
        }
    }
}

// Removes flags that may stand anywhere: -q and --quiet, also in front of another short flag as in `-qo FILE`, and --lang with a
// language. Returns whether quiet is asked for.
fn without_common(mut words: Vec<OsString>) -> (Vec<OsString>, bool) {
    let (mut is_quiet, mut is_flag) = (false, true);
    for at in (1..words.len().saturating_sub(1)).rev() {
        let is_behind = words[..at].iter().any(|word| word == "--");
        if !is_behind && words[at] == "--lang" && names_language(&words[at + 1]) {
            words.drain(at..at + 2);
        }
    }
    words.retain_mut(|word| {
        is_flag &= word != "--";
        if is_flag
            && word.to_str().and_then(|word| word.strip_prefix("--lang=")).is_some_and(|l| names_language(l.as_ref()))
        {
            return false;
        }
        // `-quiet` is a long flag that lacks a dash.
        let rest = word.to_str().filter(|_| is_flag).and_then(|word| word.strip_prefix("-q"));
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['o', 'h', 'V'])).map(str::to_owned);
        is_quiet |= rest.is_some() || is_flag && word == "--quiet";
        match rest.as_deref() {
            Some("") => return false,
            Some(rest) => *word = format!("-{rest}").into(),
            None => {}
        }
        !(is_flag && word == "--quiet")
    });
    (words, is_quiet)
}

#[cfg(test)]
#[test]
fn quiet_and_the_language_may_stand_anywhere() {
    let of = |line: &str| {
        let (words, is_quiet) = without_common(line.split(' ').map(OsString::from).collect());
        (words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "), is_quiet)
    };
    for (line, rest, is_quiet) in [
        ("p s.toml -q", "p s.toml", true),
        ("p --quiet s.toml", "p s.toml", true),
        ("p s.toml -qo m/%d.png", "p s.toml -o m/%d.png", true),
        ("p --lang ru check s.toml", "p check s.toml", false),
        ("p scenes --lang=en copy cube", "p scenes copy cube", false),
        ("p s.toml --lang klingon", "p s.toml --lang klingon", false),
        ("p s.toml --lang", "p s.toml --lang", false),
        ("p farm commands s.toml -- --lang ru", "p farm commands s.toml -- --lang ru", false),
        ("p s.toml --samples 2", "p s.toml --samples 2", false),
        ("p s.toml -quiet", "p s.toml -quiet", false),
        ("p farm commands s.toml -- -q", "p farm commands s.toml -- -q", false),
    ] {
        assert_eq!(of(line), (rest.to_owned(), is_quiet));
    }
}
