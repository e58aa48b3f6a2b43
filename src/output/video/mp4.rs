//! Counts the frames of mp4 files without decoding (ISO/IEC 14496-12; 4.2: boxes).

use crate::assets::source::open_regular;
use crate::output::bytes::bytes_at;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

// Maximum number of boxes; encoders write fewer.
const MAX_BOXES: usize = 10_000;
// Maximum bytes of an index.
const MAX_INDEX: u64 = 64 << 20;

/// The number of frames of a file without fragments, by its first track; None if the file does not end with its last
/// box, or has no index or no frames. The frames are not checked.
pub fn frames(path: &Path) -> Option<u64> {
    let boxes = boxes(path).ok()?;
    let named = |name: &[u8; 4]| boxes.iter().find(|each| each.name == *name);
    let (index, _) = named(b"moov").filter(|index| index.size <= MAX_INDEX).zip(named(b"mdat"))?;
    let (mut file, mut bytes) = (open_regular(path).ok()?, Vec::new());
    file.seek(SeekFrom::Start(index.at)).ok()?;
    file.take(index.size).read_to_end(&mut bytes).ok()?;
    // SampleSizeBox: version and flags, the common size, and the number of frames.
    let at = bytes.windows(4).position(|name| name == b"stsz")? + 12;
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?).into())
}

// A box with its header.
struct BoxHeader {
    name: [u8; 4],
    at: u64,
    size: u64,
}

// The top-level boxes of a file.
fn boxes(path: &Path) -> io::Result<Vec<BoxHeader>> {
    let mut file = open_regular(path)?;
    let length = file.metadata()?.len();
    let (mut at, mut boxes) = (0, Vec::new());
    while at < length && boxes.len() < MAX_BOXES {
        let [a, b, c, d, name @ ..] = bytes_at::<8>(&mut file, at)?;
        let (size, min) = match u32::from_be_bytes([a, b, c, d]) {
            // A size of 64 bits follows.
            1 => (u64::from_be_bytes(bytes_at(&mut file, at + 8)?), 16),
            size => (u64::from(size), 8),
        };
        boxes.push(BoxHeader { name, at, size });
        at = at.checked_add(size).filter(|_| size >= min).ok_or(io::ErrorKind::InvalidData)?;
    }
    if at == length { Ok(boxes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
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
