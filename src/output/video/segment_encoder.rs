//! Encodes one segment at a time: reads existing frames, feeds ffmpeg, and seals complete segments.

use super::arguments::{input_arguments, output_arguments};
use super::buffer_pool::PooledBuffer;
use super::ffmpeg::{Ffmpeg, Process, packets, url};
use super::job::VideoJob;
use super::join::Joiner;
use super::mp4;
use super::tag::Tag;
use crate::language::msg;
use crate::output::error::{NameFile, OutputError};
use crate::output::store::atomic::{persist, temporary};
use crate::output::store::hidden;
use crate::threads;
use crossbeam_channel::Receiver;
use rayon::prelude::*;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tempfile::NamedTempFile;

/// A frame on its way to an encoder.
pub enum QueuedFrame {
    Fed(PooledBuffer),
    /// The number of an existing frame.
    OnDisk(u32),
}

// Frames that are decoded concurrently.
const BATCH: usize = 8;

// How often the time stamp of a file in work is renewed.
const FRESH: Duration = Duration::from_secs(60);

/// The frames of an incomplete segment.
pub struct PartialSegment {
    /// The file, under a private name.
    pub file: NamedTempFile,
    pub frames: u64,
}

pub struct SegmentTask {
    /// The index of the segment in the video.
    pub segment: usize,
    /// The frames, as they arrive.
    pub items: Receiver<QueuedFrame>,
    /// The number of frames.
    pub frames: u64,
    /// The path of the complete segment.
    pub file: PathBuf,
}

/// The result of a segment, and what is kept of an incomplete one.
pub type Ended = (Result<(), OutputError>, Option<PartialSegment>);

pub struct SegmentEncoder {
    pub job: Arc<VideoJob>,
    pub ffmpeg: Ffmpeg,
    /// The folder of the segments.
    pub folder: PathBuf,
}

impl SegmentEncoder {
    /// The joiner of the segments.
    pub fn joiner(&self) -> Joiner<'_> {
        Joiner { settings: &self.job.settings, ffmpeg: &self.ffmpeg }
    }

    /// The tag of the complete video.
    pub fn tag(&self) -> Tag {
        self.job.tag(&self.ffmpeg)
    }

    /// Makes the folder of the segments.
    pub fn make_folder(&self) -> io::Result<PathBuf> {
        hidden::make(&self.job.hidden, self.folder.file_name().and_then(|name| name.to_str()))
    }

    // A temporary file for a segment. Another run may remove the empty folder meanwhile.
    fn temporary(&self, file: &Path) -> io::Result<NamedTempFile> {
        let mut more_tries = 0..4;
        loop {
            match self.make_folder().and_then(|_| temporary(file)) {
                Err(e) if e.kind() == io::ErrorKind::NotFound && more_tries.next().is_some() => {}
                other => return other,
            }
        }
    }

    /// Whether existing frames are not needed any more.
    pub fn is_stopped(&self) -> bool {
        self.job.cancel.is_stopped()
    }

    fn start(&self, file: &Path) -> Result<Process, OutputError> {
        let settings = &self.job.settings;
        let mut arguments = input_arguments(settings, self.job.sides());
        arguments.extend(output_arguments(settings));
        arguments.extend(["-metadata".into(), format!("comment={}", self.job.segment_tag()), url(file)]);
        Process::start(&self.ffmpeg.program, &arguments, settings.options.timeout)
    }

    /// Encodes a gray frame and discards it.
    pub fn try_one(&self) -> Result<(), OutputError> {
        let settings = &self.job.settings;
        let file = temporary(&settings.path).writing(&settings.path)?.into_temp_path();
        let mut trial = self.start(&file)?;
        // If this fails, ffmpeg has ended, and `finish` returns its output.
        let fed = trial.feed(&settings.grey(self.job.sides()));
        trial.finish(Some(1), msg!("encoding a frame")).map_err(|e| self.trial_error(e))?;
        fed.writing(&settings.path)
    }

    fn trial_error(&self, error: OutputError) -> OutputError {
        let codec = self.job.settings.codec;
        let is_missing = matches!(&error, OutputError::Encoder { words, .. } if words.contains("Unknown encoder"));
        let error = error.reworded(|what| match (is_missing, codec.is_hardware) {
            (true, _) => msg!(
                "this ffmpeg has no encoder {encoder}, which --codec {codec} needs",
                encoder = codec.encoder,
                codec = codec.name
            ),
            (false, true) => msg!(
                "the trial encode of one frame failed: {why}; {name} needs its chip and its driver",
                why = what,
                name = codec.name
            ),
            (false, false) => msg!("the trial encode of one frame failed: {why}", why = what),
        });
        match is_missing || codec.is_hardware {
            true => OutputError::no_encoder(error.message()),
            false => error,
        }
    }

    pub fn make(&self, task: &SegmentTask) -> Ended {
        let ended = self.encode(task);
        // After a failure, frames are dropped, so that no thread waits for memory.
        task.items.iter().for_each(drop);
        ended
    }

    fn encode(&self, task: &SegmentTask) -> Ended {
        let mut items = task.items.iter().peekable();
        if self.is_stopped() && matches!(items.peek(), Some(QueuedFrame::OnDisk(_)) | None) {
            return (Ok(()), None);
        }
        let started = self.temporary(&task.file).writing(&task.file);
        let (mut file, mut process) =
            match started.and_then(|file| self.start(file.path()).map(|ffmpeg| (file, ffmpeg))) {
                Ok(started) => started,
                Err(e) => return (Err(e), None),
            };
        let (mut sent, mut unread, mut touched) = (0, None, Instant::now());
        'feeding: for first in items {
            if self.is_stopped() && sent > 0 && matches!(first, QueuedFrame::OnDisk(_)) {
                break;
            }
            if touched.elapsed() > FRESH {
                // ffmpeg may write nothing for hours if frames are slow. Without a new time stamp, other runs would
                // remove the file.
                touched = Instant::now();
                let _ = file.as_file().set_modified(SystemTime::now());
            }
            let batch: Vec<_> = [first].into_iter().chain(task.items.try_iter().take(BATCH - 1)).collect();
            for buffer in self.read(batch) {
                let buffer = match buffer {
                    Ok(buffer) => buffer,
                    Err(e) => {
                        unread = Some(e);
                        break 'feeding;
                    }
                };
                // A frame counts even if the write failed: ffmpeg cannot have encoded it.
                sent += 1;
                if process.feed(&buffer.planes).is_err() {
                    break 'feeding;
                }
            }
        }
        let closed = process.finish(Some(sent), msg!("encoding the video"));
        let found = |file: NamedTempFile| {
            let packets = packets(&self.ffmpeg.program, file.path(), self.job.settings.options.timeout);
            Some(PartialSegment { file, frames: packets.map_or(0, |p| p.len() as u64) })
        };
        match unread.map_or(closed, Err) {
            Err(e) => (Err(e), found(file)),
            Ok(()) if sent < task.frames => (Ok(()), Some(PartialSegment { file, frames: sent })),
            Ok(()) => {
                // Synced first, because a file of this name counts as complete even after a power cut.
                let sealed = mp4::seal(file.as_file_mut(), &task.file).and_then(|()| file.as_file().sync_all());
                match sealed.map(|()| persist(file, &task.file)) {
                    Ok(Ok(_)) => (Ok(()), None),
                    Ok(Err(e)) => (Err(OutputError::Write(task.file.clone(), e.error)), found(e.file)),
                    Err(e) => (Err(e).writing(&task.file), None),
                }
            }
        }
    }

    // The planes of frames. Existing frames are decoded concurrently.
    fn read(&self, batch: Vec<QueuedFrame>) -> Vec<Result<PooledBuffer, OutputError>> {
        let buffer = |item| match item {
            QueuedFrame::Fed(buffer) => Ok(buffer),
            QueuedFrame::OnDisk(number) => self.job.planes(number).map(|planes| PooledBuffer { planes, pool: None }),
        };
        if batch.iter().all(|item| matches!(item, QueuedFrame::Fed(_))) {
            return batch.into_iter().map(buffer).collect();
        }
        match threads::shared_pool() {
            Ok(pool) => pool.install(|| batch.into_par_iter().map(buffer).collect()),
            Err(e) => vec![Err(e.into())],
        }
    }
}
