//! Tone curves: from linear light of any brightness to displayable linear light. They use double precision, plain
//! operations and libm, so that they are the same everywhere. The kernels have the simplest two in single precision,
//! and the others as here (kernels/post/tone.cuh).

use crate::math::srgb::{linear, srgb};
use crate::scene::Look;
use crate::scene::keys::read::Table;
use crate::scene::keys::words::names;
use crate::scene::keys::{keys, written_as};
use crate::scene::text::diagnostic::Rule;
use std::sync::OnceLock;

type Rgb = [f64; 3];

/// Tone curves, which compress light that is too bright to display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tone {
    /// Compresses bright light below white, per channel, from [`Tone::KNEE`] on.
    Soft,
    /// Clips bright light at white. The exponent is 1 / gamma; 0 selects sRGB's curve.
    Clip {
        /// 2 in "Ray Tracing in One Weekend".
        gamma: f64,
    },
    /// Keeps colors below 0.8; brighter ones keep their hue and fade to white (Khronos PBR Neutral, 2024).
    Neutral,
    /// An S-shaped curve with dark shadows that keeps hues (after Narkowicz's fit of ACES, 2015).
    Filmic,
    /// Wide and gentle: very bright colors fade to white as on film (after AgX by T. Sobotka, in B. Wrensch's
    /// polynomial form, 2023).
    Agx {
        /// Stops from middle gray are this many times as long.
        contrast: f64,
        /// Colors are this many times as far from the gray of their luminance.
        saturation: f64,
    },
}

names! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum ToneName {
        /// rolls off bright light below white, per channel
        Soft = "soft",
        /// clips light at white
        Clip = "clip",
        /// leaves colors below four fifths unchanged; brighter ones keep their hue and fade to white (Khronos PBR Neutral)
        Neutral = "neutral",
        /// an S-shaped curve with dark shadows that keeps hues (a fit of ACES)
        Filmic = "filmic",
        /// a wide, gentle curve: very bright colors turn to white as on film (AgX)
        Agx = "agx",
    }
}

keys! {
    // The keys of a tone curve in the text.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct ToneKeys in "tone" {
        /// The curve from light to picture.
        tone: ToneName = ToneName::Soft, group("Exposure"), spelled();
        /// Gamma of the curve `clip` (the exponent is 1 / gamma); 0: the sRGB curve.
        gamma: Option<f64> = None, rule(Rule::NotNegative), slider(0.0, 3.0), when("tone", &["clip"]), holds(Some("0")), spelled();
        /// Contrast of the curve `agx`: stops from middle gray are this many times as long.
        contrast: Option<f64> = None,
            rule(Rule::Within(0.25, 4.0)), slider(0.5, 2.0), when("tone", &["agx"]), refused(), holds(Some("1")), group("Exposure");
        /// Saturation of the curve `agx`: colors are this many times as far from gray.
        saturation: Option<f64> = None,
            rule(Rule::Within(0.0, 4.0)), slider(0.0, 2.0), when("tone", &["agx"]), refused(), holds(Some("1")), group("Exposure");
    }

    fn check(&mut self, table: &mut Table) {
        // The curve that the look of film brings.
        let is_film = table.word("look").is_some_and(|look| look.eq_ignore_ascii_case(Look::Film.name()))
            || table.context.options.look == Some(Look::Film);
        if is_film && !table.has("tone") && (table.has("contrast") || table.has("saturation")) {
            self.tone = ToneName::Agx;
        }
    }
}

written_as!(Tone, ToneKeys);

impl From<ToneKeys> for Tone {
    fn from(ToneKeys { tone, gamma, contrast, saturation }: ToneKeys) -> Tone {
        match tone {
            ToneName::Soft => Tone::Soft,
            ToneName::Clip => Tone::Clip { gamma: gamma.unwrap_or(0.0) },
            ToneName::Neutral => Tone::Neutral,
            ToneName::Filmic => Tone::Filmic,
            ToneName::Agx => Tone::Agx { contrast: contrast.unwrap_or(1.0), saturation: saturation.unwrap_or(1.0) },
        }
    }
}

impl From<&Tone> for ToneKeys {
    fn from(tone: &Tone) -> ToneKeys {
        let plain = |tone| ToneKeys { tone, ..ToneKeys::default() };
        match *tone {
            Tone::Soft => plain(ToneName::Soft),
            Tone::Clip { gamma } => ToneKeys { gamma: Some(gamma), ..plain(ToneName::Clip) },
            Tone::Neutral => plain(ToneName::Neutral),
            Tone::Filmic => plain(ToneName::Filmic),
            Tone::Agx { contrast, saturation } => {
                ToneKeys { contrast: Some(contrast), saturation: Some(saturation), ..plain(ToneName::Agx) }
            }
        }
    }
}

impl Tone {
    /// All curves, as they are without further keys.
    pub const ALL: [Tone; 5] = [Tone::Soft, Tone::Clip { gamma: 0.0 }, Tone::Neutral, Tone::Filmic, Tone::AGX];
    /// AgX as it is published.
    pub const AGX: Tone = Tone::Agx { contrast: 1.0, saturation: 1.0 };
    /// The brightness at which the soft curve begins to compress.
    pub const KNEE: f64 = 0.7;

    /// The name in a scene.
    pub fn name(self) -> &'static str {
        ToneKeys::from(&self).tone.name()
    }

    /// The displayed linear light, 0 to 1 per channel.
    pub(crate) fn tone_map(self, rgb: Rgb) -> Rgb {
        match self {
            Tone::Soft => rgb.map(soft),
            Tone::Clip { .. } => rgb.map(|x| x.min(1.0)),
            Tone::Neutral => neutral(rgb),
            Tone::Filmic => filmic(rgb),
            Tone::Agx { contrast, saturation } => agx(rgb, [contrast, saturation].map(|x| f64::from(x as f32))),
        }
    }

    /// The display value, 0 to 1 before quantization, of linear light from 0 to 1.
    pub(crate) fn encode(self, linear: f64) -> f64 {
        match self {
            Tone::Clip { gamma } if gamma > 0.0 => libm::pow(linear.sqrt(), 2.0 / gamma),
            _ => srgb(linear),
        }
    }

    /// The knee, if the kernels have the curve in single precision.
    pub(crate) fn knee(self) -> Option<f64> {
        match self {
            Tone::Soft => Some(Tone::KNEE),
            Tone::Clip { .. } => Some(1.0),
            _ => None,
        }
    }

    /// The linear light for a display value, or the nearest one if no light has that value.
    pub(crate) fn invert(self, display: Rgb) -> Rgb {
        let wanted = display.map(|x| match self {
            Tone::Clip { gamma } if gamma > 0.0 => libm::pow(x, gamma),
            _ => linear(x),
        });
        match self {
            Tone::Soft => wanted.map(unsoft),
            Tone::Clip { .. } => wanted,
            // These curves have no closed inverse. The iteration's steps get smaller as it converges.
            _ => (0..500).fold(wanted, |x, _| {
                let got = self.tone_map(x);
                [0, 1, 2].map(|i| (x[i] + 0.7 * (wanted[i] - got[i])).clamp(0.0, 50.0))
            }),
        }
    }
}

// Linear up to the knee; above it, any brightness stays below 1 (kernels/film.cuh has the same in single precision).
fn soft(x: f64) -> f64 {
    let over = x - Tone::KNEE;
    if over > 0.0 { Tone::KNEE + over * (1.0 - Tone::KNEE) / (over + 1.0 - Tone::KNEE) } else { x }
}
fn unsoft(x: f64) -> f64 {
    let over = x - Tone::KNEE;
    if over > 0.0 { Tone::KNEE + over * (1.0 - Tone::KNEE) / (1.0 - x).max(1e-3) } else { x }
}

fn largest(rgb: Rgb) -> f64 {
    rgb[0].max(rgb[1]).max(rgb[2])
}

// Reduces the largest channel from `peak` to `to`, and fades to white in proportion to the loss.
fn compress(rgb: Rgb, peak: f64, to: f64) -> Rgb {
    const FADE: f64 = 0.15;
    let white = 1.0 - 1.0 / (FADE * (peak - to).max(0.0) + 1.0);
    rgb.map(|x| {
        let x = x * to / peak;
        x + (to - x) * white
    })
}

// The constants of the specification. 0.04 is the reflection of a glossy surface at normal incidence, which is
// subtracted from dark colors.
fn neutral(rgb: Rgb) -> Rgb {
    const START: f64 = 0.8 - 0.04;
    let min = rgb[0].min(rgb[1]).min(rgb[2]).max(0.0);
    let offset = if min < 0.08 { min - 6.25 * min * min } else { 0.04 };
    let rgb = rgb.map(|x| x - offset);
    let peak = largest(rgb);
    if peak < START {
        return rgb;
    }
    let d = 1.0 - START;
    compress(rgb, peak, 1.0 - d * d / (peak + d - START))
}

fn filmic(rgb: Rgb) -> Rgb {
    let peak = largest(rgb);
    if peak <= 0.0 {
        return rgb;
    }
    let x = 0.6 * peak;
    let to = (x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)).min(1.0);
    compress(rgb, peak, to)
}

// To AgX's primaries, in which no color is so pure that a channel stays dark; a logarithm over 16.5 stops; the
// curve; and back.
fn agx(rgb: Rgb, [contrast, saturation]: [f64; 2]) -> Rgb {
    const INTO: [Rgb; 3] = [
        [0.842479062253094, 0.0784335999999992, 0.0792237451477643],
        [0.0423282422610123, 0.878468636469772, 0.0791661274605434],
        [0.0423756549057051, 0.0784336, 0.879142973793104],
    ];
    const BACK: [Rgb; 3] = [
        [1.19687900512017, -0.0980208811401368, -0.0990297440797205],
        [-0.0528968517574562, 1.15190312990417, -0.0989611768448433],
        [-0.0529716355144438, -0.0980434501171241, 1.15107367264116],
    ];
    const STOPS: [f64; 2] = [-12.47393, 4.026069];
    // Middle gray, 0.18.
    const GREY: f64 = -2.473931188332412;
    let times = |m: [Rgb; 3], v: Rgb| m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
    let curve = |x: f64| {
        let own = libm::log2(x.max(1e-10));
        let stops = (own + (contrast - 1.0) * (own - GREY)).clamp(STOPS[0], STOPS[1]);
        let x = (stops - STOPS[0]) / (STOPS[1] - STOPS[0]);
        let (x2, x4) = (x * x, x * x * x * x);
        15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2 + 0.1191 * x - 0.00232
    };
    let shown = times(INTO, rgb).map(curve);
    let grey = 0.2126 * shown[0] + 0.7152 * shown[1] + 0.0722 * shown[2];
    // The result is a display value, so it is converted to linear light.
    times(BACK, shown.map(|x| x + (saturation - 1.0) * (x - grey))).map(display_to_linear)
}

// sRGB's curve from a table with linear interpolation.
fn display_to_linear(x: f64) -> f64 {
    const LAST: usize = 2048;
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    let table = TABLE.get_or_init(|| (0..=LAST).map(|i| linear(i as f64 / LAST as f64)).collect());
    let at = x.clamp(0.0, 1.0) * LAST as f64;
    let i = (at as usize).min(LAST - 1);
    table[i] + (table[i + 1] - table[i]) * (at - i as f64)
}
