//! Device scenes and their expected pictures, exported for kernels that are compiled otherwise: `scripts/try arm` renders them with the NEON
//! kernels, `scripts/try sanitize` with kernels under sanitizers (tests/exported.cpp).
#![expect(unsafe_code, reason = "writes the kernels' structs down as they lie in memory")]

use super::bvh::crowd;
use super::common::*;
use super::kernel::small_scenes;
use super::post::{denoised, features, lending, steps, sums};
use super::random_scenes::random_scene;
use crate::device::{Memory, Task, TaskOutput};
use crate::device_scene::DeviceScene;
use crate::device_scene::upload::ArrayUploader;
use crate::gpu_types::Array;
use crate::kernels::{Isa, develop};
use crate::scene::Scene;
use std::path::PathBuf;

// Stores arrays one after the other; their addresses are offsets into the store.
#[derive(Default)]
struct Blob(Vec<u8>);

impl ArrayUploader for Blob {
    type Error = std::convert::Infallible;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, Self::Error> {
        self.0.resize(self.0.len().next_multiple_of(64), 0);
        let at = self.0.len();
        self.0.extend_from_slice(bytes_of(values));
        Ok(Array::new(std::ptr::without_provenance(at), values.len()))
    }
}

fn bytes_of<T>(values: &[T]) -> &[u8] {
    // SAFETY: T is one of types.def's structs, which have no padding; the bytes live as long as the values.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

// The file that tests/exported.cpp reads: lengths, structs, arrays, then the picture, its planes and its features, as
// rendered by the widest instruction set of this machine.
fn dump(device_scene: &DeviceScene, scene: &Scene, frame: u32) -> Vec<u8> {
    let isa = Isa::available()[0];
    let cpu = renderer(scene, isa, 0).cpu(isa);
    let frame_params = frame_params(scene, frame);
    let (mut picture, mut features, mut planes) = (Memory::default(), Memory::default(), Vec::new());
    let tasks = [whole(scene, frame), Task { output: TaskOutput::Features, ..whole(scene, frame) }];
    cpu.run(&tasks[0], &frame_params, &mut picture);
    cpu.run(&tasks[1], &frame_params, &mut features);
    isa.convert(picture.bytes(), scene.render.width, scene.render.height, &mut planes);

    let mut blob = Blob::default();
    let Ok(fixed) = device_scene.upload_fixed(&mut blob);
    let Ok(lit) = device_scene.lights.place(&mut blob, &fixed);
    let Ok(placed) = device_scene.geometry.place(&mut blob, &lit);
    let small = device_scene.small(&placed);
    let head = [blob.0.len() as u64, u64::from(small.is_some()), planes.len() as u64, features.bytes().len() as u64];
    let small = small.as_ref().map_or(&[][..], |s| bytes_of(std::slice::from_ref(s)));
    let placed = bytes_of(std::slice::from_ref(&placed));
    let frame = bytes_of(std::slice::from_ref(&frame_params));
    let launches = tasks.map(|task| task.launch());
    [bytes_of(&head), placed, small, frame, bytes_of(&launches), &blob.0, picture.bytes(), &planes, features.bytes()]
        .concat()
}

#[test]
fn device_scenes_are_exported() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/device-scenes");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut scenes: Vec<(String, Scene)> = Vec::new();
    for name in ["coursework.txt", "infinity.toml", "glass.toml", "cse260.toml", "garland.toml", "walk.toml"] {
        scenes.push((name.into(), sized(own(name), 61, 41, 2)));
    }
    for name in ["weekend.toml", "weekend-final.toml", "table.toml"] {
        scenes.push((name.into(), sized(own(name), 45, 30, 2)));
    }
    for (name, scene) in small_scenes() {
        scenes.push((format!("small {name}"), sized(scene, 61, 41, 1)));
    }
    let dirs: Vec<_> = (0..24).map(|_| tempfile::tempdir().unwrap()).collect();
    scenes.push(("crowd".into(), sized(crowd(dirs[0].path()), 45, 30, 1)));
    for (seed, dir) in dirs.iter().enumerate() {
        scenes.push((format!("random-{seed}"), random_scene(seed as u64, true, dir.path())));
    }
    for (name, scene) in &scenes {
        let renderer = renderer(scene, Isa::available()[0], 0);
        let file = dump(&renderer.prepared.first, scene, scene.output.frames / 3);
        // Frames of a single color would prove nothing.
        assert!(file.len() > 10_000, "{name}");
        let path = folder.join(format!("{name}.scene"));
        assert!(!path.exists(), "two scenes have the name {name}");
        std::fs::write(path, file).unwrap();
    }
}

// The linear input, and the result of each step on the widest instruction set of this machine.
#[test]
fn developed_light_is_exported() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/device-light");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (width, height) in [(1, 4), (2, 5), (61, 41), (64, 6), (131, 9)] {
        let isa = Isa::available()[0];
        let made = [steps(isa, width, height), denoised(isa, width, height)].concat();
        let head = [width as u64, height as u64, made.len() as u64];
        let (view, motions) = lending(width, height);
        let file = [
            bytes_of(&head),
            bytes_of(develop::display()),
            bytes_of(&sums(width, height)),
            bytes_of(&features(width, height)),
            bytes_of(std::slice::from_ref(&view)),
            bytes_of(&motions),
            bytes_of(&made),
        ]
        .concat();
        std::fs::write(folder.join(format!("{width}x{height}.light")), file).unwrap();
    }
}
