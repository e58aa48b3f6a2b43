//! A scene in order for rendering: its files, its arrays, and what computes on this machine.

use crate::assets::Assets;
use crate::device_scene::DeviceScene;
use crate::error::Error;
use crate::kernels::Isa;
use crate::scene::Scene;
use std::sync::Arc;

#[derive(Clone)]
pub struct PreparedScene {
    pub scene: Scene,
    /// What its files hold.
    pub assets: Assets,
    /// Its arrays, of the first time step where there are several.
    pub first: Arc<DeviceScene>,
    pub isa: Isa,
    pub pool: Arc<rayon::ThreadPool>,
}

impl PreparedScene {
    /// The arrays of a frame of its own: its time step of particles, which is in `assets`, its bodies, and their lamps' light on
    /// the floor.
    pub fn at_frame(&self, number: u32, assets: &Assets) -> Result<DeviceScene, Error> {
        let here = self.scene.at(f64::from(number));
        let mut made = self.first.at_time(&here, assets)?;
        if self.scene.world.bodies_move() {
            self.isa.bake_lightmap(&mut made, &here);
        }
        Ok(made)
    }
}
