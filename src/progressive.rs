//! Path tracing in passes: after each, the noise of the picture is known, and tracing stops when it is low enough.
//!
//! Every pass has two halves, whose sums are kept apart: half the difference of the two pictures is how far their mean
//! is from what it tends to. Sums are integers and the same on every device, so all stop after the same pass. A picture
//! that took all its samples is the same to the byte as one made at once.

use crate::device::cpu::{self, Cpu, Isa};
use crate::device::cuda::Gpu;
use crate::device::{DeviceError, FrameStats};
use crate::layout::{FrameData, Layout, frame};
use crate::pipeline::{Deal, Memory, Share, Worker};
use crate::scene::{Integrator, Scene};

/// A device that can trace some of a picture's samples.
pub trait Passes: Send {
    /// Its name.
    fn name(&self) -> String;
    /// Leaves the light of samples first .. first + count of each pixel in `sums`.
    fn pass(&mut self, camera: &FrameData, first: u32, count: u32, sums: &mut [i64])
    -> Result<FrameStats, DeviceError>;
}

impl Passes for &Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }
    fn pass(
        &mut self,
        camera: &FrameData,
        first: u32,
        count: u32,
        sums: &mut [i64],
    ) -> Result<FrameStats, DeviceError> {
        Ok(Cpu::pass(self, camera, first, count, sums))
    }
}

impl Passes for Gpu {
    fn name(&self) -> String {
        Worker::name(self).to_owned()
    }
    fn pass(
        &mut self,
        camera: &FrameData,
        first: u32,
        count: u32,
        sums: &mut [i64],
    ) -> Result<FrameStats, DeviceError> {
        Gpu::pass(self, camera, first, count, sums)
    }
}

/// Samples of the first pass; each one after it doubles what there is.
const FIRST: u32 = 16;

/// Traces until the noise is at most `noise`, or all `samples` are taken. Gives RGBA.
pub fn refine(
    device: &mut dyn Passes,
    scene: &Scene,
    layout: &Layout,
    isa: Isa,
    number: u32,
    rgba: &mut [u8],
) -> Result<FrameStats, DeviceError> {
    let Integrator::Path { samples, noise } = scene.integrator else {
        return Err(DeviceError::Input("only path tracing works in passes".into()));
    };
    let camera = frame(scene, number);
    let pixels = rgba.len() / 4;
    let mut halves = [vec![0i64; 3 * pixels], vec![0i64; 3 * pixels]];
    let mut taken = [0u32; 2];
    let mut sums = vec![0i64; 3 * pixels];
    let mut pictures = [vec![0u8; 4 * pixels], vec![0u8; 4 * pixels]];
    let mut all = FrameStats::default();
    loop {
        let before = taken[0] + taken[1];
        let more = before.max(FIRST).min(samples - before);
        for (half, count) in [more.div_ceil(2), more / 2].into_iter().enumerate() {
            if count == 0 {
                continue;
            }
            let stats = device.pass(&camera, taken[0] + taken[1], count, &mut sums)?;
            halves[half].iter_mut().zip(&sums).for_each(|(to, x)| *to += x);
            taken[half] += count;
            all.rays += stats.rays;
            all.shadow_rays += stats.shadow_rays;
            all.kernel += stats.kernel;
            all.time += stats.time;
        }
        all.samples = taken[0] + taken[1];
        all.noise = estimate(isa, layout, &halves, taken, &mut pictures);
        if all.samples >= samples || all.noise <= noise {
            break;
        }
    }
    let [first, second] = &halves;
    sums.iter_mut().zip(first.iter().zip(second)).for_each(|(to, (a, b))| *to = a + b);
    cpu::develop(isa, layout, &sums, all.samples, rgba);
    Ok(all)
}

// Root mean square of half the difference of both halves' pictures, over pixels and colours, in codes.
fn estimate(isa: Isa, layout: &Layout, halves: &[Vec<i64>; 2], taken: [u32; 2], rgba: &mut [Vec<u8>; 2]) -> f64 {
    if taken[1] == 0 {
        return f64::MAX;
    }
    for ((sums, samples), rgba) in halves.iter().zip(taken).zip(rgba.iter_mut()) {
        cpu::develop(isa, layout, sums, samples, rgba);
    }
    let [a, b] = rgba;
    let square: u64 = a.iter().zip(&*b).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).sum();
    // Alpha is the same in both.
    0.5 * (square as f64 / (3 * a.len() / 4) as f64).sqrt()
}

/// A device that path-traces frames in passes.
pub struct Progressive<'a> {
    device: Box<dyn Passes + 'a>,
    name: String,
    scene: &'a Scene,
    layout: &'a Layout,
    isa: Isa,
    share: Share,
}

impl<'a> Progressive<'a> {
    /// The scene says how little noise is wanted.
    pub fn new(device: Box<dyn Passes + 'a>, scene: &'a Scene, layout: &'a Layout, isa: Isa) -> Progressive<'a> {
        let name = device.name();
        Progressive { device, share: Share::new(&name), name, scene, layout, isa }
    }
}

impl Worker for Progressive<'_> {
    fn name(&self) -> &str {
        &self.name
    }
    fn in_flight(&self) -> usize {
        1
    }
    fn run(&mut self, deal: &Deal) -> Result<(), (DeviceError, Vec<usize>)> {
        let bytes = 4 * self.scene.width as usize * self.scene.height as usize;
        while let Some((mut hand, mut picture)) = deal.take(true) {
            let (index, number) = hand.keep();
            let rgba = picture.rgba.sized(bytes);
            let stats = refine(&mut *self.device, self.scene, self.layout, self.isa, number, rgba)
                .map_err(|e| (e, vec![index]))?;
            self.share.add(&stats);
            // Another device may have left its planes here.
            picture.yuv = Memory::default();
            deal.finish(index, number, picture, stats);
        }
        Ok(())
    }
    fn shares(&self) -> Vec<Share> {
        vec![self.share.clone()]
    }
}
