//! The floor of a scene in TOML.

use super::ParseOptions;
use super::diagnostic::{Problem, Rule};
use super::floor::{Floor, FloorShape, TextureSource};
use super::limits::MAX_TILES;
use super::material::Material;
use super::relief::{Bumps, MapSource, Relief};
use super::toml::Validator;
use super::toml_keys::{RawFloor, RawRelief};
use super::toml_material::MaterialUse;
use super::toml_values::{At, Numbers, Text};
use crate::math::vec3::Vec3;
use toml::Spanned;

impl Validator {
    pub fn floor(&mut self, spanned: &Spanned<RawFloor>, reading: ParseOptions) -> Floor {
        let raw = spanned.get_ref();
        self.require("corners", "floor", spanned.span(), &raw.corners);
        let mut corners = Floor::default().corners;
        if let Some(list) = &raw.corners {
            let points: Vec<Vec3> =
                list.get_ref().iter().map(|p| self.vector("corners", p, Rule::Coordinate)).collect();
            match points.try_into() {
                Ok(points) => corners = super::perimeter_order(points),
                Err(points) => self.problems.push(Problem::new(
                    list.span(),
                    format!("the floor has {} corners", points.len()),
                    "expected four points",
                )),
            }
            if !super::has_area(&corners) {
                self.problems.push(Problem::new(
                    list.span(),
                    "the floor's corners lie on a line",
                    "expected four corners of a floor",
                ));
            }
        }
        let shape = self.one_of("size", &raw.size, &FloorShape::ALL);
        if let (Some(size), true) = (&raw.size, shape != FloorShape::Square && !super::is_parallelogram(&corners)) {
            let what = format!("the corners of a floor whose size is \"{}\" are no parallelogram", size.get_ref());
            self.problems.push(Problem::new(
                size.span(),
                what,
                "expected four corners in one plane, opposite sides alike",
            ));
        }
        let texture = raw.texture.as_ref().and_then(|text| {
            match TextureSource::parse(text.get_ref(), reading.folder, reading.home) {
                Ok(texture) => texture,
                Err(expected) => {
                    self.problems.push(Problem::new(
                        text.span(),
                        format!("there is no built-in texture `{}`", text.get_ref()),
                        format!("expected {expected}"),
                    ));
                    None
                }
            }
        });
        let mut keys = raw.material();
        if keys.colour.is_none() {
            (keys.colour, keys.colour_key) = (&raw.tint, "tint");
        } else if let Some(tint) = &raw.tint {
            let what = "`tint` and `color` are the same";
            self.problems.push(Problem::new(tint.span(), what, "expected one of them"));
        }
        let material = self.material(&keys, MaterialUse::Floor);
        Floor {
            relief: raw.relief.as_ref().map(|r| self.within("relief", |c| c.relief(r, &material, reading))),
            corners,
            texture,
            material,
            shape,
            fade: self.number("fade", &raw.fade, 0.0, Rule::NotNegative),
        }
    }
    fn relief(&mut self, spanned: &Spanned<RawRelief>, material: &Material, reading: ParseOptions) -> Relief {
        let raw = spanned.get_ref();
        let bump = self.map_source("bump", &raw.bump, reading);
        let depth = self.optional("depth", &raw.depth, Rule::Length);
        let mut wrong = |span, what: &str, expected: &str| self.problems.push(Problem::new(span, what, expected));
        if raw.bump.is_some() != raw.depth.is_some() {
            let span = raw.bump.as_ref().map_or_else(|| raw.depth.as_ref().map(|at| at.span()), |b| Some(b.span()));
            let expected = "expected `bump`, a map of heights, and `depth`, the length from its black up to its white";
            wrong(span.unwrap_or_else(|| spanned.span()), "`bump` and `depth` go together", expected);
        }
        if let (Some(normals), Some(_)) = (&raw.normal_map, &raw.bump) {
            wrong(normals.span(), "`bump` and `normal_map` both lean the normals", "expected one of them");
        }
        if let (Some(map), true) = (&raw.roughness_map, material.roughness == 0.0) {
            let what = "`roughness_map` is a share of the floor's `roughness`, which is 0";
            wrong(map.span(), what, "expected `roughness` in [floor]: that of the map's white");
        }
        if let (Some(map), Some(_)) = (&raw.roughness_map, &raw.drift) {
            wrong(
                map.span(),
                "a relief that drifts has no `roughness_map`",
                "expected one of `drift` and `roughness_map`",
            );
        }
        let bumps = match (bump, &raw.normal_map) {
            (Some(map), _) => Bumps::Heights { map, depth: depth.unwrap_or(1.0) },
            (None, Some(path)) => Bumps::Normals(reading.folder.join(super::expand_home(path.get_ref(), reading.home))),
            (None, None) => Bumps::Flat,
        };
        Relief {
            bumps,
            roughness_map: self.map_source("roughness_map", &raw.roughness_map, reading),
            drift: self.two("drift", &raw.drift),
            offset: self.two("offset", &raw.offset),
            tiles: self.whole("tiles", &raw.tiles, 1, 1, MAX_TILES),
        }
    }
    fn two(&mut self, key: &str, value: &Option<At<Numbers<2>>>) -> [f64; 2] {
        let Some(value) = value else { return [0.0; 2] };
        let rule = Rule::Coordinate;
        let two = value.get_ref().0;
        if let Some(bad) = two.iter().find(|&&x| !rule.allows(x)) {
            let expected = format!("expected two values, each {}", rule.expected());
            self.problems.push(Problem::new(value.span(), format!("`{key}` holds {bad}"), expected));
        }
        two
    }
    fn map_source(&mut self, key: &str, text: &Text, reading: ParseOptions) -> Option<MapSource> {
        let text = text.as_ref()?;
        match MapSource::parse(text.get_ref(), reading.folder, reading.home) {
            Ok(map) => Some(map),
            Err(expected) => {
                let what = format!("there is no built-in `{key}` of the name `{}`", text.get_ref());
                self.problems.push(Problem::new(text.span(), what, format!("expected {expected}")));
                None
            }
        }
    }
}
