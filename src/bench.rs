//! `polyfly bench --balance`: how a frame's work is best dealt out to threads, on the CPU and on GPUs.
//!
//! The question and the measure, work of the average thread over work of the busiest, are the 2009 CSE260
//! report's; its ways are static shares ("naive"), cyclic and dynamic dealing.

use crate::app::{load_scene, output, read_scene};
use crate::assets::Assets;
use crate::cli::BenchArgs;
use crate::device::cpu::{Cpu, Isa};
use crate::device::cuda::Gpu;
use crate::device::driver::Gpus;
use crate::device::{DeviceError, FrameStats, Schedule};
use crate::error::Error;
use crate::layout::{self, Layout};
use crate::pipeline::Wants;
use crate::report::ms;
use crate::scene::{Integrator, builtin};
use crate::sink::{prepare, write_whole};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Prints a table: device, way, median kernel time, speed, parallel efficiency; and draws the plots if they are wanted.
pub fn balance(args: &BenchArgs) -> Result<(), Error> {
    let scene = match &args.scene {
        Some(name) => load_scene(name, &args.changes)?,
        None => read_scene(builtin::DEFAULT_TOKENS, "default.txt", Path::new(""), &args.changes)?,
    };
    if scene.integrator != Integrator::Whitted {
        return Err(Error::Usage(
            "bench --balance compares ways to deal out Whitted's rays, and this scene is path traced".into(),
        ));
    }
    if let Some(folder) = &args.plots {
        prepare(&folder.join("work.svg"))?;
    }
    let assets = Assets::load(&scene)?;
    let isa = Isa::pick()?;
    let cpu = Cpu::new(isa, 0, &scene, Layout::new(&scene, &assets))?;
    let camera = layout::frame(&scene, 0);
    let flops = Cpu::new(Isa::counting(), 0, &scene, cpu.layout().clone())?.flops(&camera);
    output(&format!("# {:.3} Gflop a frame, counted\n", flops as f64 / 1e9))?;
    output("device\tschedule\tthreads\tms\tMrays/s\tGflop/s\tefficiency\n")?;
    let row = |device: &str, schedule: &str, threads: &str, s: FrameStats| {
        let seconds = s.kernel.as_secs_f64();
        let (rays, work) = (s.rays as f64 / seconds / 1e6, flops as f64 / seconds / 1e9);
        output(&format!(
            "{device}\t{schedule}\t{threads}\t{:.3}\t{rays:.1}\t{work:.1}\t{:.3}\n",
            ms(s.kernel),
            s.balance
        ))
    };
    let name = format!("cpu {}", isa.name);
    let scheduled = |schedule, threads| median(args.runs, &mut || Ok(cpu.render_scheduled(&camera, schedule, threads)));
    let (serial, _) = scheduled(Schedule::Static, 1)?;
    row(&name, "serial", "1", serial)?;
    let mut plots = Plots { serial, curves: Vec::new() };
    for (schedule, word) in Schedule::ALL {
        let (stats, work) = scheduled(schedule, cpu.threads())?;
        row(&name, word, &cpu.threads().to_string(), stats)?;
        let mut speed_ups = vec![(1, 1.0)];
        if args.plots.is_some() {
            let counts = std::iter::successors(Some(2), |n| Some(n * 2)).take_while(|&n| n < cpu.threads());
            for threads in counts.chain([cpu.threads()]).filter(|&n| n > 1) {
                let (stats, _) = scheduled(schedule, threads)?;
                speed_ups.push((threads, serial.kernel.as_secs_f64() / stats.kernel.as_secs_f64()));
            }
        }
        plots.curves.push(Curve { name: word, work, speed_ups });
    }
    let mut rgba = Vec::new();
    let (stealing, _) = median(args.runs, &mut || Ok((cpu.render(&camera, &mut rgba), Vec::new())))?;
    row(&name, "work stealing (in use)", &cpu.threads().to_string(), stealing)?;

    for facts in Gpus::find().iter().flat_map(|g| &g.list) {
        let mut gpu = Gpu::new(facts, &scene, cpu.layout(), Wants { rgba: true, yuv: false })?;
        let mut on_gpu =
            |word: &str, threads: &str, render: &mut dyn FnMut(&mut Gpu) -> Result<FrameStats, DeviceError>| {
                let (stats, _) = median(args.runs, &mut || render(&mut gpu).map(|s| (s, Vec::new())))?;
                row(&facts.name, word, threads, stats)
            };
        for (schedule, word) in Schedule::ALL {
            on_gpu(word, "resident", &mut |gpu| gpu.schedule(&camera, Some(schedule)))?;
        }
        on_gpu("a thread a sample", "samples", &mut |gpu| gpu.schedule(&camera, None))?;
        on_gpu("dynamic, with the picture (in use)", "resident", &mut |gpu| gpu.still(&camera).map(|(_, s)| s))?;
    }
    if let Some(folder) = &args.plots {
        for (file, svg) in [("work.svg", plots.work()), ("speed-up.svg", plots.speed_up())] {
            write_whole(&folder.join(file), |f| f.write_all(svg.as_bytes()))?;
        }
    }
    Ok(())
}

type Measured = (FrameStats, Vec<u64>);

// The run of the median time.
fn median(runs: u32, render: &mut dyn FnMut() -> Result<Measured, DeviceError>) -> Result<Measured, DeviceError> {
    render()?; // not counted: memory and caches are cold
    let mut all = (0..runs).map(|_| render()).collect::<Result<Vec<_>, _>>()?;
    all.sort_by_key(|(s, _)| s.kernel);
    Ok(all.swap_remove(all.len() / 2))
}

struct Curve {
    name: &'static str,
    // Rays of each thread.
    work: Vec<u64>,
    // Threads, and how many times faster than one they are.
    speed_ups: Vec<(usize, f64)>,
}

// The report's plots for the CPU.
struct Plots {
    serial: FrameStats,
    curves: Vec<Curve>,
}

const COLOURS: [&str; 3] = ["#dc7a22", "#3366cc", "#2a9d5c"];

impl Plots {
    // Bars: each thread's rays in per cent of an even share.
    fn work(&self) -> String {
        let even = self.serial.rays as f64 / self.curves.first().map_or(1, |c| c.work.len().max(1)) as f64;
        let most = self.curves.iter().flat_map(|c| &c.work).map(|&w| w as f64 / even).fold(1.0, f64::max).ceil();
        let threads = self.curves.first().map_or(1, |c| c.work.len().max(1));
        let mut body = String::new();
        let each = 560.0 / (threads * 4) as f64;
        for (i, curve) in self.curves.iter().enumerate() {
            for (thread, &work) in curve.work.iter().enumerate() {
                let height = 300.0 * work as f64 / even / most;
                let x = 60.0 + (thread * 4 + i) as f64 * each;
                let _ = write!(
                    body,
                    r#"<rect x="{x:.1}" y="{:.1}" width="{:.1}" height="{height:.1}" fill="{}"/>"#,
                    340.0 - height,
                    each * 0.9,
                    COLOURS[i]
                );
            }
        }
        self.frame(&body, "thread", "rays, in even shares", most)
    }

    fn speed_up(&self) -> String {
        let most =
            self.curves.iter().flat_map(|c| &c.speed_ups).fold(1.0, |m: f64, &(n, s)| m.max(s).max(n as f64)).ceil();
        let place = |n: usize, s: f64| (60.0 + 560.0 * n as f64 / most, 340.0 - 300.0 * s / most);
        let (x, y) = place(most as usize, most);
        let mut body = format!(r##"<path d="M60 340L{x:.1} {y:.1}" stroke="#bbb" stroke-dasharray="4 4"/>"##);
        for (i, curve) in self.curves.iter().enumerate() {
            let points: Vec<String> =
                curve.speed_ups.iter().map(|&(n, s)| place(n, s)).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            let _ = write!(
                body,
                r#"<path d="M{}" fill="none" stroke="{}" stroke-width="2"/>"#,
                points.join("L"),
                COLOURS[i]
            );
            for &(n, s) in &curve.speed_ups {
                let (x, y) = place(n, s);
                let _ = write!(body, r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{}"/>"#, COLOURS[i]);
            }
        }
        self.frame(&body, &format!("threads, 0 to {most}"), "times as fast as one thread", most)
    }

    fn frame(&self, body: &str, x: &str, y: &str, top: f64) -> String {
        let mut svg = String::from(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" font-family="sans-serif" font-size="13"><rect width="760" height="400" fill="white"/>"##,
        );
        for step in 0..=4 {
            let value = top * f64::from(step) / 4.0;
            let at = 340.0 - 75.0 * f64::from(step);
            let _ = write!(
                svg,
                r##"<path d="M60 {at}H620" stroke="#ddd"/><text x="52" y="{:.1}" text-anchor="end">{value}</text>"##,
                at + 4.0
            );
        }
        svg += body;
        for (i, curve) in self.curves.iter().enumerate() {
            let y = 60 + 22 * i;
            let _ = write!(svg, r#"<text x="634" y="{y}" fill="{}">{}</text>"#, COLOURS[i], curve.name);
        }
        let _ =
            write!(svg, r#"<text x="340" y="375" text-anchor="middle">{x}</text><text x="60" y="24">{y}</text></svg>"#);
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::tokens::SOLIDS;

    #[test]
    fn counted_operations_are_those_of_the_picture() {
        let text = "[output]\nframes = 1\nsize = [32, 24]\n[[body]]\nsolid = \"cube\"\nreflection = 0.5\n";
        let parsed = crate::scene::parse(text, "t.toml", Path::new(""), SOLIDS).unwrap();
        let count = |samples| {
            let mut scene = parsed.scene.clone();
            scene.samples = samples;
            let cpu = Cpu::new(Isa::counting(), 0, &scene, Layout::new(&scene, &Assets::default())).unwrap();
            let (mut a, mut b) = (Vec::new(), Vec::new());
            cpu.render(&layout::frame(&scene, 0), &mut a);
            let plain = Cpu::new(Isa::available()[0], 0, &scene, Layout::new(&scene, &Assets::default())).unwrap();
            plain.render(&layout::frame(&scene, 0), &mut b);
            assert_eq!(a, b, "counting changes nothing");
            cpu.flops(&layout::frame(&scene, 0)) as f64
        };
        let (one, four) = (count(1), count(2));
        // A ray takes tens to thousands of operations, and four samples about four times as many as one.
        assert!(one > 50.0 * 32.0 * 24.0 && one < 5000.0 * 32.0 * 24.0, "{one}");
        assert!((3.0..4.2).contains(&(four / one)), "{one} {four}");
    }
}
