//! The values of a scene in TOML, as they are written, each with its place.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, SeqAccess, Visitor};
use std::borrow::Cow;
use std::ops::Deref;
use toml::Spanned;

pub type Number = Option<At<Real>>;
pub type Text = Option<At<String>>;
pub type Triple = Option<At<Numbers<3>>>;
pub type Colour = Option<At<Paint>>;

/// A value and where it stands.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct At<T>(Spanned<T>);

impl<T> Deref for At<T> {
    type Target = Spanned<T>;
    fn deref(&self) -> &Spanned<T> {
        &self.0
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

// What a value may be, for editors.
macro_rules! schema_of {
    ([$($generic:tt)*] $type:ty, $name:literal, $schema:expr) => {
        impl<$($generic)*> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}
schema_of!([] Real, "number", json_schema!({ "type": "number" }));
schema_of!([const N: usize] Numbers<N>, "numbers", json_schema!({
    "type": "array", "items": { "type": "number" }, "minItems": N, "maxItems": N
}));
schema_of!([] Paint, "color", json_schema!({
    "anyOf": [
        { "type": "number", "minimum": 0 },
        { "type": "array", "items": { "type": "number", "minimum": 0 }, "minItems": 3, "maxItems": 3 },
        { "type": "string" },
    ],
    "format": "color"
}));
schema_of!([] NumberOrWord, "number or word", json_schema!({ "anyOf": [{ "type": "number" }, { "type": "string" }] }));

/// A number, or a share written as "60%".
pub struct Real(pub f64);

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fraction;
        impl Visitor<'_> for Fraction {
            type Value = Real;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                // What it may be besides is no news to an author who has something else there.
                write!(f, "a number")
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Self::Value, E> {
                Ok(Real(x))
            }
            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Self::Value, E> {
                Ok(Real(x as f64))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                let share = percent(text).ok_or_else(|| E::invalid_type(de::Unexpected::Str(text), &self))?;
                Ok(Real(share))
            }
        }
        deserializer.deserialize_any(Fraction)
    }
}

/// The share that a text such as `60%` says.
pub fn percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    // The same digits two places on: a hundredth by division would be another number now and then.
    format!("{number}e-2").parse().ok()
}

// Just N numbers: serde's own arrays would silently drop a fourth.
pub struct Numbers<const N: usize>(pub [f64; N]);

impl<'de, const N: usize> Deserialize<'de> for Numbers<N> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seq<const N: usize>;
        impl<'de, const N: usize> Visitor<'de> for Seq<N> {
            type Value = Numbers<N>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "a list of {N} numbers")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = [0.0; N];
                for (i, value) in values.iter_mut().enumerate() {
                    *value = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(i, &self))?;
                }
                match seq.next_element::<de::IgnoredAny>()? {
                    Some(_) => Err(de::Error::invalid_length(N + 1, &self)),
                    None => Ok(Numbers(values)),
                }
            }
        }
        deserializer.deserialize_seq(Seq)
    }
}

// A colour, sRGB: three numbers, one for a grey, or a word in quotes.
pub struct Paint(pub Numbers<3>);

impl<'de> Deserialize<'de> for Paint {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Paint;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "a list of 3 numbers, \"#rrggbb\", a colour's name in quotes, or a number for a grey")
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Self::Value, E> {
                Ok(Paint(Numbers([x; 3])))
            }
            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Self::Value, E> {
                self.visit_f64(x as f64)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Numbers::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Paint)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                // The names and notations of CSS Color 4.
                let colour = csscolorparser::parse(text).ok().filter(|c| c.a == 1.0);
                let colour = colour.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))?;
                // As the digits say, and not their nearest single-precision numbers.
                let [r, g, b, _] = colour.to_rgba8();
                Ok(Paint(Numbers([r, g, b].map(|x| f64::from(x) / 255.0))))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Three numbers, however they are written.
pub trait ThreeNumbers {
    fn values(&self) -> [f64; 3];
}
impl ThreeNumbers for Numbers<3> {
    fn values(&self) -> [f64; 3] {
        self.0
    }
}
impl ThreeNumbers for Paint {
    fn values(&self) -> [f64; 3] {
        self.0.0
    }
}

/// A number, or a word in its place.
pub enum NumberOrWord {
    Number(f64),
    Word(String),
}

impl std::fmt::Display for NumberOrWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NumberOrWord::Number(x) => write!(f, "{x}"),
            NumberOrWord::Word(word) => write!(f, "\"{word}\""),
        }
    }
}

impl<'de> Deserialize<'de> for NumberOrWord {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = NumberOrWord;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "a number or a word in quotes")
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Self::Value, E> {
                Ok(NumberOrWord::Number(x))
            }
            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Self::Value, E> {
                Ok(NumberOrWord::Number(x as f64))
            }
            fn visit_str<E: de::Error>(self, x: &str) -> Result<Self::Value, E> {
                Ok(NumberOrWord::Word(x.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
