//! The shapes in the kernels' format. Each kind of kernels/shapes.def has a file here. It flattens the shape, bounds
//! it for the BVH, and decides whether the shape reaches into a body.

pub mod cone;
pub mod ellipsoid;
pub mod isolation;
mod outline;
pub mod particle;
pub mod polyhedron;
pub mod sphere;
pub mod triangle;

use crate::gpu_types::{INSIDE, ORIGIN_SHIFT, SINGLE_KINDS, SURFACE_KIND_SHIFT};
use crate::math::bvh::Bounds;

/// The number of a surface (kernels/types.def).
pub fn surface_number(kind: i32, index: usize) -> i32 {
    kind << SURFACE_KIND_SHIFT | index as i32
}

/// Ray::last_surface of rays that start on the outside of a shape (kernels/types.def).
pub fn origin_outside(kind: i32, index: usize) -> i32 {
    surface_number(kind, index) << ORIGIN_SHIFT
}

/// Ray::last_surface of rays inside a shape.
pub fn origin_inside(kind: i32, index: usize) -> i32 {
    origin_outside(kind, index) | INSIDE
}

/// Encodes leaves of a kind, whose elements start at `first` of its array.
pub fn leaf_code(kind: i32, first: usize) -> impl Fn(u32, u32) -> i32 + Sync {
    let (shown, of_one) = (kind.min(SINGLE_KINDS), (kind >= SINGLE_KINDS).then_some(kind - SINGLE_KINDS));
    move |at, count| !(((first as i32 + at as i32) << 5) | (shown << 3) | of_one.unwrap_or(count as i32 - 1))
}

// The bounding box of a ball.
fn around(centre: [f32; 3], radius: f32) -> Bounds {
    [centre.map(|x| x - radius), centre.map(|x| x + radius)]
}
