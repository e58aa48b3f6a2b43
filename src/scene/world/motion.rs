//! Rotation and motion of bodies.

use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale};
use crate::scene::CylindricalPath;
use crate::scene::keys::keys;
use crate::scene::text::diagnostic::Rule;

keys! {
    /// A turn about an axis, anticlockwise seen from its tip.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Rotation in "rotation" {
        /// Axis of rotation; any length except 0.
        pub axis: Vec3 = [0.0, 0.0, 1.0], direction(), rule(Rule::Coordinate), group("Motion"), spelled();
        /// Angle of rotation at the start of the clip.
        pub angle_deg: f64 = 0.0, unit("degrees"), slider(-180.0, 180.0), spelled(), animated();
    }
}

impl Rotation {
    /// Rotates a direction or point (Rodrigues' formula).
    pub fn apply(&self, v: Vec3) -> Vec3 {
        let turn = (self.angle_deg % 360.0).to_radians();
        if turn == 0.0 || length(self.axis) == 0.0 {
            return v;
        }
        let k = normalise(self.axis);
        let (sine, cosine) = (libm::sin(turn), libm::cos(turn));
        add(add(scale(v, cosine), scale(cross(k, v), sine)), scale(k, dot(k, v) * (1.0 - cosine)))
    }
}

keys! {
    /// How a body moves over the clip.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Motion in "motion" {
        /// Turns about the axis over the clip; whole numbers make a loop.
        pub turns: f64 = 0.0, slider(-4.0, 4.0), group("Motion"), spelled();
        /// Straight movement over the clip.
        pub drift: Vec3 = [0.0; 3], rule(Rule::Coordinate), spelled();
        /// A path on a cylinder around the center.
        pub path: Option<CylindricalPath> = None;
    }
}

impl Motion {
    pub(crate) fn is_none(&self) -> bool {
        self.turns == 0.0 && self.drift == [0.0; 3] && self.path.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_turns() {
        let quarter = Rotation { axis: [0.0, 0.0, 2.0], angle_deg: 90.0 };
        let v = quarter.apply([1.0, 0.0, 3.0]);
        assert!(length([v[0], v[1] - 1.0, v[2] - 3.0]) < 1e-12, "{v:?}");
    }
}
