//! The files that a scene reads.

use super::{Bumps, MapSource, Particles, Relief, Scene, SkySource, TextureSource, World};
use crate::language::{Message, msg};
use std::path::{Path, PathBuf};

impl World {
    // The pictures of the floor, of bodies and of rectangles, which have no relief, each with the path of its keys.
    fn pictured(&mut self) -> impl Iterator<Item = (String, &mut Option<TextureSource>, Option<&mut Option<Relief>>)> {
        let floor = self.floor.iter_mut().map(|f| ("floor".to_owned(), &mut f.texture, Some(&mut f.relief)));
        let bodies = self.bodies.iter_mut().enumerate();
        let bodies = bodies.map(|(i, b)| (format!("body[{i}]"), &mut b.texture, Some(&mut b.relief)));
        let rectangles = self.rectangles.iter_mut().enumerate();
        floor.chain(bodies).chain(rectangles.map(|(i, r)| (format!("rectangle[{i}]"), &mut r.texture, None)))
    }
}

impl Scene {
    /// Calls `visit` with each file's key in the scene, such as `floor.texture` or `mesh[1].path`, and its path.
    /// Particle files are left out, because there may be one per frame.
    pub fn visit_files(&mut self, mut visit: impl FnMut(String, &mut PathBuf)) {
        let world = &mut self.world;
        for (owner, texture, relief) in world.pictured() {
            if let Some(TextureSource::File(path)) = texture {
                visit(format!("{owner}.texture"), path);
            }
            for (key, path) in relief.into_iter().flatten().flat_map(Relief::files_mut) {
                visit(format!("{owner}.relief.{key}"), path);
            }
        }
        if let Some(SkySource::File(path)) = &mut world.sky.image {
            visit("sky.image".into(), path);
        }
        for (i, mesh) in world.meshes.iter_mut().enumerate() {
            visit(format!("mesh[{i}].path"), &mut mesh.path);
        }
    }

    /// Replaces a picture that cannot be read: a texture and the sky become a bright checker, a map of a relief
    /// leaves its surface flat or evenly rough. Returns what is shown instead; None if the file is not a picture of
    /// this scene.
    pub(crate) fn replace_picture(&mut self, file: &Path) -> Option<Message> {
        let mut instead: Option<Message> = None;
        if matches!(&self.world.sky.image, Some(SkySource::File(path)) if path == file) {
            self.world.sky.image = Some(SkySource::Missing);
            instead = Some(msg!("a magenta checker stands in for it"));
        }
        for (_, texture, relief) in self.world.pictured() {
            let mut none = None;
            let relief = relief.unwrap_or(&mut none);
            if let Some(relief) = relief {
                if matches!(&relief.roughness_map, Some(MapSource::File(path)) if path == file) {
                    relief.roughness_map = None;
                    instead = Some(msg!("the surface is evenly rough without it"));
                }
                let bumps = match &relief.bumps {
                    Bumps::Normals(path) | Bumps::Heights { map: MapSource::File(path), .. } => Some(path),
                    _ => None,
                };
                if bumps.is_some_and(|path| path == file) {
                    relief.bumps = Bumps::Flat;
                    instead = Some(msg!("the surface is flat without it"));
                }
            }
            relief.take_if(|relief| relief.bumps == Bumps::Flat && relief.roughness_map.is_none());
            if matches!(texture, Some(TextureSource::File(path)) if path == file) {
                *texture = Some(TextureSource::Missing);
                instead = Some(msg!("a magenta checker stands in for it"));
            }
        }
        instead
    }

    /// Leaves out what a file that cannot be read holds. Returns whether the scene names the file.
    pub(crate) fn leave_out(&mut self, file: &Path) -> bool {
        let meshes = self.world.meshes.len();
        self.world.meshes.retain(|mesh| mesh.path != file);
        let frames = self.output.frames;
        let is_of =
            |p: &mut Particles| (0..if p.is_animated() { frames } else { 1 }).any(|frame| p.file(frame) == file);
        let particles = self.world.particles.take_if(is_of);
        self.replace_picture(file).is_some() || meshes > self.world.meshes.len() || particles.is_some()
    }
}
