//! The files that a run of the studio makes.

use crate::scene::{Pattern, Scene};
use std::path::{Path, PathBuf};

// Files that browsers show, and their types.
const TYPES: [(&str, &str); 9] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("webp", "image/webp"),
    ("gif", "image/gif"),
    ("mp4", "video/mp4"),
    ("mov", "video/quicktime"),
    ("mkv", "video/x-matroska"),
    ("webm", "video/webm"),
];

/// The files of a run.
pub struct Made {
    /// The scene's file.
    pub scene: String,
    pub frames: Pattern,
    pub video: Option<PathBuf>,
}

impl Made {
    pub fn of(name: &str, scene: &Scene) -> Made {
        Made { scene: name.to_owned(), frames: scene.output.files.clone(), video: scene.output.video.clone() }
    }

    /// The folder of the film, or of the frames.
    pub fn folder(&self) -> PathBuf {
        let file = self.video.clone().unwrap_or_else(|| self.frames.path(0));
        absolute(file.parent().unwrap_or(Path::new("")))
    }
}

/// A path from the root; the empty one is the working folder.
pub fn absolute(path: &Path) -> PathBuf {
    // Without a slash at the end.
    std::path::absolute(Path::new(".").join(path)).unwrap_or_default().components().collect()
}

/// What browsers call the kind of file; None if they show none of that kind.
pub fn type_of(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    TYPES.iter().find(|(known, _)| *known == ending).map(|(_, kind)| *kind)
}
