//! Films without loss: their planes are those of the frames.

use crate::assets::source::open_regular;
use crate::cli::Failure;
use crate::command::request::named_ffmpeg;
use crate::language::{Message, msg};
use crate::output::formats::Shown;
use crate::output::video::ffmpeg::{Process, find_ffmpeg, output_text, url, words};
use crate::output::video::settings::is_raw;
use crate::output::video::y4m::Y4mReader;
use crate::output::{NameFile, OutputError, RenderedFrame};
use crate::render::frames::FrameList;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(120);

/// Compares each frame of a film with that of a folder, which `shown` gives. The film has all of these frames, in their order.
pub fn check(
    path: &Path,
    frames: &FrameList,
    shown: impl Fn(u32) -> Option<Shown>,
    ffmpeg: Option<&Path>,
) -> Result<(), Failure> {
    let input: Box<dyn BufRead> = match is_raw(path) {
        true => Box::new(BufReader::new(open_regular(path).reading(path)?)),
        false => {
            let program = find_ffmpeg(named_ffmpeg(ffmpeg).as_deref())?.program;
            let input = |more| words("-nostdin -v error -i").chain([url(path)]).chain(words(more));
            let asked = input("-map 0:v:0 -c copy -t 0 -f framecrc -");
            let said = output_text(&program, asked, TIMEOUT).map_err(OutputError::from)?.unwrap_or_default();
            let codec = said.lines().find_map(|line| line.strip_prefix("#codec_id 0: ")).unwrap_or("?").to_owned();
            if codec != "ffv1" {
                return Err(Failure::usage(msg!(
                    "{path} is coded by {codec}, with loss: only films by ffv1 and .y4m hold the frames themselves",
                    path = path.display(),
                    codec
                )));
            }
            // Every frame of the file once, whatever its time.
            let planes = input("-map 0:v:0 -vf settb=1/25,setpts=N -r 25 -pix_fmt yuv420p -f yuv4mpegpipe pipe:1");
            Box::new(BufReader::new(Process::start(&program, &planes.collect::<Vec<_>>(), TIMEOUT)?))
        }
    };
    let mut reader = Y4mReader::open(input).reading(path)?;
    let size = reader.size();
    let place = |n: u32, what: Message| {
        let frame = msg!("{path}, frame {frame}", path = path.display(), frame = n);
        Failure::WrongFrames(vec![Message::list([frame, what], ": ")])
    };
    for n in frames.iter() {
        let Some(shown) = shown(n) else {
            return Err(Failure::usage(msg!(
                "{path}: frame {frame} of the folder is missing or inexact, so the film is compared with nothing",
                path = path.display(),
                frame = n
            )));
        };
        let frame = RenderedFrame::of_rgba8(n, shown.size, &shown.rgba);
        let Some(planes) = reader.planes().reading(path)? else {
            return Err(place(n, msg!("the film ends before it")));
        };
        let at = match planes.len() == frame.yuv420().len() {
            true => planes.iter().zip(frame.yuv420()).position(|(a, b)| a != b),
            false => Some(0),
        };
        if let Some(at) = at {
            // Colors have half of the columns and rows.
            let (width, luma) = (size.0 as usize, size.0 as usize * size.1 as usize);
            let (x, y) = match at < luma {
                true => (at % width, at / width),
                false => ((at - luma) % (luma / 4) % (width / 2) * 2, (at - luma) % (luma / 4) / (width / 2) * 2),
            };
            return Err(place(n, msg!("its pixel ({x}, {y}) is not that of the folder's frame", x, y)));
        }
    }
    match reader.planes().reading(path)? {
        None => Ok(()),
        Some(_) => {
            Err(Failure::WrongFrames(vec![msg!("{path} has more frames than the folder", path = path.display())]))
        }
    }
}
