//! The polyfly program: reads the command line, does the job, turns errors into exit codes.

use clap::Parser;
use polyfly::cli::{Cli, Command};
use polyfly::particles::job;
use polyfly::report::remark;
use polyfly::{app, bench, check};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version come here too, on stdout and with success.
            let _ = e.print();
            return if e.use_stderr() { ExitCode::from(64) } else { ExitCode::SUCCESS };
        }
    };
    let result = match (&cli.command, cli.render.default) {
        (Some(Command::Convert(args)), _) => app::convert(args),
        (Some(Command::Verify(args)), _) => check::verify(args),
        (Some(Command::Bench(args)), _) => bench::balance(args),
        (Some(Command::Particles(args)), _) => job::run(args),
        (Some(Command::Doctor), _) => check::doctor(),
        (None, Some(grammar)) => app::print_default(grammar),
        (None, None) => app::render(&cli.render),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            remark(&e.to_string());
            ExitCode::from(e.exit_code())
        }
    }
}
