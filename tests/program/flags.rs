//! Flags do what they say, or are refused: none is silently ignored.

use crate::common::{folder, names, polyfly, program, text, words};
use std::path::Path;
use std::process::Output;

const SMALL: [&str; 5] = ["scene.toml", "--cpu", "--size=16x12", "--samples=1", "--threads=1"];

fn render(dir: &Path, flags: &[&str]) -> Output {
    polyfly(dir, &[&SMALL[..], flags].concat())
}

fn refused(run: &Output, code: i32, why: &str) {
    assert!(run.status.code() == Some(code) && words(run).contains(why), "{:?} {}", run.status.code(), words(run));
}

#[test]
fn a_sheet_takes_the_flags_of_other_runs() {
    let dir = folder();
    let sheet = ["--sheet=s.png", "--frames=4-6", "--log=jsonl"];
    let run = render(dir.path(), &sheet);
    assert!(run.status.success() && words(&run).contains("s.png shows 3 frames"), "{}", words(&run));
    // Two across and two down, with six pixels around each.
    assert_eq!(image::image_dimensions(dir.path().join("s.png")).unwrap(), (2 * 22 + 6, 2 * 18 + 6));
    let log = text(&run.stdout);
    assert!(log.lines().count() == 1 && log.contains("\"type\":\"end\""), "{log}");
    // The frames' own path does not matter: none is written.
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    let outside = scene.replace("output/default/", "/nowhere/else/");
    assert_ne!(outside, scene);
    std::fs::write(dir.path().join("scene.toml"), outside).unwrap();
    let run = render(dir.path(), &["--sheet=t.png", "--frames=0"]);
    assert!(run.status.success(), "{}", words(&run));
    refused(&render(dir.path(), &["--frames=0"]), 65, "output");
}

#[cfg(unix)]
#[test]
fn stdout_by_any_name_has_the_pictures_alone() {
    let dir = folder();
    let frames = ["--frames=0-1"];
    let pictures = render(dir.path(), &[&frames[..], &["-o", "-"]].concat()).stdout;
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let args = [&frames[..], &["-o", name]].concat();
        let run = render(dir.path(), &args);
        assert!(run.status.success() && run.stdout == pictures, "{name}: {}", words(&run));
        // Into a file too, which has to keep what is there already.
        let file = dir.path().join("all");
        let all = std::fs::File::create(&file).unwrap();
        let run = program(dir.path(), &[&SMALL[..], &args].concat()).stdout(all).output().unwrap();
        assert!(run.status.success() && std::fs::read(&file).unwrap() == pictures, "{name}: {}", words(&run));
    }
    assert_eq!(names(dir.path()), ["all", "scene.toml"]);
}

#[test]
fn sums_are_alone_on_stdout_when_a_run_fails_early() {
    let dir = folder();
    for scene in ["nothing.toml", "scene.toml"] {
        let run = polyfly(dir.path(), &[scene, "--hash", "--log=jsonl", "--frames=9999"]);
        assert!(!run.status.success() && run.stdout.is_empty(), "{}", text(&run.stdout));
        assert!(words(&run).contains("\"type\":\"end\""), "{}", words(&run));
    }
}

#[test]
fn quiet_goes_together_with_another_short_flag() {
    let dir = folder();
    let run = render(dir.path(), &["--frames=0-1", "-qo", "m/%d.png"]);
    assert!(run.status.success() && run.stderr.is_empty(), "{}", words(&run));
    assert_eq!(names(&dir.path().join("m")), ["0.png", "1.png"]);
}
