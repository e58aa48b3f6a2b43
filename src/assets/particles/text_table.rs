//! Tables of particles as text: CSV, or columns between white space.

use super::format::{Head, Source};
use super::step::{Column, Step, Wanted, fault, is_allowed};
use crate::assets::error::AssetError;
use crate::assets::source::{line_and_column, utf16};
use crate::language::{Message, msg};
use crate::quote::brief;
use rayon::prelude::*;

/// Extensions of tables.
pub const ENDINGS: [&str; 3] = ["csv", "xyzr", "txt"];

/// Whether a file is a text.
pub fn recognise(head: &Head) -> bool {
    head.is_text() || head.ends_in(&ENDINGS)
}

/// Reads columns by name if the first line has words, or a remark before it; else x y z r. Threads read parts of the table.
pub fn read(source: &Source, wanted: &Wanted) -> Result<Step, AssetError> {
    let path = source.path;
    let bytes = source.content.part(0..source.content.length());
    let bytes = bytes.map_err(|e| AssetError::read("particles", path, e))?;
    let decoded = utf16(&bytes);
    let bytes = decoded.as_deref().map_or(&*bytes, str::as_bytes);
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut table = Table::new();
    let start = table.find_rows(bytes);
    let start = start.map_err(|fault| source.fault(fault.text(&table, [0; 3])))?;
    let body = &bytes[start.byte..];
    table.keep(body, wanted);
    let read: Vec<_> = table.parts(body).into_par_iter().map(|part| table.read(part)).collect();
    let mut before = [start.line, 0, start.byte];
    for rows in &read {
        if let Some(fault) = &rows.fault {
            return Err(AssetError::new(path, fault.text(&table, before)));
        }
        let [line, row, byte] = before;
        before = [line + rows.lines, row + rows.count, byte + rows.bytes];
    }
    let rows: usize = read.iter().map(|rows| rows.count).sum();
    let step = table.joined(read);
    if rows > 0 && step.count() == 0 {
        // Whoever gives positions asks for columns.
        let found = Message::text(step.names.join(", "));
        return Err(
            source.fault(msg!("it has the columns {found}; expected x, y and z, or a vector `position`", found))
        );
    }
    // Lines are checked as they are read.
    step.check(Message::text).map_err(|what| source.fault(what))
}

// The values of all parts.
fn all<'a, T: Copy + Default + Send + Sync + 'a>(parts: impl Iterator<Item = &'a Vec<T>>) -> Vec<T> {
    let parts: Vec<_> = parts.collect();
    let mut all = vec![T::default(); parts.iter().map(|part| part.len()).sum()];
    let mut rest = all.as_mut_slice();
    let places: Vec<_> = parts.iter().filter_map(|part| rest.split_off_mut(..part.len())).collect();
    places.into_par_iter().zip(&parts).for_each(|(place, part)| place.copy_from_slice(part));
    all
}

// The first byte and line of the rows.
struct Start {
    byte: usize,
    line: usize,
}

// What rows look like.
struct Table {
    delimiter: Option<u8>,
    // The names of all columns.
    names: Vec<String>,
    // Whether the file gives these names, so that each row must have all columns.
    has_names: bool,
    // The numbers of the columns of x, y, z and r, as far as there are.
    places: [Option<usize>; 4],
    // Whether the fourth one is that of diameters.
    has_diameters: bool,
    // Those of the columns that are kept.
    kept: Vec<usize>,
}

// What is wrong with a line, counted from the beginning of its part.
struct Fault {
    line: usize,
    what: Problem,
}

enum Problem {
    // There are fewer columns than three, without names.
    Columns,
    // A row ends before this column.
    Absent(usize),
    // This text in the column is no number.
    NoNumber(usize, String),
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
    fn text(&self, table: &Table, [lines, rows, bytes]: [usize; 3]) -> Message {
        let line = lines + self.line;
        let name = |at: &usize| table.names.get(*at).cloned().unwrap_or_default();
        match &self.what {
            Problem::Columns => msg!("line {line}: expected columns x, y, z and r (or radius)", line),
            Problem::Absent(at) => {
                msg!("line {line}: it has no `{name}` (column {column})", line, name = name(at), column = at + 1)
            }
            Problem::NoNumber(at, text) => {
                let name = name(at);
                msg!(
                    "line {line}, column {column}: `{text}` is not a number for `{name}`",
                    line,
                    column = at + 1,
                    text,
                    name
                )
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
#[derive(Default)]
struct Rows {
    count: usize,
    positions: Vec<[f64; 3]>,
    radii: Vec<f64>,
    // In the order of the table's columns that are kept.
    columns: Vec<Vec<f64>>,
    lines: usize,
    bytes: usize,
    fault: Option<Fault>,
}

// Which of the places x, y, z, r (radius) and d (diameter) a column of that name is: `x`, `pos_x`, `Points:0`, `Position.X`, `Radius (m)`.
fn place(name: &str) -> Option<&'static str> {
    const POINTS: [&str; 9] =
        ["pos", "position", "positions", "point", "points", "coord", "coords", "coordinates", "center"];
    let lower = name.trim_matches('"').to_ascii_lowercase();
    // A unit may follow.
    let word = lower.split([' ', '(']).next().unwrap_or("");
    let axis = |axis: &str| {
        ["x", "y", "z", "0", "1", "2"].iter().position(|one| *one == axis).map(|at| ["x", "y", "z"][at % 3])
    };
    match word {
        "x" | "y" | "z" => axis(word),
        "r" | "radius" | "rad" | "radii" => Some("r"),
        "d" | "diameter" | "diam" => Some("d"),
        _ => {
            let (base, end) = word.rsplit_once(['.', '_', ':'])?;
            axis(end).filter(|_| POINTS.contains(&base))
        }
    }
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
    // The columns of a table without names.
    fn new() -> Table {
        Table {
            delimiter: None,
            names: ["x", "y", "z", "r"].map(str::to_owned).into(),
            has_names: false,
            places: [0, 1, 2, 3].map(Some),
            has_diameters: false,
            kept: Vec::new(),
        }
    }

    // Takes the columns as the first lines say; returns where the rows begin.
    fn find_rows(&mut self, bytes: &[u8]) -> Result<Start, Fault> {
        let head = head(bytes);
        let text = std::str::from_utf8(head).map_err(|e| Fault::no_text(head, e.valid_up_to()))?;
        let first = text.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#')).unwrap_or("");
        // Commas between semicolons are those of decimal numbers. Names between tabs may have blanks.
        let is_delimiter = |d: &char| first.contains(*d) && (*d != '\t' || first.chars().any(char::is_alphabetic));
        self.delimiter = [';', ',', '\t'].into_iter().find(is_delimiter).map(|d| d as u8);
        let clean = if self.delimiter.is_some() { String::new() } else { single_blanks(text) };
        let input = if self.delimiter.is_some() { text } else { &clean };
        let mut reader = csv_reader(self.delimiter.unwrap_or(b' '), input.as_bytes());
        let mut record = csv::StringRecord::new();
        loop {
            let before = reader.position().clone();
            let read = reader.read_record(&mut record);
            if !read.map_err(|e| Fault { line: 0, what: Problem::Csv(e.to_string()) })? {
                return Ok(Start { byte: 0, line: 0 });
            }
            if record.iter().all(str::is_empty) {
                continue;
            }
            let is_heading = record.iter().any(|word| self.number(word).is_none());
            let names: Option<Vec<String>> = match is_heading {
                true => Some(record.iter().map(str::to_owned).collect()),
                false => self.remark(text, record.len()),
            };
            self.has_names = is_heading;
            match names {
                Some(names) => self.name(names),
                None if record.len() < 3 => {
                    let line = record.position().map_or(0, csv::Position::line) as usize;
                    return Err(Fault { line, what: Problem::Columns });
                }
                None => {
                    self.places = [0, 1, 2, 3].map(|at| (at < record.len()).then_some(at));
                    self.names.truncate(record.len());
                    self.names.extend((self.names.len()..record.len()).map(|at| format!("column{}", at + 1)));
                }
            }
            let from = if is_heading { reader.position() } else { &before };
            let lines = from.line() as usize - 1;
            let byte = match self.delimiter {
                Some(_) => from.byte() as usize,
                // The same line of the text before its blanks were changed.
                None => text.split_inclusive('\n').take(lines).map(str::len).sum(),
            };
            return Ok(Start { byte, line: lines });
        }
    }

    // Names in the last remark before the rows, if it has one for each of `count` columns.
    fn remark(&self, text: &str, count: usize) -> Option<Vec<String>> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let remark = lines.map_while(|line| line.trim_start().strip_prefix('#')).last()?;
        let names: Vec<String> = self.words(remark).iter().map(|word| (*word).to_owned()).collect();
        (names.len() == count && names.iter().all(|name| self.number(name).is_none())).then_some(names)
    }

    // Takes the names of columns, some of which are those of positions and radii.
    fn name(&mut self, names: Vec<String>) {
        let of = |wanted: &str| names.iter().position(|name| place(name) == Some(wanted));
        let radius = of("r");
        self.has_diameters = radius.is_none();
        self.places = [of("x"), of("y"), of("z"), radius.or_else(|| of("d"))];
        // Without z all lie in one plane; without x or y nothing is known of them.
        if self.places[..2].contains(&None) {
            self.places[..3].fill(None);
        }
        self.names = names;
    }

    // The words of a line without quotes.
    fn words<'a>(&self, line: &'a str) -> Vec<&'a str> {
        match self.delimiter {
            Some(d) => line.split(char::from(d)).map(str::trim).collect(),
            None => line.split_whitespace().collect(),
        }
    }

    // A number, perhaps with a decimal comma between semicolons.
    fn number(&self, word: &str) -> Option<f64> {
        let decimal = || (self.delimiter == Some(b';') && word.contains(',')).then(|| word.replacen(',', ".", 1));
        word.parse().ok().or_else(|| decimal()?.parse().ok())
    }

    // Decides which columns are kept. Of all columns, those are not that begin with a word.
    fn keep(&mut self, body: &[u8], wanted: &Wanted) {
        let is_row = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
        let first = body.split(|&b| b == b'\n' || b == b'\r').find(is_row).unwrap_or_default();
        let first = String::from_utf8_lossy(first);
        let words = self.words(&first);
        let is_number = |at: usize| {
            let word = words.get(at).map(|word| word.trim().trim_matches('"').trim());
            word.is_none_or(|word| self.number(word).is_some())
        };
        let all = self.names.iter().enumerate().filter(|(at, name)| {
            let is_other = !name.is_empty() && !self.places.contains(&Some(*at));
            wanted.asks_for(name) || is_other && wanted.has(name) && is_number(*at)
        });
        self.kept = all.map(|(at, _)| at).collect();
    }

    // The step of all parts.
    fn joined(self, parts: Vec<Rows>) -> Step {
        let column = |(i, at): (usize, &usize)| Column {
            name: self.names[*at].clone(),
            values: all(parts.iter().map(|rows| &rows.columns[i])),
        };
        let columns = self.kept.iter().enumerate().map(column).collect();
        let (positions, radii) = (all(parts.iter().map(|p| &p.positions)), all(parts.iter().map(|p| &p.radii)));
        Step { positions, radii, columns, names: self.names, ..Step::default() }
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

    fn read(&self, part: &[u8]) -> Rows {
        let mut rows = Rows { columns: vec![Vec::new(); self.kept.len()], bytes: part.len(), ..Rows::default() };
        rows.fault = match std::str::from_utf8(part) {
            Err(e) => Some(Fault::no_text(part, e.valid_up_to())),
            Ok(text) if text.contains('"') => self.read_quoted(text, &mut rows).err(),
            Ok(text) => self.read_plain(text, &mut rows).err(),
        };
        rows.lines = part.iter().filter(|&&b| b == b'\n').count();
        rows
    }

    fn read_plain(&self, text: &str, rows: &mut Rows) -> Result<(), Fault> {
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
                    let added = self.add(rows, words.len(), |at| words.get(at).copied());
                    added.map_err(|what| Fault { line: i + 1, what })?;
                }
            }
        }
        Ok(())
    }

    fn read_quoted(&self, text: &str, rows: &mut Rows) -> Result<(), Fault> {
        let clean = if self.delimiter.is_some() { String::new() } else { single_blanks(text) };
        let input = if self.delimiter.is_some() { text } else { &clean };
        for record in csv_reader(self.delimiter.unwrap_or(b' '), input.as_bytes()).records() {
            let record = record.map_err(|e| Fault { line: 0, what: Problem::Csv(e.to_string()) })?;
            let line = record.position().map_or(0, csv::Position::line) as usize;
            if !record.iter().all(str::is_empty) {
                self.add(rows, record.len(), |at| record.get(at)).map_err(|what| Fault { line, what })?;
            }
        }
        Ok(())
    }

    // Adds the particle of a row of so many words.
    fn add<'a>(&self, rows: &mut Rows, count: usize, word: impl Fn(usize) -> Option<&'a str>) -> Result<(), Problem> {
        if self.has_names && count < self.names.len() {
            return Err(Problem::Absent(count));
        }
        let number = |at: usize| {
            let word = word(at).ok_or(Problem::Absent(at))?;
            self.number(word).ok_or_else(|| Problem::NoNumber(at, brief(word)))
        };
        let [x, y, z, r] = self.places;
        let position = [x.map_or(Ok(0.0), number)?, y.map_or(Ok(0.0), number)?, z.map_or(Ok(0.0), number)?];
        let radius = r.map_or(Ok(1.0), number)? * if self.has_diameters && r.is_some() { 0.5 } else { 1.0 };
        if !is_allowed(&position, radius) {
            return Err(Problem::Particle(rows.count, position, radius));
        }
        for (column, &at) in rows.columns.iter_mut().zip(&self.kept) {
            column.push(number(at)?);
        }
        rows.count += 1;
        if x.is_some() {
            rows.positions.push(position);
        }
        if r.is_some() {
            rows.radii.push(radius);
        }
        Ok(())
    }
}
