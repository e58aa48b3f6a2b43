//! The particles of a simulation.

use crate::language::msg;
use crate::math::colormap::ColourMap;
use crate::math::vec3::Vec3;
use crate::scene::keys::read::Table;
use crate::scene::keys::write::Lines;
use crate::scene::keys::{Key, Value, keys};
use crate::scene::limits::MAX_FRAMES;
use crate::scene::numbered;
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::colouring::{ColourBy, ColumnNames, TypeRadii, ValueRange, ValueScale};
use crate::scene::world::links::{Arrows, Bonds, Cut, Trails};
use crate::scene::world::material::{Material, MaterialKind};
use crate::scene::world::particle_shape::ParticleShape;
use crate::scene::world::series;
use std::path::PathBuf;

keys! {
    /// The particles of a simulation, one file or one a frame.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Particles in "particles" {
        /// The file, of one time step or of several; or one file for each step: a name with `%d` or `%0Nd` for its number, a folder, or a name with
        /// `*`. A `%` alone stands for the pieces that several processes wrote.
        pub path: PathBuf = PathBuf::new(), required(), group("Files"), spelled();
        /// Time step of the first frame.
        pub first: u32 = 0, rule(Rule::Whole(0, MAX_FRAMES)), slider(0.0, 100.0), spelled();
        /// Time steps from frame to frame; 0 shows the first one in all frames.
        pub step: u32 = 1, rule(Rule::Whole(0, MAX_FRAMES)), slider(1.0, 10.0), spelled();
        /// Frames from one time step to the next, between which particles move straight; those of two steps are known by their column `id`, or by
        /// their order.
        pub interpolate: u32 = 1, rule(Rule::Whole(1, 1000)), slider(1.0, 10.0);
        /// Columns of the file by other names, or expressions of them: `{ position = ["px", "py", "pz"], radius = "d/2" }`.
        pub columns: Option<ColumnNames> = None;
        /// The radius of all particles, whatever the file says.
        pub radius: Option<f64> = None, rule(Rule::Length);
        /// Radii of the particles by their column `type`: `{ 1 = 0.3, 2 = 0.5 }`.
        pub radii: Option<TypeRadii> = None;
        /// Their shape; by default that of the file, or spheres: `sphere`, a solid such as `octahedron`, whose corners are a radius from the middle, or
        /// the corners of a convex body in the file's unit of length: `[[1, 0, 0], ...]`, or `{ vertices = [[1, 0, 0], ...], rounding = 0.1 }`.
        /// `capsule` and `cylinder` lie along z; between two `vertices` they have any length: a capsule with a `rounding`, a cylinder with a `radius`.
        pub shape: Option<ParticleShape> = None;
        /// Bonds between particles.
        pub bonds: Option<Bonds> = None;
        /// Arrows for a vector of each particle.
        pub arrows: Option<Arrows> = None;
        /// The paths of particles over the time steps before; those of two steps are known by their column `id`, or by their order.
        pub trails: Option<Trails> = None;
        /// Planes that cut particles, bonds, arrows and trails open: `[[particles.cut]]`.
        pub cuts as "cut": Vec<Cut> = Vec::new();
        /// Which particles are shown: a condition such as `type == 2 && z < 0.1`.
        pub only as "where": String = String::new(), group("Selection");
        /// Shows one of so many particles.
        pub every: u32 = 1, rule(Rule::Whole(1, MAX_FRAMES)), slider(1.0, 10.0);
        /// Copies of the particles along the edges of the file's box, those of the box within.
        pub images: Vec3 = [1.0; 3], rule(Rule::Whole(1, 100)), slider(1.0, 4.0);
        /// What selects the color: `nothing`, a column of the file, or an expression such as `0.5*mass*speed^2`.
        pub colour_by as "color_by": ColourBy = ColourBy::default(), group("Color map"), spelled();
        /// The color map: a name, one that ends in `_r` for the reverse, or a list of colors. Maps such as `tableau10` have a color for each whole number.
        pub map: ColourMap = ColourMap::default();
        /// Draws the color map with its numbers.
        pub legend: bool = false, spelled();
        /// The ends of the color map: two values; or the least and the greatest one of the `first` time step, of all (`film`) or of each `frame`, perhaps
        /// without the outermost (`1%..99%`) or `symmetric` about 0.
        pub range: ValueRange = ValueRange::default();
        /// What lies between the ends.
        pub scale: ValueScale = ValueScale::Linear;
        /// The time steps in the file, once it is read.
        pub steps: u32 = 0, elsewhere();
        /// The files that a folder or a name with `*` stands for; none for other names.
        pub names: Vec<PathBuf> = Vec::new(), elsewhere();
        /// How they look where nothing colors them.
        pub material: Material = Material::default(), flat();
    }

    fn check(&mut self, table: &mut Table) {
        self.names = series::files(&self.path);
        if let ValueRange::Ends([low, high]) = self.range {
            if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
                table.problem_at("range", msg!("`range` is empty"), msg!("two numbers, the lower first"));
            } else if self.scale == ValueScale::Log && low <= 0.0 {
                table.problem_at("range", msg!("a logarithmic scale has no {number}", number = low), msg!("two numbers above 0"));
            }
        }
        if !self.cuts.is_empty() && matches!(self.material.kind, MaterialKind::Light { .. }) {
            table.problem_at("cut", msg!("particles that shine cannot be cut open"), msg!("another `material`"));
        }
        if self.legend && self.range.is_of_each_frame() {
            table.problem_at("range", msg!("the ranges of the frames differ"), msg!("\"film\" beside `legend`, which shows one range"));
        }
    }
}

// They are found, and not given.
impl Value for Vec<PathBuf> {
    fn read(&mut self, _: &'static Key, _: &mut Table) {}
    fn list(&self, _: &'static Key, _: &mut Lines) {}
}

impl Particles {
    /// The file of a frame.
    pub(crate) fn file(&self, frame: u32) -> PathBuf {
        self.file_of(self.number(frame))
    }
    /// The file of a time step.
    pub(crate) fn file_of(&self, number: u64) -> PathBuf {
        let number = if self.names.len() == 1 { 0 } else { number };
        let named = usize::try_from(number).ok().and_then(|number| self.names.get(number));
        let numbered = || numbered(&self.path.to_string_lossy(), number).map(PathBuf::from);
        named.cloned().or_else(numbered).unwrap_or_else(|| self.path.clone())
    }
    /// The number of a frame's time step: in the name of its file, among the files, or within the one file.
    pub(crate) fn number(&self, frame: u32) -> u64 {
        u64::from(self.first) + u64::from(frame / self.interpolate) * u64::from(self.step)
    }
    /// The time steps of a frame's trails before its own, the latest first, as far as there are any. Between two steps the first of them is one, too.
    pub(crate) fn before(&self, frame: u32) -> impl Iterator<Item = u64> + '_ {
        let (latest, each) = (self.number(frame), u64::from(self.step.max(1)));
        let first = u64::from(self.share(frame) == 0.0);
        let steps = self.trails.as_ref().map(|trails| first..=trails.steps.into());
        let earlier = steps.into_iter().flatten().map_while(move |k| latest.checked_sub(k * each));
        earlier.take_while(|number| !self.is_series() || self.file_of(*number).exists())
    }
    /// The first frame of the next time step, towards which those before it move; a step's first frame itself.
    pub(crate) fn towards(&self, frame: u32) -> u32 {
        frame.div_ceil(self.interpolate).saturating_mul(self.interpolate)
    }
    /// How far a frame is on the way from its time step to the next.
    pub(crate) fn share(&self, frame: u32) -> f64 {
        if self.step == 0 { 0.0 } else { f64::from(frame % self.interpolate) / f64::from(self.interpolate) }
    }
    /// Whether each frame has its own particle file.
    pub(crate) fn is_series(&self) -> bool {
        self.names.len() > 1 || numbered(&self.path.to_string_lossy(), 0).is_some()
    }
    /// Whether frames may have other particles: of a series, or perhaps of a file with several time steps.
    pub(crate) fn is_animated(&self) -> bool {
        self.step > 0 && (self.is_series() || self.steps > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_before_are_those_of_the_frames_before() {
        let of = |particles: &Particles, frame| particles.before(frame).collect::<Vec<_>>();
        let trails = Some(Trails { steps: 2, ..Trails::default() });
        let plain = Particles { first: 3, step: 2, trails, ..Particles::default() };
        assert_eq!((of(&plain, 0), of(&plain, 2)), (vec![1], vec![5, 3]));
        let between = Particles { interpolate: 2, ..plain.clone() };
        assert_eq!((of(&between, 4), of(&between, 5)), (vec![5, 3], vec![7, 5, 3]));
        assert_eq!(of(&Particles { step: 0, ..plain.clone() }, 9), [2, 1]);
        assert!(of(&Particles { trails: None, ..plain }, 2).is_empty());
    }
}
