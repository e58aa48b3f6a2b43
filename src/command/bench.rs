//! `polyfly bench`: measures a scene on each device of this machine and prints a table for a report.

use super::machine::Others;
use super::measured::{Discard, Measured};
use super::plots::{Plot, Series, write_all};
use super::scene_file::{SceneText, load_scene};
use crate::cli::{BenchArgs, Failure, TableFormat, environment};
use crate::device;
use crate::error::Error;
use crate::output::PixelFormats;
use crate::output::store::atomic::prepare;
use crate::render::frames::FrameList;
use crate::render::stats::ms;
use crate::render::{Devices, RenderOptions, Renderer};
use crate::report::{Spinner, print, several, warn};
use crate::run::journal::processor;
use crate::scene::Scene;
use serde::Serialize;
use std::time::Duration;

// The default number of measured frames, and the number of frames in the clip's plot.
const FRAMES: usize = 5;
const PLOTTED: usize = 60;
// The fraction of the machine that other programs may use, and the relative spread of repetitions, above which a
// warning is printed.
const BUSY: f64 = 0.1;
const WIDE: f64 = 0.1;

/// The measured scene, and its text unless it is the sample.
pub struct BenchScene {
    pub scene: Scene,
    text: Option<SceneText>,
    name: String,
}

impl BenchScene {
    /// The named scene, or the sample; with a folder for plots if requested.
    pub fn of(args: &BenchArgs) -> Result<BenchScene, Failure> {
        if let Some(folder) = &args.plots {
            prepare(&folder.join("plot.svg"))?;
        }
        if let Some(name) = &args.scene {
            let (scene, text) = load_scene(name, &args.changes)?;
            return Ok(BenchScene { scene, text: Some(text), name: name.clone() });
        }
        let mut scene = Scene::sample();
        args.changes.override_scene(&mut scene)?;
        Ok(BenchScene { scene, text: None, name: "the sample scene".into() })
    }

    /// Adds the position in the scene's text to an error.
    pub fn placed(&self, error: Error) -> Failure {
        match &self.text {
            Some(text) => text.placed(error),
            None => error.into(),
        }
    }

    /// The line below plots: scene and machine.
    pub fn note(&self) -> String {
        let (width, height) = (self.scene.render.width, self.scene.render.height);
        let machine = processor().map_or_else(String::new, |name| format!("; {name}"));
        format!("{}, {width} x {height}{machine}; polyfly {}", self.name, env!("CARGO_PKG_VERSION"))
    }
}

// A device's results over all measured frames.
#[derive(Serialize)]
struct Row {
    device: String,
    threads: Option<usize>,
    // Milliseconds per frame: median, minimum and maximum over all repetitions.
    ms: f64,
    least_ms: f64,
    most_ms: f64,
    frames_per_second: f64,
    mrays_per_second: f64,
    // The time of the first row divided by this row's.
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
    // The fraction of this machine that other programs used meanwhile.
    others: Option<f64>,
    devices: Vec<Row>,
}

/// Measures the scene and prints the table.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let subject = BenchScene::of(args)?;
    let scene = &subject.scene;
    let frames = match args.changes.frames {
        Some(_) => args.changes.frame_list(scene)?,
        None => FrameList::all(scene.output.frames).spread(FRAMES),
    };
    let spinner = Spinner::new();
    let others = Others::watch();
    let mut targets = targets(scene, &spinner).map_err(|e| subject.placed(e))?;
    let mut devices = Vec::new();
    for one in &mut targets {
        devices.push(one.row(&frames, args.runs, &spinner)?);
    }
    let first = devices[0].ms;
    devices.iter_mut().for_each(|row| row.times_as_fast = first / row.ms);
    let table = Table {
        polyfly: env!("CARGO_PKG_VERSION"),
        processor: processor(),
        scene: subject.name.clone(),
        width: scene.render.width,
        height: scene.render.height,
        samples_per_pixel: scene.render.samples_per_pixel(),
        depth: scene.render.depth,
        frames: frames.to_string(),
        repetitions: args.runs,
        others: others.share(),
        devices,
    };
    if let Some(folder) = &args.plots {
        // A single thread would take minutes for the same curve.
        let from = usize::from(targets.len() > 1);
        write_all(folder, &plots(&mut targets[from..], &subject, &spinner)?)?;
    }
    drop(spinner);
    warnings(&table).iter().for_each(|text| warn(text));
    Ok(print(&written(&table, args.format))?)
}

struct BenchTarget {
    name: String,
    threads: Option<usize>,
    renderer: Renderer,
}

// The CPU with one thread, the CPU with all threads, and each GPU.
fn targets(scene: &Scene, spinner: &Spinner) -> Result<Vec<BenchTarget>, Error> {
    spinner.say("preparing");
    let ready = |devices, threads| {
        let options = RenderOptions { devices, threads, isa: environment("POLYFLY_ISA"), ..RenderOptions::on_cpu() };
        // Devices stay ready between runs.
        Ok::<_, Error>(Renderer::prepare(scene.clone(), options)?.varied(|_| {}))
    };
    let mut all = Vec::new();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in if threads > 1 { vec![1, threads] } else { vec![1] } {
        let renderer = ready(Devices::Cpu, threads)?;
        let name = format!("CPU ({})", renderer.prepared.isa.name);
        all.push(BenchTarget { name, threads: Some(threads), renderer });
    }
    for (i, gpu) in device::list().unwrap_or_default().into_iter().enumerate() {
        let renderer = ready(Devices::List(vec![i], false), 0)?;
        all.push(BenchTarget { name: gpu.name, threads: None, renderer });
    }
    Ok(all)
}

impl BenchTarget {
    fn label(&self) -> String {
        match self.threads {
            Some(1) => format!("{}, 1 thread", self.name),
            Some(n) => format!("{}, {n} threads", self.name),
            None => self.name.clone(),
        }
    }

    // Renders the frames once. Returns the busy time of the device and the frames' statistics.
    fn once(&mut self, frames: &FrameList) -> Result<(Duration, Measured), Error> {
        let mut measured = Measured::default();
        let sink = Discard(PixelFormats::RGBA8);
        let report = self.renderer.run(frames, vec![Box::new(sink)], &mut measured)?;
        Ok((report.time, measured))
    }

    fn row(&mut self, frames: &FrameList, runs: u32, spinner: &Spinner) -> Result<Row, Error> {
        let label = self.label();
        spinner.say(&format!("{label}: warming up"));
        self.once(frames)?;
        let (mut times, mut rays) = (Vec::new(), 0);
        for run in 1..=runs {
            spinner.say(&format!("{label}: {run} of {runs}"));
            let (time, measured) = self.once(frames)?;
            times.push(ms(time) / frames.len() as f64);
            rays = measured.rays();
        }
        let middle = median(&mut times);
        Ok(Row {
            device: self.name.clone(),
            threads: self.threads,
            ms: middle,
            least_ms: times[0],
            most_ms: times[times.len() - 1],
            frames_per_second: 1e3 / middle,
            mrays_per_second: rays as f64 / frames.len() as f64 / middle / 1e3,
            times_as_fast: 1.0,
        })
    }

    // Milliseconds per frame of the changed scene: the median of three runs.
    fn cost(&self, frame: &FrameList, change: impl FnOnce(&mut Scene)) -> Result<f64, Error> {
        let (name, renderer) = (self.name.clone(), self.renderer.varied(change));
        let mut varied = BenchTarget { name, threads: self.threads, renderer };
        varied.once(frame)?;
        let times: Result<Vec<f64>, Error> = (0..3).map(|_| Ok(ms(varied.once(frame)?.0))).collect();
        Ok(median(&mut times?))
    }
}

// The median; sorts `times`.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let (below, above) = (times[(times.len() - 1) / 2], times[times.len() / 2]);
    (below + above) / 2.0
}

// Measures a device at a value, and returns a point of a curve.
type Measure<'a> = dyn Fn(&mut BenchTarget, u32) -> Result<(f64, f64), Error> + 'a;

// The plots, with their file names.
fn plots(
    targets: &mut [BenchTarget],
    subject: &BenchScene,
    spinner: &Spinner,
) -> Result<[(&'static str, String); 3], Error> {
    let scene = &subject.scene;
    let (frame, own, depth) = (FrameList::one(scene.output.frames / 2), scene.render.own_samples(), scene.render.depth);
    let integrator = scene.render.integrator;
    let samples: Vec<u32> = match integrator.capabilities().random_samples {
        true => [1, 2, 4, 8, 16, 32, 64].into_iter().filter(|&n| n <= 2 * own).collect(),
        false => (1..=own.max(4)).collect(),
    };
    let depths = [0, 1, 2, 4, 8, 16, 32, 64, 128].into_iter().filter(|&d| d < depth).chain([depth]);
    let depths: Vec<u32> = depths.collect();
    let clip: Vec<u32> = FrameList::all(scene.output.frames).spread(PLOTTED).iter().collect();
    // A curve for each device over these values.
    let mut curves = |what: &str, values: &[u32], measure: &Measure| {
        let curve = |one: &mut BenchTarget| {
            spinner.say(&format!("{}: {what}", one.label()));
            let points = values.iter().map(|&value| measure(one, value)).collect::<Result<Vec<_>, Error>>()?;
            Ok::<_, Error>(Series::new(one.label(), points))
        };
        targets.iter_mut().map(curve).collect::<Result<Vec<_>, _>>()
    };
    // One frame at a time: frames in flight together slow each other down.
    let over_clip = curves("the clip", &clip, &|one, n| Ok((n.into(), ms(one.once(&FrameList::one(n))?.1.time()))))?;
    let by_samples = curves("samples", &samples, &|one, n| {
        Ok((integrator.sampling(n).per_pixel().into(), one.cost(&frame, |scene| scene.render.set_samples(n))?))
    })?;
    let by_depth =
        curves("depth", &depths, &|one, n| Ok((n.into(), one.cost(&frame, |scene| scene.render.depth = n)?)))?;
    let note = subject.note();
    let draw = |title, x, series: &[Series]| {
        Plot { title, x, y: "milliseconds", note: &note, series, ..Plot::default() }.svg()
    };
    Ok([
        ("clip.svg", draw("Time of each frame", "frame", &over_clip)),
        ("samples.svg", draw("Cost of samples", "samples a pixel", &by_samples)),
        ("depth.svg", draw("Cost of bounces", "most bounces", &by_depth)),
    ])
}

// Warnings about unreliable results.
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
            let (device, percent) = (&row.device, 100.0 * spread);
            all.push(format!(
                "{device}: repetitions differ by {percent:.0} %: more of them (--runs) make the median surer"
            ));
        }
    }
    all
}

// A column: its heading, its name in CSV, and the text of its cells.
type Column = (&'static str, &'static str, fn(&Row) -> String);
const COLUMNS: [Column; 8] = [
    ("device", "device", |row| row.device.clone()),
    ("threads", "threads", |row| row.threads.map_or_else(String::new, |n| n.to_string())),
    ("ms a frame", "ms", |row| format!("{:.3}", row.ms)),
    ("least", "least_ms", |row| format!("{:.3}", row.least_ms)),
    ("most", "most_ms", |row| format!("{:.3}", row.most_ms)),
    ("frames/s", "frames_per_second", |row| format!("{:.2}", row.frames_per_second)),
    ("Mrays/s", "mrays_per_second", |row| format!("{:.1}", row.mrays_per_second)),
    ("times as fast", "times_as_fast", |row| format!("{:.2}", row.times_as_fast)),
];

fn written(table: &Table, format: TableFormat) -> String {
    let Table { scene, width, height, samples_per_pixel, depth, frames, repetitions, .. } = table;
    let caption = format!(
        "{scene}, {width} x {height}, {} a pixel, at most {}; frames {frames}, median of {repetitions}; polyfly {}{}",
        several(samples_per_pixel, "sample"),
        several(depth, "bounce"),
        table.polyfly,
        table.processor.as_ref().map_or_else(String::new, |name| format!(", {name}"))
    );
    let heads = |between: &str| COLUMNS.map(|(head, ..)| head).join(between);
    let rows = || table.devices.iter().map(|row| COLUMNS.map(|(.., cell)| cell(row)));
    match format {
        TableFormat::Md => {
            let line = |cells: [String; 8]| format!("| {} |\n", cells.map(|c| c.replace('|', "\\|")).join(" | "));
            let (heads, rule) = (heads(" | "), "---:|".repeat(7));
            format!("{caption}\n\n| {heads} |\n|---|{rule}\n{}", rows().map(line).collect::<String>())
        }
        TableFormat::Latex => {
            let line = |cells: [String; 8]| format!("{} \\\\\n", cells.map(|c| in_latex(&c)).join(" & "));
            format!(
                "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{lrrrrrrr}}\n\\toprule\n{} \\\\\n\
                 \\midrule\n{}\\bottomrule\n\\end{{tabular}}\n\\caption{{{}}}\n\\end{{table}}\n",
                heads(" & "),
                rows().map(line).collect::<String>(),
                in_latex(&caption)
            )
        }
        TableFormat::Csv => {
            let mut writer = csv::Writer::from_writer(Vec::new());
            let all = std::iter::once(COLUMNS.map(|(_, key, _)| key.to_owned())).chain(rows());
            // Writing to memory cannot fail.
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
