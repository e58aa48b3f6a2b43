//! The tables of an article on pictures of sphere packings: time by the number of grains and by the size of the picture, with the
//! transfer to the device and the kernel apart; the ratio of a CPU's core and each device, its mean and its variance.
//!
//!     cargo bench --bench packings [-- GRAINS[,GRAINS...] [WIDTH[,WIDTH...] [RUNS]]]
//!
//! Each table varies one of the two; the other one is the middle of its list. A picture is a square without shadows. Each run opens
//! the scene anew.
#![expect(clippy::print_stdout, reason = "its tables")]

use polyfly::tiles::TiledFrame;
use polyfly::{
    Devices, FrameList, FrameReport, OutputError, PixelFormats, Progress, RenderOptions, RenderedFrame, Renderer,
    Scene, Sink,
};
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    // `cargo bench` adds --bench.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let list = |i: usize, default: &str| -> Outcome<Vec<u32>> {
        let text = arguments.get(i).map_or(default, String::as_str);
        text.split(',').map(|word| Ok(word.parse()?)).collect()
    };
    let (grains, widths) = (list(0, "512,5832,50653,1000000")?, list(1, "200,400,800,1600")?);
    let runs = list(2, "5")?[0].max(1);
    let folder = std::env::temp_dir().join(format!("polyfly-packings-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = tables(&grains, &widths, runs, &folder);
    std::fs::remove_dir_all(&folder)?;
    result
}

fn tables(grains: &[u32], widths: &[u32], runs: u32, folder: &Path) -> Outcome<()> {
    let (some, width) = (grains[grains.len() / 2], widths[widths.len() / 2]);
    println!("Time by the number of grains, {width} x {width}; means of {runs} runs, milliseconds:\n");
    table(grains.iter().map(|&n| (n, width)), runs, folder)?;
    println!("\nTime by the size of the picture, {some} grains; means of {runs} runs, milliseconds:\n");
    table(widths.iter().map(|&width| (some, width)), runs, folder)
}

// What a picture cost on a device, milliseconds.
#[derive(Clone, Copy, Default)]
struct Cost {
    to_device: f64,
    kernel: f64,
    // From the kernel's end until the picture is in the host's memory.
    back: f64,
}

impl Cost {
    fn whole(self) -> f64 {
        self.to_device + self.kernel + self.back
    }
}

fn table(cases: impl Iterator<Item = (u32, u32)>, runs: u32, folder: &Path) -> Outcome<()> {
    println!("| grains | width | device | to the device | kernel | back | together | ratio | its variance |");
    println!("|---:|---:|---|---:|---:|---:|---:|---:|---:|");
    for (grains, width) in cases {
        let path = folder.join(format!("{grains}.xyzr"));
        if !path.exists() {
            std::fs::write(&path, packing(grains))?;
        }
        let scene = scene(&path, grains, width)?;
        let mut devices =
            vec![("cpu, 1 thread".to_owned(), Devices::Cpu, 1), ("cpu, all threads".to_owned(), Devices::Cpu, 0)];
        for (i, on) in TiledFrame::new(scene.clone(), 0, None)?.on_gpus()?.iter().enumerate() {
            devices.push((on.name.clone(), Devices::List(vec![i], false), 0));
        }
        let mut first: Vec<f64> = Vec::new();
        for (gpu, (name, devices, threads)) in devices.into_iter().enumerate() {
            let gpu = gpu.checked_sub(2);
            let one = || cost(&scene, devices.clone(), threads, gpu);
            let all = (0..runs).map(|_| one()).collect::<Outcome<Vec<Cost>>>()?;
            let whole: Vec<f64> = all.iter().map(|cost| cost.whole()).collect();
            if first.is_empty() {
                first.clone_from(&whole);
            }
            let ratios: Vec<f64> = first.iter().zip(&whole).map(|(a, b)| a / b).collect();
            let [to_device, kernel, back] = [|c: &Cost| c.to_device, |c: &Cost| c.kernel, |c: &Cost| c.back]
                .map(|of| mean(&all.iter().map(of).collect::<Vec<_>>()));
            let (together, ratio, variance) = (mean(&whole), mean(&ratios), variance(&ratios));
            println!(
                "| {grains} | {width} | {name} | {to_device:.3} | {kernel:.3} | {back:.3} | {together:.3} | {ratio:.2} | {variance:.4} |"
            );
        }
    }
    Ok(())
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

// Of a sample: divided by its size less one.
fn variance(all: &[f64]) -> f64 {
    let mean = mean(all);
    all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (all.len() as f64 - 1.0).max(1.0)
}

// Keeps the last frame's report.
#[derive(Default)]
struct Last(Option<FrameReport>);

impl Progress for Last {
    fn frame(&mut self, report: &FrameReport) {
        self.0 = Some(*report);
    }
}

// Takes finished pictures, and drops them.
struct Discard;

impl Sink for Discard {
    fn needs(&self) -> PixelFormats {
        PixelFormats { rgba8: true, ..PixelFormats::default() }
    }
    fn frame(&mut self, _: &RenderedFrame) -> Result<(), OutputError> {
        Ok(())
    }
}

// Opens the scene, and renders two pictures, of which the second one counts: the first one has cold caches.
fn cost(scene: &Scene, devices: Devices, threads: usize, gpu: Option<usize>) -> Outcome<Cost> {
    let uploaded = match gpu {
        Some(i) => TiledFrame::new(scene.clone(), 0, None)?.on_gpus()?[i].uploaded().as_secs_f64() * 1e3,
        None => 0.0,
    };
    let options = RenderOptions::new().devices(devices).threads(threads);
    let mut renderer = Renderer::with_options(scene.clone(), options)?;
    let mut last = Last::default();
    for frame in 0..2 {
        renderer.run(&FrameList::one(frame), vec![Box::new(Discard)], &mut last)?;
    }
    let stats = last.0.ok_or("no frame was rendered")?.stats;
    let [time, kernel] = [stats.time, stats.kernel].map(|time| time.as_secs_f64() * 1e3);
    Ok(Cost { to_device: uploaded, kernel, back: time - kernel })
}

// Grains of different radii around the points of a cubic lattice, a line of x, y, z and radius each.
fn packing(grains: u32) -> String {
    let side = (1..).find(|n: &u32| n * n * n >= grains).unwrap_or(1);
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    let mut text = String::new();
    for i in 0..grains {
        let place = [i % side, i / side % side, i / side / side].map(|k| f64::from(k) + 0.1 * (random() - 0.5));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:.6} {:.6} {:.6} {:.6}", place[0], place[1], place[2], 0.3 + 0.15 * random());
    }
    text
}

// A picture of the whole packing, a little from above and from the side.
fn scene(path: &Path, grains: u32, width: u32) -> Outcome<Scene> {
    let side = f64::from((1..).find(|n: &u32| n * n * n >= grains).unwrap_or(1));
    let middle = (side - 1.0) / 2.0;
    let eye = [middle + 0.9 * side, middle - 2.0 * side, middle + 0.6 * side];
    let text = format!(
        "[output]\nframes = 2\nsize = [{width}, {width}]\n[render]\nsamples = 1\ndepth = 0\nshadows = false\n\
         [camera]\nfov_deg = 45\nposition = {eye:?}\nlook_at = {:?}\n[[light]]\nposition = {eye:?}\n[particles]\npath = {:?}\n",
        [middle; 3],
        path.display().to_string()
    );
    Ok(Scene::parse(&text, "packing.toml", Path::new(""))?.scene)
}
