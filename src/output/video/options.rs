//! A user's options for encoding a video.

use super::codecs::Codec;
use super::encode::Encode;
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
    /// Frames per second; the scene's by default.
    pub fps: Option<f64>,
    /// The codec; the default of the file's extension if None.
    pub(crate) codec: Option<&'static Codec>,
    /// How much the encoder works. If None, a film that an earlier run has begun goes on as it was begun.
    pub encode: Option<Encode>,
    /// Quality, lower is better; as `encode` says if None.
    pub crf: Option<u32>,
    /// The encoder's preset; as `encode` says if None.
    pub preset: Option<String>,
    /// Bits per channel: 8, or 10, which are made from linear light.
    pub bits: Option<u32>,
    /// HDR10: ten bits of linear light without the tone curve.
    pub hdr: bool,
    /// The ffmpeg program; the one that is found by default.
    pub ffmpeg: Option<PathBuf>,
    /// The time-out of ffmpeg for one frame, and for its end.
    pub timeout: Duration,
    /// Frames per segment. A longer video is encoded in segments, several at once.
    pub segment: u32,
    /// Threads per encoder. The video's bytes depend on them.
    pub encoder_threads: u32,
    /// Concurrent encoders. 0 means one per two cores, within a quarter of the memory.
    pub encoders: u32,
    /// Maximum bytes of frames that wait for an encoder.
    pub queue_bytes: usize,
}

impl Default for VideoOptions {
    fn default() -> VideoOptions {
        VideoOptions {
            fps: None,
            codec: None,
            encode: None,
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
    /// Frames per second.
    fps(fps: f64) => { fps: Some(fps) }
    /// How much the encoder works.
    encode(encode: Encode) => { encode: Some(encode) }
    /// Quality, lower is better.
    crf(crf: u32) => { crf: Some(crf) }
    /// The encoder's preset.
    preset(preset: impl Into<String>) => { preset: Some(preset.into()) }
    /// HDR10.
    hdr() => { hdr: true }
    /// Bits per channel: 8 or 10.
    bits(bits: u32) => { bits: Some(bits) }
    /// The ffmpeg program.
    ffmpeg(program: impl Into<PathBuf>) => { ffmpeg: Some(program.into()) }
}}
