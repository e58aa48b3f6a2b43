//! What a scene names and does not hold itself: pictures of its floor and bodies, meshes and particles, read from files into plain data.

mod atmosphere;
mod error;
pub mod files;
pub mod finish;
pub mod grid;
pub mod mesh;
pub mod particles;
mod patterns;
pub mod relief;
pub mod sky;
pub mod source;
pub mod texture;

pub use error::AssetError;
pub(crate) use error::why_unread;

use crate::math::vec3::Vec3;
use crate::scene::{Scene, ValueRange, World};
use files::Files;
use finish::Finish;
use mesh::Triangles;
use particles::ColouredSpheres;
use relief::{ReliefMaps, Surface};
use sky::{Panorama, SkyMap};
use std::sync::Arc;
use texture::Texture;

fn floor_relief(world: &World, files: &Files) -> Result<Option<Arc<ReliefMaps>>, AssetError> {
    let Some(floor) = &world.floor else { return Ok(None) };
    let of = |relief| ReliefMaps::of(relief, &Surface::of_floor(floor), files).map(Arc::new);
    floor.relief.as_ref().map(of).transpose()
}

/// Everything that was read.
#[derive(Clone, Default)]
pub struct Assets {
    /// The floor's picture.
    pub texture: Option<Arc<Texture>>,
    /// The floor's relief.
    pub relief: Option<Arc<ReliefMaps>>,
    /// The pictures of each body; empty if none has one.
    pub finishes: Arc<Vec<Finish>>,
    /// The sky's picture; `None` for a gradient.
    pub sky: Option<Arc<SkyMap>>,
    /// The sky's file, if the sky changes over the clip.
    pub sky_picture: Option<Arc<Panorama>>,
    /// The triangles of each of the scene's meshes, then of its rectangles.
    pub meshes: Arc<Vec<Triangles>>,
    /// The particles of the first frame, or of the one asked for.
    pub particles: Option<ColouredSpheres>,
    /// How files are read, those of later frames too.
    pub files: Files,
}

impl Assets {
    /// Reads all that a scene names; of particles with a file for each time step, those of frame 0.
    pub fn load(scene: &Scene, files: &Files) -> Result<Assets, AssetError> {
        Assets::load_after(scene, files, None)
    }

    /// The same. What is made of the same keys as in `before`, whose files have not changed, is not made again.
    pub fn load_after(scene: &Scene, files: &Files, before: Option<(&World, &Assets)>) -> Result<Assets, AssetError> {
        let kept =
            |is_same: &dyn Fn(&World) -> bool| before.filter(|(world, _)| is_same(world)).map(|(_, assets)| assets);
        let of_particles = |p| ColouredSpheres::load(p, 0, scene.output.frames, None, files);
        let particles = scene.world.particles.as_ref().map(of_particles).transpose()?;
        let particles = particles.map(|particles| particles.without_cut_away(scene.cuts_at_rest()));
        let scene = scene.seen_from(particles.as_ref().map_or([0.0; 3], |p| p.origin));
        let world = &scene.world;
        let is_still =
            |then: &World| then.particles.is_none() && world.particles.is_none() && then.floor == world.floor;
        let meshes =
            match kept(&|then| then.meshes == world.meshes && then.rectangles == world.rectangles && is_still(then)) {
                Some(before) => Arc::clone(&before.meshes),
                None => {
                    let mut meshes = mesh::load_all(&world.meshes, world.ground(), files)?;
                    meshes.extend(world.rectangles.iter().map(Triangles::of_rectangle));
                    Arc::new(meshes)
                }
            };
        let source_of = |world: &World| world.floor.as_ref().and_then(|floor| floor.texture.clone());
        let texture = || match (kept(&|then| source_of(then) == source_of(world)), source_of(world)) {
            (Some(before), _) => Ok(before.texture.clone()),
            (None, source) => source.map(|source| Texture::load(&source, files).map(Arc::new)).transpose(),
        };
        let relief = || match kept(&|then| then.floor == world.floor) {
            Some(before) => Ok(before.relief.clone()),
            None => floor_relief(world, files),
        };
        let floor = || Ok::<_, AssetError>((texture()?, relief()?));
        let bodies = || match kept(&|then| finish::made_of(then) == finish::made_of(world)) {
            Some(before) => Ok(Arc::clone(&before.finishes)),
            None => finish::load_all(world, &[], files).map(Arc::new),
        };
        let moves = scene.sky_moves();
        let sky = || match kept(&|then| then.sky == world.sky) {
            Some(before) if !moves => Ok((before.sky.clone(), None)),
            _ => {
                let picture = sky::picture(&world.sky, files)?;
                Ok::<_, AssetError>((SkyMap::of(&world.sky, picture.as_ref()).map(Arc::new), picture))
            }
        };
        let ((floor, finishes), sky) = rayon::join(|| (floor(), bodies()), sky);
        let ((texture, relief), (sky, picture)) = (floor?, sky?);
        Ok(Assets {
            texture,
            relief,
            finishes: finishes?,
            sky,
            sky_picture: picture.filter(|_| moves).map(Arc::new),
            meshes,
            particles,
            files: files.clone(),
        })
    }
    /// The same with the sky, the reliefs and the particles of another frame, colored over the same range.
    pub fn at_frame(&self, scene: &Scene, frame: u32) -> Result<Assets, AssetError> {
        let mut assets = self.clone();
        if scene.sky_moves() {
            let world = &scene.at(f64::from(frame)).world;
            assets.sky = SkyMap::of(&world.sky, self.sky_picture.as_deref()).map(Arc::new);
        }
        if scene.reliefs_move() {
            let world = &scene.at(f64::from(frame)).world;
            assets.relief = floor_relief(world, &self.files)?;
            assets.finishes = Arc::new(finish::load_all(world, &self.finishes, &self.files)?);
        }
        if let Some(particles) = &scene.world.particles {
            let mut particles = particles.clone();
            if let (Some(ends), false) =
                (self.particles.as_ref().and_then(|p| p.range), particles.range.is_of_each_frame())
            {
                particles.range = ValueRange::Ends(ends);
            }
            let (frames, first) = (scene.output.frames, self.particles.as_ref());
            let read = ColouredSpheres::load(&particles, frame, frames, first, &self.files)?;
            assets.particles = Some(read.without_cut_away(scene.cuts_at_rest()));
        }
        Ok(assets)
    }

    /// The point that devices take for the origin.
    pub fn origin(&self) -> Vec3 {
        self.particles.as_ref().map_or([0.0; 3], |p| p.origin)
    }
}
