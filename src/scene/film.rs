//! The film: exposure, white balance, filter, bloom and the other steps between light and picture.

pub(super) mod tone;

use super::keys::keys;
use super::keys::kinds::number_text;
use super::keys::read::Table;
use super::keys::words::{names, number_or_word};
use super::text::diagnostic::Rule;
use super::{Camera, Look, Tone};

keys! {
    /// The film: from light to what is shown.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FilmSettings in "film" {
        /// Stops up or down, or "auto": one value for the whole clip, from a few small trial frames.
        pub exposure: Exposure = Exposure::Stops(0.0),
            rule(Rule::Within(-FilmSettings::MAX_STOPS, FilmSettings::MAX_STOPS)), unit("stops"), slider(-5.0, 5.0), group("Exposure"), spelled(), animated();
        /// Color temperature that becomes white, of the same luminance; 6504 leaves colors unchanged.
        pub white_balance: f64 = FilmSettings::DAYLIGHT,
            rule(Rule::Within(FilmSettings::TEMPERATURES[0], FilmSettings::TEMPERATURES[1])), unit("kelvin"),
            slider(2000.0, 12000.0), spelled(), animated();
        /// The reconstruction filter: how samples around a pixel are weighted.
        pub filter: Filter = Filter::Box, group("Pixels"), spelled();
        /// Share of the light that the lens scatters.
        pub bloom: f64 = 0.0, rule(Rule::Fraction), slider(0.0, 0.5), group("Lens"), spelled(), animated();
        /// How far the lens scatters light.
        pub bloom_radius: f64 = 0.15, rule(Rule::Fraction), unit("picture heights"), slider(0.0, 0.5), spelled(), animated();
        /// Share of the light that the edges of the aperture bend into rays. Their directions follow the camera's
        /// `aperture_blades` and `aperture_rotation_deg`.
        pub glare: f64 = 0.0, rule(Rule::Fraction), slider(0.0, 0.5), animated();
        /// Length of the rays.
        pub glare_length: f64 = 0.3, rule(Rule::Fraction), unit("picture heights"), animated();
        /// Number of rays; 0: as many as the aperture has blades, twice as many for an odd number of them, and 6 for a round
        /// one.
        pub glare_rays: u32 = 0, rule(Rule::Whole(0, 2 * Camera::MAX_BLADES)), slider(0.0, 32.0);
        /// Share of the light that goes into a horizontal streak, as in an anamorphic lens.
        pub streak: f64 = 0.0, rule(Rule::Fraction), slider(0.0, 0.5), animated();
        /// Length of the streak to each side.
        pub streak_length: f64 = 0.8, rule(Rule::Within(0.0, 4.0)), unit("picture heights"), animated();
        /// Light falloff in the corners of the picture, as a share.
        pub vignette: f64 = 0.0, rule(Rule::Fraction), spelled(), animated();
        /// Strength of the film grain, which changes with each frame.
        pub grain: f64 = 0.0, rule(Rule::Fraction), slider(0.0, 0.3), spelled(), animated();
        /// Ordered dither of 8-bit pictures, so that smooth gradients show no steps; on by default where the film
        /// has other settings than the defaults.
        pub dither: Option<bool> = None, group("Pixels"), spelled();
        /// How noise is removed, with the same bytes on all machines; `--denoise` takes a library instead.
        pub denoise: Denoise = Denoise::None, group("Pixels");
        /// Number of frames before and after each one whose light `denoise = "guided"` uses too, so that what is left of the noise
        /// does not flicker. A single frame of a clip then takes the time of all of them.
        pub denoise_frames: u32 = 0, rule(Rule::Whole(0, FilmSettings::MAX_DENOISE_FRAMES)), slider(0.0, 4.0), without("denoise");
        /// The curve from light to picture.
        pub tone: Tone = Tone::Soft, group("Exposure"), flat();
        /// Fills in the film, floor, lamp and shutter keys that the scene leaves out; without it each has its own default.
        pub look: Option<Look> = None, group("Look");
    }

    fn check(&mut self, _: &mut Table) {
        *self = self.canonical();
    }
    fn spelled(&self) -> FilmSettings {
        FilmSettings { dither: Some(self.is_dithered()), ..*self }
    }
}

impl FilmSettings {
    /// The temperature of sRGB's white (D65), kelvin.
    pub const DAYLIGHT: f64 = 6504.0;
    /// The range of `white_balance`, kelvin. The formula for the Planckian locus holds within it.
    pub const TEMPERATURES: [f64; 2] = [2000.0, 25000.0];
    /// Maximum number of frames before and after each one that denoise it.
    pub const MAX_DENOISE_FRAMES: u32 = 8;
    /// Maximum exposure in stops, up or down.
    pub const MAX_STOPS: f64 = 20.0;

    /// Whether pictures are dithered. By default, a film with other settings than the defaults is, because it has
    /// smooth gradients.
    pub fn is_dithered(&self) -> bool {
        self.dither.unwrap_or_else(|| {
            let plain = FilmSettings::default();
            let others = FilmSettings {
                tone: plain.tone,
                filter: plain.filter,
                denoise: plain.denoise,
                denoise_frames: plain.denoise_frames,
                dither: None,
                look: None,
                ..*self
            };
            others != plain || self.tone.knee().is_none()
        })
    }

    /// The same film, with `dither` only if it differs from what the other settings imply.
    pub(crate) fn canonical(self) -> FilmSettings {
        let open = FilmSettings { dither: None, ..self };
        FilmSettings { dither: self.dither.filter(|&dither| dither != open.is_dithered()), ..self }
    }
}

names! {
    /// The reconstruction filter: how samples around a pixel's middle make it up. Samples are drawn by the filter's shape and
    /// count alike (Ernst, Stamminger and Greiner, "Filter importance sampling", 2006), so no pixel needs its neighbors'.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Filter {
        /// A box over the pixel.
        Box = "box",
        /// A tent that reaches the centers of the neighboring pixels.
        Tent = "tent",
        /// The Blackman-Harris window, 1.5 pixels to each side: the smoothest.
        BlackmanHarris = "blackman-harris",
    }
}

names! {
    /// How noise is removed from a picture.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Denoise {
        /// No noise is removed.
        None = "none",
        /// A filter of several passes that keeps the edges of surfaces, and what differs by more than the noise (after Dammertz et al.,
        /// "Edge-avoiding a-trous wavelet transform for fast global illumination filtering", 2010).
        Guided = "guided",
    }
}

impl Filter {
    /// The filter's radius, pixels.
    pub fn radius(self) -> f64 {
        match self {
            Filter::Box => 0.5,
            Filter::Tent => 1.0,
            Filter::BlackmanHarris => 1.5,
        }
    }
    /// The weight at a distance from the pixel's center, in pixels along one axis; not normalized.
    pub fn weight(self, x: f64) -> f64 {
        let t = x / self.radius();
        if t.abs() > 1.0 {
            return 0.0;
        }
        match self {
            Filter::Box => 1.0,
            Filter::Tent => 1.0 - t.abs(),
            Filter::BlackmanHarris => {
                // Harris, "On the use of windows for harmonic analysis", 1978: four terms, -92 dB.
                let turn = std::f64::consts::PI * (t + 1.0);
                0.358_75 - 0.488_29 * libm::cos(turn) + 0.141_28 * libm::cos(2.0 * turn)
                    - 0.011_68 * libm::cos(3.0 * turn)
            }
        }
    }
}

/// The exposure of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exposure {
    /// Stops; each one doubles the light.
    Stops(f64),
    /// Automatic: one exposure for the whole clip, measured in a few small trial frames.
    Auto,
}

number_or_word!(Exposure: "auto" = Exposure::Auto, Exposure::Stops, Exposure::Stops(stops) => number_text(stops));
