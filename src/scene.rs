//! The scene: what a description means, resolved and validated, with no defaults left.

pub mod builtin;
pub mod tokens;
pub mod toml;
pub mod write;

use crate::camera::Camera;
use crate::diagnostic::Problems;
use crate::solid::Solid;
use crate::vector::Vec3;
use std::path::PathBuf;

/// Longest side of a picture, pixels.
pub const MAX_SIDE: u32 = 65_536;
/// Largest picture held in memory, pixels (4 bytes each, a few pictures in flight).
pub const MAX_PIXELS: u64 = 1 << 28;
/// Most bounces along a path; kernels/trace.cuh says the same.
pub const MAX_DEPTH: u32 = 128;
/// Most samples of a pixel in path tracing; keeps a tile's items exact in single precision.
pub const MAX_PATH_SAMPLES: u32 = 65_535;
/// Most samples along a pixel's side; keeps a tile's items exact in single precision.
pub const MAX_SAMPLES: u32 = 64;
/// Most frames in a clip.
pub const MAX_FRAMES: u32 = 100_000_000;
/// Most lamps on an edge.
pub const MAX_LAMPS: u32 = 10_000;

/// Everything a run needs to know. Colours are sRGB as people write them, 0 to 1; lights may exceed 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Frames in the clip.
    pub frames: u32,
    /// Where pictures and video go.
    pub output: Output,
    /// Picture size, pixels.
    pub width: u32,
    /// Picture size, pixels.
    pub height: u32,
    /// Samples along each side of a pixel.
    pub samples: u32,
    /// Most bounces along a path.
    pub depth: u32,
    /// Rays whose weight falls below this are dropped.
    pub cutoff: f64,
    /// The camera.
    pub camera: Camera,
    /// The bodies.
    pub bodies: Vec<Body>,
    /// The floor, if any.
    pub floor: Option<Floor>,
    /// Point lights.
    pub lights: Vec<Light>,
    /// Light from everywhere.
    pub ambient: Vec3,
    /// Weight of the highlight.
    pub highlight: f64,
    /// The sky straight up, and at and below the horizon.
    pub zenith: Vec3,
    /// The sky at and below the horizon.
    pub horizon: Vec3,
    /// The sky's colours run from straight down to straight up, not from the horizon.
    pub sky_from_below: bool,
    /// Lights are hidden by what stands before them.
    pub shadows: bool,
    /// How light is followed.
    pub integrator: Integrator,
    /// How brightness becomes a picture's.
    pub tone: Tone,
    /// Balls.
    pub spheres: Vec<Sphere>,
    /// Meshes of triangles.
    pub meshes: Vec<Mesh>,
    /// The particles of a simulation.
    pub particles: Option<Particles>,
}

/// How light is followed from surface to surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Integrator {
    /// Whitted's: mirrored and transmitted rays branch, diffuse light comes from the lights.
    Whitted,
    /// Path tracing: diffuse light comes from everywhere.
    Path {
        /// Samples of each pixel, at most.
        samples: u32,
        /// Noise, in steps of 8-bit codes, at which a picture is good enough; 0: all samples are taken.
        noise: f64,
    },
}

/// How brightness becomes a picture's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tone {
    /// Bright light bends below white, sRGB's curve.
    Soft,
    /// Bright light is cut off at white; the exponent of the curve is 1 / gamma, or sRGB's curve at 0.
    Clip {
        /// 2 in "Ray Tracing in One Weekend".
        gamma: f64,
    },
}

/// How a ball or a mesh looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Its colour.
    pub colour: Vec3,
    /// What it does with light.
    pub kind: MaterialKind,
    /// Weight of the highlight; the scene's if none is given.
    pub highlight: Option<f64>,
}

/// What a material does with light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaterialKind {
    /// Diffuse, with shares that are mirrored and let through.
    Plain {
        /// R, 0 to 1.
        reflection: f64,
        /// T, 0 to 1.
        transparency: f64,
        /// Index of refraction; 1 goes straight through.
        ior: f64,
    },
    /// A mirror of the material's colour.
    Metal {
        /// Spread of the mirrored rays, 0 to 1 (path tracing).
        fuzz: f64,
    },
    /// Clear, mirrors by its index of refraction.
    Glass {
        /// Index of refraction.
        ior: f64,
    },
    /// Sends light of the material's colour.
    Light {
        /// Times the colour.
        strength: f64,
    },
}

impl Default for Material {
    fn default() -> Material {
        let kind = MaterialKind::Plain { reflection: 0.0, transparency: 0.0, ior: 1.0 };
        Material { colour: [0.8; 3], kind, highlight: None }
    }
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Its middle.
    pub centre: Vec3,
    /// Its radius.
    pub radius: f64,
    /// How it looks.
    pub material: Material,
}

/// A mesh of triangles from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// OBJ or PLY.
    pub path: PathBuf,
    /// How it looks.
    pub material: Material,
    /// Multiplies its coordinates.
    pub scale: f64,
    /// Added to them afterwards.
    pub offset: Vec3,
    /// Its own z is up, not y.
    pub z_up: bool,
}

/// The particles of a simulation, one file or one a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Particles {
    /// A file, or a name with `%d` for the time step.
    pub path: String,
    /// Time step of the first frame.
    pub first: u32,
    /// Time steps from frame to frame.
    pub step: u32,
    /// What colours them.
    pub colour_by: ColourBy,
    /// Values at the colour map's ends; those of the first file if none are given.
    pub range: Option<[f64; 2]>,
    /// How they look where nothing colours them.
    pub material: Material,
    /// Draw the colour map with its numbers.
    pub legend: bool,
}

/// A value that every particle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourBy {
    /// None: the material's colour.
    Nothing,
    /// Its speed.
    Velocity,
    /// The pressure on it.
    Pressure,
    /// Its radius.
    Radius,
}

impl ColourBy {
    /// All, with their names.
    pub const ALL: [(ColourBy, &str); 4] = [
        (ColourBy::Nothing, "nothing"),
        (ColourBy::Velocity, "velocity"),
        (ColourBy::Pressure, "pressure"),
        (ColourBy::Radius, "radius"),
    ];
    /// The name in a scene.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(c, _)| *c == self).map_or("nothing", |(_, n)| n)
    }
}

impl Scene {
    /// What only TOML can say, at its defaults.
    pub fn plain_world() -> (bool, bool, Integrator, Tone) {
        (false, true, Integrator::Whitted, Tone::Soft)
    }
    /// Samples as the scene says them: along a pixel's side, or of a pixel where paths are traced.
    pub fn own_samples(&self) -> u32 {
        match self.integrator {
            Integrator::Whitted => self.samples,
            Integrator::Path { samples, .. } => samples,
        }
    }
    /// Samples of each pixel.
    pub fn samples_a_pixel(&self) -> u32 {
        match self.integrator {
            Integrator::Whitted => self.samples * self.samples,
            Integrator::Path { samples, .. } => samples,
        }
    }
}

/// Where the frames go.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Path of the frames.
    pub frames: Pattern,
    /// The video file, if any.
    pub video: Option<PathBuf>,
    /// Frames a second of the video.
    pub fps: f64,
}

/// Format of picture files, by extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Width, height, RGBA.
    Data,
    /// PNG, RGB.
    Png,
}

/// A path with the frame number somewhere in its last part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    before: String,
    after: String,
    digits: usize,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// A `%` that is not `%d` or `%0Nd`.
    #[error("a path may hold one `%d` or `%0Nd` (N from 1 to 18) and no other `%`")]
    Percent,
    /// No such format.
    #[error("pictures are written as `.data` or `.png`; the path ends in `.{0}`")]
    Extension(String),
    /// Nothing there.
    #[error("the path is empty or names a folder")]
    Empty,
}

impl Pattern {
    /// Reads `res/%d.data`, `out/%04d.png`; the flag tells that the number's place or the format had to be made up.
    pub fn parse(text: &str) -> Result<(Pattern, bool), PatternError> {
        if text.is_empty() || text.ends_with('/') || text.ends_with("..") || text == "." {
            return Err(PatternError::Empty);
        }
        let mut made_up = false;
        let name_at = text.rfind('/').map_or(0, |i| i + 1);
        let dot = text[name_at..].rfind('.').map(|i| i + name_at).filter(|&i| i > name_at);
        let mut text = text.to_owned();
        match dot.map(|i| text[i + 1..].to_ascii_lowercase()) {
            Some(e) if e == "data" || e == "png" => {}
            Some(e) => return Err(PatternError::Extension(e)),
            None => {
                text.push_str(".data");
                made_up = true;
            }
        }
        let Some(at) = text.find('%') else {
            let dot = text.rfind('.').unwrap_or(text.len());
            let (before, after) = (text[..dot].to_owned(), text[dot..].to_owned());
            return Ok((Pattern { before, after, digits: 0 }, true));
        };
        let rest = &text[at + 1..];
        let length = rest.find('d').ok_or(PatternError::Percent)?;
        let digits = match &rest[..length] {
            "" => 0,
            n => {
                let width = n.strip_prefix('0').and_then(|w| w.parse().ok()).ok_or(PatternError::Percent)?;
                if !(1..=18).contains(&width) || !n.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(PatternError::Percent);
                }
                width
            }
        };
        let after = rest[length + 1..].to_owned();
        if after.contains('%') || after.contains('/') {
            return Err(PatternError::Percent);
        }
        Ok((Pattern { before: text[..at].to_owned(), after, digits }, made_up))
    }

    /// The file of frame n.
    pub fn path(&self, n: u32) -> PathBuf {
        PathBuf::from(format!("{}{n:0width$}{}", self.before, self.after, width = self.digits))
    }

    /// The format that the extension asks for.
    pub fn format(&self) -> Format {
        if self.after.to_ascii_lowercase().ends_with(".png") { Format::Png } else { Format::Data }
    }

    /// The same pattern below another folder, unless it is absolute.
    pub fn below(&self, folder: &std::path::Path) -> Pattern {
        let before = if self.before.starts_with('/') || folder.as_os_str().is_empty() {
            self.before.clone()
        } else {
            format!("{}/{}", folder.display(), self.before)
        };
        Pattern { before, ..self.clone() }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.digits {
            0 => write!(f, "{}%d{}", self.before, self.after),
            n => write!(f, "{}%0{n}d{}", self.before, self.after),
        }
    }
}

/// A solid of panes, bars and lamps.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Which solid.
    pub solid: Solid,
    /// Its centre.
    pub centre: Vec3,
    /// Colour of its panes; tints what passes through them.
    pub colour: Vec3,
    /// Distance of every vertex from the centre.
    pub radius: f64,
    /// R: how much a pane mirrors, 0 to 1.
    pub reflection: f64,
    /// T: how much a pane lets through, 0 to 1.
    pub transparency: f64,
    /// Lamps on each edge.
    pub lamps: u32,
    /// Colour of the lamps.
    pub lamp_colour: Vec3,
    /// Width of the bars on each side of an edge, in circumradii; 0 = no bars.
    pub bar: f64,
    /// Colour of the bars.
    pub bar_colour: Vec3,
    /// Index of refraction; 1 lets light go straight through.
    pub ior: f64,
}

impl Body {
    /// Width of the bars where none is given, in circumradii.
    pub const BAR: f64 = 0.045;
    /// Colour of the bars where none is given.
    pub const BAR_COLOUR: Vec3 = [0.28, 0.27, 0.29];
    /// Colour of the lamps where none is given.
    pub const LAMP_COLOUR: Vec3 = [1.0, 0.93, 0.82];
}

/// Where a floor's picture comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureSource {
    /// A `.data`, PNG or JPEG file.
    File(PathBuf),
    /// `@checker`.
    Checker,
    /// `@marble`.
    Marble,
    /// `@wood`.
    Wood,
}

impl TextureSource {
    /// Reads `none`, `@checker`, `@marble`, `@wood` or a path below `folder`; `~` is the home folder.
    pub fn parse(text: &str, folder: &std::path::Path) -> Result<Option<TextureSource>, String> {
        Ok(Some(match text {
            "none" => return Ok(None),
            "@checker" => TextureSource::Checker,
            "@marble" => TextureSource::Marble,
            "@wood" => TextureSource::Wood,
            other if other.starts_with('@') || other.is_empty() => {
                return Err("`@checker`, `@marble`, `@wood`, `none` or a file".into());
            }
            path => TextureSource::File(folder.join(expand_home(path))),
        }))
    }
}

impl std::fmt::Display for TextureSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TextureSource::File(path) => write!(f, "{}", path.display()),
            TextureSource::Checker => write!(f, "@checker"),
            TextureSource::Marble => write!(f, "@marble"),
            TextureSource::Wood => write!(f, "@wood"),
        }
    }
}

/// `~/x` as a path below the home folder.
pub fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(path),
    }
}

/// Four points with a picture on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// In perimeter order.
    pub corners: [Vec3; 4],
    /// The picture, if any.
    pub texture: Option<TextureSource>,
    /// Multiplies the picture.
    pub tint: Vec3,
    /// How much it mirrors, 0 to 1.
    pub reflection: f64,
}

/// A point light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Where.
    pub position: Vec3,
    /// How bright, by colour; may exceed 1.
    pub colour: Vec3,
}

/// Defaults where neither grammar says otherwise.
pub mod defaults {
    use crate::vector::Vec3;
    /// Most bounces.
    pub const DEPTH: u32 = 10;
    /// Samples along a pixel's side.
    pub const SAMPLES: u32 = 1;
    /// Lightest ray: half a step of the darkest 8-bit sRGB codes times the brightest lamps.
    pub const CUTOFF: f64 = 0.002;
    /// Light from everywhere, sRGB.
    pub const AMBIENT: Vec3 = [0.3, 0.3, 0.32];
    /// Weight of the highlight.
    pub const HIGHLIGHT: f64 = 0.35;
    /// The sky straight up, sRGB.
    pub const ZENITH: Vec3 = [0.015, 0.02, 0.05];
    /// The sky at the horizon, sRGB.
    pub const HORIZON: Vec3 = [0.1, 0.12, 0.19];
    /// Frames a second of a video.
    pub const FPS: f64 = 30.0;
}

/// Angles are held to 1e-12 radians and within one turn, so that both grammars can say each of them exactly.
pub fn snap_angle(radians: f64) -> f64 {
    let turn = 2.0 * std::f64::consts::PI;
    let held = (radians.rem_euclid(turn) * 1e12).round() / 1e12;
    if held >= turn { 0.0 } else { held }
}

/// Puts four points into perimeter order: as they are, or zig-zag mended by changing the last two.
///
/// A perimeter's diagonals cross; of the three ways to connect four points just one (for a convex
/// floor) has that. A concave floor is taken as given.
pub fn perimeter_order(p: [Vec3; 4]) -> [Vec3; 4] {
    use crate::vector::{cross, dot, sub};
    let crosses = |q: &[Vec3; 4]| {
        // Seen along the diagonals' common normal, each diagonal separates the ends of the other.
        let (a, b) = (sub(q[2], q[0]), sub(q[3], q[1]));
        let n = cross(a, b);
        let side = |d: Vec3, from: Vec3, x: Vec3| dot(cross(d, sub(x, from)), n);
        side(a, q[0], q[1]) * side(a, q[0], q[3]) < 0.0 && side(b, q[1], q[0]) * side(b, q[1], q[2]) < 0.0
    };
    [p, [p[0], p[1], p[3], p[2]], [p[0], p[2], p[1], p[3]]].into_iter().find(|q| crosses(q)).unwrap_or(p)
}

/// Whether both triangles of a floor in perimeter order have area.
pub fn has_area(p: &[Vec3; 4]) -> bool {
    use crate::vector::{cross, length, sub};
    let area = |a: Vec3, b: Vec3, c: Vec3| length(cross(sub(b, a), sub(c, a)));
    let widest = p.iter().flat_map(|&a| p.iter().map(move |&b| length(sub(a, b)))).fold(0.0, f64::max);
    area(p[0], p[1], p[2]) > 1e-9 * widest * widest && area(p[0], p[2], p[3]) > 1e-9 * widest * widest
}

/// The problem of a picture above the memory limit.
pub fn too_large(span: std::ops::Range<usize>, width: u32, height: u32) -> crate::diagnostic::Problem {
    crate::diagnostic::Problem::new(
        span,
        format!("a picture of {width} x {height} pixels is above the memory limit"),
        format!("expected at most {MAX_PIXELS} pixels"),
    )
}

/// A scene and what its author should know about it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The scene.
    pub scene: Scene,
    /// Remarks for stderr.
    pub warnings: Vec<String>,
    /// Which grammar it was written in.
    pub grammar: Grammar,
}

/// The two ways to write a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// The coursework's token text.
    Tokens,
    /// TOML.
    Toml,
}

impl Grammar {
    /// Tokens begin with a number or hold nothing but words; TOML has keys and tables.
    pub fn of(text: &str) -> Grammar {
        let toml = text.lines().map(str::trim).any(|line| {
            line.starts_with('#')
                || (line.starts_with('[') && line.ends_with(']'))
                || line.split_once('=').is_some_and(|(key, _)| {
                    let key = key.trim();
                    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.\"'".contains(&b))
                })
        });
        if toml { Grammar::Toml } else { Grammar::Tokens }
    }
}

/// Reads a scene in either grammar. `name` is for messages, `folder` is where a TOML scene's paths start.
pub fn parse(text: &str, name: &str, folder: &std::path::Path, solids: [Solid; 3]) -> Result<Parsed, Box<Problems>> {
    let grammar = Grammar::of(text);
    let result = match grammar {
        Grammar::Tokens => tokens::parse(text, solids),
        Grammar::Toml => toml::parse(text, folder),
    };
    match result {
        Ok((scene, mut warnings)) => {
            for (i, body) in scene.bodies.iter().enumerate() {
                let sum = body.reflection + body.transparency;
                if sum > 1.0 + 1e-9 {
                    warnings.push(format!(
                        "body {}: reflection {} + transparency {} is above 1: the body adds light of its own",
                        i + 1,
                        body.reflection,
                        body.transparency
                    ));
                }
            }
            Ok(Parsed { scene, warnings, grammar })
        }
        Err(list) => Err(Box::new(Problems { name: name.to_owned(), source: text.to_owned(), list })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let path = |text: &str, n| Pattern::parse(text).map(|(p, odd)| (p.path(n).display().to_string(), odd));
        assert_eq!(path("res/%d.data", 7), Ok(("res/7.data".into(), false)));
        assert_eq!(path("a%04d.png", 7), Ok(("a0007.png".into(), false)));
        assert_eq!(path("a.b/x.png", 7), Ok(("a.b/x7.png".into(), true)));
        assert_eq!(path("./out", 7), Ok(("./out7.data".into(), true)));
        assert_eq!(path("%s.data", 7), Err(PatternError::Percent));
        assert_eq!(path("%d%d.data", 7), Err(PatternError::Percent));
        assert_eq!(path("%0d.data", 7), Err(PatternError::Percent));
        assert_eq!(path("%+5d.data", 7), Err(PatternError::Percent));
        assert_eq!(path("%d/x.data", 7), Err(PatternError::Percent));
        assert_eq!(path("x%d.jpg", 7), Err(PatternError::Extension("jpg".into())));
        assert_eq!(path("res/", 7), Err(PatternError::Empty));
    }

    #[test]
    fn zigzag_floors_become_perimeters() {
        let square = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
        assert_eq!(perimeter_order(square), square);
        assert_eq!(perimeter_order([square[0], square[1], square[3], square[2]]), square);
        let mended = perimeter_order([square[0], square[2], square[1], square[3]]);
        assert_eq!(mended, square);
    }

    #[test]
    fn angles_keep_to_one_turn() {
        assert_eq!(snap_angle(0.0), 0.0);
        assert_eq!(snap_angle(1.5), 1.5);
        assert_eq!(snap_angle(snap_angle(-0.3)), snap_angle(-0.3));
        assert_eq!(snap_angle(90.0_f64.to_radians()), snap_angle(std::f64::consts::FRAC_PI_2));
    }

    #[test]
    fn grammars_are_told_apart() {
        assert_eq!(Grammar::of("500\nimg_%d.data\n"), Grammar::Tokens);
        assert_eq!(Grammar::of(""), Grammar::Tokens);
        assert_eq!(Grammar::of("1 a=b/%d.data 3"), Grammar::Tokens);
        assert_eq!(Grammar::of("# x\n[camera]\n"), Grammar::Toml);
        assert_eq!(Grammar::of("frames = 3"), Grammar::Toml);
    }
}
