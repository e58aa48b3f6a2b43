//! A scene on a GPU: its arrays, and the kernels' argument for it.
#![expect(unsafe_code, reason = "copies arrays as bytes")]

use super::api::{Api, Arguments, Context, DeviceMemory, Stream};
use super::cells::{CellKernels, Cells};
use super::tree::{Grove, TreeKernels};
use crate::device::{DeviceError, Moment};
use crate::device_scene::DeviceScene;
use crate::device_scene::geometry::{Geometry, LazyTree};
use crate::device_scene::lazy::{Missing, MissingTrees};
use crate::device_scene::upload::ArrayUploader;
use crate::gpu_types::{Array, FEATURE_TREE, Node, Scene as GpuScene, SmallScene};
use crate::math::grid::Lattice;
use std::sync::Arc;

/// The kernels that make arrays of scenes, loaded for the first scene that needs them.
pub struct Builders<A: Api> {
    cells: Option<CellKernels<A>>,
    trees: Option<TreeKernels<A>>,
    /// All scenes get trees, also those whose balls suit cells.
    pub only_trees: bool,
}

impl<A: Api> Default for Builders<A> {
    fn default() -> Builders<A> {
        Builders { cells: None, trees: None, only_trees: false }
    }
}

impl<A: Api> Builders<A> {
    fn cells(&mut self, context: &A::Context) -> Result<&mut CellKernels<A>, DeviceError> {
        loaded(&mut self.cells, || CellKernels::load(context))
    }
    fn trees(&mut self, context: &A::Context) -> Result<&mut TreeKernels<A>, DeviceError> {
        loaded(&mut self.trees, || TreeKernels::load(context))
    }
}

fn loaded<K>(kernels: &mut Option<K>, load: impl FnOnce() -> Result<K, DeviceError>) -> Result<&mut K, DeviceError> {
    if kernels.is_none() {
        *kernels = Some(load()?);
    }
    kernels.as_mut().ok_or_else(|| DeviceError::Failed("kernels are not loaded".into()))
}

/// A scene in a GPU's memory.
pub struct ResidentScene<A: Api> {
    /// The whole scene, with device addresses.
    pub arrays: GpuScene,
    // The scene by value, if it is small.
    pub small: Option<SmallScene>,
    // The arrays' memory: those that stay for the run, and those of a time step, which several time steps may share.
    fixed: Arc<Vec<A::Memory>>,
    dynamic: Arc<Vec<A::Memory>>,
    lights: Arc<Vec<A::Memory>>,
}

/// A moment whose scene is in the GPU's memory.
pub type ResidentMoment<A> = Moment<Arc<ResidentScene<A>>>;

impl<A: Api> ResidentScene<A> {
    /// Uploads a scene, except the arrays that it shares with `old`.
    pub fn upload(
        scene: &DeviceScene,
        old: Option<(&DeviceScene, &ResidentScene<A>)>,
        (context, builders): (&A::Context, &mut Builders<A>),
    ) -> Result<ResidentScene<A>, DeviceError> {
        let old = old.filter(|(other, _)| Arc::ptr_eq(&other.fixed, &scene.fixed));
        let (mut arrays, fixed) = match old {
            Some((_, old)) => (GpuScene { constants: scene.constants, ..old.arrays }, Arc::clone(&old.fixed)),
            None => upload_arrays::<A>(context, |to| scene.upload_fixed(to))?,
        };
        let same_shapes = old.filter(|(other, _)| Arc::ptr_eq(&other.geometry, &scene.geometry));
        let dynamic = match same_shapes.filter(|(_, old)| !(builders.only_trees && old.is_bare())) {
            Some((_, old)) => {
                scene.geometry.set_constants(&mut arrays.constants);
                let (now, before) = (&mut arrays.constants, &old.arrays.constants);
                now.bvh_root = before.bvh_root;
                now.features = now.features & !FEATURE_TREE | before.features & FEATURE_TREE;
                Arc::clone(&old.dynamic)
            }
            None => {
                let dynamic;
                (arrays, dynamic) = upload_shapes(&scene.geometry, (context, builders), &arrays)?;
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
    /// Whether it has cells that the GPU has filled, and no tree: only kernels for grids can render it.
    pub fn is_bare(&self) -> bool {
        self.arrays.cells.len > 0 && self.arrays.nodes.len == 0
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
    arrays: &'a mut Vec<A::Memory>,
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
                unsafe { stream.write(&memory, 0, bytes(values))? };
                memory
            }
        };
        let array = Array::new(memory.address(0) as *const T, values.len());
        self.arrays.push(memory);
        Ok(array)
    }
}

// SAFETY: values are plain numbers without padding.
unsafe fn bytes<T>(values: &[T]) -> &[u8] {
    // SAFETY: the slice is as long, and what it holds is the caller's promise.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

// A scene's arrays, and their memory.
type Uploaded<A> = (GpuScene, Arc<Vec<<A as Api>::Memory>>);

fn upload_arrays<A: Api>(
    context: &A::Context,
    put: impl FnOnce(&mut Upload<A>) -> Result<GpuScene, DeviceError>,
) -> Result<Uploaded<A>, DeviceError> {
    let mut arrays = Vec::new();
    Ok((put(&mut Upload { arrays: &mut arrays, context, stream: None })?, Arc::new(arrays)))
}

// Uploads shapes. What is missing the GPU makes, or else the host.
fn upload_shapes<A: Api>(
    geometry: &Geometry,
    (context, builders): (&A::Context, &mut Builders<A>),
    scene: &GpuScene,
) -> Result<Uploaded<A>, DeviceError> {
    let mut memory = Vec::new();
    let made = match &geometry.lazy {
        Some(LazyTree { missing: Missing::Cells(lattice), .. }) if !builders.only_trees => {
            with_cells::<A>(geometry, lattice, (context, builders.cells(context)?), scene, &mut memory)
        }
        Some(LazyTree { missing: Missing::Trees(missing), pool, .. }) => {
            with_trees::<A>(geometry, (missing, pool), (context, builders.trees(context)?), scene, &mut memory)
        }
        _ => Ok(None),
    };
    if made.is_err() {
        // Memory must not be freed while the GPU uses it.
        let _ = context.synchronize();
    }
    match made {
        Ok(Some(arrays)) => Ok((arrays, Arc::new(memory))),
        // The host's tree needs less of the GPU's memory.
        Ok(None) | Err(DeviceError::OutOfMemory(_)) => {
            drop(memory);
            upload_arrays::<A>(context, |to| geometry.with_tree().place(to, scene))
        }
        Err(error) => Err(error),
    }
}

// Uploads balls without their tree, and has the GPU fill the cells. None if they suit no grid.
fn with_cells<A: Api>(
    geometry: &Geometry,
    lattice: &Lattice,
    (context, kernels): (&A::Context, &CellKernels<A>),
    scene: &GpuScene,
    memory: &mut Vec<A::Memory>,
) -> Result<Option<GpuScene>, DeviceError> {
    let mut upload = Upload::<A> { arrays: memory, context, stream: Some(&kernels.on.stream) };
    let mut arrays = geometry.place(&mut upload, scene)?;
    arrays.constants.features &= !FEATURE_TREE;
    let filled = kernels.fill(context, (lattice, geometry.large), &arrays.spheres)?;
    Ok(filled.map(|Cells { cells, balls, memory: of_cells }| {
        memory.extend(of_cells);
        GpuScene { cells, cell_balls: balls, grid: geometry.placed_grid(lattice), ..arrays }
    }))
}

// Uploads shapes, and has the GPU make the missing trees. None if one of them is too deep.
fn with_trees<A: Api>(
    geometry: &Geometry,
    (missing, pool): (&MissingTrees, &rayon::ThreadPool),
    (context, kernels): (&A::Context, &mut TreeKernels<A>),
    scene: &GpuScene,
    memory: &mut Vec<A::Memory>,
) -> Result<Option<GpuScene>, DeviceError> {
    let MissingTrees { forest, spans, bounds } = missing;
    let mut upload = Upload::<A> { arrays: memory, context, stream: Some(&kernels.on.stream) };
    let mut arrays = geometry.place(&mut upload, scene)?;
    // The host's trees come first, then the GPU's, then what joins them.
    let (mut len, mut trees, mut roots) = (forest.nodes.len(), Vec::new(), Vec::new());
    for (at, (&group, &bounds)) in forest.missing().iter().zip(bounds).enumerate() {
        let (span, large) = (spans[group], forest.large[group]);
        let grove = Grove { span, large, bounds, margin: geometry.box_margin(), pool };
        let Some(tree) = kernels.measure(context, at, &grove, &arrays)? else { return Ok(None) };
        roots.push((group, tree.root(len)));
        trees.push((len, tree));
        len += trees.last().map_or(0, |(_, tree)| tree.nodes);
    }
    let above;
    (above, arrays.constants.bvh_root) = pool.install(|| geometry.joined(forest, &roots, len));
    let nodes = context.memory((len + above.len()) * size_of::<Node>())?;
    let address = nodes.address(0);
    // SAFETY: the arrays hold plain numbers without padding, and are not page-locked.
    let written = unsafe {
        let stream = &kernels.on.stream;
        let first = stream.write(&nodes, 0, bytes(&forest.nodes));
        first.and_then(|()| stream.write(&nodes, len * size_of::<Node>(), bytes(&above)))
    };
    memory.push(nodes);
    written?;
    arrays.nodes = Array::new(address as *const Node, len + above.len());
    for (first, tree) in &mut trees {
        kernels.place(tree, address, *first)?;
    }
    kernels.on.wait()?;
    Ok(Some(arrays))
}
