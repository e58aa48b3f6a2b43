//! The segments of an encoded video. Concurrent encoders write them into a hidden folder; once all exist, they are
//! joined without encoding again (join.rs). Each segment begins with a key frame, and its length depends on the
//! settings alone. So the pictures do not depend on the number of encoders or on interruptions.

use super::buffer_pool::BufferPool;
use super::encode::Encode;
use super::encoder::{Encoder, Finished};
use super::ffmpeg::Ffmpeg;
use super::job::{VideoJob, kept};
use super::segment_encoder::{Ended, PartialSegment, QueuedFrame, Segment, SegmentEncoder, is_sealed, remove};
use super::settings::Settings;
use super::tag::{self, name};
use crate::language::msg;
use crate::output::error::{NameFile, OutputError};
use crate::output::store::atomic::folder_of;
use crate::output::store::folder::sweep;
use crate::output::store::hidden;
use crate::threads;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

const PREFIX: &str = "film-";

/// The segments of a video, and the encoders that make them.
pub struct Segments {
    encoder: Arc<SegmentEncoder>,
    segments: Arc<[Segment]>,
    // The segments that this run makes and that are not complete.
    to_do: BTreeSet<usize>,
    tasks: Option<Sender<(usize, Receiver<QueuedFrame>)>>,
    // The segment that receives frames, and its channel.
    open: Option<(usize, Sender<QueuedFrame>)>,
    buffers: Arc<BufferPool>,
    ended: Receiver<(usize, Ended)>,
    workers: Vec<JoinHandle<()>>,
    partial: BTreeMap<usize, PartialSegment>,
    failure: Option<OutputError>,
}

/// Removes the segments of a scene from a hidden folder.
pub fn forget(hidden: &Path, scene: &str) {
    let prefix = format!("{PREFIX}{scene:.16}-");
    for entry in std::fs::read_dir(hidden).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

// The segments of a film, with their paths in the folder.
fn plan(film: &VideoJob, folder: &Path) -> Vec<Segment> {
    let (count, length) = (film.frames.len(), film.settings.options.segment as usize);
    let segment = |from: usize| {
        let frames = from..count.min(from + length);
        let numbers = &film.frames[frames.clone()];
        let steps = film.steps_of(numbers).map_or_else(String::new, |steps| format!("-{steps}"));
        let file = folder.join(format!("{}{steps}.{}", name(numbers), film.settings.codec.segment_format));
        Segment { frames, file }
    };
    (0..count).step_by(length).map(segment).collect()
}

impl Segment {
    // Whether this run makes the segment.
    fn is_to_do(&self, film: &VideoJob) -> bool {
        let mut numbers = film.frames[self.frames.clone()].iter();
        let is_mine = film.part.as_ref().is_none_or(|part| numbers.all(|n| part.contains(n)));
        is_mine && (film.overwrite || !is_sealed(&self.file))
    }
    fn len(&self) -> u64 {
        self.frames.len() as u64
    }
}

// Removes a folder of segments and the hidden folder around it, if they are empty.
fn remove_empty(folder: &Path, hidden: &Path) {
    let _ = std::fs::remove_dir(folder);
    let _ = std::fs::remove_dir(hidden);
}

fn folder(film: &VideoJob, ffmpeg: &Ffmpeg) -> PathBuf {
    // Segments that cannot be reused get a folder of their own.
    let scene = film.scene.clone().unwrap_or_else(|| std::process::id().to_string());
    film.hidden.join(format!("{PREFIX}{scene:.16}-{}", film.key(ffmpeg)))
}

/// The choice of `--encode` that an earlier run has begun or made this video with; None if there is none, or if the
/// request names a choice.
pub fn begun(film: &VideoJob) -> Option<Encode> {
    let settings = &film.settings;
    if film.scene.is_none() || settings.is_raw() || settings.options.encode.is_some() {
        return None;
    }
    let (encoder, tag) = (film.encoder()?, tag::read(&settings.path, settings));
    let with = |encode| VideoJob { settings: Settings { encode, ..settings.clone() }, ..film.clone() };
    let is_begun = |job: &VideoJob| folder(job, &encoder).is_dir() || tag.as_ref() == Some(&job.tag(&encoder));
    Encode::ALL.into_iter().find(|&encode| is_begun(&with(encode)))
}

/// Removes the segments and the partial file of a finished video, which interrupted runs have left.
pub fn clear(film: &VideoJob) {
    film.remove_beginning();
    let Ok(ffmpeg) = film.settings.find_ffmpeg() else { return };
    let folder = folder(film, &ffmpeg);
    if !folder.is_dir() || hidden::check(&film.hidden).and_then(|()| hidden::check(&folder)).is_err() {
        return;
    }
    sweep(&folder);
    for segment in plan(film, &folder) {
        remove(&segment.file);
    }
    remove_empty(&folder, &film.hidden);
}

/// The frames whose segments do not exist yet.
pub fn left(film: &VideoJob) -> Result<Vec<u32>, OutputError> {
    let segments = plan(film, &folder(film, &film.settings.find_ffmpeg()?));
    let to_do = segments.into_iter().filter(|segment| segment.is_to_do(film));
    Ok(to_do.flat_map(|segment| film.frames[segment.frames].to_vec()).collect())
}

impl Segments {
    /// Finds the existing segments. If some are missing, tries the encoder with one frame and starts the encoders.
    pub fn open(film: &Arc<VideoJob>, ffmpeg: Ffmpeg) -> Result<Segments, OutputError> {
        let folder = folder(film, &ffmpeg);
        hidden::check(&film.hidden).and_then(|()| hidden::check(&folder)).writing(&film.hidden)?;
        if film.scene.is_none() {
            // No other run uses this folder.
            let _ = std::fs::remove_dir_all(&folder);
        }
        sweep(&folder);
        let segments: Arc<[Segment]> = plan(film, &folder).into();
        let encoder = SegmentEncoder { job: Arc::clone(film), ffmpeg, folder };
        let to_do: BTreeSet<usize> = (0..segments.len()).filter(|&i| segments[i].is_to_do(film)).collect();
        encoder.try_audio()?;
        if !to_do.is_empty() {
            encoder.try_one()?;
            encoder.make_folder().writing(&encoder.folder)?;
        }
        let encoder = Arc::new(encoder);
        let ((tasks, work), (report, ended)) = (unbounded(), unbounded());
        let worker = |_| {
            let (encoder, segments) = (Arc::clone(&encoder), Arc::clone(&segments));
            let (work, report) = (Receiver::clone(&work), Sender::clone(&report));
            threads::spawn("encode", move || {
                for (place, items) in work {
                    let _ = report.send((place, encoder.make(&segments[place], &items)));
                }
            })
        };
        let workers = (0..film.encoder_count().min(to_do.len().max(1))).map(worker).collect::<Result<_, _>>()?;
        Ok(Segments {
            encoder,
            segments,
            to_do,
            tasks: Some(tasks),
            open: None,
            buffers: Arc::new(BufferPool::new(film.max_waiting())),
            ended,
            workers,
            partial: BTreeMap::new(),
            failure: None,
        })
    }

    fn job(&self) -> &VideoJob {
        &self.encoder.job
    }

    // The segment of the film's frame at index `at`.
    fn place(&self, at: usize) -> usize {
        at / self.job().settings.options.segment as usize
    }

    // Sends the frame at index `at` to its segment, if this run makes that.
    fn put(&mut self, at: usize, item: QueuedFrame) -> Result<(), OutputError> {
        self.listen()?;
        let place = self.place(at);
        if !self.to_do.contains(&place) {
            return Ok(());
        }
        if self.open.as_ref().is_none_or(|(open, _)| *open != place) {
            let (send, items) = unbounded();
            self.tasks.as_ref().and_then(|tasks| tasks.send((place, items)).ok()).ok_or_else(gone)?;
            self.open = Some((place, send));
        }
        if let Some((_, open)) = &self.open {
            open.send(item).map_err(|_| gone())?;
        }
        if at + 1 == self.segments[place].frames.end {
            self.open = None;
        }
        Ok(())
    }

    fn listen(&mut self) -> Result<(), OutputError> {
        while let Ok(ended) = self.ended.try_recv() {
            self.hear(ended);
        }
        if self.failure.is_some() { Err(gone()) } else { Ok(()) }
    }

    fn hear(&mut self, (place, ended): (usize, Ended)) {
        match ended {
            Ended::Complete => drop(self.to_do.remove(&place)),
            Ended::Incomplete(partial, failure) => {
                self.partial.extend(partial.map(|partial| (place, partial)));
                self.failure = self.failure.take().or(failure);
            }
        }
    }

    fn join_all(&self) -> Result<Finished, OutputError> {
        let files: Vec<_> = self.segments.iter().map(|s| (s.file.as_path(), s.len())).collect();
        let join = |path: &Path| match self.encoder.join(&files, path, &self.encoder.tag()) {
            // Another run of the same film may have joined and removed the segments.
            Err(cause) if !self.job().is_made() => self.keep_beginning(Some(cause)).map(drop),
            _ => {
                files.iter().for_each(|(file, _)| remove(file));
                Ok(())
            }
        };
        self.job().name(join).map(Finished::Whole)
    }

    // The complete beginning becomes a video of its own, or is kept as segments.
    fn keep_beginning(&self, failure: Option<OutputError>) -> Result<Finished, OutputError> {
        let (job, path) = (self.job(), self.job().partial_path(|_| false));
        let whole = self.segments.iter().take_while(|segment| is_sealed(&segment.file));
        let mut files: Vec<_> = whole.map(|s| (s.file.as_path(), s.len())).collect();
        let sum = |files: &[(&Path, u64)]| files.iter().map(|(_, frames)| frames).sum::<u64>();
        let stored = sum(&files);
        let last = self.partial.get(&files.len()).filter(|partial| partial.frames > 0);
        files.extend(last.map(|partial| (partial.file.path(), partial.frames)));
        let frames = sum(&files);
        // Without room for a copy, the only segment itself is renamed, if it is a film of this kind. The segments of a
        // GIF are not.
        let is_film = job.settings.codec.segment_format == job.settings.container().extension;
        let rename = || match files[..] {
            [(only, _)] if is_film && (stored == 0 || self.segments.len() == 1) => {
                std::fs::rename(only, &path).map(|()| remove(only)).is_ok()
            }
            _ => false,
        };
        let is_kept =
            frames > 0 && (self.encoder.join(&files, &path, &self.encoder.beginning_tag()).is_ok() || rename());
        match failure {
            None => Ok(Finished::Beginning(is_kept.then_some(path))),
            Some(cause) if is_kept => Err(kept(cause, frames, &path)),
            Some(cause) if stored == 0 => Err(cause),
            Some(cause) => Err(cause.reworded(|what| {
                msg!(
                    "{why}; {frames} frames are encoded and kept in {folder}: --resume continues with them",
                    why = what,
                    frames = stored,
                    folder = self.encoder.folder.display()
                )
            })),
        }
    }
}

impl Encoder for Segments {
    // Waits while too many frames are queued.
    fn feed(&mut self, at: usize, planes: &[u8]) -> Result<(), OutputError> {
        const LOOK: Duration = Duration::from_secs(1);
        if !self.to_do.contains(&self.place(at)) {
            return Ok(());
        }
        let buffer = loop {
            self.listen()?;
            match self.buffers.fill(planes, LOOK) {
                Some(buffer) => break buffer,
                None if self.workers.iter().all(JoinHandle::is_finished) => return Err(gone()),
                None => {}
            }
        };
        self.put(at, QueuedFrame::Fed(buffer))
    }

    // An encoder reads the frame, and stops by itself.
    fn feed_existing(&mut self, at: usize) -> Result<bool, OutputError> {
        let number = self.job().frames[at];
        self.put(at, QueuedFrame::OnDisk(number)).map(|()| true)
    }

    // Waits for the encoders and joins the segments. An interrupted video is its complete beginning.
    fn finish(mut self: Box<Self>, cut_short: bool) -> Result<Finished, OutputError> {
        (self.open, self.tasks) = (None, None);
        while let Ok(ended) = self.ended.recv() {
            self.hear(ended);
        }
        for worker in std::mem::take(&mut self.workers) {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        let is_stopped = self.encoder.is_stopped() && !self.to_do.is_empty();
        let result = match self.failure.take() {
            // Other runs make the rest, so there is no partial video.
            Some(failure) if self.job().part.is_some() => Err(failure),
            None if self.job().part.is_some() && is_stopped => Ok(Finished::Beginning(None)),
            None if self.job().part.is_some() => Ok(Finished::Part),
            None if !cut_short && !is_stopped => self.join_all(),
            failure => self.keep_beginning(failure),
        };
        if self.job().scene.is_none() {
            let _ = std::fs::remove_dir_all(&self.encoder.folder);
        }
        // An ffmpeg whose run was killed may have created its file after this run has looked for such files.
        sweep(folder_of(&self.job().settings.path));
        sweep(&self.encoder.folder);
        remove_empty(&self.encoder.folder, &self.job().hidden);
        result
    }

    fn abort(self: Box<Self>, cause: OutputError) -> OutputError {
        self.finish(true).err().unwrap_or(cause)
    }
}

fn gone() -> OutputError {
    OutputError::encoder(msg!("the encoder has gone"))
}
