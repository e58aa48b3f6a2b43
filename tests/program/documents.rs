//! The documents: links lead to files, the README stays short, and the loop at its top
//! shows the renderer's frames.

use crate::common::{polyfly, words};
#[cfg(target_os = "linux")]
use crate::common::{shell_script, text};
use image::AnimationDecoder;
use image::codecs::webp::WebPDecoder;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "python/README.md"]
        .map(|name| root().join(name))
        .into();
    for folder in ["docs", "docs/reference", "docs/ru", "docs/tutorials"] {
        all.extend(fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    all.retain(|path| path.extension().is_some_and(|e| e == "md"));
    all
}

// The targets of a text's links and pictures, without external sites and anchors.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).collect()
}

#[test]
fn links_lead_to_files() {
    let mut count = 0;
    for page in documents() {
        let text = fs::read_to_string(&page).unwrap();
        for target in links(&text) {
            assert!(page.parent().unwrap().join(target).exists(), "{}: {target}", page.display());
            count += 1;
        }
    }
    assert!(count > 40, "{count} links");
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= 150, "{} lines", text.lines().count());
}

#[test]
fn the_readme_begins_with_a_picture_and_two_commands_that_a_person_can_type() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let (opening, _) = text.split_once("\n## ").unwrap();
    let (before, block) = opening.split_once("```console\n").unwrap();
    assert!(before.contains("!["), "{before}");
    let commands: Vec<&str> =
        block.split("```").next().unwrap().lines().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(commands, ["scripts/film", "scripts/test"]);
    for command in commands {
        // They install what is missing.
        assert!(fs::read_to_string(root().join(command)).unwrap().contains("\nscripts/tools --"), "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn missing_tools_are_installed_and_sudo_is_for_who_is_not_root() {
    let install = |user: &str, programs: &[(&str, &str)]| {
        let dir = tempfile::tempdir().unwrap();
        shell_script(dir.path(), "id", &format!("echo {user}"));
        programs.iter().for_each(|(name, text)| drop(shell_script(dir.path(), name, text)));
        let script = root().join("scripts/tools");
        let run = std::process::Command::new("/bin/bash").arg(script).arg("--build").env("PATH", dir.path()).output();
        let run = run.unwrap();
        (run.status.code(), text(&run.stdout), words(&run))
    };
    let apt = ("apt-get", "echo apt-get $*");
    let sudo = ("sudo", "echo sudo; \"$@\"");
    let installs = "apt-get update -q\napt-get install -y -q g++\n";
    assert_eq!(install("0", &[apt]).1, installs);
    assert_eq!(install("1000", &[apt, sudo]).1, installs.replace("apt-get ", "sudo\napt-get "));
    for (user, programs, missing) in [("1000", &[apt][..], "sudo"), ("0", &[sudo][..], "apt-get")] {
        let (code, said, why) = install(user, programs);
        assert!(code == Some(69) && said.is_empty(), "{said}{why}");
        assert_eq!(why, format!("{missing} is missing: install these yourself: g++\n"));
    }
    assert_eq!(install("1000", &[("c++", "")]), (Some(0), String::new(), String::new()));
}

// Means of the picture's blocks of 15 x 15 pixels, by channel, row after row.
fn block_means(rgb: &image::RgbImage) -> Vec<f64> {
    const SIDE: u32 = 15;
    let mut means = Vec::new();
    for (y, x) in (0..rgb.height() / SIDE).flat_map(|y| (0..rgb.width() / SIDE).map(move |x| (y, x))) {
        for channel in 0..3 {
            let pixels = (0..SIDE * SIDE).map(|i| rgb.get_pixel(x * SIDE + i % SIDE, y * SIDE + i / SIDE).0[channel]);
            means.push(pixels.map(f64::from).sum::<f64>() / f64::from(SIDE * SIDE));
        }
    }
    means
}

// Each frame of the loop must be coded independently. An encoder that keeps small differences from the previous frame lets slow
// changes add up, and shows old blocks beside new ones.
#[test]
fn the_loop_on_top_of_the_readme_is_what_the_renderer_makes() {
    let file = fs::File::open(root().join("docs/loop.webp")).unwrap();
    let frames = WebPDecoder::new(BufReader::new(file)).unwrap().into_frames().collect_frames().unwrap();
    // It begins with the scene's poster, and shows more frames where it is fast (`scripts/pictures hero`).
    let shown = std::iter::successors(Some(56), |n| Some(n + if (172..372).contains(&(n % 480)) { 2 } else { 4 }));
    let numbers: Vec<usize> = shown.take_while(|&n| n < 56 + 480).map(|n| n % 480).collect();
    assert_eq!(frames.len(), numbers.len());
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("%d.png").display().to_string();
    let scene = root().join("scenes/hero.toml").display().to_string();
    // With few samples edges differ, which hardly changes the blocks' means.
    let args = [&scene, "--cpu", "--size", "400x225", "--samples", "2", "--frames", "80,440", "-o", &output];
    let run = polyfly(dir.path(), &args);
    assert!(run.status.success(), "{}", words(&run));
    for number in [80, 440] {
        let index = numbers.iter().position(|&n| n == number).unwrap();
        let shown = image::DynamicImage::ImageRgba8(frames[index].buffer().clone()).into_rgb8();
        let made = image::open(dir.path().join(format!("{number}.png"))).unwrap().into_rgb8();
        assert_eq!((shown.width(), shown.height()), (400, 225));
        let off: Vec<f64> = block_means(&shown).iter().zip(block_means(&made)).map(|(a, b)| (a - b).abs()).collect();
        let (mean, max) = (off.iter().sum::<f64>() / off.len() as f64, off.iter().copied().fold(0.0, f64::max));
        assert!(mean < 3.0 && max < 45.0, "frame {number} is off by {mean:.2} codes in the mean, {max:.1} at most");
    }
}
