//! Panoramas, fisheyes and stereo: each pixel against a perspective picture that looks there, and what post steps make of them.

use super::bevels::features;
use super::common::*;
use crate::device::Memory;
use crate::kernels::Isa;
use crate::math::vec3::{Vec3, add, normalise, scale, sub};
use crate::render::{RenderOptions, Renderer};
use crate::scene::{CameraPath, Projection, Scene, Stereo, View, tokens};
use std::f64::consts::PI;

const THINGS: &str = "[[body]]\nsolid = \"icosahedron\"\nreflection = 0.5\naxis = [1, 2, 0]\nangle_deg = 40\ncenter = [2, 1, 0]\n\
    [[sphere]]\ncenter = [-1.5, 2.2, 0]\nmaterial = \"glass\"\n[[sphere]]\ncenter = [-2, -2.5, 1]\nradius = 0.8\nreflection = 0.4\n\
    [[light]]\nposition = [5, -4, 6]\n[sky]\nzenith = [0.2, 0.4, 0.9]\nhorizon = 0.8\n\
    [floor]\ncorners = [[-4, -4, -1], [-4, 4, -1], [4, 4, -1], [4, -4, -1]]\ntexture = \"@checker\"\n";
const HERE: &str = "position = [0.3, -0.2, 0.4]\nlook_at = [2, 0.7, 0.6]";

fn seen(size: [u32; 2], render: &str, camera: &str) -> Scene {
    toml(&format!(
        "[output]\nframes = 8\nsize = {size:?}\n[render]\n{render}\ndepth = 5\ncutoff = 0.01\n[camera]\n{camera}\n{THINGS}"
    ))
}

// The finished picture, after its post steps.
fn picture(scene: &Scene) -> Vec<u8> {
    let mut renderer = Renderer::prepare(scene.clone(), RenderOptions::on_cpu()).unwrap_or_else(|e| panic!("{e}"));
    renderer.still(0).unwrap().data().to_vec()
}

// The share of pixels that differ by more than rounding.
fn off(ours: &[u8], theirs: &[u8]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let differ = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 1);
    4.0 * ours.chunks(4).zip(theirs.chunks(4)).filter(|&pair| differ(pair)).count() as f64 / ours.len() as f64
}

// The ray through the middle of a pixel of one eye's picture, by the formulas of its projection; None where nothing is seen.
fn expected(view: &View, [x, y]: [f64; 2], [width, height]: [f64; 2], eye: f64) -> Option<(Vec3, Vec3)> {
    let along = |right: f64, up: f64, forward: f64| {
        add(add(scale(view.right, right), scale(view.up, up)), scale(view.forward, forward))
    };
    let (x, y, fov) = (x - width / 2.0, height / 2.0 - y, view.fov_deg.to_radians());
    let (way, aside) = match view.projection {
        Projection::Panorama => {
            let [longitude, latitude] = [x, y].map(|x| x / width * fov);
            let level = libm::cos(latitude);
            let way = along(libm::sin(longitude) * level, libm::sin(latitude), libm::cos(longitude) * level);
            (latitude.abs() <= PI / 2.0).then_some((way, along(libm::cos(longitude), 0.0, -libm::sin(longitude))))
        }
        _ => {
            let (r, turn) = (libm::hypot(x, y) / (width / 2.0), libm::atan2(y, x));
            let angle = match view.mapping.name() {
                "equidistant" => r * fov / 2.0,
                _ => 2.0 * libm::asin((r * libm::sin(fov / 4.0)).min(1.0)),
            };
            let across = libm::sin(angle);
            let way = along(across * libm::cos(turn), across * libm::sin(turn), libm::cos(angle));
            (r <= 1.0).then_some((way, view.right))
        }
    }?;
    let from = add(view.eye, scale(aside, eye));
    // Both eyes look at the same point, if at any.
    let at = view.convergence.map_or(way, |distance| sub(add(view.eye, scale(way, distance)), from));
    Some((from, normalise(at)))
}

// Every pixel is that of a perspective picture of a single pixel: the same ray, of the same width. Textures are filtered alike.
#[test]
fn every_pixel_is_the_perspective_picture_that_looks_there() {
    let isa = Isa::available()[0];
    for (size, camera) in [
        ([33, 17], "projection = \"panorama\""),
        ([24, 24], "projection = \"panorama\"\nfov_deg = 180"),
        ([24, 24], "projection = \"fisheye\""),
        ([25, 25], "projection = \"fisheye\"\nfov_deg = 220\nmapping = \"equisolid\""),
        ([33, 25], "projection = \"fisheye\"\nfov_deg = 360"),
        ([48, 12], "projection = \"panorama\"\nstereo = \"side-by-side\"\neye_distance = 0.4"),
        (
            [16, 32],
            "projection = \"panorama\"\nfov_deg = 180\nstereo = \"over-under\"\neye_distance = 0.4\nconvergence = 2",
        ),
        ([40, 20], "projection = \"fisheye\"\nstereo = \"side-by-side\"\neye_distance = 0.4\nconvergence = 3"),
    ] {
        let scene = seen(size, "samples = 1", &format!("{camera}\n{HERE}"));
        let (view, ours, stereo) = (scene.camera.view(0, 8), render(&scene, 0), scene.camera.stereo);
        let (wide, tall) = stereo.eye_size((size[0], size[1]));
        let mut one = seen([1, 1], "samples = 1", HERE);
        let made = renderer(&one, isa, 1);
        let (mut theirs, mut rays) = (Vec::new(), Vec::new());
        for (x, y) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))) {
            let (is_left, sides) = (x < wide && y < tall, [f64::from(wide), f64::from(tall)]);
            let at = [f64::from(x % wide) + 0.5, f64::from(y % tall) + 0.5];
            let eye =
                if stereo == Stereo::None { 0.0 } else { scene.camera.eye_distance * if is_left { -0.5 } else { 0.5 } };
            let ray = expected(&view, at, sides, eye);
            let from_middle =
                [f64::from(x) + 0.5 - 0.5 * f64::from(size[0]), 0.5 * f64::from(size[1]) - f64::from(y) - 0.5];
            rays.push((view.ray(from_middle, (size[0], size[1])), ray));
            let Some((from, way)) = ray else {
                theirs.extend([0, 0, 0, 255]);
                continue;
            };
            one.camera.path = CameraPath::Fixed { position: from, look_at: add(from, way) };
            one.camera.fov_deg = 2.0 * libm::atan(0.5 * view.pixel_angle(wide, tall)).to_degrees();
            let mut pixel = Memory::default();
            made.cpu(isa).run(&whole(&one, 0), &made.prepared.first.frame_params(&one, 0), &mut pixel);
            theirs.extend_from_slice(pixel.bytes());
        }
        for (ours, theirs) in rays {
            let Some(((from, way), (own, own_way))) = ours.zip(theirs) else {
                assert_eq!(ours.is_some(), theirs.is_some(), "{camera}");
                continue;
            };
            let apart = |a: Vec3, b: Vec3| (0..3).map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max);
            assert!(apart(from, own) < 1e-9 && apart(way, own_way) < 1e-9, "{camera}: {way:?}, {own_way:?}");
        }
        let share = off(&ours, &theirs);
        assert!(share < 0.01, "{camera}: {share}");
        // Where the direction is just the same, so are the bytes.
        if stereo == Stereo::None && size[0] % 2 == 1 && size[1] % 2 == 1 {
            let middle = 4 * (size[1] / 2 * size[0] + size[0] / 2) as usize;
            assert_eq!(ours[middle..middle + 4], theirs[middle..middle + 4], "{camera}");
        }
    }
}

#[test]
fn a_point_is_where_its_ray_goes() {
    for camera in [
        "projection = \"panorama\"",
        "projection = \"panorama\"\nstereo = \"side-by-side\"\neye_distance = 0",
        "projection = \"fisheye\"\nfov_deg = 240",
        "projection = \"fisheye\"\nmapping = \"equisolid\"\nstereo = \"over-under\"\neye_distance = 0",
        "projection = \"orthographic\"\nwidth = 3",
        "fov_deg = 80\nstereo = \"over-under\"\neye_distance = 0",
        "fov_deg = 80\nfov_axis = \"vertical\"",
    ] {
        let (view, size) = (seen([64, 48], "samples = 1", &format!("{camera}\n{HERE}")).camera.view(0, 8), (64, 48));
        for at in [[-20.5, 7.0], [-3.0, 2.0], [-9.25, 5.5]] {
            let (from, way) = view.ray(at, size).unwrap();
            let place = view.project(add(from, scale(way, 2.5)), size).unwrap();
            assert!((0..2).all(|i| (place[i] - at[i]).abs() < 1e-6), "{camera}: {place:?}, {at:?}");
        }
    }
}

// Two single views beside each other: the convergence shifts them by pixels, here two to each side.
#[test]
fn stereo_is_two_single_views() {
    let fov = 2.0 * libm::atan(0.5).to_degrees();
    for how in ["samples = 1", "samples = 2"] {
        let both = seen(
            [96, 32],
            how,
            &format!("fov_deg = {fov}\nstereo = \"side-by-side\"\neye_distance = 0.5\nconvergence = 6\n{HERE}"),
        );
        let ours = render(&both, 0);
        let view = both.camera.view(0, 8);
        for (half, to) in [(0, -0.25), (1, 0.25)] {
            let mut single = seen([48, 32], how, &format!("fov_deg = {fov}\n{HERE}"));
            let aside = scale(view.right, to);
            let CameraPath::Fixed { position, look_at } = &mut single.camera.path else { panic!("a fixed camera") };
            (*position, *look_at) = (add(*position, aside), add(*look_at, aside));
            let alone = render(&single, 0);
            // The focal length is 48 pixels: 0.25 * 48 / 6.
            let shift = if half == 0 { 2 } else { -2 };
            let row = |y: i32, x: i32, all: &[u8], width: i32| all[4 * (y * width + x) as usize..][..4].to_vec();
            let pairs = (0..32).flat_map(|y| (2..46).map(move |x| (x, y)));
            let [mine, theirs]: [Vec<u8>; 2] = [
                pairs.clone().flat_map(|(x, y)| row(y, 48 * half + x, &ours, 96)).collect(),
                pairs.flat_map(|(x, y)| row(y, x + shift, &alone, 48)).collect(),
            ];
            let share = off(&mine, &theirs);
            assert!(share < 0.02, "{how}, {half}: {share}");
        }
    }
}

#[test]
fn all_sets_agree() {
    for view in [
        "projection = \"panorama\"",
        "projection = \"fisheye\"\nfov_deg = 220",
        "projection = \"fisheye\"\nmapping = \"equisolid\"\nstereo = \"over-under\"\nconvergence = 3",
        "projection = \"panorama\"\nfov_deg = 1e-9\nstereo = \"side-by-side\"\neye_distance = { keys = [[0, 0], [1, 1e9]] }",
        "stereo = \"side-by-side\"\nlens = 0.05\nfocus = 2\nconvergence = 2",
    ] {
        for how in [
            "samples = 2",
            "samples = \"2..5\"",
            "integrator = \"path\"\nsamples = 4",
            "integrator = \"ao\"\nsamples = 4",
        ] {
            let shutter = if how.contains("..") { 0 } else { 1 };
            let camera = format!("{view}\nshutter = {shutter}\n[camera.orbit]\ndistance = 0.7\nelevation_deg = 30");
            same_on_every_set(&format!("{how} {view}"), &seen([37, 22], how, &camera), 3);
        }
    }
}

// A filter that looks across the poles and around the back sees what is there.
#[test]
fn filters_lose_no_light_at_the_ends_of_a_panorama() {
    for filter in ["box", "blackman-harris"] {
        let text = format!(
            "[output]\nsize = [32, 16]\n[render]\nsamples = 4\n[film]\nfilter = \"{filter}\"\n[sky]\nzenith = 0.5\nhorizon = 0.5\n\
             [camera]\nprojection = \"panorama\"\nposition = [9, 0, 0]\nlook_at = [10, 0, 0]\n[[sphere]]\nradius = 0.01\ncenter = [0, 0, 900]\n"
        );
        let picture = picture(&toml(&text));
        assert!(picture.chunks(4).all(|pixel| pixel == &picture[..4]), "{filter}");
    }
}

const FILMS: [&str; 4] =
    ["bloom = 0.5\nbloom_radius = 0.5", "glare = 0.5\nglare_length = 0.6", "streak = 0.4", "denoise = \"guided\""];

fn with_film(film: &str, size: [u32; 2], camera: &str) -> Scene {
    let lamp = "[[sphere]]\nradius = 0.3\nmaterial = \"light\"\nstrength = 60\ncenter = [-3, 0.1, 0.5]\n";
    let mut scene = seen(size, "samples = 2", &format!("{camera}\n[film]\ndither = false\n{film}\n{lamp}"));
    scene.world.spheres.rotate_left(1);
    scene
}

// The same picture, turned by half, comes out of the steps turned by half.
#[test]
fn light_spreads_around_a_panorama() {
    for film in FILMS {
        let of = |x: f64, fov_deg: f64| {
            let camera = format!("position = [0, 0, 0.4]\nlook_at = [{x}, 0, 0.4]\nfov_deg = {fov_deg}");
            picture(&with_film(film, [64, 32], &format!("projection = \"panorama\"\n{camera}")))
        };
        let turned = |picture: &[u8]| {
            let rows = picture.chunks(4 * 64).map(|row| [&row[4 * 32..], &row[..4 * 32]].concat());
            rows.collect::<Vec<_>>().concat()
        };
        let around = off(&of(1.0, 360.0), &turned(&of(-1.0, 360.0)));
        assert!(around < 0.02, "{film}: {around}");
        // One that does not close ends at its borders.
        let open = off(&of(1.0, 359.99), &turned(&of(-1.0, 359.99)));
        assert!(film.contains("denoise") || open > 3.0 * around.max(0.01), "{film}: {open}, {around}");
    }
}

// Both eyes at one place see what a single eye sees, after the steps too.
#[test]
fn light_of_one_eye_does_not_reach_the_other() {
    for film in FILMS.into_iter().chain(["vignette = 0.5"]) {
        let of = |size: [u32; 2], more: &str| {
            picture(&with_film(
                film,
                size,
                &format!("fov_deg = 100\n{more}\nposition = [0, 0, 0.4]\nlook_at = [-1, 0.6, 0.4]"),
            ))
        };
        let alone = of([40, 24], "");
        let beside = of([80, 24], "stereo = \"side-by-side\"\neye_distance = 0");
        let below = of([40, 48], "stereo = \"over-under\"\neye_distance = 0");
        // The noise of eyes is not that of one.
        let least = if film.contains("denoise") { 0.03 } else { 1e-9 };
        for half in 0..2 {
            let side: Vec<u8> = beside.chunks(4 * 80).flat_map(|row| row[4 * 40 * half..][..4 * 40].to_vec()).collect();
            assert!(off(&side, &alone) < least, "{film}, {half}: {}", off(&side, &alone));
            let part = &below[4 * 40 * 24 * half..][..4 * 40 * 24];
            assert!(off(part, &alone) < least, "{film}, {half}: {}", off(part, &alone));
        }
    }
}

#[test]
fn nothing_is_seen_outside_of_a_fisheye() {
    let mut scene = seen([32, 32], "samples = 2", &format!("projection = \"fisheye\"\nfov_deg = 220\n{HERE}"));
    let pixels = features(&scene);
    let corner = &pixels[0];
    assert_eq!((corner.hits, corner.albedo, corner.body), (0, [0; 3], -1));
    assert!(pixels[16 * 32 + 16].hits > 0);
    scene.world.sky.transparent = true;
    let picture = picture(&scene);
    assert_eq!(picture[..4], [0; 4]);
    assert_eq!(picture[4 * (16 * 32 + 16) + 3], 255);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let said = |camera: &str, more: &str| {
        let text = format!("[camera]\n{camera}\n{more}\n[[sphere]]\n");
        Scene::parse(&text, "s.toml", "".as_ref()).map_or_else(|e| e.to_string(), |_| String::new())
    };
    let (around, dome) = ("projection = \"panorama\"", "projection = \"fisheye\"");
    let particles = "[particles]\nfile = \"p.csv\"\ncolor_by = \"x\"\nrange = [0, 1]\nlegend = true\n";
    for (camera, more, words) in [
        (around, "lens = 0.1", "only a perspective camera has a lens"),
        (dome, "[film]\nvignette = 0.2", "no corners that a lens darkens"),
        (dome, "[film]\nvignette = { keys = [[0, 0], [1, 0.1]] }", "no corners that a lens darkens"),
        (around, "[film]\ndenoise = \"guided\"\ndenoise_frames = 2", "in one flat picture only"),
        ("stereo = \"over-under\"", "[film]\ndenoise = \"guided\"\ndenoise_frames = 2", "in one flat picture only"),
        ("projection = \"orthographic\"\nstereo = \"over-under\"", "", "both pictures would be the same"),
        (around, particles, "for one flat picture"),
        ("stereo = \"over-under\"", "[figure]\naxes = true", "for one flat picture"),
        ("fov_deg = 180", "", "above 0 and below 180"),
        ("fov_deg = 200", "", "above 0 and below 180"),
        (dome, "fov_deg = 361", "up to 360 of a panorama"),
        ("mapping = \"equisolid\"", "", "it beside `projection = \"fisheye\"`"),
        ("projection = \"cylinder\"", "", "\"panorama\", \"fisheye\""),
    ] {
        assert!(said(camera, more).contains(words), "{camera} {more}: {}", said(camera, more));
    }
    for (camera, more) in [
        (around, "[film]\nlook = \"film\"\nbloom = 0.2\nglare = 0.1"),
        (dome, "fov_deg = 360\n[film]\nvignette = 0\ndenoise = \"guided\""),
        ("stereo = \"side-by-side\"", "lens = 0.1\nshutter = 0.5\n[film]\nvignette = 0.2"),
        (
            around,
            "closed = true\n[[camera.key]]\ntime = 0\nposition = [1, 0, 0]\nlook_at = [0, 0, 0]\nfov_deg = 200\n\
         [[camera.key]]\ntime = 0.5\nposition = [2, 0, 0]\nlook_at = [0, 0, 0]",
        ),
    ] {
        assert_eq!(said(camera, more), "");
    }
    // A camera of keys has the projection's field of view. Tokens have no word for both eyes.
    let scene = toml(&format!(
        "[camera]\n{around}\nclosed = true\n[[camera.key]]\ntime = 0\nposition = [1, 0, 0]\nlook_at = [0, 0, 0]\n\
        [[camera.key]]\ntime = 0.5\nposition = [2, 0, 0]\nlook_at = [0, 0, 0]\n[[sphere]]\n"
    ));
    assert_eq!(scene.camera.view(1, 8).fov_deg, 360.0);
    assert_eq!(toml(&scene.to_toml()), scene);
    let mut scene = Scene::sample();
    scene.camera.stereo = Stereo::OverUnder;
    assert!(tokens::write(&scene).unwrap_err().iter().any(|why| why.to_string().contains("projection")));
}
