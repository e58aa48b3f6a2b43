//! `bench --clip`: the total time of a clip on each device, and that of its first and last frames.

use super::bench::{BenchScene, BenchTarget, targets, thread_counts};
use super::measured::median;
use super::table::{Column, Measurement, numbers, words, written};
use crate::cli::{BenchArgs, Failure};
use crate::render::frames::FrameList;
use crate::render::stats::ms;
use crate::report::{Spinner, print};
use serde::Serialize;

// Frames at either end of the clip that have rows.
const SHOWN: usize = 10;

// The time of a frame, or of all together, on a device.
#[derive(Serialize)]
struct Row {
    device: String,
    threads: Option<usize>,
    // None: all frames.
    frame: Option<u32>,
    ms: f64,
    // The time of the first device divided by this one's.
    times_as_fast: f64,
}

#[derive(Serialize)]
struct Table {
    #[serde(flatten)]
    what: Measurement,
    frames: String,
    repetitions: u32,
    rows: Vec<Row>,
}

const COLUMNS: [Column<Row>; 5] = [
    words("frame", "frame", |row| row.frame.map_or_else(|| "all".into(), |n| n.to_string())),
    words("device", "device", |row| row.device.clone()),
    numbers("threads", "threads", |row| row.threads.map_or_else(String::new, |n| n.to_string())),
    numbers("ms", "ms", |row| format!("{:.3}", row.ms)),
    numbers("times as fast", "times_as_fast", |row| format!("{:.2}", row.times_as_fast)),
];

// What is measured of a device: the whole run, and its frames in order.
struct Times {
    total: f64,
    frames: Vec<f64>,
}

/// Measures all frames on each device, and prints the table.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let subject = BenchScene::of(args)?;
    let (scene, spinner) = (&subject.scene, Spinner::new());
    let frames = args.common.frame_list(scene)?;
    let mut targets = targets(scene, &thread_counts(&args.threads), None, &spinner).map_err(|e| subject.placed(e))?;
    let mut times = Vec::new();
    for one in &mut targets {
        one.once(&FrameList::one(frames.nth(0).unwrap_or_default()))?; // not counted: memory and caches are cold
        let mut runs = Vec::new();
        for run in 1..=args.runs {
            spinner.say(&format!("{}: {run} of {}", one.label(), args.runs));
            let (total, measured) = one.once(&frames)?;
            let frames = measured.frames.iter().map(|frame| ms(frame.stats.kernel)).collect();
            runs.push(Times { total: ms(total), frames });
        }
        times.push(runs);
    }
    drop(spinner);
    let all: Vec<u32> = frames.iter().collect();
    let ends = (0..all.len()).filter(|&i| i < SHOWN || i + SHOWN >= all.len());
    let rows = [None].into_iter().chain(ends.map(Some)).flat_map(|frame| {
        let of = |runs: &Vec<Times>| {
            median(&mut runs.iter().map(|run| frame.map_or(run.total, |i| run.frames[i])).collect::<Vec<_>>())
        };
        let first = of(&times[0]);
        let row = |(one, runs): (&BenchTarget, _)| {
            let (ms, frame) = (of(runs), frame.map(|i| all[i]));
            Row { device: one.name.clone(), threads: one.threads, frame, ms, times_as_fast: first / ms }
        };
        targets.iter().zip(&times).map(row).collect::<Vec<_>>()
    });
    let table =
        Table { what: subject.measurement(), frames: frames.to_string(), repetitions: args.runs, rows: rows.collect() };
    let caption = format!("{}; frames {frames}, median of {}", subject.note(false), args.runs);
    Ok(print(&written(&caption, &COLUMNS, &table.rows, &table, args.format))?)
}
