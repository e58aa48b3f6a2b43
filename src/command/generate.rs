//! `polyfly particles generate`: generates test packings in the layouts of real files.

use super::output_file::OutputFile;
use crate::assets::particles::{self, Column, Step};
use crate::cli::{Failure, FileLayout, GenerateArgs};
use crate::language::msg;
use crate::scene::numbered;
use std::io::Write;
use std::path::Path;

pub fn run(args: &GenerateArgs) -> Result<(), Failure> {
    if args.steps > 1 && numbered(&args.file, 0).is_none() {
        return Err(Failure::usage(msg!("several time steps need a file name with %d")));
    }
    let path = Path::new(&args.file);
    let is_table = particles::is_table(path);
    let is_binary = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("bin"));
    let layout = match args.layout {
        Some(layout) => layout,
        None if is_table => FileLayout::Csv,
        None if is_binary => FileLayout::Interleaved,
        None => {
            return Err(Failure::usage(msg!(
                "{name}: no particles are written to such a file; expected .csv, .xyzr or .txt (tables) or .bin (the `sphere` code's), or a --layout",
                name = args.file
            )));
        }
    };
    if (layout == FileLayout::Csv) != is_table {
        return Err(Failure::usage(msg!(
            "{name}: .csv, .xyzr and .txt are extensions of tables, and of no other layout: such a file could not be read",
            name = args.file
        )));
    }
    let name = |step: u32| numbered(&args.file, u64::from(step)).unwrap_or_else(|| args.file.clone());
    // No file is written if one of them is refused.
    for step in 0..args.steps {
        let _ = OutputFile::create(Path::new(&name(step)), args.overwrite)?;
    }
    for step in 0..args.steps {
        let time = f64::from(step) / f64::from(args.steps);
        let bytes = write(&packing(args.count as usize, args.seed, time), layout);
        OutputFile::create(Path::new(&name(step)), args.overwrite)?.write(&bytes)?;
    }
    Ok(())
}

// SplitMix64 (Steele et al., "Fast splittable pseudorandom number generators", 2014): 0 <= x < 1.
struct Draws(u64);
impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A column of `n` particles on a jittered grid, twice as high as wide and sheared sideways. Radii are 0.8 to 1 of
/// half the spacing. Velocities grow upward and oscillate with `time`; pressures grow downward.
pub fn packing(n: usize, seed: u64, time: f64) -> Step {
    let across = (libm::cbrt(n as f64 / 2.0).ceil() as usize).max(1);
    let spacing = 1.0 / across as f64;
    let mut draws = Draws(seed);
    let height = n.div_ceil(across * across) as f64 * spacing;
    let columns = COLUMNS.map(|name| Column { name: name.into(), values: Vec::with_capacity(n) });
    let mut step = Step { columns: columns.into(), time: Some(time), ..Step::default() };
    for i in 0..n {
        let cell = [i % across, i / across % across, i / (across * across)];
        let radius = 0.5 * spacing * (0.8 + 0.2 * draws.next());
        let room = 0.5 * spacing - radius;
        let p = cell.map(|c| (c as f64 + 0.5) * spacing + room * (2.0 * draws.next() - 1.0));
        let up = p[2] / height;
        let wave = libm::sin(std::f64::consts::TAU * (time + p[0]));
        step.positions.push([p[0] + 0.1 * time * up, p[1], p[2]]);
        step.radii.push(radius);
        let velocity = [0.1 * up * (1.0 + 0.3 * wave), 0.01 * (draws.next() - 0.5), 0.01 * (draws.next() - 0.5)];
        let pressure = 1.0e4 * (1.0 - up) * (0.9 + 0.2 * draws.next());
        let values = velocity.into_iter().chain([pressure]);
        step.columns.iter_mut().zip(values).for_each(|(column, value)| column.values.push(value));
    }
    step
}

// The columns of a packing.
const COLUMNS: [&str; 4] = ["vx", "vy", "vz", "p"];

// The velocity and the pressure of each particle.
fn values(set: &Step) -> impl Iterator<Item = [f64; 4]> {
    let column = |name| set.column(&[name]).unwrap_or_default();
    let columns = COLUMNS.map(column);
    (0..set.count()).map(move |i| columns.map(|values| values.get(i).copied().unwrap_or_default()))
}

pub fn write(set: &Step, layout: FileLayout) -> Vec<u8> {
    match layout {
        FileLayout::Interleaved => interleaved(set),
        FileLayout::Versioned => versioned(set),
        FileLayout::Csv => csv(set),
    }
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

fn csv(set: &Step) -> Vec<u8> {
    let mut text = b"x,y,z,r,vx,vy,vz,p\n".to_vec();
    for (([x, y, z], r), [vx, vy, vz, p]) in set.positions.iter().zip(&set.radii).zip(values(set)) {
        // Writing to memory cannot fail.
        let _ = writeln!(text, "{x},{y},{z},{r},{vx},{vy},{vz},{p}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_is_written_reads_back_and_nothing_else_does() {
        let set = packing(37, 7, 0.25);
        assert_eq!(set.radii.len(), 37);
        for (layout, name) in
            [(FileLayout::Interleaved, "a.bin"), (FileLayout::Versioned, "b.bin"), (FileLayout::Csv, "c.csv")]
        {
            let bytes = write(&set, layout);
            let read = |bytes: &[u8]| particles::read_bytes(Path::new(name), bytes);
            let again = read(&bytes).unwrap();
            assert_eq!((&again.positions, &again.radii), (&set.positions, &set.radii), "{layout:?}");
            for column in &set.columns {
                assert_eq!(again.column(&[&column.name]), Some(&column.values[..]), "{layout:?}, {}", column.name);
            }
            if layout != FileLayout::Csv {
                assert_eq!(again.time, Some(0.25));
                for cut in 0..bytes.len() {
                    assert!(read(&bytes[..cut]).is_err(), "{layout:?} cut to {cut} bytes");
                }
                let longer = [&bytes[..], &[0]].concat();
                assert!(read(&longer).is_err(), "{layout:?} with a byte more");
            }
        }
    }

    #[test]
    fn balls_of_a_packing_do_not_overlap() {
        let set = packing(300, 3, 0.0);
        for i in 0..300 {
            for j in 0..i {
                let d = crate::math::vec3::length(crate::math::vec3::sub(set.positions[i], set.positions[j]));
                assert!(d >= set.radii[i] + set.radii[j] - 1e-12);
            }
        }
    }
}
