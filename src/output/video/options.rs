//! How a video is encoded, as a user asks for it.

use super::codecs::Codec;
use crate::setters::setters;
use std::path::PathBuf;
use std::time::Duration;

/// How to encode a video.
///
/// ```
/// let options = polyfly::VideoOptions::new().codec("h265")?.crf(20);
/// # Ok::<(), polyfly::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VideoOptions {
    /// Frames a second; the scene's if none are given.
    pub fps: Option<f64>,
    /// Compression; what the file's ending usually holds if none is given.
    pub(crate) codec: Option<&'static Codec>,
    /// Quality, lower is better; the codec's usual one if none is given.
    pub crf: Option<u32>,
    /// The encoder's preset.
    pub preset: Option<String>,
    /// Bits of a channel: 8, or 10, which are made of linear light.
    pub bits: Option<u32>,
    /// HDR10: ten bits of light itself, without the tone curve.
    pub hdr: bool,
    /// The ffmpeg program; the one that is found if none is given.
    pub ffmpeg: Option<PathBuf>,
    /// How long ffmpeg may take over one frame, or to end.
    pub timeout: Duration,
    /// Frames per segment: a longer video is encoded in segments, several at once.
    pub segment: u32,
    /// Threads per encoder; they change the video's bytes.
    pub encoder_threads: u32,
    /// Encoders side by side; 0: one for two cores, as far as a quarter of the memory goes.
    pub encoders: u32,
    /// Bytes of frames that wait for an encoder, at most.
    pub queue_bytes: usize,
}

impl Default for VideoOptions {
    fn default() -> VideoOptions {
        VideoOptions {
            fps: None,
            codec: None,
            crf: None,
            preset: None,
            bits: None,
            hdr: false,
            ffmpeg: None,
            timeout: Duration::from_secs(120),
            segment: 60,
            encoder_threads: 12,
            encoders: 0,
            queue_bytes: 1024 << 20,
        }
    }
}

setters! { VideoOptions {
    /// Frames a second.
    fps(fps: f64) => { fps: Some(fps) }
    /// Quality, lower is better.
    crf(crf: u32) => { crf: Some(crf) }
    /// The encoder's preset.
    preset(preset: impl Into<String>) => { preset: Some(preset.into()) }
    /// HDR10.
    hdr() => { hdr: true }
    /// Bits of a channel: 8 or 10.
    bits(bits: u32) => { bits: Some(bits) }
    /// The ffmpeg program.
    ffmpeg(program: impl Into<PathBuf>) => { ffmpeg: Some(program.into()) }
}}
