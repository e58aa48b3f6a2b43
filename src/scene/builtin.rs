//! The built-in scenes.

use super::{Grammar, ParseOptions, Scene};

/// The sample scene in the coursework's tokens: lamps, mirrors, glass and a floor.
pub const DEFAULT_TOKENS: &str = include_str!("../../scenes/default.txt");

impl Scene {
    /// The sample scene that `polyfly --default` prints.
    pub fn sample() -> Scene {
        // A test parses it, so the default is never used.
        super::parse(DEFAULT_TOKENS, "default.txt", ParseOptions::default()).map(|p| p.scene).unwrap_or_default()
    }
}

/// The sample scene in this grammar.
pub fn default_scene(grammar: Grammar) -> String {
    match grammar {
        Grammar::Tokens => DEFAULT_TOKENS.to_owned(),
        Grammar::Toml => Scene::sample().to_toml(),
    }
}
