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
use crate::device_scene::{DeviceScene, HostScene};
use crate::error::Error;
use crate::film::Film;
use crate::film::image::Image;
use crate::film::post::denoise::{Denoiser, DenoiserError};
use crate::film::post::guided::Noisy;
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
    // Tasks add to it while others are scheduled.
    film: Arc<Mutex<Film>>,
    // The result of a frame that has only one task.
    sums: Option<(FramePart, FilmSlice)>,
    tasks_left: usize,
    tasks: usize,
    stats: FrameStats,
    started: Instant,
    // The light that a GPU makes the picture of.
    lit: Option<Lit>,
    // Whether `picture` is finished.
    is_developed: bool,
}

struct Lit {
    own: Arc<SeenFrame>,
    others: Vec<Arc<SeenFrame>>,
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
            film: Arc::new(Mutex::new(Film::new(width, height))),
            sums: None,
            tasks_left: 0,
            tasks: 0,
            stats: FrameStats::default(),
            started: Instant::now(),
            lit: None,
            is_developed: false,
        }
    }

    /// The parts of the first round.
    pub fn first_round(&mut self, work: &RunContext) -> Vec<FramePart> {
        let mut parts = self.next_round(work);
        if let Some(samples) = work.plan.feature_samples() {
            lock(&self.film).expect_features(samples);
            parts.extend(self.begun(work.plan.parts(self.number, FrameTask::Features, &(0..samples))));
        }
        parts
    }

    /// The parts of the next round; none if all samples are taken.
    pub fn next_round(&mut self, work: &RunContext) -> Vec<FramePart> {
        let mut parts = Vec::new();
        let taken = lock(&self.film).samples();
        for (kind, samples) in work.plan.round(taken) {
            if let FrameTask::Half(half) = kind {
                lock(&self.film).expect(half, samples.end - samples.start);
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
        // Layers are those of the first moment.
        if part.kind == FrameTask::Features { &self.moments[..1] } else { &self.moments }
    }

    /// Where the light of a part is to be added before [`OpenFrame::add`]; none if that takes the result itself.
    pub fn light_of(&self, work: &RunContext, part: &FramePart) -> Option<Light> {
        let is_alone = self.tasks == 1 && work.plan.noise == 0.0 && !work.plan.develops;
        match part.kind {
            FrameTask::Picture | FrameTask::Developed => None,
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
            FrameTask::Picture if !work.plan.is_whole() => {
                self.put_rows(part.task.rows.start, slice.pixels.bytes());
                return Some(slice);
            }
            FrameTask::Picture | FrameTask::Developed => (self.picture, self.is_developed) = (slice, true),
            FrameTask::Half(_) | FrameTask::Features => {
                if part.task.leaves_counts() {
                    lock(&self.film).add_counts(0, slice.pixels.sums_and_counts(&part.task).1);
                }
                self.sums = Some((part.clone(), slice));
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

    /// Ends a round: begins another one, or makes the picture. With `develops`, a GPU makes it of the light.
    pub fn close(mut self, work: &RunContext, develops: bool) -> Result<Closed, Error> {
        if work.plan.noise > 0.0 {
            let (scene, film) = (self.moments[0].scene.host_for_film(), lock(&self.film));
            let context = post_context(work, &scene, self.number, None);
            let post = work.post.of_frame(self.number).exact();
            let noise = work.prepared.pool.install(|| noise(&film, &post, &context));
            self.stats.noise = Some(noise.map_err(DeviceError::from)?);
        }
        let good_enough = self.stats.noise.is_none_or(|n| n <= work.plan.noise);
        let parts = if good_enough { Vec::new() } else { self.next_round(work) };
        if !parts.is_empty() {
            return Ok(Closed::Open(Box::new(self), parts));
        }
        let film = std::mem::replace(&mut *lock(&self.film), Film::new(0, 0));
        let taken = film.samples();
        let is_linear = taken != [0; 2];
        if is_linear {
            self.stats.samples = taken[0] + taken[1];
        } else if self.stats.samples == 0 {
            self.stats.samples = work.prepared.scene.render.samples_per_pixel();
        }
        let Moment { scene, camera, .. } = self.moments.swap_remove(0);
        let view = (!work.plan.window.is_single()).then(|| Arc::new(work.prepared.view(self.number, &camera)));
        let frame = CompletedFrame {
            index: self.index,
            number: self.number,
            linear: None,
            layers: work.plan.layers.then(|| film.layers()).flatten(),
            stats: self.stats,
            picture: self.picture,
        };
        if let Some(Lit { own, others }) = self.lit.filter(|_| !self.is_developed) {
            // No GPU is left to make the picture.
            return Gathered { frame: Box::new(frame), own, others }.develop(work, false);
        }
        if !is_linear {
            return Ok(Closed::Complete(Box::new(frame), None));
        }
        let moment = Moment { view, ..Moment::new(scene, camera) };
        match (&moment.view, develops) {
            (None, true) => {
                let own = Arc::new(SeenFrame::new(self.number, moment, Arc::new(film), None));
                Gathered { frame: Box::new(frame), own, others: Vec::new() }.develop(work, true)
            }
            (Some(_), _) => {
                let mut seen = SeenFrame::new(self.number, moment, Arc::new(film), Some(Box::new(frame)));
                if !develops {
                    seen.on_host = work.prepared.pool.install(|| seen.for_host(work.prepared.isa));
                    seen.moment.light = None;
                }
                Ok(Closed::Seen(Box::new(seen)))
            }
            (None, false) => {
                let frame = developed(work, &moment.scene, frame, &film, self.sums.as_ref())?;
                Ok(Closed::Complete(Box::new(frame), self.sums.take().map(|(_, slice)| slice)))
            }
        }
    }

    // A frame whose picture a GPU makes of light.
    fn of_gathered(work: &RunContext, gathered: Gathered) -> (OpenFrame, Vec<FramePart>) {
        let Gathered { frame, own, others } = gathered;
        let CompletedFrame { index, number, picture, stats, .. } = *frame;
        let find = |n: u32| others.iter().chain([&own]).find(|seen| seen.number == n);
        let moments = work.plan.window.around(number).into_iter().filter_map(find).map(|seen| seen.moment.clone());
        let mut open = OpenFrame::new(work, (index, number), moments.collect(), picture);
        // The time of its tasks so far counts too.
        open.started = open.started.checked_sub(stats.time).unwrap_or(open.started);
        (open.stats, open.tasks, open.lit) = (stats, 1, Some(Lit { own, others }));
        let parts = open.begun(work.plan.development(number));
        (open, parts)
    }
}

impl Gathered {
    /// Makes the picture of the frame. With `develops`, a GPU makes it of the light of all.
    pub fn develop(self, work: &RunContext, develops: bool) -> Result<Closed, Error> {
        if develops {
            let (open, parts) = OpenFrame::of_gathered(work, self);
            return Ok(Closed::Open(Box::new(open), parts));
        }
        let (isa, scene) = (work.prepared.isa, Arc::clone(&self.own.moment.scene));
        let frame = match &self.own.moment.light {
            Some(film) if self.others.is_empty() => developed(work, &scene, *self.frame, film, None)?,
            _ => {
                let noisy = work.prepared.pool.install(|| {
                    // Frames whose light was gathered for a GPU that is lost.
                    let all = || [&self.own].into_iter().chain(&self.others);
                    let late: Vec<_> = all().map(|seen| seen.for_host(isa)).collect();
                    let mut seen = all().zip(&late).filter_map(|(seen, late)| late.as_ref().or(seen.on_host.as_ref()));
                    seen.next().map(|own| own.blended(seen, isa))
                });
                let lost = || DeviceError::Failed("the light of a frame is lost".into());
                denoised(work, &scene, *self.frame, &noisy.ok_or_else(lost)?)?
            }
        };
        Ok(Closed::Complete(Box::new(frame), None))
    }
}

// What post steps are told of a frame.
fn post_context<'a>(
    work: &RunContext<'a>,
    scene: &'a HostScene<'a>,
    frame: u32,
    noisy: Option<&'a Noisy>,
) -> PostContext<'a> {
    PostContext { scene, isa: work.prepared.isa, frame, denoiser: work.denoiser, noisy }
}

// Makes a frame's picture of its own light. The sums of a frame that had one task lie outside the film.
fn developed(
    work: &RunContext,
    scene: &DeviceScene,
    mut frame: CompletedFrame,
    film: &Film,
    sums: Option<&(FramePart, FilmSlice)>,
) -> Result<CompletedFrame, Error> {
    let (host, post, isa) = (scene.host_for_film(), work.post.of_frame(frame.number), work.prepared.isa);
    if post.is_guided() {
        let noisy = work.prepared.pool.install(|| Noisy::of(film, isa));
        return denoised(work, scene, frame, &noisy);
    }
    let mut image = work.prepared.pool.install(|| match sums {
        Some((part, slice)) => film.resolve_whole(slice.pixels.sums_and_counts(&part.task).0, isa),
        None => film.resolve(isa),
    });
    let context = post_context(work, &host, frame.number, None);
    develop(work, &post, &context, &mut frame, &mut image)?;
    frame.linear = work.plan.keeps_light.then_some(image);
    Ok(frame)
}

// Makes a frame's picture of its noisy light.
fn denoised(
    work: &RunContext,
    scene: &DeviceScene,
    mut frame: CompletedFrame,
    noisy: &Noisy,
) -> Result<CompletedFrame, Error> {
    let (host, post) = (scene.host_for_film(), work.post.of_frame(frame.number));
    let context = post_context(work, &host, frame.number, Some(noisy));
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
