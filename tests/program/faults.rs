//! Faults around a run: folders that vanish or cannot be written, clocks that go back, logs without a reader, endless
//! runs.

use crate::common::{folder, frames, polyfly, program, signal, text, wait_for, words};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
#[cfg(target_os = "linux")]
use std::time::Duration;

const LOOK: [&str; 6] = ["--cpu", "--size", "24x16", "--samples", "1", "--threads=1"];

fn args<'a>(list: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["scene.toml", "--frames", list, "-o", to][..], &LOOK, more].concat()
}

fn code(run: &Output) -> i32 {
    run.status.code().unwrap()
}

fn start(dir: &Path, args: &[&str]) -> Child {
    program(dir, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_log_that_nobody_reads_holds_up_no_frame() {
    let dir = folder();
    // A pipe holds 64 KiB; this log is longer than 200.
    let mut child = start(dir.path(), &args("0-599", "o/%d.png", &["--log", "jsonl", "--video", "v.mp4"]));
    wait_for(|| dir.path().join("v.mp4").exists());
    assert_eq!(frames(&dir.path().join("o")).len(), 600);
    assert!(child.try_wait().unwrap().is_none(), "it waits for its reader");
    let mut log = String::new();
    child.stdout.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(log.lines().count(), 602);
    // A blocked log does not keep a run from being stopped.
    let child = start(dir.path(), &args("0-599", "p/%d.png", &["--log", "jsonl", "--grace", "1"]));
    wait_for(|| dir.path().join("p/599.png").exists());
    signal(&child, "TERM");
    let run = child.wait_with_output().unwrap();
    assert!(matches!(code(&run), 0 | 75), "{}", words(&run));
    // When all frames are made, none is left to be dropped.
    let all = args("0-599", "q/%d.png", &["--log", "jsonl", "--video", "w.mp4", "--grace", "1"]);
    let mut child = start(dir.path(), &all);
    let unread = child.stdout.take();
    wait_for(|| dir.path().join("w.mp4").exists());
    signal(&child, "TERM");
    let run = child.wait_with_output().unwrap();
    drop(unread);
    let said = words(&run);
    assert!(
        code(&run) == 75 && said.contains("all files are complete; the rest of the log") && !said.contains("dropped"),
        "{said}"
    );
}

// These pictures would never end: 2^128 rays a pixel, five million shadow rays a point.
#[test]
fn a_look_at_a_scene_takes_no_longer_for_what_its_pictures_may_take() {
    let dir = folder();
    let nested: String = (0..40)
        .map(|i| {
            format!(
                "[[body]]\nsolid = \"icosahedron\"\ncenter = [0, 0, 1]\nradius = 1.{i:02}\nreflection = 0.5\n\
                 transparency = 0.5\n"
            )
        })
        .collect();
    let lights: String =
        (0..20_000).map(|i| format!("[[light]]\nposition = [{}, {}, 9]\nradius = 1\n", i % 100, i / 100)).collect();
    let floor = "[floor]\ncorners = [[-5, -5, 0], [-5, 5, 0], [5, 5, 0], [5, -5, 0]]\n";
    for (settings, things) in [("depth = 128\ncutoff = 0", nested), ("light_samples = 256", lights)] {
        let camera = "[camera]\nposition = [0, 9, 3]\nlook_at = [0, 0, 1]\n";
        std::fs::write(dir.path().join("s.toml"), format!("[render]\n{settings}\n{camera}{floor}{things}")).unwrap();
        let mut child = start(dir.path(), &["check", "s.toml"]);
        wait_for(|| child.try_wait().unwrap().is_some());
        let run = child.wait_with_output().unwrap();
        assert!(run.status.success(), "{settings}: {}", words(&run));
    }
}

#[test]
fn a_folder_that_vanishes_ends_the_run_and_what_was_in_it_is_whole() {
    let dir = folder();
    let (here, gone) = (dir.path().join("o"), dir.path().join("gone"));
    let all = args("0-599", "o/%d.png", &[]);
    let child = start(dir.path(), &all);
    wait_for(|| here.join("20.png").exists());
    std::fs::rename(&here, &gone).unwrap();
    let run = child.wait_with_output().unwrap();
    assert_eq!(code(&run), 74, "{}", words(&run));
    assert!(words(&run).contains("cannot write") && words(&run).contains(".png"), "{}", words(&run));
    assert!(!here.exists(), "it is not made again in the middle of a run");
    std::fs::rename(&gone, &here).unwrap();
    let there = frames(&here);
    assert!(there.len() > 20);
    assert!(polyfly(dir.path(), &[&all[..], &["--resume"]].concat()).status.success());
    assert!(polyfly(dir.path(), &args("0-599", "whole/%d.png", &[])).status.success());
    let whole = frames(&dir.path().join("whole"));
    assert!(there.iter().all(|frame| whole.contains(frame)));
    assert!(frames(&here) == whole);
}

#[test]
#[cfg(target_os = "linux")]
fn folders_that_cannot_be_written_are_74() {
    let dir = folder();
    // Nobody can create files there, not even root.
    for more in [&[][..], &["--video", "/proc/polyfly/v.mp4"]] {
        let to = if more.is_empty() { "/proc/polyfly/%d.png" } else { "o/%d.png" };
        let run = polyfly(dir.path(), &args("0-3", to, more));
        assert_eq!(code(&run), 74, "{}", words(&run));
        assert!(words(&run).contains("/proc/polyfly"), "{}", words(&run));
        assert!(run.stdout.is_empty(), "it is seen before the first frame");
    }
    assert!(polyfly(dir.path(), &args("0-1", "d/%d.png", &[])).status.success());
    std::fs::create_dir(dir.path().join("d/2.png")).unwrap();
    let run = polyfly(dir.path(), &args("0-3", "d/%d.png", &["--resume"]));
    assert_eq!(code(&run), 74, "{}", words(&run));
    assert!(words(&run).contains("d/2.png"), "{}", words(&run));
    assert!(dir.path().join("d/2.png").is_dir());
}

#[test]
#[cfg(target_os = "linux")]
fn a_working_folder_that_cannot_be_written_is_no_fault() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let run = polyfly(
        Path::new("/proc"),
        &[
            &[&path("scene.toml")[..], "--frames", "0-3"],
            &LOOK[..],
            &["-o", &path("o/%d.png"), "--video"],
            &[&path("v.mp4")],
        ]
        .concat(),
    );
    assert!(run.status.success(), "{}", words(&run));
    assert!(polyfly(dir.path(), &args("0-3", "p/%d.png", &[])).status.success());
    assert_eq!(frames(&dir.path().join("o")), frames(&dir.path().join("p")));
    assert!(dir.path().join("v.mp4").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_clock_that_goes_back_changes_nothing() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let stub = tools.path().join("clock.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stub/clock.c");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&stub).arg(source).status();
    assert!(made.expect("a C compiler is needed").success());
    let run = |args: &[&str]| program(dir.path(), args).env("LD_PRELOAD", &stub).output().unwrap();
    let first = run(&args("0-19", "o/%02d.png", &["--video", "o.mp4", "--shard", "1/2"]));
    assert!(first.status.success(), "{}", words(&first));
    std::fs::remove_file(dir.path().join("o/03.png")).unwrap();
    let rest = run(&args("0-19", "o/%02d.png", &["--video", "o.mp4", "--resume"]));
    assert!(rest.status.success(), "{}", words(&rest));
    let status = run(&["status", "o"]);
    assert!(status.status.success() && String::from_utf8_lossy(&status.stdout).contains("20 of 20"), "{status:?}");
    assert!(polyfly(dir.path(), &args("0-19", "p/%02d.png", &["--video", "p.mp4"])).status.success());
    assert_eq!(frames(&dir.path().join("o")), frames(&dir.path().join("p")));
    let video = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(video("o.mp4") == video("p.mp4"));
}

// The memory of a process, as Linux reports it; None once it has ended.
#[cfg(target_os = "linux")]
fn kib(child: &Child, what: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(what))?;
    Some(line.trim().trim_end_matches(" kB").parse().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn long_runs_take_no_more_memory_and_handles_than_short_ones() {
    let dir = folder();
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    let scene = scene.lines().map(|l| if l.starts_with("frames = ") { "frames = 100_000" } else { l });
    std::fs::write(dir.path().join("scene.toml"), scene.collect::<Vec<_>>().join("\n")).unwrap();
    let mut child = program(dir.path(), &args("0-99999", "o/%d.ppm", &["-q"])).stdout(Stdio::null()).spawn().unwrap();
    let measured = |child: &Child, frame: u32| {
        wait_for(|| dir.path().join(format!("o/{frame}.ppm")).exists());
        (kib(child, "VmRSS:").unwrap(), std::fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().count())
    };
    let ((early, few), (late, many)) = (measured(&child, 500), measured(&child, 6000));
    let _ = child.kill();
    child.wait().unwrap();
    assert!(late < early + 8 * 1024, "{early} KiB after 500 frames, {late} after 6000");
    // One or two files are being written at any time.
    assert!(many < few + 8, "{few} handles after 500 frames, {many} after 6000");
}

#[test]
#[cfg(target_os = "linux")]
fn the_memory_that_a_run_is_told_to_take_is_what_it_takes_at_most() {
    let dir = folder();
    for (name, more) in [
        ("o/%d.ppm", &["--samples", "1"][..]),
        ("o/%d.png", &["--set", "camera.shutter=0.5", "--samples", "2"]),
        ("o/%d.exr", &["--samples", "1..2"]),
    ] {
        let mut all = vec!["scene.toml", "--cpu", "-q", "--size", "1200x1200", "--depth", "0", "--frames", "0-3"];
        all.extend(["--output", name]);
        all.extend(more);
        let estimate = polyfly(dir.path(), &[&all[..], &["--dry-run"]].concat());
        let estimate = text(&estimate.stdout);
        let estimate = estimate.lines().find_map(|l| l.strip_prefix("memory: at most ")).unwrap().to_owned();
        let mut estimate = estimate.split(' ');
        let number: f64 = estimate.next().unwrap().parse().unwrap();
        let estimate = number * if estimate.next() == Some("GB") { 1e9 } else { 1e6 };
        let mut child = program(dir.path(), &all).stdout(Stdio::null()).spawn().unwrap();
        let mut peak = 0.0;
        while child.try_wait().unwrap().is_none() {
            peak = kib(&child, "VmHWM:").map_or(peak, |kib| 1024.0 * kib as f64);
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(child.wait().unwrap().success());
        assert!(peak < estimate && estimate < 8.0 * peak, "{name}: {peak} bytes taken, {estimate} estimated");
    }
}

#[test]
fn numbers_of_frames_end_where_they_must() {
    let dir = folder();
    for list in ["2147483648", "2147483647-2147483649", "4294967296", "99999999999999999999"] {
        let run = polyfly(dir.path(), &args(list, "o/%d.png", &[]));
        assert_eq!(code(&run), 64, "{list}: {}", words(&run));
    }
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    for (number, error) in [("2147483648", 65), ("4294967296", 65), ("100000001", 65)] {
        let scene =
            scene.lines().map(|l| if l.starts_with("frames = ") { format!("frames = {number}") } else { l.into() });
        std::fs::write(dir.path().join("long.toml"), scene.collect::<Vec<String>>().join("\n")).unwrap();
        let run = polyfly(dir.path(), &["long.toml", "--cpu", "--frames", "0"]);
        assert_eq!(code(&run), error, "{}", words(&run));
        assert!(words(&run).contains("expected a whole number from 1 to 100000000"), "{}", words(&run));
    }
    assert!(!dir.path().join("o").exists());
}

#[test]
fn rates_of_frames_are_what_players_know() {
    let dir = folder();
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    for rate in ["1e-9", "1e30", "0.0009", "1001.0"] {
        let run = polyfly(dir.path(), &args("0", "o/%d.png", &["--fps", rate]));
        assert_eq!(code(&run), 64, "{rate}: {}", words(&run));
        let scene = scene.lines().map(|l| if l.starts_with("fps = ") { format!("fps = {rate}") } else { l.into() });
        std::fs::write(dir.path().join("rate.toml"), scene.collect::<Vec<String>>().join("\n")).unwrap();
        let run = polyfly(dir.path(), &["rate.toml", "--cpu", "--frames", "0"]);
        assert_eq!(code(&run), 65, "{rate}: {}", words(&run));
        assert!(words(&run).contains("expected a number from 0.001 to 1000"), "{}", words(&run));
    }
}
