//! An existing film stays, unless the user says otherwise.

use crate::common::{folder, names, polyfly, program, shell_script, signal, text, wait_for, words};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Output, Stdio};

const LOOK: [&str; 5] = ["--cpu", "--size=32x24", "--samples=1", "--threads=1", "test:segment=4"];

fn run(dir: &Path, args: &[&str]) -> Output {
    polyfly(dir, &[args, &LOOK[..]].concat())
}

fn code(run: &Output) -> i32 {
    run.status.code().unwrap()
}

// A scene of eight frames with a film of that name.
fn scene(dir: &Path, film: &str) {
    let sample = std::fs::read_to_string(dir.join("scene.toml")).unwrap();
    let kept = sample.lines().filter(|l| !["frames =", "path =", "video ="].iter().any(|key| l.starts_with(key)));
    let rest: String = kept.map(|l| format!("{l}\n")).collect();
    let output = format!("[output]\nframes = 8\npath = \"o/%d.png\"\nvideo = \"{film}\"\n");
    std::fs::write(dir.join("s.toml"), rest.replacen("[output]\n", &output, 1)).unwrap();
}

#[test]
fn a_look_at_some_frames_leaves_the_film_of_all() {
    for film in ["film.mp4", "film.webm", "film.gif", "film.webp", "film.y4m"] {
        let dir = folder();
        scene(dir.path(), film);
        let done = run(dir.path(), &["s.toml"]);
        assert!(done.status.success(), "{film}: {}", words(&done));
        let read = || std::fs::read(dir.path().join(film)).unwrap();
        let whole = read();
        for look in [
            &["--frames=3", "-o", "look.png"][..],
            &["-o", "-"],
            &["--draft", "--frames=0-5", "-o", "draft/%d.png"],
            &["-o", "elsewhere/%d.png"],
            &["--frames=0-5", "--resume"],
            &["--frames=0-5", "--overwrite"],
            &["--sheet", "sheet.png"],
            &["--dry-run", "-o", "dry/%d.png"],
        ] {
            let looked = run(dir.path(), &[&["s.toml"], look].concat());
            assert_eq!(code(&looked), 0, "{film} {look:?}: {}", words(&looked));
            let is_told = words(&looked).contains(&format!("{film} is not made: "));
            assert_eq!(is_told, look[0] != "--sheet", "{film} {look:?}: {}", words(&looked));
            assert!(read() == whole, "{film} {look:?}");
        }
        // A run that would make another film says so before it begins.
        for (refused, why) in [
            (&["--frames=5", "--no-frames"][..], "--no-frames leaves nothing to write"),
            (&["--no-frames"], "already exists"),
            (&["--no-frames", "--fps=12"], "already exists"),
            (&["--frames=0-2", "-o", "n/%d.png", "--video", film], "already exists"),
            (&["--frames=0-2", "--no-frames", "--video", film], "already exists"),
            (&["--frames=0-2", "--resume", "--video", film], "--resume replaces videos of the same pictures only"),
            (&["--set=film.exposure=1", "-o", "n/%d.png", "--video", film], "already exists"),
        ] {
            let refused = run(dir.path(), &[&["s.toml"], refused].concat());
            assert!(code(&refused) == 64 && words(&refused).contains(why), "{film} {why}: {}", words(&refused));
            assert!(refused.stdout.is_empty() && read() == whole && !dir.path().join("n").exists(), "{film}");
        }
        // Existing frames stay when only the film is replaced.
        let odd = run(dir.path(), &["s.toml", "--frames=0-2", "--resume", "--overwrite"]);
        assert!(code(&odd) == 64 && words(&odd).contains("give one of them") && read() == whole, "{}", words(&odd));
        // Everything exists: nothing to do.
        let again = run(dir.path(), &["s.toml", "--resume"]);
        assert!(again.status.success() && again.stdout.is_empty() && read() == whole, "{film}: {}", words(&again));
        // An explicit flag makes another film.
        let other = run(dir.path(), &["s.toml", "--frames=0-2", "--resume", "--overwrite", "--video", film]);
        assert!(other.status.success() && other.stdout.is_empty() && read() != whole, "{film}: {}", words(&other));
    }
}

#[test]
fn a_film_of_some_frames_grows_with_them() {
    let dir = folder();
    scene(dir.path(), "film.mp4");
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(run(dir.path(), &["s.toml", "--no-frames", "--video=whole.mp4"]).status.success());
    for film in ["a.mp4", "a.gif", "a.y4m"] {
        let part = run(dir.path(), &["s.toml", "--frames=0-3", "--resume", "--video", film]);
        assert!(part.status.success(), "{}", words(&part));
        let short = read(film);
        let rest = run(dir.path(), &["s.toml", "--resume", "--video", film]);
        assert!(rest.status.success() && read(film).len() > short.len(), "{film}: {}", words(&rest));
        let whole = read(film);
        let shorter = run(dir.path(), &["s.toml", "--frames=0-3", "--resume", "--video", film]);
        assert!(code(&shorter) == 64 && read(film) == whole, "{}", words(&shorter));
    }
    assert!(read("a.mp4") == read("whole.mp4"));
    // The scene's own film, made of shards.
    for shard in ["1/2", "2/2"] {
        let run = run(dir.path(), &["s.toml", "--resume", "--shard", shard]);
        assert!(run.status.success() && !dir.path().join("film.mp4").exists(), "{}", words(&run));
    }
    let stitch = |args: &[&str]| polyfly(dir.path(), &[&["stitch"], args, &["test:segment=4"]].concat());
    let made = stitch(&["o", "-o", "film.mp4"]);
    assert!(made.status.success() && read("film.mp4") == read("whole.mp4"), "{}", words(&made));
    assert!(words(&stitch(&["o", "-o", "film.mp4"])).contains("has 8 frames already"));
    // With other settings, of the same pictures.
    assert!(stitch(&["o", "-o", "film.mp4", "--crf=40"]).status.success());
    assert!(read("film.mp4") != read("whole.mp4"));
    // With fewer pictures, or with unknown ones.
    for args in [&["o", "-o", "film.mp4", "--frames=0-3"][..], &["mine/%d.png", "-o", "film.mp4"]] {
        std::fs::create_dir_all(dir.path().join("mine")).unwrap();
        std::fs::copy(dir.path().join("o/0.png"), dir.path().join("mine/0.png")).unwrap();
        let before = read("film.mp4");
        let refused = stitch(args);
        assert!(code(&refused) == 64 && words(&refused).contains("--overwrite"), "{}", words(&refused));
        assert!(read("film.mp4") == before);
        let replaced = stitch(&[args, &["--overwrite"]].concat());
        assert!(replaced.status.success() && read("film.mp4") != before, "{}", words(&replaced));
    }
}

#[test]
fn a_raw_film_of_other_pictures_stays() {
    let dir = folder();
    scene(dir.path(), "own.mp4");
    let text = std::fs::read_to_string(dir.path().join("s.toml")).unwrap();
    std::fs::write(dir.path().join("other.toml"), text.replacen("grain = 0.0", "grain = 0.5", 1)).unwrap();
    let read = || std::fs::read(dir.path().join("h.y4m")).unwrap();
    let refused = |run: &std::process::Output, before: &[u8]| {
        assert!(code(run) == 64 && words(run).contains("h.y4m already exists"), "{}", words(run));
        assert!(read() == before);
    };
    let made = run(dir.path(), &["s.toml", "--frames=0-1", "-o", "h/a%d.png", "--video=h.y4m"]);
    assert!(made.status.success(), "{}", words(&made));
    let film = read();
    // Other frames of the same scene, more than the film has.
    let longer = ["s.toml", "--frames=4-6", "-o", "h/a%d.png", "--resume", "--video=h.y4m"];
    refused(&run(dir.path(), &longer), &film);
    // Frames of another scene in the same folder, and in the same files.
    let beside = ["other.toml", "--frames=0-3", "-o", "h/b%d.png"];
    assert!(run(dir.path(), &beside).status.success());
    refused(&run(dir.path(), &[&beside[..], &["--resume", "--video=h.y4m"]].concat()), &film);
    refused(&polyfly(dir.path(), &["stitch", "h/b%d.png", "-o", "h.y4m"]), &film);
    let stitched = polyfly(dir.path(), &["stitch", "h/a%d.png", "-o", "h.y4m"]);
    assert!(stitched.status.success() && read() == film, "{}", words(&stitched));
    refused(&polyfly(dir.path(), &["stitch", "h/b%d.png", "-o", "h.y4m"]), &film);
    let over = ["other.toml", "--frames=0-3", "-o", "h/a%d.png"];
    assert!(run(dir.path(), &[&over[..], &["--overwrite"]].concat()).status.success());
    refused(&run(dir.path(), &[&over[..], &["--resume", "--video=h.y4m"]].concat()), &film);
    // A film of the same frames whose file has changed since.
    let again = ["other.toml", "--frames=0-3", "-o", "h/a%d.png", "--resume", "--video=w.y4m"];
    assert!(run(dir.path(), &again).status.success() && run(dir.path(), &again).status.success());
    let changed = [&std::fs::read(dir.path().join("w.y4m")).unwrap()[..], b"more"].concat();
    std::fs::write(dir.path().join("w.y4m"), &changed).unwrap();
    let kept = run(dir.path(), &again);
    assert!(code(&kept) == 64 && std::fs::read(dir.path().join("w.y4m")).unwrap() == changed, "{}", words(&kept));
}

#[test]
fn what_is_no_film_of_ours_stays() {
    let dir = folder();
    let tokens = polyfly(dir.path(), &["--default"]).stdout;
    std::fs::write(dir.path().join("s.txt"), tokens).unwrap();
    for film in ["v.mp4", "v.mkv", "v.gif", "v.webp", "v.y4m"] {
        std::fs::write(dir.path().join(film), "a holiday").unwrap();
        for more in [&["scene.toml"][..], &["scene.toml", "--resume"], &["-"]] {
            let args = [more, &["--frames=0-1", "-o", "f/%d.png", "--video", film], &LOOK[..]].concat();
            let mut command = program(dir.path(), &args);
            command.stdin(std::fs::File::open(dir.path().join("s.txt")).unwrap());
            let refused = command.output().unwrap();
            assert!(code(&refused) == 64 && words(&refused).contains("already exists"), "{}", words(&refused));
            assert_eq!(std::fs::read(dir.path().join(film)).unwrap(), b"a holiday");
            assert!(!dir.path().join("f").exists(), "nothing is begun");
        }
    }
    // A scene on standard input replaces its own film, as it replaces its frames.
    for film in ["w.mp4", "w.gif"] {
        for _ in 0..2 {
            let args = [&["-", "--frames=0-1", "-o", "g/%d.png", "--video", film], &LOOK[..]].concat();
            let mut command = program(dir.path(), &args);
            command.stdin(std::fs::File::open(dir.path().join("s.txt")).unwrap());
            let made = command.output().unwrap();
            assert!(made.status.success(), "{film}: {}", words(&made));
        }
    }
}

#[test]
fn many_runs_of_one_film_all_end_well() {
    let dir = folder();
    let args =
        ["scene.toml", "--cpu", "--size=32x24", "--samples=1", "--threads=1", "--frames=0-60", "--no-frames", "-q"];
    for round in 0..3 {
        let film = format!("--video=v{round}.mp4");
        let start = || {
            let mut command = program(dir.path(), &[&args[..], &[&film]].concat());
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let runs: Vec<_> = (0..3).map(|_| start()).collect();
        for run in runs {
            let run = run.wait_with_output().unwrap();
            assert!(run.status.success(), "{}", words(&run));
        }
    }
    assert_eq!(names(dir.path()).len(), 4);
    let read = |round: usize| std::fs::read(dir.path().join(format!("v{round}.mp4"))).unwrap();
    assert!((1..3).all(|round| read(round) == read(0)));
}

#[test]
fn a_run_whose_segments_another_one_has_joined_ends_well() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    // The slow run's second segment waits until the other run has made the film and removed the first segment.
    let script = format!(
        "case \"$*\" in *rawvideo*) echo >>{0}/n; if [ $(wc -l <{0}/n) -gt 2 ]; then until [ -e {1}/v.mp4 ]; do sleep 0.05; done; sleep 1; fi ;; esac\n\
         exec ffmpeg \"$@\"",
        tools.path().display(),
        dir.path().display()
    );
    let ffmpeg = shell_script(tools.path(), "slow-ffmpeg", &script);
    let args = ["scene.toml", "--frames=0-7", "--no-frames", "test:encoders=1", "--video=v.mp4"];
    let mut slow = program(dir.path(), &[&args[..], &LOOK[..], &["--ffmpeg", &ffmpeg]].concat());
    let slow = slow.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let has_begun = || std::fs::read_to_string(tools.path().join("n")).is_ok_and(|lines| lines.len() > 2);
    wait_for(has_begun);
    let fast = run(dir.path(), &args);
    assert!(fast.status.success(), "{}", words(&fast));
    let film = std::fs::read(dir.path().join("v.mp4")).unwrap();
    let slow = slow.wait_with_output().unwrap();
    assert!(slow.status.success(), "{}", words(&slow));
    assert!(std::fs::read(dir.path().join("v.mp4")).unwrap() == film && !dir.path().join(".polyfly").exists());
}

#[test]
fn a_file_that_gets_the_name_meanwhile_stays() {
    let (dir, tools) = (folder(), tempfile::tempdir().unwrap());
    let script = format!(
        "case \"$*\" in *rawvideo*) echo >>{0}/n; if [ $(wc -l <{0}/n) -gt 1 ]; then until [ -e {1}/v.mp4 ]; do sleep 0.05; done; fi ;; esac\n\
         exec ffmpeg \"$@\"",
        tools.path().display(),
        dir.path().display()
    );
    let ffmpeg = shell_script(tools.path(), "slow-ffmpeg", &script);
    let args = ["scene.toml", "--frames=0-3", "-o", "o/%d.png", "--video=v.mp4", "--ffmpeg", &ffmpeg];
    let mut command = program(dir.path(), &[&args[..], &LOOK[..]].concat());
    let made = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| std::fs::read_to_string(tools.path().join("n")).is_ok_and(|lines| lines.len() > 1));
    std::fs::write(dir.path().join("v.mp4"), "a holiday").unwrap();
    let made = made.wait_with_output().unwrap();
    let said = words(&made);
    assert!(code(&made) == 74 && said.contains("another file has got this name"), "{said}");
    assert_eq!(std::fs::read(dir.path().join("v.mp4")).unwrap(), b"a holiday");
    assert!(said.contains("the video is v.partial.mp4"), "{said}");
    assert_eq!(decoded(dir.path(), "v.partial.mp4", (32, 24)).len(), 4);
}

#[test]
fn several_frames_do_not_share_a_name() {
    let dir = folder();
    for (to, suggested) in [("out.png", "out%04d.png"), ("a/b.exr", "a/b%04d.exr"), ("out", "out/%04d.png")] {
        let refused = run(dir.path(), &["scene.toml", "--frames=0-2", "-o", to]);
        let said = words(&refused);
        assert!(
            code(&refused) == 64
                && said.contains(&format!("is one file, and there are 3 frames: write -o {suggested}")),
            "{said}"
        );
    }
    assert!(run(dir.path(), &["scene.toml", "--frames=2", "-o", "one.png"]).status.success());
    assert_eq!(names(dir.path()), ["one.png", "scene.toml"]);
    let write = |frames: u32| {
        let scene =
            format!("[output]\nframes = {frames}\npath = \"l.png\"\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n");
        std::fs::write(dir.path().join("l.toml"), scene).unwrap();
    };
    write(1);
    let one = run(dir.path(), &["l.toml"]);
    assert!(one.status.success() && dir.path().join("l.png").exists(), "{}", words(&one));
    write(12);
    let refused = run(dir.path(), &["l.toml"]);
    let said = words(&refused);
    assert!(code(&refused) == 65 && said.contains("l.toml:3:8") && said.contains("`l%04d.png`"), "{said}");
    // The coursework's tokens keep their rule.
    let tokens = text(&polyfly(dir.path(), &["--default"]).stdout);
    let path = tokens.split_whitespace().nth(1).unwrap();
    std::fs::write(dir.path().join("t.txt"), tokens.replacen(path, "t.png", 1)).unwrap();
    let printed = run(dir.path(), &["t.txt", "--frames=7"]);
    assert!(printed.status.success() && dir.path().join("t7.png").exists(), "{}", words(&printed));
    assert!(words(&printed).contains("does not say where"), "{}", words(&printed));
}

#[test]
fn unknown_endings_are_refused_with_those_that_are_known() {
    let dir = folder();
    for (args, why) in [
        (&["particles", "generate", "50", "s.vtk"][..], ".csv, .xyzr or .txt"),
        (&["particles", "generate", "50", "s"], ".csv, .xyzr or .txt"),
        (&["convert", "scene.toml", "s.yaml"], ".toml or, in tokens, .txt"),
        (&["convert", "scene.toml", "-o", "s"], ".toml or, in tokens, .txt"),
    ] {
        let refused = polyfly(dir.path(), args);
        assert!(code(&refused) == 64 && words(&refused).contains(why), "{args:?}: {}", words(&refused));
    }
    assert_eq!(names(dir.path()), ["scene.toml"]);
    // The extension selects the grammar.
    assert!(polyfly(dir.path(), &["convert", "scene.toml", "again.toml"]).status.success());
    let again = std::fs::read_to_string(dir.path().join("again.toml")).unwrap();
    assert!(again.contains("[output]"), "{again}");
    // A broken picture is bad input; a missing one cannot be read.
    std::fs::write(dir.path().join("broken.png"), b"\x89PNG\r\n\x1a\nnothing more").unwrap();
    for (from, expected) in [("broken.png", 65), ("nothing.png", 74)] {
        let refused = polyfly(dir.path(), &["convert", from, "x.png"]);
        assert!(code(&refused) == expected && words(&refused).contains(from), "{}", words(&refused));
    }
}

#[test]
fn the_beginning_of_a_film_goes_when_the_whole_is_there() {
    for film in ["v.mp4", "v.gif", "v.webp", "v.y4m"] {
        let dir = folder();
        let args =
            ["scene.toml", "--cpu", "--size=160x120", "--samples=4", "--threads=1", "test:segment=4", "--frames=0-23"];
        let args = [&args[..], &["-o", "o/%d.png", "--video", film]].concat();
        let mut command = program(dir.path(), &args);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(|| dir.path().join("o/9.png").exists());
        signal(&child, "TERM");
        let stopped = child.wait_with_output().unwrap();
        assert_eq!(code(&stopped), 75, "{}", words(&stopped));
        let partial = dir.path().join(film.replace("v.", "v.partial."));
        assert!(partial.exists(), "{}", words(&stopped));
        let resumed = polyfly(dir.path(), &[&args[..], &["--resume"]].concat());
        assert!(resumed.status.success() && dir.path().join(film).exists(), "{}", words(&resumed));
        assert!(!partial.exists(), "{film}");
        // Foreign files stay.
        std::fs::write(&partial, "a holiday").unwrap();
        assert!(polyfly(dir.path(), &[&args[..], &["--resume"]].concat()).status.success());
        assert!(partial.exists());
    }
}

#[test]
fn the_beginning_of_a_film_replaces_no_file_of_others() {
    for film in ["v.mp4", "v.y4m"] {
        let dir = folder();
        let args = ["scene.toml", "--cpu", "--size=160x120", "--samples=4", "--threads=1", "test:segment=4"];
        let args = [&args[..], &["--frames=0-23", "-o", "o/%d.png", "--video", film]].concat();
        let partial = |number: &str| dir.path().join(film.replace("v.", &format!("v.partial{number}.")));
        std::fs::write(partial(""), "a holiday").unwrap();
        let stopped_after = |frame: &str, more: &[&str]| {
            let mut command = program(dir.path(), &[&args[..], more].concat());
            let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            wait_for(|| dir.path().join(frame).exists());
            signal(&child, "TERM");
            let stopped = child.wait_with_output().unwrap();
            assert_eq!(code(&stopped), 75, "{}", words(&stopped));
        };
        stopped_after("o/6.png", &[]);
        assert!(partial("-2").exists(), "{:?}", names(dir.path()));
        // One of ours is replaced.
        stopped_after("o/12.png", &["--resume"]);
        assert!(!partial("-3").exists(), "{:?}", names(dir.path()));
        let resumed = polyfly(dir.path(), &[&args[..], &["--resume"]].concat());
        assert!(resumed.status.success() && !partial("-2").exists(), "{film}: {}", words(&resumed));
        assert_eq!(std::fs::read(partial("")).unwrap(), b"a holiday");
    }
}

#[test]
fn a_log_ends_with_its_last_record_however_the_run_does() {
    let dir = folder();
    // One frame takes much longer than the grace period after the signal.
    let args = ["scene.toml", "--cpu", "--size=4000x3000", "--samples=16", "--depth=40", "--threads=1", "--frames=0"];
    for signals in [1, 2] {
        let grace = ["--grace=600", "--grace=1"][usize::from(signals == 1)];
        let mut command = program(dir.path(), &[&args[..], &["--log=jsonl", "-o", "o/%d.png", grace]].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut log = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        log.read_line(&mut first).unwrap();
        assert!(first.contains("\"type\":\"start\""), "{first}");
        for _ in 0..signals {
            signal(&child, "INT");
            // A second signal within a second is a bounce of the first one.
            std::thread::sleep(std::time::Duration::from_millis(1100));
        }
        let mut rest = String::new();
        log.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let end: serde_json::Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
        assert_eq!((&end["type"], &end["status"], &end["exit_code"]), (&"end".into(), &"failed".into(), &130.into()));
        assert!(end["error"].as_str().is_some_and(|why| !why.is_empty()) && end["frames"] == 0, "{end}");
    }
}

#[test]
fn the_end_of_the_encoder_is_a_stage() {
    let dir = folder();
    let made = run(dir.path(), &["scene.toml", "--frames=0-3", "--no-frames", "--video=v.mp4", "--log=jsonl"]);
    let end: serde_json::Value = serde_json::from_str(text(&made.stdout).lines().last().unwrap()).unwrap();
    let stage = |name: &str| end["stages"][name].as_f64().unwrap();
    // Four tiny frames are done before ffmpeg has started, encoded them and joined its segments.
    assert!(stage("finish_ms") > stage("encode_ms") && end["bottleneck"] == "finish", "{end}");
    assert!(words(&made).contains("waiting for the encoder took longest"), "{}", words(&made));
}

#[test]
fn pictures_that_would_be_lost_are_refused() {
    let dir = folder();
    let line = format!("exec {} scene.toml --frames=0 {} -o - >&-", env!("CARGO_BIN_EXE_polyfly"), LOOK[..4].join(" "));
    let refused = std::process::Command::new("sh").args(["-c", &line]).current_dir(dir.path()).output().unwrap();
    assert!(code(&refused) == 74 && words(&refused).contains("standard output is closed"), "{}", words(&refused));
    assert!(run(dir.path(), &["scene.toml", "--frames=0", "-o", "/dev/null"]).status.success());
}

#[test]
fn a_journal_of_nonsense_does_not_fill_the_screen() {
    let dir = folder();
    assert!(run(dir.path(), &["scene.toml", "--frames=0-1", "-o", "o/%d.png"]).status.success());
    let before = text(&polyfly(dir.path(), &["status", "o"]).stdout);
    let odd = [("1e308", "1"), ("-5", "1"), ("3", "1e300"), ("3", "-1e308")];
    let lines: String = odd.iter().map(|(ms, at)| format!("{{\"frame\":0,\"ms\":{ms},\"at\":{at}}}\n")).collect();
    std::fs::write(dir.path().join("o/.polyfly/stranger-7.jsonl"), lines).unwrap();
    assert_eq!(text(&polyfly(dir.path(), &["status", "o"]).stdout), before);
}

#[test]
fn what_has_no_alpha_says_so() {
    let dir = folder();
    let scene = "[output]\nframes = 2\npath = \"o/%d.png\"\n[sky]\ntransparent = true\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n";
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    for (args, named) in [
        (&["-o", "a/%d.png"][..], None),
        (&["-o", "a/%d.jpg"], Some("a/%d.jpg")),
        (&["-o", "b/%d.png", "--video=v.mp4"], Some("v.mp4")),
        (&["--no-frames", "--video=v.y4m"], Some("v.y4m")),
        (
            &["--no-frames", "--video=opaque.mov"],
            Some("opaque.mov has no alpha: a transparent sky becomes black (a .mov with `--codec prores`"),
        ),
        (&["--no-frames", "--video=v.webp"], None),
        (&["--no-frames", "--video=v.gif"], None),
        (&["--no-frames", "--video=v.mov", "--codec=prores"], None),
    ] {
        let made = run(dir.path(), &[&["s.toml"], args].concat());
        assert!(made.status.success(), "{}", words(&made));
        let printed: Vec<_> =
            text(&made.stderr).lines().filter(|line| line.contains("has no alpha")).map(str::to_owned).collect();
        assert_eq!(printed.len(), usize::from(named.is_some()), "{args:?}: {printed:?}");
        assert!(named.is_none_or(|named| printed[0].contains(named)), "{printed:?}");
    }
}

#[test]
fn what_is_transparent_stays_so_in_films_that_can() {
    let dir = folder();
    // A ball that moves from one side to the other, in a picture of odd sides.
    let scene = "[output]\nframes = 8\npath = \"o/%d.png\"\nsize = [63, 47]\n[sky]\ntransparent = true\n[camera.orbit]\n\
        center = [0, 0, 0]\ndistance = 6\n[[sphere]]\ncenter = [2, 0, 0]\nradius = 0.7\ncolor = \"tomato\"\n[[light]]\nposition = [0, 0, 9]\n";
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    for (film, codec) in
        [("v.webp", &[][..]), ("v.gif", &[]), ("v.mov", &["--codec=prores"]), ("v.mkv", &["--codec=ffv1"])]
    {
        let look = ["s.toml", "--cpu", "--samples=4", "test:segment=3", "--overwrite", "--video", film];
        let made = polyfly(dir.path(), &[&look, codec].concat());
        assert!(made.status.success(), "{film}: {}", words(&made));
        let frames = decoded(dir.path(), film, (64, 48));
        assert_eq!(frames.len(), 8, "{film}");
        for (n, frame) in frames.iter().enumerate() {
            let picture = image::open(dir.path().join(format!("o/{n}.png"))).unwrap().into_rgba8();
            let mut odd = 0;
            for (x, y, pixel) in picture.enumerate_pixels() {
                let (alpha, found) = (pixel.0[3], frame.get_pixel(x, y).0);
                // GIF has no partial transparency.
                let is_right =
                    if film == "v.gif" { (alpha >= 128) == (found[3] >= 128) } else { alpha.abs_diff(found[3]) < 6 };
                let is_red = alpha < 128 || found[0] >= found[2];
                odd += usize::from(!is_right || !is_red);
            }
            assert!(odd < 8, "{film}, frame {n}: {odd} pixels differ");
        }
        // Existing frames make the same film.
        let made = std::fs::read(dir.path().join(film)).unwrap();
        let stitched =
            polyfly(dir.path(), &[&["stitch", "o", "test:segment=3", "-o", &format!("s{film}")], codec].concat());
        assert!(stitched.status.success(), "{}", words(&stitched));
        assert!(std::fs::read(dir.path().join(format!("s{film}"))).unwrap() == made, "{film}");
    }
}

// Frames of a film; ffmpeg does not read an animated WebP.
fn decoded(folder: &Path, film: &str, (width, height): (u32, u32)) -> Vec<image::RgbaImage> {
    use image::AnimationDecoder;
    if film.ends_with("webp") {
        let file = BufReader::new(std::fs::File::open(folder.join(film)).unwrap());
        let frames = image::codecs::webp::WebPDecoder::new(file).unwrap().into_frames();
        return frames.map(|frame| frame.unwrap().into_buffer()).collect();
    }
    let args = ["-v", "error", "-i", film, "-f", "rawvideo", "-pix_fmt", "rgba", "-"];
    let raw = std::process::Command::new("ffmpeg").args(args).current_dir(folder).output().unwrap();
    assert!(raw.status.success(), "{}", words(&raw));
    let picture = |frame: &[u8]| image::RgbaImage::from_raw(width, height, frame.to_vec()).unwrap();
    raw.stdout.chunks((width * height * 4) as usize).map(picture).collect()
}

// The mean difference of two pictures, in codes.
fn difference(a: &image::RgbaImage, b: &image::RgbaImage) -> f64 {
    let pairs = a.pixels().zip(b.pixels()).flat_map(|(a, b)| (0..3).map(move |c| f64::from(a.0[c].abs_diff(b.0[c]))));
    pairs.sum::<f64>() / f64::from(3 * a.width() * a.height())
}

#[test]
fn pictures_that_move_do_not_go_stale() {
    let dir = folder();
    // A sky that rotates so slowly that each frame differs little from the one before.
    let scene = "[output]\nframes = 960\npath = \"o/%02d.png\"\nsize = [160, 96]\n[sky]\nimage = \"@dusk\"\n[camera.orbit]\n\
        center = [0, 0, 0]\ndistance = 10\nelevation_deg = 5\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n";
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    let picture = |n: usize| image::open(dir.path().join(format!("o/{n:02}.png"))).unwrap().into_rgba8();
    // A GIF has 256 colors.
    for (film, max) in [("v.webp", 3.0), ("v.gif", 6.0)] {
        let made =
            polyfly(dir.path(), &["s.toml", "--cpu", "--samples=1", "--frames=0-59", "--resume", "--video", film]);
        assert!(made.status.success(), "{}", words(&made));
        let frames = decoded(dir.path(), film, (160, 96));
        assert_eq!(frames.len(), 60);
        let differences: Vec<f64> =
            frames.iter().enumerate().map(|(n, frame)| difference(frame, &picture(n))).collect();
        let (first, last) = (differences[0], differences[59]);
        assert!(last < 1.3 * first + 0.2 && differences.iter().all(|d| *d < max), "{film}: {differences:?}");
    }
}

// A loop's film begins with its poster, and any film has a picture of it beside it.
#[test]
fn a_poster_stands_for_the_film() {
    let dir = folder();
    let write = |name: &str, output: &str| {
        let scene = format!(
            "[output]\nframes = 4\nsize = [24, 16]\npath = \"{name}/%d.jpg\"\n{output}\n[render]\nsamples = 1\n\
             [camera.orbit]\ndistance = 4\n[[body]]\nsolid = \"cube\"\n[[light]]\nposition = [4, 2, 6]\n"
        );
        std::fs::write(dir.path().join(format!("{name}.toml")), scene).unwrap();
    };
    let render = |args: &[&str]| {
        let run = polyfly(dir.path(), &[args, &["--cpu"]].concat());
        assert!(run.status.success(), "{args:?}: {}", words(&run));
    };
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    write("plain", "video = \"plain.y4m\"");
    write("loop", "video = \"loop.y4m\"\nloop = true\nposter = 2");
    write("cut", "video = \"cut.y4m\"\nposter = 2");
    ["plain.toml", "loop.toml", "cut.toml"].iter().for_each(|scene| render(&[scene]));
    render(&["plain.toml", "--frames", "2-3,0-1", "--video", "turned.y4m", "-o", "t/%d.jpg"]);
    assert!(read("loop.y4m") == read("turned.y4m") && read("cut.y4m") == read("plain.y4m"));
    assert!(read("loop.y4m") != read("plain.y4m"));
    let pixels = |name: &str| image::load_from_memory(&read(name)).unwrap().into_rgb8();
    for name in ["loop", "cut"] {
        assert!(pixels(&format!("{name}.poster.jpg")) == pixels("plain/2.jpg"), "{name}");
    }
    assert!(!dir.path().join("plain.poster.jpg").exists());
    // A film without frames has one too; the clip has no frame 4.
    render(&["cut.toml", "--no-frames", "--video", "alone.y4m"]);
    assert!(pixels("alone.poster.jpg") == pixels("plain/2.jpg"));
    write("far", "poster = 4");
    let far = polyfly(dir.path(), &["far.toml", "--cpu"]);
    assert!(words(&far).contains("a frame of the clip, 0 to 3"), "{}", words(&far));
}
