//! Why the program ends, and the exit code that says so (the numbers are those of sysexits.h).

use crate::assets::AssetError;
use crate::device::DeviceError;
use crate::error::{ALLOW_OUTSIDE, Error};
use crate::output::OutputError;
use crate::output::store::manifest::ManifestError;
use crate::scene::Problems;

/// Why a job of the program ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// What the library could not do.
    #[error(transparent)]
    Library(Error),
    /// A run was interrupted by a signal; `is_temporary`: whoever sent it will try again.
    #[error("{error}")]
    Interrupted {
        /// What was interrupted.
        error: Error,
        /// It was no Ctrl-C.
        is_temporary: bool,
    },
    /// The scene cannot be written in the grammar asked for.
    #[error("this scene cannot be written as tokens:\n{}", .0.iter().map(|r| format!("  - {r}")).collect::<Vec<_>>().join("\n"))]
    NotExpressible(Vec<String>),
    /// The program that jobs are handed to is not on this machine.
    #[error("there is no `{0}` here")]
    NoEngine(&'static str),
    /// Devices disagree.
    #[error("devices disagree:\n{}", .0.join("\n"))]
    DevicesDisagree(Vec<String>),
}

impl Failure {
    /// A command line that makes no sense.
    pub fn usage(what: impl Into<String>) -> Failure {
        Failure::Library(Error::Usage(what.into()))
    }

    /// What to do about it, where there is more to say than what is wrong.
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
            Error::NotText(..) => "a scene is written in tokens or TOML; `polyfly --default` prints one",
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
            Failure::Library(error) => exit_code(error),
            Failure::Interrupted { is_temporary: true, .. } => 75,
            Failure::Interrupted { .. } => 130,
            Failure::NotExpressible(_) => 65,
            Failure::NoEngine(_) => 69,
            Failure::DevicesDisagree(_) => 70,
        }
    }
}

fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Usage(_) | Error::Misused { .. } => 64,
        Error::Scene(_) | Error::NotText(..) | Error::SceneTooLong(..) | Error::Asset(_) | Error::TooMany(_) => 65,
        Error::OtherScene(..) | Error::Manifest(_) | Error::Outside { .. } => 65,
        Error::Output(OutputError::FolderTakenOver(_)) => 65,
        Error::Device(_) | Error::Output(OutputError::Threads(_)) => 69,
        Error::Output(_) | Error::Read(..) => 74,
        Error::Incomplete(_) => 75,
        Error::Interrupted { .. } | Error::VideoInterrupted(_) => 130,
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

/// A command line that makes no sense: what is wrong, as of `format!`.
macro_rules! usage {
    ($($words:tt)*) => {
        $crate::cli::Failure::usage(format!($($words)*))
    };
}
pub(crate) use usage;
