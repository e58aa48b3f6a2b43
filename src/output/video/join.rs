//! Encoded segments become one film, without encoding again.
//!
//! Segments are files of fragments (frag_keyframe): where they begin alike, their fragments are put into one row, each at its
//! time in ticks, and ffmpeg gets that through its standard input; it copies them into the film's file with its index. Other
//! files (of another ffmpeg, cut off) it opens itself, by a list, which decodes a picture of each and adds lengths in
//! microseconds; that rounding would move frames by a tick, so that times are rounded back to whole frames. Either way they
//! are looked at when all is done.

use super::arguments::clock;
use super::containers::Join;
use super::ffmpeg::{Ffmpeg, Packet, Process, packets, stall_message, url};
use super::mp4::{Fragments, PacketChecksum};
use super::settings::Settings;
use super::tag::{self, Tag};
use super::webp;
use crate::output::error::OutputError;
use crate::output::store::atomic::temporary;
use crate::threads::NoThread;
use std::io::Write;
use std::path::Path;
use tempfile::NamedTempFile;

/// Joins segments as the settings say.
pub struct Joiner<'a> {
    /// What they are made by.
    pub settings: &'a Settings,
    /// What joins them.
    pub ffmpeg: &'a Ffmpeg,
}

// What ffmpeg reads.
enum Source {
    // Through its standard input.
    Row(Fragments),
    // A list of files.
    List(NamedTempFile),
}

impl Source {
    fn arguments(&self) -> Vec<String> {
        let (form, name) = match self {
            Source::Row(_) => (&["-f", "mov"][..], "pipe:0".to_owned()),
            Source::List(list) => (&["-f", "concat", "-safe", "0"][..], url(list.path())),
        };
        let form = ["-nostdin"].iter().chain(form).chain(&["-i"]).map(|&word| word.to_owned());
        form.chain([name]).collect()
    }
}

impl Joiner<'_> {
    /// Copies encoded files of so many frames into one that begins with its index, and gives it its name when all frames are
    /// there, each in its time.
    ///
    /// # Errors
    /// ffmpeg's, of a file, or that the film is not what it should be.
    pub fn join(&self, folder: &Path, files: &[(&Path, u64)], path: &Path, tag: &Tag) -> Result<(), OutputError> {
        let failed = |e| OutputError::Write(path.to_owned(), e);
        let (frames, ticks) = (files.iter().map(|(_, frames)| frames).sum(), clock(self.settings.fps).1);
        let source = match Fragments::of(files.iter().map(|(file, frames)| (*file, frames * ticks))) {
            Some(row) => Source::Row(row),
            None => {
                let mut list = temporary(&folder.join("list")).map_err(failed)?;
                list.write_all(self.list(files).as_bytes()).map_err(failed)?;
                Source::List(list)
            }
        };
        let whole = temporary(path).map_err(failed)?.into_temp_path();
        let container = self.settings.container();
        let given = match container.join {
            Join::Copied => self.copy(&source, &whole, tag)?,
            Join::Palette => self.quantize(&source, &whole)?.and(None),
            Join::Webp => {
                let form = ["-c:v", "libwebp", "-quality", "82", "-loop", "0", "-an", "-f", container.muxer];
                let given = self.run(&source, &form, &whole)?.and(None);
                if self.settings.has_alpha {
                    webp::disable_blending(&whole).map_err(failed)?;
                }
                given
            }
        };
        tag::write(&whole, container.join, tag).map_err(failed)?;
        self.check(&whole, frames, given)?;
        whole.persist(path).map_err(|e| failed(e.error))
    }

    // Files as ffmpeg's concat demuxer takes them.
    fn list(&self, files: &[(&Path, u64)]) -> String {
        let (second, frame) = clock(self.settings.fps);
        let microseconds = |frames: u64| (frames as f64 * frame as f64 * 1e6 / second as f64).round() as u64;
        // Each length is what brings the sum of them to the nearest microsecond.
        let (mut text, mut before) = ("ffconcat version 1.0\n".to_owned(), 0);
        for (file, frames) in files {
            let lasts = microseconds(before + frames) - microseconds(before);
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            text += &format!("file '{name}'\nduration {}.{:06}\n", lasts / 1_000_000, lasts % 1_000_000);
            // What it is stands in its head: as little as can be is decoded to know.
            text += "option fpsprobesize 0\noption analyzeduration 1\n";
            before += frames;
        }
        text
    }

    // Says what the frames are that it has given, where it has looked at them.
    fn run(&self, source: &Source, arguments: &[&str], to: &Path) -> Result<Option<Vec<PacketChecksum>>, OutputError> {
        let mut words = source.arguments();
        words.extend(arguments.iter().map(|&word| word.to_owned()));
        words.push(url(to));
        let mut process = Process::start(&self.ffmpeg.program, &words, self.settings.timeout)?;
        let fed = match source {
            Source::Row(row) => row.write(|bytes| process.feed(bytes)).map(Some),
            Source::List(_) => Ok(None),
        };
        // Should ffmpeg have gone, its words say why.
        process.finish(None, "closing the video")?;
        fed.map_err(|(file, e)| OutputError::Read(file, e))
    }

    // Without encoding again.
    fn copy(&self, source: &Source, to: &Path, tag: &Tag) -> Result<Option<Vec<PacketChecksum>>, OutputError> {
        let container = self.settings.container();
        let (second, frame) = clock(self.settings.fps);
        let times = format!("setts=pts=round(PTS/{frame})*{frame}:dts=round(DTS/{frame})*{frame}");
        let (tag, second) = (format!("comment={tag}"), second.to_string());
        let mut arguments = vec!["-map", "0:v", "-c", "copy", "-metadata", &tag];
        // A clock of its own rounds by itself.
        if container.has_index() {
            arguments.extend(["-bsf:v", &times, "-video_track_timescale", &second, "-movflags", "+faststart"]);
        }
        arguments.extend(["-f", container.muxer]);
        self.run(source, &arguments, to)
    }

    // To 256 colours that suit the whole clip: found in one pass, used in another, so that no frame waits in memory.
    fn quantize(&self, source: &Source, to: &Path) -> Result<Option<Vec<PacketChecksum>>, OutputError> {
        let failed = |e| OutputError::Write(to.to_owned(), e);
        let palette = temporary(to).map_err(failed)?.into_temp_path();
        let found =
            ["-vf", "palettegen=stats_mode=diff", "-update", "1", "-frames:v", "1", "-c:v", "png", "-f", "image2"];
        self.run(source, &found, &palette)?;
        let colours = url(&palette);
        let used = [
            "-f",
            "image2",
            "-c:v",
            "png",
            "-i",
            &colours,
            "-lavfi",
            "paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle",
            "-loop",
            "0",
            "-f",
            "gif",
        ];
        self.run(source, &used, to)
    }

    // Whether all frames are there, each in its time, and are what the segments held: what is decoded is then that of the
    // segments, for they begin alike.
    fn check(&self, whole: &Path, frames: u64, given: Option<Vec<PacketChecksum>>) -> Result<(), OutputError> {
        let failed = |e| OutputError::Read(whole.to_owned(), e);
        let container = self.settings.container();
        let wrong = |what: String| OutputError::Encoder { what, words: String::new() };
        let mut found = match container.join {
            // What ffmpeg writes here it does not read.
            Join::Webp => {
                let bytes = std::fs::read(whole).map_err(failed)?;
                let found = webp::frames(&bytes).unwrap_or(0);
                // One frame alone is no animation.
                let is_right = found == frames || frames == 1;
                return if is_right {
                    Ok(())
                } else {
                    Err(wrong(format!("the finished video holds {found} of {frames} frames")))
                };
            }
            _ => match packets(&self.ffmpeg.program, whole, self.settings.timeout) {
                Err(e) if e.kind() == std::io::ErrorKind::TimedOut => {
                    return Err(wrong(stall_message(self.settings.timeout, "checking the finished video")));
                }
                found => found.map_err(|e| NoThread::of(&e).map_or_else(|| failed(e), OutputError::from))?,
            },
        };
        if found.len() as u64 != frames {
            return Err(wrong(format!("the finished video holds {} of {frames} frames", found.len())));
        }
        if let Some(given) = given
            && let Some(odd) = found.iter().zip(&given).position(|(found, given)| found.checksum != *given)
        {
            return Err(wrong(format!("frame {odd} of the finished video, as coded, is not that of its segment")));
        }
        found.sort_by_key(|p| p.pts);
        let first = found.first().map_or(0, |p| p.pts);
        let (second, frame) = clock(self.settings.fps);
        let is_even = |(i, p): (usize, &Packet)| match container.ticks {
            None => p.pts - first == i as i64 * frame as i64,
            // The nearest of its own ticks, or the one beside it.
            Some(ticks) => {
                let due = i as f64 * frame as f64 / second as f64 * ticks as f64;
                ((p.pts - first) as f64 - due).abs() <= 1.0
            }
        };
        match found.iter().enumerate().position(|each| !is_even(each)) {
            Some(odd) => Err(wrong(format!("frame {odd} of the finished video is not where it should be"))),
            None => Ok(()),
        }
    }
}
