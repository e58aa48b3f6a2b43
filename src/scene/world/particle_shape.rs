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
    /// A cylinder along z with hemispheres at its ends, twice as long as it is wide.
    Capsule,
    /// A cylinder along z, twice as long as it is wide.
    Cylinder,
    /// A Platonic solid whose corners are a radius from the position.
    Solid(Solid),
    /// The convex hull of these points, in the file's unit of length; larger by the rounding, with round edges.
    Vertices {
        /// The points.
        vertices: Vec<Vec3>,
        /// The radius of the edges.
        rounding: f64,
    },
    /// A cylinder between two points, in the file's unit of length; or everything that is near enough to a line, a capsule.
    Rod {
        /// The points.
        ends: [Vec3; 2],
        /// The radius.
        radius: f64,
        /// Whether the ends are hemispheres.
        is_round: bool,
    },
}

const WORDS: [(&str, ParticleShape); 3] =
    [("sphere", ParticleShape::Sphere), ("capsule", ParticleShape::Capsule), ("cylinder", ParticleShape::Cylinder)];
fn words() -> impl Iterator<Item = &'static str> {
    Solid::NAMES.iter().map(|(_, name, _)| *name).chain(WORDS.iter().map(|(name, _)| *name))
}

impl Kind for ParticleShape {
    fn parse(given: &mut Given) -> Option<ParticleShape> {
        let expected = || msg!("\"sphere\", \"capsule\", \"cylinder\", a solid's name, or points: [[x, y, z], ...]");
        let (points, radius, is_round) = match given.value.get_ref() {
            DeValue::String(word) => {
                let solid = Solid::NAMES.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(word));
                let found = solid.map(|(solid, ..)| ParticleShape::Solid(*solid));
                let other = WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
                let found = found.or_else(|| other.map(|(_, shape)| shape.clone()));
                if found.is_none() {
                    given.refuse::<()>(format_args!("\"{word}\""), expected());
                    given.suggest(word, words());
                }
                return found;
            }
            DeValue::Table(table) => {
                let is_round = !table.contains_key("radius");
                let number = table.get(if is_round { "rounding" } else { "radius" });
                let radius = number.map_or(Some(0.0), |value| given.within(value).number())?;
                let is_known = table.len() == 1 + usize::from(number.is_some());
                let points =
                    table.get("vertices").filter(|_| is_known && radius >= 0.0 && Rule::Coordinate.allows(radius));
                match points {
                    Some(points) => (points, radius, is_round),
                    None => {
                        return given.wrong(msg!("a table such as {{ vertices = [[0, 0, 1], ...], rounding = 0.1 }}"));
                    }
                }
            }
            _ => (given.value, 0.0, true),
        };
        let DeValue::Array(list) = points.get_ref() else { return given.wrong(expected()) };
        let point =
            |value| given.within(value).numbers::<3>().filter(|p| p.iter().all(|&x| Rule::Coordinate.allows(x)));
        let vertices: Vec<Vec3> = list.iter().map_while(point).collect();
        if vertices.len() < list.len() {
            return None;
        }
        if let &[a, b] = vertices.as_slice()
            && a != b
            && Rule::Length.allows(radius)
        {
            return Some(ParticleShape::Rod { ends: [a, b], radius, is_round });
        }
        let is_body = is_round && vertices.len() <= MOST && hull::faces(&vertices, FLAT).is_some();
        match is_body {
            true => Some(ParticleShape::Vertices { vertices, rounding: radius }),
            false => given.refuse(
                msg!("a list of {count}", count = vertices.len()),
                msg!("at most {most} points, not all in a plane; or two with a `rounding` or a `radius`", most = MOST),
            ),
        }
    }
    fn text(&self, _: &Key) -> String {
        let points = |all: &[Vec3]| all.iter().map(|p| list_text(p)).collect::<Vec<_>>().join(", ");
        match self {
            ParticleShape::Sphere | ParticleShape::Capsule | ParticleShape::Cylinder => {
                let word = WORDS.iter().find(|(_, shape)| shape == self);
                quoted(word.map_or("", |(name, _)| *name))
            }
            ParticleShape::Rod { ends, radius, is_round } => {
                let key = if *is_round { "rounding" } else { "radius" };
                format!("{{ vertices = [{}], {key} = {} }}", points(ends), number_text(*radius))
            }
            ParticleShape::Solid(solid) => quoted(solid.name()),
            ParticleShape::Vertices { vertices, rounding } => {
                let list = points(vertices);
                match *rounding > 0.0 {
                    true => format!("{{ vertices = [{list}], rounding = {} }}", number_text(*rounding)),
                    false => format!("[{list}]"),
                }
            }
        }
    }
    fn schema(_: &Key) -> serde_json::Value {
        let names: Vec<&str> = words().collect();
        let point = json!({ "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3 });
        let points = json!({ "type": "array", "items": point, "minItems": 2, "maxItems": MOST });
        let round = json!({ "type": "object", "additionalProperties": false, "required": ["vertices"],
            "properties": { "vertices": points, "rounding": { "type": "number", "minimum": 0 },
                "radius": { "type": "number", "minimum": 0 } } });
        json!({ "anyOf": [{ "type": "string", "enum": names }, points, round] })
    }
}
