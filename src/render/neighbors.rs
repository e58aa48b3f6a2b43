//! Frames that use the light of the frames around them (`denoise_frames`): which ones, in which order they are rendered, which of them the
//! host keeps, and which device takes them.

use super::handover::CompletedFrame;
use crate::device::FilmSlice;
use crate::device_scene::DeviceScene;
use crate::film::post::PostPipeline;
use crate::film::post::steady::Seen;
use crate::scene::Scene;
use crate::threads::lock;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

// The shortest and the longest chunk, and bytes of pictures that wait: RGBA and planes.
const SHORTEST: usize = 4;
const LONGEST: usize = 16;
const WAITING_BYTES: usize = 1 << 29;
const PICTURE_BYTES: usize = 6;

/// The frames that each frame of a clip is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    // The number of frames before and after it.
    reach: u32,
    frames: u32,
    is_loop: bool,
}

impl Window {
    pub fn of(scene: &Scene, post: &PostPipeline) -> Window {
        let reach = if post.is_guided() { scene.film.denoise_frames } else { 0 };
        let frames = scene.output.frames;
        Window { reach: if frames > 1 { reach } else { 0 }, frames, is_loop: scene.output.is_loop }
    }

    /// Whether each frame uses only its own light.
    pub fn is_single(&self) -> bool {
        self.reach == 0
    }
    /// The largest number of frames that one is made of.
    pub fn len(&self) -> usize {
        2 * self.reach as usize + 1
    }

    /// The frames that a frame is made of, from the first to the last.
    pub fn around(&self, frame: u32) -> Vec<u32> {
        if self.is_single() {
            return vec![frame];
        }
        let (reach, frames) = (i64::from(self.reach), i64::from(self.frames));
        let mut all = Vec::with_capacity(self.len());
        for n in i64::from(frame) - reach..=i64::from(frame) + reach {
            let n = if self.is_loop { n.rem_euclid(frames) } else { n };
            let n = u32::try_from(n).ok().filter(|n| i64::from(*n) < frames);
            all.extend(n.filter(|n| !all.contains(n)));
        }
        all
    }

    /// The number of frames that may wait for others, if the host keeps the light of frames: the latest ones, and those that a frame
    /// waits for.
    pub fn waiting_frames(&self) -> usize {
        if self.is_single() { 0 } else { 2 * self.len() }
    }

    /// The number of frames in a row that each of several GPUs takes. It also renders those around them, and keeps the light that it can use
    /// again; but pictures of all but the first chunk wait.
    pub fn chunk(&self, scene: &Scene, devices: usize, frames: usize) -> usize {
        if self.is_single() {
            return 1;
        }
        let bytes = PICTURE_BYTES * scene.render.width as usize * scene.render.height as usize * devices;
        (WAITING_BYTES / bytes.max(1)).clamp(SHORTEST, LONGEST).min(frames.div_ceil(devices.max(1))).max(1)
    }
}

/// Which device takes the frames of which chunk. Where a chunk is one frame, any device takes any task.
pub struct Chunks {
    frames: usize,
    // The device that has begun a chunk.
    owners: BTreeMap<usize, usize>,
}

impl Chunks {
    /// Chunks of this many frames.
    pub fn new(frames: usize) -> Chunks {
        Chunks { frames, owners: BTreeMap::new() }
    }
    /// The index of the task that a device takes next: of its own chunks, or of one that nobody has begun. `tasks` has the positions of
    /// their frames in the run.
    pub fn pick(&self, device: usize, tasks: impl Iterator<Item = usize> + Clone) -> Option<usize> {
        let owned_by = |owner: Option<usize>| {
            tasks.clone().position(|frame| self.owners.get(&(frame / self.frames)).copied() == owner)
        };
        owned_by(Some(device)).or_else(|| owned_by(None))
    }
    /// A device takes a task of a frame.
    pub fn claim(&mut self, device: usize, frame: usize) {
        if self.frames > 1 {
            self.owners.insert(frame / self.frames, device);
        }
    }
    /// A device has failed: others go on with its chunks.
    pub fn release(&mut self, device: usize) {
        self.owners.retain(|_, owner| *owner != device);
    }
}

/// A frame whose light the host keeps.
pub struct RingFrame {
    pub number: u32,
    pub scene: Arc<DeviceScene>,
    pub seen: Seen,
    // Taken when the picture is made.
    frame: Mutex<Option<CompletedFrame>>,
}

impl RingFrame {
    pub fn new(frame: CompletedFrame, scene: Arc<DeviceScene>, seen: Seen) -> RingFrame {
        RingFrame { number: frame.number, scene, seen, frame: Mutex::new(Some(frame)) }
    }
    fn take_frame(&self) -> Option<CompletedFrame> {
        lock(&self.frame).take()
    }
}

/// A frame whose light is complete, and that of all frames that it is made of.
pub struct CompleteWindow {
    pub frame: CompletedFrame,
    pub own: Arc<RingFrame>,
    pub others: Vec<Arc<RingFrame>>,
}

/// The latest frames of a run, whose light the host keeps.
#[derive(Default)]
pub struct Ring {
    window: Window,
    // Frames to render next, and the number of frames begun so far.
    next: VecDeque<u32>,
    begun: usize,
    // Frames that are being rendered or are kept, from the oldest on.
    kept: VecDeque<(u32, Option<Arc<RingFrame>>)>,
    // Frames whose pictures are wanted, with their positions in the run.
    wanted: BTreeMap<u32, usize>,
}

impl Ring {
    pub fn new(window: Window) -> Ring {
        Ring { window, ..Ring::default() }
    }

    /// The next frame to render, with how many have been rendered before. `wanted` gives the positions and numbers of frames whose pictures
    /// are wanted; it is asked ahead, so that each of them is known before the last frame that it needs is rendered.
    pub fn next(&mut self, mut wanted: impl FnMut() -> Option<(usize, u32)>) -> Option<(usize, u32)> {
        let mut next = self.next.pop_front();
        while self.next.is_empty()
            && let Some((index, number)) = wanted()
        {
            self.wanted.insert(number, index);
            let missing =
                self.window.around(number).into_iter().filter(|n| self.kept.iter().all(|(kept, _)| kept != n));
            self.next.extend(missing);
            for &number in &self.next {
                self.kept.push_back((number, None));
            }
            next = next.or_else(|| self.next.pop_front());
        }
        self.begun += 1;
        next.map(|number| (self.begun - 1, number))
    }

    /// Keeps a frame. Returns those that are complete now, and memory of pictures that are not needed.
    pub fn add(&mut self, frame: RingFrame) -> (Vec<CompleteWindow>, Vec<FilmSlice>) {
        let frame = Arc::new(frame);
        for (_, kept) in self.kept.iter_mut().filter(|(number, _)| *number == frame.number) {
            *kept = Some(Arc::clone(&frame));
        }
        let find =
            |number: u32| self.kept.iter().find(|(kept, _)| *kept == number).and_then(|(_, frame)| frame.clone());
        let whole = |(&number, &index): (&u32, &usize)| {
            let others: Option<Vec<_>> =
                self.window.around(number).into_iter().filter(|&n| n != number).map(find).collect();
            let (own, others) = (find(number)?, others?);
            let frame = CompletedFrame { index, ..own.take_frame()? };
            Some(CompleteWindow { frame, own, others })
        };
        let complete: Vec<CompleteWindow> = self.wanted.iter().filter_map(whole).collect();
        for one in &complete {
            self.wanted.remove(&one.frame.number);
        }
        (complete, self.forget())
    }

    // Drops frames that no wanted frame needs, but for the latest ones.
    fn forget(&mut self) -> Vec<FilmSlice> {
        let needed: Vec<u32> = self.wanted.keys().flat_map(|&number| self.window.around(number)).collect();
        let mut free = Vec::new();
        while self.kept.len() > self.window.len() {
            let old = |(number, frame): &(u32, Option<_>)| frame.is_some() && !needed.contains(number);
            let latest = self.kept.len() - self.window.len();
            let Some(at) = self.kept.iter().take(latest).position(old) else { break };
            let frame = self.kept.remove(at).and_then(|(_, frame)| frame);
            free.extend(frame.and_then(|frame| frame.take_frame()).map(|frame| frame.picture));
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_with_the_clip_or_wraps_around() {
        let window = Window { reach: 2, frames: 7, is_loop: false };
        assert_eq!(window.around(0), [0, 1, 2]);
        assert_eq!(window.around(3), [1, 2, 3, 4, 5]);
        assert_eq!(window.around(6), [4, 5, 6]);
        let ring = Window { is_loop: true, ..window };
        assert_eq!(ring.around(0), [5, 6, 0, 1, 2]);
        assert_eq!(ring.around(6), [4, 5, 6, 0, 1]);
        assert_eq!(Window { frames: 3, ..ring }.around(1), [2, 0, 1]);
        assert_eq!(Window { frames: 3, ..ring }.len(), 5);
    }

    // The order in which frames are rendered for these wanted ones.
    fn order(window: Window, wanted: &[u32]) -> Vec<u32> {
        let (mut list, mut ring) = (wanted.iter().copied().enumerate(), Ring::new(window));
        std::iter::from_fn(|| ring.next(|| list.next()).map(|(_, number)| number)).collect()
    }

    #[test]
    fn each_frame_is_rendered_once_where_one_follows_the_other() {
        let window = Window { reach: 2, frames: 20, is_loop: false };
        assert_eq!(order(window, &[0, 1, 2, 3, 4, 5]), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(order(window, &[9]), [7, 8, 9, 10, 11]);
        assert_eq!(order(window, &[17, 18, 19]), [15, 16, 17, 18, 19]);
        assert_eq!(order(Window { is_loop: true, frames: 4, ..window }, &[0, 1, 2, 3]), [2, 3, 0, 1]);
        assert_eq!(order(window, &[5, 15]), [3, 4, 5, 6, 7, 13, 14, 15, 16, 17]);
        assert!(order(window, &[]).is_empty());
    }

    #[test]
    fn a_chunk_belongs_to_the_device_that_begins_it_until_that_fails() {
        let (mut chunks, tasks) = (Chunks::new(4), [0, 1, 5, 8]);
        let pick = |chunks: &Chunks, device| chunks.pick(device, tasks.into_iter());
        assert_eq!((pick(&chunks, 0), pick(&chunks, 1)), (Some(0), Some(0)));
        chunks.claim(0, 0);
        chunks.claim(1, 5);
        assert_eq!((pick(&chunks, 0), pick(&chunks, 1), pick(&chunks, 2)), (Some(0), Some(2), Some(3)));
        chunks.claim(2, 8);
        assert_eq!(pick(&chunks, 3), None);
        chunks.release(0);
        assert_eq!(pick(&chunks, 3), Some(0));
        let mut single = Chunks::new(1);
        single.claim(0, 0);
        assert_eq!(pick(&single, 1), Some(0));
    }
}
