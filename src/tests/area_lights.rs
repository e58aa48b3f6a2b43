//! Area lights on scattering surfaces: against sums over the light in f64, and with both strategies of path tracing.
use super::common::*;
use super::microfacets::{Brushed, Rough};
use crate::math::vec3::{Vec3, add, cross, dot, length, normalise, scale, sub};
use crate::scene::{Rotation, Scene};
use std::f64::consts::PI;

const EYE: Vec3 = [0.0, -4.0, 2.0];

// A table around the origin, seen from EYE, dark but for the given lights.
fn table(material: &str, rest: &str, samples: u32) -> Scene {
    toml(&format!(
        "[output]\nsize = [8, 8]\n[render]\nintegrator = \"path\"\nsamples = {samples}\ndepth = 4\ncutoff = 0\n\
         [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
         [camera]\nposition = [{}, {}, {}]\nlook_at = [0, 0, 0]\nfov_deg = 0.5\n\
         [[rectangle]]\nsize = [40, 40]\n{material}\n{rest}\n",
        EYE[0], EYE[1], EYE[2]
    ))
}
fn rough(roughness: f64) -> String {
    format!("material = \"metal\"\ncolor = [1, 1, 1]\nroughness = {roughness}")
}
// Light from direction l that the table at the origin reflects to the eye: BRDF times cosine, white.
fn scattered(rough: Option<&Rough>, l: Vec3) -> f64 {
    rough.map_or_else(|| 0.5 * l[2].max(0.0) / PI, |rough| rough.scattered(l, normalise(EYE)))
}
fn material_of(roughness: Option<f64>) -> String {
    // 0.5 in linear light.
    roughness.map_or_else(|| "material = \"diffuse\"\ncolor = [0.735357, 0.735357, 0.735357]".into(), rough)
}

const ROUGHNESSES: [Option<f64>; 4] = [None, Some(0.25), Some(0.5), Some(0.9)];
// Positions of lights: in the mirror direction, beside it, low.
const PLACES: [Vec3; 3] = [[0.0, 3.0, 1.5], [1.0, 2.0, 3.0], [-2.0, 2.5, 0.8]];

#[test]
fn balls_of_light_on_rough_mirrors_agree_with_a_sum_over_them() {
    for roughness in ROUGHNESSES {
        let facets = roughness.map(Rough::new);
        for (centre, radius) in PLACES.into_iter().zip([0.1, 0.9, 0.4]) {
            let away = length(centre);
            let axis = normalise(centre);
            let right = normalise(cross(axis, [0.3, 0.1, 1.0]));
            let down = cross(axis, right);
            let widest = 1.0 - (1.0 - (radius / away).powi(2)).sqrt();
            let steps = 400;
            let mut expected = 0.0;
            for i in 0..steps {
                let z = 1.0 - widest * (f64::from(i) + 0.5) / f64::from(steps);
                for j in 0..steps {
                    let (sine, cosine) = (2.0 * PI * (f64::from(j) + 0.5) / f64::from(steps)).sin_cos();
                    let r = (1.0 - z * z).sqrt();
                    let l = add(scale(axis, z), add(scale(right, r * cosine), scale(down, r * sine)));
                    expected += scattered(facets.as_ref(), l);
                }
            }
            expected *= 5.0 * 2.0 * PI * widest / f64::from(steps * steps);
            let ball = format!(
                "[[sphere]]\ncenter = [{}, {}, {}]\nradius = {radius}\nmaterial = \"light\"\nstrength = 5\n\
                 color = [1, 1, 1]",
                centre[0], centre[1], centre[2]
            );
            let got = mean(&light(&table(&material_of(roughness), &ball, 1024)));
            let within = 0.02 * expected + 1e-4;
            assert!((got - expected).abs() < within, "{roughness:?} {centre:?}: {got}, expected {expected}");
        }
    }
}

#[test]
fn ellipsoids_of_light_agree_with_a_sum_over_them() {
    let radii = [0.7, 0.25, 0.4];
    let rotation = Rotation { axis: [1.0, 1.0, 0.0], angle_deg: 35.0 };
    for roughness in ROUGHNESSES {
        let facets = roughness.map(Rough::new);
        for centre in PLACES {
            let steps = 500;
            let mut expected = 0.0;
            for i in 0..steps * steps {
                let at = |k: i32| (f64::from(k) + 0.5) / f64::from(steps);
                let (z, (sine, cosine)) = (2.0 * at(i % steps) - 1.0, (2.0 * PI * at(i / steps)).sin_cos());
                let r = (1.0 - z * z).sqrt();
                let unit = [r * cosine, r * sine, z];
                let p = add(centre, rotation.apply([0, 1, 2].map(|i| radii[i] * unit[i])));
                // The gradient's length is the ratio of the areas, over the determinant.
                let gradient = rotation.apply([0, 1, 2].map(|i| unit[i] / radii[i]));
                let l = normalise(p);
                expected += scattered(facets.as_ref(), l) * (-dot(gradient, l)).max(0.0) / dot(p, p);
            }
            expected *= 5.0 * 4.0 * PI * radii.iter().product::<f64>() / f64::from(steps * steps);
            let lamp = format!(
                "[[ellipsoid]]\ncenter = [{}, {}, {}]\nradii = [0.7, 0.25, 0.4]\naxis = [1, 1, 0]\nangle_deg = 35\n\
                 material = \"light\"\nstrength = 5\ncolor = [1, 1, 1]",
                centre[0], centre[1], centre[2]
            );
            let got = mean(&light(&table(&material_of(roughness), &lamp, 1024)));
            let within = 0.02 * expected + 1e-4;
            assert!((got - expected).abs() < within, "{roughness:?} {centre:?}: {got}, expected {expected}");
        }
    }
}

// Repeated with an invisible box around the light: a shadow ray passes its panes, and so does a ray that hits the light.
#[test]
fn rectangles_of_light_agree_with_a_sum_over_them() {
    let pane = "[[body]]\nsolid = \"cube\"\nradius = 3\nbar = 0\ncolor = [1, 1, 1]\ntransparency = 1\ncenter = ";
    for roughness in ROUGHNESSES {
        let facets = roughness.map(Rough::new);
        for (centre, angle) in PLACES.into_iter().zip([0.0, 25.0, 70.0]) {
            let (size, facing) = ([1.2, 0.7], [0.1 - centre[0], -centre[1], 0.3 - centre[2]]);
            let panel = format!(
                "[[rectangle]]\ncenter = [{}, {}, {}]\nsize = [1.2, 0.7]\nfacing = [{}, {}, {}]\nangle_deg = {angle}\n\
                 material = \"light\"\nstrength = 3\ncolor = [1, 1, 1]",
                centre[0], centre[1], centre[2], facing[0], facing[1], facing[2]
            );
            let corners =
                crate::scene::Rectangle { centre, size, facing, angle_deg: angle, ..Default::default() }.corners();
            let steps = 300;
            let mut expected = 0.0;
            for i in 0..steps * steps {
                let at = |k: i32| (f64::from(k) + 0.5) / f64::from(steps);
                let along = scale(sub(corners[1], corners[0]), at(i % steps));
                let p = add(corners[0], add(along, scale(sub(corners[3], corners[0]), at(i / steps))));
                let l = normalise(p);
                expected += scattered(facets.as_ref(), l) * dot(l, normalise(facing)).abs() / dot(p, p);
            }
            expected *= 3.0 * size[0] * size[1] / f64::from(steps * steps);
            let around = format!("{panel}\n{pane}[{}, {}, {}]", centre[0], centre[1], centre[2] + 5.0);
            for (how, rest) in [("alone", &panel), ("behind panes", &around)] {
                let got = mean(&light(&table(&material_of(roughness), rest, 1024)));
                let within = 0.02 * expected + 1e-4;
                assert!((got - expected).abs() < within, "{roughness:?} {centre:?} {how}: {got}, expected {expected}");
            }
        }
    }
}

// A rough mirror shows the highlight of a point light as GGX spreads it, in both integrators; a clear mirror shows none.
#[test]
fn points_of_light_shine_on_rough_mirrors() {
    for path in [true, false] {
        for roughness in [0.0, 0.3, 0.5, 0.9] {
            let facets = Rough::new(roughness);
            for place in PLACES {
                let lamp =
                    format!("[[light]]\nposition = [{}, {}, {}]\ncolor = [1, 1, 1]", place[0], place[1], place[2]);
                let mut scene = table(&rough(roughness), &lamp, 16);
                if !path {
                    (scene.render.integrator, scene.render.sampling) =
                        (crate::scene::Integrator::Whitted, crate::scene::Sampling::PerAxis(1));
                }
                let got = mean(&light(&scene));
                let expected = if roughness > 0.0 { PI * scattered(Some(&facets), normalise(place)) } else { 0.0 };
                assert!((got - expected).abs() < 0.02 * expected + 1e-5, "{roughness} {place:?}: {got} {expected}");
            }
        }
    }
}

// Brushed metal spreads the highlight across its grain, which is that of the table along x.
#[test]
fn points_of_light_shine_across_the_grain_of_brushed_metal() {
    for (roughness, anisotropy) in [(0.3, 0.5), (0.4, 0.9), (0.7, 0.6)] {
        let facets = Brushed::new(roughness, anisotropy);
        for place in PLACES.into_iter().chain([[0.0, 2.0, 2.2], [0.6, 3.0, 1.5]]) {
            for path in [true, false] {
                let lamp =
                    format!("[[light]]\nposition = [{}, {}, {}]\ncolor = [1, 1, 1]", place[0], place[1], place[2]);
                let metal = format!("{}\nanisotropy = {anisotropy}", rough(roughness));
                let mut scene = table(&metal, &lamp, 16);
                if !path {
                    (scene.render.integrator, scene.render.sampling) =
                        (crate::scene::Integrator::Whitted, crate::scene::Sampling::PerAxis(1));
                }
                let got = mean(&light(&scene));
                let expected = PI * facets.scattered(normalise(place), normalise(EYE));
                let what = format!("{roughness} {anisotropy} {place:?}, path {path}");
                assert!((got - expected).abs() < 0.03 * expected + 1e-4, "{what}: {got}, expected {expected}");
            }
        }
    }
}

// A small light and a narrow lobe make noise with one strategy alone, and little with both.
#[test]
fn both_ways_leave_little_noise() {
    for (roughness, radius, max) in [(0.25, 1.5, 0.1), (0.5, 0.1, 0.1), (0.9, 0.02, 0.1)] {
        let ball = format!("[[sphere]]\ncenter = [0, 3, 1.5]\nradius = {radius}\nmaterial = \"light\"\nstrength = 5");
        let pixels = light(&table(&rough(roughness), &ball, 64));
        let middle = mean(&pixels);
        let square = pixels.iter().map(|&x| (f64::from(x) - middle).powi(2)).sum::<f64>() / pixels.len() as f64;
        let noise = square.sqrt() / middle;
        assert!(noise < max, "roughness {roughness}, radius {radius}: {noise}");
    }
}

// Rough mirrors sample lamps, and clearer ones hit them; at the threshold both show the same light.
#[test]
fn lamps_shine_on_rough_mirrors_as_much_as_they_are_seen_in_clear_ones() {
    let seen = |roughness: f64, samples: u32| {
        let cube = "[[body]]\nsolid = \"cube\"\ncenter = [0, 2.5, 1.7]\nradius = 1\nlamps = 4\nlamp_intensity = 5\n\
                    bar = 0.08\nreflection = 0.5\nbar_reflection = 0\ncolor = [0, 0, 0]";
        let mut scene = table(&rough(roughness), cube, samples);
        scene.camera.fov_deg = 20.0;
        scene.render.depth = 1;
        mean(&light(&scene))
    };
    let (asked, met) = (seen(0.317, 256), seen(0.3161, 4096));
    assert!(met > 0.002 && (asked / met - 1.0).abs() < 0.15, "{asked} {met}");
}
