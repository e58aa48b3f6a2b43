//! From a text in TOML to its keys. What has no meaning is left out and told of, with what may have been meant, so that the rest is
//! looked at too.

use super::diagnostic::{MAX_SHOWN, Problem};
use super::schema;
use super::suggest::{self, Kind};
use super::toml_keys::RawScene;
use std::ops::Range;
use toml::Spanned;

// Lines that one value may take.
const MAX_LINES: usize = 500;
// Bytes that are read again for the sake of further problems: half a second's worth, however large the text.
const MAX_RETRIES: usize = 6 << 20;

/// The keys of a scene, without those that make no sense; none where the text is no TOML at all.
pub fn read(text: &str) -> (Option<RawScene>, Vec<Problem>) {
    let place = |e: &toml::de::Error, text: &str| e.span().unwrap_or(text.len()..text.len());
    match tables_as_lists(text) {
        Ok(lists) if lists.is_empty() => {}
        Ok(lists) => return (None, lists),
        Err(e) => {
            let span = place(&e, text);
            let mut problem = Problem::new(span.clone(), "this is not TOML", e.message().to_owned());
            if let Some(help) = syntax_help(text, &span).filter(|_| !e.message().contains("duplicate")) {
                problem = problem.help(help);
            }
            return (None, vec![problem]);
        }
    }
    let (mut rest, mut problems, mut readings) = (text.to_owned(), Vec::new(), MAX_RETRIES / text.len().max(1));
    loop {
        let e = match toml::from_str(&rest) {
            Ok(raw) => return (Some(raw), problems),
            Err(e) => e,
        };
        let span = place(&e, text);
        problems.push(told(text, span.clone(), e.message()));
        match without(&rest, span.start, &mut readings) {
            Some(shorter) if problems.len() < MAX_SHOWN && readings > 0 => rest = shorter,
            _ => return (None, problems),
        }
        readings -= 1;
    }
}

// The text with what is at that place made a comment: a key and its value, or a table. All other places stay. It is read again
// so many times at most.
fn without(text: &str, at: usize, readings: &mut usize) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut start = text[..at.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let is_header = text[start..].trim_start().starts_with('[');
    for line in 0..MAX_LINES {
        let end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let content = text[start..end].trim_start();
        if is_header && line > 0 && content.starts_with('[') {
            break;
        }
        if !content.is_empty() && !content.starts_with('#') {
            // A letter of several bytes stands nowhere at the beginning of a line but within a value.
            let first = end - content.len();
            let letter = text[first..].chars().next().map_or(1, char::len_utf8);
            bytes[first] = b'#';
            bytes[first + 1..first + letter].fill(b'#');
        }
        let shorter = String::from_utf8(bytes.clone()).ok()?;
        // A value may go on in the next line, and then the rest is no TOML.
        if !is_header && shorter != text {
            *readings = readings.checked_sub(1)?;
            if toml::de::DeTable::parse(&shorter).is_ok() {
                return Some(shorter);
            }
        }
        if end >= text.len() {
            break;
        }
        start = end + 1;
    }
    String::from_utf8(bytes).ok().filter(|shorter| is_header && shorter != text)
}

// What serde says, in the words of a scene.
fn told(text: &str, span: Range<usize>, message: &str) -> Problem {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut names = rest.split('`').skip(1).step_by(2);
        let found = names.next().unwrap_or_default();
        let known: Vec<&str> = names.filter(|name| !schema::is_double(name)).collect();
        return Problem::new(span, format!("unknown key `{found}`"), expected_key(found, &known));
    }
    let (what, expected) = message.split_once(", expected ").unwrap_or((message, "something else"));
    let found = what.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
    // serde's kinds of values, in the words of an author.
    const KINDS: [(&str, &str); 7] = [
        ("floating point ", "the number "),
        ("integer ", "the number "),
        ("string ", "the text "),
        ("boolean ", ""),
        ("sequence", "a list"),
        ("map", "one table"),
        ("invalid length ", "a list of "),
    ];
    let kind = KINDS.iter().find_map(|(kind, word)| Some(format!("{word}{}", found.strip_prefix(kind)?)));
    let value = kind.unwrap_or_else(|| found.to_owned());
    let table = expected.strip_prefix("struct Raw").map(str::to_lowercase);
    let expected = match expected {
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        // The only lists of tables.
        "a sequence" => "two brackets around the name, as in [[body]]: there may be several".to_owned(),
        other => match &table {
            Some(table) => format!("a table: a line {}, and its keys below", schema::header(table)),
            None => other.to_owned(),
        },
    };
    let what = match key_of(text, &span) {
        Some(key) => format!("`{key}` is {value}"),
        None => format!("{value} makes no sense here"),
    };
    let problem = Problem::new(span.clone(), what, format!("expected {expected}"));
    let written = text.get(span).unwrap_or_default().trim_matches(['"', '\'']);
    if let Some(table) = table {
        return problem.help(format!("{} has {}", schema::header(&table), schema::keys_of(&table).join(", ")));
    }
    if expected.contains("#rrggbb") {
        return match colour_help(written) {
            Some(help) => problem.help(help),
            None => problem,
        };
    }
    let number = written.trim_end_matches('%').trim().replace(',', ".");
    match number.parse::<f64>() {
        Ok(x) if expected == "a number" => {
            let x = if written.ends_with('%') { x / 100.0 } else { x };
            problem.help(format!("a number stands without quotes: {x}"))
        }
        _ => problem,
    }
}

// The key whose value begins at a place, if it stands in the same line.
fn key_of<'a>(text: &'a str, span: &Range<usize>) -> Option<&'a str> {
    let start = span.start.min(text.len());
    let line = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let key = text[line..start].trim_end().strip_suffix('=')?.trim();
    let is_name = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b));
    is_name.then_some(key)
}

// What to write instead of a key that is none of a table's: another program's name, a misspelt one, or one of another table.
fn expected_key(found: &str, known: &[&str]) -> String {
    let is_whole = |name: &str| known.contains(&"output") && known.contains(&name);
    let tables = schema::tables_with(found);
    if !tables.is_empty() {
        return format!("`{found}` is a key of {}", and(&tables));
    }
    if let Some(advice) = suggest::other_name(Kind::Key, found) {
        return advice.to_owned();
    }
    match suggest::nearest(found, known.iter().copied()) {
        Some(name) if is_whole(name) => format!("did you mean `{}`?", schema::header(name)),
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("expected one of {}", known.join(", ")),
    }
}

// Names as a sentence lists them: `a, b and c`.
fn and(names: &[String]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

// What an author may have meant by a text that is no colour.
fn colour_help(text: &str) -> Option<String> {
    if let Some(digits) = text.strip_prefix('#') {
        let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        return match digits.len() {
            4 | 8 if is_hex => Some(format!(
                "colours have no alpha: \"#{}\"; `transparency` lets light through a material",
                &digits[..digits.len() / 4 * 3]
            )),
            _ if is_hex => {
                Some(format!("a colour has three or six digits of 0 to f, and this one has {}", digits.len()))
            }
            _ => Some("a colour has three or six digits of 0 to f".into()),
        };
    }
    let names = csscolorparser::NAMED_COLORS.keys().map(|name| name.as_str());
    suggest::nearest(text, names).map(|name| format!("did you mean \"{name}\"?"))
}

// What an author of broken TOML may have meant.
fn syntax_help(text: &str, span: &Range<usize>) -> Option<String> {
    let line_start = text[..span.start.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let line = text[line_start..].lines().next()?;
    let value = line.split_once('=').map(|(_, value)| value.trim())?;
    let bare = value.split('#').next().unwrap_or_default().trim();
    let number = |text: &str| text.trim().parse::<f64>().ok();
    const CURLED: [char; 8] =
        ['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{201a}', '\u{ab}', '\u{bb}'];
    if value.starts_with(CURLED) {
        return Some(format!("quotation marks are straight: \"{}\"", bare.trim_matches(CURLED)));
    }
    if value.starts_with('"') && value.contains('\\') {
        let name = bare.trim_matches('"');
        return Some(format!(
            "a backslash in double quotes begins a special letter; single quotes leave it as it is: '{name}'"
        ));
    }
    if value.starts_with('#') {
        return Some(format!("a colour stands in quotes: \"{value}\""));
    }
    if let Some(x) = bare.strip_suffix('%').and_then(number) {
        return Some(format!("a share is a number from 0 to 1: {}", x / 100.0));
    }
    if let Some(help) = suggest::number_help(bare) {
        return Some(help);
    }
    if bare.starts_with('[') && bare.contains(suggest::DASHES) {
        return Some(format!("these are dashes and no minus signs: {}", bare.replace(suggest::DASHES, "-")));
    }
    if let (Some(x), true) = (number(bare), bare.starts_with(['.', '+', '-']) || bare.ends_with('.')) {
        return Some(format!("digits stand on both sides of the point: {x:?}"));
    }
    let is_word = !bare.is_empty() && bare.chars().all(|c| c.is_alphanumeric() || "_-./@~".contains(c));
    is_word.then(|| format!("a text stands in quotes: \"{bare}\""))
}

// Tables that are written as lists: serde would take their values in the order of the keys.
fn tables_as_lists(text: &str) -> Result<Vec<Problem>, toml::de::Error> {
    use toml::de::{DeTable, DeValue};
    let document = DeTable::parse(text)?;
    let mut problems = Vec::new();
    let mut want_table = |name: &str, value: &Spanned<DeValue>| {
        if value.get_ref().is_array() {
            let what = format!("`{name}` is a list");
            problems.push(Problem::new(value.span(), what, "expected a table, whose values have names"));
        }
    };
    for (key, value) in document.get_ref() {
        let name: &str = key.get_ref();
        match (name, value.get_ref()) {
            ("body" | "sphere" | "rectangle" | "mesh" | "light", DeValue::Array(all)) => {
                all.iter().for_each(|one| want_table(name, one));
            }
            ("camera", DeValue::Table(camera)) => {
                for (key, value) in camera.iter().filter(|(key, _)| matches!(key.get_ref().as_ref(), "eye" | "target"))
                {
                    want_table(&format!("camera.{}", key.get_ref()), value);
                }
            }
            ("output" | "render" | "film" | "sky" | "camera" | "particles" | "floor", _) => want_table(name, value),
            // There is no such table: its name is what is wrong.
            _ => {}
        }
    }
    problems.sort_by_key(|p| p.span.start);
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_not_read_again_for_each_problem() {
        let of = |bytes: usize| (0..bytes / 8).map(|n| format!("a{n:04}=1\n")).collect::<String>();
        assert_eq!(read(&of(4_000)).1.len(), MAX_SHOWN);
        // A few problems, or one value of many lines, and there are no readings left.
        let (raw, problems) = read(&of(500_000));
        assert!(raw.is_none() && (2..MAX_SHOWN).contains(&problems.len()), "{}", problems.len());
        let long = format!("[render]\nbogus = [\n{}]\nfalse = 1\n#{}", "1,\n".repeat(400), "x".repeat(500_000));
        assert_eq!(read(&long).1.len(), 1);
        let short = format!("[render]\nbogus = [\n{}]\nfalse = 1\n", "1,\n".repeat(400));
        assert_eq!(read(&short).1.len(), 2);
    }
}
