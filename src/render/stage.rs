//! The stage between the scheduler and the sinks: light becomes pictures. It runs post steps on the host. Where frames use the light of the
//! frames around them, it says which frames are rendered for that, and keeps the latest of them.

use super::handover::{CompletedFrame, FrameLight, LitFrame};
use super::neighbors::{CompleteWindow, Ring, RingFrame, Window};
use super::open_frame::RunContext;
use crate::device::{DeviceError, FilmSlice, Memory};
use crate::device_scene::DeviceScene;
use crate::error::Error;
use crate::film::image::Image;
use crate::film::post::PostContext;
use crate::film::post::guided::Noisy;
use crate::film::post::steady::Seen;
use crate::threads::lock;
use std::sync::{Arc, Mutex};

/// Frames with their pictures, and memory that is not needed any more.
#[derive(Default)]
pub struct Finished {
    pub frames: Vec<CompletedFrame>,
    /// Of pictures, and of tasks.
    pub pictures: Vec<FilmSlice>,
    pub spare: Option<FilmSlice>,
}

/// The stage of a run.
pub struct Stage {
    // The frames whose light is kept for others.
    ring: Option<Mutex<Ring>>,
}

impl Stage {
    /// A stage that makes each picture of the light of these frames.
    pub fn new(window: Window) -> Stage {
        Stage { ring: (!window.is_single()).then(|| Mutex::new(Ring::new(window))) }
    }

    /// The next frame to render, with its position among the rendered ones. `wanted` gives those whose pictures are wanted.
    pub fn next_frame(&self, mut wanted: impl FnMut() -> Option<(usize, u32)>) -> Option<(usize, u32)> {
        match &self.ring {
            Some(ring) => lock(ring).next(wanted),
            None => wanted(),
        }
    }

    /// Takes a frame. Makes the pictures that it completes.
    pub fn finish(&self, work: &RunContext, LitFrame { mut frame, light }: LitFrame) -> Result<Finished, Error> {
        let Some(light) = light else { return Ok(Finished { frames: vec![frame], ..Finished::default() }) };
        let (isa, pool) = (work.prepared.isa, &work.prepared.pool);
        let Some(ring) = &self.ring else {
            let source = pool.install(|| source(&light, work));
            make_picture(work, &light.scene, &mut frame, source)?;
            let spare = light.sums.map(|(_, slice)| slice);
            return Ok(Finished { frames: vec![frame], spare, ..Finished::default() });
        };
        let view = Arc::new(work.prepared.view(frame.number, &light.camera));
        let seen = pool.install(|| Seen::new(Noisy::of(&light.film, isa), view, isa));
        let (complete, pictures) = lock(ring).add(RingFrame::new(frame, light.scene, seen));
        let frames = complete.into_iter().map(|CompleteWindow { mut frame, own, others }| {
            let noisy = pool.install(|| own.seen.blended(others.iter().map(|other| &other.seen), isa));
            make_picture(work, &own.scene, &mut frame, (Image::default(), Some(noisy)))?;
            Ok(frame)
        });
        Ok(Finished { frames: frames.collect::<Result<_, Error>>()?, pictures, spare: None })
    }
}

// What post steps make the picture of: an image, or what the built-in denoiser, which is the first step, makes the image of.
type Source = (Image<f32>, Option<Noisy>);

fn source(light: &FrameLight, work: &RunContext) -> Source {
    let (film, isa) = (&light.film, work.prepared.isa);
    match &light.sums {
        _ if work.post.is_guided() => (Image::default(), Some(Noisy::of(film, isa))),
        Some((task, slice)) => (film.resolve_whole(slice.pixels.sums_and_counts(task).0, isa), None),
        None => (film.resolve(isa), None),
    }
}

// Runs the post steps of a frame.
fn make_picture(
    work: &RunContext,
    scene: &DeviceScene,
    frame: &mut CompletedFrame,
    (mut image, noisy): Source,
) -> Result<(), Error> {
    let (host, post) = (scene.host_for_film(), work.post.of_frame(frame.number));
    let (isa, noisy) = (work.prepared.isa, noisy.as_ref());
    let context = PostContext { scene: &host, isa, frame: frame.number, denoiser: work.denoiser, noisy };
    frame.picture.planes = Memory::default();
    let (width, height) = work.prepared.first.size();
    let rgba = bytemuck::cast_slice_mut(frame.picture.pixels.sized(4 * width as usize * height as usize));
    let (layers, is_transparent) = (frame.layers.as_mut(), work.prepared.scene.world.sky.transparent);
    let made = work.prepared.pool.install(|| post.picture(&context, &mut image, layers, is_transparent, rgba));
    made.map_err(DeviceError::from)?;
    frame.linear = work.plan.finish.keeps_light.then_some(image);
    Ok(())
}
