//! What a film says of its views: both eyes, and the part of the sphere that a panorama shows. In .mp4 and .mov files these are the boxes
//! `st3d` and `sv3d` (Google, "Spherical Video V2 RFC"), which no flag of ffmpeg makes it write. From such a file ffmpeg copies them into others.

use crate::output::bytes::bytes_at;
use crate::scene::{Projection, Scene, Stereo, View};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

// Maximum bytes of a film's index.
const MAX_INDEX: u64 = 256 << 20;
// Bytes that are moved at once.
const PIECE: u64 = 1 << 20;

/// The views of a film.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FilmViews {
    // As in `st3d`: 1 is above each other, 2 beside each other.
    eyes: Option<u8>,
    // What is missing of the sphere at the top, the bottom, the left and the right, as shares of its height and width.
    missing: Option<[f64; 4]>,
}

impl FilmViews {
    pub fn of(scene: &Scene) -> FilmViews {
        let (camera, render) = (&scene.camera, &scene.render);
        let eyes = match camera.stereo {
            Stereo::None => None,
            Stereo::OverUnder => Some(1),
            Stereo::SideBySide => Some(2),
        };
        let (width, height) = camera.stereo.eye_size((render.width, render.height));
        let view: View = camera.view(0, scene.output.frames);
        let per_pixel = view.per_pixel(width, height);
        // A picture that goes around more than once, or beyond the poles, is no part of the sphere.
        let missing = |share: f64| (share < 1.0 + 1e-6).then_some((0.5 - 0.5 * share).max(0.0));
        let across = missing(per_pixel * f64::from(width));
        let up = missing(2.0 * per_pixel * f64::from(height));
        let around = across.zip(up).filter(|_| camera.projection == Projection::Panorama);
        FilmViews { eyes, missing: around.map(|(across, up)| [up, up, across, across]) }
    }
    /// Whether there is nothing to say.
    pub fn is_plain(&self) -> bool {
        *self == FilmViews::default()
    }

    // The boxes at the end of a film's sample entry.
    fn boxes(&self) -> Vec<u8> {
        let full = |name: &[u8; 4], body: &[u8]| boxed(name, &[&[0; 4], body].concat());
        let eyes = self.eyes.map(|mode| full(b"st3d", &[mode])).unwrap_or_default();
        let sphere = self.missing.map(|missing| {
            // As fractions of 2^32.
            let bounds = missing.map(|share| ((share * 4_294_967_296.0) as u32).to_be_bytes());
            let projection = [full(b"prhd", &[0; 12]), full(b"equi", bounds.as_flattened())].concat();
            boxed(b"sv3d", &[full(b"svhd", b"polyfly\0"), boxed(b"proj", &projection)].concat())
        });
        [eyes, sphere.unwrap_or_default()].concat()
    }

    /// Writes the boxes into a complete .mp4 or .mov file with one track.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if self.is_plain() {
            return Ok(());
        }
        let mut file = File::options().read(true).write(true).open(path)?;
        let length = file.metadata()?.len();
        let (mut at, mut size) = (0, 0);
        while size == 0 {
            let [a, b, c, d, name @ ..] = bytes_at::<8>(&mut file, at)?;
            let its = match u32::from_be_bytes([a, b, c, d]) {
                1 => u64::from_be_bytes(bytes_at(&mut file, at + 8)?),
                its => u64::from(its),
            };
            if its < 8 || its > length - at {
                return Err(io::ErrorKind::InvalidData.into());
            }
            (at, size) = if name == *b"moov" { (at, its) } else { (at + its, 0) };
        }
        if size > MAX_INDEX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut index = vec![0; size as usize];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut index)?;
        let boxes = self.boxes();
        // Frames behind the index move by as much as it grows.
        let index = grown(index, &boxes, at).ok_or(io::ErrorKind::InvalidData)?;
        move_end(&mut file, at + size, length, boxes.len() as u64)?;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(&index)
    }
}

fn boxed(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    [&(8 + body.len() as u32).to_be_bytes()[..], name, body].concat()
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

// The first box of this name among those in a range.
fn find(bytes: &[u8], within: Range<usize>, name: &[u8; 4]) -> Option<Range<usize>> {
    let mut at = within.start;
    while at < within.end {
        let end = at.checked_add(number(bytes, at)? as usize).filter(|&end| end >= at + 8 && end <= within.end)?;
        if bytes[at + 4..at + 8] == *name {
            return Some(at..end);
        }
        at = end;
    }
    None
}

// The index, which begins at `start` in its file, with boxes at the end of its first track's sample entry.
fn grown(mut index: Vec<u8>, boxes: &[u8], start: u64) -> Option<Vec<u8>> {
    let mut around: Vec<Range<usize>> = std::iter::once(0..index.len()).collect();
    for name in [b"trak", b"mdia", b"minf", b"stbl"] {
        let outer = around.last()?.clone();
        around.push(find(&index, outer.start + 8..outer.end, name)?);
    }
    let table = around.last()?.clone();
    let entries = find(&index, table.start + 8..table.end, b"stsd")?;
    // Version, flags and the number of entries come first.
    let entry = entries.start + 16;
    let end = entry.checked_add(number(&index, entry)? as usize).filter(|&end| end <= entries.end)?;
    let more = boxes.len() as u32;
    if let Some(offsets) = find(&index, table.start + 8..table.end, b"stco") {
        for at in (offsets.start + 16..offsets.end).step_by(4) {
            let old = number(&index, at)?;
            let new = if u64::from(old) > start { old.checked_add(more)? } else { old };
            index[at..at + 4].copy_from_slice(&new.to_be_bytes());
        }
    }
    if let Some(offsets) = find(&index, table.start + 8..table.end, b"co64") {
        for at in (offsets.start + 16..offsets.end).step_by(8) {
            let old = u64::from_be_bytes(*index.get(at..)?.first_chunk()?);
            let new = if old > start { old.checked_add(more.into())? } else { old };
            index[at..at + 8].copy_from_slice(&new.to_be_bytes());
        }
    }
    for at in around.iter().map(|range| range.start).chain([entries.start, entry]) {
        let size = number(&index, at)?.checked_add(more)?;
        index[at..at + 4].copy_from_slice(&size.to_be_bytes());
    }
    index.splice(end..end, boxes.iter().copied());
    Some(index)
}

// Moves the end of a file, from its last bytes on.
fn move_end(file: &mut File, from: u64, length: u64, by: u64) -> io::Result<()> {
    let (mut at, mut piece) = (length, Vec::new());
    while at > from {
        let size = PIECE.min(at - from);
        at -= size;
        piece.resize(size as usize, 0);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut piece)?;
        file.seek(SeekFrom::Start(at + by))?;
        file.write_all(&piece)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(camera: &str, size: &str) -> FilmViews {
        let text = format!("[output]\nsize = {size}\n[camera]\n{camera}\n[[sphere]]\n");
        FilmViews::of(&Scene::parse(&text, "s.toml", "".as_ref()).unwrap().scene)
    }

    #[test]
    fn panoramas_say_which_part_of_the_sphere_they_show() {
        let around = "projection = \"panorama\"";
        assert_eq!(views(around, "[64, 32]"), FilmViews { eyes: None, missing: Some([0.0; 4]) });
        let vr180 = format!("{around}\nfov_deg = 180\nstereo = \"side-by-side\"");
        let half = [0.0, 0.0, 0.25, 0.25];
        assert_eq!(views(&vr180, "[64, 32]"), FilmViews { eyes: Some(2), missing: Some(half) });
        assert_eq!(views(around, "[64, 16]").missing, Some([0.25, 0.25, 0.0, 0.0]));
        assert_eq!(views(around, "[32, 32]").missing, None, "it goes beyond the poles");
        assert_eq!(views("stereo = \"over-under\"", "[32, 32]"), FilmViews { eyes: Some(1), missing: None });
        for plain in ["", "projection = \"fisheye\"", "projection = \"orthographic\""] {
            assert!(views(plain, "[32, 32]").is_plain());
        }
    }

    // Frames are found where they are, with the index in front of them and behind them.
    #[test]
    fn boxes_come_into_the_sample_entry() {
        let said = FilmViews { eyes: Some(2), missing: Some([0.0, 0.0, 0.25, 0.25]) };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("v.mp4");
        let frames = vec![7; 3 << 20];
        let index = |offset: u32, wide: bool| {
            let entries = [&[0; 4][..], &1_u32.to_be_bytes(), &boxed(b"avc1", b"entry")].concat();
            let count = [0, 0, 0, 0, 0, 0, 0, 1];
            let offsets = if wide {
                boxed(b"co64", &[&count[..], &u64::from(offset).to_be_bytes()].concat())
            } else {
                boxed(b"stco", &[&count[..], &offset.to_be_bytes()].concat())
            };
            let table = boxed(b"stbl", &[boxed(b"stsd", &entries), offsets].concat());
            let track = boxed(b"mdia", &boxed(b"minf", &table));
            boxed(b"moov", &[boxed(b"mvhd", b"head"), boxed(b"trak", &track)].concat())
        };
        for (wide, is_first) in [(false, true), (true, true), (false, false)] {
            let size = index(0, wide).len() as u32;
            let index = index(if is_first { size + 8 } else { 8 }, wide);
            let data = boxed(b"mdat", &frames);
            std::fs::write(&path, if is_first { [index, data].concat() } else { [data, index].concat() }).unwrap();
            said.write(&path).unwrap();
            let written = std::fs::read(&path).unwrap();
            let place = |name: &[u8; 4]| written.windows(4).position(|w| w == name).unwrap();
            let [stsd, entry, sphere] = [b"stsd", b"avc1", b"sv3d"].map(place);
            assert_eq!(number(&written, stsd - 4).unwrap() as usize, 16 + 13 + said.boxes().len());
            assert_eq!(number(&written, entry - 4).unwrap() as usize, 13 + said.boxes().len());
            assert!(sphere > entry && sphere < entry + 13 + said.boxes().len());
            let at = if wide { place(b"co64") + 16 } else { place(b"stco") + 12 };
            let offset = number(&written, at).unwrap() as usize;
            assert!(written[offset..offset + frames.len()] == frames, "{wide} {is_first}");
            let last = &written[place(b"equi") + 8..][..16];
            assert_eq!(last, [0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0]);
        }
        std::fs::write(&path, b"no film").unwrap();
        said.write(&path).unwrap_err();
        std::fs::write(&path, boxed(b"moov", &boxed(b"trak", &[255; 9]))).unwrap();
        said.write(&path).unwrap_err();
    }
}
