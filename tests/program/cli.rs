//! The program as a black box: streams, files, exit codes.

#[cfg(unix)]
use crate::common::signal;
use crate::common::{names, program, text};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn start(folder: &Path, args: &[&str], input: Option<&str>) -> Child {
    let mut child =
        program(folder, args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    if let Some(text) = input {
        // A program that refuses early closes the pipe; only its answer counts.
        let _ = stdin.write_all(text.as_bytes());
    }
    child
}

fn polyfly(folder: &Path, args: &[&str], input: Option<&str>) -> Output {
    start(folder, args, input).wait_with_output().unwrap()
}

fn default_scene() -> String {
    String::from_utf8(polyfly(Path::new("."), &["--default"], None).stdout).unwrap()
}

const SMALL: [&str; 5] = ["--cpu", "--size", "40x30", "--samples", "1"];

#[test]
fn the_main_job() {
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(dir.path(), &[&SMALL[..], &["--frames", "0-3"]].concat(), Some(&default_scene()));
    assert!(run.status.success(), "{}", text(&run.stderr));
    let said = text(&run.stderr);
    let (look, said) = said.split_once('\n').unwrap();
    assert!(look.starts_with("polyfly: look: film: ") && said.starts_with("polyfly: 4 frames in "), "{look}\n{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains(" a second; ")
            && said.contains(" took longest): output/default/%d.png, ")
            && said.ends_with("kB\n"),
        "{said}"
    );
    let log = text(&run.stdout);
    for (i, line) in log.lines().enumerate() {
        let parts: Vec<&str> = line.split('\t').collect();
        assert_eq!(parts.len(), 3, "{line}");
        assert_eq!(parts[0], i.to_string());
        assert!(parts[1].parse::<f64>().unwrap() > 0.0);
        assert!(parts[2].parse::<u64>().unwrap() >= 1200);
    }
    assert_eq!(log.lines().count(), 4);
    assert_eq!(names(&dir.path().join("output/default")), ["0.png", "1.png", "2.png", "3.png"]);
    let picture = image::open(dir.path().join("output/default/2.png")).unwrap();
    assert_eq!((picture.width(), picture.height(), picture.color()), (40, 30, image::ColorType::Rgb8));
}

// Tokens are shown as on film, and flat if that is asked for; what `convert` prints is the same scene.
#[test]
fn looks_of_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let hash = |args: &[&str], scene: &str| {
        let all = [&SMALL[..], &["--frames", "7", "--hash"], args].concat();
        let run = polyfly(dir.path(), &all, Some(scene));
        assert!(run.status.success(), "{args:?}: {}", text(&run.stderr));
        text(&run.stdout).split_whitespace().next().unwrap().to_owned()
    };
    let convert = |args: &[&str], scene: &str| {
        let run = polyfly(dir.path(), &[&["convert"], args].concat(), Some(scene));
        assert!(run.status.success(), "{args:?}: {}", text(&run.stderr));
        (text(&run.stdout), text(&run.stderr))
    };
    let scene = default_scene();
    let [film, plain] = [&["--look", "film"][..], &["--plain"]].map(|look| hash(look, &scene));
    assert_eq!(hash(&[], &scene), film);
    assert_ne!(film, plain);
    assert_eq!(hash(&["--look", "plain"], &scene), plain);
    assert_eq!(hash(&[], &convert(&[], &scene).0), film);
    let (toml, _) = convert(&["--look", "plain"], &scene);
    assert_eq!(hash(&[], &toml), plain);
    let (tokens, said) = convert(&["--to", "tokens"], &toml);
    assert!(said.contains("--look plain"), "{said}");
    assert_eq!(hash(&["--plain"], &tokens), plain);
    let bare = hash(&["--look", "bare"], &scene);
    assert!(bare != plain && bare != film);
    // The look is told: by `check`, and by a run of tokens that is not quiet.
    const FILM: &str = "look: film: 3x3 samples, dusk, slab, open shutter; --plain, --look bare";
    let check = |args: &[&str]| text(&polyfly(dir.path(), &[&["check", "-"], args].concat(), Some(&scene)).stdout);
    assert!(check(&[]).lines().any(|line| line == FILM), "{}", check(&[]));
    assert!(check(&["--look", "bare"]).contains("look: bare: 3x3 samples, no shadows; --look film, --plain"));
    let run = |scene: &str| {
        let args = ["--cpu", "--size", "8x6", "--frames", "0", "-o", "told%d.png", "--overwrite"];
        text(&polyfly(dir.path(), &args, Some(scene)).stderr)
    };
    assert!(run(&scene).contains(FILM), "{}", run(&scene));
    assert!(!run(&toml).contains("look:"), "{}", run(&toml));
    // An open shutter takes no adaptive samples; that of the look gives way.
    let run = polyfly(
        dir.path(),
        &["--cpu", "--size", "8x6", "--frames", "0", "--samples", "2..8", "-o", "a%d.png"],
        Some(&scene),
    );
    assert!(run.status.success(), "{}", text(&run.stderr));
    let run = polyfly(dir.path(), &["--plain", "--look", "film", "--frames", "0"], Some(&scene));
    assert_eq!(run.status.code(), Some(64));
}

#[test]
fn data_files_have_the_exact_format_and_png_the_same_pixels() {
    let dir = tempfile::tempdir().unwrap();
    let scene = default_scene();
    for pattern in ["a/%03d.data", "b%d.png"] {
        let run = polyfly(dir.path(), &[&SMALL[..], &["--frames", "7", "-o", pattern]].concat(), Some(&scene));
        assert!(run.status.success(), "{}", text(&run.stderr));
    }
    let data = std::fs::read(dir.path().join("a/007.data")).unwrap();
    assert_eq!(data.len(), 8 + 40 * 30 * 4);
    assert_eq!(data[..8], [40, 0, 0, 0, 30, 0, 0, 0]);
    assert!(data[8..].chunks(4).all(|p| p[3] == 255));
    let png = image::open(dir.path().join("b7.png")).unwrap().into_rgba8();
    assert_eq!(&data[8..], &png.into_raw()[..]);
}

#[test]
fn real_input_files_render() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let given = names(&inputs).into_iter().filter(|n| n.ends_with(".txt")).collect::<Vec<_>>();
    assert!(given.len() > 10, "{given:?}");
    for file in given.iter().map(|n| inputs.join(n)) {
        let dir = tempfile::tempdir().unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let frames = if name == "four-lights.txt" { "0" } else { "0-1" };
        let path = file.canonicalize().unwrap().display().to_string();
        let run = polyfly(
            dir.path(),
            &["--cpu", "--size", "160x120", "--texture", "@checker", "--frames", frames, "-o", "%d.png", &path],
            None,
        );
        if name == "leading-blank-light-and-samples-on-one-line.txt" {
            assert_eq!(run.status.code(), Some(65));
            let words = text(&run.stderr);
            assert!(words.contains("line.txt:2:1") && words.contains("token 1 (frame count)"), "{words}");
            assert_eq!(names(dir.path()), [""; 0]);
        } else {
            assert!(run.status.success(), "{name}: {}", text(&run.stderr));
            assert_eq!(names(dir.path()).len(), if frames == "0" { 1 } else { 2 }, "{name}");
        }
    }
}

#[test]
fn toml_paths_start_at_the_scene_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("deep")).unwrap();
    let floor =
        "[[body]]\nsolid = \"cube\"\n[floor]\ncorners = [[0,0,0],[0,1,0],[1,1,0],[1,0,0]]\ntexture = \"t.data\"\n";
    let scene = format!("[output]\nframes = 1\nsize = [8, 8]\npath = \"out/%d.data\"\n{floor}");
    std::fs::write(dir.path().join("deep/s.toml"), scene).unwrap();
    let run = polyfly(dir.path(), &["--cpu", "deep/s.toml"], None);
    assert_eq!(run.status.code(), Some(65));
    assert!(text(&run.stderr).contains("deep/t.data"), "{}", text(&run.stderr));
    assert_eq!(names(&dir.path().join("deep")), ["s.toml"], "nothing may be written");
    std::fs::write(dir.path().join("deep/t.data"), [1, 0, 0, 0, 1, 0, 0, 0, 9, 9, 9, 255]).unwrap();
    let run = polyfly(dir.path(), &["--cpu", "deep/s.toml"], None);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(names(&dir.path().join("deep/out")), ["0.data"]);
    std::fs::write(dir.path().join("deep/t.data"), [1, 0, 0, 0, 1, 0, 0, 0, 9]).unwrap();
    let run = polyfly(dir.path(), &["--cpu", "deep/s.toml", "--overwrite"], None);
    assert_eq!(run.status.code(), Some(65), "a texture cut short is refused");
}

#[test]
fn flags_override_the_scene() {
    let dir = tempfile::tempdir().unwrap();
    let scene = default_scene();
    let bytes = |args: &[&str]| {
        let run = polyfly(dir.path(), &[&SMALL[..], &["--frames", "0", "-o", "x%d.data"], args].concat(), Some(&scene));
        assert!(run.status.success(), "{}", text(&run.stderr));
        std::fs::read(dir.path().join("x0.data")).unwrap()
    };
    let plain = bytes(&[]);
    assert_eq!(plain, bytes(&["--threads", "3"]));
    assert_ne!(plain, bytes(&["--solids", "tetrahedron,dodecahedron,cube"]));
    assert_ne!(plain, bytes(&["--texture", "@wood"]));
    assert_ne!(plain, bytes(&["--depth", "1"]));
}

#[test]
fn usage_errors_are_64() {
    let dir = tempfile::tempdir().unwrap();
    let scene = default_scene();
    for args in [
        &["--nonsense"][..],
        &["--size", "40"],
        &["--size", "0x40"],
        &["--size", "65536x65536"],
        &["--frames", "9-1"],
        &["--frames", "600"],
        &["--samples", "0"],
        &["--depth", "999"],
        &["--solids", "cube,cube"],
        &["--solids", "ball,cube,cube"],
        &["--texture", "@lava"],
        &["--fps", "0"],
        &["--no-frames"],
        &["--video", "x.avi"],
        &["-o", "x%s.png"],
        &["-o", "x%d.bmp"],
    ] {
        let run = polyfly(dir.path(), args, Some(&scene));
        assert_eq!(run.status.code(), Some(64), "{args:?}: {}", text(&run.stderr));
        assert_eq!(names(dir.path()), [""; 0], "{args:?} wrote something");
    }
}

// A scene whose ending was left out is likelier than a command: then the file is what is missing.
#[test]
fn a_plain_word_may_have_been_meant_as_a_command() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let run = polyfly(dir.path(), args, None);
        (run.status.code(), text(&run.stderr))
    };
    let lists = "help: `polyfly --help` lists what it takes\n";
    assert_eq!(run(&["frobnicate"]), (Some(64), format!("error: there is no file `frobnicate`\n{lists}")));
    assert_eq!(run(&["frobnicate", "x.toml"]), (Some(64), format!("error: there is no command `frobnicate`\n{lists}")));
    let (code, said) = run(&["verfy", "x.toml"]);
    assert!(code == Some(64) && said.contains("help: did you mean `polyfly verify`?"), "{said}");
    std::fs::write(dir.path().join("mine.toml"), "").unwrap();
    for name in ["mine", "over/there", "lost.toml"] {
        let (code, said) = run(&[name]);
        assert!(code == Some(74) && !said.contains(lists), "{name}: {said}");
    }
}

#[test]
fn unreadable_and_unwritable_are_74() {
    let dir = tempfile::tempdir().unwrap();
    let run = polyfly(dir.path(), &["nowhere.txt"], None);
    assert_eq!(run.status.code(), Some(74), "{}", text(&run.stderr));
    std::fs::write(dir.path().join("file"), "").unwrap();
    let run = polyfly(dir.path(), &[&SMALL[..], &["-o", "file/%d.png"]].concat(), Some(&default_scene()));
    assert_eq!(run.status.code(), Some(74), "{}", text(&run.stderr));
    assert_eq!(text(&run.stdout), "");
}

#[test]
fn unknown_instruction_set_is_69() {
    let run = Command::new(env!("CARGO_BIN_EXE_polyfly"))
        .args(["--cpu", "scenes/infinity.toml"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("POLYFLY_ISA", "mmx")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(69));
    assert!(text(&run.stderr).contains("scalar"), "{}", text(&run.stderr));
}

#[test]
fn a_closed_log_does_not_stop_the_rendering() {
    let dir = tempfile::tempdir().unwrap();
    let mut child =
        start(dir.path(), &[&SMALL[..], &["--frames", "0-39", "-o", "%d.data"]].concat(), Some(&default_scene()));
    drop(child.stdout.take());
    let run = child.wait_with_output().unwrap();
    assert_eq!((run.status.code(), text(&run.stderr).lines().count()), (Some(0), 2), "{}", text(&run.stderr));
    assert_eq!(names(dir.path()).len(), 40);
}

#[test]
fn jsonl_has_start_frames_and_end() {
    let dir = tempfile::tempdir().unwrap();
    let run =
        polyfly(dir.path(), &[&SMALL[..], &["--frames", "0-4x2", "--log", "jsonl"]].concat(), Some(&default_scene()));
    let records: Vec<serde_json::Value> = text(&run.stdout).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let kinds: Vec<&str> = records.iter().map(|r| r["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["start", "frame", "frame", "frame", "end"]);
    let (start, end) = (&records[0], &records[4]);
    assert_eq!(start["schema"], 1);
    assert!(end["exit_code"] == 0 && end["status"] == "complete" && end["path"].is_string(), "{end}");
    assert_eq!(records[0]["width"], 40);
    assert_eq!(records[2]["frame"], 2);
    for stage in ["render_ms", "convert_ms", "encode_ms", "write_ms"] {
        assert!(records[1]["stages"][stage].is_number(), "{stage}");
    }
    assert!(records[1]["shadow_rays"].as_u64().unwrap() > 0);
    assert!(["render", "encode", "write"].contains(&records[4]["bottleneck"].as_str().unwrap()));
    assert_eq!(records[4]["frames"], 3);
    let rays: u64 = records[1..4].iter().map(|r| r["rays"].as_u64().unwrap()).sum();
    assert_eq!(records[4]["rays"], rays);
}

#[test]
fn jsonl_ends_with_its_record_whatever_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let scene = default_scene();
    let long = &["--frames", "0-1", "--shard", "9/9"][..];
    for (args, input, exit_code) in [
        (&["--fps", "x"][..], &*scene, 64),
        (&["--nothing"], &scene, 64),
        (&["gone.toml"], &scene, 74),
        (&["--set", "film.bloom=x"], &scene, 65),
        (&["--no-frames"], &scene, 64),
        (&["--devices", "x"], &scene, 64),
        (&["--texture", "gone.png"], &scene, 65),
        (&[], "no scene", 65),
        (long, &scene, 0),
    ] {
        for log in [&["--log", "jsonl"][..], &["--log=jsonl"]] {
            let run = polyfly(dir.path(), &[args, log].concat(), Some(input));
            let out = text(&run.stdout);
            let end: serde_json::Value = serde_json::from_str(out.lines().last().unwrap_or_default())
                .unwrap_or_else(|e| panic!("{args:?}: {e}: {out} {}", text(&run.stderr)));
            assert!(end["type"] == "end" && end["exit_code"] == exit_code, "{args:?}: {end}");
            assert_eq!(run.status.code(), Some(exit_code), "{args:?}");
            assert_eq!(out.matches("\"end\"").count(), 1, "{out}");
            let (status, error) = (end["status"].as_str().unwrap(), end["error"].as_str());
            assert_eq!((status, error.is_some()), if exit_code == 0 { ("complete", false) } else { ("failed", true) });
        }
    }
    // Where the pictures are on stdout, the record is on stderr; jobs have none.
    let run = polyfly(dir.path(), &["--log", "jsonl", "-o", "-", "--fps", "x"], Some(&scene));
    assert!(run.stdout.is_empty() && text(&run.stderr).contains("\"type\":\"end\""), "{}", text(&run.stderr));
    let run = polyfly(dir.path(), &["check", "--log", "jsonl"], Some(&scene));
    assert!(run.status.code() == Some(64) && run.stdout.is_empty());
}

#[test]
fn convert_goes_both_ways() {
    let dir = tempfile::tempdir().unwrap();
    let tokens = default_scene();
    let toml = text(&polyfly(dir.path(), &["convert"], Some(&tokens)).stdout);
    assert!(toml.starts_with("[output]"), "{toml}");
    let back = text(&polyfly(dir.path(), &["convert", "-"], Some(&toml)).stdout);
    let again = text(&polyfly(dir.path(), &["convert"], Some(&back)).stdout);
    assert_eq!(toml, again);
    let infinity = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/infinity.toml").display().to_string();
    let run = polyfly(dir.path(), &["convert", &infinity, "--to", "tokens", "-o", "x.txt"], None);
    assert_eq!(run.status.code(), Some(65));
    assert!(text(&run.stderr).contains("bodies"), "{}", text(&run.stderr));
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn a_picture_holds_the_frame_rate_of_its_scene() {
    let dir = tempfile::tempdir().unwrap();
    let scene = "[output]\nsize = [16, 8]\nframes = 3\nfps = 24\n[render]\nsamples = 1\n[[body]]\nsolid = \"cube\"\n";
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    // Without `path` the frames have a folder of their own.
    let run = polyfly(dir.path(), &["s.toml", "--cpu", "--frames", "0-1"], None);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(dir.path().join("frames/0001.png").exists() && !dir.path().join("frame_0000.png").exists());
    let printed = text(&polyfly(dir.path(), &["convert", "frames/0000.png", "--to", "toml"], None).stdout);
    assert!(printed.contains("\nfps = 24.0\n"), "{printed}");
    // The pictures do not depend on it: a run with another one goes on.
    let run = polyfly(dir.path(), &["s.toml", "--cpu", "--fps", "60", "--resume"], None);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let printed = text(&polyfly(dir.path(), &["convert", "frames/0002.png", "--to", "toml"], None).stdout);
    assert!(printed.contains("\nfps = 60.0\n"), "{printed}");
}

#[test]
fn a_picture_given_as_the_scene_is_not_printed() {
    let dir = tempfile::tempdir().unwrap();
    let mut data = vec![32u8, 0, 0, 0, 32, 0, 0, 0];
    data.extend((0..4096).map(|i| (i * 7 % 256) as u8));
    std::fs::write(dir.path().join("0.data"), &data).unwrap();
    std::fs::write(dir.path().join("zeros"), vec![0u8; 1 << 20]).unwrap();
    std::fs::write(dir.path().join("line"), "1 ".repeat(100_000)).unwrap();
    for name in ["0.data", "zeros", "line"] {
        let run = polyfly(dir.path(), &["--cpu", name], None);
        assert_eq!(run.status.code(), Some(65), "{name}");
        assert!(run.stderr.len() < 2000, "{name}: {} bytes on stderr", run.stderr.len());
        assert!(text(&run.stderr).contains(name), "{name}: {}", text(&run.stderr));
    }
}

#[test]
fn the_log_tells_the_samples_of_a_path() {
    let dir = tempfile::tempdir().unwrap();
    let scene = "[output]\nframes = 1\nsize = [8, 6]\n[render]\nintegrator = \"path\"\nsamples = 100\n[[sphere]]\n";
    let run = polyfly(dir.path(), &["--cpu", "--log", "jsonl", "-o", "%d.data"], Some(scene));
    let start: serde_json::Value = serde_json::from_str(text(&run.stdout).lines().next().unwrap()).unwrap();
    assert_eq!((start["samples"].as_u64(), start["samples_per_pixel"].as_u64()), (Some(100), Some(100)));
}

#[test]
fn long_lists_of_frames_take_no_time_and_contradictions_none_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let scene = default_scene().replacen("600", "100000000", 1);
    let run = polyfly(dir.path(), &["--frames", "0-99999999", "--no-frames"], Some(&scene));
    assert_eq!(run.status.code(), Some(64), "{}", text(&run.stderr));
    // Bits that the format lacks are reported before the texture is opened.
    let args = ["--set", "output.bits=32", "-o", "x%d.png", "--texture", "nowhere.png"];
    let run = polyfly(dir.path(), &args, Some(&default_scene()));
    assert_eq!(run.status.code(), Some(64), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("8 or 16"), "{}", text(&run.stderr));
}

#[cfg(unix)]
#[test]
fn the_first_interrupt_ends_after_whole_frames() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = start(dir.path(), &["--cpu", "--size", "320x240", "-o", "%03d.data"], Some(&default_scene()));
    // One line of the log says that rendering has begun.
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    signal(&child, "INT");
    std::io::Read::read_to_string(&mut out, &mut line).unwrap();
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(130), "{}", text(&run.stderr));
    let names = names(dir.path());
    assert_eq!(names.len(), line.lines().count(), "each frame in the log is there, and no other");
    assert!(names.len() < 600 && names.iter().all(|n| n.ends_with(".data")), "{names:?}");
    for name in names {
        assert_eq!(std::fs::metadata(dir.path().join(name)).unwrap().len(), 8 + 4 * 320 * 240);
    }
}

#[test]
fn help_and_version() {
    let help = polyfly(Path::new("."), &["--help"], None);
    assert!(help.status.success());
    let help = text(&help.stdout);
    for flag in ["--default", "--cpu", "--threads", "--frames", "--size", "--solids", "--texture", "--video", "--log"] {
        assert!(help.contains(flag), "{flag}");
    }
    assert_eq!(text(&polyfly(Path::new("."), &["help"], None).stdout), help);
    for job in ["new", "check", "bench"] {
        let of_job = |words: &[&str]| text(&polyfly(Path::new("."), words, None).stdout);
        assert_eq!(of_job(&["help", job]), of_job(&[job, "--help"]), "{job}");
        assert!(of_job(&["help", job]).contains(&format!("Usage: polyfly {job}")), "{job}");
    }
}

#[test]
fn the_version_tells_what_was_built() {
    let short = concat!("polyfly ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(text(&polyfly(Path::new("."), &["-V"], None).stdout), short);
    let long = text(&polyfly(Path::new("."), &["--version"], None).stdout);
    let rest = long.strip_prefix(short).unwrap_or_else(|| panic!("{long}"));
    let rows: Vec<(&str, &str)> = rest.lines().map(|line| line.split_once(' ').unwrap()).collect();
    // The commit is known where a release or a package names it.
    let rows = rows.strip_prefix(&rows[..usize::from(rows[0].0 == "commit")]).unwrap();
    assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), ["target", "features", "pictures", "sets"]);
    assert!(rows.iter().all(|row| !row.1.trim().is_empty()), "{long}");
    assert!(rows[1].1.contains("cli"), "{long}");
    let pictures =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/output/picture_version.txt")).unwrap();
    assert_eq!(rows[2].1.trim(), pictures.trim());
    assert!(rows[3].1.contains("scalar"), "{long}");
}

#[test]
fn presets_say_what_they_cost_and_change_the_picture() {
    let dir = tempfile::tempdir().unwrap();
    let scene = "[output]\nframes = 1\npath = \"%d.data\"\nsize = [64, 48]\n[render]\nsamples = 3\ndepth = 12\n[[body]]\n\
                 solid = \"cube\"\nreflection = 0.5\n[[light]]\nposition = [5, 5, 5]\nradius = 2\n";
    let mut pictures = Vec::new();
    for (quality, samples, depth) in
        [("--draft", "1 sample a pixel", "8 bounces"), ("--samples=3", "", ""), ("--final", "36", "18")]
    {
        let run = polyfly(dir.path(), &["--cpu", quality], Some(scene));
        let said = text(&run.stderr);
        assert!(run.status.success() && said.contains(samples) && said.contains(depth), "{quality}: {said}");
        pictures.push(std::fs::read(dir.path().join("0.data")).unwrap());
    }
    assert!(pictures[0] != pictures[1] && pictures[1] != pictures[2]);
    // Output about the encoder comes before the error.
    let run = polyfly(dir.path(), &["--cpu", "--final", "--samples", "2"], Some(scene));
    assert!(text(&run.stderr).contains("4 samples a pixel"), "{}", text(&run.stderr));
}

#[test]
fn explain_tells_what_a_key_a_flag_and_a_code_are() {
    let explain = |words: &[&str]| polyfly(Path::new("."), &[&["explain"], words].concat(), None);
    let printed = explain(&["lamps"]);
    assert!(printed.status.success() && text(&printed.stdout).contains("[[body]]\n  type      whole number or text\n"));
    assert!(text(&explain(&["--resume"]).stdout).starts_with("--resume\n"));
    assert!(text(&explain(&["75"]).stdout).contains("`--resume`"));
    assert!(text(&explain(&[]).stdout).contains("polyfly explain body.lamps"));
    let unknown = explain(&["raduis"]);
    assert_eq!(unknown.status.code(), Some(64));
    assert!(
        text(&unknown.stderr).contains("help: did you mean `polyfly explain radius`?"),
        "{}",
        text(&unknown.stderr)
    );
}

#[test]
fn every_log_of_records_ends_with_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("scene.txt"), default_scene()).unwrap();
    let run = |more: &[&str]| {
        let always = ["scene.txt", "--frames", "0-1", "-o", "o/%d.png", "--log", "jsonl"];
        let run = polyfly(dir.path(), &[&always[..], &SMALL, more].concat(), None);
        let lines = text(&run.stdout);
        let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap_or_default()).unwrap();
        assert!(lines.starts_with("{\"type\":\"start\"") && last["type"] == "end", "{lines}");
        assert_eq!(last["exit_code"], run.status.code().unwrap(), "{lines}");
        assert_eq!(last["status"] == "complete", run.status.success(), "{lines}");
        assert_eq!(last["error"].is_null(), run.status.success(), "{lines}");
        last
    };
    assert_eq!(run(&[])["frames"], 2);
    // Nothing is left to render.
    assert_eq!(run(&["--resume"])["frames"], 0);
    // The encoder does not start: no frame is rendered.
    let failed = run(&["--overwrite", "--video", "v.mp4", "--ffmpeg", "./nothing"]);
    assert_eq!((&failed["exit_code"], &failed["frames"]), (&69.into(), &0.into()));
    // The wait for the encoder's end is a stage.
    let film = run(&["--overwrite", "--video", "v.mp4"]);
    assert!(film["stages"]["finish_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{film}");
}
