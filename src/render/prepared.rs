//! A scene prepared for rendering: its files, its arrays, and the CPU's kernels.

use super::plan::moment_of;
use crate::assets::Assets;
use crate::device::Moment;
use crate::device_scene::DeviceScene;
use crate::error::Error;
use crate::kernels::Isa;
use crate::scene::Scene;
use std::sync::Arc;

#[derive(Clone)]
pub struct PreparedScene {
    pub scene: Scene,
    /// The content of the scene's files.
    pub assets: Assets,
    /// The scene's arrays, of the first time step if there are several.
    pub first: Arc<DeviceScene>,
    pub isa: Isa,
    pub pool: Arc<rayon::ThreadPool>,
}

impl PreparedScene {
    /// The arrays of an animated frame: the particles of its time step from `assets`, its bodies, and the light map.
    pub fn at_frame(&self, number: u32, assets: &Assets) -> Result<DeviceScene, Error> {
        let here = self.scene.at(f64::from(number));
        let mut made = self.first.at_time(&here, assets)?;
        if self.scene.lamps_move() {
            self.isa.bake_lightmap(&mut made, &here);
        }
        Ok(made)
    }

    /// The arrays of a frame at each of its moments within the shutter's time; a single scene if only the camera moves.
    pub fn scenes_of(&self, number: u32, moments: u32) -> Result<Vec<Arc<DeviceScene>>, Error> {
        if !self.scene.is_animated() {
            return Ok(vec![Arc::clone(&self.first)]);
        }
        let assets = self.assets.at_frame(&self.scene, number)?;
        let whole = self.at_frame(number, &assets)?;
        if moments == 1 || !self.scene.moves() {
            return Ok(vec![Arc::new(whole)]);
        }
        let at = |moment| -> Result<_, Error> {
            Ok(Arc::new(whole.at_time(&self.scene.at(moment_of(&self.scene, number, moment)), &assets)?))
        };
        (0..moments).map(at).collect()
    }

    /// The moments of a frame, given its scenes.
    pub fn moments_of(&self, number: u32, moments: u32, scenes: &[Arc<DeviceScene>]) -> Vec<Moment> {
        let moment = |i: u32| Moment {
            scene: Arc::clone(&scenes[i as usize % scenes.len()]),
            camera: self.first.frame_params_at(&self.scene, number, moment_of(&self.scene, number, i)),
        };
        (0..moments).map(moment).collect()
    }
}
