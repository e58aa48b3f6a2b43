//! Particles of simulations, as spheres colored by a value. `readers` has the formats of files: the binary files of Damsgaard's `sphere`
//! DEM code in both layouts (sphere_file), and tables (text_table).
//!
//! A file must match its format to the last byte; any other file is refused with the byte at which it stops matching.

mod arrays;
mod format;
mod gsd;
mod lammps_binary;
mod lammps_data;
mod lammps_dump;
mod npy;
mod plan;
mod readers;
mod rows;
mod sphere_file;
mod step;
mod text_table;
mod vtk_legacy;
mod vtk_xml;
mod xyz;

pub use step::{Column, Step, Wanted};

use super::error::AssetError;
use super::files::Files;
use super::source::Content;
use crate::gpu_types::Sphere;
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, length, sub, to_f32};
use crate::scene::{ColourBy, Material, Particles};
use format::{Head, Source};
use rayon::prelude::*;
use readers::FileSteps;
use std::path::Path;
use std::sync::Arc;

/// Particles for the renderer.
#[derive(Clone, Debug)]
pub struct ColouredSpheres {
    /// Their number.
    pub count: usize,
    /// Spheres relative to `origin`, which the device scene shares; empty once it holds them.
    pub spheres: Arc<Vec<Sphere>>,
    /// The origin of the devices' coordinates, which have single precision.
    pub origin: Vec3,
    /// Indices into `colours`; empty once the device scene holds them.
    pub colour_indices: Vec<u16>,
    /// The color map and the color of missing values, or the one material.
    pub colours: Vec<Material>,
    /// The number of particles without a value: it is not a number.
    pub unknown: usize,
    /// The values at the ends of the map, if there is a map.
    pub range: Option<[f64; 2]>,
}

impl ColouredSpheres {
    /// Reads the particles of a frame, of a clip of `frames`, and colors them. Without a range in the scene, the map's ends are those of
    /// the first frame, so that a color means the same value in all frames. If all values of the first frame are equal, as in a simulation
    /// that begins at rest, the middle and the last frame count too. `origin` must be the same for all frames; None computes it here.
    pub fn load(
        particles: &Particles,
        frame: u32,
        frames: u32,
        origin: Option<Vec3>,
        files: &Files,
    ) -> Result<ColouredSpheres, AssetError> {
        let path = particles.file(frame);
        let wanted = wanted(particles.colour_by);
        let step = read(&path, &wanted, files)?;
        if step.radii.is_empty() {
            return Err(AssetError::new(
                &path,
                msg!("it has no radii: give `radius = 0.5`, or `radii = {{ 1 = 0.3 }}` by type, in [particles]"),
            ));
        }
        let origin = origin.unwrap_or_else(|| step.origin());
        let values = values(&step, particles.colour_by, &path)?;
        let range = match (&values, particles.range) {
            (None, _) => None,
            (Some(_), Some(range)) => Some(range),
            (Some(values), None) => {
                let of = |frame| -> Result<Option<[f64; 2]>, AssetError> {
                    let path = particles.file(frame);
                    let step = read(&path, &wanted, files)?;
                    Ok(self::values(&step, particles.colour_by, &path)?.and_then(|v| min_max(&v)))
                };
                let mut all = if frame == 0 { min_max(values) } else { of(0)? };
                if all.is_none_or(|[low, high]| low == high) && particles.is_animated() {
                    for later in [frames / 2, frames - 1] {
                        // A missing step is reported at its own frame.
                        let found = of(later).ok().flatten();
                        all = all.into_iter().chain(found).reduce(|[a, b], [c, d]| [a.min(c), b.max(d)]);
                    }
                }
                Some(widen(all))
            }
        };
        let map = &particles.map;
        let colours = map.colours();
        let color_index = |x: f64, [low, high]: [f64; 2]| match () {
            () if x.is_nan() => colours.len() as u16,
            () if map.is_categorical() => map.index(x) as u16,
            () => map.index(if high > low { (x - low) / (high - low) } else { 0.5 }) as u16,
        };
        let sphere = |(&p, &r): (&Vec3, &f64)| Sphere { centre: to_f32(sub(p, origin)), radius: r as f32 };
        let coloured = |colour| Material { colour, ..particles.material };
        Ok(ColouredSpheres {
            count: step.radii.len(),
            spheres: Arc::new(step.positions.par_iter().zip(&step.radii).map(sphere).collect()),
            origin,
            unknown: values.as_ref().map_or(0, |all| all.par_iter().filter(|x| x.is_nan()).count()),
            colour_indices: match (&values, range) {
                (Some(values), Some(range)) => values.par_iter().map(|&x| color_index(x, range)).collect(),
                _ => vec![0; step.radii.len()],
            },
            colours: match range {
                Some(_) => colours.iter().copied().chain([UNKNOWN]).map(coloured).collect(),
                None => vec![particles.material],
            },
            range,
        })
    }

    /// The bounding box of all particles: its minimum and maximum corner.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let boxes = self.spheres.par_iter().map(|s| [s.centre.map(|x| s.radius - x), s.centre.map(|x| x + s.radius)]);
        let farther = |a: [[f32; 3]; 2], b: [[f32; 3]; 2]| [0, 1].map(|k| [0, 1, 2].map(|i| a[k][i].max(b[k][i])));
        let [low, high] = boxes.reduce(|| [[f32::NEG_INFINITY; 3]; 2], farther).map(|corner| corner.map(f64::from));
        [low.map(|x| -x), high].map(|corner| add(corner, self.origin))
    }

    /// Frees what the device scene holds, perhaps in the order of its tree, so that each array is in memory once.
    pub fn release(&mut self) {
        (self.spheres, self.colour_indices) = (Arc::default(), Vec::new());
    }

    /// A remark about particles without a value, if there are any.
    pub fn remark(&self, by: ColourBy) -> Option<Message> {
        let (unknown, all, by) = (self.unknown, self.count, by.name());
        (unknown > 0).then(|| {
            msg!("{unknown} of {all} particles have no number for {by}: they are drawn gray", unknown, all, by)
        })
    }
}

// The color of missing values; no map contains it.
const UNKNOWN: Vec3 = [0.6; 3];

// Minimum and maximum; None if no value is a number.
fn min_max(values: &[f64]) -> Option<[f64; 2]> {
    let ends = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    values.par_iter().filter(|x| x.is_finite()).map(|&x| [x, x]).reduce_with(ends)
}

// Widens equal ends; never to a sign that no value has.
fn widen(ends: Option<[f64; 2]>) -> [f64; 2] {
    match ends {
        Some([low, high]) if low < high => [low, high],
        Some([x, _]) if x != 0.0 => [x - x.abs() / 2.0, x + x.abs() / 2.0],
        _ => [0.0, 1.0],
    }
}

// The names of columns that a value may have.
const VELOCITY: [&str; 3] = ["vx", "vy", "vz"];
const PRESSURE: [&str; 2] = ["p", "pressure"];

// The columns that particles are colored by.
fn wanted(by: ColourBy) -> Wanted {
    match by {
        ColourBy::Velocity => Wanted::only(VELOCITY),
        ColourBy::Pressure => Wanted::only(PRESSURE),
        ColourBy::Nothing | ColourBy::Radius => Wanted::only([]),
    }
}

// The values for the colors, if the scene asks for some.
fn values(step: &Step, by: ColourBy, path: &Path) -> Result<Option<Vec<f64>>, AssetError> {
    let velocity = || {
        let [x, y, z] = VELOCITY.map(|name| step.column(&[name]));
        let all = x?.par_iter().zip(y?).zip(z?);
        Some(all.map(|((&x, &y), &z)| length([x, y, z])).collect())
    };
    let found = match by {
        ColourBy::Nothing => return Ok(None),
        ColourBy::Radius => Some(step.radii.clone()),
        ColourBy::Pressure => step.column(&PRESSURE).map(<[f64]>::to_vec),
        ColourBy::Velocity => velocity(),
    };
    let missing =
        || msg!("it holds no {name} to color by; give color_by = \"nothing\" or \"radius\"", name = by.name());
    found.map(Some).ok_or_else(|| AssetError::new(path, missing()))
}

/// Reads a file, which is recognised by its content.
pub fn read(path: &Path, wanted: &Wanted, files: &Files) -> Result<Step, AssetError> {
    files.read_by("particles", path, |file| read_content(path, &Content::of("particles", path, file)?, wanted))
}

fn read_content(path: &Path, content: &Content, wanted: &Wanted) -> Result<Step, AssetError> {
    FileSteps::of(Source { path, content })?.read(0, wanted)
}

/// Reads all of the bytes of a file.
#[cfg(any(test, feature = "fuzzing"))]
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<Step, AssetError> {
    read_content(path, &bytes.into(), &Wanted::all())
}

/// Reads the first steps of the bytes of a file.
#[cfg(any(test, feature = "fuzzing"))]
pub fn read_steps(path: &Path, bytes: &[u8]) -> Result<Vec<Step>, AssetError> {
    let content = Content::from(bytes);
    let file = FileSteps::of(Source { path, content: &content })?;
    (0..file.count().min(8)).map(|number| file.read(number, &Wanted::all())).collect()
}

/// Whether a file of that name is a table.
pub fn is_table(path: &Path) -> bool {
    Head { path, bytes: &[] }.ends_in(&text_table::ENDINGS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::colormap::COLOURS;

    #[test]
    fn a_range_has_two_ends_and_no_foreign_sign() {
        assert_eq!(widen(min_max(&[0.0, 0.0])), [0.0, 1.0]);
        assert_eq!(widen(min_max(&[2.0])), [1.0, 3.0]);
        assert_eq!(widen(min_max(&[-2.0, f64::NAN])), [-3.0, -1.0]);
        assert_eq!(widen(min_max(&[3.0, -1.0, 2.0])), [-1.0, 3.0]);
        assert_eq!(widen(min_max(&[f64::NAN])), [0.0, 1.0]);
    }

    fn table(name: &str, text: &str) -> Result<Step, String> {
        read_bytes(Path::new(name), text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn tables_with_and_without_names() {
        let plain = table("a.xyzr", "# a remark\n0 1  2\t0.5\n\n3 4 5 0.25\n").unwrap();
        assert_eq!((plain.positions, plain.radii), (vec![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], vec![0.5, 0.25]));
        let named = table("a.csv", "radius,z,y,x,p\n0.5,2,1,0,7\n").unwrap();
        assert_eq!((&named.positions, &named.radii), (&vec![[0.0, 1.0, 2.0]], &vec![0.5]));
        assert_eq!(named.columns, [Column { name: "p".into(), values: vec![7.0] }]);
        assert!(table("a.csv", "x,y,z\n1,2,3\n").unwrap_err().contains("line 1: expected columns"));
        assert!(table("a.csv", "1,2,3,4\n1,2,x,4\n").unwrap_err().contains("line 2, column 3: `x`"));
        assert!(table("a.csv", "1,2,3,4\n1,2\n").unwrap_err().contains("line 2: it has no `z`"));
        assert!(table("a.csv", "1,2,3,0\n").unwrap_err().contains("radius 0"));
        assert!(table("a.csv", "").unwrap_err().contains("no particles"));
    }

    #[test]
    fn tables_in_parts_are_those_of_one_part() {
        // Several parts; remarks, blank lines, quotes, and ends of lines of all kinds.
        let row = |i: usize| format!("{i},{}.5,-1e-3,0.25,7", i % 100);
        let rows: Vec<String> = (0..120_000).map(row).collect();
        let names = "x,y,z,r,p";
        let expected = table("a.csv", &format!("{names}\n{}\n", rows.join("\n"))).unwrap();
        assert_eq!((expected.radii.len(), expected.positions[99_999]), (120_000, [99_999.0, 99.5, -1e-3]));
        assert_eq!(expected.column(&["P"]), Some(&[7.0; 120_000][..]));
        for (head, end) in [
            ("# remark\n\nx,y,z,r,p", "\r\n"),
            ("\"x\",\"y\",\"z\",\"r\",\"p\"", "\n"),
            ("x , y,z,  r,p", "\n\n# remark\n"),
            ("x,y,z,r,p\n\"0\",\"0.5\", -1e-3,0.25,7", "\n"),
        ] {
            let first = usize::from(head.contains("7"));
            let text = format!("{head}{end}{}", rows[first..].join(end));
            assert!(table("a.csv", &text).unwrap() == expected, "{head}");
        }
        let blanks = rows.join("\n").replace(',', " \t ");
        let columns = table("a.txt", &format!(" x  y z r p\n{blanks}")).unwrap();
        assert!(columns == expected);
        // Faults have their line and particle, wherever they are.
        for (i, bad, what) in [
            (110_000, "1,2,?,4,5", "line 110002, column 3: `?` is not a number for `z`"),
            (90_000, "1,2,3", "line 90002: it has no `r` (column 4)"),
            (119_999, "1,2,3,-4,5", "line 120001: particle 119999 has the radius -4e0"),
            (60_000, "1,2,3,4,x", "line 60002, column 5: `x`"),
        ] {
            let mut rows = rows.clone();
            rows[i] = bad.into();
            let fault = table("a.csv", &format!("{names}\n{}", rows.join("\n"))).unwrap_err();
            assert!(fault.contains(what), "{fault}");
        }
        let mut bytes = format!("{names}\n{}\n", rows.join("\n")).into_bytes();
        bytes[2_000_000] = 0xff;
        let fault = read_bytes(Path::new("a.csv"), &bytes).unwrap_err().to_string();
        assert!(fault.contains("byte 2000000 is not text in UTF-8"), "{fault}");
    }

    #[test]
    fn tables_of_windows_are_read() {
        let text = "x,y,z,r\r\n1,2,3,4\r\n5,6,7,8\r\n";
        let expected = table("a.csv", text).unwrap();
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(to_bytes).collect();
            let read = |bytes: &[u8]| read_bytes(Path::new("a.csv"), bytes);
            assert!(read(&bytes).unwrap() == expected);
            let fault = read(&bytes[..bytes.len() - 1]).unwrap_err().to_string();
            assert!(fault.contains("line 1, column 1: byte 0 is not text in UTF-8"), "{fault}");
        }
    }

    #[test]
    fn only_far_particles_have_an_origin_of_their_own() {
        let origin = |text: &str| table("a.xyzr", text).unwrap().origin();
        assert_eq!(origin("500000.25 4100000 12 0.01\n500001.25 4100002 13 0.02\n"), [500000.75, 4100001.0, 12.5]);
        // Near the origin, around it, and large ones.
        for near in ["1 2 3 0.01\n2 3 4 0.01\n", "-900 0 0 0.001\n900 1 2 0.001\n", "500000 0 0 100\n500010 0 0 100\n"]
        {
            assert_eq!(origin(near), [0.0; 3], "{near}");
        }
    }

    #[test]
    fn what_is_no_number_has_a_colour_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        std::fs::write(&file, "x,y,z,r,p\n0,0,0,1,5\n3,0,0,1,NaN\n6,0,0,1,9\n").unwrap();
        let text = format!("[particles]\npath = \"{}\"\ncolor_by = \"pressure\"\n", file.display());
        let scene = crate::scene::Scene::parse(&text, "a.toml", Path::new("")).unwrap().scene;
        let particles = scene.world.particles.unwrap();
        let read = ColouredSpheres::load(&particles, 0, 1, None, &Files::default()).unwrap();
        assert_eq!(read.colour_indices, [0, COLOURS as u16, COLOURS as u16 - 1]);
        assert_eq!((read.colours[COLOURS].colour, read.range, read.unknown), (UNKNOWN, Some([5.0, 9.0]), 1));
        assert_eq!(
            read.remark(ColourBy::Pressure).unwrap().to_string(),
            "1 of 3 particles have no number for pressure: they are drawn gray"
        );
    }
}
