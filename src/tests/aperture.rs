//! The aperture: what a small bright ball out of focus looks like, in both integrators and on all instruction sets.

use super::common::*;
use crate::Scene;

const SIDE: u32 = 64;
// The circle of confusion's radius in pixels.
const RADIUS: f64 = 22.0;

// A ball at twice the distance in focus.
fn ball(keys: &str, render: &str) -> Scene {
    let focal = f64::from(SIDE) / 2.0 / (10f64).to_radians().tan();
    let lens = RADIUS / (focal * (1.0 / 5.0 - 1.0 / 10.0));
    toml(&format!(
        "[output]\nsize = [{SIDE}, {SIDE}]\n[render]\n{render}\n[sky]\nzenith = 0\nhorizon = 0\n[camera]\nfov_deg = 20\n\
         position = [0, -10, 0]\nlook_at = [0, 0, 0]\nfocus = 5\nlens = {lens}\n{keys}\n\
         [[sphere]]\nradius = 0.06\nmaterial = \"light\"\ncolor = 1\nstrength = 1000\n"
    ))
}

// The sides of the polygon, as directions in turns from right to up.
fn sides(blades: u32, rotation: f64) -> impl Iterator<Item = f64> {
    (0..blades).map(move |k| (90.0 + rotation + (f64::from(k) + 0.5) * 360.0 / f64::from(blades)).to_radians())
}

// The light of pixels by what `of` makes of their place, right and up of the center over the radius.
fn share(light: &[f32], of: impl Fn([f64; 2]) -> bool) -> f64 {
    let place = |i: u32| (f64::from(i) + 0.5 - f64::from(SIDE) / 2.0) / RADIUS;
    let pixels = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))).zip(light.chunks(3));
    let (mut sum, mut all) = (0.0, 0.0);
    for ((x, y), pixel) in pixels {
        let light = f64::from(pixel[0]);
        all += light;
        sum += if of([place(x), -place(y)]) { light } else { 0.0 };
    }
    assert!(all > 0.0);
    sum / all
}

const INTEGRATORS: [&str; 2] = ["samples = 32\ndepth = 1", "integrator = \"path\"\nsamples = 1024\ndepth = 2"];

#[test]
fn highlights_out_of_focus_are_evenly_filled_polygons() {
    for (blades, rotation, ratio) in [(3, 0.0, 1.0), (5, 20.0, 1.0), (6, -75.0, 1.0), (8, 400.0, 2.0), (16, 0.0, 0.8)] {
        let keys = format!("aperture_blades = {blades}\naperture_rotation_deg = {rotation}\naperture_ratio = {ratio}");
        for render in INTEGRATORS {
            // Wider apertures than 1 leave the picture.
            let scene = ball(&keys, render);
            let light = light(&scene);
            let apothem = (std::f64::consts::PI / f64::from(blades)).cos();
            // 1 at the sides.
            let outward = |[x, y]: [f64; 2]| {
                let along = |angle: f64| x * ratio * angle.cos() + y * angle.sin();
                sides(blades, rotation).map(along).fold(f64::MIN, f64::max) / apothem
            };
            let of = |what: &str, got: f64, expected: f64, off: f64| {
                assert!((got - expected).abs() <= off, "{keys}, {render}, {what}: {got}, {expected} expected");
            };
            let pixel = 1.6 * ratio.max(1.0) / (RADIUS * apothem);
            of("inside", share(&light, |p| outward(p) < 1.0 + pixel), 1.0, 1e-9);
            // A ring at the border has as much light as its area.
            of("half of the area", share(&light, |p| outward(p) < 0.5f64.sqrt()), 0.5, 0.03);
            of("a quarter", share(&light, |p| outward(p) < 0.5), 0.25, 0.03);
            for k in 0..4 {
                let angle = f64::from(k) * std::f64::consts::FRAC_PI_2 + 0.3;
                // A line through the center halves polygons of even numbers of sides only.
                let expected = if blades % 2 == 0 { 0.5 } else { continue };
                of("a side", share(&light, |[x, y]| x * angle.cos() + y * angle.sin() > 0.0), expected, 0.03);
            }
        }
    }
    let round = light(&ball("", INTEGRATORS[0]));
    let near = |[x, y]: [f64; 2], limit: f64| x.hypot(y) < limit;
    assert!(share(&round, |p| near(p, 1.0 + 1.6 / RADIUS)) > 1.0 - 1e-9);
    assert!((share(&round, |p| near(p, 0.5f64.sqrt())) - 0.5).abs() < 0.03);
    // The corners of a triangle are where its sides are not: a round highlight has light beyond them.
    assert!(share(&round, |p| p[1] < -0.6) > 0.1);
    assert!(share(&light(&ball("aperture_blades = 3", INTEGRATORS[0])), |p| p[1] < -0.6) < 1e-9);
}

#[test]
fn apertures_have_the_same_bytes_on_every_set() {
    for blades in [3, 7, 16] {
        for render in ["samples = 4\ndepth = 1", "integrator = \"path\"\nsamples = 16\ndepth = 2"] {
            let keys = format!("aperture_blades = {blades}\naperture_rotation_deg = 33.3\naperture_ratio = 1.5");
            let picture = same_on_every_set("an aperture", &ball(&keys, render), 0);
            assert!(picture.chunks(4).any(|p| p[0] > 0), "the ball is seen");
        }
    }
}

// Turning by the angle between two sides gives the same shape; a round aperture may turn at will.
#[test]
fn a_whole_number_of_sides_is_no_turn() {
    let of = |keys: &str| light(&ball(keys, INTEGRATORS[0]));
    assert_eq!(of("aperture_rotation_deg = 123"), of(""));
    assert_eq!(of("aperture_blades = 6"), of("aperture_blades = 6\naperture_rotation_deg = 360"));
    let (plain, turned) = (of("aperture_blades = 6"), of("aperture_blades = 6\naperture_rotation_deg = 30"));
    // A corner is at the top, or the middle of a side.
    let at_top = |light: &[f32]| share(light, |[x, y]| x.abs() < 0.1 && y > 0.9);
    assert!(at_top(&plain) > 0.003 && at_top(&turned) < 1e-9, "{} {}", at_top(&plain), at_top(&turned));
}
