//! Timings of the CPU renderer's parts: `cargo bench --bench cpu [NAME]`. Frames are small, and one thread renders them.
//! benches/record has the timings of whole runs, scripts/instructions the comparison with an older version.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use polyfly::{Devices, FrameList, OutputError, PixelFormats, RenderOptions, RenderedFrame, Renderer, Scene, Sink};
use std::path::{Path, PathBuf};

fn main() {
    divan::main();
}

const WIDTH: u32 = 96;
const HEIGHT: u32 = 54;

fn scene_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(name)
}

fn read(path: &Path) -> Scene {
    let text = std::fs::read_to_string(path).expect("a scene of scenes/ can be read");
    let folder = path.parent().unwrap_or(Path::new(""));
    Scene::parse(&text, &path.display().to_string(), folder).expect("a scene of scenes/ is valid").scene
}

// A renderer of small frames on one thread.
fn renderer(name: &str) -> Renderer {
    let mut scene = read(&scene_file(name));
    (scene.render.width, scene.render.height) = (WIDTH, HEIGHT);
    let options = RenderOptions::new().devices(Devices::Cpu).threads(1);
    Renderer::with_options(scene, options).expect("a scene of scenes/ can be rendered")
}

/// One frame with few bodies, with mirrors, with glass and dispersion, of path tracing, of a mesh of particles, and with all
/// post steps.
#[divan::bench(args = ["coursework.txt", "infinity.toml", "crystal.toml", "jewels.toml", "heap.toml", "last-light.toml"], max_time = 5)]
fn frame(bencher: Bencher, name: &str) {
    let mut renderer = renderer(name);
    let bencher = bencher.counter(ItemsCount::new(WIDTH * HEIGHT));
    bencher.bench_local(|| renderer.still(black_box(0)).expect("a frame"));
}

/// Reading a scene's files, flattening them, and building the tree over their primitives.
#[divan::bench(args = ["heap.toml", "gallery.toml", "lagoon.toml"], max_time = 5)]
fn open_renderer(bencher: Bencher, name: &str) {
    bencher.bench_local(|| renderer(black_box(name)));
}

/// Reading a scene's text.
#[divan::bench(args = ["default.txt", "jewels.toml", "stage.toml"])]
fn read_scene(bencher: Bencher, name: &str) {
    let path = scene_file(name);
    bencher.bench_local(|| read(black_box(&path)));
}

/// Writing a scene as TOML.
#[divan::bench]
fn write_scene(bencher: Bencher) {
    let scene = read(&scene_file("stage.toml"));
    bencher.bench_local(|| black_box(&scene).to_toml());
}

// A sink that needs frames in one form, and drops them.
struct Needs(PixelFormats);

impl Sink for Needs {
    fn needs(&self) -> PixelFormats {
        self.0
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        if self.0.yuv420 {
            black_box(frame.yuv420());
        }
        Ok(())
    }
}

/// A 1080p frame of an empty view in the forms that sinks ask for: codes, planes for a video, and linear light.
#[divan::bench(args = ["rgba8", "yuv420", "linear"], max_time = 5)]
fn frame_form(bencher: Bencher, form: &str) {
    let mut scene = Scene::sample();
    scene.world.bodies.clear();
    (scene.render.width, scene.render.height) = (1920, 1080);
    scene.render.set_samples(1);
    let options = RenderOptions::new().devices(Devices::Cpu).threads(1);
    let mut renderer = Renderer::with_options(scene, options).expect("the sample scene can be rendered");
    let needs = PixelFormats {
        rgba8: form == "rgba8",
        yuv420: form == "yuv420",
        linear: form == "linear",
        ..PixelFormats::default()
    };
    let one = FrameList::all(1);
    bencher.bench_local(|| renderer.run(&one, vec![Box::new(Needs(needs))], &mut ()).expect("a frame"));
}
