//! The floor: a quadrilateral with a texture.

use crate::language::msg;
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::keys::key::MaterialUse;
use crate::scene::keys::kinds::{Kind, list_text};
use crate::scene::keys::read::{Given, Table};
use crate::scene::keys::words::{names, sources};
use crate::scene::keys::{Key, keys};
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::material::Material;
use crate::scene::world::relief::{self, Relief};

sources! {
    /// Where a floor's picture comes from.
    pub enum TextureSource: msg!("there is no built-in texture `{name}`", name), msg!("{names}, `none` or a file", names) {
        /// A `.data`, PNG or JPEG file.
        File,
        /// `@checker`.
        Checker = "@checker",
        /// `@concrete`.
        Concrete = "@concrete",
        /// `@marble`.
        Marble = "@marble",
        /// `@slate`.
        Slate = "@slate",
        /// `@wood`.
        Wood = "@wood",
        /// `@missing`: a magenta checker, which stands in for a missing file.
        Missing = "@missing",
    }
    pub(crate) const BUILTIN;
    const TAKES_NONE = true;
}

keys! {
    /// Four points with a picture on them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Floor in "floor" {
        /// Its four corners, in perimeter order or zig-zag; the first is the picture's top left.
        pub corners: [Vec3; 4] = [[-5.0, -5.0, -1.0], [-5.0, 5.0, -1.0], [5.0, 5.0, -1.0], [5.0, -5.0, -1.0]],
            rule(Rule::Coordinate), required(), group("Shape");
        /// The texture: a .data, PNG or JPEG file, or @checker, @concrete, @marble, @slate or @wood.
        pub texture: Option<TextureSource> = None, group("Picture");
        /// What it is made of, its color multiplying the picture. It is as thin as a sheet: what shines through goes on
        /// straight. It does not shine itself.
        pub material: Material = Material::plain([1.0; 3], 0.0, 0.0), flat(), material_of(MaterialUse::Floor);
        /// Its extent.
        pub shape as "size": FloorShape = FloorShape::Square, group("Shape"), spelled();
        /// Color of an endless ground below the floor, which then is a slab on it, a fiftieth of its diagonal thick; "none": no ground.
        pub ground: Option<Vec3> = None, colour(), rule(Rule::Fraction), when("size", &["square", "round"]), group("Shape"), animated();
        /// Distance from the floor's middle at which the floor is half faded: an infinite one into the sky's color at the
        /// horizon, another into what lies behind it; 0: no fading. Where there is ground, it fades, and the floor does not.
        pub fade: f64 = 0.0, rule(Rule::NotNegative), slider(0.0, 50.0), spelled(), animated();
        /// Relief of the surface.
        pub relief: Option<Relief> = None, group("Picture");
    }

    fn check(&mut self, table: &mut Table) {
        if let (Some(size), true) = (table.word("size"), self.shape != FloorShape::Square && !is_parallelogram(&self.corners)) {
            table.problem_at(
                "size",
                msg!("the corners of a floor whose size is \"{size}\" are not a parallelogram", size),
                msg!("four corners in one plane, opposite sides alike"),
            );
        }
        let has_coat = self.material.coat.is_there() || table.is_animated("coat");
        let fades = self.fade > 0.0 || table.is_animated("fade");
        if has_coat && fades && self.shape != FloorShape::Endless && self.ground.is_none() {
            table.problem_at(
                "coat",
                msg!("a floor that fades within its bounds has no coat"),
                msg!("`size = \"infinite\"`, `fade = 0` or no `coat`"),
            );
        }
        if self.relief.as_ref().is_some_and(|relief| relief.displaced) && !is_parallelogram(&self.corners) {
            table.problem_at(
                "relief.displaced",
                msg!("a floor that is not a parallelogram has no displaced surface"),
                msg!("corners of a parallelogram, or no `displaced`"),
            );
        }
        relief::check(self.relief.as_ref(), &self.material, table);
    }
}

impl Floor {
    // Of the slab, in diagonals.
    const THICKNESS: f64 = 0.02;
    // Between the ground and a floor that has no sides, in diagonals: two surfaces in one plane would hide each other at random.
    const GAP: f64 = 1e-4;
    // The smallest height of the normal of a floor that has sides.
    const FLAT: f64 = 0.5;

    /// Whether there is ground below it.
    pub(crate) fn has_ground(&self) -> bool {
        self.ground.is_some() && self.shape != FloorShape::Endless
    }
    /// Its longer diagonal.
    fn diagonal(&self) -> f64 {
        let [a, b, c, d] = self.corners;
        length(sub(c, a)).max(length(sub(d, b)))
    }
    // The slab's thickness; None for a disc, and for a wall.
    fn thickness(&self) -> Option<f64> {
        let [a, b, c, d] = self.corners;
        let n = normalise(cross(sub(c, a), sub(d, b)));
        let is_slab = self.shape == FloorShape::Square && n[2].abs() >= Floor::FLAT;
        is_slab.then(|| Floor::THICKNESS * self.diagonal())
    }
    /// The distance of its farthest corner from its middle.
    pub(crate) fn farthest_corner(&self) -> f64 {
        let middle = scale(self.corners.into_iter().fold([0.0; 3], add), 0.25);
        self.corners.iter().map(|&corner| length(sub(corner, middle))).fold(0.0, f64::max)
    }
    /// The height of the ground that may lie below it.
    pub(crate) fn ground_level(&self) -> f64 {
        let lowest = self.corners.iter().map(|p| p[2]).fold(f64::MAX, f64::min);
        lowest - self.thickness().unwrap_or(Floor::GAP * self.diagonal())
    }
    /// The height that neither the ground nor the slab's sides reach.
    pub(crate) fn ground_top(&self) -> f64 {
        let highest = self.corners.iter().map(|p| p[2]).fold(f64::MIN, f64::max);
        let gap = 0.01 * Floor::GAP * self.diagonal();
        if self.thickness().is_some() { highest - gap } else { self.ground_level() + gap }
    }
    /// The sides of the slab: an upper corner, the way along the floor's edge, and the way down to the ground or below it.
    pub(crate) fn sides(&self) -> Vec<[Vec3; 3]> {
        if !self.has_ground() || self.thickness().is_none() {
            return Vec::new();
        }
        let highest = self.corners.iter().map(|p| p[2]).fold(f64::MIN, f64::max);
        let down = [0.0, 0.0, self.ground_level() - highest];
        let side = |i: usize| [self.corners[i], sub(self.corners[(i + 1) % 4], self.corners[i]), down];
        let is_wide =
            |[_, along, down]: &[Vec3; 3]| length(cross(*along, *down)) > 1e-9 * self.diagonal() * down[2].abs();
        (0..4).map(side).filter(is_wide).collect()
    }
    /// The width of the bevel on the slab's upper edge.
    pub(crate) fn bevel(&self) -> f64 {
        0.12 * self.thickness().unwrap_or(0.0)
    }
}

names! {
    /// How far a floor goes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FloorShape {
        /// A quadrilateral, up to its corners.
        Square = "square",
        /// The inscribed circle.
        Round = "round",
        /// To the horizon; the texture lies within the corners and repeats beyond them.
        Endless = "infinite",
    }
}

impl Kind for [Vec3; 4] {
    fn parse(given: &mut Given) -> Option<[Vec3; 4]> {
        let Some(list) = given.value.get_ref().as_array() else { return given.wrong(msg!("four points")) };
        let points: Vec<_> = list.iter().map(|point| given.within(point).ruled_numbers()).collect();
        let points: Vec<Vec3> = points.into_iter().collect::<Option<_>>()?;
        let Ok(corners) = <[Vec3; 4]>::try_from(points) else {
            return given.problem(msg!("the floor has {count} corners", count = list.len()), msg!("four points"));
        };
        let corners = perimeter_order(corners);
        if !has_area(&corners) {
            given.problem::<()>(msg!("the floor's corners lie on a line"), msg!("four corners of a floor"));
        }
        Some(corners)
    }
    fn text(&self, _: &Key) -> String {
        format!("[{}]", self.map(|p| list_text(&p)).join(", "))
    }
    fn schema(key: &Key) -> serde_json::Value {
        serde_json::json!({ "type": "array", "items": Vec3::schema(key), "minItems": 4, "maxItems": 4 })
    }
}

/// Sorts four points into perimeter order. Points in zig-zag order have their last two swapped. The diagonals of a
/// convex quadrilateral cross in just one of its three orders. A concave floor is returned as it is.
pub(crate) fn perimeter_order(p: [Vec3; 4]) -> [Vec3; 4] {
    let crosses = |q: &[Vec3; 4]| {
        // Seen along the common normal of the diagonals, each diagonal separates the ends of the other.
        let (a, b) = (sub(q[2], q[0]), sub(q[3], q[1]));
        let n = cross(a, b);
        let side = |d: Vec3, from: Vec3, x: Vec3| dot(cross(d, sub(x, from)), n);
        side(a, q[0], q[1]) * side(a, q[0], q[3]) < 0.0 && side(b, q[1], q[0]) * side(b, q[1], q[2]) < 0.0
    };
    [p, [p[0], p[1], p[3], p[2]], [p[0], p[2], p[1], p[3]]].into_iter().find(|q| crosses(q)).unwrap_or(p)
}

/// Whether the corners run clockwise, seen from above; for an upright floor, seen from its front.
pub(crate) fn is_clockwise(p: &[Vec3; 4]) -> bool {
    cross(sub(p[2], p[0]), sub(p[3], p[1]))[2] <= 0.0
}

// The texture's columns and rows at the corners. The top left is at the first corner, as in the coursework's
// programs. Columns run towards the neighbor for which the texture is not mirrored, seen from above: the second
// corner if the corners run clockwise (the usual order), else the fourth.
const FIRST_TO_SECOND: [f64; 4] = [0.0, 1.0, 1.0, 0.0];
const FIRST_TO_FOURTH: [f64; 4] = [0.0, 0.0, 1.0, 1.0];

/// u and v at the corners.
pub(crate) fn corner_uv(p: &[Vec3; 4]) -> [[f64; 4]; 2] {
    if is_clockwise(p) { [FIRST_TO_SECOND, FIRST_TO_FOURTH] } else { [FIRST_TO_FOURTH, FIRST_TO_SECOND] }
}

/// The gradients of u and v within the plane of three of the corners.
pub(crate) fn uv_gradients(p: &[Vec3; 4], corners: [usize; 3]) -> [Vec3; 2] {
    let [a, b, c] = corners.map(|i| p[i]);
    let (ab, ac) = (sub(b, a), sub(c, a));
    let normal = cross(ab, ac);
    corner_uv(p).map(|values| {
        let [va, vb, vc] = corners.map(|i| values[i]);
        let g = add(scale(cross(ac, normal), vb - va), scale(cross(normal, ab), vc - va));
        scale(g, 1.0 / dot(normal, normal))
    })
}

/// Whether opposite sides are equal and parallel.
pub(crate) fn is_parallelogram(p: &[Vec3; 4]) -> bool {
    let off = length(sub(add(p[0], p[2]), add(p[1], p[3])));
    off <= 1e-9 * (length(sub(p[2], p[0])) + length(sub(p[3], p[1])))
}

/// Whether both triangles of a floor in perimeter order have area.
pub(crate) fn has_area(p: &[Vec3; 4]) -> bool {
    let area = |a: Vec3, b: Vec3, c: Vec3| length(cross(sub(b, a), sub(c, a)));
    let widest = p.iter().flat_map(|&a| p.iter().map(move |&b| length(sub(a, b)))).fold(0.0, f64::max);
    area(p[0], p[1], p[2]) > 1e-9 * widest * widest && area(p[0], p[2], p[3]) > 1e-9 * widest * widest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zigzag_floors_become_perimeters() {
        let square = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
        assert_eq!(perimeter_order(square), square);
        assert_eq!(perimeter_order([square[0], square[1], square[3], square[2]]), square);
        let mended = perimeter_order([square[0], square[2], square[1], square[3]]);
        assert_eq!(mended, square);
    }
}
