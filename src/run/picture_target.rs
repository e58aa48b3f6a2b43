//! The picture files that a path argument names.

use crate::error::Error;
use crate::language::{Message, msg};
use crate::render::frames::FrameList;
use crate::render::stats::Progress;
use crate::scene::limits::VIDEOS;
use crate::scene::{Pattern, PatternError};
use std::path::Path;

/// The pattern of file names that a path means for these frames.
pub fn pattern(text: &str, frames: &FrameList, progress: &mut dyn Progress) -> Result<Pattern, Error> {
    let wrong = |why: Message| Error::about("--output", why);
    if Path::new(text).is_dir() {
        let folder = text.trim_end_matches('/');
        return Err(wrong(msg!(
            "`{text}` is a folder; name the frames in it, such as {folder}/%04d.png",
            text,
            folder
        )));
    }
    let (pattern, is_made_up) = Pattern::parse(text).map_err(|e| match &e {
        PatternError::Extension(ending) if VIDEOS.contains(&ending.as_str()) => Error::misused(
            msg!("--output: `{text}` is the name of a film, and -o names frames", text),
            msg!("`--video {text}` makes a film", text),
        ),
        _ => wrong(e.message()),
    })?;
    let first = frames.nth(0).unwrap_or_default();
    let pattern = match (Pattern::has_number(text), frames.len()) {
        (true, _) => pattern,
        (false, 1) => pattern.of_one(first),
        (false, many) => {
            let suggested = pattern.suggested(text);
            return Err(wrong(msg!(
                "`{text}` is one file, and there are {many} frames: write -o {pattern}",
                text,
                many,
                pattern = suggested
            )));
        }
    };
    if is_made_up && !pattern.is_of_one() {
        let first = pattern.path(first);
        progress.remark(&msg!(
            "`{text}` does not name a format (.png, .exr ...): frames are {first} ...",
            text,
            first = first.display()
        ));
    }
    Ok(pattern)
}
