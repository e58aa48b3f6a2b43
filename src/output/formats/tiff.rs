//! TIFF, 8 or 16 bits per channel, with lossless compression.

use super::format::{Format, FormatOptions, Reader, rgb, shown, sixteen_bits};
use crate::output::bytes::bytes_at;
use crate::output::sink::RenderedFrame;
use crate::output::store::origin::SOFTWARE;
use ::tiff::decoder::Decoder;
use ::tiff::encoder::colortype::{ColorType, RGB8, RGB16, RGBA8, RGBA16};
use ::tiff::encoder::{Compression, DeflateLevel, Predictor, Rational, TiffEncoder, TiffValue};
use ::tiff::tags::{ResolutionUnit, Tag};
use std::fs::File;
use std::io::{self, Seek};

pub const FORMAT: Format = Format {
    extension: "tiff",
    bits: &[8, 16],
    largest: u32::MAX,
    is_exact: true,
    has_alpha: true,
    encode: |frame: &RenderedFrame, options| match (options.bits, options.has_alpha) {
        (8, false) => encoded::<RGB8>(frame, options, &rgb(frame.rgba8())),
        (8, true) => encoded::<RGBA8>(frame, options, frame.rgba8()),
        (_, false) => encoded::<RGB16>(frame, options, &sixteen_bits(frame, options)?),
        (_, true) => encoded::<RGBA16>(frame, options, &sixteen_bits(frame, options)?),
    },
    text: None,
    is_whole,
    read: Reader::Shown(|path| shown(path, image::ImageFormat::Tiff)),
};

fn encoded<C: ColorType>(frame: &RenderedFrame, options: &FormatOptions, samples: &[C::Inner]) -> io::Result<Vec<u8>>
where
    [C::Inner]: TiffValue,
{
    let mut file = io::Cursor::new(Vec::new());
    let mut write = || {
        let mut encoder = TiffEncoder::new(&mut file)?
            .with_compression(Compression::Deflate(DeflateLevel::Fast))
            .with_predictor(Predictor::Horizontal);
        let mut image = encoder.new_image::<C>(frame.width, frame.height)?;
        image.encoder().write_tag(Tag::Software, SOFTWARE)?;
        if let Some(dpi) = options.dpi {
            image.resolution(ResolutionUnit::Inch, Rational { n: (100.0 * dpi).round() as u32, d: 100 });
        }
        if options.has_alpha {
            // Straight alpha (TIFF 6.0, section 18).
            image.encoder().write_tag(Tag::ExtraSamples, &[2_u16][..])?;
        }
        if let Some(origin) = &options.origin {
            image.encoder().write_tag(Tag::ImageDescription, origin.remark(frame.number).as_str())?;
        }
        image.write_data(samples)
    };
    write().map_err(io::Error::other)?;
    Ok(file.into_inner())
}

// The header has the directory's offset. The directory is the end of the file: a count, entries of 12 bytes, and the
// offset of the next directory (TIFF 6.0, section 2).
fn is_whole(file: &mut File, length: u64, size: (u32, u32)) -> io::Result<bool> {
    if bytes_at(file, 0)? != *b"II*\0" {
        return Ok(false);
    }
    let at = u64::from(u32::from_le_bytes(bytes_at(file, 4)?));
    let count = u64::from(u16::from_le_bytes(bytes_at(file, at)?));
    if length != at + 2 + 12 * count + 4 {
        return Ok(false);
    }
    file.rewind()?;
    let sides = Decoder::new(io::BufReader::new(file)).and_then(|mut decoder| decoder.dimensions());
    Ok(sides.map_err(io::Error::other)? == size)
}
