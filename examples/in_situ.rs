//! Pictures of a simulation while it runs: dodecahedra fly through a box, turn, and meet as elastic balls would.
//! Run with `cargo run --release --example in_situ`.
#![allow(clippy::print_stdout, reason = "an example shows what it has")]

use polyfly::particles::{Column, Step, StepSource};
use polyfly::{AssetError, RenderOptions, Renderer, Scene};
use std::sync::{Arc, Mutex, PoisonError};

const SIDE: usize = 6;
const RADIUS: f64 = 0.35;
const STEPS: usize = 40;

struct Grain {
    place: [f64; 3],
    velocity: [f64; 3],
    // A quaternion, w first, and how fast it turns.
    rotation: [f64; 4],
    spin: [f64; 3],
}

fn gas() -> Vec<Grain> {
    let mut random = 1u64;
    let mut draw = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let grain = |i: usize| Grain {
        place: [i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE].map(|x| x as f64 + 0.5),
        velocity: [0; 3].map(|_| 0.5 * draw()),
        rotation: [1.0, 0.0, 0.0, 0.0],
        spin: [0; 3].map(|_| draw()),
    };
    (0..SIDE * SIDE * SIDE).map(grain).collect()
}

fn advance(grains: &mut [Grain], time: f64) {
    for grain in &mut *grains {
        for axis in 0..3 {
            grain.place[axis] += time * grain.velocity[axis];
            // Walls send back what flies towards them.
            let (low, high) = (grain.place[axis] < RADIUS, grain.place[axis] > SIDE as f64 - RADIUS);
            if low || high {
                grain.velocity[axis] = grain.velocity[axis].abs() * if low { 1.0 } else { -1.0 };
            }
        }
        let ([w, x, y, z], [a, b, c]) = (grain.rotation, grain.spin.map(|turn| 0.5 * time * turn));
        grain.rotation = [
            w - a * x - b * y - c * z,
            x + a * w + b * z - c * y,
            y + b * w + c * x - a * z,
            z + c * w + a * y - b * x,
        ];
    }
    for i in 1..grains.len() {
        let (before, rest) = grains.split_at_mut(i);
        let one = &mut rest[0];
        for other in before {
            let between = [0, 1, 2].map(|k| other.place[k] - one.place[k]);
            let squared: f64 = between.iter().map(|x| x * x).sum();
            let nearing: f64 = (0..3).map(|k| (one.velocity[k] - other.velocity[k]) * between[k]).sum();
            if squared < 4.0 * RADIUS * RADIUS && nearing > 0.0 {
                for (k, way) in between.into_iter().enumerate() {
                    one.velocity[k] -= nearing / squared * way;
                    other.velocity[k] += nearing / squared * way;
                }
            }
        }
    }
}

/// The simulation goes on when a step is asked for.
struct Running(Mutex<(Vec<Grain>, Vec<Arc<Step>>)>);

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a gas of dodecahedra")
    }
}

impl StepSource for Running {
    fn count(&self) -> usize {
        STEPS
    }
    fn step(&self, number: usize) -> Result<Arc<Step>, AssetError> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (grains, steps) = &mut *running;
        while steps.len() <= number {
            let column = |name: &str, of: &dyn Fn(&Grain) -> f64| Column {
                name: name.into(),
                values: grains.iter().map(of).collect(),
            };
            let mut columns: Vec<Column> =
                (0..4).map(|k| column(&format!("orientation.{k}"), &|grain| grain.rotation[k])).collect();
            columns.extend(
                ["vx", "vy", "vz"].iter().enumerate().map(|(k, name)| column(name, &|grain| grain.velocity[k])),
            );
            let positions = grains.iter().map(|grain| grain.place).collect();
            let number = Some(steps.len() as u64);
            steps.push(Arc::new(Step {
                positions,
                radii: vec![RADIUS; grains.len()],
                columns,
                number,
                ..Step::default()
            }));
            (0..20).for_each(|_| advance(grains, 0.01));
        }
        Ok(Arc::clone(&steps[number]))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let running = Running(Mutex::new((gas(), Vec::new())));
    let keys = [
        ("particles.path", "\"memory\""),
        ("particles.color_by", "\"speed\""),
        ("particles.shape", "\"dodecahedron\""),
        ("figure.label", "\"Speed (m/s)\""),
        ("output.size", "[480, 360]"),
        ("output.frames", "40"),
    ];
    let options = RenderOptions::new().particles(Arc::new(running));
    let mut renderer = Renderer::with_options(Scene::figure(&keys)?, options)?;
    for frame in [0, 20, 39] {
        let picture = renderer.still(frame)?;
        println!("step {frame}: {} x {} pixels", picture.width(), picture.height());
    }
    Ok(())
}
