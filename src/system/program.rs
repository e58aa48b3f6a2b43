//! Programs that this one starts. Nothing is found by way of the working folder, which may come from anybody.

use super::executable;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command for a program: its path, or its name in an absolute folder of the PATH. Other entries of the PATH, empty ones too, are
/// relative to the working folder. They are skipped, and the program gets a PATH without them.
///
/// # Errors
/// No such folder has the program.
pub fn program(name: impl AsRef<Path>) -> io::Result<Command> {
    let name = name.as_ref();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let is_path = name.parent() != Some(Path::new(""));
    let found = || folders.iter().find_map(|folder| executable(folder.join(name)));
    let file = if is_path { Some(name.to_owned()) } else { found() };
    let mut command = Command::new(file.ok_or(io::ErrorKind::NotFound)?);
    match std::env::join_paths(&folders) {
        Ok(path) if !path.is_empty() => command.env("PATH", path),
        // An empty PATH is the working folder.
        _ => command.env_remove("PATH"),
    };
    Ok(command)
}
