//! Errors of the program and their exit codes, which are those of sysexits.h.

use super::exit::Exit;
use crate::assets::AssetError;
use crate::device::DeviceError;
use crate::error::Error;
use crate::language::{AllLanguages, Language};
use crate::output::OutputError;
use crate::output::store::manifest::ManifestError;
use crate::scene::Problems;
use crate::scene::diagnostic::{Colours, Severity, message};
use crate::scene::suggest::nearest;
use std::io::ErrorKind;
use std::path::Path;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.what(Language::English))]
pub enum Failure {
    /// An error of the library.
    Library(Error),
    /// A signal interrupted a run. `is_temporary`: the sender will try again.
    Interrupted {
        /// What was interrupted.
        error: Error,
        /// Whether the signal was not Ctrl-C.
        is_temporary: bool,
    },
    /// The scene cannot be written in the requested grammar, for these reasons.
    NotExpressible(Vec<AllLanguages>),
    /// The workload manager's program is not installed.
    NoEngine(&'static str),
    /// Compared pictures differ.
    PicturesDiffer(AllLanguages),
    /// Devices render different pictures.
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
        None if why == ErrorKind::IsADirectory => Some(language.name_a_scene(path.join("my.toml").display())),
        None if name.contains('\\') && cfg!(unix) => Some(language.slash_separates()),
        None if why == ErrorKind::NotFound && path.extension().is_some_and(|e| e == "toml" || e == "txt") => {
            Some(language.new_or_sample(name))
        }
        None => None,
    }
}

impl Failure {
    /// An invalid command line.
    pub fn usage(what: impl Fn(Language) -> String) -> Failure {
        Failure::Library(Error::usage(what))
    }

    /// The message for a terminal, with a remedy.
    pub fn shown(&self, language: Language) -> String {
        match self {
            Failure::Library(Error::Scene(problems)) => problems.shown(Severity::Error, Colours::Styled),
            _ => {
                let help = self.help(language);
                message(Severity::Error, &self.what(language), help.as_deref(), Colours::Styled, language)
            }
        }
    }

    // The message in a language.
    fn what(&self, language: Language) -> String {
        match self {
            Failure::Library(error) | Failure::Interrupted { error, .. } => error.shown(language),
            Failure::NotExpressible(reasons) => {
                let lines: Vec<String> = reasons.iter().map(|reason| format!("  - {}", reason.get(language))).collect();
                language.not_as_tokens(lines.join("\n"))
            }
            Failure::NoEngine(name) => language.no_engine(name),
            Failure::PicturesDiffer(what) => what.get(language).to_owned(),
            Failure::DevicesDisagree(list) => language.devices_disagree(list.join("\n")),
        }
    }

    // A remedy, if there is one beyond the message.
    fn help(&self, language: Language) -> Option<String> {
        let error = match self {
            Failure::NoEngine(_) => return Some(language.where_jobs_are_submitted()),
            Failure::Library(error) => error,
            _ => return None,
        };
        let help = match error {
            Error::Misused { help, .. } => help.get(language),
            Error::NotText(..) => return Some(language.writes_a_scene()),
            Error::OtherScene(..) => return Some(language.folder_of_its_own()),
            Error::Device(DeviceError::NotFound(_)) => return Some(language.leave_out_gpu()),
            Error::Outside { .. } => return Some(language.allow_outside()),
            Error::Asset(error) => error.remedy.as_ref()?.get(language),
            Error::Output(OutputError::Write(_, e)) if e.kind() == ErrorKind::PermissionDenied => {
                return Some(language.write_elsewhere());
            }
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
        Error::Device(_) | Error::TooLittleMemory(_) => Exit::Unavailable,
        Error::Output(OutputError::Threads(_) | OutputError::NoEncoder(_)) => Exit::Unavailable,
        Error::Interrupted { .. } | Error::Output(OutputError::VideoInterrupted(_)) => Exit::Interrupted,
        Error::Output(_) | Error::Read(..) => Exit::InputOutput,
        Error::Incomplete(_) => Exit::TryAgain,
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
    use crate::device_scene::TooMany;
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
            OutputError::VideoInterrupted(None).into(),
            OutputError::VideoInterrupted(Some(path())).into(),
            Error::OtherScene(path(), (0..10).map(|i| format!("/{i}")).collect()),
            OutputError::Write(path(), ErrorKind::StorageFull.into()).into(),
            OutputError::Read(path(), ErrorKind::NotFound.into()).into(),
            OutputError::Lock(path(), Duration::from_secs(30)).into(),
            OutputError::FolderTakenOver(path()).into(),
            OutputError::encoder(Language::encoder_gone).reworded(|l, what| l.first_frames_kept(what, 3, "/x")).into(),
            DeviceError::not_found(|l| l.no_such_gpu(1, 0)).into(),
            TooMany { what: AllLanguages::new(Language::bodies), count: 3, limit: 2 }.into(),
            ManifestError::Foreign(path(), "/".into()).into(),
            AssetError::new(&path(), Language::no_particles).into(),
            Error::Outside { scene: "/s".into(), place: "/p".into(), path: path(), file: path(), here_too: true },
        ];
        for error in errors {
            let message = error.to_string();
            let failure = Failure::from(error);
            assert!(failure.shown(Language::English).contains(&message), "{message}");
            let russian = failure.what(Language::Russian);
            let words =
                russian.split([' ', ':', ';', ',']).filter(|word| !word.contains('/') && *word != "manifest.json");
            let english: Vec<&str> = words.filter(|word| word.contains(|c: char| c.is_ascii_alphabetic())).collect();
            assert!(english.is_empty(), "{russian}");
        }
    }
}
