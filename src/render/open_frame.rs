//! A frame while it is rendered: its parts, the light that they add, and the picture in the end. It knows no devices
//! and no threads.

use super::frames::FrameList;
use super::handover::CompletedFrame;
use super::plan::{FramePart, FrameTask, Plan};
use super::prepared::PreparedScene;
use super::stats::FrameStats;
use super::window::{Gathered, SeenFrame};
use crate::cancel::Cancel;
use crate::device::{DeviceError, FilmSlice, Memory, Moment, SampleCounter, TaskStats};
use crate::device_scene::DeviceScene;
use crate::error::Error;
use crate::film::Film;
use crate::film::image::Image;
use crate::film::post::denoise::{Denoiser, DenoiserError};
use crate::film::post::guided::Noisy;
use crate::film::post::steady::Seen;
use crate::film::post::{PostContext, PostPipeline};
use crate::output::Already;
use std::sync::Arc;
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
    /// The moments of a frame's tasks: its own, or those of all frames that a device makes it of. `of` gives those of one frame.
    pub fn moments(
        &self,
        number: u32,
        mut of: impl FnMut(u32) -> Result<Vec<Moment>, Error>,
    ) -> Result<Vec<Moment>, Error> {
        let frames = self.plan.frames_of(number);
        let mut all = Vec::new();
        for &frame in &frames {
            let mut moments = of(frame)?;
            if let Some(first) = moments.first_mut().filter(|_| frames.len() > 1) {
                first.view = Some(Arc::new(self.prepared.view(frame, &first.camera)));
            }
            all.extend(moments);
        }
        Ok(all)
    }
}

pub struct OpenFrame {
    /// The position in the run, and the number in the clip.
    pub index: usize,
    number: u32,
    moments: Vec<Moment>,
    /// The memory of the picture.
    pub picture: FilmSlice,
    film: Film,
    // The result of a frame that has only one task.
    sums: Option<(FramePart, FilmSlice)>,
    tasks_left: usize,
    tasks: usize,
    stats: FrameStats,
    started: Instant,
}

/// A frame after a round.
pub enum Closed {
    /// It needs these parts too.
    Open(Box<OpenFrame>, Vec<FramePart>),
    /// Its light is complete, and others wait for it.
    Seen(Box<SeenFrame>),
    /// It is finished. The memory is not needed any more.
    Complete(Box<CompletedFrame>, Option<FilmSlice>),
}

impl OpenFrame {
    /// A frame, given as its position in the run and its number.
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
            film: Film::new(width, height),
            sums: None,
            tasks_left: 0,
            tasks: 0,
            stats: FrameStats::default(),
            started: Instant::now(),
        }
    }

    /// The parts of the first round.
    pub fn first_round(&mut self, work: &RunContext) -> Vec<FramePart> {
        let mut parts = self.next_round(work);
        if let Some(samples) = work.plan.feature_samples() {
            self.film.expect_features(samples);
            parts.extend(self.begun(work.plan.parts(self.number, FrameTask::Features, &(0..samples))));
        }
        parts
    }

    /// The parts of the next round; none if all samples are taken.
    pub fn next_round(&mut self, work: &RunContext) -> Vec<FramePart> {
        let mut parts = Vec::new();
        for (kind, samples) in work.plan.round(self.film.samples()) {
            if let FrameTask::Half(half) = kind {
                self.film.expect(half, samples.end - samples.start);
            }
            parts.extend(self.begun(work.plan.parts(self.number, kind, &samples)));
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
        &self.moments[part.moments.start as usize..part.moments.end as usize]
    }

    /// Adds the result of a part. Returns memory that is not needed any more.
    pub fn add(
        &mut self,
        work: &RunContext,
        part: &FramePart,
        mut slice: FilmSlice,
        stats: &TaskStats,
    ) -> Option<FilmSlice> {
        let top = part.task.rows.start;
        match part.kind {
            FrameTask::Picture if work.plan.is_whole() => self.picture = std::mem::take(&mut slice),
            FrameTask::Picture => self.put_rows(top, slice.pixels.bytes()),
            FrameTask::Half(half) => {
                let (sums, counts) = slice.pixels.sums_and_counts(&part.task);
                if part.task.leaves_counts() {
                    self.film.add_counts(top, counts);
                }
                if self.tasks == 1 && work.plan.noise == 0.0 {
                    self.sums = Some((part.clone(), std::mem::take(&mut slice)));
                } else {
                    work.prepared.pool.install(|| self.film.add(half, top, sums));
                }
            }
            FrameTask::Features => self.film.add_features(top, slice.pixels.bytes()),
        }
        self.stats.add(stats);
        self.tasks_left -= 1;
        self.stats.time = if self.tasks == 1 { stats.time } else { self.started.elapsed() };
        (!work.plan.is_whole() && self.sums.is_none()).then_some(slice)
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

    /// Ends a round: begins another one, or makes the picture.
    pub fn close(mut self, work: &RunContext) -> Result<Closed, Error> {
        let scene = Arc::clone(&self.moments[0].scene);
        let host = scene.host();
        let post = work.post.of_frame(self.number);
        let isa = work.prepared.isa;
        let (frame, denoiser) = (self.number, work.denoiser);
        let context = PostContext { scene: &host, isa, frame, denoiser, noisy: None };
        if work.plan.noise > 0.0 {
            let noise = work.prepared.pool.install(|| noise(&self.film, &post.exact(), &context));
            self.stats.noise = Some(noise.map_err(DeviceError::from)?);
        }
        let good_enough = self.stats.noise.is_none_or(|n| n <= work.plan.noise);
        let parts = if good_enough { Vec::new() } else { self.next_round(work) };
        if !parts.is_empty() {
            return Ok(Closed::Open(Box::new(self), parts));
        }
        let taken = self.film.samples();
        let is_linear = taken != [0; 2];
        self.stats.samples =
            if is_linear { taken[0] + taken[1] } else { work.prepared.scene.render.samples_per_pixel() };
        let view = || work.prepared.view(self.number, &self.moments[0].camera);
        let view = (!work.plan.window.is_single()).then(view);
        let mut frame = CompletedFrame {
            index: self.index,
            number: self.number,
            linear: None,
            layers: work.plan.layers.then(|| self.film.layers()).flatten(),
            stats: self.stats,
            picture: self.picture,
        };
        if !is_linear {
            return Ok(Closed::Complete(Box::new(frame), None));
        }
        if post.is_guided() {
            let noisy = work.prepared.pool.install(|| Noisy::of(&self.film, isa));
            let Some(view) = view else {
                return Ok(Closed::Complete(Box::new(denoised(work, &scene, frame, &noisy)?), None));
            };
            let seen = work.prepared.pool.install(|| Seen::new(noisy, view, isa));
            return Ok(Closed::Seen(Box::new(SeenFrame::new(seen, Arc::clone(&scene), Box::new(frame)))));
        }
        let mut image = work.prepared.pool.install(|| match &self.sums {
            Some((part, slice)) => {
                let sums = slice.pixels.sums_and_counts(&part.task).0;
                self.film.resolve_whole(sums, isa)
            }
            None => self.film.resolve(isa),
        });
        let spare = self.sums.take().map(|(_, slice)| slice);
        develop(work, &post, &context, &mut frame, &mut image)?;
        frame.linear = work.plan.keeps_light.then_some(image);
        Ok(Closed::Complete(Box::new(frame), spare))
    }
}

impl Gathered {
    /// Makes the picture of the frame.
    pub fn develop(self, work: &RunContext) -> Result<CompletedFrame, Error> {
        let others = self.others.iter().map(|other| &other.seen);
        let noisy = work.prepared.pool.install(|| self.own.seen.blended(others, work.prepared.isa));
        denoised(work, &self.own.scene, *self.frame, &noisy)
    }
}

// Makes a frame's picture of its noisy light.
fn denoised(
    work: &RunContext,
    scene: &DeviceScene,
    mut frame: CompletedFrame,
    noisy: &Noisy,
) -> Result<CompletedFrame, Error> {
    let (host, post) = (scene.host(), work.post.of_frame(frame.number));
    let (isa, denoiser, noisy) = (work.prepared.isa, work.denoiser, Some(noisy));
    let context = PostContext { scene: &host, isa, frame: frame.number, denoiser, noisy };
    // The first step makes the image.
    let mut image = Image::default();
    develop(work, &post, &context, &mut frame, &mut image)?;
    frame.linear = work.plan.keeps_light.then_some(image);
    Ok(frame)
}

// Makes a frame's picture of its light, which post steps change.
fn develop(
    work: &RunContext,
    post: &PostPipeline,
    context: &PostContext,
    frame: &mut CompletedFrame,
    image: &mut Image<f32>,
) -> Result<(), DeviceError> {
    frame.picture.planes = Memory::default();
    let (width, height) = work.prepared.first.size();
    let rgba = frame.picture.pixels.sized(4 * width as usize * height as usize);
    let rgba = bytemuck::cast_slice_mut(rgba);
    let (layers, is_transparent) = (frame.layers.as_mut(), work.prepared.scene.world.sky.transparent);
    Ok(work.prepared.pool.install(|| post.picture(context, image, layers, is_transparent, rgba))?)
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
