//! Figures: what stands beside the particles lies on the page and beside them, and its colors are those of the map.

use crate::film::furniture::Furniture;
use crate::film::furniture::page::{Mark, Rect};
use crate::film::image::Image;
use crate::kernels::Isa;
use crate::render::{RenderOptions, Renderer};
use crate::scene::{ParseOptions, Scene};
use std::fmt::Write;
use std::path::Path;

// A small packing, and a figure of it.
fn packing(dir: &Path, head: &str, particles: &str) -> Scene {
    let mut table = String::from("x,y,z,r,p\n");
    for i in 0..60 {
        let (x, y, z) = (i % 3, i / 3 % 2, i / 6);
        let _ = writeln!(table, "{x},{y},{}.5,0.5,{}", z, 1000 + 150 * i);
    }
    std::fs::write(dir.join("p.csv"), table).unwrap();
    let by = if particles.contains("color_by") { "" } else { "color_by = \"pressure\"" };
    let text = format!("[output]\nframes = 2\n{head}\n[particles]\npath = \"p.csv\"\n{by}\n{particles}\n");
    let options = ParseOptions { folder: dir, ..ParseOptions::default() };
    crate::scene::parse(&text, "figure.toml", options).unwrap_or_else(|e| panic!("{e}")).scene
}

fn prepared(scene: Scene) -> Renderer {
    Renderer::prepare(scene, RenderOptions::on_cpu()).unwrap()
}

fn furniture(renderer: &Renderer) -> Furniture {
    renderer.post().furniture().unwrap().clone()
}

fn touch(a: Rect, b: Rect) -> bool {
    [0, 1].iter().all(|&i| a[i] < b[i] + b[i + 2] - 1e-6 && b[i] < a[i] + a[i + 2] - 1e-6)
}

fn code(image: &Image<u8>, x: f64, y: f64) -> [u8; 3] {
    let pixel = image.pixel(x as u32, y as u32);
    [pixel[0], pixel[1], pixel[2]]
}

#[test]
fn all_of_a_figure_lies_on_its_page_and_beside_the_particles() {
    let dir = tempfile::tempdir().unwrap();
    let all = "title = \"(a) A packing\"\naxes = true\nscale_bar = \"mm\"\ntime_label = \"step {step}\"\nlabel = \"Pressure (kg m^-1 s^-2)\"";
    for (size, more) in [
        ("[320, 240]", "legend = \"right\""),
        ("[640, 480]", "legend = \"left\"\nview = \"-z\""),
        ("[1004, 753]", "legend = \"bottom\"\nwidth = \"85 mm\"\nview = [20, -30]"),
        ("[420, 640]", "legend = \"right\"\nview = \"+x\""),
    ] {
        for style in ["plain", "dark"] {
            let view = if more.contains("view") { "" } else { "view = \"iso\"" };
            let head = format!(
                "size = {size}\n[figure]\nstyle = \"{style}\"\n{view}\n{all}\n{more}\n[render]\nsamples = 1\nao_samples = 0"
            );
            let mut renderer = prepared(packing(dir.path(), &head, "range = [2000, 8000]"));
            let furniture = furniture(&renderer);
            assert!(furniture.fits(), "{size}");
            let picture = renderer.still(0).unwrap();
            let scale = f64::from(picture.width()) / furniture.size()[0];
            let room = furniture.room().map(|x| x / scale);
            let marks = furniture.page(0, Default::default()).marks;
            let [width, height] = furniture.size();
            for mark in &marks {
                let [x, y, w, h] = mark.bounds();
                assert!(x >= 0.0 && y >= 0.0 && x + w <= width && y + h <= height, "{size}: {mark:?} leaves the page");
                assert!(!touch(mark.bounds(), room), "{size}: {mark:?} covers {room:?}");
            }
            // Ink is where marks are, particles are in their room and fill it, and the ground is everywhere else.
            let ground = code(&picture, 0.0, 0.0);
            let mut reach = [f64::MAX, f64::MAX, 0.0, 0.0];
            for y in 0..picture.height() {
                for x in 0..picture.width() {
                    let at = [f64::from(x) / scale, f64::from(y) / scale, 1.0 / scale, 1.0 / scale];
                    if code(&picture, x.into(), y.into()) == ground {
                        continue;
                    }
                    if touch(at, room) {
                        reach = [reach[0].min(at[0]), reach[1].min(at[1]), reach[2].max(at[0]), reach[3].max(at[1])];
                    } else {
                        // Letters reach into the pixels around them.
                        let near = |[a, b, c, d]: Rect| [a - 2.0, b - 2.0, c + 4.0, d + 4.0];
                        assert!(marks.iter().any(|mark| touch(at, near(mark.bounds()))), "{size}: ink at {x}, {y}");
                    }
                }
            }
            let filled = [reach[2] - reach[0], reach[3] - reach[1]];
            let share = (filled[0] / room[2]).max(filled[1] / room[3]);
            assert!((0.97..=1.0).contains(&share), "{size}: the particles fill {filled:?} of {room:?}");
        }
    }
}

#[test]
fn a_legend_has_the_colours_of_its_map() {
    let dir = tempfile::tempdir().unwrap();
    for (map, legend) in [("viridis", "right"), ("red_blue_r", "bottom"), ("viridis", "corner"), ("tableau10", "left")]
    {
        // From 0 to 5.
        let values = if map == "tableau10" { "color_by = \"(p - 1000) / 1800\"" } else { "" };
        let head = format!(
            "size = [640, 480]\n[figure]\nstyle = \"journal\"\nview = \"iso\"\nlegend = \"{legend}\"\n[render]\nsamples = 1\nao_samples = 1"
        );
        let scene = packing(dir.path(), &head, &format!("map = \"{map}\"\n{values}"));
        let colours = scene.world.particles.as_ref().unwrap().map.colours();
        let mut renderer = prepared(scene);
        let page = furniture(&renderer).page(0, Default::default());
        let picture = renderer.still(0).unwrap();
        let scale = f64::from(picture.width()) / page.size[0];
        let bar = page
            .marks
            .iter()
            .find_map(|mark| if let Mark::Bar { rect, upright, .. } = mark { Some((rect, upright)) } else { None });
        let (rect, &upright) = bar.unwrap();
        let [x, y, w, h] = rect.map(|x| x * scale);
        let long = if upright { h } else { w };
        let shown: Vec<[u8; 3]> = (2..long as u32 - 2)
            .map(f64::from)
            .map(|i| if upright { code(&picture, x + 0.5 * w, y + h - i) } else { code(&picture, x + i, y + 0.5 * h) })
            .collect();
        let codes: Vec<[u8; 3]> = colours.iter().map(|c| c.map(|x| (x * 255.0).round() as u8)).collect();
        let places: Vec<usize> = shown
            .iter()
            .map(|c| codes.iter().position(|code| code == c).unwrap_or_else(|| panic!("{map}: {c:?}")))
            .collect();
        let distinct: std::collections::BTreeSet<_> = places.iter().collect();
        assert!(places.is_sorted() && distinct.len() > if map == "tableau10" { 5 } else { 80 }, "{map}: {places:?}");
    }
}

#[test]
fn figures_have_the_same_bytes_on_all_instruction_sets() {
    let dir = tempfile::tempdir().unwrap();
    let head = "size = [200, 150]\n[figure]\nstyle = \"journal\"\nview = \"iso\"\naxes = true\nscale_bar = \"m\"";
    let scene = packing(dir.path(), head, "");
    let picture = |isa: Isa| {
        let options = RenderOptions { isa: Some(isa.name.into()), ..RenderOptions::on_cpu() };
        Renderer::prepare(scene.clone(), options).unwrap().still(0).unwrap()
    };
    let mut all = Isa::tested().into_iter().map(picture);
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first));
}

// No channel of a particle is brighter than the color of its value: the map can be read off.
#[test]
fn the_light_of_a_figure_outshines_no_colour() {
    let dir = tempfile::tempdir().unwrap();
    for style in ["journal", "plain"] {
        let head = format!(
            "size = [160, 120]\n[figure]\nstyle = \"{style}\"\nview = \"-y\"\nlegend = \"none\"\nbackground = \"black\""
        );
        let mut scene = packing(dir.path(), &head, "");
        scene.world.particles.as_mut().unwrap().colour_by = crate::scene::ColourBy::default();
        scene.world.particles.as_mut().unwrap().material.colour = [0.8, 0.5, 0.3];
        let picture = prepared(scene).still(0).unwrap();
        let most = [0, 1, 2].map(|i| picture.data().chunks(4).map(|pixel| pixel[i]).max().unwrap());
        let full = [0.8_f64, 0.5, 0.3].map(|x| (x * 255.0).round() as u8);
        for (most, full) in most.into_iter().zip(full) {
            assert!(most <= full && most + 12 >= full, "{style}: {most} of {full}");
        }
    }
}

#[test]
fn each_frame_of_a_film_has_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let head = "size = [200, 150]\n[figure]\nview = \"iso\"\ntime_label = \"step {step}\"\n[render]\nshadows = false";
    let mut renderer = prepared(packing(dir.path(), head, ""));
    let furniture = furniture(&renderer);
    let [.., top, _, _] = furniture.room();
    let [a, b] = [0, 1].map(|frame| renderer.still(frame).unwrap());
    let rows: Vec<usize> = a
        .data()
        .chunks(800)
        .zip(b.data().chunks(800))
        .enumerate()
        .filter(|(_, (a, b))| a != b)
        .map(|(y, _)| y)
        .collect();
    assert!(!rows.is_empty() && rows.iter().all(|&y| (y as f64) < top.max(40.0)), "{rows:?}");
    let moment = crate::assets::particles::StepMoment { time: Some(-2.5), number: Some(700) };
    let texts = |label: &str| {
        let head = format!("size = [640, 480]\n[figure]\ntime_label = \"{label}\"");
        let mut scene = packing(dir.path(), &head, "");
        scene.world.particles.as_mut().unwrap().step = 5;
        let page = Furniture::of(&scene, None).unwrap().page(3, moment);
        page.marks
            .into_iter()
            .find_map(|mark| if let Mark::Text(text) = mark { Some(text.text) } else { None })
            .unwrap()
    };
    assert_eq!(texts("t = {time:.2f} s, step {step}"), "t = −2.50 s, step 700");
    assert_eq!(texts("{time} s"), "−2.5 s");
    // Tables have no time.
    let fault =
        Renderer::prepare(packing(dir.path(), "[figure]\ntime_label = \"{time}\"", ""), RenderOptions::on_cpu());
    assert!(fault.err().unwrap().to_string().contains("it has no time"));
}

#[test]
fn a_figure_of_a_transparent_sky_is_its_ink() {
    let dir = tempfile::tempdir().unwrap();
    let head =
        "size = [240, 180]\n[figure]\nstyle = \"plain\"\nview = \"iso\"\ntitle = \"Title\"\n[sky]\ntransparent = true";
    let mut renderer = prepared(packing(dir.path(), head, ""));
    let picture = renderer.still(0).unwrap();
    assert_eq!(picture.pixel(0, 0), [0; 4]);
    let ink: Vec<_> = picture.data().chunks(4).take(240 * 20).filter(|pixel| pixel[3] > 0).collect();
    assert!(ink.len() > 40 && ink.iter().all(|pixel| pixel[..3] == [0; 3]) && ink.iter().any(|pixel| pixel[3] > 200));
}

#[test]
fn a_figure_changes_with_its_size_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let head = "size = [320, 240]\n[figure]\nstyle = \"plain\"\nview = \"iso\"\nwidth = \"50 mm\"";
    let renderer = prepared(packing(dir.path(), head, ""));
    let mut scene = packing(dir.path(), head, "");
    (scene.render.width, scene.render.height) = (200, 150);
    let expected = prepared(scene).still(0).unwrap();
    assert_eq!(renderer.resized(200, 150, None).still(0).unwrap(), expected);
}
