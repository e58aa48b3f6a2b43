//! A second opinion: a brute-force tracer in f64 over triangles, written from the README's description
//! and sharing no code with the kernels, must see the same pictures.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod common;

use common::*;
use polyfly::scene::{Body, Scene, TextureSource};
use polyfly::texture::{Texture, linear};
use polyfly::vector::*;

const EPSILON: f64 = 1e-7;

struct Triangle {
    corners: [Vec3; 3],
    normal: Vec3,
    owner: Owner,
}

#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Body(usize),
    Floor(usize),
}

struct Oracle<'a> {
    scene: &'a Scene,
    triangles: Vec<Triangle>,
    edges: Vec<Vec<[Vec3; 2]>>,
    texture: Option<Texture>,
}

struct Found<'a> {
    t: f64,
    triangle: &'a Triangle,
}

fn times(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}
fn lin(c: Vec3) -> Vec3 {
    c.map(linear)
}
fn top(c: Vec3) -> f64 {
    c[0].max(c[1]).max(c[2])
}

impl<'a> Oracle<'a> {
    fn new(scene: &'a Scene) -> Oracle<'a> {
        let mut triangles = Vec::new();
        let mut edges = Vec::new();
        for (k, body) in scene.bodies.iter().enumerate() {
            let v: Vec<Vec3> = body.solid.vertices().iter().map(|&p| add(body.centre, scale(p, body.radius))).collect();
            for face in body.solid.faces() {
                for i in 1..face.len() - 1 {
                    let corners = [v[face[0]], v[face[i]], v[face[i + 1]]];
                    triangles.push(Triangle { corners, normal: plane_normal(corners), owner: Owner::Body(k) });
                }
            }
            edges.push(body.solid.edges().iter().map(|&[a, b]| [v[a], v[b]]).collect());
        }
        if let Some(floor) = &scene.floor {
            let p = floor.corners;
            for (i, corners) in [[p[0], p[1], p[2]], [p[0], p[2], p[3]]].into_iter().enumerate() {
                triangles.push(Triangle { corners, normal: plane_normal(corners), owner: Owner::Floor(i) });
            }
        }
        let texture =
            scene.floor.as_ref().and_then(|f| f.texture.as_ref()).map(|t: &TextureSource| Texture::load(t).unwrap());
        Oracle { scene, triangles, edges, texture }
    }

    fn hits(&self, o: Vec3, d: Vec3) -> impl Iterator<Item = Found<'_>> {
        self.triangles.iter().filter_map(move |triangle| {
            let [a, b, c] = triangle.corners;
            let (e1, e2) = (sub(b, a), sub(c, a));
            let p = cross(d, e2);
            let det = dot(e1, p);
            if det.abs() < 1e-14 {
                return None;
            }
            let s = sub(o, a);
            let u = dot(s, p) / det;
            let q = cross(s, e1);
            let v = dot(d, q) / det;
            let t = dot(e2, q) / det;
            (u >= -1e-12 && v >= -1e-12 && u + v <= 1.0 + 1e-12 && t > EPSILON).then_some(Found { t, triangle })
        })
    }

    fn on_bar(&self, k: usize, p: Vec3) -> Option<(f64, f64)> {
        // Distance to the nearest edge's line, and the place along it in edge lengths.
        let body = &self.scene.bodies[k];
        let nearest = self.edges[k]
            .iter()
            .map(|&[a, b]| {
                let along = normalise(sub(b, a));
                let s = dot(sub(p, a), along).clamp(0.0, length(sub(b, a)));
                (length(sub(sub(p, a), scale(along, s))), s / length(sub(b, a)))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        (nearest.0 < body.bar * body.radius).then_some(nearest)
    }

    fn transmittance(&self, o: Vec3, d: Vec3) -> Vec3 {
        let mut left = [1.0; 3];
        let mut crossed: Vec<(f64, Owner)> = Vec::new();
        for found in self.hits(o, d).filter(|f| f.t < 1.0 - EPSILON) {
            // Two triangles of one face meet the ray on their seam at once; count it once.
            let key = (found.t, found.triangle.owner);
            if crossed.iter().any(|c| (c.0 - key.0).abs() < 1e-9 && c.1 == key.1) {
                continue;
            }
            crossed.push(key);
            match found.triangle.owner {
                Owner::Floor(_) => return [0.0; 3],
                Owner::Body(k) => {
                    let body = &self.scene.bodies[k];
                    if self.on_bar(k, add(o, scale(d, found.t))).is_some() {
                        return [0.0; 3];
                    }
                    left = times(left, scale(lin(body.colour), body.transparency));
                }
            }
        }
        left
    }

    fn lamp(&self, body: &Body, (across, along): (f64, f64)) -> Vec3 {
        let edge = body.solid.edge_length() * body.radius;
        let n = f64::from(body.lamps);
        let radius = (0.78 * body.bar * body.radius).min(0.42 * edge / n);
        // The nearest of the lamps' centres, at (i + 1/2) / n of the edge.
        let aside =
            (0..body.lamps).map(|i| (along - (f64::from(i) + 0.5) / n).abs()).fold(f64::INFINITY, f64::min) * edge;
        let far2 = (aside * aside + across * across) / (radius * radius);
        let colour = lin(body.lamp_colour);
        if far2 >= 1.0 {
            return scale(colour, 0.22 / far2);
        }
        let core = 1.0 - far2;
        colour.map(|c| c * (1.2 + 1.4 * core) + top(colour) * 1.6 * core * core)
    }

    fn floor_picture(&self, i: usize, p: Vec3, footprint: f64, cosine: f64) -> Vec3 {
        let Some(texture) = &self.texture else { return [1.0; 3] };
        let c = self.scene.floor.as_ref().unwrap().corners;
        // The floor's u and v at the corners, carried along by barycentric weights.
        let (tri, uv) = if i == 0 {
            ([c[0], c[1], c[2]], [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        } else {
            ([c[0], c[2], c[3]], [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
        };
        let at = |p: Vec3| {
            let n = cross(sub(tri[1], tri[0]), sub(tri[2], tri[0]));
            let w = |a: Vec3, b: Vec3| dot(cross(sub(a, p), sub(b, p)), n) / dot(n, n);
            let w = [w(tri[1], tri[2]), w(tri[2], tri[0]), w(tri[0], tri[1])];
            [0, 1].map(|k| (0..3).map(|j| w[j] * uv[j][k]).sum::<f64>())
        };
        let here = at(p);
        // Gradients by differences within the plane.
        let x = normalise(sub(tri[1], tri[0]));
        let y = cross(normalise(cross(sub(tri[1], tri[0]), sub(tri[2], tri[0]))), x);
        let (dx, dy) = (at(add(p, scale(x, 1e-4))), at(add(p, scale(y, 1e-4))));
        let gradient = |k: usize| ((dx[k] - here[k]).powi(2) + (dy[k] - here[k]).powi(2)).sqrt() / 1e-4;
        let density = gradient(0).max(gradient(1));
        let finest = &texture.levels[0];
        let covered =
            (footprint * density * f64::from(finest.width.max(finest.height)) / cosine.abs().max(1e-2).sqrt()).max(1.0);
        let level = (covered.log2().floor() as usize).min(texture.levels.len() - 1);
        let part = if level + 1 < texture.levels.len() { covered / 2.0_f64.powi(level as i32) - 1.0 } else { 0.0 };
        let sample = |level: usize| {
            let l = &texture.levels[level.min(texture.levels.len() - 1)];
            let coordinate = |t: f64, n: u32| {
                let x = (t * f64::from(n) - 0.5).max(0.0);
                let i = (x.floor() as u32).min(n - 1);
                (i, (i + 1).min(n - 1), x - x.floor())
            };
            let ((x0, x1, fx), (y0, y1, fy)) = (coordinate(here[0], l.width), coordinate(here[1], l.height));
            let texel = |x: u32, y: u32| l.texels[(y * l.width + x) as usize].map(|c| f64::from(c) / 65535.0);
            let mix = |a: Vec3, b: Vec3, t: f64| add(a, scale(sub(b, a), t));
            mix(mix(texel(x0, y0), texel(x1, y0), fx), mix(texel(x0, y1), texel(x1, y1), fx), fy)
        };
        add(scale(sample(level), 1.0 - part), scale(sample(level + 1), part))
    }

    fn radiance(&self, o: Vec3, d: Vec3, weight: Vec3, bounces: u32, distance: f64, spread: f64) -> Vec3 {
        let scene = self.scene;
        let Some(found) = self.hits(o, d).min_by(|a, b| a.t.total_cmp(&b.t)) else {
            let up = d[2].max(0.0);
            return add(scale(lin(scene.horizon), 1.0 - up), scale(lin(scene.zenith), up));
        };
        let p = add(o, scale(d, found.t));
        let outward = found.triangle.normal;
        let entering = dot(outward, d) < 0.0;
        let n = if entering { outward } else { scale(outward, -1.0) };
        let (mut local, mut emission) = (1.0, [0.0; 3]);
        let albedo;
        let (mut reflect, mut transmit, mut ior) = (0.0, [0.0; 3], 1.0);
        match found.triangle.owner {
            Owner::Floor(i) => {
                let floor = scene.floor.as_ref().unwrap();
                let picture = self.floor_picture(i, p, (distance + found.t) * spread, dot(n, d));
                (albedo, reflect, local) = (times(lin(floor.tint), picture), floor.reflection, 1.0 - floor.reflection);
            }
            Owner::Body(k) => {
                let body = &scene.bodies[k];
                if let Some(place) = self.on_bar(k, p) {
                    albedo = lin(body.bar_colour);
                    if body.lamps > 0 {
                        emission = self.lamp(body, place);
                    }
                } else {
                    albedo = lin(body.colour);
                    local = (1.0 - body.reflection - body.transparency).max(0.0);
                    reflect = body.reflection;
                    transmit = scale(albedo, body.transparency);
                    ior = if entering { 1.0 / body.ior } else { body.ior };
                }
            }
        }
        let mut sum = add(emission, scale(times(albedo, lin(scene.ambient)), local));
        for light in &scene.lights {
            let to = sub(light.position, p);
            let l = normalise(to);
            let lambert = dot(n, l);
            if lambert <= 0.0 {
                continue;
            }
            let half = normalise(sub(l, d));
            let highlight = scene.highlight * dot(n, half).max(0.0).powi(64);
            let lit = times(scale(albedo.map(|a| a * lambert + highlight), local), lin(light.colour));
            if top(times(weight, lit)) > 0.5 * scene.cutoff {
                sum = add(sum, times(lit, self.transmittance(add(p, scale(n, EPSILON)), sub(to, scale(n, EPSILON)))));
            }
        }
        if bounces == scene.depth {
            return sum;
        }
        let mirrored = sub(d, scale(n, 2.0 * dot(n, d)));
        let onward = |sum: &mut Vec3, direction: Vec3, factor: Vec3| {
            let weight = times(weight, factor);
            if top(factor) > 0.0 && top(weight) >= scene.cutoff {
                let more = self.radiance(p, direction, weight, bounces + 1, distance + found.t, spread);
                *sum = add(*sum, times(factor, more));
            }
        };
        onward(&mut sum, mirrored, [reflect; 3]);
        let cosine = -dot(n, d);
        let k = 1.0 - ior * ior * (1.0 - cosine * cosine);
        let through = match ior {
            1.0 => d,
            _ if k < 0.0 => mirrored,
            _ => normalise(add(scale(d, ior), scale(n, ior * cosine - k.sqrt()))),
        };
        onward(&mut sum, through, transmit);
        sum
    }

    fn picture(&self, frame: u32) -> Vec<[f64; 3]> {
        let (scene, n) = (self.scene, self.scene.samples);
        let view = scene.camera.view(frame, scene.frames);
        let focal = scene.camera.focal(scene.width);
        let spread = 1.0 / (focal * f64::from(n));
        let mut pixels = Vec::new();
        for y in 0..scene.height {
            for x in 0..scene.width {
                let mut sum = [0.0; 3];
                for s in 0..n * n {
                    let px = f64::from(x) + (f64::from(s % n) + 0.5) / f64::from(n) - f64::from(scene.width) / 2.0;
                    let py = f64::from(y) + (f64::from(s / n) + 0.5) / f64::from(n) - f64::from(scene.height) / 2.0;
                    let d = add(scale(view.forward, focal), sub(scale(view.right, px), scale(view.up, py)));
                    sum = add(sum, self.radiance(view.eye, normalise(d), [1.0; 3], 0, 0.0, spread));
                }
                pixels.push(scale(sum, 1.0 / f64::from(n * n)).map(code));
            }
        }
        pixels
    }
}

fn plane_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    normalise(cross(sub(b, a), sub(c, a)))
}

// Pixels may differ where an edge passes within rounding of a sample; there must be few.
fn agree(name: &str, scene: &Scene, frame: u32) {
    let ours = render(scene, frame);
    let theirs = Oracle::new(scene).picture(frame);
    let mut off = 0;
    let mut total = 0.0;
    for (pixel, expected) in ours.chunks(4).zip(&theirs) {
        let worst = (0..3).map(|c| (f64::from(pixel[c]) - expected[c]).abs()).fold(0.0, f64::max);
        total += worst;
        off += usize::from(worst > 2.0);
    }
    let (share, mean) = (off as f64 / theirs.len() as f64, total / theirs.len() as f64);
    assert!(share < 0.005 && mean < 0.6, "{name}: {:.2} % off, mean {mean:.3}", 100.0 * share);
}

#[test]
fn tokens_of_the_default_scene() {
    let mut scene = sized(own("default.txt"), 64, 48, 1);
    // Lamp light on the floor is baked into a map, and has its own test.
    scene.bodies.iter_mut().for_each(|b| b.lamps = 0);
    scene.depth = 8;
    agree("default without lamps", &scene, 7);
}

#[test]
fn lamps_in_mirrors() {
    let mut scene = sized(own("infinity.toml"), 48, 36, 1);
    scene.depth = 7;
    scene.cutoff = 0.01;
    agree("infinity", &scene, 11);
}

#[test]
fn refraction_and_wood() {
    let mut scene = sized(own("glass.toml"), 64, 36, 1);
    scene.depth = 6;
    scene.cutoff = 0.01;
    agree("glass", &scene, 40);
}

#[test]
fn all_solids_without_lamps() {
    let mut scene = sized(own("solids.toml"), 64, 36, 2);
    scene.bodies.iter_mut().for_each(|b| b.lamps = 0);
    scene.depth = 5;
    scene.cutoff = 0.01;
    agree("solids", &scene, 3);
}

#[test]
fn bent_floor() {
    let mut scene = sized(own("default.txt"), 64, 48, 1);
    scene.bodies.truncate(1);
    scene.bodies[0].lamps = 0;
    scene.floor.as_mut().unwrap().corners[0][2] = 0.4;
    scene.floor.as_mut().unwrap().corners[2][2] = -2.0;
    agree("bent floor", &scene, 30);
}

#[test]
fn from_far_away() {
    // A thousand radii off: what rounding takes from a distance must not cost a silhouette its rim.
    let mut scene = sized(own("solids.toml"), 64, 36, 1);
    scene.bodies.iter_mut().for_each(|b| b.lamps = 0);
    scene.floor = None;
    (scene.camera.eye.r0, scene.camera.eye.z0, scene.camera.fov_deg) = (1500.0, 400.0, 0.3);
    (scene.depth, scene.cutoff) = (3, 0.02);
    agree("from far away", &scene, 3);
}
