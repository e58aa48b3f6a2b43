//! The finish of bodies and rectangles in the kernels' format.

use crate::assets::finish::Finish;
use crate::assets::texture::Texture;
use crate::gpu_types::Finish as GpuFinish;
use crate::scene::{Body, World};

/// The pictures of all bodies and rectangles in the order of their levels, those that several share once.
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

/// The finish of each body, and of each rectangle; both empty if none has one.
pub fn flatten(world: &World, finishes: &[Finish]) -> [Vec<GpuFinish>; 2] {
    let placed = placed(finishes);
    let levels_of = |picture: Option<&Texture>| {
        let known = placed.iter().find(|(known, _)| picture.is_some_and(|picture| std::ptr::eq(*known, picture)));
        known.map_or((0, 0), |(picture, first)| (*first, picture.levels.len() as i32))
    };
    let textured = |finish: &Finish| {
        let (texture, levels) = levels_of(finish.texture.as_deref());
        let paints = i32::from(finish.texture.as_ref().is_some_and(|texture| texture.paints));
        GpuFinish { texture, texture_levels: levels / (1 + paints), paints, ..GpuFinish::default() }
    };
    let of_body = |(body, finish): (&Body, &Finish)| {
        let relief = finish.relief.as_deref();
        let (relief_first, relief_levels) = levels_of(relief.map(|r| &r.maps));
        GpuFinish {
            relief: relief_first,
            relief_levels,
            per_length: (0.5 / body.radius) as f32,
            paint_scale: (1.0 / body.solid.face_radius()) as f32,
            relief_tiles: body.relief.as_ref().map_or(0.0, |r| r.tiles as f32),
            relief_slope: relief.map_or(0.0, |r| r.slope),
            relief_alpha: relief.map_or(0.0, |r| r.alpha),
            ..textured(finish)
        }
    };
    let (of_bodies, of_rectangles) = finishes.split_at(world.bodies.len().min(finishes.len()));
    [world.bodies.iter().zip(of_bodies).map(of_body).collect(), of_rectangles.iter().map(textured).collect()]
}
