//! Two runs over one folder's frames, and changes between two runs: no clip or film ever mixes two scenes.

use crate::common::{folder, frames, polyfly, program, shell_script, text, wait_for, words};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const LOOK: [&str; 6] = ["--cpu", "--size", "64x48", "--samples", "1", "--threads=1"];
const OTHER: [&str; 3] = ["--set", "film.exposure=1", "--overwrite"];

fn render(dir: &Path, frames: &str, to: &str, more: &[&str]) -> Output {
    polyfly(dir, &[&["scene.toml", "--frames", frames, "-o", to], &LOOK[..], more].concat())
}

fn code(run: &Output) -> i32 {
    run.status.code().unwrap()
}

// All frames of `b` equal those of `a`.
fn same(a: &Path, b: &Path) {
    for (name, bytes) in frames(b) {
        assert!(std::fs::read(a.join(&name)).unwrap() == bytes, "{name}");
    }
}

fn said(run: &Output, expected: i32, text: &str) {
    assert!(code(run) == expected && words(run).contains(text), "{}", words(run));
}

fn state_of(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = frames(dir);
    all.sort();
    all
}

#[test]
fn an_empty_folder_takes_any_scene() {
    let dir = folder();
    std::fs::create_dir(dir.path().join("a")).unwrap();
    for (to, more) in [("a/%d.png", &[][..]), ("b/%d.png", &["--resume"]), ("c/%d.png", &["--overwrite"])] {
        assert!(render(dir.path(), "0-1", to, more).status.success());
    }
    // A run of one frame has a manifest as well, and a clip goes on from it.
    assert!(render(dir.path(), "3", "d/%d.png", &[]).status.success());
    let rest = render(dir.path(), "2-4", "d/%d.png", &["--resume"]);
    said(&rest, 0, "1 of 3 frames exist");
}

#[test]
fn a_folder_of_the_same_scene_is_shared_and_completed() {
    let dir = folder();
    assert!(render(dir.path(), "0-4", "a/%d.png", &[]).status.success());
    said(&render(dir.path(), "3-9", "a/%d.png", &[]), 64, "a/3.png already exists");
    assert!(render(dir.path(), "3-9", "a/%d.png", &["--resume"]).status.success());
    assert_eq!(code(&polyfly(dir.path(), &["missing", "a"])), 0);
    let before = state_of(&dir.path().join("a"));
    assert!(render(dir.path(), "0-9", "a/%d.png", &["--overwrite"]).status.success());
    assert!(state_of(&dir.path().join("a")) == before && !dir.path().join("a/.polyfly/replaced").exists());
}

#[test]
fn frames_of_another_scene_are_set_aside_as_a_whole_or_not_touched() {
    let dir = folder();
    let a = dir.path().join("a");
    assert!(render(dir.path(), "0-9", "a/%d.png", &[]).status.success());
    let before = state_of(&a);
    for more in [&OTHER[..2], &["--set", "film.exposure=1", "--resume"]] {
        said(&render(dir.path(), "0-3", "a/%d.png", more), 65, "film.exposure");
    }
    // Tokens replace frames of their own accord, but not a clip by a part of one.
    let piped = |frames: &[&str]| {
        let scene = std::fs::File::open(dir.path().join("scene.toml")).unwrap();
        let args = [&["-o", "a/%d.png", "--set", "film.exposure=1"], frames, &LOOK[..]].concat();
        program(dir.path(), &args).stdin(scene).output().unwrap()
    };
    said(&piped(&["--frames", "3"]), 65, "film.exposure");
    assert!(state_of(&a) == before);
    let other = render(dir.path(), "0-3", "a/%d.png", &OTHER);
    said(&other, 0, "not replaced: 6; they are in a/.polyfly/replaced");
    assert_eq!(frames(&a).len(), 4);
    assert_eq!(code(&polyfly(dir.path(), &["missing", "a"])), 0, "the folder holds one scene");
    let aside = state_of(&a.join(".polyfly/replaced"));
    assert!(aside == before[4..], "the rest is kept");
    assert!(render(dir.path(), "0-3", "b/%d.png", &OTHER[..2]).status.success());
    same(&a, &dir.path().join("b"));
}

#[test]
fn frames_of_an_unknown_scene_are_replaced_by_nobody_who_does_not_say_so() {
    let dir = folder();
    let photos = dir.path().join("p");
    std::fs::create_dir(&photos).unwrap();
    std::fs::write(photos.join("IMG_0001.jpg"), "one").unwrap();
    let scene = || std::fs::File::open(dir.path().join("scene.toml")).unwrap();
    let args = [&["-o", "p/IMG_%04d.jpg"], &LOOK[..]].concat();
    let piped = program(dir.path(), &args).stdin(scene()).output().unwrap();
    said(&piped, 64, "their scene is unknown");
    for more in [&[][..], &["--resume"]] {
        said(&render(dir.path(), "0-2", "p/IMG_%04d.jpg", more), 64, "their scene is unknown");
    }
    assert!(render(dir.path(), "4-5", "q/%d.png", &[]).status.success());
    std::fs::copy(dir.path().join("q/4.png"), dir.path().join("q/7.png")).unwrap();
    said(&render(dir.path(), "4-9", "q/%d.png", &["--resume"]), 64, "q/7.png is not a frame of this clip");
    assert!(std::fs::read(photos.join("IMG_0001.jpg")).unwrap() == b"one");
    said(
        &render(dir.path(), "0", "p/IMG_%04d.jpg", &["--overwrite"]),
        0,
        "not replaced: 1; they are in p/.polyfly/replaced",
    );
    assert!(std::fs::read(photos.join(".polyfly/replaced/IMG_0001.jpg")).unwrap() == b"one");
}

#[test]
fn a_still_of_another_scene_is_not_kept() {
    let dir = folder();
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    for (name, has_text) in [("a.png", true), ("a.exr", true), ("a.data", false)] {
        assert!(render(dir.path(), "3", name, &["--resume"]).status.success(), "there is nothing to keep");
        let first = read(name);
        let again = render(dir.path(), "3", name, &["--resume"]);
        let expected = if has_text { 0 } else { 64 };
        assert_eq!(code(&again), expected, "{name}: {}", words(&again));
        // Another scene, and another frame of the same one.
        for (frame, more) in [("3", &OTHER[..2]), ("4", &[][..])] {
            let run = render(dir.path(), frame, name, &[more, &["--resume"]].concat());
            assert!(
                code(&run) == 64 && words(&run).contains(&format!("{name} exists and was not made")),
                "{}",
                words(&run)
            );
            assert!(read(name) == first, "it is not touched");
        }
        assert!(render(dir.path(), "4", name, &["--overwrite"]).status.success());
        assert!(read(name) != first);
        // One of another size, and no picture of ours at all.
        for is_ours in [true, false] {
            if !is_ours {
                std::fs::write(dir.path().join(name), "mine").unwrap();
            }
            let before = read(name);
            let small =
                ["scene.toml", "--cpu", "--size", "10x8", "--samples", "1", "--frames", "4", "--resume", "-o", name];
            let run = polyfly(dir.path(), &small);
            assert!(
                code(&run) == 64 && words(&run).contains(&format!("{name} exists and was not made")),
                "{}",
                words(&run)
            );
            assert!(read(name) == before);
        }
    }
}

#[test]
fn replaced_frames_are_kept_until_the_new_ones_are_complete() {
    let dir = folder();
    let (a, aside) = (dir.path().join("a"), dir.path().join("a/.polyfly/replaced"));
    assert!(render(dir.path(), "0-9", "a/%d.png", &[]).status.success());
    let old = frames(&a);
    // A run that fails at its sixth frame, whose name a folder has.
    std::fs::remove_file(a.join("5.png")).unwrap();
    std::fs::create_dir(a.join("5.png")).unwrap();
    let failed = render(dir.path(), "0-9", "a/%d.png", &OTHER);
    assert_eq!(code(&failed), 74, "{}", words(&failed));
    assert!(words(&failed).contains("not replaced: 9; they are in a/.polyfly/replaced"), "{}", words(&failed));
    for (name, bytes) in old.iter().filter(|(name, _)| name != "5.png") {
        assert!(std::fs::read(aside.join(name)).unwrap() == *bytes, "{name}");
    }
    std::fs::remove_dir(a.join("5.png")).unwrap();
    let rest = render(dir.path(), "0-9", "a/%d.png", &[&OTHER[..2], &["--resume"]].concat());
    assert!(rest.status.success() && !aside.exists(), "{}", words(&rest));
    assert!(render(dir.path(), "0-9", "b/%d.png", &OTHER[..2]).status.success());
    same(&a, &dir.path().join("b"));
}

#[test]
fn a_run_of_another_scene_waits_until_the_first_one_ends() {
    let dir = folder();
    let large = ["--cpu", "--size", "320x240", "--samples", "1", "--threads=1"];
    let render = |frames: &str, to: &str, more: &[&str]| {
        program(dir.path(), &[&["scene.toml", "--frames", frames, "-o", to], &large[..], more].concat())
    };
    let mut first = render("0-399", "a/%d.png", &[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| dir.path().join("a/2.png").exists());
    said(&render("0-19", "a/%d.png", &OTHER).output().unwrap(), 75, "a run renders another scene into a now");
    assert!(first.try_wait().unwrap().is_none() && !dir.path().join("a/.polyfly/replaced").exists());
    // The lock of a run that was killed holds nobody up.
    first.kill().unwrap();
    first.wait().unwrap();
    let other = render("0-19", "a/%d.png", &OTHER).output().unwrap();
    assert!(other.status.success(), "{}", words(&other));
    assert!(render("0-19", "b/%d.png", &OTHER).status().unwrap().success());
    same(&dir.path().join("a"), &dir.path().join("b"));
}

// Particles with a file for each of six frames, with that many particles.
fn steps(dir: &Path, count: &str, to: &str) {
    std::fs::create_dir_all(dir.join(to)).unwrap();
    let made = polyfly(dir, &["particles", "generate", "--steps", "6", count, &format!("{to}/%d.bin")]);
    assert!(made.status.success(), "{}", words(&made));
}

#[test]
fn films_and_segments_of_other_time_steps_are_not_taken() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    steps(dir.path(), "50", "steps");
    steps(dir.path(), "900", "others");
    std::fs::write(at("p.toml"), "[output]\nframes = 6\n[particles]\npath = \"steps/%d.bin\"\n").unwrap();
    let render = |more: &[&str]| polyfly(dir.path(), &[&["p.toml", "test:segment=2"], &LOOK[..], more].concat());
    let done = |run: Output| assert!(run.status.success(), "{}", words(&run));
    done(render(&["--no-frames", "--video", "a.mp4"]));
    done(render(&["-o", "f/%d.png", "--shard", "1/2", "--video", "s.mp4"]));
    done(render(&["-o", "f/%d.png", "--shard", "2/2", "--video", "s.mp4"]));
    for n in ["2", "3"] {
        std::fs::copy(at(&format!("others/{n}.bin")), at(&format!("steps/{n}.bin"))).unwrap();
    }
    let farm = polyfly(dir.path(), &[&["farm", "commands", "p.toml", "--"], &LOOK[..], &["-o", "f/%d.png"]].concat());
    assert!(code(&farm) == 65 && words(&farm).contains("of frame 2"), "{}", words(&farm));
    done(render(&["--no-frames", "--video", "new.mp4"]));
    let refused = render(&["--no-frames", "--video", "a.mp4", "--resume"]);
    assert!(code(&refused) == 64 && words(&refused).contains("already exists"), "{}", words(&refused));
    done(render(&["--no-frames", "--video", "a.mp4", "--resume", "--overwrite"]));
    done(render(&["-o", "f/%d.png", "--overwrite"]));
    done(polyfly(dir.path(), &["stitch", "f", "-o", "s.mp4", "test:segment=2"]));
    done(render(&["-o", "g/%d.png", "--video", "t.mp4"]));
    let read = |name: &str| std::fs::read(at(name)).unwrap();
    assert!(read("a.mp4") == read("new.mp4") && read("s.mp4") == read("t.mp4"));
}

#[test]
fn a_beginning_by_the_name_of_the_whole_is_not_the_whole() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    // Dies after two segments.
    let script = format!(
        "case \"$*\" in *rawvideo*) echo x >>{0}/n; [ $(wc -l <{0}/n) -gt 3 ] && exit 3 ;; esac\nexec ffmpeg \"$@\"",
        tools.path().display()
    );
    let ffmpeg = shell_script(tools.path(), "ffmpeg-that-dies", &script);
    let film = ["test:segment=5", "test:encoders=1", "--video", "v.mp4"];
    let run = render(dir.path(), "0-19", "a/%d.png", &[&film[..], &["--ffmpeg", &ffmpeg]].concat());
    assert!(code(&run) == 74 && dir.path().join("v.partial.mp4").exists(), "{}", words(&run));
    std::fs::rename(dir.path().join("v.partial.mp4"), dir.path().join("v.mp4")).unwrap();
    assert!(render(dir.path(), "0-19", "a/%d.png", &[&film[..], &["--resume"]].concat()).status.success());
    let whole = render(dir.path(), "0-19", "b/%d.png", &["test:segment=5", "test:encoders=1", "--video", "w.mp4"]);
    assert!(whole.status.success(), "{}", words(&whole));
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(read("v.mp4") == read("w.mp4"));
}

#[test]
fn jobs_make_what_their_flags_ask_for_and_leave_each_other_alone() {
    let dir = folder();
    let farm = |engine: &str, more: &[&str]| {
        polyfly(dir.path(), &[&["farm", engine, "scene.toml", "--shards=2", "--"], &LOOK[..], more].concat())
    };
    assert!(render(dir.path(), "0-9", "f/a%d.png", &[]).status.success());
    let job = farm("commands", &["--frames", "0-9", "-o", "f/a%d.png", "--fps", "12", "--video", "x.mp4"]);
    assert!(words(&job).contains("-o x.mp4 --fps=12"), "{}", words(&job));
    // Another clip in the folder has begun, and its helper files have other names.
    let clip = |frames: &str, to: &str| {
        let job = farm("slurm", &["--frames", frames, "-o", to]);
        assert!(job.status.success(), "{}", words(&job));
        text(&job.stdout).lines().find(|line| line.starts_with("script=")).unwrap().to_owned()
    };
    assert_ne!(clip("0-9", "f/a%d.png"), clip("10-19", "f/a%d.png"));
    assert_ne!(clip("0-9", "f/a%d.png"), clip("0-9", "f/b%d.png"));
    let missing = polyfly(dir.path(), &["missing", "f/b%d.png"]);
    assert_eq!(code(&missing), 75, "{}", words(&missing));
    let raw = ["--set", "output.video='x.y4m'", "--crf=20"];
    for wrong in
        [&["--video", "x.y4m"][..], &raw, &["--video", "x.txt"], &["--dry-run"], &["--frames=3", "-o", "one.png"]]
    {
        let job = farm("commands", wrong);
        assert!(code(&job) == 64 && job.stdout.is_empty(), "{wrong:?}: {}", words(&job));
    }
    // A machine without ffmpeg renders its frames all the same.
    let args = [&["scene.toml", "--frames=0-3", "-o", "g/%d.png", "--video=v.mp4", "--shard=1/2"], &LOOK[..]].concat();
    let bare = program(dir.path(), &args).env("PATH", dir.path()).output().unwrap();
    assert!(bare.status.success() && words(&bare).contains("left to `polyfly stitch`"), "{}", words(&bare));
    assert_eq!(frames(&dir.path().join("g")).len(), 2);
}

#[test]
fn pictures_of_nobody_knows_which_scene_are_not_taken_for_one() {
    let dir = folder();
    assert!(render(dir.path(), "0-3", "a/%d.png", &[]).status.success());
    std::fs::remove_file(dir.path().join("a/manifest.json")).unwrap();
    for flag in [["--hash", "00"], ["--scene", "scene.toml"]] {
        let run = polyfly(dir.path(), &[&["stitch", "a/%d.png", "-o", "v.mp4"], &flag[..]].concat());
        assert!(code(&run) == 65 && words(&run).contains("no manifest.json"), "{}", words(&run));
    }
    let run = polyfly(dir.path(), &["missing", "a"]);
    assert!(code(&run) == 64 && words(&run).contains("has pictures, but no manifest.json"), "{}", words(&run));
    let run = polyfly(dir.path(), &["stitch", "a/%d.bmp", "-o", "v.mp4"]);
    assert!(code(&run) == 64 && words(&run).contains(".bmp"), "{}", words(&run));
}

#[cfg(target_os = "linux")]
#[test]
fn where_there_is_no_more_memory_the_program_says_so() {
    let dir = folder();
    // One face of eight million corners: 36 bytes per triangle, without an estimate.
    let mut ply = b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
        element face 1\nproperty list uint uchar vertex_indices\nend_header\n"
        .to_vec();
    ply.extend([0; 12]);
    ply.extend(8_000_000_u32.to_le_bytes());
    ply.resize(ply.len() + 8_000_000, 0);
    std::fs::write(dir.path().join("m.ply"), ply).unwrap();
    std::fs::write(dir.path().join("m.toml"), "[[mesh]]\npath = \"m.ply\"\n").unwrap();
    let ours = env!("CARGO_BIN_EXE_polyfly");
    let args = "m.toml --cpu --threads=1 --size 64x48 --frames 0 -o m.png --limit-memory=9999";
    let limited = format!("ulimit -v 600000; exec {ours} {args}");
    let run = Command::new("bash").args(["-c", &limited]).current_dir(dir.path()).output().unwrap();
    assert!(code(&run) == 69 && words(&run).contains("there is no memory for"), "{}", words(&run));
    assert!(!dir.path().join("m.png").exists());
}

#[test]
fn raw_video_that_fails_at_its_very_end_is_kept() {
    let dir = folder();
    let ours = env!("CARGO_BIN_EXE_polyfly");
    let args = "scene.toml --cpu --size 64x48 --samples 1 --frames 0-39 --no-frames --video v.y4m";
    // 40 frames of 4,614 bytes, and files of at most 100 KiB.
    let limited = format!("ulimit -f 100; exec {ours} {args}");
    let run = Command::new("bash").args(["-c", &limited]).current_dir(dir.path()).output().unwrap();
    assert!(code(&run) == 74 && words(&run).contains("first 22 frames are kept in v.partial.y4m"), "{}", words(&run));
    let kept = std::fs::read(dir.path().join("v.partial.y4m")).unwrap();
    assert_eq!(kept.windows(6).filter(|word| word == b"FRAME\n").count(), 22);
}

#[test]
fn stitch_keeps_to_its_memory_and_leaves_nothing_hidden() {
    let dir = folder();
    assert!(render(dir.path(), "0-3", "a/%d.png", &[]).status.success());
    // Frames of an unknown scene.
    std::fs::create_dir(dir.path().join("e")).unwrap();
    for (name, bytes) in frames(&dir.path().join("a")) {
        std::fs::write(dir.path().join("e").join(name), bytes).unwrap();
    }
    let stitch = |limit: &str| polyfly(dir.path(), &["stitch", "e/%d.png", "-o", "v/v.mp4", "--limit-memory", limit]);
    let small = stitch("1");
    assert!(code(&small) == 69 && words(&small).contains("may take 1: "), "{}", words(&small));
    assert!(words(&small).contains("raise --limit-memory") && !dir.path().join("v").exists());
    let made = stitch("4000");
    assert!(made.status.success(), "{}", words(&made));
    assert!(dir.path().join("v/v.mp4").is_file());
    assert!(["", "e", "v"].iter().all(|folder| !dir.path().join(folder).join(".polyfly").exists()));
}

#[test]
fn a_video_goes_into_the_home_folder() {
    let dir = folder();
    std::fs::create_dir(dir.path().join("home")).unwrap();
    let args = [&["scene.toml", "--frames", "0-3", "--no-frames", "--video", "~/v.mp4"], &LOOK[..]].concat();
    let run = program(dir.path(), &args).env("HOME", dir.path().join("home")).output().unwrap();
    assert!(run.status.success(), "{}", words(&run));
    assert!(dir.path().join("home/v.mp4").is_file() && !dir.path().join("~").exists());
}
