//! `polyfly doctor`: lists this machine's devices and tools, and renders a reference picture on all devices.

use super::denoiser;
use super::request::named_ffmpeg;
use super::vectors::{self, Vector};
use super::verify::{difference, pixels, subjects};
use crate::cli::{COMMIT, DoctorArgs, Failure};
use crate::device;
use crate::kernels::Isa;
use crate::output::OutputError;
use crate::output::video::codecs::CODECS;
use crate::output::video::ffmpeg::{find_ffmpeg, output_text, words};
use crate::render::{RenderOptions, Renderer};
use crate::report::print;
use crate::scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// FNV-1a of the reference picture: the sample scene's first frame at 96 x 72, 2 x 2 samples. A test renders it. A
/// change of the kernels that changes a pixel changes this number.
const REFERENCE: u64 = 0xdbdf_5c30_b1b1_8af9;

// How long ffmpeg may take to list its encoders.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn reference_scene() -> Scene {
    let mut scene = Scene::sample();
    (scene.render.width, scene.render.height) = (96, 72);
    scene.render.set_samples(2);
    scene
}

/// Prints the list; fails if a device renders a different picture.
pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    if args.denoiser {
        return Ok(print(&denoiser::location())?);
    }
    if let Some(time) = args.soak {
        return soak(vectors::all()?, time);
    }
    let commit = COMMIT.map_or_else(String::new, |commit| format!(", commit {commit}"));
    let mut text = format!("polyfly\t{}{commit}\n", env!("CARGO_PKG_VERSION"));
    let gpus = device::list();
    match &gpus {
        Ok(gpus) => {
            let drivers: BTreeSet<&str> = gpus.iter().map(|g| &*g.driver).collect();
            text.extend(drivers.into_iter().map(|driver| format!("driver\t{driver}\n")));
            // By the numbers that `--devices` takes.
            text.extend(gpus.iter().enumerate().map(|(i, g)| format!("gpu {i}\t{}, {} MiB\n", g.name, g.memory >> 20)));
        }
        Err(e) => text += &format!("gpu\tnone: {e}\n"),
    }
    let sets: Vec<String> = Isa::available().iter().map(|i| format!("{} ({})", i.name, i.lanes)).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    text += &format!("cpu\t{} (lanes), {threads} threads\n", sets.join(", "));
    text += &match find_ffmpeg(named_ffmpeg(None).as_deref()) {
        Ok(found) => format!("ffmpeg\t{}, encoders: {}\n", found.program.display(), encoders(&found.program)?),
        Err(e) => format!("ffmpeg\tnone: {e}\n"),
    };
    text += &denoiser::location();
    let renderer = Renderer::prepare(reference_scene(), RenderOptions::on_cpu())?;
    let (mut wrong, mut failed) = (Vec::new(), None);
    for mut subject in subjects(&renderer, gpus.as_deref().unwrap_or_default()) {
        let verdict = match subject.render(0).map(|frame| fnv(pixels(&frame))) {
            Ok(REFERENCE) => "the reference picture, byte for byte".to_owned(),
            Ok(other) => {
                let fault = format!("WRONG: checksum {other:016x}, expected {REFERENCE:016x}");
                wrong.push(format!("{}: {fault}", subject.name));
                fault
            }
            // A device without memory, or one that is lost, has made no other bytes.
            Err(e) => {
                let fault = format!("FAILED: {e}");
                failed.get_or_insert(e);
                fault
            }
        };
        text += &format!("{}\t{verdict}\n", subject.name);
    }
    print(&text)?;
    match failed {
        _ if !wrong.is_empty() => Err(Failure::DevicesDisagree(wrong)),
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

// Renders known frames on all devices in turn until the time is over. Prints what each device has made.
fn soak(vectors: Vec<Vector>, time: Duration) -> Result<(), Failure> {
    let (begun, gpus) = (Instant::now(), device::list().unwrap_or_default());
    let mut all = Vec::new();
    for Vector { name, frame, mut scene, large: (size, hash), .. } in vectors {
        (scene.render.width, scene.render.height) = size;
        let renderer = Renderer::prepare(scene, RenderOptions::on_cpu())?;
        all.push((name, frame, hash, subjects(&renderer, &gpus), None));
    }
    let (mut counts, mut wrong) = (BTreeMap::<String, (u64, u64)>::new(), Vec::new());
    while counts.is_empty() || begun.elapsed() < time {
        for (name, frame, hash, subjects, right) in &mut all {
            for subject in subjects {
                let picture = subject.render(*frame)?.rgba8.unwrap_or_default();
                let is_right = picture.sha256() == *hash;
                let (made, faults) = counts.entry(subject.name.clone()).or_default();
                (*made, *faults) = (*made + 1, *faults + u64::from(!is_right));
                if is_right {
                    right.get_or_insert(picture);
                } else if *faults == 1 {
                    let first =
                        right.as_ref().and_then(|right| difference(right.data(), picture.data(), right.width()));
                    wrong.push(format!("{}: {name}, rendering {made}: {}", subject.name, first.unwrap_or_default()));
                }
            }
        }
    }
    let rows = counts.iter().map(|(name, (made, faults))| format!("{name}\t{made} frames\t{faults} wrong\n"));
    print(&rows.collect::<String>())?;
    if wrong.is_empty() { Ok(()) } else { Err(Failure::DevicesDisagree(wrong)) }
}

fn encoders(program: &std::path::Path) -> Result<String, Failure> {
    let listed = output_text(program, words("-v error -encoders"), ANSWER_TIMEOUT).map_err(OutputError::from)?;
    let text = listed.unwrap_or_default();
    let known = CODECS.iter().map(|codec| codec.encoder).filter(|e| text.split_whitespace().any(|w| w == *e));
    Ok(known.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_picture_is_known() {
        let renderer = Renderer::prepare(reference_scene(), RenderOptions::on_cpu()).unwrap();
        for mut subject in subjects(&renderer, &[]) {
            let checksum = fnv(pixels(&subject.render(0).unwrap()));
            assert_eq!(checksum, REFERENCE, "{}: {checksum:#018x}", subject.name);
        }
    }

    #[test]
    fn a_soak_finds_other_bits() {
        let mut vectors = vectors::all().unwrap();
        vectors.truncate(1);
        vectors[0].large.1 = "other";
        let devices = Isa::available().len();
        match soak(vectors, Duration::ZERO) {
            Err(Failure::DevicesDisagree(wrong)) => assert_eq!(wrong.len(), devices, "{wrong:?}"),
            other => panic!("{other:?}"),
        }
    }
}
