//! Signals while a video is made, and ffmpegs that print odd output, too much of it, or that leave children.

use crate::common::{add_args, folder, names, polyfly, program, shell_script, signal, text, wait_for, words};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const LOOK: [&str; 8] = ["scene.toml", "--cpu", "--size", "96x64", "--samples", "1", "--threads=1", "test:segment=10"];

fn render(dir: &Path, more: &[&str]) -> Output {
    polyfly(dir, &[&LOOK[..], more].concat())
}

fn start(dir: &Path, args: &[&str]) -> Child {
    program(dir, args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

// An ffmpeg that reports when it encodes, and then runs a given command.
fn marked(tools: &Path, deed: &str) -> String {
    let mark = tools.join("encodes");
    let script = format!(
        "case \"$*\" in *rawvideo*) if [ -e {0}/tried ]; then echo $$ >>{1}; {deed}; fi; touch {0}/tried ;; esac\nexec ffmpeg \"$@\"",
        tools.display(),
        mark.display()
    );
    shell_script(tools, "marked-ffmpeg", &script)
}

fn marks(tools: &Path) -> Vec<String> {
    std::fs::read_to_string(tools.join("encodes")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn before_anything_is_begun_a_signal_is_answered_too() {
    let dir = folder();
    for (name, expected) in [("TERM", 75), ("INT", 130)] {
        let mut command = program(dir.path(), &["-", "--cpu", "-o", "a/%d.png"]);
        // Its scene never arrives.
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let never_written = child.stdin.take();
        let status = format!("/proc/{}/status", child.id());
        let listens = || {
            let text = std::fs::read_to_string(&status).unwrap();
            let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 14) != 0
        };
        wait_for(listens);
        signal(&child, name);
        let run = child.wait_with_output().unwrap();
        drop(never_written);
        assert_eq!(run.status.code(), Some(expected), "{}", words(&run));
        assert!(words(&run).contains("stopped before any work began"), "{}", words(&run));
        assert!(!dir.path().join("a").exists());
    }
}

#[test]
fn a_video_of_frames_that_are_there_is_stopped_well() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    assert!(render(dir.path(), &["--frames", "0-79", "-o", "a/%02d.png"]).status.success());
    let ffmpeg = marked(tools.path(), "sleep 1");
    let resumed = |video| [&LOOK[..], &["--frames", "0-79", "-o", "a/%02d.png", "--video", video, "--resume"]].concat();
    let stitched = vec!["stitch", "a", "-o", "s.mp4", "test:segment=10"];
    // The last run renders a frame too, and is stopped after that.
    for (video, args) in [("s.mp4", stitched), ("r.mp4", resumed("r.mp4")), ("m.mp4", resumed("m.mp4"))] {
        for (name, expected) in [("TERM", 75), ("INT", 130)] {
            if video == "m.mp4" {
                std::fs::remove_file(dir.path().join("a/79.png")).unwrap();
            }
            let _ = std::fs::remove_file(tools.path().join("encodes"));
            let _ = std::fs::remove_file(tools.path().join("tried"));
            let args = [&args[..], &["--ffmpeg", &ffmpeg, "test:encoders=1"]].concat();
            let child = start(dir.path(), &args);
            wait_for(|| marks(tools.path()).len() > 1);
            signal(&child, name);
            let run = child.wait_with_output().unwrap();
            assert_eq!(run.status.code(), Some(expected), "{video}: {}", words(&run));
            assert!(words(&run).contains("to resume: "), "{}", words(&run));
            let partial = dir.path().join(video.replace(".mp4", ".partial.mp4"));
            assert!(words(&run).contains(".partial.mp4") && partial.exists(), "{}", words(&run));
            assert!(!dir.path().join(video).exists() && !words(&run).contains("the video failed"), "{}", words(&run));
            assert!(dir.path().join("a/79.png").exists());
        }
        // Finished segments are not encoded again, and the film is the same.
        let run = polyfly(dir.path(), &args);
        assert!(run.status.success(), "{}", words(&run));
    }
    let whole = render(dir.path(), &["--frames", "0-79", "-o", "b/%02d.png", "--video", "whole.mp4"]);
    assert!(whole.status.success(), "{}", words(&whole));
    let bytes = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(["s.mp4", "r.mp4", "m.mp4"].iter().all(|video| bytes(video) == bytes("whole.mp4")));
}

#[test]
fn what_takes_longer_than_its_grace_is_left_with_nothing_running() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let ffmpeg = marked(tools.path(), "sleep 300");
    let args = ["--frames", "0-99", "-o", "a/%02d.png", "--video", "v.mp4", "--grace", "1", "--ffmpeg", &ffmpeg];
    let child = start(dir.path(), &[&LOOK[..], &args].concat());
    wait_for(|| !marks(tools.path()).is_empty());
    signal(&child, "TERM");
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(75), "{}", words(&run));
    let said = words(&run);
    assert!(
        said.contains("took more than 1 s") && said.contains("to resume: ") && said.contains(" --resume "),
        "{said}"
    );
    let is_there = |id: &String| {
        // A process that has ended may still be a zombie.
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        status.contains("State:") && !status.contains("State:\tZ")
    };
    wait_for(|| !marks(tools.path()).iter().any(is_there));
}

#[test]
fn a_signal_that_reaches_ffmpeg_too_is_a_stop_like_any() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    // The whole process group gets the signal while the second segment is encoded.
    let deed = "[ $(wc -l <$0.d/encodes) != 2 ] || { kill -TERM $PPID; sleep 0.3; kill -TERM $$; }";
    let deed = deed.replace("$0.d", &tools.path().display().to_string());
    let ffmpeg = marked(tools.path(), &deed);
    let args = ["--frames", "0-199", "-o", "a/%03d.png", "--video", "v.mp4", "test:encoders=1", "--ffmpeg", &ffmpeg];
    let run = render(dir.path(), &args);
    assert_eq!(run.status.code(), Some(75), "{}", words(&run));
    assert!(words(&run).contains("to resume: ") && words(&run).contains("interrupted after"), "{}", words(&run));
    let plain = ["--frames", "0-199", "-o", "a/%03d.png", "--video", "v.mp4", "--resume"];
    assert!(render(dir.path(), &plain).status.success());
}

#[test]
fn the_command_that_goes_on_can_be_pasted() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let ffmpeg = marked(tools.path(), "sleep 0.5");
    let scene = polyfly(dir.path(), &["--default"]).stdout;
    std::fs::write(dir.path().join("it's a scene.txt"), scene).unwrap();
    let rest =
        ["--cpu", "--size=64x48", "--samples=1", "--threads=1", "--frames=0-59", "test:segment=10", "--video=v.mp4"];
    for on_stdin in [true, false] {
        // A foreign film, which is to be replaced.
        std::fs::write(dir.path().join("v.mp4"), "a holiday").unwrap();
        let _ = std::fs::remove_file(tools.path().join("encodes"));
        let to = format!("{on_stdin}/%02d.png");
        let mut args = [&["-o", &to, "--overwrite", "--ffmpeg", &ffmpeg], &rest[..]].concat();
        if !on_stdin {
            args.extend(["--", "it's a scene.txt"]);
        }
        let mut command = program(dir.path(), &args);
        if on_stdin {
            command.stdin(std::fs::File::open(dir.path().join("it's a scene.txt")).unwrap());
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(|| !marks(tools.path()).is_empty());
        signal(&child, "TERM");
        let run = child.wait_with_output().unwrap();
        let said = words(&run);
        let line = said.lines().find_map(|line| line.split_once("to resume: ")).unwrap_or_else(|| panic!("{said}")).1;
        let pasted =
            Command::new("sh").args(["-c", line]).current_dir(dir.path()).stdin(Stdio::null()).output().unwrap();
        assert!(pasted.status.success(), "{line}: {}", words(&pasted));
        assert_eq!(names(&dir.path().join(on_stdin.to_string())).len(), 60);
    }
}

#[test]
fn an_ffmpeg_may_speak_as_it_likes() {
    let begun = Instant::now();
    for (name, deed, is_well) in [
        ("without a line's end", "printf 'loading ' >&2", true),
        ("no text", "head -c 100000 /dev/urandom >&2", true),
        ("a long line", "head -c 30000000 /dev/zero | tr '\\0' a >&2", true),
        (
            "what moves the cursor",
            "printf 'Stream #0:0: Video: h264 (avc1 / 0x31637661)\\033[2J\\033]0;owned\\007, yuv420p, 64x48\\n' >&2; exit 3",
            false,
        ),
        ("somebody else in its name", "sleep 20 &", true),
    ] {
        let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
        let ffmpeg = shell_script(tools.path(), "odd", &format!("{deed}\nexec ffmpeg \"$@\""));
        let args = ["--frames", "0-9", "--no-frames", "--video", "v.mp4", "test:timeout=5", "--ffmpeg", &ffmpeg];
        let run = render(dir.path(), &args);
        assert_eq!(run.status.success(), is_well, "{name}: {}", words(&run));
        assert!(!run.stderr.contains(&0x1b) && run.stderr.len() < 100_000, "{name}");
    }
    // An ffmpeg that never ends when it is asked for its version.
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let ffmpeg = shell_script(tools.path(), "odd", "yes");
    let run = render(dir.path(), &["--frames", "0", "--no-frames", "--video", "v.mp4", "--ffmpeg", &ffmpeg]);
    assert_eq!(run.status.code(), Some(69), "{}", words(&run));
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
}

#[test]
fn a_parent_that_ignores_ended_children_is_no_fault() {
    let dir = folder();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' CHLD; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_polyfly")]).current_dir(dir.path());
    let run =
        add_args(&mut shell, &LOOK).args(["--frames", "0-3", "-o", "a/%d.png", "--video", "v.mkv"]).output().unwrap();
    assert!(run.status.success(), "{}", words(&run));
    assert!(!text(&run.stderr).contains("ffmpeg was not found"), "{}", words(&run));
}
