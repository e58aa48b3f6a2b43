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
mod figure;
pub(crate) mod generate;
mod help;
mod hidden;
mod hint;
mod hints;
mod info;
mod machine;
mod measured;
mod missing;
mod output_file;
mod page;
pub(crate) mod particle_files;
mod particles;
mod plots;
mod preview;
mod reference;
mod render;
mod request;
mod samples;
mod scene_file;
pub(crate) mod shell;
mod stats;
mod stitch;
pub mod stop;
mod studio;
mod table;
mod template;
mod usage;
mod vectors;
mod verify;
mod viewer;

use crate::cli::{Cli, Command, Exit, Failure, choose_language, environment, first_command, json_log, language};
use crate::language::msg;
use crate::report::{LogFormat, be_quiet, close_log, fault, open_log, print, say};
use crate::scene::Grammar;
use crate::scene::builtin::default_scene;
use crate::scene::text::diagnostic::{Colours, Severity, message};
use crate::{system, threads};
use clap::error::ErrorKind;
use std::io::Write;
use std::process::ExitCode;
use usage::Refusal;

/// Parses the command line, runs the command, and turns errors into exit codes.
pub fn main() -> ExitCode {
    stop::listen_early();
    system::search_no_working_folder();
    system::take_own_signals();
    if environment("POLYFLY_TEST_POOLS").is_some() {
        threads::forbid_global_pool();
    }
    let words = system::arguments();
    let json_log = json_log(&words);
    choose_language(&words, json_log.is_some());
    if let Some(pictures_on_stdout) = json_log {
        open_log(LogFormat::Jsonl, pictures_on_stdout);
    }
    let cli = match usage::parse(&words) {
        Ok(cli) => cli,
        Err(Refusal::Fault(what, help)) => {
            fault(&message(Severity::Error, &what, help.as_ref(), Colours::Styled, language()));
            close_log(Exit::Usage as u8, Some(&what.to_string()));
            return ExitCode::from(Exit::Usage as u8);
        }
        // Help and version go to stdout.
        Err(Refusal::Page(e)) => {
            let is_help = e.kind() == ErrorKind::DisplayHelp;
            match first_command(&words) {
                None if is_help && words.iter().any(|word| word == "-h") => drop(print(&help::first_day())),
                None if is_help => drop(write!(anstream::stdout(), "{}", help::everything().ansi())),
                _ => drop(e.print()),
            }
            return ExitCode::SUCCESS;
        }
    };
    if cli.quiet || environment("POLYFLY_QUIET").is_some_and(|v| v != "0") {
        be_quiet();
    }
    let Err(e) = run(cli) else { return ExitCode::SUCCESS };
    fault(&e.shown(language()));
    close_log(e.exit_code() as u8, Some(&e.to_string()));
    ExitCode::from(e.exit_code() as u8)
}

fn run(mut cli: Cli) -> Result<(), Failure> {
    if !matches!(cli.command, None | Some(Command::Stitch(_) | Command::Figure(_))) {
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
        Some(Command::Figure(args)) => figure::run(args),
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
