//! The two grammars of scenes, and the options for parsing them.

use crate::scene::Solid;
use crate::scene::keys::names::names;
use crate::system::slashes;
use std::path::{Path, PathBuf};

/// The two grammars of scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Grammar {
    /// The coursework's token text.
    Tokens,
    /// TOML.
    Toml,
}

names! {
    /// What the keys of film, floor, lamps, sky and shutter hold where a scene does not give them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
    pub enum Look {
        /// As on film: lamps that glow, slim dark bars or bevels, a floor on dark ground, a sky at dusk, soft shadows, motion blur.
        Film = "film",
        /// Flat, as the programs of the coursework.
        Plain = "plain",
        /// Only what the seed of these programs shows: flat, black sky, no shadows and highlights, light clipped at white.
        Bare = "bare",
    }
}

impl Grammar {
    /// Detects the grammar. A text is in tokens if it begins with a number or contains only words; TOML has keys and
    /// tables. Comments are TOML's, unless a number comes before them.
    pub(crate) fn of(text: &str) -> Grammar {
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_number = |line: &str| line.split_whitespace().next().is_some_and(|word| word.parse::<f64>().is_ok());
        let begins_with_number = lines().find(|line| !line.starts_with('#')).is_some_and(is_number);
        let toml = lines().any(|line| {
            (line.starts_with('#') && !begins_with_number)
                || (line.starts_with('[') && line.ends_with(']'))
                || line.split_once('=').is_some_and(|(key, _)| {
                    let key = key.trim();
                    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.\"'".contains(&b))
                })
        });
        if toml { Grammar::Toml } else { Grammar::Tokens }
    }
}

/// The options for parsing a scene.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParseOptions<'a> {
    /// The folder where relative paths in TOML start.
    pub folder: &'a Path,
    /// The home folder, for `~`.
    pub home: Option<&'a Path>,
    /// The three bodies of a token scene.
    pub solids: [Solid; 3],
    /// The look, whatever the scene says of it; None: that of the scene, or of the dialect of its tokens.
    pub look: Option<Look>,
}

impl ParseOptions<'_> {
    /// The order of bodies in the full and the seven-value dialect.
    pub const SOLIDS: [Solid; 3] = [Solid::Hexahedron, Solid::Octahedron, Solid::Icosahedron];

    /// The path of a file name in the scene.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(expand_home(name, self.home))
    }
}

impl Default for ParseOptions<'_> {
    fn default() -> Self {
        ParseOptions { folder: Path::new(""), home: None, solids: Self::SOLIDS, look: None }
    }
}

/// Replaces `~/` by the home folder.
pub(crate) fn expand_home(path: &str, home: Option<&Path>) -> PathBuf {
    let path = slashes(path);
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path.as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::Grammar;

    #[test]
    fn grammars_are_told_apart() {
        assert_eq!(Grammar::of("500\nimg_%d.data\n"), Grammar::Tokens);
        assert_eq!(Grammar::of(""), Grammar::Tokens);
        assert_eq!(Grammar::of("1 a=b/%d.data 3"), Grammar::Tokens);
        assert_eq!(Grammar::of("# x\n600\n# y\nout/%d.data\n"), Grammar::Tokens);
        assert_eq!(Grammar::of("# x\n"), Grammar::Toml);
        assert_eq!(Grammar::of("# x\n[camera]\n"), Grammar::Toml);
        assert_eq!(Grammar::of("frames = 3"), Grammar::Toml);
    }
}
