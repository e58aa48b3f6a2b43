//! Mathematics without scenes: vectors, solids, color curves and maps, the bounding volume hierarchy.

pub mod bounds;
pub mod bvh;
pub mod colormap;
pub mod grid;
pub mod hash;
pub mod hull;
mod layout;
pub mod platonic;
pub mod ploc;
pub mod reinsertion;
pub mod srgb;
pub mod vec3;

/// The largest integer that is not above `x`; |x| must be less than 2^62. [`f64::floor`] calls a function on
/// targets without a known rounding instruction, which is slow where pictures are remapped.
#[must_use]
pub fn floor(x: f64) -> f64 {
    let whole = x as i64 as f64;
    if whole > x { whole - 1.0 } else { whole }
}

/// 0 below `low`, 1 above `high`, smooth between.
#[must_use]
pub fn smooth_step(low: f64, high: f64, x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    #[test]
    fn floor_is_that_of_the_library() {
        for x in [0.0, -0.5, 0.999_999_999_999_999_9, 5.0, -3.0, -3.000_000_000_000_000_4, 1e15 + 0.5, 4e18, -4e18] {
            assert_eq!(super::floor(x), f64::floor(x), "{x}");
        }
    }
}
