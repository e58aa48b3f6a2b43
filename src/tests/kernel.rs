//! The kernels on every instruction set: the same bytes, and the results that optics demands.
use super::common::*;
use crate::device::Memory;
use crate::kernels::Isa;
use crate::scene::Solid;
use crate::scene::{Body, Integrator, Light, Material, Scene};
use proptest::prelude::*;

pub(super) fn small_scenes() -> Vec<(String, Scene)> {
    let mut scenes: Vec<(String, Scene)> =
        ["coursework.txt", "infinity.toml", "solids.toml", "glass.toml", "garland.toml", "cse260.toml"]
            .map(|name| (name.to_owned(), own(name)))
            .into();
    for path in inputs() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name != "leading-blank-light-and-samples-on-one-line.txt" {
            scenes.push((name, load(&path)));
        }
    }
    // Scenes of this repository, enough for a machine without the input files.
    let mut deep = own("infinity.toml");
    deep.render.depth = 64;
    deep.render.cutoff = 0.02;
    scenes.push(("infinity at depth 64".into(), deep));
    let mut zigzag = own("coursework.txt");
    zigzag.world.floor.as_mut().unwrap().corners[1][2] = 0.5;
    scenes.push(("default with a bent floor".into(), zigzag));
    for name in ["weekend.toml", "weekend-final.toml"] {
        let mut scene = own(name);
        scene.render.set_paths(5);
        scenes.push((name.into(), scene));
    }
    // Lamps and a glowing ball, sampled by path tracing.
    let mut lit = own("coursework.txt");
    lit.render.set_paths(3);
    scenes.push(("default, path traced".into(), lit));
    assert!(scenes.len() >= 6);
    scenes
}

#[test]
fn bytes_are_equal_on_every_instruction_set() {
    for (name, scene) in small_scenes() {
        for samples in [1, 3] {
            let scene = sized(scene.clone(), 61, 43, samples);
            same_on_every_set(&format!("{name}, {samples} samples"), &scene, 1 % scene.output.frames);
        }
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    // A scene of few bodies with lamp light on the floor, and one with a hierarchy.
    for name in ["solids.toml", "cse260.toml", "weekend-final.toml"] {
        let mut scene = sized(own(name), 160, 90, 2);
        if scene.render.integrator == Integrator::Path {
            scene.render.set_samples(2);
        }
        let frame = 5 % scene.output.frames;
        let expected = render_with(&scene, Isa::available()[0], 1, frame);
        for threads in [2, 3, 8] {
            let got = render_with(&scene, Isa::available()[0], threads, frame);
            assert_eq!(first_difference(&expected, &got, 160), None, "{name}, {threads} threads");
        }
    }
}

#[test]
fn ray_counts_do_not_depend_on_the_instruction_set() {
    let scene = sized(own("coursework.txt"), 40, 30, 2);
    let counts: Vec<_> = Isa::tested()
        .into_iter()
        .map(|isa| {
            let cpu = renderer(&scene, isa, 0).cpu(isa);
            let stats = cpu.run(&whole(&scene, 3), &frame_params(&scene, 3), &mut Memory::default());
            (stats.rays, stats.shadow_rays)
        })
        .collect();
    assert!(counts.windows(2).all(|w| w[0] == w[1]), "{counts:?}");
    assert!(counts[0].0 > 40 * 30 * 4);
}

#[test]
fn piles_of_rays_hold_the_deepest_scene() {
    // Interpenetrating glass bodies on a mirror: nothing is isolated, every hit splits.
    let mut scene = sized(own("glass.toml"), 24, 16, 2);
    for (i, body) in scene.world.bodies.iter_mut().enumerate() {
        body.centre = [0.2 * i as f64, 0.1, 0.0];
        body.material = Material::plain(body.material.colour, 0.5, 0.5);
    }
    (scene.render.depth, scene.render.cutoff) = (24, 1e-4);
    scene.world.floor.as_mut().unwrap().material = Material::plain([1.0; 3], 0.9, 0.0);
    let sets = Isa::tested();
    let expected = render_with(&scene, *sets.last().unwrap(), 0, 0);
    assert_eq!(first_difference(&expected, &render_with(&scene, sets[0], 0, 0), 24), None);
}

proptest! {
    #[test]
    fn fused_multiply_add_rounds_once(a in any::<[u32; 16]>(), b in any::<[u32; 16]>(), c in any::<[u32; 16]>(), near in any::<bool>()) {
        // Any bit patterns, and with `near` magnitudes whose sum cancels.
        let float = |w: u32| if near { f32::from_bits(w & 0x807f_ffff | (0x3e00_0000 + (w & 0x0300_0000))) } else { f32::from_bits(w) };
        let (a, b, c) = (a.map(float), b.map(float), c.map(float));
        for isa in Isa::tested() {
            let got = isa.fused(&a, &b, &c);
            for i in 0..16 {
                let expected = a[i].mul_add(b[i], c[i]);
                prop_assert!(got[i].to_bits() == expected.to_bits() || (got[i].is_nan() && expected.is_nan()),
                    "{}: {} * {} + {} = {}, got {}", isa.name, a[i], b[i], c[i], expected, got[i]);
            }
        }
    }
}

// Sums beside the middle of two floats, closer than a double tells: those that a set without the instruction rounds with more care. Of all
// sizes, with results that are denormal, and those that overflow.
#[test]
fn fused_multiply_add_rounds_once_beside_the_middle_of_floats() {
    let mut state = 1u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..400_000 {
        let addend = match draw(4) {
            0 => f32::from_bits(draw(1 << 24) as u32), // zero, denormal, and just above
            1 => f32::from_bits(f32::MAX.to_bits() - draw(4) as u32),
            _ => f32::from_bits((draw(0x7f800) as u32) << 12 | draw(1 << 12) as u32),
        };
        // Half of the distance to the next float, as a product of two powers of two, and of numbers beside them: 1 + 2^-23 times
        // 1 - 2^-23 is 2^-46 less than 1.
        let exponent = (addend.to_bits() >> 23).max(1) as i32 - 127 - 24;
        let (least, most) = ((-126 - exponent).max(0), (127 - exponent).min(120));
        let down = least + draw((most - least + 1) as u64) as i32;
        let (first, second) = [(0, 0), (1, -2), (-2, 1), (2, -4), (3, -6), (1, 0), (0, 1), (-1, 0)][draw(8) as usize];
        let near = |power: i32, steps: i32| f32::from_bits((libm::scalbnf(1.0, power).to_bits() as i32 + steps) as u32);
        let sign = |value: f32, negative: bool| if negative { -value } else { value };
        a.push(sign(near(exponent + down, first), draw(2) == 0));
        b.push(near(-down, second));
        c.push(sign(addend, draw(2) == 0));
    }
    let expected: Vec<f32> = (0..a.len()).map(|i| a[i].mul_add(b[i], c[i])).collect();
    let twice = |i: usize| (f64::from(a[i]) * f64::from(b[i]) + f64::from(c[i])) as f32;
    let (denormal, infinite, hard) = (0..a.len()).fold((0, 0, 0), |(d, o, h), i| {
        (
            d + usize::from(expected[i].is_subnormal()),
            o + usize::from(expected[i].is_infinite()),
            h + usize::from(twice(i) != expected[i]),
        )
    });
    assert!(denormal > 10_000 && infinite > 1000 && hard > 10_000, "{denormal} {infinite} {hard}");
    for isa in Isa::tested() {
        let got = isa.fused(&a, &b, &c);
        for i in 0..a.len() {
            assert_eq!(got[i].to_bits(), expected[i].to_bits(), "{}: {:e} * {:e} + {:e}", isa.name, a[i], b[i], c[i]);
        }
    }
}

#[test]
fn yuv_is_bt709_limited_on_every_instruction_set() {
    let (width, height) = (5, 3);
    let rgba: Vec<u8> = (0..width * height)
        .flat_map(|i| [(i * 17 % 256) as u8, (i * 91 % 256) as u8, (i * 53 % 256) as u8, 255])
        .collect();
    let at = |x: u32, y: u32| {
        let i = 4 * (y.min(height - 1) * width + x.min(width - 1)) as usize;
        [0, 1, 2].map(|c| f64::from(rgba[i + c]) / 255.0)
    };
    let luma = |p: [f64; 3]| 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
    let mut first = Vec::new();
    for isa in Isa::tested() {
        let mut yuv = Vec::new();
        isa.convert(&rgba, width, height, &mut yuv);
        let (wide, tall) = (6, 4);
        assert_eq!(yuv.len(), wide * tall * 3 / 2);
        for y in 0..tall {
            for x in 0..wide {
                let expected = 16.0 + 219.0 * luma(at(x as u32, y as u32));
                assert!((f64::from(yuv[y * wide + x]) - expected).abs() <= 1.0, "luma ({x}, {y})");
            }
        }
        for by in 0..2 {
            for bx in 0..3 {
                let four = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| at(2 * bx + i, 2 * by + j));
                let mean = [0, 1, 2].map(|c| four.iter().map(|p| p[c]).sum::<f64>() / 4.0);
                let i = (by * 3 + bx) as usize;
                let blue = 128.0 + 224.0 * (mean[2] - luma(mean)) / 1.8556;
                let red = 128.0 + 224.0 * (mean[0] - luma(mean)) / 1.5748;
                assert!((f64::from(yuv[24 + i]) - blue).abs() <= 1.0, "blue {i}");
                assert!((f64::from(yuv[30 + i]) - red).abs() <= 1.0, "red {i}");
            }
        }
        if first.is_empty() {
            first = yuv;
        } else {
            assert_eq!(first, yuv, "{}", isa.name);
        }
    }
}

// --- optics ---

fn empty(width: u32, height: u32) -> Scene {
    let mut scene = toml("[camera]\nfov_deg = 90\n[[body]]\nsolid = \"hexahedron\"\nbar = 0.0\n");
    (scene.render.width, scene.render.height, scene.world.highlight, scene.render.cutoff) = (width, height, 0.0, 1e-7);
    (scene.world.sky.zenith, scene.world.sky.horizon, scene.world.ambient) = ([0.0; 3], [0.0; 3], [0.0; 3]);
    scene
}

fn close(rgba: &[u8], at: usize, expected: [f64; 3], what: &str) {
    for c in 0..3 {
        let (got, expected) = (f64::from(rgba[4 * at + c]), code(expected[c]));
        assert!((got - expected).abs() <= 1.0, "{what}: pixel {at}, channel {c}: {got}, expected {expected:.2}");
    }
}

#[test]
fn a_lit_closed_box_is_lambert() {
    // The eye and the light are inside an opaque cube: each pixel sees a point of the wall with a known cosine.
    let mut scene = empty(33, 25);
    scene.world.bodies[0] = Body {
        material: Material::plain([1.0, 0.735_357, 0.5], 0.0, 0.0),
        radius: 3.0_f64.sqrt() * 2.0,
        ..scene.world.bodies[0].clone()
    };
    scene.world.ambient = [0.2; 3];
    let light = [0.5, -0.7, 0.9];
    scene.world.lights = vec![Light { position: light, colour: [0.9; 3], radius: 0.0 }];
    (eye(&mut scene).r0, eye(&mut scene).z0) = (1.2, 0.3);
    target(&mut scene).r0 = 0.0;
    let rgba = render(&scene, 0);
    let view = scene.camera.view(0, scene.output.frames);
    let focal = view.focal(33, 25);
    let linear = crate::math::srgb::linear;
    for (i, (x, y)) in (0..25).flat_map(|y| (0..33).map(move |x| (x, y))).enumerate() {
        let (px, py) = (f64::from(x) + 0.5 - 16.5, f64::from(y) + 0.5 - 12.5);
        let d: Vec<f64> = (0..3).map(|c| view.forward[c] * focal + view.right[c] * px - view.up[c] * py).collect();
        // The first wall that the ray hits, at distance 2 from the center.
        let (t, axis) =
            (0..3).map(|c| ((2.0 * d[c].signum() - view.eye[c]) / d[c], c)).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        let p: Vec<f64> = (0..3).map(|c| view.eye[c] + t * d[c]).collect();
        let distance = (0..3).map(|c| (light[c] - p[c]).powi(2)).sum::<f64>().sqrt();
        let cosine = (light[axis] - p[axis]).abs() / distance;
        let expected = [1.0, 0.735_357, 0.5].map(|c| linear(c) * (linear(0.2) + linear(0.9) * cosine));
        close(&rgba, i, expected, "lit box");
    }
}

#[test]
fn no_light_leaks_into_a_closed_body() {
    // From inside each opaque black solid, an extremely bright sky is invisible everywhere.
    for solid in Solid::ALL {
        let mut scene = empty(96, 96);
        scene.world.bodies[0] =
            Body { solid, material: Material::plain([0.0; 3], 0.0, 0.0), radius: 1.0, ..scene.world.bodies[0].clone() };
        (scene.world.sky.zenith, scene.world.sky.horizon) = ([1.0; 3], [1.0; 3]);
        (eye(&mut scene).r0, eye(&mut scene).z0, scene.camera.fov_deg) = (0.12, 0.05, 150.0);
        eye(&mut scene).wphi = 1.0;
        for frame in [0, 7, 41, 90] {
            let rgba = render(&scene, frame);
            let lit = rgba.chunks(4).filter(|p| p[0] > 0).count();
            assert_eq!(lit, 0, "{solid:?}, frame {frame}");
        }
    }
}

#[test]
fn a_mirror_chain_is_a_geometric_series() {
    // Inside a cube with R = r, each bounce adds (1 - r) a of the remaining weight: a (1 - r^(depth + 1)) in all.
    for (r, depth) in [(0.5, 1), (0.5, 6), (0.9, 10), (0.9, 64), (0.98, 128)] {
        let mut scene = empty(16, 16);
        scene.world.bodies[0] =
            Body { material: Material::plain([1.0; 3], r, 0.0), radius: 2.0, ..scene.world.bodies[0].clone() };
        (scene.world.ambient, scene.render.depth) = ([0.7; 3], depth);
        eye(&mut scene).r0 = 0.3;
        (eye(&mut scene).z0, target(&mut scene).z0) = (0.1, 0.4);
        let rgba = render(&scene, 0);
        let sum = crate::math::srgb::linear(0.7) * (1.0 - f64::powi(r, depth as i32 + 1));
        for i in 0..256 {
            close(&rgba, i, [sum; 3], &format!("r = {r}, depth {depth}"));
        }
    }
}

#[test]
fn panes_multiply() {
    // Through n parallel boxes at a uniform sky: two panes per box, and T times the tint per pane.
    for n in 1..=4usize {
        let mut scene = empty(9, 9);
        let body =
            Body { material: Material::plain([1.0, 0.9, 0.8], 0.0, 0.8), radius: 1.0, ..scene.world.bodies[0].clone() };
        scene.world.bodies = (0..n).map(|i| Body { centre: [-3.0 * i as f64, 0.0, 0.0], ..body.clone() }).collect();
        (scene.world.sky.zenith, scene.world.sky.horizon) = ([0.9; 3], [0.9; 3]);
        (eye(&mut scene).r0, eye(&mut scene).z0, scene.camera.fov_deg) = (5.0, 0.0, 2.0);
        let rgba = render(&scene, 0);
        let linear = crate::math::srgb::linear;
        let expected = [1.0, 0.9, 0.8].map(|c| linear(0.9) * (0.8 * linear(c)).powi(2 * n as i32));
        for i in 0..81 {
            close(&rgba, i, expected, &format!("{n} boxes"));
        }
    }
}

#[test]
fn shadows_are_tinted_by_panes_and_stopped_by_bars() {
    // A cube between the light and the floor; the camera looks at the floor point below its center.
    let mut scene = toml(
        "[camera]\nfov_deg = 1\neye = { r = 6.0, z = -0.9 }\ntarget = { z = -1.0 }\n\
         [[body]]\nsolid = \"hexahedron\"\ncenter = [0, 0, 1.5]\ncolor = [1.0, 0.5, 0.9]\ntransparency = 0.7\n\
         [floor]\ncorners = [[-9,-9,-1],[-9,9,-1],[9,9,-1],[9,-9,-1]]\n[[light]]\nposition = [0, 0, 9]\ncolor = [0.9, 0.9, 0.9]\n",
    );
    (scene.render.width, scene.render.height, scene.world.highlight, scene.world.ambient) = (5, 5, 0.0, [0.0; 3]);
    let linear = crate::math::srgb::linear;
    let through = [1.0, 0.5, 0.9].map(|c| linear(0.9) * (0.7 * linear(c)).powi(2));
    close(&render(&scene, 0), 12, through, "through two panes");
    scene.world.bodies[0].bar = 1.0; // nothing but bars
    close(&render(&scene, 0), 12, [0.0; 3], "behind a bar");
    scene.world.bodies.clear();
    close(&render(&scene, 0), 12, [linear(0.9); 3], "in the open");
}

#[test]
fn lamps_shine_where_they_stand() {
    // On the bar beside an edge of a cube with 3 lamps: bright at 1/6, 1/2, 5/6 of the edge, dark between.
    let mut scene = empty(1, 240);
    let radius = 3.0_f64.sqrt();
    scene.world.bodies[0] = Body {
        radius,
        // The lamps of the face x = 1 stand half a bar from the edge: now at y = 1.
        centre: [0.0, 0.5 * 0.05 * radius, 0.0],
        lamps: crate::scene::Lamps::Each(3),
        bar: 0.05,
        lamp_colour: [1.0; 3],
        bar_colour: [0.0; 3],
        ..scene.world.bodies[0].clone()
    };
    // The edge at x = y = 1 runs along z from -1 to 1.
    (eye(&mut scene).r0, eye(&mut scene).z0, eye(&mut scene).phi0) = (10.0, 0.0, 45.0_f64.to_radians());
    let distance = 10.0 - 2.0_f64.sqrt();
    // One column of pixels: the picture's height spans 2.4 units at the edge.
    scene.camera.fov_deg = 2.0 * (1.2 / 240.0 / distance).atan().to_degrees();
    let rgba = render(&scene, 0);
    let bright = |z: f64| {
        let row = ((1.2 - z) / 2.4 * 240.0) as usize;
        rgba[4 * row]
    };
    for z in [-2.0 / 3.0, 0.0, 2.0 / 3.0] {
        assert!(bright(z) > 240, "no lamp at {z}: {}", bright(z));
    }
    for z in [-1.0 / 3.0 + 0.001, 1.0 / 3.0 - 0.001] {
        assert!(bright(z) < 120, "light between lamps at {z}: {}", bright(z));
    }
}

#[test]
fn lamps_light_the_floor() {
    // Mean light of a floor patch near a body with lamps, against the sum over the lamps.
    let text = |lamps| {
        format!(
            "[camera]\nfov_deg = 2\neye = {{ r = 3.0, z = 6.0 }}\ntarget = {{ r = 2.5, z = -1.0 }}\n\
             [[body]]\nsolid = \"octahedron\"\nradius = 0.8\nlamps = {lamps}\nlamp_intensity = 20\nbar_color = [0, 0, 0]\n\
             [floor]\ncorners = [[-5,-5,-1],[-5,5,-1],[5,5,-1],[5,-5,-1]]\n"
        )
    };
    let light = |mut scene: crate::Scene| {
        (scene.render.width, scene.render.height, scene.world.ambient) = (8, 8, [0.0; 3]);
        let rgba = render(&scene, 0);
        rgba.chunks(4).map(|p| crate::math::srgb::linear(f64::from(p[0]) / 255.0)).sum::<f64>() / 64.0
    };
    let mean = |lamps| light(toml(&text(lamps)));
    let (none, few, many) = (mean(0), mean(4), mean(8));
    assert_eq!(none, 0.0);
    assert!(few > 0.01, "{few}");
    // Twice the lamps of the same size give twice the light.
    assert!((many / few - 2.0).abs() < 0.25, "{few} {many}");
    // A strip emits the same as a row of lamps of the same total power: its area times its mean over theirs. A tube shows
    // pi / 4 of what flat strips on all four sides show.
    let mut scene = toml(&text(0));
    scene.world.bodies[0].lamps = crate::scene::Lamps::Strip;
    let strip = light(scene);
    let (edge, radius) = (0.8 * 2.0_f64.sqrt(), 0.42 * 0.045 * 0.8);
    let row = 8.0 * std::f64::consts::PI * radius * radius * (1.9 + 1.6 / 3.0);
    let even = 0.25 * std::f64::consts::PI * 2.0 * radius * edge * (1.2 + 1.4 * 2.0 / 3.0 + 1.6 * 8.0 / 15.0);
    assert!((strip / many / (even / row) - 1.0).abs() < 0.1, "{strip} {many} {}", even / row);
}

#[test]
fn more_samples_average_before_any_clamp() {
    // Half a pixel of a lamp far above 1, half black: the mean is of the light, not of clamped bytes.
    let mut scene = empty(1, 1);
    (scene.world.sky.zenith, scene.world.sky.horizon) = ([0.0; 3], [4.0; 3]);
    scene.world.bodies[0] = Body {
        material: Material::plain([0.0; 3], 0.0, 0.0),
        radius: 3.0_f64.sqrt(),
        centre: [0.0, 1.0, 0.0],
        ..scene.world.bodies[0].clone()
    };
    scene.render.set_samples(2);
    (scene.camera.fov_deg, eye(&mut scene).z0) = (1.0, 0.0);
    let rgba = render(&scene, 0);
    close(&rgba, 0, [crate::math::srgb::linear(4.0) / 2.0; 3], "half covered");
}
