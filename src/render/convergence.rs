//! When path tracing may stop: half the difference of two halves of the samples is how far their mean is from what it
//! tends to. Sums are integers and the same on every device, so all stop after the same round. A picture that took all
//! its samples is the same to the byte as one made at once.

use crate::film::Film;
use crate::film::post::denoise::DenoiserError;
use crate::film::post::{PostContext, PostPipeline};

/// Root mean square of half the difference of both halves' pictures, over pixels and colours, in 8-bit codes.
pub fn noise(film: &Film, post: &PostPipeline, context: &PostContext) -> Result<f64, DenoiserError> {
    if film.samples()[1] == 0 {
        return Ok(f64::MAX);
    }
    let codes = |half| {
        let mut light = film.resolve_half(half);
        let mut rgba = vec![0; light.data().len() / 3];
        post.picture(context, &mut light, None, false, &mut rgba)?;
        Ok(rgba.iter().flat_map(|p| p.to_le_bytes()).collect::<Vec<u8>>())
    };
    let (a, b) = (codes(0)?, codes(1)?);
    let square: u64 = a.iter().zip(&b).map(|(a, b)| u64::from(a.abs_diff(*b)) * u64::from(a.abs_diff(*b))).sum();
    // Alpha is the same in both.
    Ok(0.5 * (square as f64 / (3 * a.len() / 4) as f64).sqrt())
}
