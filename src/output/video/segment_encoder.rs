//! Encodes one segment at a time: reads existing frames, feeds ffmpeg, and seals complete segments. A seal is a small
//! file beside the segment, as `sha256sum` writes it, so that a truncated or changed segment is encoded again.

use super::arguments::{input_arguments, output_arguments};
use super::buffer_pool::PooledBuffer;
use super::ffmpeg::{Ffmpeg, Process, times, url, words};
use super::job::VideoJob;
use super::tag::Tag;
use crate::assets::source::open_regular;
use crate::language::msg;
use crate::math::hash::{hex, of_reader};
use crate::output::error::{NameFile, OutputError};
use crate::output::store::atomic::{persist, temporary, write_whole};
use crate::output::store::hidden;
use crate::threads;
use crossbeam_channel::Receiver;
use rayon::prelude::*;
use sha2::Digest;
use std::io::{self, Write};
use std::ops::Range;
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

pub struct Segment {
    /// Indices into the film's frames.
    pub frames: Range<usize>,
    pub file: PathBuf,
}

/// How a segment ended.
pub enum Ended {
    Complete,
    /// What is kept of it, and the failure. It has no failure if the run stops.
    Incomplete(Option<PartialSegment>, Option<OutputError>),
}

// The path of a segment's seal.
fn seal_of(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(".sha256");
    path.into()
}

// The content of a segment's seal.
fn checksum(file: &Path) -> io::Result<String> {
    let hash = of_reader(open_regular(file)?)?.finalize();
    Ok(format!("{}  {}\n", hex(&hash), file.file_name().unwrap_or_default().display()))
}

fn seal(file: &Path) -> Result<(), OutputError> {
    let text = checksum(file).writing(file)?;
    write_whole(&seal_of(file), |file| file.write_all(text.as_bytes()))
}

/// Whether a segment is complete and unchanged.
pub fn is_sealed(file: &Path) -> bool {
    hidden::read_text(&seal_of(file), 1 << 10).is_ok_and(|seal| checksum(file).is_ok_and(|own| own == seal))
}

/// Removes a segment and its seal.
pub fn remove(file: &Path) {
    let _ = std::fs::remove_file(file);
    let _ = std::fs::remove_file(seal_of(file));
}

pub struct SegmentEncoder {
    pub job: Arc<VideoJob>,
    pub ffmpeg: Ffmpeg,
    /// The folder of the segments.
    pub folder: PathBuf,
}

impl SegmentEncoder {
    /// The tag of the complete video.
    pub fn tag(&self) -> Tag {
        self.job.tag(&self.ffmpeg)
    }

    /// The tag of a part of the video, such as a segment that a full disk leaves.
    pub fn beginning_tag(&self) -> Tag {
        Tag { is_beginning: true, ..self.tag() }
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
        arguments.extend(["-metadata".into(), format!("comment={}", self.beginning_tag()), url(file)]);
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

    /// Reads the beginning of the music, if there is any.
    pub fn try_audio(&self) -> Result<(), OutputError> {
        let options = &self.job.settings.options;
        let Some(audio) = &options.audio else { return Ok(()) };
        open_regular(audio).reading(audio)?;
        let arguments = words("-nostdin -t 1 -i").chain([url(audio)]).chain(words("-map 0:a:0 -f null -"));
        let trial = Process::start(&self.ffmpeg.program, &arguments.collect::<Vec<_>>(), options.timeout)?;
        trial.finish(None, msg!("reading {path}", path = audio.display()))
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
            true => OutputError::NoEncoder(error.message()),
            false => error,
        }
    }

    /// Encodes a segment from its frames, as they arrive.
    pub fn make(&self, segment: &Segment, items: &Receiver<QueuedFrame>) -> Ended {
        let ended = self.encode(segment, items);
        // After a failure, frames are dropped, so that no thread waits for memory.
        items.iter().for_each(drop);
        ended
    }

    fn encode(&self, Segment { frames, file: path }: &Segment, queue: &Receiver<QueuedFrame>) -> Ended {
        let mut items = queue.iter().peekable();
        if self.is_stopped() && matches!(items.peek(), Some(QueuedFrame::OnDisk(_)) | None) {
            return Ended::Incomplete(None, None);
        }
        let file = self.temporary(path).writing(path);
        let (file, mut process) = match file.and_then(|file| self.start(file.path()).map(|process| (file, process))) {
            Ok(started) => started,
            Err(e) => return Ended::Incomplete(None, Some(e)),
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
            let batch: Vec<_> = [first].into_iter().chain(queue.try_iter().take(BATCH - 1)).collect();
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
        match unread.map_or(closed, Err) {
            Err(e) => {
                let (found, _) = times(&self.ffmpeg.program, file.path(), self.job.settings.options.timeout);
                Ended::Incomplete(Some(PartialSegment { file, frames: found.len() as u64 }), Some(e))
            }
            Ok(()) if sent < frames.len() as u64 => {
                Ended::Incomplete(Some(PartialSegment { file, frames: sent }), None)
            }
            Ok(()) => match persist(file, path).map_err(|e| e.error).writing(path).and_then(|_| seal(path)) {
                Err(e) => Ended::Incomplete(None, Some(e)),
                Ok(()) => Ended::Complete,
            },
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
