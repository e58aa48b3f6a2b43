//! The words that people read. Each message stands in both languages; messages, comments and documents are spelled as in America, as
//! the keys of scenes and the field's papers are.

use super::architecture::{rust_files, without_tests};
use crate::scene::text::suggest::advice;
use std::collections::{BTreeMap, BTreeSet};
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

// The code of a file without comments and tests; "" for a file of tests.
fn code_of(path: &Path, text: &str) -> String {
    if path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("src/tests.rs") {
        return String::new();
    }
    let code = without_tests(text.split("\n#[cfg(test)]\nmod").next().unwrap());
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

// What a literal of Rust holds.
fn content(literal: &str) -> String {
    let mut text = String::new();
    let mut rest = &literal[1..literal.len() - 1];
    while let Some((before, after)) = rest.split_once('\\') {
        text += before;
        let (sign, after) = after.split_at(1);
        rest = match sign {
            "n" => {
                text.push('\n');
                after
            }
            "\n" => after.trim_start(),
            _ => {
                text += sign;
                after
            }
        };
    }
    text + rest
}

// The code without the patterns of its messages, and the patterns.
fn without_patterns(code: &str) -> (String, Vec<String>) {
    let (mut others, mut patterns) = (String::new(), Vec::new());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("msg!(") {
        others += before;
        rest = after.trim_start();
        if rest.starts_with('"') {
            let (literal, after) = rest.split_at(string_length(rest));
            patterns.push(content(literal));
            rest = after;
        }
    }
    (others + rest, patterns)
}

// The nouns that the code counts: of one, and of several.
fn counted(code: &str) -> impl Iterator<Item = (String, String)> {
    let nouns = |after: &str| {
        let literals = RustText::of(call(&format!("({after}"))).literals;
        let [one, several] = &literals[literals.len().checked_sub(2)?..] else { return None };
        Some((content(one), content(several)))
    };
    code.split("count!(").skip(1).filter_map(nouns).collect::<Vec<_>>().into_iter()
}

#[test]
fn each_message_has_a_row_in_russian_with_the_same_parts() {
    let rows: toml::Table = include_str!("../language/ru.toml").parse().unwrap();
    let (mut patterns, mut nouns) = (BTreeSet::new(), BTreeSet::new());
    for (path, text) in rust_files() {
        let code = code_of(&path, &text);
        nouns.extend(counted(&code).map(|(one, _)| one).filter(|_| !path.ends_with("src/language.rs")));
        patterns.extend(without_patterns(&code).1);
    }
    patterns.extend(advice().map(str::to_owned));
    assert!(patterns.len() > 750, "{} patterns were found", patterns.len());
    let keys = |table: &str| rows[table].as_table().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let difference = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
    assert_eq!(difference(&patterns, &keys("messages")), Vec::<String>::new(), "have no row in src/language/ru.toml");
    assert_eq!(difference(&keys("messages"), &patterns), Vec::<String>::new(), "are rows that no message needs");
    assert_eq!(nouns, keys("nouns"));

    let is_cyrillic = |c: char| ('\u{400}'..='\u{4ff}').contains(&c);
    let pieces = |text: &str, open, close| -> BTreeSet<String> {
        let plain = text.replace("{{", "").replace("}}", "");
        plain.split(open).skip(1).map(|rest| rest.split(close).next().unwrap().to_owned()).collect()
    };
    for (english, russian) in rows["messages"].as_table().unwrap() {
        let russian = russian.as_str().unwrap();
        assert!(!english.is_empty() && (english.is_ascii() || english.contains('×')), "{english}");
        assert_eq!(pieces(english, '{', '}'), pieces(russian, '{', '}'), "{english}");
        // Texts of numbers and parts alone may be alike, and the code of the page's language is one.
        let has_words = english != "en" && without(english, '{', '}').chars().any(char::is_alphabetic);
        assert!(!has_words || russian.chars().any(is_cyrillic), "{english} is not translated: {russian}");
        // Names that people type stay as they are.
        let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
        let missing: Vec<String> = quoted(russian).difference(&quoted(english)).cloned().collect();
        assert!(missing.is_empty(), "{english}: {missing:?}");
    }
}

#[test]
fn a_noun_has_one_plural() {
    let mut plurals = BTreeMap::new();
    for (path, text) in rust_files().into_iter().filter(|(path, _)| !path.ends_with("src/language.rs")) {
        for (one, several) in counted(&code_of(&path, &text)) {
            assert_eq!(plurals.entry(one).or_insert_with(|| several.clone()), &several);
        }
    }
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
    "scene/text/tokens.rs",
];

// Whether two English words stand side by side; names, paths and keys are single ones.
fn speaks(text: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
    let words: Vec<&str> =
        text.trim_matches('"').split(' ').map(|word| word.trim_end_matches([',', '.', ':', ';'])).collect();
    words.windows(2).any(|pair| pair.iter().all(|word| is_word(word)))
}

#[test]
fn what_a_student_reads_stands_in_both_languages() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for name in SPEAKERS {
        let text = std::fs::read_to_string(source.join(name)).unwrap();
        let literals = match name.ends_with(".html") {
            true => vec![text.split_once("</style>").unwrap().1.to_owned()],
            false => RustText::of(&without_patterns(&code_of(Path::new(name), &text)).0).literals,
        };
        for literal in literals {
            let said = without(&without(&literal, '<', '>'), '{', '}');
            assert!(!speaks(&said), "src/{name} says {literal}: it belongs into msg!");
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

// A text that is a message in English alone would be shown to everyone.
#[test]
fn wrong_requests_stand_in_both_languages() {
    let mut calls = 0;
    for (path, text) in rust_files() {
        let code = code_of(&path, &text);
        calls += code.split("usage(msg!").count() - 1;
        let others = without_patterns(&code).0;
        let starts = [
            "Failure::usage",
            "Error::usage",
            "Error::misused",
            "Error::about",
            "Error::Incomplete",
            "AssetError::new",
        ];
        let more = ["OutputError::encoder", "::NoEncoder", "DeviceError::NotFound", "DeviceError::TooOld"];
        let last = ["Message::text", "Message::from", " say", " remark", " warn"];
        for start in starts.into_iter().chain(more).chain(last) {
            for after in others.split(start).skip(1).filter(|after| after.starts_with('(')) {
                for literal in RustText::of(call(after)).literals {
                    let said = without(&literal, '{', '}');
                    assert!(!speaks(&said), "{} says {literal}: it belongs into msg!", path.display());
                }
            }
        }
    }
    assert!(calls > 70, "{calls} calls were found");
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
        // A word alone is a name.
        let is_read = |literal: &&String| literal.contains(' ');
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
