//! A small frame by the kernels of a run, on a device whose driver the tests of this program do not reach: it has the CPU's bytes, or the device is
//! not used.

use super::exposure::shrunk;
use super::prepared::PreparedScene;
use crate::device::cpu::Cpu;
use crate::device::{self, DeviceError, DeviceNeeds, FilmSlice, GpuInfo, Memory, Moment, Task, TaskOutput};
use crate::language::msg;
use crate::scene::Scene;
use std::sync::Arc;

// The frame's largest width in pixels, and the samples along a pixel's side where their number is fixed.
const WIDTH: u32 = 64;
const SIDE: u32 = 2;

fn small(scene: &Scene) -> Scene {
    let mut small = shrunk(scene, WIDTH);
    if !small.render.sampling.is_adaptive() {
        small.render.set_sample_grid(SIDE);
    }
    small
}

/// Renders a small frame on the device and on the CPU.
///
/// # Errors
/// The device cannot be opened, or its frame has other bytes.
pub fn passes(gpu: &GpuInfo, prepared: &PreparedScene, needs: &DeviceNeeds) -> Result<(), DeviceError> {
    let small = small(&prepared.scene);
    let scene = Arc::new(prepared.first.resized(&small));
    let camera = scene.frame_params(&small, 0);
    let output = if needs.linear { TaskOutput::Sums } else { TaskOutput::Picture };
    let task = Task { output, ..Task::picture(&small, 0) };
    // The same kernels, and no steps after them.
    let needs = DeviceNeeds { rgba: !needs.linear, yuv: false, post: None, frames: 0, ..needs.clone() };
    let mut device = device::open(gpu, Arc::clone(&scene), needs)?;
    let ticket = device.submit(&task, &[Moment::new(Arc::clone(&scene), camera)], FilmSlice::default())?;
    let (_, got) = device.wait(ticket)?;
    let mut expected = Memory::default();
    Cpu::new(prepared.isa, Arc::clone(&prepared.pool), scene).run(&task, &camera, &mut expected);
    compared(expected.bytes(), got.pixels.bytes())
}

fn compared(expected: &[u8], got: &[u8]) -> Result<(), DeviceError> {
    if expected == got {
        return Ok(());
    }
    let byte = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    Err(DeviceError::NotFound(msg!(
        "a small frame of the scene differs from the CPU's at byte {byte} of {bytes}",
        byte,
        bytes = expected.len()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::common::own;

    #[test]
    fn one_wrong_bit_refuses_a_device() {
        let expected = [7; 64];
        assert!(compared(&expected, &expected).is_ok());
        let mut got = expected;
        got[40] ^= 1;
        assert!(compared(&expected, &got).unwrap_err().to_string().contains("byte 40 of 64"));
        assert!(compared(&expected, &expected[..60]).is_err());
    }

    #[test]
    fn the_frame_is_small_and_takes_the_samples_that_the_run_takes() {
        let mut scene = own("coursework.txt");
        let tried = small(&scene);
        assert_eq!((tried.render.width, tried.render.samples_per_pixel()), (WIDTH, 4));
        scene.render.set_adaptive(4, 16, 1.0);
        assert_eq!(small(&scene).render.sampling, scene.render.sampling);
    }
}
