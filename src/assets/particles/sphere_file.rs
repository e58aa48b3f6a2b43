//! The `sphere` code's binary files, little endian. The layouts follow its Python reader (python/sphere.py).

use super::format::{Head, Source};
use super::step::{Chunk, Step, Wanted};
use crate::assets::error::AssetError;
use crate::assets::source::Content;
use crate::language::{Message, msg};
use crate::scene::limits::MAX_PARTICLES;
use rayon::prelude::*;
use std::io;
use std::path::Path;

// An interleaved layout: the bytes of a number, the vectors and scalars per particle, and the contents of the tail.
#[derive(Clone, Copy)]
struct Interleaved {
    word: usize,
    vectors: usize,
    scalars: usize,
    wall_modes: bool,
}

struct File<'a> {
    path: &'a Path,
    content: &'a Content<'a>,
    wanted: &'a Wanted,
}

impl File<'_> {
    fn broken(&self, what: Message) -> AssetError {
        AssetError::new(self.path, what)
    }
    fn length(&self) -> usize {
        self.content.length()
    }
    // A few bytes; None at the end of the file.
    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let end = at.checked_add(N).filter(|&end| end <= self.length())?;
        self.content.part(at..end).ok()?.first_chunk().copied()
    }
    fn u32(&self, at: usize) -> Option<usize> {
        self.bytes(at).map(|b| u32::from_le_bytes(b) as usize)
    }
    fn f64(&self, at: usize) -> f64 {
        self.bytes(at).map_or(f64::NAN, f64::from_le_bytes)
    }
}

// A number of 4 or 8 bytes.
fn number(bytes: &[u8], at: usize, word: usize) -> f64 {
    let bytes = bytes.get(at..).unwrap_or_default();
    let single = || bytes.first_chunk().map_or(f32::NAN, |&b| f32::from_le_bytes(b));
    if word == 8 { bytes.first_chunk().map_or(f64::NAN, |&b| f64::from_le_bytes(b)) } else { f64::from(single()) }
}

// Where numbers of particles are: the index of a block, and the index of a byte in its record.
type Field = (usize, usize);

// Where the numbers of particles are: blocks with a record for each particle, at a byte of the file and so many bytes long.
struct RecordLayout {
    word: usize,
    blocks: Vec<(usize, usize)>,
    // Bytes between the coordinates of a vector.
    step: usize,
    position: Field,
    radius: Field,
    columns: Vec<(String, Field)>,
}

impl RecordLayout {
    // The three columns of a vector.
    fn vector(&self, names: [&str; 3], (block, at): Field) -> impl Iterator<Item = (String, Field)> + use<> {
        let step = self.step;
        names.map(str::to_owned).into_iter().enumerate().map(move |(i, name)| (name, (block, at + i * step)))
    }

    // Reads all particles; threads read and decode parts.
    fn read(mut self, file: &File, n: usize, time: f64) -> Result<Step, AssetError> {
        let names = self.columns.iter().map(|(name, _)| name.clone()).collect();
        self.columns.retain(|(name, _)| file.wanted.has(name));
        let kept = self.columns.iter().map(|(name, _)| name.clone());
        let mut step = Step { names, time: Some(time), ..Step::empty(n, kept) };
        let read = step.chunks().into_par_iter().try_for_each(|chunk| self.fill(file, chunk));
        read.map_err(|e| AssetError::read("particles", file.path, e))?;
        let (at, stride) = self.blocks[self.position.0];
        step.check(|i| msg!("byte {byte}", byte = at + i * stride)).map_err(|what| file.broken(what))
    }

    fn fill(&self, file: &File, chunk: Chunk) -> io::Result<()> {
        let Chunk { first, positions, radii, columns } = chunk;
        let fields = self.columns.iter().map(|(_, field)| field.0);
        let needed: Vec<usize> = fields.chain([self.position.0, self.radius.0]).collect();
        let read = |(block, &(at, stride)): (usize, &(usize, usize))| match needed.contains(&block) {
            true => file.content.part(at + first * stride..at + (first + radii.len()) * stride),
            false => Ok(Default::default()),
        };
        let bytes = self.blocks.iter().enumerate().map(read).collect::<io::Result<Vec<_>>>()?;
        let scalar =
            |(block, offset): Field, i: usize| number(&bytes[block], i * self.blocks[block].1 + offset, self.word);
        let vector = |(block, offset), i: usize| [0, 1, 2].map(|axis| scalar((block, offset + axis * self.step), i));
        positions.iter_mut().enumerate().for_each(|(i, p)| *p = vector(self.position, i));
        radii.iter_mut().enumerate().for_each(|(i, r)| *r = scalar(self.radius, i));
        for ((_, field), values) in self.columns.iter().zip(columns) {
            values.iter_mut().enumerate().for_each(|(i, value)| *value = scalar(*field, i));
        }
        Ok(())
    }
}

/// Whether a file begins as those of the `sphere` code do.
pub fn recognise(head: &Head) -> bool {
    let version = head.bytes.first_chunk().map_or(f64::NAN, |&b| f64::from_le_bytes(b));
    head.bytes.starts_with(&3u32.to_le_bytes()) || !head.is_text() && VERSIONS.contains(&version)
}

const VERSIONS: std::ops::Range<f64> = 0.5..100.0;

/// Reads a file in the layout that matches its length.
pub fn read(source: &Source, wanted: &Wanted) -> Result<Step, AssetError> {
    let file = File { path: source.path, content: source.content, wanted };
    let Some(dimensions) = file.u32(0) else {
        return Err(file
            .broken(msg!("it ends at byte {length}; expected at least 104 bytes of header", length = file.length())));
    };
    if dimensions == 3 {
        return read_interleaved(&file);
    }
    read_versioned(&file)
}

fn count(file: &File, at: usize) -> Result<usize, AssetError> {
    match file.u32(at) {
        Some(n) if (1..=MAX_PARTICLES as usize).contains(&n) => Ok(n),
        Some(n) => Err(file.broken(msg!(
            "byte {at}: {count} particles; expected 1 to {max}",
            at,
            count = n,
            max = MAX_PARTICLES
        ))),
        None => Err(file.broken(msg!(
            "it ends at byte {length}; expected the number of particles at byte {at}",
            length = file.length(),
            at
        ))),
    }
}

impl Interleaved {
    // dt, current, total, file_dt, step; current and total are always doubles.
    fn time_at(self) -> usize {
        8 + self.word
    }
    fn particles_at(self) -> usize {
        8 + 2 * self.word + 16 + 4 + 6 * self.word + 12
    }
    fn scalars_at(self, n: usize) -> usize {
        self.particles_at() + n * 3 * self.vectors * self.word
    }
    fn tail_at(self, n: usize) -> usize {
        self.scalars_at(n) + n * self.scalars * self.word
    }
    // The whole length, once the number of walls is known.
    fn length(self, n: usize, file: &File) -> Option<usize> {
        let w = self.word;
        let walls_at = self.tail_at(n) + 4 + 3 * w + 3 * w + 4;
        let walls = file.u32(walls_at)?;
        let wall = 8 * w + if self.wall_modes { 4 } else { 0 };
        // Files of double precision have three more numbers.
        let rest = 4 + 4 + if w == 8 { 3 * w } else { 0 } + 16 * n;
        Some(walls_at.saturating_add(walls.saturating_mul(wall)).saturating_add(rest))
    }
}

fn read_interleaved(file: &File) -> Result<Step, AssetError> {
    let n = count(file, 4)?;
    let shapes = [(5, 16), (6, 18), (5, 18), (6, 16)];
    let layouts = [8, 4].into_iter().flat_map(|word| {
        let of = move |(vectors, scalars)| {
            [false, true].map(|wall_modes| Interleaved { word, vectors, scalars, wall_modes })
        };
        shapes.into_iter().flat_map(of)
    });
    let mut closest: Option<usize> = None;
    for layout in layouts {
        match layout.length(n, file) {
            Some(length) if length == file.length() => return interleaved(file, layout, n),
            Some(length) => {
                let off = |l: usize| l.abs_diff(file.length());
                closest = closest.filter(|&c| off(c) <= off(length)).or(Some(length));
            }
            None => {}
        }
    }
    let first = Interleaved { word: 8, vectors: 5, scalars: 16, wall_modes: false };
    let expected = closest.unwrap_or_else(|| first.tail_at(n) + 152 - 64);
    Err(file.broken(msg!(
        "it ends at byte {length}; with {count} particles the interleaved layout ends at byte {expected} (or, by its variants, elsewhere): it is cut short, or no file of particles",
        length = file.length(),
        count = n,
        expected,
    )))
}

fn interleaved(file: &File, layout: Interleaved, n: usize) -> Result<Step, AssetError> {
    // For each particle, for each axis: position, velocity, and other vectors. Then its scalars.
    let (word, row) = (layout.word, layout.vectors * layout.word);
    let mut records = RecordLayout {
        word,
        blocks: vec![(layout.particles_at(), 3 * row), (layout.scalars_at(n), layout.scalars * word)],
        step: row,
        position: (0, 0),
        radius: (1, 2 * word),
        columns: Vec::new(),
    };
    records.columns.extend(records.vector(["vx", "vy", "vz"], (0, word)));
    records.columns.push(("p".into(), (1, (layout.scalars - 1) * word)));
    records.read(file, n, file.f64(layout.time_at()))
}

fn read_versioned(file: &File) -> Result<Step, AssetError> {
    let version = file.f64(0);
    match file.u32(8) {
        Some(3) => {}
        Some(other) => return Err(file.broken(msg!("byte 8: expected 3 dimensions, found {found}", found = other))),
        None => {
            return Err(file.broken(msg!(
                "it ends at byte {length}; expected at least 104 bytes of header",
                length = file.length()
            )));
        }
    }
    let n = count(file, 12)?;
    let start = 16 + 4 * 8 + 4 + 6 * 8 + 3 * 4 + 4 + if version >= 2.14 { 4 } else { 0 };
    let displaced = if version < 1.03 { 2 } else { 3 };
    let velocity = start + 8 * n * (4 + displaced);
    let scalars = velocity + 8 * n * (4 + 4 * 3);
    let contact = scalars + 8 * n * 5;
    // Gravity and 14 numbers, the contact model, three numbers, the walls; then three numbers on walls, and bonds.
    let walls_at = contact + 17 * 8 + 4 + 3 * 8;
    let missing = |at: usize| {
        file.broken(msg!(
            "it ends at byte {length}; {count} particles of version {version} need {needed} and more",
            length = file.length(),
            count = n,
            version,
            needed = at
        ))
    };
    let walls = file.u32(walls_at).ok_or_else(|| missing(walls_at + 4))?;
    let bonds_at = walls_at.saturating_add(4).saturating_add(walls.saturating_mul(4 + 8 * 8)).saturating_add(3 * 8 + 8);
    let bonds = file.u32(bonds_at).ok_or_else(|| missing(bonds_at.saturating_add(4)))?;
    // Each bond has two particles and eight numbers; a color number for each particle ends the file.
    let plain = bonds_at.saturating_add(4 + 16).saturating_add(bonds.saturating_mul(8 + 8 * 8));
    let length = plain.saturating_add(4 * n);
    if length != file.length() {
        let parts = msg!("{particles} particles, {walls} walls and {bonds} bonds", particles = n, walls, bonds);
        return Err(file.broken(msg!(
            "it ends at byte {length}; with {parts} a file of version {version} ends at byte {expected}: it is cut short, or holds a fluid, which is not read",
            length = file.length(),
            parts,
            version,
            expected = length,
        )));
    }
    // Velocities have a fourth number, whether they are fixed.
    let vectors = [
        ["force.x", "force.y", "force.z"],
        ["angpos.x", "angpos.y", "angpos.z"],
        ["angvel.x", "angvel.y", "angvel.z"],
        ["torque.x", "torque.y", "torque.z"],
    ];
    let names = ["es_dot", "es", "ev_dot", "ev", "p"];
    let after = |i: usize| (velocity + 8 * n * (4 + 3 * i), 24);
    let energy = |i: usize| (scalars + 8 * n * i, 8);
    let mut records = RecordLayout {
        word: 8,
        blocks: [(start, 32), (velocity, 32)].into_iter().chain((0..4).map(after)).chain((0..5).map(energy)).collect(),
        step: 8,
        position: (0, 0),
        radius: (0, 24),
        columns: Vec::new(),
    };
    records.columns.extend(records.vector(["vx", "vy", "vz"], (1, 0)));
    records.columns.push(("fixvel".into(), (1, 24)));
    for (i, names) in vectors.into_iter().enumerate() {
        records.columns.extend(records.vector(names, (2 + i, 0)));
    }
    records.columns.extend(names.into_iter().enumerate().map(|(i, name)| (name.into(), (6 + i, 0))));
    let mut step = records.read(file, n, file.f64(24))?;
    // The strength of bonds comes first.
    for k in 0..bonds {
        let at = bonds_at + 4 + 16 + 8 * k;
        let pair = [file.u32(at), file.u32(at + 4)].map(|i| i.filter(|&i| i < n));
        let [Some(a), Some(b)] = pair else {
            return Err(file.broken(msg!(
                "byte {byte}: a bond has no particle; expected two of {count}",
                byte = at,
                count = n
            )));
        };
        step.bonds.push([a as u32, b as u32]);
    }
    Ok(step)
}
