//! The ground below a floor: where it is seen, and the slab that the floor is the top of.

use super::common::*;
use crate::math::vec3::{Vec3, add, cross, dot, scale, sub};

const SIZE: [u32; 2] = [64, 48];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Seen {
    Sky,
    Floor,
    Ground,
    Side,
}

// The distance of a triangle (Moeller and Trumbore, 1997).
fn triangle([a, b, c]: [Vec3; 3], o: Vec3, d: Vec3) -> Option<f64> {
    let (ab, ac, from) = (sub(b, a), sub(c, a), sub(o, a));
    let p = cross(d, ac);
    let q = cross(from, ab);
    let of = 1.0 / dot(p, ab);
    let (u, v, t) = (dot(p, from) * of, dot(q, d) * of, dot(q, ac) * of);
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0).then_some(t)
}

// What a ray meets, by triangles: the floor, walls from its edges down to the ground, and the ground.
fn met(p: [Vec3; 4], o: Vec3, d: Vec3) -> Seen {
    let diagonal = |a: Vec3, b: Vec3| dot(sub(a, b), sub(a, b)).sqrt();
    let level = p.iter().map(|c| c[2]).fold(f64::MAX, f64::min) - 0.02 * diagonal(p[0], p[2]).max(diagonal(p[1], p[3]));
    let mut nearest = (f64::MAX, Seen::Sky);
    let mut meet = |t: Option<f64>, what: Seen| {
        if let Some(t) = t.filter(|&t| t > 0.0 && t < nearest.0) {
            nearest = (t, what);
        }
    };
    meet(triangle([p[0], p[1], p[2]], o, d), Seen::Floor);
    meet(triangle([p[0], p[2], p[3]], o, d), Seen::Floor);
    for i in 0..4 {
        let (a, b) = (p[i], p[(i + 1) % 4]);
        let below = |c: Vec3| [c[0], c[1], level];
        meet(triangle([a, b, below(b)], o, d), Seen::Side);
        meet(triangle([a, below(b), below(a)], o, d), Seen::Side);
    }
    meet(Some((level - o[2]) / d[2]), Seen::Ground);
    nearest.1
}

// Each thing has its own color, and nothing but that is seen.
fn seen(pixel: &[u8]) -> Seen {
    match (pixel[0], pixel[1]) {
        (200.., 0) => Seen::Floor,
        (0, 200..) => Seen::Ground,
        (0, 60..200) => Seen::Side,
        _ => Seen::Sky,
    }
}

#[test]
fn a_floor_on_ground_ends_at_its_corners() {
    let level = [[-4.0, -4.0, -1.0], [-4.0, 4.0, -1.0], [4.0, 4.0, -1.0], [4.0, -4.0, -1.0]];
    let bent = [[-4.0, -4.0, -1.0], [-4.0, 4.0, 0.5], [4.0, 4.0, -1.0], [4.0, -4.0, -2.0]];
    let tilted = [[-4.0, -4.0, -1.0], [-4.0, 4.0, -1.0], [4.0, 4.0, 0.6], [4.0, -4.0, 0.6]];
    for (name, corners) in [("level", level), ("bent", bent), ("tilted", tilted)] {
        for eye in ["[9, 1, 1.5]", "[-2, -7, 0.9]"] {
            let [a, b, c, d] = corners;
            // In zig-zag order.
            let scene = toml(&format!(
                "[output]\nsize = {SIZE:?}\n[render]\ndepth = 0\nambient = [1, 1, 1]\nhighlight = 0\n[film]\ntone = \"clip\"\n\
                 [sky]\nzenith = 0\nhorizon = 0\n[camera]\nposition = {eye}\nlook_at = [0, 0.3, -0.6]\nfov_deg = 80\n\
                 [floor]\ncorners = {:?}\ntint = [1, 0, 0]\nground = [0, 1, 0]\n",
                [a, b, d, c]
            ));
            let picture = same_on_every_set(name, &scene, 0);
            let camera = frame_params(&scene, 0);
            let [eye, forward, right, down] =
                [camera.eye, camera.forward, camera.right, camera.down].map(|v| v.map(f64::from));
            let way = |x: f64, y: f64| {
                let (x, y) = (x - f64::from(SIZE[0]) / 2.0, y - f64::from(SIZE[1]) / 2.0);
                add(forward, add(scale(right, x), scale(down, y)))
            };
            let (mut counted, mut found) = (0, Vec::new());
            for (i, pixel) in picture.chunks_exact(4).enumerate() {
                let (x, y) = (f64::from(i as u32 % SIZE[0]) + 0.5, f64::from(i as u32 / SIZE[0]) + 0.5);
                // Not on an edge.
                let around = [(-0.05, 0.0), (0.05, 0.0), (0.0, -0.05), (0.0, 0.05)];
                let expected = around.map(|(dx, dy)| met(corners, eye, way(x + dx, y + dy)));
                if expected.iter().all(|&what| what == expected[0]) {
                    // The bevel of a side has the floor's color.
                    let is_rim = expected[0] == Seen::Side && seen(pixel) == Seen::Floor;
                    assert!(
                        is_rim || seen(pixel) == expected[0],
                        "{name} from {eye:?}, ({x}, {y}): {pixel:?}, {expected:?}"
                    );
                    counted += 1;
                    found.push(expected[0]);
                }
            }
            assert!(counted > 2500, "{name} from {eye:?}: {counted}");
            assert!(
                found.contains(&Seen::Ground) && (name == "tilted" || found.contains(&Seen::Floor)),
                "{name} from {eye:?}"
            );
        }
    }
}

// A light below it lights nothing above.
#[test]
fn the_ground_stops_light() {
    let lit = |ground: &str| {
        let scene = toml(&format!(
            "[output]\nsize = [24, 16]\n[render]\nambient = 0\n[sky]\nzenith = 0\nhorizon = 0\n\
             [camera]\nposition = [0, -6, 1]\nlook_at = [0, 0, 1]\nfov_deg = 20\n\
             [floor]\ncorners = [[-2,-2,-1],[-2,2,-1],[2,2,-1],[2,-2,-1]]\n{ground}\n\
             [[sphere]]\ncenter = [0, 0, 1]\nradius = 1\n[[light]]\nposition = [0, -6, -3]\n"
        ));
        mean(&light(&scene))
    };
    assert!(lit("") > 0.05 && lit("ground = 0") == 0.0, "{} {}", lit(""), lit("ground = 0"));
    assert!(lit("ground = \"none\"") == lit(""));
}

#[test]
fn a_floor_on_ground_has_the_same_bytes_on_every_set() {
    const CORNERS: &str = "[[-3, -3, -1], [-3, 3, -1], [3, 3, -1], [3, -3, -1]]";
    const BENT: &str = "[[-3, -3, -1], [-3, 3, -0.4], [3, 3, -1], [3, -3, -1]]";
    for (what, floor) in [
        ("fading", format!("corners = {CORNERS}\nfade = 6\ntexture = \"@checker\"\nreflection = 0.3\n")),
        ("bent", format!("corners = {BENT}\nreflection = 0.3\n")),
        ("round", format!("corners = {CORNERS}\nsize = \"round\"\nfade = 5\n")),
        ("glass", format!("corners = {CORNERS}\nmaterial = \"glass\"\nfade = 5\n")),
        ("coated", format!("corners = {CORNERS}\ncoat = 1\nfade = 5\n")),
        (
            "waves",
            format!(
                "corners = {CORNERS}\nreflection = 0.5\n[floor.relief]\nbump = \"@ripples\"\ndepth = 0.2\ndisplaced = true\n"
            ),
        ),
    ] {
        for integrator in ["whitted", "path"] {
            let scene = toml(&format!(
                "[output]\nframes = 2\nsize = [16, 12]\n[render]\nintegrator = \"{integrator}\"\nsamples = 2\ndepth = 4\n\
                 [sky]\nimage = \"@dusk\"\n[camera]\nposition = [2, -6, 0.8]\nlook_at = [0, 0, -0.8]\nfov_deg = 70\n\
                 [[body]]\nsolid = \"cube\"\nlamps = 3\nreflection = 0.5\ntransparency = 0.3\nradius = 0.9\n\
                 [[light]]\nposition = [2, -3, 4]\nradius = 0.3\n[floor]\nground = {{ keys = [[0, \"teal\"], [1, \"white\"]] }}\n{floor}"
            ));
            same_on_every_set(&format!("{what} by {integrator}"), &scene, 1);
        }
    }
}
