//! Atomic writes. A file is written under a private name, which says whose it is, and renamed when it is complete.

use crate::assets::source::check_regular;
use crate::output::error::{NameFile, OutputError};
use crate::system;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::{NamedTempFile, PersistError};

// Pauses before a failed write is tried again, because a file server may restart or a disk may be full for a moment.
const PAUSES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];

/// Writes a file under a private name in the same folder and renames it when it is complete. Errors that may pass are
/// retried.
pub fn write_whole(path: &Path, fill: impl Fn(&mut File) -> io::Result<()>) -> Result<(), OutputError> {
    let write = || {
        let mut file = temporary(path)?;
        fill(file.as_file_mut())?;
        Ok(persist(file, path).map(drop)?)
    };
    patiently(&PAUSES, write).writing(path)
}

/// Replaces a file's content as [`write_whole`] does, and keeps its mode, its owner and a symbolic link that leads to
/// it.
pub fn rewrite_whole(path: &Path, fill: impl Fn(&mut File) -> io::Result<()>) -> Result<(), OutputError> {
    let write = || {
        let target = std::fs::canonicalize(path)?;
        check_regular(&target.metadata()?)?;
        // A rename would replace a read-only file too, so this checks that it is writable.
        let old = File::options().write(true).open(&target)?.metadata()?;
        let mut file = temporary_of_mode(&target, 0o600)?;
        system::keep_owner(&old, file.as_file())?;
        file.as_file().set_permissions(old.permissions())?;
        fill(file.as_file_mut())?;
        Ok(persist(file, &target).map(drop)?)
    };
    patiently(&PAUSES, write).writing(path)
}

// Retries after each pause while the error is one that may pass.
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

/// The machine's name in private names.
pub fn host() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let name = system::gethostname();
        name.to_string_lossy().chars().filter(|c| c.is_ascii_alphanumeric() || "-._".contains(*c)).collect()
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A running process of this machine.
    Alive,
    /// A process of this machine that has ended.
    Gone,
    Elsewhere,
}

/// The owner of a temporary file; None if the name is not a private one.
pub fn owner_of(name: &str) -> Option<Owner> {
    let mut parts = name.strip_prefix(PRIVATE.0)?.strip_suffix(PRIVATE.1)?.rsplitn(3, '-');
    let (_random, process, machine) = (parts.next()?, parts.next()?, parts.next()?);
    let process: u32 = process.parse().ok()?;
    Some(match machine == host() {
        false => Owner::Elsewhere,
        true if process == std::process::id() || system::is_alive(process) => Owner::Alive,
        true => Owner::Gone,
    })
}

/// A private file beside `path`, deleted unless it is persisted. It is locked while it is open, so processes in other
/// containers and on other machines leave it alone.
pub fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    // The mode of any new file; the umask applies.
    temporary_of_mode(path, 0o666)
}

fn temporary_of_mode(path: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let prefix = format!("{}{}-{}-", PRIVATE.0, host(), std::process::id());
    builder.prefix(&prefix).suffix(PRIVATE.1);
    system::set_mode(&mut builder, mode);
    // The error of the system, without the private name.
    let plain = |e: io::Error| {
        let cause = e.get_ref().and_then(std::error::Error::source).and_then(|e| e.downcast_ref::<io::Error>());
        cause.and_then(io::Error::raw_os_error).map(io::Error::from_raw_os_error).unwrap_or(e)
    };
    let file = builder.tempfile_in(system::long(folder_of(path))).map_err(plain)?;
    // On file systems without locks, only the name and the age protect the file.
    let _ = system::try_lock(file.as_file());
    Ok(file)
}

/// Gives a temporary file its name; replaces a file of this name.
pub fn persist(mut file: NamedTempFile, path: &Path) -> Result<File, PersistError> {
    let path = system::long(path);
    for pause in PAUSES.iter().filter(|_| system::OPEN_FILES_STAY) {
        match file.persist(&path) {
            Err(e) if e.error.kind() == io::ErrorKind::PermissionDenied => {
                std::thread::sleep(*pause);
                file = e.file;
            }
            done => return done,
        }
    }
    file.persist(path)
}

/// Whether a process holds the lock of a temporary file.
pub fn is_held(temporary: &Path) -> bool {
    let mut options = File::options();
    system::never_wait(options.read(true).write(true));
    options.open(temporary).is_ok_and(|file| matches!(system::try_lock(&file), Err(TryLockError::WouldBlock)))
}

pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates the folder of `path` and checks that it is writable. A device or a pipe is not replaced.
pub fn prepare(path: &Path) -> Result<(), OutputError> {
    std::fs::create_dir_all(folder_of(path)).writing(path)?;
    if let Ok(what) = path.metadata() {
        check_regular(&what).writing(path)?;
    }
    temporary(path).map(drop).writing(path)
}

/// Removes a file if it exists.
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
