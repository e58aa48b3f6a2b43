//! The scheduler with devices that render, fail, panic or run together: each frame is delivered once, complete, and
//! with the same bytes.

use super::common::*;
use crate::Error;
use crate::assets::AssetError;
use crate::assets::particles::Step;
use crate::assets::particles::memory::StepSource;
use crate::cancel::Cancel;
use crate::device::cpu::Cpu;
use crate::device::{
    Device, DeviceError, DeviceInfo, FilmSlice, Moment, SampleCounter, Task, TaskOutput, TaskStats, Ticket,
};
use crate::kernels::Isa;
use crate::output::capture::{CapturedFrame, MemorySink};
use crate::output::{OutputError, PixelFormats, RenderedFrame, Sink};
use crate::render::delivery;
use crate::render::frames::FrameList;
use crate::render::handover::RunMemory;
use crate::render::plan::{FrameNeeds, Plan, Split};
use crate::render::stats::RunReport;
use crate::render::{Devices, RenderOptions, Renderer, open_frame};
use crate::scene::{FilmSettings, Integrator, Scene};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

// The fate of a device.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Lives,
    FailsAfter(usize),
    PanicsAfter(usize),
    // In wait, with tasks in flight.
    IsLostAfter(usize),
    // Leaves a single pixel of that frame.
    Spills(u32),
    // Gives more than two pictures for each part of that frame.
    Floods(u32),
}

// The CPU under another name, which may fail.
struct Mortal {
    info: DeviceInfo,
    inner: Box<dyn Device>,
    fate: Fate,
    done: usize,
    delay: Duration,
    tickets: VecDeque<(Ticket, u32)>,
}

impl Device for Mortal {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn begin_run(&mut self, cancel: &Cancel) {
        self.inner.begin_run(cancel);
    }
    fn submit(&mut self, task: &Task, moments: &[Moment], out: FilmSlice) -> Result<Ticket, DeviceError> {
        self.done += 1;
        match self.fate {
            Fate::FailsAfter(n) if self.done > n => return Err(DeviceError::Failed("its time has come".into())),
            Fate::PanicsAfter(n) if self.done > n => panic!("a thread that drove a device"),
            _ => {}
        }
        std::thread::sleep(self.delay);
        let ticket = self.inner.submit(task, moments, out)?;
        self.tickets.push_back((ticket, task.frame));
        Ok(ticket)
    }
    fn wait(&mut self, ticket: Ticket) -> Result<(TaskStats, FilmSlice), DeviceError> {
        let (oldest, frame) = self.tickets.pop_front().unwrap();
        assert_eq!(oldest, ticket, "tasks are waited for in their order");
        match self.fate {
            Fate::Spills(spilled) if spilled == frame => {
                let (stats, mut slice) = self.inner.wait(ticket)?;
                slice.pixels.sized(TaskOutput::Sums.bytes_a_pixel());
                Ok((stats, slice))
            }
            Fate::Floods(flooded) if flooded == frame => {
                let (stats, mut slice) = self.inner.wait(ticket)?;
                let len = slice.pixels.bytes().len();
                slice.pixels.sized(20 * len);
                Ok((stats, slice))
            }
            Fate::IsLostAfter(n) if self.done > n => Err(DeviceError::Lost("it fell off the bus".into())),
            _ => self.inner.wait(ticket),
        }
    }
}

const ALL: PixelFormats = PixelFormats::RGBA8;
const LINEAR: PixelFormats = PixelFormats { linear: true, ..ALL };

fn mortal(renderer: &Renderer, i: usize, fate: Fate, delay: Duration, is_cpu: bool) -> Box<dyn Device> {
    let sets = Isa::tested();
    let info = DeviceInfo { name: format!("mortal {i}"), tasks_in_flight: 1 + i % 3, is_cpu, runs_post: false };
    let inner = Box::new(renderer.cpu(sets[i % sets.len()]));
    Box::new(Mortal { info, inner, fate, done: 0, delay, tickets: VecDeque::new() })
}

// Renders frames on devices with these fates, each with its own instruction set.
fn shared(
    scene: &Scene,
    fates: &[(Fate, u64)],
    split: Split,
    needs: PixelFormats,
    frames: u32,
) -> (Result<RunReport, Error>, Vec<CapturedFrame>) {
    let sets = Isa::tested();
    let renderer = renderer(scene, sets[0], 1);
    let mortal = |(i, &(fate, delay))| mortal(&renderer, i, fate, Duration::from_millis(delay), false);
    let mut devices: Vec<Box<dyn Device>> = fates.iter().enumerate().map(mortal).collect();
    let (sink, kept) = MemorySink::new(needs);
    let result = run_on(&renderer, &mut devices, vec![Box::new(sink)], split, needs, frames);
    let kept = std::mem::take(&mut *kept.lock().unwrap());
    (result, kept)
}

fn run_on(
    renderer: &Renderer,
    devices: &mut [Box<dyn Device>],
    sinks: Vec<Box<dyn Sink>>,
    split: Split,
    needs: PixelFormats,
    frames: u32,
) -> Result<RunReport, Error> {
    let post = Arc::new(renderer.post());
    let scene = renderer.scene();
    let frames = FrameList::all(frames);
    let needs = FrameNeeds::of(scene, needs, &post);
    let infos: Vec<&DeviceInfo> = devices.iter().map(|device| device.info()).collect();
    let plan = Plan::new(scene, &infos, frames.len(), &needs, split, &post);
    let work = open_frame::RunContext {
        prepared: &renderer.prepared,
        plan: &plan,
        frames: &frames,
        post: &post,
        denoiser: None,
        cancel: &renderer.cancel(),
        meter: &SampleCounter::default(),
        already: &[],
    };
    delivery::run(devices, &work, sinks, &mut (), &mut RunMemory::default())
}

fn expect_whole(scene: &Scene, kept: &[CapturedFrame], frames: u32) {
    assert_eq!(kept.iter().map(|f| f.number).collect::<Vec<_>>(), (0..frames).collect::<Vec<_>>());
    for frame in kept {
        let expected = render(scene, frame.number);
        let got = frame.rgba8.as_ref().unwrap().data();
        assert_eq!(first_difference(&expected, got, scene.render.width), None, "frame {}", frame.number);
    }
}

fn small(name: &str) -> Scene {
    sized(own(name), 97, 131, 1)
}

use Fate::*;

#[test]
fn frames_and_tiles_are_dealt_to_whoever_is_free() {
    let scene = small("coursework.txt");
    for split in [Split::Auto, Split::Frames, Split::Tiles] {
        for fates in [&[(Lives, 0)][..], &[(Lives, 0), (Lives, 3), (Lives, 1)]] {
            let (result, kept) = shared(&scene, fates, split, ALL, 6);
            let report = result.unwrap();
            expect_whole(&scene, &kept, 6);
            let tasks: usize = report.devices.iter().map(|d| d.tasks).sum();
            // A device that is no CPU takes a quarter of its share at once.
            let bands = 131usize.div_ceil(32);
            let tiles = 6 * bands.div_ceil(bands.div_ceil(4 * fates.len()));
            let possible = if split == Split::Tiles { [tiles; 2] } else { [6, tiles] };
            assert!(possible.contains(&tasks), "{tasks} tasks by {split:?}");
        }
    }
}

#[test]
fn a_device_that_fails_panics_or_is_lost_hands_its_tasks_to_the_others() {
    let scene = small("coursework.txt");
    for split in [Split::Frames, Split::Tiles] {
        for bad in [FailsAfter(0), FailsAfter(3), PanicsAfter(0), PanicsAfter(2), IsLostAfter(1)] {
            for fates in [[(bad, 0), (Lives, 1)], [(Lives, 1), (bad, 0)]] {
                let (result, kept) = shared(&scene, &fates, split, ALL, 6);
                result.unwrap_or_else(|e| panic!("{fates:?}, {split:?}: {e}"));
                expect_whole(&scene, &kept, 6);
            }
        }
    }
}

#[test]
fn the_run_fails_when_no_device_is_left_and_says_why() {
    let scene = small("coursework.txt");
    for (bad, words) in [(FailsAfter(2), "its time"), (PanicsAfter(2), "panicked: a thread"), (IsLostAfter(3), "bus")] {
        for split in [Split::Frames, Split::Tiles] {
            let (result, kept) = shared(&scene, &[(bad, 0), (bad, 0)], split, ALL, 12);
            let e = result.unwrap_err();
            assert!(matches!(e, Error::Device(_)) && e.to_string().contains(words), "{bad:?}: {e}");
            expect_whole(&scene, &kept, kept.len() as u32);
            assert!(kept.len() < 12);
        }
    }
}

#[test]
fn noise_tiles_time_steps_and_devices_combine() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p%d.csv");
    for step in 0..4 {
        let text = format!("0,0,{},0.5\n1,{},0,0.4\n", f64::from(step) * 0.2, 0.3 * f64::from(step));
        std::fs::write(dir.path().join(format!("p{step}.csv")), text).unwrap();
    }
    let scene = toml(&format!(
        "[output]\nframes = 4\nsize = [48, 70]\n[render]\nintegrator = \"path\"\nsamples = 256\nnoise = 4\ndepth = 4\n\
         [sky]\nzenith = [1, 1, 1]\nhorizon = [0.6, 0.7, 0.9]\n[camera.eye]\nr = 4\nz = 1\nphi_cycles = 1\n\
         [floor]\ncorners = [[-3,-3,-1],[-3,3,-1],[3,3,-1],[3,-3,-1]]\n[particles]\npath = \"{}\"\n",
        path.display()
    ));
    let (result, alone) = shared(&scene, &[(Lives, 0)], Split::Frames, ALL, 4);
    result.unwrap();
    assert!(alone.windows(2).all(|w| w[0].rgba8 != w[1].rgba8), "every step moves something");
    for fates in [&[(Lives, 0), (Lives, 1)][..], &[(Lives, 0), (FailsAfter(5), 0), (PanicsAfter(7), 0)]] {
        let (result, together) = shared(&scene, fates, Split::Tiles, ALL, 4);
        result.unwrap();
        assert_eq!(alone, together, "{fates:?}");
    }
}

#[test]
fn linear_light_is_the_picture_before_its_tone_curve_and_layers_do_not_depend_on_the_device() {
    let needs = PixelFormats { rgba8: true, linear: true, layers: true, ..PixelFormats::default() };
    for name in ["coursework.txt", "weekend.toml", "garland.toml"] {
        let mut scene = sized(own(name), 50, 37, 2);
        if scene.render.integrator == Integrator::Path {
            scene.render.set_samples(9);
        }
        scene.output.frames = 2;
        // The tracing kernels make the expected picture.
        (scene.film, scene.camera.shutter) = (FilmSettings::default(), 0.0);
        let (result, alone) = shared(&scene, &[(Lives, 0)], Split::Frames, needs, 2);
        result.unwrap();
        expect_whole(&scene, &alone, 2);
        let (result, together) =
            shared(&scene, &[(Lives, 0), (Lives, 0), (Lives, 0), (Lives, 0)], Split::Tiles, needs, 2);
        result.unwrap();
        assert_eq!(alone, together, "{name}");
        let layers = alone[0].layers.as_ref().unwrap();
        let (albedo, normal) = (layers.albedo.data(), layers.normal.data());
        assert!(albedo.iter().all(|x| (0.0..=1.0).contains(x)) && normal.iter().all(|x| (-1.001..=1.001).contains(x)));
        let (depth, coverage) = (layers.depth.data(), layers.coverage.data());
        assert!(depth.iter().zip(coverage).all(|(d, c)| (*c == 0.0) == d.is_infinite() && *d > 0.0));
        assert!(coverage.contains(&1.0), "{name} shows something");
    }
}

// A scene's TOML without its film.
fn without_film(text: &str) -> String {
    let (before, film) = text.split_once("[film]").unwrap();
    format!("{before}{}", &film[film.find("\n[").unwrap()..])
}

// All steps of the film at once, in frames, in tiles, and beside devices that fail.
#[test]
fn a_developed_frame_does_not_depend_on_who_traced_it() {
    let film = "[film]\nexposure = 0.7\nwhite_balance = 4200\nglare = 0.1\nbloom = 0.2\nvignette = 0.3\ngrain = 0.2\ntone = \"agx\"\n";
    for (tone, split) in [("agx", Split::Tiles), ("filmic", Split::Frames), ("soft", Split::Auto)] {
        let text = own("infinity.toml").to_toml();
        let scene = sized(toml(&format!("{}\n{}", without_film(&text), film.replace("agx", tone))), 61, 83, 2);
        let needs = PixelFormats { linear: true, ..ALL };
        let (result, alone) = shared(&scene, &[(Lives, 0)], Split::Frames, needs, 3);
        result.unwrap();
        let (result, together) = shared(&scene, &[(Lives, 0), (FailsAfter(2), 1), (Lives, 0)], split, needs, 3);
        result.unwrap();
        assert_eq!(alone, together, "{tone}");
        let plain = sized(own("infinity.toml"), 61, 83, 2);
        assert!(alone[0].rgba8.as_ref().unwrap().data() != render(&plain, 0), "{tone} shows");
        // The picture is the linear image through the curve.
        let (linear, shown) = (alone[1].linear.as_ref().unwrap(), alone[1].rgba8.as_ref().unwrap());
        // With dither, a code is one of the two beside the exact value (the table rounds a little too), and correct in the mean.
        let mut off = 0.0;
        for (light, code) in linear.data().chunks(3).zip(shown.data().chunks(4)) {
            let light = [light[0], light[1], light[2]].map(f64::from);
            let expected = scene.film.tone.tone_map(light).map(|x| scene.film.tone.encode(x.clamp(0.0, 1.0)) * 255.0);
            assert!((0..3).all(|i| (expected[i] - f64::from(code[i])).abs() < 1.3), "{light:?} {expected:?} {code:?}");
            off += (0..3).map(|i| f64::from(code[i]) - expected[i]).sum::<f64>();
        }
        assert!((off / linear.data().len() as f64).abs() < 0.02, "{tone}: {off}");
    }
}

#[test]
fn automatic_exposure_is_one_value_for_the_clip() {
    let scene = |exposure: &str, light: f64| {
        let mut scene = sized(own("coursework.txt"), 64, 48, 1);
        scene.world.lights.iter_mut().for_each(|l| l.colour = l.colour.map(|c| c * light));
        scene.film.exposure = match exposure {
            "auto" => crate::scene::Exposure::Auto,
            stops => crate::scene::Exposure::Stops(stops.parse().unwrap()),
        };
        scene
    };
    let mean = |scene: &Scene, frame| {
        let (linear, _) = crate::Renderer::new(scene.clone()).unwrap().still_linear(frame).unwrap();
        linear.data().iter().map(|&x| f64::from(x)).sum::<f64>() / linear.data().len() as f64
    };
    let plain: Vec<f64> = [0, 60].map(|n| mean(&scene("0", 1.0), n)).to_vec();
    let auto: Vec<f64> = [0, 60].map(|n| mean(&scene("auto", 1.0), n)).to_vec();
    assert!((auto[0] / plain[0] - auto[1] / plain[1]).abs() < 1e-3, "{auto:?} {plain:?}");
    // A darker clip gets more light.
    let gain = |light| mean(&scene("auto", light), 0) / mean(&scene("0", light), 0);
    assert!(gain(0.2) > 1.1 * gain(1.0), "{} {}", gain(0.2), gain(1.0));
}

#[test]
fn a_task_of_rows_is_those_rows_of_the_picture() {
    let scene = small("solids.toml");
    let expected = render(&scene, 5);
    for isa in Isa::tested() {
        let cpu = renderer(&scene, isa, 0).cpu(isa);
        let mut part = crate::device::Memory::default();
        let task = Task { rows: 32..96, output: TaskOutput::Picture, ..whole(&scene, 5) };
        cpu.run(&task, &frame_params(&scene, 5), &mut part);
        assert_eq!(part.bytes(), &expected[4 * 97 * 32..4 * 97 * 96], "{isa:?}");
    }
}

// A sink that fails at a frame.
struct Clumsy(u32);

impl Sink for Clumsy {
    fn needs(&self) -> PixelFormats {
        ALL
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        if frame.number == self.0 {
            return Err(OutputError::Custom("it fell off the table".into()));
        }
        Ok(())
    }
}

#[test]
fn a_sink_that_fails_ends_the_run_with_its_words() {
    let scene = sized(own("coursework.txt"), 32, 24, 1);
    let renderer = renderer(&scene, Isa::available()[0], 1);
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(renderer.cpu(renderer.prepared.isa))];
    let e = run_on(&renderer, &mut devices, vec![Box::new(Clumsy(3))], Split::Auto, ALL, 100).unwrap_err();
    assert!(e.to_string().contains("off the table"), "{e}");
}

// With devices that finish frames themselves and with finisher threads, the run ends and reports the cause.
#[test]
fn a_panic_while_frames_are_finished_ends_the_run_with_its_words() {
    let mut scene = sized(own("coursework.txt"), 32, 24, 1);
    scene.film.dither = Some(true);
    let renderer = renderer(&scene, Isa::available()[0], 1);
    for (count, is_cpu) in [(1, true), (2, true), (1, false), (3, false)] {
        let mortal = |i| mortal(&renderer, i, Spills(3), Duration::ZERO, is_cpu);
        let mut devices: Vec<_> = (0..count).map(mortal).collect();
        let (sink, kept) = MemorySink::new(ALL);
        let e = run_on(&renderer, &mut devices, vec![Box::new(sink)], Split::Frames, ALL, 20);
        let e = e.unwrap_err().to_string();
        assert!(e.contains("three sums for each pixel"), "{count} {is_cpu}: {e}");
        assert!(kept.lock().unwrap().iter().all(|f| f.number != 3));
    }
}

// One task of many is lost with its frame, which nobody may wait for.
#[test]
fn a_panic_while_a_result_is_added_ends_the_run_with_its_words() {
    let mut scene = sized(own("coursework.txt"), 32, 131, 1);
    scene.film.dither = Some(true);
    let renderer = renderer(&scene, Isa::available()[0], 1);
    for count in [1, 3] {
        let mut devices: Vec<_> = (0..count).map(|i| mortal(&renderer, i, Floods(3), Duration::ZERO, true)).collect();
        let (sink, kept) = MemorySink::new(LINEAR);
        let e = run_on(&renderer, &mut devices, vec![Box::new(sink)], Split::Tiles, LINEAR, 20);
        let e = e.unwrap_err().to_string();
        assert!(e.contains("the renderer panicked: "), "{count}: {e}");
        assert!(kept.lock().unwrap().iter().all(|f| f.number != 3));
    }
}

// Steps of which the fourth cannot be made.
#[derive(Debug)]
struct Shaky;

impl StepSource for Shaky {
    fn count(&self) -> usize {
        20
    }
    fn step(&self, number: usize) -> Result<Arc<Step>, AssetError> {
        assert_ne!(number, 3, "the fourth step is shaky");
        Ok(Arc::new(Step { positions: vec![[number as f64, 0.0, 1.0]], radii: vec![0.5], ..Step::default() }))
    }
}

#[test]
fn a_panic_while_frames_are_prepared_ends_the_run_with_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shaky.csv");
    let scene = toml(&format!(
        "[output]\nsize = [32, 24]\nframes = 20\n[particles]\npath = {path:?}\n[camera.orbit]\ncenter = [5, 0, 0]\ndistance = 20\n"
    ));
    let options = RenderOptions { particles: Some(Arc::new(Shaky)), ..RenderOptions::on_cpu() };
    let renderer = Renderer::prepare(scene, options).unwrap_or_else(|e| panic!("{e}"));
    for count in [1, 3] {
        let mut devices: Vec<_> = (0..count).map(|i| mortal(&renderer, i, Lives, Duration::ZERO, true)).collect();
        let (sink, kept) = MemorySink::new(ALL);
        let e = run_on(&renderer, &mut devices, vec![Box::new(sink)], Split::Frames, ALL, 20);
        let e = e.unwrap_err().to_string();
        assert!(e.contains("the fourth step is shaky"), "{count}: {e}");
        // What came before it is whole.
        assert_eq!(kept.lock().unwrap().iter().map(|f| f.number).collect::<Vec<_>>(), [0, 1, 2]);
    }
}

#[test]
fn samples_are_counted_within_a_frame() {
    let mut scene = Scene::sample();
    (scene.render.width, scene.render.height) = (64, 48);
    for samples in [1, 3] {
        scene.render.set_samples(samples);
        let mut renderer = Renderer::new(scene.clone()).unwrap();
        let (meter, frame) = renderer.counter();
        assert_eq!(frame, 64 * 48 * u64::from(samples * samples));
        renderer.still(0).unwrap();
        assert_eq!(meter.samples(), frame);
        // Linear light and the first surfaces count no more than the picture.
        renderer.still_linear(1).unwrap();
        assert_eq!(meter.samples(), 2 * frame);
        // The counts that a device reports of its task are added.
        let taken = Arc::new(AtomicU64::new(5));
        let progress = Arc::clone(&taken);
        meter.poll(move || progress.load(Ordering::Relaxed));
        assert_eq!(meter.samples(), 2 * frame + 5);
        taken.store(0, Ordering::Relaxed);
        assert_eq!(meter.samples(), 2 * frame);
    }
}

// Ctrl-C in Python left a frame of minutes to a CPU, which rendered it to its end.
#[test]
fn a_cpu_leaves_its_frame_when_the_run_is_abandoned() {
    let mut scene = Scene::sample();
    (scene.render.width, scene.render.height) = (640, 480);
    scene.render.set_samples(24);
    let options = RenderOptions::new().devices(Devices::Cpu);
    let mut renderer = Renderer::with_options(scene, options).unwrap();
    // Devices that are kept take the cancel of each run.
    renderer.keep_devices(true);
    for _ in 0..2 {
        let (meter, all) = renderer.counter();
        let (before, cancel) = (meter.samples(), Cancel::new());
        renderer.set_cancel(cancel.clone());
        let result = std::thread::scope(|scope| {
            let run = scope.spawn(|| renderer.still(0));
            while meter.samples() == before && !run.is_finished() {
                std::thread::yield_now();
            }
            cancel.abandon();
            run.join().unwrap()
        });
        assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
        assert!(meter.samples() - before < all / 2, "{} of {all}", meter.samples() - before);
    }
}

// The studio's next picture waited for the film look of one that nobody would see.
#[test]
fn a_cpu_makes_no_picture_of_an_abandoned_frame() {
    let mut scene = Scene::sample();
    (scene.render.width, scene.render.height) = (32, 32);
    let renderer = Renderer::new(scene.clone()).unwrap();
    let (prepared, post) = (&renderer.prepared, Arc::new(renderer.post()));
    let first = Arc::clone(&prepared.first);
    let mut cpu = Cpu::new(prepared.isa, Arc::clone(&prepared.pool), Arc::clone(&first)).with_post(Some(post));
    let moments = [Moment::new(Arc::clone(&first), first.frame_params(&scene, 0))];
    for is_abandoned in [false, true] {
        let cancel = Cancel::new();
        cpu.begin_run(&cancel);
        if is_abandoned {
            cancel.abandon();
        }
        let ticket = cpu.submit(&Task::picture(&scene, 0), &moments, FilmSlice::default()).unwrap();
        assert_eq!(cpu.wait(ticket).unwrap().1.pixels.bytes().is_empty(), is_abandoned);
    }
}

// One device renders the only frame, and the other one waits for work.
#[test]
fn a_device_that_waits_ends_with_an_abandoned_run() {
    let scene = small("coursework.txt");
    let renderer = renderer(&scene, Isa::tested()[0], 1);
    let (cancel, delay) = (renderer.cancel(), Duration::from_millis(200));
    let mut devices: Vec<_> = (0..2).map(|i| mortal(&renderer, i, Lives, delay, false)).collect();
    let result = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(delay / 4);
            cancel.abandon();
        });
        run_on(&renderer, &mut devices, vec![Box::new(MemorySink::new(ALL).0)], Split::Frames, ALL, 1)
    });
    assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
}
