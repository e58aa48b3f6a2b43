//! The description of a picture format, and functions that the formats share.

use crate::assets::source::{open_regular, stored};
use crate::film::image::Image;
use crate::language::{Message, msg};
use crate::output::opaque::over_black;
use crate::output::sink::{PixelFormats, RenderedFrame};
use crate::output::store::origin::{KEY, Origin};
use crate::scene::{Scene, Tone};
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct FormatOptions {
    /// Bits per channel; one of the format's values.
    pub bits: u32,
    /// The tone curve, for formats that store more than 8 bits after it.
    pub tone: Tone,
    /// Whether the pictures have an alpha channel.
    pub has_alpha: bool,
    /// Pixels an inch in print, if the pictures have a size in print. Files of PNG, TIFF and JPEG name it.
    pub dpi: Option<f64>,
    /// What made the pictures. It is written into them.
    pub origin: Option<Arc<Origin>>,
}

type ReadText = fn(&Path) -> io::Result<Option<String>>;

pub struct Format {
    /// The extension of its files.
    pub extension: &'static str,
    /// The supported bits per channel; the first is the default.
    pub bits: &'static [u32],
    /// Maximum side, pixels.
    pub largest: u32,
    /// Whether the format is lossless.
    pub is_exact: bool,
    pub has_alpha: bool,
    /// Encodes a frame as a complete file.
    pub encode: fn(&RenderedFrame, &FormatOptions) -> io::Result<Vec<u8>>,
    /// Whether a file of this length is a complete picture of this size. Only its beginning and end are read.
    pub is_whole: fn(&mut File, u64, (u32, u32)) -> io::Result<bool>,
    pub read: Reader,
    /// Reads the text that says what made the picture, if the format can hold one.
    pub text: Option<ReadText>,
}

/// How files of a format are decoded.
#[derive(Clone, Copy)]
pub enum Reader {
    /// Pixels after the tone curve.
    Shown(fn(&Path) -> io::Result<Shown>),
    /// Linear light before the tone curve.
    Light(fn(&Path) -> io::Result<LinearImage>),
}

pub struct LinearImage {
    /// Red, green and blue.
    pub image: Image<f32>,
    /// The fraction of each pixel that a surface covers.
    pub coverage: Vec<f32>,
}

pub struct Shown {
    pub size: (u32, u32),
    /// Rows from the top, 4 bytes per pixel.
    pub rgba: Vec<u8>,
}

impl LinearImage {
    /// Applies the tone curve. The result has straight alpha, or is composited over black.
    pub fn shown(&self, tone: Tone, has_alpha: bool) -> Shown {
        let pixels = self.image.data().as_chunks::<3>().0.iter().zip(&self.coverage);
        let codes = |(&light, &share)| straight(light, if has_alpha { share } else { 1.0 }, tone, 255.0);
        let rgba = pixels.flat_map(codes).map(|x| x as u8).collect();
        Shown { size: (self.image.width(), self.image.height()), rgba }
    }
}

// Linear light of a partly covered pixel through the tone curve, with straight alpha. All values are in 0 to `max`.
fn straight(light: [f32; 3], share: f32, tone: Tone, max: f64) -> [f64; 4] {
    let share = f64::from(share).clamp(0.0, 1.0);
    let code = |x: f64| (tone.encode(x.clamp(0.0, 1.0)) * max).round();
    let [r, g, b] = match share > 0.0 {
        true => tone.tone_map(light.map(|x| f64::from(x) / share)).map(code),
        false => [0.0; 3],
    };
    [r, g, b, (share * max).round()]
}

impl Format {
    /// Decodes a file. The tone curve is applied to linear light. The result has straight alpha, or is composited
    /// over black.
    pub fn shown(&self, path: &Path, tone: Tone, has_alpha: bool) -> io::Result<Shown> {
        match self.read {
            Reader::Shown(read) => read(path),
            Reader::Light(read) => read(path).map(|light| light.shown(tone, has_alpha)),
        }
    }
    /// The pixel formats that encoding needs.
    pub fn needs(&self, options: &FormatOptions) -> PixelFormats {
        match options.bits {
            8 => PixelFormats::RGBA8,
            _ => {
                PixelFormats { linear: true, layers: options.has_alpha || self.has_light(), ..PixelFormats::default() }
            }
        }
    }
    pub fn has_light(&self) -> bool {
        matches!(self.read, Reader::Light(_))
    }
    /// Whether files keep all that a video needs, so that a video made from them has the same bytes as one made during rendering.
    pub fn is_lossless_source(&self, bits: Option<u32>, is_deep: bool, has_alpha: bool) -> bool {
        let bits = bits.unwrap_or(self.bits[0]);
        let keeps_light = match (is_deep, self.has_light()) {
            (true, true) => bits == 32,
            (false, false) => self.is_exact && bits == 8,
            _ => false,
        };
        keeps_light && (self.has_alpha || !has_alpha)
    }
    /// The text in a file that says what made it, if the file has one.
    pub fn origin(&self, path: &Path) -> io::Result<Option<String>> {
        self.text.map_or(Ok(None), |text| text(path))
    }
    pub fn scene(&self, path: &Path) -> Option<Scene> {
        let text = self.origin(path).ok()??;
        Scene::parse(&text, KEY, Path::new("")).ok().map(|parsed| parsed.scene)
    }
    /// The options for this bit depth, or for the default. The error lists the supported depths.
    pub fn options(&self, bits: Option<u32>, tone: Tone) -> Result<FormatOptions, Message> {
        let bits = bits.unwrap_or(self.bits[0]);
        if self.bits.contains(&bits) {
            return Ok(FormatOptions { bits, tone, has_alpha: false, dpi: None, origin: None });
        }
        let can: Vec<String> = self.bits.iter().map(u32::to_string).collect();
        Err(msg!(
            ".{extension} has {bits} bits a channel, not {asked}",
            extension = self.extension,
            bits = Message::one_of(&can),
            asked = bits
        ))
    }
}

// A file may claim sides of any size, so the number of pixels may exceed 64 bits.
pub(super) fn pixels((width, height): (u32, u32)) -> u128 {
    u128::from(width) * u128::from(height)
}

// Decodes a file by the crate `image`.
pub(super) fn shown(path: &Path, format: image::ImageFormat) -> io::Result<Shown> {
    let file = stored(open_regular(path)?);
    let rgba = image::ImageReader::with_format(file, format).decode().map_err(io::Error::other)?.into_rgba8();
    Ok(Shown { size: rgba.dimensions(), rgba: rgba.into_raw() })
}

// RGBA composited over black, without alpha.
pub(super) fn rgb(rgba: &[u8]) -> Vec<u8> {
    let mut rgb = Vec::with_capacity(rgba.len() / 4 * 3);
    rgba.as_chunks::<4>().0.iter().for_each(|&pixel| rgb.extend_from_slice(&over_black(pixel)));
    rgb
}

// The channels of a picture: four per pixel with alpha, else three.
pub(super) fn samples(rgba: &[u8], has_alpha: bool) -> Cow<'_, [u8]> {
    if has_alpha { Cow::Borrowed(rgba) } else { Cow::Owned(rgb(rgba)) }
}

// Linear light through the tone curve in 16 bits: three channels, or four with straight alpha.
pub(super) fn sixteen_bits(frame: &RenderedFrame, options: &FormatOptions) -> io::Result<Vec<u16>> {
    let tone = options.tone;
    let linear = frame.linear().ok_or_else(|| missing("linear light"))?;
    let pixels = linear.data().as_chunks::<3>().0;
    let codes = |light: &[f32; 3], share: f32| straight(*light, share, tone, 65535.0).map(|x| x as u16);
    if !options.has_alpha {
        let rgb = |light: &[f32; 3]| {
            let [r, g, b, _] = codes(light, 1.0);
            [r, g, b]
        };
        return Ok(pixels.iter().flat_map(rgb).collect());
    }
    let coverage = &frame.layers().ok_or_else(|| missing("coverage"))?.coverage;
    Ok(pixels.iter().zip(coverage.data()).flat_map(|(light, &share)| codes(light, share)).collect())
}

pub(super) fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is incomplete, or its content does not match its format")
}

pub(super) fn missing(what: &str) -> io::Error {
    io::Error::other(format!("the frame has no {what}"))
}
