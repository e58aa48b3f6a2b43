//! Exposure, white balance, vignette and grain, in linear light. The operations have a fixed order, so that every
//! machine gives the same bytes.

use crate::math::srgb::linear_srgb;
use crate::math::vec3::Vec3;
use crate::scene::FilmSettings;

/// The factor of each channel. A stop doubles the light, and light of a black body at `kelvin` becomes white.
pub fn gain(stops: f64, kelvin: f64) -> [f32; 3] {
    let exposure = libm::exp2(stops);
    white_gains(kelvin).map(|g| (exposure * g) as f32)
}

/// The k of a lens whose corners lose this fraction of light.
pub fn vignette(loss: f64) -> f32 {
    (1.0 / (1.0 - loss.min(0.99)).sqrt() - 1.0) as f32
}

/// The grain's amplitude at a light of 1.
pub fn grain(grain: f64) -> f32 {
    0.25 * grain as f32
}

// The factors that make a black body's light white, of the same luminance; neutral at sRGB's own white.
fn white_gains(kelvin: f64) -> Vec3 {
    if kelvin == FilmSettings::DAYLIGHT {
        return [1.0; 3];
    }
    let [here, there] = [FilmSettings::DAYLIGHT, kelvin].map(black_body);
    [0, 1, 2].map(|i| here[i] / there[i].max(1e-3))
}

/// Luminance of linear sRGB (IEC 61966-2-1).
pub fn luminance([r, g, b]: Vec3) -> f64 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

// The color of a black body, linear sRGB with a luminance of one: the Planckian locus by Kim et al. ("Design of advanced
// color temperature control system for HDTV applications", 2002), 1667 to 25000 kelvin.
fn black_body(kelvin: f64) -> Vec3 {
    let t = 1000.0 / kelvin;
    let cubic = |[a, b, c, d]: [f64; 4], x: f64| ((a * x + b) * x + c) * x + d;
    let x = if kelvin <= 4000.0 {
        cubic([-0.2661239, -0.2343589, 0.8776956, 0.179910], t)
    } else {
        cubic([-3.0258469, 2.1070379, 0.2226347, 0.240390], t)
    };
    let y = if kelvin <= 2222.0 {
        cubic([-1.1063814, -1.34811020, 2.18555832, -0.20219683], x)
    } else if kelvin <= 4000.0 {
        cubic([-0.9549476, -1.37418593, 2.09137015, -0.16748867], x)
    } else {
        cubic([3.0817580, -5.87338670, 3.75112997, -0.37001483], x)
    };
    let (big_x, big_z) = (x / y, (1.0 - x - y) / y);
    linear_srgb([big_x, 1.0, big_z])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_twice_the_light_and_daylight_is_white() {
        assert_eq!(gain(1.0, 6504.0), [2.0; 3]);
        assert_eq!(gain(0.0, 6504.0), [1.0; 3]);
        let [r, g, b] = gain(0.0, 3000.0);
        assert!(r < g && g < b, "warm light is cooled: {r} {g} {b}");
        // A black body's own light becomes gray.
        let body = black_body(3000.0);
        let white = [0, 1, 2].map(|i| body[i] * f64::from(gain(0.0, 3000.0)[i]));
        let daylight = black_body(6504.0);
        assert!((0..3).all(|i| (white[i] / white[1] - daylight[i] / daylight[1]).abs() < 1e-3), "{white:?}");
        // As bright as it was.
        for kelvin in [2000.0, 2500.0, 3200.0, 4000.0, 9000.0, 25000.0] {
            let (light, gains) = (black_body(kelvin), gain(0.0, kelvin).map(f64::from));
            let [before, after] = [light, [0, 1, 2].map(|i| light[i] * gains[i])].map(luminance);
            assert!((after / before - 1.0).abs() < 0.02, "{kelvin}: {before} became {after}");
        }
        // D65 is 0.003 off the locus, so it becomes nearly white.
        assert!(daylight.iter().all(|c| (c - 1.0).abs() < 0.06), "{daylight:?}");
    }
}
