//! The kinds of single values: how each is read, written and described in the schema. Words are in `words`.

use super::key::Key;
use super::read::Given;
use super::schema::short;
use crate::language::msg;
use crate::math::vec3::{Vec3, length};
use crate::scene::limits::MIN_LENGTH;
use crate::scene::text::diagnostic::Rule;
use crate::scene::text::suggest::{self, NameKind};
use serde_json::json;
use std::path::PathBuf;
use toml::de::DeValue;

/// The value of a single key.
pub(crate) trait Kind: Sized {
    /// Whether the word `none` is allowed for an optional value.
    const TAKES_NONE: bool = false;
    /// Parses the value, and reports a fault.
    fn parse(given: &mut Given) -> Option<Self>;
    /// The value in TOML.
    fn text(&self, key: &Key) -> String;
    /// Its numbers and their count, if it may change over the clip.
    fn numbers(&self) -> Option<(usize, Vec3)> {
        None
    }
    /// The value of these numbers.
    fn of_numbers(_: Vec3) -> Option<Self> {
        None
    }
    /// The JSON schema of the values.
    fn schema(_: &Key) -> serde_json::Value {
        json!({ "type": "string" })
    }
}

/// Rounds an angle to 1e-12 radians within one turn, so that both grammars can express it exactly.
pub(crate) fn snap_angle(radians: f64) -> f64 {
    let turn = 2.0 * std::f64::consts::PI;
    let held = (radians.rem_euclid(turn) * 1e12).round() / 1e12;
    if held >= turn { 0.0 } else { held }
}

/// The shortest decimal number that is parsed to the same value. TOML requires a point or an exponent.
pub(crate) fn number_text(x: f64) -> String {
    // TOML writes `nan` in lower case.
    if x.is_nan() { "nan".to_owned() } else { format!("{x:?}") }
}

/// A list of numbers in TOML.
pub(crate) fn list_text(numbers: &[f64]) -> String {
    format!("[{}]", numbers.iter().map(|&x| number_text(x)).collect::<Vec<_>>().join(", "))
}

/// A basic string in TOML.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The schema of numbers in a range.
pub(crate) fn number_schema(rule: Rule) -> serde_json::Value {
    let (min, max) = rule.range();
    let mut schema = json!({ "type": if matches!(rule, Rule::Whole(..) | Rule::Bits) { "integer" } else { "number" } });
    let lower = if matches!(rule, Rule::FieldOfView | Rule::Around) { "exclusiveMinimum" } else { "minimum" };
    let upper = if rule == Rule::FieldOfView { "exclusiveMaximum" } else { "maximum" };
    for (bound, x) in [(lower, min), (upper, max)] {
        if let Some(x) = x {
            schema[bound] = short(x);
        }
    }
    schema
}

/// The schema of a number in the key's range, or a word.
pub(crate) fn number_or_word_schema(key: &Key) -> serde_json::Value {
    json!({ "anyOf": [number_schema(key.rule), { "type": "string" }] })
}

impl Kind for f64 {
    fn parse(given: &mut Given) -> Option<f64> {
        let x = given.ruled()?;
        Some(if given.key.angle { snap_angle((x % 360.0).to_radians()) } else { x })
    }
    fn text(&self, key: &Key) -> String {
        number_text(if key.angle { self.to_degrees() } else { *self })
    }
    fn numbers(&self) -> Option<(usize, Vec3)> {
        Some((1, [*self, 0.0, 0.0]))
    }
    fn of_numbers([x, ..]: Vec3) -> Option<f64> {
        Some(x)
    }
    fn schema(key: &Key) -> serde_json::Value {
        number_schema(key.rule)
    }
}

// The rule is `Rule::Whole`, or a list of integers.
impl Kind for u32 {
    fn parse(given: &mut Given) -> Option<u32> {
        given.ruled().map(|x| x as u32)
    }
    fn text(&self, _: &Key) -> String {
        self.to_string()
    }
    fn schema(key: &Key) -> serde_json::Value {
        number_schema(key.rule)
    }
}

impl Kind for bool {
    fn parse(given: &mut Given) -> Option<bool> {
        if let Some(value) = given.value.get_ref().as_bool() {
            return Some(value);
        }
        given.wrong(msg!("true or false"))
    }
    fn text(&self, _: &Key) -> String {
        self.to_string()
    }
    fn schema(_: &Key) -> serde_json::Value {
        json!({ "type": "boolean" })
    }
}

fn list_schema(key: &Key, count: usize) -> serde_json::Value {
    json!({ "type": "array", "items": number_schema(key.rule), "minItems": count, "maxItems": count })
}

impl Kind for [f64; 2] {
    fn parse(given: &mut Given) -> Option<[f64; 2]> {
        given.ruled_numbers()
    }
    fn text(&self, _: &Key) -> String {
        list_text(self)
    }
    fn schema(key: &Key) -> serde_json::Value {
        list_schema(key, 2)
    }
}

// A point, a direction or a color.
impl Kind for Vec3 {
    const TAKES_NONE: bool = true;
    fn parse(given: &mut Given) -> Option<Vec3> {
        if given.key.colour {
            let colour = colour(given)?;
            return given.check_numbers(colour);
        }
        let numbers = given.ruled_numbers()?;
        // The square of a shorter vector would underflow.
        if given.key.direction && length(numbers) < MIN_LENGTH {
            return given.problem(
                msg!("`{key}` has no direction", key = given.key.name),
                msg!("a vector longer than {length}", length = format_args!("{MIN_LENGTH:e}")),
            );
        }
        Some(numbers)
    }
    fn text(&self, _: &Key) -> String {
        list_text(self)
    }
    fn numbers(&self) -> Option<(usize, Vec3)> {
        Some((3, *self))
    }
    fn of_numbers(numbers: Vec3) -> Option<Vec3> {
        Some(numbers)
    }
    fn schema(key: &Key) -> serde_json::Value {
        if !key.colour {
            return list_schema(key, 3);
        }
        colour_schema(key)
    }
}

/// The schema of a color.
pub(crate) fn colour_schema(key: &Key) -> serde_json::Value {
    json!({ "anyOf": [number_schema(key.rule), list_schema(key, 3), { "type": "string" }], "format": "color" })
}

/// An sRGB color: three numbers, one number for gray, or a word.
pub(crate) fn colour(given: &mut Given) -> Option<Vec3> {
    let text = match given.value.get_ref() {
        DeValue::Array(_) => return given.numbers(),
        DeValue::Integer(_) | DeValue::Float(_) => return given.number().map(|x| [x; 3]),
        DeValue::String(text) => text.as_ref(),
        _ => "",
    };
    // The names and notations of CSS Color 4.
    if let Some(colour) = csscolorparser::parse(text).ok().filter(|c| c.a == 1.0 && !text.is_empty()) {
        // The exact digits, not their nearest single-precision numbers.
        let [r, g, b, _] = colour.to_rgba8();
        return Some([r, g, b].map(|x| f64::from(x) / 255.0));
    }
    given.wrong::<Vec3>(msg!("a list of 3 numbers, \"#rrggbb\", a color's name in quotes, or a number for a gray"));
    if !text.is_empty() && !given.context.is_crowded() {
        let names = csscolorparser::NAMED_COLORS.keys().map(|name| name.as_str());
        given.help(suggest::meant(NameKind::Value("color"), text, names));
    }
    None
}

// A file. Relative paths start in the scene's folder.
impl Kind for PathBuf {
    fn parse(given: &mut Given) -> Option<PathBuf> {
        given.text().map(|path| given.context.options.path(path))
    }
    fn text(&self, _: &Key) -> String {
        quoted(&self.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::snap_angle;

    #[test]
    fn angles_keep_to_one_turn() {
        assert_eq!(snap_angle(0.0), 0.0);
        assert_eq!(snap_angle(1.5), 1.5);
        assert_eq!(snap_angle(snap_angle(-0.3)), snap_angle(-0.3));
        assert_eq!(snap_angle(90.0_f64.to_radians()), snap_angle(std::f64::consts::FRAC_PI_2));
    }
}
