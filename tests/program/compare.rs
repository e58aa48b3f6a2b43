//! `polyfly compare`: exit codes, tables, JSON, the picture of the difference, films.

use crate::common::{folder, polyfly, program, text, words};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

// Writes a gray picture of 20 x 15 pixels; the pixel (3, 2) has another code.
fn picture(dir: &Path, name: &str, code: u8, odd: u8) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let grey = |x, y| image::Rgb([if (x, y) == (3, 2) { odd } else { code }; 3]);
    image::RgbImage::from_fn(20, 15, grey).save(path).unwrap();
}

fn compare(dir: &Path, args: &[&str]) -> Output {
    polyfly(dir, &[&["compare"], args].concat())
}

// The report, and the exit code.
fn json(dir: &Path, args: &[&str]) -> (Value, i32) {
    let run = compare(dir, &[args, &["--json"]].concat());
    (serde_json::from_slice(&run.stdout).unwrap(), run.status.code().unwrap())
}

#[test]
fn two_pictures_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    picture(dir.path(), "a.png", 100, 100);
    picture(dir.path(), "b.tiff", 100, 97);
    let equal = compare(dir.path(), &["a.png", "a.png"]);
    assert!(equal.status.success() && equal.stderr.is_empty(), "{}", words(&equal));
    for figure in ["largest difference   0 of 255", "PSNR                 infinite", "SSIM                 1.0000000"] {
        assert!(text(&equal.stdout).contains(figure), "{}", text(&equal.stdout));
    }
    let run = compare(dir.path(), &["a.png", "b.tiff", "-o", "d.png"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(words(&run).contains("error: the pictures differ: the largest difference is 3"), "{}", words(&run));
    assert!(words(&run).contains("d.png: the difference, amplified by 85"), "{}", words(&run));
    assert!(text(&run.stdout).contains("1 of 300; the first is (3, 2)"), "{}", text(&run.stdout));
    let difference = image::open(dir.path().join("d.png")).unwrap().into_rgb8();
    assert_eq!((difference.get_pixel(3, 2).0, difference.get_pixel(2, 2).0), ([255; 3], [0; 3]));
    // Within the limit they are equal.
    for (limit, code) in [("2", 1), ("3", 0)] {
        let (report, exit) = json(dir.path(), &["a.png", "b.tiff", "--max-difference", limit]);
        assert_eq!(
            (exit, &report["equal"], &report["whole"]["largest"]),
            (code, &Value::Bool(code == 0), &Value::from(3))
        );
        let mean = report["whole"]["mean"].as_f64().unwrap();
        assert!((mean - 3.0 / 300.0).abs() < 1e-12, "{mean}");
    }
}

#[test]
fn frames_are_matched_by_number() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..5 {
        picture(dir.path(), &format!("a/{n:04}.png"), 50 + n, 50 + n);
    }
    for (n, odd) in [(1, 51), (2, 53), (3, 60), (7, 57)] {
        picture(dir.path(), &format!("b/take2_{n}.webp"), 50 + n, odd);
    }
    std::fs::write(dir.path().join("b/notes.txt"), "").unwrap();
    let (report, exit) = json(dir.path(), &["a", "b"]);
    assert_eq!((exit, &report["first_difference"], &report["worst"]), (1, &Value::from(2), &Value::from(3)));
    assert_eq!((&report["only_a"], &report["only_b"]), (&Value::from("0,4"), &Value::from("7")));
    let numbers: Vec<_> =
        report["frames"].as_array().unwrap().iter().map(|pair| pair["frame"].as_u64().unwrap()).collect();
    assert!(numbers == [1, 2, 3] && report["frames"][0]["psnr"].is_null());
    let run = compare(dir.path(), &["a/%04d.png", "b/take2_%d.webp", "-o", "d.png", "--max-difference", "1"]);
    let expected = "error: 1 of 3 frames differ by more than 1; the first is frame 3; only a/%04d.png has frames 0,4; \
                    only b/take2_%d.webp has frames 7";
    assert!(run.status.code() == Some(1) && words(&run).contains(expected), "{}", words(&run));
    assert!(words(&run).contains("d.png: the difference of frame 3, amplified by 36"), "{}", words(&run));
    // A missing frame is a difference, whatever the limit.
    assert_eq!(compare(dir.path(), &["a", "b", "--max-difference", "255"]).status.code(), Some(1));
    assert!(compare(dir.path(), &["a", "a/####.png"]).status.success());
    // No frame is on both sides.
    picture(dir.path(), "c/9.png", 1, 1);
    let (report, exit) = json(dir.path(), &["a", "c", "-o", "none.png"]);
    assert!(exit == 1 && report["whole"].is_null() && !dir.path().join("none.png").exists(), "{report}");
}

// One program counts frames from 0 and another from 1.
#[test]
fn frames_are_compared_with_an_offset_and_a_better_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..6 {
        let code = 40 * n;
        picture(dir.path(), &format!("a/{n}.png"), code, code);
        picture(dir.path(), &format!("b/{}.png", n + 1), code, code);
        picture(dir.path(), &format!("c/{n}.png"), code + 9, code);
    }
    let plain = compare(dir.path(), &["a", "b"]);
    assert!(
        plain.status.code() == Some(1) && words(&plain).contains("agree better with `--offset 1`"),
        "{}",
        words(&plain)
    );
    for args in [["a", "b", "--offset", "1"], ["b", "a", "--offset", "-1"]] {
        let run = compare(dir.path(), &args);
        assert!(run.status.success() && run.stderr.is_empty(), "{args:?}: {}", words(&run));
    }
    let back = compare(dir.path(), &["a", "b", "--offset", "2"]);
    let expected = "only a has frames 5; only b has frames 1";
    assert!(words(&back).contains("with `--offset 1`") && words(&back).contains(expected), "{}", words(&back));
    // Other differences are no shift.
    let other = compare(dir.path(), &["a", "c"]);
    assert!(other.status.code() == Some(1) && !words(&other).contains("--offset"), "{}", words(&other));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    picture(dir.path(), "a/1.png", 1, 1);
    picture(dir.path(), "a/01.jpg", 1, 1);
    picture(dir.path(), "b/1.png", 1, 1);
    image::RgbImage::new(7, 9).save(dir.path().join("small.png")).unwrap();
    std::fs::write(dir.path().join("broken.png"), "no picture").unwrap();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    for (args, code, why) in [
        (&["b/1.png", "small.png"][..], 65, "b/1.png: it has 20 x 15 pixels, and small.png has 7 x 9 pixels"),
        (&["b/1.png", "broken.png"], 65, "broken.png"),
        (&["b/1.png", "none.png"], 74, "cannot read none.png"),
        (&["b/1.png", "b"], 64, "b/1.png is a picture and b is a folder of frames"),
        (&["a", "b"], 64, "a has two pictures 1"),
        (&["empty", "b"], 64, "empty has no pictures with numbers in their names"),
        (&["b/%03d.png", "b"], 64, "there are no frames b/%03d.png"),
        (&["b/1.png", "b/1.png", "-o", "d.bmp"], 64, "a picture ends in .data"),
        (&["b/1.png", "b/1.png", "-o", "b/../b/1.png"], 64, "it is compared, and would be replaced"),
        (&["b/1.png", "b/1.png", "--max-difference", "256"], 64, "--max-difference"),
    ] {
        let run = compare(dir.path(), args);
        assert!(run.status.code() == Some(code) && words(&run).contains(why), "{args:?}: {}", words(&run));
    }
    assert_eq!(image::open(dir.path().join("b/1.png")).unwrap().width(), 20);
    let cube = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/loop.webp").display().to_string();
    let run = compare(dir.path(), &[&cube, "b/1.png"]);
    assert!(run.status.code() == Some(64) && words(&run).contains("animated .webp"), "{}", words(&run));
}

#[test]
fn films_are_compared_frame_by_frame() {
    let dir = folder();
    let render = |samples: &str, frames: &str, video: &str, more: &[&str]| {
        let args = ["scene.toml", "--cpu", "--size", "64x48", "--no-frames", "--samples", samples, "--frames", frames];
        let run = polyfly(dir.path(), &[&args[..], &["--video", video], more].concat());
        assert!(run.status.success(), "{}", words(&run));
    };
    render("1", "0-3", "a.y4m", &[]);
    render("1", "0-5", "b.y4m", &[]);
    render("2", "0-3", "c.y4m", &[]);
    render("1", "0-3", "a.mkv", &[]);
    render("1", "0-3", "exact.mkv", &["--codec", "ffv1"]);
    let raw = |name: &str| program(dir.path(), &["compare", "a.y4m", name, "--ffmpeg", "/nowhere"]).output().unwrap();
    assert!(raw("a.y4m").status.success(), "{}", words(&raw("a.y4m")));
    let longer = raw("b.y4m");
    assert!(
        longer.status.code() == Some(1) && words(&longer).contains("error: only b.y4m has frames 4-5"),
        "{}",
        words(&longer)
    );
    let other = raw("c.y4m");
    assert!(other.status.code() == Some(1) && words(&other).contains("4 of 4 frames differ"), "{}", words(&other));
    render("1", "1-3", "late.y4m", &[]);
    let late = compare(dir.path(), &["a.y4m", "late.y4m", "--offset", "-1"]);
    assert!(words(&late).contains("error: only a.y4m has frames 0\n"), "{}", words(&late));
    assert_eq!(raw("a.mkv").status.code(), Some(69));
    // Through ffmpeg: a lossless film shows what the raw one does, another one nearly.
    let (exact, exit) = json(dir.path(), &["a.y4m", "exact.mkv"]);
    assert!(exit == 0 && exact["frames"].as_array().unwrap().len() == 4, "{exact}");
    let (lossy, exit) = json(dir.path(), &["a.y4m", "a.mkv"]);
    let ssim = lossy["whole"]["ssim"].as_f64().unwrap();
    assert!(exit == 1 && ssim > 0.9 && ssim < 1.0, "{lossy}");
    std::fs::write(dir.path().join("broken.mp4"), "no film").unwrap();
    let broken = compare(dir.path(), &["a.mkv", "broken.mp4"]);
    assert!(broken.status.code() == Some(74) && words(&broken).contains("decoding broken.mp4"), "{}", words(&broken));
}
