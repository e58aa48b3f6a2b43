//! What is wrong with a file that a scene names.

use crate::language::{Message, msg};
use crate::quote::reason;
use crate::scene::{MapSource, SkySource, TextureSource};
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a file that a scene names cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.message())]
pub struct AssetError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong, in one sentence.
    pub what: Message,
    /// What to do about it, if there is more to say.
    pub remedy: Option<Message>,
}

// Whether a picture of this kind is inside the program.
fn is_builtin(kind: &str, name: &str) -> bool {
    match kind {
        "texture" => TextureSource::BUILTIN.iter().any(|(_, one)| *one == name),
        "sky" => SkySource::BUILTIN.iter().any(|(_, one)| *one == name),
        "relief" => MapSource::BUILTIN.iter().any(|(_, one)| *one == name),
        _ => false,
    }
}

// Whether the name is an address of the web.
fn is_address(path: &Path) -> bool {
    let name = path.to_string_lossy();
    ["http:/", "https:/", "ftp:/"].iter().any(|scheme| name.contains(scheme))
}

impl AssetError {
    pub(crate) fn new(path: &Path, what: Message) -> AssetError {
        AssetError { path: path.to_owned(), what, remedy: None }
    }
    /// A fault of what a program has in place of a file, in its own words.
    pub fn custom(name: impl Into<PathBuf>, what: impl Display) -> AssetError {
        AssetError { path: name.into(), what: Message::text(what), remedy: None }
    }
    /// Adds a remedy.
    pub(crate) fn help(self, remedy: Message) -> AssetError {
        AssetError { remedy: Some(remedy), ..self }
    }
    /// A file that cannot be read.
    pub fn read(kind: &str, path: &Path, e: std::io::Error) -> AssetError {
        let is_missing = matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let error =
            AssetError::new(path, msg!("cannot read the {kind}: {why}", kind = kind_of(kind), why = why_unread(&e)));
        // `dusk`, where `@dusk` is meant.
        let name = path.file_name().map_or_else(String::new, |name| format!("@{}", name.to_string_lossy()));
        match kind {
            _ if is_missing && is_builtin(kind, &name) => error.help(msg!("did you mean `{name}`?", name)),
            _ if is_missing && is_address(path) => {
                error.help(msg!("files are read from this machine only: download it"))
            }
            "texture" if is_missing => error.help(msg!(
                "give another with --texture, or `none`; `--missing-texture stand-in` shows a bright checker instead"
            )),
            "texture" => error.help(msg!("give another with --texture, or `none`")),
            "sky" | "relief" if is_missing => error.help(msg!("`--missing-texture stand-in` renders without it")),
            _ => error,
        }
    }
    /// A file that is not what its name says.
    pub(crate) fn broken(kind: &str, path: &Path, what: Message) -> AssetError {
        AssetError::new(path, msg!("the {kind} is broken: {why}", kind = kind_of(kind), why = what))
    }

    /// The file and what is wrong.
    pub(crate) fn message(&self) -> Message {
        msg!("{what}: {why}", what = self.path.display(), why = self.what)
    }
}

// Why a file cannot be read. In English it is the system's own sentence.
pub(crate) fn why_unread(e: &io::Error) -> Message {
    let folder = msg!("it is a folder");
    let why = match e.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => msg!("there is no such file"),
        ErrorKind::PermissionDenied => msg!("its permissions forbid reading it"),
        ErrorKind::IsADirectory => folder,
        // By source::open_regular.
        ErrorKind::InvalidInput if e.to_string() == folder.to_string() => folder,
        ErrorKind::InvalidInput => msg!("it is a device or a pipe, and not a file"),
        _ => return Message::text(reason(e)),
    };
    why.in_english(reason(e))
}

// The kind of a file that a scene names, for messages.
pub(crate) fn kind_of(kind: &str) -> Message {
    match kind {
        "texture" => msg!("texture"),
        "sky" => msg!("sky"),
        "mesh" => msg!("mesh"),
        "relief" => msg!("map"),
        "particles" => msg!("particles"),
        _ => Message::text(kind),
    }
}
