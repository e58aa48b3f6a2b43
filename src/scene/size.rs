//! The picture size: width and height, or a name.

use super::keys::Key;
use super::keys::kinds::Kind;
use super::keys::read::Given;
use super::limits::{MAX_PIXELS, MAX_SIDE};
use super::text::diagnostic::{Problem, Rule};
use crate::language::msg;
use serde_json::json;
use toml::de::DeValue;

/// The picture size in pixels. It is written in [output] but stored in the render settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Size(pub u32, pub u32);

const NAMED: [(&[&str], Size); 7] = [
    (&["720p", "hd"], Size(1280, 720)),
    (&["1080p", "fullhd"], Size(1920, 1080)),
    (&["1440p", "qhd"], Size(2560, 1440)),
    (&["2160p", "4k", "uhd"], Size(3840, 2160)),
    (&["4320p", "8k"], Size(7680, 4320)),
    (&["vertical"], Size(1080, 1920)),
    (&["square"], Size(1080, 1080)),
];

impl Size {
    /// The range of each side.
    pub const SIDE: Rule = Rule::Whole(1, MAX_SIDE);

    /// `1280x720`, or a name such as `1080p`, of any number of pixels.
    pub fn named(text: &str) -> Option<Size> {
        let is_it = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(text.trim()));
        let side = |s: &str| s.trim().parse::<u32>().ok().filter(|&n| Size::SIDE.allows(f64::from(n)));
        let sides = || text.split_once(['x', 'X', '×']).and_then(|(w, h)| Some(Size(side(w)?, side(h)?)));
        NAMED.iter().find(|(names, _)| is_it(names)).map(|(_, size)| *size).or_else(sides)
    }
    /// The size that another notation means: `1920 by 1080`, `640*360`, or the shape `16:9`. None if no picture can have
    /// it.
    pub fn meant(text: &str) -> Option<Size> {
        let [width, height] = two_numbers(text)?;
        let is_shape = text.contains([':', '/']) && width < 100 && height < 100;
        let even = |x: f64| (x / 2.0).round() as u32 * 2;
        let size = match is_shape {
            true => Size(1280, even(1280.0 * f64::from(height) / f64::from(width))),
            false => Size(width, height),
        };
        let is_side = |n: u32| Size::SIDE.allows(f64::from(n));
        (is_side(size.0) && is_side(size.1) && size.fits()).then_some(size)
    }
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().flat_map(|(names, _)| names.iter().copied())
    }
    /// Whether a picture of this size fits in memory.
    pub fn fits(self) -> bool {
        u64::from(self.0) * u64::from(self.1) <= MAX_PIXELS
    }
}

/// The two numbers of a text, above 0, whatever stands between them.
pub(crate) fn two_numbers(text: &str) -> Option<[u32; 2]> {
    let numbers: Vec<u32> = text.split(|c: char| !c.is_ascii_digit()).filter_map(|piece| piece.parse().ok()).collect();
    <[u32; 2]>::try_from(numbers).ok().filter(|numbers| numbers.iter().all(|&n| n > 0))
}

impl Kind for Size {
    fn parse(given: &mut Given) -> Option<Size> {
        let expected = || msg!("[WIDTH, HEIGHT], \"WIDTHxHEIGHT\" or a name such as \"1080p\", \"4k\" or \"vertical\"");
        let size = match given.value.get_ref() {
            DeValue::String(text) => Size::named(text).or_else(|| {
                given.wrong::<()>(expected());
                match Size::meant(text) {
                    Some(Size(width, height)) => {
                        given.help(Some(msg!("did you mean `{name}`?", name = format_args!("{width}x{height}"))))
                    }
                    None => given.suggest(text, Size::names()),
                }
                None
            })?,
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {
                return given.wrong(expected());
            }
            _ => {
                let ([width, height], rule) = (given.numbers()?, given.key.rule);
                if !rule.allows(width) || !rule.allows(height) {
                    let expected = msg!("two values, each {each}", each = rule.expected());
                    return given.refuse(format_args!("{width} x {height}"), expected);
                }
                Size(width as u32, height as u32)
            }
        };
        if !size.fits() {
            given.context.problems.push(Problem::too_large(given.value.span(), size.0, size.1));
            return None;
        }
        Some(size)
    }
    fn text(&self, _: &Key) -> String {
        format!("[{}, {}]", self.0, self.1)
    }
    fn schema(key: &Key) -> serde_json::Value {
        let mut numbers = <[f64; 2]>::schema(key);
        numbers["items"]["type"] = "integer".into();
        json!({ "anyOf": [numbers, { "type": "string" }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{ParseOptions, toml};

    #[test]
    fn sizes_have_names_in_scenes() {
        let size = |value: &str| {
            let text = format!("[output]\nsize = {value}\n[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\n");
            let render = toml::parse(&text, ParseOptions::default()).ok()?.0.render;
            Some((render.width, render.height))
        };
        for (value, expected) in [
            ("[640, 360]", (640, 360)),
            ("\"1080p\"", (1920, 1080)),
            ("\"FullHD\"", (1920, 1080)),
            ("\" 4k \"", (3840, 2160)),
            ("\"vertical\"", (1080, 1920)),
            ("\"square\"", (1080, 1080)),
            ("\"1280x720\"", (1280, 720)),
            ("\"300 x 200\"", (300, 200)),
        ] {
            assert_eq!(size(value), Some(expected), "{value}");
        }
        for value in
            ["\"\"", "\"tall\"", "\"0x20\"", "\"60000x60000\"", "\"70000x1\"", "1080", "[1, 2, 3]", "\"1x2x3\""]
        {
            assert_eq!(size(value), None, "{value}");
        }
        for name in Size::names() {
            assert!(Size::named(name).is_some_and(Size::fits), "{name}");
        }
    }
}
