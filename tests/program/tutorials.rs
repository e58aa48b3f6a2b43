//! Every command of the tutorials, and of other pages that have some, runs, unchanged, in an empty folder; scenes that they print are
//! written first.

use std::path::{Path, PathBuf};
use std::process::Command;

// The fenced blocks of a text with that word, in order, with all requested kinds.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let (mut found, mut open) = (Vec::new(), None::<(&str, String)>);
    // A block in a list is indented.
    let mut indent = 0;
    for line in text.lines() {
        let inner = line.trim_start();
        match (&mut open, inner.strip_prefix("```")) {
            (None, Some(kind)) => {
                indent = line.len() - inner.len();
                open = Some((kind, String::new()));
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, body)), None) => *body += &format!("{}\n", line.get(indent..).unwrap_or_default()),
            (None, None) => {}
        }
    }
    found
}

fn run(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs").join(name)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_polyfly"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut commands = 0;
    for (kind, body) in blocks(&text) {
        match kind {
            "toml" => {
                let file = body.lines().next().unwrap().trim_start_matches("# ");
                std::fs::write(dir.path().join(file), &body).unwrap();
            }
            "sh" => {
                let mut shell = Command::new("bash");
                shell.args(["-euo", "pipefail", "-c", &body]).current_dir(dir.path());
                shell.env("PATH", &path).env("POLYFLY_DEVICES", "cpu").env("SOURCE", root).env("LC_ALL", "C");
                let run = shell.output().unwrap();
                let said = String::from_utf8_lossy(&run.stderr).into_owned();
                assert!(run.status.success(), "{name}:\n{body}\n{said}");
                commands += body.lines().count();
            }
            _ => {}
        }
    }
    assert!(commands > 1, "{name} has no commands");
}

#[test]
fn the_first_hour_runs() {
    run("first-hour.md");
}

#[test]
fn the_russian_students_runs() {
    run("ru/student.md");
}

#[test]
fn the_students_runs() {
    run("tutorials/student.md");
}

#[test]
fn the_film_makers_runs() {
    run("tutorials/film.md");
}

#[test]
fn the_researchers_runs() {
    run("tutorials/researcher.md");
}

#[test]
fn the_clusters_runs() {
    run("tutorials/cluster.md");
}

#[test]
fn the_librarys_runs() {
    run("tutorials/library.md");
    // Its program is one, too.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/tutorials/library.md")).unwrap();
    let (_, program) = blocks(&text).into_iter().find(|(kind, _)| *kind == "rust").unwrap();
    let example = std::fs::read_to_string(root.join("examples/tutorial.rs")).unwrap();
    assert_eq!(example, program, "examples/tutorial.rs is the tutorial's program");
}
