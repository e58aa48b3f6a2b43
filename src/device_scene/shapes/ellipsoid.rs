//! Ellipsoids.

use super::outline::Outline;
use crate::gpu_types::Ellipsoid as GpuEllipsoid;
use crate::math::bvh::Bounds;
use crate::math::vec3::{Vec3, dot, length, scale, sub, to_f32};
use crate::scene::Ellipsoid;

pub fn flatten(e: &Ellipsoid, material_index: i32) -> GpuEllipsoid {
    flattened(e.centre, &e.axes(), e.radii, material_index)
}
/// The same of an ellipsoid by its axes.
pub fn flattened(centre: Vec3, axes: &[Vec3; 3], radii: Vec3, material_index: i32) -> GpuEllipsoid {
    let rows = [0, 1, 2].map(|i| to_f32(scale(axes[i], 1.0 / radii[i])));
    let mut to_unit = [0.0; 9];
    to_unit.copy_from_slice(rows.as_flattened());
    GpuEllipsoid { centre: to_f32(centre), material_index, to_unit, radii: to_f32(radii) }
}

pub fn bounds(e: &Ellipsoid) -> Bounds {
    bounds_of(e.centre, &e.axes(), e.radii)
}
/// The same of an ellipsoid by its axes.
pub fn bounds_of(centre: Vec3, axes: &[Vec3; 3], radii: Vec3) -> Bounds {
    let reach = [0, 1, 2].map(|axis| support(axes, radii, [0, 1, 2].map(|i| f64::from(u8::from(i == axis)))));
    let side = |sign: f64| to_f32([0, 1, 2].map(|i| centre[i] + sign * 1.0001 * reach[i]));
    [side(-1.0), side(1.0)]
}

// The distance from the center to the tangent plane with this unit normal.
fn support(axes: &[Vec3; 3], radii: Vec3, n: Vec3) -> f64 {
    length([0, 1, 2].map(|i| dot(axes[i], n) * radii[i]))
}

/// Whether the surface does not reach into the body: the ellipsoid is outside, or contains the whole body.
pub fn misses(outline: &Outline, e: &Ellipsoid) -> bool {
    let (body, axes) = (outline.body, e.axes());
    let gap = 1e-5 * (body.radius + e.reach());
    let to = sub(e.centre, body.centre);
    let outside = |n: &Vec3| dot(*n, to) - support(&axes, e.radii, *n) > body.solid.inradius() * body.radius + gap;
    let unit = |p: Vec3| length([0, 1, 2].map(|i| dot(axes[i], sub(p, e.centre)) / e.radii[i]));
    length(to) > body.radius + e.reach() + gap
        || outline.normals.iter().any(outside)
        || outline.corners.iter().all(|&c| unit(c) < 1.0 - 1e-4)
}

/// The size in the sampling weight: the mean of the areas of its sections, divided by pi. The kernels compute the
/// same (emitter_mis_weight in kernels/shading/light.cuh).
pub fn size(e: &GpuEllipsoid) -> f64 {
    let [a, b, c] = e.radii.map(f64::from);
    (a * b + b * c + c * a) / 3.0
}
