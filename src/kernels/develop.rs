//! The kernels of post steps, which work on rows of pictures (kernels/entry/develop.cpp). Callers distribute the rows
//! over threads.

use super::Isa;
use crate::gpu_types::{CURVE_AGX, CURVE_FILMIC, CURVE_NEUTRAL, DISPLAY_LAST, GlareTaps};
use crate::math::srgb::linear;
use crate::scene::Tone;
use std::sync::OnceLock;

impl Isa {
    /// The mean light of sums in fixed point, multiplied by `scale`.
    pub fn mean(&self, sums: &[i64], scale: f32, light: &mut [f32]) {
        assert_eq!(sums.len(), light.len());
        // SAFETY: as many numbers as sums.
        unsafe { (self.entries.mean)(sums.as_ptr(), sums.len() as i64, scale, light.as_mut_ptr()) };
    }

    /// Filters four consecutive rows to one row of a picture with half the height.
    pub fn downsample_rows(&self, rows: [&[f32]; 4], out: &mut [f32]) {
        assert!(rows.iter().all(|row| row.len() == out.len()));
        let [a, b, c, d] = rows.map(<[f32]>::as_ptr);
        // SAFETY: all five have as many values.
        unsafe { (self.entries.downsample_rows)(a, b, c, d, out.len() as i64, out.as_mut_ptr()) };
    }

    /// Filters every `stride`th value of a row, `width` of them, to a row of half the width, rounded up.
    pub fn downsample_columns(&self, row: &[f32], width: usize, stride: usize, out: &mut [f32]) {
        assert!(width > 0 && row.len() > (width - 1) * stride && out.len() == width.div_ceil(2));
        // SAFETY: the last value read is the one at (width - 1) * stride, the last written half the width's.
        unsafe { (self.entries.downsample_columns)(row.as_ptr(), width as i32, stride as i32, out.as_mut_ptr()) };
    }

    /// Interpolates a row of doubled width between two rows of a coarser picture: the nearer one, and the next one.
    pub fn upsample(&self, near: &[f32], other: &[f32], out: &mut [f32]) {
        assert!(!out.is_empty() && near.len() == out.len().div_ceil(2) && other.len() == near.len());
        let (half, width) = (near.len() as i32, out.len() as i32);
        // SAFETY: the rows are half as long as what is made of them.
        unsafe { (self.entries.upsample)(near.as_ptr(), other.as_ptr(), half, width, out.as_mut_ptr()) };
    }

    /// Computes `own` times each value plus `rest` times the value of another row.
    pub fn mix(&self, to: &mut [f32], from: &[f32], own: f32, rest: f32) {
        assert_eq!(to.len(), from.len());
        // SAFETY: both have as many values.
        unsafe { (self.entries.mix)(to.as_mut_ptr(), from.as_ptr(), to.len() as i64, own, rest) };
    }

    /// [`Isa::mix`] for a row of pixels, with the other row's channels in separate slices.
    pub fn mix_pixels(&self, to: &mut [[f32; 3]], from: [&[f32]; 3], own: f32, rest: f32) {
        assert!(from.iter().all(|channel| channel.len() == to.len()));
        let ([r, g, b], n) = (from.map(<[f32]>::as_ptr), to.len() as i32);
        // SAFETY: each channel has a value for each pixel.
        unsafe { (self.entries.mix_pixels)(to.as_flattened_mut().as_mut_ptr(), r, g, b, n, own, rest) };
    }

    /// Row `y` of a plane of as many columns as `out` has, after a pass of glare.
    pub fn glare(&self, taps: &GlareTaps, plane: &[f32], height: usize, y: usize, out: &mut [f32]) {
        assert!(y < height && plane.len() == out.len() * height);
        // SAFETY: the plane has this many rows of out's length.
        unsafe {
            let (width, height) = (out.len() as i32, height as i32);
            (self.entries.glare)(taps, plane.as_ptr(), width, height, y as i32, out.as_mut_ptr());
        };
    }

    /// Applies the vignette `k` to row `y` of a picture of this height.
    pub fn vignette(&self, row: &mut [[f32; 3]], height: u32, y: u32, k: f32) {
        let per_square = per_square(row.len() as u32, height);
        let (width, height) = (row.len() as i32, height.cast_signed());
        let pixels = row.as_flattened_mut().as_mut_ptr();
        // SAFETY: three values for each of width's pixels.
        unsafe { (self.entries.vignette)(pixels, width, height, y.cast_signed(), k, per_square) };
    }

    /// Adds grain to row `y` of a frame.
    pub fn grain(&self, row: &mut [[f32; 3]], y: u32, frame: u32, strength: f32) {
        let (width, pixels) = (row.len() as i32, row.as_flattened_mut().as_mut_ptr());
        // SAFETY: three values for each of width's pixels.
        unsafe { (self.entries.grain)(pixels, width, y, frame, strength) };
    }

    /// Applies a tone curve in double precision; false for the curves of [`Isa::tone_map`].
    pub fn curve(&self, tone: Tone, light: &[f32], out: &mut [f32]) -> bool {
        let curve = curve_of(tone);
        if curve == 0 {
            return false;
        }
        let display = display();
        assert!(light.len() == out.len() && light.len().is_multiple_of(3));
        // SAFETY: as many numbers as the light has, which is three for each pixel; the table is as long as post/tone.cuh has it.
        unsafe {
            let n = (light.len() / 3) as i64;
            (self.entries.curve)(curve, punch_of(tone).as_ptr(), display.as_ptr(), light.as_ptr(), n, out.as_mut_ptr());
        };
        true
    }
}

/// The kernels' number of a tone curve in double precision; 0 for other curves.
pub fn curve_of(tone: Tone) -> i32 {
    match tone {
        Tone::Neutral => CURVE_NEUTRAL,
        Tone::Filmic => CURVE_FILMIC,
        Tone::Agx { .. } => CURVE_AGX,
        Tone::Soft | Tone::Clip { .. } => 0,
    }
}

/// Contrast and saturation of AgX; 1 for other curves.
pub fn punch_of(tone: Tone) -> [f32; 2] {
    match tone {
        Tone::Agx { contrast, saturation } => [contrast as f32, saturation as f32],
        _ => [1.0; 2],
    }
}

/// 4 over the squared diagonal in pixels, for the vignette.
pub fn per_square(width: u32, height: u32) -> f32 {
    let (w, h) = (width as f32, height as f32);
    4.0 / (w * w + h * h)
}

/// The linear light of display values, 0 to 1 in steps of 1 / DISPLAY_LAST.
pub fn display() -> &'static [f64] {
    static DISPLAY: OnceLock<Vec<f64>> = OnceLock::new();
    let at = |i| linear(f64::from(i) / f64::from(DISPLAY_LAST));
    DISPLAY.get_or_init(|| (0..=DISPLAY_LAST).map(at).collect())
}
