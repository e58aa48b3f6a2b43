//! When files were written, which tells whether they have changed.

use crate::scene::Scene;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The time of a file's modification, and its length.
pub type Stamp = (SystemTime, u64);

/// That of a file that is there.
pub fn stamp_of(path: &Path) -> Option<Stamp> {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

/// The files that a scene names, with their time stamps. Of animated particles, the first and the last file.
pub fn files_of(scene: &Scene) -> Vec<(PathBuf, Option<Stamp>)> {
    let mut paths = Vec::new();
    scene.clone().visit_files(|_, path| paths.push(path.clone()));
    if let Some(particles) = &scene.world.particles {
        paths.extend([0, scene.output.frames - 1].map(|frame| particles.file(frame)));
    }
    paths.into_iter().map(|path| (path.clone(), stamp_of(&path))).collect()
}
