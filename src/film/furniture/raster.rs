//! Draws a page into a picture, with anti-aliasing. Edges are blended in display colors, as SVG and PDF do it. Bytes are the same on
//! every machine: the rasterizer counts in whole numbers.

use super::font;
use super::page::{Mark, Page, Text};
use crate::film::image::Image;
use crate::scene::Tone;
use std::collections::BTreeMap;
use zeno::{Command, Join, Mask, PathBuilder, Stroke, Style};

/// The pixels of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    pixels: Vec<Dot>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Dot {
    at: usize,
    // The display color, and how much of the pixel it covers.
    colour: [f64; 3],
    cover: f64,
}

// The width of a rim to each side, points, and how much it covers.
const RIM: f64 = 0.9;
const RIM_COVER: f64 = 0.8;

// At most so many colors are classes, which are equally wide.
const FEW: i64 = 32;

struct Canvas {
    scale: f64,
    size: (u32, u32),
    // Colors times their cover.
    pixels: BTreeMap<usize, ([f64; 3], f64)>,
}

impl Canvas {
    fn dot(&mut self, (x, y): (i64, i64), colour: [f64; 3], cover: f64) {
        let (width, height) = (i64::from(self.size.0), i64::from(self.size.1));
        if cover > 0.0 && (0..width).contains(&x) && (0..height).contains(&y) {
            let (held, below) = self.pixels.entry((y * width + x) as usize).or_insert(([0.0; 3], 0.0));
            *held = [0, 1, 2].map(|i| colour[i] * cover + held[i] * (1.0 - cover));
            *below = cover + *below * (1.0 - cover);
        }
    }
    fn fill<'a>(&mut self, path: &[Command], style: impl Into<Style<'a>>, colour: [f64; 3], strength: f64) {
        let (mask, place) = Mask::new(path).style(style).render();
        let width = place.width.max(1) as usize;
        for (y, row) in (0..).zip(mask.chunks(width)) {
            for (x, &cover) in (0..).zip(row) {
                let at = (i64::from(place.left) + x, i64::from(place.top) + y);
                self.dot(at, colour, strength * f64::from(cover) / 255.0);
            }
        }
    }
    fn path(&self, mark: &Mark) -> Vec<Command> {
        let scaled = |p: [f64; 2]| p.map(|x| (x * self.scale) as f32);
        let mut path = Vec::new();
        match mark {
            Mark::Text(text) => self.outline(text, &mut path),
            Mark::Area { corners, .. } => {
                for (i, &corner) in corners.iter().enumerate() {
                    if i == 0 {
                        path.move_to(scaled(corner))
                    } else {
                        path.line_to(scaled(corner))
                    };
                }
                path.close();
            }
            Mark::Bar { rect: [x, y, width, height], .. } => {
                path.add_rect(scaled([*x, *y]), (*width * self.scale) as f32, (*height * self.scale) as f32);
            }
        }
        path
    }
    fn outline(&self, text: &Text, path: &mut Vec<Command>) {
        for glyph in font::glyphs(&text.text).0 {
            let place = |[x, y]: [f64; 2]| {
                let point = [glyph.x + glyph.scale * x, glyph.rise + glyph.scale * y];
                text.place(point.map(|x| x * text.size)).map(|x| x * self.scale)
            };
            font::outline(glyph.id, &place, path);
        }
    }
    // Whole pixels, each of one color of the map, so that the colors are exact. The first and the last color are at the ends.
    fn bar(&mut self, [x, y, width, height]: [f64; 4], colours: &[[f64; 3]], upright: bool) {
        let pixel = |x: f64| (x * self.scale).round() as i64;
        let [left, top, right, bottom] = [pixel(x), pixel(y), pixel(x + width), pixel(y + height)];
        let long = (if upright { bottom - top } else { right - left }).max(2);
        for row in top..bottom {
            for column in left..right {
                let along = if upright { bottom - 1 - row } else { column - left };
                let count = colours.len() as i64;
                let index = if count > FEW { along * (count - 1) / (long - 1) } else { along * count / long };
                if let Some(&colour) = colours.get(index as usize) {
                    self.dot((column, row), colour, 1.0);
                }
            }
        }
    }
}

impl Overlay {
    /// The page in a picture of this size, with so many pixels a point.
    pub fn of(page: &Page, scale: f64, size: (u32, u32)) -> Overlay {
        let mut canvas = Canvas { scale, size, pixels: BTreeMap::new() };
        if let Some(rim) = page.rim {
            let mut stroke = Stroke::new((2.0 * RIM * scale) as f32);
            stroke.join(Join::Round);
            for mark in &page.marks {
                canvas.fill(&canvas.path(mark), stroke, rim, RIM_COVER);
            }
        }
        for mark in &page.marks {
            match mark {
                Mark::Bar { rect, colours, upright } => canvas.bar(*rect, colours, *upright),
                Mark::Area { colour, .. } | Mark::Text(Text { colour, .. }) => {
                    canvas.fill(&canvas.path(mark), zeno::Fill::NonZero, *colour, 1.0);
                }
            }
        }
        let dot =
            |(at, (colour, cover)): (usize, ([f64; 3], f64))| Dot { at, colour: colour.map(|x| x / cover), cover };
        Overlay { pixels: canvas.pixels.into_iter().map(dot).collect() }
    }

    /// Draws it over linear light, which the tone curve then shows as the page's colors. With `coverage`, the light is that of what
    /// covers so much of each pixel.
    pub fn apply(&self, image: &mut Image<f32>, coverage: Option<&Image<f32>>, tone: Tone) {
        let pixels = image.data_mut().as_chunks_mut::<3>().0;
        let mut exact: Option<([f64; 3], [f64; 3])> = None;
        for dot in &self.pixels {
            let Some(pixel) = pixels.get_mut(dot.at) else { continue };
            let below = coverage.and_then(|all| all.data().get(dot.at)).map_or(1.0, |&x| f64::from(x));
            if dot.cover >= 1.0 {
                let known = exact.filter(|(colour, _)| *colour == dot.colour).map(|(_, light)| light);
                let light = known.unwrap_or_else(|| tone.invert(dot.colour));
                exact = Some((dot.colour, light));
                *pixel = light.map(|x| x as f32);
                continue;
            }
            let covered = dot.cover + below * (1.0 - dot.cover);
            let rest = below * (1.0 - dot.cover) / covered;
            let seen = |x: f32| if below > 0.0 { f64::from(x) / below } else { 0.0 };
            let shown = tone.tone_map(pixel.map(seen)).map(|x| tone.encode(x.clamp(0.0, 1.0)));
            let mixed = [0, 1, 2].map(|i| dot.colour[i] * (1.0 - rest) + shown[i] * rest);
            *pixel = tone.invert(mixed).map(|x| (x * covered) as f32);
        }
    }

    /// Adds it to the covered fraction of each pixel, for transparent skies.
    pub fn cover(&self, coverage: &mut Image<f32>) {
        for dot in &self.pixels {
            if let Some(covered) = coverage.data_mut().get_mut(dot.at) {
                *covered = (dot.cover + f64::from(*covered) * (1.0 - dot.cover)) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(marks: Vec<Mark>, rim: Option<[f64; 3]>) -> Page {
        Page { size: [40.0, 20.0], marks, rim }
    }

    #[test]
    fn edges_are_blended_in_display_colours() {
        let square =
            |x: f64| Mark::Area { corners: vec![[x, 2.0], [x + 4.0, 2.0], [x + 4.0, 6.0], [x, 6.0]], colour: [0.0; 3] };
        let overlay = Overlay::of(&page(vec![square(3.5)], None), 1.0, (40, 20));
        for tone in [Tone::Clip { gamma: 0.0 }, Tone::Soft] {
            let mut image = Image::new(40, 20, 3, vec![0.5f32; 40 * 20 * 3]);
            overlay.apply(&mut image, None, tone);
            let shown = |x: u32| tone.encode(tone.tone_map([f64::from(image.pixel(x, 4)[0]); 3])[0]);
            assert_eq!((image.pixel(2, 4)[0], image.pixel(5, 4)[0]), (0.5, 0.0));
            let (ground, edge) = (shown(0), shown(3));
            assert!((edge - 0.5 * ground).abs() < 0.01, "{edge} of {ground}");
        }
    }

    #[test]
    fn a_transparent_ground_shows_the_ink_alone() {
        let text = Text {
            text: "8".into(),
            at: [10.0, 15.0],
            size: 12.0,
            anchor: 0.0,
            turned: false,
            colour: [1.0, 0.0, 0.0],
        };
        let overlay = Overlay::of(&page(vec![Mark::Text(text)], None), 1.0, (40, 20));
        let mut image = Image::new(40, 20, 3, vec![0.0f32; 40 * 20 * 3]);
        let mut coverage = Image::new(40, 20, 1, vec![0.0f32; 40 * 20]);
        overlay.apply(&mut image, Some(&coverage), Tone::Clip { gamma: 0.0 });
        overlay.cover(&mut coverage);
        let pairs = image.data().chunks(3).zip(coverage.data());
        let edges = pairs.filter(|(_, cover)| (0.1..0.9).contains(*cover)).inspect(|(light, cover)| {
            // Straight color is that of the ink.
            assert!((light[0] / **cover - 1.0).abs() < 1e-3 && light[1] == 0.0, "{light:?} {cover}");
        });
        assert!(edges.count() > 10);
    }

    #[test]
    fn bars_have_the_colours_of_the_map_in_whole_pixels() {
        let colours: Vec<[f64; 3]> = (0..256).map(|i| [f64::from(i) / 255.0, 0.0, 1.0]).collect();
        for (rect, upright) in [([2.3, 3.1, 30.0, 4.0], false), ([2.3, 1.1, 4.0, 17.5], true)] {
            let mark = Mark::Bar { rect, colours: colours.clone(), upright };
            let overlay = Overlay::of(&page(vec![mark], None), 1.7, (68, 34));
            assert!(overlay.pixels.iter().all(|dot| dot.cover == 1.0 && colours.contains(&dot.colour)));
            for end in [0, 255] {
                assert!(overlay.pixels.iter().any(|dot| dot.colour == colours[end]), "{end}");
            }
        }
    }
}
