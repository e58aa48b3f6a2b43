//! Folders of frames: which frames exist, which are complete, and the temporary files of dead runs.

use super::atomic::{Owner, folder_of, is_held, owner_of, temporary};
use super::origin::Origin;
use crate::assets::source::open_regular;
use crate::output::error::{NameFile, OutputError};
use crate::output::formats::Format;
use crate::scene::Pattern;
use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The age, by the clock of the folder's machine, from which another machine's temporary file is removed.
const STALE: Duration = Duration::from_secs(3600);

#[derive(Clone)]
pub struct FrameFolder {
    pub pattern: Pattern,
    pub format: &'static Format,
    pub size: (u32, u32),
}

impl FrameFolder {
    pub fn path(&self) -> PathBuf {
        folder_of(&self.pattern.path(0)).to_owned()
    }

    /// Numbers of the existing frames, complete or not. Empty if there is no folder.
    pub fn existing(&self) -> Result<BTreeSet<u32>, OutputError> {
        let number = |entry: io::Result<DirEntry>| -> io::Result<_> {
            Ok(entry?.file_name().to_str().and_then(|name| self.pattern.number(name)))
        };
        match std::fs::read_dir(self.path()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
            entries => entries.and_then(|all| all.filter_map(|entry| number(entry).transpose()).collect()),
        }
        .reading(&self.path())
    }

    /// Fails if one of these frames is read-only.
    pub fn expect_writable(&self, mut frames: impl Iterator<Item = u32>) -> Result<(), OutputError> {
        let is_read_only =
            |n: &u32| std::fs::symlink_metadata(self.pattern.path(*n)).is_ok_and(|m| m.permissions().readonly());
        match frames.find(is_read_only) {
            None => Ok(()),
            Some(n) => {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only")).writing(&self.pattern.path(n))
            }
        }
    }

    /// Whether frame n exists and is complete: it has the run's size and its format's end. Nothing is decoded.
    pub fn is_whole(&self, n: u32) -> bool {
        let path = self.pattern.path(n);
        let look = || -> io::Result<bool> {
            // A symbolic link does not count as a frame; rendering replaces it.
            if !std::fs::symlink_metadata(&path)?.is_file() {
                return Ok(false);
            }
            let mut file = open_regular(&path)?;
            let length = file.metadata()?.len();
            (self.format.is_whole)(&mut file, length, self.size)
        };
        look().unwrap_or(false)
    }

    /// Whether the file of frame n says of itself that it is this frame of this origin. Formats without a text say
    /// nothing.
    pub fn is_of(&self, n: u32, origin: &Origin) -> bool {
        let text = self.format.origin(&self.pattern.path(n)).ok().flatten().unwrap_or_default();
        text.lines().next().is_some_and(|line| line.ends_with(&origin.remark(n)))
    }
}

/// Removes the temporary files of dead runs. Returns how many there were.
pub fn sweep(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    // The time of the machine that holds the folder, which may differ from this machine's.
    let now = temporary(&folder.join("now")).and_then(|f| f.as_file().metadata()?.modified()).ok();
    let is_old = |modified: io::Result<SystemTime>| {
        let age = now.zip(modified.ok()).and_then(|(now, then)| now.duration_since(then).ok());
        age.is_some_and(|age| age > STALE)
    };
    let mut swept = 0;
    for entry in entries.flatten() {
        let is_left = match entry.file_name().to_str().and_then(owner_of) {
            Some(Owner::Gone) => true,
            Some(Owner::Elsewhere) => is_old(entry.metadata().and_then(|m| m.modified())),
            Some(Owner::Alive) | None => false,
        };
        let is_left = is_left && !is_held(&entry.path());
        swept += usize::from(is_left && std::fs::remove_file(entry.path()).is_ok());
    }
    swept
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn frames(folder: &Path, name: &str) -> FrameFolder {
        let (pattern, _) = Pattern::parse(&format!("{}/{name}", folder.display())).unwrap();
        let format = Format::of(&pattern.extension()).unwrap();
        FrameFolder { pattern, format, size: (3, 2) }
    }

    #[test]
    fn frames_are_found_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let folder = frames(dir.path(), "f%03d.png");
        for name in ["f000.png", "f012.png", "f12.png", "f0012.png", "f1234.png", "g000.png", "f-01.png", "f000.pngx"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(folder.existing().unwrap().into_iter().collect::<Vec<_>>(), [0, 12, 1234]);
        assert!(!folder.is_whole(0));
        assert!(frames(&dir.path().join("none"), "%d.png").existing().unwrap().is_empty());
    }

    #[test]
    fn only_what_nobody_works_on_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let mine = temporary(&dir.path().join("0.png")).unwrap();
        let of = |name: &str| dir.path().join(name);
        let here = crate::output::store::atomic::host();
        // Process numbers are smaller than this one.
        let dead = of(&format!(".polyfly-{here}-4194305-abcdef.part"));
        let other = of(".polyfly-otherhost-1-abcdef.part");
        let old = of(".polyfly-otherhost-1-bcdefg.part");
        for file in [&dead, &other, &old, &of("0.png"), &of(".polyfly-notes.part")] {
            std::fs::write(file, "").unwrap();
        }
        let long_ago = SystemTime::now() - 2 * STALE;
        File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        let swept = sweep(dir.path());
        assert_eq!((swept, dead.exists(), old.exists()), (2, false, false));
        // The owner runs in a container of the same host name. Its process is invisible here, but it holds the lock.
        std::fs::write(&dead, "").unwrap();
        let held = File::options().write(true).open(&dead).unwrap();
        held.lock().unwrap();
        assert!(sweep(dir.path()) == 0 && dead.exists());
        drop(held);
        assert!(sweep(dir.path()) == 1 && !dead.exists());
        assert!(other.exists() && mine.path().exists() && of("0.png").exists() && of(".polyfly-notes.part").exists());
    }
}
