//! `--dry-run`: what a run would make, and what it would take of time, memory and disk, told from two of its frames. Nothing is
//! written that stays.

use super::outputs::{Outputs, needs_of};
use crate::error::Error;
use crate::output::ffmpeg::find_ffmpeg;
use crate::output::film::Film;
use crate::output::formats::{Format, FormatOptions};
use crate::output::segments::side_by_side;
use crate::output::video::{Settings, Video, command_line};
use crate::output::{Frame, OutputError, PixelFormats, Sink};
use crate::render::frames::FrameList;
use crate::render::stats::{FrameReport, Progress, ms};
use crate::render::{RenderOptions, Renderer};
use crate::report::size;
use crate::scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

// What the trial frames left.
#[derive(Default)]
struct Tried {
    bytes: Vec<u64>,
    write: Duration,
    planes: BTreeMap<u32, Vec<u8>>,
}

// Writes pictures into memory, and keeps what a video gets.
struct Trial {
    format: Option<(&'static Format, FormatOptions)>,
    video: Option<Settings>,
    tried: Arc<Mutex<Tried>>,
}

impl Sink for Trial {
    fn needs(&self) -> PixelFormats {
        needs_of(self.format.as_ref(), self.video.as_ref())
    }
    fn frame(&mut self, frame: &Frame) -> Result<(), OutputError> {
        let (start, mut file) = (Instant::now(), Vec::new());
        if let Some((format, options)) = &self.format {
            (format.write)(frame, options, &mut file).map_err(|e| OutputError::Write("a trial frame".into(), e))?;
        }
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        tried.bytes.push(file.len() as u64);
        tried.write += start.elapsed();
        if let Some(settings) = &self.video {
            let planes = settings.planes(frame)?.into_owned();
            tried.planes.insert(frame.number, planes);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Clock {
    frames: Vec<Duration>,
    devices: Vec<String>,
    writers: usize,
}

impl Progress for Clock {
    fn start(&mut self, _run: &crate::output::RunInfo, devices: &[String], _threads: usize) {
        self.devices = devices.to_vec();
    }
    fn frame(&mut self, report: &FrameReport) {
        self.frames.push(report.stats.time);
        self.writers = report.writers;
    }
}

/// What a run would be.
///
/// # Errors
/// As of the run.
pub fn told(scene: Scene, outputs: &Outputs, options: RenderOptions, memory: u64) -> Result<String, Error> {
    let mut text = String::new();
    let (width, height) = (scene.render.width, scene.render.height);
    let Some(left) = &outputs.left else {
        return Ok(format!("all {} frames are there and whole: nothing is left to be rendered\n", outputs.there));
    };
    let there = match outputs.there {
        0 => String::new(),
        n => format!("; {n} are there and whole"),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "frames: {left} ({} of {width} x {height}{there})", left.len());
    let pattern = scene.output.files.clone();
    let format = outputs.picture_format(&scene)?;
    let start = Instant::now();
    let mut renderer = Renderer::prepare(scene, options)?;
    let ready = start.elapsed();
    let tried = Arc::default();
    let trial = Trial {
        format,
        video: outputs.video.as_ref().map(|(settings, _)| settings.clone()),
        tried: Arc::clone(&tried),
    };
    let is_files = trial.format.is_some() && outputs.stream.is_none();
    // From the first and the last quarter, and the one after: a film holds what changes between neighbours.
    let (one, other) = (left.len() / 4, left.len() * 3 / 4);
    let next = if outputs.video.is_some() { one + 1 } else { one };
    let numbers: BTreeSet<u32> = [one, next, other].into_iter().filter_map(|at| left.nth(at)).collect();
    let list = FrameList::of_numbers(numbers.into_iter());
    let list = list.unwrap_or_else(|| left.clone());
    let mut clock = Clock::default();
    renderer.run_all(&list, vec![Box::new(trial)], &mut clock)?;
    let tried = std::mem::take(&mut *tried.lock().unwrap_or_else(PoisonError::into_inner));
    let _ = writeln!(text, "device: {}", clock.devices.join(", "));
    let count = clock.frames.len().max(1) as u32;
    let all = |each: Duration| each.as_secs_f64() * left.len() as f64;
    let (render, write) = (clock.frames.iter().sum::<Duration>() / count, tried.write / count);
    let _ = writeln!(text, "trial frames: {list}, {:.1} ms each ({:.1} ms of writing)", ms(render), ms(write));
    let mut longest = all(render).max(all(write) / clock.writers.max(1) as f64);
    let mut film = String::new();
    if let Some((settings, of)) = &outputs.video {
        let guess = trial_film(settings, of, &tried.planes)?;
        let encoders = if settings.is_single() { 1 } else { side_by_side(settings, of) };
        longest = longest.max(all(guess.each) / encoders as f64);
        let _ = writeln!(
            film,
            "film: {}, about {} ({:.1} ms a frame)",
            settings.path.display(),
            size(guess.bytes),
            ms(guess.each)
        );
        if let Some(line) = guess.line {
            let _ = writeln!(film, "its segments are made by:\n  {line}");
        }
    }
    let _ = writeln!(
        text,
        "time: about {}, {:.1} s of it before the first frame",
        clock_text(ready.as_secs_f64() + longest),
        ready.as_secs_f64()
    );
    let _ = writeln!(text, "memory: at most {} for pictures", size(memory));
    if is_files {
        let each = tried.bytes.iter().sum::<u64>() / u64::from(count);
        let _ = writeln!(text, "files: {pattern}, about {} ({} each)", size(each * left.len() as u64), size(each));
    }
    text += &film;
    text += "nothing was written\n";
    Ok(text)
}

struct Guess {
    bytes: u64,
    each: Duration,
    line: Option<String>,
}

// A film of the trial frames, in a folder of its own: what the first frame of a segment takes, and what one more does.
fn trial_film(settings: &Settings, film: &Film, planes: &BTreeMap<u32, Vec<u8>>) -> Result<Guess, Error> {
    let frames = film.frames.len() as u64;
    if settings.is_raw() {
        let each = planes.values().next().map_or(0, Vec::len) as u64;
        return Ok(Guess { bytes: each * frames, each: Duration::ZERO, line: None });
    }
    let line = match settings.is_embedded {
        true => None,
        false => Some(command_line(settings, film.sides(), &find_ffmpeg(settings.ffmpeg.as_deref())?)),
    };
    let folder = tempfile::tempdir().map_err(|e| OutputError::Write(std::env::temp_dir(), e))?;
    let name = settings.path.file_name().unwrap_or_default();
    let make = |numbers: Vec<u32>| -> Result<u64, Error> {
        let folder = folder.path().join(numbers.len().to_string());
        let path = folder.join(name);
        let of = Film {
            steps: Arc::default(),
            frames: numbers.clone(),
            part: None,
            source: None,
            hidden: folder.join("h"),
            is_anew: true,
            ..film.clone()
        };
        let mut video = Video::open(Settings { path: path.clone(), ..settings.clone() }, of)?;
        for number in numbers {
            video.feed(number, &planes[&number])?;
        }
        video.finish(false)?;
        Ok(std::fs::metadata(&path).map_err(|e| OutputError::Read(path, e))?.len())
    };
    let numbers: Vec<u32> = planes.keys().copied().take(2).collect();
    let mut start = Instant::now();
    let one = make(numbers[..1].to_vec())?;
    let two = match numbers.len() {
        1 => one,
        _ => {
            start = Instant::now();
            make(numbers.clone())?
        }
    };
    // Starting ffmpeg and joining are in it: an upper bound.
    let each = start.elapsed() / numbers.len().max(1) as u32;
    let segments = frames.div_ceil(settings.segment.into());
    let bytes = segments * one + (frames - segments) * two.saturating_sub(one);
    Ok(Guess { bytes, each, line })
}

// Seconds as people say them.
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
fn seconds_are_said_as_people_do() {
    assert_eq!([3.04, 75.0, 7384.0].map(clock_text), ["3.0 s", "1 min 15 s", "2 h 3 min"]);
}
