//! What two pictures of one size differ by.

use super::filter::rows_with_margin;
use super::{flip, ssim};
use crate::output::formats::Shown;
use crate::output::opaque::over_black;
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;

// Rows that one thread measures at once. Their planes fit the cache, and the margins are a small part of them.
const BAND: usize = 48;

/// Sums over pixels, which add up over bands and frames.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    /// The largest difference of a channel, codes.
    pub largest: u8,
    /// Pixels that differ.
    pub differing: u64,
    /// The first of them, from the top left.
    pub first: Option<(usize, usize)>,
    pixels: u64,
    // Channels that are compared, their absolute differences and the squares of these.
    channels: u64,
    absolute: u64,
    squares: u64,
    // Windows of the structural similarity, and their indices.
    windows: u64,
    ssim: f64,
    flip: f64,
}

/// The figures of a pair of pictures, or of all pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// The largest difference of a channel, codes.
    pub largest: u8,
    /// The mean absolute difference of the channels, codes.
    pub mean: f64,
    /// Pixels that differ.
    pub differing: u64,
    pub pixels: u64,
    /// Peak signal-to-noise ratio, dB. None where nothing differs: it is infinite.
    pub psnr: Option<f64>,
    pub ssim: f64,
    pub flip: f64,
}

impl Measures {
    /// Compares two pictures of one size. Works on the threads of the current pool.
    pub fn of(a: &Shown, b: &Shown) -> Measures {
        let height = a.size.1 as usize;
        let has_alpha = [a, b].iter().any(|picture| pixels(picture).iter().any(|pixel| pixel[3] < 255));
        let band = |i: usize| band(a, b, i * BAND..height.min((i + 1) * BAND), has_alpha);
        let bands: Vec<Measures> = (0..height.div_ceil(BAND)).into_par_iter().map(band).collect();
        // In the order of the bands, so that the sums are the same on every machine.
        bands.iter().fold(Measures::default(), |mut sum, band| {
            sum.add(band);
            sum
        })
    }

    /// Adds the measures of other pixels.
    pub fn add(&mut self, other: &Measures) {
        self.largest = self.largest.max(other.largest);
        self.first = self.first.or(other.first);
        self.differing += other.differing;
        self.pixels += other.pixels;
        self.channels += other.channels;
        self.absolute += other.absolute;
        self.squares += other.squares;
        self.windows += other.windows;
        self.ssim += other.ssim;
        self.flip += other.flip;
    }

    /// The mean square of the channels' differences.
    pub fn mean_square(&self) -> f64 {
        self.squares as f64 / self.channels.max(1) as f64
    }

    pub fn figures(&self) -> Figures {
        Figures {
            largest: self.largest,
            mean: self.absolute as f64 / self.channels.max(1) as f64,
            differing: self.differing,
            pixels: self.pixels,
            psnr: (self.squares > 0).then(|| 10.0 * libm::log10(255.0 * 255.0 / self.mean_square())),
            ssim: self.ssim / self.windows.max(1) as f64,
            flip: self.flip / self.pixels.max(1) as f64,
        }
    }
}

fn pixels(picture: &Shown) -> &[[u8; 4]] {
    picture.rgba.as_chunks::<4>().0
}

fn band(a: &Shown, b: &Shown, rows: Range<usize>, has_alpha: bool) -> Measures {
    let (width, height) = (a.size.0 as usize, a.size.1 as usize);
    let mut sums = Measures::default();
    let (all_a, all_b) = (pixels(a), pixels(b));
    let compared = if has_alpha { 4 } else { 3 };
    for at in rows.start * width..rows.end * width {
        let (a, b) = (&all_a[at][..compared], &all_b[at][..compared]);
        sums.channels += compared as u64;
        if a != b {
            sums.differing += 1;
            sums.first = sums.first.or(Some((at % width, at / width)));
            for difference in a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)) {
                sums.largest = sums.largest.max(difference);
                sums.absolute += u64::from(difference);
                sums.squares += u64::from(difference) * u64::from(difference);
            }
        }
    }
    sums.pixels = (rows.len() * width) as u64;
    // Windows that reach over the border do not count, unless the picture is smaller than a window.
    let border =
        |side: usize| if width.min(height) > 2 * ssim::RADIUS { ssim::RADIUS..side - ssim::RADIUS } else { 0..side };
    let (inner_x, inner_y) = (border(width), border(height));
    let counted = rows.start.max(inner_y.start)..rows.end.min(inner_y.end);
    sums.windows = (counted.len() * inner_x.len()) as u64;
    // With their margins, equal bands have no difference.
    let is_equal = |row: usize| all_a[row * width..][..width] == all_b[row * width..][..width];
    if rows_with_margin(&rows, height).all(is_equal) {
        sums.ssim = sums.windows as f64;
        return sums;
    }
    let [codes_a, codes_b] = [all_a, all_b].map(|pixels| -> Vec<[u8; 3]> {
        let row = |row: usize| pixels[row * width..][..width].iter().map(|&pixel| over_black(pixel));
        rows_with_margin(&rows, height).flat_map(row).collect()
    });
    let [luma_a, luma_b] =
        [&codes_a, &codes_b].map(|codes| codes.iter().map(|&code| ssim::luma(code)).collect::<Vec<_>>());
    let similarity = ssim::similarity(width, &luma_a, &luma_b);
    sums.ssim = counted.flat_map(|y| &similarity[(y - rows.start) * width..][inner_x.clone()]).sum();
    sums.flip = flip::difference(width, &codes_a, &codes_b).into_iter().map(f64::from).sum();
    sums
}

/// The absolute differences of two pictures as a picture, amplified, and the factor. Differences of alpha are gray.
pub fn difference_picture(a: &Shown, b: &Shown) -> (Vec<u8>, u8) {
    // The mean brightness of pixels that differ, at least.
    const VISIBLE: u64 = 64;
    let difference = |(a, b): (&[u8; 4], &[u8; 4])| {
        let [red, green, blue, alpha] = [0, 1, 2, 3].map(|c| a[c].abs_diff(b[c]));
        [red, green, blue].map(|c| c.max(alpha))
    };
    let differences: Vec<[u8; 3]> = pixels(a).iter().zip(pixels(b)).map(difference).collect();
    let brightest = differences.iter().map(|pixel| pixel.iter().max().copied().unwrap_or_default()).filter(|&c| c > 0);
    let (count, sum, largest) = brightest
        .fold((0_u64, 0_u64, 1_u8), |(count, sum, largest), c| (count + 1, sum + u64::from(c), largest.max(c)));
    // Few large differences must not hide many small ones: they may saturate.
    let visible = (VISIBLE * count).checked_div(sum).unwrap_or(1);
    let factor = u8::try_from(visible).unwrap_or(u8::MAX).max(255 / largest);
    let amplified = |[red, green, blue]: [u8; 3]| {
        let [red, green, blue] = [red, green, blue].map(|c| c.saturating_mul(factor));
        [red, green, blue, 255]
    };
    (differences.into_iter().flat_map(amplified).collect(), factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture((width, height): (u32, u32), colour: impl Fn(usize, usize) -> [u8; 3]) -> Shown {
        let pixel = |at: usize| {
            let [r, g, b] = colour(at % width as usize, at / width as usize);
            [r, g, b, 255]
        };
        Shown { size: (width, height), rgba: (0..(width * height) as usize).flat_map(pixel).collect() }
    }

    // Textured, and the same with noise.
    fn texture(x: usize, y: usize) -> [u8; 3] {
        [x * 9 + y * 3, x * x + 5 * y, x * y * 2 + 40].map(|c| (c % 256) as u8)
    }
    fn noisy(x: usize, y: usize, noise: impl Fn(i32) -> i32) -> [u8; 3] {
        let code = texture(x, y).map(i32::from);
        [0, 1, 2].map(|c| (code[c] + noise((x * 31 + y * 17 + c * 7) as i32)).clamp(0, 255) as u8)
    }

    fn figures(a: &Shown, b: &Shown) -> Figures {
        Measures::of(a, b).figures()
    }
    fn assert_near(got: f64, expected: f64, tolerance: f64) {
        assert!((got - expected).abs() < tolerance, "{got}, expected {expected}");
    }

    #[test]
    fn equal_pictures_have_no_difference() {
        let a = picture((40, 130), texture);
        let figures = figures(&a, &a);
        let none = Figures { largest: 0, mean: 0.0, differing: 0, pixels: 5200, psnr: None, ssim: 1.0, flip: 0.0 };
        assert_eq!(figures, none);
        // The measures themselves agree; equal bands skip them.
        let codes: Vec<[u8; 3]> = pixels(&a)[..40 * 40].iter().map(|&pixel| over_black(pixel)).collect();
        let luma: Vec<f64> = codes.iter().map(|&code| ssim::luma(code)).collect();
        assert!(ssim::similarity(40, &luma, &luma).iter().all(|&index| index == 1.0));
        assert!(flip::difference(40, &codes, &codes).iter().all(|&difference| difference == 0.0));
    }

    #[test]
    fn a_constant_offset_is_known_by_hand() {
        let (a, b) = (picture((30, 20), |_, _| [100; 3]), picture((30, 20), |_, _| [110; 3]));
        let figures = figures(&a, &b);
        assert!((figures.largest, figures.mean, figures.differing) == (10, 10.0, 600));
        // 20 log10(255 / 10).
        assert_near(figures.psnr.unwrap(), 28.130_803_6, 1e-6);
        // Without variance, SSIM is (2 a b + C1) / (a^2 + b^2 + C1).
        assert_near(figures.ssim, (22_000.0 + 6.5025) / (22_100.0 + 6.5025), 1e-9);
    }

    // Expected values: the packages flip-evaluator 1.7 and scikit-image 0.26 (Gaussian weights, population covariance).
    #[test]
    fn measures_agree_with_published_programs() {
        for (size, flip, ssim, psnr) in
            [((40, 30), 0.039_330_5, 0.994_129_441, 31.806_793), ((150, 140), 0.039_051_3, 0.993_617_402, 31.799_951)]
        {
            let found = figures(&picture(size, texture), &picture(size, |x, y| noisy(x, y, |n| n % 23 - 11)));
            assert_near(found.flip, flip, 2e-6);
            assert_near(found.ssim, ssim, 1e-8);
            assert_near(found.psnr.unwrap(), psnr, 1e-6);
            assert_eq!(found.largest, 11);
        }
        let grey = figures(&picture((40, 30), texture), &picture((40, 30), |_, _| [128; 3]));
        assert_near(grey.flip, 0.648_693_4, 5e-6);
        assert_near(grey.ssim, 0.052_554_490, 1e-8);
        // FLIP is 1 for green and blue by its definition.
        let primaries = figures(&picture((16, 16), |_, _| [0, 255, 0]), &picture((16, 16), |_, _| [0, 0, 255]));
        assert_near(primaries.flip, 1.0, 1e-6);
        assert_near(primaries.ssim, 0.374_473_320, 1e-8);
    }

    #[test]
    fn measures_are_symmetric_and_grow_with_noise() {
        let size = (64, 60);
        let a = picture(size, texture);
        let mut last = figures(&a, &a);
        for amplitude in [1, 3, 8, 20, 50] {
            let b = picture(size, |x, y| noisy(x, y, |n| (n % 101 - 50) * amplitude / 50));
            let there = figures(&a, &b);
            assert_eq!(there, figures(&b, &a));
            assert!(there.mean > last.mean && there.ssim < last.ssim && there.flip > last.flip, "{there:?} {last:?}");
            assert!(last.psnr.is_none_or(|psnr| there.psnr.unwrap() < psnr));
            last = there;
        }
    }

    #[test]
    fn one_pixel_is_found_wherever_it_is() {
        let a = picture((7, 100), |_, _| [9; 3]);
        for (x, y) in [(0, 0), (6, 47), (3, 48), (6, 99)] {
            let b = picture((7, 100), |i, j| if (i, j) == (x, y) { [9, 5, 9] } else { [9; 3] });
            let measures = Measures::of(&a, &b);
            let found = measures.figures();
            assert_eq!((measures.first, found.differing, found.largest), (Some((x, y)), 1, 4));
            assert_near(found.mean, 4.0 / 2100.0, 1e-12);
            let (picture, factor) = difference_picture(&a, &b);
            let at = 4 * (y * 7 + x);
            assert_eq!((factor, &picture[at..at + 4], picture.len()), (63, &[0, 252, 0, 255][..], 2800));
        }
    }

    #[test]
    fn alpha_counts_where_a_picture_has_it() {
        let a = picture((2, 1), |_, _| [50; 3]);
        let mut b = picture((2, 1), |_, _| [50; 3]);
        b.rgba[7] = 155;
        let measures = Measures::of(&a, &b);
        assert_eq!((measures.largest, measures.differing, measures.channels), (100, 1, 8));
        assert!(measures.figures().flip > 0.0);
        assert_eq!(difference_picture(&a, &b).0, [0, 0, 0, 255, 200, 200, 200, 255]);
    }

    #[test]
    fn a_large_difference_does_not_hide_small_ones() {
        let a = picture((100, 10), |_, _| [0; 3]);
        let b = picture((100, 10), |x, y| if x + y == 0 { [255; 3] } else { [2; 3] });
        let (picture, factor) = difference_picture(&a, &b);
        // 64 of the mean of 255 and 999 times 2.
        assert_eq!((factor, &picture[..8]), (28, &[255, 255, 255, 255, 56, 56, 56, 255][..]));
        let (black, _) = difference_picture(&a, &a);
        assert!(black.as_chunks::<4>().0.iter().all(|pixel| *pixel == [0, 0, 0, 255]));
    }
}
