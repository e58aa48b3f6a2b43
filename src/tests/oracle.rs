//! A second opinion: a brute-force tracer in f64 over triangles must give the same pictures. It follows the
//! description in docs/rendering.md and shares no code with the kernels.
use super::common::*;
use crate::assets::Assets;
use crate::assets::files::Files;
use crate::assets::particles::shape::Rod;
use crate::assets::texture::Texture;
use crate::math::srgb::linear;
use crate::math::vec3::*;
use crate::scene::{
    Body, Exposure, LampShape, Material, MaterialKind, Projection, Rotation, Scene, TextureSource, Tone,
};

mod lamps;
mod particles;

const EPSILON: f64 = 1e-7;

struct Triangle {
    corners: [Vec3; 3],
    normal: Vec3,
    owner: Owner,
}

#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Body(usize),
    Floor(usize),
    Ball(usize),
    Rod(usize),
    Ellipsoid(usize),
    Mesh(usize),
}

pub struct Oracle<'a> {
    scene: &'a Scene,
    triangles: Vec<Triangle>,
    edges: Vec<Vec<[Vec3; 2]>>,
    texture: Option<Texture>,
    balls: Vec<(Vec3, f64, Material)>,
    // Balls from here on are particles; and what particles have of cylinders, capsules and cones.
    first_particle: usize,
    rods: Vec<(Rod, Material)>,
}

// A point on a bar: its distance to the nearest edge, its position along the edge in edge lengths, the nearest point
// of the edge, and the outward direction of the edge.
struct OnBar {
    across: f64,
    along: f64,
    foot: Vec3,
    edge: Vec3,
    outward: Vec3,
}

struct Found {
    t: f64,
    normal: Vec3,
    owner: Owner,
}

fn times(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}
fn lin(c: Vec3) -> Vec3 {
    c.map(linear)
}
fn top(c: Vec3) -> f64 {
    c[0].max(c[1]).max(c[2])
}

impl<'a> Oracle<'a> {
    pub fn new(scene: &'a Scene) -> Oracle<'a> {
        let mut triangles = Vec::new();
        let mut edges = Vec::new();
        for (k, body) in scene.world.bodies.iter().enumerate() {
            let v: Vec<Vec3> = body.solid.vertices().iter().map(|&p| add(body.centre, scale(p, body.radius))).collect();
            for face in body.solid.faces() {
                for i in 1..face.len() - 1 {
                    let corners = [v[face[0]], v[face[i]], v[face[i + 1]]];
                    triangles.push(Triangle { corners, normal: plane_normal(corners), owner: Owner::Body(k) });
                }
            }
            edges.push(body.solid.edges().iter().map(|&[a, b]| [v[a], v[b]]).collect());
        }
        if let Some(floor) = &scene.world.floor {
            let p = floor.corners;
            for (i, corners) in [[p[0], p[1], p[2]], [p[0], p[2], p[3]]].into_iter().enumerate() {
                triangles.push(Triangle { corners, normal: plane_normal(corners), owner: Owner::Floor(i) });
            }
        }
        let texture = scene
            .world
            .floor
            .as_ref()
            .and_then(|f| f.texture.as_ref())
            .map(|t: &TextureSource| Texture::load(t, &Files::default()).unwrap());
        let assets = Assets::load(scene, &Files::default()).unwrap();
        for (i, mesh) in assets.meshes.iter().enumerate() {
            for corners in &mesh.corners {
                let corners = corners.map(|p| p.map(f64::from));
                triangles.push(Triangle { corners, normal: plane_normal(corners), owner: Owner::Mesh(i) });
            }
        }
        let mut balls: Vec<_> = scene.world.spheres.iter().map(|s| (s.centre, s.radius, s.material)).collect();
        let (first_particle, mut rods) = (balls.len(), Vec::new());
        if let Some(cloud) = &assets.particles {
            let look = |rod: &Rod| (*rod, cloud.colours[usize::from(rod.colour)]);
            rods.extend(cloud.shaped.rods.iter().map(look));
            let of = |i: usize| cloud.colours[usize::from(cloud.colour_indices[i])];
            let all = cloud.spheres.iter().enumerate();
            balls.extend(all.map(|(i, s)| (s.centre.map(f64::from), f64::from(s.radius), of(i))));
        }
        Oracle { scene, triangles, edges, texture, balls, first_particle, rods }
    }

    fn hits(&self, o: Vec3, d: Vec3) -> impl Iterator<Item = Found> {
        let whole = self.balls[..self.first_particle].iter();
        let balls = whole.enumerate().flat_map(move |(i, &(centre, radius, _))| {
            // The quadratic formula.
            let q = sub(o, centre);
            let (a, b, c) = (dot(d, d), dot(q, d), dot(q, q) - radius * radius);
            let root = (b * b - a * c).sqrt();
            [(-b - root) / a, (-b + root) / a].into_iter().filter(|&t| t > EPSILON).map(move |t| {
                let normal = normalise(sub(add(o, scale(d, t)), centre));
                Found { t, normal, owner: Owner::Ball(i) }
            })
        });
        // The quadric itself, |x|^2 / a^2 + |y|^2 / b^2 + |z|^2 / c^2 = 1 along its axes, and its gradient.
        let ellipsoids = self.scene.world.ellipsoids.iter().enumerate().flat_map(move |(i, e)| {
            let turned = |v: Vec3| Rotation { angle_deg: -e.rotation.angle_deg, ..e.rotation }.apply(v);
            let (q, way) = (turned(sub(o, e.centre)), turned(d));
            let form = |u: Vec3, v: Vec3| (0..3).map(|i| u[i] * v[i] / (e.radii[i] * e.radii[i])).sum::<f64>();
            let (a, b, c) = (form(way, way), form(q, way), form(q, q) - 1.0);
            let root = (b * b - a * c).sqrt();
            [(-b - root) / a, (-b + root) / a].into_iter().filter(|&t| t > EPSILON).map(move |t| {
                let p = add(q, scale(way, t));
                let gradient = [0, 1, 2].map(|i| p[i] / (e.radii[i] * e.radii[i]));
                Found { t, normal: normalise(e.rotation.apply(gradient)), owner: Owner::Ellipsoid(i) }
            })
        });
        let flat = self.triangles.iter().filter_map(move |triangle| {
            let [a, b, c] = triangle.corners;
            let (e1, e2) = (sub(b, a), sub(c, a));
            let p = cross(d, e2);
            let det = dot(e1, p);
            if det.abs() < 1e-14 {
                return None;
            }
            let s = sub(o, a);
            let u = dot(s, p) / det;
            let q = cross(s, e1);
            let v = dot(d, q) / det;
            let t = dot(e2, q) / det;
            (u >= -1e-12 && v >= -1e-12 && u + v <= 1.0 + 1e-12 && t > EPSILON).then_some(Found {
                t,
                normal: triangle.normal,
                owner: triangle.owner,
            })
        });
        balls.chain(ellipsoids).chain(flat).chain(self.particle_hits(o, d))
    }

    // Exposure brightens light by this factor; the cutoff is divided by it.
    fn brightening(&self) -> f64 {
        match self.scene.film.exposure {
            Exposure::Stops(stops) => stops.max(0.0).exp2(),
            Exposure::Auto => panic!("exposures by number here"),
        }
    }

    fn material(&self, owner: Owner) -> Material {
        match owner {
            Owner::Ball(i) => self.balls[i].2,
            Owner::Rod(i) => self.rods[i].1,
            Owner::Ellipsoid(i) => self.scene.world.ellipsoids[i].material,
            Owner::Mesh(i) => self.scene.world.meshes[i].material,
            _ => Material::default(),
        }
    }

    fn nearest_edge(&self, k: usize, p: Vec3) -> OnBar {
        let body = &self.scene.world.bodies[k];
        self.edges[k]
            .iter()
            .map(|&[a, b]| {
                let along = normalise(sub(b, a));
                let s = dot(sub(p, a), along).clamp(0.0, length(sub(b, a)));
                OnBar {
                    across: length(sub(sub(p, a), scale(along, s))),
                    along: s / length(sub(b, a)),
                    foot: add(a, scale(along, s)),
                    edge: along,
                    outward: normalise(sub(scale(add(a, b), 0.5), body.centre)),
                }
            })
            .min_by(|a, b| a.across.total_cmp(&b.across))
            .unwrap()
    }

    // The normal of a half-round bar at p: the edge's own direction at the edge (the opposite inside the body), leaning by
    // 1.2 into the face at the rim, and less where it would reflect into the face.
    #[expect(clippy::too_many_arguments, reason = "the vectors of one formula")]
    fn bar_normal(&self, body: &Body, at: &OnBar, p: Vec3, d: Vec3, face: Vec3, mirrors: bool) -> Vec3 {
        let entering = dot(face, at.outward) > 0.0;
        let into = normalise(sub(p, at.foot));
        let edge = if entering { at.outward } else { scale(at.outward, -1.0) };
        let first = dot(edge, into) / dot(edge, face);
        let lean = first + (1.2 - first) * at.across / (body.bar * body.radius);
        let leaning = normalise(add(face, scale(into, lean)));
        let round = sub(leaning, scale(d, dot(leaning, d).max(0.0)));
        let mirrored = sub(d, scale(round, 2.0 * dot(round, d)));
        let below = dot(mirrored, face) - 0.02;
        if below >= 0.0 || !entering || !mirrors {
            return round;
        }
        normalise(sub(normalise(sub(mirrored, scale(face, below))), d))
    }

    // `but` is a body that does not occlude.
    fn transmittance(&self, o: Vec3, d: Vec3, but: Option<usize>) -> Vec3 {
        let mut left = [1.0; 3];
        let mut crossed: Vec<(f64, Owner)> = Vec::new();
        for found in self.hits(o, d).filter(|f| f.t < 1.0 - EPSILON) {
            // At a seam, two triangles of one face meet the ray; count them once.
            let key = (found.t, found.owner);
            if crossed.iter().any(|c| (c.0 - key.0).abs() < 1e-9 && c.1 == key.1) {
                continue;
            }
            crossed.push(key);
            match found.owner {
                Owner::Floor(_) => return [0.0; 3],
                Owner::Ball(_) | Owner::Rod(_) | Owner::Ellipsoid(_) | Owner::Mesh(_) => {
                    let m = self.material(found.owner);
                    let MaterialKind::Plain { transparency, .. } = m.kind else { panic!("plain materials here") };
                    left = times(left, scale(lin(m.colour), transparency));
                }
                Owner::Body(k) if Some(k) == but => {}
                Owner::Body(k) => {
                    let body = &self.scene.world.bodies[k];
                    if self.nearest_edge(k, add(o, scale(d, found.t))).across < body.bar * body.radius {
                        return [0.0; 3];
                    }
                    let mut through = body.material.shares().1;
                    if let (Some(inside), true) = (body.reflection_inside, dot(found.normal, d) > 0.0) {
                        through = through.min(1.0 - inside);
                    }
                    left = times(left, scale(lin(body.material.colour), through));
                }
            }
        }
        left
    }

    fn floor_picture(&self, i: usize, p: Vec3, footprint: f64, cosine: f64) -> Vec3 {
        let Some(texture) = &self.texture else { return [1.0; 3] };
        let c = self.scene.world.floor.as_ref().unwrap().corners;
        // The floor's u and v at the corners, interpolated by barycentric weights.
        let (tri, uv) = if i == 0 {
            ([c[0], c[1], c[2]], [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
        } else {
            ([c[0], c[2], c[3]], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        };
        let at = |p: Vec3| {
            let n = cross(sub(tri[1], tri[0]), sub(tri[2], tri[0]));
            let w = |a: Vec3, b: Vec3| dot(cross(sub(a, p), sub(b, p)), n) / dot(n, n);
            let w = [w(tri[1], tri[2]), w(tri[2], tri[0]), w(tri[0], tri[1])];
            [0, 1].map(|k| (0..3).map(|j| w[j] * uv[j][k]).sum::<f64>())
        };
        let here = at(p);
        // Gradients by finite differences within the plane.
        let x = normalise(sub(tri[1], tri[0]));
        let y = cross(normalise(cross(sub(tri[1], tri[0]), sub(tri[2], tri[0]))), x);
        let (dx, dy) = (at(add(p, scale(x, 1e-4))), at(add(p, scale(y, 1e-4))));
        let gradient = |k: usize| ((dx[k] - here[k]).powi(2) + (dy[k] - here[k]).powi(2)).sqrt() / 1e-4;
        let density = gradient(0).max(gradient(1));
        let finest = &texture.levels[0];
        let covered =
            (footprint * density * f64::from(finest.width.max(finest.height)) / cosine.abs().max(1e-2).sqrt()).max(1.0);
        let level = (covered.log2().floor() as usize).min(texture.levels.len() - 1);
        let part = if level + 1 < texture.levels.len() { covered / 2.0_f64.powi(level as i32) - 1.0 } else { 0.0 };
        let sample = |level: usize| {
            let l = &texture.levels[level.min(texture.levels.len() - 1)];
            let coordinate = |t: f64, n: u32| {
                let x = (t * f64::from(n) - 0.5).max(0.0);
                let i = (x.floor() as u32).min(n - 1);
                (i, (i + 1).min(n - 1), x - x.floor())
            };
            let ((x0, x1, fx), (y0, y1, fy)) = (coordinate(here[0], l.width), coordinate(here[1], l.height));
            let texel = |x: u32, y: u32| l.cells[(y * l.width + x) as usize].map(|c| f64::from(c) / 65535.0);
            let mix = |a: Vec3, b: Vec3, t: f64| add(a, scale(sub(b, a), t));
            mix(mix(texel(x0, y0), texel(x1, y0), fx), mix(texel(x0, y1), texel(x1, y1), fx), fy)
        };
        add(scale(sample(level), 1.0 - part), scale(sample(level + 1), part))
    }

    // `width` is that of the ray's cone at o; `growth` is its growth per distance, relative to the camera's spread.
    #[expect(clippy::too_many_arguments, reason = "the state of a ray")]
    #[expect(clippy::too_many_lines, reason = "one surface after another, as a text on optics has it")]
    fn radiance(&self, o: Vec3, d: Vec3, weight: Vec3, bounces: u32, (width, growth): (f64, f64), spread: f64) -> Vec3 {
        let scene = self.scene;
        let Some(found) = self.hits(o, d).min_by(|a, b| a.t.total_cmp(&b.t)) else {
            let up = d[2].max(0.0);
            return add(scale(lin(scene.world.sky.horizon), 1.0 - up), scale(lin(scene.world.sky.zenith), up));
        };
        let p = add(o, scale(d, found.t));
        let width = width + found.t * growth * spread;
        let outward = found.normal;
        let entering = dot(outward, d) < 0.0;
        let mut n = if entering { outward } else { scale(outward, -1.0) };
        let mut local;
        let mut emission = [0.0; 3];
        let mut mirrored_growth = growth;
        // Outside, the body does not occlude its bar; inside, the bar blocks light from behind its face.
        let (mut proud, mut behind) = (None, None);
        let mut albedo;
        let (mut transmit, mut through, mut ior) = ([0.0; 3], 0.0, 1.0);
        let mut reflect;
        let mut shine = scene.world.highlight;
        match found.owner {
            Owner::Ball(_) | Owner::Rod(_) | Owner::Ellipsoid(_) | Owner::Mesh(_) => {
                let m = self.material(found.owner);
                let MaterialKind::Plain { reflection, transparency, ior: index } = m.kind else {
                    panic!("plain materials here")
                };
                albedo = lin(m.colour);
                local = (1.0 - reflection - transparency).max(0.0);
                (reflect, through, transmit) = (reflection, transparency, scale(albedo, transparency));
                ior = if entering { 1.0 / index } else { index };
                shine = m.highlight.unwrap_or(shine);
            }
            Owner::Floor(i) => {
                let floor = scene.world.floor.as_ref().unwrap();
                let picture = self.floor_picture(i, p, width, dot(n, d));
                let reflection = floor.material.shares().0;
                (albedo, reflect, local) = (times(lin(floor.material.colour), picture), reflection, 1.0 - reflection);
            }
            Owner::Body(k) => {
                let body = &scene.world.bodies[k];
                let (mut reflection, mut transparency) = body.material.shares();
                if let (Some(inside), false) = (body.reflection_inside, entering) {
                    // A one-way mirror transmits at most what it does not reflect.
                    (reflection, transparency) = (inside, transparency.min(1.0 - inside));
                }
                albedo = lin(body.material.colour);
                local = (1.0 - reflection - transparency).max(0.0);
                ior = if entering { 1.0 / body.material.ior() } else { body.material.ior() };
                (reflect, through, transmit) = (reflection, transparency, scale(albedo, transparency));
                if matches!(body.material.kind, MaterialKind::Glass { .. }) {
                    local = 0.0;
                    reflect = mirrored_share(ior, -dot(n, d));
                    through = 1.0 - reflect;
                    transmit = scale(albedo, through);
                }
                // Outside, the body does not occlude its bar; inside, the bar blocks light from behind its face.
                (proud, behind) = if entering { (Some(k), None) } else { (None, Some(outward)) };
            }
        }
        let cosine = -dot(n, d);
        if 1.0 - ior * ior * (1.0 - cosine * cosine) < 0.0 {
            // Total reflection: transmitted light is reflected instead, without a tint.
            (reflect, transmit) = ((reflect + through).min(1.0), [0.0; 3]);
        }
        albedo = scale(albedo, local);
        shine *= local;
        if let Owner::Body(k) = found.owner
            && scene.world.bodies[k].bar > 0.0
        {
            let body = &scene.world.bodies[k];
            let place = self.nearest_edge(k, p);
            let rim = body.bar * body.radius;
            // The footprint is the cone's cross-section, projected along the ray onto the face.
            let on_face = |way: Vec3| width * (1.0 + (dot(way, d) / dot(n, d).abs().max(0.01)).powi(2)).sqrt();
            let into = normalise(sub(p, place.foot));
            let (over, along) = (on_face(into), on_face(cross(n, into)));
            // Only 0.6 of the footprint counts at the rim.
            let mut hidden = 0.0;
            let ends = [place.across - 0.3 * over, place.across + 0.3 * over];
            let cover = ((ends[1].min(rim) - ends[0].max(-rim)) / (0.6 * over)).clamp(0.0, 1.0);
            if body.lamps.count() > 0 || body.lamps.is_strip() {
                if body.lamp_shape == LampShape::Dome {
                    (emission, hidden) = self.domes(body, &place, [p, d, outward], width, cover);
                } else {
                    let round = width / dot(n, d).abs().max(0.01).sqrt();
                    emission = self.discs(body, &place, [over, along, round], cover);
                }
            }
            let clear = 1.0 - hidden;
            let mirrors = entering && bounces < 2;
            let by_bar = if mirrors { body.bar_reflection * cover } else { 0.0 };
            if cover > 0.5 && reflect * (1.0 - cover) <= by_bar {
                let at_edge = dot(n, place.outward).abs();
                n = self.bar_normal(body, &place, p, d, n, mirrors);
                // The bar's normal turns from the edge's direction to that at the rim. Its reflection turns twice as
                // much.
                let first = if entering { -1.0 } else { 1.0 } * (1.0 / (at_edge * at_edge) - 1.0).sqrt();
                let lean = first + (1.2 - first) * (place.across / rim).min(1.0);
                let turn = (1.2 - first) / rim / (1.0 + lean * lean) * over;
                let wider = growth + 2.0 * turn / spread;
                mirrored_growth = ((growth * wider).sqrt().log2() + 0.5).floor().exp2();
            }
            let mix = |a: f64, b: f64| a + (b - a) * cover;
            let bar = lin(body.bar_colour);
            albedo = [0, 1, 2].map(|i| clear * mix(albedo[i], bar[i]));
            shine = clear * mix(shine, scene.world.highlight);
            reflect = clear * (reflect * (1.0 - cover) + by_bar);
            transmit = scale(transmit, clear * (1.0 - cover));
        }
        let cosine = -dot(n, d);
        let k = 1.0 - ior * ior * (1.0 - cosine * cosine);
        let mut sum = add(emission, times(albedo, lin(scene.world.ambient)));
        for light in &scene.world.lights {
            let to = sub(light.position, p);
            let l = normalise(to);
            let lambert = dot(n, l);
            if lambert <= 0.0 || behind.is_some_and(|face| dot(face, l) > 0.0) {
                continue;
            }
            let half = normalise(sub(l, d));
            let highlight = shine * dot(n, half).max(0.0).powi(64);
            let lit = times(albedo.map(|a| a * lambert + highlight), lin(light.colour));
            if !scene.render.shadows {
                sum = add(sum, lit);
            } else if top(times(weight, lit)) > 0.5 * scene.render.cutoff / self.brightening() {
                sum = add(
                    sum,
                    times(lit, self.transmittance(add(p, scale(n, EPSILON)), sub(to, scale(n, EPSILON)), proud)),
                );
            }
        }
        if bounces == scene.render.depth {
            return sum;
        }
        let mirrored = sub(d, scale(n, 2.0 * dot(n, d)));
        let onward = |sum: &mut Vec3, direction: Vec3, factor: Vec3, growth: f64| {
            let weight = times(weight, factor);
            if top(factor) > 0.0 && top(weight) >= scene.render.cutoff / self.brightening() {
                let more = self.radiance(p, direction, weight, bounces + 1, (width, growth), spread);
                *sum = add(*sum, times(factor, more));
            }
        };
        onward(&mut sum, mirrored, [reflect; 3], mirrored_growth);
        let through = match ior {
            1.0 => d,
            _ => normalise(add(scale(d, ior), scale(n, ior * cosine - k.max(0.0).sqrt()))),
        };
        onward(&mut sum, through, transmit, growth);
        sum
    }

    // Textbook path tracing without the kernels' optimizations: no roulette and no sampling of emitters.
    fn walk(&self, mut o: Vec3, mut d: Vec3, random: &mut dyn FnMut() -> f64) -> Vec3 {
        let mut weight = [1.0; 3];
        for _ in 0..=self.scene.render.depth {
            let Some(found) = self.hits(o, d).min_by(|a, b| a.t.total_cmp(&b.t)) else {
                let up = if self.scene.world.sky.from_below { 0.5 * (d[2] + 1.0) } else { d[2].max(0.0) };
                let (low, high) = (lin(self.scene.world.sky.horizon), lin(self.scene.world.sky.zenith));
                return times(weight, add(scale(low, 1.0 - up), scale(high, up)));
            };
            let entering = dot(found.normal, d) < 0.0;
            let n = if entering { found.normal } else { scale(found.normal, -1.0) };
            let mut unit = || loop {
                let p = [0; 3].map(|_| 2.0 * random() - 1.0);
                let square = dot(p, p);
                if square > 1e-12 && square <= 1.0 {
                    return scale(p, 1.0 / square.sqrt());
                }
            };
            let m = self.material(found.owner);
            let colour = lin(m.colour);
            let mirrored = sub(d, scale(n, 2.0 * dot(n, d)));
            o = add(o, scale(d, found.t));
            d = match m.kind {
                MaterialKind::Plain { .. } => {
                    weight = times(weight, colour);
                    normalise(add(n, unit()))
                }
                MaterialKind::Metal { fuzz, .. } => {
                    weight = times(weight, colour);
                    let spread = add(mirrored, scale(unit(), fuzz));
                    if dot(spread, n) <= 0.0 {
                        return [0.0; 3];
                    }
                    normalise(spread)
                }
                MaterialKind::Glass { ior, .. } => {
                    let ratio = if entering { 1.0 / ior } else { ior };
                    let cosine = (-dot(n, d)).min(1.0);
                    let sine2 = ratio * ratio * (1.0 - cosine * cosine);
                    if random() < mirrored_share(ratio, cosine) {
                        mirrored
                    } else {
                        normalise(add(scale(d, ratio), scale(n, ratio * cosine - (1.0 - sine2).sqrt())))
                    }
                }
                MaterialKind::Light { strength } => return scale(times(weight, colour), strength),
            };
        }
        [0.0; 3]
    }

    // The mean of many paths through each pixel, in linear light.
    pub fn walks(&self, each: u32) -> Vec<Vec3> {
        let scene = self.scene;
        let view = scene.camera.view(0, scene.output.frames);
        let focal = view.focal(scene.render.width, scene.render.height);
        let mut state = 0x1234_5678_9abc_def1_u64;
        // Xorshift64*.
        let mut random = move || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
        };
        let pixels = (0..scene.render.height).flat_map(|y| (0..scene.render.width).map(move |x| (x, y)));
        pixels
            .map(|(x, y)| {
                let mut sum = [0.0; 3];
                for _ in 0..each {
                    let px = f64::from(x) + random() - f64::from(scene.render.width) / 2.0;
                    let py = f64::from(y) + random() - f64::from(scene.render.height) / 2.0;
                    let d = add(scale(view.forward, focal), sub(scale(view.right, px), scale(view.up, py)));
                    let sharp = add(view.eye, scale(d, scene.camera.focus / focal));
                    let lens = loop {
                        let p = [2.0 * random() - 1.0, 2.0 * random() - 1.0];
                        if p[0] * p[0] + p[1] * p[1] <= 1.0 {
                            break p.map(|c| c * scene.camera.lens);
                        }
                    };
                    let o = add(view.eye, add(scale(view.right, lens[0]), scale(view.up, lens[1])));
                    sum = add(sum, self.walk(o, normalise(sub(sharp, o)), &mut random));
                }
                scale(sum, 1.0 / f64::from(each))
            })
            .collect()
    }

    pub fn picture(&self, frame: u32) -> Vec<[f64; 3]> {
        let (scene, n) = (self.scene, self.scene.render.own_samples());
        let view = scene.camera.view(frame, scene.output.frames);
        let focal = view.focal(scene.render.width, scene.render.height);
        let unit = view.units_per_pixel(scene.render.width, scene.render.height);
        let is_parallel = view.projection == Projection::Orthographic;
        // Parallel rays have cones that hardly grow.
        let spread = if is_parallel { 1e-8 } else { 1.0 / (focal * f64::from(n)) };
        let cone = if is_parallel { unit / f64::from(n) } else { 0.0 };
        let mut pixels = Vec::new();
        for y in 0..scene.render.height {
            for x in 0..scene.render.width {
                let mut sum = [0.0; 3];
                for s in 0..n * n {
                    let px =
                        f64::from(x) + (f64::from(s % n) + 0.5) / f64::from(n) - f64::from(scene.render.width) / 2.0;
                    let py =
                        f64::from(y) + (f64::from(s / n) + 0.5) / f64::from(n) - f64::from(scene.render.height) / 2.0;
                    let Some((o, d)) = view.ray([px, -py], (scene.render.width, scene.render.height)) else { continue };
                    sum = add(sum, self.radiance(o, d, [1.0; 3], 0, (cone, 1.0), spread));
                }
                pixels.push(scale(sum, 1.0 / f64::from(n * n)).map(|c| code_of(scene, c)));
            }
        }
        pixels
    }
}

// The 8-bit code of linear light by the scene's tone curve.
pub fn code_of(scene: &Scene, linear: f64) -> f64 {
    match scene.film.tone {
        Tone::Soft => code(linear),
        Tone::Clip { gamma } if gamma > 0.0 => libm::pow(linear.clamp(0.0, 1.0), 1.0 / gamma) * 255.0,
        _ => crate::math::srgb::srgb(linear.clamp(0.0, 1.0)) * 255.0,
    }
}

// Fresnel's reflection by sines and tangents of the sum and the difference of angles.
fn mirrored_share(ratio: f64, cosine: f64) -> f64 {
    let inward = cosine.clamp(1e-9, 1.0 - 1e-9).acos();
    let sine = ratio * inward.sin();
    if sine >= 1.0 {
        return 1.0;
    }
    let onward = sine.asin();
    let (less, more) = (inward - onward, inward + onward);
    0.5 * ((less.sin() / more.sin()).powi(2) + (less.tan() / more.tan()).powi(2))
}

fn plane_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    normalise(cross(sub(b, a), sub(c, a)))
}
