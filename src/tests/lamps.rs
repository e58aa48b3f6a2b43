//! Lamps and other emitters as light sources, without path tracing.
use super::common::*;
use crate::scene::{LampSamples, MaterialKind, Scene};

// A body with lamps over a floor, a cube and a ball beside it, and a glowing ball.
fn dark_room() -> Scene {
    toml(
        "[output]\nsize = [48, 36]\n[render]\nsamples = 4\ndepth = 0\ncutoff = 0\nambient = [0, 0, 0]\nhighlight = 0\n\
         [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
         [camera]\nposition = [0, -6, 3]\nlook_at = [0, 0, 0]\nfov_deg = 50\n\
         [floor]\ncorners = [[-4,-4,-1],[-4,4,-1],[4,4,-1],[4,-4,-1]]\n\
         [[body]]\nsolid = \"octahedron\"\nradius = 0.9\nlamps = 5\nlamp_intensity = 30\nreflection = 0.5\ntransparency = 0.3\n\
         [[body]]\nsolid = \"cube\"\ncenter = [2, 0.5, 0]\nradius = 0.8\nbar = 0\nreflection = 0\ntransparency = 0\n\
         [[sphere]]\ncenter = [-2, 0, 0]\nradius = 0.6\nmaterial = \"diffuse\"\n\
         [[sphere]]\ncenter = [1, -2, 0]\nradius = 0.2\nmaterial = \"light\"\nstrength = 6\n",
    )
}

// Few samples converge to all samples, and both to the paths whose light has met one surface.
#[test]
fn lamps_light_bodies_and_samples_tend_to_all_of_them() {
    let scene = dark_room();
    let seen = |lamps: LampSamples| {
        let mut scene = scene.clone();
        scene.render.lamp_samples = lamps;
        light(&scene)
    };
    let all = seen(LampSamples::All);
    let off = [1, 8, 64].map(|n| rmse(&seen(LampSamples::Drawn(n)), &all));
    assert!(off[1] < 0.6 * off[0] && off[2] < 0.6 * off[1], "{off:?}");
    let mut path = scene.clone();
    path.render.set_paths(4096);
    path.render.depth = 0;
    let by_paths = light(&path);
    // With the light map alone the ball beside the body is black.
    let (floor_only, ball) = (light(&scene), 3 * (16 * 48 + 9));
    assert!(floor_only[ball] == 0.0 && all[ball] > 0.01, "{} {}", floor_only[ball], all[ball]);
    // Except for the lamps themselves, whose borders are sampled at other positions.
    let dim = |pixels: &[f32]| {
        let both = pixels.iter().zip(all.iter().zip(&by_paths)).filter(|(_, (a, b))| a.max(**b) < 0.3);
        both.map(|(x, _)| *x).collect::<Vec<f32>>()
    };
    let (all, by_paths) = (dim(&all), dim(&by_paths));
    assert!(
        all.len() > 3000 && rmse(&all, &by_paths) < 0.15 * mean(&all),
        "{} of {}",
        rmse(&all, &by_paths),
        mean(&all)
    );
    assert!((mean(&all) / mean(&by_paths) - 1.0).abs() < 0.01, "{} {}", mean(&all), mean(&by_paths));
}

// The floor is as bright as with the light map.
#[test]
fn the_floor_gets_what_the_lightmap_gives_it() {
    let mut scene = dark_room();
    scene.world.bodies.truncate(1);
    scene.world.spheres.clear();
    // The map has the lamps outside alone.
    scene.world.bodies[0].lamp_sides = crate::scene::LampSides::Outside;
    scene.world.bodies[0].material.kind = MaterialKind::Plain { reflection: 0.5, transparency: 0.5, ior: 1.0 };
    scene.camera.path = crate::scene::CameraPath::Fixed { position: [0.0, -3.0, 6.0], look_at: [0.0, -3.0, -1.0] };
    let map = mean(&light(&scene));
    scene.render.lamp_samples = LampSamples::All;
    let asked = mean(&light(&scene));
    assert!((map / asked - 1.0).abs() < 0.03, "{map} {asked}");
}

#[test]
fn paths_do_not_take_lamp_samples() {
    for (text, what) in [
        ("integrator = \"path\"\nlamp_samples = 4", "beside `integrator"),
        ("lamp_samples = \"some\"", "`lamp_samples` is \"some\""),
        ("lamp_samples = 1.5", "`lamp_samples` is 1.5"),
    ] {
        let text = format!("[render]\n{text}\n[[sphere]]\n");
        let error = crate::scene::parse(&text, "t.toml", Default::default()).err().unwrap().to_string();
        assert!(error.contains(what), "{error}");
    }
}

// Lamps emit their color alone, directly and after three reflections; a white core is a choice.
#[test]
fn lamps_keep_their_colour_in_mirrors_of_mirrors() {
    let amber = [1.0, 0.42, 0.1];
    let saturation = |[r, _, b]: [f64; 3]| 1.0 - b / r;
    for lamps in ["8", "\"strip\""] {
        // The light of the reflection of this number: what one more bounce adds.
        let seen = |reflection: u32, core: f64| {
            let sum = |depth: u32| {
                let text = format!(
                    "[output]\nsize = [96, 72]\n[render]\nsamples = 2\ndepth = {depth}\ncutoff = 0\nambient = [0, 0, 0]\n\
                     [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
                     [camera]\nposition = [0.3, 0.2, 0.1]\nlook_at = [-1, -0.4, -0.2]\nfov_deg = 80\n\
                     [[body]]\nsolid = \"cube\"\nradius = 2\ncolor = [0.97, 0.97, 0.97]\nreflection = 0.8\ntransparency = 0.1\n\
                     bar_color = [0, 0, 0]\nlamps = {lamps}\nlamp_color = {amber:?}\nlamp_intensity = 3\nlamp_core = {core}\n"
                );
                let pixels = light(&toml(&text));
                [0, 1, 2].map(|c| pixels.iter().skip(c).step_by(3).map(|&x| f64::from(x)).sum::<f64>())
            };
            let less = if reflection == 0 { [0.0; 3] } else { sum(reflection - 1) };
            let all = sum(reflection);
            [0, 1, 2].map(|c| all[c] - less[c])
        };
        let own = saturation(amber.map(crate::math::srgb::linear));
        let [first, third] = [0, 3].map(|n| saturation(seen(n, 0.0)));
        assert!(first > 0.99 * own && third > 0.8 * first, "{lamps}: {first}, {third} of {own}");
        let cored = saturation(seen(0, 1.0));
        assert!(cored < 0.85 * own, "{lamps}: {cored} of {own}");
    }
}

// Light that runs along an edge is at the same place on both of its faces, and lights others from there.
#[test]
fn chasing_lamps_run_the_same_way_on_both_faces_of_an_edge() {
    for (lamps, shape) in [("4", "disc"), ("4", "dome"), ("\"strip\"", "disc")] {
        // Each upright edge of the cube faces the camera once.
        for quarter in 0..4 {
            let scene = toml(&format!(
                "[output]\nsize = [64, 64]\nframes = 8\n[render]\nsamples = 2\nambient = [0, 0, 0]\nhighlight = 0\n\
                 [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
                 [camera]\nposition = [20, 0, 0]\nlook_at = [0, 0, 0]\nfov_deg = 4\n\
                 [[body]]\nsolid = \"cube\"\nradius = 1\nangle_deg = {}\nlamps = {lamps}\nlamp_shape = \"{shape}\"\n\
                 lamp_sides = \"outside\"\nlamp_pattern = \"chase\"\nbar = 0.1\nreflection = 0\ntransparency = 0\n",
                45 + 90 * quarter
            ));
            // Past the corners and other edges, in the middle of the picture.
            let pixels = light_of(&scene, 1);
            let column = |x: usize| (8..56).map(move |y| 3 * (64 * y + x));
            let sides = [30, 33].map(|x| column(x).map(|i| f64::from(pixels[i])).collect::<Vec<f64>>());
            let sum: f64 = sides.concat().iter().sum();
            let apart: f64 = sides[0].iter().zip(&sides[1]).map(|(a, b)| (a - b).abs()).sum();
            assert!(sum > 1.0 && apart < 0.02 * sum, "{lamps} {shape} {quarter}: {apart} of {sum}");
            // The light of the upper half over that of the lower half.
            let ratio = |of: &[f64]| of[..of.len() / 2].iter().sum::<f64>() / of[of.len() / 2..].iter().sum::<f64>();
            let here = scene.at(1.0);
            let mut places: Vec<(f32, f64)> = crate::device_scene::lights::lamps_of(&here, |_| false)
                .into_iter()
                .flatten()
                .filter(|lamp| lamp.position[0] > 0.7 && lamp.position[1].abs() < 0.1 && lamp.position[2].abs() < 0.5)
                .map(|lamp| (lamp.position[2], f64::from(lamp.strength[0])))
                .collect();
            places.sort_by(|a, b| b.0.total_cmp(&a.0));
            let strengths: Vec<f64> = places.into_iter().map(|place| place.1).collect();
            let (shown, cast) = (ratio(&sides[0]), ratio(&strengths));
            assert!((shown > 1.0) == (cast > 1.0), "{lamps} {shape} {quarter}: {shown} shown, {cast} cast");
        }
    }
}

// The light of lamps inside of a clear body leaves it, also where its panes keep no light.
#[test]
fn lamps_inside_of_clear_panes_light_the_floor() {
    let mut scene = dark_room();
    scene.world.bodies.truncate(1);
    scene.world.spheres.clear();
    scene.camera.path = crate::scene::CameraPath::Fixed { position: [0.0, -3.0, 6.0], look_at: [0.0, -3.0, -1.0] };
    for by_paths in [false, true] {
        let mut scene = scene.clone();
        scene.render.lamp_samples = LampSamples::All;
        if by_paths {
            scene.render.lamp_samples = LampSamples::Floor;
            scene.render.set_paths(512);
        }
        let mut with = |transparency: f64| {
            scene.world.bodies[0].material.kind = MaterialKind::Plain { reflection: 0.05, transparency, ior: 1.0 };
            mean(&light(&scene))
        };
        let (most, all) = (with(0.949), with(0.95));
        assert!((all / most - 1.0).abs() < 0.02, "{by_paths}: {most} {all}");
    }
}

// The map is of each frame where the air changes.
#[test]
fn the_lightmap_follows_the_air() {
    let mut scene = dark_room();
    scene.world.bodies.truncate(1);
    scene.output.frames = 8;
    let text = scene.to_toml();
    let with = |air: &str| toml(&text.replace("[air]\n", &format!("[air]\ndensity = {air}\n")));
    let over_time = with("{ keys = [[0, 0], [1, 1]] }");
    let (moving, still) = (light_of(&over_time, 4), light(&with("0.5")));
    assert!(rmse(&moving, &still) < 0.01 * mean(&still), "{} of {}", rmse(&moving, &still), mean(&still));
}
