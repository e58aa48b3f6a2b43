//! The relief of a floor or of a body's faces: the sources of its normals and its roughness.

use crate::language::msg;
use crate::scene::keys::read::Table;
use crate::scene::keys::words::sources;
use crate::scene::keys::{keys, written_as};
use crate::scene::limits::MAX_TILES;
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::material::Material;
use std::path::PathBuf;

sources! {
    /// Where a map of one number comes from: heights, or shares of the roughness.
    pub enum MapSource: msg!("there is no built-in map `{name}`", name), msg!("{names} or a file", names) {
        /// A PNG or JPEG file; its gray, as it is written: black 0, white 1.
        File,
        /// `@ripples`: water in a light wind.
        Ripples = "@ripples",
        /// `@tiles`: eight by eight, rounded, with joints between them.
        Tiles = "@tiles",
        /// `@puddles`: black where water stands, white where the ground is dry.
        Puddles = "@puddles",
        /// `@slate`: split stone, in layers.
        Slate = "@slate",
        /// `@brushed`: fine parallel grooves.
        Brushed = "@brushed",
        /// `@scratches`: thin lines in all directions, white on black.
        Scratches = "@scratches",
        /// `@dust`: specks and smears, white on black.
        Dust = "@dust",
    }
    pub(crate) const BUILTIN;
    const TAKES_NONE = false;
}

/// The source of a surface's normals.
#[derive(Clone, Debug, PartialEq)]
pub enum Bumps {
    /// Flat.
    Flat,
    /// A map of heights (Blinn, "Simulation of wrinkled surfaces", 1978).
    Heights {
        /// The map.
        map: MapSource,
        /// The height between the map's black and white.
        depth: f64,
    },
    /// A normal map: red points right, green up in the picture, blue outwards; 0 to 1 means -1 to 1.
    Normals(PathBuf),
}

keys! {
    // The keys of bumps in the text.
    #[derive(Clone, Debug, PartialEq)]
    struct BumpKeys in "bumps" {
        /// A map of heights: a picture's gray, @ripples, @tiles, @puddles, @slate, @brushed, @scratches or @dust.
        bump: Option<MapSource> = None;
        /// Height between the map's black and white.
        depth: Option<f64> = None, rule(Rule::Length), slider(0.001, 0.2), animated();
        /// A normal map instead of heights; green points up.
        normal_map: Option<PathBuf> = None;
    }

    fn check(&mut self, table: &mut Table) {
        if table.has("bump") != table.has("depth") {
            let span = table.span_of("bump").or(table.span_of("depth")).unwrap_or_default();
            table.problem(
                span,
                msg!("`bump` and `depth` go together"),
                msg!("`bump`, a map of heights, and `depth`, the length from its black up to its white"),
            );
        }
        if table.has("bump") {
            table.problem_at("normal_map", msg!("`bump` and `normal_map` both tilt the normals"), msg!("one of them"));
        }
    }
}

written_as!(Bumps, BumpKeys);

impl From<BumpKeys> for Bumps {
    fn from(keys: BumpKeys) -> Bumps {
        match (keys.bump, keys.normal_map) {
            (Some(map), _) => Bumps::Heights { map, depth: keys.depth.unwrap_or(1.0) },
            (None, Some(path)) => Bumps::Normals(path),
            (None, None) => Bumps::Flat,
        }
    }
}

impl From<&Bumps> for BumpKeys {
    fn from(bumps: &Bumps) -> BumpKeys {
        let none = BumpKeys::default();
        match bumps.clone() {
            Bumps::Flat => none,
            Bumps::Heights { map, depth } => BumpKeys { bump: Some(map), depth: Some(depth), ..none },
            Bumps::Normals(path) => BumpKeys { normal_map: Some(path), ..none },
        }
    }
}

keys! {
    /// How a surface goes up and down, and where it is rough.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Relief in "relief" {
        /// Repetitions of the maps along each side of the floor, or across a body.
        pub tiles: u32 = 1, rule(Rule::Whole(1, MAX_TILES)), slider(1.0, 20.0), spelled();
        /// What leans its normals.
        pub bumps: Bumps = Bumps::Flat, flat();
        /// Drift of the maps over the clip, to the picture's right and down. Two layers drift against each other, as waves do. Whole numbers make a loop.
        pub drift: [f64; 2] = [0.0; 2], rule(Rule::Coordinate), unit("tiles");
        /// Offset of the maps at the start of the clip, to the picture's right and down.
        pub offset: [f64; 2] = [0.0; 2], rule(Rule::Coordinate), unit("tiles");
        /// Glitter of a floor, as of the sun on water: 0 has none, and what is finer than a pixel makes it rough; near 1 single waves flash.
        pub glitter: f64 = 0.0, rule(Rule::Fraction), animated();
        /// Whether a floor's surface itself goes up and down, from its plane to `depth` below it: waves hide what is behind them, and bodies stand in them.
        pub displaced: bool = false;
        /// A map that multiplies the surface's roughness: a picture's gray, @ripples, @tiles, @puddles, @slate, @brushed, @scratches or @dust.
        pub roughness_map: Option<MapSource> = None;
    }

    fn check(&mut self, table: &mut Table) {
        if table.has("drift") {
            table.problem_at(
                "roughness_map",
                msg!("a relief that drifts has no `roughness_map`"),
                msg!("one of `drift` and `roughness_map`"),
            );
        }
        if self.displaced && !matches!(self.bumps, Bumps::Heights { .. }) {
            table.problem_at(
                "displaced",
                msg!("what is displaced needs heights"),
                msg!("`bump` and `depth`, and no `normal_map`"),
            );
        }
    }
}

/// Reports what does not go together with a relief: a map of a roughness of zero.
pub(crate) fn check(relief: Option<&Relief>, material: &Material, table: &mut Table) {
    if relief.is_some() && material.roughness == 0.0 && !table.is_animated("roughness") {
        table.problem_at(
            "relief.roughness_map",
            msg!("`roughness_map` is a share of the surface's `roughness`, which is 0"),
            msg!("`roughness` beside the relief: that of the map's white"),
        );
    }
}

impl Relief {
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.clone().files_mut().map(|(_, path)| std::mem::take(path)).collect()
    }
    /// The keys and files of its maps.
    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut PathBuf)> {
        let bumps = match &mut self.bumps {
            Bumps::Normals(path) => Some(("normal_map", path)),
            Bumps::Heights { map: MapSource::File(path), .. } => Some(("bump", path)),
            _ => None,
        };
        let roughness = match &mut self.roughness_map {
            Some(MapSource::File(path)) => Some(("roughness_map", path)),
            _ => None,
        };
        bumps.into_iter().chain(roughness)
    }
    /// The height between black and white of a map of heights.
    pub(crate) fn depth(&self) -> Option<f64> {
        match self.bumps {
            Bumps::Heights { depth, .. } => Some(depth),
            _ => None,
        }
    }
    /// Whether the relief changes between frames.
    pub(crate) fn drifts(&self) -> bool {
        self.drift != [0.0; 2]
    }
    /// The relief at a time of the clip, 0 to 1.
    pub(crate) fn at(&self, time: f64) -> Relief {
        let offset = [0, 1].map(|i| (self.offset[i] + self.drift[i] * time).rem_euclid(1.0));
        Relief { offset, ..self.clone() }
    }
}
