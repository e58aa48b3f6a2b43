//! Bloom: light that a lens scatters around its origin. It works in linear light without a threshold, so that only
//! bright lamps show it. It keeps the sum of light, except at the border, where as much light enters as leaves. The
//! scattered light is the mean of ever smaller images, each half the size of the one before and interpolated through
//! it. Its falloff is nearly the inverse square of the distance, as for glare. The pyramid is that of Jimenez, "Next
//! generation post processing in Call of Duty: Advanced Warfare", 2014; the falloff that of Spencer et al.,
//! "Physically-based glare effects for digital images", 1995.

use crate::film::image::Image;
use crate::kernels::Isa;
use rayon::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bloom {
    /// The scattered fraction of light, 0 to 1.
    pub fraction: f64,
    /// The radius of the widest halo, in picture heights.
    pub radius: f64,
}

// A level of the pyramid, in planes of three channels.
struct Level {
    width: usize,
    height: usize,
    channels: [Vec<f32>; 3],
}

impl Bloom {
    /// The maximum number of levels for a picture of this height.
    pub fn levels(&self, height: u32) -> usize {
        let reach = (self.radius * f64::from(height)).max(2.0);
        (libm::log2(reach).round() as usize).clamp(1, 12)
    }

    pub fn apply(&self, image: &mut Image<f32>, isa: Isa) {
        let fraction = self.fraction as f32;
        if fraction <= 0.0 || image.data().is_empty() {
            return;
        }
        let levels = self.levels(image.height());
        let width = image.width() as usize;
        let height = image.height() as usize;
        let pixels = Rows { values: image.data(), width, stride: 3 };
        let mut pyramid = vec![Level::halved([0, 1, 2].map(|_| pixels), height, isa)];
        while pyramid.len() < levels {
            let Some(last) = pyramid.last().filter(|l| l.width > 1 || l.height > 1) else { break };
            let channels = [0, 1, 2].map(|i| Rows { values: &last.channels[i], width: last.width, stride: 1 });
            let next = Level::halved(channels, last.height, isa);
            pyramid.push(next);
        }
        // Upwards from the coarsest level, the mean of all.
        let Some(mut glow) = pyramid.pop() else { return };
        let mut count = 1.0;
        while let Some(mut fine) = pyramid.pop() {
            let (own, rest) = (1.0 / (count + 1.0), count / (count + 1.0));
            let wide = fine.width;
            for (i, channel) in fine.channels.iter_mut().enumerate() {
                channel.par_chunks_mut(wide).enumerate().for_each_init(
                    || vec![0.0; wide],
                    |blurred, (y, row)| {
                        glow.read(i, y, isa, blurred);
                        isa.mix(row, blurred, own, rest);
                    },
                );
            }
            glow = fine;
            count += 1.0;
        }
        image.each_row(|y, row| {
            let blurred = [0, 1, 2].map(|i| {
                let mut row_of = vec![0.0; width];
                glow.read(i, y as usize, isa, &mut row_of);
                row_of
            });
            isa.mix_pixels(row, blurred.each_ref().map(Vec::as_slice), 1.0 - fraction, fraction);
        });
    }
}

// The rows of one channel, planar or interleaved.
#[derive(Clone, Copy)]
struct Rows<'a> {
    values: &'a [f32],
    width: usize,
    stride: usize,
}

impl<'a> Rows<'a> {
    fn row(&self, y: usize) -> &'a [f32] {
        let len = self.stride * self.width;
        &self.values[y * len..(y + 1) * len]
    }
}

impl Level {
    // Halves a level in both directions with the weights 1 3 3 1, first vertically. Border pixels are repeated.
    fn halved(channels: [Rows; 3], height: usize, isa: Isa) -> Level {
        let Rows { width, stride, .. } = channels[0];
        let (wide, tall) = (width.div_ceil(2), height.div_ceil(2));
        let mut out = [0, 1, 2].map(|_| vec![0.0f32; wide * tall]);
        let around = |at: usize| {
            let last = height - 1;
            [(2 * at).saturating_sub(1), (2 * at).min(last), (2 * at + 1).min(last), (2 * at + 2).min(last)]
        };
        let [r, g, b] = out.each_mut().map(|channel| channel.par_chunks_mut(wide));
        r.zip(g).zip(b).enumerate().for_each_init(
            || vec![0.0; stride * width],
            |column, (y, ((r, g), b))| {
                for (i, out) in [r, g, b].into_iter().enumerate() {
                    if stride == 1 || i == 0 {
                        isa.downsample_rows(around(y).map(|y| channels[i].row(y)), column);
                    }
                    isa.downsample_columns(&column[i % stride..], width, stride, out);
                }
            },
        );
        Level { width: wide, height: tall, channels: out }
    }

    // Interpolates row `y` of the next finer level linearly between four values of this one. The center of a finer
    // pixel lies a quarter of a pixel before or after that of a coarser one.
    fn read(&self, channel: usize, y: usize, isa: Isa, out: &mut [f32]) {
        let near = (y / 2).min(self.height - 1);
        let other = if y.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(self.height - 1) };
        let row = |y: usize| &self.channels[channel][y * self.width..(y + 1) * self.width];
        isa.upsample(row(near), row(other), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, of: impl Fn(u32, u32) -> f32) -> Image<f32> {
        let data = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).flat_map(|(x, y)| [of(x, y); 3]);
        Image::new(width, height, 3, data.collect())
    }
    fn total(image: &Image<f32>) -> f64 {
        image.data().iter().map(|&x| f64::from(x)).sum()
    }

    #[test]
    fn light_is_scattered_and_kept() {
        // A lamp in the dark, at even and odd positions of even and odd pictures.
        for (w, h, x, y) in [(256, 256, 128, 128), (255, 193, 127, 96), (320, 180, 161, 90)] {
            let mut lit = image(w, h, |i, j| if (i, j) == (x, y) { 1000.0 } else { 0.0 });
            let before = total(&lit);
            Bloom { fraction: 0.3, radius: 0.1 }.apply(&mut lit, Isa::pick(None).unwrap());
            assert!((total(&lit) / before - 1.0).abs() < 0.01, "{} of {before}", total(&lit));
            let middle = lit.pixel(x, y)[0];
            assert!(middle > 700.0 && middle < 800.0, "{middle}");
            // Light falls with distance and is nowhere zero within the radius.
            let along: Vec<f32> = [2, 5, 10, 15].map(|d| lit.pixel(x + d, y)[0]).to_vec();
            assert!(along.windows(2).all(|p| p[0] > p[1]) && along[3] > 0.0, "{along:?}");
        }
    }

    #[test]
    fn an_even_picture_stays_as_it_is() {
        for (w, h) in [(64, 48), (65, 47), (3, 2), (1, 1), (1, 9)] {
            let mut even = image(w, h, |_, _| 0.5);
            Bloom { fraction: 1.0, radius: 0.3 }.apply(&mut even, Isa::pick(None).unwrap());
            assert!(even.data().iter().all(|x| (x - 0.5).abs() < 1e-5), "{w} x {h}");
        }
    }

    #[test]
    fn a_wider_radius_scatters_farther() {
        let far = |radius| {
            let mut lit = image(200, 200, |i, j| if (i, j) == (100, 100) { 1000.0 } else { 0.0 });
            Bloom { fraction: 0.5, radius }.apply(&mut lit, Isa::pick(None).unwrap());
            lit.pixel(150, 100)[0]
        };
        assert!(far(0.4) > far(0.1) && far(0.02) < far(0.1) + 1e-6);
    }
}
