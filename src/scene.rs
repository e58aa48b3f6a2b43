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

mod air;
mod body;
pub(crate) mod builtin;
mod camera;
mod camera_view;
pub(crate) mod diagnostic;
pub(crate) mod edit;
mod ellipsoid;
mod files;
mod film;
mod floor;
mod integrator;
pub(crate) mod keys;
mod lamps;
pub(crate) mod limits;
mod material;
mod material_keys;
mod motion;
mod named;
mod output;
mod particles;
mod pattern;
mod rectangle;
mod relief;
mod render;
mod sampling;
mod sky;
pub(crate) mod suggest;
pub(crate) mod tokens;
pub(crate) mod toml;
mod tone;

pub use crate::math::platonic::Solid;
use crate::math::vec3::Vec3;
pub use air::Air;
pub use body::Body;
pub use camera::{Camera, CameraKey, CameraPath, CylindricalPath, Orbit, View};
pub(crate) use camera_view::{Viewpoint, edits_through};
use diagnostic::Rule;
pub use diagnostic::{Problem, Problems};
pub use ellipsoid::Ellipsoid;
pub use film::{Exposure, FilmSettings, Filter};
pub use floor::{Floor, FloorShape, TextureSource};
pub(crate) use floor::{corner_uv, has_area, is_clockwise, is_parallelogram, perimeter_order, uv_gradients};
pub use integrator::Integrator;
use keys::keys;
pub use lamps::{LampPattern, LampSamples, LampSides, Lamps};
pub(crate) use limits::defaults;
pub use material::{Material, MaterialKind, MeasuredMetal};
pub use motion::{Motion, Rotation};
pub(crate) use named::{FilePlace, place_of};
pub use output::Output;
pub use particles::{ColourBy, Particles};
pub use pattern::{Pattern, PatternError, numbered};
pub use rectangle::Rectangle;
pub use relief::{Bumps, MapSource, Relief};
pub use render::RenderSettings;
pub use sampling::Sampling;
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
    /// Ellipsoids.
    pub ellipsoids: Vec<Ellipsoid>,
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
    /// Ambient light (Whitted).
    pub ambient: Vec3,
    /// Weight of the Blinn-Phong highlight.
    pub highlight: f64,
    /// The sky.
    pub sky: Sky,
    /// The air.
    pub air: Air,
}

impl Default for World {
    fn default() -> World {
        World {
            bodies: Vec::new(),
            spheres: Vec::new(),
            ellipsoids: Vec::new(),
            rectangles: Vec::new(),
            meshes: Vec::new(),
            particles: None,
            floor: None,
            lights: Vec::new(),
            ambient: defaults::AMBIENT,
            highlight: defaults::HIGHLIGHT,
            sky: Sky::default(),
            air: Air::default(),
        }
    }
}

impl World {
    /// What all but bodies and the floor is made of.
    pub(crate) fn materials(&self) -> impl Iterator<Item = &Material> {
        let spheres = self.spheres.iter().map(|s| &s.material);
        let ellipsoids = self.ellipsoids.iter().map(|e| &e.material);
        spheres.chain(ellipsoids).chain(self.panel_materials()).chain(self.particles.iter().map(|p| &p.material))
    }
    /// What meshes and then rectangles are made of.
    pub(crate) fn panel_materials(&self) -> impl Iterator<Item = &Material> {
        self.meshes.iter().map(|m| &m.material).chain(self.rectangles.iter().map(|r| &r.material))
    }
}

keys! {
    /// A sphere.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Sphere in "sphere" {
        /// Its centre.
        pub centre as "center": Vec3 = [0.0; 3], rule(Rule::Coordinate), group("Shape"), spelled();
        /// Its radius.
        pub radius: f64 = 1.0, rule(Rule::Length), slider(0.1, 5.0), spelled();
        /// How it looks.
        pub material: Material = Material::default(), flat();
    }
}

keys! {
    /// A mesh of triangles from a file.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Mesh in "mesh" {
        /// The file: OBJ, or PLY in text or binary.
        pub path: PathBuf = PathBuf::new(), required(), group("Shape");
        /// Multiplies its coordinates.
        pub scale: f64 = 1.0, rule(Rule::Length), spelled();
        /// Added to the scaled coordinates.
        pub offset: Vec3 = [0.0; 3], rule(Rule::Coordinate), spelled();
        /// The file's z axis points up, not y.
        pub z_up: bool = true, spelled();
        /// Uses the file's normals for smooth shading; otherwise, or if the file has none, it has facets.
        pub smooth: bool = true, spelled();
        /// How it looks.
        pub material: Material = Material::default(), flat();
    }
}

keys! {
    /// A point light.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Light in "light" {
        /// Where it is.
        pub position: Vec3 = [0.0; 3], rule(Rule::Coordinate), required(), spelled();
        /// Color and brightness; may exceed 1.
        pub colour as "color": Vec3 = [1.0; 3], colour(), rule(Rule::Brightness), spelled();
        /// Radius of a spherical light, which casts soft shadows; 0: a point light.
        pub radius: f64 = 0.0, rule(Rule::NotNegative), slider(0.0, 2.0), spelled();
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
        toml::write(self)
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
