//! The particles of a simulation.

use crate::language::msg;
use crate::math::colormap::ColourMap;
use crate::scene::keys::kinds::{Kind, colour, colour_schema, list_text, quoted};
use crate::scene::keys::read::{Given, Table};
use crate::scene::keys::words::names;
use crate::scene::keys::{Key, keys};
use crate::scene::limits::MAX_FRAMES;
use crate::scene::numbered;
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::material::Material;
use serde_json::json;
use std::path::PathBuf;
use toml::de::DeValue;

keys! {
    /// The particles of a simulation, one file or one a frame.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Particles in "particles" {
        /// The file, or a name with `%d` or `%0Nd` for the time step: one file for each frame.
        pub path: PathBuf = PathBuf::new(), required(), group("Files"), spelled();
        /// Time step of the first frame.
        pub first: u32 = 0, rule(Rule::Whole(0, MAX_FRAMES)), slider(0.0, 100.0), spelled();
        /// Time steps from frame to frame.
        pub step: u32 = 1, rule(Rule::Whole(1, MAX_FRAMES)), slider(1.0, 10.0), spelled();
        /// The value that selects the color.
        pub colour_by as "color_by": ColourBy = ColourBy::Nothing, group("Color map"), spelled();
        /// The color map: a name, one that ends in `_r` for the reverse, or a list of colors. Maps such as `tableau10` have a color for each whole number.
        pub map: ColourMap = ColourMap::default();
        /// Draws the color map with its numbers.
        pub legend: bool = false, spelled();
        /// Values at the ends of the color map; by default those of the first file.
        pub range: Option<[f64; 2]> = None;
        /// How they look where nothing colors them.
        pub material: Material = Material::default(), flat();
    }

    fn check(&mut self, table: &mut Table) {
        if self.range.is_some_and(|[low, high]| low.partial_cmp(&high) != Some(std::cmp::Ordering::Less)) {
            table.problem_at("range", msg!("`range` is empty"), msg!("two numbers, the lower first"));
        }
    }
}

impl Kind for ColourMap {
    fn parse(given: &mut Given) -> Option<ColourMap> {
        let expected = || msg!("the name of a color map, or a list of colors");
        match given.value.get_ref() {
            DeValue::String(name) => {
                let found = ColourMap::named(name);
                if found.is_none() {
                    given.refuse::<()>(format_args!("\"{name}\""), expected());
                    given.suggest(name, ColourMap::names());
                }
                found
            }
            DeValue::Array(list) => {
                let colours: Vec<_> = list.iter().map_while(|one| colour(&mut given.within(one))).collect();
                if colours.len() < list.len() {
                    return None;
                }
                let map = ColourMap::through(colours);
                map.or_else(|| given.refuse(msg!("a list of {count}", count = list.len()), msg!("two colors or more")))
            }
            _ => given.wrong(expected()),
        }
    }
    fn text(&self, _: &Key) -> String {
        let list = || self.own().iter().map(|colour| list_text(colour)).collect::<Vec<_>>().join(", ");
        self.name().map_or_else(|| format!("[{}]", list()), |name| quoted(&name))
    }
    fn schema(key: &Key) -> serde_json::Value {
        let names: Vec<&str> = ColourMap::names().collect();
        let colours = json!({ "type": "array", "items": colour_schema(key), "minItems": 2 });
        json!({ "anyOf": [{ "type": "string", "enum": names }, { "type": "string", "pattern": "_r$" }, colours] })
    }
}

names! {
    /// A value that every particle has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ColourBy {
        /// None: the material's color.
        Nothing = "nothing",
        /// Its speed.
        Velocity = "velocity",
        /// Its pressure.
        Pressure = "pressure",
        /// Its radius.
        Radius = "radius",
    }
}

impl Particles {
    pub(crate) fn file(&self, frame: u32) -> PathBuf {
        let number = u64::from(self.first) + u64::from(frame) * u64::from(self.step);
        numbered(&self.path.to_string_lossy(), number).map_or_else(|| self.path.clone(), PathBuf::from)
    }
    /// Whether each frame has its own particle file.
    pub(crate) fn is_animated(&self) -> bool {
        numbered(&self.path.to_string_lossy(), 0).is_some()
    }
}
