//! The table of formats: a row for each reader. A file is recognized by its first bytes, and by its name where these do not tell.
//!
//! To add a format, add a row. [`Reader::open`] looks at the file once and finds its steps, one or many (a row of `one` step is a function
//! that reads it); [`Steps::read`] then reads a step without the others.

use super::format::{Head, Source, Steps, one};
use super::memory::{InMemory, StepSource};
use super::step::{Step, Wanted};
use super::{
    compressed, gsd, lammps_binary, lammps_data, lammps_dump, npy, sphere_file, text_table, vtk_legacy, vtk_xml, xyz,
};
use crate::assets::error::AssetError;
use crate::assets::source::{Content, Limits};
use crate::language::{Message, msg};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a format is read.
pub struct Reader {
    /// The format, for messages.
    pub name: &'static str,
    /// Whether a file has the format.
    pub recognise: fn(&Head) -> bool,
    /// Finds the steps of a file.
    pub open: fn(&Source) -> Result<Box<dyn Steps>, AssetError>,
}

/// The format of texts that no other reader knows.
pub const TABLE: &str = "table";

/// All formats. The first that recognizes a file reads it.
pub const READERS: [Reader; 11] = [
    Reader { name: "LAMMPS dump", recognise: lammps_dump::recognise, open: lammps_dump::open },
    Reader { name: "GSD", recognise: gsd::recognise, open: gsd::open },
    Reader { name: "npy", recognise: npy::recognise_npy, open: |_| one(npy::read_npy) },
    Reader { name: "npz", recognise: npy::recognise_npz, open: |_| one(npy::read_npz) },
    Reader { name: "VTK", recognise: vtk_legacy::recognise, open: |_| one(vtk_legacy::read) },
    Reader { name: "VTK XML", recognise: vtk_xml::recognise, open: |_| one(vtk_xml::read) },
    Reader { name: "binary LAMMPS dump", recognise: lammps_binary::recognise, open: lammps_binary::open },
    Reader { name: "LAMMPS data", recognise: lammps_data::recognise, open: |_| one(lammps_data::read) },
    Reader { name: "XYZ", recognise: xyz::recognise, open: xyz::open },
    Reader { name: "sphere", recognise: sphere_file::recognise, open: |_| one(sphere_file::read) },
    Reader { name: TABLE, recognise: text_table::recognise, open: |_| one(text_table::read) },
];

// Bytes that are enough to recognize a format.
const HEAD: usize = 4096;

/// A file with the steps that were found in it.
pub struct FileSteps<'a> {
    path: PathBuf,
    content: Content<'a>,
    steps: Box<dyn Steps>,
    /// The name of its format.
    pub format: &'static str,
}

// What is known, and not read: its first bytes and its name.
const UNREAD: [(&[u8], &str); 6] = [
    (b"\x89HDF\r\n", "HDF5"),
    (b"CDF", "NetCDF"),
    (b"\xfd7zXZ", "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (b"<?xml", "XML"),
];

impl<'a> FileSteps<'a> {
    /// Recognizes a file, decompresses it, and finds its steps.
    pub fn of(path: &Path, content: Content<'a>, limits: Limits) -> Result<FileSteps<'a>, AssetError> {
        let unread = |e| AssetError::read("particles", path, e);
        let first = |content: &Content| Ok(content.part(0..content.length().min(HEAD)).map_err(unread)?.into_owned());
        let mut bytes = first(&content)?;
        let (mut content, mut name) = (content, path.to_owned());
        if let Some(method) = compressed::method(&bytes) {
            content = compressed::unpack(path, &content, method, limits)?.into();
            name = path.with_extension("");
            bytes = first(&content)?;
        }
        if bytes.is_empty() {
            return Err(AssetError::new(path, msg!("it holds no particles: it ends at byte 0")));
        }
        let head = Head { path: &name, bytes: &bytes };
        let known = UNREAD.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, name)| *name);
        let reader = READERS.iter().find(|reader| (reader.recognise)(&head));
        // A table is any text.
        let Some(reader) = reader.filter(|reader| known.is_none() || reader.name != TABLE) else {
            let formats = Message::one_of(&READERS.map(|reader| reader.name.to_owned()));
            let what = match known {
                Some(what) => msg!("it is {what}, which is not read; expected {formats}", what, formats),
                None => msg!("its first bytes are of no format that is read; expected {formats}", formats),
            };
            return Err(AssetError::new(path, what));
        };
        let format = reader.name;
        let steps = (reader.open)(&Source { path, content: &content })
            .map_err(|e| AssetError { what: msg!("{format}: {why}", format, why = e.what), ..e })?;
        Ok(FileSteps { path: path.to_owned(), content, steps, format })
    }
    /// Steps in memory, which messages call by that name.
    pub fn in_memory(path: &Path, steps: Arc<dyn StepSource>) -> FileSteps<'static> {
        let (path, content) = (path.to_owned(), Content::Memory(Cow::Borrowed(&[])));
        FileSteps { path, content, steps: Box::new(InMemory(steps)), format: "arrays" }
    }
    /// How many steps it has.
    pub fn count(&self) -> usize {
        self.steps.count()
    }
    /// Reads the step of this number, from 0.
    pub fn read(&self, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        let source = Source { path: &self.path, content: &self.content };
        let (format, count) = (self.format, self.count());
        let read = match count {
            0 => Err(source.fault(msg!("it holds no particles"))),
            _ if number >= count => {
                Err(source.fault(msg!("there is no step {number}: it has steps 0-{last}", number, last = count - 1)))
            }
            _ => self.steps.read(&source, number, wanted),
        };
        read.map_err(|e| match count {
            0 | 1 => AssetError { what: msg!("{format}: {why}", format, why = e.what), ..e },
            _ => AssetError { what: msg!("{format}, step {number}: {why}", format, number, why = e.what), ..e },
        })
    }
}
