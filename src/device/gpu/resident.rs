//! A scene on a GPU: its arrays, and the kernels' argument for it.
#![expect(unsafe_code, reason = "copies arrays as bytes")]

use super::api::{Api, Arguments, Context, DeviceMemory, Stream};
use super::cells::{CellKernels, Cells};
use super::tree::{Grove, TreeKernels};
use crate::device::{DeviceError, OfPixels, PixelSet};
use crate::device_scene::DeviceScene;
use crate::device_scene::geometry::Geometry;
use crate::device_scene::later::{Missing, MissingTrees};
use crate::device_scene::upload::ArrayUploader;
use crate::gpu_types::{Array, FEATURE_TREE, FrameParams, Node, Scene as GpuScene, SmallScene};
use crate::math::grid::Lattice;
use std::sync::Arc;

/// The kernels that make arrays of scenes, loaded for the first scene that needs them.
pub struct Builders<A: Api> {
    cells: Option<CellKernels<A>>,
    trees: Option<TreeKernels<A>>,
}

impl<A: Api> Default for Builders<A> {
    fn default() -> Builders<A> {
        Builders { cells: None, trees: None }
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
    /// Whether it has cells that the GPU has filled, and no tree: only kernels for grids can render it.
    pub is_bare: bool,
    // The root of the tree that the GPU has made.
    root: Option<i32>,
    // The scene by value, if it is small.
    pub small: Option<SmallScene>,
    // The arrays' memory: those that stay for the run, and those of a time step, which several time steps may share.
    fixed: Arc<Vec<A::Memory>>,
    dynamic: Arc<Vec<A::Memory>>,
    lights: Arc<Vec<A::Memory>>,
}

/// A scene in the GPU's memory, the camera, and the pixels that see it.
pub struct ResidentMoment<A: Api> {
    pub scene: Arc<ResidentScene<A>>,
    pub camera: FrameParams,
    pub pixels: PixelSet,
}

impl<A: Api> OfPixels for ResidentMoment<A> {
    fn pixels(&self) -> PixelSet {
        self.pixels
    }
}

impl<A: Api> ResidentScene<A> {
    /// Uploads a scene, except the arrays that it shares with `old`. If it may be bare, and the GPU's cells suit its balls, it is.
    pub fn upload(
        scene: &DeviceScene,
        old: Option<(&DeviceScene, &ResidentScene<A>)>,
        (context, builders): (&A::Context, &mut Builders<A>),
        may_be_bare: bool,
    ) -> Result<ResidentScene<A>, DeviceError> {
        let old = old.filter(|(other, _)| Arc::ptr_eq(&other.fixed, &scene.fixed));
        let (mut arrays, fixed) = match old {
            Some((_, old)) => (GpuScene { constants: scene.constants, ..old.arrays }, Arc::clone(&old.fixed)),
            None => upload_arrays::<A>(context, |to| scene.upload_fixed(to))?,
        };
        let same_shapes = old.filter(|(other, _)| Arc::ptr_eq(&other.geometry, &scene.geometry));
        let (dynamic, is_bare, root) = match same_shapes.filter(|(_, old)| may_be_bare || !old.is_bare) {
            Some((_, old)) => {
                scene.geometry.set_constants(&mut arrays.constants);
                (Arc::clone(&old.dynamic), old.is_bare, old.root)
            }
            None => {
                let shapes = upload_shapes(&scene.geometry, (context, builders), &arrays, may_be_bare)?;
                arrays = shapes.arrays;
                (shapes.memory, shapes.is_bare, shapes.root)
            }
        };
        if is_bare {
            arrays.constants.features &= !FEATURE_TREE;
        }
        arrays.constants.bvh_root = root.unwrap_or(arrays.constants.bvh_root);
        let lights = match old.filter(|(other, _)| Arc::ptr_eq(&other.lights, &scene.lights)) {
            Some((_, old)) => Arc::clone(&old.lights),
            None => {
                let lights;
                (arrays, lights) = upload_arrays::<A>(context, |to| scene.lights.place(to, &arrays))?;
                lights
            }
        };
        Ok(ResidentScene { small: scene.small(&arrays), arrays, is_bare, root, fixed, dynamic, lights })
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

// Shapes on a GPU. Those with cells are bare; others have a root of a tree.
struct Shapes<A: Api> {
    arrays: GpuScene,
    memory: Arc<Vec<A::Memory>>,
    is_bare: bool,
    root: Option<i32>,
}

// Uploads shapes. What is missing the GPU makes, or else the host.
fn upload_shapes<A: Api>(
    geometry: &Geometry,
    (context, builders): (&A::Context, &mut Builders<A>),
    scene: &GpuScene,
    may_be_bare: bool,
) -> Result<Shapes<A>, DeviceError> {
    let mut memory = Vec::new();
    let made = match geometry.later.as_ref().map(|later| (&later.missing, &*later.pool)) {
        Some((Missing::Cells(lattice), _)) if may_be_bare => {
            let kernels = builders.cells(context)?;
            with_cells::<A>(geometry, lattice, (context, kernels), scene, &mut memory).map(|made| (made, None))
        }
        Some((Missing::Trees(missing), pool)) => {
            let to = (context, builders.trees(context)?);
            let made = with_trees::<A>(geometry, (missing, pool), to, scene, &mut memory);
            made.map(|made| made.map_or((None, None), |(arrays, root)| (Some(arrays), Some(root))))
        }
        _ => Ok((None, None)),
    };
    if made.is_err() {
        // Memory must not be freed while the GPU uses it.
        let _ = context.synchronize();
    }
    match made {
        Ok((Some(arrays), root)) => Ok(Shapes { arrays, memory: Arc::new(memory), is_bare: root.is_none(), root }),
        // The host's tree needs less of the GPU's memory.
        Ok((None, _)) | Err(DeviceError::OutOfMemory(_)) => {
            drop(memory);
            let (arrays, memory) = upload_arrays::<A>(context, |to| geometry.with_tree().place(to, scene))?;
            Ok(Shapes { arrays, memory, is_bare: false, root: None })
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
    let mut upload = Upload::<A> { arrays: memory, context, stream: Some(kernels.stream()) };
    let arrays = geometry.place(&mut upload, scene)?;
    let filled = kernels.fill(context, (lattice, geometry.large), &arrays.spheres)?;
    Ok(filled.map(|Cells { cells, balls, memory: of_cells }| {
        memory.extend(of_cells);
        GpuScene { cells, cell_balls: balls, grid: geometry.placed_grid(lattice), ..arrays }
    }))
}

// Uploads shapes, and has the GPU make the missing trees. Returns the root too; None if one of them is too deep.
fn with_trees<A: Api>(
    geometry: &Geometry,
    (missing, pool): (&MissingTrees, &rayon::ThreadPool),
    (context, kernels): (&A::Context, &mut TreeKernels<A>),
    scene: &GpuScene,
    memory: &mut Vec<A::Memory>,
) -> Result<Option<(GpuScene, i32)>, DeviceError> {
    let MissingTrees { forest, spans, bounds } = missing;
    let mut upload = Upload::<A> { arrays: memory, context, stream: Some(kernels.stream()) };
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
    let (above, root) = pool.install(|| geometry.joined(forest, &roots, len));
    let nodes = context.memory((len + above.len()) * size_of::<Node>())?;
    let address = nodes.address(0);
    // SAFETY: the arrays hold plain numbers without padding, and are not page-locked.
    let written = unsafe {
        kernels
            .stream()
            .write(&nodes, 0, bytes(&forest.nodes))
            .and_then(|()| kernels.stream().write(&nodes, len * size_of::<Node>(), bytes(&above)))
    };
    memory.push(nodes);
    written?;
    arrays.nodes = Array::new(address as *const Node, len + above.len());
    for (first, tree) in &mut trees {
        kernels.place(tree, address, *first)?;
    }
    kernels.wait()?;
    Ok(Some((arrays, root)))
}
