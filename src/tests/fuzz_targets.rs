//! Fuzz targets: a function for each kind of input from outside, for fuzzing (`fuzz/`) and for a short run among the
//! tests. For any bytes, a target returns a value or an error. It does not panic or hang, and does not allocate
//! memory that the bytes merely claim.

use crate::assets::files::Files;
use crate::assets::mesh;
use crate::assets::particles;
use crate::assets::sky::{self, SkyMap};
use crate::assets::texture::Texture;
use crate::output::formats::FORMATS;
use crate::output::store::manifest::{Manifest, NAME};
use crate::render::frames::FrameList;
#[cfg(any(test, feature = "domain"))]
use crate::render::{RenderOptions, Renderer};
#[cfg(any(test, feature = "domain"))]
use crate::scene::LampSamples;
use crate::scene::{Mesh, Pattern, Scene, Sky, SkySource, TextureSource, Tone};
use std::io::Write;
use std::path::Path;

/// A fuzz target.
pub type FuzzTarget = fn(&[u8]);

/// All fuzz targets, by name.
pub const FUZZ_TARGETS: &[(&str, FuzzTarget)] = &[
    ("tokens", tokens),
    ("toml", toml),
    ("texture", texture),
    ("sky", sky),
    ("obj", obj),
    ("ply", ply),
    ("particles", particles),
    ("frames", frames),
    ("manifest", manifest),
    #[cfg(any(test, feature = "domain"))]
    ("picture", picture),
];

// Writes bytes to a file of this name for the duration of the job.
fn with_file(name: &str, bytes: &[u8], job: impl FnOnce(&Path)) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join(name);
    if std::fs::File::create(&path).and_then(|mut file| file.write_all(bytes)).is_ok() {
        job(&path);
    }
}

fn scene(bytes: &[u8], name: &str) {
    let text = String::from_utf8_lossy(bytes);
    match Scene::parse(&text, name, Path::new("")) {
        Ok(parsed) => {
            // A parsed scene is written and parsed again, with the same result.
            let written = parsed.scene.to_toml();
            let again = Scene::parse(&written, "again.toml", Path::new(""));
            let again = again.unwrap_or_else(|e| panic!("what is written is no scene: {e}\n{written}"));
            assert_eq!(again.scene.to_toml(), written, "what is written is another scene");
        }
        Err(problems) => drop(problems.to_string()),
    }
}

/// A scene in the coursework's tokens.
pub fn tokens(bytes: &[u8]) {
    scene(bytes, "scene.txt");
}

/// A scene in TOML.
pub fn toml(bytes: &[u8]) {
    scene(bytes, "scene.toml");
}

/// A floor's texture, in `.data` or another format by the first byte; and frames for a video.
pub fn texture(bytes: &[u8]) {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let name = if kind % 2 == 0 { "t.data" } else { "t.png" };
    with_file(name, bytes, |path| {
        let _ = Texture::load(&TextureSource::File(path.to_owned()), &Files::default());
        for format in FORMATS {
            let _ = format.shown(path, Tone::Soft, false);
            if let Ok(mut file) = std::fs::File::open(path) {
                let _ = (format.is_whole)(&mut file, bytes.len() as u64, (3, 2));
            }
        }
    });
}

/// A sky's picture.
pub fn sky(bytes: &[u8]) {
    with_file("sky.hdr", bytes, |path| {
        let sky = Sky { image: Some(SkySource::File(path.to_owned())), ..Sky::default() };
        let _ = sky::picture(&sky, &Files::default()).map(|picture| SkyMap::of(&sky, picture.as_ref()));
    });
}

fn mesh(name: &str, bytes: &[u8]) {
    with_file(name, bytes, |path| {
        let of = |smooth| Mesh { path: path.to_owned(), smooth, ..Mesh::default() };
        let _ = [true, false].map(|smooth| {
            mesh::load_all(&[of(smooth)], Err(crate::language::msg!("there is no floor")), &Files::default())
        });
    });
}

/// A mesh in Wavefront's OBJ format.
pub fn obj(bytes: &[u8]) {
    mesh("m.obj", bytes);
}

/// A mesh in the polygon file format PLY, text or binary.
pub fn ply(bytes: &[u8]) {
    mesh("m.ply", bytes);
}

/// Particles of any format, as their bytes say, or an expression of columns; the first byte chooses, and a table's name.
pub fn particles(bytes: &[u8]) {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    match kind % 4 {
        3 => particles::read_expression(&String::from_utf8_lossy(bytes)),
        kind => {
            let _ = particles::read_steps(Path::new(["p.bin", "p.csv", "p.xyzr"][usize::from(kind)]), bytes);
        }
    }
}

/// A list of frames.
pub fn frames(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for total in [1, 1000, u32::MAX] {
        if let Ok(list) = FrameList::parse(&text, total) {
            assert!(!list.is_empty() && list.iter().take(1000).all(|n| n < total));
            let again = FrameList::parse(&list.to_string(), total).unwrap_or_else(|e| panic!("{list} is no list: {e}"));
            assert!(again.len() == list.len() && again.iter().take(1000).eq(list.iter().take(1000)), "{text}");
            let parts: usize = (0..7).filter_map(|k| Some(list.part(k, 7)?.len())).sum();
            assert!(parts == list.len() || list.len() > 1 << 20, "{text}");
        }
    }
}

/// A folder's manifest.
pub fn manifest(bytes: &[u8]) {
    with_file(NAME, bytes, |path| {
        let Some(folder) = path.parent() else { return };
        if let Ok(all) = Manifest::all(folder) {
            for one in &all {
                let _ = (Pattern::parse(&one.pattern), FrameList::parse(&one.frames, u32::MAX));
                all.iter().for_each(|other| drop(one.differences(other)));
            }
        }
    });
}

/// A scene in TOML, rendered as a tiny picture. No argument of a reciprocal or square root may leave a GPU's domain
/// where it affects the picture (docs/arithmetic.md).
#[cfg(any(test, feature = "domain"))]
pub fn picture(bytes: &[u8]) {
    let Ok(parsed) = Scene::parse(&String::from_utf8_lossy(bytes), "scene.toml", Path::new("")) else { return };
    let mut scene = parsed.scene;
    let mut files = scene.world.particles.iter().count();
    scene.visit_files(|_, _| files += 1);
    let lamps: u32 =
        scene.world.bodies.iter().map(|body| body.lamps.count().max(u32::from(body.lamps.is_strip()))).sum();
    // Other targets cover files, and this picture must take a fraction of a second.
    if files > 0 || lamps > 200 || scene.world.bodies.len() + scene.world.lights.len() > 100 {
        return;
    }
    let render = &mut scene.render;
    (render.width, render.height) = (12, 9);
    (render.depth, render.light_samples) = (render.depth.min(4), 2);
    render.sampling = render.integrator.sampling(render.integrator.own(1, 2));
    if render.lamp_samples == LampSamples::All {
        render.lamp_samples = LampSamples::Drawn(3);
    }
    let shown = |isa: &str| {
        let options = RenderOptions { isa: Some(isa.into()), threads: 1, ..RenderOptions::on_cpu() };
        let mut renderer = Renderer::with_options(scene.clone(), options).ok()?;
        Some((renderer.still(0).ok()?.data().to_vec(), renderer.still_linear(0).ok()?.0.data().to_vec()))
    };
    let Some((picture, light)) = shown("scalar") else { return };
    assert!(light.iter().all(|x| x.is_finite() && *x >= 0.0), "light that is none");
    assert!(shown("domain") == Some((picture, light)), "a reciprocal or square root outside of its domain shows");
}
