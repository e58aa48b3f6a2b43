//! `exposure = "auto"`: measures the brightness of a few small frames, rendered on the CPU before the first frame.
//! The clip has one exposure, so that it does not flicker, and the same one on every machine.

use super::prepared::PreparedScene;
use crate::device::cpu::Cpu;
use crate::device::{Memory, Task, TaskOutput};
use crate::film;
use crate::film::post::lens::luminance;
use crate::scene::{Exposure, FilmSettings, Scene};
use std::sync::Arc;

// The number of trial frames, their width in pixels, and samples per path-traced pixel.
const FRAMES: u32 = 7;
const WIDTH: u32 = 128;
const SAMPLES: u32 = 16;
// Middle gray; the light below which a pixel does not count; the maximum brightness of the 99th percentile.
const GREY: f64 = 0.18;
const DARK: f64 = 0.002;
const BRIGHT: f64 = 1.5;

/// The exposure in stops: that of the scene, or a measured one, which the scene's arrays then have.
pub fn set(prepared: &mut PreparedScene) -> f64 {
    if let Exposure::Stops(stops) = prepared.scene.film.exposure {
        return stops;
    }
    prepared.first = Arc::new(prepared.first.unexposed(&prepared.scene, &prepared.assets));
    let pool = Arc::clone(&prepared.pool);
    let stops = pool.install(|| find(prepared));
    prepared.first = Arc::new(prepared.first.exposed(&prepared.scene, &prepared.assets, stops));
    stops
}

/// The scene in a picture of at most this width.
pub fn shrunk(scene: &Scene, most: u32) -> Scene {
    let mut small = scene.clone();
    let (width, height) = (scene.render.width, scene.render.height);
    small.render.width = most.min(width);
    small.render.height =
        ((f64::from(height) * f64::from(small.render.width) / f64::from(width)).round() as u32).clamp(1, 4 * most);
    small
}

// Stops that bring the clip's mean to middle gray, or fewer if highlights would clip. Rounded to hundredths.
fn find(prepared: &PreparedScene) -> f64 {
    let (scene, isa) = (&prepared.scene, prepared.isa);
    let mut small = shrunk(scene, WIDTH);
    let samples = small.render.integrator.own(2, small.render.samples_per_pixel().min(SAMPLES));
    small.render.set_samples(samples);
    let resized = prepared.first.resized(&small);
    let mut cpu = Cpu::new(isa, Arc::clone(&prepared.pool), Arc::new(resized.clone()));
    let samples = small.render.samples_per_pixel();
    let last = scene.output.frames - 1;
    let mut light = Vec::new();
    for i in 0..FRAMES {
        let frame = (u64::from(last) * u64::from(i) / u64::from(FRAMES)) as u32;
        // An unreadable time step is skipped here. Rendering its frame reports the error.
        if let (true, Ok(assets)) = (small.is_animated(), prepared.assets.at_frame(&small, frame))
            && let Ok(here) = resized.at_time(&small.at(f64::from(frame)), &assets)
        {
            cpu.set_scene(Arc::new(here));
        }
        let mut sums = Memory::default();
        let task = Task { output: TaskOutput::Sums, ..Task::picture(&small, frame) };
        cpu.run(&task, &resized.frame_params(&small, frame), &mut sums);
        let size = (small.render.width, small.render.height);
        let image = film::resolve(size, sums.sums_and_counts(&task).0, samples, &[], isa);
        light.extend(image.data().as_chunks::<3>().0.iter().map(|p| luminance(p.map(f64::from))));
    }
    stops(light)
}

fn stops(mut light: Vec<f64>) -> f64 {
    light.sort_by(f64::total_cmp);
    let bright = light.get(light.len() * 99 / 100).copied().unwrap_or_default();
    let seen: Vec<f64> = light.into_iter().filter(|&l| l > DARK).collect();
    if seen.is_empty() {
        return 0.0;
    }
    let mean = libm::exp2(seen.iter().map(|&l| libm::log2(l)).sum::<f64>() / seen.len() as f64);
    let factor = (GREY / mean).min(BRIGHT / bright.max(1e-9));
    let stops = (libm::log2(factor) * 100.0).round() / 100.0;
    stops.clamp(-FilmSettings::MAX_STOPS, FilmSettings::MAX_STOPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_becomes_grey_unless_lamps_would_burn_out() {
        assert_eq!(stops(vec![0.18; 500]), 0.0);
        assert_eq!(stops(vec![0.045; 500]), 2.0);
        assert_eq!(stops(vec![0.0; 500]), 0.0);
        let mut lamps = vec![0.01; 450];
        lamps.extend([3.0; 50]);
        assert_eq!(stops(lamps), -1.0);
    }
}
