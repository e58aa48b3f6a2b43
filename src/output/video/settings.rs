//! Resolved settings of a video, and what follows from them.

use super::alpha;
use super::codecs::{CODECS, Codec, PixelKind};
use super::containers::{CONTAINERS, Container};
use super::encode::Encode;
use super::ffmpeg::{Ffmpeg, find_ffmpeg};
use super::high_bit_depth::{self, DynamicRange};
use super::options::VideoOptions;
use super::spherical::FilmViews;
use crate::output::error::{NameFile, OutputError};
use crate::output::sink::{PixelFormats, RenderedFrame};
use crate::scene::Tone;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Settings {
    /// The video file. Its extension is one of [`super::containers::CONTAINERS`], or `.y4m`.
    pub path: PathBuf,
    pub fps: f64,
    /// The requested codec, or the default of the extension.
    pub codec: &'static Codec,
    /// The requested choice, or that of the begun film.
    pub encode: Encode,
    pub options: VideoOptions,
    /// SHA-256 of the music, or its path if it cannot be read; None without music.
    pub music: Option<String>,
    /// Maximum number of concurrent encoders. The video does not depend on it.
    pub encoders: usize,
    /// Maximum memory of the encoders, bytes, as estimated by [`Settings::encoder_bytes`]; None if the user has set
    /// their number.
    pub encoder_memory: Option<usize>,
    /// Ten bits per channel, made from linear light; None for eight.
    pub high_bit_depth: Option<DynamicRange>,
    /// The scene's tone curve for linear light. HDR ignores it.
    pub tone: Tone,
    /// What the video says of its views.
    pub views: FilmViews,
    /// Whether the video keeps alpha. It requires [`Settings::can_have_alpha`].
    pub has_alpha: bool,
    /// Whether the built-in encoder is used instead of ffmpeg.
    pub is_embedded: bool,
    /// Maximum memory for frames that wait for an encoder, bytes.
    pub waiting: usize,
}

impl Settings {
    /// The default settings of a video at this path.
    pub fn of(path: PathBuf) -> Settings {
        let container = Container::of(&path).unwrap_or(&CONTAINERS[0]);
        Settings {
            codec: Codec::of(container).next().unwrap_or(&CODECS[0]),
            path,
            fps: 25.0,
            encode: Encode::default(),
            options: VideoOptions::new(),
            music: None,
            encoders: 1,
            encoder_memory: None,
            high_bit_depth: None,
            tone: Tone::Soft,
            views: FilmViews::default(),
            has_alpha: false,
            is_embedded: false,
            waiting: 1 << 30,
        }
    }
    pub fn find_ffmpeg(&self) -> Result<Ffmpeg, OutputError> {
        find_ffmpeg(self.options.ffmpeg.as_deref())
    }
    /// The container; raw video counts as the first.
    pub fn container(&self) -> &'static Container {
        Container::of(&self.path).unwrap_or(&CONTAINERS[0])
    }
    /// The quality: the requested one, else that of `encode`.
    pub fn crf(&self) -> u32 {
        self.options.crf.unwrap_or(self.codec.encodes[self.encode as usize].0)
    }
    /// The preset: the requested one, else that of the pixel format or of `encode`; empty for the encoder's own.
    pub fn preset(&self) -> &str {
        let format = self.codec.pixel_format(self.pixel_kind());
        let usual = format.preset.unwrap_or(self.codec.encodes[self.encode as usize].1);
        self.options.preset.as_deref().unwrap_or(usual)
    }
    /// The kind of frames that the encoder receives.
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
    /// Whether the video can keep alpha: animated WebP, GIF (one bit), FFV1, and ProRes, which is then 4444.
    pub fn can_have_alpha(&self) -> bool {
        self.codec.alpha.is_some() && self.high_bit_depth.is_none() && !self.is_single()
    }
    pub fn planes<'a>(&self, frame: &'a RenderedFrame) -> Result<Cow<'a, [u8]>, OutputError> {
        if self.has_alpha {
            return Ok(Cow::Owned(alpha::planes(frame.isa, frame.rgba8(), (frame.width, frame.height))));
        }
        let Some(range) = self.high_bit_depth else { return Ok(Cow::Borrowed(frame.yuv420())) };
        let light =
            frame.linear().ok_or_else(|| io::Error::other("the frame has no linear light")).writing(&self.path)?;
        Ok(Cow::Owned(high_bit_depth::planes(light, self.tone, range)?))
    }
    pub fn frame_bytes(&self, (width, height): (u32, u32)) -> usize {
        let halves = if self.has_alpha { 5 } else { 3 };
        width as usize * height as usize * halves / 2 * if self.high_bit_depth.is_some() { 2 } else { 1 }
    }
    /// Approximate memory of one encoder, bytes; measured in `benches/results/2026-11-25-runs.md`.
    pub fn encoder_bytes(&self, sides: (u32, u32)) -> usize {
        let looks_far =
            self.codec.encoder != "libx264" || !["ultrafast", "superfast", "veryfast"].contains(&self.preset());
        let frames = if looks_far { 150 } else { 55 } + 8 * self.options.encoder_threads as usize;
        (72 << 20) + frames * self.frame_bytes(sides)
    }
    pub fn grey(&self, size: (u32, u32)) -> Vec<u8> {
        match self.high_bit_depth {
            None => vec![128; self.frame_bytes(size)],
            Some(_) => 512_u16.to_le_bytes().repeat(self.frame_bytes(size) / 2),
        }
    }
    /// Whether the video is written in one piece, so that an interrupted run cannot be resumed from segments.
    pub fn is_single(&self) -> bool {
        self.is_embedded || self.is_raw()
    }
    /// Whether the file holds uncompressed frames.
    pub fn is_raw(&self) -> bool {
        is_raw(&self.path)
    }
}

/// Whether a file of this name holds uncompressed frames.
pub fn is_raw(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("y4m"))
}
