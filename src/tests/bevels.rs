//! Bevels: the shape of bodies with round edges, against its definition in double precision.
use super::common::*;
use crate::device::{Device, FilmSlice, Task, TaskOutput};
use crate::gpu_types::{FIXED_ONE, Features};
use crate::kernels::Isa;
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::{Body, Scene, Solid};
use crate::{RenderOptions, Renderer};

const SIDE: u32 = 32;
const FOV_DEG: f64 = 40.0;

// The faces of a body, and the width of its bevels measured from the adjacent face's plane.
struct Round {
    normals: Vec<Vec3>,
    reach: f64,
    width: f64,
}

impl Round {
    fn of(body: &Body, bevel: f64) -> Round {
        let (solid, radius) = (body.solid, body.radius);
        let (reach, half_edge) = (solid.inradius() * radius, 0.5 * solid.edge_length() * radius);
        // Bevels of a face meet in its middle at most: as far from its edges as its inscribed circle is wide.
        let circle = (radius * radius - half_edge * half_edge - reach * reach).sqrt();
        let width = (bevel * radius).min(circle) * solid.edge_sine();
        Round { normals: body.normals(), reach, width }
    }
    fn terms(&self, q: Vec3) -> impl Iterator<Item = (Vec3, f64)> {
        self.normals.iter().map(move |&n| (n, (1.0 + (dot(n, q) - self.reach) / self.width).max(0.0)))
    }
    // Below 0 inside.
    fn excess(&self, q: Vec3) -> f64 {
        self.terms(q).map(|(_, term)| term * term).sum::<f64>() - 1.0
    }
    fn normal(&self, q: Vec3) -> Vec3 {
        normalise(self.terms(q).fold([0.0; 3], |sum, (n, term)| add(sum, scale(n, term))))
    }
    // The place of a line where the excess is least, and its part inside, if it is not empty.
    fn along(&self, o: Vec3, d: Vec3) -> (f64, Option<[f64; 2]>) {
        let excess = |t: f64| self.excess(add(o, scale(d, t)));
        let middle = -dot(o, d);
        let (mut from, mut to) = (middle - 4.0, middle + 4.0);
        for _ in 0..120 {
            let (a, b) = (from + (to - from) / 3.0, to - (to - from) / 3.0);
            if excess(a) < excess(b) { to = b } else { from = a }
        }
        let least = 0.5 * (from + to);
        let border = |mut outside: f64| {
            let mut inside = least;
            for _ in 0..60 {
                let t = 0.5 * (inside + outside);
                if excess(t) < 0.0 { inside = t } else { outside = t }
            }
            inside
        };
        let is_met = excess(least) < 0.0;
        (excess(least), is_met.then(|| [border(middle - 4.0), border(middle + 4.0)]))
    }
}

// A body, a camera and what else the text has.
fn seen(solid: Solid, bevel: f64, eye: Vec3, target: Vec3, rest: &str) -> Scene {
    toml(&format!(
        "[output]\nsize = [{SIDE}, {SIDE}]\n[render]\nsamples = 1\ncutoff = 0\nambient = [0, 0, 0]\nhighlight = 0\n\
         [sky]\nzenith = [1, 1, 1]\nhorizon = [0, 0, 0]\nfrom_below = true\n\
         [camera]\nposition = {eye:?}\nlook_at = {target:?}\nfov_deg = {FOV_DEG}\n\
         [[body]]\nsolid = \"{}\"\nbar = 0\nbevel = {bevel}\naxis = [1, 2, 3]\nangle_deg = 25\n{rest}",
        solid.name()
    ))
}
const MIRROR: &str = "material = \"metal\"\ncolor = [1, 1, 1]\n";

// The ray through the middle of a pixel.
fn ray(eye: Vec3, target: Vec3, pixel: u32) -> Vec3 {
    let ahead = normalise(sub(target, eye));
    let right = normalise(cross(ahead, [0.0, 0.0, 1.0]));
    let up = cross(right, ahead);
    let reach = (0.5 * FOV_DEG).to_radians().tan();
    let place = |i: u32| (f64::from(i) + 0.5) / f64::from(SIDE) * 2.0 - 1.0;
    let (x, y) = (place(pixel % SIDE) * reach, -place(pixel / SIDE) * reach);
    normalise(add(ahead, add(scale(right, x), scale(up, y))))
}

// What the pixels show, alike on all sets.
pub fn features(scene: &Scene) -> Vec<Features> {
    let renderer = Renderer::with_options(scene.clone(), RenderOptions::on_cpu()).unwrap();
    let moments = renderer.prepared.views_of(0, &renderer.prepared.first);
    let task = Task { output: TaskOutput::Features, ..Task::picture(scene, 0) };
    let of = |isa: Isa| {
        let mut cpu = renderer.cpu(isa);
        let ticket = cpu.submit(&task, &moments, FilmSlice::default()).unwrap();
        cpu.wait(ticket).unwrap().1.pixels.bytes().to_vec()
    };
    let sets = Isa::tested();
    let first = of(sets[0]);
    for &isa in &sets[1..] {
        assert_eq!(first, of(isa), "{isa:?}");
    }
    bytemuck::cast_slice(&first).to_vec()
}

fn random_direction(random: &mut Draws) -> Vec3 {
    loop {
        let v = random.around(1.0).map(f64::from);
        if (0.1..1.0).contains(&length(v)) {
            return normalise(v);
        }
    }
}

// Rays from outside and from inside: whether, where and under which normal they meet the round body.
#[test]
fn rays_meet_the_round_body() {
    let mut random = Draws(11);
    let (mut met, mut inside) = (0, 0);
    for solid in Solid::ALL {
        for bevel in [0.03, 0.06, 0.2, 0.4, 1.0] {
            for within in [false, true] {
                let target = random.around(0.3).map(f64::from);
                let eye = scale(random_direction(&mut random), if within { 0.15 } else { 2.2 });
                let scene = seen(solid, bevel, eye, target, MIRROR);
                let round = Round::of(&scene.world.bodies[0], bevel);
                for (pixel, got) in features(&scene).iter().enumerate() {
                    let name = format!("{solid:?}, bevel {bevel}, from {eye:?}, pixel {pixel}");
                    let d = ray(eye, target, pixel as u32);
                    let (least, part) = round.along(eye, d);
                    if least.abs() < 1e-4 {
                        continue;
                    }
                    assert_eq!(got.hits == 1, part.is_some(), "{name}: least excess {least}");
                    let Some([enter, leave]) = part else { continue };
                    (met, inside) = (met + 1, inside + i32::from(within));
                    let (t, expected) = (f64::from(f32::from_bits(got.depth)), if within { leave } else { enter });
                    // A ray that hardly touches the surface is long within rounding's reach of it.
                    assert!((t - expected).abs() * (leave - enter).min(1.0) < 2e-5, "{name}: {t}, expected {expected}");
                    let normal = round.normal(add(eye, scale(d, expected)));
                    let normal = if within { scale(normal, -1.0) } else { normal };
                    let off = length(sub(got.normal.map(|x| x as f64 / f64::from(FIXED_ONE)), normal));
                    // Rounding moves points by a ten-millionth, over which a narrow bevel turns by more.
                    let allowed = 1e-4 + 4e-6 / (round.width * (leave - enter).min(1.0));
                    assert!(off < allowed, "{name}: off by {off}, at most {allowed} expected");
                }
            }
        }
    }
    assert!(met > 15_000 && inside > 10_000, "{met}, {inside}");
}

// Where mirrors reflect to.
#[test]
fn mirrors_reflect_by_the_round_surface() {
    let mut random = Draws(5);
    for solid in Solid::ALL {
        for bevel in [0.1, 1.0] {
            let (eye, target) = (scale(random_direction(&mut random), 2.5), random.around(0.2).map(f64::from));
            let scene = seen(solid, bevel, eye, target, MIRROR);
            let round = Round::of(&scene.world.bodies[0], bevel);
            let light = light(&scene);
            let sky = |d: Vec3| 0.5 + 0.5 * d[2];
            for (pixel, got) in light.chunks_exact(3).enumerate() {
                let d = ray(eye, target, pixel as u32);
                let (least, part) = round.along(eye, d);
                let expected = match part {
                    _ if least.abs() < 1e-3 => continue,
                    None => sky(d),
                    Some([enter, _]) => {
                        let n = round.normal(add(eye, scale(d, enter)));
                        sky(sub(d, scale(n, 2.0 * dot(d, n))))
                    }
                };
                let off = (f64::from(got[0]) - expected).abs();
                assert!(off < 1e-3, "{solid:?}, bevel {bevel}, pixel {pixel}: {got:?}, expected {expected}");
            }
        }
    }
}

// Below 0.03 the shape has razor edges, and the normal turns as on a round one.
#[test]
fn the_normal_of_a_narrow_bevel_turns_evenly_to_the_middle_at_the_edge() {
    const BEVEL: f64 = 0.02;
    let mirror = |solid, eye, target| {
        let mut scene = sized(seen(solid, BEVEL, eye, target, MIRROR), 4, 4, 2);
        scene.camera.fov_deg = 0.004;
        scene
    };
    for solid in Solid::ALL {
        let body = mirror(solid, [9.0, 0.0, 0.0], [0.0; 3]).world.bodies.remove(0);
        let (vertices, normals) = (body.vertices(), body.normals());
        for [a, b] in solid.edges().into_iter().step_by(3) {
            let has_edge = |face: &usize| solid.faces()[*face].contains(&a) && solid.faces()[*face].contains(&b);
            let sides: Vec<usize> = (0..normals.len()).filter(has_edge).collect();
            let middle = scale(add(vertices[a], vertices[b]), 0.5);
            for (face, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
                let (n, beyond) = (normals[face], normals[other]);
                let into = normalise(sub(scale(n, solid.inradius()), middle));
                for share in [0.03, 0.3, 0.7, 0.97, 1.2] {
                    let point = add(middle, scale(into, share * BEVEL));
                    let turned = normalise(add(n, scale(beyond, f64::max(1.0 - share, 0.0))));
                    let eye = add(point, scale(normalise(add(turned, scale(into, 0.3))), 3.0));
                    let d = normalise(sub(point, eye));
                    let expected = 0.5 + 0.5 * sub(d, scale(turned, 2.0 * dot(d, turned)))[2];
                    let got = mean(&light(&mirror(solid, eye, point)));
                    assert!((got - expected).abs() < 0.004, "{solid:?} at {share}: {got}, expected {expected}");
                }
            }
        }
    }
}

// A cube whose bevels meet in the middle of its faces is the ball within: its outline, what it mirrors and what it refracts.
#[test]
fn a_cube_with_the_widest_bevel_is_a_ball() {
    let picture = |integrator: &str, shape: &str, material: &str| {
        let text = format!(
            "[output]\nsize = [64, 64]\n[render]\nintegrator = \"{integrator}\"\nsamples = 3\ncutoff = 0\ndepth = 12\n\
             [sky]\nzenith = [0.2, 0.4, 1]\nhorizon = [1, 0.8, 0.3]\nfrom_below = true\n\
             [camera]\nposition = [4, 1, 1.5]\nlook_at = [0, 0, 0]\nfov_deg = 40\n\
             [[light]]\nposition = [3, -4, 5]\nradius = 1\n\
             [[rectangle]]\ncenter = [-3, 0.5, 0]\nfacing = [1, 0, 0]\nsize = [3, 3]\ncolor = [0.9, 0.1, 0.1]\n{shape}{material}"
        );
        light(&toml(&text))
    };
    let cube = "[[body]]\nsolid = \"cube\"\nradius = 1.7320508075688772\nbevel = 1\nbar = 0\naxis = [1, 2, 3]\nangle_deg = 25\n";
    let ball = "[[sphere]]\nradius = 1\n";
    for integrator in ["whitted", "path"] {
        for material in [
            "material = \"glass\"\nior = 1.5\n",
            "material = \"glass\"\nior = 1.3\ncolor = [0.5, 0.9, 0.5]\ntint_distance = 1\n",
            MIRROR,
            "reflection = 0.2\ntransparency = 0.5\ncolor = [0.5, 0.7, 0.9]\n",
            "color = [0.5, 0.7, 0.9]\n",
        ] {
            let (got, expected) = (picture(integrator, cube, material), picture(integrator, ball, material));
            let sharp = picture(integrator, &cube.replace("bevel = 1", "bevel = 0"), material);
            let off = rmse(&got, &expected);
            // Rays that graze decide by rounding.
            assert!(off < 0.02, "{integrator}, {material}: off by {off}");
            let far = rmse(&sharp, &expected);
            assert!(far > 10.0 * off, "{integrator}, {material}: {off}, of a sharp cube {far}");
        }
    }
}

// A floor in the light of a point, behind a body that stops its light or lets half of it through at each crossing.
#[test]
fn shadows_are_those_of_the_round_body() {
    let (eye, target, light_at) = ([0.6, -0.8, 5.5], [0.3, 0.4, -1.5], [1.5, 2.0, 6.0]);
    for solid in Solid::ALL {
        for (bevel, through) in [(0.1, 0.0), (0.1, 0.5), (0.35, 0.0), (1.0, 0.5)] {
            let rest = format!(
                "transparency = {through}\ncolor = [1, 1, 1]\n\
                 [floor]\ncorners = [[-9,-9,-1.5],[-9,9,-1.5],[9,9,-1.5],[9,-9,-1.5]]\ntexture = \"none\"\ncolor = [1, 1, 1]\n\
                 [[light]]\nposition = {light_at:?}\n"
            );
            let scene = seen(solid, bevel, eye, target, &rest);
            let mut bare = scene.clone();
            bare.world.bodies.clear();
            let round = Round::of(&scene.world.bodies[0], bevel);
            let (got, bare) = (light(&scene), light(&bare));
            let (mut shaded, mut lit) = (0, 0);
            for pixel in 0..SIDE * SIDE {
                let d = ray(eye, target, pixel);
                let on_floor = add(eye, scale(d, (-1.5 - eye[2]) / d[2]));
                let (hidden, _) = round.along(eye, d);
                let (least, _) = round.along(on_floor, normalise(sub(light_at, on_floor)));
                if hidden < 1e-3 || least.abs() < 1e-3 {
                    continue;
                }
                let share = if least > 0.0 { 1.0 } else { through * through };
                *(if least > 0.0 { &mut lit } else { &mut shaded }) += 1;
                let i = 3 * pixel as usize;
                let expected = f64::from(bare[i]) * share;
                let off = (f64::from(got[i]) - expected).abs();
                assert!(off < 1e-5, "{solid:?}, bevel {bevel}, pixel {pixel}: {}, expected {expected}", got[i]);
            }
            assert!(shaded > 20 && lit > 200, "{solid:?}: {shaded} {lit}");
        }
    }
}

// A bevel that is too narrow to see changes nothing, and no bevel is a razor edge.
#[test]
fn a_narrow_bevel_is_a_razor_edge() {
    let at = |bevel| light(&seen(Solid::Hexahedron, bevel, [2.0, 1.6, 1.2], [0.0; 3], MIRROR));
    assert_eq!(at(0.0), at(1e-30));
    assert_ne!(at(0.0), at(0.1));
}

// Bars lie on the round edges, also those narrower than the bevel.
#[test]
fn bars_lie_on_round_edges() {
    let bar = |width: f64, bevel: f64| {
        let rest = "color = [0, 0, 1]\nbar_color = [1, 0, 0]\nbar_reflection = 0\n[[light]]\nposition = [9, 9, 9]\n";
        let mut scene = seen(Solid::Hexahedron, bevel, [2.6, 2.6, 0.3], [0.0; 3], rest);
        (scene.world.bodies[0].bar, scene.world.bodies[0].rotation) = (width, crate::scene::Rotation::default());
        scene.world.ambient = [1.0; 3];
        light(&scene).chunks_exact(3).filter(|pixel| pixel[0] > pixel[2]).count()
    };
    for bevel in [0.05, 0.15, 0.5] {
        let (seen, sharp) = (bar(0.08, bevel), bar(0.08, 0.0));
        assert!(seen > sharp / 5 && sharp > 30, "bevel {bevel}: {seen} pixels show bars, {sharp} of a sharp body");
    }
}

// Sizes and distances from one end of the allowed ones to the other.
#[test]
fn extreme_bevels_are_alike_on_all_sets() {
    for (radius, distance, bevel) in
        [(1e-6, 3e-6, 1.0), (1e-3, 1e4, 0.3), (1.0, 1e6, 0.02), (1e7, 2e7, 1.1e-5), (1e9, 1.0, 0.5), (1.0, 3.0, 1.1e-5)]
    {
        for solid in Solid::ALL {
            for integrator in ["whitted", "path"] {
                let text = format!(
                    "[output]\nframes = 1\nsize = [33, 33]\n[render]\nintegrator = \"{integrator}\"\nsamples = 1\ndepth = 6\n\
                     [camera]\nposition = [{distance}, {}, {}]\nlook_at = [0, 0, 0]\nfov_deg = 40\n\
                     [[body]]\nsolid = \"{}\"\nradius = {radius}\nbevel = {bevel}\nmaterial = \"glass\"\nbar = 0\n\
                     [[body]]\nsolid = \"{}\"\nradius = {radius}\nbevel = {bevel}\nbar = 0.02\ntransparency = 0.5\ncenter = [{radius}, 0, 0]\n\
                     [[light]]\nposition = [1e9, 1e9, 1e9]\n[[light]]\nposition = [0, 0, {distance}]\n",
                    0.3 * distance,
                    0.5 * distance,
                    solid.name(),
                    solid.name()
                );
                same_on_every_set(&format!("{solid:?}, {radius}, {distance}, {bevel}"), &toml(&text), 0);
            }
        }
    }
}
