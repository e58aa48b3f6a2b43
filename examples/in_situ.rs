//! A film of a simulation while it runs: hard truncated octahedra are pressed together, from a gas to a crystal (Metropolis, 1953).
//! Run with `cargo run --release --example in_situ`; with a name it writes a table of each step instead: `... in_situ 'steps/%03d.csv'`.
#![allow(clippy::print_stdout, reason = "an example shows what it has")]

use polyfly::particles::{Column, Step, StepSource};
use polyfly::{AssetError, RenderOptions, Renderer, Scene};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

type Vec3 = [f64; 3];

const SIDE: usize = 6;
const COUNT: usize = 2 * SIDE * SIDE * SIDE;
const STEPS: usize = 60;
// Moves of all particles between two steps.
const SWEEPS: usize = 30;

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn rotated(q: [f64; 4], v: Vec3) -> Vec3 {
    let axis = [q[1], q[2], q[3]];
    let t = cross(axis, v).map(|x| 2.0 * x);
    let u = cross(axis, t);
    [0, 1, 2].map(|i| v[i] + q[0] * t[i] + u[i])
}

/// The corners of a truncated octahedron with edges of length 1: all orders of 0, 1 and 2, over the square root of 2.
fn corners() -> Vec<Vec3> {
    let mut all = Vec::new();
    for [zero, one, two] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for signs in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
            let mut corner = [0.0; 3];
            (corner[zero], corner[one], corner[two]) = (0.0, signs[0] * 0.5f64.sqrt(), signs[1] * 2.0 * 0.5f64.sqrt());
            all.push(corner);
        }
    }
    all
}

/// A polyhedron where it stands, with all that tells whether it overlaps another one.
#[derive(Clone)]
struct Grain {
    position: Vec3,
    rotation: [f64; 4],
    corners: Vec<Vec3>,
    normals: Vec<Vec3>,
    edges: Vec<Vec3>,
}

impl Grain {
    fn new(position: Vec3, rotation: [f64; 4], shape: &[Vec3]) -> Grain {
        let turned = |v: &Vec3| rotated(rotation, *v);
        let normals = [
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
            [-1.0, 1.0, 1.0],
            [1.0, -1.0, 1.0],
            [1.0, 1.0, -1.0],
        ];
        let edges =
            [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.0, 1.0, 1.0], [0.0, 1.0, -1.0]];
        Grain {
            position,
            rotation,
            corners: shape.iter().map(turned).collect(),
            normals: normals.iter().map(turned).collect(),
            edges: edges.iter().map(turned).collect(),
        }
    }
    /// Whether two convex bodies whose middles are `between` apart have no plane between them: a face's, or one along two edges.
    fn overlaps(&self, other: &Grain, between: Vec3) -> bool {
        let reach = |grain: &Grain, axis: Vec3| grain.corners.iter().map(|&c| dot(c, axis)).fold(0.0, f64::max);
        let parts = |axis: Vec3| dot(axis, between).abs() > reach(self, axis) + reach(other, axis);
        let crossed = self.edges.iter().flat_map(|&a| other.edges.iter().map(move |&b| cross(a, b)));
        dot(between, between) < 10.0 && !self.normals.iter().chain(&other.normals).copied().chain(crossed).any(parts)
    }
}

/// A periodic box of hard polyhedra.
#[derive(Debug)]
struct Press {
    grains: Vec<([f64; 3], [f64; 4])>,
    side: f64,
    random: u64,
    // How far a move goes.
    length: f64,
}

impl Press {
    fn new() -> Press {
        let mut press =
            Press { grains: Vec::new(), side: 1.5 * 2.0 * 2f64.sqrt() * SIDE as f64, random: 1, length: 0.4 };
        let unit = press.side / SIDE as f64;
        for i in 0..COUNT {
            let (cell, shift) = (i / 2, if i % 2 == 0 { 0.25 } else { 0.75 });
            let place = [cell % SIDE, cell / SIDE % SIDE, cell / SIDE / SIDE].map(|x| (x as f64 + shift) * unit);
            press.grains.push((place, [1.0, 0.0, 0.0, 0.0]));
        }
        // From a crystal to a gas.
        (0..60).for_each(|_| press.sweep());
        press
    }
    fn uniform(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }
    // The shortest way from one place to another.
    fn between(&self, a: Vec3, b: Vec3) -> Vec3 {
        [0, 1, 2].map(|i| (b[i] - a[i]) - self.side * ((b[i] - a[i]) / self.side).round())
    }
    // Moves and turns each grain a little, unless it would overlap another.
    fn sweep(&mut self) {
        let shape = corners();
        let mut all: Vec<Grain> = self.grains.iter().map(|&(p, q)| Grain::new(p, q, &shape)).collect();
        let mut moved = 0;
        for i in 0..COUNT {
            let [dx, dy, dz] = [0; 3].map(|_| self.length * self.uniform());
            let turn = [0; 3].map(|_| 0.5 * self.length * self.uniform());
            let Grain { position: [x, y, z], rotation: q, .. } = all[i];
            let place = [x + dx, y + dy, z + dz].map(|x: f64| x.rem_euclid(self.side));
            let (axis, v) = ([q[1], q[2], q[3]], turn);
            let c = cross(v, axis);
            let mut turned =
                [q[0] - dot(v, axis), q[1] + q[0] * v[0] + c[0], q[2] + q[0] * v[1] + c[1], q[3] + q[0] * v[2] + c[2]];
            let norm = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
            turned.iter_mut().for_each(|x| *x /= norm);
            let grain = Grain::new(place, turned, &shape);
            let is_free = |j: usize| j == i || !grain.overlaps(&all[j], self.between(place, all[j].position));
            if (0..COUNT).all(is_free) {
                all[i] = grain;
                moved += 1;
            }
        }
        self.grains = all.iter().map(|grain| (grain.position, grain.rotation)).collect();
        // As long as a third of the moves are free.
        self.length = (self.length * if 3 * moved > COUNT { 1.05 } else { 0.95 }).clamp(0.005, 0.5);
    }
    // Presses the box, as far as nothing overlaps.
    fn press(&mut self) {
        let shape = corners();
        let mut share = 0.02;
        while share > 1e-5 {
            let side = self.side * (1.0 - share);
            let all: Vec<Grain> =
                self.grains.iter().map(|&(p, q)| Grain::new(p.map(|x| x * (1.0 - share)), q, &shape)).collect();
            let mut smaller = Press { grains: Vec::new(), side, ..*self };
            let is_free = (0..COUNT)
                .all(|i| (0..i).all(|j| !all[i].overlaps(&all[j], smaller.between(all[i].position, all[j].position))));
            if is_free {
                smaller.grains = all.iter().map(|grain| (grain.position, grain.rotation)).collect();
                *self = smaller;
                return;
            }
            share /= 2.0;
        }
    }
    // How far a grain is turned from its neighbors, in degrees: the mean of the angles of its square faces' nearest normals.
    fn disorder(&self) -> Vec<f64> {
        let axes: Vec<[Vec3; 3]> = self
            .grains
            .iter()
            .map(|&(_, q)| [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|a| rotated(q, a)))
            .collect();
        let angle = |i: usize, j: usize| {
            let off = axes[i].map(|a| axes[j].iter().map(|&b| dot(a, b).abs()).fold(0.0, f64::max));
            off.iter().map(|cosine| cosine.min(1.0).acos().to_degrees()).sum::<f64>() / 3.0
        };
        (0..COUNT)
            .map(|i| {
                let near = |j: &usize| {
                    let way = self.between(self.grains[i].0, self.grains[*j].0);
                    *j != i && dot(way, way) < 9.0
                };
                let all: Vec<f64> = (0..COUNT).filter(near).map(|j| angle(i, j)).collect();
                all.iter().sum::<f64>() / all.len().max(1) as f64
            })
            .collect()
    }
    fn step(&self, number: usize) -> Step {
        let middle = |x: f64| x - 0.5 * self.side;
        let column = |name: &str, values: Vec<f64>| Column { name: name.into(), values };
        let mut columns: Vec<Column> =
            (0..4).map(|i| column(&format!("orientation.{i}"), self.grains.iter().map(|g| g.1[i]).collect())).collect();
        columns.push(column("disorder", self.disorder()));
        Step {
            positions: self.grains.iter().map(|g| g.0.map(middle)).collect(),
            radii: vec![1.0; COUNT],
            columns,
            number: Some(number as u64),
            ..Step::default()
        }
    }
}

/// The simulation goes on when a step is asked for.
#[derive(Debug)]
struct Running(Mutex<(Press, Vec<Arc<Step>>)>);

impl StepSource for Running {
    fn count(&self) -> usize {
        STEPS
    }
    fn step(&self, number: usize) -> Result<Arc<Step>, AssetError> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (press, steps) = &mut *running;
        while steps.len() <= number {
            steps.push(Arc::new(press.step(steps.len())));
            (0..SWEEPS).for_each(|_| {
                press.sweep();
                press.press();
            });
        }
        Ok(Arc::clone(&steps[number]))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let running = Running(Mutex::new((Press::new(), Vec::new())));
    if let Some(pattern) = std::env::args().nth(1) {
        for number in 0..STEPS {
            let step = running.step(number)?;
            let mut text = String::from("x,y,z,r,qw,qx,qy,qz,disorder\n");
            for i in 0..COUNT {
                let p = step.positions[i];
                write!(text, "{:.4},{:.4},{:.4},1", p[0], p[1], p[2])?;
                step.columns.iter().try_for_each(|column| write!(text, ",{:.4}", column.values[i]))?;
                text.push('\n');
            }
            std::fs::write(pattern.replace("%03d", &format!("{number:03}")), text)?;
            println!("step {number}");
        }
        return Ok(());
    }
    let shape = format!("{:?}", corners());
    let keys = [
        ("particles.path", "\"memory\""),
        ("particles.color_by", "\"disorder\""),
        ("particles.shape", &shape),
        ("figure.label", "\"Disorder (degrees)\""),
        ("output.size", "[480, 360]"),
        ("output.frames", "4"),
    ];
    let options = RenderOptions::new().particles(Arc::new(running));
    let mut renderer = Renderer::with_options(Scene::figure(&keys)?, options)?;
    for frame in 0..4 {
        let picture = renderer.still(frame)?;
        println!("step {frame}: {} x {} pixels", picture.width(), picture.height());
    }
    Ok(())
}
