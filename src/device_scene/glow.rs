//! The lamps and balls of light whose light the air scatters.

use super::emitters::lamps_by_edge;
use super::geometry::Geometry;
use crate::gpu_types::{AirLight, FEATURE_GLOW, FeatureSet};
use crate::math::vec3::{Vec3, add, dot, scale, sub, to_f32};
use crate::scene::Scene;

// How many sources there are at most. Each ray asks all of them.
const MAX_SOURCES: usize = 128;

/// The features that the glow needs from kernels, as bits of Constants::features.
pub fn features(scene: &Scene) -> FeatureSet {
    FeatureSet::from(scene.world.air.glows()) * FEATURE_GLOW
}

struct Source {
    centre: Vec3,
    // The mean squared distance of its lamps from the center, or so little of a ball that rays to its middle count well.
    spread: f64,
    strength: Vec3,
}

/// The sources of a scene: its balls of light, and the lamps of each edge, in as many parts as there is room for.
pub fn air_lights(scene: &Scene, geometry: &Geometry) -> Vec<AirLight> {
    if !scene.world.air.glows() {
        return Vec::new();
    }
    let balls = geometry.spheres.iter().zip(&geometry.sphere_materials).filter_map(|(ball, &material)| {
        let light = geometry.materials[material as usize].emission.map(f64::from);
        let radius = f64::from(ball.radius);
        let strength = scale(light, radius * radius);
        (light.iter().sum::<f64>() > 0.0).then(|| Source {
            centre: ball.centre.map(f64::from),
            spread: radius * radius,
            strength,
        })
    });
    let mut sources: Vec<Source> = balls.collect();
    let edges = lamps_by_edge(scene, geometry);
    // Parts of an edge.
    let room = MAX_SOURCES.saturating_sub(sources.len()) / edges.len().max(1);
    for mut lamps in edges {
        lamps.sort_by_key(|lamp| lamp.index);
        for part in lamps.chunks(lamps.len().div_ceil(room.clamp(1, 8)).max(1)) {
            let (share, radius) = (1.0 / part.len() as f64, f64::from(part[0].radius));
            let places = || part.iter().map(|lamp| lamp.position.map(f64::from));
            let centre = scale(places().fold([0.0; 3], add), share);
            let off = |p: Vec3| dot(sub(p, centre), sub(p, centre));
            let spread = places().map(off).sum::<f64>() * share + radius * radius;
            let strength = part.iter().map(|lamp| lamp.strength.map(f64::from)).fold([0.0; 3], add);
            sources.push(Source { centre, spread, strength });
        }
    }
    // More than that are the strongest of them.
    let power = |source: &Source| source.strength.iter().sum::<f64>();
    if sources.len() > MAX_SOURCES {
        sources.sort_by(|a, b| power(b).total_cmp(&power(a)));
        sources.truncate(MAX_SOURCES);
    }
    // An intensity counts light as a white surface shows it, which is pi times less than what passes: of the light that the air
    // scatters, a quarter of a pi-th goes into each steradian.
    let scattered = 0.25 * scene.world.air.glow;
    let light = |source: Source| AirLight {
        centre: to_f32(source.centre),
        softness: source.spread.max(1e-12) as f32,
        strength: to_f32(scale(source.strength, scattered)),
        pad: 0,
    };
    sources.into_iter().map(light).collect()
}
