//! The particles of a simulation.

use crate::language::msg;
use crate::scene::keys::keys;
use crate::scene::keys::read::Table;
use crate::scene::keys::words::names;
use crate::scene::limits::MAX_FRAMES;
use crate::scene::numbered;
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::material::Material;
use std::path::PathBuf;

keys! {
    /// The particles of a simulation, one file or one a frame.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Particles in "particles" {
        /// The file, or a name with `%d` or `%0Nd` for the time step: one file for each frame.
        pub path: PathBuf = PathBuf::new(), required(), group("Files"), spelled();
        /// Time step of the first frame.
        pub first: u32 = 0, rule(Rule::Whole(0, MAX_FRAMES)), slider(0.0, 100.0), spelled();
        /// Time steps from frame to frame.
        pub step: u32 = 1, rule(Rule::Whole(1, MAX_FRAMES)), slider(1.0, 10.0), spelled();
        /// The value that selects the color.
        pub colour_by as "color_by": ColourBy = ColourBy::Nothing, group("Color map"), spelled();
        /// Draws the color map with its numbers.
        pub legend: bool = false, spelled();
        /// Values at the ends of the color map; by default those of the first file.
        pub range: Option<[f64; 2]> = None;
        /// How they look where nothing colors them.
        pub material: Material = Material::default(), flat();
    }

    fn check(&mut self, table: &mut Table) {
        if self.range.is_some_and(|[low, high]| low.partial_cmp(&high) != Some(std::cmp::Ordering::Less)) {
            table.problem_at("range", msg!("`range` is empty"), msg!("two numbers, the lower first"));
        }
    }
}

names! {
    /// A value that every particle has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ColourBy {
        /// None: the material's color.
        Nothing = "nothing",
        /// Its speed.
        Velocity = "velocity",
        /// Its pressure.
        Pressure = "pressure",
        /// Its radius.
        Radius = "radius",
    }
}

impl Particles {
    pub(crate) fn file(&self, frame: u32) -> PathBuf {
        let number = u64::from(self.first) + u64::from(frame) * u64::from(self.step);
        numbered(&self.path.to_string_lossy(), number).map_or_else(|| self.path.clone(), PathBuf::from)
    }
    /// Whether each frame has its own particle file.
    pub(crate) fn is_animated(&self) -> bool {
        numbered(&self.path.to_string_lossy(), 0).is_some()
    }
}
