//! Pictures through a stub of the denoising library (tests/stub/oidn.c): its input, the use of its output,
//! and the messages when it is missing or fails. `scripts/try denoise` tests the real library.

use polyfly::scene::Exposure;
use polyfly::{DenoiserLibrary, RenderOptions, Renderer, Scene};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

// The stub's folder.
fn stub(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("oidn-{name}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("lib")).unwrap();
    let made = Command::new("cc")
        .args(["-std=c11", "-shared", "-fPIC", "-O1", "-ffp-contract=off", "-w", "-o"])
        .arg(folder.join("lib/libOpenImageDenoise.so.2"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stub/oidn.c"))
        .status();
    assert!(made.expect("a C compiler is needed").success());
    folder
}

fn scene() -> Scene {
    let mut scene = Scene::sample();
    (scene.render.width, scene.render.height) = (40, 30);
    // These change what the denoiser returns.
    (scene.film.exposure, scene.film.bloom, scene.film.vignette) = (Exposure::Stops(0.0), 0.0, 0.0);
    scene
}

#[test]
fn the_library_gets_light_colour_and_direction_and_its_output_is_the_picture() {
    let plain = Renderer::new(scene()).unwrap().still_linear(0).unwrap();
    let options = RenderOptions::new().denoise(DenoiserLibrary::At(stub("library")));
    let (image, layers) = Renderer::with_options(scene(), options).unwrap().still_linear(0).unwrap();
    let (light, first, surfaces) = (plain.0, plain.1.unwrap(), layers.unwrap());
    // The library sees what mirrors and clear surfaces show. Depths are always those of the first surfaces.
    assert!(surfaces.depth == first.depth && surfaces.coverage == first.coverage && surfaces.albedo != first.albedo);
    let (albedo, normal) = (surfaces.albedo.data(), surfaces.normal.data());
    for (i, got) in image.data().iter().enumerate() {
        let expected = 0.5 * light.data()[i] + 0.25 * albedo[i] + 0.125 * normal[i];
        assert!((got - expected).abs() < 1e-6 * expected.abs().max(1.0), "{i}: {got}, {expected} expected");
    }
}

fn polyfly(folder: &Path, library: Option<&Path>, behaviour: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_polyfly"));
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/coursework.txt");
    command.arg(scene).args(["--cpu", "--denoise", "--size", "40x30", "--frames", "0", "-o", "%d.png"]);
    command.current_dir(folder).env("POLYFLY_STUB", behaviour).env_remove("POLYFLY_OIDN");
    if let Some(library) = library {
        command.env("POLYFLY_OIDN", library);
    }
    command.output().unwrap()
}

#[test]
fn without_the_library_nothing_is_rendered_and_a_failure_has_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let empty = tempfile::tempdir().unwrap();
    let run = polyfly(dir.path(), Some(empty.path()), "");
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(69), "{words}");
    assert!(words.contains("Open Image Denoise") && words.contains("POLYFLY_OIDN"), "{words}");
    let library = stub("program");
    let run = polyfly(dir.path(), Some(&library), "oidn:fail");
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(69), "{words}");
    assert!(words.contains("the stub is out of paint"), "{words}");
    assert!(!dir.path().join("0.png").exists());
    let run = polyfly(dir.path(), Some(&library), "");
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success() && words.contains("outside the promise of equal bytes"), "{words}");
    assert!(dir.path().join("0.png").exists());
}
