//! Flags do what they say, or are refused: none is silently ignored.

use crate::common::{folder, names, polyfly, program, text, words};
use std::path::Path;
use std::process::Output;

const SMALL: [&str; 5] = ["scene.toml", "--cpu", "--size=16x12", "--samples=1", "--threads=1"];

fn render(dir: &Path, flags: &[&str]) -> Output {
    polyfly(dir, &[&SMALL[..], flags].concat())
}

fn refused(run: &Output, code: i32, why: &str) {
    assert!(run.status.code() == Some(code) && words(run).contains(why), "{:?} {}", run.status.code(), words(run));
}

#[test]
fn a_sheet_takes_the_flags_of_other_runs() {
    let dir = folder();
    let sheet = ["--sheet=s.png", "--frames=4-6", "--log=jsonl"];
    let run = render(dir.path(), &sheet);
    assert!(run.status.success() && words(&run).contains("s.png shows 3 frames"), "{}", words(&run));
    // Two across and two down, with six pixels around each.
    assert_eq!(image::image_dimensions(dir.path().join("s.png")).unwrap(), (2 * 22 + 6, 2 * 18 + 6));
    let log = text(&run.stdout);
    assert!(log.lines().count() == 1 && log.contains("\"type\":\"end\""), "{log}");
    // The frames' own path does not matter: none is written.
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    let outside = scene.replace("output/default/", "/nowhere/else/");
    assert_ne!(outside, scene);
    std::fs::write(dir.path().join("scene.toml"), outside).unwrap();
    let run = render(dir.path(), &["--sheet=t.png", "--frames=0"]);
    assert!(run.status.success(), "{}", words(&run));
    refused(&render(dir.path(), &["--frames=0"]), 65, "output");
}

#[cfg(unix)]
#[test]
fn stdout_by_any_name_has_the_pictures_alone() {
    let dir = folder();
    let frames = ["--frames=0-1"];
    let pictures = render(dir.path(), &[&frames[..], &["-o", "-"]].concat()).stdout;
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let args = [&frames[..], &["-o", name]].concat();
        let run = render(dir.path(), &args);
        assert!(run.status.success() && run.stdout == pictures, "{name}: {}", words(&run));
        // Into a file too, which has to keep what is there already.
        let file = dir.path().join("all");
        let all = std::fs::File::create(&file).unwrap();
        let run = program(dir.path(), &[&SMALL[..], &args].concat()).stdout(all).output().unwrap();
        assert!(run.status.success() && std::fs::read(&file).unwrap() == pictures, "{name}: {}", words(&run));
    }
    assert_eq!(names(dir.path()), ["all", "scene.toml"]);
}

#[test]
fn sums_are_alone_on_stdout_when_a_run_fails_early() {
    let dir = folder();
    for scene in ["nothing.toml", "scene.toml"] {
        let run = polyfly(dir.path(), &[scene, "--hash", "--log=jsonl", "--frames=9999"]);
        assert!(!run.status.success() && run.stdout.is_empty(), "{}", text(&run.stdout));
        assert!(words(&run).contains("\"type\":\"end\""), "{}", words(&run));
    }
}

#[test]
fn quiet_goes_together_with_another_short_flag_and_with_all_commands() {
    let dir = folder();
    let run = render(dir.path(), &["--frames=0-1", "-qo", "m/%d.png"]);
    assert!(run.status.success() && run.stderr.is_empty(), "{}", words(&run));
    assert_eq!(names(&dir.path().join("m")), ["0.png", "1.png"]);
    for args in [&["-q", "new", "a.toml"][..], &["new", "b.toml", "-q"], &["--lang", "ru", "new", "-q", "c.toml"]] {
        let run = polyfly(dir.path(), args);
        assert!(run.status.success() && run.stderr.is_empty(), "{args:?}: {}", words(&run));
    }
}

#[test]
fn changes_of_no_scene_are_refused() {
    let dir = folder();
    assert!(render(dir.path(), &["--frames=0-1", "-o", "f/%d.png"]).status.success());
    for flag in ["--size=8x8", "--draft", "--set=film.exposure=1"] {
        let name = flag.split('=').next().unwrap();
        let why = format!("{name} changes the expected scene, and none is given");
        refused(&polyfly(dir.path(), &["missing", "f", flag]), 64, &why);
        refused(&polyfly(dir.path(), &["stitch", "f", "-o", "v.y4m", flag]), 64, &why);
    }
    let expected = ["missing", "f", "--scene=scene.toml", "--size=16x12", "--samples=1"];
    assert!(polyfly(dir.path(), &expected).status.success());
}

#[test]
fn raw_films_take_no_flags_of_encoders() {
    let dir = folder();
    for flag in ["--codec=h264", "--crf=20"] {
        let why = format!("is raw video, and {} is of an encoder", flag.split('=').next().unwrap());
        refused(&render(dir.path(), &["--frames=0", "-o", "f/%d.png", "--video=v.y4m", flag]), 64, &why);
    }
    assert!(!dir.path().join("f").exists(), "nothing is begun");
}

#[test]
fn the_sample_that_is_measured_takes_flags() {
    let dir = tempfile::tempdir().unwrap();
    let rays = |more: &[&str]| {
        let small = ["bench", "--size=24x16", "--samples=1", "--runs=1", "--frames=0", "--format=json", "-q"];
        let run = polyfly(dir.path(), &[&small[..], more].concat());
        assert!(run.status.success(), "{}", words(&run));
        let json: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        json["devices"][0]["rays_per_frame"].as_f64().unwrap()
    };
    let usual = rays(&[]);
    assert!(rays(&["--set=render.depth=0"]) < usual, "--set");
    refused(&polyfly(dir.path(), &["bench", "--set=render.dept=0"]), 65, "did you mean `depth`?");
    let balance = |more: &[&str]| {
        let small = ["bench", "--balance", "--size=32x24", "--samples=1", "--runs=1", "--format=json", "-q"];
        let run = polyfly(dir.path(), &[&small[..], more].concat());
        assert!(run.status.success(), "{}", words(&run));
        let json: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        json["rays_per_frame"].as_u64().unwrap()
    };
    let (first, other) = (balance(&[]), balance(&["--frames=150"]));
    assert!(first != other && balance(&["--frames=0"]) == first, "{first} {other}");
    refused(&polyfly(dir.path(), &["bench", "--balance", "--frames=1-3"]), 64, "--balance measures one frame");
}

#[test]
fn threads_of_the_environment_hold_for_previews() {
    let dir = folder();
    let mut command = program(dir.path(), &["preview", "scene.toml", "--cpu", "--columns=8", "--samples=1"]);
    refused(&command.env("POLYFLY_THREADS", "many").output().unwrap(), 64, "POLYFLY_THREADS");
    assert!(command.env("POLYFLY_THREADS", "1").output().unwrap().status.success());
}

#[test]
fn jobs_whose_tasks_would_all_fail_are_refused() {
    let dir = folder();
    for (flags, what) in [
        (&["--cpu", "--hash"][..], "--hash does not fit a job"),
        (&["-o", "-"], "-o to a stream does not fit a job"),
        (&["-o", "-.ppm"], "-o to a stream does not fit a job"),
    ] {
        let run = polyfly(dir.path(), &[&["farm", "commands", "scene.toml", "--"], flags].concat());
        refused(&run, 64, what);
        assert!(run.stdout.is_empty());
    }
}

#[test]
fn slips_of_the_command_line_are_understood() {
    let dir = folder();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    std::fs::write(dir.path().join("f.csv"), "x,y,z,r\n0,0,0,1\n").unwrap();
    for (args, code, what) in [
        (
            &["particles", "CPU", "f.csv", "16", "16", "p.png", "--eye=1"][..],
            64,
            "`--eye` is `1`: expected three numbers",
        ),
        (&["--size", "8x8", "check", "scene.toml"], 64, "a command comes first: `polyfly check SCENE`"),
        (&["scene.toml", "--frames", "10-5"], 64, "did you mean 5-10?"),
        (&["scene.toml", "--frames", "10-5x2"], 64, "did you mean 5-10x2?"),
        (&["empty"], 74, "name a scene file, such as empty/my.toml"),
    ] {
        refused(&polyfly(dir.path(), args), code, what);
    }
    let no_gpu = program(dir.path(), &["scene.toml", "--gpu", "--frames=0", "-o", "x.png"])
        .env("LD_LIBRARY_PATH", "/nowhere")
        .output()
        .unwrap();
    if no_gpu.status.code() == Some(69) {
        assert!(words(&no_gpu).contains("leave out --gpu"), "{}", words(&no_gpu));
    }
}

#[test]
fn another_rate_of_frames_is_kept_for_the_film() {
    let dir = folder();
    let args = ["--frames=0-1", "-o", "f/%d.png"];
    assert!(render(dir.path(), &args).status.success());
    let rate = || {
        let manifest = std::fs::read_to_string(dir.path().join("f/manifest.json")).unwrap();
        manifest.lines().find(|line| line.contains("\"fps\"")).unwrap().trim().to_owned()
    };
    assert!(rate().contains("30"), "{}", rate());
    let run = render(dir.path(), &[&args[..], &["--resume", "--fps=60"]].concat());
    assert!(run.status.success() && rate().contains("60"), "{} {}", rate(), words(&run));
}

// The sample scene is printed beside flags that have no part in it, and in the look that is asked for.
#[test]
fn the_sample_scene_is_printed_beside_other_flags() {
    let dir = folder();
    let print = |args: &[&str]| polyfly(dir.path(), args);
    let tokens = text(&print(&["--default"]).stdout);
    for args in [&["--default", "--cpu"][..], &["--gpu", "--default"], &["--threads=2", "-q", "--default", "tokens"]] {
        let run = print(args);
        assert!(
            run.status.success() && text(&run.stdout) == tokens && run.stderr.is_empty(),
            "{args:?}: {}",
            words(&run)
        );
    }
    let plain = print(&["--plain", "--default"]);
    assert!(plain.status.success() && text(&plain.stdout) == tokens, "{}", words(&plain));
    assert!(words(&plain).contains("render these with --look plain"), "{}", words(&plain));
    // TOML holds its look.
    let toml = |args: &[&str]| text(&print(args).stdout);
    let [film, plain] = [toml(&["--default", "toml"]), toml(&["--default", "toml", "--plain"])];
    assert!(film.contains("agx") && !plain.contains("agx") && plain.contains("[[body]]"), "{plain}");
    for (args, other) in
        [(&["--default", "--size=8x8"][..], "--size"), (&["--default", "toml", "-o", "x.toml"], "--output")]
    {
        let run = print(args);
        let said = words(&run);
        assert!(run.status.code() == Some(64) && said.contains(&format!("`--default` and `{other}`")), "{said}");
    }
}
