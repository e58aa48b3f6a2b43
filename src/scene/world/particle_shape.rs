//! The shape of particles.

use crate::language::msg;
use crate::math::hull::{self, FLAT, MOST};
use crate::math::platonic::Solid;
use crate::math::vec3::Vec3;
use crate::scene::keys::Key;
use crate::scene::keys::kinds::{Kind, list_text, number_text, quoted};
use crate::scene::keys::read::Given;
use crate::scene::keys::words::Names;
use crate::scene::text::diagnostic::Rule;
use serde_json::json;
use toml::de::DeValue;

/// The shape of particles, around each one's position.
#[derive(Clone, Debug, PartialEq)]
pub enum ParticleShape {
    /// Spheres, whatever the file says.
    Sphere,
    /// A Platonic solid whose corners are a radius from the position.
    Solid(Solid),
    /// The convex hull of these points, in the file's unit of length; larger by the rounding, with round edges.
    Vertices {
        /// The points.
        vertices: Vec<Vec3>,
        /// The radius of the edges.
        rounding: f64,
    },
}

const SPHERE: &str = "sphere";

impl Kind for ParticleShape {
    fn parse(given: &mut Given) -> Option<ParticleShape> {
        let expected = || msg!("\"sphere\", a solid's name, or points: [[x, y, z], ...]");
        let (points, rounding) = match given.value.get_ref() {
            DeValue::String(word) => {
                let solid = Solid::NAMES.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(word));
                let found = solid.map(|(solid, ..)| ParticleShape::Solid(*solid));
                let found = found.or_else(|| word.eq_ignore_ascii_case(SPHERE).then_some(ParticleShape::Sphere));
                if found.is_none() {
                    given.refuse::<()>(format_args!("\"{word}\""), expected());
                    given.suggest(word, Solid::NAMES.iter().map(|(_, name, _)| *name).chain([SPHERE]));
                }
                return found;
            }
            DeValue::Table(table) => {
                let number = table.get("rounding").map(|value| given.within(value).number());
                let rounding = number.unwrap_or(Some(0.0))?;
                let is_known = table.keys().all(|key| matches!(&**key.get_ref(), "vertices" | "rounding"));
                let points =
                    table.get("vertices").filter(|_| is_known && rounding >= 0.0 && Rule::Coordinate.allows(rounding));
                match points {
                    Some(points) => (points, rounding),
                    None => {
                        return given.wrong(msg!("a table such as {{ vertices = [[0, 0, 1], ...], rounding = 0.1 }}"));
                    }
                }
            }
            _ => (given.value, 0.0),
        };
        let DeValue::Array(list) = points.get_ref() else { return given.wrong(expected()) };
        let point =
            |value| given.within(value).numbers::<3>().filter(|p| p.iter().all(|&x| Rule::Coordinate.allows(x)));
        let vertices: Vec<Vec3> = list.iter().map_while(point).collect();
        if vertices.len() < list.len() {
            return None;
        }
        let is_body = vertices.len() <= MOST && hull::faces(&vertices, FLAT).is_some();
        match is_body {
            true => Some(ParticleShape::Vertices { vertices, rounding }),
            false => given.refuse(
                msg!("a list of {count}", count = vertices.len()),
                msg!("at most {most} points, not all in a plane", most = MOST),
            ),
        }
    }
    fn text(&self, _: &Key) -> String {
        match self {
            ParticleShape::Sphere => quoted(SPHERE),
            ParticleShape::Solid(solid) => quoted(solid.name()),
            ParticleShape::Vertices { vertices, rounding } => {
                let list = vertices.iter().map(|p| list_text(p)).collect::<Vec<_>>().join(", ");
                match *rounding > 0.0 {
                    true => format!("{{ vertices = [{list}], rounding = {} }}", number_text(*rounding)),
                    false => format!("[{list}]"),
                }
            }
        }
    }
    fn schema(_: &Key) -> serde_json::Value {
        let names: Vec<&str> = Solid::NAMES.iter().map(|(_, name, _)| *name).chain([SPHERE]).collect();
        let point = json!({ "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3 });
        let points = json!({ "type": "array", "items": point, "minItems": 4, "maxItems": MOST });
        let round = json!({ "type": "object", "additionalProperties": false, "required": ["vertices"],
            "properties": { "vertices": points, "rounding": { "type": "number", "minimum": 0 } } });
        json!({ "anyOf": [{ "type": "string", "enum": names }, points, round] })
    }
}
