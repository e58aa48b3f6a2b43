//! Reads and concatenates mp4 files without decoding (ISO/IEC 14496-12; 4.2: boxes, 8.8: fragments).

use crate::assets::source::open_regular;
use crate::math::hash::of_reader;
use crate::output::bytes::bytes_at;
use sha2::Digest;
use simd_adler32::Adler32;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};

// Maximum number of boxes; encoders write fewer.
const MAX_BOXES: usize = 10_000;
// Maximum bytes of a box that is read into memory: the header of a file or of a fragment.
const MAX_INDEX: u64 = 64 << 20;
// Maximum number of frames in a fragment.
const MAX_FRAMES: u32 = 1 << 20;

/// Whether a file ends with its last box, and has an index and frames. The frames are not checked.
pub fn is_whole(path: &Path) -> bool {
    boxes(path).is_ok_and(|boxes| [*b"moov", *b"mdat"].iter().all(|name| boxes.iter().any(|b| b.name == *name)))
}

/// The number of frames of a file without fragments, by its first track.
pub fn frames(path: &Path) -> Option<u64> {
    let index = boxes(path).ok()?.into_iter().find(|b| b.name == *b"moov")?;
    let index = read(&mut open_regular(path).ok()?, index).ok()?;
    // SampleSizeBox: version and flags, the common size, and the number of frames.
    let at = index.windows(4).position(|name| name == b"stsz")? + 12;
    Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?).into())
}

// The last box of a segment: `free`, this text, and SHA-256 of all bytes before it and of the file's name. The seal
// is in the segment and not in the manifest, so one rename publishes both, machines that share a folder need no lock
// for it, and it works for videos without a manifest.
const SEAL: &[u8; 16] = b"polyfly's seal: ";
const SEAL_BYTES: u64 = 8 + SEAL.len() as u64 + 32;

/// Seals a complete file that will have this name. The seal shows later changes and wrong names. It covers the names
/// of the file and its folder.
pub fn seal(file: &mut File, path: &Path) -> io::Result<()> {
    let hash = hash(file, u64::MAX, path)?;
    let seal = [&(SEAL_BYTES as u32).to_be_bytes()[..], b"free", SEAL, &hash].concat();
    file.seek(SeekFrom::End(0))?;
    file.write_all(&seal)
}

/// Whether a file is unchanged since it was sealed, and has the sealed name.
pub fn is_sealed(path: &Path) -> bool {
    let look = || -> io::Result<bool> {
        let boxes = boxes(path)?;
        let Some(last) = boxes.last().filter(|last| last.is_seal()) else { return Ok(false) };
        let mut file = open_regular(path)?;
        let seal = read(&mut file, *last)?;
        Ok(seal[8..].starts_with(SEAL) && seal.ends_with(&hash(&mut file, last.at, path)?))
    };
    look().unwrap_or(false)
}

// SHA-256 of the first bytes of a file, of its name and of its folder's name.
fn hash(file: &mut File, bytes: u64, path: &Path) -> io::Result<[u8; 32]> {
    file.seek(SeekFrom::Start(0))?;
    let mut hash = of_reader(file.take(bytes))?;
    for part in [path.parent().and_then(Path::file_name), path.file_name()] {
        hash.update([0]);
        hash.update(part.unwrap_or_default().as_encoded_bytes());
    }
    Ok(hash.finalize().into())
}

// A box with its header.
#[derive(Clone, Copy)]
struct BoxHeader {
    name: [u8; 4],
    at: u64,
    size: u64,
}

impl BoxHeader {
    fn is_seal(&self) -> bool {
        self.name == *b"free" && self.size == SEAL_BYTES
    }
}

/// The length of an encoded frame, and its Adler-32, which starts at 0 as in ffmpeg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketChecksum {
    pub size: u64,
    pub adler: u32,
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

/// Fragmented files of one track with equal headers, concatenated.
#[derive(Default)]
pub struct Fragments {
    // The boxes ftyp and moov.
    head: Vec<u8>,
    files: Vec<FragmentedFile>,
    // The duration of all files, in ticks of their clock.
    duration: u64,
    // The tick at which the first frame of the first file is shown.
    first_shown: Option<u64>,
}

struct FragmentedFile {
    path: PathBuf,
    // The fragments: moof and mdat.
    fragments: Vec<[BoxHeader; 2]>,
    // The delay of its frames, in ticks of their clock.
    delay: u64,
}

impl Fragments {
    /// Concatenates files, each with its duration in ticks; None if they cannot be concatenated.
    pub fn of<'a>(files: impl Iterator<Item = (&'a Path, u64)>) -> Option<Fragments> {
        let mut row = Fragments::default();
        for (path, ticks) in files {
            row.push(path, ticks)?;
        }
        (!row.files.is_empty()).then_some(row)
    }

    /// Appends a file with its duration in ticks; None if it cannot follow those before.
    pub fn push(&mut self, path: &Path, ticks: u64) -> Option<()> {
        let boxes = boxes(path).ok()?;
        let [first, second, rest @ ..] = boxes.as_slice() else { return None };
        let mut file = open_regular(path).ok()?;
        let head = [read(&mut file, *first).ok()?, read(&mut file, *second).ok()?].concat();
        if [&first.name, &second.name] != [b"ftyp", b"moov"] || !(self.files.is_empty() || self.head == head) {
            return None;
        }
        // The seal and the index of fragments are left out.
        let row: Vec<_> = rest.iter().copied().filter(|b| !b.is_seal() && b.name != *b"mfra").collect();
        let (pairs, []) = row.as_chunks::<2>() else { return None };
        let mut shown = None;
        for [about, frames] in pairs {
            let moof = Moof::of(&read(&mut file, *about).ok()?)?;
            shown.get_or_insert(moof.first_pts);
            if [&about.name, &frames.name] != [b"moof", b"mdat"] {
                return None;
            }
        }
        // If frames are coded out of order, they are shown later by a delay. A file of few frames may not need it. No
        // frame is decoded before those of the file before.
        let first = *self.first_shown.get_or_insert(shown?);
        let delay = self.duration + first.checked_sub(shown?)?;
        self.head = head;
        self.files.push(FragmentedFile { path: path.to_owned(), fragments: pairs.to_vec(), delay });
        self.duration += ticks;
        Some(())
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The duration of all files, in ticks of their clock.
    pub fn duration(&self) -> u64 {
        self.duration
    }

    /// Writes the files from this index on to `to`, piece by piece, until that fails; the header comes before the first
    /// file. Returns the checksums of the frames in coding order. An error names the file that cannot be read or has
    /// changed; errors of `to` are not reported.
    pub fn write(
        &self,
        from: usize,
        mut to: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Vec<PacketChecksum>, (PathBuf, io::Error)> {
        let (mut all, mut piece) = (Vec::new(), Vec::new());
        let mut number: u32 = self.files[..from].iter().map(|file| file.fragments.len() as u32).sum();
        let mut gives = |bytes: &[u8]| to(bytes).is_ok();
        if from == 0 && !gives(&self.head) {
            return Ok(all);
        }
        for FragmentedFile { path, fragments, delay } in &self.files[from..] {
            let failed = |e: io::Error| (path.clone(), e);
            let broken = || failed(io::ErrorKind::InvalidData.into());
            let mut file = open_regular(path).map_err(failed)?;
            for [about, frames] in fragments {
                number += 1;
                let mut about = read(&mut file, *about).map_err(failed)?;
                let moof = Moof::of(&about).ok_or_else(broken)?;
                let time = moof.base_decode_time.saturating_add(*delay);
                about[moof.sequence_number_offset..][..4].copy_from_slice(&number.to_be_bytes());
                about[moof.base_decode_time_offset..][..8].copy_from_slice(&time.to_be_bytes());
                if !gives(&about) {
                    return Ok(all);
                }
                // The bytes before the frames, the frames, and the bytes after them.
                let first = moof.data_offset.checked_sub(about.len() as u64).ok_or_else(broken)?;
                let used = moof.sizes.iter().fold(first, |sum, &size| sum.saturating_add(size.into()));
                let rest = frames.size.checked_sub(used).ok_or_else(broken)?;
                let sizes = moof.sizes.into_iter().map(|size| (u64::from(size), true));
                file.seek(SeekFrom::Start(frames.at)).map_err(failed)?;
                for (size, is_frame) in iter::once((first, false)).chain(sizes).chain([(rest, false)]) {
                    piece.resize(size as usize, 0);
                    file.read_exact(&mut piece).map_err(failed)?;
                    if is_frame {
                        let mut adler = Adler32::from_checksum(0);
                        adler.write(&piece);
                        all.push(PacketChecksum { size, adler: adler.finish() });
                    }
                    if !gives(&piece) {
                        return Ok(all);
                    }
                }
            }
        }
        Ok(all)
    }
}

fn read(file: &mut File, place: BoxHeader) -> io::Result<Vec<u8>> {
    if place.size > MAX_INDEX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; place.size as usize];
    file.seek(SeekFrom::Start(place.at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

// The header of a fragment.
struct Moof {
    // Offsets of the sequence number (four bytes) and of the decode time of the first frame (eight bytes).
    sequence_number_offset: usize,
    base_decode_time_offset: usize,
    base_decode_time: u64,
    // The tick at which the first frame is shown.
    first_pts: u64,
    // The offset of the first frame from the moof, and the bytes of each frame.
    data_offset: u64,
    sizes: Vec<u32>,
}

impl Moof {
    // None if offsets count from the file's beginning, if there are several tracks, or if ffmpeg would not write it.
    fn of(moof: &[u8]) -> Option<Moof> {
        let inside = children(moof, 8..moof.len())?;
        let (number, track) = (only(&inside, b"mfhd")?, only(&inside, b"traf")?);
        let track = children(moof, track)?;
        let (about, time, run) = (only(&track, b"tfhd")?, only(&track, b"tfdt")?, only(&track, b"trun")?);
        let mut about = BoxReader(moof.get(about)?);
        let flags = about.word()?;
        // Offsets count from the moof (default-base-is-moof), and times have 64 bits.
        if flags & 0x2_0001 != 0x2_0000 || moof.get(time.start) != Some(&1) || number.len() != 8 {
            return None;
        }
        let _track = about.word()?;
        about.word_if(flags & 2)?;
        let (usual_duration, usual_size) = (about.word_if(flags & 8)?, about.word_if(flags & 0x10)?);
        let base_decode_time = u64::from_be_bytes(*moof.get(time.start + 4..time.end)?.first_chunk()?);
        // For each frame, as the flags say: duration, size, flags and composition offset.
        let mut run = BoxReader(moof.get(run)?);
        let flags = run.word()?;
        let count = run.word().filter(|&frames| frames <= MAX_FRAMES)?;
        let data_offset = run.word_if(flags & 1)??.into();
        run.word_if(flags & 4)?;
        let (mut sizes, mut decoded, mut first_pts) = (Vec::new(), base_decode_time, None::<u64>);
        for _ in 0..count {
            let duration = run.word_if(flags & 0x100)?.or(usual_duration)?;
            sizes.push(run.word_if(flags & 0x200)?.or(usual_size)?);
            run.word_if(flags & 0x400)?;
            let later = run.word_if(flags & 0x800)?.unwrap_or(0).cast_signed();
            let pts = decoded.checked_add_signed(later.into())?;
            first_pts = Some(first_pts.map_or(pts, |first| first.min(pts)));
            decoded = decoded.checked_add(duration.into())?;
        }
        Some(Moof {
            sequence_number_offset: number.start + 4,
            base_decode_time_offset: time.start + 4,
            base_decode_time,
            first_pts: first_pts?,
            data_offset,
            sizes,
        })
    }
}

// Reads the numbers of a box in sequence.
struct BoxReader<'a>(&'a [u8]);

impl BoxReader<'_> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*word))
    }
    // A field that exists if the flag is set.
    fn word_if(&mut self, flag: u32) -> Option<Option<u32>> {
        if flag == 0 { Some(None) } else { self.word().map(Some) }
    }
}

// The range of the only child of this name.
fn only(children: &[([u8; 4], Range<usize>)], name: &[u8; 4]) -> Option<Range<usize>> {
    let mut found = children.iter().filter(|(own, _)| own == name);
    found.next().filter(|_| found.next().is_none()).map(|(_, place)| place.clone())
}

// The children of a box, with the ranges of their content.
fn children(bytes: &[u8], within: Range<usize>) -> Option<Vec<([u8; 4], Range<usize>)>> {
    let (mut at, mut found) = (within.start, Vec::new());
    while at < within.end {
        let size = u32::from_be_bytes(*bytes.get(at..within.end)?.first_chunk()?) as usize;
        let name = *bytes.get(at + 4..within.end)?.first_chunk()?;
        let end = at.checked_add(size).filter(|&end| size >= 8 && end <= within.end)?;
        found.push((name, at + 8..end));
        at = end;
    }
    Some(found)
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

    #[test]
    fn a_sealed_file_is_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("v.mp4");
        std::fs::write(&path, fragmented(b"head", &[(0, b"one"), (512, b"two")])).unwrap();
        assert!(is_whole(&path) && !is_sealed(&path));
        seal(&mut File::options().read(true).write(true).open(&path).unwrap(), &path).unwrap();
        let good = std::fs::read(&path).unwrap();
        assert!(is_whole(&path) && is_sealed(&path));
        assert!(Fragments::of([(path.as_path(), 1024)].into_iter()).is_some());
        for at in [0, 20, good.len() / 2, good.len() - 40, good.len() - 1] {
            let mut bad = good.clone();
            bad[at] ^= 1;
            std::fs::write(&path, bad).unwrap();
            assert!(!is_sealed(&path), "byte {at}");
        }
        std::fs::write(&path, &good[..good.len() - 1]).unwrap();
        assert!(!is_sealed(&path) && !is_sealed(dir.path()));
        // A seal does not hold under another file name or in another folder.
        let (renamed, moved) = (dir.path().join("w.mp4"), dir.path().join("f/v.mp4"));
        std::fs::create_dir(dir.path().join("f")).unwrap();
        for (to, is_it) in [(&path, true), (&renamed, false), (&moved, false)] {
            std::fs::write(to, &good).unwrap();
            assert_eq!(is_sealed(to), is_it, "{}", to.display());
        }
    }

    // A fragmented file, from the decode times and frames of its fragments. The first frame is shown 256 times
    // `delay` ticks later.
    fn delayed(delay: u8, head: &[u8], fragments: &[(u64, &[u8])]) -> Vec<u8> {
        let each = |name: &[u8; 4], body: &[u8]| [&(8 + body.len() as u32).to_be_bytes()[..], name, body].concat();
        let mut file = [each(b"ftyp", b"iso5"), each(b"moov", head)].concat();
        for (number, (time, frames)) in (1_u32..).zip(fragments) {
            let mfhd = each(b"mfhd", &[[0; 4], number.to_be_bytes()].concat());
            let tfhd = each(b"tfhd", &[0, 2, 0, 8, 0, 0, 0, 1, 0, 0, 2, 0]);
            let tfdt = each(b"tfdt", &[&[1, 0, 0, 0][..], &time.to_be_bytes()].concat());
            // Two frames shown in reverse order, the first of one byte.
            let rest = (frames.len() as u32).saturating_sub(1).to_be_bytes();
            let shown = [[0, 0, delay, 0], [0, 0, delay - 4, 0]];
            let about = [[0, 0, 10, 1], [0, 0, 0, 2], [0, 0, 0, 116], [0, 0, 0, 1], shown[0], rest, shown[1]];
            let trun = each(b"trun", &about.concat());
            let moof = each(b"moof", &[mfhd, each(b"traf", &[tfhd, tfdt, trun].concat())].concat());
            file.extend([moof, each(b"mdat", frames)].concat());
        }
        file
    }

    fn fragmented(head: &[u8], fragments: &[(u64, &[u8])]) -> Vec<u8> {
        delayed(4, head, fragments)
    }

    #[test]
    fn fragments_of_files_make_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let long = vec![7; 3 << 19];
        let first = put("a", &fragmented(b"head", &[(0, b"one"), (512, &long)]));
        let mut second = fragmented(b"head", &[(0, b"three")]);
        second.extend([&12_u32.to_be_bytes()[..], b"mfra", b"tell"].concat());
        let second = put("b", &second);
        let row = Fragments::of([(first.as_path(), 1024), (second.as_path(), 512)].into_iter()).unwrap();
        let mut whole = Vec::new();
        let sums = row
            .write(0, |bytes| {
                whole.extend_from_slice(bytes);
                Ok(())
            })
            .unwrap();
        let due = fragmented(b"head", &[(0, b"one"), (512, &long), (1024, b"three")]);
        assert!(whole == due);
        assert_eq!(sums.iter().map(|sum| sum.size).collect::<Vec<_>>(), [1, 2, 1, long.len() as u64 - 1, 1, 4]);
        // Adler-32 of "ne", started at 0: the sum of its letters, and the sum of these sums.
        assert_eq!(sums[1].adler, (110 + 211) << 16 | 211);
        // A delay from frame order is removed, but no frame comes before the file that it follows.
        let late = put("e", &delayed(5, b"head", &[(0, b"late")]));
        let mut whole = Vec::new();
        let row = Fragments::of([(late.as_path(), 1024), (first.as_path(), 1024)].into_iter()).unwrap();
        row.write(0, |bytes| {
            whole.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
        let early = fragmented(b"head", &[(0, b""), (1024 + 256, b"one"), (1024 + 256 + 512, &long)]);
        assert!(whole.ends_with(&early[early.windows(3).position(|w| w == b"one").unwrap()..]));
        let at = |bytes: &[u8], name: &[u8]| bytes.windows(4).rposition(|w| w == name).unwrap() + 8;
        assert!(whole[at(&whole, b"tfdt")..][..8] == (1024_u64 + 256 + 512).to_be_bytes());
        assert!(Fragments::of([(first.as_path(), 1024), (late.as_path(), 1024)].into_iter()).is_none());
        // Writing stops when the receiver fails.
        let row = Fragments::of([(first.as_path(), 1024), (second.as_path(), 512)].into_iter()).unwrap();
        let mut pieces = 0;
        let taken = row.write(0, |_| {
            pieces += 1;
            Err(io::ErrorKind::BrokenPipe.into())
        });
        assert!(taken.is_ok() && pieces == 1);
        let alone = |bytes: &[u8]| Fragments::of([(put("c", bytes).as_path(), 1)].into_iter()).is_some();
        let good = fragmented(b"head", &[(0, b"one")]);
        assert!(alone(&good));
        // Different headers, missing ends, offsets from the file's beginning, times of 32 bits, a second track.
        let other = put("d", &fragmented(b"haed", &[(0, b"four")]));
        assert!(Fragments::of([(first.as_path(), 1024), (other.as_path(), 512)].into_iter()).is_none());
        assert!(!alone(&good[..good.len() - 1]) && !alone(&good[..20]) && !alone(b""));
        let at = |name: &[u8]| good.windows(4).position(|w| w == name).unwrap() + 4;
        for (place, value) in [(at(b"tfhd") + 3, 9), (at(b"tfdt"), 0), (at(b"traf") - 1, b'g'), (at(b"trun") - 1, b'x')]
        {
            let mut bad = good.clone();
            bad[place] = value;
            assert!(!alone(&bad), "byte {place}");
        }
    }
}
