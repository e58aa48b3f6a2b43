//! What is compared: a picture, numbered frames or a film.

use crate::assets::source::open_regular;
use crate::cli::Failure;
use crate::command::convert::read_picture;
use crate::error::Error;
use crate::language::{Message, msg};
use crate::output::NameFile;
use crate::output::formats::{Format, Shown};
use crate::run::folder::foreign_folder;
use crate::scene::Pattern;
use crate::scene::limits::{PICTURES, VIDEOS, endings};
use crate::system::extension;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

pub struct PictureFile {
    pub path: PathBuf,
    format: &'static Format,
}

pub enum Source {
    Picture(PictureFile),
    Frames(BTreeMap<u32, PictureFile>),
    Film(PathBuf),
}

impl Source {
    /// Says what a name on the command line is.
    pub fn open(name: &str) -> Result<Source, Failure> {
        let path = Path::new(name);
        if path.is_dir() {
            return folder(path).map(Source::Frames);
        }
        if Pattern::has_number(name) && !path.exists() {
            return pattern(name).map(Source::Frames);
        }
        let mut file = open_regular(path).map_err(|e| Error::Read(name.to_owned(), e))?;
        let extension = extension(path);
        if let Some(format) = Format::of_file(path) {
            return match is_animated_webp(&mut file) {
                true => Err(Failure::usage(msg!(
                    "{name} is an animated .webp, which is not decoded: compare its frames",
                    name
                ))),
                false => Ok(Source::Picture(PictureFile { path: path.to_owned(), format })),
            };
        }
        match VIDEOS.contains(&&*extension) {
            true => Ok(Source::Film(path.to_owned())),
            false => Err(Failure::usage(msg!(
                "{name}: expected a picture ({pictures}), a film ({films}), a folder of frames or their pattern",
                name,
                pictures = endings(&PICTURES),
                films = endings(&VIDEOS)
            ))),
        }
    }

    pub fn kind(&self) -> Message {
        match self {
            Source::Picture(_) => msg!("a picture"),
            Source::Frames(_) => msg!("a folder of frames"),
            Source::Film(_) => msg!("a film"),
        }
    }
}

impl PictureFile {
    /// The picture, and a remark if its light is shown by a guess.
    pub fn read(&self) -> Result<(Shown, Option<Message>), Failure> {
        read_picture(&self.path, self.format)
    }
}

// The pictures of a folder by the last number in their names.
fn folder(path: &Path) -> Result<BTreeMap<u32, PictureFile>, Failure> {
    let mut frames = BTreeMap::<u32, PictureFile>::new();
    let read = || std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>();
    for file in read().reading(path)? {
        let Some(format) = Format::of_file(&file) else { continue };
        let Some(number) = file.file_stem().and_then(|stem| last_number(&stem.to_string_lossy())) else { continue };
        if let Some(other) = frames.insert(number, PictureFile { path: file, format }) {
            let (folder, other) = (path.display(), other.path.display());
            return Err(Failure::usage(msg!(
                "{folder} has two pictures {number}; one is {other}: name a pattern, as `{folder}/%04d.png`",
                folder,
                number,
                other
            )));
        }
    }
    if frames.is_empty() {
        return Err(Failure::usage(msg!("{path} has no pictures with numbers in their names", path = path.display())));
    }
    Ok(frames)
}

// The last row of digits in a text.
fn last_number(text: &str) -> Option<u32> {
    text.split(|c: char| !c.is_ascii_digit()).rfind(|digits| !digits.is_empty())?.parse().ok()
}

fn pattern(name: &str) -> Result<BTreeMap<u32, PictureFile>, Failure> {
    let (pattern, _) = Pattern::parse(name).map_err(|e| Error::about(name, e.message()))?;
    let folder = foreign_folder(pattern)?;
    let (existing, format) = (folder.existing()?, folder.format);
    match existing.is_empty() {
        true => Err(Failure::usage(msg!("there are no frames {name}", name))),
        false => Ok(existing.into_iter().map(|n| (n, PictureFile { path: folder.pattern.path(n), format })).collect()),
    }
}

// The extended header has a flag for it (RFC 9649, 2.7).
fn is_animated_webp(file: &mut File) -> bool {
    let mut header = [0; 21];
    file.read_exact(&mut header).is_ok() && &header[8..16] == b"WEBPVP8X" && header[20] & 2 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_by_the_last_number_of_their_names() {
        for (name, number) in [("0012", Some(12)), ("take2_0003", Some(3)), ("f7x", Some(7)), ("gallery", None)] {
            assert_eq!(last_number(name), number, "{name}");
        }
        // Too large for a frame.
        assert_eq!(last_number("99999999999"), None);
    }
}
