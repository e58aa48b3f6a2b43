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

// The sky at an elevation is seen through the fog between the eye and its top over the sine, in all its kinds; below the horizon
// there is only fog.
#[test]
fn fog_with_an_end_shows_the_sky() {
    let (density, height) = (0.1, 5.0);
    let sun = "image = \"@sun\"\nsun_elevation_deg = 50\nrotation_deg = 90";
    for (sky, eyes) in [("", &[0.0, 3.0, 20.0, 100.0][..]), (sun, &[3.0]), ("image = \"@overcast\"", &[0.0])] {
        for (how, eye) in BOTH.into_iter().flat_map(|how| eyes.iter().map(move |&eye: &f64| (how, eye))) {
            for elevation in [70.0_f64, 30.0, 5.0, -3.0] {
                let up = elevation.to_radians();
                let [x, z] = [up.cos(), up.sin()];
                let looking = |air: &str| {
                    let scene = toml(&format!(
                        "[output]\nsize = [1, 1]\n[render]\n{how}\ncutoff = 0\n[sky]\n{sky}\n{air}\n\
                         [camera]\nposition = [0, 0, {eye}]\nlook_at = [{x}, 0, {}]\nfov_deg = 0.01\n\
                         [[sphere]]\ncenter = [0, -9, 0]\nradius = 1\n",
                        eye + z
                    ));
                    light(&scene).into_iter().map(f64::from).collect::<Vec<_>>()
                };
                let clear = looking("");
                let seen = looking(&format!("[air]\ndensity = {density}\nheight = {height}\ncolor = {FOG:?}\n"));
                let through = if z > 0.0 { libm::exp(-density * (height - eye).max(0.0) / z) } else { 0.0 };
                for ((seen, clear), fog) in seen.iter().zip(clear).zip(FOG) {
                    let expected = clear * through + linear(fog) * (1.0 - through);
                    assert!(
                        (seen - expected).abs() < 0.01 * expected,
                        "{sky} {how} {eye} {elevation}: {seen}, not {expected}"
                    );
                }
            }
        }
    }
}

// A wall of light is seen through that part of the way which lies below the fog's top.
#[test]
fn fog_with_an_end_lies_between_surfaces() {
    let top = 2.0;
    let wall = "[[rectangle]]\ncenter = [0.7, 0, 0.3]\nsize = [60, 60]\nfacing = [0, -1, 0]\nmaterial = \"light\"\nstrength = 3\ncolor = [1, 1, 1]";
    for (eye, target, share) in
        [(1.0, 5.0, 0.25), (5.0, 1.0, 0.25), (0.0, 1.0, 1.0), (1.5, 1.5, 1.0), (3.0, 3.0, 0.0), (9.0, 2.5, 0.0)]
    {
        let through = libm::exp(-DENSITY * share * libm::hypot(AWAY, target - eye));
        let expected = FOG.map(|c| 3.0 * through + linear(c) * (1.0 - through));
        for how in BOTH {
            let scene = toml(&format!(
                "[output]\nsize = [4, 4]\n[render]\n{how}\ndepth = 1\nhighlight = 0\nambient = 0\ncutoff = 0\n\
                 [air]\ndensity = {DENSITY}\nheight = {top}\ncolor = {FOG:?}\n\
                 [camera]\nposition = [0, -{AWAY}, {eye}]\nlook_at = [0, 0, {target}]\nfov_deg = 0.1\n{wall}"
            ));
            assert_light(&scene, expected, &format!("{how} {eye} {target}"));
        }
    }
}

// A light that is as far away as the sky is dimmed as the sky is; one within the fog by its distance. Above the fog there is none.
#[test]
fn far_lights_shine_through_the_fog_above() {
    let lit = |ground: f64, z: f64, air: &str| {
        let scene = toml(&format!(
            "[output]\nsize = [2, 2]\n[render]\nsamples = 1\nambient = 0\nhighlight = 0\ncutoff = 0\n{air}\n\
             [camera]\nposition = [0, 0, {}]\nlook_at = [0, 1e-6, {ground}]\nfov_deg = 1\n[[light]]\nposition = [0, 0, {z}]\n\
             [[rectangle]]\ncenter = [0, 0, {ground}]\nsize = [4, 4]\nmaterial = \"diffuse\"\ncolor = [1, 1, 1]\n",
            ground + 1e-3
        ));
        mean(&light(&scene))
    };
    for (ground, z, depth) in [(0.0, 3.0, 0.3), (0.0, 9e5, 0.6), (4.0, 9e5, 0.2), (7.0, 9.0, 0.0), (7.0, 9e5, 0.0)] {
        let share = lit(ground, z, "[air]\ndensity = 0.1\nheight = 6\ncolor = [0, 0, 0]\n") / lit(ground, z, "");
        assert!((share / libm::exp(-depth) - 1.0).abs() < 1e-3, "{z}: {share}");
    }
}

// The sun lights a floor through it, and so does the rest of the sky: as the map of what is seen says, by paths that meet it.
#[test]
fn light_from_the_sky_passes_the_fog_once() {
    let (density, height, elevation) = (0.05, 6.0, 40.0_f64);
    let lit = |render: &str, air: &str| {
        let scene = toml(&format!(
            "[output]\nsize = [2, 2]\n[render]\n{render}\nambient = 0\nhighlight = 0\ncutoff = 0\n\
             [sky]\nimage = \"@sun\"\nsun_elevation_deg = {elevation}\nsun_size_deg = 0.1\n{air}\n\
             [camera]\nposition = [0, 0, 1e-3]\nlook_at = [0, 1e-6, 0]\nfov_deg = 1\n\
             [[rectangle]]\nsize = [4, 4]\nmaterial = \"diffuse\"\ncolor = [1, 1, 1]\n"
        ));
        mean(&light(&scene))
    };
    // Alone by Whitted's ray tracing, without the sky's blue.
    let whitted = "samples = 1";
    let air = format!("[air]\ndensity = {density}\nheight = {height}\ncolor = [0, 0, 0]\n");
    let share = lit(whitted, &air) / lit(whitted, "");
    let expected = libm::exp(-density * height / libm::sin(elevation.to_radians()));
    assert!((share / expected - 1.0).abs() < 2e-3, "{share}, expected {expected}");
    // By paths: the sun, and the sky's light by its cells.
    let paths = "integrator = \"path\"\nsamples = 4096\ndepth = 2";
    let by_paths = lit(paths, &air) / lit(paths, "");
    let sky = |depth: f64| {
        let sky = crate::scene::Sky {
            image: Some(crate::scene::SkySource::Sun),
            sun_elevation_deg: elevation,
            ..crate::scene::Sky::default()
        };
        let map = crate::assets::sky::SkyMap::of(&sky, None).unwrap();
        let clear = |z: f64| if z > 0.0 { libm::exp(-depth / z) } else { 0.0 };
        let sun = map.sun.unwrap();
        let from_sun: f64 = sun.irradiance.iter().map(|c| c * sun.direction[2] * clear(sun.direction[2])).sum();
        let side = map.side;
        let place = |i: usize| (i as f64 + 0.5) * 2.0 / side as f64 - 1.0;
        let of_sky: f64 = map
            .texels
            .iter()
            .enumerate()
            .map(|(at, texel)| {
                let p = crate::assets::sky::octahedron(place(at % side), place(at / side));
                let r = crate::math::vec3::length(p);
                let texel: f64 = texel.iter().map(|&c| f64::from(c)).sum();
                texel * clear(p[2] / r) * (p[2] / r).max(0.0) * 4.0 / (side * side) as f64 / (r * r * r)
            })
            .sum();
        from_sun + of_sky
    };
    let expected = sky(density * height) / sky(0.0);
    assert!((by_paths / expected - 1.0).abs() < 0.01, "{by_paths}, expected {expected}");
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
    // With a top, the way from the ball to the ray leaves the fog.
    for (density, behind, far, top) in [
        (0.0, "", 1e4, None),
        (0.0, wall, AWAY + 1.0, None),
        (DENSITY, "", 1e4, None),
        (DENSITY, wall, AWAY + 1.0, None),
        (DENSITY, wall, AWAY + 1.0, Some(0.1)),
    ] {
        let foggy = top.map_or(1.0, |top: f64| top / centre[2]);
        let light = |t: f64| {
            let square =
                (t - AWAY - centre[1]) * (t - AWAY - centre[1]) + centre[0] * centre[0] + centre[2] * centre[2];
            libm::exp(-density * (t + foggy * square.sqrt())) / (square + 0.01 * radius * radius)
        };
        let height = top.map_or(String::new(), |top| format!("height = {top}\n"));
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
                 [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[air]\ndensity = {density}\nglow = {GLOW}\n{height}color = [0, 0, 0]\n\
                 [camera]\nposition = [0, -{AWAY}, 0]\nlook_at = [0, 0, 0]\nfov_deg = 0.1\n{behind}\
                 [[sphere]]\ncenter = {centre:?}\nradius = {radius}\nmaterial = \"light\"\nstrength = {strength}\ncolor = [1, 0.5, 0.25]\n"
            ));
            for (i, &got) in super::common::light(&scene).iter().enumerate() {
                let due = expected[i % 3];
                assert!(
                    (f64::from(got) / due - 1.0).abs() < tolerance,
                    "{how} {density} {far} {top:?}: {got}, expected {due}"
                );
            }
        }
    }
}
