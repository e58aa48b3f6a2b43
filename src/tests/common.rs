//! Helpers for several tests: scenes, rendering, and comparisons that report the position of a difference.

use super::entries::{Stray, strays};
use crate::device::{Memory, Task};
use crate::device_scene::frame_params_at;
use crate::gpu_types::FrameParams;
use crate::kernels::Isa;
use crate::render::{RenderOptions, Renderer};
use crate::scene::{self, CameraPath, CylindricalPath, Look, ParseOptions, Scene, TextureSource};
use std::path::{Path, PathBuf};

/// The camera of frame n, relative to the scene's own origin.
pub fn frame_params(scene: &Scene, n: u32) -> FrameParams {
    frame_params_at(scene, [0.0; 3], n, f64::from(n))
}

/// The files of real input scenes.
pub fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "txt")).collect();
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files
}

/// Loads a scene. A missing texture is replaced. Tokens have their plain look: that of film has its own tests.
pub fn load(path: &Path) -> Scene {
    let is_tokens = path.extension().is_some_and(|e| e == "txt");
    load_with(path, is_tokens.then_some(Look::Plain))
}

/// Loads a scene with a look.
pub fn load_with(path: &Path, look: Option<Look>) -> Scene {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let reading = ParseOptions { folder: path.parent().unwrap(), look, ..ParseOptions::default() };
    let mut scene = scene::parse(&text, &path.display().to_string(), reading).unwrap_or_else(|e| panic!("{e}")).scene;
    if let Some(floor) = &mut scene.world.floor
        && matches!(&floor.texture, Some(TextureSource::File(file)) if !file.exists())
    {
        floor.texture = Some(TextureSource::Checker);
    }
    scene
}

pub fn own(name: &str) -> Scene {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(name))
}

/// A scene of the tests' own, which stays as it is while samples change.
pub fn fixed(name: &str) -> Scene {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenes").join(name))
}

pub fn toml(text: &str) -> Scene {
    scene::parse(text, "test.toml", ParseOptions::default()).unwrap_or_else(|e| panic!("{e}")).scene
}

pub fn sized(mut scene: Scene, width: u32, height: u32, samples: u32) -> Scene {
    (scene.render.width, scene.render.height) = (width, height);
    if let scene::Sampling::PerAxis(n) = &mut scene.render.sampling {
        *n = samples;
    }
    scene
}

/// The path of a cylindrical camera's position.
pub fn eye(scene: &mut Scene) -> &mut CylindricalPath {
    let CameraPath::Cylinder { eye, .. } = &mut scene.camera.path else { panic!("a camera on cylinders") };
    eye
}
/// The path of a cylindrical camera's look-at point.
pub fn target(scene: &mut Scene) -> &mut CylindricalPath {
    let CameraPath::Cylinder { target, .. } = &mut scene.camera.path else { panic!("a camera on cylinders") };
    target
}

pub fn renderer(scene: &Scene, isa: Isa, threads: usize) -> Renderer {
    let options = RenderOptions { isa: Some(isa.name.into()), threads, ..RenderOptions::on_cpu() };
    Renderer::prepare(scene.clone(), options).unwrap_or_else(|e| panic!("{e}"))
}

/// The whole picture in one task.
pub fn whole(scene: &Scene, frame: u32) -> Task {
    Task::picture(scene, frame)
}

pub fn render_with(scene: &Scene, isa: Isa, threads: usize, frame: u32) -> Vec<u8> {
    let mut picture = Memory::default();
    let made = renderer(scene, isa, threads);
    let camera = made.prepared.first.frame_params(scene, frame);
    made.cpu(isa).run(&whole(scene, frame), &camera, &mut picture);
    picture.bytes().to_vec()
}

pub fn render(scene: &Scene, frame: u32) -> Vec<u8> {
    render_with(scene, Isa::available()[0], 0, frame)
}

/// Renders a frame on every instruction set, and fails where they differ.
pub fn same_on_every_set(name: &str, scene: &Scene, frame: u32) -> Vec<u8> {
    let sets = Isa::tested();
    assert!(sets.len() >= 3, "several lanes, the single one, and that of the GPU's domain at least");
    let expected = render_with(scene, sets[0], 0, frame);
    for &isa in &sets[1..] {
        let before = strays();
        let got = render_with(scene, isa, 0, frame);
        if let Some(difference) = first_difference(&expected, &got, scene.render.width) {
            panic!("{name}, {} against {}: {difference}{}", sets[0].name, isa.name, since(&before));
        }
        assert_eq!(nan_since(&before), "", "{name}, {}", isa.name);
    }
    expected
}

fn new_strays(before: &[Stray]) -> impl Iterator<Item = Stray> {
    let counted = |place: &str| before.iter().find(|s| s.place == place).map_or(0, |s| s.calls);
    strays().into_iter().filter(move |s| s.calls > counted(&s.place))
}

/// For messages: calls outside the domain of a GPU's operations since `before`. They are harmless if the result is not
/// used.
pub fn since(before: &[Stray]) -> String {
    new_strays(before).map(|s| format!("\n  {}: outside of the domain, such as {:e}", s.place, s.argument)).collect()
}

/// Where NaN has reached an operation since `before`, which no scene may cause.
pub fn nan_since(before: &[Stray]) -> String {
    let caused_by_a_scene = |s: &Stray| s.argument.is_nan() && !s.place.contains("entry.cpp");
    new_strays(before).filter(caused_by_a_scene).map(|s| format!("\n  {}: NaN", s.place)).collect()
}

/// The 8-bit code of linear light: tone curve, sRGB, rounding (kernels/film.cuh).
pub fn code(linear: f64) -> f64 {
    let knee = 0.7;
    let toned =
        if linear > knee { knee + (linear - knee) * (1.0 - knee) / (linear - knee + 1.0 - knee) } else { linear };
    crate::math::srgb::srgb(toned) * 255.0
}

pub fn first_difference(a: &[u8], b: &[u8], width: u32) -> Option<String> {
    assert_eq!(a.len(), b.len());
    let i = a.iter().zip(b).position(|(x, y)| x != y)? / 4;
    let count = a.chunks(4).zip(b.chunks(4)).filter(|(x, y)| x != y).count();
    let (x, y) = (i % width as usize, i / width as usize);
    Some(format!("{count} pixels differ, first ({x}, {y}): {:?} and {:?}", &a[4 * i..4 * i + 4], &b[4 * i..4 * i + 4]))
}

/// Random numbers from 0 to 1, the same in each run.
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32) / (1u64 << 24) as f32
    }
    pub fn around(&mut self, reach: f32) -> [f32; 3] {
        [0; 3].map(|_| reach * (2.0 * self.next() - 1.0))
    }
}

/// The linear light of a scene's first frame, r, g and b of each pixel.
pub fn light(scene: &Scene) -> Vec<f32> {
    light_of(scene, 0)
}
/// The linear light of any frame.
pub fn light_of(scene: &Scene, frame: u32) -> Vec<f32> {
    Renderer::new(scene.clone()).unwrap().still_linear(frame).unwrap().0.data().to_vec()
}

/// The root mean square of the differences.
pub fn rmse(a: &[f32], b: &[f32]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>() / a.len() as f64).sqrt()
}

/// The mean of all numbers.
pub fn mean(pixels: &[f32]) -> f64 {
    pixels.iter().map(|&x| f64::from(x)).sum::<f64>() / pixels.len() as f64
}
