//! Spheres.

use super::around;
use super::outline::Outline;
use crate::gpu_types::Sphere;
use crate::math::bvh::Bounds;
use crate::math::vec3::{Vec3, dot, length, sub, to_f32};

pub fn flatten(s: &crate::scene::Sphere) -> Sphere {
    Sphere { centre: to_f32(s.centre), radius: s.radius as f32 }
}

pub fn bounds(s: &Sphere) -> Bounds {
    around(s.centre, s.radius)
}

/// Whether the surface does not reach into the body: the sphere is outside, or contains the whole body.
pub fn misses(outline: &Outline, centre: Vec3, radius: f64) -> bool {
    let gap = 1e-5 * (outline.body.radius + radius);
    is_outside(outline, centre, radius)
        || length(sub(centre, outline.body.centre)) + 1.0001 * outline.body.radius < radius - gap
        || outline.corners.iter().all(|&c| length(sub(c, centre)) < radius - gap)
}

/// Whether all of the ball is outside of the body.
pub fn is_outside(outline: &Outline, centre: Vec3, radius: f64) -> bool {
    let gap = 1e-5 * (outline.body.radius + radius);
    let to = sub(centre, outline.body.centre);
    let beyond = |n: &Vec3| dot(*n, to) > outline.body.solid.inradius() * outline.body.radius + radius + gap;
    length(to) > outline.body.radius + radius + gap || outline.normals.iter().any(beyond)
}
