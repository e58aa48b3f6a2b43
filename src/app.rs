//! The program's jobs, from parsed arguments to their end.

use crate::assets::Assets;
use crate::cli::{ConvertArgs, GrammarArg, RenderArgs, SceneArgs, Split};
use crate::device::DeviceError;
use crate::device::cpu::{Cpu, CpuWorker, Isa};
use crate::device::cuda::Gpu;
use crate::device::driver::{GpuFacts, Gpus};
use crate::error::Error;
use crate::layout::Layout;
use crate::particles::legend::Legend;
use crate::pipeline::{self, Job, Wants, Worker};
use crate::progressive::{Passes, Progressive};
use crate::report::{LogFormat, Reporter, RunFacts, print, remark};
use crate::scene::{self, Grammar, Integrator, Parsed, Scene, builtin, write};
use crate::sink::video::{Codec, Settings, Video};
use crate::sink::{FrameFiles, SinkError, write_whole};
use crate::steps::{Stage, Steps};
use crate::tiles::{Device, Tiles};
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

// Memory for pictures that are being written.
const PICTURES_BYTES: usize = 1 << 28;

/// Prints the sample scene.
pub fn print_default(grammar: GrammarArg) -> Result<(), Error> {
    output(&builtin::default_scene(grammar.into()))
}

/// Turns a scene into the other grammar.
pub fn convert(args: &ConvertArgs) -> Result<(), Error> {
    let (text, name) = read_text(&args.scene)?;
    // Paths stay as they are written: nothing is put before them.
    let parsed = scene::parse(&text, &name, Path::new(""), args.solids.unwrap_or(scene::tokens::SOLIDS))?;
    let to = args.to.map(Grammar::from).unwrap_or(match parsed.grammar {
        Grammar::Tokens => Grammar::Toml,
        Grammar::Toml => Grammar::Tokens,
    });
    parsed.warnings.iter().for_each(|w| remark(w));
    let written = match to {
        Grammar::Toml => write::toml(&parsed.scene),
        Grammar::Tokens => write::tokens(&parsed.scene).map_err(Error::Unsayable)?,
    };
    if let (Grammar::Tokens, Some(names)) = (to, write::solids_flag(&parsed.scene)) {
        remark(&format!("the bodies are not the usual three: render these tokens with --solids {names}"));
    }
    match &args.output {
        Some(path) => Ok(write_whole(path, |file| file.write_all(written.as_bytes()))?),
        None => output(&written),
    }
}

/// Renders a scene.
pub fn render(args: &RenderArgs) -> Result<(), Error> {
    let name = match &args.scene {
        Some(name) => name.clone(),
        None if std::io::stdin().is_terminal() => {
            return Err(Error::Usage(
                "give a scene: a file, or text on stdin; `polyfly --default | polyfly` renders the sample".into(),
            ));
        }
        None => "-".into(),
    };
    let mut scene = load_scene(&name, &args.changes)?;
    args.override_scene(&mut scene)?;
    let frames = match &args.changes.frames {
        Some(text) => crate::frames::parse(text, scene.frames).map_err(|e| Error::Usage(format!("--frames: {e}")))?,
        None => (0..scene.frames).collect(),
    };
    if args.no_frames && scene.output.video.is_none() {
        return Err(Error::Usage("--no-frames leaves nothing to write: name a video with --video".into()));
    }
    let video = video_settings(&scene, args)?;
    let isa = Isa::pick()?;
    // The driver takes its time to start: the scene is made ready meanwhile.
    let (choice, cpu, assets) = std::thread::scope(|threads| {
        let choice = threads.spawn(|| choose_devices(args));
        let assets = Assets::load(&scene)?;
        // The CPU is there in any case: it works out the lamp light, the same for all devices.
        let cpu = Cpu::new(isa, args.threads, &scene, Layout::new(&scene, &assets))?;
        Ok::<_, Error>((joined(choice)?, cpu, assets))
    })?;
    let mut choice = choice;
    let tiles = args.split == Split::Tiles;
    let moves = scene.particles.as_ref().is_some_and(scene::Particles::moves);
    if moves && tiles {
        return Err(Error::Usage("--split tiles: particles with a file for each frame are dealt out by frames".into()));
    }
    let in_passes = matches!(scene.integrator, Integrator::Path { noise, .. } if noise > 0.0);
    if in_passes && (moves || tiles) {
        return Err(Error::Usage(
            "noise = ... works with whole frames that stand still: leave it or --split tiles out".into(),
        ));
    }
    // Every output is opened, and the encoder tried, before anything is rendered.
    let files = match args.no_frames {
        false => Some(FrameFiles::open(scene.output.frames.clone(), frames[0])?),
        true => None,
    };
    let legend = legend_of(&scene, &assets);
    // What is put together or drawn into on the CPU is converted there too.
    let drawn = tiles || in_passes || legend.is_some();
    let wants = Wants { rgba: files.is_some() || drawn, yuv: video.is_some() && !drawn };
    let (video, gpus) = std::thread::scope(|threads| {
        let video =
            threads.spawn(|| video.map(|settings| open_video(settings, &scene, args.changes.quiet)).transpose());
        let gpus: Vec<_> =
            choice.gpus.iter().map(|gpu| threads.spawn(|| Gpu::new(gpu, &scene, cpu.layout(), wants))).collect();
        let gpus: Vec<_> = gpus.into_iter().map(joined).collect();
        (joined(video), gpus)
    });
    let video = video?;
    let mut ready = Vec::new();
    for gpu in gpus {
        match gpu {
            Ok(gpu) => ready.push(gpu),
            Err(e) if choice.may_fall_back => {
                fall_back(&e, args);
                choice.cpu = true;
            }
            Err(e) => return Err(e.into()),
        }
    }
    let way = match (moves, in_passes, args.split) {
        (true, ..) => Way::Steps,
        (_, true, _) => Way::Passes,
        (.., Split::Frames) => Way::Frames,
        (.., Split::Tiles) => Way::Tiles,
    };
    let own_cpu = choice.cpu.then_some(&cpu);
    let mut workers = make_workers(way, ready, own_cpu, &scene, cpu.layout(), &assets, isa)?;
    let names: Vec<String> = workers
        .iter()
        .map(|w| if w.name() == "cpu" { format!("cpu {}", isa.name) } else { w.name().to_owned() })
        .collect();
    let facts = RunFacts {
        scene: name,
        frames: frames.len(),
        width: scene.width,
        height: scene.height,
        samples: scene.own_samples(),
        samples_per_pixel: scene.samples_a_pixel(),
        depth: scene.depth,
        device: names.join(", "),
        threads: cpu.threads(),
    };
    let stop = stop_on_interrupt();
    // A GPU leaves the cores to the writers. Each holds a picture, so large ones have fewer.
    let most = (PICTURES_BYTES / (4 * scene.width as usize * scene.height as usize)).max(1);
    let writers = if choice.cpu { cpu.threads().clamp(1, 4) } else { cpu.threads().clamp(2, 16) }.min(most);
    let mut reporter = Reporter::start(args.log.unwrap_or(LogFormat::Text), args.changes.quiet, facts, writers);
    let job = Job { frames: &frames, width: scene.width, height: scene.height, files, video, isa, writers, legend };
    let result = pipeline::run(&mut workers, job, &mut reporter, &stop);
    reporter.end(result.as_ref().ok().and_then(|v| v.as_deref()));
    result.map(|_| ())
}

// How devices share the work.
#[derive(Clone, Copy)]
enum Way {
    Frames,
    Tiles,
    // Each frame has particles of its own.
    Steps,
    // Path tracing that stops when the noise is low enough.
    Passes,
}

fn make_workers<'a>(
    way: Way,
    gpus: Vec<Gpu>,
    cpu: Option<&'a Cpu>,
    scene: &'a Scene,
    layout: &'a Layout,
    assets: &Assets,
    isa: Isa,
) -> Result<Vec<Box<dyn Worker + 'a>>, Error> {
    let mut workers: Vec<Box<dyn Worker + 'a>> = Vec::new();
    match way {
        Way::Frames => {
            workers.extend(gpus.into_iter().map(|g| Box::new(g) as Box<dyn Worker>));
            workers.extend(cpu.map(|cpu| Box::new(CpuWorker::new(cpu, scene)) as Box<dyn Worker>));
        }
        Way::Tiles => {
            let gpus = gpus.into_iter().map(|g| Box::new(g) as Box<dyn Device>);
            let cpu = cpu.map(|cpu| Box::new(CpuWorker::new(cpu, scene)) as Box<dyn Device>);
            workers.push(Box::new(Tiles::new(gpus.chain(cpu).collect(), scene)));
        }
        Way::Steps => {
            // The CPU's particles change, so it has a layout of its own.
            let own = cpu.map(|cpu| Cpu::new(isa, cpu.threads(), scene, layout.clone())).transpose()?;
            let gpus = gpus.into_iter().map(|g| Box::new(g) as Box<dyn Stage>);
            let stages = gpus.chain(own.map(|cpu| Box::new(cpu) as Box<dyn Stage>));
            let steps = stages.filter_map(|s| Steps::new(s, scene, layout, assets));
            workers.extend(steps.map(|s| Box::new(s) as Box<dyn Worker>));
        }
        Way::Passes => {
            let gpus = gpus.into_iter().map(|g| Box::new(g) as Box<dyn Passes>);
            let devices = gpus.chain(cpu.map(|cpu| Box::new(cpu) as Box<dyn Passes>));
            workers.extend(devices.map(|d| Box::new(Progressive::new(d, scene, layout, isa)) as Box<dyn Worker>));
        }
    }
    Ok(workers)
}

// What a thread gave; its panic goes on here.
fn joined<T>(thread: std::thread::ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The legend of a scene's particles, if it wants one.
pub fn legend_of(scene: &Scene, assets: &Assets) -> Option<Legend> {
    let particles = scene.particles.as_ref().filter(|p| p.legend)?;
    let range = assets.particles.as_ref()?.range?;
    Some(Legend { title: particles.colour_by.name().into(), range })
}

// Which devices render.
struct Choice {
    gpus: Vec<GpuFacts>,
    cpu: bool,
    // Nobody asked for a GPU: the CPU does when there is none that works.
    may_fall_back: bool,
}

fn fall_back(why: &DeviceError, args: &RenderArgs) {
    if !args.changes.quiet {
        remark(&format!("{why}; rendering on the CPU"));
    }
}

fn choose_devices(args: &RenderArgs) -> Result<Choice, Error> {
    let only_cpu = Choice { gpus: Vec::new(), cpu: true, may_fall_back: false };
    if args.cpu || args.devices == ["cpu"] {
        return Ok(only_cpu);
    }
    let found = Gpus::find();
    if args.devices.is_empty() {
        return match found {
            Ok(mut gpus) => {
                gpus.list.truncate(1);
                Ok(Choice { gpus: gpus.list, cpu: false, may_fall_back: !args.gpu })
            }
            Err(e) if args.gpu => Err(e.into()),
            Err(e) => {
                fall_back(&e, args);
                Ok(only_cpu)
            }
        };
    }
    let found = found?;
    let mut choice = Choice { gpus: Vec::new(), cpu: false, may_fall_back: false };
    for name in &args.devices {
        match (name.as_str(), name.parse::<usize>()) {
            ("cpu", _) => choice.cpu = true,
            ("all", _) => choice.gpus.clone_from(&found.list),
            (_, Ok(n)) if n < found.list.len() => choice.gpus.push(found.list[n].clone()),
            (_, Ok(n)) => {
                return Err(
                    DeviceError::Cuda(format!("there is no GPU {n}: this machine has {}", found.list.len())).into()
                );
            }
            _ => {
                return Err(Error::Usage(format!(
                    "--devices: `{name}` is no device; expected `all`, `cpu` or a GPU's number"
                )));
            }
        }
    }
    Ok(choice)
}

/// Reads a scene and changes it as the flags say.
pub fn load_scene(name: &str, args: &SceneArgs) -> Result<Scene, Error> {
    let (text, shown) = read_text(name)?;
    let folder = if name == "-" { Path::new("") } else { Path::new(name).parent().unwrap_or(Path::new("")) };
    read_scene(&text, &shown, folder, args)
}

/// The same for a text in memory, whose paths start at `folder`.
pub fn read_scene(text: &str, shown: &str, folder: &Path, args: &SceneArgs) -> Result<Scene, Error> {
    let Parsed { mut scene, warnings, .. } = scene::parse(text, shown, folder, args.token_solids())?;
    if !args.quiet {
        warnings.iter().for_each(|w| remark(w));
    }
    args.override_scene(&mut scene)?;
    Ok(scene)
}

fn video_settings(scene: &Scene, args: &RenderArgs) -> Result<Option<Settings>, Error> {
    let Some(path) = scene.output.video.clone() else { return Ok(None) };
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    if !matches!(extension.as_deref(), Some("mp4" | "y4m")) {
        return Err(Error::Usage(format!("--video: `{}` ends in neither .mp4 nor .y4m", path.display())));
    }
    Ok(Some(Settings {
        path,
        fps: scene.output.fps,
        crf: args.crf,
        preset: args.preset.clone(),
        codec: args.codec.unwrap_or(Codec::H264),
        ffmpeg: args.ffmpeg.clone(),
    }))
}

fn open_video(settings: Settings, scene: &Scene, quiet: bool) -> Result<Video, Error> {
    let (width, height) = (scene.width.next_multiple_of(2), scene.height.next_multiple_of(2));
    if (width, height) != (scene.width, scene.height) && !quiet {
        remark(&format!("video needs even sides: {} x {} is padded to {width} x {height}", scene.width, scene.height));
    }
    Ok(Video::open(settings, width, height)?)
}

// The text, and the name to call it by.
fn read_text(name: &str) -> Result<(String, String), Error> {
    let shown = if name == "-" { "stdin" } else { name };
    let mut bytes = Vec::new();
    let read = match name {
        "-" => std::io::stdin().read_to_end(&mut bytes),
        _ => std::fs::File::open(name).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|e| Error::Read(shown.into(), e))?;
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        return Err(Error::NotText(shown.into(), at));
    }
    let text = String::from_utf8(bytes).map_err(|e| Error::NotText(shown.into(), e.utf8_error().valid_up_to()))?;
    Ok((text, shown.into()))
}

/// Prints on stdout.
pub fn output(text: &str) -> Result<(), Error> {
    print(text).map_err(|e| SinkError::Write("stdout".into(), e).into())
}

// The first Ctrl-C lets the frames in flight finish; the second ends the program where it stands.
fn stop_on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        remark("stopping after the frames in flight; Ctrl-C again stops at once");
    };
    if let Err(e) = ctrlc::set_handler(handler) {
        remark(&format!("Ctrl-C will stop at once: {e}"));
    }
    stop
}
