//! A scene on a GPU: its arrays, and what a kernel takes as its scene.

use super::api::{Api, Arguments, Context, DeviceMemory};
use crate::device::DeviceError;
use crate::device_scene::{ArrayUploader, DeviceScene};
use crate::gpu_types::{Array, Scene as GpuScene, SmallScene};
use std::sync::Arc;

/// What is where on the device.
pub struct ResidentScene<A: Api> {
    /// All of it.
    pub arrays: GpuScene,
    /// The scene in place, if it is small.
    pub small: Option<SmallScene>,
    // They keep the arrays alive: those that stay for the run, and those of a time step, or of several that share them.
    _fixed: Arc<Vec<A::Memory>>,
    /// The latter.
    pub dynamic: Arc<Vec<A::Memory>>,
}

/// Puts a time step's arrays beside those that stay.
pub fn upload<A: Api>(
    scene: &DeviceScene,
    fixed_arrays: &GpuScene,
    fixed: &Arc<Vec<A::Memory>>,
    context: &A::Context,
) -> Result<ResidentScene<A>, DeviceError> {
    let mut upload = Upload::<A> { arrays: Vec::new(), context };
    let arrays = scene.geometry.place(&mut upload, fixed_arrays)?;
    Ok(ResidentScene::new(scene, arrays, fixed, Arc::new(upload.arrays)))
}

impl<A: Api> ResidentScene<A> {
    /// A scene whose arrays are there.
    pub fn new(
        scene: &DeviceScene,
        arrays: GpuScene,
        fixed: &Arc<Vec<A::Memory>>,
        dynamic: Arc<Vec<A::Memory>>,
    ) -> ResidentScene<A> {
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
pub struct Upload<'a, A: Api> {
    /// What is there so far.
    pub arrays: Vec<A::Memory>,
    /// The device's, current.
    pub context: &'a A::Context,
}

impl<A: Api> ArrayUploader for Upload<'_, A> {
    type Error = DeviceError;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, DeviceError> {
        if values.is_empty() {
            return Ok(Array::new(std::ptr::null(), 0));
        }
        let memory = self.context.upload(values)?;
        let array = memory.array(values.len());
        self.arrays.push(memory);
        Ok(array)
    }
}
