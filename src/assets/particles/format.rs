//! What readers of all formats share: how a file is recognized, and the steps in it.

use super::step::{Step, Wanted};
use crate::assets::error::AssetError;
use crate::assets::source::{Content, Limits};
use crate::language::Message;
use crate::system::extension;
use std::path::{Path, PathBuf};

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
        endings.contains(&extension(self.path).as_str())
    }
}

/// A file to read: its path, for messages, and its content.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub path: &'a Path,
    pub content: &'a Content<'a>,
    pub limits: Limits,
    /// Words of types that are known from earlier steps.
    pub labels: &'a [String],
    /// How many files lead to this one.
    pub depth: usize,
    /// Reads the only step of a file that this one names.
    pub other: fn(&Source, &Path, &Wanted) -> Result<Step, AssetError>,
}

impl Source<'_> {
    /// What is wrong with the file.
    pub fn fault(&self, what: Message) -> AssetError {
        AssetError::new(self.path, what)
    }
}

/// The steps that were found in a file, for instance the bytes at which each begins.
pub trait Steps: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// Reads the step of this number, from 0.
    fn read(&self, source: &Source, number: usize, wanted: &Wanted) -> Result<Step, AssetError>;
    /// The words of types, which are numbers from 1 in this order.
    fn labels(&self) -> &[String] {
        &[]
    }
    /// The files that this one names.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

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

/// The steps of a format whose files have one step each.
pub fn one(read: ReadStep) -> Result<Box<dyn Steps>, AssetError> {
    Ok(Box::new(OneStep(read)))
}
