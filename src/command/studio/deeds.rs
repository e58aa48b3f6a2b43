//! What the page does with objects and keys, as edits of the scene's text.

use super::aim::{Aim, Element, element_of};
use super::objects::{self, Drag, Made};
use super::timeline;
use crate::math::vec3::Vec3;
use crate::scene::text::edit::{Edit, EditError, value_at};
use crate::scene::{Scene, Viewpoint, key_through};
use serde::Deserialize;
use serde_json::Value;

/// A deed. Paths are those of objects, such as `body[0]`, and of rows of the timeline, such as `film.exposure`.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    Add {
        what: String,
        inside: Option<String>,
    },
    Duplicate {
        of: String,
    },
    Remove {
        of: String,
    },
    Drag {
        of: String,
        grabbed: Vec3,
        from: Vec3,
        to: [f64; 2],
        is_upright: bool,
        gesture: String,
    },
    /// Sets numbers of an object: its size, or its angle.
    Put {
        of: String,
        value: Vec<f64>,
        gesture: String,
    },
    Key {
        of: String,
    },
    /// Moves a key to a frame, and a key of a value to a height of its curve.
    MoveKey {
        of: String,
        index: usize,
        to: u32,
        value: Option<f64>,
    },
    RemoveKey {
        of: String,
        index: usize,
    },
    Loop,
}

impl Deed {
    /// What it is about.
    fn of(&self) -> &str {
        match self {
            Deed::Add { what, .. } => what,
            Deed::Duplicate { of } | Deed::Remove { of } | Deed::Drag { of, .. } | Deed::Key { of } => of,
            Deed::Put { of, .. } | Deed::MoveKey { of, .. } | Deed::RemoveKey { of, .. } => of,
            Deed::Loop => "output.loop",
        }
    }

    /// Deeds of one gesture are one step of the history.
    pub fn gesture(&self) -> Option<String> {
        match self {
            Deed::Drag { gesture, .. } | Deed::Put { gesture, .. } => Some(gesture.clone()),
            _ => None,
        }
    }
}

/// The scene that a deed changes: its text, all its keys with their defaults, a frame, and the page's view of it.
pub struct Seen<'a> {
    pub text: &'a str,
    pub scene: &'a Scene,
    pub held: &'a Value,
    pub aim: &'a Aim<'a>,
    pub frame: u32,
    pub view: Option<Viewpoint>,
}

impl Seen<'_> {
    // The value of a key as the text has it, or its default.
    fn value(&self, path: &str) -> Option<String> {
        let held = || self.held.pointer(&format!("/{}", path.replace('[', ".").replace(']', "").replace('.', "/")));
        value_at(self.text, path).or_else(|| held().map(Value::to_string))
    }

    fn camera_key(&self) -> Vec<Edit> {
        let (camera, frames) = (&self.scene.camera, self.scene.output.frames);
        let here = || Viewpoint::of(camera, self.frame, frames);
        key_through(camera, self.frame, frames, &self.view.unwrap_or_else(here))
    }

    /// The edits of a deed.
    pub fn edits(&self, deed: &Deed) -> Result<Made, EditError> {
        let Seen { text, scene, aim, frame, .. } = *self;
        let place = |path: &str| -> Result<Element, EditError> {
            element_of(path).ok_or_else(|| EditError::Path(path.to_owned()))
        };
        let only = |edits: Vec<Edit>| (edits, None);
        let made = match deed {
            Deed::Add { what, inside } => {
                let inside = inside.as_deref().map(place).transpose()?;
                objects::added(scene, aim, what, inside)
            }
            Deed::Duplicate { of } => objects::duplicated(text, scene, aim, place(of)?),
            Deed::Remove { of } => {
                Some((vec![Edit::Remove(of.clone())], Some(String::new()))).filter(|_| element_of(of).is_some())
            }
            Deed::Drag { of, grabbed, from, to, is_upright, .. } => {
                let drag = Drag { grabbed: *grabbed, from: *from, to: *to, is_upright: *is_upright };
                objects::dragged(text, scene, aim, (place(of)?, frame), &drag).map(only)
            }
            Deed::Put { of, value, .. } => timeline::put(text, scene, of, frame, value).map(only),
            Deed::Key { of } if of == timeline::CAMERA => Some(only(self.camera_key())),
            Deed::Key { of } => timeline::inserted(text, scene, of, frame, self.value_without_keys(of)).map(only),
            Deed::MoveKey { of, index, to, value } => {
                timeline::moved(text, scene, of, *index, ((*to).min(scene.output.frames - 1), *value)).map(only)
            }
            Deed::RemoveKey { of, index } => timeline::removed(text, scene, of, *index).map(only),
            Deed::Loop => Some(only(timeline::looped(scene))),
        };
        made.ok_or_else(|| EditError::Path(deed.of().to_owned()))
    }

    // The value of a key that does not change over the clip.
    fn value_without_keys(&self, path: &str) -> Option<String> {
        Some(path).filter(|path| !timeline::is_over_time(self.scene, path)).and_then(|path| self.value(path))
    }
}
