//! `[output]` of a scene in TOML.

use super::diagnostic::{Problem, Rule};
use super::limits::{MAX_FRAMES, VIDEOS};
use super::toml::Validator;
use super::toml_keys::RawOutput;
use super::toml_values::At;
use super::{Output, ParseOptions, Pattern, defaults, expand_home};
use std::path::Path;

impl Validator {
    // Where frames go. One frame takes a name without a number as it is.
    fn files(&mut self, path: &At<String>, frames: u32, reading: ParseOptions) -> Pattern {
        let text = expand_home(path.get_ref(), reading.home).display().to_string();
        let what = format!("`path` is `{}`", path.get_ref());
        match Pattern::parse(&text) {
            Ok((pattern, _)) if !Pattern::has_number(&text) && frames == 1 => return pattern.of_one(0),
            Ok((pattern, _)) if !Pattern::has_number(&text) => {
                let expected = format!(
                    "expected a place for the number of each of {frames} frames, as in `{}`",
                    pattern.suggested()
                );
                self.problems.push(Problem::new(path.span(), what, expected));
            }
            Ok((pattern, is_made_up)) => {
                if is_made_up {
                    let what = format!("{what}, which names no format");
                    self.warnings.push(Problem::new(path.span(), what, format!("frames are written as {pattern}")));
                }
                return pattern;
            }
            Err(e) => self.problems.push(Problem::new(path.span(), what, e.to_string())),
        }
        Pattern::default()
    }

    pub(super) fn output(&mut self, raw: &RawOutput, reading: ParseOptions) -> Output {
        let frames = self.whole("frames", &raw.frames, defaults::FRAMES, 1, MAX_FRAMES);
        let files = match &raw.path {
            Some(path) => self.files(path, frames, reading),
            None => Pattern::default(),
        };
        let bits = raw.bits.as_ref().and_then(|value| {
            let bits = Some(value.get_ref().0).filter(|b| [8.0, 16.0, 32.0].contains(b)).map(|b| b as u32);
            if bits.is_none() {
                let what = format!("`bits` is {}", value.get_ref().0);
                self.problems.push(Problem::new(value.span(), what, "expected 8 or 16 (PNG), 16 or 32 (EXR)"));
            }
            bits
        });
        Output {
            frames,
            files: files.below(reading.folder),
            bits,
            video: raw.video.as_ref().map(|name| {
                let ending = Path::new(name.get_ref()).extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
                if !ending.is_some_and(|e| VIDEOS.contains(&e.as_str())) {
                    let endings = VIDEOS.map(|e| format!(".{e}")).join(", ");
                    let what = format!("`{}` is no video", name.get_ref());
                    self.problems.push(Problem::new(
                        name.span(),
                        what,
                        format!("expected a name that ends in {endings}"),
                    ));
                }
                reading.folder.join(expand_home(name.get_ref(), reading.home))
            }),
            fps: self.number("fps", &raw.fps, defaults::FPS, Rule::FRAME_RATE),
            is_loop: raw.is_loop.as_ref().is_some_and(|l| *l.get_ref()),
        }
    }
}
