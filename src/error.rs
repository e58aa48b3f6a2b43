//! The library's error type.

use crate::assets::{AssetError, why_unread};
use crate::device::DeviceError;
use crate::device_scene::TooMany;
use crate::language::{AllLanguages, Language};
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
    Usage(AllLanguages),
    /// An invalid request, with a remedy.
    Misused {
        /// What is wrong.
        what: AllLanguages,
        /// The remedy.
        help: AllLanguages,
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
    TooLittleMemory(AllLanguages),
    /// The folder has frames of another scene.
    OtherScene(PathBuf, Vec<String>),
    /// The scene reads or writes a file outside its folder.
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
    Manifest(ManifestError),
    /// Frames are missing or incomplete.
    Incomplete(AllLanguages),
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

    /// The message in a language. The faults of a scene's text have theirs since they were found.
    pub(crate) fn shown(&self, language: Language) -> String {
        match self {
            Error::Usage(what)
            | Error::Misused { what, .. }
            | Error::TooLittleMemory(what)
            | Error::Incomplete(what) => what.get(language).to_owned(),
            Error::Scene(problems) => problems.to_string(),
            Error::NotText(name, place) => language.not_text(name, place),
            Error::SceneTooLong(name, max) => language.scene_too_long_to_read(name, max),
            Error::Asset(error) => error.shown(language),
            Error::TooMany(error) => error.shown(language),
            Error::Device(error) => error.shown(language),
            Error::OtherScene(folder, places) => other_scene(language, folder, places),
            Error::Outside { scene, place, path, here_too: false, .. } => {
                language.says(scene, language.says(place, language.leads_outside(path.display())))
            }
            Error::Outside { scene, place, path, here_too: true, .. } => {
                language.says(scene, language.says(place, language.leads_outside_both(path.display())))
            }
            Error::Manifest(error) => error.shown(language),
            Error::Output(error) => error.shown(language),
            Error::Read(name, e) => language.cannot_read(name, why_unread(language, e)),
            Error::Interrupted { done, total } => language.run_interrupted(done, language.count_frames(*total)),
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown(Language::English))
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
