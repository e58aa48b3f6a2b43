//! The table of formats: a row for each reader. A file is recognised by its first bytes, and by its name where these do not tell.
//!
//! To add a format, add a row. [`Reader::open`] looks at the file once and finds its steps, one or many (a row of `one` step is a function
//! that reads it); [`Steps::read`] then reads a step without the others.

use super::step::{Step, Wanted};
use super::{sphere_file, text_table};
use crate::assets::error::AssetError;
use crate::assets::source::Content;
use crate::language::{Message, msg};
use std::path::Path;

/// The first bytes of a file.
pub struct Head<'a> {
    pub path: &'a Path,
    pub bytes: &'a [u8],
}

impl Head<'_> {
    /// Whether the file is a text: in UTF-8 or a similar encoding, or in UTF-16 with a byte order mark.
    pub fn is_text(&self) -> bool {
        let is_utf16 = [[0xff, 0xfe], [0xfe, 0xff]].iter().any(|mark| self.bytes.starts_with(mark));
        is_utf16 || !self.bytes.contains(&0)
    }
    /// Whether the file's name has one of these extensions, in any case.
    pub fn ends_in(&self, endings: &[&str]) -> bool {
        let extension = self.path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        extension.is_some_and(|e| endings.contains(&e.as_str()))
    }
}

/// A file to read: its path, for messages, and its content.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub path: &'a Path,
    pub content: &'a Content<'a>,
}

/// The steps that were found in a file, for instance the bytes at which each begins.
pub trait Steps: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// Reads the step of this number, from 0.
    fn read(&self, source: &Source, number: usize, wanted: &Wanted) -> Result<Step, AssetError>;
}

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
pub const READERS: [Reader; 2] = [
    Reader { name: "sphere", recognise: sphere_file::recognise, open: |_| one(sphere_file::read) },
    Reader { name: "table", recognise: text_table::recognise, open: |_| one(text_table::read) },
];

type ReadStep = fn(&Source, &Wanted) -> Result<Step, AssetError>;

struct OneStep(ReadStep);

impl Steps for OneStep {
    fn count(&self) -> usize {
        1
    }
    fn read(&self, source: &Source, _: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        (self.0)(source, wanted)
    }
}

// Each file of the format has one step.
fn one(read: ReadStep) -> Result<Box<dyn Steps>, AssetError> {
    Ok(Box::new(OneStep(read)))
}

// Bytes that are enough to recognise a format.
const HEAD: usize = 4096;

/// An open file with its steps.
pub struct StepFile<'a> {
    source: Source<'a>,
    steps: Box<dyn Steps>,
}

impl<'a> StepFile<'a> {
    /// Recognises a file and finds its steps.
    pub fn open(source: Source<'a>) -> Result<StepFile<'a>, AssetError> {
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
        Ok(StepFile { source, steps: (reader.open)(&source)? })
    }
    /// Reads the step of this number, from 0.
    pub fn read(&self, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        match self.steps.count() {
            0 => Err(AssetError::new(self.source.path, msg!("it holds no particles"))),
            count if number >= count => Err(AssetError::new(
                self.source.path,
                msg!("there is no step {number}: it has steps 0-{last}", number, last = count - 1),
            )),
            _ => self.steps.read(&self.source, number, wanted),
        }
    }
}
