//! Binary dumps of LAMMPS and LIGGGHTS, as 64-bit programs of little byte order write them. Since 2020 a step begins with a name and tells its
//! columns. Before, it does not: five columns are then those of `dump atom`.

use super::arrays::{Array, ArrayColumn, Kind, step};
use super::format::{Head, Source, Steps};
use super::step::{Cell, Step, Wanted};
use crate::assets::error::AssetError;
use crate::language::{Message, msg};

// The header of a step, and the blocks of numbers that processes wrote.
struct Header {
    number: u64,
    count: usize,
    cell: Cell,
    time: Option<f64>,
    names: Option<Vec<String>>,
    columns: usize,
    // The byte and the length of each.
    blocks: Vec<(usize, usize)>,
}

// A file from a byte on, of which some bytes are in memory.
struct Cursor<'a> {
    source: &'a Source<'a>,
    at: usize,
}

impl Cursor<'_> {
    fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.source.content.length())?;
        let bytes = self.source.content.part(self.at..end).ok()?;
        self.at = end;
        Some(bytes.into_owned())
    }
    fn i32(&mut self) -> Option<i32> {
        Some(i32::from_le_bytes(*self.bytes(4)?.first_chunk()?))
    }
    fn i64(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(*self.bytes(8)?.first_chunk()?))
    }
    fn f64(&mut self) -> Option<f64> {
        Some(f64::from_bits(self.i64()? as u64))
    }
    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.i32()?).ok()?;
        String::from_utf8(self.bytes(length)?).ok()
    }

    fn header(&mut self) -> Option<Header> {
        let mut number = self.i64()?;
        let (mut names, mut time, mut revision) = (None, None, 0);
        if number < 0 {
            let name = self.bytes(usize::try_from(number.checked_neg()?).ok().filter(|&length| length < 64)?)?;
            name.starts_with(b"DUMP").then_some(())?;
            (self.i32()? == 1).then_some(())?;
            (revision, number) = (self.i32()?, self.i64()?);
        }
        let count = usize::try_from(self.i64()?).ok()?;
        let is_tilted = match self.i32()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let mut periodic = [true; 3];
        for axis in &mut periodic {
            let [low, high] = [self.i32()?, self.i32()?];
            ((0..4).contains(&low) && (0..4).contains(&high)).then_some(())?;
            *axis = low == 0;
        }
        let mut bounds = [0.0; 6];
        for bound in &mut bounds {
            *bound = self.f64().filter(|bound| bound.is_finite())?;
        }
        let tilts = if is_tilted { [self.f64()?, self.f64()?, self.f64()?] } else { [0.0; 3] };
        let columns = usize::try_from(self.i32()?).ok().filter(|count| (1..=4096).contains(count))?;
        if revision > 1 {
            let _units = self.text()?;
            if self.bytes(1)? != [0] {
                time = Some(self.f64()?);
            }
            names = Some(self.text()?.split_whitespace().map(str::to_owned).collect());
        }
        let mut blocks = Vec::new();
        for _ in 0..self.i32()? {
            let length = usize::try_from(self.i32()?).ok()?.checked_mul(8)?;
            blocks.push((self.at, length));
            self.at = self.at.checked_add(length).filter(|&end| end <= self.source.content.length())?;
        }
        let found: usize = blocks.iter().map(|(_, length)| length / 8).sum();
        (count.checked_mul(columns) == Some(found)).then_some(())?;
        let cell = Cell::from_bounds(bounds, tilts, periodic);
        Some(Header { number: number as u64, count, cell, time, names, columns, blocks })
    }
}

pub fn recognise(head: &Head) -> bool {
    let name = head.bytes.get(8..12) == Some(b"DUMP") && head.bytes[..8].ends_with(&[0xff; 4]);
    // Old headers: triclinic, and kinds of boundaries from 0 to 3.
    let small = |at: usize| head.bytes.get(at..at + 4).is_some_and(|b| b[0] < 4 && b[1..] == [0; 3]);
    let is_old = (16..44).step_by(4).all(small) && head.bytes.get(7).is_some_and(|b| *b == 0);
    let count =
        head.bytes.get(8..16).and_then(|bytes| bytes.first_chunk()).map_or(u64::MAX, |&b| u64::from_le_bytes(b));
    name || is_old && count < 1 << 40
}

struct Dump(Vec<usize>);

/// Finds the steps, by the lengths of their blocks.
pub fn open(source: &Source) -> Result<Box<dyn Steps>, AssetError> {
    find(source).map_err(|what| source.fault(what))
}

fn find(source: &Source) -> Result<Box<dyn Steps>, Message> {
    let (mut starts, mut cursor) = (Vec::new(), Cursor { source, at: 0 });
    while cursor.at < source.content.length() {
        starts.push(cursor.at);
        header(&mut cursor)?;
    }
    Ok(Box::new(Dump(starts)))
}

fn header(cursor: &mut Cursor) -> Result<Header, Message> {
    let byte = cursor.at;
    cursor.header().ok_or_else(|| {
        msg!("byte {byte}: expected the header of a step and its blocks; it is cut short, or damaged", byte)
    })
}

fn unnamed(columns: usize) -> Message {
    msg!(
        "its headers do not name the {columns} columns, as those of before 2021 do not: write it as text, or by a newer program",
        columns
    )
}

impl Steps for Dump {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn read(&self, source: &Source, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        self.step(source, number, wanted).map_err(|what| source.fault(what))
    }
}

impl Dump {
    fn step(&self, source: &Source, number: usize, wanted: &Wanted) -> Result<Step, Message> {
        let header = header(&mut Cursor { source, at: self.0[number] })?;
        let is_named = header.names.is_some();
        let names = match header.names {
            Some(names) if names.len() == header.columns => names,
            None if header.columns == 5 => ["id", "type", "x", "y", "z"].map(str::to_owned).into(),
            _ => return Err(unnamed(header.columns)),
        };
        let place = |(i, name)| ArrayColumn { name, kind: Kind::F8, at: 8 * i };
        let places = names.into_iter().enumerate().map(place).collect();
        let load = || {
            let mut all = Vec::new();
            for &(at, length) in &header.blocks {
                all.extend_from_slice(&source.content.part(at..at + length).map_err(Message::text)?);
            }
            Ok(all.into())
        };
        let array = Array { places, stride: 8 * header.columns, is_big: false, load: Box::new(load) };
        let mut read = step(header.count, &[array], wanted, Some(header.cell))?;
        if !is_named {
            // Shares of the box, as `dump atom` writes them; some atoms are a little outside.
            if !read.positions.as_flattened().iter().all(|share| (-0.5..=1.5).contains(share)) {
                return Err(unnamed(header.columns));
            }
            read.positions.iter_mut().for_each(|p| *p = header.cell.unscaled(*p));
        }
        Ok(Step { number: Some(header.number), time: header.time, ..read })
    }
}
