//! The finish of bodies: a texture and a relief for all faces of a body. Bodies with the same share them. And the pictures of rectangles.

use super::error::AssetError;
use super::files::Files;
use super::relief::{ReliefMaps, Surface};
use super::texture::Texture;
use crate::scene::{Body, Rectangle, World};
use std::sync::Arc;

/// The pictures of a body or rectangle.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    pub texture: Option<Arc<Texture>>,
    pub relief: Option<Arc<ReliefMaps>>,
}

/// What the finishes are made of, of each body and of each rectangle; None if none has a picture.
pub fn made_of(world: &World) -> Option<(Vec<impl PartialEq>, Vec<impl PartialEq>)> {
    let World { bodies, rectangles, .. } = world;
    let has_some = bodies.iter().any(|body| body.texture.is_some() || body.relief.is_some())
        || rectangles.iter().any(|rectangle| rectangle.texture.is_some());
    let of_body = |body: &Body| (body.texture.clone(), body.relief.clone(), body.radius, body.material.roughness);
    let of_rectangle = |rectangle: &Rectangle| rectangle.texture.clone();
    has_some.then(|| (bodies.iter().map(of_body).collect(), rectangles.iter().map(of_rectangle).collect()))
}

/// The finish of each body, then of each rectangle; empty if none has one. Those of another time, `before`, have the same textures.
pub fn load_all(world: &World, before: &[Finish], files: &Files) -> Result<Vec<Finish>, AssetError> {
    let World { bodies, rectangles, .. } = world;
    if made_of(world).is_none() {
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
        let texture_of = |rectangle: &Rectangle| rectangle.texture.clone();
        let load = |rectangle: &Rectangle| {
            rectangle.texture.as_ref().map(|source| Texture::load_paint(source, true, files)).transpose()
        };
        let texture = match before.get(bodies.len() + i) {
            Some(finish) => finish.texture.clone(),
            None => shared(&all[bodies.len()..], rectangles, rectangle, texture_of, |finish| &finish.texture, load)?,
        };
        all.push(Finish { texture, relief: None });
    }
    Ok(all)
}

// The picture of an earlier body or rectangle with the same source, or a new one. `all` has the finish of each earlier one.
fn shared<T, K: PartialEq, P>(
    all: &[Finish],
    items: &[T],
    item: &T,
    source: impl Fn(&T) -> K,
    picture: impl Fn(&Finish) -> &Option<Arc<P>>,
    load: impl FnOnce(&T) -> Result<Option<P>, AssetError>,
) -> Result<Option<Arc<P>>, AssetError> {
    match all.iter().zip(items).find(|(_, other)| source(other) == source(item)) {
        Some((known, _)) => Ok(picture(known).clone()),
        None => Ok(load(item)?.map(Arc::new)),
    }
}
