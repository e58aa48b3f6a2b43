//! WebAssembly: one process without files, other programs and signals. What would need them fails, or does nothing.

pub use super::posix::*;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command};

/// The name of this machine.
pub fn gethostname() -> OsString {
    OsString::new()
}

/// Files are opened without following a symbolic link or waiting for a pipe.
pub fn refuse_links(_options: &mut OpenOptions) {}

/// Opening a pipe does not wait for its other end.
pub fn never_wait(_options: &mut OpenOptions) {}

/// New files have this mode; the umask applies.
pub fn set_mode(_builder: &mut tempfile::Builder<'_, '_>, _mode: u32) {}

/// Gives a new file the owner of the old one.
pub fn keep_owner(_old: &Metadata, _new: &File) -> io::Result<()> {
    Ok(())
}

/// Whether a file is a pipe with a name.
pub fn is_pipe(_facts: &Metadata) -> bool {
    false
}

/// A number that differs between two files of one name.
pub fn file_number(_path: &Path, _facts: &Metadata) -> u64 {
    0
}

/// Fills `bytes` with those of a file from `at` on.
pub fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// When the content or an attribute of a file was changed last: here, no such time is known.
pub fn status_changed(_facts: &Metadata) -> [i64; 2] {
    [0; 2]
}

/// Hides a folder in listings.
pub fn hide(_folder: &Path) {}

/// The file of a program.
pub fn executable(_file: PathBuf) -> Option<PathBuf> {
    None
}

/// Libraries are not searched in the working folder.
pub fn search_no_working_folder() {}

/// There are none.
pub fn step_back() {}

/// A child process in its own group.
pub struct ChildGroup;

impl ChildGroup {
    pub fn spawn(command: &mut Command) -> io::Result<(Child, ChildGroup)> {
        Ok((command.spawn()?, ChildGroup))
    }

    /// Kills the process and its children.
    pub fn kill(&self) {}
}

/// Whether a process of this machine runs.
pub fn is_alive(_process: u32) -> bool {
    false
}

/// Makes the pipe to a child process larger.
pub fn enlarge_pipe(_pipe: &ChildStdin) {}

/// Whether the shell has closed standard output.
pub fn stdout_is_closed() -> bool {
    false
}

/// Free memory in bytes; None if the system does not report it.
pub fn available_memory() -> Option<u64> {
    None
}

/// A library that is loaded at run time, by the interface of `libloading`. There is none.
pub enum Library {}

#[expect(unsafe_code, reason = "the functions of libloading are unsafe")]
impl Library {
    /// Fails.
    ///
    /// # Safety
    /// It does nothing.
    pub unsafe fn new(_: &Path) -> Result<Library, &'static str> {
        Err("WebAssembly loads no libraries")
    }

    /// A function of the library, of which there is none.
    ///
    /// # Safety
    /// It is never called.
    pub unsafe fn get<T>(&self, _: &str) -> Result<&T, &'static str> {
        match *self {}
    }
}
