//! Dumps of LAMMPS and LIGGGHTS as text: steps one after the other, each with its own box, count and columns. `dump custom`, `dump atom`
//! and their like write them.

use super::format::{Head, Source, Steps};
use super::rows::{Rows, lines};
use super::step::{Cell, Step, Wanted};
use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use memchr::{memchr_iter, memmem};
use rayon::prelude::*;
use std::io;

pub fn recognise(head: &Head) -> bool {
    head.bytes.starts_with(b"ITEM: ")
}

// Where a step begins: its byte, and its line from 1.
#[derive(Clone, Copy)]
struct Start {
    byte: usize,
    line: usize,
}

struct Dump {
    starts: Vec<Start>,
    // The length of the file.
    end: usize,
    // The words of types in the first step.
    labels: Vec<String>,
}

/// Finds the steps. A step is what stands before the next heading behind its atoms.
pub fn open(source: &Source) -> Result<Box<dyn Steps>, AssetError> {
    find(source).map_err(|what| source.fault(what))
}

fn find(source: &Source) -> Result<Box<dyn Steps>, Message> {
    const BLOCK: usize = 4 << 20;
    const HEADING: &[u8] = b"\nITEM: ";
    const ATOMS: &[u8] = b"ATOMS";
    let length = source.content.length();
    let blocks: Vec<usize> = (0..length).step_by(BLOCK).collect();
    // The headings that begin in a block, whether they are of atoms, and how many lines are before them in the block; and all of its lines.
    type Found = (Vec<(usize, bool, usize)>, usize);
    let find = |from: usize| -> io::Result<Found> {
        let overlap = HEADING.len() + ATOMS.len();
        let bytes = source.content.part(from..length.min(from + BLOCK + overlap))?;
        let own = &bytes[..bytes.len().min(BLOCK)];
        let (mut found, mut line, mut counted) = (Vec::new(), 0, 0);
        for at in memmem::find_iter(&bytes, HEADING).take_while(|&at| at < BLOCK) {
            line += memchr_iter(b'\n', &own[counted..=at]).count();
            counted = at + 1;
            found.push((from + at + 1, bytes[at + HEADING.len()..].starts_with(ATOMS), line));
        }
        Ok((found, line + memchr_iter(b'\n', &own[counted..]).count()))
    };
    let found: io::Result<Vec<_>> = blocks.into_par_iter().map(find).collect();
    let (mut starts, mut is_behind, mut line) = (vec![Start { byte: 0, line: 1 }], false, 1);
    for (headings, count) in found.map_err(Message::text)? {
        for (byte, is_atoms, before) in headings {
            if is_behind {
                starts.push(Start { byte, line: line + before });
            }
            is_behind = is_atoms;
        }
        line += count;
    }
    let mut dump = Dump { starts, end: length, labels: Vec::new() };
    dump.labels = dump.with(source, 0, |rows, _| Ok(rows.labels(source.labels.to_vec())))?;
    Ok(Box::new(dump))
}

// The header of a step.
#[derive(Default)]
struct Header {
    number: Option<u64>,
    time: Option<f64>,
    count: Option<usize>,
    cell: Option<Cell>,
}

impl Header {
    // Reads the lines that follow a heading.
    fn read(&mut self, heading: &str, lines: &[&str]) -> Option<()> {
        match (heading, lines) {
            ("TIMESTEP", [number]) => self.number = Some(number.trim().parse().ok()?),
            ("NUMBER OF ATOMS", [count]) => self.count = Some(count.trim().parse().ok()?),
            ("TIME", [time]) => self.time = Some(time.trim().parse().ok()?),
            ("UNITS", [_]) => {}
            (_, rows @ [_, _, _]) => self.cell = Some(cell(heading.strip_prefix("BOX BOUNDS")?, rows)?),
            _ => return None,
        }
        Some(())
    }
}

// A box: bounds, tilts, or the vectors of any box.
fn cell(words: &str, rows: &[&str]) -> Option<Cell> {
    let numbers = |row: &&str| row.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>();
    let rows = rows.iter().map(numbers).collect::<Option<Vec<_>>>()?;
    let bounds: Vec<&str> = words.split_whitespace().collect();
    let is_periodic = |axis: usize| bounds.iter().rev().nth(2 - axis) == Some(&"pp");
    let periodic = [0, 1, 2].map(is_periodic);
    if bounds.first() == Some(&"abc") {
        let rows: [[f64; 4]; 3] = [*rows[0].first_chunk()?, *rows[1].first_chunk()?, *rows[2].first_chunk()?];
        let vectors = rows.map(|[x, y, z, _]| [x, y, z]);
        return Some(Cell { origin: rows.map(|row| row[3]), vectors, periodic });
    }
    let bound = |i: usize| rows[i].first_chunk::<2>().copied();
    let tilt = |i: usize| if bounds.first() == Some(&"xy") { rows[i].get(2).copied() } else { Some(0.0) };
    let ([x, right], [y, back], [z, top]) = (bound(0)?, bound(1)?, bound(2)?);
    Some(Cell::from_bounds([x, right, y, back, z, top], [tilt(0)?, tilt(1)?, tilt(2)?], periodic))
}

impl Dump {
    fn with<T>(
        &self,
        source: &Source,
        step: usize,
        job: impl FnOnce(&Rows, Header) -> Result<T, Message>,
    ) -> Result<T, Message> {
        let start = self.starts[step];
        let end = self.starts.get(step + 1).map_or(self.end, |next| next.byte);
        let bytes = source.content.part(start.byte..end).map_err(Message::text)?;
        let (mut rest, mut line, mut header) = (&bytes[..], start.line, Header::default());
        loop {
            let wrong =
                |line: usize| msg!("line {line}: expected a heading of LAMMPS, `ITEM: ...`, and its values", line);
            let heading = lines(rest, 1).and_then(|line| std::str::from_utf8(line).ok());
            let heading = heading.and_then(|line| line.strip_prefix("ITEM: ")).ok_or_else(|| wrong(line))?;
            let after = "ITEM: ".len() + heading.len();
            if let Some(names) = heading.strip_prefix("ATOMS") {
                let names = names.split_whitespace().map(str::to_owned).collect();
                let count = header.count.ok_or_else(|| wrong(line))?;
                return job(&Rows { text: &rest[after..], line: line + 1, count, names }, header);
            }
            let count = if heading.starts_with("BOX") { 3 } else { 1 };
            let body = lines(&rest[after..], count).ok_or_else(|| wrong(line))?;
            let values: Vec<&str> = std::str::from_utf8(body).map_err(|_| wrong(line))?.lines().collect();
            header.read(heading.trim(), &values).ok_or_else(|| wrong(line))?;
            (rest, line) = (&rest[after + body.len()..], line + 1 + count);
        }
    }
}

impl Steps for Dump {
    fn count(&self) -> usize {
        self.starts.len()
    }
    fn labels(&self) -> &[String] {
        &self.labels
    }
    fn read(&self, source: &Source, step: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        self.step(source, step, wanted).map_err(|what| source.fault(what))
    }
}

impl Dump {
    fn step(&self, source: &Source, step: usize, wanted: &Wanted) -> Result<Step, Message> {
        self.with(source, step, |rows, header| {
            let step = rows.step(wanted, header.cell, &self.labels)?;
            Ok(Step { number: header.number, time: header.time, ..step })
        })
    }
}
