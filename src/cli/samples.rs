//! Flags of `new` and `scenes`.

use crate::scene::builtin::{Builtin, SAMPLES, TEMPLATES};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct NewArgs {
    /// The file to write: .toml, or .txt for the coursework's tokens; `-` for stdout.
    pub file: PathBuf,
    /// The scene to begin with [default: infinity; for .txt coursework]
    #[arg(long, value_name = "NAME", value_parser = names(TEMPLATES, Builtin::about))]
    pub template: Option<String>,
    /// Replace existing files.
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Args, Debug)]
pub struct ScenesArgs {
    #[command(subcommand)]
    pub command: Option<ScenesCommand>,
}

/// What to do with a sample.
#[derive(Subcommand, Debug)]
pub enum ScenesCommand {
    /// Writes a sample, and the files that it reads, into the working folder.
    Copy {
        /// The sample.
        #[arg(value_parser = names(SAMPLES, |_| String::new()), hide_possible_values = true)]
        name: String,
        /// The file to write, or a folder that exists [default: NAME.toml; in tokens NAME.txt]
        file: Option<PathBuf>,
        /// Replace existing files.
        #[arg(long)]
        overwrite: bool,
    },
    /// Prints a sample.
    Show {
        /// The sample.
        #[arg(value_parser = names(SAMPLES, |_| String::new()), hide_possible_values = true)]
        name: String,
    },
}

// The names of scenes as values of a flag, with what help says of each.
fn names(scenes: &[Builtin], help: impl Fn(&Builtin) -> String) -> PossibleValuesParser {
    PossibleValuesParser::new(scenes.iter().map(|scene| PossibleValue::new(scene.name()).help(help(scene))))
}
