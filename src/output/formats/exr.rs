//! OpenEXR: linear light, half (16 bits) or float, and beside it the layers albedo, normal, depth and samples.

use super::{Format, FormatOptions, Frame, PixelFormats, missing};
use crate::film::image::Image;
use exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image as ExrImage, Layer, LayerAttributes, WritableImage, f16,
};
use std::io::{self, Write};

pub const FORMAT: Format = Format {
    extension: "exr",
    bits: &[16, 32],
    needs: |_| PixelFormats { linear: true, layers: true, ..PixelFormats::default() },
    write,
};

// Channels by name: colour in the unnamed layer, where every program looks first, the others as LAYER.CHANNEL.
fn write(frame: &Frame, options: &FormatOptions, to: &mut dyn Write) -> io::Result<()> {
    let linear = frame.linear().ok_or_else(|| missing("linear light"))?;
    let layers = frame.layers().ok_or_else(|| missing("layers"))?;
    let mut channels = Vec::new();
    let mut add = |image: &Image<f32>, names: &[&str], whole: bool| {
        for (i, name) in names.iter().enumerate() {
            let values = image.data().iter().skip(i).step_by(image.channels()).copied();
            // Distances and counts do not fit a half.
            let samples = match options.bits {
                16 if !whole => FlatSamples::F16(values.map(f16::from_f32).collect()),
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
    let software_name = Some(concat!("polyfly ", env!("CARGO_PKG_VERSION")).into());
    let attributes = LayerAttributes { software_name, ..LayerAttributes::default() };
    let size = (frame.width as usize, frame.height as usize);
    let layer = Layer::new(size, attributes, Encoding::FAST_LOSSLESS, AnyChannels::sort(channels.into()));
    let mut file = io::Cursor::new(Vec::new());
    // One thread: files are written side by side.
    ExrImage::from_layer(layer).write().non_parallel().to_buffered(&mut file).map_err(io::Error::other)?;
    to.write_all(file.get_ref())
}
