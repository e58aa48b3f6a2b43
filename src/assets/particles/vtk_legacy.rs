//! VTK's legacy files of points, `.vtk`: POLYDATA or UNSTRUCTURED_GRID with data of points, as text or binary in big order.

use super::arrays::{Array, Kind, step};
use super::format::{Head, Source};
use super::step::{Step, Wanted};
use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use crate::quote::brief;
use std::borrow::Cow;

const MAGIC: &[u8] = b"# vtk DataFile";

pub fn recognise(head: &Head) -> bool {
    head.bytes.starts_with(MAGIC)
}

// The file from a byte on.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    is_binary: bool,
}

// Numbers of the file.
struct Numbers<'a> {
    name: String,
    kind: Kind,
    columns: usize,
    // Of all rows.
    count: usize,
    bytes: &'a [u8],
}

impl<'a> Numbers<'a> {
    fn array(self, is_binary: bool) -> Array<'a> {
        let Numbers { name, kind, columns, count, bytes } = self;
        if is_binary {
            return Array::of_rows(&name, columns, kind, true, Box::new(move || Ok(Cow::Borrowed(bytes))));
        }
        let called = name.clone();
        let load = move || {
            let bytes = std::str::from_utf8(bytes).ok().and_then(|text| kind.parse(text, count));
            Ok(bytes.ok_or_else(|| msg!("`{name}` has a value that is no number", name = called))?.into())
        };
        Array::of_rows(&name, columns, kind.of_text(), false, Box::new(load))
    }
}

impl Numbers<'_> {
    fn first(&self, is_binary: bool) -> Option<f64> {
        match is_binary {
            true => self.bytes.get(..self.kind.size()).map(|bytes| self.kind.read(bytes, true)),
            false => std::str::from_utf8(self.bytes).ok()?.split_ascii_whitespace().next()?.parse().ok(),
        }
    }
}

fn kind_of(word: &str) -> Option<Kind> {
    Some(match word {
        "float" => Kind::F4,
        "double" => Kind::F8,
        "char" | "vtktypeint8" => Kind::I1,
        "unsigned_char" | "vtktypeuint8" => Kind::U1,
        "short" | "vtktypeint16" => Kind::I2,
        "unsigned_short" | "vtktypeuint16" => Kind::U2,
        "int" | "vtktypeint32" | "vtkIdType" => Kind::I4,
        "unsigned_int" | "vtktypeuint32" => Kind::U4,
        "long" | "vtktypeint64" => Kind::I8,
        "unsigned_long" | "vtktypeuint64" => Kind::U8,
        _ => return None,
    })
}

impl<'a> Cursor<'a> {
    // The next line that is not blank; None at the end of the file.
    fn line(&mut self) -> Option<&'a str> {
        loop {
            let rest = &self.bytes[self.at..];
            let end = memchr::memchr(b'\n', rest)?;
            self.at += end + 1;
            let line = std::str::from_utf8(&rest[..end]).ok()?.trim();
            if !line.is_empty() {
                return Some(line);
            }
        }
    }

    // Passes over so many numbers.
    fn numbers(&mut self, count: usize, kind: Kind) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let end = match self.is_binary {
            true => count.checked_mul(kind.size())?,
            false => {
                let mut end = 0;
                for _ in 0..count {
                    end += rest[end..].iter().position(|b| !b.is_ascii_whitespace())?;
                    // The last number may be cut.
                    end += rest[end..].iter().position(u8::is_ascii_whitespace)?;
                }
                end
            }
        };
        self.at += end;
        rest.get(..end)
    }

    // A section that names an array; its numbers.
    fn array(&mut self, name: &str, kind: &str, columns: usize, rows: usize) -> Option<Numbers<'a>> {
        let kind = kind_of(kind)?;
        let count = rows.checked_mul(columns)?;
        Some(Numbers { name: decoded(name), kind, columns, count, bytes: self.numbers(count, kind)? })
    }

    fn field(&mut self, count: usize) -> Option<Vec<Numbers<'a>>> {
        let mut all = Vec::new();
        while all.len() < count {
            let words: Vec<&str> = self.line()?.split_ascii_whitespace().collect();
            match words[..] {
                ["METADATA"] => self.metadata(),
                [name, columns, rows, kind] => {
                    all.push(self.array(name, kind, columns.parse().ok()?, rows.parse().ok()?)?)
                }
                _ => return None,
            }
        }
        Some(all)
    }

    // Passes over remarks about an array, up to a blank line.
    fn metadata(&mut self) {
        while let Some(end) = memchr::memchr(b'\n', &self.bytes[self.at..]) {
            let is_blank = self.bytes[self.at..self.at + end].trim_ascii().is_empty();
            self.at += end + 1;
            if is_blank {
                return;
            }
        }
    }
}

// `my%20value` is `my value`.
fn decoded(name: &str) -> String {
    let mut parts = name.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => text.extend([char::from(code).to_string().as_str(), &part[2..]]),
            None => text.extend(["%", part]),
        }
    }
    text
}

// What is read of a file so far.
#[derive(Default)]
struct Data<'a> {
    points: Option<(usize, Numbers<'a>)>,
    // Whether arrays are of points, and how many there are: of POINT_DATA or of CELL_DATA.
    rows: usize,
    is_of_points: bool,
    arrays: Vec<Numbers<'a>>,
    time: Option<f64>,
}

impl<'a> Data<'a> {
    fn section(&mut self, cursor: &mut Cursor<'a>, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let whole = |word: &str| word.parse::<usize>().ok();
        let mut add = |array| {
            if self.is_of_points {
                self.arrays.push(array);
            }
        };
        match words[..] {
            ["DATASET", "POLYDATA" | "UNSTRUCTURED_GRID"] => {}
            ["METADATA"] => cursor.metadata(),
            ["POINTS", rows, kind] => {
                let rows = whole(rows)?;
                self.points = Some((rows, cursor.array("position", kind, 3, rows)?));
            }
            ["POINT_DATA", rows] => (self.rows, self.is_of_points) = (whole(rows)?, true),
            ["CELL_DATA", rows] => (self.rows, self.is_of_points) = (whole(rows)?, false),
            ["SCALARS", name, kind, ref columns @ ..] => {
                let columns = columns.first().map_or(Some(1), |count| whole(count))?;
                cursor.line().filter(|line| line.starts_with("LOOKUP_TABLE"))?;
                add(cursor.array(name, kind, columns, self.rows)?);
            }
            ["VECTORS" | "NORMALS", name, kind] => add(cursor.array(name, kind, 3, self.rows)?),
            ["TENSORS", name, kind] => add(cursor.array(name, kind, 9, self.rows)?),
            ["FIELD", _, count] => {
                let fields = cursor.field(whole(count)?)?;
                // Before the points, fields are of the file.
                if self.rows == 0 {
                    let is_time = |field: &&Numbers| ["TIME", "TimeValue"].contains(&field.name.as_str());
                    self.time = fields.iter().find(is_time).and_then(|field| field.first(cursor.is_binary));
                }
                fields.into_iter().filter(|field| !field.bytes.is_empty() && self.rows > 0).for_each(add);
            }
            ["LOOKUP_TABLE", _, count] => drop(cursor.numbers(whole(count)?.checked_mul(4)?, Kind::U1)?),
            ["CELL_TYPES", count] => drop(cursor.numbers(whole(count)?, Kind::I4)?),
            ["VERTICES" | "LINES" | "POLYGONS" | "TRIANGLE_STRIPS" | "CELLS", count, size] => {
                self.cells(cursor, whole(count)?, whole(size)?)?;
            }
            _ => return None,
        }
        Some(())
    }

    // Cells: counts and points of each, or, from version 5 on, two lists.
    fn cells(&mut self, cursor: &mut Cursor<'a>, count: usize, size: usize) -> Option<()> {
        if !cursor.bytes[cursor.at..].starts_with(b"OFFSETS") {
            cursor.numbers(size, Kind::I4)?;
            return Some(());
        }
        for (name, count) in [("OFFSETS", count), ("CONNECTIVITY", size)] {
            let kind = kind_of(cursor.line()?.strip_prefix(name)?.trim())?;
            cursor.numbers(count, kind)?;
        }
        Some(())
    }
}

pub fn read(source: &Source, wanted: &Wanted) -> Result<Step, AssetError> {
    points(source, wanted).map_err(|what| source.fault(what))
}

fn points(source: &Source, wanted: &Wanted) -> Result<Step, Message> {
    let bytes = source.content.part(0..source.content.length()).map_err(Message::text)?;
    let mut cursor = Cursor { bytes: &bytes, at: 0, is_binary: false };
    // Behind the title, which may be blank.
    let mut header = (0..3).filter_map(|_| cursor.line()).filter(|line| ["ASCII", "BINARY"].contains(line));
    cursor.is_binary =
        header.next().ok_or_else(|| msg!("byte 0: expected ASCII or BINARY in the third line"))? == "BINARY";
    let mut data = Data::default();
    let mut before = cursor.at;
    while let Some(line) = cursor.line() {
        let wrong = || {
            msg!(
                "byte {byte}: `{line}` is not whole, or not known in a file of points",
                byte = before,
                line = brief(line)
            )
        };
        data.section(&mut cursor, line).ok_or_else(wrong)?;
        before = cursor.at;
    }
    if !bytes[cursor.at..].trim_ascii().is_empty() {
        return Err(msg!("byte {byte}: it ends in the middle of a line", byte = cursor.at));
    }
    let Some((count, points)) = data.points else { return Err(msg!("it has no POINTS")) };
    let all = [points].into_iter().chain(data.arrays);
    let arrays: Vec<Array> = all.map(|numbers| numbers.array(cursor.is_binary)).collect();
    Ok(Step { time: data.time, ..step(count, &arrays, wanted, None)? })
}
