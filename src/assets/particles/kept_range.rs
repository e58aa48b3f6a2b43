//! The ends of a color map over all time steps of a series. They are kept in a hidden file beside it, so that the next run need not read
//! every step for them.

use crate::assets::error::AssetError;
use crate::assets::files::state;
use crate::assets::source::open_regular;
use crate::math::hash::hex;
use crate::scene::{Particles, RangeOver, ValueRange};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

const NAME: &str = ".polyfly-ranges";
// Lines that the file has at most, and bytes that are read of it.
const MOST: usize = 64;
const LONGEST: u64 = 1 << 16;

// What the ends depend on: the keys of the scene, and the files in their present state. None if a file is missing.
fn key(particles: &Particles, frames: u32, files_of: impl Fn(&Path) -> Vec<PathBuf>) -> Option<String> {
    let Particles { path, first, step, interpolate, columns, only, every, colour_by, range, scale, .. } = particles;
    let mut hash = Sha256::new();
    let keys = (path, first, step, interpolate, columns, only, every, colour_by, range, scale);
    hash.update(format!(
        "{} {keys:?} {:?} {:?} {frames}",
        env!("CARGO_PKG_VERSION"),
        particles.radius,
        particles.radii
    ));
    let shown = (0..frames).map(|frame| particles.file(particles.towards(frame)));
    let mut all: Vec<PathBuf> = (0..frames).map(|frame| particles.file(frame)).chain(shown).collect();
    all.sort_unstable();
    all.dedup();
    for file in all.iter().flat_map(|path| files_of(path)) {
        hash.update(format!("{} {:?}", file.display(), state(&file)?));
    }
    Some(hex(&hash.finalize()))
}

fn text(path: &Path) -> String {
    let mut text = String::new();
    // A file that cannot be read keeps nothing.
    let _ = open_regular(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    text
}

// Adds a line. A folder that cannot be written to keeps nothing.
fn add(path: &Path, line: &str) {
    let old = text(path);
    let lines: Vec<&str> = old.lines().chain([line]).collect();
    let all: String = lines[lines.len().saturating_sub(MOST)..].iter().map(|line| format!("{line}\n")).collect();
    let part = path.with_file_name(format!("{NAME}.{}", std::process::id()));
    if std::fs::write(&part, all).and_then(|()| std::fs::rename(&part, path)).is_err() {
        let _ = std::fs::remove_file(&part);
    }
}

/// The ends over so many frames with files: those that are kept, or those that are found now. `files_of` gives the files that a path stands for.
pub fn kept_or(
    particles: &Particles,
    frames: u32,
    files_of: impl Fn(&Path) -> Vec<PathBuf>,
    find: impl FnOnce() -> Result<[f64; 2], AssetError>,
) -> Result<[f64; 2], AssetError> {
    let is_of_all = matches!(particles.range, ValueRange::Found { over: RangeOver::Film, .. });
    let key = if is_of_all && frames > 1 { key(particles, frames, files_of) } else { None };
    let Some(key) = key else { return find() };
    let path = particles.file(0).with_file_name(NAME);
    let ends = |line: &str| {
        let mut words = line.strip_prefix(&key)?.split_whitespace().map(|word| word.parse().ok());
        Some([words.next()??, words.next()??])
    };
    if let Some(ends) = text(&path).lines().find_map(ends) {
        return Ok(ends);
    }
    let [low, high] = find()?;
    add(&path, &format!("{key} {low} {high}"));
    Ok([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::ColourBy;

    #[test]
    fn a_range_over_the_film_is_found_once_for_files_that_stay() {
        let dir = tempfile::tempdir().unwrap();
        let file = |step: u32| dir.path().join(format!("{step}.csv"));
        (0..3).for_each(|step| std::fs::write(file(step), "x").unwrap());
        let over = |over| ValueRange::Found { over, shares: [0.0, 1.0], is_symmetric: false };
        let range = over(RangeOver::Film);
        let colour_by = ColourBy::from("p");
        let particles = Particles { path: dir.path().join("%d.csv"), range, colour_by, ..Particles::default() };
        // None: it is not asked for.
        let of = |particles: &Particles, found: Option<[f64; 2]>| {
            kept_or(particles, 3, |path| vec![path.into()], || Ok(found.unwrap())).unwrap()
        };
        let first = [-1.0 / 3.0, 1e300];
        assert_eq!(of(&particles, Some(first)), first);
        assert_eq!(of(&particles, None), first);
        // Another value, another range, and other files.
        let other = Particles { colour_by: ColourBy::from("v"), ..particles.clone() };
        assert_eq!(
            [of(&other, Some([0.0, 1.0])), of(&other, None), of(&particles, None)],
            [[0.0, 1.0], [0.0, 1.0], first]
        );
        let of_first = Particles { range: over(RangeOver::Frame), ..particles.clone() };
        assert_eq!([of(&of_first, Some([2.0, 3.0])), of(&of_first, Some([4.0, 5.0]))], [[2.0, 3.0], [4.0, 5.0]]);
        std::fs::write(file(1), "longer").unwrap();
        assert_eq!([of(&particles, Some([7.0, 8.0])), of(&particles, None)], [[7.0, 8.0]; 2]);
        std::fs::remove_file(file(2)).unwrap();
        assert_eq!(of(&particles, Some([9.0, 10.0])), [9.0, 10.0]);
        let lines = std::fs::read_to_string(dir.path().join(NAME)).unwrap().lines().count();
        assert_eq!(lines, 3);
        (0..100).for_each(|i| add(&dir.path().join(NAME), &i.to_string()));
        assert_eq!(text(&dir.path().join(NAME)).lines().count(), MOST);
    }
}
