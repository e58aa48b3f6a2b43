//! The library's error type.

use crate::assets::AssetError;
use crate::device::DeviceError;
use crate::device_scene::TooMany;
use crate::language::{AllLanguages, Language};
use crate::output::OutputError;
use crate::output::store::manifest::ManifestError;
use crate::quote::{brief, reason};
use crate::scene::Problems;
use std::path::{Path, PathBuf};

/// An error of the library. Messages of runs name the program's flags; the methods of
/// [`RunRequest`](crate::RunRequest) have the same names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is contradictory, or does not fit what exists.
    #[error("{0}")]
    Usage(AllLanguages),
    /// An invalid request, with a remedy.
    #[error("{what}")]
    Misused {
        /// What is wrong.
        what: AllLanguages,
        /// The remedy.
        help: AllLanguages,
    },
    /// The scene is invalid.
    #[error("{0}")]
    Scene(#[from] Box<Problems>),
    /// The scene is not text. The number is the offset of the first invalid byte.
    #[error("{0}: byte {1} is not text: is this a picture?")]
    NotText(String, usize),
    /// The scene is too long. The number is the maximum, bytes.
    #[error("{0} is longer than the {1} MiB that a scene may have: is this a scene?")]
    SceneTooLong(String, u64),
    /// A file that the scene names is missing or broken.
    #[error("{0}")]
    Asset(#[from] AssetError),
    /// The scene has more elements than the kernels can count.
    #[error("{0}")]
    TooMany(#[from] TooMany),
    /// The device does not exist, or all devices have failed.
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// The folder has frames of another scene.
    #[error("{}", other_scene(Language::English, .0, .1))]
    OtherScene(PathBuf, Vec<String>),
    /// The scene reads or writes a file outside its folder.
    #[error(
        "{scene}: {place}: {} leads outside of the scene's folder{}",
        path.display(),
        if *here_too { " and of this one" } else { "" }
    )]
    Outside {
        /// The scene's name.
        scene: String,
        /// The key or token of the path.
        place: String,
        /// The path as messages show it.
        path: PathBuf,
        /// The path as in the scene.
        file: PathBuf,
        /// Whether the working directory is allowed too.
        here_too: bool,
    },
    /// The folder's manifest is invalid.
    #[error("{0}")]
    Manifest(ManifestError),
    /// Frames are missing or incomplete.
    #[error("{0}")]
    Incomplete(AllLanguages),
    /// Frames or a video could not be written.
    #[error("{0}")]
    Output(#[from] OutputError),
    /// A file could not be read.
    #[error("cannot read {}: {}", .0, reason(.1))]
    Read(String, std::io::Error),
    /// The run was canceled.
    #[error("interrupted after {done} of {total} frames; written files are complete")]
    Interrupted {
        /// The number of finished frames.
        done: usize,
        /// The number of requested frames.
        total: usize,
    },
    /// A video of existing frames was canceled. The path is the file with its beginning.
    #[error("interrupted while the video was made{}", .0.as_ref().map_or_else(String::new, |path| {
        format!("; its beginning is in {}", path.display())
    }))]
    VideoInterrupted(Option<PathBuf>),
}

impl Error {
    /// A wrong request, by the table of messages.
    pub(crate) fn usage(what: impl Fn(Language) -> String) -> Error {
        Error::Usage(AllLanguages::new(what))
    }

    /// A wrong request with a remedy, by the table of messages.
    pub(crate) fn misused(what: impl Fn(Language) -> String, help: impl Fn(Language) -> String) -> Error {
        Error::Misused { what: AllLanguages::new(what), help: AllLanguages::new(help) }
    }

    /// Frames that are missing, by the table of messages.
    pub(crate) fn incomplete(what: impl Fn(Language) -> String) -> Error {
        Error::Incomplete(AllLanguages::new(what))
    }
}

/// A folder has frames of another scene, and what differs.
pub(crate) fn other_scene(language: Language, folder: &Path, places: &[String]) -> String {
    language.has_another_scene(folder.display(), listed(language, places))
}

// The first few, and the number of the rest. They may come from a manifest of anyone, so they are quoted.
fn listed(language: Language, places: &[String]) -> String {
    const SHOWN: usize = 8;
    let first = places.iter().take(SHOWN).map(|place| brief(place)).collect::<Vec<_>>().join(", ");
    match places.len() {
        n if n <= SHOWN => first,
        n => language.first_and_more(first, n - SHOWN),
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
