//! The scenes that the program brings along.

use super::{Grammar, tokens};
use std::path::Path;

/// The sample scene as people meet it: the coursework's tokens, with lamps, mirrors, glass and a floor.
pub const DEFAULT_TOKENS: &str = include_str!("../../scenes/default.txt");

/// The sample scene in the grammar asked for.
pub fn default_scene(grammar: Grammar) -> String {
    match grammar {
        Grammar::Tokens => DEFAULT_TOKENS.to_owned(),
        Grammar::Toml => match super::parse(DEFAULT_TOKENS, "default.txt", Path::new(""), tokens::SOLIDS) {
            Ok(parsed) => super::write::toml(&parsed.scene),
            // A test renders both, so this is never seen.
            Err(problems) => problems.to_string(),
        },
    }
}
