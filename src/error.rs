//! The library's error type.

use crate::assets::{AssetError, why_unread};
use crate::device::DeviceError;
use crate::device_scene::TooMany;
use crate::language::{Message, ToMessage, count, msg};
use crate::output::OutputError;
use crate::quote::brief;
use crate::scene::Problems;
use std::path::PathBuf;

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

    /// A wrong flag, key or file, and why it is wrong.
    pub(crate) fn about(what: impl ToMessage, why: impl ToMessage) -> Error {
        Error::Usage(msg!("{what}: {why}", what, why))
    }

    /// A wrong request with a remedy.
    pub(crate) fn misused(what: Message, help: Message) -> Error {
        Error::Misused { what, help }
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
            Error::OtherScene(folder, keys) => msg!(
                "{path} has frames of another scene; what differs: {keys}",
                path = folder.display(),
                keys = listed(keys)
            ),
            Error::Outside { scene, key, path, here_too, .. } => {
                let why = outside(path.display(), *here_too);
                msg!("{what}: {why}", what = scene, why = msg!("{what}: {why}", what = key, why))
            }
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

/// A path that a scene may not use.
pub(crate) fn outside(name: impl ToMessage, here_too: bool) -> Message {
    match here_too {
        false => msg!("{name} leads outside of the scene's folder", name),
        true => msg!("{name} leads outside of the scene's folder and of this one", name),
    }
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
