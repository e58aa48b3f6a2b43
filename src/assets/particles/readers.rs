//! The table of formats: a row for each reader. A file is recognized by its first bytes, and by its name where these do not tell.
//!
//! To add a format, add a row. [`Reader::open`] looks at the file once and finds its steps, one or many (a row of `one` step is a function
//! that reads it); [`Steps::read`] then reads a step without the others.

use super::format::{Head, Source, Steps, one};
use super::memory::{InMemory, StepSource};
use super::step::{Step, Wanted};
use super::{
    compressed, gsd, lammps_binary, lammps_data, lammps_dump, npy, sphere_file, text_table, vtk_legacy, vtk_list,
    vtk_xml, xyz,
};
use crate::assets::error::AssetError;
use crate::assets::source::{self, Content, Limits};
use crate::language::{Message, msg};
use crate::quote::brief;
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
pub const READERS: [Reader; 12] = [
    Reader { name: "LAMMPS dump", recognise: lammps_dump::recognise, open: lammps_dump::open },
    Reader { name: "GSD", recognise: gsd::recognise, open: gsd::open },
    Reader { name: "npy", recognise: npy::recognise_npy, open: |_| one(npy::read_npy) },
    Reader { name: "npz", recognise: npy::recognise_npz, open: |_| one(npy::read_npz) },
    Reader { name: "VTK", recognise: vtk_legacy::recognise, open: |_| one(vtk_legacy::read) },
    Reader { name: "VTK XML list", recognise: vtk_list::recognise, open: vtk_list::open },
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
    limits: Limits,
    depth: usize,
    /// The name of its format.
    pub format: &'static str,
}

/// Files that name files which name files: a PVD, a PVTU and its pieces.
pub const DEEPEST: usize = 2;

// Reads the only step of a file that another one names, which must lie in that one's folder or below it.
fn other(from: &Source, name: &Path, wanted: &Wanted) -> Result<Step, AssetError> {
    let folder = from.path.parent().unwrap_or(Path::new(""));
    let path = folder.join(name);
    let real = |path: &Path| path.canonicalize().map_err(|e| AssetError::read("particles", path, e));
    let folder = real(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })?;
    if !real(&path)?.starts_with(&folder) {
        return Err(from.fault(msg!(
            "it names {name}, which is not in its folder: put both into one",
            name = brief(&name.display().to_string())
        )));
    }
    if from.depth == DEEPEST {
        return Err(from.fault(msg!("it is named by files of its own kind")));
    }
    let content = Content::of("particles", &path, source::open("particles", &path, from.limits)?)?;
    let file = FileSteps::named_by(from.depth + 1, &path, content, from.limits)?;
    match file.count() {
        1 => file.read_any(0, wanted),
        count => Err(AssetError::new(&path, msg!("it has {count} time steps; expected one", count))),
    }
}

// What is known, and not read: its first bytes and its name.
const UNREAD: [(&[u8], &str); 5] =
    [(b"\x89HDF\r\n", "HDF5"), (b"CDF", "NetCDF"), (b"BZh", "bzip2"), (b"PK\x03\x04", "zip"), (b"<?xml", "XML")];

impl<'a> FileSteps<'a> {
    /// Recognizes a file, decompresses it, and finds its steps.
    pub fn of(path: &Path, content: Content<'a>, limits: Limits) -> Result<FileSteps<'a>, AssetError> {
        FileSteps::named_by(0, path, content, limits)
    }
    /// The same of steps that follow others, in which types were these words.
    pub fn of_next(
        path: &Path,
        content: Content<'a>,
        limits: Limits,
        labels: &[String],
    ) -> Result<FileSteps<'a>, AssetError> {
        FileSteps::recognised((path, labels), 0, content, limits)
    }
    /// The words of types in its first step, and those before.
    pub fn labels(&self) -> &[String] {
        self.steps.labels()
    }
    // The same of a file to which so many others lead.
    fn named_by(depth: usize, path: &Path, content: Content<'a>, limits: Limits) -> Result<FileSteps<'a>, AssetError> {
        FileSteps::recognised((path, &[]), depth, content, limits)
    }
    fn recognised(
        (path, labels): (&Path, &[String]),
        depth: usize,
        content: Content<'a>,
        limits: Limits,
    ) -> Result<FileSteps<'a>, AssetError> {
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
        let steps = (reader.open)(&Source { path, content: &content, limits, labels, depth, other })
            .map_err(|e| AssetError { what: msg!("{format}: {why}", format, why = e.what), ..e })?;
        Ok(FileSteps { path: path.to_owned(), content, steps, limits, depth, format })
    }
    /// The pieces of one file, each with a part of each step.
    pub fn of_pieces(path: &Path, pieces: Vec<FileSteps<'static>>) -> Result<FileSteps<'static>, AssetError> {
        let format = pieces.first().map_or("", |piece| piece.format);
        let count = pieces.first().map_or(0, FileSteps::count);
        if let Some(other) = pieces.iter().find(|piece| piece.count() != count) {
            let found = other.count();
            return Err(AssetError::new(
                &other.path,
                msg!("it has {found} time steps, and the first piece has {count}", found, count),
            ));
        }
        Ok(FileSteps { format, ..FileSteps::without_file(path, Box::new(Pieces(pieces))) })
    }
    fn without_file(path: &Path, steps: Box<dyn Steps>) -> FileSteps<'static> {
        let (path, content) = (path.to_owned(), Content::Memory(Cow::Borrowed(&[])));
        FileSteps { path, content, steps, limits: Limits::default(), depth: 0, format: "arrays" }
    }
    /// Steps in memory, which messages call by that name.
    pub fn in_memory(path: &Path, steps: Arc<dyn StepSource>) -> FileSteps<'static> {
        FileSteps::without_file(path, Box::new(InMemory(steps)))
    }
    /// How many steps it has.
    pub fn count(&self) -> usize {
        self.steps.count()
    }
    /// The files that it names: it has the particles of these.
    pub fn files(&self) -> Vec<PathBuf> {
        self.steps.files()
    }
    fn source(&self) -> Source<'_> {
        Source { path: &self.path, content: &self.content, limits: self.limits, labels: &[], depth: self.depth, other }
    }
    /// Reads the step of this number, from 0.
    pub fn read(&self, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        let step = self.read_any(number, wanted)?;
        match step.count() {
            0 => Err(self.named(number, self.source().fault(msg!("it holds no particles")))),
            _ => Ok(step),
        }
    }
    // The same, perhaps without particles.
    fn read_any(&self, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        let (source, count) = (self.source(), self.count());
        let read = match count {
            0 => Err(source.fault(msg!("it holds no particles"))),
            _ if number >= count => {
                Err(source.fault(msg!("there is no step {number}: it has steps 0-{last}", number, last = count - 1)))
            }
            _ => self.steps.read(&source, number, wanted),
        };
        read.map_err(|e| self.named(number, e))
    }
    // A fault with the format and the step.
    fn named(&self, number: usize, e: AssetError) -> AssetError {
        let format = self.format;
        match self.count() {
            // Another file's reader has named it.
            _ if e.path != self.path => e,
            0 | 1 => AssetError { what: msg!("{format}: {why}", format, why = e.what), ..e },
            _ => AssetError { what: msg!("{format}, step {number}: {why}", format, number, why = e.what), ..e },
        }
    }
}

// Files with the same steps, each of which has some of their particles.
struct Pieces(Vec<FileSteps<'static>>);

impl Steps for Pieces {
    fn count(&self) -> usize {
        self.0.first().map_or(0, FileSteps::count)
    }
    fn read(&self, source: &Source, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        let steps = self.0.iter().map(|piece| piece.read_any(number, wanted)).collect::<Result<Vec<_>, _>>()?;
        Step::join(steps).map_err(|what| source.fault(what))
    }
    fn files(&self) -> Vec<PathBuf> {
        self.0.iter().map(|piece| piece.path.clone()).collect()
    }
}
