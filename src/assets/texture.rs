//! Pictures for the floor, loaded or procedural, in linear light, with their mip levels.

use super::error::AssetError;
use super::grid::Grid;
use super::source::{self, Limits};
use crate::language::Language;
use crate::math::srgb::linear;
use crate::scene::TextureSource;
use std::path::Path;

/// A picture in linear light, 16 bits per channel, finest level first.
#[derive(Clone, Debug, Default)]
pub struct Texture {
    /// The levels; each has half the size of the one before, down to one texel.
    pub levels: Vec<Level>,
}

/// A mip level: linear r, g, b.
pub type Level = Grid<[u16; 3]>;

const MAX_SIDE: u32 = 16_384;

impl Texture {
    /// Loads a file or generates a built-in picture.
    pub fn load(source: &TextureSource, limits: Limits) -> Result<Texture, AssetError> {
        Ok(Texture::of(match source {
            TextureSource::File(path) => read(path, limits)?,
            TextureSource::Checker => procedural(512, checker),
            TextureSource::Concrete => procedural(1024, concrete),
            TextureSource::Marble => procedural(1024, marble),
            TextureSource::Wood => procedural(1024, wood),
            TextureSource::Missing => procedural(512, missing),
        }))
    }
    fn of(finest: Level) -> Texture {
        let mean = |four: [[u16; 3]; 4]| {
            [0, 1, 2].map(|c| ((four.iter().map(|p| u32::from(p[c])).sum::<u32>() + 2) / 4) as u16)
        };
        Texture { levels: finest.into_levels(mean) }
    }
}

fn from_srgb(width: u32, height: u32, rgb: impl Iterator<Item = [u8; 3]>) -> Level {
    let table: Vec<u16> = (0..=255).map(|i| (linear(f64::from(i) / 255.0) * 65535.0).round() as u16).collect();
    Grid { width, height, cells: rgb.map(|p| p.map(|c| table[usize::from(c)])).collect() }
}

fn procedural(side: u32, colour: fn(f64, f64) -> [f64; 3]) -> Level {
    Grid::over_square(side, |u, v| colour(u, v).map(|c| (linear(c.clamp(0.0, 1.0)) * 65535.0).round() as u16))
}

// A transparent texel shows the floor's tint, which the texture multiplies: the texel becomes white.
fn through(light: u16, alpha: u8) -> u16 {
    let (light, alpha) = (u32::from(light), u32::from(alpha));
    ((light * alpha + 65535 * (255 - alpha) + 127) / 255) as u16
}

fn read(path: &Path, limits: Limits) -> Result<Level, AssetError> {
    let bytes = source::read("texture", path, limits)?;
    let wrong = |what: &dyn Fn(Language) -> String| AssetError::broken_in_all("texture", path, what);
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("data")) {
        let word = |at: usize| bytes.get(at..)?.first_chunk().map(|word| i32::from_le_bytes(*word));
        let (Some(width), Some(height)) = (word(0), word(4)) else {
            return Err(wrong(&|language| language.data_too_short(bytes.len())));
        };
        let max = MAX_SIDE as i32;
        if !(1..=max).contains(&width) || !(1..=max).contains(&height) {
            if let Ok(format) = image::guess_format(&bytes) {
                let ending = format.extensions_str().first().unwrap_or(&"png");
                return Err(wrong(&|language| language.other_ending(ending)));
            }
            let (w, h) = (width.swap_bytes(), height.swap_bytes());
            if (1..=max).contains(&w) && (1..=max).contains(&h) && bytes.len() == 8 + 4 * w as usize * h as usize {
                return Err(wrong(&|language| language.big_endian(w, h)));
            }
            return Err(wrong(&|language| language.bad_data_size(width, height, max)));
        }
        let expected = 8 + 4 * width as usize * height as usize;
        if bytes.len() != expected {
            return Err(wrong(&|language| language.bad_data_length(width, height, expected, bytes.len())));
        }
        let pixels = bytes[8..].as_chunks::<4>().0.iter().map(|&[r, g, b, _]| [r, g, b]);
        return Ok(from_srgb(width as u32, height as u32, pixels));
    }
    let picture = source::decode("texture", path, &bytes, MAX_SIDE, limits)?;
    if !picture.color().has_alpha() {
        let picture = picture.into_rgb8();
        return Ok(from_srgb(picture.width(), picture.height(), picture.pixels().map(|p| p.0)));
    }
    let picture = picture.into_rgba8();
    let (width, height) = picture.dimensions();
    let mut over_white = from_srgb(width, height, picture.pixels().map(|p| [p.0[0], p.0[1], p.0[2]]));
    for (texel, pixel) in over_white.cells.iter_mut().zip(picture.pixels()) {
        *texel = texel.map(|light| through(light, pixel.0[3]));
    }
    Ok(over_white)
}

// --- procedural pictures: sRGB colors at (u, v) in 0 .. 1 ---

fn mix(a: [f64; 3], b: [f64; 3], t: f64) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t)
}

fn checker(u: f64, v: f64) -> [f64; 3] {
    let cell = |x: f64| (x * 8.0).floor() as i64;
    if (cell(u) + cell(v)) % 2 == 0 { [0.92; 3] } else { [0.16, 0.16, 0.18] }
}

/// The bright checker that stands in for a missing file.
pub(super) fn missing(u: f64, v: f64) -> [f64; 3] {
    let cell = |x: f64| (x * 16.0).floor() as i64;
    if (cell(u) + cell(v)) % 2 == 0 { [1.0, 0.04, 1.0] } else { [0.45, 0.02, 0.45] }
}

// Value noise on an integer lattice, smooth, 0 .. 1.
fn lattice_noise(x: f64, y: f64, corner: impl Fn(i64) -> i64) -> f64 {
    let hash = |i: i64, j: i64| {
        let (i, j) = (corner(i), corner(j));
        let mut h = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (j as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        h = (h ^ (h >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        h = (h ^ (h >> 32)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((h ^ (h >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let (i, j) = (x.floor(), y.floor());
    let smooth = |t: f64| t * t * (3.0 - 2.0 * t);
    let (s, t) = (smooth(x - i), smooth(y - j));
    let (i, j) = (i as i64, j as i64);
    let row = |j| hash(i, j) + (hash(i + 1, j) - hash(i, j)) * s;
    row(j) + (row(j + 1) - row(j)) * t
}
fn noise(x: f64, y: f64) -> f64 {
    lattice_noise(x, y, |i| i)
}
/// Value noise over the unit square with that many cells along each side; it tiles.
pub(super) fn periodic_noise(u: f64, v: f64, cells: i64) -> f64 {
    lattice_noise(u * cells as f64, v * cells as f64, |i| i.rem_euclid(cells))
}
fn turbulence(x: f64, y: f64) -> f64 {
    (0..6).map(|o| (noise(x * f64::from(1 << o), y * f64::from(1 << o)) - 0.5).abs() / f64::from(1 << o)).sum()
}

// Concrete slabs with joints, stains and pores.
fn concrete(u: f64, v: f64) -> [f64; 3] {
    let octaves = |x: f64, y: f64| -> f64 {
        (0..6).map(|o| (noise(x * f64::from(1 << o), y * f64::from(1 << o)) - 0.5) / f64::from(1 << o)).sum()
    };
    let grey = 0.56 + 0.18 * octaves(u * 5.0, v * 5.0) + 0.05 * (noise(u * 240.0, v * 240.0) - 0.5);
    let joint = |x: f64| ((2.0 * x).fract() - 0.5).abs() < 0.007;
    let is_pore = noise(u * 90.0 + 40.0, v * 90.0) > 0.93;
    let shade = if joint(u) || joint(v) {
        0.55
    } else if is_pore {
        0.8
    } else {
        1.0
    };
    [1.0, 0.985, 0.955].map(|tint| grey * shade * tint)
}

fn marble(u: f64, v: f64) -> [f64; 3] {
    let bend = turbulence(u * 4.0, v * 4.0);
    let vein = libm::sin((u * 3.0 + v * 2.0 + bend * 3.2) * std::f64::consts::PI * 2.0).abs();
    let thin = 1.0 - libm::pow(1.0 - vein, 3.0);
    let base = mix([0.34, 0.37, 0.42], [0.93, 0.92, 0.9], thin);
    mix(base, [0.75, 0.72, 0.68], 0.35 * turbulence(u * 11.0 + 7.0, v * 11.0))
}

fn wood(u: f64, v: f64) -> [f64; 3] {
    // Planks across v, each with its own rings.
    let plank = (v * 6.0).floor();
    let shift = noise(plank * 7.3, 1.7) * 9.0;
    let along = u * 2.0 + shift;
    let across = v * 6.0 - plank - 0.5 + 0.25 * (noise(along * 1.5, plank * 3.1) - 0.5);
    let ring = libm::sqrt(across * across + 0.02 * along * along) * 7.0 + noise(along * 3.0, across * 6.0 + plank);
    let grain = libm::pow(0.5 + 0.5 * libm::sin(ring * std::f64::consts::PI * 2.0), 2.0);
    let fibre = noise(along * 60.0, v * 400.0);
    let tone = 0.8 + 0.25 * noise(plank * 13.7, 5.1);
    let colour = mix([0.62, 0.42, 0.24], [0.42, 0.25, 0.13], 0.65 * grain + 0.25 * fibre).map(|c| c * tone);
    let gap = (v * 6.0 - plank).min(1.0 - (v * 6.0 - plank));
    if gap < 0.012 { colour.map(|c| c * 0.35) } else { colour }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_go_down_to_one_texel_and_keep_the_mean() {
        let texture = Texture::load(&TextureSource::Checker, Limits::default()).unwrap();
        let last = texture.levels.last().unwrap();
        assert_eq!((last.width, last.height), (1, 1));
        let mean = (linear(0.92) + linear(0.16)) / 2.0 * 65535.0;
        assert!((f64::from(last.cells[0][0]) - mean).abs() < 8.0);
    }

    #[test]
    fn what_is_transparent_dyes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logo.png");
        let mut logo = image::RgbaImage::new(3, 1);
        logo.put_pixel(1, 0, image::Rgba([255, 0, 0, 255]));
        logo.put_pixel(2, 0, image::Rgba([0, 0, 255, 128]));
        logo.save(&path).unwrap();
        let texture = Texture::load(&TextureSource::File(path), Limits::default()).unwrap();
        let half = ((127 * 65535 + 127) / 255) as u16;
        assert_eq!(texture.levels[0].cells, [[65535; 3], [65535, 0, 0], [half, half, 65535]]);
    }

    #[test]
    fn odd_pictures_have_levels_too() {
        let odd = Texture::of(Grid { width: 3, height: 1, cells: vec![[0; 3], [100; 3], [200; 3]] });
        let half = &odd.levels[1];
        assert_eq!((half.width, half.height), (2, 1));
        assert_eq!(half.cells, [[50; 3], [200; 3]]);
    }
}
