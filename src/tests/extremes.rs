//! Scenes at the limits of validity: each is refused with a clear message, or has one picture on every instruction
//! set with finite light that is not negative. No scene produces NaN.

use super::common::*;
use crate::scene::{self, ParseOptions};
use std::path::Path;

const WORLD: &str = "\
[[body]]\nsolid = \"cube\"\ncenter = [0, 0, 0]\nradius = 1.7320508075688772\nreflection = 0.4\ntransparency = 0.3\nior = 1.4\nlamps = 2\n\
[[sphere]]\ncenter = [2, 0, 0]\nradius = 0.5\nreflection = 0.5\n\
[[light]]\nposition = [3, 4, 5]\ncolor = [1, 0.9, 0.8]\n\
[floor]\ncorners = [[-4, -4, -1], [-4, 4, -1], [4, 4, -1], [4, -4, -1]]\nreflection = 0.2\n";

fn seen_from(eye: &str) -> String {
    format!("[camera]\nposition = {eye}\nlook_at = [0.1, 0.2, 0.3]\n{WORLD}")
}

fn seen(world: &str) -> String {
    format!("[camera]\nposition = [5, -4, 3]\nlook_at = [0, 0, 0]\n{world}")
}

// The linear light of a frame, if the scene is valid; it is finite, and equal on every set.
fn light_or_refusal(name: &str, text: &str, folder: &Path) -> Option<Vec<f32>> {
    let mut light_of_both = None;
    for more in ["", "integrator = \"path\"\n"] {
        let head = format!("[output]\nframes = 1\nsize = [25, 19]\n[render]\nsamples = 3\ndepth = 6\n{more}");
        let parsed = scene::parse(&(head + text), name, ParseOptions { folder, ..ParseOptions::default() });
        let scene = match parsed {
            Ok(parsed) => parsed.scene,
            Err(e) => {
                assert!(e.to_string().contains("expected"), "{name}: {e}");
                return None;
            }
        };
        if let Err(e) = crate::render::Renderer::new(scene.clone()) {
            assert!(e.to_string().contains("expected") || e.to_string().contains("no area"), "{name}: {e}");
            return None;
        }
        same_on_every_set(name, &scene, 0);
        let light = light(&scene);
        let bad = light.iter().position(|x| !x.is_finite() || *x < 0.0);
        assert!(bad.is_none(), "{name}{more}: number {bad:?} is {}", light[bad.unwrap_or(0)]);
        light_of_both = Some(light);
    }
    light_of_both
}

#[test]
fn the_eye_may_be_anywhere() {
    for (place, eye) in [
        ("in a body's middle", "[0, 0, 0]"),
        ("in a body", "[0.3, -0.2, 0.9]"),
        ("on a face", "[0.2, 1, 0.1]"),
        ("on an edge", "[1, 1, 0.25]"),
        ("on a corner", "[1, 1, 1]"),
        ("in a ball's middle", "[2, 0, 0]"),
        ("on a ball", "[2.5, 0, 0]"),
        ("in a light", "[3, 4, 5]"),
        ("on the floor", "[-2, 3, -1]"),
        ("in a corner of the floor", "[-4, -4, -1]"),
        ("under the floor", "[-2, 3, -2]"),
        ("straight above what it looks at", "[0.1, 0.2, 7]"),
        ("as far away as it may", "[1e12, -1e12, 1e12]"),
    ] {
        assert!(light_or_refusal(place, &seen_from(eye), Path::new("")).is_some(), "{place}");
    }
    for (place, eye) in [("nowhere", "[nan, 0, 0]"), ("beyond everything", "[inf, 0, 0]"), ("too far", "[1e13, 0, 0]")]
    {
        assert!(light_or_refusal(place, &seen_from(eye), Path::new("")).is_none(), "{place}");
    }
}

// A distance over the tiny number that stands for "parallel" must not overflow.
#[test]
fn rays_may_be_parallel_to_the_faces_of_bodies_of_any_size() {
    for exponent in [-8, 0, 8, 9, 10, 11] {
        for solid in ["cube", "octahedron", "tetrahedron"] {
            let size = 10f64.powi(exponent);
            let (eye, off) = (4.0 * size, 0.2 * size);
            let text = format!(
                "[camera]\nposition = [{eye:e}, {off:e}, {off:e}]\nlook_at = [0, {off:e}, {off:e}]\n[[body]]\nsolid = \"{solid}\"\nradius = {size:e}\n\
                 reflection = 0.4\ntransparency = 0.5\nlamps = 2\n[[light]]\nposition = [0, 0, {eye:e}]\nradius = {size:e}\n"
            );
            let name = format!("a {solid} of {size:e}");
            assert!(light_or_refusal(&name, &text, Path::new("")).is_some(), "{name}");
        }
    }
}

#[test]
fn things_may_coincide() {
    let twice = |thing: &str| seen(&format!("{WORLD}{thing}{thing}"));
    for (name, text) in [
        ("bodies", twice("[[body]]\nsolid = \"octahedron\"\ncenter = [0, 0, 0]\nradius = 2\ntransparency = 0.5\n")),
        ("balls", twice("[[sphere]]\ncenter = [0, 3, 0]\nradius = 1\nmaterial = \"glass\"\n")),
        ("balls of light", twice("[[sphere]]\ncenter = [0, 3, 0]\nradius = 1\nmaterial = \"light\"\nstrength = 1e6\n")),
        ("lights", twice("[[light]]\nposition = [1, 1, 3]\ncolor = [1e6, 1e6, 1e6]\n")),
        (
            "a light and the eye",
            seen(&format!("{WORLD}[[light]]\nposition = [5, -4, 3]\ncolor = [1, 1, 1]\nradius = 1\n")),
        ),
        ("a light on a face", seen(&format!("{WORLD}[[light]]\nposition = [0, 0, 1]\ncolor = [1, 1, 1]\n"))),
        (
            "a light in a body",
            seen(&format!("{WORLD}[[light]]\nposition = [0, 0, 0]\ncolor = [1, 1, 1]\nradius = 9\n")),
        ),
        (
            "a ball that touches a face",
            seen(&format!("{WORLD}[[sphere]]\ncenter = [0, 0, 2]\nradius = 1\nmaterial = \"glass\"\n")),
        ),
        (
            "a rectangle in the floor",
            seen(&format!("{WORLD}[[rectangle]]\ncenter = [0, 0, -1]\nsize = [2, 2]\nfacing = [0, 0, 1]\n")),
        ),
    ] {
        assert!(light_or_refusal(name, &text, Path::new("")).is_some(), "{name}");
    }
}

#[test]
fn what_has_no_extent_or_too_much_is_refused_or_seen() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("flat.obj"),
        "v 0 0 2\nv 1 0 2\nv 0 1 2\nf 1 2 3\nf 1 2 3\nf 1 1 2\nf 1 2 2\nv 2 0 2\nf 1 2 4\n",
    )
    .unwrap();
    std::fs::write(dir.path().join("tiny.obj"), "v 0 0 0\nv 1e-310 0 0\nv 0 1e-310 0\nf 1 2 3\nv 0 0 1\nf 1 2 4\n")
        .unwrap();
    let floor =
        |corners: &str| seen(&format!("{}[floor]\ncorners = [{corners}]\n", WORLD.split("[floor]").next().unwrap()));
    let body = |line: &str| {
        seen(&format!("{WORLD}[[body]]\nsolid = \"icosahedron\"\ncenter = [0, 0, 3]\nradius = 1\n{line}"))
            .replace("radius = 1\nradius", "radius")
            .replace("center = [0, 0, 3]\nradius = 1\ncenter", "radius = 1\ncenter")
    };
    let camera = |line: &str| format!("[camera]\nposition = [5, -4, 3]\nlook_at = [0, 0, 0]\n{line}\n{WORLD}");
    for (name, text, is_seen) in [
        ("a floor that is a point", floor("[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]"), false),
        ("a floor that is a line", floor("[0, 0, -1], [1, 0, -1], [2, 0, -1], [3, 0, -1]"), false),
        ("a floor with two corners in one", floor("[-4, -4, -1], [-4, -4, -1], [4, 4, -1], [4, -4, -1]"), false),
        ("a floor of a hair's width", floor("[-4, 0, -1], [-4, 1e-7, -1], [4, 1e-7, -1], [4, 0, -1]"), true),
        ("triangles without area", seen(&format!("{WORLD}[[mesh]]\npath = \"flat.obj\"\n")), true),
        ("triangles of denormal sides", seen(&format!("{WORLD}[[mesh]]\npath = \"tiny.obj\"\n")), true),
        ("a denormal radius", body("radius = 1e-310\n"), false),
        ("the smallest radius", body("radius = 1e-9\n"), true),
        ("the largest radius", body("radius = 1e12\n"), true),
        ("an infinite radius", body("radius = inf\n"), false),
        ("a radius of nothing", body("radius = 0.0\n"), false),
        ("a denormal center", body("center = [1e-310, -1e-310, 3]\n"), true),
        ("a far center", body("center = [1e12, -1e12, 1e12]\n"), true),
        ("an axis of nothing", body("axis = [0, 0, 0]\nangle_deg = 3\n"), false),
        ("a denormal axis", body("axis = [1e-310, 0, 0]\nangle_deg = 3\n"), false),
        ("light bent without end", body("transparency = 1\nreflection = 0\nior = 100\n"), true),
        ("and to the other side", body("transparency = 1\nreflection = 0\nior = 0.01\n"), true),
        ("a narrow view", camera("fov_deg = 1e-6"), true),
        ("a wide view", camera("fov_deg = 179.999"), true),
        ("no view", camera("fov_deg = 0.0"), false),
        ("a wide lens", camera("lens = 1e6\nfocus = 1e-9"), true),
        ("the brightest sky", seen(&format!("{WORLD}[sky]\nzenith = [1e6, 1e6, 1e6]\nhorizon = [1e6, 0, 0]\n")), true),
    ] {
        let light = light_or_refusal(name, &text, dir.path());
        assert_eq!(light.is_some(), is_seen, "{name}");
    }
}

// Very narrow and very wide views have finite directions, which the sky's map, its stars and a lens turn into finite numbers.
#[test]
fn a_view_may_be_as_narrow_or_as_wide_as_a_number_can_say() {
    let (dusk, night) = ("[sky]\nimage = \"@dusk\"\n", "[sky]\nimage = \"@night\"\n");
    for (fov, sky) in [
        ("1e-320", ""),
        ("1e-20", night),
        ("1e-17", dusk),
        ("1e-12", ""),
        ("179.9999999999999", ""),
        ("179.99999999999997", night),
    ] {
        let camera = format!("[camera]\nposition = [5, -4, 3]\nlook_at = [0, 0, 0]\nfov_deg = {fov}\n");
        let seen = light_or_refusal(fov, &format!("{camera}{sky}{WORLD}"), Path::new(""));
        assert!(seen.is_some_and(|light| light.iter().any(|&x| x > 0.0)), "{fov}");
        let lens = format!(
            "[camera]\nfov_deg = {fov}\nlens = 1e30\nfocus = 1e-9\naperture_ratio = 0.1\n[[body]]\nsolid = \"cube\"\n"
        );
        let params = frame_params(&toml(&lens), 0);
        assert!((params.lens * params.squeeze * params.focus).is_finite() && params.forward[0].is_finite(), "{fov}");
    }
}
