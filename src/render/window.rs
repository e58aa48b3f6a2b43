//! Frames that others lend light to: which ones a frame needs, and what is kept of them while a run goes on.

use super::handover::CompletedFrame;
use crate::device::{FilmSlice, Moment};
use crate::film::Film;
use crate::film::post::PostPipeline;
use crate::film::post::guided::Noisy;
use crate::film::post::steady::Seen;
use crate::kernels::Isa;
use crate::scene::Scene;
use crate::threads::lock;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

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

    /// Whether each frame is made of its own light alone.
    pub fn is_single(&self) -> bool {
        self.reach == 0
    }
    /// The largest number of frames that one is made of.
    pub fn len(&self) -> usize {
        2 * self.reach as usize + 1
    }

    /// The frames that a frame is made of, from the first to the last.
    pub fn around(&self, frame: u32) -> Vec<u32> {
        let (reach, frames) = (i64::from(self.reach), i64::from(self.frames));
        let mut all = Vec::with_capacity(self.len());
        for n in i64::from(frame) - reach..=i64::from(frame) + reach {
            let n = if self.is_loop { n.rem_euclid(frames) } else { n };
            let n = u32::try_from(n).ok().filter(|n| i64::from(*n) < frames);
            all.extend(n.filter(|n| !all.contains(n)));
        }
        all
    }
}

/// A frame whose light is complete.
pub struct SeenFrame {
    pub number: u32,
    /// Its scene, camera and light, and how it sees others.
    pub moment: Moment,
    /// What the host's denoiser has made of the light, in place of it.
    pub on_host: Option<Seen>,
    // Taken when the picture is made.
    frame: Mutex<Option<Box<CompletedFrame>>>,
}

impl SeenFrame {
    pub fn new(number: u32, moment: Moment, light: Arc<Film>, frame: Option<Box<CompletedFrame>>) -> SeenFrame {
        let moment = Moment { light: Some(light), ..moment };
        SeenFrame { number, moment, on_host: None, frame: Mutex::new(frame) }
    }
    /// What the host's denoiser makes of the light; none if it has done so, or if no other frame sees this one.
    pub fn for_host(&self, isa: Isa) -> Option<Seen> {
        let Moment { light: Some(light), view: Some(view), .. } = &self.moment else { return None };
        Some(Seen::new(Noisy::of(light, isa), Arc::clone(view), isa))
    }
    fn take_frame(&self) -> Option<Box<CompletedFrame>> {
        lock(&self.frame).take()
    }
}

/// A frame and all frames that it is made of.
pub struct Gathered {
    pub frame: Box<CompletedFrame>,
    pub own: Arc<SeenFrame>,
    pub others: Vec<Arc<SeenFrame>>,
}

/// The frames of a run that are rendered for others.
#[derive(Default)]
pub struct Neighbors {
    window: Window,
    // Frames to render next.
    next: VecDeque<u32>,
    // Frames that are being rendered or are kept, from the oldest on.
    kept: VecDeque<(u32, Option<Arc<SeenFrame>>)>,
    // Frames whose pictures are wanted, with their positions in the run.
    wanted: BTreeMap<u32, usize>,
}

impl Neighbors {
    pub fn new(window: Window) -> Neighbors {
        Neighbors { window, ..Neighbors::default() }
    }

    /// The next frame to render. `wanted` gives the numbers and positions of frames whose pictures are wanted; it is asked ahead, so that
    /// each of them is known before the last frame that it needs is rendered.
    pub fn next(&mut self, mut wanted: impl FnMut() -> Option<(usize, u32)>) -> Option<u32> {
        if self.window.is_single() {
            return wanted().map(|(_, number)| number);
        }
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
        next
    }

    /// Keeps a frame. Returns those that are complete now, and memory of pictures that are not needed.
    pub fn add(&mut self, seen: SeenFrame) -> (Vec<Gathered>, Vec<FilmSlice>) {
        let seen = Arc::new(seen);
        for (_, kept) in self.kept.iter_mut().filter(|(number, _)| *number == seen.number) {
            *kept = Some(Arc::clone(&seen));
        }
        let find = |number: u32| self.kept.iter().find(|(kept, _)| *kept == number).and_then(|(_, seen)| seen.clone());
        let whole = |(&number, &index): (&u32, &usize)| {
            let others: Option<Vec<_>> =
                self.window.around(number).into_iter().filter(|&n| n != number).map(find).collect();
            let (own, others) = (find(number)?, others?);
            let mut frame = own.take_frame()?;
            frame.index = index;
            Some(Gathered { frame, own, others })
        };
        let gathered: Vec<Gathered> = self.wanted.iter().filter_map(whole).collect();
        for one in &gathered {
            self.wanted.remove(&one.frame.number);
        }
        (gathered, self.forget())
    }

    // Drops frames that no wanted frame needs, but for the latest ones.
    fn forget(&mut self) -> Vec<FilmSlice> {
        let needed: Vec<u32> = self.wanted.keys().flat_map(|&number| self.window.around(number)).collect();
        let mut free = Vec::new();
        while self.kept.len() > self.window.len() {
            let old = |(number, seen): &(u32, Option<_>)| seen.is_some() && !needed.contains(number);
            let latest = self.kept.len() - self.window.len();
            let Some(at) = self.kept.iter().take(latest).position(old) else { break };
            let seen = self.kept.remove(at).and_then(|(_, seen)| seen);
            free.extend(seen.and_then(|seen| seen.take_frame()).map(|frame| frame.picture));
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
        let (mut list, mut neighbors) = (wanted.iter().copied().enumerate(), Neighbors::new(window));
        std::iter::from_fn(|| neighbors.next(|| list.next())).collect()
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
}
