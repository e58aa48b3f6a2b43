//! The domain of a GPU's reciprocal and square root (docs/arithmetic.md): the set `domain` gives NaN outside
//! of it, and scenes whose rays once left it have the same bytes on every set.

use super::common::*;
use super::entries::{domain_operation, strays};
use crate::device::Memory;
use crate::gpu_types::FrameParams;
use crate::kernels::Isa;
use std::fmt::Write;

const RECIPROCAL: i32 = 0;
const SQRT: i32 = 1;
const MIN: i32 = 2;
const MAX: i32 = 3;
const TO_INT: i32 = 4;

#[test]
fn the_set_of_tests_fails_outside_of_the_domain() {
    for x in [1e-30, 1.5e-12, 1.0, 3.0, 7.7e20, 1e37_f32] {
        assert_eq!(domain_operation(RECIPROCAL, x, 0.0).to_bits(), (1.0 / x).to_bits(), "{x:e}");
        assert_eq!(domain_operation(RECIPROCAL, -x, 0.0).to_bits(), (1.0 / -x).to_bits(), "{x:e}");
        assert_eq!(domain_operation(SQRT, x, 0.0).to_bits(), x.sqrt().to_bits(), "{x:e}");
    }
    let calls = || strays().iter().map(|s| s.calls).sum::<u64>();
    for x in [0.0, -0.0, 1e-45, 1e-38, 9.9e-31, 1.1e37, f32::MAX, f32::INFINITY, f32::NAN] {
        let before = calls();
        assert!(domain_operation(RECIPROCAL, x, 0.0).is_nan(), "1 / {x:e}");
        assert!(domain_operation(SQRT, x, 0.0).is_nan(), "the root of {x:e}");
        assert!(calls() >= before + 2, "{x:e} is noted twice");
    }
    assert!(domain_operation(SQRT, -1.0, 0.0).is_nan());
    assert!(strays().iter().any(|s| s.place.contains("entry.cpp:")), "the caller's place is noted");
}

// As PTX defines min.f32, max.f32 and cvt.rzi.s32.f32.
#[test]
fn the_set_of_tests_has_a_gpus_comparisons_and_conversions() {
    let nan = f32::NAN;
    assert_eq!((domain_operation(MIN, nan, 2.0), domain_operation(MIN, 2.0, nan)), (2.0, 2.0));
    assert_eq!((domain_operation(MAX, nan, 2.0), domain_operation(MAX, 2.0, nan)), (2.0, 2.0));
    for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
        assert!(domain_operation(MIN, a, b).is_sign_negative() && domain_operation(MAX, a, b).is_sign_positive());
    }
    assert_eq!((domain_operation(MIN, -1.0, 3.0), domain_operation(MAX, -1.0, 3.0)), (-1.0, 3.0));
    let converted = |x: f32| domain_operation(TO_INT, x, 0.0).to_bits().cast_signed();
    assert_eq!([2.9, -2.9, 3e9, -3e9, nan].map(converted), [2, -2, i32::MAX, i32::MIN, 0]);
}

const HEAD: &str = "[output]\nframes = 1\nsize = [33, 33]\n[render]\nsamples = 1\ndepth = 3\n";
const LIGHT: &str = "[[light]]\nposition = [3, -4, 5]\n";

fn floor(keys: &str) -> String {
    format!("[floor]\ncorners = [[-6,-6,0],[-6,6,0],[6,6,0],[6,-6,0]]\ntexture = \"none\"\n{keys}\n")
}

// Shadow rays to the sun are ten thousand times as long as the scene is wide.
#[test]
fn a_huge_panel_stops_the_light_of_the_sun() {
    let camera = "[camera.orbit]\ndistance = 1.77e11\n[sky]\nimage = \"@sun\"\nsun_elevation_deg = 30\n";
    let shapes = "[[body]]\nsolid = \"tetrahedron\"\nradius = 4.6e10\n[[rectangle]]\nsize = [1e11, 1.1e11]\n";
    same_on_every_set("a huge panel", &toml(&format!("{HEAD}{camera}{shapes}")), 0);
}

#[test]
fn a_relief_on_clear_metal_has_a_roughness_of_0() {
    let relief =
        floor("size = \"infinite\"\nmaterial = \"gold\"\n[floor.relief]\nbump = \"@tiles\"\ndepth = 0.2\ntiles = 4");
    let camera =
        "[camera]\nposition = [0, -5, 2.5]\nlook_at = [0, 0, 1]\n[[sphere]]\ncenter = [0, 0, 1.5]\nradius = 0.6\n";
    same_on_every_set("a relief", &toml(&format!("{HEAD}{camera}{relief}{LIGHT}")), 0);
}

#[test]
fn a_fading_floor_is_seen_up_to_the_horizon() {
    // The middle row is parallel to the floor within rounding, and hits it at the largest distances.
    for (eye, look_at) in [("0.25", "0.24999999999999994"), ("0.25", "0.25"), ("-0.25", "-0.25"), ("1e-3", "1e-3")] {
        let camera = format!("[camera]\nposition = [0, -5, {eye}]\nlook_at = [0, 0, {look_at}]\n");
        let fading = floor("size = \"infinite\"\nfade = 0.5\nreflection = 0.5");
        for paths in ["", "integrator = \"path\"\n"] {
            same_on_every_set("a horizon", &toml(&format!("{HEAD}{paths}{camera}{fading}{LIGHT}")), 0);
        }
    }
}

// Rays that are all but level meet an endless floor so far away that squares of distances overflow.
#[test]
fn a_level_view_over_endless_ground_has_a_horizon() {
    let head = HEAD.replace("frames = 1", "frames = 12").replace("[render]", "[render]\nintegrator = \"path\"");
    let camera =
        "[camera]\nprojection = \"orthographic\"\nwidth = 20\n[camera.orbit]\ndistance = 8\nelevation_deg = 0\n";
    let ground = floor("ground = [0, 0.8, 1]");
    let scene = toml(&format!("{head}[sky]\nimage = \"@dusk\"\n{camera}turns = 0.25\n{ground}{LIGHT}"));
    for frame in 0..12 {
        same_on_every_set("a level view", &scene, frame);
    }
}

#[test]
fn rays_along_a_turned_bodys_faces_miss_or_meet_it() {
    // A rotated cube has a face with the normal (1/2, 1/2, root 1/2), and the middle ray is parallel to it: terms of the same
    // size cancel.
    for (axis, angle) in [("[1, -1, 0]", 45), ("[0, 0, 1]", 45), ("[1, 1, 0]", 45), ("[1, 0, 0]", 45)] {
        for eye in ["[4, -4, 0]", "[-4, 4, 0]", "[4, -4, 1.2]", "[0, -5, 0]", "[3, 3, 0]"] {
            let text = format!(
                "{HEAD}[camera]\nposition = {eye}\nlook_at = [0, 0, 0]\nfov_deg = 40\n\
                 [[body]]\nsolid = \"cube\"\nradius = 1\naxis = {axis}\nangle_deg = {angle}\nreflection = 0.3\ntransparency = 0.5\n{LIGHT}"
            );
            same_on_every_set(&format!("{axis} {eye}"), &toml(&text), 0);
        }
    }
}

#[test]
fn lights_may_lie_within_a_hair_of_a_surface() {
    for place in ["[0, 0, 1e-20]", "[0, 0, 1e-16]", "[0, 0, 0]"] {
        for radius in ["", "radius = 0.5\n", "radius = 1e-30\n"] {
            let camera = "[camera]\nposition = [0, -5, 0]\nlook_at = [0, 0, 0]\n";
            let text = format!(
                "{HEAD}{camera}[[light]]\nposition = {place}\n{radius}[[rectangle]]\ncenter = [0, 0, 0]\nfacing = [0, -1, 0]\n{}",
                floor("transparency = 0.5")
            );
            same_on_every_set(&format!("{place} {radius}"), &toml(&text), 0);
        }
    }
}

#[test]
fn meshes_may_be_tiny_or_huge() {
    let dir = tempfile::tempdir().unwrap();
    let mut obj = String::new();
    for (corner, normal) in [((-1, -1), (-1, -1)), ((1, -1), (1, -1)), ((0, 1), (0, 1))] {
        let _ = writeln!(obj, "v {} {} 0\nvn {} {} 2", corner.0, corner.1, normal.0, normal.1);
    }
    obj.push_str("f 1//1 2//2 3//3\n");
    let file = dir.path().join("t.obj");
    std::fs::write(&file, obj).unwrap();
    let mut pictures = Vec::new();
    for power in [0, 12, 20, 33, -26] {
        let unit = 2f64.powi(power);
        for material in ["reflection = 0.5", "material = \"light\"\nstrength = 3"] {
            let text = format!(
                "{HEAD}integrator = \"path\"\n[camera]\nposition = [0, {y:e}, {z:e}]\nlook_at = [0, 0, 0]\n\
                 [[mesh]]\npath = \"{}\"\nscale = {unit:e}\n{material}\n[[sphere]]\ncenter = [0, 0, {s:e}]\nradius = {r:e}\n",
                file.display(),
                y = -2.0 * unit,
                z = 2.0 * unit,
                s = unit,
                r = 0.25 * unit
            );
            pictures.push(same_on_every_set(&format!("2^{power}, {material}"), &toml(&text), 0));
        }
    }
    // Scaling by a power of two changes only exponents. (The smallest scale is below the rays' resolution.)
    for (i, picture) in pictures[..8].iter().enumerate() {
        assert_eq!(first_difference(&pictures[i % 2], picture, 33), None, "a mesh of any size looks the same");
    }
}

#[test]
fn a_wide_lens_may_focus_on_something_near() {
    let text = format!(
        "{HEAD}[camera]\nposition = [0, -5, 1]\nlook_at = [0, 0, 1]\nfov_deg = 0.001\nlens = 1e10\nfocus = 1e-9\n\
         [[sphere]]\nradius = 1e11\ncenter = [0, 2e11, 0]\n{LIGHT}"
    );
    same_on_every_set("a lens", &toml(&text), 0);
}

#[test]
fn a_direction_of_nan_reads_within_all_arrays() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.png");
    image::RgbImage::from_fn(5, 3, |x, y| image::Rgb([40 * x as u8, 80 * y as u8, 90])).save(&file).unwrap();
    let (dusk, night) = ("[sky]\nimage = \"@dusk\"\n", "[sky]\nimage = \"@night\"\n");
    let picture =
        format!("texture = '{0}'\n[floor.relief]\nbump = '{0}'\ndepth = 0.1\ndisplaced = true\n", file.display());
    let finish = format!("[[body]]\nsolid = \"cube\"\ntexture = '{}'\n", file.display());
    let balls: String =
        (0..200).map(|i| format!("[[sphere]]\ncenter = [{}, {}, 1]\nradius = 0.3\n", i % 20, i / 20)).collect();
    let ground = floor("").replace("texture = \"none\"\n", &picture);
    for (name, world) in [("dusk", dusk), ("night", night), ("floor", &ground), ("finish", &finish), ("balls", &balls)]
    {
        for paths in ["", "integrator = \"path\"\n"] {
            let scene = toml(&format!("{HEAD}{paths}[[sphere]]\nmaterial = \"metal\"\n{LIGHT}{world}"));
            // The set `domain` notes NaN, which scenes of other tests must not cause meanwhile.
            for isa in Isa::available() {
                let made = renderer(&scene, isa, 0);
                for wrong in [f32::NAN, f32::INFINITY] {
                    let camera = FrameParams { forward: [wrong; 3], ..made.prepared.first.frame_params(&scene, 0) };
                    let mut picture = Memory::default();
                    made.cpu(isa).run(&whole(&scene, 0), &camera, &mut picture);
                    assert!(picture.bytes().len() >= 4 * 33 * 33, "{name} {}", isa.name);
                }
            }
        }
    }
}

// A place in an array is made by `to_index`. `to_int` is for other numbers, which these files have so many of.
#[test]
fn to_int_makes_no_place_in_an_array() {
    let others = [
        ("drivers/wavefront.cuh", 1), // an item's pixel, from whole numbers
        ("film.cuh", 2),              // light in fixed point
        ("integrators/features.cuh", 1),
        ("math.cuh", 1),
        ("shading/bars.cuh", 1),
        ("shading/camera.cuh", 2),  // the side of an aperture, the row of a sample
        ("shading/light.cuh", 2), // a drawn emitter, of which there may be more than a float can count; a number of samples
        ("shading/sampler.cuh", 1), // half turns
        ("shading/texture.cuh", 1), // fract
    ];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut found = Vec::new();
    for path in
        super::architecture::sources(&root).into_iter().filter(|path| path.extension().is_some_and(|e| e == "cuh"))
    {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let lines = std::fs::read_to_string(&path).unwrap().lines().filter(|line| line.contains("to_int(")).count();
        if lines > 0 && name != "lane.cuh" {
            found.push((name, lines));
        }
    }
    assert_eq!(found, others.map(|(name, lines)| (name.to_owned(), lines)));
}
