//! OpenEXR: linear light in half (16 bits) or float, with the layers albedo, normal, depth and samples.

use super::format::{Format, FormatOptions, LinearImage, Reader, missing};
use crate::assets::source::{open_regular, stored};
use crate::film::image::Image;
use crate::output::bytes::bytes_at;
use crate::output::sink::RenderedFrame;
use crate::output::store::origin::{KEY, SOFTWARE};
use ::exr::meta::MetaData;
use ::exr::meta::attribute::{AttributeValue, Text};
use ::exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image as ExrImage, Layer, LayerAttributes, WritableImage, f16,
};
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::Path;

pub const FORMAT: Format = Format {
    extension: "exr",
    bits: &[16, 32],
    largest: u32::MAX,
    is_exact: true,
    has_alpha: true,
    encode,
    text: Some(text),
    is_whole,
    read: Reader::Light(light),
};

// Color and coverage. Without an alpha channel, coverage is 1.
fn light(path: &Path) -> io::Result<LinearImage> {
    let file = stored(open_regular(path)?);
    let decoded = image::ImageReader::with_format(file, image::ImageFormat::OpenExr).decode();
    let rgba = decoded.map_err(io::Error::other)?.into_rgba32f();
    let pixels = rgba.as_raw().as_chunks::<4>().0;
    let colour = pixels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
    let image = Image::new(rgba.width(), rgba.height(), 3, colour);
    Ok(LinearImage { image, coverage: pixels.iter().map(|pixel| pixel[3]).collect() })
}

// After the header comes a table of block offsets. The first block begins after the table, and the last one ends at
// the file's end. A block begins with its coordinates (four numbers for a tile, one for a scanline) and its length
// ("OpenEXR file layout").
const TILED: u32 = 0x200;
fn is_whole(file: &mut File, length: u64, (width, height): (u32, u32)) -> io::Result<bool> {
    let broken = || io::Error::from(io::ErrorKind::InvalidData);
    if bytes_at(file, 0)? != [0x76, 0x2f, 0x31, 0x01] {
        return Ok(false);
    }
    let before_length = if u32::from_le_bytes(bytes_at(file, 4)?) & TILED != 0 { 16 } else { 4 };
    file.seek(SeekFrom::Start(8))?;
    let mut header = io::BufReader::new(&mut *file);
    let (mut at, mut window) = (8, None);
    loop {
        let mut words = [Vec::new(), Vec::new()];
        at += header.read_until(0, &mut words[0])? as u64;
        if words[0] == [0] {
            break;
        }
        at += header.read_until(0, &mut words[1])? as u64;
        let mut size = [0; 4];
        header.read_exact(&mut size)?;
        let mut value = vec![0; usize::try_from(u32::from_le_bytes(size)).map_or(0, |n| n.min(1 << 16))];
        header.read_exact(&mut value)?;
        at += 4 + value.len() as u64;
        if words[0] == b"dataWindow\0" {
            window = value.as_chunks::<4>().0.get(2..4).map(|ends| [0, 1].map(|i| u32::from_le_bytes(ends[i])));
        }
    }
    drop(header);
    if window != Some([width - 1, height - 1]) {
        return Ok(false);
    }
    let first = u64::from_le_bytes(bytes_at(file, at)?);
    let blocks = first.checked_sub(at).filter(|n| *n % 8 == 0 && first <= length).ok_or_else(broken)? / 8;
    let mut last = 0;
    for block in 0..blocks {
        last = last.max(u64::from_le_bytes(bytes_at(file, at + 8 * block)?));
    }
    let size = u32::from_le_bytes(bytes_at(file, last + before_length)?);
    Ok(last + before_length + 4 + u64::from(size) == length)
}

fn text(path: &Path) -> io::Result<Option<String>> {
    let meta = MetaData::read_from_buffered(stored(open_regular(path)?), false).map_err(io::Error::other)?;
    let all = meta.headers.iter().flat_map(|header| &header.own_attributes.other);
    Ok(all.filter(|(name, _)| **name == *KEY).find_map(|(_, value)| match value {
        AttributeValue::Text(text) => Some(text.to_string()),
        _ => None,
    }))
}

// Color goes into the unnamed layer, where all programs look first. Other channels are named LAYER.CHANNEL.
fn encode(frame: &RenderedFrame, options: &FormatOptions) -> io::Result<Vec<u8>> {
    let linear = frame.linear().ok_or_else(|| missing("linear light"))?;
    let layers = frame.layers().ok_or_else(|| missing("layers"))?;
    let mut channels = Vec::new();
    let mut add = |image: &Image<f32>, names: &[&str], whole: bool| {
        for (i, name) in names.iter().enumerate() {
            let values = image.data().iter().skip(i).step_by(image.channels()).copied();
            // Distances and sample counts exceed the range of half; the disc of the sun may.
            let half = |x: f32| f16::from_f32(x.min(f16::MAX.to_f32()));
            let samples = match options.bits {
                16 if !whole => FlatSamples::F16(values.map(half).collect()),
                _ => FlatSamples::F32(values.collect()),
            };
            channels.push(AnyChannel::new(*name, samples));
        }
    };
    add(linear, &["R", "G", "B"], false);
    add(&layers.coverage, &["A"], false);
    add(&layers.albedo, &["albedo.R", "albedo.G", "albedo.B"], false);
    add(&layers.normal, &["normal.X", "normal.Y", "normal.Z"], false);
    add(&layers.depth, &["depth.Z"], true);
    add(&layers.samples, &["samples.N"], true);
    let mut attributes = LayerAttributes { software_name: Some(SOFTWARE.into()), ..LayerAttributes::default() };
    if let Some(origin) = &options.origin {
        attributes.comments = Text::new_or_none(origin.remark(frame.number));
        // At most one attribute, because the writer does not order them. None if the text has characters outside
        // Latin-1.
        let scene = Text::new_or_none(origin.text(frame.number)).map(|text| (KEY.into(), AttributeValue::Text(text)));
        attributes.other.extend(scene);
    }
    let size = (frame.width as usize, frame.height as usize);
    let layer = Layer::new(size, attributes, Encoding::FAST_LOSSLESS, AnyChannels::sort(channels.into()));
    let mut file = io::Cursor::new(Vec::new());
    // Single-threaded, because several files are written at once.
    ExrImage::from_layer(layer).write().non_parallel().to_buffered(&mut file).map_err(io::Error::other)?;
    Ok(file.into_inner())
}
