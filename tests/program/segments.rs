//! Videos in segments: the picture does not depend on the number of encoders, on interruptions, or on
//! who rendered the frames. These tests need ffmpeg and ffprobe and say so when they are missing.

use crate::common::{folder, polyfly, program, shell_script, wait_for, words};
use sha2::Digest;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const LOOK: [&str; 8] = ["scene.toml", "--cpu", "--size", "96x64", "--samples", "1", "--threads=1", "test:segment=7"];

fn render(dir: &Path, more: &[&str]) -> Output {
    polyfly(dir, &[&LOOK[..], more].concat())
}

// Checksums of the frames that a player shows, and their times, in frames.
fn shown(dir: &Path, video: &str, fps: f64) -> Vec<(String, f64)> {
    let run = |program: &str, args: &[&str]| {
        let out = Command::new(program).args(args).current_dir(dir).output();
        let out = out.expect("ffmpeg and ffprobe are needed: apt-get install ffmpeg");
        assert!(out.status.success(), "{}", words(&out));
        String::from_utf8(out.stdout).unwrap()
    };
    let sums = run("ffmpeg", &["-v", "error", "-i", video, "-f", "framemd5", "-"]);
    let sums = sums.lines().filter(|l| !l.starts_with('#')).map(|l| l.rsplit(',').next().unwrap().trim().to_owned());
    let frames = ["-v", "error", "-show_entries", "frame=pts_time", "-of", "csv=p=0", video];
    let times = run("ffprobe", &frames);
    let times = times.lines().filter(|l| !l.is_empty()).map(|l| l.trim_end_matches(',').parse::<f64>().unwrap() * fps);
    sums.zip(times).collect()
}

// An ffmpeg that logs its encodes, and first runs a given command. Children of a killed run may still log after
// its end, so such a run gets a log of its own by ENCODINGS.
fn counting(folder: &Path, deed: &str) -> String {
    let script = format!(
        "{deed}\ncase \"$*\" in *rawvideo*) echo x >>\"${{ENCODINGS:-{}/encodings}}\" ;; esac\nexec ffmpeg \"$@\"",
        folder.display()
    );
    shell_script(folder, "counting-ffmpeg", &script)
}

// The number of encodes since the last call, without the trial of one frame.
fn encodings(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join("encodings")).unwrap_or_default();
    let _ = std::fs::remove_file(folder.join("encodings"));
    text.lines().count().saturating_sub(1)
}

// Those that are whole: a run that is killed may leave one without its checksum.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let films = std::fs::read_dir(folder.join(".polyfly")).into_iter().flatten().map(|e| e.unwrap().path());
    let films = films.filter(|p| p.file_name().unwrap().to_string_lossy().starts_with("film-"));
    let mut files: Vec<PathBuf> =
        films.flat_map(|f| std::fs::read_dir(f).unwrap()).map(|e| e.unwrap().path()).collect();
    files.retain(|p| {
        p.extension().is_some_and(|e| e == "mp4") && PathBuf::from(format!("{}.sha256", p.display())).exists()
    });
    files.sort();
    files
}

// ffmpeg reads the segments' names from a list, in quotes and line by line.
#[test]
fn a_videos_folder_may_have_any_name() {
    let dir = folder();
    for name in ["what? it's #1 of 50%", "two\nlines"] {
        let video = dir.path().join(name).join("v.mp4").display().to_string();
        std::fs::create_dir(dir.path().join(name)).unwrap();
        let run = render(dir.path(), &["--frames", "0-15", "--no-frames", "--video", &video]);
        assert!(run.status.success(), "{}", words(&run));
        assert_eq!(shown(dir.path(), &format!("file:{video}"), 30.0).len(), 16);
    }
}

#[test]
fn a_video_is_the_same_however_it_is_encoded() {
    let dir = folder();
    for (codec, fps) in [("h264", 30.0), ("h264", 29.97), ("h264", 7.123), ("h265", 24.0), ("av1", 25.0)] {
        let rate = fps.to_string();
        let settings = ["--frames", "0-23", "--no-frames", "--overwrite", "--codec", codec, "--fps", &rate];
        for (video, encoders) in [("one.mp4", "test:encoders=1"), ("many.mp4", "test:encoders=3")] {
            let run = render(dir.path(), &[&settings[..], &["--video", video, encoders]].concat());
            assert!(run.status.success(), "{}", words(&run));
        }
        let bytes = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
        assert!(bytes("one.mp4") == bytes("many.mp4"), "{codec} {fps}");
        assert!(!dir.path().join(".polyfly").exists(), "nothing is left");
        let fps = if fps == 29.97 { 30000.0 / 1001.0 } else { fps };
        let frames = shown(dir.path(), "one.mp4", fps);
        assert_eq!(frames.len(), 24, "{codec} {fps}");
        for (i, (_, time)) in frames.iter().enumerate() {
            // ffprobe prints microseconds.
            assert!((time - frames[0].1 - i as f64).abs() < 2e-6 * fps + 1e-9, "{codec} {fps}: frame {i} at {time}");
        }
    }
    for video in ["one.mkv", "two.mkv", "one.webm", "two.webm"] {
        let run = render(dir.path(), &["--frames", "0-7", "--no-frames", "--video", video]);
        assert!(run.status.success(), "{}", words(&run));
    }
    let bytes = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(bytes("one.mkv") == bytes("two.mkv") && bytes("one.webm") == bytes("two.webm"));
    // Short clips are one segment, and a segment shows the same frames as it does alone.
    let run = render(dir.path(), &["--frames", "7-13", "--no-frames", "--video", "short.mp4"]);
    assert!(run.status.success(), "{}", words(&run));
    let run = render(dir.path(), &["--frames", "0-23", "--no-frames", "--video", "long.mp4"]);
    assert!(run.status.success(), "{}", words(&run));
    let sums = |video: &str| shown(dir.path(), video, 30.0).into_iter().map(|(sum, _)| sum).collect::<Vec<_>>();
    assert_eq!(sums("short.mp4"), sums("long.mp4")[7..14]);
}

fn has_ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

#[test]
fn what_is_encoded_is_not_encoded_again() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    // As late as on a busy machine.
    let ffmpeg = counting(tools.path(), "case $ENCODINGS in ?*) sleep 0.2 ;; esac");
    let args = ["--frames", "0-48", "-o", "whole/%02d.png", "--video", "whole.mp4", "--ffmpeg", &ffmpeg];
    assert!(render(dir.path(), &args).status.success());
    assert_eq!(encodings(tools.path()), 7);
    let alone = ["--frames", "0-48", "--no-frames", "--video", "alone.mp4", "--ffmpeg", &ffmpeg];
    assert!(render(dir.path(), &alone).status.success());
    assert_eq!(encodings(tools.path()), 7);
    for (i, (signal, keep)) in [("KILL", true), ("TERM", true), ("KILL", false), ("INT", false)].into_iter().enumerate()
    {
        let (to, video) = (format!("cut{i}/%02d.png"), format!("v{i}/cut.mp4"));
        std::fs::create_dir(dir.path().join(format!("v{i}"))).unwrap();
        let frames = if keep { ["-o", &to] } else { ["--no-frames", "--resume"] };
        let args =
            [&LOOK[..], &["--frames", "0-48", "--video", &video, "--ffmpeg", &ffmpeg, "test:encoders=2"], &frames]
                .concat();
        let mut cut = program(dir.path(), &args);
        cut.env("ENCODINGS", tools.path().join("cut"));
        let mut child = cut.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let beside = dir.path().join(if keep { format!("cut{i}") } else { format!("v{i}") });
        wait_for(|| segments(&beside).len() >= 2 || has_ended(&mut child));
        let _ = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        if child.wait().unwrap().success() {
            // The run was faster than the signal.
            continue;
        }
        let there = segments(&beside).len();
        assert!((2..=7).contains(&there), "{there}");
        if signal != "KILL" {
            let partial = format!("v{i}/cut.partial.mp4");
            let frames = shown(dir.path(), &partial, 30.0);
            assert!(frames.len() > 14, "it shows what there was: {}", frames.len());
        }
        let run = polyfly(dir.path(), &[&args[..], if keep { &["--resume"] } else { &[] }].concat());
        assert!(run.status.success(), "{}", words(&run));
        assert_eq!(encodings(tools.path()), 7 - there, "{signal}");
        let whole = std::fs::read(dir.path().join(if keep { "whole.mp4" } else { "alone.mp4" })).unwrap();
        assert!(std::fs::read(dir.path().join(&video)).unwrap() == whole, "{signal}");
        assert_eq!(segments(&beside).len(), 0);
        // Of a killed run, no file of a film that it was joining is left.
        let left: Vec<_> =
            std::fs::read_dir(dir.path().join(format!("v{i}"))).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["cut.mp4"], "{signal}");
        assert!(!dir.path().join(format!("v{i}/cut.partial.mp4")).exists(), "the whole film has it all");
        // Everything exists: nothing is rendered or encoded.
        let again = polyfly(dir.path(), &[&args[..], if keep { &["--resume"] } else { &[] }].concat());
        assert!(again.status.success() && again.stdout.is_empty(), "{}", words(&again));
        assert!(words(&again).contains("has 49 frames already"), "{}", words(&again));
        assert_eq!(encodings(tools.path()), 0);
    }
}

// Lossy files are no source of a video: its missing frames are rendered again.
#[test]
fn a_video_is_the_same_whatever_its_frames_keep() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let ffmpeg = counting(tools.path(), "");
    for (i, frames) in [&["-o", "a/%d.jpg"][..], &["-o", "b/%d.png", "--set", "output.bits=16"], &["-o", "c/%d.exr"]]
        .iter()
        .enumerate()
    {
        let video = format!("v{i}.mp4");
        let args = [&["--frames", "0-20", "--video", &video, "--ffmpeg", &ffmpeg], *frames].concat();
        assert!(render(dir.path(), &args).status.success());
        assert_eq!(encodings(tools.path()), 3);
        let read = || std::fs::read(dir.path().join(&video)).unwrap();
        let whole = read();
        // The film is gone with all its segments, and a frame; later only a segment exists.
        let last = frames[1].replace("%d", "9");
        std::fs::remove_file(dir.path().join(&video)).unwrap();
        std::fs::remove_file(dir.path().join(&last)).unwrap();
        let run = render(dir.path(), &[&args[..], &["--resume"]].concat());
        assert!(
            run.status.success() && words(&run).contains("20 existing frames are rendered again"),
            "{}",
            words(&run)
        );
        assert!(read() == whole && encodings(tools.path()) == 3, "{frames:?}");
        let run = render(dir.path(), &[&args[..], &["--resume"]].concat());
        assert!(run.status.success() && run.stdout.is_empty() && encodings(tools.path()) == 0, "{}", words(&run));
        // Only a frame is gone.
        std::fs::remove_file(dir.path().join(&last)).unwrap();
        let run = render(dir.path(), &[&args[..], &["--resume"]].concat());
        assert!(run.status.success() && words(&run).contains("already exists, with all of these"), "{}", words(&run));
        assert!(read() == whole && encodings(tools.path()) == 0 && dir.path().join(&last).exists());
    }
    let raw = ["--frames", "0-3", "-o", "d/%d.jpg", "--video", "v.y4m"];
    assert!(render(dir.path(), &raw).status.success());
    let whole = std::fs::read(dir.path().join("v.y4m")).unwrap();
    std::fs::remove_file(dir.path().join("d/1.jpg")).unwrap();
    let run = render(dir.path(), &[&raw[..], &["--resume"]].concat());
    assert!(run.status.success(), "{}", words(&run));
    assert!(std::fs::read(dir.path().join("v.y4m")).unwrap() == whole && dir.path().join("d/1.jpg").exists());
}

#[test]
fn shards_encode_what_is_wholly_theirs_and_stitch_the_rest() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let ffmpeg = counting(tools.path(), "");
    let video = ["--frames", "0-29", "--video", "v.mp4", "--ffmpeg", &ffmpeg];
    assert!(render(dir.path(), &[&video[..], &["-o", "whole/%d.png"]].concat()).status.success());
    let whole = std::fs::read(dir.path().join("v.mp4")).unwrap();
    std::fs::remove_file(dir.path().join("v.mp4")).unwrap();
    for shard in ["1/2", "2/2"] {
        let run = render(dir.path(), &[&video[..], &["-o", "parts/%d.png", "--shard", shard]].concat());
        assert!(run.status.success(), "{}", words(&run));
    }
    assert!(!dir.path().join("v.mp4").exists());
    // Frames 0-6, 7-13, and, of the second half, 21-27 and 28-29.
    let made = segments(&dir.path().join("parts"));
    assert_eq!(made.len(), 4);
    // A missing segment is encoded again, from the existing frames.
    std::fs::remove_file(&made[0]).unwrap();
    let run = render(dir.path(), &[&video[..], &["-o", "parts/%d.png", "--shard", "1/2", "--resume"]].concat());
    assert!(run.status.success() && run.stdout.is_empty(), "{}", words(&run));
    assert_eq!(segments(&dir.path().join("parts")), made);
    encodings(tools.path());
    let run = polyfly(dir.path(), &["stitch", "parts", "-o", "v.mp4", "test:segment=7", "--ffmpeg", &ffmpeg]);
    assert!(run.status.success(), "{}", words(&run));
    assert_eq!(encodings(tools.path()), 1, "only frames 14-20");
    assert!(std::fs::read(dir.path().join("v.mp4")).unwrap() == whole);
    // Once the film exists, repeating a shard's command makes no segment of it.
    let run = render(dir.path(), &[&video[..], &["-o", "parts/%d.png", "--shard", "2/2", "--resume"]].concat());
    assert!(run.status.success() && encodings(tools.path()) == 0, "{}", words(&run));
    assert_eq!(segments(&dir.path().join("parts")).len(), 0);
}

// The choice of `--encode` may be another's default, as that of an earlier version was.
#[test]
fn a_film_goes_on_with_the_choice_that_it_was_begun_with() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let ffmpeg = counting(tools.path(), "");
    let run = |more: &[&str]| {
        let run = render(dir.path(), &[&["--frames", "0-29", "--ffmpeg", &ffmpeg, "--video"][..], more].concat());
        assert!(run.status.success(), "{}", words(&run));
        words(&run)
    };
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    for encode in ["fast", "standard", "small"] {
        run(&[&format!("{encode}.mp4"), "--no-frames", "--encode", encode]);
    }
    run(&["usual.mp4", "--no-frames"]);
    assert!(read("usual.mp4") == read("standard.mp4"));
    assert!(read("fast.mp4") != read("standard.mp4") && read("small.mp4") != read("standard.mp4"));
    // Begun by shards.
    run(&["v.mp4", "-o", "parts/%d.png", "--shard=1/2", "--encode=small"]);
    encodings(tools.path());
    assert!(run(&["v.mp4", "-o", "parts/%d.png", "--shard=2/2"]).contains("was begun as with `--encode small`"));
    let stitch = |more: &[&str]| {
        let args = ["stitch", "parts", "-o", "v.mp4", "test:segment=7", "--ffmpeg", &ffmpeg];
        words(&polyfly(dir.path(), &[&args[..], more].concat()))
    };
    assert!(stitch(&[]).contains("v.mp4 has 30 frames"));
    assert!(read("v.mp4") == read("small.mp4"));
    // The whole film stays, unless another choice is named.
    encodings(tools.path());
    assert!(stitch(&[]).contains("has 30 frames already"));
    run(&["v.mp4", "-o", "parts/%d.png", "--resume"]);
    assert!(encodings(tools.path()) == 0 && read("v.mp4") == read("small.mp4"));
    run(&["v.mp4", "-o", "parts/%d.png", "--resume", "--encode=fast"]);
    assert!(read("v.mp4") == read("fast.mp4"));
}

#[test]
fn segments_of_another_encoder_are_joined_too() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let broken = counting(tools.path(), "case \"$*\" in *faststart*) exit 1 ;; esac");
    let args = ["--frames", "0-29", "--no-frames", "--video", "v.mp4", "--ffmpeg", &broken];
    assert_eq!((render(dir.path(), &args).status.code(), encodings(tools.path())), (Some(74), 5));
    let other = &segments(dir.path())[1];
    let mut bytes = std::fs::read(other).unwrap();
    let name = bytes.windows(4).position(|w| w == b"Lavf").unwrap();
    bytes[name + 3] = b'g';
    // Sealed again.
    let seal = format!("{}.sha256", other.display());
    let hash: String = sha2::Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(seal, format!("{hash}  {}\n", other.file_name().unwrap().display())).unwrap();
    std::fs::write(other, bytes).unwrap();
    counting(tools.path(), "");
    let run = render(dir.path(), &[&args[..], &["--resume"]].concat());
    assert!(run.status.success() && encodings(tools.path()) == 0, "{}", words(&run));
    assert!(render(dir.path(), &["--frames", "0-29", "--no-frames", "--video", "whole.mp4"]).status.success());
    assert_eq!(shown(dir.path(), "v.mp4", 30.0), shown(dir.path(), "whole.mp4", 30.0));
}

#[test]
fn a_join_that_fails_loses_nothing() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let broken = counting(tools.path(), "case \"$*\" in *faststart*) echo '[error] no room' >&2; exit 1 ;; esac");
    let args = ["--frames", "0-29", "--no-frames", "--video", "v.mp4", "--ffmpeg", &broken];
    let run = render(dir.path(), &args);
    assert_eq!(run.status.code(), Some(74), "{}", words(&run));
    assert!(words(&run).contains("kept in ./.polyfly/film-") && words(&run).contains("--resume"), "{}", words(&run));
    assert_eq!((segments(dir.path()).len(), encodings(tools.path())), (5, 5));
    // A segment that a power cut or a full disk truncated is made again, not joined.
    let stored = segments(dir.path());
    let bytes = std::fs::read(&stored[1]).unwrap();
    std::fs::write(&stored[0], "").unwrap();
    std::fs::write(&stored[1], &bytes[..bytes.len() - 1]).unwrap();
    std::fs::write(&stored[2], [&bytes[..], b"x"].concat()).unwrap();
    counting(tools.path(), "");
    let run = render(dir.path(), &[&args[..], &["--resume"]].concat());
    assert!(run.status.success(), "{}", words(&run));
    assert_eq!((shown(dir.path(), "v.mp4", 30.0).len(), encodings(tools.path())), (30, 3));
    assert!(render(dir.path(), &["--frames", "0-29", "--no-frames", "--video", "whole.mp4"]).status.success());
    let video = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(video("v.mp4") == video("whole.mp4"));

    // Frames at wrong positions are found.
    let deed = r#"case "$*" in *faststart*)
        for i in $(seq $#); do
            a=$1; shift
            case "$a" in setts=*) a='setts=pts=PTS+mod(N\,2):dts=DTS' ;; esac
            set -- "$@" "$a"
        done ;; esac"#;
    let shifted = counting(tools.path(), deed);
    let args = ["--frames", "0-29", "--no-frames", "--video", "w.mp4", "--ffmpeg", &shifted];
    let run = render(dir.path(), &args);
    assert_eq!(run.status.code(), Some(74), "{}", words(&run));
    assert!(words(&run).contains("is not where it should be"), "{}", words(&run));
    assert!(!dir.path().join("w.mp4").exists());
}

#[test]
fn frames_of_segments_that_are_there_take_no_memory() {
    let dir = folder();
    // 16 MiB hold ten frames of this size: a resumed run renders more than that, whose segments are complete already.
    let look = ["scene.toml", "--cpu", "--size", "1280x820", "--samples", "1", "test:segment=14", "test:waiting=16"];
    let args = [&look[..], &["--frames", "0-15", "-o", "o/%d.png", "--video", "v.mp4", "-q"]].concat();
    let mut child = program(dir.path(), &args).stdout(Stdio::null()).spawn().unwrap();
    wait_for(|| !segments(&dir.path().join("o")).is_empty() || has_ended(&mut child));
    let _ = child.kill();
    if child.wait().unwrap().success() {
        // The run was faster than the signal.
        return;
    }
    for n in 0..14 {
        // The video may have got a frame whose file was not there yet.
        let _ = std::fs::remove_file(dir.path().join(format!("o/{n}.png")));
    }
    let mut child = program(dir.path(), &[&args[..], &["--resume"]].concat()).stdout(Stdio::null()).spawn().unwrap();
    wait_for(|| dir.path().join("v.mp4").exists() || has_ended(&mut child));
    assert!(child.wait().unwrap().success());
    assert_eq!(shown(dir.path(), "v.mp4", 30.0).len(), 16);
}

// Films of other frames of the same scene, none of which removes the segments of another.
#[test]
fn runs_side_by_side_keep_each_others_segments() {
    let dir = folder();
    let slow = |frames: &'static str, video: &'static str, more: &'static [&'static str]| {
        let args = ["--frames", frames, "--video", video, "test:encoders=2"];
        program(dir.path(), &[&LOOK[..], &args, more].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for (first, second) in [(&["--no-frames"][..], &["--no-frames"][..]), (&["-o", "a/%d.png"], &["--no-frames"])] {
        let one = slow("0-69", "one.mp4", first);
        wait_for(|| {
            segments(dir.path()).len() + segments(&dir.path().join("a")).len() > 1
                || dir.path().join("one.mp4").exists()
        });
        let two = slow("70-139", "two.mp4", second);
        for run in [one, two] {
            let run = run.wait_with_output().unwrap();
            assert!(run.status.success(), "{}", words(&run));
        }
        for (video, frames) in [("one.mp4", 70), ("two.mp4", 70)] {
            assert_eq!(shown(dir.path(), video, 30.0).len(), frames);
            std::fs::remove_file(dir.path().join(video)).unwrap();
        }
    }
}

#[test]
fn a_segment_that_is_not_as_it_was_is_encoded_again() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let args = ["--frames", "0-27", "-o", "a/%d.png", "--video", "v.mp4"];
    assert!(render(dir.path(), &args).status.success());
    let whole = std::fs::read(dir.path().join("v.mp4")).unwrap();
    // Everything is encoded, and the join fails.
    std::fs::remove_file(dir.path().join("v.mp4")).unwrap();
    let broken = shell_script(tools.path(), "f", "case \"$*\" in *faststart*) exit 1 ;; esac\nexec ffmpeg \"$@\"");
    let stored = render(dir.path(), &[&args[..], &["--resume", "--ffmpeg", &broken]].concat());
    assert_eq!(stored.status.code(), Some(74), "{}", words(&stored));
    let files = segments(&dir.path().join("a"));
    assert_eq!(files.len(), 4);
    // A segment under the name of another is as good as none.
    std::fs::copy(&files[0], &files[3]).unwrap();
    for (i, at) in [(0, 2), (2, 3)] {
        let mut bytes = std::fs::read(&files[i]).unwrap();
        let middle = bytes.len() * at / 4;
        bytes[middle..middle + 8].iter_mut().for_each(|b| *b ^= 0xff);
        std::fs::write(&files[i], bytes).unwrap();
    }
    let ffmpeg = counting(tools.path(), "");
    let run = render(dir.path(), &[&args[..], &["--resume", "--ffmpeg", &ffmpeg]].concat());
    assert!(run.status.success(), "{}", words(&run));
    assert_eq!(encodings(tools.path()), 3);
    assert!(std::fs::read(dir.path().join("v.mp4")).unwrap() == whole);
}

// A full disk has no room for a copy of the beginning, so the segment itself gets its name.
#[test]
fn what_a_full_disk_leaves_of_a_film_goes_when_the_whole_is_there() {
    let dir = folder();
    let film = |name: &'static str| {
        let args = ["scene.toml", "--size=160x120", "--samples=1", "--cpu", "-q", "--frames=0-59", "--no-frames"];
        [&args[..], &["--video", name], if name == "v.mp4" { &["--crf=1"] } else { &[] }].concat()
    };
    for (name, is_left) in [("v.mp4", true), ("v.gif", false)] {
        let partial = dir.path().join(name.replace("v.", "v.partial."));
        // A limit on the size of files, whose signal is ignored: writing fails.
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_polyfly")]);
        let full = shell.args(film(name)).current_dir(dir.path()).output().unwrap();
        assert!(full.status.code() == Some(74) && partial.exists() == is_left, "{name}: {}", words(&full));
        assert_eq!(words(&full).contains("are kept in v.partial.mp4"), is_left, "{}", words(&full));
        let resumed = polyfly(dir.path(), &[&film(name)[..], &["--resume"]].concat());
        assert!(resumed.status.success() && dir.path().join(name).exists(), "{}", words(&resumed));
        assert!(!partial.exists(), "{name}");
    }
}
