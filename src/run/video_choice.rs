//! Which video a run makes, and whether it may replace an existing file. The scene's own video shows all frames of
//! the scene. A run makes it if it renders all of them to the scene's own path, or writes no frames. A video that a
//! flag names shows the frames of the run. An existing file is replaced only if the user says so.

use super::request::Existing;
use crate::error::Error;
use crate::language::{Message, msg};
use crate::output::video::job::{ExistingVideo, VideoJob};
use crate::output::video::segments;
use crate::render::stats::Progress;
use crate::scene::Scene;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// The path that the scene names.
    Own,
    /// Another path, or a stream.
    Elsewhere,
    /// No pictures, only the video.
    None,
}

#[derive(Clone, Copy, Debug)]
pub struct VideoChoice {
    /// Whether a flag names the video.
    pub is_named: bool,
    /// Whether the run is of all frames of the scene, in order.
    pub is_whole: bool,
    pub pictures: Pictures,
    pub existing: Existing,
    /// Whether `--overwrite` is given. A scene on standard input overwrites frames without it, but not videos.
    pub replaces_video: bool,
}

/// Goes on with the choice of `--encode` that an earlier run has begun or made the video with.
pub fn go_on_as_begun(job: &mut VideoJob, progress: &mut dyn Progress) {
    let Some(begun) = segments::begun(job).filter(|&begun| begun != job.settings.encode) else { return };
    job.settings.encode = begun;
    let (path, name) = (job.settings.path.display(), begun.name());
    progress.remark(&msg!("{path} was begun as with `--encode {name}`, and goes on so", path, name));
}

impl VideoChoice {
    /// The reason why the run does not make the scene's own video; None if it does.
    pub fn skipped(&self) -> Option<Message> {
        match (self.is_named, self.is_whole, self.pictures) {
            (true, ..) | (_, true, Pictures::Own | Pictures::None) => None,
            (_, false, _) => Some(msg!("it shows all frames of the scene, and this run renders some of them")),
            (_, true, Pictures::Elsewhere) => {
                Some(msg!("it belongs to the frames at the scene's own path, and this run writes to another one"))
            }
        }
    }

    /// Removes the scene's own video if the run does not make it, and reports the reason.
    pub fn apply(&self, scene: &mut Scene, progress: &mut dyn Progress) -> Result<(), Error> {
        let makes_none = scene.output.video.is_none() || self.skipped().is_some();
        if self.replaces_video && self.existing == Existing::Kept && makes_none {
            return Err(Error::usage(msg!(
                "--resume keeps frames, --overwrite renders them again: give one of them, or a video that --overwrite replaces"
            )));
        }
        let Some((video, why)) = scene.output.video.clone().zip(self.skipped()) else { return Ok(()) };
        let not_made =
            msg!("{video} is not made: {why}; name a video of this run with --video", video = video.display(), why);
        if self.pictures == Pictures::None {
            return Err(Error::usage(msg!("--no-frames leaves nothing to write. {why}", why = not_made)));
        }
        progress.remark(&not_made);
        scene.output.video = None;
        Ok(())
    }

    /// Fails if a file has the video's name and must not be replaced.
    pub fn check(&self, path: &Path, there: ExistingVideo) -> Result<(), Error> {
        let refused =
            |why: Message| Err(Error::usage(msg!("{path} already exists: {why}", path = path.display(), why)));
        match (there, self.existing) {
            (ExistingVideo::Nothing, _) => Ok(()),
            _ if self.replaces_video => Ok(()),
            (ExistingVideo::Same | ExistingVideo::Part, Existing::Kept | Existing::Overwritten) => Ok(()),
            (ExistingVideo::Same, Existing::Refused) => {
                refused(msg!("--resume keeps it and makes what is missing, --overwrite makes it again"))
            }
            (ExistingVideo::Part, Existing::Refused) => {
                refused(msg!("--resume makes a complete one of the frames, --overwrite renders all frames again"))
            }
            (ExistingVideo::Other, Existing::Kept) => refused(msg!(
                "--resume replaces videos of the same pictures only; name another file with --video, or give --overwrite too"
            )),
            (ExistingVideo::Other, _) => {
                refused(msg!("name another file with --video, or give --overwrite to replace it"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // All combinations of flags, scenes and folders.
    fn all() -> Vec<(VideoChoice, ExistingVideo)> {
        let mut all = Vec::new();
        for (is_named, is_whole) in [(false, false), (false, true), (true, false), (true, true)] {
            for pictures in [Pictures::Own, Pictures::Elsewhere, Pictures::None] {
                for (existing, replaces_video) in [
                    (Existing::Refused, false),
                    (Existing::Kept, false),
                    (Existing::Kept, true),
                    (Existing::Overwritten, false),
                    (Existing::Overwritten, true),
                ] {
                    for there in
                        [ExistingVideo::Nothing, ExistingVideo::Same, ExistingVideo::Part, ExistingVideo::Other]
                    {
                        all.push((VideoChoice { is_named, is_whole, pictures, existing, replaces_video }, there));
                    }
                }
            }
        }
        all
    }

    #[test]
    fn a_scenes_own_video_is_of_all_its_frames() {
        for (choice, _) in all() {
            let makes = choice.skipped().is_none();
            let expected = choice.is_named || (choice.is_whole && choice.pictures != Pictures::Elsewhere);
            assert_eq!(makes, expected, "{choice:?}");
        }
    }

    #[test]
    fn nothing_that_is_there_goes_without_a_word_from_the_user() {
        for (choice, there) in all() {
            let is_replaced = choice.check(Path::new("x.mp4"), there).is_ok() && there != ExistingVideo::Nothing;
            let expected = match there {
                ExistingVideo::Nothing => false,
                // The new video shows all that the old one shows.
                ExistingVideo::Same | ExistingVideo::Part => {
                    choice.existing != Existing::Refused || choice.replaces_video
                }
                ExistingVideo::Other => choice.replaces_video,
            };
            assert_eq!(is_replaced, expected, "{choice:?} {there:?}");
        }
    }
}
