//! `polyfly verify` and `polyfly doctor`: whether every device of this machine gives the same bytes.

use crate::app::{load_scene, output};
use crate::assets::Assets;
use crate::cli::VerifyArgs;
use crate::device::DeviceError;
use crate::device::cpu::{Cpu, Isa, convert};
use crate::device::cuda::Gpu;
use crate::device::driver::Gpus;
use crate::error::Error;
use crate::layout::{self, Layout};
use crate::pipeline::Wants;
use crate::scene::{Scene, builtin, tokens};
use crate::sink::video::find_ffmpeg;
use std::fmt::Write;

/// FNV-1a of the reference picture: the sample scene's first frame at 96 x 72, 2 x 2 samples.
/// A test renders it; a change of the kernels that moves a pixel changes this line.
pub const REFERENCE: u64 = 0x6fba_99ba_cc1b_c9d0;

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

// A picture and, from a GPU, its planes for video.
type Made = (Vec<u8>, Option<Vec<u8>>);

type Render<'a> = Box<dyn FnMut(u32) -> Result<Made, DeviceError> + 'a>;

// A device under test: its name, and how it renders a frame.
struct Subject<'a> {
    name: String,
    render: Render<'a>,
}

// Every instruction set of the CPU and every GPU, the widest instruction set first.
fn subjects<'a>(scene: &'a Scene, gpus: Option<&Gpus>) -> Result<Vec<Subject<'a>>, Error> {
    let assets = Assets::load(scene)?;
    let mut subjects = Vec::new();
    for isa in Isa::available() {
        let cpu = Cpu::new(isa, 0, scene, Layout::new(scene, &assets))?;
        if subjects.is_empty() {
            for facts in gpus.iter().flat_map(|g| &g.list) {
                let name = format!("cuda:{} {}", facts.ordinal, facts.name);
                let render: Render = match Gpu::new(facts, scene, cpu.layout(), Wants { rgba: true, yuv: true }) {
                    Ok(mut gpu) => Box::new(move |n| {
                        let (picture, _) = gpu.still(&layout::frame(scene, n))?;
                        Ok((picture.rgba.to_vec(), Some(picture.yuv.to_vec())))
                    }),
                    Err(e) => {
                        let why = e.to_string();
                        Box::new(move |_| Err(DeviceError::Cuda(why.clone())))
                    }
                };
                subjects.push(Subject { name, render });
            }
        }
        let render = move |n| {
            let mut rgba = Vec::new();
            cpu.render(&layout::frame(scene, n), &mut rgba);
            Ok((rgba, None))
        };
        subjects.push(Subject { name: format!("cpu {}", isa.name), render: Box::new(render) });
    }
    // The CPU's widest lanes are the reference.
    let first_cpu = subjects.iter().position(|s| s.name.starts_with("cpu")).unwrap_or(0);
    subjects[..=first_cpu].rotate_right(1);
    Ok(subjects)
}

// Where two pictures differ first, if they do.
fn difference(expected: &[u8], got: &[u8], width: u32) -> Option<String> {
    let at = expected.iter().zip(got).position(|(a, b)| a != b)? / 4;
    let (x, y) = (at % width as usize, at / width as usize);
    let pixel = |p: &[u8]| format!("{:?}", &p[4 * at..4 * at + 3]);
    let count = expected.chunks(4).zip(got.chunks(4)).filter(|(a, b)| a != b).count();
    Some(format!("{count} pixels differ, first ({x}, {y}): {} and {}", pixel(expected), pixel(got)))
}

/// Renders frames of scenes on every device and compares them with the CPU's.
pub fn verify(args: &VerifyArgs) -> Result<(), Error> {
    let gpus = Gpus::find();
    let mut wrong = Vec::new();
    for name in &args.scenes {
        let mut scene = load_scene(name, &args.scene)?;
        if args.scene.size.is_none() {
            (scene.width, scene.height) = (160, 120);
        }
        let frames = match &args.scene.frames {
            Some(text) => {
                crate::frames::parse(text, scene.frames).map_err(|e| Error::Usage(format!("--frames: {e}")))?
            }
            None => (0..scene.frames.min(2)).collect(),
        };
        let mut subjects = subjects(&scene, gpus.as_ref().ok())?;
        let isa = Isa::available()[0];
        for &frame in &frames {
            let mut expected: Option<(String, Vec<u8>)> = None;
            for subject in &mut subjects {
                let (rgba, yuv) = (subject.render)(frame)?;
                let Some((reference, bytes)) = &expected else {
                    expected = Some((subject.name.clone(), rgba));
                    continue;
                };
                let mut fault = difference(bytes, &rgba, scene.width);
                if let Some(yuv) = yuv {
                    let mut planes = Vec::new();
                    convert(isa, bytes, scene.width, scene.height, &mut planes);
                    if fault.is_none() && planes != yuv {
                        fault = Some("the video's planes differ".into());
                    }
                }
                if let Some(fault) = fault {
                    wrong.push(format!("{name} frame {frame}: {reference} and {}: {fault}", subject.name));
                }
            }
        }
        let names: Vec<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
        output(&format!("{name}\t{} frames\t{}\n", frames.len(), names.join(", ")))?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(Error::Differs(wrong)) }
}

/// Prints what this machine has, and renders the reference picture on all of it.
pub fn doctor() -> Result<(), Error> {
    let mut o = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(o, "polyfly\t{}", env!("CARGO_PKG_VERSION"));
    let gpus = Gpus::find();
    match &gpus {
        Ok(gpus) => {
            let _ = writeln!(o, "driver\tCUDA {}.{}", gpus.driver / 1000, gpus.driver % 1000 / 10);
            for g in &gpus.list {
                let _ = writeln!(o, "gpu {}\t{}, {} MiB", g.ordinal, g.name, g.memory >> 20);
            }
        }
        Err(e) => {
            let _ = writeln!(o, "gpu\tnone: {e}");
        }
    }
    let sets: Vec<String> = Isa::available().iter().map(|i| format!("{} ({})", i.name, i.lanes)).collect();
    let _ = writeln!(
        o,
        "cpu\t{} (lanes), {} threads",
        sets.join(", "),
        std::thread::available_parallelism().map_or(1, usize::from)
    );
    match find_ffmpeg(None) {
        Ok(program) => {
            let _ = writeln!(o, "ffmpeg\t{}, encoders: {}", program.display(), encoders(&program));
        }
        Err(e) => {
            let _ = writeln!(o, "ffmpeg\tnone: {e}");
        }
    }
    let scene = reference_scene()?;
    let mut wrong = Vec::new();
    for mut subject in subjects(&scene, gpus.as_ref().ok())? {
        let verdict = match (subject.render)(0) {
            Ok((rgba, _)) if fnv(&rgba) == REFERENCE => "the reference picture, byte for byte".to_owned(),
            Ok((rgba, _)) => format!("WRONG: checksum {:016x}, expected {REFERENCE:016x}", fnv(&rgba)),
            Err(e) => format!("FAILED: {e}"),
        };
        if verdict.starts_with(['W', 'F']) {
            wrong.push(format!("{}: {verdict}", subject.name));
        }
        let _ = writeln!(o, "{}\t{verdict}", subject.name);
    }
    output(&o)?;
    if wrong.is_empty() { Ok(()) } else { Err(Error::Differs(wrong)) }
}

fn reference_scene() -> Result<Scene, Error> {
    let mut scene =
        crate::scene::parse(builtin::DEFAULT_TOKENS, "default.txt", std::path::Path::new(""), tokens::SOLIDS)?.scene;
    (scene.width, scene.height, scene.samples) = (96, 72, 2);
    Ok(scene)
}

fn encoders(program: &std::path::Path) -> String {
    let listed = std::process::Command::new(program)
        .args(["-v", "error", "-encoders"])
        .stdin(std::process::Stdio::null())
        .output();
    let text = listed.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let known = ["libx264", "libx265", "libsvtav1"].into_iter().filter(|e| text.split_whitespace().any(|w| w == *e));
    known.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_picture_is_known() {
        let scene = reference_scene().unwrap();
        for mut subject in subjects(&scene, None).unwrap() {
            let (rgba, _) = (subject.render)(0).unwrap();
            assert_eq!(fnv(&rgba), REFERENCE, "{}: {:#018x}", subject.name, fnv(&rgba));
        }
    }

    #[test]
    fn differences_name_the_first_pixel() {
        let (a, mut b) = (vec![7u8; 4 * 6], vec![7u8; 4 * 6]);
        assert_eq!(difference(&a, &b, 3), None);
        b[4 * 4 + 1] = 9;
        assert_eq!(difference(&a, &b, 3).unwrap(), "1 pixels differ, first (1, 1): [7, 7, 7] and [7, 9, 7]");
    }
}
