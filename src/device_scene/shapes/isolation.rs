//! Finds isolated bodies. No other shape reaches into them, so rays inside test only that body.

use super::outline::{Outline, corners, separated};
use super::{ellipsoid, sphere, triangle};
use crate::assets::Assets;
use crate::assets::mesh::Corners;
use crate::math::bvh::{Bounds, PointIndex};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub, to_f32};
use crate::scene::{Body, Floor, FloorShape, Scene, World};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

fn apart(a: &Body, b: &Body) -> bool {
    let gap = 1e-5 * (a.radius + b.radius);
    let between = sub(b.centre, a.centre);
    let mut normals = [a.normals(), b.normals()].concat();
    if length(between) > 0.0 {
        normals.push(normalise(between));
    }
    separated(&normals, &corners(a), &corners(b), gap)
}
// Whether the floor, its ground and the sides of its slab miss a body.
fn floor_misses(body: &Body, floor: &Floor) -> bool {
    let gap = 1e-5 * body.radius;
    let misses_side = |[corner, along, down]: [Vec3; 3]| {
        let side = [corner, add(corner, along), add(add(corner, along), down), add(corner, down)];
        separated(&[body.normals(), vec![normalise(cross(along, down))]].concat(), &corners(body), &side, gap)
    };
    let is_above_ground = || corners(body).iter().all(|corner| corner[2] > floor.ground_level() + gap);
    own_part_misses(body, floor)
        && (!floor.has_ground() || is_above_ground() && floor.sides().into_iter().all(misses_side))
}
fn own_part_misses(body: &Body, floor: &Floor) -> bool {
    let p = floor.corners;
    let mut normals = body.normals();
    // Waves go below the plane, by a depth that may change over the clip.
    if floor.relief.as_ref().is_some_and(|relief| relief.displaced) {
        let n = normalise(cross(sub(p[1], p[0]), sub(p[3], p[0])));
        let up = if n[2] < 0.0 { scale(n, -1.0) } else { n };
        return corners(body).iter().all(|&corner| dot(up, sub(corner, p[0])) > 1e-5 * body.radius);
    }
    if floor.shape == FloorShape::Endless {
        let n = normalise(cross(sub(p[1], p[0]), sub(p[3], p[0])));
        return separated(&[n], &corners(body), &p, 1e-5 * body.radius);
    }
    [[p[0], p[1], p[2]], [p[0], p[2], p[3]]].iter().all(|t| {
        normals.push(normalise(cross(sub(t[1], t[0]), sub(t[2], t[0]))));
        separated(&normals, &corners(body), t, 1e-5 * body.radius)
    })
}

/// Whether each body is isolated.
pub fn isolated(scene: &Scene, assets: &Assets) -> Vec<bool> {
    let world = &scene.world;
    let around: Vec<(Vec3, f64)> = world.bodies.iter().map(|b| (b.centre, b.radius)).collect();
    let outlines: Vec<Outline> = world.bodies.iter().map(Outline::new).collect();
    // Each shape searches for bodies near it.
    let boxes: Vec<Bounds> = around.iter().map(|&ball| box_of(ball)).collect();
    let bodies = PointIndex::new(&boxes);
    let is_open = |k: usize| {
        let mut is_open = world.floor.as_ref().is_some_and(|floor| !floor_misses(&world.bodies[k], floor));
        bodies.touching(&boxes[k], &mut |j| is_open = is_open || j != k && !is_apart(world, &around, k, j));
        AtomicBool::new(is_open)
    };
    let open: Vec<AtomicBool> = (0..around.len()).into_par_iter().map(is_open).collect();
    let tell = |bounds: Bounds, misses: &dyn Fn(&Outline) -> bool| {
        bodies.touching(&bounds, &mut |k| {
            if !open[k].load(Ordering::Relaxed) && !misses(&outlines[k]) {
                open[k].store(true, Ordering::Relaxed);
            }
        });
    };
    let sphere = |ball: (Vec3, f64)| tell(box_of(ball), &|outline| sphere::misses(outline, ball.0, ball.1));
    let triangle = |t: &Corners| tell(triangle::corner_bounds(t), &|outline| triangle::misses(outline, t));
    if !boxes.is_empty() {
        world.spheres.par_iter().for_each(|s| sphere((s.centre, s.radius)));
        let ellipsoids = world.ellipsoids.par_iter();
        ellipsoids.for_each(|e| tell(box_of((e.centre, e.reach())), &|outline| ellipsoid::misses(outline, e)));
        if let Some(particles) = &assets.particles {
            particles.spheres.par_iter().for_each(|s| sphere((s.centre.map(f64::from), f64::from(s.radius))));
            let hull = |ball: (Vec3, f64)| tell(box_of(ball), &|outline| sphere::is_outside(outline, ball.0, ball.1));
            particles.shaped.all_balls().for_each(hull);
        }
        assets.meshes.iter().for_each(|mesh| mesh.corners.par_iter().for_each(triangle));
    }
    open.into_iter().map(|open| !open.into_inner()).collect()
}

// The bounding box of a ball, enlarged by the margins of `far` and of the gaps below.
fn box_of((centre, radius): (Vec3, f64)) -> Bounds {
    let side = |sign: f64| to_f32(centre.map(|c| c + sign * (1.0001 * radius + 1e-6 * c.abs())));
    [side(-1.0), side(1.0)]
}

// Whether two balls are so far apart that `apart` need not be called.
fn far((a, ra): (Vec3, f64), (b, rb): (Vec3, f64)) -> bool {
    let (between, reach) = (sub(b, a), 1.0001 * (ra + rb));
    dot(between, between) > reach * reach
}

// Whether two bodies are apart from each other.
fn is_apart(world: &World, around: &[(Vec3, f64)], k: usize, j: usize) -> bool {
    far(around[k], around[j]) || apart(&world.bodies[k], &world.bodies[j])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::platonic::Solid;

    fn body(solid: Solid, centre: Vec3, radius: f64) -> Body {
        Body { solid, centre, radius, ..Body::default() }
    }

    #[test]
    fn bodies_that_touch_nothing_are_isolated() {
        let cube = body(Solid::Hexahedron, [0.0; 3], 1.0);
        assert!(apart(&cube, &body(Solid::Octahedron, [3.0, 0.0, 0.0], 1.0)));
        assert!(!apart(&cube, &body(Solid::Octahedron, [1.2, 0.0, 0.0], 1.0)));
        // The circumscribed spheres overlap, but the faces do not.
        assert!(apart(&cube, &body(Solid::Hexahedron, [1.3, 0.0, 0.0], 1.0)));
    }

    #[test]
    fn bodies_in_the_slab_or_the_ground_are_not_isolated() {
        let corners = [[-2.0, -2.0, 0.0], [-2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [2.0, -2.0, 0.0]];
        let floor = Floor { corners, ground: Some([0.2; 3]), ..Floor::default() };
        let cube = |x: f64, z: f64| body(Solid::Hexahedron, [x, 0.0, z], 0.03);
        assert!(own_part_misses(&cube(2.0, -0.05), &floor) && !floor_misses(&cube(2.0, -0.05), &floor));
        assert!(!floor_misses(&cube(3.0, floor.ground_level()), &floor));
        assert!([cube(0.0, 0.1), cube(3.0, -0.05)].iter().all(|cube| floor_misses(cube, &floor)));
    }

    // The search agrees with testing each pair, for shapes near, far, tiny, and so large that they contain bodies.
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
        let assets = Assets::load(&scene, &crate::assets::files::Files::default()).unwrap();
        let around: Vec<(Vec3, f64)> = scene.world.bodies.iter().map(|b| (b.centre, b.radius)).collect();
        let expected = |(k, body): (usize, &Body)| {
            let outline = Outline::new(body);
            (0..around.len()).all(|j| j == k || is_apart(&scene.world, &around, k, j))
                && scene.world.spheres.iter().all(|s| sphere::misses(&outline, s.centre, s.radius))
                && assets.meshes.iter().flat_map(|mesh| &mesh.corners).all(|t| triangle::misses(&outline, t))
        };
        let expected: Vec<bool> = scene.world.bodies.iter().enumerate().map(expected).collect();
        assert_eq!(isolated(&scene, &assets), expected);
        let count = expected.iter().filter(|&&is| is).count();
        assert!((3..57).contains(&count), "{count}");
    }
}
