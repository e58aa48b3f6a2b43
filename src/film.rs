//! The film: tasks add sums of light to it, and it becomes a linear image.

pub mod furniture;
pub mod image;
pub mod post;

use crate::gpu_types::{FIXED_ONE, Features};
use crate::kernels::Isa;
use crate::kernels::denoise::FilmSums;
use image::{Image, Layers};
use rayon::prelude::*;

// The number of sums that a thread processes at once.
const CHUNK: usize = 1 << 14;

/// The light of one frame while its tasks arrive. If noise is measured, two halves of the samples are kept apart.
pub struct Film {
    width: u32,
    height: u32,
    // Three sums per pixel. The second half is empty if noise is not measured.
    halves: [Vec<i64>; 2],
    samples: [u32; 2],
    // The sample counts of the first half's pixels if they differ; else empty.
    taken: Vec<u32>,
    features: Vec<Features>,
    feature_samples: u32,
}

impl Film {
    pub fn new(width: u32, height: u32) -> Film {
        Film {
            width,
            height,
            halves: [Vec::new(), Vec::new()],
            samples: [0; 2],
            taken: Vec::new(),
            features: Vec::new(),
            feature_samples: 0,
        }
    }
    /// Samples per pixel so far, by half.
    pub fn samples(&self) -> [u32; 2] {
        self.samples
    }
    /// Registers `count` samples per pixel that will be added to a half.
    pub fn expect(&mut self, half: usize, count: u32) {
        self.samples[half] += count;
    }
    /// Registers samples that will be added to the features.
    pub fn expect_features(&mut self, count: u32) {
        self.feature_samples = count;
        if self.features.is_empty() {
            self.features = bytemuck::zeroed_vec(self.pixels());
        }
    }
    fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }
    /// Adds the sums of some rows, from row `top` on.
    pub fn add(&mut self, half: usize, top: u32, sums: &[i64]) {
        let (all, at) = (3 * self.pixels(), 3 * self.width as usize * top as usize);
        if self.halves[half].is_empty() {
            self.halves[half] = vec![0; all];
        }
        let rows = self.halves[half][at..at + sums.len()].par_chunks_mut(CHUNK).zip(sums.par_chunks(CHUNK));
        rows.for_each(|(to, sums)| to.iter_mut().zip(sums).for_each(|(to, x)| *to += x));
    }
    /// Sets the sample counts of the first half for some rows, from row `top` on.
    pub fn add_counts(&mut self, top: u32, taken: &[u32]) {
        let at = self.width as usize * top as usize;
        self.taken.resize(self.pixels(), 0);
        self.taken[at..at + taken.len()].copy_from_slice(taken);
    }
    /// Adds the features of some rows, from row `top` on, from a device's bytes.
    pub fn add_features(&mut self, top: u32, bytes: &[u8]) {
        let at = self.width as usize * top as usize;
        let rows: &[Features] = bytemuck::cast_slice(bytes);
        let to = self.features[at..at + rows.len()].par_chunks_mut(CHUNK);
        to.zip(rows.par_chunks(CHUNK)).for_each(|(to, rows)| to.copy_from_slice(rows));
    }
    /// The mean light of all samples.
    pub fn resolve(&self, isa: Isa) -> Image<f32> {
        let [a, b] = &self.halves;
        if b.is_empty() {
            return self.resolve_whole(a, isa);
        }
        let both: Vec<i64> = a.par_iter().zip(b).with_min_len(CHUNK).map(|(x, y)| x + y).collect();
        self.resolve_whole(&both, isa)
    }
    /// The mean light of sums that lie outside the film.
    pub fn resolve_whole(&self, sums: &[i64], isa: Isa) -> Image<f32> {
        resolve((self.width, self.height), sums, self.samples[0] + self.samples[1], &self.taken, isa)
    }
    /// The mean light of one half of the samples.
    pub fn resolve_half(&self, half: usize) -> Image<f32> {
        let scale = mean_scale(self.samples[half]);
        Image::new(self.width, self.height, 3, self.halves[half].iter().map(|&x| x as f32 * scale).collect())
    }
    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }
    /// The features of all pixels, as sums over this many samples.
    pub fn features(&self) -> (&[Features], u32) {
        (&self.features, self.feature_samples)
    }
    /// The sums of light.
    pub fn sums(&self) -> FilmSums<'_> {
        let [first, second] = [0, 1].map(|half| (&self.halves[half][..], self.samples[half]));
        FilmSums { halves: [first, second], taken: &self.taken }
    }
    /// The layers, if features have been added.
    pub fn layers(&self) -> Option<Layers> {
        (!self.features.is_empty()).then_some(())?;
        let scale = mean_scale(self.feature_samples);
        let three = |of: fn(&Features) -> [i64; 3]| {
            let values = self.features.iter().flat_map(|f| of(f).map(|x| x as f32 * scale)).collect();
            Image::new(self.width, self.height, 3, values)
        };
        let one = |of: &dyn Fn(&Features) -> f32| {
            Image::new(self.width, self.height, 1, self.features.iter().map(of).collect())
        };
        let share = 1.0 / self.feature_samples.max(1) as f32;
        let samples = (self.samples[0] + self.samples[1]) as f32;
        let samples = match self.taken.is_empty() {
            true => one(&|_| samples),
            false => Image::new(self.width, self.height, 1, self.taken.iter().map(|&n| n as f32).collect()),
        };
        Some(Layers {
            albedo: three(|f| f.albedo),
            normal: three(|f| f.normal),
            depth: one(&|f| if f.hits == 0 { f32::INFINITY } else { f32::from_bits(f.depth) }),
            coverage: one(&|f| f.hits as f32 * share),
            samples,
        })
    }
}

/// The mean light of sums, with `samples` per pixel, or with the counts in `taken` if that is not empty.
///
/// # Panics
/// There are not three sums for each pixel.
pub fn resolve((width, height): (u32, u32), sums: &[i64], samples: u32, taken: &[u32], isa: Isa) -> Image<f32> {
    assert_eq!(sums.len(), 3 * width as usize * height as usize, "a frame has three sums for each pixel");
    let mut light = vec![0.0; sums.len()];
    if taken.is_empty() {
        let scale = mean_scale(samples);
        let pieces = light.par_chunks_mut(CHUNK).zip(sums.par_chunks(CHUNK));
        pieces.for_each(|(light, sums)| isa.mean(sums, scale, light));
    } else {
        let pixels = light.par_chunks_exact_mut(3).zip(sums.par_chunks_exact(3)).zip(taken).with_min_len(CHUNK);
        pixels.for_each(|((light, sums), &taken)| isa.mean(sums, mean_scale(taken), light));
    }
    Image::new(width, height, 3, light)
}

// The same as in kernels/film.cuh.
fn mean_scale(samples: u32) -> f32 {
    1.0 / (FIXED_ONE * samples as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_add_up() {
        let mut film = Film::new(2, 2);
        film.expect(0, 3);
        film.expect(1, 1);
        let one = FIXED_ONE as i64;
        film.add(0, 0, &[one; 6]);
        film.add(0, 1, &[2 * one; 6]);
        film.add(1, 0, &[one; 12]);
        let image = film.resolve(Isa::pick(None).unwrap());
        assert_eq!(image.data()[..3], [0.5; 3]);
        assert_eq!(image.data()[6..9], [0.75; 3]);
        assert_eq!(film.resolve_half(1).data()[0], 1.0);
        assert!(film.layers().is_none());
    }
}
