//! Orthographic pictures: where points of the scene are, the same light as from far away, and what parallel rays have no use for.

use super::bevels::features;
use super::common::*;
use super::second_opinion::agree;
use crate::math::vec3::{Vec3, add, dot, length, normalise, scale, sub};
use crate::render::moments::Moments;
use crate::scene::{Scene, Viewpoint, edits_through, tokens};

const PARALLEL: &str = "projection = \"orthographic\"\n";
const THINGS: &str = "[[body]]\nsolid = \"icosahedron\"\nreflection = 0.5\naxis = [1, 2, 0]\nangle_deg = 40\n\
    [[sphere]]\ncenter = [0.5, 2.2, 0]\nmaterial = \"glass\"\n[[light]]\nposition = [5, -4, 6]\n\
    [floor]\ncorners = [[-4, -4, -1], [-4, 4, -1], [4, 4, -1], [4, -4, -1]]\ntexture = \"@checker\"\n";

fn seen(render: &str, camera: &str, things: &str) -> Scene {
    toml(&format!(
        "[output]\nframes = 8\nsize = [64, 48]\n[render]\n{render}\ndepth = 5\ncutoff = 0.01\n[camera]\n{camera}\n{things}"
    ))
}

// The share of pixels that differ.
fn off(ours: &[u8], theirs: &[u8]) -> f64 {
    let differ = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 3);
    4.0 * ours.chunks(4).zip(theirs.chunks(4)).filter(|&pair| differ(pair)).count() as f64 / ours.len() as f64
}

// The eye goes away while the field of view gets narrow: the rays become parallel. Path tracing takes the same random numbers.
#[test]
fn it_is_what_is_seen_from_far_away() {
    let towards = normalise([4.0, -3.0, 2.5]);
    for how in ["samples = 2", "integrator = \"path\"\nsamples = 4", "integrator = \"ao\"\nsamples = 4"] {
        let of = |more: &str, distance: f64| {
            let camera = format!("position = {:?}\nlook_at = [0, 0, 0]\n{more}", scale(towards, distance));
            render(&seen(how, &camera, THINGS), 0)
        };
        let fov_deg = |distance: f64| 2.0 * libm::atan(4.0 / distance).to_degrees();
        let ours = of(&format!("{PARALLEL}width = 8"), 9.0);
        let [near, far, farther] =
            [9.0, 200.0, 2500.0].map(|away| off(&ours, &of(&format!("fov_deg = {}", fov_deg(away)), away)));
        assert!(farther < 0.04 && farther < far && far < near, "{how}: {near}, {far}, {farther}");
        // Without a width it shows at the look-at point what the field of view shows there.
        let same = off(&ours, &of(&format!("{PARALLEL}fov_deg = {}", fov_deg(9.0)), 9.0));
        assert!(same < 0.01, "{how}: {same}");
    }
}

#[test]
fn vertices_are_where_their_formula_has_them() {
    let camera = format!("{PARALLEL}width = 5\nposition = [4, -3, 2.5]\nlook_at = [0.2, 0.1, 0]");
    let body = "[[body]]\nsolid = \"cube\"\nradius = 1.4\nbar = 0\naxis = [1, 3, 2]\nangle_deg = 25\n";
    let mut scene = seen("samples = 1", &camera, body);
    (scene.render.width, scene.render.height) = (320, 240);
    let (view, cube) = (scene.camera.view(0, 8), &scene.world.bodies[0]);
    // A pixel is 5/320 units wide, and the distance of a point does not count.
    let places = cube.vertices().into_iter().map(|v| {
        let to = sub(add(cube.centre, v), view.eye);
        let expected = [dot(to, view.right), dot(to, view.up)].map(|x| 64.0 * x);
        let pixel = view.project(add(cube.centre, v), (320, 240)).unwrap();
        assert!((0..2).all(|i| (pixel[i] - expected[i]).abs() < 1e-9), "{pixel:?}, {expected:?}");
        expected
    });
    let places: Vec<[f64; 2]> = places.collect();
    let pixels = features(&scene);
    let found = (0..240).flat_map(|y| (0..320).map(move |x| (x, y))).zip(&pixels).filter(|(_, seen)| seen.body == 0);
    let found: Vec<[f64; 2]> =
        found.map(|((x, y), _)| [f64::from(x) + 0.5 - 160.0, 120.0 - f64::from(y) - 0.5]).collect();
    for direction in (0..24).map(|i| std::f64::consts::PI * f64::from(i) / 12.0) {
        let reach = |all: &[[f64; 2]]| {
            let along = |p: &[f64; 2]| p[0] * libm::cos(direction) + p[1] * libm::sin(direction);
            all.iter().map(along).fold(f64::MIN, f64::max)
        };
        // The middles of pixels lie within the outline, and near its corners.
        let gap = reach(&places) - reach(&found);
        assert!((-1e-3..2.0).contains(&gap), "{direction}: {gap}");
    }
    // Depths are distances from the plane of the eye: that of the middle pixel's face.
    let (x, y) = (0.5 / 64.0, -0.5 / 64.0);
    let o = add(view.eye, add(scale(view.right, x), scale(view.up, y)));
    let planes = cube.vertices();
    let axes: [Vec3; 3] = normals(&planes);
    let half = 1.4 / 3f64.sqrt();
    let enter = axes.map(|n| {
        let (slope, start) = (dot(n, view.forward), dot(n, sub(o, cube.centre)));
        (-half * slope.signum() - start) / slope
    });
    let expected = enter.into_iter().fold(f64::MIN, f64::max);
    let depth = f64::from(f32::from_bits(pixels[120 * 320 + 160].depth));
    assert!((depth - expected).abs() < 1e-4, "{depth}, {expected}");
}

// The directions of a cube's edges, by its vertices: those from the first one to the three nearest.
fn normals(vertices: &[Vec3]) -> [Vec3; 3] {
    let mut ways: Vec<Vec3> = vertices[1..].iter().map(|&v| sub(v, vertices[0])).collect();
    ways.sort_by(|a, b| length(*a).total_cmp(&length(*b)));
    [0, 1, 2].map(|i| normalise(ways[i]))
}

// By an independent renderer in double precision, textures and their filter too.
#[test]
fn the_oracle_agrees() {
    let mut scene = sized(own("coursework.txt"), 64, 48, 1);
    scene.world.bodies.iter_mut().for_each(|b| b.lamps = crate::scene::Lamps::Each(0));
    (scene.camera.projection, scene.camera.width) = (crate::scene::Projection::Orthographic, Some(11.0));
    scene.render.depth = 6;
    agree("orthographic coursework", &scene, 7);
}

// The footprint of a sample on a texture is the same at any distance.
#[test]
fn textures_are_filtered_alike_at_any_distance() {
    let floor = "[floor]\ncorners = [[-40, -40, 0], [-40, 40, 0], [40, 40, 0], [40, -40, 0]]\ntexture = \"@wood\"\n\
        [[light]]\nposition = [0, 0, 1e6]\n";
    for samples in ["2", "\"2..6\""] {
        let [near, far] = ["2", "400"].map(|z| {
            let camera = format!("{PARALLEL}width = 60\nposition = [0.3, 0.2, {z}]\nlook_at = [0.3, 0.2, 0]");
            render(&seen(&format!("samples = {samples}"), &camera, floor), 0)
        });
        assert!(off(&near, &far) < 0.01, "{samples}: {}", off(&near, &far));
    }
}

#[test]
fn all_sets_and_the_edges_of_numbers_agree() {
    for (width, more) in [
        ("width = 1e-9", ""),
        ("width = 1e12", ""),
        ("", "fov_deg = 179.999999"),
        ("width = 7", "shutter = 1"),
        ("width = { keys = [[0, 2], [1, 9]] }", "shutter = 0.5"),
    ] {
        let camera = format!("{PARALLEL}{width}\n{more}\n[camera.orbit]\ndistance = 6");
        for how in ["samples = 2", "samples = \"2..5\"", "integrator = \"path\"\nsamples = 4"] {
            // An open shutter takes no adaptive samples.
            if how.contains("..") && more.contains("shutter") {
                continue;
            }
            let sky = "[sky]\nimage = \"@night\"\n[air]\ndensity = 0.02\nheight = 3\n";
            same_on_every_set(&format!("{how} {camera}"), &seen(how, &camera, &format!("{THINGS}{sky}")), 3);
        }
    }
}

// Things move over the picture alike at any distance, and the sky does not.
#[test]
fn what_moves_fast_has_moments_of_its_own() {
    let moments = |camera: &str, drift: f64| {
        let body = format!("[[body]]\nsolid = \"cube\"\ndrift = [0, {drift}, 0]\n");
        let camera = format!("{PARALLEL}width = 8\nshutter = 1\n{camera}");
        Moments::of(&seen("samples = 2", &camera, &body), 0).count()
    };
    let at = |x: f64| format!("position = [{x}, 0, 0]\nlook_at = [0, 0, 0]");
    // In a frame an eighth of the drift: 8 pixels a unit.
    assert_eq!([4.0, 400.0].map(|x| moments(&at(x), 8.0)), [4, 4]);
    assert_eq!([4.0, 400.0].map(|x| moments(&at(x), 40.0)), [16, 16]);
    assert_eq!(moments("[camera.orbit]\ndistance = 5\nturns = 0.5", 0.0), 4);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let said = |camera: &str| {
        let text = format!("[camera]\n{camera}\n[[sphere]]\n");
        Scene::parse(&text, "s.toml", "".as_ref()).map_or_else(|e| e.to_string(), |_| String::new())
    };
    assert_eq!(said(&format!("{PARALLEL}width = 3\nlens = 0\nfov_deg = 40")), "");
    for (camera, words) in [
        (format!("{PARALLEL}lens = 0.1"), "only a perspective camera has a lens"),
        (format!("{PARALLEL}lens = {{ keys = [[0, 0], [1, 0.1]] }}"), "only a perspective camera has a lens"),
        ("width = 3".to_owned(), "it beside `projection = \"orthographic\"`"),
        (format!("{PARALLEL}width = 0"), "`width` is 0"),
        ("projection = \"isometric\"".to_owned(), "\"perspective\", \"orthographic\""),
    ] {
        assert!(said(&camera).contains(words), "{camera}: {}", said(&camera));
    }
    // Tokens have no word for it.
    let mut scene = Scene::sample();
    scene.camera.projection = crate::scene::Projection::Orthographic;
    let why = tokens::write(&scene).unwrap_err();
    assert!(why.iter().any(|why| why.to_string().contains("projection")));
    // Written and read again, it is the same scene.
    assert_eq!(toml(&scene.to_toml()), scene);
}

#[test]
fn views_keep_the_width() {
    let text = format!("[camera]\n{PARALLEL}width = 3.5\nposition = [5, 1, 2]\nlook_at = [0, 0, 0]\n[[sphere]]\n");
    let camera = toml(&text).camera;
    let view = Viewpoint { eye: [-3.0, 4.5, 2.0], look_at: [0.0, 0.5, 0.0], ..Viewpoint::of(&camera, 0, 1) };
    let changed = edits_through(&camera, 0, 1, &view).iter().fold(text, |text, edit| edit.apply(&text).unwrap());
    assert_eq!(toml(&changed).camera, view.camera(&camera));
    assert!(!changed.contains("fov"), "{changed}");
}
