//! Floors against optics: sheets of glass, transmitted light, and reliefs against tilted mirrors.
use super::common::*;
use crate::math::srgb::linear;
use crate::math::vec3::{Vec3, add, dot, normalise, scale, sub};
use crate::scene::Scene;
use std::path::{Path, PathBuf};

// A floor eighteen units wide that fills the picture, seen at an angle to its normal and from an azimuth, under a sky whose
// light grows linearly from 0 at the nadir to 1 at the zenith.
fn floor(keys: &str, angle_deg: f64, azimuth_deg: f64, samples: u32) -> Scene {
    let eye = towards(angle_deg, azimuth_deg);
    toml(&format!(
        "[output]\nsize = [8, 8]\n[render]\nsamples = {samples}\ncutoff = 0\nambient = [0, 0, 0]\nhighlight = 0\n\
         [sky]\nzenith = [1, 1, 1]\nhorizon = [0, 0, 0]\nfrom_below = true\n\
         [camera]\nposition = [{}, {}, {}]\nlook_at = [0, 0, 0]\nfov_deg = 1\n\
         [floor]\ncorners = [[-9,-9,0],[-9,9,0],[9,9,0],[9,-9,0]]\n{keys}\n",
        eye[0], eye[1], eye[2]
    ))
}
fn towards(angle_deg: f64, azimuth_deg: f64) -> Vec3 {
    let (sine, cosine) = angle_deg.to_radians().sin_cos();
    let (y, x) = azimuth_deg.to_radians().sin_cos();
    [3.0 * sine * x, 3.0 * sine * y, 3.0 * cosine]
}
fn sky(d: Vec3) -> f64 {
    0.5 + 0.5 * d[2]
}
fn mirrored(d: Vec3, n: Vec3) -> Vec3 {
    sub(d, scale(n, 2.0 * dot(d, n)))
}
fn by_paths(mut scene: Scene, samples: u32) -> Scene {
    scene.render.set_paths(samples);
    scene
}

#[test]
fn a_glass_floor_is_a_thin_sheet() {
    let fresnel = |angle: f64, ior: f64| {
        let (c, s) = (angle.to_radians().cos(), angle.to_radians().sin() / ior);
        let b = (1.0 - s * s).sqrt();
        let (across, along) = ((c - ior * b) / (c + ior * b), (b - ior * c) / (b + ior * c));
        (across * across + along * along) / 2.0
    };
    for angle in [0.0, 40.0, 75.0] {
        let r = fresnel(angle, 1.5);
        // Straight transmission, and one, two, .. internal reflections.
        let through: f64 = (0..50).map(|i| (1.0 - r) * r.powi(2 * i) * (1.0 - r)).sum();
        let d = scale(normalise(towards(angle, 20.0)), -1.0);
        let expected = (1.0 - through) * sky(mirrored(d, [0.0, 0.0, 1.0])) + through * 0.25 * sky(d);
        // 0.25 in linear light.
        let scene = floor(&format!("material = \"glass\"\ntint = [{0}, {0}, {0}]", 0.537_098_7), angle, 20.0, 2);
        for (how, scene) in [("Whitted", scene.clone()), ("paths", by_paths(scene, 4096))] {
            let got = mean(&light(&scene));
            assert!((got - expected).abs() < 0.004, "{how} at {angle}: {got}, expected {expected}");
        }
    }
}

// Under a white sky a floor without absorption is white, whatever its material and ripples: it loses
// and gains no light. (Ripples below the sampling rate are microfacets, which lose a little.)
#[test]
fn floors_that_keep_all_light_are_white_under_a_white_sky() {
    let ripples = "[floor.relief]\nbump = \"@ripples\"\ndepth = 0.015\ndrift = [1, 0]";
    for (what, keys) in [
        ("glass", "material = \"glass\"".to_owned()),
        ("glass with waves", format!("material = \"glass\"\n{ripples}")),
        ("a clear mirror with waves", format!("material = \"metal\"\n{ripples}")),
        ("half a mirror, half a window", "reflection = 0.5\ntransparency = 0.5".to_owned()),
        ("the same, fading, with waves", format!("reflection = 0.5\ntransparency = 0.5\nfade = 3\n{ripples}")),
        ("to the horizon", format!("reflection = 0.5\ntransparency = 0.5\nsize = \"infinite\"\nfade = 3\n{ripples}")),
    ] {
        let mut scene = floor(&keys, 70.0, 50.0, 2);
        (scene.world.sky.horizon, scene.camera.fov_deg) = ([1.0; 3], 40.0);
        for (how, scene) in [("Whitted", scene.clone()), ("paths", by_paths(scene, 256))] {
            let pixels = light(&scene);
            let off = pixels.iter().map(|&x| (f64::from(x) - 1.0).abs()).fold(0.0, f64::max);
            assert!(off < 0.004, "{what}, {how}: off by {off}");
        }
    }
}

// A ball below the floor, seen from below and lit from above: attenuated by the floor's transparency, tint and texture.
#[test]
fn light_comes_through_a_floor() {
    let ball = |floor: &str, path: bool| {
        let how = if path { "integrator = \"path\"\nsamples = 64" } else { "samples = 4" };
        let scene = toml(&format!(
            "[output]\nsize = [12, 12]\n[render]\n{how}\ndepth = 1\nambient = [0, 0, 0]\nhighlight = 0\ncutoff = 0\n\
             [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
             [camera]\nposition = [4, 0, -2]\nlook_at = [0, 0, -2]\nfov_deg = 20\n\
             [[sphere]]\ncenter = [0, 0, -2]\nradius = 1\nmaterial = \"diffuse\"\n\
             [[light]]\nposition = [3, 1, 9]\n{floor}\n"
        ));
        light(&scene).chunks_exact(3).fold([0.0; 3], |a, p| add(a, [p[0], p[1], p[2]].map(f64::from)))
    };
    let corners = "[floor]\ncorners = [[-9,-9,0],[-9,9,0],[9,9,0],[9,-9,0]]";
    for path in [false, true] {
        let all = ball("", path);
        let seen = |keys: &str| {
            let through = ball(&format!("{corners}\n{keys}"), path);
            [0, 1, 2].map(|c| through[c] / all[c])
        };
        assert_eq!(seen("tint = [0.5, 0.5, 0.5]"), [0.0; 3]);
        let tinted = seen("transparency = 0.6\nreflection = 0.3\ntint = [1, 0.5, 0.25]");
        for (got, tint) in tinted.into_iter().zip([1.0, 0.5, 0.25]) {
            assert!((got - 0.6 * linear(tint)).abs() < 0.01, "path {path}: {tinted:?}");
        }
        let glass = seen("material = \"glass\"");
        assert!(glass.iter().all(|&c| c > 0.88 && c < 0.93), "path {path}: {glass:?}");
        // Far from the middle the floor has faded.
        let faded = seen("fade = 0.05");
        assert!(faded.iter().all(|&c| c > 0.98), "path {path}: {faded:?}");
    }
}

// A floor that fades meets the sky at the horizon without a step or a dark belt, though the sky is dark below it.
#[test]
fn an_infinite_floor_fades_to_the_horizon() {
    const SIDE: usize = 48;
    const DUSK: &str = "image = \"@dusk\"";
    const ENDLESS: &str = "size = \"infinite\"";
    for (sky, how, floor) in [
        (DUSK, "", ENDLESS),
        (DUSK, "", "ground = [0.14, 0.15, 0.19]"),
        (DUSK, "integrator = \"path\"", ENDLESS),
        ("image = \"@sun\"", "", ENDLESS),
        ("", "", ENDLESS),
    ] {
        for azimuth in [0.0, 90.0, 180.0, 250.0] {
            let scene = toml(&format!(
                "[output]\nsize = [{SIDE}, {SIDE}]\n[render]\nsamples = 16\n{how}\n[sky]\n{sky}\n\
                 [camera]\nfov_deg = 6\n[camera.orbit]\ncenter = [0, 0, 1]\ndistance = 4\nazimuth_deg = {azimuth}\nelevation_deg = 0\n\
                 [floor]\ncorners = [[-9,-9,0],[-9,9,0],[9,9,0],[9,-9,0]]\ntint = 0.1\nreflection = 0.3\n\
                 {floor}\nfade = 4\n"
            ));
            let picture = render(&scene, 0);
            let row = |y: usize| -> [f64; 3] {
                let pixels = picture[4 * SIDE * y..4 * SIDE * (y + 1)].chunks_exact(4);
                pixels.fold([0.0; 3], |sum, p| [0, 1, 2].map(|c| sum[c] + f64::from(p[c]) / SIDE as f64))
            };
            let horizon = row(SIDE / 2 - 1);
            for y in SIDE / 2 - 12..SIDE / 2 + 12 {
                let (here, next) = (row(y), row(y + 1));
                let (step, below) = ([0, 1, 2].map(|c| here[c] - next[c]), [0, 1, 2].map(|c| horizon[c] - next[c]));
                let what = format!("{sky} {how} {floor} from {azimuth}, row {y}: {here:?}, {next:?}");
                assert!(step.iter().all(|s| s.abs() <= 2.0), "{what}");
                assert!(y + 1 < SIDE / 2 || below.iter().all(|s| *s <= 2.0), "{what}: darker than {horizon:?}");
            }
        }
    }
}

// A floor fades around its own middle, wherever the scene stands.
#[test]
fn a_scene_that_is_moved_fades_alike() {
    for size in ["infinite", "square"] {
        let picture = |x: f64, y: f64| {
            let corner = |u: f64, v: f64| format!("[{}, {}, -1]", x + u, y + v);
            let corners = [corner(-9.0, -9.0), corner(-9.0, 9.0), corner(9.0, 9.0), corner(9.0, -9.0)].join(", ");
            render(
                &toml(&format!(
                    "[output]\nsize = [48, 36]\n[render]\nsamples = 2\n[camera]\nposition = [{}, {y}, 2]\nlook_at = [{x}, {y}, 0]\n\
                     [floor]\ncorners = [{corners}]\ntint = 0.3\nsize = \"{size}\"\nfade = 6\n[[light]]\nposition = [{x}, {y}, 5]\n",
                    x + 7.0
                )),
                0,
            )
        };
        let (here, there) = (picture(0.0, 0.0), picture(64.0, -32.0));
        let apart = here.iter().zip(&there).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(apart <= Some(2), "{size}: {apart:?}");
    }
}

// Light samples do not find the haze of a floor, so paths count all that they meet, after any bounce.
#[test]
fn paths_find_the_light_of_a_faded_floor() {
    let scene = toml(
        "[output]\nsize = [12, 12]\n[render]\nintegrator = \"path\"\nsamples = 256\n\
         [sky]\nzenith = [1, 1, 1]\nhorizon = [1, 1, 1]\n[camera]\nposition = [9, 0, 4]\nlook_at = [0, 0, 4]\nfov_deg = 8\n\
         [[sphere]]\ncenter = [0, 0, 4]\nradius = 1\nmaterial = \"diffuse\"\ncolor = [1, 1, 1]\n\
         [floor]\ncorners = [[-9,-9,0],[-9,9,0],[9,9,0],[9,-9,0]]\ntint = 0\nsize = \"infinite\"\nfade = 0.01\n",
    );
    let pixels = light(&scene);
    let off = pixels.iter().map(|&x| (f64::from(x) - 1.0).abs()).fold(0.0, f64::max);
    assert!(off < 0.004, "off by {off}");
}

// A lamp that paths both hit and sample counts once, also through a floor.
#[test]
fn a_clear_floor_is_not_there_for_paths() {
    let room = |floor: &str| {
        let scene = toml(&format!(
            "[output]\nsize = [8, 8]\n[render]\nintegrator = \"path\"\nsamples = 1024\ncutoff = 0\n\
             [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
             [camera]\nposition = [0, -6, -1]\nlook_at = [0, 0, -2]\nfov_deg = 20\n\
             [[sphere]]\ncenter = [0, 0, -52]\nradius = 50\nmaterial = \"diffuse\"\n\
             [[sphere]]\ncenter = [0, 0, 1.5]\nradius = 0.8\nmaterial = \"light\"\nstrength = 4\n{floor}"
        ));
        mean(&light(&scene))
    };
    let clear = "[floor]\ncorners = [[-9,-9,0],[-9,9,0],[9,9,0],[9,-9,0]]\ntransparency = 1\n";
    let (with, without) = (room(clear), room(""));
    assert!(without > 0.02 && (with / without - 1.0).abs() < 0.02, "{with} {without}");
}

fn picture(dir: &Path, name: &str, width: u32, height: u32, texel: impl Fn(u32, u32) -> [u16; 3]) -> PathBuf {
    let path = dir.join(name);
    let pixels = image::ImageBuffer::from_fn(width, height, |x, y| image::Rgb(texel(x, y)));
    image::DynamicImage::ImageRgb16(pixels).save(&path).unwrap();
    path
}
fn relief(keys: &str) -> String {
    format!("material = \"metal\"\n[floor.relief]\n{keys}")
}

// A constant normal map makes a tilted mirror; red points to the picture's right, which is +y here, green up, -x.
#[test]
fn a_normal_map_leans_the_mirror() {
    let dir = tempfile::tempdir().unwrap();
    for [right, up] in [[0.0, 0.0], [0.2, 0.0], [0.0, 0.2], [-0.15, 0.1]] {
        let out = f64::sqrt(1.0 - right * right - up * up);
        let texel = [right, up, out].map(|c| ((c * 0.5 + 0.5) * 65535.0).round() as u16);
        let map = picture(dir.path(), "normals.png", 1, 1, |_, _| texel);
        let n = [-up, right, out];
        for (angle, azimuth) in [(10.0, 0.0), (30.0, 90.0), (50.0, 215.0)] {
            let scene = floor(&relief(&format!("normal_map = '{}'\ntiles = 7", map.display())), angle, azimuth, 1);
            let d = scale(normalise(towards(angle, azimuth)), -1.0);
            let (got, expected) = (mean(&light(&scene)), sky(mirrored(d, n)));
            assert!((got - expected).abs() < 0.003, "{right} {up} from {angle} {azimuth}: {got}, expected {expected}");
        }
    }
}

// A linear height map does the same: to the right, and down the picture.
#[test]
fn heights_lean_the_mirror() {
    let dir = tempfile::tempdir().unwrap();
    let grey = |i: u32| [(f64::from(i) / 63.0 * 65535.0).round() as u16; 3];
    let right = picture(dir.path(), "right.png", 64, 2, |x, _| grey(x));
    let down = picture(dir.path(), "down.png", 2, 64, |_, y| grey(y));
    for (map, uphill) in [(right, [0.0, 1.0, 0.0]), (down, [1.0, 0.0, 0.0])] {
        // Steps between 64 texels, of a floor 18 units wide.
        let slope = 3.0 * 64.0 / 63.0 / 18.0;
        let n = normalise(sub([0.0, 0.0, 1.0], scale(uphill, slope)));
        for (angle, azimuth) in [(10.0, 0.0), (40.0, 100.0)] {
            let scene = floor(&relief(&format!("bump = '{}'\ndepth = 3", map.display())), angle, azimuth, 1);
            let d = scale(normalise(towards(angle, azimuth)), -1.0);
            let (got, expected) = (mean(&light(&scene)), sky(mirrored(d, n)));
            assert!((got - expected).abs() < 0.003, "{uphill:?} from {angle} {azimuth}: {got}, expected {expected}");
        }
    }
}

// Ripples smaller than a sample, as a rough mirror, look like very many samples of sharp ripples.
#[test]
fn ripples_too_small_to_see_spread_light_as_they_do() {
    let seen = |samples: u32| {
        let scene = toml(&format!(
            "[output]\nsize = [24, 10]\n[render]\nsamples = {samples}\ncutoff = 0\nambient = [0, 0, 0]\n\
             [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
             [camera]\nposition = [0, -60, 25]\nlook_at = [0, 0, -2]\nfov_deg = 12\n\
             [[sphere]]\ncenter = [0, 30, 14]\nradius = 4\nmaterial = \"light\"\nstrength = 2\n\
             [floor]\ncorners = [[-50,-50,0],[-50,50,0],[50,50,0],[50,-50,0]]\nmaterial = \"metal\"\n\
             [floor.relief]\nbump = \"@ripples\"\ndepth = 0.006\ntiles = 200\n"
        ));
        let pixels = light(&scene);
        // Per row, because the rows' light differs.
        pixels.chunks_exact(24 * 3).map(mean).collect::<Vec<f64>>()
    };
    let (few, many) = (seen(12), seen(64));
    let all: f64 = many.iter().sum();
    assert!(all > 0.1, "{many:?}");
    let off: f64 = few.iter().zip(&many).map(|(a, b)| (a - b).abs()).sum();
    assert!(off < 0.15 * all, "{few:?}\n{many:?}");
    let sum: f64 = few.iter().sum();
    // The distribution of waves has other tails than GGX.
    assert!((sum / all - 1.0).abs() < 0.1, "{sum} {all}");
}

// Whatever the samples show of the waves, and leave to roughness, the water is as bright.
#[test]
fn waves_too_small_to_see_are_as_bright_as_sharp_ones() {
    for (relief, keys, allowed) in [
        ("bump = \"@ripples\"\ndepth = 0.08", "", 0.015),
        ("bump = \"@ripples\"\ndepth = 0.4", "", 0.05),
        ("bump = \"@tiles\"\ndepth = 0.03", "", 0.025),
        ("bump = \"@ripples\"\ndepth = 0.4", "roughness = 0.2\n", 0.09),
    ] {
        let seen = |samples: u32, path: bool| {
            let scene = toml(&format!(
                "[output]\nsize = [48, 24]\n[render]\nsamples = {samples}\ncutoff = 0\nambient = [0, 0, 0]\n\
                 [sky]\nzenith = [0.2, 0.3, 0.6]\nhorizon = [0.9, 0.8, 0.7]\n\
                 [camera]\nposition = [0, -9, 1.2]\nlook_at = [0, 0, -2.5]\nfov_deg = 30\n\
                 [floor]\ncorners = [[-8,-8,-1],[-8,8,-1],[8,8,-1],[8,-8,-1]]\nsize = \"infinite\"\nmaterial = \"metal\"\n\
                 tint = [1, 1, 1]\n{keys}[floor.relief]\n{relief}\ntiles = 4\n"
            ));
            mean(&light(&if path { by_paths(scene, samples * samples) } else { scene }))
        };
        let sharp = seen(24, false);
        for (samples, path) in [(1, false), (2, false), (4, false), (4, true)] {
            let off = seen(samples, path) / sharp - 1.0;
            assert!(off.abs() < allowed, "{relief}, {keys}{samples} x {samples}, by paths {path}: {off} of {sharp}");
        }
    }
}

// Black is a clear mirror, white has the floor's roughness.
#[test]
fn a_roughness_map_tells_where_it_is_rough() {
    let dir = tempfile::tempdir().unwrap();
    // To the right is +y: the half with y below 0 is clear.
    let map = picture(dir.path(), "map.png", 64, 1, |x, _| [if x < 32 { 0 } else { 65535 }; 3]);
    let seen = |keys: &str, y: f64| {
        let mut scene = floor(&format!("material = \"metal\"\n{keys}"), 40.0, 0.0, 16);
        let eye = towards(40.0, 0.0);
        scene.camera.path =
            crate::scene::CameraPath::Fixed { position: add(eye, [0.0, y, 0.0]), look_at: [0.0, y, 0.0] };
        mean(&light(&scene))
    };
    let mapped = format!("roughness = 0.8\n[floor.relief]\nroughness_map = '{}'", map.display());
    let (clear, rough) = (seen("", -4.0), seen("roughness = 0.8", 4.0));
    assert!((clear - rough).abs() > 0.03, "{clear} {rough}");
    assert!((seen(&mapped, -4.0) - clear).abs() < 1e-3);
    assert!((seen(&mapped, 4.0) - rough).abs() < 5e-3);
    // Light is spread towards the horizon and the zenith: across the grain.
    let brushed = "roughness = 0.6\nanisotropy = 0.9\ngrain = [0, 1, 0]";
    let (grained, alike) = (seen(brushed, 4.0), seen("roughness = 0.6", 4.0));
    assert!((grained - alike).abs() > 0.01, "{grained} {alike}");
    let mapped = format!("{brushed}\n[floor.relief]\nroughness_map = '{}'", map.display());
    assert!((seen(&mapped, -4.0) - clear).abs() < 1e-3);
    assert!((seen(&mapped, 4.0) - grained).abs() < 5e-3, "{} {grained}", seen(&mapped, 4.0));
}

#[test]
fn reliefs_that_make_no_sense_are_refused() {
    for (keys, expected) in [
        ("[floor.relief]\nbump = \"@ripples\"", "`bump` and `depth` go together"),
        ("[floor.relief]\nbump = \"@waves\"\ndepth = 1", "`@scratches`, `@dust` or a file"),
        ("[floor.relief]\nroughness_map = \"@puddles\"", "a share of the surface's `roughness`, which is 0"),
        ("[floor.relief]\nbump = \"@tiles\"\ndepth = 1\nnormal_map = \"n.png\"", "both tilt the normals"),
        ("[floor.relief]\ntiles = 0.5", "`tiles` is 0.5"),
        ("tint = [1, 1, 1]\ncolor = [1, 1, 1]", "`tint` and `color` are the same"),
        (
            "roughness = 0.3\n[floor.relief]\ndrift = [1, 0]\nroughness_map = \"@puddles\"",
            "drifts has no `roughness_map`",
        ),
        ("material = \"light\"", "`material` is \"light\""),
        ("ior = 1.5", "has no `ior`"),
    ] {
        let text = format!("[floor]\ncorners = [[-9,-9,-1],[-9,9,-1],[9,9,-1],[9,-9,-1]]\n{keys}\n");
        let error =
            crate::scene::parse(&text, "t.toml", crate::scene::ParseOptions::default()).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let missing = floor("[floor.relief]\nbump = \"no.png\"\ndepth = 1", 0.0, 0.0, 1);
    let error = crate::Renderer::new(missing).err().unwrap().to_string();
    assert!(error.contains("no.png") && error.contains("cannot read the map"), "{error}");
}

// A drift by whole tiles returns to the start, and differs in between. Two equal waves with opposite
// directions have the same slope together.
#[test]
fn reliefs_drift_and_come_back() {
    let mut scene = floor(&relief("bump = \"@ripples\"\ndepth = 0.8\ndrift = [1, -2]"), 50.0, 30.0, 2);
    (scene.output.frames, scene.camera.fov_deg) = (8, 60.0);
    let frames: Vec<Vec<f32>> = (0..8).map(|n| light_of(&scene, n)).collect();
    assert!(frames.iter().skip(1).all(|f| f != &frames[0]));
    assert_eq!(scene.loop_problems(), Vec::new());
    let relief = scene.world.floor.as_mut().unwrap().relief.as_mut().unwrap();
    // One clip later.
    relief.offset = [1.0, -2.0].map(|d: f64| d.rem_euclid(1.0));
    assert_eq!(light_of(&scene, 3), frames[3]);
    let relief = scene.world.floor.as_mut().unwrap().relief.as_mut().unwrap();
    relief.drift = [0.5, 0.0];
    assert_eq!(scene.loop_problems().len(), 1);
}

// Waves finer than a pixel flash one by one, or make a rough mirror, whose rays are drawn at random: on average both mirror the
// same light.
#[test]
fn glitter_is_the_light_of_a_rough_mirror_wave_by_wave() {
    let waves = |glitter: f64, samples: u32| {
        let relief = format!("bump = \"@ripples\"\ndepth = 0.002\ntiles = 40\nglitter = {glitter}");
        let mut scene = floor(&format!("material = \"metal\"\n[floor.relief]\n{relief}"), 60.0, 30.0, samples);
        (scene.render.width, scene.render.height, scene.camera.fov_deg) = (48, 48, 40.0);
        scene.output.frames = 2;
        scene
    };
    let [smooth, glints] = [0.0, 1.0].map(|glitter| mean(&light(&waves(glitter, 12))));
    assert!((glints / smooth - 1.0).abs() < 0.01, "{glints} {smooth}");
    let is_steady = |scene: &Scene| light_of(scene, 0) == light_of(scene, 1);
    assert!(is_steady(&waves(1.0, 1)) && !is_steady(&waves(0.0, 1)));
}
