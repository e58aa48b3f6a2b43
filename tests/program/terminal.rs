//! Output in a terminal: previews, dry runs, results of a run.

use crate::common::{folder, names, polyfly, program, text, wait_for, words};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Output, Stdio};

fn render(dir: &Path, more: &[&str]) -> Output {
    polyfly(dir, &[&["scene.toml", "--cpu", "--size", "16x12", "--samples", "1"], more].concat())
}

#[test]
fn a_frame_is_shown_in_the_terminal() {
    let dir = folder();
    let small = ["--size", "32x24", "--samples", "1", "--cpu"];
    let shown = |args: &[&str]| {
        let run = polyfly(dir.path(), &[&["preview", "scene.toml"], &small[..], args].concat());
        assert!(run.status.success(), "{}", words(&run));
        text(&run.stdout)
    };
    // Like the picture.
    let picture = ["scene.toml", "--frames", "-1", "-o", "last.data"];
    assert!(polyfly(dir.path(), &[&picture[..], &small].concat()).status.success());
    let rgba = std::fs::read(dir.path().join("last.data")).unwrap().split_off(8);
    let blocks = shown(&["--frame", "last", "--protocol", "blocks"]);
    let lines: Vec<&str> = blocks.lines().collect();
    assert_eq!((lines.len(), blocks.matches('\u{2580}').count()), (12, 32 * 12));
    let step = |x: u8| (u32::from(x) * 5 + 127) / 255;
    let code = |at: usize| 16 + 36 * step(rgba[at]) + 6 * step(rgba[at + 1]) + step(rgba[at + 2]);
    assert!(lines[0].starts_with(&format!("\x1b[38;5;{};48;5;{}m", code(0), code(4 * 32))), "{}", lines[0]);
    assert!(shown(&["--columns", "8", "--protocol", "blocks"]).lines().count() == 3);
    assert!(shown(&["--protocol", "kitty"]).starts_with("\x1b_Gf=100,a=T,"));
    assert!(shown(&["--protocol", "iterm"]).starts_with("\x1b]1337;File=inline=1;"));
    let sixel = shown(&["--protocol", "sixel"]);
    assert!(sixel.starts_with("\x1bP") && sixel.contains("32;24") && sixel.trim_end().ends_with("\x1b\\"), "{sixel:?}");
    let run = polyfly(dir.path(), &["preview", "scene.toml", "--frame", "600"]);
    assert_eq!(run.status.code(), Some(64), "{}", words(&run));
}

#[cfg(target_os = "linux")]
#[test]
fn the_bar_shows_no_number_that_is_not_known() {
    let dir = folder();
    let line = format!(
        "{} scene.toml --cpu --size 640x480 --samples 2 --frames 0-9 -o b/%d.png",
        env!("CARGO_BIN_EXE_polyfly")
    );
    // A terminal of its own (bsdutils).
    let run = std::process::Command::new("script").args(["-qec", &line, "/dev/null"]).current_dir(dir.path()).output();
    let run = run.expect("script is needed: apt-get install bsdutils");
    let shown = text(&run.stdout);
    assert!(run.status.success(), "{shown}");
    // Before the frames are counted the bar says that it gets ready, or nothing where that takes no time.
    assert!(shown.contains("/10 frames") && !shown.contains("0/0"), "{shown}");
}

#[test]
fn a_run_is_described_before_it_is_made() {
    let dir = folder();
    let before = names(dir.path());
    let asked = ["--frames", "0-99", "--dry-run", "-o", "out/%d.png", "--video", "v/film.mp4"];
    let run = render(dir.path(), &asked);
    let said = text(&run.stdout);
    assert!(run.status.success(), "{}", words(&run));
    for part in
        ["frames: 0-99 (100 of ", "trial frames: 25-26,75", "time: about ", "memory: at most ", "files: out/%d.png, "]
    {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(said.contains("film: v/film.mp4, about ") && said.contains("nothing was written"));
    assert!(said.contains("-c:v libx264"), "{said}");
    assert_eq!(names(dir.path()), before);
    // For the remaining frames only, and close to the real figures.
    let small = |more: &[&str]| render(dir.path(), &[&["--frames", "0-9", "-o", "out/%d.png"], more].concat());
    let printed = text(&small(&["--dry-run"]).stdout);
    assert!(small(&[]).status.success());
    let each = printed.lines().find_map(|l| l.strip_prefix("files: ")).and_then(|l| l.split('(').nth(1)).unwrap();
    let each: f64 = each.split(' ').next().unwrap().parse().unwrap();
    let real: u64 = (0..10).map(|n| dir.path().join(format!("out/{n}.png")).metadata().unwrap().len()).sum();
    assert!((each * 1e4 / real as f64 - 1.0).abs() < 0.3, "{each} {real}");
    std::fs::remove_file(dir.path().join("out/4.png")).unwrap();
    let printed = text(&small(&["--dry-run", "--resume"]).stdout);
    assert!(printed.contains("frames: 4 (1 of ") && printed.contains("; 9 exist and are complete)"), "{printed}");
    assert!(!dir.path().join("out/4.png").exists());
    assert!(small(&["--resume"]).status.success());
    assert!(text(&small(&["--dry-run", "--resume"]).stdout).contains("nothing is left"));
    let shard = text(&small(&["--dry-run", "--resume", "--video", "v.mp4", "test:segment=5", "--shard", "1/2"]).stdout);
    assert!(shard.contains("this shard's part of the film is left to make"), "{shard}");
    // The film of frames that all exist.
    let said = text(&small(&["--dry-run", "--resume", "--video", "v.mp4"]).stdout);
    for part in
        ["the film is left to make", "film: v.mp4, about ", "-c:v libx264", "time: about ", "nothing was written"]
    {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(!said.contains("(0.0 ms a frame)") && !dir.path().join("v.mp4").exists(), "{said}");
}

#[test]
#[cfg(unix)]
fn a_stopped_trial_leaves_nothing_behind() {
    use crate::common::{shell_script, signal};
    let (dir, place) = (folder(), tempfile::tempdir().unwrap());
    let slow = r#"case "$*" in *rawvideo*) sleep 2 ;; esac; exec ffmpeg "$@""#;
    let ffmpeg = shell_script(dir.path(), "slow", slow);
    let small = ["scene.toml", "--cpu", "--size", "32x24", "--samples", "1", "--frames", "0-9", "--dry-run"];
    let film = ["--no-frames", "--video", "v.mp4", "--ffmpeg", &ffmpeg];
    let mut command = program(dir.path(), &[&small[..], &film].concat());
    let child = command.env("TMPDIR", place.path()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    wait_for(|| !names(place.path()).is_empty());
    signal(&child, "TERM");
    let stopped = child.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(75), "{}", words(&stopped));
    assert_eq!(names(place.path()), [] as [&str; 0]);
}

#[test]
fn slow_frames_are_tried_in_a_small_size() {
    let dir = folder();
    // A frame of its own size would take minutes.
    let asked =
        ["scene.toml", "--cpu", "--size", "4k", "--samples", "8", "--frames", "0-9", "-o", "out/%d.png", "--dry-run"];
    let run = polyfly(dir.path(), &asked);
    let said = text(&run.stdout);
    assert!(run.status.success(), "{}", words(&run));
    assert!(said.contains("tried in ") && said.contains(" and scaled up: "), "{said}");
    assert!(said.contains("(10 of 3840 x 2160)"), "{said}");
    assert!(!dir.path().join("out").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_made_is_shown_if_wanted() {
    use std::os::unix::fs::PermissionsExt;
    let dir = folder();
    let stub = dir.path().join("bin/xdg-open");
    std::fs::create_dir(dir.path().join("bin")).unwrap();
    std::fs::write(&stub, format!("#!/bin/sh\necho \"$1\" >> {}/shown\n", dir.path().display())).unwrap();
    std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.path().join("bin").display(), std::env::var("PATH").unwrap());
    let shown = |args: &[&str], lines: usize| {
        let mut command = program(dir.path(), args);
        let run = command.env("PATH", &path).output().unwrap();
        assert!(run.status.success(), "{}", words(&run));
        let printed = || std::fs::read_to_string(dir.path().join("shown")).unwrap_or_default();
        wait_for(|| printed().lines().count() == lines);
        printed().lines().last().unwrap().to_owned()
    };
    let small = ["scene.toml", "--cpu", "--size", "32x24", "--samples", "1", "--open"];
    let of = |args: &[&'static str]| [&small[..], args].concat();
    assert_eq!(shown(&of(&["--frames", "3", "-o", "x.png"]), 1), "x.png");
    assert_eq!(shown(&of(&["--frames", "0-2", "-o", "f/%d.png", "--video", "v.y4m"]), 2), "v.y4m");
    std::fs::write(dir.path().join("g.csv"), "x,y,z,r\n0,0,0,1\n").unwrap();
    assert_eq!(shown(&["particles", "CPU", "g.csv", "8", "8", "g.png", "--open"], 3), "g.png");
}

// A frame that is rendered is there, whether or not a program shows it.
#[test]
#[cfg(target_os = "linux")]
fn a_system_without_a_viewer_keeps_what_is_made() {
    let dir = folder();
    let args = ["scene.toml", "--cpu", "--size", "32x24", "--samples", "1", "--frames", "3", "-o", "x.png", "--open"];
    let run = program(dir.path(), &args).env("PATH", dir.path()).output().unwrap();
    assert!(run.status.success() && dir.path().join("x.png").exists(), "{}", words(&run));
    assert!(words(&run).contains("warning: --open: this system has no program that shows x.png"), "{}", words(&run));
    assert!(words(&run).contains(": x.png, "), "{}", words(&run));
}

#[test]
fn a_clip_is_told_to_loop_or_by_how_much_not() {
    let dir = folder();
    let check = |file: &str| text(&polyfly(dir.path(), &["check", file]).stdout);
    assert!(check("scene.toml").contains("the clip loops seamlessly"));
    let run = polyfly(dir.path(), &["check", "scene.toml", "--set", "camera.eye.phi_cycles=0.5"]);
    assert!(text(&run.stdout).contains("the clip does not loop: the camera ends "), "{}", text(&run.stdout));
}

// Without a progress bar, a long run estimates its time after the first frames.
#[test]
fn a_long_run_says_how_long_it_goes_on() {
    let dir = folder();
    let args = ["scene.toml", "--cpu", "--threads", "1", "--size", "480x270", "--samples", "4", "-o", "f/%d.ppm"];
    let mut run = program(dir.path(), &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    let found = said
        .take_while(|line| !line.contains("frames took"))
        .find(|line| line.contains("frames done: ") && line.contains(" of 600, about "));
    run.kill().unwrap();
    run.wait().unwrap();
    let line = found.unwrap();
    assert!(line.ends_with(" to go"), "{line}");
}
