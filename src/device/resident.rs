//! A scene on a GPU: its arrays, and what a kernel takes as its scene.

use super::DeviceError;
use super::driver::{Arguments, Context, DeviceMemory};
use crate::device_scene::{ArrayUploader, DeviceScene};
use crate::gpu_types::{Array, Scene as GpuScene, SmallScene};
use std::sync::Arc;

/// What is where on the device.
pub struct ResidentScene {
    /// All of it.
    pub arrays: GpuScene,
    /// The scene in place, if it is small.
    pub small: Option<SmallScene>,
    // They keep the arrays alive: those that stay for the run, and those of a time step, or of several that share them.
    _fixed: Arc<Vec<DeviceMemory>>,
    /// The latter.
    pub dynamic: Arc<Vec<DeviceMemory>>,
}

/// Puts a time step's arrays beside those that stay.
pub fn upload(
    scene: &DeviceScene,
    fixed_arrays: &GpuScene,
    fixed: &Arc<Vec<DeviceMemory>>,
    context: &Context,
) -> Result<ResidentScene, DeviceError> {
    let mut upload = Upload { arrays: Vec::new(), context };
    let arrays = scene.geometry.place(&mut upload, fixed_arrays)?;
    Ok(ResidentScene::new(scene, arrays, fixed, Arc::new(upload.arrays)))
}

impl ResidentScene {
    /// A scene whose arrays are there.
    pub fn new(
        scene: &DeviceScene,
        arrays: GpuScene,
        fixed: &Arc<Vec<DeviceMemory>>,
        dynamic: Arc<Vec<DeviceMemory>>,
    ) -> ResidentScene {
        ResidentScene { small: scene.small(&arrays), arrays, _fixed: Arc::clone(fixed), dynamic }
    }
    /// What a kernel takes as its scene: all in place where it takes small scenes, else the arrays' addresses.
    pub fn argument(&self, takes_small: bool) -> Arguments<'_> {
        match &self.small {
            Some(small) if takes_small => Arguments::default().with(small),
            _ => Arguments::default().with(&self.arrays),
        }
    }
}

/// Puts a scene's arrays into the device's memory.
pub struct Upload<'a> {
    /// What is there so far.
    pub arrays: Vec<DeviceMemory>,
    /// The device's, current.
    pub context: &'a Context,
}

impl ArrayUploader for Upload<'_> {
    type Error = DeviceError;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, DeviceError> {
        if values.is_empty() {
            return Ok(Array::new(std::ptr::null(), 0));
        }
        let memory = DeviceMemory::of(values, self.context)?;
        let array = memory.array(values.len());
        self.arrays.push(memory);
        Ok(array)
    }
}
