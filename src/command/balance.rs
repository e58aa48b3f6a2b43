//! `polyfly bench --balance`: compares schedules of a frame's tiles over CPU threads, as a 2009 CSE260 report did: static
//! ("naive"), cyclic and dynamic. Their measure is the work of the average thread divided by that of the busiest one, in rays
//! here; `cargo bench --bench balance` counts floating-point operations, and compares a GPU's threads.

use super::bench::BenchScene;
use super::measured::median;
use super::plots::{OF_BALANCE, Plot, Series, Style, write_all};
use super::table::{Column, Measurement, numbers, words, written};
use crate::cli::{BenchArgs, Failure, environment};
use crate::device::{DeviceError, Memory, Task, balance};
use crate::language::{count, msg};
use crate::render::stats::ms;
use crate::render::tiles::{Schedule, TiledFrame};
use crate::report::{Spinner, print};
use crate::scene::Scene;
use serde::Serialize;
use std::time::Duration;

#[derive(Serialize)]
struct BalanceRow {
    device: String,
    schedule: &'static str,
    threads: usize,
    ms: f64,
    mrays_per_second: f64,
    // The rays of the average thread divided by those of the busiest one.
    efficiency: f64,
}

#[derive(Serialize)]
struct Balance {
    #[serde(flatten)]
    what: Measurement,
    samples_per_pixel: u32,
    repetitions: u32,
    rays_per_frame: u64,
    schedules: Vec<BalanceRow>,
}

const COLUMNS: [Column<BalanceRow>; 6] = [
    words("device", "device", |row| row.device.clone()),
    words("schedule", "schedule", |row| row.schedule.to_owned()),
    numbers("threads", "threads", |row| row.threads.to_string()),
    numbers("ms", "ms", |row| format!("{:.3}", row.ms)),
    numbers("Mrays/s", "mrays_per_second", |row| format!("{:.1}", row.mrays_per_second)),
    numbers("efficiency", "efficiency", |row| format!("{:.3}", row.efficiency)),
];

/// Prints a table with schedule, threads, median time, speed and parallel efficiency. Draws plots if requested.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let subject = BenchScene::of(args)?;
    let scene = &subject.scene;
    let frame = TiledFrame::new(scene.clone(), measured_frame(args, scene)?, environment("POLYFLY_ISA"))
        .map_err(|e| subject.placed(e))?;
    let (spinner, most) = (Spinner::new(), frame.threads());
    let device = format!("cpu {}", frame.isa());
    let mut rows: Vec<BalanceRow> = Vec::new();
    let mut row = |schedule: &'static str, threads, [_, ms, _]: [f64; 3], rays: &[u64], efficiency| {
        let mrays_per_second = rays.iter().sum::<u64>() as f64 / ms / 1e3;
        rows.push(BalanceRow { device: device.clone(), schedule, threads, ms, mrays_per_second, efficiency });
        spinner.say(&format!("{device}: {schedule}"));
    };
    let timed = |schedule, threads| {
        middle(args.runs, &mut || {
            let dealt = frame.run(schedule, threads)?;
            Ok((dealt.time, dealt.threads.iter().map(|tiles| tiles.iter().map(|tile| tile.rays).sum()).collect()))
        })
    };
    let (serial, all) = timed(Schedule::Static, 1)?;
    row("serial", 1, serial, &all, balance(&all));
    let (mut works, mut speed_ups) = (Vec::new(), Vec::new());
    let even = all.iter().sum::<u64>() as f64 / most as f64;
    for (schedule, name) in Schedule::ALL {
        let (time, rays) = timed(schedule, most)?;
        row(name, most, time, &rays, balance(&rays));
        works.push(Series::new(name, (0..).map(f64::from).zip(rays.iter().map(|&rays| rays as f64 / even))));
        let mut points = vec![(1.0, [1.0; 3])];
        if args.plots.is_some() {
            let counts = std::iter::successors(Some(2), |n| Some(n * 2)).take_while(|&n| n < most);
            for threads in counts.chain([most]).filter(|&n| n > 1) {
                let [shortest, ms, longest] = timed(schedule, threads)?.0;
                points.push((threads as f64, [longest, ms, shortest].map(|ms| serial[1] / ms)));
            }
        }
        speed_ups.push(Series::with_spread(name, points));
    }
    let (mut picture, mut efficiency) = (Memory::default(), 0.0);
    let (stealing, rays) = middle(args.runs, &mut || {
        let task = Task { adaptive: None, ..Task::picture(scene, frame.number) };
        let stats = frame.cpu.run(&task, &frame.params, &mut picture);
        efficiency = stats.balance;
        Ok((stats.kernel, vec![stats.rays]))
    })?;
    row("work stealing (in use)", most, stealing, &rays, efficiency);
    drop(spinner);
    let note = subject.note(false);
    let table = Balance {
        what: subject.measurement(),
        samples_per_pixel: scene.render.samples_per_pixel(),
        repetitions: args.runs,
        rays_per_frame: all.iter().sum(),
        schedules: rows,
    };
    let samples = count!(table.samples_per_pixel, "sample", "samples");
    let caption = format!("{note}; {samples} a pixel, median of {}", args.runs);
    print(&written(&caption, &COLUMNS, &table.schedules, &table, args.format))?;
    if let Some(folder) = &args.plots {
        let numbers: Vec<String> = (0..most).map(|n| n.to_string()).collect();
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
    let frames = args.common.frame_list(scene)?;
    match (&args.common.frames, frames.len()) {
        (None, _) => Ok(0),
        (Some(_), 1) => Ok(frames.nth(0).unwrap_or_default()),
        (Some(_), many) => Err(Failure::usage(msg!(
            "--balance measures one frame, and --frames names {frames}: write one of them",
            frames = count!(many as u64, "frame", "frames")
        ))),
    }
}

// The shortest, the median and the longest time in milliseconds, and the rays of each thread in the run in the middle.
type Timed = ([f64; 3], Vec<u64>);

fn middle(runs: u32, render: &mut dyn FnMut() -> Result<(Duration, Vec<u64>), DeviceError>) -> Result<Timed, Failure> {
    render()?; // not counted: memory and caches are cold
    let mut all = (0..runs).map(|_| render()).collect::<Result<Vec<_>, _>>()?;
    all.sort_by_key(|(time, _)| *time);
    let mut times: Vec<f64> = all.iter().map(|(time, _)| ms(*time)).collect();
    let times = [times[0], median(&mut times), times[times.len() - 1]];
    Ok((times, all.swap_remove(all.len() / 2).1))
}
