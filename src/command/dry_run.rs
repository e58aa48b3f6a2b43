//! `--dry-run`: lists the files that a run would make and estimates its time, memory and disk space from a few trial
//! frames. Slow frames are rendered in a smaller size, and the results are scaled up. All files are temporary.

use super::measured::Measured;
use crate::device::DeviceError;
use crate::error::Error;
use crate::output::formats::{Format, FormatOptions};
use crate::output::video::arguments::command_line;
use crate::output::video::job::VideoJob;
use crate::output::video::{Settings, Video, segments};
use crate::output::{OutputError, PixelFormats, RenderedFrame, Sink};
use crate::render::Renderer;
use crate::render::frames::FrameList;
use crate::render::stats::ms;
use crate::report::size;
use crate::run::RunPlan;
use crate::run::memory_limit::needs_of;
use crate::threads::{self, lock};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

// Pixels of small trial frames, each after those before it were fast enough. Larger frames than LARGEST are always tried small:
// they would take long to encode too. The time for rendering all frames of a size, which a busy machine may exceed, and the maximum of
// all trials together: pixels of some scenes take for ever.
const SMALL: [u64; 4] = [1 << 8, 1 << 11, 1 << 14, 1 << 17];
const LARGEST: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5);
const TRIES: usize = 3;

#[derive(Default)]
struct Tried {
    bytes: u64,
    write: Duration,
    planes: BTreeMap<u32, Vec<u8>>,
}

// Encodes pictures into memory, and keeps the planes for a video.
struct Trial {
    format: Option<(&'static Format, FormatOptions)>,
    video: Option<Settings>,
    tried: Arc<Mutex<Tried>>,
}

impl Sink for Trial {
    fn needs(&self) -> PixelFormats {
        needs_of(self.format.as_ref(), self.video.as_ref())
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        let start = Instant::now();
        let file = self.format.as_ref().map(|(format, options)| (format.encode)(frame, options));
        let file = file.transpose().map_err(|e| OutputError::Write("a trial frame".into(), e))?.unwrap_or_default();
        let mut tried = lock(&self.tried);
        tried.bytes += file.len() as u64;
        tried.write += start.elapsed();
        if let Some(settings) = &self.video {
            tried.planes.insert(frame.number, settings.planes(frame)?.into_owned());
        }
        Ok(())
    }
}

// The size of trial frames of so many pixels, with even sides for video; None if frames are not larger than that.
fn small_size((width, height): (u32, u32), small: u64) -> Option<(u32, u32)> {
    let pixels = u64::from(width) * u64::from(height);
    let shrink = libm::sqrt(small as f64 / pixels as f64);
    let side = |side: u32| (((f64::from(side) * shrink) as u32) & !1).max(2).min(side);
    (pixels > 2 * small).then(|| (side(width), side(height)))
}

fn ratio(of: (u32, u32), to: (u32, u32)) -> f64 {
    f64::from(of.0) * f64::from(of.1) / (f64::from(to.0) * f64::from(to.1))
}

// The sizes in which frames are tried, from small to large.
fn trial_sizes(size: (u32, u32)) -> Vec<(u32, u32)> {
    let own = (ratio(size, (1, 1)) <= LARGEST as f64).then_some(size);
    SMALL.into_iter().filter_map(|small| small_size(size, small)).chain(own).collect()
}

// Runs a job on its own thread until `end`. None if it takes longer: it goes on then, and ends with the program.
fn until<T: Send + 'static>(end: Instant, job: impl FnOnce() -> T + Send + 'static) -> Result<Option<T>, Error> {
    let (give, taken) = mpsc::channel();
    threads::spawn("trial", move || drop(give.send(job()))).map_err(DeviceError::from)?;
    Ok(taken.recv_timeout(end.saturating_duration_since(Instant::now())).ok())
}

// A renderer of trial frames, if they end in time, and their size: the largest that does not take long.
fn trial_renderer(
    renderer: Renderer,
    frames: &FrameList,
    needs: PixelFormats,
    end: Instant,
) -> Result<(Option<Renderer>, (u32, u32)), Error> {
    let render = &renderer.scene().render;
    let size = (render.width, render.height);
    let mut sizes = trial_sizes(size).into_iter().peekable();
    while let Some(small) = sizes.next().filter(|&small| small != size) {
        let mut tried = renderer.varied(|scene| {
            (scene.render.width, scene.render.height) = small;
            // In a run, a frame is rendered once for all that need it.
            scene.film.denoise_frames = 0;
        });
        let Some(&next) = sizes.peek() else { return Ok((Some(tried), small)) };
        let first = FrameList::one(frames.nth(0).unwrap_or_default());
        let times = move || {
            // The shortest of some times: the first frame starts the threads, and a busy machine interrupts them.
            let mut each = Duration::MAX;
            for _ in 0..TRIES {
                let mut measured = Measured::default();
                tried.capture(&first, needs, &mut measured)?;
                each = each.min(measured.time());
            }
            Ok::<_, Error>((tried, each))
        };
        let Some(timed) = until(end, times)? else { return Ok((None, small)) };
        let (tried, each) = timed?;
        let each = each.mul_f64(ratio(next, small));
        if each * frames.len() as u32 > PATIENCE {
            return Ok((Some(tried), small));
        }
    }
    Ok((Some(renderer), size))
}

/// Describes a run. A request to stop ends the trial as it ends a run, so that its temporary files are removed.
pub fn describe(plan: RunPlan) -> Result<String, Error> {
    let (cancel, total) = (plan.request.cancel.clone(), plan.part.len());
    let described = match &plan.to_render {
        Some(left) => of_frames(&plan, left),
        None => of_existing(&plan),
    };
    match cancel.is_stopped() {
        true => Err(Error::Interrupted { done: 0, total }),
        false => described,
    }
}

// A run whose frames all exist.
fn of_existing(plan: &RunPlan) -> Result<String, Error> {
    let there = format!("all {} frames exist and are complete", plan.done());
    let mut left = plan.video.clone().filter(|job| !job.is_made());
    let mut what = "the film";
    if let Some(job) = left.as_mut().filter(|job| job.part.is_some()) {
        (job.frames, job.part) = (segments::left(job)?, None);
        what = "this shard's part of the film";
    }
    let Some(job) = left.as_ref().filter(|job| !job.frames.is_empty()) else {
        return Ok(format!("{there}: nothing is left to render\n"));
    };
    let some = job.frames.iter().skip(job.frames.len() / 4).take(2);
    let planes = some.map(|&number| Ok((number, job.planes(number)?))).collect::<Result<_, OutputError>>()?;
    let (film, encoding, closing) = film_text(job, (job.size, 1.0), &planes)?;
    let time = clock_text(encoding + closing);
    Ok(format!("{there}: {what} is left to make\ntime: about {time}\n{film}nothing was written\n"))
}

// A run that renders frames.
fn of_frames(plan: &RunPlan, left: &FrameList) -> Result<String, Error> {
    let size_of_run @ (width, height) = (plan.request.scene.render.width, plan.request.scene.render.height);
    let there = if plan.done() == 0 { String::new() } else { format!("; {} exist and are complete", plan.done()) };
    let mut text = format!("frames: {left} ({} of {width} x {height}{there})\n", left.len());
    let format = plan.picture_format()?;
    let is_files = format.is_some() && plan.stream().is_none();
    let start = Instant::now();
    let mut renderer = Renderer::prepare(plan.request.scene.clone(), plan.request.options.clone())?;
    renderer.set_cancel(plan.request.cancel.clone());
    let ready = start.elapsed().as_secs_f64();
    let tried = Arc::default();
    let video = plan.video.as_ref().map(|job| job.settings.clone());
    let trial = Trial { format, video, tried: Arc::clone(&tried) };
    // Frames from the first and the last quarter, each with its successor, because a video's size depends on changes
    // between neighbors.
    let (one, other) = (left.len() / 4, left.len() * 3 / 4);
    let next = if plan.video.is_some() { one + 1 } else { one };
    let list = left.at([one, next, other]);
    let (end, devices) = (Instant::now() + LONGEST, renderer.device_names().join(", "));
    let (renderer, trial_size) = trial_renderer(renderer, &list, trial.needs(), end)?;
    let scale = ratio(size_of_run, trial_size);
    let numbers = list.clone();
    let measured = renderer.map(|mut renderer| {
        until(end, move || {
            let mut measured = Measured::default();
            renderer.run(&numbers, vec![Box::new(trial)], &mut measured).map(|_| measured)
        })
    });
    let Some(measured) = measured.transpose()?.flatten() else {
        let (width, height) = trial_size;
        let all = clock_text(LONGEST.as_secs_f64() * scale * left.len() as f64 / list.len() as f64);
        text += &format!(
            "device: {devices}\ntrial frames: {list}, in {width} x {height}, did not end in {} s\n",
            LONGEST.as_secs()
        );
        return Ok(text
            + &format!(
                "time: more than {all}\nmemory: at most {} for pictures\nnothing was written\n",
                size(plan.memory)
            ));
    };
    let measured = measured?;
    let tried = std::mem::take(&mut *lock(&tried));
    let count = measured.frames.len().max(1) as u32;
    let all = |each: Duration| each.as_secs_f64() * left.len() as f64;
    let (render, write) = ((measured.time() / count).mul_f64(scale), (tried.write / count).mul_f64(scale));
    let small = match trial_size {
        size if size == size_of_run => String::new(),
        (width, height) => format!("tried in {width} x {height} and scaled up: "),
    };
    text += &format!("device: {}\n", measured.devices.join(", "));
    text += &format!("trial frames: {list}, {small}{:.1} ms each ({:.1} ms of writing)\n", ms(render), ms(write));
    let writers = measured.frames.last().map_or(1, |frame| frame.writers.max(1));
    let mut longest = all(render).max(all(write) / writers as f64);
    let mut film = String::new();
    if let Some(job) = &plan.video {
        let (encoding, closing);
        (film, encoding, closing) = film_text(job, (trial_size, scale), &tried.planes)?;
        longest = longest.max(encoding) + closing;
    }
    text += &format!("time: about {}, {ready:.1} s of it before the first frame\n", clock_text(ready + longest));
    text += &format!("memory: at most {} for pictures\n", size(plan.memory));
    if is_files {
        let each = (tried.bytes as f64 * scale / f64::from(count)) as u64;
        let (pattern, all) = (&plan.request.scene.output.files, size(each * left.len() as u64));
        text += &format!("files: {pattern}, about {all} ({} each)\n", size(each));
    }
    Ok(text + &film + "nothing was written\n")
}

// What a video will be, from trial frames of this size, whose pixels are so many times fewer; and the seconds for
// its frames, and for the encoder's start and end.
fn film_text(
    job: &VideoJob,
    (trial_size, scale): ((u32, u32), f64),
    planes: &BTreeMap<u32, Vec<u8>>,
) -> Result<(String, f64, f64), Error> {
    let settings = &job.settings;
    let guess = trial_film(job, trial_size, planes)?;
    let each = guess.each.mul_f64(scale);
    let encoders = if settings.is_single() { 1 } else { job.encoder_count() };
    let encoding = each.as_secs_f64() * job.frames.len() as f64 / encoders as f64;
    let bytes = size((guess.bytes as f64 * scale) as u64);
    let each = if ms(each) < 0.1 { "less than 0.1".to_owned() } else { format!("{:.1}", ms(each)) };
    let mut text = format!("film: {}, about {bytes} ({each} ms a frame)\n", settings.path.display());
    if !settings.is_raw() && !settings.is_embedded {
        let command = command_line(settings, job.sides(), &settings.find_ffmpeg()?.program);
        text += &format!("its segments are made by:\n  {command}\n");
    }
    Ok((text, encoding, guess.start.as_secs_f64()))
}

// Estimates for a video: its bytes, seconds per frame, and seconds for the encoder's start and end.
struct Guess {
    bytes: u64,
    each: Duration,
    start: Duration,
}

// Encodes a video of the trial frames in a temporary folder, to measure the first frame of a segment and each further
// one.
fn trial_film(film: &VideoJob, size: (u32, u32), planes: &BTreeMap<u32, Vec<u8>>) -> Result<Guess, Error> {
    let (settings, frames) = (&film.settings, film.frames.len() as u64);
    if settings.is_raw() {
        let each = planes.values().next().map_or(0, Vec::len) as u64;
        return Ok(Guess { bytes: each * frames, each: Duration::ZERO, start: Duration::ZERO });
    }
    let folder = tempfile::tempdir().map_err(|e| OutputError::Write(std::env::temp_dir(), e))?;
    let name = settings.path.file_name().unwrap_or_default();
    let make = |numbers: Vec<u32>| -> Result<u64, Error> {
        let folder = folder.path().join(numbers.len().to_string());
        let path = folder.join(name);
        let settings = Settings { path: path.clone(), ..settings.clone() };
        let of = VideoJob::new(settings, numbers.clone(), size);
        let of = VideoJob { cancel: film.cancel.clone(), scene: film.scene.clone(), ..of };
        let mut video = Video::open(of)?;
        for number in numbers {
            video.feed(number, &planes[&number])?;
        }
        video.finish(false)?;
        Ok(std::fs::metadata(&path).map_err(|e| OutputError::Read(path, e))?.len())
    };
    let numbers: Vec<u32> = planes.keys().copied().take(2).collect();
    let begun = Instant::now();
    let one = make(numbers[..1].to_vec())?;
    let start = begun.elapsed();
    let begun = Instant::now();
    let two = make(numbers.clone())?;
    let each = begun.elapsed().saturating_sub(start);
    let segments = frames.div_ceil(settings.options.segment.into());
    let bytes = segments * one + (frames - segments) * two.saturating_sub(one);
    Ok(Guess { bytes, each, start })
}

fn clock_text(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
#[test]
fn trial_frames_are_small_where_frames_are_large() {
    let small = SMALL[3];
    assert_eq!(small_size((3840, 2160), small), Some((482, 270)));
    assert_eq!(small_size((640, 360), small), None);
    assert_eq!(small_size((640, 360), SMALL[0]), Some((20, 12)));
    assert_eq!(small_size((65_536, 8), small), Some((32_768, 4)));
    assert_eq!(small_size((1 << 28, 1), small), Some((5_931_640, 1)));
    assert!((ratio((3840, 2160), (480, 270)) - 64.0).abs() < 1e-9);
    let largest = |size| trial_sizes(size).last().copied();
    assert_eq!(largest((16, 8)), Some((16, 8)));
    assert_eq!(largest((1280, 720)), Some((1280, 720)));
    assert_eq!(largest((7680, 4320)), Some((482, 270)));
}

#[cfg(test)]
#[test]
fn seconds_are_said_as_people_do() {
    assert_eq!([3.04, 75.0, 7384.0].map(clock_text), ["3.0 s", "1 min 15 s", "2 h 3 min"]);
}

// Some frames take for ever, and their trial does not.
#[cfg(test)]
#[test]
fn a_trial_ends_in_time() {
    let (lasting, short) = (Instant::now() + Duration::from_secs(60), Instant::now());
    assert_eq!(until(lasting, || 7).unwrap(), Some(7));
    let (open, closed) = mpsc::channel::<()>();
    assert_eq!(until(short, move || closed.recv().is_ok()).unwrap(), None);
    drop(open);
    let mut scene = crate::scene::Scene::sample();
    (scene.render.width, scene.render.height) = (64, 48);
    let renderer = || Renderer::new(scene.clone()).unwrap();
    let tried = |end| trial_renderer(renderer(), &FrameList::one(0), PixelFormats::RGBA8, end).unwrap();
    let (found, size) = tried(short);
    assert!(found.is_none() && size == (18, 12), "{size:?}");
    assert!(tried(lasting).0.is_some());
}
