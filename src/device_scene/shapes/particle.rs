//! Particles that are not spheres: polyhedra are bodies without bars, and there are ellipsoids.

use super::{cone, ellipsoid, origin_inside};
use crate::assets::particles::shape::{Polyhedron, Shape, ShapedParticle, ShapedParticles, farthest, rotated};
use crate::gpu_types::{Body, Cone, Ellipsoid, FEATURE_BEVELS, FEATURE_ROUND, FeatureSet, SHAPE_BODY, Slab};
use crate::math::bvh::Bounds;
use crate::math::vec3::{Vec3, add, dot, to_f32};
use rayon::prelude::*;

/// Particles in the kernels' format.
#[derive(Default)]
pub struct FlatParticles {
    pub slabs: Vec<Slab>,
    pub bodies: Vec<Body>,
    pub body_boxes: Vec<Bounds>,
    pub ellipsoids: Vec<Ellipsoid>,
    pub ellipsoid_boxes: Vec<Bounds>,
    pub cones: Vec<Cone>,
    pub cone_boxes: Vec<Bounds>,
    /// The features that they need from kernels.
    pub features: FeatureSet,
}

// Two opposite faces of a polyhedron, or one face and how far the body reaches behind it.
struct Pair {
    normal: Vec3,
    hi: f64,
    back: f64,
    is_lone: bool,
}

// A polyhedron of size 1 around the particle.
struct Solid<'a> {
    pairs: Vec<Pair>,
    corners: &'a [Vec3],
    reach: f64,
    // The width of its bevels, and the tangent of half of the mean angle between neighbors' normals.
    bevel: f64,
    lean: f64,
}

impl Solid<'_> {
    fn new(p: &Polyhedron) -> Solid<'_> {
        let reach = farthest(&p.outer);
        let mut pairs: Vec<Pair> = Vec::new();
        for face in &p.faces {
            let hi = face.distance + p.rounding;
            if let Some(pair) = pairs.iter_mut().find(|pair| dot(pair.normal, face.normal) < -1.0 + 1e-9) {
                (pair.back, pair.is_lone) = (-hi, false);
                continue;
            }
            let least = p.outer.iter().map(|&v| dot(v, face.normal)).fold(f64::INFINITY, f64::min);
            pairs.push(Pair { normal: face.normal, hi, back: least - 0.001 * reach, is_lone: true });
        }
        let thinnest = pairs.iter().map(|pair| 0.5 * (pair.hi - pair.back)).fold(f64::INFINITY, f64::min);
        let share = if p.rounding > 0.0 { p.bevel() / p.rounding } else { 0.0 };
        let lean = (share / (2.0 - share).max(1e-3)).sqrt();
        Solid { pairs, corners: &p.outer, reach, bevel: p.bevel().min(thinnest), lean }
    }

    fn slab(&self, pair: &Pair, placed: &ShapedParticle) -> Slab {
        let [hi, back] = [pair.hi, pair.back].map(|x| x * placed.size[0]);
        Slab {
            n: to_f32(rotated(placed.rotation, pair.normal)),
            lo: if pair.is_lone { -1.0e30 } else { back as f32 },
            hi: hi as f32,
            middle: ((hi + back) / 2.0) as f32,
            half: ((hi - back) / 2.0) as f32,
        }
    }

    fn bounds(&self, placed: &ShapedParticle) -> Bounds {
        let size = placed.size[0];
        let margin = size * 1e-4 * self.reach;
        let corners = self.corners.iter().map(|&v| rotated(placed.rotation, v.map(|x| x * size)));
        let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        let [low, high] = corners.fold(none, |[low, high], p| {
            [[0, 1, 2].map(|i| f64::min(low[i], p[i])), [0, 1, 2].map(|i| f64::max(high[i], p[i]))]
        });
        [add(placed.centre, low.map(|x| x - margin)), add(placed.centre, high.map(|x| x + margin))].map(to_f32)
    }
}

/// Flattens particles behind so many bodies and slabs; `material` is the index of the material of a color with bevels of a width.
pub fn flatten(
    particles: &ShapedParticles,
    [bodies, slabs]: [usize; 2],
    mut material: impl FnMut(u16, f32) -> i32,
) -> FlatParticles {
    let solids: Vec<Option<Solid>> = particles
        .shapes
        .iter()
        .map(|shape| match shape {
            Shape::Polyhedron(p) => Some(Solid::new(p)),
            _ => None,
        })
        .collect();
    let mut flat = FlatParticles::default();
    // The polyhedra with their first slabs and materials.
    let (mut polyhedra, mut first) = (Vec::new(), slabs);
    for placed in &particles.placed {
        match (&particles.shapes[placed.shape as usize], &solids[placed.shape as usize]) {
            (_, Some(solid)) => {
                polyhedra.push((placed, solid, first, material(placed.colour, (solid.bevel * placed.size[0]) as f32)));
                first += solid.pairs.len();
            }
            (Shape::Ellipsoid(axes), _) => {
                let radii = [0, 1, 2].map(|i| axes[i] * placed.size[i]);
                let axes =
                    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| rotated(placed.rotation, axis));
                flat.ellipsoids.push(ellipsoid::flattened(placed.centre, &axes, radii, material(placed.colour, 0.0)));
                flat.ellipsoid_boxes.push(ellipsoid::bounds_of(placed.centre, &axes, radii));
            }
            _ => {}
        }
    }
    flat.cones = particles.rods.iter().map(|rod| cone::flatten(rod, material(rod.colour, 0.0))).collect();
    flat.cone_boxes = particles.rods.par_iter().map(cone::bounds).collect();
    let slabs_of = |&(placed, solid, ..): &(&ShapedParticle, &Solid, usize, i32)| {
        solid.pairs.iter().map(|pair| solid.slab(pair, placed)).collect::<Vec<_>>()
    };
    flat.slabs = polyhedra.par_iter().flat_map_iter(slabs_of).collect();
    let body = |(k, &(placed, solid, first, material)): (usize, &(&ShapedParticle, &Solid, usize, i32))| {
        let radius = solid.reach * placed.size[0];
        Body {
            centre: to_f32(placed.centre),
            bounds: (1.02 * radius * radius) as f32,
            first_slab: first as i32,
            slabs: solid.pairs.len() as i32,
            origin_inside: origin_inside(SHAPE_BODY, bodies + k),
            material,
            material_inside: material,
            bar_lean: solid.lean as f32,
            lamp_spacing: 1.0,
            lamps_per_length: 1.0,
            chase: -1.0,
            ..Body::default()
        }
    };
    flat.bodies = polyhedra.par_iter().enumerate().map(body).collect();
    flat.body_boxes = polyhedra.par_iter().map(|(placed, solid, ..)| solid.bounds(placed)).collect();
    let is_round = solids.iter().flatten().any(|solid| solid.bevel > 0.0);
    flat.features = FeatureSet::from(is_round) * (FEATURE_BEVELS | FEATURE_ROUND);
    flat
}
