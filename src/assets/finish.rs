//! The finish of bodies: a texture and a relief for all faces of a body. Bodies with the same share them.

use super::error::AssetError;
use super::relief::{ReliefMaps, Surface};
use super::source::Limits;
use super::texture::Texture;
use crate::scene::Body;
use std::sync::Arc;

/// The pictures of a body.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    pub texture: Option<Arc<Texture>>,
    pub relief: Option<Arc<ReliefMaps>>,
}

/// The finish of each body; empty if none has one.
pub fn load_all(bodies: &[Body], limits: Limits) -> Result<Vec<Finish>, AssetError> {
    if bodies.iter().all(|body| body.texture.is_none() && body.relief.is_none()) {
        return Ok(Vec::new());
    }
    let mut all: Vec<Finish> = Vec::with_capacity(bodies.len());
    for body in bodies {
        let texture_of = |(known, one): (&Finish, &Body)| known.texture.clone().filter(|_| one.texture == body.texture);
        let texture = match &body.texture {
            None => None,
            Some(source) => match all.iter().zip(bodies).find_map(texture_of) {
                Some(known) => Some(known),
                None => Some(Arc::new(Texture::load(source, limits)?)),
            },
        };
        let made_of = |body: &Body| (body.relief.clone(), body.radius, body.material.roughness);
        let relief_of = |(known, one): (&Finish, &Body)| known.relief.clone().filter(|_| made_of(one) == made_of(body));
        let relief = match &body.relief {
            None => None,
            Some(relief) => match all.iter().zip(bodies).find_map(relief_of) {
                Some(known) => Some(known),
                None => Some(Arc::new(ReliefMaps::of(relief, &Surface::of_body(body), limits)?)),
            },
        };
        all.push(Finish { texture, relief });
    }
    Ok(all)
}
