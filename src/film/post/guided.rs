//! The built-in denoiser, with the same bytes on all machines: passes of a filter that is led by albedo, normal and depth of
//! the surfaces that are seen, and by how noisy each pixel is (kernels/post/denoise.cuh). Noise is measured as the difference of two
//! halves of the samples. What a pixel takes of another one's light, the other one loses: the picture keeps its light. Surfaces with a texture are filtered without it: their light is divided by the albedo.
//! `steady` adds the light of neighbor frames before that.

use super::around::EyeImage;
use crate::film::Film;
use crate::film::image::Image;
use crate::kernels::Isa;
use crate::kernels::denoise::{GUIDES, LIGHT};
use rayon::prelude::*;

/// Distances between a pass's pixels: each pass sees twice as far.
pub const STEPS: [i32; 5] = [1, 2, 4, 8, 16];
/// Bytes per pixel that the filter takes: light before, between and after passes, guides, and sums of weights.
pub const BYTES: usize = size_of::<f32>() * (3 * LIGHT + GUIDES + 1);

/// A frame's noisy light over its albedo, with what leads the filter.
#[derive(Clone)]
pub struct Noisy {
    pub width: usize,
    pub height: usize,
    /// Rows of red, green and blue, and the variance of their luminance.
    pub light: Vec<f32>,
    /// Rows of albedo, normal, 1 / distance, its slopes across and down, and the number of the body.
    pub guides: Vec<f32>,
}

impl Noisy {
    /// The noisy light of a film that has features. Without halves, noise is how much a pixel differs from its neighbors.
    pub fn of(film: &Film, isa: Isa) -> Noisy {
        let (width, height) = film.size();
        let (width, height) = (width as usize, height as usize);
        let ((features, samples), sums) = (film.features(), film.sums());
        let picture = |channels: usize| vec![0.0; channels * width * height];
        let (mut guides, mut light, mut next) = (picture(GUIDES), picture(LIGHT), picture(LIGHT));
        let rows = guides.par_chunks_mut((GUIDES * width).max(1)).enumerate();
        rows.for_each(|(y, row)| isa.denoise_guides(features, samples, (width, height), y, row));
        let rows = light.par_chunks_mut((LIGHT * width).max(1)).zip(guides.par_chunks((GUIDES * width).max(1)));
        rows.enumerate().for_each(|(y, (row, guides))| isa.denoise_light(&sums, guides, y, row));
        if sums.halves[1].0.is_empty() {
            let rows = next.par_chunks_mut((LIGHT * width).max(1)).enumerate();
            rows.for_each(|(y, row)| isa.denoise_noise(&light, (width, height), y, row));
            std::mem::swap(&mut light, &mut next);
        }
        let rows = next.par_chunks_mut((LIGHT * width).max(1)).enumerate();
        rows.for_each(|(y, row)| isa.smooth_variance(&light, &guides, (width, height), y, row));
        Noisy { width, height, light: next, guides }
    }

    /// The light without noise, in the same rows.
    pub fn filtered(&self, isa: Isa) -> Vec<f32> {
        let (mut to, mut from) = (vec![0.0; self.light.len()], Vec::new());
        let (mut weighed, size) = (vec![0.0; self.light.len() / LIGHT], (self.width, self.height));
        for (i, step) in STEPS.into_iter().enumerate() {
            let (light, guides): (&[f32], _) = (if i == 0 { &self.light } else { &from }, &*self.guides);
            let rows = weighed.par_chunks_mut(self.width.max(1)).enumerate();
            rows.for_each(|(y, row)| isa.denoise_weigh((light, guides), size, y, step, row));
            let rows = to.par_chunks_mut((LIGHT * self.width).max(1)).enumerate();
            rows.for_each(|(y, row)| isa.denoise([light, guides, &weighed], size, y, step, row));
            from.resize(to.len(), 0.0);
            std::mem::swap(&mut to, &mut from);
        }
        from
    }

    /// A part of the frame.
    pub fn cut(&self, part: &EyeImage) -> Noisy {
        let (width, height) = part.size();
        let [light, guides] = [(&self.light, LIGHT), (&self.guides, GUIDES)]
            .map(|(values, channels)| part.cut(values, self.width, channels));
        Noisy { width, height, light, guides }
    }

    /// The image without noise.
    pub fn clean(&self, isa: Isa) -> Image<f32> {
        let (width, light) = (self.width, self.filtered(isa));
        let mut image = Image::new(width as u32, self.height as u32, 3, vec![0.0; 3 * width * self.height]);
        image.each_row(|y, row| {
            let part = |of: usize| of * width * y as usize..of * width * (y as usize + 1);
            isa.denoise_clean(&light[part(LIGHT)], &self.guides[part(GUIDES)], row);
        });
        image
    }
}
