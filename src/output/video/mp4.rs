//! Counts the frames of mp4 files without decoding (ISO/IEC 14496-12; 4.2: boxes).

use crate::assets::source::open_regular;
use crate::output::bytes::bytes_at;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

// Maximum number of boxes; encoders write fewer.
const MAX_BOXES: usize = 10_000;
// Maximum bytes of an index.
const MAX_INDEX: u64 = 64 << 20;

/// The number of frames of a file without fragments, by its first track; None if the file does not end with its last
/// box, or has no index or no frames. The frames are not checked.
pub fn frames(path: &Path) -> Option<u64> {
    let mut file = open_regular(path).ok()?;
    let length = file.metadata().ok()?.len();
    let (mut at, mut index, mut has_frames) = (0, Vec::new(), false);
    for _ in 0..MAX_BOXES {
        let [a, b, c, d, name @ ..] = bytes_at::<8>(&mut file, at).ok()?;
        let (size, min) = match u32::from_be_bytes([a, b, c, d]) {
            // A size of 64 bits follows.
            1 => (u64::from_be_bytes(bytes_at(&mut file, at + 8).ok()?), 16),
            size => (u64::from(size), 8),
        };
        if name == *b"moov" && size <= MAX_INDEX {
            file.seek(SeekFrom::Start(at)).ok()?;
            file.by_ref().take(size).read_to_end(&mut index).ok()?;
        }
        has_frames |= name == *b"mdat";
        at = at.checked_add(size).filter(|&end| size >= min && end <= length)?;
        if at == length {
            break;
        }
    }
    // SampleSizeBox: version and flags, the common size, and the number of frames.
    let count = index.windows(4).position(|name| name == b"stsz")? + 12;
    let frames = u32::from_be_bytes(*index.get(count..)?.first_chunk()?).into();
    (at == length && has_frames).then_some(frames)
}

#[cfg(test)]
#[test]
fn frames_are_counted_in_whole_files() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("v.mp4");
    let count = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        frames(&file)
    };
    let narrow = |name: &[u8; 4], body: &[u8]| [&(8 + body.len() as u32).to_be_bytes()[..], name, body].concat();
    let wide = |name: &[u8; 4], body: &[u8]| {
        [&1_u32.to_be_bytes()[..], name, &(16 + body.len() as u64).to_be_bytes(), body].concat()
    };
    let index = narrow(b"moov", &narrow(b"stsz", &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]));
    let good = [narrow(b"ftyp", b"isom"), wide(b"mdat", b"frames"), index].concat();
    assert_eq!(count(&good), Some(258));
    for end in 0..good.len() {
        assert_eq!(count(&good[..end]), None, "{end}");
    }
    assert_eq!(count(&[&good[..], b"x"].concat()), None);
    assert_eq!(count(&[&good[..], &[0; 8]].concat()), None, "a box of no size has no end");
    assert_eq!(count(&[&good[..], &[0, 0, 0, 1], b"free", &u64::MAX.to_be_bytes()].concat()), None);
    assert_eq!([dir.path(), &dir.path().join("none.mp4")].map(frames), [None; 2]);
}
