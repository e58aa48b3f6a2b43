//! `polyfly check`: checks that scenes are valid, lists their content, and warns about likely mistakes. It renders a
//! few tiny frames and writes no files.

use super::hints::hints;
use super::scene_file::read_scene;
use crate::cli::{CheckArgs, CommonArgs, Failure, SceneArgs, language, shown};
use crate::error::Error;
use crate::language::{Message, count, msg};
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
    let mut known = scene.clone();
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
        match trial_hints(&known, &asked) {
            Err(Failure::Library(Error::Asset(e))) if known.leave_out(&e.path) => faults.add(source.placed(e)),
            Err(e) => {
                faults.add(source.placed(e));
                break Vec::new();
            }
            Ok(hints) => break hints,
        }
    };
    faults.end()?;
    let mut lines = summary(name, &scene);
    lines.extend(source.look.map(|look| look.told(&scene)));
    lines.push(match scene.loop_problems() {
        why if why.is_empty() => msg!("the clip loops seamlessly"),
        why => msg!(
            "the clip does not loop: {why}",
            why = Message::list(why.into_iter().map(|problem| problem.what), "; ")
        ),
    });
    let warning = msg!("warning");
    let hints = hints(&scene).into_iter().map(|hint| source.hint(&hint));
    lines.extend(hints.chain(trial).map(|hint| Message::list([warning.clone(), hint], ": ")));
    Ok(print(&(shown(Message::list(lines, "\n")) + "\n"))?)
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

fn summary(name: &str, scene: &Scene) -> Vec<Message> {
    let (render, world, out) = (&scene.render, &scene.world, &scene.output);
    let seconds = format!("{:.2}", f64::from(out.frames) / out.fps);
    let clip = msg!(
        "{frames} of {width} x {height}, {seconds} s at {fps} a second",
        frames = count!(out.frames, "frame", "frames"),
        width = render.width,
        height = render.height,
        seconds,
        fps = out.fps
    );
    let samples = count!(render.samples_per_pixel(), "sample", "samples");
    let title = (render.integrator.capabilities().title)();
    let tracing = msg!(
        "{integrator}, {samples} a pixel, at most {bounces}",
        integrator = title,
        samples,
        bounces = count!(render.depth, "bounce", "bounces")
    );
    let lamps: usize = world.bodies.iter().map(|b| b.lamps.count() as usize * b.solid.edges().len()).sum();
    let some = |count: usize, counted: Message| (count > 0).then_some(counted);
    let things = [
        some(world.bodies.len(), count!(world.bodies.len(), "body", "bodies")),
        some(lamps, count!(lamps, "lamp", "lamps")),
        some(world.spheres.len(), count!(world.spheres.len(), "ball", "balls")),
        some(world.ellipsoids.len(), count!(world.ellipsoids.len(), "ellipsoid", "ellipsoids")),
        some(world.rectangles.len(), count!(world.rectangles.len(), "rectangle", "rectangles")),
        some(world.meshes.len(), count!(world.meshes.len(), "mesh", "meshes")),
        world.particles.is_some().then(|| msg!("particles")),
        world.floor.is_some().then(|| msg!("a floor")),
        some(world.lights.len(), count!(world.lights.len(), "light", "lights")),
    ];
    let mut lines = vec![
        Message::list([Message::text(format_args!("{name}: ")), clip, Message::text("; "), tracing], ""),
        msg!("it holds {things}", things = Message::list(things.into_iter().flatten(), ", ")),
    ];
    scene.clone().visit_files(|key, path| lines.push(format!("{key}: {}", path.display()).into()));
    lines.push(msg!("frames go to {path}", path = out.files));
    lines.extend(out.video.iter().map(|video| msg!("a video goes to {path}", path = video.display())));
    lines
}

fn trial_hints(scene: &Scene, asked: &FrameList) -> Result<Vec<Message>, Failure> {
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
    let mut hints: Vec<Message> = renderer.remark().into_iter().collect();
    hints.extend(described(&empty).map(|(frames, _)| msg!("nothing is in sight in {frames}", frames)));
    hints.extend(described(&black).map(|(frames, _)| match black.len() {
        1 => msg!("{frames} is black: is there a light?", frames),
        _ => msg!("{frames} are black: is there a light?", frames),
    }));
    hints.extend(described(&burnt).map(|(frames, percent)| {
        msg!("{percent} of {frames} are burnt out: lower `exposure` in [film], or the lights", percent, frames)
    }));
    hints.extend(described(&faded).map(|(frames, percent)| {
        msg!(
            "{percent} of the particles' pixels in {frames} get more light than their colors can show, which fade toward white and leave the color map: lower `exposure` in [film] (\"auto\" finds it), the sky or the lights",
            percent,
            frames
        )
    }));
    Ok(hints)
}

// Frames with a warning, and the fraction of affected pixels of each.
type Shares = BTreeMap<u32, f64>;

// The frames and the largest fraction, as in `frames 3-5` and `up to 70 %`; None if there are no frames.
fn described(shares: &Shares) -> Option<(Message, Message)> {
    let list = FrameList::of_numbers(shares.keys().copied())?;
    let percent = format!("{:.0} %", 100.0 * shares.values().copied().fold(0.0, f64::max));
    Some(match shares.len() {
        1 => (msg!("frame {list}", list), percent.into()),
        _ => (msg!("frames {list}", list), msg!("up to {percent}", percent)),
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
