//! What bodies, spheres and meshes look like.

use super::keys::words::names;
use crate::math::srgb::srgb;
use crate::math::vec3::Vec3;

/// How a body's panes, a sphere or a mesh look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Its colour.
    pub colour: Vec3,
    /// What it does with light.
    pub kind: MaterialKind,
    /// How wide it spreads what it mirrors, 0 (a clear mirror) to 1: the square root of alpha in the microfacets of Walter
    /// et al., "Microfacet models for refraction through rough surfaces", 2007 (GGX).
    pub roughness: f64,
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
        /// Spread of the mirrored rays as in "Ray Tracing in One Weekend", 0 to 1 (path tracing).
        fuzz: f64,
        /// A metal with a colour of its own, which turns white along the rim.
        measured: Option<MeasuredMetal>,
    },
    /// Clear, mirrors by its index of refraction.
    Glass {
        /// Index of refraction, of yellow light (587.6 nm) where it disperses.
        ior: f64,
        /// Abbe number: the smaller, the wider the rainbows; none: all colours bend alike.
        abbe: Option<f64>,
        /// Length within the glass that gives light the material's colour; none: its surfaces do, whatever the length.
        tint_distance: Option<f64>,
    },
    /// Sends light of the material's colour.
    Light {
        /// Times the colour.
        strength: f64,
    },
}

impl Default for Material {
    fn default() -> Material {
        Material { colour: [0.8; 3], kind: MaterialKind::default(), roughness: 0.0, highlight: None }
    }
}

impl Default for MaterialKind {
    fn default() -> MaterialKind {
        MaterialKind::Plain { reflection: 0.0, transparency: 0.0, ior: 1.0 }
    }
}

impl Material {
    /// A plain one that mirrors R and lets T through.
    pub fn plain(colour: Vec3, reflection: f64, transparency: f64) -> Material {
        Material { colour, kind: MaterialKind::Plain { reflection, transparency, ior: 1.0 }, ..Material::default() }
    }
    /// R and T where all light meets the surface alike; clear glass counts as letting through.
    pub fn shares(&self) -> (f64, f64) {
        match self.kind {
            MaterialKind::Plain { reflection, transparency, .. } => (reflection, transparency),
            MaterialKind::Metal { .. } => (1.0, 0.0),
            MaterialKind::Glass { .. } => (0.0, 1.0),
            MaterialKind::Light { .. } => (0.0, 0.0),
        }
    }
    /// Index of refraction; 1 where light goes straight through or not at all.
    pub fn ior(&self) -> f64 {
        match self.kind {
            MaterialKind::Plain { ior, .. } | MaterialKind::Glass { ior, .. } => ior,
            _ => 1.0,
        }
    }
    /// Whether it only reflects in one direction, bends all colours alike and takes no light on its way.
    pub(crate) fn is_simple(&self) -> bool {
        let simple = match self.kind {
            MaterialKind::Glass { abbe, tint_distance, .. } => abbe.is_none() && tint_distance.is_none(),
            MaterialKind::Metal { measured, .. } => measured.is_none(),
            _ => true,
        };
        simple && self.roughness == 0.0
    }
}

/// What is wrong with shares that add up to more than there is; `name` is what reflects.
pub(crate) fn above_one(name: &str, reflection: f64, transparency: f64) -> Option<String> {
    let is_above = reflection + transparency > 1.0 + 1e-9;
    is_above.then(|| format!("{name} {reflection} + transparency {transparency} is above 1"))
}

/// What comes of light that is added.
pub(crate) const ADDS_LIGHT: &str = "the body adds light of its own";

names! {
    /// A metal that is known by its name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MeasuredMetal {
        /// Au.
        Gold = "gold",
        /// Ag.
        Silver = "silver",
        /// Cu.
        Copper = "copper",
        /// Al.
        Aluminium = "aluminium",
        /// Cr.
        Chromium = "chromium",
        /// Fe.
        Iron = "iron",
        /// Ti.
        Titanium = "titanium",
        /// Pt.
        Platinum = "platinum",
    }
}

impl MeasuredMetal {
    /// What it mirrors of light that meets it squarely, as a colour (Hoffman, "Background: physics and math of shading",
    /// 2013, table 1, in linear sRGB; platinum from Lagarde, "Feeding a physically based shading model", 2011). Chromium and
    /// titanium are ((n - 1)^2 + k^2) / ((n + 1)^2 + k^2) of published constants at 630, 532 and 465 nm. Their older values,
    /// 0.55 and (0.54, 0.50, 0.45), were too dark; those of iron and platinum are within 3 % of such constants:
    ///
    /// | metal | n | k | mirrored | source |
    /// |---|---|---|---|---|
    /// | chromium | 3.56 2.98 2.13 | 4.36 4.45 4.30 | 0.642 0.666 0.699 | Palik, "Handbook of optical constants of solids" |
    /// | titanium | 2.48 2.21 1.95 | 3.10 2.90 2.70 | 0.543 0.527 0.512 | Mash and Motulevich, 1973 |
    /// | iron | 2.39 2.13 1.82 | 3.32 3.14 2.97 | 0.575 0.566 0.566 | Querry, "Optical constants", 1985 |
    /// | platinum | 2.31 2.04 1.88 | 4.16 3.61 3.22 | 0.673 0.634 0.598 | Rakic et al., "Optical properties of metallic films", 1998 |
    pub fn colour(self) -> Vec3 {
        let linear = match self {
            MeasuredMetal::Gold => [1.0, 0.766, 0.336],
            MeasuredMetal::Silver => [0.972, 0.960, 0.915],
            MeasuredMetal::Copper => [0.955, 0.637, 0.538],
            MeasuredMetal::Aluminium => [0.913, 0.921, 0.925],
            MeasuredMetal::Chromium => [0.642, 0.666, 0.699],
            MeasuredMetal::Iron => [0.560, 0.570, 0.580],
            MeasuredMetal::Titanium => [0.543, 0.527, 0.512],
            MeasuredMetal::Platinum => [0.673, 0.637, 0.585],
        };
        linear.map(srgb)
    }
}
