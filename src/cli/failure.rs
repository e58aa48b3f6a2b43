//! Errors of the program and their exit codes, which are those of sysexits.h.

use super::exit::Exit;
use crate::assets::AssetError;
use crate::device::DeviceError;
use crate::error::{ALLOW_OUTSIDE, Error};
use crate::output::OutputError;
use crate::output::store::manifest::ManifestError;
use crate::scene::Problems;
use crate::scene::diagnostic::{Colours, Severity, message};
use crate::scene::suggest::nearest;
use std::io::ErrorKind;
use std::path::Path;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An error of the library.
    #[error(transparent)]
    Library(Error),
    /// A signal interrupted a run. `is_temporary`: the sender will try again.
    #[error("{error}")]
    Interrupted {
        /// What was interrupted.
        error: Error,
        /// Whether the signal was not Ctrl-C.
        is_temporary: bool,
    },
    /// The scene cannot be written in the requested grammar.
    #[error("this scene cannot be written as tokens:\n{}", .0.iter().map(|r| format!("  - {r}")).collect::<Vec<_>>().join("\n"))]
    NotExpressible(Vec<String>),
    /// The workload manager's program is not installed.
    #[error("there is no `{0}` here")]
    NoEngine(&'static str),
    /// Compared pictures differ.
    #[error("{0}")]
    PicturesDiffer(String),
    /// Devices render different pictures.
    #[error("devices disagree:\n{}", .0.join("\n"))]
    DevicesDisagree(Vec<String>),
}

// A remedy for a file that is not there, or is a folder: a scene of nearly that name, or one in the folder.
fn unreadable(name: &str, why: ErrorKind) -> Option<String> {
    let path = Path::new(name);
    let folder = if why == ErrorKind::IsADirectory { path } else { path.parent()? };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let files = std::fs::read_dir(folder).ok()?.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let mut scenes: Vec<String> = files.filter(|file| file.ends_with(".toml") || file.ends_with(".txt")).collect();
    scenes.sort_unstable();
    let found = match why {
        ErrorKind::IsADirectory => scenes.first().map(String::as_str),
        ErrorKind::NotFound => nearest(path.file_name()?.to_str()?, scenes.iter().map(String::as_str)),
        _ => None,
    };
    match found {
        Some(found) if why == ErrorKind::IsADirectory => {
            Some(format!("this is a folder; give the scene in it: {}", path.join(found).display()))
        }
        Some(found) => Some(format!("did you mean `{}`?", path.with_file_name(found).display())),
        None if name.contains('\\') && cfg!(unix) => Some("on this system `/` separates folders".into()),
        None => None,
    }
}

impl Failure {
    /// An invalid command line.
    pub fn usage(what: impl Into<String>) -> Failure {
        Failure::Library(Error::Usage(what.into()))
    }

    /// The message for a terminal, with a remedy.
    pub fn shown(&self) -> String {
        match self {
            Failure::Library(Error::Scene(problems)) => problems.shown(Severity::Error, Colours::Styled),
            _ => message(Severity::Error, &self.to_string(), self.help().as_deref(), Colours::Styled),
        }
    }

    /// A remedy, if there is one beyond the message.
    pub fn help(&self) -> Option<String> {
        let error = match self {
            Failure::NoEngine(_) => {
                return Some("run this where jobs are submitted, or leave --submit out and take the job there".into());
            }
            Failure::Library(error) => error,
            _ => return None,
        };
        let help = match error {
            Error::Misused { help, .. } => help,
            Error::NotText(..) => "a scene is written in tokens or TOML; `polyfly new my.toml` writes one",
            Error::OtherScene(..) => "give these a folder of their own, or --overwrite",
            Error::Outside { .. } => ALLOW_OUTSIDE,
            Error::Asset(AssetError { remedy: Some(remedy), .. }) => remedy,
            Error::Read(name, e) => return unreadable(name, e.kind()),
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> Exit {
        match self {
            Failure::Library(error) => exit_code(error),
            Failure::Interrupted { is_temporary: true, .. } => Exit::TryAgain,
            Failure::Interrupted { .. } => Exit::Interrupted,
            Failure::PicturesDiffer(_) => Exit::Different,
            Failure::NotExpressible(_) => Exit::BadInput,
            Failure::NoEngine(_) => Exit::Unavailable,
            Failure::DevicesDisagree(_) => Exit::DevicesDisagree,
        }
    }
}

fn exit_code(error: &Error) -> Exit {
    match error {
        Error::Usage(_) | Error::Misused { .. } => Exit::Usage,
        Error::Scene(_) | Error::NotText(..) | Error::SceneTooLong(..) | Error::Asset(_) | Error::TooMany(_) => {
            Exit::BadInput
        }
        Error::OtherScene(..) | Error::Manifest(_) | Error::Outside { .. } => Exit::BadInput,
        Error::Output(OutputError::FolderTakenOver(_)) => Exit::BadInput,
        Error::Device(_) | Error::Output(OutputError::Threads(_)) => Exit::Unavailable,
        Error::Output(_) | Error::Read(..) => Exit::InputOutput,
        Error::Incomplete(_) => Exit::TryAgain,
        Error::Interrupted { .. } | Error::VideoInterrupted(_) => Exit::Interrupted,
    }
}

macro_rules! failures_of {
    ($($kind:ty),*) => {
        $(impl From<$kind> for Failure {
            fn from(e: $kind) -> Failure {
                Failure::Library(e.into())
            }
        })*
    };
}
failures_of!(Error, Box<Problems>, AssetError, DeviceError, ManifestError, OutputError);

/// An error of the command line, with the arguments of `format!`.
macro_rules! usage {
    ($($words:tt)*) => {
        $crate::cli::Failure::usage(format!($($words)*))
    };
}
pub(crate) use usage;
