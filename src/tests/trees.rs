//! Trees that devices make: a device in host memory that runs the GPU's steps makes the host's tree, node for node.
#![expect(unsafe_code, reason = "a GPU API whose memory is the host's")]

use super::common::*;
use crate::assets::Assets;
use crate::assets::files::Files;
use crate::device::gpu::api::{Api, Arguments, Code, Context, DeviceMemory, Event, Function, Module, Stream};
use crate::device::gpu::{Builders, ResidentScene};
use crate::device::memory::PinnedMemory;
use crate::device::{DeviceError, GpuInfo};
use crate::device_scene::DeviceScene;
use crate::device_scene::geometry::Geometry;
use crate::gpu_types::{Array, Node, TreeWork};
use crate::kernels::Isa;
use crate::scene::Scene;
use std::ffi::CStr;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

// A GPU API whose streams do their work at once. Its kernels are those of trees alone.
struct Host;

#[derive(Clone)]
struct HostContext;
struct HostMemory(Vec<u64>);
struct HostPinned(Vec<u8>);
#[derive(Clone, Copy)]
struct Step(usize);
struct Nothing;

impl Api for Host {
    const NAME: &'static str = "host";
    const CODE: Code = Code::Ptx;
    type Context = HostContext;
    type Memory = HostMemory;
    type Pinned = HostPinned;
    type Module = Nothing;
    type Function = Step;
    type Event = Nothing;
    type Stream = Nothing;
    fn is_present() -> bool {
        true
    }
    fn list() -> Result<Vec<GpuInfo>, DeviceError> {
        Ok(Vec::new())
    }
}

impl Context<Host> for HostContext {
    fn open(_: u32) -> Result<HostContext, DeviceError> {
        Ok(HostContext)
    }
    fn enter(&self) -> Result<(), DeviceError> {
        Ok(())
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }
    fn memory(&self, len: usize) -> Result<HostMemory, DeviceError> {
        // Whatever was there before.
        Ok(HostMemory(vec![0xabab_abab_abab_abab; len.div_ceil(8)]))
    }
    fn upload<T>(&self, values: &[T]) -> Result<HostMemory, DeviceError> {
        let memory = self.memory(size_of_val(values))?;
        // SAFETY: the memory is as long, and the values are plain.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), at(&memory, 0), size_of_val(values)) };
        Ok(memory)
    }
    fn pinned(&self, len: usize) -> Result<HostPinned, DeviceError> {
        Ok(HostPinned(vec![0; len]))
    }
    fn load(&self, _: &[u8]) -> Result<Nothing, DeviceError> {
        Ok(Nothing)
    }
    fn event(&self) -> Result<Nothing, DeviceError> {
        Ok(Nothing)
    }
    fn stream(&self) -> Result<Nothing, DeviceError> {
        Ok(Nothing)
    }
}

fn at(memory: &HostMemory, offset: usize) -> *mut u8 {
    memory.address(offset) as *mut u8
}

impl DeviceMemory for HostMemory {
    fn address(&self, offset: usize) -> u64 {
        assert!(offset <= self.0.len() * 8);
        self.0.as_ptr() as u64 + offset as u64
    }
}
impl PinnedMemory for HostPinned {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
impl Module<Host> for Nothing {
    fn function(&self, name: &CStr, _: u32) -> Result<Step, DeviceError> {
        let mut steps =
            include_str!("../../kernels/shapes/tree_steps.def").lines().filter(|line| line.starts_with("TREE_STEP("));
        let name = name.to_str().unwrap().trim_start_matches("polyfly_");
        let step = steps.position(|step| step.contains(&format!("({name})")));
        step.map(Step).ok_or_else(|| DeviceError::Failed(format!("{name:?}")))
    }
}
impl Function for Step {
    fn threads(&self) -> u32 {
        1
    }
    fn resident_blocks(&self) -> u32 {
        1
    }
}
impl Event for Nothing {
    fn wait(&self) -> Result<(), DeviceError> {
        Ok(())
    }
    fn since(&self, _: &Nothing) -> Result<Duration, DeviceError> {
        Ok(Duration::ZERO)
    }
}
impl Stream<Host> for Nothing {
    fn record(&self, _: &Nothing) -> Result<(), DeviceError> {
        Ok(())
    }
    fn wait_for(&self, _: &Nothing) -> Result<(), DeviceError> {
        Ok(())
    }
    fn fill(&self, memory: &HostMemory, offset: usize, len: usize, value: u8) -> Result<(), DeviceError> {
        assert!(offset + len <= memory.0.len() * 8);
        // SAFETY: the bytes are the memory's.
        unsafe { at(memory, offset).write_bytes(value, len) };
        Ok(())
    }
    unsafe fn write(&self, to: &HostMemory, offset: usize, from: &[u8]) -> Result<(), DeviceError> {
        assert!(offset + from.len() <= to.0.len() * 8);
        // SAFETY: the bytes are the memory's.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), at(to, offset), from.len()) };
        Ok(())
    }
    unsafe fn copy(&self, to: &mut [u8], from: &HostMemory, offset: usize) -> Result<(), DeviceError> {
        assert!(offset + to.len() <= from.0.len() * 8);
        // SAFETY: the bytes are the memory's.
        unsafe { std::ptr::copy_nonoverlapping(at(from, offset), to.as_mut_ptr(), to.len()) };
        Ok(())
    }
    unsafe fn launch(
        &self,
        Step(step): Step,
        _: (u32, u32),
        _: (u32, u32),
        arguments: &mut Arguments<'_>,
    ) -> Result<(), DeviceError> {
        // SAFETY: the kernels of trees have these two arguments.
        unsafe {
            let arguments = arguments.as_mut_ptr();
            let (work, threads) = (*arguments.cast::<*const TreeWork>(), *arguments.add(1).cast::<*const i32>());
            Isa::tested()[0].tree_step(work, step, *threads);
        }
        Ok(())
    }
}

fn values<T: Copy>(array: &Array<T>) -> Vec<T> {
    if array.len == 0 {
        return Vec::new();
    }
    // SAFETY: the array is in the host's memory.
    unsafe { std::slice::from_raw_parts(array.data, array.len as usize) }.to_vec()
}

// Compares two trees, whose nodes may have other numbers.
fn compare(name: &str, (nodes, root): (&[Node], i32), (expected, expected_root): (&[Node], i32)) {
    assert_eq!(nodes.len(), expected.len(), "{name}");
    let (mut pairs, mut seen) = (vec![(root, expected_root)], 0);
    while let Some((a, b)) = pairs.pop() {
        if a < 0 || b < 0 {
            assert_eq!(a, b, "{name}: a leaf");
            continue;
        }
        seen += 1;
        let (a, b) = (nodes[a as usize], expected[b as usize]);
        pairs.extend([(a.child0, b.child0), (a.child1, b.child1)]);
        assert_eq!((a.centre0, a.half0, a.centre1, a.half1), (b.centre0, b.half0, b.centre1, b.half1), "{name}");
    }
    assert_eq!(seen, nodes.len(), "{name}");
}

// Whether the device's tree, and the host's when it is built later, are those that are built at once.
fn same_trees(name: &str, scene: &Scene) {
    let assets = Assets::load(scene, &Files::default()).unwrap();
    let pool = crate::threads::pool(2).unwrap();
    let later = DeviceScene::with_trees(scene, &assets, Some(Arc::clone(&pool)), None).unwrap();
    assert!(later.geometry.nodes.is_empty() && later.geometry.lazy.is_some(), "{name}");
    let at_once = DeviceScene::new(scene, &assets).unwrap();
    let expected: &Geometry = &at_once.geometry;

    let built = later.geometry.with_tree();
    compare(&format!("{name}, later"), (&built.nodes, built.root), (&expected.nodes, expected.root));
    assert!(built.triangles == expected.triangles && built.spheres == expected.spheres, "{name}, later");
    assert!(built.sphere_materials == expected.sphere_materials && built.reach == expected.reach, "{name}, later");
    assert_eq!(built.large, expected.large, "{name}, later");

    let mut builders = Builders::default();
    builders.only_trees = true;
    let made = ResidentScene::<Host>::upload(&later, None, (&HostContext, &mut builders)).unwrap();
    let arrays = &made.arrays;
    compare(name, (&values(&arrays.nodes), arrays.constants.bvh_root), (&expected.nodes, expected.root));
    assert!(values(&arrays.triangles) == expected.triangles, "{name}: triangles");
    assert!(values(&arrays.spheres) == *expected.spheres, "{name}: spheres");
    assert!(values(&arrays.sphere_materials) == expected.sphere_materials, "{name}: materials");
}

// A surface with hills, of 2 * n * n triangles.
fn hills(n: usize, height: f32) -> String {
    let mut obj = String::new();
    let mut draws = Draws(5);
    for i in 0..=n {
        for j in 0..=n {
            writeln!(obj, "v {} {} {}", i as f32 / 10.0, j as f32 / 10.0, height * draws.next()).unwrap();
        }
    }
    for i in 0..n {
        for j in 1..=n {
            let at = i * (n + 1) + j;
            writeln!(obj, "f {} {} {}\nf {} {} {}", at, at + 1, at + n + 2, at, at + n + 2, at + n + 1).unwrap();
        }
    }
    obj
}

// Balls of all sizes, or on a lattice, each third one twice.
fn balls(n: usize, is_lattice: bool) -> String {
    let mut draws = Draws(9);
    let mut text = String::from("x,y,z,r\n");
    for i in 0..n {
        let [x, y, z] = if is_lattice { [i % 24, i / 24 % 24, i / 576].map(|k| k as f32) } else { draws.around(9.0) };
        let radius = if is_lattice { 0.5 } else { 0.02 + 0.3 * draws.next() * draws.next() * draws.next() };
        writeln!(text, "{x},{y},{z},{radius}").unwrap();
        if i % 3 == 0 {
            writeln!(text, "{x},{y},{z},{radius}").unwrap();
        }
    }
    text
}

#[test]
fn devices_make_the_trees_of_the_host() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("target/trees-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = |name: &str, text: String| {
        std::fs::write(dir.join(name), text).unwrap();
        dir.join(name).display().to_string()
    };
    let mesh = |path: &str| format!("[[mesh]]\npath = \"{path}\"\ncolor = [0.9, 0.5, 0.2]\n");
    let (flat, rough) = (mesh(&file("flat.obj", hills(80, 0.0))), mesh(&file("rough.obj", hills(75, 2.0))));
    let small = mesh(&file("small.obj", hills(20, 1.0)));
    let [loose, lattice] = [balls(9_000, false), balls(13_824, true)].map(|text| {
        let path = file(&format!("{}.csv", text.len()), text);
        format!("[particles]\npath = \"{path}\"\n")
    });
    let ground = "[[sphere]]\ncenter = [0, 0, -1000]\nradius = 990\n[[sphere]]\ncenter = [0, 0, 20]\nradius = 3\n";
    let others = "[[body]]\nsolid = \"cube\"\ncenter = [0, 0, 12]\nradius = 1\n[[ellipsoid]]\ncenter = [9, 9, 9]\nradii = [1, 2, 3]\n";
    let glass = "material = \"glass\"\n";
    for (name, text) in [
        ("a mesh", rough.clone()),
        ("a flat mesh", flat.clone()),
        ("two large meshes, a small one and other shapes", format!("{rough}{small}{flat}{others}")),
        ("balls of glass with large ones", format!("{ground}{loose}{glass}")),
        ("a lattice of glass", format!("{lattice}{glass}")),
        ("all of them", format!("{ground}{rough}{loose}{others}{small}")),
    ] {
        same_trees(name, &toml(&format!("[output]\nframes = 1\nsize = [48, 36]\n{text}")));
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
