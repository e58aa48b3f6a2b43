//! Post steps on every instruction set: the same bytes, and the curves of src/scene/tone.rs.

use crate::gpu_types::{FIXED_ONE, GlareTaps};
use crate::kernels::Isa;
use crate::scene::Tone;

/// All post steps of each instruction set, applied in turn to a picture of noise with some very bright and very dark
/// pixels: the results of each, one after the other.
pub fn steps(isa: Isa, width: usize, height: usize) -> Vec<f32> {
    let sums = sums(width, height);
    let mut all = Vec::new();
    let mut light = vec![0.0; sums.len()];
    isa.mean(&sums, 0.25 / FIXED_ONE, &mut light);
    all.extend_from_slice(&light);
    let row = |y: usize| &light[3 * width * (y % height)..][..3 * width];
    let half = width.div_ceil(2);
    let [near, other] = [0, 3].map(|y| {
        let mut down = vec![0.0; 3 * width];
        isa.downsample_rows([row(y), row(y + 1), row(y + 2), row(y + 3)], &mut down);
        all.extend_from_slice(&down);
        let mut across = vec![0.0; half];
        isa.downsample_columns(&down[1..], width, 3, &mut across);
        all.extend_from_slice(&across);
        across
    });
    let mut wide = vec![0.0; width];
    isa.upsample(&near, &other, &mut wide);
    all.extend_from_slice(&wide);
    let mut blend = wide.clone();
    isa.mix(&mut blend, &row(1)[..width], 0.7, 0.3);
    all.extend_from_slice(&blend);
    let height_of = light.len() / (3 * width);
    let plane: Vec<f32> = light.iter().step_by(3).copied().collect();
    for (y, adds) in [(0, 0), (1, 1), (height_of - 1, 1)] {
        let taps = GlareTaps {
            dx: [0, -1, 3, 5, -9, 64, 0, -200],
            dy: [0, 1, 0, -1, 2, 0, -70, 1],
            weight: [0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05],
            adds,
        };
        let mut glare = wide.clone();
        isa.glare(&taps, &plane, height_of, y, &mut glare);
        all.extend_from_slice(&glare);
    }
    for (y, row) in light.chunks_exact_mut(3 * width).enumerate() {
        let row = row.as_chunks_mut::<3>().0;
        isa.mix_pixels(row, [&wide, &blend, &wide], 0.8, 0.2);
        isa.vignette(row, height as u32, y as u32, 0.4);
        isa.grain(row, y as u32, 7, 0.3);
    }
    all.extend_from_slice(&light);
    for tone in CURVES {
        let mut shown = vec![0.0; light.len()];
        assert!(isa.curve(tone, &light, &mut shown));
        all.extend_from_slice(&shown);
    }
    all
}

/// Sums of four samples: from zero to ten thousand times what a display shows.
pub fn sums(width: usize, height: usize) -> Vec<i64> {
    let mut state = (1000 * width + height) as u64;
    // The 64-bit generator of Numerical Recipes.
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let mut light = || if next() < 0.05 { 0.0 } else { libm::exp2(30.0 * next() - 16.0) };
    (0..3 * width * height).map(|_| (4.0 * light() * f64::from(FIXED_ONE)) as i64).collect()
}

pub const CURVES: [Tone; 4] = [Tone::Neutral, Tone::Filmic, Tone::AGX, Tone::Agx { contrast: 1.25, saturation: 1.4 }];

#[test]
fn every_instruction_set_develops_the_same_bytes() {
    let sets = Isa::tested();
    let bits = |isa: &Isa, width, height| steps(*isa, width, height).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for width in (1..70).chain([127, 128, 129, 1000]) {
        let height = 4 + width % 3;
        let expected = bits(&sets[0], width, height);
        assert!(expected.iter().any(|&x| x != expected[0]) && expected.iter().all(|&x| f32::from_bits(x).is_finite()));
        for isa in &sets[1..] {
            assert!(bits(isa, width, height) == expected, "{isa:?}, {width} x {height}");
        }
    }
}

// Equal within single precision and the error of linear interpolation in a table.
#[test]
fn curves_of_the_kernels_are_those_of_the_scene() {
    let [isa, ..] = Isa::available()[..] else { unreachable!() };
    let mut light: Vec<f32> = steps(isa, 300, 40)[..36000].to_vec();
    // Gray, one channel, just below and above the knee of a curve, black, and far too bright.
    for x in [0.0, 1e-30, 1e-10, 0.08, 0.72, 0.76, 0.8, 1.0, 16.3, 1e4, 1e30] {
        light.extend([x, x, x, x, 0.0, 0.0, 0.0, x, 0.5 * x]);
    }
    for tone in CURVES {
        let mut shown = vec![0.0; light.len()];
        assert!(isa.curve(tone, &light, &mut shown));
        for (light, shown) in light.as_chunks::<3>().0.iter().zip(shown.as_chunks::<3>().0) {
            let expected = tone.tone_map(light.map(f64::from));
            let is_near = |i: usize| (expected[i] - f64::from(shown[i])).abs() <= 1e-7 * expected[i].abs().max(1.0);
            assert!((0..3).all(is_near), "{tone:?} of {light:?}: {shown:?}, {expected:?} expected");
        }
    }
    for tone in [Tone::Soft, Tone::Clip { gamma: 2.0 }] {
        assert!(!isa.curve(tone, &light, &mut vec![0.0; light.len()]), "the kernels' own, in single precision");
    }
}
