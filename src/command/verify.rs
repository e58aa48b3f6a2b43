//! `polyfly verify`: renders scenes on all devices of this machine and compares the bytes; or audits folders of frames.

mod audit;
mod draw;
mod film;
mod golden;
mod signature;

use super::scene_file::load_scene;
use crate::cli::{Failure, VerifyArgs};
use crate::device::{self, GpuInfo};
use crate::error::Error;
use crate::kernels::Isa;
use crate::language::{count, msg};
use crate::output::PixelFormats;
use crate::output::capture::CapturedFrame;
use crate::render::frames::FrameList;
use crate::render::{Devices, RenderOptions, Renderer};
use crate::report::{print, remark};
use crate::scene::limits::VIDEOS;
use crate::system::extension;
use std::path::Path;

/// A device under test, with its own renderer, or the reason why it cannot be tested.
pub struct TestDevice {
    pub name: String,
    renderer: Result<Renderer, Error>,
}

/// All instruction sets of the CPU, the widest first, and all GPUs.
pub fn subjects(renderer: &Renderer, gpus: &[GpuInfo]) -> Vec<TestDevice> {
    let on = |name: String, devices: Devices, isa: Option<&str>| {
        let other =
            renderer.elsewhere(RenderOptions { devices, isa: isa.map(str::to_owned), ..RenderOptions::on_cpu() });
        let keep = |mut other: Renderer| {
            other.keep_devices(true);
            other
        };
        TestDevice { name, renderer: other.map(keep) }
    };
    let sets = Isa::available().into_iter();
    let cpus = sets.map(|isa| on(format!("cpu {}", isa.name), Devices::Cpu, Some(isa.name)));
    cpus.chain((0..).zip(gpus).map(|(i, gpu)| on(gpu.label(), Devices::List(vec![i], false), None))).collect()
}

impl TestDevice {
    /// Renders a frame on this device alone, as a run does.
    pub fn render(&mut self, frame: u32) -> Result<CapturedFrame, Failure> {
        let renderer = match &mut self.renderer {
            Ok(renderer) => renderer,
            Err(e) => return Err(device::DeviceError::Failed(e.to_string()).into()),
        };
        let needs = PixelFormats { yuv420: true, ..PixelFormats::RGBA8 };
        Ok(renderer.capture(&FrameList::one(frame), needs, &mut ())?.pop().unwrap_or_default())
    }
}

/// The first difference of two pictures, if there is one.
pub fn difference(expected: &[u8], got: &[u8], width: u32) -> Option<String> {
    let at = expected.iter().zip(got).position(|(a, b)| a != b)? / 4;
    let (x, y) = (at % width as usize, at / width as usize);
    let pixel = |p: &[u8]| format!("{:?}", &p[4 * at..4 * at + 3]);
    let count = expected.chunks(4).zip(got.chunks(4)).filter(|(a, b)| a != b).count();
    Some(format!("{count} pixels differ, first ({x}, {y}): {} and {}", pixel(expected), pixel(got)))
}

pub fn pixels(frame: &CapturedFrame) -> &[u8] {
    frame.rgba8.as_ref().map_or(&[], |image| image.data())
}

/// Audits folders, with films of their frames; or compares devices.
pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    if let Some(list) = &args.golden {
        return golden::run(args, list);
    }
    let names = || args.scenes.iter().map(String::as_str);
    let (folders, others): (Vec<_>, Vec<_>) = names().partition(|name| audit::is_folder(name));
    let is_film = |name: &&str| VIDEOS.contains(&&*extension(Path::new(name)));
    match others.iter().find(|name| folders.is_empty() == is_film(name)) {
        Some(film) if folders.is_empty() => {
            Err(Failure::usage(msg!("{film} is a film: name the folder of its frames too", film)))
        }
        Some(scene) => Err(Failure::usage(msg!(
            "{scene} stands beside a folder, and is no film: a folder's scene is named by --scene",
            scene
        ))),
        None if folders.is_empty() => compare_devices(args),
        None => audit::run(args, &folders, &others),
    }
}

// Renders frames on all devices and compares them with those of the CPU's widest instruction set.
fn compare_devices(args: &VerifyArgs) -> Result<(), Failure> {
    let gpus = device::list().unwrap_or_default();
    let mut wrong = Vec::new();
    for name in &args.scenes {
        let (mut scene, text) = load_scene(name, &args.common, &args.changes)?;
        if args.changes.size.is_none() {
            (scene.render.width, scene.render.height) = (160, 120);
        }
        let all = args.common.frame_list(&scene)?;
        let few = if args.common.frames.is_some() { usize::MAX } else { 2 };
        let frames: Vec<u32> = all.iter().take(few).collect();
        let width = scene.render.width;
        let renderer = Renderer::prepare(scene, RenderOptions::on_cpu()).map_err(|e| text.placed(e))?;
        let (mut subjects, before) = (subjects(&renderer, &gpus), wrong.len());
        for &frame in &frames {
            let mut expected: Option<(String, CapturedFrame)> = None;
            for subject in &mut subjects {
                let got = subject.render(frame)?;
                let Some((reference, first)) = &expected else {
                    expected = Some((subject.name.clone(), got));
                    continue;
                };
                let mut fault = difference(pixels(first), pixels(&got), width);
                if fault.is_none() && first.yuv420 != got.yuv420 {
                    fault = Some("the video's planes differ".into());
                }
                if let Some(fault) = fault {
                    wrong.push(format!("{name} frame {frame}: {reference} and {}: {fault}", subject.name));
                }
            }
        }
        let names: Vec<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
        print(&format!("{name}\t{} frames\t{}\n", frames.len(), names.join(", ")))?;
        if wrong.len() == before {
            let total = renderer.scene().output.frames;
            remark(msg!(
                "{scene}: equal bytes on {devices}: {frames} of {all}",
                scene = name,
                devices = count!(names.len() as u64, "device", "devices"),
                frames = frames.len(),
                all = count!(total, "frame", "frames")
            ));
        }
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
