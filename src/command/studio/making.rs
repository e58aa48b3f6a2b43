//! What the page asks for when it picks, drags and makes objects and keys.

use super::aim::{Aim, Element, Loaded, PARTICLES, centre_of, element_of, handles_of, path_of};
use super::answers::{Answer, Shared, aside, json_answer, read, typed};
use super::deeds::Deed;
use super::objects::picture_of;
use super::painter::viewpoint;
use super::session::Studio;
use super::timeline;
use crate::cli::Failure;
use crate::command::scene_file::SceneText;
use crate::scene::Viewpoint;
use crate::scene::text::edit::EditError;
use axum::body::Bytes;
use axum::extract::{Path as Part, State};
use axum::routing::{MethodRouter, get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub fn routes() -> [(&'static str, MethodRouter<Arc<Studio>>); 3] {
    [("aim", post(aim)), ("make", post(make)), ("thumbnail/{what}", get(thumbnail))]
}

impl Studio {
    /// The objects that a point of the picture shows, or that a path names, with the outline of the first.
    fn aim(&self, (frame, view): (u32, Option<Viewpoint>), at: Option<[f64; 2]>, of: Option<&str>) -> Value {
        let scene = self.document().scene().clone();
        let loaded = self.painter.loaded(&scene, frame.min(scene.output.frames - 1));
        let aim = Aim::new(&scene, frame, view, &loaded);
        // As they are at the frame, before the object moves.
        let held =
            |path: String, at_start: Vec<f64>| timeline::value_at_frame(&scene, &path, frame).unwrap_or(at_start);
        let from = |element| {
            let (key, centre) = centre_of(&scene, element)?;
            Some(held(format!("{}.{key}", path_of(element)), centre.into()))
        };
        let hits = at.map(|at| aim.hits(at)).unwrap_or_default().into_iter();
        let hits = hits.map(|(place, point)| json!({ "of": path_of(place), "point": point, "from": from(place) }));
        let place = of.and_then(element_of);
        json!({
            "hits": hits.collect::<Vec<_>>(),
            "outline": place.map(|place| aim.outline(place)),
            "particle": place.and_then(|place| facts_of(&loaded, place)),
            "center": place.and_then(|place| aim.centre(place)),
            "handles": place.and_then(|place| handles_of(&scene, place)).map(|keys| {
                let now = |(key, value)| (key, held(format!("{}.{key}", of.unwrap_or_default()), value));
                keys.into_iter().map(now).collect::<Vec<_>>()
            }),
        })
    }

    /// Does something with objects or keys, and returns the new state.
    fn make(&self, deed: &Deed, seen: (u32, Option<Viewpoint>)) -> Result<Value, Failure> {
        let mut picked = None;
        self.change(|document| {
            let loaded = self.painter.known(document.scene(), seen.0);
            picked = document.make(deed, seen, &loaded)?;
            Ok(())
        })?;
        let mut state = self.state();
        state["picked"] = json!(picked);
        Ok(state)
    }
}

// What is known of a particle.
fn facts_of(loaded: &Loaded, (kind, name): Element) -> Option<Value> {
    let particles = loaded.particles.as_ref().filter(|_| kind == PARTICLES)?;
    let facts = particles.facts(name)?;
    Some(json!({
        "row": facts.row, "step": facts.step, "number": facts.moment.number, "time": facts.moment.time,
        "position": facts.position, "radius": facts.radius, "columns": facts.columns,
    }))
}

// The picture of an object in the palette.
async fn thumbnail(State(studio): Shared, Part(what): Part<String>) -> Answer {
    let text = picture_of(&what).ok_or_else(|| Failure::usage(EditError::Path(what).message()))?;
    let file = SceneText { text, ..SceneText::default() };
    Ok(typed("image/png", aside(move || studio.thumbs.of(&file, &studio.options)).await?))
}

// A frame, and the page's view if it is not the camera's own.
fn seen(frame: u32, view: Option<&str>) -> Result<(u32, Option<Viewpoint>), Failure> {
    Ok((frame, view.map(viewpoint).transpose()?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Aiming {
    frame: u32,
    view: Option<String>,
    // A point of the picture, 0 to 1 from its top left.
    at: Option<[f64; 2]>,
    of: Option<String>,
}

async fn aim(State(studio): Shared, body: Bytes) -> Answer {
    let Aiming { frame, view, at, of } = read(&body)?;
    let seen = seen(frame, view.as_deref())?;
    Ok(json_answer(&aside(move || Ok(studio.aim(seen, at, of.as_deref()))).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Making {
    frame: u32,
    view: Option<String>,
    deed: Deed,
}

async fn make(State(studio): Shared, body: Bytes) -> Answer {
    let Making { frame, view, deed } = read(&body)?;
    Ok(json_answer(&studio.make(&deed, seen(frame, view.as_deref())?)?))
}
