//! Particles as read from a file, whatever its layout.

use crate::assets::error::AssetError;
use crate::math::vec3::{Vec3, add, length, scale, sub};
use crate::scene::ColourBy;
use crate::scene::diagnostic::Rule;
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

impl ParticleSet {
    /// The middle of the particles, if single precision would move the smallest particle by more than a thousandth of its radius, and if
    /// the middle is farther from the origin than the particles extend around it; otherwise the origin.
    pub fn origin(&self) -> Vec3 {
        let edge = |sign: f64, i: usize| self.positions.iter().map(|p| sign * p[i]).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = ([0, 1, 2].map(|i| -edge(-1.0, i)), [0, 1, 2].map(|i| edge(1.0, i)));
        let middle = scale(add(low, high), 0.5);
        let max = |v: Vec3| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let smallest = self.radii.iter().copied().fold(f64::INFINITY, f64::min);
        let rounding = max(low).max(max(high)) * f64::from(f32::EPSILON) / 2.0;
        let is_far = rounding > MISPLACED * smallest && max(middle) > max(sub(high, middle));
        if is_far { middle } else { [0.0; 3] }
    }

    /// The values for the colors, if the scene asks for some.
    pub fn values(&self, by: ColourBy, path: &Path) -> Result<Option<Vec<f64>>, AssetError> {
        let missing = |name| {
            let what = format!("it holds no {name} to color by; give color_by = \"nothing\" or \"radius\"");
            Err(AssetError::new(path, what))
        };
        match by {
            ColourBy::Nothing => Ok(None),
            ColourBy::Radius => Ok(Some(self.radii.clone())),
            ColourBy::Pressure if self.pressures.is_empty() => missing("pressure"),
            ColourBy::Pressure => Ok(Some(self.pressures.clone())),
            ColourBy::Velocity if self.velocities.is_empty() => missing("velocity"),
            ColourBy::Velocity => Ok(Some(self.velocities.iter().map(|&v| length(v)).collect())),
        }
    }

    /// Checks that hold for every layout; `place` says where a particle stands in the file.
    pub fn check(self, path: &Path, place: impl Fn(usize) -> String) -> Result<ParticleSet, AssetError> {
        let broken = |what: String| Err(AssetError::new(path, what));
        if self.radii.is_empty() {
            return broken("it holds no particles".into());
        }
        for (i, (p, r)) in self.positions.iter().zip(&self.radii).enumerate() {
            for (what, rule, x) in
                p.iter().map(|&x| ("coordinate", Rule::Coordinate, x)).chain([("radius", Rule::Length, *r)])
            {
                if !rule.allows(x) {
                    let expected = rule.expected();
                    return broken(format!("{}: particle {i} has the {what} {x:e}; expected {expected}", place(i)));
                }
            }
        }
        Ok(self)
    }
}
