//! Polyhedra as pairs of planes, and what reaches into them.

use super::linear_colour;
use super::materials::{absorption, alpha, dispersion, stops_shadow_rays, surface_tint};
use crate::assets::Assets;
use crate::assets::mesh::Corners;
use crate::gpu_types::{Body as GpuBody, ISOLATED, LAMPS_INSIDE, LAMPS_OUTSIDE, Slab};
use crate::math::bvh::{Bounds, PointIndex};
use crate::math::platonic::Solid;
use crate::math::srgb::linear;
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, sub, to_f32};
use crate::scene::{Body, Floor, FloorShape, LampPattern, LampSides, MaterialKind, Scene};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

// A lamp fits the bar on its face, and its neighbours do not touch it.
pub fn lamp_radius(body: &Body) -> f64 {
    let spacing = body.solid.edge_length() * body.radius / f64::from(body.lamps.max(1));
    let fits = 0.42 * body.bar * body.radius;
    if body.strip { fits } else { fits.min(0.42 * spacing) }
}

/// Linear, by colour.
pub fn lamp_light(body: &Body) -> Vec3 {
    body.lamp_colour.map(|c| linear(c) * body.lamp_intensity)
}

/// A body, and its slabs behind those that there are.
pub fn flatten(scene: &Scene, k: usize, is_isolated: bool, slabs: &mut Vec<Slab>) -> GpuBody {
    let body = &scene.world.bodies[k];
    let first = slabs.len();
    let reach = body.solid.inradius() * body.radius;
    // A tetrahedron's faces are opposite to corners, where there is no plane to meet.
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
    let lamps = if body.bar > 0.0 && !body.strip { body.lamps } else { 0 };
    let spacing = body.solid.edge_length() * body.radius / f64::from(lamps.max(1));
    let material = &body.material;
    let ior = material.ior();
    let stops = stops_shadow_rays(scene, material);
    let (reflection, transparency) = material.shares();
    let (reflection_inside, transparency_inside) = body.shares_inside();
    let (metal, fuzz) = match material.kind {
        MaterialKind::Metal { fuzz, measured } => (1 + i32::from(measured.is_some()), fuzz as f32),
        _ => (0, 0.0),
    };
    let local = (1.0 - reflection - transparency).max(0.0);
    let local_inside = (1.0 - reflection_inside - transparency_inside).max(0.0);
    let highlight = material.highlight.unwrap_or(scene.world.highlight);
    let shadow = |through: f64| if stops { 0.0 } else { through as f32 };
    GpuBody {
        centre: to_f32(body.centre),
        bounds: (1.02 * body.radius * body.radius) as f32,
        colour: surface_tint(material),
        local: local as f32,
        highlight_weight: (local * highlight) as f32,
        reflect: reflection as f32,
        reflect_inside: reflection_inside as f32,
        transmit: transparency as f32,
        transmit_inside: transparency_inside as f32,
        local_inside: local_inside as f32,
        highlight_weight_inside: (local_inside * highlight) as f32,
        ior: ior as f32,
        bar: (body.bar * body.radius * sine) as f32,
        bar_to_edge: (1.0 / sine) as f32,
        lamp_spacing: spacing as f32,
        lamps_per_length: (1.0 / spacing) as f32,
        lamp_sharpness: if body.has_lamps() { (1.0 / lamp_radius(body)) as f32 } else { 0.0 },
        lamp_fill: if body.strip { 1.0 } else { (std::f64::consts::FRAC_PI_2 * lamp_radius(body) / spacing) as f32 },
        lamp_merging: (4.0 / (3.0 * spacing * spacing)) as f32,
        lamp_colour: to_f32(lamp_light(body)),
        lamps: if body.strip && body.has_lamps() { -1 } else { lamps as i32 },
        bar_colour: linear_colour(body.bar_colour),
        code_in: 4 * k as i32 + 1 + if is_isolated { ISOLATED } else { 0 },
        first_slab: first as i32,
        slabs: (slabs.len() - first) as i32,
        inverse_ior: (1.0 / ior) as f32,
        shadow_transmit: shadow(transparency),
        shadow_transmit_inside: shadow(transparency_inside),
        bar_reflect: body.bar_reflection as f32,
        bar_inverse: if body.bar > 0.0 { (1.0 / (body.bar * body.radius * sine)) as f32 } else { 0.0 },
        bar_turn: if body.bar > 0.0 { (2.0 / (body.bar * body.radius)) as f32 } else { 0.0 },
        glass: i32::from(material.is_glass()),
        lamp_sides: match body.lamp_sides {
            LampSides::Both => LAMPS_OUTSIDE | LAMPS_INSIDE,
            LampSides::Outside => LAMPS_OUTSIDE,
            LampSides::Inside => LAMPS_INSIDE,
        },
        chase: match body.lamp_pattern {
            LampPattern::Chase(cycles) => cycles.rem_euclid(1.0) as f32,
            _ => -1.0,
        },
        metal,
        fuzz,
        alpha: alpha(material.roughness),
        dispersion: dispersion(material),
        absorb: absorption(material),
        bar_lean: (sine / (1.0 + cosine)) as f32,
        bar_inward: (cosine / sine) as f32,
        lamp_across: (0.5 * body.bar * body.radius) as f32,
    }
}

// One normal of each pair of parallel faces.
fn slab_normals(body: &Body) -> Vec<Vec3> {
    let mut kept: Vec<Vec3> = Vec::new();
    for n in body.normals() {
        if kept.iter().all(|&m| dot(m, n) > -1.0 + 1e-9) {
            kept.push(n);
        }
    }
    kept
}

fn corners(body: &Body) -> Vec<Vec3> {
    body.vertices().into_iter().map(|v| add(body.centre, v)).collect()
}

// Whether a plane with one of these normals has all of a on one side and all of b on the other.
fn separated(normals: &[Vec3], a: &[Vec3], b: &[Vec3], gap: f64) -> bool {
    let range = |n: Vec3, points: &[Vec3]| {
        points.iter().map(|&p| dot(n, p)).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
    };
    normals.iter().any(|&n| {
        let ((a_lo, a_hi), (b_lo, b_hi)) = (range(n, a), range(n, b));
        a_hi + gap < b_lo || b_hi + gap < a_lo
    })
}
fn apart(a: &Body, b: &Body) -> bool {
    let gap = 1e-5 * (a.radius + b.radius);
    let between = sub(b.centre, a.centre);
    let mut normals = [a.normals(), b.normals()].concat();
    if length(between) > 0.0 {
        normals.push(normalise(between));
    }
    separated(&normals, &corners(a), &corners(b), gap)
}
fn floor_misses(body: &Body, floor: &Floor) -> bool {
    let p = floor.corners;
    let mut normals = body.normals();
    if floor.shape == FloorShape::Endless {
        let n = normalise(cross(sub(p[1], p[0]), sub(p[3], p[0])));
        return separated(&[n], &corners(body), &p, 1e-5 * body.radius);
    }
    [[p[0], p[1], p[2]], [p[0], p[2], p[3]]].iter().all(|t| {
        normals.push(normalise(cross(sub(t[1], t[0]), sub(t[2], t[0]))));
        separated(&normals, &corners(body), t, 1e-5 * body.radius)
    })
}

/// Of each body whether nothing else reaches into it: its inner rays then ask it alone.
pub fn isolated(scene: &Scene, assets: &Assets) -> Vec<bool> {
    let world = &scene.world;
    // Side by side in memory: each is compared with all others.
    let around: Vec<(Vec3, f64)> = world.bodies.iter().map(|b| (b.centre, b.radius)).collect();
    let shape = |body| Shape { body, corners: corners(body), normals: body.normals() };
    let shapes: Vec<Shape> = world.bodies.iter().map(shape).collect();
    let is_open = |k: usize| AtomicBool::new(!is_apart(scene, k, &around));
    let open: Vec<AtomicBool> = (0..around.len()).into_par_iter().map(is_open).collect();
    // Of spheres and triangles there may be many more: they look for the bodies that are near.
    let boxes: Vec<Bounds> = around.iter().map(|&ball| box_of(ball)).collect();
    let bodies = PointIndex::new(&boxes);
    let tell = |place: Bounds, misses: &dyn Fn(&Shape) -> bool| {
        bodies.touching(&place, &mut |k| {
            if !open[k].load(Ordering::Relaxed) && !misses(&shapes[k]) {
                open[k].store(true, Ordering::Relaxed);
            }
        });
    };
    let sphere = |ball: (Vec3, f64)| tell(box_of(ball), &|shape| shape.misses_sphere(ball.0, ball.1));
    let triangle = |t: &Corners| tell(bounds(t), &|shape| shape.misses_triangle(t));
    if !boxes.is_empty() {
        world.spheres.par_iter().for_each(|s| sphere((s.centre, s.radius)));
        let particles = assets.particles.as_ref().map_or(&[][..], |p| &p.spheres);
        particles.par_iter().for_each(|&(centre, radius)| sphere((centre.map(f64::from), f64::from(radius))));
        assets.meshes.iter().for_each(|mesh| mesh.corners.par_iter().for_each(triangle));
    }
    open.into_iter().map(|open| !open.into_inner()).collect()
}

// Around a ball, with room for what `far` and the gaps below leave.
fn box_of((centre, radius): (Vec3, f64)) -> Bounds {
    let side = |sign: f64| to_f32(centre.map(|c| c + sign * (1.0001 * radius + 1e-6 * c.abs())));
    [side(-1.0), side(1.0)]
}

fn bounds(t: &Corners) -> Bounds {
    let fold = |of: fn(f32, f32) -> f32| [0, 1, 2].map(|axis| t.iter().map(|p| p[axis]).fold(t[0][axis], of));
    [fold(f32::min), fold(f32::max)]
}

// Whether balls are so far from each other that `apart` need not look.
fn far((a, ra): (Vec3, f64), (b, rb): (Vec3, f64)) -> bool {
    let (between, reach) = (sub(b, a), 1.0001 * (ra + rb));
    dot(between, between) > reach * reach
}

// From all other bodies, and from the floor.
fn is_apart(scene: &Scene, k: usize, around: &[(Vec3, f64)]) -> bool {
    let body = &scene.world.bodies[k];
    around.iter().enumerate().all(|(j, &ball)| j == k || far(around[k], ball) || apart(body, &scene.world.bodies[j]))
        && scene.world.floor.as_ref().is_none_or(|f| floor_misses(body, f))
}

struct Shape<'a> {
    body: &'a Body,
    corners: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl Shape<'_> {
    // A sphere whose surface stays away: it is outside, or it holds the whole body.
    fn misses_sphere(&self, centre: Vec3, radius: f64) -> bool {
        let gap = 1e-5 * (self.body.radius + radius);
        let to = sub(centre, self.body.centre);
        let outside = |n: &Vec3| dot(*n, to) > self.body.solid.inradius() * self.body.radius + radius + gap;
        let between = length(to);
        between > self.body.radius + radius + gap
            || between + 1.0001 * self.body.radius < radius - gap
            || self.corners.iter().all(|&c| length(sub(c, centre)) < radius - gap)
            || self.normals.iter().any(outside)
    }
    fn misses_triangle(&self, t: &Corners) -> bool {
        let t = t.map(|p| p.map(f64::from));
        let gap = 1e-5 * self.body.radius;
        let middle = self.body.centre;
        let beyond = |axis: usize| {
            let (low, high) = t.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p[axis]), h.max(p[axis])));
            low > middle[axis] + self.body.radius + gap || high < middle[axis] - self.body.radius - gap
        };
        if (0..3).any(beyond) {
            return true;
        }
        let own = cross(sub(t[1], t[0]), sub(t[2], t[0]));
        let own = if length(own) > 0.0 { vec![normalise(own)] } else { Vec::new() };
        separated(&self.normals, &self.corners, &t, gap) || separated(&own, &self.corners, &t, gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(solid: Solid, centre: Vec3, radius: f64) -> Body {
        Body { solid, centre, radius, ..Body::default() }
    }

    #[test]
    fn slabs_are_half_the_faces() {
        for solid in Solid::ALL {
            let n = slab_normals(&body(solid, [0.0; 3], 1.0)).len();
            let faces = solid.faces().len();
            assert_eq!(n, if solid == Solid::Tetrahedron { 4 } else { faces / 2 }, "{solid:?}");
        }
    }

    #[test]
    fn bodies_that_touch_nothing_are_isolated() {
        let cube = body(Solid::Hexahedron, [0.0; 3], 1.0);
        assert!(apart(&cube, &body(Solid::Octahedron, [3.0, 0.0, 0.0], 1.0)));
        assert!(!apart(&cube, &body(Solid::Octahedron, [1.2, 0.0, 0.0], 1.0)));
        // Spheres overlap here, faces do not.
        assert!(apart(&cube, &body(Solid::Hexahedron, [1.3, 0.0, 0.0], 1.0)));
    }

    // Among many things, near, far, tiny, and so large that bodies are within them: as when each is asked about each.
    #[test]
    fn what_is_near_is_found_by_its_place() {
        let mut seed = 7u64;
        let mut random = |from: f64, to: f64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            from + (to - from) * (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut text = String::new();
        for i in 0..60 {
            let (x, y, z, r) = (random(0.0, 20.0), random(0.0, 20.0), random(0.0, 20.0), random(0.2, 1.5));
            let solid = ["hexahedron", "octahedron", "icosahedron"][i % 3];
            text += &format!("[[body]]\nsolid = \"{solid}\"\ncenter = [{x}, {y}, {z}]\nradius = {r}\n");
        }
        for i in 0..200 {
            let r = [random(0.01, 0.1), random(0.1, 0.5), random(20.0, 300.0)][i % 3];
            let (x, y, z) = (random(-r, 20.0 + r), random(-r, 20.0 + r), random(-r, 20.0 + r));
            text += &format!("[[sphere]]\ncenter = [{x}, {y}, {z}]\nradius = {r}\n");
        }
        for _ in 0..30 {
            let (x, y, z, s) = (random(0.0, 20.0), random(0.0, 20.0), random(0.0, 20.0), random(0.1, 3.0));
            text += &format!("[[rectangle]]\ncenter = [{x}, {y}, {z}]\nsize = [{s}, 0.5]\nfacing = [0.3, {s}, 1]\n");
        }
        let scene = Scene::parse(&text, "s.toml", std::path::Path::new("")).unwrap().scene;
        let assets = Assets::load(&scene, crate::assets::source::Limits::default()).unwrap();
        let around: Vec<(Vec3, f64)> = scene.world.bodies.iter().map(|b| (b.centre, b.radius)).collect();
        let expected = |(k, body): (usize, &Body)| {
            let shape = Shape { body, corners: corners(body), normals: body.normals() };
            is_apart(&scene, k, &around)
                && scene.world.spheres.iter().all(|s| shape.misses_sphere(s.centre, s.radius))
                && assets.meshes.iter().flat_map(|mesh| &mesh.corners).all(|t| shape.misses_triangle(t))
        };
        let expected: Vec<bool> = scene.world.bodies.iter().enumerate().map(expected).collect();
        assert_eq!(isolated(&scene, &assets), expected);
        let count = expected.iter().filter(|&&is| is).count();
        assert!((3..57).contains(&count), "{count}");
    }
}
