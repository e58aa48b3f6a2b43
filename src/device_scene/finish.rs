//! The finish of bodies in the kernels' format.

use crate::assets::finish::Finish;
use crate::assets::texture::Texture;
use crate::gpu_types::Finish as GpuFinish;
use crate::scene::Body;

/// The pictures of all bodies in the order of their levels, those that several share once.
pub fn pictures(finishes: &[Finish]) -> impl Iterator<Item = &Texture> {
    placed(finishes).into_iter().map(|(picture, _)| picture)
}

// The pictures, each with the number of its first level.
fn placed(finishes: &[Finish]) -> Vec<(&Texture, i32)> {
    let mut all: Vec<(&Texture, i32)> = Vec::new();
    let mut levels = 0;
    for picture in finishes.iter().flat_map(|f| [f.texture.as_deref(), f.relief.as_deref().map(|r| &r.maps)]).flatten()
    {
        if !all.iter().any(|(known, _)| std::ptr::eq(*known, picture)) {
            all.push((picture, levels));
            levels += picture.levels.len() as i32;
        }
    }
    all
}

/// The finish of each body; empty if none has one.
pub fn flatten(bodies: &[Body], finishes: &[Finish]) -> Vec<GpuFinish> {
    let placed = placed(finishes);
    let levels_of = |picture: Option<&Texture>| {
        let known = placed.iter().find(|(known, _)| picture.is_some_and(|picture| std::ptr::eq(*known, picture)));
        known.map_or((0, 0), |(picture, first)| (*first, picture.levels.len() as i32))
    };
    let flatten = |(body, finish): (&Body, &Finish)| {
        let relief = finish.relief.as_deref();
        let (texture, texture_levels) = levels_of(finish.texture.as_deref());
        let (relief_first, relief_levels) = levels_of(relief.map(|r| &r.maps));
        GpuFinish {
            texture,
            texture_levels,
            relief: relief_first,
            relief_levels,
            per_length: (0.5 / body.radius) as f32,
            relief_tiles: body.relief.as_ref().map_or(0.0, |r| r.tiles as f32),
            relief_slope: relief.map_or(0.0, |r| r.slope),
            relief_alpha: relief.map_or(0.0, |r| r.alpha),
        }
    };
    bodies.iter().zip(finishes).map(flatten).collect()
}
