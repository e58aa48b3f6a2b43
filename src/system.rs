//! What differs between operating systems: one file for each kind, with the same functions. No other file asks for the
//! system it is built for (`device` and `threads` ask whether GPUs and threads can exist at all).

#[cfg(not(windows))]
mod posix;
mod program;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::*;
#[cfg(target_family = "wasm")]
mod wasm;
#[cfg(target_family = "wasm")]
pub use wasm::*;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;

pub use program::program;

/// The extension of a file's name, in lower case; empty if it has none.
pub fn extension(path: &std::path::Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
#[cfg(not(target_family = "wasm"))]
pub use {gethostname::gethostname, libloading::Library};

/// What comes in from the terminal or another program.
pub fn stdin() -> std::io::Stdin {
    std::io::stdin()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, TryLockError};
    use std::io::{Read, Write};
    use std::path::Path;
    use std::process::{Command, Stdio};

    #[test]
    fn a_lock_keeps_others_from_locking_and_not_from_writing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = File::create(&path).unwrap();
        try_lock(&first).unwrap();
        let mut second = File::options().write(true).open(&path).unwrap();
        assert!(matches!(try_lock(&second), Err(TryLockError::WouldBlock)));
        second.write_all(b"text").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"text");
        drop(first);
        try_lock(&second).unwrap();
    }

    #[test]
    fn programs_are_found_in_absolute_folders() {
        let sort = program("sort").unwrap();
        let file = Path::new(sort.get_program());
        assert!(file.is_absolute() && file.is_file(), "{file:?}");
        let path = sort.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path).unwrap();
        assert!(std::env::split_paths(path).all(|folder| folder.is_absolute()), "{path:?}");
        assert_eq!(program("no such program").unwrap_err().kind(), std::io::ErrorKind::NotFound);
        assert_eq!(program("./sort").unwrap().get_program(), "./sort");
    }

    #[test]
    fn a_group_is_killed() {
        // A program that waits for its standard input to end.
        let (mut child, group) =
            ChildGroup::spawn(Command::new("sort").stdin(Stdio::piped()).stdout(Stdio::piped())).unwrap();
        assert!(is_alive(child.id()) && is_alive(std::process::id()));
        group.kill();
        let mut said = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
        assert!(!child.wait().unwrap().success() && said.is_empty());
        assert!(!is_alive(child.id()));
    }

    #[test]
    fn what_the_system_reports_makes_sense() {
        let path = std::env::current_exe().unwrap();
        let facts = path.metadata().unwrap();
        assert_ne!(file_number(&path, &facts), 0);
        let lots = Path::new("folder").join("n".repeat(100)).join("n".repeat(200));
        assert!(long(&lots).ends_with(&lots) && long(&path).as_ref() == path);
        if cfg!(any(target_os = "linux", windows)) {
            assert!(available_memory().unwrap() > 1 << 20);
        }
    }
}
