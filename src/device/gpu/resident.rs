//! A scene on a GPU: its arrays, and the kernels' argument for it.

use super::api::{Api, Arguments, Context, DeviceMemory};
use crate::device::DeviceError;
use crate::device_scene::DeviceScene;
use crate::device_scene::upload::ArrayUploader;
use crate::gpu_types::{Array, Scene as GpuScene, SmallScene};
use std::sync::Arc;

/// A scene in a GPU's memory.
pub struct ResidentScene<A: Api> {
    /// The whole scene, with device addresses.
    pub arrays: GpuScene,
    // The scene by value, if it is small.
    small: Option<SmallScene>,
    // The arrays' memory: those that stay for the run, and those of a time step, which several time steps may share.
    fixed: Arc<Vec<A::Memory>>,
    dynamic: Arc<Vec<A::Memory>>,
    lights: Arc<Vec<A::Memory>>,
}

impl<A: Api> ResidentScene<A> {
    /// Uploads a scene, except the arrays that it shares with `old`.
    pub fn upload(
        scene: &DeviceScene,
        old: Option<(&DeviceScene, &ResidentScene<A>)>,
        context: &A::Context,
    ) -> Result<ResidentScene<A>, DeviceError> {
        let old = old.filter(|(other, _)| Arc::ptr_eq(&other.fixed, &scene.fixed));
        let (mut arrays, fixed) = match old {
            Some((_, old)) => (GpuScene { constants: scene.constants, ..old.arrays }, Arc::clone(&old.fixed)),
            None => upload_arrays::<A>(context, |to| scene.upload_fixed(to))?,
        };
        let dynamic = match old.filter(|(other, _)| Arc::ptr_eq(&other.geometry, &scene.geometry)) {
            Some((_, old)) => {
                scene.geometry.set_constants(&mut arrays.constants);
                Arc::clone(&old.dynamic)
            }
            None => {
                let dynamic;
                (arrays, dynamic) = upload_arrays::<A>(context, |to| scene.geometry.place(to, &arrays))?;
                dynamic
            }
        };
        let lights = match old.filter(|(other, _)| Arc::ptr_eq(&other.lights, &scene.lights)) {
            Some((_, old)) => Arc::clone(&old.lights),
            None => {
                let lights;
                (arrays, lights) = upload_arrays::<A>(context, |to| scene.lights.place(to, &arrays))?;
                lights
            }
        };
        Ok(ResidentScene { small: scene.small(&arrays), arrays, fixed, dynamic, lights })
    }
    /// The kernels' argument: the scene by value if they take small scenes, else the arrays' addresses.
    pub fn argument(&self, takes_small: bool) -> Arguments<'_> {
        match &self.small {
            Some(small) if takes_small => Arguments::default().with(small),
            _ => Arguments::default().with(&self.arrays),
        }
    }
}

// Uploads arrays to the device.
struct Upload<'a, A: Api> {
    arrays: Vec<A::Memory>,
    context: &'a A::Context,
}

impl<A: Api> ArrayUploader for Upload<'_, A> {
    type Error = DeviceError;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, DeviceError> {
        if values.is_empty() {
            return Ok(Array::default());
        }
        let memory = self.context.upload(values)?;
        let array = Array::new(memory.address(0) as *const T, values.len());
        self.arrays.push(memory);
        Ok(array)
    }
}

// A scene's arrays, and their memory.
type Uploaded<A> = (GpuScene, Arc<Vec<<A as Api>::Memory>>);

fn upload_arrays<A: Api>(
    context: &A::Context,
    put: impl FnOnce(&mut Upload<A>) -> Result<GpuScene, DeviceError>,
) -> Result<Uploaded<A>, DeviceError> {
    let mut upload = Upload { arrays: Vec::new(), context };
    Ok((put(&mut upload)?, Arc::new(upload.arrays)))
}
