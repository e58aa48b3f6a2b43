//! The words that people read. What a student's scene, `check` and the page of `report` say comes from the table of languages;
//! messages, comments and documents are spelled as in America, as the keys of scenes and the field's papers are.

use super::architecture::{rust_files, without_tests};
use std::path::{Path, PathBuf};

/// What stands in Rust's code for people.
#[derive(Default)]
struct RustText {
    literals: Vec<String>,
    comments: Vec<String>,
}

impl RustText {
    fn of(code: &str) -> RustText {
        let mut words = RustText::default();
        let mut rest = code;
        while let Some(at) = rest.find(['"', '/', '\'']) {
            let (before, here) = rest.split_at(at);
            let (kind, length) = match here.as_bytes() {
                [b'/', b'/', ..] => (Some(&mut words.comments), here.find('\n').unwrap_or(here.len())),
                [b'"', ..] if before.ends_with('r') => (Some(&mut words.literals), closed(here, "\"")),
                [b'"', ..] if before.ends_with("r#") => (Some(&mut words.literals), closed(here, "\"#")),
                [b'"', ..] => (Some(&mut words.literals), string_length(here)),
                // A letter, and no lifetime.
                [b'\'', b'\\', _, ..] => (None, 3),
                [b'\'', b'"' | b'/', b'\'', ..] => (None, 3),
                _ => (None, 1),
            };
            let (word, after) = here.split_at(length);
            kind.into_iter().for_each(|list| list.push(word.to_owned()));
            rest = after;
        }
        words
    }
}

// The length of a raw string.
fn closed(text: &str, end: &str) -> usize {
    text[1..].find(end).map_or(text.len(), |at| 1 + at + end.len())
}

// The length of a string with its quotation marks.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

// A text without the parts between these marks.
fn without(text: &str, open: char, close: char) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        kept += before;
        kept.push(' ');
        let Some((_, after)) = after.split_once(close) else {
            rest = after;
            break;
        };
        rest = after;
    }
    kept + rest
}

// The sources whose messages have several languages.
const SPEAKERS: [&str; 8] = [
    "assets/error.rs",
    "assets/texture.rs",
    "command/check.rs",
    "command/hidden.rs",
    "command/hints.rs",
    "command/page.html",
    "command/page.rs",
    "scene/tokens.rs",
];

// Whether two English words stand side by side; names, paths and keys are single ones.
fn speaks(text: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
    let words: Vec<&str> =
        text.trim_matches('"').split(' ').map(|word| word.trim_end_matches([',', '.', ':', ';'])).collect();
    words.windows(2).any(|pair| pair.iter().all(|word| is_word(word)))
}

#[test]
fn messages_for_students_come_from_the_table_of_languages() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for name in SPEAKERS {
        let text = std::fs::read_to_string(source.join(name)).unwrap();
        let literals = match name.ends_with(".html") {
            true => vec![text.split_once("</style>").unwrap().1.to_owned()],
            false => RustText::of(without_tests(text.split("\n#[cfg(test)]").next().unwrap())).literals,
        };
        for literal in literals {
            let said = without(&without(&literal, '<', '>'), '{', '}');
            assert!(!speaks(&said), "src/{name} says {literal}: it belongs into src/language.rs");
        }
    }
    assert!(speaks("the scene is empty") && !speaks("frame_{n}.png, r0"));
}

// The text up to the parenthesis that closes the first one.
fn call(text: &str) -> &str {
    let mut depth = 0;
    let end = text.char_indices().find(|&(_, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ')' && depth == 0
    });
    end.map_or(text, |(at, _)| &text[..at])
}

// A wrong request takes a text for each language, so that the compiler refuses one in English alone, unless a closure ignores its language.
#[test]
fn wrong_requests_come_from_the_table_of_languages() {
    let mut calls = 0;
    for (path, text) in rust_files() {
        if path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("src/tests.rs") {
            continue;
        }
        let code = without_tests(text.split("\n#[cfg(test)]").next().unwrap());
        let starts = [
            "Failure::usage",
            "Error::usage",
            "Error::misused",
            "Error::incomplete",
            "AllLanguages::new",
            "AssetError::new",
        ];
        let others = [
            "OutputError::encoder",
            "::no_encoder",
            "DeviceError::not_found",
            "DeviceError::too_old",
            " say",
            " remark",
            " warn",
        ];
        for start in starts.into_iter().chain(others) {
            for after in code.split(start).skip(1).filter(|after| after.starts_with('(')) {
                calls += 1;
                for literal in RustText::of(call(after)).literals {
                    let said = without(&literal, '{', '}');
                    assert!(!speaks(&said), "{} says {literal}: it belongs into src/language/", path.display());
                }
            }
        }
    }
    assert!(calls > 90, "{calls} calls were found");
}

// British forms, and those that begin with them. The keys of scenes take both spellings, as single words.
const BRITISH: [&str; 15] = [
    "behaviour",
    "cancelled",
    "cancelling",
    "centre",
    "colour",
    "fibre",
    "grey",
    "initialise",
    "licence",
    "minimise",
    "neighbour",
    "normalise",
    "optimise",
    "quantis",
    "recognise",
];

// The British words of a text, without code in backticks and braces, and without paths.
fn british(text: &str) -> Vec<String> {
    let prose = without(&without(text, '`', '`'), '{', '}');
    let words = prose.split(|c: char| !(c.is_alphanumeric() || "_:/.".contains(c)));
    let words = words.map(|word| word.trim_matches(['.', ':', '/']).to_lowercase());
    words
        .filter(|word| BRITISH.iter().any(|form| word.starts_with(form)) && !word.contains(['_', ':', '/', '.']))
        .collect()
}

// The files below a folder with one of these extensions.
fn files_of(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { files_of(&path, extensions) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|e| extensions.iter().any(|one| e == *one))).collect()
}

#[test]
fn words_are_spelled_as_the_keys_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut look = |path: &Path, text: &str| {
        found.extend(british(text).into_iter().map(|word| format!("{}: {word}: {text}", path.display())));
    };
    for (path, code) in rust_files() {
        let RustText { literals, comments } = RustText::of(&code);
        // A word alone is a name, but for those of the table of languages.
        let is_table = path.ends_with("src/language.rs");
        let is_read = |literal: &&String| is_table || literal.contains(' ');
        literals.iter().filter(is_read).chain(&comments).for_each(|text| look(&path, text));
    }
    for path in files_of(&root.join("kernels"), &["cuh", "cpp", "def"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        text.lines().filter_map(|line| line.split_once("//")).for_each(|(_, comment)| look(&path, comment));
    }
    let pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "justfile"].map(|name| root.join(name));
    for path in files_of(&root.join("docs"), &["md"]).into_iter().chain(pages) {
        std::fs::read_to_string(&path).unwrap().lines().for_each(|line| look(&path, line));
    }
    for entry in std::fs::read_dir(root.join("scenes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            text.lines().filter_map(|line| line.split_once("# ")).for_each(|(_, comment)| look(&path, comment));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(british(concat!("a Col", "our, `colour`, body.colour and {centre}")), ["colour"]);
}
