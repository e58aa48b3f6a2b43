//! What bodies, spheres and meshes look like.

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
    pub(crate) fn is_glass(&self) -> bool {
        matches!(self.kind, MaterialKind::Glass { .. })
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

/// What is wrong with shares that add up to more than there is; `reflection` is the larger of a pane's two sides.
pub(crate) fn adds_light(reflection: f64, transparency: f64) -> Option<String> {
    (reflection + transparency > 1.0 + 1e-9)
        .then(|| format!("reflection {reflection} + transparency {transparency} is above 1"))
}

/// What comes of that.
pub(crate) const ADDS_LIGHT: &str = "the body adds light of its own";

/// A metal that is known by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredMetal {
    /// Au.
    Gold,
    /// Ag.
    Silver,
    /// Cu.
    Copper,
    /// Al.
    Aluminium,
    /// Cr.
    Chromium,
    /// Fe.
    Iron,
    /// Ti.
    Titanium,
    /// Pt.
    Platinum,
}

impl MeasuredMetal {
    /// All, with their names.
    pub const ALL: [(MeasuredMetal, &str); 8] = [
        (MeasuredMetal::Gold, "gold"),
        (MeasuredMetal::Silver, "silver"),
        (MeasuredMetal::Copper, "copper"),
        (MeasuredMetal::Aluminium, "aluminium"),
        (MeasuredMetal::Chromium, "chromium"),
        (MeasuredMetal::Iron, "iron"),
        (MeasuredMetal::Titanium, "titanium"),
        (MeasuredMetal::Platinum, "platinum"),
    ];
    /// The name in a scene.
    pub fn name(self) -> &'static str {
        super::name_of(&Self::ALL, self)
    }
    /// What it mirrors of light that meets it squarely, as a colour (Hoffman, "Background: physics and math of shading",
    /// 2013, table 1, in linear sRGB; titanium and platinum from Lagarde, "Feeding a physically based shading model", 2011).
    pub fn colour(self) -> Vec3 {
        let linear = match self {
            MeasuredMetal::Gold => [1.0, 0.766, 0.336],
            MeasuredMetal::Silver => [0.972, 0.960, 0.915],
            MeasuredMetal::Copper => [0.955, 0.637, 0.538],
            MeasuredMetal::Aluminium => [0.913, 0.921, 0.925],
            MeasuredMetal::Chromium => [0.550, 0.556, 0.554],
            MeasuredMetal::Iron => [0.560, 0.570, 0.580],
            MeasuredMetal::Titanium => [0.542, 0.497, 0.449],
            MeasuredMetal::Platinum => [0.673, 0.637, 0.585],
        };
        linear.map(srgb)
    }
}
