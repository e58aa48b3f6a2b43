//! What is where in the picture: the objects that a point shows, their outlines, and where a drag leads them.

use crate::assets::mesh::Triangles;
use crate::assets::particles::picking::{Line, OutlinePart, ShownParticles};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::text::toml::LISTS;
use crate::scene::{
    Body, Ellipsoid, FloorShape, Light, Projection, Scene, Solid, Sphere, View, Viewpoint, perimeter_order,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::f64::consts::TAU;
use std::sync::Arc;

// Sides of the polygon that is the outline of a ball.
const SIDES: u32 = 64;
// Pieces of a polygon's side, and the number of sides from which a polygon has pieces enough.
const PIECES: usize = 16;
// The smallest radius at which a light can be picked, in distances from the eye.
const LIGHT: f64 = 0.012;
// An endless floor reaches as far, in sizes of its corners.
const ENDLESS: f64 = 1000.0;
// A drag goes as far at most, in distances from the eye to the point that was grabbed.
const FARTHEST: f64 = 50.0;
// What lies nearer to the plane of the eye is cut off an outline, in units.
const NEAR: f64 = 1e-4;

// The surface of an object.
enum Shape<'a> {
    // Convex polygons, counterclockwise seen from outside; those of a solid hide each other.
    Faces(Vec<Vec<Vec3>>, bool),
    // A center, and the half axes of an ellipsoid.
    Ball(Vec3, [Vec3; 3]),
    // With the origin of its coordinates.
    Mesh(&'a Triangles, Vec3),
}

/// What was read of the scene's files.
#[derive(Clone, Default)]
pub struct Loaded {
    /// The triangles of the meshes, and the origin of their coordinates.
    pub meshes: Arc<Vec<Triangles>>,
    pub origin: Vec3,
    /// The particles of the frame, if they are known.
    pub particles: Option<Arc<ShownParticles>>,
}

/// The kind of a particle. In place of an index it has a name that it keeps in all frames.
pub const PARTICLES: &str = "particles";

/// An object in the list of its kind: `body`, 0.
pub type Element = (&'static str, usize);

/// The object that a path such as `body[0]` names; the floor is the only one of its kind.
pub fn element_of(path: &str) -> Option<Element> {
    if path == "floor" {
        return Some(("floor", 0));
    }
    let (name, index) = path.strip_suffix(']')?.split_once('[')?;
    if name == PARTICLES {
        return Some((PARTICLES, index.parse().ok()?));
    }
    Some((LISTS.into_iter().find(|list| *list == name)?, index.parse().ok()?))
}

/// The path of an object: `body[0]`.
pub fn path_of((list, index): Element) -> String {
    if list == "floor" { list.to_owned() } else { format!("{list}[{index}]") }
}

/// The key of an object's place, and its value at a frame before it moves; None of a floor.
pub fn centre_of(scene: &Scene, (list, index): Element) -> Option<(&'static str, Vec3)> {
    let world = &scene.world;
    Some(match list {
        "body" => ("center", world.bodies.get(index)?.centre),
        "sphere" => ("center", world.spheres.get(index)?.centre),
        "ellipsoid" => ("center", world.ellipsoids.get(index)?.centre),
        "rectangle" => ("center", world.rectangles.get(index)?.centre),
        "mesh" => ("offset", world.meshes.get(index)?.offset),
        "light" => ("position", world.lights.get(index)?.position),
        _ => return None,
    })
}

/// The radius of a ball around an object, and that of one in it.
pub fn radii_of(scene: &Scene, (list, index): Element) -> Option<[f64; 2]> {
    let world = &scene.world;
    Some(match list {
        "body" => world.bodies.get(index).map(|body| [body.radius, body.radius * body.solid.inradius()])?,
        "sphere" => [world.spheres.get(index)?.radius; 2],
        "ellipsoid" => {
            let ellipsoid = world.ellipsoids.get(index)?;
            [ellipsoid.reach(), ellipsoid.radii.into_iter().fold(f64::MAX, f64::min)]
        }
        "rectangle" => [length([world.rectangles.get(index)?.size, [0.0; 2]].concat().try_into().ok()?) / 2.0, 0.0],
        "light" => [world.lights.get(index)?.radius; 2],
        _ => return None,
    })
}

/// The keys by which an object is sized and turned, with their values at the clip's start.
pub fn handles_of(scene: &Scene, (list, index): Element) -> Option<Vec<(&'static str, Vec<f64>)>> {
    let world = &scene.world;
    Some(match list {
        "body" => {
            let body = world.bodies.get(index)?;
            vec![("radius", vec![body.radius]), ("angle_deg", vec![body.rotation.angle_deg])]
        }
        "sphere" => vec![("radius", vec![world.spheres.get(index)?.radius])],
        "ellipsoid" => {
            let ellipsoid = world.ellipsoids.get(index)?;
            vec![("radii", ellipsoid.radii.into()), ("angle_deg", vec![ellipsoid.rotation.angle_deg])]
        }
        "rectangle" => {
            let rectangle = world.rectangles.get(index)?;
            vec![("size", rectangle.size.into()), ("angle_deg", vec![rectangle.angle_deg])]
        }
        "mesh" => vec![("scale", vec![world.meshes.get(index)?.scale])],
        "light" => vec![("radius", vec![world.lights.get(index)?.radius])],
        _ => return None,
    })
}

/// A line from the eye.
struct Ray {
    from: Vec3,
    way: Vec3,
}

impl Ray {
    fn at(&self, t: f64) -> Vec3 {
        add(self.from, scale(self.way, t))
    }
    // Where it meets a plane.
    fn plane(&self, through: Vec3, normal: Vec3) -> Option<f64> {
        let t = dot(sub(through, self.from), normal) / dot(self.way, normal);
        (t.is_finite() && t > 0.0).then_some(t)
    }
    // Where it meets a convex polygon, from either side.
    fn polygon(&self, ring: &[Vec3]) -> Option<f64> {
        let [a, b, c, ..] = *ring else { return None };
        let normal = cross(sub(b, a), sub(c, a));
        let t = self.plane(a, normal)?;
        let point = self.at(t);
        let sides = ring.iter().zip(ring.iter().cycle().skip(1));
        let mut sides = sides.map(|(&p, &q)| dot(cross(sub(q, p), sub(point, p)), normal));
        sides.all(|side| side >= 0.0).then_some(t)
    }
    // Where it meets an ellipsoid.
    fn ball(&self, centre: Vec3, axes: &[Vec3; 3]) -> Option<f64> {
        let (from, way) = (within(sub(self.from, centre), axes), within(self.way, axes));
        let (a, b, c) = (dot(way, way), dot(from, way), dot(from, from) - 1.0);
        let root = (b * b - a * c).sqrt();
        [-b - root, -b + root].into_iter().map(|t| t / a).find(|t| *t > 0.0)
    }
    fn meets(&self, shape: &Shape) -> Option<f64> {
        match shape {
            Shape::Faces(faces, _) => faces.iter().filter_map(|ring| self.polygon(ring)).min_by(f64::total_cmp),
            Shape::Ball(centre, axes) => self.ball(*centre, axes),
            Shape::Mesh(triangles, origin) => {
                let ray = Ray { from: sub(self.from, *origin), way: self.way };
                let all = triangles.corners.iter();
                all.filter_map(|ring| ray.polygon(&ring.map(|p| p.map(f64::from)))).min_by(f64::total_cmp)
            }
        }
    }
}

// A polygon with sides in pieces, which are curves where pixels are angles.
fn in_pieces(ring: &[Vec3]) -> Vec<Vec3> {
    let count = if ring.len() < PIECES { PIECES } else { 1 };
    let sides = ring.iter().zip(ring.iter().cycle().skip(1));
    sides.flat_map(|(&p, &q)| (0..count).map(move |i| add(p, scale(sub(q, p), i as f64 / count as f64)))).collect()
}

// A vector in an ellipsoid's half axes.
fn within(v: Vec3, axes: &[Vec3; 3]) -> Vec3 {
    axes.map(|axis| dot(axis, v) / dot(axis, axis))
}

fn round(radius: f64) -> [Vec3; 3] {
    [[radius, 0.0, 0.0], [0.0, radius, 0.0], [0.0, 0.0, radius]]
}

/// The scene at a frame, and a view of it.
pub struct Aim<'a> {
    scene: Cow<'a, Scene>,
    view: View,
    // In pixels.
    size: (u32, u32),
    loaded: &'a Loaded,
}

impl<'a> Aim<'a> {
    /// `asked` is the viewpoint if it is not the camera's own.
    pub fn new(scene: &'a Scene, frame: u32, asked: Option<Viewpoint>, loaded: &'a Loaded) -> Aim<'a> {
        let frame = frame.min(scene.output.frames - 1);
        let camera = scene.camera_at(f64::from(frame));
        let camera = asked.map_or(camera.clone(), |view| Cow::Owned(view.camera(&camera)));
        let view = camera.view(frame, scene.output.frames);
        let size = (scene.render.width, scene.render.height);
        Aim { scene: scene.at(f64::from(frame)), view, size, loaded }
    }

    /// What the camera looks at, the directions to the right of the picture and back to the eye.
    pub fn directions(&self) -> [Vec3; 3] {
        let View { eye, right, forward, .. } = self.view;
        [add(eye, scale(forward, self.view.distance)), right, scale(forward, -1.0)]
    }

    /// Half of the picture's width at the distance of a point.
    pub fn reach(&self, point: Vec3) -> f64 {
        self.view.pixel_at(length(sub(point, self.view.eye)), self.size) * f64::from(self.size.0) / 2.0
    }

    /// Whether the picture has all of a ball.
    pub fn shows(&self, centre: Vec3, radius: f64) -> bool {
        let edge = self.edge_of_ball(centre, &round(radius));
        let [right, top] = [self.size.0, self.size.1].map(|side| f64::from(side) / 2.0);
        let is_within = |[x, y]: [f64; 2]| x.abs() <= right && y.abs() <= top;
        !edge.is_empty()
            && self.in_sight(&edge).len() == edge.len()
            && edge.iter().all(|point| self.view.project(*point, self.size).is_some_and(is_within))
    }

    // The ray through a point of the picture, which is 1 x 1 with its origin at the top left.
    fn ray(&self, [x, y]: [f64; 2]) -> Option<Ray> {
        let at = [(x - 0.5) * f64::from(self.size.0), (0.5 - y) * f64::from(self.size.1)];
        self.view.ray(at, self.size).map(|(from, way)| Ray { from, way })
    }

    /// Where an object is at this frame.
    pub fn centre(&self, place: Element) -> Option<Vec3> {
        if let (PARTICLES, name) = place {
            return self.loaded.particles.as_ref()?.centre(name);
        }
        centre_of(&self.scene, place).map(|(_, centre)| centre)
    }

    fn shape(&self, (list, index): Element) -> Option<Shape<'a>> {
        let world = &self.scene.world;
        Some(match list {
            "body" => {
                let body: &Body = world.bodies.get(index)?;
                let corners: Vec<Vec3> = body.vertices().into_iter().map(|v| add(body.centre, v)).collect();
                let faces = Solid::faces(body.solid).iter();
                Shape::Faces(faces.map(|ring| ring.iter().map(|&i| corners[i]).collect()).collect(), true)
            }
            "sphere" => {
                let Sphere { centre, radius, .. } = world.spheres.get(index)?;
                Shape::Ball(*centre, round(*radius))
            }
            "ellipsoid" => {
                let ellipsoid: &Ellipsoid = world.ellipsoids.get(index)?;
                let axes = ellipsoid.axes();
                Shape::Ball(ellipsoid.centre, [0, 1, 2].map(|i| scale(axes[i], ellipsoid.radii[i])))
            }
            "rectangle" => Shape::Faces(vec![world.rectangles.get(index)?.corners().into()], false),
            "light" => {
                let Light { position, radius, .. } = world.lights.get(index)?;
                Shape::Ball(*position, round(radius.max(LIGHT * length(sub(*position, self.view.eye)))))
            }
            "mesh" if index < world.meshes.len() => Shape::Mesh(self.loaded.meshes.get(index)?, self.loaded.origin),
            "floor" => {
                let floor = world.floor.as_ref()?;
                let middle = scale(floor.corners.into_iter().fold([0.0; 3], add), 0.25);
                let far = if floor.shape == FloorShape::Endless { ENDLESS } else { 1.0 };
                let corner = |&corner: &Vec3| add(middle, scale(sub(corner, middle), far));
                Shape::Faces(vec![perimeter_order(floor.corners).iter().map(corner).collect()], false)
            }
            _ => return None,
        })
    }

    /// All objects that a point of the picture shows or hides, the nearest first, each with the point where it is met.
    pub fn hits(&self, at: [f64; 2]) -> Vec<(Element, Vec3)> {
        let (Some(ray), world) = (self.ray(at), &self.scene.world) else { return Vec::new() };
        let counts = [
            ("body", world.bodies.len()),
            ("sphere", world.spheres.len()),
            ("ellipsoid", world.ellipsoids.len()),
            ("rectangle", world.rectangles.len()),
            ("mesh", world.meshes.len()),
            ("light", world.lights.len()),
            ("floor", 1),
        ];
        let places = counts.into_iter().flat_map(|(list, count)| (0..count).map(move |i| (list, i)));
        let mut hits: Vec<(Element, f64)> =
            places.filter_map(|place| Some((place, ray.meets(&self.shape(place)?)?))).collect();
        let line = Line { from: ray.from, way: ray.way };
        let cuts = world.particles.as_ref().map_or(&[][..], |particles| &particles.cuts);
        let grain = self.loaded.particles.as_ref().and_then(|particles| particles.hit(line, cuts));
        hits.extend(grain.map(|(name, t)| ((PARTICLES, name), t)));
        hits.sort_by(|a, b| a.1.total_cmp(&b.1));
        hits.into_iter().map(|(place, t)| (place, ray.at(t))).collect()
    }

    /// The outline of an object in lines of the picture: the edges of its faces in front, without what is behind the eye.
    pub fn outline(&self, place: Element) -> Value {
        let parts = match (place, &self.loaded.particles) {
            ((PARTICLES, name), Some(particles)) => particles.parts(name),
            _ => Vec::new(),
        };
        let parts = parts.into_iter().map(|part| match part {
            OutlinePart::Ball(centre, axes) => Shape::Ball(centre, axes),
            OutlinePart::Body(faces) => Shape::Faces(faces, true),
            OutlinePart::Disc(ring) => Shape::Faces(vec![ring], false),
        });
        let rings = parts.chain(self.shape(place)).flat_map(|shape| self.rings(shape));
        let (width, height) = (f64::from(self.size.0), f64::from(self.size.1));
        let is_round = self.view.projection.is_round();
        let place = |point: &Vec3| {
            let [x, y] = self.view.project(*point, self.size)?;
            Some([0.5 + x / width, 0.5 - y / height].map(|x| (x * 1e5).round() / 1e5))
        };
        // What goes around a panorama is at both of its ends.
        let is_near = |p: &[f64; 2], q: &[f64; 2]| !is_round || (0..2).all(|i| (p[i] - q[i]).abs() < 0.25);
        let lines = rings.flat_map(|ring| {
            let points = if is_round { in_pieces(&ring) } else { self.in_sight(&ring) };
            let placed: Vec<_> = points.iter().filter_map(place).collect();
            placed.chunk_by(is_near).map(<[_]>::to_vec).collect::<Vec<_>>()
        });
        let lines: Vec<_> = lines.filter(|line| line.len() > 1).collect();
        json!(lines)
    }

    // The lines around a shape.
    fn rings(&self, shape: Shape) -> Vec<Vec<Vec3>> {
        match shape {
            Shape::Faces(faces, is_solid) => {
                faces.into_iter().filter(|ring| !is_solid || self.is_in_front(ring)).collect()
            }
            Shape::Ball(centre, axes) => vec![self.edge_of_ball(centre, &axes)],
            Shape::Mesh(triangles, origin) => {
                let points = triangles.corners.iter().flatten().map(|p| p.map(f64::from));
                let ends = points.fold([[f64::MAX; 3], [f64::MIN; 3]], |[low, high], p| {
                    [[0, 1, 2].map(|i| p[i].min(low[i])), [0, 1, 2].map(|i| p[i].max(high[i]))]
                });
                let corner = |i: usize| add(origin, [ends[i & 1][0], ends[i >> 1 & 1][1], ends[i >> 2][2]]);
                let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
                faces.map(|ring| ring.map(corner).to_vec()).into_iter().filter(|ring| self.is_in_front(ring)).collect()
            }
        }
    }

    // Towards the eye from a point.
    fn back(&self, point: Vec3) -> Vec3 {
        match self.view.projection {
            Projection::Orthographic => scale(self.view.forward, -1.0),
            _ => sub(self.view.eye, point),
        }
    }

    fn is_in_front(&self, ring: &[Vec3]) -> bool {
        let [a, b, c, ..] = *ring else { return false };
        dot(cross(sub(b, a), sub(c, a)), self.back(a)) > 0.0
    }

    // Where an ellipsoid turns away from the eye; nothing from within.
    fn edge_of_ball(&self, centre: Vec3, axes: &[Vec3; 3]) -> Vec<Vec3> {
        let eye = within(self.back(centre), axes);
        let far = length(eye);
        // In its half axes the edge is a circle.
        let (middle, radius) = match self.view.projection {
            Projection::Orthographic => ([0.0; 3], 1.0),
            _ if far <= 1.0 => return Vec::new(),
            _ => (scale(eye, 1.0 / (far * far)), (1.0 - 1.0 / (far * far)).sqrt()),
        };
        let toward = normalise(eye);
        let other = if toward[2].abs() < 0.9 { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] };
        let side = normalise(cross(toward, other));
        let above = cross(toward, side);
        let point = |i: u32| {
            let angle = TAU * f64::from(i) / f64::from(SIDES);
            let turned = add(scale(side, libm::cos(angle)), scale(above, libm::sin(angle)));
            let p = add(middle, scale(turned, radius));
            [0, 1, 2].iter().fold(centre, |sum, &k| add(sum, scale(axes[k], p[k])))
        };
        (0..SIDES).map(point).collect()
    }

    // A polygon's part in front of the eye (Sutherland and Hodgman, "Reentrant polygon clipping", 1974).
    fn in_sight(&self, ring: &[Vec3]) -> Vec<Vec3> {
        let depth = |p: Vec3| dot(sub(p, self.view.eye), self.view.forward) - NEAR;
        let mut seen = Vec::new();
        for (&p, &q) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            let (a, b) = (depth(p), depth(q));
            if a >= 0.0 {
                seen.push(p);
            }
            if (a >= 0.0) != (b >= 0.0) {
                seen.push(add(p, scale(sub(q, p), a / (a - b) * (1.0 + 1e-9))));
            }
        }
        seen
    }

    /// How far a drag leads from the point that was grabbed to a point of the picture: along the floor, or upright. None if it leads
    /// nowhere.
    pub fn drag(&self, grabbed: Vec3, to: [f64; 2], is_upright: bool) -> Option<Vec3> {
        let up = self.scene.world.ground().map_or([0.0, 0.0, 1.0], |ground| ground.normal);
        let ray = self.ray(to)?;
        // The plane of a drag upwards faces the eye.
        let forward = if self.view.projection.is_round() { self.back(grabbed) } else { self.view.forward };
        let normal = if is_upright { sub(forward, scale(up, dot(forward, up))) } else { up };
        let t = ray.plane(grabbed, normal).filter(|&t| t < FARTHEST * length(sub(grabbed, self.view.eye)))?;
        let by = sub(ray.at(t), grabbed);
        Some(if is_upright { scale(up, dot(by, up)) } else { by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What a pixel shows is picked there, its outline goes around it, and a drag leads to where the mouse is.
    #[test]
    fn objects_are_where_they_are_seen_in_every_view() {
        let loaded = Loaded::default();
        for view in [
            "fov_deg = 70",
            "projection = \"orthographic\"\nwidth = 9",
            "projection = \"panorama\"",
            "projection = \"fisheye\"\nfov_deg = 220",
            "projection = \"fisheye\"\nmapping = \"equisolid\"",
            "projection = \"panorama\"\nstereo = \"side-by-side\"\neye_distance = 0",
        ] {
            let text = format!(
                "[output]\nsize = [80, 40]\n[camera]\n{view}\nposition = [6, 0, 2]\nlook_at = [0, 0, 0]\n\
                 [[body]]\nsolid = \"cube\"\ncenter = [0, 1, 0]\n[[sphere]]\ncenter = [0, -1, 0]\nradius = 0.6\n\
                 [floor]\ncorners = [[-9, -9, -1], [-9, 9, -1], [9, 9, -1], [9, -9, -1]]\n"
            );
            let scene = Scene::parse(&text, "s.toml", "".as_ref()).unwrap().scene;
            let aim = Aim::new(&scene, 0, None, &loaded);
            for (place, centre) in [(("body", 0), [0.0, 1.0, 0.0]), (("sphere", 0), [0.0, -1.0, 0.0])] {
                let [x, y] = aim.view.project(centre, (80, 40)).unwrap();
                let at = [0.5 + x / 80.0, 0.5 - y / 40.0];
                let hits = aim.hits(at);
                assert_eq!(hits[0].0, place, "{view}");
                let lines = aim.outline(place);
                let points: Vec<[f64; 2]> = serde_json::from_value::<Vec<Vec<[f64; 2]>>>(lines).unwrap().concat();
                for i in 0..2 {
                    let ends = points.iter().fold([1.0_f64, 0.0], |[a, b], p| [a.min(p[i]), b.max(p[i])]);
                    assert!(ends[0] < at[i] && at[i] < ends[1], "{view}: {ends:?}");
                    assert!(ends[1] - ends[0] < 0.6, "{view}: {ends:?}");
                }
                for is_upright in [false, true] {
                    let to = [at[0], at[1] - 0.02];
                    let grabbed = hits[0].1;
                    let by = aim.drag(grabbed, to, is_upright).unwrap();
                    assert_eq!(by[2] > 1e-3, is_upright, "{view}: {by:?}");
                }
            }
        }
        // A body behind the back of a panorama has its outline at both ends.
        let text = "[output]\nsize = [80, 40]\n[camera]\nprojection = \"panorama\"\nposition = [0, 0, 0]\nlook_at = [1, 0, 0]\n\
            [[body]]\nsolid = \"cube\"\ncenter = [-4, 0, 0]\n";
        let scene = Scene::parse(text, "s.toml", "".as_ref()).unwrap().scene;
        let lines = Aim::new(&scene, 0, None, &loaded).outline(("body", 0));
        let lines: Vec<Vec<[f64; 2]>> = serde_json::from_value(lines).unwrap();
        assert!(
            lines.len() > 1
                && lines.iter().all(|line| line.iter().all(|p| p[0] < 0.2) || line.iter().all(|p| p[0] > 0.8))
        );
    }
}
