//! `polyfly bench --balance`: compares ways of distributing a frame's work over threads, on the CPU and on GPUs. The
//! measure is the work of the average thread divided by that of the busiest one. It comes from a 2009 CSE260 report,
//! as do the three ways: static ("naive"), cyclic and dynamic.

use super::bench::BenchScene;
use super::measured::median;
use super::plots::{OF_BALANCE, Plot, Series, Style, write_all};
use super::table::{Column, numbers, words, written};
use crate::cli::{BenchArgs, Failure, environment};
use crate::device::{self, DeviceError, DeviceNeeds, FilmSlice, GpuDevice, Memory, Moment, Schedule, Task, TaskStats};
use crate::gpu_types::FrameParams;
use crate::kernels::Isa;
use crate::language::Language;
use crate::render::stats::ms;
use crate::render::{RenderOptions, Renderer};
use crate::report::{Spinner, print, several};
use crate::run::journal::processor;
use crate::scene::Scene;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

// A schedule's results on a device.
#[derive(Serialize)]
struct BalanceRow {
    device: String,
    schedule: String,
    threads: String,
    ms: f64,
    mrays_per_second: f64,
    gflop_per_second: f64,
    // The rays of the average thread divided by those of the busiest one.
    efficiency: f64,
}

#[derive(Serialize)]
struct Balance {
    polyfly: &'static str,
    processor: Option<String>,
    scene: String,
    width: u32,
    height: u32,
    samples_per_pixel: u32,
    repetitions: u32,
    gflop_per_frame: f64,
    schedules: Vec<BalanceRow>,
}

const COLUMNS: [Column<BalanceRow>; 7] = [
    words("device", "device", |row| row.device.clone()),
    words("schedule", "schedule", |row| row.schedule.clone()),
    numbers("threads", "threads", |row| row.threads.clone()),
    numbers("ms", "ms", |row| format!("{:.3}", row.ms)),
    numbers("Mrays/s", "mrays_per_second", |row| format!("{:.1}", row.mrays_per_second)),
    numbers("Gflop/s", "gflop_per_second", |row| format!("{:.1}", row.gflop_per_second)),
    numbers("efficiency", "efficiency", |row| format!("{:.3}", row.efficiency)),
];

/// Prints a table with device, schedule, median kernel time, speed and parallel efficiency. Draws plots if requested.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let subject = BenchScene::of(args)?;
    let scene = &subject.scene;
    if !scene.render.integrator.capabilities().branches {
        return Err(Failure::usage(Language::no_balance));
    }
    let samples = scene.render.samples_per_pixel();
    // A GPU counts items in 32 bits.
    let items = u64::from(scene.render.width.div_ceil(8)) * u64::from(scene.render.height.div_ceil(8)) * 64;
    if items * u64::from(samples) > i32::MAX as u64 {
        return Err(Failure::usage(|l| l.too_large_for_balance(items, l.count_samples(samples))));
    }
    let options = RenderOptions { isa: environment("POLYFLY_ISA"), ..RenderOptions::on_cpu() };
    let frame = measured_frame(args, scene)?;
    let mut renderer = Renderer::prepare(scene.clone(), options).map_err(|e| subject.placed(e))?;
    let isa = renderer.prepared.isa;
    let params = renderer.prepared.first.frame_params(renderer.scene(), frame);
    // The arrays of that frame, if something moves.
    if let Some(moment) = renderer.prepared.moments_of(frame)?.into_iter().next() {
        renderer.prepared.first = moment.scene;
    }
    let cpu = renderer.cpu(isa);
    let flops = renderer.cpu(Isa::counting()).flops(&params, samples);
    let spinner = Spinner::new();
    let mut rows: Vec<BalanceRow> = Vec::new();
    let mut row = |device: &str, schedule: &str, threads: &str, s: TaskStats| {
        let seconds = s.kernel.as_secs_f64();
        rows.push(BalanceRow {
            device: device.to_owned(),
            schedule: schedule.to_owned(),
            threads: threads.to_owned(),
            ms: ms(s.kernel),
            mrays_per_second: s.rays as f64 / seconds / 1e6,
            gflop_per_second: flops as f64 / seconds / 1e9,
            efficiency: s.balance,
        });
        spinner.say(&format!("{device}: {schedule}"));
    };
    let name = format!("cpu {}", isa.name);
    let scheduled = |schedule, threads| {
        middle(args.runs, &mut || cpu.run_scheduled(&params, samples, schedule, threads).map_err(DeviceError::from))
    };
    let (serial, _) = scheduled(Schedule::Static, 1)?;
    row(&name, "serial", "1", serial);
    let mut ways: Vec<Way> = Vec::new();
    for (schedule, word) in Schedule::ALL {
        let (stats, work) = scheduled(schedule, cpu.threads())?;
        row(&name, word, &cpu.threads().to_string(), stats);
        let mut speed_ups = vec![(1.0, 1.0)];
        if args.plots.is_some() {
            let counts = std::iter::successors(Some(2), |n| Some(n * 2)).take_while(|&n| n < cpu.threads());
            for threads in counts.chain([cpu.threads()]).filter(|&n| n > 1) {
                let (stats, _) = scheduled(schedule, threads)?;
                speed_ups.push((threads as f64, serial.kernel.as_secs_f64() / stats.kernel.as_secs_f64()));
            }
        }
        ways.push((word, work, speed_ups));
    }
    let task = Task { adaptive: None, ..Task::picture(renderer.scene(), frame) };
    let mut picture = Memory::default();
    let (stealing, _) = middle(args.runs, &mut || Ok((cpu.run(&task, &params, &mut picture), Vec::new())))?;
    row(&name, "work stealing (in use)", &cpu.threads().to_string(), stealing);

    on_gpus(args.runs, &renderer, &task, &params, &mut row)?;
    drop(spinner);
    let note = subject.note();
    let table = Balance {
        polyfly: env!("CARGO_PKG_VERSION"),
        processor: processor(),
        scene: subject.name().to_owned(),
        width: scene.render.width,
        height: scene.render.height,
        samples_per_pixel: samples,
        repetitions: args.runs,
        gflop_per_frame: flops as f64 / 1e9,
        schedules: rows,
    };
    let caption = format!(
        "{note}; {} a pixel, {:.3} Gflop a frame, median of {}",
        several(samples, "sample"),
        table.gflop_per_frame,
        args.runs
    );
    print(&written(&caption, &COLUMNS, &table.schedules, &table, args.format))?;
    if let Some(folder) = &args.plots {
        let even = serial.rays as f64 / cpu.threads() as f64;
        let shares = |rays: &[u64]| (0..).map(f64::from).zip(rays.iter().map(|&r| r as f64 / even)).collect::<Vec<_>>();
        let works: Vec<_> = ways.iter().map(|(name, rays, _)| Series::new(*name, shares(rays))).collect();
        let speed_ups: Vec<_> = ways.into_iter().map(|(name, _, points)| Series::new(name, points)).collect();
        let numbers: Vec<String> = (0..cpu.threads()).map(|n| n.to_string()).collect();
        let note = &note;
        let (title, x, y, style) = ("Rays of each thread", "thread", "even shares", Style::Bars(&numbers));
        let bars = Plot { title, x, y, note, style, series: &works }.svg();
        let (title, x, y, style) = ("Speed-up", "threads", "times as fast as one thread", Style::LinesAndDiagonal);
        let lines = Plot { title, x, y, note, style, series: &speed_ups }.svg();
        write_all(folder, &[(OF_BALANCE[0], bars), (OF_BALANCE[1], lines)], args.overwrite)?;
    }
    Ok(())
}

// The frame to measure: the first one, or the one that is asked for.
fn measured_frame(args: &BenchArgs, scene: &Scene) -> Result<u32, Failure> {
    let frames = args.changes.frame_list(scene)?;
    match (&args.changes.frames, frames.len()) {
        (None, _) => Ok(0),
        (Some(_), 1) => Ok(frames.nth(0).unwrap_or_default()),
        (Some(_), many) => Err(Failure::usage(|l| l.one_frame_for_balance(l.count_frames(many as u64)))),
    }
}

// The rows of each GPU.
fn on_gpus(runs: u32, renderer: &Renderer, task: &Task, params: &FrameParams, row: &mut AddRow) -> Result<(), Failure> {
    for info in device::list().unwrap_or_default() {
        let needs = DeviceNeeds { rgba: true, ..DeviceNeeds::default() };
        let mut gpu = device::open(&info, Arc::clone(&renderer.prepared.first), needs)?;
        let mut on_gpu =
            |word: &str,
             threads: &str,
             render: &mut dyn FnMut(&mut dyn GpuDevice) -> Result<TaskStats, DeviceError>| {
                let (stats, _) = middle(runs, &mut || render(gpu.as_mut()).map(|s| (s, Vec::new())))?;
                row(&info.name, word, threads, stats);
                Ok::<_, Failure>(())
            };
        for (schedule, word) in Schedule::ALL {
            on_gpu(word, "resident", &mut |gpu| gpu.run_scheduled(params, task.samples.end, Some(schedule)))?;
        }
        on_gpu("a thread a sample", "samples", &mut |gpu| gpu.run_scheduled(params, task.samples.end, None))?;
        on_gpu("dynamic, with the picture (in use)", "resident", &mut |gpu| {
            let moment = Moment::new(Arc::clone(&renderer.prepared.first), *params);
            let ticket = gpu.submit(task, &[moment], FilmSlice::default())?;
            gpu.wait(ticket).map(|(stats, _)| stats)
        })?;
    }
    Ok(())
}

// The schedule's name, the rays of each thread, and speed-ups by number of threads.
type Way = (&'static str, Vec<u64>, Vec<(f64, f64)>);
// Adds a row from device, schedule, threads and measured statistics.
type AddRow<'a> = dyn FnMut(&str, &str, &str, TaskStats) + 'a;
type Measured = (TaskStats, Vec<u64>);

// The run in the middle by its time, with the median time.
fn middle(runs: u32, render: &mut dyn FnMut() -> Result<Measured, DeviceError>) -> Result<Measured, DeviceError> {
    render()?; // not counted: memory and caches are cold
    let mut all = (0..runs).map(|_| render()).collect::<Result<Vec<_>, _>>()?;
    all.sort_by_key(|(s, _)| s.kernel);
    let mut times: Vec<f64> = all.iter().map(|(s, _)| s.kernel.as_secs_f64()).collect();
    let (stats, work) = all.swap_remove(all.len() / 2);
    Ok((TaskStats { kernel: Duration::from_secs_f64(median(&mut times)), ..stats }, work))
}
