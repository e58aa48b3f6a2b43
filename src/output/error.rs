//! Errors of outputs.

use crate::language::Language;
use crate::quote::reason;
use crate::threads::NoThread;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why frames could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file could not be written.
    #[error("{}", Language::English.cannot_write(.0.display(), reason(.1)))]
    Write(PathBuf, std::io::Error),
    /// A file could not be read.
    #[error("{}", Language::English.cannot_read(.0.display(), reason(.1)))]
    Read(PathBuf, std::io::Error),
    /// Another process has held a folder's lock for this long.
    #[error("{}", Language::English.folder_is_locked(.0.display(), .1.as_secs()))]
    Lock(PathBuf, Duration),
    /// Another run has taken over the folder for other frames.
    #[error("{}", Language::English.folder_taken_over(.0.display()))]
    FolderTakenOver(PathBuf),
    /// ffmpeg was not found.
    #[error("{0}")]
    NoEncoder(String),
    /// An encoder failed. The message includes all that ffmpeg printed.
    #[error("{what}{}", if words.is_empty() { String::new() } else { format!("\n--- ffmpeg said ---\n{words}") })]
    Encoder {
        /// What failed.
        what: String,
        /// Everything ffmpeg printed.
        words: String,
    },
    /// The system cannot start another thread or process.
    #[error(transparent)]
    Threads(#[from] NoThread),
    /// A sink outside this crate failed.
    #[error("{0}")]
    Custom(Box<dyn std::error::Error + Send + Sync>),
}

impl OutputError {
    /// A failure of an encoder that ffmpeg printed nothing about.
    pub(crate) fn encoder(what: impl Into<String>) -> OutputError {
        OutputError::Encoder { what: what.into(), words: String::new() }
    }

    /// Replaces the text of an encoder's failure by a text made from it.
    #[must_use]
    pub fn reworded(self, words_of: impl FnOnce(&str) -> String) -> OutputError {
        match self {
            OutputError::Encoder { what, words } => OutputError::Encoder { what: words_of(&what), words },
            OutputError::Threads(e) => OutputError::Threads(NoThread(words_of(&e.0))),
            other => OutputError::encoder(words_of(&other.to_string())),
        }
    }
}

/// Adds the path to an I/O error.
pub(crate) trait NameFile<T> {
    fn writing(self, path: &Path) -> Result<T, OutputError>;
    fn reading(self, path: &Path) -> Result<T, OutputError>;
}

impl<T, E: Into<io::Error>> NameFile<T> for Result<T, E> {
    fn writing(self, path: &Path) -> Result<T, OutputError> {
        self.map_err(|e| OutputError::Write(path.to_owned(), e.into()))
    }
    fn reading(self, path: &Path) -> Result<T, OutputError> {
        self.map_err(|e| OutputError::Read(path.to_owned(), e.into()))
    }
}
