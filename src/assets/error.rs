//! What is wrong with a file that a scene names.

use crate::language::{AllLanguages, Language};
use crate::quote::reason;
use crate::scene::{MapSource, SkySource, TextureSource};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why a file that a scene names cannot be used.
#[derive(Debug, thiserror::Error)]
pub struct AssetError {
    /// Which file.
    pub path: PathBuf,
    /// The byte, line or column where it stops making sense, if it has one.
    pub at: Option<String>,
    /// What is wrong, in one sentence.
    pub what: String,
    /// What to do about it, if there is more to say.
    pub remedy: Option<String>,
    // The same two in all languages, of files that a scene in tokens may name.
    pub(crate) translated: Option<Box<Translations>>,
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

/// What is wrong, and the remedy, in all languages.
#[derive(Debug)]
pub(crate) struct Translations {
    what: AllLanguages,
    remedy: Option<AllLanguages>,
}

// Whether the name is an address of the web.
fn is_address(path: &Path) -> bool {
    let name = path.to_string_lossy();
    ["http:/", "https:/", "ftp:/"].iter().any(|scheme| name.contains(scheme))
}

impl AssetError {
    pub(crate) fn new(path: &Path, what: impl Into<String>) -> AssetError {
        AssetError { path: path.to_owned(), at: None, what: what.into(), remedy: None, translated: None }
    }
    // An error in all languages.
    pub(crate) fn translated(
        path: &Path,
        what: impl Fn(Language) -> String,
        remedy: Option<&dyn Fn(Language) -> String>,
    ) -> AssetError {
        let (what, remedy) = (AllLanguages::new(what), remedy.map(AllLanguages::new));
        let english = |text: &AllLanguages| text.get(Language::English).to_owned();
        let (own, remedy_in_english) = (english(&what), remedy.as_ref().map(english));
        let translated = Some(Box::new(Translations { what, remedy }));
        AssetError { remedy: remedy_in_english, translated, ..AssetError::new(path, own) }
    }
    /// A file that cannot be read.
    pub fn read(kind: &str, path: &Path, e: std::io::Error) -> AssetError {
        let is_missing = matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let what = |language: Language| language.cannot_read_asset(language.kind(kind), why_unread(language, &e));
        // `dusk`, where `@dusk` is meant.
        let name = path.file_name().map_or_else(String::new, |name| format!("@{}", name.to_string_lossy()));
        let meant = |language: Language| language.did_you_mean(&name);
        let remedy: Option<&dyn Fn(Language) -> String> = match kind {
            _ if is_missing && is_builtin(kind, &name) => Some(&meant),
            _ if is_missing && is_address(path) => Some(&Language::no_download),
            "texture" if is_missing => Some(&Language::give_another_or_stand_in),
            "texture" => Some(&Language::give_another),
            "sky" | "relief" if is_missing => Some(&Language::renders_without_it),
            _ => None,
        };
        AssetError::translated(path, what, remedy)
    }
    /// A file that is not what its name says.
    pub fn broken(kind: &str, path: &Path, what: impl std::fmt::Display) -> AssetError {
        AssetError::new(path, Language::English.is_broken(kind, what))
    }
    pub(crate) fn broken_in_all(kind: &str, path: &Path, what: impl Fn(Language) -> String) -> AssetError {
        AssetError::translated(path, |language| language.is_broken(language.kind(kind), what(language)), None)
    }
    /// The same with a place in it.
    pub fn broken_at(path: &Path, at: impl Into<String>, what: impl Into<String>) -> AssetError {
        AssetError { at: Some(at.into()), ..AssetError::new(path, what) }
    }

    /// File, place and what is wrong.
    pub(crate) fn shown(&self, language: Language) -> String {
        let at = self.at.as_ref().map_or_else(String::new, |at| format!("{at}: "));
        format!("{}: {at}{}", self.path.display(), self.in_language(language).0)
    }

    /// What is wrong, and what to do about it.
    pub(crate) fn in_language(&self, language: Language) -> (&str, Option<&str>) {
        match &self.translated {
            Some(both) => (both.what.get(language), both.remedy.as_ref().map(|remedy| remedy.get(language))),
            None => (&self.what, self.remedy.as_deref()),
        }
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

impl std::fmt::Display for AssetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown(Language::English))
    }
}
