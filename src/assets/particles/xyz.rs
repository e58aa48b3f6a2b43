//! XYZ and extended XYZ: frames of a count, a comment and rows. In the comment of extended XYZ, `Properties` names the columns and `Lattice`
//! is the box (as ASE, OVITO and LAMMPS write them). Without, rows have a species, x, y and z.

use super::format::{Head, Source, Steps};
use super::plan;
use super::rows::{Rows, lines};
use super::step::{Cell, Step, Wanted};
use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use memchr::memchr_iter;

pub fn recognise(head: &Head) -> bool {
    head.bytes.split(|&b| b == b'\n').next().and_then(count_of).is_some()
}

// The number that stands alone in a line.
fn count_of(line: &[u8]) -> Option<usize> {
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

// A frame: its first byte, the line of it from 1, the bytes of its count and comment, and how many rows there are.
struct Frame {
    byte: usize,
    line: usize,
    count: usize,
}

struct Xyz {
    frames: Vec<Frame>,
    length: usize,
    // The species of the first frame.
    labels: Vec<String>,
}

// Whole lines of a file from its beginning on, of which little is in memory.
struct Lines<'a> {
    source: &'a Source<'a>,
    block: Vec<u8>,
    // The file's byte after the block.
    end: usize,
    at: usize,
}

impl Lines<'_> {
    const BLOCK: usize = 4 << 20;

    fn more(&mut self) -> Result<bool, Message> {
        let end = self.source.content.length().min(self.end + Self::BLOCK);
        if end == self.end {
            return Ok(false);
        }
        let bytes = self.source.content.part(self.end..end).map_err(Message::text)?;
        self.block.drain(..self.at);
        self.block.extend_from_slice(&bytes);
        (self.at, self.end) = (0, end);
        Ok(true)
    }

    // The next line; an empty one at the end of the file.
    fn next(&mut self) -> Result<&[u8], Message> {
        loop {
            let (at, rest) = (self.at, &self.block[self.at..]);
            if let Some(line) = lines(rest, 1) {
                let length = line.len();
                self.at += length;
                return Ok(&self.block[at..at + length]);
            }
            if !self.more()? {
                self.at = self.block.len();
                return Ok(&self.block[at..]);
            }
        }
    }

    // Passes over so many lines, as far as there are some.
    fn skip(&mut self, mut count: usize) -> Result<(), Message> {
        loop {
            let rest = &self.block[self.at..];
            let found = memchr_iter(b'\n', rest).count();
            if found >= count {
                self.at += lines(rest, count).map_or(0, <[u8]>::len);
                return Ok(());
            }
            (self.at, count) = (self.block.len(), count - found);
            if !self.more()? {
                return Ok(());
            }
        }
    }

    fn byte(&self) -> usize {
        self.end - (self.block.len() - self.at)
    }
}

/// Finds the frames, by their counts.
pub fn open(source: &Source) -> Result<Box<dyn Steps>, AssetError> {
    find(source).map_err(|what| source.fault(what))
}

fn find(source: &Source) -> Result<Box<dyn Steps>, Message> {
    let mut text = Lines { source, block: Vec::new(), end: 0, at: 0 };
    let (mut frames, mut line) = (Vec::new(), 1);
    while text.byte() < source.content.length() {
        let byte = text.byte();
        let head = text.next()?;
        let Some(count) = count_of(head) else {
            // Blank lines may end the file.
            if head.trim_ascii().is_empty() && text.byte() == source.content.length() {
                break;
            }
            return Err(msg!("line {line}: expected the number of particles of a frame", line));
        };
        frames.push(Frame { byte, line, count });
        text.skip(count.saturating_add(1))?;
        line = line.saturating_add(count).saturating_add(2);
    }
    let mut xyz = Xyz { frames, length: source.content.length(), labels: Vec::new() };
    xyz.labels = xyz.with(source, 0, |rows, _| Ok(rows.labels(source.labels.to_vec())))?;
    Ok(Box::new(xyz))
}

// What stands in a comment: keys with values, which may be in quotes.
fn pairs(mut text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    loop {
        text = text.trim_start();
        let end = text.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(text.len());
        let (key, rest) = text.split_at(end);
        let Some(rest) = rest.strip_prefix('=') else {
            // A key without a value.
            if rest.is_empty() {
                return pairs;
            }
            text = rest;
            continue;
        };
        let (mut value, mut is_quoted, mut chars) = (String::new(), false, rest.char_indices());
        text = "";
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => value.extend(chars.next().map(|(_, c)| c)),
                '"' => is_quoted = !is_quoted,
                _ if c.is_whitespace() && !is_quoted => {
                    text = &rest[at..];
                    break;
                }
                _ => value.push(c),
            }
        }
        pairs.push((key.to_owned(), value));
    }
}

// The names of the columns of `species:S:1:pos:R:3`.
fn names(properties: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = properties.split(':').collect();
    let (fields, []) = words.as_chunks::<3>() else { return None };
    let of = |[name, _, count]: &[&str; 3]| {
        let count = count.parse().ok().filter(|count| (1..=64).contains(count))?;
        Some(plan::parts(name, count))
    };
    Some(fields.iter().map(of).collect::<Option<Vec<_>>>()?.concat())
}

fn cell(lattice: &str, origin: &str, periodic: Option<&str>) -> Option<Cell> {
    let numbers = |text: &str| text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>();
    let (numbers, origin) = (numbers(lattice)?, numbers(origin)?);
    let (vectors, []) = numbers.as_chunks::<3>() else { return None };
    let periodic: Vec<bool> =
        periodic.unwrap_or("T T T").split_whitespace().map(|word| word.starts_with(['T', 't', '1'])).collect();
    Some(Cell { origin: *origin.first_chunk()?, vectors: *vectors.first_chunk()?, periodic: *periodic.first_chunk()? })
}

impl Xyz {
    fn with<T>(
        &self,
        source: &Source,
        frame: usize,
        job: impl FnOnce(&Rows, Step) -> Result<T, Message>,
    ) -> Result<T, Message> {
        let Some(&Frame { byte, line, count }) = self.frames.get(frame) else {
            return Err(msg!("it holds no particles"));
        };
        let end = self.frames.get(frame + 1).map_or(self.length, |next| next.byte);
        let bytes = source.content.part(byte..end).map_err(Message::text)?;
        let line = line + 1;
        let wrong =
            || msg!("line {line}: expected the comment of a frame, with `Properties` of names, kinds and counts", line);
        let header = lines(&bytes, 2).ok_or_else(wrong)?;
        let comment = std::str::from_utf8(header).map_err(|_| wrong())?.lines().nth(1).unwrap_or_default();
        let pairs = pairs(comment);
        let value = |keys: &[&str]| {
            let found = pairs.iter().find(|(key, _)| keys.iter().any(|one| one.eq_ignore_ascii_case(key)));
            found.map(|(_, value)| value.as_str())
        };
        let names = match value(&["Properties"]) {
            Some(properties) => names(properties).ok_or_else(wrong)?,
            None => ["species", "x", "y", "z"].map(str::to_owned).into(),
        };
        let step = Step {
            cell: value(&["Lattice"])
                .and_then(|lattice| cell(lattice, value(&["Origin"]).unwrap_or("0 0 0"), value(&["pbc"]))),
            time: value(&["time"]).and_then(|time| time.parse().ok()),
            number: value(&["step", "timestep"]).and_then(|step| step.parse().ok()),
            ..Step::default()
        };
        let rest = &bytes[header.len()..];
        let text = lines(rest, count).unwrap_or(rest);
        job(&Rows { text, line: line + 1, count, names }, step)
    }
}

impl Steps for Xyz {
    fn count(&self) -> usize {
        self.frames.len()
    }
    fn labels(&self) -> &[String] {
        &self.labels
    }
    fn read(&self, source: &Source, frame: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        self.step(source, frame, wanted).map_err(|what| source.fault(what))
    }
}

impl Xyz {
    fn step(&self, source: &Source, frame: usize, wanted: &Wanted) -> Result<Step, Message> {
        self.with(source, frame, |rows, head| {
            let step = rows.step(wanted, head.cell, &self.labels)?;
            Ok(Step { number: head.number, time: head.time, ..step })
        })
    }
}
