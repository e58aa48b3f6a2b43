//! What the options of a video mean for a file of some name.

use super::memory_limit;
use crate::error::Error;
use crate::output::video::codecs::{Codec, CodecWishes};
use crate::output::video::containers::{CONTAINERS, Container};
use crate::output::video::ffmpeg::find_ffmpeg;
use crate::output::video::high_bit_depth::{DynamicRange, HighBitDepth};
use crate::output::video::settings::is_raw;
use crate::output::video::{Settings, VideoOptions};
use crate::quote::brief;
use crate::scene::{Scene, Tone};
use std::path::{Path, PathBuf};

impl VideoOptions {
    /// The usual ones.
    pub fn new() -> VideoOptions {
        VideoOptions::default()
    }
    /// Compression, by the name that `--codec` takes.
    ///
    /// # Errors
    /// There is no such codec.
    pub fn codec(self, name: &str) -> Result<VideoOptions, Error> {
        let codec = Codec::named(name).ok_or_else(|| Error::Usage(format!("there is no codec `{}`", brief(name))))?;
        Ok(VideoOptions { codec: Some(codec), ..self })
    }

    /// Whether the video has ten bits a channel.
    pub(crate) fn is_deep(&self) -> bool {
        self.hdr || self.bits == Some(10)
    }

    /// How to encode a video of that name, whose run may take `limit` bytes of memory if a limit is given.
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
            options: self.clone(),
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
