//! The tables of a 2009 report on load balance (CSE260): schedules of a frame's work over threads with their efficiency by rays
//! and by floating-point operations, on the CPU and on GPUs; and the operations of each function.
//!
//!     cargo bench --bench balance [-- SCENE [WIDTHxHEIGHT [RUNS]]]
//!
//! The scene is scenes/cse260.toml, at 500x500, and times are medians of 5 runs. Rows of a GPU need `scripts/ptx --bench`, which
//! makes kernels with other schedules in target/bench-ptx.
#![expect(clippy::print_stdout, reason = "its tables")]

use polyfly::Scene;
use polyfly::scene::Integrator;
use polyfly::tiles::{Dealt, FrameOnGpu, Schedule, TiledFrame, counting};
use polyfly_bench_kernels::gpu::Gpu;
use polyfly_bench_kernels::{Function, Operations, by_function, operations};
use std::error::Error;
use std::path::Path;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    // `cargo bench` adds --bench.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let argument = |i: usize| arguments.get(i).map(String::as_str);
    let path = argument(0).unwrap_or("scenes/cse260.toml");
    let (width, height) = argument(1).unwrap_or("500x500").split_once('x').ok_or("the size is WIDTHxHEIGHT")?;
    let runs: usize = argument(2).unwrap_or("5").parse()?;

    let text = std::fs::read_to_string(path)?;
    let mut scene = Scene::parse(&text, path, Path::new(path).parent().unwrap_or(Path::new("")))?.scene;
    (scene.render.width, scene.render.height) = (width.parse()?, height.parse()?);
    let (samples, integrator) = (scene.render.samples_per_pixel(), scene.render.integrator);
    let frame = TiledFrame::new(scene, 0, None)?;
    // The operations of each tile are those of the set "counting"; other sets do the same.
    let (mut of_tiles, mut before) = (Vec::new(), operations());
    frame.trace_with(counting(), |tile| {
        assert_eq!(tile, of_tiles.len(), "tiles come in order");
        let now = operations();
        of_tiles.push((now - before).all());
        before = now;
    });
    let flops: u64 = of_tiles.iter().sum();
    println!(
        "{path}, {width} x {height}, {samples} samples a pixel; {:.3} Gflop a frame, median of {runs}\n",
        flops as f64 / 1e9
    );
    println!("| device | schedule | threads | ms | Mrays/s | Gflop/s | efficiency by rays | by flops |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|");
    let row = |device: &str, schedule: &str, threads: usize, ms: f64, rays: u64, efficiencies: [Option<f64>; 2]| {
        let [by_rays, by_flops] = efficiencies.map(|x| x.map_or("-".into(), |x| format!("{x:.3}")));
        let (mrays, gflops) = (rays as f64 / ms / 1e3, flops as f64 / ms / 1e6);
        println!("| {device} | {schedule} | {threads} | {ms:.3} | {mrays:.1} | {gflops:.1} | {by_rays} | {by_flops} |");
    };
    let cpu = format!("cpu {}", frame.isa());
    let all = frame.threads();
    let serial = ("serial", Schedule::Static, 1);
    for (name, schedule, threads) in
        [serial].into_iter().chain(Schedule::ALL.map(|(schedule, name)| (name, schedule, all)))
    {
        frame.run(schedule, threads)?; // not counted: memory and caches are cold
        let mut dealt = (0..runs).map(|_| frame.run(schedule, threads)).collect::<Result<Vec<_>, _>>()?;
        dealt.sort_by_key(|one| one.time);
        let middle = &dealt[runs / 2];
        let rays = of_threads(middle, |tile| tile.1);
        let counted = of_threads(middle, |tile| of_tiles[tile.0]);
        let ms = middle.time.as_secs_f64() * 1e3;
        row(&cpu, name, threads, ms, rays.iter().sum(), [&rays, &counted].map(|work| Some(efficiency(work))));
    }
    if integrator == Integrator::Whitted {
        for on_gpu in frame.on_gpus()? {
            schedules_of(&on_gpu, (width.parse()?, height.parse()?), samples, runs, &row)?;
        }
    }
    println!("\nOperations of each function, without those of functions that it calls:\n");
    print_functions(&by_function(), flops);
    Ok(())
}

// The sums of each thread over its tiles, of whom `of` gets number and rays.
fn of_threads(dealt: &Dealt, of: impl Fn((usize, u64)) -> u64) -> Vec<u64> {
    dealt.threads.iter().map(|tiles| tiles.iter().map(|one| of((one.tile, one.rays))).sum()).collect()
}

// The work of the average thread divided by that of the busiest one.
fn efficiency(work: &[u64]) -> f64 {
    let busiest = work.iter().copied().max().unwrap_or(0).max(1);
    work.iter().sum::<u64>() as f64 / work.len() as f64 / busiest as f64
}

fn print_functions(functions: &[Function], flops: u64) {
    println!("| function | calls | flops a call | Mflop | share | + - | * | / | root |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for Function { name, calls, operations } in functions {
        let Operations { additions, multiplications, divisions, roots } = *operations;
        let all = operations.all() as f64;
        let (each, millions, share) = (all / (*calls).max(1) as f64, all / 1e6, 100.0 * all / flops as f64);
        println!(
            "| `{name}` | {calls} | {each:.1} | {millions:.3} | {share:.2} % | {additions} | {multiplications} | {divisions} | {roots} |"
        );
    }
}

type Row<'a> = dyn Fn(&str, &str, usize, f64, u64, [Option<f64>; 2]) + 'a;

// The words of Counts, and how many there are (kernels/types.def).
const WORDS: usize = 4;
const COUNTERS: usize = 64;

// A GPU's rows. Threads count rays, of whom the busiest one is known; not operations.
fn schedules_of(on: &FrameOnGpu, size: (u32, u32), samples: u32, runs: usize, row: &Row) -> Outcome<()> {
    let (kind, features) = on.kind();
    let Some(gpu) = Gpu::load(&format!("schedule_{kind}"), Some(features))? else { return Ok(()) };
    let kernel = gpu.kernel("polyfly_schedule", 128)?;
    let items = size.0.div_ceil(8) * size.1.div_ceil(8) * 64 * samples;
    let ways = [("static", 0), ("cyclic", 1), ("dynamic", 2), ("a thread a sample", 1)];
    for (name, mode) in ways {
        let blocks = if name == "a thread a sample" { items.div_ceil(128) } else { kernel.resident_blocks };
        let mut timed = Vec::new();
        for _ in 0..=runs {
            // Both are changed by a run.
            let (queue, counts) = (gpu.upload(&[0i32])?, gpu.upload(&[0u64; WORDS * COUNTERS])?);
            let [scene, frame, launch] = on.arguments();
            let (mode, queue_at, counts_at): (i32, u64, u64) = (mode, queue.address(), counts.address());
            let arguments = [
                scene,
                frame,
                launch,
                (&raw const mode).cast(),
                (&raw const queue_at).cast(),
                (&raw const counts_at).cast(),
            ];
            let ms = gpu.time(&kernel, blocks, &arguments)?;
            let counts: Vec<u64> = counts.download(WORDS * COUNTERS)?;
            timed.push((ms, counts));
        }
        timed.remove(0);
        timed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (ms, counts) = &timed[runs / 2];
        let (rays, busiest) = counts.chunks(WORDS).fold((0, 0), |(sum, most), c| (sum + c[0], most.max(c[2])));
        let threads = (blocks * 128) as usize;
        let by_rays = rays as f64 / threads as f64 / (busiest.max(1)) as f64;
        row(&on.name, name, threads, *ms, rays, [Some(by_rays), None]);
    }
    Ok(())
}
