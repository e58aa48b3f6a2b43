//! The objects, the lights and the sky of a scene.

pub(super) mod air;
pub(super) mod body;
pub(super) mod colouring;
pub(super) mod ellipsoid;
pub(super) mod floor;
pub(super) mod lamps;
pub(super) mod links;
pub(super) mod material;
pub(super) mod material_keys;
pub(super) mod motion;
pub(super) mod particle_shape;
pub(super) mod particles;
pub(super) mod rectangle;
pub(super) mod relief;
pub(super) mod round;
pub(crate) mod series;
pub(super) mod sky;
pub(crate) mod standing;
pub(super) mod support;

use super::keys::keys;
use super::text::diagnostic::Rule;
use super::{Air, Body, Ellipsoid, Floor, Material, Particles, Rectangle, Sky, Support, defaults};
use crate::language::{Message, msg};
use crate::math::platonic::Solid;
use crate::math::vec3::Vec3;
use std::path::PathBuf;

keys! {
    /// What can be seen. Lengths are the scene's own units; z is up, right-handed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct World in "world" {
        /// The background and environment light: a gradient, or a picture.
        pub sky: Sky = Sky::default();
        /// The air: clear, or a uniform fog.
        pub air: Air = Air::default();
        /// A Platonic solid with bars, lamps and a motion.
        pub bodies as "body": Vec<Body> = Vec::new();
        /// A ball.
        pub spheres as "sphere": Vec<Sphere> = Vec::new();
        /// An ellipsoid.
        pub ellipsoids as "ellipsoid": Vec<Ellipsoid> = Vec::new();
        /// A rectangle; with material `light` it is a panel that emits on both sides.
        pub rectangles as "rectangle": Vec<Rectangle> = Vec::new();
        /// Triangles from a file.
        pub meshes as "mesh": Vec<Mesh> = Vec::new();
        /// Spheres from the files of a simulation.
        pub particles: Option<Particles> = None;
        /// The floor.
        pub floor: Option<Floor> = None;
        /// A point light, or a spherical light.
        pub lights as "light": Vec<Light> = Vec::new();
        /// Ambient light (Whitted).
        pub ambient: Vec3 = defaults::AMBIENT, elsewhere();
        /// Weight of the Blinn-Phong highlight.
        pub highlight: f64 = defaults::HIGHLIGHT, elsewhere();
    }
}

/// The name of an element with this solid, if it is a body: see [`World::name_of`].
pub(crate) fn element(list: &str, index: usize, solid: Option<Solid>) -> Message {
    let key = Message::text(format_args!("{list}[{index}]"));
    let solid = solid.map(|solid| match solid {
        Solid::Tetrahedron => msg!("the tetrahedron"),
        Solid::Hexahedron => msg!("the cube"),
        Solid::Octahedron => msg!("the octahedron"),
        Solid::Dodecahedron => msg!("the dodecahedron"),
        Solid::Icosahedron => msg!("the icosahedron"),
    });
    Message::list([key].into_iter().chain(solid), ", ")
}

impl World {
    /// What messages call an element of a list: `body[0], the cube`, or `light[1]`, as `--set` does.
    pub(crate) fn name_of(&self, list: &str, index: usize) -> Message {
        let body = self.bodies.get(index).filter(|_| list == "body");
        element(list, index, body.map(|body| body.solid))
    }
    /// The materials of all objects except bodies and the floor.
    pub(crate) fn materials(&self) -> impl Iterator<Item = &Material> {
        let spheres = self.spheres.iter().map(|s| &s.material);
        let ellipsoids = self.ellipsoids.iter().map(|e| &e.material);
        spheres.chain(ellipsoids).chain(self.panel_materials()).chain(self.particles.iter().map(|p| &p.material))
    }
    /// The materials of all objects.
    pub(crate) fn all_materials(&self) -> impl Iterator<Item = &Material> {
        let floor = self.floor.iter().map(|floor| &floor.material);
        floor.chain(self.bodies.iter().map(|body| &body.material)).chain(self.materials())
    }
    /// The materials of meshes, followed by those of rectangles.
    pub(crate) fn panel_materials(&self) -> impl Iterator<Item = &Material> {
        self.meshes.iter().map(|m| &m.material).chain(self.rectangles.iter().map(|r| &r.material))
    }
}

keys! {
    /// A sphere.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Sphere in "sphere" {
        /// Its center.
        pub centre as "center": Vec3 = [0.0; 3], rule(Rule::Coordinate), group("Shape"), spelled(), animated();
        /// Stands on the floor: the height of its center follows, so that its lowest point touches the floor.
        pub on: Option<Support> = None;
        /// Its radius.
        pub radius: f64 = 1.0, rule(Rule::Length), slider(0.1, 5.0), spelled(), animated();
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
        /// Stands on the floor: the height of its offset follows, so that its lowest point touches the floor.
        pub on: Option<Support> = None;
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
        pub position: Vec3 = [0.0; 3], rule(Rule::Coordinate), required(), spelled(), animated();
        /// Color and brightness; may exceed 1.
        pub colour as "color": Vec3 = [1.0; 3], colour(), rule(Rule::Brightness), spelled(), animated();
        /// Radius of a spherical light, which casts soft shadows; 0: a point light.
        pub radius: f64 = 0.0, rule(Rule::NotNegative), slider(0.0, 2.0), spelled(), animated();
    }
}
