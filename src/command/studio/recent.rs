//! The scenes that were opened last, in any folder: a list in the user's folder for state. Where it cannot be written there is none.

use super::made::absolute;
use crate::assets::source::read_regular;
use crate::cli::{environment, home};
use crate::output::store::atomic::write_whole;
use std::io::Write;
use std::path::{Path, PathBuf};

// Scenes that are remembered.
const MAX_SCENES: usize = 24;

/// The list: a path a line, the newest first.
pub struct Recent {
    file: Option<PathBuf>,
}

// The user's folder for state. XDG_STATE_HOME names it on every system.
fn state_folder() -> Option<PathBuf> {
    let given = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = || match std::env::consts::OS {
        "windows" => given("LOCALAPPDATA"),
        "macos" => Some(home()?.join("Library/Application Support")),
        _ => Some(home()?.join(".local/state")),
    };
    given("XDG_STATE_HOME").or_else(usual)
}

impl Recent {
    /// The list of the user.
    pub fn of_user() -> Recent {
        Recent { file: state_folder().map(|folder| folder.join("polyfly/recent-scenes")) }
    }

    /// The paths of the list. They may be gone.
    pub fn paths(&self) -> Vec<PathBuf> {
        let text = self.file.as_ref().and_then(|file| String::from_utf8(read_regular(file).ok()?).ok());
        let lines = text.iter().flat_map(|text| text.lines().take(MAX_SCENES)).map(PathBuf::from);
        lines.filter(|path| path.is_absolute()).collect()
    }

    /// Puts a scene on top of the list.
    pub fn add(&self, scene: &Path) {
        let Some(file) = &self.file else { return };
        let scene = absolute(scene);
        let others = self.paths().into_iter().filter(|path| *path != scene);
        let all: Vec<PathBuf> = std::iter::once(scene.clone()).chain(others).take(MAX_SCENES).collect();
        let lines: Option<Vec<&str>> =
            all.iter().map(|path| path.to_str().filter(|text| !text.contains('\n'))).collect();
        let Some(lines) = lines else { return };
        // Scenes can be opened without a list.
        if file.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok()) {
            let _ = write_whole(file, |file| file.write_all((lines.join("\n") + "\n").as_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_scenes_are_first_and_each_is_there_once() {
        let folder = tempfile::tempdir().unwrap();
        let recent = Recent { file: Some(folder.path().join("state/polyfly/recent-scenes")) };
        assert!(recent.paths().is_empty());
        let scene = |n: usize| folder.path().join(format!("{n}.toml"));
        (0..30).chain([20]).for_each(|n| recent.add(&scene(n)));
        let expected: Vec<PathBuf> = [20].into_iter().chain((21..30).rev()).chain((6..20).rev()).map(scene).collect();
        assert_eq!(recent.paths(), expected);
        // A name that is no line of a list changes nothing.
        recent.add(&folder.path().join("a\nb.toml"));
        assert_eq!(recent.paths(), expected);
    }

    #[test]
    fn without_a_folder_that_can_be_written_there_is_no_list() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        std::fs::write(&taken, "mine").unwrap();
        for file in [None, Some(taken.join("polyfly/recent-scenes"))] {
            let recent = Recent { file };
            recent.add(Path::new("scene.toml"));
            assert!(recent.paths().is_empty());
        }
        assert_eq!(std::fs::read(&taken).unwrap(), b"mine");
    }
}
