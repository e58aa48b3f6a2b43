//! The files that a scene reads.

use super::{Bumps, MapSource, Scene, SkySource, TextureSource};
use std::path::PathBuf;

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
}
