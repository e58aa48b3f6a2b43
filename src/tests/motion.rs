//! Motion: bodies, their lamps, and motion blur with a shutter.
use super::common::*;
use crate::render::plan::Split;
use crate::scene::Scene;
use crate::{RenderOptions, Renderer};

const MOVING: &str = "[output]\nframes = 24\nsize = [64, 48]\nloop = true\n[render]\nsamples = 4\ndepth = 4\n\
    [camera.orbit]\ncenter = [0, 0, 0]\ndistance = 5\nelevation_deg = 20\nease = 0.5\n\
    [[body]]\nsolid = \"hexahedron\"\ncenter = [0, 0, 0.4]\nreflection = 0.3\ntransparency = 0.5\nlamps = 3\n\
    axis = [0, 1, 1]\nangle_deg = 30\nturns = 1\nlamp_pattern = \"chase\"\nlamp_cycles = 2\n\
    [[body]]\nsolid = \"octahedron\"\nradius = 0.6\nlamps = 4\nlamp_pattern = \"hue\"\n[body.path]\nr = 2\nphi_cycles = -1\n\
    [[light]]\nposition = [4, 2, 6]\n[floor]\ncorners = [[-3, -3, -1], [-3, 3, -1], [3, 3, -1], [3, -3, -1]]\n";

// The light of an open shutter is the mean of stills over its time: here 16 stills of a clip with finer frames.
#[test]
fn motion_blur_is_the_mean_of_stills() {
    let mut scene = toml(MOVING);
    scene.camera.shutter = 1.0;
    scene.render.sampling = crate::scene::Sampling::PerAxis(8);
    let blurred = light_of(&scene, 6);
    let mut fine = scene.clone();
    (fine.camera.shutter, fine.output.frames) = (0.0, 24 * 32);
    let mut mean = vec![0.0; blurred.len()];
    for i in 0..16 {
        let still = light_of(&fine, 6 * 32 + 2 * i + 1 - 16);
        mean.iter_mut().zip(still).for_each(|(m, x)| *m += f64::from(x) / 16.0);
    }
    let mean_of = |v: &mut dyn Iterator<Item = f64>| v.sum::<f64>() / mean.len() as f64;
    let off = mean_of(&mut mean.iter().zip(&blurred).map(|(m, &b)| (m - f64::from(b)).abs()));
    let sharp =
        light_of(&Scene { camera: crate::scene::Camera { shutter: 0.0, ..scene.camera.clone() }, ..scene.clone() }, 6);
    let unblurred = mean_of(&mut mean.iter().zip(&sharp).map(|(m, &b)| (m - f64::from(b)).abs()));
    // A sixteenth of the samples at each moment leaves some noise; a still differs much more.
    assert!(off < 0.25 * unblurred, "{off} of {unblurred}");
}

// A small lamp goes 47 pixels while the shutter is open. Each pixel has nine moments, five pixels apart, in which it is four wide.
#[test]
fn a_lamp_in_motion_makes_a_streak() {
    let scene = toml(
        "[output]\nframes = 3\nsize = [64, 8]\n[render]\nsamples = 3\n[sky]\nzenith = 0\nhorizon = 0\n\
         [camera]\nshutter = 1\nposition = [0, -32, 0]\nlook_at = [0, 0, 0]\nfov_deg = 90\n[[sphere]]\nmaterial = \"light\"\n\
         color = 1\nstrength = 9\nradius = 2\ncenter = { keys = [[0, [-47, 0, 0]], [0.6667, [47, 0, 0]]], ease = \"linear\" }\n",
    );
    let light = light_of(&scene, 1);
    // Blocks of 2 x 2 in the middle rows, where the lamp passes.
    let pixel = |x: usize, y: usize| light[3 * (64 * y + x)];
    let block = |x: usize| (0..2).flat_map(|i| [3, 4].map(|y| pixel(2 * x + i, y))).sum::<f32>() / 4.0;
    let path: Vec<f32> = (7..25).map(block).collect();
    let mean = path.iter().sum::<f32>() / path.len() as f32;
    assert!(path.iter().all(|light| (0.5..1.5).contains(&(light / mean))), "{path:?}");
}

#[test]
fn moving_bodies_have_the_same_bytes_everywhere() {
    for shutter in [0.0, 0.5] {
        let mut scene = toml(MOVING);
        scene.camera.shutter = shutter;
        let picture = |options: RenderOptions, frame| {
            Renderer::with_options(scene.clone(), options).unwrap().still(frame).unwrap().data().to_vec()
        };
        let first = picture(RenderOptions::on_cpu(), 5);
        assert_ne!(first, picture(RenderOptions::on_cpu(), 6));
        let scalar = RenderOptions { isa: Some("scalar".into()), threads: 1, ..RenderOptions::on_cpu() };
        let tiles = RenderOptions { split: Split::Tiles, ..RenderOptions::on_cpu() };
        assert!(first == picture(scalar, 5) && first == picture(tiles, 5), "shutter {shutter}");
    }
}

// A body on its path stands, at each frame, at the position of a fixed body.
#[test]
fn a_body_on_its_way_is_one_that_stands_there() {
    let mut scene = toml(MOVING);
    scene.world.bodies.truncate(1);
    scene.output.is_loop = false;
    scene.world.bodies[0].lamp_pattern = crate::scene::LampPattern::default();
    scene.world.bodies[0].motion.drift = [0.0, 1.2, 0.0];
    scene.world.bodies[0].lamps = crate::scene::Lamps::Each(0);
    let moving = light_of(&scene, 8);
    let body = &mut scene.world.bodies[0];
    body.rotation.angle_deg += 120.0;
    body.centre[1] += 0.4;
    body.motion = crate::scene::Motion::default();
    assert_eq!(moving, light_of(&scene, 8));
}

#[test]
fn a_loop_that_does_not_join_is_refused() {
    for (what, word) in
        [("turns = 1\n", "body[0], the "), ("phi_cycles = -1", "body[1], the "), ("lamp_cycles = 2", "lamps")]
    {
        let broken = MOVING.replacen(what, &what.replace('1', "1.3").replace('2', "2.5"), 1);
        let problems = crate::scene::parse(&broken, "scene", Default::default()).unwrap_err().to_string();
        assert!(problems.contains(word), "{what}: {problems}");
    }
}
