//! Commands that write a file of their own replace an existing one only with `--overwrite`.

use crate::common::{folder, polyfly, program, words};
use std::process::Output;

fn refused(run: &Output, name: &str) {
    assert_eq!(run.status.code(), Some(64), "{}", words(run));
    assert!(words(run).contains(&format!("{name} already exists")), "{}", words(run));
    assert!(words(run).contains("give another name, or --overwrite"), "{}", words(run));
}

#[test]
fn existing_files_are_replaced_with_overwrite_only() {
    let dir = folder();
    let run = |args: &[&str]| polyfly(dir.path(), args);
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    let small = ["scene.toml", "--cpu", "--size", "16x12", "--samples=1", "--frames=0-1", "-q", "-o", "f/%d.png"];
    assert!(run(&small).status.success());
    for (args, name) in [
        (&["particles", "generate", "9", "p%d.csv", "--steps", "2"][..], "p1.csv"),
        (&["convert", "scene.toml", "-o", "again.toml"], "again.toml"),
        (&["convert", "f/0.png", "x.ppm"], "x.ppm"),
        (&["compare", "f/0.png", "f/1.png", "-o", "d.png"], "d.png"),
        (&["report", "f", "-o", "page.html"], "page.html"),
        (&["scene.toml", "--cpu", "--size", "16x12", "--samples=1", "--sheet", "s.png"], "s.png"),
    ] {
        std::fs::write(dir.path().join(name), "mine").unwrap();
        refused(&run(args), name);
        assert_eq!(read(name), b"mine");
        let again = run(&[args, &["--overwrite"]].concat());
        // Different pictures have exit code 1.
        assert!(again.status.code() < Some(2) && read(name) != b"mine", "{args:?}: {}", words(&again));
    }
    // Nothing is measured, and no file of a series is written, if one is there.
    std::fs::write(dir.path().join("q1.csv"), "mine").unwrap();
    refused(&run(&["particles", "generate", "9", "q%d.csv", "--steps", "2"]), "q1.csv");
    assert!(!dir.path().join("q0.csv").exists());
    std::fs::create_dir(dir.path().join("t")).unwrap();
    for (name, flags) in [("t/depth.svg", &["bench"][..]), ("t/work.svg", &["bench", "--balance"])] {
        std::fs::write(dir.path().join(name), "mine").unwrap();
        refused(&run(&[flags, &["--plots", "t"]].concat()), name);
    }
    // The page of a folder without another name is the folder's own.
    for _ in 0..2 {
        assert!(run(&["report", "f"]).status.success());
    }
}

#[test]
fn a_file_that_is_written_over_its_input_is_whole() {
    let dir = folder();
    let convert = |args: &[&str]| program(dir.path(), &[&["convert"], args].concat()).output().unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(convert(&["scene.toml", "-o", "other.toml"]).status.success());
    let before = read("scene.toml");
    refused(&convert(&["scene.toml", "-o", "scene.toml"]), "scene.toml");
    assert_eq!(read("scene.toml"), before);
    assert!(convert(&["scene.toml", "-o", "scene.toml", "--overwrite"]).status.success());
    assert_eq!(read("scene.toml"), read("other.toml"));
    // A scene with a fault leaves the file as it was.
    std::fs::write(dir.path().join("scene.toml"), "[body]\n").unwrap();
    assert_eq!(convert(&["scene.toml", "-o", "scene.toml", "--overwrite"]).status.code(), Some(65));
    assert_eq!(read("scene.toml"), "[body]\n");
}
