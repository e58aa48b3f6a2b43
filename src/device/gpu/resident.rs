//! A scene on a GPU: its arrays, and the kernels' argument for it.
#![expect(unsafe_code, reason = "copies arrays as bytes")]

use super::api::{Api, Arguments, Context, DeviceMemory, Stream};
use super::cells::{CellBuilder, Cells};
use crate::device::DeviceError;
use crate::device_scene::DeviceScene;
use crate::device_scene::geometry::Geometry;
use crate::device_scene::upload::ArrayUploader;
use crate::gpu_types::{Array, FEATURE_TREE, Scene as GpuScene, SmallScene};
use std::sync::Arc;

/// A scene in a GPU's memory.
pub struct ResidentScene<A: Api> {
    /// The whole scene, with device addresses.
    pub arrays: GpuScene,
    /// Whether it has cells that the GPU has filled, and no tree: only kernels for grids can render it.
    pub is_bare: bool,
    // The scene by value, if it is small.
    small: Option<SmallScene>,
    // The arrays' memory: those that stay for the run, and those of a time step, which several time steps may share.
    fixed: Arc<Vec<A::Memory>>,
    dynamic: Arc<Vec<A::Memory>>,
    lights: Arc<Vec<A::Memory>>,
}

impl<A: Api> ResidentScene<A> {
    /// Uploads a scene, except the arrays that it shares with `old`. If it may be bare, and the GPU's cells suit its balls, it is.
    pub fn upload(
        scene: &DeviceScene,
        old: Option<(&DeviceScene, &ResidentScene<A>)>,
        (context, cells): (&A::Context, &mut CellBuilder<A>),
        may_be_bare: bool,
    ) -> Result<ResidentScene<A>, DeviceError> {
        let old = old.filter(|(other, _)| Arc::ptr_eq(&other.fixed, &scene.fixed));
        let (mut arrays, fixed) = match old {
            Some((_, old)) => (GpuScene { constants: scene.constants, ..old.arrays }, Arc::clone(&old.fixed)),
            None => upload_arrays::<A>(context, |to| scene.upload_fixed(to))?,
        };
        let same_shapes = old.filter(|(other, _)| Arc::ptr_eq(&other.geometry, &scene.geometry));
        let (dynamic, is_bare) = match same_shapes.filter(|(_, old)| may_be_bare || !old.is_bare) {
            Some((_, old)) => {
                scene.geometry.set_constants(&mut arrays.constants);
                (Arc::clone(&old.dynamic), old.is_bare)
            }
            None => {
                let bare = if may_be_bare { upload_bare(&scene.geometry, context, cells, &arrays)? } else { None };
                let is_bare = bare.is_some();
                let dynamic;
                (arrays, dynamic) = match bare {
                    Some(bare) => bare,
                    None => upload_arrays::<A>(context, |to| scene.geometry.with_tree().place(to, &arrays))?,
                };
                (dynamic, is_bare)
            }
        };
        if is_bare {
            arrays.constants.features &= !FEATURE_TREE;
        }
        let lights = match old.filter(|(other, _)| Arc::ptr_eq(&other.lights, &scene.lights)) {
            Some((_, old)) => Arc::clone(&old.lights),
            None => {
                let lights;
                (arrays, lights) = upload_arrays::<A>(context, |to| scene.lights.place(to, &arrays))?;
                lights
            }
        };
        Ok(ResidentScene { small: scene.small(&arrays), arrays, is_bare, fixed, dynamic, lights })
    }
    /// The kernels' argument: the scene by value if they take small scenes, else the arrays' addresses.
    pub fn argument(&self, takes_small: bool) -> Arguments<'_> {
        match &self.small {
            Some(small) if takes_small => Arguments::default().with(small),
            _ => Arguments::default().with(&self.arrays),
        }
    }
}

// Uploads arrays to the device: at once, or in the order of a stream.
struct Upload<'a, A: Api> {
    arrays: Vec<A::Memory>,
    context: &'a A::Context,
    stream: Option<&'a A::Stream>,
}

impl<A: Api> ArrayUploader for Upload<'_, A> {
    type Error = DeviceError;
    fn push<T>(&mut self, values: &[T]) -> Result<Array<T>, DeviceError> {
        if values.is_empty() {
            return Ok(Array::default());
        }
        let memory = match self.stream {
            None => self.context.upload(values)?,
            Some(stream) => {
                let memory = self.context.memory(size_of_val(values))?;
                // SAFETY: the arrays hold plain numbers without padding, and are not page-locked.
                unsafe {
                    let bytes = std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values));
                    stream.write(&memory, 0, bytes)?;
                }
                memory
            }
        };
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
    let mut upload = Upload { arrays: Vec::new(), context, stream: None };
    Ok((put(&mut upload)?, Arc::new(upload.arrays)))
}

// Uploads shapes without their tree, and has the GPU fill the cells. None if they have a tree already, or suit no grid.
fn upload_bare<A: Api>(
    geometry: &Geometry,
    context: &A::Context,
    cells: &mut CellBuilder<A>,
    scene: &GpuScene,
) -> Result<Option<Uploaded<A>>, DeviceError> {
    let Some(later) = &geometry.later else { return Ok(None) };
    let kernels = cells.kernels(context)?;
    let mut upload = Upload::<A> { arrays: Vec::new(), context, stream: Some(kernels.stream()) };
    let filled = geometry
        .place(&mut upload, scene)
        .and_then(|arrays| Ok((arrays, kernels.fill(context, (&later.lattice, geometry.large), &arrays.spheres)?)));
    if filled.is_err() {
        // Memory must not be freed while the GPU uses it.
        let _ = context.synchronize();
    }
    let (arrays, Some(Cells { cells, balls, memory })) = filled? else { return Ok(None) };
    upload.arrays.extend(memory);
    let arrays = GpuScene { cells, cell_balls: balls, grid: geometry.placed_grid(&later.lattice), ..arrays };
    Ok(Some((arrays, Arc::new(upload.arrays))))
}
