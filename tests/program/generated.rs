//! Generated files are what the program makes of its own declarations now. `POLYFLY_BLESS=1` writes them again (scripts/bless).

use crate::common::{polyfly, text};
use std::path::Path;

fn is_generated(path: &str, words: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = text(&polyfly(root, words).stdout);
    assert!(made.len() > 1000, "{made}");
    let stored = std::fs::read_to_string(root.join(path)).unwrap_or_default();
    if made != stored && std::env::var_os("POLYFLY_BLESS").is_some() {
        std::fs::write(root.join(path), &made).unwrap();
        panic!("{path} is written again: look at it, and run again");
    }
    assert!(made == stored, "{path} is not what the program declares: scripts/generate writes it again");
}

#[test]
fn generated_schema() {
    is_generated("scenes/scene.schema.json", &["schema"]);
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    for entry in std::fs::read_dir(scenes).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let scene = std::fs::read_to_string(&path).unwrap();
            assert!(scene.starts_with("#:schema scene.schema.json\n"), "{}", path.display());
        }
    }
}

#[test]
fn generated_reference_of_scenes() {
    is_generated("docs/reference/scene.md", &["reference", "scene"]);
}

#[test]
fn generated_reference_of_flags() {
    is_generated("docs/reference/flags.md", &["reference", "flags"]);
}

#[test]
fn generated_exit_codes() {
    is_generated("docs/reference/exit-codes.md", &["reference", "exit-codes"]);
}

#[test]
fn generated_formats() {
    is_generated("docs/reference/formats.md", &["reference", "formats"]);
}
