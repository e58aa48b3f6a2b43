//! Frames that lend each other light: less noise that flickers, surfaces that are followed, and the same bytes in any run.

use super::common::*;
use crate::output::PixelFormats;
use crate::render::frames::FrameList;
use crate::render::plan::Split;
use crate::render::{RenderOptions, Renderer};
use crate::scene::Scene;

// A body, a ball and an area light over a floor. `more` is added to the tables of the output, the camera and the body.
fn scene(film: &str, samples: u32, [output, camera, body]: [&str; 3]) -> Scene {
    toml(&format!(
        "[output]\nframes = 24\nsize = [72, 54]\n{output}\n[render]\nintegrator = \"path\"\nsamples = {samples}\ndepth = 4\n\
         [film]\n{film}\n[sky]\nzenith = 0.1\nhorizon = 0.2\n[camera]\n{camera}\n\
         [[body]]\nsolid = \"cube\"\ncolor = \"tomato\"\nreflection = 0.1\nradius = 1.3\n{body}\n\
         [[sphere]]\ncenter = [0, 2, 0]\nradius = 0.8\n\
         [[sphere]]\ncenter = [4, -4, 6]\nradius = 0.8\nmaterial = \"light\"\nstrength = 30\n\
         [floor]\ncorners = [[-5, -5, -0.8], [-5, 5, -0.8], [5, 5, -0.8], [5, -5, -0.8]]\n"
    ))
}

const GUIDED: &str = "denoise = \"guided\"";
const STEADY: &str = "denoise = \"guided\"\ndenoise_frames = 2";
const STILL: &str = "position = [5, -3, 2]\nlook_at = [0, 0, 0.4]";

// Frames in linear light.
fn frames(scene: &Scene, numbers: &str) -> Vec<Vec<f32>> {
    let mut renderer = Renderer::with_options(scene.clone(), RenderOptions::on_cpu()).unwrap();
    let list = FrameList::parse(numbers, scene.output.frames).unwrap();
    let needs = PixelFormats { linear: true, ..PixelFormats::default() };
    let captured = renderer.capture(&list, needs, &mut ()).unwrap();
    captured.into_iter().map(|frame| frame.linear.unwrap().into_data()).collect()
}

#[test]
fn noise_flickers_half_as_much_and_there_is_less_of_it() {
    let more = ["", STILL, ""];
    let many = &frames(&scene("", 2048, more), "9")[0];
    let [alone, steady] = [GUIDED, STEADY].map(|film| frames(&scene(film, 16, more), "8-11"));
    let error = |all: &[Vec<f32>]| all.iter().map(|one| rmse(one, many)).sum::<f64>();
    let flicker = |all: &[Vec<f32>]| all.windows(2).map(|two| rmse(&two[0], &two[1])).sum::<f64>();
    assert!(flicker(&steady) < 0.65 * flicker(&alone), "{} of {}", flicker(&steady), flicker(&alone));
    assert!(error(&steady) < 0.85 * error(&alone), "{} of {}", error(&steady), error(&alone));
    assert!((mean(&steady[0]) / mean(many) - 1.0).abs() < 0.03);
}

// The camera and the body turn: light stays with its surface, and none of it trails behind.
#[test]
fn surfaces_that_move_are_followed() {
    let orbit = "[camera.orbit]\ncenter = [0, 0, 0.2]\ndistance = 6\nelevation_deg = 20\nturns = 0.1";
    // Where all of it moves fast, little light is lent.
    let fast = (orbit, "turns = -0.2\ndrift = [0, 0, 0.5]", 1.05);
    for (camera, body, share) in [(orbit, "", 0.95), (STILL, "turns = 0.1", 0.95), fast] {
        let more = ["", camera, body];
        let many = &frames(&scene("", 1024, more), "9")[0];
        let [alone, steady] = [GUIDED, STEADY].map(|film| rmse(&frames(&scene(film, 16, more), "9")[0], many));
        assert!(steady < share * alone, "{steady} of {alone}: {camera}, {body}");
    }
}

#[test]
fn what_has_no_noise_stays() {
    let orbit = "[camera.orbit]\ncenter = [0, 0, 0.2]\ndistance = 6\nturns = 1";
    let whitted = |film: &str| {
        let text = scene(film, 16, ["", orbit, "turns = 1"]).to_toml();
        toml(&text.replace("\"path\"", "\"whitted\"").replace("samples = 16\n", "samples = 4\n"))
    };
    let [alone, steady] = [GUIDED, STEADY].map(|film| frames(&whitted(film), "9").remove(0));
    let off = rmse(&alone, &steady) / mean(&alone);
    assert!(off < 0.02, "{off}");
}

#[test]
fn a_frame_has_the_same_bytes_in_any_run() {
    for (output, numbers) in [("", "0,3-5,9,22-23"), ("loop = true", "0-1,22-23,5")] {
        let turning = "[camera.orbit]\ncenter = [0, 0, 0.2]\ndistance = 6\nturns = 1";
        let scene = scene(&format!("{STEADY}\nbloom = 0.1"), 9, [output, turning, "turns = 1"]);
        let list = FrameList::parse(numbers, 24).unwrap();
        let whole = frames(&scene, "0-23");
        for (number, frame) in list.iter().zip(frames(&scene, numbers)) {
            assert_eq!(first_difference_of(&frame, &whole[number as usize]), None, "{number} of {numbers}, {output}");
        }
        let tiles = RenderOptions { split: Split::Tiles, threads: 3, ..RenderOptions::on_cpu() };
        let still = Renderer::with_options(scene.clone(), tiles).unwrap().still_linear(5).unwrap().0.into_data();
        assert_eq!(first_difference_of(&still, &whole[5]), None);
    }
}

fn first_difference_of(a: &[f32], b: &[f32]) -> Option<usize> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).position(|(a, b)| a.to_bits() != b.to_bits())
}
