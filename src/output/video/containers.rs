//! The table of video containers: what an extension means, and how segments are joined.

use crate::system::extension;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Encoded frames are copied.
    Copied,
    /// Lossless segments are quantized to 256 colors, chosen for the clip.
    Palette,
    /// Encoded frames are copied from rows of pictures.
    Webp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    pub extension: &'static str,
    pub muxer: &'static str,
    pub join: Join,
    /// Ticks per second of the container's clock; None if they follow from the frame rate.
    pub ticks: Option<u64>,
    /// ffmpeg's encoder of sound, with its options; empty if there is none.
    pub audio: &'static str,
}

const fn film(extension: &'static str, muxer: &'static str, ticks: Option<u64>, audio: &'static str) -> Container {
    Container { extension, muxer, join: Join::Copied, ticks, audio }
}
const fn pictures(extension: &'static str, join: Join, ticks: u64) -> Container {
    Container { extension, muxer: extension, join, ticks: Some(ticks), audio: "" }
}

pub const GIF: Container = pictures("gif", Join::Palette, 100);

/// All containers except raw video.
pub const CONTAINERS: [Container; 6] = [
    film("mp4", "mp4", None, "aac -b:a 192k"),
    film("mov", "mov", None, "aac -b:a 192k"),
    film("mkv", "matroska", Some(1000), "flac"),
    film("webm", "webm", Some(1000), "libopus -b:a 160k"),
    GIF,
    pictures("webp", Join::Webp, 1000),
];

impl Container {
    pub fn of(path: &Path) -> Option<&'static Container> {
        let extension = extension(path);
        CONTAINERS.iter().find(|c| c.extension == extension)
    }

    /// Whether the file has an index of its frames, which players want in front, so that they can start before the whole file is read.
    pub fn has_index(&self) -> bool {
        matches!(self.muxer, "mp4" | "mov")
    }
}

#[cfg(test)]
#[test]
fn scenes_may_name_just_these_and_raw_videos() {
    let all: Vec<&str> = CONTAINERS.iter().map(|c| c.extension).chain(["y4m"]).collect();
    assert_eq!(all, crate::scene::limits::VIDEOS);
}
