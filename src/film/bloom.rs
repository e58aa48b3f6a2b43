//! Bloom: the share of light that a lens scatters around its place. In linear light and without a threshold, so that
//! bright lamps glow and nothing else shows it; no light is made or lost, but at the rim, where as much comes in as goes out.
//!
//! The scattered light is the mean of the image seen ever more coarsely: a pyramid of halves, each read through the one
//! above it, which falls off as glare does, nearly with the square of the distance (Jimenez, "Next generation post processing
//! in Call of Duty: Advanced Warfare", 2014, has the pyramid; Spencer et al., "Physically-based glare effects for digital
//! images", 1995, the falloff).

use super::PostStep;
use super::image::Image;
use super::lens::each_row;
use rayon::prelude::*;

/// Bloom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bloom {
    /// Share of the light, 0 to 1.
    pub share: f64,
    /// How far the widest halo reaches, in picture heights.
    pub radius: f64,
}

type Pixel = [f32; 3];

// One step of the pyramid.
struct Level {
    width: usize,
    height: usize,
    pixels: Vec<Pixel>,
}

impl PostStep for Bloom {
    fn apply(&self, image: &mut Image<f32>, _frame: u32) {
        let share = self.share as f32;
        if share <= 0.0 || image.data().is_empty() {
            return;
        }
        let reach = (self.radius * f64::from(image.height())).max(2.0);
        let levels = (libm::log2(reach).round() as usize).clamp(1, 12);
        let width = image.width() as usize;
        let height = image.height() as usize;
        let mut pyramid = vec![halved(image.data().as_chunks::<3>().0, width, height)];
        while pyramid.len() < levels {
            let Some(last) = pyramid.last().filter(|l| l.width > 1 || l.height > 1) else { break };
            let next = halved(&last.pixels, last.width, last.height);
            pyramid.push(next);
        }
        // From the coarsest up, the mean of all.
        let Some(mut glow) = pyramid.pop() else { return };
        let mut count = 1.0;
        while let Some(mut fine) = pyramid.pop() {
            let (own, rest) = (1.0 / (count + 1.0), count / (count + 1.0));
            let wide = fine.width;
            fine.pixels.par_chunks_mut(wide).enumerate().for_each(|(y, row)| {
                for (x, p) in row.iter_mut().enumerate() {
                    let blurred = glow.read(x, y);
                    *p = [0, 1, 2].map(|i| p[i] * own + blurred[i] * rest);
                }
            });
            glow = fine;
            count += 1.0;
        }
        each_row(image, |y, row| {
            for (x, p) in row.iter_mut().enumerate() {
                let blurred = glow.read(x, y as usize);
                *p = [0, 1, 2].map(|i| p[i] * (1.0 - share) + blurred[i] * share);
            }
        });
    }
}

impl Level {
    // At a pixel of the finer level, straight between four of this one.
    fn read(&self, x: usize, y: usize) -> Pixel {
        // The finer pixel's centre lies a quarter before or behind this one's.
        let pair = |at: usize, len: usize| {
            let own = (at / 2).min(len - 1);
            let other = if at.is_multiple_of(2) { own.saturating_sub(1) } else { (own + 1).min(len - 1) };
            (own, other)
        };
        let ((x0, x1), (y0, y1)) = (pair(x, self.width), pair(y, self.height));
        let at = |x: usize, y: usize| &self.pixels[y * self.width + x];
        let (a, b, c, d) = (at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1));
        [0, 1, 2].map(|i| a[i] * 0.5625 + b[i] * 0.1875 + c[i] * 0.1875 + d[i] * 0.0625)
    }
}

// Half as large, by the weights 1 3 3 1 both ways; the rim goes on as it is.
fn halved(pixels: &[Pixel], width: usize, height: usize) -> Level {
    let (wide, tall) = (width.div_ceil(2), height.div_ceil(2));
    let mut out = vec![[0.0; 3]; wide * tall];
    let around = |at: usize, len: usize| {
        let last = len - 1;
        [(2 * at).saturating_sub(1), (2 * at).min(last), (2 * at + 1).min(last), (2 * at + 2).min(last)]
    };
    let mean = |at: [&Pixel; 4]| [0, 1, 2].map(|i| (at[0][i] + at[3][i]) * 0.125 + (at[1][i] + at[2][i]) * 0.375);
    out.par_chunks_mut(wide).enumerate().for_each(|(y, row)| {
        let rows = around(y, height);
        // Down first, then across.
        let columns: Vec<Pixel> = (0..width).map(|x| mean(rows.map(|r| &pixels[r * width + x]))).collect();
        for (x, p) in row.iter_mut().enumerate() {
            *p = mean(around(x, width).map(|c| &columns[c]));
        }
    });
    Level { width: wide, height: tall, pixels: out }
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
        // A lamp in the middle of the dark, on even and odd places of even and odd pictures.
        for (w, h, x, y) in [(256, 256, 128, 128), (255, 193, 127, 96), (320, 180, 161, 90)] {
            let mut lit = image(w, h, |i, j| if (i, j) == (x, y) { 1000.0 } else { 0.0 });
            let before = total(&lit);
            Bloom { share: 0.3, radius: 0.1 }.apply(&mut lit, 0);
            assert!((total(&lit) / before - 1.0).abs() < 0.01, "{} of {before}", total(&lit));
            let middle = lit.pixel(x, y)[0];
            assert!(middle > 700.0 && middle < 800.0, "{middle}");
            // Dimmer the farther, and nowhere dark within reach.
            let along: Vec<f32> = [2, 5, 10, 15].map(|d| lit.pixel(x + d, y)[0]).to_vec();
            assert!(along.windows(2).all(|p| p[0] > p[1]) && along[3] > 0.0, "{along:?}");
        }
    }

    #[test]
    fn an_even_picture_stays_as_it_is() {
        for (w, h) in [(64, 48), (65, 47), (3, 2), (1, 1), (1, 9)] {
            let mut even = image(w, h, |_, _| 0.5);
            Bloom { share: 1.0, radius: 0.3 }.apply(&mut even, 0);
            assert!(even.data().iter().all(|x| (x - 0.5).abs() < 1e-5), "{w} x {h}");
        }
    }

    #[test]
    fn a_wider_radius_scatters_farther() {
        let far = |radius| {
            let mut lit = image(200, 200, |i, j| if (i, j) == (100, 100) { 1000.0 } else { 0.0 });
            Bloom { share: 0.5, radius }.apply(&mut lit, 0);
            lit.pixel(150, 100)[0]
        };
        assert!(far(0.4) > far(0.1) && far(0.02) < far(0.1) + 1e-6);
    }
}
