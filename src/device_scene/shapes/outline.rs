//! The outline of a body, to test whether other shapes reach into it.

use crate::math::vec3::{Vec3, add, dot};
use crate::scene::Body;

/// A body with its vertices and face normals.
pub struct Outline<'a> {
    pub body: &'a Body,
    pub corners: Vec<Vec3>,
    pub normals: Vec<Vec3>,
}

impl Outline<'_> {
    pub fn new(body: &Body) -> Outline<'_> {
        Outline { body, corners: corners(body), normals: body.normals() }
    }
}

/// The vertices of a body in the scene.
pub fn corners(body: &Body) -> Vec<Vec3> {
    body.vertices().into_iter().map(|v| add(body.centre, v)).collect()
}

/// Whether a plane with one of these normals separates a from b.
pub fn separated(normals: &[Vec3], a: &[Vec3], b: &[Vec3], gap: f64) -> bool {
    let range = |n: Vec3, points: &[Vec3]| {
        points.iter().map(|&p| dot(n, p)).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
    };
    normals.iter().any(|&n| {
        let ((a_lo, a_hi), (b_lo, b_hi)) = (range(n, a), range(n, b));
        a_hi + gap < b_lo || b_hi + gap < a_lo
    })
}
