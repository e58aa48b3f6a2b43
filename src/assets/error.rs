//! What is wrong with a file that a scene names.

use crate::language::{AllLanguages, Language};
use crate::quote::reason;
use crate::scene::{MapSource, SkySource, TextureSource};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a file that a scene names cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.shown(Language::English))]
pub struct AssetError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong, in one sentence.
    pub what: AllLanguages,
    /// What to do about it, if there is more to say.
    pub remedy: Option<AllLanguages>,
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
    pub(crate) fn new(path: &Path, what: impl Fn(Language) -> String) -> AssetError {
        AssetError { path: path.to_owned(), what: AllLanguages::new(what), remedy: None }
    }
    /// Adds a remedy.
    pub(crate) fn help(self, remedy: impl Fn(Language) -> String) -> AssetError {
        AssetError { remedy: Some(AllLanguages::new(remedy)), ..self }
    }
    /// A file that cannot be read.
    pub fn read(kind: &str, path: &Path, e: std::io::Error) -> AssetError {
        let is_missing = matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let error = AssetError::new(path, |l| l.cannot_read_asset(l.kind(kind), why_unread(l, &e)));
        // `dusk`, where `@dusk` is meant.
        let name = path.file_name().map_or_else(String::new, |name| format!("@{}", name.to_string_lossy()));
        match kind {
            _ if is_missing && is_builtin(kind, &name) => error.help(|l| l.did_you_mean(&name)),
            _ if is_missing && is_address(path) => error.help(Language::no_download),
            "texture" if is_missing => error.help(Language::give_another_or_stand_in),
            "texture" => error.help(Language::give_another),
            "sky" | "relief" if is_missing => error.help(Language::renders_without_it),
            _ => error,
        }
    }
    /// A file that is not what its name says.
    pub(crate) fn broken(kind: &str, path: &Path, what: impl Fn(Language) -> String) -> AssetError {
        AssetError::new(path, |language| language.is_broken(language.kind(kind), what(language)))
    }

    /// The file and what is wrong.
    pub(crate) fn shown(&self, language: Language) -> String {
        format!("{}: {}", self.path.display(), self.what.get(language))
    }
}

// Why a file cannot be read. In English it is the system's own sentence.
pub(crate) fn why_unread(language: Language, e: &io::Error) -> String {
    match (language, e.kind()) {
        (Language::English, _) => reason(e),
        (_, ErrorKind::NotFound | ErrorKind::NotADirectory) => language.not_found(),
        (_, ErrorKind::PermissionDenied) => language.not_permitted(),
        (_, ErrorKind::IsADirectory) => language.is_a_folder(),
        // By source::open_regular.
        (_, ErrorKind::InvalidInput) if e.to_string() == Language::English.is_a_folder() => language.is_a_folder(),
        (_, ErrorKind::InvalidInput) => language.no_regular_file(),
        _ => reason(e),
    }
}
