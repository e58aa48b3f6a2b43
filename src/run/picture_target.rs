//! The picture files that a path argument names.

use crate::error::Error;
use crate::language::{AllLanguages, Language};
use crate::render::frames::FrameList;
use crate::render::stats::Progress;
use crate::scene::limits::VIDEOS;
use crate::scene::{Pattern, PatternError};
use std::path::Path;

/// The pattern of file names that a path means for these frames.
pub fn pattern(text: &str, frames: &FrameList, progress: &mut dyn Progress) -> Result<Pattern, Error> {
    let wrong = |why: &dyn Fn(Language) -> String| Error::usage(|l| l.says("--output", why(l)));
    if Path::new(text).is_dir() {
        let folder = text.trim_end_matches('/');
        return Err(wrong(&|l| l.folder_of_frames(text, folder)));
    }
    let (pattern, is_made_up) = Pattern::parse(text).map_err(|e| match &e {
        PatternError::Extension(ending) if VIDEOS.contains(&ending.as_str()) => {
            Error::misused(|l| l.name_of_a_film(text), |l| l.makes_a_film(text))
        }
        _ => wrong(&|l| e.in_language(l)),
    })?;
    let first = frames.nth(0).unwrap_or_default();
    let pattern = match (Pattern::has_number(text), frames.len()) {
        (true, _) => pattern,
        (false, 1) => pattern.of_one(first),
        (false, many) => {
            let suggested = pattern.suggested(text);
            return Err(wrong(&|l| l.one_file_for_many(text, many, &suggested)));
        }
    };
    if is_made_up && !pattern.is_of_one() {
        let first = pattern.path(first);
        progress.remark(&AllLanguages::new(|l| l.no_format_named(text, first.display())));
    }
    Ok(pattern)
}
