//! Faults found in use, each with the picture or the message that shows the fix (tests/program/cli.rs has those of
//! the program as a whole).
use super::common::*;
use crate::math::srgb::linear;
use crate::math::vec3::{Vec3, normalise, scale, sub};
use crate::scene::{self, ParseOptions, Rectangle, Scene};

// Linear red, averaged over the picture.
fn mean(scene: &Scene) -> f64 {
    let rgba = render(scene, 0);
    let pixels = (rgba.len() / 4) as f64;
    rgba.chunks(4).map(|p| linear(f64::from(p[0]) / 255.0)).sum::<f64>() / pixels
}

const GROUND: &str = "[output]\nframes = 1\nsize = [96, 72]\n[render]\nintegrator = \"path\"\nsamples = 16\n\
    [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[camera]\nposition = [0, -6, 3]\nlook_at = [0, 0, -1]\nfov_deg = 50\n\
    [[sphere]]\ncenter = [0, 0, -101]\nradius = 100\n";

#[test]
fn a1_paths_without_shadows_are_equal() {
    let with = "[[sphere]]\ncenter = [0, 0, 0]\nradius = 0.8\n[[light]]\nposition = [2, 2, 5]\n";
    let scene = toml(&(GROUND.replace("[sky]", "shadows = false\n[sky]") + with));
    same_on_every_set("path without shadows", &scene, 0);
}

#[test]
fn a2_particles_and_meshes_of_light_shed_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(at("one.csv"), "0,0,1,0.4\n").unwrap();
    let ball = mean(&toml(&format!(
        "{GROUND}[[sphere]]\ncenter = [0, 0, 1]\nradius = 0.4\nmaterial = \"light\"\nstrength = 5\n"
    )));
    let particle = mean(&toml(&format!(
        "{GROUND}[particles]\npath = \"{}\"\nmaterial = \"light\"\nstrength = 5\n",
        at("one.csv")
    )));
    assert!(ball > 0.02 && (particle / ball - 1.0).abs() < 0.01, "a ball {ball}, a particle {particle}");

    // A small square over the floor: radiance times area over pi and the squared distance.
    std::fs::write(at("square.obj"), "v -.1 -.1 0\nv .1 -.1 0\nv .1 .1 0\nv -.1 .1 0\nf 1 2 3 4\n").unwrap();
    let scene = toml(&format!(
        "[output]\nframes = 1\nsize = [8, 8]\n[render]\nintegrator = \"path\"\nsamples = 256\ndepth = 1\n\
         [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[camera]\nposition = [0, -3, 0.5]\nlook_at = [0, 0, -1]\nfov_deg = 2\n\
         [floor]\ncorners = [[-5,-5,-1],[-5,5,-1],[5,5,-1],[5,-5,-1]]\n\
         [[mesh]]\npath = \"{}\"\nmaterial = \"light\"\nstrength = 30\ncolor = [1, 1, 1]\noffset = [0, 0, 1]\n",
        at("square.obj")
    ));
    let expected = 30.0 * 0.04 / std::f64::consts::PI / 4.0;
    let got = mean(&scene);
    assert!((got / expected - 1.0).abs() < 0.03, "{got}, expected {expected}");
    same_on_every_set("a mesh of light", &scene, 0);
}

#[test]
fn p3_lamps_light_what_is_inside_their_body() {
    // A white ball in a black cube: lamps at known positions, each of which adds a quarter of its strength to the mean.
    let lamps = 9;
    let scene = toml(&format!(
        "[output]\nframes = 1\nsize = [24, 24]\n[render]\nintegrator = \"path\"\nsamples = 256\ndepth = 1\n\
         [camera]\nposition = [0.9, 0, 0]\nlook_at = [0, 0, 0]\nfov_deg = 4\n\
         [[body]]\nsolid = \"cube\"\nradius = 2\ncolor = [0, 0, 0]\nlamps = {lamps}\nlamp_color = [1, 1, 1]\nlamp_shape = \"disc\"\nbar = 0.04\nbar_color = [0, 0, 0]\n\
         [[sphere]]\nradius = 0.1\ncolor = [1, 1, 1]\n"
    ));
    let got = mean(&scene);
    // The ball's nearest point faces +x. Each edge has lamps on both its faces, half a bar from the edge, which light
    // the inside of the cube by Lambert's cosine.
    let half = 2.0 / 3.0_f64.sqrt();
    let radius = 0.42 * (0.04 * 2.0_f64).min(2.0 * half / f64::from(lamps));
    let mut expected = 0.0;
    for axis in 0..3 {
        for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            for i in 0..lamps {
                let mut p = [0.0; 3];
                p[axis] = half * (2.0 * (f64::from(i) + 0.5) / f64::from(lamps) - 1.0);
                for (on, beside) in [(1, 2), (2, 1)] {
                    let side = |which: usize| if which == 1 { s } else { t };
                    p[(axis + on) % 3] = side(on) * half;
                    p[(axis + beside) % 3] = side(beside) * (half - 0.04);
                    let d = [p[0] - 0.1, p[1], p[2]];
                    let square: f64 = d.iter().map(|x| x * x).sum();
                    let cosine = (d[(axis + on) % 3] * side(on) / square.sqrt()).max(0.0);
                    let strength = (1.9 + 1.6 / 3.0) * radius * radius * cosine;
                    expected += (d[0] / square.sqrt()).max(0.0) * strength / square;
                }
            }
        }
    }
    assert!((got / expected - 1.0).abs() < 0.1, "{got}, expected {expected}");
}

#[test]
fn p2_an_invisible_pane_changes_nothing() {
    let light = "[[sphere]]\ncenter = [0, 0, 2]\nradius = 0.5\nmaterial = \"light\"\nstrength = 5\n";
    let base = GROUND.replace("samples = 16", "samples = 144");
    let plain = mean(&toml(&format!("{base}{light}")));
    let pane = |t: f64| {
        mean(&toml(&format!(
            "{base}{light}[[body]]\nsolid = \"cube\"\nradius = 1.2\ncenter = [0, 0, 0.3]\ncolor = [1, 1, 1]\ntransparency = {t}\nbar = 0.0\n"
        )))
    };
    let through = pane(1.0);
    assert!((through / plain - 1.0).abs() < 0.02, "{plain} without, {through} with an invisible body");
}

#[test]
fn p6_the_floor_shows_its_picture_as_a_person_sees_it_from_above() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.png");
    // Red, green, blue, white: top left, top right, bottom left, bottom right.
    let picture = image::RgbImage::from_fn(64, 64, |x, y| match (x < 32, y < 32) {
        (true, true) => image::Rgb([255, 0, 0]),
        (false, true) => image::Rgb([0, 255, 0]),
        (true, false) => image::Rgb([0, 0, 255]),
        (false, false) => image::Rgb([255, 255, 255]),
    });
    picture.save(&path).unwrap();
    // From above, the first corner is at the top left, and the second one to the right of it.
    let scene = toml(&format!(
        "[output]\nframes = 1\nsize = [16, 16]\n[render]\nambient = [1, 1, 1]\n\
         [camera]\nfov_deg = 40\neye = {{ r = 0.0, z = 9.0, phi_deg = 0.0 }}\ntarget = {{ z = -1.0 }}\n\
         [floor]\ncorners = [[-3,-3,-1],[-3,3,-1],[3,3,-1],[3,-3,-1]]\ntexture = \"{}\"\n",
        path.display()
    ));
    let view = scene.camera.view(0, 1);
    assert!((view.right[1] - 1.0).abs() < 1e-9 && (view.up[0] + 1.0).abs() < 1e-9, "{view:?}");
    let mut mirrored_order = scene.clone();
    // The same floor in the opposite order from the same first corner.
    if let Some(floor) = &mut mirrored_order.world.floor {
        floor.corners.swap(1, 3);
    }
    let rgba = render(&scene, 0);
    let other = render(&mirrored_order, 0);
    assert!(other[4 * (16 * 5 + 5)] > 128 && other[4 * (16 * 5 + 5) + 1] < 128, "red stays at the first corner");
    let seen = |x: usize, y: usize| {
        let p = &rgba[4 * (16 * y + x)..][..3];
        [0, 1, 2].map(|c| p[c] > 128)
    };
    let quarters = [seen(5, 5), seen(10, 5), seen(5, 10), seen(10, 10)];
    let (red, green, blue, white) = ([true, false, false], [false, true, false], [false, false, true], [true; 3]);
    assert_eq!(quarters, [red, green, blue, white]);
}

#[test]
fn r5_far_lights_do_not_show_the_order_of_work() {
    let mut spheres = String::new();
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1u32 << 24)
    };
    for _ in 0..1200 {
        let (x, y, z) = (next(), next(), 2.0 * next());
        spheres += &format!("[[sphere]]\ncenter = [{x}, {y}, {z}]\nradius = 0.03\n");
    }
    for far in [1e8, 1e9, 1.5e11] {
        let scene = toml(&format!(
            "[output]\nframes = 1\nsize = [96, 72]\n[camera]\nposition = [2.4, -3.2, 2]\nlook_at = [0.5, 0.5, 0.9]\nfov_deg = 45\n\
             [[light]]\nposition = [2, 2, {far:e}]\n{spheres}"
        ));
        same_on_every_set(&format!("a light at {far:e}"), &scene, 0);
    }
}

// Scaling by a power of two changes only exponents, up to the limit of validity: shadows keep their places too.
#[test]
fn scenes_of_any_scale_look_the_same() {
    let scene = |power: i32| {
        let at = |x: f64, y: f64, z: f64| {
            format!("[{:e}, {:e}, {:e}]", x * 2f64.powi(power), y * 2f64.powi(power), z * 2f64.powi(power))
        };
        let corners = [at(-4.0, -4.0, 0.0), at(-4.0, 4.0, 0.0), at(4.0, 4.0, 0.0), at(4.0, -4.0, 0.0)].join(", ");
        let body = |solid: &str, x: f64| {
            let (centre, radius) = (at(x, 0.0, 1.25), 2f64.powi(power));
            format!(
                "[[body]]\nsolid = \"{solid}\"\ncenter = {centre}\nradius = {radius:e}\ntransparency = 0.25\nreflection = 0.25\n"
            )
        };
        toml(&format!(
            "[output]\nframes = 1\nsize = [96, 72]\n[camera]\nposition = {}\nlook_at = {}\n[[light]]\nposition = {}\n\
             [floor]\ncorners = [{corners}]\n{}{}",
            at(3.0, -6.0, 5.0),
            at(0.0, 0.0, 0.5),
            at(2.0, -2.0, 8.0),
            body("icosahedron", -1.5),
            body("cube", 1.5)
        ))
    };
    let near = same_on_every_set("a scene", &scene(0), 0);
    for power in [-12, 12, 30, 36] {
        let far = same_on_every_set(&format!("a scene times 2^{power}"), &scene(power), 0);
        assert!(near == far, "2^{power}: {:?}", first_difference(&near, &far, 96));
    }
}

#[test]
fn r6_values_too_large_for_the_arithmetic_are_refused() {
    for (table, key) in [
        ("[[light]]\nposition = [0, 0, 5]\ncolor = [1e17, 1, 1]\n", "color"),
        ("[[body]]\nsolid = \"cube\"\nradius = 1e38\n", "radius"),
        ("[[sphere]]\ncenter = [1e30, 0, 0]\n", "center"),
        ("[[sphere]]\nradius = 1e-30\n", "radius"),
        ("[[sphere]]\nmaterial = \"light\"\nstrength = 1e30\n", "strength"),
        ("[[light]]\nposition = [1e38, 0, 5]\n", "position"),
    ] {
        let text = format!("[[body]]\nsolid = \"cube\"\n{table}");
        let parsed = scene::parse(&text, "s.toml", ParseOptions::default());
        let words = parsed.expect_err(table).to_string();
        assert!(words.contains(&format!("`{key}`")), "{table}: {words}");
    }
}

#[test]
fn f1_tables_written_as_lists_are_refused() {
    for (text, place) in [
        ("[camera]\neye = [1, 2, 3]\n[[body]]\nsolid = \"cube\"\n", "2:7"),
        ("body = [[\"cube\"]]\n", "1:9"),
        ("camera = [60]\n[[body]]\nsolid = \"cube\"\n", "1:10"),
        ("[[body]]\nsolid = \"cube\"\n[[light]]\nposition = [1, 2, 3]\n[floor]\n", "floor"),
    ] {
        let parsed = scene::parse(text, "s.toml", ParseOptions::default());
        let words = parsed.expect_err(text).to_string();
        assert!(words.contains(place), "{text}: {words}");
    }
}

// A rectangle is two triangles. Rounding may put a point of their common edge behind the plane of the other one, or a ray between
// the two.
#[test]
fn the_diagonal_of_a_rectangle_is_lit_like_the_rest() {
    let mut draws = Draws(7);
    for i in 0..24 {
        let facing = normalise(draws.around(1.0).map(f64::from));
        let rectangle = Rectangle { facing, size: [4.0, 3.0], angle_deg: 15.0 * f64::from(i), ..Rectangle::default() };
        let [a, b, ..] = rectangle.corners();
        let keys = |integrator: &str, target: Vec3| {
            let eye = scale(facing, 5.0);
            let lamp = scale(facing, 6.0);
            toml(&format!(
                "[output]\nsize = [4, 4]\n[render]\nintegrator = \"{integrator}\"\nsamples = 1\n\
                 [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[camera]\nposition = {eye:?}\nlook_at = {target:?}\n\
                 fov_deg = 1e-6\n[[rectangle]]\nsize = [4, 3]\nfacing = {facing:?}\nangle_deg = {}\ncolor = 1\n\
                 [[light]]\nposition = {lamp:?}\n",
                rectangle.angle_deg
            ))
        };
        let beside = scale(normalise(sub(b, a)), 0.01);
        for integrator in ["whitted", "path"] {
            let [on, off] =
                [[0.0; 3], beside].map(|target| same_on_every_set(integrator, &keys(integrator, target), 0));
            assert!(off[0] > 100, "{facing:?}: {off:?}");
            assert!(
                on.iter().zip(&off).all(|(on, off)| on.abs_diff(*off) <= 2),
                "{integrator}, {facing:?}: {on:?}, {off:?}"
            );
        }
    }
}
