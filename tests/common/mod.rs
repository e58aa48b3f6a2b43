//! What several tests need: scenes to render, a render, comparisons that say where.
#![allow(dead_code, reason = "each test binary uses a part")]

use polyfly::assets::Assets;
use polyfly::device::cpu::{Cpu, Isa};
use polyfly::layout::{self, Layout};
use polyfly::scene::{self, Scene, TextureSource, tokens::SOLIDS};
use std::path::{Path, PathBuf};

/// The folder of real input files beside the project, where it is there.
pub fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/inputs");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "txt")).collect();
    files.sort();
    files
}

/// A scene of the repository's own, or any file, with its texture replaced where it is missing.
pub fn load(path: &Path) -> Scene {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let folder = path.parent().unwrap();
    let parsed = scene::parse(&text, &path.display().to_string(), folder, SOLIDS).unwrap_or_else(|e| panic!("{e}"));
    let mut scene = parsed.scene;
    if let Some(floor) = &mut scene.floor
        && matches!(&floor.texture, Some(TextureSource::File(file)) if !file.exists())
    {
        floor.texture = Some(TextureSource::Checker);
    }
    scene
}

pub fn own(name: &str) -> Scene {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(name))
}

pub fn toml(text: &str) -> Scene {
    scene::parse(text, "test.toml", Path::new(""), SOLIDS).unwrap_or_else(|e| panic!("{e}")).scene
}

pub fn sized(mut scene: Scene, width: u32, height: u32, samples: u32) -> Scene {
    (scene.width, scene.height, scene.samples) = (width, height, samples);
    scene
}

pub fn cpu(scene: &Scene, isa: Isa, threads: usize) -> Cpu {
    Cpu::new(isa, threads, scene, Layout::new(scene, &Assets::load(scene).unwrap())).unwrap()
}

pub fn render_with(scene: &Scene, isa: Isa, threads: usize, frame: u32) -> Vec<u8> {
    let mut rgba = Vec::new();
    cpu(scene, isa, threads).render(&layout::frame(scene, frame), &mut rgba);
    rgba
}

pub fn render(scene: &Scene, frame: u32) -> Vec<u8> {
    render_with(scene, Isa::available()[0], 0, frame)
}

/// The code of linear light in a picture: tone curve, sRGB, eight bits (kernels/film.cuh).
pub fn code(linear: f64) -> f64 {
    let knee = 0.7;
    let toned =
        if linear > knee { knee + (linear - knee) * (1.0 - knee) / (linear - knee + 1.0 - knee) } else { linear };
    polyfly::texture::srgb(toned) * 255.0
}

pub fn first_difference(a: &[u8], b: &[u8], width: u32) -> Option<String> {
    assert_eq!(a.len(), b.len());
    let i = a.iter().zip(b).position(|(x, y)| x != y)? / 4;
    let count = a.chunks(4).zip(b.chunks(4)).filter(|(x, y)| x != y).count();
    let (x, y) = (i % width as usize, i / width as usize);
    Some(format!("{count} pixels differ, first ({x}, {y}): {:?} and {:?}", &a[4 * i..4 * i + 4], &b[4 * i..4 * i + 4]))
}
