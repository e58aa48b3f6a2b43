//! PNG, RGB or RGBA with straight alpha. 8 bits per channel are compressed fast, because frames are many and
//! short-lived. 16 bits come from linear light through the scene's tone curve. A text chunk says what made the
//! picture.

use super::format::{Format, FormatOptions, Reader, rgb, samples, shown, sixteen_bits};
use crate::assets::source::{open_regular, stored};
use crate::film::image::Image;
use crate::output::bytes::bytes_at;
use crate::output::sink::RenderedFrame;
use crate::output::store::origin::{KEY, Origin, SOFTWARE};
use ::png::{BitDepth, ColorType, Compression, Decoder, Encoder, Filter, PixelDimensions, Unit};
use std::fs::File;
use std::io;
use std::path::Path;

// An inch in meters.
const METERS: f64 = 0.0254;

pub const FORMAT: Format = Format {
    extension: "png",
    bits: &[8, 16],
    largest: u32::MAX,
    is_exact: true,
    has_alpha: true,
    encode: |frame: &RenderedFrame, options: &FormatOptions| {
        let facts = (options.origin.as_deref().map(|origin| (origin, frame.number)), options.dpi);
        let size = (frame.width, frame.height);
        let colour = if options.has_alpha { ColorType::Rgba } else { ColorType::Rgb };
        if options.bits == 8 {
            return encoded(size, &samples(frame.rgba8(), options.has_alpha), (colour, BitDepth::Eight), facts);
        }
        let codes = sixteen_bits(frame, options)?;
        let bytes: Vec<u8> = codes.into_iter().flat_map(u16::to_be_bytes).collect();
        encoded(size, &bytes, (colour, BitDepth::Sixteen), facts)
    },
    text: Some(text),
    is_whole,
    read: Reader::Shown(|path| shown(path, image::ImageFormat::Png)),
};

/// Encodes an RGBA picture.
pub fn of_image(image: &Image<u8>) -> io::Result<Vec<u8>> {
    encoded((image.width(), image.height()), &rgb(image.data()), (ColorType::Rgb, BitDepth::Eight), (None, None))
}

fn encoded(
    (width, height): (u32, u32),
    samples: &[u8],
    (colour, depth): (ColorType, BitDepth),
    (origin, dpi): (Option<(&Origin, u32)>, Option<f64>),
) -> io::Result<Vec<u8>> {
    let mut file = Vec::with_capacity(samples.len() / 3);
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    encoder.set_compression(Compression::Fast);
    encoder.set_filter(Filter::Adaptive);
    if let Some(dpi) = dpi {
        let dots = (dpi / METERS).round() as u32;
        encoder.set_pixel_dims(Some(PixelDimensions { xppu: dots, yppu: dots, unit: Unit::Meter }));
    }
    if let Some((origin, frame)) = origin {
        encoder.add_text_chunk("Software".into(), SOFTWARE.into())?;
        encoder.add_text_chunk("Comment".into(), origin.remark(frame))?;
        encoder.add_itxt_chunk(KEY.into(), origin.text(frame))?;
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(samples)?;
    writer.finish()?;
    Ok(file)
}

fn text(path: &Path) -> io::Result<Option<String>> {
    let reader = Decoder::new(stored(open_regular(path)?)).read_info()?;
    let texts = &reader.info().utf8_text;
    texts.iter().find(|text| text.keyword == KEY).map(|text| text.get_text().map_err(Into::into)).transpose()
}

// Signature, head of the first chunk and size; the last chunk.
const START: [u8; 16] = *b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const END: [u8; 12] = *b"\0\0\0\0IEND\xae\x42\x60\x82";

fn is_whole(file: &mut File, length: u64, (width, height): (u32, u32)) -> io::Result<bool> {
    let size = [bytes_at(file, 16)?, bytes_at(file, 20)?].map(u32::from_be_bytes);
    let end = length.checked_sub(END.len() as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(bytes_at(file, 0)? == START && size == [width, height] && bytes_at(file, end)? == END)
}
