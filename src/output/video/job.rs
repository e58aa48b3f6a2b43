//! What a video is of: frames of a scene, those that lie in a folder and those that come, and what names its segments and the
//! film itself.

use super::arguments::{input_arguments, output_arguments};
use super::ffmpeg::Ffmpeg;
use super::high_bit_depth::HighBitDepth;
use super::settings::Settings;
use super::tag::{self, Tag};
use super::{high_bit_depth, mp4, y4m};
use crate::cancel::Cancel;
use crate::math::hash::{hex, of_texts};
use crate::output::error::{NameFile, OutputError};
use crate::output::formats::Reader;
use crate::output::sink::RenderedFrame;
use crate::output::store::folder::FrameFolder;
use crate::output::store::hidden;
use crate::scene::Tone;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What has a video's name before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingVideo {
    Nothing,
    /// This very video, whole.
    Same,
    /// A video of the same pictures: all, or some of them. The new one shows all that it does.
    Part,
    Other,
}

/// A video to make.
#[derive(Clone)]
pub struct VideoJob {
    /// How it is encoded, and its name.
    pub settings: Settings,
    /// Numbers of its frames, in its order.
    pub frames: Vec<u32>,
    /// Those that are this run's, where others make the rest.
    pub part: Option<BTreeSet<u32>>,
    pub size: (u32, u32),
    /// Where frames lie that are not fed; None: all are.
    pub source: Option<FrameFolder>,
    /// The tone curve of those that hold light.
    pub tone: Tone,
    /// The hidden folder that segments go to.
    pub hidden: PathBuf,
    /// Segments that are there already are made anew.
    pub overwrite: bool,
    /// Whatever has the video's name may go.
    pub replaces_others: bool,
    /// Once it is stopped, frames that lie in their folder are not read any more.
    pub cancel: Cancel,
    /// What tells the files of their time steps from others, by frame.
    pub steps: Arc<BTreeMap<u32, String>>,
    /// Names the scene that the frames are of; None where nobody knows, and segments of others are none of this video's.
    pub scene: Option<String>,
}

impl VideoJob {
    /// A video whose frames are all fed, of nobody knows which scene. It replaces what has its name.
    pub fn new(settings: Settings, frames: Vec<u32>, size: (u32, u32)) -> VideoJob {
        VideoJob {
            hidden: hidden::beside(&settings.path),
            settings,
            frames,
            part: None,
            size,
            source: None,
            tone: Tone::Soft,
            overwrite: true,
            replaces_others: true,
            cancel: Cancel::new(),
            steps: Arc::default(),
            scene: None,
        }
    }

    /// Sides of the video: even.
    pub fn sides(&self) -> (u32, u32) {
        (self.size.0.next_multiple_of(2), self.size.1.next_multiple_of(2))
    }

    /// How many encoders work side by side at most: no more than there are segments, nor than have room in the memory for them.
    pub fn encoder_count(&self) -> usize {
        let settings = &self.settings;
        let room = settings.encoder_memory.map_or(usize::MAX, |bytes| bytes / settings.encoder_bytes(self.sides()));
        settings.encoders.min(room).clamp(1, self.frames.len().div_ceil(settings.options.segment as usize).max(1))
    }

    /// How many frames may wait for an encoder: as many as the encoders and one more take in two turns, for those that wait longer
    /// make nothing faster; fewer where the memory for them is less.
    pub fn max_waiting(&self) -> usize {
        let useful = 2 * self.settings.options.segment as usize * (self.encoder_count() + 1);
        let frame = self.settings.frame_bytes(self.sides()).max(1);
        useful.min(self.frames.len()).min(self.settings.waiting / frame).max(2)
    }

    /// Most memory of encoders, and of frames that wait for one, bytes. A video in one piece takes next to none.
    pub fn peak_memory(&self) -> u64 {
        let (frame, encoder) = (self.settings.frame_bytes(self.sides()), self.settings.encoder_bytes(self.sides()));
        match self.settings.is_single() {
            true => 0,
            false => (self.max_waiting() * frame + self.encoder_count() * encoder) as u64,
        }
    }

    /// The planes of a frame that lies in its folder: of what it shows, or in ten bits of its light.
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
        if let Some(HighBitDepth { range, .. }) = self.settings.high_bit_depth {
            let Reader::Light(read) = folder.format.read else {
                return Err(failed("it holds no light, which a video of ten bits is made of".into()));
            };
            let light = read(&path).reading(&path)?.image;
            check((light.width(), light.height()))?;
            return Ok(high_bit_depth::planes(&light, self.tone, range)?);
        }
        let shown = folder.format.shown(&path, self.tone, self.settings.has_alpha).reading(&path)?;
        check(shown.size)?;
        Ok(self.settings.planes(&RenderedFrame::of_rgba8(number, shown.size, &shown.rgba))?.into_owned())
    }

    /// Names the files of these frames' time steps; None where they have none.
    pub fn steps_of(&self, frames: &[u32]) -> Option<String> {
        let marks: Vec<&str> = frames.iter().filter_map(|n| self.steps.get(n)).map(String::as_str).collect();
        (!marks.is_empty()).then(|| hash(marks))
    }

    /// Names its segments: the same for all runs that make the same ones.
    pub fn key(&self, ffmpeg: &Ffmpeg) -> String {
        let (settings, segment) = (&self.settings, self.settings.options.segment.to_string());
        let words = [input_arguments(settings, self.sides()), output_arguments(settings)].concat();
        let texts = [self.scene.as_deref().unwrap_or_default(), &ffmpeg.version];
        hash(texts.into_iter().chain(words.iter().map(String::as_str)).chain([segment.as_str()]))
    }

    /// What the video says of itself: what names its segments, and all of its frames.
    pub fn tag(&self, ffmpeg: &Ffmpeg) -> Tag {
        let numbers = self.frames.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let scene = self.scene.as_deref().unwrap_or("unknown");
        let steps = self.steps_of(&self.frames);
        let content = hash([self.key(ffmpeg).as_str(), &numbers].into_iter().chain(steps.as_deref()));
        // Whose files of time steps are others is another scene here.
        let steps = steps.map_or_else(String::new, |steps| format!("-{steps:.16}"));
        Tag {
            version: env!("CARGO_PKG_VERSION").into(),
            scene: format!("{scene:.16}{steps}"),
            frames: tag::name(&self.frames),
            content,
            is_beginning: false,
        }
    }

    // The same by whatever encodes here; None where nothing does.
    fn own_tag(&self) -> Option<Tag> {
        match self.settings.is_embedded {
            true => Some(self.tag(&embedded())),
            false => Some(self.tag(&self.settings.find_ffmpeg().ok()?)),
        }
    }

    /// Whether the video is there already, made of just these frames with just these settings.
    pub fn is_made(&self) -> bool {
        self.existing() == ExistingVideo::Same
    }

    /// What has the video's name.
    pub fn existing(&self) -> ExistingVideo {
        let settings = &self.settings;
        match std::fs::symlink_metadata(&settings.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return ExistingVideo::Nothing,
            // Nobody knows which scene it is of, or a raw video says nothing of itself.
            _ if self.scene.is_none() || settings.is_raw() => return ExistingVideo::Other,
            _ => {}
        }
        let is_whole = !settings.container().has_index() || mp4::is_whole(&settings.path);
        // The built-in encoder writes the tag before it is known how long the film becomes.
        let is_long = !settings.is_embedded || mp4::frames(&settings.path) == Some(self.frames.len() as u64);
        match self.own_tag().zip(tag::read(&settings.path, settings)) {
            Some((own, found)) if found == own && is_whole && is_long => ExistingVideo::Same,
            Some((own, found)) if found.is_covered_by(&own, &self.frames) => ExistingVideo::Part,
            _ => ExistingVideo::Other,
        }
    }

    /// Makes the video under its name, or under another one where somebody else's file has got that since the run began.
    pub fn name(&self, make: impl FnOnce(&Path) -> Result<(), OutputError>) -> Result<PathBuf, OutputError> {
        let path = self.settings.path.clone();
        // A raw video says nothing of itself, so that nobody can tell whose it is.
        if self.replaces_others || self.settings.is_raw() || self.existing() != ExistingVideo::Other {
            return make(&path).map(|()| path);
        }
        let other = partial(&path);
        make(&other)?;
        let what = format!("another file has got this name since the run began; the video is {}", other.display());
        Err(OutputError::Write(path, io::Error::new(io::ErrorKind::AlreadyExists, what)))
    }

    /// Removes the beginning that a run which was stopped has left, once the whole video is there.
    pub fn remove_beginning(&self) {
        let settings = &self.settings;
        let path = partial(&settings.path);
        if !path.is_file() {
            return;
        }
        let is_ours = match settings.is_raw() {
            true => y4m::is_beginning(&path, &settings.path).unwrap_or(false),
            false => self.own_tag().zip(tag::read(&path, settings)).is_some_and(|(own, found)| {
                (found.is_beginning || settings.is_embedded) && found.is_covered_by(&own, &self.frames)
            }),
        };
        if is_ours {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The name of a video that is not whole.
pub fn partial(path: &Path) -> PathBuf {
    let extension = path.extension().map_or_else(|| "mp4".into(), |e| e.to_string_lossy().into_owned());
    path.with_extension(format!("partial.{extension}"))
}

/// A failure that names what is kept all the same.
pub fn kept(cause: OutputError, frames: u64, path: &Path) -> OutputError {
    cause.reworded(|what| format!("{what}; its first {frames} frames are kept in {}", path.display()))
}

/// The encoder that is built in, as it stands in tags.
pub fn embedded() -> Ffmpeg {
    Ffmpeg { program: PathBuf::new(), version: "OpenH264".into() }
}

// Sixteen bytes of SHA-256, in hexadecimal.
fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    hex(&of_texts(texts)[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::video::codecs::Codec;
    use crate::output::video::options::VideoOptions;

    // A job of so many frames, all of which are fed.
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
            Settings { options: VideoOptions::new().crf(20), ..mine.clone() },
            Settings { options: VideoOptions { encoder_threads: 2, ..VideoOptions::new() }, ..mine.clone() },
            Settings { options: VideoOptions { segment: 30, ..VideoOptions::new() }, ..mine.clone() },
            Settings { fps: 24.0, ..mine.clone() },
        ] {
            assert_ne!(with(other.clone()).key(&ffmpeg), key, "{other:?}");
        }
        assert_ne!(VideoJob { scene: Some("b".into()), ..job.clone() }.key(&ffmpeg), key);
        assert_ne!(job.key(&Ffmpeg { version: "8".into(), ..ffmpeg }), key);
    }

    #[test]
    fn encoders_have_room_in_the_memory() {
        let options = VideoOptions { encoder_threads: 4, ..VideoOptions::new() };
        let mine = Settings { encoders: 16, options, ..Settings::of("x.mp4".into()) };
        let long = fed(&mine, 3000, (1240, 960));
        let each = mine.encoder_bytes(long.sides());
        // What ffmpeg 7.0 and 5.1 take with four threads is 171 and 207 MiB.
        assert!((200 << 20..300 << 20).contains(&each), "{each}");
        let h265 = Codec::named("h265").unwrap();
        assert!(Settings { codec: h265, ..mine.clone() }.encoder_bytes(long.sides()) > each);
        let count = |frames, memory| {
            fed(&Settings { encoder_memory: memory, ..mine.clone() }, frames, long.size).encoder_count()
        };
        assert_eq!([None, Some(3 * each), Some(1)].map(|memory| count(3000, memory)), [16, 3, 1]);
        assert_eq!(count(59, None), 1);
        // Frames that wait come on top.
        assert!(long.peak_memory() > 16 * each as u64);
    }
}
