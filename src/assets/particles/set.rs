//! Particles as read from a file, whatever its layout.

use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, length, scale, sub};
use crate::scene::ColourBy;
use crate::scene::text::diagnostic::Rule;
use rayon::prelude::*;
use std::path::Path;

// Single precision may move a particle by at most this share of its radius.
const MISPLACED: f64 = 1e-3;

/// Particles as read from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleSet {
    pub positions: Vec<[f64; 3]>,
    pub radii: Vec<f64>,
    /// Velocities, if the file has them.
    pub velocities: Vec<[f64; 3]>,
    /// Pressures, if the file has them.
    pub pressures: Vec<f64>,
    /// Simulated time, if the file has it.
    pub time: Option<f64>,
}

/// Which values are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub velocities: bool,
    pub pressures: bool,
}

impl Wanted {
    /// All values.
    #[cfg(any(test, feature = "fuzzing"))]
    pub const ALL: Wanted = Wanted { velocities: true, pressures: true };

    /// Those that particles are colored by.
    pub fn of(by: ColourBy) -> Wanted {
        Wanted { velocities: by == ColourBy::Velocity, pressures: by == ColourBy::Pressure }
    }
}

/// Some of the particles of a set; values that are not wanted have none.
pub struct Chunk<'a> {
    /// The number of the first.
    pub first: usize,
    pub positions: &'a mut [[f64; 3]],
    pub radii: &'a mut [f64],
    pub velocities: &'a mut [[f64; 3]],
    pub pressures: &'a mut [f64],
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

impl ParticleSet {
    /// A set of `n` particles, to be filled.
    pub fn empty(n: usize, wanted: Wanted) -> ParticleSet {
        let values = |is: bool| if is { n } else { 0 };
        ParticleSet {
            positions: vec![[0.0; 3]; n],
            radii: vec![0.0; n],
            velocities: vec![[0.0; 3]; values(wanted.velocities)],
            pressures: vec![0.0; values(wanted.pressures)],
            time: None,
        }
    }

    /// The particles in chunks, which threads fill side by side.
    pub fn chunks(&mut self) -> Vec<Chunk<'_>> {
        let (mut velocities, mut pressures) = (self.velocities.chunks_mut(CHUNK), self.pressures.chunks_mut(CHUNK));
        let chunks = self.positions.chunks_mut(CHUNK).zip(self.radii.chunks_mut(CHUNK));
        let part = |(i, (positions, radii))| Chunk {
            first: i * CHUNK,
            positions,
            radii,
            velocities: velocities.next().unwrap_or_default(),
            pressures: pressures.next().unwrap_or_default(),
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

    /// The values for the colors, if the scene asks for some.
    pub fn values(&self, by: ColourBy, path: &Path) -> Result<Option<Vec<f64>>, AssetError> {
        let missing = || {
            Err(AssetError::new(
                path,
                msg!("it holds no {name} to color by; give color_by = \"nothing\" or \"radius\"", name = by.name()),
            ))
        };
        match by {
            ColourBy::Nothing => Ok(None),
            ColourBy::Radius => Ok(Some(self.radii.clone())),
            ColourBy::Pressure if self.pressures.is_empty() => missing(),
            ColourBy::Pressure => Ok(Some(self.pressures.clone())),
            ColourBy::Velocity if self.velocities.is_empty() => missing(),
            ColourBy::Velocity => {
                Ok(Some(self.velocities.par_iter().with_min_len(CHUNK).map(|&v| length(v)).collect()))
            }
        }
    }

    /// Checks that hold for every layout; `position` says where a particle stands in the file.
    pub fn check(self, path: &Path, position: impl Fn(usize) -> Message) -> Result<ParticleSet, AssetError> {
        if self.radii.is_empty() {
            return Err(AssetError::new(path, msg!("it holds no particles")));
        }
        let all = self.positions.par_iter().zip(&self.radii).enumerate().with_min_len(CHUNK);
        let first = all.find_map_first(|(i, (p, r))| (!is_allowed(p, *r)).then_some(i));
        match first.and_then(|i| fault(&position(i), i, &self.positions[i], self.radii[i])) {
            Some(fault) => Err(AssetError::new(path, fault)),
            None => Ok(self),
        }
    }
}
