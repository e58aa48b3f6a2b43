//! Joins encoded segments into one video without encoding again. Segments are fragmented files (frag_keyframe). If
//! their headers are equal, their fragments are concatenated with adjusted times and piped to ffmpeg, which copies
//! them into one file with an index. Other files, such as those of another ffmpeg, are joined by ffmpeg's concat
//! demuxer. It decodes a picture of each and adds lengths in microseconds; this would move frames by a tick, so times
//! are rounded to whole frames. In both cases, the result is checked.
//!
//! A [`GrowingVideo`] is joined by the first way while later segments are encoded, so that a long film has no wait at
//! its end.

use super::arguments::clock;
use super::containers::Join;
use super::ffmpeg::{Ffmpeg, Packet, Process, packets, url, words};
use super::mp4::{Fragments, PacketChecksum};
use super::settings::Settings;
use super::tag::{self, Tag};
use super::webp;
use crate::assets::source::read_regular;
use crate::language::{Message, msg};
use crate::output::error::{NameFile, OutputError};
use crate::output::store::atomic::temporary;
use crate::system;
use crate::threads::NoThread;
use std::io::Write;
use std::path::Path;
use tempfile::{NamedTempFile, TempPath};

pub struct Joiner<'a> {
    pub settings: &'a Settings,
    pub ffmpeg: &'a Ffmpeg,
}

/// A video whose segments are joined one by one.
pub struct GrowingVideo {
    segments: Fragments,
    checksums: Vec<PacketChecksum>,
    // Ends before its file is removed.
    process: Process,
    file: NamedTempFile,
}

// ffmpeg's input.
enum Source {
    // Concatenated fragments on standard input.
    Row(Fragments),
    // A list of files for the concat demuxer.
    List(NamedTempFile),
}

const ROW: &str = "-nostdin -f mov -i pipe:0";

impl Source {
    fn arguments(&self) -> Vec<String> {
        match self {
            Source::Row(_) => words(ROW).collect(),
            Source::List(list) => words("-nostdin -f concat -safe 0 -i").chain([url(list.path())]).collect(),
        }
    }
}

impl Joiner<'_> {
    /// Joins encoded files, each with its number of frames, into a file whose index comes first. The file gets its
    /// name when all frames are present at the right times.
    pub fn join(&self, folder: &Path, files: &[(&Path, u64)], path: &Path, tag: &Tag) -> Result<(), OutputError> {
        let row = Fragments::of(files.iter().map(|(file, frames)| (*file, self.ticks(*frames))));
        if row.is_some() && self.is_one_pass() {
            let mut video = self.begin(tag)?;
            files.iter().try_for_each(|(file, frames)| self.append(&mut video, file, *frames))?;
            return self.finish(video, path, tag);
        }
        let source = match row {
            Some(row) => Source::Row(row),
            None => {
                let mut list = temporary(&folder.join("list")).writing(path)?;
                list.write_all(self.list(files).as_bytes()).writing(path)?;
                Source::List(list)
            }
        };
        let whole = temporary(path).writing(path)?.into_temp_path();
        match self.is_one_pass() {
            true => self.run(&source, self.one_pass(tag).into_iter(), &whole)?,
            false => self.quantize(&source, &whole)?,
        }
        self.publish(whole, files.iter().map(|(_, frames)| frames).sum(), None, path, tag)
    }

    /// Whether ffmpeg reads the segments once, so that the video can grow. A palette needs two passes.
    pub fn is_one_pass(&self) -> bool {
        self.settings.container().join != Join::Palette
    }

    /// Starts a video without segments, under a private name.
    pub fn begin(&self, tag: &Tag) -> Result<GrowingVideo, OutputError> {
        let path = &self.settings.path;
        let file = temporary(path).writing(path)?;
        let words: Vec<String> = words(ROW).chain(self.one_pass(tag)).chain([url(file.path())]).collect();
        let process = Process::start(&self.ffmpeg.program, &words, self.settings.options.timeout)?;
        Ok(GrowingVideo { segments: Fragments::default(), checksums: Vec::new(), process, file })
    }

    /// Appends an encoded file with its number of frames.
    pub fn append(&self, video: &mut GrowingVideo, file: &Path, frames: u64) -> Result<(), OutputError> {
        let GrowingVideo { segments, checksums, process, .. } = video;
        let broken = || OutputError::Read(file.to_owned(), std::io::ErrorKind::InvalidData.into());
        segments.push(file, self.ticks(frames)).ok_or_else(broken)?;
        let written = segments.write(segments.len() - 1, |bytes| process.feed(bytes));
        checksums.extend(written.map_err(|(file, e)| OutputError::Read(file, e))?);
        Ok(())
    }

    /// Ends a video that has all of its segments. It gets its name when all frames are present at the right times.
    pub fn finish(&self, video: GrowingVideo, path: &Path, tag: &Tag) -> Result<(), OutputError> {
        let GrowingVideo { segments, checksums, process, file } = video;
        // If ffmpeg has failed, its output says why.
        process.finish(None, msg!("closing the video"))?;
        let frames = segments.duration() / self.ticks(1);
        self.publish(file.into_temp_path(), frames, Some(checksums), path, tag)
    }

    // The duration of frames in ticks of the video's clock.
    fn ticks(&self, frames: u64) -> u64 {
        frames * clock(self.settings.fps).1
    }

    // Checks a video and gives it its name.
    fn publish(
        &self,
        whole: TempPath,
        frames: u64,
        given: Option<Vec<PacketChecksum>>,
        path: &Path,
        tag: &Tag,
    ) -> Result<(), OutputError> {
        let join = self.settings.container().join;
        if join == Join::Webp && self.settings.has_alpha {
            webp::disable_blending(&whole).writing(path)?;
        }
        tag::write(&whole, join, tag).writing(path)?;
        self.check(&whole, frames, given)?;
        whole.persist(system::long(path)).writing(path)
    }

    // The input of ffmpeg's concat demuxer.
    fn list(&self, files: &[(&Path, u64)]) -> String {
        let (second, frame) = clock(self.settings.fps);
        let microseconds = |frames: u64| (frames as f64 * frame as f64 * 1e6 / second as f64).round() as u64;
        // Each length brings the sum to the nearest microsecond.
        let (mut text, mut before) = ("ffconcat version 1.0\n".to_owned(), 0);
        for (file, frames) in files {
            let lasts = microseconds(before + frames) - microseconds(before);
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            text += &format!("file '{name}'\nduration {}.{:06}\n", lasts / 1_000_000, lasts % 1_000_000);
            // The header has all information, so that as little as possible is decoded.
            text += "option fpsprobesize 0\noption analyzeduration 1\n";
            before += frames;
        }
        text
    }

    // Runs ffmpeg.
    fn run(&self, source: &Source, arguments: impl Iterator<Item = String>, to: &Path) -> Result<(), OutputError> {
        let words: Vec<String> = source.arguments().into_iter().chain(arguments).chain([url(to)]).collect();
        let mut process = Process::start(&self.ffmpeg.program, &words, self.settings.options.timeout)?;
        let fed = match source {
            Source::Row(row) => row.write(0, |bytes| process.feed(bytes)).map(drop),
            Source::List(_) => Ok(()),
        };
        // If ffmpeg has failed, its output says why.
        process.finish(None, msg!("closing the video"))?;
        fed.map_err(|(file, e)| OutputError::Read(file, e))
    }

    // ffmpeg's arguments between the segments and the video, for a container that needs one pass.
    fn one_pass(&self, tag: &Tag) -> Vec<String> {
        let container = self.settings.container();
        if container.join == Join::Webp {
            let own = words(container.encodes[self.settings.encode as usize]);
            return words("-c:v libwebp -quality 82 -loop 0 -an -f webp").chain(own).collect();
        }
        // Frames are copied without encoding.
        let (second, frame) = clock(self.settings.fps);
        // Moving the index to the front writes the file once more.
        let front = if self.settings.codec.is_master { "" } else { "-movflags +faststart" };
        let times = match container.has_index() {
            true => format!(
                "-bsf:v setts=pts=round(PTS/{frame})*{frame}:dts=round(DTS/{frame})*{frame} \
                 -video_track_timescale {second} {front} "
            ),
            // The muxer of a container with a fixed clock rounds times. It would give each file a random number.
            false => "-fflags +bitexact ".to_owned(),
        };
        let form = format!("{times}-f {}", container.muxer);
        words("-map 0:v -c copy -metadata").chain([format!("comment={tag}")]).chain(words(&form)).collect()
    }

    // Quantizes to 256 colors for the whole clip. One pass finds the palette and another applies it, so that no
    // frames wait in memory.
    fn quantize(&self, source: &Source, to: &Path) -> Result<(), OutputError> {
        let palette = temporary(to).writing(to)?.into_temp_path();
        let found = words("-vf palettegen=stats_mode=diff -update 1 -frames:v 1 -c:v png -f image2");
        self.run(source, found, &palette)?;
        let used = words("-lavfi paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle -loop 0 -f gif");
        self.run(source, words("-f image2 -c:v png -i").chain([url(&palette)]).chain(used), to).map(drop)
    }

    // Checks that all frames are present, at the right times and with the segments' checksums. Since the headers are
    // equal, they decode to the same pictures.
    fn check(&self, whole: &Path, frames: u64, given: Option<Vec<PacketChecksum>>) -> Result<(), OutputError> {
        let container = self.settings.container();
        let wrong = |what: Message| Err(OutputError::encoder(what));
        // ffmpeg cannot read the animated WebP that it writes.
        if container.join == Join::Webp {
            let found = webp::frames(&read_regular(whole).reading(whole)?).unwrap_or(0);
            // A single frame is a still picture.
            return match found == frames || frames == 1 {
                true => Ok(()),
                false => wrong(msg!("the finished video holds {found} of {frames} frames", found, frames)),
            };
        }
        let mut found = match packets(&self.ffmpeg.program, whole, self.settings.options.timeout) {
            Err(e) if e.kind() == std::io::ErrorKind::TimedOut => {
                return wrong(msg!(
                    "ffmpeg made no progress for {seconds} s {doing}, and was killed",
                    seconds = self.settings.options.timeout.as_secs(),
                    doing = msg!("checking the finished video")
                ));
            }
            Err(e) => {
                return Err(NoThread::of(&e).map_or_else(|| OutputError::Read(whole.to_owned(), e), OutputError::from));
            }
            Ok(found) => found,
        };
        if found.len() as u64 != frames {
            return wrong(msg!("the finished video holds {found} of {frames} frames", found = found.len(), frames));
        }
        if let Some(given) = given
            && let Some(odd) = found.iter().zip(&given).position(|(found, given)| found.checksum != *given)
        {
            return wrong(msg!(
                "frame {frame} of the finished video, as coded, is not that of its segment",
                frame = odd
            ));
        }
        found.sort_by_key(|p| p.pts);
        let first = found.first().map_or(0, |p| p.pts);
        let (second, frame) = clock(self.settings.fps);
        let is_even = |(i, p): (usize, &Packet)| match container.ticks {
            None => p.pts - first == i as i64 * frame as i64,
            // The nearest tick, or one beside it.
            Some(ticks) => {
                let due = i as f64 * frame as f64 / second as f64 * ticks as f64;
                ((p.pts - first) as f64 - due).abs() <= 1.0
            }
        };
        match found.iter().enumerate().position(|each| !is_even(each)) {
            Some(odd) => wrong(msg!("frame {frame} of the finished video is not where it should be", frame = odd)),
            None => Ok(()),
        }
    }
}
