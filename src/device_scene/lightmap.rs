//! The light map of lamps on the floor, for Whitted ray tracing: the points where light is computed, and the
//! resulting map. kernels.rs computes the light, once before the first frame.

use super::lights::{Lamp, lamps_of};
use super::upload::texel_words;
use super::{DeviceScene, floor};
use crate::math::vec3::{length, sub, to_f32};
use crate::scene::{LampSamples, Scene};
use std::sync::Arc;

// The number of shadow rays for the map: once per clip; for each frame if bodies move; and with many shapes that may
// occlude.
const RAYS: usize = 4 << 20;
const FEWER_RAYS: usize = 1 << 19;
const MANY_BODIES: usize = 1000;
// Texels along a side, from the maximum to the minimum.
const SIDES: [usize; 4] = [128, 64, 32, 16];
const MIN_SIDE: usize = 8;

/// Where lamp light is computed: points on the floor, and the lamps.
pub struct LightmapPlan {
    /// Texels along a side of the map.
    pub size: usize,
    /// Texel centers in texel order, each with its quad of the floor.
    pub points: Vec<([f32; 3], usize)>,
    /// The floor's upward normal, by quad.
    pub normals: Vec<[f32; 3]>,
    /// Lamp positions, three numbers each.
    pub lamps: Vec<f32>,
    /// Lamp normals, three numbers each.
    pub lamp_normals: Vec<f32>,
    /// Lamp intensities, r, g, b each.
    pub colours: Vec<f32>,
    /// A squared length that is added to squared distances, so that light near a lamp on the floor stays finite.
    pub softening: f32,
}

/// The plan, if the scene has lamps and a floor that need a map.
pub fn plan(scene: &Scene) -> Option<LightmapPlan> {
    let floor = scene.world.floor.as_ref()?;
    let all: Vec<Lamp> = lamps_of(scene, |_| false).into_iter().flatten().collect();
    // Path tracing and `lamp_samples` sample the lamps directly.
    if all.is_empty()
        || !scene.render.integrator.capabilities().bakes_lightmap
        || scene.render.lamp_samples != LampSamples::Floor
    {
        return None;
    }
    let quads = floor::own_quads(floor);
    let is_dear = scene.lamplight_changes() || scene.world.bodies.len() > MANY_BODIES;
    let rays = if is_dear { FEWER_RAYS } else { RAYS };
    let all = thinned(all, rays / (MIN_SIDE * MIN_SIDE));
    let flat = |of: fn(&Lamp) -> [f32; 3]| all.iter().flat_map(of).collect::<Vec<f32>>();
    let size = SIDES.into_iter().find(|s| s * s * all.len() <= rays).unwrap_or(MIN_SIDE);
    let texel = |i: usize| (i as f64 + 0.5) / size as f64;
    let points = (0..size * size).map(|i| {
        let (u, v) = (texel(i % size), texel(i / size));
        let (p, quad) = floor::point(floor, u, v);
        (to_f32(p), quad.min(quads.len() - 1))
    });
    let extent = floor.corners.iter().map(|&c| length(sub(c, floor.corners[0]))).fold(0.0, f64::max);
    let step = extent / size as f64;
    Some(LightmapPlan {
        size,
        points: points.collect(),
        normals: quads.iter().map(|q| q.n).collect(),
        lamps: flat(|l| l.position),
        lamp_normals: flat(|l| l.normal),
        colours: flat(|l| l.strength),
        softening: (step * step * 0.25) as f32,
    })
}

// At most `max` lamps. Evenly chosen lamps stand for their neighbors along the edges.
fn thinned(lamps: Vec<Lamp>, max: usize) -> Vec<Lamp> {
    let (count, apart) = (lamps.len(), lamps.len().div_ceil(max).max(1));
    let share = count as f32 / count.div_ceil(apart) as f32;
    let brighter = |lamp: Lamp| Lamp { strength: lamp.strength.map(|c| c * share), ..lamp };
    lamps.into_iter().step_by(apart).map(brighter).collect()
}

impl DeviceScene {
    /// Stores the computed light: linear r, g, b for each texel.
    pub fn set_lightmap(&mut self, size: usize, light: &[f32]) {
        let max = light.iter().fold(0.0f32, |a, &b| a.max(b));
        if max <= 0.0 {
            self.constants.lightmap_size = 0;
            return;
        }
        let map = &mut Arc::make_mut(&mut self.geometry).lightmap;
        let texels = light.as_chunks::<3>().0.iter();
        *map = texels.flat_map(|p| texel_words(p.map(|c| (c / max * 65535.0).round() as u16))).collect();
        self.constants.lightmap_scale = max;
        self.constants.lightmap_size = size as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Eight million lamps once took minutes.
    #[test]
    fn lamps_without_number_are_thinned_and_shine_as_much() {
        let lamp = |i: usize| Lamp {
            position: [i as f32, 0.0, 0.0],
            normal: [0.0, 0.0, 1.0],
            strength: [0.5, 1.0, (i % 2) as f32],
            index: 0,
            radius: 0.1,
        };
        for (count, max, left) in [(7, 7, 7), (8, 7, 4), (1000, 300, 250), (1001, 300, 251), (5, 1, 1)] {
            let lamps = thinned((0..count).map(lamp).collect(), max);
            assert_eq!(lamps.len(), left, "{count}");
            let sum: f32 = lamps.iter().map(|l| l.strength[1]).sum();
            assert!((sum / count as f32 - 1.0).abs() < 1e-5, "{count}: {sum}");
        }
    }
}
