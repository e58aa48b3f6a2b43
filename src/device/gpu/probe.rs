//! Reads a running task's progress from a GPU, by copies that overlap the kernels.
#![expect(unsafe_code, reason = "copies while kernels run")]

use super::api::{Api, Context, Event, Stream};
use super::slots::{BAND_AT, COUNT_BYTES, QUEUE_BYTES};
use crate::device::memory::PinnedMemory;
use crate::device::{DeviceError, SampleCounter};
use std::sync::{Arc, Mutex, PoisonError};

pub struct Working<A: Api> {
    pub counts: Arc<A::Memory>,
    pub samples: u64,
    pub bands: u64,
    /// The final value of the band's queue.
    pub pixels: u64,
}

/// The oldest task in flight, if any.
pub type Watched<A> = Arc<Mutex<Option<Arc<Working<A>>>>>;

struct Probe<A: Api> {
    stream: A::Stream,
    copied: A::Event,
    host: A::Pinned,
    context: A::Context,
}

impl<A: Api> Probe<A> {
    fn new(context: &A::Context) -> Result<Probe<A>, DeviceError> {
        context.enter()?;
        let host = context.pinned(QUEUE_BYTES + 1)?;
        Ok(Probe { stream: context.stream()?, copied: context.event()?, host, context: context.clone() })
    }

    // The number of samples that a task has taken.
    fn read(&mut self, task: &Working<A>) -> Result<u64, DeviceError> {
        self.context.enter()?;
        let (queue, band) = self.host.bytes_mut().split_at_mut(QUEUE_BYTES);
        // SAFETY: the memory is the probe's, and nobody reads it before the event has passed.
        unsafe {
            self.stream.copy(queue, &task.counts, COUNT_BYTES)?;
            self.stream.copy(band, &task.counts, BAND_AT)?;
        }
        self.stream.record(&self.copied)?;
        self.copied.wait()?;
        let host = self.host.bytes();
        let queue = host.first_chunk().map_or(0, |&word| u32::from_ne_bytes(word));
        let (here, band) = (u64::from(queue).min(task.pixels), u64::from(host[QUEUE_BYTES]));
        let (done, all) = (band * task.pixels + here, task.bands * task.pixels);
        Ok((u128::from(task.samples) * u128::from(done.min(all)) / u128::from(all.max(1))) as u64)
    }
}

/// Lets a counter read the progress of the watched task.
pub fn poll<A: Api>(counter: &SampleCounter, watched: &Watched<A>, context: &A::Context) {
    let (watched, context, probe) = (Arc::clone(watched), context.clone(), Mutex::new(None::<Probe<A>>));
    counter.poll(move || {
        // Rendering must not wait for a reader, so the lock is held only for this copy.
        let Some(task) = watched.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return 0 };
        let mut probe = probe.lock().unwrap_or_else(PoisonError::into_inner);
        if probe.is_none() {
            *probe = Probe::new(&context).ok();
        }
        probe.as_mut().and_then(|probe| probe.read(&task).ok()).unwrap_or(0)
    });
}
