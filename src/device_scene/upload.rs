//! Arrays in the format of a device.

use crate::gpu_types::Array;

/// Stores arrays where a device can read them.
pub trait ArrayUploader {
    type Error;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, Self::Error>;
}

/// A texel of a texture or of the light map, as two words.
pub fn texel_words([r, g, b]: [u16; 3]) -> [i32; 2] {
    [(u32::from(r) | u32::from(g) << 16) as i32, i32::from(b)]
}
