//! Flags of `particles`.

use super::values::{parse_map, parse_point, ruled, whole};
use crate::math::colormap::ColourMap;
use crate::scene::limits::{MAX_PARTICLES, MAX_SIDE, PICTURES, endings};
use crate::scene::text::diagnostic::Rule;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct ParticlesArgs {
    #[command(subcommand)]
    pub command: Option<ParticlesCommand>,
    #[command(flatten)]
    pub picture: Option<PictureArgs>,
}

/// Commands of `particles` other than rendering.
#[derive(Subcommand, Debug)]
pub enum ParticlesCommand {
    /// Writes packings to try things with, in the layouts of real files.
    Generate(GenerateArgs),
    /// Writes the particles of a file in another format.
    Convert(ConvertParticlesArgs),
    /// Says what files of particles hold: format, time steps, columns and their ranges.
    Info(InfoArgs),
    /// Computes numbers of a packing, as CSV.
    Stats(StatsArgs),
}

#[derive(Args, Debug)]
#[group(requires_all = ["device", "file", "width", "height", "image"])]
pub struct PictureArgs {
    /// Where to render.
    #[arg(value_enum, ignore_case = true, required = false)]
    pub device: ParticlesDevice,
    /// The particles, in a format that is recognized by the content.
    #[arg(required = false)]
    pub file: PathBuf,
    /// Picture width, pixels.
    #[arg(required = false, value_parser = whole::<u32>(1, u64::from(MAX_SIDE)))]
    pub width: u32,
    /// Picture height, pixels.
    #[arg(required = false, value_parser = whole::<u32>(1, u64::from(MAX_SIDE)))]
    pub height: u32,
    /// The picture; its ending is the format.
    #[arg(required = false, help = format!("The picture: {}", endings(&PICTURES)))]
    pub image: PathBuf,
    /// Position of the eye, x,y,z [default: in front of all particles].
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true)]
    pub eye: Option<[f64; 3]>,
    /// The point that the eye looks at [default: the middle of all particles].
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true)]
    pub look_at: Option<[f64; 3]>,
    /// Width of the image plane through that point.
    #[arg(long, value_name = "LENGTH")]
    pub plane_width: Option<f64>,
    /// Parallel rays: grains of one size are equally large near and far.
    #[arg(long)]
    pub orthographic: bool,
    /// Weight of ambient light.
    #[arg(long, value_name = "SHARE", default_value_t = 0.4)]
    pub ambient: f64,
    /// Weight of light from the eye's left shoulder, by Lambert's cosine.
    #[arg(long, value_name = "SHARE", default_value_t = 0.6)]
    pub diffuse: f64,
    /// What selects the color: a column, or an expression such as 0.5*mass*speed^2.
    #[arg(long, value_name = "COLUMN", default_value = "nothing")]
    pub color_by: String,
    /// The color map: a name, or one with _r for the reverse.
    #[arg(long, value_name = "NAME", default_value = "viridis", value_parser = parse_map)]
    pub map: ColourMap,
    /// Draw the color map with its numbers.
    #[arg(long)]
    pub legend: bool,
    /// Open the picture with the system's program for such files.
    #[arg(long)]
    pub open: bool,
    /// Time step of a series, whose name has %d or %0Nd, or of a file with several [default: 0]
    #[arg(long, value_name = "N")]
    pub step: Option<u32>,
    /// Maximum memory for the file, MiB [default: 4096]
    #[arg(long, value_name = "MIB", value_parser = whole::<u64>(1, 1 << 30))]
    pub limit_memory: Option<u64>,
    /// Samples along each side of a pixel.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1, 64))]
    pub samples: u32,
    /// Pictures for the median time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1, 1000))]
    pub runs: u32,
}

/// Devices by the 2011 program's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ParticlesDevice {
    /// The CPU.
    Cpu,
    /// The first GPU.
    Gpu,
}

/// The layout of a file of particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FileLayout {
    /// As the `sphere` code of 2012 wrote it.
    Interleaved,
    /// As version 2.11 wrote it.
    Versioned,
    /// A table with names.
    Csv,
    /// A dump of LAMMPS, as text.
    Dump,
    /// Extended XYZ.
    Xyz,
    /// An archive of numpy's arrays.
    Npz,
    /// VTK's points in XML.
    Vtp,
    /// HOOMD-blue's frames: single precision, and the box around the origin.
    Gsd,
}

#[derive(Args, Debug)]
pub struct ConvertParticlesArgs {
    /// The particles, in a format that is recognized by the content; or a series: a folder, or a name with %d or *.
    pub input: PathBuf,
    /// The new file; with %d or %0Nd for a file for each time step.
    pub output: String,
    /// Its layout [default: by its name, as `particles generate` does]
    #[arg(long, value_enum)]
    pub layout: Option<FileLayout>,
    /// Replace existing files.
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Args, Debug)]
pub struct InfoArgs {
    /// Files of particles; a folder, or a name with %d or *, is a series.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsKind {
    /// Porosity, particles and the mean of a value in slices of the box.
    Slices,
    /// How many particles touch so many others.
    Coordination,
    /// Diameters.
    Sizes,
    /// The radial distribution function g(r).
    #[value(name = "g")]
    Distances,
}

/// An edge of the box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    #[default]
    Z,
}

#[derive(Args, Debug)]
pub struct StatsArgs {
    /// What is computed.
    #[arg(value_enum)]
    pub what: StatsKind,
    /// The particles, in a format that is recognized by the content; or a series: a folder, or a name with %d or *.
    pub file: PathBuf,
    /// Time step.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub step: u32,
    /// The edge of the box along which slices follow each other.
    #[arg(long, value_enum, ignore_case = true, default_value_t = Axis::Z)]
    pub axis: Axis,
    /// Slices, or parts of the diameters or distances.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole::<u32>(1, 1_000_000))]
    pub bins: u32,
    /// A column or an expression, whose mean is computed in each slice.
    #[arg(long, value_name = "VALUE")]
    pub value: Option<String>,
    /// Only particles that fulfil a condition, such as `type == 2 && z < 0.1`.
    #[arg(long = "where", value_name = "CONDITION")]
    pub only: Option<String>,
    /// The radius of all particles, whatever the file says.
    #[arg(long, value_name = "LENGTH", value_parser = ruled(Rule::Length))]
    pub radius: Option<f64>,
    /// Particles touch that are farther apart by this share of their radii's sum.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = ruled(Rule::NotNegative))]
    pub gap: f64,
    /// The greatest distance of g(r) [default: half of the box]
    #[arg(long, value_name = "LENGTH", value_parser = ruled(Rule::Length))]
    pub reach: Option<f64>,
}

#[derive(Args, Debug)]
pub struct GenerateArgs {
    /// How many particles.
    #[arg(value_parser = whole::<u32>(1, u64::from(MAX_PARTICLES)))]
    pub count: u32,
    /// The file; with %d or %0Nd for a series of time steps.
    pub file: String,
    /// Its layout [default: by its name: .csv, .xyzr, .txt, .dump, .lammpstrj, .xyz, .extxyz, .gsd, .npz, .vtp; .bin files are interleaved]
    #[arg(long, value_enum)]
    pub layout: Option<FileLayout>,
    /// Time steps.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1, 1_000_000))]
    pub steps: u32,
    /// Replace existing files.
    #[arg(long)]
    pub overwrite: bool,
    /// Another seed makes another packing.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}
