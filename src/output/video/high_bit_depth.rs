//! Frames of ten bits, converted from linear light without an intermediate of eight bits.

use crate::film::image::Image;
use crate::scene::Tone;
use crate::threads::{self, NoThread};
use rayon::prelude::*;

/// What the brightest code of a video means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynamicRange {
    /// BT.709: the white of the tone curve.
    Standard,
    /// HDR10: BT.2020's primaries and the perceptual quantizer, linear light up to 1000 cd/m².
    Hdr,
}

// Luma coefficients (ITU-R BT.709-6 and BT.2020-2).
const BT709: [f64; 3] = [0.2126, 0.7152, 0.0722];
const BT2020: [f64; 3] = [0.2627, 0.6780, 0.0593];
// From BT.709's primaries to BT.2020's (ITU-R BT.2087-0, 4.2).
const WIDER: [[f64; 3]; 3] = [[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]];
// The luminance of the scene's white, cd/m² (ITU-R BT.2408-7, 2.1).
const WHITE: f64 = 203.0;
const PEAK_NITS: f64 = 1000.0;
const PQ_MOST: f64 = 10_000.0;

// The perceptual quantizer (SMPTE ST 2084): 0 to 1 for 0 to 10,000 cd/m².
fn pq(light: f64) -> f64 {
    let (m1, m2) = (2610.0 / 16384.0, 2523.0 / 4096.0 * 128.0);
    let (c1, c2, c3) = (3424.0 / 4096.0, 2413.0 / 4096.0 * 32.0, 2392.0 / 4096.0 * 32.0);
    let powered = libm::pow((light / PQ_MOST).clamp(0.0, 1.0), m1);
    libm::pow((c1 + c2 * powered) / (1.0 + c3 * powered), m2)
}

// A pixel's signal, 0 to 1.
fn displayed(light: [f32; 3], tone: Tone, range: DynamicRange) -> [f64; 3] {
    let light = light.map(f64::from);
    if range == DynamicRange::Standard {
        return tone.tone_map(light).map(|x| tone.encode(x.clamp(0.0, 1.0)));
    }
    let wide = WIDER.map(|row| row.iter().zip(light).map(|(share, x)| share * x.max(0.0)).sum::<f64>());
    wide.map(|x| pq((x * WHITE).min(PEAK_NITS)))
}

/// The planes Y, U and V one after the other. Ten bits fill two bytes, little endian, limited range; sides are padded
/// to even numbers with the last row and column. BT.709 applies the tone curve; HDR10 does not.
pub fn planes(image: &Image<f32>, tone: Tone, range: DynamicRange) -> Result<Vec<u8>, NoThread> {
    Ok(threads::shared_pool()?.install(|| packed(image, tone, range)))
}

fn packed(image: &Image<f32>, tone: Tone, range: DynamicRange) -> Vec<u8> {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let (wide, tall) = (width.next_multiple_of(2), height.next_multiple_of(2));
    let shares = if range == DynamicRange::Standard { BT709 } else { BT2020 };
    let pixels = image.data().as_chunks::<3>().0;
    let shown: Vec<[f64; 3]> = pixels.par_iter().map(|&light| displayed(light, tone, range)).collect();
    let at = |x: usize, y: usize| shown[y.min(height - 1) * width + x.min(width - 1)];
    let luma = |[r, g, b]: [f64; 3]| shares[0] * r + shares[1] * g + shares[2] * b;
    let code = |x: f64| (x.round().clamp(4.0, 1019.0) as u16).to_le_bytes();
    let row_of = |y: usize| (0..wide).map(|x| code(64.0 + 876.0 * luma(at(x, y)))).collect::<Vec<_>>();
    let mut bytes: Vec<u8> = (0..tall).into_par_iter().flat_map_iter(row_of).flatten().collect();
    // Chroma is the mean of two by two pixels, sited at their center.
    let chroma = |channel: usize| {
        let scale = 896.0 / (2.0 * (1.0 - shares[channel]));
        (0..tall / 2)
            .into_par_iter()
            .flat_map_iter(|y| {
                let four = |x: usize| [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| at(2 * x + i, 2 * y + j));
                let mean = |x: usize| four(x).iter().map(|p| p[channel] - luma(*p)).sum::<f64>() / 4.0;
                (0..wide / 2).map(|x| code(512.0 + scale * mean(x))).collect::<Vec<_>>()
            })
            .flatten()
            .collect::<Vec<u8>>()
    };
    bytes.extend(chroma(2));
    bytes.extend(chroma(0));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(light: [f32; 3], tone: Tone, range: DynamicRange) -> Vec<u16> {
        let image = Image::new(1, 1, 3, light.to_vec());
        planes(&image, tone, range).unwrap().as_chunks::<2>().0.iter().map(|&b| u16::from_le_bytes(b)).collect()
    }

    #[test]
    fn black_white_and_primaries_have_their_codes() {
        let clip = Tone::Clip { gamma: 0.0 };
        // Four luma codes, one code each of U and V.
        assert_eq!(codes([0.0; 3], clip, DynamicRange::Standard), [64, 64, 64, 64, 512, 512]);
        assert_eq!(codes([1.0; 3], clip, DynamicRange::Standard), [940, 940, 940, 940, 512, 512]);
        assert_eq!(codes([1.0, 0.0, 0.0], clip, DynamicRange::Standard)[3..], [250, 409, 960]);
        // Reference white is 58 % of the signal, and 1000 cd/m² are 75 % (BT.2408-7, table 1; BT.2100-2).
        assert_eq!(codes([0.0; 3], clip, DynamicRange::Hdr)[0], 64);
        let level = |light: f32| (f64::from(codes([light; 3], clip, DynamicRange::Hdr)[0]) - 64.0) / 876.0;
        assert!((level(1.0) - 0.58).abs() < 0.002 && (level(1000.0) - 0.752).abs() < 0.002);
        assert_eq!(codes([1.0; 3], clip, DynamicRange::Hdr)[4..], [512, 512]);
    }

    #[test]
    fn odd_sides_are_padded() {
        let image = Image::new(3, 1, 3, vec![0.5; 9]);
        let bytes = planes(&image, Tone::Soft, DynamicRange::Standard).unwrap();
        assert_eq!(bytes.len(), 2 * (4 * 2 + 2 + 2));
        assert!(bytes[..16].as_chunks::<2>().0.iter().all(|b| *b == bytes[..2]));
    }
}
