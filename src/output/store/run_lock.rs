//! The lock that all runs of one scene in a folder share, so that no run of another scene replaces their frames. All functions are
//! called under the lock of the folder's manifest.

use super::hidden;
use crate::output::error::{NameFile, OutputError};
use crate::system;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Held while a run writes frames. The system releases it when the process ends.
pub struct RunLock {
    _file: File,
}

const PREFIX: &str = "running-";

fn path(hidden: &Path, hash: &str) -> PathBuf {
    hidden.join(format!("{PREFIX}{hash}"))
}

fn open(path: &Path) -> std::io::Result<File> {
    hidden::open(path, File::options().create(true).read(true).write(true).truncate(false))
}

impl RunLock {
    /// Joins the runs of the scene with this hash. File systems without locks are taken as they are.
    pub fn share(hidden: &Path, hash: &str) -> Result<RunLock, OutputError> {
        let path = path(hidden, hash);
        let file = open(&path).writing(&path)?;
        let _ = system::try_lock_shared(&file);
        Ok(RunLock { _file: file })
    }

    /// Removes the locks that no run holds, also those that killed runs have left.
    pub fn sweep(hidden: &Path) {
        for entry in std::fs::read_dir(hidden).into_iter().flatten().flatten() {
            if let Some(hash) = entry.file_name().to_str().and_then(|name| name.strip_prefix(PREFIX)) {
                let _ = RunLock::remove(hidden, hash);
            }
        }
    }

    /// Removes the lock. None if a run of the scene holds it.
    pub fn remove(hidden: &Path, hash: &str) -> Option<()> {
        let path = path(hidden, hash);
        if !path.exists() {
            return Some(());
        }
        let file = open(&path).ok()?;
        if matches!(system::try_lock(&file), Err(TryLockError::WouldBlock)) {
            return None;
        }
        drop(file);
        let _ = std::fs::remove_file(path);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_scene_share_its_lock_and_the_last_one_removes_it() {
        let dir = tempfile::tempdir().unwrap();
        let hidden = hidden::make(&hidden::within(dir.path()), None).unwrap();
        let [one, two] = [0, 1].map(|_| RunLock::share(&hidden, "a").unwrap());
        let other = RunLock::share(&hidden, "b").unwrap();
        drop(one);
        assert_eq!(RunLock::remove(&hidden, "a"), None, "the second run goes on");
        drop(two);
        assert_eq!(RunLock::remove(&hidden, "a"), Some(()));
        assert_eq!(RunLock::remove(&hidden, "a"), Some(()), "there is none");
        assert_eq!(RunLock::remove(&hidden, "b"), None);
        RunLock::sweep(&hidden);
        assert_eq!(std::fs::read_dir(&hidden).unwrap().count(), 1);
        drop(other);
        RunLock::sweep(&hidden);
        assert_eq!(std::fs::read_dir(&hidden).unwrap().count(), 0);
    }
}
