//! Compositing over black, for videos and formats without alpha.

use std::borrow::Cow;

pub fn over_black([r, g, b, alpha]: [u8; 4]) -> [u8; 3] {
    match alpha {
        255 => [r, g, b],
        _ => [r, g, b].map(|x| ((u32::from(x) * u32::from(alpha) + 127) / 255) as u8),
    }
}

/// A picture composited over black.
pub fn opaque(rgba: &[u8]) -> Cow<'_, [u8]> {
    let pixels = rgba.as_chunks::<4>().0;
    if pixels.iter().all(|pixel| pixel[3] == 255) {
        return Cow::Borrowed(rgba);
    }
    let over = |&pixel: &[u8; 4]| {
        let [r, g, b] = over_black(pixel);
        [r, g, b, 255]
    };
    Cow::Owned(pixels.iter().flat_map(over).collect())
}
