//! A scene with all defaults resolved and all values checked.
//!
//! ```
//! use polyfly::scene::{Body, Material, Solid};
//! use polyfly::Scene;
//! let mut scene = Scene::default();
//! let material = Material::plain([0.8; 3], 0.8, 0.0);
//! scene.world.bodies.push(Body { solid: Solid::Icosahedron, material, ..Body::default() });
//! assert_eq!(Scene::parse(&scene.to_toml(), "again.toml", "".as_ref()).unwrap().scene, scene);
//! ```

mod animation;
pub mod builtin;
mod camera;
mod figure;
mod figure_style;
mod files;
mod film;
pub(crate) mod keys;
pub(crate) mod limits;
mod look;
mod output;
mod render;
pub(crate) mod size;
mod tables;
pub(crate) mod text;
mod tracks;
pub(crate) mod world;

pub use crate::math::colormap::ColourMap;
pub use crate::math::platonic::Solid;
pub(crate) use animation::path_text;
pub use camera::shake::Shake;
pub use camera::view::{FisheyeMapping, FovAxis, Projection, Stereo, View};
pub(crate) use camera::viewpoint::{Viewpoint, edits_through, key_through, number, triple};
pub use camera::{Camera, CameraKey, CameraPath, CylindricalPath, Orbit};
pub use figure::{Figure, FigureStyle, FigureView, FurnitureIn, LegendSide, PageLength, PageUnit};
pub use film::tone::Tone;
pub use film::{Denoise, Exposure, FilmSettings, Filter};
#[cfg(test)]
pub(crate) use keys::kinds::snap_angle;
pub(crate) use limits::defaults;
pub use output::Output;
pub use output::pattern::{Pattern, PatternError, numbered};
pub use render::RenderSettings;
pub use render::integrator::Integrator;
pub use render::sampling::Sampling;
use std::path::Path;
pub use tables::Scene;
pub use text::diagnostic::{Problem, Problems};
pub use text::grammar::{Grammar, Look};
pub(crate) use text::grammar::{ParseOptions, expand_home};
pub(crate) use text::named::{FileMention, line_of, mention_of};
pub(crate) use text::{tokens, toml};
pub use tracks::Tracks;
pub use world::air::Air;
pub use world::body::Body;
pub use world::colouring::{ColourBy, ColumnNames, RangeOver, TypeRadii, ValueRange, ValueScale};
pub(crate) use world::element;
pub use world::ellipsoid::Ellipsoid;
pub use world::floor::{Floor, FloorShape, TextureSource};
pub(crate) use world::floor::{corner_uv, has_area, is_clockwise, is_parallelogram, perimeter_order, uv_gradients};
pub use world::lamps::{LampAnimation, LampPattern, LampSamples, LampShape, LampSides, Lamps};
pub use world::links::{Arrows, Bonds, Cut, Trails};
pub use world::material::{Coat, Grain, Material, MaterialKind, MeasuredMetal, ThinFilm};
pub use world::motion::{Motion, Rotation};
pub use world::particle_shape::ParticleShape;
pub use world::particles::Particles;
pub use world::rectangle::Rectangle;
pub use world::relief::{Bumps, MapSource, Relief};
pub(crate) use world::series;
pub use world::sky::{Sky, SkySource};
pub(crate) use world::standing::Ground;
pub use world::support::{Rest, Support};
pub use world::{Light, Mesh, Sphere, World};

/// A parsed scene with its warnings.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The scene.
    pub scene: Scene,
    /// Likely mistakes, each with its position.
    pub warnings: Vec<Problem>,
    /// The grammar of the text.
    pub grammar: Grammar,
    /// The look that fills in what the text leaves open.
    pub look: Option<Look>,
}

impl Scene {
    /// Whether the light of a sample is drawn at random: by paths and occlusion rays, and on rough surfaces.
    pub(crate) fn draws_light_at_random(&self) -> bool {
        let is_rough = || self.world.all_materials().any(|material| material.roughness > 0.0);
        let gets_rough = || self.tracks.within("").any(|(path, _)| path.ends_with(".roughness"));
        self.render.integrator.capabilities().random_samples || is_rough() || gets_rough()
    }
    /// Parses a scene in either grammar. `name` appears in messages; relative paths of a TOML scene start in
    /// `folder`. Files that the scene names are not opened here.
    ///
    /// # Errors
    /// All faults of the text, with their positions.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Parsed, Box<Problems>> {
        parse(text, name, ParseOptions { folder, ..ParseOptions::default() })
    }
    /// Pixels an inch in print, if the scene is a figure with a width.
    pub(crate) fn dots_per_inch(&self) -> Option<f64> {
        self.figure.as_ref()?.dots_per_inch(self.render.width)
    }
    /// Checks that all values are valid in a scene's text, for scenes that are built in code.
    ///
    /// # Errors
    /// All faults, with their positions in the scene's [TOML](Scene::to_toml).
    pub fn check(&self) -> Result<(), Box<Problems>> {
        Scene::parse(&self.to_toml(), "the scene built in code, as TOML", Path::new("")).map(|_| ())
    }
    /// The checked scene: the objects that stand on the floor have their heights.
    pub(crate) fn checked(mut self) -> Result<Scene, Box<Problems>> {
        self.check()?;
        self.world.stand();
        Ok(self)
    }
    /// The scene in TOML with all values. Parsing it gives the same scene.
    pub fn to_toml(&self) -> String {
        toml::write(self)
    }
}

/// Parses a scene in either grammar.
pub(crate) fn parse(text: &str, name: &str, reading: ParseOptions) -> Result<Parsed, Box<Problems>> {
    let grammar = Grammar::of(text);
    let result = match grammar {
        Grammar::Tokens => tokens::parse(text, reading),
        Grammar::Toml => toml::parse(text, reading),
    };
    match result {
        Ok((scene, look, warnings)) => Ok(Parsed { scene, warnings, grammar, look }),
        Err(list) => Err(Box::new(Problems { name: name.to_owned(), source: text.to_owned(), list })),
    }
}
