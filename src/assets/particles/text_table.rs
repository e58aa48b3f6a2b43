//! Tables of particles as text: CSV, or columns between white space.

use super::set::{ParticleSet, Wanted, fault, is_allowed};
use crate::assets::error::AssetError;
use crate::assets::source::{line_and_column, utf16};
use crate::language::{Message, msg};
use crate::quote::brief;
use rayon::prelude::*;
use std::path::Path;

/// Whether a file of that name is a table, and not a file of the `sphere` code.
pub fn is_table(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    matches!(extension.as_deref(), Some("csv" | "xyzr" | "txt"))
}

// The names of columns.
const NAMES: [&[&str]; 8] = [&["x"], &["y"], &["z"], &["r", "radius"], &["vx"], &["vy"], &["vz"], &["p", "pressure"]];

// For each name, the number of its column.
type Columns = [Option<usize>; 8];

/// Reads columns by name (x, y, z, r or radius, vx, vy, vz, p or pressure) if the first line has words, else x y z r. Threads read
/// parts of the table.
pub fn read_table(path: &Path, bytes: &[u8], wanted: Wanted) -> Result<ParticleSet, AssetError> {
    let decoded = utf16(bytes);
    let bytes = decoded.as_deref().map_or(bytes, str::as_bytes);
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let (table, start) = Table::new(bytes).map_err(|fault| AssetError::new(path, fault.text(0, 0, 0)))?;
    let body = &bytes[start.byte..];
    let read: Vec<_> = table.parts(body).into_par_iter().map(|part| table.read(part, wanted)).collect();
    let (mut line, mut row, mut byte) = (start.line, 0, start.byte);
    for rows in &read {
        if let Some(fault) = &rows.fault {
            return Err(AssetError::new(path, fault.text(line, row, byte)));
        }
        (line, row, byte) = (line + rows.lines, row + rows.set.radii.len(), byte + rows.bytes);
    }
    let sets: Vec<ParticleSet> = read.into_iter().map(|rows| rows.set).collect();
    // Lines are checked as they are read.
    joined(&sets).check(path, Message::text)
}

// One set of all.
fn joined(sets: &[ParticleSet]) -> ParticleSet {
    fn all<T: Copy + Default + Send + Sync>(sets: &[ParticleSet], of: fn(&ParticleSet) -> &Vec<T>) -> Vec<T> {
        let mut all = vec![T::default(); sets.iter().map(|set| of(set).len()).sum()];
        let mut rest = all.as_mut_slice();
        let parts: Vec<_> = sets.iter().filter_map(|set| rest.split_off_mut(..of(set).len())).collect();
        parts.into_par_iter().zip(sets).for_each(|(part, set)| part.copy_from_slice(of(set)));
        all
    }
    ParticleSet {
        positions: all(sets, |set| &set.positions),
        radii: all(sets, |set| &set.radii),
        velocities: all(sets, |set| &set.velocities),
        pressures: all(sets, |set| &set.pressures),
        time: None,
    }
}

// The first byte and line of the rows.
struct Start {
    byte: usize,
    line: usize,
}

// What rows look like.
struct Table {
    delimiter: Option<u8>,
    columns: Columns,
}

// What is wrong with a line, counted from the beginning of its part.
struct Fault {
    line: usize,
    what: Problem,
}

enum Problem {
    // The names of columns are missing.
    Columns,
    // A row has no number in this column, which has a name.
    Absent(&'static str, usize),
    // This text is none.
    NoNumber(&'static str, usize, String),
    // A particle that breaks a rule; its number in the part, its position and its radius.
    Particle(usize, [f64; 3], f64),
    // No text, from a byte of the part on; its column.
    Bytes(usize, usize),
    // What the CSV reader says.
    Csv(String),
}

impl Fault {
    // A part is no text from this byte on.
    fn no_text(part: &[u8], at: usize) -> Fault {
        let [line, column] = line_and_column(part, at);
        Fault { line, what: Problem::Bytes(at, column) }
    }
    // The message, with the number of lines, rows and bytes before the part.
    fn text(&self, lines: usize, rows: usize, bytes: usize) -> Message {
        let line = lines + self.line;
        match &self.what {
            Problem::Columns => msg!("line {line}: expected columns x, y, z and r (or radius)", line),
            Problem::Absent(name, column) => {
                msg!("line {line}: it has no `{name}` (column {column})", line, name, column)
            }
            Problem::NoNumber(name, column, text) => {
                msg!("line {line}, column {column}: `{text}` is not a number for `{name}`", line, column, text, name)
            }
            Problem::Particle(i, p, r) => {
                fault(&msg!("line {line}", line), rows + i, p, *r).unwrap_or_else(|| Message::text(line))
            }
            Problem::Bytes(at, column) => {
                msg!("line {line}, column {column}: byte {byte} is not text in UTF-8", line, column, byte = bytes + at)
            }
            Problem::Csv(what) => Message::text(what),
        }
    }
}

// The rows of a part.
struct Rows {
    set: ParticleSet,
    lines: usize,
    bytes: usize,
    fault: Option<Fault>,
}

// The first bytes, up to the end of a line, that are enough to find the names of columns in.
fn head(bytes: &[u8]) -> &[u8] {
    let mut end = 0;
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        end += line.len();
        let is_blank = line.iter().all(u8::is_ascii_whitespace);
        // A quoted name may have line breaks.
        if !is_blank && line.first() != Some(&b'#') && !line.contains(&b'"') {
            break;
        }
    }
    &bytes[..end]
}

fn csv_reader(delimiter: u8, text: &[u8]) -> csv::Reader<&[u8]> {
    let mut builder = csv::ReaderBuilder::new();
    builder.has_headers(false).delimiter(delimiter).trim(csv::Trim::All).comment(Some(b'#')).flexible(true);
    builder.from_reader(text)
}

// Columns between white space with one blank between them.
fn single_blanks(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

impl Table {
    // The columns, and where the rows begin.
    fn new(bytes: &[u8]) -> Result<(Table, Start), Fault> {
        let head = head(bytes);
        let text = std::str::from_utf8(head).map_err(|e| Fault::no_text(head, e.valid_up_to()))?;
        let first = text.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#')).unwrap_or("");
        let delimiter = [',', ';'].into_iter().find(|&d| first.contains(d)).map(|d| d as u8);
        let plain: Columns = [Some(0), Some(1), Some(2), Some(3), None, None, None, None];
        let mut table = Table { delimiter, columns: plain };
        let clean = if delimiter.is_some() { String::new() } else { single_blanks(text) };
        let input = if delimiter.is_some() { text } else { &clean };
        let mut reader = csv_reader(delimiter.unwrap_or(b' '), input.as_bytes());
        let mut record = csv::StringRecord::new();
        loop {
            let before = reader.position().clone();
            let read = reader.read_record(&mut record);
            if !read.map_err(|e| Fault { line: 0, what: Problem::Csv(e.to_string()) })? {
                return Ok((table, Start { byte: 0, line: 0 }));
            }
            if record.iter().all(str::is_empty) {
                continue;
            }
            let has_names = record.iter().any(|w| w.parse::<f64>().is_err());
            let find = |names: &[&str]| record.iter().position(|w| names.contains(&w.to_ascii_lowercase().as_str()));
            if has_names {
                table.columns = NAMES.map(find);
            }
            if table.columns[..4].iter().any(Option::is_none) {
                let line = record.position().map_or(0, csv::Position::line) as usize;
                return Err(Fault { line, what: Problem::Columns });
            }
            let from = if has_names { reader.position() } else { &before };
            let lines = from.line() as usize - 1;
            let byte = match delimiter {
                Some(_) => from.byte() as usize,
                // The same line of the text before its blanks were changed.
                None => text.split_inclusive('\n').take(lines).map(str::len).sum(),
            };
            return Ok((table, Start { byte, line: lines }));
        }
    }

    // The body in parts that end with a line; one part if words are in quotes, for there may be line breaks between them.
    fn parts<'a>(&self, body: &'a [u8]) -> Vec<&'a [u8]> {
        const PART: usize = 1 << 20;
        let is_quoted = body.par_chunks(PART).any(|part| part.contains(&b'"'));
        let (mut parts, mut rest) = (Vec::new(), body);
        while !is_quoted && rest.len() > PART {
            let end = PART + rest[PART..].iter().position(|&b| b == b'\n').map_or(rest.len() - PART, |at| at + 1);
            parts.extend(rest.split_off(..end));
        }
        parts.push(rest);
        parts
    }

    fn read(&self, part: &[u8], wanted: Wanted) -> Rows {
        let mut rows = Rows { set: ParticleSet::default(), lines: 0, bytes: part.len(), fault: None };
        rows.fault = match std::str::from_utf8(part) {
            Err(e) => Some(Fault::no_text(part, e.valid_up_to())),
            Ok(text) if text.contains('"') => self.read_quoted(text, wanted, &mut rows.set).err(),
            Ok(text) => self.read_plain(text, wanted, &mut rows.set).err(),
        };
        rows.lines = part.iter().filter(|&&b| b == b'\n').count();
        rows
    }

    fn read_plain(&self, text: &str, wanted: Wanted, set: &mut ParticleSet) -> Result<(), Fault> {
        let mut words: Vec<&str> = Vec::new();
        for (i, line) in text.split('\n').enumerate() {
            // The end of a line may be a carriage return alone.
            for line in line.split('\r') {
                words.clear();
                match self.delimiter {
                    Some(_) if line.starts_with('#') || line.is_empty() => continue,
                    Some(d) => words.extend(line.split(char::from(d)).map(str::trim)),
                    None => words.extend(line.split_whitespace()),
                }
                let is_remark = self.delimiter.is_none() && words.first().is_some_and(|word| word.starts_with('#'));
                if !is_remark && !words.iter().all(|word| word.is_empty()) {
                    let added = self.add(set, wanted, |at| words.get(at).copied());
                    added.map_err(|what| Fault { line: i + 1, what })?;
                }
            }
        }
        Ok(())
    }

    fn read_quoted(&self, text: &str, wanted: Wanted, set: &mut ParticleSet) -> Result<(), Fault> {
        let clean = if self.delimiter.is_some() { String::new() } else { single_blanks(text) };
        let input = if self.delimiter.is_some() { text } else { &clean };
        for record in csv_reader(self.delimiter.unwrap_or(b' '), input.as_bytes()).records() {
            let record = record.map_err(|e| Fault { line: 0, what: Problem::Csv(e.to_string()) })?;
            let line = record.position().map_or(0, csv::Position::line) as usize;
            if !record.iter().all(str::is_empty) {
                self.add(set, wanted, |at| record.get(at)).map_err(|what| Fault { line, what })?;
            }
        }
        Ok(())
    }

    // Adds the particle of a row.
    fn add<'a>(
        &self,
        set: &mut ParticleSet,
        wanted: Wanted,
        word: impl Fn(usize) -> Option<&'a str>,
    ) -> Result<(), Problem> {
        let mut values = [None; 8];
        for ((value, column), names) in values.iter_mut().zip(self.columns).zip(NAMES) {
            let (Some(at), name) = (column, names[0]) else { continue };
            let word = word(at).ok_or(Problem::Absent(name, at + 1))?;
            let number = word.parse::<f64>().map_err(|_| Problem::NoNumber(name, at + 1, brief(word)))?;
            *value = Some(number);
        }
        let [x, y, z, r, vx, vy, vz, p] = values;
        let (Some(x), Some(y), Some(z), Some(r)) = (x, y, z, r) else { return Ok(()) };
        let position = [x, y, z];
        if !is_allowed(&position, r) {
            return Err(Problem::Particle(set.radii.len(), position, r));
        }
        set.positions.push(position);
        set.radii.push(r);
        if let (true, Some(x), Some(y), Some(z)) = (wanted.velocities, vx, vy, vz) {
            set.velocities.push([x, y, z]);
        }
        set.pressures.extend(p.filter(|_| wanted.pressures));
        Ok(())
    }
}
