//! Particles of simulations, as spheres colored by a value. `readers` has the formats of files: the binary files of Damsgaard's `sphere`
//! DEM code in both layouts (sphere_file), and tables (text_table).
//!
//! A file must match its format to the last byte; any other file is refused with the byte at which it stops matching.

mod arrays;
mod compressed;
mod expression;
mod format;
mod gsd;
mod kept_range;
mod lammps_binary;
mod lammps_data;
mod lammps_dump;
mod links;
pub mod memory;
mod npy;
mod pairs;
pub mod picking;
mod pipe;
mod placing;
mod plan;
mod range;
mod readers;
mod rows;
pub mod shape;
mod sphere_file;
mod step;
mod text_table;
mod trails;
mod values;
mod views;
mod vtk_legacy;
mod vtk_list;
mod vtk_xml;
mod xyz;

pub use pairs::Neighbours;
pub use pipe::Pipe;
pub use readers::FileSteps;
pub use step::{Cell, Column, Step, Wanted};

use super::error::AssetError;
use super::files::Files;
use super::source::Content;
use crate::gpu_types::Sphere;
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, dot, length, normalise, sub, to_f32};
use crate::scene::{ColourBy, Cut, Material, Particles, RangeOver, ValueRange, series};
use format::Head;
use range::Clip;
use rayon::prelude::*;
use shape::ShapedParticles;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use values::Request;

/// Particles for the renderer.
#[derive(Clone, Debug)]
pub struct ColouredSpheres {
    /// Their number.
    pub count: usize,
    /// Spheres relative to `origin`, which the device scene shares; empty once it holds them.
    pub spheres: Arc<Vec<Sphere>>,
    /// The origin of the devices' coordinates, which have single precision.
    pub origin: Vec3,
    /// Particles with other shapes, relative to `origin`; empty once the device scene holds them.
    pub shaped: ShapedParticles,
    /// Indices of the spheres into `colours`; empty once the device scene holds them.
    pub colour_indices: Vec<u16>,
    /// The color map and the color of missing values, or the one material.
    pub colours: Vec<Material>,
    /// The number of particles without a value: it is not a number.
    pub unknown: usize,
    /// The values at the ends of the map, if there is a map.
    pub range: Option<[f64; 2]>,
    /// The first different values, rounded, if the map has a color for each: at most 13.
    pub classes: Vec<f64>,
    /// The time steps of the file.
    pub steps: u32,
    /// Whether values lie below and above the range.
    pub outside: [bool; 2],
    /// What the file says of its time step.
    pub moment: StepMoment,
}

/// Simulated time and the number of a time step, as far as a file has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepMoment {
    pub time: Option<f64>,
    pub number: Option<u64>,
}

impl ColouredSpheres {
    /// Reads the particles of a frame, of a clip of `frames`, and colors them. By default the map's ends are those of the first frame, so
    /// that a color means the same value in all frames. If all values of the first frame are equal, as in a simulation
    /// that begins at rest, the middle and the last frame count too. Frames after the `first` one have its origin, and its shape if the scene gives one.
    pub fn load(
        particles: &Particles,
        frame: u32,
        frames: u32,
        first: Option<&ColouredSpheres>,
        files: &Files,
    ) -> Result<ColouredSpheres, AssetError> {
        let request = Request::of(particles);
        let path = particles.file(frame);
        let (step, steps) = read_frame(particles, &request, frame, files, true)?;
        let is_animated = check_last(particles, frame, frames, steps)?;
        let origin = first.map_or_else(|| step.origin(), |first| first.origin);
        let values = request.values(&step, &path)?;
        let of = |other: u32| -> Result<Option<Vec<f64>>, AssetError> {
            request.values(&read_frame(particles, &request, other, files, false)?.0, &particles.file(other))
        };
        let is_in_order = files.is_in_order();
        if is_in_order && matches!(particles.range, ValueRange::Found { over: RangeOver::Film, .. }) {
            return Err(AssetError::new(
                &path,
                msg!("`range = \"film\"` needs all time steps, and they come one by one"),
            )
            .help(msg!("give two numbers")));
        }
        let frames = if is_animated && !is_in_order { frames } else { 1 };
        let clip = Clip { frame, frames, each: particles.interpolate };
        let ends = |values: &[f64]| {
            let find = || range::ends(particles, values, clip, of);
            if files.memory.is_some() { find() } else { kept_range::kept_or(particles, frames, files_of, find) }
        };
        let range = values.as_deref().map(ends).transpose()?;
        let map = &particles.map;
        let colours = map.colours();
        // A value that is no number, and one that a logarithmic scale does not have.
        let unknown = colours.len() as u16;
        let color_index = |x: f64, ends: [f64; 2]| match particles.scale.share(x, ends) {
            _ if map.is_categorical() && !x.is_nan() => map.index(x) as u16,
            share if share.is_nan() => unknown,
            share => map.index(share) as u16,
        };
        let sphere = |(&p, &r): (&Vec3, &f64)| Sphere { centre: to_f32(sub(p, origin)), radius: r as f32 };
        let coloured = |colour| Material { colour, ..particles.material };
        let colour_indices: Vec<u16> = match (&values, range) {
            (Some(values), Some(range)) => values.par_iter().map(|&x| color_index(x, range)).collect(),
            _ => vec![0; step.radii.len()],
        };
        let unknown = range.map_or(0, |_| colour_indices.par_iter().filter(|&&i| i == unknown).count());
        let rotations = request.rotations(&step, &path)?;
        let known = first.and_then(|first| first.shaped.shapes.first());
        let parted = placing::parted(particles, &step, rotations.as_deref(), origin, &colour_indices, known);
        let parted = parted.map_err(|what| AssetError::new(&path, what))?;
        let mut colours: Vec<Material> = match range {
            Some(_) => colours.iter().copied().chain([UNKNOWN]).map(coloured).collect(),
            None => vec![particles.material],
        };
        let mut rods = Vec::new();
        // The index of a color of their own, or that of their particle.
        let mut own = |given: Option<Vec3>| {
            let index = colours.len() as u16;
            colours.extend(given.map(coloured));
            let colour_indices = &colour_indices;
            move |i: usize| if given.is_some() { index } else { colour_indices[i] }
        };
        if let Some(bonds) = &particles.bonds {
            let widths = request.widths(&step, &bonds.width_by, &path)?;
            let all = links::bonds(bonds, (&step, particles.images), widths.as_deref(), origin, own(bonds.colour));
            rods.append(&mut all.map_err(|what| AssetError::new(&path, what))?);
        }
        if let Some(arrows) = &particles.arrows {
            let vectors = request.vectors(&step, &arrows.by, &path)?;
            rods.append(&mut links::arrows(arrows, &step, &vectors, origin, own(arrows.colour)));
        }
        if let Some(trails) = &particles.trails {
            let has_one = request.condition(&step, &trails.only, &path)?;
            let share = particles.share(frame);
            rods.append(&mut trails::rods(trails, (&step, share), &has_one, origin, own(trails.colour)));
        }
        let (spheres, colour_indices, mut shaped) = parted.unwrap_or_else(|| {
            let spheres = step.positions.par_iter().zip(&step.radii).map(sphere).collect();
            (spheres, colour_indices, ShapedParticles::default())
        });
        shaped.rods.append(&mut rods);
        Ok(ColouredSpheres {
            count: step.radii.len(),
            spheres: Arc::new(spheres),
            shaped,
            origin,
            unknown,
            colour_indices,
            colours,
            moment: StepMoment { time: step.time, number: step.number },
            outside: match (&values, range) {
                (Some(values), Some([low, high])) => {
                    [values.par_iter().any(|&x| x < low), values.par_iter().any(|&x| x > high)]
                }
                _ => [false; 2],
            },
            classes: values.filter(|_| map.is_categorical()).map_or_else(Vec::new, |values| range::classes(&values)),
            range,
            steps: steps as u32,
        })
    }

    /// The spheres, and those between whose hulls other shapes are, relative to `origin`.
    pub fn balls(&self) -> impl ParallelIterator<Item = Sphere> + '_ {
        let ball = |(centre, radius)| Sphere { centre: to_f32(centre), radius: radius as f32 };
        let shaped = self.shaped.placed.par_iter().map(move |one| ball(self.shaped.ball(one)));
        let ends = move |rod: &shape::Rod| [0, 1].map(|end| ball((rod.ends[end], rod.radii[end])));
        self.spheres.par_iter().copied().chain(shaped).chain(self.shaped.rods.par_iter().flat_map_iter(ends))
    }

    /// The bounding box of all particles: its minimum and maximum corner.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let boxes = self.balls().map(|s| [s.centre.map(|x| s.radius - x), s.centre.map(|x| x + s.radius)]);
        let farther = |a: [[f32; 3]; 2], b: [[f32; 3]; 2]| [0, 1].map(|k| [0, 1, 2].map(|i| a[k][i].max(b[k][i])));
        let [low, high] = boxes.reduce(|| [[f32::NEG_INFINITY; 3]; 2], farther).map(|corner| corner.map(f64::from));
        [low.map(|x| -x), high].map(|corner| add(corner, self.origin))
    }

    /// Leaves out what lies wholly beyond one of the planes that cut particles open; all stay where nothing else would.
    pub fn without_cut_away(mut self, cuts: &[Cut]) -> ColouredSpheres {
        let planes: Vec<(Vec3, Vec3)> =
            cuts.iter().map(|cut| (sub(cut.point, self.origin), normalise(cut.normal))).collect();
        let is_left = |(centre, radius): (Vec3, f64)| {
            let is_beyond = |(point, normal): &(Vec3, Vec3)| {
                let rounding = 1e-5 * (length(centre) + length(*point) + radius);
                dot(sub(centre, *point), *normal) > radius + rounding
            };
            !planes.iter().any(is_beyond)
        };
        let sphere = |s: &Sphere| is_left((s.centre.map(f64::from), f64::from(s.radius)));
        let left: Vec<bool> = self.spheres.par_iter().map(sphere).collect();
        let has_any = left.contains(&true) || self.shaped.all_balls().any(is_left);
        if planes.is_empty() || !has_any {
            return self;
        }
        let ShapedParticles { shapes, placed, rods } = std::mem::take(&mut self.shaped);
        let all = ShapedParticles { shapes, ..ShapedParticles::default() };
        let placed = placed.into_par_iter().filter(|one| is_left(all.ball(one))).collect();
        let rods = rods.into_par_iter().filter(|rod| is_left(rod.ball())).collect();
        self.shaped = ShapedParticles { placed, rods, ..all };
        let kept = |i: &usize| left[*i];
        self.colour_indices = (0..left.len()).into_par_iter().filter(kept).map(|i| self.colour_indices[i]).collect();
        self.spheres = Arc::new((0..left.len()).into_par_iter().filter(kept).map(|i| self.spheres[i]).collect());
        self
    }

    /// Frees what the device scene holds, perhaps in the order of its tree, so that each array is in memory once.
    pub fn release(&mut self) {
        let shapes = std::mem::take(&mut self.shaped.shapes);
        (self.spheres, self.colour_indices) = (Arc::default(), Vec::new());
        self.shaped = ShapedParticles { shapes, ..ShapedParticles::default() };
    }

    /// A remark about particles without a value, if there are any.
    pub fn remark(&self, by: &ColourBy) -> Option<Message> {
        let (unknown, all, by) = (self.unknown, self.count, by.name());
        (unknown > 0).then(|| {
            msg!("{unknown} of {all} particles have no number for {by}: they are drawn gray", unknown, all, by)
        })
    }
}

// Whether frames may have other particles than one of so many has, whose file has so many steps. The first step must be there, and all
// others that frames show.
fn check_last(particles: &Particles, frame: u32, frames: u32, steps: usize) -> Result<bool, AssetError> {
    let is_animated = particles.step > 0 && (particles.is_series() || steps > 1);
    let last = particles.number(if is_animated { particles.towards(frames - 1) } else { 0 });
    let is_named = particles.names.len() > 1;
    let count = if is_named { particles.names.len() } else { steps };
    if (is_named || !particles.is_series()) && last >= count as u64 {
        let fault = msg!(
            "frame {frame} needs step {number}: it has steps 0-{last}",
            frame = if is_animated { frames - 1 } else { 0 },
            number = last,
            last = count - 1
        );
        let path = if is_named { particles.path.clone() } else { particles.file(frame) };
        return Err(AssetError::new(&path, fault).help(msg!(
            "lower `frames` in [output], or `step` in [particles]; `step = 0` shows one step in all frames"
        )));
    }
    Ok(is_animated)
}

// The color of missing values; no map contains it.
const UNKNOWN: Vec3 = [0.6; 3];

// The particles that a frame shows, perhaps with their earlier places, and how many steps its file has.
fn read_frame(
    particles: &Particles,
    request: &Request,
    frame: u32,
    files: &Files,
    with_trails: bool,
) -> Result<(Step, usize), AssetError> {
    let (number, path) = (particles.number(frame), particles.file(frame));
    let with_trails = with_trails && particles.trails.is_some();
    let before: Vec<u64> = particles.before(frame).filter(|_| with_trails).collect();
    // Steps that come one by one are kept for a while: the oldest is asked for first.
    let there = |&number: &u64| {
        trails::places(particles, files, number, || Ok(read_step(particles, request, number, files)?.0))
    };
    let earlier = before.iter().rev().map(there).collect::<Result<Vec<_>, _>>()?;
    let (mut step, count) = read_step(particles, request, number, files)?;
    if with_trails {
        trails::places(particles, files, number, || Ok(step.clone()))?;
    }
    // A file of one step shows it in all frames.
    let share = if particles.is_series() || count > 1 { particles.share(frame) } else { 0.0 };
    let wrong = |what| AssetError::new(&path, what);
    if share > 0.0 {
        let (next, _) = read_step(particles, request, particles.number(particles.towards(frame)), files)?;
        step = views::between(step, &next, share).map_err(wrong)?;
    }
    trails::add_places(&mut step, earlier.iter().rev().map(AsRef::as_ref)).map_err(wrong)?;
    Ok((request.selected(step, &path)?, count))
}

/// The particles that the first frame shows, and the values that select their colors.
pub fn shown(particles: &Particles, files: &Files) -> Result<(Step, Option<Vec<f64>>), AssetError> {
    let (request, path) = (Request::of(particles), particles.file(0));
    let (step, count) = read_frame(particles, &request, 0, files, false)?;
    let number = particles.number(0);
    if !particles.is_series() && number >= count as u64 {
        let last = count.saturating_sub(1);
        return Err(AssetError::new(&path, msg!("there is no step {number}: it has steps 0-{last}", number, last)));
    }
    let values = request.values(&step, &path)?;
    Ok((step, values))
}

// The step of a number, and how many steps its file has.
fn read_step(
    particles: &Particles,
    request: &Request,
    number: u64,
    files: &Files,
) -> Result<(Step, usize), AssetError> {
    let path = particles.file_of(number);
    let wanted = request.wanted();
    open(&path, files, |file| {
        let count = file.count();
        if particles.is_series() && count > 1 {
            let fault = msg!("it has {count} time steps; expected one, in a file of a series", count);
            return Err(AssetError::new(&path, fault).help(msg!("`polyfly particles convert` makes one file of all")));
        }
        let number = if count == 1 { 0 } else { number as usize };
        Ok((request.complete(file.read(number, &wanted)?, &path)?, count))
    })
}

/// Opens a file, which is recognized by its content, or the steps in memory, and reads of it. A file with several steps stays open.
pub fn open<T>(
    path: &Path,
    files: &Files,
    read: impl Fn(&FileSteps) -> Result<T, AssetError>,
) -> Result<T, AssetError> {
    if let Some(steps) = &files.memory {
        return read(&FileSteps::in_memory(path, Arc::clone(steps)));
    }
    let of = |path: &Path, file| FileSteps::of(path, Content::of("particles", path, file)?, files.limits);
    let pieces = series::pieces(path);
    let Some(first) = pieces.first() else {
        let open = |file| {
            let steps = of(path, file)?;
            let has_more = steps.count() > 1;
            Ok((steps, has_more))
        };
        return files.read_part("particles", path, open, read);
    };
    // The first piece stands for all.
    let open = |_| {
        let each = |piece: &PathBuf| files.read_by("particles", piece, |file| of(piece, file));
        Ok((Together(FileSteps::of_pieces(path, pieces.iter().map(each).collect::<Result<_, _>>()?)?), true))
    };
    files.read_part("particles", first, open, |steps: &Together| read(&steps.0))
}

// Pieces as one file, beside the first of them.
struct Together(FileSteps<'static>);

/// The files whose particles a file or a name stands for: the pieces of `%`, or a list of VTK and those that it names.
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    let mut found = series::pieces(path);
    if found.is_empty() {
        found.push(path.to_owned());
        let mut last = found.clone();
        for _ in 0..readers::DEEPEST {
            let named = |list: &PathBuf| {
                let files = open(list, &Files::default(), |file| Ok(file.files())).unwrap_or_default();
                let folder = list.parent().unwrap_or(Path::new("")).to_owned();
                files.into_iter().map(move |name| folder.join(name))
            };
            last = last.iter().filter(|path| vtk_list::is_name(path)).flat_map(named).collect();
            found.extend_from_slice(&last);
        }
    }
    found
}

/// The format of a file, if it is one of particles and could be nothing else. A scene is a text, too, so some texts count by their names only.
pub fn format_of(path: &Path) -> Option<&'static str> {
    let format = open(path, &Files::default(), |file| Ok(file.format)).ok()?;
    let is_plain = ["XYZ", "LAMMPS data", readers::TABLE].contains(&format);
    let has_name = Head { path, bytes: &[] }.ends_in(&["csv", "xyzr", "xyz", "extxyz", "lmp"]);
    (!is_plain || has_name).then_some(format)
}

/// Reads all of the bytes of a file.
#[cfg(test)]
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<Step, AssetError> {
    let particles = Particles::default();
    let limits = super::source::Limits { file: 64 << 20, ..Default::default() };
    let step = FileSteps::of(path, bytes.into(), limits)?.read(0, &Wanted::all())?;
    Request::of(&particles).complete(step, path)
}

/// Parses an expression of columns.
#[cfg(any(test, feature = "fuzzing"))]
pub fn read_expression(text: &str) {
    let particles = Particles { colour_by: text.into(), ..Particles::default() };
    let _ = Request::of(&particles).wanted();
}

/// Reads the first steps of the bytes of a file.
#[cfg(any(test, feature = "fuzzing"))]
pub fn read_steps(path: &Path, bytes: &[u8]) -> Result<Vec<Step>, AssetError> {
    let limits = super::source::Limits { file: 64 << 20, ..Default::default() };
    let file = FileSteps::of(path, bytes.into(), limits)?;
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
        assert!(table("a.csv", "x,y,z\n1,2,3\n").unwrap_err().contains("it has no column of radii; it has x, y, z"));
        assert!(table("a.csv", "1,2,3,4\n1,2,x,4\n").unwrap_err().contains("line 2, column 3: `x`"));
        assert!(table("a.csv", "1,2,3,4\n1,2\n").unwrap_err().contains("line 2: it has no `z`"));
        assert!(table("a.csv", "1,2,3,0\n").unwrap_err().contains("radius 0"));
        assert!(table("a.csv", "").unwrap_err().contains("no particles"));
    }

    #[test]
    fn headings_of_many_programs_are_known() {
        let expected = (vec![[1.5, 2.0, 3.0]], vec![0.25]);
        for text in [
            "X;Y;Z;Radius\n1,5;2;3;0,25\n",
            "Points:0,\"Points_1\",points.2,Diameter\n1.5,2,3,0.5\n",
            "id\tPosition.X\tPosition.Y\tPosition.Z\tRadius (m)\n7\t1.5\t2\t3\t0.25\n",
            "# made today\n# pos_x pos_y pos_z d\n1.5 2 3 .5\n",
            "1,5;2,0;3;0,25\n",
        ] {
            let read = table("a.dat", text).unwrap();
            assert_eq!((read.positions, read.radii), expected, "{text}");
        }
        // Two dimensions; a column of words, which is left out.
        let flat = table("a.csv", "x,y,r,kind,c_press\n1,2,0.5,sand,7\n").unwrap();
        assert_eq!((&flat.positions[..], &flat.columns[0].values[..]), (&[[1.0, 2.0, 0.0]][..], &[7.0][..]));
        assert_eq!((flat.columns.len(), flat.names.join(" ")), (1, "x y r kind c_press".to_owned()));
        let unnamed = table("a.xyzr", "1 2 3 4 5\n").unwrap();
        assert_eq!(unnamed.columns, [Column { name: "column5".into(), values: vec![5.0] }]);
    }

    #[test]
    fn what_is_not_read_is_named() {
        for (bytes, what) in [
            (&b"\x89HDF\r\n\x1a\n\0\0"[..], "it is HDF5, which is not read; expected"),
            (b"<?xml version=\"1.0\"?>\n<svg/>", "it is XML, which"),
            (&[7, 0, 0, 0, 0], "its first bytes are of no format that is read; expected"),
        ] {
            let e = read_bytes(Path::new("a"), bytes).unwrap_err();
            assert!(e.to_string().contains(what), "{e}");
        }
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
            read.remark(&ColourBy::from("pressure")).unwrap().to_string(),
            "1 of 3 particles have no number for pressure: they are drawn gray"
        );
    }
}
