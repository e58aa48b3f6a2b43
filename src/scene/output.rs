//! The scene's output: frames, their files and the video.

pub(super) mod pattern;

use super::keys::kinds::{Kind, quoted};
use super::keys::read::{Given, Table};
use super::keys::{Key, keys};
use super::limits::{MAX_FRAMES, VIDEOS};
use super::text::diagnostic::{Problem, Rule};
use super::{ParseOptions, Pattern, PatternError, defaults, expand_home};
use crate::language::msg;
use crate::system::extension;
use std::path::PathBuf;

keys! {
    /// Where the frames go.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Output in "files" {
        /// Frames in the clip.
        pub frames: u32 = defaults::FRAMES, rule(Rule::Whole(1, MAX_FRAMES)), slider(1.0, 600.0), group("Clip"), spelled();
        /// Names of the frames: `out/%04d.png`; the extension selects the format. A clip of one frame may have a name without a number.
        pub files as "path": Pattern = Pattern::default(), group("Files"), spelled();
        /// Bits per channel: 8 or 16 (PNG, TIFF), 16 or 32 (EXR); by default the format's own.
        pub bits: Option<u32> = None, rule(Rule::Bits);
        /// The video of all frames. Runs that render all frames to `path`, or that write no frames, make it.
        pub video: Option<PathBuf> = None;
        /// Frames per second of the video.
        pub fps: f64 = defaults::FPS, rule(Rule::FRAME_RATE), slider(12.0, 60.0), group("Clip"), spelled();
        /// The clip must loop: its last frame leads to its first. A clip that does not loop is an error that names the cause.
        pub is_loop as "loop": bool = false;
        /// The frame that stands for the video where it does not move: a picture of it beside the video, `film.poster.jpg`. The video of a
        /// whole clip that loops begins with it.
        pub poster: Option<u32> = None, rule(Rule::Whole(0, MAX_FRAMES - 1)), slider(0.0, 600.0);
    }

    fn check(&mut self, table: &mut Table) {
        self.check_files(table);
        if let Some(number) = self.poster.filter(|&n| n >= self.frames) {
            table.problem_at(
                "poster",
                msg!("`{key}` is {what}", key = "poster", what = number),
                msg!("a frame of the clip, 0 to {last}", last = self.frames - 1),
            );
        }
        if self.video.as_ref().is_some_and(|path| !VIDEOS.contains(&extension(path).as_str())) {
            let endings = VIDEOS.map(|e| format!(".{e}")).join(", ");
            let what = msg!("`{key}` is `{path}`", key = "video", path = table.word("video").unwrap_or_default());
            table.problem_at("video", what, msg!("a name that ends in {endings}", endings));
        }
    }
}

impl Output {
    // Checks the files. A single frame may have a name without a number.
    fn check_files(&mut self, table: &mut Table) {
        let ParseOptions { folder, home, .. } = table.context.options;
        let Some(path) = table.word("path") else {
            self.files = self.files.below(folder);
            return;
        };
        let text = expand_home(path, home).display().to_string();
        let Ok((pattern, is_made_up)) = Pattern::parse(&text) else { return };
        let has_number = Pattern::has_number(&text);
        if !has_number && self.frames == 1 {
            self.files = self.files.clone().of_one(0);
        } else if !has_number {
            let expected = msg!(
                "a place for the number of each of {frames} frames, as in `{example}`",
                frames = self.frames,
                example = pattern.suggested(&text)
            );
            table.problem_at("path", msg!("`{key}` is `{path}`", key = "path", path), expected);
        } else if let (true, Some(span)) = (is_made_up, table.span_of("path")) {
            table.warn(
                span,
                msg!("`path` is `{path}`, which names no format", path),
                msg!("frames are written as {pattern}", pattern),
            );
        }
    }
}

impl Kind for Pattern {
    fn parse(given: &mut Given) -> Option<Pattern> {
        let (path, options) = (given.text()?, given.context.options);
        match Pattern::parse(&expand_home(path, options.home).display().to_string()) {
            Ok((pattern, _)) => Some(pattern.below(options.folder)),
            Err(e) => {
                let problem = Problem::new(
                    given.value.span(),
                    msg!("`{key}` is `{path}`", key = given.key.name, path),
                    e.message(),
                );
                given.context.problems.push(problem);
                let is_film = matches!(&e, PatternError::Extension(ending) if VIDEOS.contains(&ending.as_str()));
                given
                    .help(is_film.then(|| {
                        msg!("`path` names the frames; `video = {video}` makes a film", video = quoted(path))
                    }));
                None
            }
        }
    }
    fn text(&self, _: &Key) -> String {
        quoted(&self.to_string())
    }
}
