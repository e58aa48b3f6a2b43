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
use crate::scene::builtin;

/// Prints a table: device, way, median kernel time, speed, parallel efficiency.
pub fn balance(args: &BenchArgs) -> Result<(), Error> {
    let scene = match &args.scene {
        Some(name) => load_scene(name, &args.changes)?,
        None => read_scene(builtin::DEFAULT_TOKENS, "default.txt", std::path::Path::new(""), &args.changes)?,
    };
    let assets = Assets::load(&scene)?;
    let isa = Isa::pick()?;
    let cpu = Cpu::new(isa, 0, &scene, Layout::new(&scene, &assets))?;
    let camera = layout::frame(&scene, 0);
    output("device\tschedule\tthreads\tms\tMrays/s\tefficiency\n")?;
    let median = |render: &mut dyn FnMut() -> Result<FrameStats, DeviceError>| {
        render()?; // not counted: memory and caches are cold
        let mut all = (0..args.runs).map(|_| render()).collect::<Result<Vec<_>, _>>()?;
        all.sort_by_key(|s| s.kernel);
        Ok::<FrameStats, DeviceError>(all[all.len() / 2])
    };
    let row = |device: &str, schedule: &str, threads: &str, s: FrameStats| {
        let speed = s.rays as f64 / s.kernel.as_secs_f64() / 1e6;
        output(&format!("{device}\t{schedule}\t{threads}\t{:.3}\t{speed:.1}\t{:.3}\n", ms(s.kernel), s.balance))
    };
    let name = format!("cpu {}", isa.name);
    let threads = cpu.threads();
    row(&name, "serial", "1", median(&mut || Ok(cpu.render_scheduled(&camera, Schedule::Static, 1)))?)?;
    for (schedule, word) in Schedule::ALL {
        row(&name, word, &threads.to_string(), median(&mut || Ok(cpu.render_scheduled(&camera, schedule, threads)))?)?;
    }
    let mut rgba = Vec::new();
    row(&name, "work stealing (in use)", &threads.to_string(), median(&mut || Ok(cpu.render(&camera, &mut rgba)))?)?;

    for facts in Gpus::find().iter().flat_map(|g| &g.list) {
        let mut gpu = Gpu::new(facts, &scene, cpu.layout(), Wants { rgba: true, yuv: false })?;
        for (schedule, word) in Schedule::ALL {
            row(&facts.name, word, "resident", median(&mut || gpu.schedule(&camera, Some(schedule)))?)?;
        }
        row(&facts.name, "a thread a sample", "samples", median(&mut || gpu.schedule(&camera, None))?)?;
        row(
            &facts.name,
            "dynamic, with the picture (in use)",
            "resident",
            median(&mut || gpu.still(&camera).map(|(_, s)| s))?,
        )?;
    }
    Ok(())
}
