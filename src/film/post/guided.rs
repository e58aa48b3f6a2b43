//! The denoiser of our own, with the same bytes on all machines: passes of a filter that is led by albedo, normal and depth of
//! the first surfaces, and by how noisy each pixel is (kernels/post/denoise.cuh). Noise is measured as the difference of two
//! halves of the samples. Surfaces with a texture are filtered without it: their light is divided by the albedo.
//! `steady` lends a frame the light of its neighbors in time before that.

use crate::film::image::{Image, Layers};
use crate::gpu_types::{DENOISE_GUIDES, DENOISE_LIGHT};
use crate::kernels::Isa;
use rayon::prelude::*;

const LIGHT: usize = DENOISE_LIGHT as usize;
const GUIDES: usize = DENOISE_GUIDES as usize;
// Distances between a pass's pixels: each pass sees twice as far.
const STEPS: [i32; 5] = [1, 2, 4, 8, 16];
// Light is divided by at least this albedo.
const DARKEST: f32 = 0.05;
/// Bytes per pixel that the filter takes: light before and after a pass, guides, and the halves.
pub const BYTES: usize = size_of::<f32>() * (2 * LIGHT + GUIDES + 2 * 3);

/// A frame's noisy light over its albedo, with what leads the filter.
#[derive(Clone)]
pub struct Noisy {
    pub width: usize,
    pub height: usize,
    /// Rows of red, green and blue, and the variance of their luminance.
    pub light: Vec<f32>,
    /// Rows of albedo, normal, 1 / distance, and its slopes across and down.
    pub guides: Vec<f32>,
}

impl Noisy {
    /// The noisy light of a frame. `halves` is the light of two halves of the samples; without them, noise is how much a pixel differs
    /// from its neighbors.
    pub fn new(image: &Image<f32>, layers: &Layers, halves: Option<&[Image<f32>; 2]>, isa: Isa) -> Noisy {
        let (width, height) = (image.width() as usize, image.height() as usize);
        let guides = guides(layers, width.max(1));
        let mut light = planes(image, layers, width.max(1));
        measure_noise(&mut light, layers, halves, width.max(1));
        let mut variance = vec![0.0; width * height];
        let rows = variance.par_chunks_mut(width.max(1)).enumerate();
        rows.for_each(|(y, row)| isa.smooth_variance((&light, &guides), (width, height), y, row));
        let rows = light.par_chunks_mut((LIGHT * width).max(1)).zip(variance.par_chunks(width.max(1)));
        rows.for_each(|(row, variance)| row[3 * width..].copy_from_slice(variance));
        Noisy { width, height, light, guides }
    }

    /// The light without noise, in the same rows.
    pub fn filtered(&self, isa: Isa) -> Vec<f32> {
        let (mut to, mut from) = (vec![0.0; self.light.len()], Vec::new());
        for (i, step) in STEPS.into_iter().enumerate() {
            let light: &[f32] = if i == 0 { &self.light } else { &from };
            let rows = to.par_chunks_mut((LIGHT * self.width).max(1)).enumerate();
            rows.for_each(|(y, row)| isa.denoise((light, &self.guides), (self.width, self.height), y, step, row));
            from.resize(to.len(), 0.0);
            std::mem::swap(&mut to, &mut from);
        }
        from
    }

    /// Writes the light without noise into the frame's image.
    pub fn clean(&self, image: &mut Image<f32>, isa: Isa) {
        let (width, light) = (self.width, self.filtered(isa));
        image.each_row(|y, row| {
            let (light, albedo) =
                (&light[LIGHT * width * y as usize..][..LIGHT * width], &self.guides[GUIDES * width * y as usize..]);
            for (x, pixel) in row.iter_mut().enumerate() {
                *pixel = [0, 1, 2].map(|c| light[c * width + x] * albedo[c * width + x].max(DARKEST));
            }
        });
    }
}

// Rows of light over the albedo, and a row of zeros below each.
fn planes(image: &Image<f32>, layers: &Layers, width: usize) -> Vec<f32> {
    let mut light = vec![0.0; image.data().len() / 3 * LIGHT];
    let rows = light.par_chunks_mut(LIGHT * width).zip(image.data().par_chunks(3 * width));
    rows.zip(layers.albedo.data().par_chunks(3 * width)).for_each(|((to, from), albedo)| {
        for x in 0..width {
            for c in 0..3 {
                to[c * width + x] = from[3 * x + c] / albedo[3 * x + c].max(DARKEST);
            }
        }
    });
    light
}

/// The luminance of column x of a row of light.
pub fn luminance(row: &[f32], width: usize, x: usize) -> f32 {
    0.2126 * row[x] + 0.7152 * row[width + x] + 0.0722 * row[2 * width + x]
}

// Sets the variance of each pixel's luminance.
fn measure_noise(light: &mut [f32], layers: &Layers, halves: Option<&[Image<f32>; 2]>, width: usize) {
    let square = |x: f32| x * x;
    let noise: Vec<f32> = match halves {
        // The mean of two halves is off by half of their difference.
        Some(halves) => {
            let [a, b] = halves.each_ref().map(|half| planes(half, layers, width));
            let off = |row: usize, x| {
                let of = |half: &[f32]| luminance(&half[row * LIGHT * width..], width, x);
                square(0.5 * (of(&a) - of(&b)))
            };
            (0..light.len() / LIGHT).into_par_iter().map(|i| off(i / width, i % width)).collect()
        }
        // The mean of four neighbors has a quarter of a pixel's variance.
        None => {
            let height = light.len() / (LIGHT * width);
            let of = |x: usize, y: usize| luminance(&light[y * LIGHT * width..], width, x);
            let off = |x: usize, y: usize| {
                let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
                let (above, below) = (y.saturating_sub(1), (y + 1).min(height - 1));
                of(x, y) - 0.25 * ((of(left, y) + of(right, y)) + (of(x, above) + of(x, below)))
            };
            (0..width * height).into_par_iter().map(|i| 0.8 * square(off(i % width, i / width))).collect()
        }
    };
    let rows = light.par_chunks_mut(LIGHT * width).zip(noise.par_chunks(width));
    rows.for_each(|(row, noise)| row[3 * width..].copy_from_slice(noise));
}

// Rows of albedo, normal, 1 / distance and its slopes.
fn guides(layers: &Layers, width: usize) -> Vec<f32> {
    let (albedo, normal, depth) = (layers.albedo.data(), layers.normal.data(), layers.depth.data());
    let height = depth.len() / width;
    let near = |x: usize, y: usize| 1.0 / depth[y * width + x].max(1e-9);
    // The smaller difference to both sides: one of them may cross an edge.
    let slope = |before: f32, here: f32, after: f32| {
        let (a, b) = (here - before, after - here);
        if a.abs() < b.abs() { a } else { b }
    };
    let mut guides = vec![0.0; GUIDES * depth.len()];
    guides.par_chunks_mut(GUIDES * width).enumerate().for_each(|(y, row)| {
        for x in 0..width {
            let at = y * width + x;
            for c in 0..3 {
                (row[c * width + x], row[(3 + c) * width + x]) = (albedo[3 * at + c], normal[3 * at + c]);
            }
            let here = near(x, y);
            let left = if x > 0 { near(x - 1, y) } else { f32::MAX };
            let right = if x + 1 < width { near(x + 1, y) } else { f32::MAX };
            let above = if y > 0 { near(x, y - 1) } else { f32::MAX };
            let below = if y + 1 < height { near(x, y + 1) } else { f32::MAX };
            row[6 * width + x] = here;
            row[7 * width + x] = if width > 1 { slope(left, here, right) } else { 0.0 };
            row[8 * width + x] = if height > 1 { slope(above, here, below) } else { 0.0 };
        }
    });
    guides
}
