//! `polyfly bench`: what a scene takes on each device of this machine, as a table for a report.

use super::machine::Others;
use super::plots::{self, AxisLabels, Series};
use super::{SceneText, balance, environment, load_scene, output};
use crate::cli::{BenchArgs, Failure, TableFormat};
use crate::device;
use crate::error::Error;
use crate::output::store::atomic::{prepare, write_whole};
use crate::output::{OutputError, PixelFormats, RenderedFrame, Sink};
use crate::render::frames::FrameList;
use crate::render::stats::{FrameReport, Progress, ms};
use crate::render::{Devices, RenderOptions, Renderer};
use crate::report::{Spinner, several, warn};
use crate::run::journal::processor;
use crate::scene::Scene;
use serde::Serialize;
use std::io::Write as _;
use std::time::Duration;

// Frames from all over a clip that are measured where nobody asks for others, and of its plot.
const FRAMES: usize = 5;
const PLOTTED: usize = 60;
// Shares of this machine that others take, and of the median that repetitions differ by, from which a figure is doubted.
const BUSY: f64 = 0.1;
const WIDE: f64 = 0.1;

/// The scene to measure: the one that is named, or the sample.
///
/// # Errors
/// It cannot be read.
pub fn subject(args: &BenchArgs) -> Result<(Scene, Option<SceneText>), Failure> {
    if let Some(name) = &args.scene {
        let (scene, text) = load_scene(name, &args.changes)?;
        return Ok((scene, Some(text)));
    }
    let mut scene = Scene::sample();
    args.changes.override_scene(&mut scene)?;
    Ok((scene, None))
}

/// An error with its place in the scene, if there is a text.
pub fn placed(text: Option<&SceneText>, error: Error) -> Failure {
    match text {
        Some(text) => text.placed(error),
        None => error.into(),
    }
}

// A device's figures over all frames that were measured.
#[derive(Serialize)]
struct Row {
    device: String,
    threads: Option<usize>,
    // A frame, milliseconds: the median of all repetitions, the quickest and the slowest of them.
    ms: f64,
    least_ms: f64,
    most_ms: f64,
    frames_per_second: f64,
    mrays_per_second: f64,
    // Of the first row's time.
    times_as_fast: f64,
}

#[derive(Serialize)]
struct Table {
    polyfly: &'static str,
    processor: Option<String>,
    scene: String,
    width: u32,
    height: u32,
    samples_per_pixel: u32,
    depth: u32,
    frames: String,
    repetitions: u32,
    // Of this machine, that other programs took meanwhile.
    others: Option<f64>,
    devices: Vec<Row>,
}

/// Measures, and prints the table.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    if args.balance {
        return balance::run(args);
    }
    let (scene, text) = subject(args)?;
    if let Some(folder) = &args.plots {
        prepare(&folder.join("clip.svg"))?;
    }
    let frames = match args.changes.frames {
        Some(_) => args.changes.frame_list(&scene)?,
        None => spread(&scene, FRAMES),
    };
    let render = &scene.render;
    let mut table = Table {
        polyfly: env!("CARGO_PKG_VERSION"),
        processor: processor(),
        scene: args.scene.clone().unwrap_or_else(|| "the sample scene".into()),
        width: render.width,
        height: render.height,
        samples_per_pixel: render.samples_per_pixel(),
        depth: render.depth,
        frames: frames.to_string(),
        repetitions: args.runs,
        others: None,
        devices: Vec::new(),
    };
    let spinner = Spinner::new(args.changes.quiet);
    let others = Others::watch();
    let mut subjects = subjects(&scene, &spinner).map_err(|e| placed(text.as_ref(), e))?;
    for one in &mut subjects {
        table.devices.push(one.row(&frames, args.runs, &spinner)?);
    }
    let first = table.devices[0].ms;
    table.devices.iter_mut().for_each(|row| row.times_as_fast = first / row.ms);
    table.others = others.share();
    let plots = match &args.plots {
        Some(folder) => {
            // A single thread would take minutes to show the same shape.
            let quick: Vec<usize> = (0..subjects.len()).filter(|&i| i > 0 || subjects.len() == 1).collect();
            let mut quick: Vec<&mut BenchTarget> =
                subjects.iter_mut().enumerate().filter(|(i, _)| quick.contains(i)).map(|(_, s)| s).collect();
            Some((folder, drawn(&mut quick, &scene, &note(args, &scene), &spinner)?))
        }
        None => None,
    };
    drop(spinner);
    for (folder, (file, svg)) in plots.iter().flat_map(|(folder, all)| all.iter().map(move |one| (folder, one))) {
        write_whole(&folder.join(file), |f| f.write_all(svg.as_bytes()))?;
    }
    if !args.changes.quiet {
        warnings(&table).iter().for_each(|text| warn(text));
    }
    output(&written(&table, args.format))
}

// Frames from all over a clip.
fn spread(scene: &Scene, count: usize) -> FrameList {
    let all = scene.output.frames;
    let mut numbers: Vec<u32> = (0..count as u64).map(|i| (i * u64::from(all) / count as u64) as u32).collect();
    numbers.dedup();
    FrameList::of_numbers(numbers.into_iter()).unwrap_or_else(|| FrameList::one(0))
}

// A device that is measured.
struct BenchTarget {
    name: String,
    threads: Option<usize>,
    renderer: Renderer,
}

// The CPU with one thread, with all of them, and each GPU.
fn subjects(scene: &Scene, spinner: &Spinner) -> Result<Vec<BenchTarget>, Error> {
    let options = |devices, threads| RenderOptions {
        devices,
        threads,
        isa: environment("POLYFLY_ISA"),
        ..RenderOptions::on_cpu()
    };
    spinner.say("preparing");
    // Its devices stay ready from run to run.
    let ready = |options| Ok::<_, Error>(Renderer::prepare(scene.clone(), options)?.varied(|_| {}));
    let mut all = Vec::new();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in if threads > 1 { vec![1, threads] } else { vec![1] } {
        let renderer = ready(options(Devices::Cpu, threads))?;
        let name = format!("CPU ({})", renderer.isa().name);
        all.push(BenchTarget { name, threads: Some(threads), renderer });
    }
    let gpus = device::list().unwrap_or_default();
    for (i, gpu) in gpus.into_iter().enumerate() {
        let renderer = ready(options(Devices::List(vec![i], false), 0))?;
        all.push(BenchTarget { name: gpu.name, threads: None, renderer });
    }
    Ok(all)
}

// Takes finished pictures, and does nothing with them.
struct Nowhere;

impl Sink for Nowhere {
    fn needs(&self) -> PixelFormats {
        PixelFormats::RGBA8
    }
    fn frame(&mut self, _frame: &RenderedFrame) -> Result<(), OutputError> {
        Ok(())
    }
}

#[derive(Default)]
struct Frames {
    times: Vec<(u32, Duration)>,
    rays: u64,
}

impl Progress for Frames {
    fn frame(&mut self, report: &FrameReport) {
        self.times.push((report.frame, report.stats.time));
        self.rays += report.stats.rays;
    }
}

impl BenchTarget {
    fn label(&self) -> String {
        match self.threads {
            Some(1) => format!("{}, 1 thread", self.name),
            Some(n) => format!("{}, {n} threads", self.name),
            None => self.name.clone(),
        }
    }

    // Time that the device was at work, and what each frame told.
    fn once(&mut self, frames: &FrameList) -> Result<(Duration, Frames), Error> {
        let mut told = Frames::default();
        let report = self.renderer.run(frames, vec![Box::new(Nowhere)], &mut told)?;
        Ok((report.time, told))
    }

    fn row(&mut self, frames: &FrameList, runs: u32, spinner: &Spinner) -> Result<Row, Error> {
        let label = self.label();
        spinner.say(&format!("{label}: warming up"));
        self.once(frames)?;
        let (mut times, mut rays) = (Vec::new(), 0);
        for run in 1..=runs {
            spinner.say(&format!("{label}: {run} of {runs}"));
            let (time, told) = self.once(frames)?;
            times.push(ms(time) / frames.len() as f64);
            rays = told.rays;
        }
        let middle = median(&mut times);
        let rays = rays as f64 / frames.len() as f64;
        Ok(Row {
            device: self.name.clone(),
            threads: self.threads,
            ms: middle,
            least_ms: times[0],
            most_ms: times[times.len() - 1],
            frames_per_second: 1e3 / middle,
            mrays_per_second: rays / middle / 1e3,
            times_as_fast: 1.0,
        })
    }
}

// The middle one; sorts.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let (below, above) = (times[(times.len() - 1) / 2], times[times.len() / 2]);
    (below + above) / 2.0
}

/// What plots say of the scene and the machine.
pub fn note(args: &BenchArgs, scene: &Scene) -> String {
    let name = args.scene.as_deref().unwrap_or("the sample scene");
    let (width, height) = (scene.render.width, scene.render.height);
    let machine = processor().map_or_else(String::new, |name| format!("; {name}"));
    format!("{name}, {width} x {height}{machine}; polyfly {}", env!("CARGO_PKG_VERSION"))
}

type Drawn = Vec<(&'static str, String)>;

// The plots: files and what is in them.
fn drawn(subjects: &mut [&mut BenchTarget], scene: &Scene, note: &str, spinner: &Spinner) -> Result<Drawn, Error> {
    let clip = spread(scene, PLOTTED);
    let mut over_clip = Vec::new();
    for one in &mut *subjects {
        spinner.say(&format!("{}: the clip", one.label()));
        // One at a time: frames in flight beside each other are slower each.
        let mut points = Vec::new();
        for n in clip.iter() {
            points.extend(one.once(&FrameList::one(n))?.1.times.iter().map(|(n, time)| (f64::from(*n), ms(*time))));
        }
        over_clip.push(Series { name: one.label(), points });
    }
    let frame = FrameList::one(scene.output.frames / 2);
    let own = (scene.render.own_samples(), scene.render.depth);
    let integrator = scene.render.integrator;
    let samples: Vec<u32> = match integrator.capabilities().random_samples {
        true => [1, 2, 4, 8, 16, 32, 64].into_iter().filter(|&n| n <= 2 * own.0).collect(),
        false => (1..=own.0.max(4)).collect(),
    };
    let mut depths: Vec<u32> = [0, 1, 2, 4, 8, 16, 32, 64, 128].into_iter().filter(|&d| d < own.1).collect();
    depths.push(own.1);
    let mut cost = |name: &str, values: &[u32], change: fn(&mut Scene, u32), at: &dyn Fn(u32) -> f64| {
        let mut curves = Vec::new();
        for one in &mut *subjects {
            spinner.say(&format!("{}: {name}", one.label()));
            let mut points = Vec::new();
            for &value in values {
                let mut varied = BenchTarget {
                    renderer: one.renderer.varied(|scene| change(scene, value)),
                    name: one.name.clone(),
                    threads: one.threads,
                };
                varied.once(&frame)?;
                let mut times = (0..3).map(|_| Ok(ms(varied.once(&frame)?.0))).collect::<Result<Vec<_>, Error>>()?;
                points.push((at(value), median(&mut times)));
            }
            curves.push(Series { name: one.label(), points });
        }
        Ok::<_, Error>(curves)
    };
    let by_samples = cost("samples", &samples, |scene, n| scene.render.set_samples(n), &|n| {
        f64::from(integrator.sampling(n).per_pixel())
    })?;
    let by_depth = cost("depth", &depths, |scene, n| scene.render.depth = n, &|n| f64::from(n))?;
    let y = "milliseconds";
    let draw = |title, x, curves: &[Series]| plots::lines(AxisLabels { title, x, y, note }, curves, false);
    Ok(vec![
        ("clip.svg", draw("Time of each frame", "frame", &over_clip)),
        ("samples.svg", draw("Cost of samples", "samples a pixel", &by_samples)),
        ("depth.svg", draw("Cost of bounces", "most bounces", &by_depth)),
    ])
}

// Why figures may not be what they seem.
fn warnings(table: &Table) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(share) = table.others.filter(|&share| share > BUSY) {
        let percent = 100.0 * share;
        all.push(format!(
            "other programs took {percent:.0} % of this machine meanwhile: measure again when it is idle"
        ));
    }
    for row in &table.devices {
        let spread = (row.most_ms - row.least_ms) / row.ms;
        if spread > WIDE {
            let percent = 100.0 * spread;
            all.push(format!(
                "{}: repetitions differ by {percent:.0} %: more of them (--runs) make the median surer",
                row.device
            ));
        }
    }
    all
}

fn cells(row: &Row) -> [String; 8] {
    [
        row.device.clone(),
        row.threads.map_or_else(String::new, |n| n.to_string()),
        format!("{:.3}", row.ms),
        format!("{:.3}", row.least_ms),
        format!("{:.3}", row.most_ms),
        format!("{:.2}", row.frames_per_second),
        format!("{:.1}", row.mrays_per_second),
        format!("{:.2}", row.times_as_fast),
    ]
}

const HEADS: [&str; 8] = ["device", "threads", "ms a frame", "least", "most", "frames/s", "Mrays/s", "times as fast"];
const KEYS: [&str; 8] =
    ["device", "threads", "ms", "least_ms", "most_ms", "frames_per_second", "mrays_per_second", "times_as_fast"];

fn written(table: &Table, format: TableFormat) -> String {
    let Table { scene, width, height, samples_per_pixel, depth, frames, repetitions, .. } = table;
    let caption = format!(
        "{scene}, {width} x {height}, {} a pixel, at most {}; frames {frames}, median of {repetitions}; polyfly {}{}",
        several(samples_per_pixel, "sample"),
        several(depth, "bounce"),
        table.polyfly,
        table.processor.as_ref().map_or_else(String::new, |name| format!(", {name}"))
    );
    let rows = || table.devices.iter().map(cells);
    let lines = |each: &dyn Fn([String; 8]) -> String| rows().map(each).collect::<String>();
    match format {
        TableFormat::Md => {
            let rule = format!("|---|{}\n", "---:|".repeat(7));
            let body = lines(&|cells| format!("| {} |\n", cells.map(|c| c.replace('|', "\\|")).join(" | ")));
            format!("{caption}\n\n| {} |\n{rule}{body}", HEADS.join(" | "))
        }
        TableFormat::Latex => {
            let body = lines(&|cells| format!("{} \\\\\n", cells.map(|c| in_latex(&c)).join(" & ")));
            let heads = HEADS.join(" & ");
            format!(
                "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{lrrrrrrr}}\n\\toprule\n{heads} \\\\\n\
                 \\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n\\caption{{{}}}\n\\end{{table}}\n",
                in_latex(&caption)
            )
        }
        TableFormat::Csv => {
            let mut writer = csv::Writer::from_writer(Vec::new());
            let all = std::iter::once(KEYS.map(str::to_owned)).chain(rows());
            // Into memory: nothing can fail.
            all.for_each(|cells| drop(writer.write_record(cells)));
            String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
        }
        TableFormat::Json => serde_json::to_string_pretty(table).unwrap_or_default() + "\n",
    }
}

fn in_latex(text: &str) -> String {
    let escaped = |c: char| match c {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{c}"),
        '~' => "\\textasciitilde{}".into(),
        '^' => "\\textasciicircum{}".into(),
        '\\' => "\\textbackslash{}".into(),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |device: &str, threads, ms: f64| Row {
            device: device.into(),
            threads,
            ms,
            least_ms: ms - 0.5,
            most_ms: ms + 1.0,
            frames_per_second: 1e3 / ms,
            mrays_per_second: 12.0,
            times_as_fast: 10.0 / ms,
        };
        Table {
            polyfly: "1.2.3",
            processor: Some("A & B_1".into()),
            scene: "50% of it.toml".into(),
            width: 4,
            height: 3,
            samples_per_pixel: 9,
            depth: 2,
            frames: "0,5".into(),
            repetitions: 3,
            others: Some(0.25),
            devices: vec![row("CPU, scalar", Some(1), 10.0), row("GPU", None, 2.0)],
        }
    }

    #[test]
    fn tables_are_written_as_each_reader_wants_them() {
        let all = [TableFormat::Md, TableFormat::Latex, TableFormat::Csv, TableFormat::Json];
        insta::assert_snapshot!(all.map(|format| written(&table(), format)).join("----\n"));
    }

    #[test]
    fn figures_that_may_be_wrong_are_told_of() {
        let told = warnings(&table());
        assert_eq!(told.len(), 3);
        assert!(told[0].contains("25 %") && told[2].starts_with("GPU: repetitions differ by 75 %"), "{told:?}");
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(
            [median(&mut [3.0, 1.0, 2.0]), median(&mut [4.0, 1.0, 2.0, 3.0]), median(&mut [7.0])],
            [2.0, 2.5, 7.0]
        );
    }
}
