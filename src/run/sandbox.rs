//! A scene file is data and may come from anyone. It may read only files in its own folder, and write only there or
//! in the working directory, unless the user allows paths outside. Token scenes may also read from the working
//! directory, where their relative paths start. Symbolic links and `..` are resolved before the check.

use crate::error::Error;
use crate::scene::{Grammar, Scene};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

// Maximum number of time steps that are checked when a scene is read.
const MAX_LINKS: u32 = 10_000;

/// The folder of a scene's file; None for a scene on stdin, which the user has typed.
#[derive(Clone, Debug)]
pub struct PathSandbox {
    scene: String,
    folder: Option<PathBuf>,
    here: Option<PathBuf>,
}

impl PathSandbox {
    /// The sandbox of the scene in this file; None if there is no limit.
    pub fn of(name: &str, allow_outside: bool) -> Option<PathSandbox> {
        if name == "-" || allow_outside {
            return None;
        }
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        Some(PathSandbox { scene: name.to_owned(), folder: resolved(folder), here: resolved(Path::new(".")) })
    }

    // Fails if the file lies outside the scene's folder, and outside the working directory too if that is allowed.
    fn check(&self, key: &str, (path, file): (&Path, &Path), here_too: bool) -> Result<(), Error> {
        let roots = self.folder.iter().chain(self.here.iter().filter(|_| here_too));
        let is_inside = |path: PathBuf| roots.into_iter().any(|root| path.starts_with(root));
        if resolved(path).is_some_and(is_inside) {
            return Ok(());
        }
        let (path, file) = (path.to_owned(), file.to_owned());
        Err(Error::Outside { scene: self.scene.clone(), key: key.to_owned(), path, file, here_too })
    }

    /// Checks all files that a scene reads, and returns an error for each that it must not read. `texture` is false if a
    /// flag replaces the floor's texture. Of particles' time steps, only the first ones are checked here;
    /// [`PathSandbox::steps`] checks those of the run's frames.
    pub fn reading(&self, scene: &Scene, grammar: Grammar, texture: bool) -> Vec<Error> {
        let here_too = grammar == Grammar::Tokens;
        let mut errors = Vec::new();
        scene.clone().visit_files(|key, path| {
            if texture || key != "floor.texture" {
                errors.extend(self.check(&key, (path, path), here_too).err());
            }
        });
        errors.extend(self.steps(scene, 0..scene.output.frames.min(MAX_LINKS)).err());
        errors
    }

    /// Checks the particle files of these frames.
    pub fn steps(&self, scene: &Scene, frames: impl Iterator<Item = u32>) -> Result<(), Error> {
        let Some(particles) = &scene.world.particles else { return Ok(()) };
        let mut seen = BTreeSet::new();
        let mut files = frames.flat_map(|frame| {
            let shown = [frame, particles.towards(frame)].map(|frame| particles.number(frame));
            shown.into_iter().chain(particles.before(frame)).map(|number| particles.file_of(number)).collect::<Vec<_>>()
        });
        files.try_for_each(|file| {
            // Each folder is checked once; a file on its own only if it is a link.
            let folder = file.parent().unwrap_or(Path::new("")).to_owned();
            if std::fs::symlink_metadata(&file).is_ok_and(|what| what.is_symlink()) {
                self.check("particles.path", (&file, &file), false)
            } else if seen.insert(folder.clone()) {
                self.check("particles.path", (&folder, &file), false)
            } else {
                Ok(())
            }
        })
    }

    /// Checks the files that the scene writes, unless flags name other files.
    pub fn writing(&self, scene: &Scene, frames: bool, video: bool) -> Result<(), Error> {
        if frames {
            // A frame that is a symbolic link is replaced, not followed. So only its folder is resolved.
            let first = scene.output.files.path(0);
            let written = scene.output.files.to_string();
            self.check("output.path", (first.parent().unwrap_or(Path::new("")), Path::new(&written)), true)?;
        }
        match scene.output.video.as_deref().filter(|_| video) {
            Some(video) => self.check("output.video", (video.parent().unwrap_or(Path::new("")), video), true),
            None => Ok(()),
        }
    }
}

// Resolves a path; its last parts need not exist.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut there = std::env::current_dir().ok()?.join(path);
    let mut beyond = Vec::new();
    let mut known = loop {
        if let Ok(known) = there.canonicalize() {
            break known;
        }
        beyond.push(there.components().next_back()?.as_os_str().to_owned());
        if !there.pop() {
            return None;
        }
    };
    for name in beyond.iter().rev() {
        match Path::new(name).components().next() {
            Some(Component::ParentDir) => drop(known.pop()),
            Some(Component::Normal(name)) => known.push(name),
            _ => {}
        }
    }
    Some(known)
}
