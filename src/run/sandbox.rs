//! A scene file is data: what it reads stays inside the folder that it lies in, and what it writes inside that or the one that
//! polyfly is run in, unless the user says that it may lead outside. Files of the coursework's tokens, whose paths start where
//! the program is run, may be read from there too. Links and `..` are followed first.

use crate::error::Error;
use crate::scene::{Grammar, Scene};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

// Time steps that are looked at whatever is wanted of a scene.
const MAX_LINKS: u32 = 10_000;

/// The folders that a scene is kept in; none for one on stdin, which is what the user has typed.
#[derive(Clone, Debug)]
pub struct PathSandbox {
    scene: String,
    folder: Option<PathBuf>,
    here: Option<PathBuf>,
}

impl PathSandbox {
    /// That of a scene in a file of that name.
    pub fn of(name: &str, allow_outside: bool) -> Option<PathSandbox> {
        if name == "-" || allow_outside {
            return None;
        }
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        Some(PathSandbox { scene: name.to_owned(), folder: resolved(folder), here: resolved(Path::new(".")) })
    }

    // Inside of its folder, or also of where the program is run.
    fn check(&self, place: &str, (path, file): (&Path, &Path), here_too: bool) -> Result<(), Error> {
        let roots = self.folder.iter().chain(self.here.iter().filter(|_| here_too));
        let is_inside = |path: PathBuf| roots.into_iter().any(|root| path.starts_with(root));
        if resolved(path).is_some_and(is_inside) {
            return Ok(());
        }
        let (path, file) = (path.to_owned(), file.to_owned());
        Err(Error::Outside { scene: self.scene.clone(), place: place.to_owned(), path, file, here_too })
    }

    /// Whether all that a scene in that grammar reads lies inside; its floor's texture does not count where a flag gives
    /// another. Of particles' time steps the first ones: of others [`Fence::steps`] is asked when they are wanted.
    pub fn reading(&self, scene: &Scene, grammar: Grammar, texture: bool) -> Result<(), Error> {
        let here_too = grammar == Grammar::Tokens;
        let mut result = Ok(());
        scene.clone().visit_files(|place, path| {
            if result.is_ok() && (texture || place != "floor.texture") {
                result = self.check(&place, (path, path), here_too);
            }
        });
        result?;
        self.steps(scene, 0..scene.output.frames.min(MAX_LINKS))
    }

    /// Whether the particles of these frames lie inside.
    pub fn steps(&self, scene: &Scene, mut frames: impl Iterator<Item = u32>) -> Result<(), Error> {
        let Some(particles) = &scene.world.particles else { return Ok(()) };
        let mut seen = BTreeSet::new();
        frames.try_for_each(|frame| {
            let file = particles.file(frame);
            // Each folder once, and a file by itself where it is a link.
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

    /// Whether what a scene writes, where no flag says another place, does.
    pub fn writing(&self, scene: &Scene, frames: bool, video: bool) -> Result<(), Error> {
        if frames {
            // What a frame's own name is a link to does not count: it is replaced.
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

// Where a path leads, whether there is something yet or not.
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
