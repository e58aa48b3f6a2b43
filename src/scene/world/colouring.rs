//! How values of particles become colors: the value, the ends of the color map and what lies between them; and columns by other names.

use crate::language::{Message, msg};
use crate::math::colormap::ColourMap;
use crate::scene::keys::Key;
use crate::scene::keys::kinds::{Kind, colour, colour_schema, list_text, number_text, quoted};
use crate::scene::keys::read::{Given, percent};
use crate::scene::keys::words::names;
use crate::scene::text::diagnostic::Rule;
use serde_json::json;
use std::collections::BTreeMap;
use toml::de::DeValue;

/// What selects the color of particles: nothing, a column, or an expression of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColourBy(String);

impl Default for ColourBy {
    fn default() -> ColourBy {
        ColourBy(ColourBy::NOTHING.into())
    }
}

impl From<&str> for ColourBy {
    fn from(text: &str) -> ColourBy {
        let text = text.trim();
        ColourBy(if text.is_empty() { ColourBy::NOTHING } else { text }.into())
    }
}

impl ColourBy {
    const NOTHING: &'static str = "nothing";

    /// Whether particles have the color of their material.
    pub fn is_nothing(&self) -> bool {
        self.0.eq_ignore_ascii_case(ColourBy::NOTHING)
    }
    /// The column or the expression.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Kind for ColourBy {
    fn parse(given: &mut Given) -> Option<ColourBy> {
        given.text().map(ColourBy::from)
    }
    fn text(&self, _: &Key) -> String {
        quoted(&self.0)
    }
}

names! {
    /// The time steps whose values are the ends of the color map.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RangeOver {
        /// The first; if all of its values are equal, the middle and the last one too.
        First = "first",
        /// All of the clip.
        Film = "film",
        /// That of each frame.
        Frame = "frame",
    }
}

/// The ends of a color map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRange {
    /// These values.
    Ends([f64; 2]),
    /// The least and the greatest value, or these shares of all values; or numbers that differ in their signs only.
    Found {
        /// Of these time steps.
        over: RangeOver,
        /// The shares of values that are less than the ends.
        shares: [f64; 2],
        /// Whether the middle is 0.
        is_symmetric: bool,
    },
}

impl Default for ValueRange {
    fn default() -> ValueRange {
        ValueRange::Found { over: RangeOver::First, shares: [0.0, 1.0], is_symmetric: false }
    }
}

impl ValueRange {
    // Words in any order: the time steps, shares, and `symmetric`.
    fn words(text: &str) -> Option<ValueRange> {
        let (mut over, mut shares, mut is_symmetric) = (RangeOver::First, [0.0, 1.0], false);
        for word in text.split_whitespace() {
            let of_steps = RangeOver::ALL.iter().find(|(_, name)| name.eq_ignore_ascii_case(word));
            if let Some((found, _)) = of_steps {
                over = *found;
            } else if word.eq_ignore_ascii_case("symmetric") {
                is_symmetric = true;
            } else {
                let (low, high) = word.split_once("..")?;
                shares = [percent(low)?, percent(high)?];
            }
        }
        let is_range = 0.0 <= shares[0] && shares[0] < shares[1] && shares[1] <= 1.0;
        (is_range && !text.trim().is_empty()).then_some(ValueRange::Found { over, shares, is_symmetric })
    }
    /// Whether each frame has ends of its own.
    pub fn is_of_each_frame(self) -> bool {
        matches!(self, ValueRange::Found { over: RangeOver::Frame, .. })
    }
}

// The shortest percentage that is read as this share.
fn percentage(share: f64) -> String {
    let text = |digits: usize| format!("{:.digits$}%", 100.0 * share);
    (0..20).map(text).find(|text| percent(text) == Some(share)).unwrap_or_else(|| text(20))
}

impl Kind for ValueRange {
    fn parse(given: &mut Given) -> Option<ValueRange> {
        if let DeValue::Array(_) = given.value.get_ref() {
            return given.ruled_numbers().map(ValueRange::Ends);
        }
        let expected = || msg!("two numbers, or words: \"first\", \"film\" or \"frame\", \"1%..99%\", \"symmetric\"");
        match given.value.get_ref().as_str() {
            Some(text) => {
                let range = ValueRange::words(text);
                range.or_else(|| given.refuse(format_args!("\"{text}\""), expected()))
            }
            None => given.wrong(expected()),
        }
    }
    fn text(&self, _: &Key) -> String {
        match self {
            ValueRange::Ends(ends) => list_text(ends),
            ValueRange::Found { over, shares, is_symmetric } => {
                let shares =
                    (*shares != [0.0, 1.0]).then(|| format!(" {}..{}", percentage(shares[0]), percentage(shares[1])));
                let symmetric = if *is_symmetric { " symmetric" } else { "" };
                quoted(&format!("{}{}{symmetric}", over.name(), shares.unwrap_or_default()))
            }
        }
    }
    fn schema(_: &Key) -> serde_json::Value {
        let ends = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
        json!({ "anyOf": [ends, { "type": "string" }] })
    }
}

names! {
    /// What lies between the ends of a color map.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ValueScale {
        /// Equal differences are equally long.
        Linear = "linear",
        /// Equal ratios are equally long.
        Log = "log",
        /// Logarithmic on both sides of 0, and linear within a hundredth of the greatest value.
        Symlog = "symlog",
    }
}

impl ValueScale {
    /// The share of the greatest value within which `symlog` is linear.
    pub(crate) const LINEAR: f64 = 0.01;

    // A value on the scale, of a map with these ends.
    fn mapped(self, x: f64, [low, high]: [f64; 2]) -> f64 {
        match self {
            ValueScale::Linear => x,
            ValueScale::Log => libm::log(x),
            ValueScale::Symlog => libm::asinh(x / (ValueScale::LINEAR * low.abs().max(high.abs()))),
        }
    }
    /// The share of the way between the ends at which a value lies; below 0 and above 1 outside of them. Not a number if the value has none.
    pub fn share(self, x: f64, ends: [f64; 2]) -> f64 {
        let [x, low, high] = [x, ends[0], ends[1]].map(|x| self.mapped(x, ends));
        match high > low {
            true => (x - low) / (high - low),
            false if x.is_nan() => x,
            false => 0.5,
        }
    }
    /// The value at a share of the way between the ends.
    pub fn value(self, share: f64, ends: [f64; 2]) -> f64 {
        let [low, high] = ends.map(|x| self.mapped(x, ends));
        let x = low + share * (high - low);
        match self {
            ValueScale::Linear => x,
            ValueScale::Log => libm::exp(x),
            ValueScale::Symlog => ValueScale::LINEAR * ends[0].abs().max(ends[1].abs()) * libm::sinh(x),
        }
    }
}

impl Kind for ColourMap {
    fn parse(given: &mut Given) -> Option<ColourMap> {
        let expected = || msg!("the name of a color map, or a list of colors");
        match given.value.get_ref() {
            DeValue::String(name) => {
                let found = ColourMap::named(name);
                if found.is_none() {
                    given.refuse::<()>(format_args!("\"{name}\""), expected());
                    given.suggest(name, ColourMap::names());
                }
                found
            }
            DeValue::Array(list) => {
                let colours: Vec<_> = list.iter().map_while(|one| colour(&mut given.within(one))).collect();
                if colours.len() < list.len() {
                    return None;
                }
                let map = ColourMap::through(colours);
                map.or_else(|| given.refuse(msg!("a list of {count}", count = list.len()), msg!("two colors or more")))
            }
            _ => given.wrong(expected()),
        }
    }
    fn text(&self, _: &Key) -> String {
        let list = || self.own().iter().map(|colour| list_text(colour)).collect::<Vec<_>>().join(", ");
        self.name().map_or_else(|| format!("[{}]", list()), |name| quoted(&name))
    }
    fn schema(key: &Key) -> serde_json::Value {
        let names: Vec<&str> = ColourMap::names().collect();
        let colours = json!({ "type": "array", "items": colour_schema(key), "minItems": 2 });
        json!({ "anyOf": [{ "type": "string", "enum": names }, { "type": "string", "pattern": "_r$" }, colours] })
    }
}

/// Names for columns of a file, or for expressions of them: one, three of a vector, or four of a quaternion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnNames(pub(crate) BTreeMap<String, Vec<String>>);

impl ColumnNames {
    /// The columns that a name stands for.
    pub fn get(&self, name: &str) -> Option<&[String]> {
        self.0.get(name).map(Vec::as_slice)
    }
    /// All names with their columns.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(name, columns)| (name.as_str(), columns.as_slice()))
    }
}

// The entries of an inline table, each read by a function.
fn entries<T>(given: &mut Given, expected: &Message, read: impl Fn(&str, &mut Given) -> Option<T>) -> Option<Vec<T>> {
    let DeValue::Table(table) = given.value.get_ref() else { return given.wrong(expected) };
    let all: Vec<T> = table.iter().map_while(|(name, value)| read(name.get_ref(), &mut given.within(value))).collect();
    (all.len() == table.len()).then_some(all)
}

impl Kind for ColumnNames {
    fn parse(given: &mut Given) -> Option<ColumnNames> {
        let expected = msg!("a table such as {{ position = [\"px\", \"py\", \"pz\"], radius = \"d/2\" }}");
        let all = entries(given, &expected, |name, given| {
            let columns: Vec<String> = match given.value.get_ref() {
                DeValue::Array(list) => {
                    list.iter().map_while(|one| given.within(one).text()).map(str::to_owned).collect()
                }
                _ => vec![given.text()?.to_owned()],
            };
            let is_vector = name == "position";
            match columns.len() {
                4 if name == "orientation" => Some((name.to_owned(), columns)),
                _ if name == "orientation" => {
                    given.wrong(msg!("the four parts of a quaternion: [\"w\", \"x\", \"y\", \"z\"]"))
                }
                3 if name != "radius" => Some((name.to_owned(), columns)),
                2 if is_vector => Some((name.to_owned(), columns)),
                1 if !is_vector => Some((name.to_owned(), columns)),
                _ if is_vector => given.wrong(msg!("two or three columns: [\"px\", \"py\", \"pz\"]")),
                _ => given.wrong(msg!("a column or an expression, or three of them")),
            }
        });
        all.map(|all| ColumnNames(all.into_iter().collect()))
    }
    fn text(&self, _: &Key) -> String {
        let columns = |all: &[String]| match all {
            [one] => quoted(one),
            _ => format!("[{}]", all.iter().map(|one| quoted(one)).collect::<Vec<_>>().join(", ")),
        };
        let all = self.all().map(|(name, all)| format!("{} = {}", quoted(name), columns(all)));
        format!("{{ {} }}", all.collect::<Vec<_>>().join(", "))
    }
    fn schema(_: &Key) -> serde_json::Value {
        let one = json!({ "type": "string" });
        let several = json!({ "type": "array", "items": one, "minItems": 2, "maxItems": 4 });
        json!({ "type": "object", "additionalProperties": { "anyOf": [one, several] } })
    }
}

/// Radii by type of particle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeRadii(pub(crate) BTreeMap<i64, f64>);

impl TypeRadii {
    /// The radius of a type.
    pub fn get(&self, of: f64) -> Option<f64> {
        (of.fract() == 0.0).then(|| self.0.get(&(of as i64)).copied()).flatten()
    }
}

impl Kind for TypeRadii {
    fn parse(given: &mut Given) -> Option<TypeRadii> {
        let expected = msg!("a table such as {{ 1 = 0.3, 2 = 0.5 }}");
        let all = entries(given, &expected, |name, given| {
            let radius = given.number().filter(|&x| Rule::Length.allows(x));
            match name.parse::<i64>() {
                Ok(kind) if radius.is_some() => Some((kind, radius?)),
                _ => given.wrong(&expected),
            }
        });
        all.map(|all| TypeRadii(all.into_iter().collect()))
    }
    fn text(&self, _: &Key) -> String {
        let all = self.0.iter().map(|(kind, radius)| format!("\"{kind}\" = {}", number_text(*radius)));
        format!("{{ {} }}", all.collect::<Vec<_>>().join(", "))
    }
    fn schema(_: &Key) -> serde_json::Value {
        json!({ "type": "object", "additionalProperties": { "type": "number" } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_values_belong_together() {
        for (scale, ends) in
            [(ValueScale::Linear, [-2.0, 6.0]), (ValueScale::Log, [1e-3, 1e3]), (ValueScale::Symlog, [-100.0, 50.0])]
        {
            for i in 0..=10 {
                let share = f64::from(i) / 10.0;
                let again = scale.share(scale.value(share, ends), ends);
                assert!((again - share).abs() < 1e-12, "{scale:?} {share} {again}");
            }
            assert!(scale.share(f64::NAN, ends).is_nan());
        }
        assert_eq!(ValueScale::Log.share(1.0, [1e-3, 1e3]), 0.5);
        assert_eq!(ValueScale::Log.share(0.0, [1e-3, 1e3]), f64::NEG_INFINITY);
        assert!(ValueScale::Log.share(-1.0, [1e-3, 1e3]).is_nan());
        assert_eq!(ValueScale::Symlog.share(0.0, [-100.0, 100.0]), 0.5);
    }

    #[test]
    fn words_of_a_range() {
        let found = |over, shares, is_symmetric| Some(ValueRange::Found { over, shares, is_symmetric });
        for (text, expected) in [
            ("Film", found(RangeOver::Film, [0.0, 1.0], false)),
            ("1%..99%", found(RangeOver::First, [0.01, 0.99], false)),
            ("symmetric frame 0%..50%", found(RangeOver::Frame, [0.0, 0.5], true)),
            ("films", None),
            ("", None),
            ("9%..1%", None),
        ] {
            assert_eq!(ValueRange::words(text), expected, "{text}");
        }
    }
}
