//! Ellipsoids: spheres that are stretched along three axes.

use crate::math::vec3::Vec3;
use crate::scene::keys::keys;
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::material::Material;
use crate::scene::world::motion::Rotation;
use crate::scene::world::support::Support;

keys! {
    /// An ellipsoid.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Ellipsoid in "ellipsoid" {
        /// Its center.
        pub centre as "center": Vec3 = [0.0; 3], rule(Rule::Coordinate), group("Shape"), spelled(), animated();
        /// Stands on the floor: the height of its center follows, so that its lowest point touches the floor.
        pub on: Option<Support> = None;
        /// Half of its size along x, y and z, before it is rotated.
        pub radii: Vec3 = [1.0; 3], rule(Rule::Length), spelled(), animated();
        /// How it is rotated about its center.
        pub rotation: Rotation = Rotation::default(), flat();
        /// How it looks.
        pub material: Material = Material::default(), flat();
    }
}

impl Ellipsoid {
    /// The unit vectors of the axes, in the order of the radii.
    pub(crate) fn axes(&self) -> [Vec3; 3] {
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| self.rotation.apply(axis))
    }
    /// The radius of its bounding sphere.
    pub(crate) fn reach(&self) -> f64 {
        self.radii.into_iter().fold(0.0, f64::max)
    }
}
