//! Rectangles: panels, walls, tables and area lights.

use crate::language::msg;
use crate::math::vec3::{Vec3, add, cross, length, normalise, scale};
use crate::scene::TextureSource;
use crate::scene::keys::keys;
use crate::scene::keys::read::Table;
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::material::{Material, MaterialKind};
use crate::scene::world::motion::Rotation;
use crate::scene::world::support::Support;

keys! {
    /// A flat rectangle, seen and shining on both sides.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Rectangle in "rectangle" {
        /// Its center.
        pub centre as "center": Vec3 = [0.0; 3], rule(Rule::Coordinate), group("Shape"), spelled();
        /// Stands on the floor: the height of its center follows, so that its lowest point touches the floor.
        pub on: Option<Support> = None;
        /// Width and height.
        pub size: [f64; 2] = [1.0; 2], rule(Rule::Length), spelled();
        /// The direction of the normal. The width is horizontal; if the rectangle is horizontal itself, the width is along x.
        pub facing: Vec3 = [0.0, 0.0, 1.0], direction(), rule(Rule::Coordinate), spelled();
        /// Rotation about the normal, counterclockwise seen from the front.
        pub angle_deg: f64 = 0.0, unit("degrees"), slider(-180.0, 180.0), spelled();
        /// A picture that lies on it as paint, and covers its material where it is opaque: a PNG, JPEG or .data file, or @checker, @concrete, @marble, @slate or @wood. Seen from behind it is mirrored.
        pub texture: Option<TextureSource> = None;
        /// How it looks.
        pub material: Material = Material::default(), flat();
    }

    fn check(&mut self, table: &mut Table) {
        if self.texture.is_some() && matches!(self.material.kind, MaterialKind::Light { .. }) {
            table.problem_at("texture", msg!("a light has no picture"), msg!("another material, or no texture"));
        }
    }
}

impl Rectangle {
    /// The corners, anticlockwise seen from the front, starting at the lower left.
    pub fn corners(&self) -> [Vec3; 4] {
        let normal = normalise(self.facing);
        let level = cross([0.0, 0.0, 1.0], normal);
        let across = if length(level) > 1e-9 { normalise(level) } else { [1.0, 0.0, 0.0] };
        let up = cross(normal, across);
        let turn = Rotation { axis: normal, angle_deg: self.angle_deg };
        let [width, height] = self.size;
        [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(|[x, y]| {
            let off = add(scale(across, x * width), scale(up, y * height));
            add(self.centre, turn.apply(off))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3::sub;

    #[test]
    fn corners_run_around_the_normal() {
        for (facing, angle_deg) in
            [([0.0, 0.0, 2.0], 0.0), ([0.0, 0.0, -1.0], 30.0), ([1.0, 0.0, 0.0], 0.0), ([0.3, -0.5, 0.2], 100.0)]
        {
            let r = Rectangle { centre: [1.0, 2.0, 3.0], size: [3.0, 0.5], facing, angle_deg, ..Rectangle::default() };
            let [a, b, c, d] = r.corners();
            let n = cross(sub(b, a), sub(c, a));
            assert!(length(sub(normalise(n), normalise(facing))) < 1e-9);
            assert!((length(sub(b, a)) - 3.0).abs() < 1e-9 && (length(sub(d, a)) - 0.5).abs() < 1e-9);
            assert!(length(sub(scale(add(a, c), 0.5), r.centre)) < 1e-9);
        }
        // The width of a rectangle that faces the camera is horizontal.
        let [a, b, ..] = Rectangle { facing: [0.0, -1.0, 0.0], ..Rectangle::default() }.corners();
        assert!(length(sub(sub(b, a), [1.0, 0.0, 0.0])) < 1e-12);
    }
}
