//! The colour map with its numbers, drawn into a picture's lower left corner.

use super::map_colour;
use font8x8::UnicodeFonts;

/// What to draw.
#[derive(Clone, Debug)]
pub struct Legend {
    /// What the colours mean.
    pub title: String,
    /// Values at the map's ends.
    pub range: [f64; 2],
}

impl Legend {
    /// Draws into RGBA rows.
    pub fn draw(&self, rgba: &mut [u8], width: u32, height: u32) {
        // Glyphs of 8 x 8 dots, larger in larger pictures.
        let unit = (height / 480).max(1);
        let (left, bar) = (12 * unit, (width / 3).min(256 * unit));
        let Some(top) = height.checked_sub(44 * unit).filter(|_| bar > 80 * unit) else { return };
        let mut canvas = Canvas { rgba, width, height };
        for x in 0..bar {
            let colour = map_colour((x * 255 / (bar - 1)) as usize).map(|c| (c * 255.0).round() as u8);
            (0..12 * unit).for_each(|y| canvas.dot(left + x, top + 12 * unit + y, colour));
        }
        canvas.write(&self.title, left, top, unit);
        let [low, high] = self.range.map(number);
        let below = top + 27 * unit;
        canvas.write(&low, left, below, unit);
        canvas.write(&high, left + bar - high.len() as u32 * 8 * unit, below, unit);
    }
}

// Four digits are enough for a legend.
fn number(x: f64) -> String {
    let size = x.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        format!("{x:.3e}")
    } else {
        format!("{}", (x * 1e4).round() / 1e4)
    }
}

struct Canvas<'a> {
    rgba: &'a mut [u8],
    width: u32,
    height: u32,
}

impl Canvas<'_> {
    fn dot(&mut self, x: u32, y: u32, colour: [u8; 3]) {
        if x < self.width && y < self.height {
            let at = 4 * (y as usize * self.width as usize + x as usize);
            self.rgba[at..at + 3].copy_from_slice(&colour);
        }
    }
    fn write(&mut self, text: &str, left: u32, top: u32, unit: u32) {
        for (i, glyph) in text.chars().filter_map(|c| font8x8::BASIC_FONTS.get(c)).enumerate() {
            for (row, bits) in glyph.iter().enumerate() {
                for column in (0..8).filter(|c| bits >> c & 1 == 1) {
                    let (x, y) = (left + (8 * i as u32 + column) * unit, top + row as u32 * unit);
                    (0..unit * unit).for_each(|d| self.dot(x + d % unit, y + d / unit, [235; 3]));
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
        let legend = Legend { title: "velocity".into(), range: [0.0, 123456.789] };
        for (w, h) in [(320, 240), (64, 48), (1920, 1080), (1, 1), (300, 20)] {
            let mut rgba = vec![0u8; 4 * w as usize * h as usize];
            legend.draw(&mut rgba, w, h);
            if (w, h) == (320, 240) {
                let colours: std::collections::HashSet<_> = rgba.chunks(4).map(|p| [p[0], p[1], p[2]]).collect();
                assert!(colours.len() > 80, "{}", colours.len());
            }
        }
        assert_eq!(number(123456.789), "1.235e5");
        assert_eq!(number(0.25), "0.25");
    }
}
