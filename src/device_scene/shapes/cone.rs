//! Cones, cylinders and capsules.

use crate::assets::particles::shape::Rod;
use crate::gpu_types::Cone;
use crate::math::bvh::Bounds;
use crate::math::vec3::{Vec3, normalise, sub, to_f32};

// A disc is as thick as this share of its radius.
const THIN: f64 = 1e-3;

// A rod is as thick as this share of its length at least: the surface of a thinner one is finer than single precision.
const SLENDER: f64 = 1e-4;

fn radii(rod: &Rod) -> [f64; 2] {
    let (widest, least) = (rod.radii[0].max(rod.radii[1]), SLENDER * rod.length());
    if widest >= least || widest == 0.0 { rod.radii } else { rod.radii.map(|radius| radius * least / widest) }
}

// The direction of the axis, which a rod without length has too.
fn axis(rod: &Rod) -> Vec3 {
    if rod.length() > 0.0 { normalise(sub(rod.ends[1], rod.ends[0])) } else { [0.0, 0.0, 1.0] }
}

pub fn flatten(rod: &Rod, material_index: i32) -> Cone {
    let [a, b] = radii(rod);
    let (middle, _) = rod.ball();
    let long = if rod.is_round { rod.length() } else { rod.length().max(THIN * a.max(b)) };
    let reach = if rod.is_round { 0.5 * long + a } else { libm::hypot(0.5 * long, a.max(b)) };
    // The next power of two.
    let size = 2.0 * f64::from_bits(reach.to_bits() & f64::INFINITY.to_bits());
    Cone {
        centre: to_f32(middle),
        material_index,
        axis: to_f32(axis(rod)),
        size: size as f32,
        inverse_size: (1.0 / size) as f32,
        half: (0.5 * long / size) as f32,
        radius: (0.5 * (a + b) / size) as f32,
        slope: if rod.is_round { 0.0 } else { ((b - a) / long) as f32 },
        round: i32::from(rod.is_round),
    }
}

pub fn bounds(rod: &Rod) -> Bounds {
    let (axis, radii) = (axis(rod), radii(rod));
    let margin = 1e-4 * rod.ball().1 + THIN * radii[0].max(radii[1]);
    // How far the end with this radius reaches along x, y or z.
    let reach = |i: usize, radius: f64| {
        radius * if rod.is_round { 1.0 } else { f64::max(1.0 - axis[i] * axis[i], 0.0).sqrt() } + margin
    };
    let side = |sign: f64, farther: fn(f64, f64) -> f64| {
        let end = |end: usize, i: usize| rod.ends[end][i] + sign * reach(i, radii[end]);
        to_f32([0, 1, 2].map(|i| farther(end(0, i), end(1, i))))
    };
    [side(-1.0, f64::min), side(1.0, f64::max)]
}
