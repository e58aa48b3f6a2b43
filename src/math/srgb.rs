//! The sRGB curve (IEC 61966-2-1) in f64 with libm: the same result on every platform.

use super::vec3::Vec3;

/// Linear light of an sRGB value (IEC 61966-2-1); values above 1 continue along the curve.
pub fn linear(srgb: f64) -> f64 {
    if srgb <= 0.04045 { srgb / 12.92 } else { libm::pow((srgb + 0.055) / 1.055, 2.4) }
}

/// The linear light of an sRGB color, as kernels take it.
pub fn linear_colour(srgb: Vec3) -> [f32; 3] {
    srgb.map(|c| linear(c) as f32)
}

/// The sRGB value of linear light.
pub fn srgb(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * libm::pow(linear, 1.0 / 2.4) - 0.055 }
}

/// Linear sRGB of the CIE's X, Y and Z; colors outside of it have negative numbers.
pub fn linear_srgb([x, y, z]: Vec3) -> Vec3 {
    [3.2406 * x - 1.5372 * y - 0.4986 * z, -0.9689 * x + 1.8758 * y + 0.0415 * z, 0.0557 * x - 0.2040 * y + 1.0570 * z]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_and_linear_undo_each_other() {
        for i in 0..=255 {
            let x = f64::from(i) / 255.0;
            assert!((srgb(linear(x)) - x).abs() < 1e-6);
        }
    }
}
