//! `polyfly convert`: a scene in the other grammar.

use super::{output, read_text};
use crate::cli::{ConvertArgs, home};
use crate::error::Error;
use crate::output::files::write_whole;
use crate::report::remark;
use crate::scene::{self, Grammar, Reading, tokens, write};
use std::io::Write;

/// Turns a scene into the other grammar.
pub fn run(args: &ConvertArgs) -> Result<(), Error> {
    let (text, name) = read_text(&args.scene)?;
    let home = home();
    // Paths stay as they are written: no folder is put before them.
    let reading =
        Reading { home: home.as_deref(), solids: args.solids.unwrap_or(tokens::SOLIDS), ..Reading::default() };
    let parsed = scene::parse(&text, &name, reading)?;
    let to = args.to.map(Grammar::from).unwrap_or(match parsed.grammar {
        Grammar::Tokens => Grammar::Toml,
        Grammar::Toml => Grammar::Tokens,
    });
    parsed.warnings.iter().for_each(|w| remark(w));
    let written = match to {
        Grammar::Toml => write::toml(&parsed.scene),
        Grammar::Tokens => write::tokens(&parsed.scene).map_err(Error::Unsayable)?,
    };
    if let (Grammar::Tokens, Some(names)) = (to, write::solids_flag(&parsed.scene)) {
        remark(&format!("the bodies are not the usual three: render these tokens with --solids {names}"));
    }
    match &args.output {
        Some(path) => Ok(write_whole(path, |file| file.write_all(written.as_bytes()))?),
        None => output(&written),
    }
}
