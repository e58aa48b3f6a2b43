//! Bodies as slabs and the floor as patches, and what touches what.

use super::{BallData, BodyData, PatchData, SlabData, colour};
use crate::assets::{Assets, Corners};
use crate::scene::{Body, Floor, Integrator, Particles, Scene};
use crate::vector::{Vec3, add, cross, dot, length, normalise, scale, single, sub};
use rayon::prelude::*;

// A lamp fits its bar, and its neighbours do not touch it.
pub(super) fn lamp_radius(body: &Body) -> f64 {
    let spacing = body.solid.edge_length() * body.radius / f64::from(body.lamps.max(1));
    (0.78 * body.bar * body.radius).min(0.42 * spacing)
}

pub(super) fn flatten_body(scene: &Scene, assets: &Assets, k: usize, slabs: &mut Vec<SlabData>) -> BodyData {
    let body = &scene.bodies[k];
    let first = slabs.len();
    let reach = body.solid.inradius() * body.radius;
    // A tetrahedron's faces are opposite to corners, where there is no plane to meet.
    let lone = body.solid == crate::solid::Solid::Tetrahedron;
    let back = if lone { -1.001 * body.radius } else { -reach };
    for n in slab_normals(body) {
        slabs.push(SlabData {
            n: single(n),
            lo: if lone { -1.0e30 } else { back as f32 },
            hi: reach as f32,
            middle: ((reach + back) / 2.0) as f32,
            half: ((reach - back) / 2.0) as f32,
            pad: 0.0,
        });
    }
    let sine = body.solid.edge_sine();
    let lamps = if body.bar > 0.0 { body.lamps } else { 0 };
    let spacing = body.solid.edge_length() * body.radius / f64::from(lamps.max(1));
    let bends = scene.integrator != Integrator::Whitted && body.ior != 1.0;
    BodyData {
        centre: single(body.centre),
        radius: body.radius as f32,
        colour: colour(body.colour),
        local: (1.0 - body.reflection - body.transparency).max(0.0) as f32,
        reflect: body.reflection as f32,
        transmit: body.transparency as f32,
        ior: body.ior as f32,
        bar: (body.bar * body.radius * sine) as f32,
        bar_to_edge: (1.0 / sine) as f32,
        lamp_spacing: spacing as f32,
        lamps_a_length: (1.0 / spacing) as f32,
        lamp_sharpness: if lamps == 0 { 0.0 } else { (1.0 / (lamp_radius(body) * lamp_radius(body))) as f32 },
        lamp_colour: colour(body.lamp_colour),
        lamps: lamps as i32,
        bar_colour: colour(body.bar_colour),
        code_in: 4 * k as i32 + 1 + if sealed(scene, assets, k) { 2 } else { 0 },
        first_slab: first as i32,
        slabs: (slabs.len() - first) as i32,
        ior_inward: (1.0 / body.ior) as f32,
        shade: if bends { 0.0 } else { body.transparency as f32 },
    }
}

// One normal of each pair of parallel faces.
fn slab_normals(body: &Body) -> Vec<Vec3> {
    let mut kept: Vec<Vec3> = Vec::new();
    for n in body.solid.normals() {
        if kept.iter().all(|&m| dot(m, n) > -1.0 + 1e-9) {
            kept.push(n);
        }
    }
    kept
}

fn corners(body: &Body) -> Vec<Vec3> {
    body.solid.vertices().into_iter().map(|v| add(body.centre, scale(v, body.radius))).collect()
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
    if length(between) > a.radius + b.radius + gap {
        return true;
    }
    let mut normals = [a.solid.normals(), b.solid.normals()].concat();
    if length(between) > 0.0 {
        normals.push(normalise(between));
    }
    separated(&normals, &corners(a), &corners(b), gap)
}
fn floor_misses(body: &Body, floor: &Floor) -> bool {
    let p = floor.corners;
    let mut normals = body.solid.normals();
    [[p[0], p[1], p[2]], [p[0], p[2], p[3]]].iter().all(|t| {
        normals.push(normalise(cross(sub(t[1], t[0]), sub(t[2], t[0]))));
        separated(&normals, &corners(body), t, 1e-5 * body.radius)
    })
}

// Whether nothing else reaches into body k: its inner rays then ask it alone.
pub(super) fn sealed(scene: &Scene, assets: &Assets, k: usize) -> bool {
    let body = &scene.bodies[k];
    // Particles that move may come in later.
    if scene.particles.as_ref().is_some_and(Particles::moves) {
        return false;
    }
    let shape = Shape { body, corners: corners(body), normals: body.solid.normals() };
    let mut spheres = scene.spheres.iter().map(|s| (s.centre, s.radius));
    let particles = assets.particles.iter().flat_map(|p| &p.balls).collect::<Vec<_>>();
    scene.bodies.iter().enumerate().all(|(j, other)| j == k || apart(body, other))
        && scene.floor.as_ref().is_none_or(|f| floor_misses(body, f))
        && spheres.all(|(centre, radius)| shape.misses_sphere(centre, radius))
        && particles
            .par_iter()
            .all(|BallData { centre, radius }| shape.misses_sphere(centre.map(f64::from), f64::from(*radius)))
        && assets.meshes.iter().all(|mesh| mesh.par_iter().all(|t| shape.misses_triangle(t)))
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
        length(to) > self.body.radius + radius + gap
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

fn is_parallelogram(p: &[Vec3; 4]) -> bool {
    let off = length(sub(add(p[0], p[2]), add(p[1], p[3])));
    off <= 1e-9 * (length(sub(p[2], p[0])) + length(sub(p[3], p[1])))
}

// The picture's columns and rows at the corners. Its top left is the first corner, as in the coursework's programs;
// columns run to whichever neighbour makes it a picture and not a mirrored one, seen from above: the second corner
// where the corners run clockwise (the usual order), else the fourth.
const FIRST_TO_SECOND: [f64; 4] = [0.0, 1.0, 1.0, 0.0];
const FIRST_TO_FOURTH: [f64; 4] = [0.0, 0.0, 1.0, 1.0];

fn clockwise(p: &[Vec3; 4]) -> bool {
    // Of a floor that stands upright, as if seen from where it is.
    cross(sub(p[2], p[0]), sub(p[3], p[1]))[2] <= 0.0
}
// u and v at the corners.
fn floor_uv(p: &[Vec3; 4]) -> [[f64; 4]; 2] {
    if clockwise(p) { [FIRST_TO_SECOND, FIRST_TO_FOURTH] } else { [FIRST_TO_FOURTH, FIRST_TO_SECOND] }
}

pub(super) fn flatten_floor(floor: &Floor) -> Vec<PatchData> {
    if is_parallelogram(&floor.corners) {
        return vec![flatten_patch(floor, [0, 1, 3], 0)];
    }
    let sides = if clockwise(&floor.corners) { [2, 1] } else { [1, 2] };
    vec![flatten_patch(floor, [0, 1, 2], sides[0]), flatten_patch(floor, [0, 2, 3], sides[1])]
}

fn flatten_patch(floor: &Floor, corners: [usize; 3], side: i32) -> PatchData {
    let [a, b, c] = corners.map(|i| floor.corners[i]);
    let (ab, ac) = (sub(b, a), sub(c, a));
    let mut n = normalise(cross(ab, ac));
    if n[2] < 0.0 {
        n = scale(n, -1.0);
    }
    // The gradient within the plane of a function with given values at the three corners.
    let gradient = |values: [f64; 4]| {
        let [va, vb, vc] = corners.map(|i| values[i]);
        let normal = cross(ab, ac);
        let g = add(scale(cross(ac, normal), vb - va), scale(cross(normal, ab), vc - va));
        let g = scale(g, 1.0 / dot(normal, normal));
        (g, [g[0] as f32, g[1] as f32, g[2] as f32, (va - dot(g, a)) as f32])
    };
    let [(gu, u), (gv, v)] = floor_uv(&floor.corners).map(gradient);
    PatchData { n: single(n), d: dot(n, a) as f32, u, v, side, density: length(gu).max(length(gv)) as f32, pad: [0; 2] }
}

// The floor's point at (u, v), and the patch it lies on.
pub(super) fn floor_point(floor: &Floor, u: f64, v: f64) -> (Vec3, usize) {
    let p = floor.corners;
    // The triangles' own coordinates: along the first side and along the last.
    let (u, v) = if clockwise(&p) { (v, u) } else { (u, v) };
    if u <= v {
        (add(p[0], add(scale(sub(p[1], p[0]), v), scale(sub(p[2], p[1]), u))), 0)
    } else {
        (add(p[0], add(scale(sub(p[3], p[0]), u), scale(sub(p[2], p[3]), v))), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solid::Solid;

    fn body(solid: Solid, centre: Vec3, radius: f64) -> Body {
        Body {
            solid,
            centre,
            colour: [1.0; 3],
            radius,
            reflection: 0.5,
            transparency: 0.3,
            lamps: 0,
            lamp_colour: [1.0; 3],
            bar: 0.05,
            bar_colour: [0.1; 3],
            ior: 1.0,
        }
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
    fn bodies_that_touch_nothing_are_sealed() {
        let cube = body(Solid::Hexahedron, [0.0; 3], 1.0);
        assert!(apart(&cube, &body(Solid::Octahedron, [3.0, 0.0, 0.0], 1.0)));
        assert!(!apart(&cube, &body(Solid::Octahedron, [1.2, 0.0, 0.0], 1.0)));
        // Spheres overlap here, faces do not.
        assert!(apart(&cube, &body(Solid::Hexahedron, [1.3, 0.0, 0.0], 1.0)));
    }

    #[test]
    fn floor_coordinates_hit_the_corners() {
        let corners = [[-4.0, -4.0, -1.0], [-4.0, 4.0, 0.5], [4.0, 4.0, -1.0], [4.0, -4.0, -2.0]];
        let floor = Floor { corners, texture: None, tint: [1.0; 3], reflection: 0.0 };
        let patches = flatten_floor(&floor);
        let [us, vs] = floor_uv(&corners);
        assert_eq!(patches.len(), 2);
        for (patch, corners) in patches.iter().zip([[0, 1, 2], [0, 2, 3]]) {
            for i in corners {
                let p = single(floor.corners[i]);
                let at = |g: [f32; 4]| f64::from(g[0] * p[0] + g[1] * p[1] + g[2] * p[2] + g[3]);
                assert!((at(patch.u) - us[i]).abs() < 1e-6 && (at(patch.v) - vs[i]).abs() < 1e-6);
            }
        }
        for (i, (u, v)) in us.into_iter().zip(vs).enumerate() {
            assert!(length(sub(floor_point(&floor, u, v).0, floor.corners[i])) < 1e-12);
        }
    }
}
