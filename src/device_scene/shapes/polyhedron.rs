//! Polyhedra as pairs of planes, with their bars and lamps.

use super::origin_inside;
use crate::device_scene::film::Films;
use crate::device_scene::materials;
use crate::gpu_types::{
    Body as GpuBody, FEATURE_BARS, FEATURE_BEVELS, FEATURE_EMITTERS, FEATURE_LAMP_PATTERNS, FEATURE_MATERIALS,
    FEATURE_ROUND, FeatureSet, ISOLATED, LAMPS_DOME, LAMPS_INSIDE, LAMPS_OUTSIDE, Material, SHAPE_BODY, Slab,
};
use crate::math::bvh::Bounds;
use crate::math::platonic::Solid;
use crate::math::srgb::{linear, linear_colour};
use crate::math::vec3::{Vec3, dot, to_f32};
use crate::scene::{Body, LampShape, LampSides, MaterialKind, Scene};

// The radius at which a lamp fits on its bar and does not touch its neighbors.
pub fn lamp_radius(body: &Body) -> f64 {
    let spacing = body.solid.edge_length() * body.radius / f64::from(body.lamps.count().max(1));
    let fits = 0.42 * body.bar * body.radius;
    if body.lamps.is_strip() { fits } else { fits.min(0.42 * spacing) }
}

/// The radiance of the lamps, linear, by channel.
pub fn lamp_light(body: &Body) -> Vec3 {
    body.lamp_colour.map(|c| linear(c) * body.lamp_intensity)
}

/// The features that a body needs from kernels, as bits of Constants::features.
pub fn features(scene: &Scene, body: &Body) -> FeatureSet {
    let is_metal = matches!(body.material.kind, MaterialKind::Metal { .. });
    let needs_materials = is_metal || body.reflection_inside.is_some();
    let has_pattern = body.lamp_pattern.chase().is_some() || body.lamp_sides != LampSides::Both;
    materials::features(scene, &body.material)
        | (FeatureSet::from(needs_materials) * FEATURE_MATERIALS)
        | (FeatureSet::from(body.bevel_width().is_some()) * FEATURE_BEVELS)
        | (FeatureSet::from(body.is_round()) * FEATURE_ROUND)
        | (FeatureSet::from(body.bar > 0.0) * FEATURE_BARS)
        | (FeatureSet::from(has_pattern) * FEATURE_LAMP_PATTERNS)
        | (FeatureSet::from(scene.render.integrator.capabilities().samples_emitters && body.has_lamps())
            * FEATURE_EMITTERS)
}

/// Flattens a body, and appends its slabs, materials and films.
pub fn flatten(
    scene: &Scene,
    k: usize,
    is_isolated: bool,
    slabs: &mut Vec<Slab>,
    all: &mut Vec<Material>,
    films: &mut Films,
) -> GpuBody {
    let body = &scene.world.bodies[k];
    let first = slabs.len();
    let reach = body.solid.inradius() * body.radius;
    // A tetrahedron's faces are opposite to vertices, so each slab has only one plane.
    let lone = body.solid == Solid::Tetrahedron;
    let back = if lone { -1.001 * body.radius } else { -reach };
    for n in slab_normals(body) {
        slabs.push(Slab {
            n: to_f32(n),
            lo: if lone { -1.0e30 } else { back as f32 },
            hi: reach as f32,
            middle: ((reach + back) / 2.0) as f32,
            half: ((reach - back) / 2.0) as f32,
        });
    }
    let (sine, cosine) = (body.solid.edge_sine(), body.solid.edge_cosine());
    let (lean, is_dome) = (sine / (1.0 + cosine), body.lamp_shape == LampShape::Dome);
    let lamps = if body.bar > 0.0 && !body.lamps.is_strip() { body.lamps.count() } else { 0 };
    let spacing = body.solid.edge_length() * body.radius / f64::from(lamps.max(1));
    let [material, material_inside] = materials::sides(scene, body, films).map(|m| materials::index(all, m));
    GpuBody {
        centre: to_f32(body.centre),
        bounds: (1.02 * body.radius * body.radius) as f32,
        bar: (body.bar * body.radius * sine) as f32,
        bar_to_edge: (1.0 / sine) as f32,
        lamp_spacing: spacing as f32,
        lamps_per_length: (1.0 / spacing) as f32,
        lamp_sharpness: if body.has_lamps() { (1.0 / lamp_radius(body)) as f32 } else { 0.0 },
        lamp_fill: if body.lamps.is_strip() {
            1.0
        } else {
            (std::f64::consts::FRAC_PI_2 * lamp_radius(body) / spacing) as f32
        },
        lamp_merging: (4.0 / (3.0 * spacing * spacing)) as f32,
        lamp_colour: to_f32(lamp_light(body)),
        lamps: if body.lamps.is_strip() && body.has_lamps() { -1 } else { lamps as i32 },
        bar_colour: linear_colour(body.bar_colour),
        origin_inside: origin_inside(SHAPE_BODY, k) | if is_isolated { ISOLATED } else { 0 },
        first_slab: first as i32,
        slabs: (slabs.len() - first) as i32,
        material,
        material_inside,
        bar_reflect: body.bar_reflection as f32,
        bar_inverse: if body.bar > 0.0 { (1.0 / (body.bar * body.radius * sine)) as f32 } else { 0.0 },
        bar_turn: if body.bar > 0.0 { (2.0 / (body.bar * body.radius)) as f32 } else { 0.0 },
        lamp_sides: match body.lamp_sides {
            LampSides::Both => LAMPS_OUTSIDE | LAMPS_INSIDE,
            LampSides::Outside => LAMPS_OUTSIDE,
            LampSides::Inside => LAMPS_INSIDE,
        } | if is_dome { LAMPS_DOME } else { 0 },
        chase: body.lamp_pattern.chase().map_or(-1.0, |phase| phase.rem_euclid(1.0) as f32),
        lamp_core: body.lamp_core as f32,
        bar_lean: lean as f32,
        bar_inward: (cosine / sine) as f32,
        // A ball that touches both faces touches them this far from the edge.
        lamp_across: if is_dome { lamp_radius(body) * lean } else { 0.5 * body.bar * body.radius } as f32,
    }
}

// One normal for each pair of parallel faces.
fn slab_normals(body: &Body) -> Vec<Vec3> {
    let mut kept: Vec<Vec3> = Vec::new();
    for n in body.normals() {
        if kept.iter().all(|&m| dot(m, n) > -1.0 + 1e-9) {
            kept.push(n);
        }
    }
    kept
}

/// The number of each face's slab.
pub fn slabs_of_faces(body: &Body) -> Vec<usize> {
    let slabs = slab_normals(body);
    let of = |n: Vec3| slabs.iter().position(|&slab| dot(slab, n).abs() > 1.0 - 1e-9).unwrap_or_default();
    body.normals().into_iter().map(of).collect()
}

/// The bounding box. It is enlarged, so that rounding of the radius loses no grazing hit.
pub fn bounds(body: &Body) -> Bounds {
    super::around(to_f32(body.centre), body.radius as f32 * 1.0001)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_half_the_faces() {
        for solid in Solid::ALL {
            let n = slab_normals(&Body { solid, ..Body::default() }).len();
            let faces = solid.faces().len();
            assert_eq!(n, if solid == Solid::Tetrahedron { 4 } else { faces / 2 }, "{solid:?}");
        }
    }
}
