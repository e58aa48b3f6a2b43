//! Lossless WebP, 8 bits per channel.

use super::format::{Format, Reader, samples, shown};
use crate::output::bytes::bytes_at;
use crate::output::sink::RenderedFrame;
use image::codecs::webp::WebPEncoder;
use std::fs::File;
use std::io;

pub const FORMAT: Format = Format {
    extension: "webp",
    bits: &[8],
    largest: 16_383,
    is_exact: true,
    has_alpha: true,
    encode: |frame: &RenderedFrame, options| {
        let mut file = Vec::new();
        let samples = samples(frame.rgba8(), options.has_alpha);
        let colour = if options.has_alpha { image::ExtendedColorType::Rgba8 } else { image::ExtendedColorType::Rgb8 };
        WebPEncoder::new_lossless(&mut file)
            .encode(&samples, frame.width, frame.height, colour)
            .map_err(io::Error::other)?;
        Ok(file)
    },
    text: None,
    is_whole,
    read: Reader::Shown(|path| shown(path, image::ImageFormat::WebP)),
};

// The RIFF header has the length. The lossless chunk begins with a signature and the sides less one, 14 bits each
// (RFC 9649, 2.4 to 2.6, 3.4).
fn is_whole(file: &mut File, length: u64, (width, height): (u32, u32)) -> io::Result<bool> {
    let size = u64::from(u32::from_le_bytes(bytes_at(file, 4)?));
    if bytes_at(file, 0)? != *b"RIFF" || bytes_at(file, 8)? != *b"WEBPVP8L" || length != 8 + size {
        return Ok(false);
    }
    let mark: [u8; 1] = bytes_at(file, 20)?;
    let sides = u32::from_le_bytes(bytes_at(file, 21)?);
    Ok(mark == [0x2f] && (1 + (sides & 0x3fff), 1 + (sides >> 14 & 0x3fff)) == (width, height))
}
