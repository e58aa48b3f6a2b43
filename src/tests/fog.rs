//! Fog against its formula: light L at a distance d is seen as L T + color (1 - T), T = exp(-density d).
use super::common::*;
use crate::math::srgb::linear;

const DENSITY: f64 = 0.23;
// sRGB, and the distance from the camera to the wall.
const FOG: [f64; 3] = [0.3, 0.5, 0.8];
const AWAY: f64 = 4.0;

fn scene(how: &str, things: &str) -> crate::scene::Scene {
    toml(&format!(
        "[output]\nsize = [4, 4]\n[render]\n{how}\ndepth = 1\nhighlight = 0\nambient = 0\ncutoff = 0\n\
         [sky]\nimage = \"@dusk\"\n[air]\ndensity = {DENSITY}\ncolor = [{}, {}, {}]\n\
         [camera]\nposition = [0, -{AWAY}, 0]\nlook_at = [0, 0, 0]\nfov_deg = 0.1\n{things}",
        FOG[0], FOG[1], FOG[2]
    ))
}

fn assert_light(scene: &crate::scene::Scene, expected: [f64; 3], what: &str) {
    let pixels = light(scene);
    for (i, &got) in pixels.iter().enumerate() {
        let expected = expected[i % 3];
        assert!((f64::from(got) - expected).abs() < 0.003 * expected.max(0.01), "{what}: {got}, expected {expected}");
    }
}

const BOTH: [&str; 2] = ["integrator = \"whitted\"\nsamples = 1", "integrator = \"path\"\nsamples = 16"];

#[test]
fn a_wall_of_light_turns_to_the_colour_of_the_fog() {
    let wall = "[[rectangle]]\ncenter = [0.7, 0, 0.3]\nsize = [4, 4]\nfacing = [0, -1, 0]\nmaterial = \"light\"\nstrength = 3\ncolor = [1, 1, 1]";
    let through = libm::exp(-DENSITY * AWAY);
    for how in BOTH {
        assert_light(&scene(how, wall), FOG.map(|c| 3.0 * through + linear(c) * (1.0 - through)), how);
    }
}

#[test]
fn the_sky_is_all_fog() {
    let aside = "[[sphere]]\ncenter = [0, -9, 0]\nradius = 1";
    for how in BOTH {
        assert_light(&scene(how, aside), FOG.map(linear), how);
    }
}

// A gray wall lit head-on by a point light: first with fog between light and wall, then between wall and camera.
#[test]
fn shadow_rays_pass_through_fog_too() {
    let lit = "[[rectangle]]\ncenter = [0.7, 0, 0.3]\nsize = [4, 4]\nfacing = [0, -1, 0]\nmaterial = \"diffuse\"\ncolor = [1, 1, 1]\n\
               [[light]]\nposition = [0, -2.5, 0]\ncolor = [1, 1, 1]";
    let (to_light, through) = (libm::exp(-DENSITY * 2.5), libm::exp(-DENSITY * AWAY));
    let whitted = scene(&BOTH[0].replace("depth", ""), lit);
    assert_light(&whitted, FOG.map(|c| to_light * through + linear(c) * (1.0 - through)), "whitted");
}

// A mirror splits a path in two: the fog of both parts equals that of one straight path of the same length.
#[test]
fn fog_adds_up_over_a_mirror() {
    let things = "[[rectangle]]\ncenter = [0.7, 0, 0.3]\nsize = [4, 4]\nfacing = [0, -1, 0]\nmaterial = \"metal\"\ncolor = [1, 1, 1]\n\
                  [[rectangle]]\ncenter = [0.7, -7, 0.3]\nsize = [9, 9]\nfacing = [0, 1, 0]\nmaterial = \"light\"\n\
                  strength = 2\ncolor = [1, 1, 1]";
    let through = libm::exp(-DENSITY * (AWAY + 7.0));
    for how in BOTH {
        assert_light(&scene(how, things), FOG.map(|c| 2.0 * through + linear(c) * (1.0 - through)), how);
    }
}

// A ball of light beside the camera's ray, which goes on for ever or ends at a black wall, in thin air and in fog.
#[test]
fn the_glow_of_a_ball_is_the_integral_along_the_ray() {
    const GLOW: f64 = 0.4;
    let (centre, radius, strength) = ([0.8, 0.5, 0.3], 0.1, 3.0);
    let wall = "[[rectangle]]\ncenter = [0.7, 1, 0.3]\nsize = [4, 4]\nfacing = [0, -1, 0]\nmaterial = \"diffuse\"\ncolor = [0, 0, 0]\n";
    for (density, behind, far) in
        [(0.0, "", 1e4), (0.0, wall, AWAY + 1.0), (DENSITY, "", 1e4), (DENSITY, wall, AWAY + 1.0)]
    {
        let light = |t: f64| {
            let square =
                (t - AWAY - centre[1]) * (t - AWAY - centre[1]) + centre[0] * centre[0] + centre[2] * centre[2];
            libm::exp(-density * (t + square.sqrt())) / (square + 0.01 * radius * radius)
        };
        // Simpson's rule over steps that grow with the distance.
        let place = |i: i32| libm::expm1(f64::from(i) / 4000.0 * libm::log1p(far));
        let seen: f64 = (0..4000)
            .map(|i| (place(i), place(i + 1)))
            .map(|(a, b)| (b - a) / 6.0 * (light(a) + 4.0 * light(0.5 * (a + b)) + light(b)))
            .sum();
        // The pixels' own rays differ by 1 % of it.
        let tolerance = if density > 0.0 { 0.08 } else { 0.02 };
        let expected = [1.0, 0.5, 0.25].map(|c| 0.25 * GLOW * strength * radius * radius * linear(c) * seen);
        for how in BOTH {
            let scene = toml(&format!(
                "[output]\nsize = [4, 4]\n[render]\n{how}\ndepth = 1\nhighlight = 0\nambient = 0\ncutoff = 0\n\
                 [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[air]\ndensity = {density}\nglow = {GLOW}\ncolor = [0, 0, 0]\n\
                 [camera]\nposition = [0, -{AWAY}, 0]\nlook_at = [0, 0, 0]\nfov_deg = 0.1\n{behind}\
                 [[sphere]]\ncenter = {centre:?}\nradius = {radius}\nmaterial = \"light\"\nstrength = {strength}\ncolor = [1, 0.5, 0.25]\n"
            ));
            for (i, &got) in super::common::light(&scene).iter().enumerate() {
                let due = expected[i % 3];
                assert!((f64::from(got) / due - 1.0).abs() < tolerance, "{how} {density} {far}: {got}, expected {due}");
            }
        }
    }
}
