//! From a frame's mean light to its picture: the post steps, the tone curve, eight bits.

use crate::device_scene::HostScene;
use crate::film::PostStep;
use crate::film::bloom::Bloom;
use crate::film::image::Image;
use crate::film::lens::{Gain, Grain, Vignette};
use crate::kernels::Isa;
use crate::scene::{FilmSettings, Tone};
use rayon::prelude::*;

/// How a frame is developed.
pub struct Development<'a> {
    /// What is done in linear light, in this order.
    pub post: &'a [Box<dyn PostStep>],
    /// The curve afterwards.
    pub tone: Tone,
    /// Whose kernels do the last step.
    pub isa: Isa,
    /// The scene that holds their tables.
    pub scene: &'a HostScene<'a>,
    /// Number of the frame.
    pub frame: u32,
}

impl Development<'_> {
    /// Takes mean light through the post steps, which change the image, and gives the picture: RGBA, a word a pixel.
    pub fn picture(&self, image: &mut Image<f32>) -> Vec<u32> {
        self.post.iter().for_each(|step| step.apply(image, self.frame));
        let width = image.width().max(1) as usize;
        let mut rgba = vec![0u32; image.data().len() / 3];
        rgba.par_chunks_mut(width).zip(image.data().par_chunks(3 * width)).for_each(|(codes, light)| {
            if self.tone.knee().is_some() {
                self.isa.tone_map(self.scene, light, codes);
            } else {
                let shown = light.as_chunks::<3>().0.iter().flat_map(|p| self.tone.shown(p.map(f64::from)));
                self.isa.tone_map(self.scene, &shown.map(|x| x as f32).collect::<Vec<_>>(), codes);
            }
        });
        rgba
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
