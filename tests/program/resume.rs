//! Runs that are interrupted, continue, and share a folder: the same frames and videos as an undisturbed run.

use crate::common::{folder, frames, polyfly, program, signal, wait_for, words};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const LOOK: [&str; 6] = ["--cpu", "--size", "64x48", "--samples", "1", "--threads=1"];

fn start(folder: &Path, args: &[&str]) -> Child {
    program(folder, args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn render(dir: &Path, frames: &str, to: &str, more: &[&str]) -> Output {
    polyfly(dir, &[&["scene.toml", "--frames", frames, "-o", to], &LOOK[..], more].concat())
}

fn code(run: &Output) -> i32 {
    run.status.code().unwrap()
}

#[test]
fn what_is_missing_or_broken_is_rendered_and_nothing_else() {
    let dir = folder();
    for format in ["png", "data", "ppm", "exr", "jpg", "webp", "tiff"] {
        let (whole, cut) = (format!("whole-{format}"), format!("cut-{format}"));
        let pattern = |folder: &str| format!("{folder}/%02d.{format}");
        assert!(render(dir.path(), "0-7", &pattern(&whole), &[]).status.success());
        assert!(render(dir.path(), "0-7", &pattern(&cut), &[]).status.success());
        let file = |n: u32| dir.path().join(&cut).join(format!("{n:02}.{format}"));
        let untouched = file(0).metadata().unwrap().modified().unwrap();
        // One is missing, one is truncated, one is empty, one has a wrong end, one has another size.
        std::fs::remove_file(file(1)).unwrap();
        let bytes = std::fs::read(file(2)).unwrap();
        std::fs::write(file(2), &bytes[..bytes.len() - 1]).unwrap();
        std::fs::write(file(3), "").unwrap();
        std::fs::write(file(4), [&bytes[..], &[0]].concat()).unwrap();
        let other = ["scene.toml", "--cpu", "--size", "32x48", "--samples", "1", "--frames", "5", "-q"];
        assert!(polyfly(dir.path(), &[&other[..], &["-o", &format!("small.{format}")]].concat()).status.success());
        std::fs::rename(dir.path().join(format!("small.{format}")), file(5)).unwrap();

        let missing = polyfly(dir.path(), &["missing", &cut]);
        assert_eq!((String::from_utf8_lossy(&missing.stdout).as_ref(), code(&missing)), ("1-5\n", 75), "{format}");
        let shards = polyfly(dir.path(), &["missing", &cut, "--shards", "4"]);
        assert_eq!(String::from_utf8_lossy(&shards.stdout), "1-3\n");
        let run = render(dir.path(), "0-7", &pattern(&cut), &["--resume"]);
        assert!(run.status.success(), "{}", words(&run));
        assert_eq!(run.stdout.split(|b| *b == b'\n').count() - 1, 5, "{format}: five were to be made");
        assert!(words(&run).contains("3 of 8 frames exist and are complete"), "{}", words(&run));
        assert_eq!(frames(&dir.path().join(&cut)), frames(&dir.path().join(&whole)), "{format}");
        assert_eq!(file(0).metadata().unwrap().modified().unwrap(), untouched);
        assert_eq!(code(&polyfly(dir.path(), &["missing", &cut])), 0);
    }
}

#[test]
fn frames_that_are_there_are_safe() {
    let dir = folder();
    assert!(render(dir.path(), "0-3", "out/%d.png", &[]).status.success());
    let before = frames(&dir.path().join("out"));
    let again = render(dir.path(), "3-4", "out/%d.png", &[]);
    assert_eq!(code(&again), 64);
    assert!(words(&again).contains("--resume") && words(&again).contains("--overwrite"), "{}", words(&again));
    // More frames of the same scene extend the plan.
    assert!(render(dir.path(), "4-5", "out/%d.png", &[]).status.success());
    assert_eq!(code(&polyfly(dir.path(), &["missing", "out"])), 0);
    std::fs::remove_file(dir.path().join("out/2.png")).unwrap();
    assert_eq!(polyfly(dir.path(), &["missing", "out"]).stdout, b"2\n");

    // Another scene.
    let text = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    std::fs::write(dir.path().join("scene.toml"), text.replacen("ior", "#ior", 1).replace("depth = ", "depth = 1"))
        .unwrap();
    let other = render(dir.path(), "0-3", "out/%d.png", &["--resume"]);
    assert_eq!(code(&other), 65, "{}", words(&other));
    assert!(words(&other).contains("render.depth"), "{}", words(&other));
    for job in
        [&["missing", "out", "--scene", "scene.toml"][..], &["stitch", "out", "-o", "v.y4m", "--scene", "scene.toml"]]
    {
        let refused = polyfly(dir.path(), &[job, &["--size", "64x48", "--samples", "1"]].concat());
        assert_eq!(code(&refused), 65, "{job:?}: {}", words(&refused));
    }
    assert!(
        frames(&dir.path().join("out"))
            .iter()
            .all(|f| before.contains(f) || ["4.png", "5.png"].contains(&f.0.as_str()))
    );
    // Overwritten in part, the rest is set aside.
    let part = render(dir.path(), "0-1", "out/%d.png", &["--overwrite"]);
    assert!(part.status.success() && words(&part).contains("not replaced: 3"), "{}", words(&part));
    assert!(polyfly(dir.path(), &["missing", "out"]).status.success() && frames(&dir.path().join("out")).len() == 2);
    let all = render(dir.path(), "0-5", "out/%d.png", &["--overwrite"]);
    assert!(all.status.success(), "{}", words(&all));
    assert_eq!(code(&polyfly(dir.path(), &["missing", "out"])), 0);

    // Read-only files stay, and a foreign manifest is not touched.
    let mut permissions = std::fs::metadata(dir.path().join("out/1.png")).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(dir.path().join("out/1.png"), permissions).unwrap();
    let read_only = render(dir.path(), "0-5", "out/%d.png", &["--overwrite"]);
    assert!(code(&read_only) == 74 && words(&read_only).contains("read-only"), "{}", words(&read_only));
    std::fs::create_dir(dir.path().join("web")).unwrap();
    std::fs::write(dir.path().join("web/manifest.json"), "{\"name\": \"a page\"}").unwrap();
    let foreign = render(dir.path(), "0-3", "web/%d.png", &["--overwrite"]);
    assert!(code(&foreign) == 65 && words(&foreign).contains("not polyfly's"), "{}", words(&foreign));
}

#[test]
fn shards_make_the_same_frames_and_the_same_video() {
    let dir = folder();
    let whole = render(dir.path(), "0-10", "whole/%03d.png", &["--video", "whole.mp4"]);
    assert!(whole.status.success(), "{}", words(&whole));
    let shards: Vec<Child> = ["1/3", "2/3", "3/3"]
        .map(|shard| {
            let args = ["scene.toml", "--frames", "0-10", "-o", "parts/%03d.png", "--shard", shard];
            start(dir.path(), &[&args, &LOOK[..]].concat())
        })
        .into();
    for shard in shards {
        let run = shard.wait_with_output().unwrap();
        assert!(run.status.success(), "{}", words(&run));
    }
    assert_eq!(frames(&dir.path().join("parts")), frames(&dir.path().join("whole")));
    let stitched = polyfly(dir.path(), &["stitch", "parts", "-o", "parts.mp4"]);
    assert!(stitched.status.success(), "{}", words(&stitched));
    let elsewhere = polyfly(dir.path(), &["stitch", "parts/%03d.png", "-o", "elsewhere.mp4"]);
    assert!(elsewhere.status.success(), "{}", words(&elsewhere));
    let bytes = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(bytes("parts.mp4") == bytes("whole.mp4") && bytes("elsewhere.mp4") == bytes("whole.mp4"));

    // A resumed run makes its video of all frames.
    std::fs::remove_file(dir.path().join("parts/004.png")).unwrap();
    for job in [["stitch", "parts", "-o", "v.mp4"], ["stitch", "parts/%03d.png", "-o", "v.mp4"]] {
        let refused = polyfly(dir.path(), &job);
        assert!(code(&refused) == 75 && words(&refused).contains("frames 4 "), "{}", words(&refused));
    }
    assert!(!dir.path().join("v.mp4").exists());
    let resumed = render(dir.path(), "0-10", "parts/%03d.png", &["--resume", "--video", "resumed.mp4"]);
    assert!(resumed.status.success(), "{}", words(&resumed));
    assert!(bytes("resumed.mp4") == bytes("whole.mp4"));
    let status = String::from_utf8(polyfly(dir.path(), &["status", "parts"]).stdout).unwrap();
    assert!(status.contains("11 of 11 frames are complete") && status.contains("11 frames, "), "{status}");
    // Frames with more precision than a video shows.
    assert!(render(dir.path(), "0-1", "deep/%d.png", &["--set", "output.bits=16"]).status.success());
    std::fs::remove_file(dir.path().join("deep/1.png")).unwrap();
    let deep =
        render(dir.path(), "0-1", "deep/%d.png", &["--set", "output.bits=16", "--resume", "--video", "deep.mp4"]);
    assert!(code(&deep) == 0 && words(&deep).contains("1 existing frames are rendered again"), "{}", words(&deep));
    let undisturbed = render(dir.path(), "0-1", "other/%d.png", &["--set", "output.bits=16", "--video", "other.mp4"]);
    assert!(undisturbed.status.success() && bytes("deep.mp4") == bytes("other.mp4"));
    for (wrong, why) in [("0/3", "K from 1"), ("4/3", "K from 1"), ("x", "K/N")] {
        let refused = render(dir.path(), "0-10", "n/%d.png", &["--shard", wrong]);
        assert!(code(&refused) == 64 && words(&refused).contains(why), "{}", words(&refused));
    }
    assert_eq!(code(&render(dir.path(), "0-1", "n/%d.png", &["--shard", "5/9"])), 0);
}

#[test]
fn killed_at_any_moment_it_goes_on() {
    let dir = folder();
    assert!(render(dir.path(), "0-23", "whole/%d.png", &[]).status.success());
    let whole = frames(&dir.path().join("whole"));
    for (i, (name, expected)) in
        [("KILL", None), ("INT", Some(130)), ("TERM", Some(75)), ("HUP", Some(75))].into_iter().enumerate()
    {
        let to = format!("cut{i}");
        let args = ["scene.toml", "--frames", "0-23", "-o", &format!("{to}/%d.png"), "--resume"];
        let args = [&args[..], &LOOK[..]].concat();
        let mut child = start(dir.path(), &args);
        let third = dir.path().join(&to).join("2.png");
        wait_for(|| third.exists());
        signal(&child, name);
        let status = child.wait().unwrap();
        let mut said = String::new();
        std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut said).unwrap();
        if status.success() {
            // The run was faster than the signal.
            continue;
        }
        assert_eq!(status.code(), expected, "{name}: {said}");
        assert_eq!(said.contains("to resume: ") && said.contains("--resume"), expected.is_some(), "{said}");
        for frame in frames(&dir.path().join(&to)) {
            assert!(whole.contains(&frame), "{name}: {} is not whole", frame.0);
        }
        let run = polyfly(dir.path(), &args);
        assert!(run.status.success(), "{}", words(&run));
        assert_eq!(frames(&dir.path().join(&to)), whole, "{name}");
        let hidden =
            |e: std::io::Result<std::fs::DirEntry>| e.unwrap().file_name().to_string_lossy().ends_with(".part");
        assert_eq!(std::fs::read_dir(dir.path().join(&to)).unwrap().map(hidden).filter(|h| *h).count(), 0);
    }
}

#[test]
fn a_parent_that_ignores_signals_is_respected() {
    let dir = folder();
    for name in ["HUP", "INT"] {
        let script = format!(
            "trap '' {name}; exec {} scene.toml --frames 0-11 -o {name}/%d.png {}",
            env!("CARGO_BIN_EXE_polyfly"),
            LOOK.join(" ")
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(dir.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = shell.stderr(Stdio::null()).spawn().unwrap();
        wait_for(|| dir.path().join(name).join("0.png").exists());
        signal(&child, name);
        assert!(child.wait().unwrap().success(), "{name}");
        assert_eq!(frames(&dir.path().join(name)).len(), 12);
    }
}

#[test]
fn two_runs_share_a_folder() {
    let dir = folder();
    assert!(render(dir.path(), "0-29", "whole/%d.png", &[]).status.success());
    let args = ["scene.toml", "--frames", "0-29", "-o", "both/%d.png", "--resume"];
    let runs: Vec<Child> = (0..2).map(|_| start(dir.path(), &[&args, &LOOK[..]].concat())).collect();
    for child in runs {
        let run = child.wait_with_output().unwrap();
        assert!(run.status.success(), "{}", words(&run));
    }
    assert_eq!(frames(&dir.path().join("both")), frames(&dir.path().join("whole")));
    assert_eq!(code(&polyfly(dir.path(), &["missing", "both"])), 0);
}

#[test]
fn a_scene_file_stays_in_its_folder() {
    let dir = folder();
    let (own, other) = (dir.path().join("own"), dir.path().join("other"));
    std::fs::create_dir_all(own.join("in")).unwrap();
    std::fs::create_dir(&other).unwrap();
    std::fs::copy("textures/wood.png", other.join("wood.png")).unwrap();
    std::fs::copy("textures/wood.png", own.join("in/wood.png")).unwrap();
    std::os::unix::fs::symlink(&other, own.join("link")).unwrap();
    std::os::unix::fs::symlink(other.join("wood.png"), own.join("in/link.png")).unwrap();
    let absolute = other.display().to_string();
    let text = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    let run = |texture: &str, path: &str, more: &[&str]| {
        let floor = text.find("[floor]").map_or_else(|| format!("{text}\n[floor]\n"), |_| text.clone());
        let scene = floor
            .lines()
            .filter(|l| !l.starts_with("texture =") && !l.starts_with("path ="))
            .fold(String::new(), |all, l| all + l + "\n");
        let scene = scene.replacen("[floor]\n", &format!("[floor]\ntexture = \"{texture}\"\n"), 1);
        let scene = scene.replacen("[output]\n", &format!("[output]\npath = \"{path}\"\n"), 1);
        std::fs::write(own.join("scene.toml"), scene).unwrap();
        polyfly(&own, &[&["scene.toml", "--frames", "0", "-q", "--overwrite"], &LOOK[..], more].concat())
    };
    for (texture, path, place) in [
        ("../other/wood.png", "o/%d.png", Some("floor.texture")),
        ("in/../../other/wood.png", "o/%d.png", Some("floor.texture")),
        (&format!("{absolute}/wood.png"), "o/%d.png", Some("floor.texture")),
        ("link/wood.png", "o/%d.png", Some("floor.texture")),
        ("in/link.png", "o/%d.png", Some("floor.texture")),
        ("in/wood.png", "../other/%d.png", Some("output.path")),
        ("in/wood.png", &format!("{absolute}/new/%d.png"), Some("output.path")),
        ("in/wood.png", "link/%d.png", Some("output.path")),
        ("in/wood.png", "in/../o/%d.png", None),
        ("in/nothing/../wood.png", "o/../o/new/%d.png", None),
    ] {
        let refused = run(texture, path, &[]);
        match place {
            Some(place) => {
                let said = words(&refused);
                assert_eq!(code(&refused), 65, "{texture} {path}: {said}");
                assert!(said.contains(place) && said.contains("--allow-outside"), "{said}");
                assert_eq!(std::fs::read_dir(&other).unwrap().count(), 1, "{path}: nothing is written there");
                let allowed = run(texture, path, &["--allow-outside", "-o", "o/%d.png"]);
                assert!(allowed.status.success(), "{texture}: {}", words(&allowed));
            }
            None if texture.contains("nothing") => assert_ne!(code(&refused), 0, "there is no such folder"),
            None => assert!(refused.status.success(), "{}", words(&refused)),
        }
    }
    // Flags may name any file.
    let elsewhere = format!("{absolute}/%d.png");
    assert!(run("in/wood.png", "o/%d.png", &["-o", &elsewhere]).status.success());
    let allowed = run("../other/wood.png", "../other/%d.png", &["--allow-outside"]);
    assert!(allowed.status.success(), "{}", words(&allowed));
}

#[test]
fn names_of_files_are_nothing_but_names() {
    let dir = folder();
    // Options, protocols and patterns of ffmpeg.
    for video in [
        "-y.mp4",
        "-f/-i.mp4",
        "http://host/x.mp4",
        "concat:a|b/v.mp4",
        "%d/50%.mp4",
        "it's/a 'b' \"c\".mp4",
        "pipe:1.mp4",
    ] {
        let video = format!("./{video}");
        let run = polyfly(
            dir.path(),
            &[&["scene.toml", "--frames", "0-2", "test:segment=2", "--no-frames", "--video", &video], &LOOK[..]]
                .concat(),
        );
        assert!(run.status.success(), "{video}: {}", words(&run));
        assert!(dir.path().join(&video).is_file(), "{video}");
    }
}

// A run on a full disk has written its frames, and could not write that they are there.
#[test]
fn a_manifest_without_its_frames_is_completed() {
    let dir = folder();
    assert!(render(dir.path(), "0-2", "a/%d.png", &[]).status.success());
    let path = dir.path().join("a/manifest.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    let listed = "\"written\": \"0-2\"";
    assert!(whole.contains(listed), "{whole}");
    std::fs::write(&path, whole.replace(listed, "\"written\": \"\"")).unwrap();
    assert!(render(dir.path(), "0-2", "a/%d.png", &["--resume"]).status.success());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
}

#[test]
fn a_lost_log_is_told_and_costs_no_frame() {
    let dir = folder();
    let args = [&["scene.toml", "--frames", "0-4", "-o", "out/%d.png"][..], &LOOK[..]].concat();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = program(dir.path(), &args).stdout(full).output().unwrap();
    assert_eq!(code(&run), 74);
    assert!(words(&run).contains("cannot write stdout"), "{}", words(&run));
    assert_eq!(frames(&dir.path().join("out")).len(), 5);
    assert_eq!(code(&polyfly(dir.path(), &["missing", "out"])), 0);
    // The log's last record says how the run ended.
    let log = |args: &[&str]| {
        let run =
            polyfly(dir.path(), &[&["scene.toml", "--log", "jsonl", "-o", "log/%d.png"], args, &LOOK[..]].concat());
        let text = String::from_utf8(run.stdout).unwrap();
        serde_json::from_str::<serde_json::Value>(text.lines().last().unwrap()).unwrap()
    };
    let end = log(&["--frames", "0-1"]);
    assert!(end["type"] == "end" && end["status"] == "complete" && end["error"].is_null(), "{end}");
    // A folder has the name of the last frame.
    std::fs::create_dir_all(dir.path().join("log/4.png/x")).unwrap();
    let end = log(&["--frames", "3-4", "--resume"]);
    assert_eq!(end["exit_code"], 74);
    assert!(end["status"] == "failed" && end["error"].as_str().unwrap().contains("4.png"), "{end}");
}

#[test]
fn frames_that_runs_begin_in_any_order_are_one_clip_in_its_order() {
    let dir = folder();
    let run = |frames: &str| {
        start(
            dir.path(),
            &[&["scene.toml", "--frames", frames, "-o", "o/%d.png", "--resume", "-q"], &LOOK[..]].concat(),
        )
    };
    let listed = || {
        let manifest = std::fs::read_to_string(dir.path().join("o/manifest.json")).unwrap();
        manifest.lines().find(|l| l.contains("\"frames\": \"")).unwrap().trim().trim_end_matches(',').to_owned()
    };
    for frames in ["30-39", "0-39x10", "0-9"] {
        assert!(run(frames).wait().unwrap().success());
    }
    assert_eq!(listed(), "\"frames\": \"0-10,20,30-39\"");
    // Started at the same moment.
    for (a, b) in [("40-44", "45-49"), ("50-54", "55-59"), ("60-64", "65-69")] {
        let mut both = [run(a), run(b)];
        assert!(both.iter_mut().all(|child| child.wait().unwrap().success()));
    }
    assert_eq!(listed(), "\"frames\": \"0-10,20,30-69\"");
}

// A worker that is silent is named with its frames, no time is promised where nobody works, and the command renders what is missing.
#[test]
fn a_silent_worker_is_named_with_its_frames() {
    let dir = folder();
    assert!(render(dir.path(), "0-9", "o/%d.png", &[]).status.success());
    (6..10).for_each(|n| std::fs::remove_file(dir.path().join(format!("o/{n}.png"))).unwrap());
    let hidden = dir.path().join("o/.polyfly");
    let mut journals = std::fs::read_dir(&hidden).unwrap().map(|entry| entry.unwrap().path());
    let own = journals.find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    let text = std::fs::read_to_string(&own).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["frames"], "0-9");
    // Frames 0 to 3 are those of this machine; it has ended.
    let is_kept = |line: &&serde_json::Value| line["frame"].as_u64().is_none_or(|n| n < 4);
    let write = |name: &str, lines: &[serde_json::Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(hidden.join(name), text).unwrap();
    };
    write(own.file_name().unwrap().to_str().unwrap(), &lines.iter().filter(is_kept).cloned().collect::<Vec<_>>());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    // Another machine begins a run at `begun` and completes these frames.
    let worker = |name: &str, planned: &str, begun: f64, done: &[(u32, f64)]| {
        let mut head = lines[0].clone();
        (head["frames"], head["at"]) = (planned.into(), (now + begun).into());
        let entry = |&(frame, at): &(u32, f64)| serde_json::json!({ "frame": frame, "ms": 2.0, "at": now + at });
        write(name, &[vec![head], done.iter().map(entry).collect()].concat());
    };
    let status = || String::from_utf8(polyfly(dir.path(), &["status", "o"]).stdout).unwrap();
    worker("far-7.jsonl", "4-8", -3700.0, &[(4, -3601.0), (5, -3600.0)]);
    let said = status();
    assert!(said.contains("6 of 10 frames are complete, 4 missing") && said.contains(": 4 frames, "), "{said}");
    assert!(said.contains("far, process 7: 2 frames, 2.0 ms each; silent for 61 min: frames 6-8\n"), "{said}");
    let rest = "polyfly scene.toml -o o/%d.png --frames 6-9 --resume\n";
    assert!(said.contains("to render frames 6-9, ") && said.ends_with(rest) && !said.contains("to go"), "{said}");
    // Its clock is ahead. It takes what the other has left, whose row goes back to its machine.
    worker("near-8.jsonl", "3-9", 5.0, &[(4, 6.0), (5, 6.5)]);
    let said = status();
    assert!(said.contains("near, process 8: 2 frames, 2.0 ms each; the last 0 s ago\n"), "{said}");
    assert!(said.contains("2.00 frames a second lately, 2 s to go at that rate\n"), "{said}");
    assert!(!said.contains("silent") && !said.contains("to render"), "{said}");
    std::fs::remove_file(hidden.join("near-8.jsonl")).unwrap();
    let command: Vec<&str> = rest.trim_end().split(' ').skip(1).collect();
    let run = polyfly(dir.path(), &[&command[..], &LOOK].concat());
    assert!(run.status.success(), "{}", words(&run));
    let said = status();
    assert!(said.contains("10 of 10 frames are complete") && !said.contains("to render"), "{said}");
}
