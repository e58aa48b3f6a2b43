//! Mistakes of people who do not know the language yet, and the answers; names of frames and files, flags and their defaults.

use crate::common::{folder, names, polyfly, program, text, words};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Output;

const LOOK: [&str; 5] = ["--cpu", "--size", "16x12", "--samples", "1"];

fn render(dir: &Path, more: &[&str]) -> Output {
    polyfly(dir, &[&["scene.toml"], &LOOK[..], more].concat())
}

// The scene with one line that replaces the lines with the same beginning, or is added at the end.
fn says(scene: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.toml"), scene).unwrap();
    let run = polyfly(dir.path(), &["s.toml", "--cpu", "--size", "16x12", "--frames", "0", "-o", "x.png"]);
    assert_eq!(run.status.code(), Some(65), "{}", words(&run));
    assert!(!dir.path().join("x.png").exists());
    words(&run)
}

#[test]
fn one_frame_has_the_name_that_it_is_given() {
    let dir = folder();
    let run = render(dir.path(), &["--frames", "3", "-o", "x.png"]);
    assert!(run.status.success(), "{}", words(&run));
    assert_eq!(names(dir.path()), ["scene.toml", "x.png"]);
    // A frame has no rate.
    assert!(words(&run).contains("1 frame in ") && !words(&run).contains("a second"), "{}", words(&run));
    let again = render(dir.path(), &["--frames", "3", "-o", "x.png"]);
    assert!(again.status.code() == Some(64) && words(&again).contains("x.png already exists"), "{}", words(&again));
    assert!(render(dir.path(), &["--frames", "3", "-o", "x.png", "--overwrite"]).status.success());
    assert!(render(dir.path(), &["--frames", "3", "-o", "n/%d.png"]).status.success());
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(read("x.png") == read("n/3.png"));
    // Without a format, the message lists the formats.
    let run = render(dir.path(), &["--frames", "3-4", "-o", "y%d"]);
    assert!(words(&run).contains("frames are y3.data ..."), "{}", words(&run));
    assert!(dir.path().join("y4.data").exists());
    let run = render(dir.path(), &["--frames", "3-4", "-o", "f####.png"]);
    assert!(run.status.success() && words(&run).lines().count() == 1, "{}", words(&run));
    assert!(dir.path().join("f0003.png").exists());
    let run = render(dir.path(), &["--frames", "3-4", "-o", "n"]);
    assert!(run.status.code() == Some(64) && words(&run).contains("such as n/%04d.png"), "{}", words(&run));
}

#[test]
fn frames_go_to_stdout_and_the_log_beside_it() {
    let dir = folder();
    assert!(render(dir.path(), &["--frames", "3-4", "-o", "%d.png"]).status.success());
    assert!(render(dir.path(), &["--frames", "3", "-o", "%d.ppm"]).status.success());
    let file = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    let run = render(dir.path(), &["--frames", "3-4", "-o", "-", "--log", "jsonl"]);
    assert!(run.status.success(), "{}", words(&run));
    assert!(run.stdout == [file("3.png"), file("4.png")].concat());
    assert!(words(&run).contains("\"type\":\"end\""), "{}", words(&run));
    let run = render(dir.path(), &["--frames", "3", "-o", "-.ppm", "-q"]);
    assert!(run.status.success() && run.stdout == file("3.ppm"));
    let sum = |number: u32| {
        let run = render(dir.path(), &["--frames", &number.to_string(), "-o", "-.data", "-q"]);
        let digits: String = Sha256::digest(run.stdout).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{digits}  {number}\n")
    };
    let run = render(dir.path(), &["--frames", "3-4", "--hash", "-q"]);
    assert!(run.status.success() && text(&run.stdout) == sum(3) + &sum(4), "{}", words(&run));
    let before = names(dir.path());
    if cfg!(unix) {
        let run = render(dir.path(), &["--frames", "3", "-o", "/dev/null"]);
        assert!(run.status.success() && text(&run.stdout).starts_with("3\t"), "{}", words(&run));
    }
    let run = render(dir.path(), &["--frames", "3", "-o", "-.gif"]);
    assert!(run.status.code() == Some(64) && words(&run).contains("expected -.data, -.png"), "{}", words(&run));
    let run = render(dir.path(), &["--frames", "3", "-o", "-", "--resume"]);
    assert_eq!(run.status.code(), Some(64), "{}", words(&run));
    assert_eq!(names(dir.path()), before);
}

#[test]
fn frames_are_counted_from_the_end_too() {
    let dir = folder();
    let log = |list: &str| {
        let run = render(dir.path(), &["--frames", list, "-o", "/dev/null"]);
        assert!(run.status.success(), "{}", words(&run));
        text(&run.stdout).lines().map(|l| l.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(log("last"), ["599"]);
    assert_eq!(log("-1"), ["599"]);
    assert_eq!(log("598-,-600"), ["598", "599", "0"]);
    assert_eq!(log("allx300"), ["0", "300"]);
}

#[test]
fn misspelt_keys_are_told_at_once_with_what_was_meant() {
    let said = says(
        "[camera]\nposishun = [1, 2, 3]\nfov_dge = 50\n[[body]]\nsolid = \"cube\"\nraduis = 1\ncolr = [1,\n 0,\n 0]\nradius = -1\n\
         [outptu]\nframes = 3\nsize = 3\n[output]\nframes = \"many\"\nsize = [0, 1]\n",
    );
    for expected in [
        "unknown key `posishun`",
        "did you mean `position`?",
        "did you mean `fov_deg`?",
        "did you mean `radius`?",
        "did you mean `color`?",
        "unknown key `outptu`",
        "did you mean `[output]`?",
        "`radius` is -1",
        "`frames` is the text \"many\"",
        "expected a number",
        "`size` is 0 x 1",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert_eq!(said.matches("error: ").count(), 8, "{said}");
}

#[test]
fn slips_of_the_pen_are_understood() {
    let line = |line: &str| says(&format!("[floor]\n{line}\n"));
    for (written, help) in [
        ("reflection = 1,5", "`,` (U+002C) does not belong in a number: did you mean 1.5?"),
        ("texture = @wood", "a line is `[table]` or `key = value`: numbers such as 0.5, texts in \"quotes\""),
        ("color = [230, 128, 51]", "expected three values, each a number from 0 to 1"),
        ("color = \"blurple\"", "did you mean `purple`?"),
        (
            "color = \"xyzzy\"",
            "expected a list of 3 numbers, \"#rrggbb\", a color's name in quotes, or a number for a gray",
        ),
    ] {
        assert!(line(written).contains(help), "{written}: {}", line(written));
    }
    let said = says("[body]\nsolid = \"cube\"\n");
    assert!(said.contains("as in [[body]]"), "{said}");
}

#[test]
fn colours_have_names_and_codes() {
    let dir = tempfile::tempdir().unwrap();
    let picture = |name: &str, colour: &str| {
        let scene =
            format!("[[sphere]]\nradius = 1\ncolor = {colour}\n[[light]]\nposition = [3, 2, 4]\ncolor = {colour}\n");
        std::fs::write(dir.path().join(name), scene).unwrap();
        let run = polyfly(dir.path(), &[&[name], &LOOK[..], &["--frames", "0", "-o", "-"]].concat());
        assert!(run.status.success(), "{}", words(&run));
        run.stdout
    };
    let numbers = picture("a.toml", "[1.0, 0.5019607843137255, 0.0]");
    assert!(picture("b.toml", "\"#ff8000\"") == numbers);
    assert!(picture("c.toml", "\"#FF8000\"") == numbers);
    assert!(picture("d.toml", "\"tomato\"") == picture("e.toml", "\"#ff6347\""));
    assert!(picture("d.toml", "\"tomato\"") != numbers);
}

#[test]
fn texts_of_windows_are_read() {
    let dir = folder();
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap().replace('\n', "\r\n");
    let expected = render(dir.path(), &["--frames", "3", "-o", "-"]).stdout;
    let units = |order: fn(u16) -> [u8; 2]| {
        std::iter::once(0xfeff).chain(scene.encode_utf16()).flat_map(order).collect::<Vec<u8>>()
    };
    for (name, bytes) in [
        ("bom.toml", [b"\xef\xbb\xbf", scene.as_bytes()].concat()),
        ("little.toml", units(u16::to_le_bytes)),
        ("big.toml", units(u16::to_be_bytes)),
    ] {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let run = polyfly(dir.path(), &[&[name], &LOOK[..], &["--frames", "3", "-o", "-"]].concat());
        assert!(run.status.success() && run.stdout == expected, "{name}: {}", words(&run));
    }
}

#[test]
fn jobs_are_found_and_quiet_stands_anywhere() {
    let dir = folder();
    let run = polyfly(dir.path(), &["docter"]);
    assert!(run.status.code() == Some(64) && words(&run).contains("did you mean `polyfly doctor`?"), "{}", words(&run));
    let run = polyfly(dir.path(), &["nothing.toml"]);
    assert!(run.status.code() == Some(74) && words(&run).contains("cannot read nothing.toml"), "{}", words(&run));
    let verify = ["verify", "scene.toml", "--size", "16x12", "--frames", "0"];
    for quiet in [[&["-q"][..], &verify].concat(), [&verify[..], &["--quiet"]].concat()] {
        let run = polyfly(dir.path(), &quiet);
        assert!(run.status.success(), "{}", words(&run));
    }
    assert!(polyfly(dir.path(), &["-q", "missing", "nowhere"]).status.code() == Some(75));
    let check = polyfly(dir.path(), &["--lang", "ru", "check", "scene.toml"]);
    assert!(
        check.status.success() && text(&check.stdout).contains("кадров"),
        "{}{}",
        text(&check.stdout),
        words(&check)
    );
}

#[test]
fn scenes_are_checked_without_a_file_written() {
    let dir = folder();
    let check = |scene: &str, more: &[&str]| {
        std::fs::write(dir.path().join("c.toml"), scene).unwrap();
        polyfly(dir.path(), &[&["check", "c.toml"], more].concat())
    };
    let sample = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    let run = check(&sample, &[]);
    assert!(run.status.success(), "{}", words(&run));
    let said = text(&run.stdout);
    assert!(said.starts_with("c.toml: 600 frames of ") && said.contains("20.00 s at 30 a second"), "{said}");
    assert!(said.contains("it holds 3 bodies, ") && said.contains("a floor") && !said.contains("warning"), "{said}");
    assert_eq!(names(dir.path()), ["c.toml", "scene.toml"]);
    let ball = "[[sphere]]\ncenter = [0, 0, 1]\nradius = 1\n";
    let light = "[[light]]\nposition = [0, -9, 9]\n";
    let frames = "[output]\nframes = 3\n";
    let camera = |line: &str| format!("{frames}[camera]\n{line}\n{ball}");
    for (scene, hint) in [
        (camera("position = [0, -4, 1]\nlook_at = [0, -9, 1]") + light, "warning: nothing is in sight in frames 0-2\n"),
        (camera("position = [3, 3, 3]\nlook_at = [3, 3, 3]") + light, "has no direction: frames 0-2"),
        (camera("position = [0, 0, 1.5]\nlook_at = [0, 0, 0]") + light, "the eye is inside of sphere[0]: frames 0-2"),
        (
            camera("position = [0, -9, 1]\nlook_at = [0, 0, 1]") + "[[light]]\nposition = [0, 0, 1.2]\n",
            "warning: c.toml:9: light[0] is inside of sphere[0], which lets no light out: frames 0-2; move one of them",
        ),
        (
            format!(
                "{frames}[render]\nambient = [0, 0, 0]\n[camera]\nposition = [0, -1.5, 1]\nlook_at = [0, 0, 1]\n{ball}"
            ),
            "frames 0-2 are black: is there a light?",
        ),
        (
            format!(
                "{frames}[sky]\nzenith = [50, 50, 50]\nhorizon = [50, 50, 50]\n[camera]\nposition = [0, -9, 1]\nlook_at = [0, 0, 1]\n{ball}"
            ),
            "of frames 0-2 are burnt out",
        ),
    ] {
        let run = check(&scene, &[]);
        assert!(
            run.status.success() && text(&run.stdout).contains(hint),
            "{hint}: {} {}",
            text(&run.stdout),
            words(&run)
        );
    }
    let run = check("[[sphere]]\nraduis = 1\n", &[]);
    assert!(run.status.code() == Some(65) && words(&run).contains("did you mean `radius`?"), "{}", words(&run));
}

#[test]
fn the_environment_gives_defaults() {
    let dir = folder();
    let run = |name: &str, value: &str, more: &[&str]| {
        program(
            dir.path(),
            &[&["scene.toml", "--size", "16x12", "--samples", "1", "--frames", "3-4", "-o", "/dev/null"], more]
                .concat(),
        )
        .env(name, value)
        .output()
        .unwrap()
    };
    assert!(text(&run("POLYFLY_LOG", "jsonl", &["--cpu"]).stdout).contains("\"type\":\"end\""));
    assert!(!text(&run("POLYFLY_LOG", "jsonl", &["--cpu", "--log", "text"]).stdout).contains("type"));
    assert!(text(&run("POLYFLY_DEVICES", "cpu", &["--log", "jsonl"]).stdout).contains("\"device\":\"cpu"));
    let one = text(&run("POLYFLY_THREADS", "1", &["--cpu", "--log", "jsonl"]).stdout);
    assert!(one.contains("\"threads\":1"), "{one}");
    let wrong = run("POLYFLY_THREADS", "many", &["--cpu"]);
    assert!(wrong.status.code() == Some(64) && words(&wrong).contains("POLYFLY_THREADS"), "{}", words(&wrong));
    let loud = ["--cpu", "-o", "y%d", "--overwrite"];
    let out = |value: &str| {
        let all = [&["scene.toml", "--size", "16x12", "--samples", "1", "--frames", "3-4"], &loud[..]].concat();
        words(&program(dir.path(), &all).env("POLYFLY_QUIET", value).output().unwrap())
    };
    assert!(out("").contains("frames are") && out("0").contains("frames are") && out("1").is_empty());
}

#[test]
fn shells_and_man_know_the_program() {
    let dir = folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = polyfly(dir.path(), &["completions", shell]);
        assert!(run.status.success() && text(&run.stdout).contains("limit-memory"), "{shell}");
    }
    let manual = text(&polyfly(dir.path(), &["man"]).stdout);
    assert!(manual.starts_with(".ie") && manual.contains("polyfly") && manual.contains("stitch"), "{manual:.300}");
}

#[test]
fn keys_are_changed_on_the_command_line() {
    let dir = folder();
    let picture = |more: &[&str]| {
        let run = render(dir.path(), &[&["--frames", "0", "-o", "x.ppm", "--overwrite"], more].concat());
        assert!(run.status.success(), "{}", words(&run));
        std::fs::read(dir.path().join("x.ppm")).unwrap()
    };
    let plain = picture(&[]);
    let changed = picture(&["--set", "film.exposure=-150%", "--set", "body[0].color=tomato"]);
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    let scene = scene.replace("exposure = 0.0", "exposure = -1.5").replacen("color = [", "color = \"tomato\" # [", 1);
    std::fs::write(dir.path().join("scene.toml"), scene).unwrap();
    assert!(changed == picture(&[]) && changed != plain);
    // In tokens too: their keys are those of the same scene in TOML.
    std::fs::write(dir.path().join("s.txt"), polyfly(dir.path(), &["--default"]).stdout).unwrap();
    let run = polyfly(
        dir.path(),
        &[&["s.txt"], &LOOK[..], &["--frames=0", "-o", "t.ppm", "--set", "film.exposure=-1.5"]].concat(),
    );
    assert!(run.status.success(), "{}", words(&run));
    // The shutter of their look gives way to what excludes one.
    let clear =
        ["s.txt", "--cpu", "-q", "--size=64x48", "--frames=0", "-o", "clear.png", "--set", "sky.transparent=true"];
    let run = polyfly(dir.path(), &clear);
    assert!(run.status.success(), "{}", words(&run));
    for (change, code, what) in [
        ("film.exposure", 64, "expected KEY=VALUE"),
        ("body[7].radius=1", 64, "the scene has 3 of them"),
        ("film..x=1", 64, "is not a key"),
        ("film.exposre=1", 65, "did you mean `exposure`?"),
        ("render.depth=300", 65, "a whole number from 0 to 128"),
    ] {
        let run = render(dir.path(), &["--frames", "0", "-o", "y.ppm", "--set", change]);
        assert_eq!(run.status.code(), Some(code), "{change}: {}", words(&run));
        assert!(words(&run).contains(what), "{change}: {}", words(&run));
    }
}

#[test]
fn shares_may_be_percentages() {
    let dir = folder();
    let toml = |share: &str| format!("[[body]]\nsolid = \"hexahedron\"\nreflection = {share}\n");
    let converted = |name: &str, scene: &str| {
        std::fs::write(dir.path().join(name), scene).unwrap();
        let run = polyfly(dir.path(), &["convert", name, "--to", "toml"]);
        assert!(run.status.success(), "{}", words(&run));
        text(&run.stdout)
    };
    assert_eq!(converted("a.toml", &toml("\"57%\"")), converted("b.toml", &toml("0.57")));
    let tokens = text(&polyfly(dir.path(), &["--default"]).stdout);
    assert!(tokens.contains(" 0.5 "), "{tokens}");
    assert_eq!(converted("a.txt", &tokens.replace(" 0.5 ", " 50% ")), converted("b.txt", &tokens));
}

#[test]
fn a_fault_in_tokens_tells_how_they_were_read() {
    let dir = folder();
    std::fs::write(dir.path().join("s.txt"), "3 a%d.png 64 48 200").unwrap();
    let run = polyfly(dir.path(), &["s.txt"]);
    assert!(
        words(&run).contains("read as the reduced dialect") || words(&run).contains("read as the full dialect"),
        "{}",
        words(&run)
    );
}

#[test]
fn nobody_doubts_the_dialect_of_whole_tokens() {
    let dir = folder();
    let sample = text(&polyfly(dir.path(), &["--default"]).stdout);
    std::fs::write(dir.path().join("s.txt"), sample.replacen("1280 720 66", "1280 720 660", 1)).unwrap();
    let run = polyfly(dir.path(), &["s.txt"]);
    let said = words(&run);
    assert!(run.status.code() == Some(65) && said.contains("token 5 (field of view)"), "{said}");
    assert!(!said.contains("dialect") && !said.contains("help"), "{said}");
}

#[test]
fn a_home_folder_stays_what_it_is() {
    let dir = folder();
    std::fs::write(
        dir.path().join("s.toml"),
        "[floor]\ncorners = [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]]\ntexture = \"~/floor.data\"\n",
    )
    .unwrap();
    let mut run = program(dir.path(), &["convert", "s.toml", "--to", "toml"]);
    let run = run.env("HOME", "/nobody/knows").output().unwrap();
    assert!(
        text(&run.stdout).contains("texture = \"~/floor.data\"") && !text(&run.stdout).contains("nobody"),
        "{}",
        text(&run.stdout)
    );
}

#[test]
fn letters_that_look_like_digits_are_named() {
    let dir = folder();
    let scene = |content: &[u8]| std::fs::write(dir.path().join("s.toml"), content).unwrap();
    let said = |args: &[&str], code: i32| {
        let run = polyfly(dir.path(), args);
        assert_eq!(run.status.code(), Some(code), "{}", words(&run));
        words(&run)
    };
    for (text, part) in [
        ("[film]\nexposure = 1О\n", "`О` (U+041E) does not belong in a number: did you mean 10?"),
        ("[output]\nsize = [64О, 480]\n", "`О` (U+041E) does not belong in a number: did you mean 640?"),
    ] {
        scene(text.as_bytes());
        let said = said(&["check", "s.toml"], 65);
        assert!(said.contains(part), "{said}");
    }
    // In tokens, in their shorter dialects too.
    for name in ["loose-layout-clockwise-floor.txt", "reduced-seed.txt"] {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
        let tokens = std::fs::read_to_string(root.join(name)).unwrap();
        let last = tokens.trim_end().rfind(char::is_whitespace).unwrap() + 1;
        let wrong = format!("{}1е2", &tokens[..last]);
        std::fs::write(dir.path().join("s.txt"), wrong).unwrap();
        let said = said(&["check", "s.txt"], 65);
        assert!(said.contains("`е` (U+0435) does not belong in a number: did you mean 1e2?"), "{name}: {said}");
    }
    let by_flag = said(&["scene.toml", "--fps", "3О"], 64);
    assert!(by_flag.contains("`О` (U+041E) does not belong in a number: did you mean 30?"), "{by_flag}");
    // A size that no picture has is not suggested.
    assert!(!said(&["scene.toml", "--size", "99999x3"], 64).contains("did you mean"));
    // A byte of another encoding has a line and a column.
    scene(b"[film]\n# caf\xe9\nexposure = 1\n");
    let said = said(&["check", "s.toml"], 65);
    assert!(said.contains("s.toml:2:6: byte 12 is not text in UTF-8"), "{said}");
}

#[test]
fn a_contact_sheet_is_one_picture_and_presets_have_short_names() {
    let dir = folder();
    let run = polyfly(dir.path(), &["scene.toml", "--cpu", "--draft", "--sheet", "sheet.png", "--size", "64x48"]);
    assert!(run.status.success() && run.stdout.is_empty(), "{}", words(&run));
    assert!(words(&run).contains("sheet.png shows 20 frames"), "{}", words(&run));
    // Twenty frames: five across and four down, with six pixels around each.
    assert_eq!(image::image_dimensions(dir.path().join("sheet.png")).unwrap(), (5 * 70 + 6, 4 * 54 + 6));
    assert_eq!(names(dir.path()), ["scene.toml", "sheet.png"]);
    let run = polyfly(dir.path(), &["scene.toml", "--cpu", "--sheet", "sheet.exr"]);
    assert_eq!(run.status.code(), Some(64), "{}", words(&run));
    let picture = |flags: &[&str]| {
        let all = [&["scene.toml", "--cpu", "--size", "32x24", "--frames", "0", "-o", "x.ppm", "--overwrite"], flags]
            .concat();
        assert!(polyfly(dir.path(), &all).status.success());
        std::fs::read(dir.path().join("x.ppm")).unwrap()
    };
    let run =
        polyfly(dir.path(), &["scene.toml", "--cpu", "--size", "32x24", "--frames", "0", "-o", "y.ppm", "--draft"]);
    assert!(words(&run).contains(", 1 thousand camera rays a frame"), "{}", words(&run));
    assert!(picture(&["--draft"]) != picture(&["--final"]));
    assert_eq!(polyfly(dir.path(), &["scene.toml", "--draft", "--final"]).status.code(), Some(64));
}

#[test]
fn what_made_a_picture_stands_in_it() {
    let dir = folder();
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    // From another folder, to other names: the same bytes.
    std::fs::create_dir(dir.path().join("b")).unwrap();
    std::fs::write(dir.path().join("b/other.toml"), scene).unwrap();
    for (scene, frames) in [("scene.toml", "3"), ("b/other.toml", "3"), ("scene.toml", "4")] {
        let folder = format!("{}{frames}", if scene.starts_with('b') { "x" } else { "y" });
        for format in ["png", "exr", "tiff"] {
            let file = format!("{folder}/p.{format}");
            let args = [scene, "--cpu", "--size", "64x48", "--samples", "2", "--frames", frames, "-q", "-o", &file];
            let run = polyfly(dir.path(), &args);
            assert!(run.status.success(), "{}", words(&run));
        }
    }
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    for format in ["png", "exr", "tiff"] {
        assert!(read(&format!("x3/p.{format}")) == read(&format!("y3/p.{format}")), "{format}");
        let name = concat!("polyfly ", env!("CARGO_PKG_VERSION"));
        let bytes = text(&read(&format!("y4/p.{format}")));
        assert!(bytes.contains(name) && bytes.contains("frame 4 of scene "), "{format}");
    }
    for (file, frame) in [("x3/p.png", 3), ("y3/p.exr", 3), ("y4/p.png", 4)] {
        let run = polyfly(dir.path(), &["convert", file, "--to", "toml"]);
        let back = text(&run.stdout);
        assert!(run.status.success() && back.starts_with("# polyfly "), "{file}: {}", words(&run));
        assert!(back.contains(&format!(", frame {frame} of scene ")) && back.contains("size = [64, 48]"), "{back}");
        // It makes the same picture again, and reports the source.
        std::fs::write(dir.path().join("back.toml"), back).unwrap();
        let n = frame.to_string();
        let run = polyfly(dir.path(), &["back.toml", "--cpu", "--frames", &n, "-q", "-o", "z/again.png"]);
        assert!(run.status.success(), "{}", words(&run));
        assert!(read("z/again.png") == read(&format!("y{frame}/p.png")), "{file}");
        std::fs::remove_dir_all(dir.path().join("z")).unwrap();
    }
    assert!(text(&polyfly(dir.path(), &["convert", "x3/p.png", "--to", "tokens"]).stdout).contains("64 48"));
    let run = polyfly(dir.path(), &["convert", "x3/p.tiff", "--to", "toml"]);
    assert!(run.status.code() == Some(64) && words(&run).contains("does not hold its scene"), "{}", words(&run));
}

#[test]
fn faults_of_files_have_a_place() {
    let dir = folder();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let message_of = |args: &[&str]| {
        let run = polyfly(dir.path(), args);
        assert_eq!(run.status.code(), Some(65), "{}", words(&run));
        words(&run)
    };
    write("t.toml", "[floor]\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]\ntexture = \"none.png\"\n");
    for job in [&["t.toml"][..], &["check", "t.toml"], &["t.toml", "--sheet", "s.png"], &["verify", "t.toml"]] {
        let said = message_of(job);
        assert!(said.contains("--> t.toml:3:11") && said.contains("cannot read the texture"), "{said}");
        assert!(said.contains("^^^^^^^^^^ none.png") && said.contains("help: give another with --texture"), "{said}");
    }
    // A value of a flag has no position in the scene.
    assert!(!message_of(&["t.toml", "--texture", "other.png"]).contains("-->"));
    write("m.toml", "[[mesh]]\npath = 'm.obj'\n");
    write("m.obj", "v 0 0 0\nv 1 x 0\n");
    let said = message_of(&["m.toml"]);
    assert!(said.contains("--> m.toml:2:8") && said.contains("m.obj"), "{said}");
    write("v.toml", "[output]\nvideo = \"a.avi\"\n");
    let said = message_of(&["v.toml"]);
    assert!(said.contains("--> v.toml:2:9") && said.contains("ends in .mp4"), "{said}");
    let tokens = text(&polyfly(dir.path(), &["--default"]).stdout).replace("@checker", "gone.data");
    write("t.txt", &tokens);
    let said = message_of(&["t.txt"]);
    assert!(said.contains("t.txt:") && said.contains("gone.data") && said.contains("-->"), "{said}");
}

#[test]
fn faults_have_colours_where_they_are_wanted() {
    let dir = folder();
    std::fs::write(dir.path().join("t.toml"), "[camera]\nfov_deg = 200\n").unwrap();
    let run = polyfly(dir.path(), &["t.toml"]);
    assert!(!run.stderr.contains(&0x1b), "{}", words(&run));
    let forced = |no: bool| {
        let mut command = program(dir.path(), &["t.toml"]);
        command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
        if no {
            command.env("NO_COLOR", "1");
        }
        command.output().unwrap().stderr
    };
    assert!(forced(false).contains(&0x1b));
    assert!(!forced(true).contains(&0x1b));
}

#[test]
fn pictures_are_see_through_where_there_is_sky() {
    let dir = folder();
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    let clear = scene.replace("[sky]\n", "[sky]\ntransparent = true\n");
    assert_ne!(clear, scene);
    std::fs::write(dir.path().join("scene.toml"), clear).unwrap();
    let open = |name: &str| image::open(dir.path().join(name)).unwrap();
    for name in ["a.data", "a.png", "a.webp", "a.tiff", "a.exr", "a.ppm", "a.jpg"] {
        let run = render(dir.path(), &["--frames", "3", "-o", name]);
        assert!(run.status.success(), "{name}: {}", words(&run));
    }
    let data = std::fs::read(dir.path().join("a.data")).unwrap().split_off(8);
    let alphas: Vec<u8> = data.iter().skip(3).step_by(4).copied().collect();
    assert!(alphas.contains(&0) && alphas.contains(&255), "{alphas:?}");
    for name in ["a.png", "a.webp", "a.tiff"] {
        assert!(open(name).into_rgba8().into_raw() == data, "{name}");
    }
    // Sixteen bits have the same eight upper bits.
    assert!(render(dir.path(), &["--frames", "3", "-o", "deep.png", "--set", "output.bits=16"]).status.success());
    let deep = open("deep.png").into_rgba16().into_raw();
    assert!(deep.iter().zip(&data).all(|(&a, &b)| (f64::from(a) / 257.0 - f64::from(b)).abs() <= 1.0));
    // EXR's colors are premultiplied: zero where alpha is zero.
    let exr = open("a.exr").into_rgba32f();
    assert!(exr.pixels().zip(&alphas).all(|(p, &a)| a > 0 || p.0 == [0.0; 4]));
    // Formats without alpha show them over black; so does a film, from frames and from linear light.
    let ppm = std::fs::read(dir.path().join("a.ppm")).unwrap().split_off("P6\n16 12\n255\n".len());
    let over = |x: u8, a: u8| ((u32::from(x) * u32::from(a) + 127) / 255) as u8;
    let seen = |(p, q): (&[u8; 3], &[u8; 4])| *p == [0, 1, 2].map(|i| over(q[i], q[3]));
    assert!(ppm.as_chunks::<3>().0.iter().zip(data.as_chunks::<4>().0).all(seen));
    let film = ["--frames", "0-2", "-o", "f/%d.png", "--video", "a.y4m"];
    assert!(render(dir.path(), &film).status.success());
    let run = polyfly(dir.path(), &["stitch", "f", "-o", "b.y4m"]);
    assert!(run.status.success(), "{}", words(&run));
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(read("a.y4m") == read("b.y4m"));
    let convert = polyfly(dir.path(), &["convert", "a.png", "c.data"]);
    assert!(convert.status.success() && read("c.data")[8..] == data);
}
