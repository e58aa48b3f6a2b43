//! The version of the pictures depends on the pictures and not on the text of the kernels: it is a checksum of the pictures of a
//! fixed set of scenes. A program with another version refuses to resume a run.
//!
//! The scenes of tests/pictures stay unchanged; a new feature gets new ones. POLYFLY_BLESS=1 writes the version, and fails on
//! purpose.

use super::common::*;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

#[test]
fn the_version_is_the_checksum_of_the_pictures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(root.join("tests/pictures")).unwrap();
    let mut scenes: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    scenes.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    scenes.sort();
    assert!(scenes.len() >= 30, "{} scenes", scenes.len());
    let mut sum = Sha256::new();
    for path in &scenes {
        let scene = load(path);
        sum.update(path.file_stem().unwrap().to_str().unwrap());
        sum.update(render(&scene, scene.output.frames - 1));
    }
    let version: String = sum.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let file = root.join("src/output/picture_version.txt");
    if std::env::var_os("POLYFLY_BLESS").is_some() {
        std::fs::write(&file, format!("{version}\n")).unwrap();
        panic!("blessed {}: run again without POLYFLY_BLESS", file.display());
    }
    let known = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        known.trim(),
        version,
        "pictures have changed: if they should, say which in the CHANGELOG and run with POLYFLY_BLESS=1"
    );
}
