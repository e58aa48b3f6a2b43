//! What becomes of a frame whose tasks are done: another round, or its picture, on its way to the sinks.

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
    // A frame whose tasks are done: what becomes of it is no work any more. A panic ends the run: no device is to blame,
    // and the next frame would fare no better.
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

    // Finishes frames that devices leave, until there are no more.
    pub(super) fn finish_all(&self) {
        while let Ok(Some(open)) = self.finishing.1.recv() {
            self.finish(open);
        }
    }

    // A round is over: another one, or the picture.
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

// When path tracing may stop: half the difference of two halves of the samples is how far their mean is from what it tends to. Sums are
// integers and the same on every device, so all stop after the same round. A picture that took all its samples is the same to the byte
// as one made at once.
//
// This is the root mean square of that, over pixels and colours, in 8-bit codes.
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
    // Alpha is the same in both.
    Ok(0.5 * (square as f64 / (3 * a.len() / 4) as f64).sqrt())
}
