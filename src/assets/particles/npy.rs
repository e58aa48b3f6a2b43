//! Arrays of numpy: `.npy` with one array of columns x, y, z and r, or of named fields; `.npz` with an array for each column.

use super::arrays::{Array, ArrayColumn, Kind, step};
use super::format::{Head, Source};
use super::plan;
use super::step::{Step, Wanted};
use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use memchr::memmem;
use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

const MAGIC: &[u8] = b"\x93NUMPY";

pub fn recognise_npy(head: &Head) -> bool {
    head.bytes.starts_with(MAGIC)
}

pub fn recognise_npz(head: &Head) -> bool {
    head.bytes.starts_with(b"PK\x03\x04")
}

// A literal of Python, as the headers have them.
#[derive(Debug)]
enum Literal {
    Text(String),
    Number(usize),
    Word(String),
    // A list, a tuple, or a dictionary as keys and values in turn.
    List(Vec<Literal>),
}

fn literal(text: &mut &str, depth: usize) -> Option<Literal> {
    *text = text.trim_start();
    let first = text.chars().next()?;
    let end = match first {
        '\'' | '"' => {
            let (inside, rest) = text[1..].split_once(first)?;
            *text = rest;
            return Some(Literal::Text(inside.to_owned()));
        }
        '(' | '[' | '{' if depth < 8 => {
            let mut all = Vec::new();
            *text = &text[1..];
            loop {
                *text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ':'));
                if text.starts_with([')', ']', '}']) {
                    *text = &text[1..];
                    return Some(Literal::List(all));
                }
                all.push(literal(text, depth + 1)?);
            }
        }
        _ => text.find(|c: char| !c.is_ascii_alphanumeric()).filter(|&end| end > 0)?,
    };
    let (word, rest) = text.split_at(end);
    *text = rest;
    Some(word.parse().map_or_else(|_| Literal::Word(word.to_owned()), Literal::Number))
}

// The kind of `<f8`, and whether its bytes are in big order.
fn kind(text: &str) -> Option<(Kind, bool)> {
    let mut chars = text.chars();
    let (order, letter) = (chars.next()?, chars.next()?);
    let letter = if letter == 'b' { 'u' } else { letter };
    Some((Kind::of(letter, chars.as_str().parse().ok()?)?, order == '>'))
}

// An array: its rows, and where its columns are.
struct Header {
    rows: usize,
    places: Vec<ArrayColumn>,
    stride: usize,
    is_big: bool,
    // Where the numbers end.
    end: usize,
}

// The columns of a plain array of that name: a vector's parts, or those of a table, which have no names.
fn columns(name: Option<&str>, count: usize) -> Vec<String> {
    match name {
        Some(name) => plan::parts(name, count),
        None => (0..count)
            .map(|i| ["x", "y", "z", "r"].get(i).map_or_else(|| i.to_string(), |&axis| axis.to_owned()))
            .collect(),
    }
}

// Where the text of a header is, by the first twelve bytes of an array.
fn header_text(bytes: &[u8]) -> Option<Range<usize>> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (length, at) = match rest.first()? {
        1 => (usize::from(u16::from_le_bytes(*rest.get(2..)?.first_chunk()?)), 10),
        _ => (u32::from_le_bytes(*rest.get(2..)?.first_chunk()?) as usize, 12),
    };
    Some(at..at.checked_add(length)?)
}

/// The bytes of an array's header, by its first twelve.
pub fn header_length(bytes: &[u8]) -> Option<usize> {
    Some(header_text(bytes)?.end)
}

/// The bytes of an array, by its header.
pub fn length(bytes: &[u8]) -> Option<usize> {
    header(bytes, None).map(|header| header.end)
}

// Reads a header; None if it is none, or not of particles.
fn header(bytes: &[u8], name: Option<&str>) -> Option<Header> {
    let Range { start: at, end: start } = header_text(bytes)?;
    let mut text = std::str::from_utf8(bytes.get(at..start)?).ok()?;
    let Literal::List(entries) = literal(&mut text, 0)? else { return None };
    let value = |key: &str| {
        let at = entries.iter().position(|entry| matches!(entry, Literal::Text(text) if text == key))?;
        entries.get(at + 1)
    };
    let is_fortran = matches!(value("fortran_order")?, Literal::Word(word) if word == "True");
    let Literal::List(shape) = value("shape")? else { return None };
    let sizes = shape.iter().map(|size| if let Literal::Number(n) = size { Some(*n) } else { None });
    let (rows, across) = match sizes.collect::<Option<Vec<_>>>()?[..] {
        [rows] => (rows, 1),
        [rows, across] if across <= 64 => (rows, across),
        _ => return None,
    };
    let (mut places, mut is_big) = (Vec::new(), false);
    let stride = match value("descr")? {
        Literal::Text(descr) => {
            let (kind, big) = kind(descr)?;
            is_big = big;
            let step = if is_fortran { rows.checked_mul(kind.size())? } else { kind.size() };
            for (i, name) in columns(name, across).into_iter().enumerate() {
                places.push(ArrayColumn { name, kind, at: i.checked_mul(step)? });
            }
            if is_fortran { kind.size() } else { across * kind.size() }
        }
        Literal::List(fields) if across == 1 => {
            let mut at = 0usize;
            for field in fields {
                let Literal::List(field) = field else { return None };
                let [Literal::Text(name), Literal::Text(descr), shape @ ..] = &field[..] else { return None };
                let count = match shape {
                    [] => 1,
                    [Literal::Number(n)] => *n,
                    [Literal::List(shape)] => match shape[..] {
                        [Literal::Number(n)] => n,
                        _ => return None,
                    },
                    _ => return None,
                };
                match kind(descr) {
                    Some((kind, big)) if count <= 64 => {
                        is_big |= big;
                        let place = |(i, name)| ArrayColumn { name, kind, at: at + i * kind.size() };
                        places.extend(plan::parts(name, count).into_iter().enumerate().map(place));
                        at += count * kind.size();
                    }
                    // Words, and gaps: |S8, |V4, <U3.
                    _ => at = at.checked_add(count.checked_mul(bytes_of(descr)?)?)?,
                }
            }
            at
        }
        _ => return None,
    };
    let size = match is_fortran {
        true => stride.checked_mul(across),
        false => Some(stride),
    };
    places.iter_mut().for_each(|place| place.at = place.at.saturating_add(start));
    let end = size?.checked_mul(rows)?.checked_add(start)?;
    Some(Header { rows, places, stride, is_big, end })
}

// The bytes of text or of nothing: `|S8`, `<U3`, `|V4`.
fn bytes_of(descr: &str) -> Option<usize> {
    let count: usize = descr.get(2..)?.parse().ok()?;
    count.checked_mul(if descr.get(1..2) == Some("U") { 4 } else { 1 })
}

// The longest header that is read.
const HEADER: usize = 1 << 16;

pub fn read_npy(source: &Source, wanted: &Wanted) -> Result<Step, AssetError> {
    array(source, wanted).map_err(|what| source.fault(what))
}

fn array(source: &Source, wanted: &Wanted) -> Result<Step, Message> {
    let length = source.content.length();
    let bytes = source.content.part(0..length.min(HEADER)).map_err(Message::text)?;
    let unknown = || msg!("byte 0: expected the header of an array of numbers, n x 3 or more, or of fields with names");
    let Header { rows, places, stride, is_big, end } = header(&bytes, None).ok_or_else(unknown)?;
    if end != length {
        return Err(msg!("it ends at byte {length}; expected {rows} rows up to byte {end}", length, rows, end));
    }
    let load = || source.content.part(0..end).map_err(Message::text);
    step(rows, &[Array { places, stride, is_big, load: Box::new(load) }], wanted, None)
}

/// Reads the arrays of an archive, each of which is a file `name.npy`.
pub fn read_npz(source: &Source, wanted: &Wanted) -> Result<Step, AssetError> {
    archive(source, wanted).map_err(|what| source.fault(what))
}

fn archive(source: &Source, wanted: &Wanted) -> Result<Step, Message> {
    let broken = || msg!("it is no whole archive (zip) of arrays: it is cut short, or damaged");
    let mut all = Vec::new();
    for entry in entries(source).ok_or_else(broken)? {
        let name = entry.name.strip_suffix(".npy").unwrap_or(&entry.name).to_owned();
        // Headers of names and words are none of columns.
        let begin = entry.read(source, HEADER).ok_or_else(broken)?;
        let Some(found) = header(&begin, Some(&name)) else { continue };
        if found.end != entry.length {
            return Err(msg!(
                "`{name}` has {length} bytes; expected {end}",
                name,
                length = entry.length,
                end = found.end
            ));
        }
        all.push((found, entry));
    }
    let of =
        |(header, _): &(Header, Entry)| header.places.iter().map(|place| (place.name.clone(), header.rows)).collect();
    let columns: Vec<Vec<(String, usize)>> = all.iter().map(of).collect();
    let (names, rows): (Vec<String>, Vec<usize>) = columns.into_iter().flatten().unzip();
    // Arrays of another length than that of the positions are of something else.
    let asked = || names.iter().position(|name| wanted.asks_for(name));
    let place = plan::coordinates(&names).map(|(position, _)| position[0]).or_else(asked);
    let count = place.map_or(0, |at| rows[at]);
    let array = |(header, entry): (Header, Entry)| {
        let Header { places, stride, is_big, .. } = header;
        let load = move || entry.read(source, usize::MAX).ok_or_else(broken);
        Array { places, stride, is_big, load: Box::new(load) }
    };
    let arrays: Vec<Array> = all.into_iter().filter(|(header, _)| header.rows == count).map(array).collect();
    step(count, &arrays, wanted, None)
}

// A file of an archive.
struct Entry {
    name: String,
    // Whether it is packed by Deflate, where it begins, and how long it is packed and unpacked.
    is_packed: bool,
    at: usize,
    packed: usize,
    length: usize,
    sum: u32,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?).into())
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}

// Bytes of a file; None past its end.
fn part<'a>(source: &Source<'a>, at: usize, length: usize) -> Option<Cow<'a, [u8]>> {
    let end = at.checked_add(length).filter(|&end| end <= source.content.length())?;
    source.content.part(at..end).ok()
}

// The directory of an archive, which is at its end (PKWARE's APPNOTE.TXT).
fn entries(source: &Source) -> Option<Vec<Entry>> {
    const END: usize = 22 + 0xffff;
    let length = source.content.length();
    let from = length.saturating_sub(END);
    let tail = part(source, from, length - from)?;
    let end = memmem::rfind(&tail, b"PK\x05\x06")?;
    // The end has a remark of that length.
    (u16_at(&tail, end + 20)? + end + 22 == tail.len()).then_some(())?;
    let (mut size, mut at) = (u32_at(&tail, end + 12)? as usize, u32_at(&tail, end + 16)? as usize);
    if at == u32::MAX as usize {
        let locator = tail.get(end.checked_sub(20)?..end)?;
        let end = part(source, u64_at(locator, 8)?, 56)?;
        (size, at) = (u64_at(&end, 40)?, u64_at(&end, 48)?);
    }
    let directory = part(source, at, size)?;
    let (mut rest, mut entries) = (&directory[..], Vec::new());
    while rest.starts_with(b"PK\x01\x02") {
        let [name, extra, comment] = [u16_at(rest, 28)?, u16_at(rest, 30)?, u16_at(rest, 32)?];
        let mut sizes = [24, 20, 42].map(|at| u32_at(rest, at).unwrap_or_default() as usize);
        // Sizes and places beyond 4 GiB.
        let mut more = rest.get(46 + name..46 + name + extra)?;
        while let (Some(kind), Some(length)) = (u16_at(more, 0), u16_at(more, 2)) {
            let large = sizes.iter_mut().filter(|size| kind == 1 && **size == u32::MAX as usize);
            for (i, size) in large.enumerate() {
                *size = u64_at(more, 4 + 8 * i)?;
            }
            more = more.get(4 + length..)?;
        }
        let [length, packed, header] = sizes;
        let local = part(source, header, 30)?;
        let is_packed = match u16_at(rest, 10)? {
            0 => false,
            8 => true,
            _ => return None,
        };
        entries.push(Entry {
            name: String::from_utf8_lossy(&rest[46..46 + name]).into_owned(),
            is_packed,
            at: header + 30 + u16_at(&local, 26)? + u16_at(&local, 28)?,
            packed,
            length,
            sum: u32_at(rest, 16)?,
        });
        rest = rest.get(46 + name + extra + comment..)?;
    }
    Some(entries)
}

impl Entry {
    // Its bytes, or the first of them; None if they are not whole.
    fn read<'a>(&self, source: &Source<'a>, most: usize) -> Option<Cow<'a, [u8]>> {
        let length = self.length.min(most);
        let bytes = match self.is_packed {
            true => {
                let packed = part(source, self.at, self.packed)?;
                let mut bytes = Vec::new();
                flate2::read::DeflateDecoder::new(&*packed).take(length as u64).read_to_end(&mut bytes).ok()?;
                Cow::Owned(bytes)
            }
            false => part(source, self.at, length)?,
        };
        let sum = || {
            let mut sum = flate2::Crc::new();
            sum.update(&bytes);
            sum.sum()
        };
        (bytes.len() == length && (length < self.length || sum() == self.sum)).then_some(bytes)
    }
}
