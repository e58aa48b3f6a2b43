//! Tiny pictures, one for each feature. On a difference, expected | difference | actual is written as a PNG.
//! POLYFLY_BLESS=1 accepts the current pictures, and fails on purpose.
use super::common::*;
use crate::scene::Scene;
use image::{Rgb, RgbImage};
use std::path::Path;

fn check(name: &str, scene: Scene, frame: u32) {
    let scene = sized(scene, 96, 72, 2);
    let rgba = render(&scene, frame);
    let actual = RgbImage::from_fn(96, 72, |x, y| {
        let i = 4 * (y * 96 + x) as usize;
        Rgb([rgba[i], rgba[i + 1], rgba[i + 2]])
    });
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = root.join(format!("tests/goldens/{name}.png"));
    if std::env::var_os("POLYFLY_BLESS").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        actual.save(&golden).unwrap();
        panic!("blessed {}: look at it, then run again without POLYFLY_BLESS", golden.display());
    }
    let expected = image::open(&golden).unwrap_or_else(|e| panic!("{}: {e}", golden.display())).into_rgb8();
    if expected == actual {
        return;
    }
    let strip = RgbImage::from_fn(3 * 96, 72, |x, y| match x / 96 {
        0 => *expected.get_pixel(x, y),
        1 => {
            let (a, b) = (expected.get_pixel(x - 96, y).0, actual.get_pixel(x - 96, y).0);
            Rgb([0, 1, 2].map(|c| a[c].abs_diff(b[c]).saturating_mul(8)))
        }
        _ => *actual.get_pixel(x - 192, y),
    });
    let folder = root.join("target/golden");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.png"));
    strip.save(&path).unwrap();
    let count = expected.pixels().zip(actual.pixels()).filter(|(a, b)| a != b).count();
    panic!("{name}: {count} pixels differ; expected | difference x 8 | actual is in {}", path.display());
}

#[test]
fn default_scene() {
    check("default", own("default.txt"), 60);
}

#[test]
fn coursework() {
    check("coursework", own("coursework.txt"), 0);
}

// What tokens show by themselves.
#[test]
fn tokens_on_film() {
    let film = load_with(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/default.txt"), None);
    check("default-film", film, 60);
}

#[test]
fn infinity() {
    check("infinity", own("infinity.toml"), 20);
}

#[test]
fn all_solids() {
    check("solids", own("solids.toml"), 20);
}

#[test]
fn glass() {
    check("glass", own("glass.toml"), 20);
}

#[test]
fn marble_under_a_low_sun() {
    let mut scene = own("solids.toml");
    scene.world.bodies.clear();
    scene.world.lights[0].position = [9.0, 0.0, 0.5];
    eye(&mut scene).z0 = 0.2;
    check("marble", scene, 0);
}

#[test]
fn balls_on_a_table() {
    check("cse260", own("cse260.toml"), 0);
}

fn path_traced(name: &str, samples: u32) -> Scene {
    let mut scene = own(name);
    scene.render.set_paths(samples);
    scene
}

#[test]
fn weekend() {
    check("weekend", path_traced("weekend.toml", 100), 0);
}

#[test]
fn weekend_final() {
    check("weekend-final", path_traced("weekend-final.toml", 64), 0);
}

#[test]
fn particles_by_pressure() {
    use crate::command::{generate, particle_files};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("packing.bin");
    std::fs::write(
        &path,
        particle_files::write(&generate::packing(2000, 1, 0.0), crate::cli::FileLayout::Versioned, 0),
    )
    .unwrap();
    let scene = format!(
        "[render]\nshadows = false\n[camera]\nposition = [2.4, -3.2, 2]\nlook_at = [0.5, 0.5, 0.9]\nfov_deg = 45\n\
         [[light]]\nposition = [-30, -50, 60]\n[particles]\npath = \"{}\"\ncolor_by = \"pressure\"\n",
        path.display()
    );
    check("particles", toml(&scene), 0);
}
