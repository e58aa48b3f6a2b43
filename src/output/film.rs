//! What a video is of: frames of a scene, those that lie in a folder and those that come, and what names its segments and the
//! film itself.

use super::container::Join;
use super::ffmpeg::{Ffmpeg, find_ffmpeg, url, words};
use super::folder::FrameFolder;
use super::formats::Reader;
use super::video::{Deep, Settings, input_arguments, output_arguments};
use super::{OutputError, deep, hex, mp4, opaque};
use crate::kernels::Isa;
use crate::scene::Tone;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a video is of.
#[derive(Clone)]
pub struct Film {
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
    pub is_anew: bool,
    /// Once it is set, frames that lie in their folder are not read any more.
    pub stop: Arc<AtomicBool>,
    /// What tells the files of their time steps from others, by frame.
    pub steps: Arc<BTreeMap<u32, String>>,
    /// Names the scene that the frames are of; None where nobody knows, and segments of others are none of this video's.
    pub scene: Option<String>,
}

impl Film {
    /// Sides of the video: even.
    pub fn sides(&self) -> (u32, u32) {
        (self.size.0.next_multiple_of(2), self.size.1.next_multiple_of(2))
    }
    /// The planes of a frame that lies in its folder: of what it shows, or in ten bits of its light.
    ///
    /// # Errors
    /// It is not there, not of that size, or has been through a tone curve and ten bits are asked for.
    pub fn planes(&self, number: u32, deep: Option<Deep>) -> Result<Vec<u8>, OutputError> {
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
        let Some(Deep { range, .. }) = deep else {
            let shown = folder.format.shown(&path, self.tone).map_err(failed)?;
            sized(shown.size)?;
            let isa = Isa::pick(None).map_err(|e| failed(std::io::Error::other(e.to_string())))?;
            let mut planes = Vec::new();
            isa.convert(&opaque(&shown.rgba), self.size.0, self.size.1, &mut planes);
            return Ok(planes);
        };
        let Reader::Light(read) = folder.format.read else {
            return Err(failed(std::io::Error::other("it holds no light, which a video of ten bits is made of")));
        };
        let light = read(&path).map_err(failed)?.image;
        sized((light.width(), light.height()))?;
        Ok(deep::planes(&light, self.tone, range))
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
    /// Names the video: that of its segments and of all of its frames.
    pub fn tag(&self, settings: &Settings, ffmpeg: &Ffmpeg) -> String {
        let numbers = self.frames.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let scene = self.scene.as_deref().unwrap_or("unknown");
        let steps = self.steps_of(&self.frames);
        let own = hash([self.key(settings, ffmpeg).as_str(), &numbers].into_iter().chain(steps.as_deref()));
        format!("polyfly {} scene {:.16} video {own}", env!("CARGO_PKG_VERSION"), scene)
    }
    /// Names the beginning of a video that was cut short: no whole one has that name.
    pub fn tag_of_beginning(tag: &str) -> String {
        format!("{tag} (its beginning)")
    }
    /// Whether the video is there already, made of just these frames with just these settings.
    pub fn is_made(&self, settings: &Settings) -> bool {
        let container = settings.container();
        // Moving pictures say nothing of themselves.
        if self.scene.is_none() || settings.is_raw() || container.join != Join::Copied || !settings.path.is_file() {
            return false;
        }
        if container.has_index() && !mp4::is_whole(&settings.path) {
            return false;
        }
        if settings.is_embedded {
            let tag = self.tag(settings, &embedded());
            let holds = |bytes: Vec<u8>| bytes.windows(tag.len()).any(|window| window == tag.as_bytes());
            // The tag is written before it is known how long the film becomes.
            let is_long = mp4::frames(&settings.path) == Some(self.frames.len() as u64);
            return is_long && std::fs::read(&settings.path).is_ok_and(holds);
        }
        let Ok(ffmpeg) = find_ffmpeg(settings.ffmpeg.as_deref()) else { return false };
        let path = url(&settings.path);
        let asked =
            ["-nostdin", "-v", "error", "-i", &path, "-map", "0:v", "-c", "copy", "-t", "0", "-f", "ffmetadata", "-"];
        let tags = words(&ffmpeg.program, &asked, settings.patience).unwrap_or_default();
        let tag = self.tag(settings, &ffmpeg);
        tags.lines()
            .filter_map(|line| line.split_once('='))
            .any(|(key, v)| key.eq_ignore_ascii_case("comment") && v == tag)
    }
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
