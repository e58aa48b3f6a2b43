//! The tag in a film: the scene, the frames and the settings that it was made of. A later run recognizes its own film
//! by it.

use super::containers::Join;
use super::ffmpeg::{output_text, url, words};
use super::settings::Settings;
use crate::assets::source::{open_regular, read_regular};
use crate::math::hash::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

// In a GIF or a WebP, the tag is within this many bytes of the end.
const TAIL: u64 = 1024;
// Maximum length of a tag. A comment in a GIF has at most 255 bytes.
const MAX_TAG: usize = 255;
const BEGINNING: &str = " (its beginning)";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub version: String,
    /// The beginning of the scene's hash.
    pub scene: String,
    /// The frames, as in [`name`].
    pub frames: String,
    /// A hash of all that the film's bytes depend on.
    pub content: String,
    pub is_beginning: bool,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tag { version, scene, frames, content, is_beginning } = self;
        let beginning = if *is_beginning { BEGINNING } else { "" };
        write!(f, "polyfly {version} scene {scene} frames {frames} video {content}{beginning}")
    }
}

impl Tag {
    pub fn parse(text: &str) -> Option<Tag> {
        let is_beginning = text.ends_with(BEGINNING);
        let words: Vec<&str> = text.strip_suffix(BEGINNING).unwrap_or(text).split(' ').collect();
        let ["polyfly", version, "scene", scene, "frames", frames, "video", content] = words[..] else {
            return None;
        };
        let [version, scene, frames, content] = [version, scene, frames, content].map(str::to_owned);
        Some(Tag { version, scene, frames, content, is_beginning })
    }

    /// Whether a film of these frames of the same scene shows all pictures of this one.
    pub fn is_covered_by(&self, other: &Tag, frames: &[u32]) -> bool {
        self.scene == other.scene && (self.frames == other.frames || is_among(&self.frames, frames))
    }

    /// Whether the film is of a scene with this hash.
    pub fn is_of_scene(&self, hash: &str) -> bool {
        self.scene.starts_with(&format!("{hash:.16}"))
    }
}

/// A short name of a list of frames: first, last and step, or a hash if the steps differ.
pub fn name(numbers: &[u32]) -> String {
    let [first, .., last] = *numbers else {
        return numbers.first().map_or_else(String::new, |only| format!("{only}-{only}x1"));
    };
    let step = numbers.get(1).map_or(1, |second| second.wrapping_sub(first));
    if numbers.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step) {
        return format!("{first}-{last}x{step}");
    }
    let hash = Sha256::digest(numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>());
    format!("{first}-{last}-{}", hex(&hash[..8]))
}

// Whether all frames of a name are among these. A hash does not tell its frames.
fn is_among(name: &str, frames: &[u32]) -> bool {
    let numbers = || {
        let (range, step) = name.split_once('x')?;
        let (first, last) = range.split_once('-')?;
        Some((first.parse::<u32>().ok()?, last.parse::<u32>().ok()?, step.parse::<usize>().ok()?))
    };
    let Some((first, last, step)) = numbers().filter(|(.., step)| *step > 0) else { return false };
    let frames: BTreeSet<u32> = frames.iter().copied().collect();
    first <= last && (first..=last).step_by(step).all(|n| frames.contains(&n))
}

/// Reads the tag of a film, if it has one.
pub fn read(path: &Path, settings: &Settings) -> Option<Tag> {
    if settings.is_raw() || !path.is_file() {
        return None;
    }
    match settings.container().join {
        Join::Palette | Join::Webp => {
            let mut file = open_regular(path).ok()?;
            let length = file.metadata().ok()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
            let mut tail = Vec::new();
            file.take(TAIL).read_to_end(&mut tail).ok()?;
            find(&tail)
        }
        Join::Copied if settings.is_embedded => find(&read_regular(path).ok()?),
        Join::Copied => {
            let ffmpeg = settings.find_ffmpeg().ok()?;
            let asked = words("-nostdin -v error -i").chain([url(path)]);
            let asked = asked.chain(words("-map 0:v -c copy -t 0 -f ffmetadata -"));
            let said = output_text(&ffmpeg.program, asked, settings.options.timeout).ok()??;
            said.lines().filter_map(|line| line.split_once('=')).find_map(|(_, value)| Tag::parse(value))
        }
    }
}

fn find(bytes: &[u8]) -> Option<Tag> {
    const START: &[u8] = b"polyfly ";
    let starts = (0..bytes.len()).rev().filter(|&at| bytes[at..].starts_with(START));
    starts.into_iter().find_map(|at| {
        let text = bytes[at..].iter().take(MAX_TAG).take_while(|b| (b' '..=b'~').contains(b));
        Tag::parse(&text.map(|&b| char::from(b)).collect::<String>())
    })
}

/// Writes the tag into a complete GIF or WebP. Other films already have theirs.
pub fn write(path: &Path, join: Join, tag: &Tag) -> io::Result<()> {
    let text = tag.to_string();
    let text = &text.as_bytes()[..text.len().min(MAX_TAG)];
    let mut file = File::options().read(true).write(true).open(path)?;
    match join {
        Join::Copied => Ok(()),
        // Before the trailer (GIF89a, 24 and 27).
        Join::Palette => {
            file.seek(SeekFrom::End(-1))?;
            let mut trailer = [0];
            file.read_exact(&mut trailer)?;
            if trailer != [0x3b] {
                return Ok(());
            }
            file.seek(SeekFrom::End(-1))?;
            file.write_all(&[&[0x21, 0xfe, text.len() as u8], text, &[0, 0x3b]].concat())
        }
        // A chunk after the frames that readers skip (RFC 9649, 2.7.1.6). A still picture has none.
        Join::Webp => {
            let mut head = [0; 16];
            file.read_exact(&mut head)?;
            if &head[12..] != b"VP8X" {
                return Ok(());
            }
            let padding = &[0][..text.len() % 2];
            let chunk = [b"poly", &(text.len() as u32).to_le_bytes()[..], text, padding].concat();
            let end = file.seek(SeekFrom::End(0))?;
            file.write_all(&chunk)?;
            let size = u32::try_from(end - 8 + chunk.len() as u64).map_err(io::Error::other)?;
            file.seek(SeekFrom::Start(4))?;
            file.write_all(&size.to_le_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(frames: &str) -> Tag {
        let of = |text: &str| text.to_owned();
        Tag { version: of("1.2.3"), scene: of("ab"), frames: of(frames), content: of("cd"), is_beginning: false }
    }

    #[test]
    fn tags_are_read_as_they_are_written() {
        for tag in [tag("0-59x1"), Tag { is_beginning: true, ..tag("0-59x1") }] {
            assert_eq!(Tag::parse(&tag.to_string()), Some(tag.clone()));
            let bytes = [b"\x00polyfly is no tag\x00", tag.to_string().as_bytes(), b"\x00rest"].concat();
            assert_eq!(find(&bytes), Some(tag));
        }
        assert_eq!(Tag::parse("polyfly 1.2.3 scene ab video cd"), None);
    }

    #[test]
    fn lists_of_frames_have_short_names() {
        assert_eq!([&[][..], &[7], &[2, 4, 6]].map(name), ["", "7-7x1", "2-6x2"]);
    }

    #[test]
    fn a_film_covers_its_parts() {
        let frames: Vec<u32> = (0..60).collect();
        let whole = tag(&name(&frames));
        for (part, is_covered) in [("0-59x1", true), ("0-9x1", true), ("3-33x10", true), ("50-60x1", false)] {
            assert_eq!(tag(part).is_covered_by(&whole, &frames), is_covered, "{part}");
        }
        let mixed = name(&[3, 1, 2]);
        assert!(!tag(&mixed).is_covered_by(&whole, &frames), "a hash tells no frames");
        assert!(tag(&mixed).is_covered_by(&tag(&mixed), &[3, 1, 2]));
        assert!(!Tag { scene: "other".into(), ..tag("0-9x1") }.is_covered_by(&whole, &frames));
    }

    #[test]
    fn pictures_that_move_carry_it_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let of = |bytes: &[u8], join: Join| {
            std::fs::write(&path, bytes).unwrap();
            write(&path, join, &tag("0-9x1")).unwrap();
            std::fs::read(&path).unwrap()
        };
        let gif = of(b"GIF89a...\x3b", Join::Palette);
        assert!(gif.ends_with(b"\x00\x3b") && find(&gif) == Some(tag("0-9x1")));
        let webp = of(b"RIFF\x0c\x00\x00\x00WEBPVP8X\x00\x00\x00\x00", Join::Webp);
        assert_eq!((super::super::webp::frames(&webp), find(&webp)), (Some(0), Some(tag("0-9x1"))));
        assert_eq!(of(b"RIFF\x04\x00\x00\x00WEBPVP8 ", Join::Webp).len(), 16);
    }
}
