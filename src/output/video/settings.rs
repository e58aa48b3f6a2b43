//! How to encode a video, and what follows from it.

use super::alpha;
use super::codecs::{CODECS, Codec, PixelKind};
use super::containers::{CONTAINERS, Container};
use super::high_bit_depth::{self, HighBitDepth};
use crate::output::error::OutputError;
use crate::output::sink::{PixelFormats, RenderedFrame};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How to encode.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The video file: one of [`super::containers::CONTAINERS`], or `.y4m`.
    pub path: PathBuf,
    /// Frames a second.
    pub fps: f64,
    /// Quality; the codec's usual one if not given.
    pub crf: Option<u32>,
    /// The encoder's speed preset.
    pub preset: Option<String>,
    /// Compression.
    pub codec: &'static Codec,
    /// The ffmpeg program, if the user named one.
    pub ffmpeg: Option<PathBuf>,
    /// How long ffmpeg may take over one frame, or to end, before it is ended.
    pub timeout: Duration,
    /// Frames of a segment.
    pub segment: u32,
    /// Threads of an encoder; what it makes depends on them a little.
    pub threads: u32,
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
            crf: None,
            preset: None,
            ffmpeg: None,
            timeout: Duration::from_secs(120),
            segment: 60,
            threads: 12,
            encoders: 1,
            encoder_memory: None,
            high_bit_depth: None,
            has_alpha: false,
            is_embedded: false,
            waiting: 1 << 30,
        }
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
    /// What it needs of frames.
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
    ///
    /// # Errors
    /// It has no light, and ten bits are asked for.
    pub fn planes<'a>(&self, frame: &'a RenderedFrame) -> Result<Cow<'a, [u8]>, OutputError> {
        if self.has_alpha {
            return Ok(Cow::Owned(alpha::planes(frame.isa, frame.rgba8(), (frame.width, frame.height))));
        }
        let Some(HighBitDepth { range, tone }) = self.high_bit_depth else { return Ok(Cow::Borrowed(frame.yuv420())) };
        let none = || OutputError::Write(self.path.clone(), std::io::Error::other("the frame has no linear light"));
        Ok(Cow::Owned(high_bit_depth::planes(frame.linear().ok_or_else(none)?, tone, range)?))
    }
    /// Bytes of a frame's planes.
    pub fn frame_bytes(&self, (width, height): (u32, u32)) -> usize {
        let halves = if self.has_alpha { 5 } else { 3 };
        width as usize * height as usize * halves / 2 * if self.high_bit_depth.is_some() { 2 } else { 1 }
    }
    /// Bytes that one encoder takes, about: `scripts/measure/encoders` measures it.
    pub fn encoder_bytes(&self, sides: (u32, u32)) -> usize {
        let looks_far = self.codec.encoder != "libx264"
            || self.preset.as_ref().is_some_and(|preset| !["ultrafast", "superfast", "veryfast"].contains(&&**preset));
        let frames = if looks_far { 150 } else { 55 } + 8 * self.threads as usize;
        (72 << 20) + frames * self.frame_bytes(sides)
    }
    /// A grey frame.
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
