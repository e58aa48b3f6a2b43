//! Small pictures of scenes, which the renderer makes when the page asks for them.

use crate::cli::{Failure, SceneArgs};
use crate::command::scene_file::SceneText;
use crate::output::OutputError;
use crate::output::formats::png;
use crate::render::RenderOptions;
use crate::render::frames::FrameList;
use crate::render::sheet::small;
use crate::run::sandbox::PathSandbox;
use crate::threads::lock;
use std::collections::HashMap;
use std::sync::Mutex;

// Maximum number of pictures that are kept.
const MAX_PICTURES: usize = 200;

/// The pictures that were made, by the texts of their scenes.
#[derive(Default)]
pub struct Thumbs(Mutex<HashMap<String, Vec<u8>>>);

impl Thumbs {
    /// The frame that stands for a scene, as PNG: its poster, or the first one. One picture is made at a time.
    pub fn of(&self, file: &SceneText, options: &RenderOptions) -> Result<Vec<u8>, Failure> {
        let mut kept = lock(&self.0);
        if let Some(bytes) = kept.get(&file.text) {
            return Ok(bytes.clone());
        }
        let parsed = file.parse(&SceneArgs::default())?;
        let outside = PathSandbox::of(&file.shown, false).map(|it| it.reading(&parsed.scene, parsed.grammar, true));
        if let Some(error) = outside.unwrap_or_default().into_iter().next() {
            return Err(error.into());
        }
        let frame = FrameList::one(parsed.scene.output.poster.unwrap_or(0));
        let images = small(&parsed.scene, &frame, options)?;
        let encoded = images.iter().map(png::of_image).collect::<Result<Vec<_>, _>>();
        let encoded = encoded.map_err(|e| OutputError::Write("a small picture".into(), e))?;
        let bytes = encoded.into_iter().next().unwrap_or_default();
        if kept.len() >= MAX_PICTURES {
            kept.clear();
        }
        kept.insert(file.text.clone(), bytes.clone());
        Ok(bytes)
    }
}
