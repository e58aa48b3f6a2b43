//! The arrays that stay for a whole run: pictures as words, and tables of the film.

use super::{finish, sky, upload};
use crate::assets::Assets;
use crate::assets::finish::Finish;
use crate::assets::relief::ReliefMaps;
use crate::assets::sky::SkyMap;
use crate::assets::texture::Texture;
use crate::gpu_types::{FloorQuad, MipLevel, Star};
use std::sync::Arc;

/// The arrays that stay for a whole run, unless the sky's picture or a relief changes.
#[derive(Clone, Debug, Default)]
pub struct FixedArrays {
    pub floor: Vec<FloorQuad>,
    pub pictures: Arc<Pictures>,
    pub dome: Arc<Dome>,
    /// A table from the square root of linear light to sRGB codes.
    pub tone_lut: Vec<i32>,
    /// The sample positions of the reconstruction filter; empty for a box.
    pub filter: Vec<f32>,
}

/// The pictures of the floor and of bodies.
#[derive(Debug, Default)]
pub struct Pictures {
    /// The mip levels of the floor's texture, of its relief, of its heights.
    pub mip_levels: Vec<MipLevel>,
    /// The mip levels of the bodies' textures and reliefs.
    pub finish_levels: Vec<MipLevel>,
    /// The texels of all levels, two words each.
    pub texels: Vec<i32>,
    // What they are made from.
    texture: Option<Arc<Texture>>,
    relief: Option<Arc<ReliefMaps>>,
    finishes: Arc<Vec<Finish>>,
}

/// The sky's picture. Fog may hide it for a part of the clip.
#[derive(Debug, Default)]
pub struct Dome {
    /// The sky map, three numbers per texel; empty for a gradient.
    pub sky: Vec<f32>,
    /// The sky's stars, by cell.
    pub stars: Vec<Star>,
    /// The index of each cell's first star, and the number of stars at the end.
    pub star_cells: Vec<i32>,
    // What it is made from.
    map: Option<Arc<SkyMap>>,
}

fn are_one<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    a.map(Arc::as_ptr) == b.map(Arc::as_ptr)
}

impl Dome {
    fn of(map: Option<&Arc<SkyMap>>) -> Dome {
        let (stars, star_cells) = sky::stars(map.map(|map| &**map));
        Dome { sky: map.map(|map| map.with_rim()).unwrap_or_default(), stars, star_cells, map: map.cloned() }
    }
    fn is_of(&self, assets: &Assets) -> bool {
        are_one(self.map.as_ref(), assets.sky.as_ref())
    }
}

impl Pictures {
    fn of(assets: &Assets) -> Pictures {
        let mut texels = Vec::new();
        let of_floor = assets.texture.as_deref().into_iter().chain(assets.relief.as_ref().map(|relief| &relief.maps));
        let mut mip_levels: Vec<_> = of_floor.flat_map(|picture| upload::levels(picture, &mut texels)).collect();
        let heights = assets.relief.as_ref().and_then(|relief| relief.heights.as_deref()).unwrap_or_default();
        mip_levels.extend(upload::height_levels(heights, &mut texels));
        let of_bodies = finish::pictures(&assets.finishes);
        let finish_levels = of_bodies.flat_map(|picture| upload::levels(picture, &mut texels)).collect();
        let (texture, relief, finishes) = (assets.texture.clone(), assets.relief.clone(), Arc::clone(&assets.finishes));
        Pictures { mip_levels, finish_levels, texels, texture, relief, finishes }
    }
    fn are_of(&self, assets: &Assets) -> bool {
        are_one(self.texture.as_ref(), assets.texture.as_ref())
            && are_one(self.relief.as_ref(), assets.relief.as_ref())
            && Arc::ptr_eq(&self.finishes, &assets.finishes)
    }
}

impl FixedArrays {
    /// Whether they have the pictures of `assets`.
    pub fn are_of(&self, assets: &Assets) -> bool {
        self.pictures.are_of(assets) && self.dome.is_of(assets)
    }
    /// These arrays with the pictures of `assets`. Those that they have already stay.
    #[must_use]
    pub fn with_pictures(mut self, assets: &Assets) -> FixedArrays {
        if !self.pictures.are_of(assets) {
            self.pictures = Arc::new(Pictures::of(assets));
        }
        if !self.dome.is_of(assets) {
            self.dome = Arc::new(Dome::of(assets.sky.as_ref()));
        }
        self
    }
}
