//! Limits of the system and of input: few threads, little address space, and malicious keys, journals and names.

use crate::common::{folder, polyfly, program, signal, text, words};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

// The result of a command. A command that hangs is asked to stop, then killed, and fails the test.
fn ended(mut command: Command) -> Output {
    const BOUND: Duration = Duration::from_secs(120);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > BOUND {
            signal(&child, "TERM");
            std::thread::sleep(Duration::from_secs(5));
            let hears = child.try_wait().unwrap().is_some();
            let _ = child.kill();
            panic!("{command:?} hangs; does SIGTERM end it: {hears}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

// A run under limits of `prlimit`: it ends well with all frames, or with a message about the limit. Returns which.
fn limited(dir: &Path, user: &[&str], limit: &str, to: &str) -> bool {
    let ours = dir.join("polyfly");
    let mut command = Command::new("env");
    command.current_dir(dir).args(user).args(["prlimit", limit]).arg(ours).args(["scene.toml", "--cpu", "-q"]);
    command.args(["--size", "32x24", "--samples", "1", "--threads", "2", "--limit-memory", "100000"]);
    let frames = format!("{to}/%d.ppm");
    command.args(["--frames", "0-3", "--overwrite", "-o", &frames, "--video", &format!("{to}/v.y4m")]);
    let run = ended(command);
    let code = run.status.code();
    assert!(matches!(code, Some(0 | 69)), "{limit}: {:?}: {}", run.status, words(&run));
    if code == Some(0) {
        let made = ["0.ppm", "1.ppm", "2.ppm", "3.ppm", "v.y4m"].iter().all(|name| dir.join(to).join(name).is_file());
        assert!(made, "{limit}: something lacks");
    } else {
        let words = words(&run);
        assert!(words.contains("starts no more threads") || words.contains("there is no memory"), "{limit}: {words}");
    }
    code == Some(0)
}

// The scene and the program where any user can reach them.
fn open_folder() -> tempfile::TempDir {
    let dir = folder();
    std::fs::copy(env!("CARGO_BIN_EXE_polyfly"), dir.path().join("polyfly")).unwrap();
    let opened = Command::new("chmod").args(["-R", "a+rwX"]).arg(dir.path()).status().unwrap();
    assert!(opened.success());
    dir
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let dir = open_folder();
    std::fs::create_dir(dir.path().join("nb")).unwrap();
    assert!(Command::new("chmod").arg("555").arg(dir.path().join("nb")).status().unwrap().success());
    // Root may write everywhere.
    let is_root = text(&Command::new("id").arg("-u").output().unwrap().stdout).trim() == "0";
    let user = if is_root { &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"][..] } else { &[] };
    for (output, language, expected) in [
        ("nb/%d.png", "en", "error: cannot write into nb: permission denied\nhelp: `-o FOLDER/%04d.png` writes frames"),
        ("nb/new/%d.png", "en", "error: cannot write into nb/new: permission denied\n"),
        ("nb/%d.png", "ru", "ошибка: в nb ничего не записать: нет прав\nподсказка: `-o FOLDER/%04d.png`"),
    ] {
        let mut command = Command::new("env");
        command.current_dir(dir.path()).args(user).arg(dir.path().join("polyfly"));
        command.args([
            "scene.toml",
            "--cpu",
            "-q",
            "--size",
            "16x12",
            "--frames",
            "0-1",
            "-o",
            output,
            "--lang",
            language,
        ]);
        let run = ended(command);
        assert!(run.status.code() == Some(74) && words(&run).starts_with(expected), "{}", words(&run));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_threads_are_short_a_run_ends_with_words() {
    let dir = open_folder();
    let id = text(&Command::new("id").arg("-u").output().unwrap().stdout);
    // No limit of processes binds root, so an ordinary user runs the program; the user's other processes count too.
    let (user, others) = match id.trim() {
        "0" => (&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"][..], 0),
        id => {
            let threads = text(&Command::new("ps").args(["-L", "-o", "lwp=", "-u", id]).output().unwrap().stdout);
            (&[][..], threads.lines().count())
        }
    };
    let ends_well = |n: &usize| limited(dir.path(), user, &format!("--nproc={}", others + n), "u");
    let enough: Vec<usize> = (1..=16).filter(ends_well).collect();
    assert!(others > 0 || (!enough.is_empty() && !enough.contains(&1)), "{enough:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn where_address_space_is_short_a_run_ends_with_words() {
    const MIB: usize = 1 << 20;
    let dir = open_folder();
    // The minimum to be loaded at all.
    let loads = |mib: &usize| {
        let mut command = Command::new("prlimit");
        command.arg(format!("--as={}", mib * MIB)).arg(dir.path().join("polyfly")).arg("--version");
        ended(command).status.success()
    };
    // The main thread's stack grows by as much; if it cannot, the system kills the program without warning.
    const STACK: usize = 8;
    let min = (4..2048).step_by(4).find(loads).unwrap() + STACK;
    let ends_well = |mib: &usize| limited(dir.path(), &[], &format!("--as={}", mib * MIB), "v");
    let enough: Vec<usize> = (min..min + 60).step_by(3).filter(ends_well).collect();
    assert!(!enough.contains(&min), "{enough:?}");
    assert!(ends_well(&(min + 4000)));
}

#[test]
fn keys_of_thousands_of_parts_are_refused() {
    let dir = folder();
    let key = vec!["a"; 8000].join(".");
    let run = polyfly(dir.path(), &["check", "scene.toml", "--set", &format!("{key}=1")]);
    let said = words(&run);
    assert!(run.status.code() == Some(64) && said.contains("is not a key") && said.len() < 500, "{said}");
    // A long value is not quoted whole either.
    let run = polyfly(dir.path(), &["check", "scene.toml", "--set", &format!("film.exposure={}", "[".repeat(60_000))]);
    assert!(!run.status.success() && words(&run).len() < 3000, "{}", words(&run).len());
}

#[test]
fn a_check_looks_with_little_work() {
    let dir = folder();
    let body = |i: u32| {
        format!(
            "[[body]]\nsolid = \"icosahedron\"\ncenter = [{}, {}, 0]\nradius = 0.6\nlamps = 60\n",
            i % 10 * 2,
            i / 10 * 2
        )
    };
    let bodies: String = (0..60).map(body).collect();
    let text_of =
        "[output]\nframes = 9\npath = \"o/%d.png\"\n[film]\nexposure = \"auto\"\n[render]\nlamp_samples = \"all\"\n";
    std::fs::write(dir.path().join("many.toml"), format!("{text_of}{bodies}")).unwrap();
    // Each of 38,000 points samples few of 108,000 lamps.
    let mut command = Command::new("prlimit");
    command.current_dir(dir.path()).args(["--cpu=20", env!("CARGO_BIN_EXE_polyfly"), "check", "many.toml"]);
    let run = ended(command);
    assert!(run.status.success(), "{:?}: {}", run.status, words(&run));
}

#[test]
fn a_name_that_yaml_breaks_into_lines_is_no_part_of_a_job() {
    let dir = folder();
    for end in ['\u{2028}', '\u{2029}', '\u{85}'] {
        let name = format!("a{end}injected: 1{end}#.toml");
        std::fs::copy(dir.path().join("scene.toml"), dir.path().join(&name)).unwrap();
        for engine in ["kubernetes", "openjd", "slurm", "hyperqueue", "commands"] {
            let args = ["farm", engine, &name, "--image", "i", "--", "-o", "f/%d.png", "--frames", "0-9"];
            let run = polyfly(dir.path(), &args);
            let is_refused = run.status.code() == Some(64) && words(&run).contains("contains a line break");
            assert!(is_refused && run.stdout.is_empty(), "{engine}: {}", words(&run));
        }
    }
}

// Frames of a run, and a journal beside them from another program.
fn with_journal(dir: &Path, journal: &str) {
    let run = polyfly(
        dir,
        &[
            "scene.toml",
            "--cpu",
            "--size",
            "32x24",
            "--samples",
            "1",
            "-q",
            "--frames",
            "0-1",
            "-o",
            "f/%d.png",
            "--resume",
        ],
    );
    assert!(run.status.success(), "{}", words(&run));
    std::fs::write(dir.join("f/.polyfly/z-9.jsonl"), journal).unwrap();
}

#[test]
fn a_page_shows_no_file_that_a_foreign_journal_names() {
    let dir = folder();
    let outside = dir.path().join("private.mp4");
    with_journal(dir.path(), "");
    // The run's own journal begins with the name of its clip.
    let mut journals = std::fs::read_dir(dir.path().join("f/.polyfly")).unwrap().map(|file| file.unwrap().path());
    let is_own =
        |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "jsonl") && !path.ends_with("z-9.jsonl");
    let own = journals.find(is_own).unwrap();
    let head = std::fs::read_to_string(own).unwrap().lines().next().unwrap().to_owned();
    let journal_of = |film: &Path| {
        format!(
            "{head}\n{{\"devices\":[],\"processor\":null,\"threads\":1,\"frames\":1,\"seconds\":1,\"at\":9e9,\"polyfly\":\"0\",\"films\":[{:?}]}}\n",
            film.display().to_string()
        )
    };
    with_journal(dir.path(), &journal_of(&outside));
    std::fs::write(&outside, b"private").unwrap();
    let page = || {
        let run = polyfly(dir.path(), &["report", "f"]);
        assert!(run.status.success(), "{}", words(&run));
        (std::fs::read_to_string(dir.path().join("f/report.html")).unwrap(), words(&run))
    };
    let (html, said) = page();
    assert!(!html.contains("cHJpdmF0ZQ") && said.contains("private.mp4 is not shown"), "{said}");
    // A link beside the frames leads there too.
    let link = dir.path().join("f/film.mp4");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    with_journal(dir.path(), &journal_of(&link));
    assert!(!page().0.contains("cHJpdmF0ZQ"));
    // A film that a run has made is shown, and so is a file that the user names.
    let run = polyfly(dir.path(), &["stitch", "f", "-o", "f/own.webp"]);
    assert!(run.status.success(), "{}", words(&run));
    assert!(page().0.contains("image/webp;base64,"));
    let run = polyfly(dir.path(), &["report", "f", "--film", "private.mp4"]);
    assert!(run.status.success(), "{}", words(&run));
    assert!(std::fs::read_to_string(dir.path().join("f/report.html")).unwrap().contains("video/mp4;base64,cHJpdmF0ZQ"));
}

#[test]
fn a_journal_has_a_bound() {
    let dir = folder();
    with_journal(dir.path(), "");
    // A sparse file: no room on the disk, hours to read.
    let journal = std::fs::File::options().write(true).open(dir.path().join("f/.polyfly/z-9.jsonl")).unwrap();
    journal.set_len(300 << 30).unwrap();
    for job in ["status", "report"] {
        let run = ended(program(dir.path(), &[job, "f"]));
        assert!(run.status.success() && words(&run).contains("too long for a journal"), "{job}: {}", words(&run));
    }
}

#[test]
fn a_foreign_manifest_is_quoted_in_short() {
    let dir = folder();
    with_journal(dir.path(), "");
    let manifest = dir.path().join("f/manifest.json");
    let whole = std::fs::read_to_string(&manifest).unwrap();
    let long = format!("\"{}\"", "x".repeat(500_000));
    let of_size: serde_json::Value = serde_json::from_str(&whole).unwrap();
    assert!(of_size.to_string().contains("[32,24]"));
    std::fs::write(&manifest, of_size.to_string().replace("[32,24]", &long)).unwrap();
    let run = polyfly(dir.path(), &["status", "f"]);
    assert!(run.status.code() == Some(65) && words(&run).len() < 500, "{}", words(&run).len());
}

// A command under a limit of the shell's `ulimit`.
fn under(limit: &str, dir: &Path, args: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_polyfly")]).args(args);
    shell.current_dir(dir).env("LC_ALL", "C");
    ended(shell)
}

#[test]
fn pictures_beyond_the_memory_are_refused_by_all_jobs() {
    let dir = folder();
    let size = ["--size", "16384x16384"];
    for job in [&["verify", "scene.toml"][..], &["bench", "scene.toml", "--runs", "1", "--threads", "1"]] {
        let run = under("-v 4000000", dir.path(), &[job, &size].concat());
        let words = words(&run);
        assert!(
            run.status.code() == Some(69) && words.contains("16384 x 16384 pixels takes about"),
            "{job:?}: {words}"
        );
    }
}

// Seconds of the processor: three times what 20,000 bodies took when each value over time searched all others.
#[test]
fn many_values_over_time_are_prepared_in_proportion_to_their_number() {
    let dir = tempfile::tempdir().unwrap();
    let body = |i: usize| {
        format!(
            "[[body]]\nsolid = \"cube\"\ncenter = [{}, {}, {}]\nradius = {{ keys = [[0, 0.4], [0.5, 0.5]] }}\nlamps = 1\nbar = 0\n",
            i % 20,
            i / 20 % 20,
            i / 400
        )
    };
    let head = "[output]\nframes = 1\nsize = [32, 24]\n";
    std::fs::write(dir.path().join("many.toml"), head.to_owned() + &(0..20_000).map(body).collect::<String>()).unwrap();
    let run = under("-t 4", dir.path(), &["convert", "many.toml", "--to", "toml"]);
    assert!(run.status.success(), "{:?}: {}", run.status, words(&run));
}
