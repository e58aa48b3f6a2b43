//! What Unix systems and WebAssembly share: paths as POSIX has them, and locks of the standard library.

pub use crate::quote::shell_word as command_word;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::Path;

/// The name of Python 3 on the PATH.
pub const PYTHON: &str = "python3";
/// The file that takes all and keeps nothing.
pub const NULL_DEVICE: &str = "/dev/null";
/// Whether a file cannot be replaced while another program has it open.
pub const OPEN_FILES_STAY: bool = false;

/// A path whose parts are separated by `/`.
pub fn slashes(path: &str) -> Cow<'_, str> {
    path.into()
}

/// A path in the form that may be of any length.
pub fn long(path: &Path) -> Cow<'_, Path> {
    path.into()
}

/// The locale of messages, where no variable of the environment names it.
pub fn locale() -> String {
    String::new()
}

/// The words of the command line. The shell has expanded patterns.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// Locks a file for this process, unless another one holds the lock.
pub fn try_lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// The same for a lock that several processes may hold.
pub fn try_lock_shared(file: &File) -> Result<(), TryLockError> {
    file.try_lock_shared()
}
