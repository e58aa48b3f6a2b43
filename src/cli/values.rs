//! Values of flags.

use super::language::language;
use crate::output::video::Encode;
use crate::scene::diagnostic::Rule;
use crate::scene::limits::{MAX_PIXELS, PICTURES, endings};
use crate::scene::size::Size;
use crate::scene::{ColourBy, Grammar, Look, Solid};
use clap::ValueEnum;
use clap::builder::PossibleValue;

// Uses types of the library as values of flags, with their names and their texts in the help.
macro_rules! values {
    ($($kind:ident { $($variant:ident = $name:literal: $help:literal,)* })*) => {$(
        impl ValueEnum for $kind {
            fn value_variants<'a>() -> &'a [$kind] {
                &[$($kind::$variant),*]
            }
            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self { $($kind::$variant => PossibleValue::new($name).help($help),)* })
            }
        }
    )*};
}

values! {
    Grammar {
        Tokens = "tokens": "The coursework's token text",
        Toml = "toml": "TOML",
    }
    Look {
        Film = "film": "As on film: lamps that glow, slim dark bars or bevels, a floor on dark ground, a sky at dusk, soft shadows, motion blur",
        Plain = "plain": "Flat, as the programs of the coursework",
        Bare = "bare": "Only what the seed of these programs shows: flat, black sky, no shadows and highlights, light clipped at white",
    }
    Encode {
        Fast = "fast": "The fastest: the largest film",
        Standard = "standard": "As fast as a GPU renders, on 16 cores",
        Small = "small": "The smallest film, in the longest time",
    }
    ColourBy {
        Nothing = "nothing": "All are alike",
        Velocity = "velocity": "Speed",
        Pressure = "pressure": "Pressure",
        Radius = "radius": "Radius",
    }
}

pub fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let expected = || language().a_size(Size::SIDE.expected(language()));
    let Size(width, height) = Size::named(text).ok_or_else(expected)?;
    if !Size(width, height).fits() {
        return Err(language().above_memory_limit(width, height, MAX_PIXELS));
    }
    Ok((width, height))
}

// The help of -o.
pub fn frames_help() -> String {
    format!(
        "Where the frames go: a path with %d, %0Nd or ####, ending in {}; without a number for one frame; `-` (or `-.ppm`) for \
         stdout, and the log on stderr",
        endings(&PICTURES)
    )
}

pub fn parse_threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n <= 1024).ok_or_else(|| language().number_between(0, 1024))
}

/// A number of a list.
pub fn parse_thread_list(text: &str) -> Result<usize, String> {
    parse_threads(text).map_err(|expected| language().several_threads(expected))
}

pub fn parse_fps(text: &str) -> Result<f64, String> {
    let rule = Rule::FRAME_RATE;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let fps = match text.split_once('/') {
        Some((frames, seconds)) => number(frames).zip(number(seconds)).map(|(frames, seconds)| frames / seconds),
        None => number(text),
    };
    let expected = || language().a_rate(rule.expected(language()));
    fps.filter(|&fps| rule.allows(fps)).ok_or_else(expected)
}

pub fn parse_solid(text: &str) -> Result<Solid, String> {
    Solid::from_name(text.trim()).ok_or_else(|| language().expected_one_of(Solid::ALL.map(Solid::name).join(", ")))
}

pub fn parse_solids(text: &str) -> Result<[Solid; 3], String> {
    let solids = text.split(',').map(parse_solid).collect::<Result<Vec<_>, _>>()?;
    solids.try_into().map_err(|_| language().three_solids())
}

/// Parses `K/N`: part K of N.
pub fn parse_shard(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
    numbers.filter(|&(k, n)| (1..=n).contains(&k)).ok_or_else(|| language().a_shard())
}

pub fn parse_point(text: &str) -> Result<[f64; 3], String> {
    let finite = |word: &str| word.trim().parse().ok().filter(|x: &f64| x.is_finite());
    let numbers: Option<Vec<f64>> = text.split(',').map(finite).collect();
    numbers.and_then(|n| n.try_into().ok()).ok_or_else(|| language().three_numbers())
}
