//! What can end a job, and the exit code that says so (the numbers are those of sysexits.h).

use crate::assets::AssetError;
use crate::device::DeviceError;
use crate::device_scene::TooMany;
use crate::output::OutputError;
use crate::output::store::manifest::ManifestError;
use crate::quote::brief;
use crate::render::RenderError;
use crate::scene::Problems;
use std::path::PathBuf;

/// Why a job ended early: one variant a room of the house, and its exit code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line makes no sense; exit 64.
    #[error("{0}")]
    Usage(String),
    /// The same, with what to do; exit 64.
    #[error("{what}")]
    Misused {
        /// What is wrong.
        what: String,
        /// What to write instead.
        help: String,
    },
    /// The scene is wrong; exit 65.
    #[error("{0}")]
    Scene(#[from] Box<Problems>),
    /// The scene is no text; exit 65.
    #[error("{0}: byte {1} is no text: is this a picture?")]
    NotText(String, usize),
    /// The scene goes on and on; exit 65.
    #[error("{0} is longer than the {1} MiB that a scene may have: is this a scene?")]
    SceneTooLong(String, u64),
    /// The scene cannot be written in the grammar asked for; exit 65.
    #[error("this scene cannot be written as tokens:\n{}", .0.iter().map(|r| format!("  - {r}")).collect::<Vec<_>>().join("\n"))]
    NotExpressible(Vec<String>),
    /// A file that the scene names is missing or broken; exit 65.
    #[error("{0}")]
    Asset(#[from] AssetError),
    /// The scene has more elements than the kernels count; exit 65.
    #[error("{0}")]
    TooMany(#[from] TooMany),
    /// No such device, or all have failed; exit 69.
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// The program that jobs are handed to is not on this machine; exit 69.
    #[error("there is no `{0}` here")]
    NoEngine(&'static str),
    /// The folder has another scene's frames; exit 65.
    #[error(
        "{} has frames of another scene; what differs: {}",
        .0.display(), listed(.1)
    )]
    OtherScene(PathBuf, Vec<String>),
    /// A scene file reads or writes outside of its folder; exit 65.
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
    /// The folder's manifest is none of ours; exit 65.
    #[error("{0}")]
    Manifest(ManifestError),
    /// Frames are not there, or not whole; exit 75.
    #[error("{0}")]
    Incomplete(String),
    /// Devices disagree; exit 70.
    #[error("devices disagree:\n{}", .0.join("\n"))]
    DevicesDisagree(Vec<String>),
    /// Frames or a video could not be put out; exit 74.
    #[error("{0}")]
    Output(#[from] OutputError),
    /// Something could not be read; exit 74.
    #[error("cannot read {0}: {1}")]
    Read(String, std::io::Error),
    /// It was asked to stop: exit 130, or 75 where whoever asked will try again (SIGTERM).
    #[error("interrupted after {0} of {1} frames; what is written is whole")]
    Interrupted(usize, usize, bool),
    /// The same of a video that was being made of frames that are there; what there is of it.
    #[error("interrupted while the video was made{}", .0.as_ref().map_or_else(String::new, |path| {
        format!("; its beginning is in {}", path.display())
    }))]
    VideoInterrupted(Option<PathBuf>, bool),
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

impl Error {
    /// What to do about it, where there is more to say than what is wrong.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Error::Misused { help, .. } => help,
            Error::NotText(..) => "a scene is written in tokens or TOML; `polyfly --default` prints one",
            Error::NoEngine(_) => "run this where jobs are submitted, or leave --submit out and take the job there",
            Error::OtherScene(..) => "give these a folder of their own, or --overwrite",
            Error::Outside { .. } => ALLOW_OUTSIDE,
            Error::Asset(AssetError { remedy: Some(remedy), .. }) => remedy,
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) | Error::Misused { .. } => 64,
            Error::Scene(_)
            | Error::NotText(..)
            | Error::SceneTooLong(..)
            | Error::NotExpressible(_)
            | Error::Asset(_)
            | Error::TooMany(_) => 65,
            Error::OtherScene(..) | Error::Manifest(_) | Error::Outside { .. } => 65,
            Error::Device(_) | Error::NoEngine(_) | Error::Output(OutputError::Threads(_)) => 69,
            Error::DevicesDisagree(_) => 70,
            Error::Output(OutputError::FolderTakenOver(_)) => 65,
            Error::Output(_) | Error::Read(..) => 74,
            Error::Incomplete(_) | Error::Interrupted(.., true) | Error::VideoInterrupted(_, true) => 75,
            Error::Interrupted(..) | Error::VideoInterrupted(..) => 130,
        }
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

impl From<RenderError> for Error {
    fn from(e: RenderError) -> Error {
        match e {
            RenderError::Asset(e) => Error::Asset(e),
            RenderError::TooMany(e) => Error::TooMany(e),
            RenderError::Device(e) => Error::Device(e),
            RenderError::Output(e) => Error::Output(e),
            RenderError::Interrupted { done, total } => Error::Interrupted(done, total, false),
            e @ RenderError::NoFrame { .. } => Error::Usage(e.to_string()),
        }
    }
}
