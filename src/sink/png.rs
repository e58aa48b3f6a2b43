//! PNG: RGB without alpha, compressed fast, since frames are many and short-lived.

use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};

/// A whole PNG file of opaque RGBA pixels.
pub fn encode(width: u32, height: u32, rgba: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut rgb = Vec::with_capacity(rgba.len() / 4 * 3);
    for pixel in rgba.chunks_exact(4) {
        rgb.extend_from_slice(&pixel[..3]);
    }
    let mut bytes = Vec::with_capacity(rgb.len() / 4);
    PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Adaptive)
        .write_image(&rgb, width, height, image::ExtendedColorType::Rgb8)
        .map_err(std::io::Error::other)?;
    Ok(bytes)
}
