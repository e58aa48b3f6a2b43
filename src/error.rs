//! The library's error type.

use crate::assets::{AssetError, why_unread};
use crate::device::DeviceError;
use crate::device_scene::TooMany;
use crate::language::{Message, count, msg};
use crate::output::OutputError;
use crate::output::store::manifest::ManifestError;
use crate::quote::brief;
use crate::scene::Problems;
use std::path::{Path, PathBuf};

/// An error of the library. Messages of runs name the program's flags; the methods of
/// [`RunRequest`](crate::RunRequest) have the same names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is contradictory, or does not fit what exists.
    Usage(Message),
    /// An invalid request, with a remedy.
    Misused {
        /// What is wrong.
        what: Message,
        /// The remedy.
        help: Message,
    },
    /// The scene is invalid.
    Scene(#[from] Box<Problems>),
    /// The scene is not text. The number is the offset of the first invalid byte.
    NotText(String, usize),
    /// The scene is too long. The number is the maximum, bytes.
    SceneTooLong(String, u64),
    /// A file that the scene names is missing or broken.
    Asset(#[from] AssetError),
    /// The scene has more elements than the kernels can count.
    TooMany(#[from] TooMany),
    /// The device does not exist, or all devices have failed.
    Device(#[from] DeviceError),
    /// The run needs more memory than it may take.
    TooLittleMemory(Message),
    /// The folder has frames of another scene.
    OtherScene(PathBuf, Vec<String>),
    /// The scene reads or writes a file outside its folder.
    Outside {
        /// The scene's name.
        scene: String,
        /// The key or token of the path.
        key: String,
        /// The path as messages show it.
        path: PathBuf,
        /// The path as in the scene.
        file: PathBuf,
        /// Whether the working directory is allowed too.
        here_too: bool,
    },
    /// The folder's manifest is invalid.
    Manifest(ManifestError),
    /// Frames are missing or incomplete.
    Incomplete(Message),
    /// Frames or a video could not be written.
    Output(#[from] OutputError),
    /// A file could not be read.
    Read(String, std::io::Error),
    /// The run was canceled.
    Interrupted {
        /// The number of finished frames.
        done: usize,
        /// The number of requested frames.
        total: usize,
    },
}

impl Error {
    /// A wrong request.
    pub(crate) fn usage(what: Message) -> Error {
        Error::Usage(what)
    }

    /// A wrong request with a remedy.
    pub(crate) fn misused(what: Message, help: Message) -> Error {
        Error::Misused { what, help }
    }

    /// Frames that are missing.
    pub(crate) fn incomplete(what: Message) -> Error {
        Error::Incomplete(what)
    }

    /// The message. The faults of a scene's text are in English: `Problems::shown` shows them in a language.
    pub(crate) fn message(&self) -> Message {
        match self {
            Error::Usage(what)
            | Error::Misused { what, .. }
            | Error::TooLittleMemory(what)
            | Error::Incomplete(what) => what.clone(),
            Error::Scene(problems) => Message::text(problems),
            Error::NotText(name, position) => msg!(
                "{name}: byte {position} is not text in UTF-8: is this a picture, or text in another encoding?",
                name,
                position
            ),
            Error::SceneTooLong(name, max) => {
                msg!("{name} is longer than the {max} MiB that a scene may have: is this a scene?", name, max)
            }
            Error::Asset(error) => error.message(),
            Error::TooMany(error) => error.message(),
            Error::Device(error) => error.message(),
            Error::OtherScene(folder, keys) => other_scene(folder, keys),
            Error::Outside { scene, key, path, here_too, .. } => {
                let name = path.display();
                let why = match here_too {
                    false => msg!("{name} leads outside of the scene's folder", name),
                    true => msg!("{name} leads outside of the scene's folder and of this one", name),
                };
                msg!("{what}: {why}", what = scene, why = msg!("{what}: {why}", what = key, why))
            }
            Error::Manifest(error) => error.message(),
            Error::Output(error) => error.message(),
            Error::Read(name, e) => msg!("cannot read {name}: {why}", name, why = why_unread(e)),
            Error::Interrupted { done, total } => msg!(
                "interrupted after {done} of {total}; written files are complete",
                done,
                total = count!(*total, "frame", "frames")
            ),
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.message().fmt(f)
    }
}

/// A folder has frames of another scene, and what differs.
pub(crate) fn other_scene(folder: &Path, keys: &[String]) -> Message {
    msg!("{path} has frames of another scene; what differs: {keys}", path = folder.display(), keys = listed(keys))
}

// The first few, and the number of the rest. They may come from a manifest of anyone, so they are quoted.
fn listed(keys: &[String]) -> Message {
    const SHOWN: usize = 8;
    let first = keys.iter().take(SHOWN).map(|key| brief(key)).collect::<Vec<_>>().join(", ");
    match keys.len() {
        n if n <= SHOWN => Message::text(first),
        n => msg!("{first} and {more} more", first, more = n - SHOWN),
    }
}

impl From<ManifestError> for Error {
    fn from(e: ManifestError) -> Error {
        match e {
            ManifestError::Output(e) => Error::Output(e),
            foreign => Error::Manifest(foreign),
        }
    }
}
