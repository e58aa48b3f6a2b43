//! `polyfly stitch`: a video of frames that are there, of a folder that polyfly has filled or of somebody else's pictures.

use super::claim::readable;
use super::missing::{Folder, expected};
use super::render::{NO_FFMPEG, encoding, video_name};
use crate::cli::StitchArgs;
use crate::error::Error;
use crate::output::OutputError;
use crate::output::files::{folder_of, temporary};
use crate::output::folder::FrameFolder;
use crate::output::formats::Format;
use crate::output::manifest::{HIDDEN, Manifest};
use crate::output::video::{Film, Settings, Video};
use crate::render::frames::FrameList;
use crate::report::remark;
use crate::scene::{Output, Pattern};
use std::path::Path;

/// Makes a video of a folder's frames.
pub fn run(args: &StitchArgs) -> Result<(), Error> {
    video_name("-o", &args.output)?;
    let pattern = Pattern::parse(&args.frames).ok().filter(|(_, made_up)| !made_up);
    let (film, fps) = match pattern {
        Some((pattern, _)) if Manifest::read(&pattern)?.is_none() => (elsewhere(pattern, args)?, None),
        _ => ours(args)?,
    };
    let settings = encoding(args.output.clone(), args.fps.or(fps).unwrap_or(Output::default().fps), &args.video)?;
    make(film, settings, args.changes.quiet)
}

fn ours(args: &StitchArgs) -> Result<(Film, Option<f64>), Error> {
    let Folder { folder, frames, manifest } = Folder::open(Path::new(&args.frames))?;
    readable(&folder)?;
    if let Some(scene) = &args.scene {
        expected(&manifest, scene, &args.changes, Path::new(&args.frames))?;
    }
    // Of deeper frames the video is another than that of the run that made them.
    let rounded = if matches!(manifest.bits, None | Some(8)) { "" } else { ", rounded" };
    let film =
        Film { scene: Some(format!("{}{rounded}", manifest.hash)), ..film(folder, frames.iter().collect(), args) };
    Ok((film, Some(manifest.fps)))
}

fn film(folder: FrameFolder, frames: Vec<u32>, args: &StitchArgs) -> Film {
    // Beside the frames, where runs leave segments too, if that folder is ours to write to.
    let is_writable = temporary(&folder.path().join("trial")).is_ok();
    let hidden = if is_writable { folder.path() } else { folder_of(&args.output).to_owned() }.join(HIDDEN);
    Film { frames, part: None, size: folder.size, source: Some(folder), hidden, is_anew: false, scene: None }
}

// All pictures of a pattern, without a gap.
fn elsewhere(pattern: Pattern, args: &StitchArgs) -> Result<Film, Error> {
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
    let path = folder.pattern.path(first);
    if let Some(read) = folder.format.read {
        folder.size = read(&path).map_err(|e| OutputError::Read(path, e))?.size;
    }
    Ok(film(folder, (first..=last).collect(), args))
}

/// Makes a video of frames, all of which must be there and whole, or of segments that are.
pub fn make(film: Film, settings: Settings, quiet: bool) -> Result<(), Error> {
    if let Some(folder) = &film.source
        && let Some(gap) = FrameList::of_numbers(film.frames.iter().copied().filter(|&n| !folder.is_whole(n)))
    {
        return Err(Error::Incomplete(format!(
            "frames {gap} in {} are missing or not whole; no video is made",
            folder.path().display()
        )));
    }
    let (path, frames) = (settings.path.clone(), film.frames.len());
    let is_made = film.is_made(&settings);
    if !is_made {
        if settings.is_embedded && !quiet {
            remark(NO_FFMPEG);
        }
        Video::open(settings, film)?.finish(false)?;
    }
    if !quiet {
        let already = if is_made { " already" } else { "" };
        remark(&format!("{} has {frames} frames{already}", path.display()));
    }
    Ok(())
}
