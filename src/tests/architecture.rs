//! The house: rooms import one way, the rooms below the program know no environment, and no file grows too large.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

// The rooms from the left to the right: each may import itself and those that come later.
const ROOMS: [&[&str]; 15] = [
    &["main", "lib", "fuzz_targets"],
    &["tests"],
    &["command"],
    &["cli"],
    &["report"],
    &["run"],
    &["error"],
    &["render"],
    &["output", "device"],
    &["film"],
    &["kernels"],
    &["device_scene"],
    &["assets", "gpu_types"],
    &["scene"],
    &["math", "quote", "threads", "cancel"],
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn room(path: &Path) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let first = path.strip_prefix(source).unwrap().components().next().unwrap();
    Path::new(&first).with_extension("").display().to_string()
}

fn rank(room: &str) -> usize {
    let place = ROOMS.iter().position(|r| r.contains(&room));
    place.unwrap_or_else(|| panic!("{room} is no room of the house"))
}

// The file without its tests, which may look anywhere.
pub(super) fn without_tests(text: &str) -> &str {
    text.split("\nmod tests {").next().unwrap_or(text)
}

pub(super) fn rust_files() -> BTreeMap<PathBuf, String> {
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let files = files.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs"));
    files.map(|p| (p.clone(), std::fs::read_to_string(p).unwrap())).collect()
}

#[test]
fn rooms_import_one_way() {
    let mut wrong = Vec::new();
    for (path, text) in rust_files() {
        let here = room(&path);
        // lib.rs is the map: it names them all.
        if ["lib", "main", "tests"].contains(&here.as_str()) {
            continue;
        }
        for part in without_tests(&text).split("crate::").skip(1) {
            // Inside of braces each begins anew; the rooms are one level deep.
            let word: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // The library's own face: what a doc example or a signature calls it.
            let is_face = word.chars().next().is_some_and(char::is_uppercase);
            if (is_face && here == "render") || word.is_empty() || word == here {
                continue;
            }
            if rank(&word) <= rank(&here) {
                wrong.push(format!("{} imports {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_program_knows_the_environment_and_the_standard_streams() {
    let ours = ["command", "cli", "report", "main", "tests"];
    for (path, text) in rust_files() {
        if ours.contains(&room(&path).as_str()) {
            continue;
        }
        for word in [
            "std::env::var",
            "env::var",
            "io::stderr",
            "io::stdout",
            "io::stdin",
            "println!",
            "eprint",
            "ctrlc",
            "process::exit",
        ] {
            let found = without_tests(&text).lines().any(|l| l.contains(word) && !l.trim_start().starts_with("//"));
            assert!(!found, "{} uses {word}", path.display());
        }
    }
}

#[test]
fn files_stay_readable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = sources(&root.join("src"));
    files.extend(sources(&root.join("kernels")));
    files.extend(sources(&root.join("tests")));
    for path in files {
        let code = path.extension().is_some_and(|e| ["rs", "cuh", "cu", "cpp", "def"].contains(&e.to_str().unwrap()));
        if code {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= 600, "{} has {lines} lines: is it one room?", path.display());
        }
    }
}
