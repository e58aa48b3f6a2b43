//! Beams of light through pairs of flat faces, straight or by way of a third one that mirrors within the body: which faces a light
//! can shine through, where its light leaves the body, and in which directions. Kernels try no other faces, and none at surfaces
//! that its beam does not meet (shading/caustics.cuh).
//!
//! A light is a ball around its position, and a face lies in a circle, so directions from the light to the face fill a cone.
//! Refraction at a plane divides the part of a direction along the plane by the index of refraction, and multiplies it where the
//! light leaves. All bounds are those of balls around the cone's axis, so a beam may be too wide, but never too narrow.

use super::geometry::Geometry;
use crate::gpu_types::{Beam, Body as GpuBody, Light, Material, Slab};
use crate::math::vec3::{Vec3, add, cross, dot, length, scale, sub, to_f32};
use crate::scene::{Body, Scene};
use rayon::prelude::*;

/// The beams of all bodies and lights, and the index of the first one of body k and light i at k * lights + i, then their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beams {
    pub beams: Vec<Beam>,
    pub first: Vec<i32>,
}

// Terms of Cauchy's formula at the ends of the spectrum (wavelength_of in shading/surface.cuh).
const TERMS: [f64; 2] = [-0.74, 2.78];
// What kernels may be off: points in circumradii, and directions.
const MARGIN: f64 = 4e-3;

impl Beams {
    /// The beams of a scene with caustics.
    pub fn new(scene: &Scene, geometry: &Geometry, lights: &[Light]) -> Beams {
        let bodies = scene.world.bodies.par_iter().zip(&geometry.bodies);
        let of_body = |(body, gpu): (&Body, &GpuBody)| {
            let material = &geometry.materials[gpu.material as usize];
            let glass = Glass::of(body, gpu, material, &geometry.slabs);
            lights.iter().map(|light| glass.as_ref().map_or_else(Vec::new, |g| g.beams(light))).collect::<Vec<_>>()
        };
        let each: Vec<Vec<Vec<Beam>>> = bodies.map(of_body).collect();
        let mut all = Beams::default();
        for beams in each.into_iter().flatten() {
            all.first.push(all.beams.len() as i32);
            all.beams.extend(beams);
        }
        // Bodies of particles have none.
        all.first.resize(geometry.bodies.len() * lights.len() + 1, all.beams.len() as i32);
        all
    }
}

// A face of a body, in circumradii and relative to its center.
struct Face {
    index: i32,
    normal: Vec3,
    offset: f64,
    corners: Vec<Vec3>,
    middle: Vec3,
    radius: f64,
}

// A body that bends light.
struct Glass<'a> {
    body: &'a Body,
    faces: Vec<Face>,
    // The range of its indices of refraction, and their middle.
    ior: [f64; 2],
    middle: f64,
}

// A ball of directions, or of parts of directions.
#[derive(Clone, Copy)]
struct Ball {
    centre: Vec3,
    radius: f64,
}

impl Glass<'_> {
    fn of<'a>(body: &'a Body, gpu: &GpuBody, material: &Material, slabs: &[Slab]) -> Option<Glass<'a>> {
        // As is_refracting in shading/caustics.cuh.
        let bends = (material.ior != 1.0 || material.stops_shadow_rays != 0) && material.transparency > 0.0;
        if !bends {
            return None;
        }
        let corners: Vec<Vec3> = body.vertices().into_iter().map(|v| scale(v, 1.0 / body.radius)).collect();
        let own = &slabs[gpu.first_slab as usize..][..gpu.slabs as usize];
        let sides = own.iter().zip(0..).flat_map(|(slab, i)| {
            let n = slab.n.map(f64::from);
            let upper = (2 * i, n, f64::from(slab.hi));
            let lower = (2 * i + 1, scale(n, -1.0), -f64::from(slab.lo));
            [Some(upper), (slab.lo > -1.0e29).then_some(lower)].into_iter().flatten()
        });
        let faces = sides.map(|(index, normal, offset)| Face::of(index, normal, offset / body.radius, &corners));
        let (index, dispersion) = (f64::from(material.ior), f64::from(material.dispersion));
        let [low, high] = TERMS.map(|term| index + dispersion * term);
        let ior = [low.max(0.01), high.max(0.01)];
        Some(Glass { body, faces: faces.collect(), ior, middle: 0.5 * (ior[0] + ior[1]) })
    }

    // The beams of a light, in the order in which kernels add them up: by the face where the light leaves.
    fn beams(&self, light: &Light) -> Vec<Beam> {
        let position = light.position.map(f64::from);
        let from = scale(sub(position, self.body.centre), 1.0 / self.body.radius);
        let ball =
            Ball { centre: from, radius: f64::from(light.radius) * 1.0001 / self.body.radius + 1e-6 * length(from) };
        let entries = self.faces.iter().map(|face| self.within(ball, face)).collect::<Vec<_>>();
        let mut beams = Vec::new();
        for near in &self.faces {
            for (far, inside) in self.faces.iter().zip(&entries).filter_map(|(far, inside)| Some((far, (*inside)?))) {
                if near.index != far.index {
                    beams.extend(self.beam(near, far, inside));
                }
                let mirrors = self.faces.iter().filter(|m| m.index != near.index && m.index != far.index);
                beams.extend(mirrors.filter_map(|mirror| self.mirrored_beam(near, far, mirror, inside)));
            }
        }
        beams
    }

    // The directions of a light within the body behind the face; None if it does not shine on the face.
    fn within(&self, light: Ball, face: &Face) -> Option<Ball> {
        (dot(face.normal, light.centre) + light.radius - face.offset > 0.0).then_some(())?;
        let way = sub(face.middle, light.centre);
        let (far, reach) = (length(way), face.radius + light.radius);
        let axis = scale(way, 1.0 / far.max(1e-9));
        // The chord of the cone's half angle.
        let spread = if reach < far { 2.0 * libm::sin(0.5 * libm::asin(reach / far)) } else { 2.0 };
        let [low, high] = self.ior;
        let along = sub(axis, scale(face.normal, dot(axis, face.normal)));
        let bent = scale(along, 1.0 / self.middle);
        let uncertain = length(along) * (1.0 / low - 1.0 / high);
        let radius = spread / low + uncertain + MARGIN;
        // The part along the normal is sqrt(1 - x^2), which is as steep as its steepest value of x.
        let square = dot(bent, bent).min(0.9999);
        let steepest = (length(bent) + radius).min(1.0 / low).min(0.9999);
        let slope = steepest / (1.0 - steepest * steepest).sqrt();
        let centre = sub(bent, scale(face.normal, (1.0 - square).sqrt()));
        Some(Ball { centre, radius: (radius * (1.0 + slope * slope).sqrt()).min(2.0) })
    }

    // What leaves by the face `near` of the light that has come in by the face `far` and is mirrored by a third one: the light of images.
    fn mirrored_beam(&self, near: &Face, far: &Face, mirror: &Face, inside: Ball) -> Option<Beam> {
        (dot(mirror.normal, inside.centre) + inside.radius > 0.0).then_some(())?;
        mirror.lit(far, inside)?;
        let turned = |v: Vec3| sub(v, scale(mirror.normal, 2.0 * dot(mirror.normal, v)));
        let image = |p: Vec3| add(turned(p), scale(mirror.normal, 2.0 * mirror.offset));
        let inside = Ball { centre: turned(inside.centre), ..inside };
        let normal = turned(far.normal);
        let image = Face {
            index: far.index,
            normal,
            offset: dot(normal, image(far.middle)),
            corners: far.corners.iter().map(|&p| image(p)).collect(),
            middle: image(far.middle),
            radius: far.radius,
        };
        near.lit(mirror, inside)?;
        let beam = self.beam(near, &image, inside)?;
        Some(Beam { mirror: mirror.index, ..beam })
    }

    // What leaves by the face `near` of the light that has come in by the face `far`; None if nothing does.
    fn beam(&self, near: &Face, far: &Face, inside: Ball) -> Option<Beam> {
        let [low, high] = self.ior;
        // Within the body the light is within the critical angle of both normals.
        (dot(near.normal, far.normal) < 2.0 / (low * low) - 1.0 + MARGIN).then_some(())?;
        let cosine = dot(near.normal, inside.centre);
        (cosine + inside.radius > 0.0).then_some(())?;
        let along = sub(inside.centre, scale(near.normal, cosine));
        let leans = Ball {
            centre: scale(along, self.middle),
            radius: high * inside.radius + (high - low) * length(along) + MARGIN,
        };
        // Beyond that, all is reflected.
        (length(leans.centre) - leans.radius < 1.0).then_some(())?;
        let patch = near.lit(far, inside)?;
        Some(Beam {
            near: near.index,
            far: far.index,
            patch: to_f32(patch.centre),
            patch_radius: (patch.radius + MARGIN) as f32,
            lean: to_f32(leans.centre),
            lean_radius: leans.radius as f32,
            mirror: -1,
            ..Beam::default()
        })
    }
}

impl Face {
    fn of(index: i32, normal: Vec3, offset: f64, all: &[Vec3]) -> Face {
        let own = all.iter().copied().filter(|&p| (dot(p, normal) - offset).abs() < 1e-4);
        let mut corners: Vec<Vec3> = own.collect();
        let middle = scale(normal, offset);
        // Around the normal.
        let right = corners.first().map_or([0.0; 3], |&p| sub(p, middle));
        let down = cross(normal, right);
        let turn = |p: &Vec3| libm::atan2(dot(sub(*p, middle), down), dot(sub(*p, middle), right));
        corners.sort_by(|a, b| turn(a).total_cmp(&turn(b)));
        Face { index, normal, offset, corners, middle, radius: (1.0 - offset * offset).max(0.0).sqrt() }
    }

    // A circle around the part of this face where light can be that has come in by another face.
    fn lit(&self, other: &Face, inside: Ball) -> Option<Ball> {
        let whole = Ball { centre: self.middle, radius: self.radius };
        let cosine = dot(self.normal, inside.centre);
        let slowest = cosine - inside.radius;
        if slowest < 0.05 {
            return Some(whole);
        }
        // The other face's corners along the middle direction, and how far the others get from there.
        let depth = |p: &Vec3| self.offset - dot(self.normal, *p);
        let shadow: Vec<Vec3> =
            other.corners.iter().map(|p| add(*p, scale(inside.centre, depth(p) / cosine))).collect();
        let deepest = other.corners.iter().map(depth).fold(0.0, f64::max);
        let margin = deepest / slowest * inside.radius / cosine + MARGIN;
        let mut part = self.corners.clone();
        let middle = mean(&shadow);
        for (i, &p) in shadow.iter().enumerate() {
            let edge = sub(shadow[(i + 1) % shadow.len()], p);
            let across = cross(self.normal, edge);
            let size = length(across);
            if size < 1e-6 {
                return Some(whole);
            }
            let inwards = scale(across, dot(across, sub(middle, p)).signum() / size);
            part = clipped(&part, inwards, dot(inwards, p) - margin);
        }
        if part.is_empty() {
            return None;
        }
        let centre = mean(&part);
        let radius = part.iter().map(|&p| length(sub(p, centre))).fold(0.0, f64::max);
        Some(Ball { centre, radius })
    }
}

fn mean(points: &[Vec3]) -> Vec3 {
    scale(points.iter().fold([0.0; 3], |sum, &p| add(sum, p)), 1.0 / points.len().max(1) as f64)
}

// The part of a polygon where n.p is at least `from` (Sutherland and Hodgman, "Reentrant polygon clipping", 1974).
fn clipped(polygon: &[Vec3], n: Vec3, from: f64) -> Vec<Vec3> {
    let above = |p: Vec3| dot(n, p) - from;
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (i, &p) in polygon.iter().enumerate() {
        let next = polygon[(i + 1) % polygon.len()];
        let (a, b) = (above(p), above(next));
        if a >= 0.0 {
            kept.push(p);
        }
        if (a < 0.0) != (b < 0.0) {
            kept.push(add(p, scale(sub(next, p), a / (a - b))));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::Assets;
    use crate::math::vec3::normalise;
    use crate::tests::common::Draws;

    // A unit direction after a plane whose normal points along it; `ratio` of the indices before and behind.
    fn refracted(d: Vec3, n: Vec3, ratio: f64) -> Option<Vec3> {
        let along = scale(sub(d, scale(n, dot(d, n))), ratio);
        let square = 1.0 - dot(along, along);
        (square > 0.0).then(|| add(along, scale(n, square.sqrt())))
    }

    // As meets_beam in shading/caustics.cuh.
    fn meets(beam: &Beam, n: Vec3, p: Vec3) -> bool {
        let way = sub(p, beam.patch.map(f64::from));
        let (height, distance, patch) = (dot(n, way), length(way), f64::from(beam.patch_radius));
        let lean = scale(sub(way, scale(n, height)), 1.0 / distance);
        let spread = f64::from(beam.lean_radius) + patch / (distance - patch).max(height).max(1e-4);
        length(sub(lean, beam.lean.map(f64::from))) < spread
    }

    // Light that is traced forward, from any point of a light through any two faces, is within their beam; so is what a third face mirrors.
    #[test]
    fn beams_hold_all_light_that_passes() {
        let mut draws = Draws(7);
        let (mut passed, mut tried, mut dropped) = (0, 0, 0);
        for (i, solid) in
            ["tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"].iter().cycle().take(60).enumerate()
        {
            let ior = [1.0001, 1.33, 1.5, 1.7, 2.4, 0.8][i % 6];
            let glass = if i % 2 == 0 { "abbe = 20\n" } else { "" };
            let text = format!(
                "[render]\ncaustics = true\n[[body]]\nsolid = \"{solid}\"\ncenter = [1, 2, 3]\nradius = 0.7\nmaterial = \"glass\"\n\
                 ior = {ior}\n{glass}angle_deg = {}\naxis = [0.3, 0.2, 1]\nbar = 0\n",
                17 * i
            );
            let scene = Scene::parse(&text, "beams", std::path::Path::new("")).unwrap().scene;
            let geometry = Geometry::new(&scene, &Assets::default(), 0, &None);
            let body = &scene.world.bodies[0];
            let mut any = || [0; 3].map(|_| 2.0 * f64::from(draws.next()) - 1.0);
            let position = to_f32(add(body.centre, scale(normalise(any()), [0.9, 1.5, 8.0][i % 3])));
            let light = Light { position, radius: [0.0, 0.05, 0.4][i / 3 % 3], samples: 1, ..Light::default() };
            let all = Beams::new(&scene, &geometry, &[light]);
            let material = &geometry.materials[geometry.bodies[0].material as usize];
            let glass = Glass::of(body, &geometry.bodies[0], material, &geometry.slabs).unwrap();
            let straight = all.beams.iter().filter(|beam| beam.mirror < 0).count();
            dropped += glass.faces.len() * (glass.faces.len() - 1) - straight;
            tried += glass.faces.len() * (glass.faces.len() - 1);
            for _ in 0..4000 {
                let from = scale(
                    sub(add(light.position.map(f64::from), scale(any(), 0.577 * f64::from(light.radius))), body.centre),
                    1.0 / 0.7,
                );
                let d = normalise(sub(scale(any(), 1.0), from));
                // The face where the light comes in is the last plane of those in front of it.
                let planes = |o: Vec3, d: Vec3, sign: f64| {
                    let ahead = glass.faces.iter().filter(move |f| sign * dot(f.normal, d) > 0.0);
                    ahead.map(move |f| ((f.offset - dot(f.normal, o)) / dot(f.normal, d), f))
                };
                let Some((enter, far)) = planes(from, d, -1.0).max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
                let leave = planes(from, d, 1.0).map(|x| x.0).fold(f64::MAX, f64::min);
                if enter <= 0.0 || enter >= leave {
                    continue;
                }
                let term = TERMS[0] + (TERMS[1] - TERMS[0]) * (0.01 + 0.98 * (0.5 + 0.5 * any()[0]));
                let index = f64::from(material.ior) + f64::from(material.dispersion) * term;
                let b = add(from, scale(d, enter));
                let Some(inside) = refracted(d, scale(far.normal, -1.0), 1.0 / index) else { continue };
                let Some((length, near)) = planes(b, inside, 1.0).min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
                let a = add(b, scale(inside, length));
                let mut leaves = |mirror: i32, near: &Face, a: Vec3, inside: Vec3| {
                    let Some(out) = refracted(inside, near.normal, index) else { return };
                    let faces = (near.index, far.index, mirror);
                    let beam = all.beams.iter().find(|beam| (beam.near, beam.far, beam.mirror) == faces);
                    let beam = beam.unwrap_or_else(|| panic!("{solid} {ior} {i}: no beam {faces:?}"));
                    for t in [1e-3, 0.1, 1.0, 10.0] {
                        assert!(meets(beam, near.normal, add(a, scale(out, t))), "{solid} {ior} {i} {t}: {beam:?}");
                    }
                    passed += 1;
                };
                leaves(-1, near, a, inside);
                let turned = sub(inside, scale(near.normal, 2.0 * dot(near.normal, inside)));
                let others = planes(a, turned, 1.0).filter(|(_, face)| face.index != near.index);
                if let Some((length, last)) = others.min_by(|a, b| a.0.total_cmp(&b.0)) {
                    leaves(near.index, last, add(a, scale(turned, length)), turned);
                }
            }
        }
        assert!(passed > 10_000, "{passed}");
        assert!(2 * dropped > tried, "{dropped} of {tried} pairs have no beam");
    }
}
