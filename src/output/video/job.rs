//! A video to make: its frames, rendered or existing, and the names of its segments and its tag.

use super::arguments::{input_arguments, output_arguments};
use super::ffmpeg::Ffmpeg;
use super::settings::Settings;
use super::tag::{self, Tag};
use super::{high_bit_depth, mp4, y4m};
use crate::cancel::Cancel;
use crate::language::msg;
use crate::math::hash::{hex, of_texts};
use crate::output::error::{NameFile, OutputError};
use crate::output::formats::Reader;
use crate::output::sink::RenderedFrame;
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What exists under a video's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingVideo {
    Nothing,
    /// The same complete video.
    Same,
    /// A video of some or all of the same pictures. The new one shows all of them.
    Part,
    Other,
}

#[derive(Clone)]
pub struct VideoJob {
    /// The path and the encoding.
    pub settings: Settings,
    /// The numbers of the video's frames, in order.
    pub frames: Vec<u32>,
    /// The frames of this run, if other runs make the rest.
    pub part: Option<BTreeSet<u32>>,
    pub size: (u32, u32),
    /// The folder of frames that are not fed; None if all frames are fed.
    pub source: Option<FrameFolder>,
    /// The hidden folder of the segments.
    pub hidden: PathBuf,
    /// Encodes existing segments again.
    pub overwrite: bool,
    /// Replaces any file of the video's name.
    pub replaces_others: bool,
    /// Once it is stopped, existing frames are not read any more.
    pub cancel: Cancel,
    /// Fingerprints of the particle files, by frame.
    pub steps: Arc<BTreeMap<u32, String>>,
    /// The hash of the scene; None if the scene is unknown, and segments of other runs are not reused.
    pub scene: Option<String>,
}

impl VideoJob {
    /// A video of fed frames of an unknown scene. It replaces an existing file.
    pub fn new(settings: Settings, frames: Vec<u32>, size: (u32, u32)) -> VideoJob {
        VideoJob {
            hidden: hidden::beside(&settings.path),
            settings,
            frames,
            part: None,
            size,
            source: None,
            overwrite: true,
            replaces_others: true,
            cancel: Cancel::new(),
            steps: Arc::default(),
            scene: None,
        }
    }

    /// Even sides of the video.
    pub fn sides(&self) -> (u32, u32) {
        (self.size.0.next_multiple_of(2), self.size.1.next_multiple_of(2))
    }

    /// The maximum number of concurrent encoders, limited by the number of segments and by memory.
    pub fn encoder_count(&self) -> usize {
        let settings = &self.settings;
        let room = settings.encoder_memory.map_or(usize::MAX, |bytes| bytes / settings.encoder_bytes(self.sides()));
        settings.encoders.min(room).clamp(1, self.frames.len().div_ceil(settings.options.segment as usize).max(1))
    }

    /// The maximum number of frames that wait for an encoder: what the encoders and one more take in two rounds, or
    /// fewer if memory is short. More frames would not speed up the encoding.
    pub fn max_waiting(&self) -> usize {
        let useful = 2 * self.settings.options.segment as usize * (self.encoder_count() + 1);
        let frame = self.settings.frame_bytes(self.sides()).max(1);
        useful.min(self.frames.len()).min(self.settings.waiting / frame).max(2)
    }

    /// Maximum memory of the encoders and of waiting frames, bytes. A video in one piece takes almost none.
    pub fn peak_memory(&self) -> u64 {
        let (frame, encoder) = (self.settings.frame_bytes(self.sides()), self.settings.encoder_bytes(self.sides()));
        match self.settings.is_single() {
            true => 0,
            false => (self.max_waiting() * frame + self.encoder_count() * encoder) as u64,
        }
    }

    /// The planes of an existing frame, from its pixels or, for ten bits, from its linear light.
    pub fn planes(&self, number: u32) -> Result<Vec<u8>, OutputError> {
        let none = || OutputError::Read(number.to_string().into(), io::ErrorKind::NotFound.into());
        let folder = self.source.as_ref().ok_or_else(none)?;
        let path = folder.pattern.path(number);
        let failed = |what: String| OutputError::Read(path.clone(), io::Error::other(what));
        let check = |(w, h): (u32, u32)| match self.size {
            (width, height) if (w, h) != (width, height) => {
                Err(failed(format!("it is {w} x {h}, not {width} x {height}")))
            }
            _ => Ok(()),
        };
        if let Some(range) = self.settings.high_bit_depth {
            let Reader::Light(read) = folder.format.read else {
                return Err(failed("it holds no light, which a video of ten bits is made of".into()));
            };
            let light = read(&path).reading(&path)?.image;
            check((light.width(), light.height()))?;
            return Ok(high_bit_depth::planes(&light, self.settings.tone, range)?);
        }
        let shown = folder.format.shown(&path, self.settings.tone, self.settings.has_alpha).reading(&path)?;
        check(shown.size)?;
        Ok(self.settings.planes(&RenderedFrame::of_rgba8(number, shown.size, &shown.rgba))?.into_owned())
    }

    /// A hash of the particle files of these frames; None if they have none.
    pub fn steps_of(&self, frames: &[u32]) -> Option<String> {
        let marks: Vec<&str> = frames.iter().filter_map(|n| self.steps.get(n)).map(String::as_str).collect();
        (!marks.is_empty()).then(|| hash(marks))
    }

    /// The name of the segments. Runs that make the same segments share it.
    pub fn key(&self, ffmpeg: &Ffmpeg) -> String {
        let (settings, segment) = (&self.settings, self.settings.options.segment.to_string());
        let words = [input_arguments(settings, self.sides()), output_arguments(settings)].concat();
        let texts = [self.scene.as_deref().unwrap_or_default(), &ffmpeg.version];
        hash(texts.into_iter().chain(words.iter().map(String::as_str)).chain([segment.as_str()]))
    }

    /// The tag of the video: the key of its segments, and all of its frames.
    pub fn tag(&self, ffmpeg: &Ffmpeg) -> Tag {
        let numbers = self.frames.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let scene = self.scene.as_deref().unwrap_or("unknown");
        let steps = self.steps_of(&self.frames);
        // What is added when segments are joined.
        let limit = self.settings.options.limit.map(|limit| limit.to_string());
        let content = [Some(self.key(ffmpeg)), Some(numbers), steps.clone(), limit, self.settings.music.clone()];
        let content = hash(content.iter().flatten().map(String::as_str));
        // Other particle files count as another scene.
        let steps = steps.map_or_else(String::new, |steps| format!("-{steps:.16}"));
        Tag {
            version: env!("CARGO_PKG_VERSION").into(),
            scene: format!("{scene:.16}{steps}"),
            frames: tag::name(&self.frames),
            content,
            is_beginning: false,
        }
    }

    /// The encoder that is found here, if there is one. The built-in encoder and that of raw videos have a name in tags
    /// alone.
    pub fn encoder(&self) -> Option<Ffmpeg> {
        let built_in = |name: &str| Some(Ffmpeg { program: PathBuf::new(), version: name.into() });
        match &self.settings {
            raw if raw.is_raw() => built_in("none"),
            settings if settings.is_embedded => built_in("OpenH264"),
            settings => settings.find_ffmpeg().ok(),
        }
    }

    /// The tag for the encoder that is found here; None if there is no encoder.
    pub fn own_tag(&self) -> Option<Tag> {
        self.encoder().map(|encoder| self.tag(&encoder))
    }

    /// The tag of a raw video, which journals hold; None for other videos, which hold it themselves.
    pub fn raw_tag(&self) -> Option<Tag> {
        self.settings.is_raw().then(|| self.own_tag()).flatten()
    }

    /// Whether the same video already exists: same frames, same settings.
    pub fn is_made(&self) -> bool {
        self.existing() == ExistingVideo::Same
    }

    pub fn existing(&self) -> ExistingVideo {
        let settings = &self.settings;
        match std::fs::symlink_metadata(&settings.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return ExistingVideo::Nothing,
            // The scene is unknown, or a raw video has no tag.
            _ if self.scene.is_none() || settings.is_raw() => return ExistingVideo::Other,
            _ => {}
        }
        // The built-in encoder writes the tag before the film is complete.
        let is_whole =
            !settings.container().has_index() || mp4::frames(&settings.path) == Some(self.frames.len() as u64);
        match self.own_tag().zip(tag::read(&settings.path, settings)) {
            Some((own, found)) if found == own && is_whole => ExistingVideo::Same,
            Some((own, found)) if found.is_covered_by(&own, &self.frames) => ExistingVideo::Part,
            _ => ExistingVideo::Other,
        }
    }

    /// Makes the video at its path, or beside it if another file has got the name since the run began.
    pub fn name(&self, make: impl FnOnce(&Path) -> Result<(), OutputError>) -> Result<PathBuf, OutputError> {
        let path = self.settings.path.clone();
        // A raw video has no tag, so nobody can tell whose it is.
        if self.replaces_others || self.settings.is_raw() || self.existing() != ExistingVideo::Other {
            return make(&path).map(|()| path);
        }
        let other = self.partial_path(|_| false);
        make(&other)?;
        let what = format!("another file has got this name since the run began; the video is {}", other.display());
        Err(OutputError::Write(path, io::Error::new(io::ErrorKind::AlreadyExists, what)))
    }

    /// The path for the beginning of this video, `NAME.partial.EXT`, with a number if that is a file of others. `is_mine`
    /// recognizes beginnings that have no tag.
    pub fn partial_path(&self, is_mine: impl Fn(&Path) -> bool) -> PathBuf {
        let is_free =
            |path: &Path| std::fs::symlink_metadata(path).is_err() || self.is_beginning(path) || is_mine(path);
        let mut number = 1;
        loop {
            let path = partial(&self.settings.path, number);
            if is_free(&path) {
                return path;
            }
            number += 1;
        }
    }

    // Whether the tag of a file says that it is the beginning of this video.
    fn is_beginning(&self, path: &Path) -> bool {
        let settings = &self.settings;
        self.own_tag().zip(tag::read(path, settings)).is_some_and(|(own, found)| {
            let is_short = found.is_beginning || settings.is_embedded;
            is_short && found.is_covered_by(&own, &self.frames)
        })
    }

    /// Removes the partial videos of interrupted runs, once the complete video exists.
    pub fn remove_beginning(&self) {
        let whole = &self.settings.path;
        for path in (1..).map(|number| partial(whole, number)).take_while(|path| path.is_file()) {
            let is_ours = match self.settings.is_raw() {
                true => y4m::is_beginning(&path, whole).unwrap_or(false),
                false => self.is_beginning(&path),
            };
            if is_ours {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

// The path of a partial video. All but the first have a number.
fn partial(path: &Path, number: u32) -> PathBuf {
    let extension = path.extension().map_or_else(|| "mp4".into(), |e| e.to_string_lossy().into_owned());
    let number = if number == 1 { String::new() } else { format!("-{number}") };
    path.with_extension(format!("partial{number}.{extension}"))
}

/// Adds the path of the frames that were kept to an error.
pub fn kept(cause: OutputError, frames: u64, path: &Path) -> OutputError {
    cause.reworded(|what| {
        msg!("{why}; its first {frames} frames are kept in {path}", why = what, frames, path = path.display())
    })
}

// The first sixteen bytes of SHA-256, in hexadecimal.
fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    hex(&of_texts(texts)[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::video::codecs::Codec;
    use crate::output::video::encode::Encode;
    use crate::output::video::options::VideoOptions;

    // A job of this many frames, all of which are fed.
    fn fed(settings: &Settings, frames: u32, size: (u32, u32)) -> VideoJob {
        VideoJob { scene: Some("a".into()), ..VideoJob::new(settings.clone(), (0..frames).collect(), size) }
    }

    #[test]
    fn segments_are_those_of_the_same_frames_and_settings() {
        let mine = Settings::of("x.mp4".into());
        let job = fed(&mine, 3, (31, 20));
        let ffmpeg = Ffmpeg { program: "ffmpeg".into(), version: "7".into() };
        let key = job.key(&ffmpeg);
        let with = |settings: Settings| VideoJob { settings, ..job.clone() };
        let machine = with(Settings { encoders: 9, waiting: 1, path: "y.mp4".into(), ..mine.clone() });
        let longer = fed(&mine, 4, (31, 20));
        assert_eq!([machine.key(&ffmpeg), longer.key(&ffmpeg)], [key.clone(), key.clone()]);
        assert_ne!(job.tag(&ffmpeg), longer.tag(&ffmpeg));
        for other in [
            Settings { options: VideoOptions::new().crf(21), ..mine.clone() },
            Settings { encode: Encode::Small, ..mine.clone() },
            Settings { options: VideoOptions { encoder_threads: 2, ..VideoOptions::new() }, ..mine.clone() },
            Settings { options: VideoOptions { segment: 30, ..VideoOptions::new() }, ..mine.clone() },
            Settings { fps: 24.0, ..mine.clone() },
        ] {
            assert_ne!(with(other.clone()).key(&ffmpeg), key, "{other:?}");
        }
        assert_ne!(VideoJob { scene: Some("b".into()), ..job.clone() }.key(&ffmpeg), key);
        let webp = with(Settings::of("x.webp".into()));
        let packed = with(Settings { encode: Encode::Small, ..Settings::of("x.webp".into()) });
        assert_ne!(webp.tag(&ffmpeg), packed.tag(&ffmpeg));
        assert_ne!(job.key(&Ffmpeg { version: "8".into(), ..ffmpeg }), key);
    }

    #[test]
    fn encoders_have_room_in_the_memory() {
        let options = VideoOptions { encoder_threads: 4, ..VideoOptions::new() };
        let mine = Settings { encoders: 16, options, ..Settings::of("x.mp4".into()) };
        let long = fed(&mine, 3000, (1240, 960));
        let each = mine.encoder_bytes(long.sides());
        // With four threads, ffmpeg 7.0 takes 171 MiB and ffmpeg 5.1 takes 207 MiB.
        assert!((200 << 20..300 << 20).contains(&each), "{each}");
        let h265 = Codec::named("h265").unwrap();
        assert!(Settings { codec: h265, ..mine.clone() }.encoder_bytes(long.sides()) > each);
        let count = |frames, memory| {
            fed(&Settings { encoder_memory: memory, ..mine.clone() }, frames, long.size).encoder_count()
        };
        assert_eq!([None, Some(3 * each), Some(1)].map(|memory| count(3000, memory)), [16, 3, 1]);
        assert_eq!(count(59, None), 1);
        // Waiting frames are added.
        assert!(long.peak_memory() > 16 * each as u64);
    }
}
