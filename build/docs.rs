//! Packs the documentation into the program: the list of its pages and pictures.

use std::path::Path;

/// The root's documents that are pages too.
const OTHERS: [&str; 3] = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
/// A large picture that the README alone shows.
const LEFT_OUT: &str = "docs/loop.webp";

/// Rust text: each file's path from the root, and its content.
pub fn packed() -> String {
    let mut paths = OTHERS.map(str::to_owned).to_vec();
    add_files("docs", &mut paths);
    paths.sort();
    let rows = paths.iter().map(|path| {
        println!("cargo::rerun-if-changed={path}");
        format!("    ({path:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{path}\"))),\n")
    });
    let rows: String = rows.collect();
    format!(
        "/// The files of the documentation: their paths in the repository, and their contents.\npub const FILES: &[(&str, &[u8])] = &[\n{rows}];\n"
    )
}

fn add_files(folder: &str, paths: &mut Vec<String>) {
    println!("cargo::rerun-if-changed={folder}");
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{folder}: {e}")).flatten() {
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let is_shown = Path::new(&path).extension().is_some_and(|e| ["md", "webp", "svg"].iter().any(|one| e == *one));
        if entry.path().is_dir() {
            add_files(&path, paths);
        } else if is_shown && path != LEFT_OUT {
            paths.push(path);
        }
    }
}
