//! Dodecahedra poured into a box, by the discrete element method: the data of scenes/poured.toml, as extended XYZ on stdout.
//! Run with `cargo run --release --example pour | xz -9e >scenes/poured.xyz.xz`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what it has")]

use std::collections::HashMap;

type Vec3 = [f64; 3];

const COUNT: usize = 250;
// Seconds: of a simulated step, between two that are written, between two bodies that are let go, and of all.
const STEP: f64 = 2.5e-4;
const WRITTEN: f64 = 0.1;
const BETWEEN: f64 = 0.02;
const END: f64 = 6.35;
const GRAVITY: f64 = 9.81;
// The walls of the box stand so far from its middle.
const WALL: f64 = 0.6;
// A contact's stiffness and damping for a body of mass 1, and its friction.
const STIFF: f64 = 2.0e5;
const DAMPING: f64 = 180.0;
const FRICTION: f64 = 0.6;

fn add(a: Vec3, b: Vec3) -> Vec3 {
    [0, 1, 2].map(|i| a[i] + b[i])
}
fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [0, 1, 2].map(|i| a[i] - b[i])
}
fn scale(a: Vec3, s: f64) -> Vec3 {
    a.map(|x| x * s)
}
fn dot(a: Vec3, b: Vec3) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}
fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

// SplitMix64, -1 <= x < 1: the same numbers everywhere.
struct Draws(u64);
impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

// A dodecahedron of circumradius 1: the normals of its faces, their distance, and its corners and the middles of its edges.
struct Solid {
    normals: Vec<Vec3>,
    inner: f64,
    points: Vec<Vec3>,
}

fn dodecahedron() -> Solid {
    let golden = f64::midpoint(1.0, 5f64.sqrt());
    let signs = [-1.0, 1.0];
    let mut corners: Vec<Vec3> = Vec::new();
    for a in signs {
        for b in signs {
            corners.extend(signs.map(|c| [a, b, c]));
            let (short, long) = (a / golden, b * golden);
            corners.extend([[0.0, short, long], [short, long, 0.0], [long, 0.0, short]]);
        }
    }
    let corners: Vec<Vec3> = corners.into_iter().map(|p| scale(p, 1.0 / 3f64.sqrt())).collect();
    let mut normals: Vec<Vec3> = Vec::new();
    for a in signs {
        for b in signs {
            normals.extend([[0.0, a * golden, b], [a * golden, b, 0.0], [b, 0.0, a * golden]]);
        }
    }
    let length = (1.0 + golden * golden).sqrt();
    let normals: Vec<Vec3> = normals.into_iter().map(|n| scale(n, 1.0 / length)).collect();
    let inner = corners.iter().map(|&p| dot(p, normals[0])).fold(0.0, f64::max);
    let edge = 2.0 / (golden * 3f64.sqrt());
    let mut points = corners.clone();
    for (i, &a) in corners.iter().enumerate() {
        let near = |b: &&Vec3| (dot(sub(a, **b), sub(a, **b)).sqrt() - edge).abs() < 1e-6;
        points.extend(corners[..i].iter().filter(near).map(|&b| scale(add(a, b), 0.5)));
    }
    Solid { normals, inner, points }
}

#[derive(Clone)]
struct Body {
    radius: f64,
    mass: f64,
    place: Vec3,
    velocity: Vec3,
    // A quaternion, w first.
    rotation: [f64; 4],
    spin: Vec3,
    // The force and the torque of this step.
    force: Vec3,
    torque: Vec3,
    // Its corners, and the normals of its faces, around its middle.
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
}

fn rotated([w, x, y, z]: [f64; 4], v: Vec3) -> Vec3 {
    let turn = scale(cross([x, y, z], v), 2.0);
    add(add(v, scale(turn, w)), cross([x, y, z], turn))
}

impl Body {
    fn velocity_at(&self, arm: Vec3) -> Vec3 {
        add(self.velocity, cross(self.spin, arm))
    }
    fn push(&mut self, arm: Vec3, force: Vec3) {
        self.force = add(self.force, force);
        self.torque = add(self.torque, cross(arm, force));
    }
    fn turn(&mut self, solid: &Solid) {
        self.points = solid.points.iter().map(|&p| rotated(self.rotation, scale(p, self.radius))).collect();
        self.normals = solid.normals.iter().map(|&n| rotated(self.rotation, n)).collect();
    }
}

// The force of a contact by its depth, its normal, the velocity of what is pushed along it, and the lesser mass.
fn contact(depth: f64, normal: Vec3, velocity: Vec3, mass: f64) -> Vec3 {
    let along = dot(velocity, normal);
    let pressure = (mass * (STIFF * depth - DAMPING * along)).max(0.0);
    let slip = sub(velocity, scale(normal, along));
    let speed = dot(slip, slip).sqrt();
    let drag = (FRICTION * pressure).min(mass * DAMPING * speed);
    add(scale(normal, pressure), scale(slip, -drag / speed.max(1e-12)))
}

// The points of one body that are within another one push both apart.
fn press(one: &mut Body, other: &mut Body, solid: &Solid) {
    let between = sub(one.place, other.place);
    let (mass, inner) = (one.mass.min(other.mass), solid.inner * other.radius);
    for k in 0..one.points.len() {
        let arm = one.points[k];
        let place = add(between, arm);
        if dot(place, place) > other.radius * other.radius {
            continue;
        }
        let heights = other.normals.iter().map(|&n| (dot(n, place), n));
        let (height, normal) = heights.fold((f64::MIN, [0.0; 3]), |most, one| if one.0 > most.0 { one } else { most });
        if height < inner {
            let velocity = sub(one.velocity_at(arm), other.velocity_at(place));
            let force = contact(inner - height, normal, velocity, mass);
            one.push(arm, force);
            other.push(place, scale(force, -1.0));
        }
    }
}

fn advance(bodies: &mut [Body], solid: &Solid) {
    for body in &mut *bodies {
        (body.force, body.torque) = ([0.0, 0.0, -GRAVITY * body.mass], [0.0; 3]);
        // The floor and the walls, by their normals and their distances from the origin.
        let planes = [(2, 1.0, 0.0), (0, 1.0, WALL), (0, -1.0, WALL), (1, 1.0, WALL), (1, -1.0, WALL)];
        for (axis, sign, distance) in planes {
            if sign * body.place[axis] + distance > body.radius {
                continue;
            }
            let mut normal = [0.0; 3];
            normal[axis] = sign;
            for k in 0..body.points.len() {
                let arm = body.points[k];
                let depth = -distance - sign * (body.place[axis] + arm[axis]);
                if depth > 0.0 {
                    let force = contact(depth, normal, body.velocity_at(arm), body.mass);
                    body.push(arm, force);
                }
            }
        }
    }
    let cell = |body: &Body| body.place.map(|x| (x / 0.26).floor() as i32);
    let mut cells: HashMap<[i32; 3], Vec<usize>> = HashMap::new();
    bodies.iter().enumerate().for_each(|(i, body)| cells.entry(cell(body)).or_default().push(i));
    for i in 0..bodies.len() {
        let [x, y, z] = cell(&bodies[i]);
        let around = (0..27).map(|k| [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]);
        let near: Vec<usize> = around.filter_map(|at| cells.get(&at)).flatten().copied().filter(|&j| j < i).collect();
        for j in near {
            let (before, rest) = bodies.split_at_mut(i);
            let (one, other) = (&mut rest[0], &mut before[j]);
            let way = sub(one.place, other.place);
            let reach = one.radius + other.radius;
            if dot(way, way) < reach * reach {
                press(one, other, solid);
                press(other, one, solid);
            }
        }
    }
    for body in bodies {
        body.velocity = add(body.velocity, scale(body.force, STEP / body.mass));
        body.place = add(body.place, scale(body.velocity, STEP));
        // Almost that of a ball.
        let inertia = 0.36 * body.mass * body.radius * body.radius;
        body.spin = scale(add(body.spin, scale(body.torque, STEP / inertia)), 1.0 - 0.5 * STEP);
        let ([w, x, y, z], [a, b, c]) = (body.rotation, scale(body.spin, 0.5 * STEP));
        let q = [
            w - a * x - b * y - c * z,
            x + a * w + b * z - c * y,
            y + b * w + c * x - a * z,
            z + c * w + a * y - b * x,
        ];
        let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        body.rotation = q.map(|x| x / norm);
        body.turn(solid);
    }
}

fn main() {
    let (solid, mut draws, mut bodies) = (dodecahedron(), Draws(12), Vec::<Body>::new());
    for k in 0..(END / STEP) as usize {
        let time = k as f64 * STEP;
        if bodies.len() < COUNT && time >= bodies.len() as f64 * BETWEEN {
            let radius = 0.095 + 0.03 * draws.next();
            // One after the other at another place of a ring, so that none begins within another.
            let angle = 2.4 * bodies.len() as f64;
            let ratio = radius / 0.1;
            let mut body = Body {
                radius,
                mass: ratio * ratio * ratio,
                place: [0.22 * libm::cos(angle), 0.22 * libm::sin(angle), 2.6],
                velocity: [0.4 * draws.next(), 0.4 * draws.next(), -5.0 + 0.4 * draws.next()],
                rotation: [1.0 + draws.next(), draws.next(), draws.next(), draws.next()],
                spin: [0; 3].map(|_| 4.0 * draws.next()),
                force: [0.0; 3],
                torque: [0.0; 3],
                points: Vec::new(),
                normals: Vec::new(),
            };
            let norm = body.rotation.iter().map(|x| x * x).sum::<f64>().sqrt();
            body.rotation = body.rotation.map(|x| x / norm);
            body.turn(&solid);
            bodies.push(body);
        }
        let every = (WRITTEN / STEP).round() as usize;
        if k % every == 0 {
            println!("{}\nProperties=id:I:1:pos:R:3:radius:R:1:orientation:R:4 time={time:.2}", bodies.len());
            for (id, body) in bodies.iter().enumerate() {
                let ([x, y, z], [w, a, b, c]) = (body.place, body.rotation);
                println!("{id} {x:.3} {y:.3} {z:.3} {:.3} {w:.3} {a:.3} {b:.3} {c:.3}", body.radius);
            }
            let energy: f64 = bodies.iter().map(|body| 0.5 * body.mass * dot(body.velocity, body.velocity)).sum();
            let top = bodies.iter().map(|body| body.place[2]).fold(0.0, f64::max);
            eprintln!("{time:.2} s: {} bodies, kinetic energy {energy:.3}, top {top:.2}", bodies.len());
        }
        advance(&mut bodies, &solid);
    }
}
