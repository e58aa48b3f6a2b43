//! Files that are whole or not there: written under a private name, which tells whose it is, and renamed.

use crate::output::error::{NameFile, OutputError};
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

// How long to wait before a write that failed is tried again: a server that starts anew, a cable, a moment without room.
const PAUSES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];

/// Writes a file under a private name in the same folder and gives it its name when it is whole. What fails is tried again a
/// few times, unless it would fail for ever.
pub fn write_whole(path: &Path, fill: impl Fn(&mut File) -> io::Result<()>) -> Result<(), OutputError> {
    let write = || {
        let mut file = temporary(path)?;
        fill(file.as_file_mut())?;
        Ok(file.persist(path).map(drop)?)
    };
    patiently(&PAUSES, write).writing(path)
}

/// Writes a file anew as [`write_whole`] does, and leaves all else of it as it is: its mode and owner, and a symbolic link that leads to it.
pub fn rewrite_whole(path: &Path, fill: impl Fn(&mut File) -> io::Result<()>) -> Result<(), OutputError> {
    let write = || {
        let target = std::fs::canonicalize(path)?;
        // A new file may take a place whose file may not be written.
        let old = File::options().write(true).open(&target)?.metadata()?;
        let mut file = temporary_of_mode(&target, 0o600)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let new = file.as_file().metadata()?;
            if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                // Only root may give a file away; what others write is their own.
                let _ = fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
            }
        }
        file.as_file().set_permissions(old.permissions())?;
        fill(file.as_file_mut())?;
        Ok(file.persist(&target).map(drop)?)
    };
    patiently(&PAUSES, write).writing(path)
}

// Tries again after each pause while it fails with what may pass.
fn patiently(pauses: &[Duration], mut job: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    use io::ErrorKind::{
        AlreadyExists, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };
    const LASTING: [io::ErrorKind; 7] =
        [AlreadyExists, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem];
    for pause in pauses {
        match job() {
            Err(e) if !LASTING.contains(&e.kind()) => std::thread::sleep(*pause),
            done => return done,
        }
    }
    job()
}

// A private name is `.polyfly-HOST-PROCESS-RANDOM.part`.
const PRIVATE: (&str, &str) = (".polyfly-", ".part");

/// This machine's name, as private names hold it.
pub fn host() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        #[cfg(unix)]
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        #[cfg(not(unix))]
        let name = "here";
        name.chars().filter(|c| c.is_ascii_alphanumeric() || "-._".contains(*c)).collect()
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A process of this machine.
    Alive,
    /// One of this machine that is no more.
    Gone,
    Elsewhere,
}

/// Whose file that is; None: nobody's temporary.
pub fn owner_of(name: &str) -> Option<Owner> {
    let mut parts = name.strip_prefix(PRIVATE.0)?.strip_suffix(PRIVATE.1)?.rsplitn(3, '-');
    let (_random, process, machine) = (parts.next()?, parts.next()?, parts.next()?);
    let process: u32 = process.parse().ok()?;
    Some(match machine == host() {
        false => Owner::Elsewhere,
        true if process == std::process::id() || is_alive(process) => Owner::Alive,
        true => Owner::Gone,
    })
}

#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    let id = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // It may be somebody else's, and then it is there too.
    id.is_some_and(|id| rustix::process::test_kill_process(id) != Err(rustix::io::Errno::SRCH))
}
#[cfg(not(unix))]
fn is_alive(_process: u32) -> bool {
    true
}

/// A private file beside `path`, gone if it is not persisted. It is locked as long as it is open: whoever cannot lock it leaves
/// it, whatever machine or container it works in.
pub fn temporary(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    // As any new file: the user's umask takes away what it must.
    temporary_of_mode(path, 0o666)
}

fn temporary_of_mode(path: &Path, mode: u32) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let prefix = format!("{}{}-{}-", PRIVATE.0, host(), std::process::id());
    builder.prefix(&prefix).suffix(PRIVATE.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    let file = builder.tempfile_in(folder_of(path))?;
    // Where a file system knows no locks, its name and its age have to do.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Whether somebody works on a temporary: holds its lock.
pub fn is_held(temporary: &Path) -> bool {
    let options = || File::options().read(true).write(true).open(temporary);
    options().is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the folder of `path` and tries that a file can be made in it.
pub fn prepare(path: &Path) -> Result<(), OutputError> {
    std::fs::create_dir_all(folder_of(path)).writing(path)?;
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")).writing(path);
    }
    temporary(path).map(drop).writing(path)
}

/// Removes a file, if there is one.
pub fn remove_existing(path: &Path) -> Result<(), OutputError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e).writing(path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn what_may_pass_is_tried_again() {
        let run = |kind: ErrorKind, failures: usize| {
            let mut tries = 0;
            let result = patiently(&[Duration::ZERO; 3], || {
                tries += 1;
                if tries <= failures { Err(Error::from(kind)) } else { Ok(()) }
            });
            (result.is_ok(), tries)
        };
        assert_eq!(run(ErrorKind::StaleNetworkFileHandle, 3), (true, 4));
        assert_eq!(run(ErrorKind::StorageFull, 4), (false, 4));
        assert_eq!(run(ErrorKind::PermissionDenied, 1), (false, 1));
        assert_eq!(run(ErrorKind::TimedOut, 0), (true, 1));
    }
}
