//! The camera: two points on cylindrical paths, the eye and what it looks at, and a horizontal field of view.

use crate::vector::{Vec3, cross, dot, length, normalise, scale, sub};

/// r(t) = r0 + ar sin(wr t + pr), z(t) = z0 + az sin(wz t + pz), phi(t) = phi0 + wphi t,
/// in the scene's units and radians; the frequencies count cycles a clip (coursework item 4).
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the formula above names every field")]
pub struct CylindricalPath {
    pub r0: f64,
    pub z0: f64,
    pub phi0: f64,
    pub ar: f64,
    pub az: f64,
    pub wr: f64,
    pub wz: f64,
    pub wphi: f64,
    pub pr: f64,
    pub pz: f64,
}

impl CylindricalPath {
    /// The point at time t, 0 .. 2 pi over a clip.
    pub fn at(&self, t: f64) -> Vec3 {
        let r = self.r0 + self.ar * libm::sin(self.wr * t + self.pr);
        let z = self.z0 + self.az * libm::sin(self.wz * t + self.pz);
        let phi = self.angle(t);
        [r * libm::cos(phi), r * libm::sin(phi), z]
    }
    fn angle(&self, t: f64) -> f64 {
        self.phi0 + self.wphi * t
    }
}

/// Where the camera stands, where it looks, and how wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Horizontal field of view, degrees, in (0, 180).
    pub fov_deg: f64,
    /// The eye's path.
    pub eye: CylindricalPath,
    /// The look-at point's path.
    pub target: CylindricalPath,
    /// Eye and look-at point that stand still, in place of the paths.
    pub fixed: Option<[Vec3; 2]>,
    /// Radius of the lens; 0: all is sharp (path tracing).
    pub lens: f64,
    /// Distance from the eye at which it is sharp.
    pub focus: f64,
}

/// A frame's camera: position and right-handed basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The eye.
    pub eye: Vec3,
    /// Unit, to the right of the picture.
    pub right: Vec3,
    /// Unit, to the top of the picture.
    pub up: Vec3,
    /// Unit, into the picture.
    pub forward: Vec3,
}

impl Camera {
    /// The view of frame `frame` of a clip of `frames`.
    pub fn view(&self, frame: u32, frames: u32) -> View {
        let t = 2.0 * std::f64::consts::PI * f64::from(frame) / f64::from(frames);
        let eye = self.eye.at(t);
        let phi = self.eye.angle(t);
        let (sin, cos) = (libm::sin(phi), libm::cos(phi));
        let (eye, target) = self.fixed.map_or_else(|| (eye, self.target.at(t)), |[eye, target]| (eye, target));
        let to = sub(target, eye);
        // With nothing to look at, look at the cylinder's axis.
        let forward = if length(to) > 1e-9 { normalise(to) } else { [-cos, -sin, 0.0] };
        let sideways = cross(forward, [0.0, 0.0, 1.0]);
        // Straight up or down, right is where the path's circle runs: what it tends to from nearby.
        let right = if length(sideways) > 1e-9 { normalise(sideways) } else { [-sin, cos, 0.0] };
        View { eye, right, up: cross(right, forward), forward }
    }

    /// Distance of the picture plane, in pixels, for a picture that is `width` pixels wide.
    pub fn focal(&self, width: u32) -> f64 {
        f64::from(width) / (2.0 * libm::tan(self.fov_deg.to_radians() / 2.0))
    }
}

impl View {
    /// Whether the basis is right-handed, orthogonal and of unit length.
    pub fn is_orthonormal(&self) -> bool {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        [self.right, self.up, self.forward].iter().all(|&v| close(length(v), 1.0))
            && close(dot(self.right, self.up), 0.0)
            && length(sub(cross(self.right, self.up), scale(self.forward, -1.0))) < 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn still(r0: f64, z0: f64) -> CylindricalPath {
        CylindricalPath { r0, z0, phi0: 0.0, ar: 0.0, az: 0.0, wr: 0.0, wz: 0.0, wphi: 0.0, pr: 0.0, pz: 0.0 }
    }

    fn camera(eye: CylindricalPath, target: CylindricalPath) -> Camera {
        Camera { fov_deg: 90.0, eye, target, fixed: None, lens: 0.0, focus: 1.0 }
    }

    #[test]
    fn right_is_right() {
        // From +x looking at the origin, +y is on the right hand and +z is up.
        let view = camera(still(5.0, 0.0), still(0.0, 0.0)).view(0, 1);
        assert_eq!(view.forward, [-1.0, 0.0, 0.0]);
        assert_eq!(view.right, [0.0, 1.0, 0.0]);
        assert_eq!(view.up, [0.0, 0.0, 1.0]);
    }

    #[test]
    fn poles_and_nothing_to_look_at_have_a_basis() {
        for (eye, target) in [
            (still(0.0, 5.0), still(0.0, 0.0)),
            (still(0.0, -5.0), still(0.0, 0.0)),
            (still(1.0, 1.0), still(1.0, 1.0)),
        ] {
            let view = camera(eye, target).view(0, 1);
            assert!(view.is_orthonormal(), "{view:?}");
        }
    }

    #[test]
    fn path_follows_its_formula() {
        let path = CylindricalPath {
            r0: 7.0,
            z0: 3.0,
            phi0: 0.5,
            ar: 2.0,
            az: 1.0,
            wr: 2.0,
            wz: 6.0,
            wphi: 1.0,
            pr: 0.1,
            pz: 0.2,
        };
        let t = 1.3;
        let (r, phi) = (7.0 + 2.0 * libm::sin(2.0 * t + 0.1), 0.5 + t);
        let p = path.at(t);
        assert!((p[0] - r * libm::cos(phi)).abs() < 1e-12);
        assert!((p[1] - r * libm::sin(phi)).abs() < 1e-12);
        assert!((p[2] - (3.0 + libm::sin(6.0 * t + 0.2))).abs() < 1e-12);
    }

    #[test]
    fn field_of_view_is_horizontal() {
        let camera = camera(still(5.0, 0.0), still(0.0, 0.0));
        assert!((camera.focal(640) - 320.0).abs() < 1e-9);
    }
}
