//! Runs: a scene, outputs and a folder in; frames, a video and a report out.
//!
//! A [`RunRequest`] says what is wanted. A [`RunPlan`] is checked against what exists; until then no file is touched.
//! A [`Run`] has its inputs read and its devices open, and renders. This module acts on files; a [`Progress`] only
//! observes.

pub(crate) mod claim;
pub(crate) mod folder;
pub(crate) mod golden;
pub(crate) mod journal;
pub(crate) mod load;
pub(crate) mod memory_limit;
mod picture_target;
pub(crate) mod plan;
mod replaced;
pub(crate) mod request;
pub(crate) mod sandbox;
mod sinks;
pub(crate) mod stitch;
pub(crate) mod video_choice;
pub(crate) mod video_options;

use crate::cancel::Cancel;
use crate::device::SampleCounter;
use crate::error::Error;
use crate::language::{Message, msg};
use crate::output::files::{FileSink, OneFrameSink, Witness};
use crate::output::formats::{Format, FormatOptions};
use crate::output::stream::StreamSink;
use crate::output::video::{Finished, Video, VideoSink};
use crate::output::{OutputError, RunInfo, Sink};
use crate::render::Renderer;
use crate::render::stats::{FrameReport, Progress, RunReport};
use crate::threads::lock;
use claim::Claim;
use journal::{Journal, Ledger};
pub use plan::RunPlan;
pub use request::{Existing, RunRequest, Shard};
use std::sync::Arc;

impl RunPlan {
    /// Opens the stream and reads the files that the scene names. `progress` receives remarks.
    ///
    /// # Errors
    /// An output format does not support a requested option; a file is missing or broken; there is no such device.
    pub fn open(self, progress: &mut dyn Progress) -> Result<Run, Error> {
        let ledger = Arc::default();
        let sinks = sinks(&self, &ledger, progress)?;
        if self.done() > 0 {
            progress.remark(&msg!(
                "{done} of {total} frames exist and are complete",
                done = self.done(),
                total = self.part.len()
            ));
        }
        match self.rerender() {
            0 => {}
            count => progress.remark(&msg!(
                "{count} existing frames are rendered again: their files lose information that the video needs",
                count
            )),
        }
        if let Some(video) = &self.existing_video {
            progress.remark(&msg!("{path} already exists, with all of these frames", path = video.display()));
        }
        let prepare = || {
            let mut renderer = Renderer::prepare(self.request.scene.clone(), self.request.options.clone())?;
            renderer.set_cancel(self.request.cancel.clone());
            Ok::<_, Error>(renderer)
        };
        let renderer = self.to_render.is_some().then(prepare).transpose()?;
        if let Some(why) = renderer.as_ref().and_then(Renderer::fell_back) {
            progress.remark(&msg!("{why}; rendering on the CPU", why = why));
        }
        if let Some(why) = renderer.as_ref().and_then(Renderer::lost_legend) {
            progress.remark(&why);
        }
        Ok(Run { plan: self, sinks, renderer, ledger })
    }

    /// Opens the run and renders it.
    ///
    /// # Errors
    /// Those of [`RunPlan::open`] and [`Run::render`].
    pub fn run(self, progress: &mut dyn Progress) -> Result<RunReport, Error> {
        self.open(progress)?.render(progress)
    }
}

/// A run whose files are read and whose devices are open.
pub struct Run {
    plan: RunPlan,
    sinks: Vec<Box<dyn Sink>>,
    // None if no frame is left to render.
    renderer: Option<Renderer>,
    ledger: Arc<Ledger>,
}

impl Run {
    /// The plan of this run.
    pub fn plan(&self) -> &RunPlan {
        &self.plan
    }
    /// A handle that ends the run early from another thread.
    pub fn cancel(&self) -> Cancel {
        self.plan.request.cancel.clone()
    }
    /// The samples traced so far, and the samples of one frame. None if no frame is left to render.
    pub(crate) fn counter(&self) -> Option<(Arc<SampleCounter>, u64)> {
        self.renderer.as_ref().map(Renderer::counter)
    }

    /// Renders the missing frames and makes the video. Finished files stay, even if the run fails.
    ///
    /// # Errors
    /// The first failure of a device, a file or the video; or the run was canceled.
    pub fn render(self, progress: &mut dyn Progress) -> Result<RunReport, Error> {
        let Run { plan, sinks, renderer, ledger } = self;
        let cancel = plan.request.cancel.clone();
        let result = match renderer {
            Some(renderer) => render(plan, (renderer, sinks), &ledger, progress),
            None => finish(plan, progress),
        };
        cancel.set_complete(result.is_ok());
        result
    }
}

// All frames exist: only the video is made.
fn finish(plan: RunPlan, progress: &mut dyn Progress) -> Result<RunReport, Error> {
    if let Some(claim) = &plan.claim {
        claim.clean_up(progress);
        claim.refresh()?;
    }
    let mut report = RunReport { skipped: plan.done(), ..RunReport::default() };
    match plan.video {
        Some(job) if job.part.is_none() => {
            report.files = vec![job.settings.path.clone()];
            stitch::make(job, plan.request.memory_limit, progress)?;
        }
        // A shard encodes the segments that do not exist yet.
        Some(job) if !job.is_made() => {
            if let Finished::Beginning(path) = Video::open(job)?.finish(false)? {
                return Err(OutputError::VideoInterrupted(path).into());
            }
        }
        _ => {}
    }
    Ok(report)
}

fn render(
    plan: RunPlan,
    (mut renderer, sinks): (Renderer, Vec<Box<dyn Sink>>),
    ledger: &Ledger,
    progress: &mut dyn Progress,
) -> Result<RunReport, Error> {
    let done = plan.done();
    let RunPlan { mut claim, folder: frame_folder, to_render, video, request: RunRequest { cancel, name, .. }, .. } =
        plan;
    let Some(frames) = to_render else { return Ok(RunReport::default()) };
    let open = renderer.open(&frames, sinks, progress)?;
    // Outputs are open, and no frame is rendered yet.
    if let Some(claim) = &mut claim
        && let Err(e) = claim.begin(progress)
    {
        open.abort();
        return Err(e);
    }
    let folder = claim.as_ref().and_then(Claim::journal);
    let mut journal = folder.and_then(|folder| Journal::open(&folder, open.renderer.threads()));
    if let (Some(journal), Some(claim)) = (&mut journal, &claim) {
        journal.begin(&claim.clip(), Some((&name, &frames)), video.as_ref());
    }
    journal.into_iter().for_each(|journal| drop(ledger.journal.set(journal)));
    let mut observers = Observers { journal: ledger.journal.get(), progress, frames: 0 };
    let result = open.render(&mut observers);
    let rendered = observers.frames;
    if let Some(claim) = &mut claim {
        // An error of the run itself takes precedence over one of its folder.
        let ended = claim.end(&lock(&ledger.hashes));
        if let Some((folder, count)) = replaced::left(&frame_folder) {
            progress.remark(&msg!(
                "earlier frames that are not replaced: {count}; they are in {folder}",
                count,
                folder = folder.display(),
            ));
        }
        if result.is_ok()
            && let Some(lost) = ended?
        {
            return Err(Error::Incomplete(msg!(
                "frames {frames} were deleted or damaged during the run: --resume renders them again",
                frames = lost
            )));
        }
    }
    result.map_err(|e| match e {
        Error::Interrupted { done: rendered, total } => {
            Error::Interrupted { done: rendered + done, total: total + done }
        }
        // Ctrl-C stops ffmpeg too, so its failure means that the run was canceled.
        Error::Output(OutputError::Encoder { what, .. }) if cancel.is_stopped() => {
            progress.remark(&what);
            Error::Interrupted { done: rendered + done, total: frames.len() + done }
        }
        other => other,
    })
}

// Forwards progress to the journal and to the caller's observer.
struct Observers<'a> {
    journal: Option<&'a Journal>,
    progress: &'a mut dyn Progress,
    // The number of finished frames.
    frames: usize,
}

impl Progress for Observers<'_> {
    fn start(&mut self, run: &RunInfo, devices: &[String], threads: usize) {
        self.progress.start(run, devices, threads);
    }
    fn frame(&mut self, report: &FrameReport) {
        self.progress.frame(report);
        self.frames += 1;
        if let Some(journal) = self.journal {
            journal.frame(report);
        }
    }
    fn remark(&mut self, text: &Message) {
        self.progress.remark(text);
    }
    fn end(&mut self, run: &RunReport) {
        if let Some(journal) = self.journal {
            journal.end(run);
        }
        self.progress.end(run);
    }
}

// The sinks of a run. They are opened later.
fn sinks(plan: &RunPlan, ledger: &Arc<Ledger>, progress: &mut dyn Progress) -> Result<Vec<Box<dyn Sink>>, Error> {
    let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
    match (plan.picture_format()?, plan.stream()) {
        (Some((format, options)), Some((stream, open))) => {
            sinks.push(Box::new(StreamSink { stream: stream.clone(), format, options, to: open(stream)? }));
        }
        (Some((_, options)), None) => {
            let is_shared = plan.claim.as_ref().is_some_and(Claim::is_shared);
            let files = FileSink::new(plan.folder.clone(), options, is_shared);
            // Only a manifest keeps hashes.
            let ledger = plan.claim.as_ref().and_then(Claim::journal).map(|_| Arc::clone(ledger));
            let witnessed = ledger.map(|ledger| -> Witness { Arc::new(move |n, hash| ledger.witness(n, hash)) });
            sinks.push(Box::new(match witnessed {
                Some(witness) => files.witnessed(witness),
                None => files,
            }));
        }
        (None, _) => {}
    }
    if plan.request.scene.world.sky.transparent {
        plan.lost_alpha().iter().for_each(|remark| progress.remark(remark));
    }
    if let Some(job) = &plan.video {
        let settings = &job.settings;
        if settings.is_embedded {
            progress.remark(&stitch::without_ffmpeg());
        }
        let ((width, height), (wide, tall)) = (job.size, job.sides());
        if (wide, tall) != (width, height) {
            progress.remark(&msg!(
                "video needs even sides: {width} x {height} is padded to {wide} x {tall}",
                width,
                height,
                wide,
                tall
            ));
        }
        if !settings.is_single() && settings.codec.is_hardware {
            let (name, path) = (settings.codec.name, settings.path.display());
            progress.remark(&msg!(
                "{path}: {name} is a hardware encoder: the video's bytes depend on the machine, the frames do not",
                path,
                name
            ));
        }
        let poster = plan.request.scene.output.poster;
        let poster = poster.filter(|&n| plan.to_render.as_ref().is_some_and(|frames| frames.iter().any(|m| m == n)));
        if let (Some(number), Some(format)) = (poster, Format::of("jpg")) {
            let options = format.options(None, plan.request.scene.film.tone).map_err(|e| Error::usage(e.to_owned()))?;
            let options = FormatOptions { origin: Some(Arc::clone(&plan.origin)), ..options };
            let path = settings.path.with_extension("poster.jpg");
            sinks.push(Box::new(OneFrameSink { path, number, format, options }));
        }
        sinks.push(Box::new(VideoSink::of_job(job.clone())));
    }
    Ok(sinks)
}
