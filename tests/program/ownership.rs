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

#[test]
fn a_few_frames_of_another_scene_cost_no_more_than_those() {
    let dir = folder();
    assert!(render(dir.path(), "0-9", "a/%d.png", &[]).status.success());
    let other = render(dir.path(), "0-3", "a/%d.png", &OTHER);
    assert!(other.status.success() && words(&other).contains("keeps frames 4-9 of another scene"), "{}", words(&other));
    // The clip is not complete, and what is missing is not to be rendered over the other scene's frames.
    let missing = polyfly(dir.path(), &["missing", "a"]);
    assert!(code(&missing) == 75 && missing.stdout.is_empty(), "{}", words(&missing));
    assert!(words(&missing).contains("4 of 10 frames in a were replaced by another scene: 0-3"), "{}", words(&missing));
    let status = text(&polyfly(dir.path(), &["status", "a"]).stdout);
    assert!(status.contains("6 of 10 frames are complete, 0 missing, 0 broken\nreplaced by another scene: 4 (0-3)\n"));
    let film = polyfly(dir.path(), &["stitch", "a", "-o", "a.mp4"]);
    assert!(code(&film) == 75 && words(&film).contains("replaced by another scene: 0-3"), "{}", words(&film));
    // A lost frame of its own is listed, and those of the other scene are not.
    let lost = std::fs::read(dir.path().join("a/7.png")).unwrap();
    std::fs::remove_file(dir.path().join("a/7.png")).unwrap();
    let missing = polyfly(dir.path(), &["missing", "a"]);
    assert!(code(&missing) == 75 && text(&missing.stdout) == "7\n", "{}", words(&missing));
    assert_eq!(text(&polyfly(dir.path(), &["missing", "a", "--shards", "10"]).stdout), "8\n");
    std::fs::write(dir.path().join("a/7.png"), lost).unwrap();
    // The journal knows of ten frames.
    assert!(render(dir.path(), "0-19", "a/other%d.png", &[]).status.success());
    let status = text(&polyfly(dir.path(), &["status", "a/%d.png"]).stdout);
    assert!(status.contains(": 10 frames, "), "{status}");
    let all = render(dir.path(), "0-9", "a/%d.png", &["--resume"]);
    assert!(code(&all) == 64 && words(&all).contains("0.png is a frame of another scene"), "{}", words(&all));
    assert!(render(dir.path(), "4-9", "a/%d.png", &["--resume"]).status.success());
    // A frame that the other scene has lost, too, is the clip's again.
    std::fs::remove_file(dir.path().join("a/3.png")).unwrap();
    assert!(render(dir.path(), "3-9", "a/%d.png", &["--resume"]).status.success());
    let status = text(&polyfly(dir.path(), &["status", "a/%d.png"]).stdout);
    assert!(status.contains("7 of 10 frames are complete") && status.contains(": 3 (0-2)"), "{status}");
    // With --overwrite they are rendered again, the other run's first frames too.
    assert!(render(dir.path(), "0-9", "a/%d.png", &["--overwrite"]).status.success());
    assert_eq!(code(&polyfly(dir.path(), &["missing", "a/%d.png"])), 0);
    assert!(render(dir.path(), "0-9", "b/%d.png", &[]).status.success());
    same(&dir.path().join("a"), &dir.path().join("b"));
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
            assert!(code(&run) == 64 && words(&run).contains(&format!("{name} already exists")), "{}", words(&run));
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
            assert!(code(&run) == 64 && words(&run).contains(&format!("{name} already exists")), "{}", words(&run));
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
    assert!(words(&failed).contains("not replaced yet: 9; they are in a/.polyfly/replaced"), "{}", words(&failed));
    for (name, bytes) in old.iter().filter(|(name, _)| name != "5.png") {
        assert!(std::fs::read(aside.join(name)).unwrap() == *bytes, "{name}");
    }
    std::fs::remove_dir(a.join("5.png")).unwrap();
    let rest = render(dir.path(), "0-9", "a/%d.png", &[&OTHER[..2], &["--resume"]].concat());
    assert!(rest.status.success() && !aside.exists(), "{}", words(&rest));
    assert!(render(dir.path(), "0-9", "b/%d.png", &OTHER[..2]).status.success());
    same(&a, &dir.path().join("b"));
}

// A scene on stdin overwrites frames, but nobody has asked to replace what no run has written.
#[test]
fn files_of_others_are_moved_and_not_replaced() {
    let dir = folder();
    let photos = dir.path().join("p");
    std::fs::create_dir(&photos).unwrap();
    let piped = || {
        let scene = std::fs::File::open(dir.path().join("scene.toml")).unwrap();
        let args = [&["--frames", "0-2", "-o", "p/IMG_%04d.jpg"], &LOOK[..]].concat();
        program(dir.path(), &args).stdin(scene).output().unwrap()
    };
    for photo in ["one", "another"] {
        std::fs::write(photos.join("IMG_0001.jpg"), photo).unwrap();
        let _ = std::fs::remove_file(photos.join("manifest.json"));
        let run = piped();
        assert!(run.status.success() && words(&run).contains("they are in p/.polyfly/foreign"), "{}", words(&run));
    }
    // What polyfly has written itself is replaced.
    assert!(piped().status.success());
    let kept = frames(&photos.join(".polyfly/foreign"));
    let photo = |name: &str| kept.iter().find(|(own, _)| own == name).map(|(_, bytes)| bytes.as_slice());
    assert_eq!((photo("IMG_0001.jpg"), photo("2-IMG_0001.jpg")), (Some(&b"one"[..]), Some(&b"another"[..])));
}

#[test]
fn a_run_whose_folder_another_scene_takes_stops() {
    let dir = folder();
    let large = ["--cpu", "--size", "320x240", "--samples", "1", "--threads=1"];
    let render = |frames: &str, to: &str, more: &[&str]| {
        program(dir.path(), &[&["scene.toml", "--frames", frames, "-o", to], &large[..], more].concat())
    };
    let first = render("0-399", "a/%d.png", &[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| dir.path().join("a/2.png").exists());
    let other = render("0-19", "a/%d.png", &OTHER).output().unwrap();
    assert!(other.status.success(), "{}", words(&other));
    let first = first.wait_with_output().unwrap();
    assert_eq!(code(&first), 65, "{}", words(&first));
    assert!(words(&first).contains("another run has taken over a "), "{}", words(&first));
    // Frames that replaced the other run's belong to the new run.
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
