//! A time step of particles as read from a file, whatever its format: positions, radii and named columns.
//!
//! A reader makes a [`Step`] with the columns that are [`Wanted`], under the names that the file gives. The parts of a vector are columns of
//! their own: `vx`, `vy`, `vz` where the file says so, and `force.x`, `force.y`, `force.z` of an array `force`.

use super::shape::Shape;
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, scale, sub};
use crate::scene::text::diagnostic::Rule;
use rayon::prelude::*;
use std::collections::BTreeSet;

// Single precision may move a particle by at most this share of its radius.
const MISPLACED: f64 = 1e-3;

/// The name of a column of the particles' numbers in their file, which no file has.
pub const ROW: &str = "\0row";

/// A time step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The middles of the particles.
    pub positions: Vec<[f64; 3]>,
    /// None, if the file has none.
    pub radii: Vec<f64>,
    /// Values of each particle. Of a file, those that are wanted, as far as it has them.
    pub columns: Vec<Column>,
    /// The names of all columns of the file.
    pub names: Vec<String>,
    /// The simulated box, if the file has it.
    pub cell: Option<Cell>,
    /// Simulated time, if the file has it.
    pub time: Option<f64>,
    /// The number of the time step, if the file has it.
    pub number: Option<u64>,
    /// The shapes of the types 0, 1, ..., if the file has them; None is a sphere.
    pub shapes: Vec<Option<Shape>>,
    /// Pairs of particles between which there are bonds, if the file has them.
    pub bonds: Vec<[u32; 2]>,
    /// Values of each bond.
    pub bond_columns: Vec<Column>,
}

/// A value of each particle. In double precision, since numbers of particles exceed 2^24, and since colors are computed from what the file
/// says; only columns that are wanted take memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Its name. The parts of a vector are columns of their own: `force.x`, `force.y`, `force.z`.
    pub name: String,
    /// The value of each particle.
    pub values: Vec<f64>,
}

/// A box of simulation: a corner, the edges that begin there, and along which of them it repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The corner.
    pub origin: [f64; 3],
    /// The edges.
    pub vectors: [[f64; 3]; 3],
    /// Along which of them the box repeats.
    pub periodic: [bool; 3],
}

/// Which columns are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    // None: all of them.
    names: Option<BTreeSet<String>>,
}

impl Wanted {
    /// All columns.
    pub fn all() -> Wanted {
        Wanted { names: None }
    }
    /// Columns of these names, in any case.
    pub fn only<'a>(names: impl IntoIterator<Item = &'a str>) -> Wanted {
        Wanted { names: Some(names.into_iter().map(str::to_ascii_lowercase).collect()) }
    }
    /// Whether a column of that name is read.
    pub fn has(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.contains(&name.to_ascii_lowercase()))
    }
    /// The same, and these columns.
    #[must_use]
    pub fn and<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Wanted {
        let mut all = self.clone();
        if let Some(all) = &mut all.names {
            all.extend(names.into_iter().map(str::to_ascii_lowercase));
        }
        all
    }
    /// Whether a column of that name is asked for, and not only read because all are.
    pub fn asks_for(&self, name: &str) -> bool {
        self.names.is_some() && self.has(name)
    }
}

/// Some of the particles of a step.
pub struct Chunk<'a> {
    /// The number of the first.
    pub first: usize,
    pub positions: &'a mut [[f64; 3]],
    pub radii: &'a mut [f64],
    /// In the order of the step's columns.
    pub columns: Vec<&'a mut [f64]>,
}

// Particles of a chunk, and those that a thread takes at once.
const CHUNK: usize = 4096;

/// What is wrong with a particle of that number; `position` says where in its file.
pub fn fault(position: &Message, i: usize, p: &[f64; 3], r: f64) -> Option<Message> {
    let coordinates = p.iter().map(|&x| (msg!("coordinate"), Rule::Coordinate, x));
    let mut all = coordinates.chain([(msg!("radius"), Rule::Length, r)]);
    all.find(|(_, rule, x)| !rule.allows(*x)).map(|(what, rule, x)| {
        msg!(
            "{position}: particle {number} has the {what} {value}; expected {expected}",
            position,
            number = i,
            what,
            value = format_args!("{x:e}"),
            expected = rule.expected()
        )
    })
}

/// Whether a particle obeys the rules.
pub fn is_allowed(p: &[f64; 3], r: f64) -> bool {
    p.iter().all(|&x| Rule::Coordinate.allows(x)) && Rule::Length.allows(r)
}

impl Step {
    /// A step of `n` particles, to be filled, with these columns.
    pub fn empty(n: usize, columns: impl IntoIterator<Item = String>) -> Step {
        let columns = columns.into_iter().map(|name| Column { name, values: vec![0.0; n] }).collect();
        Step { positions: vec![[0.0; 3]; n], radii: vec![0.0; n], columns, ..Step::default() }
    }

    /// The particles of several steps, in order, as one. Those without particles count for nothing.
    pub fn join(steps: Vec<Step>) -> Result<Step, Message> {
        let mut all = steps.into_iter().filter(|step| step.count() > 0);
        let Some(mut joined) = all.next() else { return Err(msg!("it holds no particles")) };
        for step in all {
            let mut columns = step.columns;
            let place = |name: &str| columns.iter().position(|column| column.name == name);
            let order: Option<Vec<usize>> = joined.columns.iter().map(|column| place(&column.name)).collect();
            let order = order.filter(|order| order.len() == columns.len());
            let has_same = step.radii.is_empty() == joined.radii.is_empty()
                && step.positions.is_empty() == joined.positions.is_empty();
            let Some(order) = order.filter(|_| has_same) else {
                let (one, other) = (joined.names.join(", "), step.names.join(", "));
                return Err(msg!("its pieces have other columns: {one}; and {other}", one, other));
            };
            let first = joined.count() as u32;
            // Values that not all pieces have are left out.
            joined.bond_columns.retain_mut(|column| {
                let more = step.bond_columns.iter().find(|other| other.name == column.name);
                column.values.extend(more.iter().flat_map(|more| &more.values));
                more.is_some()
            });
            joined.bonds.extend(step.bonds.into_iter().map(|pair| pair.map(|i| i + first)));
            joined.positions.extend(step.positions);
            joined.radii.extend(step.radii);
            for (column, at) in joined.columns.iter_mut().zip(order) {
                column.values.append(&mut columns[at].values);
            }
        }
        Ok(joined)
    }

    /// The number of particles.
    pub fn count(&self) -> usize {
        let columns = self.columns.iter().map(|column| column.values.len());
        columns.chain([self.positions.len(), self.radii.len()]).max().unwrap_or(0)
    }

    /// Its box, or that of its particles.
    pub fn cell_or_bounds(&self) -> Cell {
        self.cell.unwrap_or_else(|| {
            let radius = |i: usize| self.radii.get(i).copied().unwrap_or_default();
            let all = || self.positions.iter().enumerate();
            let low = [0, 1, 2].map(|axis| all().map(|(i, p)| p[axis] - radius(i)).fold(f64::INFINITY, f64::min));
            let high = [0, 1, 2].map(|axis| all().map(|(i, p)| p[axis] + radius(i)).fold(f64::NEG_INFINITY, f64::max));
            let mut vectors = [[0.0; 3]; 3];
            (0..3).for_each(|axis| vectors[axis][axis] = high[axis] - low[axis]);
            Cell { origin: low, vectors, periodic: [false; 3] }
        })
    }

    /// The values of the first column that has one of these names, in any case.
    pub fn column(&self, names: &[&str]) -> Option<&[f64]> {
        let found = self.columns.iter().find(|column| names.iter().any(|name| name.eq_ignore_ascii_case(&column.name)));
        found.map(|column| column.values.as_slice())
    }

    /// The particles in chunks, which threads fill side by side.
    pub fn chunks(&mut self) -> Vec<Chunk<'_>> {
        let mut columns: Vec<_> = self.columns.iter_mut().map(|column| column.values.chunks_mut(CHUNK)).collect();
        let chunks = self.positions.chunks_mut(CHUNK).zip(self.radii.chunks_mut(CHUNK));
        let part = |(i, (positions, radii))| Chunk {
            first: i * CHUNK,
            positions,
            radii,
            columns: columns.iter_mut().filter_map(Iterator::next).collect(),
        };
        chunks.enumerate().map(part).collect()
    }

    /// The middle of the particles, if single precision would move the smallest particle by more than a thousandth of its radius, and if
    /// the middle is farther from the origin than the particles extend around it; otherwise the origin.
    pub fn origin(&self) -> Vec3 {
        let positions = self.positions.par_iter().with_min_len(CHUNK).map(|&p| (p, p));
        let none = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let (low, high) = positions
            .reduce(|| none, |a, b| ([0, 1, 2].map(|i| a.0[i].min(b.0[i])), [0, 1, 2].map(|i| a.1[i].max(b.1[i]))));
        let middle = scale(add(low, high), 0.5);
        let max = |v: Vec3| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let smallest = self.radii.par_iter().with_min_len(CHUNK).copied().reduce(|| f64::INFINITY, f64::min);
        let rounding = max(low).max(max(high)) * f64::from(f32::EPSILON) / 2.0;
        let is_far = rounding > MISPLACED * smallest && max(middle) > max(sub(high, middle));
        if is_far { middle } else { [0.0; 3] }
    }

    /// Checks that hold for every format; `position` says where a particle stands in the file.
    pub fn check(self, position: impl Fn(usize) -> Message) -> Result<Step, Message> {
        // A scene may give the positions or the radii of a file that has none.
        let place = |i: usize| self.positions.get(i).copied().unwrap_or_default();
        let radius = |i: usize| self.radii.get(i).copied().unwrap_or(1.0);
        let all = (0..self.count()).into_par_iter().with_min_len(CHUNK);
        let first = all.find_first(|&i| !is_allowed(&place(i), radius(i)));
        match first.and_then(|i| fault(&position(i), i, &place(i), radius(i))) {
            Some(fault) => Err(fault),
            None => Ok(self),
        }
    }
}
