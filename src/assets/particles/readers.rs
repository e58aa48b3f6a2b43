//! The table of formats: a row for each reader. A file is recognised by its first bytes, and by its name where these do not tell.
//!
//! To add a format, add a row. [`Reader::open`] looks at the file once and finds its steps, one or many (a row of `one` step is a function
//! that reads it); [`Steps::read`] then reads a step without the others.

use super::format::{Head, Source, Steps, one};
use super::step::{Step, Wanted};
use super::{gsd, lammps_binary, lammps_data, lammps_dump, npy, sphere_file, text_table, vtk_legacy, vtk_xml, xyz};
use crate::assets::error::AssetError;
use crate::language::{Message, msg};

/// How a format is read.
pub struct Reader {
    /// The format, for messages.
    pub name: &'static str,
    /// Whether a file has the format.
    pub recognise: fn(&Head) -> bool,
    /// Finds the steps of a file.
    pub open: fn(&Source) -> Result<Box<dyn Steps>, AssetError>,
}

/// All formats. The first that recognises a file reads it.
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
    Reader { name: "table", recognise: text_table::recognise, open: |_| one(text_table::read) },
];

// Bytes that are enough to recognise a format.
const HEAD: usize = 4096;

/// A file with the steps that were found in it.
pub struct FileSteps<'a> {
    source: Source<'a>,
    format: &'static str,
    steps: Box<dyn Steps>,
}

impl<'a> FileSteps<'a> {
    /// Recognises a file and finds its steps.
    pub fn of(source: Source<'a>) -> Result<FileSteps<'a>, AssetError> {
        let length = source.content.length();
        let bytes = source.content.part(0..length.min(HEAD));
        let bytes = bytes.map_err(|e| AssetError::read("particles", source.path, e))?;
        let head = Head { path: source.path, bytes: &bytes };
        let reader = READERS.iter().find(|reader| (reader.recognise)(&head)).ok_or_else(|| {
            let formats = Message::one_of(&READERS.map(|reader| reader.name.to_owned()));
            AssetError::new(
                source.path,
                msg!("its first bytes are of no format that is read; expected {formats}", formats),
            )
        })?;
        let format = reader.name;
        let steps = (reader.open)(&source)
            .map_err(|e| AssetError { what: msg!("{format}: {why}", format, why = e.what), ..e })?;
        Ok(FileSteps { source, format, steps })
    }
    /// Reads the step of this number, from 0.
    pub fn read(&self, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        let (format, count) = (self.format, self.steps.count());
        let read = match count {
            0 => Err(self.source.fault(msg!("it holds no particles"))),
            _ if number >= count => Err(self.source.fault(msg!(
                "there is no step {number}: it has steps 0-{last}",
                number,
                last = count - 1
            ))),
            _ => self.steps.read(&self.source, number, wanted),
        };
        read.map_err(|e| match count {
            0 | 1 => AssetError { what: msg!("{format}: {why}", format, why = e.what), ..e },
            _ => AssetError { what: msg!("{format}, step {number}: {why}", format, number, why = e.what), ..e },
        })
    }

    /// How many steps there are.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn count(&self) -> usize {
        self.steps.count()
    }
}
