//! JPEG, 8 bits per channel, for viewing and sharing; it is lossy.

use super::format::{Format, Reader, rgb, shown};
use crate::output::bytes::bytes_at;
use crate::output::sink::RenderedFrame;
use image::ImageEncoder;
use image::codecs::jpeg::{JpegEncoder, PixelDensity};
use std::fs::File;
use std::io;

// Of 100. Losses are invisible at usual sizes.
const QUALITY: u8 = 93;

pub const FORMAT: Format = Format {
    extension: "jpg",
    bits: &[8],
    largest: 65_535,
    is_exact: false,
    has_alpha: false,
    encode: |frame: &RenderedFrame, options| {
        let mut file = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut file, QUALITY);
        if let Some(dpi) = options.dpi {
            encoder.set_pixel_density(PixelDensity::dpi(dpi.round() as u16));
        }
        encoder
            .write_image(&rgb(frame.rgba8()), frame.width, frame.height, image::ExtendedColorType::Rgb8)
            .map_err(io::Error::other)?;
        Ok(file)
    },
    text: None,
    is_whole,
    read: Reader::Shown(|path| shown(path, image::ImageFormat::Jpeg)),
};

// Reads segments up to the one with the size, and the end marker (ITU T.81, annex B).
fn is_whole(file: &mut File, length: u64, (width, height): (u32, u32)) -> io::Result<bool> {
    let end = length.checked_sub(2).ok_or(io::ErrorKind::UnexpectedEof)?;
    if bytes_at(file, 0)? != [0xff, 0xd8] || bytes_at(file, end)? != [0xff, 0xd9] {
        return Ok(false);
    }
    let mut at = 2;
    loop {
        let [mark, kind, a, b] = bytes_at(file, at)?;
        match (mark, kind) {
            (0xff, 0xc0..=0xc2) => {
                let [h0, h1, w0, w1] = bytes_at(file, at + 5)?;
                let size = (u16::from_be_bytes([w0, w1]).into(), u16::from_be_bytes([h0, h1]).into());
                return Ok(size == (width, height));
            }
            (0xff, _) => at += 2 + u64::from(u16::from_be_bytes([a, b]).max(2)),
            _ => return Ok(false),
        }
    }
}
