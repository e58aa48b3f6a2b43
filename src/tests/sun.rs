//! The sun of `@sun`: its light and its shadow on a floor, its disc, and its reflection in rough mirrors.
use super::common::*;
use crate::assets::sky::{SkyMap, Sun};
use crate::gpu_types::BRIGHT_MAX;
use crate::math::srgb::linear;
use crate::math::vec3::{Vec3, add, scale};
use crate::scene::Scene;
use std::f64::consts::PI;

fn scene(how: &str, size: f64, eye: Vec3, target: Vec3, fov_deg: f64, things: &str) -> Scene {
    toml(&format!(
        "[output]\nsize = [24, 24]\n[render]\n{how}\ncutoff = 0\nambient = [0, 0, 0]\nhighlight = 0\n\
         [sky]\nimage = \"@sun\"\nsun_elevation_deg = 30\nsun_size_deg = {size}\nrotation_deg = 40\n\
         [camera]\nposition = {eye:?}\nlook_at = {target:?}\nfov_deg = {fov_deg}\n{things}\n"
    ))
}
fn sun(scene: &Scene) -> Sun {
    SkyMap::of(&scene.world.sky, None).unwrap().sun.unwrap()
}
fn colour(pixels: &[f32]) -> Vec3 {
    let sum = pixels.chunks_exact(3).fold([0.0; 3], |sum, p| add(sum, [p[0], p[1], p[2]].map(f64::from)));
    scale(sum, 3.0 / pixels.len() as f64)
}

const WHITTED: &str = "samples = 4\nlight_samples = 16";
const FLOOR: &str = "[floor]\ncorners = [[-9,-9,0],[-9,9,0],[9,9,0],[9,-9,0]]\n";

#[test]
fn the_sun_lights_a_floor_and_casts_a_shadow() {
    let eye = [0.0, -3.0, 4.0];
    let floor = format!("{FLOOR}tint = [0.7, 0.7, 0.7]\n");
    let open = scene(WHITTED, 6.0, eye, [0.0; 3], 0.5, &floor);
    let sun = sun(&open);
    let expected = scale(sun.irradiance, linear(0.7) * sun.direction[2] / PI);
    let got = colour(&light(&open));
    assert!((0..3).all(|c| (got[c] / expected[c] - 1.0).abs() < 0.01), "{got:?}, expected {expected:?}");
    for (at, is_dark) in [(3.0, true), (-3.0, false)] {
        let centre = [sun.direction[0] * at, sun.direction[1] * at, sun.direction[2] * at.abs()];
        let ball = format!("{floor}[[sphere]]\ncenter = {centre:?}\nradius = 0.5\nmaterial = \"diffuse\"\n");
        let seen = colour(&light(&scene(WHITTED, 6.0, eye, [0.0; 3], 0.5, &ball)));
        assert_eq!(seen[1] < 0.001, is_dark, "a ball at {centre:?}: {seen:?}");
    }
}

// The camera sees the disc, directly and in a mirror: its light is the sun's. The true sun is forty thousand times as bright as white.
#[test]
fn the_disc_has_the_light_of_the_sun() {
    let eye = [0.0, 0.0, 3.0];
    let at = |sun: Sun, up: f64| add(eye, [sun.direction[0], sun.direction[1], sun.direction[2] * up]);
    let nothing = "[[sphere]]\ncenter = [0, 0, -50]\nradius = 0.1\n".to_owned();
    for (size, fov) in [(6.0, 12.0), (0.53, 1.2)] {
        let known = sun(&scene(WHITTED, size, eye, [1.0, 0.0, 3.0], fov, FLOOR));
        let side = 2.0 * f64::to_radians(0.5 * fov).tan();
        for how in [WHITTED, "integrator = \"path\"\nsamples = 64"] {
            let mirror = format!("{FLOOR}material = \"metal\"\ntint = [1, 1, 1]\n");
            for (up, things) in [(1.0, nothing.clone()), (-1.0, mirror)] {
                let seen = colour(&light(&scene(how, size, eye, at(known, up), fov, &things)));
                for c in 0..3 {
                    let expected = known.irradiance[c] / (side * side);
                    // The sky around it adds up to a few hundredths.
                    let off = seen[c] / expected;
                    assert!((0.98..1.06).contains(&off), "{size}, {how}, {up}: {seen:?}, expected {expected} for {c}");
                }
            }
        }
    }
}

// What one ray brings has an end, which lies beyond any sun of nature, and no hue is lost there.
#[test]
fn the_brightest_light_keeps_its_hue() {
    let eye = [0.0, 0.0, 3.0];
    let mut bright = scene(WHITTED, 0.1, eye, [1.0, 0.0, 3.0], 12.0, FLOOR);
    bright.world.sky.intensity = 100.0;
    let known = sun(&bright);
    bright.camera.path = crate::scene::CameraPath::Fixed { position: eye, look_at: add(eye, known.direction) };
    bright.camera.fov_deg = 0.02;
    let seen = colour(&light(&bright));
    let expected = scale(known.irradiance, f64::from(BRIGHT_MAX) / known.irradiance[0]);
    assert!((0..3).all(|c| (seen[c] / expected[c] - 1.0).abs() < 1e-3), "{seen:?}, expected {expected:?}");
}

// A little roughness spreads the true sun's light, and loses none.
#[test]
fn slightly_rough_mirrors_show_all_light_of_the_sun() {
    let eye = [0.0, 0.0, 3.0];
    let known = sun(&scene(WHITTED, 0.53, eye, [1.0, 0.0, 3.0], 8.0, FLOOR));
    let towards = add(eye, [known.direction[0], known.direction[1], -known.direction[2]]);
    let side = 2.0 * f64::to_radians(4.0).tan();
    let floor = |roughness: f64| format!("{FLOOR}material = \"metal\"\ntint = [1, 1, 1]\nroughness = {roughness}\n");
    for how in ["samples = 16", "integrator = \"path\"\nsamples = 256"] {
        for roughness in [0.05, 0.1] {
            let seen = colour(&light(&scene(how, 0.53, eye, towards, 8.0, &floor(roughness))))[1];
            let expected = known.irradiance[1] / (side * side);
            // Facets throw a few percent out of the picture, and the sky adds some.
            assert!((0.88..1.12).contains(&(seen / expected)), "{how}, {roughness}: {seen} of {expected}");
        }
    }
}

// Waves that are too small to see mirror as much of the sun as those that are seen. The true sun is in few of those.
#[test]
fn a_sea_under_the_sun_is_as_bright_at_any_samples() {
    for (size, allowed) in [(5.0, 0.04), (0.53, 0.4)] {
        let seen = |samples: u32| {
            let scene = toml(&format!(
                "[output]\nsize = [64, 36]\n[render]\nsamples = {samples}\ndepth = 3\nhighlight = 0\nambient = [0, 0, 0]\n\
                 [sky]\nimage = \"@sun\"\nsun_elevation_deg = 12\nsun_size_deg = {size}\nrotation_deg = 90\n\
                 [camera]\nposition = [0, -9, 1.2]\nlook_at = [0, 0, -0.2]\nfov_deg = 45\n\
                 [floor]\ncorners = [[-8, -8, -1], [-8, 8, -1], [8, 8, -1], [8, -8, -1]]\nsize = \"infinite\"\n\
                 material = \"metal\"\ntint = [1, 1, 1]\n[floor.relief]\nbump = \"@ripples\"\ndepth = 0.01\ntiles = 12\n"
            ));
            // The rows of water.
            mean(&light(&scene)[3 * 64 * 18..])
        };
        let all = [1, 2, 4, 8].map(seen);
        assert!(all.iter().all(|x| (x / all[3] - 1.0).abs() < allowed), "{size}: {all:?}");
    }
}

// A rough mirror samples the sun as a light, and its reflected rays do not count it again.
#[test]
fn rough_mirrors_show_the_sun_once() {
    let eye = [0.0, 0.0, 3.0];
    let known = sun(&scene(WHITTED, 30.0, eye, [1.0, 0.0, 3.0], 12.0, FLOOR));
    let towards = add(eye, [known.direction[0], known.direction[1], -known.direction[2]]);
    let radiance = scale(known.irradiance, 1.0 / (PI * known.radius * known.radius));
    for roughness in [0.2, 0.5] {
        let floor = format!("{FLOOR}material = \"metal\"\ntint = [1, 1, 1]\nroughness = {roughness}\n");
        let [whitted, paths] = ["samples = 8\nlight_samples = 16", "integrator = \"path\"\nsamples = 1024"]
            .map(|how| colour(&light(&scene(how, 30.0, eye, towards, 1.0, &floor)))[1]);
        assert!((whitted / paths - 1.0).abs() < 0.04, "{roughness}: {whitted} and {paths}");
        if roughness < 0.3 {
            // The lobe is narrower than the disc.
            assert!((0.8..1.1).contains(&(paths / radiance[1])), "{paths} of {radiance:?}");
        }
    }
}
