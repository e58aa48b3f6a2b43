//! Formats of pictures: conversion, and linear light to display codes.

use crate::common::{folder, polyfly, words};
use std::path::Path;
use std::process::Output;

fn render(dir: &Path, more: &[&str]) -> Output {
    let small = ["scene.toml", "--cpu", "--size", "32x24", "--samples", "1"];
    polyfly(dir, &[&small[..], more].concat())
}

#[test]
fn pictures_are_what_their_ending_says() {
    let dir = folder();
    for name in ["a.data", "a.png", "a.ppm", "a.jpg", "a.webp", "a.tiff", "a.jpeg", "a.tif"] {
        let run = render(dir.path(), &["--frames", "3", "-o", name]);
        assert!(run.status.success(), "{name}: {}", words(&run));
    }
    let convert = |from: &str, to: &str| {
        let run = polyfly(dir.path(), &["convert", from, to, "--overwrite"]);
        assert!(run.status.success() && run.stdout.is_empty(), "{from} {to}: {}", words(&run));
        std::fs::read(dir.path().join(to)).unwrap()
    };
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    let data = read("a.data");
    assert!(read("a.jpg") == read("a.jpeg") && read("a.tiff") == read("a.tif"));
    convert("a.data", "b.png");
    convert("a.data", "b.tif");
    assert!(convert("a.png", "b.data") == data && convert("b.png", "b.data") == data);
    assert!(convert("a.tiff", "b.data") == data && convert("b.tif", "b.data") == data);
    assert!(convert("a.webp", "c.data") == data && convert("a.ppm", "d.webp") == read("a.webp"));
    // Other readers see the same picture, or nearly.
    let open = |name: &str| image::open(dir.path().join(name)).unwrap().into_rgba8().into_raw();
    assert!(open("a.webp") == data[8..] && open("a.png") == data[8..] && open("a.tiff") == data[8..]);
    let jpeg = open("a.jpg");
    let off: u64 = jpeg.iter().zip(&data[8..]).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    assert!(jpeg.len() == data.len() - 8 && off < 3 * jpeg.len() as u64, "{off}");
    let refused = |args: &[&str], why: &str| {
        let run = polyfly(dir.path(), args);
        assert!(run.status.code() == Some(64) && words(&run).contains(why), "{}", words(&run));
    };
    // Linear light through the scene's own curve.
    for (name, tone, sky) in [("e", "clip", "[sky]\n"), ("f", "filmic", "[sky]\ntransparent = true\n")] {
        let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
        let scene = scene.replace("tone = \"soft\"", &format!("tone = \"{tone}\"")).replace("[sky]\n", sky);
        std::fs::write(dir.path().join("other.toml"), scene).unwrap();
        for (bits, ending) in [("32", "exr"), ("8", "data")] {
            let to = format!("{name}.{ending}");
            let small = [
                "other.toml",
                "--cpu",
                "--size",
                "64x48",
                "--samples",
                "2",
                "--frames",
                "3",
                "--set",
                &format!("output.bits={bits}"),
                "-o",
                &to,
            ];
            let run = polyfly(dir.path(), &small);
            assert!(run.status.success(), "{}", words(&run));
        }
        let (shown, made) = (convert(&format!("{name}.exr"), "light.data"), read(&format!("{name}.data")));
        let near = |(a, b): (&u8, &u8)| a.abs_diff(*b) <= 1;
        assert!(shown.len() == made.len() && shown.iter().zip(&made).all(near), "{tone}");
        assert_eq!(shown[8..].as_chunks::<4>().0.iter().any(|p| p[3] < 255), sky.contains("true"));
    }
    refused(&["convert", "a.png"], "name the one to make of it");
    refused(&["convert", "a.png", "a.bmp"], "a picture ends in .data");
    refused(&["convert", "a.png", "a.exr"], "16 or 32");
    refused(&["scene.toml", "--size", "16384x1", "--frames", "0", "-o", "x.webp"], "at most 16383 pixels a side");
}
