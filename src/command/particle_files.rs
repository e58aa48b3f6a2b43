//! `polyfly particles convert`, and the layouts in which particles are written.

mod gsd;
mod vtp;

use super::output_file::OutputFile;
use crate::assets::AssetError;
use crate::assets::files::Files;
use crate::assets::particles::{self, Cell, Step, Wanted};
use crate::cli::{ConvertParticlesArgs, Failure, FileLayout};
use crate::language::{Message, msg};
use crate::output::OutputError;
use crate::scene::{numbered, series};
use crate::system::extension;
use crate::threads::shared_pool;
use std::io::Write;
use std::path::{Path, PathBuf};

pub fn run(args: &ConvertParticlesArgs) -> Result<(), Failure> {
    let pool = shared_pool().map_err(OutputError::from)?;
    let series = pool.install(|| Series::find(&args.input))?;
    let read = |k: u32| Ok(pool.install(|| series.read(k as usize, &Wanted::all()))?);
    write_steps(&args.output, args.layout, u32::try_from(series.count()).unwrap_or(u32::MAX), args.overwrite, read)
}

/// The time steps of a file, or of all files that a name stands for.
pub struct Series {
    files: Files,
    // Each file, with the number of its first step, and that behind its last one.
    parts: Vec<(PathBuf, [usize; 2])>,
    /// The format of the first file.
    pub format: &'static str,
}

impl Series {
    pub fn find(path: &Path) -> Result<Series, AssetError> {
        let (files, mut names, mut count) = (Files::default(), series::all(path), 0);
        if names.is_empty() {
            names.push(path.to_owned());
        }
        let (mut parts, mut format) = (Vec::new(), None);
        for name in names {
            let first = count;
            let of = particles::open(&name, &files, |file| Ok((file.count(), file.format)))?;
            (count, format) = (count + of.0, format.or(Some(of.1)));
            parts.push((name, [first, count]));
        }
        Ok(Series { files, parts, format: format.unwrap_or_default() })
    }
    pub fn count(&self) -> usize {
        self.parts.last().map_or(0, |(_, [_, end])| *end)
    }
    /// Reads the step of this number, from 0.
    pub fn read(&self, number: usize, wanted: &Wanted) -> Result<Step, AssetError> {
        let at = self.parts.partition_point(|(_, [_, end])| *end <= number).min(self.parts.len() - 1);
        let (name, [first, _]) = &self.parts[at];
        particles::open(name, &self.files, |file| file.read(number - first, wanted))
    }
}

// The layout of a file, by its name if the user gives none.
fn layout_of(name: &str, layout: Option<FileLayout>) -> Result<FileLayout, Failure> {
    let path = Path::new(name);
    let ending = extension(path);
    let is_table = particles::is_table(path);
    let own = match ending.as_str() {
        _ if is_table => Some(FileLayout::Csv),
        "bin" => Some(FileLayout::Interleaved),
        "dump" | "lammpstrj" => Some(FileLayout::Dump),
        "xyz" | "extxyz" => Some(FileLayout::Xyz),
        "npz" => Some(FileLayout::Npz),
        "vtp" => Some(FileLayout::Vtp),
        "gsd" => Some(FileLayout::Gsd),
        _ => None,
    };
    let Some(layout) = layout.or(own) else {
        return Err(Failure::usage(msg!(
            "{name}: no particles are written to such a file; expected .csv, .xyzr or .txt (tables), .dump (LAMMPS), .xyz, .gsd, .npz, .vtp or .bin (the `sphere` code's), or a --layout",
            name
        )));
    };
    if (layout == FileLayout::Csv) != is_table {
        return Err(Failure::usage(msg!(
            "{name}: .csv, .xyzr and .txt are extensions of tables, and of no other layout: such a file could not be read",
            name
        )));
    }
    Ok(layout)
}

/// Writes time steps: to one file, if there is one step or if the layout has several, else to one each, whose names have a number.
pub fn write_steps(
    file: &str,
    layout: Option<FileLayout>,
    steps: u32,
    overwrite: bool,
    step: impl Fn(u32) -> Result<Step, Failure>,
) -> Result<(), Failure> {
    let is_series = numbered(file, 0).is_some();
    let layout = layout_of(file, layout)?;
    if steps > 1 && !is_series && !matches!(layout, FileLayout::Dump | FileLayout::Xyz | FileLayout::Gsd) {
        return Err(Failure::usage(msg!("several time steps need a file name with %d")));
    }
    let each = if is_series { 1 } else { steps };
    let firsts = (0..steps).step_by(each.max(1) as usize);
    let name = |k: u32| numbered(file, u64::from(k)).unwrap_or_else(|| file.to_owned());
    // No file is written if one of them is refused.
    for k in firsts.clone() {
        let _ = OutputFile::create(Path::new(&name(k)), overwrite)?;
    }
    for first in firsts {
        let (mut bytes, mut frames) = (Vec::new(), gsd::Writer::default());
        for k in first..first + each {
            let step = step(k)?;
            let wrong = |what: Message| Failure::usage(msg!("{name}: {what}", name = file, what));
            if step.radii.is_empty() && matches!(layout, FileLayout::Interleaved | FileLayout::Versioned) {
                return Err(wrong(msg!("this layout needs radii, which the particles have not")));
            }
            match layout {
                FileLayout::Gsd => frames.add(&step, k).map_err(wrong)?,
                _ => bytes.append(&mut write(&step, layout, k)),
            }
            if layout == FileLayout::Npz && u32::try_from(bytes.len()).is_err() {
                return Err(wrong(msg!("no .npz of 4 GiB or more is written: give a .dump")));
            }
        }
        if layout == FileLayout::Gsd {
            bytes = frames.finish();
        }
        OutputFile::create(Path::new(&name(first)), overwrite)?.write(&bytes)?;
    }
    Ok(())
}

// The velocity and the pressure of each particle.
fn values(set: &Step) -> impl Iterator<Item = [f64; 4]> {
    let columns = ["vx", "vy", "vz", "p"].map(|name| set.column(&[name]).unwrap_or_default());
    (0..set.count()).map(move |i| columns.map(|values| values.get(i).copied().unwrap_or_default()))
}

/// The bytes of a step of that number.
pub fn write(set: &Step, layout: FileLayout, number: u32) -> Vec<u8> {
    match layout {
        FileLayout::Interleaved => interleaved(set),
        FileLayout::Versioned => versioned(set),
        FileLayout::Csv => rows(set, names(set, "r").join(",") + "\n", ','),
        FileLayout::Dump => rows(set, dump_head(set, number), ' '),
        FileLayout::Xyz => rows(set, xyz_head(set, number), ' '),
        FileLayout::Npz => npz(set),
        FileLayout::Vtp => vtp::write(set),
        // Frames share an index: see write_steps.
        FileLayout::Gsd => Vec::new(),
    }
}

// The names of all columns as words of a text.
fn names(set: &Step, radius: &str) -> Vec<String> {
    let own = ["x", "y", "z"].into_iter().chain((!set.radii.is_empty()).then_some(radius));
    let word = |name: &str| name.replace(|c: char| c.is_whitespace() || ",;:\"".contains(c), "_");
    own.chain(set.columns.iter().map(|column| column.name.as_str())).map(word).collect()
}

// A header, and a row for each particle, with as many digits as read back to the same number.
fn rows(set: &Step, head: String, delimiter: char) -> Vec<u8> {
    let mut text = head.into_bytes();
    for (i, [x, y, z]) in set.positions.iter().enumerate() {
        // Writing to memory cannot fail.
        let _ = write!(text, "{x}{delimiter}{y}{delimiter}{z}");
        for value in set.radii.get(i).into_iter().chain(set.columns.iter().filter_map(|column| column.values.get(i))) {
            let _ = write!(text, "{delimiter}{value}");
        }
        text.push(b'\n');
    }
    text
}

// LAMMPS's header. A box that does not begin along x and in the plane of x and y is one by its vectors, which older programs do not read.
fn dump_head(set: &Step, number: u32) -> String {
    let Cell { origin, vectors, periodic } = set.cell_or_bounds();
    let [[length, x_y, x_z], [xy, width, y_z], [xz, yz, height]] = vectors;
    let time = set.time.map_or_else(String::new, |time| format!("ITEM: TIME\n{time}\n"));
    let number = set.number.unwrap_or(number.into());
    let ends = periodic.map(|is| if is { "pp" } else { "ff" }).join(" ");
    let low = |values: [f64; 3]| values.into_iter().fold(0.0, f64::min);
    let high = |values: [f64; 3]| values.into_iter().fold(0.0, f64::max);
    let (kind, rows) = if [x_y, x_z, y_z] == [0.0; 3] {
        let [x, y, z] = origin;
        let (across, back) = ([xy, xz, xy + xz], [yz, 0.0, 0.0]);
        let rows = [
            vec![x + low(across), x + length + high(across), xy],
            vec![y + low(back), y + width + high(back), xz],
            vec![z, z + height, yz],
        ];
        ("xy xz yz", rows)
    } else {
        ("abc origin", [0, 1, 2].map(|axis| [&vectors[axis][..], &[origin[axis]]].concat()))
    };
    let bounds: String =
        rows.iter().map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(" ") + "\n").collect();
    let (count, names) = (set.count(), names(set, "radius").join(" "));
    format!(
        "{time}ITEM: TIMESTEP\n{number}\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS {kind} {ends}\n{bounds}ITEM: ATOMS {names}\n"
    )
}

// The header of extended XYZ.
fn xyz_head(set: &Step, number: u32) -> String {
    let Cell { origin, vectors, periodic } = set.cell_or_bounds();
    let join = |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let columns: String = names(set, "radius")[3..].iter().map(|name| format!(":{name}:R:1")).collect();
    let time = set.time.map_or_else(String::new, |time| format!(" time={time}"));
    let periodic = periodic.map(|is| if is { "T" } else { "F" }).join(" ");
    format!(
        "{}\nLattice=\"{}\" Origin=\"{}\" pbc=\"{periodic}\" Properties=pos:R:3{columns} step={}{time}\n",
        set.count(),
        join(vectors.as_flattened()),
        join(&origin),
        set.number.unwrap_or(number.into()),
    )
}

// An archive (zip) of numpy's arrays, not packed.
fn npz(set: &Step) -> Vec<u8> {
    let mut arrays = vec![("position", 3, bytemuck::cast_slice::<f64, u8>(set.positions.as_flattened()))];
    arrays.extend((!set.radii.is_empty()).then(|| ("radius", 1, bytemuck::cast_slice(&set.radii))));
    arrays.extend(set.columns.iter().map(|column| (column.name.as_str(), 1, bytemuck::cast_slice(&column.values))));
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for (name, across, numbers) in &arrays {
        let shape = if *across == 1 { format!("{},", set.count()) } else { format!("{}, {across}", set.count()) };
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
        let bytes = [&b"\x93NUMPY\x01\x00\x76\x00"[..], format!("{header:<117}\n").as_bytes(), numbers].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&bytes);
        let (name, at, length) = (format!("{name}.npy"), all.len() as u32, bytes.len() as u32);
        // Version 2.0, no flags, stored, no time.
        let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        ints(&mut facts, &[sum.sum(), length, length, name.len() as u32]);
        all.extend([&b"PK\x03\x04"[..], &facts, name.as_bytes(), &bytes].concat());
        directory.extend([&b"PK\x01\x02\x14\x00"[..], &facts, &[0; 10]].concat());
        ints(&mut directory, &[at]);
        directory.extend(name.as_bytes());
    }
    let (at, count) = (all.len() as u32, arrays.len() as u32);
    all.extend([&directory[..], b"PK\x05\x06\0\0\0\0"].concat());
    ints(&mut all, &[count | count << 16, directory.len() as u32, at]);
    all.extend([0, 0]);
    all
}

fn ints(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|v| out.extend(v.to_le_bytes()));
}

fn reals(out: &mut Vec<u8>, values: &[f64]) {
    values.iter().for_each(|v| out.extend(v.to_le_bytes()));
}

fn interleaved(set: &Step) -> Vec<u8> {
    let (o, n) = (&mut Vec::new(), set.radii.len());
    ints(o, &[3, n as u32]);
    header(o, set);
    for (position, velocity) in set.positions.iter().zip(values(set)) {
        (0..3).for_each(|axis| reals(o, &[position[axis], velocity[axis], 0.0, 0.0, 0.0]));
    }
    for (radius, [_, _, _, pressure]) in set.radii.iter().zip(values(set)) {
        reals(o, &[0.0, 0.0, *radius, 2600.0]);
        reals(o, &[0.0; 11]);
        reals(o, &[pressure]);
    }
    ints(o, &[1]);
    reals(o, &[0.0, 0.0, -9.81, 0.0, 0.0, 0.0]);
    ints(o, &[2, 0, 0]);
    reals(o, &[0.0; 3]);
    ints(o, &vec![u32::MAX; 4 * n]);
    std::mem::take(o)
}

fn versioned(set: &Step) -> Vec<u8> {
    let (o, n) = (&mut Vec::new(), set.radii.len());
    reals(o, &[2.11]);
    ints(o, &[3, n as u32]);
    header(o, set);
    ints(o, &[0]);
    set.positions.iter().zip(&set.radii).for_each(|([x, y, z], r)| reals(o, &[*x, *y, *z, *r]));
    reals(o, &vec![0.0; 3 * n]);
    values(set).for_each(|[x, y, z, _]| reals(o, &[x, y, z, 0.0]));
    reals(o, &vec![0.0; 16 * n]);
    values(set).for_each(|[.., pressure]| reals(o, &[pressure]));
    reals(o, &[0.0, 0.0, -9.81]);
    reals(o, &[0.0; 14]);
    ints(o, &[2]);
    reals(o, &[0.0; 3]);
    ints(o, &[0]);
    reals(o, &[0.0, 0.0, 0.0, 1.0]);
    ints(o, &[0]);
    reals(o, &[f64::INFINITY; 2]);
    ints(o, &vec![0; n]);
    std::mem::take(o)
}

fn header(o: &mut Vec<u8>, set: &Step) {
    let time = set.time.unwrap_or(0.0);
    reals(o, &[1.0e-6, time, 1.0, 0.01]);
    ints(o, &[(time * 100.0).round() as u32]);
    reals(o, &[0.0, 0.0, 0.0, 1.0, 1.0, 2.0]);
    ints(o, &[8, 8, 16]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::generate::packing;
    use crate::math::vec3::sub;

    #[test]
    fn what_is_written_reads_back_and_nothing_else_does() {
        let set = packing(37, 7, 0.25);
        assert_eq!(set.radii.len(), 37);
        for (layout, name) in [
            (FileLayout::Interleaved, "a.bin"),
            (FileLayout::Versioned, "b.bin"),
            (FileLayout::Csv, "c.csv"),
            (FileLayout::Dump, "d.dump"),
            (FileLayout::Xyz, "e.xyz"),
            (FileLayout::Npz, "f.npz"),
            (FileLayout::Vtp, "g.vtp"),
        ] {
            let bytes = write(&set, layout, 5);
            let read = |bytes: &[u8]| particles::read_bytes(Path::new(name), bytes);
            let again = read(&bytes).unwrap();
            assert_eq!((&again.positions, &again.radii), (&set.positions, &set.radii), "{layout:?}");
            for column in &set.columns {
                assert_eq!(again.column(&[&column.name]), Some(&column.values[..]), "{layout:?}, {}", column.name);
            }
            if !matches!(layout, FileLayout::Csv | FileLayout::Npz) {
                assert_eq!(again.time, Some(0.25));
            }
            if layout != FileLayout::Csv {
                for cut in 0..bytes.len() {
                    // XML is whole without the end of its last tags.
                    let is_whole = layout == FileLayout::Vtp && cut + 32 > bytes.len();
                    assert!(is_whole || read(&bytes[..cut]).is_err(), "{layout:?} cut to {cut} bytes");
                }
                let longer = [&bytes[..], &[0]].concat();
                assert!(layout == FileLayout::Vtp || read(&longer).is_err(), "{layout:?} with a byte more");
            }
        }
    }

    #[test]
    fn frames_of_gsd_have_single_precision_and_a_box_around_the_origin() {
        let mut writer = gsd::Writer::default();
        let steps = [0.25, 0.5].map(|time| {
            let mut step = packing(20, 7, time);
            step.columns
                .push(particles::Column { name: "type".into(), values: (0..20).map(|i| f64::from(i % 3)).collect() });
            step.columns
                .push(particles::Column { name: "heat".into(), values: (0..20).map(|i| f64::from(i) / 3.0).collect() });
            Step { number: Some(7), cell: Some(step.cell_or_bounds()), ..step }
        });
        steps.iter().for_each(|step| writer.add(step, 5).unwrap());
        let again = particles::read_steps(Path::new("a.gsd"), &writer.finish()).unwrap();
        for (step, again) in steps.iter().zip(&again) {
            let middle = step.cell.unwrap().unscaled([0.5; 3]);
            let single = |values: &[f64]| values.iter().map(|&x| f64::from(x as f32)).collect::<Vec<_>>();
            let moved = step.positions.iter().map(|&p| sub(p, middle).map(|x| f64::from(x as f32)));
            assert!(again.positions.iter().copied().eq(moved) && again.number == Some(7));
            assert_eq!(again.radii, single(&step.radii));
            for (name, other) in [("vx", "velocity.x"), ("vz", "velocity.z"), ("type", "type")] {
                assert_eq!(again.column(&[other]), step.column(&[name]).map(single).as_deref(), "{name}");
            }
            assert_eq!(again.column(&["heat"]), step.column(&["heat"]));
            assert_eq!(again.column(&["p"]), step.column(&["p"]));
            let ([a, b, c], [d, e, f]) = (again.cell.unwrap().vectors, step.cell.unwrap().vectors);
            assert_eq!([a[0], b[1], c[2]].map(|x| x as f32), [d[0], e[1], f[2]].map(|x| x as f32));
        }
        let turned = Cell { vectors: [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], ..steps[0].cell.unwrap() };
        assert!(gsd::Writer::default().add(&Step { cell: Some(turned), ..steps[0].clone() }, 0).is_err());
    }
}
