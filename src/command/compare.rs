//! `polyfly compare`: how much two pictures, clips or films differ.

mod filter;
mod flip;
mod measures;
mod source;
pub(crate) mod ssim;

use super::convert::{picture_target, write_picture};
use super::output_file::OutputFile;
use super::request::named_ffmpeg;
use crate::assets::AssetError;
use crate::cli::{CompareArgs, Failure, shown};
use crate::language::{Message, count, msg};
use crate::output::OutputError;
use crate::output::formats::Shown;
use crate::output::video::ffmpeg::find_ffmpeg;
use crate::output::video::reader::VideoReader;
use crate::output::video::settings::is_raw;
use crate::render::frames::FrameList;
use crate::report::{print, say};
use crate::threads::shared_pool;
use measures::{Figures, Measures, difference_picture};
use serde::Serialize;
use source::{PictureFile, Source};
use std::collections::BTreeMap;
use std::path::Path;

// A pair of frames in the report; a picture has no number.
#[derive(Serialize)]
struct PairFigures {
    frame: Option<u32>,
    size: (u32, u32),
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize)]
struct ComparisonRecord<'a> {
    a: &'a str,
    b: &'a str,
    max_difference: u8,
    equal: bool,
    // None if no frame is on both sides.
    whole: Option<Figures>,
    // The first frame that differs by more than the limit, and the frame with the largest mean square.
    first_difference: Option<u32>,
    worst: Option<u32>,
    // Frames of one side alone, as `--frames` lists them.
    only_a: Option<String>,
    only_b: Option<String>,
    // How much the picture of the difference is amplified.
    factor: Option<u8>,
    frames: &'a [PairFigures],
}

// The pair with the largest mean square of differences.
struct WorstPair {
    frame: Option<u32>,
    mean_square: f64,
    size: (u32, u32),
    // The picture of the difference, and how much it is amplified; for -o.
    picture: Option<(Vec<u8>, u8)>,
}

struct Comparison<'a> {
    args: &'a CompareArgs,
    pairs: Vec<PairFigures>,
    whole: Measures,
    worst: Option<WorstPair>,
    only_a: Option<FrameList>,
    only_b: Option<FrameList>,
    better_offset: Option<i64>,
}

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    if let Some(output) = &args.output {
        picture_target(output)?;
        let is_output = |name: &str| {
            Path::new(name).canonicalize().is_ok_and(|path| output.canonicalize().is_ok_and(|o| o == path))
        };
        if let Some(name) = [&args.first, &args.second].into_iter().find(|name| is_output(name)) {
            return Err(Failure::usage(msg!(
                "-o {name}: it is compared, and would be replaced; give another name",
                name
            )));
        }
        let _ = OutputFile::create(output, args.overwrite)?;
    }
    let (a, b) = (Source::open(&args.first)?, Source::open(&args.second)?);
    let mut comparison = Comparison {
        args,
        pairs: Vec::new(),
        whole: Measures::default(),
        worst: None,
        only_a: None,
        only_b: None,
        better_offset: None,
    };
    shared_pool().map_err(OutputError::from)?.install(|| match (&a, &b) {
        (Source::Picture(a), Source::Picture(b)) => comparison.pictures(None, a, b),
        (Source::Frames(a), Source::Frames(b)) => comparison.clips(a, b),
        (Source::Film(a), Source::Film(b)) => comparison.films(a, b),
        _ => Err(Failure::usage(msg!(
            "{first} is {a} and {second} is {b}: compare two pictures, two folders of frames or two films",
            first = args.first,
            a = a.kind(),
            second = args.second,
            b = b.kind()
        ))),
    })?;
    comparison.report()
}

impl Comparison<'_> {
    fn pictures(&mut self, frame: Option<u32>, a: &PictureFile, b: &PictureFile) -> Result<(), Failure> {
        let (read_a, read_b) = rayon::join(|| a.read(), || b.read());
        let ((shown_a, remark_a), (shown_b, remark_b)) = (read_a?, read_b?);
        // Once for all frames.
        if self.pairs.is_empty() {
            [remark_a, remark_b].into_iter().flatten().for_each(|remark| say(remark.to_owned()));
        }
        self.pair(frame, &shown_a, &shown_b, [&a.path, &b.path])
    }

    fn clips(&mut self, a: &BTreeMap<u32, PictureFile>, b: &BTreeMap<u32, PictureFile>) -> Result<(), Failure> {
        let offset = self.args.offset;
        let only = |these: &BTreeMap<u32, PictureFile>, others: &BTreeMap<u32, PictureFile>, offset: i64| {
            FrameList::of_numbers(these.keys().copied().filter(|&n| shifted(others, n, offset).is_none()))
        };
        (self.only_a, self.only_b) = (only(a, b, offset), only(b, a, -offset));
        let mut pairs = a.iter().filter_map(|(&n, a)| Some((n, a, shifted(b, n, offset)?)));
        pairs.try_for_each(|(n, a, b)| self.pictures(Some(n), a, b))?;
        self.better_offset = self.better_offset(a, b)?;
        Ok(())
    }

    // The offset, one more or one less, at which the clips agree better, by some of their frames. None if they are equal, or agree best
    // as they are compared.
    fn better_offset(
        &self,
        a: &BTreeMap<u32, PictureFile>,
        b: &BTreeMap<u32, PictureFile>,
    ) -> Result<Option<i64>, Failure> {
        // What the mean square must fall to: 1.5 dB.
        const BETTER: f64 = 0.7;
        let offsets = [-1, 0, 1].map(|shift| self.args.offset + shift);
        let tried: Vec<(u32, &PictureFile)> = a
            .iter()
            .map(|(&n, a)| (n, a))
            .filter(|&(n, _)| offsets.iter().all(|&offset| shifted(b, n, offset).is_some()))
            .collect();
        if tried.is_empty() || !self.pairs.iter().any(|pair| self.differs(pair)) {
            return Ok(None);
        }
        let tried: BTreeMap<u32, &PictureFile> =
            [0, tried.len() / 2, tried.len() - 1].into_iter().map(|i| tried[i]).collect();
        let mut sums = [0.0; 3];
        for (n, a) in tried {
            let (a, _) = a.read()?;
            for (sum, offset) in sums.iter_mut().zip(offsets) {
                let Some((b, _)) = shifted(b, n, offset).map(PictureFile::read).transpose()? else { continue };
                *sum += if a.size == b.size { Measures::of(&a, &b).mean_square() } else { f64::INFINITY };
            }
        }
        let best = if sums[0] < sums[2] { 0 } else { 2 };
        Ok((sums[best] < BETTER * sums[1]).then_some(offsets[best]))
    }

    fn films(&mut self, a: &Path, b: &Path) -> Result<(), Failure> {
        let is_raw = is_raw(a) && is_raw(b);
        // Both are decoded in one way, because decoders place colors differently.
        let [mut reader_a, mut reader_b] = match is_raw {
            true => [VideoReader::raw(a)?, VideoReader::raw(b)?],
            false => {
                let ffmpeg = find_ffmpeg(named_ffmpeg(self.args.ffmpeg.as_deref()).as_deref())?;
                [VideoReader::decoded(&ffmpeg.program, a)?, VideoReader::decoded(&ffmpeg.program, b)?]
            }
        };
        let first = [-self.args.offset, self.args.offset].map(|frames| frames.max(0) as u32);
        for (reader, first) in [(&mut reader_a, first[0]), (&mut reader_b, first[1])] {
            (0..first).try_for_each(|_| reader.next().map(drop))?;
        }
        let mut next = first;
        let ends = loop {
            let (shown_a, shown_b) = rayon::join(|| reader_a.next(), || reader_b.next());
            match (shown_a?, shown_b?) {
                (Some(shown_a), Some(shown_b)) => self.pair(Some(next[0]), &shown_a, &shown_b, [a, b])?,
                (None, None) => break next,
                (Some(_), None) => break [end(&mut reader_a, next[0])?, next[1]],
                (None, Some(_)) => break [next[0], end(&mut reader_b, next[1])?],
            }
            next = next.map(|frame| frame + 1);
        };
        let [only_a, only_b] = [0, 1].map(|side| FrameList::of_numbers((0..first[side]).chain(next[side]..ends[side])));
        (self.only_a, self.only_b) = (only_a, only_b);
        Ok(())
    }

    fn pair(&mut self, frame: Option<u32>, a: &Shown, b: &Shown, names: [&Path; 2]) -> Result<(), Failure> {
        if a.size != b.size {
            let [of_a, of_b] = [a.size, b.size].map(|(width, height)| format!("{width} x {height}"));
            return Err(AssetError::new(
                names[0],
                msg!(
                    "it has {first} pixels, and {name} has {second} pixels: only pictures of one size are compared",
                    first = of_a,
                    name = names[1].display(),
                    second = of_b
                ),
            )
            .into());
        }
        let measures = Measures::of(a, b);
        let mean_square = measures.mean_square();
        if self.worst.as_ref().is_none_or(|worst| mean_square > worst.mean_square) {
            let picture = self.args.output.as_ref().map(|_| difference_picture(a, b));
            self.worst = Some(WorstPair { frame, mean_square, size: a.size, picture });
        }
        self.whole.add(&measures);
        let pair = PairFigures { frame, size: a.size, figures: measures.figures() };
        if let Some(number) = frame.filter(|_| !self.args.json) {
            let heading = if self.pairs.is_empty() {
                shown(msg!(" frame  largest       mean     pixels     PSNR       SSIM       FLIP")) + "\n"
            } else {
                String::new()
            };
            print(&format!("{heading}{}", row(number, &pair.figures)))?;
        }
        self.pairs.push(pair);
        Ok(())
    }

    fn differs(&self, pair: &PairFigures) -> bool {
        pair.figures.largest > self.args.max_difference
    }

    fn first_difference(&self) -> Option<u32> {
        self.pairs.iter().find(|pair| self.differs(pair))?.frame
    }

    fn worst_frame(&self) -> Option<u32> {
        self.worst.as_ref().filter(|worst| worst.mean_square > 0.0)?.frame
    }

    // Prints the whole, and writes the picture. An error if something differs.
    fn report(&self) -> Result<(), Failure> {
        let fault = self.fault();
        let worst = self.worst.as_ref();
        let factor = worst.and_then(|worst| Some(worst.picture.as_ref()?.1));
        if self.args.json {
            let list = |frames: &Option<FrameList>| frames.as_ref().map(FrameList::to_string);
            let record = ComparisonRecord {
                a: &self.args.first,
                b: &self.args.second,
                max_difference: self.args.max_difference,
                equal: fault.is_none(),
                whole: (!self.pairs.is_empty()).then(|| self.whole.figures()),
                first_difference: self.first_difference(),
                worst: self.worst_frame(),
                only_a: list(&self.only_a),
                only_b: list(&self.only_b),
                factor,
                frames: &self.pairs,
            };
            print(&(serde_json::to_string_pretty(&record).unwrap_or_default() + "\n"))?;
        } else {
            print(&self.summary())?;
        }
        if let Some(offset) = self.better_offset {
            say(msg!("the frames agree better with `--offset {offset}`: does one side count from 1?", offset));
        }
        if let (Some(output), Some(WorstPair { frame, size, picture: Some((picture, factor)), .. })) =
            (&self.args.output, worst)
        {
            write_picture(&OutputFile::create(output, self.args.overwrite)?, *size, picture)?;
            say(match frame {
                Some(frame) => msg!(
                    "{path}: the difference of frame {frame}, amplified by {factor}",
                    path = output.display(),
                    frame,
                    factor
                ),
                None => msg!("{path}: the difference, amplified by {factor}", path = output.display(), factor),
            });
        }
        match fault {
            Some(fault) => Err(Failure::PicturesDiffer(fault)),
            None => Ok(()),
        }
    }

    fn summary(&self) -> String {
        let CompareArgs { first, second, max_difference, .. } = self.args;
        let mut lines = vec![match self.pairs.first() {
            Some(PairFigures { frame: None, .. }) => shown(msg!("{first} and {second}", first, second)),
            _ => {
                let count = count!(self.pairs.len(), "pair", "pairs");
                "\n".to_owned() + &shown(msg!("{count} of {first} and {second}", count, first, second))
            }
        }];
        if let Some(pair) = self.pairs.first() {
            let (figures, (width, height)) = (self.whole.figures(), pair.size);
            let first = self.whole.first.map(|(x, y)| msg!("; the first is ({x}, {y})", x, y));
            let mut line = |what: Message, value: Message| lines.push(format!("{:<21}{}", shown(what), shown(value)));
            line(msg!("size"), format!("{width} x {height}").into());
            line(msg!("largest difference"), msg!("{part} of {total}", part = figures.largest, total = 255));
            line(msg!("mean difference"), format!("{:.6}", figures.mean).into());
            let differing = msg!("{part} of {total}", part = figures.differing, total = figures.pixels);
            line(msg!("pixels that differ"), Message::list([differing].into_iter().chain(first), ""));
            let psnr = figures.psnr.map_or_else(|| msg!("infinite"), |psnr| format!("{psnr:.3} dB").into());
            line(Message::text("PSNR"), psnr);
            line(Message::text("SSIM"), format!("{:.7}", figures.ssim).into());
            line(Message::text("FLIP"), format!("{:.7}", figures.flip).into());
            if let Some(frame) = self.first_difference() {
                let limit = (*max_difference > 0).then(|| msg!(" by more than {limit}", limit = max_difference));
                let than = limit.map_or_else(String::new, |limit| format!(" ({})", shown(limit).trim()));
                let frame = shown(msg!("frame {number}", number = frame));
                line(msg!("first that differs"), (frame + &than).into());
            }
            if let Some(frame) = self.worst_frame() {
                line(msg!("worst"), msg!("frame {number}", number = frame));
            }
        }
        for (name, frames) in [(first, &self.only_a), (second, &self.only_b)] {
            if let Some(frames) = frames {
                lines.push(shown(msg!("only {name} has frames {frames}", name, frames)));
            }
        }
        lines.join("\n") + "\n"
    }

    // What differs, in a sentence.
    fn fault(&self) -> Option<Message> {
        let limit = self.args.max_difference;
        let different: Vec<&PairFigures> = self.pairs.iter().filter(|pair| self.differs(pair)).collect();
        let mut faults = Vec::new();
        if let Some(pair) = different.first() {
            let by = if limit > 0 { msg!(" by more than {limit}", limit) } else { String::new().into() };
            faults.push(match pair.frame {
                None => msg!(
                    "the pictures differ{limit}: the largest difference is {largest}",
                    limit = by,
                    largest = pair.figures.largest
                ),
                Some(frame) => msg!(
                    "{count} of {all} frames differ{limit}; the first is frame {first}",
                    count = different.len(),
                    all = self.pairs.len(),
                    limit = by,
                    first = frame
                ),
            });
        }
        for (name, frames) in [(&self.args.first, &self.only_a), (&self.args.second, &self.only_b)] {
            if let Some(frames) = frames {
                faults.push(msg!("only {name} has frames {frames}", name, frames));
            }
        }
        (!faults.is_empty()).then(|| Message::list(faults, "; "))
    }
}

fn row(frame: u32, Figures { largest, mean, differing, psnr, ssim, flip, .. }: &Figures) -> String {
    let psnr = psnr.map_or_else(|| "infinite".into(), |psnr| format!("{psnr:.3}"));
    format!("{frame:>6}  {largest:>7}  {mean:>9.5}  {differing:>9}  {psnr:>8}  {ssim:.7}  {flip:.7}\n")
}

// The frame of this number, shifted.
fn shifted(frames: &BTreeMap<u32, PictureFile>, number: u32, offset: i64) -> Option<&PictureFile> {
    frames.get(&u32::try_from(i64::from(number) + offset).ok()?)
}

// The end of a film whose frame of this number has just been read.
fn end(film: &mut VideoReader, last: u32) -> Result<u32, Failure> {
    let mut end = last + 1;
    while film.next()?.is_some() {
        end += 1;
    }
    Ok(end)
}
