//! What a video is of: frames of a scene, those that lie in a folder and those that come, and what names its segments and the
//! film itself.

use super::arguments::{input_arguments, output_arguments};
use super::ffmpeg::{Ffmpeg, find_ffmpeg};
use super::high_bit_depth::HighBitDepth;
use super::settings::Settings;
use super::tag::{self, Tag};
use super::{alpha, high_bit_depth, mp4, y4m};
use crate::cancel::Cancel;
use crate::kernels::Isa;
use crate::math::hash::hex;
use crate::output::error::OutputError;
use crate::output::formats::Reader;
use crate::output::opaque::opaque;
use crate::output::store::folder::FrameFolder;
use crate::scene::Tone;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What has a video's name before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingVideo {
    /// Nothing.
    Nothing,
    /// This very video, whole.
    Same,
    /// A video of the same pictures: all, or some of them. The new one shows all that it does.
    Part,
    /// Anything else.
    Other,
}

/// What a video is of.
#[derive(Clone)]
pub struct VideoJob {
    /// Numbers of its frames, in its order.
    pub frames: Vec<u32>,
    /// Those that are this run's, where others make the rest.
    pub part: Option<BTreeSet<u32>>,
    /// Picture size, pixels.
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
    /// Sides of the video: even.
    pub fn sides(&self) -> (u32, u32) {
        (self.size.0.next_multiple_of(2), self.size.1.next_multiple_of(2))
    }
    /// The planes of a frame that lies in its folder: of what it shows, or in ten bits of its light.
    ///
    /// # Errors
    /// It is not there, not of that size, or has been through a tone curve and ten bits are asked for.
    pub fn planes(&self, number: u32, settings: &Settings) -> Result<Vec<u8>, OutputError> {
        let none = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let folder =
            self.source.as_ref().ok_or_else(|| OutputError::Read(PathBuf::from(number.to_string()), none()))?;
        let path = folder.pattern.path(number);
        let failed = |e| OutputError::Read(path.clone(), e);
        let sized = |shown: (u32, u32)| match (shown, self.size) {
            (shown, asked) if shown == asked => Ok(()),
            ((w, h), (width, height)) => {
                Err(failed(std::io::Error::other(format!("it is {w} x {h}, not {width} x {height}"))))
            }
        };
        let Some(HighBitDepth { range, .. }) = settings.high_bit_depth else {
            let shown = folder.format.shown(&path, self.tone, settings.has_alpha).map_err(failed)?;
            sized(shown.size)?;
            let isa = Isa::pick(None).map_err(|e| failed(std::io::Error::other(e.to_string())))?;
            if settings.has_alpha {
                return Ok(alpha::planes(isa, &shown.rgba, self.size));
            }
            let mut planes = Vec::new();
            isa.convert(&opaque(&shown.rgba), self.size.0, self.size.1, &mut planes);
            return Ok(planes);
        };
        let Reader::Light(read) = folder.format.read else {
            return Err(failed(std::io::Error::other("it holds no light, which a video of ten bits is made of")));
        };
        let light = read(&path).map_err(failed)?.image;
        sized((light.width(), light.height()))?;
        Ok(high_bit_depth::planes(&light, self.tone, range)?)
    }
    /// Names the files of these frames' time steps; None where they have none.
    pub fn steps_of(&self, frames: &[u32]) -> Option<String> {
        let marks: Vec<&str> = frames.iter().filter_map(|n| self.steps.get(n)).map(String::as_str).collect();
        (!marks.is_empty()).then(|| hash(marks.into_iter()))
    }
    /// Names its segments: the same for all runs that make the same ones.
    pub fn key(&self, settings: &Settings, ffmpeg: &Ffmpeg) -> String {
        let input = input_arguments(settings, self.sides());
        let parts = [
            &[self.scene.clone().unwrap_or_default(), ffmpeg.version.clone()],
            &input[..],
            &output_arguments(settings),
        ];
        hash(parts.concat().iter().map(String::as_str).chain([settings.segment.to_string().as_str()]))
    }
    /// What the video says of itself: what names its segments, and all of its frames.
    pub fn tag(&self, settings: &Settings, ffmpeg: &Ffmpeg) -> Tag {
        let numbers = self.frames.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let scene = self.scene.as_deref().unwrap_or("unknown");
        let steps = self.steps_of(&self.frames);
        let content = hash([self.key(settings, ffmpeg).as_str(), &numbers].into_iter().chain(steps.as_deref()));
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
    fn own_tag(&self, settings: &Settings) -> Option<Tag> {
        if settings.is_embedded {
            return Some(self.tag(settings, &embedded()));
        }
        Some(self.tag(settings, &find_ffmpeg(settings.ffmpeg.as_deref()).ok()?))
    }

    /// Whether the video is there already, made of just these frames with just these settings.
    pub fn is_made(&self, settings: &Settings) -> bool {
        self.existing(settings) == ExistingVideo::Same
    }

    /// What has the video's name.
    pub fn existing(&self, settings: &Settings) -> ExistingVideo {
        match std::fs::symlink_metadata(&settings.path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return ExistingVideo::Nothing,
            // Nobody knows which scene it is of, or a raw video says nothing of itself.
            _ if self.scene.is_none() || settings.is_raw() => return ExistingVideo::Other,
            _ => {}
        }
        let is_whole = !settings.container().has_index() || mp4::is_whole(&settings.path);
        // The built-in encoder writes the tag before it is known how long the film becomes.
        let is_long = !settings.is_embedded || mp4::frames(&settings.path) == Some(self.frames.len() as u64);
        match self.own_tag(settings).zip(tag::read(&settings.path, settings)) {
            Some((own, found)) if found == own && is_whole && is_long => ExistingVideo::Same,
            Some((own, found)) if found.is_covered_by(&own, &self.frames) => ExistingVideo::Part,
            _ => ExistingVideo::Other,
        }
    }

    /// Makes the video under its name, or under another one where somebody else's file has got that since the run began.
    ///
    /// # Errors
    /// Those of `make`; the name is taken.
    pub fn name(
        &self,
        settings: &Settings,
        make: impl FnOnce(&Path) -> Result<(), OutputError>,
    ) -> Result<PathBuf, OutputError> {
        let path = settings.path.clone();
        // A raw video says nothing of itself, so that nobody can tell whose it is.
        if self.replaces_others || settings.is_raw() || self.existing(settings) != ExistingVideo::Other {
            return make(&path).map(|()| path);
        }
        let other = partial(&path);
        make(&other)?;
        let what = format!("another file has got this name since the run began; the video is {}", other.display());
        Err(OutputError::Write(path, std::io::Error::new(std::io::ErrorKind::AlreadyExists, what)))
    }

    /// Removes the beginning that a run which was stopped has left, once the whole video is there.
    pub fn remove_beginning(&self, settings: &Settings) {
        let path = partial(&settings.path);
        if !path.is_file() {
            return;
        }
        let is_ours = match settings.is_raw() {
            true => y4m::is_beginning(&path, &settings.path).unwrap_or(false),
            false => self.own_tag(settings).zip(tag::read(&path, settings)).is_some_and(|(own, found)| {
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
fn hash<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize()[..16])
}

#[cfg(test)]
impl VideoJob {
    /// A job of so many frames, all of which are fed.
    pub fn fed(frames: u32, size: (u32, u32)) -> VideoJob {
        VideoJob {
            steps: Arc::default(),
            frames: (0..frames).collect(),
            part: None,
            size,
            source: None,
            tone: Tone::Soft,
            hidden: ".polyfly".into(),
            overwrite: false,
            replaces_others: false,
            cancel: Cancel::default(),
            scene: Some("a".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_those_of_the_same_frames_and_settings() {
        let job = VideoJob::fed(3, (31, 20));
        let ffmpeg = Ffmpeg { program: "ffmpeg".into(), version: "7".into() };
        let mine = Settings::of("x.mp4".into());
        let key = job.key(&mine, &ffmpeg);
        let machine = Settings { encoders: 9, waiting: 1, path: "y.mp4".into(), ..mine.clone() };
        let longer = VideoJob { frames: vec![0, 1, 2, 3], ..job.clone() };
        assert_eq!([job.key(&machine, &ffmpeg), longer.key(&mine, &ffmpeg)], [key.clone(), key.clone()]);
        assert_ne!(job.tag(&mine, &ffmpeg), longer.tag(&mine, &ffmpeg));
        for other in [
            Settings { crf: Some(20), ..mine.clone() },
            Settings { threads: 2, ..mine.clone() },
            Settings { segment: 30, ..mine.clone() },
            Settings { fps: 24.0, ..mine.clone() },
        ] {
            assert_ne!(job.key(&other, &ffmpeg), key, "{other:?}");
        }
        assert_ne!(VideoJob { scene: Some("b".into()), ..job.clone() }.key(&mine, &ffmpeg), key);
        assert_ne!(job.key(&mine, &Ffmpeg { version: "8".into(), ..ffmpeg }), key);
    }
}
