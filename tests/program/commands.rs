//! Every command of the documents runs in an empty folder, as it is written; scenes that a page prints are written first. Blocks of
//! the kind `console` are not run: a comment in front of each says why.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fenced block.
struct Block {
    kind: String,
    body: String,
    // The line in front of it.
    before: String,
}

fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut open, mut before) = (Vec::new(), None::<Block>, "");
    // A block in a list is indented.
    let mut indent = 0;
    for line in text.lines() {
        let inner = line.trim_start();
        match (&mut open, inner.strip_prefix("```")) {
            (None, Some(kind)) => {
                indent = line.len() - inner.len();
                open = Some(Block { kind: kind.into(), body: String::new(), before: before.into() });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => block.body += &format!("{}\n", line.get(indent..).unwrap_or_default()),
            (None, None) => before = inner,
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

// All documents, by their paths from the root.
fn documents() -> Vec<String> {
    let mut all: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(PathBuf::from).into();
    for folder in ["docs", "docs/ru", "docs/tutorials"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        all.extend(entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name())));
    }
    all.retain(|path| path.extension().is_some_and(|e| e == "md"));
    all.iter().map(|path| path.display().to_string()).collect()
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

// Executes a script in a folder; the program is on the path.
fn shell(folder: &Path, page: &str, script: &str) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_polyfly"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", script]).current_dir(folder);
    shell.env("PATH", &path).env("POLYFLY_DEVICES", "cpu").env("LC_ALL", "C");
    let run = shell.output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success(), "{page}:\n{script}\n{said}");
}

// A small scene in both grammars, for pages that speak of the reader's own.
const OWN_SCENE: &str =
    "polyfly --default | sed -e '1s/600/3/' -e '2s/.*/frames\\/%d.png/' -e '3s/1280 720/32 18/' >scene.txt
polyfly convert scene.txt >scene.toml
";

// Runs a page's commands after those of `first`; returns the folder.
fn run(page: &str, first: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    shell(dir.path(), page, &format!("{OWN_SCENE}{first}"));
    let mut commands = 0;
    for Block { kind, body, .. } in blocks(&read(page)) {
        match kind.as_str() {
            "toml" => {
                let file = body.lines().next().unwrap().trim_start_matches("# ");
                fs::write(dir.path().join(file), &body).unwrap();
            }
            "sh" => {
                shell(dir.path(), page, &body);
                commands += body.lines().count();
            }
            _ => {}
        }
    }
    assert!(commands > 0, "{page} has no commands");
    dir
}

// The pictures of the tutorial have the legend: the color map from its darkest to its brightest color, along a row or a column.
fn have_legends(dir: &Path) {
    let viridis = [[68, 1, 84], [33, 145, 140], [253, 231, 37]];
    let inferno = [[0, 0, 4], [188, 55, 84], [252, 255, 164]];
    for (name, map) in [
        ("packing.png", viridis),
        ("again.png", viridis),
        ("speed.png", viridis),
        ("slide.png", inferno),
        ("series/07.png", viridis),
        ("frames/00.png", viridis),
        ("frames/23.png", viridis),
    ] {
        if !dir.join(name).exists() && name.starts_with("frames") {
            // The Russian page has no film by another camera.
            continue;
        }
        let picture = image::open(dir.join(name)).unwrap().into_rgb8();
        let (width, height) = picture.dimensions();
        assert!(width >= 640 && height >= 480, "{name}");
        let is =
            |code: [u8; 3], wanted: [u8; 3]| code.iter().zip(wanted).all(|(found, wanted)| found.abs_diff(wanted) < 6);
        // Whether the colors of the map come one after the other, near each other.
        let has_map = |line: Vec<[u8; 3]>| {
            let place = |wanted| line.iter().position(|code| is(*code, wanted));
            let [a, b, c] = map.map(place);
            matches!((a, b, c), (Some(a), Some(b), Some(c)) if (a < b) == (b < c) && a.abs_diff(b).abs_diff(b.abs_diff(c)) < 30)
        };
        let rows = (0..height).filter(|&y| has_map((0..width).map(|x| picture.get_pixel(x, y).0).collect())).count();
        let columns =
            (0..width).filter(|&x| has_map((0..height).rev().map(|y| picture.get_pixel(x, y).0).collect())).count();
        assert!(rows.max(columns) >= 12, "{name} has no legend: {rows} rows, {columns} columns");
    }
}

// A test for each page: its name, the page, and what the reader has before it.
macro_rules! pages {
    ($($test:ident $page:literal $first:literal $($check:ident)?;)*) => {
        $(#[test]
        fn $test() {
            let _dir = run($page, $first);
            $($check(_dir.path());)?
        })*

        const RUN: &[&str] = &[$($page),*];
    };
}

pages! {
    the_readmes_run "README.md" "mkdir scenes
        cp scene.toml scenes
        for folder in a b; do polyfly -q scene.toml -o $folder/%d.png >log; done
        cp a/0.png frame.png";
    the_first_hours_run "docs/first-hour.md" "rm scene.*";
    the_looks_run "docs/looks.md" "mv scene.toml my.toml";
    the_runs_run "docs/runs.md" "mv scene.toml clip.toml";
    the_comparisons_run "docs/compare.md" "
        render() { polyfly -q scene.toml --overwrite \"$@\" >log; }
        render --frames 0 -o b.exr
        polyfly -q convert b.exr a.png
        for folder in frames-cpu frames-gpu a b; do render -o $folder/%d.png; done
        render -o mine/%d.data
        render -o ref/####.png
        for film in clip.mp4 clip.mkv; do render --no-frames --video $film; done";
    the_promise_runs "docs/arithmetic.md" "polyfly -q scene.toml --set output.frames=100 --frames 0 -o x.png >log
        sed -i 's/^frames = .*/frames = 100/' scene.toml";
    the_views_run "docs/scenes.md" "rm scene.*";
    the_proofs_run "docs/verify.md" "polyfly scenes copy infinity";
    the_hash_runs "docs/try.md" "polyfly scenes copy infinity";
    the_russian_students_run "docs/ru/student.md" "rm scene.*";
    the_russian_researchers_run "docs/ru/researcher.md" "rm scene.*" have_legends;
    the_students_run "docs/tutorials/student.md" "rm scene.*";
    the_film_makers_run "docs/tutorials/film.md" "rm scene.*";
    the_researchers_run "docs/tutorials/researcher.md" "rm scene.*" have_legends;
    the_clusters_run "docs/tutorials/cluster.md" "rm scene.*";
    the_librarys_run "docs/tutorials/library.md" "rm scene.*";
}

#[test]
fn every_block_of_commands_runs_or_says_why_not() {
    let commands =
        ["polyfly ", "cargo ", "pip", "python3 ", "apt-get ", "tar ", "sbatch ", "scripts/", "for ", "command "];
    let (mut run, mut not_run) = (BTreeSet::new(), 0);
    for page in documents() {
        for Block { kind, body, before } in blocks(&read(&page)) {
            let has_commands = body.lines().any(|line| commands.iter().any(|word| line.starts_with(word)));
            match kind.as_str() {
                "sh" => drop(run.insert(page.clone())),
                "console" => {
                    let why = before.strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->"));
                    assert!(why.is_some_and(|why| why.len() > 5), "{page}: why is this not run?\n{body}");
                    not_run += 1;
                }
                // A version's lines, and other output.
                "" | "text" => assert!(
                    !has_commands || body.starts_with("polyfly 0."),
                    "{page}: a block of commands is of the kind `sh`:\n{body}"
                ),
                _ => {}
            }
        }
    }
    assert_eq!(run, RUN.iter().map(|page| (*page).to_owned()).collect(), "pages with commands, and those that are run");
    assert!(not_run > 5);
}

// Commands within sentences and tables. A single word names a command, capitals stand for what the reader has.
#[test]
fn commands_within_sentences_run() {
    let is_placeholder = |word: &str| {
        word == "..."
            || word.contains('|')
            || word.trim_matches('-').chars().all(|c| c.is_ascii_uppercase() || c == '/')
    };
    // These serve until Ctrl-C.
    let serves = |words: &[&str]| ["studio", "docs"].contains(&words[0]);
    let mut all = BTreeSet::new();
    for page in documents() {
        let text = read(&page);
        for code in text.split('`').filter_map(|code| code.strip_prefix("polyfly ")) {
            let words: Vec<&str> = code.split_whitespace().collect();
            let is_whole = !words.iter().any(|word| is_placeholder(word)) && !code.contains('\n');
            if is_whole && !serves(&words) && (words.len() > 1 || words[0].starts_with('-')) {
                all.insert(code.to_owned());
            }
        }
    }
    assert!(all.len() > 15, "{all:?}");
    let dir = tempfile::tempdir().unwrap();
    let first = "mkdir scenes
        for scene in cube my scenes/cse260; do cp scene.toml $scene.toml; done
        for folder in mine reference; do polyfly -q scene.toml -o $folder/%d.data >log; done
        polyfly -q scene.toml --frames 0 -o frame.png >log";
    shell(dir.path(), "sentences", &format!("{OWN_SCENE}{first}"));
    for command in all {
        // Scenes and films of the program's own are made small.
        let small = match command.split(' ').next().unwrap() {
            scene if scene.ends_with(".toml") => " --size 32x18 --samples 1 --frames 0-1 -o small/%d.png --overwrite",
            "new" => " --overwrite",
            "scenes" if command.contains(" copy ") => " --overwrite",
            "bench" => " --size 32x18 --runs 1",
            _ => "",
        };
        shell(dir.path(), "sentences", &format!("polyfly {command}{small} >output"));
    }
}

#[test]
fn the_librarys_program_is_an_example() {
    let text = read("docs/tutorials/library.md");
    let program = blocks(&text).into_iter().find(|block| block.kind == "rust").unwrap().body;
    let example = fs::read_to_string(root().join("examples/tutorial.rs")).unwrap();
    assert_eq!(example, program, "examples/tutorial.rs is the tutorial's program");
}
