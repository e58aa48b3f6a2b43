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

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// What stands beside a plot.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Above it.
    pub title: &'a str,
    /// Below it.
    pub x: &'a str,
    /// To its left.
    pub y: &'a str,
}

// Whole numbers without a point.
fn number(x: &f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

// From 0 to a little above the largest.
fn above(values: impl Iterator<Item = f64>) -> f64 {
    let most = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
    if most > 0.0 { most * 1.08 } else { 1.0 }
}

/// Lines from 0 up, few points marked. `even`: a thin line where both axes are the same.
pub fn lines(words: Words, curves: &[Curve], even: bool) -> String {
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
    words: Words,
    curves: &[Curve],
    even: bool,
    (left, right, top): (f64, f64, f64),
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(words.title, (FONT, 20))
        .margin(14)
        .x_label_area_size(52)
        .y_label_area_size(72)
        .build_cartesian_2d(left..right, 0.0..top)?;
    chart
        .configure_mesh()
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
        let line = chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
        if curves.len() > 1 {
            line.label(curve.name.as_str())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
        }
        if curve.points.len() <= 40 {
            chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
        }
    }
    legend(&mut chart, curves.len())?;
    area.present()?;
    Ok(())
}

/// Bars side by side: for each group one of each series.
pub fn bars(words: Words, groups: &[String], series: &[Curve]) -> String {
    let top = above(series.iter().flat_map(|s| &s.points).map(|p| p.1));
    let mut svg = String::new();
    let _ = draw_bars(&mut svg, words, groups, series, top);
    svg
}

fn draw_bars(
    svg: &mut String,
    words: Words,
    groups: &[String],
    series: &[Curve],
    top: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let count = groups.len().max(1);
    let mut chart = ChartBuilder::on(&area)
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
        let drawn = chart.draw_series(one.points.iter().map(bar))?;
        if series.len() > 1 {
            drawn
                .label(one.name.as_str())
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()));
        }
    }
    legend(&mut chart, series.len())?;
    area.present()?;
    Ok(())
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

fn legend<'a, 'b: 'a>(chart: &mut Chart<'a, 'b>, names: usize) -> Result<(), Box<dyn std::error::Error>> {
    if names > 1 {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.2))
            .label_font((FONT, 15))
            .draw()
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_whole_and_name_what_they_show() {
        let words = Words { title: "A & B", x: "threads", y: "times" };
        let curve = |name: &str, points: &[(f64, f64)]| Curve { name: name.into(), points: points.to_vec() };
        let two = [curve("static", &[(1.0, 1.0), (2.0, 1.7)]), curve("dynamic", &[(1.0, 1.0), (2.0, 1.9)])];
        for svg in [lines(words, &two, true), bars(words, &["0".into(), "1".into()], &two)] {
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            for word in ["A &amp; B", "threads", "times", "static", "dynamic"] {
                assert!(svg.contains(word), "no {word} in {svg}");
            }
        }
        // Nothing to show, one point, and what is no number.
        for points in [&[][..], &[(5.0, 2.0)], &[(0.0, 0.0), (1.0, f64::NAN)]] {
            let svg = lines(words, &[curve("one", points)], false);
            assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"), "{svg}");
        }
        let long: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 1.0)).collect();
        assert!(lines(words, &[curve("long", &long)], false).len() < 60_000);
    }
}
