//! Files other than frames and videos that commands write: a file is whole or absent, and replaces an existing one only
//! if the user has asked for that.

use crate::assets::source::read_regular;
use crate::cli::Failure;
use crate::error::Error;
use crate::language::msg;
use crate::output::OutputError;
use crate::output::store::atomic::{prepare, write_whole};
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

fn exists(path: &Path) -> Failure {
    let what = msg!("{path} already exists", path = path.display());
    Error::misused(what, msg!("give another name, or --overwrite")).into()
}

/// A file that a command may write.
#[must_use = "nothing is written yet"]
pub struct OutputFile<'a>(&'a Path);

impl<'a> OutputFile<'a> {
    /// Refuses an existing file, unless it may be overwritten. Nothing is written yet, so that a command can ask before
    /// its work.
    pub fn create(path: &'a Path, overwrite: bool) -> Result<OutputFile<'a>, Failure> {
        // A device or a pipe has nothing to lose, and a folder is reported when the file is written.
        if !overwrite && path.is_file() { Err(exists(path)) } else { Ok(OutputFile(path)) }
    }

    /// Writes files, or nothing where one of them exists with another content.
    pub fn write_all(files: &[(PathBuf, Cow<[u8]>)], overwrite: bool) -> Result<(), Failure> {
        let is_other = |(path, bytes): &&(PathBuf, Cow<[u8]>)| {
            path.is_dir() || !overwrite && path.exists() && read_regular(path).map_or(true, |found| found != **bytes)
        };
        match files.iter().find(is_other) {
            Some((path, _)) => Err(exists(path)),
            None => files.iter().try_for_each(|(path, bytes)| Ok(OutputFile(path).write(bytes)?)),
        }
    }

    pub fn path(&self) -> &'a Path {
        self.0
    }

    /// Writes the file. Its name has the old content until the new one is complete, so that a command can write over its
    /// input.
    pub fn write(&self, bytes: &[u8]) -> Result<(), OutputError> {
        prepare(self.0)?;
        write_whole(self.0, |file| file.write_all(bytes))
    }
}
