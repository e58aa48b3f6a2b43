//! The number of samples per pixel.

use crate::language::{Message, msg};
use crate::scene::Integrator;
use crate::scene::keys::kinds::{number_or_word_schema, number_schema, number_text};
use crate::scene::keys::read::{Given, Table};
use crate::scene::keys::write::Lines;
use crate::scene::keys::{Key, Value};
use crate::scene::limits::MAX_PATH_SAMPLES;
use crate::scene::text::diagnostic::Rule;

/// The number of samples per pixel, at most [`Integrator::max_samples`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// Samples along each side of a pixel (Whitted ray tracing).
    PerAxis(u32),
    /// Samples per pixel (path tracing).
    PerPixel(u32),
    /// The same number for all pixels, until the picture's noise is below a limit (path tracing).
    UntilNoise {
        /// Maximum samples per pixel.
        max: u32,
        /// The noise limit, in 8-bit codes.
        noise: f64,
    },
    /// As many as each pixel needs (kernels/adaptive.cuh).
    Adaptive {
        /// Minimum samples per pixel, 1 to `max`; for path tracing at least [`Sampling::MIN_PATHS`], if `max` allows
        /// it.
        min: u32,
        /// Maximum samples per pixel.
        max: u32,
        /// The tolerated error of a pixel's mean, in 8-bit codes, estimated from the difference of two halves of its
        /// samples.
        noise: f64,
    },
}

impl Sampling {
    /// The default noise limit of adaptive sampling.
    pub const NOISE: f64 = 1.5;

    /// Minimum number of first samples of a path-traced pixel. With fewer, too many pixels and their neighbors all
    /// miss a small light, agree with each other, and stay too dark.
    pub const MIN_PATHS: u32 = 16;

    /// Samples per pixel; the maximum if they vary.
    pub fn per_pixel(self) -> u32 {
        match self {
            Sampling::PerAxis(n) => n * n,
            Sampling::PerPixel(n) => n,
            Sampling::UntilNoise { max, .. } | Sampling::Adaptive { max, .. } => max,
        }
    }
    /// The number in the scene: along a pixel's side, or per pixel.
    pub fn own(self) -> u32 {
        if let Sampling::PerAxis(n) = self { n } else { self.per_pixel() }
    }
    /// Whether the number of samples varies between pixels.
    pub fn is_adaptive(self) -> bool {
        matches!(self, Sampling::Adaptive { .. })
    }
    /// The noise limit of the whole picture; 0 takes all samples.
    pub(crate) fn noise_limit(self) -> f64 {
        if let Sampling::UntilNoise { noise, .. } = self { noise } else { 0.0 }
    }
    /// The same sampling with another number; adaptive sampling becomes the same number for all pixels.
    pub(crate) fn with_own(self, own: u32, integrator: Integrator) -> Sampling {
        match self {
            Sampling::UntilNoise { noise, .. } => Sampling::UntilNoise { max: own, noise },
            _ => integrator.sampling(own),
        }
    }
    /// Adaptive sampling in a range.
    pub(crate) fn adaptive((min, max): (u32, u32), noise: f64, integrator: Integrator) -> Sampling {
        let first = integrator.own(1, Sampling::MIN_PATHS.min(max));
        Sampling::Adaptive { min: min.max(first), max, noise }
    }

    /// Parses `A..B`, the range of samples per pixel.
    ///
    /// # Errors
    /// The expected text.
    pub fn parse_range(text: &str, limit: u32) -> Result<(u32, u32), Message> {
        let number = |s: &str| s.trim().parse::<u32>().ok();
        let range = text.split_once("..").and_then(|(a, b)| Some((number(a)?, number(b)?)));
        match range {
            Some((min, max)) if 1 <= min && min <= max && max <= limit => Ok((min, max)),
            Some((high, low)) if 1 <= low && low < high && high <= limit => {
                Err(msg!("the smaller number first: {range}", range = format_args!("\"{low}..{high}\"")))
            }
            _ => Err(msg!("a range such as \"4..64\", from 1 to {limit}", limit)),
        }
    }
}

const SAMPLES: Key = Key {
    rule: Rule::Whole(1, MAX_PATH_SAMPLES),
    slider: Some((1.0, 16.0)),
    holds: Some(""),
    spelled: true,
    ..Key::new(
        "samples",
        "Samples along each side of a pixel (per pixel with paths and ambient occlusion), or a range such as \"4..64\": adaptive samples \
         per pixel; with paths and ambient occlusion at least 16.",
    )
};
const NOISE: Key = Key {
    rule: Rule::NotNegative,
    unit: "8-bit codes",
    slider: Some((0.0, 4.0)),
    holds: Some(""),
    spelled: true,
    ..Key::new(
        "noise",
        "Noise at which sampling stops, per picture or, with a range of `samples`, per pixel; 0: all samples are taken.",
    )
};

impl Value for Sampling {
    // The integrator has been read before.
    fn read(&mut self, _: &'static Key, table: &mut Table) {
        let word = table.word("integrator").unwrap_or_default();
        let named = Integrator::ALL.into_iter().find(|(_, name)| name.eq_ignore_ascii_case(word));
        // A misspelt integrator is one fault, and no second one of its samples: a path may have the most.
        let other = if word.is_empty() { Integrator::default() } else { Integrator::Path };
        let integrator = named.map_or(other, |(integrator, _)| integrator);
        let noise = table.take(&NOISE).and_then(|mut given| given.ruled());
        let (max, usual) = integrator.own_samples();
        let key = Key { rule: Rule::Whole(1, max), ..SAMPLES };
        let range = |text: &str| Sampling::parse_range(text, integrator.max_samples());
        let read = table.take(&SAMPLES).and_then(|given| {
            let wrong = given.value.get_ref().as_str().and_then(|text| range(text).err());
            let expected = wrong.unwrap_or_else(|| msg!("a range such as \"4..64\""));
            Given { key: &key, ..given }.number_or_word(|text| range(text).ok(), &expected)
        });
        *self = match read {
            Some(Err(range)) => Sampling::adaptive(range, noise.unwrap_or(Sampling::NOISE), integrator),
            other => integrator.sampling(other.and_then(Result::ok).map_or(usual, |n| n as u32)),
        };
        if let (Sampling::PerPixel(max), Some(noise)) = (*self, noise.filter(|&noise| noise > 0.0)) {
            *self = Sampling::UntilNoise { max, noise };
        }
    }
    fn list(&self, _: &'static Key, lines: &mut Lines) {
        let (samples, noise) = match *self {
            Sampling::PerAxis(n) => (format!("{n} # along each side of a pixel"), None),
            Sampling::PerPixel(n) => (format!("{n} # of each pixel"), Some(0.0)),
            Sampling::UntilNoise { max, noise } => (format!("{max} # of each pixel"), Some(noise)),
            Sampling::Adaptive { min, max, noise } => (format!("\"{min}..{max}\" # of each pixel"), Some(noise)),
        };
        lines.value(&SAMPLES, Some(samples), number_or_word_schema);
        lines.value(&NOISE, noise.map(number_text), |key| number_schema(key.rule));
    }
}

impl Integrator {
    /// The same number of samples for all pixels: along a pixel's side, or per pixel if samples are random.
    pub fn sampling(self, own: u32) -> Sampling {
        if self.capabilities().random_samples { Sampling::PerPixel(own) } else { Sampling::PerAxis(own) }
    }
}
