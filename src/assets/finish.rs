//! The finish of bodies: a texture and a relief for all faces of a body. Bodies with the same share them.

use super::error::AssetError;
use super::files::Files;
use super::relief::{ReliefMaps, Surface};
use super::texture::Texture;
use crate::scene::Body;
use std::sync::Arc;

/// The pictures of a body.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    pub texture: Option<Arc<Texture>>,
    pub relief: Option<Arc<ReliefMaps>>,
}

/// The finish of each body; empty if none has one. Those of another time, `before`, have the same textures.
pub fn load_all(bodies: &[Body], before: &[Finish], files: &Files) -> Result<Vec<Finish>, AssetError> {
    if bodies.iter().all(|body| body.texture.is_none() && body.relief.is_none()) {
        return Ok(Vec::new());
    }
    let mut all: Vec<Finish> = Vec::with_capacity(bodies.len());
    for (i, body) in bodies.iter().enumerate() {
        let texture_of = |body: &Body| body.texture.clone();
        let load = |body: &Body| body.texture.as_ref().map(|source| Texture::load(source, files)).transpose();
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
