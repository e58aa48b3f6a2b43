//! The denoiser on a GPU (kernels/entry/denoise.cuh). Light and guides of a frame and its neighbors stay in its memory.

use super::api::{Api, Context, DeviceMemory, Module, arguments};
use super::functions::kernels;
use super::modules::DENOISE;
use super::pixels::{BLOCK, launch};
use super::resident::ResidentScene;
use crate::device::DeviceError;
use crate::film::post::guided::STEPS;
use crate::film::post::steady::View;
use crate::gpu_types::{BodyMotion, DenoiseFilm, LendingView, PostParams, SeenFrame};
use crate::kernels::denoise::{GUIDES, LIGHT, SAMPLES, SUMS};
use std::ops::Range;
use std::sync::Arc;

kernels! {
    /// The kernels, which are the same for all sizes of pictures.
    pub struct DenoiseKernels of DENOISE, BLOCK.0 * BLOCK.1;
    guides = c"polyfly_denoise_guides",
    light = c"polyfly_denoise_light",
    noise = c"polyfly_denoise_noise",
    smooth_variance = c"polyfly_smooth_variance",
    weigh = c"polyfly_denoise_weigh",
    pass = c"polyfly_denoise",
    luminance = c"polyfly_denoise_luminance",
    look_up = c"polyfly_look_up",
    blend = c"polyfly_blend",
    share = c"polyfly_share",
    clean = c"polyfly_denoise_clean",
}

/// A frame whose light is complete.
pub struct Kept<A: Api> {
    /// The frame's number; None if the memory is free.
    pub number: Option<u32>,
    /// Its camera and bodies, if others see it.
    pub view: Option<Arc<View>>,
    /// Its scene, which the other post steps need.
    pub scene: Option<Arc<ResidentScene<A>>>,
    light: A::Memory,
    guides: A::Memory,
    // The luminance of the filtered light.
    filtered: A::Memory,
}

impl<A: Api> Kept<A> {
    fn seen(&self) -> SeenFrame {
        let [light, guides, filtered] = [&self.light, &self.guides, &self.filtered].map(|m| m.address(0) as *const f32);
        SeenFrame { light, guides, filtered }
    }
}

/// Memory for frames of one size.
pub struct DenoiseLane<A: Api> {
    size: (u32, u32),
    /// The frames that are kept: as many as one is made of.
    pub kept: Vec<Kept<A>>,
    /// Sums of a band, of the second half of the samples.
    pub second: A::Memory,
    // Light between passes, and the sums of a pass's weights.
    between: [A::Memory; 2],
    weighed: A::Memory,
    // Samples of another frame, and sums; none if frames use only their own light.
    blend: Option<[A::Memory; 2]>,
}

impl<A: Api> DenoiseLane<A> {
    /// Memory for frames that are made of `count` frames each, and this many bytes of sums.
    pub fn new(
        size: (u32, u32),
        count: usize,
        sums: usize,
        context: &A::Context,
    ) -> Result<DenoiseLane<A>, DeviceError> {
        let picture = |channels: usize| context.memory(size_of::<f32>() * channels * size.0 as usize * size.1 as usize);
        let kept = || {
            let [light, guides, filtered] = [picture(LIGHT)?, picture(GUIDES)?, picture(1)?];
            Ok(Kept { number: None, view: None, scene: None, light, guides, filtered })
        };
        let blend = || Ok::<_, DeviceError>([picture(SAMPLES)?, picture(SUMS)?]);
        Ok(DenoiseLane {
            size,
            kept: (0..count.max(1)).map(|_| kept()).collect::<Result<_, DeviceError>>()?,
            second: context.memory(sums)?,
            between: [picture(LIGHT)?, picture(LIGHT)?],
            weighed: picture(1)?,
            blend: (count > 1).then(blend).transpose()?,
        })
    }

    /// Forgets all frames: those of another run may have another scene.
    pub fn forget(&mut self) {
        self.kept.iter_mut().for_each(|kept| (kept.number, kept.view, kept.scene) = (None, None, None));
    }

    /// The places of frames in `kept`, and whether each is still to be rendered there. Frames that are not among them give way.
    pub fn places(&mut self, frames: &[u32]) -> Option<Vec<(usize, bool)>> {
        // A frame that nobody else needs is rendered each time.
        if frames.len() == 1 {
            self.forget();
        }
        let place = |&frame: &u32| {
            if let Some(at) = self.kept.iter().position(|kept| kept.number == Some(frame)) {
                return Some((at, false));
            }
            let at = self.kept.iter().position(|kept| kept.number.is_none_or(|number| !frames.contains(&number)))?;
            self.kept[at].number = Some(frame);
            Some((at, true))
        };
        frames.iter().map(place).collect()
    }
}

impl<A: Api> DenoiseKernels<A> {
    /// The guides of a kept frame, from features that are sums over `samples`.
    pub fn guides(
        &self,
        stream: &A::Stream,
        lane: &DenoiseLane<A>,
        place: usize,
        (features, samples): (&A::Memory, u32),
    ) -> Result<(), DeviceError> {
        let (features, guides, (width, height)) = (features.address(0), lane.kept[place].guides.address(0), lane.size);
        launch::<A>(stream, self.guides, lane.size, arguments![features, samples, width, height, guides])
    }

    /// The light of some rows of a kept frame, whose guides are made.
    pub fn light(
        &self,
        stream: &A::Stream,
        lane: &DenoiseLane<A>,
        place: usize,
        film: &DenoiseFilm,
        rows: &Range<u32>,
    ) -> Result<(), DeviceError> {
        let (guides, to) = (lane.kept[place].guides.address(0), lane.between[0].address(0));
        let count = rows.end - rows.start;
        launch::<A>(
            stream,
            self.light,
            (lane.size.0, count),
            arguments![*film, guides, lane.size.0, rows.start, count, to],
        )
    }

    /// Ends a kept frame, whose light is made: measures its noise, and filters it for its neighbors if there are any.
    pub fn keep(
        &self,
        stream: &A::Stream,
        lane: &DenoiseLane<A>,
        place: usize,
        has_halves: bool,
    ) -> Result<(), DeviceError> {
        let (kept, (width, height)) = (&lane.kept[place], lane.size);
        let [mut from, next] = lane.between.each_ref().map(|memory| memory.address(0));
        if !has_halves {
            launch::<A>(stream, self.noise, lane.size, arguments![from, width, height, next])?;
            from = next;
        }
        let (guides, light) = (kept.guides.address(0), kept.light.address(0));
        launch::<A>(stream, self.smooth_variance, lane.size, arguments![from, guides, width, height, light])?;
        if lane.blend.is_some() {
            let (light, filtered) = (self.filter(stream, lane, place, light)?, kept.filtered.address(0));
            launch::<A>(stream, self.luminance, lane.size, arguments![light, width, height, filtered])?;
        }
        Ok(())
    }

    // The address of filtered light.
    fn filter(&self, stream: &A::Stream, lane: &DenoiseLane<A>, place: usize, light: u64) -> Result<u64, DeviceError> {
        let (guides, (width, height)) = (lane.kept[place].guides.address(0), lane.size);
        let mut from = light;
        for (i, step) in STEPS.into_iter().enumerate() {
            let (to, weighed) = (lane.between[i % 2].address(0), lane.weighed.address(0));
            launch::<A>(stream, self.weigh, lane.size, arguments![from, guides, width, height, step, weighed])?;
            launch::<A>(stream, self.pass, lane.size, arguments![from, guides, weighed, width, height, step, to])?;
            from = to;
        }
        Ok(from)
    }

    /// Writes a kept frame without noise to the planes of the post steps. It takes light from its neighbors, in this order, each with how it sees the
    /// frame and the motions of bodies on the device.
    #[expect(clippy::too_many_arguments, reason = "frames, and where they go")]
    pub fn clean(
        &self,
        stream: &A::Stream,
        lane: &DenoiseLane<A>,
        place: usize,
        others: &[(usize, LendingView, A::Memory)],
        params: &PostParams,
        image: &A::Memory,
    ) -> Result<(), DeviceError> {
        let (kept, (width, height)) = (&lane.kept[place], lane.size);
        let mut light = kept.light.address(0);
        if let (Some([samples, sums]), false) = (&lane.blend, others.is_empty()) {
            let (samples, sums, own) = (samples.address(0), sums.address(0), kept.seen());
            for (i, (other, view, motions)) in (0i32..).zip(others) {
                let (other, motions, begins) = (lane.kept[*other].seen(), motions.address(0), i32::from(i == 0));
                launch::<A>(stream, self.look_up, lane.size, arguments![*view, motions, own, other, samples])?;
                launch::<A>(stream, self.blend, lane.size, arguments![samples, light, width, height, begins, sums])?;
            }
            // The first pass writes to the other one.
            light = lane.between[1].address(0);
            launch::<A>(stream, self.share, lane.size, arguments![sums, width, height, light])?;
        }
        let (light, guides) = (self.filter(stream, lane, place, light)?, kept.guides.address(0));
        let image = image.address(0);
        launch::<A>(stream, self.clean, lane.size, arguments![*params, light, guides, width, height, image])
    }

    /// How a kept frame sees another one, with the motions on the device.
    pub fn lending(
        lane: &DenoiseLane<A>,
        [place, other]: [usize; 2],
        context: &A::Context,
    ) -> Result<(usize, LendingView, A::Memory), DeviceError> {
        let views = [place, other].map(|at| lane.kept[at].view.as_ref());
        let [Some(own), Some(others)] = views else {
            return Err(DeviceError::Failed("a neighbor frame has no view".into()));
        };
        let (view, motions): (LendingView, Vec<BodyMotion>) =
            own.lending(others, (lane.size.0 as usize, lane.size.1 as usize));
        Ok((other, view, context.upload(&motions)?))
    }
}
