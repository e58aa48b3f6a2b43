//! What happens to light between the lens and the picture.

use super::Tone;

/// The film: from light to what is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmSettings {
    /// How much light there is to be.
    pub exposure: Exposure,
    /// Temperature of the light that is shown white, kelvin; 6504 leaves colours as they are.
    pub white_balance: f64,
    /// Share of the light that a lens scatters around its place, 0 to 1.
    pub bloom: f64,
    /// How far it scatters, in picture heights.
    pub bloom_radius: f64,
    /// Share of light that the picture's corners lose, 0 to 1.
    pub vignette: f64,
    /// Strength of the grain, 0 to 1; new in each frame.
    pub grain: f64,
    /// How brightness becomes a picture's.
    pub tone: Tone,
    /// Eight bits are rounded up or down by a pattern, so that smooth gradients show no steps.
    pub dither: bool,
}

impl Default for FilmSettings {
    fn default() -> FilmSettings {
        FilmSettings {
            exposure: Exposure::Stops(0.0),
            white_balance: FilmSettings::DAYLIGHT,
            bloom: 0.0,
            bloom_radius: 0.15,
            vignette: 0.0,
            grain: 0.0,
            tone: Tone::Soft,
            dither: false,
        }
    }
}

impl FilmSettings {
    /// Temperature of sRGB's own white (D65), kelvin.
    pub const DAYLIGHT: f64 = 6504.0;
    /// Range of `white_balance`, kelvin: where the formula for the Planckian locus holds.
    pub const TEMPERATURES: [f64; 2] = [1667.0, 25000.0];
    /// Most stops, up or down.
    pub const MAX_STOPS: f64 = 20.0;
}

/// How much light there is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exposure {
    /// Twice as much for each stop.
    Stops(f64),
    /// What suits the clip as a whole, found from a few small trial frames before the first one.
    Auto,
}
