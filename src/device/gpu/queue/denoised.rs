//! Tasks of the denoiser on a GPU: a frame's halves and features, those of its neighbor frames, and the picture of all.

use super::super::api::{Api, DeviceMemory, Stream};
use super::super::denoise::{DenoiseKernels, DenoiseLane};
use super::super::resident::ResidentScene;
use super::super::slots::{BAND_AT, Slot};
use super::{FramePost, Gpu, ResidentMoment};
use crate::device::{DeviceError, FilmSlice, GuidedTask, Moment, Task, TaskOutput};
use crate::gpu_types::{DenoiseFilm, LendingView};
use std::ops::Range;
use std::sync::Arc;

/// A frame that is not kept yet: its number, its place among the kept ones, and its moments.
pub(super) struct Missing<A: Api> {
    frame: u32,
    place: usize,
    pub moments: Vec<ResidentMoment<A>>,
}

/// A picture's frames on the GPU.
pub(super) struct KeptFrames<A: Api> {
    /// Those that are not kept yet.
    pub missing: Vec<Missing<A>>,
    /// The place of the picture's own frame, and its scene.
    pub place: usize,
    pub scene: Arc<ResidentScene<A>>,
    /// How it sees the others.
    pub others: Vec<(usize, LendingView, A::Memory)>,
}

// The kernels and the memory of the denoiser.
type Denoiser<'a, A> = (&'a DenoiseKernels<A>, &'a DenoiseLane<A>);

impl<A: Api> Gpu<A> {
    /// Finds the frames of a picture among the kept ones, and uploads the scenes of those that are missing.
    pub(super) fn find_frames(
        &mut self,
        task: &Task,
        guided: &GuidedTask,
        moments: &[Moment],
    ) -> Result<KeptFrames<A>, DeviceError> {
        let failed = || DeviceError::Failed("the device was not made ready for the denoiser".into());
        let lane = self.memory.lanes.first_mut().and_then(|lane| lane.denoise.as_mut()).ok_or_else(failed)?;
        let places = lane.places(&guided.frames).ok_or_else(failed)?;
        // Each frame's first moment has its view.
        let mut each = moments.chunk_by(|_, next| next.view.is_none());
        let mut missing = Vec::new();
        for (&frame, &(place, is_missing)) in guided.frames.iter().zip(&places) {
            let moments = each.next().unwrap_or_default();
            if is_missing {
                let uploaded = self.upload(moments)?;
                let scene = uploaded.first().map(|moment| Arc::clone(&moment.scene));
                let view = moments.first().and_then(|moment| moment.view.clone());
                if let Some(lane) = self.memory.lanes.first_mut().and_then(|lane| lane.denoise.as_mut()) {
                    (lane.kept[place].scene, lane.kept[place].view) = (scene, view);
                }
                missing.push(Missing { frame, place, moments: uploaded });
            }
        }
        let own = guided.frames.iter().position(|&frame| frame == task.frame).ok_or_else(failed)?;
        let place = places[own].0;
        let lane = self.memory.lanes.first().and_then(|lane| lane.denoise.as_ref()).ok_or_else(failed)?;
        let others = places.iter().map(|(at, _)| *at).filter(|&at| at != place);
        let others = others.map(|at| DenoiseKernels::lending(lane, [place, at], &self.context));
        let scene = lane.kept[place].scene.clone().ok_or_else(failed)?;
        Ok(KeptFrames { missing, place, scene, others: others.collect::<Result<_, _>>()? })
    }

    /// Starts a picture of these frames on a slot. Returns the number of threads that its rays are distributed over.
    pub(super) fn start_denoised(
        &self,
        slot: &Slot<A>,
        (task, guided): (&Task, &GuidedTask),
        frames: &KeptFrames<A>,
        out: &mut FilmSlice,
    ) -> Result<u64, DeviceError> {
        let failed = || DeviceError::Failed("the denoiser needs a whole picture".into());
        let (compute, rows) = (self.stream(), 0..self.scene.size().1);
        let planes = slot.planes.as_ref();
        self.pin(task, out, planes.is_some())?;
        let post: FramePost<A> = self.post_of(task).filter(|_| task.rows == rows).ok_or_else(failed)?;
        let (kernels, (params, glare), lane) = post;
        let denoiser = self.denoiser.as_ref().zip(lane.denoise.as_ref()).ok_or_else(failed)?;
        compute.fill(&slot.counts, 0, BAND_AT + 1, 0)?;
        compute.record(&slot.events[0])?;
        let (mut launches, mut threads) = (0, 0);
        for missing in &frames.missing {
            threads = self.render_light(slot, (task, guided), missing, denoiser, &mut launches)?;
        }
        let KeptFrames { place, scene, others, .. } = frames;
        denoiser.0.clean(compute, denoiser.1, *place, others, &params, &lane.image)?;
        kernels.finish(compute, &scene.arrays, (&params, glare.as_ref()), task.frame, lane, &slot.pixels)?;
        self.leave(task, rows, out, slot, planes)?;
        Ok(threads)
    }

    // Renders a frame to its place. `launches` counts those of the task.
    fn render_light(
        &self,
        slot: &Slot<A>,
        (task, guided): (&Task, &GuidedTask),
        Missing { frame, place, moments }: &Missing<A>,
        (kernels, lane): Denoiser<A>,
        launches: &mut u32,
    ) -> Result<u64, DeviceError> {
        let (width, height) = self.scene.size();
        let (compute, film) = (self.stream(), self.memory.lanes.first());
        let film = film.ok_or_else(|| DeviceError::Failed("post steps have no memory".into()))?;
        let task = Task { frame: *frame, guided: None, ..task.clone() };
        let (output, samples) = (TaskOutput::Features, 0..guided.features);
        let seen = Task { output, samples, adaptive: None, ..task.clone() };
        self.trace_moments(&seen, moments, &(0..height), slot, (&slot.pixels, launches))?;
        kernels.guides(compute, lane, *place, (&slot.pixels, guided.features))?;
        let mut threads = 0;
        for top in (0..height).step_by(self.memory.band as usize) {
            let band = top..(top + self.memory.band).min(height);
            for (half, to) in guided.halves.iter().zip([&film.sums, &lane.second]) {
                let sums = Task { output: TaskOutput::Sums, samples: half.clone(), ..task.clone() };
                threads = self.trace_moments(&sums, moments, &band, slot, (to, launches))?;
            }
            let bytes = TaskOutput::Sums.bytes_a_pixel() * width as usize * band.len();
            let count = |half: Option<&Range<u32>>| half.map_or(0, |half| (half.end - half.start).cast_signed());
            let address = |is_there: bool, memory: &A::Memory, at| if is_there { memory.address(at) } else { 0 };
            let film = DenoiseFilm {
                first: film.sums.address(0) as *const i64,
                second: address(guided.halves.len() > 1, &lane.second, 0) as *const i64,
                taken: address(task.adaptive.is_some(), &film.sums, bytes) as *const u32,
                first_samples: count(guided.halves.first()),
                second_samples: count(guided.halves.get(1)),
            };
            kernels.light(compute, lane, *place, &film, &band)?;
        }
        kernels.keep(compute, lane, *place, guided.halves.len() > 1)?;
        Ok(threads)
    }
}
