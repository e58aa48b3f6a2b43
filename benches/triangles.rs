//! Three tests of a ray against a triangle, which the coursework's conclusion compares, and the test of a convex body by slabs: their
//! operations, counted from the text that is compiled (benches/kernels/triangles.cuh); their time with each instruction set and on a
//! GPU; and the time of a ray with all bodies of the coursework's scene.
//!
//!     cargo bench --bench triangles [-- WIDTHxHEIGHT [RUNS]]
//!
//! The rays are those of the first frame's pixels, at 1240x960; times are those of the fastest of 5 runs on one thread. Rows of a GPU need
//! `scripts/ptx --bench`, which makes its kernels in target/bench-ptx.
#![expect(clippy::print_stdout, reason = "its tables")]

use polyfly::Scene;
use polyfly::scene::Body;
use polyfly_bench_kernels::gpu::Gpu;
use polyfly_bench_kernels::triangles::{Rays, Set, Slab, Test};
use polyfly_bench_kernels::{Operations, operations};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;
type Point = [f64; 3];

// Multiplications and additions in the coursework's conclusion; each test has one division.
const COURSEWORK: [(u64, u64); 3] = [(39, 53), (23, 24), (20, 20)];
// Of a GPU's block.
const THREADS: u32 = 128;

fn main() -> Outcome<()> {
    // `cargo bench` adds --bench.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let argument = |i: usize| arguments.get(i).map(String::as_str);
    let (width, height) = argument(0).unwrap_or("1240x960").split_once('x').ok_or("the size is WIDTHxHEIGHT")?;
    let (width, height): (u32, u32) = (width.parse()?, height.parse()?);
    let runs: usize = argument(1).unwrap_or("5").parse()?;

    // `cargo bench` starts benchmarks in the checkout.
    let path = "scenes/coursework.txt";
    let scene = Scene::parse(&std::fs::read_to_string(path)?, path, Path::new(""))?.scene;
    let figures = Figures::of(&scene.world.bodies);
    let rays = rays_of(&scene, width, height);
    let count = figures.count();
    println!("Operations of a test, from the text, and in the coursework's conclusion:\n");
    println!("| test | * | + - | / | coursework: * | + - | / |\n|---|---:|---:|---:|---:|---:|---:|");
    let counting = Set::counting();
    let one = Rays::new(&[[0.0, 0.0, -3.0, 0.0, 0.0, 1.0]]);
    let counted = |test: &mut dyn FnMut(&mut Vec<f32>)| {
        let before = operations();
        test(&mut Vec::new());
        operations() - before
    };
    // The set has one lane, and tests all rays.
    let each = |all: Operations, figures: usize| {
        let part = |n: u64| n / (one.len() * figures) as u64;
        (part(all.multiplications), part(all.additions), part(all.divisions))
    };
    for ((test, name), coursework) in Test::ALL.into_iter().zip(COURSEWORK) {
        let all = counted(&mut |to| counting.triangles(test, &one, &figures.numbers(test)[..test.numbers()], to));
        let (times, plus, over) = each(all, 1);
        println!("| {name} | {times} | {plus} | {over} | {} | {} | 1 |", coursework.0, coursework.1);
    }
    let all = counted(&mut |to| counting.slabs(&one, &figures.bodies, &figures.slabs, to));
    let (times, plus, over) = each(all, figures.slabs.len());
    println!("| slab | {times} | {plus} | {over} | | | |");

    let bodies = figures.bodies.len();
    println!(
        "\n{} rays of the coursework's first frame, {bodies} bodies of {count} triangles or {} slabs, fastest of {runs} runs:\n",
        rays.len(),
        figures.slabs.len()
    );
    println!(
        "| device | test | Mtests/s | ns a test | ns a ray | time over that of slabs | registers |\n|---|---|---:|---:|---:|---:|---:|"
    );
    for set in Set::available() {
        let mut found: Vec<Vec<f32>> = vec![Vec::new(); 4];
        let mut seconds = Vec::new();
        for ((test, _), to) in Test::ALL.into_iter().zip(&mut found) {
            let numbers = figures.numbers(test);
            seconds.push(fastest(runs, || Ok(timed(|| set.triangles(test, &rays, &numbers, to))))?);
        }
        seconds.push(fastest(runs, || Ok(timed(|| set.slabs(&rays, &figures.bodies, &figures.slabs, &mut found[3]))))?);
        print_times(set.name, &seconds, rays.len(), &figures, &[]);
        agree(set.name, &found)?;
    }
    on_gpu(&figures, &rays, runs)
}

// The rows of a device, by the seconds of each test; the last one is that of slabs.
fn print_times(device: &str, seconds: &[f64], rays: usize, figures: &Figures, registers: &[i32]) {
    let names = Test::ALL.map(|(_, name)| name).into_iter().chain(["slabs"]);
    let slabs = seconds.last().copied().unwrap_or_default();
    for (i, (name, &seconds)) in names.zip(seconds).enumerate() {
        let figures = if name == "slabs" { figures.slabs.len() } else { figures.count() };
        let (rays, tests) = (rays as f64, (rays * figures) as f64);
        let (rate, each, ray, slower) =
            (tests / seconds / 1e6, seconds / tests * 1e9, seconds / rays * 1e9, seconds / slabs);
        let registers = registers.get(i).map_or("-".into(), i32::to_string);
        println!("| {device} | {name} | {rate:.1} | {each:.3} | {ray:.3} | {slower:.2} | {registers} |");
    }
}

// The fastest of some runs, after one that does not count.
fn fastest(runs: usize, mut run: impl FnMut() -> Outcome<f64>) -> Outcome<f64> {
    run()?;
    (0..runs).try_fold(f64::MAX, |least, _| Ok(least.min(run()?)))
}

// Seconds.
fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

// Whether the tests find the same: a ray along an edge may meet the triangles beside it or none, by rounding.
fn agree(device: &str, found: &[Vec<f32>]) -> Outcome<()> {
    let slabs = &found[3];
    let is_near = |a: f32, b: f32| (a - b).abs() <= 1e-3 * b.abs().max(1.0) || a == b;
    for (distances, (_, name)) in found.iter().zip(Test::ALL) {
        let other = distances.iter().zip(slabs).filter(|(a, b)| !is_near(**a, **b)).count();
        if other * 1000 > slabs.len() {
            return Err(format!(
                "{device}: {name} finds other distances than slabs for {other} of {} rays",
                slabs.len()
            )
            .into());
        }
    }
    Ok(())
}

fn on_gpu(figures: &Figures, rays: &Rays, runs: usize) -> Outcome<()> {
    let Some(gpu) = Gpu::load("triangles", None)? else { return Ok(()) };
    let (columns, n) = (gpu.upload(rays.columns())?, rays.len() as i32);
    let (mut seconds, mut registers, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let bodies = gpu.upload(&figures.bodies)?;
    let slabs: Vec<[f32; 8]> = figures.slabs.iter().map(|slab| slab.words()).collect();
    let slabs = gpu.upload(&slabs)?;
    let (bodies_count, all) = (figures.bodies.len() as i32, figures.slabs.len() as i32);
    for (name, test) in Test::ALL.map(|(test, name)| (name, Some(test))).into_iter().chain([("slabs", None)]) {
        let kernel = gpu.kernel(&format!("polyfly_{name}"), THREADS)?;
        let triangles = test.map(|test| gpu.upload(&figures.numbers(test))).transpose()?;
        let distances = gpu.upload(&vec![0.0f32; rays.len()])?;
        let addresses =
            [columns.address(), triangles.as_ref().unwrap_or(&bodies).address(), slabs.address(), distances.address()];
        let count = if test.is_some() { figures.count() as i32 } else { bodies_count };
        let first = [
            (&raw const addresses[0]).cast(),
            (&raw const n).cast(),
            (&raw const addresses[1]).cast(),
            (&raw const count).cast(),
        ];
        let of_slabs = [(&raw const addresses[2]).cast(), (&raw const all).cast()];
        let last = [(&raw const addresses[3]).cast()];
        let arguments = [&first[..], if test.is_some() { &[] } else { &of_slabs }, &last].concat();
        let blocks = (rays.len() as u32).div_ceil(THREADS);
        seconds.push(fastest(runs, || Ok(gpu.time(&kernel, blocks, &arguments)? / 1e3))?);
        registers.push(kernel.registers);
        found.push(distances.download(rays.len())?);
    }
    print_times(&gpu.name, &seconds, rays.len(), figures, &registers);
    agree(&gpu.name, &found)
}

// Bodies as slabs, and as the triangles of their faces.
#[derive(Default)]
struct Figures {
    triangles: Vec<[Point; 3]>,
    bodies: Vec<[f32; 4]>,
    slabs: Vec<Slab>,
}

impl Figures {
    fn of(bodies: &[Body]) -> Figures {
        let mut all = Figures::default();
        for body in bodies {
            let place = |v: &Point| -> Point { std::array::from_fn(|k| body.centre[k] + body.radius * v[k]) };
            let corners: Vec<Point> = body.solid.vertices().iter().map(place).collect();
            for face in body.solid.faces() {
                let fan = face[1..].windows(2).map(|pair| [corners[face[0]], corners[pair[0]], corners[pair[1]]]);
                all.triangles.extend(fan);
            }
            // Of two parallel faces one has the slab; a tetrahedron's faces have none beside them.
            let (reach, normals) = (body.solid.inradius() * body.radius, body.solid.normals());
            let before = all.slabs.len();
            for (i, &normal) in normals.iter().enumerate() {
                if normals[..i].iter().any(|&other| dot(other, normal) < -1.0 + 1e-9) {
                    continue;
                }
                let is_alone = normals.iter().all(|&other| dot(other, normal) > -1.0 + 1e-9);
                let back = if is_alone { -1.001 * body.radius } else { -reach };
                all.slabs.push(Slab {
                    normal: normal.map(|x| x as f32),
                    planes: [back as f32, reach as f32],
                    middle_and_half: [((reach + back) / 2.0) as f32, ((reach - back) / 2.0) as f32],
                });
            }
            let [x, y, z] = body.centre.map(|x| x as f32);
            all.bodies.push([x, y, z, (all.slabs.len() - before) as f32]);
        }
        all
    }

    fn count(&self) -> usize {
        self.triangles.len()
    }

    // The triangles' numbers for a test.
    fn numbers(&self, test: Test) -> Vec<f32> {
        let flat = |points: &[Point; 3]| points.concat();
        let numbers: Vec<f64> = match test {
            Test::Naive | Test::Optimized => self.triangles.iter().flat_map(flat).collect(),
            Test::Unit => self.triangles.iter().flat_map(to_unit).collect(),
        };
        numbers.into_iter().map(|x| x as f32).collect()
    }
}

// The map that takes a triangle to (0, 0, 0), (1, 0, 0), (0, 1, 0), and its unit normal to (0, 0, 1): three rows of four.
fn to_unit(&[a, b, c]: &[Point; 3]) -> Vec<f64> {
    let (u, v) = (sub(b, a), sub(c, a));
    let normal = cross(u, v);
    let square = dot(normal, normal);
    let scaled = |row: Point, by: f64| row.map(|x| x / by);
    // The rows of the inverse of the matrix with the columns u, v and the normal of length one.
    let rows = [scaled(cross(v, normal), square), scaled(cross(normal, u), square), scaled(normal, square.sqrt())];
    rows.into_iter().flat_map(|row| [row[0], row[1], row[2], -dot(row, a)]).collect()
}

// The rays through the middles of all pixels of the first frame.
fn rays_of(scene: &Scene, width: u32, height: u32) -> Rays {
    let view = scene.camera.view(0, scene.output.frames);
    let focal = view.focal(width, height);
    let ray = |x: u32, y: u32| {
        let right = f64::from(x) + 0.5 - f64::from(width) / 2.0;
        let up = f64::from(height) / 2.0 - f64::from(y) - 0.5;
        let d: Point = std::array::from_fn(|k| view.forward[k] * focal + view.right[k] * right + view.up[k] * up);
        let length = dot(d, d).sqrt();
        let [eye, d] = [view.eye, d.map(|x| x / length)].map(|point| point.map(|x| x as f32));
        [eye[0], eye[1], eye[2], d[0], d[1], d[2]]
    };
    let all: Vec<[f32; 6]> =
        (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| ray(x, y)).collect();
    Rays::new(&all)
}

fn sub(a: Point, b: Point) -> Point {
    std::array::from_fn(|k| a[k] - b[k])
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
