//! The figure of a journal: its size in print, what stands beside the particles, and the style of the picture.

use super::keys::Key;
use super::keys::keys;
use super::keys::kinds::{Kind, list_text, quoted};
use super::keys::read::Given;
use super::keys::words::names;
use super::limits::MAX_SIDE;
use super::text::diagnostic::Rule;
use crate::language::msg;
use crate::math::srgb::{linear, srgb};
use crate::math::vec3::Vec3;
use serde_json::json;
use toml::de::DeValue;

keys! {
    /// A figure: its size in print, and legend, title, scale bar, axes and time beside the particles.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Figure in "figure" {
        /// Values for other keys that the scene does not give: the light, the ground, samples and the tone curve.
        pub style: Option<FigureStyle> = None, group("Look");
        /// The direction from which the particles are seen: `iso`, an axis such as `+x` or `-z`, or azimuth and elevation in degrees.
        /// The picture is then orthographic and framed by itself, with room for all that stands beside the particles; without `[[light]]`
        /// it gets a headlight.
        pub view: Option<FigureView> = None;
        /// Color of the ground; it replaces the sky.
        pub background: Option<Vec3> = None, colour(), rule(Rule::Fraction);
        /// Width in print, such as `85 mm`, `3.35 in` or `240 pt`; with `dpi` it sets the size in pixels.
        pub width: Option<PageLength> = None, group("Page");
        /// Height in print; by default three quarters of the width.
        pub height: Option<PageLength> = None, without("width");
        /// Pixels an inch of print; PNG, TIFF and JPEG files name it.
        pub dpi: f64 = 300.0, rule(Rule::Within(10.0, 2400.0)), slider(72.0, 600.0), without("width");
        /// Letter of the panel, which stands in parentheses before the title.
        pub panel: String = String::new(), group("Beside the particles");
        /// Text above the picture, such as `After 2 s`.
        pub title: String = String::new();
        /// Title of the legend, with the unit; by default the name of the value. `^2` and `^-1` are superscripts.
        pub label: String = String::new();
        /// Where the legend stands.
        pub legend: LegendSide = LegendSide::Right;
        /// Unit of lengths: draws a bar of a round length with this unit. Only an orthographic picture has one.
        pub scale_bar: Option<String> = None;
        /// Draws the directions of x, y and z.
        pub axes: bool = false;
        /// Whether all that stands beside the particles is in the picture.
        pub furniture: FurnitureIn = FurnitureIn::Picture;
        /// Text with the time of each frame, such as `t = {time:.2f} s, step {step}`.
        pub time_label: String = String::new();
    }
}

names! {
    /// A set of other keys.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FigureStyle {
        /// White ground, ambient occlusion and a headlight; no color is brighter than in the legend.
        Journal = "journal",
        /// White ground, and a headlight without occlusion.
        Plain = "plain",
        /// As `journal`, on a dark ground.
        Dark = "dark",
    }
}

names! {
    /// Where the legend of a figure stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LegendSide {
        /// To the right of the particles, upright.
        Right = "right",
        /// To the left of them, upright.
        Left = "left",
        /// Below them.
        Bottom = "bottom",
        /// Over the picture, in its lower left corner, as without a figure.
        Corner = "corner",
        /// Nowhere.
        None = "none",
    }
}

names! {
    /// Where all that stands beside the particles of a figure is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FurnitureIn {
        /// In the picture.
        Picture = "picture",
        /// Not in the picture. A PDF or an SVG has it alone, and the picture stands beside it as PNG.
        Separate = "separate",
    }
}

/// A length in print.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageLength {
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: PageUnit,
}

names! {
    /// A unit of lengths in print.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PageUnit {
        /// Millimeters.
        Millimeter = "mm",
        /// Centimeters.
        Centimeter = "cm",
        /// Inches.
        Inch = "in",
        /// Points: 72 are an inch.
        Point = "pt",
    }
}

impl Figure {
    /// The text of a figure's scene, to which the file of the particles is added.
    pub const SCENE: &str =
        "[output]\nframes = 1\n\n[figure]\nstyle = \"journal\"\nview = \"iso\"\nwidth = \"85 mm\"\n\n[particles]\n";
}

impl PageLength {
    /// Reads a number with a unit, such as `85 mm`.
    pub fn parse(text: &str) -> Option<PageLength> {
        let text = text.trim();
        let (unit, name) = PageUnit::ALL.into_iter().find(|(_, name)| text.to_ascii_lowercase().ends_with(name))?;
        let value: f64 = text[..text.len() - name.len()].trim_end().parse().ok()?;
        (value.is_finite() && value > 0.0).then_some(PageLength { value, unit })
    }
    /// The length in inches.
    pub fn inches(self) -> f64 {
        self.value
            / match self.unit {
                PageUnit::Millimeter => 25.4,
                PageUnit::Centimeter => 2.54,
                PageUnit::Inch => 1.0,
                PageUnit::Point => 72.0,
            }
    }
}

impl Kind for PageLength {
    fn parse(given: &mut Given) -> Option<PageLength> {
        let text = given.text()?;
        PageLength::parse(text).or_else(|| {
            given.refuse(
                format_args!("\"{text}\""),
                msg!("a number with a unit, such as \"85 mm\", \"3.35 in\" or \"240 pt\""),
            )
        })
    }
    fn text(&self, _: &Key) -> String {
        quoted(&format!("{} {}", self.value, self.unit.name()))
    }
}

/// The direction from which a figure is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureView {
    /// Degrees from +x towards +y.
    pub azimuth: f64,
    /// Degrees above the plane of x and y.
    pub elevation: f64,
}

impl FigureView {
    // `+x` is seen from the side of +x. From above, x points to the right.
    const NAMED: [(&str, FigureView); 7] = [
        ("iso", FigureView { azimuth: -60.0, elevation: 25.0 }),
        ("+x", FigureView { azimuth: 0.0, elevation: 0.0 }),
        ("-x", FigureView { azimuth: 180.0, elevation: 0.0 }),
        ("+y", FigureView { azimuth: 90.0, elevation: 0.0 }),
        ("-y", FigureView { azimuth: -90.0, elevation: 0.0 }),
        ("+z", FigureView { azimuth: -90.0, elevation: 90.0 }),
        ("-z", FigureView { azimuth: -90.0, elevation: -90.0 }),
    ];

    /// The view of this name.
    pub fn named(name: &str) -> Option<FigureView> {
        Self::NAMED.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(name)).map(|(_, view)| view)
    }
}

impl Kind for FigureView {
    fn parse(given: &mut Given) -> Option<FigureView> {
        if let DeValue::Array(_) = given.value.get_ref() {
            let [azimuth, elevation] = given.numbers()?;
            if elevation.abs() <= 90.0 {
                return Some(FigureView { azimuth, elevation });
            }
            return given.refuse(list_text(&[azimuth, elevation]), msg!("an elevation from -90 to 90 degrees"));
        }
        let text = given.text()?;
        FigureView::named(text).or_else(|| {
            let expected =
                msg!("\"iso\", \"+x\", \"-x\", \"+y\", \"-y\", \"+z\", \"-z\", or [azimuth, elevation] in degrees");
            given.refuse(format_args!("\"{text}\""), expected)
        })
    }
    fn text(&self, _: &Key) -> String {
        let name = Self::NAMED.into_iter().find(|(_, view)| view == self).map(|(name, _)| quoted(name));
        name.unwrap_or_else(|| list_text(&[self.azimuth, self.elevation]))
    }
    fn schema(_: &Key) -> serde_json::Value {
        let names: Vec<&str> = Self::NAMED.iter().map(|(name, _)| *name).collect();
        json!({ "anyOf": [
            { "type": "string", "enum": names },
            { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 }
        ] })
    }
}

impl Kind for String {
    fn parse(given: &mut Given) -> Option<String> {
        given.text().map(str::to_owned)
    }
    fn text(&self, _: &Key) -> String {
        quoted(self)
    }
}

impl Figure {
    /// The height over the width of a figure that does not give its height.
    const ASPECT: f64 = 0.75;

    /// The size in pixels, if the figure has a width in print.
    pub fn size(&self) -> Option<(u32, u32)> {
        let width = self.width?.inches();
        let height = self.height.map_or(Self::ASPECT * width, PageLength::inches);
        let pixels = |inches: f64| (inches * self.dpi).round();
        (pixels(width).max(pixels(height)) <= f64::from(MAX_SIDE))
            .then(|| (pixels(width).max(1.0) as u32, pixels(height).max(1.0) as u32))
    }

    /// Pixels an inch of a figure with a width in print, in a picture of this width.
    pub(crate) fn dots_per_inch(&self, pixels: u32) -> Option<f64> {
        self.width.map(|width| f64::from(pixels) / width.inches())
    }

    /// The color of a headlight that adds up to one with the ambient light.
    pub(crate) fn headlight(ambient: Vec3) -> Vec3 {
        ambient.map(|x| srgb(1.0 - linear(x).clamp(0.0, 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_print_have_units() {
        for (text, inches) in
            [("85 mm", 85.0 / 25.4), ("85mm", 85.0 / 25.4), ("8.5 cm", 85.0 / 25.4), ("2 in", 2.0), ("72 PT", 1.0)]
        {
            assert!((PageLength::parse(text).unwrap().inches() - inches).abs() < 1e-12, "{text}");
        }
        for text in ["85", "mm", "-3 mm", "0 in", "1e999 pt", "85 km", "x mm"] {
            assert_eq!(PageLength::parse(text), None, "{text}");
        }
    }
}
