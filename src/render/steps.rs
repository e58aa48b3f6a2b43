//! One frame in steps that the caller executes. A browser needs it: it has no threads, a call must return soon, and
//! each of its workers has its own renderer.

use super::Renderer;
use super::frames::FrameList;
use super::handover::CompletedFrame;
use super::open_frame::{Closed, OpenFrame, RunContext};
use super::plan::{FrameNeeds, FramePart, Plan, Split};
use super::prepared::PreparedScene;
use super::stage::Stage;
use crate::cancel::Cancel;
use crate::device::cpu::Cpu;
use crate::device::{Device, FilmSlice, SampleCounter, TaskOutput, TaskStats};
use crate::error::Error;
use crate::film::image::Image;
use crate::film::post::PostPipeline;
use crate::kernels::TILE_SIDE;
use crate::language::{Message, msg};
use crate::output::PixelFormats;
use std::ops::Range;
use std::sync::Arc;

/// One frame as steps that its owner executes on the CPU, in any order.
///
/// A step renders a band of rows. [`FrameSteps::render`] returns bytes, and [`FrameSteps::add`] takes those of each step,
/// from this process or from another one that has made steps of the same frame. A round ends with
/// [`FrameSteps::finish`]. The picture is that of [`Renderer::still`].
///
/// ```
/// use polyfly::{FrameSteps, RenderOptions, Renderer, Scene};
/// let mut scene = Scene::sample();
/// (scene.render.width, scene.render.height) = (64, 48);
/// let mut renderer = Renderer::with_options(scene, RenderOptions::new().devices(polyfly::Devices::Cpu))?;
/// let mut steps = FrameSteps::new(&renderer, 0)?;
/// let picture = loop {
///     for step in 0..steps.count() {
///         let bytes = steps.render(step)?;
///         steps.add(step, &bytes)?;
///     }
///     if let Some(picture) = steps.finish()? {
///         break picture;
///     }
/// };
/// assert_eq!(picture, renderer.still(0)?);
/// # Ok::<(), polyfly::Error>(())
/// ```
pub struct FrameSteps {
    prepared: PreparedScene,
    frames: FrameList,
    plan: Plan,
    post: Arc<PostPipeline>,
    cpu: Cpu,
    cancel: Cancel,
    meter: SampleCounter,
    stage: Stage,
    // None after the picture is finished.
    open: Option<OpenFrame>,
    parts: Vec<FramePart>,
    added: Vec<bool>,
}

impl FrameSteps {
    /// The steps of a frame.
    ///
    /// # Errors
    /// The clip has no such frame; a file of its time step cannot be read.
    pub fn new(renderer: &Renderer, frame: u32) -> Result<FrameSteps, Error> {
        let frames = FrameList::one(frame);
        renderer.check_frames(&frames)?;
        let (prepared, post) = (renderer.prepared.clone(), Arc::new(renderer.post().exact()));
        let needs = FrameNeeds::of(&prepared.scene, PixelFormats::RGBA8, &post);
        let cpu = renderer.cpu(prepared.isa).with_post(needs.device.post.clone());
        let plan = Plan::new(&prepared.scene, &[cpu.info()], 1, &needs, Split::Tiles, &post);
        let (cancel, meter, stage) = (Cancel::new(), SampleCounter::default(), Stage::new(plan.finish.window));
        let (open, parts, added) = (None, Vec::new(), Vec::new());
        let mut steps = FrameSteps { prepared, frames, plan, post, cpu, cancel, meter, stage, open, parts, added };
        let mut wanted = Some((0, frame));
        let first = steps.stage.next_frame(|| wanted.take());
        steps.open_frame(first.map_or(frame, |(_, number)| number))?;
        Ok(steps)
    }

    fn open_frame(&mut self, number: u32) -> Result<(), Error> {
        let moments = self.prepared.pool.install(|| self.prepared.moments_of(number))?;
        let work = self.context();
        let mut open = OpenFrame::new(&work, (0, number), moments, FilmSlice::default());
        let parts = open.first_round(&work);
        self.begin(open, parts);
        Ok(())
    }

    fn context(&self) -> RunContext<'_> {
        RunContext {
            prepared: &self.prepared,
            plan: &self.plan,
            frames: &self.frames,
            post: &self.post,
            denoiser: None,
            cancel: &self.cancel,
            meter: &self.meter,
            already: &[],
        }
    }

    fn begin(&mut self, open: OpenFrame, parts: Vec<FramePart>) {
        self.added = vec![false; parts.len()];
        (self.open, self.parts) = (Some(open), parts);
    }

    /// The number of steps of this round.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// The rows of the picture that a step renders.
    ///
    /// # Panics
    /// The round has no such step.
    pub fn rows(&self, step: usize) -> Range<u32> {
        self.parts[step].task.rows.clone()
    }

    /// Whether the steps are finished rows of the picture: RGBA, 8 bits per channel. If not, they are what the picture
    /// is made of.
    pub fn are_pixels(&self) -> bool {
        self.plan.tasks.output == TaskOutput::Picture
    }

    fn part(&self, step: usize) -> Result<&FramePart, Error> {
        let missing =
            || Error::usage(msg!("the round has {count} steps, and no step {step}", count = self.parts.len(), step));
        self.parts.get(step).ok_or_else(missing)
    }

    /// Renders a step.
    ///
    /// # Errors
    /// The round has no such step; the picture is finished.
    pub fn render(&mut self, step: usize) -> Result<Vec<u8>, Error> {
        let (part, open) = (self.part(step)?, self.open.as_ref().ok_or_else(finished)?);
        let (moments, task) = (open.moments_of(part).to_vec(), part.task.clone());
        let ticket = self.cpu.submit(&task, &moments, FilmSlice::default())?;
        Ok(self.cpu.wait(ticket)?.1.pixels.bytes().to_vec())
    }

    /// Adds a rendered step. One that is added already changes nothing.
    ///
    /// # Errors
    /// The bytes are those of another picture; the round has no such step; the picture is finished.
    pub fn add(&mut self, step: usize, bytes: &[u8]) -> Result<(), Error> {
        let part = self.part(step)?.clone();
        let expected = part.task.bytes_a_pixel() * part.task.rows.len() * self.prepared.first.size().0 as usize;
        if bytes.len() != expected {
            return Err(Error::usage(msg!(
                "step {step} has {expected} bytes and not {bytes}: it is of another picture",
                step,
                expected,
                bytes = bytes.len()
            )));
        }
        if std::mem::replace(&mut self.added[step], true) {
            return Ok(());
        }
        let mut slice = FilmSlice::default();
        slice.pixels.sized(bytes.len()).copy_from_slice(bytes);
        let mut open = self.open.take().ok_or_else(finished)?;
        if let Some(light) = open.light_of(&self.context(), &part) {
            light.add(&self.context(), &part, &slice);
        }
        open.add(&self.context(), &part, slice, &TaskStats::default());
        self.open = Some(open);
        Ok(())
    }

    /// Ends a round. Returns the picture in RGBA, 8 bits per channel; none if it needs another round, whose steps are
    /// the present ones then.
    ///
    /// # Errors
    /// A step of the round is missing; the picture is finished.
    pub fn finish(&mut self) -> Result<Option<Image<u8>>, Error> {
        if let Some(missing) = self.added.iter().position(|added| !added) {
            return Err(Error::usage(msg!("step {step} is not rendered yet", step = missing)));
        }
        let open = self.open.take().ok_or_else(finished)?;
        match open.close(&self.context())? {
            Closed::Open(open, parts) => self.begin(*open, parts),
            Closed::Lit(frame) => match self.stage.finish(&self.context(), *frame)?.frames.pop() {
                Some(frame) => return Ok(Some(self.picture(&frame))),
                None => self.next_frame()?,
            },
        }
        Ok(None)
    }

    /// Why a frame of this renderer cannot be rendered in tiles, if it cannot.
    pub(crate) fn needs_whole_frames(renderer: &Renderer) -> Option<Message> {
        let has_rounds = renderer.scene().render.sampling.noise_limit() > 0.0;
        if renderer.post().gathers() {
            Some(msg!("bloom, glare, the denoiser or a film that changes reads light of other pixels"))
        } else {
            has_rounds.then(|| msg!("the noise of the whole frame says how many samples it has"))
        }
    }

    /// The picture of the frame, right in these tiles of 16 x 16 pixels alone; little else is traced.
    pub(crate) fn tiles(mut self, tiles: &[(u32, u32)]) -> Result<Image<u8>, Error> {
        // Adaptive samples look at the tiles around.
        let margin = u32::from(self.prepared.scene.render.sampling.is_adaptive());
        let around = |tile: u32| tile.saturating_sub(margin) * TILE_SIDE..(tile + 1 + margin) * TILE_SIDE;
        let parts: Vec<_> = tiles.iter().map(|&(column, row)| (around(column), around(row))).collect();
        self.cpu.trace_only(parts);
        loop {
            for step in 0..self.count() {
                let bytes = self.render(step)?;
                self.add(step, &bytes)?;
            }
            if let Some(picture) = self.finish()? {
                return Ok(picture);
            }
        }
    }

    fn picture(&self, frame: &CompletedFrame) -> Image<u8> {
        let (width, height) = self.prepared.first.size();
        Image::new(width, height, 4, frame.picture.pixels.bytes().to_vec())
    }

    // Goes on with the next frame that the picture is made of.
    fn next_frame(&mut self) -> Result<(), Error> {
        let (_, next) = self.stage.next_frame(|| None).ok_or_else(finished)?;
        self.open_frame(next)
    }

    /// Goes to the steps of the next round without the light of this one, where another process adds it.
    ///
    /// # Errors
    /// The picture is finished.
    pub fn skip_round(&mut self) -> Result<(), Error> {
        let mut open = self.open.take().ok_or_else(finished)?;
        let parts = open.next_round(&self.context());
        if parts.is_empty() && !self.plan.finish.window.is_single() {
            return self.next_frame();
        }
        self.begin(open, parts);
        Ok(())
    }
}

fn finished() -> Error {
    Error::usage(msg!("the picture is finished, and has no more steps"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::RenderOptions;
    use crate::scene::Scene;

    const BODY: &str = "[[body]]\nsolid = \"hexahedron\"\nlamps = 3\nreflection = 0.4\n[[light]]\nposition = [3, 4, 5]\n\
                        [output]\nframes = 10\nsize = [48, 40]\n";

    fn renderer(tables: &str) -> Renderer {
        let scene = Scene::parse(&format!("{tables}{BODY}"), "test", "".as_ref()).unwrap().scene;
        Renderer::prepare(scene, RenderOptions::on_cpu()).unwrap()
    }

    // A frame whose steps two processes share. The second one goes from round to round without its light.
    fn shared(renderer: &Renderer, frame: u32) -> (Image<u8>, usize) {
        let mut both = [FrameSteps::new(renderer, frame).unwrap(), FrameSteps::new(renderer, frame).unwrap()];
        for round in 1.. {
            for step in (0..both[0].count()).rev() {
                let bytes = both[step % 2].render(step).unwrap();
                both[0].add(step, &bytes).unwrap();
                both[0].add(step, &bytes).unwrap();
            }
            if let Some(picture) = both[0].finish().unwrap() {
                return (picture, round);
            }
            both[1].skip_round().unwrap();
            assert_eq!(both[0].parts, both[1].parts);
        }
        unreachable!("the loop ends with a picture")
    }

    #[test]
    fn shared_steps_give_the_picture_of_a_run() {
        let scenes = [
            ("[render]\nsamples = 2\n", 1),
            ("[render]\nintegrator = \"path\"\nsamples = 64\nnoise = 0.01\n", 3),
            ("[render]\nintegrator = \"path\"\nsamples = \"16..32\"\n", 1),
            ("[render]\nsamples = 3\n[camera]\nshutter = 0.5\n", 1),
            ("[sky]\ntransparent = true\n", 1),
            ("[film]\nexposure = \"auto\"\nbloom = 0.3\n", 1),
            // The picture is made of this frame and two on each side.
            ("[film]\ndenoise = \"guided\"\ndenoise_frames = 2\n[render]\nintegrator = \"path\"\nsamples = 4\n", 5),
        ];
        for (tables, rounds) in scenes {
            let mut renderer = renderer(tables);
            let (picture, taken) = shared(&renderer, 4);
            assert_eq!(taken, rounds, "{tables}");
            assert_eq!(picture, renderer.still(4).unwrap(), "{tables}");
        }
    }

    #[test]
    fn tiles_are_those_of_the_whole_picture() {
        let scenes = [
            "[render]\nsamples = 2\n",
            "[render]\nintegrator = \"path\"\nsamples = \"4..16\"\n",
            "[render]\nsamples = 3\n[camera]\nshutter = 0.5\n",
            "[sky]\ntransparent = true\n[film]\nvignette = 0.5\ngrain = 0.2\n",
        ];
        for tables in scenes {
            let mut renderer = renderer(tables);
            assert!(FrameSteps::needs_whole_frames(&renderer).is_none(), "{tables}");
            let picture = renderer.still(4).unwrap();
            for (column, row) in [(0, 0), (1, 1), (2, 2)] {
                let tile = FrameSteps::new(&renderer, 4).unwrap().tiles(&[(column, row)]).unwrap();
                let (xs, ys) = (16 * column..16 * column + 16, 16 * row..(16 * row + 16).min(40));
                assert!(ys.clone().all(|y| xs.clone().all(|x| tile.pixel(x, y) == picture.pixel(x, y))), "{tables}");
                assert!((column, row) != (0, 0) || tile != picture, "{tables}: little else is traced");
            }
        }
        assert!(FrameSteps::needs_whole_frames(&renderer("[film]\nbloom = 0.3\n")).is_some());
    }

    #[test]
    fn a_resized_renderer_is_that_of_the_resized_scene() {
        for tables in ["", "[film]\nexposure = \"auto\"\n", "[render]\nintegrator = \"path\"\nsamples = 30\n"] {
            let large = renderer(tables);
            let mut scene = large.scene().clone();
            (scene.render.width, scene.render.height) = (31, 50);
            scene.render.set_sample_grid(2);
            let expected = Renderer::prepare(scene, RenderOptions::on_cpu()).unwrap().still(3).unwrap();
            assert_eq!(large.resized(31, 50, Some(2)).still(3).unwrap(), expected, "{tables}");
        }
    }

    #[test]
    fn steps_that_do_not_fit_are_refused() {
        let renderer = renderer("");
        let mut steps = FrameSteps::new(&renderer, 0).unwrap();
        assert!(steps.finish().unwrap_err().to_string().contains("step 0"));
        assert!(steps.add(0, &[0; 3]).unwrap_err().to_string().contains("another picture"));
        assert!(FrameSteps::new(&renderer, 10).is_err());
    }
}
