//! What polyfly keeps for itself in a folder of frames or beside a film: locks, journals, segments, in a folder `.polyfly`.
//!
//! The folder may have come with somebody's scene. A link in its place, or in that of a file of ours, is refused and not
//! followed; a pipe or a device is refused and not waited for.

use super::atomic::folder_of;
use crate::assets::source::open_regular;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const HIDDEN: &str = ".polyfly";

/// That of a folder.
pub fn within(folder: &Path) -> PathBuf {
    folder.join(HIDDEN)
}
/// That beside a file.
pub fn beside(file: &Path) -> PathBuf {
    within(folder_of(file))
}

/// Whether what is there under that name, if anything, is a folder itself.
pub fn check(hidden: &Path) -> io::Result<()> {
    let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{what}: remove it")));
    match std::fs::symlink_metadata(hidden) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(what) if what.is_symlink() => wrong("it is a link, and polyfly's own folder is none"),
        Ok(what) if !what.is_dir() => wrong("it is no folder, where polyfly has one of its own"),
        Ok(_) => Ok(()),
    }
}

/// Makes it, and a folder in it of that name.
pub fn make(hidden: &Path, name: Option<&str>) -> io::Result<PathBuf> {
    check(hidden)?;
    std::fs::create_dir_all(hidden)?;
    let Some(name) = name else { return Ok(hidden.to_owned()) };
    let inner = hidden.join(name);
    check(&inner)?;
    // Another run, which has nothing in it, may remove it meanwhile.
    std::fs::create_dir_all(&inner)?;
    Ok(inner)
}

/// Opens a file in it as the options say, never a link, a pipe or a device.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device or a pipe, and not a file: remove it"))
        }
    }
}

/// The text of a file that is no longer than that.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    let file = open_regular(path)?;
    let mut text = String::new();
    match file.take(max + 1).read_to_string(&mut text)? {
        n if n as u64 > max => {
            let what = format!("it is longer than {} MiB, which none of polyfly's is", max >> 20);
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
        assert!(make(&at("link"), None).unwrap_err().to_string().contains("it is a link"));
        assert!(make(&at("precious"), None).unwrap_err().to_string().contains("no folder"));
        symlink(at("elsewhere"), at(".polyfly/film-b")).unwrap();
        assert!(make(&within(dir.path()), Some("film-b")).is_err());
    }
}
