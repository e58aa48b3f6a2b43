//! The shapes of particles that are not spheres.

use crate::language::{Message, msg};
use crate::math::hull::{FLAT, Face, MOST, corners, faces};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::text::diagnostic::Rule;
use rayon::prelude::*;
use serde_json::Value;

/// A shape around the particle's position, before it is scaled and rotated.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Half of its size along x, y and z.
    Ellipsoid(Vec3),
    /// A convex body.
    Polyhedron(Polyhedron),
    /// Spheres: their middles and radii.
    Union(Vec<(Vec3, f64)>),
    /// A cylinder, or a capsule.
    Rod {
        /// The ends of its axis.
        ends: [Vec3; 2],
        /// Its radius.
        radius: f64,
        /// Whether there are hemispheres around the ends.
        is_round: bool,
    },
}

/// A cone between discs around two points, or a cylinder with flat or round ends, relative to the origin of the devices' coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rod {
    /// The ends of its axis.
    pub ends: [Vec3; 2],
    /// The radii at both ends; of round ones they are equal.
    pub radii: [f64; 2],
    /// Whether there are hemispheres around the ends.
    pub is_round: bool,
    /// The index of its color.
    pub colour: u16,
}

impl Rod {
    /// The length of its axis.
    pub fn length(&self) -> f64 {
        length(sub(self.ends[1], self.ends[0]))
    }
    /// A sphere around it: its middle and radius.
    pub fn ball(&self) -> (Vec3, f64) {
        let [a, b] = self.ends;
        (scale(add(a, b), 0.5), 0.5 * self.length() + self.radii[0].max(self.radii[1]))
    }
}

/// The convex hull of points, perhaps with everything that is nearer to it than a radius.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyhedron {
    /// The points.
    pub vertices: Vec<Vec3>,
    /// The faces of their hull.
    pub(crate) faces: Vec<Face>,
    /// How far its surface is from the hull; 0: it has sharp edges.
    pub rounding: f64,
    /// The corners before edges are rounded: between them lies the whole body.
    pub(crate) outer: Vec<Vec3>,
}

impl Polyhedron {
    /// The hull of at most 128 points.
    ///
    /// # Errors
    /// There are more, they lie in a plane, or a number is too large.
    pub fn new(vertices: Vec<Vec3>, rounding: f64) -> Result<Polyhedron, Message> {
        if vertices.len() > MOST {
            let (count, most) = (vertices.len(), MOST);
            return Err(msg!("a shape has {count} vertices; at most {most} are possible", count, most));
        }
        let is_sound =
            vertices.as_flattened().iter().chain([&rounding]).all(|&x| Rule::Coordinate.allows(x)) && rounding >= 0.0;
        let faces = if is_sound { faces(&vertices, FLAT) } else { None };
        let faces = faces.ok_or_else(|| msg!("the vertices of a shape are no body: all lie in a plane"))?;
        let outer = match rounding > 0.0 {
            true => corners(&faces.iter().map(|face| (face.normal, face.distance + rounding)).collect::<Vec<_>>()),
            false => vertices.clone(),
        };
        Ok(Polyhedron { vertices, faces, rounding, outer })
    }

    /// The distance between a rounded edge's start on a face and the plane of the next face: the mean over all edges.
    pub(crate) fn bevel(&self) -> f64 {
        let cosines = self.neighbors().into_iter().map(|[a, b]| dot(a, b));
        let (count, sum) = cosines.fold((0.0, 0.0), |(count, sum), cosine| (count + 1.0, sum + 1.0 - cosine));
        self.rounding * sum / f64::max(count, 1.0)
    }

    // The normals of faces that share an edge.
    fn neighbors(&self) -> Vec<[Vec3; 2]> {
        let shared = |a: &Face, b: &Face| a.corners.iter().filter(|corner| b.corners.contains(corner)).count() > 1;
        let all = self.faces.iter().enumerate();
        all.flat_map(|(i, a)| self.faces[..i].iter().filter(|b| shared(a, b)).map(|b| [a.normal, b.normal])).collect()
    }
}

impl Shape {
    /// How far its vertices and round corners reach from the particle's position.
    pub(crate) fn reach(&self) -> f64 {
        match self {
            Shape::Ellipsoid(axes) => axes.iter().copied().fold(0.0, f64::max),
            Shape::Polyhedron(p) => farthest(&p.vertices) + p.rounding,
            Shape::Union(balls) => balls.iter().map(|(c, r)| length(*c) + r).fold(0.0, f64::max),
            Shape::Rod { ends, radius, is_round: true } => farthest(ends) + radius,
            Shape::Rod { ends, radius, .. } => {
                let axis = normalise(sub(ends[1], ends[0]));
                let rim = |&end: &Vec3| {
                    let along = dot(end, axis);
                    libm::hypot(along, length(sub(end, scale(axis, along))) + radius)
                };
                ends.iter().map(rim).fold(0.0, f64::max)
            }
        }
    }

    /// The radius of its bounding sphere.
    pub(crate) fn bound(&self) -> f64 {
        match self {
            Shape::Polyhedron(p) => farthest(&p.outer),
            _ => self.reach(),
        }
    }

    /// The radius of a sphere in HOOMD-blue's words.
    pub(crate) fn radius_of_json(text: &str) -> Option<f64> {
        let value: Value = serde_json::from_str(text).ok()?;
        value["diameter"].as_f64().map(|diameter| 0.5 * diameter).filter(|&r| Rule::Length.allows(r))
    }

    /// A shape in HOOMD-blue's words, as GSD files have one for each type of particle; None for a sphere and for what is not drawn.
    pub(crate) fn of_json(text: &str) -> Result<Option<Shape>, Message> {
        let wrong = || msg!("`type_shapes` has the shape {text}", text = crate::quote::brief(text));
        let value: Value = serde_json::from_str(text).map_err(|_| wrong())?;
        let number = |key: &str| value[key].as_f64().filter(|x| x.is_finite());
        let points = || -> Option<Vec<Vec3>> {
            let point = |p: &Value| {
                let [x, y] = [0, 1].map(|axis| p[axis].as_f64());
                Some([x?, y?, p.get(2).map_or(Some(0.0), Value::as_f64)?])
            };
            value[if value["centers"].is_array() { "centers" } else { "vertices" }]
                .as_array()?
                .iter()
                .map(point)
                .collect()
        };
        let rounding = number("rounding_radius").unwrap_or(0.0);
        Ok(Some(match value["type"].as_str() {
            Some("Ellipsoid") => {
                let axes = [number("a"), number("b"), number("c")].map(|x| x.filter(|&x| Rule::Length.allows(x)));
                let [Some(a), Some(b), Some(c)] = axes else { return Err(wrong()) };
                Shape::Ellipsoid([a, b, c])
            }
            Some("ConvexPolyhedron") => match points().ok_or_else(wrong)?.as_slice() {
                &[a, b] if a != b && Rule::Length.allows(rounding) => {
                    Shape::Rod { ends: [a, b], radius: rounding, is_round: true }
                }
                all => Shape::Polyhedron(Polyhedron::new(all.to_vec(), rounding)?),
            },
            // A flat shape is drawn as a plate.
            Some("Polygon") => {
                let flat = points().ok_or_else(wrong)?;
                let half = 0.1 * flat.iter().map(|&p| length(p)).fold(0.0, f64::max);
                let plate = flat.iter().flat_map(|p| [-half, half].map(|z| [p[0], p[1], z])).collect();
                Shape::Polyhedron(Polyhedron::new(plate, rounding)?)
            }
            Some("SphereUnion") => {
                let radii: Option<Vec<f64>> =
                    value["diameters"].as_array().and_then(|all| all.iter().map(|d| Some(0.5 * d.as_f64()?)).collect());
                let (Some(centres), Some(radii)) = (points(), radii) else { return Err(wrong()) };
                if centres.is_empty() || centres.len() != radii.len() || !radii.iter().all(|&r| Rule::Length.allows(r))
                {
                    return Err(wrong());
                }
                Shape::Union(centres.into_iter().zip(radii).collect())
            }
            _ => return Ok(None),
        }))
    }
}

/// The largest distance of these points from the origin.
pub fn farthest(points: &[Vec3]) -> f64 {
    points.iter().map(|&p| length(p)).fold(0.0, f64::max)
}

/// A vector rotated by a unit quaternion: w, x, y, z.
pub fn rotated([w, x, y, z]: [f64; 4], v: Vec3) -> Vec3 {
    let axis = [x, y, z];
    let turn = scale(cross(axis, v), 2.0);
    add(add(v, scale(turn, w)), cross(axis, turn))
}

/// The unit quaternion of these numbers; none turns nothing.
pub fn unit(q: [f64; 4]) -> [f64; 4] {
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 1e-12 && norm.is_finite() { q.map(|x| x / norm) } else { [1.0, 0.0, 0.0, 0.0] }
}

/// A particle that is not a sphere, relative to the origin of the devices' coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapedParticle {
    /// The index of its shape.
    pub shape: u32,
    /// The index of its color.
    pub colour: u16,
    /// The particle's position.
    pub centre: Vec3,
    /// What its shape is multiplied by along x, y and z; equal numbers for all but ellipsoids.
    pub size: Vec3,
    /// A unit quaternion: w, x, y, z.
    pub rotation: [f64; 4],
}

/// Particles that are not spheres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapedParticles {
    /// The different shapes.
    pub shapes: Vec<Shape>,
    /// The particles.
    pub placed: Vec<ShapedParticle>,
    /// Those that are cylinders or capsules, and bonds and arrows.
    pub rods: Vec<Rod>,
}

impl ShapedParticles {
    /// The shape of a particle.
    pub fn shape(&self, placed: &ShapedParticle) -> &Shape {
        &self.shapes[placed.shape as usize]
    }
    /// The bounding sphere of a particle: its middle and radius.
    pub fn ball(&self, placed: &ShapedParticle) -> (Vec3, f64) {
        let largest = placed.size.iter().copied().fold(0.0, f64::max);
        (placed.centre, largest * self.shape(placed).bound())
    }
    /// Spheres around everything: their middles and radii.
    pub fn all_balls(&self) -> impl ParallelIterator<Item = (Vec3, f64)> + '_ {
        self.placed.par_iter().map(|one| self.ball(one)).chain(self.rods.par_iter().map(Rod::ball))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::platonic::Solid;
    use crate::math::vec3::sub;

    #[test]
    fn shapes_of_hoomd_are_read() {
        let cube = r#"{"type": "ConvexPolyhedron", "rounding_radius": 0.1,
            "vertices": [[-1,-1,-1],[1,-1,-1],[-1,1,-1],[1,1,-1],[-1,-1,1],[1,-1,1],[-1,1,1],[1,1,1.000001]]}"#;
        let Ok(Some(Shape::Polyhedron(cube))) = Shape::of_json(cube) else { panic!() };
        // The radius of the edges is exact where faces meet at right angles.
        assert_eq!((cube.faces.len(), cube.neighbors().len()), (6, 12));
        assert!((cube.bevel() - 0.1).abs() < 1e-6);
        assert_eq!(
            Shape::of_json(r#"{"type": "Ellipsoid", "a": 1, "b": 2, "c": 0.5}"#),
            Ok(Some(Shape::Ellipsoid([1.0, 2.0, 0.5])))
        );
        let plate = Shape::of_json(r#"{"type": "Polygon", "vertices": [[-1,0],[1,0],[0,1]]}"#).unwrap().unwrap();
        assert!(matches!(plate, Shape::Polyhedron(p) if p.faces.len() == 5));
        let union = r#"{"type": "SphereUnion", "centers": [[0,0,1],[0,0,-1]], "diameters": [1, 1]}"#;
        assert_eq!(Shape::of_json(union).unwrap().unwrap().reach(), 1.5);
        let capsule = r#"{"type": "ConvexPolyhedron", "rounding_radius": 0.5, "vertices": [[0,0,1],[0,0,-1]]}"#;
        let rod = |is_round| Shape::Rod { ends: [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], radius: 0.5, is_round };
        assert_eq!(Shape::of_json(capsule), Ok(Some(rod(true))));
        assert_eq!([rod(true).reach(), rod(false).reach()], [1.5, 1.25f64.sqrt()]);
        assert_eq!(Shape::of_json("{}"), Ok(None));
        assert_eq!(Shape::of_json(r#"{"type": "Sphere", "diameter": 2}"#), Ok(None));
        for bad in
            ["", "{", r#"{"type": "Ellipsoid", "a": 1}"#, r#"{"type": "ConvexPolyhedron", "vertices": [[0,0,0]]}"#]
        {
            assert!(Shape::of_json(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn quaternions_rotate() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let turned = rotated(unit([2.0 * half, 0.0, 0.0, 2.0 * half]), [1.0, 0.0, 3.0]);
        assert!(length(sub(turned, [0.0, 1.0, 3.0])) < 1e-12);
        assert_eq!(unit([0.0; 4]), [1.0, 0.0, 0.0, 0.0]);
        let solid = Polyhedron::new(Solid::Icosahedron.vertices(), 0.0).unwrap();
        assert_eq!((solid.faces.len(), solid.bevel()), (20, 0.0));
    }
}
