//! Folders with files of other programs: they are refused or ignored, and nothing outside is touched.

use crate::common::{folder, frames, polyfly, program, shell_script, text, wait_for, words};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const LOOK: [&str; 6] = ["--cpu", "--size", "64x48", "--samples", "1", "--threads=1"];

fn render(dir: &Path, frames: &str, to: &str, more: &[&str]) -> Output {
    polyfly(dir, &[&["scene.toml", "--frames", frames, "-o", to], &LOOK[..], more].concat())
}

fn code(run: &Output) -> i32 {
    run.status.code().unwrap()
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

// A scene's folder may come from anybody: no program, module or library is found by way of it.
#[test]
fn a_scenes_folder_runs_nothing() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let at = |name: &str| dir.path().join(name);
    let mark = at("mark");
    for name in ["ffmpeg", "python3", "sbatch", "xdg-open", "gio"] {
        shell_script(dir.path(), name, &format!(": > {}", mark.display()));
    }
    std::fs::create_dir_all(at("pyoidn/oidn/lib")).unwrap();
    for name in ["imageio_ffmpeg.py", "sitecustomize.py", "pyoidn/__init__.py"] {
        std::fs::write(at(name), format!("open({mark:?}, 'w')\nget_ffmpeg_exe = lambda: './ffmpeg'\n")).unwrap();
    }
    let library = at("pyoidn/oidn/lib/libOpenImageDenoise.so.2");
    std::fs::write(
        at("l.c"),
        "#include <stdio.h>\n__attribute__((constructor)) static void run() { fopen(MARK, \"w\"); }",
    )
    .unwrap();
    let cc = ["-shared", "-fPIC", &format!("-DMARK={mark:?}"), "l.c", "-o", library.to_str().unwrap()];
    assert!(Command::new("cc").args(cc).current_dir(dir.path()).status().unwrap().success());
    std::fs::copy(&library, at("libOpenImageDenoise.so.2")).unwrap();
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    symlink(text(&python.stdout).trim(), tools.path().join("python3")).unwrap();
    let run = |args: &[&str], packages: &str| {
        let mut command = program(dir.path(), &[args, &["scene.toml", "--frames", "0-1"], &LOOK].concat());
        command.env("PATH", format!(":{}:.", tools.path().display())).env("PYTHONPATH", format!(":.:{packages}"));
        command.env_remove("POLYFLY_FFMPEG").env_remove("POLYFLY_OIDN").output().unwrap()
    };
    let video = ["-o", "a/%d.png", "--video", "v.mkv"];
    let without = run(&video, "");
    assert!(code(&without) == 69 && words(&without).contains("ffmpeg was not found"), "{}", words(&without));
    let without = run(&["-o", "b/%d.png", "--denoise"], "");
    assert!(code(&without) == 69 && words(&without).contains("POLYFLY_OIDN"), "{}", words(&without));
    let shown = run(&["-o", "c/%d.png", "--video", "v.y4m", "--open"], "");
    assert!(shown.status.success() && words(&shown).contains("no program that shows"), "{}", words(&shown));
    let mut farm = program(dir.path(), &["farm", "slurm", "--submit", "scene.toml", "--", "-o", "d/%d.png"]);
    let farm = farm.env("PATH", "").output().unwrap();
    assert!(code(&farm) == 69 && words(&farm).contains("no `sbatch`"), "{}", words(&farm));
    assert!(!mark.exists());
    // Where Python's packages are, the package is found.
    let packages = tools.path().join("packages");
    std::fs::create_dir(&packages).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let ffmpeg = std::env::split_paths(&path).map(|folder| folder.join("ffmpeg")).find(|file| file.is_file()).unwrap();
    std::fs::write(packages.join("imageio_ffmpeg.py"), format!("get_ffmpeg_exe = lambda: {ffmpeg:?}\n")).unwrap();
    let with = run(&video, packages.to_str().unwrap());
    assert!(with.status.success() && at("v.mkv").exists() && !mark.exists(), "{}", words(&with));
}

// Opening a pipe waits for its other end.
#[test]
fn pipes_are_neither_read_nor_replaced() {
    let dir = folder();
    for name in ["v.mp4", "v.y4m", "f.png", "s.png"] {
        fifo(&dir.path().join(name));
    }
    let refused = |args: &[&str]| {
        let mut child = program(dir.path(), args);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let run = child.wait_with_output().unwrap();
        assert!(words(&run).contains("it is a device or a pipe, and not a file"), "{args:?}: {}", words(&run));
        assert!(!run.status.success());
    };
    for video in ["v.mp4", "v.y4m"] {
        let to = ["scene.toml", "--frames", "0-1", "-o", "a/%d.png", "--overwrite", "--video", video];
        refused(&[&to[..], &LOOK].concat());
    }
    refused(&["convert", "f.png", "x.png"]);
    refused(&["compare", "f.png", "f.png"]);
    refused(&["scene.toml", "--sheet", "s.png", "--cpu", "--overwrite"]);
    for name in ["v.mp4", "v.y4m", "s.png"] {
        assert!(dir.path().join(name).symlink_metadata().is_ok_and(|what| !what.is_file()), "{name}");
    }
    // Among the frames of a folder it is none.
    assert!(render(dir.path(), "0-1", "h/%d.png", &[]).status.success());
    std::fs::remove_file(dir.path().join("h/1.png")).unwrap();
    fifo(&dir.path().join("h/1.png"));
    let missing = polyfly(dir.path(), &["missing", "h"]);
    assert!(code(&missing) == 75 && text(&missing.stdout).trim() == "1", "{}", words(&missing));
}

#[test]
fn links_and_pipes_in_the_hidden_folder_are_refused() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("elsewhere")).unwrap();
    std::fs::write(at("precious"), "precious").unwrap();
    std::fs::create_dir_all(at("a/.polyfly")).unwrap();
    symlink(at("precious"), at("a/.polyfly/lock")).unwrap();
    std::fs::create_dir_all(at("b")).unwrap();
    symlink(at("elsewhere"), at("b/.polyfly")).unwrap();
    std::fs::create_dir_all(at("c/.polyfly")).unwrap();
    fifo(&at("c/.polyfly/lock"));
    let begun = Instant::now();
    for name in ["a", "b", "c"] {
        let run = render(dir.path(), "0-1", &format!("{name}/%d.png"), &["--video", &format!("{name}/v.mp4")]);
        assert_eq!(code(&run), 74, "{name}: {}", words(&run));
        assert!(words(&run).contains(".polyfly"), "{}", words(&run));
    }
    assert_eq!(std::fs::read(at("precious")).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(at("elsewhere")).unwrap().count(), 0);
    // Journals without an end are ignored.
    assert!(render(dir.path(), "0-1", "d/%d.png", &[]).status.success());
    fifo(&at("d/.polyfly/x-1.jsonl"));
    symlink("/dev/zero", at("d/.polyfly/y-1.jsonl")).unwrap();
    let status = polyfly(dir.path(), &["status", "d"]);
    assert!(text(&status.stdout).contains("2 of 2 frames are complete"), "{}", words(&status));
    assert!(begun.elapsed() < Duration::from_secs(40), "nobody waits for a pipe");
}

#[test]
fn a_manifest_that_leads_outside_or_promises_too_much_is_refused() {
    let dir = folder();
    assert!(render(dir.path(), "0-3", "a/%d.png", &[]).status.success());
    let good = std::fs::read_to_string(dir.path().join("a/manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&good).unwrap();
    let own = manifest["frames"]["%d.png"].take();
    let written = |key: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let mut own = own.clone();
        change(&mut own);
        serde_json::json!({"polyfly": "0.1.0", "frames": {key: own}}).to_string()
    };
    std::fs::create_dir(dir.path().join("bad")).unwrap();
    let jobs: [&[&str]; 4] =
        [&["missing", "bad"], &["status", "bad"], &["stitch", "bad", "-o", "v.y4m"], &["report", "bad"]];
    let begun = Instant::now();
    for (name, text) in [
        ("pattern", written("%d.png", &|m| m["pattern"] = "../a/%d.png".into())),
        ("pattern", written("../a/%d.png", &|m| m["pattern"] = "../a/%d.png".into())),
        ("hash", written("%d.png", &|m| m["hash"] = "/../../../escaped".into())),
        ("size", written("%d.png", &|m| m["size"] = serde_json::json!([0, 48]))),
        ("size", written("%d.png", &|m| m["size"] = serde_json::json!([40_000, 40_000]))),
        ("frames", written("%d.png", &|m| m["frames"] = "0-4294967295".into())),
        ("fps", written("%d.png", &|m| m["fps"] = (-3.0).into())),
    ] {
        std::fs::write(dir.path().join("bad/manifest.json"), text).unwrap();
        for job in jobs {
            let run = polyfly(dir.path(), job);
            assert_eq!(code(&run), 65, "{name} {job:?}: {}", words(&run));
            assert!(words(&run).contains(name) && words(&run).contains("manifest.json"), "{}", words(&run));
        }
    }
    // A hundred million frames are searched for only where some exist.
    let promised = |frames: &str| {
        let text = written("%d.png", &|m| m["frames"] = frames.into());
        std::fs::write(dir.path().join("bad/manifest.json"), text).unwrap();
        [jobs[0], jobs[2]].map(|job| code(&polyfly(dir.path(), job)))
    };
    std::fs::copy(dir.path().join("a/2.png"), dir.path().join("bad/2.png")).unwrap();
    assert_eq!(promised("0-99999999"), [75, 75]);
    let missing = polyfly(dir.path(), &["missing", "bad"]);
    assert_eq!(text(&missing.stdout), "0-1,3-99999999\n");
    assert_eq!(promised("0-2147483647"), [65, 65]);
    // The message does not control the terminal either.
    let text = written("%d.png", &|m| {
        m["hash"] = "0".repeat(64).into();
        m["files"] = serde_json::json!({"\u{1b}[2J": "1"});
    });
    std::fs::write(dir.path().join("bad/manifest.json"), text).unwrap();
    let other = render(dir.path(), "0-1", "bad/%d.png", &["--resume"]);
    assert!(code(&other) == 65 && words(&other).contains("?[2J"), "{}", words(&other));
    assert!(!words(&other).contains('\u{1b}'), "{}", words(&other));
    std::fs::remove_file(dir.path().join("bad/manifest.json")).unwrap();
    fifo(&dir.path().join("bad/manifest.json"));
    for job in jobs {
        assert_eq!(code(&polyfly(dir.path(), job)), 65, "{job:?}");
    }
    assert_eq!(code(&render(dir.path(), "0-1", "bad/%d.png", &["--overwrite"])), 65);
    let endless = polyfly(dir.path(), &["/dev/zero", "--cpu"]);
    assert!(code(&endless) == 65 && words(&endless).contains("16 MiB"), "{}", words(&endless));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(!dir.path().join("v.y4m").exists() && !dir.path().join("a/report.html").exists());
}

#[test]
fn frames_of_nobody_knows_which_scene_are_in_no_clip() {
    let dir = folder();
    let other =
        std::fs::read_to_string(dir.path().join("scene.toml")).unwrap().replacen("fov_deg = ", "fov_deg = 1", 1);
    std::fs::write(dir.path().join("other.toml"), other).unwrap();
    let made = |frames: &str, to: &str| {
        let args = [&["other.toml", "--frames", frames, "-o", to], &LOOK[..]].concat();
        let run = polyfly(dir.path(), &args);
        assert!(run.status.success(), "{}", words(&run));
    };
    // A clip's shards, and a clip beside it, do not adopt a frame without a manifest.
    for (n, to) in [("30", "a"), ("7", "b")] {
        made(n, &format!("{to}/%d.png"));
        std::fs::remove_file(dir.path().join(to).join("manifest.json")).unwrap();
    }
    for shard in ["1/2", "2/2"] {
        let run = render(dir.path(), "0-39", "a/%d.png", &["--resume", "--shard", shard]);
        assert_eq!(code(&run), 64, "{}", words(&run));
        assert!(
            words(&run).contains("such as 30") && words(&run).contains("their scene is unknown"),
            "{}",
            words(&run)
        );
    }
    let beside = render(dir.path(), "0-4", "b/%d.png", &[]);
    assert!(code(&beside) == 64 && words(&beside).contains("such as 7"), "{}", words(&beside));
    // Overwritten in part, all of it is the new clip's.
    made("0-5", "c/%d.png");
    assert!(render(dir.path(), "0-2", "c/%d.png", &["--overwrite"]).status.success());
    assert!(render(dir.path(), "0-9", "c/%d.png", &["--resume"]).status.success());
    assert_eq!(code(&polyfly(dir.path(), &["missing", "c"])), 0);
}

#[test]
fn frames_that_vanish_while_a_run_goes_on_are_told() {
    let dir = folder();
    let args = [&["scene.toml", "--frames", "0-399", "-o", "a/%d.png"], &LOOK[..]].concat();
    let child = program(dir.path(), &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| dir.path().join("a/20.png").exists());
    std::fs::remove_file(dir.path().join("a/3.png")).unwrap();
    std::fs::write(dir.path().join("a/4.png"), "cut").unwrap();
    let run = child.wait_with_output().unwrap();
    assert_eq!(code(&run), 75, "{}", words(&run));
    assert!(words(&run).contains("frames 3-4 were deleted or damaged during the run"), "{}", words(&run));
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("a/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["frames"]["%d.png"]["written"], "0-2,5-399");
    assert!(render(dir.path(), "0-399", "a/%d.png", &["--resume"]).status.success());
    assert_eq!(frames(&dir.path().join("a")).len(), 400);
}

#[test]
fn frames_that_could_not_be_written_are_in_no_log() {
    let dir = folder();
    std::fs::create_dir_all(dir.path().join("a/5.png")).unwrap();
    let run = render(dir.path(), "0-39", "a/%d.png", &["--overwrite"]);
    assert_eq!(code(&run), 74, "{}", words(&run));
    let logged: Vec<u32> =
        text(&run.stdout).lines().map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect();
    assert!(logged.len() <= 5 && logged.iter().all(|n| *n < 5), "{logged:?}");
}

#[test]
fn jobs_are_of_their_own_frames_and_scene() {
    let dir = folder();
    assert!(render(dir.path(), "0-19", "a/%d.png", &[]).status.success());
    std::fs::remove_file(dir.path().join("a/9.png")).unwrap();
    let farm = |scene: &str, frames: &str, more: &[&str]| {
        let flags = ["--", "--frames", frames, "-o", "a/%d.png"];
        polyfly(dir.path(), &[&["farm", "commands", scene, "--shards", "10"], more, &flags[..], &LOOK[..]].concat())
    };
    // Shards split the job's frames, not all planned frames.
    let job = farm("scene.toml", "0-9", &[]);
    let lines = text(&job.stdout);
    assert!(lines.lines().count() == 1 && lines.contains("--shard 10/10"), "{lines}{}", words(&job));
    let more = text(&farm("scene.toml", "0-29", &[]).stdout);
    assert_eq!(more.lines().count(), 5, "{more}");
    let shards =
        |more: &[&str]| text(&polyfly(dir.path(), &[&["missing", "a", "--shards", "10"], more].concat()).stdout);
    assert_eq!((shards(&[]), shards(&["--frames", "0-9"])), ("5\n".into(), "10\n".into()));
    let lacking = polyfly(dir.path(), &["stitch", "a", "--frames", "0-9", "-o", "v.y4m"]);
    assert!(code(&lacking) == 75 && words(&lacking).contains("frames 9 in"), "{}", words(&lacking));
    assert!(polyfly(dir.path(), &["stitch", "a", "--frames", "0-8", "-o", "v.y4m"]).status.success());
    // The folder of another scene belongs to no job, however complete it is.
    let other =
        std::fs::read_to_string(dir.path().join("scene.toml")).unwrap().replacen("fov_deg = ", "fov_deg = 1", 1);
    std::fs::write(dir.path().join("other.toml"), other).unwrap();
    let refused = farm("other.toml", "0-8", &[]);
    assert!(code(&refused) == 65 && words(&refused).contains("camera.fov_deg"), "{}", words(&refused));
    for job in [&["missing", "a"][..], &["stitch", "a", "-o", "w.y4m"]] {
        let refused = polyfly(dir.path(), &[job, &["--hash", &"0".repeat(64)]].concat());
        assert_eq!(code(&refused), 65, "{}", words(&refused));
    }
    // Where no engine accepts jobs.
    for (engine, needed) in [("slurm", "sbatch"), ("hyperqueue", "hq")] {
        let mut command = program(dir.path(), &["farm", engine, "--submit", "scene.toml", "--", "-o", "b/%d.png"]);
        let run = command.env("PATH", dir.path()).output().unwrap();
        assert!(code(&run) == 69 && words(&run).contains(&format!("no `{needed}`")), "{}", words(&run));
    }
    let odd = polyfly(dir.path(), &["farm", "commands", "scene.toml", "--", "-o", "a\nb/%d.png"]);
    assert_eq!(code(&odd), 64, "{}", text(&odd.stdout));
}

// A round without progress ends the rounds; a round whose jobs were refused does not count.
#[test]
fn a_look_whose_jobs_were_not_taken_looks_again() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let job = polyfly(
        dir.path(),
        &[&["farm", "slurm", "scene.toml", "--shards", "4", "--", "--frames", "0-7", "-o", "a/%d.png"], &LOOK[..]]
            .concat(),
    );
    assert!(job.status.success(), "{}", words(&job));
    std::fs::write(dir.path().join("job.sh"), &job.stdout).unwrap();
    let here = tools.path().display();
    shell_script(tools.path(), "sbatch", &format!("[ ! -e {here}/broken ] || exit 1\necho x >>{here}/sent\necho 17"));
    let path = format!("{here}:{}", std::env::var("PATH").unwrap());
    let look = |script: &Path, round: &str| {
        let mut bash = Command::new("bash");
        bash.arg(script).arg(round).current_dir(dir.path()).env("PATH", &path).stdin(Stdio::null()).output().unwrap()
    };
    let sent = || std::fs::read_to_string(tools.path().join("sent")).unwrap_or_default().lines().count();
    let first = look(Path::new("job.sh"), "0");
    assert_eq!((code(&first), sent()), (0, 2), "{}", words(&first));
    let mut own = std::fs::read_dir(dir.path().join("a/.polyfly")).unwrap().map(|e| e.unwrap().path());
    let script = own.find(|path| path.extension().is_some_and(|e| e == "sh")).unwrap();
    assert!(render(dir.path(), "0-7", "a/%d.png", &["--shard", "1/4"]).status.success());
    std::fs::write(tools.path().join("broken"), "").unwrap();
    let lost = look(&script, "1");
    assert_eq!((code(&lost), sent()), (75, 2), "{}", words(&lost));
    std::fs::remove_file(tools.path().join("broken")).unwrap();
    let again = look(&script, "1");
    assert_eq!((code(&again), sent()), (0, 4), "{}", words(&again));
    let nothing_new = look(&script, "2");
    assert_eq!((code(&nothing_new), sent()), (1, 4), "{}", words(&nothing_new));
    assert!(words(&nothing_new).contains("giving up"), "{}", words(&nothing_new));
}

#[test]
fn time_steps_are_told_apart_though_they_are_not_read() {
    let dir = folder();
    assert!(polyfly(dir.path(), &["particles", "generate", "200", "steps/%03d.bin", "--steps", "6"]).status.success());
    let scene = "[output]\nframes = 6\nsize = [64, 48]\n[camera]\nposition = [2.5, -3.5, 2]\nlook_at = [0.5, 0.5, 1]\n\
        [[light]]\nposition = [9, -9, 9]\n[particles]\npath = \"steps/%03d.bin\"\n";
    std::fs::write(dir.path().join("scene.toml"), scene).unwrap();
    assert!(render(dir.path(), "0-2", "a/%d.png", &[]).status.success());
    // Of the same length, and neither the first nor the last.
    let step = |n: u32| dir.path().join(format!("steps/{n:03}.bin"));
    let kept = std::fs::read(step(2)).unwrap();
    std::fs::copy(step(3), step(2)).unwrap();
    let expected = "the file of particles.path of frame 2";
    for (frames, to) in [("0-5", "a/%d.png"), ("2-5", "a/%d.png")] {
        let run = render(dir.path(), frames, to, &["--resume"]);
        assert!(code(&run) == 65 && words(&run).contains(expected), "{}", words(&run));
    }
    let missing = polyfly(dir.path(), &[&["missing", "a", "--scene", "scene.toml"], &LOOK[1..5]].concat());
    assert!(code(&missing) == 65 && words(&missing).contains(expected), "{}", words(&missing));
    // Nothing is known of frames that do not exist.
    std::fs::write(step(2), kept).unwrap();
    std::fs::copy(step(3), step(4)).unwrap();
    assert!(render(dir.path(), "0-4", "a/%d.png", &["--resume"]).status.success());
}

#[test]
fn a_time_step_that_leads_outside_is_not_read_for_the_range_of_colours_either() {
    let dir = folder();
    let own = dir.path().join("own");
    std::fs::create_dir(&own).unwrap();
    let steps = ["particles", "generate", "50", "own/%d.bin", "--steps", "5"];
    assert!(polyfly(dir.path(), &steps).status.success());
    std::fs::rename(own.join("4.bin"), dir.path().join("4.bin")).unwrap();
    symlink(dir.path().join("4.bin"), own.join("4.bin")).unwrap();
    let scene = "[output]\nframes = 5\nsize = [64, 48]\n[camera]\nposition = [2.5, -3.5, 2]\nlook_at = [0.5, 0.5, 1]\n\
        [[light]]\nposition = [9, -9, 9]\n[particles]\npath = \"%d.bin\"\ncolor_by = \"velocity\"\nlegend = true\n";
    std::fs::write(own.join("scene.toml"), scene).unwrap();
    // The last step gives the legend its maximum, whatever frame is asked for.
    let refused = render(&own, "1", "a/%d.png", &[]);
    assert!(code(&refused) == 65 && words(&refused).contains("particles.path"), "{}", words(&refused));
    assert!(render(&own, "1", "a/%d.png", &["--allow-outside"]).status.success());
    // A trail reads the steps before.
    let from_the_last =
        scene.replace("\ncolor_by", "\nfirst = 5\nstep = 1\ncolor_by").replace("frames = 5", "frames = 1");
    std::fs::write(own.join("scene.toml"), format!("{from_the_last}[particles.trails]\n")).unwrap();
    std::fs::copy(own.join("3.bin"), own.join("5.bin")).unwrap();
    let refused = render(&own, "0", "b/%d.png", &[]);
    assert!(code(&refused) == 65 && words(&refused).contains("particles.path"), "{}", words(&refused));
    std::fs::write(own.join("scene.toml"), from_the_last).unwrap();
    let run = render(&own, "0", "b/%d.png", &[]);
    assert!(run.status.success(), "{}", words(&run));
}

#[test]
fn what_a_run_that_was_killed_at_its_very_end_has_left_is_removed_too() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let again = || render(dir.path(), "0-7", "a/%d.png", &["--resume", "--video", "a.mp4", "test:segment=4"]);
    let shard = render(dir.path(), "0-7", "a/%d.png", &["--video", "a.mp4", "test:segment=4", "--shard", "1/1"]);
    assert!(shard.status.success(), "{}", words(&shard));
    let films = || -> Vec<_> {
        let hidden = std::fs::read_dir(at("a/.polyfly")).unwrap().map(|entry| entry.unwrap().path());
        hidden.filter(|path| path.is_dir()).collect()
    };
    let [film] = &films()[..] else { panic!("one film's segments") };
    std::fs::rename(film, at("kept")).unwrap();
    assert!(again().status.success());
    // Killed between the film and its segments, and while it wrote the manifest.
    std::fs::rename(at("kept"), film).unwrap();
    let mut old = Command::new("true").spawn().unwrap();
    let name = format!("a/.polyfly-{}-{}-x.part", rustix::system::uname().nodename().to_string_lossy(), old.id());
    old.wait().unwrap();
    std::fs::write(at(&name), "").unwrap();
    let run = again();
    assert!(run.status.success() && words(&run).contains("a.mp4 has 8 frames already"), "{}", words(&run));
    assert!(films().is_empty() && !at(&name).exists(), "{:?}", films());
}
