//! The handover of frames from devices to sinks, in order, with the memory that they use.

use super::stats::FrameStats;
use crate::cancel::Cancel;
use crate::device::{DeviceStats, FilmSlice, Task};
use crate::device_scene::DeviceScene;
use crate::error::Error;
use crate::film::Film;
use crate::film::image::{Image, Layers};
use crate::gpu_types::FrameParams;
use crate::language::Message;
use crate::output::OutputError;
use crate::threads::lock;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

pub struct CompletedFrame {
    pub index: usize,
    pub number: u32,
    /// RGBA and YUV planes.
    pub picture: FilmSlice,
    pub linear: Option<Image<f32>>,
    /// If a sink needs them.
    pub layers: Option<Layers>,
    pub stats: FrameStats,
}

/// A frame whose tasks are done.
pub struct LitFrame {
    pub frame: CompletedFrame,
    /// None if a device has made the picture.
    pub light: Option<FrameLight>,
}

/// The light of a frame, with the scene and the camera of its first moment.
pub struct FrameLight {
    pub film: Film,
    /// The sums of a frame that had one task; they are not in the film.
    pub sums: Option<(Task, FilmSlice)>,
    pub scene: Arc<DeviceScene>,
    pub camera: FrameParams,
}

/// A frame that sinks share. Its memory is returned when the last sink has dropped it.
pub struct FrameHandle {
    pub frame: CompletedFrame,
    pub size: (u32, u32),
    pub converted: Arc<OnceLock<Vec<u8>>>,
    home: Home,
}

impl Drop for FrameHandle {
    fn drop(&mut self) {
        self.home.give(std::mem::take(&mut self.frame.picture));
    }
}

// Where memory of pictures returns to.
#[derive(Clone)]
struct Home {
    free: Sender<FilmSlice>,
    cancel: Cancel,
}

impl Home {
    fn give(&self, picture: FilmSlice) {
        // After the end of a run, nothing receives it.
        let _ = self.free.send(picture);
        // A device may wait for it.
        self.cancel.wake();
    }
}

/// Memory of frames that one run leaves to the next, because a GPU takes longer to allocate it than to fill it.
#[derive(Default)]
pub struct RunMemory {
    pub pictures: Vec<FilmSlice>,
    /// Memory for tasks: rows of a picture, or sums of light.
    pub parts: Vec<FilmSlice>,
}

pub enum Event {
    Rendered { index: usize, number: u32, stats: FrameStats },
    Taken { index: usize, sink: usize, convert_ms: f64, take_ms: f64 },
    SinkFailed(usize, OutputError),
    SinkDone(Option<PathBuf>, Duration),
    Worked(Vec<DeviceStats>, Duration, usize),
    Remark(Message),
    Failed(Error),
}

/// Receives frames from devices, and gives out memory for them.
pub struct Delivery {
    home: Home,
    free: Receiver<FilmSlice>,
    size: (u32, u32),
    sinks: Mutex<Option<SinkQueue>>,
    // Whether an essential sink has failed.
    has_failed: AtomicBool,
}

// The queue to the sinks, in order.
struct SinkQueue {
    next: usize,
    early: BTreeMap<usize, FrameHandle>,
    events: Sender<Event>,
    sinks: Vec<Sender<Arc<FrameHandle>>>,
}

impl Delivery {
    /// The queue to these sinks. At most `pictures` frames are in flight at once. `memory` of a previous run is
    /// reused first.
    pub fn new(
        size: (u32, u32),
        pictures: usize,
        memory: &mut Vec<FilmSlice>,
        (events, cancel): (Sender<Event>, &Cancel),
        sinks: Vec<Sender<Arc<FrameHandle>>>,
    ) -> Delivery {
        let (home, free) = bounded(pictures);
        let memory = memory.drain(..).chain(std::iter::repeat_with(FilmSlice::default));
        for _ in memory.map_while(|picture| home.try_send(picture).ok()) {}
        let home = Home { free: home, cancel: cancel.clone() };
        let queue = SinkQueue { next: 0, early: BTreeMap::new(), events, sinks };
        Delivery { home, free, size, sinks: Mutex::new(Some(queue)), has_failed: AtomicBool::new(false) }
    }
    fn queue(&self) -> MutexGuard<'_, Option<SinkQueue>> {
        lock(&self.sinks)
    }
    /// Whether no more frames are needed, because a sink that is needed, or the last one, has failed.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }
    pub fn set_failed(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.home.cancel.wake();
    }
    /// Memory for a picture; None if all is in use.
    pub fn take_picture(&self) -> Option<FilmSlice> {
        self.free.try_recv().ok()
    }
    /// Returns memory that was not needed.
    pub fn give_picture(&self, picture: FilmSlice) {
        self.home.give(picture);
    }
    /// Sends a frame, and those that waited for it, to the sinks.
    pub fn deliver(&self, frame: CompletedFrame) {
        let mut queue = self.queue();
        let Some(queue) = queue.as_mut() else { return };
        let handle = FrameHandle { frame, size: self.size, converted: Arc::default(), home: self.home.clone() };
        queue.early.insert(handle.frame.index, handle);
        while let Some(handle) = queue.early.remove(&queue.next) {
            queue.next += 1;
            let CompletedFrame { index, number, stats, .. } = handle.frame;
            let _ = queue.events.send(Event::Rendered { index, number, stats });
            let handle = Arc::new(handle);
            for sink in &queue.sinks {
                let _ = sink.send(Arc::clone(&handle));
            }
        }
    }
    /// Ends the queue; returns the number of frames. `last` runs before the sinks see the end.
    pub fn close(&self, last: impl FnOnce(usize)) {
        let queue = self.queue().take();
        last(queue.as_ref().map_or(0, |queue| queue.next));
    }
    /// The memory of pictures that are not in use.
    pub fn into_pictures(self) -> Vec<FilmSlice> {
        self.free.try_iter().filter(|picture| !picture.is_empty()).collect()
    }
}
