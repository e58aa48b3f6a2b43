//! The studio without a browser: its answers, its files, who may keep it busy, and how it ends.

use crate::common::{folder, names, polyfly, program, shell_script, signal, text, wait_for, words};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

struct Studio {
    child: Child,
    host: String,
    token: String,
}

impl Drop for Studio {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Studio {
    fn of(mut command: Command) -> Studio {
        // Nothing is written into the home folder of whoever runs the tests.
        if !command.get_envs().any(|(name, _)| name == "XDG_STATE_HOME") {
            command.env("XDG_STATE_HOME", "/dev/null/none");
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap_or_else(|| panic!("no address: {line}"));
        let (host, token) = address.trim_end_matches('/').split_once('/').unwrap();
        Studio { host: host.to_owned(), token: token.to_owned(), child }
    }

    fn open(dir: &Path, args: &[&str]) -> Studio {
        Studio::of(program(dir, &[&["studio"], args, &["--cpu"]].concat()))
    }

    // A request whose answer has not been read yet.
    fn ask(&self, method: &str, name: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        // A missing answer fails the test.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!("{method} /{}/{name} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.token, self.host);
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream
    }

    // Status and body.
    fn answer(mut stream: TcpStream) -> (u16, String) {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let answer = text(&bytes);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer}"));
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn post(&self, name: &str, body: &str) -> (u16, String) {
        Studio::answer(self.ask("POST", name, body))
    }

    fn set(&self, key: &str, value: &str) -> (u16, String) {
        self.post("set", &serde_json::json!({ "changes": [{ "key": key, "value": value }] }).to_string())
    }

    fn picture(&self, level: u32, downscale: u32) -> TcpStream {
        let body = format!(r#"{{ "page": "a", "frame": 0, "level": {level}, "downscale": {downscale} }}"#);
        self.ask("POST", "picture", &body)
    }

    fn state(&self) -> serde_json::Value {
        let (status, body) = Studio::answer(self.ask("GET", "state", ""));
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

#[test]
fn no_answer_waits_for_a_picture() {
    let dir = folder();
    let studio = Studio::open(dir.path(), &["scene.toml", "--size", "3840x2160", "--samples", "8", "--threads", "1"]);
    // The scene is prepared once the draft exists.
    assert_eq!(Studio::answer(studio.picture(0, 8)).0, 200);
    let picture = studio.picture(1, 1);
    picture.set_nonblocking(true).unwrap();
    let is_waiting = || matches!(picture.peek(&mut [0]), Err(e) if e.kind() == std::io::ErrorKind::WouldBlock);
    for n in 0..20 {
        assert!(studio.state()["version"].is_u64());
        assert!(is_waiting(), "the picture came before answer {n}");
        std::thread::sleep(Duration::from_millis(20));
    }
    // A change does not wait either: it ends the refinement of the picture before it.
    assert_eq!(studio.set("film.bloom", "0.31").0, 200);
    assert_eq!(studio.state()["changes"][0]["value"], "0.31");
    picture.set_nonblocking(false).unwrap();
    assert_eq!(Studio::answer(picture).0, 409);
}

#[test]
fn changes_that_were_never_written_are_kept_at_the_end() {
    let dir = folder();
    let end = |changes: &[(&str, &str)], flags: &[&str], write: bool| {
        let mut studio = Studio::open(dir.path(), &[&["scene.toml", "--size", "64x48"], flags].concat());
        for (key, value) in changes {
            assert_eq!(studio.set(key, value).0, 200);
        }
        if write {
            assert_eq!(studio.post("write", "").0, 200);
        }
        signal(&studio.child, "INT");
        studio.child.wait().unwrap();
        let mut said = String::new();
        studio.child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
        said
    };
    let before = std::fs::read(dir.path().join("scene.toml")).unwrap();
    // Changes of the command line are not the page's.
    for (changes, flags) in [(&[][..], &[][..]), (&[], &["--set", "film.bloom=0.5"])] {
        let said = end(changes, flags, false);
        assert!(!said.contains("changes") && names(dir.path()) == ["scene.toml"], "{said}");
    }
    for (value, name) in [("0.25", "scene.unsaved.toml"), ("0.75", "scene.unsaved-2.toml")] {
        let said = end(&[("film.bloom", value)], &[], false);
        assert!(said.contains(&format!("they are kept in {name}")), "{said}");
        let kept = std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(kept.contains(&format!("bloom = {value}")), "{kept}");
        assert!(polyfly(dir.path(), &["check", name]).status.success());
    }
    assert_eq!(std::fs::read(dir.path().join("scene.toml")).unwrap(), before);
    let said = end(&[("film.bloom", "0.5")], &[], true);
    assert!(!said.contains("kept in"), "{said}");
    assert_eq!(names(dir.path()).len(), 3);
}

#[test]
fn written_back_a_scene_keeps_its_mode_and_its_link() {
    let (dir, beside) = (folder(), tempfile::tempdir().unwrap());
    let (scene, real) = (dir.path().join("scene.toml"), beside.path().join("real.toml"));
    std::fs::rename(&scene, &real).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&real, &scene).unwrap();
    let studio = Studio::open(dir.path(), &["scene.toml", "--size", "64x48"]);
    assert_eq!(studio.set("film.bloom", "0.25").0, 200);
    let (status, body) = studio.post("write", "");
    assert_eq!(status, 200, "{body}");
    assert_eq!(std::fs::read_link(&scene).unwrap(), real);
    assert!(std::fs::read_to_string(&real).unwrap().contains("bloom = 0.25"));
    assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o7777, 0o600);
    assert_eq!(names(beside.path()), ["real.toml"]);
    // The studio continues with the written text.
    assert_eq!(studio.state()["changes"], serde_json::json!([]));
    assert_eq!(studio.state()["document"]["film"]["bloom"], 0.25);
}

#[test]
fn connections_that_say_nothing_do_not_shut_the_page_out() {
    let dir = folder();
    let mut shell = Command::new("sh");
    let line = "ulimit -n 200; exec \"$0\" studio scene.toml --cpu --size 64x48";
    shell.args(["-c", line, env!("CARGO_BIN_EXE_polyfly")]).current_dir(dir.path()).stdin(Stdio::null());
    let studio = Studio::of(shell);
    let halves: Vec<TcpStream> = (0..400)
        .map(|_| {
            let mut stream = TcpStream::connect(&studio.host).unwrap();
            // It may be closed already.
            let _ = stream.write_all(b"GET /state HTTP/1.1\r\nHost: exam");
            stream
        })
        .collect();
    // The page's own connection, which waits for events, stays.
    let mut events = BufReader::new(studio.ask("GET", "events", ""));
    let mut line = String::new();
    let mut news = || {
        line.clear();
        while !line.starts_with("data: ") {
            line.clear();
            assert!(events.read_line(&mut line).unwrap() > 0, "the studio has closed the page's connection");
        }
        line.clone()
    };
    let first = news();
    assert_eq!(studio.set("film.bloom", "0.25").0, 200);
    assert_ne!(news(), first);
    for _ in 0..100 {
        let _ = TcpStream::connect(&studio.host).unwrap().write_all(b"GET /");
    }
    assert_eq!(studio.state()["changes"][0]["value"], "0.25");
    assert_eq!(studio.set("film.bloom", "0.5").0, 200);
    news();
    // A partial header has its timeout and no more.
    for mut half in halves {
        half.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let end = half.read_to_end(&mut Vec::new());
        assert!(
            end.as_ref().is_ok_and(|_| true) || end.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset)
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_page_is_opened_if_wanted() {
    let dir = folder();
    let shown = dir.path().join("shown");
    std::fs::create_dir(dir.path().join("bin")).unwrap();
    shell_script(&dir.path().join("bin"), "xdg-open", &format!("echo \"$1\" > {}", shown.display()));
    let path = format!("{}:{}", dir.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = program(dir.path(), &["studio", "scene.toml", "--cpu", "--open"]);
    command.env("PATH", path);
    let studio = Studio::of(command);
    wait_for(|| std::fs::read_to_string(&shown).is_ok_and(|text| text.ends_with('\n')));
    let address = std::fs::read_to_string(&shown).unwrap();
    assert_eq!(address.trim(), format!("http://{}/{}/", studio.host, studio.token));
}

#[test]
fn the_run_ends_with_the_studio_and_can_be_resumed() {
    let dir = folder();
    let text = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    let text: String = text.lines().filter(|line| !line.starts_with("video")).map(|line| format!("{line}\n")).collect();
    std::fs::write(dir.path().join("scene.toml"), text.replace("[output]\n", "[output]\n# short\n")).unwrap();
    for (name, expected) in [("TERM", 75), ("INT", 130)] {
        let studio = Studio::open(dir.path(), &["scene.toml", "--size", "64x48"]);
        let path = format!("{name}/%03d.png");
        for (key, value) in [("output.path", path.as_str()), ("output.frames", "300"), ("output.size", "[320, 240]")] {
            assert_eq!(studio.set(key, value).0, 200);
        }
        assert_eq!(studio.post("write", "").0, 200);
        assert_eq!(studio.post("render", "{}").0, 200);
        wait_for(|| studio.state()["batch"]["done"].as_u64().unwrap() > 1);
        signal(&studio.child, name);
        let mut studio = studio;
        let mut said = String::new();
        studio.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(studio.child.wait().unwrap().code(), Some(expected), "{said}");
        assert!(said.contains("stopping the run that the page has started"), "{said}");
        assert!(said.contains("to resume: ") && said.contains("--resume"), "{said}");
        // The run has stopped: the folder is as it left it, and the next run continues it.
        let made = names(&dir.path().join(name)).len();
        assert!((2..300).contains(&made), "{made}");
        let run = polyfly(dir.path(), &["scene.toml", "--cpu", "--resume", "--frames", &format!("0-{made}")]);
        assert!(run.status.success(), "{}", words(&run));
        assert_eq!(names(&dir.path().join(name)).len(), made + 1);
    }
    // Without a run it ends at once.
    let mut studio = Studio::open(dir.path(), &["scene.toml"]);
    signal(&studio.child, "TERM");
    assert_eq!(studio.child.wait().unwrap().code(), Some(75));
}

#[test]
fn a_key_of_thousands_of_parts_is_refused() {
    let dir = folder();
    let mut shell = Command::new("sh");
    let line = "ulimit -v 4000000; exec \"$0\" studio scene.toml --cpu --threads 1 --size 64x48";
    shell.args(["-c", line, env!("CARGO_BIN_EXE_polyfly")]).current_dir(dir.path()).stdin(Stdio::null());
    let studio = Studio::of(shell);
    let (status, body) = studio.set(&["a"; 30_000].join("."), "1");
    assert_eq!(status, 422, "{body}");
    assert!(body.len() < 1000, "{} bytes", body.len());
    assert_eq!(studio.state()["changes"], serde_json::json!([]));
}

#[test]
fn flags_and_defaults_are_told_beside_the_text() {
    let dir = folder();
    std::fs::write(
        dir.path().join("small.toml"),
        "[output]\nsize = [320, 240]\n[[body]]\nsolid = \"cube\"\nmaterial = \"glass\"\n",
    )
    .unwrap();
    let studio = Studio::open(dir.path(), &["small.toml", "--size", "64x48", "--set", "film.bloom=0.125"]);
    let state = studio.state();
    // The text's values, the defaults, and the values of the flags.
    assert_eq!(state["document"]["output"]["size"], serde_json::json!([320, 240]));
    assert_eq!(state["holds"]["body"][0]["ior"], 1.5);
    assert_eq!(state["holds"]["camera"]["eye"]["r"], 7.0);
    assert_eq!(state["flags"], serde_json::json!({ "output.size": [64, 48] }));
    assert_eq!(state["changes"], serde_json::json!([{ "key": "film.bloom", "value": "0.125" }]));
    assert_eq!(studio.post("discard", "").0, 200);
    assert_eq!(studio.state()["holds"]["film"]["bloom"], 0.0);
    let run = polyfly(dir.path(), &["studio", "small.toml", "--set", "film"]);
    assert_eq!(run.status.code(), Some(64), "{}", words(&run));
}

#[test]
fn a_file_with_faults_is_not_written_over() {
    let dir = folder();
    let path = dir.path().join("small.toml");
    let text = "[output]\nsize = [32, 24]\n[[body]]\nsolid = \"cube\"\n";
    std::fs::write(&path, text).unwrap();
    let studio = Studio::open(dir.path(), &["small.toml"]);
    let faulty = format!("# an hour of work in an editor\n{}", text.replace("cube", "cub"));
    std::fs::write(&path, &faulty).unwrap();
    // Whether the page has noticed the fault or not, and whatever it has changed.
    for _ in 0..2 {
        let (status, body) = studio.post("write", "");
        assert!(status == 422 && body.contains("`solid` is \"cub\""), "{body}");
        assert_eq!(studio.set("film.bloom", "0.25").0, 200);
        assert!(studio.state()["problems"].as_str().is_some_and(|what| what.contains("cub")), "{}", studio.state());
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), faulty);
    // What the editor has saved is kept, and the page's change is added.
    std::fs::write(&path, faulty.replace("cub\"", "cube\"")).unwrap();
    assert_eq!(studio.post("write", "").0, 200);
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("# an hour") && written.contains("bloom = 0.25"), "{written}");
}

#[test]
fn a_change_that_keeps_length_and_time_is_not_written_over() {
    let dir = folder();
    let path = dir.path().join("small.toml");
    let text = "[output]\nsize = [32, 24]\n[[body]]\nsolid = \"cube\"\nradius = 1.5\n";
    std::fs::write(&path, text).unwrap();
    let studio = Studio::open(dir.path(), &["small.toml"]);
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    // As `cp -p` and `rsync -t` do.
    let other = dir.path().join("other");
    std::fs::write(&other, text.replace("1.5", "2.5")).unwrap();
    std::fs::File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(studio.set("film.bloom", "0.25").0, 200);
    assert_eq!(studio.post("write", "").0, 200);
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("radius = 2.5") && written.contains("bloom = 0.25"), "{written}");
}

#[test]
fn a_pipe_in_the_place_of_the_scene_is_told() {
    let dir = folder();
    let (path, aside) = (dir.path().join("scene.toml"), dir.path().join("aside.toml"));
    let mut studio = Studio::open(dir.path(), &["scene.toml", "--size", "64x48"]);
    std::fs::rename(&path, &aside).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    wait_for(|| studio.state()["problems"].as_str().is_some_and(|what| what.contains("a pipe, and not a file")));
    assert_eq!(studio.post("write", "").0, 500);
    // The last picture without faults stays.
    assert_eq!(Studio::answer(studio.picture(0, 1)).0, 200);
    std::fs::rename(&aside, &path).unwrap();
    wait_for(|| studio.state()["problems"].is_null());
    signal(&studio.child, "TERM");
    assert_eq!(studio.child.wait().unwrap().code(), Some(75));
    // A studio does not begin with one either.
    std::fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let run = polyfly(dir.path(), &["studio", "scene.toml"]);
    assert!(words(&run).contains("a pipe, and not a file"), "{}", words(&run));
}

#[test]
fn a_picture_beyond_the_memory_is_refused_and_the_studio_goes_on() {
    let dir = folder();
    let mut shell = Command::new("sh");
    std::fs::write(dir.path().join("small.toml"), "[output]\nsize = [32, 24]\n[[body]]\nsolid = \"cube\"\n").unwrap();
    let line = "ulimit -v 4000000; exec \"$0\" studio small.toml --cpu --threads 1";
    shell.args(["-c", line, env!("CARGO_BIN_EXE_polyfly")]).current_dir(dir.path()).stdin(Stdio::null());
    let studio = Studio::of(shell);
    let picture = || Studio::answer(studio.picture(0, 1));
    assert_eq!(picture().0, 200);
    assert_eq!(studio.set("output.size", "[16384, 16384]").0, 200);
    let (status, body) = picture();
    assert!(status == 422 && body.contains("16384 x 16384 pixels takes about"), "{status} {body}");
    assert_eq!(studio.set("output.size", "[32, 24]").0, 200);
    assert_eq!(picture().0, 200);
}

#[test]
fn changes_outlive_a_studio_that_is_killed() {
    let dir = folder();
    let before = std::fs::read(dir.path().join("scene.toml")).unwrap();
    let mut studio = Studio::open(dir.path(), &["scene.toml", "--size", "64x48"]);
    assert_eq!(studio.set("film.bloom", "0.25").0, 200);
    assert_eq!(studio.post("discard", "").0, 200);
    assert_eq!(names(dir.path()), ["scene.toml"]);
    for value in ["0.5", "0.75"] {
        assert_eq!(studio.set("film.bloom", value).0, 200);
    }
    studio.child.kill().unwrap();
    studio.child.wait().unwrap();
    assert_eq!(names(dir.path()), ["scene.toml", "scene.unsaved.toml"]);
    let kept = std::fs::read_to_string(dir.path().join("scene.unsaved.toml")).unwrap();
    assert!(kept.contains("bloom = 0.75"), "{kept}");
    assert_eq!(std::fs::read(dir.path().join("scene.toml")).unwrap(), before);
}

#[test]
fn scenes_of_other_folders_are_opened_again_by_their_list_only() {
    let (dir, beside, state) = (folder(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let scene = "[output]\nsize = [32, 24]\n[[body]]\nsolid = \"cube\"\n";
    let path = |name: &str| beside.path().join(name).display().to_string();
    ["known.toml", "unknown.toml"].iter().for_each(|name| std::fs::write(path(name), scene).unwrap());
    let begun = |folder: &Path, state: &Path, args: &[&str]| {
        let mut command = program(folder, &[&["studio"], args, &["--cpu"]].concat());
        command.env("XDG_STATE_HOME", state);
        Studio::of(command)
    };
    let elsewhere = |studio: &Studio| -> Vec<String> {
        let start = Studio::answer(studio.ask("GET", "start", "")).1;
        let start: serde_json::Value = serde_json::from_str(&start).unwrap();
        start["elsewhere"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    drop(begun(beside.path(), state.path(), &["known.toml"]));
    let studio = begun(dir.path(), state.path(), &["scene.toml"]);
    // That of this folder is in the list of this folder.
    assert_eq!(elsewhere(&studio), [path("known.toml")]);
    let open = |path: &str| studio.post("open", &serde_json::json!({ "elsewhere": path }).to_string()).0;
    for other in [path("unknown.toml"), "known.toml".into(), path("./known.toml"), String::new()] {
        assert_eq!(open(&other), 422, "{other}");
    }
    assert_eq!(open(&path("known.toml")), 200);
    assert_eq!(studio.state()["name"], path("known.toml"));
    let thumb = |path: &str| {
        let part = path.replace('/', "%2F");
        Studio::answer(studio.ask("GET", &format!("thumb/elsewhere/{part}"), "")).0
    };
    assert_eq!([thumb(&path("known.toml")), thumb(&path("unknown.toml"))], [200, 422]);
    // What is gone is no more offered.
    std::fs::remove_file(path("known.toml")).unwrap();
    assert!(elsewhere(&studio).is_empty());
    // Where no list can be written, there is none, and the studio works.
    let taken = dir.path().join("scene.toml");
    assert!(elsewhere(&begun(beside.path(), &taken, &["unknown.toml"])).is_empty());
}

#[test]
fn the_page_opens_scenes_of_its_folder_only() {
    let (dir, beside) = (folder(), tempfile::tempdir().unwrap());
    let scene = "[output]\nsize = [32, 24]\n[[body]]\nsolid = \"cube\"\n";
    for path in [dir.path().join("small.toml"), beside.path().join("other.toml")] {
        std::fs::write(path, scene).unwrap();
    }
    std::fs::write(dir.path().join("notes.txt"), "no scene").unwrap();
    std::os::unix::fs::symlink(beside.path().join("other.toml"), dir.path().join("link.toml")).unwrap();
    let studio = Studio::open(dir.path(), &[]);
    let get = |name: &str| Studio::answer(studio.ask("GET", name, ""));
    // Nothing but a choice is there before a scene is.
    assert_eq!(studio.state()["name"], "");
    for name in ["events", "sheet", "tokens", "text", "looks", "made/film"] {
        assert_eq!(get(name).0, 409, "{name}");
    }
    assert_eq!(studio.set("film.bloom", "0.25").0, 409);
    let start: serde_json::Value = serde_json::from_str(&get("start").1).unwrap();
    let files: Vec<&str> =
        start["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(files, ["small.toml", "scene.toml"]);
    assert!(start["templates"].as_array().unwrap().len() > 5 && start["samples"].as_array().unwrap().len() > 20);
    let outside = beside.path().join("other.toml").display().to_string();
    for name in [&*outside, "../other.toml", "link.toml", "notes.txt", "./small.toml", ""] {
        let body = serde_json::json!({ "file": name }).to_string();
        assert_eq!(studio.post("open", &body).0, 422, "{name}");
    }
    for body in [r#"{ "sample": "../cube" }"#, r#"{ "template": "cube" }"#, r#"{ "folder": "/" }"#, "{}"] {
        assert_eq!(studio.post("open", body).0, 422, "{body}");
    }
    assert_eq!(studio.state()["name"], "");
    assert_eq!(studio.post("open", r#"{ "file": "small.toml" }"#).0, 200);
    assert_eq!(studio.state()["name"], "small.toml");
    assert_eq!(studio.set("film.bloom", "0.25").0, 200);
    // A scene with faults is not opened, and the one before stays.
    std::fs::write(dir.path().join("scene.toml"), "[output]\nsize = 3\n").unwrap();
    assert_eq!(studio.post("open", r#"{ "file": "scene.toml" }"#).0, 422);
    assert_eq!(studio.state()["changes"][0]["value"], "0.25");
    assert_eq!(studio.post("open", r#"{ "template": "particles" }"#).0, 200);
    assert!(
        names(dir.path()).iter().any(|name| name == "heap.csv")
            && names(dir.path()).iter().any(|name| name == "small.unsaved.toml")
    );
    // The versions go on, so that a page sees the newest.
    assert!(studio.state()["version"].as_u64().unwrap() > 2);
}

#[test]
fn only_files_of_the_run_are_served() {
    let dir = folder();
    let scene = "[output]\nframes = 3\nsize = [32, 24]\npath = \"out/%02d.png\"\n[[body]]\nsolid = \"cube\"\n";
    std::fs::write(dir.path().join("small.toml"), scene).unwrap();
    let studio = Studio::open(dir.path(), &["small.toml"]);
    let status = |name: &str| {
        let mut stream = studio.ask("GET", name, "");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(status("made/frame/0"), "404");
    assert_eq!(studio.post("folder", "").0, 404);
    assert_eq!(studio.post("render", "{}").0, 200);
    wait_for(|| studio.state()["batch"]["end"] == "done");
    let made = &studio.state()["batch"]["made"];
    assert!(
        made["folder"].as_str().unwrap().ends_with("/out") && made["frame"] == 2 && made["film"].is_null(),
        "{made}"
    );
    for (name, expected) in [
        ("made/frame/2", "200"),
        ("made/frame/3", "204"),
        ("made/frame/-1", "400"),
        ("made/frame/..%2f..%2fsmall.toml", "400"),
        ("made/film", "404"),
        ("made/small.toml", "404"),
        ("docs/cube.webp", "200"),
        ("docs/studio.md", "404"),
        ("docs/../small.toml", "404"),
    ] {
        assert_eq!(status(name), expected, "{name}");
    }
}

#[test]
fn a_text_with_a_fault_has_its_line_and_is_one_step() {
    let dir = folder();
    let text = "# mine\n[output]\nsize = [32, 24]\n[[body]]\nsolid = \"cube\"\n";
    std::fs::write(dir.path().join("small.toml"), text).unwrap();
    let studio = Studio::open(dir.path(), &["small.toml"]);
    let now = || serde_json::from_str::<serde_json::Value>(&Studio::answer(studio.ask("GET", "text", "")).1).unwrap();
    let write = |text: &str| studio.post("text", &serde_json::json!({ "text": text, "gesture": "typed" }).to_string());
    assert!(now()["text"] == text && now()["marks"] == serde_json::json!([]));
    for typed in ["cub", "cubes"] {
        assert_eq!(write(&text.replace("cube", typed)).0, 200);
    }
    let mark = &now()["marks"][0];
    assert!(mark["line"] == 5 && mark["column"] == 9 && mark["is_error"] == true, "{mark}");
    assert!(mark["what"].as_str().unwrap().contains("cubes"), "{mark}");
    assert_eq!(studio.post("write", "").0, 422);
    assert_eq!(studio.post("undo", "").0, 200);
    assert!(now()["text"] == text && studio.state()["can_undo"] == false);
    // A comment is a change, and a text that is no TOML survives what an editor saves.
    assert_eq!(write(&text.replace("mine", "yours")).0, 200);
    assert_eq!(studio.state()["is_written"], false);
    let broken = text.replace("[output]", "[output");
    assert_eq!(write(&broken).0, 200);
    std::fs::write(dir.path().join("small.toml"), text.replace("32", "64")).unwrap();
    let version = studio.state()["version"].clone();
    wait_for(|| studio.state()["version"] != version);
    assert_eq!(now()["text"], broken);
    let explained = Studio::answer(studio.ask("GET", "explain/film.exposure", ""));
    assert!(explained.0 == 200 && explained.1.starts_with("film.exposure"), "{explained:?}");
    assert_eq!(write(&"#".repeat(2 << 20)).0, 413);
}

#[test]
fn a_hundred_steps_back_are_the_bytes_of_the_start() {
    let dir = folder();
    let path = dir.path().join("small.toml");
    let text = "# mine\n[output]\nsize = [32, 24] # small\n[[body]]\nsolid = \"cube\"\n";
    std::fs::write(&path, text).unwrap();
    let studio = Studio::open(dir.path(), &["small.toml"]);
    for n in 0..100 {
        let key = ["film.exposure", "body[0].radius", "film.bloom"][n % 3];
        assert_eq!(studio.set(key, &format!("0.{:03}", n + 1)).0, 200);
    }
    assert!(names(dir.path()).contains(&"small.unsaved.toml".to_owned()));
    for _ in 0..100 {
        assert_eq!(studio.post("undo", "").0, 200);
    }
    let state = studio.state();
    assert!(state["changes"] == serde_json::json!([]) && state["can_undo"] == false, "{state}");
    assert!(!names(dir.path()).contains(&"small.unsaved.toml".to_owned()));
    assert_eq!(studio.post("write", "").0, 200);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    // On again, and across a write.
    for _ in 0..100 {
        assert_eq!(studio.post("redo", "").0, 200);
    }
    assert_eq!(studio.post("write", "").0, 200);
    assert!(std::fs::read_to_string(&path).unwrap().contains("exposure = 0.100\n"));
    assert_eq!(studio.post("undo", "").0, 200);
    assert_eq!(studio.state()["changes"][0]["value"], "0.097");
}
