//! Joins encoded segments into one video without encoding again, by ffmpeg's concat demuxer. It adds lengths in
//! microseconds; this would move frames by a tick, so times are rounded to whole frames. The result is checked.

use super::arguments::clock;
use super::containers::Join;
use super::ffmpeg::{Process, times, url, words};
use super::segment_encoder::SegmentEncoder;
use super::tag::{self, Tag};
use super::webp;
use crate::assets::source::read_regular;
use crate::language::{Message, msg};
use crate::output::error::{NameFile, OutputError};
use crate::output::store::atomic::temporary;
use crate::system;
use std::io::Write;
use std::path::Path;

// Runs ffmpeg with these arguments, which make a file.
type Run<'a> = &'a dyn Fn(Vec<String>, &Path) -> Result<(), OutputError>;

impl SegmentEncoder {
    /// Joins encoded files of the segments' folder, each with its number of frames, into a file whose index comes
    /// first. The file gets its name when all frames are present at the right times.
    pub fn join(&self, files: &[(&Path, u64)], path: &Path, tag: &Tag) -> Result<(), OutputError> {
        let (settings, container) = (&self.job.settings, self.job.settings.container());
        let frames = files.iter().map(|(_, frames)| frames).sum();
        let mut list = temporary(&self.folder.join("list")).writing(path)?;
        list.write_all(self.list(files).as_bytes()).writing(path)?;
        let whole = temporary(path).writing(path)?.into_temp_path();
        let input: Vec<String> = words("-f concat -safe 0 -i").chain([url(list.path())]).collect();
        let run = |arguments: Vec<String>, to: &Path| {
            let all = words("-nostdin").chain(input.clone()).chain(arguments).chain([url(to)]).collect::<Vec<_>>();
            // If ffmpeg has failed, its output says why.
            Process::start(&self.ffmpeg.program, &all, settings.options.timeout)?
                .finish(None, msg!("closing the video"))
        };
        match container.join {
            _ if let Some(limit) = settings.options.limit => self.fit(&run, &whole, limit)?,
            // What its flags cannot say ffmpeg takes from a file.
            Join::Copied if !settings.views.is_plain() && !container.has_index() => {
                let whole_in_boxes = temporary(path).writing(path)?.into_temp_path();
                run(
                    words("-map 0:v -c copy -f").chain([settings.codec.segment_format.into()]).collect(),
                    &whole_in_boxes,
                )?;
                settings.views.write(&whole_in_boxes).writing(path)?;
                let from = words("-nostdin -i").chain([url(&whole_in_boxes)]).chain(self.copied(tag, frames));
                let all: Vec<String> = from.chain([url(&whole)]).collect();
                Process::start(&self.ffmpeg.program, &all, settings.options.timeout)?
                    .finish(None, msg!("closing the video"))?;
            }
            Join::Copied => {
                run(self.copied(tag, frames), &whole)?;
                settings.views.write(&whole).writing(path)?;
            }
            Join::Webp => {
                run(words("-map 0:v -c copy -loop 0 -f webp").collect(), &whole)?;
                if settings.has_alpha {
                    webp::disable_blending(&whole).writing(path)?;
                }
            }
            Join::Palette => self.palette(&run, &whole, "")?,
        }
        tag::write(&whole, container.join, tag).writing(path)?;
        self.check(&whole, frames)?;
        whole.persist(system::long(path)).writing(path)
    }

    // Encodes a GIF or WebP again and again, until it has at most this many bytes: a WebP with less quality, then in smaller pictures.
    fn fit(&self, run: Run, whole: &Path, limit: u64) -> Result<(), OutputError> {
        let (is_gif, (width, height)) = (self.job.settings.container().join == Join::Palette, self.job.sides());
        let mut qualities = if is_gif { [].iter() } else { [82, 70, 58].iter() };
        let mut share = 1.0;
        loop {
            let quality = qualities.next().copied().unwrap_or(46);
            let side = |side: u32| ((f64::from(side) * share / 2.0).round() as u32 * 2).max(2);
            let scale = format!("scale={}:{}:flags=lanczos", side(width), side(height));
            if is_gif {
                self.palette(run, whole, &format!("{scale},"))?;
            } else {
                let webp = format!("-map 0:v -vf {scale} -c:v libwebp -quality {quality} -loop 0 -f webp");
                run(words(&webp).collect(), whole)?;
            }
            let bytes = std::fs::metadata(whole).reading(whole)?.len();
            if bytes <= limit {
                return Ok(());
            }
            if side(width.min(height)) <= 16 {
                return Err(OutputError::encoder(msg!(
                    "even with {width} pixels in a row the video has more than {limit} bytes",
                    width = side(width),
                    limit
                )));
            }
            if qualities.len() == 0 {
                share *= (limit as f64 / bytes as f64).sqrt().clamp(0.5, 0.96);
            }
        }
    }

    // 256 colors for the whole clip. One pass finds the palette and another applies it, so that no frames wait in memory. `before`: a filter.
    fn palette(&self, run: Run, whole: &Path, before: &str) -> Result<(), OutputError> {
        let palette = temporary(whole).writing(whole)?.into_temp_path();
        let found = format!("-vf {before}palettegen=stats_mode=diff -update 1 -frames:v 1 -c:v png -f image2");
        run(words(&found).collect(), &palette)?;
        let graph = if before.is_empty() { String::new() } else { format!("[0:v]{before}null[a];[a][1:v]") };
        let used = format!("-lavfi {graph}paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle -loop 0 -f gif");
        run(words("-f image2 -c:v png -i").chain([url(&palette)]).chain(words(&used)).collect(), whole)
    }

    // The input of ffmpeg's concat demuxer.
    fn list(&self, files: &[(&Path, u64)]) -> String {
        let settings = &self.job.settings;
        let (second, frame) = clock(settings.fps);
        // A row of pictures has no clock.
        let is_row = settings.container().join == Join::Webp;
        let rate = if is_row { format!("option framerate {second}/{frame}\n") } else { String::new() };
        let microseconds = |frames: u64| (frames as f64 * frame as f64 * 1e6 / second as f64).round() as u64;
        // Each length brings the sum to the nearest microsecond.
        let (mut text, mut before) = ("ffconcat version 1.0\n".to_owned(), 0);
        for (file, frames) in files {
            let lasts = microseconds(before + frames) - microseconds(before);
            text += &format!("file '{}'\nduration {}.{:06}\n", name(file), lasts / 1_000_000, lasts % 1_000_000);
            // The header has all information. Without a decoder, no picture of the file is decoded, which would take
            // most of the time.
            text += "option fpsprobesize 0\noption analyzeduration 1\noption codec_whitelist none\n";
            text += &rate;
            before += frames;
        }
        text
    }

    // ffmpeg's arguments that copy this many frames without encoding.
    fn copied(&self, tag: &Tag, frames: u64) -> Vec<String> {
        let (settings, container) = (&self.job.settings, self.job.settings.container());
        let (second, frame) = clock(settings.fps);
        // Moving the index to the front writes the file once more.
        let front = if settings.codec.is_master { "" } else { "-movflags +faststart" };
        let times = match container.has_index() {
            true => format!(
                "-bsf:v setts=pts=round(PTS/{frame})*{frame}:dts=round(DTS/{frame})*{frame} \
                 -video_track_timescale {second} {front} "
            ),
            // The muxer of a container with a fixed clock rounds times. It would give each file a random number.
            false => "-fflags +bitexact ".to_owned(),
        };
        let form = format!("{times}-f {}", container.muxer);
        let comment = [format!("comment={tag}")];
        let Some(audio) = &settings.options.audio else {
            return words("-map 0:v -c copy -metadata").chain(comment).chain(words(&form)).collect();
        };
        // What is heard during the frames; none of the music's title and cover.
        let second = |frames: u64| format!("{:.6}", frames as f64 / settings.fps);
        let (begin, length) = (second(self.job.frames.first().copied().unwrap_or(0).into()), second(frames));
        let music = [words(&format!("-ss {begin} -t {length} -i")).collect(), vec![url(audio)]].concat();
        let maps = format!("-map 0:v -map 1:a:0 -map_metadata 0 -c:v copy -c:a {} -metadata", container.audio);
        music.into_iter().chain(words(&maps)).chain(comment).chain(words(&form)).collect()
    }

    // Checks that all frames are present, at the right times.
    fn check(&self, whole: &Path, frames: u64) -> Result<(), OutputError> {
        let (settings, container) = (&self.job.settings, self.job.settings.container());
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
        let (mut found, ended) = times(&self.ffmpeg.program, whole, settings.options.timeout);
        if found.len() as u64 != frames {
            ended?;
            return wrong(msg!("the finished video holds {found} of {frames} frames", found = found.len(), frames));
        }
        found.sort_unstable();
        let (second, frame) = clock(settings.fps);
        let is_even = |i: usize| match (found[i] - found[0], container.ticks) {
            (time, None) => time == i as i64 * frame as i64,
            // The nearest tick, or one beside it.
            (time, Some(ticks)) => (time as f64 - i as f64 * frame as f64 / second as f64 * ticks as f64).abs() <= 1.0,
        };
        match (0..found.len()).find(|&i| !is_even(i)) {
            Some(odd) => wrong(msg!("frame {frame} of the finished video is not where it should be", frame = odd)),
            None => Ok(()),
        }
    }
}

// A file in the list. ffmpeg loses the folder of a name beside the list where that has a long path of Windows, `\\?\C:\`, so names are whole;
// but a line of the list cannot hold a path with a line break.
fn name(file: &Path) -> String {
    let whole = url(file).replace('\'', r"'\''");
    if whole.contains(['\n', '\r']) {
        file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    } else {
        whole
    }
}
