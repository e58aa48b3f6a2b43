//! Lights whose light goes nowhere, and cameras where no light comes: inside of what is closed, or below the floor.

use super::hint::Hint;
use crate::language::msg;
use crate::math::vec3::{Vec3, add, cross, dot, length, scale, sub};
use crate::render::frames::FrameList;
use crate::scene::{Body, Ellipsoid, Floor, FloorShape, Ground, Light, Material, MaterialKind, Scene, Sphere, World};
use std::collections::BTreeMap;

const MAX_HINTS: usize = 8;

// A shape with an inside.
trait Closed {
    // A lower bound of the distance from a point inside to the surface; 0 or less outside.
    fn depth(&self, point: Vec3) -> f64;
    fn material(&self) -> &Material;
    // Whether light can leave it, and come in.
    fn is_opaque(&self) -> bool {
        self.material().shares().1 == 0.0
    }
    fn shines_inward(&self) -> bool {
        is_light(self.material().kind)
    }
}

fn is_light(kind: MaterialKind) -> bool {
    matches!(kind, MaterialKind::Light { .. })
}

impl Closed for Body {
    fn depth(&self, point: Vec3) -> f64 {
        let from = sub(point, self.centre);
        let inner = self.solid.inradius() * self.radius;
        if length(from) >= self.radius {
            return inner - length(from);
        }
        inner - self.normals().into_iter().map(|normal| dot(normal, from)).fold(f64::MIN, f64::max)
    }
    fn material(&self) -> &Material {
        &self.material
    }
    fn is_opaque(&self) -> bool {
        self.shares_inside().1 == 0.0
    }
    fn shines_inward(&self) -> bool {
        self.has_lamps()
    }
}

impl Closed for Sphere {
    fn depth(&self, point: Vec3) -> f64 {
        self.radius - length(sub(point, self.centre))
    }
    fn material(&self) -> &Material {
        &self.material
    }
}

impl Closed for Ellipsoid {
    fn depth(&self, point: Vec3) -> f64 {
        let (from, axes) = (sub(point, self.centre), self.axes());
        let share = length([0, 1, 2].map(|i| dot(axes[i], from) / self.radii[i]));
        (1.0 - share) * self.radii.into_iter().fold(f64::INFINITY, f64::min)
    }
    fn material(&self) -> &Material {
        &self.material
    }
}

// The closed shapes of a scene, with the list and the number of each.
fn closed(world: &World) -> impl Iterator<Item = (&dyn Closed, Shape)> {
    let numbered = |list: &'static str| (0..).map(move |index| Shape { list, index });
    let bodies = world.bodies.iter().map(|body| body as &dyn Closed).zip(numbered("body"));
    let balls = world.spheres.iter().map(|ball| ball as &dyn Closed).zip(numbered("sphere"));
    let ellipsoids = world.ellipsoids.iter().map(|one| one as &dyn Closed);
    bodies.chain(balls).chain(ellipsoids.zip(numbered("ellipsoid")))
}

#[derive(Clone, Copy)]
struct Shape {
    list: &'static str,
    index: usize,
}

/// What is hidden in the frames that were looked at.
#[derive(Default)]
pub struct Hidden {
    // The frames of each light and shape, of each camera and shape, and of each light below the floor.
    lights: BTreeMap<(usize, usize), Vec<u32>>,
    cameras: BTreeMap<usize, Vec<u32>>,
    below: BTreeMap<usize, Vec<u32>>,
}

impl Hidden {
    /// Looks at a frame: the world at its moment, and where the eye is.
    pub fn look(&mut self, frame: u32, world: &World, eye: Vec3) {
        for (number, (shape, about_shape)) in closed(world).enumerate().filter(|(_, (shape, _))| shape.is_opaque()) {
            let mut is_lit = shape.shines_inward();
            let has_eye = shape.depth(eye) > 0.0;
            for (light, about) in world.lights.iter().enumerate() {
                let depth = shape.depth(about.position);
                is_lit |= depth > -about.radius;
                if depth > about.radius && !has_eye {
                    self.lights.entry((light, number)).or_default().push(frame);
                }
            }
            // Another check reports an eye in a ball.
            if has_eye && about_shape.list != "sphere" && !is_lit && !has_lamp_inside(world, shape) {
                self.cameras.entry(number).or_default().push(frame);
            }
        }
        let Some((floor, ground)) =
            world.floor.as_ref().filter(|f| f.material.shares().1 == 0.0).zip(world.ground().ok())
        else {
            return;
        };
        for (i, light) in world.lights.iter().enumerate() {
            if ground.above(eye) > 0.0
                && ground.above(light.position) < -light.radius
                && hides(floor, ground, light, world)
            {
                self.below.entry(i).or_default().push(frame);
            }
        }
    }

    /// The hints, in the order of lights and shapes.
    pub fn hints(self, scene: &Scene) -> Vec<Hint> {
        let shapes: Vec<Shape> = closed(&scene.world).map(|(_, shape)| shape).collect();
        let name = |list: &str, index| scene.world.name_of(list, index);
        let named = |number: usize| shapes.get(number).map(|shape| name(shape.list, shape.index));
        let list = |frames: &[u32]| FrameList::of_numbers(frames.iter().copied());
        let mut hints = Vec::new();
        let inside = self.lights.iter().map(|((light, number), frames)| (*light, Some(*number), frames));
        let below = self.below.iter().map(|(light, frames)| (*light, None, frames));
        for (index, number, frames) in inside.chain(below) {
            let (light, Some(frames)) = (name("light", index), list(frames)) else { continue };
            let what = match number.and_then(named) {
                Some(shape) => msg!(
                    "{light} is inside of {shape}, which lets no light out: frames {frames}; move one of them, or give the shape `transparency`",
                    light,
                    shape,
                    frames,
                ),
                None => msg!(
                    "{light} is below the floor, which hides it from all that stands above: frames {frames}; raise its `position`",
                    light,
                    frames,
                ),
            };
            hints.push(Hint::of("light", index, what));
        }
        for (number, frames) in &self.cameras {
            if let (Some(shape), Some(name), Some(frames)) = (shapes.get(*number), named(*number), list(frames)) {
                hints.push(Hint::of(
                    shape.list,
                    shape.index,
                    msg!(
                        "the camera is inside of {shape}, which lets no light in: frames {frames}; move the camera, or put a light into the shape",
                        shape = name,
                        frames,
                    ),
                ));
            }
        }
        hints.truncate(MAX_HINTS);
        hints
    }
}

// Whether a shape holds something that shines. What a file holds is not known here.
fn has_lamp_inside(world: &World, shape: &dyn Closed) -> bool {
    let is_inside = |centre: Vec3, reach: f64| shape.depth(centre) > -reach;
    world.particles.is_some()
        || world.meshes.iter().any(|mesh| is_light(mesh.material.kind))
        || world.bodies.iter().any(|body| body.shines_inward() && is_inside(body.centre, body.radius))
        || world.spheres.iter().any(|ball| ball.shines_inward() && is_inside(ball.centre, ball.radius))
        || world.ellipsoids.iter().any(|one| one.shines_inward() && is_inside(one.centre, one.reach()))
        || world.rectangles.iter().any(|panel| {
            is_light(panel.material.kind) && is_inside(panel.centre, length([panel.size[0], panel.size[1], 0.0]))
        })
}

// Whether the floor lies between a light and all that stands above it.
fn hides(floor: &Floor, ground: Ground, light: &Light, world: &World) -> bool {
    if floor.shape == FloorShape::Endless || floor.has_ground() && light.position[2] < floor.ground_level() {
        return true;
    }
    let centres = (world.bodies.iter().map(|b| b.centre))
        .chain(world.spheres.iter().map(|s| s.centre))
        .chain(world.ellipsoids.iter().map(|e| e.centre))
        .chain(world.rectangles.iter().map(|r| r.centre));
    let is_hidden = |centre: Vec3| {
        let (low, high) = (ground.above(light.position), ground.above(centre));
        let way = sub(centre, light.position);
        // What is below the floor as well is lit.
        high > 0.0 && is_on(floor, add(light.position, scale(way, low / (low - high))))
    };
    // The shapes of files are not known here.
    world.meshes.is_empty()
        && world.particles.is_none()
        && centres.fold((false, true), |(_, all), centre| (true, all && is_hidden(centre))) == (true, true)
}

// Whether a point of the floor's plane lies on it.
fn is_on(floor: &Floor, point: Vec3) -> bool {
    let [a, b, c, d] = floor.corners;
    if floor.shape == FloorShape::Round {
        // A parallelogram: the circle about its middle touches its sides.
        let (middle, across, along) = (scale(add(a, c), 0.5), scale(sub(b, a), 0.5), scale(sub(d, a), 0.5));
        let normal = cross(across, along);
        let share = |side: Vec3| dot(cross(sub(point, middle), side), normal) / dot(normal, normal);
        return libm::hypot(share(along), share(across)) < 1.0;
    }
    let normal = cross(sub(c, a), sub(d, b));
    let sides = [(a, b), (b, c), (c, d), (d, a)];
    let turn = sides.map(|(from, to)| dot(cross(sub(to, from), sub(point, from)), normal));
    turn.iter().all(|&x| x > 0.0) || turn.iter().all(|&x| x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::hints::hints;
    use super::*;
    use std::path::Path;

    fn said(text: &str) -> Vec<String> {
        let scene = Scene::parse(text, "s", Path::new("")).unwrap().scene;
        let hints = hints(&scene).into_iter().map(|hint| hint.what.to_string());
        hints.filter(|what| ["light[", "the camera is inside"].iter().any(|start| what.starts_with(start))).collect()
    }

    // A camera at a point that looks at the origin, for two frames.
    fn seen_from(eye: &str, world: &str) -> Vec<String> {
        said(&format!("[output]\nframes = 2\n[camera]\nposition = {eye}\nlook_at = [0, 0, 0]\n{world}"))
    }

    #[test]
    fn a_light_in_what_lets_none_out_is_told() {
        let light = "[[light]]\nposition = [0, 0, 9]\n[[light]]\nposition = [0.3, 0, 0.2]\n";
        let outside = |shape: &str| seen_from("[5, 0, 0]", &format!("{shape}\n{light}"));
        for (shape, name) in [
            ("[[body]]\nsolid = \"cube\"\nreflection = 0.5", "body[0], the cube"),
            ("[[body]]\nsolid = \"icosahedron\"\nmaterial = \"metal\"", "body[0], the icosahedron"),
            // A mirror inside lets nothing out, whatever comes in.
            ("[[body]]\nsolid = \"cube\"\ntransparency = 0.5\nreflection_inside = 1", "body[0], the cube"),
            ("[[sphere]]\nradius = 1", "sphere[0]"),
            ("[[ellipsoid]]\nradii = [1, 0.5, 0.5]", "ellipsoid[0]"),
        ] {
            let hints = outside(shape);
            let start = format!("light[1] is inside of {name}, which lets no light out: frames 0-1; ");
            assert!(hints.len() == 1 && hints[0].starts_with(&start), "{shape}: {hints:?}");
        }
        for shape in [
            "[[body]]\nsolid = \"cube\"\ntransparency = 0.1",
            "[[body]]\nsolid = \"cube\"\nmaterial = \"glass\"",
            "[[sphere]]\nmaterial = \"glass\"",
            // The light stands beside the shape, though within its circumscribed ball.
            "[[body]]\nsolid = \"tetrahedron\"\ncenter = [-0.5, 0, 0]\nradius = 0.85",
            "[[ellipsoid]]\nradii = [0.2, 1, 1]",
            "[[sphere]]\ncenter = [0, 0, -1]\nradius = 1",
        ] {
            assert_eq!(outside(shape), Vec::<String>::new(), "{shape}");
        }
        // A lit room, and a light that reaches out of the shape.
        let cube = "[[body]]\nsolid = \"cube\"\nradius = 3";
        assert_eq!(seen_from("[0.5, 0.5, 0]", &format!("{cube}\n{light}")), Vec::<String>::new());
        let wide = light.replace("0.2]", "0.2]\nradius = 0.9");
        assert_eq!(seen_from("[5, 0, 0]", &format!("[[sphere]]\nradius = 1\n{wide}")), Vec::<String>::new());
    }

    #[test]
    fn a_light_that_the_floor_hides_is_told() {
        let floor = "[floor]\ncorners = [[-5, -5, -1], [-5, 5, -1], [5, 5, -1], [5, -5, -1]]";
        let world =
            |floor: &str, light: &str| format!("[[sphere]]\nradius = 0.5\n[[light]]\nposition = {light}\n{floor}\n");
        let above = |floor: &str, light: &str| seen_from("[4, 0, 3]", &world(floor, light));
        for floor in [floor.to_owned(), format!("{floor}\nsize = \"round\""), format!("{floor}\nsize = \"infinite\"")] {
            let hints = above(&floor, "[1, 0, -3]");
            assert!(hints.len() == 1 && hints[0].contains("light[0] is below the floor"), "{floor}: {hints:?}");
            assert!(hints[0].contains("frames 0-1"), "{hints:?}");
            assert_eq!(above(&floor, "[1, 0, 3]"), Vec::<String>::new(), "{floor}");
        }
        // Past the edge of a floor: the line to the ball's center crosses the plane at x = 7.5, or at x = y = 4.5, outside of the circle.
        assert_eq!(above(floor, "[30, 0, -4]"), Vec::<String>::new());
        assert_eq!(above(&format!("{floor}\nsize = \"round\""), "[18, 18, -4]"), Vec::<String>::new());
        assert_eq!(above(floor, "[18, 18, -4]").len(), 1);
        // Light passes a clear floor, and a camera below the floor sees what is lit there.
        assert_eq!(above(&format!("{floor}\ntransparency = 0.5"), "[1, 0, -3]"), Vec::<String>::new());
        assert_eq!(seen_from("[4, 0, -3]", &world(floor, "[1, 0, -3]")), Vec::<String>::new());
    }

    #[test]
    fn a_camera_where_no_light_comes_is_told() {
        let cube = "[[light]]\nposition = [0, 0, 9]\n[[body]]\nsolid = \"cube\"\nradius = 3\n";
        let inside = |more: &str| seen_from("[0.5, 0.5, 0]", &format!("{cube}{more}"));
        let hints = inside("reflection = 1");
        let start = "the camera is inside of body[0], the cube, which lets no light in: frames 0-1; ";
        assert!(hints.len() == 1 && hints[0].starts_with(start), "{hints:?}");
        for lit in [
            "transparency = 0.2",
            "lamps = 3",
            "[[light]]\nposition = [0, 0, 0.5]",
            "[[sphere]]\nradius = 0.2\nmaterial = \"light\"",
            "[[body]]\nsolid = \"cube\"\nradius = 0.2\nlamps = 1",
        ] {
            assert_eq!(inside(lit), Vec::<String>::new(), "{lit}");
        }
        assert_eq!(seen_from("[5, 0, 0]", cube), Vec::<String>::new());
    }

    #[test]
    fn no_sample_scene_hides_a_light() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut seen = 0;
        for folder in ["scenes", "scenes/templates"] {
            for file in std::fs::read_dir(root.join(folder)).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|e| e == "toml" || e == "txt") {
                    assert_eq!(
                        said(&std::fs::read_to_string(&path).unwrap()),
                        Vec::<String>::new(),
                        "{}",
                        path.display()
                    );
                    seen += 1;
                }
            }
        }
        assert!(seen > 30, "{seen}");
    }
}
