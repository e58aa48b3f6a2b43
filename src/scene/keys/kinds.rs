//! The kinds of values that one key may have: each is read, written and declared here, once.

use super::read::{Context, Table, TomlValue};
use super::schema::Declaration;
use super::write::Lines;
use super::{Key, Value};
use crate::math::vec3::{Vec3, length};
use crate::scene::diagnostic::{Problem, Rule};
use crate::scene::expand_home;
use crate::scene::limits::SHORTEST;
use crate::scene::suggest;
use serde_json::json;
use std::path::{Path, PathBuf};
use toml::de::DeValue;

/// A value of one key.
pub(crate) trait Kind: Sized {
    /// Whether the word `none` says that there is none, where it may be left out.
    const TAKES_NONE: bool = false;
    /// Reads it; what is wrong with it is told of.
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<Self>;
    /// As it is written in TOML.
    fn text(&self, key: &Key) -> String;
    /// The JSON schema of its values.
    fn schema(key: &Key) -> serde_json::Value;
}

impl<T: Kind> Value for T {
    fn read(&mut self, key: &'static Key, table: &mut Table) {
        if let Some(value) = table.take(key)
            && let Some(value) = T::parse(value, key, table.context)
        {
            *self = value;
        }
    }
    fn write(&self, key: &'static Key, out: &mut Lines) {
        out.line(key, self.text(key));
    }
    fn declare(&self, key: &'static Key, out: &mut Declaration) {
        out.key(key, T::schema(key), Some(self.text(key)));
    }
}

impl<T: Kind> Value for Option<T> {
    fn read(&mut self, key: &'static Key, table: &mut Table) {
        if let Some(value) = table.take(key) {
            let is_none = T::TAKES_NONE && value.get_ref().as_str() == Some("none");
            *self = if is_none { None } else { T::parse(value, key, table.context) };
        }
    }
    fn write(&self, key: &'static Key, out: &mut Lines) {
        if let Some(value) = self {
            out.line(key, value.text(key));
        }
    }
    fn declare(&self, key: &'static Key, out: &mut Declaration) {
        out.key(key, T::schema(key), self.as_ref().map(|value| value.text(key)));
    }
}

/// The shortest form of a number that reads back as itself; TOML wants a point or an exponent in it.
pub(crate) fn number_text(x: f64) -> String {
    format!("{x:?}")
}

/// A list of numbers.
pub(crate) fn list_text(numbers: &[f64]) -> String {
    format!("[{}]", numbers.iter().map(|&x| number_text(x)).collect::<Vec<_>>().join(", "))
}

/// A text as TOML's basic string.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The schema of a number by a rule.
pub(crate) fn number_schema(rule: Rule) -> serde_json::Value {
    let (min, max) = rule.range();
    let mut schema = json!({ "type": if matches!(rule, Rule::Whole(..) | Rule::Bits) { "integer" } else { "number" } });
    let open = matches!(rule, Rule::FieldOfView);
    for (bound, x) in [
        (if open { "exclusiveMinimum" } else { "minimum" }, min),
        (if open { "exclusiveMaximum" } else { "maximum" }, max),
    ] {
        if let Some(x) = x {
            schema[bound] = super::schema::short(x);
        }
    }
    schema
}

/// The schema of a number by the key's rule, or a word in its place.
pub(crate) fn number_or_word_schema(key: &Key) -> serde_json::Value {
    json!({ "anyOf": [number_schema(key.rule), { "type": "string" }] })
}

impl Kind for f64 {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<f64> {
        let x = context.ruled(key, value)?;
        Some(if key.is_angle { crate::scene::snap_angle((x % 360.0).to_radians()) } else { x })
    }
    fn text(&self, key: &Key) -> String {
        number_text(if key.is_angle { self.to_degrees() } else { *self })
    }
    fn schema(key: &Key) -> serde_json::Value {
        number_schema(key.rule)
    }
}

// Its rule is `Rule::Whole`, or a list of whole numbers.
impl Kind for u32 {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<u32> {
        context.ruled(key, value).map(|x| x as u32)
    }
    fn text(&self, _: &Key) -> String {
        self.to_string()
    }
    fn schema(key: &Key) -> serde_json::Value {
        number_schema(key.rule)
    }
}

impl Kind for bool {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<bool> {
        let is_on = value.get_ref().as_bool();
        if is_on.is_none() {
            context.wrong(key, value, "true or false");
        }
        is_on
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
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<[f64; 2]> {
        context.ruled_numbers(key, value)
    }
    fn text(&self, _: &Key) -> String {
        list_text(self)
    }
    fn schema(key: &Key) -> serde_json::Value {
        list_schema(key, 2)
    }
}

// A point, a direction or a colour.
impl Kind for Vec3 {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<Vec3> {
        if key.is_colour {
            let colour = colour(value, key, context)?;
            return context.check_numbers(key, value, &colour).then_some(colour);
        }
        let numbers = context.ruled_numbers(key, value)?;
        // Shorter ones have no square.
        if key.is_direction && length(numbers) < SHORTEST {
            let what = format!("`{}` has no direction", key.name);
            context.problem(value.span(), what, format!("expected a vector longer than {SHORTEST:e}"));
            return None;
        }
        Some(numbers)
    }
    fn text(&self, _: &Key) -> String {
        list_text(self)
    }
    fn schema(key: &Key) -> serde_json::Value {
        if !key.is_colour {
            return list_schema(key, 3);
        }
        json!({ "anyOf": [number_schema(key.rule), list_schema(key, 3), { "type": "string" }], "format": "color" })
    }
}

// sRGB: three numbers, one for a grey, or a word in quotes.
fn colour(value: &TomlValue, key: &Key, context: &mut Context) -> Option<Vec3> {
    let text = match value.get_ref() {
        DeValue::Array(_) => return context.numbers(key, value),
        DeValue::Integer(_) | DeValue::Float(_) => return context.number(key, value).map(|x| [x; 3]),
        DeValue::String(text) => text.as_ref(),
        _ => "",
    };
    // The names and notations of CSS Color 4.
    if let Some(colour) = csscolorparser::parse(text).ok().filter(|c| c.a == 1.0 && !text.is_empty()) {
        // As the digits say, and not their nearest single-precision numbers.
        let [r, g, b, _] = colour.to_rgba8();
        return Some([r, g, b].map(|x| f64::from(x) / 255.0));
    }
    context.wrong(key, value, "a list of 3 numbers, \"#rrggbb\", a colour's name in quotes, or a number for a grey");
    let is_helped = !text.is_empty() && !context.is_crowded();
    if let Some(last) = context.problems.last_mut().filter(|_| is_helped) {
        last.help = colour_help(text);
    }
    None
}

// What an author may have meant by a text that is no colour.
fn colour_help(text: &str) -> Option<String> {
    if let Some(digits) = text.strip_prefix('#') {
        let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        return match digits.len() {
            4 | 8 if is_hex => Some(format!(
                "colours have no alpha: \"#{}\"; `transparency` lets light through a material",
                &digits[..digits.len() / 4 * 3]
            )),
            _ if is_hex => {
                Some(format!("a colour has three or six digits of 0 to f, and this one has {}", digits.len()))
            }
            _ => Some("a colour has three or six digits of 0 to f".into()),
        };
    }
    let names = csscolorparser::NAMED_COLORS.keys().map(|name| name.as_str());
    suggest::nearest(text, names).map(|name| format!("did you mean \"{name}\"?"))
}

// A file; its place starts at the scene's folder.
impl Kind for PathBuf {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<PathBuf> {
        let path = context.text(key, value)?;
        Some(context.options.folder.join(expand_home(path, context.options.home)))
    }
    fn text(&self, _: &Key) -> String {
        quoted(&self.display().to_string())
    }
    fn schema(_: &Key) -> serde_json::Value {
        json!({ "type": "string" })
    }
}

/// Something built in, by its name, or a file; `parse` says what was expected.
pub(crate) fn builtin_or_file<T>(
    value: &TomlValue,
    key: &Key,
    context: &mut Context,
    what: &str,
    parse: impl Fn(&str, &Path, Option<&Path>) -> Result<Option<T>, String>,
) -> Option<T> {
    let text = context.text(key, value)?;
    match parse(text, context.options.folder, context.options.home) {
        Ok(source) => source,
        Err(expected) => {
            context.problem(
                value.span(),
                format!("there is no built-in {what} `{text}`"),
                format!("expected {expected}"),
            );
            None
        }
    }
}

/// A list of names: [`super::names!`] makes one.
pub(crate) trait Names: Copy + PartialEq + 'static {
    /// Each with its word, and what it means.
    const NAMES: &'static [(Self, &'static str, &'static str)];
}

impl<T: Names> Kind for T {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<T> {
        one_of(value, key, context, T::NAMES.iter().map(|(value, word, _)| (*value, *word)))
    }
    fn text(&self, _: &Key) -> String {
        quoted(T::NAMES.iter().find(|(value, ..)| value == self).map_or("", |(_, word, _)| word))
    }
    fn schema(_: &Key) -> serde_json::Value {
        words_schema(T::NAMES.iter().map(|(_, word, about)| (*word, *about)))
    }
}

/// One of some words; letters count alike, large or small.
pub(crate) fn one_of<T>(
    value: &TomlValue,
    key: &Key,
    context: &mut Context,
    words: impl Iterator<Item = (T, &'static str)> + Clone,
) -> Option<T> {
    let text = context.text(key, value)?;
    let found = words.clone().find(|(_, word)| word.eq_ignore_ascii_case(text));
    if found.is_none() {
        let all = words.clone().map(|(_, word)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        let what = format!("`{}` is \"{text}\"", key.name);
        let problem = Problem::new(value.span(), what, format!("expected one of {all}"));
        context.no_such_word(problem, key, text, words.map(|(_, word)| word));
    }
    found.map(|(value, _)| value)
}

/// The schema of some words, each with what it means.
pub(crate) fn words_schema<'a>(words: impl Iterator<Item = (&'a str, &'a str)>) -> serde_json::Value {
    let (words, abouts): (Vec<&str>, Vec<String>) =
        words.map(|(word, about)| (word, about.split_whitespace().collect::<Vec<_>>().join(" "))).unzip();
    json!({ "type": "string", "enum": words, "enumDescriptions": abouts })
}
