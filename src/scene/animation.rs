//! The scene at a moment of the clip: bodies rotate and move, and lamps change. Also checks whether the clip loops.

use super::camera::view::View;
use super::keys::kinds::{list_text, number_text};
use super::keys::track::Track;
use super::keys::{Keys, over_time};
use super::{
    Body, Camera, CameraPath, Cut, CylindricalPath, FilmSettings, LampAnimation, LampPattern, Motion, Particles,
    Relief, Rest, Rotation, Scene, Tracks, World, element,
};
use crate::language::{Message, msg};
use crate::math::srgb::{linear, srgb};
use crate::math::vec3::{Vec3, add, cross, dot, length, scale, sub};
use std::borrow::Cow;
use std::f64::consts::PI;

/// Why a clip does not loop, and what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoopProblem {
    pub what: Message,
    pub help: Message,
    /// The keys that mend it, each with its value in TOML; None removes a key. Empty if a person has to decide.
    pub mend: Vec<(String, Option<String>)>,
}

// The nearest whole number, which is 0 for 0 alone.
fn whole(x: f64) -> f64 {
    if x.abs() < 0.5 { f64::from(u8::from(x != 0.0)) * x.signum() } else { x.round() }
}

// Keys with whole numbers in place of these values.
fn whole_keys<'a>(keys: impl IntoIterator<Item = (&'a str, f64)>, table: &str) -> Vec<(String, Option<String>)> {
    let broken = keys.into_iter().filter(|(_, value)| value.fract() != 0.0);
    broken.map(|(key, value)| (format!("{table}.{key}"), Some(format!("{:?}", whole(value))))).collect()
}

impl CylindricalPath {
    fn mend(&self, table: &str) -> Vec<(String, Option<String>)> {
        whole_keys([("r_cycles", self.wr), ("z_cycles", self.wz), ("phi_cycles", self.wphi)], table)
    }
}

impl Camera {
    // What leads its path to its start.
    fn mend(&self) -> Vec<(String, Option<String>)> {
        match &self.path {
            CameraPath::Fixed { .. } => Vec::new(),
            CameraPath::Cylinder { eye, target } => [eye.mend("camera.eye"), target.mend("camera.target")].concat(),
            CameraPath::Orbit(orbit) => whole_keys([("turns", orbit.turns)], "camera.orbit"),
            CameraPath::Keys { keys, .. } => match &keys[..] {
                [first, .., last] if last.time - first.time >= 1.0 => {
                    let key = |name: &str, value| (format!("camera.key[{}].{name}", keys.len() - 1), Some(value));
                    let [position, look_at] = [first.position, first.look_at].map(|point| list_text(&point));
                    vec![key("position", position), key("look_at", look_at), key("fov_deg", number_text(first.fov_deg))]
                }
                _ => vec![("camera.closed".to_owned(), Some("true".to_owned()))],
            },
        }
    }
}

impl Track {
    // What leads the value to its start in a clip of this many seconds.
    fn mend(&self, seconds: f64) -> Vec<(String, Option<String>)> {
        let mut track = self.clone();
        let bpm = track.beats.as_mut().and_then(|beats| beats.bpm.as_mut());
        match &mut track.keys[..] {
            _ if let Some(bpm) = bpm => *bpm = whole(*bpm * seconds / 60.0) * 60.0 / seconds,
            [first, .., last] if self.beats.is_none() && last.time - first.time >= 1.0 => last.value = first.value,
            _ => track.closed = true,
        }
        vec![(path_text(&self.path), Some(over_time::text(&track)))]
    }
}

impl Body {
    // What leads its motion to its start.
    fn mend(&self, table: &str) -> Vec<(String, Option<String>)> {
        let mut keys = Vec::new();
        if self.motion.drift != [0.0; 3] {
            keys.push((format!("{table}.drift"), None));
        }
        keys.extend(self.motion.path.iter().flat_map(|path| path.mend(&format!("{table}.path"))));
        let still = Body { motion: Motion { drift: [0.0; 3], path: None, ..self.motion }, ..self.clone() };
        if !still.returns() {
            let turns = still.closing_turns().unwrap_or_else(|| whole(self.motion.turns));
            keys.push((format!("{table}.turns"), Some(number_text(turns))));
        }
        keys
    }
}

/// A path as it is written: `body[0].radius` of `body.0.radius`.
pub(crate) fn path_text(path: &str) -> String {
    let mut text = String::new();
    for part in path.split('.') {
        match part.parse::<usize>() {
            Ok(index) => text += &format!("[{index}]"),
            Err(_) if text.is_empty() => text += part,
            Err(_) => text += &format!(".{part}"),
        }
    }
    text
}

// The finest part of a turn that can map a Platonic solid to itself: a fifth.
const FINEST_TURN: i32 = 5;

impl Body {
    // Whether a body covers this one. A rotation that maps all vertices to vertices counts as a full turn, unless
    // something on the faces or edges shows it.
    fn is_covered_by(&self, other: &Body) -> bool {
        let apart = |p: Vec3, q: Vec3| length(sub(p, q));
        let (own, others) = (self.vertices(), other.vertices());
        let near = |p: Vec3, q: Vec3| apart(p, q) < 1e-6 * self.radius;
        let joins = match self.shows_its_turn() {
            true => own.iter().zip(&others).all(|(&p, &q)| near(p, q)),
            false => others.iter().all(|&q| own.iter().any(|&p| near(p, q))),
        };
        joins && apart(self.centre, other.centre) <= 1e-6 * (1.0 + self.radius)
    }
    // Whether two turns that map vertices to vertices may look different.
    fn shows_its_turn(&self) -> bool {
        let chases = self.has_lamps() && self.lamp_pattern.chase().is_some();
        self.texture.is_some() || self.relief.is_some() || self.material.grain.anisotropy > 0.0 || chases
    }
    fn returns(&self) -> bool {
        self.at(0.0).is_covered_by(&self.at(1.0))
    }
    // The number of turns near the present one with which the body returns; None if no rotation helps.
    fn closing_turns(&self) -> Option<f64> {
        let turns = self.motion.turns;
        let near = (1..=FINEST_TURN).flat_map(|part| {
            let part = f64::from(part);
            [libm::floor(turns * part) / part, libm::ceil(turns * part) / part]
        });
        let returns = |turns: &f64| {
            let mut other = self.clone();
            other.motion.turns = *turns;
            *turns != 0.0 && other.returns()
        };
        near.filter(returns).min_by(|a, b| (a - turns).abs().total_cmp(&(b - turns).abs()))
    }
    /// The vertices, relative to the center.
    pub(crate) fn vertices(&self) -> Vec<Vec3> {
        let laid = self.laid();
        self.solid.vertices().into_iter().map(|v| self.rotation.apply(laid.apply(scale(v, self.radius)))).collect()
    }
    /// The outward normals of its faces.
    pub(crate) fn normals(&self) -> Vec<Vec3> {
        self.turned(&self.solid.normals())
    }
    /// Directions of the body, as it is turned.
    pub(crate) fn turned(&self, directions: &[Vec3]) -> Vec<Vec3> {
        let laid = self.laid();
        directions.iter().map(|&d| self.rotation.apply(laid.apply(d))).collect()
    }
    // What lays it on a face, before it is turned: the face that is lowest anyway.
    fn laid(&self) -> Rotation {
        let down = [0.0, 0.0, -1.0];
        let lowest = || self.solid.normals().into_iter().min_by(|a, b| a[2].total_cmp(&b[2])).unwrap_or(down);
        let normal = self.rest.map_or(down, |Rest::Face| lowest());
        let axis = cross(normal, down);
        Rotation { axis, angle_deg: libm::atan2(length(axis), dot(normal, down)).to_degrees() }
    }
    fn moves(&self) -> bool {
        !self.motion.is_none() || (self.lamp_pattern.animation != LampAnimation::Steady && self.has_lamps())
    }
    // The body at a time, 0 to 1 over the clip.
    pub(crate) fn at(&self, time: f64) -> Body {
        let mut body = self.clone();
        body.rotation.angle_deg += 360.0 * self.motion.turns * time;
        body.centre = add(body.centre, scale(self.motion.drift, time));
        if let Some(path) = &self.motion.path {
            body.centre = add(body.centre, path.at(2.0 * PI * time));
        }
        let LampPattern { animation, cycles, phase } = self.lamp_pattern;
        let wave = 0.5 - 0.5 * libm::cos(2.0 * PI * cycles * time + 2.0 * PI * phase);
        let phase = cycles * time + phase;
        // What the body has in itself now changes no more.
        body.lamp_pattern = LampPattern::default();
        match animation {
            LampAnimation::Steady => {}
            // From full light down to a tenth and back.
            LampAnimation::Pulse => body.lamp_intensity *= 1.0 - 0.9 * wave,
            LampAnimation::Hue => body.lamp_colour = turned_hue(self.lamp_colour, phase),
            LampAnimation::Chase => body.lamp_pattern = LampPattern { animation, cycles: 0.0, phase },
        }
        body
    }
}

// Rotates the hue of a color in linear light. Gray has no hue, so it becomes red first.
fn turned_hue(colour: Vec3, turns: f64) -> Vec3 {
    let linear = colour.map(linear);
    let top = linear.iter().copied().fold(0.0, f64::max);
    let low = linear.iter().copied().fold(f64::INFINITY, f64::min);
    let (low, saturated) =
        if top - low < 0.3 * top { (0.08 * top, [top, 0.08 * top, 0.08 * top]) } else { (low, linear) };
    // The position on the hue circle, 0 to 6.
    let [r, g, b] = saturated;
    let span = top - low;
    if span <= 0.0 {
        return colour;
    }
    let hue = if top == r {
        (g - b) / span
    } else if top == g {
        2.0 + (b - r) / span
    } else {
        4.0 + (r - g) / span
    };
    let hue = (hue + 6.0 * turns).rem_euclid(6.0);
    let part = |shift: f64| {
        let k = (hue + shift).rem_euclid(6.0);
        low + span * k.min(4.0 - k).clamp(0.0, 1.0)
    };
    // A channel is full over the third of the circle around its own hue, and fades over the sixths beside it.
    [part(2.0), part(0.0), part(4.0)].map(srgb)
}

impl World {
    fn relief(&self) -> Option<&Relief> {
        self.floor.as_ref()?.relief.as_ref()
    }
}

impl Scene {
    /// Whether bodies, their lamps or what else lamps light change between frames.
    pub(crate) fn lamps_move(&self) -> bool {
        self.world.bodies.iter().any(Body::moves) || self.tracks.change_shapes()
    }
    /// Whether the light of lamps on the floor changes between frames: by what moves, or by air that takes light.
    pub(crate) fn lamplight_changes(&self) -> bool {
        let has_steps = self.world.particles.as_ref().is_some_and(Particles::is_animated);
        self.lamps_move() || has_steps || self.tracks.change("air.density")
    }
    /// Whether anything but the particles changes within the time of a frame.
    pub(crate) fn moves(&self) -> bool {
        self.lamps_move() || !self.tracks.is_empty() || self.world.relief().is_some_and(Relief::drifts)
    }
    /// Whether the shutter is open in any frame.
    pub(crate) fn has_shutter(&self) -> bool {
        self.camera.shutter > 0.0 || self.tracks.change("camera.shutter")
    }
    /// Takes the motion blur away.
    pub(crate) fn close_shutter(&mut self) {
        self.camera.shutter = 0.0;
        self.tracks = self.tracks.without("camera.shutter");
    }
    /// Whether the sky's picture changes over the clip.
    pub(crate) fn sky_moves(&self) -> bool {
        self.world.sky.image.is_some() && self.tracks.change("sky.")
    }
    /// The planes that cut particles open, if they are the same in all of the clip.
    pub(crate) fn cuts_at_rest(&self) -> &[Cut] {
        let particles = self.world.particles.as_ref().filter(|_| !self.tracks.change("particles.cut"));
        particles.map_or(&[], |particles| &particles.cuts)
    }
    /// Whether the maps of reliefs change over the clip: the heights of one, or what its surface has else to do with them.
    pub(crate) fn reliefs_move(&self) -> bool {
        let changes =
            |table: &str, keys: &[&str]| self.tracks.within(&format!("{table}.")).any(|(rest, _)| keys.contains(&rest));
        let has_relief = |(_, body): &(usize, &Body)| body.relief.is_some();
        self.world.relief().is_some() && changes("floor", &["relief.depth", "roughness"])
            || (self.world.bodies.iter().enumerate().filter(has_relief))
                .any(|(i, _)| changes(&format!("body.{i}"), &["relief.depth", "roughness", "radius"]))
    }
    /// Whether the geometry differs between frames. Parts of the sky that are sampled for light belong to it.
    pub(crate) fn geometry_moves(&self) -> bool {
        let samples_sky = self.world.sky.image.is_some() && self.render.integrator.capabilities().samples_emitters;
        let is_hidden = || self.tracks.change("air.density");
        self.lamps_move()
            || self.world.particles.as_ref().is_some_and(Particles::is_animated)
            || samples_sky && (self.sky_moves() || is_hidden())
    }
    /// Whether frames differ in more than the camera's position and direction.
    pub(crate) fn is_animated(&self) -> bool {
        self.moves() || self.geometry_moves()
    }

    /// Puts the beats of values over time where the frame rate has them.
    pub(crate) fn beat(&mut self) {
        self.tracks.beat(f64::from(self.output.frames) / self.output.fps);
    }
    fn time(&self, moment: f64) -> f64 {
        moment / f64::from(self.output.frames)
    }
    // The scene with the values over time that they have at a moment.
    fn with_tracks(&self, moment: f64) -> Scene {
        let (mut scene, time) = (self.clone(), self.time(moment));
        self.tracks.all().iter().for_each(|track| scene.put(&track.path, track.at(time)));
        if !self.tracks.is_empty() {
            // What stands on the floor stands there at any size.
            scene.world.stand();
            scene.film = self.film_at(moment);
        }
        scene
    }
    /// The camera at a moment, in frames from the clip's start; its path still has the whole clip.
    pub(crate) fn camera_at(&self, moment: f64) -> Cow<'_, Camera> {
        let mut camera = Cow::Borrowed(&self.camera);
        for (path, track) in self.tracks.within("camera.") {
            camera.to_mut().put(path, track.at(self.time(moment)));
        }
        camera
    }
    /// The film at a moment. Whether it is dithered does not change over the clip.
    pub(crate) fn film_at(&self, moment: f64) -> FilmSettings {
        let mut film = self.film;
        for (path, track) in self.tracks.within("film.") {
            film.put(path, track.at(self.time(moment)));
            film.dither = Some(self.film.dither.unwrap_or(true));
        }
        film
    }
    /// Whether the film changes over the clip, or its glare with the aperture.
    pub(crate) fn film_moves(&self) -> bool {
        let turns = || self.tracks.change("camera.aperture_rotation");
        self.tracks.change("film.") || self.film.glare > 0.0 && turns()
    }
    /// A bound of the distance from `origin` at which camera rays begin over the clip.
    pub(crate) fn camera_reach(&self, origin: Vec3) -> f64 {
        let times = self.tracks.within("camera.").flat_map(|(_, track)| &track.keys).map(|key| key.time);
        let cameras = times.chain([0.0]).map(|time| self.camera_at(time * f64::from(self.output.frames)));
        cameras.map(|camera| camera.reach(origin, (self.render.width, self.render.height))).fold(0.0, f64::max)
    }

    /// The scene at `moment`, in frames from the clip's start. The camera stays where its path is at the start.
    pub(crate) fn at(&self, moment: f64) -> Cow<'_, Scene> {
        if !self.moves() {
            return Cow::Borrowed(self);
        }
        let (mut scene, time) = (self.with_tracks(moment), self.time(moment));
        scene.world.bodies = scene.world.bodies.iter().map(|b| b.at(time)).collect();
        if let Some(relief) = scene.world.floor.as_mut().and_then(|f| f.relief.as_mut()) {
            *relief = relief.at(time);
        }
        Cow::Owned(scene)
    }

    /// The scene relative to `origin`. The camera and the particles are not changed: a camera path may turn about the
    /// z axis, and particles are moved when they are read.
    pub(crate) fn seen_from(&self, origin: Vec3) -> Cow<'_, Scene> {
        if origin == [0.0; 3] {
            return Cow::Borrowed(self);
        }
        let mut scene = self.clone();
        let world = &mut scene.world;
        let bodies = world.bodies.iter_mut().map(|b| &mut b.centre);
        let spheres = world.spheres.iter_mut().map(|s| &mut s.centre);
        let ellipsoids = world.ellipsoids.iter_mut().map(|e| &mut e.centre);
        let rectangles = world.rectangles.iter_mut().map(|r| &mut r.centre);
        let meshes = world.meshes.iter_mut().map(|m| &mut m.offset);
        let corners = world.floor.iter_mut().flat_map(|f| &mut f.corners);
        world.air.height.iter_mut().for_each(|height| *height -= origin[2]);
        let lights = world.lights.iter_mut().map(|l| &mut l.position);
        let points =
            bodies.chain(spheres).chain(ellipsoids).chain(rectangles).chain(meshes).chain(corners).chain(lights);
        points.for_each(|point| *point = sub(*point, origin));
        Cow::Owned(scene)
    }

    /// The reasons why the clip does not loop; empty if it does.
    pub(crate) fn loop_problems(&self) -> Vec<LoopProblem> {
        let end = f64::from(self.output.frames);
        let mut problems = Vec::new();
        let mut add = |what, help, mend| problems.push(LoopProblem { what, help, mend });
        let view = |moment| self.camera_at(moment).view_at(moment, self.output.frames);
        let (first, last) = (view(0.0), view(end));
        let apart = |a: Vec3, b: Vec3| length(sub(a, b));
        let off_by = |a: &View, b: &View| apart(a.forward, b.forward).max(apart(a.right, b.right));
        let off = apart(first.eye, last.eye);
        if off > 1e-6 * (1.0 + length(first.eye)) {
            add(
                msg!("the camera ends {distance} from where it began", distance = format_args!("{off:.4}")),
                msg!("a path loops if its turns and cycles are whole numbers, or if its last key equals its first"),
                self.camera.mend(),
            );
        } else if off_by(&first, &last) > 1e-6 || (first.fov_deg - last.fov_deg).abs() > 1e-6 {
            let turned = off_by(&first, &last).min(2.0) / 2.0;
            let degrees = 2.0 * libm::asin(turned).to_degrees();
            let wider = (first.fov_deg - last.fov_deg).abs();
            let what = msg!(
                "the camera ends turned by {degrees} degrees, its view {wider} degrees wider or narrower",
                degrees = format_args!("{degrees:.3}"),
                wider = format_args!("{wider:.3}")
            );
            add(
                what,
                msg!("a path loops if its turns and cycles are whole numbers, or if its last key equals its first"),
                self.camera.mend(),
            );
        }
        let seconds = end / self.output.fps;
        for track in self.tracks.all().iter().filter(|track| !track.returns() && !Tracks::turns_a_body(track)) {
            add(
                msg!(
                    "`{path}` has another value at the end of the clip than at its start",
                    path = path_text(&track.path)
                ),
                msg!("`closed = true` leads it back to its first key; so does a last key with the first one's value"),
                track.mend(seconds),
            );
        }
        let ends = [0.0, end].map(|moment| self.with_tracks(moment).world.bodies);
        for (i, (body, after)) in ends[0].iter().zip(&ends[1]).enumerate() {
            let name = || element("body", i, Some(body.solid));
            let (a, b) = (body.at(0.0), after.at(1.0));
            if !a.is_covered_by(&b) {
                let corners = a.vertices().into_iter().zip(b.vertices());
                let off = corners.map(|(p, q)| apart(p, q)).fold(apart(a.centre, b.centre), f64::max);
                let help = match body.closing_turns() {
                    Some(turns) => msg!("`turns = {turns}` brings it back", turns),
                    None => msg!("`drift` moves a body away: a `path` brings it back"),
                };
                add(
                    msg!(
                        "{body}: it does not return to its start, and a vertex is {distance} away",
                        body = name(),
                        distance = format_args!("{off:.4}")
                    ),
                    help,
                    body.mend(&format!("body[{i}]")),
                );
            }
            // What their pattern does; values over time have been asked already.
            let LampPattern { animation, cycles, .. } = body.lamp_pattern;
            if body.has_lamps() && animation != LampAnimation::Steady && cycles.fract() != 0.0 {
                add(
                    msg!(
                        "{body}: its lamps do not return to their start, because lamp_cycles is not a whole number",
                        body = name()
                    ),
                    msg!("`lamp_cycles = 1` is one cycle in the clip"),
                    whole_keys([("lamp_cycles", cycles)], &format!("body[{i}]")),
                );
            }
        }
        if let Some(relief) = self.world.relief().filter(|r| r.drift.iter().any(|d| d.fract() != 0.0)) {
            add(
                msg!("the floor's relief does not return to its start: its drift is not a whole number"),
                msg!("`drift` counts tiles of the relief, two whole numbers: [2, -1]"),
                vec![("floor.relief.drift".to_owned(), Some(list_text(&relief.drift.map(whole))))],
            );
        }
        if self.world.particles.as_ref().is_some_and(Particles::is_animated) {
            add(
                msg!("its particles have a file for each frame"),
                msg!("the last step of a simulation does not lead to its first"),
                Vec::new(),
            );
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Solid;

    #[test]
    fn hues_go_round() {
        let red = [1.0, 0.0, 0.0];
        let close = |a: Vec3, b: Vec3| (0..3).all(|c| (a[c] - b[c]).abs() < 1e-6);
        assert!(close(turned_hue(red, 1.0 / 3.0), [0.0, 1.0, 0.0]), "{:?}", turned_hue(red, 1.0 / 3.0));
        assert!(close(turned_hue(red, 2.0 / 3.0), [0.0, 0.0, 1.0]));
        assert!(close(turned_hue([0.2, 0.9, 0.4], 1.0), [0.2, 0.9, 0.4]));
    }

    #[test]
    fn loops_are_told_from_others() {
        let mut scene = Scene::sample();
        assert_eq!(scene.loop_problems(), Vec::new());
        scene.world.bodies[0].motion.turns = 0.3;
        assert_eq!(scene.loop_problems().len(), 1);
        // The nearest rotation that brings each solid back.
        for (solid, turns) in [(Solid::Hexahedron, 0.25), (Solid::Tetrahedron, 0.5), (Solid::Icosahedron, 0.5)] {
            scene.world.bodies[0].solid = solid;
            assert_eq!(scene.world.bodies[0].closing_turns(), Some(turns), "{solid:?}");
        }
        scene.world.bodies[0].motion.drift = [1.0, 0.0, 0.0];
        assert_eq!(scene.world.bodies[0].closing_turns(), None);
        (scene.world.bodies[0].solid, scene.world.bodies[0].motion.drift) = (Solid::Hexahedron, [0.0; 3]);
        // A quarter turn of a cube about its own axis gives the same cube.
        scene.world.bodies[0].motion.turns = 0.25;
        assert_eq!(scene.loop_problems(), Vec::new());
        let pulse = LampPattern { animation: LampAnimation::Pulse, cycles: 1.5, phase: 0.25 };
        scene.world.bodies[1].lamp_pattern = pulse;
        assert_eq!(scene.loop_problems().len(), 1);
        // One with a picture, or with light that runs along its edges, shows the turn.
        scene.world.bodies[1].lamp_pattern = LampPattern::default();
        scene.world.bodies[0].lamp_pattern = LampPattern { animation: LampAnimation::Chase, ..LampPattern::default() };
        assert_eq!(scene.loop_problems().len(), 1);
        scene.world.bodies[0].lamp_pattern = LampPattern::default();
        scene.world.bodies[0].texture = Some(crate::scene::TextureSource::Wood);
        assert_eq!(scene.world.bodies[0].closing_turns(), Some(1.0));
        scene.world.bodies[0].texture = None;
        // Straight above, the eye and its direction stay where they are, and the picture turns.
        let above = "[camera.orbit]\ndistance = 5\nelevation_deg = 90\nturns = 0.5\n[[body]]\nsolid = \"cube\"\n";
        let scene = Scene::parse(above, "s.toml", std::path::Path::new("")).unwrap().scene;
        assert_eq!(scene.loop_problems().len(), 1);
    }
}
