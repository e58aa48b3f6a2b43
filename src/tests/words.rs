//! The words that people read. What a student's scene, `check` and the page of `report` say comes from the table of languages;
//! messages, comments and documents are spelled as in America, as the keys of scenes and the field's papers are.

use super::architecture::without_tests;
use std::path::Path;

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
const SPEAKERS: [&str; 7] = [
    "assets/error.rs",
    "assets/texture.rs",
    "command/check.rs",
    "command/hints.rs",
    "command/page.html",
    "command/page.rs",
    "scene/tokens.rs",
];

#[test]
fn messages_for_students_come_from_the_table_of_languages() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
    // Two English words side by side; names, paths and keys are single ones.
    let speaks = |text: &str| {
        let words: Vec<&str> = text.split(' ').map(|word| word.trim_end_matches([',', '.', ':', ';'])).collect();
        words.windows(2).any(|pair| pair.iter().all(|word| is_word(word)))
    };
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
