//! Glare: light that the edges of the aperture bend into rays, and that an anamorphic lens smears into a horizontal streak.
//! Like bloom it works in linear light without a threshold and keeps the sum of light. A level of the pyramid of some 240
//! rows is spread along each ray by passes of growing steps, whose product is an exponential falloff (Kawase, "Frame buffer
//! postprocessing effects in DOUBLE-S.T.E.A.L", 2003). Along a ray, light falls by the mean of a short and a long one.

use super::pyramid::{Level, pyramid};
use crate::film::image::Image;
use crate::gpu_types::{GLARE_TAPS, GlareTaps};
use crate::kernels::Isa;
use crate::scene::{Camera, FilmSettings};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// The numbers of a film's glare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glare {
    /// The fraction of light that goes into rays, 0 to 1.
    fraction: f32,
    /// The length of a ray in picture heights.
    length: f32,
    rays: i32,
    /// The direction of the first ray, in turns from right to up.
    turn: f32,
    /// The fraction of light that goes into the streak.
    streak: f32,
    streak_length: f32,
}

/// An image that passes read or write: all have the size of the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlareImage {
    /// The level of the pyramid.
    Level,
    /// Results of every other pass.
    First,
    Second,
    /// The sum of all rays.
    Sum,
}

/// A pass: each pixel of `to` becomes a sum of pixels of `from`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlarePass {
    pub from: GlareImage,
    pub to: GlareImage,
    pub taps: GlareTaps,
}

// The rows of the level are at most this many, over sqrt(2) to either side.
const ROWS: f64 = 240.0;
// Each pass adds up this many places along a ray, each of two pixels.
const PLACES: i32 = GLARE_TAPS / 2;
// At a ray's length, its light has fallen by exp(-FALL).
const FALL: f64 = 3.0;
// The lengths that a ray's falloff is the mean of.
const LENGTHS: [f64; 2] = [1.0, 0.25];
/// The number of rays for a round aperture.
const ROUND_RAYS: u32 = 6;

impl Glare {
    /// The glare of a film; None if it has none. A straight edge bends light to both of its sides, so parallel edges share
    /// their rays.
    pub fn of(film: &FilmSettings, camera: &Camera) -> Option<Glare> {
        let rays = match (film.glare_rays, camera.aperture_blades) {
            (0, 0) => ROUND_RAYS,
            (0, blades) if blades % 2 == 1 => 2 * blades,
            (0, blades) => blades,
            (rays, _) => rays,
        };
        let glare = Glare {
            fraction: film.glare as f32,
            length: film.glare_length as f32,
            rays: rays.cast_signed(),
            turn: camera.blade_turn() as f32,
            streak: film.streak as f32,
            streak_length: film.streak_length as f32,
        };
        (glare.share() > 0.0).then_some(glare)
    }

    /// The fraction of light that is scattered.
    pub fn share(&self) -> f32 {
        1.0 - (1.0 - self.fraction) * (1.0 - self.streak)
    }

    /// The level of the pyramid for a picture of this height, counted from 1.
    pub fn level(height: u32) -> usize {
        libm::log2(f64::from(height) / ROWS).round().max(1.0) as usize
    }

    /// All passes for a picture of this height, in order.
    pub fn passes(&self, height: u32) -> Vec<GlarePass> {
        // A picture height in pixels of the level.
        let unit = f64::from(height) / libm::exp2(Glare::level(height) as f64);
        let (rays, streak) = (f64::from(self.fraction), f64::from(self.streak));
        let ray = |i| (f64::from(self.turn) + f64::from(i) / f64::from(self.rays), self.length);
        let rays_of = (0..self.rays).map(|i| (ray(i), rays / f64::from(self.rays)));
        let streak_of = [0.0, 0.5].map(|turn| ((turn, self.streak_length), streak / 2.0));
        let mut passes = Vec::new();
        for ((turn, length), share) in rays_of.chain(streak_of).filter(|(_, share)| *share > 0.0) {
            for part in LENGTHS {
                let share = share / (rays + streak) / LENGTHS.len() as f64;
                let is_first = passes.is_empty();
                passes.extend(ray_passes(turn, part * f64::from(length) * unit / FALL, share, is_first));
            }
        }
        passes
    }

    pub fn apply(&self, image: &mut Image<f32>, isa: Isa) {
        if image.data().is_empty() {
            return;
        }
        let mut levels = pyramid(image, Glare::level(image.height()), isa);
        let Some(level) = levels.pop() else { return };
        let mut glow = self.scattered(level, image.height(), isa);
        while let Some(mut fine) = levels.pop() {
            glow.mix_into(&mut fine, 0.0, 1.0, isa);
            glow = fine;
        }
        glow.mix_into_picture(image, 1.0 - self.share(), self.share(), isa);
    }

    // The light of a level after all passes.
    fn scattered(&self, level: Level, height: u32, isa: Isa) -> Level {
        let (wide, tall) = (level.width, level.height);
        let blank = || Level::new(wide, tall);
        // In the order of GlareImage.
        let mut images = [level, blank(), blank(), blank()];
        for pass in self.passes(height) {
            let Ok([from, to]) = images.get_disjoint_mut([pass.from as usize, pass.to as usize]) else { continue };
            for (plane, out) in from.channels.iter().zip(&mut to.channels) {
                let rows = out.par_chunks_mut(wide).enumerate();
                rows.for_each(|(y, row)| isa.glare(&pass.taps, plane, tall, y, row));
            }
        }
        let [.., sum] = images;
        sum
    }
}

// The passes of a ray whose light falls by the factor e over `decay` pixels, and which gets this share of all light.
fn ray_passes(turn: f64, decay: f64, share: f64, is_first: bool) -> Vec<GlarePass> {
    let (right, down) = (libm::cos(TAU * turn), -libm::sin(TAU * turn));
    let is_flat = right.abs() >= down.abs();
    // Steps are whole pixels along one axis.
    let (major, minor) = if is_flat { (right, down) } else { (down, right) };
    let (sign, slope) = (if major < 0.0 { -1 } else { 1 }, minor / major.abs());
    let fall = 1.0 / (major.abs() * decay.max(1e-3));
    let reach = 2.0 * FALL / fall;
    let count = (libm::log2(reach.max(1.0)) / libm::log2(f64::from(PLACES))).ceil().clamp(1.0, 8.0) as i32;
    let pass = |p: i32| {
        let step = PLACES.pow(p.unsigned_abs());
        let weights: Vec<f64> = (0..PLACES).map(|i| libm::exp(-fall * f64::from(i * step))).collect();
        let scale = if p + 1 == count { share } else { 1.0 } / weights.iter().sum::<f64>();
        let mut taps = GlareTaps { adds: i32::from(p + 1 == count && !is_first), ..GlareTaps::default() };
        for (i, weight) in (0..PLACES).zip(weights) {
            // Light comes from the other direction, from between two pixels.
            let aside = slope * f64::from(i * step);
            let (whole, part) = (aside.floor(), aside - aside.floor());
            for (k, (near, weight)) in [(0, (1.0 - part) * weight), (1, part * weight)].into_iter().enumerate() {
                let (along, aside) = (-sign * i * step, -(whole as i32 + near));
                let at = 2 * i as usize + k;
                (taps.dx[at], taps.dy[at]) = if is_flat { (along, aside) } else { (aside, along) };
                taps.weight[at] = (weight * scale) as f32;
            }
        }
        let between = |p: i32| if p % 2 == 0 { GlareImage::First } else { GlareImage::Second };
        let from = if p == 0 { GlareImage::Level } else { between(p - 1) };
        let to = if p + 1 == count { GlareImage::Sum } else { between(p) };
        GlarePass { from, to, taps }
    };
    (0..count).map(pass).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(change: impl Fn(&mut FilmSettings, &mut Camera)) -> Glare {
        let (mut film, mut camera) = (FilmSettings { glare: 0.3, ..FilmSettings::default() }, Camera::default());
        change(&mut film, &mut camera);
        Glare::of(&film, &camera).unwrap()
    }
    fn image(width: u32, height: u32, of: impl Fn(u32, u32) -> f32) -> Image<f32> {
        let data = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).flat_map(|(x, y)| [of(x, y); 3]);
        Image::new(width, height, 3, data.collect())
    }
    fn isa() -> Isa {
        Isa::pick(None).unwrap()
    }
    // A lamp of four pixels around the middle of a picture with even sides.
    fn lamp(side: u32, glare: &Glare) -> Image<f32> {
        let middle = side / 2 - 1..=side / 2;
        let mut lit = image(side, side, |x, y| f32::from(u8::from(middle.contains(&x) && middle.contains(&y))) * 250.0);
        glare.apply(&mut lit, isa());
        lit
    }
    // The light on a circle around the middle, by degrees from right to up: the mean over a few radii.
    fn around(lit: &Image<f32>, radius: f64) -> Vec<f64> {
        let middle = f64::from(lit.width()) / 2.0;
        let at = |degree: i32| {
            let angle = f64::from(degree).to_radians();
            let light = (-4..=4).map(|k| {
                let r = radius + f64::from(k);
                lit.pixel((middle + r * libm::cos(angle)) as u32, (middle - r * libm::sin(angle)) as u32)[1]
            });
            light.map(f64::from).sum::<f64>()
        };
        (0..360).map(at).collect()
    }
    // The directions of maxima above half of the brightest.
    fn directions(light: &[f64]) -> Vec<usize> {
        let max = light.iter().fold(0.0f64, |a, &b| a.max(b));
        let is_peak = |&d: &usize| {
            light[d] > 0.5 * max
                && (1..=8).all(|k| light[d] >= light[(d + k) % 360] && light[d] > light[(d + 360 - k) % 360])
        };
        (0..360).filter(is_peak).collect()
    }

    #[test]
    fn light_is_scattered_and_kept() {
        for (w, h, x, y) in [(256, 256, 128, 128), (255, 193, 127, 96), (640, 400, 321, 190)] {
            let mut lit = image(w, h, |i, j| if (i, j) == (x, y) { 1000.0 } else { 0.0 });
            let total = |image: &Image<f32>| image.data().iter().map(|&x| f64::from(x)).sum::<f64>();
            let before = total(&lit);
            let glare = of(|film, _| (film.streak, film.glare_length, film.streak_length) = (0.2, 0.15, 0.15));
            glare.apply(&mut lit, isa());
            assert!((total(&lit) / before - 1.0).abs() < 0.02, "{} of {before}", total(&lit));
            let middle = f64::from(lit.pixel(x, y)[0]);
            assert!(middle > 560.0 && middle < 640.0, "{middle}");
        }
    }

    #[test]
    fn an_even_picture_stays_as_it_is() {
        for (w, h) in [(64, 48), (65, 47), (3, 2), (1, 1), (1, 9), (9, 1)] {
            let mut even = image(w, h, |_, _| 0.5);
            of(|film, _| (film.glare, film.streak, film.glare_length) = (1.0, 0.5, 1.0)).apply(&mut even, isa());
            assert!(even.data().iter().all(|x| (x - 0.5).abs() < 1e-5), "{w} x {h}");
        }
    }

    #[test]
    fn rays_follow_the_blades() {
        let seen = |blades, rays, rotation| {
            let glare = of(|film, camera| {
                (film.glare_rays, film.glare_length) = (rays, 0.8);
                (camera.aperture_blades, camera.aperture_rotation_deg) = (blades, rotation);
            });
            directions(&around(&lamp(400, &glare), 80.0))
        };
        let expected = |first: f64, count: u32| {
            let mut all: Vec<f64> =
                (0..count).map(|i| (first + 360.0 * f64::from(i) / f64::from(count)).rem_euclid(360.0)).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        // At right angles to the sides: an even number of blades has as many rays, an odd number twice as many.
        for ((blades, rays, rotation), (first, count)) in [
            ((6, 0, 0.0), (0.0, 6)),
            ((6, 0, 10.0), (10.0, 6)),
            ((8, 0, 0.0), (22.5, 8)),
            ((5, 0, 0.0), (18.0, 10)),
            ((0, 0, 0.0), (30.0, 6)),
            ((0, 4, 45.0), (45.0, 4)),
            ((6, 3, 0.0), (0.0, 3)),
        ] {
            let seen = seen(blades, rays, rotation);
            let expected = expected(first, count);
            assert_eq!(seen.len(), expected.len(), "{blades} blades: {seen:?}");
            let off = |(a, b): (&usize, &f64)| ((*a as f64 - b + 180.0).rem_euclid(360.0) - 180.0).abs();
            let all: Vec<f64> =
                expected.iter().map(|e| seen.iter().map(|s| off((s, e))).fold(360.0, f64::min)).collect();
            assert!(all.iter().all(|&off| off < 2.5), "{blades} blades: {seen:?}, {expected:?} expected");
        }
    }

    #[test]
    fn glare_is_symmetric_and_falls_along_its_rays() {
        let glare = of(|film, camera| (film.glare_length, camera.aperture_blades) = (0.5, 8));
        let lit = lamp(320, &glare);
        for (x, y) in [(200, 160), (250, 170), (180, 190), (160, 60)] {
            let here = lit.pixel(x, y)[0];
            for mirrored in [(319 - x, y), (x, 319 - y), (y, x)] {
                let there = lit.pixel(mirrored.0, mirrored.1)[0];
                assert!((here - there).abs() <= 1e-3 * here.max(1e-3), "({x}, {y}): {here}, {mirrored:?}: {there}");
            }
        }
        let glare = of(|film, camera| (film.glare_length, camera.aperture_blades) = (0.5, 6));
        let lit = lamp(320, &glare);
        let along: Vec<f32> = [4, 10, 20, 40, 80, 140].map(|d| lit.pixel(160 + d, 160)[0]).to_vec();
        assert!(along.windows(2).all(|p| p[0] > 1.2 * p[1]) && along[5] > 0.0, "{along:?}");
        // A streak has two rays, to the left and to the right.
        let streak = of(|film, _| (film.glare, film.streak, film.streak_length) = (0.0, 0.3, 0.8));
        assert_eq!(directions(&around(&lamp(320, &streak), 80.0)), [0, 180]);
    }

    // The level of the pyramid is another one, and the picture is the same but larger.
    #[test]
    fn lengths_are_fractions_of_the_height() {
        let glare = of(|film, camera| (film.glare_length, camera.aperture_blades) = (0.5, 6));
        let total = |side: u32, from: f64, to: f64| {
            let lit = lamp(side, &glare);
            let row: f64 = (0..side)
                .map(|y| {
                    (0..side)
                        .filter(|&x| {
                            let (dx, dy) = (f64::from(x) - f64::from(side) / 2.0, f64::from(y) - f64::from(side) / 2.0);
                            let r = libm::hypot(dx, dy) / f64::from(side);
                            r >= from && r < to
                        })
                        .map(|x| f64::from(lit.pixel(x, y)[0]))
                        .sum::<f64>()
                })
                .sum();
            row
        };
        for (from, to) in [(0.02, 0.1), (0.1, 0.2), (0.2, 0.4)] {
            let (small, large) = (total(180, from, to), total(720, from, to));
            assert!((small / large - 1.0).abs() < 0.1, "{from} to {to}: {small} {large}");
        }
    }

    // A lamp that creeps by parts of a pixel changes its rays steadily.
    #[test]
    fn rays_of_a_small_moving_lamp_do_not_flicker() {
        let glare = of(|film, camera| (film.glare_length, camera.aperture_blades) = (0.5, 6));
        let ray = |shift: f32| {
            let mut lit = image(256, 256, |x, y| match (x, y) {
                (128, 128) => 1000.0 * (1.0 - shift),
                (129, 128) => 1000.0 * shift,
                _ => 0.0,
            });
            glare.apply(&mut lit, isa());
            lit.pixel(190, 128)[0]
        };
        let light: Vec<f32> = (0..=8).map(|i| ray(i as f32 / 8.0)).collect();
        let (low, high) = light.iter().fold((f32::MAX, 0.0f32), |(a, b), &x| (a.min(x), b.max(x)));
        assert!(low > 0.0 && high / low < 1.15, "{light:?}");
    }
}
