//! Finds the position where a scene's text names a file.

use crate::scene::{Grammar, ParseOptions, expand_home};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The position where a text names a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileMention {
    /// The span, including quotation marks.
    pub span: Range<usize>,
    /// The name of the position in tokens, such as a token's number. None in TOML, where the key is visible.
    pub name: Option<crate::language::Message>,
}

/// The position of a path that leads to this file, or of a pattern that includes it. None if a flag names the file.
pub(crate) fn mention_of(text: &str, file: &Path, reading: ParseOptions) -> Option<FileMention> {
    let grammar = Grammar::of(text);
    let folder = match grammar {
        // Paths in tokens start in the working directory.
        Grammar::Tokens => Path::new(""),
        Grammar::Toml => reading.folder,
    };
    let leads = |name: &str| leads_to(&folder.join(expand_home(name, reading.home)), file);
    match grammar {
        Grammar::Tokens => text.split_whitespace().find(|word| leads(word)).map(|word| {
            let start = word.as_ptr().addr() - text.as_ptr().addr();
            FileMention { span: start..start + word.len(), name: crate::scene::text::tokens::name_at(text, start) }
        }),
        Grammar::Toml => {
            let document = DeTable::parse(text).ok()?;
            let span = document.get_ref().iter().find_map(|(_, value)| span_in(value, &leads))?;
            Some(FileMention { span, name: None })
        }
    }
}

/// The line where a scene in TOML writes an element of a list, counted from 1: the second `[[light]]` is `light`, 1. None in tokens.
pub(crate) fn line_of(text: &str, list: &str, index: usize) -> Option<usize> {
    let document = (Grammar::of(text) == Grammar::Toml).then(|| DeTable::parse(text).ok())??;
    let DeValue::Array(elements) = document.get_ref().get(list)?.get_ref() else { return None };
    let start = elements.get(index)?.span().start;
    Some(text.get(..start)?.bytes().filter(|&byte| byte == b'\n').count() + 1)
}

// Whether the name is this file, or a pattern of files that includes it.
fn leads_to(name: &Path, file: &Path) -> bool {
    let (name, file) = (name.to_string_lossy(), file.to_string_lossy());
    if name == file {
        return true;
    }
    let parts = name.split_once('%').and_then(|(before, rest)| Some((before, rest.split_once('d')?.1)));
    let number = parts.and_then(|(before, after)| file.strip_prefix(before)?.strip_suffix(after));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

// The position of a string within a value that leads to the file.
fn span_in(value: &Spanned<DeValue>, leads: &dyn Fn(&str) -> bool) -> Option<Range<usize>> {
    match value.get_ref() {
        DeValue::String(text) => leads(text).then(|| value.span()),
        DeValue::Array(list) => list.iter().find_map(|value| span_in(value, leads)),
        DeValue::Table(table) => table.iter().find_map(|(_, value)| span_in(value, leads)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_lists_have_a_line() {
        let toml =
            "[output]\nframes = 2\n\n[[light]]\nposition = [0, 0, 1]\n# second\n[[light]]\nposition = [1, 0, 0]\n";
        let line = |list, index| line_of(toml, list, index);
        assert_eq!(
            [line("light", 0), line("light", 1), line("light", 2), line("body", 0)],
            [Some(4), Some(7), None, None]
        );
        assert_eq!(line_of("light = [\n  { position = [0, 0, 1] },\n]\n", "light", 0), Some(2));
        assert_eq!(line_of("10\nout/%d.data\n", "light", 0), None);
    }

    #[test]
    fn names_are_found_in_both_grammars() {
        let mention = |text: &str, file: &str, folder: &str| {
            let reading =
                ParseOptions { folder: Path::new(folder), home: Some(Path::new("/home/a")), ..ParseOptions::default() };
            mention_of(text, Path::new(file), reading).map(|found| text[found.span].to_owned())
        };
        let toml =
            "[floor]\ntexture = 'a b.png' # x\n[[mesh]]\npath = \"~/m.obj\"\n[particles]\npath = \"t%03d.bin\"\n";
        assert_eq!(mention(toml, "s/a b.png", "s").as_deref(), Some("'a b.png'"));
        assert_eq!(mention(toml, "/home/a/m.obj", "s").as_deref(), Some("\"~/m.obj\""));
        assert_eq!(mention(toml, "s/t007.bin", "s").as_deref(), Some("\"t%03d.bin\""));
        assert_eq!(mention(toml, "s/b.png", "s"), None);
        assert_eq!(
            mention("[output]\npath = \"../o/%d.png\"\n", "s/../o/%d.png", "s").as_deref(),
            Some("\"../o/%d.png\"")
        );
        // Paths in tokens start in the working directory, wherever the scene's file is.
        let tokens = "10\nout/%d.data\n4 3 90\nf.data 1\n";
        let named =
            mention_of(tokens, Path::new("f.data"), ParseOptions { folder: Path::new("s"), ..ParseOptions::default() });
        assert_eq!(
            named.and_then(|found| found.name).map(|name| name.to_string()).as_deref(),
            Some("token 6 (floor, texture)")
        );
        let frames = "[output]\npath = \"%d.png\"\n[floor]\ntexture = \"grass.png\"\n";
        assert_eq!(mention(frames, "grass.png", "").as_deref(), Some("\"grass.png\""));
        assert_eq!(
            mention("10\nout/%d.data\nout/floor.data 1\n", "out/floor.data", "").as_deref(),
            Some("out/floor.data")
        );
        assert_eq!(mention("10\nout/%d.data\n4 3 90\n~/f.data 1\n", "/home/a/f.data", "").as_deref(), Some("~/f.data"));
    }
}
