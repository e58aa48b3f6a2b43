//! The architecture: imports go from higher to lower layers only, lower layers use no environment, files stay short,
//! and type names are those of the field. circles.rs refuses circular imports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

// Top-level modules, from the program down to mathematics. Each may import itself and those after it.
const LAYERS: [&[&str]; 20] = [
    &["main", "lib"],
    &["tests"],
    &["command"],
    &["cli"],
    &["report"],
    &["run"],
    &["render"],
    &["error"],
    &["output", "device"],
    &["film"],
    &["kernels"],
    &["device_scene"],
    &["assets"],
    &["scene"],
    &["system"],
    &["quote"],
    &["cancel"],
    &["math", "threads", "setters"],
    &["gpu_types"],
    &["language"],
];

pub(super) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn module_of(path: &Path) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let first = path.strip_prefix(source).unwrap().components().next().unwrap();
    Path::new(&first).with_extension("").display().to_string()
}

fn rank(module: &str) -> usize {
    let layer = LAYERS.iter().position(|r| r.contains(&module));
    layer.unwrap_or_else(|| panic!("{module} has no place in LAYERS"))
}

// The file without its tests, which may import anything.
pub(super) fn without_tests(text: &str) -> &str {
    text.split("\nmod tests {").next().unwrap_or(text)
}

pub(super) fn rust_files() -> BTreeMap<PathBuf, String> {
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let files = files.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs"));
    files.map(|p| (p.clone(), std::fs::read_to_string(p).unwrap())).collect()
}

#[test]
fn layers_import_one_way() {
    let mut wrong = Vec::new();
    for (path, text) in rust_files() {
        let here = module_of(&path);
        // lib.rs names all modules.
        if ["lib", "main", "tests"].contains(&here.as_str()) {
            continue;
        }
        // Links in documentation may point anywhere.
        let code: Vec<&str> = without_tests(&text).lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        for part in code.join("\n").split("crate::").skip(1) {
            // Each item of a list in braces is a separate path; lists of modules are not nested.
            let word: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if word.is_empty() || word == here {
                continue;
            }
            if rank(&word) <= rank(&here) {
                wrong.push(format!("{} imports {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_program_knows_the_environment_and_the_standard_streams() {
    // `system` has what the program calls of them.
    let ours = ["command", "cli", "report", "system", "main", "tests"];
    for (path, text) in rust_files() {
        if ours.contains(&module_of(&path).as_str()) {
            continue;
        }
        for word in [
            "std::env::var",
            "env::var",
            "io::stderr",
            "io::stdout",
            "io::stdin",
            "println!",
            "eprint",
            "ctrlc",
            "process::exit",
        ] {
            let found = without_tests(&text).lines().any(|l| l.contains(word) && !l.trim_start().starts_with("//"));
            assert!(!found, "{} uses {word}", path.display());
        }
    }
}

// Names of types that this project has given up, because they had several meanings or the field has another word
// (docs/glossary.md).
const GIVEN_UP: &[&str] = &[
    "CutShort",
    "Deep",
    "Desk",
    "Differs",
    "Door",
    "Doubtful",
    "Ear",
    "Easel",
    "Endless",
    "Fence",
    "Gauge",
    "KeptFrame",
    "Lent",
    "Maker",
    "Meter",
    "Note",
    "Of",
    "Outbox",
    "Painter",
    "Part",
    "Piece",
    "Place",
    "Placed",
    "Places",
    "Post",
    "Reading",
    "Room",
    "Rooted",
    "Share",
    "Shipment",
    "Station",
    "Subject",
    "Taken",
    "Teller",
    "Told",
    "Unfinished",
    "Unsayable",
    "Waiting",
    "Watch",
    "Wish",
    "Wishes",
    "Words",
    "Work",
    "Crew",
    "Development",
    "Darkroom",
    "Clock",
];

#[test]
fn types_bear_the_words_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kinds = ["struct", "enum", "union", "trait", "type", "STRUCT", "PLAIN_STRUCT"];
    let files = [sources(&root.join("src")), sources(&root.join("kernels"))].concat();
    let mut wrong = Vec::new();
    for path in files.iter().filter(|path| is_code(path)) {
        let text = std::fs::read_to_string(path).unwrap();
        let code: String = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let words: Vec<&str> =
            code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
        let found = words.windows(2).filter(|pair| kinds.contains(&pair[0]) && GIVEN_UP.contains(&pair[1]));
        wrong.extend(found.map(|pair| format!("{} has a {} {}", path.display(), pair[0], pair[1])));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|e| ["rs", "cuh", "cu", "cpp", "def"].contains(&e.to_str().unwrap()))
}

// A system's name or its own functions elsewhere would make a program that differs in places that nobody looks for.
#[test]
fn only_one_module_knows_the_system() {
    for (path, text) in rust_files() {
        if ["system", "tests"].contains(&module_of(&path).as_str()) {
            continue;
        }
        let code = without_tests(&text);
        let code = code.split("#[cfg(all(test,").next().unwrap_or(code);
        let named = [
            "cfg(unix",
            "cfg(windows",
            "cfg(not(unix",
            "target_os",
            "os::unix",
            "os::windows",
            "rustix",
            "windows_sys",
        ];
        // `system::program` finds nothing by way of the working folder.
        let starts_programs = ["Command::new(", "with_path(", "open::that"];
        for word in named.into_iter().chain(starts_programs) {
            assert!(!code.contains(word), "{} names {word}: use src/system", path.display());
        }
    }
}

// Opening a pipe would wait for ever.
#[test]
fn only_one_function_opens_files_to_read() {
    // Scenes may come through a pipe; the system's files are in /proc.
    let may = ["assets/source.rs", "command/scene_file.rs", "run/load.rs"];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, text) in rust_files() {
        let inside = path.strip_prefix(&source).unwrap().to_str().unwrap();
        let is_test = inside.ends_with("tests.rs");
        if is_test || may.contains(&inside) || ["system", "tests"].contains(&module_of(&path).as_str()) {
            continue;
        }
        let opens = |line: &&str| {
            let reads = ["File::open(", "fs::read(", "fs::read_to_string("].iter().any(|word| line.contains(word));
            reads && !line.contains("(\"/proc/")
        };
        let found = without_tests(&text).lines().find(opens);
        assert!(found.is_none(), "{inside}: {found:?}: use assets::source");
    }
}

// A second GPU API adds a folder and a line in device/list.rs.
#[test]
fn nothing_but_its_folder_names_a_gpu_api() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, text) in rust_files() {
        let inside = path.strip_prefix(&source).unwrap().to_str().unwrap();
        // The list of APIs, and the names of flags in other programs.
        let may = ["device.rs", "device/cuda.rs", "device/list.rs", "scene/text/suggest.rs"].contains(&inside);
        if may || inside.starts_with("device/cuda/") || inside.starts_with("tests") {
            continue;
        }
        let named = without_tests(&text).lines().find(|line| line.to_lowercase().contains("cuda"));
        assert!(named.is_none(), "{inside} names a GPU API: {named:?}");
    }
}

#[test]
fn files_stay_readable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = sources(&root.join("src"));
    files.extend(sources(&root.join("kernels")));
    files.extend(sources(&root.join("tests")));
    for path in files {
        if is_code(&path) {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= 600, "{} has {lines} lines: cut it by idea", path.display());
        }
    }
}
