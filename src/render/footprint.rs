//! Estimates the memory of frames before any is rendered, because a failed allocation ends the program. All that makes pictures asks
//! here (`Renderer::open`); a run has asked for its files and encoders too (`run::memory_limit`).

use super::delivery::{finisher_threads, frame_pixel, pictures, writers};
use super::neighbors::Window;
use super::plan::{Finish, FrameNeeds};
use super::{Devices, RenderOptions, Renderer};
use crate::device::{self, TRIAL_BYTES, TaskOutput, memory};
use crate::error::Error;
use crate::film::furniture::MapShown;
use crate::film::post::{PostPipeline, guided, steady};
use crate::language::msg;
use crate::output::PixelFormats;
use crate::scene::{Scene, ValueScale};
use crate::system::available_memory;
use std::sync::Arc;

// Bytes per pixel.
const CODES: usize = 4;
const PLANES: usize = 2;
const LIGHT: usize = 12;
const COUNTS: usize = 4;
// Bytes per pixel that a writer takes before the file is written: for 8 bits per channel, and for linear light.
const WRITTEN: usize = 4;
const WRITTEN_LIGHT: usize = 16;

// The devices and sinks of a run.
struct Resources {
    gpus: usize,
    // Whether the CPU renders too.
    has_cpu: bool,
    threads: usize,
    // The number of file sinks and videos.
    sinks: usize,
}

impl Resources {
    // The expected devices; no driver is started.
    fn of(devices: &Devices, threads: usize, sinks: usize) -> Resources {
        let (gpus, has_cpu) = match devices {
            Devices::Cpu => (0, true),
            // Starting the driver takes time and runs while the scene is prepared, so it is not asked here.
            Devices::Auto => (usize::from(device::has_driver()), false),
            Devices::Gpu => (1, false),
            Devices::AllGpus => (device::list().map_or(0, |gpus| gpus.len()), false),
            Devices::List(numbers, cpu) => (numbers.len(), *cpu),
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Resources { gpus, has_cpu: has_cpu || gpus == 0, threads: if threads == 0 { cores() } else { threads }, sinks }
    }
}

/// The memory that pictures may take, bytes: the given limit, or nine tenths of the free memory if that is known.
pub fn limit(given: Option<u64>) -> Option<u64> {
    given.or_else(|| Some(available_memory()? / 10 * 9))
}

impl RenderOptions {
    /// The memory that pictures may take, bytes, if that is known.
    pub(super) fn memory_limit(&self) -> Option<u64> {
        limit(self.memory)
    }
}

impl Renderer {
    /// Refuses frames that take more memory than they may. `needs` is what the `sinks` files and videos need of them.
    pub(super) fn check_memory(
        &self,
        needs: PixelFormats,
        post: &Arc<PostPipeline>,
        sinks: usize,
    ) -> Result<(), Error> {
        let (scene, chosen) = (self.scene(), &self.chosen);
        let (gpus, has_cpu, threads) = (chosen.gpus.len(), chosen.cpu, self.threads());
        let bytes = with_resources(scene, needs, post, &Resources { gpus, has_cpu, threads, sinks });
        match self.memory_limit {
            Some(max) if bytes > max => {
                let (width, height) = (scene.render.width, scene.render.height);
                let what = msg!(
                    "a picture of {width} x {height} pixels takes about {takes} MiB of memory, and may take {may}: ask for a smaller size",
                    width,
                    height,
                    takes = bytes >> 20,
                    may = max >> 20
                );
                Err(Error::TooLittleMemory(what))
            }
            _ => Ok(()),
        }
    }
}

/// Maximum bytes of frames from their first task to the last file. `needs` is what the `sinks` files and videos need
/// of them.
pub fn peak_bytes(scene: &Scene, needs: PixelFormats, options: &RenderOptions, sinks: usize) -> u64 {
    // The list of post steps does not depend on exposure, and a legend depends only on particles.
    let map = MapShown {
        range: [0.0, 1.0],
        colours: Arc::new(vec![[0.0; 3]; 2]),
        outside: [false; 2],
        scale: ValueScale::Linear,
        classes: Vec::new(),
    };
    let post = Arc::new(PostPipeline::new(scene, 0.0, Some(map), options.denoise.as_ref()));
    with_resources(scene, needs, &post, &Resources::of(&options.devices, options.threads, sinks))
}

fn with_resources(scene: &Scene, needs: PixelFormats, post: &Arc<PostPipeline>, resources: &Resources) -> u64 {
    let FrameNeeds { formats: needs, finish, halves, device } = FrameNeeds::of(scene, needs, post);
    let size = (scene.render.width, scene.render.height);
    let is_adaptive = scene.render.sampling.is_adaptive();
    let ring = memory::ring(size, &device);
    let tasks = resources.gpus * ring + usize::from(resources.has_cpu);
    let writers = writers(size, needs, resources.has_cpu, resources.threads);
    let finishers = finisher_threads(size, resources.gpus > 0, finish != Finish::Trace);
    let pictures = pictures(tasks, writers, resources.sinks);

    let mut pixel = pictures * (CODES + if needs.yuv420 { PLANES } else { 0 });
    if is_adaptive && resources.has_cpu {
        pixel += TRIAL_BYTES;
    }
    if finish != Finish::Trace {
        let sums = TaskOutput::Sums.bytes_a_pixel();
        let counts = if is_adaptive { COUNTS } else { 0 };
        // A GPU without memory for post steps has one task in flight and leaves its light to the host.
        let tasks = if finish == Finish::Device { resources.gpus + usize::from(resources.has_cpu) } else { tasks };
        // Tasks, and frames that wait for post steps or are in them: the resulting light, and what a step makes of
        // it.
        pixel += (tasks + 2 * finishers) * (sums + counts) + finishers.max(1) * 2 * LIGHT;
        // Frames of several tasks have their own sums, in two halves whose difference is the noise.
        let in_rounds = scene.render.sampling.noise_limit() > 0.0 || halves;
        let open = tasks.min(2) + finishers;
        pixel += open * (counts + if in_rounds { 3 * sums } else { sums });
    }
    // Parts of a picture, which may be twice as wide.
    let parts = if post.around.is_plain() { 0 } else { 2 };
    pixel += finishers.max(1) * parts * 2 * LIGHT;
    if post.is_guided() {
        pixel += finishers.max(1) * (1 + parts) * guided::BYTES;
    }
    let (window, kept) = (Window::of(scene, post), frame_pixel(needs) - CODES);
    pixel += window.waiting_frames() * (steady::BYTES + kept);
    if !window.is_single() {
        if resources.gpus > 1 {
            let chunk = window.chunk(scene, resources.gpus, scene.output.frames as usize);
            pixel += resources.gpus * chunk * (CODES + PLANES);
        }
        pixel += finishers.max(1) * steady::BLEND_BYTES;
    }
    if device.features {
        pixel += 2 * tasks * TaskOutput::Features.bytes_a_pixel();
    }
    pixel += kept * (writers + resources.sinks + 1);
    pixel += writers * if needs.linear { WRITTEN_LIGHT } else { WRITTEN };
    pixel as u64 * u64::from(size.0) * u64::from(size.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{FilmSettings, Sampling};

    #[test]
    fn each_thing_that_is_asked_for_takes_memory() {
        let mut scene = Scene::sample();
        (scene.film, scene.camera.shutter) = (FilmSettings::default(), 0.0);
        (scene.render.width, scene.render.height) = (1 << 14, 1 << 10);
        let codes = PixelFormats::RGBA8;
        let light = PixelFormats { linear: true, ..codes };
        let layers = PixelFormats { layers: true, ..light };
        let resources = Resources { gpus: 0, has_cpu: true, threads: 2, sinks: 1 };
        let bytes = |scene: &Scene, needs, resources: &Resources| {
            with_resources(scene, needs, &Arc::new(PostPipeline::new(scene, 0.0, None, None)), resources) >> 24
        };
        // Five pictures and two files.
        assert_eq!(bytes(&scene, codes, &resources), 5 * 4 + 2 * 4);
        assert!(bytes(&scene, codes, &Resources { sinks: 2, ..resources }) > bytes(&scene, codes, &resources));
        assert!(bytes(&scene, light, &resources) > bytes(&scene, codes, &resources) + 24 + 2 * 12);
        assert!(bytes(&scene, layers, &resources) > bytes(&scene, light, &resources) + 56 + 2 * 36);
        let plain = bytes(&scene, codes, &resources);
        let changed = |change: &dyn Fn(&mut Scene)| {
            let mut scene = scene.clone();
            change(&mut scene);
            bytes(&scene, codes, &resources)
        };
        assert!(changed(&|s| s.film.bloom = 0.1) > plain + 24);
        assert!(changed(&|s| s.camera.shutter = 0.5) > plain + 2 * 24);
        assert!(changed(&|s| s.render.sampling = Sampling::UntilNoise { max: 9, noise: 1.0 }) > plain + 3 * 24);
        let gpu = Resources { gpus: 2, has_cpu: false, threads: 1, sinks: 1 };
        assert!(bytes(&scene, light, &gpu) > bytes(&scene, light, &resources));
    }
}
