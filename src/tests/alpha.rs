//! Transparent pictures: alpha where the camera sees only sky.

use crate::render::Renderer;
use crate::scene::{Integrator, Scene};
use std::path::Path;

const TEXT: &str = "[output]\nframes = 4\nsize = [48, 36]\n[render]\nsamples = 3\n[sky]\nzenith = [0.6, 0.3, 0.9]\nhorizon = [0.6, 0.3, 0.9]\n\
    [camera]\nposition = [3, -3, 1.5]\nlook_at = [0, 0, 0]\nfov_deg = 50\n[[body]]\nsolid = \"icosahedron\"\nreflection = 0.4\n\
    transparency = 0.5\nlamps = 5\n[[sphere]]\ncenter = [1.2, 0.8, 0]\nradius = 0.5\nmaterial = \"metal\"\n[[light]]\nposition = [4, -6, 9]\n";

fn scene(is_transparent: bool, integrator: Integrator) -> Scene {
    let mut scene = Scene::parse(TEXT, "alpha", Path::new("")).unwrap().scene;
    scene.world.sky.transparent = is_transparent;
    if integrator == Integrator::Path {
        scene.render.set_paths(100);
    }
    scene
}

#[test]
fn over_its_sky_a_transparent_picture_is_the_opaque_one() {
    for integrator in [Integrator::Whitted, Integrator::Path] {
        let light = |is_transparent| {
            let mut renderer = Renderer::new(scene(is_transparent, integrator)).unwrap();
            renderer.still_linear(1).unwrap()
        };
        let ((opaque, _), (clear, layers)) = (light(false), light(true));
        let coverage = layers.unwrap().coverage;
        let sky = [0.6_f64, 0.3, 0.9].map(crate::math::srgb::linear);
        let mut partly = 0;
        for ((a, b), &share) in
            opaque.data().as_chunks::<3>().0.iter().zip(clear.data().as_chunks::<3>().0).zip(coverage.data())
        {
            partly += usize::from(share > 0.0 && share < 1.0);
            for channel in 0..3 {
                let over = f64::from(b[channel]) + (1.0 - f64::from(share)) * sky[channel];
                assert!((over - f64::from(a[channel])).abs() < 1e-4, "{over} {} at {share}", a[channel]);
            }
        }
        assert!(partly > 50, "edges are covered in part: {partly}");
    }
}

#[test]
fn alpha_is_straight() {
    let mut renderer = Renderer::new(scene(true, Integrator::Whitted)).unwrap();
    let picture = renderer.still(1).unwrap();
    let (light, layers) = renderer.still_linear(1).unwrap();
    let tone = renderer.scene().film.tone;
    let coverage = layers.unwrap().coverage;
    let pixels = picture.data().as_chunks::<4>().0.iter().zip(light.data().as_chunks::<3>().0).zip(coverage.data());
    for ((&[r, g, b, alpha], light), &share) in pixels {
        assert_eq!(alpha, (share * 255.0).round() as u8);
        if share == 0.0 {
            assert_eq!([r, g, b], [0; 3]);
            continue;
        }
        let shown = tone.tone_map(light.map(|x| f64::from(x / share)));
        for (code, x) in [r, g, b].into_iter().zip(shown) {
            assert!((f64::from(code) - 255.0 * tone.encode(x.clamp(0.0, 1.0))).abs() < 1.5);
        }
    }
}

#[test]
fn samples_that_differ_have_no_alpha() {
    for (from, to) in [
        ("samples = 3", "samples = \"2..9\""),
        ("samples = 3", "samples = 9\nintegrator = \"path\"\nnoise = 0.5"),
        ("fov_deg = 50", "fov_deg = 50\nshutter = 0.5"),
    ] {
        let text = TEXT.replace(from, to).replace("[sky]\n", "[sky]\ntransparent = true\n");
        let message = Scene::parse(&text, "alpha", Path::new("")).unwrap_err().to_string();
        assert!(message.contains("`transparent` needs the same samples everywhere"), "{message}");
    }
    let text = TEXT.replace("[sky]\n", "[sky]\ntransparent = true\n");
    let parsed = Scene::parse(&text, "alpha", Path::new("")).unwrap().scene;
    assert_eq!(Scene::parse(&parsed.to_toml(), "again", Path::new("")).unwrap().scene, parsed);
}

// Light around lamps, which the lens spreads or the air scatters, covers nothing, and is there all the same.
#[test]
fn glow_has_alpha() {
    for glow in ["[film]\nbloom = 0.3\n", "[film]\nglare = 0.3\nvignette = 0.3\n", "[air]\nglow = 0.05\n"] {
        let text = TEXT.replace(
            "[sky]\nzenith = [0.6, 0.3, 0.9]\nhorizon = [0.6, 0.3, 0.9]\n",
            "[sky]\nzenith = 0\nhorizon = 0\n",
        );
        let text = text.replace("lamps = 5\n", "lamps = 5\nlamp_intensity = 9\n") + glow;
        let picture = |transparent: &str| {
            let scene = Scene::parse(&text.replace("[sky]\n", transparent), "alpha", Path::new("")).unwrap().scene;
            let mut renderer = Renderer::new(scene).unwrap();
            (renderer.still(1).unwrap(), renderer.still_linear(1).unwrap().1)
        };
        let ((opaque, _), (clear, layers)) = (picture("[sky]\n"), picture("[sky]\ntransparent = true\n"));
        let coverage = layers.unwrap().coverage;
        let (mut glowing, mut fringe) = (0, 0.0);
        let pixels = opaque.data().as_chunks::<4>().0.iter().zip(clear.data().as_chunks::<4>().0);
        for ((a, b), &share) in pixels.zip(coverage.data()) {
            let over = |channel: usize| f32::from(b[channel]) * f32::from(b[3]) / 255.0;
            let off = (0..3).map(|i| (over(i) - f32::from(a[i])).abs()).fold(0.0, f32::max);
            if share == 0.0 || share == 1.0 {
                assert!(off < 1.1, "{glow}: {a:?} {b:?} at {share}");
            } else {
                // Codes do not add up as light does, and a lamp that covers a part of a pixel gets darker. Nothing gets brighter.
                fringe = (0..3).map(|i| over(i) - f32::from(a[i])).fold(fringe, f32::max);
            }
            glowing += usize::from(share == 0.0 && b[3] > 8);
        }
        assert!(glowing > 40 && fringe < 2.0, "{glow}: {glowing} {fringe}");
    }
}
