//! Balls, meshes, their materials and the tree over them and the bodies.

use super::*;
use crate::vector::cross;
use shapes::sealed;

/// What only larger scenes have.
#[derive(Clone, Debug)]
pub struct World {
    /// Nodes of the tree.
    pub nodes: Vec<NodeData>,
    /// Its root, or [`NO_TREE`].
    pub root: i32,
    /// Balls, in the order of the tree's leaves.
    pub balls: Vec<BallData>,
    /// Their materials' numbers.
    pub paints: Vec<i32>,
    /// Triangles, likewise.
    pub triangles: Vec<TriangleData>,
    /// Materials.
    pub materials: Vec<MaterialData>,
    /// What path tracing asks for light.
    pub emitters: Vec<EmitterData>,
    /// Bounds all coordinates: of the elements, the floor and the eye.
    pub reach: f32,
}

// Scenes with more bodies than this have a tree; fewer are asked in turn.
const FEW_BODIES: usize = 8;
// Elements that a leaf may hold (measured on an H200; 1 to 8 lie within 10 % of each other).
const BALLS_A_LEAF: u32 = 2;
const TRIANGLES_A_LEAF: u32 = 4;

impl World {
    pub(super) fn new(scene: &Scene, assets: &Assets, bodies: &[BodyData]) -> World {
        let path = scene.integrator != Integrator::Whitted;
        let mut w = World {
            nodes: Vec::new(),
            root: NO_TREE,
            balls: scene
                .spheres
                .iter()
                .map(|s| BallData { centre: single(s.centre), radius: s.radius as f32 })
                .collect(),
            paints: (0..scene.spheres.len() as i32).collect(),
            triangles: Vec::new(),
            materials: scene.spheres.iter().map(|s| material(scene, &s.material)).collect(),
            emitters: Vec::new(),
            reach: 0.0,
        };
        if let Some(particles) = &assets.particles {
            let first = w.materials.len() as i32;
            w.materials.extend(particles.colours.iter().map(|m| material(scene, m)));
            w.balls.extend_from_slice(&particles.balls);
            w.paints.extend(particles.paints.iter().map(|&p| first + i32::from(p)));
        }
        let mut meshes = Vec::new();
        for (mesh, corners) in scene.meshes.iter().zip(assets.meshes.iter()) {
            let paint = w.materials.len() as i32;
            w.materials.push(material(scene, &mesh.material));
            meshes.push((w.triangles.len(), corners.len()));
            w.triangles.extend(corners.iter().map(|[a, b, c]| TriangleData {
                a: *a,
                paint,
                ab: [0, 1, 2].map(|i| b[i] - a[i]),
                ac: [0, 1, 2].map(|i| c[i] - a[i]),
                ..TriangleData::default()
            }));
        }
        w.grow(scene, bodies, &meshes);
        if path {
            w.emitters = emitters(scene, assets, &w);
        }
        w
    }

    /// `scene` with these arrays, where `to` puts them.
    pub fn place<P: Place>(&self, to: &mut P, scene: &SceneData) -> Result<SceneData, P::Error> {
        Ok(SceneData {
            nodes: to.put(&self.nodes)?,
            balls: to.put(&self.balls)?,
            paints: to.put(&self.paints)?,
            triangles: to.put(&self.triangles)?,
            materials: to.put(&self.materials)?,
            emitters: to.put(&self.emitters)?,
            rest: Constants { root: self.root, ..scene.rest },
            ..*scene
        })
    }

    // Makes the tree, and puts balls and triangles into the order of its leaves.
    fn grow(&mut self, scene: &Scene, bodies: &[BodyData], meshes: &[(usize, usize)]) {
        let around = |c: [f32; 3], r: f32| [c.map(|x| x - r), c.map(|x| x + r)];
        // Rounding of a radius must not cost a graze.
        let body_boxes: Vec<_> = bodies.iter().map(|b| around(b.centre, b.radius * 1.0001)).collect();
        let ball_boxes: Vec<_> = self.balls.par_iter().map(|b| around(b.centre, b.radius)).collect();
        let triangle_boxes: Vec<_> = self
            .triangles
            .par_iter()
            .map(|t| {
                let corners = [t.a, [0, 1, 2].map(|i| t.a[i] + t.ab[i]), [0, 1, 2].map(|i| t.a[i] + t.ac[i])];
                let edge =
                    |f: fn(f32, f32) -> f32| [0, 1, 2].map(|i| f(f(corners[0][i], corners[1][i]), corners[2][i]));
                [edge(f32::min), edge(f32::max)]
            })
            .collect();
        let all = body_boxes.iter().chain(&ball_boxes).chain(&triangle_boxes).flatten().flatten();
        let path = |p: &crate::camera::CylindricalPath| p.r0.abs() + p.ar.abs() + p.z0.abs() + p.az.abs();
        let eye =
            scene.camera.fixed.map_or_else(|| path(&scene.camera.eye), |[eye, _]| length(eye) + scene.camera.lens);
        let floor = scene.floor.iter().flat_map(|f| f.corners).map(length).fold(0.0, f64::max);
        let reach = all.fold(eye.max(floor) as f32, |m, x| m.max(x.abs()));
        self.reach = reach;
        if bodies.len() <= FEW_BODIES && self.balls.len() + self.triangles.len() == 0 {
            return;
        }
        let mut groups = vec![
            Group { kind: Kind::Bodies, first: 0, bounds: &body_boxes, leaf: 1 },
            Group { kind: Kind::Balls, first: 0, bounds: &ball_boxes, leaf: BALLS_A_LEAF },
        ];
        groups.extend(meshes.iter().map(|&(first, len)| Group {
            kind: Kind::Triangles,
            first,
            bounds: &triangle_boxes[first..first + len],
            leaf: TRIANGLES_A_LEAF,
        }));
        let tree = bvh::build(&groups, reach);
        let order = &tree.orders[1];
        self.balls = order.iter().map(|&i| self.balls[i as usize]).collect();
        self.paints = order.iter().map(|&i| self.paints[i as usize]).collect();
        let mut triangles = Vec::with_capacity(self.triangles.len());
        for (&(first, _), order) in meshes.iter().zip(&tree.orders[2..]) {
            triangles.extend(order.iter().map(|&i| self.triangles[first + i as usize]));
        }
        self.triangles = triangles;
        (self.nodes, self.root) = (tree.nodes, tree.root);
    }
}

// Glowing balls and triangles, and the bodies' lamps.
fn emitters(scene: &Scene, assets: &Assets, w: &World) -> Vec<EmitterData> {
    let emission = |paint: i32| Some(w.materials[paint as usize].emission).filter(|e| e.iter().any(|&c| c > 0.0));
    let balls = w.balls.iter().zip(&w.paints).filter_map(|(ball, &paint)| {
        emission(paint).map(|colour| EmitterData {
            centre: ball.centre,
            radius: ball.radius,
            colour,
            ..EmitterData::default()
        })
    });
    let triangles = w.triangles.iter().enumerate().filter_map(|(i, t)| {
        emission(t.paint).map(|colour| EmitterData {
            centre: t.a,
            radius: -1.0,
            colour,
            triangle: i as i32,
            ..EmitterData::default()
        })
    });
    let lamps = lamps_of(scene, |k| lights_inside(scene, assets, k));
    let lamps = lamps.into_iter().map(|(centre, colour)| EmitterData { centre, colour, ..EmitterData::default() });
    let mut all: Vec<EmitterData> = balls.chain(triangles).chain(lamps).collect();
    let sizes: Vec<f64> = all.iter().map(|e| size(w, e)).collect();
    share_chances(&mut all, &sizes);
    all
}

// Whether light inside a body can be seen: on its own panes, or on what reaches into it.
fn lights_inside(scene: &Scene, assets: &Assets, k: usize) -> bool {
    let body = &scene.bodies[k];
    body.reflection + body.transparency < 1.0 || !sealed(scene, assets, k)
}

// What an emitter's light at a distance grows with, next to its colour.
fn size(w: &World, e: &EmitterData) -> f64 {
    if e.radius > 0.0 {
        return f64::from(e.radius) * f64::from(e.radius);
    }
    if e.radius < 0.0 {
        let t = &w.triangles[e.triangle as usize];
        let area = length(cross(t.ab.map(f64::from), t.ac.map(f64::from))) / 2.0;
        return area / (2.0 * std::f64::consts::PI);
    }
    1.0
}

// Each emitter is drawn as often as its light at a distance deserves: tables of the alias method (Walker, "An efficient
// method for generating discrete random variables with general distributions", 1977).
fn share_chances(all: &mut [EmitterData], sizes: &[f64]) {
    let weight = |(e, size): (&EmitterData, &f64)| f64::from(e.colour.iter().copied().fold(0.0, f32::max)) * size;
    let weights: Vec<f64> = all.iter().zip(sizes).map(weight).collect();
    let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let count = all.len() as f64;
    // None is so dim that its inverse chance would leave single precision.
    let mut rest: Vec<f64> = weights.iter().map(|w| (w / total * count).max(1e-6)).collect();
    for (e, &share) in all.iter_mut().zip(&rest) {
        (e.inverse, e.keep) = ((count / share) as f32, 1.0);
    }
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|&i| rest[i] < 1.0);
    while let (Some(i), Some(&j)) = (small.pop(), large.last()) {
        (all[i].keep, all[i].other) = (rest[i] as f32, j as i32);
        rest[j] -= 1.0 - rest[i];
        if rest[j] < 1.0 {
            large.pop();
            small.push(j);
        }
    }
}

fn material(scene: &Scene, m: &Material) -> MaterialData {
    let colour = colour(m.colour);
    let times = |x: f64| colour.map(|c| (f64::from(c) * x) as f32);
    let all = |x: f64| [x as f32; 3];
    let highlight = m.highlight.unwrap_or(scene.highlight);
    let none = MaterialData { ior: 1.0, ..MaterialData::default() };
    match m.kind {
        MaterialKind::Plain { reflection, transparency, ior } => {
            let local = (1.0 - reflection - transparency).max(0.0);
            MaterialData {
                albedo: times(local),
                shine: (local * highlight) as f32,
                mirror: all(reflection),
                transmit: times(transparency),
                ior: ior as f32,
                ..none
            }
        }
        MaterialKind::Metal { fuzz } => MaterialData { mirror: colour, fuzz: fuzz as f32, ..none },
        MaterialKind::Glass { ior } => {
            let normal = (1.0 - ior) / (1.0 + ior);
            let normal = (normal * normal).max(1e-7);
            MaterialData { mirror: all(1.0), transmit: colour, ior: ior as f32, fresnel: normal as f32, ..none }
        }
        MaterialKind::Light { strength } => MaterialData { emission: times(strength), ..none },
    }
}
