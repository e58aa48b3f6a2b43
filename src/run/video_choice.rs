//! Which video a run makes, and whether it may replace an existing file. The scene's own video shows all frames of
//! the scene. A run makes it if it renders all of them to the scene's own path, or writes no frames. A video that a
//! flag names shows the frames of the run. An existing file is replaced only if the user says so.

use super::request::Existing;
use crate::error::Error;
use crate::language::{AllLanguages, Language, Message};
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
    progress.remark(&AllLanguages::new(|l| l.begun_as(&path, name)));
}

impl VideoChoice {
    /// The reason why the run does not make the scene's own video; None if it does.
    pub fn skipped(&self) -> Option<Message> {
        match (self.is_named, self.is_whole, self.pictures) {
            (true, ..) | (_, true, Pictures::Own | Pictures::None) => None,
            (_, false, _) => Some(Language::shows_all_frames),
            (_, true, Pictures::Elsewhere) => Some(Language::belongs_to_own_frames),
        }
    }

    /// Removes the scene's own video if the run does not make it, and reports the reason.
    pub fn apply(&self, scene: &mut Scene, progress: &mut dyn Progress) -> Result<(), Error> {
        let makes_none = scene.output.video.is_none() || self.skipped().is_some();
        if self.replaces_video && self.existing == Existing::Kept && makes_none {
            return Err(Error::usage(Language::resume_or_overwrite));
        }
        let Some((video, why)) = scene.output.video.clone().zip(self.skipped()) else { return Ok(()) };
        let not_made = |l: Language| l.video_not_made(video.display(), why(l));
        if self.pictures == Pictures::None {
            return Err(Error::usage(|l| l.nothing_left_to_write(not_made(l))));
        }
        progress.remark(&AllLanguages::new(not_made));
        scene.output.video = None;
        Ok(())
    }

    /// Fails if a file has the video's name and must not be replaced.
    pub fn check(&self, path: &Path, there: ExistingVideo) -> Result<(), Error> {
        let refused = |why: Message| Err(Error::usage(|l| l.already_exists(path.display(), why(l))));
        match (there, self.existing) {
            (ExistingVideo::Nothing, _) => Ok(()),
            _ if self.replaces_video => Ok(()),
            (ExistingVideo::Same | ExistingVideo::Part, Existing::Kept | Existing::Overwritten) => Ok(()),
            (ExistingVideo::Same, Existing::Refused) => refused(Language::keeps_this_video),
            (ExistingVideo::Part, Existing::Refused) => refused(Language::completes_this_video),
            (ExistingVideo::Other, Existing::Kept) => refused(Language::replaces_same_only),
            (ExistingVideo::Other, _) => refused(Language::name_another_video),
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
