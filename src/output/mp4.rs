//! mp4 files from outside: whether all of one is there (ISO/IEC 14496-12, 4.2: a file is a row of boxes).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

// More than any encoder writes.
const MAX_BOXES: usize = 10_000;

/// Whether a file ends where its last box does, and has an index and frames. What is in them is not looked at.
pub fn is_whole(path: &Path) -> bool {
    boxes(path).is_ok_and(|names| [*b"moov", *b"mdat"].iter().all(|name| names.contains(name)))
}

// Names of its outermost boxes.
fn boxes(path: &Path) -> io::Result<Vec<[u8; 4]>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let (mut at, mut names) = (0, Vec::new());
    while at < length && names.len() < MAX_BOXES {
        file.seek(SeekFrom::Start(at))?;
        let mut head = [0; 8];
        file.read_exact(&mut head)?;
        let ([a, b, c, d], name) = ([head[0], head[1], head[2], head[3]], [head[4], head[5], head[6], head[7]]);
        let (size, least) = match u32::from_be_bytes([a, b, c, d]) {
            // A size of 64 bits follows.
            1 => {
                let mut wide = [0; 8];
                file.read_exact(&mut wide)?;
                (u64::from_be_bytes(wide), 16)
            }
            size => (u64::from(size), 8),
        };
        at = at.checked_add(size).filter(|_| size >= least).ok_or(io::ErrorKind::InvalidData)?;
        names.push(name);
    }
    if at == length { Ok(names) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_when_its_boxes_are() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("v.mp4");
        let whole = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            is_whole(&file)
        };
        let narrow = |name: &[u8; 4], body: &[u8]| [&(8 + body.len() as u32).to_be_bytes()[..], name, body].concat();
        let wide = |name: &[u8; 4], body: &[u8]| {
            [&1_u32.to_be_bytes()[..], name, &(16 + body.len() as u64).to_be_bytes(), body].concat()
        };
        let good = [narrow(b"ftyp", b"isom"), wide(b"mdat", b"frames"), narrow(b"moov", b"index")].concat();
        assert!(whole(&good));
        for end in 0..good.len() {
            assert!(!whole(&good[..end]), "{end}");
        }
        assert!(!whole(&[&good[..], b"x"].concat()));
        assert!(!whole(&[&good[..], &[0; 8]].concat()), "a box of no size has no end");
        assert!(!whole(&[&good[..], &[0, 0, 0, 1], b"free", &u64::MAX.to_be_bytes()].concat()));
        assert!(!is_whole(dir.path()) && !is_whole(&dir.path().join("none.mp4")));
    }
}
