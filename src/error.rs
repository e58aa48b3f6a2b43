//! Why the library could not do what was asked of it.

use crate::assets::AssetError;
use crate::device::DeviceError;
use crate::device_scene::TooMany;
use crate::output::OutputError;
use crate::output::store::manifest::ManifestError;
use crate::quote::brief;
use crate::scene::Problems;
use std::path::PathBuf;

/// Why something could not be done. Messages of runs name the program's flags, which the methods of
/// [`RunRequest`](crate::RunRequest) are named after.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What is asked for makes no sense, or does not go together with what exists.
    #[error("{0}")]
    Usage(String),
    /// The same, with what to ask for instead.
    #[error("{what}")]
    Misused {
        /// What is wrong.
        what: String,
        /// What to write instead.
        help: String,
    },
    /// The scene is wrong.
    #[error("{0}")]
    Scene(#[from] Box<Problems>),
    /// The scene is no text.
    #[error("{0}: byte {1} is no text: is this a picture?")]
    NotText(String, usize),
    /// The scene goes on and on.
    #[error("{0} is longer than the {1} MiB that a scene may have: is this a scene?")]
    SceneTooLong(String, u64),
    /// A file that the scene names is missing or broken.
    #[error("{0}")]
    Asset(#[from] AssetError),
    /// The scene has more elements than the kernels count.
    #[error("{0}")]
    TooMany(#[from] TooMany),
    /// No such device, or all have failed.
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// The folder has another scene's frames.
    #[error(
        "{} has frames of another scene; what differs: {}",
        .0.display(), listed(.1)
    )]
    OtherScene(PathBuf, Vec<String>),
    /// A scene file reads or writes outside of its folder.
    #[error(
        "{scene}: {place}: {} leads outside of the scene's folder{}",
        path.display(),
        if *here_too { " and of this one" } else { "" }
    )]
    Outside {
        /// Its name.
        scene: String,
        /// What leads there.
        place: String,
        /// Where to.
        path: PathBuf,
        /// As the scene has it.
        file: PathBuf,
        /// Whether it may lead into the folder that polyfly is run in.
        here_too: bool,
    },
    /// The folder's manifest is none of ours.
    #[error("{0}")]
    Manifest(ManifestError),
    /// Frames are not there, or not whole.
    #[error("{0}")]
    Incomplete(String),
    /// Frames or a video could not be put out.
    #[error("{0}")]
    Output(#[from] OutputError),
    /// Something could not be read.
    #[error("cannot read {0}: {1}")]
    Read(String, std::io::Error),
    /// The run was cancelled.
    #[error("interrupted after {done} of {total} frames; what is written is whole")]
    Interrupted {
        /// Frames that are finished.
        done: usize,
        /// Frames that were wanted.
        total: usize,
    },
    /// A video of existing frames was cancelled; the file that holds its beginning.
    #[error("interrupted while the video was made{}", .0.as_ref().map_or_else(String::new, |path| {
        format!("; its beginning is in {}", path.display())
    }))]
    VideoInterrupted(Option<PathBuf>),
}

// The first few, and how many more. They may come from a manifest that anybody has written.
fn listed(places: &[String]) -> String {
    const SHOWN: usize = 8;
    let first = places.iter().take(SHOWN).map(|place| brief(place)).collect::<Vec<_>>().join(", ");
    match places.len() {
        n if n <= SHOWN => first,
        n => format!("{first} and {} more", n - SHOWN),
    }
}

/// What to do about a path that leads outside.
pub(crate) const ALLOW_OUTSIDE: &str = "put it inside, or give --allow-outside if you trust the scene";

impl From<ManifestError> for Error {
    fn from(e: ManifestError) -> Error {
        match e {
            ManifestError::Output(e) => Error::Output(e),
            foreign => Error::Manifest(foreign),
        }
    }
}
