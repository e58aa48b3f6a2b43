//! Clear coats against optics: Fresnel's equations by angles, and reflections between coat and base added up one by one.

use super::common::*;
use super::materials::{mean_colour, near, wall};
use crate::scene::{Light, Scene};
use std::f64::consts::PI;

// Fresnel's reflectance of unpolarized light that meets a surface at this angle, from an index of refraction to another.
fn fresnel(from: f64, to: f64, angle: f64) -> f64 {
    let sine = from / to * angle.sin();
    if sine >= 1.0 {
        return 1.0;
    }
    let (angle, behind) = (angle.max(1e-6), sine.asin().max(1e-6 * from / to));
    let across = (angle - behind).sin() / (angle + behind).sin();
    let along = (angle - behind).tan() / (angle + behind).tan();
    0.5 * (across * across + along * along)
}

// Of diffuse light below a surface with this index of refraction, the share that it sends down again.
fn sent_down(ior: f64) -> f64 {
    const STEPS: i32 = 20_000;
    let at = |i: i32| (f64::from(i) + 0.5) * 0.5 * PI / f64::from(STEPS);
    (0..STEPS).map(|i| fresnel(ior, 1.0, at(i)) * (2.0 * at(i)).sin() * 0.5 * PI / f64::from(STEPS)).sum()
}

// A wall under a white sky.
fn under_a_sky(material: &str, degrees: f64, path: bool) -> [f64; 3] {
    let mut scene = wall(material, degrees, path);
    scene.world.ambient = [1.0; 3];
    mean_colour(&light(&scene))
}

#[test]
fn a_coat_mirrors_what_fresnel_says() {
    for (ior, degrees) in [(1.5, 0.0), (1.5, 60.0), (1.33, 80.0), (2.4, 45.0)] {
        let share = fresnel(1.0, ior, f64::to_radians(degrees));
        for path in [false, true] {
            let keys = format!("color = [0, 0, 0]\ncoat_ior = {ior}\ncoat");
            near("whole", under_a_sky(&format!("{keys} = 1"), degrees, path), [share; 3], 0.003);
            near("a part", under_a_sky(&format!("{keys} = 0.3"), degrees, path), [0.3 * share; 3], 0.003);
        }
    }
}

#[test]
fn between_a_coat_and_a_mirror_all_reflections_count() {
    for (ior, degrees, mirror) in [(1.5, 0.0, 0.5), (1.5, 70.0, 0.9), (2.4, 75.0, 0.3)] {
        let share = fresnel(1.0, ior, f64::to_radians(degrees));
        let (mut sum, mut under_way) = (share, (1.0 - share) * mirror);
        for _ in 0..100 {
            sum += under_way * (1.0 - share);
            under_way *= share * mirror;
        }
        let keys = format!("reflection = {mirror}\ncolor = [0, 0, 0]\ncoat = 1\ncoat_ior = {ior}");
        for path in [false, true] {
            near(&keys, under_a_sky(&keys, degrees, path), [sum; 3], 0.003);
        }
    }
}

// Light goes in, is spread, and is sent down again by the coat until it comes out: brighter colors are deeper below a coat.
#[test]
fn a_coated_color_is_that_of_a_smooth_plastic() {
    let (eye, lamp) = (f64::to_radians(30.0), f64::to_radians(65.0));
    for ior in [1.3, 1.5, 2.0] {
        let back = sent_down(ior);
        let expected = [0.9, 0.5, 0.1].map(|albedo: f64| {
            let passes = (1.0 - fresnel(1.0, ior, eye)) * (1.0 - fresnel(1.0, ior, lamp)) / (ior * ior);
            let spread: f64 = (0..200).map(|k| albedo.powi(k + 1) * back.powi(k)).sum();
            passes * spread * lamp.cos()
        });
        let colour = [0.9, 0.5, 0.1].map(crate::math::srgb::srgb);
        for path in [false, true] {
            let keys = format!("material = \"diffuse\"\ncolor = {colour:?}\ncoat = 1\ncoat_ior = {ior}");
            let mut scene: Scene = wall(&keys, 30.0, path);
            scene.world.sky.zenith = [0.0; 3];
            scene.world.sky.horizon = [0.0; 3];
            let position = [-40.0 * lamp.sin(), 0.0, 40.0 * lamp.cos()];
            scene.world.lights = vec![Light { position, colour: [1.0; 3], radius: 0.0 }];
            near(&keys, mean_colour(&light(&scene)), expected, 0.003);
        }
    }
}
