//! The particles of a simulation.

use super::material::Material;
use super::{name_of, numbered};
use std::path::PathBuf;

/// The particles of a simulation, one file or one a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Particles {
    /// A file, or a name with `%d` or `%0Nd` for the time step.
    pub path: String,
    /// Time step of the first frame.
    pub first: u32,
    /// Time steps from frame to frame.
    pub step: u32,
    /// What colours them.
    pub colour_by: ColourBy,
    /// Values at the colour map's ends; those of the first file if none are given.
    pub range: Option<[f64; 2]>,
    /// How they look where nothing colours them.
    pub material: Material,
    /// Draw the colour map with its numbers.
    pub legend: bool,
}

/// A value that every particle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourBy {
    /// None: the material's colour.
    Nothing,
    /// Its speed.
    Velocity,
    /// The pressure on it.
    Pressure,
    /// Its radius.
    Radius,
}

impl ColourBy {
    /// All, with their names.
    pub const ALL: [(ColourBy, &str); 4] = [
        (ColourBy::Nothing, "nothing"),
        (ColourBy::Velocity, "velocity"),
        (ColourBy::Pressure, "pressure"),
        (ColourBy::Radius, "radius"),
    ];
    /// The name in a scene.
    pub fn name(self) -> &'static str {
        name_of(&Self::ALL, self)
    }
}

impl Particles {
    /// The file of a frame.
    pub(crate) fn file(&self, frame: u32) -> PathBuf {
        let number = u64::from(self.first) + u64::from(frame) * u64::from(self.step);
        PathBuf::from(numbered(&self.path, number).unwrap_or_else(|| self.path.clone()))
    }
    /// Whether each frame has a file of its own.
    pub(crate) fn is_animated(&self) -> bool {
        numbered(&self.path, 0).is_some()
    }
}
