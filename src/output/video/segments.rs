//! The segments of an encoded video: made side by side by encoders of their own, kept in a hidden folder until all are
//! there, and joined without encoding again (join.rs).
//!
//! Each begins with a picture that needs no other, and their length is fixed by the settings: what is seen does not depend on
//! how many encoders there were, nor on how often the run was cut off.

use super::buffer_pool::BufferPool;
use super::encoder::Encoder;
use super::ffmpeg::{Ffmpeg, find_ffmpeg};
use super::job::{VideoJob, kept, partial};
use super::mp4;
use super::segment_encoder::{Ended, PartialSegment, QueuedFrame, SegmentEncoder, SegmentTask};
use super::settings::Settings;
use super::tag::{Tag, name};
use crate::output::error::OutputError;
use crate::output::store::folder::sweep;
use crate::output::store::hidden;
use crate::threads;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

// What all folders of segments begin with.
const PREFIX: &str = "film-";

struct Segment {
    // Places in the film.
    frames: Range<usize>,
    file: PathBuf,
    // It is to be made here.
    is_ours: bool,
}

/// The segments of a video, and the encoders that make them.
pub struct Segments {
    encoder: Arc<SegmentEncoder>,
    segments: Vec<Segment>,
    tag: Tag,
    tasks: Option<Sender<SegmentTask>>,
    // The segment that frames go to, and the way there.
    open: Option<(usize, Sender<QueuedFrame>)>,
    buffers: Arc<BufferPool>,
    ended: Receiver<Ended>,
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

// Segments of a film in their folder.
fn plan(film: &VideoJob, folder: &Path, length: usize, format: &str) -> Vec<Segment> {
    let segment = |(frames, file): (Range<usize>, PathBuf)| {
        let numbers = &film.frames[frames.clone()];
        let is_mine = film.part.as_ref().is_none_or(|part| numbers.iter().all(|n| part.contains(n)));
        Segment { is_ours: is_mine && (film.overwrite || !mp4::is_sealed(&file)), frames, file }
    };
    files(film, folder, length, format).map(segment).collect()
}

// Where each lies, and the places of its frames.
fn files(film: &VideoJob, folder: &Path, length: usize, format: &str) -> impl Iterator<Item = (Range<usize>, PathBuf)> {
    let places = (0..film.frames.len()).step_by(length).map(move |from| from..film.frames.len().min(from + length));
    let file = move |frames: Range<usize>| {
        let numbers = &film.frames[frames.clone()];
        let steps = film.steps_of(numbers).map_or_else(String::new, |steps| format!("-{steps}"));
        (frames, folder.join(format!("{}{steps}.{format}", name(numbers))))
    };
    places.map(file)
}

// Removes a folder of segments and the hidden one that holds it, where nothing is in them.
fn remove_empty(folder: &Path, hidden: &Path) {
    let _ = std::fs::remove_dir(folder);
    let _ = std::fs::remove_dir(hidden);
}

// Where a film's segments lie.
fn folder(settings: &Settings, film: &VideoJob, ffmpeg: &Ffmpeg) -> PathBuf {
    // Segments that nobody could use again have a folder that nobody else finds.
    let scene = film.scene.clone().unwrap_or_else(|| std::process::id().to_string());
    film.hidden.join(format!("{PREFIX}{scene:.16}-{}", film.key(settings, ffmpeg)))
}

/// How many encoders work side by side at most: no more than there are segments, nor than have room in the memory for them.
pub fn encoder_count(settings: &Settings, film: &VideoJob) -> usize {
    let room = settings.encoder_memory.map_or(usize::MAX, |bytes| bytes / settings.encoder_bytes(film.sides()));
    settings.encoders.min(room).clamp(1, film.frames.len().div_ceil(settings.segment as usize).max(1))
}

/// Most memory of a film that is being made, bytes: its encoders', and that of frames that wait for one.
pub fn peak_memory(settings: &Settings, film: &VideoJob) -> u64 {
    let frame = settings.frame_bytes(film.sides());
    (max_waiting(settings, film) * frame + encoder_count(settings, film) * settings.encoder_bytes(film.sides())) as u64
}

// How many frames may wait for an encoder: as many as the encoders and one more take in two turns, for those that wait longer make
// nothing faster; fewer where the memory for them is less.
fn max_waiting(settings: &Settings, film: &VideoJob) -> usize {
    let useful = 2 * settings.segment as usize * (encoder_count(settings, film) + 1);
    let frame = settings.frame_bytes(film.sides()).max(1);
    useful.min(film.frames.len()).min(settings.waiting / frame).max(2)
}

/// Removes the segments of a video that is made, and its beginning: runs that were ended have left them.
pub fn clear(settings: &Settings, film: &VideoJob) {
    film.remove_beginning(settings);
    let Ok(ffmpeg) = find_ffmpeg(settings.ffmpeg.as_deref()) else { return };
    let folder = folder(settings, film, &ffmpeg);
    if !folder.is_dir() || hidden::check(&film.hidden).and_then(|()| hidden::check(&folder)).is_err() {
        return;
    }
    sweep(&folder);
    for (_, file) in files(film, &folder, settings.segment as usize, settings.codec.segment_format) {
        let _ = std::fs::remove_file(file);
    }
    remove_empty(&folder, &film.hidden);
}

/// Frames whose segments are not there yet.
///
/// # Errors
/// There is no ffmpeg.
pub fn left(settings: &Settings, film: &VideoJob) -> Result<Vec<u32>, OutputError> {
    let folder = folder(settings, film, &find_ffmpeg(settings.ffmpeg.as_deref())?);
    let segments = plan(film, &folder, settings.segment as usize, settings.codec.segment_format);
    Ok(segments.into_iter().filter(|s| s.is_ours).flat_map(|s| film.frames[s.frames].to_vec()).collect())
}

impl Segments {
    /// Looks which segments are there, tries the encoder with one frame if there are others, and has encoders wait.
    ///
    /// # Errors
    /// The folder cannot be made; ffmpeg refuses the settings.
    pub fn open(settings: &Settings, film: &VideoJob, ffmpeg: Ffmpeg) -> Result<Segments, OutputError> {
        let folder = folder(settings, film, &ffmpeg);
        let unfit = |e| OutputError::Write(film.hidden.clone(), e);
        hidden::check(&film.hidden).and_then(|()| hidden::check(&folder)).map_err(unfit)?;
        if film.scene.is_none() {
            // Nobody else's.
            let _ = std::fs::remove_dir_all(&folder);
        }
        sweep(&folder);
        let segments = plan(film, &folder, settings.segment as usize, settings.codec.segment_format);
        let tag = film.tag(settings, &ffmpeg);
        let encoder = SegmentEncoder { job: film.clone(), settings: settings.clone(), ffmpeg, folder };
        let to_do = segments.iter().filter(|s| s.is_ours).count();
        if to_do > 0 {
            encoder.try_one()?;
            encoder.make_folder().map_err(|e| OutputError::Write(encoder.folder.clone(), e))?;
        }
        let encoder = Arc::new(encoder);
        let ((tasks, work), (report, ended)) = (unbounded(), unbounded());
        let worker = |_| {
            let (encoder, work, report) = (Arc::clone(&encoder), Receiver::clone(&work), Sender::clone(&report));
            threads::spawn("encode", move || {
                for task in work {
                    let _ = report.send(encoder.make(&task));
                }
            })
        };
        let workers = (0..encoder_count(settings, film).min(to_do.max(1))).map(worker).collect::<Result<_, _>>()?;
        Ok(Segments {
            encoder,
            segments,
            tag,
            tasks: Some(tasks),
            open: None,
            buffers: Arc::new(BufferPool::new(max_waiting(settings, film))),
            ended,
            workers,
            partial: BTreeMap::new(),
            failure: None,
        })
    }

    // Adds the video's frame at that place, if its segment is made here.
    fn put(&mut self, at: usize, item: QueuedFrame) -> Result<(), OutputError> {
        self.listen()?;
        let place = at / self.encoder.settings.segment as usize;
        let segment = self.segment(at);
        if !segment.is_ours {
            return Ok(());
        }
        if self.open.as_ref().is_none_or(|(open, _)| *open != place) {
            let (send, items) = unbounded();
            let frames = segment.frames.len() as u64;
            let task = SegmentTask { segment: place, items, frames, file: segment.file.clone() };
            self.tasks.as_ref().and_then(|tasks| tasks.send(task).ok()).ok_or_else(gone)?;
            self.open = Some((place, send));
        }
        if let Some((_, open)) = &self.open {
            open.send(item).map_err(|_| gone())?;
        }
        if at + 1 == self.segment(at).frames.end {
            self.open = None;
        }
        Ok(())
    }

    // That of the film's frame at that place.
    fn segment(&self, at: usize) -> &Segment {
        &self.segments[at / self.encoder.settings.segment as usize]
    }

    // Hears of segments that have ended.
    fn listen(&mut self) -> Result<(), OutputError> {
        while let Ok(ended) = self.ended.try_recv() {
            self.hear(ended);
        }
        if self.failure.is_some() { Err(gone()) } else { Ok(()) }
    }

    fn hear(&mut self, ended: Ended) {
        self.partial.extend(ended.partial.map(|partial| (ended.segment, partial)));
        if let Err(e) = ended.result {
            self.failure.get_or_insert(e);
        }
    }

    fn join_all(&self) -> Result<Option<PathBuf>, OutputError> {
        self.encoder
            .job
            .name(&self.encoder.settings, |path| {
                self.join_or_find(path)?;
                for segment in &self.segments {
                    let _ = std::fs::remove_file(&segment.file);
                }
                Ok(())
            })
            .map(Some)
    }

    // Joins the segments, unless another run of the same film has.
    fn join_or_find(&self, path: &Path) -> Result<(), OutputError> {
        let missing = || self.segments.iter().enumerate().filter(|(_, s)| !mp4::is_whole(&s.file));
        // Another run of the same film removes the segments once it has joined them. It may have removed those of this run too.
        if missing().next().is_some() && self.encoder.job.is_made(&self.encoder.settings) {
            return Ok(());
        }
        for (place, segment) in missing() {
            if self.encoder.job.source.is_none() {
                let file = segment.file.display();
                let what = format!("{file} has vanished: the same command with --resume makes what is missing");
                return Err(OutputError::Encoder { what, words: String::new() });
            }
            let (send, items) = unbounded();
            for &number in &self.encoder.job.frames[segment.frames.clone()] {
                let _ = send.send(QueuedFrame::OnDisk(number));
            }
            drop(send);
            let frames = segment.frames.len() as u64;
            self.encoder.make(&SegmentTask { segment: place, items, frames, file: segment.file.clone() }).result?;
        }
        let files: Vec<(&Path, u64)> =
            self.segments.iter().map(|s| (s.file.as_path(), s.frames.len() as u64)).collect();
        if let Err(cause) = self.encoder.joiner().join(&self.encoder.folder, &files, path, &self.tag) {
            // Another run of the same film was there first, and has removed its segments.
            if self.encoder.job.is_made(&self.encoder.settings) {
                return Ok(());
            }
            let short = partial(path);
            let frames = self.encoder.job.frames.len() as u64;
            return Err(match files.as_slice() {
                [(only, _)] if std::fs::rename(only, &short).is_ok() => kept(cause, frames, &short),
                _ => stored(cause, &self.encoder.folder),
            });
        }
        Ok(())
    }

    // What there is from the beginning on becomes a video of its own, or stays as segments.
    fn keep_beginning(&mut self, failure: Option<OutputError>) -> Result<Option<PathBuf>, OutputError> {
        let path = partial(&self.encoder.settings.path);
        match (self.keep(&path), failure) {
            (Ok(frames), Some(cause)) => Err(kept(cause, frames, &path)),
            (Err(0), Some(cause)) => Err(cause),
            (Err(frames), Some(cause)) => Err(cause.reworded(|what| {
                let folder = self.encoder.folder.display();
                format!("{what}; {frames} frames are encoded and kept in {folder}: --resume goes on with them")
            })),
            (Ok(_), None) => Ok(Some(path)),
            (Err(_), None) => Ok(None),
        }
    }

    // What there is from the beginning on gets that name; says how many frames it is, or how many are kept in segments where
    // it cannot be made.
    fn keep(&mut self, path: &Path) -> Result<u64, u64> {
        let (mut files, mut last) = (Vec::new(), None);
        for (place, segment) in self.segments.iter().enumerate() {
            if mp4::is_sealed(&segment.file) {
                files.push((segment.file.clone(), segment.frames.len() as u64));
                continue;
            }
            last = self.partial.remove(&place).filter(|partial| partial.frames > 0);
            break;
        }
        let (whole, stored) = (files.len(), files.iter().map(|(_, frames)| frames).sum());
        files.extend(last.as_ref().map(|partial| (partial.file.path().to_owned(), partial.frames)));
        let frames = files.iter().map(|(_, frames)| frames).sum();
        let joined: Vec<(&Path, u64)> = files.iter().map(|(file, frames)| (file.as_path(), *frames)).collect();
        let tag = self.tag.of_beginning();
        if frames > 0 && self.encoder.joiner().join(&self.encoder.folder, &joined, path, &tag).is_ok() {
            return Ok(frames);
        }
        // Without room for another copy, the one that there is.
        let only = last.filter(|_| whole == 0).ok_or(stored)?;
        only.file.persist(path).map(|_| frames).map_err(|_| stored)
    }
}

impl Encoder for Segments {
    // Waits while too many frames wait.
    fn feed(&mut self, at: usize, planes: &[u8]) -> Result<(), OutputError> {
        const LOOK: Duration = Duration::from_secs(1);
        if !self.segment(at).is_ours {
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

    // An encoder reads it, which stops by itself.
    fn feed_existing(&mut self, at: usize) -> Result<bool, OutputError> {
        let number = self.encoder.job.frames[at];
        self.put(at, QueuedFrame::OnDisk(number)).map(|()| true)
    }

    // Waits for the encoders, and joins what they have made. Cut short, it is what there is from the beginning on.
    fn finish(mut self: Box<Self>, cut_short: bool) -> Result<Option<PathBuf>, OutputError> {
        (self.open, self.tasks) = (None, None);
        while let Ok(ended) = self.ended.recv() {
            self.hear(ended);
        }
        for worker in std::mem::take(&mut self.workers) {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        let is_stopped =
            self.encoder.is_stopped() && self.segments.iter().any(|s| s.is_ours && !mp4::is_whole(&s.file));
        let made = match self.failure.take() {
            // The rest is made by others, and a beginning of it is nobody's.
            failure if self.encoder.job.part.is_some() => failure.map_or(Ok(None), Err),
            None if !cut_short && !is_stopped => self.join_all(),
            failure => self.keep_beginning(failure),
        };
        if self.encoder.job.scene.is_none() {
            let _ = std::fs::remove_dir_all(&self.encoder.folder);
        }
        remove_empty(&self.encoder.folder, &self.encoder.job.hidden);
        made
    }

    fn abort(self: Box<Self>, cause: OutputError) -> OutputError {
        self.finish(true).err().unwrap_or(cause)
    }
}

fn gone() -> OutputError {
    OutputError::Encoder { what: "the encoder has gone".into(), words: String::new() }
}

fn stored(cause: OutputError, folder: &Path) -> OutputError {
    cause.reworded(|what| format!("{what}; all is encoded and kept in {}: --resume joins it", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::video::codecs::Codec;

    #[test]
    fn encoders_have_room_in_the_memory() {
        let (long, short) = (VideoJob::fed(3000, (1240, 960)), VideoJob::fed(59, (1240, 960)));
        let mine = Settings { encoders: 16, threads: 4, ..Settings::of("x.mp4".into()) };
        let each = mine.encoder_bytes(long.sides());
        // What ffmpeg 7.0 and 5.1 take with four threads is 171 and 207 MiB.
        assert!((200 << 20..300 << 20).contains(&each), "{each}");
        let h265 = Codec::named("h265").unwrap();
        assert!(Settings { codec: h265, ..mine.clone() }.encoder_bytes(long.sides()) > each);
        let count = |job, memory| encoder_count(&Settings { encoder_memory: memory, ..mine.clone() }, job);
        assert_eq!([None, Some(3 * each), Some(1)].map(|memory| count(&long, memory)), [16, 3, 1]);
        assert_eq!(count(&short, None), 1);
        // Frames that wait come on top.
        assert!(peak_memory(&mine, &long) > 16 * each as u64);
    }
}
