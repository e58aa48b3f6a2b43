//! Patterns of file names with a frame number: `res/%d.data`, `out/%04d.png`.

use crate::language::{Message, msg};
use crate::scene::limits::{PICTURES, ordinary_extension};
use crate::system::slashes;
use std::path::{Path, PathBuf};

// Maximum number of digits.
const MAX_DIGITS: usize = 18;

/// A path with the frame number in its last part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    before: String,
    after: String,
    part: PatternPart,
}

// The part between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternPart {
    // A number with at least this many digits.
    Number(usize),
    // None: the name is that of a single frame.
    Frame(u32),
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub enum PatternError {
    /// A `%` that is neither `%d` nor `%0Nd`.
    Percent,
    /// An unknown format.
    Extension(String),
    /// The name is empty.
    Empty,
}

impl PatternError {
    pub(crate) fn message(&self) -> Message {
        match self {
            PatternError::Percent => {
                msg!("a path may hold one `%d`, `%0Nd` (N from 1 to 18) or row of `#`, and no other `%`")
            }
            PatternError::Extension(ending) => {
                msg!("pictures are written as {list}; the path ends in `.{ending}`", list = pictures(), ending)
            }
            PatternError::Empty => {
                msg!("the path is empty or names a folder: the frames in it need names, such as `%04d.png`")
            }
        }
    }
}

impl Pattern {
    /// Parses `res/%d.data`, `out/%04d.png` or `out/####.png` (as many digits). The flag tells that the text has no
    /// number or no format, and a default was used.
    pub fn parse(text: &str) -> Result<(Pattern, bool), PatternError> {
        let text = slashes(text);
        if text.is_empty() || text.ends_with('/') || text.ends_with("..") || text == "." {
            return Err(PatternError::Empty);
        }
        let mut made_up = false;
        let name_at = text.rfind('/').map_or(0, |i| i + 1);
        let mut text = text.into_owned();
        if !text.contains('%')
            && let Some(first) = text[name_at..].find('#').map(|i| i + name_at)
        {
            let digits = text[first..].bytes().take_while(|&b| b == b'#').count();
            if digits > MAX_DIGITS || text[first + digits..].contains('#') {
                return Err(PatternError::Percent);
            }
            text.replace_range(first..first + digits, &format!("%0{digits}d"));
        }
        let dot = text[name_at..].rfind('.').map(|i| i + name_at).filter(|&i| i > name_at);
        match dot.map(|i| text[i + 1..].to_ascii_lowercase()) {
            Some(e) if PICTURES.contains(&ordinary_extension(&e)) => {}
            Some(e) => return Err(PatternError::Extension(e)),
            None => {
                text.push_str(".data");
                made_up = true;
            }
        }
        let (before, after, digits) = match split_number(&text)? {
            Some((_, after, _)) if after.contains('/') => return Err(PatternError::Percent),
            Some(part) => part,
            None => {
                made_up = true;
                let (before, after) = text.split_at(text.rfind('.').unwrap_or(text.len()));
                (before, after, 0)
            }
        };
        let part = PatternPart::Number(digits);
        Ok((Pattern { before: before.to_owned(), after: after.to_owned(), part }, made_up))
    }

    /// Whether a text has a position for the frame number.
    pub fn has_number(text: &str) -> bool {
        text.contains('%') || slashes(text).rsplit('/').next().is_some_and(|name| name.contains('#'))
    }

    /// The suggested pattern for several frames, for a name without a number. A name without a format is that of a folder.
    pub fn suggested(&self, name: &str) -> Pattern {
        let part = PatternPart::Number(4);
        if !name.ends_with(&self.after) {
            return Pattern { before: format!("{}/", self.before), part, after: ".png".to_owned() };
        }
        // Instead of another language's number: `{:04d}`.
        let other = self.before.strip_suffix('}').and_then(|before| before.rfind('{')).unwrap_or(self.before.len());
        Pattern { before: self.before[..other].to_owned(), part, after: self.after.clone() }
    }

    /// The file of frame n.
    pub fn path(&self, n: u32) -> PathBuf {
        PathBuf::from(format!("{}{}{}", self.before, self.digits(n), self.after))
    }

    // The number of frame n with its digits; empty for a single frame's name.
    fn digits(&self, n: u32) -> String {
        if let PatternPart::Number(width) = self.part { format!("{n:0width$}") } else { String::new() }
    }

    /// The frame number of a file name in the pattern's folder; None if the name does not match.
    pub fn number(&self, name: &str) -> Option<u32> {
        let before = self.before.rsplit('/').next().unwrap_or_default();
        let written = name.strip_prefix(before)?.strip_suffix(self.after.as_str())?;
        let n = if let PatternPart::Frame(n) = self.part { n } else { written.parse().ok()? };
        // A match has no sign, and exactly the leading zeros that the pattern writes.
        (self.digits(n) == written).then_some(n)
    }

    /// A name of a single frame, without a number.
    pub fn of_one(self, n: u32) -> Pattern {
        Pattern { part: PatternPart::Frame(n), ..self }
    }

    /// Whether the name is that of a single frame.
    pub fn is_of_one(&self) -> bool {
        matches!(self.part, PatternPart::Frame(_))
    }

    /// The last part, with the number as `%d`. It is the same for all patterns that may name the same file.
    pub fn key(&self) -> String {
        let part = if self.is_of_one() { self.part } else { PatternPart::Number(0) };
        Pattern { part, ..self.clone() }.name()
    }

    /// The last part, as written.
    pub fn name(&self) -> String {
        self.to_string().rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// The extension in lower case.
    pub fn extension(&self) -> String {
        self.after.rsplit('.').next().unwrap_or_default().to_ascii_lowercase()
    }

    /// The pattern below another folder, unless it is absolute.
    pub fn below(&self, folder: &Path) -> Pattern {
        if Path::new(&self.before).has_root() || folder.as_os_str().is_empty() {
            return self.clone();
        }
        let folder = folder.display().to_string();
        Pattern { before: format!("{}/{}", slashes(&folder), self.before), ..self.clone() }
    }
}

impl Default for Pattern {
    /// `frames/%04d.png`.
    fn default() -> Pattern {
        Pattern { before: "frames/".into(), after: ".png".into(), part: PatternPart::Number(4) }
    }
}

crate::language::texts!(Pattern);

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Pattern { before, after, part } = self;
        match part {
            PatternPart::Frame(_) => write!(f, "{before}{after}"),
            PatternPart::Number(0) => write!(f, "{before}%d{after}"),
            PatternPart::Number(n) => write!(f, "{before}%0{n}d{after}"),
        }
    }
}

fn pictures() -> String {
    PICTURES.map(|e| format!("`.{e}`")).join(", ")
}

// The text before and after `%d` or `%0Nd`, and N; None if the text has neither.
fn split_number(text: &str) -> Result<Option<(&str, &str, usize)>, PatternError> {
    let Some((before, rest)) = text.split_once('%') else { return Ok(None) };
    let (width, after) = rest.split_once('d').ok_or(PatternError::Percent)?;
    let digits = match width {
        "" => 0,
        n => {
            let n = n.strip_prefix('0').filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
            n.and_then(|n| n.parse().ok()).filter(|n| (1..=MAX_DIGITS).contains(n)).ok_or(PatternError::Percent)?
        }
    };
    if after.contains('%') { Err(PatternError::Percent) } else { Ok(Some((before, after, digits))) }
}

/// The path with its number inserted; None if it has no position for one.
pub fn numbered(path: &str, n: u64) -> Option<String> {
    let (before, after, width) = split_number(path).ok().flatten()?;
    Some(format!("{before}{n:0width$}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let path = |text: &str, n| Pattern::parse(text).map(|(p, odd)| (p.path(n).display().to_string(), odd));
        assert_eq!(path("res/%d.data", 7), Ok(("res/7.data".into(), false)));
        assert_eq!(path("a%04d.png", 7), Ok(("a0007.png".into(), false)));
        assert_eq!(path("a.b/x.png", 7), Ok(("a.b/x7.png".into(), true)));
        assert_eq!(path("./out", 7), Ok(("./out7.data".into(), true)));
        assert_eq!(path("a/f####.png", 7), Ok(("a/f0007.png".into(), false)));
        assert_eq!(path("c#/#", 7), Ok(("c#/7.data".into(), true)));
        assert_eq!(path("#1_%d.png", 7), Ok(("#1_7.png".into(), false)));
        assert_eq!(path("#_#.png", 7), Err(PatternError::Percent));
        let one = Pattern::parse("a/x.png").unwrap().0.of_one(3);
        assert_eq!((one.path(3).display().to_string().as_str(), one.number("x.png")), ("a/x.png", Some(3)));
        assert_eq!((one.number("x3.png"), one.to_string().as_str()), (None, "a/x.png"));
        assert_eq!(path("%s.data", 7), Err(PatternError::Percent));
        assert_eq!(path("%d%d.data", 7), Err(PatternError::Percent));
        assert_eq!(path("%0d.data", 7), Err(PatternError::Percent));
        assert_eq!(path("%+5d.data", 7), Err(PatternError::Percent));
        assert_eq!(path("%d/x.data", 7), Err(PatternError::Percent));
        assert_eq!(path("x%d.bmp", 7), Err(PatternError::Extension("bmp".into())));
        assert_eq!(path("res/", 7), Err(PatternError::Empty));
    }

    #[test]
    fn numbers_go_where_the_path_says() {
        assert_eq!(numbered("a%d.bin", 7).as_deref(), Some("a7.bin"));
        assert_eq!(numbered("a%05d.bin", 7).as_deref(), Some("a00007.bin"));
        assert_eq!(numbered("a.bin", 7), None);
    }
}
