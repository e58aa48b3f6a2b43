//! How the scene comes into the picture: projections, both eyes, and the view of a frame.

use crate::math::vec3::{Vec3, add, dot, normalise, scale, sub};
use crate::scene::keys::words::names;
use crate::scene::limits::{FARTHEST, MIN_LENGTH};
use std::f64::consts::{PI, TAU};

names! {
    /// How the scene comes into the picture.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Projection {
        /// By rays from the eye.
        Perspective = "perspective",
        /// By parallel rays from the plane through the eye.
        Orthographic = "orthographic",
        /// Longitudes and latitudes around the eye.
        Panorama = "panorama",
        /// A circle around the direction of view.
        Fisheye = "fisheye",
    }
}

impl Projection {
    /// The field of view where none is given.
    pub(super) fn fov_deg(self) -> f64 {
        match self {
            Projection::Perspective | Projection::Orthographic => View::FOV_DEG,
            Projection::Panorama => 360.0,
            Projection::Fisheye => 180.0,
        }
    }
    /// Whether pixels are angles, so that there is no plane of the picture.
    pub fn is_round(self) -> bool {
        matches!(self, Projection::Panorama | Projection::Fisheye)
    }
}

names! {
    /// What the distance from the middle of a fisheye grows with.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FisheyeMapping {
        /// The angle.
        Equidistant = "equidistant",
        /// The sine of half of the angle: equal solid angles are equally large.
        Equisolid = "equisolid",
    }
}

names! {
    /// Where the pictures of both eyes are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Stereo {
        /// There is one eye.
        None = "none",
        /// The left eye's picture is to the left.
        SideBySide = "side-by-side",
        /// The left eye's picture is above.
        OverUnder = "over-under",
    }
}

impl Stereo {
    /// The size of an eye's picture.
    pub fn eye_size(self, (width, height): (u32, u32)) -> (u32, u32) {
        match self {
            Stereo::None => (width, height),
            Stereo::SideBySide => ((width / 2).max(1), height),
            Stereo::OverUnder => (width, (height / 2).max(1)),
        }
    }
    // The middle of an eye's picture, in pixels to the right and up from the middle of both.
    fn middle(self, is_left: bool, (width, height): (u32, u32)) -> [f64; 2] {
        let [width, height] = [width, height].map(|side| if is_left { 0.25 } else { -0.25 } * f64::from(side));
        match self {
            Stereo::None => [0.0, 0.0],
            Stereo::SideBySide => [-width, 0.0],
            Stereo::OverUnder => [0.0, height],
        }
    }
}

names! {
    /// The axis of the picture along which the field of view is measured.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FovAxis {
        /// From the left edge to the right edge.
        Horizontal = "horizontal",
        /// From the bottom edge to the top edge.
        Vertical = "vertical",
        /// From corner to corner.
        Diagonal = "diagonal",
    }
}

impl FovAxis {
    /// The length of this axis in a picture, in pixels.
    pub fn pixels(self, width: u32, height: u32) -> f64 {
        let (width, height) = (f64::from(width), f64::from(height));
        match self {
            FovAxis::Horizontal => width,
            FovAxis::Vertical => height,
            FovAxis::Diagonal => libm::hypot(width, height),
        }
    }
}

/// A frame's camera: position and right-handed basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The position of the camera.
    pub eye: Vec3,
    /// Unit vector to the right of the picture.
    pub right: Vec3,
    /// Unit vector to the top of the picture.
    pub up: Vec3,
    /// Unit vector into the picture.
    pub forward: Vec3,
    /// Field of view, degrees.
    pub fov_deg: f64,
    /// The axis of the picture along which it is measured.
    pub fov_axis: FovAxis,
    /// How the scene comes into the picture.
    pub projection: Projection,
    /// The mapping of a fisheye.
    pub mapping: FisheyeMapping,
    /// Width of the picture if it is orthographic; by default that which `fov_deg` has at `distance`.
    pub width: Option<f64>,
    /// Distance from the eye to the look-at point.
    pub distance: f64,
    /// Where the pictures of both eyes are.
    pub stereo: Stereo,
    /// Half of the distance between the eyes.
    pub half_eyes: f64,
    /// Distance at which both eyes see the same; None: their views are parallel.
    pub convergence: Option<f64>,
}

impl View {
    /// The field of view of a plane where none is given, degrees.
    pub const FOV_DEG: f64 = 70.0;

    /// The distance of the picture plane, in pixels, for a picture of this size. Kernels square it in single precision, so it is
    /// bounded; at the upper bound all rays are parallel.
    pub fn focal(&self, width: u32, height: u32) -> f64 {
        let focal = self.fov_axis.pixels(width, height) / (2.0 * libm::tan(self.fov_deg.to_radians() / 2.0));
        focal.clamp(1e-14, 1e18)
    }
    /// What pixels of a panorama or a fisheye are in angles: turns a pixel; equisolid, the sine of half the angle a pixel.
    pub fn per_pixel(&self, width: u32, height: u32) -> f64 {
        let turns = self.fov_deg / 360.0;
        let across = if self.is_equisolid() { 2.0 * libm::sin(0.5 * PI * turns) } else { turns };
        across / self.fov_axis.pixels(width, height)
    }
    fn is_equisolid(&self) -> bool {
        self.projection == Projection::Fisheye && self.mapping == FisheyeMapping::Equisolid
    }
    /// The angle between pixels of a panorama or a fisheye, in its middle.
    pub fn pixel_angle(&self, width: u32, height: u32) -> f64 {
        self.per_pixel(width, height) * if self.is_equisolid() { 2.0 } else { TAU }
    }
    /// The size of a pixel at this distance from the eye, in the scene's units.
    pub fn pixel_at(&self, distance: f64, picture: (u32, u32)) -> f64 {
        let (width, height) = self.stereo.eye_size(picture);
        match self.projection {
            Projection::Perspective => distance / self.focal(width, height),
            Projection::Orthographic => self.units_per_pixel(width, height),
            Projection::Panorama | Projection::Fisheye => distance * self.pixel_angle(width, height),
        }
    }
    /// How far apart pixels are in an orthographic picture of this size, in the scene's units.
    pub fn units_per_pixel(&self, width: u32, height: u32) -> f64 {
        let pixels = f64::from(width);
        let width = self.width.unwrap_or(self.distance / self.focal(width, height) * pixels);
        width.clamp(MIN_LENGTH, FARTHEST) / pixels
    }
    /// Where a point is in a picture of this size, in pixels to the right and up from its middle, as seen from between the eyes, in the
    /// picture of the left one; None behind the eye.
    pub fn project(&self, point: Vec3, picture: (u32, u32)) -> Option<[f64; 2]> {
        let (width, height) = self.stereo.eye_size(picture);
        let to = sub(point, self.eye);
        let [right, up, forward] = [self.right, self.up, self.forward].map(|axis| dot(to, axis));
        let flat = |scale: f64| (forward > 0.0).then(|| [right, up].map(|x| scale * x));
        let per_pixel = self.per_pixel(width, height);
        let [x, y] = match self.projection {
            Projection::Perspective => flat(self.focal(width, height) / forward)?,
            Projection::Orthographic => flat(1.0 / self.units_per_pixel(width, height))?,
            Projection::Panorama => {
                let latitude = libm::atan2(up, libm::hypot(right, forward));
                [libm::atan2(right, forward), latitude].map(|angle| angle / (TAU * per_pixel))
            }
            Projection::Fisheye => {
                let across = libm::hypot(right, up);
                let angle = libm::atan2(across, forward);
                let grown = if self.is_equisolid() { libm::sin(0.5 * angle) } else { angle / TAU };
                let share = grown / (per_pixel * across.max(1e-300));
                [right * share, up * share]
            }
        };
        let [aside, above] = self.stereo.middle(true, picture);
        Some([x + aside, y + above])
    }
    /// The origin and the direction of the ray through a point of the picture, in pixels to the right and up from its middle; None outside of
    /// a fisheye and beyond the poles.
    pub fn ray(&self, [x, y]: [f64; 2], picture: (u32, u32)) -> Option<(Vec3, Vec3)> {
        let is_left = match self.stereo {
            Stereo::OverUnder => y > 0.0,
            _ => x < 0.0,
        };
        let [aside, above] = self.stereo.middle(is_left, picture);
        let ([x, y], (width, height)) = ([x - aside, y - above], self.stereo.eye_size(picture));
        let along = |[x, y, z]: [f64; 3]| add(add(scale(self.right, x), scale(self.up, y)), scale(self.forward, z));
        let per_pixel = self.per_pixel(width, height);
        let (mut eyes, mut from, mut focal) = (self.right, self.eye, 1.0);
        let way = match self.projection {
            Projection::Perspective => {
                focal = self.focal(width, height);
                along([x, y, focal])
            }
            Projection::Orthographic => {
                from = add(from, scale(along([x, y, 0.0]), self.units_per_pixel(width, height)));
                self.forward
            }
            Projection::Panorama => {
                let [(sin, cos), (up, level)] =
                    [x, y].map(|x| (libm::sin(TAU * per_pixel * x), libm::cos(TAU * per_pixel * x)));
                eyes = along([cos, 0.0, -sin]);
                (per_pixel * y.abs() <= 0.25).then(|| along([sin * level, up, cos * level]))?
            }
            Projection::Fisheye => {
                let r = libm::hypot(x, y);
                let grown = per_pixel * r;
                let angle = if self.is_equisolid() { 2.0 * libm::asin(grown.min(1.0)) } else { TAU * grown };
                let share = libm::sin(angle) / r.max(1e-300);
                let is_in = 2.0 * r <= self.fov_axis.pixels(width, height);
                is_in.then(|| along([x * share, y * share, libm::cos(angle)]))?
            }
        };
        if self.stereo == Stereo::None {
            return Some((from, normalise(way)));
        }
        let to = scale(eyes, if is_left { -self.half_eyes } else { self.half_eyes });
        let toe = self.convergence.map_or(0.0, |distance| focal / distance);
        Some((add(from, to), normalise(sub(way, scale(to, toe)))))
    }
    /// The point at `distance` along the central ray.
    pub fn ahead(&self, distance: f64) -> Vec3 {
        add(self.eye, scale(self.forward, distance))
    }
}
