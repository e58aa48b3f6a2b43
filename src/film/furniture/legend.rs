//! The legend: a color map with ticks and a title, upright or flat.

use super::font;
use super::page::{ASCENT, DESCENT, LINE, Mark, Point, Rect, SMALL, TEXT, Text};
use super::ticks::{self, Ticks};
use crate::scene::ValueScale;
use std::sync::Arc;

/// What a legend tells of the particles.
#[derive(Clone, Debug, PartialEq)]
pub struct MapShown {
    /// The values at the ends of the map.
    pub range: [f64; 2],
    /// The colors between them.
    pub colours: Arc<Vec<[f64; 3]>>,
    /// Whether values lie below and above the range.
    pub outside: [bool; 2],
    /// What lies between the ends.
    pub scale: ValueScale,
    /// The values of the colors of a map that has one for each whole number; else none.
    pub classes: Vec<f64>,
}

/// A color map with its title.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    title: String,
    map: MapShown,
}

// Sizes, points: of the bar, of a tick, from a tick to its number, of a pointed end.
const THICK: f64 = 9.0;
const TICK: f64 = 2.5;
const SPACE: f64 = 2.0;
const POINT: f64 = 7.0;
// An upright bar over the height that it may have, a flat one over the width that it may have; the length of any bar; the length of a bar in a
// corner over the width of the page.
const UPRIGHT: f64 = 0.8;
const FLAT: f64 = 0.85;
const LENGTHS: [f64; 2] = [36.0, 220.0];
const CORNER: f64 = 0.34;
// The longest title above an upright bar, over the width of the page. A longer one stands beside it, turned.
const TITLE: f64 = 0.22;
// Height of a line of ticks over that of its letters.
const APART: f64 = 2.6;

impl Legend {
    pub fn new(title: String, map: MapShown) -> Legend {
        Legend { title, map }
    }

    fn number(text: &str, at: Point, anchor: f64, colour: [f64; 3]) -> Mark {
        Mark::Text(Text { text: text.to_owned(), at, size: SMALL, anchor, turned: false, colour })
    }

    fn ticks_of(&self, most: usize) -> Ticks {
        let [low, high] = self.map.range;
        match self.map.scale {
            _ if !self.map.classes.is_empty() => ticks::classes(&self.map.classes, most),
            ValueScale::Linear => ticks::linear(self.map.range, most),
            ValueScale::Log => ticks::logarithmic(self.map.range, most),
            ValueScale::Symlog => {
                ticks::symmetric(self.map.range, ValueScale::LINEAR * low.abs().max(high.abs()), most)
            }
        }
    }
    fn upright_ticks(&self, page: Point) -> Ticks {
        self.ticks_of(((Self::upright_length(page) / (SMALL * APART)) as usize + 1).clamp(2, 7))
    }
    // Ticks whose numbers do not touch.
    fn flat_ticks(&self, length: f64) -> Ticks {
        let fits = |ticks: &Ticks| {
            let places: Vec<_> =
                ticks.marks.iter().map(|(x, label)| (self.share(*x) * length, font::width(label, SMALL))).collect();
            places.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 0.5 * (pair[0].1 + pair[1].1) + SMALL)
        };
        (2..=7)
            .rev()
            .map(|most| self.ticks_of(most))
            .find(|ticks| ticks.marks.len() < 2 || fits(ticks))
            .unwrap_or_else(|| self.ticks_of(1))
    }
    fn share(&self, value: f64) -> f64 {
        match self.map.classes.len() {
            0 => self.map.scale.share(value, self.map.range),
            count => (value + 0.5) / count as f64,
        }
    }

    // The length of an upright bar where it may have this height.
    fn upright_length([_, height]: Point) -> f64 {
        (UPRIGHT * height).clamp(LENGTHS[0], LENGTHS[1])
    }
    // Whether the title stands above the bar.
    fn is_above(&self, [width, _]: Point, numbers: f64) -> bool {
        font::width(&self.title, TEXT) <= numbers.max(TITLE * width)
    }
    // The width of the bar with its numbers.
    fn numbers_width(&self, ticks: &Ticks) -> f64 {
        let widest = ticks.marks.iter().map(|(_, label)| font::width(label, SMALL)).fold(0.0, f64::max);
        (THICK + TICK + SPACE + widest).max(font::width(&ticks.factor, SMALL))
    }

    /// The width of an upright legend on a page of this width that leaves it this height.
    pub fn upright_width(&self, page: Point) -> f64 {
        let numbers = self.numbers_width(&self.upright_ticks(page));
        match self.is_above(page, numbers) {
            true => numbers.max(font::width(&self.title, TEXT)),
            false => numbers + SPACE + (ASCENT + DESCENT) * TEXT,
        }
    }

    /// Draws it upright into a rectangle whose width is [`Legend::upright_width`].
    pub fn upright(&self, [x, y, width, height]: Rect, page: Point, ink: [f64; 3], marks: &mut Vec<Mark>) {
        let ticks = self.upright_ticks(page);
        let is_above = self.is_above(page, self.numbers_width(&ticks));
        let points = self.map.outside.map(|is_outside| if is_outside { POINT } else { 0.0 });
        let line = |is_there: bool| if is_there { 1.4 * TEXT } else { 0.0 };
        let head = line(is_above) + line(!ticks.factor.is_empty()) + SPACE;
        // Half of the lowest and the highest number.
        let room = height - head - points[0] - points[1] - SMALL;
        let length = Self::upright_length(page).min(room);
        let top = y + head + points[1] + 0.5 * SMALL + 0.5 * (room - length);
        self.bar([x, top, THICK, length], true, ink, marks);
        for (value, label) in &ticks.marks {
            let at = top + length * (1.0 - self.share(*value));
            marks.push(Mark::line([[x + THICK, at], [x + THICK + TICK, at]], LINE, ink));
            marks.push(Self::number(label, [x + THICK + TICK + SPACE, at + 0.36 * SMALL], 0.0, ink));
        }
        let mut above = top - points[1] - 0.5 * SMALL - SPACE;
        if !ticks.factor.is_empty() {
            marks.push(Self::number(&ticks.factor, [x, above], 0.0, ink));
            above -= line(true);
        }
        let (at, anchor) = match is_above {
            true => ([x, above], 0.0),
            false => ([x + width - DESCENT * TEXT, top + 0.5 * length], 0.5),
        };
        let (text, turned) = (self.title.clone(), !is_above);
        marks.push(Mark::Text(Text { text, at, size: TEXT, anchor, turned, colour: ink }));
    }

    /// The height of a flat legend.
    pub fn flat_height(&self) -> f64 {
        (ASCENT + DESCENT) * TEXT + SPACE + THICK + TICK + SPACE + (ASCENT + DESCENT) * SMALL
    }

    /// Draws it flat in the middle of a rectangle.
    pub fn flat(&self, [x, y, width, _]: Rect, ink: [f64; 3], marks: &mut Vec<Mark>) {
        let length = (FLAT * width).clamp(LENGTHS[0], 1.5 * LENGTHS[1]);
        self.row([x + 0.5 * (width - length), y], length, ink, marks);
    }

    /// Draws it flat at the left of a rectangle.
    pub fn corner(&self, [x, y, width, _]: Rect, ink: [f64; 3], marks: &mut Vec<Mark>) {
        let length = (CORNER * width).clamp(2.0 * LENGTHS[0], LENGTHS[1]);
        // The number of the lowest value may begin to the left of the bar.
        let first = self
            .flat_ticks(length)
            .marks
            .first()
            .map_or(0.0, |(value, label)| 0.5 * font::width(label, SMALL) - self.share(*value) * length);
        let point = if self.map.outside[0] { POINT } else { 0.0 };
        self.row([x + first.max(point), y], length, ink, marks);
    }

    // A flat bar with its title above and its numbers below.
    fn row(&self, [x, y]: Point, length: f64, ink: [f64; 3], marks: &mut Vec<Mark>) {
        let ticks = self.flat_ticks(length);
        let baseline = y + ASCENT * TEXT;
        let title = match ticks.factor.as_str() {
            "" => self.title.clone(),
            factor => format!("{}  ({factor})", self.title),
        };
        marks.push(Mark::Text(Text {
            text: title,
            at: [x, baseline],
            size: TEXT,
            anchor: 0.0,
            turned: false,
            colour: ink,
        }));
        let top = baseline + DESCENT * TEXT + SPACE;
        self.bar([x, top, length, THICK], false, ink, marks);
        for (value, label) in &ticks.marks {
            let at = x + length * self.share(*value);
            marks.push(Mark::line([[at, top + THICK], [at, top + THICK + TICK]], LINE, ink));
            marks.push(Self::number(label, [at, top + THICK + TICK + SPACE + ASCENT * SMALL], 0.5, ink));
        }
    }

    // The bar, its pointed ends, and the line around both.
    fn bar(&self, rect: Rect, upright: bool, ink: [f64; 3], marks: &mut Vec<Mark>) {
        let [x, y, width, height] = rect;
        marks.push(Mark::Bar { rect, colours: self.map.colours.to_vec(), upright });
        let [low, high] = self.map.outside;
        let ends = match upright {
            true => [[[x, y + height], [x + width, y + height]], [[x + width, y], [x, y]]],
            false => [[[x, y], [x, y + height]], [[x + width, y + height], [x + width, y]]],
        };
        let tips = match upright {
            true => [[x + 0.5 * width, y + height + POINT], [x + 0.5 * width, y - POINT]],
            false => [[x - POINT, y + 0.5 * height], [x + width + POINT, y + 0.5 * height]],
        };
        let colours = [self.map.colours.first(), self.map.colours.last()];
        let mut rim = Vec::new();
        for (i, is_outside) in [low, high].into_iter().enumerate() {
            let [a, b] = ends[i];
            match (is_outside, colours[i]) {
                (true, Some(&colour)) => {
                    marks.push(Mark::Area { corners: vec![a, tips[i], b], colour });
                    rim.extend([a, tips[i], b]);
                }
                _ => rim.extend([a, b]),
            }
        }
        for i in 0..rim.len() {
            marks.push(Mark::line([rim[i], rim[(i + 1) % rim.len()]], LINE, ink));
        }
    }
}
