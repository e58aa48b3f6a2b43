//! The floor as quads with texture coordinates.

use crate::assets::relief::{self, ReliefMaps};
use crate::gpu_types::{
    Constants, FEATURE_CLEAR_FLOOR, FEATURE_DISPLACED, FEATURE_ENDLESS_FLOOR, FEATURE_FADE, FEATURE_FLOOR,
    FEATURE_GROUND, FEATURE_RELIEF, FEATURE_ROUGHNESS, FEATURE_TEXTURE, FLOOR_ENDLESS, FLOOR_GROUND, FLOOR_ROUND,
    FLOOR_SIDE, FeatureSet, FloorQuad, RELIEF_FLAT,
};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub, to_f32};
use crate::scene::{Floor, FloorShape, MaterialKind, corner_uv, is_clockwise, is_parallelogram, uv_gradients};

const _: () = assert!(relief::LEVEL as i32 == RELIEF_FLAT);

/// The constants of the floor's relief.
pub fn constants(floor: &Floor, relief: Option<&ReliefMaps>) -> Constants {
    let layers = floor.relief.as_ref().map_or(0, |r| 1 + i32::from(r.drifts()));
    let heights = relief.and_then(|r| r.heights.as_ref());
    // Two layers together have the slopes of one (relief_share in the kernels), and sqrt(2) times its depth.
    let depth = f64::from(relief.map_or(0.0, |r| r.depth)) * f64::from(layers).sqrt() / 65535.0;
    // Rays cross a layer even where all heights are the same.
    const MARGIN: u16 = 256;
    let extremes = heights.and_then(|h| Some((h[0].cells.iter().max()?, h[0].cells.iter().min()?)));
    let [crest_depth, trough_depth] = extremes.map_or([0.0; 2], |(highest, lowest)| {
        [highest.saturating_add(MARGIN), lowest.saturating_sub(MARGIN)]
            .map(|h| (depth * f64::from(u16::MAX - h)) as f32)
    });
    Constants {
        relief_levels: relief.map_or(0, |r| r.maps.levels.len() as i32),
        relief_tiles: floor.relief.as_ref().map_or(0.0, |r| r.tiles as f32),
        relief_layers: layers,
        relief_slope: relief.map_or(0.0, |r| r.slope),
        relief_footprint: floor.relief.as_ref().map_or(1.0, |r| (1.0 - r.glitter) as f32),
        relief_alpha: relief.map_or(0.0, |r| r.alpha),
        height_levels: heights.map_or(0, |heights| heights.len() as i32),
        height_depth: relief.map_or(0.0, |r| r.depth),
        crest_depth,
        trough_depth,
        fade_centre: to_f32(scale(floor.corners.into_iter().fold([0.0; 3], add), 0.25)),
        ..Constants::default()
    }
}

/// The offset of the relief's maps.
pub fn relief_offset(floor: Option<&Floor>) -> [f32; 2] {
    floor.and_then(|f| f.relief.as_ref()).map_or([0.0; 2], |r| r.offset.map(|x| x as f32))
}

/// The features that a floor needs from kernels, as bits of Constants::features.
pub fn features(floor: &Floor) -> FeatureSet {
    of_shape(floor)
        | (FeatureSet::from(floor.texture.is_some()) * FEATURE_TEXTURE)
        | (FeatureSet::from(floor.fade > 0.0) * FEATURE_FADE)
        | (FeatureSet::from(floor.relief.is_some()) * (FEATURE_RELIEF | FEATURE_ROUGHNESS))
        | (FeatureSet::from(floor.has_ground()) * (FEATURE_GROUND | FEATURE_ENDLESS_FLOOR))
        | (FeatureSet::from(is_clear(floor)) * FEATURE_CLEAR_FLOOR)
        | (FeatureSet::from(floor.relief.as_ref().is_some_and(|relief| relief.displaced)) * FEATURE_DISPLACED)
}

// Whether it lets light through somewhere.
fn is_clear(floor: &Floor) -> bool {
    floor.material.shares().1 > 0.0 || floor.fade > 0.0 && floor.shape != FloorShape::Endless && !floor.has_ground()
}

fn of_shape(floor: &Floor) -> FeatureSet {
    let is_flat_and_opaque = floor.relief.is_none()
        && floor.material.is_simple()
        && matches!(floor.material.kind, MaterialKind::Plain { transparency: 0.0, .. });
    match floor.shape {
        FloorShape::Square if is_flat_and_opaque && (floor.fade == 0.0 || floor.has_ground()) => 0,
        FloorShape::Endless if is_flat_and_opaque => FEATURE_ENDLESS_FLOOR,
        _ => FEATURE_FLOOR,
    }
}

/// The floor as one or two quads, then the ground below it and the sides of the slab.
pub fn flatten(floor: &Floor) -> Vec<FloorQuad> {
    let mut quads = own_quads(floor);
    if floor.has_ground() {
        let (level, top) = (floor.ground_level() as f32, floor.ground_top() as f32);
        let ground = FloorQuad { n: [0.0, 0.0, 1.0], d: level, side: FLOOR_GROUND, top, ..FloorQuad::default() };
        quads.push(ground);
        quads.extend(floor.sides().into_iter().map(|side| FloorQuad { top, ..flatten_side(side, floor.bevel()) }));
    }
    quads
}

// A side of the slab: u runs along the floor's edge, v down.
fn flatten_side([corner, along, down]: [Vec3; 3], bevel: f64) -> FloorQuad {
    let normal = cross(along, down);
    let per_square = 1.0 / dot(normal, normal);
    let plane = |g: Vec3| [g[0] as f32, g[1] as f32, g[2] as f32, -dot(g, corner) as f32];
    let n = normalise(normal);
    FloorQuad {
        n: to_f32(n),
        d: dot(n, corner) as f32,
        u: plane(scale(cross(down, normal), per_square)),
        v: plane(scale(cross(normal, along), per_square)),
        side: FLOOR_SIDE,
        bevel: (bevel / length(down)) as f32,
        ..FloorQuad::default()
    }
}

/// The quads of the floor itself.
pub fn own_quads(floor: &Floor) -> Vec<FloorQuad> {
    if is_parallelogram(&floor.corners) {
        let side = match floor.shape {
            FloorShape::Square => 0,
            FloorShape::Round => FLOOR_ROUND,
            FloorShape::Endless => FLOOR_ENDLESS,
        };
        return vec![flatten_quad(floor, [0, 1, 3], side)];
    }
    let sides = if is_clockwise(&floor.corners) { [2, 1] } else { [1, 2] };
    vec![flatten_quad(floor, [0, 1, 2], sides[0]), flatten_quad(floor, [0, 2, 3], sides[1])]
}

fn flatten_quad(floor: &Floor, corners: [usize; 3], side: i32) -> FloorQuad {
    let [a, b, c] = corners.map(|i| floor.corners[i]);
    let (ab, ac) = (sub(b, a), sub(c, a));
    let mut n = normalise(cross(ab, ac));
    if n[2] < 0.0 {
        n = scale(n, -1.0);
    }
    let [gu, gv] = uv_gradients(&floor.corners, corners);
    let [at_u, at_v] = corner_uv(&floor.corners).map(|values| values[corners[0]]);
    let plane = |g: Vec3, at: f64| [g[0] as f32, g[1] as f32, g[2] as f32, (at - dot(g, a)) as f32];
    let (u, v) = (plane(gu, at_u), plane(gv, at_v));
    FloorQuad {
        n: to_f32(n),
        d: dot(n, a) as f32,
        u,
        v,
        side,
        uv_per_length: length(gu).max(length(gv)) as f32,
        ..FloorQuad::default()
    }
}

// The floor's point at (u, v), and its quad.
pub fn point(floor: &Floor, u: f64, v: f64) -> (Vec3, usize) {
    let p = floor.corners;
    // The triangle's own coordinates, along its first and its last side.
    let (u, v) = if is_clockwise(&p) { (v, u) } else { (u, v) };
    if u <= v {
        (add(p[0], add(scale(sub(p[1], p[0]), v), scale(sub(p[2], p[1]), u))), 0)
    } else {
        (add(p[0], add(scale(sub(p[3], p[0]), u), scale(sub(p[2], p[3]), v))), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_coordinates_hit_the_corners() {
        let corners = [[-4.0, -4.0, -1.0], [-4.0, 4.0, 0.5], [4.0, 4.0, -1.0], [4.0, -4.0, -2.0]];
        let floor = Floor { corners, ..Floor::default() };
        let quads = flatten(&floor);
        let [us, vs] = corner_uv(&corners);
        assert_eq!(quads.len(), 2);
        for (quad, corners) in quads.iter().zip([[0, 1, 2], [0, 2, 3]]) {
            for i in corners {
                let p = to_f32(floor.corners[i]);
                let at = |g: [f32; 4]| f64::from(g[0] * p[0] + g[1] * p[1] + g[2] * p[2] + g[3]);
                assert!((at(quad.u) - us[i]).abs() < 1e-6 && (at(quad.v) - vs[i]).abs() < 1e-6);
            }
        }
        for (i, (u, v)) in us.into_iter().zip(vs).enumerate() {
            assert!(length(sub(point(&floor, u, v).0, floor.corners[i])) < 1e-12);
        }
    }
}
