//! What spheres and meshes look like.

use crate::math::vec3::Vec3;

/// How a sphere or a mesh looks.
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
