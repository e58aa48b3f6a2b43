//! The sky's map, its gradient, and its stars, sorted by cell so that a ray finds those that it may see.

use crate::assets::Assets;
use crate::assets::sky::{self, SkyMap, octahedron, unfolded};
use crate::gpu_types::{
    Constants, FEATURE_AREA_LIGHTS, FEATURE_LIGHTS, FEATURE_SKY_MAP, FEATURE_STARS, FEATURE_SUN,
    FEATURE_TRANSPARENT_SKY, FeatureSet, Light, STAR_CELLS, STAR_REACH, Star,
};
use crate::math::srgb::linear_colour;
use crate::math::vec3::{length, normalise, scale, sub, to_f32};
use crate::scene::{Air, Scene, Sky, SkySource};
use std::f64::consts::PI;

// The number of points along a cell's side that are compared with a star.
const POINTS: usize = 9;
const SIDE: usize = STAR_CELLS as usize;

/// The distance of the farthest lights, over the scene's reach.
pub const FARTHEST_LIGHT: f64 = 1.0e7;

/// The features that a sky needs from kernels, as bits of Constants::features.
pub fn features(sky: &Sky) -> FeatureSet {
    (FeatureSet::from(sky.image.is_some()) * FEATURE_SKY_MAP)
        | (FeatureSet::from(sky.image == Some(SkySource::Night)) * FEATURE_STARS)
        | (FeatureSet::from(sky.image == Some(SkySource::Sun)) * (FEATURE_LIGHTS | FEATURE_AREA_LIGHTS | FEATURE_SUN))
        | (FeatureSet::from(sky.transparent) * FEATURE_TRANSPARENT_SKY)
}

// How far away the sun is, where coordinates are at most `reach`.
fn sun_distance(reach: f32) -> f64 {
    1.0e4 * size(reach)
}
fn size(reach: f32) -> f64 {
    f64::from(if reach > 0.0 { reach } else { 1.0 })
}

/// The length of shadow rays to the sky. Kernels take it for longer than any way through fog that dims light.
pub fn distance(air: &Air, reach: f32) -> f32 {
    match (air.is_foggy(), air.hides_sky()) {
        (false, _) => 4.0 * reach,
        // Farther than all lights.
        (true, false) => (4.0 * FARTHEST_LIGHT * size(reach)) as f32,
        (true, true) => f32::MAX,
    }
}

/// The sun as a light far beyond the scene, whose coordinates `reach` bounds. It has `samples` shadow rays.
pub fn sunlight(map: Option<&SkyMap>, reach: f32, samples: i32) -> Option<Light> {
    let sun = map?.sun?;
    let distance = sun_distance(reach);
    Some(Light {
        position: to_f32(scale(sun.direction, distance)),
        colour: to_f32(scale(sun.irradiance, 1.0 / PI)),
        radius: (distance * sun.radius) as f32,
        samples,
    })
}

/// The constants of the sun's disc.
pub fn disc(map: Option<&SkyMap>) -> Constants {
    let Some(sun) = map.and_then(|map| map.sun) else { return Constants::default() };
    let square = sun.radius * sun.radius;
    Constants {
        sun_sharpness: (1.0 / square) as f32,
        sun_direction: to_f32(sun.direction),
        sun_radiance: to_f32(scale(sun.irradiance, 1.0 / (PI * square))),
        ..Constants::default()
    }
}

/// The sky map, if the sky is visible. It is infinitely far away, so fog without an end hides it.
pub fn map<'a>(scene: &Scene, assets: &'a Assets) -> Option<&'a SkyMap> {
    assets.sky.as_deref().filter(|_| !scene.world.air.hides_sky())
}

/// The linear colors of the sky's gradient, at the zenith and at the horizon. Fog without an end replaces them.
pub fn gradient(scene: &Scene) -> [[f32; 3]; 2] {
    let (world, air) = (&scene.world, &scene.world.air);
    let colours = if air.hides_sky() { [air.colour; 2] } else { [world.sky.zenith, world.sky.horizon] };
    colours.map(linear_colour)
}

/// The stars by cell of the map, and the index of each cell's first star. A star is listed in all cells that its disc
/// may reach.
pub fn stars(map: Option<&SkyMap>) -> (Vec<Star>, Vec<i32>) {
    let Some(map) = map.filter(|map| !map.stars.is_empty()) else { return (Vec::new(), Vec::new()) };
    let mut cells = vec![Vec::new(); SIDE * SIDE];
    for star in &map.stars {
        let (u, v) = unfolded(star.direction);
        let of = |t: f64| (((t + 1.0) * 0.5 * SIDE as f64) as usize).min(SIDE - 1);
        let near = |i: usize| i.saturating_sub(1)..=(i + 1).min(SIDE - 1);
        for (y, x) in near(of(v)).flat_map(|y| near(of(u)).map(move |x| (y, x))) {
            if (x, y) == (of(u), of(v)) || reaches(star, x, y) {
                cells[y * SIDE + x].push(*star);
            }
        }
    }
    let mut first = vec![0];
    let mut list = Vec::new();
    for cell in cells {
        let flat = |star: sky::Star| Star {
            direction: to_f32(star.direction),
            irradiance: to_f32(star.irradiance),
            ..Star::default()
        };
        list.extend(cell.into_iter().map(flat));
        first.push(list.len() as i32);
    }
    (list, first)
}

// Whether the disc of a star may reach into a cell: it is near one of the cell's points.
fn reaches(star: &sky::Star, x: usize, y: usize) -> bool {
    let sample = |i: usize, k: usize| (i as f64 + k as f64 / (POINTS - 1) as f64) * 2.0 / SIDE as f64 - 1.0;
    let point = |k: usize| normalise(octahedron(sample(x, k % POINTS), sample(y, k / POINTS)));
    // Half of the diagonal between two points, times the maximum stretch of the octahedron.
    let between = 2.0 / (SIDE * (POINTS - 1)) as f64 * 0.5_f64.sqrt() * 3.0_f64.sqrt();
    let limit = f64::from(STAR_REACH) + between;
    (0..POINTS * POINTS).any(|k| length(sub(point(k), star.direction)) < limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3::{add, cross};
    use crate::scene::Sky;

    fn night() -> SkyMap {
        let sky = Sky { image: Some(SkySource::Night), rotation_deg: 40.0, ..Sky::default() };
        SkyMap::of(&sky, None).unwrap()
    }

    // All directions near a star above the horizon find it in their cell.
    #[test]
    fn stars_are_listed_where_they_are_seen() {
        let map = night();
        let (list, first) = stars(Some(&map));
        assert_eq!(first.len(), SIDE * SIDE + 1);
        for star in &map.stars {
            let right = normalise(cross(star.direction, [0.3, 0.9, 0.2]));
            let up = cross(star.direction, right);
            for turn in 0..32 {
                let (sine, cosine) = libm::sincos(f64::from(turn) * PI / 16.0);
                let off = scale(add(scale(right, cosine), scale(up, sine)), 0.999 * f64::from(STAR_REACH));
                let d = normalise(add(star.direction, off));
                if d[2] <= 0.0 {
                    continue;
                }
                let (u, v) = unfolded(d);
                let of = |t: f64| (((t + 1.0) * 0.5 * SIDE as f64) as usize).min(SIDE - 1);
                let cell = of(v) * SIDE + of(u);
                let here = &list[first[cell] as usize..first[cell + 1] as usize];
                assert!(here.iter().any(|s| s.direction == to_f32(star.direction)), "{star:?} from {d:?}");
            }
        }
    }

    // The mean light of the stars in the map equals that of all point lights.
    #[test]
    fn the_map_holds_the_light_of_its_stars() {
        let map = night();
        let points: f64 = map.stars.iter().map(|star| star.irradiance[1]).sum();
        let steps = 1000;
        let spread: f64 = (0..steps)
            .map(|i| 2.0 * PI / f64::from(steps) * sky::star_share((f64::from(i) + 0.5) / f64::from(steps)))
            .sum();
        assert!((map.starlight[1] * spread / points - 1.0).abs() < 1e-3);
    }
}
