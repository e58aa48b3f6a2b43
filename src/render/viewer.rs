//! Single pictures for interactive use. Size, samples and camera can change without reading files again; devices stay
//! ready, and a picture can be abandoned at once.

use super::framing::map_shown;
use super::stats::{FrameReport, FrameStats, Progress};
use super::{RenderOptions, Renderer, choose, exposure};
use crate::cancel::Cancel;
use crate::device::DeviceError;
use crate::error::Error;
use crate::film::image::Image;
use crate::kernels::Isa;
use crate::scene::Scene;
use std::sync::Arc;

impl Renderer {
    /// The same world with other render settings, such as size, samples and bounces. Files and geometry are shared.
    pub(crate) fn varied(&self, change: impl FnOnce(&mut Scene)) -> Renderer {
        let mut prepared = self.prepared.clone();
        change(&mut prepared.scene);
        if let Some(extent) = prepared.extent {
            let map = map_shown(&prepared.scene, &prepared.assets);
            extent.frame(&mut prepared.scene, map);
        }
        prepared.first = Arc::new(prepared.first.resized(&prepared.scene));
        Renderer {
            prepared,
            options: self.options.clone(),
            stops: self.stops,
            chosen: self.chosen.clone(),
            cancel: Cancel::new(),
            meter: Arc::default(),
            waiting: None,
            keeps_devices: true,
            is_bare: self.is_bare,
            uploaded: self.uploaded,
            memory_limit: self.memory_limit,
            memory: Arc::clone(&self.memory),
        }
    }

    /// The same scene at another size, and with `samples` along each side of a pixel if given. Files and geometry are
    /// shared. The pictures are those of a new renderer of that scene.
    #[must_use]
    pub fn resized(&self, width: u32, height: u32, samples: Option<u32>) -> Renderer {
        let mut other = self.varied(|scene| {
            (scene.render.width, scene.render.height) = (width, height);
            if let Some(samples) = samples {
                scene.render.set_sample_grid(samples);
            }
        });
        other.stops = exposure::set(&mut other.prepared);
        Renderer { keeps_devices: false, memory: Arc::default(), ..other }
    }

    /// The same scene on other devices, to compare them. Files, geometry and the light map are shared.
    pub(crate) fn elsewhere(&self, options: RenderOptions) -> Result<Renderer, Error> {
        let mut other = Renderer { keeps_devices: false, memory: Arc::default(), ..self.varied(|_| ()) };
        other.prepared.isa = Isa::pick(options.isa.as_deref()).map_err(DeviceError::from)?;
        (other.chosen, other.options) = (choose(&options.devices)?, options);
        Ok(other)
    }

    /// Renders one frame into memory, in RGBA, with its statistics. An abandoned frame is an error.
    pub(crate) fn watched_still(&mut self, frame: u32) -> Result<(Image<u8>, FrameStats), Error> {
        struct StatsProbe(FrameStats);
        impl Progress for StatsProbe {
            fn frame(&mut self, report: &FrameReport) {
                self.0 = report.stats;
            }
        }
        let mut probe = StatsProbe(FrameStats::default());
        Ok((self.still_watched(frame, &mut probe)?, probe.0))
    }

    pub(crate) fn device_names(&self) -> Vec<String> {
        let gpus = self.chosen.gpus.iter().map(|gpu| gpu.name.clone());
        gpus.chain(self.chosen.cpu.then(|| format!("cpu {}", self.prepared.isa.name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::FilmSlice;

    #[test]
    fn pictures_of_all_kinds_share_memory_and_nothing_else() {
        let mut scene = Scene::sample();
        (scene.render.width, scene.render.height) = (97, 61);
        scene.render.set_samples(1);
        let mut dithered = scene.clone();
        dithered.film.dither = Some(true);
        for scene in [scene, dithered] {
            let base = Renderer::new(scene.clone()).unwrap();
            let half = |scene: &mut Scene| (scene.render.width, scene.render.height) = (48, 30);
            let mut small = scene.clone();
            half(&mut small);
            let [expected, expected_small] = [scene, small].map(|s| Renderer::new(s).unwrap().still(3).unwrap());
            let (mut whole, mut smaller) = (base.varied(|_| {}), base.varied(half));
            let places = |viewer: &Renderer| {
                let memory = viewer.memory.lock().unwrap();
                let place = |slice: &FilmSlice| slice.pixels.bytes().as_ptr();
                [&memory.pictures, &memory.parts].map(|slices| slices.iter().map(place).collect::<Vec<_>>())
            };
            assert_eq!(whole.watched_still(3).unwrap().0, expected);
            let first = places(&base);
            assert!(first.iter().any(|places| !places.is_empty()));
            assert_eq!(whole.watched_still(3).unwrap().0, expected);
            assert_eq!(places(&base), first);
            assert_eq!(smaller.watched_still(3).unwrap().0, expected_small);
            assert_eq!(whole.watched_still(3).unwrap().0, expected);
        }
    }
}
