//! Emitters that are sampled for light: shapes that emit light, the lamps of bodies, and cells of the sky map.

use super::geometry::Geometry;
use super::lights::{Lamp, lamps_of};
use super::shapes::ellipsoid;
use super::sky;
use crate::assets::Assets;
use crate::gpu_types::{
    EMITTER_ELLIPSOID, EMITTER_SKY, EMITTER_SPHERE, EMITTER_TRIANGLE, Emitter, ISOLATED, SKY_CELLS,
};
use crate::math::vec3::{cross, length};
use crate::scene::Scene;

/// Adds the emitters of a scene to its shapes.
pub fn add(scene: &Scene, assets: &Assets, g: &mut Geometry) {
    let emitter = |kind, index: usize, centre, material: i32| {
        let colour = g.materials[material as usize].emission;
        let shines = colour.iter().any(|&c| c > 0.0);
        shines.then(|| Emitter { centre, colour, kind, index: index as i32, ..Emitter::default() })
    };
    // A random number chooses an emitter by its index in the list, so spheres and triangles do not have the order of the tree's leaves.
    let bits = |v: [f32; 3]| v.map(f32::to_bits);
    // Most scenes of many balls have none that shines.
    let shines = g.materials.iter().any(|m| m.emission.iter().any(|&c| c > 0.0));
    let count = if shines { g.spheres.len() } else { 0 };
    let spheres = g.spheres[..count].iter().zip(&g.sphere_materials).filter_map(|(sphere, &material)| {
        Some(Emitter { radius: sphere.radius, ..emitter(EMITTER_SPHERE, 0, sphere.centre, material)? })
    });
    let mut spheres: Vec<Emitter> = spheres.collect();
    spheres.sort_by_key(|e| (bits(e.centre), e.radius.to_bits(), bits(e.colour)));
    let triangles = g.triangles.iter().enumerate();
    let triangles = triangles.filter_map(|(i, t)| emitter(EMITTER_TRIANGLE, i, t.a, t.material_index));
    let mut triangles: Vec<Emitter> = triangles.collect();
    triangles.sort_by_key(|e| {
        let t = &g.triangles[e.index as usize];
        (bits(t.a), bits(t.ab), bits(t.ac), bits(e.colour))
    });
    let ellipsoids = g.ellipsoids.iter().enumerate();
    let ellipsoids = ellipsoids.filter_map(|(i, e)| emitter(EMITTER_ELLIPSOID, i, e.centre, e.material_index));
    let lamps = lamps_by_edge(scene, g).into_iter().flatten().map(|lamp| Emitter {
        centre: lamp.position,
        normal: lamp.normal,
        radius: lamp.radius,
        colour: lamp.strength,
        ..Emitter::default()
    });
    let mut all: Vec<Emitter> = spheres.into_iter().chain(triangles).chain(ellipsoids).chain(lamps).collect();
    let mut sizes: Vec<f64> = all.iter().map(|e| size(g, e)).collect();
    // The sky's cells come last. At the distance of the scene's reach, a cell is compared with other emitters as a
    // ball of this size.
    let map = sky::map(scene, assets).filter(|_| scene.render.integrator.capabilities().samples_emitters);
    for (cell, (colour, solid_angle)) in map.iter().flat_map(|map| map.cells(SKY_CELLS as usize)).enumerate() {
        all.push(Emitter { colour, kind: EMITTER_SKY, index: cell as i32, ..Emitter::default() });
        sizes.push(solid_angle / std::f64::consts::PI * f64::from(g.reach) * f64::from(g.reach));
    }
    let total = set_probabilities(&mut all, &sizes);
    g.emitter_scale = (1.0 / total) as f32;
    g.emitter_min = (MIN_SHARE / all.len().max(1) as f64) as f32;
    g.emitters = all;
}

/// The lamps of a scene whose light leaves their body or is visible in it, by edges.
pub fn lamps_by_edge(scene: &Scene, g: &Geometry) -> Vec<Vec<Lamp>> {
    lamps_of(scene, |k| lights_inside(scene, k) || g.bodies[k].origin_inside & ISOLATED == 0)
}

// Whether light inside a body is visible on its own panes, or through them.
fn lights_inside(scene: &Scene, k: usize) -> bool {
    let body = &scene.world.bodies[k];
    let (reflection, transparency) = body.material.shares();
    transparency > 0.0 || body.reflection_inside.unwrap_or(reflection) < 1.0
}

// The size by which an emitter's light at a distance grows, besides its radiance.
fn size(g: &Geometry, e: &Emitter) -> f64 {
    match e.kind {
        EMITTER_SPHERE => f64::from(e.radius) * f64::from(e.radius),
        EMITTER_TRIANGLE => {
            let t = &g.triangles[e.index as usize];
            let area = length(cross(t.ab.map(f64::from), t.ac.map(f64::from))) / 2.0;
            area / (2.0 * std::f64::consts::PI)
        }
        EMITTER_ELLIPSOID => ellipsoid::size(&g.ellipsoids[e.index as usize]),
        _ => 1.0,
    }
}

// The minimum probability of an emitter, as a fraction of that of uniform sampling. Its inverse must fit into single
// precision.
const MIN_SHARE: f64 = 1e-6;

// Sets probabilities proportional to the light at a distance, as tables of the alias method (Walker, "An efficient
// method for generating discrete random variables with general distributions", 1977). Returns the sum of the weights.
fn set_probabilities(all: &mut [Emitter], sizes: &[f64]) -> f64 {
    let weight = |(e, size): (&Emitter, &f64)| f64::from(e.colour.iter().copied().fold(0.0, f32::max)) * size;
    let weights: Vec<f64> = all.iter().zip(sizes).map(weight).collect();
    let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let count = all.len() as f64;
    let mut rest: Vec<f64> = weights.iter().map(|w| (w / total * count).max(MIN_SHARE)).collect();
    for (e, &share) in all.iter_mut().zip(&rest) {
        (e.inverse_pmf, e.alias_threshold) = ((count / share) as f32, 1.0);
    }
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|&i| rest[i] < 1.0);
    while let (Some(i), Some(&j)) = (small.pop(), large.last()) {
        (all[i].alias_threshold, all[i].alias_index) = (rest[i] as f32, j as i32);
        rest[j] -= 1.0 - rest[i];
        if rest[j] < 1.0 {
            large.pop();
            small.push(j);
        }
    }
    total
}
