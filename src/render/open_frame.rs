//! A frame while it is rendered: its parts, and the light that they add. It knows no devices and no threads.

use super::frames::FrameList;
use super::handover::{CompletedFrame, FrameLight, LitFrame};
use super::plan::{FramePart, FrameTask, Plan};
use super::prepared::{PreparedScene, Recent};
use super::stats::FrameStats;
use crate::cancel::Cancel;
use crate::device::{DeviceError, FilmSlice, Memory, Moment, SampleCounter, Task, TaskStats};
use crate::error::Error;
use crate::film::Film;
use crate::film::post::denoise::{Denoiser, DenoiserError};
use crate::film::post::{PostContext, PostPipeline};
use crate::output::Already;
use crate::threads::lock;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What the frames of a run share.
pub struct RunContext<'a> {
    pub prepared: &'a PreparedScene,
    pub plan: &'a Plan,
    pub frames: &'a FrameList,
    pub post: &'a PostPipeline,
    pub denoiser: Option<&'a Denoiser>,
    pub cancel: &'a Cancel,
    pub meter: &'a SampleCounter,
    /// Functions that tell which frames already exist; a frame is skipped if all of them have it.
    pub already: &'a [Already],
}

impl RunContext<'_> {
    /// The moments of a frame's tasks. `recent` keeps those that the next frame may have too.
    pub fn moments(&self, number: u32, recent: &mut Recent) -> Result<Vec<Moment>, Error> {
        self.prepared.moments_of_all(&self.plan.tasks.frames_of(number), recent)
    }
}

pub struct OpenFrame {
    /// The position among the rendered frames, and the number in the clip.
    pub index: usize,
    number: u32,
    moments: Vec<Moment>,
    /// The memory of the picture.
    pub picture: FilmSlice,
    // Tasks add to it while others are scheduled.
    film: Arc<Mutex<Film>>,
    // The result of a frame that has only one task.
    sums: Option<(Task, FilmSlice)>,
    tasks_left: usize,
    tasks: usize,
    stats: FrameStats,
    started: Instant,
}

/// The light of a frame, which tasks add to.
pub struct Light(Arc<Mutex<Film>>);

impl Light {
    /// Adds the result of a part.
    pub fn add(&self, work: &RunContext, part: &FramePart, slice: &FilmSlice) {
        let mut film = lock(&self.0);
        let (top, film) = (part.task.rows.start, &mut *film);
        let FrameTask::Half(half) = part.kind else {
            return work.prepared.pool.install(|| film.add_features(top, slice.pixels.bytes()));
        };
        let (sums, counts) = slice.pixels.sums_and_counts(&part.task);
        if part.task.leaves_counts() {
            film.add_counts(top, counts);
        }
        work.prepared.pool.install(|| film.add(half, top, sums));
    }
}

/// A frame after a round.
pub enum Closed {
    /// It needs these parts too.
    Open(Box<OpenFrame>, Vec<FramePart>),
    /// Its tasks are done.
    Lit(Box<LitFrame>),
}

impl OpenFrame {
    /// A frame, given as its position among the rendered frames and its number in the clip.
    pub fn new(
        work: &RunContext,
        (index, number): (usize, u32),
        moments: Vec<Moment>,
        picture: FilmSlice,
    ) -> OpenFrame {
        let (width, height) = work.prepared.first.size();
        OpenFrame {
            index,
            number,
            moments,
            picture,
            film: Arc::new(Mutex::new(Film::new(width, height))),
            sums: None,
            tasks_left: 0,
            tasks: 0,
            stats: FrameStats::default(),
            started: Instant::now(),
        }
    }

    pub fn first_round(&mut self, work: &RunContext) -> Vec<FramePart> {
        let mut parts = self.next_round(work);
        if let Some(samples) = work.plan.tasks.feature_samples() {
            lock(&self.film).expect_features(samples);
            parts.extend(self.begun(work.plan.tasks.parts(self.number, FrameTask::Features, &(0..samples))));
        }
        parts
    }

    /// The parts of the next round; none if all samples are taken.
    pub fn next_round(&mut self, work: &RunContext) -> Vec<FramePart> {
        let mut parts = Vec::new();
        let taken = lock(&self.film).samples();
        for (kind, samples) in work.plan.tasks.round(taken) {
            if let FrameTask::Half(half) = kind {
                lock(&self.film).expect(half, samples.end - samples.start);
            }
            parts.extend(self.begun(work.plan.tasks.parts(self.number, kind, &samples)));
        }
        parts
    }

    fn begun(&mut self, parts: Vec<FramePart>) -> Vec<FramePart> {
        self.tasks_left += parts.len();
        self.tasks += parts.len();
        parts
    }

    /// The scenes and cameras of a part.
    pub fn moments_of(&self, part: &FramePart) -> &[Moment] {
        // Layers are those of the first moment.
        if part.kind == FrameTask::Features { &self.moments[..1] } else { &self.moments }
    }

    /// Where the light of a part is to be added before [`OpenFrame::add`]; none if that takes the result itself.
    pub fn light_of(&self, work: &RunContext, part: &FramePart) -> Option<Light> {
        let is_alone = self.tasks == 1 && work.plan.finish.noise == 0.0;
        match part.kind {
            FrameTask::Picture => None,
            FrameTask::Half(_) if is_alone => None,
            FrameTask::Half(_) | FrameTask::Features => Some(Light(Arc::clone(&self.film))),
        }
    }

    /// Adds the result of a part. Returns memory that is not needed any more.
    pub fn add(
        &mut self,
        work: &RunContext,
        part: &FramePart,
        slice: FilmSlice,
        stats: &TaskStats,
    ) -> Option<FilmSlice> {
        self.stats.add(stats);
        self.tasks_left -= part.bands;
        self.stats.time = if self.tasks == 1 { stats.time } else { self.started.elapsed() };
        let is_light = self.light_of(work, part).is_some();
        match part.kind {
            _ if is_light => return Some(slice),
            FrameTask::Picture if !work.plan.tasks.is_whole() => {
                self.put_rows(part.task.rows.start, slice.pixels.bytes());
                return Some(slice);
            }
            FrameTask::Picture => self.picture = slice,
            FrameTask::Half(_) | FrameTask::Features => {
                if part.task.leaves_counts() {
                    lock(&self.film).add_counts(0, slice.pixels.sums_and_counts(&part.task).1);
                }
                self.sums = Some((part.task.clone(), slice));
            }
        }
        None
    }

    /// Whether all parts of the round are added.
    pub fn is_complete(&self) -> bool {
        self.tasks_left == 0
    }

    // Copies rows of a finished picture, from row `top` on.
    fn put_rows(&mut self, top: u32, rgba: &[u8]) {
        let (width, height) = self.moments[0].scene.size();
        let a_row = 4 * width as usize;
        // If a GPU used this memory before, its planes are those of another frame.
        self.picture.planes = Memory::default();
        let whole = self.picture.pixels.sized(a_row * height as usize);
        let at = a_row * top as usize;
        whole[at..at + rgba.len()].copy_from_slice(rgba);
    }

    /// Ends a round: begins another one, or the frame is done.
    pub fn close(mut self, work: &RunContext) -> Result<Closed, Error> {
        if work.plan.finish.noise > 0.0 {
            let (scene, film) = (self.moments[0].scene.host_for_film(), lock(&self.film));
            let (isa, frame) = (work.prepared.isa, self.number);
            let context = PostContext { scene: &scene, isa, frame, denoiser: work.denoiser, noisy: None };
            let post = work.post.of_frame(self.number).exact();
            let noise = work.prepared.pool.install(|| noise(&film, &post, &context));
            self.stats.noise = Some(noise.map_err(DeviceError::from)?);
        }
        let good_enough = self.stats.noise.is_none_or(|n| n <= work.plan.finish.noise);
        let parts = if good_enough { Vec::new() } else { self.next_round(work) };
        if !parts.is_empty() {
            return Ok(Closed::Open(Box::new(self), parts));
        }
        let film = std::mem::replace(&mut *lock(&self.film), Film::new(0, 0));
        let taken = film.samples();
        let has_light = taken != [0; 2];
        self.stats.samples =
            if has_light { taken[0] + taken[1] } else { work.prepared.scene.render.samples_per_pixel() };
        let frame = CompletedFrame {
            index: self.index,
            number: self.number,
            linear: None,
            layers: work.plan.finish.layers.then(|| film.layers()).flatten(),
            stats: self.stats,
            picture: self.picture,
        };
        let Moment { scene, camera, .. } = self.moments.swap_remove(0);
        let light = has_light.then_some(FrameLight { film, sums: self.sums, scene, camera });
        Ok(Closed::Lit(Box::new(LitFrame { frame, light })))
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
