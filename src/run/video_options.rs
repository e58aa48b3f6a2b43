//! Resolves a user's video options for a file name.

use super::memory_limit;
use crate::assets::source::open_regular;
use crate::error::Error;
use crate::language::msg;
use crate::math::hash::{hex, of_reader};
use crate::output::video::codecs::Codec;
use crate::output::video::containers::{CONTAINERS, Container};
use crate::output::video::ffmpeg::find_ffmpeg;
use crate::output::video::high_bit_depth::DynamicRange;
use crate::output::video::settings::is_raw;
use crate::output::video::spherical::FilmViews;
use crate::output::video::{Settings, VideoOptions};
use crate::quote::brief;
use crate::scene::Scene;
use sha2::Digest;
use std::path::{Path, PathBuf};

impl VideoOptions {
    /// The default options.
    pub fn new() -> VideoOptions {
        VideoOptions::default()
    }
    /// The codec, by its name in `--codec`.
    ///
    /// # Errors
    /// The codec does not exist.
    pub fn codec(self, name: &str) -> Result<VideoOptions, Error> {
        let codec =
            Codec::named(name).ok_or_else(|| Error::usage(msg!("there is no codec `{name}`", name = brief(name))))?;
        Ok(VideoOptions { codec: Some(codec), ..self })
    }

    /// Whether the video has ten bits per channel.
    pub(crate) fn is_deep(&self) -> bool {
        self.hdr || self.bits == Some(10)
    }

    /// The encoder's settings for a video at this path. `limit` is the memory limit of the run, bytes.
    pub(crate) fn settings(&self, path: PathBuf, fps: f64, limit: Option<u64>) -> Result<Settings, Error> {
        if std::path::absolute(&path).is_ok_and(|path| path.to_str().is_none()) {
            return Err(Error::usage(msg!(
                "{name}: the full path is not UTF-8, which encoders require",
                name = path.display()
            )));
        }
        let of_encoders = [
            ("--codec", self.codec.is_some()),
            ("--crf", self.crf.is_some()),
            ("--audio", self.audio.is_some()),
            ("--limit", self.limit.is_some()),
        ];
        if let Some((flag, _)) = of_encoders.into_iter().find(|(_, is_given)| *is_given && is_raw(&path)) {
            return Err(Error::usage(msg!(
                "{name} is raw video, and {flag} is of an encoder: leave it out, or name a film such as .mp4",
                name = path.display(),
                flag
            )));
        }
        let codec = self.codec_of(&path).map_err(Error::Usage)?;
        let is_mp4 = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mp4")) && codec.name == "h264";
        let range = if self.hdr { DynamicRange::Hdr } else { DynamicRange::Standard };
        let high_bit_depth = self.is_deep().then_some(range);
        // The built-in encoder has no sound. If the user names an ffmpeg, no other encoder is used.
        let needs_ffmpeg = self.ffmpeg.is_some() || self.audio.is_some();
        let may_be_embedded = high_bit_depth.is_none() && cfg!(feature = "h264") && is_mp4 && !needs_ffmpeg;
        let share = memory_limit::limit(limit).map(|bytes| usize::try_from(bytes / VIDEO_SHARE).unwrap_or(usize::MAX));
        Ok(Settings {
            high_bit_depth,
            is_embedded: may_be_embedded && find_ffmpeg(None).is_err(),
            codec,
            fps,
            encode: self.encode.unwrap_or_default(),
            options: self.clone(),
            music: self.audio.as_deref().map(|file| {
                let hash = open_regular(file).and_then(of_reader);
                hash.map_or_else(|_| file.display().to_string(), |hash| hex(&hash.finalize()))
            }),
            encoders: match self.encoders {
                0 => std::thread::available_parallelism().map_or(1, usize::from).div_ceil(2),
                n => n as usize,
            },
            encoder_memory: share.filter(|_| self.encoders == 0),
            waiting: self.queue_bytes.min(share.unwrap_or(usize::MAX)),
            ..Settings::of(path)
        })
    }

    /// The settings of the scene's own video, if it has one.
    pub(crate) fn settings_of(&self, scene: &Scene, limit: Option<u64>) -> Result<Option<Settings>, Error> {
        let Some(path) = scene.output.video.clone() else { return Ok(None) };
        check_name("--video", &path)?;
        let settings = self.settings(path, self.fps.unwrap_or(scene.output.fps), limit)?;
        let has_alpha = scene.world.sky.transparent && settings.can_have_alpha();
        Ok(Some(Settings { tone: scene.film.tone, views: FilmViews::of(scene), has_alpha, ..settings }))
    }
}

// The fraction of memory, as a divisor, for encoders whose number is not given and for frames that wait for them.
const VIDEO_SHARE: u64 = 4;

/// Fails if polyfly writes no video with the extension of the path; the message names the flag.
pub(crate) fn check_name(flag: &str, path: &Path) -> Result<(), Error> {
    if is_raw(path) || Container::of(path).is_some() {
        return Ok(());
    }
    let all = CONTAINERS.map(|c| format!(".{}", c.extension)).join(", ");
    let what = path
        .extension()
        .map_or_else(|| msg!("has no extension"), |e| msg!("is a `.{extension}` file", extension = e.display()));
    Err(Error::usage(msg!(
        "{flag}: `{name}` {what}: expected a name that ends in {all} or .y4m",
        flag,
        name = path.display(),
        what,
        all
    )))
}
