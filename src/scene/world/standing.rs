//! Objects that stand on the floor: their height follows from the floor's.

use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::text::diagnostic::Rule;
use crate::scene::{Body, Ellipsoid, Floor, Motion, Rectangle, Rotation, Sphere, World};
use std::f64::consts::PI;

// The gap below an object, over its size. Two surfaces in one plane would hide each other at random, and a body that
// touches nothing is faster (device_scene/shapes/isolation.rs).
const GAP: f64 = 1e-4;
// Moments of a clip at which a path is asked for its height.
const MOMENTS: u32 = 4096;

/// The shape of an object that may stand on the floor.
pub(crate) trait Shape {
    /// Its radius, about.
    fn size(&self) -> f64;
    /// How far it reaches from its center in this direction, over the whole clip.
    fn reach(&self, direction: Vec3) -> f64;
    /// Whether it lies on a face, which a floor that is not level would tilt.
    fn lies(&self) -> bool {
        false
    }
}

impl Shape for Body {
    fn size(&self) -> f64 {
        self.radius
    }
    fn reach(&self, direction: Vec3) -> f64 {
        let turned = match self.bevel_width() {
            Some(width) if self.is_round() => self.round_reach(width, direction),
            _ => {
                let corners = self.vertices().into_iter();
                corners.map(|v| swept(self.rotation, self.motion.turns, v, direction)).fold(f64::MIN, f64::max)
            }
        };
        turned + travel(&self.motion, direction)
    }
    fn lies(&self) -> bool {
        self.rest.is_some()
    }
}

impl Shape for Sphere {
    fn size(&self) -> f64 {
        self.radius
    }
    fn reach(&self, _: Vec3) -> f64 {
        self.radius
    }
}

impl Shape for Ellipsoid {
    fn size(&self) -> f64 {
        Ellipsoid::reach(self)
    }
    fn reach(&self, direction: Vec3) -> f64 {
        let axes = self.axes();
        length([0, 1, 2].map(|i| self.radii[i] * dot(axes[i], direction)))
    }
}

impl Shape for Rectangle {
    fn size(&self) -> f64 {
        self.size[0].max(self.size[1])
    }
    fn reach(&self, direction: Vec3) -> f64 {
        self.corners().iter().map(|&corner| dot(sub(corner, self.centre), direction)).fold(f64::MIN, f64::max)
    }
}

// How far a vertex comes in a direction while it turns.
fn swept(rotation: Rotation, turns: f64, vertex: Vec3, direction: Vec3) -> f64 {
    let start = dot(vertex, direction);
    if turns == 0.0 || length(rotation.axis) == 0.0 {
        return start;
    }
    // The vertex is `along` + cos(angle) `across` + sin(angle) `beside`.
    let axis = normalise(rotation.axis);
    let along = scale(axis, dot(axis, vertex));
    let across = sub(vertex, along);
    let (cosine, sine) = (dot(across, direction), dot(cross(axis, vertex), direction));
    let top = libm::atan2(sine, cosine);
    let ahead = if turns > 0.0 { top } else { -top };
    let end = 2.0 * PI * turns;
    if ahead.rem_euclid(2.0 * PI) <= end.abs() {
        return dot(along, direction) + libm::hypot(cosine, sine);
    }
    start.max(dot(along, direction) + cosine * libm::cos(end) + sine * libm::sin(end))
}

// How far a motion carries the center in a direction.
fn travel(motion: &Motion, direction: Vec3) -> f64 {
    let drift = dot(motion.drift, direction);
    let Some(path) = &motion.path else { return drift.max(0.0) };
    let at = |moment: u32| {
        let time = f64::from(moment) / f64::from(MOMENTS);
        dot(path.at(2.0 * PI * time), direction) + drift * time
    };
    (0..=MOMENTS).map(at).fold(f64::MIN, f64::max)
}

/// The plane of a floor: its upward normal, and the distance from the origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground {
    /// Points up.
    pub normal: Vec3,
    distance: f64,
}

impl Ground {
    fn of(floor: &Floor) -> Result<Ground, Message> {
        let [a, b, c, d] = floor.corners;
        let mut normal = normalise(cross(sub(c, a), sub(d, b)));
        if normal[2] < 0.0 {
            normal = scale(normal, -1.0);
        }
        let middle = scale(add(add(a, b), add(c, d)), 0.25);
        let size = length(sub(c, a)).max(length(sub(d, b)));
        if floor.corners.iter().any(|&corner| dot(sub(corner, middle), normal).abs() > 1e-9 * size) {
            return Err(msg!("the floor is bent"));
        }
        if normal[2] < 1e-3 {
            return Err(msg!("the floor is upright"));
        }
        Ok(Ground { normal, distance: dot(middle, normal) })
    }

    /// How far a point is above the plane; below it, the number is negative.
    pub(crate) fn above(&self, point: Vec3) -> f64 {
        dot(self.normal, point) - self.distance
    }

    /// The height of a center at this x and y whose shape stands on the floor.
    ///
    /// # Errors
    /// It would stand too far away.
    pub(crate) fn height(&self, shape: &impl Shape, [x, y, _]: Vec3) -> Result<f64, Message> {
        if shape.lies() && self.normal[..2].iter().any(|x| x.abs() > 1e-9) {
            return Err(msg!("a face lies on it, and the floor is not level"));
        }
        let below = shape.reach(scale(self.normal, -1.0)) + GAP * shape.size();
        let z = (self.distance + below - self.normal[0] * x - self.normal[1] * y) / self.normal[2];
        if Rule::Coordinate.allows(z) { Ok(z) } else { Err(msg!("it would stand too far away")) }
    }
}

impl World {
    /// What objects stand on; the reason if they cannot stand.
    pub(crate) fn ground(&self) -> Result<Ground, Message> {
        self.floor.as_ref().ok_or(msg!("there is no floor")).and_then(Ground::of)
    }

    /// Sets the heights of the objects that stand on the floor. A second call changes nothing. Meshes get theirs when their
    /// files are read. Returns the paths of objects that cannot stand, each with the reason.
    pub(crate) fn stand(&mut self) -> Vec<(String, Message)> {
        let ground = self.ground();
        let mut falling = Vec::new();
        macro_rules! set_heights {
            ($($list:ident as $name:literal),*) => {$(
                for (i, object) in self.$list.iter_mut().enumerate().filter(|(_, object)| object.on.is_some()) {
                    match ground.clone().and_then(|ground| ground.height(&*object, object.centre)) {
                        Ok(height) => object.centre[2] = height,
                        Err(why) => falling.push((format!("{}.{i}.on", $name), why)),
                    }
                }
            )*};
        }
        set_heights!(bodies as "body", spheres as "sphere", ellipsoids as "ellipsoid", rectangles as "rectangle");
        if let Err(why) = ground {
            let meshes = self.meshes.iter().enumerate().filter(|(_, mesh)| mesh.on.is_some());
            falling.extend(meshes.map(|(i, _)| (format!("mesh.{i}.on"), why.clone())));
        }
        falling
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{CylindricalPath, Scene, Solid, Support};

    fn on_floor(text: &str) -> Scene {
        let floor = "[floor]\ncorners = [[-5, -5, -1], [-5, 5, -1], [5, 5, -1], [5, -5, -1]]\n";
        Scene::parse(&format!("{text}\n{floor}"), "s.toml", "".as_ref()).unwrap_or_else(|e| panic!("{e}")).scene
    }
    // The height of the lowest vertex above the floor at a moment, over the radius.
    fn gap(body: &Body, time: f64) -> f64 {
        let now = body.at(time);
        let lowest = now.vertices().iter().map(|v| v[2] + now.centre[2] + 1.0).fold(f64::MAX, f64::min);
        lowest / body.radius
    }

    #[test]
    fn all_solids_stand_on_their_lowest_vertex() {
        for solid in Solid::ALL {
            for turn in ["", "axis = [1, 2, 0.5]\nangle_deg = 33\n"] {
                let text = format!(
                    "[[body]]\nsolid = \"{}\"\ncenter = [1, 2, 77]\nradius = 2.5\n{turn}on = \"floor\"\n",
                    solid.name()
                );
                let scene = on_floor(&text);
                let body = &scene.world.bodies[0];
                assert!((gap(body, 0.0) - GAP).abs() < 1e-12, "{solid:?}: {}", gap(body, 0.0));
                assert_eq!(body.centre[..2], [1.0, 2.0]);
                // Written and read again, and settled again, it is the same scene.
                let again = Scene::parse(&scene.to_toml(), "again.toml", "".as_ref()).unwrap().scene;
                assert_eq!(again, scene);
            }
        }
        let cube = on_floor("[[body]]\nsolid = \"cube\"\nradius = 1.7320508075688772\non = \"floor\"\n");
        assert!((cube.world.bodies[0].centre[2] - GAP * 1.7320508075688772).abs() < 1e-12);
    }

    // The lowest face is level, whole and at the floor's height; bevels leave its plane where it is.
    #[test]
    fn all_solids_lie_on_a_face() {
        let corners = [("tetrahedron", 3), ("cube", 4), ("octahedron", 3), ("dodecahedron", 5), ("icosahedron", 3)];
        for (solid, corners) in corners {
            for more in [
                "",
                "angle_deg = 33\nturns = 0.3\n",
                "bevel = 0.1\n",
                "axis = [0, 0, -2]\nangle_deg = { keys = [[0, 0], [1, 90]] }\n",
            ] {
                let text = format!(
                    "[[body]]\nsolid = \"{solid}\"\ncenter = [1, 2, 77]\nradius = 2.5\nbar = 0\n{more}on = \"floor\"\nrest = \"face\"\n"
                );
                let scene = on_floor(&text);
                let body = &scene.world.bodies[0];
                let inradius = body.solid.inradius() * body.radius;
                assert!((body.centre[2] + 1.0 - inradius - GAP * 2.5).abs() < 1e-9, "{solid}, {more}");
                for time in [0.0, 0.4] {
                    let now = body.at(time);
                    let low = now.vertices().iter().filter(|v| (v[2] + inradius).abs() < 1e-9).count();
                    let level = now.normals().iter().filter(|n| (n[2] + 1.0).abs() < 1e-12).count();
                    assert_eq!((low, level), (corners, 1), "{solid}, {more}");
                }
                let again = Scene::parse(&scene.to_toml(), "again.toml", "".as_ref()).unwrap().scene;
                assert_eq!(again, scene);
            }
        }
        // About the vertical it is turned as without a face below.
        let turned = |rest: &str| {
            let text = format!("[[body]]\nsolid = \"cube\"\nangle_deg = 20\non = \"floor\"\n{rest}");
            on_floor(&text).world.bodies[0].vertices()
        };
        assert_eq!(turned(""), turned("rest = \"face\"\n"));
    }

    #[test]
    fn what_leaves_its_face_is_refused() {
        let level = "[floor]\ncorners = [[-5, -5, -1], [-5, 5, -1], [5, 5, -1], [5, -5, -1]]\n";
        let tilted = "[floor]\ncorners = [[-5, -5, 0], [-5, 5, 0], [5, 5, 10], [5, -5, 10]]\n";
        for (keys, floor, why) in [
            ("rest = \"face\"", level, "nothing that it could lie on"),
            ("on = \"floor\"\nrest = \"face\"\naxis = [1, 0, 1]\nangle_deg = 3", level, "would leave the floor"),
            ("on = \"floor\"\nrest = \"face\"\naxis = [1, 0, 1]\nturns = 1", level, "would leave the floor"),
            ("on = \"floor\"\nrest = \"face\"", tilted, "the floor is not level"),
            ("on = \"floor\"\nrest = \"corner\"", level, "\"face\""),
        ] {
            let text = format!("[[body]]\nsolid = \"cube\"\n{keys}\n{floor}");
            let error = Scene::parse(&text, "s.toml", "".as_ref()).unwrap_err().to_string();
            assert!(error.contains(why), "{keys}: {error}");
        }
    }

    #[test]
    fn a_moving_body_never_sinks_and_touches_once() {
        let path =
            CylindricalPath { z0: 0.4, az: 0.7, wz: 3.0, pz: 0.3, r0: 1.0, wphi: 1.0, ..CylindricalPath::default() };
        let motions = [
            Motion { turns: 0.2, ..Motion::default() },
            Motion { turns: -0.13, ..Motion::default() },
            Motion { turns: 2.0, drift: [3.0, 0.0, 0.0], ..Motion::default() },
            Motion { drift: [0.0, 0.0, -2.0], ..Motion::default() },
            Motion { path: Some(path), ..Motion::default() },
        ];
        for motion in motions {
            let mut scene =
                on_floor("[[body]]\nsolid = \"cube\"\naxis = [1, 0.3, 0]\nangle_deg = 20\non = \"floor\"\n");
            scene.world.bodies[0].motion = motion;
            assert!(scene.world.stand().is_empty());
            let gaps: Vec<f64> = (0..=5000).map(|i| gap(&scene.world.bodies[0], f64::from(i) / 5000.0)).collect();
            let min = gaps.iter().copied().fold(f64::MAX, f64::min);
            assert!((min - GAP).abs() < 1e-5, "{motion:?}: {min}");
        }
    }

    #[test]
    fn balls_and_walls_stand_on_a_tilted_floor() {
        let scene = "[floor]\ncorners = [[-5, -5, 0], [-5, 5, 0], [5, 5, 10], [5, -5, 10]]\n\
             [[sphere]]\ncenter = [2, 1, 0]\nradius = 0.5\non = \"floor\"\n\
             [[ellipsoid]]\nradii = [1, 2, 0.5]\naxis = [1, 1, 0]\nangle_deg = 40\non = \"floor\"\n\
             [[rectangle]]\nfacing = [1, 0, 0]\nsize = [2, 3]\non = \"floor\"\n";
        let world = Scene::parse(scene, "s.toml", "".as_ref()).unwrap().scene.world;
        // The floor is z = x + 5.
        let above = |p: Vec3| (p[2] - p[0] - 5.0) / 2f64.sqrt();
        assert!((above(world.spheres[0].centre) - 0.5 * (1.0 + GAP)).abs() < 1e-12);
        assert!(world.rectangles[0].corners().iter().map(|&p| above(p)).fold(f64::MAX, f64::min) > 0.0);
        let e = world.ellipsoids[0];
        let lowest = (0..20_000).map(|i| {
            let (z, turn) = (1.0 - f64::from(i) / 1e4, f64::from(i) * 2.4);
            let r = (1.0 - z * z).max(0.0).sqrt();
            let unit = [r * libm::cos(turn), r * libm::sin(turn), z];
            let axes = e.axes();
            let p = [0, 1, 2].iter().fold(e.centre, |p, &i| add(p, scale(axes[i], e.radii[i] * unit[i])));
            above(p)
        });
        let lowest = lowest.fold(f64::MAX, f64::min);
        assert!((0.0..2e-3).contains(&lowest), "{lowest}");
    }

    #[test]
    fn nothing_stands_without_a_floor() {
        let objects = ["[[body]]\nsolid = \"cube\"\non = \"floor\"\n", "[[mesh]]\npath = \"m.obj\"\non = \"floor\"\n"];
        for (floor, why) in [
            ("", "there is no floor"),
            ("[floor]\ncorners = [[0, -5, -1], [0, 5, -1], [0, 5, 9], [0, -5, 9]]\n", "the floor is upright"),
            ("[floor]\ncorners = [[-5, -5, 0], [-5, 5, 1], [5, 5, 0], [5, -5, 1]]\n", "the floor is bent"),
        ] {
            for object in objects {
                let text = Scene::parse(&format!("{object}{floor}"), "s.toml", "".as_ref()).unwrap_err().to_string();
                assert!(text.contains(why) && text.contains("s.toml:3:6"), "{text}");
            }
        }
        // A scene that is built in code is checked as well.
        let mut scene = Scene::sample();
        scene.world.floor = None;
        scene.world.bodies[1].on = Some(Support::Floor);
        assert!(scene.check().unwrap_err().to_string().contains("there is no floor"));
    }
}
