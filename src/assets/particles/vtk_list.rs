//! VTK's XML files that name others: `.pvd`, a list of time steps, and `.pvtp` and `.pvtu`, the pieces that several processes wrote.

use super::format::{Head, Source, Steps};
use super::step::{Step, Wanted};
use super::vtk_xml::head;
use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use memchr::memmem;
use roxmltree::Document;
use std::path::{Path, PathBuf};

// What its root says of a file, the tags that name others, and their attribute.
const KINDS: [(&str, &str, &str); 3] =
    [("Collection", "DataSet", "file"), ("PPolyData", "Piece", "Source"), ("PUnstructuredGrid", "Piece", "Source")];

fn kind_of(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let root = &bytes[memmem::find(bytes, b"<VTKFile")?..];
    let root = &root[..memmem::find(root, b">")?];
    let has = |kind: &str| {
        ['"', '\''].iter().any(|mark| memmem::find(root, format!("{mark}{kind}{mark}").as_bytes()).is_some())
    };
    KINDS.iter().find(|(kind, ..)| has(kind)).map(|&(_, tag, key)| (tag, key))
}

pub fn recognise(head: &Head) -> bool {
    kind_of(head.bytes).is_some()
}

// The files of a step, and its time.
struct Named {
    time: Option<f64>,
    files: Vec<PathBuf>,
}

struct List(Vec<Named>);

/// Finds the names.
pub fn open(source: &Source) -> Result<Box<dyn Steps>, AssetError> {
    find(source).map_err(|what| source.fault(what))
}

fn find(source: &Source) -> Result<Box<dyn Steps>, Message> {
    let bytes = source.content.part(0..source.content.length()).map_err(Message::text)?;
    let (tag, key) = kind_of(&bytes).unwrap_or(("DataSet", "file"));
    let text = head(&bytes)?;
    let tree = Document::parse(text).map_err(Message::text)?;
    let mut steps: Vec<Named> = Vec::new();
    for node in tree.descendants().filter(|node| node.has_tag_name(tag)) {
        let at = tree.text_pos_at(node.range().start);
        let file = node
            .attribute(key)
            .ok_or_else(|| msg!("line {line}: <{tag}> has no `{key}`, the name of a file", line = at.row, tag, key))?;
        let time = node.attribute("timestep").map(str::parse).transpose();
        let time = time.map_err(|_| msg!("line {line}: `timestep` is no number", line = at.row))?;
        let file = PathBuf::from(file);
        // The pieces of a step have its time.
        match steps.last_mut() {
            Some(step) if tag == "Piece" || (time.is_some() && step.time == time) => step.files.push(file),
            _ => steps.push(Named { time, files: vec![file] }),
        }
    }
    match steps.is_empty() {
        true => Err(msg!("it names no files: expected <{tag} {key}=\"...\">", tag, key)),
        false => Ok(Box::new(List(steps))),
    }
}

impl Steps for List {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn read(&self, source: &Source, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        let Named { time, files } = &self.0[number];
        let steps = files.iter().map(|file| (source.other)(source, file, wanted)).collect::<Result<Vec<_>, _>>()?;
        let step = Step::join(steps).map_err(|what| source.fault(what))?;
        Ok(Step { time: time.or(step.time), ..step })
    }
    fn files(&self) -> Vec<PathBuf> {
        self.0.iter().flat_map(|step| &step.files).cloned().collect()
    }
}

/// Whether a file of that name is a list.
pub fn is_name(path: &Path) -> bool {
    Head { path, bytes: &[] }.ends_in(&["pvd", "pvtp", "pvtu"])
}
