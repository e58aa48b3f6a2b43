//! The legend in the lower left corner of a picture: the color map with its numbers.

use crate::film::image::Image;
use crate::math::colormap::ColourMap;
use crate::scene::Tone;
use font8x8::UnicodeFonts;
use std::ops::Range;

/// The content of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// The name of the quantity.
    pub title: String,
    pub map: ColourMap,
    /// The values at the ends of the map.
    pub range: [f64; 2],
    /// The tone curve that follows. It is inverted, so that the legend shows the exact display colors.
    pub tone: Tone,
}

// The position of a legend in a picture, pixels.
struct Anchor {
    // The side of a dot; a glyph has 8 x 8 dots.
    unit: u32,
    left: u32,
    top: u32,
    // The length of the color bar.
    bar: u32,
}

impl Anchor {
    // The legend grows with the picture, and has space for two numbers with this many characters. None if it does not
    // fit.
    fn of(width: u32, height: u32, letters: usize) -> Option<Anchor> {
        let unit = (height / 480).max(1);
        let (left, bar) = (12 * unit, (width / 3).min(256 * unit));
        let top = height.checked_sub(44 * unit).filter(|_| bar > 80 * unit)?;
        // A blank separates the two numbers.
        let needed = 8 * unit * (letters as u32 + 1);
        let bar = bar.max(needed);
        (2 * left + bar <= width).then_some(Anchor { unit, left, top, bar })
    }
    // The columns and rows of the legend with its margin.
    fn panel(&self, image: &Image<f32>) -> (Range<u32>, Range<u32>) {
        let (left, top) = (self.left - 6 * self.unit, self.top - 6 * self.unit);
        let right = (left + self.bar + 12 * self.unit).min(image.width());
        (left..right, top..(top + 47 * self.unit).min(image.height()))
    }
}

impl Legend {
    // The position, and the two numbers with as many digits as fit.
    fn layout(&self, (width, height): (u32, u32)) -> Option<(Anchor, [String; 2])> {
        let place =
            |numbers: [String; 2]| Some((Anchor::of(width, height, numbers.iter().map(String::len).sum())?, numbers));
        place(self.range.map(number)).or_else(|| (1..4).rev().find_map(|n| place(self.range.map(|x| rounded(x, n)))))
    }

    /// Whether a picture of this size has room for it.
    pub fn fits(&self, size: (u32, u32)) -> bool {
        self.layout(size).is_some()
    }

    pub fn apply(&self, image: &mut Image<f32>) {
        let Some((place, [low, high])) = self.layout((image.width(), image.height())) else { return };
        let (columns, rows) = place.panel(image);
        let Anchor { unit, left, top, bar } = place;
        let mut canvas = Canvas { image, tone: self.tone };
        let colours = self.map.colours();
        canvas.dim(columns, rows);
        for x in 0..bar {
            let colour = canvas.invert_tone(colours[x as usize * (colours.len() - 1) / (bar as usize - 1)]);
            (0..12 * unit).for_each(|y| canvas.dot(left + x, top + 12 * unit + y, colour));
        }
        canvas.write(&self.title, left, top, unit);
        let below = top + 27 * unit;
        canvas.write(&low, left, below, unit);
        canvas.write(&high, left + bar - high.len() as u32 * 8 * unit, below, unit);
    }
    /// Adds the legend to the covered fraction of each pixel, for transparent skies.
    pub fn cover(&self, coverage: &mut Image<f32>) {
        let Some((place, _)) = self.layout((coverage.width(), coverage.height())) else { return };
        let (columns, rows) = place.panel(coverage);
        for y in rows {
            let row = y as usize * coverage.width() as usize;
            coverage.data_mut()[row + columns.start as usize..row + columns.end as usize].fill(1.0);
        }
    }
}

// The fraction of light that remains behind letters, and its maximum.
const BEHIND: f32 = 0.08;
// The display value of letters.
const WHITE: f64 = 235.0 / 255.0;

// A legend has at most four digits.
fn number(x: f64) -> String {
    let size = x.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        format!("{x:.3e}")
    } else {
        format!("{}", (x * 1e4).round() / 1e4)
    }
}

// Rounds to this many significant digits, in the shorter notation.
fn rounded(x: f64, digits: usize) -> String {
    let exponent = format!("{x:.*e}", digits - 1);
    let plain = exponent.parse::<f64>().map_or_else(|_| exponent.clone(), |x| x.to_string());
    if plain.len() < exponent.len() { plain } else { exponent }
}

struct Canvas<'a> {
    image: &'a mut Image<f32>,
    tone: Tone,
}

impl Canvas<'_> {
    // The linear light that is shown as this display color.
    fn invert_tone(&self, display: [f64; 3]) -> [f32; 3] {
        self.tone.invert(display).map(|c| c as f32)
    }
    fn dot(&mut self, x: u32, y: u32, light: [f32; 3]) {
        let (width, height) = (self.image.width(), self.image.height());
        if x < width && y < height {
            let at = 3 * (y as usize * width as usize + x as usize);
            self.image.data_mut()[at..at + 3].copy_from_slice(&light);
        }
    }
    // Darkens the background of letters.
    fn dim(&mut self, columns: Range<u32>, rows: Range<u32>) {
        for y in rows {
            let row = 3 * y as usize * self.image.width() as usize;
            let at = row + 3 * columns.start as usize..row + 3 * columns.end as usize;
            self.image.data_mut()[at].iter_mut().for_each(|light| *light = (*light * BEHIND).min(BEHIND));
        }
    }
    fn write(&mut self, text: &str, left: u32, top: u32, unit: u32) {
        let white = self.invert_tone([WHITE; 3]);
        for (i, glyph) in text.chars().filter_map(|c| font8x8::BASIC_FONTS.get(c)).enumerate() {
            for (row, bits) in glyph.iter().enumerate() {
                for column in (0..8).filter(|c| bits >> c & 1 == 1) {
                    let (x, y) = (left + (8 * i as u32 + column) * unit, top + row as u32 * unit);
                    (0..unit * unit).for_each(|d| self.dot(x + d % unit, y + d / unit, white));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_shows_the_map_and_stays_inside() {
        let legend =
            Legend { title: "velocity".into(), range: [0.0, 123456.789], map: ColourMap::default(), tone: Tone::Soft };
        for (w, h) in [(320, 240), (64, 48), (1920, 1080), (1, 1), (300, 20)] {
            let mut image = Image::new(w, h, 3, vec![0.0f32; 3 * w as usize * h as usize]);
            legend.apply(&mut image);
            // Letters are readable on a white background, which is darkened.
            let mut white = Image::new(w, h, 3, vec![1.0f32; 3 * w as usize * h as usize]);
            legend.apply(&mut white);
            if (w, h) == (320, 240) {
                let panel = 3 * (240 - 44) * 320..3 * (240 - 33) * 320;
                let inside: Vec<f32> =
                    white.data()[panel].chunks(3 * 320).flat_map(|row| row[3 * 12..3 * 90].to_vec()).collect();
                assert!(inside.iter().any(|&x| x > 0.7) && inside.iter().all(|&x| x > 0.7 || x <= BEHIND));
            }
            if (w, h) == (320, 240) {
                let colours: std::collections::HashSet<_> =
                    image.data().chunks(3).map(|p| [p[0], p[1], p[2]].map(f32::to_bits)).collect();
                assert!(colours.len() > 80, "{}", colours.len());
            }
        }
        // The legend is opaque in a transparent picture.
        let mut coverage = Image::new(320, 240, 1, vec![0.25f32; 320 * 240]);
        legend.cover(&mut coverage);
        assert_eq!(
            [(20, 200), (200, 200), (20, 100), (0, 0)].map(|(x, y)| coverage.pixel(x, y)[0]),
            [1.0, 0.25, 0.25, 0.25]
        );
        legend.cover(&mut Image::new(8, 8, 1, vec![0.0; 64]));
        assert_eq!(number(123456.789), "1.235e5");
        assert_eq!(number(0.25), "0.25");
    }

    #[test]
    fn numbers_of_a_legend_stand_apart() {
        for (range, expected) in [
            ([-12345.6789, 98765.4321], ["-12345.6789", "98765.4321"]),
            ([-1.234567e-7, 9.876543e8], ["-1.235e-7", "9.877e8"]),
        ] {
            let legend = Legend { title: "pressure".into(), range, map: ColourMap::default(), tone: Tone::Soft };
            for width in [244, 280, 320, 480, 1920] {
                let (place, numbers) = legend.layout((width, 200)).unwrap();
                let letters: usize = numbers.iter().map(String::len).sum();
                assert!(place.bar >= 8 * (letters as u32 + 1) && 12 + place.bar < width, "{width}: {numbers:?}");
                assert!(width < 320 || numbers == expected, "{width}: {numbers:?}");
            }
        }
        assert_eq!([rounded(98765.0, 1), rounded(-0.25, 2), rounded(0.0, 1)], ["1e5", "-0.25", "0"]);
        // The full width if the numbers fit.
        let short = Legend { title: "radius".into(), range: [0.0, 1.0], map: ColourMap::default(), tone: Tone::Soft };
        assert_eq!(short.layout((320, 240)).unwrap().0.bar, 106);
    }
}
