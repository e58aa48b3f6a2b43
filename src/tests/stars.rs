//! The stars of `@night`: round, small, in sum as bright as the sky's map, and invisible after rough surfaces.

use super::common::*;
use crate::assets::sky::SkyMap;
use crate::math::vec3::{Vec3, add, dot, normalise, scale};
use crate::scene::{CameraPath, Scene};

fn night(size: [u32; 2], fov_deg: f64, look_at: Vec3, samples: &str, rest: &str) -> Scene {
    toml(&format!(
        "[output]\nsize = [{}, {}]\n[render]\n{samples}\nambient = [0, 0, 0]\n[sky]\nimage = \"@night\"\nrotation_deg = 25\n\
         [camera]\nposition = [0, 0, 0]\nlook_at = [{}, {}, {}]\nfov_deg = {fov_deg}\n\
         [[sphere]]\ncenter = [0, 0, -50]\n{rest}",
        size[0], size[1], look_at[0], look_at[1], look_at[2]
    ))
}

// The position of a direction in the picture.
fn pixel(scene: &Scene, d: Vec3) -> Option<[f64; 2]> {
    let view = scene.camera.view(0, 1);
    let focal = view.focal(scene.render.width, scene.render.height);
    let ahead = dot(d, view.forward);
    let place = |axis: Vec3, sign: f64, side: u32| sign * dot(d, axis) / ahead * focal + f64::from(side) / 2.0;
    let (x, y) = (place(view.right, 1.0, scene.render.width), place(view.up, -1.0, scene.render.height));
    let inside = |t: f64, side: u32| t > 8.0 && t < f64::from(side) - 8.0;
    (ahead > 0.1 && inside(x, scene.render.width) && inside(y, scene.render.height)).then_some([x, y])
}

// Isolated stars of a picture: widths along the longest and the shortest axis, from the second moments of the light
// above the sky's background, in pixels.
fn shapes(scene: &Scene) -> Vec<[f64; 2]> {
    let map = SkyMap::of(&scene.world.sky, None).unwrap();
    let places: Vec<([f64; 2], f64)> =
        map.stars.iter().filter_map(|star| Some((pixel(scene, star.direction)?, star.irradiance[1]))).collect();
    let image = light(scene);
    let (width, reach) = (scene.render.width as usize, 6.0);
    let at = |x: usize, y: usize| f64::from(image[3 * (y * width + x) + 1]);
    let mut found = Vec::new();
    for (i, &([x, y], brightness)) in places.iter().enumerate() {
        let alone = places
            .iter()
            .enumerate()
            .all(|(j, (p, other))| i == j || (p[0] - x).hypot(p[1] - y) > 2.0 * reach || *other < 0.02 * brightness);
        if !alone || brightness < 1.0e-6 {
            continue;
        }
        let around: Vec<(f64, f64, f64)> = (-6i32..=6)
            .flat_map(|j| (-6i32..=6).map(move |i| (i, j)))
            .map(|(i, j)| {
                let (px, py) = ((x as i32 + i) as usize, (y as i32 + j) as usize);
                (px as f64 + 0.5, py as f64 + 0.5, at(px, py))
            })
            .collect();
        let ground = around.iter().map(|p| p.2).fold(f64::INFINITY, f64::min);
        let top = around.iter().map(|p| p.2).fold(0.0, f64::max) - ground;
        let lit: Vec<_> = around.iter().map(|p| (p.0, p.1, (p.2 - ground - 0.02 * top).max(0.0))).collect();
        let whole: f64 = lit.iter().map(|p| p.2).sum();
        let mean = |of: &dyn Fn(f64, f64) -> f64| lit.iter().map(|p| of(p.0, p.1) * p.2).sum::<f64>() / whole;
        let (mx, my) = (mean(&|x, _| x), mean(&|_, y| y));
        let (xx, yy, xy) =
            (mean(&|x, _| (x - mx).powi(2)), mean(&|_, y| (y - my).powi(2)), mean(&|x, y| (x - mx) * (y - my)));
        let (half, root) = ((xx + yy) / 2.0, ((xx - yy).powi(2) / 4.0 + xy * xy).sqrt());
        assert!((mx - x).hypot(my - y) < 0.7, "a star at {x} {y} is seen at {mx} {my}");
        // Four standard deviations are the visible width of a disc.
        found.push([half + root, (half - root).max(0.0)].map(|variance| 4.0 * variance.sqrt()));
    }
    found
}

#[test]
fn stars_are_round_and_small() {
    for (fov_deg, look_at) in [(90.0, [1.0, 0.2, 0.7]), (40.0, [0.3, 1.0, 0.5]), (40.0, [-1.0, 0.4, 0.25])] {
        for samples in ["samples = 4", "integrator = \"path\"\nsamples = 64"] {
            let scene = night([1280, 720], fov_deg, look_at, samples, "");
            let found = shapes(&scene);
            assert!(found.len() > 10, "{} stars", found.len());
            let worst = found.iter().map(|s| s[0]).fold(0.0, f64::max);
            let longest = found.iter().map(|s| s[0] / (s[1] * s[1] + 0.25).sqrt()).fold(0.0, f64::max);
            assert!(
                worst < 4.0 && longest < 2.0,
                "{fov_deg} degrees, {samples}: {worst} pixels, {longest} times as long"
            );
        }
    }
}

// The picture contains all of the light of the visible stars; scattering surfaces get the same light without points.
#[test]
fn stars_bring_the_light_that_the_map_has_of_them() {
    let scene = night([960, 960], 60.0, [0.05, 0.1, 1.0], "samples = 3", "");
    let map = SkyMap::of(&scene.world.sky, None).unwrap();
    let mut without = scene.clone();
    without.world.floor = None;
    let image = light(&scene);
    let focal = scene.camera.view(0, 1).focal(960, 960);
    let view = scene.camera.view(0, 1);
    let (mut seen, mut ground) = (0.0, 0.0);
    for (i, pixel) in image.chunks_exact(3).enumerate() {
        let (x, y) = ((i % 960) as f64 + 0.5 - 480.0, (i / 960) as f64 + 0.5 - 480.0);
        let d = add(scale(view.forward, focal), add(scale(view.right, x), scale(view.up, -y)));
        // A pixel's solid angle, and the sky without its stars there.
        let angle = focal / dot(d, d).powf(1.5);
        let up = normalise(d)[2];
        seen += f64::from(pixel[1]) * angle;
        ground += (map_light(&map, normalise(d)) - map.starlight[1] * (1.0 - (-6.0 * up).exp())) * angle;
    }
    let limit = 480.0;
    let expected: f64 = map
        .stars
        .iter()
        .filter(|star| {
            let ahead = dot(star.direction, view.forward);
            let off = |axis: Vec3| (dot(star.direction, axis) / ahead * focal).abs() < limit;
            ahead > 0.0 && off(view.right) && off(view.up)
        })
        .map(|star| star.irradiance[1])
        .sum();
    assert!(((seen - ground) / expected - 1.0).abs() < 0.02, "{} of {expected}", seen - ground);
}

// The texel at a direction, of a sky that changes slowly.
fn map_light(map: &SkyMap, d: Vec3) -> f64 {
    let (u, v) = crate::assets::sky::unfolded(d);
    let at = |t: f64| (((t + 1.0) * 0.5 * map.side as f64) as usize).min(map.side - 1);
    f64::from(map.texels[at(v) * map.side + at(u)][1])
}

// A clear mirror shows points; a rough mirror, ripples and diffuse surfaces show only their light.
#[test]
fn what_spreads_light_shows_no_points() {
    let floor = |material: &str, how: &str| {
        let rest = format!(
            "[floor]\ncorners = [[-9,-9,-1],[-9,9,-1],[9,9,-1],[9,-9,-1]]\nsize = \"infinite\"\ntexture = \"none\"\n\
             tint = [1, 1, 1]\n{material}"
        );
        let mut scene = night([320, 240], 40.0, [0.0, 0.0, 0.0], how, &rest);
        scene.camera.path = CameraPath::Fixed { position: [0.0, -3.0, 1.5], look_at: [0.0, 0.0, -1.0] };
        let image = light(&scene);
        let brightest = image.iter().fold(0.0f32, |a, &b| a.max(b));
        (f64::from(brightest), mean(&image))
    };
    for how in ["samples = 3", "integrator = \"path\"\nsamples = 64"] {
        let (points, whole) = floor("material = \"metal\"\n", how);
        assert!(points > 20.0 * whole, "{how}: {points}, mean {whole}");
        for material in [
            "material = \"metal\"\nroughness = 0.4\n",
            "material = \"metal\"\n[floor.relief]\nbump = \"@ripples\"\ndepth = 0.25\n",
        ] {
            let (brightest, spread) = floor(material, how);
            assert!(brightest < 8.0 * spread, "{how}: {brightest}, mean {spread} on {material}");
        }
    }
}
