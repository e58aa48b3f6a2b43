//! Values over time: frames of a clip, however they are made.

use crate::common::{frames, polyfly, text, words};
use std::path::Path;

const SCENE: &str = "[output]\nframes = 8\nsize = [64, 48]\npath = \"out/%d.ppm\"\n[render]\nsamples = 2\n[film]\nexposure = EXPOSURE\nbloom = 0.1\n\
    [camera]\nposition = [5, 0, 1]\nlook_at = [0, 0, 0]\nfocus = FOCUS\nlens = 0.05\n\
    [[body]]\nsolid = \"cube\"\nlamps = 3\nlamp_intensity = LAMPS\nreflection = REFLECTION\n[[light]]\nposition = [4, 2, 6]\n";

// The scene with these values of the four keys.
fn scene(values: [&str; 4]) -> String {
    let names = ["EXPOSURE", "FOCUS", "LAMPS", "REFLECTION"];
    names.iter().zip(values).fold(SCENE.to_owned(), |scene, (name, value)| scene.replace(name, value))
}

fn render(dir: &Path, name: &str, values: [&str; 4], more: &[&str]) {
    std::fs::write(dir.join(format!("{name}.toml")), scene(values)).unwrap();
    let (file, out) = (format!("{name}.toml"), format!("{name}/%d.ppm"));
    let run = polyfly(dir, &[&[file.as_str(), "--cpu", "-q", "-o", &out], more].concat());
    assert!(run.status.success(), "{}", words(&run));
}

#[test]
fn a_frame_has_the_values_of_its_time_however_it_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let moving = [
        "{ keys = [[0, 0], [0.5, 1], [0.75, -1]] }",
        "{ keys = [[0, 4], [0.5, 6]], ease = \"linear\" }",
        "{ keys = [[0, 0], [0.5, 7]], closed = true }",
        "{ keys = [[0.25, 0.9], [0.5, 0.2]] }",
    ];
    render(dir.path(), "moving", moving, &[]);
    render(dir.path(), "still", ["1", "6", "7", "0.2"], &["--frames", "4"]);
    let all = frames(&dir.path().join("moving"));
    assert_eq!(all.len(), 8);
    assert!(all[4] == frames(&dir.path().join("still"))[0] && all[4].1 != all[3].1);
    // In parts, and after an interruption.
    render(dir.path(), "tiles", moving, &["test:tiles=1"]);
    assert!(frames(&dir.path().join("tiles")) == all);
    for frame in [2, 5] {
        std::fs::remove_file(dir.path().join(format!("moving/{frame}.ppm"))).unwrap();
    }
    render(dir.path(), "moving", moving, &["--resume"]);
    assert!(frames(&dir.path().join("moving")) == all);
    // Its text again, and a flag that sets a value or keys.
    let again = text(&polyfly(dir.path(), &["convert", "moving.toml", "--to", "toml"]).stdout);
    assert!(again.contains("lamp_intensity = { keys = [[0.0, 0.0], [0.5, 7.0]], closed = true }"), "{again}");
    render(
        dir.path(),
        "other",
        ["1", "6", "7", "0.9"],
        &["--frames", "4", "--set", "body[0].reflection={ keys = [[0, 0.9], [0.5, 0.2]] }"],
    );
    assert!(frames(&dir.path().join("other"))[0] == all[4]);
}

#[test]
fn faults_of_keys_are_told_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.toml"), scene(["{ keys = [[0.5, 1], [0.2, 0]] }", "4", "1", "0"])).unwrap();
    let printed = words(&polyfly(dir.path(), &["check", "a.toml"]));
    assert!(
        printed.contains("this key's time, 0.2, is not after the one before, 0.5") && printed.contains("a.toml:8:"),
        "{printed}"
    );
    let explained = text(&polyfly(dir.path(), &["explain", "body.lamp_intensity"]).stdout);
    assert!(explained.contains("number, over time"), "{explained}");
}
