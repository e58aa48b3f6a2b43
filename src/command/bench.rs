//! `polyfly bench`: measures a scene on each device of this machine and prints a table for a report.

use super::generate::packing;
use super::machine::Others;
use super::measured::{Discard, Measured, median};
use super::plots::{OF_BALANCE, OF_BENCH, Plot, Series, Style, refuse_existing, write_all};
use super::scene_file::{SceneText, load_scene, sample_scene};
use super::table::{Column, Measurement, numbers, words, written};
use crate::assets::particles::memory::StepSource;
use crate::cli::{BenchArgs, BenchSize, Failure, environment};
use crate::device;
use crate::error::Error;
use crate::language::{Message, count, msg};
use crate::output::PixelFormats;
use crate::output::store::atomic::prepare;
use crate::render::frames::FrameList;
use crate::render::stats::ms;
use crate::render::{Devices, RenderOptions, Renderer};
use crate::report::{Spinner, print, remark, warn};
use crate::run::journal::processor;
use crate::scene::Scene;
use serde::Serialize;
use std::sync::Arc;
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
            let names = if args.balance { &OF_BALANCE[..] } else { &OF_BENCH };
            refuse_existing(folder, names, args.overwrite)?;
            prepare(&folder.join(names[0]))?;
        }
        if let Some(name) = &args.scene {
            let (scene, text) = load_scene(name, &args.common, &args.changes)?;
            return Ok(BenchScene { scene, text: Some(text), name: name.clone() });
        }
        remark(msg!("no scene is named: this measures the sample, `polyfly --default`"));
        let scene = sample_scene(&args.changes)?;
        Ok(BenchScene { scene, text: None, name: "the sample scene".into() })
    }

    /// Adds the position in the scene's text to an error.
    pub fn placed(&self, error: Error) -> Failure {
        match &self.text {
            Some(text) => text.placed(error),
            None => error.into(),
        }
    }

    /// The line below plots and above tables: scene, machine and size, unless there are several sizes.
    pub fn note(&self, has_sizes: bool) -> String {
        let Measurement { polyfly, processor, scene, width, height } = self.measurement();
        let size = if has_sizes { String::new() } else { format!(", {width} x {height}") };
        let machine = processor.map_or_else(String::new, |name| format!("; {name}"));
        format!("{scene}{size}{machine}; polyfly {polyfly}")
    }
    /// The scene, its size and the machine.
    pub fn measurement(&self) -> Measurement {
        Measurement {
            polyfly: env!("CARGO_PKG_VERSION"),
            processor: processor(),
            scene: self.name.clone(),
            width: self.scene.render.width,
            height: self.scene.render.height,
        }
    }
}

// A device's results over all measured frames, at one size.
#[derive(Serialize)]
struct Row {
    device: String,
    threads: Option<usize>,
    width: u32,
    height: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    particles: Option<u32>,
    // Milliseconds per frame: median, minimum and maximum over all repetitions.
    ms: f64,
    min_ms: f64,
    max_ms: f64,
    // Camera, reflected and transmitted rays of a frame, on average.
    rays_per_frame: f64,
    frames_per_second: f64,
    mrays_per_second: f64,
    // The time of the first row of this size divided by this row's.
    times_as_fast: f64,
}

impl Row {
    // The size of its picture, or how many particles it shows.
    fn size(&self, by: &str) -> String {
        self.particles.map_or_else(|| format!("{}{by}{}", self.width, self.height), |count| count.to_string())
    }
}

#[derive(Serialize)]
struct Table {
    #[serde(flatten)]
    what: Measurement,
    samples_per_pixel: u32,
    depth: u32,
    frames: String,
    repetitions: u32,
    // The fraction of this machine that other programs used meanwhile.
    others: Option<f64>,
    devices: Vec<Row>,
}

pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let mut subject = BenchScene::of(args)?;
    // The plots that vary something else are of the first size.
    if let Some(&BenchSize::Picture(width, height)) = args.sizes.first() {
        (subject.scene.render.width, subject.scene.render.height) = (width, height);
    }
    let particles = args.sizes.first().and_then(|size| size.particles());
    let scene = &subject.scene;
    let frames = match args.common.frames {
        Some(_) => args.common.frame_list(scene)?,
        None => FrameList::all(scene.output.frames).spread(FRAMES),
    };
    let spinner = Spinner::new();
    let others = Others::watch();
    let threads = thread_counts(&args.threads);
    let mut targets = of_size(&subject, particles, &threads, &spinner)?;
    let own = particles.map_or(BenchSize::Picture(scene.render.width, scene.render.height), BenchSize::Particles);
    let sizes = if args.sizes.is_empty() { vec![own] } else { without_repetitions(&args.sizes) };
    let mut devices: Vec<Row> = Vec::new();
    for &size in &sizes {
        let first = devices.len();
        let mut row = |one: &mut BenchTarget| {
            let row = one.row(&frames, args.runs, &spinner)?;
            devices.push(Row { particles: size.particles(), ..row });
            Ok::<_, Error>(())
        };
        match size {
            _ if size == own => targets.iter_mut().try_for_each(row)?,
            BenchSize::Picture(width, height) => targets.iter().try_for_each(|one| {
                row(&mut one.of(|scene| (scene.render.width, scene.render.height) = (width, height)))
            })?,
            BenchSize::Particles(_) => {
                of_size(&subject, size.particles(), &threads, &spinner)?.iter_mut().try_for_each(row)?;
            }
        }
        let base = devices[first].ms;
        devices[first..].iter_mut().for_each(|row| row.times_as_fast = base / row.ms);
    }
    let table = Table {
        what: subject.measurement(),
        samples_per_pixel: scene.render.samples_per_pixel(),
        depth: scene.render.depth,
        frames: frames.to_string(),
        repetitions: args.runs,
        others: others.share(),
        devices,
    };
    if let Some(folder) = &args.plots {
        // Fewer threads would take minutes for the same curves.
        let max = threads.iter().max();
        let measured = &mut targets.iter_mut().filter(|one| one.threads.is_none_or(|n| Some(&n) == max)).collect();
        let mut all = of_table(&table, &subject);
        all.extend(plots(measured, &subject, &spinner)?);
        write_all(folder, &all, args.overwrite)?;
    }
    drop(spinner);
    warnings(&table).iter().for_each(|text| warn(text.to_owned()));
    let caption = caption(&table);
    Ok(print(&written(&caption, columns(&table), &table.devices, &table, args.format))?)
}

// The devices with the scene, or with a packing of so many particles in place of its own, which it looks at alike: all fill the same box.
fn of_size(
    subject: &BenchScene,
    particles: Option<u32>,
    threads: &[usize],
    spinner: &Spinner,
) -> Result<Vec<BenchTarget>, Failure> {
    let mut scene = subject.scene.clone();
    let Some(count) = particles else { return targets(&scene, threads, None, spinner).map_err(|e| subject.placed(e)) };
    let Some(own) = &mut scene.world.particles else {
        return Err(Failure::usage(msg!("--sizes {count}: the scene has no [particles]", count)));
    };
    (own.path, own.names, own.step) = (format!("{count} particles").into(), Vec::new(), 0);
    let packing: Arc<dyn StepSource> = Arc::new(vec![Arc::new(packing(count as usize, 1, 0.0))]);
    targets(&scene, threads, Some(packing), spinner).map_err(Failure::from)
}

/// The numbers of threads to measure, without repetitions.
pub fn thread_counts(asked: &[usize]) -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let all = if asked.is_empty() { &[1, cores][..] } else { asked };
    without_repetitions(&all.iter().map(|&n| if n == 0 { cores } else { n }).collect::<Vec<_>>())
}

fn without_repetitions<T: Clone + PartialEq>(all: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in all {
        if !kept.contains(one) {
            kept.push(one.clone());
        }
    }
    kept
}

pub struct BenchTarget {
    pub name: String,
    pub threads: Option<usize>,
    renderer: Renderer,
}

/// The CPU with each number of threads, and each GPU; perhaps with particles from memory.
pub fn targets(
    scene: &Scene,
    threads: &[usize],
    particles: Option<Arc<dyn StepSource>>,
    spinner: &Spinner,
) -> Result<Vec<BenchTarget>, Error> {
    spinner.say("preparing");
    let ready = |devices, threads| {
        let (isa, particles) = (environment("POLYFLY_ISA"), particles.clone());
        let options = RenderOptions { devices, threads, isa, particles, ..RenderOptions::on_cpu() };
        // Devices stay ready between runs.
        Ok::<_, Error>(Renderer::prepare(scene.clone(), options)?.varied(|_| {}))
    };
    let mut all = Vec::new();
    for &threads in threads {
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

fn label(name: &str, threads: Option<usize>) -> String {
    threads.map_or_else(|| name.to_owned(), |n| format!("{name}, {}", count!(n, "thread", "threads")))
}

impl BenchTarget {
    pub fn label(&self) -> String {
        label(&self.name, self.threads)
    }

    // The same device for a changed scene.
    fn of(&self, change: impl FnOnce(&mut Scene)) -> BenchTarget {
        BenchTarget { name: self.name.clone(), threads: self.threads, renderer: self.renderer.varied(change) }
    }

    /// Renders the frames once. Returns the busy time of the device and the frames' statistics.
    pub fn once(&mut self, frames: &FrameList) -> Result<(Duration, Measured), Error> {
        let mut measured = Measured::default();
        let sink = Discard(PixelFormats::RGBA8);
        let report = self.renderer.run(frames, vec![Box::new(sink)], &mut measured)?;
        Ok((report.time, measured))
    }

    fn row(&mut self, frames: &FrameList, runs: u32, spinner: &Spinner) -> Result<Row, Error> {
        let label = self.label();
        let (width, height) = (self.renderer.scene().render.width, self.renderer.scene().render.height);
        spinner.say(&format!("{label}, {width} x {height}: warming up"));
        self.once(frames)?;
        let (mut times, mut rays) = (Vec::new(), 0);
        for run in 1..=runs {
            spinner.say(&format!("{label}, {width} x {height}: {run} of {runs}"));
            let (time, measured) = self.once(frames)?;
            times.push(ms(time) / frames.len() as f64);
            rays = measured.rays();
        }
        let (middle, rays) = (median(&mut times), rays as f64 / frames.len() as f64);
        Ok(Row {
            device: self.name.clone(),
            threads: self.threads,
            width,
            height,
            particles: None,
            ms: middle,
            min_ms: times[0],
            max_ms: times[times.len() - 1],
            rays_per_frame: rays,
            frames_per_second: 1e3 / middle,
            mrays_per_second: rays / middle / 1e3,
            times_as_fast: 1.0,
        })
    }

    // Milliseconds per frame of the changed scene: the shortest, the median and the longest of three runs.
    fn cost(&self, frame: &FrameList, change: impl FnOnce(&mut Scene)) -> Result<[f64; 3], Error> {
        let mut varied = self.of(change);
        varied.once(frame)?;
        let mut times = (0..3).map(|_| Ok(ms(varied.once(frame)?.0))).collect::<Result<Vec<f64>, Error>>()?;
        let middle = median(&mut times);
        Ok([times[0], middle, times[2]])
    }
}

// Measures a device at a value, and returns a point of a curve with the shortest, the median and the longest time.
type Measure<'a> = dyn Fn(&mut BenchTarget, u32) -> Result<(f64, [f64; 3]), Error> + 'a;

// Plots of the table's rows, with their file names.
fn of_table(table: &Table, subject: &BenchScene) -> Vec<(&'static str, String)> {
    let label = |row: &Row| label(&row.device, row.threads);
    let names = without_repetitions(&table.devices.iter().map(label).collect::<Vec<_>>());
    let rows_of = |name: &str| table.devices.iter().filter(|row| label(row) == name).collect::<Vec<_>>();
    let sizes = rows_of(&names[0]).len();
    let (sized, plain) = (subject.note(true), subject.note(false));
    let mut all = Vec::new();
    if sizes > 1 {
        let area = |row: &Row| match row.particles {
            Some(count) => f64::from(count),
            None => f64::from(row.width) * f64::from(row.height) / 1e6,
        };
        let of_particles = table.devices.iter().any(|row| row.particles.is_some());
        let first = rows_of(&names[0]);
        let mut labels: Vec<_> = first.iter().map(|row| (area(row), row.size(" x "))).collect();
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let draw = |title, y, series: &[Series]| {
            let x = if of_particles { "particles" } else { "size of a frame" };
            let style = Style::LogLines(&labels);
            Plot { title, x, y, note: &sized, style, series }.svg()
        };
        let times = |name: &String| {
            let point = |row: &Row| (area(row), [row.min_ms, row.ms, row.max_ms]);
            Series::with_spread(name.clone(), sorted(rows_of(name).into_iter().map(point).collect()))
        };
        let times: Vec<Series> = names.iter().map(times).collect();
        let title = if of_particles { "Time of a frame by its particles" } else { "Time of a frame by its size" };
        all.push(("devices.svg", draw(title, "milliseconds a frame", &times)));
        // They are the same on all devices.
        let rays = sorted(first.iter().map(|row| (area(row), row.rays_per_frame / 1e6)).collect());
        all.push(("rays.svg", draw("Rays of a frame", "millions of rays a frame", &[Series::new("", rays)])));
    } else {
        let speed = |row: &Row| [row.max_ms, row.ms, row.min_ms].map(|ms| row.rays_per_frame / ms / 1e3);
        let series = [Series::with_spread("", (0..).map(f64::from).zip(table.devices.iter().map(speed)))];
        let style = Style::NamedBars(&names);
        let (title, x, y) = ("Speed of each device", "", "millions of rays a second");
        all.push(("devices.svg", Plot { title, x, y, note: &plain, style, series: &series }.svg()));
    }
    // The speed-up of threads, for each size.
    let on_cpu = |row: &&Row| row.threads.is_some();
    let cpu: Vec<&Row> = table.devices.iter().filter(on_cpu).collect();
    let fewest = cpu.iter().filter_map(|row| row.threads).min().unwrap_or(1);
    let mut shown: Vec<String> = cpu.iter().map(|row| row.size(" x ")).collect();
    shown.dedup();
    if cpu.len() > shown.len() {
        let curve = |size: &String| {
            let rows = || cpu.iter().filter(|row| row.size(" x ") == *size);
            let base = rows().find(|row| row.threads == Some(fewest)).map_or(1.0, |row| row.ms * fewest as f64);
            let speeds = |row: &&&Row| [row.max_ms, row.ms, row.min_ms].map(|ms| base / ms);
            let points = rows().map(|row| (row.threads.unwrap_or(1) as f64, speeds(&row))).collect();
            Series::with_spread(size.clone(), sorted(points))
        };
        let series: Vec<Series> = shown.iter().map(curve).collect();
        let (title, x, style) = ("Speed-up of threads", "threads", Style::LinesAndDiagonal);
        let y = if fewest == 1 { "times as fast as one thread" } else { "speed in threads of the fewest" };
        all.push((
            "threads.svg",
            Plot { title, x, y, note: if sizes > 1 { &sized } else { &plain }, style, series: &series }.svg(),
        ));
    }
    all
}

fn sorted<T>(mut points: Vec<(f64, T)>) -> Vec<(f64, T)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

// The plots that have their own measurements, with their file names.
fn plots(
    targets: &mut Vec<&mut BenchTarget>,
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
        let curve = |one: &mut &mut BenchTarget| {
            spinner.say(&format!("{}: {what}", one.label()));
            let points = values.iter().map(|&value| measure(one, value)).collect::<Result<Vec<_>, Error>>()?;
            Ok::<_, Error>(Series::with_spread(one.label(), points))
        };
        targets.iter_mut().map(curve).collect::<Result<Vec<_>, _>>()
    };
    // One frame at a time: frames in flight together slow each other down.
    let over_clip =
        curves("the clip", &clip, &|one, n| Ok((n.into(), [ms(one.once(&FrameList::one(n))?.1.time()); 3])))?;
    let by_samples = curves("samples", &samples, &|one, n| {
        Ok((integrator.sampling(n).per_pixel().into(), one.cost(&frame, |scene| scene.render.set_samples(n))?))
    })?;
    let by_depth =
        curves("depth", &depths, &|one, n| Ok((n.into(), one.cost(&frame, |scene| scene.render.depth = n)?)))?;
    let note = subject.note(false);
    let draw = |title, x, series: &[Series]| {
        // A single curve has no legend.
        let note = if let [one] = series { &format!("{}; {note}", one.name) } else { &note };
        Plot { title, x, y: "milliseconds", note, series, ..Plot::default() }.svg()
    };
    Ok([
        ("clip.svg", draw("Time of each frame", "frame", &over_clip)),
        ("samples.svg", draw("Cost of samples", "samples a pixel", &by_samples)),
        ("depth.svg", draw("Cost of bounces", "most bounces", &by_depth)),
    ])
}

fn warnings(table: &Table) -> Vec<Message> {
    let mut all = Vec::new();
    if let Some(share) = table.others.filter(|&share| share > BUSY) {
        all.push(msg!(
            "other programs took {percent} % of this machine meanwhile: measure again when it is idle",
            percent = format_args!("{:.0}", 100.0 * share)
        ));
    }
    for row in &table.devices {
        let spread = (row.max_ms - row.min_ms) / row.ms;
        if spread > WIDE {
            all.push(msg!(
                "{device}: repetitions differ by {percent} %: more repetitions (--runs) make the median more certain",
                device = row.device,
                percent = format_args!("{:.0}", 100.0 * spread)
            ));
        }
    }
    all
}

const COLUMNS: [Column<Row>; 11] = [
    words("device", "device", |row| row.device.clone()),
    numbers("threads", "threads", |row| row.threads.map_or_else(String::new, |n| n.to_string())),
    numbers("size", "size", |row| format!("{}x{}", row.width, row.height)),
    numbers("ms a frame", "ms", |row| format!("{:.3}", row.ms)),
    numbers("min", "min_ms", |row| format!("{:.3}", row.min_ms)),
    numbers("max", "max_ms", |row| format!("{:.3}", row.max_ms)),
    numbers("rays a frame", "rays_per_frame", |row| format!("{:.0}", row.rays_per_frame)),
    numbers("frames/s", "frames_per_second", |row| format!("{:.2}", row.frames_per_second)),
    numbers("Mrays/s", "mrays_per_second", |row| format!("{:.1}", row.mrays_per_second)),
    numbers("times as fast", "times_as_fast", |row| format!("{:.2}", row.times_as_fast)),
    numbers("particles", "particles", |row| row.particles.map_or_else(String::new, |n| n.to_string())),
];
// The last column stands where it has numbers.
fn columns(table: &Table) -> &'static [Column<Row>] {
    let has_particles = table.devices.iter().any(|row| row.particles.is_some());
    if has_particles { &COLUMNS } else { &COLUMNS[..COLUMNS.len() - 1] }
}

fn caption(table: &Table) -> String {
    let Table { what, samples_per_pixel, depth, frames, repetitions, devices, .. } = table;
    let Measurement { polyfly, processor, scene, .. } = what;
    let mut sizes: Vec<String> = devices.iter().map(|row| format!("{} x {}", row.width, row.height)).collect();
    sizes.dedup();
    format!(
        "{scene}, {}, {} a pixel, at most {}; frames {frames}, median of {repetitions}; polyfly {polyfly}{}",
        sizes.join(", "),
        count!(*samples_per_pixel, "sample", "samples"),
        count!(*depth, "bounce", "bounces"),
        processor.as_ref().map_or_else(String::new, |name| format!(", {name}"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::TableFormat;

    fn table() -> Table {
        let row = |device: &str, threads, ms: f64| Row {
            device: device.into(),
            threads,
            width: 4,
            height: 3,
            particles: None,
            ms,
            min_ms: ms - 0.5,
            max_ms: ms + 1.0,
            rays_per_frame: 1234.0,
            frames_per_second: 1e3 / ms,
            mrays_per_second: 12.0,
            times_as_fast: 10.0 / ms,
        };
        Table {
            what: Measurement {
                polyfly: "1.2.3",
                processor: Some("A & B_1".into()),
                scene: "50% of it.toml".into(),
                width: 4,
                height: 3,
            },
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
        let (table, caption) = (table(), caption(&table()));
        let written = |format| written(&caption, columns(&table), &table.devices, &table, format);
        insta::assert_snapshot!(all.map(written).join("----\n"));
    }

    #[test]
    fn figures_that_may_be_wrong_are_reported() {
        let warned: Vec<String> = warnings(&table()).iter().map(ToString::to_string).collect();
        assert_eq!(warned.len(), 3);
        assert!(warned[0].contains("25 %") && warned[2].starts_with("GPU: repetitions differ by 75 %"), "{warned:?}");
    }
}
