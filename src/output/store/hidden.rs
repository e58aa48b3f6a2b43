//! The hidden folder `.polyfly` beside frames or a video, which holds locks, journals and segments. It may come with
//! a scene from anyone. So a symbolic link, a pipe or a device in the place of the folder or of one of its files is
//! refused.

use super::atomic::folder_of;
use crate::assets::source::open_regular;
use crate::system;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const HIDDEN: &str = ".polyfly";

/// The hidden folder of a folder of frames.
pub fn within(folder: &Path) -> PathBuf {
    folder.join(HIDDEN)
}
/// The hidden folder beside a file.
pub fn beside(file: &Path) -> PathBuf {
    within(folder_of(file))
}

/// Fails if the path exists and is not a folder, or is a symbolic link.
pub fn check(hidden: &Path) -> io::Result<()> {
    let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{what}: remove it")));
    match std::fs::symlink_metadata(hidden) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(what) if what.is_symlink() => wrong("it is a symbolic link, and polyfly needs a folder of its own there"),
        Ok(what) if !what.is_dir() => wrong("it is not a folder, and polyfly needs a folder of its own there"),
        Ok(_) => Ok(()),
    }
}

/// Creates the hidden folder, and a folder of this name in it.
pub fn make(hidden: &Path, name: Option<&str>) -> io::Result<PathBuf> {
    check(hidden)?;
    std::fs::create_dir_all(hidden)?;
    system::hide(hidden);
    let Some(name) = name else { return Ok(hidden.to_owned()) };
    let inner = hidden.join(name);
    check(&inner)?;
    // Another run may remove the empty folder meanwhile.
    std::fs::create_dir_all(&inner)?;
    Ok(inner)
}

/// Opens a file in the hidden folder. Symbolic links, pipes and devices are refused.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    system::refuse_links(options);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device or a pipe, and not a file: remove it"))
        }
    }
}

/// The text of a file of at most `max` bytes.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    let file = open_regular(path)?;
    let mut text = String::new();
    match file.take(max + 1).read_to_string(&mut text)? {
        n if n as u64 > max => {
            let what = format!("it is longer than {} MiB, the maximum of such files", max >> 20);
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        }
        _ => Ok(text),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_pipes_and_long_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let hidden = make(&within(dir.path()), Some("film-a")).unwrap();
        assert_eq!(hidden, at(".polyfly/film-a"));
        std::fs::write(at("precious"), "precious").unwrap();
        symlink(at("precious"), hidden.join("lock")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(hidden.join("pipe")).status().unwrap().success());
        for name in ["lock", "pipe"] {
            let mut options = File::options();
            assert!(open(&hidden.join(name), options.create(true).write(true)).is_err(), "{name}");
        }
        assert_eq!(std::fs::read(at("precious")).unwrap(), b"precious");
        assert!(read_text(&hidden.join("pipe"), 10).is_err());
        assert_eq!(read_text(&at("precious"), 8).unwrap(), "precious");
        assert!(read_text(&at("precious"), 7).unwrap_err().to_string().contains("longer"));
        std::fs::create_dir(at("elsewhere")).unwrap();
        symlink(at("elsewhere"), at("link")).unwrap();
        assert!(make(&at("link"), None).unwrap_err().to_string().contains("it is a symbolic link"));
        assert!(make(&at("precious"), None).unwrap_err().to_string().contains("not a folder"));
        symlink(at("elsewhere"), at(".polyfly/film-b")).unwrap();
        assert!(make(&within(dir.path()), Some("film-b")).is_err());
    }
}
