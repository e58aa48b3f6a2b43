//! The samples of `scenes/` as a user runs them: from the repository's root, from their own folder, and copied alone into an
//! empty one. Each needs only itself, and the files beside it with its own name.

use crate::common::{polyfly, words};
use std::fs;
use std::path::{Path, PathBuf};

// Samples, by name: TOML and tokens.
fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let mut all: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "toml" || e == "txt"));
    all.sort();
    assert!(all.len() > 20, "{} samples", all.len());
    all
}

// Copies a sample with the files beside it that have its name.
fn copy(sample: &Path, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(sample.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem() == sample.file_stem() {
            fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
    }
}

// Renders its first frame to the sample's own path, and finds it below `output`.
fn render(run_in: &Path, scene: &str, output: &Path) {
    let run = polyfly(run_in, &[scene, "--cpu", "--draft", "--size", "32x18", "--samples", "1", "--frames", "0"]);
    assert!(run.status.success(), "{scene}: {}", words(&run));
    let name = Path::new(scene).file_stem().unwrap();
    let frames = fs::read_dir(output.join("output").join(name)).unwrap_or_else(|e| panic!("{scene}: {e}"));
    let pictures = frames.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|e| e == "png"));
    assert_eq!(pictures.count(), 1, "{scene}");
}

#[test]
fn every_sample_runs_where_it_lies_and_wherever_it_is_copied() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("checkout");
    for sample in samples() {
        let file = sample.file_name().unwrap().to_str().unwrap();
        copy(&sample, &root.join("scenes"));
        // Tokens are relative to the working folder, TOML to the scene's own folder.
        let beside = if file.ends_with(".txt") { root.clone() } else { root.join("scenes") };
        render(&root, &format!("scenes/{file}"), &beside);
        fs::remove_dir_all(beside.join("output")).unwrap();
        render(&root.join("scenes"), file, &root.join("scenes"));

        let alone = dir.path().join(file);
        copy(&sample, &alone);
        render(&alone, file, &alone);
    }
}

#[test]
fn all_samples_can_be_verified_in_one_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names: Vec<String> =
        samples().iter().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()).collect();
    let mut args = vec!["verify", "--size", "16x9", "--samples", "1", "--frames", "0"];
    args.extend(names.iter().map(String::as_str));
    let run = polyfly(root, &args);
    assert!(run.status.success(), "{}", words(&run));
}
