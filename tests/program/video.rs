//! Videos, read back with ffprobe; these tests need ffmpeg and say so when it is missing.

#[cfg(feature = "h264")]
use crate::common::{folder, words};
use crate::common::{names, program, shell_script, text};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub fn polyfly(folder: &Path, args: &[&str]) -> Output {
    let scene = include_str!("../../scenes/coursework.txt");
    let mut child = program(folder, &[&["--cpu", "--samples", "1", "-q"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(scene.as_bytes());
    child.wait_with_output().unwrap()
}

fn probe(file: &Path) -> String {
    let out = Command::new("ffprobe")
        .args(["-v", "error", "-count_packets", "-select_streams", "v:0", "-of", "csv=p=0:nk=0", "-show_entries"])
        .arg("stream=codec_name,width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries,r_frame_rate,nb_read_packets")
        .arg(file)
        .output()
        .expect("ffprobe is needed: apt-get install ffmpeg");
    assert!(out.status.success(), "{}", text(&out.stderr));
    text(&out.stdout).trim().to_owned()
}

#[test]
fn mp4_has_its_frames_size_rate_and_colours() {
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(
        dir.path(),
        &["--size", "128x96", "--frames", "0-9", "--video", "clips/a.mp4", "--no-frames", "--fps", "29.97"],
    );
    assert!(run.status.success(), "{}", text(&run.stderr));
    let got = probe(&dir.path().join("clips/a.mp4"));
    for part in [
        "codec_name=h264",
        "width=128",
        "height=96",
        "pix_fmt=yuv420p",
        "color_range=tv",
        "color_space=bt709",
        "color_transfer=bt709",
        "color_primaries=bt709",
        "r_frame_rate=30000/1001",
        "nb_read_packets=10",
    ] {
        assert!(got.contains(part), "{part} is not in {got}");
    }
    assert_eq!(names(&dir.path().join("clips")), ["a.mp4"]);
}

#[test]
fn frames_and_video_come_together_and_look_alike() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        polyfly(dir.path(), &["--size", "127x95", "--frames", "0-2", "-o", "%d.png", "--video", "v.mp4", "--crf", "8"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(names(dir.path()), ["0.png", "1.png", "2.png", "v.mp4"]);
    // Odd sides are padded. Decoded according to its tags, the video shows the frame's colors.
    let rgb = Command::new("ffmpeg")
        .args([
            "-v",
            "error",
            "-i",
            "v.mp4",
            "-frames:v",
            "1",
            "-vf",
            "scale=in_color_matrix=bt709:in_range=tv:out_range=pc,format=rgb24",
            "-f",
            "rawvideo",
            "-",
        ])
        .current_dir(dir.path())
        .output()
        .expect("ffmpeg is needed: apt-get install ffmpeg")
        .stdout;
    assert_eq!(rgb.len(), 128 * 96 * 3);
    let frame = image::open(dir.path().join("0.png")).unwrap().into_rgb8();
    let mut total = 0.0;
    for (x, y, p) in frame.enumerate_pixels() {
        let i = 3 * (y as usize * 128 + x as usize);
        total += (0..3).map(|c| f64::from(p.0[c].abs_diff(rgb[i + c]))).sum::<f64>() / 3.0;
    }
    let mean = total / f64::from(frame.width() * frame.height());
    assert!(mean < 6.0, "mean difference {mean}");
}

#[test]
fn other_codecs() {
    let dir = tempfile::tempdir().unwrap();
    for (codec, name) in [("h265", "hevc"), ("av1", "av1")] {
        let run = polyfly(
            dir.path(),
            &["--size", "128x96", "--frames", "0-3", "--video", "c.mp4", "--no-frames", "--codec", codec],
        );
        assert!(run.status.success(), "{codec}: {}", text(&run.stderr));
        let got = probe(&dir.path().join("c.mp4"));
        assert!(got.contains(&format!("codec_name={name}")) && got.contains("nb_read_packets=4"), "{got}");
    }
}

#[test]
fn y4m_needs_no_ffmpeg() {
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(
        dir.path(),
        &["--size", "31x21", "--frames", "0-4", "--video", "c.y4m", "--no-frames", "--ffmpeg", "/nowhere"],
    );
    assert!(run.status.success(), "{}", text(&run.stderr));
    let bytes = std::fs::read(dir.path().join("c.y4m")).unwrap();
    let header = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    assert!(text(&bytes[..header]).starts_with("YUV4MPEG2 W32 H22 F30:1"));
    assert_eq!(bytes.len() - header, 5 * (6 + 32 * 22 * 3 / 2));
    assert!(probe(&dir.path().join("c.y4m")).contains("nb_read_packets=5"));
}

#[test]
fn a_missing_encoder_is_found_before_the_first_frame() {
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(
        dir.path(),
        &["--size", "32x32", "--frames", "0-2", "-o", "%d.png", "--video", "v.mp4", "--ffmpeg", "/nowhere"],
    );
    assert_eq!(run.status.code(), Some(69));
    assert_eq!((text(&run.stdout), names(dir.path()).len()), (String::new(), 0), "{}", text(&run.stderr));
}

#[test]
fn wrong_options_give_ffmpegs_own_words_before_the_first_frame() {
    let (tools, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let refuses =
        "case \"$*\" in *ultrafast*) echo \"[fatal] invalid preset 'warp9'\" >&2; exit 1 ;; esac\nexec ffmpeg \"$@\"";
    let ffmpeg = shell_script(tools.path(), "odd-ffmpeg", refuses);
    let run = polyfly(
        dir.path(),
        &[
            "--size", "32x32", "--frames", "0-2", "-o", "%d.png", "--video", "v.mp4", "--encode", "fast", "--ffmpeg",
            &ffmpeg,
        ],
    );
    assert_eq!(run.status.code(), Some(74));
    let words = text(&run.stderr);
    assert!(words.contains("trial encode") && words.contains("warp9"), "{words}");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_missing_encoder_is_named_before_the_first_frame() {
    let (tools, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let lacks =
        "case \"$*\" in *nvenc*) echo \"[fatal] Unknown encoder 'hevc_nvenc'\" >&2; exit 1 ;; esac\nexec ffmpeg \"$@\"";
    let ffmpeg = shell_script(tools.path(), "lacking-ffmpeg", lacks);
    let args = ["--size", "32x32", "--frames", "0-2", "-o", "%d.png", "--video", "v.mp4", "--ffmpeg", &ffmpeg];
    let run = polyfly(dir.path(), &[&args[..], &["--codec", "hevc_nvenc"]].concat());
    assert_eq!(run.status.code(), Some(69));
    let words = text(&run.stderr);
    assert!(words.contains("no encoder hevc_nvenc, which --codec hevc_nvenc needs"), "{words}");
    assert_eq!(names(dir.path()), [""; 0]);
}

// A program that is ffmpeg until its second encode, then misbehaves.
fn bad_encoder(folder: &Path, deed: &str) -> String {
    let script = format!(
        "case \"$*\" in *rawvideo*) ;; *) exec ffmpeg \"$@\" ;; esac\nif [ ! -e {0}/tried ]; then touch {0}/tried; exec ffmpeg \"$@\"; fi\n{deed}",
        folder.display()
    );
    shell_script(folder, "bad-ffmpeg", &script)
}

#[test]
fn a_dying_encoder_leaves_the_frames_and_says_why() {
    let (tools, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let said = "for n in 1 2 3 4 5 6 7 8; do echo \"[info] Stream $n\"; echo \"[h264] [error] no room $n\"; done >&2";
    let fire = format!(
        "head -c 100000 >/dev/null; {said}; echo '[error] the disk is on fire' >&2; echo '[info] bye' >&2; exit 3"
    );
    let ffmpeg = bad_encoder(tools.path(), &fire);
    let run = polyfly(
        dir.path(),
        &["--size", "128x96", "--frames", "0-19", "-o", "%02d.data", "--video", "v.mp4", "--ffmpeg", &ffmpeg],
    );
    assert_eq!(run.status.code(), Some(74));
    // The last errors are shown, and nothing else that ffmpeg says.
    let errors: Vec<_> = text(&run.stderr).lines().filter(|line| line.contains("[error]")).map(str::to_owned).collect();
    assert!(errors.len() == 5 && errors[4] == "[error] the disk is on fire", "{}", text(&run.stderr));
    assert!(!text(&run.stderr).contains("[info]"), "{}", text(&run.stderr));
    assert_eq!(names(dir.path()).len(), 20, "all frames stay, no video: {:?}", names(dir.path()));
    assert_eq!(text(&run.stdout).lines().count(), 20);
}

#[test]
fn an_encoder_that_exits_well_but_short_is_caught() {
    let (tools, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // It swallows all input, encodes half of it, and claims success.
    let ffmpeg = bad_encoder(tools.path(), "head -c 92160 | ffmpeg \"$@\"; cat >/dev/null; exit 0");
    let run = polyfly(
        dir.path(),
        &["--size", "128x96", "--frames", "0-9", "--no-frames", "--video", "v.mp4", "--ffmpeg", &ffmpeg],
    );
    assert_eq!(run.status.code(), Some(74));
    assert!(text(&run.stderr).contains("of 10 frames"), "{}", text(&run.stderr));
    // The encoded part is kept and named.
    assert!(text(&run.stderr).contains("its first 5 frames are kept in v.partial.mp4"), "{}", text(&run.stderr));
    assert_eq!(names(dir.path()), ["v.partial.mp4"]);
}

#[test]
fn a_hanging_encoder_is_ended_and_the_frames_stay() {
    for (deed, frames) in [("sleep 1000", 12), ("head -c 92160 | ffmpeg \"$@\"; sleep 1000", 12)] {
        let (tools, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ffmpeg = bad_encoder(tools.path(), deed);
        let frames_asked = format!("0-{}", frames - 1);
        // Enough frames to fill the pipe before the last of them.
        let args = [
            "--size",
            "640x480",
            "--frames",
            &frames_asked,
            "-o",
            "%02d.data",
            "--video",
            "v.mp4",
            "--ffmpeg",
            &ffmpeg,
        ];
        let start = std::time::Instant::now();
        let run = polyfly(dir.path(), &[&args[..], &["test:timeout=2"]].concat());
        assert_eq!(run.status.code(), Some(74), "{}", text(&run.stderr));
        assert!(text(&run.stderr).contains("made no progress for 2 s"), "{}", text(&run.stderr));
        assert!(start.elapsed().as_secs() < 60, "it ends by itself");
        assert_eq!(names(dir.path()).iter().filter(|n| n.ends_with(".data")).count(), frames);
    }
    // One that hangs when it is asked for its version.
    let (tools, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ffmpeg = bad_encoder(tools.path(), "");
    std::fs::write(&ffmpeg, "#!/bin/sh\nhead -c 5000000 /dev/urandom >&2\nexit 1\n").unwrap();
    let args = ["--size", "32x32", "--frames", "0", "-o", "%d.png", "--video", "v.mp4", "--ffmpeg", &ffmpeg];
    let run = polyfly(dir.path(), &args);
    assert_eq!(run.status.code(), Some(69));
    assert!(run.stderr.len() < 100_000);
}

#[test]
fn an_encoder_that_still_writes_its_file_is_waited_for() {
    // Moving the index of a large film to its front takes longer than the time-out.
    let slow = r#"case "$*" in
  *"-f mov -i pipe:0"*)
    for last; do :; done
    ffmpeg "$@" || exit
    for step in 1 2 3 4 5 6 7 8 9; do sleep 0.5; touch "${last#file:}"; done ;;
  *) exec ffmpeg "$@" ;;
esac"#;
    let (tools, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ffmpeg = shell_script(tools.path(), "slow", slow);
    let args = ["--size", "32x24", "--frames", "0-5", "test:segment=3", "--no-frames", "--video", "v.mp4"];
    let run = polyfly(dir.path(), &[&args[..], &["test:timeout=4", "--ffmpeg", &ffmpeg]].concat());
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(names(dir.path()), ["v.mp4"]);
}

// Renders a video that does not fit into the folder.
fn overfilled(folder: &Path, video: &str, program: Command) {
    let mut program = program;
    let args = ["--cpu", "--samples", "1", "-q", "--size", "160x120", "--frames", "0-59", "--no-frames"];
    let large: &[&str] = if video.ends_with(".y4m") { &[] } else { &["--crf", "1"] };
    let scene = std::fs::File::open("scenes/coursework.txt").unwrap();
    let run =
        program.args(args).args(large).args(["--video", video]).current_dir(folder).stdin(scene).output().unwrap();
    let partial = video.replace("v.", "v.partial.");
    let (said, found) = (text(&run.stderr), names(folder));
    let kept = std::fs::read(folder.join(&partial)).map(|b| b.len());
    let _ = std::fs::remove_file(folder.join(&partial));
    assert_eq!(run.status.code(), Some(74), "{said}");
    assert!(said.contains("are kept in v.partial."), "{said}");
    assert_eq!(found, [partial], "{said}");
    assert!(kept.unwrap() > 1000);
}

#[test]
fn without_room_for_it_what_is_encoded_is_kept_and_named() {
    let dir = tempfile::tempdir().unwrap();
    for video in ["v.mp4", "v.y4m"] {
        // A limit on the size of files, whose signal is ignored: writing fails, here and in ffmpeg.
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 500; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_polyfly")]);
        overfilled(dir.path(), video, shell);
    }
    // And a disk that is really full, if this user may create one.
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=400k", "tmpfs"]).arg(dir.path()).output();
    if mount.is_ok_and(|out| out.status.success()) {
        for video in ["v.mp4", "v.y4m"] {
            overfilled(dir.path(), video, Command::new(env!("CARGO_BIN_EXE_polyfly")));
        }
        assert!(Command::new("umount").arg(dir.path()).status().unwrap().success());
    }
}

#[test]
fn a_signal_to_ffmpeg_too_leaves_what_it_had() {
    let (tools, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // It takes four frames and gets the signal that the whole process group got.
    let ffmpeg = bad_encoder(tools.path(), "head -c 73728 | ffmpeg \"$@\"; kill -TERM $$");
    let args = ["--size", "128x96", "--frames", "0-199", "--no-frames", "--video", "v.mp4", "--ffmpeg", &ffmpeg];
    let run = polyfly(dir.path(), &args);
    assert_eq!(run.status.code(), Some(74));
    assert!(text(&run.stderr).contains("its first 4 frames are kept in v.partial.mp4"), "{}", text(&run.stderr));
    assert_eq!(names(dir.path()), ["v.partial.mp4"]);
}

// The number of frames of a film, their size, codec and pixel format, and their total duration.
fn seen(file: &Path) -> (String, usize, f64) {
    let out = Command::new("ffprobe")
        .args(["-v", "error", "-select_streams", "v:0", "-of", "json", "-show_frames", "-show_streams"])
        .args(["-show_entries", "stream=codec_name,profile,width,height,pix_fmt,avg_frame_rate:frame=pts_time"])
        .arg(file)
        .output()
        .expect("ffprobe is needed: apt-get install ffmpeg");
    assert!(out.status.success(), "{}", text(&out.stderr));
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let stream = &found["streams"][0];
    let facts =
        ["codec_name", "profile", "pix_fmt"].map(|key| stream[key].as_str().unwrap_or("-").to_owned()).join(" ");
    let frames = found["frames"].as_array().unwrap();
    let last: f64 = frames.last().unwrap()["pts_time"].as_str().unwrap().parse().unwrap();
    (format!("{facts} {}x{}", stream["width"], stream["height"]), frames.len(), last)
}

#[test]
fn films_are_what_their_ending_says() {
    let dir = tempfile::tempdir().unwrap();
    let films = [
        ("a.mov", &[][..], "h264 High yuv420p 64x64"),
        ("p.mov", &["--codec", "prores"], "prores HQ yuv422p10le 64x64"),
        ("d.mov", &["--codec", "dnxhr"], "dnxhd DNXHR HQ yuv422p 256x128"),
        ("s.mkv", &["--codec", "ffv1", "--encode", "small"], "ffv1 - yuv420p 64x64"),
        ("a.mkv", &["--codec", "h265"], "hevc Main yuv420p 64x64"),
        ("f.mkv", &["--codec", "ffv1"], "ffv1 - yuv420p 64x64"),
        ("u.mkv", &["--codec", "utvideo"], "utvideo - yuv422p 64x64"),
        ("u.mov", &["--codec", "utvideo"], "utvideo - yuv422p 64x64"),
        ("a.webm", &[], "vp9 Profile 0 yuv420p 64x64"),
        ("b.webm", &["--codec", "av1"], "av1 Main yuv420p 64x64"),
        ("v.mp4", &["--codec", "vp9"], "vp9 Profile 0 yuv420p 64x64"),
        ("a.gif", &[], "gif - bgra 64x64"),
    ];
    for (film, more, expected) in films {
        let size = expected.rsplit(' ').next().unwrap();
        let args =
            ["--size", size, "--frames", "0-16", "--no-frames", "--fps", "20", "test:segment=7", "--video", film];
        let run = polyfly(dir.path(), &[&args[..], more].concat());
        assert!(run.status.success(), "{film}: {}", text(&run.stderr));
        let (facts, frames, last) = seen(&dir.path().join(film));
        assert_eq!((facts.as_str(), frames), (expected, 17), "{film}");
        assert!((last - 16.0 / 20.0).abs() < 0.011, "{film}: {last}");
        // The index comes first, but in masters.
        let bytes = std::fs::read(dir.path().join(film)).unwrap();
        let place = |name: &[u8]| bytes.windows(4).position(|four| four == name);
        if let (Some(index), Some(pictures)) = (place(b"moov"), place(b"mdat")) {
            assert_eq!(index > pictures, ["p.mov", "d.mov", "u.mov"].contains(&film), "{film}: is it a master?");
        }
        // The film names its origin, and is not made again.
        if film != "a.gif" {
            let again = polyfly(dir.path(), &[&args[..], more, &["--resume"]].concat());
            assert!(
                again.status.success() && again.stdout.is_empty(),
                "{film}: {}{}",
                text(&again.stdout),
                text(&again.stderr)
            );
        }
    }
    // ffmpeg does not read the WebP that it writes; the library that reads pictures does.
    let run = polyfly(
        dir.path(),
        &["--size", "64x64", "--frames", "0-16", "--no-frames", "test:segment=7", "--video", "a.webp"],
    );
    assert!(run.status.success(), "{}", text(&run.stderr));
    let file = std::io::BufReader::new(std::fs::File::open(dir.path().join("a.webp")).unwrap());
    let frames = image::AnimationDecoder::into_frames(image::codecs::webp::WebPDecoder::new(file).unwrap());
    let sizes: Vec<_> = frames.map(|frame| frame.unwrap().into_buffer().dimensions()).collect();
    assert_eq!(sizes, [(64, 64); 17]);
    assert_eq!(names(dir.path()).len(), films.len() + 1, "nothing is left: {:?}", names(dir.path()));
    for (film, more, what) in [
        ("x.webm", ["--codec", "h264"], "a .webm holds vp9, av1, not h264"),
        ("x.gif", ["--codec", "av1"], "--codec: a .gif has a codec of its own, not av1: leave the flag out"),
        ("x.mov", ["--codec", "vp9"], "a .mov holds h264, h265, prores"),
        ("x.avi", ["--crf", "20"], "expected a name that ends in .mp4, .mov, .mkv, .webm, .gif, .webp or .y4m"),
        ("x.gif", ["--crf", "20"], "--crf: .gif has no quality setting"),
    ] {
        let run = polyfly(
            dir.path(),
            &[&["--size", "64x64", "--frames", "0-1", "--no-frames", "--video", film], &more[..]].concat(),
        );
        assert!(run.status.code() == Some(64) && text(&run.stderr).contains(what), "{film}: {}", text(&run.stderr));
    }
}

#[test]
#[cfg(feature = "h264")]
fn without_ffmpeg_an_mp4_is_made_all_the_same() {
    let dir = folder();
    let nowhere = dir.path().join("nowhere");
    std::fs::create_dir(&nowhere).unwrap();
    let alone = |args: &[&str]| {
        let small = ["scene.toml", "--cpu", "--size", "49x31", "--samples", "1", "--frames", "0-69"];
        let mut command = program(dir.path(), &[&small[..], args].concat());
        command.env("PATH", &nowhere).env_remove("POLYFLY_FFMPEG").output().unwrap()
    };
    let run = alone(&["-o", "f/%d.png", "--video", "a.mp4"]);
    assert!(run.status.success() && words(&run).contains("ffmpeg was not found"), "{}", words(&run));
    // ffmpeg's own output is not one of our remarks.
    assert!(!words(&run).contains("[OpenH264]"), "{}", words(&run));
    let probe = |file: &str, what: &str| {
        let args = ["-v", "error", "-count_frames", "-show_entries", what, "-of", "csv=p=0", file];
        let run = std::process::Command::new("ffprobe").args(args).current_dir(dir.path()).output().unwrap();
        assert!(run.status.success() && run.stderr.is_empty(), "{}", words(&run));
        text(&run.stdout).trim().to_owned()
    };
    let facts = "stream=codec_name,width,height,color_range,color_space,color_transfer,color_primaries,r_frame_rate,nb_read_frames";
    assert_eq!(probe("a.mp4", facts), "h264,50,32,tv,bt709,bt709,bt709,30/1,70");
    assert!(probe("a.mp4", "format_tags=title").starts_with(concat!("polyfly ", env!("CARGO_PKG_VERSION"), " scene ")));
    // It shows the rendered frames: the last frame, decoded, is close to its picture.
    let args = ["-v", "error", "-i", "a.mp4", "-vf", "select=eq(n\\,69)", "-frames:v", "1", "last.png"];
    assert!(std::process::Command::new("ffmpeg").args(args).current_dir(dir.path()).status().unwrap().success());
    let open = |file: &str| image::open(dir.path().join(file)).unwrap().crop_imm(0, 0, 49, 31).into_rgb8().into_raw();
    let (shown, made) = (open("last.png"), open("f/69.png"));
    assert_eq!(shown.len(), made.len());
    let off: u64 = shown.iter().zip(&made).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    assert!(off < 8 * made.len() as u64, "{off} of {}", made.len());
    // The same bytes from existing frames, and from a run that renders some of them again.
    let read = |file: &str| std::fs::read(dir.path().join(file)).unwrap();
    let first = read("a.mp4");
    std::fs::remove_file(dir.path().join("f/33.png")).unwrap();
    std::fs::remove_file(dir.path().join("a.mp4")).unwrap();
    let run = alone(&["-o", "f/%d.png", "--video", "a.mp4", "--resume", "-q"]);
    assert!(run.status.success() && run.stderr.is_empty() && read("a.mp4") == first, "{}", words(&run));
    let modified = || dir.path().join("a.mp4").metadata().unwrap().modified().unwrap();
    let before = modified();
    assert!(alone(&["-o", "f/%d.png", "--video", "a.mp4", "--resume"]).status.success());
    assert_eq!(modified(), before, "it is there, and is not made again");
    let mut stitch = program(dir.path(), &["stitch", "f", "-o", "b.mp4"]);
    assert!(stitch.env("PATH", &nowhere).output().unwrap().status.success());
    assert_eq!(probe("b.mp4", "stream=nb_read_frames"), "70");
    // Other codecs, and the limits of a film without segments.
    let refused = |args: &[&str], code: i32, why: &str| {
        let run = alone(args);
        assert!(run.status.code() == Some(code) && words(&run).contains(why), "{}", words(&run));
    };
    refused(&["-o", "g/%d.png", "--video", "a.mkv"], 69, "ffmpeg");
    refused(&["-o", "g/%d.png", "--video", "e.mp4", "--codec", "h265"], 69, "ffmpeg");
    refused(&["-o", "g/%d.png", "--video", "e.mp4", "--ffmpeg", "none"], 69, "`none` does not run as ffmpeg");
    refused(&["--no-frames", "--video", "c.mp4", "--resume"], 64, "is not resumed without frames");
    let shard = alone(&["-o", "g/%d.png", "--video", "c.mp4", "--shard", "1/2"]);
    assert!(shard.status.success() && words(&shard).contains("left to `polyfly stitch`"), "{}", words(&shard));
    let large = [
        "scene.toml",
        "--cpu",
        "--size",
        "4000x100",
        "--samples",
        "1",
        "--frames",
        "0",
        "--no-frames",
        "--video",
        "d.mp4",
    ];
    let run = program(dir.path(), &large).env("PATH", &nowhere).output().unwrap();
    assert!(run.status.code() == Some(74) && words(&run).contains("3840x2160"), "{}", words(&run));
    assert!(!dir.path().join("d.mp4").exists());
}

#[test]
fn ten_bits_and_hdr_are_made_of_light() {
    let dir = tempfile::tempdir().unwrap();
    // A sky that fades from black to beyond white, and hardly anything else.
    let scene = "[output]\nframes = 3\nsize = [64, 64]\n[render]\nsamples = 1\n[film]\ntone = \"clip\"\n[sky]\nzenith = [4, 4, 4]\nhorizon = [0, 0, 0]\n\
                 [camera]\nposition = [0, 0, 0]\nlook_at = [1, 0, 0.2]\nfov_deg = 60\n[[sphere]]\ncenter = [0, 0, -9]\nradius = 1\n";
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    let render = |args: &[&str]| program(dir.path(), &[&["s.toml", "--cpu", "-q"], args].concat()).output().unwrap();
    let probe = |file: &str| {
        let facts = "stream=codec_name,pix_fmt,color_range,color_space,color_transfer,color_primaries,nb_read_frames";
        let args = ["-v", "error", "-count_frames", "-show_entries", facts, "-of", "csv=p=0", file];
        let run = Command::new("ffprobe").args(args).current_dir(dir.path()).output().unwrap();
        text(&run.stdout).trim().trim_end_matches(',').to_owned()
    };
    // Luma codes of the first frame's middle column, from the bottom up.
    let column = |file: &str| {
        let args = ["-v", "error", "-i", file, "-frames:v", "1", "-pix_fmt", "yuv420p10le", "-f", "rawvideo", "-"];
        let run = Command::new("ffmpeg").args(args).current_dir(dir.path()).output().unwrap();
        assert!(run.status.success(), "{}", text(&run.stderr));
        let codes: Vec<u16> = run.stdout.as_chunks::<2>().0.iter().map(|&b| u16::from_le_bytes(b)).collect();
        (0..64).rev().map(|row| codes[64 * row + 32]).collect::<Vec<_>>()
    };
    let ten = ["--no-frames", "--video-bits", "10", "--crf", "1", "--video"];
    for (file, codec, format) in [
        ("a.mp4", "h265", "hevc,yuv420p10le"),
        ("b.mkv", "h264", "h264,yuv420p10le"),
        ("c.mkv", "av1", "av1,yuv420p10le"),
    ] {
        let run = render(&[&ten[..], &[file, "--codec", codec]].concat());
        assert!(run.status.success(), "{}", text(&run.stderr));
        assert_eq!(probe(file), format!("{format},tv,bt709,bt709,bt709,3"));
    }
    let run = render(&["--no-frames", "--video-bits", "10", "--codec", "ffv1", "--video", "exact.mkv"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let exact = column("exact.mkv");
    assert!(exact.is_sorted() && exact[0] < 80 && exact[63] == 940, "{exact:?}");
    // More steps than eight bits have: not all codes are multiples of four.
    assert!(exact.iter().any(|code| code % 4 != 0), "{exact:?}");
    let near = |a: &[u16], b: &[u16]| a.iter().zip(b).all(|(x, y)| x.abs_diff(*y) < 24);
    assert!(near(&column("a.mp4"), &exact), "{:?}", column("a.mp4"));
    // HDR: white of 203 candelas is code 573, and four times as bright is not clipped there.
    let run = render(&["--no-frames", "--hdr", "--crf", "1", "--video", "hdr.mp4"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(probe("hdr.mp4"), "hevc,yuv420p10le,tv,bt2020nc,smpte2084,bt2020,3");
    let hdr = column("hdr.mp4");
    let white = hdr[exact.iter().position(|&code| code == 940).unwrap()];
    assert!(white.abs_diff(573) < 30 && hdr[63] > white + 40, "{hdr:?}");
    let side = ["-v", "error", "-show_frames", "-read_intervals", "%+#1", "hdr.mp4"];
    let printed = text(&Command::new("ffprobe").args(side).current_dir(dir.path()).output().unwrap().stdout);
    assert!(printed.contains("Mastering display metadata") && printed.contains("max_content=1000"), "{printed}");
    let run = render(&["--no-frames", "--hdr", "--video", "hdr.webm"]);
    assert!(run.status.success() && probe("hdr.webm").starts_with("vp9,yuv420p10le"), "{}", text(&run.stderr));
    for (args, why) in [
        (&["--no-frames", "--hdr", "--video", "x.gif"][..], "has eight bits a channel"),
        (&["--no-frames", "--hdr", "--video", "x.mp4", "--codec", "h264"], "HDR10 comes in h265, vp9, av1"),
        (&["--no-frames", "--video-bits", "10", "--video", "x.y4m"], "has eight bits a channel"),
    ] {
        let run = render(args);
        assert!(run.status.code() == Some(64) && text(&run.stderr).contains(why), "{}", text(&run.stderr));
    }
    // Existing frames hold no linear light, and are rendered again for the missing segments; a film alone is resumed.
    let with_frames = ["-o", "f/%d.png", "--video", "d.mp4", "--hdr"];
    assert!(render(&with_frames).status.success());
    let first = std::fs::read(dir.path().join("d.mp4")).unwrap();
    std::fs::remove_file(dir.path().join("d.mp4")).unwrap();
    let run = program(dir.path(), &[&["s.toml", "--cpu", "--resume"], &with_frames[..]].concat()).output().unwrap();
    let said = text(&run.stderr);
    assert!(run.status.success() && said.contains("3 existing frames are rendered again"), "{said}");
    assert!(std::fs::read(dir.path().join("d.mp4")).unwrap() == first);
    let run = render(&[&with_frames[..], &["--resume"]].concat());
    assert!(run.status.success() && run.stdout.is_empty(), "{}", text(&run.stderr));
    // A film of linear light is also made by shards, and later.
    let exr = ["-o", "g/%d.exr", "--set", "output.bits=32", "--video", "g.mp4", "--hdr"];
    for shard in ["1/2", "2/2"] {
        let run = render(&[&exr[..], &["--shard", shard]].concat());
        assert!(run.status.success(), "{}", text(&run.stderr));
    }
    let stitch = |args: &[&str]| program(dir.path(), &[&["stitch"], args].concat()).output().unwrap();
    let run = stitch(&["g", "-o", "g.mp4", "--hdr", "-q"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(column("g.mp4"), column("d.mp4"));
    // In eight bits it goes through the scene's curve.
    assert!(stitch(&["g", "-o", "h.mkv", "--codec", "ffv1"]).status.success());
    assert!(stitch(&["f", "-o", "i.mkv", "--codec", "ffv1"]).status.success());
    assert!(near(&column("h.mkv"), &column("i.mkv")));
    std::fs::create_dir(dir.path().join("moved")).unwrap();
    std::fs::copy(dir.path().join("g/0.exr"), dir.path().join("moved/0.exr")).unwrap();
    let run = stitch(&["moved/%d.exr", "-o", "k.mkv", "--codec", "ffv1"]);
    assert!(
        run.status.success() && !text(&run.stderr).contains("is unknown: its linear light"),
        "{}",
        text(&run.stderr)
    );
    assert_eq!(column("k.mkv"), column("h.mkv"));
    let run = stitch(&["f", "-o", "x.mp4", "--hdr"]);
    assert!(run.status.code() == Some(64) && text(&run.stderr).contains("render .exr files"), "{}", text(&run.stderr));
    let run = render(&["-o", "j/%d.png", "--video", "x.mp4", "--hdr", "--shard", "1/2"]);
    assert!(run.status.code() == Some(64) && text(&run.stderr).contains("render .exr files"), "{}", text(&run.stderr));
    let again = ["--no-frames", "--hdr", "--crf", "1", "--video", "hdr.mp4", "--resume"];
    let before = std::fs::read(dir.path().join("hdr.mp4")).unwrap();
    std::fs::remove_file(dir.path().join("hdr.mp4")).unwrap();
    assert!(render(&again).status.success());
    assert!(std::fs::read(dir.path().join("hdr.mp4")).unwrap() == before);
}
