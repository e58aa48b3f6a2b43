//! GSD, the format of HOOMD-blue: blocks of data, and an index of their names, frames and places. A frame has what differs from the first
//! one; what no frame has takes the schema's default.

use super::arrays::{Array, Kind, step};
use super::format::{Head, Source, Steps};
use super::placing;
use super::shape::Shape;
use super::step::{Cell, Step, Wanted};
use super::values::BONDS;
use crate::assets::error::AssetError;
use crate::language::{Message, msg};
use crate::threads::lock;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Mutex;

const MAGIC: u64 = 0x65df_65df_65df_65df;
const HEADER: usize = 256;
const ENTRY: usize = 32;
// Names in a block of 64 bytes each, before version 2.
const NAME: usize = 64;

pub fn recognise(head: &Head) -> bool {
    head.bytes.starts_with(&MAGIC.to_le_bytes())
}

// A block: numbers in rows.
#[derive(Clone, Copy)]
struct Block {
    at: usize,
    rows: usize,
    columns: usize,
    kind: Kind,
}

struct Gsd {
    // By name, then by frame.
    blocks: BTreeMap<String, BTreeMap<usize, Block>>,
    frames: usize,
    // Shapes of types, by their texts.
    shapes: Mutex<BTreeMap<Vec<u8>, TypeShape>>,
}

// What a file says of the shape of a type: None for a sphere, whose radius is known or not.
#[derive(Clone)]
struct TypeShape {
    shape: Option<Shape>,
    radius: Option<f64>,
}

fn number(bytes: &[u8], at: usize, kind: Kind) -> usize {
    kind.read(bytes.get(at..).unwrap_or_default(), false) as usize
}

// Bytes of a file, or what is wrong.
fn part<'a>(source: &Source<'a>, at: usize, count: usize, size: usize) -> Result<Cow<'a, [u8]>, Message> {
    let length = source.content.length();
    let end = count.checked_mul(size).and_then(|size| at.checked_add(size)).filter(|&end| end <= length);
    let end = end.ok_or_else(|| {
        msg!(
            "it ends at byte {length}; expected {count} x {size} bytes at byte {at}: it is cut short, or damaged",
            length,
            count,
            size,
            at
        )
    })?;
    source.content.part(at..end).map_err(Message::text)
}

/// Reads the index.
pub fn open(source: &Source) -> Result<Box<dyn Steps>, AssetError> {
    find(source).map_err(|what| source.fault(what))
}

fn find(source: &Source) -> Result<Box<dyn Steps>, Message> {
    let header = part(source, 0, 1, HEADER)?;
    let [index, entries, list, names] = [8, 16, 24, 32].map(|at| number(&header, at, Kind::U8));
    let version = number(&header, 44, Kind::U4) >> 16;
    let list = part(source, list, names, NAME)?;
    let names: Vec<Cow<str>> = match version {
        0 | 1 => list
            .chunks(NAME)
            .map(|name| name.split(|&b| b == 0).next().unwrap_or_default())
            .map(String::from_utf8_lossy)
            .collect(),
        _ => list.split(|&b| b == 0).map(String::from_utf8_lossy).collect(),
    };
    let index = part(source, index, entries, ENTRY)?;
    let mut gsd = Gsd { blocks: BTreeMap::new(), frames: 0, shapes: Mutex::default() };
    for entry in index.chunks(ENTRY) {
        let [frame, rows, at] = [0, 8, 16].map(|at| number(entry, at, Kind::U8));
        if at == 0 {
            break;
        }
        let (columns, id, kind) =
            (number(entry, 24, Kind::U4), number(entry, 28, Kind::U2), number(entry, 30, Kind::U1));
        use Kind::{F4, F8, I1, I2, I4, I8, U1, U2, U4, U8};
        let kind = [U1, U2, U4, U8, I1, I2, I4, I8, F4, F8, U1].get(kind.wrapping_sub(1)).copied();
        let (Some(kind), Some(name)) = (kind, names.get(id)) else {
            return Err(msg!(
                "its index of blocks is damaged: frame {frame} has a block of unknown name or kind",
                frame
            ));
        };
        gsd.frames = gsd.frames.max(frame.saturating_add(1));
        gsd.blocks.entry(name.clone().into_owned()).or_default().insert(frame, Block { at, rows, columns, kind });
    }
    Ok(Box::new(gsd))
}

// Values of all particles that no block gives.
const DEFAULTS: [(&str, &[f64]); 10] = [
    ("angmom", &[0.0; 4]),
    ("body", &[-1.0]),
    ("charge", &[0.0]),
    ("diameter", &[1.0]),
    ("image", &[0.0; 3]),
    ("mass", &[1.0]),
    ("moment_inertia", &[0.0; 3]),
    ("orientation", &[1.0, 0.0, 0.0, 0.0]),
    ("typeid", &[0.0]),
    ("velocity", &[0.0; 3]),
];

// The names of columns that other formats have too.
fn short(name: &str) -> &str {
    if name == "typeid" { "type" } else { name }
}

impl Gsd {
    // The block of a frame, or that of the first frame if it may stand for it.
    fn block(&self, name: &str, frame: usize, is_allowed: impl Fn(&Block) -> bool) -> Option<Block> {
        let blocks = self.blocks.get(name)?;
        blocks.get(&frame).or_else(|| blocks.get(&0).filter(|block| is_allowed(block))).copied()
    }

    // The numbers of a small block.
    fn numbers(&self, source: &Source, name: &str, frame: usize) -> Result<Vec<f64>, Message> {
        let Some(block) = self.block(name, frame, |_| true) else { return Ok(Vec::new()) };
        let bytes = part(source, block.at, block.rows.saturating_mul(block.columns).min(16), block.kind.size())?;
        Ok(bytes.chunks_exact(block.kind.size()).map(|bytes| block.kind.read(bytes, false)).collect())
    }
}

// Lengths and tilts of a box around the origin.
fn cell(numbers: &[f64]) -> Option<Cell> {
    let &[x, y, z, xy, xz, yz] = numbers else { return None };
    let vectors = [[x, 0.0, 0.0], [xy * y, y, 0.0], [xz * z, yz * z, z]];
    let origin = [0, 1, 2].map(|axis| -0.5 * vectors.iter().map(|v| v[axis]).sum::<f64>());
    Some(Cell { origin, vectors, periodic: [true; 3] })
}

impl Steps for Gsd {
    fn count(&self) -> usize {
        self.frames
    }

    fn read(&self, source: &Source, frame: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        self.step(source, frame, wanted).map_err(|what| source.fault(what))
    }
}

impl Gsd {
    // What the file says of the shapes of types. Each text is parsed once for all frames.
    fn shapes(&self, source: &Source, frame: usize) -> Result<Vec<TypeShape>, Message> {
        let Some(block) = self.block("particles/type_shapes", frame, |_| true) else { return Ok(Vec::new()) };
        let bytes = part(source, block.at, block.rows, block.columns)?;
        let mut known = lock(&self.shapes);
        let of = |row: &[u8]| {
            let text = row.split(|&b| b == 0).next().unwrap_or_default();
            if let Some(shape) = known.get(text) {
                return Ok(shape.clone());
            }
            let words = String::from_utf8_lossy(text);
            let shape = TypeShape { shape: Shape::of_json(&words)?, radius: Shape::radius_of_json(&words) };
            known.insert(text.to_owned(), shape.clone());
            Ok(shape)
        };
        bytes.chunks(block.columns.max(1)).map(of).collect()
    }

    fn step(&self, source: &Source, frame: usize, wanted: &Wanted) -> Result<Step, Message> {
        let count = self.numbers(source, "particles/N", frame)?.first().map_or(0, |&n| n as usize);
        let (mut arrays, mut missing) = (Vec::new(), DEFAULTS.to_vec());
        for name in self.blocks.keys() {
            let own = name.strip_prefix("particles/").or_else(|| name.strip_prefix("log/particles/"));
            let own = own.filter(|own| !["N", "types", "type_shapes"].contains(own));
            let block = self.block(name, frame, |block| block.rows == count);
            let (Some(own), Some(block)) = (own, block.filter(|block| block.rows == count)) else { continue };
            missing.retain(|(name, _)| *name != own);
            let size = block.columns.saturating_mul(block.kind.size());
            let load = move || part(source, block.at, block.rows, size);
            if block.columns <= 64 {
                arrays.push(Array::of_rows(short(own), block.columns, block.kind, false, Box::new(load)));
            }
        }
        if !self.blocks.contains_key("particles/position") {
            return Err(msg!("it holds no particles"));
        }
        for (name, values) in missing {
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
            let load = move || Ok(bytes.clone().into());
            // All particles read the same numbers.
            arrays.push(Array {
                stride: 0,
                ..Array::of_rows(short(name), values.len(), Kind::F8, false, Box::new(load))
            });
        }
        let of_types = self.shapes(source, frame)?;
        let radii: Vec<Option<f64>> = of_types.iter().map(|of_type| of_type.radius).collect();
        let mut shapes: Vec<Option<Shape>> = of_types.into_iter().map(|of_type| of_type.shape).collect();
        if shapes.iter().all(Option::is_none) {
            shapes.clear();
        }
        let types = ["type"].into_iter().filter(|_| !radii.is_empty());
        let wanted = wanted.and(types.chain(placing::columns().filter(|_| !shapes.is_empty())));
        let mut read = step(count, &arrays, &wanted, cell(&self.numbers(source, "configuration/box", frame)?))?;
        let types = read.column(&["type"]).unwrap_or_default();
        let has_diameters = self.blocks.contains_key("particles/diameter");
        let radius = |(i, &own): (usize, &f64)| {
            let kind = types.get(i).map_or(0, |kind| *kind as usize);
            let shape = shapes.get(kind).and_then(|shape| shape.as_ref().map(Shape::reach));
            shape.or(radii.get(kind).copied().flatten().filter(|_| !has_diameters)).unwrap_or(own)
        };
        if !radii.is_empty() {
            read.radii = read.radii.iter().enumerate().map(radius).collect();
        }
        if wanted.has(BONDS)
            && let Some(block) = self.block("bonds/group", frame, |_| true)
        {
            let bytes = part(source, block.at, block.rows, block.columns.saturating_mul(block.kind.size()))?;
            let ends: Vec<u32> =
                bytes.chunks_exact(block.kind.size()).map(|one| block.kind.read(one, false) as u32).collect();
            if block.columns != 2 || ends.iter().any(|&i| i as usize >= count) {
                return Err(msg!("`bonds/group` has numbers of no particle; expected two of {count} in a row", count));
            }
            read.bonds = ends.as_chunks::<2>().0.to_vec();
        }
        let number = self.numbers(source, "configuration/step", frame)?.first().map_or(0, |&n| n as u64);
        Ok(Step { number: Some(number), shapes, ..read })
    }
}
