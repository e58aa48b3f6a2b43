//! Files other than frames and videos that commands write: a file is whole or absent, and replaces an existing one only
//! if the user has asked for that.

use crate::cli::Failure;
use crate::error::Error;
use crate::language::msg;
use crate::output::OutputError;
use crate::output::store::atomic::{prepare, write_whole};
use std::io::Write;
use std::path::Path;

/// A file that a command may write.
#[must_use = "nothing is written yet"]
pub struct OutputFile<'a>(&'a Path);

impl<'a> OutputFile<'a> {
    /// Refuses an existing file, unless it may be overwritten. Nothing is written yet, so that a command can ask before
    /// its work.
    pub fn create(path: &'a Path, overwrite: bool) -> Result<OutputFile<'a>, Failure> {
        // A device or a pipe has nothing to lose, and a folder is reported when the file is written.
        if !overwrite && path.is_file() {
            return Err(Error::misused(
                msg!("{path} already exists", path = path.display()),
                msg!("give another name, or --overwrite"),
            )
            .into());
        }
        Ok(OutputFile(path))
    }

    /// The file's path.
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
