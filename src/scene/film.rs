//! What happens to light between the lens and the picture.

use super::Tone;

/// The film: from light to what is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmSettings {
    /// How samples around a pixel make it up.
    pub filter: Filter,
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
    /// Whether eight bits are rounded up or down by a pattern, so that smooth gradients show no steps. None: as
    /// [`FilmSettings::is_dithered`] has it.
    pub dither: Option<bool>,
}

impl Default for FilmSettings {
    fn default() -> FilmSettings {
        FilmSettings {
            filter: Filter::Box,
            exposure: Exposure::Stops(0.0),
            white_balance: FilmSettings::DAYLIGHT,
            bloom: 0.0,
            bloom_radius: 0.15,
            vignette: 0.0,
            grain: 0.0,
            tone: Tone::Soft,
            dither: None,
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

    /// Whether pictures are dithered. A film that glows or bends has smooth gradients; a plain one stays as fast as it was.
    pub fn is_dithered(&self) -> bool {
        self.dither.unwrap_or_else(|| {
            let others = FilmSettings { tone: Tone::Soft, filter: Filter::Box, dither: None, ..*self };
            others != FilmSettings::default() || self.tone.knee().is_none()
        })
    }

    /// The same film, which says of its dither only what its other settings do not say.
    pub(crate) fn canonical(self) -> FilmSettings {
        let open = FilmSettings { dither: None, ..self };
        FilmSettings { dither: self.dither.filter(|&dither| dither != open.is_dithered()), ..self }
    }
}

/// The reconstruction filter: how samples around a pixel's middle make it up. Samples are drawn by the filter's shape and
/// count alike (Ernst, Stamminger and Greiner, "Filter importance sampling", 2006), so no pixel needs its neighbours'.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The pixel's own square, all alike.
    #[default]
    Box,
    /// A pyramid, to the middles of the neighbours.
    Tent,
    /// Blackman and Harris's window, one and a half pixels to each side: the smoothest.
    BlackmanHarris,
}

impl Filter {
    /// All, with their names.
    pub const ALL: [(Filter, &str); 3] =
        [(Filter::Box, "box"), (Filter::Tent, "tent"), (Filter::BlackmanHarris, "blackman-harris")];
    /// The name in a scene.
    pub fn name(self) -> &'static str {
        super::name_of(&Self::ALL, self)
    }
    /// How far it reaches to each side, pixels.
    pub fn radius(self) -> f64 {
        match self {
            Filter::Box => 0.5,
            Filter::Tent => 1.0,
            Filter::BlackmanHarris => 1.5,
        }
    }
    /// Its weight at a distance from the pixel's middle, in pixels along one side; not normalised.
    pub fn weight(self, x: f64) -> f64 {
        let place = x / self.radius();
        if place.abs() > 1.0 {
            return 0.0;
        }
        match self {
            Filter::Box => 1.0,
            Filter::Tent => 1.0 - place.abs(),
            Filter::BlackmanHarris => {
                // Harris, "On the use of windows for harmonic analysis", 1978: four terms, -92 dB.
                let turn = std::f64::consts::PI * (place + 1.0);
                0.358_75 - 0.488_29 * libm::cos(turn) + 0.141_28 * libm::cos(2.0 * turn)
                    - 0.011_68 * libm::cos(3.0 * turn)
            }
        }
    }
}

/// How much light there is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exposure {
    /// Twice as much for each stop.
    Stops(f64),
    /// What suits the clip as a whole, found from a few small trial frames before the first one.
    Auto,
}
