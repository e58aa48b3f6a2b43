//! A user's options for encoding a video.

use super::codecs::{CODECS, Codec};
use super::containers::{CONTAINERS, Container, GIF, Join};
use super::encode::Encode;
use crate::language::{Message, msg};
use crate::setters::setters;
use std::path::{Path, PathBuf};
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
    /// Music: a file that ffmpeg reads. The film has what is heard during its frames.
    pub audio: Option<PathBuf>,
    /// Maximum size of a GIF or WebP, bytes. Its quality or its pictures' size is lowered until it fits.
    pub limit: Option<u64>,
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
            audio: None,
            limit: None,
            ffmpeg: None,
            timeout: Duration::from_secs(120),
            segment: 60,
            encoder_threads: 12,
            encoders: 0,
            queue_bytes: 1024 << 20,
        }
    }
}

impl VideoOptions {
    /// The codec of a file, which must support all that is requested. The error names the flag that the codec does not
    /// support.
    pub(crate) fn codec_of(&self, path: &Path) -> Result<&'static Codec, Message> {
        let container = Container::of(path).unwrap_or(&CONTAINERS[0]);
        let ending = container.extension;
        if self.audio.is_some() && container.audio.is_empty() {
            return Err(msg!("--audio: a .{ending} has no sound", ending));
        }
        if self.limit.is_some() && container.join == Join::Copied {
            return Err(msg!(
                "--limit: the size of a .{ending} follows from --crf; a .gif or .webp can be made to fit",
                ending
            ));
        }
        // Pictures that are encoded at the end wait without loss.
        let container = if self.limit.is_some() { &GIF } else { container };
        let is_high = self.is_deep();
        let mut usual = Codec::of(container).filter(|codec| !self.hdr || codec.hdr10.is_some());
        let first = usual.next().or_else(|| Codec::of(container).next()).unwrap_or(&CODECS[0]);
        let codec = self.codec.unwrap_or(first);
        let name = codec.name;
        if !codec.containers.contains(&container.extension) {
            if container.join != Join::Copied {
                return Err(msg!(
                    "--codec: a .{extension} has a codec of its own, not {name}: leave the flag out",
                    extension = container.extension,
                    name
                ));
            }
            let all = Codec::of(container).map(|c| c.name).collect::<Vec<_>>().join(", ");
            return Err(msg!(
                "--codec: a .{extension} holds {all}, not {name}",
                extension = container.extension,
                all,
                name
            ));
        }
        if is_high && (container.join != Join::Copied || Container::of(path).is_none()) {
            return Err(msg!("{path} has eight bits a channel: no --hdr, no --video-bits 10", path = path.display()));
        }
        if self.hdr && self.bits == Some(8) {
            return Err(msg!("--hdr: HDR10 has ten bits, not --video-bits 8"));
        }
        if self.hdr && codec.hdr10.is_none() {
            let all = CODECS.iter().filter(|c| c.hdr10.is_some()).map(|c| c.name).collect::<Vec<_>>().join(", ");
            return Err(msg!("--hdr: HDR10 comes in {all}, not {name}", all, name));
        }
        if is_high && codec.ten_bits.is_none() {
            return Err(msg!("--video-bits: {name} has eight bits a channel", name));
        }
        if self.crf.is_some() && codec.crf.is_none() {
            // A codec that nobody has named is an inner one.
            let of_file = format!(".{}", container.extension);
            return Err(msg!(
                "--crf: {name} has no quality setting",
                name = if self.codec.is_some() { name } else { &of_file }
            ));
        }
        Ok(codec)
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
    /// Music of the film.
    audio(file: impl Into<PathBuf>) => { audio: Some(file.into()) }
    /// Maximum size of a GIF or WebP, bytes.
    limit(bytes: u64) => { limit: Some(bytes) }
    /// The ffmpeg program.
    ffmpeg(program: impl Into<PathBuf>) => { ffmpeg: Some(program.into()) }
}}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_its_usual_codec() {
        for (file, usual, hdr) in [
            ("a.mp4", "h264", Some("h265")),
            ("a.MOV", "h264", Some("h265")),
            ("a.mkv", "h264", Some("h265")),
            ("a.webm", "vp9", Some("vp9")),
            ("a.gif", "ffv1", None),
            ("a.webp", "webp", None),
        ] {
            let chosen = |hdr| VideoOptions { hdr, ..VideoOptions::new() }.codec_of(Path::new(file)).map(|c| c.name);
            assert_eq!((chosen(false), chosen(true).ok()), (Ok(usual), hdr), "{file}");
        }
    }

    #[test]
    fn what_a_codec_does_not_have_is_refused() {
        let none = VideoOptions::new();
        let named = |name| VideoOptions { codec: Codec::named(name), ..VideoOptions::new() };
        for (file, request, words) in [
            ("a.webm", named("h264"), "a .webm holds vp9, av1, not h264"),
            ("a.mp4", named("hevc_nvenc").hdr(), "HDR10 comes in h265, vp9, av1"),
            ("a.mp4", named("h264_nvenc").bits(10), "h264_nvenc has eight bits"),
            ("a.gif", named("av1"), "--codec: a .gif has a codec of its own, not av1"),
            ("a.gif", none.clone().crf(20), "--crf: .gif has no quality setting"),
            ("a.gif", none.clone().bits(10), "eight bits a channel: no --hdr"),
            ("a.mov", named("prores").crf(20), "prores has no quality setting"),
            ("a.gif", none.clone().audio("a.wav"), "--audio: a .gif has no sound"),
            ("a.mp4", none.clone().limit(9), "--limit: the size of a .mp4 follows from --crf"),
            ("a.webp", named("webp").limit(9), "a codec of its own, not webp"),
        ] {
            let refused = request.codec_of(Path::new(file)).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }
}
