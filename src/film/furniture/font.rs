//! The font of figures: Noto Sans (SIL Open Font License, in the crate `notosans`), its widths and outlines.

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use std::sync::LazyLock;
use zeno::{Command, PathBuilder};

/// The file of the font.
pub const BYTES: &[u8] = notosans::REGULAR_TTF;
/// Its name in documents.
pub const NAME: &str = "Noto Sans";

// The file is a part of the program, so it is there.
static FACE: LazyLock<Option<FontRef<'static>>> = LazyLock::new(|| FontRef::new(BYTES).ok());

/// The font.
pub fn face() -> Option<&'static FontRef<'static>> {
    FACE.as_ref()
}

/// Units of the font's coordinates in its size.
pub fn units(face: &FontRef) -> f64 {
    f64::from(face.metrics(Size::unscaled(), LocationRef::default()).units_per_em)
}

/// The width of a glyph, in sizes of the font.
pub fn advance(face: &FontRef, id: GlyphId) -> f64 {
    let metrics = face.glyph_metrics(Size::unscaled(), LocationRef::default());
    f64::from(metrics.advance_width(id).unwrap_or(0.0)) / units(face)
}

/// A character with its position, from the start of the text on its baseline, in sizes of the font.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glyph {
    pub letter: char,
    pub id: u16,
    /// Distance to the right.
    pub x: f64,
    /// Height above the baseline.
    pub rise: f64,
    /// Its size over that of the text: superscripts are smaller.
    pub scale: f64,
}

// Superscripts, and the ordinary characters that they are made of: the font has no minus among its own.
const RAISED: [(char, char); 12] = [
    ('⁰', '0'),
    ('¹', '1'),
    ('²', '2'),
    ('³', '3'),
    ('⁴', '4'),
    ('⁵', '5'),
    ('⁶', '6'),
    ('⁷', '7'),
    ('⁸', '8'),
    ('⁹', '9'),
    ('⁻', '−'),
    ('⁺', '+'),
];
const RAISED_SCALE: f64 = 0.68;
const RAISED_RISE: f64 = 0.36;

/// The same number as a superscript.
pub fn superscript(number: i32) -> String {
    let raised = |c: char| if c == '-' { '⁻' } else { c.to_digit(10).map_or(c, |digit| RAISED[digit as usize].0) };
    number.to_string().chars().map(raised).collect()
}

/// The text as it is set: `^2` and `^-1` become superscripts, `^{..}` too.
pub fn typeset(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('^') {
        out.push_str(before);
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(after.len());
        let (exponent, left) = braced.unwrap_or(after.split_at(end));
        match exponent.parse() {
            Ok(number) => out.push_str(&superscript(number)),
            Err(_) => {
                out.push('^');
                rest = after;
                continue;
            }
        }
        rest = left;
    }
    out + rest
}

/// The glyphs of a text, and its width in sizes of the font.
pub fn glyphs(text: &str) -> (Vec<Glyph>, f64) {
    let Some(face) = face() else { return (Vec::new(), 0.0) };
    let letters = face.charmap();
    let mut x = 0.0;
    let glyph = |letter: char| {
        let raised = RAISED.iter().find(|(small, _)| *small == letter);
        let (letter, scale, rise) = raised.map_or((letter, 1.0, 0.0), |(_, plain)| (*plain, RAISED_SCALE, RAISED_RISE));
        // What the font lacks is its box, as elsewhere.
        let id = letters.map(letter).unwrap_or_default();
        let glyph = Glyph { letter, id: id.to_u32() as u16, x, rise, scale };
        x += scale * advance(face, id);
        glyph
    };
    let all = text.chars().filter(|c| !c.is_control()).map(glyph).collect();
    (all, x)
}

/// The width of a text of this size.
pub fn width(text: &str, size: f64) -> f64 {
    size * glyphs(text).1
}

/// The outline of a glyph as a path. `place` maps sizes of the font, upwards, to the path's coordinates.
pub fn outline(id: u16, place: &dyn Fn([f64; 2]) -> [f64; 2], path: &mut Vec<Command>) {
    struct Outline<'a> {
        units: f64,
        place: &'a dyn Fn([f64; 2]) -> [f64; 2],
        path: &'a mut Vec<Command>,
    }
    impl Outline<'_> {
        fn at(&self, x: f32, y: f32) -> [f32; 2] {
            (self.place)([f64::from(x) / self.units, f64::from(y) / self.units]).map(|x| x as f32)
        }
    }
    impl OutlinePen for Outline<'_> {
        fn move_to(&mut self, x: f32, y: f32) {
            self.path.move_to(self.at(x, y));
        }
        fn line_to(&mut self, x: f32, y: f32) {
            self.path.line_to(self.at(x, y));
        }
        fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
            self.path.quad_to(self.at(x1, y1), self.at(x, y));
        }
        fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
            self.path.curve_to(self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        }
        fn close(&mut self) {
            self.path.close();
        }
    }
    let Some(face) = face() else { return };
    let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
    let drawn = face.outline_glyphs().get(GlyphId::from(id));
    // A glyph of this font can be drawn: what cannot leaves a gap.
    drawn.map(|glyph| glyph.draw(settings, &mut Outline { units: units(face), place, path }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_superscripts() {
        assert_eq!(typeset("m/s^2, kg m^-1, x^{10}, a^b, c^"), "m/s², kg m⁻¹, x¹⁰, a^b, c^");
        assert_eq!(superscript(-12), "⁻¹²");
        let (all, _) = glyphs("×10⁻⁵");
        assert_eq!(all.iter().map(|g| g.letter).collect::<String>(), "×10−5");
        assert!(all.iter().all(|g| g.id != 0) && all[3].rise > 0.0 && all[2].rise == 0.0);
        // Letters of units, and of the languages of messages.
        assert!(glyphs("µΩαβγρσÅ°·×−±ЖяЁё").0.iter().all(|g| g.id != 0));
    }

    #[test]
    fn a_wider_text_is_wider() {
        assert!(width("mm", 8.0) > width("ii", 8.0) && (width("ab", 16.0) - 2.0 * width("ab", 8.0)).abs() < 1e-9);
    }
}
