//! Reads scenes from files, and changes single keys of a scene.

use crate::assets::source::{line_and_column, utf16};
use crate::error::Error;
use crate::language::msg;
use crate::quote::brief;
use crate::scene::{self, Figure, Scene};
use std::fs::File;
use std::io::Read;
use std::path::Path;

// Maximum length of a scene's text, bytes: 25 times that of a scene with ten thousand bodies. The parser of TOML makes a list of all
// tokens and one of their events first, so a text of brackets takes 50 bytes of memory a byte.
const MAX_TEXT: u64 = 16 << 20;

impl Scene {
    /// Reads a scene from a file, in either grammar. Relative paths in a TOML scene start in its folder, those in a
    /// token scene in the working directory.
    ///
    /// # Errors
    /// The file cannot be read or is not text; the scene is invalid. The error lists all faults.
    pub fn load(path: impl AsRef<Path>) -> Result<Scene, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| Error::Read(name.clone(), e))?;
        let text = read_text(file, &name)?;
        Ok(Scene::parse(&text, &name, path.parent().unwrap_or(Path::new("")))?.scene)
    }

    /// A copy of the scene with one key changed, such as `film.exposure` or `body[0].color`. The value has TOML's
    /// syntax.
    ///
    /// ```
    /// let scene = polyfly::Scene::sample().with("film.exposure", "0.5")?;
    /// assert_eq!(scene.film.exposure, polyfly::scene::Exposure::Stops(0.5));
    /// # Ok::<(), polyfly::Error>(())
    /// ```
    ///
    /// # Errors
    /// The key does not exist, or does not accept the value.
    pub fn with(&self, key: &str, value: &str) -> Result<Scene, Error> {
        edited(self.to_toml(), &[(key, value)])
    }

    /// The scene of a figure for print with these keys, among them `particles.path`; values as TOML writes them.
    ///
    /// # Errors
    /// A key does not exist, or does not accept the value.
    pub fn figure(keys: &[(&str, &str)]) -> Result<Scene, Error> {
        edited(Figure::SCENE.to_owned(), keys)
    }
}

// The scene of a text with other values.
fn edited(mut text: String, keys: &[(&str, &str)]) -> Result<Scene, Error> {
    for (key, value) in keys {
        let set = scene::text::edit::set(&text, key, Some(value));
        text = set.map_err(|e| Error::about(brief(key), e.message()))?;
    }
    Ok(Scene::parse(&text, "the scene", Path::new(""))?.scene)
}

/// The text of a path.
pub(crate) fn utf8(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| Error::usage(msg!("{name}: the name is not UTF-8", name = path.display())))
}

/// Reads a scene's text; `name` is its name in messages.
pub(crate) fn read_text(from: impl Read, name: &str) -> Result<String, Error> {
    let mut bytes = Vec::new();
    // The length is limited because a pipe can be endless.
    let read = from.take(MAX_TEXT + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > MAX_TEXT {
        return Err(Error::SceneTooLong(name.into(), MAX_TEXT >> 20));
    }
    read.map_err(|e| Error::Read(name.into(), e))?;
    if let Some(text) = utf16(&bytes) {
        bytes = text.into_bytes();
    }
    // Editors on Windows write a byte order mark in front of UTF-8.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        return Err(Error::NotText(name.into(), at));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let [line, column] = line_and_column(e.as_bytes(), at);
        // The name has the line and the column, as in other faults.
        Error::NotText(format!("{name}:{line}:{column}"), at)
    })
}
