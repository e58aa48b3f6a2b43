//! Point lights, and the lamps of bodies as disc lights.

use super::beams::Beams;
use super::geometry::Geometry;
use super::shapes::polyhedron::{lamp_light, lamp_radius, slabs_of_faces};
use super::upload::ArrayUploader;
use crate::assets::Assets;
use crate::gpu_types::{
    AirLight, FEATURE_AREA_LIGHTS, FEATURE_ARRAYS, FEATURE_LIGHTS, FeatureSet, Light as GpuLight, SMALL_LIGHTS,
    Scene as GpuScene,
};
use crate::math::srgb::{linear, linear_colour};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub, to_f32};
use crate::scene::{Body, LampShape, LampSides, Light, Material, MaterialKind, Scene};

/// The lights that kernels ask one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Lights {
    pub points: Vec<GpuLight>,
    // Those whose light the air scatters.
    air: Vec<AirLight>,
    // Their ways through bodies that bend light; empty without caustics.
    beams: Beams,
}

impl Lights {
    /// `air`: those whose light the air scatters.
    pub fn new(scene: &Scene, assets: &Assets, geometry: &Geometry, air: Vec<AirLight>) -> Lights {
        let points = points(scene, assets, geometry.reach);
        let beams = if scene.render.caustics { Beams::new(scene, geometry, &points) } else { Beams::default() };
        Lights { points, air, beams }
    }

    /// `scene` with these arrays, uploaded by `to`.
    pub fn place<P: ArrayUploader>(&self, to: &mut P, scene: &GpuScene) -> Result<GpuScene, P::Error> {
        Ok(GpuScene {
            lights: to.push(&self.points)?,
            air_lights: to.push(&self.air)?,
            beams: to.push(&self.beams.beams)?,
            first_beams: to.push(&self.beams.first)?,
            ..*scene
        })
    }
}

// The scene's point lights, and the sun. `reach` bounds its coordinates.
fn points(scene: &Scene, assets: &Assets, reach: f32) -> Vec<GpuLight> {
    let samples = scene.render.integrator.own(scene.render.light_samples, 1) as i32;
    let light = |l: &Light| GpuLight {
        position: to_f32(clamp_to_radius(l.position, f64::from(reach))),
        colour: linear_colour(l.colour),
        radius: l.radius as f32,
        samples,
    };
    let sun = super::sky::sunlight(super::sky::map(scene, assets), reach, samples);
    scene.world.lights.iter().map(light).chain(sun).collect()
}

/// The features that lights need from kernels, as bits of Constants::features.
pub fn features(lights: &[Light]) -> FeatureSet {
    (FeatureSet::from(!lights.is_empty()) * FEATURE_LIGHTS)
        | (FeatureSet::from(lights.iter().any(|l| l.radius > 0.0)) * FEATURE_AREA_LIGHTS)
        | (FeatureSet::from(lights.len() > SMALL_LIGHTS as usize) * FEATURE_ARRAYS)
}

// Moves a light beyond that distance to it, in the same direction. Single precision does not tell the difference, and shadow rays
// stay exact.
fn clamp_to_radius(position: Vec3, reach: f64) -> Vec3 {
    let (limit, far) = (super::sky::FARTHEST_LIGHT * reach, length(position));
    if reach > 0.0 && far > limit { scale(position, limit / far) } else { position }
}

/// The minimum weight of a ray, and the minimum light of a lamp or light. The scene's `cutoff` applies to light as
/// the film shows it, so an exposure that brightens lowers both. If all emitters are dimmer than white, a ray carries
/// less light than its weight, which raises the first minimum. So light that is dimmed by stops and restored by
/// exposure gives the same picture with the same rays. No emitter counts as brighter than white, and no film as
/// darker than the default.
pub fn cutoffs(scene: &Scene, assets: &Assets, stops: f64) -> [f64; 2] {
    let gain = libm::exp2(stops).max(1.0);
    let cutoff = scene.render.cutoff;
    [cutoff / (gain * brightest(scene, assets)).max(1.0), 0.5 * cutoff / gain]
}

/// The stops that bring the brightest emitter to white; 0 if it is brighter.
pub fn stops_to_white(scene: &Scene, assets: &Assets) -> f64 {
    -libm::log2(brightest(scene, assets).max(1e-6))
}

// The linear light of the brightest emitter, at most 1.
fn brightest(scene: &Scene, assets: &Assets) -> f64 {
    let world = &scene.world;
    let top = |c: Vec3| c.into_iter().fold(0.0, f64::max);
    let encoded = |c: Vec3| top(c.map(linear));
    let lights = world.lights.iter().map(|light| encoded(light.colour));
    let lamps = world.bodies.iter().filter(|b| b.has_lamps()).map(|b| top(lamp_light(b)));
    let glow = |m: &Material| match m.kind {
        MaterialKind::Light { strength } => encoded(m.colour) * strength,
        _ => 0.0,
    };
    let gradient = || super::sky::gradient(scene).into_iter().flatten().map(f64::from).fold(0.0, f64::max);
    let sky = super::sky::map(scene, assets).map_or_else(gradient, |map| f64::from(map.brightest()));
    let fog = if world.air.is_foggy() { encoded(world.air.colour) } else { 0.0 };
    let all = lights.chain(lamps).chain(world.materials().map(glow)).chain([sky, fog, encoded(world.ambient)]);
    all.fold(0.0, f64::max).min(1.0)
}

/// A lamp of a body: a small disc light.
pub struct Lamp {
    /// The center, slightly above the face.
    pub position: [f32; 3],
    /// The direction in which the lamp shines.
    pub normal: [f32; 3],
    /// The intensity: linear light at a distance, by channel.
    pub strength: [f32; 3],
    /// The radius of a disc with the same area.
    pub radius: f32,
    /// The index along the edge.
    pub index: u32,
}

// Rows of very many lamps are replaced by fewer, brighter ones.
fn lights_a_row(body: &Body) -> u32 {
    if body.lamps.is_strip() { 16 } else { body.lamps.count().min(16) }
}

/// The maximum number of lights that stand for the bodies' lamps.
pub fn most_lamps(scene: &Scene) -> usize {
    let rows = |body: &Body| 2 * body.solid.edges().len() * if body.lamp_sides == LampSides::Both { 2 } else { 1 };
    scene.world.bodies.iter().filter(|b| b.has_lamps()).map(|b| rows(b) * lights_a_row(b) as usize).sum()
}

// How bright a chase shows the lamps at each point of an edge, as lamp_seen in kernels/shading/bars.cuh: the mean over those that
// a point stands for.
fn chased(body: &Body, taken: u32) -> Vec<f64> {
    let Some(phase) = body.lamp_pattern.chase() else { return vec![1.0; taken as usize] };
    const PARTS: u32 = 16;
    let shown = |along: f64| {
        let cells = match body.lamps.is_strip() {
            true => 4.0 * along,
            false => 0.25 * libm::floor(along * f64::from(body.lamps.count())),
        };
        let head = (cells - phase).rem_euclid(1.0);
        0.05 + 0.95 * head * head
    };
    let part = |index: u32, i: u32| (f64::from(index) + (f64::from(i) + 0.5) / f64::from(PARTS)) / f64::from(taken);
    let mean = |index| (0..PARTS).map(|i| shown(part(index, i))).sum::<f64>() / f64::from(PARTS);
    (0..taken).map(mean).collect()
}

// The lamps of a scene, by edges. Each edge has lamps on both of its faces. Bars are opaque, so a body that is lit inside
// has each lamp twice, outside and inside.
pub fn lamps_of(scene: &Scene, inside: impl Fn(usize) -> bool) -> Vec<Vec<Lamp>> {
    let mut edges = Vec::new();
    for (k, body) in scene.world.bodies.iter().enumerate().filter(|(_, b)| b.has_lamps()) {
        let sides: &[f64] = match body.lamp_sides {
            LampSides::Both if inside(k) => &[1.0, -1.0],
            LampSides::Both | LampSides::Outside => &[1.0],
            LampSides::Inside => &[-1.0],
        };
        let taken = lights_a_row(body);
        let radius = lamp_radius(body);
        let colour = lamp_light(body);
        let top = colour.iter().copied().fold(0.0, f64::max);
        let core = |c: f64| body.lamp_core * top + (1.0 - body.lamp_core) * c;
        // The mean over the disc of lamp_light in kernels/shading/bars.cuh.
        let discs = |c: f64| (1.9 * c + 1.6 / 3.0 * core(c)) * radius * radius * f64::from(body.lamps.count());
        // The mean over a strip's width and along the edge. Neither includes the pi of a disc.
        let along = 2.0 * radius * body.solid.edge_length() * body.radius / std::f64::consts::PI;
        let strip = |c: f64| ((1.2 + 1.4 * 2.0 / 3.0) * c + 1.6 * 8.0 / 15.0 * core(c)) * along;
        let strength = colour.map(|c| (if body.lamps.is_strip() { strip(c) } else { discs(c) }) / f64::from(taken));
        // Discs shine on the side of their face alone. Domes are seen from all sides but those that both faces hide, or
        // from within: the more from outside, the sharper the edge.
        let seen = |side: f64| {
            let within = std::f64::consts::PI - libm::acos(body.solid.edge_cosine());
            let share = within / std::f64::consts::PI;
            let round = if body.lamps.is_strip() { std::f64::consts::FRAC_PI_4 } else { 1.0 };
            match body.lamp_shape {
                LampShape::Disc => 1.0,
                LampShape::Dome => round * if side > 0.0 { 2.0 - share } else { share },
            }
        };
        let area = if body.lamps.is_strip() { along } else { radius * radius * f64::from(body.lamps.count()) }
            / f64::from(taken);
        let vertices = body.vertices();
        let (normals, inradius) = (body.normals(), body.solid.inradius() * body.radius);
        let (faces, slabs, brightness) = (body.solid.faces(), slabs_of_faces(body), chased(body, taken));
        for [a, b] in body.solid.edges() {
            let mut lamps = Vec::new();
            let mut of_edge: Vec<usize> =
                (0..faces.len()).filter(|&face| [a, b].iter().all(|v| faces[face].contains(v))).collect();
            of_edge.sort_by_key(|&face| slabs[face]);
            // The end that the kernels count from.
            let is_backwards = match of_edge[..] {
                [low, high] => dot(sub(vertices[b], vertices[a]), cross(normals[low], normals[high])) < 0.0,
                _ => false,
            };
            of_edge.sort_unstable();
            for face in of_edge {
                let normal = normals[face];
                let middle = scale(add(vertices[a], vertices[b]), 0.5);
                let into = normalise(sub(scale(normal, inradius), middle));
                for index in 0..taken {
                    let t = (f64::from(index) + 0.5) / f64::from(taken);
                    let on_edge = add(scale(vertices[a], 1.0 - t), scale(vertices[b], t));
                    let on_face = add(on_edge, scale(into, 0.5 * body.bar * body.radius));
                    for side in sides {
                        // Slightly above the face, so that the lamp's own bar does not occlude it.
                        let p = add(on_face, scale(normal, side * 1e-3 * body.radius));
                        let position = to_f32(add(body.centre, p));
                        let radius = area.sqrt() as f32;
                        let along = if is_backwards { taken - 1 - index } else { index };
                        let share = seen(*side) * brightness[along as usize];
                        let strength = strength.map(|c| (c * share) as f32);
                        lamps.push(Lamp { position, normal: to_f32(scale(normal, *side)), strength, radius, index });
                    }
                }
            }
            edges.push(lamps);
        }
    }
    edges
}
