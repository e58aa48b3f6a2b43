//! Errors of the program and their exit codes, which are those of sysexits.h.

use super::exit::Exit;
use crate::device::DeviceError;
use crate::error::Error;
use crate::language::{Language, Message, msg};
use crate::output::OutputError;
use crate::scene::text::diagnostic::{Colours, Severity, message};
use crate::scene::text::suggest::nearest;
use std::io::ErrorKind;
use std::path::Path;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.message())]
pub enum Failure {
    Library(Error),
    /// A signal interrupted a run. `is_temporary`: the sender will try again.
    Interrupted {
        error: Error,
        /// Whether the signal was not Ctrl-C.
        is_temporary: bool,
    },
    /// The scene cannot be written in the requested grammar, for these reasons.
    NotExpressible(Vec<Message>),
    /// The workload manager's program is not installed.
    NoEngine(&'static str),
    PicturesDiffer(Message),
    DevicesDisagree(Vec<String>),
    /// Frames of a folder or a film are not those of their scene, or of its manifest.
    WrongFrames(Vec<Message>),
}

// A remedy for a file that is not there, or is a folder: a scene of nearly that name, or one in the folder.
fn unreadable(name: &str, why: ErrorKind) -> Option<Message> {
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
        Some(found) if why == ErrorKind::IsADirectory => {
            Some(msg!("this is a folder; give the scene in it: {path}", path = path.join(found).display()))
        }
        Some(found) => Some(msg!("did you mean `{name}`?", name = path.with_file_name(found).display())),
        None if why == ErrorKind::IsADirectory => {
            Some(msg!("this is a folder; name a scene file, such as {path}", path = path.join("my.toml").display()))
        }
        None if name.contains('\\') && cfg!(unix) => Some(msg!("on this system `/` separates folders")),
        None if why == ErrorKind::NotFound && path.extension().is_some_and(|e| e == "toml" || e == "txt") => {
            Some(msg!("`polyfly new {name}` writes a scene to begin with, `polyfly scenes` lists samples", name))
        }
        None => None,
    }
}

impl Failure {
    pub fn usage(what: Message) -> Failure {
        Failure::Library(Error::usage(what))
    }

    /// The message for a page, with the faults of a scene's text where they are.
    pub fn plain(&self, language: Language) -> String {
        match self {
            Failure::Library(Error::Scene(problems)) => problems.shown(Severity::Error, Colours::Plain, language),
            _ => self.message().get(language),
        }
    }

    /// The message for a terminal, with a remedy.
    pub fn shown(&self, language: Language) -> String {
        match self {
            Failure::Library(Error::Scene(problems)) => problems.shown(Severity::Error, Colours::Styled, language),
            _ => {
                let help = self.help();
                message(Severity::Error, &self.message(), help.as_ref(), Colours::Styled, language)
            }
        }
    }

    pub fn message(&self) -> Message {
        match self {
            Failure::Library(error) | Failure::Interrupted { error, .. } => error.message(),
            Failure::NotExpressible(reasons) => {
                let line = |reason: &Message| Message::list([Message::text("  -"), reason.clone()], " ");
                let list = Message::list(reasons.iter().map(line), "\n");
                msg!("this scene cannot be written as tokens:\n{list}", list)
            }
            Failure::NoEngine(name) => msg!("there is no `{name}` here", name),
            Failure::PicturesDiffer(what) => what.clone(),
            Failure::WrongFrames(list) => {
                let line = |fault: &Message| Message::list([Message::text("  -"), fault.clone()], " ");
                msg!("frames are wrong:\n{list}", list = Message::list(list.iter().map(line), "\n"))
            }
            Failure::DevicesDisagree(list) => msg!("devices disagree:\n{list}", list = list.join("\n")),
        }
    }

    // A remedy, if there is one beyond the message.
    fn help(&self) -> Option<Message> {
        let error = match self {
            Failure::NoEngine(_) => {
                return Some(msg!("run this where jobs are submitted, or leave --submit out and take the job there"));
            }
            Failure::Library(error) => error,
            _ => return None,
        };
        Some(match error {
            Error::Misused { help, .. } => help.clone(),
            Error::NotText(..) => msg!("a scene is written in tokens or TOML; `polyfly new my.toml` writes one"),
            Error::OtherScene(..) => {
                msg!("`-o NEW/%04d.png` gives these a folder of their own; --overwrite renders all of them again")
            }
            Error::Device(DeviceError::NotFound(_)) => {
                msg!("leave out --gpu or --devices: the CPU makes the same bytes")
            }
            Error::Outside { .. } => msg!("put it inside, or give --allow-outside if you trust the scene"),
            Error::Asset(error) => return error.remedy.clone(),
            Error::Output(OutputError::Write(_, e)) if e.kind() == ErrorKind::PermissionDenied => {
                msg!("`-o FOLDER/%04d.png` writes frames into another folder")
            }
            Error::Read(name, e) => return unreadable(name, e.kind()),
            _ => return None,
        })
    }

    pub fn exit_code(&self) -> Exit {
        match self {
            Failure::Library(error) => exit_code(error),
            Failure::Interrupted { is_temporary: true, .. } => Exit::TryAgain,
            Failure::Interrupted { .. } => Exit::Interrupted,
            Failure::PicturesDiffer(_) => Exit::Different,
            Failure::NotExpressible(_) => Exit::BadInput,
            Failure::NoEngine(_) => Exit::Unavailable,
            Failure::DevicesDisagree(_) | Failure::WrongFrames(_) => Exit::DevicesDisagree,
        }
    }
}

fn exit_code(error: &Error) -> Exit {
    match error {
        Error::Usage(_) | Error::Misused { .. } => Exit::Usage,
        Error::Scene(_) | Error::NotText(..) | Error::SceneTooLong(..) | Error::Asset(_) | Error::TooMany(_) => {
            Exit::BadInput
        }
        Error::OtherScene(..) | Error::Outside { .. } => Exit::BadInput,
        Error::Output(OutputError::FolderTakenOver(_) | OutputError::ForeignManifest(..)) => Exit::BadInput,
        Error::Device(_) | Error::TooLittleMemory(_) => Exit::Unavailable,
        Error::Output(OutputError::Threads(_) | OutputError::NoEncoder(_)) => Exit::Unavailable,
        Error::Interrupted { .. } | Error::Output(OutputError::VideoInterrupted(_)) => Exit::Interrupted,
        Error::Output(_) | Error::Read(..) => Exit::InputOutput,
        Error::Incomplete(_) => Exit::TryAgain,
    }
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(e: E) -> Failure {
        Failure::Library(e.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::AssetError;
    use crate::device_scene::TooMany;
    use std::path::PathBuf;
    use std::time::Duration;

    // What is left when names, numbers and words of the command line are gone is in one language.
    #[test]
    fn what_a_run_meets_is_told_in_russian_too() {
        let path = || PathBuf::from("/x/42");
        let errors = [
            Error::Incomplete(msg!("{missing} of {all} frames are missing or incomplete", missing = 3, all = 9)),
            Error::Incomplete(msg!("there is no folder {path}", path = "/x")),
            Error::Incomplete(msg!(
                "frames {frames} in {path} are missing or incomplete; no video is made",
                frames = "3-5",
                path = "/x"
            )),
            Error::Interrupted { done: 3, total: 9 },
            OutputError::VideoInterrupted(None).into(),
            OutputError::VideoInterrupted(Some(path())).into(),
            Error::OtherScene(path(), (0..10).map(|i| format!("/{i}")).collect()),
            OutputError::Write(path(), ErrorKind::StorageFull.into()).into(),
            OutputError::Read(path(), ErrorKind::NotFound.into()).into(),
            OutputError::Lock(path(), Duration::from_secs(30)).into(),
            OutputError::FolderTakenOver(path()).into(),
            OutputError::encoder(msg!("the encoder has gone"))
                .reworded(|what| {
                    msg!("{why}; its first {frames} frames are kept in {path}", why = what, frames = 3, path = "/x")
                })
                .into(),
            DeviceError::NotFound(msg!("there is no GPU {number}: this machine has {count}", number = 1, count = 0))
                .into(),
            TooMany { what: msg!("bodies"), count: 3, limit: 2 }.into(),
            OutputError::ForeignManifest(path(), "/".into()).into(),
            AssetError::new(&path(), msg!("it holds no particles")).into(),
            Error::Outside { scene: "/s".into(), key: "/p".into(), path: path(), file: path(), here_too: true },
        ];
        for error in errors {
            let message = error.to_string();
            let failure = Failure::from(error);
            assert!(failure.shown(Language::English).contains(&message), "{message}");
            let russian = failure.message().get(Language::Russian);
            let words =
                russian.split([' ', ':', ';', ',']).filter(|word| !word.contains('/') && *word != "manifest.json");
            let english: Vec<&str> = words.filter(|word| word.contains(|c: char| c.is_ascii_alphabetic())).collect();
            assert!(english.is_empty(), "{russian}");
        }
    }
}
