//! `polyfly stitch`: a video of frames that are there, of a folder that polyfly has filled or of somebody else's pictures.

use super::claim::readable;
use super::missing::{Folder, expected};
use super::render::{encoding, video_name};
use crate::cli::StitchArgs;
use crate::device::DeviceError;
use crate::error::Error;
use crate::kernels::Isa;
use crate::output::OutputError;
use crate::output::folder::FrameFolder;
use crate::output::formats::{Format, Shown};
use crate::output::manifest::Manifest;
use crate::output::video::{Settings, Video};
use crate::render::frames::FrameList;
use crate::report::remark;
use crate::scene::Pattern;
use rayon::prelude::*;
use std::path::Path;

// Frames that are decoded side by side, and wait for the encoder.
const BATCH: usize = 16;

/// Makes a video of a folder's frames.
pub fn run(args: &StitchArgs) -> Result<(), Error> {
    video_name("-o", &args.output)?;
    let pattern = Pattern::parse(&args.frames).ok().filter(|(_, made_up)| !made_up);
    let (folder, frames, fps) = match pattern {
        Some((pattern, _)) if Manifest::read(&pattern)?.is_none() => elsewhere(pattern)?,
        _ => ours(args)?,
    };
    let settings = encoding(args.output.clone(), args.fps.unwrap_or(fps), &args.video);
    readable(&folder)?;
    make(&folder, &frames, settings, args.changes.quiet)
}

fn ours(args: &StitchArgs) -> Result<(FrameFolder, FrameList, f64), Error> {
    let Folder { folder, frames, manifest } = Folder::open(Path::new(&args.frames))?;
    if let Some(scene) = &args.scene {
        expected(&manifest, scene, &args.changes, Path::new(&args.frames))?;
    }
    Ok((folder, frames, manifest.fps))
}

// All pictures of a pattern, without a gap.
fn elsewhere(pattern: Pattern) -> Result<(FrameFolder, FrameList, f64), Error> {
    let text = pattern.to_string();
    let format = Format::of(&pattern.extension()).ok_or_else(|| Error::Usage(format!("no format reads {text}")))?;
    let mut folder = FrameFolder { pattern, format, size: (0, 0) };
    readable(&folder)?;
    let there = folder.existing().map_err(|e| OutputError::Read(folder.path(), e))?;
    let (Some(&first), Some(&last)) = (there.first(), there.last()) else {
        return Err(Error::Incomplete(format!("there are no frames {text}")));
    };
    if let Some(gap) = FrameList::of_numbers((first..=last).filter(|n| !there.contains(n))) {
        return Err(Error::Incomplete(format!("frames {gap} of {text} are missing")));
    }
    folder.size = shown(&folder, first)?.size;
    let frames = FrameList::of_numbers(first..=last);
    let none = || Error::Incomplete(format!("there are no frames {text}"));
    Ok((folder, frames.ok_or_else(none)?, crate::scene::Output::default().fps))
}

fn shown(folder: &FrameFolder, n: u32) -> Result<Shown, Error> {
    let path = folder.pattern.path(n);
    let Some(read) = folder.format.read else {
        return Err(Error::Incomplete(format!("{} shows nothing", path.display())));
    };
    read(&path).map_err(|e| OutputError::Read(path, e).into())
}

/// Makes a video of frames, all of which must be there and whole.
pub fn make(folder: &FrameFolder, frames: &FrameList, settings: Settings, quiet: bool) -> Result<(), Error> {
    let numbers: Vec<u32> = frames.iter().collect();
    if let Some(gap) = FrameList::of_numbers(numbers.iter().copied().filter(|&n| !folder.is_whole(n))) {
        return Err(Error::Incomplete(format!(
            "frames {gap} in {} are missing or not whole; no video is made",
            folder.path().display()
        )));
    }
    let (width, height) = folder.size;
    let isa = Isa::pick(None).map_err(DeviceError::from)?;
    let planes = |n: &u32| -> Result<Vec<u8>, Error> {
        let Shown { size, rgba } = shown(folder, *n)?;
        if size != folder.size {
            let path = folder.pattern.path(*n);
            return Err(Error::Incomplete(format!(
                "{} is {} x {}, not {width} x {height}",
                path.display(),
                size.0,
                size.1
            )));
        }
        let mut planes = Vec::new();
        isa.convert(&rgba, width, height, &mut planes);
        Ok(planes)
    };
    let mut video = Video::open(settings, width.next_multiple_of(2), height.next_multiple_of(2))?;
    // While the encoder takes one batch, the next is decoded.
    let (send, batches) = crossbeam_channel::bounded(1);
    let made = std::thread::scope(|threads| -> Result<_, Error> {
        threads.spawn(move || {
            for batch in numbers.chunks(BATCH) {
                let decoded = batch.par_iter().map(planes).collect::<Result<Vec<_>, Error>>();
                if send.send(decoded).is_err() {
                    return;
                }
            }
        });
        for batch in batches {
            for planes in batch? {
                if let Err(cause) = video.feed(&planes) {
                    return Err(video.autopsy(cause).into());
                }
            }
        }
        Ok(video.finish(false)?)
    });
    let path = made?;
    if !quiet {
        remark(&format!("{} has {} frames", path.display(), frames.len()));
    }
    Ok(())
}
