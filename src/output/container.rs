//! Files that videos come in: what an ending means, which codecs go into it, and how segments become one.

use super::video::Codec;
use std::path::Path;

/// How a file is made of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// What is encoded is copied.
    Copied,
    /// Lossless segments become pictures of 256 colours, chosen for the clip.
    Palette,
    /// Lossless segments become pictures of this format.
    Webp,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    /// Its ending.
    pub extension: &'static str,
    /// What goes into it; the first is the usual one.
    pub codecs: &'static [Codec],
    /// ffmpeg's name of it.
    pub muxer: &'static str,
    /// How it is made.
    pub join: Join,
    /// Ticks of its clock in a second; None: as many as suit the frames.
    pub ticks: Option<u64>,
}

/// All of them, but for raw video.
pub const CONTAINERS: [Container; 6] = [
    Container {
        extension: "mp4",
        codecs: &[Codec::H264, Codec::H265, Codec::Av1, Codec::Vp9],
        muxer: "mp4",
        join: Join::Copied,
        ticks: None,
    },
    Container {
        extension: "mov",
        codecs: &[Codec::H264, Codec::H265, Codec::Prores],
        muxer: "mov",
        join: Join::Copied,
        ticks: None,
    },
    Container {
        extension: "mkv",
        codecs: &[Codec::H264, Codec::H265, Codec::Av1, Codec::Vp9, Codec::Ffv1],
        muxer: "matroska",
        join: Join::Copied,
        ticks: Some(1000),
    },
    Container {
        extension: "webm",
        codecs: &[Codec::Vp9, Codec::Av1],
        muxer: "webm",
        join: Join::Copied,
        ticks: Some(1000),
    },
    Container { extension: "gif", codecs: &[Codec::Ffv1], muxer: "gif", join: Join::Palette, ticks: Some(100) },
    Container { extension: "webp", codecs: &[Codec::Ffv1], muxer: "webp", join: Join::Webp, ticks: Some(1000) },
];

impl Container {
    /// That of a file's name.
    pub fn of(path: &Path) -> Option<&'static Container> {
        let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
        CONTAINERS.iter().find(|c| c.extension == extension)
    }

    /// Whether players read the file from its beginning only if its index is moved there.
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

/// Frames of an animated WebP. None where it is none, or not whole.
pub fn webp_frames(bytes: &[u8]) -> Option<u64> {
    webp_places(bytes).map(|places| places.len() as u64)
}

// Where the chunks of its frames begin (RFC 9649, 2.7.1.1).
fn webp_places(bytes: &[u8]) -> Option<Vec<usize>> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    if bytes.get(..4)? != b"RIFF" || bytes.get(8..12)? != b"WEBP" || word(4)? + 8 != bytes.len() {
        return None;
    }
    let (mut at, mut places) = (12, Vec::new());
    while at < bytes.len() {
        if bytes.get(at..at + 4)? == b"ANMF" {
            places.push(at);
        }
        at += 8 + word(at + 4)?.next_multiple_of(2);
    }
    (at == bytes.len()).then_some(places)
}

/// Makes each frame of an animated WebP take the place of the one before: ffmpeg has it laid over that, which shows through where
/// the frame is transparent.
///
/// # Errors
/// The file cannot be read or written.
pub fn webp_without_blending(path: &Path) -> std::io::Result<()> {
    // The last byte of a frame's facts, behind its chunk's head and five numbers of three bytes; and its bit for this.
    const FLAGS: usize = 8 + 15;
    const DO_NOT_BLEND: u8 = 2;
    let mut bytes = std::fs::read(path)?;
    for at in webp_places(&bytes).unwrap_or_default() {
        if let Some(flags) = bytes.get_mut(at + FLAGS) {
            *flags |= DO_NOT_BLEND;
        }
    }
    std::fs::write(path, bytes)
}
