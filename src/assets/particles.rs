//! Particles of simulations, as spheres coloured by a value: the binary files of Damsgaard's `sphere` DEM code in both layouts
//! (sphere_file.rs), and tables (CSV, or x y z r in columns).
//!
//! A file must match a layout to its last byte; any other file is refused with the byte at which it stops matching.

use super::source::Limits;
use super::{AssetError, source, sphere_file};
use crate::math::colormap::{COLOURS, viridis};
use crate::math::vec3::{Vec3, add, length, scale, sub, to_f32};
use crate::quote::brief;
use crate::scene::diagnostic::Rule;
use crate::scene::{ColourBy, Material, Particles};
use std::path::Path;

/// Particles as read from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleSet {
    /// Positions.
    pub positions: Vec<[f64; 3]>,
    /// Radii.
    pub radii: Vec<f64>,
    /// Velocities, if the file has them.
    pub velocities: Vec<[f64; 3]>,
    /// Pressures, if the file has them.
    pub pressures: Vec<f64>,
    /// Simulated time, if the file has it.
    pub time: Option<f64>,
}

/// Particles for the renderer.
#[derive(Clone, Debug)]
pub struct ColouredSpheres {
    /// Centres relative to `origin`, and radii.
    pub spheres: Vec<([f32; 3], f32)>,
    /// The origin of the devices' coordinates, which have single precision.
    pub origin: Vec3,
    /// Indices into `colours`.
    pub colour_indices: Vec<u16>,
    /// The colour map and the colour of missing values, or the one material.
    pub colours: Vec<Material>,
    /// The number of particles without a value: it is not a number.
    pub unknown: usize,
    /// The values at the ends of the map, if there is a map.
    pub range: Option<[f64; 2]>,
}

impl ColouredSpheres {
    /// Reads the particles of a frame, of a clip of `frames`, and colours them. Without a range in the scene, the map's ends are those of
    /// the first frame, so that a colour means the same value in all frames. If all values of the first frame are equal, as in a simulation
    /// that begins at rest, the middle and the last frame count too. `origin` must be the same for all frames; None computes it here.
    pub fn load(
        particles: &Particles,
        frame: u32,
        frames: u32,
        origin: Option<Vec3>,
        limits: Limits,
    ) -> Result<ColouredSpheres, AssetError> {
        let path = particles.file(frame);
        let set = read(&path, limits)?;
        let origin = origin.unwrap_or_else(|| set.origin());
        let values = set.values(particles.colour_by, &path)?;
        let range = match (&values, particles.range) {
            (None, _) => None,
            (Some(_), Some(range)) => Some(range),
            (Some(values), None) => {
                let of = |frame| -> Result<Option<[f64; 2]>, AssetError> {
                    let path = particles.file(frame);
                    Ok(read(&path, limits)?.values(particles.colour_by, &path)?.and_then(|v| ends(&v)))
                };
                let mut all = if frame == 0 { ends(values) } else { of(0)? };
                if all.is_none_or(|[low, high]| low == high) && particles.is_animated() {
                    for later in [frames / 2, frames - 1] {
                        // A missing step is reported at its own frame.
                        let found = of(later).ok().flatten();
                        all = all.into_iter().chain(found).reduce(|[a, b], [c, d]| [a.min(c), b.max(d)]);
                    }
                }
                Some(apart(all))
            }
        };
        let place = |x: f64, [low, high]: [f64; 2]| {
            let t = if high > low { (x - low) / (high - low) } else { 0.5 };
            if x.is_nan() { COLOURS as u16 } else { (t.clamp(0.0, 1.0) * (COLOURS - 1) as f64).round() as u16 }
        };
        let spheres = set.positions.iter().zip(&set.radii);
        let coloured = |colour| Material { colour, ..particles.material };
        Ok(ColouredSpheres {
            spheres: spheres.map(|(&p, &r)| (to_f32(sub(p, origin)), r as f32)).collect(),
            origin,
            unknown: values.iter().flatten().filter(|x| x.is_nan()).count(),
            colour_indices: match (&values, range) {
                (Some(values), Some(range)) => values.iter().map(|&x| place(x, range)).collect(),
                _ => vec![0; set.radii.len()],
            },
            colours: match range {
                Some(_) => (0..COLOURS).map(viridis).chain([UNKNOWN]).map(coloured).collect(),
                None => vec![particles.material],
            },
            range,
        })
    }

    /// The bounding box of all particles: its minimum and maximum corner.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let edge = |sign: f32, i: usize| {
            f64::from(self.spheres.iter().map(|(c, r)| sign * c[i] + r).fold(f32::NEG_INFINITY, f32::max))
        };
        [[0, 1, 2].map(|i| -edge(-1.0, i)), [0, 1, 2].map(|i| edge(1.0, i))].map(|corner| add(corner, self.origin))
    }

    /// A remark about particles without a value, if there are any.
    pub fn remark(&self, by: ColourBy) -> Option<String> {
        let (unknown, all, by) = (self.unknown, self.spheres.len(), by.name());
        (unknown > 0).then(|| format!("{unknown} of {all} particles have no number for {by}: they are drawn grey"))
    }
}

// The colour of missing values; no map contains it.
const UNKNOWN: Vec3 = [0.6; 3];
// Single precision may move a particle by at most this share of its radius.
const MISPLACED: f64 = 1e-3;

// Minimum and maximum; None if no value is a number.
fn ends(values: &[f64]) -> Option<[f64; 2]> {
    let finite = values.iter().copied().filter(|x| x.is_finite());
    finite.fold(None, |ends, x| Some(ends.map_or([x, x], |[low, high]: [f64; 2]| [low.min(x), high.max(x)])))
}

// Widens equal ends; never to a sign that no value has.
fn apart(ends: Option<[f64; 2]>) -> [f64; 2] {
    match ends {
        Some([low, high]) if low < high => [low, high],
        Some([x, _]) if x != 0.0 => [x - x.abs() / 2.0, x + x.abs() / 2.0],
        _ => [0.0, 1.0],
    }
}

impl ParticleSet {
    // The middle of the particles, if single precision would move the smallest particle by more than a thousandth of its radius, and if
    // the middle is farther from the origin than the particles extend around it; otherwise the origin.
    fn origin(&self) -> Vec3 {
        let edge = |sign: f64, i: usize| self.positions.iter().map(|p| sign * p[i]).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = ([0, 1, 2].map(|i| -edge(-1.0, i)), [0, 1, 2].map(|i| edge(1.0, i)));
        let middle = scale(add(low, high), 0.5);
        let max = |v: Vec3| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let smallest = self.radii.iter().copied().fold(f64::INFINITY, f64::min);
        let rounding = max(low).max(max(high)) * f64::from(f32::EPSILON) / 2.0;
        let is_far = rounding > MISPLACED * smallest && max(middle) > max(sub(high, middle));
        if is_far { middle } else { [0.0; 3] }
    }

    // The values for the colours, if the scene asks for some.
    fn values(&self, by: ColourBy, path: &Path) -> Result<Option<Vec<f64>>, AssetError> {
        let missing = |name| {
            Err(AssetError {
                path: path.to_owned(),
                at: None,
                what: format!("it holds no {name} to colour by; give color_by = \"nothing\" or \"radius\""),
                remedy: None,
            })
        };
        match by {
            ColourBy::Nothing => Ok(None),
            ColourBy::Radius => Ok(Some(self.radii.clone())),
            ColourBy::Pressure if self.pressures.is_empty() => missing("pressure"),
            ColourBy::Pressure => Ok(Some(self.pressures.clone())),
            ColourBy::Velocity if self.velocities.is_empty() => missing("velocity"),
            ColourBy::Velocity => Ok(Some(self.velocities.iter().map(|&v| length(v)).collect())),
        }
    }

    // Checks that hold for every layout.
    pub fn check(self, path: &Path, place: impl Fn(usize) -> String) -> Result<ParticleSet, AssetError> {
        let broken = |what: String| Err(AssetError { path: path.to_owned(), at: None, what, remedy: None });
        if self.radii.is_empty() {
            return broken("it holds no particles".into());
        }
        for (i, (p, r)) in self.positions.iter().zip(&self.radii).enumerate() {
            for (what, rule, x) in
                p.iter().map(|&x| ("coordinate", Rule::Coordinate, x)).chain([("radius", Rule::Length, *r)])
            {
                if !rule.allows(x) {
                    let expected = rule.expected();
                    return broken(format!("{}: particle {i} has the {what} {x:e}; expected {expected}", place(i)));
                }
            }
        }
        Ok(self)
    }
}

/// Reads a file: a table by its extension (.csv, .xyzr, .txt), any other file as a binary file.
pub fn read(path: &Path, limits: Limits) -> Result<ParticleSet, AssetError> {
    read_bytes(path, &source::read("particles", path, limits)?)
}

/// Reads the bytes of a file.
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<ParticleSet, AssetError> {
    if is_table(path) { read_table(path, bytes) } else { sphere_file::read(path, bytes) }
}

/// Whether a file of that name is a table, and not a file of the `sphere` code.
pub fn is_table(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    matches!(extension.as_deref(), Some("csv" | "xyzr" | "txt"))
}

// Columns by name (x, y, z, r or radius, vx, vy, vz, p or pressure) if the first line has words, else x y z r.
pub fn read_table(path: &Path, bytes: &[u8]) -> Result<ParticleSet, AssetError> {
    let broken = |what: String| AssetError { path: path.to_owned(), at: None, what, remedy: None };
    let text = std::str::from_utf8(bytes).map_err(|e| broken(format!("byte {}: expected text", e.valid_up_to())))?;
    let first = text.lines().find(|l| !l.trim().is_empty() && !l.starts_with('#')).unwrap_or("");
    let delimiter = [',', ';'].into_iter().find(|&d| first.contains(d));
    // Columns between white space; several blanks count as one.
    let clean: String;
    let input = match delimiter {
        Some(_) => text,
        None => {
            clean = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
            &clean
        }
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter.map_or(b' ', |d| d as u8))
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .flexible(true)
        .from_reader(input.as_bytes());
    let mut columns: Option<[Option<usize>; 8]> = None;
    let (mut set, mut lines) = (ParticleSet::default(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(|e| broken(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().all(str::is_empty) {
            continue;
        }
        if columns.is_none() {
            let words = record.iter().any(|w| w.parse::<f64>().is_err());
            let find = |names: &[&str]| record.iter().position(|w| names.contains(&w.to_ascii_lowercase().as_str()));
            columns = Some(if words {
                let found =
                    [&["x"][..], &["y"], &["z"], &["r", "radius"], &["vx"], &["vy"], &["vz"], &["p", "pressure"]]
                        .map(find);
                if found[..4].iter().any(Option::is_none) {
                    return Err(broken(format!("line {line}: expected columns x, y, z and r (or radius)")));
                }
                found
            } else {
                [Some(0), Some(1), Some(2), Some(3), None, None, None, None]
            });
            if words {
                continue;
            }
        }
        let Some(columns) = &columns else { continue };
        let value = |c: usize| -> Result<Option<f64>, AssetError> {
            let Some(at) = columns[c] else { return Ok(None) };
            let name = ["x", "y", "z", "r", "vx", "vy", "vz", "p"][c];
            let word =
                record.get(at).ok_or_else(|| broken(format!("line {line}: it has no `{name}` (column {})", at + 1)))?;
            let x = word.parse().map_err(|_| {
                broken(format!("line {line}, column {}: `{}` is no number for `{name}`", at + 1, brief(word)))
            })?;
            Ok(Some(x))
        };
        let all = [value(0)?, value(1)?, value(2)?, value(3)?, value(4)?, value(5)?, value(6)?, value(7)?];
        if let [Some(x), Some(y), Some(z), Some(r), ..] = all {
            set.positions.push([x, y, z]);
            set.radii.push(r);
            lines.push(line);
        }
        if let [_, _, _, _, Some(x), Some(y), Some(z), _] = all {
            set.velocities.push([x, y, z]);
        }
        set.pressures.extend(all[7]);
    }
    set.check(path, |i| format!("line {}", lines[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_ends_and_no_foreign_sign() {
        assert_eq!(apart(ends(&[0.0, 0.0])), [0.0, 1.0]);
        assert_eq!(apart(ends(&[2.0])), [1.0, 3.0]);
        assert_eq!(apart(ends(&[-2.0, f64::NAN])), [-3.0, -1.0]);
        assert_eq!(apart(ends(&[3.0, -1.0, 2.0])), [-1.0, 3.0]);
        assert_eq!(apart(ends(&[f64::NAN])), [0.0, 1.0]);
    }

    fn table(name: &str, text: &str) -> Result<ParticleSet, String> {
        read_table(Path::new(name), text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn tables_with_and_without_names() {
        let plain = table("a.xyzr", "# a remark\n0 1  2\t0.5\n\n3 4 5 0.25\n").unwrap();
        assert_eq!((plain.positions, plain.radii), (vec![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], vec![0.5, 0.25]));
        let named = table("a.csv", "radius,z,y,x,p\n0.5,2,1,0,7\n").unwrap();
        assert_eq!((named.positions, named.radii, named.pressures), (vec![[0.0, 1.0, 2.0]], vec![0.5], vec![7.0]));
        assert!(table("a.csv", "x,y,z\n1,2,3\n").unwrap_err().contains("line 1: expected columns"));
        assert!(table("a.csv", "1,2,3,4\n1,2,x,4\n").unwrap_err().contains("line 2, column 3: `x`"));
        assert!(table("a.csv", "1,2,3,4\n1,2\n").unwrap_err().contains("line 2: it has no `z`"));
        assert!(table("a.csv", "1,2,3,0\n").unwrap_err().contains("radius 0"));
        assert!(table("a.csv", "").unwrap_err().contains("no particles"));
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
        let read = ColouredSpheres::load(&particles, 0, 1, None, Limits::default()).unwrap();
        assert_eq!(read.colour_indices, [0, COLOURS as u16, COLOURS as u16 - 1]);
        assert_eq!((read.colours[COLOURS].colour, read.range, read.unknown), (UNKNOWN, Some([5.0, 9.0]), 1));
        assert_eq!(
            read.remark(ColourBy::Pressure).unwrap(),
            "1 of 3 particles have no number for pressure: they are drawn grey"
        );
    }
}
