//! What a scene that is changed a little keeps of its arrays.

use super::DeviceScene;
use super::fixed::FixedArrays;
use crate::gpu_types::Constants;
use std::sync::Arc;

/// What a scene that is changed a little may keep of its arrays.
pub struct KeptArrays {
    /// Its pictures.
    pub fixed: Arc<FixedArrays>,
    lightmap: Vec<i32>,
    constants: Constants,
    reach: f32,
}

impl DeviceScene {
    /// What another scene may keep of this one.
    pub fn kept(self) -> KeptArrays {
        let (lightmap, reach) = (self.geometry.lightmap.clone(), self.geometry.reach);
        KeptArrays { fixed: self.fixed, lightmap, constants: self.constants, reach }
    }

    /// Takes the light map of a scene that differs in its film or camera alone. Returns whether it is this one's.
    pub fn take_lightmap(&mut self, before: &KeptArrays) -> bool {
        let (now, then) = (&mut self.constants, &before.constants);
        if now.features != then.features || self.geometry.reach.to_bits() != before.reach.to_bits() {
            return false;
        }
        (now.lightmap_scale, now.lightmap_size) = (then.lightmap_scale, then.lightmap_size);
        Arc::make_mut(&mut self.geometry).lightmap.clone_from(&before.lightmap);
        true
    }
}
