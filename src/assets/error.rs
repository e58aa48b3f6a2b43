//! What is wrong with a file that a scene names.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Why a file that a scene names cannot be used.
#[derive(Debug, thiserror::Error)]
pub struct AssetError {
    /// Which file.
    pub path: PathBuf,
    /// The byte, line or column where it stops making sense, if it has one.
    pub at: Option<String>,
    /// What is wrong, in one sentence.
    pub what: String,
    /// What to do about it, if there is more to say.
    pub remedy: Option<String>,
}

impl AssetError {
    pub(crate) fn new(path: &Path, what: impl Into<String>) -> AssetError {
        AssetError { path: path.to_owned(), at: None, what: what.into(), remedy: None }
    }
    /// A file that cannot be read.
    pub fn read(kind: &str, path: &Path, e: std::io::Error) -> AssetError {
        let is_missing = matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let remedy = match kind {
            "texture" if is_missing => Some(
                "give another with --texture, or `none`; `--missing-texture stand-in` shows a bright checker instead",
            ),
            "texture" => Some("give another with --texture, or `none`"),
            "sky" | "relief" if is_missing => Some("`--missing-texture stand-in` renders without it"),
            _ => None,
        };
        let remedy = remedy.map(str::to_owned);
        AssetError { remedy, ..AssetError::new(path, format!("cannot read the {kind}: {e}")) }
    }
    /// A file that is not what its name says.
    pub fn broken(kind: &str, path: &Path, what: impl std::fmt::Display) -> AssetError {
        AssetError::new(path, format!("the {kind} is broken: {what}"))
    }
    /// The same with a place in it.
    pub fn broken_at(path: &Path, at: impl Into<String>, what: impl Into<String>) -> AssetError {
        AssetError { at: Some(at.into()), ..AssetError::new(path, what) }
    }
}

impl std::fmt::Display for AssetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        write!(f, "{}", self.what)
    }
}
