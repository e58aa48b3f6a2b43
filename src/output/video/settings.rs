//! How to encode a video, and what follows from it.

use super::alpha;
use super::codecs::{CODECS, Codec, PixelKind};
use super::containers::{CONTAINERS, Container};
use super::ffmpeg::{Ffmpeg, find_ffmpeg};
use super::high_bit_depth::{self, HighBitDepth};
use super::options::VideoOptions;
use crate::output::error::{NameFile, OutputError};
use crate::output::sink::{PixelFormats, RenderedFrame};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Settings {
    /// The video file: one of [`super::containers::CONTAINERS`], or `.y4m`.
    pub path: PathBuf,
    pub fps: f64,
    /// The codec that they ask for, or the usual one of such a file.
    pub codec: &'static Codec,
    /// As they were asked for.
    pub options: VideoOptions,
    /// Most encoders side by side; what they make does not depend on them.
    pub encoders: usize,
    /// Most memory that these may take, bytes, as far as that is told by [`Settings::encoder_bytes`]; None where somebody has
    /// said how many there are to be.
    pub encoder_memory: Option<usize>,
    /// Ten bits a channel; None for eight.
    pub high_bit_depth: Option<HighBitDepth>,
    /// With the alpha of the pictures: only where [`Settings::can_have_alpha`].
    pub has_alpha: bool,
    /// Without ffmpeg, by the encoder that is built in.
    pub is_embedded: bool,
    /// Most memory for frames that wait for an encoder, bytes.
    pub waiting: usize,
}

impl Settings {
    /// The usual settings of a video of that name, with the codec that its ending usually holds.
    pub fn of(path: PathBuf) -> Settings {
        let container = Container::of(&path).unwrap_or(&CONTAINERS[0]);
        Settings {
            codec: Codec::of(container).next().unwrap_or(&CODECS[0]),
            path,
            fps: 25.0,
            options: VideoOptions::new(),
            encoders: 1,
            encoder_memory: None,
            high_bit_depth: None,
            has_alpha: false,
            is_embedded: false,
            waiting: 1 << 30,
        }
    }
    /// The ffmpeg that encodes it.
    pub fn find_ffmpeg(&self) -> Result<Ffmpeg, OutputError> {
        find_ffmpeg(self.options.ffmpeg.as_deref())
    }
    /// What the file is; raw video counts as the first.
    pub fn container(&self) -> &'static Container {
        Container::of(&self.path).unwrap_or(&CONTAINERS[0])
    }
    /// What goes into the encoder.
    pub fn pixel_kind(&self) -> PixelKind {
        match (self.high_bit_depth, self.has_alpha) {
            (Some(_), _) => PixelKind::TenBits,
            (None, true) => PixelKind::Alpha,
            (None, false) => PixelKind::EightBits,
        }
    }
    pub fn needs(&self) -> PixelFormats {
        let kind = self.pixel_kind();
        PixelFormats {
            yuv420: kind == PixelKind::EightBits,
            rgba8: kind == PixelKind::Alpha,
            linear: kind == PixelKind::TenBits,
            ..PixelFormats::default()
        }
    }
    /// Whether such a video can keep what is transparent: animated WebP, GIF (all or nothing), and ProRes, which is 4444 then.
    pub fn can_have_alpha(&self) -> bool {
        let is_kept = self.codec.alpha_containers.contains(&self.container().extension);
        is_kept && self.high_bit_depth.is_none() && !self.is_single()
    }
    /// A frame's planes, as an encoder takes them.
    pub fn planes<'a>(&self, frame: &'a RenderedFrame) -> Result<Cow<'a, [u8]>, OutputError> {
        if self.has_alpha {
            return Ok(Cow::Owned(alpha::planes(frame.isa, frame.rgba8(), (frame.width, frame.height))));
        }
        let Some(HighBitDepth { range, tone }) = self.high_bit_depth else { return Ok(Cow::Borrowed(frame.yuv420())) };
        let light =
            frame.linear().ok_or_else(|| io::Error::other("the frame has no linear light")).writing(&self.path)?;
        Ok(Cow::Owned(high_bit_depth::planes(light, tone, range)?))
    }
    /// Bytes of a frame's planes.
    pub fn frame_bytes(&self, (width, height): (u32, u32)) -> usize {
        let halves = if self.has_alpha { 5 } else { 3 };
        width as usize * height as usize * halves / 2 * if self.high_bit_depth.is_some() { 2 } else { 1 }
    }
    /// Bytes that one encoder takes, about: `scripts/measure/encoders` measures it.
    pub fn encoder_bytes(&self, sides: (u32, u32)) -> usize {
        let looks_far = self.codec.encoder != "libx264"
            || self
                .options
                .preset
                .as_ref()
                .is_some_and(|preset| !["ultrafast", "superfast", "veryfast"].contains(&&**preset));
        let frames = if looks_far { 150 } else { 55 } + 8 * self.options.encoder_threads as usize;
        (72 << 20) + frames * self.frame_bytes(sides)
    }
    pub fn grey(&self, size: (u32, u32)) -> Vec<u8> {
        match self.high_bit_depth {
            None => vec![128; self.frame_bytes(size)],
            Some(_) => 512_u16.to_le_bytes().repeat(self.frame_bytes(size) / 2),
        }
    }
    /// Whether it is made in one piece, frame by frame: there are no segments that a later run could go on from.
    pub fn is_single(&self) -> bool {
        self.is_embedded || self.is_raw()
    }
    /// Whether the file holds the frames as they are.
    pub fn is_raw(&self) -> bool {
        is_raw(&self.path)
    }
}

/// Whether a video of that name holds the frames as they are.
pub fn is_raw(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"))
}
