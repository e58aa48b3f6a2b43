//! A page: what is drawn beside and over a picture, in points of print from the upper left corner. The rasterizer, SVG and PDF draw the
//! same page.

use super::font;

/// A point, to the right and down.
pub type Point = [f64; 2];
/// Left, top, width and height.
pub type Rect = [f64; 4];

/// What is drawn, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Width and height.
    pub size: Point,
    pub marks: Vec<Mark>,
    /// Color of the rim around marks over a picture, which keeps them readable.
    pub rim: Option<[f64; 3]>,
}

/// A shape of one color, or a color map.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A polygon.
    Area { corners: Vec<Point>, colour: [f64; 3] },
    /// A bar with these colors, from its left to its right, or from its bottom to its top.
    Bar { rect: Rect, colours: Vec<[f64; 3]>, upright: bool },
    /// A line of text.
    Text(Text),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    pub text: String,
    /// Where the baseline begins, has its middle or ends.
    pub at: Point,
    pub size: f64,
    /// The share of the text that lies before `at`: 0, 0.5 or 1.
    pub anchor: f64,
    /// Whether it runs from the bottom to the top.
    pub turned: bool,
    pub colour: [f64; 3],
}

/// Sizes of print, points: of titles, of numbers, and of lines.
pub const TEXT: f64 = 8.0;
pub const SMALL: f64 = 7.0;
pub const LINE: f64 = 0.6;
/// Ascent and descent over the size of a text: those of digits, capitals and letters such as g.
pub const ASCENT: f64 = 0.75;
pub const DESCENT: f64 = 0.23;

impl Text {
    /// The rectangle that the text covers.
    pub fn bounds(&self) -> Rect {
        let (width, height) = (font::width(&self.text, self.size), (ASCENT + DESCENT) * self.size);
        let [x, y] = self.at;
        match self.turned {
            false => [x - self.anchor * width, y - ASCENT * self.size, width, height],
            true => [x - ASCENT * self.size, y + self.anchor * width - width, height, width],
        }
    }
    /// A position relative to the start of the baseline, to the right and upwards, as one of the page.
    pub fn place(&self, [x, y]: Point) -> Point {
        let along = x - self.anchor * font::width(&self.text, self.size);
        match self.turned {
            false => [self.at[0] + along, self.at[1] - y],
            true => [self.at[0] - y, self.at[1] - along],
        }
    }
}

impl Mark {
    /// A line with square ends.
    pub fn line([a, b]: [Point; 2], width: f64, colour: [f64; 3]) -> Mark {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let long = libm::hypot(dx, dy).max(1e-9);
        let [u, v] = [0.5 * width * dx / long, 0.5 * width * dy / long];
        let corners = vec![[a[0] - v, a[1] + u], [b[0] - v, b[1] + u], [b[0] + v, b[1] - u], [a[0] + v, a[1] - u]];
        Mark::Area { corners, colour }
    }
    /// The colors of a bar as areas. Each one reaches to the end of the bar, under the next ones, so that there are no seams.
    pub fn strips(&self) -> impl Iterator<Item = (Vec<Point>, [f64; 3])> {
        let bar = if let Mark::Bar { rect, colours, upright } = self { Some((*rect, colours, *upright)) } else { None };
        bar.into_iter().flat_map(|([x, y, width, height], colours, upright)| {
            let count = colours.len() as f64;
            colours.iter().enumerate().map(move |(i, &colour)| {
                let from = i as f64 / count;
                let [left, bottom] =
                    if upright { [x, y + height * (1.0 - from)] } else { [x + width * from, y + height] };
                (vec![[left, y], [x + width, y], [x + width, bottom], [left, bottom]], colour)
            })
        })
    }
    /// The rectangle that the mark covers.
    pub fn bounds(&self) -> Rect {
        match self {
            Mark::Bar { rect, .. } => *rect,
            Mark::Text(text) => text.bounds(),
            Mark::Area { corners, .. } => {
                let end = |i: usize, of: fn(f64, f64) -> f64, from: f64| corners.iter().map(|p| p[i]).fold(from, of);
                let [left, top] = [0, 1].map(|i| end(i, f64::min, f64::INFINITY));
                let [right, bottom] = [0, 1].map(|i| end(i, f64::max, f64::NEG_INFINITY));
                [left, top, right - left, bottom - top]
            }
        }
    }
}
