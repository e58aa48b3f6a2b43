//! Arrays in the format of a device.

use crate::assets::texture::{Level, Texture};
use crate::gpu_types::{Array, MipLevel};

/// Stores arrays where a device can read them.
pub trait ArrayUploader {
    type Error;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, Self::Error>;
}

/// A texel of a texture or of the light map, as two words.
pub fn texel_words([r, g, b]: [u16; 3]) -> [i32; 2] {
    [(u32::from(r) | u32::from(g) << 16) as i32, i32::from(b)]
}

/// The levels of a picture, whose texels are appended to `texels`.
pub fn levels(picture: &Texture, texels: &mut Vec<i32>) -> Vec<MipLevel> {
    let add = |level: &Level| {
        let first = (texels.len() / 2) as i32;
        texels.reserve(level.cells.len() * 2);
        texels.extend(level.cells.iter().copied().flat_map(texel_words));
        MipLevel { first, width: level.width as i32, height: level.height as i32 }
    };
    picture.levels.iter().map(add).collect()
}
