//! From a frame's mean light to its picture: the post steps, the tone curve, eight bits.

use crate::device_scene::HostScene;
use crate::film::PostStep;
use crate::film::bloom::Bloom;
use crate::film::image::Image;
use crate::film::lens::{Gain, Grain, Vignette};
use crate::kernels::Isa;
use crate::scene::{Exposure, FilmSettings, Scene, Tone};
use rayon::prelude::*;

/// How a frame is developed.
pub struct PostPipeline<'a> {
    /// What is done in linear light, in this order.
    pub post: &'a [Box<dyn PostStep>],
    /// The curve afterwards.
    pub tone: Tone,
    /// Whether the last step, to eight bits, is dithered.
    pub dither: bool,
    /// Whose kernels do the last step.
    pub isa: Isa,
    /// The scene that holds their tables.
    pub scene: &'a HostScene<'a>,
    /// Number of the frame.
    pub frame: u32,
}

impl PostPipeline<'_> {
    /// Takes mean light through the post steps, which change the image, and gives the picture: RGBA, a word a pixel. With the share of
    /// each pixel that is covered its colours are those of what covers it, and alpha is that share (straight alpha).
    pub fn picture(&self, image: &mut Image<f32>, coverage: Option<&mut Image<f32>>, rgba: &mut [u32]) {
        self.post.iter().for_each(|step| step.apply(image, self.frame, self.isa));
        let Some(coverage) = coverage else { return self.tone(image, rgba) };
        self.post.iter().for_each(|step| step.cover(coverage));
        let mut straight = image.clone();
        let pixels = straight.data_mut().as_chunks_mut::<3>().0.par_iter_mut().zip(coverage.data());
        pixels.filter(|(_, share)| **share > 0.0).for_each(|(pixel, share)| *pixel = pixel.map(|x| x / share));
        self.tone(&straight, rgba);
        let codes = rgba.par_iter_mut().zip(coverage.data());
        codes.for_each(|(code, share)| {
            let alpha = (share * 255.0).round() as u32;
            // What nothing covers is black: its light is bloom's at most.
            *code = if alpha == 0 { 0 } else { *code & 0x00ff_ffff | alpha << 24 };
        });
    }

    // Through the tone curve, opaque.
    fn tone(&self, image: &Image<f32>, rgba: &mut [u32]) {
        let width = image.width().max(1) as usize;
        // The sequence's second step, and another one from frame to frame.
        let number = |y: usize| (y as u32).wrapping_mul(0x91e1_0da5).wrapping_add(self.frame.wrapping_mul(0x9e37_79b9));
        let rows = rgba.par_chunks_mut(width).zip(image.data().par_chunks(3 * width)).enumerate();
        rows.for_each_init(
            || vec![0.0; 3 * width],
            |shown, (y, (codes, light))| {
                let dither = self.dither.then(|| number(y).cast_signed());
                let light = if self.isa.curve(self.tone, light, shown) { shown } else { light };
                self.isa.tone_map(self.scene, light, dither, codes);
            },
        );
    }
}

/// Whether a scene may ask for steps, told before its exposure and its particles are known.
pub fn may_have_steps(scene: &Scene) -> bool {
    let has_legend = scene.world.particles.as_ref().is_some_and(|p| p.legend);
    has_legend
        || match scene.film.exposure {
            Exposure::Auto => true,
            Exposure::Stops(stops) => !steps(&scene.film, stops).is_empty(),
        }
}

/// The steps that a film asks for; none for a plain one. `stops`: its exposure.
pub fn steps(film: &FilmSettings, stops: f64) -> Vec<Box<dyn PostStep>> {
    let mut steps: Vec<Box<dyn PostStep>> = Vec::new();
    let gain = Gain::new(stops, film.white_balance);
    if !gain.is_none() {
        steps.push(Box::new(gain));
    }
    if film.bloom > 0.0 {
        steps.push(Box::new(Bloom { share: film.bloom, radius: film.bloom_radius }));
    }
    if film.vignette > 0.0 {
        steps.push(Box::new(Vignette(film.vignette)));
    }
    if film.grain > 0.0 {
        steps.push(Box::new(Grain(film.grain)));
    }
    steps
}
