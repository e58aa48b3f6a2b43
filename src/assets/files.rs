//! The files of a scene while a run reads them. Frames of a clip must not mix two contents of a file, so each read is compared with what
//! the manifest records.

use super::error::{AssetError, kind_of};
use super::particles::memory::StepSource;
use super::source::{self, Limits, open_regular};
use crate::language::msg;
use crate::math::hash::{hex, of_reader};
use crate::system;
use crate::threads::lock;
use sha2::{Digest, Sha256};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Length, times of the last changes, and the file's number: one of them differs after a file is changed or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState(u64, Option<SystemTime>, u64, [i64; 2]);

/// The state of a file; None if there is none.
pub fn state(path: &Path) -> Option<FileState> {
    let facts = std::fs::metadata(path).ok()?;
    let number = system::file_number(path, &facts);
    Some(FileState(facts.len(), facts.modified().ok(), number, system::status_changed(&facts)))
}

/// How much of a file a checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// All bytes.
    Whole,
    /// The length, the beginning and the end, because the files of all time steps may be terabytes.
    Ends,
}

impl Extent {
    // SHA-256 of a file. If it is unreadable, the error's text: rendering reports the error.
    fn checksum(self, path: &Path) -> String {
        let sum = match self {
            Extent::Whole => open_regular(path).and_then(of_reader).map(|hash| hex(&hash.finalize())),
            Extent::Ends => fingerprint(path),
        };
        sum.unwrap_or_else(|e| e.to_string())
    }
}

/// A file's length, and SHA-256 of its beginning and end.
pub fn fingerprint(path: &Path) -> io::Result<String> {
    const SOME: u64 = 4096;
    let mut file = open_regular(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(SOME).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(length.saturating_sub(SOME)))?;
    file.take(SOME).read_to_end(&mut bytes)?;
    Ok(format!("{length} {}", hex(&Sha256::digest(bytes)[..8])))
}

/// The contents of files, as a manifest records them.
#[derive(Debug, Default)]
pub struct RecordedFiles(Mutex<BTreeMap<PathBuf, Recorded>>);

#[derive(Debug)]
struct Recorded {
    // The last state that had the recorded content.
    state: Option<FileState>,
    checksums: BTreeMap<Extent, String>,
}

impl RecordedFiles {
    /// The checksum of a file, which is computed once.
    pub fn checksum(&self, path: &Path, extent: Extent) -> String {
        let mut all = lock(&self.0);
        let new = || Recorded { state: state(path), checksums: BTreeMap::new() };
        let recorded = all.entry(path.to_owned()).or_insert_with(new);
        recorded.checksums.entry(extent).or_insert_with(|| extent.checksum(path)).clone()
    }

    // Whether a file of this state has the recorded content, if there is a record. Only a changed file is read.
    fn allow(&self, path: &Path, now: FileState) -> bool {
        let mut all = lock(&self.0);
        let Some(recorded) = all.get_mut(path) else { return true };
        if recorded.state == Some(now) {
            return true;
        }
        let is_same = recorded.checksums.iter().all(|(extent, sum)| extent.checksum(path) == *sum);
        if is_same {
            recorded.state = Some(now);
        }
        is_same
    }
}

/// How the files of a scene are read.
#[derive(Clone, Debug, Default)]
pub struct Files {
    pub limits: Limits,
    pub recorded: Arc<RecordedFiles>,
    /// Particles in memory, in place of their file.
    pub memory: Option<Arc<dyn StepSource>>,
    // The file that was opened last, if it has more to read.
    opened: Arc<Mutex<Option<Opened>>>,
    // What later frames need of earlier files, by its key, the oldest first.
    kept: Arc<Mutex<VecDeque<(String, Kept)>>>,
}

type Kept = Arc<dyn Any + Send + Sync>;

#[derive(Clone, Debug)]
struct Opened {
    path: PathBuf,
    state: FileState,
    value: Kept,
}

impl Files {
    /// Files with the contents of a record, and perhaps particles in memory.
    pub fn new(limits: Limits, recorded: Arc<RecordedFiles>, memory: Option<Arc<dyn StepSource>>) -> Files {
        Files { limits, recorded, memory, ..Files::default() }
    }

    /// Whether the particles come from memory, one time step after the other.
    pub fn is_in_order(&self) -> bool {
        self.memory.as_ref().is_some_and(|steps| steps.is_in_order())
    }

    /// Reads a file that messages call by that name. A file that is replaced meanwhile is read again.
    ///
    /// # Errors
    /// The file cannot be read, is too long, or has another content than its record.
    pub fn read_by<T>(
        &self,
        kind: &str,
        path: &Path,
        read: impl Fn(File) -> Result<T, AssetError>,
    ) -> Result<T, AssetError> {
        const TRIES: usize = 3;
        for _ in 0..TRIES {
            let before = state(path);
            if before.is_some_and(|now| !self.recorded.allow(path, now)) {
                break;
            }
            let value = source::open(kind, path, self.limits).and_then(&read);
            if state(path) == before {
                return value;
            }
        }
        Err(AssetError::new(path, msg!("the {kind} has changed since the run began", kind = kind_of(kind)))
            .help(msg!("put the old file back and give --resume, or render all frames again with --overwrite")))
    }

    /// Reads a part of a file that `open` has opened, now or for an earlier part. `open` says whether there are more parts.
    ///
    /// # Errors
    /// Those of [`Files::read_by`].
    pub fn read_part<O: Send + Sync + 'static, T>(
        &self,
        kind: &str,
        path: &Path,
        open: impl Fn(File) -> Result<(O, bool), AssetError>,
        read: impl Fn(&O) -> Result<T, AssetError>,
    ) -> Result<T, AssetError> {
        self.read_by(kind, path, |file| {
            let now = state(path);
            let is_same = |opened: &Opened| opened.path == path && Some(opened.state) == now;
            let earlier = lock(&self.opened).clone().filter(is_same);
            if let Some(Ok(value)) = earlier.map(|opened| opened.value.downcast::<O>()) {
                return read(&value);
            }
            let (value, has_more) = open(file)?;
            let value = Arc::new(value);
            if let (Some(state), true) = (now, has_more) {
                *lock(&self.opened) = Some(Opened { path: path.to_owned(), state, value: Arc::clone(&value) as _ });
            }
            read(&value)
        })
    }

    /// What has been made of a file in its present state under this key, or is made now. So many are kept.
    pub fn keep<T: Send + Sync + 'static>(
        &self,
        (path, key): (&Path, &str),
        most: usize,
        make: impl FnOnce() -> Result<T, AssetError>,
    ) -> Result<Arc<T>, AssetError> {
        let key = format!("{key} {} {:?}", path.display(), state(path));
        let found = lock(&self.kept).iter().find(|(other, _)| *other == key).map(|(_, value)| Arc::clone(value));
        if let Some(Ok(value)) = found.map(Arc::downcast) {
            return Ok(value);
        }
        let value = Arc::new(make()?);
        let mut kept = lock(&self.kept);
        kept.push_back((key, Arc::clone(&value) as _));
        let excess = kept.len().saturating_sub(most);
        kept.drain(..excess);
        Ok(value)
    }

    /// The bytes of a file.
    pub fn read(&self, kind: &str, path: &Path) -> Result<Vec<u8>, AssetError> {
        self.read_by(kind, path, |file| source::read(kind, path, file, self.limits))
    }

    /// Reads a picture after a check of its size.
    pub fn read_picture(&self, kind: &str, path: &Path, max: u32) -> Result<image::DynamicImage, AssetError> {
        source::decode(kind, path, &self.read(kind, path)?, max, self.limits)
    }
}

impl From<Limits> for Files {
    fn from(limits: Limits) -> Files {
        Files { limits, ..Files::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_file_with_more_to_read_is_opened_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("many");
        std::fs::write(&path, "one").unwrap();
        let (files, opened) = (Files::default(), Cell::new(0));
        let part = |has_more: bool| {
            let open = |mut file: File| {
                opened.set(opened.get() + 1);
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                Ok((text, has_more))
            };
            files.read_part("particles", &path, open, |text: &String| Ok(text.clone())).unwrap()
        };
        assert_eq!((part(false), part(true), part(true), opened.get()), ("one".into(), "one".into(), "one".into(), 2));
        std::fs::write(&path, "other").unwrap();
        assert_eq!((part(true), opened.get()), ("other".into(), 3));
    }

    #[test]
    fn a_file_keeps_its_content_while_it_is_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sky.hdr");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        let read = |files: &Files| files.read("sky", &path).map(|bytes| String::from_utf8(bytes).unwrap());
        write("one");
        let files = Files::default();
        assert_eq!(read(&files).unwrap(), "one");
        // Without a record, each content will do.
        write("two");
        assert_eq!(read(&files).unwrap(), "two");
        for extent in [Extent::Whole, Extent::Ends] {
            let sum = files.recorded.checksum(&path, extent);
            write("six");
            let e = read(&files).unwrap_err();
            assert!(e.to_string().contains("the sky has changed") && e.remedy.is_some(), "{e}");
            assert_eq!(files.recorded.checksum(&path, extent), sum);
            write("two");
            assert_eq!(read(&files).unwrap(), "two", "the same content, written again");
        }
        // Replaced while it is read: by the same content, and by another one.
        let during = |text: &str| {
            let tries = Cell::new(0);
            let value = files.read_by("sky", &path, |_| {
                tries.set(tries.get() + 1);
                let other = dir.path().join("other");
                std::fs::write(&other, text).unwrap();
                if tries.get() == 1 {
                    std::fs::rename(&other, &path).unwrap();
                }
                Ok(tries.get())
            });
            value.ok()
        };
        assert_eq!(during("two"), Some(2));
        assert_eq!(during("six"), None);
        std::fs::remove_file(&path).unwrap();
        assert!(read(&files).unwrap_err().to_string().contains("cannot read"));
    }
}
