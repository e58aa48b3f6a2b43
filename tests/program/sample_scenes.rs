//! The samples of `scenes/` as a user runs them: from the repository's root, from their own folder, and copied alone into an
//! empty one; and as the program brings them along. Each needs only itself, and the files beside it with its own name.

use crate::common::{names, polyfly, text, words};
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

// Copies a sample with the files beside it that have its name. Floors of the program's own take it longer than the frame:
// they are left out. (All samples as they are: `all_samples_can_be_verified_in_one_command`.)
fn copy_plain(sample: &Path, folder: &Path) {
    copy(sample, folder);
    let path = folder.join(sample.file_name().unwrap());
    let text = ["@concrete", "@marble", "@wood"]
        .iter()
        .fold(fs::read_to_string(&path).unwrap(), |text, floor| text.replace(floor, "none"));
    fs::write(path, text).unwrap();
}

// Copies a sample with the files beside it that have its name.
fn copy(sample: &Path, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(sample.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if name.split('.').next() == sample.file_stem().and_then(|stem| stem.to_str()) {
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
        copy_plain(&sample, &root.join("scenes"));
        // Tokens are relative to the working folder, TOML to the scene's own folder.
        let beside = if file.ends_with(".txt") { root.clone() } else { root.join("scenes") };
        render(&root, &format!("scenes/{file}"), &beside);
        fs::remove_dir_all(beside.join("output")).unwrap();
        render(&root.join("scenes"), file, &root.join("scenes"));

        let alone = dir.path().join(file);
        copy_plain(&sample, &alone);
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

#[test]
fn every_sample_is_listed_printed_and_copied_by_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let list = polyfly(dir.path(), &["scenes"]);
    let list = text(&list.stdout);
    assert_eq!(list.lines().count(), samples().len());
    for sample in samples() {
        let (file, name) =
            (sample.file_name().unwrap().to_str().unwrap(), sample.file_stem().unwrap().to_str().unwrap());
        assert!(list.lines().any(|line| line.starts_with(&format!("{name} ")) && line.ends_with('.')), "{name}");
        let own = fs::read_to_string(&sample).unwrap();
        let own = own.strip_prefix("#:schema scene.schema.json\n").unwrap_or(&own);
        assert_eq!(text(&polyfly(dir.path(), &["scenes", "show", name]).stdout), own);

        let folder = dir.path().join(name);
        fs::create_dir(&folder).unwrap();
        let copied = polyfly(&folder, &["scenes", "copy", name]);
        assert!(copied.status.success(), "{name}: {}", words(&copied));
        assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), own);
        // With what it reads: the files beside it with its name.
        let beside = dir.path().join(format!("{name} of the repository"));
        copy(&sample, &beside);
        assert_eq!(names(&folder), names(&beside));
        for other in names(&folder).iter().filter(|other| *other != file) {
            assert!(fs::read(folder.join(other)).unwrap() == fs::read(beside.join(other)).unwrap(), "{other}");
        }
    }
    // Into a folder, under another name, and over what is there.
    let copy = |args: &[&str]| polyfly(dir.path(), &[&["scenes", "copy"], args].concat());
    assert!(copy(&["heap", "heap"]).status.success());
    assert!(copy(&["cube", "new/mine.toml"]).status.success());
    assert_eq!(names(&dir.path().join("new")), ["mine.toml"]);
    assert_eq!(copy(&["cube", "cube.txt"]).status.code(), Some(64));
    fs::write(dir.path().join("heap/heap.csv"), "mine").unwrap();
    let refused = copy(&["heap", "heap/other.toml"]);
    assert_eq!(refused.status.code(), Some(64));
    assert!(words(&refused).contains("heap.csv already exists\nhelp: give another name, or --overwrite"));
    assert_eq!(fs::read_to_string(dir.path().join("heap/heap.csv")).unwrap(), "mine");
    assert!(!dir.path().join("heap/other.toml").exists());
    assert!(copy(&["heap", "heap/other.toml", "--overwrite"]).status.success());
    assert_eq!(
        words(&polyfly(dir.path(), &["scenes/cube.toml"])),
        "error: there is no file `scenes/cube.toml`\nhelp: `polyfly scenes copy cube` writes this sample\n"
    );
}

#[test]
fn every_template_is_a_scene_without_faults_that_renders_where_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let help = text(&polyfly(dir.path(), &["new", "--help"]).stdout);
    for name in ["infinity", "jewel", "sea", "particles", "path", "thaw", "coursework"] {
        assert!(help.contains(&format!("- {name}:")), "{name}");
        let folder = dir.path().join(name);
        fs::create_dir(&folder).unwrap();
        let new = |file: &str, args: &[&str]| polyfly(&folder, &[&["new", file, "--template", name], args].concat());
        let written = new("it.toml", &[]);
        assert!(written.status.success(), "{name}: {}", words(&written));
        let said = words(&written);
        assert!(said.ends_with(
            ": `polyfly it.toml --frames 0` renders the first frame, `polyfly it.toml --video it.mp4` the film\n"
        ));
        let scene = fs::read_to_string(folder.join("it.toml")).unwrap();
        assert!(scene.starts_with("# ") && scene.contains("path = \"output/it/%04d.png\""), "{scene}");
        assert!(scene.contains("it.toml") && !scene.contains("my."), "{scene}");
        render(&folder, "it.toml", &folder);
        let checked = polyfly(&folder, &["check", "it.toml", "--size", "64x36", "--samples", "1"]);
        assert!(checked.status.success() && !words(&checked).contains("warning"), "{name}: {}", words(&checked));

        // On stdout it is the same, with the template's own names.
        let printed = text(&new("-", &[]).stdout);
        let own = format!("output/{name}/");
        assert_eq!(printed.replace("my.", "it.").replace(&own, "output/it/").replace("/%d.png", "/%04d.png"), scene);
        // What is there stays, unless it may go.
        fs::write(folder.join("it.toml"), "mine").unwrap();
        let refused = new("it.toml", &[]);
        assert_eq!(refused.status.code(), Some(64));
        assert_eq!(words(&refused), "error: it.toml already exists\nhelp: give another name, or --overwrite\n");
        assert_eq!(fs::read_to_string(folder.join("it.toml")).unwrap(), "mine");
        assert!(new("it.toml", &["--overwrite"]).status.success());
        assert_eq!(fs::read_to_string(folder.join("it.toml")).unwrap(), scene);
    }
    // In tokens it is the coursework's; the others cannot be said so.
    let new = |args: &[&str]| polyfly(&dir.path().join("coursework"), &[&["new"], args].concat());
    assert!(new(&["it.txt"]).status.success());
    let pictures = ["it.toml", "it.txt"].map(|file| {
        let folder = dir.path().join("coursework");
        let args = [file, "--cpu", "--size", "32x18", "--samples", "1", "--frames", "5", "-q", "-o", "-.ppm"];
        let run = polyfly(&folder, &args);
        assert!(run.status.success(), "{}", words(&run));
        run.stdout
    });
    assert!(pictures[0] == pictures[1] && pictures[0].len() > 32 * 18 * 3);
    assert_eq!(new(&["other.txt", "--template", "jewel"]).status.code(), Some(65));
    assert_eq!(new(&["it.png"]).status.code(), Some(64));
    assert_eq!(new(&[]).status.code(), Some(64));
}
