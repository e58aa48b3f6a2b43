//! Triangles.

use super::outline::{Outline, separated};
use super::surface_number;
use crate::assets::mesh::Corners;
use crate::gpu_types::{SHAPE_TRIANGLE, Triangle};
use crate::math::bvh::Bounds;
use crate::math::vec3::{cross, length, normalise, sub};
use rayon::prelude::*;

/// A triangle; `smooth` is 1 + the index of its vertex normals, 0, or -1 - the index of its rectangle's finish. [`link_twins`] follows, when its index is known.
pub fn flatten([a, b, c]: &Corners, material_index: i32, smooth: i32) -> Triangle {
    let edge = |to: &[f32; 3]| [0, 1, 2].map(|i| to[i] - a[i]);
    Triangle { a: *a, material_index, smooth, ab: edge(b), ac: edge(c), twin: 0 }
}

/// Numbers the twin of each triangle: of a rectangle the other half, of a mesh the triangle itself. `rectangles` are the
/// indices of the first halves; the second halves follow them.
pub fn link_twins(triangles: &mut [Triangle], rectangles: impl Iterator<Item = usize>) {
    triangles.par_iter_mut().enumerate().for_each(|(i, t)| t.twin = surface_number(SHAPE_TRIANGLE, i));
    for first in rectangles {
        triangles[first].twin = surface_number(SHAPE_TRIANGLE, first + 1);
        triangles[first + 1].twin = surface_number(SHAPE_TRIANGLE, first);
    }
}

pub fn bounds(t: &Triangle) -> Bounds {
    corner_bounds(&[t.a, [0, 1, 2].map(|i| t.a[i] + t.ab[i]), [0, 1, 2].map(|i| t.a[i] + t.ac[i])])
}

pub fn corner_bounds(t: &Corners) -> Bounds {
    let fold = |of: fn(f32, f32) -> f32| [0, 1, 2].map(|axis| t.iter().map(|p| p[axis]).fold(t[0][axis], of));
    [fold(f32::min), fold(f32::max)]
}

/// Whether the triangle does not reach into the body.
pub fn misses(outline: &Outline, t: &Corners) -> bool {
    let t = t.map(|p| p.map(f64::from));
    let gap = 1e-5 * outline.body.radius;
    let middle = outline.body.centre;
    let beyond = |axis: usize| {
        let (low, high) = t.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p[axis]), h.max(p[axis])));
        low > middle[axis] + outline.body.radius + gap || high < middle[axis] - outline.body.radius - gap
    };
    if (0..3).any(beyond) {
        return true;
    }
    let own = cross(sub(t[1], t[0]), sub(t[2], t[0]));
    let own = if length(own) > 0.0 { vec![normalise(own)] } else { Vec::new() };
    separated(&outline.normals, &outline.corners, &t, gap) || separated(&own, &outline.corners, &t, gap)
}
