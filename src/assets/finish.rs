//! The finish of bodies: a texture and a relief for all faces of a body. Bodies with the same share them. And the pictures of rectangles.

use super::error::AssetError;
use super::files::Files;
use super::relief::{ReliefMaps, Surface};
use super::texture::Texture;
use crate::scene::{Body, World};
use std::sync::Arc;

/// The pictures of a body or rectangle.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    pub texture: Option<Arc<Texture>>,
    pub relief: Option<Arc<ReliefMaps>>,
}

/// The finish of each body, then of each rectangle; empty if none has one. Those of another time, `before`, have the same textures.
pub fn load_all(world: &World, before: &[Finish], files: &Files) -> Result<Vec<Finish>, AssetError> {
    let World { bodies, rectangles, .. } = world;
    let is_bare = bodies.iter().all(|body| body.texture.is_none() && body.relief.is_none());
    if is_bare && rectangles.iter().all(|rectangle| rectangle.texture.is_none()) {
        return Ok(Vec::new());
    }
    let mut all: Vec<Finish> = Vec::with_capacity(bodies.len());
    for (i, body) in bodies.iter().enumerate() {
        let texture_of = |body: &Body| body.texture.clone();
        let load =
            |body: &Body| body.texture.as_ref().map(|source| Texture::load_paint(source, false, files)).transpose();
        let texture = match before.get(i) {
            Some(finish) => finish.texture.clone(),
            None => shared(&all, bodies, body, texture_of, |finish| &finish.texture, load)?,
        };
        let relief_of = |body: &Body| (body.relief.clone(), body.radius, body.material.roughness);
        let load = |body: &Body| {
            let relief = body.relief.as_ref();
            relief.map(|relief| ReliefMaps::of(relief, &Surface::of_body(body), files)).transpose()
        };
        let relief = shared(&all, bodies, body, relief_of, |finish| &finish.relief, load)?;
        all.push(Finish { texture, relief });
    }
    for (i, rectangle) in rectangles.iter().enumerate() {
        let known =
            rectangles[..i].iter().position(|other| other.texture == rectangle.texture).map(|at| bodies.len() + at);
        let texture = match (before.get(bodies.len() + i), known) {
            (Some(finish), _) => finish.texture.clone(),
            (None, Some(known)) => all[known].texture.clone(),
            (None, None) => {
                let load = |source| Texture::load_paint(source, true, files).map(Arc::new);
                rectangle.texture.as_ref().map(load).transpose()?
            }
        };
        all.push(Finish { texture, relief: None });
    }
    Ok(all)
}

// The picture of an earlier body with the same source, or a new one.
fn shared<K: PartialEq, P>(
    all: &[Finish],
    bodies: &[Body],
    body: &Body,
    source: impl Fn(&Body) -> K,
    picture: impl Fn(&Finish) -> &Option<Arc<P>>,
    load: impl FnOnce(&Body) -> Result<Option<P>, AssetError>,
) -> Result<Option<Arc<P>>, AssetError> {
    match all.iter().zip(bodies).find(|(_, other)| source(other) == source(body)) {
        Some((known, _)) => Ok(picture(known).clone()),
        None => Ok(load(body)?.map(Arc::new)),
    }
}
