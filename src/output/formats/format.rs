//! What a format of picture files is, and what the formats share.

use crate::film::image::Image;
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
    /// Bits of a channel: one of the format's.
    pub bits: u32,
    /// The tone curve, for formats of more than 8 bits that show it.
    pub tone: Tone,
    /// Pictures are see-through in places.
    pub has_alpha: bool,
    /// What made the pictures, to be written into them.
    pub origin: Option<Arc<Origin>>,
}

type ReadText = fn(&Path) -> io::Result<Option<String>>;

pub struct Format {
    /// What its files end in.
    pub extension: &'static str,
    /// Bits of a channel that it can have; the first is its own.
    pub bits: &'static [u32],
    /// Its longest side, pixels.
    pub largest: u32,
    /// Whether it keeps every code of a picture.
    pub is_exact: bool,
    pub has_alpha: bool,
    /// A whole file.
    pub encode: fn(&RenderedFrame, &FormatOptions) -> io::Result<Vec<u8>>,
    /// Whether a file of that length is a picture of that size, and ends where it should. Looks at both ends only.
    pub is_whole: fn(&mut File, u64, (u32, u32)) -> io::Result<bool>,
    pub read: Reader,
    /// The text in a file that says what made it, where the format has a place for one.
    pub text: Option<ReadText>,
}

/// How files of a format are read.
#[derive(Clone, Copy)]
pub enum Reader {
    /// As they are shown.
    Shown(fn(&Path) -> io::Result<Shown>),
    /// They hold light that no tone curve has been through.
    Light(fn(&Path) -> io::Result<LinearImage>),
}

pub struct LinearImage {
    /// Red, green and blue.
    pub image: Image<f32>,
    /// The share of each pixel that a surface covers.
    pub coverage: Vec<f32>,
}

pub struct Shown {
    pub size: (u32, u32),
    /// Rows from the top, 4 bytes a pixel.
    pub rgba: Vec<u8>,
}

impl LinearImage {
    /// As it is shown through a tone curve; with straight alpha, or as it is seen over black.
    pub fn shown(&self, tone: Tone, has_alpha: bool) -> Shown {
        let pixels = self.image.data().as_chunks::<3>().0.iter().zip(&self.coverage);
        let codes = |(&light, &share)| straight(light, if has_alpha { share } else { 1.0 }, tone, 255.0);
        let rgba = pixels.flat_map(codes).map(|x| x as u8).collect();
        Shown { size: (self.image.width(), self.image.height()), rgba }
    }
}

// Red, green, blue and alpha of light that covers so much of its pixel, 0 to `most`.
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
    /// A file as it is shown; light goes through that tone curve, with straight alpha or as it is seen over black.
    pub fn shown(&self, path: &Path, tone: Tone, has_alpha: bool) -> io::Result<Shown> {
        match self.read {
            Reader::Shown(read) => read(path),
            Reader::Light(read) => read(path).map(|light| light.shown(tone, has_alpha)),
        }
    }
    /// What a file of it needs of a frame.
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
    /// The text in a file that says what made it, if there is one.
    pub fn origin(&self, path: &Path) -> io::Result<Option<String>> {
        self.text.map_or(Ok(None), |text| text(path))
    }
    pub fn scene(&self, path: &Path) -> Option<Scene> {
        let text = self.origin(path).ok()??;
        Scene::parse(&text, KEY, Path::new("")).ok().map(|parsed| parsed.scene)
    }
    /// The options for so many bits of a channel, or the format's own; Err: what it can have.
    pub fn options(&self, bits: Option<u32>, tone: Tone) -> Result<FormatOptions, String> {
        let bits = bits.unwrap_or(self.bits[0]);
        if self.bits.contains(&bits) {
            return Ok(FormatOptions { bits, tone, has_alpha: false, origin: None });
        }
        let can = self.bits.iter().map(u32::to_string).collect::<Vec<_>>().join(" or ");
        Err(format!(".{} has {can} bits a channel, not {bits}", self.extension))
    }
}

// What a file tells of its sides may be anything: four bytes a pixel need not fit 64 bits.
pub(super) fn pixels((width, height): (u32, u32)) -> u128 {
    u128::from(width) * u128::from(height)
}

// A file of a library's format as it is shown.
pub(super) fn shown(path: &Path, format: image::ImageFormat) -> io::Result<Shown> {
    let file = io::BufReader::new(File::open(path)?);
    let rgba = image::ImageReader::with_format(file, format).decode().map_err(io::Error::other)?.into_rgba8();
    Ok(Shown { size: rgba.dimensions(), rgba: rgba.into_raw() })
}

// The pixels of RGBA without their alpha: over black where they are not opaque.
pub(super) fn rgb(rgba: &[u8]) -> Vec<u8> {
    let mut rgb = Vec::with_capacity(rgba.len() / 4 * 3);
    rgba.as_chunks::<4>().0.iter().for_each(|&pixel| rgb.extend_from_slice(&over_black(pixel)));
    rgb
}

// The samples of a picture: four a pixel with alpha, else three.
pub(super) fn samples(rgba: &[u8], has_alpha: bool) -> Cow<'_, [u8]> {
    if has_alpha { Cow::Borrowed(rgba) } else { Cow::Owned(rgb(rgba)) }
}

// Linear light through the tone curve: three numbers a pixel, or four with straight alpha.
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
    io::Error::new(io::ErrorKind::InvalidData, "it is not whole, or no such picture")
}

pub(super) fn missing(what: &str) -> io::Error {
    io::Error::other(format!("the frame has no {what}"))
}
