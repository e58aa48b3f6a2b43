//! The files that a scene reads.

use super::{Bumps, MapSource, Particles, Scene, SkySource, TextureSource};
use crate::language::Language;
use std::path::{Path, PathBuf};

impl Scene {
    /// Calls `visit` with each file's key in the scene, such as `floor.texture` or `mesh[1].path`, and its path.
    /// Particle files are left out, because there may be one per frame.
    pub fn visit_files(&mut self, mut visit: impl FnMut(String, &mut PathBuf)) {
        let world = &mut self.world;
        if let Some(floor) = &mut world.floor {
            if let Some(TextureSource::File(path)) = &mut floor.texture {
                visit("floor.texture".into(), path);
            }
            if let Some(relief) = &mut floor.relief {
                match &mut relief.bumps {
                    Bumps::Normals(path) => visit("floor.relief.normal_map".into(), path),
                    Bumps::Heights { map: MapSource::File(path), .. } => visit("floor.relief.bump".into(), path),
                    _ => {}
                }
                if let Some(MapSource::File(path)) = &mut relief.roughness_map {
                    visit("floor.relief.roughness_map".into(), path);
                }
            }
        }
        if let Some(SkySource::File(path)) = &mut world.sky.image {
            visit("sky.image".into(), path);
        }
        for (i, mesh) in world.meshes.iter_mut().enumerate() {
            visit(format!("mesh[{i}].path"), &mut mesh.path);
        }
    }

    /// Replaces a picture that cannot be read: the floor's texture and the sky become a bright checker, a map of the floor's
    /// relief leaves the floor flat or evenly rough. Returns what is shown in its place; None if the file is not a picture of
    /// this scene.
    pub(crate) fn replace_picture(&mut self, file: &Path) -> Option<fn(Language) -> String> {
        let mut instead: Option<fn(Language) -> String> = None;
        if matches!(&self.world.sky.image, Some(SkySource::File(path)) if path == file) {
            self.world.sky.image = Some(SkySource::Missing);
            instead = Some(Language::a_checker_stands_in);
        }
        let Some(floor) = &mut self.world.floor else { return instead };
        if let Some(relief) = &mut floor.relief {
            if matches!(&relief.roughness_map, Some(MapSource::File(path)) if path == file) {
                relief.roughness_map = None;
                instead = Some(Language::evenly_rough);
            }
            let bumps = match &relief.bumps {
                Bumps::Normals(path) | Bumps::Heights { map: MapSource::File(path), .. } => Some(path),
                _ => None,
            };
            if bumps.is_some_and(|path| path == file) {
                relief.bumps = Bumps::Flat;
                instead = Some(Language::flat_floor);
            }
            if relief.bumps == Bumps::Flat && relief.roughness_map.is_none() {
                floor.relief = None;
            }
        }
        if matches!(&floor.texture, Some(TextureSource::File(path)) if path == file) {
            floor.texture = Some(TextureSource::Missing);
            instead = Some(Language::a_checker_stands_in);
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
