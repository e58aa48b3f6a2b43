//! The `sphere` code's binary files, little endian. The layouts follow its Python reader (python/sphere.py).

use super::set::ParticleSet;
use crate::assets::error::AssetError;
use crate::scene::limits::MAX_PARTICLES;
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
    bytes: &'a [u8],
}

impl File<'_> {
    fn broken(&self, what: String) -> AssetError {
        AssetError::new(self.path, what)
    }
    fn u32(&self, at: usize) -> Option<usize> {
        self.bytes.get(at..)?.first_chunk().map(|&b| u32::from_le_bytes(b) as usize)
    }
    fn f64(&self, at: usize) -> f64 {
        self.bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(f64::NAN, |&b| f64::from_le_bytes(b))
    }
    // A number of 4 or 8 bytes.
    fn number(&self, at: usize, word: usize) -> f64 {
        let single = || self.bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(f32::NAN, |&b| f32::from_le_bytes(b));
        if word == 8 { self.f64(at) } else { f64::from(single()) }
    }
}

/// Reads a file in the layout that matches its length.
pub fn read(path: &Path, bytes: &[u8]) -> Result<ParticleSet, AssetError> {
    let file = File { path, bytes };
    let Some(dimensions) = file.u32(0) else {
        return Err(file.broken(format!("it ends at byte {}; expected at least 104 bytes of header", bytes.len())));
    };
    if dimensions == 3 {
        return read_interleaved(&file);
    }
    if (0.5..100.0).contains(&file.f64(0)) {
        return read_versioned(&file);
    }
    Err(file.broken(
        "byte 0: expected the number of dimensions, 3, or a version of 0.5 to 100: this is no file of the `sphere` code; \
         tables end in .csv, .xyzr or .txt"
            .into(),
    ))
}

fn count(file: &File, at: usize) -> Result<usize, AssetError> {
    match file.u32(at) {
        Some(n) if (1..=MAX_PARTICLES as usize).contains(&n) => Ok(n),
        Some(n) => Err(file.broken(format!("byte {at}: {n} particles; expected 1 to {MAX_PARTICLES}"))),
        None => {
            Err(file
                .broken(format!("it ends at byte {}; expected the number of particles at byte {at}", file.bytes.len())))
        }
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

fn read_interleaved(file: &File) -> Result<ParticleSet, AssetError> {
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
            Some(length) if length == file.bytes.len() => return interleaved(file, layout, n),
            Some(length) => {
                let off = |l: usize| l.abs_diff(file.bytes.len());
                closest = closest.filter(|&c| off(c) <= off(length)).or(Some(length));
            }
            None => {}
        }
    }
    let first = Interleaved { word: 8, vectors: 5, scalars: 16, wall_modes: false };
    let expected = closest.unwrap_or_else(|| first.tail_at(n) + 152 - 64);
    Err(file.broken(format!(
        "it ends at byte {}; with {n} particles the interleaved layout ends at byte {expected} (or, by its variants, elsewhere): \
         it is cut short, or no file of particles",
        file.bytes.len()
    )))
}

fn interleaved(file: &File, layout: Interleaved, n: usize) -> Result<ParticleSet, AssetError> {
    let w = layout.word;
    let (start, scalars) = (layout.particles_at(), layout.scalars_at(n));
    // For each particle, for each axis: position, velocity, and other vectors.
    let vector = |i: usize, which: usize| {
        [0, 1, 2].map(|axis| file.number(start + ((i * 3 + axis) * layout.vectors + which) * w, w))
    };
    let scalar = |i: usize, which: usize| file.number(scalars + (i * layout.scalars + which) * w, w);
    let set = ParticleSet {
        positions: (0..n).map(|i| vector(i, 0)).collect(),
        velocities: (0..n).map(|i| vector(i, 1)).collect(),
        radii: (0..n).map(|i| scalar(i, 2)).collect(),
        pressures: (0..n).map(|i| scalar(i, layout.scalars - 1)).collect(),
        time: Some(file.f64(layout.time_at())),
    };
    set.check(file.path, |i| format!("byte {}", start + i * 3 * layout.vectors * w))
}

fn read_versioned(file: &File) -> Result<ParticleSet, AssetError> {
    let version = file.f64(0);
    match file.u32(8) {
        Some(3) => {}
        other => return Err(file.broken(format!("byte 8: expected 3 dimensions, found {other:?}"))),
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
        file.broken(format!(
            "it ends at byte {}; {n} particles of version {version} need {at} and more",
            file.bytes.len()
        ))
    };
    let walls = file.u32(walls_at).ok_or_else(|| missing(walls_at + 4))?;
    let bonds_at = walls_at.saturating_add(4).saturating_add(walls.saturating_mul(4 + 8 * 8)).saturating_add(3 * 8 + 8);
    let bonds = file.u32(bonds_at).ok_or_else(|| missing(bonds_at.saturating_add(4)))?;
    // Each bond has two particles and eight numbers; a color number for each particle ends the file.
    let plain = bonds_at.saturating_add(4 + 16).saturating_add(bonds.saturating_mul(8 + 8 * 8));
    let length = plain.saturating_add(4 * n);
    if length != file.bytes.len() {
        return Err(file.broken(format!(
            "it ends at byte {}; with {n} particles, {walls} walls and {bonds} bonds a file of version {version} ends at byte {}: \
             it is cut short, or holds a fluid, which is not read",
            file.bytes.len(),
            length
        )));
    }
    let row = |at: usize, width: usize, i: usize| {
        let p = at + 8 * width * i;
        [file.f64(p), file.f64(p + 8), file.f64(p + 16)]
    };
    let set = ParticleSet {
        positions: (0..n).map(|i| row(start, 4, i)).collect(),
        radii: (0..n).map(|i| file.f64(start + 32 * i + 24)).collect(),
        velocities: (0..n).map(|i| row(velocity, 4, i)).collect(),
        pressures: (0..n).map(|i| file.f64(scalars + 8 * (4 * n + i))).collect(),
        time: Some(file.f64(24)),
    };
    set.check(file.path, |i| format!("byte {}", start + 32 * i))
}
