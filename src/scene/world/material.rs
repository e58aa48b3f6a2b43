//! Materials of bodies, spheres, meshes and other shapes.

use crate::language::{Message, msg};
use crate::math::srgb::srgb;
use crate::math::vec3::Vec3;
use crate::scene::keys::keys;
use crate::scene::keys::words::names;
use crate::scene::text::diagnostic::Rule;

/// The material of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// The color.
    pub colour: Vec3,
    /// The kind of material.
    pub kind: MaterialKind,
    /// Roughness of the reflection, 0 (a clear mirror) to 1: the square root of alpha in the microfacet model of
    /// Walter et al., "Microfacet models for refraction through rough surfaces", 2007 (GGX). Light that facets reflect
    /// several times is not lost (Kulla and Conty, "Revisiting physically based shading at Imageworks", 2017).
    pub roughness: f64,
    /// Weight of the highlight; the scene's by default.
    pub highlight: Option<f64>,
    /// A thin film on what mirrors.
    pub film: ThinFilm,
    /// A clear coat over all of it.
    pub coat: Coat,
    /// The grain of a rough metal.
    pub grain: Grain,
}

keys! {
    /// The grain of brushed metal, whose facets spread light across it more than along it (Heitz, "Understanding the
    /// masking-shadowing function in microfacet-based BRDFs", 2014).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Grain in "grain" {
        /// How much more a rough metal spreads light across its grain than along it, as brushed metal does: 0 (alike) to 1.
        pub anisotropy: f64 = 0.0, rule(Rule::Fraction), animated();
        /// Direction of the grain; its part along the surface counts, and a body turns it.
        pub along as "grain": Vec3 = [1.0, 0.0, 0.0],
            direction(), rule(Rule::Coordinate), holds(Some("[1, 0, 0]"));
    }
}

keys! {
    /// A clear coat, as of lacquer, glaze or water: a smooth dielectric over an opaque surface. It mirrors by Fresnel's equations. Light
    /// that passes it is mirrored or spread below, as often as the coat sends it back down. No light is lost: a white surface under
    /// a coat is as bright as without it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Coat in "coat" {
        /// A clear coat of lacquer, glaze or water over what is opaque and has no film: its share of the light that a smooth dielectric mirrors; 0 for none, 1 for a whole coat.
        pub share as "coat": f64 = 0.0, rule(Rule::Fraction), animated();
        /// Index of refraction of the coat: lacquer has 1.5, water 1.33.
        pub ior as "coat_ior": f64 = 1.5, rule(Rule::Within(1.0, 4.0)), slider(1.0, 2.6), animated();
    }
}

impl Coat {
    /// Whether there is one.
    pub(crate) fn is_there(&self) -> bool {
        self.share > 0.0
    }
}

keys! {
    /// A thin film, as of soap, oil or an oxide. Light that its two sides reflect interferes: the film mirrors colors, which change
    /// with the angle. The surface below reflects as one whose index of refraction is that of glass, or, of mirrors, the one that
    /// makes their share at normal incidence. What is not mirrored is spread and transmitted in the same proportions as without the
    /// film.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ThinFilm in "thin film" {
        /// Thickness of a thin film in nanometers, 0 for none: reflections show the colors of soap bubbles and oil. Thin soap has 100 to 700.
        pub nm as "film_nm": f64 = 0.0, rule(Rule::Within(0.0, 2000.0)), slider(0.0, 800.0), animated();
        /// Index of refraction of the film: water and soap have 1.33, oil 1.5, the oxide of titanium 2.4.
        pub ior as "film_ior": f64 = 1.33, rule(Rule::Within(1.0, 4.0)), slider(1.0, 2.6), animated();
    }
}

impl ThinFilm {
    /// Whether there is one.
    pub(crate) fn is_there(&self) -> bool {
        self.nm > 0.0
    }
}

/// How a material scatters light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaterialKind {
    /// Diffuse, with fractions that are reflected and transmitted.
    Plain {
        /// The reflected fraction, 0 to 1.
        reflection: f64,
        /// The transmitted fraction, 0 to 1.
        transparency: f64,
        /// Index of refraction; 1 does not refract.
        ior: f64,
    },
    /// A mirror of the material's color.
    Metal {
        /// Spread of the mirrored rays as in "Ray Tracing in One Weekend", 0 to 1 (path tracing).
        fuzz: f64,
        /// A metal with a measured color, which becomes white at grazing angles.
        measured: Option<MeasuredMetal>,
    },
    /// Clear glass, which reflects by its index of refraction.
    Glass {
        /// Index of refraction; with dispersion, that of yellow light (587.6 nm).
        ior: f64,
        /// Abbe number, smaller for more dispersion; None for no dispersion.
        abbe: Option<f64>,
        /// Distance in the glass after which light has the material's color. None if the surfaces tint, whatever the
        /// distance.
        tint_distance: Option<f64>,
    },
    /// Emits light of the material's color.
    Light {
        /// A factor of the color.
        strength: f64,
    },
}

impl Default for Material {
    fn default() -> Material {
        Material {
            colour: [0.8; 3],
            kind: MaterialKind::default(),
            roughness: 0.0,
            highlight: None,
            film: ThinFilm::default(),
            coat: Coat::default(),
            grain: Grain::default(),
        }
    }
}

impl Default for MaterialKind {
    fn default() -> MaterialKind {
        MaterialKind::Plain { reflection: 0.0, transparency: 0.0, ior: 1.0 }
    }
}

impl Material {
    /// A plain material with these fractions of reflection and transmission.
    pub fn plain(colour: Vec3, reflection: f64, transparency: f64) -> Material {
        Material { colour, kind: MaterialKind::Plain { reflection, transparency, ior: 1.0 }, ..Material::default() }
    }
    /// Reflection and transmission at normal incidence; clear glass counts as transmitting.
    pub fn shares(&self) -> (f64, f64) {
        match self.kind {
            MaterialKind::Plain { reflection, transparency, .. } => (reflection, transparency),
            MaterialKind::Metal { .. } => (1.0, 0.0),
            MaterialKind::Glass { .. } => (0.0, 1.0),
            MaterialKind::Light { .. } => (0.0, 0.0),
        }
    }
    /// Index of refraction; 1 for materials that do not refract.
    pub fn ior(&self) -> f64 {
        match self.kind {
            MaterialKind::Plain { ior, .. } | MaterialKind::Glass { ior, .. } => ior,
            _ => 1.0,
        }
    }
    /// Whether the material reflects only in the mirror direction, without dispersion, absorption, films and coats.
    pub(crate) fn is_simple(&self) -> bool {
        let simple = match self.kind {
            MaterialKind::Glass { abbe, tint_distance, .. } => abbe.is_none() && tint_distance.is_none(),
            MaterialKind::Metal { measured, .. } => measured.is_none(),
            _ => true,
        };
        simple && self.roughness == 0.0 && !self.film.is_there() && !self.coat.is_there()
    }
}

/// The error if reflection and transparency add up to more than one. `name` is the key of the reflection.
pub(crate) fn above_one(name: &str, reflection: f64, transparency: f64) -> Option<Message> {
    is_above_one(reflection, transparency)
        .then(|| msg!("{name} {reflection} + transparency {transparency} is above 1", name, reflection, transparency))
}

/// Whether that is so.
pub(crate) fn is_above_one(reflection: f64, transparency: f64) -> bool {
    reflection + transparency > 1.0 + 1e-9
}

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
    /// The reflected color at normal incidence (Hoffman, "Background: physics and math of shading", 2013, table 1,
    /// in linear sRGB; platinum from Lagarde, "Feeding a physically based shading model", 2011). Chromium and
    /// titanium are ((n - 1)^2 + k^2) / ((n + 1)^2 + k^2) of published constants at 630, 532 and 465 nm. The
    /// published values of these two, 0.55 and (0.54, 0.50, 0.45), were too dark. Those of iron and platinum are
    /// within 3 % of such constants:
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
