//! Opens a file or an address with the system's program for it.

use crate::system;
use std::ffi::OsStr;
use std::io;
use std::process::Stdio;

/// Starts the first of the system's programs that is there.
///
/// # Errors
/// There is none.
pub fn open_in_viewer(what: impl AsRef<OsStr>) -> io::Result<()> {
    let mut failed = io::ErrorKind::NotFound.into();
    for known in open::commands(what) {
        let started = system::program(known.get_program()).and_then(|mut command| {
            command.args(known.get_args()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            system::detach(&mut command)
        });
        match started {
            Ok(()) => return Ok(()),
            Err(e) => failed = e,
        }
    }
    Err(failed)
}
