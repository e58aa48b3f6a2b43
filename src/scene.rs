//! The scene: what a description means, resolved and validated, with no defaults left.
//!
//! ```
//! use polyfly::scene::{Body, Material, Solid};
//! use polyfly::Scene;
//! let mut scene = Scene::default();
//! let material = Material::plain([0.8; 3], 0.8, 0.0);
//! scene.world.bodies.push(Body { solid: Solid::Icosahedron, material, ..Body::default() });
//! assert_eq!(Scene::parse(&scene.to_toml(), "again.toml", "".as_ref()).unwrap().scene, scene);
//! ```

mod adaptive;
pub(crate) mod builtin;
mod camera;
mod camera_view;
pub(crate) mod diagnostic;
pub(crate) mod edit;
mod files;
mod film;
mod floor;
mod lamps;
pub(crate) mod limits;
mod material;
mod motion;
mod named;
mod particles;
mod pattern;
mod rectangle;
mod relief;
pub(crate) mod schema;
mod sky;
pub(crate) mod suggest;
pub(crate) mod tokens;
pub(crate) mod toml;
mod toml_camera;
mod toml_film;
mod toml_floor;
mod toml_keys;
mod toml_material;
mod toml_output;
mod toml_structure;
mod toml_values;
mod tone;
pub(crate) mod write;

pub use crate::math::platonic::Solid;
use crate::math::vec3::Vec3;
pub use adaptive::Adaptive;
pub use camera::{Camera, CameraPath, CylindricalPath, Key, Orbit, View};
pub(crate) use camera_view::{Viewpoint, edits_through};
pub use diagnostic::{Problem, Problems};
pub use film::{Exposure, FilmSettings, Filter};
pub use floor::{Floor, FloorShape, TextureSource};
pub(crate) use floor::{corner_uv, has_area, is_clockwise, is_parallelogram, perimeter_order, uv_gradients};
pub use lamps::{LampPattern, LampSamples, LampSides};
pub(crate) use limits::defaults;
pub use material::{Material, MaterialKind, MeasuredMetal};
pub use motion::{Motion, Rotation};
pub(crate) use named::{FilePlace, place_of};
pub use particles::{ColourBy, Particles};
pub use pattern::{Pattern, PatternError, numbered};
pub use rectangle::Rectangle;
pub use relief::{Bumps, MapSource, Relief};
pub use sky::{Sky, SkySource};
use std::path::{Path, PathBuf};
pub use tone::Tone;

/// Everything a run needs to know. Colours are sRGB as people write them, 0 to 1; lights may exceed 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Scene {
    /// What there is to see.
    pub world: World,
    /// Who sees it.
    pub camera: Camera,
    /// How it is rendered.
    pub render: RenderSettings,
    /// What becomes of the light.
    pub film: FilmSettings,
    /// Where it goes.
    pub output: Output,
}

/// What there is to see. Lengths are the scene's own units; z is up, right-handed.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// Polyhedra.
    pub bodies: Vec<Body>,
    /// Spheres.
    pub spheres: Vec<Sphere>,
    /// Rectangles.
    pub rectangles: Vec<Rectangle>,
    /// Meshes of triangles.
    pub meshes: Vec<Mesh>,
    /// The particles of a simulation.
    pub particles: Option<Particles>,
    /// The floor, if any.
    pub floor: Option<Floor>,
    /// Point lights.
    pub lights: Vec<Light>,
    /// Light from everywhere (Whitted).
    pub ambient: Vec3,
    /// Weight of the Blinn-Phong highlight.
    pub highlight: f64,
    /// The sky.
    pub sky: Sky,
}

impl Default for World {
    fn default() -> World {
        World {
            bodies: Vec::new(),
            spheres: Vec::new(),
            rectangles: Vec::new(),
            meshes: Vec::new(),
            particles: None,
            floor: None,
            lights: Vec::new(),
            ambient: defaults::AMBIENT,
            highlight: defaults::HIGHLIGHT,
            sky: Sky::default(),
        }
    }
}

impl World {
    /// What all but bodies and the floor is made of.
    pub(crate) fn materials(&self) -> impl Iterator<Item = &Material> {
        let spheres = self.spheres.iter().map(|s| &s.material);
        spheres.chain(self.panel_materials()).chain(self.particles.iter().map(|p| &p.material))
    }
    /// What meshes and then rectangles are made of.
    pub(crate) fn panel_materials(&self) -> impl Iterator<Item = &Material> {
        self.meshes.iter().map(|m| &m.material).chain(self.rectangles.iter().map(|r| &r.material))
    }
}

/// How a scene is rendered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderSettings {
    /// Picture size, pixels.
    pub width: u32,
    /// Picture size, pixels.
    pub height: u32,
    /// Samples along each side of a pixel (Whitted).
    pub samples: u32,
    /// Samples as each pixel needs them, in place of the same number for all.
    pub adaptive: Option<Adaptive>,
    /// Most bounces along a path.
    pub depth: u32,
    /// Rays whose weight falls below this are dropped (Whitted).
    pub cutoff: f64,
    /// Shadow rays to a ball of light from each point that it lights (Whitted).
    pub light_samples: u32,
    /// Shadow rays to lamps and other emitters, without path tracing.
    pub lamp_samples: LampSamples,
    /// Most that a path adds to its pixel at once by way of a diffuse surface, in linear light; 0: no limit.
    pub clamp: f64,
    /// Lights are hidden by what stands before them.
    pub shadows: bool,
    /// How light is followed.
    pub integrator: Integrator,
}

impl Default for RenderSettings {
    fn default() -> RenderSettings {
        RenderSettings {
            width: defaults::SIZE.0,
            height: defaults::SIZE.1,
            samples: defaults::SAMPLES,
            adaptive: None,
            depth: defaults::DEPTH,
            cutoff: defaults::CUTOFF,
            light_samples: defaults::LIGHT_SAMPLES,
            lamp_samples: LampSamples::Floor,
            clamp: 0.0,
            shadows: true,
            integrator: Integrator::Whitted,
        }
    }
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

impl Integrator {
    /// Noise at which a picture is good enough, as [`Integrator::Path`] has it; 0: all samples are taken.
    pub(crate) fn noise(self) -> f64 {
        match self {
            Integrator::Path { noise, .. } => noise,
            Integrator::Whitted => 0.0,
        }
    }
}

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Its centre.
    pub centre: Vec3,
    /// Its radius.
    pub radius: f64,
    /// How it looks.
    pub material: Material,
}

impl Default for Sphere {
    fn default() -> Sphere {
        Sphere { centre: [0.0; 3], radius: 1.0, material: Material::default() }
    }
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
    /// Its file's normals make it smooth; without, or where the file has none, it is made of facets.
    pub smooth: bool,
}

// What a scene calls a value of a list that has all of its kind.
fn name_of<T: Copy + PartialEq>(all: &[(T, &'static str)], value: T) -> &'static str {
    all.iter().find(|(v, _)| *v == value).map_or("", |(_, name)| name)
}

impl RenderSettings {
    /// Samples as the scene says them: along a pixel's side, or of a pixel where paths are traced.
    pub fn own_samples(&self) -> u32 {
        match (self.adaptive, self.integrator) {
            (Some(adaptive), _) => adaptive.max,
            (None, Integrator::Whitted) => self.samples,
            (None, Integrator::Path { samples, .. }) => samples,
        }
    }
    /// Samples of each pixel; the most of them where they are adaptive.
    pub fn samples_per_pixel(&self) -> u32 {
        match (self.adaptive, self.integrator) {
            (Some(adaptive), _) => adaptive.max,
            (None, Integrator::Whitted) => self.samples * self.samples,
            (None, Integrator::Path { samples, .. }) => samples,
        }
    }
    /// Samples along a pixel's side that textures, bars and lamps are filtered for; of adaptive ones all.
    pub(crate) fn filtered_side(&self) -> f64 {
        f64::from(self.samples_per_pixel()).sqrt()
    }
    /// Most samples that a pixel can have.
    pub(crate) fn most_samples(&self) -> u32 {
        if self.is_path() { limits::MAX_PATH_SAMPLES } else { limits::MAX_SAMPLES * limits::MAX_SAMPLES }
    }
    /// The same number for every pixel again: along its side, or of it where paths are traced.
    pub fn set_samples(&mut self, own: u32) {
        self.adaptive = None;
        match &mut self.integrator {
            Integrator::Whitted => self.samples = own,
            Integrator::Path { samples, .. } => *samples = own,
        }
    }
    /// Samples as each pixel needs them.
    pub(crate) fn set_adaptive(&mut self, adaptive: Adaptive) {
        let first = if self.is_path() { Adaptive::FIRST_PATHS.min(adaptive.max) } else { 1 };
        self.adaptive = Some(Adaptive { min: adaptive.min.max(first), ..adaptive });
        if let Integrator::Path { samples, noise } = &mut self.integrator {
            (*samples, *noise) = (adaptive.max, 0.0);
        }
    }
    /// Whether paths are traced.
    pub(crate) fn is_path(&self) -> bool {
        self.integrator != Integrator::Whitted
    }
}

/// Where the frames go.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Frames in the clip.
    pub frames: u32,
    /// Path of the frames.
    pub files: Pattern,
    /// Bits of a channel: 8 or 16 in PNG, 16 or 32 in EXR; each format's own if none are given.
    pub bits: Option<u32>,
    /// The video file, if any.
    pub video: Option<PathBuf>,
    /// Frames a second of the video.
    pub fps: f64,
    /// The clip is a loop: its last frame leads to its first.
    pub is_loop: bool,
}

impl Default for Output {
    fn default() -> Output {
        Output {
            frames: defaults::FRAMES,
            files: Pattern::default(),
            bits: None,
            video: None,
            fps: defaults::FPS,
            is_loop: false,
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
    /// How its panes look; their colour tints what passes through them.
    pub material: Material,
    /// Distance of every vertex from the centre.
    pub radius: f64,
    /// R of a pane met from inside, where it is another: a one-way mirror. What it leaves of 1 is all that passes there.
    pub reflection_inside: Option<f64>,
    /// Lamps on each edge.
    pub lamps: u32,
    /// A strip of light all along each edge, in place of lamps.
    pub strip: bool,
    /// Colour of the lamps.
    pub lamp_colour: Vec3,
    /// Multiplies their light.
    pub lamp_intensity: f64,
    /// Width of the bars on each side of an edge, in circumradii; 0 = no bars.
    pub bar: f64,
    /// Colour of the bars.
    pub bar_colour: Vec3,
    /// How much the bars mirror on their outer side, 0 to 1; inside, and after two bounces, they are dull.
    pub bar_reflection: f64,
    /// How it is turned, at the clip's start.
    pub rotation: Rotation,
    /// How it moves over the clip.
    pub motion: Motion,
    /// On which side of its bars they are.
    pub lamp_sides: LampSides,
    /// How its lamps change over the clip.
    pub lamp_pattern: LampPattern,
}

impl Default for Body {
    fn default() -> Body {
        Body {
            solid: Solid::Hexahedron,
            centre: [0.0; 3],
            material: Material::default(),
            radius: 1.0,
            reflection_inside: None,
            lamps: 0,
            strip: false,
            lamp_colour: Body::LAMP_COLOUR,
            lamp_intensity: 1.0,
            bar: Body::BAR,
            bar_colour: Body::BAR_COLOUR,
            bar_reflection: Body::BAR_REFLECTION,
            rotation: Rotation::default(),
            motion: Motion::default(),
            lamp_sides: LampSides::Both,
            lamp_pattern: LampPattern::Steady,
        }
    }
}

impl Body {
    /// Whether there is light on its bars.
    pub(crate) fn has_lamps(&self) -> bool {
        self.bar > 0.0 && (self.strip || self.lamps > 0)
    }
    /// R and T of panes met from inside. Of a one-way mirror no more passes than it leaves: together they give back what
    /// comes, or less.
    pub(crate) fn shares_inside(&self) -> (f64, f64) {
        let (reflection, transparency) = self.material.shares();
        match self.reflection_inside {
            Some(inside) => (inside, transparency.min(1.0 - inside)),
            None => (reflection, transparency),
        }
    }
    /// Width of the bars where none is given, in circumradii.
    pub const BAR: f64 = 0.045;
    /// Colour of the bars where none is given.
    pub const BAR_COLOUR: Vec3 = [0.28, 0.27, 0.29];
    /// What the bars mirror where nothing is given.
    pub const BAR_REFLECTION: f64 = 0.35;
    /// Most that `lamp_intensity` may be.
    pub const MAX_LAMP_INTENSITY: f64 = 1000.0;
    /// Colour of the lamps where none is given.
    pub const LAMP_COLOUR: Vec3 = [1.0, 0.93, 0.82];
}

/// A point light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Where.
    pub position: Vec3,
    /// How bright, by colour; may exceed 1.
    pub colour: Vec3,
    /// Of a ball of light, whose shadows are soft; 0: a point.
    pub radius: f64,
}

impl Default for Light {
    fn default() -> Light {
        Light { position: [0.0; 3], colour: [1.0; 3], radius: 0.0 }
    }
}

/// Angles are held to 1e-12 radians and within one turn, so that both grammars can say each of them exactly.
pub(crate) fn snap_angle(radians: f64) -> f64 {
    let turn = 2.0 * std::f64::consts::PI;
    let held = (radians.rem_euclid(turn) * 1e12).round() / 1e12;
    if held >= turn { 0.0 } else { held }
}

/// The problem of a picture above the memory limit.
pub(crate) fn too_large(span: std::ops::Range<usize>, width: u32, height: u32) -> Problem {
    Problem::new(
        span,
        format!("a picture of {width} x {height} pixels is above the memory limit"),
        format!("expected at most {} pixels", limits::MAX_PIXELS),
    )
}

/// `~/x` as a path below `home`.
pub(crate) fn expand_home(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// A scene and what its author should know about it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The scene.
    pub scene: Scene,
    /// What may not be meant, each with its place.
    pub warnings: Vec<Problem>,
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
    /// Tokens begin with a number or hold nothing but words; TOML has keys and tables. Comments are TOML's, unless a number comes
    /// first otherwise.
    pub(crate) fn of(text: &str) -> Grammar {
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_number = |line: &str| line.split_whitespace().next().is_some_and(|word| word.parse::<f64>().is_ok());
        let begins_with_number = lines().find(|line| !line.starts_with('#')).is_some_and(is_number);
        let toml = lines().any(|line| {
            (line.starts_with('#') && !begins_with_number)
                || (line.starts_with('[') && line.ends_with(']'))
                || line.split_once('=').is_some_and(|(key, _)| {
                    let key = key.trim();
                    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.\"'".contains(&b))
                })
        });
        if toml { Grammar::Toml } else { Grammar::Tokens }
    }
}

/// Where a scene's paths start, and what its tokens leave open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParseOptions<'a> {
    /// Of relative paths in TOML.
    pub folder: &'a Path,
    /// What `~` means.
    pub home: Option<&'a Path>,
    /// The three bodies of a scene in tokens.
    pub solids: [Solid; 3],
}

impl Default for ParseOptions<'_> {
    fn default() -> Self {
        ParseOptions { folder: Path::new(""), home: None, solids: tokens::SOLIDS }
    }
}

impl Scene {
    /// Reads a scene in either grammar. `name` is for messages, `folder` is where a TOML scene's paths start. Files that
    /// the scene names are not opened here.
    ///
    /// # Errors
    /// All that is wrong with the text, each with its place.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Parsed, Box<Problems>> {
        parse(text, name, ParseOptions { folder, ..ParseOptions::default() })
    }
    /// The sample scene that `polyfly --default` prints.
    pub fn sample() -> Scene {
        builtin::sample()
    }
    /// Whether all values are what a scene's text may say; for scenes that are built in code.
    ///
    /// # Errors
    /// All that is wrong, each with its place in the scene's [TOML](Scene::to_toml).
    pub fn check(&self) -> Result<(), Box<Problems>> {
        Scene::parse(&self.to_toml(), "the scene built in code, as TOML", Path::new("")).map(|_| ())
    }
    /// The scene in TOML, every value spelled out; reading it again gives the same scene.
    pub fn to_toml(&self) -> String {
        write::toml(self)
    }
}

/// Reads a scene in either grammar.
pub(crate) fn parse(text: &str, name: &str, reading: ParseOptions) -> Result<Parsed, Box<Problems>> {
    let grammar = Grammar::of(text);
    let result = match grammar {
        Grammar::Tokens => tokens::parse(text, reading),
        Grammar::Toml => toml::parse(text, reading),
    };
    match result {
        Ok((scene, warnings)) => Ok(Parsed { scene, warnings, grammar }),
        Err(list) => Err(Box::new(Problems { name: name.to_owned(), source: text.to_owned(), list })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(Grammar::of("# x\n600\n# y\nout/%d.data\n"), Grammar::Tokens);
        assert_eq!(Grammar::of("# x\n"), Grammar::Toml);
        assert_eq!(Grammar::of("# x\n[camera]\n"), Grammar::Toml);
        assert_eq!(Grammar::of("frames = 3"), Grammar::Toml);
    }
}
