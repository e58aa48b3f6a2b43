//! Finishes frames whose tasks are done: starts another round, or makes the picture and delivers it.

use super::super::handover::CompletedFrame;
use super::{FrameQueue, OpenFrame};
use crate::device::{DeviceError, Memory};
use crate::error::Error;
use crate::film::Film;
use crate::film::post::denoise::DenoiserError;
use crate::film::post::{PostContext, PostPipeline};
use crate::threads::panic_message;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl FrameQueue<'_> {
    // Finishes a frame whose tasks are done. A panic here ends the run: no device is at fault, and the next frame
    // would panic too.
    pub(super) fn finish(&self, open: OpenFrame) {
        let result = catch_unwind(AssertUnwindSafe(|| self.close(open)));
        let panicked = |words| Err(DeviceError::Panicked("what finishes frames".into(), words).into());
        let result = result.unwrap_or_else(|panic| panicked(panic_message(&*panic)));
        let mut state = self.lock();
        state.out -= 1;
        if let Err(e) = result {
            state.ended = true;
            state.failure = Some(e);
        }
        drop(state);
        self.changed.notify_all();
    }

    // The loop of a finisher thread.
    pub(super) fn finish_all(&self) {
        while let Ok(Some(open)) = self.finishing.1.recv() {
            self.finish(open);
        }
    }

    // Ends a round: starts another one, or makes the picture.
    fn close(&self, mut open: OpenFrame) -> Result<(), Error> {
        let work = self.work;
        let scene = Arc::clone(&open.scenes[0]);
        let host = scene.host();
        let context = PostContext { scene: &host, isa: work.prepared.isa, frame: open.number, denoiser: work.denoiser };
        if work.plan.noise > 0.0 {
            let noise = work.prepared.pool.install(|| noise(&open.film, &work.post.exact(), &context));
            open.stats.noise = Some(noise.map_err(DeviceError::from)?);
        }
        let good_enough = open.stats.noise.is_none_or(|n| n <= work.plan.noise);
        let tasks = if good_enough { Vec::new() } else { self.round(&mut open) };
        if !tasks.is_empty() {
            let mut state = self.lock();
            self.add_tasks(&mut state, open, tasks);
            return Ok(());
        }
        let taken = open.film.samples();
        let is_linear = taken != [0; 2];
        open.stats.samples =
            if is_linear { taken[0] + taken[1] } else { work.prepared.scene.render.samples_per_pixel() };
        let mut frame = CompletedFrame {
            index: open.index,
            number: open.number,
            linear: None,
            layers: open.film.layers(),
            stats: open.stats,
            picture: open.picture,
        };
        if is_linear {
            let mut image = work.prepared.pool.install(|| match &open.sums {
                Some((task, slice)) => open.film.resolve_whole(slice.pixels.sums_and_counts(task).0, work.prepared.isa),
                None => open.film.resolve(work.prepared.isa),
            });
            if let Some((_, slice)) = open.sums.take() {
                self.lock().spare.push(slice);
            }
            frame.picture.planes = Memory::default();
            let rgba = frame.picture.pixels.sized(4 * image.data().len() / 3);
            let rgba = bytemuck::cast_slice_mut(rgba);
            let (layers, is_transparent) = (frame.layers.as_mut(), work.prepared.scene.world.sky.transparent);
            let finished =
                work.prepared.pool.install(|| work.post.picture(&context, &mut image, layers, is_transparent, rgba));
            finished.map_err(DeviceError::from)?;
            frame.linear = work.plan.keeps_light.then_some(image);
        }
        self.delivery.deliver(frame);
        Ok(())
    }
}

// The noise of a path-traced picture: the root mean square of half the difference between two halves of the samples,
// over pixels and channels, in 8-bit codes. That estimates how far the mean is from its limit. Sums are integers and
// equal on all devices, so all devices stop after the same round. A picture that takes all its samples has the same
// bytes as one rendered in a single round.
fn noise(film: &Film, post: &PostPipeline, context: &PostContext) -> Result<f64, DenoiserError> {
    if film.samples()[1] == 0 {
        return Ok(f64::MAX);
    }
    let codes = |half| {
        let mut light = film.resolve_half(half);
        let mut rgba = vec![0; light.data().len() / 3];
        post.picture(context, &mut light, None, false, &mut rgba)?;
        Ok(rgba.iter().flat_map(|p| p.to_le_bytes()).collect::<Vec<u8>>())
    };
    let (a, b) = (codes(0)?, codes(1)?);
    let square: u64 = a.iter().zip(&b).map(|(a, b)| u64::from(a.abs_diff(*b)) * u64::from(a.abs_diff(*b))).sum();
    // Alpha is equal in both halves.
    Ok(0.5 * (square as f64 / (3 * a.len() / 4) as f64).sqrt())
}
