//! Rows of a text, one line each, with words between blanks. Threads read parts of it.

use super::plan::{Plan, type_column};
use super::step::{Cell, Step, Wanted};
use crate::language::{Message, msg};
use crate::quote::brief;
use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

/// Some rows.
pub struct Rows<'a> {
    /// Whole lines.
    pub text: &'a [u8],
    /// The number of the first line, from 1.
    pub line: usize,
    /// How many there must be.
    pub count: usize,
    pub names: Vec<String>,
}

// What is wrong with a column of a row, which is counted from the beginning of its part.
struct Fault {
    row: usize,
    column: usize,
    word: Option<String>,
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

// Numbers, and the logical values of extended XYZ.
fn number(word: &[u8]) -> Option<f64> {
    match word {
        b"T" => Some(1.0),
        b"F" => Some(0.0),
        _ => std::str::from_utf8(word).ok()?.parse().ok(),
    }
}

/// The lines that a text begins with, up to their last line feed; None if it has fewer.
pub fn lines(text: &[u8], count: usize) -> Option<&[u8]> {
    match count {
        0 => Some(&[]),
        _ => Some(&text[..=memchr_iter(b'\n', text).nth(count - 1)?]),
    }
}

impl Rows<'_> {
    fn first(&self, at: usize) -> Option<&[u8]> {
        words(lines(self.text, 1)?).nth(at)
    }

    // The text in parts that end with a line, and the number of the lines of each.
    fn parts(&self) -> Vec<(&[u8], usize)> {
        const PART: usize = 1 << 20;
        let (mut parts, mut rest) = (Vec::new(), self.text);
        while !rest.is_empty() {
            let end = memchr(b'\n', &rest[PART.min(rest.len())..]).map_or(rest.len(), |at| PART + at + 1);
            parts.extend(rest.split_off(..end));
        }
        parts.into_par_iter().map(|part| (part, memchr_iter(b'\n', part).count())).collect()
    }

    /// The types that are words, each once, in the order of their first appearance, after those that are known already.
    pub fn labels(&self, mut known: Vec<String>) -> Vec<String> {
        let types = type_column(&self.names);
        let Some(column) = types.filter(|&at| self.first(at).is_some_and(|word| number(word).is_none())) else {
            return known;
        };
        let of_part = |(part, _)| {
            let mut found: Vec<&[u8]> = Vec::new();
            for word in <[u8]>::split(part, |&b| b == b'\n').filter_map(|line| words(line).nth(column)) {
                if number(word).is_none() && !found.contains(&word) {
                    found.push(word);
                }
            }
            found
        };
        let found: Vec<_> = self.parts().into_par_iter().map(of_part).collect();
        for word in found.concat() {
            let word = String::from_utf8_lossy(word);
            if !known.iter().any(|one| *one == word) {
                known.push(word.into_owned());
            }
        }
        known
    }

    /// Columns of these numbers, in order. A word of `labels` counts as its place there, from 1.
    pub fn read(&self, columns: &[usize], labels: &[String]) -> Result<Vec<Vec<f64>>, Message> {
        let parts = self.parts();
        let found: usize = parts.iter().map(|(_, count)| count).sum();
        if found != self.count || self.text.last().is_some_and(|&b| b != b'\n') {
            let (line, count) = (self.line + found, self.count);
            return Err(msg!("line {line}: it ends after {found} whole rows; expected {count}", line, found, count));
        }
        let mut all: Vec<Vec<f64>> = columns.iter().map(|_| vec![0.0; self.count]).collect();
        let mut rest: Vec<_> = all.iter_mut().map(Vec::as_mut_slice).collect();
        let with_place = |&(part, count): &(_, usize)| {
            (part, rest.iter_mut().filter_map(|rest| rest.split_off_mut(..count)).collect::<Vec<_>>())
        };
        let jobs: Vec<(&[u8], Vec<&mut [f64]>)> = parts.iter().map(with_place).collect();
        let types = type_column(&self.names);
        let value = |column: usize, word: &[u8]| {
            let label = || labels.iter().position(|label| label.as_bytes() == word).map(|at| at as f64 + 1.0);
            number(word).or_else(|| if types == Some(column) { label() } else { None })
        };
        let read = |(part, mut values): (&[u8], Vec<&mut [f64]>)| {
            for (row, line) in part.split_inclusive(|&b| b == b'\n').enumerate() {
                let (mut words, mut next) = (words(line), 0);
                for (&column, values) in columns.iter().zip(&mut values) {
                    let word = words.nth(column - next);
                    let fault =
                        || Fault { row, column, word: word.map(|word| String::from_utf8_lossy(word).into_owned()) };
                    values[row] = word.and_then(|word| value(column, word)).ok_or_else(fault)?;
                    next = column + 1;
                }
            }
            Ok(())
        };
        let results: Vec<Result<(), Fault>> = jobs.into_par_iter().map(read).collect();
        let mut line = self.line;
        for (result, (_, count)) in results.into_iter().zip(parts) {
            result.map_err(|fault| self.fault(line, &fault))?;
            line += count;
        }
        Ok(all)
    }

    fn fault(&self, line: usize, fault: &Fault) -> Message {
        let (line, column, name) = (line + fault.row, fault.column + 1, &self.names[fault.column]);
        match &fault.word {
            None => msg!("line {line}: it has no `{name}` (column {column})", line, name, column),
            Some(word) => {
                let text = brief(word);
                msg!("line {line}, column {column}: `{text}` is not a number for `{name}`", line, column, text, name)
            }
        }
    }

    /// The step of these rows. Types that are words get numbers, by `known` first.
    pub fn step(&self, wanted: &Wanted, cell: Option<Cell>, known: &[String]) -> Result<Step, Message> {
        let types = type_column(&self.names);
        let is_number = |at| Some(at) == types || self.first(at).is_none_or(|word| number(word).is_some());
        let plan = Plan::new(self.names.clone(), wanted, is_number)?;
        let needed = plan.needed();
        let is_typed = types.is_some_and(|at| needed.contains(&at));
        let labels = if is_typed { self.labels(known.to_vec()) } else { Vec::new() };
        let mut columns = self.read(&needed, &labels)?;
        let step = plan.step(cell, |at| {
            let i = needed.binary_search(&at).unwrap_or_default();
            Ok(std::mem::take(&mut columns[i]))
        })?;
        step.check(|i| msg!("line {line}", line = self.line + i))
    }
}
