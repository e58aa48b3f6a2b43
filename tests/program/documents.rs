//! What a reader of the documents meets first: links that lead somewhere, and a README that stays short.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        ["README.md", "CHANGELOG.md", "SECURITY.md", "python/README.md"].map(|name| root().join(name)).into();
    for folder in ["docs", "docs/tutorials"] {
        all.extend(fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    all.retain(|path| path.extension().is_some_and(|e| e == "md"));
    all
}

// The targets of a text's links and pictures, without those of other sites and the places within a page.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).collect()
}

#[test]
fn links_lead_to_files() {
    let mut count = 0;
    for page in documents() {
        let text = fs::read_to_string(&page).unwrap();
        for target in links(&text) {
            assert!(page.parent().unwrap().join(target).exists(), "{}: {target}", page.display());
            count += 1;
        }
    }
    assert!(count > 40, "{count} links");
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= 150, "{} lines", text.lines().count());
}
