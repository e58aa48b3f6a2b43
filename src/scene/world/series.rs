//! Names of several files: all of a folder, those with `*` for any letters, and the pieces of a file that several processes wrote, `%` for
//! their numbers.

use crate::scene::numbered;
use std::cmp::Ordering;
use std::ops::Range;
use std::path::{Path, PathBuf};

// What a name consists of.
enum NamePart<'a> {
    Letter(&'a str),
    // `*`: any letters, or none.
    Any,
    // `%`, `%d` or `%04d`: digits.
    Number,
}

// The parts of a name, each with its bytes.
fn parts(name: &str) -> Vec<(NamePart<'_>, Range<usize>)> {
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(first) = name[at..].chars().next() {
        let end = at + first.len_utf8();
        let digits = name[end..].trim_start_matches(|c: char| c.is_ascii_digit());
        let (part, end) = match first {
            '*' => (NamePart::Any, end),
            '%' if digits.starts_with('d') => (NamePart::Number, name.len() - digits.len() + 1),
            '%' => (NamePart::Number, end),
            _ => (NamePart::Letter(&name[at..end]), end),
        };
        all.push((part, at..end));
        at = end;
    }
    all
}

fn matches(pattern: &str, name: &str) -> bool {
    // The bytes of the name at which what is left of the pattern may begin.
    let mut places = vec![0];
    for (part, _) in parts(pattern) {
        let mut next: Vec<usize> = Vec::new();
        for at in places {
            match part {
                NamePart::Letter(letter) => next.extend(name[at..].starts_with(letter).then_some(at + letter.len())),
                NamePart::Any => next.extend((at..=name.len()).filter(|&end| name.is_char_boundary(end))),
                NamePart::Number => {
                    let digits = name[at..].bytes().take_while(u8::is_ascii_digit).count();
                    next.extend(at + 1..=at + digits);
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        places = next;
    }
    places.contains(&name.len())
}

// `step9` stands before `step10`.
fn natural(a: &str, b: &str) -> Ordering {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (mut rest_a, mut rest_b) = (a, b);
    while let (Some(x), Some(y)) = (rest_a.chars().next(), rest_b.chars().next()) {
        let [m, n] = [digits(rest_a), digits(rest_b)];
        let order = if m > 0 && n > 0 {
            let (x, y) = (rest_a[..m].trim_start_matches('0'), rest_b[..n].trim_start_matches('0'));
            (rest_a, rest_b) = (&rest_a[m..], &rest_b[n..]);
            x.len().cmp(&y.len()).then(x.cmp(y))
        } else {
            (rest_a, rest_b) = (&rest_a[x.len_utf8()..], &rest_b[y.len_utf8()..]);
            x.cmp(&y)
        };
        if order.is_ne() {
            return order;
        }
    }
    rest_a.len().cmp(&rest_b.len()).then(a.cmp(b))
}

// The files of a folder with such names, in natural order. Hidden ones are none of them.
fn listed(folder: &Path, is_one: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(here).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.') && is_one(name)).collect();
    names.sort_by(|a, b| natural(a, b));
    names.into_iter().map(|name| folder.join(name)).filter(|path| !path.is_dir()).collect()
}

// The files whose names match the last part of a path, where the path is not that of a file itself.
fn matching(path: &Path, pattern: &str) -> Vec<PathBuf> {
    if path.exists() {
        Vec::new()
    } else {
        listed(path.parent().unwrap_or(Path::new("")), |name| matches(pattern, name))
    }
}

/// The files, one a time step, that the name of a folder or a name with `*` stands for, in natural order. Of a name with `%` beside it each
/// is a name of pieces. None for other names.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_dir() {
        return listed(path, |_| true);
    }
    let Some(at) = name.find('%') else {
        return if name.contains('*') { matching(path, &name) } else { Vec::new() };
    };
    // There is always a piece 0.
    let (before, after) = (&name[..at], &name[at + 1..]);
    let place = |found: &str| if before.contains('*') { found.len() - after.len() - 1 } else { at };
    let is_one_star = before.contains('*') != after.contains('*') && !after.contains('%');
    let firsts = if is_one_star { matching(path, &format!("{before}0{after}")) } else { Vec::new() };
    let with_sign = |file: PathBuf| {
        let found = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        file.with_file_name(format!("{}%{}", &found[..place(&found)], &found[place(&found) + 1..]))
    };
    firsts.into_iter().map(with_sign).collect()
}

/// The files that a name with `%d` stands for, in natural order; or [`files`].
pub fn all(path: &Path) -> Vec<PathBuf> {
    match numbered(&path.to_string_lossy(), 0) {
        Some(_) => matching(path, &path.file_name().unwrap_or_default().to_string_lossy()),
        None => files(path),
    }
}

/// The pieces that a name with a `%` alone stands for, in natural order; none for other names.
pub fn pieces(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_number = numbered(&path.to_string_lossy(), 0).is_some();
    if !name.contains('%') || is_number || name.contains('*') { Vec::new() } else { matching(path, &name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_files_find_them_in_natural_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["d.10.txt", "d.9.txt", "d.0.txt", ".d.3.txt", "e.txt", "p.0.9", "p.1.9", "p.0.10", "p.11.10"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join("d.7.txt")).unwrap();
        let of = |find: fn(&Path) -> Vec<PathBuf>, name: &str| {
            let found = find(&dir.path().join(name)).into_iter();
            found.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(files, "d.*.txt"), "d.0.txt d.9.txt d.10.txt");
        assert_eq!(of(files, "*.txt"), "d.0.txt d.9.txt d.10.txt e.txt");
        assert_eq!(of(files, ""), "d.0.txt d.9.txt d.10.txt e.txt p.0.9 p.0.10 p.1.9 p.11.10");
        assert_eq!(of(files, "p.%.*"), "p.%.9 p.%.10");
        assert_eq!(of(pieces, "p.%.9"), "p.0.9 p.1.9");
        assert_eq!(of(pieces, "p.%.10"), "p.0.10 p.11.10");
        assert_eq!([of(files, "d.%d.txt"), of(files, "e.txt"), of(pieces, "d.%d.txt")], [""; 3]);
        assert_eq!(of(all, "d.%04d.txt"), "d.0.txt d.9.txt d.10.txt");
        assert!(matches("a*b*c", "a1b2bc") && !matches("a*b*c", "a1b2bd") && matches("*", "é"));
    }
}
