//! Files of a scene that are missing: refused, or replaced by a bright stand-in where that is asked for.

use crate::common::{folder, polyfly, text, words};
use std::path::Path;

const SMALL: [&str; 5] = ["--cpu", "--size", "32x24", "--samples", "1"];
const SCENE: &str = "[output]\nframes = 2\npath = \"o/%d.png\"\n[camera]\nposition = [0, -6, 4]\nlook_at = [0, 0, 0]\n\
    [sky]\nimage = \"gone.hdr\"\n[[sphere]]\nradius = 0.2\n\
    [floor]\ncorners = [[-9, -9, -1], [-9, 9, -1], [9, 9, -1], [9, -9, -1]]\ntexture = \"gone.png\"\nroughness = 0.3\n\
    [floor.relief]\nbump = \"gone.png\"\ndepth = 0.1\n";

fn code(run: &std::process::Output) -> i32 {
    run.status.code().unwrap_or(-1)
}

fn scene_in(dir: &Path, name: &str, scene: &str) {
    std::fs::write(dir.join(name), scene).unwrap();
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let dir = folder();
    // A queue that tries again at 75 would do so for ever; `missing` is asked before the first frame is there.
    for (job, expected) in [
        (&["status", "nowhere"][..], 64),
        (&["report", "nowhere"], 64),
        (&["stitch", "nowhere", "-o", "v.mp4"], 64),
        (&["stitch", "nowhere/%d.png", "-o", "v.mp4"], 64),
        (&["missing", "nowhere"], 75),
    ] {
        let run = polyfly(dir.path(), job);
        assert_eq!(code(&run), expected, "{}", words(&run));
        assert!(words(&run).contains("there is no folder nowhere"), "{}", words(&run));
    }
}

#[test]
fn a_stand_in_is_bright_and_warned_of_once_a_file() {
    let dir = folder();
    scene_in(dir.path(), "s.toml", SCENE);
    let run = |args: &[&str]| polyfly(dir.path(), &[&["s.toml"], args, &SMALL[..]].concat());
    let refused = run(&[]);
    assert_eq!(code(&refused), 65);
    assert!(
        words(&refused).contains("help: ") && words(&refused).contains("--missing-texture stand-in"),
        "{}",
        words(&refused)
    );
    let stands_in = ["--missing-texture", "stand-in"];
    let made = run(&stands_in);
    assert_eq!(code(&made), 0, "{}", words(&made));
    let all = words(&made);
    assert_eq!(all.matches("warning: there is no file").count(), 2, "{all}");
    assert!(all.contains("--> s.toml:") && all.contains("a magenta checker stands in for it"), "{all}");
    let picture = image::open(dir.path().join("o/0.png")).unwrap().into_rgb8();
    let magenta = picture.pixels().filter(|p| p.0[0] > 60 && p.0[2] > 60 && p.0[1] < p.0[0] / 2).count();
    assert!(magenta > 32 * 24 / 2, "{magenta}");
    // `-q` silences the warnings.
    let quiet = polyfly(dir.path(), &[&["s.toml", "-q", "-o", "q/%d.png"][..], &stands_in, &SMALL[..]].concat());
    assert!(code(&quiet) == 0 && quiet.stderr.is_empty(), "{}", words(&quiet));

    // Frames with the stand-in are those of another scene than frames with the file.
    let grey = image::GrayImage::from_fn(16, 16, |x, _| image::Luma([8 * x as u8]));
    grey.save(dir.path().join("gone.png")).unwrap();
    image::RgbImage::new(8, 4).save(dir.path().join("gone.hdr.png")).unwrap();
    std::fs::rename(dir.path().join("gone.hdr.png"), dir.path().join("gone.hdr")).unwrap();
    for args in [&["--resume"][..], &["--resume", "--missing-texture", "stand-in"]] {
        let other = run(args);
        assert!(code(&other) == 65 && words(&other).contains("frames of another scene"), "{}", words(&other));
        assert!(words(&other).contains("floor.texture"), "{}", words(&other));
    }
    let fresh = run(&["--overwrite", "--missing-texture", "stand-in"]);
    assert!(code(&fresh) == 0 && !words(&fresh).contains("there is no file"), "{}", words(&fresh));
    // What a flag names is warned of without a place.
    let named = run(&["--texture", "lost.png", "--missing-texture", "stand-in", "-o", "t/%d.png"]);
    assert!(code(&named) == 0 && words(&named).contains("warning: there is no file `lost.png`"), "{}", words(&named));
}

#[test]
fn check_goes_on_after_a_missing_file() {
    let dir = folder();
    let scene = SCENE.replace("bump = \"gone.png\"", "bump = \"broken.png\"")
        + "[[mesh]]\npath = \"lost.obj\"\n[[mesh]]\npath = \"../outside.obj\"\n[particles]\npath = \"p.csv\"\n";
    scene_in(dir.path(), "s.toml", &scene);
    std::fs::write(dir.path().join("broken.png"), "no picture").unwrap();
    let run = polyfly(dir.path(), &["check", "s.toml"]);
    let all = words(&run);
    assert!(code(&run) == 65 && run.stdout.is_empty(), "{all}");
    let parts =
        ["gone.hdr", "gone.png", "the map is broken", "lost.obj", "leads outside of the scene's folder", "p.csv"];
    for part in parts {
        assert_eq!(all.matches("error: ").count(), parts.len(), "{all}");
        assert!(all.contains(part), "no {part} in {all}");
    }
    let run = polyfly(dir.path(), &["check", "s.toml", "--missing-texture", "stand-in"]);
    let all = words(&run);
    assert!(all.matches("warning: there is no file").count() == 2 && all.matches("error: ").count() == 4, "{all}");
    scene_in(dir.path(), "s.toml", SCENE);
    let run = polyfly(dir.path(), &["check", "s.toml", "--missing-texture", "stand-in"]);
    assert!(code(&run) == 0 && text(&run.stdout).contains("it holds 1 ball"), "{}", words(&run));
}
