//! Joins encoded segments into one video without encoding again. Segments are fragmented files (frag_keyframe). If
//! their headers are equal, their fragments are concatenated with adjusted times and piped to ffmpeg, which copies
//! them into one file with an index. Other files, such as those of another ffmpeg, are joined by ffmpeg's concat
//! demuxer. It decodes a picture of each and adds lengths in microseconds; this would move frames by a tick, so times
//! are rounded to whole frames. In both cases, the result is checked.

use super::arguments::clock;
use super::containers::Join;
use super::ffmpeg::{Ffmpeg, Packet, Process, packets, url, words};
use super::mp4::{Fragments, PacketChecksum};
use super::settings::Settings;
use super::tag::{self, Tag};
use super::webp;
use crate::language::Language;
use crate::output::error::{NameFile, OutputError};
use crate::output::store::atomic::temporary;
use crate::system;
use crate::threads::NoThread;
use std::io::Write;
use std::path::Path;
use tempfile::NamedTempFile;

pub struct Joiner<'a> {
    pub settings: &'a Settings,
    pub ffmpeg: &'a Ffmpeg,
}

// ffmpeg's input.
enum Source {
    // Concatenated fragments on standard input.
    Row(Fragments),
    // A list of files for the concat demuxer.
    List(NamedTempFile),
}

impl Source {
    fn arguments(&self) -> Vec<String> {
        let (form, name) = match self {
            Source::Row(_) => ("-nostdin -f mov -i", "pipe:0".to_owned()),
            Source::List(list) => ("-nostdin -f concat -safe 0 -i", url(list.path())),
        };
        words(form).chain([name]).collect()
    }
}

impl Joiner<'_> {
    /// Joins encoded files, each with its number of frames, into a file whose index comes first. The file gets its
    /// name when all frames are present at the right times.
    pub fn join(&self, folder: &Path, files: &[(&Path, u64)], path: &Path, tag: &Tag) -> Result<(), OutputError> {
        let (frames, ticks) = (files.iter().map(|(_, frames)| frames).sum(), clock(self.settings.fps).1);
        let source = match Fragments::of(files.iter().map(|(file, frames)| (*file, frames * ticks))) {
            Some(row) => Source::Row(row),
            None => {
                let mut list = temporary(&folder.join("list")).writing(path)?;
                list.write_all(self.list(files).as_bytes()).writing(path)?;
                Source::List(list)
            }
        };
        let whole = temporary(path).writing(path)?.into_temp_path();
        let container = self.settings.container();
        let given = match container.join {
            Join::Copied => self.copy(&source, &whole, tag)?,
            Join::Palette => {
                self.quantize(&source, &whole)?;
                None
            }
            Join::Webp => {
                let own = words(container.encodes[self.settings.encode as usize]);
                self.run(&source, words("-c:v libwebp -quality 82 -loop 0 -an -f webp").chain(own), &whole)?;
                if self.settings.has_alpha {
                    webp::disable_blending(&whole).writing(path)?;
                }
                None
            }
        };
        tag::write(&whole, container.join, tag).writing(path)?;
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

    // Runs ffmpeg. Returns the checksums of the frames that were piped to it, if they were.
    fn run(
        &self,
        source: &Source,
        arguments: impl Iterator<Item = String>,
        to: &Path,
    ) -> Result<Option<Vec<PacketChecksum>>, OutputError> {
        let words: Vec<String> = source.arguments().into_iter().chain(arguments).chain([url(to)]).collect();
        let mut process = Process::start(&self.ffmpeg.program, &words, self.settings.options.timeout)?;
        let fed = match source {
            Source::Row(row) => row.write(|bytes| process.feed(bytes)).map(Some),
            Source::List(_) => Ok(None),
        };
        // If ffmpeg has failed, its output says why.
        process.finish(None, Language::closing_the_video)?;
        fed.map_err(|(file, e)| OutputError::Read(file, e))
    }

    // Copies frames without encoding.
    fn copy(&self, source: &Source, to: &Path, tag: &Tag) -> Result<Option<Vec<PacketChecksum>>, OutputError> {
        let container = self.settings.container();
        let (second, frame) = clock(self.settings.fps);
        // Moving the index to the front writes the file once more.
        let front = if self.settings.codec.is_master { "" } else { "-movflags +faststart" };
        let times = match container.has_index() {
            true => format!(
                "-bsf:v setts=pts=round(PTS/{frame})*{frame}:dts=round(DTS/{frame})*{frame} \
                 -video_track_timescale {second} {front} "
            ),
            // The muxer of a container with a fixed clock rounds times.
            false => String::new(),
        };
        let form = format!("{times}-f {}", container.muxer);
        let arguments = words("-map 0:v -c copy -metadata").chain([format!("comment={tag}")]).chain(words(&form));
        self.run(source, arguments, to)
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
        let wrong = |what: &dyn Fn(Language) -> String| Err(OutputError::encoder(what));
        // ffmpeg cannot read the animated WebP that it writes.
        if container.join == Join::Webp {
            let found = webp::frames(&std::fs::read(whole).reading(whole)?).unwrap_or(0);
            // A single frame is a still picture.
            return match found == frames || frames == 1 {
                true => Ok(()),
                false => wrong(&|l| l.video_holds(found, frames)),
            };
        }
        let mut found = match packets(&self.ffmpeg.program, whole, self.settings.options.timeout) {
            Err(e) if e.kind() == std::io::ErrorKind::TimedOut => {
                return wrong(&|l| l.ffmpeg_stalled(self.settings.options.timeout.as_secs(), l.checking_the_video()));
            }
            Err(e) => {
                return Err(NoThread::of(&e).map_or_else(|| OutputError::Read(whole.to_owned(), e), OutputError::from));
            }
            Ok(found) => found,
        };
        if found.len() as u64 != frames {
            return wrong(&|l| l.video_holds(found.len(), frames));
        }
        if let Some(given) = given
            && let Some(odd) = found.iter().zip(&given).position(|(found, given)| found.checksum != *given)
        {
            return wrong(&|l| l.odd_frame(odd));
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
            Some(odd) => wrong(&|l| l.misplaced_frame(odd)),
            None => Ok(()),
        }
    }
}
