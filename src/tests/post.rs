//! Post steps on every instruction set: the same bytes, and the curves of src/scene/film/tone.rs.

use crate::gpu_types::{BodyMotion, FIXED_ONE, Features, GlareTaps, LendingView, PROJECTION_PERSPECTIVE};
use crate::kernels::Isa;
use crate::kernels::denoise::{FilmSums, GUIDES, LIGHT, SAMPLES, SUMS, SeenSlices};
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

/// All steps of the denoiser of each instruction set, applied in turn to these sums and made-up features: the results of each, one after the
/// other. Another frame, the same one from elsewhere, lends it light.
pub fn denoised(isa: Isa, width: usize, height: usize) -> Vec<f32> {
    let (sums, features, size) = (sums(width, height), features(width, height), (width, height));
    let mut all = Vec::new();
    let mut rows = |channels: usize, make: &dyn Fn(usize, &mut [f32])| {
        let mut picture = vec![0.0; channels * width * height];
        picture.chunks_exact_mut(channels * width).enumerate().for_each(|(y, row)| make(y, row));
        all.extend_from_slice(&picture);
        picture
    };
    let guides = rows(GUIDES, &|y, row| isa.denoise_guides(&features, 2, size, y, row));
    let half: Vec<i64> = sums.iter().rev().copied().collect();
    let film = FilmSums { halves: [(&sums, 3), (&half, 1)], taken: &[] };
    let guide_row = |y: usize| &guides[GUIDES * width * y..][..GUIDES * width];
    let light = rows(LIGHT, &|y, row| isa.denoise_light(&film, guide_row(y), y, row));
    let noise = rows(LIGHT, &|y, row| isa.denoise_noise(&light, size, y, row));
    let smooth = rows(LIGHT, &|y, row| isa.smooth_variance(&noise, &guides, size, y, row));
    let weighed = rows(1, &|y, row| isa.denoise_weigh((&smooth, &guides), size, y, 2, row));
    let pass = rows(LIGHT, &|y, row| isa.denoise([&smooth, &guides, &weighed], size, y, 2, row));
    let light_row = |picture: &[f32], y: usize| picture[LIGHT * width * y..][..LIGHT * width].to_vec();
    let filtered = rows(1, &|y, row| isa.denoise_luminance(&light_row(&pass, y), row));
    let [own, other] = [&light, &smooth].map(|light| SeenSlices { light, guides: &guides, filtered: &filtered });
    let (view, motions) = lending(width, height);
    let samples = rows(SAMPLES, &|y, row| isa.look_up((&view, &motions), &own, &other, y, row));
    let begun = rows(SUMS, &|y, row| isa.blend(&samples, &light_row(&light, y), size, (y, true), row));
    let blended = rows(SUMS, &|y, row| {
        row.copy_from_slice(&begun[SUMS * width * y..][..SUMS * width]);
        isa.blend(&samples, &light_row(&light, y), size, (y, false), row);
    });
    let shared = rows(LIGHT, &|y, row| isa.share(&blended[SUMS * width * y..][..SUMS * width], row));
    rows(3, &|y, row| isa.denoise_clean(&light_row(&shared, y), guide_row(y), row.as_chunks_mut::<3>().0));
    all
}

/// Features of two samples: balls that are bodies on a wall, and a sky without an end.
pub fn features(width: usize, height: usize) -> Vec<Features> {
    let one = FIXED_ONE as i64;
    let feature = |i: usize| {
        let (x, y) = ((i % width) as i64, (i / width) as i64);
        let body = ((x / 7 + y / 5) % 4 - 1) as i32;
        if body == 2 {
            return Features { body: -1, ..Features::default() };
        }
        let depth = (4.0 + 0.01 * x as f32 + 0.02 * y as f32 + body as f32).to_bits();
        let albedo = [one * (x % 3) / 2, one, one / (1 + y % 9)];
        Features { albedo, normal: [one * (x % 2), one, -one / 3], depth, hits: 2, body, unused: 0 }
    };
    (0..width * height).map(feature).collect()
}

/// Another view: a little to the side, where bodies have moved too.
pub fn lending(width: usize, height: usize) -> (LendingView, [BodyMotion; 3]) {
    let (w, h) = (width as i32, height as i32);
    let view = LendingView {
        forward: [0.0, 0.0, 40.0],
        right: [1.0, 0.0, 0.0],
        down: [0.0, 1.0, 0.125],
        across: [40.0, 0.0, 0.25],
        along: [0.0, 40.0, 0.0],
        ahead: [0.0, 0.0, 1.0],
        width: w,
        height: h,
        bodies: 2,
        projection: PROJECTION_PERSPECTIVE,
    };
    let motion = |shift: f64| BodyMotion {
        turn: [0.99, -0.01, 0.0, 0.01, 0.99, 0.0, 0.0, 0.0, 1.0],
        shift: [shift, 0.3 * shift, 0.0],
        normal: 1.01,
    };
    (view, [motion(0.01), motion(-0.02), motion(0.05)])
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

#[test]
fn every_instruction_set_denoises_the_same_bytes() {
    let sets = Isa::tested();
    for (width, height) in [(1, 4), (2, 5), (61, 41), (64, 6), (131, 9)] {
        let bits = |isa: &Isa| denoised(*isa, width, height).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let expected = bits(&sets[0]);
        assert!(expected.iter().all(|&x| f32::from_bits(x).is_finite()));
        for isa in &sets[1..] {
            assert!(bits(isa) == expected, "{isa:?}, {width} x {height}");
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
