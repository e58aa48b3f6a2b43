//! Arrays in the form that a device takes.

use crate::gpu_types::Array;

/// Puts arrays where a device finds them.
pub trait ArrayUploader {
    type Error;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, Self::Error>;
}

/// A texel of a picture or of the lightmap: two words.
pub fn texel_words([r, g, b]: [u16; 3]) -> [i32; 2] {
    [(u32::from(r) | u32::from(g) << 16) as i32, i32::from(b)]
}
