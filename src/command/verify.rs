//! `polyfly verify`: renders scenes on all devices of this machine and compares the bytes.

use super::scene_file::load_scene;
use crate::cli::{Failure, VerifyArgs};
use crate::device::{self, Device, DeviceError, DeviceNeeds, FilmSlice, GpuInfo, Task};
use crate::kernels::Isa;
use crate::render::plan::{moments, tracing_makes_pictures};
use crate::render::{RenderOptions, Renderer};
use crate::report::print;
use std::sync::Arc;

/// A device under test, or the reason why it cannot be tested.
pub struct TestDevice {
    pub name: String,
    device: Result<Box<dyn Device>, DeviceError>,
}

/// All instruction sets of the CPU, the widest first, and all GPUs.
pub fn subjects(renderer: &Renderer, gpus: &[GpuInfo]) -> Vec<TestDevice> {
    // Post steps that need the host are left out.
    let (scene, post) = (renderer.scene(), renderer.post().on_devices());
    let post = (!tracing_makes_pictures(scene, &post)).then(|| Arc::new(post));
    let needs = DeviceNeeds {
        rgba: true,
        yuv: true,
        linear: post.is_some(),
        features: false,
        adaptive: scene.render.sampling.is_adaptive(),
        post,
        frames: 1,
    };
    let cpu = |isa: Isa| {
        let cpu: Box<dyn Device> = Box::new(renderer.cpu(isa).with_post(needs.post.clone()));
        TestDevice { name: format!("cpu {}", isa.name), device: Ok(cpu) }
    };
    let open = |info: &GpuInfo| device::open(info, Arc::clone(&renderer.prepared.first), needs.clone());
    let gpu = |info: &GpuInfo| TestDevice { name: info.label(), device: open(info).map(|gpu| gpu as Box<dyn Device>) };
    let sets = Isa::available().into_iter().map(cpu);
    sets.chain(gpus.iter().map(gpu)).collect()
}

impl TestDevice {
    /// Renders a frame on this device alone: RGBA, and YUV planes if the device makes them.
    pub fn render(&mut self, renderer: &Renderer, frame: u32) -> Result<FilmSlice, Failure> {
        let scene = renderer.scene();
        let device = match &mut self.device {
            Ok(device) => device,
            Err(e) => return Err(DeviceError::Failed(e.to_string()).into()),
        };
        let (prepared, count) = (&renderer.prepared, moments(scene));
        let moments = prepared.pool.install(|| prepared.moments_of(frame, count))?;
        let ticket = device.submit(&Task::picture(scene, frame), &moments, FilmSlice::default())?;
        Ok(device.wait(ticket)?.1)
    }
}

// The first difference of two pictures, if there is one.
fn difference(expected: &[u8], got: &[u8], width: u32) -> Option<String> {
    let at = expected.iter().zip(got).position(|(a, b)| a != b)? / 4;
    let (x, y) = (at % width as usize, at / width as usize);
    let pixel = |p: &[u8]| format!("{:?}", &p[4 * at..4 * at + 3]);
    let count = expected.chunks(4).zip(got.chunks(4)).filter(|(a, b)| a != b).count();
    Some(format!("{count} pixels differ, first ({x}, {y}): {} and {}", pixel(expected), pixel(got)))
}

/// Renders frames on all devices and compares them with those of the CPU's widest instruction set.
pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let gpus = device::list().unwrap_or_default();
    let mut wrong = Vec::new();
    for name in &args.scenes {
        let (mut scene, text) = load_scene(name, &args.changes)?;
        if args.changes.size.is_none() {
            (scene.render.width, scene.render.height) = (160, 120);
        }
        let all = args.changes.frame_list(&scene)?;
        let few = if args.changes.frames.is_some() { usize::MAX } else { 2 };
        let frames: Vec<u32> = all.iter().take(few).collect();
        let (width, height) = (scene.render.width, scene.render.height);
        let renderer = Renderer::prepare(scene, RenderOptions::on_cpu()).map_err(|e| text.placed(e))?;
        let mut subjects = subjects(&renderer, &gpus);
        for &frame in &frames {
            let mut expected: Option<(String, FilmSlice)> = None;
            for subject in &mut subjects {
                let got = subject.render(&renderer, frame)?;
                let Some((reference, first)) = &expected else {
                    expected = Some((subject.name.clone(), got));
                    continue;
                };
                let mut fault = difference(first.pixels.bytes(), got.pixels.bytes(), width);
                if fault.is_none() && !got.planes.bytes().is_empty() {
                    let mut planes = Vec::new();
                    renderer.prepared.isa.convert(first.pixels.bytes(), width, height, &mut planes);
                    fault = (planes != got.planes.bytes()).then(|| "the video's planes differ".into());
                }
                if let Some(fault) = fault {
                    wrong.push(format!("{name} frame {frame}: {reference} and {}: {fault}", subject.name));
                }
            }
        }
        let names: Vec<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
        print(&format!("{name}\t{} frames\t{}\n", frames.len(), names.join(", ")))?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::DevicesDisagree(wrong)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_name_the_first_pixel() {
        let (a, mut b) = (vec![7u8; 4 * 6], vec![7u8; 4 * 6]);
        assert_eq!(difference(&a, &b, 3), None);
        b[4 * 4 + 1] = 9;
        assert_eq!(difference(&a, &b, 3).unwrap(), "1 pixels differ, first (1, 1): [7, 7, 7] and [7, 9, 7]");
    }
}
