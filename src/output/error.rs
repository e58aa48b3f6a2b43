//! Errors of outputs.

use crate::assets::why_unread;
use crate::language::{AllLanguages, Language};
use crate::quote::reason;
use crate::threads::NoThread;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why frames could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file could not be written.
    Write(PathBuf, std::io::Error),
    /// A file could not be read.
    Read(PathBuf, std::io::Error),
    /// Another process has held a folder's lock for this long.
    Lock(PathBuf, Duration),
    /// Another run has taken over the folder for other frames.
    FolderTakenOver(PathBuf),
    /// ffmpeg was not found.
    NoEncoder(AllLanguages),
    /// An encoder failed. The message includes ffmpeg's last errors.
    Encoder {
        /// What failed.
        what: AllLanguages,
        /// The last errors that ffmpeg printed, or its last lines if it marked none as an error.
        words: String,
    },
    /// The run was canceled when all frames were rendered and the video was not complete. The path is the file with
    /// its beginning.
    VideoInterrupted(Option<PathBuf>),
    /// The system cannot start another thread or process.
    Threads(#[from] NoThread),
    /// A sink outside this crate failed.
    Custom(Box<dyn std::error::Error + Send + Sync>),
}

impl OutputError {
    /// A failure of an encoder that ffmpeg printed nothing about.
    pub(crate) fn encoder(what: impl Fn(Language) -> String) -> OutputError {
        OutputError::Encoder { what: AllLanguages::new(what), words: String::new() }
    }
    pub(crate) fn no_encoder(what: impl Fn(Language) -> String) -> OutputError {
        OutputError::NoEncoder(AllLanguages::new(what))
    }

    /// The message. What ffmpeg says stays as it is.
    pub(crate) fn shown(&self, language: Language) -> String {
        let why = |e: &std::io::Error| match e.kind() {
            ErrorKind::InvalidInput => reason(e),
            ErrorKind::StorageFull if language != Language::English => language.no_space_left(),
            _ => why_unread(language, e),
        };
        match self {
            OutputError::Write(path, e) if e.kind() == ErrorKind::PermissionDenied && !path.exists() => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                language.cannot_write_into(folder.unwrap_or(Path::new(".")).display())
            }
            OutputError::Write(path, e) => language.cannot_write(path.display(), why(e)),
            OutputError::Read(path, e) => language.cannot_read(path.display(), why(e)),
            OutputError::Lock(path, time) => language.folder_is_locked(path.display(), time.as_secs()),
            OutputError::FolderTakenOver(path) => language.folder_taken_over(path.display()),
            OutputError::NoEncoder(what) | OutputError::Threads(NoThread(what)) => what.get(language).to_owned(),
            OutputError::Encoder { what, words } if words.is_empty() => what.get(language).to_owned(),
            OutputError::Encoder { what, words } => {
                format!("{}\n--- {} ---\n{words}", what.get(language), language.ffmpeg_said())
            }
            OutputError::VideoInterrupted(None) => language.video_interrupted(),
            OutputError::VideoInterrupted(Some(path)) => language.video_interrupted_at(path.display()),
            OutputError::Custom(e) => e.to_string(),
        }
    }

    /// Replaces the text of an encoder's failure by a text made from it.
    #[must_use]
    pub(crate) fn reworded(self, words_of: impl Fn(Language, &str) -> String) -> OutputError {
        let changed = |what: &AllLanguages| AllLanguages::new(|l| words_of(l, what.get(l)));
        match self {
            OutputError::Encoder { what, words } => OutputError::Encoder { what: changed(&what), words },
            OutputError::Threads(e) => OutputError::Threads(NoThread(changed(&e.0))),
            other => OutputError::encoder(|l| words_of(l, &other.shown(l))),
        }
    }
}

impl std::fmt::Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown(Language::English))
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
