//! Samples as each pixel needs them.

/// Adaptive sampling: how many samples a pixel takes (kernels/adaptive.cuh).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// So many each, 1 to [`Adaptive::most`]; of paths at least [`Adaptive::FIRST_PATHS`].
    pub min: u32,
    /// No pixel takes more.
    pub max: u32,
    /// 8-bit codes that a pixel's mean may be off, by the difference of halves of its samples, without taking more.
    pub noise: f64,
}

impl Adaptive {
    /// The noise of scenes that do not say.
    pub const NOISE: f64 = 1.5;

    /// First samples of a path-traced pixel, at least, if it may have so many. Of fewer too many pixels miss a small light
    /// that their neighbours miss as well, agree, and stay too dark.
    pub const FIRST_PATHS: u32 = 16;

    /// `A..B`, of samples that a pixel can have.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse_range(text: &str, limit: u32) -> Result<(u32, u32), String> {
        let number = |s: &str| s.trim().parse::<u32>().ok();
        let range = text.split_once("..").and_then(|(a, b)| Some((number(a)?, number(b)?)));
        match range {
            Some((min, max)) if 1 <= min && min <= max && max <= limit => Ok((min, max)),
            Some((high, low)) if 1 <= low && low < high && high <= limit => {
                Err(format!("the smaller number first: \"{low}..{high}\""))
            }
            _ => Err(format!("a range such as \"4..64\", from 1 to {limit}")),
        }
    }
}
