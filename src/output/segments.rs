//! The segments of an encoded video: made side by side by encoders of their own, kept in a hidden folder until all are
//! there, and joined without encoding again (join.rs).
//!
//! Each begins with a picture that needs no other, and their length is fixed by the settings: what is seen does not depend on
//! how many encoders there were, nor on how often the run was cut off.

use super::ffmpeg::{Ffmpeg, Process, find_ffmpeg, packets, url};
use super::files::temporary;
use super::film::VideoJob;
use super::folder::sweep;
use super::join::Joiner;
use super::tag::{Tag, name};
use super::video::{Settings, input_arguments, kept, output_arguments, partial};
use super::{OutputError, hidden, mp4};
use crate::threads;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use tempfile::NamedTempFile;

/// A frame on its way to an encoder.
pub enum QueuedFrame {
    /// Its planes.
    Fed(PooledBuffer),
    /// The number of one that lies in its folder.
    OnDisk(u32),
}

// A frame that is ready for its encoder.
enum Planes {
    Fed(PooledBuffer),
    Read(Vec<u8>),
}

// Frames that are decoded side by side.
const BATCH: usize = 8;

// How often a file that somebody works on is marked as new.
const FRESH: Duration = Duration::from_secs(60);

// What all folders of segments begin with.
const PREFIX: &str = "film-";

struct Segment {
    // Places in the film.
    frames: Range<usize>,
    file: PathBuf,
    // It is to be made here.
    is_ours: bool,
}

// What there is of a segment that is not whole.
struct PartialSegment {
    file: NamedTempFile,
    frames: u64,
}

struct Job {
    segment: usize,
    items: Receiver<QueuedFrame>,
    frames: u64,
    file: PathBuf,
}

struct Ended {
    segment: usize,
    result: Result<(), OutputError>,
    piece: Option<PartialSegment>,
}

/// The segments of a video, and the encoders that make them.
pub struct Segments {
    maker: Arc<SegmentEncoder>,
    segments: Vec<Segment>,
    jobs: Option<Sender<Job>>,
    open: Option<(usize, Sender<QueuedFrame>)>,
    waiting: Arc<BufferPool>,
    ended: Receiver<Ended>,
    workers: Vec<JoinHandle<()>>,
    pieces: BTreeMap<usize, PartialSegment>,
    failure: Option<OutputError>,
}

// Memory for frames that wait: no more than is allowed, and of that what was used last.
pub struct BufferPool {
    permits: (Sender<()>, Receiver<()>),
    spare: Mutex<Vec<Vec<u8>>>,
}

/// A frame's planes in memory that goes home when it is dropped, wherever that is.
pub struct PooledBuffer {
    planes: Vec<u8>,
    home: Arc<BufferPool>,
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let planes = std::mem::take(&mut self.planes);
        self.home.spare.lock().unwrap_or_else(PoisonError::into_inner).push(planes);
        let _ = self.home.permits.0.try_send(());
    }
}

impl BufferPool {
    fn of(frames: usize) -> BufferPool {
        let permits = bounded(frames);
        while permits.0.try_send(()).is_ok() {}
        BufferPool { permits, spare: Mutex::default() }
    }
    // None where there is none for so long.
    fn take(self: &Arc<BufferPool>, patience: Duration) -> Option<PooledBuffer> {
        self.permits.1.recv_timeout(patience).ok()?;
        let planes = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        Some(PooledBuffer { planes, home: Arc::clone(self) })
    }
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
    for (_, file) in files(film, &folder, settings.segment as usize, settings.segment_format()) {
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
    let segments = plan(film, &folder, settings.segment as usize, settings.segment_format());
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
        let segments = plan(film, &folder, settings.segment as usize, settings.segment_format());
        let maker = SegmentEncoder { film: film.clone(), settings: settings.clone(), ffmpeg, folder };
        let to_do = segments.iter().filter(|s| s.is_ours).count();
        if to_do > 0 {
            maker.try_one()?;
            maker.make_folder().map_err(|e| OutputError::Write(maker.folder.clone(), e))?;
        }
        let maker = Arc::new(maker);
        let waiting = Arc::new(BufferPool::of(max_waiting(settings, film)));
        let ((jobs, work), (report, ended)) = (unbounded(), unbounded());
        let worker = |_| {
            let (maker, work, report) = (Arc::clone(&maker), Receiver::clone(&work), Sender::clone(&report));
            threads::spawn("encode", move || {
                for job in work {
                    let _ = report.send(maker.make(&job));
                }
            })
        };
        let workers = (0..encoder_count(settings, film).min(to_do.max(1))).map(worker).collect::<Result<_, _>>()?;
        let (open, pieces, failure) = (None, BTreeMap::new(), None);
        Ok(Segments { maker, segments, jobs: Some(jobs), open, waiting, ended, workers, pieces, failure })
    }

    /// Adds the film's frame at that place. Waits while too many of them wait.
    ///
    /// # Errors
    /// An encoder has failed: `finish` tells why.
    pub fn feed(&mut self, at: usize, yuv: &[u8]) -> Result<(), OutputError> {
        const LOOK: Duration = Duration::from_secs(1);
        if !self.segment(at).is_ours {
            return Ok(());
        }
        let mut lent = loop {
            self.listen()?;
            match self.waiting.take(LOOK) {
                Some(lent) => break lent,
                None if self.workers.iter().all(JoinHandle::is_finished) => return Err(gone()),
                None => {}
            }
        };
        lent.planes.clear();
        lent.planes.extend_from_slice(yuv);
        self.put(at, QueuedFrame::Fed(lent))
    }

    /// Adds the film's frame at that place, if its segment is made here.
    ///
    /// # Errors
    /// As [`Segments::feed`].
    pub fn put(&mut self, at: usize, item: QueuedFrame) -> Result<(), OutputError> {
        self.listen()?;
        let place = at / self.maker.settings.segment as usize;
        let segment = self.segment(at);
        if !segment.is_ours {
            return Ok(());
        }
        if self.open.as_ref().is_none_or(|(open, _)| *open != place) {
            let (send, items) = unbounded();
            let frames = segment.frames.len() as u64;
            let job = Job { segment: place, items, frames, file: segment.file.clone() };
            self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(gone)?;
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
        &self.segments[at / self.maker.settings.segment as usize]
    }

    // Hears of segments that have ended.
    fn listen(&mut self) -> Result<(), OutputError> {
        while let Ok(ended) = self.ended.try_recv() {
            self.hear(ended);
        }
        if self.failure.is_some() { Err(gone()) } else { Ok(()) }
    }

    fn hear(&mut self, ended: Ended) {
        self.pieces.extend(ended.piece.map(|piece| (ended.segment, piece)));
        if let Err(e) = ended.result {
            self.failure.get_or_insert(e);
        }
    }

    /// Waits for the encoders, and joins what they have made; None where others make the rest of the film, or there is
    /// nothing. Cut short, it is what there is from the beginning on.
    ///
    /// # Errors
    /// An encoder failed, or the join; what is kept, and where, is said.
    pub fn finish(mut self, cut_short: bool, path: &Path, tag: &Tag) -> Result<Option<PathBuf>, OutputError> {
        (self.open, self.jobs) = (None, None);
        while let Ok(ended) = self.ended.recv() {
            self.hear(ended);
        }
        for worker in std::mem::take(&mut self.workers) {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        let is_stopped = self.maker.is_stopped() && self.segments.iter().any(|s| s.is_ours && !mp4::is_whole(&s.file));
        let made = match self.failure.take() {
            // The rest is made by others, and a beginning of it is nobody's.
            failure if self.maker.film.part.is_some() => failure.map_or(Ok(None), Err),
            None if !cut_short && !is_stopped => self.join_all(tag),
            failure => {
                let short = if cut_short { path.to_owned() } else { partial(path) };
                match (self.keep(&short, tag), failure) {
                    (Ok(frames), Some(cause)) => Err(kept(cause, frames, &short)),
                    (Err(0), Some(cause)) => Err(cause),
                    (Err(frames), Some(cause)) => Err(cause.reworded(|what| {
                        let folder = self.maker.folder.display();
                        format!("{what}; {frames} frames are encoded and kept in {folder}: --resume goes on with them")
                    })),
                    (Ok(_), None) => Ok(Some(short)),
                    (Err(_), None) => Ok(None),
                }
            }
        };
        if self.maker.film.scene.is_none() {
            let _ = std::fs::remove_dir_all(&self.maker.folder);
        }
        remove_empty(&self.maker.folder, &self.maker.film.hidden);
        made
    }

    fn join_all(&self, tag: &Tag) -> Result<Option<PathBuf>, OutputError> {
        self.maker
            .film
            .name(&self.maker.settings, |path| {
                self.join_or_find(path, tag)?;
                for segment in &self.segments {
                    let _ = std::fs::remove_file(&segment.file);
                }
                Ok(())
            })
            .map(Some)
    }

    // Joins the segments, unless another run of the same film has.
    fn join_or_find(&self, path: &Path, tag: &Tag) -> Result<(), OutputError> {
        let missing = || self.segments.iter().enumerate().filter(|(_, s)| !mp4::is_whole(&s.file));
        // Another run of the same film removes the segments once it has joined them. It may have removed those of this run too.
        if missing().next().is_some() && self.maker.film.is_made(&self.maker.settings) {
            return Ok(());
        }
        for (place, segment) in missing() {
            if self.maker.film.source.is_none() {
                let file = segment.file.display();
                let what = format!("{file} has vanished: the same command with --resume makes what is missing");
                return Err(OutputError::Encoder { what, words: String::new() });
            }
            let (send, items) = unbounded();
            for &number in &self.maker.film.frames[segment.frames.clone()] {
                let _ = send.send(QueuedFrame::OnDisk(number));
            }
            drop(send);
            let frames = segment.frames.len() as u64;
            self.maker.make(&Job { segment: place, items, frames, file: segment.file.clone() }).result?;
        }
        let files: Vec<(&Path, u64)> =
            self.segments.iter().map(|s| (s.file.as_path(), s.frames.len() as u64)).collect();
        if let Err(cause) = self.maker.joiner().join(&self.maker.folder, &files, path, tag) {
            // Another run of the same film was there first, and has removed its segments.
            if self.maker.film.is_made(&self.maker.settings) {
                return Ok(());
            }
            let short = partial(path);
            let frames = self.maker.film.frames.len() as u64;
            return Err(match files.as_slice() {
                [(only, _)] if std::fs::rename(only, &short).is_ok() => kept(cause, frames, &short),
                _ => stored(cause, &self.maker.folder),
            });
        }
        Ok(())
    }

    // What there is from the beginning on gets that name; says how many frames it is, or how many are kept in segments where
    // it cannot be made.
    fn keep(&mut self, path: &Path, tag: &Tag) -> Result<u64, u64> {
        let (mut files, mut last) = (Vec::new(), None);
        for (place, segment) in self.segments.iter().enumerate() {
            if mp4::is_sealed(&segment.file) {
                files.push((segment.file.clone(), segment.frames.len() as u64));
                continue;
            }
            last = self.pieces.remove(&place).filter(|piece| piece.frames > 0);
            break;
        }
        let (whole, stored) = (files.len(), files.iter().map(|(_, frames)| frames).sum());
        files.extend(last.as_ref().map(|piece| (piece.file.path().to_owned(), piece.frames)));
        let frames = files.iter().map(|(_, frames)| frames).sum();
        let joined: Vec<(&Path, u64)> = files.iter().map(|(file, frames)| (file.as_path(), *frames)).collect();
        let tag = tag.of_beginning();
        if frames > 0 && self.maker.joiner().join(&self.maker.folder, &joined, path, &tag).is_ok() {
            return Ok(frames);
        }
        // Without room for another copy, the one that there is.
        let only = last.filter(|_| whole == 0).ok_or(stored)?;
        only.file.persist(path).map(|_| frames).map_err(|_| stored)
    }
}

fn gone() -> OutputError {
    OutputError::Encoder { what: "the encoder has gone".into(), words: String::new() }
}

fn stored(cause: OutputError, folder: &Path) -> OutputError {
    cause.reworded(|what| format!("{what}; all is encoded and kept in {}: --resume joins it", folder.display()))
}

// Makes segments.
struct SegmentEncoder {
    film: VideoJob,
    settings: Settings,
    ffmpeg: Ffmpeg,
    // Of the segments.
    folder: PathBuf,
}

impl SegmentEncoder {
    fn make_folder(&self) -> std::io::Result<PathBuf> {
        hidden::make(&self.film.hidden, self.folder.file_name().and_then(|name| name.to_str()))
    }

    // A temporary for a segment. Another run that has nothing in the folder may remove it meanwhile.
    fn temporary(&self, file: &Path) -> std::io::Result<NamedTempFile> {
        const TRIES: usize = 5;
        let make = || self.make_folder().and_then(|_| temporary(file));
        let gone = |made: &std::io::Result<_>| made.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound);
        let mut made = make();
        for _ in 1..TRIES {
            if !gone(&made) {
                break;
            }
            made = make();
        }
        made
    }

    // Whether frames that lie in their folder are not wanted any more.
    fn is_stopped(&self) -> bool {
        self.film.stop.load(Ordering::Relaxed)
    }

    fn joiner(&self) -> Joiner<'_> {
        Joiner { settings: &self.settings, ffmpeg: &self.ffmpeg }
    }

    fn start(&self, file: &Path) -> Result<Process, OutputError> {
        let mut arguments = input_arguments(&self.settings, self.film.sides());
        arguments.extend(output_arguments(&self.settings));
        arguments.push(url(file));
        Process::start(&self.ffmpeg.program, &arguments, self.settings.timeout)
    }

    fn try_one(&self) -> Result<(), OutputError> {
        let failed = |e| OutputError::Write(self.settings.path.clone(), e);
        let file = temporary(&self.settings.path).map_err(failed)?.into_temp_path();
        let mut trial = self.start(&file)?;
        // Should this fail, ffmpeg has already gone: its words are in what finish gives.
        let fed = trial.feed(&self.settings.grey(self.film.sides()));
        trial
            .finish(Some(1), "encoding a frame")
            .map_err(|e| e.reworded(|what| format!("the trial encode of one frame failed: {what}")))?;
        fed.map_err(failed)
    }

    fn make(&self, job: &Job) -> Ended {
        let (result, piece) = match self.encode(job) {
            Ok(piece) => (Ok(()), piece),
            Err((e, piece)) => (Err(e), piece),
        };
        // After a failure frames only pass, so that nobody waits for memory.
        job.items.iter().for_each(drop);
        Ended { segment: job.segment, result, piece }
    }

    // A piece where frames are missing; none where the segment is whole and has its name.
    fn encode(&self, job: &Job) -> Result<Option<PartialSegment>, (OutputError, Option<PartialSegment>)> {
        let failed = |e| OutputError::Write(job.file.clone(), e);
        let mut items = job.items.iter().peekable();
        if self.is_stopped() && matches!(items.peek(), Some(QueuedFrame::OnDisk(_)) | None) {
            return Ok(None);
        }
        let mut file = self.temporary(&job.file).map_err(|e| (failed(e), None))?;
        let mut process = self.start(file.path()).map_err(|e| (e, None))?;
        let (mut sent, mut unread, mut touched) = (0, None, Instant::now());
        'feeding: for first in items {
            if self.is_stopped() && sent > 0 && matches!(first, QueuedFrame::OnDisk(_)) {
                break;
            }
            if touched.elapsed() > FRESH {
                // ffmpeg may write nothing for hours of slow frames, and others would take the file for one that is left.
                touched = Instant::now();
                let _ = file.as_file().set_modified(SystemTime::now());
            }
            let mut batch = vec![first];
            while batch.len() < BATCH
                && let Ok(item) = job.items.try_recv()
            {
                batch.push(item);
            }
            let planes: Vec<_> = match batch.iter().any(|item| matches!(item, QueuedFrame::OnDisk(_))) {
                true => match threads::shared_pool() {
                    Ok(pool) => pool.install(|| batch.into_par_iter().map(|item| self.planes(item)).collect()),
                    Err(e) => vec![Err(e.into())],
                },
                false => batch.into_iter().map(|item| self.planes(item)).collect(),
            };
            for item in planes {
                let fed = match item {
                    Ok(Planes::Fed(lent)) => process.feed(&lent.planes),
                    Ok(Planes::Read(planes)) => process.feed(&planes),
                    Err(e) => {
                        unread = Some(e);
                        break 'feeding;
                    }
                };
                // One that did not get through counts: ffmpeg cannot have taken it.
                sent += 1;
                if fed.is_err() {
                    break 'feeding;
                }
            }
        }
        let closed = process.finish(Some(sent), "encoding the video");
        let found = |file: NamedTempFile| {
            let frames =
                packets(&self.ffmpeg.program, file.path(), self.settings.timeout).map_or(0, |p| p.len() as u64);
            Some(PartialSegment { file, frames })
        };
        match unread.map_or(closed, Err) {
            Err(e) => Err((e, found(file))),
            Ok(()) if sent < job.frames => Ok(Some(PartialSegment { file, frames: sent })),
            Ok(()) => {
                // What has its name counts as whole, after a power cut too.
                let synced = mp4::seal(file.as_file_mut(), &job.file).and_then(|()| file.as_file().sync_all());
                match synced
                    .map_err(|e| (e, None))
                    .and_then(|()| file.persist(&job.file).map_err(|e| (e.error, Some(e.file))))
                {
                    Ok(_) => Ok(None),
                    Err((e, file)) => Err((failed(e), file.and_then(found))),
                }
            }
        }
    }

    fn planes(&self, item: QueuedFrame) -> Result<Planes, OutputError> {
        match item {
            QueuedFrame::Fed(lent) => Ok(Planes::Fed(lent)),
            QueuedFrame::OnDisk(number) => self.film.planes(number, &self.settings).map(Planes::Read),
        }
    }
}
