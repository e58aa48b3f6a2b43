//! Makes one segment at a time: reads frames that lie in their folder, feeds ffmpeg, and seals what is whole.

use super::arguments::{input_arguments, output_arguments};
use super::buffer_pool::PooledBuffer;
use super::ffmpeg::{Ffmpeg, Process, packets, url};
use super::job::VideoJob;
use super::join::Joiner;
use super::mp4;
use super::settings::Settings;
use crate::output::error::OutputError;
use crate::output::store::atomic::temporary;
use crate::output::store::hidden;
use crate::threads;
use crossbeam_channel::Receiver;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
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

/// The frames of a segment that is not whole.
pub struct PartialSegment {
    /// Its file, under a private name.
    pub file: NamedTempFile,
    /// How many frames it holds.
    pub frames: u64,
}

/// A segment to make.
pub struct SegmentTask {
    /// Which one of the video it is.
    pub segment: usize,
    /// Its frames, as they come.
    pub items: Receiver<QueuedFrame>,
    /// How many they will be.
    pub frames: u64,
    /// The segment's name.
    pub file: PathBuf,
}

/// How the making of a segment has ended.
pub struct Ended {
    /// Which one of the video it is.
    pub segment: usize,
    /// Whether the encoder failed.
    pub result: Result<(), OutputError>,
    /// What is kept of a segment that is not whole.
    pub partial: Option<PartialSegment>,
}

/// Makes segments of a video.
pub struct SegmentEncoder {
    /// What the video is of.
    pub job: VideoJob,
    /// How it is encoded.
    pub settings: Settings,
    /// What encodes it.
    pub ffmpeg: Ffmpeg,
    /// The folder of the segments.
    pub folder: PathBuf,
}

impl SegmentEncoder {
    /// Makes the folder of the segments.
    pub fn make_folder(&self) -> std::io::Result<PathBuf> {
        hidden::make(&self.job.hidden, self.folder.file_name().and_then(|name| name.to_str()))
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

    /// Whether frames that lie in their folder are not wanted any more.
    pub fn is_stopped(&self) -> bool {
        self.job.cancel.is_stopped()
    }

    /// What joins the segments.
    pub fn joiner(&self) -> Joiner<'_> {
        Joiner { settings: &self.settings, ffmpeg: &self.ffmpeg }
    }

    fn start(&self, file: &Path) -> Result<Process, OutputError> {
        let mut arguments = input_arguments(&self.settings, self.job.sides());
        arguments.extend(output_arguments(&self.settings));
        arguments.push(url(file));
        Process::start(&self.ffmpeg.program, &arguments, self.settings.timeout)
    }

    /// Encodes one grey frame, and throws it away.
    ///
    /// # Errors
    /// ffmpeg has no such encoder, or refuses the settings.
    pub fn try_one(&self) -> Result<(), OutputError> {
        let failed = |e| OutputError::Write(self.settings.path.clone(), e);
        let file = temporary(&self.settings.path).map_err(failed)?.into_temp_path();
        let mut trial = self.start(&file)?;
        // Should this fail, ffmpeg has already gone: its words are in what finish gives.
        let fed = trial.feed(&self.settings.grey(self.job.sides()));
        trial.finish(Some(1), "encoding a frame").map_err(|e| self.trial_error(e))?;
        fed.map_err(failed)
    }

    fn trial_error(&self, error: OutputError) -> OutputError {
        let codec = self.settings.codec;
        let is_missing = matches!(&error, OutputError::Encoder { words, .. } if words.contains("Unknown encoder"));
        error.reworded(|what| match (is_missing, codec.is_hardware) {
            (true, _) => format!("this ffmpeg has no encoder {}, which --codec {} needs", codec.encoder, codec.name),
            (false, true) => {
                format!("the trial encode of one frame failed: {what}; {} needs its chip and its driver", codec.name)
            }
            (false, false) => format!("the trial encode of one frame failed: {what}"),
        })
    }

    /// Makes a segment.
    pub fn make(&self, task: &SegmentTask) -> Ended {
        let (result, partial) = match self.encode(task) {
            Ok(partial) => (Ok(()), partial),
            Err((e, partial)) => (Err(e), partial),
        };
        // After a failure frames only pass, so that nobody waits for memory.
        task.items.iter().for_each(drop);
        Ended { segment: task.segment, result, partial }
    }

    // A partial segment where frames are missing; none where the segment is whole and has its name.
    fn encode(&self, task: &SegmentTask) -> Result<Option<PartialSegment>, (OutputError, Option<PartialSegment>)> {
        let failed = |e| OutputError::Write(task.file.clone(), e);
        let mut items = task.items.iter().peekable();
        if self.is_stopped() && matches!(items.peek(), Some(QueuedFrame::OnDisk(_)) | None) {
            return Ok(None);
        }
        let mut file = self.temporary(&task.file).map_err(|e| (failed(e), None))?;
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
                && let Ok(item) = task.items.try_recv()
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
                    Ok(Planes::Fed(lent)) => process.feed(lent.planes()),
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
            Ok(()) if sent < task.frames => Ok(Some(PartialSegment { file, frames: sent })),
            Ok(()) => {
                // What has its name counts as whole, after a power cut too.
                let synced = mp4::seal(file.as_file_mut(), &task.file).and_then(|()| file.as_file().sync_all());
                match synced
                    .map_err(|e| (e, None))
                    .and_then(|()| file.persist(&task.file).map_err(|e| (e.error, Some(e.file))))
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
            QueuedFrame::OnDisk(number) => self.job.planes(number, &self.settings).map(Planes::Read),
        }
    }
}
