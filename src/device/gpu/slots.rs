//! Memory for tasks in flight on a GPU. If it is short, there are fewer tasks, then smaller bands, then no post
//! steps.

use super::api::{Api, Context};
use super::post::{Planes, PostLane};
use crate::device::memory::{LISTED_BYTES, held, ring};
use crate::device::{BAND_STEP, DeviceError, DeviceNeeds, TRIAL_BYTES, TaskOutput};
use crate::film::post::PostPipeline;
use crate::gpu_types::{COUNTERS, Counts};
use std::sync::Arc;

pub const COUNT_BYTES: usize = COUNTERS as usize * size_of::<Counts>();
/// Bytes of a queue that warps take work from. The queues follow the counters.
pub const QUEUE_BYTES: usize = 8;
/// One queue, and one for each round of adaptive sampling. Rounds double the samples, so there are at most as many as
/// a number has bits.
pub const QUEUES: usize = 32;
/// The offset of the current band's number, after the queues.
pub const BAND_AT: usize = COUNT_BYTES + QUEUES * QUEUE_BYTES;
// Larger pictures are rendered in bands, which limits device memory.
const BAND_BYTES: usize = 1 << 27;
// The minimum number of rows in a band.
const MIN_BAND: u32 = BAND_STEP;

/// A task's memory on the device, and the events of its progress.
pub struct Slot<A: Api> {
    /// The result of a band.
    pub pixels: A::Memory,
    pub planes: Option<A::Memory>,
    pub trial: Option<A::Memory>,
    /// Counters, queues and the band's number.
    pub counts: Arc<A::Memory>,
    pub host_counts: A::Pinned,
    /// Before and after the kernels, before and after the copies.
    pub events: [A::Event; 4],
    /// The number of threads that its rays are distributed over.
    pub threads: u64,
}

pub struct Slots<A: Api> {
    /// The slots that are not in use by tasks in flight.
    pub free: Vec<Slot<A>>,
    /// One for each stream, or one with the denoiser; empty if the device runs no post steps.
    pub lanes: Vec<PostLane<A>>,
    pub band: u32,
    /// Rows of a band that the host finishes. It is smaller if a slot is too small for sums.
    pub host_band: u32,
}

impl<A: Api> Slots<A> {
    /// Allocates memory for tasks of pictures of this size, on this many streams.
    pub fn new(
        size: (u32, u32),
        needs: &DeviceNeeds,
        streams: usize,
        context: &A::Context,
    ) -> Result<Slots<A>, DeviceError> {
        let (width, height) = size;
        let held = if needs.post.is_some() { held(needs).1.max(SUMS_BYTES) } else { held(needs).1 };
        let rows = BAND_BYTES / (held * width as usize);
        let mut band = (rows / MIN_BAND as usize * MIN_BAND as usize).min(height as usize) as u32;
        band = band.max(MIN_BAND.min(height));
        let mut ring = ring(size, needs);
        loop {
            let slots = (0..ring).map(|_| Slot::new(size, needs, band, context)).collect::<Result<Vec<_>, _>>();
            let lanes = |post: &Arc<PostPipeline>| {
                let pixel = if needs.adaptive { SUMS_BYTES } else { TaskOutput::Sums.bytes_a_pixel() };
                let sums = pixel * width as usize * band as usize;
                let lane = |_| PostLane::new(size, (post, needs.frames), sums, context);
                // Neighbor frames are one after the other.
                let streams = if post.is_guided() { 1 } else { streams };
                (0..streams.min(ring)).map(lane).collect::<Result<Vec<_>, _>>()
            };
            let all =
                slots.and_then(|slots| Ok((slots, needs.post.as_ref().map(lanes).transpose()?.unwrap_or_default())));
            match all {
                Err(DeviceError::OutOfMemory(_)) if ring > 1 => ring = 1,
                Err(DeviceError::OutOfMemory(_)) if band > MIN_BAND => {
                    band = (band / 2).next_multiple_of(MIN_BAND).min(band - 1).max(MIN_BAND);
                }
                Err(DeviceError::OutOfMemory(_)) if needs.post.is_some() => {
                    return Slots::new(size, &DeviceNeeds { post: None, ..needs.clone() }, streams, context);
                }
                other => {
                    let host_band = if needs.post.is_some() { host_rows(height, needs).min(band) } else { band };
                    return other.map(|(free, lanes)| Slots { free, lanes, band, host_band });
                }
            }
        }
    }
}

// The number of rows whose sums or features fit into the memory of a whole picture's results, at least the minimum.
fn host_rows(height: u32, needs: &DeviceNeeds) -> u32 {
    let row = if needs.features { SUMS_BYTES.max(TaskOutput::Features.bytes_a_pixel()) } else { SUMS_BYTES };
    let rows = held(needs).0 * height as usize / row;
    (rows as u32 / MIN_BAND * MIN_BAND).max(MIN_BAND)
}

// Bytes per pixel of sums for post steps.
const SUMS_BYTES: usize = 3 * size_of::<i64>() + size_of::<u32>();

impl<A: Api> Slot<A> {
    fn new(size: (u32, u32), needs: &DeviceNeeds, band: u32, context: &A::Context) -> Result<Slot<A>, DeviceError> {
        let (width, height) = size;
        // Post steps need a whole picture at once. If the host runs them after all, that memory holds the sums of
        // some rows.
        let (rows, min) = if needs.post.is_some() { (height, SUMS_BYTES * MIN_BAND as usize) } else { (band, 0) };
        let column_bytes = (held(needs).0 * rows as usize).max(min);
        let trial = || {
            let rows = (band + 2 * BAND_STEP).min(height);
            context.memory((TRIAL_BYTES + 2 * LISTED_BYTES) * width as usize * rows as usize)
        };
        Ok(Slot {
            pixels: context.memory(column_bytes * width as usize)?,
            trial: needs.adaptive.then(trial).transpose()?,
            planes: needs.yuv.then(|| context.memory(Planes::of(width, rows).bytes())).transpose()?,
            counts: Arc::new(context.memory(BAND_AT + 1)?),
            host_counts: context.pinned(COUNT_BYTES)?,
            events: [context.event()?, context.event()?, context.event()?, context.event()?],
            threads: 0,
        })
    }
}
