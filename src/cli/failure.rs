//! Errors of the program and their exit codes, which are those of sysexits.h.

use super::exit::Exit;
use crate::assets::{AssetError, why_unread};
use crate::device::DeviceError;
use crate::error::{Error, other_scene};
use crate::language::Language;
use crate::output::OutputError;
use crate::output::store::manifest::ManifestError;
use crate::quote::reason;
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
fn unreadable(language: Language, name: &str, why: ErrorKind) -> Option<String> {
    let path = Path::new(name);
    let folder = if why == ErrorKind::IsADirectory { path } else { path.parent()? };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let files = std::fs::read_dir(folder).ok()?.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let mut scenes: Vec<String> = files.filter(|file| file.ends_with(".toml") || file.ends_with(".txt")).collect();
    scenes.sort_unstable();
    let found = match why {
        ErrorKind::IsADirectory => scenes.first().map(String::as_str),
        ErrorKind::NotFound => {
            let (wanted, all) = (path.file_name()?.to_str()?, || scenes.iter().map(String::as_str));
            all().find(|scene| scene.eq_ignore_ascii_case(wanted)).or_else(|| nearest(wanted, all()))
        }
        _ => None,
    };
    match found {
        Some(found) if why == ErrorKind::IsADirectory => Some(language.scene_in_folder(path.join(found).display())),
        Some(found) => Some(language.did_you_mean(path.with_file_name(found).display())),
        None if name.contains('\\') && cfg!(unix) => Some(language.slash_separates()),
        None if why == ErrorKind::NotFound && path.extension().is_some_and(|e| e == "toml" || e == "txt") => {
            Some(language.new_or_sample(name))
        }
        None => None,
    }
}

// A failure of an output in a language; None for one that an encoder or another program words.
fn unwritten(language: Language, error: &OutputError) -> Option<String> {
    let why = |e: &std::io::Error| match e.kind() {
        ErrorKind::InvalidInput => reason(e),
        ErrorKind::StorageFull if language != Language::English => language.no_space_left(),
        _ => why_unread(language, e),
    };
    Some(match error {
        OutputError::Write(path, e) => language.cannot_write(path.display(), why(e)),
        OutputError::Read(path, e) => language.cannot_read(path.display(), why(e)),
        OutputError::Lock(path, time) => language.folder_is_locked(path.display(), time.as_secs()),
        OutputError::FolderTakenOver(path) => language.folder_taken_over(path.display()),
        _ => return None,
    })
}

impl Failure {
    /// An invalid command line.
    pub fn usage(what: impl Fn(Language) -> String) -> Failure {
        Failure::Library(Error::usage(what))
    }

    /// The message for a terminal, with a remedy. Messages about a file of a scene and about command lines have several languages.
    pub fn shown(&self, language: Language) -> String {
        match self {
            Failure::Library(Error::Scene(problems)) => problems.shown(Severity::Error, Colours::Styled),
            _ => {
                let (what, language) = match self.translated(language) {
                    Some(what) => (what, language),
                    None => (self.to_string(), Language::English),
                };
                message(Severity::Error, &what, self.help(language).as_deref(), Colours::Styled, language)
            }
        }
    }

    // The message in a language; None for those of devices, encoders and broken manifests, which are in one language.
    fn translated(&self, language: Language) -> Option<String> {
        let (Failure::Library(error) | Failure::Interrupted { error, .. }) = self else { return None };
        Some(match error {
            Error::Usage(what) | Error::Misused { what, .. } | Error::Incomplete(what) => what.get(language).to_owned(),
            Error::OtherScene(folder, places) => other_scene(language, folder, places),
            Error::Output(error) => return unwritten(language, error),
            Error::NotText(name, place) => language.not_text(name, place),
            Error::SceneTooLong(name, max) => language.scene_too_long_to_read(name, max),
            Error::Read(name, e) => language.cannot_read(name, why_unread(language, e)),
            Error::Asset(error) => error.shown(language),
            Error::Interrupted { done, total } => language.run_interrupted(done, total),
            Error::VideoInterrupted(None) => language.video_interrupted(),
            Error::VideoInterrupted(Some(path)) => language.video_interrupted_at(path.display()),
            _ => return None,
        })
    }

    // A remedy, if there is one beyond the message.
    fn help(&self, language: Language) -> Option<String> {
        let error = match self {
            Failure::NoEngine(_) => {
                return Some("run this where jobs are submitted, or leave --submit out and take the job there".into());
            }
            Failure::Library(error) => error,
            _ => return None,
        };
        let help = match error {
            Error::Misused { help, .. } => help.get(language),
            Error::NotText(..) => return Some(language.writes_a_scene()),
            Error::OtherScene(..) => return Some(language.folder_of_its_own()),
            Error::Outside { .. } => return Some(language.allow_outside()),
            Error::Asset(error) => error.in_language(language).1?,
            Error::Read(name, e) => return unreadable(language, name, e.kind()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::time::Duration;

    // What is left when names, numbers and words of the command line are gone is in one language.
    #[test]
    fn what_a_run_meets_is_told_in_russian_too() {
        let path = || PathBuf::from("/x/42");
        let errors = [
            Error::incomplete(|l| l.frames_to_render(3, 9)),
            Error::incomplete(|l| l.no_folder_of_frames("/x")),
            Error::incomplete(|l| l.no_video_of_gaps("3-5", "/x")),
            Error::Interrupted { done: 3, total: 9 },
            Error::VideoInterrupted(None),
            Error::VideoInterrupted(Some(path())),
            Error::OtherScene(path(), (0..10).map(|i| format!("/{i}")).collect()),
            OutputError::Write(path(), ErrorKind::StorageFull.into()).into(),
            OutputError::Read(path(), ErrorKind::NotFound.into()).into(),
            OutputError::Lock(path(), Duration::from_secs(30)).into(),
            OutputError::FolderTakenOver(path()).into(),
        ];
        for error in errors {
            let message = error.to_string();
            let failure = Failure::from(error);
            assert!(failure.shown(Language::English).contains(&message), "{message}");
            let russian = failure.translated(Language::Russian).unwrap();
            let words =
                russian.split([' ', ':', ';', ',']).filter(|word| !word.contains('/') && *word != "manifest.json");
            let english: Vec<&str> = words.filter(|word| word.contains(|c: char| c.is_ascii_alphabetic())).collect();
            assert!(english.is_empty(), "{russian}");
        }
    }
}
