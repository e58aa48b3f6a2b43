//! Errors of outputs.

use crate::assets::why_unread;
use crate::language::{Message, msg};
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
    /// The folder's manifest is invalid, and why.
    ForeignManifest(PathBuf, String),
    /// ffmpeg was not found.
    NoEncoder(Message),
    /// An encoder failed. The message includes ffmpeg's last errors.
    Encoder {
        /// What failed.
        what: Message,
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
    pub(crate) fn encoder(what: Message) -> OutputError {
        OutputError::Encoder { what, words: String::new() }
    }

    /// The message. What ffmpeg says stays as it is.
    pub(crate) fn message(&self) -> Message {
        let why = |e: &std::io::Error| match e.kind() {
            ErrorKind::InvalidInput => Message::text(reason(e)),
            ErrorKind::StorageFull => msg!("no space is left").in_english(reason(e)),
            _ => why_unread(e),
        };
        match self {
            OutputError::Write(path, e) if e.kind() == ErrorKind::PermissionDenied && !path.exists() => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                msg!(
                    "cannot write into {folder}: permission denied",
                    folder = folder.unwrap_or(Path::new(".")).display()
                )
            }
            OutputError::Write(path, e) => msg!("cannot write {name}: {why}", name = path.display(), why = why(e)),
            OutputError::Read(path, e) => msg!("cannot read {name}: {why}", name = path.display(), why = why(e)),
            OutputError::Lock(path, time) => msg!(
                "another process has held {path} for {seconds} s: it or its machine may be gone",
                path = path.display(),
                seconds = time.as_secs()
            ),
            OutputError::FolderTakenOver(path) => msg!(
                "another run has taken over {path} for another scene: no manifest lists this run's frames there any more",
                path = path.display()
            ),
            OutputError::ForeignManifest(path, why) => msg!(
                "{path} is not polyfly's ({why}); give the frames a folder of their own",
                path = path.display(),
                why
            ),
            OutputError::NoEncoder(what) | OutputError::Threads(NoThread(what)) => what.clone(),
            OutputError::Encoder { what, words } if words.is_empty() => what.clone(),
            OutputError::Encoder { what, words } => {
                let text = |text: &str| Message::text(text);
                let words = format!(" ---\n{words}");
                Message::list([what.clone(), text("\n--- "), msg!("ffmpeg said"), text(&words)], "")
            }
            OutputError::VideoInterrupted(None) => msg!("interrupted while the video was made"),
            OutputError::VideoInterrupted(Some(path)) => {
                msg!("interrupted while the video was made; its beginning is in {path}", path = path.display())
            }
            OutputError::Custom(e) => Message::text(e),
        }
    }

    /// Replaces the text of an encoder's failure by a text made from it.
    #[must_use]
    pub(crate) fn reworded(self, words_of: impl Fn(&Message) -> Message) -> OutputError {
        match self {
            OutputError::Encoder { what, words } => OutputError::Encoder { what: words_of(&what), words },
            OutputError::Threads(e) => OutputError::Threads(NoThread(words_of(&e.0))),
            other => OutputError::encoder(words_of(&other.message())),
        }
    }
}

impl std::fmt::Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.message().fmt(f)
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
