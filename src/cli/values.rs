//! Values of flags.

use crate::language::{Message, msg};
use crate::math::colormap::ColourMap;
use crate::scene::Solid;
use crate::scene::keys::names::Names;
use crate::scene::limits::MAX_PARTICLES;
use crate::scene::limits::{MAX_PIXELS, PICTURES, endings};
use crate::scene::size::Size;
use crate::scene::text::diagnostic::Rule;
use crate::scene::text::suggest::{self, NameKind};
use std::time::Duration;

/// A color map by its name.
pub fn parse_map(text: &str) -> Result<ColourMap, Message> {
    ColourMap::named(text).ok_or_else(|| {
        let names = ColourMap::names().collect::<Vec<_>>().join(", ");
        let near = suggest::meant(NameKind::Value("map"), text, ColourMap::names());
        near.unwrap_or_else(|| msg!("expected one of {list}", list = names))
    })
}

pub fn parse_size(text: &str) -> Result<(u32, u32), Message> {
    let expected = || {
        msg!(
            "expected WIDTHxHEIGHT, each {side}, or a name such as 1080p, 4k or vertical",
            side = Size::SIDE.expected()
        )
    };
    let Size(width, height) = Size::named(text).ok_or_else(expected)?;
    check_size(width, height)?;
    Ok((width, height))
}

/// What `bench --sizes` varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchSize {
    /// Width and height of the picture.
    Picture(u32, u32),
    /// The number of particles.
    Particles(u32),
}

impl BenchSize {
    pub fn particles(self) -> Option<u32> {
        if let BenchSize::Particles(count) = self { Some(count) } else { None }
    }
}

/// A size of pictures, or a number of particles such as `1e6`.
pub fn parse_bench_size(text: &str) -> Result<BenchSize, Message> {
    let count = text.trim().parse::<f64>().ok().filter(|count| count.fract() == 0.0);
    let count = count.filter(|count| (1.0..=f64::from(MAX_PARTICLES)).contains(count));
    match count {
        Some(count) => Ok(BenchSize::Particles(count as u32)),
        None => parse_size(text).map(|(width, height)| BenchSize::Picture(width, height)),
    }
}

/// A time such as `10m`.
pub fn parse_time(text: &str) -> Result<Duration, Message> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let time = units.iter().find_map(|(unit, seconds)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * seconds));
    let time = time.filter(|seconds| (0.0..1.0e9).contains(seconds));
    time.map(Duration::from_secs_f64).ok_or_else(|| msg!("expected a time such as `30s`, `10m` or `1h`"))
}

/// A share in percent, such as `5%`, as a fraction.
pub fn parse_share(text: &str) -> Result<f64, Message> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    let share = percent.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0);
    share.ok_or_else(|| msg!("expected a share such as `5%`"))
}

pub fn check_size(width: u32, height: u32) -> Result<(), Message> {
    let too_large = || {
        msg!(
            "a picture of {width} x {height} pixels is above the memory limit of {max} pixels",
            width,
            height,
            max = MAX_PIXELS
        )
    };
    Size(width, height).fits().then_some(()).ok_or_else(too_large)
}

pub fn frames_help() -> String {
    format!(
        "Where the frames go: a path with %d, %0Nd or ####, ending in {}; without a number for one frame; `-` (or `-.ppm`) for \
         stdout, and the log on stderr",
        endings(&PICTURES)
    )
}

/// A number that obeys a rule.
pub fn ruled(rule: Rule) -> impl Fn(&str) -> Result<f64, Message> + Clone {
    move |text| text.parse().ok().filter(|&x| rule.allows(x)).ok_or_else(|| rule.expected())
}

pub fn whole<T: TryFrom<u64>>(low: u64, high: u64) -> impl Fn(&str) -> Result<T, Message> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|n| (low..=high).contains(n));
        let number = number.and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| msg!("expected a whole number from {low} to {high}", low, high))
    }
}

pub fn parse_threads(text: &str) -> Result<usize, Message> {
    whole(0, 1024)(text)
}

pub fn parse_thread_list(text: &str) -> Result<usize, Message> {
    parse_threads(text).map_err(|expected| msg!("{expected}, or several of them with commas: 1,2,4", expected))
}

pub fn parse_fps(text: &str) -> Result<f64, Message> {
    let rule = Rule::FRAME_RATE;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let fps = match text.split_once('/') {
        Some((frames, seconds)) => number(frames).zip(number(seconds)).map(|(frames, seconds)| frames / seconds),
        None => number(text),
    };
    let expected = || msg!("expected {range}, or a fraction such as 30000/1001", range = rule.expected());
    fps.filter(|&fps| rule.allows(fps)).ok_or_else(expected)
}

/// Parses a size in bytes: `2MB`, `500k`, `1.5MiB`.
pub fn parse_bytes(text: &str) -> Result<u64, Message> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim().trim_end_matches('b') {
        "" => Some(1.0),
        "k" => Some(1e3),
        "m" => Some(1e6),
        "ki" => Some(1024.0),
        "mi" => Some(1024.0 * 1024.0),
        _ => None,
    };
    let bytes = number.parse::<f64>().ok().zip(unit).map(|(number, unit)| (number * unit) as u64);
    bytes
        .filter(|bytes| (1000..=1 << 40).contains(bytes))
        .ok_or_else(|| msg!("expected a size of 1 kB or more, such as 2MB or 500kB"))
}

pub fn parse_solid(text: &str) -> Result<Solid, Message> {
    let named = Solid::NAMES.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(text.trim()));
    named
        .map(|(solid, ..)| *solid)
        .ok_or_else(|| msg!("expected one of {list}", list = Solid::ALL.map(Solid::name).join(", ")))
}

pub fn parse_solids(text: &str) -> Result<[Solid; 3], Message> {
    let solids = text.split(',').map(parse_solid).collect::<Result<Vec<_>, _>>()?;
    solids.try_into().map_err(|_| msg!("expected three solids, as A,B,C"))
}

/// Parses `K/N`: part K of N.
pub fn parse_shard(text: &str) -> Result<(u32, u32), Message> {
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
    numbers.filter(|&(k, n)| (1..=n).contains(&k)).ok_or_else(|| msg!("expected K/N, with K from 1 to N"))
}

pub fn parse_point(text: &str) -> Result<[f64; 3], Message> {
    let finite = |word: &str| word.trim().parse().ok().filter(|x: &f64| x.is_finite());
    let numbers: Option<Vec<f64>> = text.split(',').map(finite).collect();
    numbers.and_then(|n| n.try_into().ok()).ok_or_else(|| msg!("expected three numbers, as X,Y,Z"))
}
