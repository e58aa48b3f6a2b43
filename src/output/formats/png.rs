//! PNG: RGB without alpha, 8 bits a channel compressed fast, since frames are many and short-lived, or 16 bits from linear
//! light through the scene's tone curve.

use super::{Format, FormatOptions, Frame, PixelFormats, RGBA8, bytes_at, missing, rgb, shown};
use crate::film::image::Image;
use crate::scene::Tone;
use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use std::fs::File;
use std::io::{self, Write};

pub const FORMAT: Format = Format {
    extension: "png",
    bits: &[8, 16],
    largest: u32::MAX,
    is_exact: true,
    needs: |options| match options.bits {
        8 => RGBA8,
        _ => PixelFormats { linear: true, ..PixelFormats::default() },
    },
    write,
    is_whole,
    read: Some(|path| shown(path, image::ImageFormat::Png)),
};

/// A picture in RGBA, as it is shown.
pub fn of_image(image: &Image<u8>) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Adaptive)
        .write_image(&rgb(image.data()), image.width(), image.height(), image::ExtendedColorType::Rgb8)
        .map_err(io::Error::other)?;
    Ok(file)
}

// Signature, length and name of the first chunk, width and height; and all of the last chunk.
const START: [u8; 16] = *b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const END: [u8; 12] = *b"\0\0\0\0IEND\xae\x42\x60\x82";

fn is_whole(file: &mut File, length: u64, (width, height): (u32, u32)) -> io::Result<bool> {
    let size = [bytes_at(file, 16)?, bytes_at(file, 20)?].map(u32::from_be_bytes);
    let end = length.checked_sub(END.len() as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(bytes_at(file, 0)? == START && size == [width, height] && bytes_at(file, end)? == END)
}

fn write(frame: &Frame, options: &FormatOptions, to: &mut dyn Write) -> io::Result<()> {
    let (bytes, colour) = match options.bits {
        8 => (rgb(frame.rgba8()), image::ExtendedColorType::Rgb8),
        _ => (sixteen_bits(frame, options.tone)?, image::ExtendedColorType::Rgb16),
    };
    // The encoder asks for a writer of known size.
    let mut file = Vec::with_capacity(bytes.len() / 3);
    PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Adaptive)
        .write_image(&bytes, frame.width, frame.height, colour)
        .map_err(io::Error::other)?;
    to.write_all(&file)
}

// The encoder takes 16-bit samples in the machine's own order.
fn sixteen_bits(frame: &Frame, tone: Tone) -> io::Result<Vec<u8>> {
    let linear = frame.linear().ok_or_else(|| missing("linear light"))?;
    let code = |x: f64| (tone.encoded(x.clamp(0.0, 1.0)) * 65535.0).round() as u16;
    let codes = |p: &[f32; 3]| tone.shown(p.map(f64::from)).map(|x| code(x).to_ne_bytes());
    Ok(linear.data().as_chunks::<3>().0.iter().flat_map(codes).flatten().collect())
}
