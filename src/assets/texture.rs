//! Pictures for floors and bodies, loaded or procedural, in linear light, with their mip levels.

use super::error::AssetError;
use super::files::Files;
use super::grid::Grid;
use super::patterns::{self, Made};
use super::source;
use crate::language::{Message, msg};
use crate::math::srgb::linear;
use crate::scene::TextureSource;
use std::path::Path;

/// A picture in linear light, 16 bits per channel, finest level first.
#[derive(Clone, Debug, Default)]
pub struct Texture {
    /// The levels; each has half the size of the one before, down to one texel.
    pub levels: Vec<Level>,
    /// Whether it is paint, which covers what is below it by its alpha. Levels are of colors times alpha then, and as many of alpha follow.
    pub paints: bool,
}

/// A mip level: linear r, g, b.
pub type Level = Grid<[u16; 3]>;

const MAX_SIDE: u32 = 16_384;

impl Texture {
    /// Loads a file or generates a built-in picture.
    pub fn load(source: &TextureSource, files: &Files) -> Result<Texture, AssetError> {
        static MADE: Made<TextureSource, [u16; 3]> = Made::new();
        let (side, colour): (u32, Colour) = match source {
            TextureSource::File(path) => return Ok(Texture::of(read(path, files)?.over_white())),
            TextureSource::Checker => (512, patterns::checker),
            TextureSource::Concrete => (1024, patterns::concrete),
            TextureSource::Marble => (1024, patterns::marble),
            TextureSource::Slate => (1024, patterns::slate_colour),
            TextureSource::Wood => (1024, patterns::wood),
            TextureSource::Missing => (512, patterns::missing),
        };
        Ok(Texture::of(MADE.get(source, || procedural(side, colour))))
    }
    /// The same as paint, if the picture has alpha or `always`.
    pub fn load_paint(source: &TextureSource, always: bool, files: &Files) -> Result<Texture, AssetError> {
        let (colours, alpha) = match source {
            TextureSource::File(path) => {
                let read = read(path, files)?;
                if !read.has_alpha && !always {
                    return Ok(Texture::of(read.over_white()));
                }
                read.times_alpha()
            }
            _ if !always => return Texture::load(source, files),
            _ => {
                let finest = Texture::load(source, files)?.levels.swap_remove(0);
                let alpha = Grid { cells: vec![[65535; 3]; finest.cells.len()], ..finest };
                (finest, alpha)
            }
        };
        let levels = [Texture::of(colours).levels, Texture::of(alpha).levels].concat();
        Ok(Texture { levels, paints: true })
    }
    fn of(finest: Level) -> Texture {
        let mean = |four: [[u16; 3]; 4]| {
            [0, 1, 2].map(|c| ((four.iter().map(|p| u32::from(p[c])).sum::<u32>() + 2) / 4) as u16)
        };
        Texture { levels: finest.into_levels(mean), paints: false }
    }
}

fn from_srgb(width: u32, height: u32, rgb: impl Iterator<Item = [u8; 3]>) -> Level {
    let table: Vec<u16> = (0..=255).map(|i| (linear(f64::from(i) / 255.0) * 65535.0).round() as u16).collect();
    Grid { width, height, cells: rgb.map(|p| p.map(|c| table[usize::from(c)])).collect() }
}

// The sRGB color of a built-in picture at (u, v).
type Colour = fn(f64, f64) -> [f64; 3];

fn procedural(side: u32, colour: Colour) -> Level {
    Grid::over_square(side, |u, v| colour(u, v).map(|c| (linear(c.clamp(0.0, 1.0)) * 65535.0).round() as u16))
}

// A picture's file.
struct Picture {
    sides: (u32, u32),
    rgba: Vec<[u8; 4]>,
    has_alpha: bool,
}

impl Picture {
    fn colours(&self) -> Level {
        from_srgb(self.sides.0, self.sides.1, self.rgba.iter().map(|&[r, g, b, _]| [r, g, b]))
    }
    // A transparent texel shows the color that the texture multiplies: the texel becomes white.
    fn over_white(&self) -> Level {
        self.blended(|light, alpha| (light * alpha + 65535 * (255 - alpha) + 127) / 255)
    }
    // Colors times alpha, and alpha.
    fn times_alpha(&self) -> (Level, Level) {
        let alpha = self.rgba.iter().map(|pixel| [u16::from(pixel[3]) * 257; 3]).collect();
        (
            self.blended(|light, alpha| (light * alpha + 127) / 255),
            Grid { width: self.sides.0, height: self.sides.1, cells: alpha },
        )
    }
    fn blended(&self, blend: impl Fn(u32, u32) -> u32) -> Level {
        let mut level = self.colours();
        for (texel, pixel) in
            level.cells.iter_mut().zip(&self.rgba).filter(|(_, pixel)| self.has_alpha && pixel[3] < 255)
        {
            *texel = texel.map(|light| blend(light.into(), pixel[3].into()) as u16);
        }
        level
    }
}

fn read(path: &Path, files: &Files) -> Result<Picture, AssetError> {
    let bytes = files.read("texture", path)?;
    let wrong = |what: Message| AssetError::broken("texture", path, what);
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("data")) {
        let word = |at: usize| bytes.get(at..)?.first_chunk().map(|word| i32::from_le_bytes(*word));
        let (Some(width), Some(height)) = (word(0), word(4)) else {
            return Err(wrong(msg!(
                "a .data file starts with width and height, and this one has {bytes} bytes",
                bytes = bytes.len()
            )));
        };
        let max = MAX_SIDE as i32;
        if !(1..=max).contains(&width) || !(1..=max).contains(&height) {
            if let Ok(format) = image::guess_format(&bytes) {
                let ending = format.extensions_str().first().unwrap_or(&"png");
                return Err(wrong(msg!("by its first bytes it is a .{ending} file: give it that ending", ending)));
            }
            let (w, h) = (width.swap_bytes(), height.swap_bytes());
            if (1..=max).contains(&w) && (1..=max).contains(&h) && bytes.len() == 8 + 4 * w as usize * h as usize {
                return Err(wrong(msg!(
                    "its width and height, {width} and {height}, are written with the first byte last; expected little-endian numbers",
                    width = w,
                    height = h
                )));
            }
            return Err(wrong(msg!(
                "its size is {width} x {height}; expected sides of 1 to {max}",
                width,
                height,
                max
            )));
        }
        let expected = 8 + 4 * width as usize * height as usize;
        if bytes.len() != expected {
            return Err(wrong(msg!(
                "{width} x {height} RGBA takes {expected} bytes, and it has {bytes}",
                width,
                height,
                expected,
                bytes = bytes.len()
            )));
        }
        let rgba = bytes[8..].as_chunks::<4>().0.to_vec();
        return Ok(Picture { sides: (width as u32, height as u32), rgba, has_alpha: false });
    }
    let picture = source::decode("texture", path, &bytes, MAX_SIDE, files.limits)?;
    let (has_alpha, picture) = (picture.color().has_alpha(), picture.into_rgba8());
    Ok(Picture { sides: picture.dimensions(), rgba: picture.as_chunks::<4>().0.to_vec(), has_alpha })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_go_down_to_one_texel_and_keep_the_mean() {
        let texture = Texture::load(&TextureSource::Checker, &Files::default()).unwrap();
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
        let texture = Texture::load(&TextureSource::File(path), &Files::default()).unwrap();
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
