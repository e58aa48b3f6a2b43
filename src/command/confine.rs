//! A scene file is data: what it reads and where it writes stay inside the folder that it lies in and the one that polyfly
//! is run in, unless the user says that it may lead outside. Links and `..` are followed first.

use crate::error::Error;
use crate::scene::Scene;
use std::path::{Component, Path, PathBuf};

/// The folders that a scene is kept in; none for one on stdin, which is what the user has typed.
pub struct Fence {
    scene: String,
    roots: Vec<PathBuf>,
}

impl Fence {
    /// That of a scene in a file of that name.
    pub fn of(name: &str, allow_outside: bool) -> Option<Fence> {
        if name == "-" || allow_outside {
            return None;
        }
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        let roots = [folder, Path::new(".")].map(resolved).into_iter().flatten().collect();
        Some(Fence { scene: name.to_owned(), roots })
    }

    fn check(&self, place: &str, path: &Path) -> Result<(), Error> {
        if resolved(path).is_some_and(|path| self.roots.iter().any(|root| path.starts_with(root))) {
            return Ok(());
        }
        Err(Error::Outside { scene: self.scene.clone(), place: place.to_owned(), path: path.to_owned() })
    }

    /// Whether all that a scene reads lies inside; its floor's texture does not count where a flag gives another.
    ///
    /// # Errors
    /// The first that does not.
    pub fn reading(&self, scene: &Scene, texture: bool) -> Result<(), Error> {
        let mut result = Ok(());
        scene.clone().visit_files(|place, path| {
            if result.is_ok() && (texture || place != "floor.texture") {
                result = self.check(&place, path);
            }
        });
        result?;
        if let Some(particles) = &scene.world.particles {
            let frames = if particles.is_animated() { scene.output.frames } else { 1 };
            for frame in 0..frames {
                self.check("particles.path", &particles.file(frame))?;
            }
        }
        Ok(())
    }

    /// Whether what a scene writes, where no flag says another place, does.
    ///
    /// # Errors
    /// What does not.
    pub fn writing(&self, scene: &Scene, frames: bool, video: bool) -> Result<(), Error> {
        if frames {
            // What a frame's own name is a link to does not count: it is replaced.
            let first = scene.output.files.path(0);
            self.check("output.path", first.parent().unwrap_or(Path::new("")))?;
        }
        match scene.output.video.as_deref().filter(|_| video) {
            Some(video) => self.check("output.video", video.parent().unwrap_or(Path::new(""))),
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
