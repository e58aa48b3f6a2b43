//! What may go wrong on the way out.

use crate::threads::NoThread;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why frames could not be put out.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file.
    #[error("cannot write {0}: {1}")]
    Write(PathBuf, std::io::Error),
    /// A file that a run looks at again.
    #[error("cannot read {0}: {1}")]
    Read(PathBuf, std::io::Error),
    /// Another process holds a folder's lock, for so long already.
    #[error("another process has held {} for {} s: is it stopped, or its machine gone?", .0.display(), .1.as_secs())]
    Lock(PathBuf, Duration),
    /// Another run has begun other frames in the folder, in the place of these.
    #[error(
        "another run has taken {} over for other frames: this one stops, and what it had there is no longer vouched for",
        .0.display()
    )]
    FolderTakenOver(PathBuf),
    /// ffmpeg is not there.
    #[error("{0}")]
    NoEncoder(String),
    /// An encoder failed; ffmpeg's own words follow.
    #[error("{what}{}", if words.is_empty() { String::new() } else { format!("\n--- ffmpeg said ---\n{words}") })]
    Encoder {
        /// What happened.
        what: String,
        /// Everything ffmpeg printed.
        words: String,
    },
    /// The system starts no more threads or processes.
    #[error(transparent)]
    Threads(#[from] NoThread),
    /// A sink outside of this crate failed.
    #[error("{0}")]
    Custom(Box<dyn std::error::Error + Send + Sync>),
}

impl OutputError {
    /// An encoder failed, and ffmpeg has said nothing of it.
    pub(crate) fn encoder(what: impl Into<String>) -> OutputError {
        OutputError::Encoder { what: what.into(), words: String::new() }
    }

    /// The same with other words for what happened, made of those it had.
    #[must_use]
    pub fn reworded(self, words_of: impl FnOnce(&str) -> String) -> OutputError {
        match self {
            OutputError::Encoder { what, words } => OutputError::Encoder { what: words_of(&what), words },
            OutputError::Threads(e) => OutputError::Threads(NoThread(words_of(&e.0))),
            other => OutputError::encoder(words_of(&other.to_string())),
        }
    }
}

/// Names the file that could not be written or read.
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
