//! `polyfly check`: checks that scenes are valid, lists their content, and warns about likely mistakes. It renders a
//! few tiny frames and writes no files.

use super::hints::hints;
use super::scene_file::read_scene;
use crate::cli::{CheckArgs, CommonArgs, Failure, SceneArgs, language};
use crate::error::Error;
use crate::language::Language;
use crate::math::srgb::linear;
use crate::output::PixelFormats;
use crate::render::frames::FrameList;
use crate::render::{Devices, RenderOptions, Renderer};
use crate::report::{fault, print};
use crate::run::sandbox::PathSandbox;
use crate::scene::{LampSamples, Problems, Scene, defaults};
use std::collections::{BTreeMap, BTreeSet};

// The longer side of a trial frame, pixels.
const TRIAL: u32 = 64;
// Maximum number of trial frames, spread over the requested ones.
const TRIALS: usize = 5;
// The fractions of black and of overexposed pixels that cause a warning.
const BLACK: f64 = 0.995;
const BURNT: f64 = 0.5;
// Light above this is overexposed; white itself may be intended.
const ABOVE_WHITE: f32 = 1.01;
// The fraction of a color map's pixels that may be brighter than the map.
const OFF_THE_MAP: f64 = 0.05;

/// Checks all scenes. The last failure ends the program.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let mut failed: Option<Failure> = None;
    for name in &args.scenes {
        if let Err(failure) = check(name, &args.common, &args.changes)
            && let Some(before) = failed.replace(failure)
        {
            fault(&before.shown(language()));
        }
    }
    failed.map_or(Ok(()), Err)
}

fn check(name: &str, common: &CommonArgs, changes: &SceneArgs) -> Result<(), Failure> {
    let (scene, source, outside) = read_scene(name, common, changes)?;
    let (language, mut known) = (language(), scene.clone());
    let mut faults = Faults::default();
    for error in outside {
        if let Error::Outside { file, .. } = &error {
            known.leave_out(file);
        }
        faults.add(source.placed(error));
    }
    // Paths that a run would refuse before it reads a file.
    if let Some(sandbox) = PathSandbox::of(name, common.allow_outside) {
        sandbox.writing(&scene, true, true).unwrap_or_else(|e| faults.add(source.placed(e)));
    }
    let asked = common.frame_list(&scene)?;
    // A file that cannot be read is left out, so that the files after it are read as well.
    let trial = loop {
        match trial_hints(&known, &asked, language) {
            Err(Failure::Library(Error::Asset(e))) if known.leave_out(&e.path) => faults.add(source.placed(e)),
            Err(e) => {
                faults.add(source.placed(e));
                break Vec::new();
            }
            Ok(hints) => break hints,
        }
    };
    faults.end()?;
    let mut lines = summary(name, &scene, language);
    lines.extend(source.look.map(|look| look.told(language, &scene)));
    lines.push(match scene.loop_problems(language) {
        why if why.is_empty() => language.loops(),
        why => language.does_not_loop(why.into_iter().map(|problem| problem.what).collect::<Vec<_>>().join("; ")),
    });
    let warning = language.warning();
    let hints = hints(&scene, language).iter().map(|hint| source.hint(hint)).collect::<Vec<_>>();
    lines.extend(hints.into_iter().chain(trial).map(|hint| format!("{warning}: {hint}")));
    Ok(print(&format!("{}\n", lines.join("\n")))?)
}

// Faults of a scene's files. Those with a position are shown together.
#[derive(Default)]
struct Faults {
    placed: Option<Box<Problems>>,
    others: Vec<Failure>,
}

impl Faults {
    fn add(&mut self, failure: Failure) {
        match (failure, &mut self.placed) {
            (Failure::Library(Error::Scene(problems)), Some(placed)) => placed.list.extend(problems.list),
            (Failure::Library(Error::Scene(problems)), none) => *none = Some(problems),
            (other, _) => self.others.push(other),
        }
    }
    // Prints all faults but one, which ends the program.
    fn end(mut self) -> Result<(), Failure> {
        if let Some(mut problems) = self.placed {
            problems.list.sort_by_key(|problem| problem.span.start);
            self.others.push(problems.into());
        }
        let Some(last) = self.others.pop() else { return Ok(()) };
        self.others.iter().for_each(|other| fault(&other.shown(language())));
        Err(last)
    }
}

fn summary(name: &str, scene: &Scene, language: Language) -> Vec<String> {
    let (render, world, out) = (&scene.render, &scene.world, &scene.output);
    let seconds = format!("{:.2}", f64::from(out.frames) / out.fps);
    let clip = language.clip(language.count_frames(out.frames), render.width, render.height, seconds, out.fps);
    let samples = language.count_samples(render.samples_per_pixel());
    let title = (render.integrator.capabilities().title)(language);
    let tracing = language.tracing(title, samples, language.count_bounces(render.depth));
    let lamps: usize = world.bodies.iter().map(|b| b.lamps.count() as usize * b.solid.edges().len()).sum();
    let counted = |count: usize, words: fn(Language, u64) -> String| (count > 0).then(|| words(language, count as u64));
    let things = [
        counted(world.bodies.len(), Language::count_bodies),
        counted(lamps, Language::count_lamps),
        counted(world.spheres.len(), Language::count_balls),
        counted(world.ellipsoids.len(), Language::count_ellipsoids),
        counted(world.rectangles.len(), Language::count_rectangles),
        counted(world.meshes.len(), Language::count_meshes),
        world.particles.is_some().then(|| language.particles()),
        world.floor.is_some().then(|| language.a_floor()),
        counted(world.lights.len(), Language::count_lights),
    ];
    let mut lines = vec![
        format!("{name}: {clip}; {tracing}"),
        language.it_holds(things.into_iter().flatten().collect::<Vec<_>>().join(", ")),
    ];
    scene.clone().visit_files(|place, path| lines.push(format!("{place}: {}", path.display())));
    lines.push(language.frames_go_to(&out.files));
    lines.extend(out.video.iter().map(|video| language.video_goes_to(video.display())));
    lines
}

fn trial_hints(scene: &Scene, asked: &FrameList, language: Language) -> Result<Vec<String>, Failure> {
    let mut small = scene.clone();
    let (width, height) = (scene.render.width, scene.render.height);
    let side = |n: u32| (u64::from(n) * u64::from(TRIAL) / u64::from(width.max(height))).max(1) as u32;
    (small.render.width, small.render.height) = (side(width).min(width), side(height).min(height));
    small.render.set_samples(small.render.integrator.own(1, 16));
    // The trial stays fast, however many samples the scene has.
    small.render.light_samples = 1;
    small.render.ao_samples = small.render.ao_samples.min(1);
    if matches!(small.render.lamp_samples, LampSamples::All | LampSamples::Drawn(_)) {
        small.render.lamp_samples = LampSamples::Drawn(1);
    }
    small.render.depth = small.render.depth.min(defaults::DEPTH);
    small.render.cutoff = small.render.cutoff.max(defaults::CUTOFF);
    let mut renderer = Renderer::prepare(small, RenderOptions { devices: Devices::Cpu, ..RenderOptions::on_cpu() })?;
    let tried = asked.at((0..TRIALS).map(|i| i * (asked.len() - 1) / (TRIALS - 1)));
    let needs = PixelFormats { rgba8: true, linear: true, layers: true, ..PixelFormats::default() };
    let frames = renderer.capture(&tried, needs, &mut ())?;
    let particles = renderer.prepared.assets.particles.iter().filter(|p| p.range.is_some());
    let map: BTreeSet<_> =
        particles.flat_map(|p| &p.colours).map(|m| coarse(m.colour.map(|c| linear(c) as f32))).collect();
    let [mut empty, mut black, mut burnt, mut faded] = [const { Shares::new() }; 4];
    for frame in &frames {
        let n = frame.number;
        let pixels = frame.rgba8.as_ref().map_or(&[][..], |image| image.data().as_chunks::<4>().0);
        let dark = share_of(pixels.iter().map(|p| p[..3] == [0; 3]));
        if frame.layers.as_ref().is_some_and(|l| l.coverage.data().iter().all(|&x| x <= 0.0)) {
            empty.insert(n, 1.0);
        } else if dark > BLACK {
            black.insert(n, dark);
        }
        let light = frame.linear.as_ref().map_or(&[][..], |image| image.data().as_chunks::<3>().0);
        let is_burnt = |(p, light): (&[u8; 4], &[f32; 3])| (0..3).any(|i| p[i] == 255 && light[i] > ABOVE_WHITE);
        burnt.insert(n, share_of(pixels.iter().zip(light).map(is_burnt)));
        let shown = frame.layers.as_ref().map_or(&[][..], |l| l.albedo.data().as_chunks::<3>().0);
        let mapped = shown.iter().zip(light).filter(|(albedo, _)| map.contains(&coarse(**albedo)));
        faded.insert(n, share_of(mapped.map(|(_, light)| light.iter().any(|&x| x > ABOVE_WHITE))));
    }
    burnt.retain(|_, share| *share > BURNT);
    faded.retain(|_, share| *share > OFF_THE_MAP);
    let mut hints: Vec<String> = renderer.remark().iter().map(|remark| remark.get(language).to_owned()).collect();
    let described = |shares| described(shares, language);
    hints.extend(described(&empty).map(|(frames, _)| language.nothing_in_sight(frames)));
    hints.extend(described(&black).map(|(frames, _)| match black.len() {
        1 => language.black_frame(frames),
        _ => language.black_frames(frames),
    }));
    hints.extend(described(&burnt).map(|(frames, percent)| language.burnt_out(percent, frames)));
    hints.extend(described(&faded).map(|(frames, percent)| language.faded_particles(percent, frames)));
    Ok(hints)
}

// Frames with a warning, and the fraction of affected pixels of each.
type Shares = BTreeMap<u32, f64>;

// The frames and the largest fraction, as in `frames 3-5` and `up to 70 %`; None if there are no frames.
fn described(shares: &Shares, language: Language) -> Option<(String, String)> {
    let list = FrameList::of_numbers(shares.keys().copied())?;
    let percent = format!("{:.0} %", 100.0 * shares.values().copied().fold(0.0, f64::max));
    Some(match shares.len() {
        1 => (language.frame_number(list), percent),
        _ => (language.frame_numbers(list), language.up_to(percent)),
    })
}

// The fraction of true values.
fn share_of(all: impl Iterator<Item = bool>) -> f64 {
    let (count, of) = all.fold((0, 0), |(count, of), is| (count + usize::from(is), of + 1));
    f64::from(count as u32) / f64::from(of.max(1))
}

// A rounded color as a key, to find the pixels of a color map.
fn coarse(colour: [f32; 3]) -> [i32; 3] {
    colour.map(|c| (c * 2000.0).round() as i32)
}
