//! The look `bare` beside the seed that the coursework's programs grow from, by its formulas: triangles, one ray a pixel,
//! Lambert's cosine in codes.

use super::common::*;
use crate::command::compare::ssim;
use crate::math::srgb::{linear, srgb};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::{Body, Look, Scene};
use std::path::Path;

struct Triangle {
    corners: [Vec3; 3],
    colour: Vec3,
}

// The faces of a body, as fans of triangles.
fn faces(body: &Body) -> Vec<Triangle> {
    let vertices: Vec<Vec3> = body.vertices().into_iter().map(|v| add(body.centre, v)).collect();
    let fan = |face: &Vec<usize>| (2..face.len()).map(|i| [face[0], face[i - 1], face[i]]).collect::<Vec<_>>();
    let all = body.solid.faces().iter().flat_map(fan);
    all.map(|t| Triangle { corners: t.map(|i| vertices[i]), colour: body.material.colour }).collect()
}

// The distance along a ray, and the normal on its side.
fn meet(t: &Triangle, pos: Vec3, dir: Vec3) -> Option<(f64, Vec3)> {
    let [a, b, c] = t.corners;
    let (e1, e2) = (sub(b, a), sub(c, a));
    let p = cross(dir, e2);
    let div = dot(p, e1);
    if div.abs() < 1e-10 {
        return None;
    }
    let from = sub(pos, a);
    let u = dot(p, from) / div;
    let q = cross(from, e1);
    let v = dot(q, dir) / div;
    let ts = dot(q, e2) / div;
    let n = normalise(cross(e1, e2));
    let n = if dot(n, dir) > 0.0 { scale(n, -1.0) } else { n };
    ((0.0..=1.0).contains(&u) && v >= 0.0 && u + v <= 1.0 && ts >= 0.0).then_some((ts, n))
}

// Where rays go through a picture of this many pixels, from -1 to 1.
type Grid = fn(u32, u32) -> f64;
// From the middle of the first pixel to the middle of the last one, as if there were a pixel less.
const OWN_GRID: Grid = |i, n| 2.0 / (f64::from(n) - 1.0) * f64::from(i) - 1.0;
const PIXEL_CENTRES: Grid = |i, n| 2.0 / f64::from(n) * (f64::from(i) + 0.5) - 1.0;

// A frame, r, g, b of each pixel. `shade` makes the codes from a color and the sum of the cosines of lights, whose color is white.
fn seed(scene: &Scene, frame: u32, grid: Grid, shade: impl Fn(f64, f64) -> f64) -> Vec<Vec3> {
    let (w, h) = (scene.render.width, scene.render.height);
    let mut triangles: Vec<Triangle> = scene.world.bodies.iter().flat_map(faces).collect();
    let floor = scene.world.floor.as_ref().unwrap();
    let [a, b, c, d] = floor.corners;
    triangles.extend([[a, b, c], [a, c, d]].map(|corners| Triangle { corners, colour: floor.material.colour }));
    let (pc, pv) =
        (scene.camera.view(frame, scene.output.frames).eye, scene.camera.look_at(frame, scene.output.frames));
    let z = 1.0 / libm::tan(scene.camera.fov_deg.to_radians() / 2.0);
    let bz = normalise(sub(pv, pc));
    let bx = normalise(cross(bz, [0.0, 0.0, 1.0]));
    let by = normalise(cross(bx, bz));
    let mut codes = Vec::new();
    for j in (0..h).rev() {
        for i in 0..w {
            let v = [grid(i, w), grid(j, h) * f64::from(h) / f64::from(w), z];
            let dir = normalise(add(scale(bx, v[0]), add(scale(by, v[1]), scale(bz, v[2]))));
            let hits = triangles.iter().filter_map(|t| Some((meet(t, pc, dir)?, t.colour)));
            let nearest = hits.min_by(|((a, _), _), ((b, _), _)| a.total_cmp(b));
            codes.push(nearest.map_or([0.0; 3], |((ts, n), colour)| {
                let at = add(pc, scale(dir, ts));
                let ways = scene.world.lights.iter().map(|light| sub(light.position, at));
                let lit = ways.map(|to| (dot(n, to) / length(to)).max(0.0)).sum();
                colour.map(|c| 255.0 * shade(c, lit).min(1.0))
            }));
        }
    }
    codes
}

// Black where nothing is, no shadows, no highlights: what differs is the grid of rays and whether light is added in codes, in which
// the seed adds a fifth of all light.
#[test]
fn the_bare_look_is_that_of_the_seed() {
    const AMBIENT: f64 = 0.2;
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let scene = sized(load_with(&inputs.join("reduced-seed.txt"), Some(Look::Bare)), 160, 124, 1);
    for frame in [0, 120, 333] {
        let got: Vec<Vec3> =
            render(&scene, frame).chunks_exact(4).map(|p| [0, 1, 2].map(|c| f64::from(p[c]))).collect();
        let luma = |codes: &[Vec3]| codes.iter().map(|c| ssim::luma(c.map(|x| x as u8))).collect::<Vec<f64>>();
        let own = seed(&scene, frame, OWN_GRID, |colour, lit| colour * (AMBIENT + lit));
        let similar = ssim::similarity(160, &luma(&got), &luma(&own));
        let mean = similar.iter().sum::<f64>() / similar.len() as f64;
        assert!(mean > 0.95, "frame {frame}: SSIM {mean}");
        // With light added as light, and rays through the middles of pixels, they differ at edges alone.
        let light = seed(&scene, frame, PIXEL_CENTRES, |colour, lit| srgb(linear(colour) * (linear(AMBIENT) + lit)));
        let apart = got.iter().zip(&light).filter(|(a, b)| sub(**a, **b).iter().any(|x| x.abs() > 1.0)).count();
        assert!(apart * 200 < got.len(), "frame {frame}: {apart} of {} pixels differ", got.len());
    }
}
