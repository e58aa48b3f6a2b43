//! Skies, from equirectangular pictures or procedural, as a map of all directions in linear light.
//!
//! The map is the octahedron |x| + |y| + |z| = 1 unfolded into a square (Engelhardt and Dachsbacher, "Octahedron
//! environment maps", 2008), as kernels/shading/sky.cuh reads it.

use super::atmosphere::Atmosphere;
use super::error::AssetError;
use super::files::Files;
use super::grid::Grid;
use crate::math::srgb::{linear, linear_colour};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale};
use crate::math::{floor, smooth_step};
use crate::scene::{Sky, SkySource};
use image::DynamicImage;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Light from all directions.
#[derive(Clone, Debug)]
pub struct SkyMap {
    /// Texels along a side.
    pub side: usize,
    /// Linear r, g, b, row after row, including the stars' mean light.
    pub texels: Vec<[f32; 3]>,
    /// Point lights, which only rays see that no rough surface has scattered.
    pub stars: Vec<Star>,
    /// The stars' mean light at the zenith, linear; it fades towards the horizon as they do ([`star_share`]).
    pub starlight: Vec3,
    /// The sun, which is not in the map.
    pub sun: Option<Sun>,
}

/// The sun as a disc in the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// The direction of its center, of length 1.
    pub direction: Vec3,
    /// The sine of its radius as an angle.
    pub radius: f64,
    /// Its irradiance on a surface that faces it, linear.
    pub irradiance: Vec3,
}

/// A point light in the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Star {
    /// Its direction, of length 1.
    pub direction: Vec3,
    /// Its irradiance on a surface that faces it, linear.
    pub irradiance: Vec3,
}

// Sides of maps: of procedural ones, and of pictures. The maximum light of a texel: a half float's.
const MADE_SIDE: usize = 512;
const SIDES: [usize; 2] = [64, 2048];
const MAX_RADIANCE: f64 = 65_504.0;
// Samples along a texel's side.
const MADE_SAMPLES: usize = 2;
const MAX_FILE_SAMPLES: usize = 8;

impl SkyMap {
    /// The picture that a sky names, if any, rotated and scaled as the scene asks. `file` is that of [`picture`].
    pub fn of(sky: &Sky, file: Option<&Panorama>) -> Option<SkyMap> {
        let source = sky.image.as_ref()?;
        let turn = sky.rotation_deg.to_radians();
        let (sine, cosine) = (libm::sin(turn), libm::cos(turn));
        let turned = |d: Vec3| [d[0] * cosine + d[1] * sine, d[1] * cosine - d[0] * sine, d[2]];
        let procedural = |light: fn(Vec3) -> Vec3| {
            SkyMap::baked(MADE_SIDE, MADE_SAMPLES, |d| scale(light(turned(d)), sky.intensity))
        };
        Some(match source {
            SkySource::Studio => procedural(studio),
            SkySource::Dusk => procedural(dusk),
            SkySource::Overcast => procedural(overcast),
            SkySource::Missing => procedural(missing),
            SkySource::Night => {
                let stars = stars(sky.intensity, |d| [d[0] * cosine - d[1] * sine, d[1] * cosine + d[0] * sine, d[2]]);
                let starlight = mean_of(&stars);
                let with_stars = SkyMap::baked(MADE_SIDE, MADE_SAMPLES, |d| {
                    add(scale(night(turned(d)), sky.intensity), scale(starlight, star_share(d[2])))
                });
                SkyMap { stars, starlight, ..with_stars }
            }
            SkySource::Sun => {
                let elevation = sky.sun_elevation_deg.to_radians();
                let air = Atmosphere::new(sky.turbidity, libm::sin(elevation));
                let ground = linear_colour(sky.ground).map(f64::from);
                let map =
                    SkyMap::baked(MADE_SIDE, MADE_SAMPLES, |d| scale(air.light(turned(d), ground), sky.intensity));
                let level = libm::cos(elevation);
                let sun = Sun {
                    direction: [level * cosine, level * sine, libm::sin(elevation)],
                    radius: libm::sin(sky.sun_size_deg.to_radians() / 2.0),
                    irradiance: scale(air.sun(), sky.intensity),
                };
                SkyMap { sun: Some(sun), ..map }
            }
            SkySource::File(_) => {
                let picture = file?;
                let (side, samples) = resolution(picture.width as usize, picture.height as usize);
                SkyMap::baked(side, samples, |d| scale(light_from(picture, turned(d)), sky.intensity))
            }
        })
    }

    fn baked(side: usize, samples: usize, light: impl Fn(Vec3) -> Vec3 + Sync) -> SkyMap {
        let count = (samples * samples) as f64;
        let texel = |at: usize| {
            let texel = |i: usize, k: usize| (i as f64 + (k as f64 + 0.5) / samples as f64) * 2.0 / side as f64 - 1.0;
            let (x, y) = (at % side, at / side);
            let mut sum = [0.0; 3];
            for k in 0..samples * samples {
                let d = normalise(octahedron(texel(x, k % samples), texel(y, k / samples)));
                sum = add(sum, light(d));
            }
            sum.map(|c| (c / count).clamp(0.0, MAX_RADIANCE) as f32)
        };
        let texels = (0..side * side).into_par_iter().map(texel).collect();
        SkyMap { side, texels, stars: Vec::new(), starlight: [0.0; 3], sun: None }
    }

    // The octahedron's point at the middle of a texel.
    fn middle(&self, x: usize, y: usize) -> Vec3 {
        let texel = |i: usize| (i as f64 + 0.5) * 2.0 / self.side as f64 - 1.0;
        octahedron(texel(x), texel(y))
    }

    /// The maximum component of any texel, without the point lights.
    pub fn brightest(&self) -> f32 {
        self.texels.as_flattened().iter().copied().fold(0.0, f32::max)
    }

    /// r, g, b of each texel, with a border of one texel that holds the texels beyond the sides.
    pub fn with_rim(&self) -> Vec<f32> {
        let side = self.side as i64;
        let inside = |x: i64, y: i64| {
            let (x, y) = if !(0..side).contains(&x) { (x.clamp(0, side - 1), side - 1 - y) } else { (x, y) };
            let (x, y) = if !(0..side).contains(&y) { (side - 1 - x, y.clamp(0, side - 1)) } else { (x, y) };
            self.texels[(y * side + x) as usize]
        };
        (-1..=side).flat_map(|y| (-1..=side).flat_map(move |x| inside(x, y))).collect()
    }

    /// The mean light and the solid angle of each cell of a grid over the map.
    pub fn cells(&self, across: usize) -> Vec<([f32; 3], f64)> {
        let step = self.side / across;
        let texel_area = 4.0 / (self.side * self.side) as f64;
        let cell = |at: usize| {
            let (mut light, mut whole) = ([0.0; 3], 0.0);
            for k in 0..step * step {
                let (x, y) = (at % across * step + k % step, at / across * step + k / step);
                let r = length(self.middle(x, y));
                let angle = texel_area / (r * r * r);
                light = add(light, scale(self.texels[y * self.side + x].map(f64::from), angle));
                whole += angle;
            }
            (light.map(|c| (c / whole) as f32), whole)
        };
        (0..across * across).into_par_iter().map(cell).collect()
    }
}

/// The octahedron's point at (u, v) of the square, -1 to 1 each way.
pub fn octahedron(u: f64, v: f64) -> Vec3 {
    let z = 1.0 - u.abs() - v.abs();
    if z < 0.0 { [(1.0 - v.abs()).copysign(u), (1.0 - u.abs()).copysign(v), z] } else { [u, v, z] }
}
/// The position of a direction on the map's square.
pub fn unfolded(d: Vec3) -> (f64, f64) {
    let size = d[0].abs() + d[1].abs() + d[2].abs();
    let (x, y) = (d[0] / size, d[1] / size);
    if d[2] < 0.0 { ((1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y)) } else { (x, y) }
}

// The side of the map of a picture, and the samples along a texel's side. Both follow from the picture's height. For a picture
// that is taller than half its width they follow from its number of pixels.
fn resolution(width: usize, height: usize) -> (usize, usize) {
    let half = (width * height).div_ceil(2);
    let even = half.isqrt() + usize::from(half.isqrt().pow(2) < half);
    let rows = height.min(even);
    let side = rows.next_power_of_two().clamp(SIDES[0], SIDES[1]);
    (side, (2 * rows).div_ceil(side).clamp(2, MAX_FILE_SAMPLES))
}

const MAX_SIDE: u32 = 32_768;

// The stand-in for a missing file.
fn missing(d: Vec3) -> Vec3 {
    let (u, v) = (0.5 - libm::atan2(d[1], d[0]) / (2.0 * PI), libm::acos(d[2].clamp(-1.0, 1.0)) / PI);
    super::patterns::missing(u, 0.5 * v).map(linear)
}

/// A picture whose columns are azimuths and whose rows are elevations, in linear light.
pub type Panorama = Grid<[f32; 3]>;

/// Reads the file of a sky, if it is from a file.
pub fn picture(sky: &Sky, files: &Files) -> Result<Option<Panorama>, AssetError> {
    let Some(SkySource::File(path)) = &sky.image else { return Ok(None) };
    let decoded = files.read_picture("sky", path, MAX_SIDE)?;
    let is_linear = matches!(decoded, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
    let decoded = decoded.into_rgb32f();
    let of = |c: f32| match (c.is_finite() && c > 0.0, is_linear) {
        (false, _) => 0.0,
        (true, true) => c.min(MAX_RADIANCE as f32),
        (true, false) => linear(f64::from(c)) as f32,
    };
    let cells = decoded.as_raw().par_chunks_exact(3).map(|p| [of(p[0]), of(p[1]), of(p[2])]).collect();
    Ok(Some(Grid { width: decoded.width(), height: decoded.height(), cells }))
}

// The light of such a picture from a direction. Bilinear; columns wrap around.
fn light_from(picture: &Panorama, d: Vec3) -> Vec3 {
    let (width, height) = (f64::from(picture.width), f64::from(picture.height));
    let x = (0.5 - libm::atan2(d[1], d[0]) / (2.0 * PI)) * width - 0.5;
    let y = (libm::acos(d[2].clamp(-1.0, 1.0)) / PI * height - 0.5).clamp(0.0, height - 1.0);
    let (left, top) = (floor(x), floor(y));
    let (s, t, i, j) = (x - left, y - top, left as i64, top as i64);
    let below = (j + 1).min(i64::from(picture.height) - 1);
    let mut sum = [0.0; 3];
    for (column, share) in [(i, 1.0 - s), (i + 1, s)] {
        for (row, of_it) in [(j, 1.0 - t), (below, t)] {
            sum = add(sum, scale(picture.at(column, row).map(f64::from), share * of_it));
        }
    }
    sum
}

// --- procedural skies: linear light from direction d; +x is the direction of the sunset and of the key light ---

fn mix(a: Vec3, b: Vec3, t: f64) -> Vec3 {
    let t = t.clamp(0.0, 1.0);
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t)
}
// A rectangular light: its center, half its width and height as tangents, its brightness. Its border is soft, and its
// center is a little brighter.
fn softbox(d: Vec3, middle: Vec3, half: [f64; 2], light: Vec3) -> Vec3 {
    let axis = normalise(middle);
    let right = cross([0.0, 0.0, 1.0], axis);
    let right = if length(right) > 1e-6 { normalise(right) } else { [0.0, 1.0, 0.0] };
    let up = cross(axis, right);
    let ahead = dot(d, axis);
    if ahead <= 0.05 {
        return [0.0; 3];
    }
    let (x, y) = ((dot(d, right) / ahead / half[0]).abs(), (dot(d, up) / ahead / half[1]).abs());
    let rim = |t: f64, half: f64| 1.0 - smooth_step(1.0 - 0.03 / half, 1.0 + 0.03 / half, t);
    let inside = rim(x, half[0]) * rim(y, half[1]);
    scale(light, inside * (1.0 - 0.35 * (x * x + y * y).min(1.0)))
}

fn studio(d: Vec3) -> Vec3 {
    let room = mix([0.030, 0.031, 0.034], [0.075, 0.078, 0.086], smooth_step(-0.25, 0.9, d[2]));
    let room = mix([0.018, 0.018, 0.019], room, smooth_step(-0.3, 0.02, d[2]));
    let lights = [
        softbox(d, [1.0, 0.35, 0.75], [0.55, 0.42], [5.2, 5.0, 4.7]),
        softbox(d, [-0.55, 1.0, 0.30], [0.16, 0.75], [2.3, 2.6, 3.2]),
        softbox(d, [-0.35, -1.0, 0.42], [0.42, 0.28], [2.6, 2.3, 1.95]),
        softbox(d, [-1.0, -0.05, 0.55], [0.85, 0.10], [3.2, 3.2, 3.3]),
        softbox(d, [0.05, 0.0, 1.0], [0.55, 0.55], [1.7, 1.7, 1.75]),
    ];
    lights.into_iter().fold(room, add)
}

// x to the power of n, by multiplications: `libm::pow` takes half of a sky's time.
fn power(x: f64, n: u32) -> f64 {
    if n == 0 {
        return 1.0;
    }
    let half = power(x, n / 2);
    if n.is_multiple_of(2) { half * half } else { half * half * x }
}

fn dusk(d: Vec3) -> Vec3 {
    let height = d[2].max(0.0);
    let is_above = height > 0.0;
    let round = normalise([d[0], d[1], 0.25 * height + 1e-9]);
    let towards = 0.5 + 0.5 * round[0];
    let mut sky = mix([0.115, 0.092, 0.150], [0.98, 0.40, 0.13], towards * towards * towards);
    if is_above {
        let middle = mix([0.060, 0.078, 0.175], [0.15, 0.135, 0.20], towards * towards);
        sky = mix(sky, middle, smooth_step(0.0, 0.26, height));
        sky = mix(sky, [0.018, 0.034, 0.095], smooth_step(0.10, 0.85, height));
    }
    // The afterglow at the sunset.
    let sun = dot(d, normalise([1.0, 0.0, 0.02]));
    if sun > 0.0 {
        let faded = |rate: f64| if is_above { libm::exp(-rate * height) } else { 1.0 };
        let glow = 2.6 * power(sun, 60) * faded(9.0) + 0.55 * power(sun, 9) * faded(5.0);
        sky = add(sky, scale([1.0, 0.42, 0.12], glow));
    }
    if is_above {
        return sky;
    }
    // Below the horizon the land is dark, lit a little by the sky.
    let land = mix([0.012, 0.012, 0.018], [0.05, 0.03, 0.025], towards * towards);
    mix(sky, land, smooth_step(0.0, 0.035, -d[2]))
}

fn night(d: Vec3) -> Vec3 {
    let height = d[2].max(0.0);
    let sky = mix([0.0125, 0.0150, 0.030], [0.0016, 0.0024, 0.0070], smooth_step(0.0, 0.55, height));
    // A town beyond the horizon.
    let town = dot(normalise([d[0], d[1], 1e-9]), [0.8, -0.6, 0.0]).max(0.0);
    let sky = add(sky, scale([0.085, 0.046, 0.018], libm::pow(town, 5.0) * libm::exp(-7.0 * height)));
    mix(sky, [0.002, 0.002, 0.003], smooth_step(0.0, 0.03, -d[2]))
}

/// The share of its light that a star keeps at this elevation (a sine): low stars fade in haze.
pub fn star_share(height: f64) -> f64 {
    1.0 - libm::exp(-6.0 * height.max(0.0))
}

// Irradiance of a star of brightness 1.
const STAR_IRRADIANCE: f64 = 2.0e-6;

// Stars of many brightnesses, over the whole upper hemisphere.
fn stars(intensity: f64, turned: impl Fn(Vec3) -> Vec3) -> Vec<Star> {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let star = |_| {
        let (z, angle) = (random(), 2.0 * PI * random());
        let r = (1.0 - z * z).max(0.0).sqrt();
        let direction = turned([r * libm::cos(angle), r * libm::sin(angle), z]);
        // Few are bright.
        let brightness = 0.2 * libm::pow(random().max(1e-3), -0.8) * star_share(z) * intensity;
        let warmth = random();
        let irradiance = scale([0.75 + 0.25 * warmth, 0.85, 1.1 - 0.35 * warmth], brightness * STAR_IRRADIANCE);
        Star { direction, irradiance }
    };
    (0..2600).map(star).collect()
}

// The mean light of stars at the zenith: multiplied by that share at each elevation, the hemisphere emits as much as the stars.
fn mean_of(stars: &[Star]) -> Vec3 {
    let whole = 2.0 * PI * (1.0 - (1.0 - libm::exp(-6.0)) / 6.0);
    scale(stars.iter().fold([0.0; 3], |sum, star| add(sum, star.irradiance)), 1.0 / whole)
}

fn overcast(d: Vec3) -> Vec3 {
    // Moon and Spencer, "Illumination from a non-uniform sky", 1942; the CIE's standard since 1955.
    let sky = scale([0.86, 0.93, 1.0], (1.0 + 2.0 * d[2].max(0.0)) / 3.0);
    mix(sky, [0.16, 0.155, 0.15], smooth_step(0.0, 0.02, -d[2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_and_unfolding_undo_each_other() {
        for (u, v) in [(0.3, 0.2), (-0.9, 0.7), (0.5, -0.99), (-0.4, -0.1)] {
            let (a, b) = unfolded(normalise(octahedron(u, v)));
            assert!((a - u).abs() < 1e-12 && (b - v).abs() < 1e-12, "{u} {v}: {a} {b}");
        }
    }

    // A picture of one column and 32768 rows, a file of 200 bytes, took ten seconds.
    #[test]
    fn work_is_as_much_as_there_are_pixels() {
        for (size, expected) in [
            ((64, 32), (64, 2)),
            ((2048, 1024), (1024, 2)),
            ((2047, 1024), (1024, 2)),
            ((2049, 1025), (2048, 2)),
            ((8192, 4096), (2048, 4)),
            ((32768, 16384), (2048, 8)),
            ((4096, 500), (512, 2)),
            ((2000, 2000), (2048, 2)),
            ((1, 32768), (128, 2)),
            ((128, 32768), (2048, 2)),
        ] {
            assert_eq!(resolution(size.0, size.1), expected, "{size:?}");
        }
        for height in 1..32_768 {
            for width in [4_194_304 / height, 1] {
                let (side, samples) = resolution(width, height);
                assert!((side * samples).pow(2) <= 16 * (width * height).max(1024), "{width} x {height}");
            }
        }
    }

    #[test]
    fn the_cells_fill_the_sphere() {
        let map = SkyMap::baked(128, 1, |d| [1.0, d[2].max(0.0), 0.0]);
        let cells = map.cells(32);
        let whole: f64 = cells.iter().map(|c| c.1).sum();
        assert!((whole / (4.0 * PI) - 1.0).abs() < 1e-3, "{whole}");
        // The mean of a cosine over the upper hemisphere is a quarter over the whole sphere.
        let cosine: f64 = cells.iter().map(|(light, angle)| f64::from(light[1]) * angle).sum::<f64>() / (4.0 * PI);
        assert!((cosine - 0.25).abs() < 1e-3, "{cosine}");
    }

    // Border texels show the directions beyond the sides, computed by geometry.
    #[test]
    fn the_rim_has_what_lies_beyond() {
        let side = 64;
        let map = SkyMap::baked(side, 1, |d| d.map(|c| c + 1.0));
        let rim = map.with_rim();
        let stride = side + 2;
        for (x, y) in [(0, 20), (stride - 1, 33), (12, 0), (50, stride - 1)] {
            let at = 3 * (y * stride + x);
            let centre = |i: usize| (i as f64 - 0.5) * 2.0 / side as f64 - 1.0;
            let (u, v) = (centre(x), centre(y));
            // One step over the side is half a step back on the other half of the side.
            let back = |t: f64| if t.abs() > 1.0 { t.signum() * (2.0 - t.abs()) } else { -t };
            let d = normalise(octahedron(back(u), back(v)));
            for c in 0..3 {
                assert!((f64::from(rim[at + c]) - d[c] - 1.0).abs() < 1e-6, "{x} {y}");
            }
        }
    }
}
