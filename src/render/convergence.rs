//! When path tracing may stop: half the difference of two halves of the samples is how far their mean is from what it
//! tends to. Sums are integers and the same on every device, so all stop after the same round. A picture that took all
//! its samples is the same to the byte as one made at once.

use super::development::PostPipeline;
use crate::film::Film;

/// Root mean square of half the difference of both halves' pictures, over pixels and colours, in 8-bit codes.
pub fn noise(film: &Film, development: &PostPipeline) -> f64 {
    if film.samples()[1] == 0 {
        return f64::MAX;
    }
    let [a, b] = [0, 1].map(|half| {
        let mut light = film.resolve_half(half);
        let mut rgba = vec![0; light.data().len() / 3];
        development.picture(&mut light, None, &mut rgba);
        rgba.iter().flat_map(|p| p.to_le_bytes()).collect::<Vec<u8>>()
    });
    let square: u64 = a.iter().zip(&b).map(|(a, b)| u64::from(a.abs_diff(*b)) * u64::from(a.abs_diff(*b))).sum();
    // Alpha is the same in both.
    0.5 * (square as f64 / (3 * a.len() / 4) as f64).sqrt()
}
