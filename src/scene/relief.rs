//! Relief of the floor: what its normals and its roughness come from.

use super::expand_home;
use std::path::{Path, PathBuf};

/// Where a map of one number comes from: heights, or shares of the roughness.
#[derive(Clone, Debug, PartialEq)]
pub enum MapSource {
    /// A PNG or JPEG file; its grey, as it is written: black 0, white 1.
    File(PathBuf),
    /// `@ripples`: water in a light wind.
    Ripples,
    /// `@tiles`: eight by eight, rounded, with joints between them.
    Tiles,
    /// `@puddles`: black where water stands, white where the ground is dry.
    Puddles,
}

impl MapSource {
    // Reads `@ripples`, `@tiles`, `@puddles` or a path below `folder`.
    pub(crate) fn parse(text: &str, folder: &Path, home: Option<&Path>) -> Result<MapSource, &'static str> {
        Ok(match text {
            "@ripples" => MapSource::Ripples,
            "@tiles" => MapSource::Tiles,
            "@puddles" => MapSource::Puddles,
            other if other.starts_with('@') || other.is_empty() => {
                return Err("`@ripples`, `@tiles`, `@puddles` or a file");
            }
            path => MapSource::File(folder.join(expand_home(path, home))),
        })
    }

    fn file(&self) -> Option<&Path> {
        if let MapSource::File(path) = self { Some(path) } else { None }
    }
}

impl std::fmt::Display for MapSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MapSource::File(path) => write!(f, "{}", path.display()),
            MapSource::Ripples => write!(f, "@ripples"),
            MapSource::Tiles => write!(f, "@tiles"),
            MapSource::Puddles => write!(f, "@puddles"),
        }
    }
}

/// What leans a surface's normals.
#[derive(Clone, Debug, PartialEq)]
pub enum Bumps {
    /// Nothing.
    Flat,
    /// A map of heights (Blinn, "Simulation of wrinkled surfaces", 1978).
    Heights {
        /// The map.
        map: MapSource,
        /// Length from its black up to its white.
        depth: f64,
    },
    /// A picture of the normals: red to the right, green up in the picture, blue outwards, 0 to 1 for -1 to 1.
    Normals(PathBuf),
}

/// How a floor's surface goes up and down, and where it is rough.
#[derive(Clone, Debug, PartialEq)]
pub struct Relief {
    /// What leans its normals.
    pub bumps: Bumps,
    /// Times the material's roughness; 1 all over if none is given.
    pub roughness_map: Option<MapSource>,
    /// How many times the maps lie side by side along each side of the floor, at least 1.
    pub tiles: u32,
    /// How far they drift over the clip, in tiles along the floor's picture, to its right and down. The relief lies over
    /// itself then, and the other layer drifts the other way: waves come and go. Whole numbers make a loop.
    pub drift: [f64; 2],
    /// How far they have come when the clip begins.
    pub offset: [f64; 2],
}

impl Relief {
    /// The files of its maps.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let bumps = match &self.bumps {
            Bumps::Flat => None,
            Bumps::Heights { map, .. } => map.file(),
            Bumps::Normals(path) => Some(path.as_path()),
        };
        [bumps, self.roughness_map.as_ref().and_then(MapSource::file)].into_iter().flatten()
    }
    /// Whether it is another from frame to frame.
    pub(crate) fn drifts(&self) -> bool {
        self.drift != [0.0; 2]
    }
    /// As it is at a time of the clip, 0 to 1.
    pub(crate) fn at(&self, time: f64) -> Relief {
        let offset = [0, 1].map(|i| (self.offset[i] + self.drift[i] * time).rem_euclid(1.0));
        Relief { offset, ..self.clone() }
    }
}
