//! The file beside a scene's that has the scene while its own has not: it outlives the studio, whatever ends that.

use crate::cli::Failure;
use crate::command::scene_file::SceneText;
use crate::output::OutputError;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

// Names that are looked at when the studio begins.
const MAX_LEFT: usize = 16;

pub struct Unsaved {
    scene: PathBuf,
    // The file of this studio, once there is one.
    own: Option<PathBuf>,
    // Those that earlier studios have left, newest first.
    left: Vec<PathBuf>,
}

// The names that such a file may have.
fn names(scene: &Path) -> impl Iterator<Item = PathBuf> {
    let numbers = std::iter::once(String::new()).chain((2..).map(|n| format!("-{n}")));
    numbers.map(|n| scene.with_extension(format!("unsaved{n}.toml")))
}

fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

fn time_of(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|facts| facts.modified()).ok()
}

impl Unsaved {
    pub fn beside(scene: &Path) -> Unsaved {
        let mut left: Vec<PathBuf> = names(scene).take(MAX_LEFT).filter(|path| is_there(path)).collect();
        left.sort_by_key(|path| Reverse(time_of(path)));
        Unsaved { scene: scene.to_owned(), own: None, left }
    }

    /// Keeps the text, or removes the file if the text is in the scene's own. Returns the file's path.
    pub fn keep(&mut self, text: &str, is_in_scene: bool) -> Result<Option<PathBuf>, Failure> {
        if is_in_scene {
            // It may be gone already.
            self.own.take().map(std::fs::remove_file);
            return Ok(None);
        }
        let free = || names(&self.scene).find(|path| !is_there(path)).unwrap_or_default();
        let path = self.own.take().unwrap_or_else(free);
        self.own = Some(path.clone());
        std::fs::write(&path, text).map_err(|e| OutputError::Write(path.clone(), e))?;
        Ok(Some(path))
    }

    /// Takes or drops the newest file that an earlier studio has left. Returns its text if it is taken. It is this studio's file
    /// then.
    pub fn answer(&mut self, is_taken: bool) -> Result<Option<String>, Failure> {
        let Some(path) = self.left.first().cloned() else { return Ok(None) };
        let text = is_taken.then(|| SceneText::read_regular(&path.display().to_string())).transpose()?;
        self.left.remove(0);
        match text {
            Some(file) => {
                // A file of changes that were made before the answer has become a step of the history.
                self.own.replace(path).map(std::fs::remove_file);
                Ok(Some(file.text))
            }
            None => {
                std::fs::remove_file(&path).map_err(|e| OutputError::Write(path, e))?;
                Ok(None)
            }
        }
    }

    /// The newest file that an earlier studio has left, for the page.
    pub fn state(&self) -> Value {
        let Some(path) = self.left.first() else { return Value::Null };
        let since = time_of(path).and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        json!({
            "path": path.display().to_string(),
            "time": since.map(|since| since.as_secs_f64()),
            // The scene's own file has been saved later.
            "is_older": time_of(path) < time_of(&self.scene),
        })
    }
}
