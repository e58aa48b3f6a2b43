//! The program's plots, as SVG.

use super::output_file::OutputFile;
use crate::cli::Failure;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

const SIZE: (u32, u32) = (760, 400);
// Colors that color-blind readers can distinguish (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 120, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 160, 213),
    RGBColor(150, 110, 20),
];
// Of the line where x equals y.
const IDEAL: RGBColor = RGBColor(170, 170, 170);
const FONT: &str = "sans-serif";
const MAX_POINTS: usize = 2000;
// Maximum number of labels below a plot.
const X_LABELS: usize = 11;
// The legend below a plot, in pixels: left margin, width of a color mark, height of a row.
const LEFT: i32 = 24;
const MARK: i32 = 14;
const ROW: i32 = 20;
// Named bars: the height of the title, of a name with its bar, and of the label of the values.
const HEAD: i32 = 50;
const BAR: i32 = 46;
const AXIS: i32 = 34;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A line, or the bars of one color.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// The lowest and the highest of the repetitions that a point is the middle of; none for all points, or one for each.
    pub spread: Vec<(f64, f64)>,
}

impl Series {
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series { name: name.into(), points: points.into_iter().collect(), spread: Vec::new() }
    }

    /// Points with the lowest and the highest of their repetitions.
    pub fn with_spread(name: impl Into<String>, points: impl IntoIterator<Item = (f64, [f64; 3])>) -> Series {
        let (points, spread) = points.into_iter().map(|(x, [low, y, high])| ((x, y), (low, high))).unzip();
        Series { name: name.into(), points, spread }
    }

    // Each point with the ends of its whisker.
    fn whiskers(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        self.points.iter().zip(&self.spread).map(|(&(x, _), &(low, high))| (x, low, high))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Style<'a> {
    /// Lines on an axis from 0. Points are marked if there are few.
    #[default]
    Lines,
    /// Lines, and a thin line where x equals y, which is ideal.
    LinesAndDiagonal,
    /// Lines on logarithmic axes, with these labels of the horizontal one.
    LogLines(&'a [(f64, String)]),
    /// Groups of bars, with one bar of each series per group.
    Bars(&'a [String]),
    /// One bar for each of these names and each point of the only series.
    NamedBars(&'a [String]),
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Plot<'a> {
    pub title: &'a str,
    /// The label of the horizontal axis.
    pub x: &'a str,
    /// The label of the vertical axis.
    pub y: &'a str,
    /// Small text at the bottom: scene and machine. It may be empty.
    pub note: &'a str,
    pub style: Style<'a>,
    pub series: &'a [Series],
}

pub const OF_BENCH: [&str; 6] = ["devices.svg", "rays.svg", "threads.svg", "clip.svg", "samples.svg", "depth.svg"];
pub const OF_BALANCE: [&str; 2] = ["work.svg", "speed-up.svg"];

/// Fails if one of these files is in the folder, unless it may be overwritten.
pub fn refuse_existing(folder: &Path, names: &[&str], overwrite: bool) -> Result<(), Failure> {
    names.iter().try_for_each(|name| OutputFile::create(&folder.join(name), overwrite).map(drop))
}

/// Writes plots into a folder, by their file names.
pub fn write_all(folder: &Path, plots: &[(&str, String)], overwrite: bool) -> Result<(), Failure> {
    let files: Vec<_> = plots.iter().map(|(name, svg)| (folder.join(name), svg.as_bytes().into())).collect();
    OutputFile::write_all(&files, overwrite)
}

// A power of ten, which an axis has with the error of its logarithm.
fn decade(x: f64) -> String {
    let power = libm::log10(x).round();
    if power.abs() < 7.0 { format!("{}", (1e6 * libm::pow(10.0, power)).round() / 1e6) } else { format!("1e{power}") }
}

// Three digits, as far as the number has them.
fn rounded(x: f64) -> String {
    match x.abs() {
        0.0..10.0 => number(&((x * 100.0).round() / 100.0)),
        10.0..100.0 => number(&((x * 10.0).round() / 10.0)),
        _ => number(&x.round()),
    }
}

// Integers have no decimal point.
fn number(x: &f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Plot<'_> {
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        // Drawing into a string fails only because of fonts or files, and this uses none.
        let _ = self.draw(&mut svg);
        svg
    }

    fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.series.iter().flat_map(|one| &one.points)
    }

    // The range of the horizontal axis, and its number of labels.
    fn width(&self) -> (f64, f64, usize) {
        if let Style::Bars(groups) = self.style {
            let count = groups.len().max(1);
            return (-0.5, count as f64 - 0.5, 2 * count + 1);
        }
        let (left, right) = match self.points().fold((f64::MAX, f64::MIN), |(a, b), p| (a.min(p.0), b.max(p.0))) {
            (left, right) if left < right => (left, right),
            (left, right) if left == right => (left.min(0.0), left.max(0.0) + 1.0),
            _ => (0.0, 1.0),
        };
        // Counts have no fractional labels.
        let is_whole = self.points().all(|(x, _)| x.fract() == 0.0);
        (left, right, if is_whole { ((right - left) as usize + 1).min(X_LABELS) } else { X_LABELS })
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let foot = Foot::of(self.series, self.style == Style::LinesAndDiagonal, self.note);
        let height = match self.style {
            Style::NamedBars(names) => SIZE.1.min((HEAD + names.len() as i32 * BAR + AXIS) as u32),
            _ => SIZE.1,
        };
        let area = SVGBackend::with_string(svg, (SIZE.0, height + foot.height())).into_drawing_area();
        area.fill(&WHITE)?;
        let (upper, lower) = area.split_vertically(height);
        let ends = || self.series.iter().flat_map(Series::whiskers).flat_map(|(_, low, high)| [low, high]);
        let values = || self.points().map(|p| p.1).chain(ends()).filter(|y| y.is_finite());
        let max = values().fold(0.0, f64::max);
        match self.style {
            Style::NamedBars(names) => self.draw_named_bars(&upper, names, max)?,
            Style::LogLines(labels) => {
                let xs = || labels.iter().map(|label| label.0);
                let (left, right) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN_POSITIVE, f64::max));
                // A single value is in the middle.
                let (left, right) = if left < right { (left, right) } else { (right / 2.0, right * 2.0) };
                let margin = libm::pow(right / left, 0.04);
                // Whole decades, a little wider than them, so that the first and the last one have labels.
                let max = max.max(1e-9);
                let min = values().fold(f64::MAX, f64::min).clamp(1e-9, max);
                let power = |x: f64| libm::pow(10.0, x);
                let (low, high) = (libm::log10(min).floor(), libm::log10(max).ceil());
                let high = if high > low { high } else { low + 1.0 };
                let y = (0.999 * power(low)..1.001 * power(high)).log_scale();
                self.draw_chart(&upper, (left / margin..right * margin).log_scale(), y, 0, (left, right))?;
            }
            _ => {
                // From 0 to slightly above the maximum; the diagonal is whole.
                let (left, right, labels) = self.width();
                let max = if self.style == Style::LinesAndDiagonal { max.max(right) } else { max };
                let top = if max > 0.0 { max * 1.08 } else { 1.0 };
                self.draw_chart(&upper, left..right, 0.0..top, labels, (left, right))?;
            }
        }
        foot.draw(&lower)?;
        area.present()?;
        Ok(())
    }

    // One bar a row, below its name and beside its value.
    fn draw_named_bars(&self, area: &Area<'_>, names: &[String], max: f64) -> Result<(), Box<dyn std::error::Error>> {
        let middle = Pos::new(HPos::Center, VPos::Top);
        let title = (FONT, 20).into_font().into_text_style(area).pos(middle);
        area.draw(&Text::new(self.title.to_owned(), (SIZE.0 as i32 / 2, 14), title))?;
        let longest = f64::from(SIZE.0 as i32 - 2 * LEFT - 90);
        let ends: Vec<_> = self.series.iter().flat_map(Series::whiskers).collect();
        for (row, (name, &(_, value))) in (0..).zip(names.iter().zip(self.points())) {
            let y = HEAD + row * BAR;
            let across = |value: f64| if max > 0.0 { (longest * value / max).round() as i32 } else { 0 };
            let width = across(value);
            area.draw(&Text::new(name.clone(), (LEFT, y), (FONT, 14).into_font()))?;
            area.draw(&Rectangle::new([(LEFT, y + 18), (LEFT + width.max(1), y + 32)], COLOURS[0].filled()))?;
            let mut end = width.max(1);
            if let Some(&(_, low, high)) = ends.get(row as usize) {
                let [low, high] = [low, high].map(|value| (LEFT + across(value), y + 25));
                draw_whisker(area, [low, high], (0, 4), BLACK)?;
                end = end.max(high.0 - LEFT);
            }
            let beside = (LEFT + end + 6, y + 18);
            area.draw(&Text::new(rounded(value), beside, (FONT, 14).into_font()))?;
        }
        let y = HEAD + names.len() as i32 * BAR + 6;
        Ok(area.draw(&Text::new(self.y.to_owned(), (LEFT, y), (FONT, 16).into_font()))?)
    }

    // The axes, and lines or bars. `diagonal` is where the thin line begins and ends.
    fn draw_chart<X, Y>(
        &self,
        area: &Area<'_>,
        x: X,
        y: Y,
        labels: usize,
        diagonal: (f64, f64),
    ) -> Result<(), Box<dyn std::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, (FONT, 20))
            .margin(14)
            .x_label_area_size(52)
            .y_label_area_size(72)
            .build_cartesian_2d(x, y)?;
        let x_label = |x: &f64| {
            let groups = match self.style {
                Style::Bars(groups) => groups,
                // They are drawn below.
                Style::LogLines(_) => return String::new(),
                _ => return number(x),
            };
            let is_near = (x.round() - x).abs() < 0.01 && *x > -0.25;
            groups.get(x.round() as usize).filter(|_| is_near).cloned().unwrap_or_default()
        };
        let mut mesh = chart.configure_mesh();
        if let Style::Bars(_) | Style::LogLines(_) = self.style {
            mesh.disable_x_mesh();
        }
        mesh.x_labels(labels)
            .light_line_style(WHITE)
            .x_label_formatter(&x_label)
            .y_label_formatter(&|y| if let Style::LogLines(_) = self.style { decade(*y) } else { number(y) })
            .x_desc(self.x)
            .y_desc(self.y)
            .label_style((FONT, 15))
            .axis_desc_style((FONT, 16))
            .draw()?;
        if let Style::LogLines(labels) = self.style {
            let middle = (FONT, 15).into_font().into_text_style(area).pos(Pos::new(HPos::Center, VPos::Top));
            let lowest = chart.y_range().start;
            let mut free = 0;
            for (x, label) in labels {
                let (at, bottom) = chart.backend_coord(&(*x, lowest));
                if at >= free {
                    area.draw(&Text::new(label.clone(), (at, bottom + 8), middle.clone()))?;
                    free = at + 9 * label.len() as i32;
                }
            }
        }
        if self.style == Style::LinesAndDiagonal {
            let (start, end) = diagonal;
            chart.draw_series(LineSeries::new([(start, start), (end, end)], IDEAL.stroke_width(1)))?;
        }
        let wide = 0.8 / self.series.len().max(1) as f64;
        for (i, one) in self.series.iter().enumerate() {
            let points = &one.points;
            let colour = COLOURS[i % COLOURS.len()];
            if let Style::Bars(_) = self.style {
                chart.draw_series(points.iter().map(|&(group, value)| {
                    let left = group - 0.4 + wide * i as f64;
                    Rectangle::new([(left, 0.0), (left + wide * 0.92, value)], colour.filled())
                }))?;
                continue;
            }
            let step = points.len().div_ceil(MAX_POINTS).max(1);
            let is_shown = |y: f64| y.is_finite() && (y > 0.0 || !matches!(self.style, Style::LogLines(_)));
            let shown = || points.iter().step_by(step).copied().filter(|(_, y)| is_shown(*y));
            chart.draw_series(LineSeries::new(shown(), colour.stroke_width(2)))?;
            if points.len() <= 40 {
                chart.draw_series(shown().map(|point| Circle::new(point, 3, colour.filled())))?;
            }
            for (x, low, high) in one.whiskers().filter(|&(_, low, high)| low < high && is_shown(low) && is_shown(high))
            {
                let ends = [low, high].map(|y| chart.backend_coord(&(x, y)));
                draw_whisker(area, ends, (4, 0), colour)?;
            }
        }
        Ok(())
    }
}

// A thin line between two ends, each with a stroke across it of so many pixels to both sides.
fn draw_whisker(
    area: &Area<'_>,
    ends: [(i32, i32); 2],
    (x, y): (i32, i32),
    colour: RGBColor,
) -> Result<(), Box<dyn std::error::Error>> {
    area.draw(&PathElement::new(ends, colour))?;
    Ok(ends.iter().try_for_each(|&(u, v)| area.draw(&PathElement::new([(u - x, v - y), (u + x, v + y)], colour)))?)
}

// The text below a plot: the legend, if there are several series, and the note. It never overlaps the plot.
struct Foot<'a> {
    // Each name with its color, its distance from the left and its row.
    names: Vec<(&'a str, RGBAColor, i32, i32)>,
    note: &'a str,
}

impl<'a> Foot<'a> {
    fn of(series: &'a [Series], has_ideal: bool, note: &'a str) -> Foot<'a> {
        let (mut names, mut x, mut row) = (Vec::new(), LEFT, 0);
        let named =
            series.iter().zip(COLOURS.iter().cycle()).map(|(one, colour)| (one.name.as_str(), colour.to_rgba()));
        let ideal = has_ideal.then_some(("ideal", IDEAL.to_rgba()));
        for (name, colour) in named.chain(ideal).filter(|_| series.len() > 1 || has_ideal) {
            // Fonts differ, so this leaves room for wide letters.
            let width = MARK + 10 + 8 * name.chars().count() as i32;
            if x > LEFT && x + width > SIZE.0 as i32 - 14 {
                (x, row) = (LEFT, row + 1);
            }
            names.push((name, colour, x, row));
            x += width + 18;
        }
        Foot { names, note }
    }

    fn rows(&self) -> i32 {
        self.names.last().map_or(0, |(.., row)| row + 1)
    }

    fn height(&self) -> u32 {
        match self.rows() + i32::from(!self.note.is_empty()) {
            0 => 0,
            lines => (lines * ROW) as u32 + 8,
        }
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), Box<dyn std::error::Error>> {
        for &(name, colour, x, row) in &self.names {
            let y = row * ROW;
            area.draw(&Rectangle::new([(x, y + 4), (x + MARK, y + 14)], colour.filled()))?;
            area.draw(&Text::new(name.to_owned(), (x + MARK + 6, y + 2), (FONT, 15).into_font()))?;
        }
        let small = (FONT, 12).into_font().color(&BLACK.mix(0.6));
        match self.note {
            "" => Ok(()),
            note => Ok(area.draw(&Text::new(note.to_owned(), (LEFT, self.rows() * ROW + 4), small))?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_whole_and_name_what_they_show() {
        let plot = |style, series: &[Series]| {
            let (note, x) = ("cube.toml; a <fast> machine", "threads");
            Plot { title: "A & B", x, y: "times", note, style, series }.svg()
        };
        let lines = |series: &[Series]| plot(Style::Lines, series);
        let curve = |name: &str, points: &[(f64, f64)]| Series::new(name, points.to_vec());
        let two = [curve("static", &[(1.0, 1.0), (2.0, 1.7)]), curve("dynamic", &[(1.0, 1.0), (2.0, 1.9)])];
        let groups = ["0".into(), "1".into()];
        for svg in [plot(Style::LinesAndDiagonal, &two), plot(Style::Bars(&groups), &two)] {
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            for word in ["A &amp; B", "threads", "times", "static", "dynamic", "cube.toml; a &lt;fast&gt; machine"] {
                assert!(svg.contains(word), "no {word} in {svg}");
            }
        }
        // Threads are counted, so there are two labels and no fractions.
        let svg = lines(&two);
        let label = |text: &str| svg.lines().filter(|line| line.trim() == text).count();
        assert_eq!((label("1"), label("1.1"), label("1.5")), (2, 0, 0), "{svg}");
        // The legend and the note are below the plot.
        let heights: Vec<u32> = ["static", "dynamic", "cube.toml; a &lt;fast&gt; machine"]
            .map(|word| {
                let at = svg.find(&format!("\n{word}\n")).unwrap_or_else(|| panic!("{word} in {svg}"));
                let tag = &svg[svg[..at].rfind("<text").unwrap()..at];
                tag.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
            })
            .to_vec();
        assert!(heights.iter().all(|&y| y >= SIZE.1), "{heights:?}");
        let many: Vec<Series> = (0..9).map(|i| curve(&format!("a long name of series {i}"), &[(1.0, 1.0)])).collect();
        let height =
            |svg: &str| svg.split("height=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
        assert_eq!(height(&lines(&two)).as_deref(), Some("448"));
        assert_eq!(height(&lines(&many)).as_deref(), Some("488"));
        // The ideal is named, and the axis holds it.
        let slow = plot(Style::LinesAndDiagonal, &[curve("", &[(1.0, 1.0), (4.0, 1.5)])]);
        let label = |text: &str| slow.lines().filter(|line| line.trim() == text).count();
        assert_eq!((label("ideal"), label("4")), (1, 2), "{slow}");
        // A line and its two ends for the spread of each point, unless all repetitions took the same time.
        let lines_of = |svg: &str| svg.matches("<line").count() + svg.matches("<polyline").count();
        let spread = |middle| lines(&[Series::with_spread("one", [(1.0, [0.5, middle, 5.0]), (2.0, [1.0; 3])])]);
        let plain = lines(&[curve("one", &[(1.0, 5.0), (2.0, 1.0)])]);
        assert_eq!(lines_of(&spread(5.0)), lines_of(&plain) + 3, "{}", spread(5.0));
        assert!(spread(2.0).contains("\n5\n"), "the axis holds the slowest: {}", spread(2.0));
        // No points, one point, and NaN.
        for points in [&[][..], &[(5.0, 2.0)], &[(0.0, 0.0), (1.0, f64::NAN)]] {
            let svg = lines(&[curve("one", points)]);
            assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"), "{svg}");
        }
        assert_eq!([0.0001, 0.99999, 10.0, 1e9].map(decade), ["0.0001", "1", "10", "1e9"]);
        // Sizes that are far apart, with their names; a single size; values of 0.
        let names = [(0.01, "small".to_owned()), (8.0, "large".to_owned())];
        for points in [&[(0.01, 0.5), (8.0, 700.0)][..], &[(0.01, 3.0)], &[(0.01, 0.0), (8.0, 0.0)]] {
            let svg = plot(Style::LogLines(&names[..points.len()]), &[curve("one", points)]);
            assert!(svg.trim_end().ends_with("</svg>") && svg.contains("\nsmall\n") && !svg.contains("NaN"), "{svg}");
        }
        let devices = ["CPU".into(), "GPU".into()];
        let svg = plot(Style::NamedBars(&devices), &[curve("", &[(0.0, 12.34), (1.0, 5678.9)])]);
        assert!(["\nCPU\n", "\n12.3\n", "\nGPU\n", "\n5679\n"].iter().all(|text| svg.contains(text)), "{svg}");
        let long: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 1.0)).collect();
        assert!(lines(&[curve("long", &long)]).len() < 60_000);
    }
}
