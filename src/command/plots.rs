//! All plots of the program, as SVG.

use plotters::prelude::*;

const SIZE: (u32, u32) = (760, 400);
// Told apart by people who see fewer colours too (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 120, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 160, 213),
    RGBColor(150, 110, 20),
];
const FONT: &str = "sans-serif";
// Points of a curve that an eye can tell apart.
const MOST: usize = 2000;
// Labels below a plot at most.
const X_LABELS: usize = 11;
// Below a plot: where names begin, a mark of a colour, and a row.
const LEFT: i32 = 24;
const MARK: i32 = 14;
const ROW: i32 = 20;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// What stands beside a plot.
#[derive(Clone, Copy, Debug, Default)]
pub struct AxisLabels<'a> {
    /// Above it.
    pub title: &'a str,
    /// Below it.
    pub x: &'a str,
    /// To its left.
    pub y: &'a str,
    /// In small letters at the bottom: the scene and the machine. Nothing where it is empty.
    pub note: &'a str,
}

// Whole numbers without a point.
fn number(x: &f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

// From 0 to a little above the largest.
fn above(values: impl Iterator<Item = f64>) -> f64 {
    let max = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
    if max > 0.0 { max * 1.08 } else { 1.0 }
}

/// Lines from 0 up, few points marked. `even`: a thin line where both axes are the same.
pub fn lines(words: AxisLabels, curves: &[Series], even: bool) -> String {
    let all = || curves.iter().flat_map(|c| &c.points);
    let (left, right) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p.0), b.max(p.0)));
    let (left, right) = match left < right {
        true => (left, right),
        // One point, or none.
        false if left.is_finite() => (left.min(0.0), left.max(0.0) + 1.0),
        false => (0.0, 1.0),
    };
    let top = above(all().map(|p| p.1));
    let mut svg = String::new();
    // Drawing into a text fails only for a font or a file, and there is neither.
    let _ = draw_lines(&mut svg, words, curves, even, (left, right, top));
    svg
}

fn draw_lines(
    svg: &mut String,
    words: AxisLabels,
    curves: &[Series],
    even: bool,
    (left, right, top): (f64, f64, f64),
) -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    let foot = Foot::of(&names, words.note);
    let area = SVGBackend::with_string(svg, (SIZE.0, SIZE.1 + foot.height())).into_drawing_area();
    area.fill(&WHITE)?;
    let (upper, lower) = area.split_vertically(SIZE.1);
    let mut chart = ChartBuilder::on(&upper)
        .caption(words.title, (FONT, 20))
        .margin(14)
        .x_label_area_size(52)
        .y_label_area_size(72)
        .build_cartesian_2d(left..right, 0.0..top)?;
    let is_whole = curves.iter().flat_map(|curve| &curve.points).all(|(x, _)| x.fract() == 0.0);
    chart
        .configure_mesh()
        // No halves of what is counted.
        .x_labels(if is_whole { ((right - left) as usize + 1).min(X_LABELS) } else { X_LABELS })
        .light_line_style(WHITE)
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .x_desc(words.x)
        .y_desc(words.y)
        .label_style((FONT, 15))
        .axis_desc_style((FONT, 16))
        .draw()?;
    if even {
        let end = right.min(top);
        chart.draw_series(LineSeries::new([(left, left), (end, end)], BLACK.mix(0.3).stroke_width(1)))?;
    }
    for (i, curve) in curves.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let step = curve.points.len().div_ceil(MOST).max(1);
        let points = || curve.points.iter().step_by(step).copied().filter(|(_, y)| y.is_finite());
        chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
        if curve.points.len() <= 40 {
            chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
        }
    }
    foot.draw(&lower)?;
    area.present()?;
    Ok(())
}

/// Bars side by side: for each group one of each series.
pub fn bars(words: AxisLabels, groups: &[String], series: &[Series]) -> String {
    let top = above(series.iter().flat_map(|s| &s.points).map(|p| p.1));
    let mut svg = String::new();
    let _ = draw_bars(&mut svg, words, groups, series, top);
    svg
}

fn draw_bars(
    svg: &mut String,
    words: AxisLabels,
    groups: &[String],
    series: &[Series],
    top: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
    let foot = Foot::of(&names, words.note);
    let area = SVGBackend::with_string(svg, (SIZE.0, SIZE.1 + foot.height())).into_drawing_area();
    area.fill(&WHITE)?;
    let (upper, lower) = area.split_vertically(SIZE.1);
    let count = groups.len().max(1);
    let mut chart = ChartBuilder::on(&upper)
        .caption(words.title, (FONT, 20))
        .margin(14)
        .x_label_area_size(52)
        .y_label_area_size(72)
        .build_cartesian_2d(-0.5..count as f64 - 0.5, 0.0..top)?;
    let name = |x: &f64| {
        let near = (x.round() - x).abs() < 0.01;
        groups.get(x.round() as usize).filter(|_| near && *x > -0.25).cloned().unwrap_or_default()
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(2 * count + 1)
        .x_label_formatter(&name)
        .x_desc(words.x)
        .y_desc(words.y)
        .y_label_formatter(&number)
        .label_style((FONT, 15))
        .axis_desc_style((FONT, 16))
        .draw()?;
    let each = 0.8 / series.len().max(1) as f64;
    for (i, one) in series.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let bar = |&(group, value): &(f64, f64)| {
            let left = group - 0.4 + each * i as f64;
            Rectangle::new([(left, 0.0), (left + each * 0.92, value)], colour.filled())
        };
        chart.draw_series(one.points.iter().map(bar))?;
    }
    foot.draw(&lower)?;
    area.present()?;
    Ok(())
}

// What stands below a plot: the names of its series beside their colours, where there are several, and the note. Nothing of it
// lies over what is drawn.
struct Foot<'a> {
    // Each with its place from the left and its row.
    names: Vec<(&'a str, i32, i32)>,
    rows: i32,
    note: &'a str,
}

impl<'a> Foot<'a> {
    fn of(series: &[&'a str], note: &'a str) -> Foot<'a> {
        let (mut names, mut x, mut row) = (Vec::new(), LEFT, 0);
        for &name in series.iter().filter(|_| series.len() > 1) {
            // The letters of fonts differ: room for wide ones.
            let width = MARK + 10 + 8 * name.chars().count() as i32;
            if x > LEFT && x + width > SIZE.0 as i32 - 14 {
                (x, row) = (LEFT, row + 1);
            }
            names.push((name, x, row));
            x += width + 18;
        }
        let rows = if names.is_empty() { 0 } else { row + 1 };
        Foot { names, rows, note }
    }

    fn height(&self) -> u32 {
        let note = if self.note.is_empty() { 0 } else { ROW };
        let lines = self.rows * ROW + note;
        if lines == 0 { 0 } else { lines as u32 + 8 }
    }

    fn draw(&self, area: &Area) -> Result<(), Box<dyn std::error::Error>> {
        let font = (FONT, 15).into_font();
        for (i, &(name, x, row)) in self.names.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let y = row * ROW;
            area.draw(&Rectangle::new([(x, y + 4), (x + MARK, y + 14)], colour.filled()))?;
            area.draw(&Text::new(name.to_owned(), (x + MARK + 6, y + 2), font.clone()))?;
        }
        if !self.note.is_empty() {
            let small = (FONT, 12).into_font().color(&BLACK.mix(0.6));
            area.draw(&Text::new(self.note.to_owned(), (LEFT, self.rows * ROW + 4), small))?;
        }
        Ok(())
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_whole_and_name_what_they_show() {
        let words = AxisLabels { title: "A & B", x: "threads", y: "times", note: "cube.toml; a <fast> machine" };
        let curve = |name: &str, points: &[(f64, f64)]| Series { name: name.into(), points: points.to_vec() };
        let two = [curve("static", &[(1.0, 1.0), (2.0, 1.7)]), curve("dynamic", &[(1.0, 1.0), (2.0, 1.9)])];
        for svg in [lines(words, &two, true), bars(words, &["0".into(), "1".into()], &two)] {
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            for word in ["A &amp; B", "threads", "times", "static", "dynamic", "cube.toml; a &lt;fast&gt; machine"] {
                assert!(svg.contains(word), "no {word} in {svg}");
            }
        }
        // Threads are counted: two labels, and none of half a thread.
        let svg = lines(words, &two, false);
        let label = |text: &str| svg.lines().filter(|line| line.trim() == text).count();
        assert_eq!((label("1"), label("1.1"), label("1.5")), (2, 0, 0), "{svg}");
        // Names and note stand below the plot.
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
        assert_eq!(height(&lines(words, &two, false)).as_deref(), Some("448"));
        assert_eq!(height(&lines(words, &many, false)).as_deref(), Some("488"));
        // Nothing to show, one point, and what is no number.
        for points in [&[][..], &[(5.0, 2.0)], &[(0.0, 0.0), (1.0, f64::NAN)]] {
            let svg = lines(words, &[curve("one", points)], false);
            assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"), "{svg}");
        }
        let long: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 1.0)).collect();
        assert!(lines(words, &[curve("long", &long)], false).len() < 60_000);
    }
}
