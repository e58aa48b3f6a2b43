//! Bloom: light that a lens scatters around its origin. It works in linear light without a threshold, so that only
//! bright lamps show it. It keeps the sum of light, except at the border, where as much light enters as leaves. The
//! scattered light is the mean of ever smaller images, each half the size of the one before and interpolated through
//! it. Its falloff is nearly the inverse square of the distance, as for glare. The pyramid is that of Jimenez, "Next
//! generation post processing in Call of Duty: Advanced Warfare", 2014; the falloff that of Spencer et al.,
//! "Physically-based glare effects for digital images", 1995.

use super::pyramid::pyramid;
use crate::film::image::Image;
use crate::kernels::Isa;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bloom {
    /// The scattered fraction of light, 0 to 1.
    pub fraction: f64,
    /// The radius of the widest halo, in picture heights.
    pub radius: f64,
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
        let mut levels = pyramid(image, self.levels(image.height()), isa);
        // Upwards from the coarsest level, the mean of all.
        let Some(mut glow) = levels.pop() else { return };
        let mut count = 1.0;
        while let Some(mut fine) = levels.pop() {
            glow.mix_into(&mut fine, 1.0 / (count + 1.0), count / (count + 1.0), isa);
            glow = fine;
            count += 1.0;
        }
        glow.mix_into_picture(image, 1.0 - fraction, fraction, isa);
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
