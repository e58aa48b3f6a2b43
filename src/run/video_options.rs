//! How a video is encoded, as a run asks for it, and what that means for a file of some name.

use super::memory_limit;
use crate::error::Error;
use crate::output::video::Settings;
use crate::output::video::codecs::{Codec, CodecWishes};
use crate::output::video::containers::{CONTAINERS, Container};
use crate::output::video::ffmpeg::find_ffmpeg;
use crate::output::video::high_bit_depth::{DynamicRange, HighBitDepth};
use crate::output::video::settings::is_raw;
use crate::quote::brief;
use crate::scene::{Scene, Tone};
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

impl VideoOptions {
    /// The usual ones.
    pub fn new() -> VideoOptions {
        VideoOptions::default()
    }
    /// Frames a second.
    #[must_use]
    pub fn fps(self, fps: f64) -> VideoOptions {
        VideoOptions { fps: Some(fps), ..self }
    }
    /// Compression, by the name that `--codec` takes.
    ///
    /// # Errors
    /// There is no such codec.
    pub fn codec(self, name: &str) -> Result<VideoOptions, Error> {
        let codec = Codec::named(name).ok_or_else(|| Error::Usage(format!("there is no codec `{}`", brief(name))))?;
        Ok(VideoOptions { codec: Some(codec), ..self })
    }
    /// Quality, lower is better.
    #[must_use]
    pub fn crf(self, crf: u32) -> VideoOptions {
        VideoOptions { crf: Some(crf), ..self }
    }
    /// The encoder's preset.
    #[must_use]
    pub fn preset(self, preset: impl Into<String>) -> VideoOptions {
        VideoOptions { preset: Some(preset.into()), ..self }
    }
    /// HDR10.
    #[must_use]
    pub fn hdr(self) -> VideoOptions {
        VideoOptions { hdr: true, ..self }
    }
    /// Bits of a channel: 8 or 10.
    #[must_use]
    pub fn bits(self, bits: u32) -> VideoOptions {
        VideoOptions { bits: Some(bits), ..self }
    }
    /// The ffmpeg program.
    #[must_use]
    pub fn ffmpeg(self, program: impl Into<PathBuf>) -> VideoOptions {
        VideoOptions { ffmpeg: Some(program.into()), ..self }
    }

    /// Whether the video has ten bits a channel.
    pub(crate) fn is_deep(&self) -> bool {
        self.hdr || self.bits == Some(10)
    }

    /// How to encode a video of that name, whose run may take `limit` bytes of memory if a limit is given.
    ///
    /// # Errors
    /// No video has such a name, or it cannot have what is asked of it.
    pub(crate) fn settings(&self, path: PathBuf, fps: f64, limit: Option<u64>) -> Result<Settings, Error> {
        if std::path::absolute(&path).is_ok_and(|path| path.to_str().is_none()) {
            let name = path.display();
            return Err(Error::Usage(format!(
                "{name}: the whole path is not UTF-8, in which encoders are told of names"
            )));
        }
        let wishes = CodecWishes { codec: self.codec, bits: self.bits, is_hdr: self.hdr, has_crf: self.crf.is_some() };
        let codec = Codec::choose(&path, wishes).map_err(Error::Usage)?;
        let is_mp4 = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mp4")) && codec.name == "h264";
        let range = if self.hdr { DynamicRange::Hdr } else { DynamicRange::Standard };
        let high_bit_depth = self.is_deep().then_some(HighBitDepth { range, tone: Tone::Soft });
        // Where somebody names an ffmpeg, it is that one or none.
        let may_be_embedded = high_bit_depth.is_none() && cfg!(feature = "h264") && is_mp4 && self.ffmpeg.is_none();
        let share = memory_limit::limit(limit).map(|bytes| usize::try_from(bytes / VIDEO_SHARE).unwrap_or(usize::MAX));
        Ok(Settings {
            high_bit_depth,
            is_embedded: may_be_embedded && find_ffmpeg(None).is_err(),
            codec,
            fps,
            crf: self.crf,
            preset: self.preset.clone(),
            ffmpeg: self.ffmpeg.clone(),
            timeout: self.timeout,
            segment: self.segment,
            threads: self.encoder_threads,
            encoders: match self.encoders {
                0 => std::thread::available_parallelism().map_or(1, usize::from).div_ceil(2),
                n => n as usize,
            },
            encoder_memory: share.filter(|_| self.encoders == 0),
            waiting: self.queue_bytes.min(share.unwrap_or(usize::MAX)),
            ..Settings::of(path)
        })
    }

    /// The same for the video that a scene names, if it names one.
    pub(crate) fn settings_of(&self, scene: &Scene, limit: Option<u64>) -> Result<Option<Settings>, Error> {
        let Some(path) = scene.output.video.clone() else { return Ok(None) };
        check_name("--video", &path)?;
        let settings = self.settings(path, self.fps.unwrap_or(scene.output.fps), limit)?;
        let high_bit_depth = settings.high_bit_depth.map(|high| HighBitDepth { tone: scene.film.tone, ..high });
        let has_alpha = scene.world.sky.transparent && settings.can_have_alpha();
        Ok(Some(Settings { high_bit_depth, has_alpha, ..settings }))
    }
}

// What a video may take of the memory: its encoders where nobody has said how many they are, and the frames that wait for one.
const VIDEO_SHARE: u64 = 4;

/// Whether a video can have that name; the message names the flag.
pub(crate) fn check_name(flag: &str, path: &Path) -> Result<(), Error> {
    if is_raw(path) || Container::of(path).is_some() {
        return Ok(());
    }
    let all = CONTAINERS.map(|c| format!(".{}", c.extension)).join(", ");
    Err(Error::Usage(format!("{flag}: `{}` is no video: its name ends in {all} or .y4m", path.display())))
}
