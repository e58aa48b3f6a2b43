//! Bars and lamps: filtered over the footprint of a sample, and on the requested sides.
use super::common::*;
use crate::device::Memory;
use crate::gpu_types::FrameParams;
use crate::kernels::Isa;
use crate::scene::LampSides;

const CUBE: &str = "[render]\ndepth = 0\nambient = [0.05, 0.05, 0.05]\n[camera]\nfov_deg = 90\n\
    [[body]]\nsolid = \"cube\"\nradius = 2\nreflection = 0.7\ntransparency = 0.2\nlamps = 11\nlamp_intensity = 4\nbar = 0.024\n";

// Filtered samples against samples without a footprint; the reference is 256 of the latter.
#[test]
fn filtered_bars_need_a_quarter_of_the_samples() {
    let eye = "position = [0.4, 0.3, 0.2]\nlook_at = [-1, -1.1, -0.3]\n";
    let scene = toml(&CUBE.replace("[[body]]", &format!("{eye}[[body]]")));
    let codes = |samples: u32, filtered: bool| {
        let scene = sized(scene.clone(), 200, 150, samples);
        let cpu = renderer(&scene, Isa::available()[0], 0).cpu(Isa::available()[0]);
        let camera = frame_params(&scene, 0);
        let sharp = FrameParams { pixel_footprint: 1.0e-9, ..camera };
        let mut picture = Memory::default();
        cpu.run(&whole(&scene, 0), if filtered { &camera } else { &sharp }, &mut picture);
        picture.bytes().to_vec()
    };
    let truth = codes(16, false);
    let error = |picture: Vec<u8>| {
        let square = |(a, b): (&u8, &u8)| (f64::from(*a) - f64::from(*b)).powi(2);
        (picture.iter().zip(&truth).map(square).sum::<f64>() / truth.len() as f64).sqrt()
    };
    let (sharp, filtered) = ([2, 4].map(|n| error(codes(n, false))), [2, 4].map(|n| error(codes(n, true))));
    assert!(filtered[0] < 1.1 * sharp[1] && filtered[1] < 0.5 * sharp[1], "{sharp:?} {filtered:?}");
}

// A sample of any width contains the light of the lamps: rows of many lamps per pixel, and bars much thinner than a pixel.
#[test]
fn filters_keep_the_light() {
    for lamps in ["lamps = 11", "lamps = 40", "lamps = \"strip\""] {
        let text = CUBE.replace("lamps = 11", lamps);
        // The mean of three views: in a single view, whole rows of pixels may be lucky.
        let seen = |text: &str, samples: u32| {
            let view = |at: &str| {
                text.replace("fov_deg = 90", &format!("fov_deg = 4\nposition = [{at}]\nlook_at = [0, 0, 0]"))
            };
            let views = ["60, 35, 20", "61, 33, 23", "52, 30, 41"];
            views.iter().map(|at| mean(&light(&sized(toml(&view(at)), 60, 60, samples)))).sum::<f64>() / 3.0
        };
        let none = seen(&text.replace("lamp_intensity = 4", "lamp_intensity = 0"), 16);
        let (wide, fine) = (seen(&text, 1), seen(&text, 16));
        assert!(
            ((wide - none) / (fine - none) - 1.0).abs() < 0.06 && fine > 1.05 * none,
            "{lamps}: {wide}, {fine}, {none}"
        );
    }
}

#[test]
fn lamps_shine_on_the_sides_they_are_on() {
    let seen = |sides: LampSides, from: &str| {
        let mut scene = toml(&CUBE.replace("fov_deg = 90", &format!("fov_deg = 70\n{from}")));
        scene.world.bodies[0].lamp_sides = sides;
        scene.world.bodies[0].material.kind =
            crate::scene::MaterialKind::Plain { reflection: 0.0, transparency: 0.0, ior: 1.0 };
        mean(&light(&sized(scene, 64, 48, 2)))
    };
    let (out, within) = ("position = [4, 3, 2]\nlook_at = [0, 0, 0]", "position = [0.1, 0, 0]\nlook_at = [1, 1, 1]");
    let [both, outside, inside] = LampSides::ALL.map(|(s, _)| [seen(s, out), seen(s, within)]);
    assert_eq!((outside[0], inside[1]), (both[0], both[1]));
    assert!(inside[0] < 0.8 * both[0] && outside[1] < 0.8 * both[1], "{both:?} {outside:?} {inside:?}");
}
