//! Lights with a size, and the lens, against brute force.
use super::common::*;
use crate::math::vec3::*;
use crate::scene::{Light, Scene};

// A ball of light acts as a disc: its shadows equal those of 4,096 points on that disc.
#[test]
fn soft_shadows_are_those_of_many_points() {
    let base = toml(
        "[output]\nsize = [32, 24]\n[render]\nsamples = 4\nlight_samples = 4\ndepth = 2\ncutoff = 0\nambient = [0, 0, 0]\n\
         [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[camera]\nposition = [0, -6, 5]\nlook_at = [0, 0, 0]\nfov_deg = 40\n\
         [[body]]\nsolid = \"hexahedron\"\ncenter = [0, 0, 0.6]\nradius = 0.9\nbar = 0\ncolor = [0.2, 0.9, 0.4]\ntransparency = 0.4\n\
         [floor]\ncorners = [[-5, -5, -0.6], [-5, 5, -0.6], [5, 5, -0.6], [5, -5, -0.6]]\n\
         [[light]]\nposition = [30, 20, 40]\nradius = 5\ncolor = [0.9, 0.8, 0.7]\n",
    );
    let soft = light(&base);
    let mut many = base.clone();
    let at = base.world.lights[0].position;
    let axis = normalise(at);
    let right = normalise(cross([0.0, 0.0, 1.0], axis));
    let up = cross(axis, right);
    let count = 4096;
    let share = crate::math::srgb::srgb;
    let colour = base.world.lights[0].colour.map(|c| share(crate::math::srgb::linear(c) / f64::from(count)));
    many.world.lights = (0..count)
        .map(|i| {
            let (r, angle) =
                (5.0 * ((f64::from(i) + 0.5) / f64::from(count)).sqrt(), f64::from(i) * 2.399_963_229_728_653);
            let aside = add(scale(right, r * angle.cos()), scale(up, r * angle.sin()));
            Light { position: add(at, aside), colour, radius: 0.0 }
        })
        .collect();
    let mut hard = base.clone();
    hard.world.lights[0].radius = 0.0;
    let truth = light(&many);
    let (off, none) = (rmse(&soft, &truth), rmse(&light(&hard), &truth));
    assert!(off < 0.005 && off < 0.3 * none, "{off}, hard {none}");
    // More rays come closer: the rest is the noise of the pixels' own samples.
    let mut finer = base.clone();
    finer.render.light_samples = 64;
    assert!(rmse(&light(&finer), &truth) < off);
    // A path's one ray per bounce converges to the same.
    let mut path = base;
    path.render.set_paths(256);
    path.render.depth = 0;
    path.world.highlight = 0.0;
    let mut whitted = finer;
    (whitted.render.depth, whitted.world.highlight) = (0, 0.0);
    assert!(rmse(&light(&path), &light(&whitted)) < 0.01);
}

// The cutoff applies to light as the film shows it: light that is dimmed by some stops and restored by the film's exposure gives
// the same picture with the same rays, also with automatic exposure.
#[test]
fn dim_light_on_an_open_film_is_the_same_picture() {
    let scene = |stops: i32, exposure: &str, how: &str| {
        let share = f64::from(-stops).exp2();
        let dimmed = |linear: f64| crate::math::srgb::srgb(linear * share);
        let [light, sky, ambient] = [0.8, 0.4, 0.1].map(dimmed);
        toml(&format!(
            "[output]\nsize = [48, 36]\n[render]\n{how}\ndepth = 12\nambient = [{ambient}, {ambient}, {ambient}]\n\
             [film]\nexposure = {exposure}\ntone = \"clip\"\n\
             [sky]\nzenith = [{sky}, {sky}, {sky}]\nhorizon = [0, 0, 0]\n\
             [camera]\nposition = [4, -3, 2]\nlook_at = [0, 0, 0]\nfov_deg = 45\n\
             [[body]]\nsolid = \"cube\"\nreflection = 0.5\ntransparency = 0.45\nlamps = 4\nlamp_intensity = {}\n\
             [floor]\ncorners = [[-5,-5,-1],[-5,5,-1],[5,5,-1],[5,-5,-1]]\n\
             [[light]]\nposition = [3, -4, 5]\ncolor = [{light}, {light}, {light}]\n\
             [[light]]\nposition = [-3, 4, 5]\ncolor = [0, {light}, 0]\nradius = 0.5\n",
            0.2 * share
        ))
    };
    let picture = |scene: Scene| crate::Renderer::new(scene).unwrap().still(0).unwrap().data().to_vec();
    for how in ["samples = 2", "integrator = \"path\"\nsamples = 64"] {
        let plain = picture(scene(0, "0", how));
        for stops in [4, 8, 10] {
            let open = picture(scene(stops, &stops.to_string(), how));
            let off = plain.iter().zip(&open).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
            assert!(off <= 2, "{how}: {off} codes by {stops} stops");
        }
        let (auto, dim) = (picture(scene(0, "\"auto\"", how)), picture(scene(4, "\"auto\"", how)));
        let off = auto.iter().zip(&dim).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(off <= 3, "{how}: {off} codes with an automatic exposure");
    }
    // A film that darkens the picture loses no bright light.
    let dark = crate::scene::Exposure::Stops(-6.0);
    let mut bright = scene(-6, "0", "samples = 2");
    bright.film.exposure = dark;
    let off = picture(bright).iter().zip(picture(scene(0, "0", "samples = 2"))).map(|(a, b)| a.abs_diff(b)).max();
    assert!(off.unwrap() <= 2, "{off:?}");
}

// The lens's picture is the mean of pinholes all over the lens, which all look at the point in focus.
#[test]
fn the_lens_is_the_mean_of_pinholes() {
    let mut scene = toml(
        "[output]\nsize = [48, 36]\n[render]\nsamples = 24\ndepth = 2\ncutoff = 0\n\
         [camera]\nposition = [0, -6, 0]\nlook_at = [0, 0, 0]\nfov_deg = 40\nlens = 0.3\nfocus = 6\n\
         [[body]]\nsolid = \"octahedron\"\ncenter = [-1, 0, 0]\nlamps = 4\nlamp_shape = \"disc\"\n\
         [[body]]\nsolid = \"octahedron\"\ncenter = [1, 4, 0]\nlamps = 4\nlamp_shape = \"disc\"\n[[light]]\nposition = [3, -5, 6]\n",
    );
    let seen = light(&scene);
    let mut mean = vec![0.0f32; seen.len()];
    let count = 200;
    scene.camera.lens = 0.0;
    scene.render.sampling = crate::scene::Sampling::PerAxis(8);
    let plane = 2.0 * 6.0 * (20f64).to_radians().tan() / 48.0;
    for i in 0..count {
        let (r, angle) = (0.3 * ((f64::from(i) + 0.5) / f64::from(count)).sqrt(), f64::from(i) * 2.399_963_229_728_653);
        let (x, z) = (r * angle.cos(), r * angle.sin());
        // A pinhole beside the middle sees the plane in focus at the same pixels after a shift of its picture.
        let picture = shifted(&scene, [x, -6.0, z], x / plane, z / plane);
        mean.iter_mut().zip(picture).for_each(|(m, p)| *m += p / count as f32);
    }
    let sharp = light(&scene);
    let (off, none) = (rmse(&seen, &mean), rmse(&sharp, &mean));
    assert!(off < 0.25 * none, "{off}, sharp {none}");
}

// The view straight ahead of a pinhole at `eye`, shifted by (x, z) pixels: rendered at twice the width and height, and cropped
// to the nearest pixel of a finer raster.
fn shifted(scene: &Scene, eye: [f64; 3], x: f64, z: f64) -> Vec<f32> {
    const FINE: usize = 4;
    let (width, height) = (48usize, 36usize);
    let mut wide = scene.clone();
    (wide.render.width, wide.render.height) = (2 * FINE as u32 * width as u32, 2 * FINE as u32 * height as u32);
    wide.render.sampling = crate::scene::Sampling::PerAxis(1);
    wide.camera.fov_deg = 2.0 * (2.0 * (20f64).to_radians().tan()).atan().to_degrees();
    wide.camera.path = crate::scene::CameraPath::Fixed { position: eye, look_at: [eye[0], 0.0, eye[2]] };
    let picture = light(&wide);
    let (fine_w, left) = (2 * FINE * width, (width * FINE / 2) as f64 - x * FINE as f64);
    let top = (height * FINE / 2) as f64 + z * FINE as f64;
    let mut out = vec![0.0; 3 * width * height];
    for (at, to) in out.iter_mut().enumerate() {
        let (pixel, c) = (at / 3, at % 3);
        let (px, py) = (pixel % width, pixel / width);
        for k in 0..FINE * FINE {
            let column = (left.round() as usize) + px * FINE + k % FINE;
            let row = (top.round() as usize) + py * FINE + k / FINE;
            *to += picture[3 * (row * fine_w + column) + c] / (FINE * FINE) as f32;
        }
    }
    out
}
