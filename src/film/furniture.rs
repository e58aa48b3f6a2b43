//! What stands beside the particles of a figure: legend, title, time, scale bar and axes. It is laid out once, in points of print, and drawn
//! into pictures, SVG and PDF.

pub mod font;
mod legend;
pub mod page;
pub mod raster;
pub mod ticks;

use crate::assets::particles::StepMoment;
use crate::film::post::lens::luminance;
use crate::scene::{CameraPath, Figure, LegendSide, Projection, Scene, View};
use legend::Legend;
pub use legend::MapShown;
use page::{ASCENT, DESCENT, LINE, Mark, Page, Point, Rect, SMALL, TEXT, Text};
use raster::Overlay;
use std::borrow::Cow;
use std::sync::Arc;

/// The furniture of a scene's frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Furniture {
    scene: Arc<Scene>,
    figure: Figure,
    legend: Option<Legend>,
    side: LegendSide,
    // Pixels a point.
    scale: f64,
    ink: [f64; 3],
    // The pixels, if they are the same in all frames.
    still: Option<Overlay>,
}

// Sizes of print, points.
const MARGIN: f64 = 6.0;
const GAP: f64 = 6.0;
// The length of an axis, and the side of the square that all need.
const AXIS: f64 = 15.0;
const AXES: f64 = 2.0 * (AXIS + SMALL);
// Width and height of a picture without a width in print, points, and the least of pixels a point: letters of ten pixels.
const SCREEN: [f64; 2] = [400.0, 300.0];
const LEAST_SCALE: f64 = 1.25;
// The share of the page's width and height that is left for the particles, at least.
const LEAST_ROOM: f64 = 0.3;
// The longest scale bar over the page's width.
const BAR: f64 = 0.25;

impl Furniture {
    /// The furniture of a scene, if it has any. `map` is the color map of its particles.
    pub fn of(scene: &Scene, map: Option<MapShown>) -> Option<Furniture> {
        let mut furniture = Furniture::laid_out(scene, map)?;
        let is_still = !furniture.tells_time() && !furniture.turns();
        furniture.still = is_still.then(|| furniture.drawn(0, StepMoment::default()));
        Some(furniture)
    }

    /// The same without pixels.
    pub fn laid_out(scene: &Scene, map: Option<MapShown>) -> Option<Furniture> {
        let particles = scene.world.particles.as_ref();
        let wants_legend = particles.is_some_and(|particles| particles.legend) || is_framed(scene);
        let side = scene.figure.as_ref().map_or(LegendSide::Corner, |figure| figure.legend);
        let mut figure = scene.figure.clone().unwrap_or_default();
        if !figure.panel.is_empty() {
            figure.title = format!("({}) {}", figure.panel, figure.title).trim_end().to_owned();
        }
        let title = match figure.label.as_str() {
            "" => particles.map_or("", |particles| particles.colour_by.name()),
            label => label,
        };
        // Frames with ranges of their own have no legend.
        let has_range = particles.is_some_and(|particles| !particles.range.is_of_each_frame());
        let map = map.filter(|_| wants_legend && has_range && side != LegendSide::None);
        let legend = map.map(|map| Legend::new(font::typeset(title), map));
        let has_text = !figure.title.is_empty() || !figure.time_label.is_empty();
        if legend.is_none() && !has_text && !figure.axes && figure.scale_bar.is_none() {
            return None;
        }
        let (scale, ink) = (scale(scene), ink(scene));
        let scene = Arc::new(scene.clone());
        Some(Furniture { scene, figure, legend, side, scale, ink, still: None })
    }

    /// Whether it tells the time or the number of a step.
    pub fn tells_time(&self) -> bool {
        self.figure.time_label.contains('{')
    }

    // Whether the camera moves, and with it the axes and the scale.
    fn turns(&self) -> bool {
        let is_fixed = match &self.scene.camera.path {
            CameraPath::Fixed { .. } => true,
            CameraPath::Orbit(orbit) => orbit.turns == 0.0,
            _ => false,
        };
        (self.figure.axes || self.figure.scale_bar.is_some())
            && (!is_fixed || self.scene.tracks.within("camera.").next().is_some())
    }

    fn is_framed(&self) -> bool {
        is_framed(&self.scene)
    }
    fn pixels(&self) -> (u32, u32) {
        (self.scene.render.width, self.scene.render.height)
    }
    fn view(&self, frame: u32) -> View {
        self.scene.camera_at(f64::from(frame)).view(frame, self.scene.output.frames)
    }
    // Points of print that a unit of the scene takes, if that is the same everywhere.
    fn points_per_unit(&self, frame: u32) -> Option<f64> {
        let (view, (width, height)) = (self.view(frame), self.pixels());
        let is_parallel = view.projection == Projection::Orthographic && self.figure.scale_bar.is_some();
        is_parallel.then(|| 1.0 / (view.units_per_pixel(width, height) * self.scale))
    }

    /// The size of the page, points.
    pub fn size(&self) -> Point {
        page_size(&self.scene)
    }

    /// Whether all of it lies within the picture, and leaves enough of it.
    pub fn fits(&self) -> bool {
        let [width, height] = self.size();
        let inside = |[x, y, w, h]: Rect| x >= 0.0 && y >= 0.0 && x + w <= width && y + h <= height;
        let [.., w, h] = self.room();
        self.marks(0, StepMoment::default()).iter().all(|mark| inside(mark.bounds()))
            && (!self.is_framed() || (w >= LEAST_ROOM * width * self.scale && h >= LEAST_ROOM * height * self.scale))
    }

    /// The rectangle that is left for the particles, pixels.
    pub fn room(&self) -> Rect {
        let [width, height] = self.size();
        let [left, top, right, bottom] = self.margins();
        [left, top, (width - left - right).max(1.0), (height - top - bottom).max(1.0)].map(|x| x * self.scale)
    }

    // Room at the left, the top, the right and the bottom.
    fn margins(&self) -> [f64; 4] {
        let (mut margins, column) = ([MARGIN; 4], self.column());
        margins[1] = self.top();
        match self.side {
            _ if column == 0.0 => {}
            LegendSide::Left => margins[0] += column + 2.0 * GAP,
            _ => margins[2] += column + 2.0 * GAP,
        }
        let foot = self.foot();
        if foot > 0.0 {
            margins[3] += foot + GAP;
        }
        margins
    }

    fn top(&self) -> f64 {
        let has_line = !self.figure.title.is_empty() || !self.figure.time_label.is_empty();
        MARGIN + if has_line { TEXT * (ASCENT + DESCENT) + GAP } else { 0.0 }
    }

    // An upright legend, which stands beside the particles, with the axes below it.
    fn upright(&self) -> Option<&Legend> {
        self.legend.as_ref().filter(|_| matches!(self.side, LegendSide::Right | LegendSide::Left))
    }
    fn axes_side(&self) -> f64 {
        if self.figure.axes { AXES } else { 0.0 }
    }
    // Width of the page, and height of an upright legend.
    fn legend_room(&self) -> Point {
        let [width, height] = self.size();
        let axes = if self.figure.axes { AXES + GAP } else { 0.0 };
        [width, height - self.top() - MARGIN - axes]
    }
    fn column(&self) -> f64 {
        self.upright().map_or(0.0, |legend| legend.upright_width(self.legend_room()).max(self.axes_side()))
    }
    // The height of the line below the particles: axes without an upright legend, a scale bar, and a flat legend.
    fn foot(&self) -> f64 {
        let axes = if self.upright().is_none() { self.axes_side() } else { 0.0 };
        let bar = if self.points_per_unit(0).is_some() { 4.0 + TEXT * (ASCENT + DESCENT) } else { 0.0 };
        let flat = self.legend.as_ref().filter(|_| self.side == LegendSide::Bottom).map_or(0.0, Legend::flat_height);
        axes.max(bar).max(flat)
    }

    /// The page of a frame.
    pub fn page(&self, frame: u32, moment: StepMoment) -> Page {
        let marks = if self.fits() { self.marks(frame, moment) } else { Vec::new() };
        Page { size: self.size(), marks, rim: (!self.is_framed()).then(|| self.ink.map(|x| 1.0 - x)) }
    }

    fn drawn(&self, frame: u32, moment: StepMoment) -> Overlay {
        Overlay::of(&self.page(frame, moment), self.scale, self.pixels())
    }

    /// The pixels of a frame.
    pub fn overlay(&self, frame: u32, moment: StepMoment) -> Cow<'_, Overlay> {
        self.still.as_ref().map_or_else(|| Cow::Owned(self.drawn(frame, moment)), Cow::Borrowed)
    }

    fn marks(&self, frame: u32, moment: StepMoment) -> Vec<Mark> {
        let [width, height] = self.size();
        let [left, top, right, _] = self.margins();
        let mut marks = Vec::new();
        let line = MARGIN + ASCENT * TEXT;
        marks.extend(self.text(&self.figure.title, [MARGIN, line], 0.0));
        let time = self.time_text(frame, moment);
        marks.extend(self.text(&time, [width - MARGIN, line], 1.0));
        let (foot, mut x) = (height - MARGIN, left);
        let half = 0.5 * AXES;
        if let Some(legend) = self.upright() {
            let column = self.column();
            let at = if self.side == LegendSide::Right { width - right + 2.0 * GAP } else { MARGIN };
            let [_, tall] = self.legend_room();
            legend.upright([at, top, column, tall], self.legend_room(), self.ink, &mut marks);
            if self.figure.axes {
                self.tripod(frame, [at + half, foot - half], &mut marks);
            }
        } else if self.figure.axes {
            self.tripod(frame, [x + half, foot - half], &mut marks);
            x += AXES + 2.0 * GAP;
        }
        if let Some(points) = self.points_per_unit(frame) {
            x += self.scale_bar(points, [x, foot], &mut marks) + 2.0 * GAP;
        }
        match (&self.legend, self.side) {
            (Some(legend), LegendSide::Bottom) => {
                let tall = legend.flat_height();
                legend.flat([x, foot - tall, width - MARGIN - x, tall], self.ink, &mut marks);
            }
            (Some(legend), LegendSide::Corner) => {
                let tall = legend.flat_height();
                legend.corner([x, foot - tall, width - 2.0 * MARGIN, tall], self.ink, &mut marks);
            }
            _ => {}
        }
        marks
    }

    // A bar of a round length with its text above, from a point at its lower left; returns the width of both.
    fn scale_bar(&self, points_per_unit: f64, [x, foot]: Point, marks: &mut Vec<Mark>) -> f64 {
        let Some((length, number)) = ticks::round_length(BAR * self.size()[0] / points_per_unit) else { return 0.0 };
        let unit = self.figure.scale_bar.as_deref().unwrap_or_default();
        let (long, text) = (length * points_per_unit, format!("{number} {unit}"));
        let wide = long.max(font::width(&font::typeset(&text), TEXT));
        let middle = x + 0.5 * wide;
        let ends = [-0.5, 0.5].map(|half| [middle + half * long, foot - 1.0]);
        marks.push(Mark::line(ends, 2.0, self.ink));
        marks.extend(self.text(text.trim_end(), [middle, foot - 4.0 - DESCENT * TEXT], 0.5));
        wide
    }

    // The time label of a frame: a file's own step has precedence over its place in the series.
    fn time_text(&self, frame: u32, moment: StepMoment) -> String {
        let place = self.scene.world.particles.as_ref().map_or(u64::from(frame), |particles| particles.number(frame));
        let step = moment.number.unwrap_or(place);
        let text = self.figure.time_label.replace("{step}", &step.to_string());
        let time = moment.time.unwrap_or_default();
        match text.split_once("{time").and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
            Some((before, (form, after))) => {
                let digits =
                    form.strip_prefix(":.").and_then(|digits| digits.strip_suffix('f')).and_then(|n| n.parse().ok());
                let time =
                    digits.map_or_else(|| time.to_string(), |digits: usize| format!("{time:.*}", digits.min(17)));
                format!("{before}{}{after}", time.replace('-', "−"))
            }
            None => text,
        }
    }

    // A line of text, if there is one.
    fn text(&self, text: &str, at: Point, anchor: f64) -> Option<Mark> {
        let text = font::typeset(text);
        let mark = |text| Mark::Text(Text { text, at, size: TEXT, anchor, turned: false, colour: self.ink });
        (!text.is_empty()).then(|| mark(text))
    }

    // The axes from a point; those that point away from the eye are drawn first.
    fn tripod(&self, frame: u32, middle: Point, marks: &mut Vec<Mark>) {
        let view = self.view(frame);
        // The columns of the camera's basis.
        let direction = |i: usize| [view.right[i], view.up[i], view.forward[i]];
        let mut axes = [(direction(0), 'x'), (direction(1), 'y'), (direction(2), 'z')];
        axes.sort_by(|(a, _), (b, _)| b[2].total_cmp(&a[2]));
        for ([right, up, _], name) in axes {
            let long = libm::hypot(right, up);
            if long < 0.05 {
                // It points to the eye, or away: a dot.
                let r = 1.2;
                let corner = |i: i32| {
                    let angle = f64::from(i) * std::f64::consts::FRAC_PI_8;
                    [middle[0] + r * libm::cos(angle), middle[1] + r * libm::sin(angle)]
                };
                marks.push(Mark::Area { corners: (0..16).map(corner).collect(), colour: self.ink });
                let at = [middle[0] - 0.75 * SMALL, middle[1] + 0.95 * SMALL];
                marks.push(self.small(name, at));
                continue;
            }
            let [u, v] = [right / long, -up / long];
            let tip = [middle[0] + AXIS * right, middle[1] - AXIS * up];
            // The head is as long as the axis allows.
            let head = 4.0_f64.min(AXIS * long);
            let base = [tip[0] - head * u, tip[1] - head * v];
            marks.push(Mark::line([middle, base], LINE * 1.5, self.ink));
            let corners = vec![tip, [base[0] - 1.6 * v, base[1] + 1.6 * u], [base[0] + 1.6 * v, base[1] - 1.6 * u]];
            marks.push(Mark::Area { corners, colour: self.ink });
            let at = [tip[0] + 0.55 * SMALL * u, tip[1] + 0.55 * SMALL * v + 0.26 * SMALL];
            marks.push(self.small(name, at));
        }
    }

    fn small(&self, letter: char, at: Point) -> Mark {
        Mark::Text(Text { text: letter.into(), at, size: SMALL, anchor: 0.5, turned: false, colour: self.ink })
    }
}

// Pixels a point.
fn scale(scene: &Scene) -> f64 {
    let [width, height] = [scene.render.width, scene.render.height].map(f64::from);
    match scene.figure.as_ref().and_then(|figure| figure.width) {
        Some(length) => width / (72.0 * length.inches()),
        None => (width / SCREEN[0]).min(height / SCREEN[1]).max(LEAST_SCALE),
    }
}

/// The size of a scene's pictures in print, points.
pub fn page_size(scene: &Scene) -> Point {
    let scale = scale(scene);
    [scene.render.width, scene.render.height].map(|pixels| f64::from(pixels) / scale)
}

// Whether the view leaves room for what stands beside the particles.
fn is_framed(scene: &Scene) -> bool {
    scene.figure.as_ref().is_some_and(|figure| figure.view.is_some())
}

// Black on a light ground, white on a dark one. Transparent pictures are put on paper.
fn ink(scene: &Scene) -> [f64; 3] {
    let sky = &scene.world.sky;
    let ground = match (sky.transparent, &sky.image) {
        (true, _) => [1.0; 3],
        (false, Some(_)) => [0.0; 3],
        (false, None) => [0, 1, 2].map(|i| 0.5 * (sky.zenith[i] + sky.horizon[i])),
    };
    if luminance(ground) > 0.5 { [0.0; 3] } else { [1.0; 3] }
}
