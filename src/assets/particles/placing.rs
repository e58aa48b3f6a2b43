//! Which shape each particle has, how large it is, and how it is rotated.

use super::shape::{Polyhedron, Rod, Shape, ShapedParticle, ShapedParticles, farthest, rotated, unit};
use super::step::Step;
use crate::gpu_types::Sphere;
use crate::language::Message;
use crate::math::vec3::{Vec3, add, scale, sub, to_f32};
use crate::scene::text::diagnostic::Rule;
use crate::scene::{ParticleShape, Particles};
use rayon::prelude::*;

/// Names of the four parts of a quaternion, the real part first.
const ROTATIONS: [[&str; 4]; 7] = [
    ["orientation.0", "orientation.1", "orientation.2", "orientation.3"],
    ["quatw", "quati", "quatj", "quatk"],
    ["c_orient[1]", "c_orient[2]", "c_orient[3]", "c_orient[4]"],
    ["c_quat[1]", "c_quat[2]", "c_quat[3]", "c_quat[4]"],
    ["c_q[1]", "c_q[2]", "c_q[3]", "c_q[4]"],
    ["quat.0", "quat.1", "quat.2", "quat.3"],
    ["qw", "qx", "qy", "qz"],
];
/// Names of the diameters of ellipsoids.
const DIAMETERS: [[&str; 3]; 3] =
    [["shapex", "shapey", "shapez"], ["c_shape[1]", "c_shape[2]", "c_shape[3]"], ["shape.x", "shape.y", "shape.z"]];

/// The names of columns that shapes need.
pub fn columns() -> impl Iterator<Item = &'static str> {
    ROTATIONS.as_flattened().iter().chain(DIAMETERS.as_flattened()).copied()
}

// The diameters of ellipsoids, if there are any.
fn diameters(step: &Step) -> Option<[&[f64]; 3]> {
    DIAMETERS.iter().find_map(|[x, y, z]| Some([step.column(&[x])?, step.column(&[y])?, step.column(&[z])?]))
}
fn semi_axes(diameters: &[&[f64]; 3], i: usize) -> Option<Vec3> {
    let axes = diameters.map(|axis| 0.5 * axis[i]);
    axes.iter().all(|&x| Rule::Length.allows(x)).then_some(axes)
}
fn largest(v: Vec3) -> f64 {
    v.into_iter().fold(0.0, f64::max)
}

// The shape that the scene gives to all particles, which may be known from another frame.
fn given(particles: &Particles, known: Option<&Shape>) -> Result<Option<Shape>, Message> {
    Ok(Some(match &particles.shape {
        Some(ParticleShape::Sphere) | None => return Ok(None),
        Some(_) if let Some(known) = known => known.clone(),
        Some(ParticleShape::Solid(solid)) => Shape::Polyhedron(Polyhedron::new(solid.vertices(), 0.0)?),
        Some(ParticleShape::Vertices { vertices, rounding }) => {
            Shape::Polyhedron(Polyhedron::new(vertices.clone(), *rounding)?)
        }
        // Twice as long as they are wide.
        Some(ParticleShape::Capsule) => {
            Shape::Rod { ends: [[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]], radius: 0.5, is_round: true }
        }
        Some(ParticleShape::Cylinder) => {
            Shape::Rod { ends: [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]], radius: 0.5, is_round: false }
        }
        &Some(ParticleShape::Rod { ends, radius, is_round }) => Shape::Rod { ends, radius, is_round },
    }))
}

/// The radii of the bounding spheres of shapes whose size the scene or the file gives; None where particles have radii.
pub fn radii(particles: &Particles, step: &Step) -> Option<Vec<f64>> {
    match particles.shape {
        Some(ParticleShape::Vertices { ref vertices, rounding }) => {
            return Some(vec![farthest(vertices) + rounding; step.count()]);
        }
        Some(ParticleShape::Rod { ends, radius, is_round }) => {
            return Some(vec![Shape::Rod { ends, radius, is_round }.reach(); step.count()]);
        }
        _ => {}
    }
    let diameters = diameters(step).filter(|_| step.radii.is_empty());
    let radius = |axes: &[&[f64]; 3], i: usize| semi_axes(axes, i).map_or(0.5, largest);
    diameters.map(|axes| (0..step.count()).map(|i| radius(&axes, i)).collect())
}

/// Spheres with the indices of their colors, and what has other shapes.
pub type Parted = (Vec<Sphere>, Vec<u16>, ShapedParticles);

/// The quaternions of particles, by their names and parts; None if the file has none.
pub fn rotations(step: &Step) -> Option<[(&'static str, &[f64]); 4]> {
    ROTATIONS.iter().find_map(|&[w, x, y, z]| {
        let part = |name| Some((name, step.column(&[name])?));
        Some([part(w)?, part(x)?, part(y)?, part(z)?])
    })
}

/// The shapes of a step's particles.
pub struct Forms<'a> {
    /// The different shapes. The first one is that of all, or the unit ball of ellipsoids; then come those of types.
    pub shapes: Vec<Shape>,
    is_given: bool,
    of_type: Vec<Option<u32>>,
    types: Option<&'a [f64]>,
    axes: Option<[&'a [f64]; 3]>,
    radii: &'a [f64],
}

impl<'a> Forms<'a> {
    /// None if all particles are spheres. The scene's shape may be known already.
    pub fn of(particles: &Particles, step: &'a Step, known: Option<&Shape>) -> Result<Option<Forms<'a>>, Message> {
        let given = given(particles, known)?;
        let by_file = particles.shape.is_none();
        let axes = diameters(step).filter(|_| by_file);
        let types = step.column(&["type"]).filter(|_| by_file && !step.shapes.is_empty());
        let is_given = given.is_some();
        if !is_given && types.is_none() && axes.is_none() {
            return Ok(None);
        }
        let mut shapes = vec![given.unwrap_or(Shape::Ellipsoid([1.0; 3]))];
        let of_type = step
            .shapes
            .iter()
            .map(|shape| {
                shapes.extend(shape.clone());
                shape.is_some().then_some(shapes.len() as u32 - 1)
            })
            .collect();
        Ok(Some(Forms { shapes, is_given, of_type, types, axes, radii: &step.radii }))
    }

    /// The index of a particle's shape, and its size; None of a sphere.
    pub fn form(&self, i: usize) -> Option<(u32, Vec3)> {
        let even = |shape: u32| (shape, [self.radii[i] / self.shapes[shape as usize].reach(); 3]);
        match (self.is_given, self.types, &self.axes) {
            (true, ..) => Some(even(0)),
            (_, Some(types), _) => self.of_type.get(types[i] as usize).copied().flatten().map(even),
            (_, _, Some(axes)) => {
                let axes = semi_axes(axes, i).filter(|axes| axes.iter().any(|x| x != &axes[0]))?;
                Some((0, scale(axes, self.radii[i] / largest(axes))))
            }
            _ => None,
        }
    }
}

/// Parts the particles of a step by their shapes, of which the scene's may be known already; None if all are spheres.
pub fn parted(
    particles: &Particles,
    step: &Step,
    rotations: Option<&[Vec<f64>]>,
    origin: Vec3,
    colours: &[u16],
    known: Option<&Shape>,
) -> Result<Option<Parted>, Message> {
    let Some(forms) = Forms::of(particles, step, known)? else { return Ok(None) };
    let rotation = |i: usize| match rotations {
        Some([w, x, y, z]) => unit([w[i], x[i], y[i], z[i]]),
        _ => [1.0, 0.0, 0.0, 0.0],
    };
    let place = |i: usize| {
        let (shape, size) = forms.form(i)?;
        Some(ShapedParticle {
            shape,
            colour: colours[i],
            centre: sub(step.positions[i], origin),
            size,
            rotation: rotation(i),
        })
    };
    let all: Vec<Option<ShapedParticle>> = (0..step.positions.len()).into_par_iter().map(place).collect();
    let (mut spheres, mut indices, mut placed, mut rods) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut ball = |centre: Vec3, radius: f64, colour: u16| {
        spheres.push(Sphere { centre: to_f32(centre), radius: radius as f32 });
        indices.push(colour);
    };
    for (i, one) in all.into_iter().enumerate() {
        match one {
            None => ball(sub(step.positions[i], origin), step.radii[i], colours[i]),
            Some(one) => match &forms.shapes[one.shape as usize] {
                Shape::Union(balls) => balls.iter().for_each(|(centre, radius)| {
                    let size = one.size[0];
                    ball(add(one.centre, scale(rotated(one.rotation, *centre), size)), radius * size, one.colour);
                }),
                &Shape::Rod { ends, radius, is_round } => rods.push(Rod {
                    ends: ends.map(|end| add(one.centre, scale(rotated(one.rotation, end), one.size[0]))),
                    radii: [radius * one.size[0]; 2],
                    is_round,
                    colour: one.colour,
                }),
                _ => placed.push(one),
            },
        }
    }
    Ok(Some((spheres, indices, ShapedParticles { shapes: forms.shapes, placed, rods })))
}
